"""The Reformer's page without a browser: what a wish becomes, what the widgets are told, what the table of rounds says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from explorer import controls
from explorer.engine import Engine
from explorer.figures.sides import Side
from explorer.labs.reformer import about, change, page, texts, views
from explorer.runs import Run
from explorer.widgets.change import done
from models.errors import InputError
from models.layers.lsh import met, shared_weights, sort_by_bucket
from models.reformer.records import Request
from models.reformer.weights import overview, shared
from tests.explorer import duplicated
from tests.explorer.wishes import opened

LIVE = Run("live", 12.0, "cpu")
WORD = Request()


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


def test_a_word_shorter_than_any_in_training_carries_a_warning() -> None:
    assert views.warning(Request(text="a" * 15), duplicated.word("a" * 15)) is not None
    assert views.warning(Request(text="a" * 16), duplicated.word("a" * 16)) is None
    assert views.warning(Request("text", "Short."), duplicated.book("Short.")) is None


def test_texts_are_offered_only_where_their_model_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in (True, False):
        monkeypatch.setattr(views, "reads", lambda there=there: there)
        assert [control.kind for control in views.asked()] == (["choice", "letters", "text"] if there else ["letters"])
        assert ("text" in {example.mode for example in views.given()}) == there


# ---- weights without a model -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seen", [False, True], ids=["every key", "what hashing saw"])
def test_weights_are_those_of_the_layer(seen: bool) -> None:
    one = duplicated.read("lsh_2", "a word of letters")
    for head in range(4):
        query = torch.from_numpy(one.queries[0, head].astype(np.float32))
        pairs = torch.stack([met(sort_by_bucket(torch.from_numpy(turn)), one.chunk) for turn in one.buckets[0, head]]).any(0)
        expected = shared_weights(query, pairs if seen else None).numpy()
        assert np.abs(shared(one, 0, head, range(len(query)), seen) - expected).max() < 1e-5
    assert np.abs(overview(one, seen).pooled.sum(3) - 1).max() < 1e-4


def test_a_long_run_is_pooled_and_its_rows_still_sum_to_one() -> None:
    one = duplicated.read("text", "x" * 600, mode="text")
    found = overview(one, True)
    assert found.by == 3 and found.pooled.shape == (1, 4, 200, 200)
    assert np.abs(found.pooled.sum(3) - 1).max() < 1e-4
    exact = shared(one, 0, 1, range(597, 600), True)
    assert np.abs(found.pooled[0, 1, 199] - np.add.reduceat(exact, np.arange(0, 600, 3), axis=1).mean(0)).max() < 1e-5


def test_heads_and_positions_that_there_are_not_are_an_error_with_what_there_is() -> None:
    one = duplicated.read("full", "word")
    for place in ((1, 0, [0]), (0, 4, [0]), (0, 0, [9])):
        with pytest.raises(IndexError, match="1 × 4 heads and 9 positions"):
            shared(one, *place, True)


# ---- what the widgets draw ---------------------------------------------------------------------------------------------------------


def test_a_word_becomes_an_answer_its_letters_and_attention() -> None:
    drawn = page.program().drawn(duplicated.word(), WORD, LIVE)
    bar, letters, heads = drawn["ask"], drawn["spelling"], drawn["attention"]
    assert bar is not None and letters is not None and heads is not None
    answer: Any = bar["answer"]
    assert bar["state"] == "live" and answer["right"] is True and answer["said"] == WORD.text
    assert [one["right"] for one in answer["beside"]] == [True, True, False]
    assert answer["beside"][-1]["verdict"]["en"] == "23 of 26 letters right"
    runs: Any = letters["runs"]
    assert [(one["key"], one["right"]) for one in runs] == [("lsh_4", 26), ("full", 26), ("lsh_2", 26), ("lsh_1", 23)]
    assert letters["first"] == 27 and letters["pick"]["pos"] == 27 + 3, "the first letter that one model gets wrong"  # type: ignore[index]
    kinds: Any = heads["kinds"]
    assert [one["key"] for one in kinds] == ["lsh_4", "lsh_4.saw", "full", "lsh_2.saw", "lsh_1.saw"]
    assert heads["pick"]["kind"] == "lsh_4.saw" and heads["silences"] is True  # type: ignore[index]
    json.dumps(drawn)


def test_a_text_is_told_in_bits_and_its_long_maps_are_pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "It was a dark and stormy night. " * 12
    asked = Request("text", text)
    drawn = page.program().drawn(duplicated.book(text), asked, LIVE)
    bar, letters, heads = drawn["ask"], drawn["spelling"], drawn["attention"]
    assert bar is not None and letters is not None and heads is not None
    assert bar["answer"]["right"] is None and bar["answer"]["said"]["en"].endswith("bits per character")  # type: ignore[index]
    assert letters["mode"] == "text" and letters["first"] == 0
    kinds: Any = heads["kinds"]
    assert [one["key"] for one in kinds] == ["text", "text.saw"] and kinds[0]["pooled"] == [2, 2]
    assert kinds[0]["look"] != kinds[1]["look"]
    json.dumps(drawn)


def test_a_map_without_room_for_names_stands_on_one_screen_with_every_cell_its_own() -> None:
    for text, whole in (("It was a dark and stormy night. " * 3, False), ("It was a dark and stormy night. " * 4, True)):
        heads: Any = views.heads(duplicated.book(text), Request("text", text), "live")
        assert all(one["pooled"] == [1, 1] and (one["look"] is not None) == whole for one in heads["kinds"])


def test_every_character_of_our_own_text_stands_in_the_books() -> None:
    assert set(views.OPENING) <= set(about.facts()["text"]["config"]["letters"])


def test_characters_that_no_book_has_are_named() -> None:
    seen = duplicated.book("It was § late")
    tokens = tuple("\N{REPLACEMENT CHARACTER}" if token == "§" else token for token in seen.tokens)
    said = views.warning(Request("text", "It was § late"), replace(seen, tokens=tokens))
    assert said is not None and "§" in said["en"]


def test_a_run_under_another_change_marks_no_column_of_the_table() -> None:
    one = duplicated.read("lsh_2", "word")
    assert views.ran(Request(text="word"), one) == "2"
    assert views.ran(Request(text="word", rounds=2), one) == "2"
    assert views.ran(Request(text="word", buckets=8), one) == ""


def test_bertviz_is_refused_for_a_long_word_and_says_its_limit() -> None:
    assert views.bertviz(duplicated.word()).weights.shape == (1, 4, 53, 53)
    with pytest.raises(InputError) as refusal:
        views.bertviz(duplicated.word("a" * 40))
    assert "64 positions" in refusal.value.text["en"] and "81" in refusal.value.text["en"]


# ---- what changes if … -------------------------------------------------------------------------------------------------------------


def test_the_panel_tells_the_share_of_right_letters_and_the_letters_that_changed() -> None:
    asked = Request(rounds=1)
    before, after = duplicated.word(wrong={}), duplicated.word(wrong={"lsh_2": (0, 1), "lsh_1": (5,)}, salt=1)
    after = replace(after, read=(after.read[0], before.read[1], *after.read[2:]))
    drawn: Any = done({}, change.difference((before, after), None, asked, texts.ROUND))
    sides = {one["key"]: one for one in drawn["sides"]}
    assert sides["lsh_2"]["number"] == {"before": 1.0, "after": 24 / 26} and sides["lsh_2"]["unit"] == texts.SHARE
    assert sides["lsh_2"]["answers"][1][:2] == "mp" and sides["lsh_2"]["first"] == 27
    assert sides["full"]["reached"] is False and sides["full"]["answers"] is None
    assert "LSH-2⟧ 0.923 instead of 1.000" in drawn["sentence"]["en"] and "Full attention" not in drawn["sentence"]["en"]
    assert drawn["sentence"]["en"].startswith("With 1 round of hashing")


def test_a_change_that_reaches_nobody_says_so() -> None:
    seen = duplicated.word()
    drawn: Any = done({}, change.difference((seen, seen), None, Request(chunk=256), {"en": "in chunks of 256", "zh": "每块 256 个位置"}))
    assert drawn["sentence"]["en"] == "In chunks of 256, nothing changes for any model."


def test_knobs_change_nothing_where_they_stand_at_first() -> None:
    told = {one.field: one.drawn(Request) for one in change.knobs({"lsh_4": (1, 4)})}
    assert {field: one["default"] for field, one in told.items()} == {field: controls.texts(Request())[field] for field in told}
    assert [value for value, _ in told["rounds"]["names"]] == ["-1", *map(str, range(1, 17)), "0"]  # type: ignore[attr-defined]
    assert all(int(value) % 2 == 0 for value, _ in told["buckets"]["names"])  # type: ignore[attr-defined]
    assert told["silenced"]["sizes"] == {"lsh_4": [1, 4]}


def test_answers_of_different_lengths_are_an_error_with_all() -> None:
    nats = np.ones(3, np.float32)
    with pytest.raises(ValueError, match=r"answers of \[3, 2, 3\]"):
        Side("full", texts.SHARE, nats, nats, 3, 0, answers=("abc", "ab", "abc"))


def test_a_round_that_is_looked_at_comes_with_its_wish_and_nonsense_is_refused_in_a_sentence(engine: Engine) -> None:
    def looked(**detail: Any) -> dict[str, Any]:
        found: dict[str, Any] = opened(page.program(), "hashing", {"query": "", "model": "lsh_4", "wished": 7, **detail}, engine)
        return found

    kept = views.hashings()
    assert kept is not None
    one = looked(head="1.2", round=2)
    assert [one[name] for name in ("model", "head", "round", "wished", "error")] == ["lsh_4", "1.2", 2, 7, None]
    assert one["rotated"]["shape"] == list(kept.rounds[0][1][1].rotated.shape) and one["chunk"] == kept.rounds[0][1][1].chunk
    every = looked(head="1.2", round=0)
    assert every["round"] == 0 and every["weights"]["shape"] == [len(kept.rounds[0][1][1].order)] * 2
    for wrong in ({"head": "9.9", "round": 1}, {"head": "no", "round": 0}, {"head": "1.1", "round": 1e300}, {"head": [1], "round": None}):
        refused = looked(**wrong)
        assert refused["error"]["en"].endswith(".") and refused["wished"] == 7
