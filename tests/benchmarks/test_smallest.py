"""Every benchmark runs, at its smallest size; what counts losses and errors counts none."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import benchmarks
from benchmarks import __main__ as command
from benchmarks.sizes import VARIABLE, size

FOLDER = Path(benchmarks.__file__).parent
# Those that start the app or a browser, which takes them some seconds.
VISITING = [
    name
    for name in command.names()
    if "tests.support.visitors" in (FOLDER / f"{name}.py").read_text("utf-8")
]
COMPUTING = [name for name in command.names() if name not in VISITING]


def run_all(names: list[str]) -> dict[str, dict[str, Any]]:
    """Return what each benchmark measured in one process, by name."""
    environment = {**os.environ, VARIABLE: "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.run_smallest", *names],
        cwd=FOLDER.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(found) == len(names), done.stderr[-2000:]
    return {one["name"]: one for one in found}


@pytest.fixture(scope="module")
def computed() -> dict[str, dict[str, Any]]:
    return run_all(COMPUTING)


@pytest.fixture(scope="module")
def visited() -> dict[str, dict[str, Any]]:
    return run_all(VISITING)


def check(found: dict[str, Any]) -> None:
    assert "error" not in found, found["error"]
    assert found["figures"] and not any(math.isnan(value) for value in found["figures"].values()), (
        found
    )
    assert not found["missed"], found


@pytest.mark.parametrize("name", COMPUTING)
def test_it_computes(name: str, computed: dict[str, dict[str, Any]]) -> None:
    check(computed[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", VISITING)
def test_it_visits(name: str, visited: dict[str, dict[str, Any]]) -> None:
    check(visited[name])


def test_figures_of_the_smallest_size_are_not_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    assert size(2, 1) == 1
    with pytest.raises(SystemExit):
        command.main(["trace", "--save"])
    assert "keeps no figures" in capsys.readouterr().err
    monkeypatch.setenv(VARIABLE, "")
    assert size(2, 1) == 2
