"""What a page asks of the parallel translators, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from models.arrays import frozen
from models.beam import EXTRA, written
from models.captions import CAPTIONS
from models.device import answered
from models.errors import InputError
from models.fields import check, check_places, shown
from models.multi30k import SPACE, START, STOP, UNKNOWN, Encoded, readable
from models.nonautoregressive.decode import Pass, Read, passes, possible, read
from models.nonautoregressive.model import LONGER, MASK, SHORTER
from models.nonautoregressive.pretrained import Pretrained, load
from models.nonautoregressive.records import GREEDY, MAX_TOKENS, VARIANTS, Explanation, Joint, Neighbours, Request
from models.plane import SIDES, Vectors, drawn_by, watched
from models.results import Array, Retranslated
from models.searching import Greedy, Source, piece_log_probabilities
from models.trace import OFF, Trace

CANDIDATES = 3  # pieces that are shown of a position
LIKELIEST = 5  # of each of two neighbours


class _Given(NamedTuple):
    """A request that can be run, its sentence read. pinned: tokens by position; length: pieces of the translation."""

    request: Request
    shipped: Pretrained
    pieces: Encoded
    pinned: dict[int, int]
    source: Read
    length: int

    def tokens(self, held: Mapping[int, int]) -> Tensor:
        """(1, target): what is held at some positions, MASK at all others."""
        return torch.tensor([[held.get(at, MASK) for at in range(self.length)]], device=self.source.allowed.device)

    def passes(self, trace: Trace = OFF) -> Iterator[Pass]:
        """Every pass, the one over `again` the last."""
        return passes(self.source, self.tokens(self.pinned), self.request.passes, self.request.again, trace)


def _given(request: Request, trace: Trace = OFF) -> _Given:
    """Check a request and read its sentence. InputError says what was given and what is accepted."""
    check(request)
    shipped = load(request.variant)
    pinned: dict[int, int] = {}
    for position, piece in request.pinned:
        with suppress(KeyError):
            pinned[position] = shipped.tokenizer.token(piece.removeprefix(SPACE), piece.startswith(SPACE))
        if pinned.get(position, UNKNOWN) <= STOP:
            raise InputError(
                "pinned",
                en=f"“{shown(piece)}” is no piece that a translation can contain; click a cell to pin what stands there.",
                zh=f"“{shown(piece)}”不是译文中可用的词片；请点击单元格来固定其中的词片。",
            )
    encoded = readable(request.sentence, shipped.tokenizer, MAX_TOKENS)
    source, pieces = read(shipped.model, [encoded.ids], trace), len(encoded.ids)
    length, least, most = source.likeliest()[0] + request.offset, max(1, pieces - SHORTER), pieces + LONGER
    if not least <= length <= most:
        raise InputError(
            "offset",
            en=f"The translation would have {length} pieces; that of {pieces} pieces can have {least} to {most}.",
            zh=f"译文将有 {length} 个词片；{pieces} 个词片的句子，其译文可以有 {least} 到 {most} 个词片。",
        )
    check_places("pinned", pinned, length)
    check_places("again", request.again, length)
    return _Given(request, shipped, encoded, pinned, source, length)


def _stopwatch() -> Callable[[], float]:
    """Milliseconds since now."""
    begin = time.perf_counter()
    return lambda: 1000 * (time.perf_counter() - begin)


def _greedy(given: _Given) -> dict[str, Any]:
    """The same sentence one piece after the other, by the names of an Explanation's fields."""
    shipped, clock = load(GREEDY), _stopwatch()
    search = Greedy(shipped.model, Source(given.source.tokens, given.source.allowed, (len(given.pieces.ids) + EXTRA,)))
    ends = [clock()]
    while not search.done:
        search.step()
        ends.append(clock())
    told = {"greedy_log_probabilities": frozen(search.log_probabilities[0]), "greedy_ends_ms": frozen(ends)}
    return {"greedy_target": shipped.tokenizer.shown(search.tokens[0])[0], **told}


def _timed(given: _Given) -> Array:
    """When the same run has its source and length, and when each pass is over, while nobody watches: milliseconds."""
    clock = _stopwatch()
    alike = given._replace(source=read(given.shipped.model, [given.pieces.ids]))
    alike.source.likeliest()
    return frozen([clock(), *(clock() for _ in alike.passes())])


@answered
def explain(request: Request) -> Explanation:
    """Translate and watch. InputError where a request cannot be run."""
    trace = Trace("encoder/*/self/weights", "*/decoder/*/*/weights", budget=256 << 20)
    given = _given(request, trace)
    tokens, scores, masked, hidden = (torch.stack(each)[:, 0] for each in zip(*given.passes(trace), strict=True))
    shipped, shown = given.shipped, given.shipped.tokenizer.shown
    best = possible(shipped.model, hidden).exp().topk(CANDIDATES)
    told = frozen(tokens, np.int64)  # (pass, position)
    rows = [shown(row) for row in told.tolist()]
    return Explanation(
        **written(shipped, given.pieces, told[-1].tolist(), scores[-1]),
        ran=min(request.passes, max(given.length - len(given.pinned), 1)),
        pieces=tuple(pieces for pieces, _ in rows),
        spaces=frozen([spaces for _, spaces in rows], np.bool_),
        masked=frozen(masked, np.bool_),
        confidence=frozen(np.exp(frozen(scores))),
        repeats=frozen(np.diff(told, prepend=-1) == 0, np.bool_),
        candidates=tuple(tuple(shown(row)[0] for row in each) for each in best.indices.tolist()),
        candidate_p=frozen(best.values),
        settled=frozen(len(told) - 1 - np.diff(told, axis=0, prepend=-1)[::-1].astype(bool).argmax(0), np.int64),
        encoder=frozen(trace.stack("encoder/*/self/weights")[:, 0]),
        decoder=frozen(np.split(trace.stack("*/decoder/*/self/weights")[:, 0], len(told))),
        cross=frozen(np.split(trace.stack("*/decoder/*/cross/weights")[:, 0], len(told))),
        lengths=frozen(given.source.lengths[0].exp()),
        shortest=len(given.pieces.ids) - SHORTER,
        ends_ms=_timed(given),
        **_greedy(given),
    )


@answered
def vectors(request: Request) -> Mapping[str, Vectors]:
    """Queries and keys of the encoder and of the last pass."""
    trace = Trace(*(f"{where}/{side}" for where in ("encoder/*/self", "*/decoder/*/*") for side in SIDES), budget=256 << 20)
    given = _given(request, trace)
    *_, (t, last) = enumerate(given.passes(trace))
    asks, looked = given.shipped.tokenizer.shown(last.tokens[0].tolist())[0], given.pieces.pieces
    return {
        "encoder": watched(trace, "encoder/*/self", request.sentence, looked, looked),
        "decoder": watched(trace, f"{t}/decoder/*/self", request.sentence, asks, asks),
        "cross": watched(trace, f"{t}/decoder/*/cross", request.sentence, asks, looked),
    }


planes = drawn_by(vectors, {variant: [Request(caption, variant=variant) for caption in CAPTIONS] for variant in VARIANTS})


@answered
def neighbours(wish: Neighbours) -> Joint:
    """What two neighbours could be, all at once and one after the other. InputError where there are none."""
    given, at = _given(wish.request), wish.position
    if not 0 <= at < given.length - 1:
        raise InputError(
            "position",
            en=f"Position {shown(at)} has no right neighbour: positions are 0 to {given.length - 2}.",
            zh=f"位置 {shown(at)} 没有右邻：位置为 0 到 {given.length - 2}。",
        )
    seen = list(given.passes())
    p, tokens = possible(given.shipped.model, seen[0].hidden[0, at : at + 2]).exp().topk(LIKELIEST)
    before = seen[-1].tokens[0, :at].tolist()
    other = load(GREEDY).model
    target = torch.tensor([[START, *before, first] for first in tokens[0].tolist()], device=tokens.device)
    words, allowed = (one.expand(LIKELIEST, -1) for one in (given.source.tokens, given.source.allowed))
    follows = piece_log_probabilities(other, other(words, target, allowed)[:, at:])  # (first, 2, vocabulary)
    first, second = (given.shipped.tokenizer.shown(row)[0] for row in tokens.tolist())
    return Joint(
        first,
        second,
        product=frozen(p[0][:, None] * p[1]),
        joint=frozen((follows[0, 0, tokens[0]][:, None] + follows[:, 1, tokens[1]]).exp()),
        before=given.shipped.tokenizer.decode(before),
    )


@answered
def reread(wish: Retranslated) -> Array:
    """log p of each piece of a translation where it stands, (position,) in nats, in one pass in which everything is masked but what is
    pinned; where positions are masked once more, with all others in sight. NaN where a piece is in sight, or its place is not there."""
    given, again = _given(wish.request), wish.request.again
    model, tokenizer = given.shipped.model, given.shipped.tokenizer
    own = [tokenizer.token(*piece) for piece in zip(wish.target, wish.target_space, strict=True)][: given.length]
    sight = {at: token for at, token in enumerate(own) if again and at not in again} | given.pinned
    found = possible(model, given.source.filled(given.tokens(sight)))[0]
    there = [np.nan if at in sight else float(found[at, token]) for at, token in enumerate(own)]
    return frozen([*there, *[np.nan] * (len(wish.target) - len(own))])
