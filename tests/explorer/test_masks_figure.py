"""What the masks widget is given: the head and the character that are locked on arrival, and shapes that fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.figures import masks
from tests.explorer import spanned
from tests.explorer.rolls import unpacked
from tests.explorer.spanned import RAMP, SPAN


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
