"""A sender who requests stored results without end and reads none, and a page that never reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from benchmarks.sizes import size
from tests.support.visitors.served import Served
from tests.support.visitors.wire import Connections, Lost, written

SENDERS, UNREAD, WARM = size((50, 700, 30), (2, 5, 1))
LAB = size("reformer", "translation")  # the first: its answers are large, and its model small
VIEWS = size(("hashing", "rounds", "attention"), ("attention",))
FLOODER = "127.0.0.2"  # an address of loopback
JSON = ("content-type", "application/json")
JOIN = "/gradio_api/queue/join"
REST = size(3.0, 0.2)  # seconds in which all requests have been answered


def event(number: int, session: str, **more: object) -> bytes:
    """Return the body of an event of a page, or of a script where it has `data`."""
    body = {"data": [], "fn_index": number, "session_hash": session, **more}
    return json.dumps(body).encode()


@asynccontextmanager
async def flooding_bare(url: str, events: Sequence[int]) -> AsyncIterator[None]:
    """Send bare events, by fifty senders of one address, each again as soon as it was accepted.

    events: the numbers of the events that draw the pages of the labs.
    """
    site = urlsplit(url)

    async def send(sender: int) -> None:
        connections = Connections(str(site.hostname), int(site.port or 80), FLOODER)
        number = events[sender % len(events)]
        body = event(number, f"bare{sender}", event_data={"query": ""})
        request = written("POST", JOIN, [("host", site.netloc), JSON], body)
        while True:
            with contextlib.suppress(Lost, OSError):
                await connections.ask(request)

    tasks = [asyncio.create_task(send(sender)) for sender in range(SENDERS)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def unread_growth_mb(served: Served) -> float:
    """Return the growth of the app, in MB, while 700 answers wait on a stream that nobody reads."""
    site = urlsplit(served.url)
    known = {one["api_name"]: one for one in served.get("/config")["dependencies"]}
    number, fields = known[LAB]["id"], len(known[LAB]["inputs"]) - 1
    connections = Connections(str(site.hostname), int(site.port or 80), FLOODER)

    def asked(session: str) -> bytes:
        body = event(number, session, data=[*[None] * fields, list(VIEWS)])
        return written("POST", JOIN, [("host", site.netloc), JSON], body)

    def heard(session: str) -> bytes:
        path = f"/gradio_api/queue/data?session_hash={session}"
        return written("GET", path, [("host", site.netloc)])

    for _ in range(WARM):  # every path runs before anything counts
        await connections.ask(asked("warm"))
        async with contextlib.aclosing(connections.events(heard("warm"))) as events:
            async for said in events:
                if b'"process_completed"' in said:
                    break
    before = most = served.resident_mb
    await connections.ask(asked("unread"))
    _, writer = await asyncio.open_connection(site.hostname, site.port, limit=1)
    writer.write(heard("unread"))
    for _ in range(UNREAD):
        await connections.ask(asked("unread"))
        most = max(most, served.resident_mb)
    await asyncio.sleep(REST)
    most = max(most, served.resident_mb)
    writer.transport.abort()
    connections.close()
    return most - before
