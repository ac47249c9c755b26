"""A result on disk: a frozen dataclass of arrays, texts and numbers <-> one .npz file, with nothing in it that could run."""

from __future__ import annotations

import dataclasses
import importlib
import json
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Kind = TypeVar("Kind")


def _pack(value: Any, name: str, arrays: dict[str, Any]) -> Any:
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _pack(getattr(value, f.name), f"{name}.{f.name}", arrays) for f in dataclasses.fields(value)}
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
            raise ValueError(f"{kind.__name__}: unknown {sorted(set(value) - names)}, missing {sorted(names - set(value))}")
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
    """Write a result, how long it took and on which device. TypeError where a value is no array, text, number, tuple or dataclass.

    key: what `recall` finds it by; such a file is written without compression, for it is written while visitors are served.
    """
    arrays: dict[str, Any] = {}
    kind = f"{type(explanation).__module__}:{type(explanation).__qualname__}"
    facts = {"value": _pack(explanation, "value", arrays), "milliseconds": milliseconds, "device": device}
    text = json.dumps(facts | ({"key": key, "kind": kind} if key else {}), ensure_ascii=False)
    with path.open("wb") as file:
        (np.savez if key else np.savez_compressed)(file, json=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)


def load(path: Path, cls: type[Kind]) -> tuple[Kind, float, str]:
    """Read what `save` wrote: (explanation, milliseconds, device). ValueError where the fields are not those of cls."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return _read(arrays, _facts(arrays), cls)


def recall(path: Path, key: str) -> tuple[Any, float, str]:
    """Read what `save` wrote under this key, as the kind of record it was: (record, milliseconds, device).

    ValueError where the file is of another key, or of no record of this project; whatever NumPy and zipfile raise where it is damaged.
    """
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
    facts: dict[str, Any] = json.loads(bytes(arrays["json"]).decode())
    return facts


def _read(arrays: Any, facts: dict[str, Any], cls: type[Kind]) -> tuple[Kind, float, str]:
    return _unpack(facts["value"], cls, arrays), float(facts["milliseconds"]), str(facts["device"])
