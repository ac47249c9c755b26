"""What a page asks of the translation model, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from models.arrays import frozen
from models.beam import EXTRA, Hypothesis, told
from models.crossing import Pair
from models.encoder_decoder import Changes
from models.errors import InputError, check_heads
from models.fields import check, check_places
from models.gains import gains
from models.multi30k import PAD, START, Encoded, padded, readable
from models.searching import Greedy, Source, beam_search, beam_steps, greedy_search, piece_log_probabilities
from models.trace import Trace
from models.translation.pretrained import Pretrained, load
from models.translation.records import KINDS, MAX_TOKENS, Again, Array, Explanation, Request, Step
from models.turns import each, grouped, together, turns, worked

TURN = 0.04  # seconds of work in one turn of `generate`
TOGETHER = 8  # translations that have ended, from which on they are watched; or whatever has at the end of a turn
BUDGET = 64 << 20  # bytes of the weights that are watched of a sentence


@dataclass(frozen=True)
class _Read:
    """A request that can be translated. target: the tokens of the translation that it is about, () where one is searched for."""

    request: Request
    pieces: Encoded
    target: tuple[int, ...] = ()


def _read(request: Request, target: Sequence[tuple[str, bool]] = ()) -> _Read:
    """Check a request and split its sentence into pieces. InputError says what was given and what is accepted."""
    check(request)
    shipped = load()
    check_heads(request.silenced, dict.fromkeys(KINDS, (shipped.model.config.n_layers, shipped.model.config.n_heads)))
    pieces = readable(request.sentence, shipped.tokenizer, MAX_TOKENS)
    check_places("hidden", request.hidden, len(pieces.ids))
    return _Read(request, pieces, tuple(shipped.tokenizer.token(piece, space) for piece, space in target))


def _source(read: Sequence[_Read], shipped: Pretrained) -> Source:
    """Requests of one group as tensors: tokens, who may be attended to, what each head's output counts, what is left out."""
    device = shipped.model.embedding.weight.device
    tokens = padded([r.pieces.ids for r in read])
    allowed = tokens != PAD
    for row, one in enumerate(read):
        allowed[row, list(one.request.hidden)] = False
    silenced = {kind: gains([one.request for one in read], kind, shipped.model) for kind in KINDS}
    told = {kind: each for kind, each in silenced.items() if each is not None}
    without = read[0].request.without
    changes = Changes(scale=1.0 if "scale" in without else None, positional="position" not in without, gains=told)
    return Source(tokens.to(device), allowed.to(device), tuple(len(r.pieces.ids) + EXTRA for r in read), changes)


def _encoded(read: Sequence[_Read], shipped: Pretrained) -> tuple[Source, Array]:
    """The source of a group, which the encoder has read, and its weights, (layer, batch, head, source, source)."""
    source, trace = _source(read, shipped), Trace("encoder/*/self/weights", budget=BUDGET * len(read))
    source = dataclasses.replace(source, memory=source.read(shipped.model, trace))
    return source, trace.stack("encoder/*/self/weights")


def _search(read: Sequence[_Read], source: Source, shipped: Pretrained) -> list[list[Hypothesis]]:
    """Hypotheses of each request, best first; all requests are of one group."""
    if read[0].request.beam == 1:
        return [[one] for one in greedy_search(shipped.model, source)]
    return beam_search(shipped.model, source, [r.request.beam for r in read], [r.request.alpha for r in read])


def _read_out(read: Sequence[_Read], wanted: Sequence[Sequence[int]], source: Source, shipped: Pretrained, trace: Trace) -> torch.Tensor:
    """One pass over finished translations, watched: the vectors behind each piece of `wanted`. All requests are of one group."""
    device = source.tokens.device
    target = padded([(START, *tokens[:-1]) for tokens in wanted]).to(device)
    changes = source.changes
    if "mask" in read[0].request.without:
        lengths = torch.tensor([len(tokens) for tokens in wanted], device=device)
        changes = dataclasses.replace(changes, reads=torch.arange(target.shape[1], device=device) < lengths[:, None])
    return shipped.model.decode(target, source.read(shipped.model, trace), source.allowed, trace, changes)


def watched(wish: Again, trace: Trace) -> None:
    """Reads a finished translation once more, under what its request changes, for `trace`. InputError for what cannot be read."""
    shipped, read = load(), [_again(wish)]
    _read_out(read, [read[0].target], _source(read, shipped), shipped, trace)


def _watch(
    read: Sequence[_Read], found: Sequence[Sequence[Hypothesis]], source: Source, encoder: Array, shipped: Pretrained
) -> list[Explanation]:
    """One watched pass over finished pairs: what each request's first hypothesis looks like from inside. source, encoder: as `_encoded`."""
    wanted = [hypotheses[0].tokens for hypotheses in found]
    trace = Trace("decoder/*/self/weights", "decoder/*/cross/weights", budget=BUDGET * len(read))
    hidden = _read_out(read, wanted, source, shipped, trace)
    log_p: Any = [hypotheses[0].log_probabilities for hypotheses in found]
    if "mask" in read[0].request.without or not all(log_p):  # else the search knows them
        log_p_of = piece_log_probabilities(shipped.model, hidden)
        log_p = log_p_of.gather(2, padded(wanted).to(source.tokens.device)[:, :, None])[:, :, 0].cpu().numpy()
    decoder = trace.stack("decoder/*/self/weights")
    cross = trace.stack("decoder/*/cross/weights")
    result = []
    for row, (one, hypotheses) in enumerate(zip(read, found, strict=True)):
        n, m = len(one.pieces.ids), len(wanted[row])
        result.append(
            Explanation(
                **told(shipped, one.pieces, hypotheses, log_p[row][:m], float(one.request.alpha)),
                encoder=frozen(encoder[:, row, :, :n, :n]),
                decoder=frozen(decoder[:, row, :, :m, :m]),
                cross=frozen(cross[:, row, :, :m, :n]),
            )
        )
    return result


def _group(one: _Read) -> object:
    return one.request.group()


@torch.no_grad()
def _translated(read: Sequence[_Read]) -> list[Explanation]:
    shipped = load()
    source, encoder = _encoded(read, shipped)
    return _watch(read, _search(read, source, shipped), source, encoder, shipped)


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Translate and watch: one answer per request, in order; an InputError stands where a request could not be read."""
    return together(each(requests, _read), _group, _translated)


def _again(wish: Again) -> _Read:
    return _read(wish.request, list(zip(wish.target, wish.target_space, strict=True)))


@torch.no_grad()
def _measured(read: Sequence[_Read]) -> list[Explanation]:
    shipped = load()
    return _watch(read, [[Hypothesis(one.target, ())] for one in read], *_encoded(read, shipped), shipped)


def measure(wishes: Sequence[Again]) -> list[Explanation | InputError]:
    """Each finished translation read again under what its request changes; one answer per wish, in order. No search is made, so that all
    arrays have the shapes of the run that the translation is of."""
    return together(each(wishes, _again), _group, _measured)


def crossed(wishes: Sequence[Pair]) -> list[Explanation | InputError]:
    """What the Transformer looks at while it reads sentences that another model has translated; one answer per wish, in order."""
    return measure([Again(Request(wish.sentence), wish.target, wish.target_space) for wish in wishes])


Said = list[Step] | Explanation  # of one request in one turn


def generate(requests: Sequence[Request]) -> Iterator[list[Said | InputError | None]]:
    """Translations piece by piece. Each turn works for about 50 ms at most and yields one entry per request: the steps since the last
    turn; at its end the Explanation, or the InputError; None once it is over.

    A request with more than one hypothesis has no order in which its words appear: it gives no steps, only its Explanation.
    """
    yield from turns(each(requests, _read), lambda read: grouped(read, _group, _worked))


def _worked(read: Sequence[_Read]) -> Iterator[dict[int, Said]]:
    return (_ranked if read[0].request.beam > 1 else _written)(read, load())


def _written(read: Sequence[_Read], shipped: Pretrained) -> Iterator[dict[int, Said]]:
    """Greedy translations of one group, in turns: of each row that has news, its steps or its end."""
    with torch.no_grad():
        source, encoder = _encoded(read, shipped)
        search = Greedy(shipped.model, source)
    while not search.done:
        steps: dict[int, Said] = {}
        stopped: list[int] = []

        @torch.no_grad()
        def step(steps: dict[int, Said] = steps, stopped: list[int] = stopped) -> bool:
            for row in search.step():
                tokens, log_p = search.tokens[row], search.log_probabilities[row]
                piece, space = shipped.tokenizer.piece(tokens[-1])
                said = steps.setdefault(row, [])
                assert isinstance(said, list)
                said.append(Step(piece, space, shipped.tokenizer.decode(tokens), log_p[-1]))
                if search.stopped(row):
                    stopped.append(row)
            return not search.done and len(stopped) < TOGETHER

        worked(step, TURN)
        yield steps
        if stopped:
            with torch.no_grad():
                found = [[search.result(row)] for row in stopped]
                seen = _watch([read[row] for row in stopped], found, source.rows(stopped), encoder[:, stopped], shipped)
            yield dict(zip(stopped, seen, strict=True))


def _ranked(read: Sequence[_Read], shipped: Pretrained) -> Iterator[dict[int, Said]]:
    """Beam searches of one group, a step in each turn; their ends in the last."""
    with torch.no_grad():
        source, encoder = _encoded(read, shipped)
    search = beam_steps(shipped.model, source, [one.request.beam for one in read], [one.request.alpha for one in read])
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
