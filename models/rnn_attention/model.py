"""Recurrent translation: a bidirectional encoder, and a decoder with attention to it (Bahdanau et
al., 2015).

All variants share one structure. E is the single embedding matrix of source, target and output;
words are multiplied by √d_model:

    h_j = [→h_j; ←h_j]                      the encoder's states, both GRUs
    s_0 = tanh(W_0 [→h_S; ←h_1])            the decoder starts with the last state of each direction
    α_tj = softmax_j g(s_{t−1}, h_j)        g: additive vᵀ tanh(W s + U h) (Bahdanau),
                                            dot sᵀh / √d or general sᵀ W_g h / √d, d = d_state
    c_t = Σ_j α_tj h_j                      or c_t = [→h_S; ←h_1] at every step in the variant
                                            `none` (Cho et al., 2014)
    s_t = GRU([E y_{t−1}; c_t], s_{t−1})
    r_t = tanh(W_c [s_t; c_t; E y_{t−1}]),  logits E r_t

The query is the state before a word, as in Bahdanau et al.; Luong et al. (2015) use s_t and also
feed r_t back. Only their scores are used here, divided by √d as in Vaswani et al. (2017).
`dot_unscaled` and `general_unscaled` are theirs without the division.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from models.layers.dropout import Dropout
from models.rnn_attention.records import NETWORKS, UNSCALED


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    score: str = "additive"  # g, one of NETWORKS
    vocabulary: int = 6000  # pieces of the joint vocabulary, special ones included
    d_model: int = 256  # width of a word
    d_state: int = 320  # width of the decoder's state and of h_j, half of it for each direction
    dropout: float = 0.1  # probability, on words and on r_t only


class Memory(NamedTuple):
    """The encoder's output for the decoder."""

    states: Tensor  # (batch, source, d_state): h_j, 0 at padding
    # (batch, source, d_state): what of h_j a score compares, made once: U h, h or W_g h
    keys: Tensor
    allowed: Tensor  # (batch, source), False at padding
    last: Tensor  # (batch, d_state): [→h_S; ←h_1]


class Step(NamedTuple):
    """One step of the decoder."""

    state: Tensor  # (batch, d_state): s_t
    context: Tensor  # (batch, d_state): c_t
    # (batch, source): g(s_{t−1}, h_j), −∞ at padding; None in the variant without attention
    scores: Tensor | None
    weights: Tensor | None  # (batch, source): α_t


class Held(NamedTuple):
    """Weights that replace α in some rows of a batch; weights of 0 make c_t = 0, also without
    attention."""

    where: Tensor  # (batch,) bool
    weights: Tensor  # (batch, source)


class RecurrentTranslator(nn.Module):
    """A recurrent translator with p(target | source) = Π_t softmax(E r_t), defined at the top of
    this module."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.score not in NETWORKS:
            raise ValueError(f"the scores are {', '.join(NETWORKS)}, not {config.score}")
        self.config = config
        d, h = config.d_model, config.d_state
        self.embedding = nn.Embedding(config.vocabulary, d)
        self.encoder = nn.GRU(d, h // 2, batch_first=True, bidirectional=True)
        self.first = nn.Linear(h, h)
        self.decoder = nn.GRU(d + h, h)
        self.query = nn.Linear(h, h) if config.score == "additive" else None
        self.key = (
            nn.Linear(h, h, bias=False)
            if config.score.removesuffix(UNSCALED) in ("additive", "general")
            else None
        )
        self.score = nn.Linear(h, 1, bias=False) if config.score == "additive" else None
        self.scale = 1.0 if config.score.endswith(UNSCALED) else h**-0.5  # of a product
        self.combine = nn.Linear(2 * h + d, d)
        self.dropout = Dropout(config.dropout)
        self.reset()

    def reset(self) -> None:
        """Initialise recurrent matrices as orthogonal and the others with Xavier's sizes, gate by
        gate; words have unit size after the factor √d_model."""
        for name, parameter in self.named_parameters():
            if parameter.dim() < 2:
                nn.init.zeros_(parameter)
                continue
            for block in parameter.data.chunk(3 if "coder." in name else 1):
                (nn.init.orthogonal_ if "weight_hh" in name else nn.init.xavier_uniform_)(block)
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)

    def words(self, tokens: Tensor) -> Tensor:
        """Return Dropout(√d_model · E[token]), (batch, position, d_model).

        tokens: (batch, position).
        """
        return self.dropout(self.embedding(tokens) * math.sqrt(self.config.d_model))  # type: ignore[no-any-return]

    def encode(self, words: Tensor, allowed: Tensor) -> Memory:
        """Encode sentences.

        words: (batch, source, d_model). allowed: True at the pieces of a sentence, which come
        first, (batch, source). Sentences are packed, so that ←h starts at the last piece of each
        and never in its padding.
        """
        lengths = allowed.sum(1).cpu()
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        found, ends = self.encoder(packed)
        states, _ = pad_packed_sequence(found, batch_first=True, total_length=words.shape[1])
        keys = states if self.key is None else self.key(states)
        return Memory(states, keys, allowed, torch.cat((ends[0], ends[1]), -1))

    def start(self, last: Tensor) -> Tensor:
        """Return s_0 = tanh(W_0 [→h_S; ←h_1]), (batch, d_state).

        last: (batch, d_state).
        """
        return torch.tanh(self.first(last))

    def project_words(self, words: Tensor) -> Tensor:
        """Return the words' part of the decoder's gates, which does not depend on its state, (…, 3
        · d_state).

        words: (…, d_model).
        """
        of_input, _, bias, _ = self.decoder.all_weights[0]
        return F.linear(words, of_input[:, : self.config.d_model], bias)

    def scores(self, asked: Tensor, memory: Memory) -> Tensor:
        """Return g(s, h_j) of every source position, −∞ at padding.

        asked: W s for additive scores, s for the others, (batch, d_state).
        """
        if self.score is None:
            found = torch.bmm(memory.keys, asked[:, :, None])[:, :, 0] * self.scale
        else:
            found = self.score(torch.tanh(asked[:, None] + memory.keys))[:, :, 0]
        return found.float().masked_fill(~memory.allowed, -torch.inf)

    def step(self, state: Tensor, given: Tensor, memory: Memory, held: Held | None = None) -> Step:
        """Return the step to s_t.

        state: s_{t−1}, (batch, d_state). given: the part of y_{t−1} from `project_words`, (batch, 3
        · d_state).
        """
        h = self.config.d_state
        of_input, of_state, _, bias = self.decoder.all_weights[0]
        hidden = F.linear(state, of_state, bias)
        scores = weights = None
        context = memory.last
        if self.config.score != "none":
            scores = self.scores(state if self.query is None else self.query(state), memory)
            weights = torch.softmax(scores, -1)
            if held is not None:
                weights = torch.where(held.where[:, None], held.weights, weights)
            context = torch.bmm(weights[:, None].to(memory.states.dtype), memory.states)[:, 0]
        elif held is not None:
            context = context * ~held.where[:, None]
        asked = given + F.linear(context, of_input[:, self.config.d_model :])
        reset, update = torch.sigmoid(asked[:, : 2 * h] + hidden[:, : 2 * h]).chunk(2, 1)
        fresh = torch.tanh(torch.addcmul(asked[:, 2 * h :], reset, hidden[:, 2 * h :]))
        return Step(torch.lerp(fresh, state.to(fresh.dtype), update), context, scores, weights)

    def combine_readout(self, states: Tensor, contexts: Tensor, words: Tensor) -> Tensor:
        """Return r = tanh(W_c [s_t; c_t; E y_{t−1}]), with dropout in training, (…, d_model)."""
        return self.dropout(torch.tanh(self.combine(torch.cat((states, contexts, words), -1))))  # type: ignore[no-any-return]

    def decode(self, words: Tensor, memory: Memory) -> Tensor:
        """Decode with teacher forcing; return r, (batch, target, d_model).

        words: read one after the other, the start token first, (batch, target, d_model). Everything
        independent of the state is computed for all steps at once: the words' part of the gates,
        and r after the loop. Without attention, only the recurrence depends on the state, so it is
        one call.
        """
        state = self.start(memory.last)
        if self.config.score == "none":
            contexts = memory.last[:, None].expand(-1, words.shape[1], -1)
            states = self.decoder(torch.cat((words, contexts), -1).transpose(0, 1), state[None])[
                0
            ].transpose(0, 1)
            return self.combine_readout(states, contexts, words)
        steps: list[Step] = []
        for given in self.project_words(words.transpose(0, 1)).unbind(0):
            steps.append(self.step(state, given, memory))
            state = steps[-1].state
        return self.combine_readout(
            torch.stack([one.state for one in steps], 1),
            torch.stack([one.context for one in steps], 1),
            words,
        )

    def readout(self, x: Tensor) -> Tensor:
        """Return unnormalised log-probabilities from the embedding itself, (…, vocabulary).

        x: (…, d_model).
        """
        return F.linear(x, self.embedding.weight)

    def forward(self, source: Tensor, target: Tensor, allowed: Tensor) -> Tensor:
        """Return r of every target position.

        source: tokens, (batch, source). target: tokens, (batch, target). allowed: as in `encode`.
        """
        return self.decode(self.words(target), self.encode(self.words(source), allowed))
