"""python -m benchmarks NAME [--device D] [--json] [--save]: measure the claims of that name, ours and the peers' in one run.

Some take options of their own: `python -m benchmarks projected --size 1024x768 --lang zh`.

Prints a table, and with --json one JSON object last: name, device, threads, figures (name -> value; the name ends in the unit) and reach
(name -> [bound, reached?]). Ends with 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import sys
from pathlib import Path

import torch

import benchmarks
from benchmarks.measure import Report
from models.device import device as choose_device

RESULTS = Path(__file__).parent / "results"


def names() -> list[str]:
    """What can be measured: the modules of this package that have `measure`."""
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.ispkg and m.name not in {"__main__", "measure"})


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, measure, print; 0 when every bound is reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the speed claims of README.md beside their peers.")
    parser.add_argument("name", choices=names())
    parser.add_argument("--device", default=None, help="cpu, cuda, cuda:1; by default a GPU where there is one")
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--save", action="store_true", help="keep the figures in benchmarks/results, from where README.md takes them")
    chosen, rest = parser.parse_known_args(arguments)
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
        verdict = "" if bound is None else f"   {'≥' if bound.at_least else '≤'} {bound.value:g}: {'yes' if bound.holds(value) else 'NO'}"
        print(f"{name:<{width}}  {value:12.6g}{verdict}")
    for name, note in report.notes.items():
        print(f"{name}: {note}")
    reach = {name: [bound.value, bound.holds(report.figures[name])] for name, bound in report.bounds.items()}
    figures = {name: float(f"{value:.7g}") for name, value in report.figures.items()}
    result = {"name": chosen.name, "device": str(device), "threads": torch.get_num_threads(), "figures": figures, "reach": reach}
    if chosen.save:
        RESULTS.mkdir(exist_ok=True)
        signs = {name: "≥" if bound.at_least else "≤" for name, bound in report.bounds.items()}
        text = json.dumps({**result, "bounds": signs}, ensure_ascii=False, indent=1)
        (RESULTS / f"{chosen.name}.json").write_text(text + "\n", "utf-8")
    if chosen.json:
        print(json.dumps(result))
    return 0 if all(reached for _, reached in reach.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
