"""The pictures of a spoken number and the microphone, in a real browser."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import soundfile
from playwright.sync_api import Page, expect

from explorer.labs.speech import views
from tests.browser.staged import Picture, alone

TEXTS: dict[str, Any] = {
    "stream": views.texts.STREAM,
    "path": views.texts.PATH,
    "bands": views.texts.BANDS,
    "waits": views.texts.WAITS,
}


def value(name: str) -> Any:
    """What a picture draws of the stored run."""
    kept = views.first()
    assert kept is not None
    draw: Any = getattr(views, f"draw_{name}")
    return draw(kept.seen, kept.request, "stored")


PAGES = {
    name: alone(name, value(name), texts, picture=f"speech/{name}") for name, texts in TEXTS.items()
}


def open_picture(page: Page, site: str, name: str, query: str = "lang=en") -> Picture:
    """A picture on a page of its own."""
    return Picture(page, name).open(f"{site}/{name}?{query}")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_picture_stands_and_fits(page_watch: Page, site: str, name: str, language: str) -> None:
    picture = open_picture(page_watch, site, name, f"lang={language}")
    expect(picture.words.first).not_to_be_empty()
    picture.fits()


def test_a_frame_is_locked_everywhere(page_watch: Page, site: str) -> None:
    picture = open_picture(page_watch, site, "stream")
    drawn = value("stream")
    first, second = drawn["at"][:2]
    picture.stands(f"frame={first}")
    picture.click(picture.point(frame=second))
    picture.stands(f"frame={second}")
    picture.says(f"Frame {second} writes “{drawn['digits'][1]}”", "64 frames back, 8 ahead")
    picture.press("ArrowRight")
    picture.stands(f"frame={second + 1}")
    picture.press("Escape")
    picture.stands(f"frame={first}")
    assert f"_frame={second}" not in page_watch.evaluate("location.href")
    path = open_picture(page_watch, site, "path", f"lang=en&_frame={second}")
    path.stands(f"frame={second}")
    path.says("collapses to “3340”")


def test_the_table_is_the_alignment(page_watch: Page, site: str) -> None:
    rows = open_picture(page_watch, site, "stream").rows()
    drawn = value("stream")
    assert [int(row["digit written"]) for row in rows] == drawn["digits"]
    for row, clip in zip(rows, range(4), strict=True):
        final, end = float(row["final, s"]), float(row["clip ends, s"])
        assert end == pytest.approx(drawn["ends"][clip] / 8_000, abs=1e-3)
        assert float(row["wait, s"]) == pytest.approx(final - end, abs=2e-3)


def test_the_span_leaves_as_sound(page_watch: Page, site: str) -> None:
    picture = open_picture(page_watch, site, "stream")
    name, data = picture.saved("WAV")
    samples, rate = soundfile.read(io.BytesIO(data))
    frame = value("stream")["at"][0]
    assert name.endswith(".wav") and rate == 8_000
    assert len(samples) == 320 * (frame + 8) + 440
    assert len(json.loads(picture.saved("CTC")[1])["written"]) == 4
    assert picture.saved("TXT")[1].decode().startswith("3340\n")


def test_every_head_has_its_band(page_watch: Page, site: str) -> None:
    picture = open_picture(page_watch, site, "bands")
    picture.stands("head=1.1")
    picture.press("ArrowDown")
    picture.stands("head=1.2")
    picture.says("Head 1·2 listens")
    weights = picture.arrays()["weights"]
    assert weights.shape[:2] == (4, 4) and weights.shape[3] == 19


def test_waits_grow_with_the_look_ahead(page_watch: Page, site: str) -> None:
    picture = open_picture(page_watch, site, "waits")
    picture.stands("digit=0")
    picture.says("The 1st digit", "R = 0 writes it", "R = 8 writes it")
    rows = picture.rows()
    of = {int(row["R, frames"]): float(row["final, s"]) for row in reversed(rows)}
    assert sorted(of, key=lambda right: of[right]) == [0, 1, 2, 4, 8]
    picture.press("ArrowRight")
    picture.says("The 2nd digit")
