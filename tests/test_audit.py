"""The audit says what it found, and says so when it could ask nobody."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tools import audit

HURT = {
    "name": "gradio",
    "version": "6.31.0",
    "vulns": [{"id": "CVE-1", "fix_versions": ["6.32.0"]}],
}
FINE = {"name": "numpy", "version": "2.4.6", "vulns": []}
STRANGER = {"name": "torch", "skip_reason": "not found"}


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pip-audit says of each service: a list of packages, or what it writes to standard
    error."""
    said: dict[str, Any] = {}

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        reply = said[command[command.index("--vulnerability-service") + 1]]
        out, error = (
            ("", reply) if isinstance(reply, str) else (json.dumps({"dependencies": reply}), "")
        )
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
            (
                "gradio 6.31.0: CVE-1, mended in 6.32.0",
                "2 packages asked about at pypi, 1 findings; not known there: torch",
            ),
        ),
        ({"pypi": [STRANGER], "osv": [FINE]}, 0, ("1 packages asked about at osv, 0 findings",)),
        (
            {"pypi": [STRANGER], "osv": GONE},
            0,
            ("NOT DONE", "knows none of the 1 packages", "cannot be reached"),
        ),
    ],
    ids=["a finding, with the version that mends it", "another service", "nobody"],
)
def test_the_audit_says_what_it_found_and_whom_it_could_ask(
    replies: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    said: dict[str, Any],
    status: int,
    words: tuple[str, ...],
    tmp_path: Path,
) -> None:
    replies |= said
    assert audit.main([str(tmp_path / "audit.txt")]) == status
    out = capsys.readouterr().out
    assert [one for one in words if one not in out] == []
    assert (tmp_path / "audit.txt").read_text("utf-8") == out.splitlines(keepends=True)[-1]


def test_an_audit_that_breaks_is_no_audit(replies: dict[str, Any]) -> None:
    replies["pypi"] = "Traceback: KeyError"
    with pytest.raises(RuntimeError, match="KeyError"):
        audit.main()


def test_no_network_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ask through a proxy that is not there."""
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert audit.main([str(tmp_path / "audit.txt")]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"audit: NOT DONE, .*; pypi: it cannot be .*; osv: it cannot be .*", line)
    assert (tmp_path / "audit.txt").read_text("utf-8") == f"{line}\n"


def test_make_test_prints_the_audit_last() -> None:
    command = ["make", "-n", "--no-print-directory", "VENV=none", "test"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == "cat none/audit.txt"
    assert "none/bin/python tools/audit.py none/audit.txt" in lines
