"""Visitors who come once: each opens a lab's page under a new name, has its first example drawn, and is never seen again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import urllib.request
from collections import Counter
from itertools import count, cycle, islice
from urllib.parse import urlsplit

from benchmarks.visitors.visitor import ends
from benchmarks.visitors.wire import Connections, written

TOGETHER = 8
_names = count(1)


async def guests(url: str, paths: list[str], number: int) -> Counter[str]:
    """So many visitors, over the pages in turn, some at a time; what went wrong, and how often."""
    site, errors = urlsplit(url), Counter[str]()
    events = [(await asyncio.to_thread(events_of, url + path))["ask"] for path in paths]
    waiting = islice(cycle(events), number)
    headers = [("host", site.netloc), ("content-type", "application/json"), ("accept", "text/event-stream")]

    async def work() -> None:
        connections = Connections(str(site.hostname), int(site.port or 80))
        for event in waiting:
            name = f"guest{next(_names)}"
            body = {"data": [], "event_data": {"query": ""}, "fn_index": event, "trigger_id": None, "session_hash": name}
            try:
                joined = await connections.ask(written("POST", "/gradio_api/queue/join", headers, json.dumps(body).encode()))
                said = b""
                if joined.status == 200:
                    stream = written("GET", f"/gradio_api/queue/data?session_hash={name}", headers)
                    async with contextlib.aclosing(connections.events(stream)) as told:
                        async for news in told:
                            if ends(news):
                                said = news
                                break
                if b'"success":true' not in said:
                    errors[f"status {joined.status}: {said[:80]!r}"] += 1
            except Exception as error:
                errors[f"{type(error).__name__}: {error}"[:200]] += 1
        connections.close()

    await asyncio.gather(*(work() for _ in range(TOGETHER)))
    return errors


def events_of(address: str) -> dict[str, int]:
    """The number of each event of a page, of a name the one that draws most: "ask" draws what the address names or a visitor asks for."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=60) as answer:
        found = re.search(r"window\.gradio_config = (\{.*?\});</script>", answer.read().decode())
    if found is None:
        raise ValueError(f"{address} is no page of the app")
    events = json.loads(found[1])["dependencies"]
    return {name: int(one["id"]) for one in sorted(events, key=lambda one: len(one["outputs"])) for _, name in one["targets"]}
