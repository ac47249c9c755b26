"""Several web servers before the same replica: each tells the places of a queue that holds what the others ask too."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from explorer.cluster import Link
from explorer.engine import Busy, Limits, Waiting
from tests.explorer.engine.fakes import Ask, run, until
from tests.explorer.engine.test_lost import Paired

HELD = "tests.explorer.engine.lent:held"
pytestmark = pytest.mark.xdist_group("ray")


def test_a_place_and_a_refusal_count_what_all_web_servers_ask(link: Link, tmp_path: Path) -> None:
    first, second = (Paired(link, limits=Limits(queue=4, batch=1), name="several") for _ in range(2))

    async def go() -> tuple[Waiting, Busy]:
        asked = [asyncio.create_task(first.ask(HELD, Ask(str(tmp_path))))]
        await until(lambda: first.snapshot().running == 1)
        asked += [asyncio.create_task(first.ask(HELD, Ask(str(tmp_path), width))) for width in (2, 3, 4)]
        async with aclosing(second.watch(HELD, Ask(str(tmp_path), 9))) as updates:
            async for update in updates:
                if isinstance(update, Waiting) and update.of == 4:
                    break
            with pytest.raises(Busy) as refused:
                await second.ask(HELD, Ask(str(tmp_path), 10))
            (tmp_path / "go").touch()
            await asyncio.gather(*asked)
        assert isinstance(update, Waiting)
        return update, refused.value

    try:
        place, refused = run(go())  # type: ignore[misc]
    finally:
        (tmp_path / "go").touch()
        for one in (first, second):
            one.close(0.0)
    assert (place.place, place.of) == (4, 4)
    assert refused.text["en"].startswith("4 requests are waiting")
