"""The exercises of a lab: checked on the run and the selection in view, remembered by the browser,
handed in as a code."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.contract.exercises import Attempt, Exercise
from explorer.page.exercises import view_exercises
from explorer.web.server import Site
from tests.bench import Served, lab_of
from tests.browser.visiting import badge
from tests.conftest import built
from tests.explorer.small_lab import PROGRAM, Ask, Said, explain, text

LOUD, PLACE = "Make it say something loud.", "Lock the third letter."


def is_loud(attempt: Attempt[Ask, Said]) -> bool:
    """Whether the change made the answer loud, beside the plain one."""
    return attempt.explanation.answer == attempt.plain.answer.upper() != attempt.plain.answer


EXERCISES: tuple[Exercise[Ask, Said], ...] = (
    Exercise("loud", text(LOUD, "大声。"), text("Loud.", "大声"), "v=1&loud=1", is_loud),
    Exercise(
        "place",
        text(PLACE, "锁定第三个字母。"),
        text("The third.", "第三个"),
        "v=1&_pos=2",
        lambda attempt: attempt.look.get("pos") == "2",
    ),
)
SMALL = replace(
    PROGRAM,
    views=(
        *PROGRAM.views,
        view_exercises("trial", EXERCISES, explain, PROGRAM.remove_changes),
    ),
)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """A site of one small lab with two exercises."""
    lab = replace(lab_of("/trial", "trial", 2017, 5, SMALL.place_page), exercises=EXERCISES)
    served = Served(built(lambda: Site([lab])).gate)
    yield served.url
    served.close()


def open_panel(page: Page, site: str, query: str) -> Any:
    """The rows of the open panel, by their place."""
    page.goto(f"{site}/trial?lang=en&_exercises=open&{query}")
    expect(badge(page)).to_have_text(re.compile("stored|live|remembered"))
    return page.locator(".tfe-exercises .tfe-exercise")


def check(row: Any, says: str) -> None:
    row.get_by_role("button", name="Check").click()
    expect(row.get_by_role("status")).to_have_text(says)


def test_checked_on_run_and_selection(page_watch: Page, site: str) -> None:
    rows = open_panel(page_watch, site, "v=1")
    for place in (0, 1):
        check(rows.nth(place), "Not yet: the run and the selection in view do not show it.")
    check(open_panel(page_watch, site, "v=1&loud=1").nth(0), "Solved.")
    check(open_panel(page_watch, site, "v=1&_pos=2").nth(1), "Solved.")
    expect(rows.nth(0).get_by_role("status")).to_have_text("Solved.")  # remembered


def test_code_and_results(page_watch: Page, site: str, tmp_path: Path) -> None:
    check(open_panel(page_watch, site, "v=1&loud=1").nth(0), "Solved.")
    page_watch.get_by_role("link", name="All exercises").click()
    expect(page_watch.locator(".tfe-exercise-count")).to_have_text("1 of 2 solved")
    code = page_watch.locator(".tfe-exercise-code").inner_text()
    given = page_watch.get_by_role("textbox", name="Read a code")
    verdict = page_watch.locator(".tfe-exercise-codes").get_by_role("status")
    given.fill(code.lower())
    expect(verdict).to_contain_text("This code says 1 of 2")
    given.fill(code[:-1] + ("A" if code[-1] != "A" else "B"))
    expect(verdict).to_contain_text("This is no code of these exercises")
    with page_watch.expect_download() as saved:
        page_watch.get_by_role("button", name="Results as CSV").click()
    saved.value.save_as(tmp_path / "results.csv")
    _head, loud, place = csv.reader((tmp_path / "results.csv").read_text("utf-8-sig").splitlines())
    assert loud[1:] == [LOUD, loud[2]] and re.fullmatch(r"\d{4}-\d\d-\d\d", loud[2])
    assert place[1:] == [PLACE, ""]


def test_printed_with_answers(page_watch: Page, site: str) -> None:
    page_watch.goto(f"{site}/exercises?lang=en")
    answer = page_watch.locator(".tfe-exercise-answer").first
    page_watch.evaluate("window.print = () => (window.printed = true)")
    page_watch.emulate_media(media="print")
    for name, shown in (("Print the sheet", False), ("Print with answers", True)):
        page_watch.emulate_media(media="screen")
        page_watch.get_by_role("button", name=name).click()
        assert page_watch.evaluate("window.printed")
        page_watch.emulate_media(media="print")
        expect(answer).to_be_visible(visible=shown)
