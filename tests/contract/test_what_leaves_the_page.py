"""What a visitor takes along works with no network, leads nowhere, and says which lab and paper it
comes from, never which machine."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Request, expect

from explorer.components.base import find_vendor_file, list_frontend_files
from explorer.contract.lab import FIGURE, OpenLab
from tests.browser.waiting import exact
from tests.contract.conftest import on_its_page
from tests.contract.test_a_walk_through_every_lab import settled
from tests.fitting import figures_stand
from tests.pages import PATIENCE
from tests.visits import Visit

# Every Plotly figure in view: what its bar of buttons and its settings would let out.
FIGURES = """() => [...document.querySelectorAll(".js-plotly-plot")].map((node) => ({
  buttons: [...node.querySelectorAll(".modebar-btn")].map((one) => one.dataset.title ?? ""),
  links: [...node.querySelectorAll("a[href]")].map((one) => one.href),
  upload: node._context.showSendToCloud, logo: node._context.displaylogo,
  server: node._context.plotlyServerURL}))"""
# Keeps what a page gives away in place of saving it: a browser lets a page offer ten files a
# second, and drops those beyond. In place of Plotly, megabytes in each saved page that holds a
# figure, it is given a mark that would end the script.
KEPT = """() => {
  const fetched = window.fetch;
  window.fetch = (asked, ...more) => (String(asked).endsWith("/plotly.js")
      ? Promise.resolve(new Response("@library@</script>"))
    : fetched(asked, ...more));
  const blobs = new Map(), made = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    const address = made.call(URL, blob);
    blobs.set(address, blob);
    return address;
  };
  HTMLAnchorElement.prototype.click = function () {
    if (!this.download) return HTMLElement.prototype.click.call(this);
    const read = new FileReader(), name = this.download;
    read.onload = () => window.given([name, read.result.slice(read.result.indexOf(",") + 1)]);
    read.readAsDataURL(blobs.get(this.href));
  };
}"""
# Presses the buttons of a bar one after the other: (kind, name of the file, what is in it) of each.
TAKEN = """async (bar, patience) => {
  const taken = [];
  for (const button of bar.querySelectorAll("button[data-kind]")) {
    const { kind } = button.dataset;
    if (kind === "table" || button.disabled
        || !button.checkVisibility({ visibilityProperty: true })) continue;
    taken.push([kind, ...(await new Promise((given, late) => {
      window.given = given;
      setTimeout(() => late(new Error(`${kind} gives no file`)), patience);
      button.click();
    }))]);
  }
  return taken;
}"""
MARK, LIBRARY = (
    b"@library@<\\/script>",
    find_vendor_file("plotly").read_bytes().replace(b"</script", b"<\\/script"),
)
NOTHING = (
    "Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src"
    " 'unsafe-inline'; img-src data: blob:;"
)
STAYS = re.compile(
    r"Download plot|Zoom|Pan|Box Select|Lasso Select|Zoom in|Zoom out|Autoscale|Reset axes"
)


@pytest.fixture(scope="session")
def offline(chromium: Browser) -> Iterator[Page]:
    """A page with no network."""
    context = chromium.new_context(offline=True)
    yield context.new_page()
    context.close()


def _saved(page: Page, folder: Path, lab: OpenLab) -> dict[str, Path]:
    """Every file that the export bars in view offer, by widget and kind; each view offers the kinds
    that its lab declares."""
    files: dict[str, Path] = {}
    page.evaluate(KEPT)
    bars = page.locator(".tfe-exports")
    for at in range(bars.count()):
        bars.nth(at).evaluate("(it) => it.closest('.tfe-stage-take')?.setAttribute('open', '')")
        if bars.nth(at).is_hidden():
            continue
        view = bars.nth(at).evaluate("(it) => it.closest('[data-view]')?.dataset.view ?? ''")
        buttons = bars.nth(at).locator(".tfe-export:not([aria-expanded]):visible")
        offered = [
            kind
            for kind in buttons.evaluate_all("(all) => all.map((one) => one.dataset.kind)")
            if not kind.endswith(" 1×")
        ]
        plots = bars.nth(at).evaluate(
            "(it) => it.closest('.tfe-stage')?.querySelectorAll('.js-plotly-plot').length ?? 0"
        )
        kinds = [*lab.exports.get(view, FIGURE), *(["JSON"] if plots else [])]
        assert offered == kinds, f"{view}, beside the exact rows of a pooled map"
        for kind, name, text in bars.nth(at).evaluate(TAKEN, PATIENCE):
            files[f"{at} {kind}"] = folder / f"{at}-{name}"
            files[f"{at} {kind}"].write_bytes(base64.b64decode(text))
    return files


@pytest.mark.parametrize("lab", on_its_page(3))
def test_an_export_leads_nowhere_and_names_the_lab_and_its_paper(
    visit: Visit, offline: Page, site: str, lab: OpenLab, tmp_path: Path
) -> None:
    page = visit(f"{lab.path}?{next(iter(lab.interventions.values()))}")
    settled(page)
    expect(page.locator(".tfe-exports").first).to_be_attached()
    figures_stand(page)
    exact(page)
    with closing(page):  # what it gives away, it would go on to keep
        files = _saved(page, tmp_path, lab)
    assert {kind.split()[1] for kind in files} >= {
        "PNG",
        "SVG",
        "HTML",
        "CSV",
    }, "the lab's views offer their files"
    figures: list[Path] = []
    for name, path in files.items():
        inside = path.read_bytes()
        for local in (urlsplit(site).netloc, "localhost", "127.0.0.1"):
            assert local.encode() not in inside and local.encode("utf-32-le") not in inside, (
                f"{name} names this machine: {local}"
            )
        kind = path.suffix[1:]
        if kind == "svg":
            text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", inside.decode()))
            assert f"{lab.authors} ({lab.year})" in text and lab.title["en"] in text, (
                f"{name} does not say where it comes from"
            )
        if kind == "npz":
            assert lab.paper.encode("utf-32-le") in inside, f"{name} does not name its paper"
            with np.load(path) as arrays:
                assert [arrays[one] for one in arrays.files], f"{name} is empty"
        if kind != "html":
            continue
        own = inside.replace(MARK, b"").decode()
        markup = re.sub(r"(<script\b[^>]*>).*?</script>", r"\1", own, flags=re.DOTALL)
        assert not re.search(r"https?://(?!www\.w3\.org)", own), f"{name} holds an address"
        assert not re.search(r"<a\b", markup), f"{name} holds a link"
        assert NOTHING in own, f"{name} may ask for something"
        foot = html.unescape(re.findall(r"<small>(.*?)</small>", own)[-1])
        assert lab.paper in foot and lab.title["en"] in foot, (
            f"{name} does not say where it comes from"
        )
        if MARK in inside:
            figures.append(path)
        else:
            opens(offline, path)
    # One figure in all is opened: each is a page of the same function, with megabytes that a
    # browser would read again.
    assert figures or lab.slug != "cost"
    for path in figures[:1] if lab.slug == "cost" else ():
        path.write_bytes(path.read_bytes().replace(MARK, LIBRARY))
        opens(offline, path)
        for figure in offline.evaluate(FIGURES):
            stays(figure, path.name)
            assert figure["buttons"], "a saved figure keeps its buttons"


def opens(page: Page, path: Path) -> None:
    """A saved page draws itself, asks for nothing and leads nowhere."""
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    page.goto(path.as_uri())
    expect(page.locator("canvas, svg, table").first).to_be_attached()
    assert [
        one
        for one in asked
        if one != path.as_uri() and urlsplit(one).scheme not in {"data", "blob"}
    ] == [], path.name
    page.remove_listener("request", note)
    assert page.evaluate("document.links.length") == 0, f"{path.name} holds a link"


def stays(figure: dict[str, Any], name: str) -> None:
    away = [title for title in figure["buttons"] if not STAYS.match(title)]
    assert not away and not figure["links"], f"{name}: {away} {figure['links']}"
    assert (figure["upload"], figure["logo"], figure["server"]) == (False, False, ""), name


def test_plotly_is_given_its_settings_in_one_place() -> None:
    calls = {
        path.name
        for path in list_frontend_files().values()
        if re.search(r"newPlot\(|library\.(react|toImage)\(", path.read_text())
    }
    assert calls == {
        "plot.js",
        "export.js",
        "export_picture.js",
    }, "every figure is drawn or saved by these three, which share CONFIG"


def test_few_places_name_the_local_address() -> None:
    users = {
        path.name
        for path in list_frontend_files().values()
        if re.search(r"import \{[^}]*\blink\b[^}]*\} from \"[./lib]*state\.js\"", path.read_text())
    }
    assert users == {
        "shell.js",
        "projector.js",
        "before.js",
        "export_menu.js",
    }, "a file that leaves says where it comes from with lib/source.js"
