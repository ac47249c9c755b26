"""What hashing misses, in a real browser: rounds, buckets, maps, heads, files, phones,
languages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.folded import Question, show_answer, show_refusal
from explorer.components.stage import place_folded_picture
from explorer.labs.reformer import texts
from explorer.labs.reformer.figures import missed
from tests.browser.staged import NEW, Picture, answering, joined, opening
from tests.browser.waiting import addressed, becomes
from tests.explorer import missing

HOSTILE = "<img src=x onerror=alert(1)>"
LONG = tuple("the quick brown fox jumps over the lazy dog " * 14)[:600]


def answer(question: Question) -> Any:
    """The head and the number of buckets that are asked for; "long" and "full" are two further
    models."""
    wish: Any = question.wish
    if wish["model"] == "gone":
        return show_refusal(question, {"en": "The run has left the server.", "zh": "运行已不在。"})
    layer, head = (int(part) - 1 for part in (wish["head"] or "1.2").split("."))
    found = missing.head(
        layer,
        head,
        wish["buckets"] or 8,
        tokens=LONG if wish["model"] == "long" else missing.TOKENS,
    )
    if wish["model"] == "full":
        found = {**found, "trained": 0, "ran": (0, 8), "tokens": (HOSTILE, *missing.TOKENS[1:])}
    return show_answer(
        question,
        **missed.draw_boards({"en": "4 rounds", "zh": "4 轮"}, (layer, head), (2, 3), **found),
    )


page_of = answering(
    (lambda: place_folded_picture("missed", texts=texts.MISSED, picture="reformer/missed"), answer)
)
PAGES = {"trial": page_of}
opened = opening("missed .tfe-asked", query="lang=en&_missed=open")


def drawn(picture: Picture, rounds: int, buckets: int, head: str, pos: int | str) -> None:
    """Waits until this is in view."""
    picture.drawn(f"missedrounds={rounds} missedbuckets={buckets} head={head} pos={pos}")


def percent(value: float) -> str:
    """A share as the page writes it."""
    return "<0.1" if 0 < value < 0.05 else f"{value:.1f}"


def point(picture: Picture, number: int, query: int, key: int) -> tuple[float, float]:
    """The middle of a cell of the first or the second map on the screen."""
    box, size = picture.marks("cells")[number]["box"], len(missing.TOKENS)
    side = (box["x1"] - box["x0"]) / size
    return picture.spot(
        {"left": box["x0"] + (key + 0.5) * side, "top": box["y0"] + (query + 0.5) * side}
    )


def seen_weights(found: dict[str, Any], rounds: int) -> np.ndarray:
    """(query, key) weights of what so many rounds let meet; who meets nobody looks at itself."""
    met = (found["first"] > 0) & (found["first"] <= rounds)
    weights = np.where(met, np.exp(found["log_full"]), 0)
    alone = ~met.any(1)
    weights[alone, alone.nonzero()[0]] = 1
    return weights / weights.sum(1, keepdims=True)


def test_more_rounds_never_miss_more(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    found, column = missing.head(0, 1), missing.KINDS.index(8)
    asked = joined(faults)
    title, said = picture.find(".tfe-title"), []
    for rounds in range(1, 17):
        picture.find(".tfe-stage-transport .tfe-range").fill(str(rounds))
        expect(title).to_have_text(
            f"{percent(found['table'][rounds - 1, column])} % of the weight is missed"
        )
        said.append(float(title.inner_text().split(" ")[0].replace("<", "")))
    assert said == sorted(said, reverse=True) and said[0] > said[-1]
    assert joined(faults) == asked
    picture.find(".tfe-stage-transport .tfe-range").fill("1")
    gone, pairs = percent(found["table"][0, column]), percent(found["pairs"][0, column])
    picture.says(
        f"1 round with 8 buckets sees {pairs} % of the pairs and keeps {100 - float(gone):.1f} % of"
        f" the weight; {gone} % is missed."
    )
    addressed(page, _missedrounds="1")


def test_the_maps_of_another_number_of_buckets_follow(picture: Picture) -> None:
    picture.find("[data-key='32']").click()
    addressed(picture.page, _missedbuckets="32")
    found = missing.head(0, 1, 32)
    expect(picture.find(".tfe-title")).to_contain_text(f"{percent(found['table'][3, 4])} %")
    picture.says("misses")  # the maps are here
    files = picture.arrays()
    np.testing.assert_array_equal(files["first_round"], found["first"])
    np.testing.assert_allclose(files["hashed"], seen_weights(found, 4), atol=1e-5)
    assert 100 * files["lost"][1:].mean() == pytest.approx(float(found["table"][3, 4]), abs=1e-3)
    assert files["rounds_buckets"].tolist() == [4, 32] and files["full_axes"].tolist() == [
        "query",
        "key",
    ]
    rows = picture.rows()
    assert len(rows) == 16 * 6
    assert float(rows[10]["missed, % of the weight"]) == pytest.approx(
        float(found["table"][1, 4]), abs=1e-5
    )


def test_it_says_that_a_head_is_awaited(page_watch: Page, site: str) -> None:
    picture, held = opened(page_watch, site), []
    page_watch.route(re.compile("/queue/join"), lambda route: held.append(route))
    picture.press("ArrowDown")
    expect(picture.find()).to_have_attribute("data-drawn", re.compile(r"head=1\.3 .*waits$"))
    becomes(page_watch, lambda: len(held), 1)
    held[0].continue_()
    expect(picture.find()).to_have_attribute("data-drawn", re.compile(r"head=1\.3 pos=\d+$"))


def test_keys_walk_rounds_queries_and_heads(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_missed=open&_missedrounds=2")
    found = missing.head(0, 1)
    card = picture.find("> .tfe-hover")
    never = next(
        (int(q), int(k))
        for q, k in np.argwhere((found["first"] > 2) & (np.exp(found["log_full"]) > 0.05))
        if q > 3
    )
    page_watch.mouse.move(*point(picture, 0, *never))
    expect(card).to_contain_text(f"({never[0]}) misses")
    expect(card).to_contain_text(f"they first meet in round {found['first'][never]}.")
    soon = next((int(q), int(k)) for q, k in np.argwhere(found["first"] == 1) if q > 20)
    page_watch.mouse.move(*point(picture, 1, *soon))
    expect(card).to_contain_text("in round 1, and gives it ")
    picture.click(point(picture, 1, *soon))
    addressed(page_watch, _pos=str(soon[0]))
    drawn(picture, 2, 8, "1.2", soon[0])
    here, one = soon[0], soon[0] - 1
    steps = (
        f"ArrowRight 3 1.2 {here}, PageUp 2 1.2 {here}, Shift+ArrowLeft 2 1.2 {one}, ArrowDown 2"
        f" 1.3 {one}, End 16 1.3 {one}"
    )
    picture.walks(
        "missedrounds={} missedbuckets=8 head={} pos={}",
        f"{steps}, ArrowLeft 15 1.3 {one}, Space 16 1.3 {one}",
    )


def test_a_model_without_hashing_says_so(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_missed=open&_model=full&_pos=0")
    expect(picture.find(".tfe-stage-below")).to_contain_text(
        "trained with full attention, without hashing"
    )
    picture.says("has no earlier key, and nothing to miss")
    assert picture.find("img").count() == 0
    page_watch.goto(f"{site}/trial?lang=en&_missed=open&_model=gone")
    expect(page_watch.locator(".tfe-missed .tfe-error")).to_have_text(
        "The run has left the server."
    )
    picture = opened(page_watch, site, "lang=en&_missed=open&_model=long")
    expect(picture.find(".tfe-stage-below")).to_contain_text("Maps pooled 3×")
