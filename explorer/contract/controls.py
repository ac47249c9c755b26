"""The one codec of requests: a query string, and {field: text} on top of it.

The browser holds every field as text, as a link spells it, and has no codec of its own.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from explorer.contract import labels, permalink
from explorer.contract.control_kinds import Control, spell_value
from explorer.contract.lab import Text
from models.explaining.errors import InputError
from models.explaining.request_fields import check_request

R = TypeVar("R")


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
