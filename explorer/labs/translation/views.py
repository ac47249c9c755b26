"""From what the model explains to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, Item, query
from explorer.figures import attention, roles
from explorer.figures import bertviz as drawing
from explorer.figures.maps import MapPair
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, change_sentence, filled
from explorer.labs.guided import Shown, guided
from explorer.labs.heads import place, silenced, thumbnail_of, without
from explorer.labs.translated import GERMAN, choosable, kind, pieces_at
from explorer.labs.translated import again as again
from explorer.labs.translated import answer as answer
from explorer.labs.translated import warning as warning
from explorer.labs.translation import about, texts
from explorer.labs.translation import roles as who
from explorer.labs.translation.deeper import paths
from explorer.widgets import ask
from explorer.widgets.change import Maps, Number
from models.translation import records
from models.translation.records import EXAMPLES, Explanation, Request, Step

Value = dict[str, object]

ASKING = replace(EXAMPLES[0], sentence="A dog is catching a frisbee.")  # on which three heads ask who, did what, and to whom
WHO = {"kind": "encoder", "head": "3.2", "row": "3", "col": "1"}  # from “catching” to “dog”
NEEDED = ("cross", 3, 5)  # of all heads the one that the first example misses most, and its translation changes


first = runs.kept("translation", EXAMPLES[0], Explanation)


# ---- attention ---------------------------------------------------------------------------------------------------------------------


def kinds(seen: Explanation, request: Request = EXAMPLES[0]) -> tuple[attention.Kind, ...]:
    """The three attentions of one translation, cross-attention last; queries and keys as the visitor reads them. request: whether the
    causal mask is left out."""
    english, german = (seen.source, seen.source_space), (seen.target, seen.target_space)
    so_far, ask_ = (tokens(seen)[1], (True, *seen.target_space[:-1])), texts.QUESTIONS
    mask, roles_ = None if "mask" in request.without else "causal", (GERMAN, texts.WRITTEN)
    return (
        kind("encoder", texts.KINDS["encoder"], seen.encoder, english, english, ask_["encoder"]),
        kind("decoder", texts.KINDS["decoder"], seen.decoder, german, so_far, ask_["decoder"], mask=mask, roles=roles_, first_key=-1),
        kind("cross", texts.KINDS["cross"], seen.cross, german, english, ask_["cross"]),
    )


def tokens(seen: Explanation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The English pieces, and what goes into the decoder: "<s>", then all German pieces but the last."""
    return seen.source, ("<s>", *seen.target[:-1])


def maps(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention widget draws of one translation. state: "stored" or "live"."""
    return attention.value(
        kinds(seen, request), pick=_cell(seen), silenced=request.silenced, found=jobs(seen), query=query(request), state=state
    )


def roles_of(seen: Explanation, request: Request, _state: str) -> Value:
    """Who did what to whom, three heads side by side; {} where that cannot be told of the sentence."""
    encoder, _, cross = kinds(seen, request)
    return who.value(encoder, cross) or {}


def bertviz(seen: Explanation) -> list[drawing.Attention]:
    """All attentions as bertviz shows them."""
    return list(drawing.encoder_decoder(seen.encoder, seen.decoder, seen.cross, *tokens(seen)))


def jobs(seen: Explanation) -> list[dict[str, Any]]:
    """Heads with a job on this sentence, best first: what they do in every sentence, and who did what to whom where that can be told."""
    encoder, decoder, cross = kinds(seen)
    found = [job for kind in (encoder, decoder, cross) for job in attention.jobs(kind)]
    taken: list[Any] = [(job["kind"], job["layer"], job["head"]) for job in found]
    return sorted([*found, *roles.jobs(encoder, cross, taken)], key=lambda job: -float(str(job["score"])))


def _cell(seen: Explanation) -> dict[str, Any]:
    """What is locked on arrival, {kind, layer, head, row, col} from 0: a telling cell of the last head that aligns both languages, where
    one does, else of any head of cross-attention. A row is named after the word that is written there; only the last layers look at what
    that word translates, the first ones at what the word before it did."""
    cross = kinds(seen)[2]
    aligned: list[Any] = [job for job in attention.jobs(cross) if job["job"] == "alignment"]
    aligns = max(aligned, key=lambda job: job["layer"], default=None)
    layer, head = (0, 0) if aligns is None else (int(str(aligns["layer"])), int(str(aligns["head"])))
    alone = cross if aligns is None else replace(cross, weights=cross.weights[layer : layer + 1, head : head + 1])
    found = attention.pick(alone)
    return {"kind": found["kind"], "layer": layer + found["layer"], "head": head + found["head"], "row": found["row"], "col": found["col"]}


def thumbnail(seen: Explanation) -> Thumbnail:
    """The head of the stored first result with the telling cell, for the family map."""
    return thumbnail_of(kinds(seen)[-1], _cell(seen))


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def controls() -> tuple[Control, ...]:
    """What is asked for, then what may be changed in the model."""
    size = about.heads()
    models = {kind: texts.HEADS_OF[kind] for kind in records.KINDS}
    searches = {n: texts.GREEDY if n == 1 else filled(texts.BEAM, n=n) for n in range(1, records.MAX_BEAM + 1)}
    kept = tuple(str(n) for n in searches if n > 1)
    return (
        Control("sentence", filled(texts.SENTENCE, tokens=records.MAX_TOKENS), "sentence", placeholder=EXAMPLES[0].sentence),
        Control("beam", texts.SEARCH, "select", names=searches),
        Control("alpha", texts.ALPHA, "number", step=0.1, when={"beam": kept}),
        *silenced(models, size, texts.ONE_HEAD, said=texts.KIND_NAMES),
        Control("hidden", texts.HIDDEN, "items", change=True, says=pieces_at(texts.HIDDEN_AT)),
        Control("without", texts.PARTS, "items", names=texts.PART_NAMES, notes=texts.PART_NOTES, change=True, says=without_parts),
    )


def without_parts(parts: Sequence[str]) -> Text:
    """Parts left out, in words."""
    named = [texts.LEFT_OUT[part] for part in parts]
    listed: Text = {"en": " and ".join(part["en"] for part in named), "zh": "、".join(part["zh"].strip() for part in named)}
    return filled(texts.WITHOUT_PARTS, parts=listed)


def items(seen: Explanation, _request: Request) -> dict[str, tuple[Item, ...]]:
    """The pieces of the sentence in view, each of which can be hidden."""
    return {"hidden": choosable((seen.source, seen.source_space))}


def growing(steps: Sequence[Step], _request: Request) -> Value:
    """The part of a translation that is there."""
    return ask.pieces([step.piece for step in steps], [step.space for step in steps], language="de")


def progress(steps: Sequence[Step], _request: Request) -> Text:
    """How far a translation has come."""
    return filled(texts.WORD, n=len(steps))


def lines(_seen: Explanation, request: Request) -> tuple[Text, ...]:
    """What a text file says beside the translation."""
    how = f"beam {request.beam}, α {request.alpha:g}" if request.beam > 1 else "greedy"
    return ({"en": request.sentence, "zh": request.sentence}, {"en": how, "zh": how})


def pick(seen: Explanation, _request: Request) -> Value:
    """The cell that is looked at on arrival, as an address names it."""
    return place(_cell(seen))


# ---- what changes if ---------------------------------------------------------------------------------------------------------------

SHOWN_FIRST = {"mask": "decoder", "position": "encoder"}  # the attention that a missing part tells most on; else cross-attention


def difference(seen: tuple[Explanation, Explanation], read: tuple[None, Explanation], request: Request, _what: Text) -> Maps:
    """What the panel draws of a change. seen: the runs without and with it; read: the translation before, read under it."""
    (before, after), forced = seen, read[1]
    return Maps(
        maps=pictures(before, forced, request),
        texts=(before.text, after.text),
        language="de",
        number=Number(before.log_probability, forced.log_probability),
        unit=texts.NUMBER,
        sentence=sentence(before, forced, request),
        words=words(before, forced),
        words_title=texts.WORDS_TITLE,
    )


def words(before: Explanation, forced: Explanation) -> list[tuple[str, float, float]]:
    """Each word of the translation, its pieces put together, with its probability before and under the change."""
    made: list[tuple[str, float, float]] = []
    chances = (np.exp(one.log_probabilities.astype(np.float64)) for one in (before, forced))
    for piece, space, was, now in zip(before.target, before.target_space, *chances, strict=True):
        if made and not space and piece.isalnum() and made[-1][0][-1:].isalnum():
            word, p, q = made.pop()
            made.append((word + piece, p * float(was), q * float(now)))
        else:
            made.append((piece, float(was), float(now)))
    return made


def pictures(before: Explanation, forced: Explanation, request: Request) -> tuple[MapPair, ...]:
    """Every layer of every kind, averaged over heads, before and under the change; the last layer of what it tells most on comes first.

    A silenced head passes nothing on: its own map, in place of which nothing comes, is first where no mean in that place changes visibly.
    The translation is held fixed, so both have one shape and cell stands beside cell.
    """
    first = SHOWN_FIRST.get(request.without[0], "cross") if request.without else "cross"
    pairs = list(zip(kinds(before), kinds(forced, request), strict=True))[::-1]
    means = tuple(
        MapPair(
            key=f"{one.key}.{layer + 1}",
            label=filled(texts.PICTURE, kind=one.label, layer=layer + 1),
            unit=filled(texts.PICTURE_UNIT, layer=layer + 1),
            queries=one.queries,
            keys=one.keys,
            before=one.weights[layer].mean(0),
            after=other.weights[layer].mean(0),
        )
        for one, other in sorted(pairs, key=lambda pair: pair[0].key != first)
        for layer in reversed(range(one.weights.shape[0]))
    )
    named = {one.key: one for one, _ in pairs}
    heads = tuple(
        MapPair(
            key=f"{kind}.{layer + 1}.{head + 1}",
            label=filled(texts.HEAD_PICTURE, kind=named[kind].label, name=f"{layer + 1}·{head + 1}"),
            unit=texts.HEAD_PICTURE_UNIT,
            queries=named[kind].queries,
            keys=named[kind].keys,
            before=(weights := named[kind].weights[layer, head]),
            after=np.zeros_like(weights),
        )
        for kind, layer, head in request.silenced
    )
    return means + heads if np.abs(means[0].after - means[0].before).max() >= 0.005 else heads + means


def sentence(before: Explanation, forced: Explanation, request: Request) -> Text:
    """The change in words: what becomes of the weights, and of the translation.

    Of the weights: what a part left out tells on; else the row of the last layer's cross-attention that changes most.
    """
    delta = forced.log_probability - before.log_probability
    likely = texts.EQUAL if abs(delta) < 0.01 else texts.LESS if delta < 0 else texts.MORE
    second_part = filled(likely, times=times(abs(delta)))
    told = [text for part in request.without if (text := without_it(part, before, forced)) is not None]
    if told:
        what: Text = {"en": "; ".join(text["en"] for text in told), "zh": "；".join(text["zh"] for text in told)}
        first_part = filled(texts.TOLD, who=_who(before, request), what=what)
    else:
        first_part = _row_in_words(before, forced, request)
    word, was, now = max(words(before, forced), key=lambda one: abs(one[2] - one[1]))
    if f"{was:.2f}" != f"{now:.2f}":
        falls = filled(texts.WORD_FALLS, word=word, was=f"{was:.2f}", now=f"{now:.2f}")
        first_part = {"en": f"{first_part['en']}; {falls['en']}", "zh": f"{first_part['zh']}；{falls['zh']}"}
    return {"en": f"{first_part['en']}; {second_part['en']}", "zh": f"{first_part['zh']}；{second_part['zh']}"}


def _row_in_words(before: Explanation, forced: Explanation, request: Request) -> Text:
    who = _who(before, request)
    was, now = before.cross[-1].mean(0), forced.cross[-1].mean(0)
    row, old, new = strongest_change(was, now)
    query = _named("q", before.target, row)
    if old != new:
        return filled(texts.TURNS, who=who, query=query, old=_named("k", before.source, old), new=_named("k", before.source, new))
    key = int(np.abs(now[row] - was[row]).argmax())
    shifts: dict[str, Any] = {"who": who, "query": query, "key": _named("k", before.source, key)}
    return change_sentence(texts.SHIFTS, _within(who, before, forced), float(was[row, key]), float(now[row, key]), **shifts)


def _within(who: Text, before: Explanation, forced: Explanation) -> Text:
    """Where the mean over the heads of the last layer prints alike: the single weight, of all heads, that changes most."""
    pairs = list(zip(kinds(before), kinds(forced), strict=True))
    one, other = max(pairs, key=lambda pair: float(np.nanmax(np.abs(pair[1].weights - pair[0].weights))))
    place = np.unravel_index(int(np.nanargmax(np.abs(other.weights - one.weights))), one.weights.shape)
    layer, head, row, key = (int(n) for n in place)
    cell: dict[str, Any] = {"query": _named("q", one.queries, row), "key": _named("k", one.keys, key), "name": f"{layer + 1}·{head + 1}"}
    weights = float(one.weights[place]), float(other.weights[place])
    return change_sentence(texts.WITHIN, texts.NOWHERE, *weights, who=who, kind=texts.KIND_NAMES[one.key], **cell)


def without_it(part: str, before: Explanation, forced: Explanation) -> Text | None:
    """What a part was for: how its absence tells on the weights of the same translation. None where a single piece leaves no choice."""
    if part == "scale" and len(before.source) > 1:
        return change_sentence(texts.HARDER, texts.AS_HARD, hardness(before), hardness(forced))
    if part == "mask" and len(before.target) > 1:
        ahead = np.triu(forced.decoder, 1).sum(-1)[..., :-1].mean()  # the last row has nothing after it
        return filled(texts.AHEAD, share=f"{float(ahead):.2f}")
    if part == "position" and len(before.source) > 1:
        beside = {job: np.diagonal(before.encoder, offset, 2, 3).mean(2) for job, offset in (("previous", -1), ("next", 1))}
        job = max(beside, key=lambda name: beside[name].max())
        layer, head = (int(place) for place in np.unravel_index(beside[job].argmax(), beside[job].shape))
        now = np.diagonal(forced.encoder[layer, head], -1 if job == "previous" else 1).mean()
        name = f"{layer + 1}·{head + 1}"
        return change_sentence(texts.ADRIFT[job], texts.NOT_ADRIFT[job], float(beside[job].max()), float(now), name=name)
    return None


def hardness(seen: Explanation) -> float:
    """The largest weight of a row: its mean over all rows, heads and layers of the three attentions, rows with a single key left out."""
    largest = [seen.encoder.max(-1), seen.decoder[..., 1:, :].max(-1), seen.cross.max(-1)]
    return float(np.concatenate([rows.reshape(-1) for rows in largest]).mean())


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
    words = ", ".join(_named("k", seen.source, position) for position in request.hidden[:3]) + (" …" if len(request.hidden) > 3 else "")
    changes = [
        *([without_parts(request.without)] if request.without else []),
        *([without(request.silenced, texts.KIND_NAMES, texts.ONE_HEAD)] if request.silenced else []),
        *([filled(texts.WITHOUT_WORDS, words=words)] if request.hidden else []),
    ]
    listed = " and ".join(text["en"] for text in changes)
    return filled(texts.AFTER, changes={"en": listed[0].upper() + listed[1:], "zh": "并".join(text["zh"] for text in changes)})


def _named(role: str, pieces: Sequence[str], position: int) -> str:
    piece = attention.shown(pieces[position]).replace("⟦", "[").replace("⟧", "]")
    return f"⟦{role}:“{piece}” ({position})⟧"


# ---- guided steps --------------------------------------------------------------------------------------------------------------------


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, and views that show what the stored run has to tell.

    Its telling cell is the thread: first it is looked at, at the end its key is hidden. So the steps follow the model that is shipped,
    whatever its heads have learned.
    """
    stored_first = first()
    start = EXAMPLES[0]
    cell: dict[str, Any] = (
        {"kind": "cross", "layer": 0, "head": 0, "row": 0, "col": 0} if stored_first is None else _cell(stored_first.seen)
    )
    head, place = f"{cell['layer'] + 1}.{cell['head'] + 1}", {"row": str(cell["row"]), "col": str(cell["col"])}
    beam = next(example for example in EXAMPLES if example.beam > 1)
    shown: dict[str, Shown] = {
        "asks": ("", {"kind": "cross", "head": head, **place, "weight": "open"}, ""),
        "scale": (query(replace(start, without=("scale",))), {"kind": "cross", "head": head, **place}, "attention", "change"),
        "order": ("", {"kind": "cross", "stat": "mean", "positions": "open"}, ""),
        "beam": (query(beam), {"kind": "cross", "stat": "mean", "beam": "open"}, ""),
        "silence": (
            query(replace(start, silenced=(NEEDED,))),
            {"kind": "cross", "head": f"{NEEDED[1] + 1}.{NEEDED[2] + 1}"},
            "change",
        ),
        "residual": ("", {"kind": "encoder", "stat": "mean", "paths": "open"}, ""),
        "training": ("", {"kind": "cross", "stat": "mean", "training": "open"}, ""),
    }
    mask = {"kind": "decoder"} if stored_first is None else _written(stored_first.seen)
    shown |= {"heads": (query(ASKING), WHO, "roles"), "mask": (query(replace(start, without=("mask",))), mask, "attention", "change")}
    read = paths.told()  # a lab has eight steps: what residual paths carry takes the place of a silenced head
    del shown["silence" if read else "residual"]
    return guided(texts, shown, each=read or "")


def _written(seen: Explanation) -> dict[str, str]:
    """A view of the stored run: a head of the decoder that does one recognisable thing."""
    decoder = kinds(seen)[1]
    head: Mapping[str, Any] = next(iter(attention.jobs(decoder)), attention.pick(decoder))
    return {"kind": "decoder", "head": f"{head['layer'] + 1}.{head['head'] + 1}"}
