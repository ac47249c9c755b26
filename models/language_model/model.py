"""A decoder that reads a text from the left and says what comes next, with the extra predictions that it can learn from.

Al-Rfou et al. (2019), §2.1 and §3: learned positions are added before every layer; every position predicts its next symbol, not the last
one alone; every layer below the last predicts too, through a classifier of its own; and each that predicts also says the symbol after next.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import fused
from models.characters import Alphabet
from models.decoder import Decoder, Layer, quiet_start
from models.trace import OFF, Trace

PLAIN: tuple[tuple[Any, ...], ...] = ((), (frozenset(), True))  # how a pass is made where nothing is changed
PLACE = 0.1  # spread of what is learned for each position, at the start of training


@dataclass(frozen=True)
class Config:
    """What the network is."""

    letters: str = ""  # the characters that it knows, by number from 1; 0 is any other. Empty for a model of pieces
    pieces: int = 0  # or how many pieces it knows
    window: int = 256  # symbols that it reads at once
    d_model: int = 96  # width of a position
    d_ff: int = 384  # width inside the feed-forward sublayer; 0 for layers of attention alone
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 8  # layers
    dropout: float = 0.0  # of what each sublayer adds
    exits: bool = False  # does every layer below the last have a classifier of its own?
    ahead: bool = False  # are there classifiers of the symbol after next?


class Exit(nn.Module):
    """A classifier of a layer's own: LayerNorm, then a linear readout."""

    def __init__(self, d_model: int, kinds: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.readout = nn.Linear(d_model, kinds)

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, position, d_model); (batch, position, symbol) logits."""
        return self.readout(self.norm(x))  # type: ignore[no-any-return]


class Nothing(nn.Module):
    """Adds nothing, in the place of a sublayer."""

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape; zeros of the same."""
        return torch.zeros_like(x)


class Tied(nn.Module):
    """A readout that scores each symbol by its embedding: thousands of pieces would double the parameters (Press and Wolf, 2017)."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self._embedding = (embedding,)  # not registered a second time
        self.bias = nn.Parameter(torch.zeros(embedding.num_embeddings))

    @property
    def weight(self) -> Tensor:
        """(symbol, d_model)."""
        return self._embedding[0].weight

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, position, d_model); (batch, position, symbol) logits."""
        return F.linear(x, self.weight, self.bias)


class LanguageModel(Decoder):
    """P(x_t | x_1 … x_{t−1}) for symbols that are characters or pieces."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        kinds = config.pieces or len(config.letters) + 1
        self.symbol = nn.Embedding(kinds, config.d_model)
        self.places = nn.Parameter(PLACE * torch.randn(config.n_layers, config.window, config.d_model))
        self.stack(
            (Layer(config.d_model, config.d_ff or 1, config.n_heads, config.dropout) for _ in range(config.n_layers)), config.d_model, kinds
        )
        lower, all_ = range(config.n_layers - 1), range(config.n_layers)
        self.exits = nn.ModuleList(Exit(config.d_model, kinds) for _ in lower if config.exits)
        contributing = all_ if config.exits else lower[:0]
        count = (len(contributing) or 1) if config.ahead else 0
        self.ahead = nn.ModuleList(Exit(config.d_model, kinds) for _ in range(count))
        quiet_start([self.symbol], self.layers)
        for layer in self.layers if not config.d_ff else ():
            layer.feedforward_norm, layer.feedforward = nn.Identity(), Nothing()
        self.scale = 1.0
        if config.pieces:
            self.scale = math.sqrt(config.d_model)  # as in Vaswani et al. (2017), §3.4
            nn.init.normal_(self.symbol.weight, std=1 / self.scale)
            self.readout = Tied(self.symbol)  # type: ignore[assignment]

    @cached_property
    def alphabet(self) -> Alphabet:
        """The characters that it knows."""
        return Alphabet(self.config.letters)

    @property
    def start(self) -> int:
        """What stands before a text: a line break, or piece 0."""
        return 0 if self.config.pieces else int(self.alphabet.encode("\n")[0])

    @property
    def used(self) -> int:
        """Parameters that a prediction of the next symbol takes: without the classifiers that only training needs."""
        extra = sum(p.numel() for module in (self.exits, self.ahead) for p in module.parameters())
        return sum(p.numel() for p in self.parameters()) - extra

    def embedded(self, before: Tensor, first: int = 0) -> Tensor:
        """(batch, position, d_model) of symbols, (batch, position), wherever they stand: positions are added in the layers."""
        return self.symbol(before) * self.scale  # type: ignore[no-any-return]

    def step(self, cache: Any, gains: Any = None, trace: Trace = OFF, *how: Any) -> fused.Step | None:
        """What reads one position alone, None where a layer is skipped or something watched; cache: a `models.sampling.Cache`.

        The rest as in `forward`.
        """
        if trace is not OFF or how not in PLAIN:
            return None
        return fused.of_decoder(self, cache.own(gains, places=list(self.places.detach())))

    def climb(
        self,
        before: Tensor,
        first: int = 0,
        past: Any = None,
        gains: Any = None,
        trace: Trace = OFF,
        skipped: Collection[int] = (),
        places: bool = True,
    ) -> Iterator[Tensor]:
        """(batch, position, d_model) after each layer, from the lowest to the last. Arguments as in `forward`."""
        end = first + before.shape[1]
        if end > self.config.window:
            raise ValueError(f"position {end}: the model reads {self.config.window} at once")
        x = self.embedded(before)
        for i, layer in enumerate(self.layers):
            if i in skipped:
                yield x
                continue
            x = layer(x + self.places[i, first:end] if places else x, i, past, None if gains is None else gains[i], trace.within(i))
            yield x

    def forward(self, before: Tensor, first: int = 0, past: Any = None, gains: Any = None, trace: Trace = OFF, *how: Any) -> Tensor:
        """before: (batch, position) symbols, the first of them at position `first`; (batch, position, symbol) logits of the one after each.

        past: keys and values of the positions before (`models.sampling.Cache`). gains: (layer, batch, head), what a head's output is
        multiplied by. how: layers that are skipped, numbers from 0, and whether positions are added. Taps
        `<layer>/self/…`. ValueError past the window: no position there was ever trained.
        """
        *_, last = self.climb(before, first, past, gains, trace, *how)
        return self.lens(last)

    def lens(self, x: Tensor) -> Tensor:
        """The logit lens: what the last layer's norm and readout make of any layer's (batch, position, d_model)."""
        return self.readout(self.norm(x))  # type: ignore[no-any-return]

    def predictions(self, before: Tensor) -> Iterator[tuple[int, Tensor, Tensor | None]]:
        """Every prediction that training can learn from: (layer, logits of the next symbol, those of the one after it or None)."""
        last = self.config.n_layers - 1
        for i, x in enumerate(self.climb(before)):
            if i == last:
                yield i, self.lens(x), self.ahead[-1](x) if len(self.ahead) else None
            elif len(self.exits):
                yield i, self.exits[i](x), self.ahead[i](x) if len(self.ahead) else None
