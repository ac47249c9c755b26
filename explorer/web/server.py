"""The ASGI application: our own routes, Gradio's pages behind them, health, and a lossless exit.

Everything heavy waits until the server listens: the labs' probes import torch and load models in
the background.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import os
import re
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

# Read before the server sets the variable itself.
OFFLINE = os.environ.get("HF_HUB_OFFLINE", "0") not in {"", "0"}
# No request of the server leaves this machine, and its own computing leaves the processor to the
# models. Libraries read these variables when they are imported, so they are set before that.
for _name, _value in {
    "GRADIO_ANALYTICS_ENABLED": "False",
    # Gradio sums up its last 10,000 events in a table of pandas after every single one, for a
    # dashboard that is shut here.
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": str(10**12),
    "GRADIO_ANALYTICS_MAX_EVENTS": "1",
    "GRADIO_RUN_HISTORY": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    # NumPy's threads wait for each other by spinning: beside a model that computes, a product on
    # two of them takes twenty times as long.
    "OPENBLAS_NUM_THREADS": "1",
}.items():
    os.environ.setdefault(_name, _value)

import gradio as gr  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, PlainTextResponse, Response  # noqa: E402
from starlette.routing import Route  # noqa: E402

from explorer.components import base  # noqa: E402
from explorer.contract.lab import OpenLab  # noqa: E402
from explorer.engine import Engine  # noqa: E402
from explorer.engine.disk_store import Disk  # noqa: E402
from explorer.engine.records import is_stuck  # noqa: E402
from explorer.figures import theme  # noqa: E402
from explorer.gradio_adapter import files  # noqa: E402
from explorer.gradio_adapter.document import rewrite_document  # noqa: E402
from explorer.gradio_adapter.queue_events import (  # noqa: E402
    cancel_events,
    count_unread_bytes,
    forget_page,
    get_queue,
    list_pending_events,
)
from explorer.gradio_adapter.stateless_sessions import share_state  # noqa: E402
from explorer.media import recordings, sound, uploads  # noqa: E402
from explorer.page import api  # noqa: E402
from explorer.page.drawings import drawings  # noqa: E402
from explorer.values.compressed_files import CHECK, IMMUTABLE, Asset, Shelf  # noqa: E402
from explorer.values.exact_rows import exact_row_store  # noqa: E402
from explorer.values.hosts import Proxies, write_frame_policy  # noqa: E402
from explorer.values.packing import array_store, frame_store  # noqa: E402
from explorer.web import metrics  # noqa: E402
from explorer.web.embed import EMBED, redirect_embedded  # noqa: E402
from explorer.web.gate import UNDER, Gate, build_rules  # noqa: E402
from explorer.web.not_found import NOTHING  # noqa: E402
from explorer.web.qr import serve_code  # noqa: E402
from explorer.web.readiness import Readiness  # noqa: E402
from explorer.web.recompute import Recomputation  # noqa: E402
from explorer.web.result_routes import Fetched  # noqa: E402
from explorer.web.script_bundles import Bundles  # noqa: E402
from explorer.web.site import facts, open_site  # noqa: E402
from explorer.web.stored_results import StoredResults, write_meta  # noqa: E402

GRACE = 20.0  # seconds from SIGTERM to the exit
# The last of these seconds: unfinished runs are handed back, and pages fetch the parts that their
# answers name.
FAREWELL = 2.0
CLOSED = "closed: a file cannot be read"  # the state of a lab in /readyz
GRADIO = Path(gr.__file__).parent / "templates/frontend/assets"
VENDOR = ("plotly",)  # scripts of other projects, from their pip packages

log = logging.getLogger("explorer")


class Site:
    """The whole application for some labs: `gate` is the application that a server runs.

    engine: runs the models; one of its own by default.
    began: when the start began (time.monotonic), for the times that are reported.
    grace: seconds that a drain takes at most.
    """

    def __init__(
        self,
        labs: Sequence[OpenLab],
        engine: Engine | None = None,
        began: float | None = None,
        grace: float = GRACE,
    ) -> None:
        self.grace = grace
        self.engine = (
            Engine("models.checkpoints.device:choose_server_device") if engine is None else engine
        )
        labs, self.blocks = open_site(labs, self.engine)
        self.labs = labs
        probed = {lab.slug for lab in labs if lab.probe is not None}
        self.readiness = Readiness(
            time.monotonic() if began is None else began,
            probed,
            os.environ.get("EXPLORER_READY") == "all",
        )
        self.readiness.failed.update({lab.slug: CLOSED for lab in labs if lab.is_closed})
        self.vendor = Shelf(
            {f"{name}.js": base.find_vendor_file(name) for name in VENDOR}, effort=9
        )
        self.gradio_files = Shelf.add_folder(GRADIO, frozenset({".js", ".css", ".woff2", ".svg"}))
        self.gradio_files.files |= files.list_patched_scripts(GRADIO)
        self.sheet, self.sheet_path = _make_sheet(theme.write_css(), "page")
        self.stored = StoredResults(labs, Disk.from_environment())
        # An open page whose server was started anew reloads if this has changed, and else goes on.
        self.blocks.app_id = int(self.stored.version or "1", 16)
        self.pages = facts(
            labs, {lab.slug: write_meta(self.stored.list_addresses(lab)) for lab in labs}
        )
        self.gradio_names = self._list_gradio_files()
        self.gradio_sheet, self.gradio_sheet_path = _make_sheet(
            files.join_styles(GRADIO, self.gradio_names), "gradio"
        )
        self.fetched = Fetched(self.stored, Recomputation(labs, self.engine))
        self.bundles = self._bundle_scripts()
        self.ui = Shelf(self._list_scripts(), effort=9)
        from explorer.media import (
            # Imported here, because it knows the styles of the models, which the command line may
            # replace.
            music_files,
        )

        self.uploads = [
            *uploads.routes(),
            *music_files.list_routes(),
            *recordings.list_routes(),
        ]
        self.app = Starlette(lifespan=self._run_lifespan, routes=self._list_routes())
        self.app.router.redirect_slashes = False  # because every address has exactly one form
        for block in self.blocks.blocks.values():
            self.stored.hold_named(json.dumps(getattr(block, "value", None), default=str))
        with warnings.catch_warnings():
            # Gradio warns that an app with several pages is not rendered on the server, even where
            # that was switched off.
            warnings.filterwarnings("ignore", "SSR mode is not supported", UserWarning)
            gr.mount_gradio_app(
                self.app,
                self.blocks,
                "/",
                theme=base.build_gradio_theme(),
                run_history=False,
                footer_links=[],
                show_error=False,
                ssr_mode=False,
                enable_monitoring=False,
                max_file_size=0,
                allowed_paths=[],
                blocked_paths=["/"],
            )
        share_state(self.blocks, self.app)
        taken = {number: len(function.inputs) for number, function in self.blocks.fns.items()}
        paths = build_rules(list(self.pages), [route.path for route in self.uploads], taken)
        self._told: Asset | None = None  # the configuration for scripts, made at the first request
        self.gate = Gate(
            self.app,
            paths,
            self._rewrite_document,
            self._end_events,
            write_frame_policy(),
            functools.partial(forget_page, get_queue(self.blocks)),
            Proxies.of_environment(),
        )

    def drain(self, then: Callable[[], None]) -> None:
        """Answer the runs under way, take no more, hand back the rest, then call `then`.

        Pages get the time to fetch the parts that their answers name. Returns at once. Until the
        end the server listens on: a page whose event was taken a moment ago still comes for its
        answer.
        """
        self.readiness.draining = True
        # Pages that stay open would otherwise hold the exit for the whole grace.
        self.blocks.app.stop_event.set()
        threading.Thread(target=self._drain_engine, args=(then,), daemon=True).start()

    def _drain_engine(self, then: Callable[[], None]) -> None:
        began, nobody = time.monotonic(), not self.gate.traffic.under_way
        taken, last = (
            list_pending_events(get_queue(self.blocks)),
            began + max(0.0, self.grace - FAREWELL),
        )
        while taken & list_pending_events(get_queue(self.blocks)) and time.monotonic() < last:
            # An event may have been taken and not yet have reached the engine, which would refuse
            # it from now on.
            time.sleep(0.02)
        answered = self.engine.close(max(0.0, last - time.monotonic()))
        end = time.monotonic() + FAREWELL * 0.75
        while self.gate.traffic.under_way and time.monotonic() < end:
            time.sleep(0.02)
        if not nobody:
            time.sleep(FAREWELL / 4)
        log.info(
            "drained",
            extra={
                "facts": {"seconds": round(time.monotonic() - began, 2), "all_answered": answered}
            },
        )
        then()

    # --- routes

    def _list_routes(self) -> list[Route]:
        return [
            Route(self.sheet_path, self._serve_style(self.sheet)),
            Route(self.gradio_sheet_path, self._serve_style(self.gradio_sheet)),
            Route(
                "/ui/{version}/{name:path}", self._serve_files(self.ui, base.write_script_address)
            ),
            Route(
                "/vendor/{version}/{name}",
                self._serve_files(
                    self.vendor, lambda name: base.write_vendor_address(name.removesuffix(".js"))
                ),
            ),
            Route(
                "/assets/{name:path}",
                self._serve_files(self.gradio_files, lambda name: f"/assets/{name}"),
            ),
            *self.fetched.list_routes(),
            Route("/qr", serve_code),
            Route(f"{EMBED}{{rest:path}}", redirect_embedded(self.labs)),
            Route("/config", self._serve_config),
            *self.uploads,
            Route("/healthz", self._serve_health),
            Route("/readyz", self._serve_readiness),
            Route("/metrics", self._serve_metrics),
            Route("/gradio_api/app_id", self._serve_app_id),
            Route("/favicon.ico", self._serve_icon),
            *(Route(f"{prefix}{{rest:path}}", self._answer_not_found) for prefix in UNDER),
        ]

    def _serve_files(
        self, shelf: Shelf, address: Callable[[str], str]
    ) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def answer(request: Request) -> Response:
            name = request.path_params["name"]
            asset = shelf.get_ready(name) or await asyncio.to_thread(shelf.get, name)
            if asset is None:
                return PlainTextResponse(NOTHING, 404)
            # An address of another version is answered too, for a page that was open over an
            # update, but is not to be kept.
            return asset.respond(request, IMMUTABLE if address(name) == request.url.path else CHECK)

        return answer

    def _serve_style(self, sheet: Asset) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def answer(request: Request) -> Response:
            return sheet.respond(request, IMMUTABLE)

        return answer

    async def _serve_config(self, request: Request) -> Response:
        if self._told is None:
            self._told = await asyncio.to_thread(
                lambda: Asset.compress(
                    json.dumps(api.read_client_config(self.blocks)).encode(), "application/json"
                )
            )
        return self._told.respond(request, "no-store")

    async def _serve_health(self, _: Request) -> Response:
        return JSONResponse({"alive": True}, headers={"cache-control": "no-store"})

    async def _serve_app_id(self, _: Request) -> Response:
        return JSONResponse({"app_id": self.blocks.app_id}, headers={"cache-control": "no-store"})

    async def _serve_readiness(self, _: Request) -> Response:
        stuck = self.engine.is_stuck or drawings().is_stuck
        ready = self.readiness.is_ready and not self.engine.away and not stuck
        told = {
            **self.readiness.describe(),
            "ready": ready,
            "cluster_away": self.engine.away,
            "stuck": is_stuck().text["en"] if stuck else None,
            "stored": self.stored.count_ready(),
        }
        return JSONResponse(told, 200 if ready else 503, headers={"cache-control": "no-store"})

    async def _serve_metrics(self, _: Request) -> Response:
        # Off by default: a public page shows nobody how busy it is.
        if os.environ.get("EXPLORER_METRICS") != "1":
            return PlainTextResponse(NOTHING, 404)
        seen, sounds = self.engine.snapshot(), sound.sound_store()
        stores = {
            "answers": count_unread_bytes(get_queue(self.blocks)),
            "results": seen.store_bytes,
            "arrays": array_store().size,
            "drawings": drawings().size,
            "frames": frame_store().size,
            "rows": exact_row_store().size,
            "sounds": sounds.size + sounds.made.size,
        }
        ready = metrics.write_family(
            "explorer_ready",
            "gauge",
            "Whether every probe was answered.",
            [("", {}, int(self.readiness.is_ready))],
        )
        text = (
            ready
            + self.gate.traffic.write_text()
            + metrics.describe_engine(seen)
            + metrics.describe_stores(stores)
            + metrics.describe_process()
        )
        return PlainTextResponse(
            text, media_type=metrics.KIND, headers={"cache-control": "no-store"}
        )

    async def _answer_not_found(self, _: Request) -> Response:
        return PlainTextResponse(NOTHING, 404)

    async def _serve_icon(self, _: Request) -> Response:
        # Pages have their icon inline.
        return Response(status_code=204, headers={"cache-control": "public, max-age=86400"})

    # --- life

    @contextlib.asynccontextmanager
    async def _run_lifespan(self, _: Starlette) -> AsyncIterator[None]:
        preparing = asyncio.create_task(self._prepare())
        try:
            yield
        finally:
            preparing.cancel()
            await asyncio.to_thread(self.engine.close, 0.0)

    async def _prepare(self) -> None:
        """Do what can wait until the server listens.

        Compress the large scripts, import torch, load the models, and let each answer once.
        """
        state = self.readiness
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(state.listening.wait(), 5)
        # Compressing takes a core of its own; importing torch and reading the checkpoints take
        # another.
        compressing = [
            asyncio.create_task(asyncio.to_thread(self.vendor.get, name))
            for name in self.vendor.files
        ]
        for lab in self.labs:
            while lab.probe is not None and lab.slug in state.waiting:
                await self.engine.wait_until_reachable()
                try:
                    # The first call also imports torch and reads the checkpoint, outside of its
                    # deadline.
                    await lab.probe(self.engine)
                except Exception as error:
                    if self.engine.away:
                        continue
                    state.failed[lab.slug] = type(error.__cause__ or error).__name__
                    log.exception("the probe of %s failed", lab.slug)
                else:
                    state.answered[lab.slug] = round(time.monotonic() - state.began, 2)
                state.waiting.discard(lab.slug)
        await asyncio.gather(*compressing)
        if state.is_ready:
            print(f"Ready after {time.monotonic() - state.began:.1f} s.", flush=True)
        await self.stored.prepare_all(self.engine)

    # --- pages

    async def _end_events(self, session: str, event: str | None, heard: bool) -> None:
        """End an event that a page no longer waits for, or all of them."""
        await cancel_events(get_queue(self.blocks), session, event, heard)

    def _rewrite_document(self, path: str, document: str) -> str:
        scripts = [
            base.write_script_address(name)
            for name in self.bundles.list_scripts_of(_name_page(path))
        ]
        return rewrite_document(
            document,
            self.pages[path],
            [self.sheet_path, self.gradio_sheet_path],
            scripts,
            self.gradio_names,
        )

    def _list_gradio_files(self) -> list[str]:
        """Return the files that Gradio's script fetches for our pages, its own styles first."""
        page = (GRADIO.parent / "index.html").read_text("utf-8")
        entry = re.findall(r'\./assets/(index-[\w-]+\.(?:css|js))"', page)
        shown = (
            block
            for block in self.blocks.blocks.values()
            if f"/{block.page}" in self.pages and getattr(block, "visible", True)
        )
        kinds = {block.get_block_name() for block in shown}
        script = next((name for name in entry if name.endswith(".js")), "")
        return list(
            dict.fromkeys(
                [
                    *(name for name in entry if name != script),
                    *files.list_fetched_files(GRADIO, script, kinds),
                ]
            )
        )

    def _bundle_scripts(self) -> Bundles:
        blocks: dict[str, list[Any]] = {_name_page(path): [] for path in self.pages}
        for block in self.blocks.blocks.values():
            blocks.get(_name_page(block.page), []).append(block)
        return Bundles(
            base.ROOT,
            base.read_scripts(),
            base.write_script_address(""),
            {page: base.find_scripts(of) for page, of in blocks.items()},
            {_name_page(lab.path) for lab in self.labs},
        )

    def _list_scripts(self) -> dict[str, Path | Callable[[], str]]:
        """Return the files under /ui.

        They are scripts and styles as they are, bundles with their source maps, and the script of
        each picture for a saved page.
        """
        whole = {
            f"whole/{path}": functools.partial(
                self.bundles.bundle_alone, "frontend/lib/alone.js", path
            )
            for path in self.bundles.sources
            if not path.startswith(("frontend/components/", "frontend/lib/", "frontend/inputs/"))
        }
        return {
            **base.list_frontend_files(),
            **{name: functools.partial(str, text) for name, text in self.bundles.scripts.items()},
            **whole,
        }


def _make_sheet(text: str, name: str) -> tuple[Asset, str]:
    """Return a style sheet and its address."""
    asset = Asset.compress(text.encode(), "text/css", effort=9)
    return asset, f"/ui/{asset.etag[1:13]}/{name}.css"


def _name_page(path: str) -> str:
    """Return the name of a page's script."""
    return path.strip("/").replace("/", "-") or "home"


def create_app(labs: Sequence[OpenLab], engine: Engine | None = None) -> Gate:
    """Return the application for some labs, as uvicorn or a test runs it."""
    return Site(labs, engine).gate
