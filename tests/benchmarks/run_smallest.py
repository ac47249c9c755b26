"""Run benchmarks at their smallest size, one after the other: python -m
tests.benchmarks.run_smallest NAME …

Prints one JSON object a line for each: name, figures, bounds of 0 that are missed, or the error.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from typing import Any

import torch

from benchmarks.measure import Report
from benchmarks.sizes import is_smallest


def run(name: str) -> dict[str, Any]:
    """Return what a benchmark measured, or how it failed."""
    try:
        report: Report = importlib.import_module(f"benchmarks.{name}").measure(torch.device("cpu"))
    except Exception:
        return {"name": name, "error": traceback.format_exc(limit=-4)}
    missed = [
        one
        for one, bound in report.bounds.items()
        if bound.value == 0 and not bound.holds(report.figures[one])
    ]
    return {"name": name, "figures": report.figures, "missed": missed, "notes": report.notes}


if __name__ == "__main__":
    assert is_smallest()
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        print(json.dumps(run(name)), flush=True)
