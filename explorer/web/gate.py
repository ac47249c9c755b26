"""The gate that every request passes first.

It knows which paths exist, how much may be sent and by whom, and the headers of every answer.

Deny is the default. Gradio brings routes for files of the machine, proxied addresses, uploads and
monitoring that no page of ours uses. They are not closed one by one: they are simply not on the
list of open paths.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.contract.labels import MALFORMED
from explorer.gradio_adapter.document import HOST, digest_scripts
from explorer.gradio_adapter.streams import Streams
from explorer.values.compressed_files import CHECK, Asset
from explorer.values.hosts import Proxies, find_network
from explorer.web import not_found
from explorer.web.bodies import BODY, SMALL, TOO_LARGE, TOO_MANY, Arriving, Held, Rates, Structure
from explorer.web.embed import EMBED
from explorer.web.events import CANCEL, JOIN, RESET, SESSION, read_ending, read_event
from explorer.web.headers import POLICY, add_headers, send_sentence
from explorer.web.metrics import Traffic
from explorer.web.not_found import NOTHING

LINES = 100  # lines of a request's head
DATA = "/gradio_api/queue/data"
PARSED = frozenset({JOIN, CANCEL, RESET})  # paths at which a body is read as JSON
# In a path: a number with more digits than any of ours, or than a digest.
BEYOND = re.compile(r"/\d{40}")
ADDRESS = 16 << 10  # bytes of a path with its query
UNDER = (
    *("/ui/", "/vendor/", "/stored/", "/arrays/", "/looks/", "/sound/", "/frames/", "/assets/"),
    EMBED,
)
CODES = "/qr"  # the one route that needs the name under which a visitor sees this site
# The headers that carry that name.
NAMES = frozenset(
    {b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-prefix", b"x-gradio-server"}
)

# These are logged only where something is wrong.
FILES = frozenset({"/ui", "/vendor", "/assets", "/theme.css", "/favicon.ico"})
WATCHED = frozenset(
    {"/healthz", "/readyz", "/metrics", "/gradio_api/app_id"}
)  # not logged, because monitors and waiting pages ask all the time
T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rules:
    """The paths that exist: the pages, other exact ones, and prefixes."""

    pages: frozenset[str]
    get: frozenset[str]
    get_under: tuple[str, ...]
    post: frozenset[str]
    uploads: frozenset[str]
    # Number of an event that a page may send -> how many values it takes; None allows any.
    events: Mapping[int, int] | None = None

    def allows(self, method: str, path: str) -> bool:
        """Return whether a request may pass.

        Paths arrive decoded, so an encoded “..” is recognised.
        """
        if ".." in path or "\\" in path or "\0" in path or "//" in path:
            return False
        if method in {"GET", "HEAD"}:
            return path in self.pages or path in self.get or path.startswith(self.get_under)
        return method == "POST" and (path in self.post or path in self.uploads)

    def name_route(self, path: str) -> str:
        """Return the name of a path in figures and in the log.

        It is one of few names, with nothing in it that a visitor wrote.
        """
        if any(path in exact for exact in (self.pages, self.get, self.post, self.uploads)):
            return path
        return next(
            (prefix.rstrip("/") for prefix in self.get_under if path.startswith(prefix)), "other"
        )


def build_rules(
    pages: Sequence[str], uploads: Sequence[str] = (), events: Mapping[int, int] | None = None
) -> Rules:
    """Return the rules for the requests of this site's pages; everything else of Gradio stays shut.

    uploads: the addresses of our own file readers, which refuse a file that is too large in the
    visitor's language.
    events: the numbers of Gradio's functions that pages may name, and how many values each takes;
    left out, any.
    """
    api = "/gradio_api"
    scripts = {"/config", f"{api}/info"}  # read by gradio_client before its first request
    return Rules(
        pages=frozenset(pages),
        get=frozenset(
            {
                "/theme.css",
                CODES,
                "/healthz",
                "/readyz",
                "/metrics",
                "/favicon.ico",
                DATA,
                f"{api}/app_id",
                *scripts,
            }
        ),
        get_under=UNDER,
        post=frozenset({JOIN, CANCEL, RESET}),
        uploads=frozenset(uploads),
        events=events,
    )


class Gate:
    """The outermost application.

    It checks paths, sizes and origins, adds headers to every answer, and counts and logs it.

    document: a function (path, html) that returns a page as it is to be sent.
    left: called as left(session, event, heard) for an event that a page has cancelled. The event is
    None where a page was left before it got its answers. heard: whether a stream of its answers is
    open.
    framing: the sites that may frame a page, as a directive of its policy.
    answered: called with the session of a page that has got all its answers.
    proxies: the proxies that are believed about a visitor's address.
    """

    def __init__(
        self,
        app: ASGIApp,
        rules: Rules,
        document: Callable[[str, str], str],
        left: Callable[[str, str | None, bool], Awaitable[None]] | None = None,
        framing: str = "frame-ancestors 'self'",
        answered: Callable[[str], None] = lambda _session: None,
        proxies: Proxies = Proxies(),  # noqa: B008 - frozen
    ) -> None:
        self.app = app
        self.proxies = proxies
        self.rules = rules
        self.document = document
        self.left = left
        self.traffic = Traffic()
        self._held = Held()
        self._rates = Rates()
        # One thread: a parser lets nobody else run while it works, so two at once would only keep
        # the loop waiting twice as long.
        self._parser = ThreadPoolExecutor(1, "parser")
        self._pages: dict[str, _Page] = {}
        self.framing = framing
        self._building = asyncio.Lock()
        self._streams = Streams(app, left, answered)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        sent, began = _Sent(send), time.monotonic()
        self.traffic.under_way += 1
        try:
            await self._serve(scope, receive, sent)
        except Exception:
            if not sent.status:
                await send_sentence(
                    sent, 500, "Something went wrong here; the server's log has the details."
                )
            raise
        finally:
            self.traffic.under_way -= 1
            route, method, seconds = (
                self.rules.name_route(scope["path"]),
                _find_method(scope["method"]),
                time.monotonic() - began,
            )
            self.traffic.count_answer(route, method, sent.status, sent.bytes, seconds)
            if route not in WATCHED and (route not in FILES or sent.status >= 400):
                facts = {
                    "route": route,
                    "method": method,
                    "status": sent.status,
                    "bytes": sent.bytes,
                    "seconds": round(seconds, 4),
                }
                logger.info("answered", extra={"facts": facts})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {
            key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]
        }
        scope = {**scope, "client": (self._visitor(scope), 0)}
        refused = self._find_refusal(scope, headers)
        if scope["path"] != CODES:
            scope = {
                **scope,
                "headers": [
                    (b"host", HOST.encode()),
                    *((key, value) for key, value in scope["headers"] if key not in NAMES),
                ],
            }
        if (
            refused == (404, NOTHING)
            and scope["method"] in {"GET", "HEAD"}
            and "text/html" in headers.get("accept", "")
        ):
            await send_sentence(
                send, 404, not_found.PAGE, "text/html; charset=utf-8", not_found.POLICY
            )
        elif refused is not None:
            await send_sentence(send, *refused)
        elif scope["method"] == "POST":
            await self._serve_post(scope, receive, send, headers)
        elif scope["path"] in self.rules.pages:
            await self._serve_page(scope, receive, send)
        elif scope["path"] == DATA:
            session = Request(scope).query_params.get("session_hash", "")
            if 0 < len(session) <= SESSION:
                await self._streams.serve_stream(session, scope, receive, add_headers(send))
            else:
                await send_sentence(
                    send, 422, "A stream of answers belongs to one page and names its session."
                )
        else:
            await self.app(scope, receive, add_headers(send))

    async def _serve_post(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]
    ) -> None:
        """Serve a request with a body.

        The body is read here, so that no application behind reads without a bound of size or time.
        """
        if int(headers.get("content-length", "0")) > BODY:  # an upload, which is refused unread
            await self.app(scope, receive, add_headers(send))
            return
        address, parsed = find_network(scope["client"][0]), scope["path"] in PARSED
        # A cancellation costs nothing, and frees a run.
        if scope["path"] not in {CANCEL, RESET} and (seconds := self._rates.take(address)):
            await send_sentence(send, 429, TOO_MANY, wait=math.ceil(seconds))
            return
        arriving = Arriving(self._held, address)
        try:
            body = await arriving.read_body(receive, Structure() if parsed else None)
            if isinstance(body, bytes):
                await self._pass_body_on(scope, body, receive, send, headers)
            elif body is not None:
                await send_sentence(send, *body)
        finally:
            arriving.release_place()

    async def _pass_body_on(
        self, scope: Scope, body: bytes, receive: Receive, send: Send, headers: Mapping[str, str]
    ) -> None:
        path, json_sent = (
            scope["path"],
            headers.get("content-type", "").startswith("application/json"),
        )
        if path in {CANCEL, RESET}:
            ending = await self._parse_body(body, lambda: read_ending(body, path))
            if ending is None:
                await send_sentence(send, 422, "This names no event of one of this site's pages.")
                return
            if path == CANCEL and self.left is not None:
                await self.left(ending.session, ending.event, ending.session in self._streams)
            await send_sentence(send, 200, '{"success":true}', "application/json")
        elif path == JOIN:
            event = (
                await self._parse_body(body, lambda: read_event(body, self.rules.events))
                if json_sent
                else None
            )
            if event is None:
                await send_sentence(send, 422, MALFORMED["en"])
            else:
                await self.app(
                    scope,
                    _replay_body(event.body, receive),
                    add_headers(self._streams.join_stream(event.session, send)),
                )
        else:
            await self.app(scope, _replay_body(body, receive), add_headers(send))

    async def _parse_body(self, body: bytes, parse: Callable[[], T]) -> T:
        """Return the result of `parse` for a body.

        A small body is parsed here, a larger one in a thread, so that nobody waits for it.
        """
        if len(body) <= SMALL:
            return parse()
        return await asyncio.get_running_loop().run_in_executor(self._parser, parse)

    def _visitor(self, scope: Scope) -> str:
        """Return the host that a request comes from."""
        forwarded = [
            value.decode("latin-1") for key, value in scope["headers"] if key == b"x-forwarded-for"
        ]
        return self.proxies.visitor((scope.get("client") or ("",))[0], ",".join(forwarded))

    async def _serve_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a page, which is rewritten and compressed once.

        Nothing in it depends on the visitor or on the host name.
        """
        path = scope["path"]
        async with self._building:
            page = self._pages.get(path)
            if page is None:
                # Gradio answers GET alone and sees no header of the visitor's, so that none can
                # stay in the page.
                answer = _Gathered()
                await self.app(
                    {
                        **scope,
                        "method": "GET",
                        "query_string": b"",
                        "headers": scope["headers"][:1],
                    },
                    receive,
                    answer,
                )
                if answer.status != 200:
                    await send_sentence(send, answer.status, "This page cannot be shown now.")
                    return
                document = self.document(path, answer.body.decode())
                policy = POLICY.format(
                    scripts=" ".join(digest_scripts(document)), framing=self.framing
                )
                page = _Page(Asset.compress(document.encode(), "text/html"), policy)
                self._pages[path] = page
        response = page.asset.respond(Request(scope), CHECK)
        response.headers["content-security-policy"] = page.policy
        await response(scope, receive, add_headers(send))

    def _find_refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if len(scope["headers"]) > LINES:
            return 431, f"The request's head has more than {LINES} lines."
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > ADDRESS:
            return 414, f"The address is longer than {ADDRESS >> 10} KB."
        if not self.rules.allows(scope["method"], scope["path"]) or BEYOND.search(scope["path"]):
            return 404, NOTHING
        if scope["method"] == "POST" and not _comes_from_our_pages(headers):
            return 403, "Requests are answered for this site's own pages."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or (
            int(length) > BODY and scope["path"] not in self.rules.uploads
        ):
            return 413, TOO_LARGE
        return None


def _comes_from_our_pages(headers: Mapping[str, str]) -> bool:
    """Return whether a request was made by one of our pages, or by no page at all.

    Browsers say so themselves over https and on localhost; elsewhere the origin is compared with
    the host, which a proxy may have replaced.
    """
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] in {"same-origin", "none"}
    host = headers.get("origin", "").partition("://")[2]
    return "origin" not in headers or host in {headers.get("host"), headers.get("x-forwarded-host")}


@dataclass(frozen=True)
class _Page:
    asset: Asset
    policy: str


class _Sent:
    """The sending side of a request, with a note of its status and size."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0  # stays 0 where the visitor had left
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


def _find_method(name: str) -> str:
    return name if name in {"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE"} else "other"


def _replay_body(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again
