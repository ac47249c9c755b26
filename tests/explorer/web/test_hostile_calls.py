"""Whatever a script sends to an endpoint, it is answered or refused in a sentence, and the log says
little of it."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr

import httpx
import pytest

from benchmarks.fuzz import judge_outcome
from explorer.engine import Engine, Limits
from explorer.gradio_adapter import streams
from explorer.labs import LABS
from explorer.web.events import JOIN
from explorer.web.gate import DATA
from explorer.web.log import Lines
from explorer.web.server import Site
from tests.conftest import built
from tests.explorer.asking import ask
from tests.support.visitors.scripts import read_endpoints, spell_body, write_call

CALLS, TOGETHER = 500, 8


@pytest.fixture(scope="module")
def whole() -> Iterator[Site]:
    """The application with all labs, with the patience that a busy machine needs."""
    site = built(
        lambda: Site(
            LABS, Engine("models.checkpoints.device:choose_server_device", Limits(deadline=300))
        )
    )
    yield site
    site.engine.close(0)


def test_every_endpoint_answers_or_says_why_not(
    whole: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LINGERS", 0.0)
    monkeypatch.setattr(streams, "HEARD", 0.0)
    endpoints = read_endpoints(
        ask(whole, "/config").content, ask(whole, "/gradio_api/info").content
    )
    assert {one.name for one in endpoints} == {lab.path for lab in LABS}
    outcomes: Counter[str] = Counter()
    draw = random.Random(0)
    calls = iter([(f"script{number}", write_call(endpoints, draw)) for number in range(CALLS)])

    async def send(client: httpx.AsyncClient) -> None:
        for session, (number, values) in calls:
            joined = await client.post(
                JOIN,
                content=spell_body(number, values, session),
                headers={"content-type": "application/json"},
            )
            if joined.status_code == 200:
                heard = await client.get(DATA, params={"session_hash": session})
                messages = [
                    json.loads(line.removeprefix("data: "))
                    for line in heard.text.split("\n\n")
                    if line
                ]
                last = next(one for one in messages if one["msg"] == "process_completed")
                judge_outcome(last)
                outcomes["answered" if last["success"] else "refused"] += 1
            else:
                outcomes["not taken"] += 1
                assert joined.status_code == 422 and joined.text.endswith("."), (
                    number,
                    str(values)[:200],
                )

    async def send_all() -> None:
        whole.blocks._queue.start()
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        handler.setFormatter(Lines())
        logging.getLogger().addHandler(handler)
        try:
            with redirect_stderr(log):
                async with httpx.AsyncClient(
                    transport=httpx.ASGITransport(app=whole.gate),
                    base_url="http://here",
                    timeout=300,
                ) as client:
                    await asyncio.gather(*(send(client) for _ in range(TOGETHER)))
        finally:
            logging.getLogger().removeHandler(handler)
        lines = log.getvalue().splitlines()
        assert max(map(len, lines), default=0) < 1_000 and len(log.getvalue()) < 1_000 * CALLS
        assert "Traceback" not in log.getvalue() and '"level": "error"' not in log.getvalue()

    asyncio.run(send_all())
    assert (
        outcomes.total() == CALLS
        and min(outcomes[one] for one in ("answered", "refused", "not taken")) > CALLS // 50
    )
