"""The ASGI application: our own routes, Gradio's pages behind them, health, and an exit that loses no answer.

Everything heavy waits until the server listens: torch is imported and models are loaded by the labs' probes in the background.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import posixpath
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# No request of the server leaves this machine. Libraries read this when they are imported, so it comes before them.
for _name, _value in {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "GRADIO_RUN_HISTORY": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
}.items():
    os.environ.setdefault(_name, _value)

import gradio as gr  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, PlainTextResponse, Response  # noqa: E402
from starlette.routing import Route  # noqa: E402

from explorer.delivery import CHECK, IMMUTABLE, Asset, Shelf  # noqa: E402
from explorer.document import imported, rewrite  # noqa: E402
from explorer.engine import Engine, TooSlow  # noqa: E402
from explorer.figures import theme  # noqa: E402
from explorer.gate import FRAME, Gate, rules  # noqa: E402
from explorer.lab import Lab  # noqa: E402
from explorer.packing import arrays, frames  # noqa: E402
from explorer.qr import svg  # noqa: E402
from explorer.site import build, facts  # noqa: E402
from explorer.widgets import base  # noqa: E402
from models.errors import InputError  # noqa: E402

GRACE = 20  # seconds that running work gets after SIGTERM
VENDOR = ("plotly",)  # scripts of other projects, from their pip packages
NOTHING = "There is nothing at this address."

log = logging.getLogger("explorer")


@dataclass
class Readiness:
    """What /readyz tells: when each lab's probe was answered, and what went wrong where one was not."""

    began: float
    waiting: set[str]
    answered: dict[str, float] = field(default_factory=dict)  # lab -> seconds after the start
    failed: dict[str, str] = field(default_factory=dict)  # lab -> kind of error
    draining: bool = False
    listening: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ready(self) -> bool:
        """Whether visitors are served well: every probe answered, and the server not on its way out."""
        return not (self.waiting or self.failed or self.draining)

    def told(self) -> dict[str, object]:
        """The same as JSON."""
        facts = {"answered_s": self.answered, "waiting": sorted(self.waiting), "failed": self.failed}
        return {"ready": self.ready, "draining": self.draining, **facts}


class Site:
    """The whole application for some labs: `gate` is what a server runs.

    engine: who runs the models; one of its own by default. began: when the start began (time.monotonic), for the times that are told.
    """

    def __init__(self, labs: Sequence[Lab], engine: Engine | None = None, began: float | None = None) -> None:
        self.labs = tuple(labs)
        self.engine = Engine("models.device:beside_a_server") if engine is None else engine
        self.readiness = Readiness(time.monotonic() if began is None else began, {lab.slug for lab in labs if lab.probe is not None})
        self.ui = Shelf.folder(base.FOLDER, frozenset({".js", ".css"}))
        self.vendor = Shelf({f"{name}.js": base.vendor_file(name) for name in VENDOR}, effort=9)
        self.gradio_files = Shelf.folder(
            Path(gr.__file__).parent / "templates/frontend/assets", frozenset({".js", ".css", ".woff2", ".svg"})
        )
        self.sheet = Asset.of(theme.css().encode(), "text/css", effort=9)
        self.sheet_path = f"/ui/{self.sheet.etag[1:13]}/page.css"
        self.pages = facts(labs)
        self.app = Starlette(lifespan=self._life, routes=self._routes())
        self.blocks = build(labs, self.engine)
        with warnings.catch_warnings():
            # Gradio says of every app with several pages that it is not rendered on the server, also to those who ask for just that.
            warnings.filterwarnings("ignore", "SSR mode is not supported", UserWarning)
            gr.mount_gradio_app(
                self.app,
                self.blocks,
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
        self.gate = Gate(self.app, rules(list(self.pages)), self._document)

    def drain(self) -> None:
        """Stops new work; what runs gets `GRACE` seconds. Returns at once."""
        if self.readiness.draining:
            return
        self.readiness.draining = True
        self.blocks.app.stop_event.set()  # pages that stay open would otherwise hold the exit for the whole grace
        threading.Thread(target=self.engine.close, args=(GRACE,), daemon=True).start()

    # --- routes

    def _routes(self) -> list[Route]:
        return [
            Route(self.sheet_path, self._style),
            Route("/ui/{version}/{name:path}", self._files(self.ui, base.asset)),
            Route("/vendor/{version}/{name}", self._files(self.vendor, lambda name: base.vendor(name.removesuffix(".js")))),
            Route("/assets/{name:path}", self._files(self.gradio_files, lambda name: f"/assets/{name}")),
            Route("/arrays/{digest}", self._array),
            Route("/frames/{digest}", self._frame),
            Route("/qr", self._qr),
            Route("/healthz", self._health),
            Route("/readyz", self._ready),
            Route("/metrics", self._metrics),
            Route("/favicon.ico", self._icon),
        ]

    def _files(self, shelf: Shelf, address: Callable[[str], str]) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def answer(request: Request) -> Response:
            name = request.path_params["name"]
            asset = shelf.ready(name) or await asyncio.to_thread(shelf.get, name)
            if asset is None:
                return PlainTextResponse(NOTHING, 404)
            # An address of another version is answered too, for a page that was open over an update, but is not to be kept.
            return asset.answer(request, IMMUTABLE if address(name) == request.url.path else CHECK)

        return answer

    async def _style(self, request: Request) -> Response:
        return self.sheet.answer(request, IMMUTABLE)

    async def _array(self, request: Request) -> Response:
        kept = arrays().get(request.path_params["digest"])
        if kept is None:
            return PlainTextResponse("This array has left the server's memory; running the input again brings it back.", 404)
        return Response(kept, media_type="application/octet-stream", headers={"content-encoding": "gzip", "cache-control": IMMUTABLE})

    async def _frame(self, request: Request) -> Response:
        kept = frames().get(request.path_params["digest"])
        if kept is None:
            return PlainTextResponse("This view has left the server's memory; its page opens it again.", 404)
        headers = {"content-encoding": "gzip", "cache-control": IMMUTABLE, "content-security-policy": FRAME}
        return Response(kept, media_type="text/html", headers=headers)

    async def _qr(self, request: Request) -> Response:
        text = request.query_params.get("text", "")
        hosts = {request.headers.get("host"), request.headers.get("x-forwarded-host")}
        try:
            address = urlsplit(text)
        except ValueError:
            address = urlsplit("")
        if address.scheme not in {"http", "https"} or address.netloc not in hosts:
            return PlainTextResponse("A code is drawn for an address of this site.", 400)
        try:
            return Response(
                await asyncio.to_thread(svg, text), media_type="image/svg+xml", headers={"cache-control": "private, max-age=3600"}
            )
        except InputError as error:
            return PlainTextResponse(str(error), 400)

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"alive": True}, headers={"cache-control": "no-store"})

    async def _ready(self, _: Request) -> Response:
        return JSONResponse(self.readiness.told(), 200 if self.readiness.ready else 503, headers={"cache-control": "no-store"})

    async def _metrics(self, _: Request) -> Response:
        if os.environ.get("EXPLORER_METRICS") != "1":  # off by default: a public page shows nobody how busy it is
            return PlainTextResponse(NOTHING, 404)
        return JSONResponse(json.loads(json.dumps(asdict(self.engine.snapshot()), default=str)), headers={"cache-control": "no-store"})

    async def _icon(self, _: Request) -> Response:
        return Response(status_code=204, headers={"cache-control": "public, max-age=86400"})  # pages name theirs inline

    # --- life

    @contextlib.asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        preparing = asyncio.create_task(self._prepare())
        try:
            yield
        finally:
            preparing.cancel()
            await asyncio.to_thread(self.engine.close, 0.0)

    async def _prepare(self) -> None:
        """What can wait until the server listens: compressing the large scripts, importing torch, loading models, one answer of each."""
        state = self.readiness
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(state.listening.wait(), 5)
        for name in self.vendor.files:
            await asyncio.to_thread(self.vendor.get, name)
        for lab in self.labs:
            if lab.probe is not None:
                try:
                    await self._answered(lab.probe)
                except Exception as error:
                    state.failed[lab.slug] = type(error).__name__
                    log.exception("the probe of %s failed", lab.slug)
                else:
                    state.answered[lab.slug] = round(time.monotonic() - state.began, 2)
                state.waiting.discard(lab.slug)
        if state.ready:
            print(f"Ready after {time.monotonic() - state.began:.1f} s.", flush=True)

    async def _answered(self, probe: Callable[[Engine], Awaitable[object]]) -> None:
        # The first call also imports torch and reads the checkpoint; on a machine that is busy starting other things this
        # alone can outlast the deadline of a call, and the next one then finds both done.
        for attempts in (2, 1, 0):
            try:
                await probe(self.engine)
            except TooSlow:
                if not attempts:
                    raise
            else:
                return

    # --- pages

    def _document(self, path: str, document: str) -> str:
        return rewrite(document, self.pages[path], [self.sheet_path], self._imports)

    def _imports(self, address: str) -> list[str]:
        """Every script that a script of ours imports, directly or not."""
        root = base.asset("")
        found: dict[str, None] = {}
        waiting = [address.removeprefix(root)]
        while waiting:
            name = waiting.pop()
            if name in self.ui.files:
                for inner in imported(self.ui.files[name].read_text("utf-8")):
                    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), inner))
                    if root + target not in found:
                        found[root + target] = None
                        waiting.append(target)
        return list(found)


def create(labs: Sequence[Lab], engine: Engine | None = None) -> Gate:
    """The application for some labs, as uvicorn or a test runs it."""
    return Site(labs, engine).gate


def serve(labs: Sequence[Lab], host: str, port: int, began: float | None = None) -> None:
    """Serves until SIGTERM or SIGINT, then gives what runs `GRACE` seconds to be answered."""
    import uvicorn

    listener = _listener(host, port)
    whole = Site(labs, began=began)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            whole.readiness.listening.set()
            shown = "localhost" if host in {"0.0.0.0", "::", ""} else host
            after = time.monotonic() - whole.readiness.began
            print(f"Listening on http://{shown}:{listener.getsockname()[1]} after {after:.1f} s.", flush=True)

        def handle_exit(self, sig: int, frame: Any) -> None:
            whole.drain()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        whole.gate,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=30,
        ws="none",
    )
    # uvicorn sends itself the signal again once everything is answered: that is an exit like any other, not a death.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with contextlib.suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else "a port is 0 to 65535"
        raise SystemExit(f"Port {port} on {host} cannot be used: {reason}. Choose another with --port.") from None
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def main(arguments: Sequence[str] | None = None, began: float | None = None) -> None:
    """The command line of ``python app.py``. began: when the program was started, for the times that it tells."""
    environment = os.environ
    parser = argparse.ArgumentParser(prog="app.py", description="Opens the Transformer family explorer for a browser.")
    parser.add_argument("--host", default=environment.get("GRADIO_SERVER_NAME", "0.0.0.0"), help="address to listen on (default: all)")
    default = environment.get("PORT") or environment.get("GRADIO_SERVER_PORT") or "7860"
    parser.add_argument("--port", type=int, default=default, help=f"port to listen on (default: {default})")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    from explorer.labs import LABS

    serve(LABS, given.host, given.port, began)
