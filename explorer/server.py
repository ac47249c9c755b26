"""The ASGI application: our own routes, Gradio's pages behind them, health, and an exit that loses no answer.

Everything heavy waits until the server listens: torch is imported and models are loaded by the labs' probes in the background.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import os
import re
import resource
import secrets
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

OFFLINE = os.environ.get("HF_HUB_OFFLINE", "0") not in {"", "0"}  # as the operator said before the server's own word
# No request of the server leaves this machine, and what it computes itself leaves the processor to the models. Libraries read this when
# they are imported, so it comes before them.
for _name, _value in {
    "GRADIO_ANALYTICS_ENABLED": "False",
    # Gradio sums up its last 10,000 events in a table of pandas after every single one, for a dashboard that is shut here.
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": str(10**12),
    "GRADIO_ANALYTICS_MAX_EVENTS": "1",
    "GRADIO_RUN_HISTORY": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    # NumPy's threads wait for each other by spinning: beside a model that computes, a product on two of them takes twenty times as long.
    "OPENBLAS_NUM_THREADS": "1",
}.items():
    os.environ.setdefault(_name, _value)

import gradio as gr  # noqa: E402
from gradio.routes import App  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, PlainTextResponse, Response  # noqa: E402
from starlette.routing import Mount, Route  # noqa: E402

from explorer import api, gradio_files, journal, metrics, options, sound, uploads  # noqa: E402
from explorer.again import Again  # noqa: E402
from explorer.cancelled import cancel, forget, under_way  # noqa: E402
from explorer.delivery import CHECK, IMMUTABLE, Asset, Shelf  # noqa: E402
from explorer.disk import Disk  # noqa: E402
from explorer.document import rewrite  # noqa: E402
from explorer.engine import Engine  # noqa: E402
from explorer.fetched import Fetched  # noqa: E402
from explorer.figures import theme  # noqa: E402
from explorer.gate import NOTHING, Gate, rules  # noqa: E402
from explorer.hosts import believed, framing  # noqa: E402
from explorer.joining import Joined  # noqa: E402
from explorer.lab import Lab  # noqa: E402
from explorer.packing import arrays, frames  # noqa: E402
from explorer.qr import svg  # noqa: E402
from explorer.quick import Shared  # noqa: E402
from explorer.site import facts, opened  # noqa: E402
from explorer.stored import Stored, meta  # noqa: E402
from explorer.widgets import base  # noqa: E402
from models.errors import InputError  # noqa: E402

GRACE = 20.0  # seconds from SIGTERM to the exit
FAREWELL = 2.0  # the last of them: what could not be finished is handed back, and pages fetch what their answers name
CLOSED = "closed: a file cannot be read"  # what /readyz says of a lab
GRADIO = Path(gr.__file__).parent / "templates/frontend/assets"
VENDOR = ("plotly",)  # scripts of other projects, from their pip packages

log = logging.getLogger("explorer")


@dataclass
class Readiness:
    """What /readyz tells: when each lab's probe was answered, and what went wrong where one was not.

    strict: every lab must answer. Otherwise one that cannot is named, and the server stands for the others.
    """

    began: float
    waiting: set[str]
    strict: bool = False
    answered: dict[str, float] = field(default_factory=dict)  # lab -> seconds after the start
    failed: dict[str, str] = field(default_factory=dict)  # lab -> kind of error
    draining: bool = False
    listening: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ready(self) -> bool:
        """Whether visitors are served: no probe is still awaited, some lab answers, and the server is not on its way out."""
        lacking = self.failed and (self.strict or not self.answered)
        return not (self.waiting or lacking or self.draining)

    def told(self) -> dict[str, object]:
        """The same as JSON."""
        facts = {"answered_s": self.answered, "waiting": sorted(self.waiting), "failed": self.failed}
        return {"ready": self.ready, "draining": self.draining, **facts}


class Site:
    """The whole application for some labs: `gate` is what a server runs.

    engine: who runs the models; one of its own by default. began: when the start began (time.monotonic), for the times that are told.
    grace: seconds that a drain takes at most.
    """

    def __init__(self, labs: Sequence[Lab], engine: Engine | None = None, began: float | None = None, grace: float = GRACE) -> None:
        self.grace = grace
        self.process = secrets.token_hex(4)  # of several web servers one knows nothing of what another was asked
        self.engine = Engine("models.device:beside_a_server") if engine is None else engine
        labs, self.blocks = opened(labs, self.engine)
        self.labs = labs
        probed = {lab.slug for lab in labs if lab.probe is not None}
        self.readiness = Readiness(time.monotonic() if began is None else began, probed, os.environ.get("EXPLORER_READY") == "all")
        self.readiness.failed.update({lab.slug: CLOSED for lab in labs if lab.closed})
        self.vendor = Shelf({f"{name}.js": base.vendor_file(name) for name in VENDOR}, effort=9)
        self.gradio_files = Shelf.folder(GRADIO, frozenset({".js", ".css", ".woff2", ".svg"}))
        self.gradio_files.files |= gradio_files.staying(GRADIO)
        self.sheet, self.sheet_path = _sheet(theme.css(), "page")
        self.stored = Stored(labs, Disk.of_environment())
        # An open page whose server was started anew reloads where this has changed, and else goes on.
        self.blocks.app_id = int(self.stored.version or "1", 16)
        self.pages = facts(labs, {lab.slug: meta(self.stored.addresses(lab)) for lab in labs})
        self.gradio_names = self._of_gradio()
        self.gradio_sheet, self.gradio_sheet_path = _sheet(gradio_files.sheet(GRADIO, self.gradio_names), "gradio")
        self.fetched = Fetched(self.stored, Again(labs, self.engine))
        self.joined = self._join()
        self.ui = Shelf(self._scripts(), effort=9)
        from explorer import music_files  # here, for it knows the styles of the models, which are somebody's own after the command line

        self.uploads = [*uploads.routes(), *music_files.routes()]
        self.app = Starlette(lifespan=self._life, routes=self._routes())
        self.app.router.redirect_slashes = False  # every address is the one that it is
        for block in self.blocks.blocks.values():
            self.stored.hold(json.dumps(getattr(block, "value", None), default=str))
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
        # Gradio keeps here the application of its own that it would have launched.
        self.blocks.app = next(route.app for route in self.app.routes if isinstance(route, Mount) and isinstance(route.app, App))
        self.blocks.app.state_holder = Shared(self.blocks)
        paths = rules(list(self.pages), [route.path for route in self.uploads], self.blocks.fns)
        self._told: Asset | None = None  # what a script reads of the site first, once somebody has
        self.gate = Gate(self.app, paths, self._document, self._left, framing(), functools.partial(forget, self.blocks._queue))

    def drain(self, then: Callable[[], None]) -> None:
        """Answers what was taken, takes no more, hands back the rest, lets pages fetch what answers name, calls `then`. Returns at once.

        Until then the server listens on: a page whose event was taken a moment ago still comes for its answer.
        """
        self.readiness.draining = True
        self.blocks.app.stop_event.set()  # pages that stay open would otherwise hold the exit for the whole grace
        threading.Thread(target=self._drained, args=(then,), daemon=True).start()

    def _drained(self, then: Callable[[], None]) -> None:
        began, nobody = time.monotonic(), not self.gate.traffic.under_way
        taken, last = under_way(self.blocks._queue), began + max(0.0, self.grace - FAREWELL)
        while taken & under_way(self.blocks._queue) and time.monotonic() < last:
            time.sleep(0.02)  # an event may have been taken and not yet have asked the engine, which would refuse it from now on
        answered = self.engine.close(max(0.0, last - time.monotonic()))
        end = time.monotonic() + FAREWELL * 0.75
        while self.gate.traffic.under_way and time.monotonic() < end:
            time.sleep(0.02)
        if not nobody:
            time.sleep(FAREWELL / 4)
        log.info("drained", extra={"facts": {"seconds": round(time.monotonic() - began, 2), "all_answered": answered}})
        then()

    # --- routes

    def _routes(self) -> list[Route]:
        return [
            Route(self.sheet_path, self._style(self.sheet)),
            Route(self.gradio_sheet_path, self._style(self.gradio_sheet)),
            Route("/ui/{version}/{name:path}", self._files(self.ui, base.address)),
            Route("/vendor/{version}/{name}", self._files(self.vendor, lambda name: base.vendor(name.removesuffix(".js")))),
            Route("/assets/{name:path}", self._files(self.gradio_files, lambda name: f"/assets/{name}")),
            *self.fetched.routes(),
            Route("/qr", self._qr),
            Route("/config", self._config),
            *self.uploads,
            Route("/healthz", self._health),
            Route("/readyz", self._ready),
            Route("/metrics", self._metrics),
            Route("/gradio_api/app_id", self._app_id),
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

    def _style(self, sheet: Asset) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def answer(request: Request) -> Response:
            return sheet.answer(request, IMMUTABLE)

        return answer

    async def _qr(self, request: Request) -> Response:
        text = request.query_params.get("text", "")
        try:
            address = urlsplit(text)
        except ValueError:
            address = urlsplit("")
        if address.scheme not in {"http", "https"} or not believed(address.netloc, request.headers):
            return PlainTextResponse("A code is drawn for an address of this site.", 400)
        try:
            return Response(
                await asyncio.to_thread(svg, text), media_type="image/svg+xml", headers={"cache-control": "private, max-age=3600"}
            )
        except InputError as error:
            return PlainTextResponse(str(error), 400)

    async def _config(self, request: Request) -> Response:
        if self._told is None:
            self._told = await asyncio.to_thread(lambda: Asset.of(json.dumps(api.config(self.blocks)).encode(), "application/json"))
        return self._told.answer(request, "no-store")

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"alive": True}, headers={"cache-control": "no-store"})

    async def _app_id(self, _: Request) -> Response:
        told = {"app_id": self.blocks.app_id, "process": self.process}
        return JSONResponse(told, headers={"cache-control": "no-store"})

    async def _ready(self, _: Request) -> Response:
        ready = self.readiness.ready and not self.engine.away
        told = {**self.readiness.told(), "ready": ready, "cluster_away": self.engine.away, "stored": self.stored.told()}
        return JSONResponse(told, 200 if ready else 503, headers={"cache-control": "no-store"})

    async def _metrics(self, _: Request) -> Response:
        if os.environ.get("EXPLORER_METRICS") != "1":  # off by default: a public page shows nobody how busy it is
            return PlainTextResponse(NOTHING, 404)
        seen, sounds = self.engine.snapshot(), sound.sounds()
        stores = {"results": seen.store_bytes, "arrays": arrays().size, "frames": frames().size, "sounds": sounds.size + sounds.made.size}
        ready = metrics.family("explorer_ready", "gauge", "Whether every probe was answered.", [("", {}, int(self.readiness.ready))])
        text = ready + self.gate.traffic.told() + metrics.engine(seen) + metrics.held(stores) + metrics.process()
        return PlainTextResponse(text, media_type=metrics.KIND, headers={"cache-control": "no-store"})

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
        # Compressing takes a core of its own; importing torch and reading the checkpoints take another.
        compressing = [asyncio.create_task(asyncio.to_thread(self.vendor.get, name)) for name in self.vendor.files]
        for lab in self.labs:
            while lab.probe is not None and lab.slug in state.waiting:
                await self.engine.reached()
                try:
                    await lab.probe(self.engine)  # the first call also imports torch and reads the checkpoint, outside of its deadline
                except Exception as error:
                    if self.engine.away:
                        continue
                    state.failed[lab.slug] = type(error.__cause__ or error).__name__
                    log.exception("the probe of %s failed", lab.slug)
                else:
                    state.answered[lab.slug] = round(time.monotonic() - state.began, 2)
                state.waiting.discard(lab.slug)
        await asyncio.gather(*compressing)
        if state.ready:
            print(f"Ready after {time.monotonic() - state.began:.1f} s.", flush=True)
        await self.stored.prepare(self.engine)

    # --- pages

    async def _left(self, session: str, event: str | None, heard: bool) -> None:
        """A page no longer waits for an event, or for any: what it asked for ends."""
        await cancel(self.blocks._queue, session, event, heard)

    def _document(self, path: str, document: str) -> str:
        scripts = [base.address(name) for name in self.joined.needed(_named(path))]
        return rewrite(document, self.pages[path], [self.sheet_path, self.gradio_sheet_path], scripts, self.gradio_names)

    def _of_gradio(self) -> list[str]:
        """The files that Gradio's script fetches for our pages, its own styles first."""
        page = (GRADIO.parent / "index.html").read_text("utf-8")
        entry = re.findall(r'\./assets/(index-[\w-]+\.(?:css|js))"', page)
        shown = (block for block in self.blocks.blocks.values() if f"/{block.page}" in self.pages and getattr(block, "visible", True))
        kinds = {block.get_block_name() for block in shown}
        script = next((name for name in entry if name.endswith(".js")), "")
        return list(dict.fromkeys([*(name for name in entry if name != script), *gradio_files.fetched(GRADIO, script, kinds)]))

    def _join(self) -> Joined:
        blocks: dict[str, list[Any]] = {_named(path): [] for path in self.pages}
        for block in self.blocks.blocks.values():
            blocks.get(_named(block.page), []).append(block)
        sources = {name: path.read_text("utf-8") for name, path in base.files().items() if path.suffix == ".js"}
        pages = {page: base.scripts_of(of) for page, of in blocks.items()}
        return Joined(sources, base.address(""), pages, {_named(lab.path) for lab in self.labs})

    def _scripts(self) -> dict[str, Path | Callable[[], str]]:
        """What stands under /ui: scripts and styles as they are, joined ones, and what a saved page needs of each picture."""
        whole = {
            f"whole/{path}": functools.partial(self.joined.whole, "widgets/lib/board.js", path)
            for path in self.joined.modules
            if not path.startswith("widgets/")
        }
        return {**base.files(), **{name: functools.partial(str, text) for name, text in self.joined.scripts.items()}, **whole}


def _sheet(text: str, name: str) -> tuple[Asset, str]:
    """A style sheet and its address."""
    asset = Asset.of(text.encode(), "text/css", effort=9)
    return asset, f"/ui/{asset.etag[1:13]}/{name}.css"


def _named(path: str) -> str:
    """What the script of a page is called."""
    return path.strip("/").replace("/", "-") or "home"


def create(labs: Sequence[Lab], engine: Engine | None = None) -> Gate:
    """The application for some labs, as uvicorn or a test runs it."""
    return Site(labs, engine).gate


def serve(
    labs: Sequence[Lab],
    host: str,
    port: int,
    began: float | None = None,
    grace: float = GRACE,
    engine: Callable[[], Engine] | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT, then gives what runs `grace` seconds to be answered; a second signal ends it at once.

    engine: makes who runs the models, by default one of this process."""
    import uvicorn

    from explorer.connection import Connection

    listener = _listener(host, port)
    _take_connections()
    whole = Site(labs, engine and engine(), began, grace)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            whole.readiness.listening.set()
            shown = "localhost" if host in {"0.0.0.0", "::", ""} else host
            after = time.monotonic() - whole.readiness.began
            print(f"Listening on http://{shown}:{listener.getsockname()[1]} after {after:.1f} s.", flush=True)

        def handle_exit(self, sig: int, frame: Any) -> None:
            end = functools.partial(super().handle_exit, sig, frame)
            if whole.readiness.draining:
                end()
            else:
                whole.drain(end)

    config = uvicorn.Config(
        whole.gate,
        http=Connection,
        loop="asyncio",  # whether or not another is installed, which uvicorn would take
        # On a Hugging Face Space every visitor comes through its proxy, which says who it was.
        forwarded_allow_ips="*" if "SPACE_ID" in os.environ else None,
        log_level="warning",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,  # what a drain has left are connections that nobody reads from
        timeout_keep_alive=30,
        ws="none",
    )
    # uvicorn sends itself the signal again once everything is answered: that is an exit like any other, not a death.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with contextlib.suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listener])


def _take_connections() -> None:
    """As many as the system allows: a browser opens six, and a process often begins with a limit of 1,024 for all."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):  # a limit that may not be moved
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _listener(host: str, port: int) -> socket.socket:
    # Named as TCP: asyncio sends small parts of an answer at once only where the socket says so, and a kept connection waits 40 ms else.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
    given = options.read(arguments, OFFLINE)
    journal.begin()
    from explorer.labs import LABS

    labs = LABS
    if given.model:
        from explorer.labs.your_model.lab import lab

        labs = (*LABS, lab())
    serve(labs, given.host, given.port, began, engine=given.engine)
