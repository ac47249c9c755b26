"""The codec between a page's request and a query string that people can read:
``v=1&sentence=A+dog+runs.&silenced=cross.2.4,encoder.0.1``.

It works for every frozen dataclass of texts, numbers, booleans and tuples of these. Only fields
that differ from their defaults are written, so a link stays short and does not change when a
request gains a field. The rest of the address (the view's keys, which begin with an underscore, the
guided step, the language) belongs to the browser and is ignored here.

Layers and heads count from 0 in a request, as in the models. This cannot change: `cross.2.4` of an
old link would look like a link that counts from 1 and silence another head. The texts that a
visitor reads count from 1 (`models.explaining.errors.refuse_head`).
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

from models.explaining.errors import InputError, clean_for_sentence
from models.explaining.request_fields import list_former_names, read_narrow

VERSION = 1
PLAIN = 300  # bytes of a text that travel uncompressed; a longer one is compressed
LONGEST = 2048  # bytes of a compressed text
QUERY = 16 << 10  # characters of a whole query
UNPACKED = 1 << 20  # characters that a compressed text may expand to
ITEMS = 512  # entries of a tuple
# and every key that begins with "_"
VIEW = frozenset({"step", "lecture", "figure", "lang", "__theme", "v"})

Request = TypeVar("Request")


class LinkTooLong(InputError):
    """The error for a request whose text is too long for an address."""

    def __init__(self, size: int) -> None:
        super().__init__(
            "link_too_long",
            en=f"This input takes {size:,} bytes compressed; a link carries up to {LONGEST:,}.",
            zh=f"该输入压缩后有 {size:,} 字节；链接最多携带 {LONGEST:,} 字节。",
        )


def encode(request: Any) -> str:
    """Return the query string of a request (a dataclass instance), without “?”.

    Raise LinkTooLong where a text exceeds 2 KB compressed, and TypeError for a field that no
    address can carry.
    """
    pairs = [("v", str(VERSION))]
    for field in dataclasses.fields(request):
        value = getattr(request, field.name)
        if _find_default(field) is not dataclasses.MISSING and value == _find_default(field):
            continue
        if isinstance(value, str) and len(value.encode(errors="replace")) > PLAIN:
            packed = zlib.compress(value.encode(errors="replace"), 9)
            if len(packed) > LONGEST:
                raise LinkTooLong(len(packed))
            pairs.append(
                (field.name + ".z", base64.urlsafe_b64encode(packed).decode("ascii").rstrip("="))
            )
        else:
            pairs.append((field.name, write_value(value, field.name)))
    return "&".join(
        f"{quote_plus(key)}={quote_plus(value, safe=',', errors='replace')}" for key, value in pairs
    )


def encode_changed(request: Any, **fields: object) -> str:
    """Return the query of `request` with some of its fields changed: encode_changed(EXAMPLES[0],
    beam=4)."""
    return encode(dataclasses.replace(request, **fields))


def decode(kind: type[Request], query: str) -> tuple[Request, dict[str, str] | None]:
    """Return the request that a query string spells, and a notice for the visitor ({"en", "zh"})
    where it names keys that this page does not know. A field is also read by its former name.

    kind: a frozen dataclass. Its model checks ranges; here every value must read as its field's
        type.
    Raise InputError, which names the key, for a value that does not, for a required field that is
    missing and for a link of another version.
    """
    if len(query) > QUERY:
        raise _make_refusal(
            f"This link has {len(query):,} characters; a link has up to {QUERY:,}.",
            f"该链接有 {len(query):,} 个字符，最多 {QUERY:,} 个。",
        )
    try:
        pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=64)
    except ValueError:
        raise _make_refusal(
            "This link has more than 64 parts; a link has up to 64.",
            "该链接有超过 64 个部分，最多 64 个。",
        ) from None
    version = next((value for key, value in pairs if key == "v"), str(VERSION))
    if version != str(VERSION):
        raise _make_refusal(
            f"This link is of version {clean_for_sentence(version)}; this page reads version"
            f" {VERSION}.",
            f"该链接是版本 {clean_for_sentence(version)}；本页读取版本 {VERSION}。",
        )
    given: dict[str, str] = {}
    for key, value in pairs:
        if key.startswith("_") or key in VIEW:
            continue
        if given.setdefault(key, value) != value:
            raise _make_refusal(
                f"This link gives “{clean_for_sentence(key)}” twice, with different values.",
                f"该链接两次给出“{clean_for_sentence(key)}”，且值不同。",
            )
    for former, name in list_former_names(kind).items():
        if former in given:
            given.setdefault(name, given.pop(former))
    hints = typing.get_type_hints(kind)
    values: dict[str, object] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.name + ".z" in given and hints[field.name] is str:
            values[field.name] = _unpack_text(given.pop(field.name + ".z"), field.name)
            given.pop(field.name, None)
        elif field.name in given:
            values[field.name] = read_value(hints[field.name], given.pop(field.name), field.name)
        elif _find_default(field) is dataclasses.MISSING:
            raise _make_refusal(
                f"This link gives no “{field.name}”, which this page needs.",
                f"该链接没有给出本页需要的“{field.name}”。",
            )
    return kind(**values), _describe_unknown_keys(list(given))


def names_request(kind: type[Any], query: str) -> bool:
    """Return whether a query string sets any field of a request. Another site may have added words
    of its own to a link to the bare page."""
    names = {"v", *list_former_names(kind)}
    names.update(field.name + end for field in dataclasses.fields(kind) for end in ("", ".z"))
    return not names.isdisjoint(
        part.partition("=")[0] for part in query.removeprefix("?").split("&")
    )


def read_value(hint: Any, text: str, name: str) -> object:
    """Return `text` as a value of the type `hint`. Raise InputError, which calls it `name`, where
    it is not of this type."""
    try:
        return _parse_value(hint, text)
    except ValueError:
        raise _make_refusal(
            f"The link's “{name}” reads “{clean_for_sentence(text)}”; {_describe_expected(hint)[0]}"
            " belongs there.",
            f"链接中的“{name}”是“{clean_for_sentence(text)}”；此处应为{_describe_expected(hint)[1]}。",
        ) from None


def _find_default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def write_value(value: object, name: str) -> str:
    """Return a value as an address spells it. Raise TypeError, which calls it `name`, for a value
    that no address can carry."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return ",".join(
            ".".join(map(_escape_text, item)) if isinstance(item, tuple) else _escape_text(item)
            for item in value
        )
    raise TypeError(
        f"{name} is a {type(value).__name__}; an address carries texts, numbers, booleans and"
        " tuples of these"
    )


def _escape_text(value: object) -> str:
    text = write_value(value, "an entry of a tuple")
    return text.replace("%", "%25").replace(".", "%2E").replace(",", "%2C")


def _unescape_text(text: str) -> str:
    return text.replace("%2C", ",").replace("%2E", ".").replace("%25", "%")


def _parse_value(hint: Any, text: str) -> object:
    """Return `text` as a value of the type `hint`. Raise ValueError for any other type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is str:
        return text
    if hint is bool:
        if text not in {"0", "1"}:
            raise ValueError(text)
        return text == "1"
    if hint in (int, float):
        text = read_narrow(text)
    if hint is int:
        if not re.fullmatch(r"-?[0-9]{1,15}", text):
            raise ValueError(text)
        return int(text)
    if hint is float:
        if not re.fullmatch(
            r"-?[0-9]{1,20}(\.[0-9]{1,25})?(e[+-]?[0-9]{1,3})?", text
        ) or not math.isfinite(float(text)):
            raise ValueError(text)
        return float(text)
    if origin is Literal:
        return next(
            (value for value in arguments if write_value(value, "") == text), None
        ) or _refuse_text(text)
    if origin in (typing.Union, types.UnionType):
        return _parse_value(
            next(argument for argument in arguments if argument is not type(None)), text
        )
    if origin is tuple:
        parts = text.split(",") if text else []
        if len(parts) > ITEMS:
            raise ValueError(text)
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_parse_entry(arguments[0], part) for part in parts)
        return _parse_fixed_tuple(arguments, parts)
    raise TypeError(f"{hint}: an address carries texts, numbers, booleans and tuples of these")


def _parse_entry(hint: Any, part: str) -> object:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is not tuple:
        return _parse_value(hint, _unescape_text(part))
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_parse_value(arguments[0], _unescape_text(inner)) for inner in part.split("."))
    return _parse_fixed_tuple(arguments, part.split("."))


def _parse_fixed_tuple(hints: tuple[Any, ...], parts: list[str]) -> tuple[object, ...]:
    if len(hints) != len(parts):
        raise ValueError(parts)
    return tuple(
        _parse_value(hint, _unescape_text(part)) for hint, part in zip(hints, parts, strict=True)
    )


def _refuse_text(text: str) -> typing.NoReturn:
    raise ValueError(text)


def _unpack_text(text: str, name: str) -> str:
    try:
        inflate = zlib.decompressobj()
        raw = inflate.decompress(
            base64.b64decode(
                text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
            ),
            UNPACKED,
        )
        if not inflate.eof:
            raise ValueError("cut off or too long")
        return raw.decode()
    except (ValueError, zlib.error, binascii.Error):
        raise _make_refusal(
            f"The text that this link carries as “{name}” cannot be read; it may have been cut.",
            f"链接中的文本“{name}”无法读取；可能已被截断。",
        ) from None


def _describe_expected(hint: Any) -> tuple[str, str]:
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
    return (
        "a list such as a.1.2,b.3.4"
        if any(map(typing.get_args, arguments))
        else "a list such as 1,2"
    ), "列表"


def _describe_unknown_keys(unknown: list[str]) -> dict[str, str] | None:
    if not unknown:
        return None
    names = [clean_for_sentence(key) for key in unknown[:3]]
    more = len(unknown) - len(names)
    return {
        "en": (
            "This link also names "
            + ", ".join(f"“{name}”" for name in names)
            + (f" and {more} more" if more else "")
            + ", unknown to this page and left out."
        ),
        "zh": (
            "该链接还含有本页不认识的"
            + "、".join(f"“{name}”" for name in names)
            + (f"等另外 {more} 项" if more else "")
            + "，已忽略。"
        ),
    }


def _make_refusal(en: str, zh: str) -> InputError:
    return InputError("link", en=en, zh=zh)
