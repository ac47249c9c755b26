"""Write explorer/frontend/border.d.ts from the records that Python sends: ``python -m
tools.border``."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.components.border import PROPS

TARGET = Path(__file__).parents[1] / "explorer/frontend/border.d.ts"
HEAD = """\
// deno-lint-ignore-file no-explicit-any -- some values are what a lab alone knows.
// Written by python -m tools.border from explorer/components/border.py.
"""
PLAIN = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    object: "any",
    type(None): "null",
}


def write_type(kind: object) -> str:
    """Return a Python type in TypeScript.

    Raise TypeError for one that has no counterpart.
    """
    if kind in PLAIN:
        return PLAIN[typing.cast(type, kind)]
    if dataclasses.is_dataclass(kind):
        return typing.cast(type, kind).__name__
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in {typing.Union, types.UnionType}:
        return " | ".join(map(write_type, parts))
    if origin is tuple:
        return f"[{', '.join(map(write_type, parts))}]"
    if origin is Mapping:
        return f"Record<string, {write_type(parts[1])}>"
    if origin is Sequence:
        return f"{write_type(parts[0])}[]"
    raise TypeError(f"{kind} has no counterpart in TypeScript")


def list_records(kinds: Sequence[type]) -> list[type]:
    """Return some records and all that their fields hold, each after those that it holds."""
    order: dict[type, None] = {}

    def visit(kind: object) -> None:
        if dataclasses.is_dataclass(kind):
            for inner in typing.get_type_hints(kind).values():
                visit(inner)
            order.setdefault(typing.cast(type, kind))
        for part in typing.get_args(kind):
            visit(part)

    for kind in kinds:
        visit(kind)
    return list(order)


def write_border(kinds: Sequence[type] = PROPS) -> str:
    """Return the declarations of some records."""
    parts = [HEAD]
    for kind in list_records(kinds):
        fields = [
            f"  {name}: {write_type(of)};\n" for name, of in typing.get_type_hints(kind).items()
        ]
        parts.append(f"\nexport interface {kind.__name__} {{\n{''.join(fields)}}}\n")
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(write_border(), "utf-8")
    print(f"{TARGET.name} is written")
