"""The handbook is true of the tree: its paths, modules, commands and examples."""

from __future__ import annotations

import importlib.util
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {  # lines
    "ARCHITECTURE.md": 140,
    "CONTRIBUTING.md": 110,
    "CHANGELOG.md": 60,
    "SECURITY.md": 50,
}
PAGES = ("README.md", *LIMITS)
ENDINGS = (".py", ".js", ".css", ".md", ".toml", ".txt", ".cff", ".json", ".sh")
PLACEHOLDERS = re.compile(r"<slug>|\bSLUG\b")
# Commands of which the help alone is run, and why.
NOT_RUN = {
    "python app.py": "serves; tests/models/training/test_user_data.py runs it",
    "python -m benchmarks": "takes long; tests/benchmarks runs it",
    "python -m explorer.readme": "writes; tests/test_readme.py checks it",
    "python -m models evaluate": "needs the data folder",
    "python -m models examples": "writes",
    "python -m models train": "trains; tests/models/training/test_user_data.py runs it",
    "python -m tools.new_lab": "writes; tests/test_new_lab.py runs it",
}


def read_page(name: str) -> str:
    """Return a page of the handbook; of README without the names in the data folder."""
    return (ROOT / name).read_text("utf-8").partition("## Where data come from")[0]


def list_fences(name: str, language: str) -> list[str]:
    """Return the fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", read_page(name), re.DOTALL | re.MULTILINE)


def list_spans(name: str) -> list[str]:
    """Return what a page quotes inside its lines."""
    text = re.sub(r"^```.*?^```", "", read_page(name), flags=re.DOTALL | re.MULTILINE)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]


def list_commands(name: str) -> list[str]:
    """Return the commands of a page, quoted or in an example, without comments."""
    lines = [line for block in list_fences(name, "sh") for line in block.splitlines()]
    lines = [line.partition(" #")[0].strip() for line in lines]
    return [line.removeprefix(".venv/bin/") for line in [*lines, *list_spans(name)] if line]


def list_paths(name: str) -> Iterator[str]:
    """Yield the paths that a page names: in quotes, in links and in comments of examples."""
    comments = re.findall(r"# (\S+/\S+?)[;,]?(?:\s|$)", "".join(list_fences(name, "python")))
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", read_page(name))
    for span in (*list_spans(name), *comments):
        is_name = re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", PLACEHOLDERS.sub("x", span))
        if is_name and ("/" in span or span.endswith(ENDINGS)):
            yield span
    yield from links
    for command in list_commands(name):
        yield from (word for word in shlex.split(command) if word.startswith("tests/"))


def list_tree() -> list[str]:
    """Return the paths of the tree that ARCHITECTURE.md draws, by their indentation."""
    (tree,) = list_fences("ARCHITECTURE.md", "")
    paths: list[str] = []
    above: list[str] = []
    for line in tree.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[:depth], line.split()[0]]
        paths.append("".join(above))
    return paths


@pytest.mark.parametrize("name", PAGES)
def test_every_path_exists(name: str) -> None:
    paths = list(list_paths(name))
    assert paths or name == "CHANGELOG.md"
    assert [path for path in paths if not list(ROOT.glob(PLACEHOLDERS.sub("*", path)))] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_command_exists(name: str) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    lost = []
    for command in list_commands(name):
        if make := re.match(r"make (\w+)", command):
            found = make[1] in targets
        elif module := re.match(r"python -m ([\w.]+)", command):
            found = importlib.util.find_spec(module[1]) is not None
        else:
            continue
        lost += [] if found else [command]
    assert lost == []


def find_script(words: list[str]) -> tuple[Path, list[str]]:
    """Return the file that a call of Python runs, and its arguments."""
    if words[0] != "-m":
        return ROOT / words[0], words[1:]
    spec = importlib.util.find_spec(words[1])
    assert spec and spec.origin, words
    path = Path(spec.origin)
    return path.with_name("__main__.py") if path.name == "__init__.py" else path, words[2:]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (name, command)
        for name in ("README.md", "CONTRIBUTING.md")
        for command in dict.fromkeys(list_commands(name))
        if command.startswith("python ") and not command.startswith("python -m pytest")
    ],
)
def test_every_command_runs(
    name: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run what reads only; of the others, look up the options in their help."""
    script, arguments = find_script(shlex.split(command)[1:])
    is_run = not command.startswith(tuple(NOT_RUN))
    monkeypatch.setattr(sys, "argv", [str(script), *arguments, *([] if is_run else ["--help"])])
    monkeypatch.chdir(ROOT)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        assert not end.code
    printed = capsys.readouterr().out
    assert printed
    options = [] if is_run else [word for word in arguments if word.startswith("--")]
    assert [option for option in options if option not in printed] == []


@pytest.mark.parametrize("name", LIMITS)
def test_its_python_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for block in list_fences(name, "python"):
        exec(compile(block, name, "exec", dont_inherit=True), {"__name__": __name__})
    assert name != "ARCHITECTURE.md" or capsys.readouterr().out.startswith("734 (")


@pytest.mark.parametrize("name", LIMITS)
def test_it_is_short(name: str) -> None:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    assert len(lines) <= LIMITS[name] and max(map(len, lines)) <= 100


def test_the_tree_names_every_room() -> None:
    tree = list_tree()
    assert [path for path in tree if not list(ROOT.glob(PLACEHOLDERS.sub("*", path)))] == []
    slugs = {path.name for path in (ROOT / "explorer/labs").iterdir()}
    rooms = {
        f"{house}/{path.name}/"
        for house in ("explorer", "models", "explorer/frontend")
        for path in (ROOT / house).iterdir()
        if path.is_dir() and path.name not in slugs and path.name[0] not in "_."
    }
    assert rooms - set(tree) == set()


def test_it_says_who_imports_whom() -> None:
    page = " ".join(read_page("ARCHITECTURE.md").split())
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    for contract in contracts["contracts"]:
        layers = " → ".join(contract.get("layers", ())).replace(" : ", ", ")
        assert layers in page


def test_one_version_of_gradio_is_named() -> None:
    pin = re.search(r"^gradio==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    assert pin and f"sdk_version: {pin[1]}\n" in read_page("README.md")
