"""The controls of a request's fields, one small class for each kind.

Type, default, range and refusal of a field stand in models/<slug>/records.py
(models/explaining/request_fields.py). A control adds the words that a visitor reads and the way in
which the field is set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import field as declare
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.contract import permalink
from explorer.contract.knobs import Knob
from explorer.contract.lab import Text
from explorer.values.packing import pack_inline, record_fields
from models.explaining.request_fields import Characters, Choice, Number, find_range

Value = dict[str, object]
Labels = Mapping[Any, Text]  # of values, each by itself

# What a control says to the browser of the properties that its kind does not have.
ABSENT: Mapping[str, object] = {
    **dict.fromkeys(("names", "words", "pages"), ()),
    **dict.fromkeys(("placeholder", "shares", "script"), ""),
    **dict.fromkeys(("hint", "unit", "drawings", "own", "knob", "stands"), None),
    "sizes": {},
    "notes": {},
    "kept": False,
    "places": 0,
    "step": 1,
}


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

    One field may have several controls; one of them is shown, and each keeps the value that was set
    with it. A typed field whose control is hidden is empty.

    hint: the accepted values, in words.
    change: whether the control changes the model. It then stands in the change panel, and its
        default is the model as trained.
    says: a function from a changed value to words, "at most 4 updates".
    idle: (field, reason): the control has no effect while that other field differs from its
        default.
    when: the values of other fields for which the control is shown.
    """

    kind: ClassVar[str] = ""
    field: str
    label: Text
    hint: Text | None = declare(default=None, kw_only=True)
    change: bool = declare(default=False, kw_only=True)
    says: Callable[[Any], Text] | None = declare(default=None, kw_only=True)
    idle: tuple[str, Text] | None = declare(default=None, kw_only=True)
    when: Mapping[str, Sequence[str]] = declare(default_factory=dict, kw_only=True)

    @property
    def labels(self) -> Labels:
        """The labels of values that need one."""
        return {}

    def describe_control(self, request: type[Any]) -> Value:
        """Return the facts that a widget needs of the control, as JSON. Values are texts.

        request: the class of the request, which gives range and default.
        """
        (default,) = (known.default for known in fields(request) if known.name == self.field)
        return {
            **ABSENT,
            **record_fields(self, "says"),
            "kind": self.kind,
            "default": spell_value(default),
            "names": [[spell_value(value), dict(name)] for value, name in self.labels.items()],
            **self.describe_range(request),
        }

    def describe_range(self, request: type[Any]) -> Value:
        """Return the accepted values, as the field of the request declares them."""
        allowed = find_range(request, self.field)
        if isinstance(allowed, Number):
            return {"least": allowed.least, "most": allowed.most, "step": 1}
        if isinstance(allowed, Choice):
            return {"values": [spell_value(value) for value in self.labels or allowed.values]}
        return {"most": allowed.most} if isinstance(allowed, Characters) else {}


@dataclass(frozen=True)
class _LabelledControl(Control):
    """names: the labels of the values, in their order."""

    names: Labels = declare(default_factory=dict, kw_only=True)

    @property
    def labels(self) -> Labels:
        """The labels of values that need one."""
        return self.names


@dataclass(frozen=True)
class ChoiceControl(_LabelledControl):
    """One of some values, side by side."""

    kind = "choice"


@dataclass(frozen=True)
class MenuControl(_LabelledControl):
    """One of some values in a menu, or some of the numbers in `names`, or a switch by the values in
    `names`.

    unit: the text behind the number, "{n} characters".
    """

    kind = "select"
    unit: Text | None = declare(default=None, kw_only=True)

    def describe_range(self, request: type[Any]) -> Value:
        """Return the accepted values; those that are named, where some are."""
        known = super().describe_range(request)
        values = [spell_value(value) for value in self.names] or known.get("values", [])
        is_number = isinstance(find_range(request, self.field), Number)
        return {**(known if is_number else {}), "values": values}


@dataclass(frozen=True)
class SwitchControl(_LabelledControl):
    """Yes or no. names: of True and False."""

    kind = "switch"


@dataclass(frozen=True)
class SliderControl(_LabelledControl):
    """A number.

    names: of numbers that need one.
    step: the step of the slider.
    unit: the text behind the number, "{n} characters".
    stands: the number that the default stands for, by the value of another field, ("task",
        {"parity": 20}). The slider shows that number instead.
    """

    kind = "number"
    step: float = declare(default=1, kw_only=True)
    unit: Text | None = declare(default=None, kw_only=True)
    stands: tuple[str, Mapping[str, float]] | None = declare(default=None, kw_only=True)

    def describe_range(self, request: type[Any]) -> Value:
        """Return the least and the greatest number."""
        known = super().describe_range(request)
        allowed = find_range(request, self.field)
        if isinstance(allowed, Number):
            known["least"] = allowed.least + (1 if self.stands else 0)
            known["step"] = self.step
        return known


@dataclass(frozen=True)
class SeedControl(Control):
    """The seed of all draws."""

    kind = "seed"


@dataclass(frozen=True)
class StopsControl(_LabelledControl):
    """A slider over the values of `names`, in their order."""

    kind = "stops"


@dataclass(frozen=True)
class HeadsControl(_LabelledControl):
    """Attention heads: the head in view is silenced, and any head whose picture is shift-clicked.

    names: of their models.
    sizes: (layers, heads) of these models.
    """

    kind = "heads"
    sizes: Mapping[str, tuple[int, int]] = declare(default_factory=dict, kw_only=True)


@dataclass(frozen=True)
class ItemsControl(_LabelledControl):
    """Any of `names`, or of the parts of the run in view, which `Bar.items` lists.

    notes: the effect of choosing each one.
    kept: whether the chosen items stay without a line through them.
    """

    kind = "items"
    notes: Mapping[str, Text] = declare(default_factory=dict, kw_only=True)
    kept: bool = declare(default=False, kw_only=True)


@dataclass(frozen=True)
class KnobControl(Control):
    """A knob of several parts."""

    kind = "knob"
    knob: Knob | None = declare(default=None, kw_only=True)


@dataclass(frozen=True)
class TypedControl(Control):
    """A control into which something is typed.

    placeholder: an example inside an empty line.
    """

    placeholder: str = declare(default="", kw_only=True)


@dataclass(frozen=True)
class BitsControl(TypedControl):
    """A row of places beside a line of zeros and ones; places: their number."""

    kind = "bits"
    places: int = declare(default=0, kw_only=True)


@dataclass(frozen=True)
class SumControl(TypedControl):
    """A sum of numbers."""

    kind = "sum"


@dataclass(frozen=True)
class LettersControl(TypedControl):
    """A line of letters."""

    kind = "letters"


@dataclass(frozen=True)
class SentenceControl(TypedControl):
    """A line that grows."""

    kind = "sentence"


@dataclass(frozen=True)
class TextControl(TypedControl):
    """Several lines."""

    kind = "text"


@dataclass(frozen=True)
class StoryControl(TypedControl):
    """Several lines, with words to insert."""

    kind = "story"
    words: Sequence[StoryWords] = declare(default=(), kw_only=True)


@dataclass(frozen=True)
class QuestionControl(TypedControl):
    """A line below a story."""

    kind = "question"


@dataclass(frozen=True)
class PassageControl(TypedControl):
    """A long text, or one of `pages`, which the request's `page` then names.

    shares: the field whose characters the text leaves room for. That field must then not be 0 where
        the text is empty.
    """

    kind = "passage"
    pages: Sequence[ShippedText] = declare(default=(), kw_only=True)
    shares: str = declare(default="", kw_only=True)


@dataclass(frozen=True)
class DrawingControl(Control):
    """A picture: one of `drawings`, or the visitor's."""

    kind = "drawing"
    drawings: SamplePictures | None = declare(default=None, kw_only=True)


@dataclass(frozen=True)
class _ScriptedControl(Control):
    """A control that a script of the lab draws.

    script: its path under explorer/.
    own: the values that it needs.
    """

    script: str = declare(default="", kw_only=True)
    own: Any = declare(default=None, kw_only=True)


@dataclass(frozen=True)
class MotifControl(_ScriptedControl):
    """Music."""

    kind = "motif"


@dataclass(frozen=True)
class SceneControl(_ScriptedControl):
    """Objects that are put together."""

    kind = "scene"


def spell_value(value: object) -> str:
    """Return a field's value as a link spells it."""
    return permalink.write_value(value, "a field")
