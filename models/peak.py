"""How much memory a call needs, and when a device has done its work."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile


def synchronize(device: torch.device) -> None:
    """Wait for a GPU; a CPU has done its work when a call returns."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_bytes(function: Callable[[], object], device: torch.device) -> int:
    """The profiler's peak of bytes allocated by a call, above what stood before. Call it in a fresh process."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        function()
        synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        function()
    held = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak
