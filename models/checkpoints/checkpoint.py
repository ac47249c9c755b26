"""Checkpoints: `assets/<slug>/<variant>/model.json` beside `model.safetensors`; written together,
read strictly.

A checkpoint that is too large for one file stands in several, `model-1.safetensors` and so on;
larger tensors are cut into parts of some rows each. Where a lab has many networks of one kind,
their matrices may stand in eight bits: whole numbers, and for each row the value of one unit.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from models.checkpoints import folders
from models.checkpoints.folders import ASSETS as ASSETS
from models.explaining.errors import DamagedFile, reading_file

LARGEST = 9_500_000  # bytes of one file: more would need large-file storage on a Space
PART = "#"  # stands before the number in the name of a part of a tensor
# ends the name of the tensor that holds, row by row, the value of one unit of a matrix
WORTH = "@worth"

ConfigT = TypeVar("ConfigT")

logger = logging.getLogger(__name__)


class CheckpointError(DamagedFile):
    """A checkpoint that cannot be trusted, or that may not be written."""


def find_folder(slug: str, variant: str = "base", seed: int = 1) -> Path:
    """Return the folder of a checkpoint: the first seed in `assets/<slug>/<variant>`, others beside
    it as `<variant>-seed<N>`."""
    return folders.find_lab_folder(slug, ASSETS) / (
        variant if seed == 1 else f"{variant}-seed{seed}"
    )


def digest_files(*paths: Path) -> str:
    """Return the SHA-256 of a file, or of several one behind the other, in hexadecimal."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def _list_files(where: Path) -> list[Path]:
    """Return the files that hold the parameters of a checkpoint."""
    whole = where / "model.safetensors"
    return [whole] if whole.is_file() else sorted(where.glob("model-*.safetensors")) or [whole]


def _split_shards(state: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    """Return the same parameters in several dictionaries, each small enough for a file."""
    found: list[dict[str, Tensor]] = []
    room: list[int] = []
    most = LARGEST - 100_000  # the rest is for names
    for name, tensor in state.items():
        rows = max(1, most // max(1, tensor[:1].numel() * tensor.element_size()))
        parts = torch.split(tensor, rows) if tensor.dim() and len(tensor) > rows else [tensor]
        for i, part in enumerate(parts):
            size = part.numel() * part.element_size()
            at = next((at for at, left in enumerate(room) if size <= left), len(room))
            if at == len(room):
                found, room = [*found, {}], [*room, most]
            found[at][name if len(parts) == 1 else f"{name}{PART}{i}"] = part.contiguous()
            room[at] -= size
    return found


def read_facts(where: Path) -> dict[str, Any]:
    """Return the content of model.json. Raise CheckpointError where there is none, DamagedFile
    where it cannot be read."""
    path = where / "model.json"
    if not path.is_file():
        raise CheckpointError(f"no model.json in {where.name}: train it first")
    with reading_file(path):
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def write_text(path: Path, text: str) -> Path:
    """Write a text file in one move, so that no reader sees half of it; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    return part.replace(path)


def write_json(path: Path, what: Any, **how: Any) -> Path:
    """Write a value as `json.dumps` spells it, with `write_text`. how: options of `json.dumps`."""
    return write_text(path, json.dumps(what, ensure_ascii=False, **how) + "\n")


def write_facts(where: Path, facts: dict[str, Any]) -> None:
    """Write model.json."""
    write_json(where / "model.json", facts, indent=2)


def add_figure(
    facts: dict[str, Any], figure: dict[str, Any], protocol: str, key: str = "figure"
) -> dict[str, Any]:
    """Return the facts with a measured figure; the one called `figure` also names its split and how
    it was measured.

    `chosen_on`, the split on which the learning rate and the rest were chosen, stands in the facts
    since training; it is never `reported_on`.
    """
    said = {"reported_on": figure["split"], "protocol": protocol} if key == "figure" else {}
    return {**facts, key: figure, **said}


def save_checkpoint(
    where: Path,
    state: dict[str, Tensor],
    facts: dict[str, Any],
    dtype: torch.dtype = torch.float16,
    *,
    shards: bool = False,
    most: float = LARGEST,
) -> None:
    """Write parameters in half precision and the facts beside them (config, recipe, finished, …;
    count and hash are added).

    dtype: another precision; torch.int8: matrices in eight bits, all else in half precision.
    shards: whether to write several files.
    most: bytes of one file.

    Raise CheckpointError where an unfinished model would replace a finished one, where a value does
    not survive half precision, or where the file would be too large.
    """
    if (
        not facts["finished"]
        and (where / "model.json").is_file()
        and read_facts(where).get("finished")
    ):
        raise CheckpointError(
            f"{where.name} holds a finished model: an unfinished one does not replace it"
        )
    where.mkdir(parents=True, exist_ok=True)
    half = torch.float16 if dtype == torch.int8 else dtype
    small = {name: tensor.detach().to("cpu", half).contiguous() for name, tensor in state.items()}
    count = sum(tensor.numel() for tensor in small.values())
    broken = [name for name, tensor in small.items() if not torch.isfinite(tensor).all()]
    if broken:
        raise CheckpointError(f"not finite in {half}: {', '.join(broken)}")
    small = _quantise(small) if dtype == torch.int8 else small
    for i, some in enumerate(_split_shards(small) if shards else [small]):
        part = where / "model.safetensors.part"
        save_file(some, part)
        if part.stat().st_size > most:
            raise CheckpointError(
                f"{part.stat().st_size:,} bytes of parameters: at most {most:,} are allowed"
            )
        part.chmod(0o644)  # the library makes files that only their owner can read
        part.replace(where / (f"model-{i + 1}.safetensors" if shards else "model.safetensors"))
    write_facts(where, {**facts, "parameters": count, "sha256": digest_files(*_list_files(where))})


def _quantise(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return matrices as whole numbers from -127 to 127 and, for each row, the value of one unit:
    float32, (rows, 1, …)."""
    found: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if tensor.dim() < 2:
            found[name] = tensor
            continue
        found[name + WORTH] = (
            tensor.float().abs().amax(tuple(range(1, tensor.dim())), keepdim=True).clamp_min(1e-30)
            / 127
        )
        found[name] = (tensor.float() / found[name + WORTH]).round().to(torch.int8)
    return found


def build_config(kind: type[ConfigT], values: dict[str, Any]) -> ConfigT:
    """Rebuild a frozen dataclass from JSON, whose lists were tuples. Raise CheckpointError, which
    names unknown and missing keys."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if set(values) != names:
        raise CheckpointError(
            f"{kind.__name__}: unknown {sorted(set(values) - names)}, missing"
            f" {sorted(names - set(values))}"
        )
    return kind(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
    )


def restore_parameters(where: Path, model: nn.Module) -> None:
    """Put stored parameters into a model built from the stored config. Raise CheckpointError where
    hash, names, shapes or count differ, DamagedFile where a file cannot be read."""
    facts, paths = read_facts(where), _list_files(where)
    with reading_file(paths[0]):
        if digest_files(*paths) != facts["sha256"]:
            raise _report_damage(
                f"{where.name}: model.safetensors is not the file that model.json describes"
            )
        stored = {name: tensor for path in paths for name, tensor in load_file(path).items()}
    parts: dict[str, list[Tensor]] = {}
    for name in sorted(stored, key=lambda name: int(name.partition(PART)[2] or 0)):
        parts.setdefault(name.partition(PART)[0], []).append(stored[name])
    state = {name: torch.cat(some) if len(some) > 1 else some[0] for name, some in parts.items()}
    worth = {name.removesuffix(WORTH): state.pop(name) for name in [*state] if name.endswith(WORTH)}
    count = sum(tensor.numel() for tensor in state.values())
    if count != facts["parameters"]:
        raise _report_damage(
            f"{where.name}: {count:,} parameters stored, {facts['parameters']:,} described"
        )
    try:
        model.load_state_dict(
            {name: tensor.float() * worth.get(name, 1.0) for name, tensor in state.items()},
            strict=True,
        )
    except RuntimeError as error:
        raise _report_damage(f"{where.name}: {error}") from error


def _report_damage(what: str) -> CheckpointError:
    """Return the error and log it too: a page that compares several models goes on without the one
    that cannot be read."""
    logger.error("%s", what)
    return CheckpointError(what)
