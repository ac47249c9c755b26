"""python -m models list | train | evaluate | examples."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import Any

LABS = ("translation",)


def recipe_of(slug: str) -> Any:
    """The recipe module of a lab."""
    return importlib.import_module(f"models.{slug}.recipe")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and do what it says; 0 when it worked."""
    parser = argparse.ArgumentParser(prog="python -m models")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what can be trained, and what is shipped")
    for name, text in (("train", "train a model and write its assets"), ("evaluate", "measure a model"), ("examples", "store the first example")):
        command = commands.add_parser(name, help=text)
        command.add_argument("slug", choices=LABS)
        if name == "examples":
            continue
        command.add_argument("--variant", default="base")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--data", type=Path, default=Path(os.environ.get("EXPLORER_DATA", "data")))
        command.add_argument("--device", default=None, help="cpu, cuda, cuda:1; by default a GPU where there is one")
        if name == "train":
            command.add_argument("--minutes", type=float, default=None, help="stop early, and say so in model.json")
            command.add_argument("--resume", action="store_true", help="go on with a stopped run")
            command.add_argument("--devices", type=int, default=1, help="how many GPUs (torchrun sets it too)")
            command.add_argument("--runs", type=Path, default=Path("runs"), help="where the state of a run is kept")
    chosen = parser.parse_args(arguments)
    from models.device import device

    if chosen.command == "train":
        keywords = {"seed": chosen.seed, "minutes": chosen.minutes, "resume": chosen.resume, "devices": chosen.devices}
        try:
            where = recipe_of(chosen.slug).train(chosen.data, chosen.runs, chosen.variant, device=device(chosen.device), **keywords)
        except (FileNotFoundError, FileExistsError) as error:
            print(error, file=sys.stderr)
            return 1
        print(f"written: {where.parent.name}/{where.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
