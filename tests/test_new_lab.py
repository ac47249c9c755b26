"""`python -m tools.new_lab` writes a lab that runs: the contract tests that need no browser pass on
it, in a tree of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tools import new_lab

SLUG = "abacus"
TESTS = (
    f"tests/models/test_{SLUG}.py",
    f"tests/explorer/labs/test_{SLUG}_page.py",
    "tests/test_labs.py",
    *(
        f"tests/contract/test_{name}.py"
        for name in (
            "a_broken_model_says_so",
            "a_damaged_file_closes_one_lab",
            "chosen_apart",
            "every_intervention_changes_its_number",
            "heads_count_from_one",
            "numbers_beyond_all_sense",
            "one_number_for_a_place",
        )
    ),
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project whose only lab is the new one."""
    root = tmp_path_factory.mktemp("tree")
    for folder in ("benchmarks", "explorer", "models", "tests", "tools"):
        shutil.copytree(ROOT / folder, root / folder)
    for name in ("app.py", "pyproject.toml"):
        shutil.copy2(ROOT / name, root / name)
    (root / "assets").mkdir()
    listed = root / new_lab.LIST
    names = listed.read_text("utf-8")
    listed.write_text(
        names.replace(names[names.index("NAMES = (\n") + 10 : names.index("\n)\n") + 1], ""),
        "utf-8",
    )
    new_lab.copy(SLUG, root)
    new_lab.enlist(SLUG, root)
    return root


@pytest.mark.slow
def test_a_new_lab_passes_the_contract_tests(tree: Path) -> None:
    options = [*TESTS, "-k", SLUG, "-m", "not browser", "-W", "ignore:Module already imported"]
    code = (
        "import sys, pytest\nfrom tools.new_lab import"
        f" learn\nlearn({SLUG!r})\nsys.exit(pytest.main({options!r}))"
    )
    here = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=170,
        env=here,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "29 passed" in done.stdout


# A knob in two files: where it is added, before which line, and the line.
KNOB = {
    f"models/{SLUG}/records.py": (
        "    silenced: tuple",
        '    shift: int = number_field(0, 0, 3, en="shift", zh="平移")\n',
    ),
    f"explorer/labs/{SLUG}/views.py": (
        "        *make_heads_control",
        '        SliderControl("shift", {"en": "shift", "zh": "平移"}, change=True),\n',
    ),
}
USE = f"""
import json
from explorer.contract.controls import read_request, spell_query
from explorer.labs.{SLUG}.lab import LAB
from explorer.page.api import list_parameters
from models.explaining.errors import InputError
(control,) = [one for one in LAB.controls() if one.field == "shift"]
request, notice = read_request(LAB.request, "v=1&shift=2")
try:
    refusal = read_request(LAB.request, "v=1&shift=9") and ""
except InputError as error:
    refusal = error.text["en"]
print(json.dumps([
    control.describe_control(LAB.request),
    spell_query(request),
    [str(one) for one in list_parameters(LAB.request)],
    refusal,
]))
"""


@pytest.mark.slow
def test_a_knob_is_added_in_two_files(tree: Path) -> None:
    before = {name: (tree / name).read_text("utf-8") for name in KNOB}
    for name, (line, knob) in KNOB.items():
        assert before[name].count(line) == 1
        (tree / name).write_text(before[name].replace(line, knob + line), "utf-8")
    done = subprocess.run([sys.executable, "-c", USE], cwd=tree, capture_output=True, text=True)
    for name, text in before.items():
        (tree / name).write_text(text, "utf-8")
    assert done.returncode == 0, done.stderr
    control, link, parameters, refusal = json.loads(done.stdout)
    assert (control["least"], control["most"], control["default"]) == (0, 3, "0")
    assert link == "v=1&shift=2"
    assert "shift: int = 0" in parameters
    assert refusal == "The shift is 9; it can be 0 to 3."


def test_it_stands_in_its_two_folders_and_in_one_line(tmp_path: Path) -> None:
    (tmp_path / new_lab.LIST).parent.mkdir(parents=True)
    before = (ROOT / new_lab.LIST).read_text("utf-8")
    (tmp_path / new_lab.LIST).write_text(before, "utf-8")
    files = [path.relative_to(tmp_path).as_posix() for path in new_lab.copy(SLUG, tmp_path)]
    new_lab.enlist(SLUG, tmp_path)
    folders = (f"explorer/labs/{SLUG}/", f"models/{SLUG}/", f"assets/{SLUG}/", "tests/")
    assert all(path.startswith(folders) and SLUG in path for path in files)
    after = (tmp_path / new_lab.LIST).read_text("utf-8")
    assert set(after.splitlines()) - set(before.splitlines()) == {f'    "{SLUG}",'} and len(
        after
    ) > len(before)


@pytest.mark.parametrize("name", ["", "New", "2d", "a-b", "../x"])
def test_what_is_no_name_of_a_lab_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no name of a lab"):
        new_lab.copy(name, tmp_path)


def test_a_lab_that_is_there_stays_as_it_is() -> None:
    with pytest.raises(FileExistsError, match="is there already"):
        new_lab.copy("act_rnn")


def test_no_lab_has_a_text_that_is_still_to_be_written() -> None:
    texts = [
        path
        for folder in ("explorer/labs", "assets")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md"}
    ]
    assert [
        path
        for path in texts
        if "[to write]" in path.read_text("utf-8") or "【待写】" in path.read_text("utf-8")
    ] == []
