"""The views of the new lab, from explanations to values of the widgets: pure functions of records,
no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.components import change_panel, input_bar
from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.control_kinds import Control, LettersControl, SliderControl, Value
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import fill_text, write_change_sentence
from explorer.figures import attention
from explorer.figures.curves import Curve
from explorer.labs.new_lab import texts
from explorer.page import card_facts, runs
from explorer.page.curves import draw_curve_figure
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels.heads import address_cell, draw_thumbnail, make_heads_control
from models.new_lab.records import (
    EVERY_HEAD,
    EXAMPLES,
    HEADS,
    KIND,
    LAYERS,
    LONGEST,
    Explanation,
    Measured,
    Request,
)

Text = Mapping[str, str]

SLUG = "new_lab"
COLOUR = "var(--cat-1)"
first = runs.load_first_once(SLUG, EXAMPLES[0], Explanation)


# ---- the card


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row, read from model.json."""
    known = card_facts.facts(SLUG)
    measured = known.get("figure")
    if not measured:
        return ()
    return (
        TitleFigure(labels.CARD["parameters"], f"{known['parameters']:,}"),
        TitleFigure(labels.CARD["data"], texts.GENERATED),
        TitleFigure(
            fill_text(texts.RIGHT, split=labels.name_split(measured["split"])),
            f"{measured['value']:.4f}",
        ),
        card_facts.describe_training_time(known),
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where none is shipped."""
    return card_facts.prose(SLUG, card_facts.facts(SLUG))


def curves() -> Value | None:
    """Draw the wrong digits on held-out inputs over training, or None where no log is shipped. The
    first call is slow."""
    known, show = card_facts.read_models(SLUG, ("base",)), lambda share: f"{100 * share:.1f} %"
    return card_facts.curves(SLUG, known, {"base": texts.SHORT}, {"base": COLOUR}, texts, show=show)


# ---- the input


def controls() -> tuple[Control, ...]:
    """Return the controls of the input, then of what may be changed in the model."""
    hint = fill_text(texts.HINT, most=LONGEST)
    return (
        LettersControl("text", texts.PROMPT, hint=hint, placeholder=EXAMPLES[0].text),
        SliderControl(
            "layers",
            texts.LAYERS,
            names={0: texts.ALL},
            change=True,
            says=lambda n: fill_text(texts.ONLY, n=n),
        ),
        *make_heads_control({KIND: texts.KIND}, {KIND: (LAYERS, HEADS)}, texts.HEAD),
    )


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the answer as the page shows it."""
    sure = float(explanation.probability.min())
    facts = (
        (
            fill_text(texts.SURE, p="> 0.99" if 0.995 < sure < 1 else f"{sure:.2f}"),
            texts.SURE_MEANS,
        ),
    )
    return input_bar.describe_answer(
        request.text,
        explanation.answer,
        right=explanation.right,
        expected=explanation.expected,
        facts=facts,
    )


# ---- a run


def kind(explanation: Explanation) -> attention.Kind:
    """Return the attention of all layers and heads."""
    return attention.Kind(
        KIND,
        texts.KIND,
        explanation.attention,
        explanation.digits,
        explanation.digits,
        question=texts.QUESTION,
    )


def maps(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention view."""
    return attention.draw_attention(
        [kind(explanation)], silenced=request.silenced, query=spell_query(request), state=state
    )


def by_length() -> Value | None:
    """Draw the share of right digits at each length, for the figure widget; None before it was
    measured."""
    measured = (card_facts.facts(SLUG).get("figure") or {}).get("by_length")
    if not measured:
        return None
    places, shares = [int(length) for length in measured], list(measured.values())
    curve = Curve(texts.SHORT, places, shares, COLOUR)
    worst = min(measured, key=lambda length: measured[length])
    says = fill_text(texts.LENGTHS_SAYS, length=worst, share=f"{measured[worst]:.4f}")
    words, axes = (texts.LENGTHS, texts.LENGTHS_UNITS, says), (texts.LENGTH, texts.SHARE)
    return draw_curve_figure(
        "new-lab-lengths",
        [curve],
        axes,
        words,
        axes,
        list(zip(places, shares, strict=True)),
        ticks=places,
        height=200,
    )


def difference(
    explanations: tuple[Explanation, Explanation],
    measured: tuple[Measured, Measured],
    request: Request,
    what: Text,
) -> change_panel.Difference:
    """Draw the effect of a change on this answer, and on held-out inputs. what: the change in
    words."""
    (was, now), (before, after) = explanations, measured
    verdict, said = ("same", texts.SAME) if was.answer == now.answer else ("other", texts.OTHER)
    answered = fill_text(said, before=was.answer, after=now.answer)
    held = write_change_sentence(
        texts.RIGHT_NOW,
        texts.RIGHT_STILL,
        before.accuracy,
        after.accuracy,
        show=lambda share: f"{100 * share:.0f} %",
    )
    number = change_panel.ChangedNumber(
        before.accuracy, after.accuracy, scale=100, digits=1, suffix=" %"
    )
    rows = (
        change_panel.Row(
            texts.OWN,
            texts.ANSWER,
            "answer",
            was.answer,
            now.answer,
            right=(was.right, now.right),
            verdict=texts.VERDICTS[verdict],
            kind=verdict,
        ),
        change_panel.Row(
            fill_text(texts.HELD_OUT, sample=before.sample),
            texts.SHARE,
            "heldout_accuracy",
            before.accuracy,
            after.accuracy,
            digits=3,
        ),
    )
    return change_panel.Difference(
        number, texts.POINTS, rows, labels.build_sentence([what, answered], held)
    )


# ---- the family map and the guided steps


def default_selection(explanation: Explanation) -> dict[str, Any]:
    """Return the cell that shows best what the network does."""
    return attention.find_telling_cell(kind(explanation))


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the most telling head of the stored run, for the family map."""
    return draw_thumbnail(kind(explanation), default_selection(explanation))


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which these runs show the
    point."""
    kept = first()
    head = {} if kept is None else {"head": str(address_cell(default_selection(kept.seen))["head"])}
    start = EXAMPLES[0]
    shown: dict[str, Shown] = {
        "answer": ("", {}, "ask"),
        "head": ("", head, "attention"),
        "row": ("", {**head, "row": "0"}, "attention"),
        "shorter": (spell_query(EXAMPLES[-1]), head, "attention"),
        "silence": (spell_query(replace(start, silenced=EVERY_HEAD[:HEADS])), {}, "change"),
    }
    return build_steps(texts, shown)
