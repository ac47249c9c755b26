"""A run of parallel translation in a few lines: it writes "Zwei Mann Mann .", then "Zwei Männer
gehen ."."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.explaining.shared_records import Array, Retranslated
from models.nonautoregressive.records import EXAMPLES, Explanation, Joint, Neighbours, Request

SOURCE = ("Two", "men", "walk", ".")
FIRST, SECOND = ("Zwei", "Mann", "Mann", "."), ("Zwei", "Männer", "gehen", ".")
OWN = 4


def explanation(request: Request = EXAMPLES[0]) -> Explanation:
    """Two passes; more pieces are full stops, fewer are left out; what is pinned stands, what is
    masked again takes a third pass."""
    n = OWN + request.offset
    held = {at: piece.removeprefix("▁") for at, piece in request.pinned}
    rows = [[*one, *["."] * n][:n] for one in (FIRST, SECOND, SECOND)][: 3 if request.again else 2]
    pieces = tuple(tuple(held.get(at, piece) for at, piece in enumerate(row)) for row in rows)
    passes, free = len(pieces), np.array([at not in held for at in range(n)])
    masked = np.array(
        [free, free & np.isin(np.arange(n), (1, 2)), free & np.isin(np.arange(n), request.again)]
    )[:passes]
    written = np.array([[0.9, 0.4, 0.3, 0.8], [0.5, 0.7, 0.6, 0.5], [0.95] * 4])[:passes]
    written = np.pad(written, ((0, 0), (0, max(0, n - 4))), constant_values=0.5)[:, :n]
    confidence = np.ones((passes, n))
    for t in range(passes):
        confidence[t] = np.where(masked[t], written[t], confidence[t - 1] if t else 1)
    tokens = np.array(pieces)
    changed = np.concatenate([np.ones((1, n), bool), tokens[1:] != tokens[:-1]])
    spaces = np.array([[piece != "." for piece in row] for row in pieces])
    log_p = np.log(confidence[-1]).astype(np.float32)
    uniform = np.full((passes, 2, 2, n, n), 1 / n, np.float32)
    lengths = np.zeros(32, np.float32)
    lengths[[14, 15, 16, 17, 18]] = (0.05, 0.15, 0.5, 0.2, 0.1)
    return Explanation(
        source=SOURCE,
        source_space=(True, True, True, False),
        target=pieces[-1],
        target_space=tuple(spaces[-1].tolist()),
        text=" ".join(pieces[-1]).replace(" .", "."),
        log_probabilities=log_p,
        log_probability=float(log_p.sum()),
        unknown=0,
        ran=2,
        pieces=pieces,
        spaces=spaces,
        masked=masked,
        confidence=confidence.astype(np.float32),
        repeats=np.pad(tokens[:, 1:] == tokens[:, :-1], ((0, 0), (1, 0))),
        candidates=tuple(tuple((piece, "ein", "eine") for piece in row) for row in pieces),
        candidate_p=np.stack([confidence, 0.1 + 0 * confidence, 0.05 + 0 * confidence], -1).astype(
            np.float32
        ),
        settled=passes - 1 - changed[::-1].argmax(0),
        encoder=np.full((2, 2, 4, 4), 0.25, np.float32),
        decoder=uniform,
        cross=np.full((passes, 2, 2, n, 4), 0.25, np.float32),
        lengths=lengths,
        shortest=OWN - 16,
        ends_ms=np.array([2.0, 4.0, 6.0, 8.0][: 1 + passes], np.float32),
        greedy_target=(*SECOND, "</s>"),
        greedy_log_probabilities=np.log(np.array([0.9, 0.8, 0.7, 0.9, 0.95], np.float32)),
        greedy_ends_ms=np.array([1.5, 3.5, 5.5, 7.5, 9.5, 12.0], np.float32),
    )


def explain(requests: Sequence[Request]) -> list[Explanation]:
    """As the lab's own engine function."""
    return [explanation(one) for one in requests]


def joint(wish: Neighbours) -> Joint:
    """Two neighbours of whom either takes "Mann" or "Männer"; one after the other they are never
    the same."""
    pieces = ("Mann", "Männer", "gehen", "stehen", "ein")
    p = np.array([0.4, 0.3, 0.2, 0.1, 0.0], np.float32)
    both = np.outer(p, p).astype(np.float32)
    known = np.zeros((5, 5), np.float32)
    known[1, 2] = 0.6
    return Joint(pieces, pieces, np.eye(5, dtype=np.bool_), both, known, "Zwei")


def reread(wishes: Sequence[Retranslated]) -> list[Array]:
    """As the lab's own engine function: pieces that are in sight are not read, the others have less
    than half as much with each change."""
    found = []
    for wish in wishes:
        request, n = wish.request, len(wish.target)
        logs = np.full(
            n, -1.0 - bool(request.offset or request.pinned or request.again), np.float32
        )
        hidden = [
            at
            for at in range(n)
            if at in dict(request.pinned) or (request.again and at not in request.again)
        ]
        logs[hidden] = np.nan
        found.append(logs)
    return found
