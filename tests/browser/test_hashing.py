"""The picture of hashing in a real browser, with queries of a fixed seed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gradio as gr
import numpy as np
from playwright.sync_api import Page, expect

from explorer.components.base import write_script_address
from explorer.components.stage import place_row_sink
from explorer.contract.lab import OpenLab
from explorer.labs.reformer.lab import place_hashing
from tests.browser.staged import AT_ONCE, NEW, Picture, bare, opening
from tests.browser.waiting import addressed, note, noted
from tests.explorer import hashed

KINDS = ("word", "long", "four")


def page_of(kind: str) -> Callable[[OpenLab, object], None]:
    """What stands on one trial page: the picture and its companion."""

    def page(lab: OpenLab, engine: object) -> None:
        place = place_hashing(hashed.value(kind))
        companion = place_row_sink()

        def look(event: gr.EventData) -> Any:
            asked: Any = event._data
            return {
                **hashed.answer(
                    kind, asked["query"], asked["model"], asked["head"], asked["round"]
                ),
                "wished": asked["wished"],
            }

        place.look(look, None, companion, **AT_ONCE)  # type: ignore[attr-defined]

    return page


PAGES = {kind: page_of(kind) for kind in KINDS}


opened = opening("hashing", "word")


def drawn(picture: Picture, what: str) -> None:
    """Waits until the figure shows "lsh_4 1.1 39 1 1": model, head, positions, step, round; and
    rests."""
    picture.drawn("model={} head={} pos={} hashingstep={} hashinground={}".format(*what.split()))
    expect(picture.find()).not_to_have_attribute("data-moving", "")


def step(picture: Picture, n: int) -> None:
    """Chooses a step."""
    picture.find("[aria-label='Steps of hashing'] [role=radio]").nth(n - 1).click()


def test_the_numbers_agree_with_those_of_the_models(page_watch: Page, site: str) -> None:
    page = bare(page_watch, site)
    _, word, (made, *_) = hashed.models("word")
    own = made.buckets[0, 0]
    looks = [hashed.look(made, 0, 0, turn) for turn in range(len(own))]
    weights = [
        hashed.unpacked(hashed.answer("word", "", "lsh_4", "1.1", turn + 1)["weights"])
        for turn in range(len(own))
    ]
    found = page.evaluate(
        """async ([address, rows, weights, chunk, word]) => {
            const { roundOf, seenBy, compared, copies, share, meet, dense,
                deciding } = await import(address);
            const rounds = rows.map((buckets) => roundOf(buckets, chunk));
            const { length } = rows[0];
            return {
                orders: rounds.map(({ order }) => Array.from(order)),
                seen: Array.from(seenBy(rounds, length)),
                first: Array.from(seenBy([rounds[0]], length)),
                compared: compared(seenBy(rounds, length), length),
                shared: share(copies(word), rows[0]),
                met: meet(copies(word), [rounds[0]]),
                dense: rounds.map((round, turn) => Array.from(dense(round, weights[turn]),
                    (w) => (w === w ? w : -1))),
                deciding: [deciding([0.1, -3, 2, -2.5], 5), deciding([1, 0.5], 0)],
            };
        }""",
        [
            write_script_address("labs/reformer/hashnumbers.js"),
            own.tolist(),
            [one.ravel().tolist() for one in weights],
            made.chunk,
            word,
        ],
    )
    length = own.shape[1]
    np.testing.assert_array_equal(found["orders"], [look.order for look in looks])
    union = hashed.seen(made, 0, 0).numpy()
    alone = ~union.any(1)
    np.testing.assert_array_equal(
        np.reshape(found["seen"], (length, length)), union | np.diag(alone)
    )
    assert found["compared"] == {"count": int(union.sum()), "of": length * (length - 1) // 2}
    assert word is not None
    places = np.arange(word + 1, 2 * word + 1)
    assert found["shared"] == int((own[0, places] == own[0, places - word]).sum())
    assert found["met"] == int(looks[0].seen[places, places - word].sum()) >= found["shared"] > 10
    first = np.reshape(found["first"], (length, length)).astype(bool)
    np.testing.assert_array_equal(np.tril(first, -1), np.tril(looks[0].seen, -1))
    for turn, look in enumerate(looks):
        again = np.reshape(found["dense"][turn], (length, length))
        np.testing.assert_allclose(
            np.where(again < 0, 0, again), look.weights.astype(np.float32), atol=1e-4
        )
        assert (again[np.triu_indices(length, 1)] == -1).all(), "nothing later was computed"
    assert found["deciding"] == [[1, 3], [0, 1]]


def test_keys_walk_five_steps(page: Page, picture: Picture) -> None:
    tokens, word, (made, *_) = hashed.models("word")
    picked: Any = hashed.pick("word")
    q, turn = picked["pos"], picked["round"] - 1
    assert word is not None
    k = q - word
    look = hashed.look(made, 0, 0, turn)
    drawn(picture, f"lsh_4 1.1 {q} 1 {turn + 1}")
    bucket, half = int(look.buckets[q]), look.rotated.shape[1]
    assert bucket % half == int(np.abs(look.rotated[q]).argmax())
    farthest = f"{look.rotated[q, bucket % half]:.2f}".replace("-", "−")
    picture.says(
        f"“{tokens[q]}”·{q}, turned, is farthest",
        farthest,
        f"“{tokens[k]}”·{k}, falls into the same bucket.",
    )
    places, rank = np.arange(word + 1, 2 * word + 1), np.argsort(look.order)
    shared = int((look.buckets[places] == look.buckets[places - word]).sum())
    twins = int((look.buckets[places[1:]] == look.buckets[places[1:] - word - 1]).sum())
    count = int(np.tril(look.seen, -1).sum())
    said = {
        2: [
            f"{shared} of 26 places share a bucket with the letter they must predict; of equal"
            f" letters, {twins} of 25 pairs do."
        ],
        3: [
            (
                f"goes to place {rank[q]}. The letter to predict, “{tokens[k]}”·{k}, was 26"
                " places away"
            ),
            f"and is now {abs(rank[q] - rank[k])}.",
        ],
        4: [
            f"may look at {int(look.seen[q, :q].sum())} earlier positions",
            (f"It gives “{tokens[k]}”·{k} {float(look.weights[q, k]):.2f}, the letter to predict."),
        ],
        5: [
            f"{count:,} of 1,378 pairs with an earlier position were computed in round {turn + 1},"
            f" {100 * count / 1378:.0f} %."
        ],
    }
    for n, parts in said.items():
        picture.press("ArrowRight")
        drawn(picture, f"lsh_4 1.1 {q} {n} {turn + 1}")
        picture.says(*parts)
    addressed(page, _hashingstep="5", _model=None)
    picture.press("Shift+ArrowRight")
    drawn(picture, f"lsh_4 1.1 {q + 1} 5 {turn + 1}")
    page.keyboard.press(" ")  # plays from the first step
    expect(picture.find(".tfe-units")).to_contain_text("Step 1 of 5: Vectors")


def test_other_heads_and_rounds_are_asked(page_watch: Page, site: str) -> None:
    page, picture = page_watch, opened(page_watch, site, "lang=en&_hashingstep=5&_pos=40")
    _, _, (made, _, two) = hashed.models("word")
    assert [text for text in picture.texts() if re.fullmatch("1·[1-9]", text)] == [
        "1·1",
        "1·2",
        "1·3",
        "1·4",
    ]
    x, y = picture.spot("1·3")
    picture.click((x + 20, y + 14))
    drawn(picture, "lsh_4 1.3 40 5 1")
    picture.press("ArrowDown")
    drawn(picture, "lsh_4 1.4 40 5 1")
    addressed(page, _head="1.4")
    page.get_by_role("radiogroup", name="Round").get_by_role("radio", name="all").click()
    drawn(picture, "lsh_4 1.4 40 5 all")
    union = int(hashed.seen(made, 0, 3).sum())
    picture.says(
        f"{union:,} of 1,378 pairs with an earlier position were computed in 4 rounds,"
        f" {100 * union / 1378:.0f} %."
    )
    arrays = picture.arrays()
    np.testing.assert_allclose(arrays["weights"], hashed.weights(made, 0, 3), atol=2e-4)
    np.testing.assert_array_equal(arrays["buckets"], made.buckets[0, 3])
    page.get_by_role("radio", name="LSH, 2 rounds").click()
    drawn(picture, "lsh_2 1.1 40 5 all")
    step(picture, 4)
    drawn(picture, "lsh_2 1.1 40 4 all")
    picture.says(
        f"may look at {int(hashed.look(two, 0, 0, 0).seen[40, :40].sum())} earlier positions"
    )
    page.get_by_role("radio", name="Full attention").click()
    expect(picture.words).to_have_text(
        "Full attention does not hash: each of its 53 positions is compared with all before it,"
        " 1,378 pairs in every head, so there is nothing to sort. Choose LSH, 4 rounds to see"
        " hashing."
    )
    page.get_by_role("radio", name="LSH, 4 rounds").click()
    drawn(picture, "lsh_4 1.1 40 4 all")


def test_exports_hold_text_and_no_markup(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_pos=20", "four")
    tokens, _, (made,) = hashed.models("four")
    picked: Any = hashed.pick("four")
    look = hashed.look(made, 0, int(picked["head"].split(".")[1]) - 1, 0)
    drawn(picture, f"text {picked['head']} 20 1 1")
    expect(picture.find("[role=radiogroup][aria-label=Plane]")).to_have_count(0)
    rows, arrays = picture.rows(), picture.arrays()
    assert [int(row["bucket"]) for row in rows] == look.buckets.tolist()
    assert [int(row["place"]) for row in rows] == np.argsort(look.order).tolist()
    assert [int(row["may_look_at"]) for row in rows] == np.tril(look.seen, -1).sum(1).tolist()
    assert rows[2]["token"] == "<" and rows[11]["token"] == tokens[11]
    np.testing.assert_allclose(arrays["rotated"], look.rotated, atol=1e-6)
    assert "".join(arrays["tokens"]) == hashed.ODD
    step(picture, 2)
    drawn(picture, f"text {picked['head']} 20 2 1")
    text = picture.saved("SVG")[1].decode()
    assert "&lt;</text>" in text and "😀</text>" in text and "<b>bold" not in text


def test_tokens_travel_between_steps_unless_motion_is_unwanted(new_page: NEW, site: str) -> None:
    for motion in ("no-preference", "reduce"):
        page, _ = new_page(reduced_motion=motion)
        picture, locked = opened(page, site), hashed.pick("word")["pos"]
        drawn(picture, f"lsh_4 1.1 {locked} 1 1")
        note(page, "document.querySelector('.tfe-hashing').hasAttribute('data-moving')")
        for n in (2, 3, 4):
            picture.press("ArrowRight")
            drawn(picture, f"lsh_4 1.1 {locked} {n} 1")
        assert (True in noted(page)) == (motion == "no-preference")
