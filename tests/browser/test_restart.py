"""Servers of the first lab alone, which may be ended: who leaves them, and a page whose server is
killed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from explorer.labs import LABS
from tests.browser.staged import NEW
from tests.browser.visiting import badge, finished, go
from tests.browser.waiting import addressed
from tests.conftest import Running
from tests.explorer.asking import Stream, event, join
from tests.explorer.page.test_leaving import (
    LONG,
    SLOW,
    SOON,
    draining,
    given,
    late,
    runs,
    streaming,
    until,
)
from tests.pages import ARGUMENTS, PATIENCE, PROGRAM
from tests.support.visitors.balanced import balanced

LAB = next(lab for lab in LABS if lab.slug == "translation")


@pytest.fixture(scope="module")
def alive() -> Iterator[list[Running]]:
    """Two servers, of which one is killed; a long sentence goes on without end there, and who is
    told to leave waits for that."""
    servers = [
        Running(command=[*SLOW, "1000"], EXPLORER_METRICS="1", PAUSE="0.05", HOLD="6")
        for _ in range(2)
    ]
    try:
        with ThreadPoolExecutor() as both:
            list(both.map(Running.start, servers))
        yield servers
    finally:
        for server in servers:
            server.close()


@pytest.fixture(scope="module")
def site(alive: list[Running]) -> str:
    """The address of one of them."""
    return alive[0].url


@pytest.fixture
def doomed(
    playwright_driver: Playwright, tmp_path: Path
) -> Iterator[tuple[Browser, Callable[[], None]]]:
    """A browser of its own, and how to kill it as a power cut would."""
    said, profile = tmp_path / "said", tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    command = [PROGRAM, *ARGUMENTS, "--headless=new", "--remote-debugging-port=0"]
    with said.open("wb") as file:
        process = subprocess.Popen(
            [*command, f"--user-data-dir={profile.name}", "about:blank"],
            stderr=file,
            start_new_session=True,
        )

    def kill() -> None:
        # some of them lead process groups of their own
        for pid in [process.pid, *_below(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(30)

    def address() -> str:
        return next(
            iter(
                re.findall(
                    r"^DevTools listening on (\S+)$", said.read_text(errors="replace"), flags=re.M
                )
            ),
            "",
        )

    try:
        until(lambda: bool(address()), PATIENCE / 1000)
        yield playwright_driver.chromium.connect_over_cdp(address(), timeout=PATIENCE), kill
    finally:
        kill()
        profile.cleanup()


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, file.read_text().split()):
                found += [child, *_below(child)]
    return found


def test_the_stop_button_and_a_killed_browser_free_the_worker(
    alive: list[Running], doomed: tuple[Browser, Callable[[], None]]
) -> None:
    (browser, kill), server = doomed, alive[0]
    page = browser.contexts[0].new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(server.url + LAB.path)
    for said, ends in ((LONG, go(page).click), (f"Once more: {LONG}", kill)):
        asks(page, said)
        expect(badge(page)).to_contain_text("live · word")
        assert runs(server) == 1
        ends()
        if ends is not kill:
            expect(badge(page)).to_have_text("stopped")
        assert until(lambda: runs(server) == 0, PATIENCE / 1000) < SOON + late(server)
    join(server.url, event(server.url, LAB.path, "ask"), given("A dog runs."), "next")
    stream = Stream(server.url, "next")
    assert stream.until(lambda message: message["msg"] == "process_completed")["success"]
    stream.close()


def asks(page: Page, sentence: str) -> None:
    """Types a sentence and presses Enter."""
    page.locator(".tfe-ask-story").fill(sentence)
    page.locator(".tfe-ask-story").press("Enter")


def test_a_page_outlives_its_web_server(new_page: NEW, alive: list[Running]) -> None:
    with balanced([server.port for server in alive]) as port:
        page, faults = new_page()
        page.goto(f"http://127.0.0.1:{port}{LAB.path}?_kind=encoder&_head=2.3&_row=3")
        asks(page, LONG)
        expect(badge(page)).to_contain_text("live · ")
        until(lambda: sum(map(runs, alive)) == 1, PATIENCE / 1000)
        gone = next(server for server in alive if runs(server))
        gone.signal(signal.SIGKILL)
        gone.wait(PATIENCE / 1000)
        alive.remove(gone)
        gone.close()
        (left,) = alive
        until(lambda: runs(left) == 1, PATIENCE / 1000)
        expect(badge(page)).to_contain_text("live · ")
        go(page).click()
        expect(badge(page)).to_have_text("stopped")
        until(lambda: runs(left) == 0, PATIENCE / 1000)
        asks(page, "Two dogs run through the snow.")
        finished(page)
        addressed(page, sentence="Two dogs run through the snow.", _head="2.3")
        shown = page.locator(".tfe-pieces-line").inner_text()
        page.reload()
        finished(page)
        assert page.locator(".tfe-pieces-line").inner_text() == shown and runs(left) == 0
        assert all(urlsplit(asked).port == port for asked in faults.outside)
        # what the browser and Gradio say of a connection that breaks
        for kind in (faults.outside, faults.console, faults.errors):
            kind.clear()


def test_killed_server_is_asked_again(new_page: NEW, alive: list[Running]) -> None:
    server = alive[0]
    page, faults = new_page()
    page.goto(server.url + LAB.path)
    page.evaluate("window.still = true")
    asks(page, LONG)
    expect(badge(page)).to_contain_text("live · word")
    page.locator(".tfe-positions summary").click()
    server.signal(signal.SIGKILL)
    server.wait(PATIENCE / 1000)
    expect(badge(page)).to_have_text("no connection")
    asks(page, "Two dogs run.")
    server.start()
    finished(page)
    addressed(page, sentence="Two dogs run.")
    page.wait_for_selector(".tfe-positions[data-state=shown]")
    assert page.evaluate("window.still") and runs(server) == 0
    assert all(urlsplit(asked).port == server.port for asked in faults.outside)
    # what the browser and Gradio say of a connection that breaks
    for kind in (faults.outside, faults.console, faults.errors):
        kind.clear()


@pytest.mark.usefixtures("site")  # after those that open its pages
def test_a_second_signal_ends_the_server_at_once(alive: list[Running]) -> None:
    (server,) = alive
    stream, _ = streaming(server, "impatient", 10)
    server.signal(signal.SIGTERM)
    until(lambda: draining(server), PATIENCE / 1000)
    server.signal(signal.SIGTERM)
    assert server.wait(PATIENCE / 1000) == 0, server.log()
    stream.close()
