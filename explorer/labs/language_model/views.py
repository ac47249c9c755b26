"""The views of the language models, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from explorer.components import input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    ItemsControl,
    MenuControl,
    PassageControl,
    QuestionControl,
    SeedControl,
    SliderControl,
    SwitchControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import SIZES, fill_text, join_parts
from explorer.figures import attention, reading
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Blocks, Kind
from explorer.labs.language_model import about, labels, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import passages
from explorer.panels.heads import make_heads_control
from explorer.panels.label_curve import BEGINNINGS, LABELS, draw_label_curve
from explorer.values.exact_rows import keep_rows
from explorer.values.packing import pack_array
from models.explaining.errors import name_character
from models.explaining.request_fields import read_text
from models.explaining.shared_records import CANCELLED, LIMIT
from models.language_model.records import (
    EXAMPLES,
    KINDS,
    LEARN,
    LEARNED,
    MOST_LABELS,
    OFFERED,
    VARIANTS,
    Explanation,
    Guesses,
    Learned,
    Request,
    Step,
)

Text = Mapping[str, str]
Value = dict[str, object]

SHOWN = 32  # symbols in the picture on the family map
OFFERED_LABELS = (50, 100, 200, 500, MOST_LABELS)
# choices of the input bar for the number of likeliest symbols; 0 for all
TOP = (0, 1, 2, 5, 10, 40)

first = runs.load_first_once("language_model", EXAMPLES[0], Explanation)
learned = runs.load_first_once("language_model", LEARN, Learned, LEARNED)


# ---- the input bar


def controls() -> tuple[Control, ...]:
    """Return the controls of the input, then of what may be changed in the model; only for shipped
    models."""
    there = {variant: texts.NAMES[variant] for variant in about.facts() or VARIANTS[:1]}
    sizes = {
        kind: about.read_size(variant)
        for kind, variant in zip(KINDS, ("plain", "words", "induction"), strict=True)
        if variant in there
    }
    kinds = {kind: texts.KIND[kind] for kind in sizes}
    deep: dict[int, list[str]] = {}  # models by their number of layers
    for variant in there:
        deep.setdefault(about.read_size(variant)[0], []).append(variant)
    top = {n: fill_text(texts.LIKELIEST, n=n) if n else texts.ALL for n in TOP}
    write, learn = ({"mode": (mode,)} for mode in texts.MODES)
    count = {n: fill_text(texts.LIKELIEST, n=f"{n:,}") for n in OFFERED_LABELS}
    return (
        ChoiceControl("mode", texts.MODE, names=texts.MODES),
        PassageControl("text", texts.PROMPT, hint=texts.PLACEHOLDER, shares="length", when=write),
        MenuControl("variant", texts.MODEL, names=there, when=write),
        SliderControl("length", texts.LENGTH, unit=texts.SYMBOLS, step=1, when=write),
        SliderControl("top_p", texts.TOP_P, step=0.01, hint=texts.TOP_P_HINT, when=write),
        MenuControl("top_k", texts.TOP_K, names=top, hint=texts.TOP_K_HINT, when=write),
        MenuControl("labels", LABELS, names=count, when=learn),
        MenuControl("way", texts.BEGINS, names=BEGINNINGS, when=learn),
        SeedControl("seed", texts.SEED, hint=passages.SEED_HINT),
        QuestionControl("typed", texts.TYPED, placeholder=OFFERED[0].typed.strip(), when=write),
        SliderControl(
            "temperature",
            texts.TEMPERATURE,
            step=0.1,
            change=True,
            says=_describe_temperature,
            when=write,
        ),
        *make_heads_control(kinds, sizes, texts.HEAD, when=write),
        *(
            ItemsControl(
                "skipped",
                texts.SKIPPED,
                names=_describe_layers(most),
                change=True,
                says=_describe_skipped,
                when={"variant": variants, **write},
            )
            for most, variants in deep.items()
        ),
        SwitchControl(
            "positions",
            texts.POSITIONS,
            names=texts.ON_OFF,
            change=True,
            says=lambda _on: texts.NO_POSITIONS,
            when=write,
        ),
    )


def _describe_layers(most: int) -> Mapping[str, Text]:
    return {str(n): fill_text(texts.LAYER, n=n) for n in range(1, most + 1)}


def _describe_temperature(temperature: float) -> Text:
    return fill_text(texts.HEATED, t=f"{temperature:g}")


def _describe_skipped(layers: Sequence[str]) -> Text:
    return fill_text(texts.WITHOUT_LAYERS, n=len(layers), at=", ".join(layers))


def notice(request: Request, explanation: Explanation | Learned) -> Text | None:
    """Return a note on characters that the model does not know, and on a model that only learned to
    predict from its last position."""
    if isinstance(explanation, Learned):
        return None
    strange = [at for at in np.flatnonzero(explanation.unknown).tolist() if at < explanation.given]
    told: list[Text] = []
    if strange:
        named = [
            f"“{name_character(explanation.symbols[at])}” ({at})"
            for at in strange[: passages.LISTED]
        ]
        more = "…" if len(strange) > passages.LISTED else ""
        told.append(fill_text(texts.STRANGE, n=len(strange), which=", ".join(named) + more))
    if request.variant == "last_only":
        told.append(texts.LAST_ALONE)
    return join_parts(told, " ", " ") if told else None


def lines(explanation: Explanation | Learned, request: Request) -> tuple[Text, ...]:
    """Return the lines of a run's text file."""
    if isinstance(explanation, Learned):
        return (labels.describe_result(explanation, request),)
    how = (
        f"{request.variant} · temperature {request.temperature:g} · top-p {request.top_p:g} · top-k"
        f" {request.top_k} · seed {request.seed}"
    )
    return tuple(
        {"en": one, "zh": one} for one in (read_text(request.text) + explanation.written, how)
    )


def describe_endings(explanation: Explanation | Learned, request: Request) -> list[Value]:
    """Return why the written text ends, or the fine-tuning."""
    if isinstance(explanation, Learned):
        reason = CANCELLED if explanation.stopped else LIMIT
        return [
            input_bar.describe_ending(
                reason, explanation.points[-1].seen if explanation.points else 0, SIZES["sentences"]
            )
        ]
    written, unit = (
        len(explanation.symbols) - explanation.given,
        "pieces" if request.task == KINDS[1] else "characters",
    )
    return [input_bar.describe_ending(LIMIT, written, SIZES[unit])] if written else []


def find_comparison() -> str:
    """Return the address at which the first example stands beside another model of the same books,
    which reads the same text."""
    asked = f"{spell_query(Request(EXAMPLES[0].text))}&length={EXAMPLES[0].length}&figure=reading"
    return "/compare?" + urlencode(
        {"left": f"/language_model?{asked}", "right": f"/transformer_xl?{asked}"}
    )


def progress(steps: Sequence[Any], request: Request) -> Text:
    """Return the sentence that says how far a text or a fine-tuning has come."""
    if request.live:
        return fill_text(
            texts.LEARNING, seen=f"{max((point.seen for point in steps), default=0):,}"
        )
    return fill_text(
        passages.WRITES,
        n=sum(len(step.symbols) for step in steps if not step.given),
        of=request.length,
    )


# ---- the tower and the text


def find_telling_place(explanation: Explanation) -> tuple[int, int, int]:
    """Return the selection on arrival: the position where the layers learn most on the way up, and
    a head that looks far back to predict it."""
    rows = explanation.lens.nats[0] - explanation.lens.nats[-1]
    right = (explanation.lens.numbers[-1] == explanation.numbers) & [
        symbol.strip() != "" for symbol in explanation.symbols
    ]
    until = explanation.given if explanation.given > 8 else len(rows)
    worth = np.where(right, rows, rows - 100)[4:until]
    pos = 4 + int(worth.argmax()) if len(worth) else len(rows) - 1
    far = np.log2(np.arange(pos, 0, -1) + 1) if pos else np.zeros(0)
    looked = (explanation.weights[:, :, pos, 1 : pos + 1].astype(np.float32) * far).max(
        -1, initial=0
    )
    layer, head = (int(n) for n in np.unravel_index(int(looked.argmax()), looked.shape))
    return layer, head, pos


def pick(explanation: Explanation | Learned, _request: Request) -> Value:
    """Return the selection on arrival, as an address names it."""
    if isinstance(explanation, Learned):
        return {}
    layer, head, pos = find_telling_place(explanation)
    return {"model": explanation.variant, "head": f"{layer + 1}.{head + 1}", "pos": pos, "row": pos}


def draw_tower(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the guess of each layer: by the logit lens, and by classifiers of its own where a model
    has them."""
    sets = [
        _describe_guesses(
            "lens",
            fill_text(texts.LENS, name=texts.BRIEF[explanation.variant]),
            explanation.lens,
            explanation.numbers,
        )
    ]
    if explanation.exits is not None:
        sets.append(
            _describe_guesses(
                "exits",
                fill_text(texts.EXITS, name=texts.BRIEF[explanation.exits.variant]),
                explanation.exits,
                explanation.numbers,
            )
        )
    return {
        "state": state,
        "query": spell_query(request),
        "symbols": list(explanation.symbols),
        "given": explanation.given,
        "pieces": request.task == KINDS[1],
        "reads": False,
        "sets": sets,
        "pick": pick(explanation, request),
    }


def _describe_guesses(key: str, name: Text, guesses: Guesses, true: Sequence[int]) -> Value:
    """Return guesses of one kind; numbers say which are right, for two symbols may look alike."""
    bits = (guesses.nats / np.float32(math.log(2))).astype(np.float32)
    best, right = [list(row) for row in guesses.best], (guesses.numbers == true).tolist()
    return {
        "key": key,
        "name": dict(name),
        "best": best,
        "right": right,
        "bits": pack_array(bits, unit=False),
    }


def draw_tree(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw what could have been written first, and what the visitor's own continuation would have
    cost."""
    drawn = explanation.tree
    typed = (
        {
            "text": read_text(request.typed),
            "bits": float(explanation.typed_nats.sum() / math.log(2)),
        }
        if explanation.typed
        else None
    )
    return {
        "state": state,
        "query": spell_query(request),
        "root": explanation.symbols[explanation.given - 1] if explanation.given else texts.START,
        "symbols": list(drawn.symbols),
        "parent": pack_array(drawn.parent, unit=False),
        "chance": pack_array(drawn.chance),
        "kept": pack_array(drawn.kept.astype(np.uint8), unit=False),
        "sampled": list(drawn.sampled),
        "typed": typed,
    }


def _keep_exact_rows(explanation: Explanation) -> str:
    """Keep the exact weights of a run and return their address."""

    def rows(layer: int, head: int, which: range) -> NDArray[np.float32]:
        return explanation.weights[layer, head, which.start : which.stop].astype(np.float32)

    return keep_rows(f"language model {explanation.variant}", rows, explanation.weights)


def draw_text(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the text: every character with its surprise, and where a head looked to predict it."""
    layers, heads, length = explanation.weights.shape[:3]
    weights = explanation.weights.astype(np.float32)
    profiles = np.stack(
        [np.diagonal(weights, -d, 2, 3).sum(-1) / length for d in range(length)], -1
    )
    name = texts.NAMES[explanation.variant]
    about_ = texts.WRITES if length > explanation.given else texts.READS
    model = reading.Model(
        explanation.variant,
        name,
        about_,
        "".join(explanation.symbols),
        explanation.nats,
        _keep_exact_rows(explanation),
        layers,
        heads,
        profiles.astype(np.float32),
    )
    unknown = np.flatnonzero(explanation.unknown).tolist()
    place = pick(explanation, request)
    return reading.draw_reading(
        [model],
        given=explanation.given,
        unknown=unknown,
        pick=place,
        query=spell_query(request),
        state=state,
    )


def draw_growing_text(steps: Sequence[Step], request: Request) -> Value:
    """Draw the text while it is read and written."""
    given, about_ = (
        sum(len(step.symbols) for step in steps if step.given),
        {request.variant: texts.WRITES},
    )
    return passages.draw_growing_text(
        {request.variant: steps},
        texts.NAMES,
        about_,
        request,
        given,
        lambda step: "".join(step.symbols),
    )


def draw_pieces(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw a text of pieces: each with its surprise."""
    return _draw_surprise(
        explanation.symbols, explanation.given, explanation.nats, request, state
    ) | {"pick": pick(explanation, request)}


def draw_growing_pieces(steps: Sequence[Step], request: Request) -> Value:
    """Draw the part of a text of pieces that is there."""
    symbols = [symbol for step in steps for symbol in step.symbols]
    given = sum(len(step.symbols) for step in steps if step.given)
    nats = np.concatenate([step.nats for step in steps]) if steps else np.zeros(0, np.float32)
    return _draw_surprise(symbols, given, nats, request, "running")


def _draw_surprise(
    symbols: Sequence[str], given: int, nats: NDArray[np.float32], request: Request, state: str
) -> Value:
    bits = (nats / np.float32(math.log(2))).astype(np.float32)
    return {
        "state": state,
        "query": spell_query(request),
        "symbols": list(symbols),
        "given": given,
        "bits": pack_array(bits, unit=False),
    }


def draw_attention_kind(explanation: Explanation, request: Request) -> Kind:
    """Return the attention of all layers and heads."""
    symbols, keys = explanation.symbols, (texts.START, *explanation.symbols[:-1])
    blocks = (
        Blocks(1, 1, symbols, keys, _keep_exact_rows(explanation))
        if attention.is_long(len(symbols)) and len(symbols) <= attention.LONGEST
        else None
    )
    return Kind(
        request.kind,
        texts.KIND[request.kind],
        explanation.weights.astype(np.float32),
        symbols,
        keys,
        mask="causal",
        question=texts.QUESTION,
        roles=texts.ROLES,
        first_key=-1,
        blocks=blocks,
    )


def draw_attention(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention view."""
    layer, head, pos = find_telling_place(explanation)
    col = int(explanation.weights[layer, head, pos].argmax())
    by = -(-len(explanation.symbols) // attention.LONGEST)
    place = {"kind": request.kind, "layer": layer, "head": head, "row": pos // by, "col": col // by}
    return attention.draw_attention(
        [draw_attention_kind(explanation, request)],
        pick=place,
        silenced=request.silenced,
        query=spell_query(request),
        state=state,
    )


def list_for_bertviz(explanation: Explanation) -> drawing.Attention:
    """Return the attention among the last symbols as bertviz shows it."""

    def look(layer: int, head: int, which: Sequence[int]) -> NDArray[np.float32]:
        return explanation.weights[layer, head, which].astype(np.float32)

    return passages.show_last_characters(
        explanation.variant,
        texts.NAMES[explanation.variant],
        explanation.symbols,
        explanation.weights.shape[:2],
        look,
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the telling head over the first symbols of the stored run, for the family map."""
    layer, head, pos = find_telling_place(explanation)
    here = slice(max(0, pos + 1 - SHOWN), pos + 1)
    weights = explanation.weights[layer, head, here, here].astype(np.float32)
    keys = (texts.START, *explanation.symbols[:-1])
    return Thumbnail(
        weights,
        explanation.symbols[here],
        keys[here],
        (len(weights) - 1, int(weights[-1].argmax())),
    )


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point; none for a model that is not shipped."""
    kept = first()
    start, there = EXAMPLES[0], about.facts()
    layer, head, pos = find_telling_place(kept.seen) if kept else (0, 0, 8)
    here = {"pos": str(pos), "head": f"{layer + 1}.{head + 1}"}
    shown: dict[str, Shown] = {
        "predict": ("", here, "reading"),
        "positions": (
            "",
            here,
            "learning" if len(there.keys() & texts.LESSONS.keys()) > 1 else "attention",
        ),
        "layers": ("", here, "tower"),
        "temperature": (spell_query(replace(start, temperature=1.6)), here, "change"),
        "unicorn": (spell_query(OFFERED[1]), {}, "reading"),
    }
    copying = next((one for one in EXAMPLES if one.variant == "induction"), None)
    if copying is not None:
        shown["copy"] = (
            spell_query(replace(copying, silenced=((copying.kind, 1, 0),))),
            {"head": "2.1", "pos": "15"},
            "change",
        )
    if learned() is not None:
        shown["labels"] = (spell_query(LEARN), {}, "labels")
    if draw_label_curve(about.SLUG) is not None:
        shown["curve"] = (spell_query(LEARN), {}, "labelled")
    return build_steps(texts, shown)
