"""The device on which models run, and functions that call them there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from models.explaining.batching import Asked, Read, answer_one_by_one
from models.explaining.errors import InputError

CPU = Path("/proc/cpuinfo")


def choose_device(name: str | None = None) -> torch.device:
    """Return the device called `name` ("cpu", "cuda", "cuda:1"), or, unnamed, the first GPU where
    there is one and the CPU elsewhere.

    Raise ValueError, in words, for a device that does not exist.
    """
    if name is not None:
        try:
            found = torch.device(name)
        except RuntimeError:
            raise ValueError(f"there is no device {name}: cpu, cuda or cuda:1") from None
        if found.type == "cuda" and not torch.cuda.is_available():
            raise ValueError(f"--device {name}: this machine has no GPU that torch can use")
        if found.type == "cuda" and (found.index or 0) >= (count := torch.cuda.device_count()):
            raise ValueError(
                f"--device {name}: this machine has {count} GPU{'s' * (count > 1)}, the first of"
                " them cuda:0"
            )
        return found
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def has_bfloat16(where: torch.device) -> bool:
    """Return whether this device computes in bfloat16 itself. A CPU that must imitate it takes some
    thirty times as long as in single precision."""
    if where.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # An older torch lacks this function, so ask the system.
    ask = getattr(torch.cpu, "get_capabilities", None)
    known = (
        [name for name, there in ask().items() if there]
        if ask
        else CPU.read_text("utf-8").split()
        if CPU.is_file()
        else []
    )
    return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(known))


def choose_server_device() -> torch.device:
    """Return the device of a process that serves pages too; on a CPU, one core is left to them.

    A step of decoding is many small products. Shared among all cores, each product waits for the
    thread that the server holds up.
    """
    found = choose_device()
    if found.type == "cpu":
        torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) - 1))
    return found


def wait_for_device(device: torch.device) -> None:
    """Wait for a GPU; a CPU has done its work when a call returns."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def answer_without_gradients(
    answer: Callable[[Asked], Read],
) -> Callable[[Sequence[Asked]], list[Read | InputError]]:
    """Return `models.explaining.batching.answer_one_by_one` for a function that only runs trained
    networks: nothing is kept for gradients."""
    return answer_one_by_one(torch.no_grad()(answer))
