"""README's lines for a notebook, run by a real kernel, and the picture that they show, opened as
Jupyter opens a widget."""

from __future__ import annotations

import ast
import asyncio
import base64
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from playwright.sync_api import Browser, FrameLocator, Page, expect

from explorer.notebook import explain, show
from tests.browser.waiting import measure_box
from tests.pages import PATIENCE, watch

ROOT = Path(__file__).parents[2]
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
PLOTLY = "application/vnd.plotly.v1+json"
# Opens a widget as its frontend does, with the part of a model that ours asks for.
OPENS = """async ([script, page]) => {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const bytes = Uint8Array.from(atob(page), (letter) => letter.charCodeAt(0));
    const model = {
        get: (name) => ({ page: new DataView(bytes.buffer) })[name],
        on: (event, hear) => (window.hear = hear),
        send: (question) => window.answer(question).then(([told, rows]) => window.hear(told,
            rows.map((one) => new DataView(Uint8Array.from(atob(one),
                (letter) => letter.charCodeAt(0)).buffer)))),
    };
    const widget = (await import(address)).default;
    window.close_widget = await widget.render({ model, el: document.querySelector("main") });
}"""

UNTIL = """async (it) => {
    while (!((%s)(it) %s)) await new Promise(requestAnimationFrame); }"""


def list_cells() -> list[str]:
    """The statements of README's example, each in a cell of its own."""
    text = (ROOT / "README.md").read_text("utf-8")
    (block,) = re.findall(r"^```python\n(from explorer\.notebook.*?)^```", text, re.M | re.S)
    assert len([line for line in block.splitlines() if line]) <= 6
    return [ast.unparse(statement) for statement in ast.parse(block).body]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The notebook of README's lines, once a kernel has run it."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(it) for it in list_cells()])
    folder = tmp_path_factory.mktemp("jupyter")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
            patch.setenv(name, str(folder))
        patch.setenv("PYTHONPATH", str(ROOT))
        # beside the loop of the browser's driver, which may run in this thread
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(run_cells(made))).result()


async def run_cells(made: Any) -> Any:
    """The same notebook, run by a kernel that hears on files, and not on a network."""
    client = NotebookClient(made, timeout=PATIENCE // 1000, kernel_name="python3")
    client.create_kernel_manager().transport = "ipc"
    return await client.async_execute(cwd=str(ROOT))


def find_output(notebook: Any, kind: str) -> Any:
    """The one output of this kind."""
    (found,) = [
        output.data[kind]
        for cell in notebook.cells
        for output in cell.outputs
        if kind in output.get("data", {})
    ]
    return found


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page without a network, on which nothing goes wrong."""
    context = chromium.new_context(offline=True, viewport={"width": 1100, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    faults = watch(page, "http://nowhere")
    page.set_content("<!doctype html><body data-jp-theme-light='false'><main></main>")
    yield page
    context.close()
    assert faults.all() == []
    assert [one for one in faults.requests if not one.startswith("blob:")] == []


@pytest.fixture
def frame(notebook: Any, page: Page) -> FrameLocator:
    """The frame of the widget that the kernel has made."""
    state = notebook.metadata.widgets[STATE]["state"][find_output(notebook, VIEW)["model_id"]]
    (page_of,) = [one["data"] for one in state["buffers"] if one["path"] == ["page"]]
    page.evaluate(OPENS, [state["state"]["_esm"], page_of])
    return page.frame_locator("iframe")


def open_widget(page: Page, widget: Any) -> FrameLocator:
    """The frame of a widget of this process, which answers what it is asked."""
    told: list[Any] = []
    widget.send = lambda content, buffers=(): told.append(
        [content, [base64.b64encode(one).decode() for one in buffers]]
    )

    def answer(question: Any) -> Any:
        widget._handle_custom_msg(question, [])
        return told.pop()

    page.expose_function("answer", answer)
    page.evaluate(OPENS, [widget._esm, base64.b64encode(widget.page).decode()])
    return page.frame_locator("iframe")


def test_a_figure_is_plotly(notebook: Any) -> None:
    drawn = find_output(notebook, PLOTLY)
    (cells,) = drawn["data"]
    arrays = explain("translation", sentence="Two dogs run on the grass.").arrays
    np.testing.assert_allclose(np.array(cells["z"]), arrays["cross"][2, 4], atol=2e-5)
    assert "var(--" not in json.dumps(drawn)


def test_the_widget_draws_and_locks(page: Page, frame: FrameLocator) -> None:
    stage = frame.locator(".tfe-attention")
    plot = stage.locator(".js-plotly-plot[data-plot=stands]")
    expect(plot).to_be_attached()
    rows, columns = plot.evaluate("({ data: [{ z }] }) => [z.length, z[0].length]")
    arrays = explain("translation", sentence="Two dogs run on the grass.").arrays
    assert (rows, columns) == arrays["cross"].shape[2:]
    expect(frame.locator("body")).to_have_class("dark")
    was = stage.get_attribute("data-drawn")
    plot.hover()  # the cell in the middle
    expect(frame.locator(".tfe-hover")).to_be_visible()
    plot.click()
    expect(stage).not_to_have_attribute("data-drawn", was or "")
    was = stage.get_attribute("data-drawn")
    page.keyboard.press("ArrowDown")
    expect(stage).not_to_have_attribute("data-drawn", was or "")
    # the frame is as high as its page
    high = frame.locator("html").evaluate("(it) => it.getBoundingClientRect().height")
    assert abs(measure_box(page.locator("iframe"))["height"] - high) < 2
    page.evaluate("window.close_widget()")


def test_the_widget_zooms(page: Page, frame: FrameLocator) -> None:
    plot = frame.locator(".tfe-attention .js-plotly-plot[data-plot=stands]")
    expect(plot).to_be_attached()
    span = "({ _fullLayout: { xaxis } }) => xaxis.range[1] - xaxis.range[0]"
    whole, box = plot.evaluate(span), measure_box(plot)
    at = [(box["x"] + part * box["width"], box["y"] + part * box["height"]) for part in (0.5, 0.7)]
    page.mouse.move(*at[0])
    page.mouse.down()
    page.mouse.move(*at[1], steps=8)
    page.mouse.up()
    plot.evaluate(UNTIL % (span, f"< {whole}"))
    page.mouse.dblclick(*at[0])
    plot.evaluate(UNTIL % (span, f"=== {whole}"))


def test_a_page_may_fetch_nothing(frame: FrameLocator) -> None:
    policy = frame.locator("meta[http-equiv]").get_attribute("content")
    assert policy and policy.startswith("default-src 'none'")
    assert frame.locator("[src], a[href]").count() == 0


def test_exact_rows_come_from_the_kernel(page: Page) -> None:
    frame = open_widget(page, show("language_model", "reading"))
    expect(frame.locator(".tfe-words")).to_contain_text(re.compile(r"head \d·\d gives"))
    expect(frame.locator(".tfe-reading")).not_to_contain_text("saved page")


def test_an_event_is_answered_by_the_kernel(page: Page) -> None:
    frame = open_widget(page, show("reformer", "hashing", _head="1.2"))
    expect(frame.locator(".tfe-hashing")).to_have_attribute("data-drawn", re.compile("head=1.2"))
    expect(frame.locator(".tfe-hashing")).not_to_contain_text("on their way")
