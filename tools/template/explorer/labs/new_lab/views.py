"""From what the network explains to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer import labels, runs
from explorer.controls import Control, Value, query
from explorer.figures import attention
from explorer.figures.curves import Curve
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import change_sentence, filled
from explorer.labs import about
from explorer.labs.guided import Shown, guided
from explorer.labs.heads import place, silenced, thumbnail_of
from explorer.labs.lined import lined
from explorer.labs.new_lab import texts
from explorer.widgets import ask, change
from explorer.widgets.card import Pair
from models.new_lab.records import EVERY_HEAD, EXAMPLES, HEADS, KIND, LAYERS, LONGEST, Explanation, Measured, Request

Text = Mapping[str, str]

SLUG = "new_lab"
COLOUR = "var(--cat-1)"
first = runs.kept(SLUG, EXAMPLES[0], Explanation)


# ---- the card ----------------------------------------------------------------------------------------------------------------------


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row, read from model.json."""
    known = about.facts(SLUG)
    measured = known.get("figure")
    if not measured:
        return ()
    return (
        Pair(labels.CARD["parameters"], f"{known['parameters']:,}"),
        Pair(labels.CARD["data"], texts.GENERATED),
        Pair(filled(texts.RIGHT, split=labels.split(measured["split"])), f"{measured['value']:.4f}"),
        about.trained(known),
    )


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped."""
    return about.prose(SLUG, about.facts(SLUG))


def curves() -> Value | None:
    """Wrong digits on held-out inputs over training, or None where no log is shipped. Slow at first."""
    known, show = about.models(SLUG, ("base",)), lambda share: f"{100 * share:.1f} %"
    return about.curves(SLUG, known, {"base": texts.SHORT}, {"base": COLOUR}, texts, show=show)


# ---- what is asked -----------------------------------------------------------------------------------------------------------------


def controls() -> tuple[Control, ...]:
    """What is asked for, then what may be changed in the model."""
    hint = filled(texts.HINT, most=LONGEST)
    return (
        Control("text", texts.PROMPT, "letters", hint=hint, placeholder=EXAMPLES[0].text),
        Control("layers", texts.LAYERS, "number", names={0: texts.ALL}, change=True, says=lambda n: filled(texts.ONLY, n=n)),
        *silenced({KIND: texts.KIND}, {KIND: (LAYERS, HEADS)}, texts.HEAD),
    )


def answer(seen: Explanation, request: Request) -> Value:
    """What stands as the answer."""
    sure = float(seen.probability.min())
    facts = ((filled(texts.SURE, p="> 0.99" if 0.995 < sure < 1 else f"{sure:.2f}"), texts.SURE_MEANS),)
    return ask.answer(request.text, seen.answer, right=seen.right, expected=seen.expected, facts=facts)


# ---- a run -------------------------------------------------------------------------------------------------------------------------


def kind(seen: Explanation) -> attention.Kind:
    """The attention of all layers and heads."""
    return attention.Kind(KIND, texts.KIND, seen.attention, seen.digits, seen.digits, question=texts.QUESTION)


def maps(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention view draws."""
    return attention.value([kind(seen)], silenced=request.silenced, query=query(request), state=state)


def by_length() -> Value | None:
    """The share of right digits at each length, as the figure widget draws it; None before it was measured."""
    measured = (about.facts(SLUG).get("figure") or {}).get("by_length")
    if not measured:
        return None
    places, shares = [int(length) for length in measured], list(measured.values())
    curve = Curve(texts.SHORT, places, shares, COLOUR)
    worst = min(measured, key=lambda length: measured[length])
    says = filled(texts.LENGTHS_SAYS, length=worst, share=f"{measured[worst]:.4f}")
    words, axes = (texts.LENGTHS, texts.LENGTHS_UNITS, says), (texts.LENGTH, texts.SHARE)
    return lined("new-lab-lengths", [curve], axes, words, axes, list(zip(places, shares, strict=True)), ticks=places, height=200)


def difference(
    seen: tuple[Explanation, Explanation], measured: tuple[Measured, Measured], request: Request, what: Text
) -> change.Difference:
    """What a change does to this answer, and on held-out inputs. what: the change in words."""
    (was, now), (before, after) = seen, measured
    verdict, said = ("same", texts.SAME) if was.answer == now.answer else ("other", texts.OTHER)
    answered = filled(said, before=was.answer, after=now.answer)
    held = change_sentence(texts.RIGHT_NOW, texts.RIGHT_STILL, before.accuracy, after.accuracy, show=lambda share: f"{100 * share:.0f} %")
    number = change.Number(before.accuracy, after.accuracy, scale=100, digits=1, suffix=" %")
    rows = (
        change.Row(
            texts.OWN,
            texts.ANSWER,
            "answer",
            was.answer,
            now.answer,
            right=(was.right, now.right),
            verdict=texts.VERDICTS[verdict],
            kind=verdict,
        ),
        change.Row(
            filled(texts.HELD_OUT, sample=before.sample),
            texts.SHARE,
            "heldout_accuracy",
            before.accuracy,
            after.accuracy,
            digits=3,
        ),
    )
    return change.Difference(number, texts.POINTS, rows, labels.sentence([what, answered], held))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def telling(seen: Explanation) -> dict[str, Any]:
    """The cell that shows best what the network does."""
    return attention.pick(kind(seen))


def thumbnail(seen: Explanation) -> Thumbnail:
    """The telling head of the stored run, for the family map."""
    return thumbnail_of(kind(seen), telling(seen))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what these runs have to tell."""
    kept = first()
    head = {} if kept is None else {"head": str(place(telling(kept.seen))["head"])}
    start = EXAMPLES[0]
    shown: dict[str, Shown] = {
        "answer": ("", {}, "ask"),
        "head": ("", head, "attention"),
        "row": ("", {**head, "row": "0"}, "attention"),
        "shorter": (query(EXAMPLES[-1]), head, "attention"),
        "silence": (query(replace(start, silenced=EVERY_HEAD[:HEADS])), {}, "change"),
    }
    return guided(texts, shown)
