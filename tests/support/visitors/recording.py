"""The requests of a page to the server, recorded from a real browser: opening it, opening it again,
one of its examples, a typed sentence.

The browser speaks to a relay that records every request byte for byte and hands it on, so caches
and connections are as they are. A recording is made anew for each benchmark, in seconds, and
follows the page as it is. Playing it again changes three things: the host, the identity of the
visitor (the session that Gradio's script draws for each open page) and, where a sentence was typed,
the sentence.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any
from urllib.parse import quote_plus, urlsplit

from playwright.sync_api import BrowserContext, Page

from benchmarks.sizes import is_smallest
from tests.support.visitors.browser import PATIENCE, fresh
from tests.support.visitors.wire import written

QUIET = 700  # milliseconds without a request, after which a page has sent everything
SENTENCE = "A tall woman in a yellow coat is waiting for the bus near the old station."
LINK = f"v=1&sentence={quote_plus(SENTENCE)}&alpha=1.5"
HOST, SESSION = "the.host", "thesession"  # stand for those of the visitor who plays a recording


@dataclass(frozen=True)
class Call:
    """One request: method, path with its query, headers in the browser's order without
    content-length, body."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None = None

    @property
    def streams(self) -> bool:
        """Whether it is answered event by event."""
        return any(
            name.lower() == "accept" and value == "text/event-stream"
            for name, value in self.headers
        )

    @property
    def detail(self) -> Any:
        """The detail of an event of the page, as JSON; None for a call without one."""
        return None if self.body is None else json.loads(self.body).get("event_data")

    def bytes(
        self,
        host: str,
        session: str,
        detail: object = None,
        etag: str | None = None,
        raw: bytes | None = None,
        event: int | None = None,
    ) -> bytes:
        """Return the call as it goes over the wire for a visitor of that session.

        detail: the event's detail in place of the recorded one.
        etag: that of the visitor's copy of this path, in place of the recorded one, which differs
            from host to host.
        raw: the body, unchanged.
        event: the number of another event.
        """
        path = self.path.replace(SESSION, session)
        headers = [
            (
                name,
                (
                    etag
                    if etag is not None and name.lower() == "if-none-match"
                    else value.replace(HOST, host)
                ),
            )
            for name, value in self.headers
        ]
        body = self.body if raw is None else raw
        if raw is None and body is not None and b'"session_hash"' in body:
            changed = {"session_hash": session, "event_data": detail, "fn_index": event}
            whole = json.loads(body) | {
                name: value for name, value in changed.items() if value is not None
            }
            text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
            body = re.sub("[\ud800-\udfff]", _escaped, text).encode()
        return written(self.method, path, headers, body)


@dataclass(frozen=True)
class Recording:
    """The calls of one page, in the order in which a browser made them."""

    example: str  # the sentence of the example that was clicked
    opening: tuple[Call, ...]  # by a new browser
    again: tuple[Call, ...]  # by a browser with a cache
    stored: tuple[Call, ...]  # a click on the example
    own: tuple[Call, ...]  # the typed sentence, SENTENCE
    linked: tuple[Call, ...]  # the page's requests for a link with a sentence of its own

    def carrying(self, cookie: str) -> Recording:
        """Return the same recording, by a browser with a cookie, "name=value"."""
        calls: dict[str, Any] = {
            one.name: tuple(
                replace(call, headers=(*call.headers, ("cookie", cookie)))
                for call in getattr(self, one.name)
            )
            for one in fields(self)
            if one.name != "example"
        }
        return replace(self, **calls)


def recorded(url: str) -> Recording:
    """Return the recording of `record`. At the smallest size a browser visits each running app
    once, for all benchmarks of a process."""
    return _recorded(url) if is_smallest() else record(url)


def record(url: str, path: str = "/translation", example: int = 2) -> Recording:
    """Open the page in Chromium, open it again, run a sentence, click its example (counted from 1),
    and follow a link.

    url: that of the running site, without a slash at its end.
    Raise Playwright's errors where the page does not behave as it should.
    """
    with _Relay(url) as relay, fresh() as browser:
        context = browser.new_context(locale="en-US", reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)

        def calls(
            page: Page, act: Callable[[], object], until: Callable[[Call], bool] = lambda call: True
        ) -> tuple[Call, ...]:
            first = len(relay.calls)
            act()
            before, patience = -1, PATIENCE / 1000 + time.monotonic()
            while not any(map(until, relay.calls[first:])):
                if time.monotonic() > patience:
                    raise TimeoutError(
                        f"the page did not ask within {PATIENCE // 1000} s:"
                        f" {[call.path for call in relay.calls[first:]]}"
                    )
                page.wait_for_timeout(QUIET / 10)
            while before != (before := len(relay.calls)):
                page.wait_for_timeout(QUIET)
            # sent by a page that waits long
            return tuple(call for call in relay.calls[first:] if not call.path.endswith("/app_id"))

        page, opening = _open(context, relay.url + path, calls)
        page.close()
        page, again = _open(context, relay.url + path, calls)
        page.locator(".tfe-ask-story").fill(SENTENCE)
        own = calls(page, page.locator(".tfe-ask-go").click, until=lambda call: call.streams)
        # once the answer is there, the address names the request
        page.wait_for_url("**/*sentence=*")
        button = page.locator(".tfe-ask-example").nth(example - 1)
        stored = calls(page, button.click)
        shown = page.locator(".tfe-ask-story").input_value()
        page.close()
        page = context.new_page()
        linked = calls(
            page, lambda: page.goto(f"{relay.url}{path}?{LINK}"), until=lambda call: call.streams
        )
    asked = next(place for place, call in enumerate(linked) if call.method == "POST")
    return Recording(shown, opening, again, stored, own, linked[asked:])


_recorded = cache(record)


def asking(event: int) -> Recording:
    """Return the requests of a page, without a browser.

    event: its number.
    """
    body = {
        "data": [],
        "event_data": {"query": "", "set": {}},
        "fn_index": event,
        "session_hash": SESSION,
        "trigger_id": None,
    }
    kinds = [(("content-type", "application/json"),), (("accept", "text/event-stream"),)]
    join, hear = ((("host", HOST), *kind) for kind in kinds)
    calls = (
        Call("POST", "/gradio_api/queue/join", join, json.dumps(body).encode()),
        Call("GET", f"/gradio_api/queue/data?session_hash={SESSION}", hear),
    )
    return Recording("", (), (), (), calls, ())


def events_of(address: str) -> dict[str, int]:
    """Return the number of each event of a page. Of several with one name it is the one that draws
    most: "ask" draws the request of the address or of a visitor."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        address, timeout=60
    ) as answer:
        found = re.search(r"window\.gradio_config = (\{.*?\});</script>", answer.read().decode())
    if found is None:
        raise ValueError(f"{address} is no page of the app")
    events = json.loads(found[1])["dependencies"]
    return {
        name: int(one["id"])
        for one in sorted(events, key=lambda one: len(one["outputs"]))
        for _, name in one["targets"]
    }


def _open(
    context: BrowserContext, address: str, calls: Callable[..., tuple[Call, ...]]
) -> tuple[Page, tuple[Call, ...]]:
    page = context.new_page()

    def arrive() -> None:
        page.goto(address)
        page.locator(".tfe-ask-example").first.wait_for()
        # a visitor scrolls down to figures drawn by a script that a browser then keeps
        page.mouse.wheel(0, 2000)
        page.locator("[data-plot=stands]").first.wait_for()

    return page, calls(page, arrive)


def _escaped(half: re.Match[str]) -> str:
    """Return half a surrogate pair as JSON.stringify writes it."""
    return f"\\u{ord(half[0]):04x}"


class _Relay:
    """A relay that hands on the messages of a browser and the server, and records the browser's
    requests."""

    def __init__(self, url: str) -> None:
        site = urlsplit(url)
        self._host, self._port = str(site.hostname), int(site.port or 80)
        self.calls: list[Call] = []
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._listening = threading.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

    def __enter__(self) -> _Relay:
        self._thread.start()
        self._listening.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._visitor, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._listening.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def _visitor(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back_reader, back_writer = await asyncio.open_connection(self._host, self._port)
            answers = asyncio.create_task(_copy(back_reader, writer))
            try:
                while True:
                    call = await _read(reader)
                    self.calls.append(self._anonymous(call))
                    host = f"{self._host}:{self._port}"
                    headers = [
                        (name, value.replace(self.url.partition("//")[2], host))
                        for name, value in call.headers
                    ]
                    back_writer.write(written(call.method, call.path, headers, call.body))
            finally:
                answers.cancel()
                back_writer.close()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _anonymous(self, call: Call) -> Call:
        own = self.url.partition("//")[2]
        headers = tuple((name, value.replace(own, HOST)) for name, value in call.headers)
        found = re.search(
            r'session_hash(?:=|":")(\w+)', call.path + (call.body or b"").decode(errors="replace")
        )
        if found is None:
            return replace(call, headers=headers)
        session, body = found[1], call.body
        body = body and body.replace(session.encode(), SESSION.encode())
        return Call(call.method, call.path.replace(session, SESSION), headers, body)


async def _read(reader: asyncio.StreamReader) -> Call:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    pairs = [
        (name, value.strip()) for name, _, value in (line.partition(":") for line in lines if line)
    ]
    size = next((int(value) for name, value in pairs if name.lower() == "content-length"), None)
    body = None if size is None else await reader.readexactly(size)
    return Call(
        method,
        path,
        tuple((name, value) for name, value in pairs if name.lower() != "content-length"),
        body,
    )


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(1 << 16):
        writer.write(part)
        await writer.drain()
    writer.close()
