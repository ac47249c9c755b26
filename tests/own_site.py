"""A site of three models that somebody brings along: each has its folder, and a page with an
address of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.your_model import explain as own
from models.your_model import records
from tests.bench import Served
from tests.conftest import built

KINDS = ("bert", "gpt2", "t5")
_folder = Path()


@contextmanager
def told(kind: str) -> Iterator[None]:
    """Meanwhile the model that was brought along is the one of this kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(records.NAME, str(_folder / kind))
        records.read_facts.cache_clear()
        yield
    records.read_facts.cache_clear()


def _explains(kind: str) -> Callable[[Sequence[Any]], list[Any]]:
    def explain(requests: Sequence[Any]) -> list[Any]:
        with told(kind):
            own.open_model.cache_clear()
            try:
                return own.explain(requests)
            finally:
                own.open_model.cache_clear()

    return explain


bert, gpt2, t5 = map(_explains, KINDS)


@contextmanager
def own_site(folder: Path) -> Iterator[str]:
    """The address of the site; each model stands in the folder of its kind in this one."""
    global _folder
    from explorer.labs.your_model import lab
    from explorer.page.lab import open_lab
    from explorer.web.server import Site

    _folder, labs = folder, []
    for kind in KINDS:
        with told(kind):
            slug, explain = f"your_{kind}", f"tests.own_site:{kind}"
            labs.append(open_lab(replace(lab.build_lab(), slug=slug, explain=explain)))
    site = built(lambda: Site(labs))
    served = Served(site.gate)
    site.readiness.listening.set()
    yield served.url
    served.close()
    site.engine.close(0)
