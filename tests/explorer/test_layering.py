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

# The project from below: a part may import what stands in an earlier line, and itself; so none imports, through others, what imports it.
# What the pages are made of comes first, then the labs, then what serves them.
LAYERS = [
    line.split()
    for line in """
    models explorer
    explorer.delivery explorer.hosts explorer.labels explorer.packing
    explorer.engine explorer.knobs explorer.looks explorer.permalink explorer.sound
    explorer.disk explorer.figures explorer.lab explorer.runs
    explorer.controls explorer.drawn
    explorer.widgets
    explorer.labs.lined explorer.own explorer.views explorer.wiring
    explorer.labs.about explorer.program
    explorer.api
    explorer.declared
    explorer.labs
    explorer.bodies explorer.cancelled explorer.cluster explorer.document explorer.gradio_files explorer.joining explorer.journal
    explorer.again explorer.lost explorer.metrics explorer.midi_files explorer.options explorer.picture_files explorer.qr explorer.quick
    explorer.site explorer.stored explorer.streams explorer.uploads
    explorer.gate explorer.music_files
    explorer.connection explorer.fetched
    explorer.readme explorer.server
    app benchmarks
    """.strip().splitlines()
]
# What of the models a part of the explorer may know; a lab its own too.
MODELS = {
    "explorer": {"errors", "fields", "folders", "stored"},
    "explorer.engine": {"errors"},
    "explorer.cluster": {"errors"},
    "explorer.options": {"errors", "folders", "your_model"},
    "explorer.music_files": {"errors", "music"},
    "explorer.sound": {"music"},
    "explorer.readme": {"bits"},
    "explorer.labs": {
        *(
            "checkpoint",
            "corpus",
            "crossing",
            "errors",
            "fields",
            "folders",
            "pixels",
            "plane",
            "results",
            "stored",
            "thinking",
            "your_model",
        ),
    },
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


def part(module: str) -> tuple[int, str]:
    """The line in which a module's part of the project stands, and its name."""
    return max(((line, name) for line, names in enumerate(LAYERS) for name in names if under(module, name)), key=lambda one: len(one[1]))


def others(module: str, root: str) -> set[str]:
    """The packages of the labs, under `root`, that a module lies outside of."""
    return {f"{root}.{slug}" for slug in SLUGS if not under(module, f"{root}.{slug}")}


def importing(forbidden: Callable[[str, str], bool]) -> list[str]:
    """One walk over all files: who imports what, of all that `forbidden` says of (module, what it imports)."""
    found = {(module, name) for module, names in imported().items() for name in names if forbidden(module, name)}
    return [f"{module} imports {name}" for module, name in sorted(found)]


def test_imports_point_one_way() -> None:
    def wrong(module: str, name: str) -> bool:
        (line, own), (below, other) = part(module), part(name)
        return own != other and below >= line

    assert importing(lambda module, name: name.split(".")[0] in OURS and wrong(module, name)) == []


def test_the_explorer_knows_of_the_models_what_it_must() -> None:
    def wrong(module: str, name: str) -> bool:
        known = MODELS[max((prefix for prefix in MODELS if under(module, prefix)), key=len)]
        own = {slug for slug in SLUGS if under(module, f"explorer.labs.{slug}")}
        return not any(under(name, f"models.{one}") for one in known | own)

    assert importing(lambda module, name: under(module, "explorer") and under(name, "models") and wrong(module, name)) == []


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
