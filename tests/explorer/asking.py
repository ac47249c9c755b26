"""Asking the server: as a client without a network, exactly as written, and as a page does."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from starlette.applications import Starlette

from explorer.web.server import Site
from tests.conftest import ROOT
from tests.support.visitors.recording import events_of


def ask(
    site: Site, path: str, method: str = "GET", raised: bool = True, **settings: Any
) -> httpx.Response:
    """One request to the application, without a network. raised: what goes wrong there goes wrong
    here too."""

    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=site.gate, raise_app_exceptions=raised)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.request(method, path, **settings)

    # where a browser is driven, this thread has a running loop already
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, once()).result()


def posted(
    routes: Sequence[Any],
    path: str,
    *bodies: Any,
    headers: dict[str, str] | None = None,
    last: str = "127.0.0.1",
) -> list[httpx.Response]:
    """What these routes alone answer to bodies that arrive at the same time. last: from where the
    last of them comes."""
    app = Starlette(routes=routes)

    async def post(body: Any, address: str) -> httpx.Response:
        transport = httpx.ASGITransport(app=app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.post(path, content=body, headers=headers)

    async def together() -> list[httpx.Response]:
        return await asyncio.gather(
            *(post(body, "127.0.0.1") for body in bodies[:-1]), post(bodies[-1], last)
        )

    return asyncio.run(together())


MEASURE = """
import io, json, sys, time
from models.explaining.errors import InputError
{begin}
def memory(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name))
        .split()[1]) / 1024
data, peer = sys.stdin.buffer.read({size}), sys.stdin.buffer.read()
before, began = memory("VmRSS") - len(data) / 2**20, time.process_time()
try:
    said = {call}
except InputError as error:
    said = str(error)
more, took = memory("VmHWM") - before, time.process_time() - began
began = time.process_time()
{beside}
print(json.dumps([more, took / (time.process_time() - began), said]))
"""


def costs(
    begin: str, call: str, data: bytes, more: float, beside: str, peer: bytes, times: float
) -> None:
    """That a call in a process of its own takes less memory, MB, and fewer times the processor's
    time of what is done beside it."""
    program = [
        sys.executable,
        "-c",
        MEASURE.format(begin=begin, call=call, beside=beside, size=len(data)),
    ]
    done = subprocess.run(
        program, input=data + peer, cwd=ROOT, capture_output=True, timeout=120, check=True
    )
    megabytes, ratio, said = json.loads(done.stdout)
    assert megabytes < more and ratio < times, (megabytes, ratio, said)


def raw(
    url: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes, dict[str, str]]:
    """One request to the running server exactly as written: no client mends the path."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return (
            answer.status,
            answer.read(),
            {name.lower(): value for name, value in answer.getheaders()},
        )
    finally:
        connection.close()


def event(url: str, page: str, name: str) -> int:
    """The number under which Gradio runs the handler of an event of a page; of several of that
    name, of the one that draws most."""
    return events_of(url + page)[name]


def join(url: str, number: int, detail: object, session: str) -> str:
    """Sends an event as the page does; the name that Gradio gives it."""
    body = json.dumps(
        {
            "data": [],
            "event_data": detail,
            "fn_index": number,
            "session_hash": session,
            "trigger_id": None,
        }
    )
    status, told, _ = raw(
        url,
        "POST",
        "/gradio_api/queue/join",
        body,
        {"content-type": "application/json", "origin": url},
    )
    assert status == 200, told
    return str(json.loads(told)["event_id"])


class Stream:
    """The connection on which a page hears of its events. `messages` are all that came so far."""

    def __init__(self, url: str, session: str) -> None:
        self.messages: list[dict[str, Any]] = []
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=90)
        self._connection.request("GET", f"/gradio_api/queue/data?session_hash={session}")
        self._answer = self._connection.getresponse()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for line in self._answer:
            if line.startswith(b"data: "):
                self.messages.append(json.loads(line.removeprefix(b"data: ")))
                yield self.messages[-1]
                if self.messages[-1]["msg"] == "close_stream":
                    return  # a page closes it now; the server waits seconds for that

    def until(self, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message for which that is so."""
        for message in self:
            if true(message):
                return message
        raise AssertionError(f"it ended with {self.messages[-2:]}")

    def close(self) -> None:
        """Breaks the connection, as a closed page does."""
        self._answer.close()
        self._connection.close()
