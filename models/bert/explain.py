"""What a page asks of the encoders, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models import fields
from models.arrays import frozen
from models.bert.hiding import Row, hide
from models.bert.model import Encoder
from models.bert.pieces import Encoded, Pieces
from models.bert.pretrained import load, pieces_of
from models.bert.records import BEST, DRAWN, MAX_PIECES, SIDES, VARIANTS, WAYS, Explanation, Guess, Request
from models.bert.relations import classes_of, patterns
from models.captions import CAPTIONS
from models.device import answered
from models.errors import InputError, check_heads
from models.gains import gains
from models.plane import Vectors, drawn_by, watched
from models.trace import OFF, Trace
from models.windows import NONE

UNREADABLE = 0.5  # share of unknown pieces from which a text is refused


class _Given(NamedTuple):
    """A request that can be run. given: (piece,) what the model reads; drawn: (piece,) numbers in DRAWN; other: the second text."""

    request: Request
    model: Encoder
    pieces: Pieces
    text: Encoded
    given: Row
    drawn: Row
    other: Encoded | None


def _encoded(text: str, pieces: Pieces) -> Encoded:
    """InputError for a text that is empty, too long or written in other letters."""
    found = pieces.encode(fields.passage(text))
    count = len(found.ids)
    if count == 2:
        raise InputError("blank", en="This text has no word: type at least one.", zh="文本中没有词：请至少输入一个。")
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


def drawn(request: Request, text: Encoded, pieces: Pieces) -> tuple[Row, Row]:
    """(piece,) what is read of a text that a request hides words of, and the numbers in DRAWN. As training draws, one piece at least."""
    if request.way == WAYS[1]:
        (given,), _, (wanted,) = hide([text.ids], pieces, np.random.default_rng(request.seed), least=True)
        ways = [wanted == NONE, given == pieces.mask, given != wanted]
        return given, np.select(ways, [0, DRAWN.index("mask"), DRAWN.index("other")], DRAWN.index("kept"))
    kinds = (np.isin(text.word, request.hidden) & (text.word >= 0)).astype(np.int64)
    return np.where(kinds, pieces.mask, text.ids), kinds


def _given(request: Request) -> _Given:
    """Check a request. InputError says what was given and what is accepted."""
    fields.check(request)
    model, pieces = load(request.variant).model, pieces_of(request.variant)
    own = [one for one in request.silenced if one[0] == request.variant]
    check_heads(own, {request.variant: (len(model.layers), model.config.n_heads)})
    text = _encoded(request.text, pieces)
    given, kinds = drawn(request, text, pieces) if model.config.predicts else (text.ids, np.zeros_like(text.ids))
    other = _encoded(request.other, pieces) if not model.config.predicts and request.other.strip() else None
    return _Given(request, model, pieces, text, given, kinds, other)


def seen(side: str, word: Row, length: int) -> NDArray[np.bool_]:
    """(piece,) what may be read with one side of a word, the places of its pieces, blanked; all where no word is named."""
    index, last, first = np.arange(length), max(word, default=length), min(word, default=0)
    return {"both": index >= 0, "left": index <= last, "right": index >= first}[side]


def _shown(one: _Given) -> tuple[str, ...]:
    """(piece,) what is read."""
    return tuple(now if kind else was for was, now, kind in zip(one.text.shown, one.pieces.shown(one.given), one.drawn, strict=True))


def _read(one: _Given, ids: Row, allowed: NDArray[np.bool_] | None = None, trace: Trace = OFF) -> Tensor:
    """(row, piece, d_model) of rows of pieces, under what the request changes."""
    device = one.model.words.weight.device
    mask = None if allowed is None or allowed.all() else torch.from_numpy(allowed).to(device)
    gain = gains([one.request] * len(ids), one.request.variant, one.model)
    return one.model(torch.from_numpy(ids).to(device), mask, gain, trace, one.request.positions)  # type: ignore[no-any-return]


def _word(one: _Given, place: int) -> Row:
    """The pieces of the hidden word that a piece belongs to; where training's draw hides single pieces, that piece alone."""
    return np.array([place]) if one.request.way == WAYS[1] else np.flatnonzero(one.text.word == one.text.word[place])


def _allowed(one: _Given) -> NDArray[np.bool_]:
    """(piece,) what the run in view may read: up to the first hidden word, or from the last one on."""
    places, side = np.flatnonzero(one.drawn), one.request.side
    word = _word(one, int(places[0 if side == SIDES[1] else -1])) if len(places) else places
    return seen(side, word, len(one.given))


def _said(one: _Given, rows: Row, places: Row, allowed: NDArray[np.bool_] | None = None) -> Tensor:
    """(row, piece) log p of each piece in one place of every row. places: (row,); allowed: (row, position), or None where all are read."""
    said = []
    for first in range(0, len(rows), MAX_PIECES):
        some = slice(first, first + MAX_PIECES)
        behind = _read(one, rows[some], None if allowed is None else allowed[some])
        said.append(one.model.logits(behind[torch.arange(len(behind)), torch.from_numpy(places[some])]).float().log_softmax(-1).cpu())
    return torch.cat(said)


def _guesses(one: _Given) -> tuple[Guess, ...]:
    """What stands in the place of each drawn piece, from both sides and from either."""
    places, length, sides = np.flatnonzero(one.drawn), len(one.given), len(SIDES)
    if not len(places):
        return ()
    allowed = np.stack([seen(side, _word(one, place), length) for place in places.tolist() for side in SIDES])
    shares = _said(one, np.tile(one.given, (len(allowed), 1)), places.repeat(sides), allowed).exp().view(len(places), sides, -1)
    shares[..., list(one.pieces.special)] = 0  # no text has these
    found = []
    for place, here in zip(places.tolist(), shares, strict=True):
        p, best = here.topk(BEST)
        words = tuple(tuple(one.pieces.shown(side)) for side in best.tolist())
        found.append(Guess(place, one.text.shown[place], words, frozen(p), frozen(here[:, one.text.ids[place]])))
    return tuple(found)


def nats(one: _Given) -> NDArray[np.float32]:
    """(piece,) −log p of each while it alone is hidden and both sides are read; 0 for [CLS] and [SEP]."""
    inner = np.arange(1, len(one.text.ids) - 1)
    rows = np.tile(one.text.ids, (len(inner), 1))
    rows[inner - 1, inner] = one.pieces.mask
    return np.pad(-_said(one, rows, inner)[inner - 1, one.text.ids[inner]].numpy(), 1)


def norms(model: Encoder, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """(layer, head, key) ‖W_O v‖ of values (layer, head, key, d_head): what a head adds per unit of weight (Kobayashi et al., 2020)."""
    matrices = np.stack([layer.self_attention.project_out.weight.cpu().numpy() for layer in model.layers])
    out = matrices.reshape(*matrices.shape[:2], *values.shape[1::2]).transpose(0, 2, 3, 1)  # (layer, head, d_head, d_model)
    return np.asarray(np.linalg.norm(values @ out, axis=-1), np.float32)


def sentence(behind: Tensor) -> Tensor:
    """(d_model,) the vector of a text: the mean of (piece, d_model), of length 1; the package's own way."""
    return torch.nn.functional.normalize(behind.mean(0), dim=0)


def shares(first: Tensor, second: Tensor) -> Tensor:
    """(piece, other piece) what each pair adds to the cosine of two sentence vectors: their product over lengths and counts."""
    return (first @ second.T).div(first.mean(0).norm() * second.mean(0).norm() * len(first) * len(second))


@answered
def explain(request: Request) -> Explanation:
    """Read and watch. InputError where a request cannot be read."""
    one = _given(request)
    text, predicts = one.text, one.model.config.predicts
    allowed = _allowed(one)
    trace = Trace("*/self/weights", "*/self/values")
    behind = _read(one, one.given[None], allowed[None], trace)[0].cpu()
    weights = trace.stack("*/self/weights")[:, 0]
    beside = None if one.other is None else _read(one, one.other.ids[None])[0].cpu()
    vectors = [] if predicts else [sentence(part) for part in (behind, beside) if part is not None]
    pairs = np.zeros((0, 0)) if beside is None else shares(behind, beside).numpy()
    return Explanation(
        variant=request.variant,
        pieces=text.shown,
        read=_shown(one),
        word=frozen(text.word, np.int64),
        unknown=frozen(text.ids == one.pieces.unknown, np.bool_),
        folded=one.pieces.folds(request.text),
        drawn=frozen(one.drawn, np.int64),
        allowed=frozen(allowed, np.bool_),
        guesses=_guesses(one) if predicts else (),
        nats=frozen(nats(one) if predicts else np.zeros(0)),
        weights=frozen(weights, np.float16),
        norms=frozen(norms(one.model, trace.stack("*/self/values")[:, 0])),
        patterns=frozen(patterns(weights, text.ids)),
        other=() if one.other is None else one.other.shown,
        similarity=None if beside is None else float(np.float64(vectors[0] @ vectors[1])),
        shares=frozen(pairs),
        vectors=frozen(torch.stack(vectors) if vectors else np.zeros((0, one.model.config.d_model))),
    )


@answered
def vectors(request: Request) -> Mapping[str, Vectors]:
    """Queries and keys of all heads, by variant. InputError too where a side is not read."""
    one = _given(request)
    if not _allowed(one).all():
        raise InputError(
            "changed",
            en="The neuron view works every weight out with all pieces in view. Let both sides be read first.",
            zh="神经元视图在所有词片可见时计算每个权重。请先允许读两边。",
        )
    trace, read = Trace("*/self/queries", "*/self/keys"), _shown(one)
    _read(one, one.given[None], trace=trace)
    return {request.variant: watched(trace, "*/self", request.text, read, read, classes=classes_of(one.text))}


planes = drawn_by(vectors, {variant: [Request(caption, variant=variant) for caption in CAPTIONS] for variant in VARIANTS})
