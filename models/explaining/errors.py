"""Messages written for the visitor, and the error for the operator about a file that cannot be
read."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path


class InputError(Exception):
    """A refusal of a visitor's input: one sentence that says what was given and what is accepted.

    code: a stable key for tests and logs.
    en, zh: the sentence in both languages of the page.
    """

    def __init__(self, code: str, *, en: str, zh: str) -> None:
        self.code = code
        self.text: dict[str, str] = {"en": name_invisible(en), "zh": name_invisible(zh)}
        super().__init__(self.text["en"])

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_error, (type(self), self.code, self.text["en"], self.text["zh"]))


def name_character(letter: str) -> str:
    """Return a character as a sentence prints it. An invisible one is printed by its number and
    name, ⟨U+202E right-to-left override⟩; a mark that stands on a letter is printed on a dotted
    circle."""
    kind = unicodedata.category(letter)
    if kind[0] in "CZ" and letter != " ":
        name = unicodedata.name(letter, "") or _CONTROLS.get(letter, "")
        return f"⟨{f'U+{ord(letter):04X} {name.lower()}'.strip()}⟩"
    return f"◌{letter}" if kind[0] == "M" else letter


def name_invisible(text: str) -> str:
    """Return a text that a sentence can hold. Controls, marks of direction and other characters
    without a shape are named as `name_character` does; spaces, tabs and line breaks stay, and so do
    the characters that join emoji."""
    return text if text.isprintable() else _INVISIBLE.sub(_name_found, text)


def _name_found(found: re.Match[str]) -> str:
    kind, (at, end) = unicodedata.category(found[0]), found.span()
    if kind == "Zs" or kind[0] not in "CZ":
        return found[0]
    beside = found.string[max(0, at - 1) : at], found.string[end : end + 1]
    joins = found[0] == _JOINER and all(map(_is_emoji, beside))
    return found[0] if joins else name_character(found[0])


def _is_emoji(letter: str) -> bool:
    return letter == "\ufe0f" or (letter != "" and unicodedata.category(letter) in {"So", "Sk"})


_JOINER = "\u200d"
_CONTROLS = {
    "\0": "null",
    "\t": "tab",
    "\n": "line feed",
    "\v": "vertical tab",
    "\f": "form feed",
    "\r": "carriage return",
}
_CONTROLS |= {"\x1b": "escape", "\x7f": "delete", "\x85": "next line"}
_INVISIBLE = re.compile(r"[^\x20-\x7e\t\n]")


def clean_for_sentence(value: object) -> str:
    """Return a visitor's input, fit for a sentence: invisible characters are named, and it is cut
    to 40 characters or one name."""
    given = (value if isinstance(value, str) else repr(value))[:41]
    named = [_name_blank(letter) for letter in given]
    if sum(map(len, named)) <= 40:
        return "".join(named)
    text = named[0]
    for letter in named[1:]:
        if len(text) + len(letter) > 39:
            break
        text += letter
    return text + "…"


def _name_blank(letter: str) -> str:
    """Return a letter of a quotation: a line break or a tab becomes a space, other invisible
    letters are named."""
    return letter if letter.isprintable() else " " if letter in "\t\n" else name_character(letter)


def refuse_head(
    layer: object,
    head: object,
    of: object = "",
    *,
    layers: int = 0,
    heads: int = 0,
    names: Sequence[str] = (),
    code: str = "silenced",
) -> InputError:
    """Return the refusal of a head that does not exist. A request counts layers and heads from 0; a
    visitor reads them from 1, "3·5".

    of: the model or kind of attention that was meant, "" for the only one.
    layers, heads: how many it has, 0 where that is not known here.
    names: those that exist, where `of` is none of them.
    code: the code of the `InputError`.
    """
    where = f" of {clean_for_sentence(of)}" if of else ""
    whose = f"{clean_for_sentence(of)} " if of else ""
    said_en, said_zh = (
        f"There is no head {_count_from_one(layer)}·{_count_from_one(head)}{where}",
        f"{whose}没有注意力头 {_count_from_one(layer)}·{_count_from_one(head)}",
    )
    if names and of not in names:
        said_en += f"; there are {', '.join(names)}"
        said_zh += f"；可用的有 {'、'.join(names)}"
    if layers and heads:
        said_en += f"; layers are 1 to {layers}, heads 1 to {heads}"
        said_zh += f"；层为 1 到 {layers}，头为 1 到 {heads}"
    return InputError(code, en=f"{said_en}.", zh=f"{said_zh}。")


def check_heads(
    silenced: Iterable[tuple[str, int, int]], sizes: Mapping[str, tuple[int, int]]
) -> None:
    """Refuse a head, (model or kind of attention, layer, head), that does not exist. sizes: layers
    and heads of each."""
    for of, layer, head in silenced:
        layers, heads = sizes.get(of, next(iter(sizes.values())))
        if of not in sizes or layer >= layers or head >= heads:
            raise refuse_head(layer, head, of, layers=layers, heads=heads, names=tuple(sizes))


def check_models(silenced: Iterable[tuple[str, int, int]], names: Sequence[str]) -> None:
    """Refuse a head, (model, layer, head), that belongs to none of these models."""
    for of, layer, head in silenced:
        if of not in names:
            raise refuse_head(layer, head, of, names=names)


def _count_from_one(number: object) -> str:
    """Return a number as a visitor counts it; anything but a whole number stays as it was given."""
    return (
        str(number + 1)[:20]
        if isinstance(number, int) and not isinstance(number, bool)
        else clean_for_sentence(number)
    )


# Digits of a whole number in a request and in a link: every part of the program and of a browser
# holds so many.
LARGEST = 10**15


def read_whole_number(value: object) -> int:
    """Return a whole number that came as JSON. Raise TypeError for anything else, and InputError
    for one that is larger than anybody needs."""
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and not -LARGEST < value < LARGEST
    ):
        raise InputError(
            "number",
            en=(
                f"The number {_shorten_number(value)} is too large; whole numbers of up to 15"
                " digits are read."
            ),
            zh=f"数字 {_shorten_number(value)} 过大；只读取至多 15 位的整数。",
        )
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _shorten_number(number: float) -> str:
    """Return a number in at most 20 characters, however many digits it has."""
    return (
        str(number)
        if abs(number) < 10**20
        else f"{float(number):g}"
        if abs(number) < 10**300
        else "∞"
    )


class Stopped(Exception):
    """Raised inside a generator when its visitor presses Stop: the generator yields its result so
    far and ends."""


class DamagedFile(Exception):
    """A file of the project's own, for example a checkpoint or a stored result, cannot be read: the
    message names it."""


@contextlib.contextmanager
def reading_file(path: Path) -> Iterator[None]:
    """Turn any error inside the block into DamagedFile, which names the file by its last three
    parts."""
    try:
        yield
    except DamagedFile:
        raise
    except Exception as error:
        raise DamagedFile(
            f"{'/'.join(path.parts[-3:])} cannot be read: {type(error).__name__}: {error}"
        ) from error


def _rebuild_error(kind: type[InputError], code: str, en: str, zh: str) -> InputError:
    error = kind.__new__(kind)
    InputError.__init__(error, code, en=en, zh=zh)
    return error
