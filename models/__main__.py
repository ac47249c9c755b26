"""python -m models list | train | evaluate | examples | ladder."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from models import folders, own
from models.checkpoint import ASSETS, CheckpointError, folder, read_facts
from models.errors import DamagedFile


def having(module: str) -> tuple[str, ...]:
    """The labs that have such a module, by name."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob(f"*/{module}.py")))


LABS = having("recipe")  # those with something to train


def recipe_of(slug: str) -> Any:
    """The recipe module of a lab."""
    return importlib.import_module(f"models.{slug}.recipe")


def examples(slug: str) -> Path:
    """Store the first example of a lab, and what else its recipe stores with it; returns the first file."""
    own = getattr(recipe_of(slug), "examples", None) if slug in LABS else None
    if own is not None:
        path: Path = own()
        return path
    from models.pretrained import store_first

    explain = importlib.import_module(f"models.{slug}.explain").explain
    return store_first(slug, explain, importlib.import_module(f"models.{slug}.records").EXAMPLES[0])


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and do what it says; 0 when it worked."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = own_options(arguments)
    parser = argparse.ArgumentParser(prog="python -m models")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what can be trained, and what is shipped")
    for name, text in (
        ("train", "train a model and write its assets"),
        ("evaluate", "measure a model"),
        ("examples", "store the first example"),
        ("ladder", "measure other ways, on what the models are measured on"),
    ):
        command = commands.add_parser(name, help=text, parents=[options] if name == "evaluate" else [])
        command.add_argument("slug", choices={"ladder": having("ladder"), "examples": having("records")}.get(name, LABS))
        if name == "examples":
            continue
        command.add_argument("--data", type=Path, default=Path(os.environ.get("EXPLORER_DATA", "data")))
        if name == "ladder":
            continue
        command.add_argument("--variant", default="", help="by default the lab's first")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--device", default=None, help="cpu, cuda, cuda:1; by default a GPU where there is one")
        if name == "train":
            command.add_argument(
                "--minutes", type=float, default=None, help="stop early, its search for a rate too, and say so in model.json"
            )
            command.add_argument("--resume", action="store_true", help="go on with a stopped run")
            command.add_argument("--devices", type=int, default=1, help="how many GPUs (torchrun sets it too)")
            command.add_argument("--runs", type=Path, default=Path("runs"), help="where the state of a run is kept")
            command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="lr, steps, batch, d_model …")
            for kind in own.KINDS:
                command.add_argument(f"--{kind}", type=Path, nargs=2 if kind == "pairs" else 1, help="what to learn from: files of yours")
            command.add_argument("--out", type=Path, help="the folder of your own models, for app.py --assets")
        else:
            command.add_argument("--split", default="", help="any split that the data folder holds; by default the one README names")
            command.add_argument("--record", action="store_true", help="write the figure into model.json")
            command.add_argument("--json", action="store_true", help="print one JSON object last")
    chosen = parser.parse_args(arguments)
    try:
        return show_list() if chosen.command == "list" else done(chosen, vars(options.parse_known_args([])[0]))
    except (OSError, ValueError, CheckpointError) as error:
        print(error, file=sys.stderr)
        return 1


def done(chosen: argparse.Namespace, options: Iterable[str]) -> int:
    """What the command line asks for; 0. options: names of what the lab's `evaluate` understands beside what every lab does."""
    from models.device import device

    where = device(getattr(chosen, "device", None))  # refused before anything is read
    if chosen.command == "evaluate":
        keywords = {name: getattr(chosen, name) for name in ("seed", "split", "record", *options)}
        found = recipe_of(chosen.slug).evaluate(chosen.data, chosen.variant, device=where, **keywords)
        if chosen.json:
            print(json.dumps(found))
        return 0
    if chosen.command == "train":
        if chosen.devices < 1:
            raise ValueError(f"--devices {chosen.devices}: at least 1 is needed")
        keywords = {name: getattr(chosen, name) for name in ("seed", "minutes", "resume", "devices")}
        if mine := own_of(chosen):
            chosen.data, chosen.runs, keywords["own"] = (chosen.out / "data" if mine.said else chosen.data), chosen.out / "runs", mine
        path = recipe_of(chosen.slug).train(chosen.data, chosen.runs, chosen.variant, device=where, **keywords)
        if mine:
            os.environ[folders.NAME] = str(chosen.out)
            recipe_of(chosen.slug).evaluate(chosen.data, path.name, device=where, record=True)
            examples(chosen.slug)
    elif chosen.command == "examples":
        path = examples(chosen.slug)
    else:
        path = importlib.import_module(f"models.{chosen.slug}.ladder").write(chosen.data)
    print(f"written: {path.parent.name}/{path.name}")
    return 0


def own_of(chosen: argparse.Namespace) -> own.Own | None:
    """What a training of somebody's own is to be, its data put in place; None for one of the lab's. Refused in words."""
    kinds = [kind for kind in own.KINDS if getattr(chosen, kind)]
    if not kinds and not chosen.set and not chosen.out:
        return None
    if chosen.out is None:
        raise own.Refused("--out FOLDER is needed: what you train yourself does not replace a model of the project")
    bad = next((one for one in chosen.set if not one.partition("=")[2]), None)
    if bad is not None:
        raise own.Refused(f"--set {bad}: NAME=VALUE is needed")
    lab = recipe_of(chosen.slug).LAB
    if not chosen.variant:  # the first that learns from what is given
        chosen.variant = next((name for name, task in lab.variants.items() if [task.own] == kinds), next(iter(lab.variants)))
    learns = lab.task_of(chosen.variant).own
    if kinds and kinds != [learns]:
        raise own.Refused(
            f"{chosen.slug} learns from {f'--{learns}' if learns else 'its own data alone'}, not from --{' and --'.join(kinds)}"
        )
    given = dict(one.split("=", 1) for one in chosen.set)
    with contextlib.suppress(DamagedFile):  # what is not shipped is judged once its network is built
        shipped = SimpleNamespace(**read_facts(folder(chosen.slug, chosen.variant))["config"])
        own.Own(chosen.out, given).sizes(shipped, lab.task_of(chosen.variant).recipe)
    files = getattr(chosen, learns) if kinds else []
    said = own.KINDS[learns](files, chosen.out / "data") if kinds else ""
    return own.Own(chosen.out, given, said, own.digest(files))


def own_options(arguments: list[str]) -> argparse.ArgumentParser:
    """What the lab that `evaluate` is asked for understands beside what every lab does."""
    own = argparse.ArgumentParser(add_help=False)
    slug = next((word for word in arguments[1:] if word in LABS), None)
    if arguments[:1] == ["evaluate"] and slug is not None:
        for name, told in recipe_of(slug).LAB.options.items():
            own.add_argument(f"--{name}", **told)
    return own


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
