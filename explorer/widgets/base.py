"""A widget is a `gr.HTML` whose behaviour is an ES module beside its Python file.

Gradio keeps the value and carries the events; the module owns the DOM inside. A template without ``${value}`` leaves
that DOM in place when the value changes, so focus, zoom and scroll positions survive every update.
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

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
SCRIPTS = ("widgets", "pictures", "labs")  # folders of explorer/ that hold scripts and styles


@cache
def files() -> dict[str, Path]:
    """Every script and style of ours, by its path under explorer/, which is the end of its address too; links are left out."""
    found = (path for folder in SCRIPTS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in {".js", ".css"})
    return {path.relative_to(ROOT).as_posix(): path for path in found if not path.is_symlink()}


@cache
def version() -> str:
    """A digest of our scripts and styles and of what joins them: part of their address, so that browsers may keep them for ever."""
    digest = hashlib.sha256((ROOT / "joining.py").read_bytes())
    for name, path in files().items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def address(path: str) -> str:
    """The address of one of our scripts, by its path under explorer/, relative to the page's host: ``/ui/<version>/<path>``."""
    return f"/ui/{version()}/{path}"


def later(path: str) -> str:
    """The same of one that is fetched when a visitor first needs it, not with the page."""
    return f"{address(path)}#later"


def scripts_of(blocks: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Paths of the scripts that components of a page name: those that stand on it at once, and those that are fetched later."""
    named = json.dumps([[getattr(block, "js_on_load", ""), getattr(block, "props", None)] for block in blocks], default=str)
    found = dict.fromkeys(re.findall(rf"/ui/{version()}/([\w/-]+\.js)(#later)?", named))
    return [path for path, then in found if not then], [path for path, then in found if then]


def asset(name: str) -> str:
    """The same of a script of explorer/widgets."""
    return address(f"widgets/{name}")


def vendor_file(name: str) -> Path:
    """Where pip put a browser script of another project, found without importing its package.

    name: "plotly". Raises KeyError for a name we do not serve and FileNotFoundError where the package is missing.
    """
    package, inside = {"plotly": ("plotly", "package_data/plotly.min.js")}[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {package}, which carries {inside}, is not installed")
    return Path(spec.origin).parent / inside


@cache
def vendor(name: str) -> str:
    """The address of another project's script: ``/vendor/<hash>/<name>.js``, served from the installed package, unchanging."""
    return f"/vendor/{hashlib.sha256(vendor_file(name).read_bytes()).hexdigest()[:12]}/{name}.js"


def gradio_theme() -> gr.themes.Base:
    """Our colours and fonts for Gradio's own components, with square-edged shadows and font downloads left out."""
    ui, mono = ([gr.themes.Font(name.strip().strip('"')) for name in fonts.split(",")] for fonts in (theme.FONT_UI, theme.FONT_MONO))
    return gr.themes.Base(font=ui, font_mono=mono).set(**theme.gradio_values())


def widget(
    name: str, value: object = None, *, script: str = "", events: Sequence[str] = (), classes: Sequence[str] = (), **props: object
) -> gr.HTML:
    """Place the widget `name` on the page being built.

    script: the module ``explorer/widgets/<script>.js``, left out that of its name; it exports ``mount(root, props, emit, watch)``.
    value: what the module draws, as JSON; event handlers replace it.
    events: names that the module may call as ``emit.<event>(detail)``; in Python ``component.<event>(handler)`` receives
        a `gr.EventData` whose ``_data`` is that detail.
    classes: further CSS classes of the block, for what must hold before the module has arrived.
    props: facts that never change while the page is open, as JSON.
    """
    # Gradio finds the events of a gr.HTML by looking for trigger('name') in this text, so they are written out here.
    emit = ", ".join(f"'{event}': (detail) => trigger('{event}', detail)" for event in events)
    mount = (
        f"const emit = {{{emit}}}; const root = element.querySelector('.tfe-{name}');"
        # The page's head says how a module comes out of the scripts that the server has joined; without them each is one of its own.
        f"const ours = window.tfeLoad ?? ((address) => import(new URL(address, location.origin)));"
        f"Promise.all([ours({json.dumps(asset((script or name) + '.js'))}), ours({json.dumps(asset('lib/stored.js'))})])"
        f".then(([module, stored]) => stored.mount({json.dumps(name)}, module, root, props, emit, watch));"
    )
    return gr.HTML(
        value,
        html_template=f'<div class="tfe tfe-{name}"></div>',
        js_on_load=mount,
        apply_default_css=False,
        elem_classes=["tfe-block", f"tfe-block-{name}", *classes],
        **_plain(props),
    )


def _plain(props: Mapping[str, object]) -> dict[str, Any]:
    reserved = {"value", "label", "inputs", "visible", "scale", "head", "key", "buttons", "every"}
    clash = reserved & props.keys()
    if clash:
        raise ValueError(f"props {sorted(clash)} are names of gr.HTML's own; choose others")
    return dict(props)
