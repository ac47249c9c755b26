"""Messages written for the visitor, and what the operator hears of a file that cannot be read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path


class InputError(Exception):
    """What a visitor gave cannot be read: one sentence that says what was given and what is accepted.

    code: a stable key for tests and logs. en, zh: the sentence in both languages of the page.
    """

    def __init__(self, code: str, *, en: str, zh: str) -> None:
        super().__init__(en)
        self.code = code
        self.text: dict[str, str] = {"en": en, "zh": zh}

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.code, self.text["en"], self.text["zh"]))


def shown(value: object) -> str:
    """What a visitor gave, fit for a sentence: no controls, at most 40 characters."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= 40 else text[:39] + "…"


def no_head(
    layer: object, head: object, of: object = "", *, layers: int = 0, heads: int = 0, names: Sequence[str] = (), code: str = "silenced"
) -> InputError:
    """The refusal of a head that there is not. A request counts layers and heads from 0; a visitor reads them from 1, "3·5".

    of: the model or kind of attention that was meant, "" for the only one. layers, heads: how many it has, 0 where that is not known here.
    names: those that there are, where `of` is none of them. code: as of `InputError`.
    """
    where = f" of {shown(of)}" if of else ""
    whose = f"{shown(of)} " if of else ""
    said_en, said_zh = f"There is no head {_from_1(layer)}·{_from_1(head)}{where}", f"{whose}没有注意力头 {_from_1(layer)}·{_from_1(head)}"
    if names and of not in names:
        said_en += f"; there are {', '.join(names)}"
        said_zh += f"；可用的有 {'、'.join(names)}"
    if layers and heads:
        said_en += f"; layers are 1 to {layers}, heads 1 to {heads}"
        said_zh += f"；层为 1 到 {layers}，头为 1 到 {heads}"
    return InputError(code, en=f"{said_en}.", zh=f"{said_zh}。")


def check_heads(silenced: Iterable[tuple[str, int, int]], sizes: Mapping[str, tuple[int, int]]) -> None:
    """The refusal of a head, (model or kind of attention, layer, head), that there is not. sizes: layers and heads of each."""
    for of, layer, head in silenced:
        layers, heads = sizes.get(of, next(iter(sizes.values())))
        if of not in sizes or layer >= layers or head >= heads:
            raise no_head(layer, head, of, layers=layers, heads=heads, names=tuple(sizes))


def check_models(silenced: Iterable[tuple[str, int, int]], names: Sequence[str]) -> None:
    """The refusal of a head, (model, layer, head), of none of these models."""
    for of, layer, head in silenced:
        if of not in names:
            raise no_head(layer, head, of, names=names)


def _from_1(number: object) -> str:
    """A number as a visitor counts it; what is no whole number, as it was given."""
    return str(number + 1)[:20] if isinstance(number, int) and not isinstance(number, bool) else shown(number)


LARGEST = 10**15  # of a whole number, in a request and in a link: every part of the program and of a browser holds so many digits


def whole(value: object) -> int:
    """A whole number that came as JSON. TypeError for anything else, and InputError for one that is larger than anybody needs."""
    if isinstance(value, int | float) and not isinstance(value, bool) and not -LARGEST < value < LARGEST:
        raise InputError(
            "number",
            en=f"The number {_short(value)} is too large; whole numbers of up to 15 digits are read.",
            zh=f"数字 {_short(value)} 过大；只读取至多 15 位的整数。",
        )
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _short(number: float) -> str:
    """With at most 20 characters, however many digits it has."""
    return str(number) if abs(number) < 10**20 else f"{float(number):g}" if abs(number) < 10**300 else "∞"


class Stopped(Exception):
    """Raised inside a generator whose visitor has pressed Stop: it yields its result as far as it has come, and ends."""


class DamagedFile(Exception):
    """A file of the project's own, such as a checkpoint or a stored result, that cannot be read: the message names it."""


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """What goes wrong inside is the file's fault: DamagedFile, which names the file by its last three parts."""
    try:
        yield
    except DamagedFile:
        raise
    except Exception as error:
        raise DamagedFile(f"{'/'.join(path.parts[-3:])} cannot be read: {type(error).__name__}: {error}") from error


def _rebuild(kind: type[InputError], code: str, en: str, zh: str) -> InputError:
    error = kind.__new__(kind)
    InputError.__init__(error, code, en=en, zh=zh)
    return error
