"""The gate that every request passes first: which paths exist, how much may be sent, by whom, and the headers of every answer.

Deny is the default. Gradio brings routes for files of the machine, proxied addresses, uploads and monitoring that no page of ours
uses; they are not closed one by one, they are simply not on the list of what is open.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.delivery import CHECK, Asset
from explorer.document import digests

PATIENCE = 30  # seconds for a request's body to arrive
BODY = 5 << 20  # bytes of a request; a million characters of any script fit, so that the lab itself can name its limit
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
PERMISSIONS = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), midi=(), payment=(), usb=()"


@dataclass(frozen=True)
class Rules:
    """Which paths exist: the pages, other exact ones, and prefixes."""

    pages: frozenset[str]
    get: frozenset[str]
    get_under: tuple[str, ...]
    post: frozenset[str]

    def allow(self, method: str, path: str) -> bool:
        """Whether a request may pass. Paths arrive decoded, so an encoded “..” is seen as what it is."""
        if ".." in path or "\\" in path or "\0" in path or "//" in path:
            return False
        if method in {"GET", "HEAD"}:
            return path in self.pages or path in self.get or path.startswith(self.get_under)
        return method == "POST" and path in self.post


def rules(pages: Sequence[str]) -> Rules:
    """What the pages of this site ask for; everything else that Gradio offers stays shut."""
    api = "/gradio_api"
    return Rules(
        pages=frozenset(pages),
        get=frozenset({"/theme.css", "/qr", "/healthz", "/readyz", "/metrics", "/favicon.ico", f"{api}/queue/data", f"{api}/app_id"}),
        get_under=("/ui/", "/vendor/", "/arrays/", "/frames/", "/assets/"),
        post=frozenset({f"{api}/queue/join", f"{api}/cancel", f"{api}/reset"}),
    )


class Gate:
    """Outermost: paths, sizes and origins are checked here, and every answer gets its headers."""

    def __init__(self, app: ASGIApp, rules: Rules, document: Callable[[str, str], str]) -> None:
        self.app = app
        self.rules = rules
        self.document = document
        self._pages: OrderedDict[tuple[str, ...], _Page] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _plain(send, *refused)
            return
        if scope["method"] == "POST":
            try:
                body = await asyncio.wait_for(_body(receive), PATIENCE)
            except TimeoutError:
                await _plain(send, 408, f"The request took longer than {PATIENCE} seconds to arrive.")
                return
            if body is None:
                await _plain(send, 413, f"The request is larger than {BODY >> 20} MB.")
                return
            receive = _replay(body, receive)
        if scope["path"] in self.rules.pages and scope["method"] != "POST":
            await self._page(scope, receive, send, headers)
            return
        await self.app(scope, receive, _with_headers(send))

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
            return 404, "There is nothing at this address."
        if scope["method"] == "POST" and not _from_our_pages(headers):
            return 403, "Requests are answered for this site's own pages."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > BODY:
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


async def _plain(send: Send, status: int, sentence: str) -> None:
    body = sentence.encode()
    start = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": start + _headers({})})
    await send({"type": "http.response.body", "body": body})


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
