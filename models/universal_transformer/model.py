"""The Universal Transformer: one block over depth, and every position stops by itself (Dehghani et al., 2019).

At step t every position that has not stopped does  u = s + P + T_t;  A = LayerNorm(u + MultiHead(u, u, u));  s ← LayerNorm(A + FFN(A))
(eqs. 4 and 5), with P the sinusoids of its place and T_t those of the step (eqs. 6 and 7). One that has stopped keeps the u that it would
have begun its next step with: nothing of it is computed any more, and the others still attend to it. The paper adds T_t to stopped
positions too, at every further step, so that their keys and values change with it: `forward` does that where it is asked to (`refreshed`).

There is one stack for input and answer: an answer has places of its own behind the input, and all of them are filled at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.layers.act import Halting, Pondered, Stop, ponder, ponder_gathered, taken
from models.layers.attention import MultiHeadAttention, attend
from models.layers.feedforward import FeedForward
from models.layers.masks import keys_allowed
from models.layers.positional import sinusoids
from models.trace import OFF, Trace


@dataclass(frozen=True)
class Config:
    """What the network is."""

    vocabulary: int  # tokens, the padding included
    words: int = 1  # tokens of one position: 1 character, or the words of a sentence
    d_model: int = 96  # width of a position
    d_ff: int = 192  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads
    max_places: int = 128  # places for which sinusoids are kept
    limit: int = 8  # steps at most, M
    epsilon: float = 0.01  # ε: a position stops once 1 − ε is used up
    steps: int = 0  # a number of steps that all positions take; 0 where each stops by itself


@dataclass(frozen=True)
class OrdinaryConfig:
    """What an ordinary Transformer is."""

    vocabulary: int  # tokens, the padding included
    words: int = 1  # tokens of one position
    d_model: int = 56  # width of a position
    d_ff: int = 112  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of a layer
    n_layers: int = 3  # layers, each with parameters of its own
    max_places: int = 128  # places for which sinusoids are kept


class Embedding(nn.Module):
    """Σ_j m_j ∘ E[w_j] over the words of a position, m learned (Sukhbaatar et al., 2015); token 0 is padding."""

    def __init__(self, vocabulary: int, words: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, d_model)
        self.masks = nn.Parameter(torch.ones(words, d_model) + (0.3 * torch.randn(words, d_model) if words > 1 else 0.0))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: (batch, position, word) -> (batch, position, d_model)."""
        found = self.table(tokens) * (tokens != 0)[..., None]
        return (found * self.masks[: tokens.shape[2]]).sum(2)  # type: ignore[no-any-return]


class Block(nn.Module):
    """Self-attention, then feed-forward, each with residual and layer normalisation behind it (eqs. 4 and 5)."""

    def __init__(self, d_model: int, d_ff: int, n_heads: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))

    def after(self, u: Tensor, attended: Tensor) -> Tensor:
        """The rest of a step, given what attention has brought: both (…, d_model)."""
        a = self.norms[0](u + attended)
        return self.norms[1](a + self.feed_forward(a))  # type: ignore[no-any-return]

    def forward(self, u: Tensor, mask: Tensor | None, gain: Tensor | None = None, trace: Trace = OFF) -> Tensor:
        """u: (batch, position, d_model); mask as in `attend`; gain: (batch, head). Taps `weights`."""
        return self.after(u, self.attention(u, mask=mask, gain=gain, trace=trace))


@dataclass(frozen=True)
class Thought:
    """What a pass gives. logits: (batch, position, vocabulary); pondered: None where nothing decides when to stop."""

    logits: Tensor
    pondered: Pondered | None

    @property
    def cost(self) -> Tensor | None:
        """(batch, position) N + R, the ponder cost; None where nothing decides when to stop."""
        return None if self.pondered is None else self.pondered.cost


class UniversalTransformer(nn.Module):
    """p(answer at a position) = softmax(W Σ p_n s_n), the states refined by one block until each position stops."""

    places: Tensor
    signals: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocabulary, config.words, config.d_model)
        self.layers = nn.ModuleList([Block(config.d_model, config.d_ff, config.n_heads)])
        self.halting = None if config.steps else Halting(config.d_model)
        self.readout = nn.Linear(config.d_model, config.vocabulary)
        self.register_buffer("places", sinusoids(config.max_places, config.d_model), persistent=False)
        self.register_buffer("signals", sinusoids(4 * config.limit, config.d_model), persistent=False)

    def stop(self) -> Stop:
        """When positions stop, as trained."""
        return Stop(self.config.epsilon, self.config.limit)

    def _signal(self, step: int, told: Tensor | None) -> Tensor:
        """T_t: (d_model,), or (batch, 1, d_model) where some requests are not told the step."""
        signal = self.signals[min(step, len(self.signals) - 1)]
        return signal if told is None else signal * told[:, None, None]

    def forward(
        self,
        tokens: Tensor,
        places: Tensor,
        alive: Tensor,
        stop: Stop | None = None,
        told: Tensor | None = None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
        refreshed: bool = False,
    ) -> Thought:
        """Everything computed at every step, stopped positions masked; with gradients.

        tokens: (batch, position, word); places: (batch, position); alive: (batch, position), False at padding. stop: as trained where None.
        told: (batch,), 1 where the step signal is added and 0 where not. gain: (batch, head) of attention, at every step.
        refreshed: stopped positions are attended to with the signal of the present step, as in the paper, not of the step after their last.
        Taps as in `ponder`, and `step/<n>/weights`.
        """
        block: Block = self.layers[0]  # type: ignore[assignment]
        where, mask = self.places[places], keys_allowed(alive)
        u = torch.zeros_like(where)
        ran = alive

        def advance(state: Tensor, running: Tensor, step: int) -> Tensor:
            nonlocal u, ran
            begun = state + where + self._signal(step, told)
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
    def gathered(self, tokens: Tensor, places: Tensor, alive: Tensor, stop: Stop | None = None, told: Tensor | None = None) -> Thought:
        """What `forward` gives, without gradients and without computing what has stopped. ValueError where all take the same steps."""
        if self.halting is None:
            raise ValueError("all positions take the same number of steps: there is nothing to gather")
        advance = self.running_only(places, alive, told)
        pondered = ponder_gathered(advance, self.embedding(tokens), self.halting, stop or self.stop(), alive)
        return Thought(self.readout(pondered.output), pondered)

    def running_only(self, places: Tensor, alive: Tensor, told: Tensor | None = None) -> Callable[[Tensor, Tensor, int], Tensor]:
        """The block as `ponder_gathered` wants it: keys and values of stopped positions are kept, and only those that go on ask.

        places, alive: (batch, position).
        """
        block: Block = self.layers[0]  # type: ignore[assignment]
        attention = block.attention
        batch, length = places.shape
        d_model = self.config.d_model
        where = self.places[places].view(-1, d_model)
        allowed = None if bool(alive.all()) else alive
        keys, values = where.new_zeros(2, batch * length, d_model).unbind(0)  # of every position
        written: tuple[Tensor, Tensor] | None = None  # what ran last, and the states it came to

        def begun(state: Tensor, rows: Tensor, step: int) -> Tensor:
            signal = self._signal(step, told)
            return state + taken(where, rows) + (signal if told is None else signal[rows // length, 0])

        def advance(state: Tensor, rows: Tensor, step: int) -> Tensor:
            nonlocal written
            u = begun(state, rows, step)
            if written is None or len(written[0]) == len(rows):
                mine, changed = rows, u
            else:
                mine, changed = written[0], begun(written[1], written[0], step)
            both = F.linear(changed, attention.project_in.weight[d_model:], attention.project_in.bias[d_model:])
            for kept, new in zip((keys, values), both.chunk(2, dim=-1), strict=True):
                kept.copy_(new) if len(mine) == len(kept) else kept.index_copy_(0, mine, new)
            query = F.linear(u, attention.project_in.weight[:d_model], attention.project_in.bias[:d_model])
            source = keys.view(batch, length, -1), values.view(batch, length, -1)
            attended = attention.project_out(_asked(query, rows, *source, allowed, attention))
            state = block.after(u, attended)
            written = (rows, state)
            return state

        return advance


def _asked(query: Tensor, rows: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, attention: MultiHeadAttention) -> Tensor:
    """Attention of some positions of a batch: query (n_running, d_model), rows (n_running,) their places counted flat and ascending,
    key and value (batch, position, d_model) of all -> (n_running, d_model).

    The running positions of each sequence are set side by side, as many as the sequence with the most of them has.
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
    mask = None if allowed is None else keys_allowed(allowed)
    heads = attend(attention.split(asked), attention.split(key), attention.split(value), mask)
    found = heads.transpose(1, 2).reshape(-1, query.shape[1])
    return found if cells is None else found.index_select(0, cells)


class OrdinaryTransformer(nn.Module):
    """The same with a stack of layers, each with parameters of its own (Vaswani et al., 2017); the place is told once, at the bottom."""

    places: Tensor

    def __init__(self, config: OrdinaryConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocabulary, config.words, config.d_model)
        self.layers = nn.ModuleList(Block(config.d_model, config.d_ff, config.n_heads) for _ in range(config.n_layers))
        self.readout = nn.Linear(config.d_model, config.vocabulary)
        self.register_buffer("places", sinusoids(config.max_places, config.d_model), persistent=False)

    def forward(self, tokens: Tensor, places: Tensor, alive: Tensor, gain: Tensor | None = None, trace: Trace = OFF) -> Thought:
        """tokens: (batch, position, word); places, alive: (batch, position). Taps `step/<layer, from 1>/weights`."""
        mask, x = keys_allowed(alive), self.embedding(tokens) + self.places[places]
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, gain, trace.within("step", i + 1))
        return Thought(self.readout(x), None)
