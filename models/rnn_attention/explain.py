"""Explanations of the recurrent translators: they answer a page's requests with arrays and strings
and return no tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from models.data.multi30k import START, Encoded, pad_rows, read_sentence
from models.decoding.beam import EXTRA, Hypothesis, describe_translations
from models.explaining.arrays import freeze
from models.explaining.batching import answer_together, read_each
from models.explaining.errors import InputError
from models.explaining.request_fields import check_places, check_request
from models.rnn_attention.decode import Changes, Decoder, encode_sentences, search
from models.rnn_attention.model import Memory, RecurrentTranslator
from models.rnn_attention.pretrained import Pretrained, load
from models.rnn_attention.records import (
    CONTEXTS,
    DONORS,
    MAX_TOKENS,
    OWN,
    PRODUCTS,
    Explanation,
    Gradients,
    Request,
    Rereading,
    Scales,
)

SIGNS = 16  # random directions in which the last state of an encoder is differentiated

AnswerT = TypeVar("AnswerT")


class _Read(NamedTuple):
    """A request that can be translated.

    target: the tokens of its translation, () if one is searched for.
    """

    request: Request
    pieces: Encoded
    donor: Encoded | None
    target: tuple[int, ...] = ()

    @property
    def limit(self) -> int:
        """The most pieces of the translation."""
        return len(self.pieces.ids) + EXTRA


def _read(request: Request, target: Sequence[tuple[str, bool]] = ()) -> _Read:
    """Check a request and split its sentences into pieces.

    Raise InputError with the given value and the accepted ones.
    """
    check_request(request)
    tokenizer = load(request.network).tokenizer
    pieces = read_sentence(request.sentence, tokenizer, MAX_TOKENS)
    donor = (
        None
        if request.donor == OWN
        else read_sentence(DONORS[request.donor], tokenizer, MAX_TOKENS)
    )
    if request.variant == "none" and (request.words or request.context in ("uniform", "frozen")):
        raise InputError(
            "no_weights",
            en="This model has no weights to move: it reads the same vector before every word.",
            zh="该模型没有可以移动的权重：它在每个词之前读的都是同一个向量。",
        )
    one = _Read(
        request, pieces, donor, tuple(tokenizer.find_token(piece, space) for piece, space in target)
    )
    check_places("words", request.words, len(pieces.ids))
    check_places("rows", request.rows, one.limit)
    return one


def _changes(read: Sequence[_Read], width: int, device: torch.device) -> Changes | None:
    """Return the changes of some requests, one row each; None if there are none.

    width: source positions of the batch.
    """
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
    """Return the encoder's output for some requests, with the last states of their donors instead
    of their own."""
    memory = encode_sentences(model, [one.pieces.ids for one in read])
    given = {row: one.donor.ids for row, one in enumerate(read) if one.donor is not None}
    if not given:
        return memory
    last = memory.last.clone()
    last[list(given)] = encode_sentences(model, list(given.values())).last
    return memory._replace(last=last)


def _watch(
    trained: Pretrained,
    read: Sequence[_Read],
    found: Sequence[Sequence[Hypothesis]],
    memory: Memory,
) -> list[Explanation]:
    """Explain the first hypothesis of each request from a traced pass over translations."""
    model, device = trained.model, memory.last.device
    wanted = [hypotheses[0].tokens for hypotheses in found]
    inputs, outputs = (
        pad_rows([(START, *tokens[:-1]) for tokens in wanted]).to(device),
        pad_rows(wanted).to(device),
    )
    decoder = Decoder(model, memory, _changes(read, memory.allowed.shape[1], device))
    log_p = torch.stack(
        [
            decoder.step(inputs[:, t]).gather(1, outputs[:, t, None])[:, 0]
            for t in range(inputs.shape[1])
        ],
        1,
    )
    result = []
    for row, (one, hypotheses) in enumerate(zip(read, found, strict=True)):
        n, m = len(one.pieces.ids), len(wanted[row])
        weights, scores, shares = _of_row(decoder, memory, row, n, m)
        about = describe_translations(
            trained, one.pieces, hypotheses, log_p[row, :m], float(one.request.alpha)
        )
        result.append(
            Explanation(
                **about,
                weights=weights,
                scores=scores,
                shares=shares,
                remains=_remains(model, one.pieces.ids),
            )
        )
    return result


def _of_row(
    decoder: Decoder, memory: Memory, row: int, n: int, m: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return the weights, scores and shares of c_t of one sentence, (target, source) each; without
    rows if there is no attention."""
    seen = [
        (one.weights[row, :n], one.scores[row, :n])
        for one in decoder.steps[:m]
        if one.weights is not None and one.scores is not None
    ]
    if not seen:
        nothing = freeze(torch.zeros(0, n))
        return nothing, nothing, nothing
    weights, scores = torch.stack([w for w, _ in seen]), torch.stack([s for _, s in seen])
    contexts = torch.stack([one.context[row] for one in decoder.steps[:m]])
    along = contexts @ memory.states[row, :n].t() * weights  # α_tj h_j · c_t
    return (
        freeze(weights),
        freeze(scores),
        freeze(along / contexts.square().sum(1, keepdim=True).clamp_min(1e-12)),
    )


def _remains(model: RecurrentTranslator, tokens: Sequence[int]) -> NDArray[np.float32]:
    """Return ‖∂h/∂x_j‖ of the last state of each direction, divided by their sum, (direction,
    source).

    The norm is estimated with random directions of ±1.
    """
    with torch.enable_grad():
        rows = torch.tensor([tokens] * (2 * SIGNS), device=model.embedding.weight.device)
        words = model.words(rows).detach().requires_grad_()
        last = model.encode(words, torch.ones_like(rows, dtype=torch.bool)).last
        signs = (
            torch.randint(0, 2, last.shape, generator=torch.Generator().manual_seed(0)).to(last) * 2
            - 1
        )
        half = last.shape[1] // 2
        signs[:SIGNS, half:] = 0  # the first rows differentiate →h, the others ←h
        signs[SIGNS:, :half] = 0
        (found,) = torch.autograd.grad((last * signs).sum(), words)
    norms = found.square().sum(2).view(2, SIGNS, -1).mean(1).sqrt()
    return freeze(norms / norms.sum(1, keepdim=True))


def _answer_by_model(
    found: Sequence[_Read | InputError],
    answer: Callable[[Pretrained, Sequence[_Read]], Sequence[AnswerT]],
) -> list[AnswerT | InputError]:
    """Answer the readable requests, those of one model in one batch; an InputError takes the place
    of each other one."""
    return answer_together(
        found,
        lambda one: one.request.network,
        lambda read: answer(load(read[0].request.network), read),
    )


@torch.no_grad()
def _translate_group(trained: Pretrained, read: Sequence[_Read]) -> list[Explanation]:
    memory = _memory(trained.model, read)
    changes = _changes(read, memory.allowed.shape[1], memory.last.device)
    beams, alphas = [one.request.beam for one in read], [one.request.alpha for one in read]
    return _watch(
        trained,
        read,
        search(trained.model, memory, [one.limit for one in read], beams, alphas, changes),
        memory,
    )


@torch.no_grad()
def _measure_group(trained: Pretrained, read: Sequence[_Read]) -> list[Explanation]:
    return _watch(
        trained, read, [[Hypothesis(one.target, ())] for one in read], _memory(trained.model, read)
    )


def _norms(model: RecurrentTranslator, one: _Read) -> NDArray[np.float32]:
    """Return the gradient norms of a translation.

    Its outputs are placed side by side, one row each, so that one pass forward and one backward
    give all gradients.
    """
    count, device = len(one.target), model.embedding.weight.device
    rows = torch.tensor([one.pieces.ids] * count, device=device)
    words = model.words(rows).detach().requires_grad_()
    decoder = Decoder(model, model.encode(words, torch.ones_like(rows, dtype=torch.bool)))
    inputs = (START, *one.target[:-1])
    log_p = [
        decoder.step(torch.full((count,), inputs[t], device=device))[t, one.target[t]]
        for t in range(count)
    ]
    (found,) = torch.autograd.grad(torch.stack(log_p).sum(), words)
    return freeze(found.norm(dim=2))


def _gradients(trained: Pretrained, read: Sequence[_Read]) -> list[Gradients]:
    other = "additive" if trained.model.config.score == "none" else "none"
    beside = load(other).model
    return [Gradients(_norms(trained.model, one), other, _norms(beside, one)) for one in read]


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Translate and explain each request, in order.

    An InputError takes the place of a request that cannot be read.
    """
    return _answer_by_model(read_each(requests, _read), _translate_group)


def _read_again(wish: Rereading) -> _Read:
    return _read(wish.request, list(zip(wish.target, wish.target_space, strict=True)))


def measure(wishes: Sequence[Rereading]) -> list[Explanation | InputError]:
    """Read each finished translation again under the changes of its request, in order."""
    return _answer_by_model(read_each(wishes, _read_again), _measure_group)


def compare_scales(wishes: Sequence[Rereading]) -> list[Scales | InputError]:
    """Read each translation in the network that divides its scores and in the one that does not;
    one answer per wish, in order."""
    return [_both_scales(wish) for wish in wishes]


def _both_scales(wish: Rereading) -> Scales | InputError:
    product = wish.request.variant if wish.request.variant in PRODUCTS else PRODUCTS[0]
    plain = replace(wish.request.plain(), variant=product)
    found = measure(
        [replace(wish, request=replace(plain, divided=divided)) for divided in (True, False)]
    )
    spreads, largest = [], []
    for seen in found:
        if isinstance(seen, InputError):
            return seen
        spreads.append(np.ptp(seen.scores, axis=1))
        largest.append(seen.weights.max(1))
    return Scales(product, freeze(np.stack(spreads)), freeze(np.stack(largest)))


def gradients(wishes: Sequence[Rereading]) -> list[Gradients | InputError]:
    """Return the effect of each word on each output of a finished translation, one answer per
    request, in order."""
    return _answer_by_model(read_each(wishes, _read_again), _gradients)
