"""What changes if …, for music: what is compared, what it costs, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.figures.rollpairs import Side
from explorer.labs.music import change, page
from explorer.widgets.change import Rolls
from models.music.notes import notes_of_events
from models.music.records import Explanation, Losses, Made, Request, melody
from tests.explorer.rolls import piano

BARS = Request(motif=melody((72, 71, 69, 67), 8), seed=3)  # two bars


def made(variant: str, lower: tuple[int, int, int], nats: float = 1.0, semitones: int = 0) -> Made:
    """Two bars in which the three lower voices hold one chord, each voice's every event as dear as the others."""
    soprano = np.repeat([72, 71, 69, 67], 8) + semitones
    cells = np.stack([soprano, *(np.full(32, pitch) for pitch in lower)], 1).reshape(-1) - 35
    given = np.tile([True, False, False, False], 32)
    notes, at, steps = notes_of_events("chorale", cells.astype(np.int64))
    whole = [notes.astype(np.int32), at.astype(np.int32), steps]
    costs = np.where(given, 0, nats).astype(np.float32)
    return Made(variant, cells.astype(np.int16), given, costs, *whole, *[np.zeros((0, 0, 0, 0), np.float16)] * 3)


def compared(request: Request, after: dict[str, Made], forced: dict[str, float]) -> Rolls:
    """Both models of chorales before, what became of them after, and what their music costs under the change in its second bar."""
    before = tuple(made(variant, (64, 60, 48)) for variant in ("jsb_relative", "jsb_transformer"))
    costs = []
    for one in before:
        cost = np.full(len(one.events), 1, np.float32)
        cost[64:] = forced.get(one.variant, 1.0)
        costs.append(cost)
    seen = Explanation(before, 125), Explanation(tuple(after.get(one.variant, one) for one in before), 125)
    return change.difference(seen, (None, Losses(tuple(costs))), request, page.program().changes(request) or {})


def test_a_change_reaches_the_models_that_have_what_it_changes() -> None:
    assert change.touched(Request()) == ()
    assert change.touched(Request(farthest=0)) == ("jsb_relative",)
    assert change.touched(Request("piano", "continue", farthest=8)) == ("relative",)
    assert change.touched(Request(silenced=(("jsb_transformer", 1, 2),))) == ("jsb_transformer",)
    assert change.touched(Request("piano", "continue", stretch=2.0)) == ("relative", "transformer", "lstm")
    assert change.touched(Request(semitones=-3, farthest=4)) == ("jsb_relative", "jsb_transformer")


def test_the_sentence_says_the_change_the_cost_the_bar_and_the_notes_that_stay() -> None:
    found = compared(replace(BARS, farthest=0), {"jsb_relative": made("jsb_relative", (64, 60, 50), 3.0)}, {"jsb_relative": 2.0})
    (pair,) = found.rolls
    assert pair.key == "jsb_relative"
    assert pair.numbers == pytest.approx((1.0, 1.5))  # the second of two bars costs twice as much; given cells do not count
    assert found.sentence == {
        "en": "Without the relative term, what the Music Transformer made costs it 0.50 nats per cell more, most in bar 2; "
        "2 of the 3 notes it had made are made again.",
        "zh": "去掉相对位置项，音乐 Transformer原先写出的音乐，每格的代价增加 0.50 纳特，第 2 小节变化最大；"
        "原先写出的 3 个音中有 2 个再次出现。",
    }


def test_a_moved_motif_is_compared_after_moving_it_back() -> None:
    after = {"jsb_relative": made("jsb_relative", (66, 62, 50), 1.25, semitones=2)}
    found = compared(replace(BARS, semitones=2), after, {"jsb_relative": 1.5})
    first, second = found.rolls
    assert first.numbers == pytest.approx((1.0, 1.25)), "of the same music, moved"
    assert all(kept.all() for kept in first.kept()), "every note moved with the motif"
    assert not any(kept.any() for kept in second.kept()), "this model made the old notes again"
    said = found.sentence["en"]
    assert said.startswith("With the motif 2 semitones higher, what the Music Transformer made, changed along with it, costs it 0.25 nats")
    assert said.endswith("3 of the 3 notes it had made are made again, moved with the motif.")


def test_stretched_times_are_not_compared_note_by_note() -> None:
    seen, request = piano()
    nats = Losses(tuple(one.nats for one in seen.made))
    found = change.difference((seen, seen), (None, nats), replace(request, stretch=2.0), {"en": "x", "zh": "x"})
    assert [pair.compared for pair in found.rolls] == [False] * 3
    assert "again" not in found.sentence["en"]


def test_many_heads_are_counted_and_few_are_named() -> None:
    few = Request(silenced=(("jsb_relative", 1, 2), ("jsb_relative", 0, 0)))
    said = page.program().changes(few)
    assert said is not None and said["en"] == "without head 2·3 of the Music Transformer, head 1·1 of the Music Transformer"
    many = Request(silenced=tuple(("jsb_relative", layer, 0) for layer in range(4)), semitones=-1)
    assert page.program().changes(many) == {
        "en": "with the motif a semitone lower and without 4 heads",
        "zh": "把动机降低一个半音，关掉 4 个头",
    }


def test_notes_that_are_none_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"\(note, 4\)"):
        Side(np.zeros((3, 3), np.int32), np.zeros(3, bool), 4)
