"""The calls of scripts to the site's endpoints: values of the kinds that an endpoint names itself,
and values of none."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Random = random.Random


@dataclass(frozen=True)
class Endpoint:
    """One endpoint as the site describes it.

    number: that of its event.
    kinds: JSON's type of each parameter.
    defaults: the values of parameters that are left out.
    """

    name: str
    number: int
    kinds: tuple[str, ...]
    defaults: tuple[Any, ...]


def read_endpoints(config: str | bytes, info: str | bytes) -> list[Endpoint]:
    """Return the endpoints of a site.

    config, info: the answers at /config and /gradio_api/info.
    """
    numbers = {f"/{one['api_name']}": one["id"] for one in json.loads(config)["dependencies"]}
    found = []
    for name, about in json.loads(info)["named_endpoints"].items():
        kinds = tuple(one["type"]["type"] for one in about["parameters"])
        defaults = tuple(one["parameter_default"] for one in about["parameters"])
        found.append(Endpoint(name, numbers[name], kinds, defaults))
    return found


NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    8,
    64,
    99,
    4096,
    2**31,
    2**63,
    -(2**63) - 1,
    10**30,
    10**400,
    0.5,
    -0.0,
    1e-300,
    1e30,
    1e308,
)
TEXTS = (
    *(
        "",
        " ",
        "a",
        "0",
        "9" * 5_000,
        "NaN",
        "٣",
        "4.0",
        "0x8",
        "cross.2.4",
        "cross.99.0",
        "encoder.0.1,decoder.1.1",
        "test:0",
        "test:-1",
    ),
    *(
        "\ud800",
        "\x00",
        "\u202e",
        "</script>",
        "{}",
        "%00",
        "a" * 3_000,
        "word " * 40_000,
        "猫" * 100_000,
        "0," * 5_000,
        "\\" * 9_999,
        '"' * 9_999,
    ),
)
INPUTS = ("Two dogs run.", "10110", "12+34", "abcabc")
MARKED = {"path": "a text of a visitor", "meta": {"_type": "gradio.FileData"}}


def _nested(depth: int, kind: type) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


def _of_kind(kind: str, draw: Random) -> Any:
    """Return a value of a kind that a parameter has, sensible or not."""
    if kind in {"integer", "number"}:
        return draw.choice(NUMBERS)
    if kind == "boolean":
        return draw.random() < 0.5
    if kind == "array":
        return [
            draw.choice(("attention", "ask", "", "no such view", *TEXTS[:9]))
            for _ in range(draw.randrange(4))
        ]
    if draw.random() < 0.3:
        return "".join(
            chr(draw.randrange(0x250 if draw.random() < 0.8 else 0x110000))
            for _ in range(draw.randrange(1, 200))
        )
    return draw.choice(TEXTS)


def _of_none(draw: Random) -> Any:
    """Return a value of a kind that no parameter has."""
    match draw.randrange(6):
        case 0:
            return _nested(draw.choice((1, 2, 20, 30, 33, 700)), draw.choice((list, dict)))
        case 1:
            return draw.choice(
                (
                    [],
                    {},
                    [[]],
                    [{}],
                    [None],
                    {"a": {}},
                    {"__type__": "update"},
                    {"sentence": "A dog."},
                )
            )
        case 2:
            return draw.choice((MARKED, [MARKED], {"a": [MARKED]}))
        case 3:
            return draw.choice((None, True, False))
        case 4:
            return draw.choice(
                ([0] * 3_000, [[0, 1]] * 5_000, {str(number): number for number in range(900)})
            )
    return draw.choice((*NUMBERS, *TEXTS))


def write_call(endpoints: Sequence[Endpoint], draw: Random) -> tuple[int, list[Any]]:
    """Return the number of an event and the values of a call: the defaults but for a few, seldom
    too many or too few."""
    endpoint = draw.choice(endpoints)
    values = list(endpoint.defaults)
    if draw.random() < 0.2 and "" in values:
        # without it most labs check nothing else
        values[values.index("")] = draw.choice(INPUTS)
    for place in draw.sample(range(len(values)), draw.randrange(1, 4)):
        values[place] = (
            _of_kind(endpoint.kinds[place], draw) if draw.random() < 0.5 else _of_none(draw)
        )
    match draw.randrange(20):
        case 0:
            values = values[: draw.randrange(len(values))]
        case 1:
            values += [_of_none(draw)]
    return endpoint.number, values


def spell_body(number: int, values: Sequence[Any], session: str) -> bytes:
    """Return the body by which a script calls an endpoint."""
    return json.dumps({"data": [*values], "fn_index": number, "session_hash": session}).encode()


def read_refusal(message: Mapping[str, Any]) -> str | None:
    """Return the sentence of a refusal in an event's last message, "" for a refusal without one;
    None for an answer."""
    return None if message["success"] else str(message["output"].get("error") or "")
