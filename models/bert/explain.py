"""Explanations of the encoders: they answer a page's requests with arrays and strings and return no
tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.bert.hiding import Row, hide
from models.bert.model import Encoder
from models.bert.pieces import Encoded, Pieces
from models.bert.pretrained import load, pieces_of
from models.bert.records import (
    BEST,
    DRAWN,
    MAX_PIECES,
    SIDES,
    VARIANTS,
    WAYS,
    Explanation,
    Guess,
    Request,
)
from models.bert.relations import classes_of, patterns
from models.checkpoints.device import answer_without_gradients
from models.data.captions import CAPTIONS
from models.data.windows import NONE
from models.explaining import request_fields
from models.explaining.arrays import freeze
from models.explaining.errors import InputError, check_heads
from models.explaining.head_mask import build_head_gains
from models.explaining.query_key_plane import Vectors, collect_vectors, make_plane_function
from models.explaining.trace import OFF, Trace

UNREADABLE = 0.5  # a text is refused from this share of unknown pieces on


class _Given(NamedTuple):
    """A request that the model can run.

    given: the pieces that the model reads, (piece,). drawn: numbers in DRAWN, (piece,). other: the
    second text.
    """

    request: Request
    model: Encoder
    pieces: Pieces
    text: Encoded
    given: Row
    drawn: Row
    other: Encoded | None


def _encode_text(text: str, pieces: Pieces) -> Encoded:
    """Encode a text.

    Raise InputError if it is empty, too long or written in an unknown script.
    """
    found = pieces.encode(request_fields.read_passage(text))
    count = len(found.ids)
    if count == 2:
        raise InputError(
            "blank",
            en="This text has no word: type at least one.",
            zh="文本中没有词：请至少输入一个。",
        )
    if count > MAX_PIECES:
        raise InputError(
            "too_many_pieces",
            en=f"Your text has {count - 2} pieces; at most {MAX_PIECES - 2} can be read.",
            zh=f"您的文本有 {count - 2} 个词片；最多可读取 {MAX_PIECES - 2} 个。",
        )
    if np.mean(found.ids[1:-1] == pieces.unknown) > UNREADABLE:
        raise InputError(
            "unknown",
            en="Most of this text is in letters that the model has never read: it knows English.",
            zh="文本中的大部分字符模型从未读过：它只认识英文。",
        )
    return found


def draw_hidden(request: Request, text: Encoded, pieces: Pieces) -> tuple[Row, Row]:
    """Draw hidden words as training does, at least one piece.

    Return the pieces that the model reads and their numbers in DRAWN, (piece,) each.
    """
    if request.way == WAYS[1]:
        (given,), _, (wanted,) = hide(
            [text.ids], pieces, np.random.default_rng(request.seed), least=True
        )
        ways = [wanted == NONE, given == pieces.mask, given != wanted]
        return given, np.select(
            ways, [0, DRAWN.index("mask"), DRAWN.index("other")], DRAWN.index("kept")
        )
    kinds = (np.isin(text.word, request.hidden) & (text.word >= 0)).astype(np.int64)
    return np.where(kinds, pieces.mask, text.ids), kinds


def _check_request(request: Request) -> _Given:
    """Check a request.

    Raise InputError with the given value and the accepted ones.
    """
    request_fields.check_request(request)
    model, pieces = load(request.variant).model, pieces_of(request.variant)
    own = [one for one in request.silenced if one[0] == request.variant]
    check_heads(own, {request.variant: (len(model.layers), model.config.n_heads)})
    text = _encode_text(request.text, pieces)
    given, kinds = (
        draw_hidden(request, text, pieces)
        if model.config.predicts
        else (text.ids, np.zeros_like(text.ids))
    )
    other = (
        _encode_text(request.other, pieces)
        if not model.config.predicts and request.other.strip()
        else None
    )
    return _Given(request, model, pieces, text, given, kinds, other)


def mask_one_side(side: str, word: Row, length: int) -> NDArray[np.bool_]:
    """Return which pieces may be read if one side of a word is masked, (piece,).

    word: the places of the word's pieces; without a word, every piece may be read.
    """
    index, last, first = np.arange(length), max(word, default=length), min(word, default=0)
    return {"both": index >= 0, "left": index <= last, "right": index >= first}[side]


def _find_shown(one: _Given) -> tuple[str, ...]:
    """Return the pieces that the model reads, (piece,)."""
    return tuple(
        now if kind else was
        for was, now, kind in zip(
            one.text.shown, one.pieces.show_pieces(one.given), one.drawn, strict=True
        )
    )


def _read(
    one: _Given, ids: Row, allowed: NDArray[np.bool_] | None = None, trace: Trace = OFF
) -> Tensor:
    """Return the last layer for rows of pieces under the changes of a request, (row, piece,
    d_model)."""
    device = one.model.words.weight.device
    mask = None if allowed is None or allowed.all() else torch.from_numpy(allowed).to(device)
    gain = build_head_gains([one.request] * len(ids), one.request.variant, one.model)
    return one.model(torch.from_numpy(ids).to(device), mask, gain, trace, one.request.positions)  # type: ignore[no-any-return]


def _word(one: _Given, place: int) -> Row:
    """Return the pieces of the hidden word at a piece; if training's draw hides single pieces, that
    piece alone."""
    return (
        np.array([place])
        if one.request.way == WAYS[1]
        else np.flatnonzero(one.text.word == one.text.word[place])
    )


def _find_allowed(one: _Given) -> NDArray[np.bool_]:
    """Return which pieces the displayed run may read, (piece,): up to the first hidden word, or
    from the last one on."""
    places, side = np.flatnonzero(one.drawn), one.request.side
    word = _word(one, int(places[0 if side == SIDES[1] else -1])) if len(places) else places
    return mask_one_side(side, word, len(one.given))


def _predict_places(
    one: _Given, rows: Row, places: Row, allowed: NDArray[np.bool_] | None = None
) -> Tensor:
    """Return log p of every vocabulary piece in one place of each row, (row, piece).

    places: (row,). allowed: (row, position), or None if every piece may be read.
    """
    said = []
    for first in range(0, len(rows), MAX_PIECES):
        some = slice(first, first + MAX_PIECES)
        behind = _read(one, rows[some], None if allowed is None else allowed[some])
        said.append(
            one.model.logits(behind[torch.arange(len(behind)), torch.from_numpy(places[some])])
            .float()
            .log_softmax(-1)
            .cpu()
        )
    return torch.cat(said)


def _guesses(one: _Given) -> tuple[Guess, ...]:
    """Return the predictions for each drawn piece, from both sides and from either side."""
    places, length, sides = np.flatnonzero(one.drawn), len(one.given), len(SIDES)
    if not len(places):
        return ()
    allowed = np.stack(
        [
            mask_one_side(side, _word(one, place), length)
            for place in places.tolist()
            for side in SIDES
        ]
    )
    shares = (
        _predict_places(one, np.tile(one.given, (len(allowed), 1)), places.repeat(sides), allowed)
        .exp()
        .view(len(places), sides, -1)
    )
    shares[..., list(one.pieces.special)] = 0  # no text contains these
    found = []
    for place, here in zip(places.tolist(), shares, strict=True):
        p, best = here.topk(BEST)
        words = tuple(tuple(one.pieces.show_pieces(side)) for side in best.tolist())
        true = int(one.text.ids[place])
        found.append(
            Guess(
                place,
                one.text.shown[place],
                true,
                words,
                freeze(best, np.int64),
                freeze(p),
                freeze(here[:, true]),
            )
        )
    return tuple(found)


def nats(one: _Given) -> NDArray[np.float32]:
    """Return −log p of each piece while it alone is hidden and both sides are read, (piece,); 0 for
    [CLS] and [SEP]."""
    inner = np.arange(1, len(one.text.ids) - 1)
    rows = np.tile(one.text.ids, (len(inner), 1))
    rows[inner - 1, inner] = one.pieces.mask
    return np.pad(-_predict_places(one, rows, inner)[inner - 1, one.text.ids[inner]].numpy(), 1)


def norms(model: Encoder, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ‖W_O v‖, the length that a head adds per unit of weight, (layer, head, key) (Kobayashi
    et al., 2020).

    values: (layer, head, key, d_head).
    """
    matrices = np.stack(
        [layer.self_attention.project_out.weight.cpu().numpy() for layer in model.layers]
    )
    # (layer, head, d_head, d_model).
    out = matrices.reshape(*matrices.shape[:2], *values.shape[1::2]).transpose(0, 2, 3, 1)
    return np.asarray(np.linalg.norm(values @ out, axis=-1), np.float32)


def sentence(behind: Tensor) -> Tensor:
    """Return the vector of a text, (d_model,): the mean over its pieces, normalised to length 1, as
    the package does.

    behind: the last layer, (piece, d_model).
    """
    return torch.nn.functional.normalize(behind.mean(0), dim=0)


def shares(first: Tensor, second: Tensor) -> Tensor:
    """Return the contribution of each pair of pieces to the cosine of two sentence vectors, (piece,
    other piece).

    It is their dot product divided by the lengths and the counts.
    """
    return (first @ second.T).div(
        first.mean(0).norm() * second.mean(0).norm() * len(first) * len(second)
    )


@answer_without_gradients
def explain(request: Request) -> Explanation:
    """Explain a request.

    Raise InputError if it cannot be read.
    """
    one = _check_request(request)
    text, predicts = one.text, one.model.config.predicts
    allowed = _find_allowed(one)
    trace = Trace("*/self/weights", "*/self/values")
    behind = _read(one, one.given[None], allowed[None], trace)[0].cpu()
    weights = trace.stack("*/self/weights")[:, 0]
    beside = None if one.other is None else _read(one, one.other.ids[None])[0].cpu()
    vectors = [] if predicts else [sentence(part) for part in (behind, beside) if part is not None]
    pairs = np.zeros((0, 0)) if beside is None else shares(behind, beside).numpy()
    return Explanation(
        variant=request.variant,
        pieces=text.shown,
        read=_find_shown(one),
        word=freeze(text.word, np.int64),
        unknown=freeze(text.ids == one.pieces.unknown, np.bool_),
        folded=one.pieces.folds(request.text),
        drawn=freeze(one.drawn, np.int64),
        allowed=freeze(allowed, np.bool_),
        guesses=_guesses(one) if predicts else (),
        nats=freeze(nats(one) if predicts else np.zeros(0)),
        weights=freeze(weights, np.float16),
        norms=freeze(norms(one.model, trace.stack("*/self/values")[:, 0])),
        patterns=freeze(patterns(weights, text.ids)),
        other=() if one.other is None else one.other.shown,
        similarity=None if beside is None else float(np.float64(vectors[0] @ vectors[1])),
        shares=freeze(pairs),
        vectors=freeze(
            torch.stack(vectors) if vectors else np.zeros((0, one.model.config.d_model))
        ),
    )


@answer_without_gradients
def vectors(request: Request) -> Mapping[str, Vectors]:
    """Return the queries and keys of all heads, by variant.

    Raise InputError if the request cannot be read or masks one side.
    """
    one = _check_request(request)
    if not _find_allowed(one).all():
        raise InputError(
            "changed",
            en=(
                "The neuron view works every weight out with all pieces in view. Let both sides be"
                " read first."
            ),
            zh="神经元视图在所有词片可见时计算每个权重。请先允许读两边。",
        )
    trace, read = Trace("*/self/queries", "*/self/keys"), _find_shown(one)
    _read(one, one.given[None], trace=trace)
    return {
        request.variant: collect_vectors(
            trace, "*/self", request.text, read, read, classes=classes_of(one.text)
        )
    }


planes = make_plane_function(
    vectors,
    {variant: [Request(caption, variant=variant) for caption in CAPTIONS] for variant in VARIANTS},
)
