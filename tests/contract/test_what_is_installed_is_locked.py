"""What make installs is named by its hashes: every pin of the requirements, on every platform."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tools.lock import FILES, OUTSIDE, entries, normal, pins

LOCKS = sorted(FILES.items())


@pytest.mark.parametrize(("wanted", "lock"), LOCKS)
def test_every_pin_but_torch_stands_in_the_lock(wanted: str, lock: str) -> None:
    files = [ROOT / name for name in ("requirements.txt", wanted)]
    locked = entries((ROOT / lock).read_text("utf-8"))
    pinned = {
        normal(name): version for name, version in pins(files).items() if not OUTSIDE.match(name)
    }
    assert len(pinned) > 10
    for name, version in pinned.items():
        assert [block.split("==")[1].split()[0] for block in locked.get(name, [])] == [version], (
            f"{name}: run make lock"
        )


def test_a_requirement_that_pins_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("torch>=2")
    with pytest.raises(ValueError, match="torch>=2"):
        pins([tmp_path / "r.txt"])


@pytest.mark.parametrize(("wanted", "lock"), LOCKS)
def test_every_package_in_the_lock_has_its_hashes_and_no_address(wanted: str, lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    for name, blocks in entries(text).items():
        assert not OUTSIDE.match(name)
        for block in blocks:
            assert re.fullmatch(r"[^\n]+ \\\n( {4}--hash=sha256:[0-9a-f]{64}( \\)?\n)+", block), (
                name
            )
    assert "://" not in text and " @ " not in text and "--index" not in text


@pytest.mark.parametrize(("wanted", "lock"), LOCKS)
def test_a_lock_holds_on_other_platforms(wanted: str, lock: str) -> None:
    locked = entries((ROOT / lock).read_text("utf-8"))
    # compiled: a file for each platform and Python
    for name in ("numpy", "pillow", "safetensors", "pydantic-core"):
        assert locked[name][0].count("--hash=") > 10, name


def test_make_installs_by_hash() -> None:
    told = subprocess.run(
        ["make", "-n", "VENV=none", "none/app-installed", "none/dev-installed"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    for lock in FILES.values():
        assert re.search(
            rf"pip install .*--require-hashes -r {re.escape(lock)}$", told.stdout, flags=re.M
        ), told.stdout + told.stderr
