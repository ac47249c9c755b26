"""Encoders with a leading slot axis: every tensor holds one network for each run, and one flat
matrix (slot, parameter) holds all their parameters.

A slot never meets another one: all products are batched over slots, so that a run alone and the
same run in company give the same numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from models.twins.records import DIGITS, HEADS, Shape, Techniques, list_parameters


def count_parameters(shape: Shape) -> int:
    """Return the number of parameters of one network."""
    return sum(math.prod(size) for size in list_parameters(shape).values())


def list_parts(shape: Shape) -> list[slice]:
    """Return the columns of the flat matrix of each part: embedding, every layer, output."""
    ends: dict[str, int] = {}
    at = 0
    for name, size in list_parameters(shape).items():
        at += math.prod(size)
        part = name.split(".")[0] if "." in name else "embed" if name == "embed" else "output"
        ends[part] = at
    begins = [0, *ends.values()]
    return [slice(*pair) for pair in itertools.pairwise(begins)]


def split_flat(flat: Tensor, shape: Shape) -> dict[str, Tensor]:
    """Return the parameters by name, (slot, …) each, as views of the flat matrix."""
    views, at = {}, 0
    for name, size in list_parameters(shape).items():
        count = math.prod(size)
        views[name] = flat[:, at : at + count].view(-1, *size)
        at += count
    return views


def draw_parameters(shape: Shape, seed: int) -> Tensor:
    """Return the parameters of a fresh network, (parameter,); the same seed gives the same ones.
    Weights are Glorot's, norms 1, biases 0."""
    generator, parts = torch.Generator().manual_seed(seed), []
    for name, size in list_parameters(shape).items():
        if len(size) == 2:
            # PyTorch holds a weight as (out, in), and an embedding as it stands here
            weight = torch.empty(size if name == "embed" else size[::-1])
            nn.init.xavier_uniform_(weight, generator=generator)
            parts.append(weight if name == "embed" else weight.T)
        else:
            parts.append(torch.full(size, float(name.endswith(("norm", "norm1", "norm2")))))
    return torch.cat([part.flatten() for part in parts])


@cache
def build_positions(length: int, width: int, kind: torch.dtype) -> Tensor:
    """Return sinusoids, (position, width)."""
    place = torch.arange(length, dtype=kind)[:, None]
    angle = place / 10_000 ** (torch.arange(0, width, 2, dtype=kind) / width)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


@dataclass(frozen=True)
class Switches:
    """The techniques inside a pass, a vector over slots each; None where no slot needs it.

    pre: whether the norm stands before the sublayer, (slot, 1, 1); a bool where all slots agree.
    residual: 1 where the input is added, else 0, (slot, 1, 1). masks: of dropout, one for each
    residual sum, (slot, token, width), scaled.
    """

    pre: Tensor | bool
    residual: Tensor | None = None
    masks: Sequence[Tensor] | None = None


def choose_switches(runs: Sequence[Techniques]) -> Switches:
    """Return the switches of some runs, without dropout."""
    pre = [run.norm == "pre" for run in runs]
    agree = all(pre) or not any(pre)
    cut = not all(run.residual for run in runs)
    return Switches(
        pre[0] if agree else torch.tensor(pre)[:, None, None],
        torch.tensor([float(run.residual) for run in runs])[:, None, None] if cut else None,
    )


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.baddbmm(bias[:, None], x, weight)


def _normalise(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    return torch.addcmul(bias[:, None], F.layer_norm(x, x.shape[-1:]), gain[:, None])


def attend(
    x: Tensor, p: dict[str, Tensor], at: int, length: int, kept: list[Tensor] | None
) -> Tensor:
    """Return softmax(QKᵀ/√d_k)V of every head, (slot, token, width). kept: where the weights go,
    (slot, sequence, head, query, key)."""
    slots, tokens, width = x.shape
    size, rows = width // HEADS, tokens // length
    qkv = _linear(x, p[f"{at}.qkv"], p[f"{at}.qkv_bias"])
    parts = qkv.view(slots, rows, length, 3, HEADS, size).permute(3, 0, 1, 4, 2, 5)
    q, k, v = parts.reshape(3, slots * rows * HEADS, length, size).unbind()
    scores = torch.bmm(q, k.transpose(1, 2)) * size**-0.5
    weights = scores.softmax(-1)
    if kept is not None:
        kept.append(weights.view(slots, rows, HEADS, length, length))
    mixed = torch.bmm(weights, v).view(slots, rows, HEADS, length, size)
    joined = mixed.transpose(2, 3).reshape(slots, tokens, width)
    return _linear(joined, p[f"{at}.out"], p[f"{at}.out_bias"])


def feed_forward(x: Tensor, p: dict[str, Tensor], at: int) -> Tensor:
    """Return W₂ relu(W₁ x), (slot, token, width)."""
    inner = _linear(x, p[f"{at}.up"], p[f"{at}.up_bias"]).relu()
    return _linear(inner, p[f"{at}.down"], p[f"{at}.down_bias"])


def forward(
    p: dict[str, Tensor],
    tokens: Tensor,
    shape: Shape,
    switches: Switches,
    kept: list[Tensor] | None = None,
    *,
    recompute: bool = False,
) -> Tensor:
    """Return the logits of every position, (slot, token, digit).

    tokens: the digits of all sequences, one after another, (slot, token). kept: see `attend`.
    recompute: whether the way back computes each layer again, and only its input is held.
    """
    length, pre = shape.length, switches.pre
    spread = (tokens[..., None] == torch.arange(DIGITS)).to(p["embed"].dtype)
    places = build_positions(length, shape.width, spread.dtype)
    places = places.repeat(tokens.shape[1] // length, 1)
    x = torch.baddbmm(places[None], spread, p["embed"], alpha=shape.width**0.5)

    def norm(y: Tensor, name: str) -> Tensor:
        return _normalise(y, p[name], p[f"{name}_bias"])

    def choose(before: Tensor, after: Tensor) -> Tensor:
        return torch.where(pre, before, after)  # type: ignore[arg-type]

    def layer(x: Tensor, at: int) -> Tensor:
        for second in (0, 1):
            name = f"{at}.norm{second + 1}"
            given = x if pre is False else norm(x, name)
            if isinstance(pre, Tensor):
                given = choose(given, x)
            y = feed_forward(given, p, at) if second else attend(given, p, at, length, kept)
            if switches.masks is not None:
                y = y * switches.masks[2 * at + second]
            y = y + (x if switches.residual is None else x * switches.residual)
            x = y if pre is True else norm(y, name)
            if isinstance(pre, Tensor):
                x = choose(y, x)
        return x

    for at in range(shape.layers):
        x = checkpoint(layer, x, at, use_reentrant=False) if recompute else layer(x, at)
    if pre is not False:
        last = norm(x, "norm")
        x = choose(last, x) if isinstance(pre, Tensor) else last
    return _linear(x, p["head"], p["head_bias"])
