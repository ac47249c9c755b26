"""Imports point one way, heavy libraries stay where they belong, and every public name says what it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from explorer.labs import LABS
from tools.price import nodes

pytestmark = pytest.mark.xdist_group("every source")  # which is parsed once
ROOT = Path(__file__).parents[2]
FILES = sorted([ROOT / "app.py", *(path for folder in ("explorer", "models", "benchmarks") for path in (ROOT / folder).rglob("*.py"))])
OURS = {"app", "explorer", "models", "benchmarks", "tests"}
SLUGS = {path.parent.name for path in (ROOT / "explorer/labs").glob("*/page.py")}

# Who may import whom inside the project, by the longest prefix that fits; everybody may import inside its own entry.
MAY_IMPORT = {
    "app": {"explorer.server"},
    "explorer.server": {"explorer", "models.errors"},
    "explorer.fetched": {
        *("explorer.again", "explorer.delivery", "explorer.gate", "explorer.hosts", "explorer.looks", "explorer.packing"),
        *("explorer.sound", "explorer.stored"),
    },
    "explorer.site": {"explorer.cancelled", "explorer.document", "explorer.engine", "explorer.lab", "explorer.quick", "explorer.widgets"},
    "explorer.labs": {
        *("explorer.engine", "explorer.figures", "explorer.lab", "explorer.labels", "explorer.looks", "explorer.packing"),
        *("explorer.permalink", "explorer.sound", "explorer.widgets", "models.errors", "models.stored", "models.checkpoint"),
        *("models.corpus", "models.crossing", "models.folders", "models.pixels", "models.thinking", "models.plane", "models.results"),
        *("explorer.controls", "explorer.knobs", "explorer.program", "explorer.runs", "explorer.views", "explorer.wiring"),
        *("explorer.declared", "models.your_model"),
    },
    "explorer.declared": {
        *("explorer.api", "explorer.controls", "explorer.drawn", "explorer.engine", "explorer.lab", "explorer.own", "explorer.program"),
    },
    "explorer.api": {"explorer.controls", "explorer.engine", "explorer.lab", "explorer.program", "explorer.wiring", "models.fields"},
    "explorer.views": {"explorer.controls", "explorer.engine", "explorer.lab", "explorer.widgets"},
    "explorer.program": {
        *("explorer.controls", "explorer.drawn", "explorer.engine", "explorer.lab", "explorer.labels", "explorer.packing", "explorer.runs"),
        *("explorer.views", "explorer.widgets", "explorer.wiring", "models.errors"),
    },
    "explorer.wiring": {"explorer.engine", "explorer.hosts", "explorer.widgets.newest", "models.errors"},
    "explorer.runs": {"explorer.engine", "models.errors", "models.folders", "models.stored"},
    "explorer.own": {"explorer.labels", "explorer.widgets", "models.errors", "models.folders"},
    "explorer.controls": {"explorer.knobs", "explorer.lab", "explorer.packing", "explorer.permalink", "models.errors", "models.fields"},
    "explorer.widgets": {
        *("explorer.controls", "explorer.knobs"),
        *("explorer.figures", "explorer.lab", "explorer.labels", "explorer.packing", "explorer.permalink", "models.errors"),
    },
    "explorer.figures": {"explorer.looks", "explorer.packing"},
    "explorer.looks": {"explorer.packing"},
    "explorer.engine": {"models.errors"},
    "explorer.cluster": {"explorer.engine", "models.errors"},
    "explorer.options": {"explorer.cluster", "explorer.engine", "explorer.hosts", "models.errors", "models.folders", "models.your_model"},
    "explorer.knobs": {"explorer.packing"},
    "explorer.lab": {"explorer.engine"},
    "explorer.permalink": {"models.errors"},
    "explorer.connection": {"explorer.gate"},
    "explorer.qr": {"models.errors"},
    "explorer.uploads": {"explorer.hosts", "explorer.packing", "explorer.picture_files", "models.errors"},
    "explorer.picture_files": {"models.errors"},
    "explorer.midi_files": {"models.errors"},
    "explorer.music_files": {"explorer.midi_files", "explorer.packing", "explorer.uploads", "models.errors", "models.music"},
    "explorer.sound": {"explorer.delivery", "explorer.packing", "models.music"},
    "explorer.again": {"explorer.engine", "explorer.hosts", "explorer.lab", "explorer.wiring"},
    "explorer.gate": {
        *("explorer.bodies", "explorer.delivery", "explorer.document", "explorer.hosts", "explorer.lost", "explorer.metrics"),
        "explorer.streams",
    },
    "explorer.lost": {"explorer.document", "explorer.figures"},
    "explorer.metrics": {"explorer.engine"},
    "explorer.disk": {"explorer.engine", "models.stored"},
    "explorer.drawn": {"explorer.disk", "explorer.looks", "explorer.packing", "explorer.sound", "models.folders"},
    "explorer.joining": {"explorer.drawn"},
    "explorer.stored": {
        *("explorer.delivery", "explorer.disk", "explorer.drawn", "explorer.engine", "explorer.lab", "explorer.looks", "explorer.packing"),
        *("explorer.sound", "models.folders"),
    },
    "explorer.readme": {"explorer", "models"},
    "explorer": set(),
    "benchmarks": {"explorer", "models"},
    "models.__main__": {"models"},
    "models": {"models"},
}
# Libraries that a part of the project leaves alone.
NEVER = {
    "explorer": {"ray", "torch", "transformers", "bertviz", "tokenizers", "safetensors", "lightning"},
    "explorer.figures": {"torch", "gradio", "models", "transformers", "bertviz"},
    "explorer.engine": {"torch", "gradio", "plotly"},
    "explorer.cluster": {"torch", "gradio", "plotly"},
    "models": {"gradio", "plotly", "explorer", "transformers", "bertviz", "fastapi", "starlette"},
}


EXCEPT = {
    "explorer.cluster.bridge": "ray",
    "explorer.cluster.routing": "ray",
    "explorer.figures.bertviz": "torch",
    "models.your_model.explain": "transformers",
}  # the one that may


def module_of(path: Path) -> str:
    """The dotted name of a file of the project."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever the import stands."""
    for node in nodes(path.read_text("utf-8")):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inside = ROOT.joinpath(*node.module.split("."))
            for name in node.names:  # "from explorer import permalink" means the module, not the package
                is_module = (inside / f"{name.name}.py").exists() or (inside / name.name).is_dir()
                yield f"{node.module}.{name.name}" if is_module else node.module


@cache
def imported() -> dict[str, set[str]]:
    """What every module imports."""
    return {module_of(path): set(imports(path)) for path in FILES}


def under(name: str, prefix: str) -> bool:
    """Whether a module is `prefix` or lies inside it."""
    return name == prefix or name.startswith(prefix + ".")


def rule_for(module: str) -> str:
    """The entry of MAY_IMPORT that holds for a module."""
    return max((prefix for prefix in MAY_IMPORT if under(module, prefix)), key=len)


def others(module: str, root: str) -> set[str]:
    """The packages of the labs, under `root`, that a module lies outside of."""
    return {f"{root}.{slug}" for slug in SLUGS if not under(module, f"{root}.{slug}")}


def importing(forbidden: Callable[[str, str], bool]) -> list[str]:
    """One walk over all files: who imports what, of all that `forbidden` says of (module, what it imports)."""
    found = {(module, name) for module, names in imported().items() for name in names if forbidden(module, name)}
    return [f"{module} imports {name}" for module, name in sorted(found)]


def test_imports_point_one_way() -> None:
    def wrong(module: str, name: str) -> bool:
        rule = rule_for(module)
        own = {f"models.{slug}" for slug in SLUGS if under(module, f"explorer.labs.{slug}")}
        allowed = MAY_IMPORT[rule] | own | {rule if rule != "explorer" else module}
        return name.split(".")[0] in OURS and not any(under(name, prefix) for prefix in allowed)

    assert importing(wrong) == []


def test_heavy_libraries_stay_where_they_belong() -> None:
    def wrong(module: str, name: str) -> bool:
        never = set().union(*(names for prefix, names in NEVER.items() if under(module, prefix)))
        return any(under(name, library) for library in never - {EXCEPT.get(module)})

    assert importing(wrong) == []


def test_a_model_knows_no_other_model_and_a_lab_can_be_deleted_without_the_others_noticing() -> None:
    def wrong(module: str, name: str) -> bool:
        model = under(module, "models.layers") or any(under(module, f"models.{slug}") for slug in SLUGS)
        lab = under(module, "explorer.labs") and module != "explorer.labs"
        return any(under(name, other) for other in others(module, "models") if model) or any(
            under(name, other) for other in others(module, "explorer.labs") if lab
        )

    assert importing(wrong) == []


def test_the_tuple_of_labs_equals_the_folders() -> None:
    assert sorted(lab.slug for lab in LABS) == sorted(SLUGS)
    for lab in LABS:
        assert (ROOT / "models" / lab.slug / "explain.py").exists()
        assert (ROOT / "assets" / lab.slug).is_dir()
        assert {ancestor for ancestor in lab.ancestors if ancestor} <= SLUGS


@pytest.mark.slow
def test_the_pages_are_built_without_torch_and_without_ray_even_before_a_cluster() -> None:
    code = """import re, sys, explorer.server
print(*{name.split(".")[1] for name in sys.modules if re.fullmatch(r"models[.]\\w+[.]records", name)})
import explorer.labs
print(*sorted({"torch", "transformers", "bertviz", "plotly", "ray", "explorer.cluster"} & sys.modules.keys()))
import explorer.cluster
print(*sorted({"ray", "explorer.cluster"} & sys.modules.keys()))"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    before, with_labs, with_cluster = done.stdout.splitlines()
    assert before == "your_model", "whose models a lab has is known once the command line is read"
    assert with_labs == "", "imported before the server listens"
    assert with_cluster == "explorer.cluster", "the process that serves pages holds no Ray in either case"


def _another_way(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Is it another signature of something, or another class's, that is documented there?"""
    return any(isinstance(mark, ast.Name) and mark.id in {"overload", "override"} for mark in node.decorator_list)


def undocumented(path: Path) -> Iterator[str]:
    """Every public name of a file that has no docstring; "" is the module itself."""
    tree = nodes(path.read_text("utf-8"))[0]
    assert isinstance(tree, ast.Module)
    if not ast.get_docstring(tree):
        yield ""
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    for node in tree.body:
        if isinstance(node, functions | ast.ClassDef) and not node.name.startswith("_"):
            inner = [(f"{node.name}.{one.name}", one) for one in node.body if isinstance(node, ast.ClassDef) and isinstance(one, functions)]
            for name, one in [(node.name, node), *inner]:
                if not one.name.startswith("_") and not ast.get_docstring(one) and not _another_way(one):
                    yield name


def test_every_public_name_has_a_docstring() -> None:
    assert [f"{module_of(path)}: {name or 'the module itself'}" for path in FILES for name in undocumented(path)] == []
