"""Attention weights: the value for the browser, a telling example, and heads with a job. NumPy in,
JSON out.

The picture is explorer/frontend/pictures/attention.js. The selection stands in the address:
``kind``, ``head`` ("3.5", from 1), ``stat`` ("mean", "max" or "rollout" in place of a head),
``row`` and ``col`` (from 0; "9,10" for several, "none" for no lock), ``by`` ("to" or "by"), ``thr``
and ``near``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.figures.head_jobs import find_jobs, score_alignments
from explorer.values.exact_rows import RowSource, exact_row_store
from explorer.values.packing import pack_array

Array = NDArray[np.float32]

LONGEST = 256  # positions on a side; beyond, a map is pooled
CACHED = 1 << 16  # weights that are processed at once
NAMED = 96  # positions whose names have room beside their rows, on two screens


@dataclass(frozen=True)
class Blocks:
    """The meaning of the rows and columns of a pooled map. Row i is the mean of queries i ·
    by_query and on, column j the sum of keys.

    by_query, by_key: the number of positions in a block. The last block may have fewer.
    queries, keys: every single position.
    look: the address of exact rows (`explorer.values.exact_rows`), for a visitor who selects a
        block.
    """

    by_query: int
    by_key: int
    queries: Sequence[str]
    keys: Sequence[str]
    look: str


def is_long(positions: int) -> bool:
    """Return whether there are too many positions for cells with a name each. A map then stands on
    one screen, with `Blocks`, even if each is of one cell."""
    return positions > NAMED


@dataclass(frozen=True)
class Kind:
    """One attention of a model: every layer's and head's map between the same queries and keys."""

    key: str  # "cross": its name in the address
    label: Mapping[str, str]  # the label for the visitor, en and zh
    # (layer, head, query, key), in [0, 1]; a row sums to 1, or to 0 where a query may attend to
    # nothing
    weights: Array
    queries: Sequence[str]  # one text per query
    keys: Sequence[str]  # one text per key
    query_space: Sequence[bool] | None = None  # False where a piece continues the word before it
    key_space: Sequence[bool] | None = None
    mask: str | None = None  # "causal": query i may attend to keys 0..i only
    # the kind whose rollout lies beneath this one's keys: "encoder" beneath "cross"
    through: str | None = None
    # the question that this map answers, for the projector
    question: Mapping[str, str] | None = None
    # the meaning of rows and columns: "German", "English"
    roles: tuple[Mapping[str, str], Mapping[str, str]] | None = None
    # where the model itself pooled a long map: the meaning of its rows and columns
    blocks: Blocks | None = None
    # the meaning of the weights' first axis: one block used again and again has steps
    axis: Literal["layer", "step"] = "layer"
    # of each query, the number of layers or steps in which it attends; afterwards it has stopped
    taken: Sequence[int] | None = None
    # the position of key 0: −1 where the keys begin with a sign before the text, and key j carries
    # token j − 1
    first_key: int = 0
    # whether queries and keys are whole sentences: spaces between words are then not marked
    spaced: bool = False

    def __post_init__(self) -> None:
        _check_shape(self.weights, 4, self.queries, self.keys)
        if self.taken is not None and (len(self.taken) != len(self.queries) or min(self.taken) < 1):
            raise ValueError(
                f"taken {list(self.taken)} for {len(self.queries)} queries: each asks at least once"
            )
        if self.blocks is not None:
            every = (
                -(-len(self.blocks.queries) // self.blocks.by_query),
                -(-len(self.blocks.keys) // self.blocks.by_key),
            )
            if every != (len(self.queries), len(self.keys)):
                raise ValueError(
                    f"blocks of {every} rows and columns for {len(self.queries)} queries and"
                    f" {len(self.keys)} keys"
                )
        if self.mask not in {None, "causal"}:
            raise ValueError(f'mask "{self.mask}": known are None and "causal"')
        if self.mask == "causal" and len(self.queries) != len(self.keys):
            raise ValueError(
                f"a causal mask for {len(self.queries)} queries and {len(self.keys)} keys; it needs"
                " as many of each"
            )

    @property
    def is_self_attention(self) -> bool:
        """Whether queries and keys stand for the same positions (self-attention)."""
        return self.through is None and (
            self.mask == "causal" or self.first_key < 0 or list(self.queries) == list(self.keys)
        )

    @property
    def causal_mask(self) -> NDArray[np.bool_]:
        """The mask, (query, key): True where a query may attend."""
        size = (len(self.queries), len(self.keys))
        return np.tril(np.ones(size, bool)) if self.mask == "causal" else np.ones(size, bool)


def make_pooled_kind(
    key: str,
    label: Mapping[str, str],
    weights: Array,
    by: int,
    queries: Sequence[str],
    keys: Sequence[str],
    look: Callable[[], str],
    **how: Any,
) -> Kind:
    """Return a causal kind that the model itself has pooled, `by` queries and keys together.

    queries, keys: every single position.
    look(): the address of exact rows, kept where there are too many for cells with a name each.
    how: as in `Kind`.
    """
    blocks = Blocks(by, by, list(queries), list(keys), look()) if is_long(len(queries)) else None
    return Kind(key, label, weights, queries[::by], keys[::by], mask="causal", blocks=blocks, **how)


def find_locked_cell(
    kind: str, pick: Mapping[str, Any], by: int, look: Callable[[int, int, Sequence[int]], Array]
) -> dict[str, object]:
    """Return the cell that is locked on arrival, from a page's pick: {"head" ("2.3", from 1),
    "pos"}, at the key with the greatest weight.

    by: the number of queries and keys in a block.
    look(layer, head, positions) -> (row, key): exact weights.
    """
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    position = int(pick["pos"])
    column = int(look(layer, head, [position])[0].argmax())
    return {"kind": kind, "layer": layer, "head": head, "row": position // by, "col": column // by}


def draw_attention(
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
    """Return the value that the attention picture draws, as JSON.

    pick: the cell locked on arrival {"kind", "layer", "head", "row", "col"}, from 0. By default a
        telling one is found among all kinds.
    silenced: (kind, layer, head) from 0.
    found: heads with a job, as from `find_jobs`. By default they are searched for.
    query: the permalink of the request. Another permalink ends the lock.
    state: "stored", "live", or "stale" for the picture of an earlier input.
    silences: whether the page silences heads on request.
    positions: whether rows are the positions that other views of the page lock too ("pos" in the
        address). They then move together.
    Rows of queries that have stopped become 0. Sides longer than 256 positions are pooled: keys by
    their sum, queries by their mean. The exact rows are then requested, as for a kind that came
    with `Blocks`.
    """
    if not kinds:
        raise ValueError("0 kinds of attention given; a widget draws at least one")
    made = [_pool_kind(_clear_stopped_rows(kind)) for kind in kinds]
    layers, heads = kinds[0].weights.shape[:2]
    return {
        "kinds": [_pack_kind(kind) for kind in made],
        "layers": int(layers),
        "heads": int(heads),
        "pick": dict(pick if pick is not None else _find_best_kind(made)),
        "silenced": [[kind, int(layer), int(head)] for kind, layer, head in silenced],
        "jobs": [
            dict(job)
            for job in (
                found if found is not None else [job for kind in made for job in find_jobs(kind)]
            )
        ],
        "query": query,
        "state": state,
        "silences": silences,
        **({"positions": True} if positions else {}),
    }


def _clear_stopped_rows(kind: Kind) -> Kind:
    """Return the same kind, with rows of 0 where a query has stopped."""
    if kind.taken is None:
        return kind
    asks = np.arange(kind.weights.shape[0])[:, None] < np.asarray(kind.taken)  # (layer, query)
    return replace(kind, weights=kind.weights * asks[:, None, :, None].astype(np.float32))


def _pack_kind(kind: Kind) -> dict[str, object]:
    return {
        "key": kind.key,
        "label": dict(kind.label),
        # Blocks are selected, and their exact rows requested. For single cells a sentence gives the
        # sum of a row.
        "weights": pack_array(
            kind.weights,
            rows=kind.blocks is None or kind.blocks.by_query == kind.blocks.by_key == 1,
        ),
        "mask": kind.mask,
        "own": kind.is_self_attention,
        "through": kind.through,
        "queries": list(kind.queries),
        "keys": list(kind.keys),
        "query_space": (
            None if kind.query_space is None else [bool(space) for space in kind.query_space]
        ),
        "key_space": None if kind.key_space is None else [bool(space) for space in kind.key_space],
        "question": None if kind.question is None else dict(kind.question),
        "roles": None if kind.roles is None else [dict(role) for role in kind.roles],
        "pooled": [1, 1] if kind.blocks is None else [kind.blocks.by_query, kind.blocks.by_key],
        "first_key": kind.first_key,
        "whole": (
            None
            if kind.blocks is None
            else {"queries": list(kind.blocks.queries), "keys": list(kind.blocks.keys)}
        ),
        "look": None if kind.blocks is None else kind.blocks.look,
        "axis": kind.axis,
        "taken": None if kind.taken is None else [int(count) for count in kind.taken],
        "spaced": kind.spaced,
    }


def _find_best_kind(kinds: Sequence[Kind]) -> dict[str, Any]:
    found = [find_telling_cell(kind) for kind in kinds]
    # Cross-attention says most at first sight: which word became which. Only without it the best of
    # the others is taken.
    crossing = [
        place for place, kind in zip(found, kinds, strict=True) if not kind.is_self_attention
    ]
    place = max(crossing or found, key=lambda each: each["score"])
    return {name: place[name] for name in ("kind", "layer", "head", "row", "col")}


def find_telling_cell(kind: Kind) -> dict[str, Any]:
    """Return a telling cell: a large weight on a word far from a straight line through the map.

    The result is {"kind", "layer", "head", "row", "col", "score"}, from 0. The score is the weight
    above the mean weight of the other queries on the same key (so a key that every query attends to
    never wins), times a factor that grows from 1/4 on the diagonal to 1 at a third of the keys
    away, times how far the head as a whole tells keys apart. Stop tokens, punctuation and masked
    cells are left out while any other cell exists.
    """
    layers, heads, n_queries, n_keys = kind.weights.shape
    allowed = kind.causal_mask
    count = np.maximum(allowed.sum(0), 1).astype(np.float32)
    line = (
        np.arange(n_queries)[:, None] * (n_keys / n_queries)
        if not kind.is_self_attention
        else np.arange(n_queries)[:, None]
    )
    far = np.minimum(1, np.abs(np.arange(n_keys)[None, :] - line) / max(1.0, n_keys / 3))
    reach = np.where(allowed, 0.25 + 0.75 * far, 0.0).astype(np.float32)
    words = (
        np.outer([_is_word(text) for text in kind.queries], [_is_word(text) for text in kind.keys])
        & allowed
    )
    lowered = np.float32(-2.0) * ~allowed - (~words if words.any() else np.float32(0))
    told = np.float32(0.2) + score_alignments(kind).astype(np.float32)
    best: dict[str, Any] = {"score": -np.inf}
    # So many heads at once that their maps stay in the processor's cache: all of a small model, one
    # of a large one.
    together = max(1, CACHED // (n_queries * n_keys))
    every = kind.weights.reshape(layers * heads, n_queries, n_keys)
    for first in range(0, layers * heads, together):
        weights = every[first : first + together]
        usual = ((weights if allowed.all() else weights * allowed).sum(1) / count)[:, None]
        score = (weights - usual) * (
            reach * told.reshape(-1, 1, 1)[first : first + together]
        ) + lowered
        at = int(score.argmax())
        if score.flat[at] > best["score"]:
            head, row, col = (int(place) for place in np.unravel_index(at, score.shape))
            layer, head = divmod(first + head, heads)
            best = {
                "kind": kind.key,
                "layer": layer,
                "head": head,
                "row": row,
                "col": col,
                "score": float(score.flat[at]),
            }
    return best


def _check_shape(weights: Array, axes: int, queries: Sequence[str], keys: Sequence[str]) -> None:
    if weights.ndim != axes or weights.shape[-2:] != (len(queries), len(keys)):
        raise ValueError(f"weights {weights.shape} for {len(queries)} queries and {len(keys)} keys")
    if weights.size == 0:
        raise ValueError(f"weights {weights.shape}: a map needs at least one query and one key")


def _is_word(text: str) -> bool:
    return any(unicodedata.category(letter)[0] in "LN" for letter in text) and not (
        text.startswith("<") and text.endswith(">")
    )


def show_token(text: str) -> str:
    """Return a token as it is drawn: white space and control characters become visible signs, and
    directions are kept apart.

    Direction marks would reorder the labels beside it, so their codes are written out.
    """
    signs = {
        " ": "␣",
        "\n": "⏎",
        "\r": "␍",
        "\t": "⇥",
        "\u00a0": "⍽",
        "\u200b": "⟨U+200B⟩",
        "\ufeff": "⟨U+FEFF⟩",
        "\u007f": "␡",
    }
    if text == "":
        return "∅"
    made = []
    for letter in text:
        if letter in signs:
            made.append(signs[letter])
        elif ord(letter) < 32:
            made.append(chr(0x2400 + ord(letter)))
        elif (
            unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp"}
            and letter not in "\u200c\u200d"
        ):
            made.append(f"⟨U+{ord(letter):04X}⟩")
        else:
            made.append(letter)
    return "".join(made)


def _pool_kind(kind: Kind) -> Kind:
    """Return the same kind, pooled into blocks where a side is too long for a screen. The
    `exact_rows` store then keeps the exact rows."""
    n_queries, n_keys = kind.weights.shape[2:]
    by_query, by_key = -(-n_queries // LONGEST), -(-n_keys // LONGEST)
    if by_query == by_key == 1:
        return kind
    if kind.is_self_attention:  # a self-attention map stays square
        by_query = by_key = max(by_query, by_key)
    exact = kind.weights
    layers, heads = exact.shape[:2]
    look = RowSource(
        lambda layer, head, rows: exact[layer, head, rows.start : rows.stop],
        layers,
        heads,
        n_queries,
        exact.nbytes,
    )
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
        blocks=Blocks(
            by_query, by_key, kind.queries, kind.keys, exact_row_store().put(look, exact.tobytes())
        ),
    )
