"""The fields of a request: each declares its type, default, range and refusal once, in the request.
No torch here.

    @dataclass(frozen=True)
    class Request:
        task: str = choice_field("addition", ("parity", "addition"), en="task", zh="任务")
        epsilon: float = number_field(0.01, 0, 0.9, en="ε", zh="ε")

`check_request` refuses values outside; the pages read the same ranges for their sliders.
"""

from __future__ import annotations

import dataclasses
import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from models.explaining.errors import InputError, refuse_head
from models.explaining.errors import clean_for_sentence as clean_for_sentence


@dataclass(frozen=True)
class Number:
    """A number from `least` to `most`, whole where the default is whole. en, zh: the name of the
    number in a refusal."""

    least: float
    most: float
    whole: bool
    en: str
    zh: str

    def check(self, name: str, value: object) -> None:
        """Raise InputError unless `value` is a number in this range."""
        fits = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        if not fits or not math.isfinite(value) or not self.least <= value <= self.most:  # type: ignore[arg-type,operator]
            raise InputError(
                name,
                en=(
                    f"The {self.en} is {clean_for_sentence(value)}; it can be {self.least:g} to"
                    f" {self.most:g}."
                ),
                zh=(
                    f"{self.zh}为 {clean_for_sentence(value)}；可以取 {self.least:g} 到"
                    f" {self.most:g}。"
                ),
            )


@dataclass(frozen=True)
class Choice:
    """One of some values. en, zh: the name of the choice in a refusal."""

    values: tuple[Any, ...]
    en: str
    zh: str

    def check(self, name: str, value: object) -> None:
        """Raise InputError unless `value` is one of them."""
        if value not in self.values or isinstance(value, bool):
            there = ", ".join(str(one) for one in self.values if one != "")
            raise InputError(
                name,
                en=f"There is no {self.en} {clean_for_sentence(value)}; there are {there}.",
                zh=f"没有{self.zh} {clean_for_sentence(value)}；可用的有 {there}。",
            )


@dataclass(frozen=True)
class Several:
    """Any of some values, each once. en, zh: the name of one of them in a refusal."""

    values: tuple[str, ...]
    en: str
    zh: str

    def check(self, name: str, value: object) -> None:
        """Raise InputError unless `value` is a tuple of these values."""
        for one in value if isinstance(value, tuple) else (value,):
            Choice(self.values, self.en, self.zh).check(name, one)


@dataclass(frozen=True)
class Characters:
    """A text of at most `most` characters."""

    most: int

    def check(self, name: str, value: object) -> None:
        """Raise InputError unless `value` is a text of this length."""
        if not isinstance(value, str):
            raise InputError("no_text", en="There is no text.", zh="没有文本。")
        if len(value) > self.most:
            raise refuse_long_text(value, self.most)


@dataclass(frozen=True)
class Switch:
    """Yes or no."""

    def check(self, name: str, value: object) -> None:
        """Raise InputError unless `value` is one of the two."""
        if not isinstance(value, bool):
            raise InputError(
                name,
                en=f"“{name}” is {clean_for_sentence(value)}; it can be 0 or 1.",
                zh=f"“{name}”为 {clean_for_sentence(value)}；可以取 0 或 1。",
            )


@dataclass(frozen=True)
class Heads:
    """Heads of attention, (model, layer, head) each, layers and heads from 0. The model itself
    checks that it has them."""

    models: tuple[str, ...]

    def check(self, name: str, value: object) -> None:
        """Raise InputError unless `value` holds heads of these models."""
        for model, layer, head in value if isinstance(value, tuple) else ():
            if model not in self.models or not all(
                isinstance(at, int) and not isinstance(at, bool) and at >= 0 for at in (layer, head)
            ):
                raise refuse_head(layer, head, model, names=self.models, code=name)


@dataclass(frozen=True)
class Anything:
    """Any value that reads as its type; the model judges it further."""

    def check(self, name: str, value: object) -> None:
        """Accept every value."""


LAST_SEED = 999_999
HOTTEST = 2.0  # temperature
LOST = "\N{REPLACEMENT CHARACTER}"  # in place of half a surrogate pair, which no text may carry

Range = Number | Choice | Several | Characters | Switch | Heads | Anything


def number_field(default: float, least: float, most: float, *, en: str, zh: str) -> Any:
    """Declare a field that is a number, whole where its default is an int."""
    return _make_field(default, Number(least, most, isinstance(default, int), en, zh))


def seed_field(default: int) -> Any:
    """Declare a field that is the seed of all draws."""
    return number_field(default, 0, LAST_SEED, en="seed", zh="随机种子")


def temperature_field(default: float, least: float = 0) -> Any:
    """Declare a field that is the temperature of the draws; 0 takes the likeliest every time."""
    return number_field(default, least, HOTTEST, en="temperature", zh="温度")


def choice_field(default: Any, values: Sequence[Any], *, en: str, zh: str) -> Any:
    """Declare a field that is one of some values."""
    return _make_field(default, Choice(tuple(values), en, zh))


def several_field(values: Sequence[str], *, en: str, zh: str) -> Any:
    """Declare a field that holds any of some values; none to begin with."""
    return _make_field((), Several(tuple(values), en, zh))


def text_field(default: str, most: int) -> Any:
    """Declare a field that is a text."""
    return _make_field(default, Characters(most))


def switch_field(default: bool, former: str = "") -> Any:
    """Declare a field that is yes or no. former: its name in older links and scripts."""
    return _make_field(default, Switch(), former)


def heads_field(models: Sequence[str]) -> Any:
    """Declare a field that holds heads of attention of these models; none to begin with."""
    return _make_field((), Heads(tuple(models)))


def any_field(default: object) -> Any:
    """Declare a field that the model itself judges."""
    return _make_field(default, Anything())


def _make_field(default: object, allowed: Range, former: str = "") -> Any:
    return dataclasses.field(default=default, metadata={"range": allowed, "former": former})


def list_former_names(kind: Any) -> dict[str, str]:
    """Return the fields of a request that had another name, by this former name."""
    return {
        field.metadata["former"]: field.name
        for field in dataclasses.fields(kind)
        if field.metadata.get("former")
    }


def find_range(kind: Any, name: str) -> Range:
    """Return the range of a field of a request. Raise KeyError for a field that does not exist, or
    that declares no range."""
    found: Range = {field.name: field for field in dataclasses.fields(kind)}[name].metadata["range"]
    return found


def check_request(request: Any) -> None:
    """Raise InputError, a sentence for the visitor, for the first field of a request that lies
    outside its range."""
    for field in dataclasses.fields(request):
        field.metadata["range"].check(field.name, getattr(request, field.name))


def refuse_long_text(text: str, most: int) -> InputError:
    """Return the refusal of a text of more than `most` characters."""
    return InputError(
        "too_long",
        en=f"Your text has {len(text):,} characters; at most {most:,} can be read.",
        zh=f"您的文本有 {len(text):,} 个字符；最多可读取 {most:,} 个。",
    )


def read_text(text: str) -> str:
    """Return a visitor's text as models read it: lines end by \\n, halves of surrogate pairs are
    replaced, every other control character becomes a space. It grows no longer, so that limits hold
    for both."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isprintable() else "".join(map(_read_letter, text))


def _read_letter(letter: str) -> str:
    if letter in "\n\t":
        return letter
    return _READ_AS.get(unicodedata.category(letter), letter)


_READ_AS = {"Cc": " ", "Zl": " ", "Zp": " ", "Cs": LOST}
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}


def read_narrow(text: str) -> str:
    """Return a text of digits and signs in their usual width: "１０＋１" becomes "10+1", because
    Chinese and Japanese keyboards type full-width signs. Every control character becomes a
    space."""
    return read_text(text).translate(_NARROW)


def read_passage(text: str) -> str:
    """Return `read_text` of a text that is not empty. Raise InputError where it is only white
    space."""
    text = read_text(text)
    if not text.strip():
        raise InputError(
            "blank",
            en="The text is nothing but white space: type at least one character.",
            zh="文本只有空白：请至少输入一个字符。",
        )
    return text


def check_places(field: str, places: Iterable[object], count: int) -> None:
    """Refuse a position that does not exist among `count`, counted from 0. field: the field that
    holds the positions, which is the refusal's code."""
    for place in places:
        if place not in range(count):
            raise InputError(
                field,
                en=(
                    f"There is no position {clean_for_sentence(place)}; there are the positions 0"
                    f" to {count - 1}."
                ),
                zh=f"没有位置 {clean_for_sentence(place)}；可用的位置为 0 到 {count - 1}。",
            )
