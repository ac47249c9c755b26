"""Labs are independent, pages start without heavy libraries, and every public name has a docstring.

Which room imports which is declared in pyproject.toml, and held by `make lint`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from explorer.labs import LABS
from tools.price import nodes

pytestmark = pytest.mark.xdist_group("every source")  # which is parsed once
ROOT = Path(__file__).parents[2]
FILES = sorted(
    [
        ROOT / "app.py",
        *(
            path
            for folder in ("explorer", "models", "benchmarks")
            for path in (ROOT / folder).rglob("*.py")
        ),
    ]
)
SLUGS = {path.parent.name for path in (ROOT / "explorer/labs").glob("*/texts.py")}
# Files of visitors that only these labs take; the list only shrinks.
READERS = {"explorer.media.music_files", "explorer.media.sound", "models.training.user_data"}


def list_labs_of(module: str) -> set[str]:
    """Return the labs whose folders a module lies in: none for what is shared."""
    return {
        slug for slug in SLUGS if module.startswith((f"models.{slug}.", f"explorer.labs.{slug}."))
    }


def test_only_a_lab_knows_itself() -> None:
    """What is shared imports no lab, and no lab another one's model, so a lab can be deleted."""
    graph = grimp.build_graph("explorer", "models")
    found = [
        f"{module} imports {other}"
        for module in sorted(graph.modules - READERS)
        for other in sorted(graph.find_modules_directly_imported_by(module))
        if list_labs_of(other) - list_labs_of(module)
    ]
    assert found == []


def test_the_tuple_of_labs_equals_the_folders() -> None:
    assert sorted(lab.slug for lab in LABS) == sorted(SLUGS)
    for lab in LABS:
        assert (ROOT / "models" / lab.slug / "explain.py").exists()
        assert (ROOT / "assets" / lab.slug).is_dir()
        assert {ancestor for ancestor in lab.ancestors if ancestor} <= SLUGS


@pytest.mark.slow
def test_pages_need_neither_torch_nor_ray() -> None:
    code = """import re, sys, explorer.web.launch
print(*{name.split(".")[1] for name in sys.modules
    if re.fullmatch(r"models[.]\\w+[.]records", name)})
import explorer.labs
print(*sorted({"torch", "transformers", "bertviz", "plotly", "ray",
    "explorer.cluster"} & sys.modules.keys()))
import explorer.cluster
print(*sorted({"ray", "explorer.cluster"} & sys.modules.keys()))"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    before, with_labs, with_cluster = done.stdout.splitlines()
    assert before == "your_model", "whose models a lab has is known once the command line is read"
    assert with_labs == "", "imported before the server listens"
    assert with_cluster == "explorer.cluster", (
        "the process that serves pages holds no Ray in either case"
    )


def _another_way(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Is it another signature of something, or another class's, that is documented there?"""
    return any(
        isinstance(mark, ast.Name) and mark.id in {"overload", "override"}
        for mark in node.decorator_list
    )


def module_of(path: Path) -> str:
    """Return the dotted name of a file of the project."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def undocumented(path: Path) -> Iterator[str]:
    """Every public name of a file that has no docstring; "" is the module itself."""
    tree = nodes(path.read_text("utf-8"))[0]
    assert isinstance(tree, ast.Module)
    if not ast.get_docstring(tree):
        yield ""
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    for node in tree.body:
        if isinstance(node, functions | ast.ClassDef) and not node.name.startswith("_"):
            inner = [
                (f"{node.name}.{one.name}", one)
                for one in node.body
                if isinstance(node, ast.ClassDef) and isinstance(one, functions)
            ]
            for name, one in [(node.name, node), *inner]:
                if (
                    not one.name.startswith("_")
                    and not ast.get_docstring(one)
                    and not _another_way(one)
                ):
                    yield name


def test_every_public_name_has_a_docstring() -> None:
    assert [
        f"{module_of(path)}: {name or 'the module itself'}"
        for path in FILES
        for name in undocumented(path)
    ] == []
