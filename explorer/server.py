"""The ASGI application: what is served and nothing else, with its headers and limits; health; draining.

A request passes the gate first. It lets through the paths that the pages need (deny is the default: Gradio has routes for files, proxies,
uploads and monitoring that no page of ours uses), bounds what may be sent, and writes the headers of every answer.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from explorer.delivery import Asset, Shelf
    from explorer.document import Facts
    from explorer.engine import Engine
    from explorer.lab import Lab

# No request of the server leaves this machine. Read by the libraries when they are imported, so set before that.
for name, value in {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "GRADIO_RUN_HISTORY": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
}.items():
    os.environ.setdefault(name, value)

GRACE = 20  # seconds that running work gets after SIGTERM
BODY = 5 << 20  # bytes of a request; a million characters of any script fit, so that the lab itself can name its limit
ADDRESS = 16 << 10  # bytes of a path with its query
VENDOR = ("plotly",)  # scripts of other projects, from their pip packages
PAGES = 32  # rewritten documents kept, one per route and host

POLICY = (
    # 'unsafe-eval': Gradio makes a Function of every gr.HTML template. 'unsafe-inline' styles: it writes style attributes.
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; media-src 'self' blob:; manifest-src 'self'; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)
CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'"
FRAME_POLICY = "sandbox allow-scripts; default-src 'none'; script-src {origin}/vendor/ 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
PERMISSIONS = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), midi=(), payment=(), usb=()"

log = logging.getLogger("explorer")


# --- the gate -------------------------------------------------------------------------------------------------------


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
        get=frozenset({"/theme.css", "/healthz", "/readyz", "/favicon.ico", "/config", f"{api}/queue/data", f"{api}/startup-events"}),
        get_under=("/ui/", "/vendor/", "/arrays/", "/frames/", "/assets/", f"{api}/heartbeat/"),
        post=frozenset({f"{api}/queue/join", f"{api}/cancel", f"{api}/reset"}),
    )


class Gate:
    """Outermost: paths, sizes and origins are checked here, and every answer gets its headers."""

    def __init__(self, app: ASGIApp, rules: Rules, document: Callable[[str, str], str]) -> None:
        self.app = app
        self.rules = rules
        self.document = document
        self._pages: OrderedDict[tuple[str, ...], str] = OrderedDict()

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
            body = await _body(receive)
            if body is None:
                await _plain(send, 413, f"The request is larger than {BODY >> 20} MB.")
                return
            receive = _replay(body, receive)
        if scope["method"] == "HEAD" and scope["path"] in self.rules.pages:
            scope = {**scope, "method": "GET"}  # Gradio answers GET alone; the server leaves the body out by itself
        key = (scope["path"], headers.get("host", ""), headers.get("x-forwarded-host", ""), headers.get("x-forwarded-proto", ""))
        if scope["method"] == "GET" and key in self._pages:
            self._pages.move_to_end(key)
            await _page(send, self._pages[key])
            return
        await self.app(scope, receive, _Answer(self, key, send))

    def keep(self, key: tuple[str, ...], document: str) -> None:
        """Remembers a page as it is sent, before its nonce is filled in."""
        self._pages[key] = document
        while len(self._pages) > PAGES:
            self._pages.popitem(last=False)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > ADDRESS:
            return 414, f"The address is longer than {ADDRESS >> 10} KB."
        if not self.rules.allow(scope["method"], scope["path"]):
            return 404, "There is nothing at this address."
        origin = headers.get("origin")
        if scope["method"] == "POST" and origin is not None:
            host = origin.partition("://")[2]
            if host not in {headers.get("host"), headers.get("x-forwarded-host")}:
                return 403, "Requests are answered for this site's own pages."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > BODY:
            return 413, f"The request is larger than {BODY >> 20} MB."
        return None


class _Answer:
    """The sending side of one request: pages are gathered and rewritten, everything else passes with its headers."""

    def __init__(self, gate: Gate, key: tuple[str, ...], send: Send) -> None:
        self.gate, self.key, self.send = gate, key, send
        self.gathered: list[bytes] | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message["headers"] if not name.startswith(b"access-control-") and name != b"server"]
            kind = next((value for name, value in kept if name == b"content-type"), b"")
            if kind.startswith(b"text/html") and message["status"] == 200 and self.key[0] in self.gate.rules.pages:
                self.gathered = []
                return
            await self.send({**message, "headers": kept + _headers(dict(kept))})
        elif message["type"] == "http.response.body" and self.gathered is not None:
            self.gathered.append(message.get("body", b""))
            if not message.get("more_body"):
                document = self.gate.document(self.key[0], b"".join(self.gathered).decode())
                self.gate.keep(self.key, document)
                await _page(self.send, document)
        else:
            await self.send(message)


def _headers(present: Mapping[bytes, bytes], policy: str = CLOSED_POLICY) -> list[tuple[bytes, bytes]]:
    wanted = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "permissions-policy": PERMISSIONS,
        "cross-origin-opener-policy": "same-origin-allow-popups",
    }
    return [(name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in present]


async def _page(send: Send, document: str) -> None:
    nonce = secrets.token_urlsafe(12)
    body = document.replace("@@nonce@@", nonce).encode()
    start = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": start + _headers({}, POLICY.format(nonce=nonce))})
    await send({"type": "http.response.body", "body": body})


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


# --- our own routes -------------------------------------------------------------------------------------------------


@dataclass
class Readiness:
    """What /readyz tells: when each lab's probe was answered, and what went wrong where one was not."""

    began: float = field(default_factory=time.monotonic)
    waiting: set[str] = field(default_factory=set)
    answered: dict[str, float] = field(default_factory=dict)  # seconds after the start
    failed: dict[str, str] = field(default_factory=dict)
    draining: bool = False
    listening: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ready(self) -> bool:
        """Whether the server takes visitors: every probe answered, and not on its way out."""
        return not (self.waiting or self.failed or self.draining)


async def prepare(labs: Sequence[Lab], engine: Engine, vendor: Shelf, state: Readiness) -> None:
    """What can wait until the server listens: compressing the large scripts, importing torch, loading models, one answer from each."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(state.listening.wait(), 5)
    for name in vendor.files:
        await asyncio.to_thread(vendor.get, name)
    for lab in labs:
        if lab.probe is not None:
            try:
                await lab.probe(engine)
            except Exception as error:
                state.failed[lab.slug] = type(error).__name__
                log.exception("the probe of %s failed", lab.slug)
            else:
                state.answered[lab.slug] = round(time.monotonic() - state.began, 2)
        state.waiting.discard(lab.slug)
    if state.ready:
        print(f"Ready after {time.monotonic() - state.began:.1f} s.", flush=True)


def create(labs: Sequence[Lab], engine: Engine | None = None) -> ASGIApp:
    """The application as uvicorn, or a test, runs it. engine: who runs the models; one of its own by default."""
    import gradio as gr
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    from explorer.delivery import CHECK, IMMUTABLE, Asset, Shelf
    from explorer.document import imported, rewrite
    from explorer.engine import Engine
    from explorer.figures import theme
    from explorer.packing import arrays, frames
    from explorer.site import build, facts
    from explorer.widgets import base

    engine = Engine() if engine is None else engine
    pages = facts(labs)
    ui = Shelf.folder(base.FOLDER, frozenset({".js", ".css"}))
    vendor = Shelf({f"{name}.js": base.vendor_file(name) for name in VENDOR}, effort=9)
    gradio_files = Shelf.folder(
        Path(gr.__file__).parent / "templates" / "frontend" / "assets", frozenset({".js", ".css", ".woff2", ".svg", ".json"})
    )
    sheet = Asset.of(theme.css().encode(), "text/css", effort=9)
    sheet_path = f"/ui/{sheet.etag[1:13]}/page.css"
    state = Readiness(waiting={lab.slug for lab in labs if lab.probe is not None})

    def shelf(files: Shelf, address: Callable[[str], str | None]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            name = request.path_params["name"]
            asset = await asyncio.to_thread(files.get, name)
            if asset is None:
                return PlainTextResponse("There is nothing at this address.", 404)
            return asset.answer(request, IMMUTABLE if address(name) in {None, request.url.path} else CHECK)

        return answer

    async def style(request: Request) -> Response:
        return sheet.answer(request, IMMUTABLE if request.url.path == sheet_path else CHECK)

    async def array(request: Request) -> Response:
        kept = arrays().get(request.path_params["digest"])
        if kept is None:
            return PlainTextResponse("This array has left the server's memory; run the input again to get it back.", 404)
        return Response(kept, media_type="application/octet-stream", headers={"content-encoding": "gzip", "cache-control": IMMUTABLE})

    async def frame(request: Request) -> Response:
        kept = frames().get(request.path_params["digest"])
        if kept is None:
            return PlainTextResponse("This view has left the server's memory; open it again from its page.", 404)
        origin = f"{request.headers.get('x-forwarded-proto', request.url.scheme)}://{request.headers.get('x-forwarded-host', request.url.netloc)}"
        headers = {"content-encoding": "gzip", "cache-control": IMMUTABLE, "content-security-policy": FRAME_POLICY.format(origin=origin)}
        return Response(kept, media_type="text/html", headers=headers)

    async def health(_: Request) -> Response:
        return JSONResponse({"alive": True}, headers={"cache-control": "no-store"})

    async def ready(_: Request) -> Response:
        told = {
            "ready": state.ready,
            "draining": state.draining,
            "answered_s": state.answered,
            "waiting": sorted(state.waiting),
            "failed": state.failed,
        }
        return JSONResponse(told, 200 if state.ready else 503, headers={"cache-control": "no-store"})

    async def icon(_: Request) -> Response:
        return Response(status_code=204, headers={"cache-control": "public, max-age=86400"})

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        preparing = asyncio.create_task(prepare(labs, engine, vendor, state))
        try:
            yield
        finally:
            preparing.cancel()

    app = Starlette(
        lifespan=life,
        routes=[
            Route(sheet_path, style),
            Route("/ui/{version}/{name:path}", shelf(ui, base.asset)),
            Route("/vendor/{version}/{name}", shelf(vendor, lambda name: base.vendor(name.removesuffix(".js")))),
            Route("/assets/{name:path}", shelf(gradio_files, lambda _: None)),
            Route("/arrays/{digest}", array),
            Route("/frames/{digest}", frame),
            Route("/healthz", health),
            Route("/readyz", ready),
            Route("/favicon.ico", icon),
        ],
    )
    site = build(labs, engine)
    gr.mount_gradio_app(
        app,
        site,
        "/",
        theme=base.gradio_theme(),
        run_history=False,
        footer_links=[],
        show_error=False,
        ssr_mode=False,
        enable_monitoring=False,
        max_file_size=0,
        allowed_paths=[],
        blocked_paths=["/"],
    )
    app.state.readiness, app.state.engine, app.state.gradio = state, engine, site.app

    def imports(address: str) -> list[str]:
        """Every script that a script of ours imports, directly or not."""
        found: dict[str, None] = {}
        waiting = [address]
        while waiting:
            at = waiting.pop()
            prefix, _, name = at.removeprefix("/ui/").partition("/")
            if name not in ui.files:
                continue
            for inner in imported(ui.files[name].read_text("utf-8")):
                resolved = os.path.normpath(f"{Path(name).parent.as_posix()}/{inner}")
                target = f"/ui/{prefix}/{resolved}"
                if target not in found:
                    found[target] = None
                    waiting.append(target)
        return list(found)

    gate = Gate(app, rules(list(pages)), lambda path, document: rewrite(document, pages[path], [sheet_path], imports))
    return gate


# --- serving --------------------------------------------------------------------------------------------------------


def serve(labs: Sequence[Lab], host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT, then gives what runs `GRACE` seconds to be answered."""
    import uvicorn

    began = time.monotonic()
    listener = _listener(host, port)
    gate = create(labs)
    inner = gate.app  # type: ignore[attr-defined]
    state: Readiness = inner.state.readiness

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            state.listening.set()
            shown = "localhost" if host in {"0.0.0.0", "::", ""} else host
            print(f"Listening on http://{shown}:{listener.getsockname()[1]} after {time.monotonic() - began:.1f} s.", flush=True)

        def handle_exit(self, sig: int, frame: Any) -> None:
            if not state.draining:
                state.draining = True
                inner.state.gradio.stop_event.set()  # open pages would otherwise hold the exit for the whole grace
                threading.Thread(target=inner.state.engine.close, args=(GRACE,), daemon=True).start()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        gate, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=GRACE, timeout_keep_alive=30, ws="none"
    )
    Server(config).run(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise SystemExit(f"Port {port} on {host} cannot be used: {error.strerror}. Another is chosen with --port.") from None
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line of ``python app.py``."""
    environment = os.environ
    parser = argparse.ArgumentParser(description="Opens the Transformer family explorer in this machine's browser's reach.")
    parser.add_argument(
        "--host", default=environment.get("GRADIO_SERVER_NAME", "0.0.0.0"), help="address to listen on (default: every one)"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=int(environment.get("PORT") or environment.get("GRADIO_SERVER_PORT") or 7860),
        help="port (default: 7860)",
    )
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    from explorer.labs import LABS

    serve(LABS, given.host, given.port)
