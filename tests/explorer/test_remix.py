"""What changes if …, for music: what is compared, what it costs, what is said of it, and what the panel is given."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
import numpy as np
import pytest

from explorer.labs.music import change
from explorer.widgets import remix
from models.music.notes import notes_of_events
from models.music.records import Comparison, Explanation, Made, Request, melody
from tests.conftest import built

NAMES = {name: {"en": name, "zh": f"模型{name}"} for name in ("jsb_relative", "jsb_transformer", "relative", "transformer", "lstm")}
TUNE = Request(motif=melody((72, 71, 69, 67), 8), seed=3)  # two bars


def made(variant: str, lower: tuple[int, int, int], nats: float = 1.0, semitones: int = 0) -> Made:
    """Two bars in which the three lower voices hold one chord, each voice's every event as dear as the others."""
    soprano = np.repeat([72, 71, 69, 67], 8) + semitones
    cells = np.stack([soprano, *(np.full(32, pitch) for pitch in lower)], 1).reshape(-1) - 35
    given = np.tile([True, False, False, False], 32)
    notes, at, steps = notes_of_events("chorale", cells.astype(np.int64))
    none = np.zeros((0, 0, 0, 0), np.float16)
    return Made(
        variant=variant,
        events=cells.astype(np.int16),
        given=given,
        nats=np.where(given, 0, nats).astype(np.float32),
        notes=notes.astype(np.int32),
        at=at.astype(np.int32),
        steps=steps,
        queries=none,
        keys=none,
        table=none,
    )


def compared(after: dict[str, Made], forced: dict[str, float]) -> Comparison:
    """Both models of chorales before, what became of them after, and what their music costs under the intervention in its second bar."""
    before = tuple(made(variant, (64, 60, 48)) for variant in ("jsb_relative", "jsb_transformer"))
    costs = []
    for one in before:
        cost = one.nats.copy()
        cost[64:] = np.where(one.given[64:], 0, forced.get(one.variant, 1.0))
        costs.append(cost)
    return Comparison(Explanation(before, 125), Explanation(tuple(after.get(one.variant, one) for one in before), 125), tuple(costs))


def test_an_intervention_reaches_the_models_that_have_what_it_changes() -> None:
    assert change.touched(TUNE) == ()
    assert change.touched(Request(farthest=0)) == ("jsb_relative",)
    assert change.touched(Request("piano", "continue", farthest=8)) == ("relative",)
    assert change.touched(Request(silenced=(("jsb_transformer", 1, 2),))) == ("jsb_transformer",)
    assert change.touched(Request("piano", "continue", stretch=2.0)) == ("relative", "transformer", "lstm")
    assert change.touched(Request(semitones=-3, farthest=4)) == ("jsb_relative", "jsb_transformer")


def test_the_number_is_what_the_music_made_before_costs_under_the_intervention() -> None:
    request = Request(TUNE.style, TUNE.mode, TUNE.motif, farthest=0)
    (pair,) = change.pairs(compared({"jsb_relative": made("jsb_relative", (64, 60, 50), 3.0)}, {"jsb_relative": 2.0}), request)
    assert pair.key == "jsb_relative" and not pair.own
    assert pair.numbers == pytest.approx((1.0, 1.5))  # the second of two bars costs twice as much; given cells do not count


def test_the_sentence_says_the_change_the_cost_the_bar_and_the_notes_that_stay() -> None:
    request = Request(TUNE.style, TUNE.mode, TUNE.motif, farthest=0)
    comparison = compared({"jsb_relative": made("jsb_relative", (64, 60, 50))}, {"jsb_relative": 2.0})
    value = change.done(comparison, request, NAMES, ("jsb_relative", "jsb_transformer"))
    assert value["sentence"] == {
        "en": "Without the relative term, what the jsb_relative made costs it 0.50 nats per cell more, most in bar 2; "
        "2 of the 3 notes it had made are made again.",
        "zh": "去掉相对位置项，模型jsb_relative原先写出的音乐，每格的代价增加 0.50 纳特，第 2 小节变化最大；"
        "原先写出的 3 个音中有 2 个再次出现。",
    }
    assert json.loads(json.dumps(value))["request"]["farthest"] == 0


def test_a_moved_motif_is_compared_after_moving_it_back() -> None:
    request = Request(TUNE.style, TUNE.mode, TUNE.motif, semitones=2)
    comparison = compared({"jsb_relative": made("jsb_relative", (66, 62, 50), 1.25, semitones=2)}, {})
    first, second = change.pairs(comparison, request)
    assert first.own and first.numbers == pytest.approx((1.0, 1.25))
    assert all(kept.all() for kept in first.kept()), "every note moved with the motif"
    assert not any(kept.any() for kept in second.kept()), "this model made the old notes again"
    said = change.sentence(comparison, request, [first, second], NAMES)
    assert said["en"].startswith("With the motif 2 semitones higher, the jsb_relative makes music that costs it 0.25 nats per cell more;")
    assert said["en"].endswith("3 of the 3 notes it had made are made again, moved with the motif.")


def test_stretched_times_are_not_compared_note_by_note() -> None:
    request = Request(TUNE.style, TUNE.mode, TUNE.motif, stretch=2.0)
    comparison = compared({}, {})
    both = change.pairs(comparison, request)
    assert [pair.compared for pair in both] == [False, False]
    assert "again" not in change.sentence(comparison, request, both, NAMES)["en"]


def test_many_heads_are_counted_and_few_are_named() -> None:
    few = Request(silenced=(("jsb_relative", 1, 2), ("jsb_relative", 0, 0)))
    assert change.changed_in(few, NAMES)["en"] == "without head 2·3 of the jsb_relative and head 1·1 of the jsb_relative"
    many = Request(silenced=tuple(("jsb_relative", layer, 0) for layer in range(4)), semitones=-1)
    assert change.changed_in(many, NAMES) == {
        "en": "without 4 heads and with the motif a semitone lower",
        "zh": "关掉 4 个头，把动机降低一个半音",
    }


def test_the_panel_gets_its_knobs_and_two_rolls_of_every_model() -> None:
    request = Request(TUNE.style, TUNE.mode, TUNE.motif, semitones=2)
    value: dict[str, Any] = change.done(
        compared({}, {}),
        request,
        NAMES,
        ("jsb_relative", "jsb_transformer"),
        heard=lambda made, seen: {"wav": f"/sound/{made.variant}.wav"},
    )

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            panel = remix.remix(
                value,
                names=NAMES,
                heads={"jsb_relative": (5, 4)},
                distances={"jsb_relative": 512},
                limits=remix.Limits(semitones=12, stretch=(0.5, 2.0)),
            )
        props: dict[str, Any] = panel.props
        return props

    props = json.loads(json.dumps(built(inside)))
    assert props["distances"] == {"jsb_relative": 512} and props["limits"] == {"semitones": 12, "stretch": [0.5, 2.0]}
    assert [roll["key"] for roll in value["rolls"]] == ["jsb_relative", "jsb_transformer"]
    first = value["rolls"][0]
    assert first["before"]["notes"]["shape"] == [7, 4] and first["before"]["kept"]["shape"] == [7]
    assert first["after"]["sound"] == {"wav": "/sound/jsb_relative.wav"}
    assert (first["moved"], first["compared"], first["voices"], first["own"]) == (2, True, True, True)


def test_notes_that_are_none_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"\(note, 4\)"):
        remix.Side(np.zeros((3, 3), np.int32), np.zeros(3, bool), 4)
