"""What the masks widget is given: profiles by distance, the head and the character that are locked on arrival, and shapes that fit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from explorer.figures import masks
from models.adaptive_span.weights import look, overview
from tests.explorer import spanned
from tests.explorer.rolls import unpacked
from tests.explorer.spanned import RAMP, SPAN


def test_profiles_of_all_positions_are_the_means_that_the_models_count() -> None:
    seen = spanned.run(length=90)
    found = masks.profiles(partial(look, seen), 4, 4, 90, SPAN, most=90)
    assert found.watched == (90, 90)
    np.testing.assert_array_equal(found.counts, 90 - np.arange(90))
    np.testing.assert_allclose(found.after[3, 0], overview(seen).distances_after[3, 0], atol=1e-6)
    whole = (found.before * found.counts).sum(2)
    np.testing.assert_allclose(whole, 90, rtol=1e-4)


def test_what_a_mask_keeps_follows_from_the_profile_before_it() -> None:
    seen = spanned.run()
    found = spanned.profiles(seen)
    assert found.watched == (256, 700) and found.before.shape == (4, 4, SPAN)
    mask = np.clip((RAMP + seen.z - np.arange(SPAN)) / RAMP, 0, 1)
    left = (found.before * mask * found.counts).sum(2) / found.counts[0]
    np.testing.assert_allclose(found.kept, left, atol=1e-4)
    assert found.kept.min() > 0.2 and found.kept.max() <= 1 + 1e-5


def test_some_positions_stand_for_all_where_there_are_many() -> None:
    seen = spanned.run()
    few = masks.profiles(partial(look, seen), 4, 4, 700, SPAN, most=64)
    every = masks.profiles(partial(look, seen), 4, 4, 700, SPAN, most=700)
    assert few.watched == (64, 700) and every.watched == (700, 700)
    np.testing.assert_allclose(few.kept, every.kept, atol=0.02)


def test_a_head_that_looks_far_and_still_cuts_is_locked_on_arrival() -> None:
    z = spanned.run().z
    assert masks.telling(z, SPAN, RAMP, 560, 700) == {"head": "4.3", "pos": 572}
    assert masks.telling(np.full_like(z, SPAN), SPAN, RAMP, 560, 565) == {"head": "1.1", "pos": 564}
    moving = spanned.run("dynamic").z
    picked = masks.telling(moving, SPAN, RAMP, 560, 700)
    assert picked["head"] == "4.4"
    assert picked["pos"] == 560 + int(moving[3, 3, 560:].argmax())


def test_the_value_carries_spans_as_learned_where_others_are_forced() -> None:
    forced = spanned.run("adaptive", ((1, 1, 200.0),))
    value: dict[str, Any] = spanned.value(forced)
    assert value["heads"] == [4, 4] and value["span"] == SPAN and value["ramp"] == RAMP
    assert unpacked(value["forced"]).sum() == 1
    learned = unpacked(value["learned"])
    assert learned[1, 1] == 15 and (learned == -1).sum() == 15
    np.testing.assert_array_equal(unpacked(value["z"])[1, 1], [200])
    assert value["pick"] == {"head": "4.3", "pos": 572}
    assert spanned.value(spanned.run())["learned"] is None


def test_shapes_that_do_not_fit_are_refused() -> None:
    seen = spanned.run(length=90)
    with pytest.raises(ValueError, match=r"\("):
        spanned.value(replace(seen, forced=seen.forced[:2]))
    with pytest.raises(ValueError, match="0 characters"):
        masks.profiles(partial(look, seen), 4, 4, 0, SPAN)
