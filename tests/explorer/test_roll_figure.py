"""What the roll draws of a run, from networks' numbers with a fixed seed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from explorer.figures import roll
from explorer.labs.music import rolls
from explorer.looks import looks
from explorer.stored import Stored
from models.music import events
from models.music.notes import notes_of_events
from models.music.records import Explanation, Made, Request, Step, melody, motif, read_motif
from models.music.weights import look
from tests.explorer.rolls import NAMES, chorale, piano, unpacked

ABOUT = {key: {"en": "small", "zh": "小"} for key in NAMES}


def drawn(seen: Explanation, request: Request, **more: Any) -> dict[str, Any]:
    """A finished run as the widget gets it, once around JSON."""
    value = rolls.done(seen, request, "v=1", names=NAMES, about=ABOUT, state="live", **more)
    found: dict[str, Any] = json.loads(json.dumps(value))
    return found


def test_every_model_stands_with_its_notes_and_what_they_cost() -> None:
    seen, request = piano()
    value = drawn(seen, request)
    assert [model["key"] for model in value["models"]] == [made.variant for made in seen.made]
    for model, made in zip(value["models"], seen.made, strict=True):
        np.testing.assert_array_equal(unpacked(model["notes"]), made.notes)
        np.testing.assert_array_equal(unpacked(model["said"]), made.events)
        np.testing.assert_array_equal(unpacked(model["given_notes"]), made.given[made.at])
        assert model["nats"] == pytest.approx(made.nats[~made.given].mean(), abs=1e-4)
        assert model["sound"]["wav"].startswith("/sound/") and model["sound"]["seconds"] > 0
    assert value["steps"] == max(made.steps for made in seen.made)
    assert [model["until"] for model in value["models"]] == [80] * 3, "four notes of 200 ms were given"
    lstm = value["models"][-1]
    assert lstm["heads"] is None and lstm["look"] is None


def test_each_event_belongs_to_the_note_that_it_begins_holds_or_ends() -> None:
    seen, _ = chorale()
    made = seen.made[0]
    owner = roll.owners(made, "chorale")
    for event, note in enumerate(owner.tolist()):
        step, voice = divmod(event, 4)
        sounding = [n for n, (a, b, _, v) in enumerate(made.notes.tolist()) if v == voice and a <= step < b]
        assert sounding == ([] if note < 0 else [note])
    seen, _ = piano()
    made = seen.made[0]
    owner = roll.owners(made, "piano")
    np.testing.assert_array_equal(owner[made.at], np.arange(len(made.notes)))
    for event in np.flatnonzero((made.events >= events.NOTE_OFF) & (made.events < events.SHIFT)).tolist():
        if owner[event] >= 0:
            assert made.notes[owner[event], 2] == made.events[event] - events.NOTE_OFF
            assert made.at[owner[event]] < event
    assert (owner[made.events >= events.SHIFT] == -1).all()


def test_what_a_note_gives_to_notes_and_to_the_rest_is_everything() -> None:
    seen, _ = chorale()
    made = seen.made[0]
    note = len(made.notes) - 3
    weights = look(made, 1, 2, [int(made.at[note])])
    found = roll.by_note(weights, roll.owners(made, "chorale"), len(made.notes))[0]
    later = np.flatnonzero(made.notes[:, 0] > made.notes[note, 0])
    assert not found[later].any()
    first = int(made.at[note])
    rests = weights[0, 0] + sum(weights[0, event + 1] for event in range(first) if made.events[event] == 0)
    assert found.sum() + rests == pytest.approx(1, abs=1e-5)
    # The key at a place carries the event before it.
    key = next(n for n in range(len(made.notes)) if made.at[n] < first - 1)
    own = [event for event in range(int(made.notes[key, 0]) * 4 + int(made.notes[key, 3]), int(made.notes[key, 1]) * 4, 4) if event < first]
    assert found[key] == pytest.approx(sum(weights[0, event + 1] for event in own), abs=1e-6)


def test_all_queries_give_the_mean_by_distance_and_rows_of_whole_weight() -> None:
    seen, _ = chorale()
    made = seen.made[0]
    thumbs, distance, watched = roll.watch(made, look, most=len(made.events))
    assert watched == [len(made.events)] * 2
    heads = made.queries.shape[1]
    for number in range(made.queries.shape[0] * heads):
        whole = look(made, number // heads, number % heads, range(len(made.events)))
        means = [np.diagonal(whole, -apart).mean() for apart in range(distance.shape[1])]
        np.testing.assert_allclose(distance[number], means, atol=1e-5)
    np.testing.assert_allclose(thumbs.sum(2), 1, atol=1e-5)
    assert not np.triu(thumbs[0], 1).any()


def test_a_long_run_is_watched_at_some_of_its_queries() -> None:
    seen, _ = piano(length=600)
    _, distance, watched = roll.watch(seen.made[0], look)
    assert watched[0] <= roll.WATCHED < watched[1]
    assert distance.shape[1] == roll.FARTHEST


def test_the_telling_note_was_made_and_its_head_looks_far_back() -> None:
    seen, request = chorale()
    pick = drawn(seen, request)["pick"]
    made = next(one for one in seen.made if one.variant == pick["model"])
    assert not made.given[made.at[pick["note"]]]
    layer, head = (int(part) for part in pick["head"].split("."))
    assert (layer, head) == (2, 2), "the head that was built to look four beats back"


def test_a_look_has_an_address_under_which_its_rows_are() -> None:
    seen, request = chorale()
    model = drawn(seen, request)["models"][0]
    kept = looks().get(model["look"].rpartition("/")[2])
    assert kept is not None
    answer = kept.answer(1, 1, 8, 2)
    assert answer is not None
    np.testing.assert_allclose(np.frombuffer(answer, "<u2").reshape(2, -1) / 65_535, look(seen.made[0], 1, 1, [8, 9]), atol=1 / 65_535)


def test_what_a_stored_result_shows_can_be_looked_at_whatever_comes_after() -> None:
    seen, request = chorale()
    value = drawn(seen, request)
    stored = Stored(())
    stored.hold(json.dumps(value))
    for model in value["models"]:
        digest = model["look"].rpartition("/")[2]
        assert asyncio.run(stored.look(digest)) is looks().get(digest)
    assert asyncio.run(stored.look("0" * 32)) is None


def test_motifs_that_come_back_are_paired_and_none_lies_in_another() -> None:
    request = Request("piano", "continue", motif((60, 64, 67, 65, 62, 59, 60, 48, 64, 68, 71, 69, 66, 63, 64, 50)), 8)
    values = read_motif(request)
    notes, at, steps = notes_of_events("piano", values)
    nothing = np.zeros((0, 0, 0, 0), np.float16)
    given = np.ones(len(values), np.bool_)
    made = Made(
        "lstm",
        values.astype(np.int16),
        given,
        np.zeros(len(values), np.float32),
        notes.astype(np.int32),
        at.astype(np.int32),
        steps,
        nothing,
        nothing,
        nothing,
    )
    value = drawn(Explanation((made,), 10), request)
    (first, again, semitones), *others = value["repeats"]["lstm"]
    assert semitones == 4 and first == list(range(len(first))) and again[0] == 8
    assert not others
    assert value["pick"] is None and value["models"][0]["nats"] is None


def test_music_grows_and_what_was_given_stays_given() -> None:
    seen, _ = chorale()
    made = seen.made[0]
    harmonise = Request(motif=melody([72, 71, 69, 67], 4))
    steps = [Step(made.variant, first, made.events[first : first + 10], made.nats[first : first + 10]) for first in (0, 10)]
    value = rolls.growing(harmonise, steps, "v=1", names=NAMES, about=ABOUT)
    (model,) = json.loads(json.dumps(value))["models"]
    assert (model["events"], model["of"], model["given"], model["until"]) == (20, 64, 5, 0)
    notes = unpacked(model["notes"])
    assert len(notes) and notes[:, 1].max() <= 5
    np.testing.assert_array_equal(unpacked(model["given_notes"]), notes[:, 3] == 0)
    seen, request = piano()
    made = seen.made[0]
    steps = [Step(made.variant, 0, made.events[:30], made.nats[:30])]
    (model,) = rolls.growing(request, steps, "", names=NAMES, about=ABOUT)["models"]  # type: ignore[misc]
    assert model["given"] == int(made.given.sum()) and model["of"] == len(made.events)


def test_a_licence_goes_along() -> None:
    seen, request = piano()
    assert drawn(seen, request)["licence"] is None
    assert drawn(seen, request, licence={"en": "CC", "zh": "CC"})["licence"] == {"en": "CC", "zh": "CC"}
