"""The views of the translation Transformer, from explanations to values of the widgets: pure
functions of records, no model and no Gradio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components import input_bar
from explorer.components.change_panel import ChangedNumber, Maps
from explorer.contract.control_kinds import (
    Control,
    Item,
    ItemsControl,
    MenuControl,
    SentenceControl,
    SliderControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.figures import attention
from explorer.figures import bertviz as drawing
from explorer.figures.maps import MapPair
from explorer.labs.translation import about, texts
from explorer.labs.translation import roles as who
from explorer.labs.translation.figures import roles
from explorer.labs.translation.panels import paths
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels.heads import (
    address_cell,
    describe_silenced_heads,
    draw_thumbnail,
    make_heads_control,
)
from explorer.panels.translation import (
    GERMAN,
    describe_answer,
    describe_positions,
    draw_attention_kind,
    list_pieces,
)
from explorer.panels.translation import ask_to_translate_again as ask_to_translate_again
from explorer.panels.translation import describe_endings as describe_endings
from explorer.panels.translation import describe_warning as describe_warning
from models.translation import records
from models.translation.records import EXAMPLES, Explanation, Request, Step

Value = dict[str, object]

# the example on which three heads ask who, did what, and to whom
ASKING = replace(EXAMPLES[0], sentence="A dog is catching a frisbee.")
WHO = {"kind": "encoder", "head": "3.2", "row": "3", "col": "1"}  # from “catching” to “dog”
# the head whose loss hurts the first example most, and changes its translation
NEEDED = ("cross", 3, 5)


first = runs.load_first_once("translation", EXAMPLES[0], Explanation)
answer = describe_answer


# ---- attention


def list_attentions(
    explanation: Explanation, request: Request = EXAMPLES[0]
) -> tuple[attention.Kind, ...]:
    """Return the three attentions of one translation, cross-attention last, with queries and keys
    as the visitor reads them. request: says whether the causal mask is left out."""
    english, german = (
        (explanation.source, explanation.source_space),
        (explanation.target, explanation.target_space),
    )
    so_far, ask_ = (
        (list_tokens(explanation)[1], (True, *explanation.target_space[:-1])),
        texts.QUESTIONS,
    )
    mask, roles_ = None if "mask" in request.without else "causal", (GERMAN, texts.WRITTEN)
    return (
        draw_attention_kind(
            "encoder",
            texts.KINDS["encoder"],
            explanation.encoder,
            english,
            english,
            ask_["encoder"],
        ),
        draw_attention_kind(
            "decoder",
            texts.KINDS["decoder"],
            explanation.decoder,
            german,
            so_far,
            ask_["decoder"],
            mask=mask,
            roles=roles_,
            first_key=-1,
        ),
        draw_attention_kind(
            "cross", texts.KINDS["cross"], explanation.cross, german, english, ask_["cross"]
        ),
    )


def list_tokens(explanation: Explanation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the English pieces, and the decoder's input: "<s>", then all German pieces but the
    last."""
    return explanation.source, ("<s>", *explanation.target[:-1])


def draw_attention(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention widget for one translation. state: "stored" or "live"."""
    return attention.draw_attention(
        list_attentions(explanation, request),
        pick=_find_first_cell(explanation),
        silenced=request.silenced,
        found=find_jobs(explanation),
        query=spell_query(request),
        state=state,
    )


def draw_roles(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw who did what to whom, three heads side by side; {} where the sentence has no clear
    answer."""
    encoder, _, cross = list_attentions(explanation, request)
    return who.draw_roles(encoder, cross) or {}


def list_for_bertviz(explanation: Explanation) -> list[drawing.Attention]:
    """Return all attentions as bertviz shows them."""
    return list(
        drawing.list_encoder_decoder(
            explanation.encoder, explanation.decoder, explanation.cross, *list_tokens(explanation)
        )
    )


def find_jobs(explanation: Explanation) -> list[dict[str, Any]]:
    """Find heads with a job on this sentence, best first: the jobs that they do in every sentence,
    and who did what to whom where the sentence has a clear answer."""
    encoder, decoder, cross = list_attentions(explanation)
    found = [job for kind in (encoder, decoder, cross) for job in attention.find_jobs(kind)]
    taken: list[Any] = [(job["kind"], job["layer"], job["head"]) for job in found]
    return sorted(
        [*found, *roles.find_jobs(encoder, cross, taken)], key=lambda job: -float(str(job["score"]))
    )


def _find_first_cell(explanation: Explanation) -> dict[str, Any]:
    """Return the cell that is locked on arrival, {kind, layer, head, row, col} from 0: a telling
    cell of the last head that aligns both languages, where one does, else of any head of
    cross-attention.

    A row is named after the word that is written there. Only the last layers look at the source of
    that word; the first layers look at the source of the word before it."""
    cross = list_attentions(explanation)[2]
    aligned: list[Any] = [job for job in attention.find_jobs(cross) if job["job"] == "alignment"]
    aligns = max(aligned, key=lambda job: job["layer"], default=None)
    layer, head = (
        (0, 0) if aligns is None else (int(str(aligns["layer"])), int(str(aligns["head"])))
    )
    alone = (
        cross
        if aligns is None
        else replace(cross, weights=cross.weights[layer : layer + 1, head : head + 1])
    )
    found = attention.find_telling_cell(alone)
    return {
        "kind": found["kind"],
        "layer": layer + found["layer"],
        "head": head + found["head"],
        "row": found["row"],
        "col": found["col"],
    }


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the head of the stored first result with the telling cell, for the family map."""
    return draw_thumbnail(list_attentions(explanation)[-1], _find_first_cell(explanation))


# ---- the input bar


def controls() -> tuple[Control, ...]:
    """Return the controls of the input, then of what may be changed in the model."""
    size = about.list_head_sizes()
    models = {kind: texts.HEADS_OF[kind] for kind in records.KINDS}
    searches = {
        n: texts.GREEDY if n == 1 else fill_text(texts.BEAM, n=n)
        for n in range(1, records.MAX_BEAM + 1)
    }
    kept = tuple(str(n) for n in searches if n > 1)
    return (
        SentenceControl(
            "sentence",
            fill_text(texts.SENTENCE, tokens=records.MAX_TOKENS),
            placeholder=EXAMPLES[0].sentence,
        ),
        MenuControl("beam", texts.SEARCH, names=searches),
        SliderControl("alpha", texts.ALPHA, step=0.1, when={"beam": kept}),
        *make_heads_control(models, size, texts.ONE_HEAD, said=texts.KIND_NAMES),
        ItemsControl("hidden", texts.HIDDEN, change=True, says=describe_positions(texts.HIDDEN_AT)),
        ItemsControl(
            "without",
            texts.PARTS,
            names=texts.PART_NAMES,
            notes=texts.PART_NOTES,
            change=True,
            says=describe_removed_parts,
        ),
    )


def describe_removed_parts(parts: Sequence[str]) -> Text:
    """Return the parts left out, in words."""
    named = [texts.LEFT_OUT[part] for part in parts]
    listed: Text = {
        "en": " and ".join(part["en"] for part in named),
        "zh": "、".join(part["zh"].strip() for part in named),
    }
    return fill_text(texts.WITHOUT_PARTS, parts=listed)


def items(explanation: Explanation, _request: Request) -> dict[str, tuple[Item, ...]]:
    """Return the pieces of the sentence in view, each of which can be hidden."""
    return {"hidden": list_pieces((explanation.source, explanation.source_space))}


def draw_partial_answer(steps: Sequence[Step], _request: Request) -> Value:
    """Draw the part of a translation that is there."""
    return input_bar.describe_pieces(
        [step.piece for step in steps], [step.space for step in steps], language="de"
    )


def progress(steps: Sequence[Step], _request: Request) -> Text:
    """Return the sentence that says how far a translation has come."""
    return fill_text(texts.WORD, n=len(steps))


def lines(_seen: Explanation, request: Request) -> tuple[Text, ...]:
    """Return the lines of a text file beside the translation."""
    how = f"beam {request.beam}, α {request.alpha:g}" if request.beam > 1 else "greedy"
    return ({"en": request.sentence, "zh": request.sentence}, {"en": how, "zh": how})


def pick(explanation: Explanation, _request: Request) -> Value:
    """Return the selection on arrival, a cell as an address names it."""
    return address_cell(_find_first_cell(explanation))


# ---- changes

# the attention on which a missing part shows most; else cross-attention
SHOWN_FIRST = {"mask": "decoder", "position": "encoder"}


def difference(
    explanations: tuple[Explanation, Explanation],
    read: tuple[None, Explanation],
    request: Request,
    _what: Text,
) -> Maps:
    """Draw the effect of a change. explanations: the runs without and with it; read: the
    translation before, read under it."""
    (before, after), forced = explanations, read[1]
    return Maps(
        maps=draw_maps(before, forced, request),
        texts=(before.text, after.text),
        language="de",
        number=ChangedNumber(before.log_probability, forced.log_probability),
        unit=texts.NUMBER,
        sentence=describe_change(before, forced, request),
        words=list_words(before, forced),
        words_title=texts.WORDS_TITLE,
    )


def list_words(before: Explanation, forced: Explanation) -> list[tuple[str, float, float]]:
    """Return each word of the translation, its pieces put together, with its probability before and
    under the change."""
    made: list[tuple[str, float, float]] = []
    chances = (np.exp(one.log_probabilities.astype(np.float64)) for one in (before, forced))
    for piece, space, was, now in zip(before.target, before.target_space, *chances, strict=True):
        if made and not space and piece.isalnum() and made[-1][0][-1:].isalnum():
            word, p, q = made.pop()
            made.append((word + piece, p * float(was), q * float(now)))
        else:
            made.append((piece, float(was), float(now)))
    return made


def draw_maps(before: Explanation, forced: Explanation, request: Request) -> tuple[MapPair, ...]:
    """Draw every layer of every kind, averaged over heads, before and under the change; the last
    layer of the kind that shows the change most comes first.

    A silenced head passes nothing on. Its own map, with nothing beside it, comes first where no
    mean in that place changes visibly. The translation is held fixed, so both maps have one shape
    and cell stands beside cell.
    """
    first = SHOWN_FIRST.get(request.without[0], "cross") if request.without else "cross"
    pairs = list(zip(list_attentions(before), list_attentions(forced, request), strict=True))[::-1]
    means = tuple(
        MapPair(
            key=f"{one.key}.{layer + 1}",
            label=fill_text(texts.PICTURE, kind=one.label, layer=layer + 1),
            unit=fill_text(texts.PICTURE_UNIT, layer=layer + 1),
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
            label=fill_text(
                texts.HEAD_PICTURE, kind=named[kind].label, name=f"{layer + 1}·{head + 1}"
            ),
            unit=texts.HEAD_PICTURE_UNIT,
            queries=named[kind].queries,
            keys=named[kind].keys,
            before=(weights := named[kind].weights[layer, head]),
            after=np.zeros_like(weights),
        )
        for kind, layer, head in request.silenced
    )
    return (
        means + heads if np.abs(means[0].after - means[0].before).max() >= 0.005 else heads + means
    )


def describe_change(before: Explanation, forced: Explanation, request: Request) -> Text:
    """Describe the change in words: its effect on the weights, and on the translation.

    The sentence about the weights names the effect of a removed part, else the row of the last
    layer's cross-attention that changes most.
    """
    delta = forced.log_probability - before.log_probability
    likely = texts.EQUAL if abs(delta) < 0.01 else texts.LESS if delta < 0 else texts.MORE
    second_part = fill_text(likely, times=format_times(abs(delta)))
    told = [
        text
        for part in request.without
        if (text := describe_removed_part(part, before, forced)) is not None
    ]
    if told:
        what: Text = {
            "en": "; ".join(text["en"] for text in told),
            "zh": "；".join(text["zh"] for text in told),
        }
        first_part = fill_text(texts.TOLD, who=_name_sides(before, request), what=what)
    else:
        first_part = _describe_row(before, forced, request)
    word, was, now = max(list_words(before, forced), key=lambda one: abs(one[2] - one[1]))
    if f"{was:.2f}" != f"{now:.2f}":
        falls = fill_text(texts.WORD_FALLS, word=word, was=f"{was:.2f}", now=f"{now:.2f}")
        first_part = {
            "en": f"{first_part['en']}; {falls['en']}",
            "zh": f"{first_part['zh']}；{falls['zh']}",
        }
    return {
        "en": f"{first_part['en']}; {second_part['en']}",
        "zh": f"{first_part['zh']}；{second_part['zh']}",
    }


def _describe_row(before: Explanation, forced: Explanation, request: Request) -> Text:
    who = _name_sides(before, request)
    was, now = before.cross[-1].mean(0), forced.cross[-1].mean(0)
    row, old, new = find_strongest_change(was, now)
    query = _name_piece("q", before.target, row)
    if not now[row].any():
        return fill_text(texts.NOTHING_LEFT, who=who, query=query)
    if old != new:
        return fill_text(
            texts.TURNS,
            who=who,
            query=query,
            old=_name_piece("k", before.source, old),
            new=_name_piece("k", before.source, new),
        )
    key = int(np.abs(now[row] - was[row]).argmax())
    shifts: dict[str, Any] = {
        "who": who,
        "query": query,
        "key": _name_piece("k", before.source, key),
    }
    return write_change_sentence(
        texts.SHIFTS,
        _describe_single_weight(who, before, forced),
        float(was[row, key]),
        float(now[row, key]),
        **shifts,
    )


def _describe_single_weight(who: Text, before: Explanation, forced: Explanation) -> Text:
    """Describe the single weight, of all heads of the last layer, that changes most, where the mean
    over the heads prints alike."""
    pairs = list(zip(list_attentions(before), list_attentions(forced), strict=True))
    one, other = max(
        pairs, key=lambda pair: float(np.nanmax(np.abs(pair[1].weights - pair[0].weights)))
    )
    place = np.unravel_index(
        int(np.nanargmax(np.abs(other.weights - one.weights))), one.weights.shape
    )
    layer, head, row, key = (int(n) for n in place)
    cell: dict[str, Any] = {
        "query": _name_piece("q", one.queries, row),
        "key": _name_piece("k", one.keys, key),
        "name": f"{layer + 1}·{head + 1}",
    }
    weights = float(one.weights[place]), float(other.weights[place])
    return write_change_sentence(
        texts.WITHIN, texts.NOWHERE, *weights, who=who, kind=texts.KIND_NAMES[one.key], **cell
    )


def describe_removed_part(part: str, before: Explanation, forced: Explanation) -> Text | None:
    """Describe the purpose of a part by the effect of its absence on the weights of the same
    translation. None where a single piece leaves no choice."""
    if part == "scale" and len(before.source) > 1:
        return write_change_sentence(
            texts.HARDER, texts.AS_HARD, measure_hardness(before), measure_hardness(forced)
        )
    if part == "mask" and len(before.target) > 1:
        # the last row has no key after it
        ahead = np.triu(forced.decoder, 1).sum(-1)[..., :-1].mean()
        return fill_text(texts.AHEAD, share=f"{float(ahead):.2f}")
    if part == "position" and len(before.source) > 1:
        beside = {
            job: np.diagonal(before.encoder, offset, 2, 3).mean(2)
            for job, offset in (("previous", -1), ("next", 1))
        }
        job = max(beside, key=lambda name: beside[name].max())
        layer, head = (
            int(place) for place in np.unravel_index(beside[job].argmax(), beside[job].shape)
        )
        now = np.diagonal(forced.encoder[layer, head], -1 if job == "previous" else 1).mean()
        name = f"{layer + 1}·{head + 1}"
        return write_change_sentence(
            texts.ADRIFT[job],
            texts.NOT_ADRIFT[job],
            float(beside[job].max()),
            float(now),
            name=name,
        )
    return None


def measure_hardness(explanation: Explanation) -> float:
    """Measure the largest weight of a row: its mean over all rows, heads and layers of the three
    attentions, rows with a single key left out."""
    largest = [
        explanation.encoder.max(-1),
        explanation.decoder[..., 1:, :].max(-1),
        explanation.cross.max(-1),
    ]
    return float(np.concatenate([rows.reshape(-1) for rows in largest]).mean())


def find_strongest_change(
    before: NDArray[np.float32], after: NDArray[np.float32]
) -> tuple[int, int, int]:
    """Return the row of two maps (query, key) that changes most (sum of absolute differences) and
    its strongest key before and after."""
    if before.shape != after.shape:
        raise ValueError(
            f"before {before.shape} and after {after.shape}; expected maps of the same pieces"
        )
    row = int(np.abs(after - before).sum(1).argmax())
    return row, int(before[row].argmax()), int(after[row].argmax())


def format_times(nats: float) -> str | Text:
    """Return how many times as likely a difference of `nats` ≥ 0 makes it, rounded for a
    sentence."""
    factor = math.exp(min(nats, 50.0))
    if factor > 1e6:
        return texts.MILLION
    return f"{factor:.2f}" if factor < 1.1 else f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}"


def _name_sides(explanation: Explanation, request: Request) -> Text:
    words = ", ".join(
        _name_piece("k", explanation.source, position) for position in request.hidden[:3]
    ) + (" …" if len(request.hidden) > 3 else "")
    changes = [
        *([describe_removed_parts(request.without)] if request.without else []),
        *(
            [describe_silenced_heads(request.silenced, texts.KIND_NAMES, texts.ONE_HEAD)]
            if request.silenced
            else []
        ),
        *([fill_text(texts.WITHOUT_WORDS, words=words)] if request.hidden else []),
    ]
    listed = " and ".join(text["en"] for text in changes)
    return fill_text(
        texts.AFTER,
        changes={
            "en": listed[0].upper() + listed[1:],
            "zh": "并".join(text["zh"] for text in changes),
        },
    )


def _name_piece(role: str, pieces: Sequence[str], position: int) -> str:
    piece = attention.show_token(pieces[position]).replace("⟦", "[").replace("⟧", "]")
    return f"⟦{role}:“{piece}” ({position})⟧"


# ---- guided steps


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point.

    Its telling cell is the thread: the first steps look at it, the last hides its key. So the steps
    follow the shipped model, whatever its heads have learned.
    """
    stored_first = first()
    start = EXAMPLES[0]
    cell: dict[str, Any] = (
        {"kind": "cross", "layer": 0, "head": 0, "row": 0, "col": 0}
        if stored_first is None
        else _find_first_cell(stored_first.seen)
    )
    head, place = (
        f"{cell['layer'] + 1}.{cell['head'] + 1}",
        {"row": str(cell["row"]), "col": str(cell["col"])},
    )
    beam = next(example for example in EXAMPLES if example.beam > 1)
    shown: dict[str, Shown] = {
        "asks": ("", {"kind": "cross", "head": head, **place, "weight": "open"}, ""),
        "scale": (
            spell_query(replace(start, without=("scale",))),
            {"kind": "cross", "head": head, **place},
            "attention",
            "change",
        ),
        "order": ("", {"kind": "cross", "stat": "mean", "positions": "open"}, ""),
        "beam": (spell_query(beam), {"kind": "cross", "stat": "mean", "beam": "open"}, ""),
        "silence": (
            spell_query(replace(start, silenced=(NEEDED,))),
            {"kind": "cross", "head": f"{NEEDED[1] + 1}.{NEEDED[2] + 1}"},
            "change",
        ),
        "residual": ("", {"kind": "encoder", "stat": "mean", "paths": "open"}, ""),
        "training": ("", {"kind": "cross", "stat": "mean", "training": "open"}, ""),
    }
    mask = {"kind": "decoder"} if stored_first is None else _describe_job(stored_first.seen)
    shown |= {
        "heads": (spell_query(ASKING), WHO, "roles"),
        "mask": (spell_query(replace(start, without=("mask",))), mask, "attention", "change"),
    }
    # a lab has eight steps: the one about residual paths takes the place of a silenced head
    read = paths.list_position_figures()
    del shown["silence" if read else "residual"]
    return build_steps(texts, shown, each=read or "")


def _describe_job(explanation: Explanation) -> dict[str, str]:
    """Return a view of the stored run: a head of the decoder that does one recognisable thing."""
    decoder = list_attentions(explanation)[1]
    head: Mapping[str, Any] = next(
        iter(attention.find_jobs(decoder)), attention.find_telling_cell(decoder)
    )
    return {"kind": "decoder", "head": f"{head['layer'] + 1}.{head['head'] + 1}"}
