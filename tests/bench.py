"""Bench pages: widgets alone on a page of their own, with recorded props and values, and no Gradio
between them and the test.

A bench page is what a `gr.Blocks` page holds, written out as HTML: each `gr.HTML` is mounted by
tests/bench.js as Gradio would mount it, in its layout, its theme and our styles. Handlers of events
run in the server of the worker, which also answers our own routes (scripts, arrays, looks, sounds
…), and stream what they say to the page. It stands in a fraction of the time that a page of Gradio
takes.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
TEXT = {"en": "Trial", "zh": "试验"}
# (lab, engine): builds a page's components and wiring, as OpenLab.page does
Place = Callable[[Any, Any], None]

DOCUMENT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><script>{before}</script><title>{title}</title><base
 href="./">
<meta name="viewport" content="width=device-width, initial-scale=1, shrink-to-fit=no">
<link rel="icon" href="data:,"><link rel="stylesheet" href="{sheet}"><link
 rel="stylesheet" href="/bench/gradio.css">{preloads}
<script id="page" type="application/json">{page}</script>
</head><body style="width:100%;margin:0;padding:0;display:flex;flex-direction:column;flex-grow:1">
<gradio-app style="display:flex;flex-direction:column;flex-grow:1;
 background:var(--body-background-fill)">
<div class="gradio-container fill_width" style="min-height:initial;flex-grow:1"><div
 class="main fillable app fill_width">
<div class="wrap" style="min-height:100%"><main
 class="contain" style="flex-grow:1;margin-right:0"></main></div></div></div>
</gradio-app><script>{scheme}</script><script
 type="module" src="/bench/bench.js"></script></body></html>"""

# What Gradio's own rules say of the boxes around ours, under class names that change with its
# versions; here "on-bench" tells them from what widgets call a row or a block.
BOXES = """
.gradio-container, .gradio-container *, .gradio-container *::before,
.gradio-container *::after { box-sizing: border-box; }
.column:where(.on-bench) { display: flex; position: relative; flex-direction: column;
    gap: var(--layout-gap); }
.column:where(.on-bench) > * { width: var(--size-full); }
.row:where(.on-bench) { display: flex; flex-wrap: wrap; gap: var(--layout-gap);
    width: var(--size-full); }
.row:where(.on-bench) > * { flex: 1 1 0%; min-width: 0; }
.block:where(.on-bench) { position: relative; margin: 0; box-shadow: none; border-width: 0;
    width: 100%; line-height: var(--line-sm); }
.contain { display: flex; flex-direction: column; }
.contain > .column:where(.on-bench) { flex-grow: 1; }
"""


@dataclass
class Page:
    """A page once it is built: what a browser needs to draw it, and the handlers of its events by
    number."""

    drawn: dict[str, Any]
    handlers: dict[int, Any] = field(default_factory=dict)


class Served:
    """An application that a server of its own thread answers for, in the process of the tests."""

    def __init__(self, app: Any, **settings: Any) -> None:
        """Returns when it listens. settings: of uvicorn."""
        import uvicorn

        from tests.support.visitors.served import free_port

        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        config = uvicorn.Config(
            app,
            host="127.0.0.1",
            port=port,
            log_config=None,
            access_log=False,
            ws="none",
            **settings,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, name="served", daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
            assert self._thread.is_alive(), "the server did not start"

    def close(self) -> None:
        """Ends the server."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(10)


class Bench:
    """The bench pages of one worker."""

    def __init__(self) -> None:
        """Returns when it listens."""
        from explorer.web.server import Site
        from tests.conftest import built

        self._site = built(lambda: Site(()))
        self._places: dict[str, tuple[Sequence[Any], Any, Place]] = {}
        # the address of the guided lecture, of pages that are built from now on
        self.lecture: str | None = None
        self._pages: dict[str, Page] = {}
        self._building = asyncio.Lock()
        self._files = {
            "bench.js": ("text/javascript", (FOLDER / "bench.js").read_bytes()),
            "gradio.css": (
                "text/css",
                (_gradio_css() + self._site.blocks.theme_css + BOXES).encode(),
            ),
        }
        self._served = Served(self._answer, lifespan="off", interface="asgi3")
        self.url = self._served.url

    def put(
        self,
        name: str,
        places: Mapping[str, Place],
        year: int = 2017,
        steps: int = 5,
        family: Sequence[Any] = (),
    ) -> str:
        """Puts pages by their slugs on the bench, as those of a site with one lab for each. Returns
        what comes before "/<slug>".

        name: of the test file. A page is built when a browser first asks for it. family: labs to
        stand in the frame instead, around a page of one of their slugs as around that lab, around
        any other as around the family map.
        """
        for slug, place in places.items():
            labs = family or [
                lab_of(f"/bench/{name}/{one}", one, year, steps, places[one]) for one in places
            ]
            here = next((lab for lab in labs if lab.slug == slug), None)
            self._places[f"/bench/{name}/{slug}"] = (labs, here, place)
        return f"{self.url}/bench/{name}"

    def close(self) -> None:
        """Ends the server."""
        self._served.close()
        self._site.engine.close(0)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        from starlette.requests import Request
        from starlette.responses import HTMLResponse, Response, StreamingResponse

        path = scope["path"]
        if not path.startswith("/bench/"):
            await self._site.gate(scope, receive, send)
            return
        request = Request(scope, receive)
        name = path.removeprefix("/bench/")
        page, _, number = path.partition("/queue/join/")
        response: Response = Response("no such bench page", 404)
        if name in self._files:
            kind, data = self._files[name]
            response = Response(data, media_type=kind, headers={"cache-control": "max-age=3600"})
        elif path in self._places:
            response = HTMLResponse(await self._document(path))
        elif page in self._pages:
            fn = self._pages[page].handlers[int(number)]
            response = StreamingResponse(
                _said(fn, await request.json(), request), media_type="application/x-ndjson"
            )
        await response(scope, receive, send)

    async def _document(self, path: str) -> str:
        from explorer.components.base import write_script_address
        from explorer.gradio_adapter.document import BEFORE, write_scheme_script

        async with self._building:  # Gradio builds one page at a time
            if path not in self._pages:
                self._pages[path] = await asyncio.to_thread(asyncio.run, self._built(path))
        drawn = json.dumps(self._pages[path].drawn, default=_plain).replace("<", "\\u003c")
        scripts = sorted(set(re.findall(r"/ui/[0-9a-f]+/([\w/.-]+?\.js)", drawn)))
        wanted = map(write_script_address, sorted(self._site.bundles.list_needs(scripts)))
        # as on a page of the site
        preloads = "".join(f'<link rel="modulepreload" href="{address}">' for address in wanted)
        return DOCUMENT.format(
            before=BEFORE,
            title=TEXT["en"],
            sheet=self._site.sheet_path,
            preloads=preloads,
            page=drawn,
            scheme=write_scheme_script(drawn),
        )

    async def _built(self, path: str) -> Page:
        import gradio as gr

        from explorer.components.shell import place_shell

        labs, here, place = self._places[path]
        with gr.Blocks(analytics_enabled=False) as blocks:
            place_shell(labs, here, lecture=self.lecture)
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                place(here, self._site.engine)
        for block in blocks.blocks.values():
            self._site.stored.hold_named(json.dumps(getattr(block, "value", None), default=str))
        config = blocks.get_config_file()
        listening = [
            {"number": fn["id"], "targets": fn["targets"], "outputs": fn["outputs"]}
            for fn in config["dependencies"]
            if fn["backend_fn"]
        ]
        parts = {
            part["id"]: {"type": part["type"], "props": part["props"]}
            for part in config["components"]
        }
        return Page(
            {"path": path, "layout": config["layout"], "parts": parts, "events": listening},
            dict(blocks.fns),
        )


def _gradio_css() -> str:
    import gradio

    frontend = Path(gradio.__file__).parent / "templates" / "frontend"
    (name,) = re.findall(
        r'href="\./(assets/index-[\w-]+\.css)"', (frontend / "index.html").read_text("utf-8")
    )
    return (frontend / name).read_text("utf-8")


def lab_of(path: str, slug: str, year: int, steps: int, place: Place) -> Any:
    """A lab at an address of its own, whose page holds what `place` places."""
    from explorer.contract.lab import GuidedStep, OpenLab

    class OnTheBench(OpenLab):
        """A lab at the address of its bench page."""

        @property
        def path(self) -> str:
            return path

    facts: dict[str, Any] = dict.fromkeys(("title", "short", "line", "card"), TEXT)
    texts: dict[str, Any] = dict.fromkeys(("paper", "authors", "arxiv", "licence", "equation"), "")
    rest: dict[str, Any] = {
        "ancestors": (),
        "changed": "input",
        "examples": ("",) * 3,
        "steps": (GuidedStep(TEXT, TEXT, "", {}),) * steps,
        "interventions": {"none": ""},
        "exports": {},
        "thumbnail": lambda: None,
        "probe": None,
    }
    return OnTheBench(slug=slug, year=year, page=place, **facts, **texts, **rest)


async def _said(fn: Any, asked: dict[str, Any], request: Any) -> AsyncGenerator[str, None]:
    """What a handler says, a line for each update: the values of its outputs."""
    import gradio as gr
    from gradio.helpers import special_args

    caller = gr.Request(request=request, session_hash=asked["session"])
    given, *_ = special_args(fn.fn, [], caller, gr.EventData(None, asked["detail"]))

    def line(update: Any) -> str:
        values = [update] if len(fn.outputs) == 1 else list(update) if fn.outputs else []
        return json.dumps(values, default=_plain) + "\n"

    if inspect.isasyncgenfunction(fn.fn):
        updates = fn.fn(*given)
        try:
            async for update in updates:
                yield line(update)
        finally:
            await updates.aclose()
    elif inspect.isgeneratorfunction(fn.fn):
        for update in fn.fn(*given):
            yield line(update)
    elif inspect.iscoroutinefunction(fn.fn):
        yield line(await fn.fn(*given))
    else:
        yield line(await asyncio.to_thread(fn.fn, *given))


def _plain(value: Any) -> Any:
    """Of what JSON does not know, the numbers of NumPy."""
    return value.tolist()


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    """The bench pages of this worker."""
    made = Bench()
    yield made
    made.close()
