"""The stage with segments and memory, with readings from a fixed seed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.labs.transformer_xl import texts
from explorer.labs.transformer_xl.figures import segments as figure
from models.transformer_xl.weights import look
from tests.browser.staged import Picture, alone, heard, listen, opening
from tests.browser.waiting import addressed, becomes
from tests.explorer import segmented

SIZES = {"given": 200, "segment": 32, "memory": 64, "layers": 3}
PICK = {"model": "xl", "head": "2.1", "pos": 138}
ARRIVAL = "model=xl head=2.1 pos=138"
HOSTILE = "<img src=x onerror=alert(1)> is שלום 𝄞 " * 8


def value(intervention: str, **more: Any) -> dict[str, object]:
    """A finished run."""
    _, models = segmented.run(
        intervention, **({"text": HOSTILE} if intervention == "shuffled" else {})
    )
    how = {
        **SIZES,
        "query": f"v={intervention}",
        "state": "stored",
        "book": segmented.BOOK,
        "pick": PICK,
        **more,
    }
    return figure.draw_segments(models, intervention=intervention, **how)


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """A text as it is read, then the finished run."""
    seen, _ = segmented.run()
    for count in range(10, 251, 20):
        grown = [
            figure.Growing(
                one.variant,
                segmented.NAMES[one.variant],
                segmented.ABOUT[one.variant],
                one.text[:count],
                one.memory,
            )
            for one in seen
        ]
        yield figure.draw_growing_segments(
            grown, of=250, intervention="none", query="v=new", **SIZES
        )  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
    yield value("none", query="v=new", state="live", pick={**PICK, "pos": 75})


# The slider of the clock is moved 300 times in a browser that takes 100 addresses, as most do in
# ten seconds.
SCRUBBED = """() => {
    const [own, slider] = [history.replaceState,
        document.querySelector(".tfe-segments .tfe-stage-transport input")];
    let taken = 0;
    history.replaceState = (...all) => (taken += 1) <= 100 && own.apply(history, all);
    for (let n = 0; n < 300; n += 1) {
      slider.value = n % 250;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    } }"""

PAGES = {
    one: alone(
        "segments", partial(value, one), texts.SEGMENTS, "transformer_xl/segments", grow=grow
    )
    for one in figure.INTERVENTIONS
}
opened = opening("segments", "none")


def test_the_sentence_and_exported_numbers(
    picture: Picture,
) -> None:
    picture.drawn(ARRIVAL)
    (seen, *_), (model, _) = segmented.run()
    weights = look(seen, 1, 0, [138])[0]
    best = int(weights.argmax())
    expect(picture.words).to_have_text(
        f"To predict “{seen.text[138].replace(' ', '␣')}” (138), head 2·1 gives"
        f" {seen.across[1, 0, 138]:.2f} of its attention to the memory; its largest weight,"
        f" {weights.max():.2f}, goes to “{seen.text[best - 1].replace(' ', '␣')}” ({best - 1});"
        " after 3 layers it can reach back 138 characters, to 0; the gradient stops at 128."
    )
    assert len(picture.marks(kind="rect", fill="out-soft")) == 4
    assert len(picture.marks(kind="rect", fill="key-soft")) == 3, (
        "what the last layer made is not remembered"
    )
    assert len(picture.marks(cap="round")) >= 3
    reach = [one["text"] for one in picture.marks(kind="text", colour="query", weight=600)]
    assert reach == [
        "after 1 layer: 74 back",
        "after 2 layers: 138 back",
        "after 3 layers: 138 back",
    ]
    told = [float(one["text"]) for one in picture.marks(kind="text", colour="key", halo="panel")]
    expected = [
        seen.across[0, :, 138].mean(),
        seen.across[1, 0, 138],
        seen.across[2, :, 138].mean(),
    ]
    np.testing.assert_allclose(told, np.asarray(expected, np.float32), atol=0.006)
    files, rows = picture.arrays(), picture.rows()
    np.testing.assert_allclose(files["share_to_memory"], seen.across, atol=1e-4)
    np.testing.assert_array_equal(files["knows_from"], model.travelled)
    np.testing.assert_array_equal(files["remembered"], seen.remembered)
    # of each character, not of the state that carries it
    np.testing.assert_allclose(files["weights"][:-1], weights[1:250], atol=1e-4)
    np.testing.assert_allclose(files["weight_of_start"], weights[:1], atol=1e-4)
    assert len(rows) == 250 and float(rows[138]["head 2·1"]) == pytest.approx(
        float(seen.across[1, 0, 138]), abs=1e-3
    )


def test_keys_go_through_segments_and_heads(page: Page, picture: Picture) -> None:
    picture.walks(
        "model=xl head={} pos={}",
        "ArrowRight 2.1 170, ArrowRight 2.1 202, ArrowLeft 2.1 170, ArrowDown 2.2 170, ArrowDown"
        " 3.1 170",
    )
    addressed(page, _pos="170", _head="3.1")
    picture.find("[data-key=mean]").click()
    picture.drawn("model=xl head=mean pos=170")
    expect(picture.find("[data-key=mean]")).to_be_focused()  # of buttons that are others now
    picture.says("layers 1 to 3 give")
    picture.press(" ")
    picture.drawn("model=xl head=mean pos=234")
    expect(picture.find(".is-play")).to_have_attribute("aria-label", "Play segment by segment")
    expect(picture.find(".tfe-stage-count")).to_have_text("segment 8 of 8")
    page.evaluate(SCRUBBED)
    picture.drawn("model=xl head=mean pos=49")
    addressed(page, _pos="49")


def test_a_click_locks_character_and_layer(page: Page, picture: Picture) -> None:
    listen(page, "hover-pos")
    at = picture.point(pos=150, head="3.1")
    share = segmented.run()[0][0].across[2, :, 150].mean(dtype=np.float32)
    expect(picture.find("> .tfe-hover")).to_contain_text(
        re.compile(rf"\(150\).*layer 3, mean of heads: {share:.2f} to the memory")
    )
    picture.click(at)
    picture.drawn("model=xl head=3.1 pos=150")
    picture.click(picture.point(pos=155, head="3.1"), shift=True)
    picture.drawn("model=xl head=3.1 pos=150,155")
    page.mouse.move(2, 2)
    expect(picture.find("> .tfe-hover")).to_be_hidden()
    told = [one["pos"] for one in heard(page)]
    assert told[0] == 150 and told[-1] is None
    for pos, dashed in (("131", 1), ("null", 0)):
        page.evaluate(f"window.bus.fire('hover-pos', {{ pos: {pos} }})")
        becomes(
            page,
            lambda: sum(one.get("dash", [0])[0] == 3 for one in picture.marks(line="query")),
            dashed,
        )


def test_without_a_memory_of_its_own_text_the_picture_says_so(
    page: Page, picture: Picture, site: str
) -> None:
    picture.find("[data-key=absolute]").click()
    picture.drawn("model=absolute head=2.1 pos=138")
    picture.says(
        "Transformer remembers nothing, and nothing crosses the border: to predict",
        "it can reach back 10 characters, to 128; the gradient stops at 128",
    )
    assert not picture.marks(kind="rect", fill="key-soft")
    assert picture.marks(text="nothing is remembered: nothing crosses")
    opened(page, site, slug="foreign").says(
        "of its attention to the memory, which holds Moby Dick", "reach back 10 characters"
    )
    assert picture.marks(text="memory of Moby Dick")
    expect(picture.find(".tfe-stage-legend")).to_contain_text("memory of Moby Dick")
    opened(page, site, slug="cut").says("The memory is cut, and nothing crosses the border")
    opened(page, site, "lang=zh", "shuffled").says("顺序被打乱的记忆")
    expect(picture.find(".tfe-stage-legend")).to_contain_text("被记住，顺序打乱")
    assert picture.find("img").count() == 0
