"""What the contract tests have to know of labs that bring it themselves, in tests/labs/SLUG.py."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tests.conftest import ROOT


def known(name: str) -> dict[str, Any]:
    """What each of these labs says under a name, by lab: SMALL, NEW, LOOKS, NONSENSE."""
    return {
        path.stem: getattr(import_module(f"tests.labs.{path.stem}"), name)
        for path in sorted((ROOT / "tests" / "labs").glob("*.py"))
    }
