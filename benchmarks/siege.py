"""Can a few who mean harm shut others out? Three sieges of one app, one after the other, all from this machine's loopback addresses.

Sixty senders each begin a request and never end it, half of them in its head, half in the body of a large one, and begin again as often as
they are given up: meanwhile a visitor sends small ones. Eight clients open page after page, each under a host name of its own that they
make up: meanwhile somebody asks whether the app is alive. One sender asks for seven hundred translations at once, each in a session of its
own, and ten visitors elsewhere for one each.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import torch

from benchmarks.measure import Bound, Report, line_of, percentile
from benchmarks.visitors.flood import beside_a_flood
from benchmarks.visitors.recording import record
from benchmarks.visitors.served import Served
from benchmarks.visitors.wire import Connections, Lost, Reply, written

SENDERS, POSTS = 60, 200
CLIENTS, SECONDS = 8, 5.0
CALM = 100  # looks while nobody does anything
EVERY = 0.02  # seconds between two small requests, or two looks
JSON = [("content-type", "application/json")]
ADDRESS = "/gradio_api/reset"  # answered by the gate itself: what is measured is the way in
HALVES = (
    b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: here\r\nx-",
    b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: 5242880\r\n\r\n{",
)


@dataclass
class Waits:
    """Seconds of each answer, and what came instead of one."""

    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    async def take(self, connections: Connections, request: bytes) -> None:
        """One request more."""
        began = time.perf_counter()
        try:
            reply: Reply = await connections.ask(request)
        except (Lost, OSError) as error:
            self.refused[line_of(error)] += 1
            return
        if reply.status == 200:
            self.seconds.append(time.perf_counter() - began)
        else:
            self.refused[f"status {reply.status}: {reply.body[:80]!r}"] += 1

    @property
    def p95_ms(self) -> float:
        """95 % of the answers took at most so many milliseconds."""
        return percentile(self.seconds, 0.95) * 1000


def measure(device: torch.device) -> Report:
    """One app; it chooses its device itself."""
    with Served() as served:
        served.prepare()
        recording = record(served.url)
        calm = asyncio.run(_looking(served.url, lambda seen: seen < CALM))
        posts = asyncio.run(half_sent(served.url))
        looks, opened = asyncio.run(made_up(served.url))
        flood = asyncio.run(beside_a_flood(served.url, recording))
        defects = served.defects()
    said = posts.refused + looks.refused + flood.refused + Counter(defects)
    return Report.of(
        figures={
            "errors": (len(defects), Bound(0)),
            "refused": (posts.refused.total(), Bound(0)),
            "small_post_p95_ms": (posts.p95_ms, Bound(200)),
            "healthz_p95_ms": (looks.p95_ms, Bound(20)),
            "healthz_calm_p95_ms": calm.p95_ms,
            "innocent_refused": (flood.refused.total(), Bound(0)),
            "innocent_p95_s": (percentile(flood.seconds, 0.95), Bound(8)),
        },
        notes={
            "small_post": f"{POSTS} small requests beside {SENDERS} half-sent ones",
            "healthz": f"looks for {SECONDS:.0f} s beside {CLIENTS} clients who opened {opened} pages, each under a host of its own",
            **{f"{count} ×": what for what, count in said.most_common(5)},
        },
    )


async def half_sent(url: str, senders: int = SENDERS, posts: int = POSTS) -> Waits:
    """Small requests beside senders who begin theirs and never end them."""
    site, waits = urlsplit(url), Waits()
    request = written("POST", ADDRESS, [("host", site.netloc), *JSON], json.dumps({"event_id": "none"}).encode())
    async with _idling(str(site.hostname), int(site.port or 80), senders):
        visitor = Connections(str(site.hostname), int(site.port or 80))
        for _ in range(posts):
            await waits.take(visitor, request)
            await asyncio.sleep(EVERY)
        visitor.close()
    return waits


@contextlib.asynccontextmanager
async def _idling(host: str, port: int, senders: int) -> AsyncIterator[None]:
    """So many senders who keep half a request open; entered once all have sent their half."""
    begun = asyncio.Semaphore(0)

    async def idle(half: bytes) -> None:
        while True:
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(half)
                await writer.drain()
                begun.release()
                with contextlib.suppress(ConnectionError):
                    while await reader.read(1 << 16):
                        pass
            finally:
                writer.transport.abort()

    tasks = [asyncio.create_task(idle(HALVES[place % 2])) for place in range(senders)]
    try:
        for _ in tasks:
            await begun.acquire()
        await asyncio.sleep(0.2)  # all halves have reached the server, too
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def made_up(url: str, clients: int = CLIENTS, seconds: float = SECONDS) -> tuple[Waits, int]:
    """Looks at /healthz while clients, in a process of their own, open a page under ever new hosts; and how many pages they opened."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(int).result()  # the process is there
        opening = asyncio.get_running_loop().run_in_executor(pool, _open, url, clients, seconds)
        waits = await _looking(url, lambda _: not opening.done())
        opened, failed = await opening
    waits.refused.update(failed)
    return waits, opened


def _open(url: str, clients: int, seconds: float) -> tuple[int, Counter[str]]:
    """For so long, each client opens the page again and again under a host that nobody has named before: how often, and what went wrong."""
    site, waits, end = urlsplit(url), Waits(), time.monotonic() + seconds

    async def client(number: int) -> None:
        connections = Connections(str(site.hostname), int(site.port or 80))
        names = itertools.count()
        while time.monotonic() < end:
            host = f"h{number}-{next(names)}.example"
            await waits.take(connections, written("GET", "/translation", [("host", host), ("accept-encoding", "br")]))
        connections.close()

    async def all_of_them() -> None:
        await asyncio.gather(*(client(number) for number in range(clients)))

    asyncio.run(all_of_them())
    return len(waits.seconds), waits.refused


async def _looking(url: str, more: Callable[[int], bool]) -> Waits:
    """Looks at /healthz, one after the other; more(looks so far): another one."""
    site, waits = urlsplit(url), Waits()
    watcher = Connections(str(site.hostname), int(site.port or 80))
    looks = 0
    while more(looks):
        await waits.take(watcher, written("GET", "/healthz", [("host", site.netloc)]))
        looks += 1
        await asyncio.sleep(EVERY)
    watcher.close()
    return waits
