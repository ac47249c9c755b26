"""A server of the first lab alone, which may be stopped: who leaves it, and a restart, over which it remembers nothing."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from benchmarks.visitors.balanced import balanced
from explorer.labs import LABS
from tests.browser.conftest import ARGUMENTS, PATIENCE
from tests.browser.waiting import addressed, becomes
from tests.conftest import Running
from tests.explorer.asking import Stream, answers, event, join
from tests.explorer.test_leaving import LONG, SLOW, SOON, drained, draining, given, late, runs, streaming, until
from tests.pages import PROGRAM

NEW = Callable[..., tuple[Page, Any]]
LAB = next(lab for lab in LABS if lab.slug == "translation")


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    """The server; a long sentence goes on without end there, and when it is told to leave it waits for that."""
    server = Running(command=[*SLOW, "1000"], EXPLORER_METRICS="1", PAUSE="0.05", HOLD="6")
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture(scope="module")
def alive(small: Running) -> Iterator[list[Running]]:
    """The servers that run: this one, or another in its place."""
    servers = [small]
    yield servers
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def site(small: Running) -> str:
    """Its address."""
    return small.url


@pytest.fixture
def doomed(playwright_driver: Playwright, tmp_path: Path) -> Iterator[tuple[Browser, Callable[[], None]]]:
    """A browser of its own, and how to kill it as a power cut would."""
    said, profile = tmp_path / "said", tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    command = [PROGRAM, *ARGUMENTS, "--headless=new", "--remote-debugging-port=0"]
    with said.open("wb") as file:
        process = subprocess.Popen([*command, f"--user-data-dir={profile.name}", "about:blank"], stderr=file, start_new_session=True)

    def kill() -> None:
        for pid in [process.pid, *_below(process.pid)]:  # some of them lead process groups of their own
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(30)

    def address() -> str:
        return next(iter(re.findall(r"^DevTools listening on (\S+)$", said.read_text(errors="replace"), flags=re.M)), "")

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


def test_the_stop_button_and_a_killed_browser_free_the_worker(small: Running, doomed: tuple[Browser, Callable[[], None]]) -> None:
    browser, kill = doomed
    page = browser.contexts[0].new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(small.url + LAB.path)
    badge = page.locator(".tfe-ask .tfe-badge")
    for said, ends in ((LONG, page.locator(".tfe-ask-go").click), (f"Once more: {LONG}", kill)):
        page.locator(".tfe-ask-story").fill(said)
        page.locator(".tfe-ask-story").press("Enter")
        expect(badge).to_contain_text("live · word")
        assert runs(small) == 1
        ends()
        if ends is not kill:
            expect(badge).to_have_text("stopped")
        assert until(lambda: runs(small) == 0, PATIENCE / 1000) < SOON + late(small)
    join(small.url, event(small.url, LAB.path, "ask"), given("A dog runs."), "next")
    stream = Stream(small.url, "next")
    assert stream.until(lambda message: message["msg"] == "process_completed")["success"]
    stream.close()


def leaves_when_all_is_answered(server: Running) -> None:
    """Tells the server to leave while visitors wait for their answers."""
    number, told, begun = event(server.url, LAB.path, "ask"), list[list[dict[str, Any]]](), threading.Semaphore(0)

    def visit(visitor: int) -> None:
        detail = given(f"{visitor} young men in white shirts are standing outside.")
        told.append(answers(server.url, number, detail, f"visitor{visitor}", begun))

    visitors = [threading.Thread(target=visit, args=(i,)) for i in range(2)]
    for visitor in visitors:
        visitor.start()
    for _ in visitors:
        assert begun.acquire(timeout=60)
    server.signal(signal.SIGTERM)
    for visitor in visitors:
        visitor.join(60)
    assert server.wait(PATIENCE / 1000) == 0, server.log()
    assert drained(server)["all_answered"] is True
    assert len(told) == 2
    for messages in told:
        done = [message for message in messages if message["msg"] == "process_completed"]
        assert done and done[-1]["success"], messages
    assert "Traceback" not in server.log(), server.log()


def answered(page: Page) -> str:
    """The output once it is live."""
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(re.compile(r"live · [\d.,]+ m?s|remembered"))
    return page.locator(".tfe-pieces-line").inner_text()


def test_what_runs_at_a_restart_is_answered_an_open_page_goes_on_and_a_link_restores_its_view(page_watch: Page, small: Running) -> None:
    page = page_watch
    address = f"{small.url}{LAB.path}?v=1&sentence=Two+dogs+run+through+the+snow.&_kind=encoder&_head=2.3&_row=3"
    page.goto(address)
    before, view = answered(page), page.locator(".tfe-attention")
    locked = "“through” (3)"  # a word of that sentence: the map is drawn once its numbers are here, after the words stand
    expect(view.locator(".tfe-words")).to_contain_text(locked)
    sentence = view.inner_text()

    leaves_when_all_is_answered(small)
    small.start(ready=False)  # it answers while it is getting ready

    page.locator(".tfe-ask-story").fill("A man is sitting on a bench.")
    page.locator(".tfe-ask-go").click()
    addressed(page, sentence="A man is sitting on a bench.")
    assert answered(page) != before
    page.goto(address)
    assert answered(page) == before
    expect(view.locator(".tfe-words")).to_contain_text(locked)
    becomes(page, view.inner_text, sentence)
    assert page.locator(".tfe-ask-story").input_value() == "Two dogs run through the snow."
    addressed(page, _head="2.3", _row="3")


def test_a_page_whose_web_server_is_killed_comes_back_from_another_which_is_asked_again(new_page: NEW, alive: list[Running]) -> None:
    alive.append(Running(command=[*SLOW, "1000"], EXPLORER_METRICS="1", PAUSE="0.05", HOLD="6"))
    small, other = alive
    other.start(ready=False)
    with balanced([small.port, other.port]) as port:
        page, faults = new_page()
        page.goto(f"http://127.0.0.1:{port}{LAB.path}")
        page.locator(".tfe-ask-story").fill(LONG)
        page.locator(".tfe-ask-story").press("Enter")
        badge = page.locator(".tfe-ask .tfe-badge")
        expect(badge).to_contain_text("live · ")
        until(lambda: runs(small) + runs(other) == 1, PATIENCE / 1000)
        gone, left = (small, other) if runs(small) else (other, small)
        gone.signal(signal.SIGKILL)
        gone.wait(PATIENCE / 1000)
        alive.remove(gone)
        gone.close()
        until(lambda: runs(left) == 1, PATIENCE / 1000)
        expect(badge).to_contain_text("live · ")
        page.locator(".tfe-ask-go").click()
        expect(badge).to_have_text("stopped")
        until(lambda: runs(left) == 0, PATIENCE / 1000)
        page.reload()
        expect(badge).to_contain_text("stored")
        assert runs(left) == 0
        assert all(urlsplit(asked).port == port for asked in faults.outside)
        for kind in (faults.outside, faults.console, faults.errors):  # what the browser and Gradio say of a connection that breaks
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
