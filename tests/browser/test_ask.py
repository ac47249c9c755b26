"""The input bar and the panel of changes in a real browser, on a lab of a few lines: typed, asked,
changed, taken off, shown as before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.components.base import write_frontend_address
from tests.browser.staged import NEW, bare, heard, listen
from tests.browser.visiting import answer, badge, chip, turn
from tests.browser.waiting import addressed, unfolded
from tests.explorer import small_lab
from tests.explorer.small_lab import HOSTILE, PROGRAM, SLOW
from tests.fitting import assert_fits

LIVE = re.compile(r"^live · |^remembered$")
COMPOSING = {"key": "Escape", "isComposing": True}  # closes the list of an input method


PAGES = {"trial": PROGRAM.place_page}


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    """The model answers the slow text, too, once a test is over."""
    small_lab.go.clear()
    yield
    small_lab.go.set()


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The page once bar, panel and view stand."""
    page.goto(f"{site}/trial?{query}")
    unfolded(page)
    page.wait_for_selector(".tfe-change-panel")
    expect(page.locator(".tfe-difficulty .tfe-words")).to_contain_text(re.compile("It says|回答"))
    return page


def line(page: Page) -> Any:
    return page.locator(".tfe-ask-line")


def view(page: Page) -> Any:
    return page.locator(".tfe-difficulty .tfe-words")


def moved(page: Page, field: str, value: str) -> None:
    """A knob is moved and let go of."""
    turn(page, field, value, within="")


def test_each_task_has_its_own_line(page: Page) -> None:
    expect(badge(page)).to_have_text("stored")
    expect(line(page)).to_have_value("ab")
    line(page).fill("cde")
    expect(badge(page)).to_have_text("not run yet")
    line(page).press("Enter")
    expect(answer(page)).to_have_text("cdecde")
    expect(badge(page)).to_have_text(LIVE)
    addressed(page, text="cde", task=None)
    expect(page.locator(".tfe-ask-facts")).to_have_text("6 letters")
    page.get_by_role("radio", name="Bits").click()
    expect(line(page)).to_have_value("101")
    bits = page.locator(".tfe-ask-bit")
    bits.nth(1).click()
    expect(line(page)).to_have_value("111")
    page.locator(".tfe-ask-go").click()
    expect(answer(page)).to_have_text("111111")
    addressed(page, text="111", task="bits")
    page.get_by_role("radio", name="A word").click()
    expect(line(page)).to_have_value("cde")
    expect(bits).to_have_count(0)


def test_a_change_shows_until_escape(page: Page) -> None:
    expect(chip(page)).to_be_hidden()
    moved(page, "times", "1")
    expect(chip(page)).to_have_text("changed: said 1 timesEsc")
    expect(answer(page)).to_have_text("ab")
    expect(view(page)).to_have_text("It says ab.")
    expect(page.locator(".tfe-change-number")).to_have_text("−75.0")
    expect(page.locator(".tfe-change-from")).to_have_text("100.0 % → 25.0 %")
    addressed(page, times="1")
    expect(page.locator("input[data-field=cut]")).to_be_disabled()
    listen(page, "restore")
    line(page).press("Escape")
    page.locator("body").dispatch_event("keydown", COMPOSING)
    assert heard(page) == []
    page.locator(".tfe-ask-go").focus()
    page.keyboard.press("Escape")
    assert len(heard(page)) == 1
    expect(chip(page)).to_be_hidden()
    expect(answer(page)).to_have_text("abab")
    expect(view(page)).to_have_text("It says abab.")
    expect(page.locator(".tfe-change-result")).to_be_hidden()
    expect(page.locator("input[data-field=times]")).to_have_value("2")
    addressed(page, times=None)


def test_b_shows_the_run_before(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&v=1&text=unseen&times=1")
    expect(chip(page)).to_be_visible()
    expect(page.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false")
    page.keyboard.press("b")
    # which was never in view before: it is asked for
    expect(view(page)).to_have_text("It says unseenunseen.")
    opened(page, site)
    moved(page, "times", "3")
    expect(answer(page)).to_have_text("ababab")
    expect(page.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false")
    where = page.url

    def shows(said: str, pressed: str) -> None:
        expect(answer(page)).to_have_text(said)
        expect(view(page)).to_have_text(f"It says {said}.")
        expect(page.locator(".tfe-changed-before")).to_have_attribute("aria-pressed", pressed)
        expect(page.locator(".tfe-change-number")).to_have_text("−75.0")

    page.keyboard.down("b")
    shows("abab", "true")
    page.keyboard.down("b")  # a key that is held repeats itself
    page.keyboard.up("b")
    shows("ababab", "false")
    page.keyboard.press("b")
    shows("abab", "true")
    page.keyboard.press("b")
    shows("ababab", "false")
    page.locator(".tfe-changed-before").click()
    shows("abab", "true")
    assert page.url == where, "before is no other place"
    page.locator(".tfe-changed-before").click()
    line(page).press("b")
    expect(line(page)).to_have_value("bab")
    shows("ababab", "false")


def test_a_run_can_be_stopped_and_the_knobs_go_back(page: Page) -> None:
    for stop in (lambda: line(page).press("Escape"), page.locator(".tfe-ask-go").click):
        line(page).fill(SLOW)
        line(page).press("Enter")
        expect(badge(page)).to_have_text("live · running")
        expect(page.locator("input[data-field=times]")).to_be_disabled()
        line(page).dispatch_event("keydown", COMPOSING)
        expect(badge(page)).to_have_text("live · running")
        stop()
        expect(badge(page)).to_have_text("stopped")
        expect(page.locator("input[data-field=times]")).to_be_enabled()
    small_lab.go.set()
    line(page).fill("ok")
    line(page).press("Enter")
    expect(answer(page)).to_have_text("okok")


def test_an_answer_that_comes_after_a_newer_wish_is_not_drawn(page_watch: Page, site: str) -> None:
    told = bare(page_watch, site).evaluate(
        """async ([asking, stored]) => {
            const [{ asking: wishes }, { mount }] = await Promise.all([import(asking),
                import(stored)]);
            const props = { value: null }, sent = [], drawn = [];
            let ask = null;
            const wish = wishes({ emit: { ask: (detail) => ask(detail) }, first: "", noLink: {},
                paint() {} });
            let arrive = null;
            const widget = (root, own, emit, watch) => {
                ask = emit.run;
                watch("value", () => wish.receive(own.value) && drawn.push(own.value.text));
            };
            const run = (detail) => sent.push(detail.wished);
            mount("trial", { mount: widget }, document.body, props, { run },
                (_, draw) => (arrive = draw));
            const answer = (text, wished) => {
                props.value = { text, wished };
                arrive();
            };
            for (const text of ["older", "newer"]) wish.begin(null, { text });
            answer("answer to the older", sent[0]);
            answer("answer to the newer", sent[1]);
            ask({ text: "a question beside it" });
            answer("once more", sent[1]);
            answer("of no wish", undefined);
            return drawn;
        }""",
        [
            write_frontend_address("lib/request_lifecycle.js"),
            write_frontend_address("lib/stored.js"),
        ],
    )
    assert told == ["answer to the newer", "once more", "of no wish"]


MOUNTED = """async ([address, answers]) => {
    const { mount } = await import(address);
    const props = { value: null }, drawn = [], heard = [];
    const module = { mount: (root, props, emit, watch) =>
        watch("value", () => drawn.push(props.value.text)) };
    mount("trial", module, document.body, props, {}, (names, draw) => heard.push(draw));
    for (const answer of answers) {
        props.value = answer;
        for (const draw of heard) draw();
    }
    return { drawn, kept: props.value.text };
}"""


def test_a_widget_drops_older_answers(page_watch: Page, site: str) -> None:
    page = bare(page_watch, site)
    answers = [
        {"text": text, "wished": order}
        for text, order in (("first", 1), ("newer", 3), ("older", 2), ("more of it", 3))
    ]
    more = (("begun", 1, 1), ("done", 1, 2), ("done", 1, 2), ("next", 2, 1))
    again = [{"text": text, "wished": order, "said": said} for text, order, said in more]
    for told, drawn in (
        (answers[:3], ["first", "newer"]),
        (answers, ["first", "newer", "more of it"]),
        (again, ["begun", "done", "next"]),
        ([answers[1], {"text": "a look"}], ["newer", "a look"]),
    ):
        assert page.evaluate(MOUNTED, [write_frontend_address("lib/stored.js"), told]) == {
            "drawn": drawn,
            "kept": drawn[-1],
        }


def test_what_is_refused_is_said_and_nothing_else_changes(page: Page) -> None:
    line(page).fill("")
    line(page).press("Enter")
    expect(page.locator(".tfe-ask-error")).to_have_text(f"There is no text, {HOSTILE}.")
    expect(badge(page)).to_have_text("refused")
    expect(answer(page)).to_have_text("abab")
    line(page).fill("x" * 41)
    line(page).press("Enter")
    expect(page.locator(".tfe-ask-error")).to_have_text(
        "Your text has 41 characters; at most 40 can be read."
    )
    line(page).fill("ab")
    moved(page, "times", "9")
    expect(page.locator(".tfe-change-error")).to_have_text("Nine is too much.")
    expect(answer(page)).to_have_text("ab" * 9)
    line(page).fill("😀" * 40)
    line(page).press("Enter")
    expect(answer(page)).to_contain_text("😀" * 40)


def test_what_is_typed_is_never_markup(page: Page) -> None:
    line(page).fill(HOSTILE)
    line(page).press("Enter")
    expect(answer(page)).to_have_text(HOSTILE * 2)
    moved(page, "times", "1")
    expect(page.locator(".tfe-change-sentence")).to_contain_text(HOSTILE)
    expect(page.locator(".tfe-change-sentence .tfe-out")).to_have_text(HOSTILE)
    assert page.locator(".tfe-main :is(img[src=x], script)").count() == 0


def test_story_words_go_to_the_caret(
    page: Page,
) -> None:
    expect(page.locator(".tfe-ask-vocabulary")).to_be_hidden()
    page.get_by_role("radio", name="A story").click()
    story, question = page.locator(".tfe-ask-story"), page.get_by_label("Question", exact=True)
    expect(story).to_have_value("mary took the key.")
    expect(question).to_have_value("where is mary")
    story.fill("")
    for name in ("mary", "took", "key", "."):
        page.get_by_role("button", name=name, exact=True).click()
    expect(story).to_have_value("mary took the key. ")
    expect(story).to_be_focused()
    story.evaluate("(field) => (field.focus(), field.setSelectionRange(14, 17))")
    page.get_by_role("button", name="apple", exact=True).click()
    expect(story).to_have_value("mary took the apple. ")
    page.locator(".tfe-ask-word").first.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(story).to_have_value("mary took the apple john. ")
    question.fill("where is the key")
    question.press("Enter")
    addressed(page, task="story", question="where is the key")
    expect(page.locator(".tfe-ask-given")).to_have_text("where is the key")
    page.get_by_role("radio", name="A word").click()
    expect(question).to_have_count(0)
    line(page).fill("cd")
    line(page).press("Enter")
    addressed(page, task=None, text="cd", question=None)
    expect(page.locator(".tfe-ask-given")).to_have_text("cd")


def test_what_is_typed_while_an_answer_is_on_its_way_stays(page: Page) -> None:
    line(page).fill(f"{SLOW}er")
    line(page).press("Enter")
    expect(badge(page)).to_have_text("live · running")
    line(page).fill("next")
    small_lab.go.set()
    expect(answer(page)).to_have_text(f"{SLOW}er" * 2)
    expect(line(page)).to_have_value("next")
    expect(badge(page)).to_have_text("not run yet")


def test_a_default_is_shown_as_its_number(page: Page) -> None:
    knob = page.locator("input[data-field=most]")
    expect(knob).to_have_value("4")
    moved(page, "most", "1")
    expect(answer(page)).to_have_text("ab")
    addressed(page, most="1")
    moved(page, "most", "4")
    expect(answer(page)).to_have_text("abab")
    addressed(page, most=None)
    page.get_by_role("button", name="Example 3").click()
    expect(answer(page)).to_have_text("101101")
    expect(knob).to_have_value("8")


def test_exports_and_knobs_without_effect(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&v=1&text=xyz&times=1")
    expect(page.locator(".tfe-change-number")).to_have_text("−75.0")
    with page.expect_download() as caught:
        page.locator(".tfe-ask-take").click()
    written = Path(caught.value.path()).read_text().splitlines()
    assert written[:3] == ["xyz", "Answer: xyz ✗ wrong, right is xyzxyz", "3 letters"]
    assert f"another: {HOSTILE} ✗ wrong" in written and written[-1].startswith("Trial")
    files = {}
    for kind in ("TXT", "CSV"):
        with page.expect_download() as caught:
            page.locator(f".tfe-change .tfe-export[data-kind={kind}]").click()
        files[kind] = Path(caught.value.path()).read_text("utf-8-sig").splitlines()
    assert files["TXT"][:3] == [
        "−75.0 points, 100.0 % → 25.0 %",
        "own, answer: xyzxyz → xyz (another)",
        "held out, share, %: 100.0 → 25.0 (−75.0)",
    ]
    assert files["TXT"][-1].startswith("Trial")
    assert files["CSV"][1:] == [
        "answer,xyzxyz,xyz,",
        "right,1,0,-1",
        "share,1,0.25,-0.75",
        "inputs,200,200,0",
    ]
    cut = page.locator("input[data-field=cut]")
    expect(cut).to_be_disabled()
    expect(cut).to_have_attribute("title", "only as trained")
    moved(page, "times", "2")
    expect(cut).to_be_enabled()


def table(page: Page) -> list[list[str]]:
    """The table of a change, row by row."""
    rows = page.locator(".tfe-change-table tbody tr").all()
    return [[cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in rows]


def test_answers_are_compared_sign_by_sign(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&v=1&text=a1&loud=1")
    expect(page.locator(".tfe-change-number")).to_have_text("−75.0")
    assert table(page) == [
        ["own"],
        ["answer", "a1a1 ✓", "A1A1 ✗", "another"],
        ["held out"],
        ["share, %", "100.0", "25.0", "−75.0"],
    ]
    expect(page.locator(".tfe-change-table .is-changed")).to_have_text(["A", "A"])
    line(page).fill("abcdefghi")
    line(page).press("Enter")
    expect(chip(page)).to_be_hidden()
    moved(page, "times", "1")
    expect(page.locator(".tfe-change-sentence")).to_have_text(
        "With said 1 times, it says abcdefghi."
    )
    assert table(page)[1:4] == [
        ["answer before", "abcdefghiabcdefghi ✓"],
        ["answer after", "abcdefghi ✗"],
        ["difference", "another"],
    ]


def test_on_a_phone_the_story_words_unfold(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site, "lang=en&v=1&task=story&text=john+took+it.&question=where")
    expect(page.get_by_role("button", name="apple")).to_be_hidden()
    page.get_by_role("button", name="Words that it knows").click()
    expect(page.get_by_role("button", name="apple")).to_be_visible()
    assert_fits(page, ".tfe-ask", press=44)
