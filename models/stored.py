"""A result on disk: a frozen dataclass of arrays, texts and numbers <-> one .npz file, with nothing in it that could run."""

from __future__ import annotations

import dataclasses
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


def save(path: Path, explanation: Any, milliseconds: float, device: str) -> None:
    """Write a result, how long it took and on which device. TypeError where a value is no array, text, number, tuple or dataclass."""
    arrays: dict[str, Any] = {}
    text = json.dumps({"value": _pack(explanation, "value", arrays), "milliseconds": milliseconds, "device": device}, ensure_ascii=False)
    with path.open("wb") as file:
        np.savez_compressed(file, json=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)


def load(path: Path, cls: type[Kind]) -> tuple[Kind, float, str]:
    """Read what `save` wrote: (explanation, milliseconds, device). ValueError where the fields are not those of cls."""
    with np.load(path, allow_pickle=False) as arrays:
        facts = json.loads(bytes(arrays["json"]).decode())
        return _unpack(facts["value"], cls, arrays), float(facts["milliseconds"]), str(facts["device"])
