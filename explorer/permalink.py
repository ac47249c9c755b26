"""A page's request as a query string that people can read, and back: ``v=1&sentence=A+dog+runs.&silenced=cross.2.4,encoder.0.1``.

Works for every frozen dataclass of texts, numbers, booleans and tuples of these. Only fields that differ from their defaults are
written, so a link stays short and gains nothing when a request gains a field. What the address carries beside the request (the view's
keys, which begin with an underscore, the guided step, the language) belongs to the browser and is passed over here.

Layers and heads stand in a request from 0, as models count them, and stay so: `cross.2.4` of an old link could not be told from one that
counts from 1, and would silence another head. What a visitor reads counts from 1 (`models.errors.no_head`).
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import math
import re
import types
import typing
import zlib
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl, quote_plus

from models.errors import InputError

VERSION = 1
PLAIN = 300  # bytes of a text that travel as they are; a longer one is compressed
LONGEST = 2048  # bytes of a compressed text
QUERY = 16 << 10  # characters of a whole query
UNPACKED = 1 << 20  # characters that a compressed text may grow to
ITEMS = 512  # entries of a tuple
VIEW = frozenset({"step", "lecture", "figure", "lang", "__theme", "v"})  # with every key that begins with "_"

Request = TypeVar("Request")


class LinkTooLong(InputError):
    """The request's text is too long for an address."""

    def __init__(self, size: int) -> None:
        super().__init__(
            "link_too_long",
            en=f"This input takes {size:,} bytes compressed; a link carries up to {LONGEST:,}.",
            zh=f"该输入压缩后有 {size:,} 字节；链接最多携带 {LONGEST:,} 字节。",
        )


def encode(request: Any) -> str:
    """The query string of a request (a dataclass instance), without “?”.

    Raises LinkTooLong where a text exceeds 2 KB compressed, and TypeError for a field that no address can carry.
    """
    pairs = [("v", str(VERSION))]
    for field in dataclasses.fields(request):
        value = getattr(request, field.name)
        if _default(field) is not dataclasses.MISSING and value == _default(field):
            continue
        if isinstance(value, str) and len(value.encode(errors="replace")) > PLAIN:
            packed = zlib.compress(value.encode(errors="replace"), 9)
            if len(packed) > LONGEST:
                raise LinkTooLong(len(packed))
            pairs.append((field.name + ".z", base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")))
        else:
            pairs.append((field.name, written(value, field.name)))
    return "&".join(f"{quote_plus(key)}={quote_plus(value, safe=',', errors='replace')}" for key, value in pairs)


def changed(request: Any, **fields: object) -> str:
    """The query of `request` with some of its fields changed: changed(EXAMPLES[0], beam=4)."""
    return encode(dataclasses.replace(request, **fields))


def decode(kind: type[Request], query: str) -> tuple[Request, dict[str, str] | None]:
    """The request that a query string spells, and a notice for the visitor ({"en", "zh"}) where it names keys that this page does not know.

    kind: a frozen dataclass. Ranges are its model's affair; here every value must read as its field's type.
    Raises InputError naming the key for a value that does not, for a required field that is missing and for a link of another version.
    """
    if len(query) > QUERY:
        raise _wrong(
            f"This link has {len(query):,} characters; a link has up to {QUERY:,}.", f"该链接有 {len(query):,} 个字符，最多 {QUERY:,} 个。"
        )
    try:
        pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=64)
    except ValueError:
        raise _wrong("This link has more than 64 parts; a link has up to 64.", "该链接有超过 64 个部分，最多 64 个。") from None
    version = next((value for key, value in pairs if key == "v"), str(VERSION))
    if version != str(VERSION):
        raise _wrong(
            f"This link is of version {_shown(version)}; this page reads version {VERSION}.",
            f"该链接是版本 {_shown(version)}；本页读取版本 {VERSION}。",
        )
    given: dict[str, str] = {}
    for key, value in pairs:
        if key.startswith("_") or key in VIEW:
            continue
        if given.setdefault(key, value) != value:
            raise _wrong(f"This link gives “{_shown(key)}” twice, with different values.", f"该链接两次给出“{_shown(key)}”，且值不同。")
    hints = typing.get_type_hints(kind)
    values: dict[str, object] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.name + ".z" in given and hints[field.name] is str:
            values[field.name] = _unpacked(given.pop(field.name + ".z"), field.name)
            given.pop(field.name, None)
        elif field.name in given:
            values[field.name] = read(hints[field.name], given.pop(field.name), field.name)
        elif _default(field) is dataclasses.MISSING:
            raise _wrong(f"This link gives no “{field.name}”, which this page needs.", f"该链接没有给出本页需要的“{field.name}”。")
    return kind(**values), _notice(list(given))


def asks(kind: type[Any], query: str) -> bool:
    """Does a query string say anything of a request? Another site may have added words of its own to a link to the bare page."""
    names = {"v", *(field.name + end for field in dataclasses.fields(kind) for end in ("", ".z"))}
    return not names.isdisjoint(part.partition("=")[0] for part in query.removeprefix("?").split("&"))


def read(hint: Any, text: str, name: str) -> object:
    """`text` as a value of the type `hint`; InputError, which calls it `name`, where it is none."""
    try:
        return _read(hint, text)
    except ValueError:
        raise _wrong(
            f"The link's “{name}” reads “{_shown(text)}”; {_expected(hint)[0]} belongs there.",
            f"链接中的“{name}”是“{_shown(text)}”；此处应为{_expected(hint)[1]}。",
        ) from None


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def written(value: object, name: str) -> str:
    """A value as an address spells it. TypeError, which calls it `name`, for a value that no address can carry."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return ",".join(".".join(map(_escaped, item)) if isinstance(item, tuple) else _escaped(item) for item in value)
    raise TypeError(f"{name} is a {type(value).__name__}; an address carries texts, numbers, booleans and tuples of these")


def _escaped(value: object) -> str:
    text = written(value, "an entry of a tuple")
    return text.replace("%", "%25").replace(".", "%2E").replace(",", "%2C")


def _unescaped(text: str) -> str:
    return text.replace("%2C", ",").replace("%2E", ".").replace("%25", "%")


def _read(hint: Any, text: str) -> object:
    """`text` as a value of the type `hint`. Raises ValueError where it is none."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is str:
        return text
    if hint is bool:
        if text not in {"0", "1"}:
            raise ValueError(text)
        return text == "1"
    if hint is int:
        if not re.fullmatch(r"-?[0-9]{1,15}", text):
            raise ValueError(text)
        return int(text)
    if hint is float:
        if not re.fullmatch(r"-?[0-9]{1,20}(\.[0-9]{1,25})?(e[+-]?[0-9]{1,3})?", text) or not math.isfinite(float(text)):
            raise ValueError(text)
        return float(text)
    if origin is Literal:
        return next((value for value in arguments if written(value, "") == text), None) or _raise(text)
    if origin in (typing.Union, types.UnionType):
        return _read(next(argument for argument in arguments if argument is not type(None)), text)
    if origin is tuple:
        parts = text.split(",") if text else []
        if len(parts) > ITEMS:
            raise ValueError(text)
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_entry(arguments[0], part) for part in parts)
        return _fixed(arguments, parts)
    raise TypeError(f"{hint}: an address carries texts, numbers, booleans and tuples of these")


def _entry(hint: Any, part: str) -> object:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is not tuple:
        return _read(hint, _unescaped(part))
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_read(arguments[0], _unescaped(inner)) for inner in part.split("."))
    return _fixed(arguments, part.split("."))


def _fixed(hints: tuple[Any, ...], parts: list[str]) -> tuple[object, ...]:
    if len(hints) != len(parts):
        raise ValueError(parts)
    return tuple(_read(hint, _unescaped(part)) for hint, part in zip(hints, parts, strict=True))


def _raise(text: str) -> typing.NoReturn:
    raise ValueError(text)


def _unpacked(text: str, name: str) -> str:
    try:
        inflate = zlib.decompressobj()
        raw = inflate.decompress(base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True), UNPACKED)
        if not inflate.eof:
            raise ValueError("cut off or too long")
        return raw.decode()
    except (ValueError, zlib.error, binascii.Error):
        raise _wrong(
            f"The text that this link carries as “{name}” cannot be read; it may have been cut.",
            f"链接中的文本“{name}”无法读取；可能已被截断。",
        ) from None


def _expected(hint: Any) -> tuple[str, str]:
    if hint is int:
        return "a whole number of up to 15 digits", "至多 15 位的整数"
    if hint is float:
        return "a number", "数字"
    if hint is bool:
        return "0 or 1", " 0 或 1"
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is Literal:
        names = ", ".join(map(str, arguments))
        return f"one of {names}", f"以下之一：{names}"
    return "a list such as a.1.2,b.3.4" if any(map(typing.get_args, arguments)) else "a list such as 1,2", "列表"


def _shown(text: str) -> str:
    """What a visitor gave, fit for a sentence: no controls, at most 40 characters."""
    plain = "".join(character if character.isprintable() else "·" for character in text[:60])
    return plain if len(plain) <= 40 else plain[:39] + "…"


def _notice(unknown: list[str]) -> dict[str, str] | None:
    if not unknown:
        return None
    names = [_shown(key) for key in unknown[:3]]
    more = len(unknown) - len(names)
    return {
        "en": "This link also names "
        + ", ".join(f"“{name}”" for name in names)
        + (f" and {more} more" if more else "")
        + ", unknown to this page and left out.",
        "zh": "该链接还含有本页不认识的" + "、".join(f"“{name}”" for name in names) + (f"等另外 {more} 项" if more else "") + "，已忽略。",
    }


def _wrong(en: str, zh: str) -> InputError:
    return InputError("link", en=en, zh=zh)
