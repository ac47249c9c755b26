"""One live view of a lab in a page of another origin."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from explorer.web.embed import write_embedded_query
from tests.bench import Served
from tests.conftest import Running
from tests.pages import Faults

REQUESTS = 28  # of an embedded view, at most: those of its page, and where it leads there
COPIES = "Copy for a web page"


async def frame(request: Request) -> HTMLResponse:
    """A course page that frames the address it is given."""
    address = request.query_params["address"]
    return HTMLResponse(
        f'<link rel=icon href="data:,"><iframe src="{address}" width=900 height=700></iframe>'
    )


@pytest.fixture(scope="module")
def course() -> Iterator[str]:
    """The address of a site of another origin."""
    served = Served(Starlette(routes=[Route("/", frame)]))
    yield served.url
    served.close()


def test_query_names_one_view() -> None:
    query = write_embedded_query("sentence=Two+dogs.&_head=3.5&_view=attention&lecture=1")
    assert parse_qs(query) == {
        "sentence": ["Two dogs."],
        "_head": ["3.5"],
        "lecture": ["figure"],
        "figure": ["attention"],
    }
    assert write_embedded_query("") == "lecture=figure"


def test_unknown_lab_is_refused(running: Running) -> None:
    for path in ("nothing", "translation/more", "", "..%2ftranslation", "/host.example"):
        answer = httpx.get(f"{running.url}/embed/{path}")
        assert answer.status_code == 404 and "location" not in answer.headers


def test_view_is_alive_elsewhere(
    new_page: Callable[..., tuple[Page, Faults]], running: Running, course: str
) -> None:
    page, faults = new_page()
    address = f"{running.url}/embed/translation%3Flang=en%26_view=attention%26_kind=encoder"
    page.goto(f"{course}/?address={address}")
    inside = page.frame_locator("iframe")
    words = inside.locator("[data-view=attention] .tfe-words")
    expect(words).to_have_text(re.compile(r"\w"))
    expect(inside.locator(".tfe-shell-bar, .tfe-ask").locator("visible=true")).to_have_count(0)
    before = words.inner_text()
    inside.locator("[data-view=attention] .tfe-stage-board").press("ArrowDown")
    expect(words).not_to_have_text(before)
    ours = [one for one in faults.requests if urlsplit(one).netloc == urlsplit(running.url).netloc]
    assert faults.outside == [page.url] and len(ours) <= REQUESTS, ours
    faults.outside.clear()


def test_code_can_be_copied(page_watch: Page, running: Running) -> None:
    page_watch.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page_watch.goto(f"{running.url}/translation?lang=en&_kind=encoder")
    picture = page_watch.locator("[data-view=attention]")
    picture.locator(".tfe-stage-take > summary").click()
    picture.get_by_role("button", name=COPIES).click()
    expect(picture.get_by_role("button", name="Copied")).to_be_visible()
    code = page_watch.evaluate("navigator.clipboard.readText()")
    (address,) = re.findall(r'<iframe src="([^"]+)" title="[^"<>]+"', code)
    assert urlsplit(address).path == "/embed/translation"
    given = parse_qs(urlsplit(address.replace("&#38;", "&")).query)
    assert given["_view"] == ["attention"] and given["_kind"] == ["encoder"]
