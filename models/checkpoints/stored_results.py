"""Results on disk: a frozen dataclass of arrays, texts and numbers <-> one .npz file, with nothing
in it that could run."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import types
import typing
import zipfile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from models.media.files import check_file, parse_json

# bytes of a result's file, and of all its arrays; the largest that is shipped has 1 % of that
LARGEST = 512 << 20
LISTED = 4 << 20  # bytes of a file's list of contents
TAIL = 42  # bytes that say where that list is, in a ZIP file without a comment

Kind = TypeVar("Kind")


def _pack(value: Any, name: str, arrays: dict[str, Any]) -> Any:
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: _pack(getattr(value, f.name), f"{name}.{f.name}", arrays)
            for f in dataclasses.fields(value)
        }
    if isinstance(value, tuple | list):
        return [_pack(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {str(key): _pack(item, f"{name}.{key}", arrays) for key, item in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"{name}: a {type(value).__name__} cannot be stored")


def _unpack(value: Any, kind: Any, arrays: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"array"} and not dataclasses.is_dataclass(kind):
        array = arrays[value["array"]]
        array.setflags(write=False)
        return array
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        if value is None:
            return None
        (kind,) = (one for one in typing.get_args(kind) if one is not type(None))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        names = {f.name for f in dataclasses.fields(kind)}
        if set(value) != names:
            raise ValueError(
                f"{kind.__name__}: unknown {sorted(set(value) - names)}, missing"
                f" {sorted(names - set(value))}"
            )
        return kind(**{name: _unpack(value[name], hints[name], arrays) for name in names})
    if isinstance(value, list):
        inner = typing.get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            inner = (inner[0],) * len(value)
        inner = inner if len(inner) == len(value) else (Any,) * len(value)
        return tuple(_unpack(item, one, arrays) for item, one in zip(value, inner, strict=True))
    if isinstance(value, dict):
        return {key: _unpack(item, Any, arrays) for key, item in value.items()}
    return float(value) if kind is float else value


def save(path: Path, explanation: Any, milliseconds: float, device: str, key: str = "") -> None:
    """Write a result, how long it took and on which device. Raise TypeError where a value is no
    array, text, number, tuple or dataclass.

    key: the key by which `recall` finds it; the file is then written without compression, because
        it is written while visitors are served.
    """
    arrays: dict[str, Any] = {}
    kind = f"{type(explanation).__module__}:{type(explanation).__qualname__}"
    facts = {
        "value": _pack(explanation, "value", arrays),
        "milliseconds": milliseconds,
        "device": device,
    }
    text = json.dumps(facts | ({"key": key, "kind": kind} if key else {}), ensure_ascii=False)
    with path.open("wb") as file:
        (np.savez if key else np.savez_compressed)(
            file, json=np.frombuffer(text.encode(), dtype=np.uint8), **arrays
        )


def check_arrays(path: Path) -> None:
    """Raise OSError, in words, for a path that is no regular file, and ValueError where its arrays
    are too many or too large.

    Sizes are those that the file's own list of contents gives: NumPy unpacks no more than these.
    """
    check_file(path, LARGEST)
    with path.open("rb") as file:
        file.seek(-min(TAIL, path.stat().st_size), os.SEEK_END)
        tail = file.read()
        if (
            tail[-22:-18] != b"PK\5\6"
            or b"PK\6\7" in tail
            or int.from_bytes(tail[-10:-6], "little") > LISTED
        ):
            raise ValueError(
                f"{path.name}: its list of contents is damaged, or has more than {LISTED:,} bytes"
            )
        with zipfile.ZipFile(file) as found:
            size = sum(one.file_size for one in found.infolist())
    if size > LARGEST:
        raise ValueError(f"{path.name}: its arrays have {size:,} bytes; up to {LARGEST:,} are read")


def load(path: Path, cls: type[Kind]) -> tuple[Kind, float, str]:
    """Read what `save` wrote: (explanation, milliseconds, device). Raise ValueError where the
    fields are not those of cls."""
    check_arrays(path)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return _read(arrays, _facts(arrays), cls)


def recall(path: Path, key: str) -> tuple[Any, float, str]:
    """Read what `save` wrote under this key, as the kind of record it was: (record, milliseconds,
    device).

    Raise ValueError where the file is of another key, or of no record of this project, and the
    errors of NumPy and zipfile where it is damaged.
    """
    check_arrays(path)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        facts = _facts(arrays)
        module, _, name = str(facts.get("kind", "")).partition(":")
        if facts.get("key") != key or module.partition(".")[0] not in {"models", "explorer"}:
            raise ValueError(f"{path.name}: not the record of this key")
        kind = getattr(importlib.import_module(module), name)
        if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
            raise ValueError(f"{path.name}: {module}:{name} is no record")
        return _read(arrays, facts, kind)


def _facts(arrays: Any) -> dict[str, Any]:
    facts: dict[str, Any] = parse_json(bytes(arrays["json"]))
    return facts


def _read(arrays: Any, facts: dict[str, Any], cls: type[Kind]) -> tuple[Kind, float, str]:
    return _unpack(facts["value"], cls, arrays), float(facts["milliseconds"]), str(facts["device"])
