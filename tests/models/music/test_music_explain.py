"""What a page gets of the models of music."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest

import models.music.explain as module
from models.errors import InputError
from models.music import chorales, events
from models.music.explain import explain, measure, skew
from models.music.pretrained import Network
from models.music.records import MODELS, SCALE, Again, Array, Explanation, Losses, Request, melody, motif
from models.music.weights import look
from tests.models.networks import answer, composers

TUNE = Request(motif=melody((72, 0, 71, 67), 2))
PIANO = Request("piano", "continue", motif(SCALE[:4]), 24)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Network]:
    """Small networks that have learned nothing in the places of the shipped ones."""
    return composers(monkeypatch)


answered = partial(answer, explain, Explanation)


def test_a_melody_gets_three_voices_and_stays_as_it_was() -> None:
    seen = answered(TUNE)
    assert [made.variant for made in seen.made] == list(MODELS["chorale"])
    for made in seen.made:
        grid = chorales.steps_of(made.events.astype(np.int64))
        assert grid[:, 0].tolist() == [72, 72, -1, -1, 71, 71, 67, 67]
        assert made.given.reshape(-1, 4).all(0).tolist() == [True, False, False, False]
        assert (made.nats[~made.given] > 0).all()
        assert not made.nats[made.given].any()


def test_a_motif_is_continued_by_three_models_with_the_same_draws() -> None:
    seen = answered(PIANO)
    assert [made.variant for made in seen.made] == list(MODELS["piano"])
    count = int(seen.made[0].given.sum())
    for made in seen.made:
        assert len(made.events) == count + 24
        assert np.array_equal(made.events[:count], seen.made[0].events[:count])
    assert seen.grid == 10


@pytest.mark.parametrize("request_", [TUNE, PIANO], ids=["chorale", "piano"])
def test_each_note_is_begun_by_an_event_of_its_pitch(request_: Request) -> None:
    for made in answered(request_).made:
        assert len(made.notes) == len(made.at)
        for (onset, end, pitch, _), at in zip(made.notes.tolist(), made.at.tolist(), strict=True):
            assert 0 <= onset < end <= made.steps
            assert made.events[at] == (pitch if request_.style == "piano" else pitch - chorales.LOWEST + 1)


def test_a_look_is_the_attention_of_the_model(small: dict[str, Network]) -> None:
    from models.music.data import batch_of
    from models.trace import Trace

    for made in answered(PIANO).made[:2]:
        model = small[made.variant]
        trace = Trace("1/self/weights")
        model(batch_of([made.events.astype(np.int64)], model.start).before, trace=trace)
        expected = trace.stack("1/self/weights")[0, 0, 2, [20, 7]]
        np.testing.assert_allclose(look(made, 1, 2, [20, 7]), expected, atol=2e-3)


def test_a_network_without_attention_says_so() -> None:
    made = answered(PIANO).made[2]
    with pytest.raises(IndexError, match="lstm has no attention"):
        look(made, 0, 0, [0])
    with pytest.raises(IndexError, match="no relative term"):
        skew(answered(PIANO).made[1], 0, 0)


def test_skewing_is_shown_on_the_runs_own_numbers() -> None:
    steps = skew(answered(TUNE).made[0], 1, 2, first=4, size=9)
    assert steps.sliced.shape == (9, 9)
    np.testing.assert_allclose(steps.sliced[steps.allowed], steps.direct[steps.allowed], atol=1e-5)


def again(seen: Explanation, request: Request) -> tuple[Array, ...]:
    """What the same events cost under what a request changes."""
    (found,) = measure([Again(request, tuple(made.events.tobytes() for made in seen.made))])
    assert isinstance(found, Losses)
    return found.nats


@pytest.mark.parametrize(
    "change",
    [{"farthest": 0}, {"farthest": 2}, {"silenced": (("jsb_relative", 0, 1),)}],
    ids=["relative term off", "distances clipped", "a head silenced"],
)
def test_a_change_is_in_the_run_and_in_what_the_same_notes_cost(change: dict[str, object]) -> None:
    changed = dataclasses.replace(TUNE, **change)
    seen, after = answered(TUNE), answered(changed)
    nats = again(seen, changed)
    free = ~seen.made[0].given
    assert not np.allclose(nats[0][free], seen.made[0].nats[free], atol=1e-5)
    assert np.allclose(nats[1][free], seen.made[1].nats[free], atol=1e-4)  # the other model is as it was
    for one, other, cost in zip(seen.made, after.made, again(after, changed), strict=True):
        assert other.queries.shape == one.queries.shape
        np.testing.assert_allclose(cost[free], other.nats[free], atol=1e-4)
    np.testing.assert_allclose(again(seen, TUNE)[0][free], seen.made[0].nats[free], atol=1e-4)


@pytest.mark.parametrize(("request_", "change"), [(TUNE, {"semitones": 2}), (PIANO, {"semitones": -3}), (PIANO, {"stretch": 2.0})])
def test_where_the_motif_is_moved_all_of_the_music_is_read_so(request_: Request, change: dict[str, object]) -> None:
    changed = dataclasses.replace(request_, **change)
    seen = answered(request_)
    for made, nats in zip(seen.made, again(seen, changed), strict=True):
        assert nats.shape == made.events.shape and (nats > 0).all()
        assert not np.allclose(nats[~made.given], made.nats[~made.given], atol=1e-5)
    motif_ = seen.made[0].events[seen.made[0].given].astype(np.int64)
    values, source = module._moved_along(changed, motif_)
    if request_.style == "piano":
        moved = module._moved(changed, motif_)
        assert values.tolist() == moved.tolist(), "the motif is read as it is given to the models"
        assert sorted(set(source.tolist())) == list(range(len(motif_)))


def test_what_leaves_the_range_comes_back_by_an_octave() -> None:
    cells = np.array([chorales.CELLS - 1, 1, chorales.SILENCE, 20])
    values, _ = module._moved_along(dataclasses.replace(TUNE, semitones=12), cells)
    assert values.tolist() == [chorales.CELLS - 1, 13, chorales.SILENCE, 32]


def test_a_motif_can_be_moved_and_stretched() -> None:
    made = answered(dataclasses.replace(PIANO, semitones=3, stretch=2.0)).made[0]
    plain = answered(PIANO).made[0]
    given, before = (events.notes_from(one.events[one.given].astype(np.int64)).notes for one in (made, plain))
    assert (given["pitch"] == before["pitch"] + 3).all()
    assert (given["onset"] == 2 * before["onset"]).all()
    assert (given["velocity"] == before["velocity"]).all()
    up = answered(dataclasses.replace(TUNE, semitones=2)).made[0]
    assert chorales.steps_of(up.events.astype(np.int64))[0, 0] == 74


def test_a_style_of_which_no_model_is_shipped_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.music.records.styles", lambda: ("chorale",))
    (found,) = explain([PIANO])
    assert isinstance(found, InputError) and found.code == "style" and "piano" in found.text["en"] and "chorale" in found.text["zh"]


def test_piano_can_begin_from_an_empty_page() -> None:
    made = answered(dataclasses.replace(PIANO, motif="")).made
    assert [len(one.events) for one in made] == [24, 24, 24]
    assert not made[0].given.any()
    changed = dataclasses.replace(PIANO, motif="", stretch=1.5, semitones=-2)
    assert len(again(answered(changed), changed)) == 3
