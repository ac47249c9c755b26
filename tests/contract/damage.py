"""Files of the project that are cut off in the middle, as after a broken copy: for whoever opens
them, nothing on disk is touched."""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

ASSETS = Path(__file__).parents[2] / "assets"


@contextlib.contextmanager
def truncated(*paths: Path) -> Iterator[set[str]]:
    """Whoever opens one of these files for reading finds its first half; what was read of any file
    before is forgotten, now and after.

    Yields the paths of all files that are opened meanwhile, these and others.
    """
    cut, whole = {os.fspath(path) for path in paths}, io.open
    opened: set[str] = set()

    def opening(file: Any, mode: str = "r", *settings: Any, **named: Any) -> Any:
        if isinstance(file, str | os.PathLike):
            opened.add(str(os.fspath(file)))
        if not isinstance(file, str | os.PathLike) or os.fspath(file) not in cut:
            return whole(file, mode, *settings, **named)
        with whole(file, "rb") as found:
            half = io.BytesIO(found.read(Path(file).stat().st_size // 2))
        return half if "b" in mode else io.TextIOWrapper(half, named.get("encoding") or "utf-8")

    forget()
    try:
        with mock.patch.object(builtins, "open", opening), mock.patch.object(io, "open", opening):
            yield opened
    finally:
        forget()


def forget() -> None:
    """Everything that our functions have kept of files."""
    for one in _keeping(len(sys.modules)):
        one.cache_clear()


@functools.cache
def _keeping(_modules: int) -> list[Any]:
    """Our functions that keep what they have answered, as far as this many modules are loaded:
    looking through all objects takes long."""
    gc.unfreeze()  # what is frozen is not listed
    kept = [one for one in gc.get_objects() if type(one) is functools._lru_cache_wrapper]
    gc.freeze()
    return [
        one
        for one in kept
        if str(one.__module__).startswith(
            ("models.", "explorer.labs.", "explorer.page.runs", "explorer.page.rendered_results")
        )
    ]
