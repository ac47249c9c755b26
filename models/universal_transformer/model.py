"""The Universal Transformer: one block repeated over depth, in which each position stops by itself
(Dehghani et al., 2019).

At step t, every position that has not stopped computes (eqs. 4 and 5)

    u = s + P + T_t
    A = LayerNorm(u + MultiHead(u, u, u))
    s ← LayerNorm(A + FFN(A))

P are the sinusoids of its place and T_t those of the step (eqs. 6 and 7). A stopped position keeps
the u of its next step: it is not computed further, and the others still attend to it. The paper
adds T_t to stopped positions too, at every further step, so that their keys and values change with
it; `forward` does so if `refreshed`.

One stack serves input and answer: the answer has its own places after the input, and all of them
are filled at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.act import Halting, Pondered, Stop, ponder, ponder_gathered, take_rows
from models.layers.attention import MultiHeadAttention, attend
from models.layers.feedforward import FeedForward
from models.layers.masks import broadcast_key_mask
from models.layers.positional import sinusoids


@dataclass(frozen=True)
class Config:
    """The sizes and limits of a network."""

    vocabulary: int  # tokens, padding included
    words: int = 1  # tokens of one position: 1 character, or the words of a sentence
    d_model: int = 96  # width of a position
    d_ff: int = 192  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads
    max_places: int = 128  # places with sinusoids
    limit: int = 8  # the most steps, M
    epsilon: float = 0.01  # ε: a position stops once its halting probabilities sum to 1 − ε
    steps: int = 0  # steps of all positions; 0 if each stops by itself


@dataclass(frozen=True)
class OrdinaryConfig:
    """The sizes of an ordinary Transformer."""

    vocabulary: int  # tokens, padding included
    words: int = 1  # tokens of one position
    d_model: int = 56  # width of a position
    d_ff: int = 112  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of a layer
    n_layers: int = 3  # layers, each with its own parameters
    max_places: int = 128  # places with sinusoids


class Embedding(nn.Module):
    """The sum Σ_j m_j ∘ E[w_j] over the words of a position, with learned m (Sukhbaatar et al.,
    2015); token 0 is padding."""

    def __init__(self, vocabulary: int, words: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, d_model)
        self.masks = nn.Parameter(
            torch.ones(words, d_model) + (0.3 * torch.randn(words, d_model) if words > 1 else 0.0)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the embeddings, (batch, position, d_model).

        tokens: (batch, position, word).
        """
        found = self.table(tokens) * (tokens != 0)[..., None]
        return (found * self.masks[: tokens.shape[2]]).sum(2)  # type: ignore[no-any-return]


class Block(nn.Module):
    """Self-attention, then feed-forward, each followed by the residual sum and layer normalisation
    (eqs. 4 and 5)."""

    def __init__(self, d_model: int, d_ff: int, n_heads: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))

    def after(self, u: Tensor, attended: Tensor) -> Tensor:
        """Return the rest of a step after attention, (…, d_model).

        u, attended: (…, d_model).
        """
        a = self.norms[0](u + attended)
        return self.norms[1](a + self.feed_forward(a))  # type: ignore[no-any-return]

    def forward(
        self, u: Tensor, mask: Tensor | None, gain: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """Return the states after one step.

        u: (batch, position, d_model). mask: as in `attend`. gain: (batch, head). The tap is
        `weights`.
        """
        return self.after(u, self.attention(u, mask=mask, gain=gain, trace=trace))


@dataclass(frozen=True)
class Thought:
    """The result of a pass.

    logits: (batch, position, vocabulary). pondered: the halting record; None if the number of steps
    is fixed.
    """

    logits: Tensor
    pondered: Pondered | None

    @property
    def cost(self) -> Tensor | None:
        """The ponder cost N + R, (batch, position); None if the number of steps is fixed."""
        return None if self.pondered is None else self.pondered.ponder_cost


class UniversalTransformer(nn.Module):
    """A network for p(answer at a position) = softmax(W Σ p_n s_n); one block refines the states
    until each position stops."""

    places: Tensor
    signals: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocabulary, config.words, config.d_model)
        self.layers = nn.ModuleList([Block(config.d_model, config.d_ff, config.n_heads)])
        self.halting = None if config.steps else Halting(config.d_model)
        self.readout = nn.Linear(config.d_model, config.vocabulary)
        self.register_buffer(
            "places", sinusoids(config.max_places, config.d_model), persistent=False
        )
        self.register_buffer(
            "signals", sinusoids(4 * config.limit, config.d_model), persistent=False
        )

    def stop(self) -> Stop:
        """Return the stopping rule as trained."""
        return Stop(self.config.epsilon, self.config.limit)

    def _signal(self, step: int, step_signal: Tensor | None) -> Tensor:
        """Return T_t, (d_model,), or (batch, 1, d_model) if some requests go without the step
        signal."""
        signal = self.signals[min(step, len(self.signals) - 1)]
        return signal if step_signal is None else signal * step_signal[:, None, None]

    def forward(
        self,
        tokens: Tensor,
        places: Tensor,
        alive: Tensor,
        stop: Stop | None = None,
        step_signal: Tensor | None = None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
        refreshed: bool = False,
    ) -> Thought:
        """Compute every position at every step, with stopped positions masked; gradients flow.

        tokens: (batch, position, word). places: (batch, position). alive: False at padding, (batch,
        position). stop: the stopping rule, as trained if None. step_signal: 1 where the step signal
        is added, otherwise 0, (batch,). gain: of attention, at every step, (batch, head).
        refreshed: the keys of stopped positions carry the signal of the present step, as in the
        paper, instead of the step after their last. The taps are those of `ponder`, and
        `step/<n>/weights`.
        """
        block: Block = self.layers[0]  # type: ignore[assignment]
        where, mask = self.places[places], broadcast_key_mask(alive)
        u = torch.zeros_like(where)
        ran = alive

        def advance(state: Tensor, running: Tensor, step: int) -> Tensor:
            nonlocal u, ran
            begun = state + where + self._signal(step, step_signal)
            u = begun if refreshed else torch.where(ran[..., None], begun, u)
            ran = running
            return block(u, mask, gain, trace.within("step", step))  # type: ignore[no-any-return]

        first = self.embedding(tokens)
        if self.halting is None:
            state = first
            for step in range(1, self.config.steps + 1):
                state = advance(state, alive, step)
            return Thought(self.readout(state), None)
        pondered = ponder(advance, first, self.halting, stop or self.stop(), alive, trace)
        return Thought(self.readout(pondered.output), pondered)

    @torch.no_grad()
    def run_gathered(
        self,
        tokens: Tensor,
        places: Tensor,
        alive: Tensor,
        stop: Stop | None = None,
        step_signal: Tensor | None = None,
    ) -> Thought:
        """Return the result of `forward` without gradients and without computing stopped positions.

        Raise ValueError if all positions take the same number of steps.
        """
        if self.halting is None:
            raise ValueError(
                "all positions of this model take the same number of steps; run_gathered needs"
                " positions that stop on their own"
            )
        advance = self.running_only(places, alive, step_signal)
        pondered = ponder_gathered(
            advance, self.embedding(tokens), self.halting, stop or self.stop(), alive
        )
        return Thought(self.readout(pondered.output), pondered)

    def running_only(
        self, places: Tensor, alive: Tensor, step_signal: Tensor | None = None
    ) -> Callable[[Tensor, Tensor, int], Tensor]:
        """Return the block as `ponder_gathered` needs it: it keeps the keys and values of stopped
        positions, and only running positions are queries.

        places, alive: (batch, position).
        """
        block: Block = self.layers[0]  # type: ignore[assignment]
        attention = block.attention
        batch, length = places.shape
        d_model = self.config.d_model
        where = self.places[places].view(-1, d_model)
        allowed = None if bool(alive.all()) else alive
        keys, values = where.new_zeros(2, batch * length, d_model).unbind(0)  # of every position
        written: tuple[Tensor, Tensor] | None = None  # the last running positions, and their states

        def begin_step(state: Tensor, rows: Tensor, step: int) -> Tensor:
            signal = self._signal(step, step_signal)
            return (
                state
                + take_rows(where, rows)
                + (signal if step_signal is None else signal[rows // length, 0])
            )

        def advance(state: Tensor, rows: Tensor, step: int) -> Tensor:
            nonlocal written
            u = begin_step(state, rows, step)
            if written is None or len(written[0]) == len(rows):
                mine, changed = rows, u
            else:
                mine, changed = written[0], begin_step(written[1], written[0], step)
            both = F.linear(
                changed, attention.project_in.weight[d_model:], attention.project_in.bias[d_model:]
            )
            for kept, new in zip((keys, values), both.chunk(2, dim=-1), strict=True):
                kept.copy_(new) if len(mine) == len(kept) else kept.index_copy_(0, mine, new)
            query = F.linear(
                u, attention.project_in.weight[:d_model], attention.project_in.bias[:d_model]
            )
            source = keys.view(batch, length, -1), values.view(batch, length, -1)
            attended = attention.project_out(_attend_some(query, rows, *source, allowed, attention))
            state = block.after(u, attended)
            written = (rows, state)
            return state

        return advance


def _attend_some(
    query: Tensor,
    rows: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor | None,
    attention: MultiHeadAttention,
) -> Tensor:
    """Return the attention of some positions of a batch, (n_running, d_model).

    query: (n_running, d_model). rows: their flat indices, ascending, (n_running,). key, value: of
    all positions, (batch, position, d_model). The running positions of each sequence are placed
    side by side, padded to the sequence with the most of them.
    """
    batch, length, _ = key.shape
    if len(rows) == batch * length:
        asked, cells, chosen, widest = query.view(batch, length, -1), None, None, length
    else:
        of = rows // length
        counts = torch.bincount(of, minlength=batch)
        begins = counts.cumsum(0) - counts
        rank = torch.arange(len(rows), device=rows.device) - begins[of]
        busy = counts > 0
        chosen = busy.nonzero()[:, 0]
        widest = int(counts.max())
        cells = (busy.cumsum(0) - 1)[of] * widest + rank
        asked = query.new_zeros(len(chosen) * widest, query.shape[1])
        asked.index_copy_(0, cells, query)
        asked = asked.view(len(chosen), widest, -1)
        if len(chosen) < batch:
            key, value = key.index_select(0, chosen), value.index_select(0, chosen)
            allowed = None if allowed is None else allowed[chosen]
    mask = None if allowed is None else broadcast_key_mask(allowed)
    heads = attend(
        attention.split_heads(asked), attention.split_heads(key), attention.split_heads(value), mask
    )
    found = heads.transpose(1, 2).reshape(-1, query.shape[1])
    return found if cells is None else found.index_select(0, cells)


class OrdinaryTransformer(nn.Module):
    """The same network as a stack of layers with their own parameters (Vaswani et al., 2017);
    places are added once, below the first layer."""

    places: Tensor

    def __init__(self, config: OrdinaryConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocabulary, config.words, config.d_model)
        self.layers = nn.ModuleList(
            Block(config.d_model, config.d_ff, config.n_heads) for _ in range(config.n_layers)
        )
        self.readout = nn.Linear(config.d_model, config.vocabulary)
        self.register_buffer(
            "places", sinusoids(config.max_places, config.d_model), persistent=False
        )

    def forward(
        self,
        tokens: Tensor,
        places: Tensor,
        alive: Tensor,
        gain: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Thought:
        """Return the logits.

        tokens: (batch, position, word). places, alive: (batch, position). The taps are
        `step/<layer, from 1>/weights`.
        """
        mask, x = broadcast_key_mask(alive), self.embedding(tokens) + self.places[places]
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, gain, trace.within("step", i + 1))
        return Thought(self.readout(x), None)
