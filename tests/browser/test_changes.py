"""What changes if …, in a real browser: knobs, pictures and strips of texts before and after, the
number, files, phones, languages."""

from __future__ import annotations

from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from explorer.components.base import write_frontend_address
from tests.browser.staged import Picture, numbers
from tests.browser.visiting import change_opened as opened
from tests.browser.visiting import turn
from tests.browser.waiting import addressed, asked, becomes
from tests.explorer.small_drawer import (
    COUNT,
    GIVEN,
    HOSTILE,
    PROGRAM,
    READ,
    TOO_FAR,
    TOO_MUCH,
    pair,
    side,
)

OF_TEXT = "lang=en&v=1&task=text&text=The+sea"


# Where arrow keys lead in a text whose first places are not drawn.
INSIDE = """async (address) => { const { positions } = (await import(address)).KINDS,
    bounds = { count: 9, first: 4 };
    return [positions.move([], 1, bounds), positions.move([4], -1, bounds)]; }"""

PAGES = {"trial": PROGRAM.place_page}


def knob(page: Page, field: str) -> Any:
    """A slider or a choice, with its name and what it says."""
    return page.locator(f".tfe-change [data-knob={field}]")


def says(page: Page, field: str, text: str) -> None:
    """Waits until a slider says this."""
    expect(knob(page, field).locator("output")).to_have_text(text)


def painted(page: Page, said: dict[str, tuple[str, str]]) -> None:
    """Waits until the one number of this model stands there, and from what to what it goes."""
    becomes(page, lambda: numbers(page), said)


def strips(page: Page) -> list[dict[str, Any]]:
    """The grounds of the three strips."""
    return [one["box"] for one in Picture(page, "change").marks("rect", fill="paper")]


# ---- pictures


def test_numbers_as_trained_lie_inside(page: Page) -> None:
    expect(page.locator(".tfe-change-picture")).to_be_hidden()
    expect(knob(page, "memory")).to_be_hidden()  # it changes models of texts
    says(page, "stride", "28 positions · as trained")
    expect(knob(page, "stride").locator(".is-here")).to_have_text("28")
    turn(page, "stride", 6)
    addressed(page, stride="7")
    says(page, "stride", "7 positions")
    costs = pair("fixed", 1.25, True).numbers
    name = f"fixed {HOSTILE}"
    becomes(
        page,
        lambda: numbers(page).get(name),
        (f"+{costs[1] - costs[0]:.2f}", f"80.25 → {costs[1]:.2f}"),
    )
    picture = Picture(page, "change")
    assert [text for text in picture.texts() if "±" in text] == [
        "diff. ±255",
        "nats ±1.25",
    ] * 2, "one symmetric scale for all models"
    expect(page.locator(".tfe-change .tfe-words .tfe-key")).to_have_text("7")
    boxes = [mark["box"] for mark in (*picture.marks("pixels"), *picture.marks("cells"))]
    assert len(boxes) == 8 and len({round(box["x1"] - box["x0"], 3) for box in boxes}) == 1, (
        "four equal pictures of each"
    )
    assert {(mark["low"], mark["high"]) for mark in picture.marks("cells")} == {
        (-255, 255),
        (-1.25, 1.25),
    }
    assert page.locator(".tfe-change img").count() == 0
    turn(page, "stride", TOO_FAR - 1)
    expect(page.locator(".tfe-ask-error")).to_have_text(f"So much is refused. {HOSTILE}")
    says(page, "stride", "7 positions")
    turn(page, "stride", 27)
    addressed(page, stride=None)
    expect(page.locator(".tfe-change-picture")).to_be_hidden()


def test_summary_columns_fit_the_stride(page: Page) -> None:
    turn(page, "stride", 2, rest=False)
    says(page, "summary", "3 of each block · all that “stride” allows")
    expect(knob(page, "summary").locator(".tfe-knob-barred")).to_be_visible()
    for field, place, stride, summary in (
        ("stride", 2, "3", "3"),
        ("summary", 19, "3", "3"),
        ("stride", 11, "12", "3"),
        ("summary", 8, "12", "9"),
        ("stride", 5, "6", "6"),
        ("stride", 27, None, "9"),
    ):
        turn(page, field, place)
        addressed(page, stride=stride, summary=summary)
    page.locator(".tfe-change-restore").click()
    says(page, "summary", "4 of each block · as trained")


def test_a_pattern_and_a_silenced_head(page_watch: Page, site: str) -> None:
    page, picture = (
        opened(page_watch, site, "lang=en&_model=dense&_head=1.4"),
        Picture(page_watch, "change"),
    )
    knob(page, "silenced").get_by_role("button", name="Silence head 1·4 of dense").click()
    addressed(page, silenced="dense.0.3")
    chips = knob(page, "silenced").locator(".tfe-knob-chip")
    expect(chips).to_have_text("head 1·4 of dense×")
    becomes(page, lambda: len(numbers(page)), 2)
    arrays = picture.arrays()
    assert arrays["fixed.more"].shape == (28, 28) and arrays["fixed.more"][20, 20] == np.float32(
        -1.25
    )
    assert arrays["strided.nats"][0] == 80.25 and np.array_equal(
        arrays["strided.before"], pair("strided", 0.6, True).before
    )
    knob(page, "pattern").locator("[data-key='']").press("ArrowRight")
    addressed(page, silenced="dense.0.3", pattern="full")
    expect(knob(page, "pattern").locator("[data-key=full]")).to_be_focused()
    page.keyboard.press("Escape")
    addressed(page, silenced=None, pattern=None)
    expect(chips).to_have_count(0)


# ---- texts


def test_a_shorter_memory_gives_three_strips(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, OF_TEXT)
    expect(page.locator(".tfe-change-picture")).to_be_hidden()
    expect(knob(page, "stride")).to_be_hidden()
    says(page, "memory", "512 characters · as trained")
    turn(page, "memory", 2, rest=False)
    says(page, "memory", "64 characters")
    # it asks when it comes to rest
    expect(page.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false")
    addressed(page, memory=None)
    turn(page, "memory", 2)
    addressed(page, memory="64")
    costs = side("xl", 0.4, 1)
    was, became = (float(nats[:GIVEN].mean() / np.log(2)) for nats in (costs.before, costs.after))
    painted(page, {"Transformer-XL": (f"+{became - was:.2f}", f"{was:.2f} → {became:.2f}")})
    assert (
        len(strips(page)) == 3
        and len({round(box["y1"] - box["y0"], 3) for box in strips(page)}) == 1
    ), "three equal pictures"
    words, under = page.locator(".tfe-change .tfe-words"), page.locator(".tfe-changed-below")
    expect(under).to_contain_text("Absolute positions · It has no memory.")
    expect(words.locator(".tfe-key")).to_have_text("64 states")
    expect(words).to_contain_text(HOSTILE)
    expect(under.locator("ins")).to_contain_text(HOSTILE)
    assert page.locator(".tfe-change img").count() == 0
    # Beyond training nothing changes: that is said, and there is nothing to draw.
    turn(page, "memory", 7)
    painted(page, {"Transformer-XL": ("0.00", f"{was:.2f} → {was:.2f}")})
    says(page, "memory", "768 characters · beyond training")
    assert strips(page) == []
    expect(under).to_contain_text(
        f"Transformer-XL · The change does not reach it: {was:.2f} bits per character, as before."
    )


def test_a_choice_asks_at_once_and_two_models_share_a_switch(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, OF_TEXT)
    knob(page, "segment").locator("[data-key='128']").focus()
    page.keyboard.press("ArrowLeft")
    addressed(page, segment="64")
    expect(knob(page, "segment").locator("[data-key='64']")).to_be_focused()
    switch = page.locator(".tfe-change-picture [role=radio]")
    expect(switch).to_have_count(2)
    becomes(page, lambda: list(numbers(page)), ["Transformer-XL"])

    def scale() -> list[str]:
        said = Picture(page, "change").texts(colour="ink3", align="right")
        return [text for text in said if text.lstrip("+−").replace(".", "").isdigit()]

    before = scale()
    switch.nth(1).click()
    becomes(page, lambda: list(numbers(page)), ["Absolute positions"])
    addressed(page, _model="absolute")
    assert scale() == before, "both models stand on one scale"


def test_the_knobs_stand_where_the_request_in_view_says(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, f"{OF_TEXT}&memory=200")
    says(page, "memory", "200 characters")
    expect(knob(page, "memory").locator("input")).to_have_value("4")  # the nearest place
    turn(page, "memory", 8)  # more than the model takes
    assert TOO_MUCH == 1024
    expect(page.locator(".tfe-ask-error")).to_have_text(f"So much is refused. {HOSTILE}")
    says(page, "memory", "200 characters")
    for back in (
        lambda: knob(page, "memory").locator("input").press("Escape"),
        page.locator(".tfe-change-restore").click,
    ):
        turn(page, "memory", 3)
        addressed(page, memory="128")
        expect(page.locator(".tfe-change-picture")).to_be_visible()
        back()
        addressed(page, memory=None)
        expect(page.locator(".tfe-change-picture")).to_be_hidden()
        expect(knob(page, "memory").locator("input")).to_have_value("6")
    expect(page.locator(".tfe-ask-error")).to_be_hidden()


def test_spans_are_forced_by_head_or_layer(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, f"{OF_TEXT}&_head=2.3")
    slider, chips = (
        knob(page, "spans").locator("input"),
        knob(page, "spans").locator(".tfe-knob-chip"),
    )
    expect(slider).to_have_attribute("aria-valuetext", "as trained")
    turn(page, "spans", 8)
    addressed(page, spans="-1.-1.16%2E0")
    knob(page, "spans").locator("[data-key=head]").click()
    addressed(page, _change_of="head")
    expect(slider).to_have_value("8")  # what is said of all heads holds for this one
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(chips).to_have_text(["all heads: 16×", "2·3: 24×"])
    knob(page, "spans").locator("[data-key=layer]").click()
    turn(page, "spans", 3)  # takes the place of what was said of its heads
    expect(chips).to_have_text(["all heads: 16×", "layer 2: 3×"])
    chips.first.click()
    expect(chips).to_have_text(["layer 2: 3×"])
    page.locator(".tfe-change-restore").click()
    expect(chips).to_have_count(0)
    opened(page, site, f"{OF_TEXT}&spans=-1.-1.16%252E0,1.2.12%252E5")
    expect(chips).to_have_text(["all heads: 16×", "2·3: 12.5×"])


def test_the_comparison_is_exported(page_watch: Page, site: str) -> None:
    page, picture = (
        opened(page_watch, site, f"{OF_TEXT}&memory=64&_reread_table=open"),
        Picture(page_watch, "change"),
    )
    rows = picture.find(".tfe-stage-table tbody tr")
    expect(rows).to_have_count(9 + 2)  # segments, then all that was given and all that was written
    expect(rows.nth(9).locator("td").last).to_have_text("0.31")
    html, told, lines, arrays = (
        picture.saved("HTML")[1],
        picture.saved("TXT")[1].decode(),
        picture.rows(),
        picture.arrays(),
    )
    assert f"<p>{HOSTILE}".encode() not in html
    assert told.startswith("Transformer-XL, bits per character: +0.31 (") and told.splitlines()[
        -1
    ].startswith("Trial")
    assert [line["character"] for line in lines] == list(READ)
    np.testing.assert_allclose(
        arrays["xl.after_bits"], side("xl", 0.4, 1).after / np.log(2), rtol=1e-5
    )
    assert int(arrays["xl.given"]) == GIVEN

    def through(colour: str) -> int:
        return sum(
            one["d"].startswith("M") and "L" in one["d"]
            for one in picture.marks("path", line=colour)
        )

    becomes(page, lambda: through("query"), 3)  # the telling one, in every strip
    assert page.evaluate(INSIDE, write_frontend_address("lib/selection.js")) == [[4], [4]]
    picture.says(f"{list(READ)[640]}·640")
    box = strips(page)[0]
    middle = picture.spot({"left": (box["x0"] + box["x1"]) / 2, "top": box["y0"] + 20})
    picture.click(middle)
    becomes(page, lambda: abs(int(asked(page).get("_pos", ["-9"])[0]) - COUNT // 2) <= 4, True)
    picture.click((middle[0] + 60, middle[1]), shift=True)
    becomes(page, lambda: through("query"), 6)
    for key, pos in (("End", COUNT - 1), ("ArrowLeft", COUNT - 2)):
        picture.press(key)
        addressed(page, _pos=str(pos))
    picture.says(f"·{COUNT - 2}")
    page.keyboard.press("Escape")  # lets the character go, not the change
    addressed(page, _pos=None, memory="64")
    expect(page.locator(".tfe-change-picture")).to_be_visible()
