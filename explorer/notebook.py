"""The labs in a notebook, without a server: arrays of a run, its live pictures and its figures.

    from explorer.notebook import explain, figure, show

    show("translation", sentence="Two dogs run on the grass.", _head="3.5")

A request has the fields of a link to the lab; without any it is the first example. Names that begin
with an underscore select what is in view, as in a link. `lang` is "en" or "zh".
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gzip
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from explorer.components import base
from explorer.components.folded import parse_head, with_drawings_as_text
from explorer.contract.controls import spell_query
from explorer.contract.lab import OpenLab
from explorer.contract.permalink import write_value
from explorer.engine import Function
from explorer.engine.runs import Work
from explorer.figures import theme
from explorer.figures.heatmaps import Map, draw_maps
from explorer.labs import DECLARED, LABS
from explorer.page.api import UNSET
from explorer.page.program import Program
from explorer.page.views import Found, OpeningEvent, View
from explorer.values.exact_rows import exact_row_store
from explorer.values.packing import array_store
from explorer.web.script_bundles import Bundles
from models.explaining.errors import InputError

if TYPE_CHECKING:
    from anywidget import AnyWidget
    from plotly.graph_objects import Figure

START = "frontend/lib/alone.js"  # the module that draws a picture without a server
ATTENTION = "frontend/pictures/attention.js"  # the picture whose heads are drawn here too
WIDGET = theme.FRONTEND / "frames/notebook.js"
# The colours and fonts of the light theme by their names in a figure.
TOKENS = {
    **theme.LIGHT,
    **{f"signed-{at}": stop for at, stop in enumerate(theme.SIGNED["light"])},
    "font-ui": theme.FONT_UI,
    "font-title": theme.FONT_TITLE,
    "font-mono": theme.FONT_MONO,
}
# The address of exact rows: digest, layer, head, first row, number of rows.
ROWS = re.compile(r"/looks/(\w{32})/(\d{1,4})/(\d{1,4})/(\d{1,9})/(\d{1,4})(?:\?.*)?")
MAY_FETCH_NOTHING = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
    " blob:; form-action 'none'; base-uri 'none'"
)


@dataclass(frozen=True)
class Explained:
    """A run of a lab.

    arrays: every array of its explanation by its name, "cross" or, of a part of it, "made.0.nats".
    facts: its texts, numbers and lists, named likewise.
    link: the request as the lab's address spells it.
    """

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, object]
    link: str


@dataclass(frozen=True)
class _Asked:
    """A request to a lab.

    selection: what is in view, by its key in the address without the underscore.
    """

    lab: OpenLab
    program: Program[Any, Any, Any, Any]
    request: Any
    selection: Mapping[str, str]

    @cached_property
    def explanation(self) -> Any:
        """The answer of the lab's model."""
        return _compute(self.program.explain, self.request)


@contextlib.contextmanager
def _refuse_in_words() -> Iterator[None]:
    """Turn a refusal into a ValueError with its English sentence."""
    try:
        yield
    except InputError as error:
        raise ValueError(error.text["en"]) from None


@_refuse_in_words()
def explain(lab: str, **request: object) -> Explained:
    """Run a lab's model on a request, in this process.

    Raise ValueError with the sentence of a refusal.
    """
    asked = _read_request(lab, request)
    arrays: dict[str, NDArray[Any]] = {}
    facts: dict[str, object] = {}
    for name, part in _list_parts(asked.explanation):
        (arrays if isinstance(part, np.ndarray) else facts)[name] = part
    link = f"{asked.lab.path}?{spell_query(asked.request)}"
    return Explained(MappingProxyType(arrays), MappingProxyType(facts), link)


@_refuse_in_words()
def show(lab: str, view: str = "attention", *, lang: str = "en", **request: object) -> AnyWidget:
    """Return the live picture of a run as a widget. It is drawn by the scripts of the page, fetches
    nothing, and asks this process for the exact rows of large maps.

    Raise ValueError where the lab has no such picture or refuses the request, and ImportError where
    anywidget is not installed.
    """
    make, asked = _load_widget(), _read_request(lab, request)
    page = write_page(asked, view, lang)
    widget = make(page=gzip.compress(page.encode(), mtime=0))
    widget.on_msg(partial(_answer_picture, asked, view))
    return widget


@_refuse_in_words()
def figure(lab: str, view: str, *, lang: str = "en", **request: object) -> Figure:
    """Return a figure of a run in the colours of the light theme; of the attention picture, the
    heat map of the head in view.

    Raise ValueError where the lab has no such figure or refuses the request.
    """
    from plotly.graph_objects import Figure

    asked = _read_request(lab, request)
    places = _list_places(asked)
    figures = [name for name, place in places.items() if _find_module(place[1]) in {"", ATTENTION}]
    if view not in figures:
        raise ValueError(f"{lab} draws no figure {view}; it draws {', '.join(figures)}.")
    value = _draw_view(asked, *places[view])
    plot = (
        _draw_head(value, asked.selection, lang)
        if "kinds" in value
        else _choose_figure(value, asked.selection, lang)
    )
    return Figure(_resolve_tokens(plot))


def write_page(asked: _Asked, view: str, lang: str = "en") -> str:
    """Return a page that draws the picture of a request alive and fetches nothing.

    Raise ValueError where the lab has no such picture.
    """
    lab, places = asked.lab, _list_places(asked)
    pictures = [name for name, place in places.items() if _find_module(place[1])]
    if view not in pictures:
        more = f" figure() draws {view}." if view in places else ""
        raise ValueError(f"{lab.slug} has no picture {view}; it has {', '.join(pictures)}.{more}")
    module = _find_module(places[view][1])
    how = {
        "texts": places[view][1].props["texts"],
        "seen": list(asked.selection.items()),
        "value": _inline_arrays(_draw_view(asked, *places[view])),
        "fresh": True,
    }
    # Inside a script no text may close it; as JSON "<" has a spelling without it.
    given = json.dumps(how, ensure_ascii=True).replace("<", "\\u003c")
    source = f"{lab.title[lang]} · {lab.authors} ({lab.year}), {lab.paper}"
    language = {"zh": "zh-CN"}.get(lang, lang)
    return f"""<!doctype html>
<html lang="{language}" data-lang="{lang}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{MAY_FETCH_NOTHING}">
<style>{theme.write_css()}
html body::before,html body::after{{display:none}}small{{color:var(--ink3)}}</style>
</head><body><main class="tfe tfe-{view}"></main>
<p class="tfe"><small>{html.escape(source)}</small></p>
<script>{_close_no_script(base.find_vendor_file("plotly").read_text("utf-8"))}
window.tfePlotly = window.Plotly;</script>
<script>(() => {{ "use strict";
{_close_no_script(_bundle_modules().bundle_alone(START, module))}
const how = {given}, ask = window.frameElement?.ask;
tfeDraw(document.querySelector("main"), {{ ...how, ask }});
}})();</script></body></html>
"""


def _close_no_script(text: str) -> str:
    return text.replace("</", "<\\/")


@cache
def _bundle_modules() -> Bundles:
    return Bundles(base.ROOT, base.read_scripts(), base.write_script_address(""), {}, ())


@cache
def _load_widget() -> Callable[..., AnyWidget]:
    """Return the class of widgets, made when the first one is shown."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError("A live picture needs anywidget: pip install anywidget") from None

    class Picture(anywidget.AnyWidget):
        _esm = WIDGET.read_text("utf-8")
        page = traitlets.Bytes().tag(sync=True)  # compressed by gzip

    return Picture


def _read_request(slug: str, given: Mapping[str, object]) -> _Asked:
    """Return the request that some fields and selections make.

    Raise ValueError for an unknown lab or field, and InputError for a value that is refused.
    """
    labs = {lab.slug: lab for lab in LABS}
    if slug not in labs:
        raise ValueError(f"There is no lab {slug}; there are {', '.join(labs)}.")
    program = next(lab.build_program() for lab in DECLARED if lab.slug == slug)
    spelled = {name: write_value(_freeze(value), name) for name, value in given.items()}
    fields = {name: text for name, text in spelled.items() if not name.startswith("_")}
    known = [field.name for field in dataclasses.fields(program.kind)]
    if unknown := [name for name in fields if name not in known]:
        raise ValueError(f"{slug} has no field {unknown[0]}; it has {', '.join(known)}.")
    request, _ = program.read_request(UNSET if fields else "", fields or None)
    selection = {name[1:]: text for name, text in spelled.items() if name.startswith("_")}
    return _Asked(labs[slug], program, request, selection)


def _freeze(value: object) -> object:
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value


def _compute(function: Function, request: Any) -> Any:
    """Return the answer of an engine function to one request. Raise its InputError."""
    given = Work(function, function).import_function()([request])
    turns = given if hasattr(given, "__next__") else [given]
    # A turn of a function that yields may bring steps, a list, or nothing.
    *_, outcome = (entry for (entry,) in turns if entry is not None and not isinstance(entry, list))
    if isinstance(outcome, InputError):
        raise outcome
    return outcome


def _list_parts(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays and plain values of a record, however deep they lie, by their names."""
    inner: Mapping[Any, Any] | None = None
    if dataclasses.is_dataclass(value):
        inner = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif isinstance(value, Mapping):
        inner = value
    elif isinstance(value, list | tuple) and any(
        isinstance(item, np.ndarray) or dataclasses.is_dataclass(item) for item in value
    ):
        inner = dict(enumerate(value))
    if inner is None:
        yield name, value
        return
    for key, item in inner.items():
        yield from _list_parts(item, f"{name}.{key}" if name else str(key))


def _list_places(asked: _Asked) -> dict[str, tuple[View[Any, Any, Any, Any], Any]]:
    """Return the pictures and figures of a request by name, each with its widget on a page."""
    views = (view for view in asked.program.views if view.draws_request(asked.request))
    placed = ((view, view.place(None)) for view in views)
    return {
        view.name: (view, widget)
        for view, widget in placed
        if "plotly" in (getattr(widget, "props", None) or {})
    }


def _find_module(widget: Any) -> str:
    """Return the path of the script that draws a picture, "" for a figure."""
    return re.sub(r"^/ui/\w+/|#later$", "", str(widget.props.get("picture", "")))


def _draw_view(asked: _Asked, view: View[Any, Any, Any, Any], widget: Any) -> Mapping[str, Any]:
    """Return the value of a view as its page draws it. Raise ValueError where it is empty."""
    program, request, look = asked.program, asked.request, view.look
    value: Any = widget.value
    if view.draw:
        value = view.draw(program.prepare_run(asked.explanation, request), request, "live")
    elif look:
        detail = {"run": spell_query(request), "wish": asked.selection}
        value = with_drawings_as_text(_answer_question(asked, look, detail))
    if not value:
        raise ValueError(f"{view.name} shows nothing of this request.")
    return value  # type: ignore[no-any-return]


def _answer_question(asked: _Asked, look: OpeningEvent[Any, Any], detail: Mapping[str, Any]) -> Any:
    """Return what an event of a view brings. Raise InputError where it is refused."""
    question = look.read(detail)
    findings: Found[Any, Any] = Found(asked.request)
    if look.needs == "run":
        findings = Found(asked.request, asked.explanation)
    if function := look.function(question):
        answer = _compute(function, look.wish(findings, question))
        findings = dataclasses.replace(findings, answer=answer)
    return look.draw(findings, question)


def _answer_picture(
    asked: _Asked, name: str, widget: Any, question: Mapping[str, Any], _buffers: object
) -> None:
    """Send a picture what it asks for: exact rows by their address, or what its event brings."""
    look = next(view.look for view in asked.program.views if view.name == name)
    if "look" in question and look:
        value = _inline_arrays(_answer_question(asked, look, question["look"]))
        widget.send({"id": question["id"], "value": value})
    elif rows := ROWS.fullmatch(str(question.get("rows"))):
        digest, *place = rows.groups()
        source = exact_row_store().get(digest)
        encoded = source.encode_rows(*map(int, place)) if source else None
        widget.send({"id": question["id"]}, [] if encoded is None else [encoded])


def _inline_arrays(value: Any) -> Any:
    """Return the same value with the arrays inside it that have addresses."""
    if isinstance(value, Mapping):
        if "dtype" in value and "url" in value:
            digest = urlsplit(value["url"]).path.rpartition("/")[2]
            raw = gzip.decompress(array_store().get(digest) or b"")
            rest = {name: item for name, item in value.items() if name != "url"}
            return {**rest, "data": base64.b64encode(raw).decode()}
        return {name: _inline_arrays(item) for name, item in value.items()}
    return [_inline_arrays(item) for item in value] if isinstance(value, list | tuple) else value


def _draw_head(value: Mapping[str, Any], selection: Mapping[str, str], lang: str) -> Any:
    """Return the heat map of the head in view, as Plotly's JSON."""
    pick, kinds = value["pick"], {kind["key"]: kind for kind in value["kinds"]}
    key = selection.get("kind", pick["kind"])
    name = selection.get("head", f"{pick['layer'] + 1}.{pick['head'] + 1}")
    if key not in kinds:
        raise ValueError(f"There is no attention {key}; there are {', '.join(kinds)}.")
    kind, place = kinds[key], parse_head(name)
    packed = _inline_arrays(kind["weights"])
    raw = np.frombuffer(base64.b64decode(packed["data"]), f"<{packed['dtype']}")
    weights = raw.reshape(packed["shape"]) * packed["scale"]
    if place is None or place[0] >= weights.shape[0] or place[1] >= weights.shape[1]:
        layers, heads = weights.shape[:2]
        raise ValueError(f"There is no head {name}; layers are 1 to {layers}, heads 1 to {heads}.")
    title = f"{kind['label'][lang]} {place[0] + 1}·{place[1] + 1}"
    return draw_maps([Map(title, weights[place])], kind["queries"], kind["keys"])


def _choose_figure(value: Mapping[str, Any], selection: Mapping[str, str], lang: str) -> Any:
    """Return the figure of a view in one language; of a panel with several, the first that its
    choices show."""
    if not isinstance(value.get("figures"), Mapping):
        chosen = {choice["key"]: choice["pick"] for choice in value.get("choices", ())} | dict(
            selection
        )
        parts = (part for name in value if name.startswith("figures") for part in value[name])
        there = (
            part["figure"]
            for part in [{"figure": value.get("figure")}, *parts]
            if part["figure"]
            and all(chosen.get(name) == text for name, text in part.get("when", {}).items())
        )
        if (panel := next(there, None)) is None:
            raise ValueError("There is no figure of this request.")
        value = panel
    plot = {**value["figures"]["en"], **value["figures"].get(lang, {})}
    margin = plot["layout"].get("margin", {})
    title = {"text": theme.without_markup(value["title"][lang]), "x": 0, "xref": "paper"}
    layout = {"title": title, "height": value["height"] + 36}
    return {**plot, "layout": {**plot["layout"], **layout, "margin": {**margin, "t": 48}}}


def _resolve_tokens(plot: Any) -> Any:
    """Return a figure whose colours and fonts are those of the light theme."""
    text = json.dumps(plot)
    return json.loads(
        re.sub(r"var\(--([\w-]+)\)", lambda token: json.dumps(TOKENS[token[1]])[1:-1], text)
    )
