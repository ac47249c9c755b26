"""Six sieges of one app, one after the other, all from this machine's loopback addresses: a check
that a few attackers cannot shut others out.

Sixty senders each begin a request and never end it, half of them in its head, half in the body of a
large one, and begin again as often as the server gives them up, while a visitor sends small ones.
Eight clients open page after page, each under a host name of its own that they make up, and
sixty-four send bodies of 5 MB of brackets, while a check asks whether the app is alive. One sender
requests seven hundred translations at once, each in a session of its own, and ten visitors
elsewhere request one each. Then fifty senders request stored results without end. At last one page
requests seven hundred answers and reads none.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

import torch

from benchmarks.measure import Bound, Report, line_of, percentile
from benchmarks.sizes import size
from explorer.web.bodies import BODY
from explorer.web.events import JOIN
from tests.support.visitors.bare import flooding_bare, unread_growth_mb
from tests.support.visitors.flood import beside_a_flood, flooding
from tests.support.visitors.recording import events_of, recorded
from tests.support.visitors.served import prepared
from tests.support.visitors.small_app import LABS
from tests.support.visitors.wire import Connections, Lost, Reply, written

SENDERS, POSTS = size((60, 200), (2, 3))
CLIENTS, SECONDS = size((8, 5.0), (1, 0.2))
BRACKETS = size(64, 2)  # senders of a body that holds only structure
CALM = size(100, 3)  # checks while the server is idle
EVERY = 0.02  # seconds between two small requests, or two checks
JSON = [("content-type", "application/json")]
ADDRESS = "/gradio_api/reset"  # answered by the gate itself: the way in is measured
# (url, clients, seconds) -> answers, and any other outcomes
Attack: TypeAlias = Callable[[str, int, float], tuple[int, Counter[str]]]
HALVES = (
    b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: here\r\nx-",
    (
        b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: here\r\ncontent-type:"
        b" application/json\r\ncontent-length: 5242880\r\n\r\n{"
    ),
)


@dataclass
class Waits:
    """The seconds of each answer, and the outcomes without one.

    status: that of an answer.
    """

    status: int = 200
    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    async def take(self, connections: Connections, request: bytes) -> None:
        """Send one more request."""
        began = time.perf_counter()
        try:
            reply: Reply = await connections.ask(request)
        except (Lost, OSError) as error:
            self.refused[line_of(error)] += 1
            return
        if reply.status == self.status:
            self.seconds.append(time.perf_counter() - began)
        else:
            self.refused[f"status {reply.status}: {reply.body[:80]!r}"] += 1

    @property
    def p95_ms(self) -> float:
        """The milliseconds that 95 % of the answers do not exceed."""
        return percentile(self.seconds, 0.95) * 1000


def measure(device: torch.device) -> Report:
    """Measure one app, which chooses its device itself."""
    with prepared() as served:
        recording = recorded(served.url)
        calm = asyncio.run(_time_healthz(served.url, lambda seen: seen < CALM))
        posts = asyncio.run(half_sent(served.url))
        looks, opened = asyncio.run(made_up(served.url))
        structure, sent = asyncio.run(send_brackets(served.url))
        flood = asyncio.run(beside_a_flood(served.url, recording, flooding(served.url, recording)))
        drawn = [events_of(served.url + lab.path)["ask"] for lab in LABS]
        flooded = flooding_bare(served.url, drawn)
        bare = asyncio.run(beside_a_flood(served.url, recording, flooded, seed=9))
        unread = asyncio.run(unread_growth_mb(served))
        defects = served.defects()
    said = (
        posts.refused
        + looks.refused
        + structure.refused
        + flood.refused
        + bare.refused
        + Counter(defects)
    )
    slowest = max(percentile(one.seconds, 0.95) for one in (flood, bare))
    return Report.of(
        figures={
            "errors": (len(defects), Bound(0)),
            "refused": (posts.refused.total(), Bound(0)),
            "small_post_p95_ms": (posts.p95_ms, Bound(200)),
            "healthz_p95_ms": (looks.p95_ms, Bound(20)),
            "healthz_calm_p95_ms": calm.p95_ms,
            "structure_healthz_p95_ms": (structure.p95_ms, Bound(50)),
            "innocent_refused": ((flood.refused + bare.refused).total(), Bound(0)),
            "innocent_p95_s": (slowest, Bound(8)),
            "unread_growth_mb": (unread, Bound(20)),
        },
        notes={
            "small_post": f"{POSTS} small requests beside {SENDERS} half-sent ones",
            "healthz": (
                f"looks for {SECONDS:.0f} s beside {CLIENTS} clients who opened {opened} pages,"
                " each under a host of its own"
            ),
            "structure": f"the same beside {sent} bodies of 5 MB of brackets, {BRACKETS} at a time",
            "innocents": (
                f"beside 700 translations {percentile(flood.seconds, 0.95):.1f} s, "
                f"beside bare events without end {percentile(bare.seconds, 0.95):.1f} s"
            ),
            **{f"{count} ×": what for what, count in said.most_common(5)},
        },
    )


async def half_sent(url: str, senders: int = SENDERS, posts: int = POSTS) -> Waits:
    """Send small requests beside senders who begin theirs and never end them."""
    site, waits = urlsplit(url), Waits()
    request = written(
        "POST", ADDRESS, [("host", site.netloc), *JSON], json.dumps({"event_id": "none"}).encode()
    )
    async with _hold_requests_open(str(site.hostname), int(site.port or 80), senders):
        visitor = Connections(str(site.hostname), int(site.port or 80))
        for _ in range(posts):
            await waits.take(visitor, request)
            await asyncio.sleep(EVERY)
        visitor.close()
    return waits


@contextlib.asynccontextmanager
async def _hold_requests_open(host: str, port: int, senders: int) -> AsyncIterator[None]:
    """Keep this many senders with half a request open. The context is entered once all have sent
    their half."""
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
    """Check /healthz while clients, in a process of their own, open a page under ever new hosts;
    return how many pages they opened, too."""
    return await _looking_beside(_open, url, clients, seconds)


async def send_brackets(
    url: str, senders: int = BRACKETS, seconds: float = SECONDS
) -> tuple[Waits, int]:
    """Check /healthz while senders, in a process of their own, post 5 MB of brackets each, again
    and again; return the number of their bodies, too.

    Any outcome but a refusal of the body is recorded as an error.
    """
    return await _looking_beside(_post_brackets, url, senders, seconds)


async def _looking_beside(
    attack: Attack, url: str, clients: int, seconds: float
) -> tuple[Waits, int]:
    """Check /healthz while an attack runs in a process of its own; return the number of the
    attack's expected answers, too."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(int).result()  # the process is there
        attacking = asyncio.get_running_loop().run_in_executor(pool, attack, url, clients, seconds)
        waits = await _time_healthz(url, lambda _: not attacking.done())
        answered, failed = await attacking
    waits.refused.update(failed)
    return waits, answered


def _open(url: str, clients: int, seconds: float) -> tuple[int, Counter[str]]:
    """Let each client open the page again and again, for this many seconds, under a host that is
    new each time; return how often, and the errors."""

    def requests(number: int) -> Iterator[bytes]:
        for name in itertools.count():
            yield written(
                "GET",
                "/translation",
                [("host", f"h{number}-{name}.example"), ("accept-encoding", "br")],
            )

    return asyncio.run(_attack(url, clients, seconds, requests, 200))


def _post_brackets(url: str, senders: int, seconds: float) -> tuple[int, Counter[str]]:
    """Let each sender post an event of 5 MB of brackets, for this many seconds; return how often it
    was refused, and the other outcomes."""
    body = b'{"fn_index":0,"session_hash":"siege","data":[' + b"[]," * ((BODY - 100) // 3) + b"[]]}"
    request = written("POST", JOIN, [("host", urlsplit(url).netloc), *JSON], body)
    return asyncio.run(_attack(url, senders, seconds, lambda _: itertools.repeat(request), 422))


async def _attack(
    url: str, clients: int, seconds: float, requests: Callable[[int], Iterator[bytes]], status: int
) -> tuple[int, Counter[str]]:
    """Let each client send its requests, one after the other, for this many seconds; count the
    answers of that status, and the other outcomes."""
    site, waits, end = urlsplit(url), Waits(status), time.monotonic() + seconds

    async def client(number: int) -> None:
        connections = Connections(str(site.hostname), int(site.port or 80))
        for request in requests(number):
            if time.monotonic() > end:
                break
            await waits.take(connections, request)
        connections.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return len(waits.seconds), waits.refused


async def _time_healthz(url: str, more: Callable[[int], bool]) -> Waits:
    """Check /healthz, again and again.

    more(checks so far): whether to make another one.
    """
    site, waits = urlsplit(url), Waits()
    watcher = Connections(str(site.hostname), int(site.port or 80))
    looks = 0
    while more(looks):
        await waits.take(watcher, written("GET", "/healthz", [("host", site.netloc)]))
        looks += 1
        await asyncio.sleep(EVERY)
    watcher.close()
    return waits
