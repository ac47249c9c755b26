"""Checkpoints: `assets/<slug>/<variant>/model.json` beside `model.safetensors`; written together, read strictly.

What is too large for one file stands in several, `model-1.safetensors` and so on, larger tensors in parts of some rows each. Of the
parameters of networks that are many and alike, matrices may stand in eight bits: whole numbers, and of each row what one of them is worth.
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

from models import folders
from models.errors import DamagedFile, reading
from models.folders import ASSETS as ASSETS

LARGEST = 9_500_000  # bytes of one file: more would need large-file storage on a Space
PART = "#"  # in the name of a part of a tensor, before its number
WORTH = "@worth"  # at the end of the name of what the whole numbers of a matrix are worth, row by row

ConfigT = TypeVar("ConfigT")

logger = logging.getLogger(__name__)


class CheckpointError(DamagedFile):
    """A checkpoint that cannot be trusted, or that may not be written."""


def folder(slug: str, variant: str = "base", seed: int = 1) -> Path:
    """Where a checkpoint lives: the first seed in `assets/<slug>/<variant>`, others beside it as `<variant>-seed<N>`."""
    return folders.lab(slug, ASSETS) / (variant if seed == 1 else f"{variant}-seed{seed}")


def digest(*paths: Path) -> str:
    """SHA-256 of a file, or of several one behind the other, in hexadecimal."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def _files(where: Path) -> list[Path]:
    """Where the parameters of a checkpoint stand."""
    whole = where / "model.safetensors"
    return [whole] if whole.is_file() else sorted(where.glob("model-*.safetensors")) or [whole]


def _shards(state: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    """The same in several dictionaries, each small enough for a file."""
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
    """What model.json says. CheckpointError where there is none, DamagedFile where it cannot be read."""
    path = where / "model.json"
    if not path.is_file():
        raise CheckpointError(f"no model.json in {where.name}: train it first")
    with reading(path):
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def write_text(path: Path, text: str) -> Path:
    """Write it in one move, so that no reader sees half of it; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    return part.replace(path)


def write_json(path: Path, what: Any, **how: Any) -> Path:
    """`write_text` of what `json.dumps` makes of it; how: as there."""
    return write_text(path, json.dumps(what, ensure_ascii=False, **how) + "\n")


def write_facts(where: Path, facts: dict[str, Any]) -> None:
    """Write model.json."""
    write_json(where / "model.json", facts, indent=2)


def with_figure(facts: dict[str, Any], figure: dict[str, Any], protocol: str, key: str = "figure") -> dict[str, Any]:
    """The facts with a measured figure; the one called `figure` also says on which split it is and how it was measured.

    On what the learning rate and all else was chosen, `chosen_on`, stands in the facts since training; it is never `reported_on`.
    """
    said = {"reported_on": figure["split"], "protocol": protocol} if key == "figure" else {}
    return {**facts, key: figure, **said}


def save(
    where: Path,
    state: dict[str, Tensor],
    facts: dict[str, Any],
    dtype: torch.dtype = torch.float16,
    *,
    shards: bool = False,
    most: float = LARGEST,
) -> None:
    """Write parameters in half precision and the facts beside them (config, recipe, finished, …; count and hash are added).

    dtype: another precision; torch.int8: matrices in eight bits, all else in half precision. shards: in several files.
    most: bytes of one file.

    CheckpointError where an unfinished model would replace a finished one, where a value does not survive half precision, or
    where the file would be too large.
    """
    if not facts["finished"] and (where / "model.json").is_file() and read_facts(where).get("finished"):
        raise CheckpointError(f"{where.name} holds a finished model: an unfinished one does not replace it")
    where.mkdir(parents=True, exist_ok=True)
    half = torch.float16 if dtype == torch.int8 else dtype
    small = {name: tensor.detach().to("cpu", half).contiguous() for name, tensor in state.items()}
    count = sum(tensor.numel() for tensor in small.values())
    broken = [name for name, tensor in small.items() if not torch.isfinite(tensor).all()]
    if broken:
        raise CheckpointError(f"not finite in {half}: {', '.join(broken)}")
    small = _in_eight_bits(small) if dtype == torch.int8 else small
    for i, some in enumerate(_shards(small) if shards else [small]):
        part = where / "model.safetensors.part"
        save_file(some, part)
        if part.stat().st_size > most:
            raise CheckpointError(f"{part.stat().st_size:,} bytes of parameters: at most {most:,} are allowed")
        part.chmod(0o644)  # the library makes files that only their owner can read
        part.replace(where / (f"model-{i + 1}.safetensors" if shards else "model.safetensors"))
    write_facts(where, {**facts, "parameters": count, "sha256": digest(*_files(where))})


def _in_eight_bits(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as whole numbers from -127 to 127 and, of each row, what one of them is worth: float32, (rows, 1, …)."""
    found: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if tensor.dim() < 2:
            found[name] = tensor
            continue
        found[name + WORTH] = tensor.float().abs().amax(tuple(range(1, tensor.dim())), keepdim=True).clamp_min(1e-30) / 127
        found[name] = (tensor.float() / found[name + WORTH]).round().to(torch.int8)
    return found


def config_of(kind: type[ConfigT], values: dict[str, Any]) -> ConfigT:
    """Rebuild a frozen dataclass; what JSON holds as a list was a tuple. CheckpointError names unknown and missing keys."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if set(values) != names:
        raise CheckpointError(f"{kind.__name__}: unknown {sorted(set(values) - names)}, missing {sorted(names - set(values))}")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def restore(where: Path, model: nn.Module) -> None:
    """Put stored parameters into a model built from the stored config; CheckpointError where hash, names, shapes or count differ,
    DamagedFile where a file cannot be read."""
    facts, paths = read_facts(where), _files(where)
    with reading(paths[0]):
        if digest(*paths) != facts["sha256"]:
            raise _damaged(f"{where.name}: model.safetensors is not the file that model.json describes")
        stored = {name: tensor for path in paths for name, tensor in load_file(path).items()}
    parts: dict[str, list[Tensor]] = {}
    for name in sorted(stored, key=lambda name: int(name.partition(PART)[2] or 0)):
        parts.setdefault(name.partition(PART)[0], []).append(stored[name])
    state = {name: torch.cat(some) if len(some) > 1 else some[0] for name, some in parts.items()}
    worth = {name.removesuffix(WORTH): state.pop(name) for name in [*state] if name.endswith(WORTH)}
    count = sum(tensor.numel() for tensor in state.values())
    if count != facts["parameters"]:
        raise _damaged(f"{where.name}: {count:,} parameters stored, {facts['parameters']:,} described")
    try:
        model.load_state_dict({name: tensor.float() * worth.get(name, 1.0) for name, tensor in state.items()}, strict=True)
    except RuntimeError as error:
        raise _damaged(f"{where.name}: {error}") from error


def _damaged(what: str) -> CheckpointError:
    """Said in the log too: a page that compares several models goes on without the one that cannot be read."""
    logger.error("%s", what)
    return CheckpointError(what)
