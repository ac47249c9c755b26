"""From what the encoders explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from explorer import runs
from explorer.controls import Control, Value, query
from explorer.figures import attention, theme
from explorer.figures.curves import Curve
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled, two
from explorer.labs.about import sizes
from explorer.labs.bert import about, texts
from explorer.labs.guided import guided
from explorer.labs.heads import place, silenced, thumbnail_of
from explorer.labs.lined import lined
from explorer.packing import pack
from explorer.widgets import ask, change
from explorer.widgets.figure import shown
from models.bert.records import EXAMPLES, MAX_PIECES, OFFERED, PATTERNS, SIDES, Array, Explanation, Guess, Request, shipped
from models.fields import LAST_SEED

TINY = 1e-9  # a probability of nothing, whose logarithm is still a number

first = runs.kept("bert", EXAMPLES[0], Explanation)


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def controls() -> tuple[Control, ...]:
    """What is asked for, then what may be changed; only of networks that are there."""
    names = {variant: texts.NAMES[variant] for variant in shipped() or texts.NAMES}
    ours, theirs = {"variant": ("mlm",)}, {"variant": ("minilm",)}
    return (
        Control("variant", texts.VARIANT, "choice", names={name: texts.OFFERS[name] for name in names}),
        Control("text", texts.SENTENCE, "sentence", hint=filled(texts.LIMIT, n=MAX_PIECES - 2), placeholder=EXAMPLES[0].text),
        Control("other", texts.OTHER, "question", placeholder=OFFERED[-2].other, when=theirs),
        Control("way", texts.WAY, "select", names=texts.WAYS, when=ours),
        Control("seed", texts.SEED, "seed", hint=texts.SEED_HINT, when={**ours, "way": ("draw",)}),
        Control("hidden", texts.HIDDEN, "items"),
        Control("side", texts.SIDES, "choice", names=texts.SIDE, change=True, says=texts.SIDE_SAYS.__getitem__, when=ours),
        Control("positions", texts.POSITIONS, "switch", names=texts.ON_OFF, change=True, says=lambda _on: texts.NO_POSITIONS),
        *silenced(names, sizes(about.facts()), texts.HEAD),
    )


def answer(seen: Explanation, request: Request) -> Value:
    """The best guesses, as they stand beside the sentence; of MiniLM how alike two sentences are."""
    given = _joined(seen.read)
    if seen.variant == "minilm":
        alike = texts.NO_HEAD if seen.similarity is None else filled(texts.COSINE, value=two(seen.similarity))
        return ask.answer(given, alike, right=None, expected="")
    facts = ((filled(texts.LIKELIHOOD, value=two(-float(seen.nats.sum()))), texts.LIKELIHOOD_IS),)
    if not seen.guesses:
        return ask.answer(given, texts.NOTHING, right=None, expected="", facts=facts)
    at = SIDES.index(request.side)
    said, truth = (", ".join(words) for words in ([one.best[at][0] for one in seen.guesses], [one.truth for one in seen.guesses]))
    return ask.answer(given, said, right=said == truth, expected=truth, facts=facts)


def _joined(pieces: Sequence[str]) -> str:
    """Pieces as a text, without [CLS] and [SEP]."""
    return " ".join(pieces[1:-1]).replace(" ##", "")


def warning(_request: Request, seen: Explanation) -> Text | None:
    """What to say where a sentence lies outside what the networks were trained on."""
    unknown = int(seen.unknown.sum())
    return filled(texts.RARE, unknown=unknown) if unknown else None


def notice(request: Request, seen: Explanation) -> Text | None:
    """That the networks read no capitals, where there are some inside of a sentence."""
    inside = any(letter.isupper() for letter in request.text[1:] + request.other[1:])
    return texts.FOLDED if seen.folded and inside else None


def lines(seen: Explanation, request: Request) -> tuple[Text, ...]:
    """What a text file of a run says: the sentence as it is read, and the best guess for each hidden piece."""
    at = SIDES.index(request.side)
    best = ", ".join(f"{one.truth}: {one.best[at][0]} {one.p[at, 0]:.2f}" for one in seen.guesses)
    return tuple({"en": one, "zh": one} for one in (_joined(seen.read), best) if one)


# ---- what the hidden word looks at -------------------------------------------------------------------------------------------------


def arrows(seen: Explanation, request: Request, state: str) -> Value:
    """Where each hidden piece looks, and what is guessed for it from both sides and from one."""
    hidden = [one.position for one in seen.guesses]
    side = "right" if request.side == "right" else "left"
    asked = {"query": query(request), "source": request.text, "way": request.way, "seed": request.seed, "last": LAST_SEED, "side": side}
    pieces = {"pieces": list(seen.pieces), "read": list(seen.read), "words": seen.word.tolist(), "fates": seen.drawn.tolist()}
    weights = pack(np.moveaxis(seen.weights[:, :, hidden], 2, 0))
    run = {**asked, **pieces, "allowed": seen.allowed.tolist(), "weights": weights, "guesses": [_guess(one, side) for one in seen.guesses]}
    return {"state": state, **run, "pick": {"pos": hidden[0] if hidden else None, "layer": str(len(seen.weights))}}


def _guess(one: Guess, side: str) -> Value:
    """What is guessed for one hidden piece."""
    sides = [0, SIDES.index(side)]
    both, alone = ({"pieces": list(one.best[at]), "p": np.round(one.p[at].astype(float), 5).tolist()} for at in sides)
    true = np.round(one.truth_p[sides].astype(float), 5).tolist()
    return {"pos": one.position, "truth": one.truth, "both": both, "side": alone, "true": true}


# ---- heads -------------------------------------------------------------------------------------------------------------------------


def finder(seen: Explanation, request: Request, state: str) -> Value:
    """All heads of the pretrained encoder, and what was found in them."""
    rows = [{**vars(one), "name": dict(one.name), "here": live(seen, one), "points": one.points} for one in about.found()]
    read = {"pieces": list(seen.pieces), "weights": pack(seen.weights)}
    return {"state": state, "query": query(request), **read, "rows": rows, "pick": {"head": telling()}}


def telling() -> str:
    """The head that is looked at on arrival: the relation that it knows most about, beyond a fixed distance."""
    return max(about.found(), key=lambda one: one.points or 0, default=about.Found("", texts.SINK, "1.1", 0)).head


def live(seen: Explanation, one: about.Found) -> float | None:
    """The mean weight that a head gives to the place of its pattern, over the pieces of the sentence in view; None for a relation."""
    layer, head = (int(n) - 1 for n in one.head.split("."))
    return round(float(seen.patterns[layer, head, PATTERNS.index(one.key)]), 4) if one.key in PATTERNS else None


def kinds(seen: Explanation) -> list[attention.Kind]:
    """The attention of the network that is asked for, plain and times the norm of the values."""
    name, plain = seen.variant, seen.weights.astype(np.float32)
    own = attention.Kind(name, texts.NAMES[name], plain, seen.read, seen.read, question=texts.QUESTION, roles=texts.ROLES)
    label = filled(texts.NORM, name=texts.NAMES[name])
    return [own, replace(own, key=f"{name}.norm", label=label, weights=times_norm(plain, seen.norms))]


def times_norm(weights: Array, norms: Array) -> Array:
    """(layer, head, query, key): α‖v W_o‖ (Kobayashi et al., 2020), each row made to sum to 1. norms: (layer, head, key)."""
    taken = weights * norms[:, :, None, :].astype(np.float32)
    return np.asarray(taken / taken.sum(-1, keepdims=True), np.float32)


def maps(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention widget draws. state: "stored" or "live"."""
    found, jobs = kinds(seen), attention.jobs(kinds(seen)[0])
    return attention.value(found, pick=_cell(seen), found=jobs, silenced=request.silenced, query=query(request), state=state)


def _cell(seen: Explanation) -> dict[str, Any]:
    """The cell that is locked on arrival: of MiniLM in the head that knows most grammar, else where a hidden piece looks most."""
    kind = kinds(seen)[0]
    if seen.variant == "minilm":
        layer, head = (int(one) - 1 for one in telling().split("."))
        inside = attention.pick(replace(kind, weights=kind.weights[layer : layer + 1, head : head + 1]))
        return {**inside, "layer": layer, "head": head}
    if not seen.guesses:
        return attention.pick(kind)
    row = seen.guesses[0].position
    looks = kind.weights[:, :, row].copy()
    looks[:, :, [0, row, -1]] = 0
    places = map(int, np.unravel_index(int(looks.argmax()), looks.shape))
    return {"kind": kind.key, "row": row, **dict(zip(("layer", "head", "col"), places, strict=True))}


def pick(seen: Explanation, _request: Request) -> Value:
    """What is looked at on arrival, as an address names it."""
    return place(_cell(seen)) | ({"pos": seen.guesses[0].position} if seen.guesses else {})


def sink(seen: Explanation, _request: Request, _state: str) -> Value:
    """How much weight rests on [CLS] in each layer, plain and times the norm of its value."""
    plain = seen.weights.astype(np.float32)
    each = plain[..., 1:, 0].mean(2)  # (layer, head), [CLS] itself left out
    shares = (each.mean(1), times_norm(plain, seen.norms)[..., 1:, 0].mean((1, 2)))
    layer, head = (int(n) for n in np.unravel_index(int(each.argmax()), each.shape))
    at = list(range(1, len(each) + 1))
    looks = ((texts.SINK_WEIGHT, "var(--control)"), (texts.SINK_NORM, "var(--accent)"))
    both = [Curve(name, at, values.tolist(), colour) for (name, colour), values in zip(looks, shares, strict=True)]
    mean, norm = (f"{one.mean():.2f}" for one in shares)
    told = {"mean": mean, "norm": norm, "head": f"{layer + 1}·{head + 1}", "most": f"{each[layer, head]:.2f}"}
    says = texts.SINK_SAYS if shares[1].mean() < 0.8 * shares[0].mean() else texts.SINK_SAYS_ALSO
    words = (texts.SINK, texts.SINK_UNITS, filled(says, **told))
    return lined("sink", both, texts.SINK_AXES, words, texts.SINK_COLUMNS[:1], ticks=at, up="zero", height=210)


def similarity(seen: Explanation, _request: Request, _state: str) -> Value:
    """The cosine of two sentences, and what each piece of both adds to it."""
    bare = {**theme.titled(("", "")), "margin": {"l": 90, "r": 12, "t": 24, "b": 24}, "bargap": 0.2}
    if seen.similarity is None:
        bare |= {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
        words = (texts.SIMILAR, texts.SIMILAR_UNITS, texts.SIMILAR_NONE)
        return shown("similarity", lambda _: {"data": [], "layout": bare}, words, texts.SIMILAR_COLUMNS, [], height=16)
    sides = [(seen.pieces, seen.shares.sum(1).astype(float)), (seen.other, seen.shares.sum(0).astype(float))]
    most = max(float(np.abs(adds).max()) for _, adds in sides)

    def draw_(language: str) -> Value:
        frame, data = dict(bare), []
        for n, ((pieces, adds), title) in enumerate(zip(sides, texts.SIMILAR_AXES[language], strict=True)):
            end, names = "2" if n else "", [f"{piece}·{at}" for at, piece in enumerate(pieces)]
            across = {"domain": [0.58 * n, 0.58 * n + 0.42], "range": [min(0.0, adds.min()) * 1.2, 1.3 * most]}
            top = {"nticks": 4, "anchor": f"y{end}", "side": "top", "fixedrange": True}
            frame |= {f"xaxis{end}": {**theme.titled((title, ""))["xaxis"], **across, **top}}
            frame |= {f"yaxis{end}": {**theme.rows(names), "anchor": f"x{end}"}}
            bars = {"type": "bar", "x": adds.tolist(), "orientation": "h", "xaxis": f"x{end}", "yaxis": f"y{end}"}
            said = {"text": list(map(two, adds)), "textposition": "outside", "cliponaxis": False}
            look = {"marker": {"color": ("var(--query)", "var(--key)")[n]}, "textfont": {"size": 11, "color": "var(--ink2)"}}
            data.append({**bars, **said, **look, "customdata": names, "hovertemplate": "%{customdata}: %{x:.3f}<extra></extra>"})
        return {"data": data, "layout": frame}

    one, other = (f"“{pieces[adds.argmax()]}” ({adds.argmax()})" for pieces, adds in sides)
    words = (texts.SIMILAR, texts.SIMILAR_UNITS, filled(texts.SIMILAR_SAYS, cosine=two(seen.similarity), one=one, other=other))
    table = [
        (name, at, piece, round(float(adds[at]), 4))
        for name, (pieces, adds) in zip((texts.FIRST, texts.SECOND), sides, strict=True)
        for at, piece in enumerate(pieces)
    ]
    return shown("similarity", draw_, words, texts.SIMILAR_COLUMNS, table, height=60 + 22 * max(len(seen.pieces), len(seen.other)))


# ---- what changes if ---------------------------------------------------------------------------------------------------------------


def difference(seen: tuple[Explanation, Explanation], _measured: tuple[None, None], request: Request, what: Text) -> change.Difference:
    """What the panel draws of a change. seen: the runs without and with it."""
    before, after = seen
    if request.variant == "minilm":
        return _turned(before, after, what)
    if not before.guesses:
        number = change.Number(-float(before.nats[1:-1].mean()), -float(after.nats[1:-1].mean()))
        return change.moved(number, texts.ALONE, [], texts.READS, texts.READS_SAME, what=what)
    side, rows = SIDES.index(request.side), list[change.Row]()
    pairs = list(zip(before.guesses, after.guesses, strict=True))
    p = [(float(one.truth_p[0]), float(again.truth_p[side])) for one, again in pairs]
    best = [(one.best[0][0], again.best[side][0]) for one, again in pairs]
    for one, shares, words in zip(before.guesses, p, best, strict=True):
        head = filled(texts.AT, at=one.position)
        rows.append(change.Row(head, filled(texts.TRUTH, piece=one.truth), f"p_{one.position}", *shares))
        verdict, kind = (texts.SAME, "same") if words[0] == words[1] else (texts.OTHER_ONE, "other")
        rows.append(change.Row(head, texts.GUESS, f"guess_{one.position}", *words, verdict=verdict, kind=kind))
    number = change.Number(*np.log(np.maximum(p, TINY)).mean(0).tolist())
    guess = ", ".join(f"“⟦o:{word}⟧”" for _, word in best)
    return change.moved(number, texts.NUMBER, rows, texts.MOVES, texts.STAYS, what=what, guess=guess)


def _turned(before: Explanation, after: Explanation, what: Text) -> change.Difference:
    """How alike two sentences still are; of one sentence, how far its vector turns."""
    turned = [float(one @ other) for one, other in zip(before.vectors, after.vectors, strict=True)]
    rows = [
        change.Row(texts.VECTOR, name, f"vector_{n}", 1.0, cosine)
        for n, (name, cosine) in enumerate(zip((texts.FIRST, texts.SECOND), turned, strict=False), 1)
    ]
    if before.similarity is not None and after.similarity is not None:
        number = change.Number(before.similarity, after.similarity)
        return change.moved(number, texts.ALIKE, rows, texts.ALIKE_MOVES, texts.ALIKE_STAYS, what=what)
    return change.moved(change.Number(1.0, turned[0]), texts.VECTOR, [], texts.TURNS, texts.TURNS_NOT, what=what)


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail(seen: Explanation) -> Thumbnail:
    """The telling head on the stored first sentence, for the family map."""
    return thumbnail_of(kinds(seen)[0], _cell(seen))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell; none of a network that is not there."""
    heads = {one.key: one.head for one in about.found()}
    shown_: dict[str, tuple[str, Mapping[str, str], str]] = {
        "left": (query(replace(OFFERED[0], side="left")), {}, "arrows"),
        "both": ("", {}, "arrows"),
        "draw": (query(OFFERED[2]), {}, "arrows"),
        "patterns": (query(OFFERED[3]), {"head": heads.get("previous", "1.1"), "job": "pattern"}, "finder"),
        "sink": (query(OFFERED[3]), {"head": heads.get("first", "1.1")}, "sink"),
        "grammar": (query(OFFERED[3]), {"head": telling(), "job": "relation"}, "finder"),
        "vectors": (query(OFFERED[4]), {}, "similarity"),
        "labels": ("", {}, "labelled"),
    }
    there = {"arrows": "mlm" in shipped(), "labelled": about.judging() is not None}
    return guided(texts, {key: one for key, one in shown_.items() if there.get(one[2], "minilm" in shipped())})
