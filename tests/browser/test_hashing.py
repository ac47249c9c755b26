"""The picture of hashing in a real browser, with queries of a fixed seed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.labs.reformer.page import hashing
from explorer.widgets.base import address
from explorer.widgets.stage import looked
from tests.browser.staged import AT_ONCE, NEW, Picture
from tests.browser.waiting import addressed
from tests.explorer import hashed

KINDS = ("word", "long", "four", "text", "book")

# Every text that stands on the picture: where it begins and ends, and how large it is.
WRITTEN = """() => {
    const canvas = document.querySelector(".tfe-hashing canvas");
    const ruler = document.createElement("canvas").getContext("2d");
    const face = (name) => getComputedStyle(document.body).getPropertyValue(`--font-${name}`);
    const flat = (marks, x, y) => marks.flatMap((one) => (one.kind === "group" ? flat(one.marks, x + one.x, y + one.y)
        : one.kind === "text" ? [{ ...one, x: x + one.x, y: y + one.y }] : []));
    return flat(canvas.marks, 0, 0).map(({ text, x, y, size, align, weight = 400, face: name = "ui" }) => {
        ruler.font = `${weight} ${size}px ${face(name)}`;
        const wide = ruler.measureText(text).width;
        const left = { center: x - wide / 2, right: x - wide }[align] ?? x;
        return { text, size, x, y, left, right: left + wide, top: y - 0.4 * size, bottom: y + 0.36 * size,
            wide: canvas.clientWidth, tall: canvas.clientHeight };
    });
}"""
STEPS = ".tfe-hashing [aria-label='Steps of hashing'] [role=radio], .tfe-hashing [aria-label='哈希的步骤'] [role=radio]"


def page_of(kind: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page: the picture and its companion."""

    def page(lab: Lab, engine: object) -> None:
        place = hashing(hashed.value(kind))
        companion = looked()

        def look(event: gr.EventData) -> Any:
            asked: Any = event._data
            return {**hashed.answer(kind, asked["query"], asked["model"], asked["head"], asked["round"]), "wished": asked["wished"]}

        place.look(look, None, companion, **AT_ONCE)  # type: ignore[attr-defined]

    return page


PAGES = {kind: page_of(kind) for kind in KINDS}


def opened(page: Page, site: str, kind: str = "word", query: str = "lang=en") -> Page:
    """The page once the head in view is there."""
    page.goto(f"{site}/{kind}?{query}")
    page.wait_for_selector(".tfe-hashing[data-drawn]:not([data-drawn$=waits])", state="attached")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the figure shows "lsh_4 1.1 39 1 1": model, head, positions, step, round; and rests."""
    named = zip(("model", "head", "pos", "hashingstep", "hashinground"), what.split(), strict=True)
    said = " ".join("=".join(pair) for pair in named)
    rests = f".tfe-hashing[data-drawn^='{said} ']:not([data-drawn$=waits], [data-moving])"
    page.wait_for_selector(rests, state="attached")


def said(page: Page, text: str) -> None:
    """Waits until the sentence says so."""
    expect(page.locator(".tfe-hashing .tfe-words")).to_contain_text(text)


def at(page: Page, position: int, length: int) -> tuple[float, float]:
    """Where a position stands in the upper strip of step 3."""
    box = page.locator(".tfe-hashing canvas").bounding_box()
    assert box is not None
    cell = min((box["width"] - 8) / length, 34)
    return box["x"] + (box["width"] - cell * length) / 2 + (position + 0.5) * cell, box["y"] + 48


def head(page: Page, name: str) -> None:
    """Clicks the small picture of a head."""
    found = next(one for one in page.evaluate(WRITTEN) if one["text"] == name)
    page.locator(".tfe-hashing canvas").click(position={"x": found["x"] + 20, "y": found["y"] + 14})


def step(page: Page, n: int) -> None:
    page.locator(STEPS).nth(n - 1).click()


def test_the_numbers_agree_with_those_of_the_models(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    _, word, (made, *_) = hashed.models("word")
    own = made.buckets[0, 0]
    looks = [hashed.look(made, 0, 0, turn) for turn in range(len(own))]
    weights = [hashed.unpacked(hashed.answer("word", "", "lsh_4", "1.1", turn + 1)["weights"]) for turn in range(len(own))]
    found = page.evaluate(
        """async ([address, rows, weights, chunk, word]) => {
            const { roundOf, seenBy, compared, copies, share, meet, dense, deciding } = await import(address);
            const rounds = rows.map((buckets) => roundOf(buckets, chunk));
            const { length } = rows[0];
            return {
                orders: rounds.map(({ order }) => Array.from(order)),
                seen: Array.from(seenBy(rounds, length)),
                first: Array.from(seenBy([rounds[0]], length)),
                compared: compared(seenBy(rounds, length), length),
                shared: share(copies(word), rows[0]),
                met: meet(copies(word), [rounds[0]]),
                dense: rounds.map((round, turn) => Array.from(dense(round, weights[turn]), (w) => (w === w ? w : -1))),
                deciding: [deciding([0.1, -3, 2, -2.5], 5), deciding([1, 0.5], 0)],
            };
        }""",
        [address("labs/reformer/hashnumbers.js"), own.tolist(), [one.ravel().tolist() for one in weights], made.chunk, word],
    )
    length = own.shape[1]
    np.testing.assert_array_equal(found["orders"], [look.order for look in looks])
    union = hashed.seen(made, 0, 0).numpy()
    alone = ~union.any(1)
    np.testing.assert_array_equal(np.reshape(found["seen"], (length, length)), union | np.diag(alone))
    assert found["compared"] == {"count": int(union.sum()), "of": length * (length - 1) // 2}
    assert word is not None
    places = np.arange(word + 1, 2 * word + 1)
    assert found["shared"] == int((own[0, places] == own[0, places - word]).sum())
    assert found["met"] == int(looks[0].seen[places, places - word].sum()) >= found["shared"] > 10
    first = np.reshape(found["first"], (length, length)).astype(bool)
    np.testing.assert_array_equal(np.tril(first, -1), np.tril(looks[0].seen, -1))
    for turn, look in enumerate(looks):
        again = np.reshape(found["dense"][turn], (length, length))
        np.testing.assert_allclose(np.where(again < 0, 0, again), look.weights.astype(np.float32), atol=1e-4)
        assert (again[np.triu_indices(length, 1)] == -1).all(), "nothing later was computed"
    assert found["deciding"] == [[1, 3], [0, 1]]


def test_five_steps_are_walked_by_keys_and_each_says_its_own_numbers(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    tokens, word, (made, *_) = hashed.models("word")
    picked: Any = hashed.pick("word")
    q, turn = picked["pos"], picked["round"] - 1
    assert word is not None
    k = q - word
    look = hashed.look(made, 0, 0, turn)
    view = partial(drawn, page)
    view(f"lsh_4 1.1 {q} 1 {turn + 1}")
    bucket, half = int(look.buckets[q]), look.rotated.shape[1]
    assert bucket % half == int(np.abs(look.rotated[q]).argmax())
    said(page, f"“{tokens[q]}”·{q}, turned, is farthest")
    said(page, f"{look.rotated[q, bucket % half]:.2f}".replace("-", "−"))
    said(page, f"“{tokens[k]}”·{k}, falls into the same bucket.")
    page.locator(".tfe-hashing .tfe-stage-board").focus()
    page.keyboard.press("ArrowRight")
    view(f"lsh_4 1.1 {q} 2 {turn + 1}")
    places = np.arange(word + 1, 2 * word + 1)
    shared = int((look.buckets[places] == look.buckets[places - word]).sum())
    twins = int((look.buckets[places[1:]] == look.buckets[places[1:] - word - 1]).sum())
    said(page, f"{shared} of 26 places share a bucket with the letter that they are to say; of equal letters, {twins} of 25 pairs do.")
    page.keyboard.press("ArrowRight")
    view(f"lsh_4 1.1 {q} 3 {turn + 1}")
    rank = np.argsort(look.order)
    said(page, f"goes to place {rank[q]}. The letter that it is to say, “{tokens[k]}”·{k}, was 26 places away")
    said(page, f"and is now {abs(rank[q] - rank[k])}.")
    page.keyboard.press("ArrowRight")
    view(f"lsh_4 1.1 {q} 4 {turn + 1}")
    said(page, f"may look at {int(look.seen[q, :q].sum())} earlier positions")
    said(page, f"It gives “{tokens[k]}”·{k} {float(look.weights[q, k]):.2f}, the letter that it is to say.")
    page.keyboard.press("ArrowRight")
    view(f"lsh_4 1.1 {q} 5 {turn + 1}")
    count = int(np.tril(look.seen, -1).sum())
    said(page, f"{count:,} of 1,378 pairs with an earlier position were computed in round {turn + 1}, {100 * count / 1378:.0f} %.")
    addressed(page, _hashingstep="5", _model=None)
    expect(page.locator(STEPS).nth(4)).to_have_attribute("aria-checked", "true")
    page.keyboard.press("Shift+ArrowRight")
    view(f"lsh_4 1.1 {q + 1} 5 {turn + 1}")
    page.keyboard.press(" ")  # plays from the first step
    expect(page.locator(".tfe-hashing .tfe-units")).to_contain_text("Step 1 of 5: Vectors")
    page.keyboard.press("Escape")
    view(f"lsh_4 1.1 {q} 1 {turn + 1}")
    addressed(page, _hashingstep=None, _pos=None)


def test_other_heads_rounds_and_models_are_asked_for_as_somebody_looks(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="lang=en&_hashingstep=5&_pos=40")
    _, _, (made, _, two) = hashed.models("word")
    assert [one["text"] for one in page.evaluate(WRITTEN) if re.fullmatch("1·[1-9]", one["text"])] == ["1·1", "1·2", "1·3", "1·4"]
    head(page, "1·3")
    drawn(page, "lsh_4 1.3 40 5 1")
    page.locator(".tfe-hashing .tfe-stage-board").focus()
    page.keyboard.press("ArrowDown")
    drawn(page, "lsh_4 1.4 40 5 1")
    addressed(page, _head="1.4")
    page.get_by_role("radiogroup", name="Round").get_by_role("radio", name="all").click()
    drawn(page, "lsh_4 1.4 40 5 all")
    union = int(hashed.seen(made, 0, 3).sum())
    said(page, f"{union:,} of 1,378 pairs with an earlier position were computed in 4 rounds, {100 * union / 1378:.0f} %.")
    arrays = Picture(page, "hashing").arrays()
    np.testing.assert_allclose(arrays["weights"], hashed.weights(made, 0, 3), atol=2e-4)
    np.testing.assert_array_equal(arrays["buckets"], made.buckets[0, 3])
    page.get_by_role("radio", name="LSH, 2 rounds").click()
    drawn(page, "lsh_2 1.1 40 5 all")
    step(page, 4)
    drawn(page, "lsh_2 1.1 40 4 all")
    said(page, f"may look at {int(hashed.look(two, 0, 0, 0).seen[40, :40].sum())} earlier positions")
    page.get_by_role("radio", name="Full attention").click()
    expect(page.locator(".tfe-hashing .tfe-words")).to_have_text(
        "Full attention does not hash: each of its 53 positions is compared with all before it, 1,378 pairs in every head, "
        "so there is nothing to sort. Choose LSH, 4 rounds to see hashing."
    )
    page.get_by_role("radio", name="LSH, 4 rounds").click()
    drawn(page, "lsh_4 1.1 40 4 all")


def test_pointing_previews_a_click_locks_and_a_shift_click_adds(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="lang=en&_hashingstep=3")
    tokens, _, (made, *_) = hashed.models("word")
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js"));
            window.bus = (await import(address)).bus;
            window.bus.on("hover-pos", ({ pos }) => { window.hovered = pos; }); }"""
    )
    drawn(page, f"lsh_4 1.1 {hashed.pick('word')['pos']} 3 1")
    page.mouse.move(*at(page, 30, 53))
    page.wait_for_function("window.hovered === 30")
    card = page.locator(".tfe-hashing .tfe-hover")
    expect(card).to_contain_text(f"“{tokens[30]}”·30")
    expect(card).to_contain_text(f"bucket {made.buckets[0, 0, 0, 30]}")
    strong = """(n) => { const flat = (all) => all.flatMap((one) => (one.kind === "group" ? flat(one.marks) : one));
        return flat(document.querySelector(".tfe-hashing canvas").marks)
            .some((one) => one.kind === "text" && one.text === String(n) && one.colour === "query"); }"""
    page.wait_for_function(strong, arg=30)
    page.mouse.move(2, 2)
    expect(card).to_be_hidden()
    page.mouse.click(*at(page, 30, 53))
    addressed(page, _pos="30")
    page.keyboard.down("Shift")
    page.mouse.click(*at(page, 35, 53))
    page.keyboard.up("Shift")
    addressed(page, _pos="30,35")
    page.mouse.move(2, 2)
    drawn(page, "lsh_4 1.1 30,35 3 1")
    said(page, f"“{tokens[35]}”·35 goes to place")
    page.evaluate("window.bus.fire('hover-pos', { pos: 8 })")
    page.wait_for_function(strong, arg=8)
    page.evaluate("window.bus.fire('hover-pos', { pos: null })")
    page.wait_for_function(strong, arg=35)


def test_picture_table_and_numbers_are_taken_along_and_text_is_never_markup(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "four", "lang=en&_pos=20")
    tokens, _, (made,) = hashed.models("four")
    picked: Any = hashed.pick("four")
    head = int(picked["head"].split(".")[1]) - 1
    look = hashed.look(made, 0, head, 0)
    drawn(page, f"text {picked['head']} 20 1 1")
    expect(page.get_by_role("radiogroup", name="Plane")).to_have_count(0)
    rows = Picture(page, "hashing").rows()
    assert [int(row["bucket"]) for row in rows] == look.buckets.tolist()
    assert [int(row["place"]) for row in rows] == np.argsort(look.order).tolist()
    assert [int(row["may_look_at"]) for row in rows] == np.tril(look.seen, -1).sum(1).tolist()
    assert rows[2]["token"] == "<" and rows[11]["token"] == tokens[11]
    arrays = Picture(page, "hashing").arrays()
    np.testing.assert_allclose(arrays["rotated"], look.rotated, atol=1e-6)
    assert "".join(arrays["tokens"]) == hashed.ODD
    step(page, 2)
    drawn(page, f"text {picked['head']} 20 2 1")
    text = Picture(page, "hashing").saved("SVG")[1].decode()
    assert "var(--" not in text and "&lt;</text>" in text and "😀</text>" in text and "<b>bold" not in text
    assert len(re.findall(r'text-anchor="middle"[^>]*>(\d)</text>', text)) >= len(tokens)
    assert Picture(page, "hashing").saved("PNG")[1].startswith(b"\x89PNG")
    alone = page.context.new_page()
    alone.on("pageerror", lambda error: pytest.fail(str(error)))
    alone.set_content(Picture(page, "hashing").saved("HTML")[1].decode())
    alone.wait_for_selector("[data-drawn*='hashingstep=2']:not([data-drawn$=waits])")
    alone.locator(".tfe-stage-board").focus()
    alone.keyboard.press("ArrowLeft")
    alone.wait_for_selector("[data-drawn*='hashingstep=1']:not([data-drawn$=waits])")
    expect(alone.locator(".tfe-words")).to_contain_text(", turned, is farthest")
    alone.close()
    page.locator(".tfe-hashing .tfe-stage-take").evaluate("(menu) => (menu.open = true)")
    page.locator(".tfe-hashing .tfe-export[data-kind=table]").click()
    cells = page.locator(".tfe-hashing .tfe-stage-table tbody tr").nth(2).locator("th, td").all_inner_texts()
    assert cells[:4] == ["2", "<", str(look.buckets[2]), str(int(np.argsort(look.order)[2]))]
    assert page.locator(".tfe-hashing img, .tfe-hashing .tfe-words b:not(.tfe-query, .tfe-key)").count() == 0


def test_tokens_travel_between_steps_unless_motion_is_unwanted(new_page: NEW, site: str) -> None:
    for motion in ("no-preference", "reduce"):
        page, _ = new_page(reduced_motion=motion)
        opened(page, site)
        locked = hashed.pick("word")["pos"]
        drawn(page, f"lsh_4 1.1 {locked} 1 1")
        page.evaluate(
            """() => { window.moves = 0; new MutationObserver((all) => { window.moves += all.length; })
                .observe(document.querySelector(".tfe-hashing"), { attributes: true, attributeFilter: ["data-moving"] }); }"""
        )
        page.locator(".tfe-hashing .tfe-stage-board").focus()
        for n in (2, 3, 4):
            page.keyboard.press("ArrowRight")
            drawn(page, f"lsh_4 1.1 {locked} {n} 1")
        moved = page.evaluate("window.moves")
        assert (moved >= 2 and moved % 2 == 0) if motion == "no-preference" else moved == 0
