"""What the picture of hashing is given: buckets in bytes, one head and round by places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.figures import hashing
from explorer.packing import arrays
from tests.explorer import hashed


def test_the_value_carries_the_buckets_of_every_model_in_bytes() -> None:
    tokens, word, made = hashed.models("word")
    value: dict[str, Any] = hashed.value()
    assert value["tokens"] == list(tokens) and value["word"] == word == 26
    assert [one["key"] for one in value["models"]] == ["lsh_4", "full", "lsh_2"]
    for one, own in zip(value["models"], made, strict=True):
        assert (one["layers"], one["heads"], one["rounds"]) == own.buckets.shape[:3]
        np.testing.assert_array_equal(hashed.unpacked(one["buckets"]), own.buckets)
    assert value["models"][1]["rounds"] == 0
    assert value["looked"]["head"] == value["pick"]["head"] and value["looked"]["round"] == value["pick"]["round"]


def test_buckets_of_a_long_text_travel_by_an_address() -> None:
    own = hashed.read("text", tuple("ab" * 500), None, rounds=5, layers=4)
    packed: Any = hashing.value(tokens="ab" * 500, wanted=np.arange(1000), read=[own], names=hashed.NAMES, query="", state="live", pick={})[
        "models"
    ]
    assert packed[0]["buckets"]["url"].startswith("/arrays/") and "data" not in packed[0]["buckets"]
    assert arrays().get(packed[0]["buckets"]["url"].removeprefix("/arrays/")) is not None


def test_weights_by_place_and_slot_are_all_weights_of_a_round() -> None:
    _, _, made = hashed.models("word")
    seen = hashed.look(made[0], 0, 0, 1)
    length, chunk = len(seen.order), seen.chunk
    found = hashing.slots(seen.weights, seen.order, chunk)
    assert found.shape == (length, 2 * chunk)
    again = np.zeros((length, length), np.float32)
    for place, row in enumerate(found):
        for slot, weight in enumerate(row):
            other = (place // chunk - 1) * chunk + slot
            if 0 <= other < length:
                again[seen.order[place], seen.order[other]] = weight
            else:
                assert weight == 0
    np.testing.assert_array_equal(again, seen.weights.astype(np.float32))
    np.testing.assert_allclose(again.sum(1), 1, atol=2e-3)


def test_a_look_says_what_it_is_of_and_a_chunk_is_never_longer_than_the_sequence() -> None:
    _, _, made = hashed.models("word")
    wide = replace(hashed.look(made[0], 0, 2, 3), chunk=200)
    look: dict[str, Any] = hashing.looked(query="q=1", model="lsh_4", layer=0, head=2, turn=3, seen=wide)
    assert [look[name] for name in ("kind", "query", "model", "head", "round", "chunk")] == ["hashing", "q=1", "lsh_4", "1.3", 4, 53]
    np.testing.assert_allclose(hashed.unpacked(look["rotated"]), wide.rotated, atol=1e-6)
    every: dict[str, Any] = hashed.answer("word", "", "lsh_4", "1.1", hashing.ALL)
    assert every["round"] == 0
    np.testing.assert_allclose(hashed.unpacked(every["weights"]), hashed.weights(made[0], 0, 0), atol=1e-4)
    error = {"en": "Gone.", "zh": "已不在。"}
    lost = hashing.unseen(query="", model="lsh_4", layer=0, head=0, turn=-1, error=error)
    assert lost["round"] == 0 and lost["error"] == error


def test_what_does_not_fit_is_named() -> None:
    tokens, word, made = hashed.models("word")
    how: dict[str, Any] = {"wanted": np.arange(3), "names": hashed.NAMES, "query": "", "state": "live", "pick": {}, "word": word}
    with pytest.raises(ValueError, match="for 3 tokens"):
        hashing.value(tokens="abc", read=made, **how)
    with pytest.raises(ValueError, match="which has 8"):
        hashing.value(tokens=tokens, read=[replace(made[0], kinds=8)], **how)
