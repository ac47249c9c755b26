"""Test that a text which several files show stands once, in explorer/contract/shared_texts.py."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

CALLS = {"_", "text", "name_part"}  # functions whose first arguments are a text in both languages
CODE = """A = _("Run", "运行")
B = {"en": "Stop", "zh": "停止"}
C = name_part("all", "全部", "ask")"""


def list_texts(code: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a file, in English and Chinese."""
    for node in ast.walk(ast.parse(code)):
        words: list[ast.expr | None] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CALLS:
            words = [*node.args[:2]]
        elif isinstance(node, ast.Dict):
            values = {
                key.value: value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            }
            words = [values.get("en"), values.get("zh")]
        match words:
            case [ast.Constant(value=str(english)), ast.Constant(value=str(chinese))]:
                if english:
                    yield english, chinese


def list_repeated_texts(root: Path) -> dict[tuple[str, str], set[str]]:
    """Return the texts that stand word for word in several files, and these files."""
    files = defaultdict(set)
    for path in sorted(root.rglob("*.py")):
        for words in list_texts(path.read_text("utf-8")):
            files[words].add(path.relative_to(root).as_posix())
    return {words: paths for words, paths in files.items() if len(paths) > 1}


def test_every_spelling_of_a_text_is_found() -> None:
    assert list(list_texts(CODE)) == [("Run", "运行"), ("Stop", "停止"), ("all", "全部")]


def test_no_text_stands_in_two_files() -> None:
    repeated = list_repeated_texts(ROOT / "explorer")
    assert repeated == {}, "a text of two files gets a key in explorer/contract/shared_texts.py"
