"""Faults of types in scripts are named, and so is a file that no longer has any."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import script_types


def test_a_fault_is_named_unless_it_is_known() -> None:
    faults = {"a.js": ["3: TS2339 …"], "b.js": ["1: TS1 …"]}
    assert script_types.list_faults(faults, ("b.js",)) == ["explorer/a.js:3: TS2339 …"]


def test_a_clean_file_leaves_the_list() -> None:
    (line,) = script_types.list_faults({}, ("a.js",))
    assert "take it off UNTYPED" in line


def test_untyped_files_exist() -> None:
    assert [
        name for name in script_types.UNTYPED if not (script_types.FOLDER / name).is_file()
    ] == []
    assert list(script_types.UNTYPED) == sorted(set(script_types.UNTYPED))


def test_a_wrong_type_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "a.js"
    script.write_text("/** @type {number} */\nexport const n = 'one';\n", "utf-8")
    monkeypatch.setattr(script_types, "FOLDER", tmp_path)
    (fault,) = script_types.check_scripts([script])["a.js"]
    assert fault.startswith("2: TS2322")
