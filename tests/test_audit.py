"""The audit says what it found, and says so when it could ask nobody."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
HURT = {"name": "gradio", "version": "6.31.0", "vulns": [{"id": "CVE-1", "fix_versions": ["6.32.0"]}]}
FINE = {"name": "numpy", "version": "2.4.6", "vulns": []}
STRANGER = {"name": "torch", "skip_reason": "not found"}


def tool(name: str) -> ModuleType:
    """A program of the folder tools, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pip-audit says of each service: a list of packages, or what it writes to standard error."""
    said: dict[str, Any] = {}

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        reply = said[command[command.index("--vulnerability-service") + 1]]
        out, error = ("", reply) if isinstance(reply, str) else (json.dumps({"dependencies": reply}), "")
        return subprocess.CompletedProcess(command, 0, out, error)

    monkeypatch.setattr(subprocess, "run", run)
    return said


GONE = "requests: Max retries exceeded"


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        (
            {"pypi": [HURT, FINE, STRANGER]},
            1,
            ("gradio 6.31.0: CVE-1, mended in 6.32.0", "2 packages asked about at pypi, 1 findings; not known there: torch"),
        ),
        ({"pypi": [STRANGER], "osv": [FINE]}, 0, ("1 packages asked about at osv, 0 findings",)),
        ({"pypi": [STRANGER], "osv": GONE}, 0, ("NOT DONE", "knows none of the 1 packages", "cannot be reached")),
    ],
    ids=["a finding, with the version that mends it", "another service", "nobody"],
)
def test_the_audit_says_what_it_found_and_whom_it_could_ask(
    replies: dict[str, Any], capsys: pytest.CaptureFixture[str], said: dict[str, Any], status: int, words: tuple[str, ...]
) -> None:
    replies |= said
    assert tool("audit").main() == status
    out = capsys.readouterr().out
    assert [one for one in words if one not in out] == []


def test_an_audit_that_breaks_is_no_audit(replies: dict[str, Any]) -> None:
    replies["pypi"] = "Traceback: KeyError"
    with pytest.raises(RuntimeError, match="KeyError"):
        tool("audit").main()


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pip plans: packages by name, or what it writes to standard error."""
    plan: dict[str, Any] = {"install": {}, "error": ""}

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        report = {"install": [{"metadata": {"name": n, "version": v}} for n, v in plan["install"].items()]}
        Path(command[command.index("--report") + 1]).write_text(json.dumps(report))
        return subprocess.CompletedProcess(command, 1 if plan["error"] else 0, "", plan["error"])

    monkeypatch.setattr(subprocess, "run", run)
    return plan


def asked(tmp_path: Path, text: str) -> tuple[int, bool]:
    """The exit status for some requirements, and whether it is noted that they resolve."""
    tool("audit")
    (tmp_path / "requirements.txt").write_text(text)
    status = tool("pins").main([str(tmp_path / "stamp"), str(tmp_path / "requirements.txt")])
    return status, (tmp_path / "stamp").exists()


@pytest.mark.parametrize(
    ("text", "install", "error", "says", "status"),
    [
        ("# why\n\ntorch==2.13.0\nXStatic-jQuery==3.7.1.1  # a script\n", "2.13.0+cpu", "", "", 0),
        ("torch==2.13.0", "2.12.0", "", "", 1),  # another version than the pinned one
        ("torch==2.13.0", "", "ERROR: ResolutionImpossible", "do not resolve", 1),
        ("torch==2.13.0", "", "No matching distribution found for torch==99", "do not resolve", 1),
        ("torch==2.13.0", "", "NewConnectionError: no\nNo matching distribution", "NOT CHECKED", 0),
    ],
)
def test_pins_that_resolve_are_noted_those_that_do_not_fail_and_an_index_out_of_reach_is_told(
    planned: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, install: str, error: str, says: str, status: int
) -> None:
    planned |= {"error": error, "install": {"torch": install, "XStatic_jQuery": "3.7.1.1", "other": "1"} if install else {}}
    assert asked(tmp_path, text) == (status, install == "2.13.0+cpu")
    assert says in capsys.readouterr().out


def test_every_requirement_of_the_project_is_a_pin(tmp_path: Path) -> None:
    tool("audit")
    found = tool("pins").pins([ROOT / "requirements.txt", ROOT / "requirements-dev.txt"])
    assert {"torch", "gradio", "xstatic-jquery", "pip-audit"} <= found.keys()
    (tmp_path / "r.txt").write_text("torch>=2")
    with pytest.raises(ValueError, match="torch>=2"):
        tool("pins").pins([tmp_path / "r.txt"])
