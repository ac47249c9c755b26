"""Explanations of the parallel translators: they answer a page's requests with arrays and strings
and return no tensors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from models.checkpoints.device import answer_without_gradients
from models.data.captions import CAPTIONS
from models.data.multi30k import SPACE, START, STOP, UNKNOWN, Encoded, read_sentence
from models.decoding.beam import EXTRA, describe_translation
from models.decoding.translation_search import Greedy, Source, piece_log_probabilities
from models.explaining.arrays import freeze
from models.explaining.errors import InputError
from models.explaining.query_key_plane import SIDES, Vectors, collect_vectors, make_plane_function
from models.explaining.request_fields import check_places, check_request, clean_for_sentence
from models.explaining.shared_records import Array, Retranslated
from models.explaining.trace import OFF, Trace
from models.nonautoregressive.decode import Pass, Read, passes, possible, read
from models.nonautoregressive.model import LONGER, MASK, SHORTER
from models.nonautoregressive.pretrained import Pretrained, load
from models.nonautoregressive.records import (
    GREEDY,
    MAX_TOKENS,
    VARIANTS,
    Explanation,
    Joint,
    Neighbours,
    Request,
)

CANDIDATES = 3  # displayed candidates of a position
LIKELIEST = 5  # pieces of each of two neighbours


class _Given(NamedTuple):
    """A request that can be run, with its sentence.

    pinned: tokens by position. length: the number of pieces of the translation.
    """

    request: Request
    shipped: Pretrained
    pieces: Encoded
    pinned: dict[int, int]
    source: Read
    length: int

    def tokens(self, held: Mapping[int, int]) -> Tensor:
        """Return the translation before the first pass, (1, target): fixed tokens at some
        positions, MASK at all others."""
        return torch.tensor(
            [[held.get(at, MASK) for at in range(self.length)]], device=self.source.allowed.device
        )

    def passes(self, trace: Trace = OFF) -> Iterator[Pass]:
        """Yield every pass; the additional pass over `again` comes last."""
        return passes(
            self.source, self.tokens(self.pinned), self.request.passes, self.request.again, trace
        )


def _read_request(request: Request, trace: Trace = OFF) -> _Given:
    """Check a request and read its sentence.

    Raise InputError with the given value and the accepted ones.
    """
    check_request(request)
    shipped = load(request.variant)
    pinned: dict[int, int] = {}
    for position, piece in request.pinned:
        with suppress(KeyError):
            pinned[position] = shipped.tokenizer.find_token(
                piece.removeprefix(SPACE), piece.startswith(SPACE)
            )
        if pinned.get(position, UNKNOWN) <= STOP:
            raise InputError(
                "pinned",
                en=(
                    f"“{clean_for_sentence(piece)}” is no piece that a translation can contain;"
                    " click a cell to pin what stands there."
                ),
                zh=f"“{clean_for_sentence(piece)}”不是译文中可用的词片；请点击单元格来固定其中的词片。",
            )
    encoded = read_sentence(request.sentence, shipped.tokenizer, MAX_TOKENS)
    source, pieces = read(shipped.model, [encoded.ids], trace), len(encoded.ids)
    length, least, most = (
        source.likeliest()[0] + request.offset,
        max(1, pieces - SHORTER),
        pieces + LONGER,
    )
    if not least <= length <= most:
        raise InputError(
            "offset",
            en=(
                f"The translation would have {length} pieces; that of {pieces} pieces can have"
                f" {least} to {most}."
            ),
            zh=(
                f"译文将有 {length} 个词片；{pieces} 个词片的句子，其译文可以有 {least} 到 {most}"
                " 个词片。"
            ),
        )
    check_places("pinned", pinned, length)
    check_places("again", request.again, length)
    return _Given(request, shipped, encoded, pinned, source, length)


def _stopwatch() -> Callable[[], float]:
    """Return a function that measures the milliseconds since now."""
    begin = time.perf_counter()
    return lambda: 1000 * (time.perf_counter() - begin)


def _greedy(given: _Given) -> dict[str, Any]:
    """Translate the same sentence piece by piece; return fields of an Explanation by name."""
    shipped, clock = load(GREEDY), _stopwatch()
    search = Greedy(
        shipped.model,
        Source(given.source.tokens, given.source.allowed, (len(given.pieces.ids) + EXTRA,)),
    )
    ends = [clock()]
    while not search.done:
        search.add_piece()
        ends.append(clock())
    told = {
        "greedy_log_probabilities": freeze(search.log_probabilities[0]),
        "greedy_ends_ms": freeze(ends),
    }
    return {"greedy_target": shipped.tokenizer.show_pieces(search.tokens[0])[0], **told}


def _time_passes(given: _Given) -> Array:
    """Measure when an unwatched run has its source and length, and when each pass ends, in
    milliseconds."""
    clock = _stopwatch()
    alike = given._replace(source=read(given.shipped.model, [given.pieces.ids]))
    alike.source.likeliest()
    return freeze([clock(), *(clock() for _ in alike.passes())])


@answer_without_gradients
def explain(request: Request) -> Explanation:
    """Translate and explain a request.

    Raise InputError if it cannot be run.
    """
    trace = Trace("encoder/*/self/weights", "*/decoder/*/*/weights", budget=256 << 20)
    given = _read_request(request, trace)
    tokens, scores, masked, hidden = (
        torch.stack(each)[:, 0] for each in zip(*given.passes(trace), strict=True)
    )
    shipped, shown = given.shipped, given.shipped.tokenizer.show_pieces
    best = possible(shipped.model, hidden).exp().topk(CANDIDATES)
    told = freeze(tokens, np.int64)  # (pass, position)
    rows = [shown(row) for row in told.tolist()]
    return Explanation(
        **describe_translation(shipped, given.pieces, told[-1].tolist(), scores[-1]),
        ran=min(request.passes, max(given.length - len(given.pinned), 1)),
        pieces=tuple(pieces for pieces, _ in rows),
        spaces=freeze([spaces for _, spaces in rows], np.bool_),
        masked=freeze(masked, np.bool_),
        confidence=freeze(np.exp(freeze(scores))),
        repeats=freeze(np.diff(told, prepend=-1) == 0, np.bool_),
        candidates=tuple(tuple(shown(row)[0] for row in each) for each in best.indices.tolist()),
        candidate_p=freeze(best.values),
        settled=freeze(
            len(told) - 1 - np.diff(told, axis=0, prepend=-1)[::-1].astype(bool).argmax(0), np.int64
        ),
        encoder=freeze(trace.stack("encoder/*/self/weights")[:, 0]),
        decoder=freeze(np.split(trace.stack("*/decoder/*/self/weights")[:, 0], len(told))),
        cross=freeze(np.split(trace.stack("*/decoder/*/cross/weights")[:, 0], len(told))),
        lengths=freeze(given.source.lengths[0].exp()),
        shortest=len(given.pieces.ids) - SHORTER,
        ends_ms=_time_passes(given),
        **_greedy(given),
    )


@answer_without_gradients
def vectors(request: Request) -> Mapping[str, Vectors]:
    """Return the queries and keys of the encoder and of the last pass."""
    trace = Trace(
        *(f"{where}/{side}" for where in ("encoder/*/self", "*/decoder/*/*") for side in SIDES),
        budget=256 << 20,
    )
    given = _read_request(request, trace)
    *_, (t, last) = enumerate(given.passes(trace))
    asks, looked = (
        given.shipped.tokenizer.show_pieces(last.tokens[0].tolist())[0],
        given.pieces.pieces,
    )
    return {
        "encoder": collect_vectors(trace, "encoder/*/self", request.sentence, looked, looked),
        "decoder": collect_vectors(trace, f"{t}/decoder/*/self", request.sentence, asks, asks),
        "cross": collect_vectors(trace, f"{t}/decoder/*/cross", request.sentence, asks, looked),
    }


planes = make_plane_function(
    vectors,
    {variant: [Request(caption, variant=variant) for caption in CAPTIONS] for variant in VARIANTS},
)


@answer_without_gradients
def neighbours(wish: Neighbours) -> Joint:
    """Return the likeliest pieces of two neighbours, predicted at once and one after the other.

    Raise InputError if there are no neighbours.
    """
    given, at = _read_request(wish.request), wish.position
    if not 0 <= at < given.length - 1:
        raise InputError(
            "position",
            en=(
                f"Position {clean_for_sentence(at)} has no right neighbour: positions are 0 to"
                f" {given.length - 2}."
            ),
            zh=f"位置 {clean_for_sentence(at)} 没有右邻：位置为 0 到 {given.length - 2}。",
        )
    seen = list(given.passes())
    p, tokens = possible(given.shipped.model, seen[0].hidden[0, at : at + 2]).exp().topk(LIKELIEST)
    before = seen[-1].tokens[0, :at].tolist()
    other = load(GREEDY).model
    target = torch.tensor(
        [[START, *before, first] for first in tokens[0].tolist()], device=tokens.device
    )
    words, allowed = (
        one.expand(LIKELIEST, -1) for one in (given.source.tokens, given.source.allowed)
    )
    # (first, 2, vocabulary)
    follows = piece_log_probabilities(other, other(words, target, allowed)[:, at:])
    first, second = (given.shipped.tokenizer.show_pieces(row)[0] for row in tokens.tolist())
    return Joint(
        first,
        second,
        alike=freeze(tokens[0][:, None] == tokens[1], np.bool_),
        product=freeze(p[0][:, None] * p[1]),
        joint=freeze((follows[0, 0, tokens[0]][:, None] + follows[:, 1, tokens[1]]).exp()),
        before=given.shipped.tokenizer.decode(before),
    )


@answer_without_gradients
def reread(wish: Retranslated) -> Array:
    """Return log p of each piece of a translation at its position in one pass, in nats,
    (position,).

    Everything but pinned pieces is masked; if positions are masked once more, all others are
    visible. The result is NaN for visible pieces and for places outside the translation.
    """
    given, again = _read_request(wish.request), wish.request.again
    model, tokenizer = given.shipped.model, given.shipped.tokenizer
    own = [
        tokenizer.find_token(*piece) for piece in zip(wish.target, wish.target_space, strict=True)
    ][: given.length]
    sight = {at: token for at, token in enumerate(own) if again and at not in again} | given.pinned
    found = possible(model, given.source.fill_seen(given.tokens(sight)))[0]
    there = [np.nan if at in sight else float(found[at, token]) for at, token in enumerate(own)]
    return freeze([*there, *[np.nan] * (len(wish.target) - len(own))])
