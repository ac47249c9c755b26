"""python -m models list | train | evaluate | examples."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from models.checkpoint import ASSETS, CheckpointError, read_facts

LABS = ("translation",)


def recipe_of(slug: str) -> Any:
    """The recipe module of a lab."""
    return importlib.import_module(f"models.{slug}.recipe")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and do what it says; 0 when it worked."""
    parser = argparse.ArgumentParser(prog="python -m models")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what can be trained, and what is shipped")
    for name, text in (
        ("train", "train a model and write its assets"),
        ("evaluate", "measure a model"),
        ("examples", "store the first example"),
    ):
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
        else:
            command.add_argument("--split", default=None, help="any split that the data folder holds; by default the one README names")
            command.add_argument("--beam", type=int, default=4, help="hypotheses")
            command.add_argument("--alpha", type=float, default=0.6, help="length penalty")
            command.add_argument("--record", action="store_true", help="write the figure into model.json")
            command.add_argument("--json", action="store_true", help="print one JSON object last")
    chosen = parser.parse_args(arguments)
    if chosen.command == "list":
        return show_list()
    from models.device import device

    if chosen.command == "train":
        keywords = {"seed": chosen.seed, "minutes": chosen.minutes, "resume": chosen.resume, "devices": chosen.devices}
        try:
            where = recipe_of(chosen.slug).train(chosen.data, chosen.runs, chosen.variant, device=device(chosen.device), **keywords)
        except (FileNotFoundError, FileExistsError, CheckpointError) as error:
            print(error, file=sys.stderr)
            return 1
        print(f"written: {where.parent.name}/{where.name}")
    elif chosen.command == "evaluate":
        recipe = recipe_of(chosen.slug)
        try:
            found = recipe.evaluate(
                chosen.data,
                chosen.variant,
                seed=chosen.seed,
                split=chosen.split or recipe.REPORTED,
                device=device(chosen.device),
                beam=chosen.beam,
                alpha=chosen.alpha,
                record=chosen.record,
            )
        except (FileNotFoundError, ValueError, CheckpointError) as error:
            print(error, file=sys.stderr)
            return 1
        if chosen.json:
            print(json.dumps(found))
    elif chosen.command == "examples":
        path = recipe_of(chosen.slug).examples()
        print(f"written: {path.parent.name}/{path.name}")
    return 0


def show_list() -> int:
    """What can be trained, and for each what is shipped and what it reached."""
    for slug in LABS:
        shipped = sorted((ASSETS / slug).glob("*/model.json"))
        if not shipped:
            print(f"{slug}: not trained yet")
        for path in shipped:
            facts = read_facts(path.parent)
            figure = facts.get("figure")
            reached = f"{figure['value']} {figure['metric']} on {figure['split']}" if figure else "not measured"
            state = "finished" if facts["finished"] else "unfinished"
            size = f"seed {facts['seed']}, {facts['parameters']:,} parameters"
            print(f"{slug} {path.parent.name}: {size}, {state} after {facts['steps']:,} steps, {reached}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
