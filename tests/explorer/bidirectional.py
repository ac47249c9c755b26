"""A run of the two encoders in a few lines: whatever is hidden is guessed at once from both sides,
and late from one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.bert.records import PATTERNS, Explanation, Guess, Request

SHIP = Request("The captain steered his ship", hidden=(2,))


def _pieces(text: str) -> tuple[str, ...]:
    return ("[CLS]", *text.lower().rstrip(".").split(), "[SEP]") if text else ()


def explanation(request: Request = SHIP) -> Explanation:
    """As the lab's own engine function. Drawn as in training, the first three pieces are hidden,
    replaced and kept."""
    pieces, other = _pieces(request.text), _pieces(request.other)
    n, (layers, heads) = len(pieces), (6, 12) if request.variant == "minilm" else (4, 4)
    word = np.array([-1, *range(n - 2), -1])
    drawn = np.where(np.isin(word, request.hidden), 1, 0)
    if request.way == "draw":
        drawn = np.array([0, 1, 2, 3, *[0] * n][:n])
    rng = np.random.default_rng(n)
    true = np.array([0.1 if request.silenced else 0.4, 0.02, 0.03], np.float32)

    def guess(at: int) -> Guess:
        first, late = (pieces[at], "was", "had"), ("was", "had", pieces[at])
        p = np.array([[true[0], 0.05, 0.01], [0.2, 0.1, true[1]], [0.2, 0.1, true[2]]], np.float32)
        numbers = np.array([[9, 1, 2], [1, 2, 9], [1, 2, 9]])
        return Guess(at, pieces[at], 9, (first, late, late), numbers, p, true)

    shares = np.full((n, len(other)), 0.8 / max(1, n * len(other)), np.float32)
    vector = np.eye(8, dtype=np.float32)[: 2 if other else 1]
    return Explanation(
        variant=request.variant,
        pieces=pieces,
        read=tuple(
            {0: piece, 1: "[MASK]", 2: "pig", 3: piece}[int(one)]
            for one, piece in zip(drawn, pieces, strict=True)
        ),
        word=word,
        unknown=np.zeros(n, bool),
        folded=True,
        drawn=drawn,
        allowed=np.arange(n)
        <= (min(request.hidden, default=n) + 1 if request.side == "left" else n),
        guesses=tuple(guess(at) for at in np.flatnonzero(drawn).tolist())
        if request.variant == "mlm"
        else (),
        nats=np.array([0, *[2.0 if request.silenced else 1.0] * (n - 2), 0], np.float32),
        weights=rng.dirichlet(np.ones(n) * 0.3, (layers, heads, n)).astype(np.float16),
        norms=np.ones((layers, heads, n), np.float32),
        patterns=np.full((layers, heads, len(PATTERNS)), 0.25, np.float32),
        other=other,
        similarity=0.8 if other else None,
        shares=shares,
        vectors=vector,
    )


def explain(requests: Sequence[Request]) -> list[Explanation]:
    """As the lab's own engine function."""
    return [explanation(one) for one in requests]
