"""What a lab says may be changed in its model does change it: the panel of changes says one number
before and after, and they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.contract.lab import OpenLab
from explorer.engine import Engine
from explorer.labs import LABS


def numbers(value: Any) -> Iterator[tuple[float, float]]:
    """Each pair (before, after) of the one number in what a panel draws, one for each model that
    the change reaches."""
    if isinstance(value, list):
        for inner in value:
            yield from numbers(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name == "number":
                yield inner["before"], inner["after"]
            elif name == "accuracy":
                yield inner[0], inner[1]
            else:
                yield from numbers(inner)


@pytest.mark.parametrize(
    ("lab", "key"),
    [pytest.param(lab, key, id=f"{lab.slug}-{key}") for lab in LABS for key in lab.interventions],
)
def test_an_intervention_changes_its_number(lab: OpenLab, key: str, engine: Engine) -> None:
    async def drawn(query: str) -> Any:
        assert lab.stored is not None
        return await lab.stored(engine, query)

    values = asyncio.run(drawn(lab.interventions[key]))
    assert values is not None, "the change is refused"
    bar, panel = values["ask"], values["change"]
    assert panel["state"] == "done", panel
    found = list(numbers(panel))
    assert found
    assert any(before != after for before, after in found), found
    assert {value["query"] for value in values.values() if value and "query" in value} == {
        lab.interventions[key]
    }
    assert bar["plain"] == panel["plain"] and len(bar["plain"]) < len(bar["query"])
    for said in (bar["changes"], panel["sentence"]):
        assert said["en"] and said["zh"] and "{" not in said["en"] + said["zh"]
    views = [name for name, value in values.items() if value and "same" in value]
    plain = asyncio.run(drawn(bar["plain"]))
    assert bar.get("warning") in (None, plain["ask"].get("warning")), (
        "a change is no fault of the input"
    )
    assert all(values[name]["same"] == plain[name]["same"] for name in views), (
        "a lock stays under a change"
    )
