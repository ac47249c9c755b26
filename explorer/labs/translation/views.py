"""From what the model explains to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import permalink
from explorer.figures import attention
from explorer.lab import GuidedStep, Thumbnail
from explorer.labs.translation import texts
from explorer.labs.translation.texts import filled
from explorer.widgets import prompt, whatif
from models import stored
from models.translation.records import EXAMPLES, Comparison, Explanation, Request

Text = Mapping[str, str]
Value = dict[str, object]

ASSETS = Path(__file__).parents[3] / "assets" / "translation"
NEEDED = ("cross", 3, 5)  # of all heads the one that the first example misses most, and another word takes its place


@dataclass(frozen=True)
class Stored:
    """The shipped result of the first example: a real run, drawn before any model is loaded. milliseconds of compute on `device`."""

    request: Request
    seen: Explanation
    milliseconds: float
    device: str


@cache
def first() -> Stored | None:
    """The stored first example, or None where none is shipped."""
    path = ASSETS / "first.npz"
    if not path.exists():
        return None
    seen, milliseconds, device = stored.load(path, Explanation)
    return Stored(EXAMPLES[0], seen, milliseconds, device)


# ---- attention ---------------------------------------------------------------------------------------------------------------------


def kinds(seen: Explanation) -> tuple[attention.Kind, ...]:
    """The three attentions of one translation, cross-attention last; queries and keys as the visitor reads them."""
    _, inputs = tokens(seen)
    return (
        attention.Kind(
            "encoder",
            texts.KINDS["encoder"],
            seen.encoder,
            seen.source,
            seen.source,
            seen.source_space,
            seen.source_space,
            question=texts.QUESTIONS["encoder"],
            roles=(texts.ENGLISH, texts.ENGLISH),
        ),
        attention.Kind(
            "decoder",
            texts.KINDS["decoder"],
            seen.decoder,
            seen.target,
            inputs,
            seen.target_space,
            (True, *seen.target_space[:-1]),
            mask="causal",
            question=texts.QUESTIONS["decoder"],
            roles=(texts.GERMAN, texts.WRITTEN),
        ),
        attention.Kind(
            "cross",
            texts.KINDS["cross"],
            seen.cross,
            seen.target,
            seen.source,
            seen.target_space,
            seen.source_space,
            through="encoder",
            question=texts.QUESTIONS["cross"],
            roles=(texts.GERMAN, texts.ENGLISH),
        ),
    )


def tokens(seen: Explanation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The English pieces, and what goes into the decoder: "<s>", then all German pieces but the last."""
    return seen.source, ("<s>", *seen.target[:-1])


def maps(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention widget draws of one translation. state: "stored" or "live"."""
    return attention.value(kinds(seen), pick=_cell(seen), silenced=request.silenced, state=state)


def _cell(seen: Explanation) -> Value:
    """The telling cell that is locked on arrival: {kind, layer, head, row, col} from 0."""
    found = attention.pick(kinds(seen)[2])
    return {name: found[name] for name in ("kind", "layer", "head", "row", "col")}


def thumbnail() -> Thumbnail | None:
    """The head of the stored first result with the telling cell, for the family map."""
    result = first()
    if result is None:
        return None
    cell = attention.pick(kinds(result.seen)[2])
    return Thumbnail(
        weights=result.seen.cross[cell["layer"], cell["head"]],
        queries=result.seen.target,
        keys=result.seen.source,
        pick=(cell["row"], cell["col"]),
    )


# ---- the prompt --------------------------------------------------------------------------------------------------------------------


def spelled(request: Request) -> Value:
    """A request as the browser holds it."""
    return {
        "sentence": request.sentence,
        "beam": request.beam,
        "alpha": request.alpha,
        "silenced": [list(head) for head in request.silenced],
        "hidden": list(request.hidden),
    }


def query(request: Request) -> str:
    """The request part of the permalink; empty for a sentence that no link carries."""
    try:
        return permalink.encode(request)
    except permalink.LinkTooLong:
        return ""


def result(seen: Explanation, request: Request, *, state: str, milliseconds: float, device: str, notice: Text | None = None) -> Value:
    """What the prompt draws of one translation."""
    cell = _cell(seen)
    address = query(request)
    return prompt.done(
        spelled(request),
        address,
        state=state,
        pieces=seen.target,
        space=seen.target_space,
        log_probability=seen.log_probability,
        hypotheses=seen.hypotheses if request.beam > 1 else (),
        milliseconds=milliseconds,
        device=device,
        pick={"kind": cell["kind"], "row": cell["row"]},
        warning=warning(seen),
        notice=notice if address else texts.LONG_LINK,
    )


def warning(seen: Explanation) -> Text | None:
    """What to say where a sentence lies outside what the model was trained on."""
    if seen.unknown:
        return filled(texts.RARE, unknown=seen.unknown)
    return texts.SURPRISING if seen.surprising else None


# ---- what changes if ---------------------------------------------------------------------------------------------------------------

MODES = (whatif.Mode("silence", texts.SILENCE, texts.SILENCE_TITLE), whatif.Mode("hide", texts.HIDE, texts.HIDE_TITLE))


def untouched(seen: Explanation, request: Request) -> Value:
    """The panel with nothing changed yet."""
    return whatif.idle(spelled(request), prompt.output(seen.source, seen.source_space), _head(seen))


def change(compared: Comparison, request: Request) -> Value:
    """What the panel draws of a comparison."""
    before, forced = compared.before, compared.forced
    return whatif.done(
        spelled(request),
        prompt.output(before.source, before.source_space),
        mode="silence" if not request.hidden else "hide" if not request.silenced else "",
        before=before.text,
        after=compared.after.text,
        pictures=pictures(before, forced),
        numbers=(before.log_probability, forced.log_probability),
        sentence=sentence(compared, request),
        pick=_head(before),
    )


def pictures(before: Explanation, forced: Explanation) -> tuple[whatif.Picture, ...]:
    """Every layer of every kind, averaged over heads, before and under the intervention; the last layer's cross-attention first.

    The translation is held fixed, so both have one shape and cell stands beside cell.
    """
    return tuple(
        whatif.Picture(
            key=f"{one.key}.{layer + 1}",
            label=filled(texts.PICTURE, kind=one.label, layer=layer + 1),
            unit=filled(texts.PICTURE_UNIT, layer=layer + 1),
            queries=one.queries,
            keys=one.keys,
            before=one.weights[layer].mean(0),
            after=other.weights[layer].mean(0),
        )
        for one, other in reversed(list(zip(kinds(before), kinds(forced), strict=True)))
        for layer in reversed(range(one.weights.shape[0]))
    )


def sentence(compared: Comparison, request: Request) -> Text:
    """The comparison in words: the row of the last layer's cross-attention that changes most, and what it does to the translation."""
    before, forced = compared.before, compared.forced
    row, old, new = strongest_change(before.cross[-1].mean(0), forced.cross[-1].mean(0))
    weights = (float(before.cross[-1].mean(0)[row, old]), float(forced.cross[-1].mean(0)[row, old]))
    said = texts.TURNS if old != new else texts.SHIFTS
    first_part = filled(
        said,
        who=_who(before, request),
        query=_named("q", before.target, row),
        old=_named("k", before.source, old),
        new=_named("k", before.source, new),
        before=f"{weights[0]:.2f}",
        after=f"{weights[1]:.2f}",
    )
    delta = forced.log_probability - before.log_probability
    likely = texts.EQUAL if abs(delta) < 0.01 else texts.LESS if delta < 0 else texts.MORE
    second_part = filled(likely, times=times(abs(delta)))
    return {"en": f"{first_part['en']}; {second_part['en']}", "zh": f"{first_part['zh']}；{second_part['zh']}"}


def strongest_change(before: NDArray[np.float32], after: NDArray[np.float32]) -> tuple[int, int, int]:
    """The row of two maps (query, key) that changes most (sum of absolute differences) and its strongest key before and after."""
    if before.shape != after.shape:
        raise ValueError(f"before {before.shape} and after {after.shape} are maps of the same pieces")
    row = int(np.abs(after - before).sum(1).argmax())
    return row, int(before[row].argmax()), int(after[row].argmax())


def times(nats: float) -> str | Text:
    """How many times as likely a difference of `nats` ≥ 0 makes it, rounded for a sentence."""
    factor = math.exp(min(nats, 50.0))
    if factor > 1e6:
        return texts.MILLION
    return f"{factor:.2f}" if factor < 1.1 else f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}"


def _who(seen: Explanation, request: Request) -> Text:
    heads = [filled(texts.ONE_HEAD, kind=texts.KIND_NAMES[kind], name=f"{layer + 1}·{head + 1}") for kind, layer, head in request.silenced]
    shown = heads if len(heads) <= 3 else [filled(texts.MANY_HEADS, n=len(heads))]
    together: Text = {"en": ", ".join(head["en"] for head in shown), "zh": "、".join(head["zh"] for head in shown)}
    words = ", ".join(_named("k", seen.source, position) for position in request.hidden[:3]) + (" …" if len(request.hidden) > 3 else "")
    if request.hidden and request.silenced:
        return filled(texts.WITHOUT_BOTH, heads=together, words=words)
    return filled(texts.WITHOUT_WORDS, words=words) if request.hidden else filled(texts.WITHOUT_HEADS, heads=together)


def _named(role: str, pieces: Sequence[str], position: int) -> str:
    piece = attention.shown(pieces[position]).replace("⟦", "[").replace("⟧", "]")
    return f"⟦{role}:“{piece}” ({position})⟧"


def _head(seen: Explanation) -> Value:
    cell = attention.pick(kinds(seen)[2])
    return {"kind": cell["kind"], "head": f"{cell['layer'] + 1}.{cell['head'] + 1}"}


# ---- guided steps --------------------------------------------------------------------------------------------------------------------


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, and views that show what the stored run has to tell.

    Its telling cell is the thread: first it is looked at, at the end its key is hidden. So the steps follow the model that is shipped,
    whatever its heads have learned.
    """
    stored_first = first()
    start = EXAMPLES[0]
    cell: dict[str, Any] = (
        {"kind": "cross", "layer": 0, "head": 0, "row": 0, "col": 0}
        if stored_first is None
        else attention.pick(kinds(stored_first.seen)[2])
    )
    head, place = f"{cell['layer'] + 1}.{cell['head'] + 1}", {"row": str(cell["row"]), "col": str(cell["col"])}
    beam = next(example for example in EXAMPLES if example.beam > 1)
    shown: dict[str, tuple[str, Mapping[str, str]]] = {
        "asks": ("", {"kind": "cross", "head": head, **place}),
        "align": ("", {"kind": "cross", "stat": "mean"}),
        "silence": (query(replace(start, silenced=(NEEDED,))), {"kind": "cross", "head": f"{NEEDED[1] + 1}.{NEEDED[2] + 1}"}),
        "hide": (query(replace(start, hidden=(cell["col"],))), {"kind": "cross", "head": head, **place}),
        "beam": (query(beam), {"kind": "cross", "stat": "mean"}),
    } | ({} if stored_first is None else {key: ("", look) for key, look in _jobs(stored_first.seen).items()})
    return tuple(GuidedStep(title, say, *shown.get(key, ("", {"kind": "encoder"}))) for key, title, say in texts.STEPS)


def _jobs(seen: Explanation) -> dict[str, Mapping[str, str]]:
    """Views of heads of the stored run that do one recognisable thing."""
    encoder, decoder, _ = kinds(seen)
    inner = attention.pick(encoder)
    found = attention.jobs(encoder)
    neighbour = next((job for job in found if job["job"] in {"previous", "next"}), next(iter(found), inner))
    written = next(iter(attention.jobs(decoder)), attention.pick(decoder))
    return {
        "row": {**_look("encoder", inner), "row": str(inner["row"]), "col": str(inner["col"])},
        "heads": _look("encoder", neighbour),
        "mask": _look("decoder", written),
    }


def _look(kind: str, head: Mapping[str, Any]) -> dict[str, str]:
    return {"kind": kind, "head": f"{head['layer'] + 1}.{head['head'] + 1}"}
