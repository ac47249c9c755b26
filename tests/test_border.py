"""The types that scripts read are those of the records that Python sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from tools import border, script_types


@dataclass(frozen=True)
class Inner:
    """A record in a record."""

    n: int


@dataclass(frozen=True)
class Outer:
    """A record of every kind of field."""

    inner: Inner | None
    pairs: Sequence[tuple[str, float]]
    more: Mapping[str, object]


def test_declarations_are_current() -> None:
    assert border.TARGET.read_text("utf-8") == border.write_border(), "python -m tools.border"


def test_every_kind_of_field_is_written() -> None:
    text = border.write_border([Outer])
    assert text.index("interface Inner") < text.index("interface Outer")
    assert "  inner: Inner | null;\n  pairs: [string, number][];\n" in text
    assert "  more: Record<string, any>;\n" in text


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="no counterpart"):
        border.write_type(set[str])


def test_a_renamed_field_fails_the_check(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("border")
    (folder / "border.d.ts").write_text(border.write_border([Inner]), "utf-8")
    script = folder / "a.js"
    script.write_text(
        '/** @param {import("./border.d.ts").Inner} props */\n'
        "export const read = (props) => props.m;\n",
        "utf-8",
    )
    (faults,) = script_types.check_scripts([script]).values()
    assert "Property 'm' does not exist on type 'Inner'" in faults[0]
