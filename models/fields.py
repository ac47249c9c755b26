"""The fields of a request: type, default, range and refusal of each are said once, where the request is declared. No torch here.

    @dataclass(frozen=True)
    class Request:
        task: str = choice("addition", ("parity", "addition"), en="task", zh="任务")
        epsilon: float = number(0.01, 0, 0.9, en="ε", zh="ε")

`check` refuses what lies outside; the pages read the same ranges for their sliders.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from models.errors import InputError, no_head
from models.errors import shown as shown


@dataclass(frozen=True)
class Number:
    """Whole numbers or others, as the default is, from `least` to `most`. en, zh: what the number is called in a refusal."""

    least: float
    most: float
    whole: bool
    en: str
    zh: str

    def refuse(self, name: str, value: object) -> None:
        """InputError unless `value` is such a number."""
        fits = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        if not fits or not math.isfinite(value) or not self.least <= value <= self.most:  # type: ignore[arg-type,operator]
            raise InputError(
                name,
                en=f"The {self.en} is {shown(value)}; it can be {self.least:g} to {self.most:g}.",
                zh=f"{self.zh}为 {shown(value)}；可以取 {self.least:g} 到 {self.most:g}。",
            )


@dataclass(frozen=True)
class Choice:
    """One of some values. en, zh: what is chosen, in a refusal."""

    values: tuple[Any, ...]
    en: str
    zh: str

    def refuse(self, name: str, value: object) -> None:
        """InputError unless `value` is one of them."""
        if value not in self.values or isinstance(value, bool):
            there = ", ".join(str(one) for one in self.values if one != "")
            raise InputError(
                name,
                en=f"There is no {self.en} {shown(value)}; there are {there}.",
                zh=f"没有{self.zh} {shown(value)}；可用的有 {there}。",
            )


@dataclass(frozen=True)
class Several:
    """Any of some values, each once. en, zh: what one of them is called, in a refusal."""

    values: tuple[str, ...]
    en: str
    zh: str

    def refuse(self, name: str, value: object) -> None:
        """InputError unless `value` is a tuple of such values."""
        for one in value if isinstance(value, tuple) else (value,):
            Choice(self.values, self.en, self.zh).refuse(name, one)


@dataclass(frozen=True)
class Characters:
    """A text of at most `most` characters."""

    most: int

    def refuse(self, name: str, value: object) -> None:
        """InputError unless `value` is such a text."""
        if not isinstance(value, str):
            raise InputError("no_text", en="There is no text.", zh="没有文本。")
        if len(value) > self.most:
            raise too_long(value, self.most)


@dataclass(frozen=True)
class Switch:
    """Yes or no."""

    def refuse(self, name: str, value: object) -> None:
        """InputError unless `value` is one of the two."""
        if not isinstance(value, bool):
            raise InputError(name, en=f"“{name}” is {shown(value)}; it can be 0 or 1.", zh=f"“{name}”为 {shown(value)}；可以取 0 或 1。")


@dataclass(frozen=True)
class Heads:
    """Heads of attention, (model, layer, head) each, layers and heads from 0. How many a model has is its own affair."""

    models: tuple[str, ...]

    def refuse(self, name: str, value: object) -> None:
        """InputError unless `value` holds such heads."""
        for model, layer, head in value if isinstance(value, tuple) else ():
            if model not in self.models or not all(isinstance(at, int) and not isinstance(at, bool) and at >= 0 for at in (layer, head)):
                raise no_head(layer, head, model, names=self.models, code=name)


@dataclass(frozen=True)
class Anything:
    """What reads as its type; what else it must be is the model's affair."""

    def refuse(self, name: str, value: object) -> None:
        """Nothing is refused here."""


LAST_SEED = 999_999
HOTTEST = 2.0  # temperature
LOST = "\N{REPLACEMENT CHARACTER}"  # in place of half a surrogate pair, which no text may carry

Range = Number | Choice | Several | Characters | Switch | Heads | Anything


def number(default: float, least: float, most: float, *, en: str, zh: str) -> Any:
    """A field that is a number, whole where its default is an int."""
    return _field(default, Number(least, most, isinstance(default, int), en, zh))


def seed(default: int) -> Any:
    """A field that is the seed of all draws."""
    return number(default, 0, LAST_SEED, en="seed", zh="随机种子")


def temperature(default: float, least: float = 0) -> Any:
    """A field that is the temperature of what is drawn; 0 takes the likeliest every time."""
    return number(default, least, HOTTEST, en="temperature", zh="温度")


def choice(default: Any, values: Sequence[Any], *, en: str, zh: str) -> Any:
    """A field that is one of some values."""
    return _field(default, Choice(tuple(values), en, zh))


def several(values: Sequence[str], *, en: str, zh: str) -> Any:
    """A field that holds any of some values; none to begin with."""
    return _field((), Several(tuple(values), en, zh))


def characters(default: str, most: int) -> Any:
    """A field that is a text."""
    return _field(default, Characters(most))


def switch(default: bool) -> Any:
    """A field that is yes or no."""
    return _field(default, Switch())


def heads(models: Sequence[str]) -> Any:
    """A field that holds heads of attention of these models; none to begin with."""
    return _field((), Heads(tuple(models)))


def anything(default: object) -> Any:
    """A field that the model itself judges."""
    return _field(default, Anything())


def _field(default: object, allowed: Range) -> Any:
    return dataclasses.field(default=default, metadata={"range": allowed})


def range_of(kind: Any, name: str) -> Range:
    """What a field of a request may be. KeyError for a field that there is not, or that does not say."""
    found: Range = {field.name: field for field in dataclasses.fields(kind)}[name].metadata["range"]
    return found


def check(request: Any) -> None:
    """InputError, a sentence for the visitor, for the first field of a request that lies outside its range."""
    for field in dataclasses.fields(request):
        field.metadata["range"].refuse(field.name, getattr(request, field.name))


def too_long(text: str, most: int) -> InputError:
    """The refusal of a text of more than `most` characters."""
    return InputError(
        "too_long",
        en=f"Your text has {len(text):,} characters; at most {most:,} can be read.",
        zh=f"您的文本有 {len(text):,} 个字符；最多可读取 {most:,} 个。",
    )


def read_text(text: str) -> str:
    """A text of a visitor as models read it: lines ended by \\n, no half of a surrogate pair."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(LOST if "\ud800" <= letter <= "\udfff" else letter for letter in text)


def passage(text: str) -> str:
    """The same of a text that is not empty. InputError where it is only white space."""
    if not text.strip():
        raise InputError(
            "blank", en="The text is nothing but white space: type at least one character.", zh="文本只有空白：请至少输入一个字符。"
        )
    return read_text(text)


def check_places(field: str, places: Iterable[object], count: int) -> None:
    """The refusal of a position that there is not: there are so many, from 0. field: that they are given in, the refusal's code."""
    for place in places:
        if place not in range(count):
            raise InputError(
                field,
                en=f"There is no position {shown(place)}; there are the positions 0 to {count - 1}.",
                zh=f"没有位置 {shown(place)}；可用的位置为 0 到 {count - 1}。",
            )
