"""Skewing and its memory in a real browser: one number followed through every tensor, steps, heads,
sizes, files, phones, languages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from explorer.components.base import write_script_address
from explorer.components.folded import Question, show_answer
from explorer.labs.music.figures import skew
from explorer.labs.music.panels import meter
from explorer.labs.music.panels.skew import PANEL, read_question
from tests.browser.staged import NEW, Picture, answering, bare, joined, opening
from tests.browser.waiting import addressed, stands

HOSTILE = "<img src=x onerror=alert(1)>"


def tensors(length: int, layer: int, head: int) -> dict[str, Any]:
    """Every tensor of one skewing, worked out with indices alone."""
    random = np.random.default_rng((length, layer, head))
    product = random.normal(size=(length, length)).astype(np.float32)
    padded = np.concatenate((np.zeros((length, 1), np.float32), product), 1)
    reshaped = padded.reshape(length + 1, length)
    i, j = np.indices((length, length))
    direct = np.where(j <= i, product[i, np.clip(length - 1 - (i - j), 0, length - 1)], 0).astype(
        np.float32
    )
    return {
        "product": product,
        "padded": padded,
        "reshaped": reshaped,
        "sliced": reshaped[1:],
        "direct": direct,
        "allowed": j <= i,
    }


def answer(question: Question) -> Any:
    """The head, the size and the beginning that are asked for."""
    wish = read_question(question)
    layer, head = wish.place or (0, 1)
    names = [
        {"en": f"note {wish.first + i}", "zh": f"音 {wish.first + i}"} for i in range(wish.queries)
    ]
    names[0] = {"en": HOSTILE, "zh": HOSTILE}
    other = {"en": "Absolute", "zh": "绝对位置"} if wish.model == "absolute" else None
    how: dict[str, Any] = {
        "events": 64,
        "distances": 512,
        "makes": names,
        "reads": names,
        "other": other,
    }
    made = tensors(wish.queries, layer, head)
    return show_answer(
        question,
        **skew.list_steps(
            {"en": "Music Transformer", "zh": "音乐模型"},
            (layer, head),
            (2, 3),
            **made,
            first=wish.first,
            **how,
        ),
    )


def weigh(question: Question) -> Any:
    """What the memory takes."""
    return show_answer(
        question, **meter.draw_panel(meter.read_question(question), meter.read_peaks())
    )


page_of = answering((lambda: PANEL.place(None), answer), (lambda: meter.PANEL.place(None), weigh))
PAGES = {"trial": page_of}
opened = opening("skew .tfe-asked", query="lang=en&_skew=open")


def test_the_boards_agree_with_numpy_on_where_every_number_goes(
    page_watch: Page, site: str
) -> None:
    found = bare(page_watch, site).evaluate(
        """async (address) => {
            const { places, placeOf, kind } = await import(address);
            const all = [];
            for (let p = 0; p < 5 * 6; p += 1) all.push([places(p, 5), kind(p, 5)]);
            const back = ["product", "padded", "reshaped", "sliced"].every((board) =>
                all.every(([where], p) => !where[board]
                    || placeOf(board, ...where[board], 5) === p));
            return { all, back };
        }""",
        write_script_address("labs/music/skew.js"),
    )
    assert found["back"]
    made = tensors(5, 0, 0)
    values = np.arange(30).reshape(5, 6)
    for place, (where, kind) in enumerate(found["all"]):
        for board, tensor in (
            ("padded", values),
            ("reshaped", values.reshape(6, 5)),
            ("sliced", values.reshape(6, 5)[1:]),
        ):
            assert np.argwhere(tensor == place).tolist() == (
                [] if where[board] is None else [where[board]]
            )
        row, column = divmod(place, 6)
        distance = 5 - column
        assert kind == ("pad" if column == 0 else "garbage" if distance > row else "term")
        if kind == "term":
            assert where["direct"] == [row, row - distance]
            assert made["direct"][row, row - distance] == made["product"][tuple(where["product"])]


def test_a_number_is_followed_and_kept(page: Page, picture: Picture, site: str) -> None:
    picture.drawn("head=1.2 sstep=all squeries=12 sfrom=0")
    picture.click(picture.point(scell=7 * 13 + 10))  # query 7, distance 2
    picture.says(
        "Query 7 (makes note 7) times the embedding of distance 2",
        f"{float(tensors(12, 0, 1)['product'][7, 9]):.3f}".replace("-", "−"),
        "row 7, column 5: the key 2 events before, key 5 (has read note 5)",
        "Of 144 numbers 78 are the relative term; there skewing and the direct formula differ by 0"
        " at most.",
    )
    assert len(picture.marks(line="query")) == 6
    addressed(page, _scell=str(7 * 13 + 10))
    picture.click(picture.point(scell=13))  # the zero of the second row
    picture.says("A zero from the padding lands in row 0, column 1, above the diagonal")
    picture.click(picture.point(scell=3))
    picture.says("It falls into the first row, which is cut off.")
    assert picture.find("img").count() == 0
    picture.press("Escape")
    picture.says("times the embedding")
    addressed(page, _scell=None)
    opened(page, site, "lang=en&_skew=open&_model=absolute")
    expect(picture.find(".tfe-stage-below")).to_contain_text(
        "The Absolute in view has no relative term."
    )


def test_keys_walk_without_new_requests(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    picture, titles = opened(page, site), set()
    for step in ("all", "pad", "reshape", "slice", "mask"):
        picture.drawn(f"head=1.2 sstep={step} squeries=12 sfrom=0")
        titles.add(picture.find(".tfe-stage-name .tfe-units").inner_text())
        picture.press("ArrowRight")
    assert len(titles) == 5
    picture.walks("head={} sstep=mask squeries=12 sfrom=0", "ArrowDown 1.3, ArrowUp 1.2")
    asked = joined(faults)
    picture.walks("head={} sstep=mask squeries=12 sfrom=0", "ArrowDown 1.3")
    assert joined(faults) == asked


def test_fewer_queries_and_a_later_beginning_are_fetched(picture: Picture) -> None:
    picture.find("[role=radio]", has_text="6 queries").click()
    picture.drawn("head=1.2 sstep=all squeries=6 sfrom=0")
    assert len([text for text in picture.texts() if re.fullmatch(r"−?\d\.\d+", text)]) >= 21, (
        "six queries leave room for numbers"
    )
    picture.find("[data-key=sfrom]").fill("20")
    picture.drawn("head=1.2 sstep=all squeries=6 sfrom=20")
    picture.says("makes note 2")


def test_the_tensors_are_taken_along(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_skew=open&_squeries=8")
    picture.drawn("head=1.2 sstep=all squeries=8 sfrom=0")
    expected, arrays, rows = tensors(8, 0, 1), picture.arrays(), picture.rows()
    for name in ("product", "padded", "reshaped", "sliced", "direct"):
        np.testing.assert_array_equal(arrays[name], expected[name])
    assert len(rows) == 36 and all(row["skewed"] == row["direct"] for row in rows)


def test_the_meter_asks_anew_for_the_sizes_that_are_chosen(page_watch: Page, site: str) -> None:
    page, words = page_watch, page_watch.locator(".tfe-meter .tfe-words")
    page.goto(f"{site}/trial?lang=en&_meter=open")
    stands(page, ".tfe-meter [data-drawn]")
    expect(words).to_contain_text("At L = 2,048 and D = 512")
    page.locator(".tfe-meter [data-key='4096']").click()
    expect(words).to_contain_text(
        "At L = 4,096 and D = 512 the direct formula’s R takes 34.4 GB in each layer."
    )
    addressed(page, _mlength="4096")
    page.locator(".tfe-meter button", has_text="Sizes of the paper").click()
    expect(words).to_contain_text("L = 2,048")
