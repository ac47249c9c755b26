"""A widget is a `gr.HTML` whose behaviour is an ES module of explorer/frontend/components.

Gradio keeps the value and carries the events; the module owns the DOM inside. A template without
``${value}`` leaves that DOM in place when the value changes, so focus, zoom and scroll positions
survive every update.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from explorer.figures import theme

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "frontend"
SCRIPTS = (
    "frontend/components",
    "frontend/inputs",
    "frontend/lib",
    "frontend/pictures",
    "labs",
)  # folders of explorer/ that hold scripts and styles


@cache
def list_frontend_files() -> dict[str, Path]:
    """Return every script and style of ours, by its path under explorer/, which is also the end of
    its address. Links are left out."""
    found = (
        path
        for folder in SCRIPTS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".js", ".css"}
    )
    return {path.relative_to(ROOT).as_posix(): path for path in found if not path.is_symlink()}


def read_scripts() -> dict[str, str]:
    """Return the text of every script of ours, by its path under explorer/."""
    return {
        name: path.read_text("utf-8")
        for name, path in list_frontend_files().items()
        if path.suffix == ".js"
    }


@cache
def digest_frontend() -> str:
    """Return a digest of our scripts and styles and of what bundles them. It is part of their
    address, so browsers may keep them for ever."""
    digest = hashlib.sha256((ROOT / "web/script_bundles.py").read_bytes())
    for name, path in list_frontend_files().items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def write_script_address(path: str) -> str:
    """Return the address of one of our scripts, by its path under explorer/, relative to the page's
    host: ``/ui/<version>/<path>``."""
    return f"/ui/{digest_frontend()}/{path}"


def write_late_address(path: str) -> str:
    """Return the address of a script that is fetched when a visitor first needs it, not with the
    page."""
    return f"{write_script_address(path)}#later"


def find_scripts(blocks: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Return the paths of the scripts that a page's components name: those needed at once, and
    those fetched later."""
    named = json.dumps(
        [[getattr(block, "js_on_load", ""), getattr(block, "props", None)] for block in blocks],
        default=str,
    )
    found = dict.fromkeys(re.findall(rf"/ui/{digest_frontend()}/([\w/-]+\.js)(#later)?", named))
    return [path for path, then in found if not then], [path for path, then in found if then]


def write_frontend_address(name: str) -> str:
    """Return the address of a script of explorer/frontend."""
    return write_script_address(f"frontend/{name}")


def find_vendor_file(name: str) -> Path:
    """Return the path of another project's browser script that pip installed, without importing its
    package.

    name: "plotly".
    Raise KeyError for a name that is not served and FileNotFoundError where the package is missing.
    """
    package, inside = {"plotly": ("plotly", "package_data/plotly.min.js")}[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {package}, which carries {inside}, is not installed")
    return Path(spec.origin).parent / inside


@cache
def write_vendor_address(name: str) -> str:
    """Return the address of another project's script: ``/vendor/<hash>/<name>.js``, served from the
    installed package. It never changes."""
    return (
        f"/vendor/{hashlib.sha256(find_vendor_file(name).read_bytes()).hexdigest()[:12]}/{name}.js"
    )


def build_gradio_theme() -> gr.themes.Base:
    """Build our colours and fonts for Gradio's own components, without rounded shadows and font
    downloads."""
    ui, mono = (
        [gr.themes.Font(name.strip().strip('"')) for name in fonts.split(",")]
        for fonts in (theme.FONT_UI, theme.FONT_MONO)
    )
    return gr.themes.Base(font=ui, font_mono=mono).set(**theme.list_gradio_values())


def place_widget(
    name: str,
    value: object = None,
    *,
    script: str = "",
    events: Sequence[str] = (),
    classes: Sequence[str] = (),
    **props: object,
) -> gr.HTML:
    """Place the widget `name` on the page that is being built.

    script: the module ``explorer/frontend/components/<script>.js``, by default the one of its name.
        It exports ``mount(root, props, emit, watch)``.
    value: the value that the module draws, as JSON. Event handlers replace it.
    events: names that the module may call as ``emit.<event>(detail)``. In Python
        ``component.<event>(handler)`` receives a `gr.EventData` whose ``_data`` is that detail.
    classes: further CSS classes of the block, for rules that must hold before the module has
        arrived.
    props: facts that never change while the page is open, as JSON.
    """
    # Gradio finds the events of a gr.HTML by looking for trigger('name') in this text, so they are
    # written out here.
    emit = ", ".join(f"'{event}': (detail) => trigger('{event}', detail)" for event in events)
    mount = (
        f"const emit = {{{emit}}}; const root = element.querySelector('.tfe-{name}');"
        # The page's head says how a module is taken from the scripts that the server has bundled.
        # Without them each module is a script of its own.
        "const ours = window.tfeLoad ?? ((address) => import(new URL(address,"
        " location.origin)));Promise.all(["
        f"ours({json.dumps(write_frontend_address(f'components/{script or name}.js'))}),"
        f" ours({json.dumps(write_frontend_address('lib/stored.js'))})]).then(([module, stored]) =>"
        f" stored.mount({json.dumps(name)}, module, root, props, emit, watch));"
    )
    return gr.HTML(
        value,
        html_template=f'<div class="tfe tfe-{name}"></div>',
        js_on_load=mount,
        apply_default_css=False,
        elem_classes=["tfe-block", f"tfe-block-{name}", *classes],
        **_check_props(props),
    )


def _check_props(props: Mapping[str, object]) -> dict[str, Any]:
    reserved = {"value", "label", "inputs", "visible", "scale", "head", "key", "buttons", "every"}
    clash = reserved & props.keys()
    if clash:
        raise ValueError(f"props {sorted(clash)} are names of gr.HTML's own; choose others")
    return dict(props)
