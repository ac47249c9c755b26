"""A sentence and its words in another order, read with and without the signal that tells where a word stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from models.arrays import frozen
from models.beam import EXTRA, beam_steps, finished
from models.encoder_decoder import AS_PUBLISHED, Changes
from models.errors import InputError
from models.fields import check
from models.layers.positional import sinusoids
from models.multi30k import Encoded, cleaned
from models.searching import Cache
from models.translation.explain import explain
from models.translation.position_records import TEXTBOOK, Positions, Shuffle, TwoOrders
from models.translation.pretrained import Pretrained, load
from models.translation.records import MAX_TOKENS, Explanation, Request
from models.turns import after


def positions(requests: Sequence[Shuffle]) -> list[Positions | InputError]:
    """One answer per request, in order. InputError as from `explain`, and where there are no two different words to change places.

    Without the signal an encoder layer treats all positions alike: what it makes of a word depends on which other words there are, not on
    where they stand. So a shuffled sentence gives the same vectors in another order, up to the rounding of sums.
    """
    return after(requests, explain([Request(request.sentence) for request in requests]), _answer)


def _answer(request: Shuffle, seen: Explanation) -> Positions:
    check(request)
    shipped = load()
    pieces = shipped.tokenizer.encode(cleaned(request.sentence))
    return _both(pieces, shuffled(pieces, request.seed), seen.text, shipped)


def shuffled(pieces: Encoded, seed: int) -> tuple[int, ...]:
    """Where each piece of the shuffled text stood: whole words change places, punctuation marks keep theirs.

    The same seed gives the same order; it is never the text's own. InputError for a text that has no two different words.
    """
    words = _words(pieces)
    moving = [i for i, word in enumerate(words) if any(letter.isalnum() for letter in pieces.pieces[word[0]])]
    spelled = {i: tuple(pieces.ids[piece] for piece in words[i]) for i in moving}
    if len(set(spelled.values())) < 2:
        raise InputError(
            "one_word",
            en=f"There is nothing to shuffle: your text has {len(moving)} word{'s' * (len(moving) != 1)}, and it takes two different ones.",
            zh=f"无法打乱：您的文本有 {len(moving)} 个词，至少需要两个不同的词。",
        )
    rng = np.random.default_rng(seed)
    while True:
        places = iter(rng.permutation(moving).tolist())
        chosen = [next(places) if i in spelled else i for i in range(len(words))]
        if any(spelled[i] != spelled[chosen[i]] for i in moving):
            return tuple(piece for i in chosen for piece in words[i])


def _words(pieces: Encoded) -> list[list[int]]:
    """Which pieces belong together: a word begins after a space, and at or behind a punctuation mark."""
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
    """text: the translation of the sentence as it stands, which is known already."""
    model = shipped.model
    device = model.embedding.weight.device
    tokens = torch.tensor([pieces.ids, [pieces.ids[i] for i in order]], device=device)
    allowed = torch.ones_like(tokens, dtype=torch.bool)
    signal, silence = (model.encode(tokens, allowed, changes=changes) for changes in (AS_PUBLISHED, Changes(positional=False)))
    texts = _greedy(torch.stack((signal[1], silence[0], silence[1])), len(order) + EXTRA, shipped)
    return Positions(
        source=pieces.pieces,
        source_space=pieces.space,
        order=order,
        size=float(signal[0].norm(dim=1).mean()),
        signal=_compared(signal, order, text, texts[0]),
        silence=_compared(silence, order, *texts[1:]),
        own=frozen(model.positions[:MAX_TOKENS]),
        textbook=frozen(sinusoids(*TEXTBOOK)),
    )


def _compared(vectors: Tensor, order: tuple[int, ...], before: str, after: str) -> TwoOrders:
    """vectors: (2, piece, d_model), the sentence in its own order and shuffled."""
    apart = vectors[1] - vectors[0][list(order)]
    return TwoOrders(frozen(apart.norm(dim=1)), float(apart.abs().max()), before, after)


def _greedy(memory: Tensor, limit: int, shipped: Pretrained) -> list[str]:
    """Greedy translations of what the encoder gave, (text, source, d_model), whatever that was made of."""
    allowed = torch.ones(memory.shape[:2], dtype=torch.bool, device=memory.device)
    rows = len(memory)
    search = beam_steps(lambda _wide: Cache(shipped.model, memory, allowed, limit), [limit] * rows, 1, [0.0] * rows, memory.device)
    return [shipped.tokenizer.decode(best.tokens) for (best, *_) in finished(search)]
