"""What a page asks of the recurrent translators, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from models.arrays import frozen
from models.beam import EXTRA, Hypothesis, told
from models.errors import InputError
from models.fields import check, check_places
from models.multi30k import START, Encoded, padded, readable
from models.rnn_attention.decode import Changes, Decoder, encoded, search
from models.rnn_attention.model import Memory, RecurrentTranslator
from models.rnn_attention.pretrained import Pretrained, load
from models.rnn_attention.records import CONTEXTS, DONORS, MAX_TOKENS, OWN, Again, Explanation, Gradients, Request
from models.turns import each, together

SIGNS = 16  # random directions in which the last state of an encoder is differentiated

AnswerT = TypeVar("AnswerT")


class _Read(NamedTuple):
    """A request that can be translated. target: the tokens of the translation that it is about, () where one is searched for."""

    request: Request
    pieces: Encoded
    donor: Encoded | None
    target: tuple[int, ...] = ()

    @property
    def limit(self) -> int:
        """The most pieces of the translation."""
        return len(self.pieces.ids) + EXTRA


def _read(request: Request, target: Sequence[tuple[str, bool]] = ()) -> _Read:
    """Check a request and split its sentences into pieces. InputError says what was given and what is accepted."""
    check(request)
    tokenizer = load(request.variant).tokenizer
    pieces = readable(request.sentence, tokenizer, MAX_TOKENS)
    donor = None if request.donor == OWN else readable(DONORS[request.donor], tokenizer, MAX_TOKENS)
    if request.variant == "none" and (request.words or request.context in ("uniform", "frozen")):
        raise InputError(
            "no_weights",
            en="This model has no weights to move: it reads the same vector before every word.",
            zh="该模型没有可以移动的权重：它在每个词之前读的都是同一个向量。",
        )
    one = _Read(request, pieces, donor, tuple(tokenizer.token(piece, space) for piece, space in target))
    check_places("words", request.words, len(pieces.ids))
    check_places("rows", request.rows, one.limit)
    return one


def _changes(read: Sequence[_Read], width: int, device: torch.device) -> Changes | None:
    """What some requests change, a row each; None where none does. width: source positions of the batch."""
    if all(one.request.context == "attended" and not one.request.words for one in read):
        return None
    words = torch.zeros(len(read), width)
    at = torch.zeros(len(read), max(one.limit for one in read), dtype=torch.bool)
    for row, one in enumerate(read):
        if one.request.words:
            words[row, list(one.request.words)] = 1 / len(set(one.request.words))
            at[row, list(one.request.rows) or slice(None)] = True
    context = torch.tensor([CONTEXTS.index(one.request.context) for one in read])
    return Changes(words.to(device), at.to(device), context.to(device))


def _memory(model: RecurrentTranslator, read: Sequence[_Read]) -> Memory:
    """What the encoder leaves of some requests, the last states of their donors in place of their own."""
    memory = encoded(model, [one.pieces.ids for one in read])
    given = {row: one.donor.ids for row, one in enumerate(read) if one.donor is not None}
    if not given:
        return memory
    last = memory.last.clone()
    last[list(given)] = encoded(model, list(given.values())).last
    return memory._replace(last=last)


def _watch(trained: Pretrained, read: Sequence[_Read], found: Sequence[Sequence[Hypothesis]], memory: Memory) -> list[Explanation]:
    """One watched pass over finished translations: what each request's first hypothesis looks like from inside."""
    model, device = trained.model, memory.last.device
    wanted = [hypotheses[0].tokens for hypotheses in found]
    inputs, outputs = padded([(START, *tokens[:-1]) for tokens in wanted]).to(device), padded(wanted).to(device)
    decoder = Decoder(model, memory, _changes(read, memory.allowed.shape[1], device))
    log_p = torch.stack([decoder.step(inputs[:, t]).gather(1, outputs[:, t, None])[:, 0] for t in range(inputs.shape[1])], 1)
    result = []
    for row, (one, hypotheses) in enumerate(zip(read, found, strict=True)):
        n, m = len(one.pieces.ids), len(wanted[row])
        weights, scores, shares = _of_row(decoder, memory, row, n, m)
        about = told(trained, one.pieces, hypotheses, log_p[row, :m], float(one.request.alpha))
        result.append(Explanation(**about, weights=weights, scores=scores, shares=shares, remains=_remains(model, one.pieces.ids)))
    return result


def _of_row(
    decoder: Decoder, memory: Memory, row: int, n: int, m: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Weights, scores and shares of c_t of one sentence, (target, source) each; without rows where there is no attention."""
    seen = [(one.weights[row, :n], one.scores[row, :n]) for one in decoder.steps[:m] if one.weights is not None and one.scores is not None]
    if not seen:
        nothing = frozen(torch.zeros(0, n))
        return nothing, nothing, nothing
    weights, scores = torch.stack([w for w, _ in seen]), torch.stack([s for _, s in seen])
    contexts = torch.stack([one.context[row] for one in decoder.steps[:m]])
    along = contexts @ memory.states[row, :n].t() * weights  # α_tj h_j · c_t
    return frozen(weights), frozen(scores), frozen(along / contexts.square().sum(1, keepdim=True).clamp_min(1e-12))


def _remains(model: RecurrentTranslator, tokens: Sequence[int]) -> NDArray[np.float32]:
    """(direction, source): ‖∂h/∂x_j‖ of the last state of each direction, over their sum; the norm by random directions of ±1."""
    with torch.enable_grad():
        rows = torch.tensor([tokens] * (2 * SIGNS), device=model.embedding.weight.device)
        words = model.words(rows).detach().requires_grad_()
        last = model.encode(words, torch.ones_like(rows, dtype=torch.bool)).last
        signs = torch.randint(0, 2, last.shape, generator=torch.Generator().manual_seed(0)).to(last) * 2 - 1
        half = last.shape[1] // 2
        signs[:SIGNS, half:] = 0  # the first rows differentiate →h, the others ←h
        signs[SIGNS:, :half] = 0
        (found,) = torch.autograd.grad((last * signs).sum(), words)
    norms = found.square().sum(2).view(2, SIGNS, -1).mean(1).sqrt()
    return frozen(norms / norms.sum(1, keepdim=True))


def _answered(
    found: Sequence[_Read | InputError], answer: Callable[[Pretrained, Sequence[_Read]], Sequence[AnswerT]]
) -> list[AnswerT | InputError]:
    """One answer for each that can be read, those of one model in one batch; an InputError stands in the place of the others."""
    return together(found, lambda one: one.request.variant, lambda read: answer(load(read[0].request.variant), read))


@torch.no_grad()
def _translated(trained: Pretrained, read: Sequence[_Read]) -> list[Explanation]:
    memory = _memory(trained.model, read)
    changes = _changes(read, memory.allowed.shape[1], memory.last.device)
    beams, alphas = [one.request.beam for one in read], [one.request.alpha for one in read]
    return _watch(trained, read, search(trained.model, memory, [one.limit for one in read], beams, alphas, changes), memory)


@torch.no_grad()
def _measured(trained: Pretrained, read: Sequence[_Read]) -> list[Explanation]:
    return _watch(trained, read, [[Hypothesis(one.target, ())] for one in read], _memory(trained.model, read))


def _norms(model: RecurrentTranslator, one: _Read) -> NDArray[np.float32]:
    """The outputs of a translation side by side, a row each: one pass forwards and one backwards give all their gradients."""
    count, device = len(one.target), model.embedding.weight.device
    rows = torch.tensor([one.pieces.ids] * count, device=device)
    words = model.words(rows).detach().requires_grad_()
    decoder = Decoder(model, model.encode(words, torch.ones_like(rows, dtype=torch.bool)))
    inputs = (START, *one.target[:-1])
    log_p = [decoder.step(torch.full((count,), inputs[t], device=device))[t, one.target[t]] for t in range(count)]
    (found,) = torch.autograd.grad(torch.stack(log_p).sum(), words)
    return frozen(found.norm(dim=2))


def _gradients(trained: Pretrained, read: Sequence[_Read]) -> list[Gradients]:
    other = "additive" if trained.model.config.score == "none" else "none"
    beside = load(other).model
    return [Gradients(_norms(trained.model, one), other, _norms(beside, one)) for one in read]


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Translate and watch: one answer per request, in order; an InputError stands where a request could not be read."""
    return _answered(each(requests, _read), _translated)


def _again(wish: Again) -> _Read:
    return _read(wish.request, list(zip(wish.target, wish.target_space, strict=True)))


def measure(wishes: Sequence[Again]) -> list[Explanation | InputError]:
    """Each finished translation read again under what its request changes; one answer per wish, in order."""
    return _answered(each(wishes, _again), _measured)


def gradients(wishes: Sequence[Again]) -> list[Gradients | InputError]:
    """How much each word bears on each output of a finished translation; one answer per wish, in order."""
    return _answered(each(wishes, _again), _gradients)
