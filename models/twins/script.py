"""The same run in PyTorch's own words: a script that needs nothing of this project."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.twins.records import HEADS, Shape, Techniques, list_parameters

ANSWERS = {"sort": "x.sort().values", "reverse": "x.flip(1)", "copy": "x"}


NAMES = {
    "qkv": "self_attn.in_proj_weight",
    "qkv_bias": "self_attn.in_proj_bias",
    "out": "self_attn.out_proj.weight",
    "out_bias": "self_attn.out_proj.bias",
    "up": "linear1.weight",
    "up_bias": "linear1.bias",
    "down": "linear2.weight",
    "down_bias": "linear2.bias",
    "norm1": "norm1.weight",
    "norm1_bias": "norm1.bias",
    "norm2": "norm2.weight",
    "norm2_bias": "norm2.bias",
}
ENDS = {
    "embed": "0.weight",
    "norm": "1.norm.weight",
    "norm_bias": "1.norm.bias",
    "head": "2.weight",
    "head_bias": "2.bias",
}


def export_parameters(state: NDArray[Any], shape: Shape) -> tuple[NDArray[Any], list[Any]]:
    """Return the flat parameters of runs, (run, parameter), as PyTorch arranges them, and [name,
    first column, shape] of each as the module of the script names it."""
    parts, names, at = [], [], 0
    for name, size in list_parameters(shape).items():
        count = math.prod(size)
        part = state[:, at : at + count]
        if len(size) == 2 and name != "embed":  # PyTorch holds (out, in)
            part = part.reshape(-1, *size).swapaxes(1, 2).reshape(len(state), -1)
            size = size[::-1]
        layer, _, short = name.rpartition(".")
        full = f"1.layers.{layer}.{NAMES[short]}" if layer else ENDS[name]
        names.append([full, at, list(size)])
        parts.append(part)
        at += count
    return np.concatenate(parts, 1), names


def can_be_written(run: Techniques) -> bool:
    """Return whether PyTorch's own layer and optimizers make this run. They cannot leave the
    residual path out, draw the same dropout, or average weights."""
    return run.residual and not run.dropout and not run.average


def write_script(run: Techniques, shape: Shape, steps: int, seed: int) -> str:
    """Return the script of one run. At its end `curve` holds the held-out loss after every step,
    in nats a digit."""
    d, length = shape.width, shape.length
    rate = _write_rate(run, steps)
    last = f"nn.LayerNorm({d})" if run.norm == "pre" else "None"
    optimizer = (
        "torch.optim.Adam(net.parameters())"
        if run.optimizer == "adam"
        else "torch.optim.SGD(net.parameters(), 1.0, momentum=0.9, dampening=0.9)"
    )
    digits = f"generator.integers(0, 10, ({run.batch}, {length}))"
    if run.few:
        digits = f"few[generator.integers(0, 100, {run.batch})]"
    smoothing = f", label_smoothing={run.smoothing}" if run.smoothing else ""
    lines = [
        "import numpy as np, torch",
        "from torch import nn",
        f"layer = nn.TransformerEncoderLayer({d}, {HEADS}, {4 * d}, 0.0, batch_first=True,"
        f" norm_first={run.norm == 'pre'})",
        f"encoder = nn.TransformerEncoder(layer, {shape.layers}, {last},"
        " enable_nested_tensor=False)",
        f"net = nn.ModuleList([nn.Embedding(10, {d}), encoder, nn.Linear({d}, 10)])",
        f"g = torch.Generator().manual_seed({seed})",
        "for name, p in net.named_parameters():",
        "    if p.dim() > 1: nn.init.xavier_uniform_(p, generator=g)",
        "    else: nn.init.constant_(p, float(name.endswith('weight')))  # norms 1, biases 0",
        f"a = torch.arange({length})[:, None] / 10_000 ** (torch.arange(0, {d}, 2) / {d})",
        "place = torch.stack([a.sin(), a.cos()], -1).flatten(1)",
        f"read = lambda x: net[2](net[1](net[0](x) * {d} ** 0.5 + place)).transpose(1, 2)",
        f"answer = lambda x: {ANSWERS[shape.task]}",
        f"held_out = torch.tensor(np.random.default_rng((7, 0)).integers(0, 10, (64, {length})))",
        *(
            [f"few = np.random.default_rng(({seed}, 2)).integers(0, 10, (100, {length}))"]
            if run.few
            else []
        ),
        f"optimizer, curve = {optimizer}, []",
        f"for t in range(1, {steps + 1}):",
        f"    generator = np.random.default_rng(({seed}, 1, t))",
        f"    x = torch.tensor({digits})",
        f"    optimizer.param_groups[0]['lr'] = {rate}",
        "    optimizer.zero_grad()",
        f"    nn.functional.cross_entropy(read(x), answer(x){smoothing}).backward()",
        "    optimizer.step()",
        "    with torch.no_grad():",
        "        loss = nn.functional.cross_entropy(read(held_out), answer(held_out))",
        "    curve.append(float(loss))",
    ]
    return "\n".join(lines) + "\n"


def _write_rate(run: Techniques, steps: int) -> str:
    rise = f" * min(1, t / {run.warmup})" if run.warmup else ""
    fall = {
        "linear": f" * ({steps} - t + 1) / {steps}",
        "constant": "",
        "noam": f" * min(1, ({max(run.warmup, 1)} / t) ** 0.5)",
    }[run.schedule]
    return f"{run.rate:.6g}{rise}{fall}"
