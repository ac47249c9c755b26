"""The decoder, one token at a time, under the changes of a request, for a search or for a finished
translation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from models.data.multi30k import PAD, pad_rows
from models.decoding.beam import NEVER, Hypothesis, finish_search, search_in_steps
from models.rnn_attention.model import Held, Memory, RecurrentTranslator, Step
from models.rnn_attention.records import CONTEXTS


class Changes(NamedTuple):
    """The changes for each row of a batch.

    words: the weights that replace α, (row, source). at: whether they do, (row, output). context:
    index into CONTEXTS, (row,).
    """

    words: Tensor
    at: Tensor
    context: Tensor


class Decoder:
    """A decoder of a batch whose rows have all read the same number of tokens.

    steps: the recorded steps.
    """

    def __init__(
        self, model: RecurrentTranslator, memory: Memory, changes: Changes | None = None
    ) -> None:
        self._model, self._memory, self._changes = model, memory, changes
        self._state = model.start(memory.last)
        self._first: Tensor | None = None  # the weights of the first output
        self.position = 0
        self.steps: list[Step] = []

    def step(self, tokens: Tensor) -> Tensor:
        """Read one token per row, (row,), and return log p of the next, (row, vocabulary); tokens
        outside translations have p = 0."""
        model = self._model
        words = model.words(tokens)
        seen = model.step(
            self._state, model.project_words(words), self._memory, self._find_fixed_weights()
        )
        self._first = seen.weights if self._first is None else self._first
        self.steps.append(seen)
        self._state, self.position = seen.state, self.position + 1
        logits = model.readout(model.combine_readout(seen.state, seen.context, words)).float()
        never = torch.zeros_like(logits[0])
        never[list(NEVER)] = -torch.inf
        return (logits + never).log_softmax(-1)

    def _find_fixed_weights(self) -> Held | None:
        """Return the weights that replace α in this step."""
        changes, allowed = self._changes, self._memory.allowed
        if changes is None:
            return None
        uniform, frozen, zero = (
            changes.context == CONTEXTS.index(name) for name in ("uniform", "frozen", "zero")
        )
        weights = torch.where(
            uniform[:, None],
            allowed / allowed.sum(1, keepdim=True),
            torch.zeros_like(changes.words),
        )
        where = uniform | zero
        if self._first is not None:
            weights, where = torch.where(frozen[:, None], self._first, weights), where | frozen
        moved = changes.at[:, min(self.position, changes.at.shape[1] - 1)]
        return Held(where | moved, torch.where(moved[:, None], changes.words, weights))

    def choose(self, rows: Tensor, sentences_change: bool = True) -> None:
        """Continue with these rows of the batch, in this order, (n,); a row may occur twice."""
        self._state = self._state.index_select(0, rows)
        if sentences_change:
            self._memory = Memory(*(one.index_select(0, rows) for one in self._memory))
            self._changes = (
                None
                if self._changes is None
                else Changes(*(one.index_select(0, rows) for one in self._changes))
            )
            self._first = None if self._first is None else self._first.index_select(0, rows)


def encode_sentences(model: RecurrentTranslator, sentences: Sequence[Sequence[int]]) -> Memory:
    """Encode sentences, given as tokens, for the decoder."""
    tokens = pad_rows(sentences).to(model.embedding.weight.device)
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
    """Return at most `beam` hypotheses for every sentence, best first, as `search_in_steps`
    of `models.decoding.beam` does."""

    def begin(wide: int) -> Decoder:
        index = torch.arange(len(limits), device=memory.last.device).repeat_interleave(wide)
        opened = Decoder(model, memory, changes)
        opened.choose(index)
        return opened

    return finish_search(search_in_steps(begin, limits, beam, alphas, memory.last.device))
