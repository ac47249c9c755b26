"""The options of ``python app.py``, and the variables of the environment that say the same."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.engine import Engine
from explorer.hosts import framing
from models import folders
from models.errors import InputError
from models.your_model import records as your_model

DEVICE = "models.device:beside_a_server"
MANY = r"[1-9]\d*(?:-[1-9]\d*)?"  # replicas, or from how many to how many
VERSION = "explorer.stored:computed"


class Given(argparse.Namespace):
    """host, port: to listen on. model: a model of the operator's own is opened. engine: makes who runs the models; None: this process."""

    host: str
    port: int
    model: str | None
    engine: Callable[[], Engine] | None


def read(arguments: Sequence[str] | None, offline: bool) -> Given:
    """What was given; what cannot be served ends the program with a sentence. offline: no model is fetched."""
    environment = os.environ
    parser = argparse.ArgumentParser(prog="app.py", description="Opens the Transformer family explorer for a browser.")
    parser.add_argument("--host", default=environment.get("GRADIO_SERVER_NAME", "0.0.0.0"), help="address to listen on (default: all)")
    default = environment.get("PORT") or environment.get("GRADIO_SERVER_PORT") or "7860"
    parser.add_argument("--port", type=int, default=default, help=f"port to listen on (default: {default})")
    parser.add_argument("--assets", help="a folder of your own models, made by python -m models train … --out FOLDER")
    parser.add_argument(
        "--model",
        help="opens a model of your own as a lab, /your_model: a folder, or owner/name@REVISION of the Hub (from its cache, else "
        "fetched), with config.json, tokenizer.json and safetensors, of the shape of BERT, GPT-2 or T5; no code of its own is run",
    )
    parser.add_argument(
        "--engine",
        default=environment.get("EXPLORER_ENGINE", ""),
        help="who runs the models: ray://HOST:PORT, a Ray cluster that this machine belongs to; ray, one of this machine alone; by default "
        "this process (see deploy/README.md)",
    )
    given = parser.parse_args(arguments, Given())
    try:
        framing()
        given.engine = engine(str(given.engine))
    except ValueError as error:
        parser.error(str(error))
    if given.assets:
        if not Path(given.assets).is_dir():
            parser.error(f"there is no folder {given.assets}")
        os.environ[folders.NAME] = given.assets
    if given.model:
        try:
            os.environ[your_model.NAME] = str(your_model.found(given.model, offline))
            your_model.here()
        except InputError as error:
            parser.error(str(error))
    return given


def engine(named: str) -> Callable[[], Engine] | None:
    """What makes the engine of that name; None for the one of this process. Raises ValueError for what is none."""
    if not named:
        return None
    match = re.fullmatch(r"ray(?:://([\w.:\[\]-]+:\d+))?", named)
    if match is None:
        raise ValueError(f"an engine is ray or ray://HOST:PORT, not {named}")
    replicas, cpus = os.environ.get("EXPLORER_REPLICAS", "1"), os.environ.get("EXPLORER_REPLICA_CPUS", "1")
    if not re.fullmatch(rf"{MANY}(,\w+={MANY})*", replicas) or not re.fullmatch(r"\d+(\.\d+)?", cpus):
        raise ValueError(f"EXPLORER_REPLICAS is like 2 or 1-4,music=1 and EXPLORER_REPLICA_CPUS a number, not {replicas} and {cpus}")
    if importlib.util.find_spec("ray") is None:
        raise ValueError("this engine needs Ray: pip install -r requirements-cluster.txt")

    groups = dict(one.split("=") for one in f"all={replicas}".split(","))

    def make() -> Engine:
        from explorer.cluster import Cluster, Link

        return Cluster(Link(match[1] or "", VERSION, groups, float(cpus)), DEVICE)

    return make
