"""A page of a lab that tests of one worker visit one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from tests.pages import Contexts, Faults, watch

if TYPE_CHECKING:
    from tests.conftest import Running

# Goes to an address of the page as the browser's Back does.
GO = """(query) => {
  document.activeElement?.blur();
  scrollTo(0, 0);
  history.pushState({}, "", `${location.pathname}?${query}`);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}"""
# without its answer
BUSY = (
    '[data-view=ask]:is([data-state=""], [data-state=empty], [data-state=running],'
    " [data-state=waiting])"
)
# A part of a page that is being computed or drawn, or waits its turn.
AT_WORK = (
    '[data-view]:is([data-state="running"], [data-state="waiting"],'
    ' [data-state="ready"]:has(details[open])), [aria-busy=true]'
)
# the wish whose answer the input bar shows
NEWEST = "() => Number(document.querySelector('[data-view=ask]').dataset.wish)"


def gone(page: Page, query: str) -> None:
    """Goes to a link of the page as Back does, and waits for its answer."""
    before = page.evaluate(NEWEST)
    page.evaluate(GO, query)
    page.wait_for_function(f"(before) => ({NEWEST})() > before", arg=before)


class Visit:
    """The page of a lab that the tests of a file open one after the other: anew it takes seconds,
    in place a part of one."""

    def __init__(self, contexts: Contexts, site: str) -> None:
        self._contexts, self.site = contexts, site
        self.page: Page | None = None
        self.faults = Faults()
        # answers with exact rows of a map, since the page was opened
        self.rows: list[Response] = []

    def __call__(self, address: str, anew: bool = False) -> Page:
        """The lab as a link opens it, "/translation?beam=3", once its result is here. anew: on a
        page that nobody has used."""
        path, _, query = address.partition("?")
        if (
            anew
            or self.page is None
            or self.page.is_closed()
            or urlsplit(self.page.url).path != path
        ):
            page = self.anew(path)
            expect(page.locator("[data-view=ask]")).to_be_attached()
            expect(page.locator(BUSY)).to_have_count(0)
            if not query:
                return page
        page = self.page
        page.set_viewport_size({"width": 1280, "height": 900})
        # what somebody typed and did not run would stay
        if asked(urlsplit(page.evaluate("location.href")).query) == asked(query):
            from explorer.labs import LABS  # not by the process that only hands out the tests

            self._go(page, next(lab for lab in LABS if lab.path == path).examples[1])
        self._go(page, query)
        return page

    def anew(self, path: str, width: int = 1280) -> Page:
        """The lab at its bare address, on a page that nobody has used."""
        self._contexts.end(self.site)
        self.page = self._contexts.page(self.site, width)
        self.faults, self.rows = watch(self.page, self.site), []
        self.page.on(
            "response", lambda answer: self.rows.append(answer) if "/looks/" in answer.url else None
        )
        self.page.goto(self.site + path)
        return self.page

    @staticmethod
    def _go(page: Page, query: str) -> None:
        gone(page, query)
        expect(page.locator(BUSY)).to_have_count(0)

    def done(self) -> list[str]:
        """What went wrong on the page; then the next test opens it anew."""
        found = self.faults.all()
        if found and self.page is not None:
            self.page.close()
        return found


@pytest.fixture(scope="session")
def visited(contexts: Contexts, running: Running) -> Iterator[Visit]:
    """The page of this worker's visits."""
    yield Visit(contexts, running.url)
    contexts.end(running.url)


@pytest.fixture
def visit(visited: Visit) -> Iterator[Visit]:
    """The page that tests of one lab which run one after the other share; a fault on it fails the
    test."""
    yield visited
    found = visited.done()
    assert not found, "\n".join(found)


def asked(query: str) -> list[tuple[str, str]]:
    """The part of an address that says what is run."""
    return [
        (key, value)
        for key, value in parse_qsl(query, keep_blank_values=True)
        if key not in {"step", "lang"} and key[0] != "_"
    ]
