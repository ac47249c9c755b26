"""How the fields of a request are asked for, and the one codec of requests: a query string, and {field: text} on top of it.

Type, default, range and refusal of a field stand in models/<slug>/records.py (models/fields.py); a `Control` adds what a visitor reads and
with what a hand sets it. The browser holds every field as text, as a link spells it, and has no codec of its own.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer import permalink
from explorer.knobs import Knob
from explorer.lab import Text
from explorer.packing import inside, record
from models.errors import InputError
from models.fields import Characters, Choice, Number, check, range_of

Kind = Literal[
    "choice",
    "select",
    "switch",
    "number",
    "seed",
    "stops",
    "heads",
    "items",
    "knob",
    "bits",
    "sum",
    "letters",
    "sentence",
    "text",
    "story",
    "question",
    "passage",
    "drawing",
    "motif",
]
Value = dict[str, object]
R = TypeVar("R")


@dataclass(frozen=True)
class Words:
    """Words of one kind that a story may use. before: what is typed along, such as "the"."""

    name: Text
    words: Sequence[str]
    before: str = ""


@dataclass(frozen=True)
class Page:
    """A shipped text, which stands whole in the box when it is chosen.

    key: as the request's `page` says it. title: in a tip; short: on a chip. text: the page itself. source: author, title, year, chapter.
    """

    key: str
    title: Text
    short: Text
    text: str
    source: Text

    def spelled(self) -> Value:
        """As JSON; lines are ended as a box ends them."""
        return record(self) | {"text": self.text.replace("\r\n", "\n").replace("\r", "\n")}


@dataclass(frozen=True)
class Drawings:
    """Pictures to begin with, in place of one that is drawn by hand or brought as a file.

    pixels: (picture, row, column) or, of coloured ones, (picture, row, column, channel), of which a request calls the first "test:0".
    names: what each shows. rows: the field that says how many upper rows stay, "" where all do. ink: pixels are 0 or 1, and greys become
    such; else they are levels, 0 … 255. small: the side that a model is shown a coloured picture at, 0 for its own.
    file: the largest size of a visitor's, in bytes; it is sent to the server to be read. Only grey ones are drawn by hand.
    """

    pixels: NDArray[np.uint8]
    names: Sequence[Text]
    rows: str = ""
    ink: bool = True
    small: int = 0
    file: int = 5 << 20

    def spelled(self) -> Value:
        """As JSON; pixels travel inside the page: what it offers to begin with must not depend on what the server still remembers."""
        side, channels = self.pixels.shape[1], (*self.pixels.shape, 1)[3]
        return record(self, "pixels") | {
            "side": side,
            "channels": channels,
            "pixels": inside(self.pixels),
            "thresholds": inside(thresholds(side)) if self.ink else None,
            "upload": "/picture/grey" if channels == 1 else "/picture/colour",
        }


@dataclass(frozen=True)
class Item:
    """One of several that a control of kind "items" offers. value: as a link spells it. inner: it continues the one before it."""

    value: str
    label: str
    inner: bool = False


def thresholds(side: int, seed: int = 0) -> NDArray[np.uint8]:
    """(row, column) the least level, 1 … 255, at which a grey becomes ink: draw < level / 255, with draws from a fixed seed.

    Black is never ink and white always; the levels between become pixels once and for all, as in the data.
    """
    draws = np.random.default_rng(seed).random((side, side))
    return (np.floor(draws * 255) + 1).astype(np.uint8)


@dataclass(frozen=True)
class Control:
    """How one field of a request is asked for.

    kind: "choice" (one of some), "select" (the same in a menu, or some numbers, those of `names`), "switch", "number" (a slider), "seed",
    "stops" (a slider over the values of `names`, in their order), "heads" (of attention: the one in view is silenced, and any whose
    picture is shift-clicked), "items" (any of `names`, or of the parts of the run in view, which `Program.items` lists), "knob" (of several
    parts), or typed: "bits" (a row of places beside the line), "sum", "letters", "sentence" (a line that grows), "text" (several lines),
    "story" (several lines, with words to insert), "question" (a line below a story), "passage" (a long text, or one of `pages`, which the
    request's `page` then names), "drawing" (a picture, one of `drawings` or the visitor's), "motif" (music, by a script
    of the lab's own). What is typed into no control that is shown is empty. Of one field there may be several
    controls, of which one is shown; each keeps what was set with it.
    names: what values are called, where not by themselves; of a choice in their order, of a switch for True and False, of heads the names
    of their models. sizes: (layers, heads) of these.
    hint: what is accepted.
    placeholder: an example inside an empty line. places: of "bits", how many. words: of a "story". step: of a number. unit: what stands
    behind it, "{n} characters". pages: of a "passage". shares: the field whose characters a passage leaves room for, which is then the one
    that must not be 0 where it is empty. drawings: of a "drawing". script: of the lab itself, which draws the control, by its path under
    explorer/; own: what that script needs. knob: the knob of several parts.
    change: it changes the model, stands in the panel of changes, and its default is the model as trained.
    notes: of items, what it means to choose one. kept: the chosen ones are not struck out.
    says: a changed value in words, "at most 4 updates", given the value.
    stands: what the default stands for by the value of another field, ("task", {"parity": 20}): the slider shows that number instead.
    idle: (field, why): it has no effect while that other field differs from its default.
    when: the control is shown only where other fields have one of these values.
    """

    field: str
    label: Text
    kind: Kind
    names: Mapping[Any, Text] = dataclasses.field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, Text] = dataclasses.field(default_factory=dict)
    kept: bool = False
    hint: Text | None = None
    placeholder: str = ""
    places: int = 0
    words: Sequence[Words] = ()
    step: float = 1
    unit: Text | None = None
    pages: Sequence[Page] = ()
    shares: str = ""
    drawings: Drawings | None = None
    script: str = ""
    own: Any = None
    knob: Knob | None = None
    change: bool = False
    says: Callable[[Any], Text] | None = None
    stands: tuple[str, Mapping[str, float]] | None = None
    idle: tuple[str, Text] | None = None
    when: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)

    def drawn(self, kind: Any) -> Value:
        """What a widget needs of it, as JSON; values are texts. kind: the class of the request, which says range and default."""
        allowed, default = range_of(kind, self.field), _defaults(kind)[self.field]
        bounds: Value = {}
        if isinstance(allowed, Number):
            bounds = {"least": allowed.least + (1 if self.stands else 0), "most": allowed.most, "step": self.step}
            bounds |= {"values": [written(value) for value in self.names]} if self.kind == "select" else {}
        elif isinstance(allowed, Choice):
            bounds = {"values": [written(value) for value in [*self.names] or allowed.values]}
        elif isinstance(allowed, Characters):
            bounds = {"most": allowed.most}
        names = [[written(value), dict(name)] for value, name in self.names.items()]
        return {**record(self, "says"), "default": written(default), "names": names, **bounds}


def written(value: object) -> str:
    """A value of a field as a link spells it."""
    return permalink.written(value, "a field")


def texts(request: Any) -> dict[str, str]:
    """Every field of a request, as a link spells it."""
    return {one.name: written(getattr(request, one.name)) for one in dataclasses.fields(request)}


def query(request: Any) -> str:
    """The query string of a request; "" for one that is too large for a link."""
    try:
        return permalink.encode(request)
    except permalink.LinkTooLong:
        return ""


def read(kind: type[R], spelled: str, given: object = None, first: str = "") -> tuple[R, Text | None]:
    """The request that a query string spells, with some fields set anew, checked; and a notice where the link names unknown keys.

    given: {field: text}, None for nothing. first: what a query that names no field stands for. Raises InputError for what cannot be read
    or lies outside its range.
    """
    if not permalink.asks(kind, spelled):
        spelled = f"{first}&{spelled}"
    request, notice = permalink.decode(kind, spelled)
    if given is not None:
        hints = typing.get_type_hints(kind)
        if not isinstance(given, Mapping) or not all(name in hints and isinstance(text, str) for name, text in given.items()):
            raise InputError(
                "malformed", en="The request does not have the form in which this page sends it.", zh="请求的格式与本页发送的不同。"
            )
        read_ = {name: permalink.read(hints[name], text, name) for name, text in given.items()}
        request = dataclasses.replace(request, **read_)  # type: ignore[type-var]
    check(request)
    return request, notice


def plain(request: R, controls: Sequence[Control]) -> R:
    """The same input for the model as it was trained."""
    return dataclasses.replace(request, **_neutral(type(request), controls))  # type: ignore[type-var]


def changes(request: Any, controls: Sequence[Control]) -> list[Text]:
    """What a request changes in the model, each in words; empty where it changes nothing."""
    neutral = _neutral(type(request), controls)
    here = [one for one in controls if one.change and all(written(getattr(request, name)) in values for name, values in one.when.items())]
    differing = [one for one in here if getattr(request, one.field) != neutral[one.field]]
    return [one.says(getattr(request, one.field)) for one in differing if one.says is not None]


def _neutral(kind: Any, controls: Sequence[Control]) -> dict[str, Any]:
    defaults = _defaults(kind)
    return {one.field: defaults[one.field] for one in controls if one.change}


def _defaults(kind: Any) -> dict[str, Any]:
    return {one.name: one.default for one in dataclasses.fields(kind)}
