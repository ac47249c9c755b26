"""A decoder's step without a call for each product: models/layers/fused.cpp, compiled for exactly
this processor.

One position of a few rows through all layers is a hundred small products; calling a library for
each costs more than the products do. The same holds for all positions of a sentence. Scores of
relative attention become weights in one pass over them in place of four.

The library is built once, at install (`python -m models.layers.fused_library`); the file's name
contains source and processor, so that no other one is ever loaded. Without the library, on a GPU,
in other precisions and for many rows, readers use the plain operations. Both agree within rounding:
a logit by 1e-4.

Reading the weights takes most of the time. Shipped weights are written in half precision. They stay
in it where nothing is lost, because that halves the bytes, and are computed with in single
precision like all others.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.layers.fused_library import (
    AddedStruct,
    HeadStruct,
    LayerStruct,
    MatrixStruct,
    NormStruct,
    StackStruct,
    StateStruct,
    load_library,
)

PANEL = 32  # outputs of a matrix that stand side by side
SPARE = 128  # numbers behind a cache's last that may be read; they must only be finite
# rows that a batch of the engine holds; with many more the library's products are as fast
ROWS = 32


class Parts(NamedTuple):
    """The modules of a layer, whatever names the layer gives them."""

    attention: Any
    norm: nn.LayerNorm
    feedforward: Any
    feedforward_norm: nn.Module  # no LayerNorm: the layer has no feed-forward sublayer
    cross: Any = None
    cross_norm: nn.LayerNorm | None = None


_plain = False  # whether the library is switched off


def can_fuse(weight: Tensor, rows: int, d_head: int) -> bool:
    """Return whether a step of so many rows with these weights can be fused."""
    usual = weight.device.type == "cpu" and weight.dtype == torch.float32 and d_head % 4 == 0
    return usual and rows <= ROWS and not _plain and load_library() is not None


def can_read(logits: Tensor) -> bool:
    """Return whether the fused functions can read these logits or scores."""
    return (
        logits.dtype == torch.float32
        and logits.device.type == "cpu"
        and not _plain
        and load_library() is not None
    )


def draw_kinds(logits: Tensor, heat: Tensor, uniform: Tensor, never: Tensor) -> Tensor:
    """Draw kinds, (row,), by the inverse of the cumulative distribution of softmax(logits / heat),
    the likeliest where heat is 0.

    logits: (row, kind).
    heat, uniform: (row,), heat in float64.
    never: kinds that are not drawn, (kind,) int64.

    Raise ValueError where rows differ.
    """
    rows, kinds = logits.shape
    logits, uniform, chosen = (
        logits.contiguous(),
        uniform.double().contiguous(),
        never.new_empty(rows),
    )
    if not len(heat) == len(uniform) == rows:
        raise ValueError(f"{len(heat)} temperatures and {len(uniform)} numbers for {rows} rows")
    told = heat.data_ptr(), uniform.data_ptr(), never.data_ptr(), len(never), chosen.data_ptr()
    load_library().draw(logits.data_ptr(), rows, kinds, *told)
    return chosen


def measure_surprise(logits: Tensor, chosen: Tensor) -> Tensor:
    """Return −log p of one kind of each row, (row,) float64. logits: (row, kind); chosen:
    (row,)."""
    rows, kinds = logits.shape
    logits, chosen, nats = (
        logits.contiguous(),
        chosen.contiguous(),
        logits.new_empty(rows, dtype=torch.float64),
    )
    load_library().surprise(logits.data_ptr(), rows, kinds, chosen.data_ptr(), nats.data_ptr())
    return nats


def softmax_in_place(scores: Tensor, relative: Tensor | None, window: int | None) -> Tensor:
    """Turn scores (row, query, key) into weights, in place. Each query sees the keys up to its own;
    the last query's own key is the last.

    relative: added to the scores, (row, query, key), as `layers.relative.view_relative_scores`
        makes it.
    window: how many keys a query sees at most.
    """
    rows, queries, keys = scores.shape
    added = None if relative is None else relative.data_ptr()
    load_library().weigh(
        scores.data_ptr(), added, rows, queries, keys, keys if window is None else window
    )
    return scores


@contextmanager
def without_fusion() -> Iterator[None]:
    """Switch the library off inside the block, to compare with the plain operations."""
    global _plain
    _plain = True
    try:
        yield
    finally:
        _plain = False


def reserve_slots(like: Tensor, *shape: int) -> Tensor:
    """Return zeros whose last axis is that of slots, with SPARE more behind the last."""
    count = torch.Size(shape).numel()
    return like.new_zeros(count + SPARE)[:count].view(shape)


def lay_out_by_slot(x: Tensor) -> Tensor:
    """Reshape (row, head, slot, d_head) to (row, channel, slot), with SPARE numbers behind the
    last."""
    rows, heads, count, d_head = x.shape
    found = reserve_slots(x, rows, heads * d_head, count)
    found.view(rows, heads, d_head, count).copy_(x.transpose(2, 3))
    return found


def lay_out_by_distance(table: Tensor, room: int) -> Tensor:
    """Reshape (head, distance, d_head), from distance 0 on, to (head, d_head, room), the nearest
    last; distances beyond the last repeat its embedding."""
    place = torch.arange(room - 1, -1, -1, device=table.device).clamp_(max=table.shape[1] - 1)
    heads, _, d_head = table.shape
    return reserve_slots(table, heads, d_head, room).copy_(
        table.detach().transpose(1, 2)[..., place]
    )


@dataclass(frozen=True)
class AddedArrays:
    """The arrays that a reader adds to a layer; None adds nothing. Slots stand side by side, in
    memory of `reserve_slots`.

    keys, values: of each head, (row, d_head, slot). Behind a head's last slot comes its first
        again, whose position is lost.
    gain, cross_gain: factors on the heads' outputs, (row, head).
    content, positional: added to the query that meets keys, or distances, (channel,).
    table: the vector that the query meets at each distance, the nearest last, (head or 1, d_head,
        distance).
    fade: added to these scores, (head, distance).
    cross_keys, cross_values: of the source, (row, channel, slot).
    places: added to the input of the layer, (position, channel).
    keep: the factor on the residual path of each sublayer.
    """

    keys: Sequence[Tensor]
    values: Sequence[Tensor]
    gain: Tensor | None = None
    cross_gain: Tensor | None = None
    content: Tensor | None = None
    positional: Tensor | None = None
    table: Tensor | None = None
    fade: Tensor | None = None
    cross_keys: Tensor | None = None
    cross_values: Tensor | None = None
    places: Tensor | None = None
    keep: tuple[float, ...] = (1, 1, 1)


class Weights:
    """Weights as a step reads them: panels of 32 outputs, one input after another; laid out once
    for all readers.

    norm: the last norm; None where norms stand behind the sublayers.
    weight, bias: of the readout; None where there is none.
    never: kinds whose logits are −∞.
    nats: whether log p of each kind comes in place of logits.
    """

    def __init__(
        self,
        layers: Sequence[Parts],
        heads: int,
        norm: nn.LayerNorm | None,
        weight: Tensor | None,
        bias: Tensor | None,
        never: Sequence[int] = (),
        nats: bool = False,
    ) -> None:
        self._kept: list[Tensor] = []
        self._layers = (LayerStruct * len(layers))()
        self.kinds, width = 0 if weight is None else len(weight), len(layers[0].norm.weight)
        for one, parts in zip(self._layers, layers, strict=True):
            one.norm = self._add_norm(parts.norm)
            one.project_in, one.out = (
                self._add_linear(parts.attention.project_in),
                self._add_linear(parts.attention.project_out),
            )
            if isinstance(parts.feedforward_norm, nn.LayerNorm):
                one.feedforward_norm = self._add_norm(parts.feedforward_norm)
                one.inner, one.outer = (
                    self._add_linear(parts.feedforward.inner),
                    self._add_linear(parts.feedforward.outer),
                )
            if parts.cross is not None and parts.cross_norm is not None:
                into = parts.cross.project_in
                one.cross_norm, one.cross_out = (
                    self._add_norm(parts.cross_norm),
                    self._add_linear(parts.cross.project_out),
                )
                one.cross_query = self._add_matrix(into.weight[:width], into.bias[:width])
                one.cross_source = self._add_matrix(into.weight[width:], into.bias[width:])
        self.stack = StackStruct(self._layers, len(layers), width, heads, norm is None, nats)
        if norm is not None:
            self.stack.norm = self._add_norm(norm)
        if weight is not None:
            self.stack.readout = self._add_matrix(weight, bias)
            self._kept[-1][list(never)] = -torch.inf

    @classmethod
    def of(
        cls,
        model: nn.Module,
        layers: Sequence[Parts],
        heads: int,
        norm: nn.LayerNorm | None,
        weight: Tensor | None,
        bias: Tensor | None = None,
        never: Sequence[int] = (),
        nats: bool = False,
    ) -> Weights:
        """Return the weights of a model, laid out anew when they have changed."""
        every = [
            *_list_parameters([*(module for parts in layers for module in parts), norm]),
            weight,
            bias,
        ]
        mark = tuple((one.data_ptr(), one._version) for one in every if one is not None)
        found = _WEIGHTS.get(model)
        if found is None or found[0] != mark:
            found = _WEIGHTS[model] = mark, cls(layers, heads, norm, weight, bias, never, nats)
        return found[1]

    def _keep_tensor(self, x: Tensor) -> int:
        self._kept.append(x)
        return x.data_ptr()

    def _add_norm(self, norm: nn.LayerNorm) -> NormStruct:
        return NormStruct(
            self._keep_tensor(norm.weight.detach().clone()),
            self._keep_tensor(norm.bias.detach().clone()),
        )

    def _add_linear(self, linear: nn.Linear) -> MatrixStruct:
        return self._add_matrix(linear.weight, linear.bias)

    def _add_matrix(self, weight: Tensor, bias: Tensor | None) -> MatrixStruct:
        outputs, inputs = weight.shape
        panels = (
            F.pad(weight.detach(), (0, 0, 0, -outputs % PANEL))
            .view(-1, PANEL, inputs)
            .transpose(1, 2)
            .contiguous()
        )
        told = weight.new_zeros(len(panels) * PANEL)
        if bias is not None:
            told[:outputs] = bias.detach()
        halves = panels.half()
        if load_library().halves() and torch.equal(halves.float(), panels):
            return MatrixStruct(
                None, self._keep_tensor(halves), self._keep_tensor(told), inputs, outputs
            )
        return MatrixStruct(
            self._keep_tensor(panels), None, self._keep_tensor(told), inputs, outputs
        )


_WEIGHTS: WeakKeyDictionary[nn.Module, tuple[tuple[Any, ...], Weights]] = WeakKeyDictionary()


def _list_parameters(modules: Iterable[nn.Module | None]) -> Iterator[Tensor | None]:
    """Yield the parameters of modules and all within them, without their names:
    `nn.Module.parameters` takes ten times as long."""
    for module in modules:
        if module is not None:
            yield from module._parameters.values()
            yield from _list_parameters(module._modules.values())


class Step:
    """One position of some rows, through all layers and the readout: x ← x + Attention(LN(x)), x ←
    x + FFN(LN(x)), or LN(x + …)."""

    def __init__(
        self,
        weights: Weights,
        layers: Sequence[AddedArrays],
        scale: float,
        mask: Tensor | None = None,
        source: int = 0,
    ) -> None:
        """Prepare the step.

        scale: the factor on scores.
        mask: added to the scores of the source, (row, source).
        source: how many positions the source has.
        """
        self._weights, self._layers, self._mask = weights, layers, mask
        self._step = load_library().step
        self._own = (AddedStruct * len(layers))()
        for one, layer in zip(self._own, layers, strict=True):
            pairs = list(zip(layer.keys, layer.values, strict=True))
            one.heads = (HeadStruct * len(pairs))(
                *(HeadStruct(k.data_ptr(), v.data_ptr(), k.stride(0), k.shape[2]) for k, v in pairs)
            )
            for name in AddedStruct._tensors:
                value = getattr(layer, name)
                setattr(one, name, None if value is None else value.data_ptr())
            one.keep = (ctypes.c_float * 3)(*layer.keep)
        first = layers[0]
        rows, table = len(first.keys[0]), first.table
        self._state = StateStruct(
            self._own,
            None if mask is None else mask.data_ptr(),
            rows,
            0 if table is None else table.shape[2],
            table is not None and len(table) == 1,
            source,
            0 if first.cross_keys is None else first.cross_keys.stride(1),
            scale,
        )
        self._shape = rows, weights.kinds
        self._at = ctypes.addressof(weights.stack), ctypes.addressof(self._state)

    def __call__(self, x: Tensor, slot: int, first: int = 0, place: int = 0) -> Tensor:
        """Write x, (row, d_model), as embedded, to `slot`, which sees the slots from `first` on,
        and return logits (row, kind). x is overwritten.

        place: the row of `places` that is added.
        """
        x, logits = x.contiguous(), x.new_empty(self._shape)
        self._step(*self._at, x.data_ptr(), first, slot, place, logits.data_ptr())
        return logits


class Whole:
    """All positions of one text, each seeing all others, through all layers at once: x ← LN(x +
    Attention(x)), x ← LN(x + FFN(x))."""

    def __init__(self, weights: Weights) -> None:
        self._weights, self._at, self._library = (
            weights,
            ctypes.addressof(weights.stack),
            load_library(),
        )
        self._scale = (weights.stack.d_model // weights.stack.n_heads) ** -0.5

    @classmethod
    def of(
        cls,
        layers: nn.ModuleList,
        parts: Sequence[Parts],
        heads: int,
        readout: Tensor | None = None,
        never: Sequence[int] = (),
    ) -> Whole | None:
        """Return the pass through these layers, made of these parts; None where it cannot be fused.
        readout, never: as in `Weights`."""
        weight = parts[0].attention.project_in.weight
        if torch.is_grad_enabled() or not can_fuse(weight, 1, weight.shape[1] // heads):
            return None
        return cls(Weights.of(layers, parts, heads, None, readout, never=never))

    def project_source(self, memory: Tensor) -> Tensor:
        """Return the keys and values of `memory`, (source, d_model), in every layer: (layer, 2,
        channel, source)."""
        memory, stack = memory.contiguous(), self._weights.stack
        found = reserve_slots(memory, stack.n_layers, 2, stack.d_model, len(memory))
        self._library.source(
            self._at, len(memory), memory.data_ptr(), len(memory), found.data_ptr()
        )
        return found

    def __call__(self, x: Tensor, seen: Tensor | None = None) -> Tensor:
        """Return the output of the last layer for x, (position, d_model), as embedded. seen: the
        result of `project_source`. x is overwritten."""
        x, (count, where) = (
            x.contiguous(),
            (0, None) if seen is None else (seen.shape[3], seen.data_ptr()),
        )
        self._library.whole(self._at, len(x), self._scale, x.data_ptr(), where, count, count)
        return x

    def readout(self, x: Tensor) -> Tensor:
        """Return logits (row, kind) of x, (row, d_model)."""
        x, logits = x.contiguous(), x.new_empty(len(x), self._weights.kinds)
        self._library.readout(self._at, len(x), x.data_ptr(), logits.data_ptr())
        return logits


def fuse_decoder(
    model: Any, own: Sequence[AddedArrays], source: Sequence[tuple[Tensor, Tensor]] = ()
) -> Step:
    """Return the step of a `models.networks.decoder.Decoder`. own: one per layer; source: keys and
    values (row, head, source, d_head) that it sees too."""
    parts = [
        Parts(
            one.attention,
            one.norm,
            one.feedforward,
            one.feedforward_norm,
            *((one.cross, one.cross_norm) if source else ()),
        )
        for one in model.decoder
    ]
    weights = Weights.of(
        model, parts, model.config.n_heads, model.norm, model.readout.weight, model.readout.bias
    )
    if source:
        seen = [(lay_out_by_slot(key), lay_out_by_slot(value)) for key, value in source]
        own = [
            replace(one, cross_keys=keys, cross_values=values)
            for one, (keys, values) in zip(own, seen, strict=True)
        ]
    return Step(
        weights,
        own,
        (model.config.d_model // model.config.n_heads) ** -0.5,
        source=source[0][0].shape[2] if source else 0,
    )
