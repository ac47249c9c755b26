"""Teacher forcing: a given German sentence is read word by word, and each word is scored at its
position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from models.data.multi30k import START, STOP, UNKNOWN, Encoded, clean_sentence
from models.decoding.translation_search import piece_log_probabilities
from models.explaining.arrays import freeze
from models.explaining.batching import answer_after
from models.explaining.errors import InputError
from models.explaining.trace import Trace
from models.translation.explain import explain
from models.translation.forced_records import FAVOURITES, Forced, Reading
from models.translation.pretrained import Pretrained, load
from models.translation.records import MAX_CHARACTERS, MAX_TOKENS, Explanation, Request


def score_forced(requests: Sequence[Reading]) -> list[Forced | InputError]:
    """Score each request, in order.

    An InputError is that of `explain`, or reports German that is empty, too long, or has unknown
    letters.
    """
    read = explain([Request(request.sentence) for request in requests])
    return answer_after(requests, read, lambda request, seen: _read(request, seen, load()))


def german_pieces(text: str, shipped: Pretrained) -> Encoded:
    """Return the pieces of a German text.

    Raise InputError with the given value and the accepted ones.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            "too_long",
            en=(
                f"Your German has {len(text):,} characters; at most {MAX_CHARACTERS:,} characters"
                f" and {MAX_TOKENS} word pieces can be read."
            ),
            zh=(
                f"您的德文有 {len(text):,} 个字符；最多可读取 {MAX_CHARACTERS:,}"
                f" 个字符、{MAX_TOKENS} 个词片。"
            ),
        )
    plain = clean_sentence(text)
    if not plain:
        raise InputError(
            "empty",
            en="The German text is empty: type a German sentence.",
            zh="德文为空：请输入一个德文句子。",
        )
    pieces = shipped.tokenizer.encode(plain)
    if len(pieces.ids) > MAX_TOKENS:
        raise InputError(
            "too_long",
            en=(
                f"Your German has {len(pieces.ids)} word pieces ({len(plain.split())} words); at"
                f" most {MAX_TOKENS} pieces, about 40 words, can be read."
            ),
            zh=(
                f"您的德文有 {len(pieces.ids)} 个词片（{len(plain.split())} 个词）；最多可读取"
                f" {MAX_TOKENS} 个词片，约 40 个词。"
            ),
        )
    strange = list(
        dict.fromkeys(
            piece
            for token, piece in zip(pieces.ids, pieces.pieces, strict=True)
            if token == UNKNOWN
        )
    )
    if strange:
        named = (
            "“"
            + "”, “".join(piece[:12] for piece in strange[:3])
            + "”"
            + (" …" if len(strange) > 3 else "")
        )
        raise InputError(
            "unknown_letters",
            en=(
                f"The model never writes {named}, so it cannot say how likely that is; German"
                " letters, digits and punctuation are read."
            ),
            zh=f"模型从不写 {named}，因此无法给出概率；可以读取德文字母、数字和标点。",
        )
    return pieces


@torch.no_grad()
def _read(request: Reading, explanation: Explanation, shipped: Pretrained) -> Forced:
    """Run a pair once with a trace; the true piece is the input at every position, whatever the
    model predicts."""
    tokenizer, model = shipped.tokenizer, shipped.model
    text = explanation.text if request.german is None else request.german
    ids = (
        _find_own(explanation, shipped)
        if request.german is None
        else (*german_pieces(text, shipped).ids, STOP)
    )
    device = model.embedding.weight.device
    source = torch.tensor([tokenizer.encode(clean_sentence(request.sentence)).ids], device=device)
    wanted = torch.tensor(ids, device=device)
    trace = Trace("decoder/*/cross/weights")
    hidden = model(
        source,
        torch.tensor([[START, *ids[:-1]]], device=device),
        torch.ones_like(source, dtype=torch.bool),
        trace,
    )
    log_p = piece_log_probabilities(model, hidden)[0]  # (target, vocabulary)
    given = log_p.gather(1, wanted[:, None])
    best, places = log_p.topk(FAVOURITES, dim=1)
    labels = [tokenizer.show_piece(token) for token in ids]
    return Forced(
        source=explanation.source,
        source_space=explanation.source_space,
        target=tuple(piece for piece, _ in labels),
        target_space=tuple(space for _, space in labels),
        german=clean_sentence(text),
        own=explanation.text,
        own_log_probability=explanation.log_probability,
        own_length=len(explanation.target),
        log_probabilities=freeze(given[:, 0].cpu().numpy()),
        ranks=freeze(1 + (log_p > given).sum(1), np.int32),
        favourites=tuple(
            tuple(tokenizer.show_piece(token)[0] for token in row) for row in places.tolist()
        ),
        probabilities=freeze(best.exp().cpu().numpy()),
        cross=freeze(trace.stack("decoder/*/cross/weights")[:, 0]),
    )


def _find_own(explanation: Explanation, shipped: Pretrained) -> tuple[int, ...]:
    return tuple(
        shipped.tokenizer.find_token(piece, space)
        for piece, space in zip(explanation.target, explanation.target_space, strict=True)
    )
