"""A decoder that reads a text from the left and predicts the next symbol, with auxiliary
predictions for training.

Al-Rfou et al. (2019), §2.1 and §3: learned positions are added before every layer. Every position
predicts its next symbol, instead of the last position alone; every lower layer predicts too,
through its own classifier; and each of these also predicts the symbol after next.
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

from models.data.characters import Alphabet
from models.explaining.trace import OFF, Trace
from models.layers import fused
from models.networks.decoder import Decoder, Layer, initialise_quietly

# The defaults of a pass without changes.
PLAIN: tuple[tuple[Any, ...], ...] = ((), (frozenset(), True))
PLACE = 0.1  # standard deviation of position embeddings at the start of training


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    # The known characters, numbered from 1; 0 is any other. Empty for a model of pieces.
    letters: str = ""
    pieces: int = 0  # or the number of known pieces
    window: int = 256  # symbols that it reads at once
    d_model: int = 96  # width of a position
    d_ff: int = 384  # width inside the feed-forward sublayer; 0 for attention alone
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 8  # layers
    dropout: float = 0.0  # of the output of each sublayer
    exits: bool = False  # whether every lower layer has its own classifier
    ahead: bool = False  # whether there are classifiers of the symbol after next


class Exit(nn.Module):
    """A layer's own classifier: LayerNorm, then a linear readout."""

    def __init__(self, d_model: int, kinds: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.readout = nn.Linear(d_model, kinds)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits, (batch, position, symbol).

        x: (batch, position, d_model).
        """
        return self.readout(self.norm(x))  # type: ignore[no-any-return]


class Nothing(nn.Module):
    """A replacement for a sublayer that adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        """Return zeros in the shape of x."""
        return torch.zeros_like(x)


class Tied(nn.Module):
    """A readout that scores each symbol by its embedding, because a separate one for thousands of
    pieces would double the parameters (Press and Wolf, 2017)."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self._embedding = (embedding,)  # a tuple, so that it is not registered a second time
        self.bias = nn.Parameter(torch.zeros(embedding.num_embeddings))

    @property
    def weight(self) -> Tensor:
        """The embeddings, (symbol, d_model)."""
        return self._embedding[0].weight

    def forward(self, x: Tensor) -> Tensor:
        """Return logits, (batch, position, symbol).

        x: (batch, position, d_model).
        """
        return F.linear(x, self.weight, self.bias)


class LanguageModel(Decoder):
    """A decoder for P(x_t | x_1 … x_{t−1}), with characters or pieces as symbols."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        kinds = config.pieces or len(config.letters) + 1
        self.symbol = nn.Embedding(kinds, config.d_model)
        self.places = nn.Parameter(
            PLACE * torch.randn(config.n_layers, config.window, config.d_model)
        )
        self.build_layers(
            (
                Layer(config.d_model, config.d_ff or 1, config.n_heads, config.dropout)
                for _ in range(config.n_layers)
            ),
            config.d_model,
            kinds,
        )
        lower, all_ = range(config.n_layers - 1), range(config.n_layers)
        self.exits = nn.ModuleList(Exit(config.d_model, kinds) for _ in lower if config.exits)
        contributing = all_ if config.exits else lower[:0]
        count = (len(contributing) or 1) if config.ahead else 0
        self.ahead = nn.ModuleList(Exit(config.d_model, kinds) for _ in range(count))
        initialise_quietly([self.symbol], self.layers)
        for layer in self.layers if not config.d_ff else ():
            layer.feedforward_norm, layer.feedforward = nn.Identity(), Nothing()
        self.scale = 1.0
        if config.pieces:
            self.scale = math.sqrt(config.d_model)  # as in Vaswani et al. (2017), §3.4
            nn.init.normal_(self.symbol.weight, std=1 / self.scale)
            self.readout = Tied(self.symbol)  # type: ignore[assignment]

    @cached_property
    def alphabet(self) -> Alphabet:
        """The known characters."""
        return Alphabet(self.config.letters)

    @property
    def start(self) -> int:
        """The symbol before a text: a line break, or piece 0."""
        return 0 if self.config.pieces else int(self.alphabet.encode("\n")[0])

    @property
    def parameters_used(self) -> int:
        """The number of parameters that a prediction of the next symbol uses, without the
        classifiers for training."""
        extra = sum(p.numel() for module in (self.exits, self.ahead) for p in module.parameters())
        return sum(p.numel() for p in self.parameters()) - extra

    def embed_symbols(self, before: Tensor, first: int = 0) -> Tensor:
        """Return the embeddings of symbols, (batch, position, d_model).

        They do not depend on positions, which the layers add. before: (batch, position).
        """
        return self.symbol(before) * self.scale  # type: ignore[no-any-return]

    def step(
        self, cache: Any, gains: Any = None, trace: Trace = OFF, *how: Any
    ) -> fused.Step | None:
        """Return the step that reads one position; None if a layer is skipped or the trace is
        watched.

        cache: a `models.decoding.sampling.SamplingCache`. The other arguments are those of
        `forward`.
        """
        if trace is not OFF or how not in PLAIN:
            return None
        return fused.fuse_decoder(self, cache.as_fused(gains, places=list(self.places.detach())))

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
        """Yield the output of each layer, from the lowest to the last, (batch, position, d_model).

        The arguments are those of `forward`.
        """
        end = first + before.shape[1]
        if end > self.config.window:
            raise ValueError(f"position {end}: the model reads {self.config.window} at once")
        x = self.embed_symbols(before)
        for i, layer in enumerate(self.layers):
            if i in skipped:
                yield x
                continue
            x = layer(
                x + self.places[i, first:end] if places else x,
                i,
                past,
                None if gains is None else gains[i],
                trace.within(i),
            )
            yield x

    def forward(
        self,
        before: Tensor,
        first: int = 0,
        past: Any = None,
        gains: Any = None,
        trace: Trace = OFF,
        *how: Any,
    ) -> Tensor:
        """Return the logits of the symbol after each position, (batch, position, symbol).

        before: symbols, (batch, position); the first has position `first`. past: keys and values of
        earlier positions (`models.decoding.sampling.SamplingCache`). gains: factors of the heads'
        outputs, (layer, batch, head). how: skipped layers, from 0, and whether positions are added.
        The taps are `<layer>/self/…`. Raise ValueError beyond the window, because no position there
        is trained.
        """
        *_, last = self.climb(before, first, past, gains, trace, *how)
        return self.lens(last)

    def lens(self, x: Tensor) -> Tensor:
        """Apply the logit lens: the last layer's norm and readout on any layer's output.

        x: (batch, position, d_model).
        """
        return self.readout(self.norm(x))  # type: ignore[no-any-return]

    def predictions(self, before: Tensor) -> Iterator[tuple[int, Tensor, Tensor | None]]:
        """Yield every prediction for training: (layer, logits of the next symbol, logits of the
        symbol after it or None)."""
        last = self.config.n_layers - 1
        for i, x in enumerate(self.climb(before)):
            if i == last:
                yield i, self.lens(x), self.ahead[-1](x) if len(self.ahead) else None
            elif len(self.exits):
                yield i, self.exits[i](x), self.ahead[i](x) if len(self.ahead) else None
