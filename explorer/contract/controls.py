"""The controls of a request's fields, and the one codec of requests: a query string, and {field:
text} on top of it.

Type, default, range and refusal of a field stand in models/<slug>/records.py
(models/explaining/request_fields.py). A `Control` adds the words that a visitor reads and the way
in which the field is set. The browser holds every field as text, as a link spells it, and has no
codec of its own.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.contract import labels, permalink
from explorer.contract.knobs import Knob
from explorer.contract.lab import Text
from explorer.values.packing import pack_inline, record_fields
from models.explaining.errors import InputError
from models.explaining.request_fields import Characters, Choice, Number, check_request, find_range

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
    "scene",
]
Value = dict[str, object]
R = TypeVar("R")


@dataclass(frozen=True)
class StoryWords:
    """Words of one kind that a story may use.

    before: the word that is inserted in front, for example "the".
    """

    name: Text
    words: Sequence[str]
    before: str = ""


@dataclass(frozen=True)
class ShippedText:
    """A shipped text. It fills the box whole when it is chosen.

    key: the text's name in the request's `page`.
    title: the name shown in a tip.
    short: the name shown on a chip.
    text: the page itself.
    source: author, title, year, chapter.
    """

    key: str
    title: Text
    short: Text
    text: str
    source: Text

    def as_json(self) -> Value:
        """Return the page as JSON. Lines end as they do in a text box."""
        return record_fields(self) | {"text": self.text.replace("\r\n", "\n").replace("\r", "\n")}


@dataclass(frozen=True)
class SamplePictures:
    """Pictures to begin with. The visitor may also draw one by hand or bring a file.

    pixels: (picture, row, column), or (picture, row, column, channel) for coloured pictures. A
        request calls the first one "test:0".
    names: the subject of each picture.
    rows: the field that says how many upper rows stay, "" where all of them stay.
    ink: whether pixels are 0 or 1, and greys are turned into these; otherwise pixels are levels, 0
        … 255.
    small: the side at which a model is shown a coloured picture, in pixels, 0 for the picture's own
        side.
    file: the largest size of a visitor's file, in bytes. The file is sent to the server to be read.
        Only grey pictures are drawn by hand.
    upload: the address that reads it, by default that of grey or of coloured pictures.
    """

    pixels: NDArray[np.uint8]
    names: Sequence[Text]
    rows: str = ""
    ink: bool = True
    small: int = 0
    file: int = 5 << 20
    upload: str = ""

    def as_json(self) -> Value:
        """Return the pictures as JSON. The pixels travel inside the page, because the pictures it
        offers must not depend on the server's memory."""
        side, channels = self.pixels.shape[1], (*self.pixels.shape, 1)[3]
        return record_fields(self, "pixels") | {
            "side": side,
            "channels": channels,
            "pixels": pack_inline(self.pixels),
            "thresholds": pack_inline(draw_ink_thresholds(side)) if self.ink else None,
            "upload": self.upload or f"/picture/{'grey' if channels == 1 else 'colour'}",
        }


@dataclass(frozen=True)
class Item:
    """One entry that a control of kind "items" offers.

    value: the entry as a link spells it.
    inner: whether the entry continues the one before it.
    """

    value: str
    label: str
    inner: bool = False


def draw_ink_thresholds(side: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return the least level, 1 … 255, at which a grey becomes ink, (row, column): draw < level /
    255, with draws from a fixed seed.

    Black is never ink and white always is. The levels between become pixels once and for all, as in
    the data.
    """
    draws = np.random.default_rng(seed).random((side, side))
    return (np.floor(draws * 255) + 1).astype(np.uint8)


@dataclass(frozen=True)
class Control:
    """The control of one field of a request.

    kind: "choice" (one of some), "select" (the same in a menu, or some of the numbers in `names`,
        or a switch by the values in `names`), "switch", "number" (a slider), "seed", "stops" (a
        slider over the values of `names`, in their order), "heads" (attention heads: the head in
        view is silenced, and any head whose picture is shift-clicked), "items" (any of `names`, or
        of the parts of the run in view, which `Program.items` lists), "knob" (a control of several
        parts), or a typed kind: "bits" (a row of places beside the line), "sum", "letters",
        "sentence" (a line that grows), "text" (several lines), "story" (several lines, with words
        to insert), "question" (a line below a story), "passage" (a long text, or one of `pages`,
        which the request's `page` then names), "drawing" (a picture, one of `drawings` or the
        visitor's), "motif" (music) or "scene" (objects that are put together), both drawn by a
        script of the lab. A typed field whose control is hidden is empty. One field may have
        several controls; one of them is shown, and each keeps the value that was set with it.
    names: the labels of values that need one: of a choice in their order, of a switch for True and
        False, of heads the names of their models.
    sizes: (layers, heads) of these models.
    hint: the accepted values, in words.
    placeholder: an example inside an empty line.
    places: the number of places of "bits".
    words: the words of a "story".
    step: the step of a number.
    unit: the text behind the number, "{n} characters".
    pages: the shipped texts of a "passage".
    shares: the field whose characters a passage leaves room for. That field must then not be 0
        where the passage is empty.
    drawings: the pictures of a "drawing".
    script: the lab's own script that draws the control, by its path under explorer/.
    own: the values that this script needs.
    knob: the knob of several parts.
    change: whether the control changes the model. It then stands in the change panel, and its
        default is the model as trained.
    notes: of items, the effect of choosing each one.
    kept: whether the chosen items stay without a line through them.
    says: a function from a changed value to words, "at most 4 updates".
    stands: the number that the default stands for, by the value of another field, ("task",
        {"parity": 20}). The slider shows that number instead.
    idle: (field, reason): the control has no effect while that other field differs from its
        default.
    when: the values of other fields for which the control is shown.
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
    words: Sequence[StoryWords] = ()
    step: float = 1
    unit: Text | None = None
    pages: Sequence[ShippedText] = ()
    shares: str = ""
    drawings: SamplePictures | None = None
    script: str = ""
    own: Any = None
    knob: Knob | None = None
    change: bool = False
    says: Callable[[Any], Text] | None = None
    stands: tuple[str, Mapping[str, float]] | None = None
    idle: tuple[str, Text] | None = None
    when: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)

    def describe_control(self, kind: Any) -> Value:
        """Return the facts that a widget needs of the control, as JSON. Values are texts.

        kind: the class of the request, which gives range and default.
        """
        allowed, default = find_range(kind, self.field), _find_defaults(kind)[self.field]
        bounds: Value = {}
        if isinstance(allowed, Number):
            bounds = {
                "least": allowed.least + (1 if self.stands else 0),
                "most": allowed.most,
                "step": self.step,
            }
            bounds |= (
                {"values": [spell_value(value) for value in self.names]}
                if self.kind == "select"
                else {}
            )
        elif isinstance(allowed, Choice) or self.kind == "select":
            bounds = {
                "values": [
                    spell_value(value) for value in [*self.names] or getattr(allowed, "values", [])
                ]
            }
        elif isinstance(allowed, Characters):
            bounds = {"most": allowed.most}
        names = [[spell_value(value), dict(name)] for value, name in self.names.items()]
        return {
            **record_fields(self, "says"),
            "default": spell_value(default),
            "names": names,
            **bounds,
        }


def spell_value(value: object) -> str:
    """Return a field's value as a link spells it."""
    return permalink.write_value(value, "a field")


def spell_fields(request: Any) -> dict[str, str]:
    """Return every field of a request as a link spells it."""
    return {
        one.name: spell_value(getattr(request, one.name)) for one in dataclasses.fields(request)
    }


def spell_query(request: Any) -> str:
    """Return the query string of a request, "" for one that is too large for a link."""
    try:
        return permalink.encode(request)
    except permalink.LinkTooLong:
        return ""


def read_request(
    kind: type[R], spelled: str, given: object = None, first: str = ""
) -> tuple[R, Text | None]:
    """Return the checked request that a query string spells, with some fields set anew, and a
    notice where the link names unknown keys.

    given: {field: text}, None for nothing.
    first: the request for a query that names no field.
    Raise InputError for a value that cannot be read or lies outside its range.
    """
    if not permalink.names_request(kind, spelled):
        spelled = f"{first}&{spelled}"
    request, notice = permalink.decode(kind, spelled)
    if given is not None:
        hints = typing.get_type_hints(kind)
        if not isinstance(given, Mapping) or not all(
            name in hints and isinstance(text, str) for name, text in given.items()
        ):
            raise InputError("malformed", **labels.MALFORMED)
        read_ = {
            name: permalink.read_value(hints[name], text, name) for name, text in given.items()
        }
        request = dataclasses.replace(request, **read_)  # type: ignore[type-var]
    check_request(request)
    return request, notice


def remove_changes(request: R, controls: Sequence[Control]) -> R:
    """Return the same input for the model as it was trained."""
    return dataclasses.replace(request, **_find_unchanged_values(type(request), controls))  # type: ignore[type-var]


def describe_changes(request: Any, controls: Sequence[Control]) -> list[Text]:
    """Return the changes that a request makes to the model, each in words, empty where there are
    none."""
    neutral = _find_unchanged_values(type(request), controls)
    here = [
        one
        for one in controls
        if one.change
        and all(spell_value(getattr(request, name)) in values for name, values in one.when.items())
    ]
    differing = [one for one in here if getattr(request, one.field) != neutral[one.field]]
    return [one.says(getattr(request, one.field)) for one in differing if one.says is not None]


def _find_unchanged_values(kind: Any, controls: Sequence[Control]) -> dict[str, Any]:
    defaults = _find_defaults(kind)
    return {one.field: defaults[one.field] for one in controls if one.change}


def _find_defaults(kind: Any) -> dict[str, Any]:
    return {one.name: one.default for one in dataclasses.fields(kind)}
