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

from models.checkpoints import folders
from models.checkpoints.checkpoint import ASSETS, CheckpointError, find_folder, read_facts
from models.explaining.errors import DamagedFile
from models.training import user_data


def list_labs_with(module: str) -> tuple[str, ...]:
    """Return the labs that have a module of this name, by name."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob(f"*/{module}.py")))


LABS = list_labs_with("recipe")  # those with something to train


def find_recipe(slug: str) -> Any:
    """Return the recipe module of a lab."""
    return importlib.import_module(f"models.{slug}.recipe")


def store_examples(slug: str) -> Path:
    """Store the first example of a lab, and the further results that its recipe stores with it;
    return the first file."""
    own = getattr(find_recipe(slug), "examples", None) if slug in LABS else None
    if own is not None:
        path: Path = own()
        return path
    from models.checkpoints.pretrained import store_first

    explain = importlib.import_module(f"models.{slug}.explain").explain
    return store_first(slug, explain, importlib.import_module(f"models.{slug}.records").EXAMPLES[0])


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 when it worked."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = read_lab_options(arguments)
    parser = argparse.ArgumentParser(
        prog="python -m models", description="Train and measure the models of the labs."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "list", help="list the models that can be trained, and those that are shipped"
    )
    for name, text in (
        ("train", "train a model and write its assets"),
        ("evaluate", "measure a model"),
        ("examples", "store the result of the first example"),
        ("ladder", "measure other methods on the same data"),
    ):
        command = commands.add_parser(
            name, help=text, parents=[options] if name == "evaluate" else []
        )
        command.add_argument(
            "slug",
            choices={"ladder": list_labs_with("ladder"), "examples": list_labs_with("records")}.get(
                name, LABS
            ),
        )
        if name == "examples":
            continue
        command.add_argument(
            "--data", type=Path, default=Path(os.environ.get("EXPLORER_DATA", "data"))
        )
        if name == "ladder":
            continue
        command.add_argument(
            "--variant", default="", help="the model to use; by default the lab's first"
        )
        command.add_argument(
            "--seed", type=int, default=1, help="seed of all draws (default: %(default)s)"
        )
        command.add_argument(
            "--device", default=None, help="cpu, cuda, cuda:1; by default a GPU where there is one"
        )
        if name == "train":
            command.add_argument(
                "--minutes",
                type=float,
                default=None,
                help="stop after this many minutes, search included, and note it in model.json",
            )
            command.add_argument("--resume", action="store_true", help="continue a stopped run")
            command.add_argument(
                "--devices", type=int, default=1, help="how many GPUs (torchrun sets it too)"
            )
            command.add_argument(
                "--runs",
                type=Path,
                default=Path("runs"),
                help="the folder for the state of runs (default: %(default)s)",
            )
            command.add_argument(
                "--set",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help="set lr, steps, batch, d_model or another value of the recipe",
            )
            for kind in user_data.KINDS:
                command.add_argument(
                    f"--{kind}",
                    type=Path,
                    nargs=2 if kind == "pairs" else 1,
                    help="train on files of your own",
                )
            command.add_argument(
                "--out",
                type=Path,
                help="where to write models trained on your own files, for app.py --assets",
            )
        else:
            command.add_argument(
                "--split",
                default="",
                help="the split to measure on; by default the one that README names",
            )
            command.add_argument(
                "--record", action="store_true", help="write the figure into model.json"
            )
            command.add_argument(
                "--json",
                action="store_true",
                help="print the figure as one JSON object, on the last line",
            )
    chosen = parser.parse_args(arguments)
    try:
        return (
            print_list()
            if chosen.command == "list"
            else run_command(chosen, vars(options.parse_known_args([])[0]))
        )
    except (OSError, ValueError, CheckpointError) as error:
        print(error, file=sys.stderr)
        return 1


def run_command(chosen: argparse.Namespace, options: Iterable[str]) -> int:
    """Run the chosen command; return 0. options: names of the options that the lab's `evaluate` has
    beside those of every lab."""
    from models.checkpoints.device import choose_device

    where = choose_device(getattr(chosen, "device", None))  # refused before anything is read
    if chosen.command == "evaluate":
        keywords = {name: getattr(chosen, name) for name in ("seed", "split", "record", *options)}
        found = find_recipe(chosen.slug).evaluate(
            chosen.data, chosen.variant, device=where, **keywords
        )
        if chosen.json:
            print(json.dumps(found))
        return 0
    if chosen.command == "train":
        if chosen.devices < 1:
            raise ValueError(f"--devices {chosen.devices}: at least 1 is needed")
        keywords = {
            name: getattr(chosen, name) for name in ("seed", "minutes", "resume", "devices")
        }
        if mine := read_user_training(chosen):
            chosen.data, chosen.runs, keywords["own"] = (
                (chosen.out / "data" if mine.said else chosen.data),
                chosen.out / "runs",
                mine,
            )
        path = find_recipe(chosen.slug).train(
            chosen.data, chosen.runs, chosen.variant, device=where, **keywords
        )
        if mine:
            os.environ[folders.NAME] = str(chosen.out)
            find_recipe(chosen.slug).evaluate(chosen.data, path.name, device=where, record=True)
            store_examples(chosen.slug)
    elif chosen.command == "examples":
        path = store_examples(chosen.slug)
    else:
        path = importlib.import_module(f"models.{chosen.slug}.ladder").write(chosen.data)
    print(f"written: {path.parent.name}/{path.name}")
    return 0


def read_user_training(chosen: argparse.Namespace) -> user_data.UserTraining | None:
    """Return a user's own training, its data put in place; None for one of the lab's. Raise
    UserDataError in words."""
    kinds = [kind for kind in user_data.KINDS if getattr(chosen, kind)]
    if not kinds and not chosen.set and not chosen.out:
        return None
    if chosen.out is None:
        raise user_data.UserDataError(
            "--out FOLDER is needed: what you train yourself does not replace a model of the"
            " project"
        )
    bad = next((one for one in chosen.set if not one.partition("=")[2]), None)
    if bad is not None:
        raise user_data.UserDataError(f"--set {bad}: NAME=VALUE is needed")
    lab = find_recipe(chosen.slug).LAB
    if not chosen.variant:  # the first that learns from these data
        chosen.variant = next(
            (name for name, task in lab.variants.items() if [task.own] == kinds),
            next(iter(lab.variants)),
        )
    learns = lab.task_of(chosen.variant).own
    if kinds and kinds != [learns]:
        raise user_data.UserDataError(
            f"{chosen.slug} learns from {f'--{learns}' if learns else 'its own data alone'}, not"
            f" from --{' and --'.join(kinds)}"
        )
    given = dict(one.split("=", 1) for one in chosen.set)
    # a variant that is not shipped is judged once its network is built
    with contextlib.suppress(DamagedFile):
        shipped = SimpleNamespace(**read_facts(find_folder(chosen.slug, chosen.variant))["config"])
        user_data.UserTraining(chosen.out, given).list_sizes(
            shipped, lab.task_of(chosen.variant).recipe
        )
    files = getattr(chosen, learns) if kinds else []
    said = user_data.KINDS[learns](files, chosen.out / "data") if kinds else ""
    return user_data.UserTraining(chosen.out, given, said, user_data.digest_paths(files))


def read_lab_options(arguments: list[str]) -> argparse.ArgumentParser:
    """Return the parser of the options that the lab's `evaluate` has beside those of every lab."""
    own = argparse.ArgumentParser(add_help=False)
    slug = next((word for word in arguments[1:] if word in LABS), None)
    if arguments[:1] == ["evaluate"] and slug is not None:
        for name, told in find_recipe(slug).LAB.options.items():
            own.add_argument(f"--{name}", **told)
    return own


def print_list() -> int:
    """Print what can be trained, and for each variant what is shipped and which figure it
    reached."""
    for slug in LABS:
        shipped = sorted((ASSETS / slug).glob("*/model.json"))
        if not shipped:
            print(f"{slug}: not trained yet")
        for path in shipped:
            facts = read_facts(path.parent)
            figure = facts.get("figure")
            reached = (
                f"{figure['value']} {figure['metric']} on {figure['split']}"
                if figure
                else "not measured"
            )
            state = "finished" if facts["finished"] else "unfinished"
            size = f"seed {facts['seed']}, {facts['parameters']:,} parameters"
            print(
                f"{slug} {path.parent.name}: {size}, {state} after {facts['steps']:,} steps,"
                f" {reached}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
