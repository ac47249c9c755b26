"""The options of ``python app.py``, and the environment variables with the same meaning."""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from explorer.engine import Engine, disk_store
from explorer.values.hosts import Proxies, write_frame_policy
from models.checkpoints import folders
from models.explaining.errors import InputError
from models.media.files import check_file
from models.your_model import records as your_model

DEVICE = "models.checkpoints.device:choose_server_device"
MANY = r"[1-9]\d*(?:-[1-9]\d*)?"  # a number of replicas, or a range
VERSION = "explorer.web.stored_results:digest_computation"
MOST_FACTS = 64 << 20  # bytes of the JSON files of an own model


class Given(argparse.Namespace):
    """The options as given.

    host, port: the address to listen on.
    model: the folder or name of an own model to open.
    engine: a function that makes the engine; None stands for the engine of this process.
    """

    host: str
    port: int
    model: str | None
    engine: Callable[[], Engine] | None


def read_options(arguments: Sequence[str] | None, offline: bool) -> Given:
    """Return the options; an option that cannot be served ends the program with a sentence.

    offline: whether no model may be fetched.
    """
    environment = os.environ
    parser = argparse.ArgumentParser(
        prog="app.py", description="Open the Transformer family explorer for a browser."
    )
    parser.add_argument(
        "--host",
        default=environment.get("GRADIO_SERVER_NAME", "0.0.0.0"),
        help="address to listen on (default: all)",
    )
    default = environment.get("PORT") or environment.get("GRADIO_SERVER_PORT") or "7860"
    parser.add_argument(
        "--port", type=int, default=default, help=f"port to listen on (default: {default})"
    )
    parser.add_argument(
        "--assets",
        help="a folder of your own models, made by python -m models train … --out FOLDER",
    )
    parser.add_argument(
        "--model",
        help=(
            "open a model of your own as a lab, /your_model: a folder, or owner/name@REVISION of"
            " the Hub (from its cache, else fetched), with config.json, tokenizer.json and"
            " safetensors, of the shape of BERT, GPT-2 or T5; no code of its own is run"
        ),
    )
    parser.add_argument(
        "--engine",
        default=environment.get("EXPLORER_ENGINE", ""),
        help=(
            "where the models run: ray://HOST:PORT for a Ray cluster that this machine belongs"
            " to, ray for one on this machine alone; by default in this process (see"
            " deploy/README.md)"
        ),
    )
    given = parser.parse_args(arguments, Given())
    try:
        write_frame_policy()
        Proxies.of_environment()
        given.engine = choose_engine(str(given.engine))
    except ValueError as error:
        parser.error(str(error))
    if given.assets:
        if not Path(given.assets).is_dir():
            parser.error(f"there is no folder {given.assets}")
        os.environ[folders.NAME] = given.assets
    if wrong := wrong_folder(environment):
        parser.error(wrong)
    if given.model:
        try:
            os.environ[your_model.NAME] = str(your_model.find_model_folder(given.model, offline))
            your_model.read_facts()
        except InputError as error:
            parser.error(str(error))
    return given


def wrong_folder(environment: Mapping[str, str]) -> str:
    """Return why a folder of the operator's cannot be used: the one of own models, or the cache.

    Returns "" where both can.
    """
    cache = environment.get(disk_store.VARIABLE, "").strip()
    if cache and Path(cache).exists() and not Path(cache).is_dir():
        return f"{disk_store.VARIABLE} names {cache}, which is no folder"
    assets = Path(environment.get(folders.NAME) or os.devnull)
    for path in sorted(
        path
        for depth in ("*/*", "*/*/*")
        for path in assets.glob(depth)
        if path.exists() and not path.is_dir()
    ):
        try:
            check_file(path, MOST_FACTS if path.suffix == ".json" else math.inf)
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
    return ""


def choose_engine(named: str) -> Callable[[], Engine] | None:
    """Return a function that makes the engine of that name; None for the one of this process.

    Raise ValueError where there is no engine of that name.
    """
    if not named:
        return None
    match = re.fullmatch(r"ray(?:://([\w.:\[\]-]+:\d+))?", named)
    if match is None:
        raise ValueError(f"an engine is ray or ray://HOST:PORT, not {named}")
    replicas, cpus = (
        os.environ.get("EXPLORER_REPLICAS", "1"),
        os.environ.get("EXPLORER_REPLICA_CPUS", "1"),
    )
    if not re.fullmatch(rf"{MANY}(,\w+={MANY})*", replicas) or not re.fullmatch(
        r"\d+(\.\d+)?", cpus
    ):
        raise ValueError(
            "EXPLORER_REPLICAS is like 2 or 1-4,music=1 and EXPLORER_REPLICA_CPUS a number, not"
            f" {replicas} and {cpus}"
        )
    if importlib.util.find_spec("ray") is None:
        raise ValueError("this engine needs Ray: pip install -r requirements-cluster.txt")

    groups = dict(one.split("=") for one in f"all={replicas}".split(","))

    def make() -> Engine:
        from explorer.cluster import Cluster, Link

        return Cluster(Link(match[1] or "", VERSION, groups, float(cpus)), DEVICE)

    return make
