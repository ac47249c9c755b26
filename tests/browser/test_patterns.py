"""The patterns widget in a real browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from explorer.lab import Lab
from explorer.widgets.patterns import patterns
from tests.browser import trial

TRAINED = {"side": 28, "stride": 28, "summary": 4}


def page_of(lab: Lab, engine: object) -> None:
    """The widget alone."""
    patterns(trained=TRAINED)


def serve(port: int) -> None:
    """The site with the trial page."""
    trial.serve(port, {"trial": page_of}, year=2019)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of that server."""
    yield from trial.served(__file__)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
