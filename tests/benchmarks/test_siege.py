"""The sieges in short: they find the app open, and would tell if it were shut."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from benchmarks.siege import SENDERS, half_sent, made_up, send_brackets
from explorer.labs import LABS
from tests.support.visitors.bare import flooding_bare
from tests.support.visitors.recording import asking, events_of
from tests.support.visitors.visitor import Visitor


@pytest.fixture
def shut() -> Iterator[str]:
    """A server that answers nobody well."""

    class Busy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", "0")))
            self.send_response(503)
            self.send_header("content-length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_half_sent_requests_shut_nobody_out(site: str) -> None:
    waits = asyncio.run(half_sent(site, senders=SENDERS, posts=20))
    assert not waits.refused and len(waits.seconds) == 20


def test_made_up_hosts_shut_nobody_out(site: str) -> None:
    waits, opened = asyncio.run(made_up(site, clients=2, seconds=0.3))
    assert not waits.refused and waits.seconds and opened


def test_bare_events_shut_nobody_out(site: str) -> None:
    numbers = [events_of(site + lab.path)["ask"] for lab in LABS]

    async def beside() -> list[str]:
        states = []
        async with flooding_bare(site, numbers):
            for number in numbers:
                visitor = Visitor(site, asking(number), "127.0.0.3")
                visitor.name()
                heard = await visitor.wish({"query": ""})
                bar = next(one for one in heard.values() if one and "state" in one)
                states.append(bar["state"])
                visitor.leave()
        return states

    assert set(asyncio.run(beside())) <= {"stored", "live", "remembered"}


def test_bodies_of_brackets_shut_nobody_out(site: str) -> None:
    waits, sent = asyncio.run(send_brackets(site, senders=2, seconds=0.3))
    assert not waits.refused and waits.seconds and sent


def test_a_server_that_refuses_is_told_of(shut: str) -> None:
    waits = asyncio.run(half_sent(shut, senders=2, posts=3))
    assert waits.refused.total() == 3 and not waits.seconds
