"""What a lab says may be changed in its model does change it: the panel of changes says one number before and after, and they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.engine import Engine
from explorer.lab import Lab
from explorer.labs import LABS


def numbers(value: Any) -> Iterator[tuple[float, float]]:
    """Each pair (before, after) of the one number in what a panel draws, one for each model that the change reaches."""
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


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """One engine for all: what several changes of a lab are compared with, it computes once."""
    made = Engine()
    yield made
    made.close(0)


@pytest.mark.parametrize(("lab", "key"), [pytest.param(lab, key, id=f"{lab.slug}-{key}") for lab in LABS for key in lab.interventions])
def test_an_intervention_changes_the_printed_number(lab: Lab, key: str, engine: Engine) -> None:
    async def drawn() -> Any:
        assert lab.stored is not None
        return await lab.stored(engine, lab.interventions[key])

    values = asyncio.run(drawn())
    assert values is not None, "the change is refused"
    panels = {name: value for name, value in values.items() if isinstance(value, dict) and value.get("state") == "done"}
    assert panels, {name: value.get("state") for name, value in values.items() if isinstance(value, dict)}
    found = list(numbers(list(panels.values())))
    assert found
    assert any(before != after for before, after in found), found
