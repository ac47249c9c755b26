"""What the picture of segments and memory is given, from numbers of a fixed seed."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from explorer.figures import segments
from explorer.looks import looks
from models.transformer_xl.weights import look
from tests.explorer import segmented
from tests.explorer.rolls import unpacked


def drawn(intervention: str = "none", **more: Any) -> dict[str, Any]:
    """A finished run as the widget gets it, once around JSON."""
    _, models = segmented.run(intervention)
    how = {"given": 200, "segment": 32, "memory": 64, "layers": 3, "query": "v=1", "state": "live"}
    found: dict[str, Any] = json.loads(json.dumps(segments.value(models, intervention=intervention, **{**how, **more})))
    return found


def test_every_number_of_a_run_arrives() -> None:
    seen, models = segmented.run()
    value = drawn()
    assert [model["key"] for model in value["models"]] == ["xl", "absolute"]
    for packed, one, model in zip(value["models"], seen, models, strict=True):
        assert packed["text"] == one.text and packed["heads"] == 2 and packed["memory"] == one.memory
        np.testing.assert_allclose(unpacked(packed["across"]) / 65_535, one.across, atol=1e-5)
        np.testing.assert_array_equal(unpacked(packed["remembered"]), one.remembered)
        np.testing.assert_array_equal(unpacked(packed["travelled"]), model.travelled)
    assert (value["given"], value["segment"], value["memory"], value["layers"]) == (200, 32, 64, 3)
    assert not unpacked(value["models"][1]["across"]).any(), "nothing crosses where nothing is remembered"


def test_its_address_gives_the_rows_of_a_reading() -> None:
    seen, _ = segmented.run("foreign")
    kept = looks().get(drawn("foreign")["models"][0]["look"].rpartition("/")[2])
    assert kept is not None
    answer = kept.answer(2, 1, 100, 2)
    assert answer is not None
    rows = np.frombuffer(answer, "<u2").reshape(2, -1) / 65_535
    np.testing.assert_allclose(rows, look(seen[0], 2, 1, [100, 101]), atol=1e-5)
    assert rows.shape[1] == len(seen[0].text) + 64, "keys of the other text come last"


def test_what_is_locked_on_arrival_lies_in_a_segment_with_a_full_memory_and_looks_across() -> None:
    seen, models = segmented.run()
    pick = segments.telling(models, 32)
    assert pick is not None and pick["model"] == "xl"
    position = pick["pos"]
    assert isinstance(position, int)
    assert (seen[0].remembered[position // 32] >= 0).sum() == 64 and 4 <= position % 32 <= 16 and position < 224
    layer, head = (int(part) - 1 for part in str(pick["head"]).split("."))
    assert seen[0].across[layer, head, position] == seen[0].across[:, :, position].max()
    assert drawn()["pick"] == pick
    assert drawn(pick={"model": "xl", "head": "1.1", "pos": 3})["pick"]["pos"] == 3


def test_nothing_is_locked_where_nothing_is_remembered() -> None:
    assert drawn("cut")["pick"] is None
    assert segments.telling([segmented.model(segmented.reading(length=20))], 32) is None


def test_the_last_of_two_segments_is_good_enough_to_begin_with() -> None:
    pick = segments.telling([segmented.model(segmented.reading(length=40))], 32)
    assert pick is not None and isinstance(pick["pos"], int) and pick["pos"] >= 32


def test_arrays_that_do_not_fit_the_text_are_refused_with_their_sizes() -> None:
    _, (model, _) = segmented.run()
    how: dict[str, Any] = {"given": 0, "memory": 64, "layers": 3, "intervention": "none", "query": "", "state": "live"}
    with pytest.raises(ValueError, match=r"across \(3, 2, 249\).*250 characters in segments of 32, 3 layers"):
        segments.value([dataclasses.replace(model, across=model.across[..., 1:])], segment=32, **how)
    with pytest.raises(ValueError, match='intervention "swapped"; it can be none, cut, shuffled, foreign'):
        segments.value([model], segment=32, **{**how, "intervention": "swapped"})


def test_a_text_that_is_being_read_has_an_axis_and_says_how_far_it_is() -> None:
    value = segments.growing(
        [segments.Growing("xl", {"en": "a", "zh": "b"}, {"en": "", "zh": ""}, "It was a", 512)],
        of=300,
        given=200,
        segment=128,
        memory=512,
        layers=4,
        intervention="none",
        query="v=1",
    )
    (model,) = json.loads(json.dumps(value))["models"]
    assert (value["state"], value["of"], model["text"], model["heads"]) == ("running", 300, "It was a", None)
