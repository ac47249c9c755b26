"""Attention weights: what a page sends to the browser, a telling example, and heads with a job. NumPy in, JSON out.

The picture is explorer/pictures/attention.js. What is looked at stands in the address: ``kind``, ``head`` ("3.5", from 1), ``stat``
("mean", "max" or "rollout" in place of a head), ``row`` and ``col`` (from 0; "9,10" for several, "none" for no lock), ``by`` ("to" or
"by"), ``thr`` and ``near``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.looks import Look, looks
from explorer.packing import pack

Array = NDArray[np.float32]

LONGEST = 256  # positions on a side; beyond, a map is pooled
CACHED = 1 << 16  # weights that are gone through at once
NAMED = 96  # positions whose names have room beside their rows, two screens of them


@dataclass(frozen=True)
class Blocks:
    """What the rows and columns of a pooled map stand for. Row i is the mean of queries i · by_query and on, column j the sum of keys.

    by_query, by_key: how many are together; the last may be fewer. queries, keys: every single one. look: the address of exact rows
    (`explorer.looks`), for a visitor who chooses a block.
    """

    by_query: int
    by_key: int
    queries: Sequence[str]
    keys: Sequence[str]
    look: str


def long(positions: int) -> bool:
    """Are there too many for cells with a name each? Then a map stands on one screen, with `Blocks`, be they of one cell."""
    return positions > NAMED


@dataclass(frozen=True)
class Kind:
    """One attention of a model: every layer's and head's map between the same queries and keys."""

    key: str  # "cross": its name in the address
    label: Mapping[str, str]  # what the visitor reads, en and zh
    weights: Array  # (layer, head, query, key), in [0, 1]; a row sums to 1, or to 0 where a query may attend to nothing
    queries: Sequence[str]  # what asks, one text per query
    keys: Sequence[str]  # what is looked at, one text per key
    query_space: Sequence[bool] | None = None  # False where a piece continues the word before it
    key_space: Sequence[bool] | None = None
    mask: str | None = None  # "causal": query i may attend to keys 0..i only
    through: str | None = None  # the kind whose rollout lies beneath this one's keys: "encoder" beneath "cross"
    question: Mapping[str, str] | None = None  # the question that this map answers, for the projector
    roles: tuple[Mapping[str, str], Mapping[str, str]] | None = None  # what rows and columns are: "German", "English"
    blocks: Blocks | None = None  # where the model itself pooled a long map: what its rows and columns stand for
    axis: Literal["layer", "step"] = "layer"  # what the first axis of the weights counts: one block used again and again has steps
    taken: Sequence[int] | None = None  # of each query, in how many layers or steps it asks; afterwards it has stopped
    first_key: int = 0  # the position of key 0: −1 where the keys begin with what stands before the text, and key j carries token j − 1
    spaced: bool = False  # queries and keys are whole sentences: the spaces between words are no tokens worth a sign

    def __post_init__(self) -> None:
        _check(self.weights, 4, self.queries, self.keys)
        if self.taken is not None and (len(self.taken) != len(self.queries) or min(self.taken) < 1):
            raise ValueError(f"taken {list(self.taken)} for {len(self.queries)} queries: each asks at least once")
        if self.blocks is not None:
            every = (-(-len(self.blocks.queries) // self.blocks.by_query), -(-len(self.blocks.keys) // self.blocks.by_key))
            if every != (len(self.queries), len(self.keys)):
                raise ValueError(f"blocks of {every} rows and columns for {len(self.queries)} queries and {len(self.keys)} keys")
        if self.mask not in {None, "causal"}:
            raise ValueError(f'mask "{self.mask}": known are None and "causal"')
        if self.mask == "causal" and len(self.queries) != len(self.keys):
            raise ValueError(f"a causal mask for {len(self.queries)} queries and {len(self.keys)} keys; it needs as many of each")

    @property
    def own(self) -> bool:
        """Do queries and keys stand for the same positions (self-attention)?"""
        return self.through is None and (self.mask == "causal" or self.first_key < 0 or list(self.queries) == list(self.keys))

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(query, key): True where a query may attend."""
        size = (len(self.queries), len(self.keys))
        return np.tril(np.ones(size, bool)) if self.mask == "causal" else np.ones(size, bool)


def blocked(
    key: str,
    label: Mapping[str, str],
    weights: Array,
    by: int,
    queries: Sequence[str],
    keys: Sequence[str],
    look: Callable[[], str],
    **how: Any,
) -> Kind:
    """A causal kind that the model itself has pooled, `by` queries and keys together. queries, keys: every single one; look(): the address
    of exact rows, kept where there are too many for cells with a name each. how: as of `Kind`."""
    blocks = Blocks(by, by, list(queries), list(keys), look()) if long(len(queries)) else None
    return Kind(key, label, weights, queries[::by], keys[::by], mask="causal", blocks=blocks, **how)


def cell(kind: str, pick: Mapping[str, Any], by: int, look: Callable[[int, int, Sequence[int]], Array]) -> dict[str, object]:
    """The cell that is locked on arrival, from what a page picks: {"head" ("2.3", from 1), "pos"}, at the key that it looks at most.

    by: queries and keys that stand together. look(layer, head, positions) -> (row, key): exact weights.
    """
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    position = int(pick["pos"])
    column = int(look(layer, head, [position])[0].argmax())
    return {"kind": kind, "layer": layer, "head": head, "row": position // by, "col": column // by}


def value(
    kinds: Sequence[Kind],
    *,
    pick: Mapping[str, object] | None = None,
    silenced: Sequence[tuple[str, int, int]] = (),
    found: Sequence[Mapping[str, object]] | None = None,
    query: str,
    state: str = "live",
    silences: bool = True,
    positions: bool = False,
) -> dict[str, object]:
    """What the attention picture draws, as JSON.

    pick: the cell locked on arrival {"kind", "layer", "head", "row", "col"}, from 0; left out, a telling one is found among all kinds.
    silenced: (kind, layer, head) from 0. found: heads with a job, as from `jobs`; left out, they are looked for.
    query: the permalink of the request; another one lets go of what was locked.
    state: "stored", "live", or "stale" for the picture of an earlier input.
    silences: does the page silence heads when it is asked to?
    positions: are rows the positions that other views of the page lock too ("pos" in the address)? Then they move together.
    Rows of queries that have stopped become 0. Sides longer than 256 positions are pooled: keys by their sum, queries by their mean; the
    exact rows are then asked for, as of a kind that came with `Blocks`.
    """
    if not kinds:
        raise ValueError("0 kinds of attention given; a widget draws at least one")
    made = [_pooled(_asking(kind)) for kind in kinds]
    layers, heads = kinds[0].weights.shape[:2]
    return {
        "kinds": [_packed(kind) for kind in made],
        "layers": int(layers),
        "heads": int(heads),
        "pick": dict(pick if pick is not None else _best(made)),
        "silenced": [[kind, int(layer), int(head)] for kind, layer, head in silenced],
        "jobs": [dict(job) for job in (found if found is not None else [job for kind in made for job in jobs(kind)])],
        "query": query,
        "state": state,
        "silences": silences,
        **({"positions": True} if positions else {}),
    }


def _asking(kind: Kind) -> Kind:
    """The same, with rows of 0 where a query has stopped."""
    if kind.taken is None:
        return kind
    asks = np.arange(kind.weights.shape[0])[:, None] < np.asarray(kind.taken)  # (layer, query)
    return replace(kind, weights=kind.weights * asks[:, None, :, None].astype(np.float32))


def _packed(kind: Kind) -> dict[str, object]:
    return {
        "key": kind.key,
        "label": dict(kind.label),
        # Blocks are looked at, and their exact rows asked for; of single cells a sentence says the sum of a row.
        "weights": pack(kind.weights, rows=kind.blocks is None or kind.blocks.by_query == kind.blocks.by_key == 1),
        "mask": kind.mask,
        "own": kind.own,
        "through": kind.through,
        "queries": list(kind.queries),
        "keys": list(kind.keys),
        "query_space": None if kind.query_space is None else [bool(space) for space in kind.query_space],
        "key_space": None if kind.key_space is None else [bool(space) for space in kind.key_space],
        "question": None if kind.question is None else dict(kind.question),
        "roles": None if kind.roles is None else [dict(role) for role in kind.roles],
        "pooled": [1, 1] if kind.blocks is None else [kind.blocks.by_query, kind.blocks.by_key],
        "first_key": kind.first_key,
        "whole": None if kind.blocks is None else {"queries": list(kind.blocks.queries), "keys": list(kind.blocks.keys)},
        "look": None if kind.blocks is None else kind.blocks.look,
        "axis": kind.axis,
        "taken": None if kind.taken is None else [int(count) for count in kind.taken],
        "spaced": kind.spaced,
    }


def _best(kinds: Sequence[Kind]) -> dict[str, Any]:
    found = [pick(kind) for kind in kinds]
    # Cross-attention says most at first sight: which word became which. Only without it the best of the others.
    crossing = [place for place, kind in zip(found, kinds, strict=True) if not kind.own]
    place = max(crossing or found, key=lambda each: each["score"])
    return {name: place[name] for name in ("kind", "layer", "head", "row", "col")}


def pick(kind: Kind) -> dict[str, Any]:
    """A telling cell: a confident look at a word far from where a straight line through the map would be.

    Returns {"kind", "layer", "head", "row", "col", "score"}, from 0. The score is the weight above what the other queries
    give to the same key (so a key that everybody rests on never wins), times 1/4 for a look straight along the diagonal
    growing to 1 for one that is a third of the keys away, times how far the head as a whole tells keys apart. Stop tokens, punctuation
    and masked cells are left out while anything else is there.
    """
    layers, heads, n_queries, n_keys = kind.weights.shape
    allowed = kind.allowed
    count = np.maximum(allowed.sum(0), 1).astype(np.float32)
    line = np.arange(n_queries)[:, None] * (n_keys / n_queries) if not kind.own else np.arange(n_queries)[:, None]
    far = np.minimum(1, np.abs(np.arange(n_keys)[None, :] - line) / max(1.0, n_keys / 3))
    reach = np.where(allowed, 0.25 + 0.75 * far, 0.0).astype(np.float32)
    words = np.outer([_is_word(text) for text in kind.queries], [_is_word(text) for text in kind.keys]) & allowed
    lowered = np.float32(-2.0) * ~allowed - (~words if words.any() else np.float32(0))
    told = np.float32(0.2) + _alignments(kind).astype(np.float32)
    best: dict[str, Any] = {"score": -np.inf}
    # So many heads at once that their maps stay in the processor's cache: all of a small model, one of a large one.
    together = max(1, CACHED // (n_queries * n_keys))
    every = kind.weights.reshape(layers * heads, n_queries, n_keys)
    for first in range(0, layers * heads, together):
        weights = every[first : first + together]
        usual = ((weights if allowed.all() else weights * allowed).sum(1) / count)[:, None]
        score = (weights - usual) * (reach * told.reshape(-1, 1, 1)[first : first + together]) + lowered
        at = int(score.argmax())
        if score.flat[at] > best["score"]:
            head, row, col = (int(place) for place in np.unravel_index(at, score.shape))
            layer, head = divmod(first + head, heads)
            best = {"kind": kind.key, "layer": layer, "head": head, "row": row, "col": col, "score": float(score.flat[at])}
    return best


JOBS: Mapping[str, Mapping[str, str]] = {
    "alignment": {"en": "cross-alignment", "zh": "词对齐"},
    "previous": {"en": "previous word", "zh": "前一个词"},
    "next": {"en": "next word", "zh": "后一个词"},
    "itself": {"en": "the word itself", "zh": "自身"},
    "written": {"en": "last word written", "zh": "刚写出的词"},
    "before": {"en": "the word before it", "zh": "再前一个词"},
    "first": {"en": "first token", "zh": "第一个词元"},
    "last": {"en": "last token", "zh": "最后一个词元"},
}


def jobs(kind: Kind, least: float = 0.4, most: int = 5) -> list[dict[str, object]]:
    """Heads that do one recognisable thing on this input, best first: {"kind", "layer", "head", "job", "name", "score"}.

    The score of a head is, between 0 and 1, the mean over queries of the weight that goes
    - previous, next, itself: to the key just before, just after, or at the query's own position (self-attention);
    - written, before: to the same two places in a causal map, whose key i is the token written *before* query i:
      offset 0 is the last word written, offset 1 the one before it;
    - first, last: to the first or the last key (in a causal map only the first), by queries that have another choice;
    - alignment (cross-attention): to its strongest key, times the share of different keys among those strongest keys,
      so a head that always rests on the full stop scores low.
    Only scores of at least `least` count, each head once with its best job, at most `most` of them, and of one job at most
    two, so that the list shows different things.
    """
    if min(kind.weights.shape[2:]) < 3:
        return []
    scores = _scores(kind)
    names, table = list(scores), np.stack(list(scores.values()))  # (job, layer, head)
    winners, greatest = table.argmax(0), table.max(0)
    found = [
        (float(greatest[layer, head]), names[winners[layer, head]], int(layer), int(head)) for layer, head in np.argwhere(greatest >= least)
    ]
    found.sort(key=lambda each: (-each[0], each[2], each[3]))
    kept: list[dict[str, object]] = []
    for score, job, layer, head in found:
        if sum(one["job"] == job for one in kept) < 2 and len(kept) < most:
            kept.append({"kind": kind.key, "layer": layer, "head": head, "job": job, "name": dict(JOBS[job]), "score": round(score, 4)})
    return kept


def working(
    kind: str, scores: Mapping[str, Array], names: Mapping[str, Mapping[str, str]], least: float, most: int = 2
) -> list[dict[str, Any]]:
    """Heads that do one recognisable thing, by scores of the lab's own, best first. scores: of each job (layer, head) from 0 to 1; names:
    of the jobs. least: of a score that counts; most: heads of a job."""
    found: list[dict[str, Any]] = []
    for job, table in scores.items():
        for place in np.argsort(-table, axis=None)[:most]:
            layer, head = (int(n) for n in np.unravel_index(int(place), table.shape))
            if (score := round(float(min(1, table[layer, head])), 4)) >= least:
                found.append({"kind": kind, "layer": layer, "head": head, "job": job, "name": dict(names[job]), "score": score})
    return sorted(found, key=lambda one: -one["score"])


def _scores(kind: Kind) -> dict[str, NDArray[np.floating[Any]]]:
    """By job, (layer, head)."""
    weights = kind.weights

    def along(offset: int) -> Array:
        return np.diagonal(weights, offset, 2, 3)

    if not kind.own:
        return {"alignment": _alignments(kind), "first": weights[..., 0].mean(2), "last": weights[..., -1].mean(2)}
    if kind.mask == "causal":
        # Query 0 has one key only, so it tells nothing; the first key is itself "written" or "before" for the queries next to it.
        return {"written": along(0)[..., 1:].mean(2), "before": along(-1).mean(2), "first": weights[:, :, 2:, 0].mean(2)}
    return {
        "previous": along(-1).mean(2),
        "next": along(1).mean(2),
        "itself": along(0).mean(2),
        "first": weights[:, :, 1:, 0].mean(2),
        "last": weights[:, :, :-1, -1].mean(2),
    }


def _alignments(kind: Kind) -> NDArray[np.float64]:
    """(layer, head): the mean of the queries' greatest weights, times the share of different keys among those that get them."""
    strongest = np.sort(kind.weights.argmax(3), 2)
    different = 1 + (np.diff(strongest) != 0).sum(2)
    found: NDArray[np.float64] = kind.weights.max(3).mean(2) * different / min(kind.weights.shape[2:])
    return found


def _check(weights: Array, axes: int, queries: Sequence[str], keys: Sequence[str]) -> None:
    if weights.ndim != axes or weights.shape[-2:] != (len(queries), len(keys)):
        raise ValueError(f"weights {weights.shape} for {len(queries)} queries and {len(keys)} keys")
    if weights.size == 0:
        raise ValueError(f"weights {weights.shape}: a map needs at least one query and one key")


def _is_word(text: str) -> bool:
    return any(unicodedata.category(letter)[0] in "LN" for letter in text) and not (text.startswith("<") and text.endswith(">"))


def shown(text: str) -> str:
    """A token as it is drawn: white space and control characters become visible signs, directions are kept apart.

    Text that overrides directions (U+202A-202E, U+2066-2069) would reorder the labels beside it: its code is written out.
    """
    signs = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽", "\u200b": "⟨U+200B⟩", "\ufeff": "⟨U+FEFF⟩", "\u007f": "␡"}
    if text == "":
        return "∅"
    made = []
    for letter in text:
        if letter in signs:
            made.append(signs[letter])
        elif ord(letter) < 32:
            made.append(chr(0x2400 + ord(letter)))
        elif 0x202A <= ord(letter) <= 0x202E or 0x2066 <= ord(letter) <= 0x2069 or unicodedata.category(letter) == "Cc":
            made.append(f"⟨U+{ord(letter):04X}⟩")
        else:
            made.append(letter)
    return "".join(made)


def _pooled(kind: Kind) -> Kind:
    """The same, where a side is too long for a screen in blocks, whose exact rows `looks` then keeps."""
    n_queries, n_keys = kind.weights.shape[2:]
    by_query, by_key = -(-n_queries // LONGEST), -(-n_keys // LONGEST)
    if by_query == by_key == 1:
        return kind
    if kind.own:  # a self-attention map stays square
        by_query = by_key = max(by_query, by_key)
    exact = kind.weights
    layers, heads = exact.shape[:2]
    look = Look(lambda layer, head, rows: exact[layer, head, rows.start : rows.stop], layers, heads, n_queries, exact.nbytes)
    starts = np.arange(0, n_queries, by_query)
    sizes = np.diff(np.append(starts, n_queries)).astype(np.float32)
    by_keys = np.add.reduceat(exact, np.arange(0, n_keys, by_key), axis=3)
    return replace(
        kind,
        weights=(np.add.reduceat(by_keys, starts, axis=2) / sizes[:, None]).astype(np.float32),
        queries=[kind.queries[i] for i in starts],
        keys=[kind.keys[i] for i in range(0, n_keys, by_key)],
        query_space=None,
        key_space=None,
        taken=None if kind.taken is None else [max(kind.taken[i : i + by_query]) for i in starts],
        blocks=Blocks(by_query, by_key, kind.queries, kind.keys, looks().put(look, exact.tobytes())),
    )
