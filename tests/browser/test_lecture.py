"""The lecture hall in a real browser: embedded in another page, beside a hostile visitor, left in
mid-stream, and without a queue."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import FrameLocator, Page, Request, Route, expect

from explorer.labs import LABS
from models.translation.records import EXAMPLES
from tests.browser.staged import NEW
from tests.browser.visiting import LIVE, badge, error, finished
from tests.browser.waiting import asked, becomes, left, prepared, unfolded
from tests.explorer.asking import event, join, raw
from tests.explorer.page.test_leaving import LONG, PATIENCE, given, until
from tests.visits import Visit

LAB = next(lab for lab in LABS if lab.slug == "translation")

# on the page of the promises that hold for every lab
ON_ITS_PAGE = pytest.mark.xdist_group("translation walk", 2)
SPACE = "https://huggingface.co"  # one of the places that may embed a lab


@pytest.fixture
def lab(visit: Visit) -> Page:
    """The lab's page, once the server holds all of its examples and steps."""
    prepared(visit.site, LAB.slug)
    page = visit(LAB.path)
    expect(badge(page)).to_have_text("stored")
    return page


def sentence(page: Page | FrameLocator, text: str) -> None:
    """Types a sentence and waits for its live result."""
    unfolded(page)
    page.locator(".tfe-ask-story").fill(text)
    page.locator(".tfe-ask-story").press("Enter")
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE)


@contextlib.contextmanager
def all_said(page: Page) -> Iterator[None]:
    """Waits until the stream of answers that is opened inside has ended: whatever an older wish
    still had to say has come."""
    opened: list[Request] = []
    ended: list[Request] = []
    page.on(
        "request", lambda request: opened.append(request) if "/queue/data" in request.url else None
    )
    page.on("requestfinished", lambda request: ended.append(request))
    # the page itself closes a stream that has said its last word
    page.on("requestfailed", lambda request: ended.append(request))
    yield
    becomes(page, lambda: bool(opened) and all(one in ended for one in opened), True)


# --- embedded
# --------------------------------------------------------------------------------------------------


def embedded(page: Page, site: str, host: str) -> FrameLocator:
    """A page of another site with the lab in a frame, as a Space shows it."""
    body = (
        "<!doctype html><title>a page"
        " around</title><style>body{margin:0}"
        "iframe{border:0;width:100%;height:100vh;display:block}</style>"
        f'<iframe title="lab" src="{site}{LAB.path}"></iframe>'
    )
    page.route(
        lambda url: url.startswith(host),
        lambda route: route.fulfill(content_type="text/html", body=body),
    )
    page.goto(host + "/spaces/somebody/explorer", wait_until="commit")
    return page.frame_locator("iframe")


def test_a_lab_works_in_the_frame_of_another_site(new_page: NEW, site: str) -> None:
    # a public page frames one of this machine
    page, faults = new_page(width=360, height=800, permissions=["local-network-access"])
    inside = embedded(page, site, SPACE)
    expect(inside.locator("h1")).to_be_visible()
    sentence(inside, "Two dogs run through the snow.")
    assert "Hunde" in inside.locator(".tfe-pieces-line").inner_text()
    sideways = (
        "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth"
    )
    assert [frame.evaluate(sideways) for frame in page.frames] == [0, 0]
    inside.locator(".tfe-change [data-knob=silenced] button").click()
    expect(inside.locator(".tfe-change-picture canvas")).to_be_visible()
    assert page.frames[1].evaluate(sideways) == 0
    # the page around it
    faults.outside[:] = [address for address in faults.outside if not address.startswith(SPACE)]


# --- results held ready
# --------------------------------------------------------------------------------------------------


@ON_ITS_PAGE
def test_another_version_asks_the_model(lab: Page) -> None:
    lab.route("**/stored/**", lambda route: route.fulfill(status=204))
    lab.locator(".tfe-ask-example").nth(2).click()
    finished(lab)
    expect(lab.locator(".tfe-ask-story")).to_have_value(EXAMPLES[2].sentence)
    lab.unroute("**/stored/**")


def test_an_example_ends_an_older_wish(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(site + LAB.path)
    expect(badge(page)).to_have_text("stored")
    page.locator(".tfe-ask-story").fill(f"{random.random()} and then {LONG}")
    # The page itself chooses the example, once the older wish is on its way: a click from here may
    # come after that wish is answered.
    with all_said(page):
        page.evaluate("""() => new Promise((chosen, late) => {
                setTimeout(late, 60000, new Error("the older wish was not sent"));
                new PerformanceObserver((seen, observer) => {
                    if (!seen.getEntries().some(entry =>
                        entry.name.includes("/queue/join"))) return;
                    observer.disconnect();
                    document.querySelectorAll(".tfe-ask-example")[3].click();
                    chosen();
                }).observe({ type: "resource" });
                const search = document.querySelector(".tfe-ask .tfe-select");
                search.selectedIndex = 7; // it takes longer so
                search.dispatchEvent(new Event("change"));
                document.querySelector(".tfe-ask-story")
                    .dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
            })""")
        expect(page.locator(".tfe-ask-example").nth(3)).to_have_attribute("aria-pressed", "true")
        finished(page)
    assert "Leiter" in page.locator(".tfe-pieces-line").inner_text()
    expect(page.locator(".tfe-ask-story")).to_have_value(EXAMPLES[3].sentence)
    sentence(page, "A dog runs.")


def test_a_wish_that_arrives_after_a_newer_one_changes_nothing(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(site + LAB.path)
    held: list[Route] = []
    page.route("**/queue/join**", lambda route: route.continue_() if held else held.append(route))
    with all_said(page):
        for text in (f"{random.random()} dogs", "A dog runs."):
            page.locator(".tfe-ask-story").fill(text)
            page.locator(".tfe-ask-story").press("Enter")
            becomes(page, lambda: bool(held), True)
        finished(page)
    shown = page.locator(".tfe-pieces-line").inner_text()
    assert "Hund" in shown
    with all_said(page):
        held[0].continue_()
    assert page.locator(".tfe-pieces-line").inner_text() == shown
    assert "dogs" not in str(asked(page))


# --- visitors beside one another
# --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def beside_a_hostile_one(url: str) -> Iterator[list[int]]:
    """A visitor who floods, lies, cancels what others asked for, and never reads an answer; the
    list grows with each of these acts."""
    run, stop, done = event(url, LAB.path, "ask"), threading.Event(), list[int]()
    asked = {"fn_index": run, "event_data": {"sentence": "🎈" * 200_000}, "session_hash": "h"}
    huge = json.dumps({"data": ["x" * 1_000_000], **asked})
    bodies = [
        huge,
        "{",
        "[" * 50_000,
        '{"fn_index": 99999, "data": []}',
        '{"fn_index": "a"}',
        "\0",
        huge[:999_999],
    ]
    names = ["", "0" * 32, None, "guessed", "../" * 10]
    paths = [
        "/../app.py",
        "/arrays/" + "0" * 32,
        "/gradio_api/file=/etc/passwd",
        f"/{random.random()}",
        "/translation?" + "a" * 9000,
    ]

    def post(what: str, body: str) -> None:
        raw(url, "POST", f"/gradio_api/{what}", body.encode(), {"content-type": "application/json"})

    def hang(count: int) -> None:
        head = (
            b"POST /gradio_api/queue/join HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
            if count % 2
            else b"GET /gradio"
        )
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=5) as line:
            line.sendall(head)
            stop.wait(0.2)

    acts: list[Callable[[int], object]] = [
        lambda count: join(url, run, given(f"{count} {LONG}", 1 + count % 8), "hostile"),
        lambda count: post("queue/join", bodies[count % 7]),
        lambda count: post(
            "cancel",
            json.dumps(
                {
                    "session_hash": ["hostile", "guessed"][count % 2],
                    "fn_index": run,
                    "event_id": names[count % 5],
                }
            ),
        ),
        lambda count: raw(url, "GET", paths[count % 5]),
        hang,
    ]

    def again(act: Callable[[int], object]) -> None:
        for count in itertools.takewhile(lambda _: not stop.is_set(), itertools.count()):
            with contextlib.suppress(OSError, AssertionError, http.client.HTTPException):
                act(count)
            stop.wait(0.02)  # a script on one machine, not a hundred
            done.append(count)

    with ThreadPoolExecutor(len(acts)) as pool:
        pool.map(again, acts)
        try:
            yield done
        finally:
            stop.set()


@ON_ITS_PAGE
def test_a_visitor_beside_a_hostile_one_notices_nothing(visit: Visit, lab: Page) -> None:
    sentence(lab, "A man is sitting on a bench.")
    calm = lab.locator(".tfe-pieces-line").inner_text()
    with beside_a_hostile_one(visit.site) as done:
        until(lambda: len(done) > 20, PATIENCE)
        for text in ("A woman is reading a book.", "A man is sitting on a bench."):
            began = time.monotonic()
            sentence(lab, text)
            assert time.monotonic() - began < 8 + 100 * _lag(visit.site)
            assert not error(lab).is_visible()
        assert lab.locator(".tfe-pieces-line").inner_text() == calm
        lab.locator(".tfe-ask-example").nth(1).click()
        expect(lab.locator(".tfe-ask-example").nth(1)).to_have_attribute("aria-pressed", "true")
        assert raw(visit.site, "GET", LAB.path)[0] == 200


def _lag(url: str) -> float:
    began = time.monotonic()
    for _ in range(5):
        raw(url, "GET", "/healthz")
    return (time.monotonic() - began) / 5


def test_leaving_a_page_while_its_run_begins_is_quiet(new_page: NEW, site: str) -> None:
    page, faults = new_page()  # a line in the console of the browser would fail this test
    page.goto(site + LAB.path)
    page.locator(".tfe-ask-story").fill(f"{random.random()} {LONG}")
    page.locator(".tfe-ask-story").press("Enter")
    page.goto(site + "/")
    expect(page.locator("h1")).to_be_visible()
    left(faults)


# --- the frame by ear and by keyboard
# -------------------------------------------------------------------------------------------------

STOPS = """() => {
    const at = document.activeElement;
    if (!at || at === document.body) return null;
    window.stops ??= [];
    const again = window.stops.includes(at);
    const last = window.stops.at(-1);
    const backwards = Boolean(last) && !again
        && Boolean(last.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_PRECEDING);
    window.stops.push(at);
    const box = at.getBoundingClientRect();
    const labels = [...(at.labels ?? [])].map((one) => one.textContent).join(" ");
    const name = at.getAttribute("aria-label") || labels || at.textContent || at.title;
    return { again, backwards, name: (name ?? "").trim(), html: at.outerHTML.slice(0, 120),
        seen: box.width > 0 && box.height > 0 };
}"""


@pytest.mark.parametrize(("path", "width"), [("/", 1280), (LAB.path, 360)])
def test_the_focus_moves_in_reading_order(new_page: NEW, site: str, path: str, width: int) -> None:
    page, _ = new_page(width=width)
    page.goto(site + path)
    expect(
        page.locator(".tfe-home-card" if path == "/" else ".tfe-attention[data-drawn]").first
    ).to_be_visible()
    expect(page.locator(".tfe-block").last).to_be_visible()
    stops = []
    for _ in range(150):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOPS)
        if stop is None or stop["again"]:
            break
        stops.append(stop)
    else:
        pytest.fail("150 stops: the focus never comes out")
    assert len(stops) > 5
    assert [stop for stop in stops if not stop["name"]] == []
    assert [stop for stop in stops if stop["backwards"]] == []
    assert [stop for stop in stops if not stop["seen"]] == []
