"""Explanations of the translation model: it answers a page's requests with arrays and strings and
returns no tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from models.data.multi30k import PAD, START, Encoded, pad_rows, read_sentence
from models.decoding.beam import EXTRA, Hypothesis, describe_translations
from models.decoding.translation_search import (
    Greedy,
    Source,
    beam_search,
    greedy_search,
    piece_log_probabilities,
    search_in_steps,
)
from models.explaining.arrays import freeze
from models.explaining.batching import answer_together, read_each, run_groups, take_turns, work_for
from models.explaining.errors import InputError, check_heads
from models.explaining.head_mask import build_head_gains
from models.explaining.request_fields import check_places, check_request
from models.explaining.trace import Trace
from models.explaining.translation_request import SentencePair
from models.networks.encoder_decoder import Changes
from models.translation.pretrained import Pretrained, load
from models.translation.records import (
    KINDS,
    MAX_TOKENS,
    Array,
    Explanation,
    Request,
    Rereading,
    Step,
)

TURN = 0.04  # seconds of work in one turn of `generate`
# translations that have ended, from which on they are watched; or whatever has at the end of a turn
TOGETHER = 8
BUDGET = 64 << 20  # bytes of the weights that are watched of a sentence


@dataclass(frozen=True)
class _Read:
    """A request that can be translated.

    target: the tokens of its translation, () if one is searched for.
    """

    request: Request
    pieces: Encoded
    target: tuple[int, ...] = ()


def _read(request: Request, target: Sequence[tuple[str, bool]] = ()) -> _Read:
    """Check a request and split its sentence into pieces.

    Raise InputError with the given value and the accepted ones.
    """
    check_request(request)
    shipped = load()
    check_heads(
        request.silenced,
        dict.fromkeys(KINDS, (shipped.model.config.n_layers, shipped.model.config.n_heads)),
    )
    pieces = read_sentence(request.sentence, shipped.tokenizer, MAX_TOKENS)
    check_places("hidden", request.hidden, len(pieces.ids))
    return _Read(
        request,
        pieces,
        tuple(shipped.tokenizer.find_token(piece, space) for piece, space in target),
    )


def _source(read: Sequence[_Read], shipped: Pretrained) -> Source:
    """Return requests of one group as tensors: tokens, allowed positions, factors of the heads, and
    removed parts."""
    device = shipped.model.embedding.weight.device
    tokens = pad_rows([r.pieces.ids for r in read])
    allowed = tokens != PAD
    for row, one in enumerate(read):
        allowed[row, list(one.request.hidden)] = False
    silenced = {
        kind: build_head_gains([one.request for one in read], kind, shipped.model) for kind in KINDS
    }
    told = {kind: each for kind, each in silenced.items() if each is not None}
    without = read[0].request.without
    changes = Changes(
        scale=1.0 if "scale" in without else None, positional="position" not in without, gains=told
    )
    return Source(
        tokens.to(device),
        allowed.to(device),
        tuple(len(r.pieces.ids) + EXTRA for r in read),
        changes,
    )


def _encode_group(read: Sequence[_Read], shipped: Pretrained) -> tuple[Source, Array]:
    """Return the encoded source of a group, and the encoder's weights, (layer, batch, head, source,
    source)."""
    source, trace = (
        _source(read, shipped),
        Trace("encoder/*/self/weights", budget=BUDGET * len(read)),
    )
    source = dataclasses.replace(source, memory=source.read(shipped.model, trace))
    return source, trace.stack("encoder/*/self/weights")


def _search(read: Sequence[_Read], source: Source, shipped: Pretrained) -> list[list[Hypothesis]]:
    """Return the hypotheses of each request, best first; all requests belong to one group."""
    if read[0].request.beam == 1:
        return [[one] for one in greedy_search(shipped.model, source)]
    return beam_search(
        shipped.model, source, [r.request.beam for r in read], [r.request.alpha for r in read]
    )


def _read_out(
    read: Sequence[_Read],
    wanted: Sequence[Sequence[int]],
    source: Source,
    shipped: Pretrained,
    trace: Trace,
) -> torch.Tensor:
    """Run finished translations once with a trace; return the vectors after each piece of `wanted`.

    All requests belong to one group.
    """
    device = source.tokens.device
    target = pad_rows([(START, *tokens[:-1]) for tokens in wanted]).to(device)
    changes = source.changes
    if "mask" in read[0].request.without:
        lengths = torch.tensor([len(tokens) for tokens in wanted], device=device)
        changes = dataclasses.replace(
            changes, reads=torch.arange(target.shape[1], device=device) < lengths[:, None]
        )
    return shipped.model.decode(
        target, source.read(shipped.model, trace), source.allowed, trace, changes
    )


def watch_translation(wish: Rereading, trace: Trace) -> None:
    """Run a finished translation once for `trace`, under the changes of its request.

    Raise InputError if it cannot be read.
    """
    shipped, read = load(), [_read_again(wish)]
    _read_out(read, [read[0].target], _source(read, shipped), shipped, trace)


def _watch(
    read: Sequence[_Read],
    found: Sequence[Sequence[Hypothesis]],
    source: Source,
    encoder: Array,
    shipped: Pretrained,
) -> list[Explanation]:
    """Explain the first hypothesis of each request from one traced pass over finished pairs.

    source, encoder: as returned by `_encode_group`.
    """
    wanted = [hypotheses[0].tokens for hypotheses in found]
    trace = Trace("decoder/*/self/weights", "decoder/*/cross/weights", budget=BUDGET * len(read))
    hidden = _read_out(read, wanted, source, shipped, trace)
    log_p: Any = [hypotheses[0].log_probabilities for hypotheses in found]
    if "mask" in read[0].request.without or not all(log_p):  # else the search knows them
        log_p_of = piece_log_probabilities(shipped.model, hidden)
        log_p = (
            log_p_of.gather(2, pad_rows(wanted).to(source.tokens.device)[:, :, None])[:, :, 0]
            .cpu()
            .numpy()
        )
    decoder = trace.stack("decoder/*/self/weights")
    cross = trace.stack("decoder/*/cross/weights")
    result = []
    for row, (one, hypotheses) in enumerate(zip(read, found, strict=True)):
        n, m = len(one.pieces.ids), len(wanted[row])
        result.append(
            Explanation(
                **describe_translations(
                    shipped, one.pieces, hypotheses, log_p[row][:m], float(one.request.alpha)
                ),
                encoder=freeze(encoder[:, row, :, :n, :n]),
                decoder=freeze(decoder[:, row, :, :m, :m]),
                cross=freeze(cross[:, row, :, :m, :n]),
            )
        )
    return result


def _group(one: _Read) -> object:
    return one.request.group()


@torch.no_grad()
def _read_sentence(read: Sequence[_Read]) -> list[Explanation]:
    shipped = load()
    source, encoder = _encode_group(read, shipped)
    return _watch(read, _search(read, source, shipped), source, encoder, shipped)


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Translate and explain each request, in order.

    An InputError takes the place of a request that cannot be read.
    """
    return answer_together(read_each(requests, _read), _group, _read_sentence)


def _read_again(wish: Rereading) -> _Read:
    return _read(wish.request, list(zip(wish.target, wish.target_space, strict=True)))


@torch.no_grad()
def _measure_group(read: Sequence[_Read]) -> list[Explanation]:
    shipped = load()
    return _watch(
        read, [[Hypothesis(one.target, ())] for one in read], *_encode_group(read, shipped), shipped
    )


def measure(wishes: Sequence[Rereading]) -> list[Explanation | InputError]:
    """Read each finished translation again under the changes of its request, in order.

    There is no search, so all arrays keep the shapes of the original run.
    """
    return answer_together(read_each(wishes, _read_again), _group, _measure_group)


def explain_cross_attention(wishes: Sequence[SentencePair]) -> list[Explanation | InputError]:
    """Return the attention of the Transformer over sentences that another model has translated, in
    order."""
    return measure(
        [Rereading(Request(wish.sentence), wish.target, wish.target_space) for wish in wishes]
    )


Said = list[Step] | Explanation  # of one request in one turn


def generate(requests: Sequence[Request]) -> Iterator[list[Said | InputError | None]]:
    """Translate piece by piece; each turn works for about 50 ms and yields one entry per request.

    An entry is the list of steps since the last turn; at the end the Explanation, or the
    InputError; None after that. A request with more than one hypothesis yields no steps, only its
    Explanation, because its words have no order of appearance.
    """
    yield from take_turns(
        read_each(requests, _read), lambda read: run_groups(read, _group, _translate_group)
    )


def _translate_group(read: Sequence[_Read]) -> Iterator[dict[int, Said]]:
    return (_search_beams if read[0].request.beam > 1 else _write_greedily)(read, load())


def _write_greedily(read: Sequence[_Read], shipped: Pretrained) -> Iterator[dict[int, Said]]:
    """Yield greedy translations of one group in turns: the new steps or the end of each row."""
    with torch.no_grad():
        source, encoder = _encode_group(read, shipped)
        search = Greedy(shipped.model, source)
    while not search.done:
        steps: dict[int, Said] = {}
        stopped: list[int] = []

        @torch.no_grad()
        def step(steps: dict[int, Said] = steps, stopped: list[int] = stopped) -> bool:
            for row in search.add_piece():
                tokens, log_p = search.tokens[row], search.log_probabilities[row]
                piece, space = shipped.tokenizer.show_piece(tokens[-1])
                said = steps.setdefault(row, [])
                assert isinstance(said, list)
                said.append(Step(piece, space, shipped.tokenizer.decode(tokens), log_p[-1]))
                if search.is_finished(row):
                    stopped.append(row)
            return not search.done and len(stopped) < TOGETHER

        work_for(step, TURN)
        yield steps
        if stopped:
            with torch.no_grad():
                found = [[search.result(row)] for row in stopped]
                seen = _watch(
                    [read[row] for row in stopped],
                    found,
                    source.rows(stopped),
                    encoder[:, stopped],
                    shipped,
                )
            yield dict(zip(stopped, seen, strict=True))


def _search_beams(read: Sequence[_Read], shipped: Pretrained) -> Iterator[dict[int, Said]]:
    """Run the beam searches of one group, a step in each turn; yield their results in the last."""
    with torch.no_grad():
        source, encoder = _encode_group(read, shipped)
    search = search_in_steps(
        shipped.model,
        source,
        [one.request.beam for one in read],
        [one.request.alpha for one in read],
    )
    found: list[list[Hypothesis]] | None = None
    while found is None:
        with torch.no_grad():
            try:
                next(search)
            except StopIteration as end:
                found = end.value
        yield {}
    with torch.no_grad():
        seen = _watch(read, found, source, encoder, shipped)
    yield dict(enumerate(seen))
