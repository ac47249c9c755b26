"""The gate that every request passes first: which paths exist, how much may be sent, by whom, and the headers of every answer.

Deny is the default. Gradio brings routes for files of the machine, proxied addresses, uploads and monitoring that no page of ours
uses; they are not closed one by one, they are simply not on the list of what is open.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer import lost
from explorer.delivery import CHECK, Asset
from explorer.document import digests
from explorer.metrics import Traffic

PATIENCE = 30  # seconds for a request's body to arrive
BODY = 5 << 20  # bytes of a request; a million characters of any script fit, so that the lab itself can name its limit
BODIES = 256 << 20  # bytes of all requests that are arriving or being answered
CANCEL = "/gradio_api/cancel"
JOIN = "/gradio_api/queue/join"
DATA = "/gradio_api/queue/data"
CLOSING = b'data: {"msg":"close_stream"'  # the last word of a page's stream of answers
SETTLED = 0.25  # seconds after which a page has heard that its stream of answers ended
SESSION = 64  # characters of the name that a page gives itself
ADDRESS = 16 << 10  # bytes of a path with its query
HOST = ("host", "x-forwarded-host", "x-forwarded-proto")  # what tells the address that a visitor sees, behind a proxy too
PAGES = 64  # rewritten documents kept, one per route and host

# 'unsafe-eval': Gradio makes a Function of every gr.HTML template. Inline styles: it writes style attributes. The rest is our own host.
POLICY = (
    "default-src 'none'; script-src 'self' {scripts} 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; media-src 'self' blob:; "
    "manifest-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)
# Answers that are no pages: nothing in them may run or be framed.
CLOSED = "default-src 'none'; frame-ancestors 'none'"
# A document in a sandboxed frame: its own scripts, no origin, no requests.
FRAME = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)
NOTHING = "There is nothing at this address."
FILES = frozenset({"/ui", "/vendor", "/assets", "/theme.css", "/favicon.ico"})  # logged only where something is wrong
WATCHED = frozenset({"/healthz", "/readyz", "/metrics"})  # not logged: whoever watches the server asks all the time
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
    return Rules(
        pages=frozenset(pages),
        get=frozenset({"/theme.css", "/qr", "/healthz", "/readyz", "/metrics", "/favicon.ico", DATA, f"{api}/app_id"}),
        get_under=("/ui/", "/vendor/", "/stored/", "/arrays/", "/looks/", "/sound/", "/frames/", "/assets/"),
        post=frozenset({JOIN, CANCEL, f"{api}/reset"}),
        uploads=frozenset(uploads),
        events=None if events is None else frozenset(events),
    )


class Gate:
    """Outermost: paths, sizes and origins are checked here, every answer gets its headers, and is counted and logged.

    document(path, html): a page as it is to be sent. left(session): told of a page that was left before it knew what it had asked for.
    """

    def __init__(
        self, app: ASGIApp, rules: Rules, document: Callable[[str, str], str], left: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        self.app = app
        self.rules = rules
        self.document = document
        self.left = left
        self.traffic = Traffic()
        self._bodies = 0  # bytes
        self._pages: OrderedDict[tuple[str, ...], _Page] = OrderedDict()
        self._ended: OrderedDict[str, float] = OrderedDict()  # session -> when its stream of answers ended, while that is news

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
        if refused == (404, NOTHING) and scope["method"] in {"GET", "HEAD"} and "text/html" in headers.get("accept", ""):
            await _plain(send, 404, lost.PAGE, "text/html; charset=utf-8", lost.POLICY)
        elif refused is not None:
            await _plain(send, *refused)
        elif scope["method"] == "POST":
            await self._post(scope, receive, send, int(headers.get("content-length", BODY)))
        elif scope["path"] in self.rules.pages:
            await self._page(scope, receive, send, headers)
        elif scope["path"] == DATA:
            await self.app(scope, receive, _with_headers(self._streaming(Request(scope).query_params.get("session_hash", ""), send)))
        else:
            await self.app(scope, receive, _with_headers(send))

    def _streaming(self, session: str, send: Send) -> Send:
        """A page's stream of answers, with a note of its end."""

        async def sending(message: Message) -> None:
            if message.get("body", b"").startswith(CLOSING):
                now = time.monotonic()
                while self._ended and next(iter(self._ended.values())) < now - SETTLED:
                    self._ended.popitem(last=False)
                self._ended[session] = now
                self._ended.move_to_end(session)
            await send(message)

        return sending

    def _joining(self, session: str, send: Send) -> Send:
        """The answer to an event, which waits while the page may not have heard that its stream has ended.

        Gradio ends the stream when nothing is under way; a page that asks at that very moment takes the old stream for an open one,
        opens none, and would wait for ever.
        """

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                await asyncio.sleep(max(0.0, self._ended.get(session, -SETTLED) + SETTLED - time.monotonic()))
            await send(message)

        return sending

    async def _post(self, scope: Scope, receive: Receive, send: Send, size: int) -> None:
        """A request with a body of `size` bytes, or at most so many: read here, so that nothing behind reads without a bound."""
        if size > BODY:  # an upload, which is refused unread
            await self.app(scope, receive, _with_headers(send))
            return
        if self._bodies + size > BODIES:
            await _plain(send, 503, "The server is receiving as much as it can hold just now: please try again in a minute.")
            return
        self._bodies += size
        try:
            try:
                body = await asyncio.wait_for(_body(receive), PATIENCE)
            except TimeoutError:
                await _plain(send, 408, f"The request took longer than {PATIENCE} seconds to arrive.")
                return
            if body is None:
                await _plain(send, 413, f"The request is larger than {BODY >> 20} MB.")
            elif scope["path"] == CANCEL and (session := _left(body)) is not None:
                if self.left is not None:
                    await self.left(session)
                await _plain(send, 200, '{"success":true}', "application/json")
            elif scope["path"] == JOIN:
                event = _event(body, self.rules.events)
                if event is None:
                    await _plain(send, 422, "This is no event of one of this site's pages.")
                else:
                    await self.app(scope, _replay(event.body, receive), _with_headers(self._joining(event.session, send)))
            else:
                await self.app(scope, _replay(body, receive), _with_headers(send))
        finally:
            self._bodies -= size

    async def _page(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        """A page: rewritten and compressed once for each host, since Gradio writes the host into it."""
        key = (scope["path"], *(headers.get(name, "") for name in HOST))
        page = self._pages.get(key)
        if page is None:
            # Gradio answers GET alone and sees only the headers that the key holds, so that a visitor's own cannot stay in the page.
            plain = [(name, value) for name, value in scope["headers"] if name.decode("latin-1") in HOST]
            answer = _Gathered()
            await self.app({**scope, "method": "GET", "query_string": b"", "headers": plain}, receive, answer)
            if answer.status != 200:
                await _plain(send, answer.status, "This page cannot be shown now.")
                return
            document = self.document(scope["path"], answer.body.decode())
            page = _Page(Asset.of(document.encode(), "text/html"), POLICY.format(scripts=" ".join(digests(document))))
            self._pages[key] = page
            while len(self._pages) > PAGES:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(key)
        response = page.asset.answer(Request(scope), CHECK)
        response.headers["content-security-policy"] = page.policy
        await response(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > ADDRESS:
            return 414, f"The address is longer than {ADDRESS >> 10} KB."
        if not self.rules.allow(scope["method"], scope["path"]):
            return 404, NOTHING
        if scope["method"] == "POST" and not _from_our_pages(headers):
            return 403, "Requests are answered for this site's own pages."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or (int(length) > BODY and scope["path"] not in self.rules.uploads):
            return 413, f"The request is larger than {BODY >> 20} MB."
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
            message = {**message, "headers": kept + _headers(dict(kept))}
        await send(message)

    return sending


def _headers(present: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
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
    await send({"type": "http.response.start", "status": status, "headers": start + _headers(dict(start))})
    await send({"type": "http.response.body", "body": body})


def _method(name: str) -> str:
    return name if name in {"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE"} else "other"


def _left(body: bytes) -> str | None:
    """The session of a page that was left while its event was on its way: Gradio's page then cancels an event that has no name yet."""
    if len(body) > 1000:
        return None
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    session = told.get("session_hash") if isinstance(told, dict) and told.get("event_id", "") is None else None
    return session if isinstance(session, str) else None


@dataclass(frozen=True)
class _Event:
    body: bytes
    session: str


def _event(body: bytes, events: frozenset[int] | None) -> _Event | None:
    """An event of the form that our pages send, its texts well-formed; None for anything else.

    Half a surrogate pair, which JSON may name and no encoding can write, would end the answer's stream in the middle. A number that is
    not finite could be read, and an answer that repeats it could not be written.
    """
    try:
        told = json.loads(body, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("data"), list):
        return None
    number, session = told.get("fn_index"), told.get("session_hash")
    if (
        type(number) is not int
        or not (events is None or number in events)
        or not (isinstance(session, str) and 0 < len(session) <= SESSION)
    ):
        return None
    if rb"\ud" not in body.lower():
        return _Event(body, session)
    # The session's name too: what it is called here and there must be one name.
    mended = json.dumps(told, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return _Event(mended, json.loads(mended)["session_hash"])


def _finite(number: str) -> float:
    """ValueError for NaN, for infinity, and for what is too large for a float."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is no number of JSON")
    return value


async def _body(receive: Receive) -> bytes | None:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
