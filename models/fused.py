"""A decoder's step without a call for each product: models/fused.cpp, where a compiler has built it for this very processor.

One position of a few rows through all layers is a hundred small products; calling a library for each costs more than they do. So are all
positions of a sentence. And scores of relative attention become weights in one pass over them in place of four.

Built once, at install (`python -m models.fused`); the file's name tells source and processor, so that no other one is ever loaded. Where
there is none, on a GPU, in other precisions and for many rows, readers go the plain way. Both agree within rounding: a logit by 1e-4.

What takes the time is reading the weights. Shipped ones are written in half precision, so they are kept so where nothing is lost by it, as
half the bytes, and computed with in single precision like all others.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

SOURCE = Path(__file__).with_suffix(".cpp")
FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-std=c++17", "-shared", "-fPIC")
THREADS = ("-fopenmp", "-fopenmp-simd")  # the second where a compiler has no library for threads
PANEL = 32  # outputs of a matrix that stand side by side
SPARE = 128  # numbers behind a cache's last that may be read, whatever they are, if they are finite
ROWS = 32  # as many as a batch of the engine holds; with many more the library's products are as fast


class _Matrix(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("panels", "halves", "bias")),
        *((name, ctypes.c_int64) for name in ("inputs", "outputs")),
    )


class _Norm(ctypes.Structure):
    _fields_ = (("weight", ctypes.c_void_p), ("bias", ctypes.c_void_p))


class _Layer(ctypes.Structure):
    _norms = ("norm", "cross_norm", "feedforward_norm")
    _matrices = ("project_in", "out", "cross_query", "cross_source", "cross_out", "inner", "outer")
    _fields_ = (*((name, _Norm) for name in _norms), *((name, _Matrix) for name in _matrices))


class _Stack(ctypes.Structure):
    _fields_ = (
        ("layers", ctypes.POINTER(_Layer)),
        *((name, ctypes.c_int64) for name in ("n_layers", "d_model", "n_heads", "behind", "nats")),
        ("norm", _Norm),
        ("readout", _Matrix),
    )


class _Head(ctypes.Structure):
    _fields_ = (("keys", ctypes.c_void_p), ("values", ctypes.c_void_p), ("row", ctypes.c_int64), ("room", ctypes.c_int64))


class _Own(ctypes.Structure):
    _tensors = ("gain", "cross_gain", "content", "positional", "table", "fade", "cross_keys", "cross_values", "places")
    _fields_ = (
        ("heads", ctypes.POINTER(_Head)),
        *((name, ctypes.c_void_p) for name in _tensors),
        ("keep", ctypes.c_float * 3),
    )


class _State(ctypes.Structure):
    _fields_ = (
        ("own", ctypes.POINTER(_Own)),
        ("mask", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("rows", "distances", "shared", "source", "source_room")),
        ("scale", ctypes.c_float),
    )


def _compiler() -> str | None:
    return shutil.which(os.environ.get("CXX", "")) or shutil.which("g++") or shutil.which("clang++")


def _built() -> Path:
    """Where the library for this source and this processor stands, or would: beside the installed packages."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text("utf-8").splitlines() if about.is_file() else []
    said = [platform.machine(), *sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))})]
    digest = hashlib.sha256(SOURCE.read_bytes() + repr((FLAGS, THREADS, said)).encode()).hexdigest()
    return Path(sys.prefix) / "lib" / "transformer-family-explorer" / f"fused-{digest[:16]}.so"


def build() -> str:
    """Compile for this processor, and say in one sentence how it went. Nothing happens where it is built already."""
    there, compiler = _built(), _compiler()
    if there.is_file():
        return f"The fused step is built already: {there}"
    if compiler is None:
        return "No C++ compiler: decoders go the plain way, which is slower."
    try:
        there.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=there.parent) as folder:
            made = Path(folder) / there.name
            for threads in THREADS:
                told = [compiler, *FLAGS, threads, str(SOURCE), "-o", str(made)]
                ran = subprocess.run(told, check=threads == THREADS[-1], capture_output=True, timeout=300)
                if ran.returncode == 0:
                    break
            made.replace(there)  # at once: nobody ever loads half a library
    except (OSError, subprocess.SubprocessError) as error:
        return f"The fused step could not be built, so decoders go the plain way, which is slower: {error}"
    _library.cache_clear()
    return f"The fused step is built: {there}"


@cache
def _library() -> Any:
    """The library, or None."""
    try:
        found = ctypes.CDLL(str(_built()))
    except OSError:
        return None
    found.step.argtypes = (*(ctypes.c_void_p,) * 3, *(ctypes.c_int64,) * 3, ctypes.c_void_p)
    found.draw.argtypes = (ctypes.c_void_p, *(ctypes.c_int64,) * 2, *(ctypes.c_void_p,) * 3, ctypes.c_int64, ctypes.c_void_p)
    found.surprise.argtypes = (ctypes.c_void_p, *(ctypes.c_int64,) * 2, *(ctypes.c_void_p,) * 2)
    found.source.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    found.whole.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, *(ctypes.c_void_p,) * 2, *(ctypes.c_int64,) * 2)
    found.readout.argtypes = (ctypes.c_void_p, ctypes.c_int64, *(ctypes.c_void_p,) * 2)
    found.weigh.argtypes = (*(ctypes.c_void_p,) * 2, *(ctypes.c_int64,) * 4)
    for function in (found.step, found.draw, found.surprise, found.source, found.whole, found.readout, found.weigh):
        function.restype = None
    return found


class Parts(NamedTuple):
    """A layer's modules, whatever it calls them."""

    attention: Any
    norm: nn.LayerNorm
    feedforward: Any
    feedforward_norm: nn.Module  # no LayerNorm: the layer has no such sublayer
    cross: Any = None
    cross_norm: nn.LayerNorm | None = None


_plain = False  # does nobody use what is built?


def serves(weight: Tensor, rows: int, d_head: int) -> bool:
    """Would a step of so many rows with such weights be fused?"""
    usual = weight.device.type == "cpu" and weight.dtype == torch.float32 and d_head % 4 == 0
    return usual and rows <= ROWS and not _plain and _library() is not None


def reads(logits: Tensor) -> bool:
    """May `drawn` and `surprise` read them, or `weigh` scores?"""
    return logits.dtype == torch.float32 and logits.device.type == "cpu" and not _plain and _library() is not None


def drawn(logits: Tensor, heat: Tensor, uniform: Tensor, never: Tensor) -> Tensor:
    """(row,) kinds by the inverse of the cumulative distribution of softmax(logits / heat), the likeliest where heat is 0.

    logits: (row, kind); heat, uniform: (row,), heat in float64; never: (kind,) int64, not drawn. ValueError where rows differ.
    """
    rows, kinds = logits.shape
    logits, uniform, chosen = logits.contiguous(), uniform.double().contiguous(), never.new_empty(rows)
    if not len(heat) == len(uniform) == rows:
        raise ValueError(f"{len(heat)} temperatures and {len(uniform)} numbers for {rows} rows")
    told = heat.data_ptr(), uniform.data_ptr(), never.data_ptr(), len(never), chosen.data_ptr()
    _library().draw(logits.data_ptr(), rows, kinds, *told)
    return chosen


def surprise(logits: Tensor, chosen: Tensor) -> Tensor:
    """−log p of one kind of each row, (row,) float64. logits: (row, kind); chosen: (row,)."""
    rows, kinds = logits.shape
    logits, chosen, nats = logits.contiguous(), chosen.contiguous(), logits.new_empty(rows, dtype=torch.float64)
    _library().surprise(logits.data_ptr(), rows, kinds, chosen.data_ptr(), nats.data_ptr())
    return nats


def weigh(scores: Tensor, relative: Tensor | None, window: int | None) -> Tensor:
    """Scores (row, query, key) become weights, in place, each query seeing the keys up to its own, the last query's being the last.

    relative: (row, query, key), added to them, as `layers.relative.relative_view` makes it. window: how many keys a query sees at most.
    """
    rows, queries, keys = scores.shape
    added = None if relative is None else relative.data_ptr()
    _library().weigh(scores.data_ptr(), added, rows, queries, keys, keys if window is None else window)
    return scores


@contextmanager
def off() -> Iterator[None]:
    """For a while everybody goes the plain way, to be compared with."""
    global _plain
    _plain = True
    try:
        yield
    finally:
        _plain = False


def room_for(like: Tensor, *shape: int) -> Tensor:
    """Zeros, the last axis that of slots, with SPARE more behind the last."""
    count = torch.Size(shape).numel()
    return like.new_zeros(count + SPARE)[:count].view(shape)


def by_slot(x: Tensor) -> Tensor:
    """(row, head, slot, d_head) -> (row, channel, slot), with SPARE numbers behind the last."""
    rows, heads, count, d_head = x.shape
    found = room_for(x, rows, heads * d_head, count)
    found.view(rows, heads, d_head, count).copy_(x.transpose(2, 3))
    return found


def by_distance(table: Tensor, room: int) -> Tensor:
    """(head, distance, d_head), from distance 0 on -> (head, d_head, room), the nearest last; beyond the last one it stays the last."""
    place = torch.arange(room - 1, -1, -1, device=table.device).clamp_(max=table.shape[1] - 1)
    heads, _, d_head = table.shape
    return room_for(table, heads, d_head, room).copy_(table.detach().transpose(1, 2)[..., place])


@dataclass(frozen=True)
class Own:
    """What a reader adds to a layer; None adds nothing. Slots stand side by side, in the memory of `room_for`.

    keys, values: (row, d_head, slot) of each head. Behind a head's last slot comes its first again, whose position is lost.
    gain, cross_gain: (row, head), what heads' outputs are multiplied by. content, positional: (channel,), added to the query that meets
    keys, or distances. table: (head or 1, d_head, distance), what the query meets of each distance, the nearest last. fade: (head,
    distance), added to these scores. cross_keys, cross_values: of the source, (row, channel, slot). places: (position, channel), added
    to what the layer reads. keep: what the residual path of each sublayer is multiplied by.
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
    """Weights as a step reads them: panels of 32 outputs, one input after another; laid out once for all readers.

    norm: the last one; None where norms stand behind the sublayers. weight, bias: of the readout; None where there is none. never: kinds
    whose logits are −∞. nats: log p of each kind comes in place of logits.
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
        self._layers = (_Layer * len(layers))()
        self.kinds, width = 0 if weight is None else len(weight), len(layers[0].norm.weight)
        for one, parts in zip(self._layers, layers, strict=True):
            one.norm = self._norm(parts.norm)
            one.project_in, one.out = self._linear(parts.attention.project_in), self._linear(parts.attention.project_out)
            if isinstance(parts.feedforward_norm, nn.LayerNorm):
                one.feedforward_norm = self._norm(parts.feedforward_norm)
                one.inner, one.outer = self._linear(parts.feedforward.inner), self._linear(parts.feedforward.outer)
            if parts.cross is not None and parts.cross_norm is not None:
                into = parts.cross.project_in
                one.cross_norm, one.cross_out = self._norm(parts.cross_norm), self._linear(parts.cross.project_out)
                one.cross_query = self._matrix(into.weight[:width], into.bias[:width])
                one.cross_source = self._matrix(into.weight[width:], into.bias[width:])
        self.stack = _Stack(self._layers, len(layers), width, heads, norm is None, nats)
        if norm is not None:
            self.stack.norm = self._norm(norm)
        if weight is not None:
            self.stack.readout = self._matrix(weight, bias)
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
        """Those of a model, laid out anew when they have changed."""
        every = [*_parameters([*(module for parts in layers for module in parts), norm]), weight, bias]
        mark = tuple((one.data_ptr(), one._version) for one in every if one is not None)
        found = _WEIGHTS.get(model)
        if found is None or found[0] != mark:
            found = _WEIGHTS[model] = mark, cls(layers, heads, norm, weight, bias, never, nats)
        return found[1]

    def _keep(self, x: Tensor) -> int:
        self._kept.append(x)
        return x.data_ptr()

    def _norm(self, norm: nn.LayerNorm) -> _Norm:
        return _Norm(self._keep(norm.weight.detach().clone()), self._keep(norm.bias.detach().clone()))

    def _linear(self, linear: nn.Linear) -> _Matrix:
        return self._matrix(linear.weight, linear.bias)

    def _matrix(self, weight: Tensor, bias: Tensor | None) -> _Matrix:
        outputs, inputs = weight.shape
        panels = F.pad(weight.detach(), (0, 0, 0, -outputs % PANEL)).view(-1, PANEL, inputs).transpose(1, 2).contiguous()
        told = weight.new_zeros(len(panels) * PANEL)
        if bias is not None:
            told[:outputs] = bias.detach()
        halves = panels.half()
        if _library().halves() and torch.equal(halves.float(), panels):
            return _Matrix(None, self._keep(halves), self._keep(told), inputs, outputs)
        return _Matrix(self._keep(panels), None, self._keep(told), inputs, outputs)


_WEIGHTS: WeakKeyDictionary[nn.Module, tuple[tuple[Any, ...], Weights]] = WeakKeyDictionary()


def _parameters(modules: Iterable[nn.Module | None]) -> Iterator[Tensor | None]:
    """Of modules and all within them, without their names: `nn.Module.parameters` takes ten times as long."""
    for module in modules:
        if module is not None:
            yield from module._parameters.values()
            yield from _parameters(module._modules.values())


class Step:
    """One position of some rows, through all layers and the readout: x ← x + Attention(LN(x)), x ← x + FFN(LN(x)), or LN(x + …)."""

    def __init__(self, weights: Weights, layers: Sequence[Own], scale: float, mask: Tensor | None = None, source: int = 0) -> None:
        """scale: what scores are multiplied by. mask: (row, source), added to the scores of the source, of so many positions."""
        self._weights, self._layers, self._mask = weights, layers, mask
        self._step = _library().step
        self._own = (_Own * len(layers))()
        for one, layer in zip(self._own, layers, strict=True):
            pairs = list(zip(layer.keys, layer.values, strict=True))
            one.heads = (_Head * len(pairs))(*(_Head(k.data_ptr(), v.data_ptr(), k.stride(0), k.shape[2]) for k, v in pairs))
            for name in _Own._tensors:
                value = getattr(layer, name)
                setattr(one, name, None if value is None else value.data_ptr())
            one.keep = (ctypes.c_float * 3)(*layer.keep)
        first = layers[0]
        rows, table = len(first.keys[0]), first.table
        self._state = _State(
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
        """x: (row, d_model), as embedded, goes to `slot`, and sees from `first` on; logits (row, kind). x is written over.

        place: which of `places` is added.
        """
        x, logits = x.contiguous(), x.new_empty(self._shape)
        self._step(*self._at, x.data_ptr(), first, slot, place, logits.data_ptr())
        return logits


class Whole:
    """All positions of one text, each seeing all others, through all layers at once: x ← LN(x + Attention(x)), x ← LN(x + FFN(x))."""

    def __init__(self, weights: Weights) -> None:
        self._weights, self._at, self._library = weights, ctypes.addressof(weights.stack), _library()
        self._scale = (weights.stack.d_model // weights.stack.n_heads) ** -0.5

    @classmethod
    def of(
        cls, layers: nn.ModuleList, parts: Sequence[Parts], heads: int, readout: Tensor | None = None, never: Sequence[int] = ()
    ) -> Whole | None:
        """Through these layers, and what they are made of; None where that is not fused. readout, never: as of `Weights`."""
        weight = parts[0].attention.project_in.weight
        if torch.is_grad_enabled() or not serves(weight, 1, weight.shape[1] // heads):
            return None
        return cls(Weights.of(layers, parts, heads, None, readout, never=never))

    def source(self, memory: Tensor) -> Tensor:
        """memory: (source, d_model). Its keys and values in every layer, (layer, 2, channel, source)."""
        memory, stack = memory.contiguous(), self._weights.stack
        found = room_for(memory, stack.n_layers, 2, stack.d_model, len(memory))
        self._library.source(self._at, len(memory), memory.data_ptr(), len(memory), found.data_ptr())
        return found

    def __call__(self, x: Tensor, seen: Tensor | None = None) -> Tensor:
        """x: (position, d_model), as embedded; what comes out of the last layer. seen: what `source` gave. x is written over."""
        x, (count, where) = x.contiguous(), (0, None) if seen is None else (seen.shape[3], seen.data_ptr())
        self._library.whole(self._at, len(x), self._scale, x.data_ptr(), where, count, count)
        return x

    def readout(self, x: Tensor) -> Tensor:
        """x: (row, d_model). Logits (row, kind)."""
        x, logits = x.contiguous(), x.new_empty(len(x), self._weights.kinds)
        self._library.readout(self._at, len(x), x.data_ptr(), logits.data_ptr())
        return logits


def of_decoder(model: Any, own: Sequence[Own], source: Sequence[tuple[Tensor, Tensor]] = ()) -> Step:
    """The step of a `models.decoder.Decoder`. own: of each layer; source: keys and values (row, head, source, d_head) that it sees too."""
    parts = [
        Parts(one.attention, one.norm, one.feedforward, one.feedforward_norm, *((one.cross, one.cross_norm) if source else ()))
        for one in model.decoder
    ]
    weights = Weights.of(model, parts, model.config.n_heads, model.norm, model.readout.weight, model.readout.bias)
    if source:
        seen = [(by_slot(key), by_slot(value)) for key, value in source]
        own = [replace(one, cross_keys=keys, cross_values=values) for one, (keys, values) in zip(own, seen, strict=True)]
    return Step(weights, own, (model.config.d_model // model.config.n_heads) ** -0.5, source=source[0][0].shape[2] if source else 0)


if __name__ == "__main__":
    print(build())
