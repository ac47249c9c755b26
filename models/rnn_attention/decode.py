"""The decoder one token at a time, under what is changed, for a search or for a translation that is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from models.beam import NEVER, Hypothesis, beam_steps, finished
from models.multi30k import PAD, padded
from models.rnn_attention.model import Held, Memory, RecurrentTranslator, Step
from models.rnn_attention.records import CONTEXTS


class Changes(NamedTuple):
    """What is unlike training, for each row of a batch. words: (row, source), the weights that stand in place of α; at: (row, output) bool,
    where they do; context: (row,), index into CONTEXTS."""

    words: Tensor
    at: Tensor
    context: Tensor


class Decoder:
    """Rows of a batch that have all read the same number of tokens. steps: what was seen of each."""

    def __init__(self, model: RecurrentTranslator, memory: Memory, changes: Changes | None = None) -> None:
        self._model, self._memory, self._changes = model, memory, changes
        self._state = model.start(memory.last)
        self._first: Tensor | None = None  # the weights of the first output
        self.position = 0
        self.steps: list[Step] = []

    def step(self, tokens: Tensor) -> Tensor:
        """Read one token per row (row,) and return log p of what follows, (row, vocabulary); what no translation contains has p = 0."""
        model = self._model
        words = model.words(tokens)
        seen = model.step(self._state, model.fixed(words), self._memory, self._held())
        self._first = seen.weights if self._first is None else self._first
        self.steps.append(seen)
        self._state, self.position = seen.state, self.position + 1
        logits = model.readout(model.said(seen.state, seen.context, words)).float()
        never = torch.zeros_like(logits[0])
        never[list(NEVER)] = -torch.inf
        return (logits + never).log_softmax(-1)

    def _held(self) -> Held | None:
        """What stands in place of α in this step."""
        changes, allowed = self._changes, self._memory.allowed
        if changes is None:
            return None
        uniform, frozen, zero = (changes.context == CONTEXTS.index(name) for name in ("uniform", "frozen", "zero"))
        weights = torch.where(uniform[:, None], allowed / allowed.sum(1, keepdim=True), torch.zeros_like(changes.words))
        where = uniform | zero
        if self._first is not None:
            weights, where = torch.where(frozen[:, None], self._first, weights), where | frozen
        moved = changes.at[:, min(self.position, changes.at.shape[1] - 1)]
        return Held(where | moved, torch.where(moved[:, None], changes.words, weights))

    def choose(self, rows: Tensor, sentences_change: bool = True) -> None:
        """Go on with these rows (n,) of the batch, in this order; one may come twice."""
        self._state = self._state.index_select(0, rows)
        if sentences_change:
            self._memory = Memory(*(one.index_select(0, rows) for one in self._memory))
            self._changes = None if self._changes is None else Changes(*(one.index_select(0, rows) for one in self._changes))
            self._first = None if self._first is None else self._first.index_select(0, rows)


def encoded(model: RecurrentTranslator, sentences: Sequence[Sequence[int]]) -> Memory:
    """What the encoder leaves of some sentences, tokens each."""
    tokens = padded(sentences).to(model.embedding.weight.device)
    return model.encode(model.words(tokens), tokens != PAD)


@torch.no_grad()
def search(
    model: RecurrentTranslator,
    memory: Memory,
    limits: Sequence[int],
    beam: int | Sequence[int],
    alphas: Sequence[float],
    changes: Changes | None = None,
) -> list[list[Hypothesis]]:
    """For every sentence at most `beam` hypotheses, best first; as `beam_steps` of `models.beam`."""

    def begin(wide: int) -> Decoder:
        index = torch.arange(len(limits), device=memory.last.device).repeat_interleave(wide)
        opened = Decoder(model, memory, changes)
        opened.choose(index)
        return opened

    return finished(beam_steps(begin, limits, beam, alphas, memory.last.device))
