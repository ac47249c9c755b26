"""A speech recogniser whose layers attend to a window around each frame (truncated self-attention,
Yeh et al., 2019), and the same network fed piece by piece.

In every layer, frame t attends to frames t − L … t + R. So four layers look 4 R frames ahead: that
is the latency, and it does not grow with the recording. A stream keeps the last L keys and values
of each layer and never computes a frame twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.speech.features import MELS, STEP, compute_mels, count_frames

BLANK = 10  # the output that stands for no digit; outputs 0 to 9 are the digits
FRAME = 4  # mel frames from one frame of the network to the next (40 ms)
KERNEL = 5  # frames that a convolution sees, the newest two of them new


@dataclass(frozen=True)
class SpeechConfig:
    """The sizes of the network."""

    channels: int = 64  # of the first convolution
    d_model: int = 96  # width of a frame
    n_heads: int = 4  # attention heads of a layer
    n_layers: int = 4
    d_ff: int = 256  # width inside the feed-forward sublayer
    left: int = 16  # L as trained: frames back; the bias beyond is that of the last
    right: int = 8  # the largest R in training
    dropout: float = 0.1  # probability, on every sublayer's output


def attend_in_band(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    gain: Tensor | None = None,
    trace: Trace = OFF,
) -> Tensor:
    """Return softmax(Q Kᵀ / √d_head + B) V.

    query, key, value: (batch, head, position, d_head).
    bias: B, −∞ outside the window; it broadcasts to (batch, head, query, key).
    gain: the factor on each head's output, (batch, head); 0 silences it.

    Taps `weights`.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]) + bias
    weights = scores.softmax(-1)
    trace.tap("weights", "batch head query key", weights)
    output = weights @ value
    return output if gain is None else output * gain[..., None, None]


class FrontEnd(nn.Module):
    """Two causal convolutions and a linear map: frame t is made of mel frames 4t − 9 … 4t + 3."""

    def __init__(self, config: SpeechConfig) -> None:
        super().__init__()
        self.first = nn.Conv1d(MELS, config.channels, KERNEL, stride=2)
        self.second = nn.Conv1d(config.channels, config.d_model, KERNEL, stride=2)
        self.project = nn.Linear(config.d_model, config.d_model)

    def begin(self, batch: int, device: torch.device) -> list[Tensor]:
        """Return what lies before the first frame, for each convolution: three empty frames."""
        return [
            torch.zeros(batch, conv.in_channels, KERNEL - 2, device=device)
            for conv in (self.first, self.second)
        ]

    def forward(self, mels: Tensor, before: list[Tensor] | None = None) -> Tensor:
        """Return frames: (batch, mel frame, mel) -> (batch, frame, d_model).

        before: what was left of earlier mel frames for each convolution, (batch, channel, frame),
            replaced by what is left now. None: nothing came before.
        """
        before = self.begin(len(mels), mels.device) if before is None else before
        x = mels.transpose(1, 2)
        for i, conv in enumerate((self.first, self.second)):
            x = torch.cat((before[i], x), 2)
            used = max(0, (x.shape[2] - KERNEL) // 2 + 1)
            before[i] = x[:, :, 2 * used :]
            x = conv(x).relu() if used else x.new_zeros(len(x), conv.out_channels, 0)
        return self.project(x.transpose(1, 2))  # type: ignore[no-any-return]


class BandLayer(nn.Module):
    """Self-attention in a window with a learned bias for each distance, then feed-forward; each
    with layer normalisation before it and a residual around it."""

    def __init__(self, config: SpeechConfig) -> None:
        super().__init__()
        self.left, self.right = config.left, config.right
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.bias = nn.Parameter(torch.zeros(config.n_heads, config.left + config.right + 1))
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(2))
        self.dropout = Dropout(config.dropout)

    def bias_of(self, offset: Tensor, left: int | None, right: int | None) -> Tensor:
        """Return B of each head, (head, query, key).

        offset: key minus query in frames, (query, key).
        left, right: L and R; None for no limit.
        """
        bias = self.bias[:, offset.clamp(-self.left, self.right) + self.left]
        hidden = torch.zeros_like(offset, dtype=torch.bool)
        if left is not None:
            hidden |= offset < -left
        if right is not None:
            hidden |= offset > right
        return bias.masked_fill(hidden, -math.inf)

    def project(self, x: Tensor) -> Tensor:
        """Return query, key and value, (3, batch, head, frame, d_head), of x, (batch, frame,
        d_model)."""
        batch, frames, _ = x.shape
        parts: Tensor = self.attention.project_in(self.norms[0](x))
        return parts.view(batch, frames, 3, self.attention.n_heads, -1).permute(2, 0, 3, 1, 4)

    def finish(self, x: Tensor, heads: Tensor) -> Tensor:
        """Return the layer's output, (batch, frame, d_model).

        x: its input.
        heads: the outputs of its heads, (batch, head, frame, d_head).
        """
        x = x + self.dropout(self.attention.join_heads(heads))
        return x + self.dropout(self.feed_forward(self.norms[1](x)))  # type: ignore[no-any-return]


class SpeechNetwork(nn.Module):
    """Scores of the ten digits and of the blank for every 40 ms."""

    def __init__(self, config: SpeechConfig) -> None:
        super().__init__()
        self.config = config
        self.front_end = FrontEnd(config)
        self.layers = nn.ModuleList(BandLayer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.readout = nn.Linear(config.d_model, BLANK + 1)

    def forward(
        self,
        mels: Tensor,
        frames: Tensor | None = None,
        left: int | None = 16,
        right: int | None = 2,
        gain: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return log-probabilities, (batch, frame, output), of whole recordings.

        mels: (batch, mel frame, mel).
        frames: how many frames each recording has, (batch,); later ones are padding.
        left, right: L and R of every layer, in frames; None for no limit.
        gain: the factor on each head's output, (layer, batch, head).

        Taps `layer/<n>/weights`, (batch, head, query, key).
        """
        x = self.front_end(mels)
        place = torch.arange(x.shape[1], device=x.device)
        offset = place - place[:, None]
        # a padded query sees itself, so that its softmax has something to sum
        padding = (
            None if frames is None else (place >= frames[:, None])[:, None, None, :] & (offset != 0)
        )
        for n, layer in enumerate(self.layers):
            assert isinstance(layer, BandLayer)
            bias = layer.bias_of(offset, left, right)
            if padding is not None:
                bias = bias.masked_fill(padding, -math.inf)
            query, key, value = layer.project(x)
            heads = attend_in_band(
                query,
                key,
                value,
                bias,
                None if gain is None else gain[n],
                trace.within("layer", n),
            )
            x = layer.finish(x, heads)
        return F.log_softmax(self.readout(self.norm(x)), -1)


@dataclass
class _Held:
    """The part of the past that a layer of a stream still needs: inputs that wait for the frames
    ahead of them, and the keys and values that these will see."""

    x: Tensor  # (1, frame, d_model), the next output first
    parts: Tensor  # queries, keys and values, (3, head, frame, d_head), up to L frames earlier
    # B by the number of earlier frames, of queries and of keys: most pieces are alike
    biases: dict[tuple[int, int, int], Tensor] = field(default_factory=dict)


class SpeechStream:
    """A recording that comes piece by piece. Each frame passes each layer once, and what comes out
    is what `SpeechNetwork.forward` gives for the whole."""

    def __init__(
        self, model: SpeechNetwork, left: int = 16, right: int = 2, gain: Tensor | None = None
    ) -> None:
        """Begin a stream. left, right, gain: as in `SpeechNetwork.forward`, batch 1."""
        self._model, self._left, self._right, self._gain = model, left, right, gain
        config, device = model.config, model.readout.weight.device
        self._samples = torch.zeros(1, 0, device=device)
        self._before = model.front_end.begin(1, device)
        empty = torch.zeros(3, config.n_heads, 0, config.d_model // config.n_heads, device=device)
        self._held = [
            _Held(torch.zeros(1, 0, config.d_model, device=device), empty) for _ in model.layers
        ]

    @torch.inference_mode()
    def feed(self, samples: Tensor, last: bool = False) -> Tensor:
        """Return the log-probabilities of the frames that are final now, (frame, output).

        samples: the next ones, (sample,).
        last: whether the recording ends here, so that nothing waits any longer.
        """
        self._samples = torch.cat((self._samples, samples[None]), 1)
        mels = compute_mels(self._samples)
        self._samples = self._samples[:, count_frames(self._samples.shape[1]) * STEP :]
        x = self._model.front_end(mels, self._before)
        for n, layer in enumerate(self._model.layers):
            assert isinstance(layer, BandLayer)
            x = self._advance(layer, self._held[n], x, n, last)
        return F.log_softmax(self._model.readout(self._model.norm(x)), -1)[0]

    def _advance(self, layer: BandLayer, held: _Held, x: Tensor, n: int, last: bool) -> Tensor:
        """Return the outputs of a layer that are final with its next inputs, (1, frame,
        d_model)."""
        if x.shape[1]:
            held.x = torch.cat((held.x, x), 1)
            held.parts = torch.cat((held.parts, layer.project(x)[:, 0]), 2)
        final = held.x.shape[1] if last else max(0, held.x.shape[1] - self._right)
        if not final:
            return x[:, :0]
        # waiting inputs are the newest, so the first query stands behind this many earlier keys
        earlier = held.parts.shape[2] - held.x.shape[1]
        last_key = earlier + min(final + self._right, held.x.shape[1])
        shape = (earlier, final, last_key)
        if shape not in held.biases:
            place = torch.arange(last_key, device=x.device)
            offset = place - place[earlier : earlier + final, None]
            held.biases[shape] = layer.bias_of(offset, self._left, self._right)
        query, key, value = held.parts.unsqueeze(1)
        heads = attend_in_band(
            query[:, :, earlier : earlier + final],
            key[:, :, :last_key],
            value[:, :, :last_key],
            held.biases[shape],
            None if self._gain is None else self._gain[n],
        )
        output = layer.finish(held.x[:, :final], heads)
        held.x = held.x[:, final:]
        held.parts = held.parts[:, :, max(0, earlier + final - self._left) :]
        return output
