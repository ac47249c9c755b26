"""Tests that an upgrade of Gradio is noticed: each file that leans on its private parts names the
version that it was written for, and no other file leans on them."""

from __future__ import annotations

import re
from pathlib import Path

import gradio as gr
import pytest

from tests.conftest import ROOT

ADAPTER = ROOT / "explorer" / "gradio_adapter"
FILES = [path for path in sorted(ADAPTER.glob("*.py")) if path.name != "__init__.py"]
# a part of Gradio below its front door, or a private attribute of what it gives
PRIVATE = re.compile(r"^(?:from|import) gradio\.|\b_queue\b|\bevent\._data\b", re.MULTILINE)


def find_pinned_version() -> str:
    """Return the version of Gradio in requirements.txt."""
    (version,) = re.findall(
        r"^gradio==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), flags=re.MULTILINE
    )
    return str(version)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_names_the_pinned_version(path: Path) -> None:
    written = re.findall(r'^WRITTEN_FOR = "([^"]+)"', path.read_text("utf-8"), re.MULTILINE)
    assert written == [find_pinned_version()], (
        f"Gradio is pinned at {find_pinned_version()}, and {path.relative_to(ROOT)} was written for"
        f" {', '.join(written) or 'no version'}: read it beside the new version, run its tests, and"
        " set its WRITTEN_FOR."
    )


def test_the_pinned_version_is_installed() -> None:
    assert gr.__version__ == find_pinned_version(), (
        f"Gradio {gr.__version__} is installed, and requirements.txt pins {find_pinned_version()}:"
        " run make once more."
    )


def test_no_other_file_leans_on_gradio() -> None:
    leaning = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "explorer").rglob("*.py")
        if path.parent != ADAPTER and PRIVATE.search(path.read_text("utf-8"))
    ]
    assert leaning == [], "what leans on a private part of Gradio belongs to gradio_adapter"
