"""What the tests of the server and of pages share."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.engine import Engine, Limits
from explorer.web.server import Site
from tests.conftest import PATIENCE, built
from tests.explorer.wishes import alone


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None

    async def bounded() -> None:
        names: Any = pyfuncitem._fixtureinfo.argnames
        await asyncio.wait_for(
            pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}), PATIENCE
        )

    alone(bounded())
    return True


@pytest.fixture(scope="module")
def shell() -> Iterator[Site]:
    """The application without a lab: everything but a model."""
    site = built(lambda: Site(()))
    yield site
    site.engine.close(0)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """One engine for all tests of a file, with the patience that a busy machine needs: what it has
    computed it remembers."""
    one = Engine(limits=Limits(deadline=300))
    yield one
    one.close(0)
