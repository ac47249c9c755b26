"""The gate that every request passes first: which paths exist, how much may be sent, by whom, and the headers of every answer.

Deny is the default. Gradio brings routes for files of the machine, proxied addresses, uploads and monitoring that no page of ours
uses; they are not closed one by one, they are simply not on the list of what is open.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer import lost
from explorer.bodies import BODY, TOO_LARGE, Arriving, Held
from explorer.delivery import CHECK, Asset
from explorer.document import HOST, digests
from explorer.hosts import network
from explorer.metrics import Traffic
from explorer.streams import Streams

LINES = 100  # lines of a request's head
CANCEL = "/gradio_api/cancel"
RESET = "/gradio_api/reset"
JOIN = "/gradio_api/queue/join"
DATA = "/gradio_api/queue/data"
BEYOND = re.compile(r"/\d{40}")  # in a path: a number of more digits than any of ours, or than a digest has
SESSION = 64  # characters of the name that a page gives itself
FIELDS = frozenset({"data", "event_data", "fn_index", "session_hash", "trigger_id"})  # of an event
ADDRESS = 16 << 10  # bytes of a path with its query
CODES = "/qr"  # the one route that needs to know under which name a visitor sees this site
NAMES = frozenset({b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-prefix", b"x-gradio-server"})  # what tells such a name

# 'unsafe-eval': Gradio makes a Function of every gr.HTML template. Inline styles: it writes style attributes. The rest is our own host.
POLICY = (
    "default-src 'none'; script-src 'self' {scripts} 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; media-src 'self' blob:; "
    "manifest-src 'self'; base-uri 'self'; form-action 'none'; {framing}"
)
# Answers that are no pages: nothing in them may run or be framed.
CLOSED = "default-src 'none'; frame-ancestors 'none'"
# A document in a sandboxed frame: its own scripts, no origin, no requests.
FRAME = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; {framing}"
NOTHING = "There is nothing at this address."
FILES = frozenset({"/ui", "/vendor", "/assets", "/theme.css", "/favicon.ico"})  # logged only where something is wrong
WATCHED = frozenset(
    {"/healthz", "/readyz", "/metrics", "/gradio_api/app_id"}
)  # not logged: who watches the server, or a page that waits, asks all the time
PERMISSIONS = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), midi=(), payment=(), usb=()"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rules:
    """Which paths exist: the pages, other exact ones, and prefixes."""

    pages: frozenset[str]
    get: frozenset[str]
    get_under: tuple[str, ...]
    post: frozenset[str]
    uploads: frozenset[str]
    events: frozenset[int] | None = None  # what may be asked for by an event; None: anything

    def allow(self, method: str, path: str) -> bool:
        """Whether a request may pass. Paths arrive decoded, so an encoded “..” is seen as what it is."""
        if ".." in path or "\\" in path or "\0" in path or "//" in path:
            return False
        if method in {"GET", "HEAD"}:
            return path in self.pages or path in self.get or path.startswith(self.get_under)
        return method == "POST" and (path in self.post or path in self.uploads)

    def route(self, path: str) -> str:
        """What a path is called in figures and in the log: one of few names, with nothing in it that a visitor wrote."""
        if any(path in exact for exact in (self.pages, self.get, self.post, self.uploads)):
            return path
        return next((prefix.rstrip("/") for prefix in self.get_under if path.startswith(prefix)), "other")


def rules(pages: Sequence[str], uploads: Sequence[str] = (), events: Iterable[int] | None = None) -> Rules:
    """What the pages of this site ask for; everything else that Gradio offers stays shut.

    uploads: where our own pages send files to; what reads them there refuses what is too large, in the visitor's language.
    events: the numbers of Gradio's functions that they may name; left out, any.
    """
    api = "/gradio_api"
    scripts = {"/config", f"{api}/info"}  # what gradio_client reads before it asks
    return Rules(
        pages=frozenset(pages),
        get=frozenset({"/theme.css", CODES, "/healthz", "/readyz", "/metrics", "/favicon.ico", DATA, f"{api}/app_id", *scripts}),
        get_under=("/ui/", "/vendor/", "/stored/", "/arrays/", "/looks/", "/sound/", "/frames/", "/assets/"),
        post=frozenset({JOIN, CANCEL, RESET}),
        uploads=frozenset(uploads),
        events=None if events is None else frozenset(events),
    )


class Gate:
    """Outermost: paths, sizes and origins are checked here, every answer gets its headers, and is counted and logged.

    document(path, html): a page as it is to be sent. left(session, event, heard): told of an event that a page has cancelled, or, where
    the event is None, of a page that was left before it knew what it had asked for; heard: a stream of its answers is open.
    answered(session): told of a page that has heard all that it asked for.
    framing: who may frame a page, as a directive of its policy.
    """

    def __init__(
        self,
        app: ASGIApp,
        rules: Rules,
        document: Callable[[str, str], str],
        left: Callable[[str, str | None, bool], Awaitable[None]] | None = None,
        framing: str = "frame-ancestors 'self'",
        answered: Callable[[str], None] = lambda _session: None,
    ) -> None:
        self.app = app
        self.rules = rules
        self.document = document
        self.left = left
        self.traffic = Traffic()
        self._held = Held()
        self._pages: dict[str, _Page] = {}
        self.framing = framing
        self._building = asyncio.Lock()
        self._streams = Streams(app, left, answered)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        sent, began = _Sent(send), time.monotonic()
        self.traffic.under_way += 1
        try:
            await self._answer(scope, receive, sent)
        except Exception:
            if not sent.status:
                await _plain(sent, 500, "Something went wrong here; it stands in the server's log.")
            raise
        finally:
            self.traffic.under_way -= 1
            route, method, seconds = self.rules.route(scope["path"]), _method(scope["method"]), time.monotonic() - began
            self.traffic.answered(route, method, sent.status, sent.bytes, seconds)
            if route not in WATCHED and (route not in FILES or sent.status >= 400):
                facts = {"route": route, "method": method, "status": sent.status, "bytes": sent.bytes, "seconds": round(seconds, 4)}
                logger.info("answered", extra={"facts": facts})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        refused = self._refusal(scope, headers)
        if scope["path"] != CODES:
            scope = {**scope, "headers": [(b"host", HOST.encode()), *((key, value) for key, value in scope["headers"] if key not in NAMES)]}
        if refused == (404, NOTHING) and scope["method"] in {"GET", "HEAD"} and "text/html" in headers.get("accept", ""):
            await _plain(send, 404, lost.PAGE, "text/html; charset=utf-8", lost.POLICY)
        elif refused is not None:
            await _plain(send, *refused)
        elif scope["method"] == "POST":
            await self._post(scope, receive, send, headers)
        elif scope["path"] in self.rules.pages:
            await self._page(scope, receive, send)
        elif scope["path"] == DATA:
            session = Request(scope).query_params.get("session_hash", "")
            if 0 < len(session) <= SESSION:
                await self._streams.answer(session, scope, receive, _with_headers(send))
            else:
                await _plain(send, 422, "A stream of answers is that of one page, whose session it names.")
        else:
            await self.app(scope, receive, _with_headers(send))

    async def _post(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        """A request with a body: read here, so that nothing behind reads without a bound of size or time."""
        if int(headers.get("content-length", "0")) > BODY:  # an upload, which is refused unread
            await self.app(scope, receive, _with_headers(send))
            return
        arriving = Arriving(self._held, network((scope.get("client") or ("",))[0]))
        try:
            body = await arriving.read(receive)
            if isinstance(body, bytes):
                await self._received(scope, body, receive, send, headers)
            elif body is not None:
                await _plain(send, *body)
        finally:
            arriving.answered()

    async def _received(self, scope: Scope, body: bytes, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        path, json_sent = scope["path"], headers.get("content-type", "").startswith("application/json")
        if path in {CANCEL, RESET}:
            ending = _ending(body, path)
            if ending is None:
                await _plain(send, 422, "This names no event of one of this site's pages.")
                return
            if path == CANCEL and self.left is not None:
                await self.left(ending.session, ending.event, ending.session in self._streams)
            await _plain(send, 200, '{"success":true}', "application/json")
        elif path == JOIN:
            event = _event(body, self.rules.events) if json_sent else None
            if event is None:
                await _plain(send, 422, "This is no event of one of this site's pages.")
            else:
                await self.app(scope, _replay(event.body, receive), _with_headers(self._streams.joining(event.session, send)))
        else:
            await self.app(scope, _replay(body, receive), _with_headers(send))

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A page: rewritten and compressed once, since nothing in it depends on who asks, or under which name."""
        path = scope["path"]
        async with self._building:
            page = self._pages.get(path)
            if page is None:
                # Gradio answers GET alone and sees no header of the visitor's, so that none can stay in the page.
                answer = _Gathered()
                await self.app({**scope, "method": "GET", "query_string": b"", "headers": scope["headers"][:1]}, receive, answer)
                if answer.status != 200:
                    await _plain(send, answer.status, "This page cannot be shown now.")
                    return
                document = self.document(path, answer.body.decode())
                policy = POLICY.format(scripts=" ".join(digests(document)), framing=self.framing)
                page = _Page(Asset.of(document.encode(), "text/html"), policy)
                self._pages[path] = page
        response = page.asset.answer(Request(scope), CHECK)
        response.headers["content-security-policy"] = page.policy
        await response(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if len(scope["headers"]) > LINES:
            return 431, f"The request's head has more than {LINES} lines."
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > ADDRESS:
            return 414, f"The address is longer than {ADDRESS >> 10} KB."
        if not self.rules.allow(scope["method"], scope["path"]) or BEYOND.search(scope["path"]):
            return 404, NOTHING
        if scope["method"] == "POST" and not _from_our_pages(headers):
            return 403, "Requests are answered for this site's own pages."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or (int(length) > BODY and scope["path"] not in self.rules.uploads):
            return 413, TOO_LARGE
        return None


def _from_our_pages(headers: Mapping[str, str]) -> bool:
    """Whether a request was made by one of our pages, or by no page at all. Browsers say so themselves over https and on localhost;
    elsewhere the origin is compared with the host, which a proxy may have replaced."""
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] in {"same-origin", "none"}
    host = headers.get("origin", "").partition("://")[2]
    return "origin" not in headers or host in {headers.get("host"), headers.get("x-forwarded-host")}


@dataclass(frozen=True)
class _Page:
    asset: Asset
    policy: str


class _Sent:
    """The sending side of a request, with a note of what was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0  # nothing was: the visitor had left
        self.bytes = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.bytes += len(message.get("body", b""))
        await self._send(message)


class _Gathered:
    """The sending side of a request whose answer is read whole."""

    def __init__(self) -> None:
        self.status = 500
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")


def _with_headers(send: Send) -> Send:
    """Adds our headers to an answer and takes away those that would let other sites read it."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message["headers"] if not name.startswith(b"access-control-") and name != b"server"]
            message = {**message, "headers": kept + own_headers(dict(kept))}
        await send(message)

    return sending


def own_headers(present: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """The headers of every answer that are not in `present` already."""
    wanted = {
        "content-security-policy": CLOSED,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "permissions-policy": PERMISSIONS,
        "cross-origin-opener-policy": "same-origin-allow-popups",
    }
    return [(name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in present]


async def _plain(send: Send, status: int, sentence: str, kind: str = "text/plain; charset=utf-8", policy: str = CLOSED) -> None:
    body = sentence.encode()
    start = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
    start.append((b"content-security-policy", policy.encode()))
    await send({"type": "http.response.start", "status": status, "headers": start + own_headers(dict(start))})
    await send({"type": "http.response.body", "body": body})


def _method(name: str) -> str:
    return name if name in {"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE"} else "other"


@dataclass(frozen=True)
class _Ending:
    session: str
    event: str | None  # None: the page did not know it yet


def _ending(body: bytes, path: str) -> _Ending | None:
    """What a page no longer waits for; None where the body is none that Gradio's page sends to `path`."""
    told = _told(body)
    if told is None or not isinstance(told.get("event_id"), str | None):
        return None
    session, event = told.get("session_hash"), told.get("event_id")
    if path == RESET:  # nothing is left to do: whoever resets has cancelled
        return _Ending("", event)
    if type(told.get("fn_index")) is not int or "event_id" not in told or not (isinstance(session, str) and 0 < len(session) <= SESSION):
        return None
    return _Ending(session, event)


@dataclass(frozen=True)
class _Event:
    body: bytes
    session: str


def _event(body: bytes, events: frozenset[int] | None) -> _Event | None:
    """An event of the form that our pages send, its texts well-formed; None for anything else.

    Half a surrogate pair, which JSON may name and no encoding can write, would end the answer's stream in the middle.
    """
    told = _told(body)
    if told is None or not told.keys() <= FIELDS or not isinstance(told.get("data"), list):
        return None
    number, session = told.get("fn_index"), told.get("session_hash")
    if (
        type(number) is not int
        or not (events is None or number in events)
        or type(told.get("trigger_id", 0)) not in {int, type(None)}
        or not (isinstance(session, str) and 0 < len(session) <= SESSION)
    ):
        return None
    if rb"\ud" not in body.lower():
        return _Event(body, session)
    # The session's name too: what it is called here and there must be one name.
    mended = json.dumps(told, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return _Event(mended, json.loads(mended)["session_hash"])


def _told(body: bytes) -> dict[str, Any] | None:
    """The object that a body holds as JSON. A number that is not finite could be read, and an answer that repeats it not be written."""
    try:
        told = json.loads(body, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _finite(number: str) -> float:
    """ValueError for NaN, for infinity, and for what is too large for a float."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is no number of JSON")
    return value


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
