"""Beam search over any decoder that reads one token per row and predicts the next one: whole
batches at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from models.data.multi30k import PAD, START, STOP, UNKNOWN, Encoded, Translator
from models.explaining.arrays import freeze
from models.explaining.shared_records import EXTRA as EXTRA
from models.explaining.shared_records import reason_of

NEVER = (PAD, UNKNOWN, START)  # pieces that no translation contains

FoundT = TypeVar("FoundT")
# pauses after every step; in the end the hypotheses of every sentence
Searching = Generator[None, None, "list[list[Hypothesis]]"]


class DecoderRows(Protocol):
    """A decoder that has read some tokens, the same number in every row of its batch. position: how
    many."""

    position: int

    def step(self, tokens: Tensor) -> Tensor:
        """Read one token per row (row,) and return log p of the next one, (row, vocabulary) in
        nats."""

    def choose(self, rows: Tensor, sentences_change: bool = True) -> None:
        """Go on with these rows (n,), in this order; one may come twice. sentences_change: whether
        a row may now stand with another sentence."""


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation: its tokens, the stop token last, and log p of each in nats."""

    tokens: tuple[int, ...]
    log_probabilities: tuple[float, ...]

    @property
    def log_probability(self) -> float:
        """The log p of the whole translation, nats."""
        return sum(self.log_probabilities)

    def score(self, alpha: float) -> float:
        """Return log p / ((5 + |Y|) / 6)^α, |Y| with the stop token (Wu et al., 2016, eq. 14)."""
        return self.log_probability / length_penalty(len(self.tokens), alpha)

    def extend(self, by: Extension) -> Hypothesis:
        """Return the hypothesis with one piece more."""
        return Hypothesis((*self.tokens, by.token), (*self.log_probabilities, by.log_probability))


class Extension(NamedTuple):
    """A hypothesis and one piece more, as a step of beam search ranked it among others.

    parent: the row of the beam that it extends.
    total: log p of all its pieces, nats; log_probability: of its last one.
    fate: "kept" for the next step, "finished" by the stop token, or "passed" over.
    """

    parent: int
    token: int
    total: float
    log_probability: float
    fate: Literal["kept", "finished", "passed"]


Watch = Callable[[int, Tensor, Sequence[Extension]], None]
"""A function that a beam search calls at every step with the sentence's number, log p of the next
piece for each row of its beam, (row, vocabulary), and the extensions that were ranked, best first.
The kept ones are the rows of the next step, in this order."""


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + |Y|) / 6)^α (Wu et al., 2016, eq. 14)."""
    return float(((5 + length) / 6) ** alpha)


def allow_only_stop(log_p: Tensor, rows: Sequence[int]) -> None:
    """Forbid every piece but the stop token for translations at their limit; the cost of stopping
    there stays as it is."""
    for row in rows:
        log_p[row, :STOP] = log_p[row, STOP + 1 :] = -torch.inf


def search_in_steps(
    begin: Callable[[int], DecoderRows],
    limits: Sequence[int],
    beam: int | Sequence[int],
    alphas: Sequence[float],
    device: torch.device,
    watch: Watch | None = None,
    may_stop: bool = True,
) -> Searching:
    """Search, for every sentence, at most `beam` finished hypotheses, best score first.

    At each step every live hypothesis is extended by every piece, and the best `beam` extensions
    are considered: those that stop are finished, the others live on. A sentence is done when `beam`
    hypotheses have finished and no live one can rank among them any more, not even if all its
    further pieces cost nothing and it grew to the limit, where the penalty divides by most: so
    stopping early loses nothing that searching on to the limit would find. Only finished hypotheses
    are ever ranked against each other.

    begin(wide): the decoder with `wide` rows for each sentence, which has read nothing.
    limits: the most pieces of each translation; the stop token counts.
    beam: of all sentences, or of each.
    alphas: length penalty of each sentence.
    watch: called at every step.
    may_stop: False forbids the stop token, so that only the limits end the search.

    It pauses after every step. Raise ValueError where beams or penalties are not one for each
    sentence.
    """
    count = len(limits)
    beams = [beam] * count if isinstance(beam, int) else list(beam)
    if len(alphas) != count or len(beams) != count:
        raise ValueError(
            f"{len(beams)} beams and {len(alphas)} length penalties for {count} sentences"
        )
    # rows of the decoder for each sentence, by the widest beam
    wide = max(beams, default=1)
    rows = begin(wide)
    finished: list[list[Hypothesis]] = [[] for _ in range(count)]
    sentences = list(range(count))  # those not done, `wide` rows of the cache each
    live = [[Hypothesis((), ())] * wide for _ in range(count)]
    totals = torch.full((count, wide), -torch.inf, device=device)
    totals[:, 0] = 0.0  # all rows begin alike: only the first counts
    last = torch.full((count * wide,), START, device=device)
    while sentences:
        log_p = rows.step(last)
        length = rows.position
        at_limit = [i for i, sentence in enumerate(sentences) if length >= limits[sentence]]
        allow_only_stop(log_p, [i * wide + k for i in at_limit for k in range(wide)])
        vocabulary = log_p.shape[1]
        sums = (totals[:, :, None] + log_p.view(len(sentences), wide, vocabulary)).flatten(1)
        if not may_stop and len(at_limit) < len(sentences):
            sums[
                [i for i in range(len(sentences)) if i not in at_limit], STOP::vocabulary
            ] = -torch.inf
        best, place = sums.topk(2 * wide, dim=1)  # enough that `wide` of them do not stop
        value = log_p.view(len(sentences), -1).gather(1, place)
        # the sentences that go on, with their kept extensions
        going: list[tuple[int, list[Extension]]] = []
        found = zip(sentences, best.tolist(), place.tolist(), value.tolist(), strict=True)
        for i, (sentence, row_best, row_place, row_value) in enumerate(found):
            own, alpha, done = beams[sentence], alphas[sentence], finished[sentence]
            ranked: list[Extension] = []
            for rank, (total, flat, one) in enumerate(
                zip(row_best[: 2 * own], row_place, row_value, strict=False)
            ):
                if total > -torch.inf:
                    parent, token = divmod(flat, vocabulary)
                    passed = (
                        rank if token == STOP else sum(each.fate == "kept" for each in ranked)
                    ) >= own
                    ranked.append(
                        Extension(
                            parent,
                            token,
                            total,
                            one,
                            "passed" if passed else "finished" if token == STOP else "kept",
                        )
                    )
            if watch is not None:
                watch(sentence, log_p[i * wide : i * wide + own], ranked)
            kept = [each for each in ranked if each.fate == "kept"]
            done += [
                live[i][each.parent].extend(each) for each in ranked if each.fate == "finished"
            ]
            done.sort(key=lambda h: -h.score(alpha))
            del done[own:]
            if kept and (
                len(done) < own
                or kept[0].total / length_penalty(limits[sentence], alpha) > done[-1].score(alpha)
            ):
                going.append((i, kept))
        if not going:
            break
        before_wide, wide = wide, max(beams[sentences[i]] for i, _ in going)
        filled = [
            (i, kept + [kept[0]._replace(total=-torch.inf)] * (wide - len(kept)))
            for i, kept in going
        ]
        places = [i * before_wide + one.parent for i, kept in filled for one in kept]
        rows.choose(torch.tensor(places, device=device), sentences_change=len(places) < len(last))
        last = torch.tensor([one.token for _, kept in filled for one in kept], device=device)
        totals = torch.tensor([[one.total for one in kept] for _, kept in filled], device=device)
        live = [[live[i][one.parent].extend(one) for one in kept] for i, kept in filled]
        sentences = [sentences[i] for i, _ in filled]
        yield
    return finished


def finish_search(steps: Generator[None, None, FoundT]) -> FoundT:
    """Run a search that pauses to its end and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def describe_translation(
    trained: Translator[Any], pieces: Encoded, tokens: Sequence[int], log_p: Any
) -> dict[str, Any]:
    """Return the facts of a translation for an explanation, by the names of the fields of
    `models.explaining.shared_records.Written`. log_p: (target,) of each token."""
    target, spaces = trained.tokenizer.show_pieces(tokens)
    return {
        "source": pieces.pieces,
        "source_space": pieces.space,
        "target": target,
        "target_space": spaces,
        "text": trained.tokenizer.decode(tokens),
        "log_probabilities": freeze(log_p),
        "log_probability": float(freeze(log_p).sum(dtype=np.float64)),
        "unknown": pieces.ids.count(UNKNOWN),
        "familiarity": trained.familiar.judge(pieces.text) if trained.familiar else None,
    }


def describe_translations(
    trained: Translator[Any], pieces: Encoded, found: Sequence[Hypothesis], log_p: Any, alpha: float
) -> dict[str, Any]:
    """Return the facts of every translation for an explanation, by the names of its fields.

    found: best first.
    log_p: (target,) of each piece of the first, nats, which is watched.
    """
    tokens, best = found[0].tokens, describe_translation(trained, pieces, found[0].tokens, log_p)
    total, threshold = best["log_probability"], trained.facts.get("surprising_below")
    score = total / length_penalty(len(tokens), alpha)
    limit = len(pieces.ids) + EXTRA
    lasts = [float(log_p[-1]), *(one.log_probabilities[-1] for one in found[1:])]
    reasons = [
        reason_of(len(one.tokens), limit, last) for one, last in zip(found, lasts, strict=True)
    ]
    others = [
        (trained.tokenizer.decode(one.tokens), one.log_probability, one.score(alpha), reason)
        for one, reason in zip(found[1:], reasons[1:], strict=True)
    ]
    return {
        **best,
        "score": score,
        "hypotheses": ((best["text"], total, score, reasons[0]), *others),
        "surprising": threshold is not None and total / len(tokens) < threshold,
    }
