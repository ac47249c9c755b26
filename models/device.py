"""Where models run, and how they are asked there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from models.errors import InputError
from models.turns import Asked, Read, alone

CPU = Path("/proc/cpuinfo")


def device(name: str | None = None) -> torch.device:
    """The device called `name` ("cpu", "cuda", "cuda:1"), or, unnamed, the first GPU where there is one and the CPU elsewhere.

    ValueError, in words, for one that is not there.
    """
    if name is not None:
        try:
            found = torch.device(name)
        except RuntimeError:
            raise ValueError(f"there is no device {name}: cpu, cuda or cuda:1") from None
        if found.type == "cuda" and not torch.cuda.is_available():
            raise ValueError(f"--device {name}: this machine has no GPU that torch can use")
        if found.type == "cuda" and (found.index or 0) >= (count := torch.cuda.device_count()):
            raise ValueError(f"--device {name}: this machine has {count} GPU{'s' * (count > 1)}, the first of them cuda:0")
        return found
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def has_bfloat16(where: torch.device) -> bool:
    """Does this device compute in bfloat16 itself? A CPU that must imitate it takes some thirty times as long as in single precision."""
    if where.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    ask = getattr(torch.cpu, "get_capabilities", None)  # an older torch has no such function: there the system tells
    known = [name for name, there in ask().items() if there] if ask else CPU.read_text("utf-8").split() if CPU.is_file() else []
    return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(known))


def beside_a_server() -> torch.device:
    """The device of a process that serves pages too; on a CPU, one core is left to them.

    A step of decoding is many small products. Shared among all cores, each of them waits for whatever thread the server holds up.
    """
    found = device()
    if found.type == "cpu":
        torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) - 1))
    return found


def synchronize(device: torch.device) -> None:
    """Wait for a GPU; a CPU has done its work when a call returns."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def answered(answer: Callable[[Asked], Read]) -> Callable[[Sequence[Asked]], list[Read | InputError]]:
    """`models.turns.alone` for what only looks at trained networks: nothing is kept for gradients."""
    return alone(torch.no_grad()(answer))
