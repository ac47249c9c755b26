"""The sentences of the pages about a run, collected without opening a page for each: requests,
values of all views, and the sentences of their pictures.

A view that Python draws brings its sentence along. A picture's sentence is made in the browser, by
a pure function of the run and of the selection. One empty page of a server in this process imports
the pictures and runs these functions for many runs and selections at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import threading
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, TypeVar

import gradio as gr
import numpy as np
import uvicorn
from numpy.typing import NDArray
from playwright.sync_api import Page

from explorer.components.folded import with_drawings_as_text
from explorer.contract import controls
from explorer.contract.control_kinds import (
    ChoiceControl,
    DrawingControl,
    HeadsControl,
    ItemsControl,
    MenuControl,
    PassageControl,
    StopsControl,
    spell_value,
)
from explorer.contract.lab import OpenLab
from explorer.labs import DECLARED
from explorer.page.answers import render_folded_view
from explorer.page.program import Program
from explorer.page.views import View
from explorer.values.packing import array_store
from explorer.web.server import Site
from models.explaining.errors import InputError
from models.explaining.request_fields import Choice, Number, find_range
from tests.support.visitors.browser import page
from tests.support.visitors.served import HOST, free_port

T = TypeVar("T")
Value = Mapping[str, Any]

TRIES = 40  # requests drawn until one is not refused
# times as many are drawn as are needed: the model may refuse values that its fields allow
SPARE = 2
# characters, notes … that a drawn request makes at most: a sentence about them needs no more
LONGEST = 24
# arrays of a picture's files that rules read; the others they read in the view's value
READ = ("shown", "products", "weights")
LOOKS = 3  # selections in one picture of one run
SAID = """async ({ picture, texts, value, looks, seed }) => {
  const { KINDS, looking, pictureOf } = await import(LOOKING);
  const it = pictureOf(await import(picture));
  const draw = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const whole = (n) => Math.floor(draw() * n);
  let late = 0;
  const again = () => (late += 1);
  const run = await it.read(value, { texts, again });
  if (!run) return [];
  const any = {
    position: ({ count }) => String(whole(count)),
    positions: ({ count }) => String(whole(count)),
    step: ({ steps, first = 1 }) => String(first + whole(steps - first + 1)),
    head: ({ layers, heads, names = [] }) =>
      (names.length && draw() < 0.2 ? names[whole(names.length)]
      : `${1 + whole(layers)}.${1 + whole(heads)}`),
    pixel: ({ rows, columns }) => `${whole(rows)},${whole(columns)}`,
    pair: ({ counts }) => counts.map(whole).join("."),
    choice: ({ names }) => names[whole(names.length)],
    flag: () => (draw() < 0.3 ? "1" : null),
    number: ({ least = 0, most = 1, whole: round }) =>
      String(round ? least + whole(most - least + 1) : least + draw() * (most - least)),
  };
  const said = [];
  for (let turn = 0; turn < looks; turn += 1) {
    const given = {};
    for (const [key, kind] of Object.entries(turn ? it.looks : {})) {
      const { bounds } = looking(it, run, (one) => given[one] ?? null);
      if (bounds[key] && draw() < 0.8) given[key] = any[kind](bounds[key]);
    }
    const { look } = looking(it, run, (one) => given[one] ?? null);
    const wish = it.lacks?.(run, look);
    const told = wish && (await ask(value.query ?? "", wish));
    if (told) await it.takes(run, told);
    const say = () => it.sentence(run, look).map((part) => part.text ?? part).join("");
    let text = say();
    for (let rest = 0; rest < 20 && /on (its|their) way/.test(text); rest += 1) {
      await new Promise((done) => setTimeout(done, 50));
      text = say();
    }
    const plain = (one) => (ArrayBuffer.isView(one) ? Array.from(one) : one);
    const files = it.arrays?.(run, look) ?? {};
    const held = READ.filter((name) => files[name]?.data)
      .map((name) => [name, { ...files[name], data: plain(files[name].data) }]);
    const { columns, rows } = it.table(run, look);
    const table = { columns, rows: rows.slice(0, 3) };
    said.push({ text, look, table, arrays: Object.fromEntries(held) });
  }
  return said;
}"""


@dataclass(frozen=True)
class Said:
    """A sentence of a page, and the run that it speaks of.

    lab, query: the run.
    view: the widget, or the part of it.
    value: the view's value, arrays unpacked.
    look: the selection.
    table: columns and rows under the figure, for a picture the first ones.
    files: the arrays of its NPZ file.
    chinese: the same sentence.
    """

    lab: str
    query: str
    view: str
    text: str
    value: Value
    look: Value
    table: Value
    files: Mapping[str, NDArray[Any]]
    chinese: str = ""


def program(lab: OpenLab) -> Program[Any, Any, Any, Any]:
    """Return a lab's declaration of its page."""
    return _program(lab.slug)


@cache
def _program(slug: str) -> Program[Any, Any, Any, Any]:
    found = next(lab for lab in DECLARED if lab.slug == slug)
    return replace(found.build_program(), slug="")


def requests(lab: OpenLab, count: int, seed: int = 0) -> list[Any]:
    """Return different requests of a lab: examples, steps and changes as its page has them, then
    drawn ones. All are accepted."""
    made = program(lab)
    own = [*lab.examples, *(step.query for step in lab.steps), *lab.interventions.values()]
    found = dict.fromkeys(made.read_request(query)[0] for query in own)
    draws = random.Random(f"{lab.slug} {seed}")
    typed = list(found)
    for _ in range(TRIES * count):
        if len(found) >= count:
            break
        with contextlib.suppress(InputError, ValueError):
            found.setdefault(_drawn(made, draws.choice(typed), draws))
    kept = list(found)
    return kept if len(kept) <= count else draws.sample(kept, count)


def _drawn(made: Program[Any, Any, Any, Any], base: Any, draws: random.Random) -> Any:
    """Return a request near another one: some fields drawn anew, typed texts cut."""
    given = {}
    names = {one.name for one in fields(base)}
    for control in made.controls:
        allowed = find_range(made.kind, control.field)
        if draws.random() < (0.7 if control.change else 0.6) or control.field not in names:
            continue
        if not all(
            spell_value(getattr(base, name)) in values for name, values in control.when.items()
        ):
            continue
        if isinstance(control, (ChoiceControl, MenuControl, StopsControl)) and control.names:
            given[control.field] = spell_value(draws.choice([*control.names]))
        elif isinstance(allowed, Choice):
            given[control.field] = spell_value(draws.choice(allowed.values))
        elif isinstance(allowed, Number):
            number = draws.uniform(
                allowed.least,
                min(allowed.most, LONGEST) if control.field == "length" else allowed.most,
            )
            given[control.field] = spell_value(round(number) if allowed.whole else round(number, 2))
        elif control.kind == "switch":
            given[control.field] = draws.choice("01")
        elif isinstance(control, HeadsControl):
            model, (layers, heads) = draws.choice([*control.sizes.items()])
            given[control.field] = f"{model}.{draws.randrange(layers)}.{draws.randrange(heads)}"
        elif isinstance(control, ItemsControl):
            given[control.field] = draws.choice([*map(str, control.names), *map(str, range(6))])
        elif isinstance(control, PassageControl):
            text = (
                getattr(base, control.field) or draws.choice(control.pages).text
                if control.pages
                else getattr(base, control.field)
            )
            first = draws.randrange(max(1, len(text) // 2))
            given[control.field] = text[first : first + draws.randrange(40, 300)]
        elif control.kind in {"sentence", "story", "letters", "text", "bits"}:
            words = getattr(base, control.field).split(". " if control.kind == "story" else " ")
            if len(words) > 1:
                words.pop(draws.randrange(len(words) - 1))
            given[control.field] = (". " if control.kind == "story" else " ").join(words)
        elif isinstance(control, DrawingControl) and control.drawings is not None:
            given[control.field] = f"test:{draws.randrange(len(control.drawings.pixels))}"
        elif control.kind == "knob" and control.field == "spans":
            given[control.field] = spell_value(
                ((-1, -1, float(draws.choice((0, 4, 30, 200, 512)))),)
            )
        elif control.kind == "sum":
            given[control.field] = "+".join(
                str(draws.randrange(10 ** draws.randint(1, 5))) for _ in range(2)
            )
    if (
        "length" in names
        and "length" not in given
        and base.length > LONGEST
        and "temperature" in names
    ):
        base = replace(base, length=LONGEST)
    return made.read_request(controls.spell_query(base), given)[0]


class Sayings:
    """A server of this process with all labs' engine functions, and one empty page in a browser.
    Leaving it as a context ends both."""

    def __init__(self, tab: Page | None = None) -> None:
        """Set the page.

        tab: a page to work in, by default one of a browser of its own.
        """
        self._tab = tab

    def __enter__(self) -> Sayings:
        self._loop = asyncio.new_event_loop()
        self._threads = [threading.Thread(target=self._loop.run_forever, daemon=True)]
        self._threads[0].start()
        self.site = self.run(_built())
        port = free_port()
        self._server = uvicorn.Server(
            uvicorn.Config(
                self.site.gate, host=HOST, port=port, log_level="warning", lifespan="off", ws="none"
            )
        )
        self._threads.append(threading.Thread(target=self._server.run, daemon=True))
        self._threads[1].start()
        self._stack = contextlib.ExitStack()
        tab = self._tab = self._tab or self._stack.enter_context(page())
        url = f"http://{HOST}:{port}"
        while not self._server.started:
            self._threads[1].join(0.02)
        tab.route(
            f"{url}/empty",
            lambda route: route.fulfill(
                content_type="text/html", body="<!doctype html><main></main>"
            ),
        )
        tab.expose_function("ask", self._looked)
        tab.goto(f"{url}/empty")
        self._asking: tuple[Program[Any, Any, Any, Any], View[Any, Any, Any, Any]] | None = None
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._server.should_exit = True
        self._threads[1].join(10)
        self.site.engine.close(0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._threads[0].join()
        self._loop.close()

    def run(self, wish: Awaitable[T]) -> T:
        """Return the result of a coroutine that runs in the loop of the engine."""

        async def waited() -> T:
            return await wish

        return asyncio.run_coroutine_threadsafe(waited(), self._loop).result()

    def _looked(self, query: str, detail: Any) -> Any:
        """Return the program's answer to a picture that requests the rows of its selection."""
        assert self._asking is not None
        made, view = self._asking
        if view.look is None:
            return None  # another widget asks for it; the sentence then speaks without
        return self._last(
            made, view, {**detail, "run": query} if isinstance(detail, dict) else detail
        )

    def _last(
        self, made: Program[Any, Any, Any, Any], view: View[Any, Any, Any, Any], detail: Any
    ) -> Any:
        async def answered() -> Any:
            last = None
            async with contextlib.aclosing(
                render_folded_view(made, self.site.engine, view.look, detail)  # type: ignore[arg-type]
            ) as updates:
                async for update in updates:
                    last = with_drawings_as_text(update) if isinstance(update, dict) else last
            return json.loads(json.dumps(last, default=_plain))

        return self.run(answered())

    def accepted(
        self, lab: OpenLab, count: int, *, panels: int = 1, seed: int = 0, latest: bool = False
    ) -> Iterator[list[Said]]:
        """Yield the sentences of this many runs, each of another input that the lab accepts.

        latest: those of drawn inputs rather than of the lab's own.
        """
        drawn = requests(lab, SPARE * count + 30, seed)
        every = (
            list(self.of(lab, one, panels=panels, seed=seed))
            for one in (reversed(drawn) if latest else drawn)
        )
        yield from itertools.islice((said for said in every if said), count)

    def of(self, lab: OpenLab, request: Any, *, panels: int = 1, seed: int = 0) -> Iterator[Said]:
        """Yield every sentence of a run.

        panels: the number of its folded panels that are opened.
        """
        made = program(lab)
        query = controls.spell_query(request)
        values = json.loads(
            json.dumps(self.run(made.render_finished_run(self.site.engine, query)), default=_plain)
        )
        draws = random.Random(f"{query} {seed}")
        views = {view.name: view for view in made.views if view.draws_request(request)}
        closed = [
            view
            for view in views.values()
            if view.draw is None
            and view.look
            and view.look.event == "ask"
            and view.name != "bertviz"
        ]
        for view in draws.sample(closed, min(panels, len(closed))):
            values[view.name] = self._last(made, view, {"run": query, "wish": None})
        for name, value in values.items():
            if not isinstance(value, dict) or value.get("state") == "refused":
                continue
            props = _props(lab.slug, name) if name in views else {}
            if "picture" in props:
                assert self._tab is not None
                self._asking = made, views[name]
                code = SAID.replace("LOOKING", json.dumps(props["address"])).replace(
                    "READ", json.dumps(READ)
                )
                asked = {part: props[part] for part in ("picture", "texts")}
                asked |= {"value": value, "looks": LOOKS, "seed": draws.randrange(1 << 30)}
                for one in self._tab.evaluate(code, asked):
                    files = {key: _array(held) for key, held in one["arrays"].items()}
                    yield Said(
                        lab.slug, query, name, one["text"], value, one["look"], one["table"], files
                    )
            for path, part in _parts(value, name):
                yield Said(
                    lab.slug,
                    query,
                    path,
                    part["sentence"]["en"],
                    part,
                    {},
                    part.get("table") or {},
                    {},
                    part["sentence"]["zh"],
                )


async def _built() -> Site:
    return Site(())


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


@cache
def _props(slug: str, name: str) -> Mapping[str, Any]:
    """Return the values that the picture of a view is placed with."""
    from explorer.components.base import write_frontend_address

    view = next(view for view in _program(slug).views if view.name == name)
    with gr.Blocks():
        placed = view.place(None)
    props = getattr(placed, "props", None) or {}
    return {**props, "address": write_frontend_address("lib/selection.js")}


def _parts(value: Any, path: str) -> Iterator[tuple[str, Value]]:
    """Yield every part of a value that has a sentence of its own, with its place."""
    if isinstance(value, dict):
        if isinstance(value.get("sentence"), dict) and "en" in value["sentence"]:
            yield path, value
        for key, inner in value.items():
            yield from _parts(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _parts(inner, path)


def _array(held: Any) -> NDArray[Any]:
    return np.array([np.nan if one is None else one for one in held["data"]], float).reshape(
        held["shape"]
    )


def unpacked(packed: Value) -> NDArray[np.float64]:
    """Return an array from its form in a view (explorer/values/packing.py): value = raw × scale."""
    import base64
    import gzip

    raw = (
        base64.b64decode(packed["data"])
        if "data" in packed
        else gzip.decompress(array_store().get(packed["url"].rsplit("/", 1)[-1]) or b"")
    )
    values: NDArray[np.float64] = np.frombuffer(raw, f"<{packed['dtype']}").reshape(
        packed["shape"]
    ) * float(packed.get("scale", 1))
    return values
