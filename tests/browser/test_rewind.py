"""Reversible layers in a real browser: forward and back, positions, stored and live figures, files,
phones, languages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.folded import Question, show_answer
from explorer.components.stage import place_folded_picture
from explorer.figures.theme import format_number
from explorer.labs.reformer.panels import rewind
from tests.browser.staged import Picture, answering, opening
from tests.browser.waiting import addressed, stands
from tests.explorer import rewound


def answer(question: Question) -> Any:
    """The layers; the model "bare" stands before anything was measured, and has one layer."""
    wish: Any = question.wish
    parts = {**rewound.parts(), "layer": wish["layer"] or 0}
    if wish["model"] == "bare":
        parts = {
            **parts,
            "hashed": False,
            **{name: parts[name][:1] for name in ("forward", "again", "single", "double")},
        }
    else:
        parts |= {"reversible": rewound.REVERSIBLE, "lsh": rewound.LSH}
    return show_answer(
        question, **rewind.draw_boards({"en": "Reformer", "zh": "Reformer"}, **parts)
    )


page_of = answering(
    (lambda: place_folded_picture("rewind", texts=rewind.TITLES, picture="reformer/rewind"), answer)
)
PAGES = {"trial": page_of}
opened = opening("rewind .tfe-asked", query="lang=en&_rewind=open")


def back(picture: Picture) -> int:
    """Of how many layers the inputs have come back."""
    return len(picture.marks(kind="path", line="out"))


def test_layers_are_rewound_and_compared(page: Page, picture: Picture) -> None:
    found = rewound.parts()
    picture.drawn("rewindstep=8")
    picture.says(
        "inputs of 4 layers are recovered: they differ from the originals by"
        f" {format_number(found['single'].max())} at most"
    )
    picture.says(f"by {format_number(found['double'].max())} in float64")
    assert back(picture) == 4
    picture.press("ArrowLeft")
    picture.drawn("rewindstep=7")
    addressed(page, _rewindstep="7")
    assert back(picture) == 3
    picture.says("Back through layer 2 of 4: x₂ = y₂ − FF(y₁), then x₁ = y₁ − Attention(x₂)")
    picture.says(
        f"differ from the originals by {format_number(found['single'][1])} at most in float32"
    )
    picture.find(".tfe-stage-transport input").fill("2")
    picture.drawn("rewindstep=2")
    picture.says("Forward through layer 2 of 4")
    assert (
        back(picture) == 0
        and sum(len(picture.marks(kind="path", line=line)) for line in ("ink", "ink2")) == 2
    )
    picture.press("Home")
    expect(picture.words.first).to_have_text("Nothing has gone in yet.")
    files = picture.arrays()
    np.testing.assert_allclose(files["forward"], found["forward"], rtol=1e-6)
    np.testing.assert_allclose(files["double"], found["double"])
    assert list(files["tokens"]) == list(rewound.TOKENS) and list(files["again_axes"]) == [
        "layer",
        "position",
    ]
    rows = picture.rows()
    assert len(rows) == 4 * 19 and float(rows[20]["went in, length"]) == pytest.approx(
        float(found["forward"][1, 1]), rel=1e-6
    )


def test_a_position_is_followed_there_and_back(page_watch: Page, site: str) -> None:
    picture, found = opened(page_watch, site, "lang=en&_rewind=open&_pos=2,7"), rewound.parts()
    picture.drawn("rewindstep=8 pos=2,7")
    picture.says(
        f"At position “{rewound.TOKENS[7]}” (7) a vector of length {found['forward'][0, 7]:.4f}"
        " went into layer 1"
    )
    picture.press("Shift+ArrowRight")
    addressed(page_watch, _pos="8")
    spot, card = picture.point(pos=12), picture.find("> .tfe-hover")
    expect(card).to_contain_text(f"“{rewound.TOKENS[12].replace(' ', '␣')}” (12)")
    expect(card).to_contain_text(
        f"layer 1: {found['forward'][0, 12]:.4f} in, {found['again'][0, 12]:.4f} back"
    )
    picture.click(spot)
    addressed(page_watch, _pos="12")


def test_figures_say_stored_or_live(page_watch: Page, site: str) -> None:
    page, panel = page_watch, page_watch.locator(".tfe-rewind")
    opened(page, site, "lang=en&_rewind=open&_head=3.1")
    measured = (
        "(81 MB → 88 MB). Stored, measured by python -m benchmarks reversible on CPU, 2 threads."
    )
    for name, told in (
        ("memory-depth", f"and 1.09 × for reversible ones {measured}"),
        (
            "feed-forward-parts",
            (
                "In 16 parts the inner values take 4.1 kB instead of 38.9 kB, and the result"
                " differs by 2.4 × 10⁻⁷ at most."
            ),
        ),
        (
            "memory-attention",
            "needs 40.2 MB, less than any attention by hashing at this length (ours: 110 MB)",
        ),
    ):
        stands(page, f".tfe-rewind [data-drawn={name}]")
        expect(panel.locator(f"[data-drawn={name}] .tfe-words")).to_contain_text(told)
    expect(panel.locator("[data-drawn=feed-forward-parts] .tfe-units")).to_contain_text("layer 3")
    assert panel.locator("[data-drawn=memory-attention] .barlayer .point").count() == 5
    picture = opened(page, site, "lang=en&_rewind=open&_model=bare")
    stands(page, ".tfe-rewind [data-drawn=feed-forward-parts]")
    notes = panel.locator(".tfe-opened-notes .tfe-note")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text(
        "once python -m benchmarks reversible --save has measured it"
    )
    expect(panel.locator("[data-drawn=memory-depth]")).to_have_count(0)
    picture.drawn("rewindstep=2")
    expect(picture.words.first).to_contain_text("inputs of 1 layer are recovered")
