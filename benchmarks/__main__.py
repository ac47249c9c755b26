"""The command python -m benchmarks NAME [--device D] [--json] [--save]: measure the claims of that
name, ours and the peers' in one run.

Some take options of their own: `python -m benchmarks projected --size 1024x768 --lang zh`.

It prints a table, and with --json one JSON object last: name, device, threads, figures (name ->
value; the name ends in the unit) and reach (name -> [bound, reached?]). It exits with 1 where a
bound is missed.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import sys
from pathlib import Path
from typing import Any

import torch

import benchmarks
from benchmarks.measure import Report
from benchmarks.sizes import is_smallest
from models.checkpoints.device import choose_device as choose_device

RESULTS = Path(__file__).parent / "results"


def names() -> list[str]:
    """Return the names of all benchmarks: the modules of this package that have `measure`."""
    found = (
        module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.ispkg
    )
    return sorted({*found} - {"__main__", "fuzz_inputs", "measure", "sizes"})


def save(result: dict[str, Any]) -> None:
    """Keep a result in `RESULTS`. The ranges of earlier runs are kept too, and widened to hold the
    figures of this run."""
    path = RESULTS / f"{result['name']}.json"
    ranges = json.loads(path.read_text("utf-8")).get("ranges", {}) if path.exists() else {}
    for name, known in ranges.items():
        value = result["figures"].get(name, known["least"])
        known |= {"least": min(known["least"], value), "most": max(known["most"], value)}
    RESULTS.mkdir(exist_ok=True)
    kept = {**result, **({"ranges": ranges} if ranges else {})}
    path.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, measure, print; return 0 when every bound is reached."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the speed claims of README.md beside their peers.",
    )
    parser.add_argument("name", choices=names())
    parser.add_argument(
        "--device", default=None, help="cpu, cuda, cuda:1; by default a GPU where there is one"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument(
        "--save",
        action="store_true",
        help="keep the figures in benchmarks/results, from where README.md takes them",
    )
    chosen, rest = parser.parse_known_args(arguments)
    if chosen.save and is_smallest():
        parser.error("--save keeps no figures of the smallest size")
    try:
        device = choose_device(chosen.device)
    except ValueError as error:
        parser.error(str(error))
    measure = importlib.import_module(f"benchmarks.{chosen.name}").measure
    own = dict(zip((name.removeprefix("--") for name in rest[::2]), rest[1::2], strict=False))
    if len(rest) % 2 or not own.keys() <= {*inspect.signature(measure).parameters}:
        parser.error(f"{chosen.name} takes no {' '.join(rest)}")
    report: Report = measure(device, **own)
    width = max(len(name) for name in report.figures)
    for name, value in report.figures.items():
        bound = report.bounds.get(name)
        verdict = (
            ""
            if bound is None
            else (
                f"   {'≥' if bound.at_least else '≤'} {bound.value:g}:"
                f" {'yes' if bound.holds(value) else 'NO'}"
            )
        )
        print(f"{name:<{width}}  {value:12.6g}{verdict}")
    for name, note in report.notes.items():
        print(f"{name}: {note}")
    reach = {
        name: [bound.value, bound.holds(report.figures[name])]
        for name, bound in report.bounds.items()
    }
    figures = {name: float(f"{value:.7g}") for name, value in report.figures.items()}
    result = {
        "name": chosen.name,
        "device": str(device),
        "threads": torch.get_num_threads(),
        "figures": figures,
        "reach": reach,
    }
    if chosen.save:
        save(
            {
                **result,
                "bounds": {
                    name: "≥" if bound.at_least else "≤" for name, bound in report.bounds.items()
                },
            }
        )
    if chosen.json:
        print(json.dumps(result))
    return 0 if all(reached for _, reached in reach.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
