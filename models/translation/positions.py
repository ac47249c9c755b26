"""A sentence in two orders of words, read with and without the position signal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from models.data.multi30k import Encoded, clean_sentence
from models.decoding.beam import EXTRA, finish_search, search_in_steps
from models.decoding.translation_search import SearchCache
from models.explaining.arrays import freeze
from models.explaining.batching import answer_after
from models.explaining.errors import InputError
from models.explaining.request_fields import check_request
from models.layers.positional import sinusoids
from models.networks.encoder_decoder import AS_PUBLISHED, Changes
from models.translation.explain import explain
from models.translation.position_records import TEXTBOOK, Positions, Shuffle, TwoOrders
from models.translation.pretrained import Pretrained, load
from models.translation.records import MAX_TOKENS, Explanation, Request


def positions(requests: Sequence[Shuffle]) -> list[Positions | InputError]:
    """Read each sentence in two orders.

    An InputError is that of `explain`, or reports that there are no two different words to
    exchange. Without the signal, an encoder layer treats all positions alike: its output for a word
    depends on the set of other words, not on their order. A shuffled sentence therefore gives the
    same vectors in another order, up to the rounding of sums.
    """
    return answer_after(
        requests, explain([Request(request.sentence) for request in requests]), _answer
    )


def _answer(request: Shuffle, explanation: Explanation) -> Positions:
    check_request(request)
    shipped = load()
    pieces = shipped.tokenizer.encode(clean_sentence(request.sentence))
    return _both(pieces, shuffle_words(pieces, request.seed), explanation.text, shipped)


def shuffle_words(pieces: Encoded, seed: int) -> tuple[int, ...]:
    """Return the original place of each piece in the shuffled text: whole words change places,
    punctuation marks keep theirs.

    The same seed gives the same order, which is never the text's own. Raise InputError if a text
    has no two different words.
    """
    words = _words(pieces)
    moving = [
        i
        for i, word in enumerate(words)
        if any(letter.isalnum() for letter in pieces.pieces[word[0]])
    ]
    spelled = {i: tuple(pieces.ids[piece] for piece in words[i]) for i in moving}
    if len(set(spelled.values())) < 2:
        raise InputError(
            "one_word",
            en=(
                f"There is nothing to shuffle: your text has {len(moving)}"
                f" word{'s' * (len(moving) != 1)}, and it takes two different ones."
            ),
            zh=f"无法打乱：您的文本有 {len(moving)} 个词，至少需要两个不同的词。",
        )
    rng = np.random.default_rng(seed)
    while True:
        places = iter(rng.permutation(moving).tolist())
        chosen = [next(places) if i in spelled else i for i in range(len(words))]
        if any(spelled[i] != spelled[chosen[i]] for i in moving):
            return tuple(piece for i in chosen for piece in words[i])


def _words(pieces: Encoded) -> list[list[int]]:
    """Return the pieces of each word: a word starts after a space, and at or after a punctuation
    mark."""
    words: list[list[int]] = []
    after_mark = False
    for i, (piece, space) in enumerate(zip(pieces.pieces, pieces.space, strict=True)):
        mark = not any(letter.isalnum() for letter in piece)
        if not words or space or mark or after_mark:
            words.append([])
        words[-1].append(i)
        after_mark = mark
    return words


@torch.no_grad()
def _both(pieces: Encoded, order: tuple[int, ...], text: str, shipped: Pretrained) -> Positions:
    """Compare both orders with and without the signal.

    text: the known translation of the sentence in its own order.
    """
    model = shipped.model
    device = model.embedding.weight.device
    tokens = torch.tensor([pieces.ids, [pieces.ids[i] for i in order]], device=device)
    allowed = torch.ones_like(tokens, dtype=torch.bool)
    signal, silence = (
        model.encode(tokens, allowed, changes=changes)
        for changes in (AS_PUBLISHED, Changes(positional=False))
    )
    texts = _greedy(torch.stack((signal[1], silence[0], silence[1])), len(order) + EXTRA, shipped)
    return Positions(
        source=pieces.pieces,
        source_space=pieces.space,
        order=order,
        size=float(signal[0].norm(dim=1).mean()),
        signal=_compare_orders(signal, order, text, texts[0]),
        silence=_compare_orders(silence, order, *texts[1:]),
        own=freeze(model.positions[:MAX_TOKENS]),
        textbook=freeze(sinusoids(*TEXTBOOK)),
    )


def _compare_orders(vectors: Tensor, order: tuple[int, ...], before: str, after: str) -> TwoOrders:
    """Compare the vectors of the sentence in its own order and shuffled.

    vectors: (2, piece, d_model).
    """
    apart = vectors[1] - vectors[0][list(order)]
    return TwoOrders(freeze(apart.norm(dim=1)), float(apart.abs().max()), before, after)


def _greedy(memory: Tensor, limit: int, shipped: Pretrained) -> list[str]:
    """Return greedy translations of the encoder's output.

    memory: (text, source, d_model).
    """
    allowed = torch.ones(memory.shape[:2], dtype=torch.bool, device=memory.device)
    rows = len(memory)
    search = search_in_steps(
        lambda _wide: SearchCache(shipped.model, memory, allowed, limit),
        [limit] * rows,
        1,
        [0.0] * rows,
        memory.device,
    )
    return [shipped.tokenizer.decode(best.tokens) for (best, *_) in finish_search(search)]
