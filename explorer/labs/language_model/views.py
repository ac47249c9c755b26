"""From what the language models explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, query
from explorer.figures import attention, reading
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Blocks, Kind
from explorer.figures.sides import Side
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import change_sentence, filled, raised, strung
from explorer.labs import passages
from explorer.labs.guided import Shown, guided
from explorer.labs.heads import silenced
from explorer.labs.labelled import BEGINNINGS, LABELS, labelled
from explorer.labs.language_model import about, labels, texts
from explorer.looks import keep
from explorer.packing import pack
from explorer.widgets.change import Readings
from models.language_model.records import (
    EXAMPLES,
    KINDS,
    LEARN,
    LEARNED,
    MOST_LABELS,
    OFFERED,
    VARIANTS,
    Again,
    Explanation,
    Guesses,
    Learned,
    Losses,
    Request,
    Step,
)

Text = Mapping[str, str]
Value = dict[str, object]

SHOWN = 32  # symbols of the family map's picture
OFFERED_LABELS = (50, 100, 200, 500, MOST_LABELS)
TOP = (0, 1, 2, 5, 10, 40)  # of how many of the likeliest is drawn, as the bar offers it; 0 for all

first = runs.kept("language_model", EXAMPLES[0], Explanation)
learned = runs.kept("language_model", LEARN, Learned, LEARNED)


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def offered() -> tuple[tuple[Request, tuple[Text, Text]], ...]:
    """Our examples whose models are there, and what each is called."""
    return tuple((request, named) for request, named in zip(OFFERED, texts.EXAMPLES, strict=True) if request in EXAMPLES)


def controls() -> tuple[Control, ...]:
    """What is asked for, then what may be changed in the model; only of models that are there."""
    there = {variant: texts.NAMES[variant] for variant in about.facts() or VARIANTS[:1]}
    sizes = {kind: about.size(variant) for kind, variant in zip(KINDS, ("plain", "words", "induction"), strict=True) if variant in there}
    kinds = {kind: texts.KIND[kind] for kind in sizes}
    deep: dict[int, list[str]] = {}  # models by how many layers they have
    for variant in there:
        deep.setdefault(about.size(variant)[0], []).append(variant)
    top = {n: filled(texts.LIKELIEST, n=n) if n else texts.ALL for n in TOP}
    write, learn = ({"mode": (mode,)} for mode in texts.MODES)
    count = {n: filled(texts.LIKELIEST, n=f"{n:,}") for n in OFFERED_LABELS}
    return (
        Control("mode", texts.MODE, "choice", names=texts.MODES),
        Control("text", texts.PROMPT, "passage", hint=texts.PLACEHOLDER, shares="length", when=write),
        Control("variant", texts.MODEL, "select", names=there, when=write),
        Control("length", texts.LENGTH, "number", unit=texts.SYMBOLS, step=1, when=write),
        Control("top_p", texts.TOP_P, "number", step=0.01, hint=texts.TOP_P_HINT, when=write),
        Control("top_k", texts.TOP_K, "select", names=top, hint=texts.TOP_K_HINT, when=write),
        Control("labels", LABELS, "select", names=count, when=learn),
        Control("way", texts.BEGINS, "select", names=BEGINNINGS, when=learn),
        Control("seed", texts.SEED, "seed", hint=passages.SEED_HINT),
        Control("typed", texts.TYPED, "question", placeholder=OFFERED[0].typed.strip(), when=write),
        Control("temperature", texts.TEMPERATURE, "number", step=0.1, change=True, says=_heated, when=write),
        *silenced(kinds, sizes, texts.HEAD, when=write),
        *(
            Control("skipped", texts.SKIPPED, "items", names=_layers(most), change=True, says=_skipped, when={"variant": variants, **write})
            for most, variants in deep.items()
        ),
        Control("positions", texts.POSITIONS, "switch", names=texts.ON_OFF, change=True, says=lambda _on: texts.NO_POSITIONS, when=write),
    )


def _layers(most: int) -> Mapping[str, Text]:
    return {str(n): filled(texts.LAYER, n=n) for n in range(1, most + 1)}


def _heated(temperature: float) -> Text:
    return filled(texts.HEATED, t=f"{temperature:g}")


def _skipped(layers: Sequence[str]) -> Text:
    return filled(texts.WITHOUT_LAYERS, n=len(layers), at=", ".join(layers))


def notice(request: Request, seen: Explanation | Learned) -> Text | None:
    """What to say of characters that the model does not know, and of a model that only learned to predict from its last position."""
    if isinstance(seen, Learned):
        return None
    strange = [at for at in np.flatnonzero(seen.unknown).tolist() if at < seen.given]
    told: list[Text] = []
    if strange:
        named = [f"“{attention.shown(seen.symbols[at])}” ({at})" for at in strange[: passages.LISTED]]
        more = "…" if len(strange) > passages.LISTED else ""
        told.append(filled(texts.STRANGE, n=len(strange), which=", ".join(named) + more))
    if request.variant == "last_only":
        told.append(texts.LAST_ALONE)
    return strung(told, " ", " ") if told else None


def lines(seen: Explanation | Learned, request: Request) -> tuple[Text, ...]:
    """What a text file of a run says."""
    if isinstance(seen, Learned):
        return (labels.said(seen, request),)
    how = f"{request.variant} · temperature {request.temperature:g} · top-p {request.top_p:g} · top-k {request.top_k} · seed {request.seed}"
    return tuple({"en": one, "zh": one} for one in ("".join(seen.symbols), how))


def beside() -> str:
    """The address where the first example stands beside another model of the same books, which reads the same text."""
    asked = f"{query(Request(EXAMPLES[0].text))}&length={EXAMPLES[0].length}&figure=reading"
    return "/compare?" + urlencode({"left": f"/language_model?{asked}", "right": f"/transformer_xl?{asked}"})


def progress(steps: Sequence[Any], request: Request) -> Text:
    """How far a text or a fine-tuning has come."""
    if request.live:
        return filled(texts.LEARNING, seen=f"{max((point.seen for point in steps), default=0):,}")
    return filled(passages.WRITES, n=sum(len(step.symbols) for step in steps if not step.given), of=request.length)


# ---- the tower and the text --------------------------------------------------------------------------------------------------------


def telling(seen: Explanation) -> tuple[int, int, int]:
    """What is locked on arrival: the position where the layers learn most on the way up, and a head that looks far back to say it."""
    rows = seen.lens.nats[0] - seen.lens.nats[-1]
    right = np.array([best == symbol and symbol.strip() != "" for best, symbol in zip(seen.lens.best[-1], seen.symbols, strict=True)])
    until = seen.given if seen.given > 8 else len(rows)
    worth = np.where(right, rows, rows - 100)[4:until]
    pos = 4 + int(worth.argmax()) if len(worth) else len(rows) - 1
    far = np.log2(np.arange(pos, 0, -1) + 1) if pos else np.zeros(0)
    looked = (seen.weights[:, :, pos, 1 : pos + 1].astype(np.float32) * far).max(-1, initial=0)
    layer, head = (int(n) for n in np.unravel_index(int(looked.argmax()), looked.shape))
    return layer, head, pos


def pick(seen: Explanation | Learned, _request: Request) -> Value:
    """The same as an address names it."""
    if isinstance(seen, Learned):
        return {}
    layer, head, pos = telling(seen)
    return {"model": seen.variant, "head": f"{layer + 1}.{head + 1}", "pos": pos, "row": pos}


def tower(seen: Explanation, request: Request, state: str) -> Value:
    """What each layer would say: by the logit lens, and by classifiers of its own where a model has them."""
    sets = [_set("lens", filled(texts.LENS, name=texts.BRIEF[seen.variant]), seen.lens)]
    if seen.exits is not None:
        sets.append(_set("exits", filled(texts.EXITS, name=texts.BRIEF[seen.exits.variant]), seen.exits))
    return {
        "state": state,
        "query": query(request),
        "symbols": list(seen.symbols),
        "given": seen.given,
        "pieces": request.task == KINDS[1],
        "sets": sets,
        "pick": pick(seen, request),
    }


def _set(key: str, name: Text, guesses: Guesses) -> Value:
    bits = (guesses.nats / np.float32(math.log(2))).astype(np.float32)
    return {"key": key, "name": dict(name), "best": [list(row) for row in guesses.best], "bits": pack(bits, unit=False)}


def tree(seen: Explanation, request: Request, state: str) -> Value:
    """What could have been written first, and what a continuation of the visitor's own would have cost."""
    drawn = seen.tree
    typed = {"text": "".join(seen.typed), "bits": float(seen.typed_nats.sum() / math.log(2))} if seen.typed else None
    return {
        "state": state,
        "query": query(request),
        "root": seen.symbols[seen.given - 1] if seen.given else texts.START,
        "symbols": list(drawn.symbols),
        "parent": pack(drawn.parent, unit=False),
        "chance": pack(drawn.chance),
        "kept": pack(drawn.kept.astype(np.uint8), unit=False),
        "sampled": list(drawn.sampled),
        "typed": typed,
    }


def _address(seen: Explanation) -> str:
    """The address of exact weights of a run."""

    def rows(layer: int, head: int, which: range) -> NDArray[np.float32]:
        return seen.weights[layer, head, which.start : which.stop].astype(np.float32)

    return keep(f"language model {seen.variant}", rows, seen.weights)


def text_of(seen: Explanation, request: Request, state: str) -> Value:
    """What the text draws: every character with its surprise, and where a head looked to say it."""
    layers, heads, length = seen.weights.shape[:3]
    weights = seen.weights.astype(np.float32)
    profiles = np.stack([np.diagonal(weights, -d, 2, 3).sum(-1) / length for d in range(length)], -1)
    name = texts.NAMES[seen.variant]
    about_ = texts.WRITES if length > seen.given else texts.READS
    model = reading.Model(
        seen.variant, name, about_, "".join(seen.symbols), seen.nats, _address(seen), layers, heads, profiles.astype(np.float32)
    )
    unknown = np.flatnonzero(seen.unknown).tolist()
    place = pick(seen, request)
    return reading.value([model], given=seen.given, unknown=unknown, pick=place, query=query(request), state=state)


def text_growing(steps: Sequence[Step], request: Request) -> Value:
    """What the text draws while it is read and written."""
    given, about_ = sum(len(step.symbols) for step in steps if step.given), {request.variant: texts.WRITES}
    return passages.growing({request.variant: steps}, texts.NAMES, about_, request, given, lambda step: "".join(step.symbols))


def pieces(seen: Explanation, request: Request, state: str) -> Value:
    """What a text of pieces draws: each with its surprise."""
    return _surprise(seen.symbols, seen.given, seen.nats, request, state) | {"pick": pick(seen, request)}


def pieces_growing(steps: Sequence[Step], request: Request) -> Value:
    """The part of it that is there."""
    symbols = [symbol for step in steps for symbol in step.symbols]
    given = sum(len(step.symbols) for step in steps if step.given)
    nats = np.concatenate([step.nats for step in steps]) if steps else np.zeros(0, np.float32)
    return _surprise(symbols, given, nats, request, "running")


def _surprise(symbols: Sequence[str], given: int, nats: NDArray[np.float32], request: Request, state: str) -> Value:
    bits = (nats / np.float32(math.log(2))).astype(np.float32)
    return {"state": state, "query": query(request), "symbols": list(symbols), "given": given, "bits": pack(bits, unit=False)}


def kind(seen: Explanation, request: Request) -> Kind:
    """The attention of all layers and heads."""
    symbols, keys = seen.symbols, (texts.START, *seen.symbols[:-1])
    blocks = Blocks(1, 1, symbols, keys, _address(seen)) if attention.long(len(symbols)) and len(symbols) <= attention.LONGEST else None
    return Kind(
        request.kind,
        texts.KIND[request.kind],
        seen.weights.astype(np.float32),
        symbols,
        keys,
        mask="causal",
        question=texts.QUESTION,
        roles=texts.ROLES,
        first_key=-1,
        blocks=blocks,
    )


def maps(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention view draws."""
    layer, head, pos = telling(seen)
    col = int(seen.weights[layer, head, pos].argmax())
    by = -(-len(seen.symbols) // attention.LONGEST)
    place = {"kind": request.kind, "layer": layer, "head": head, "row": pos // by, "col": col // by}
    return attention.value([kind(seen, request)], pick=place, silenced=request.silenced, query=query(request), state=state)


def bertviz(seen: Explanation) -> drawing.Attention:
    """The attention among the last symbols as bertviz shows it."""

    def look(layer: int, head: int, which: Sequence[int]) -> NDArray[np.float32]:
        return seen.weights[layer, head, which].astype(np.float32)

    return passages.last(seen.variant, texts.NAMES[seen.variant], seen.symbols, seen.weights.shape[:2], look)


# ---- what changes if ---------------------------------------------------------------------------------------------------------------


def again(request: Request, seen: Explanation) -> Again | None:
    """What was read and written, to be read under what a request changes; None where it changes nothing."""
    changed = replace(request, text="", length=0, typed="", seed=0)
    return None if request == request.plain() else Again(changed, seen.numbers)


def difference(seen: tuple[Explanation, Explanation], losses: tuple[Losses | None, Losses], request: Request, what: Text) -> Readings:
    """What the panel draws of a change. losses: of what was written before, read under it. what: the change in words."""
    before, after = seen
    given = before.given or len(before.symbols)
    cold = request.temperature == 0
    side = Side(
        before.variant,
        texts.NAMES[before.variant],
        before.nats,
        losses[1].nats,
        given,
        written=("".join(before.symbols[before.given :]), "".join(after.symbols[after.given :])),
        text="".join(before.symbols) if request.task == KINDS[0] else "",
        unreached=texts.GREEDY if cold else None,
    )
    told = change_sentence(texts.SAYS, texts.SAYS_SAME, *side.bits, change=what, most=side.most, unit=texts.PER[request.task])
    return Readings([side], raised(told))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail(seen: Explanation) -> Thumbnail:
    """The telling head over the first symbols of the stored run, for the family map."""
    layer, head, pos = telling(seen)
    here = slice(max(0, pos + 1 - SHOWN), pos + 1)
    weights = seen.weights[layer, head, here, here].astype(np.float32)
    keys = (texts.START, *seen.symbols[:-1])
    return Thumbnail(weights, seen.symbols[here], keys[here], (len(weights) - 1, int(weights[-1].argmax())))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell; none of a model that is not there."""
    kept = first()
    start, there = EXAMPLES[0], about.facts()
    layer, head, pos = telling(kept.seen) if kept else (0, 0, 8)
    here = {"pos": str(pos), "head": f"{layer + 1}.{head + 1}"}
    shown: dict[str, Shown] = {
        "predict": ("", here, "reading"),
        "positions": ("", here, "learning" if len(there.keys() & texts.LESSONS.keys()) > 1 else "attention"),
        "layers": ("", here, "tower"),
        "temperature": (query(replace(start, temperature=1.6)), here, "change"),
        "unicorn": (query(OFFERED[1]), {}, "reading"),
    }
    copying = next((one for one in EXAMPLES if one.variant == "induction"), None)
    if copying is not None:
        shown["copy"] = (query(replace(copying, silenced=((copying.kind, 1, 0),))), {"head": "2.1", "pos": "15"}, "change")
    if learned() is not None:
        shown["labels"] = (query(LEARN), {}, "labels")
    if labelled(about.SLUG) is not None:
        shown["curve"] = (query(LEARN), {}, "labelled")
    return guided(texts, shown)
