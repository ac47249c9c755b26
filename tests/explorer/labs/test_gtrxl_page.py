"""The page of the agent with a memory, without a browser: values of its pictures, stored
measurements, a change, the steps."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.labs import LABS
from explorer.labs.gtrxl import about, texts, views
from models.checkpoints import folders
from models.gtrxl.records import EXAMPLES, Explanation, MeasuredSuccess, Request
from tests.explorer.numbers import unpacked
from tests.explorer.wishes import program_of

LAB = next(lab for lab in LABS if lab.slug == "gtrxl")

START = EXAMPLES[0]


def stored() -> Explanation:
    kept = views.first()
    assert kept is not None
    return kept.seen


def test_the_stored_walk_turns_right() -> None:
    drawn: Any = views.draw_walk(stored(), START, "stored")
    assert drawn["turn"] == drawn["answer"] == "down" and drawn["cue"] == "B"
    assert drawn["place"] == list(range(13)) and drawn["steps"] == 13
    weights = unpacked(drawn["weights"])
    assert weights.shape == (2, 4, 13, 13)
    np.testing.assert_allclose(weights.sum(-1) * drawn["weights"]["scale"], 1, atol=1e-3)
    assert json.dumps(drawn)


def test_the_answer_names_both_turns() -> None:
    said: Any = views.answer(stored(), START)
    assert said["right"] and said["said"]["en"] == "down" and "N = 12" in said["given"]


def test_what_training_did_not_see_is_said() -> None:
    seen = stored()
    assert views.describe_warning(START, seen) is None
    far = views.describe_warning(START, replace(seen, length=60))
    assert far is not None and "60" in far["en"]
    assert views.describe_warning(START, replace(seen, cue="")) is texts.NO_CUE
    every = tuple(("gtrxl", layer, head) for layer in range(2) for head in range(4))
    assert views.describe_warning(replace(START, silenced=every), seen) is texts.ALL_OFF


def test_switches_turn_off_and_on() -> None:
    head = ("gtrxl", 1, 2)
    request = replace(START, silenced=(head,), forced=("1m",))
    rows: Any = views.draw_switches(stored(), request, "live")["rows"]
    by = {row["key"]: row for row in rows}
    assert len(rows) == 12 and by["2.3"]["off"] and by["1m"]["off"] and not by["2.2"]["off"]
    assert by["2.3"]["set"] == {"silenced": ""} and by["1m"]["set"] == {"forced": ""}
    assert by["1.1"]["set"] == {"silenced": "gtrxl.0.0,gtrxl.1.2"}
    assert by["2a"]["set"] == {"forced": "1m,2a"}


def test_a_head_that_stares_need_not_decide() -> None:
    layer, head = views.find_guided_head()
    rows: Any = views.draw_switches(stored(), START, "stored")["rows"]
    heads = [row for row in rows if row["kind"] == "head"]
    deciding = next(row for row in heads if row["key"] == f"{layer + 1}.{head + 1}")
    assert deciding["right"] < 0.7
    assert [row for row in heads if row["shown"] > 0.9 and row["right"] == 1.0], "pretty"
    gates = {row["key"]: row for row in rows if row["kind"] == "gate"}
    assert gates["2a"]["right"] <= 0.55 and gates["2a"]["shown"] > 2 * gates["1a"]["shown"]


def test_an_lstm_has_neither_heads_nor_gates() -> None:
    seen = replace(
        stored(),
        network="lstm",
        weights=np.zeros((0, 4, 13, 13), np.float16),
        gates=np.zeros((0, 2, 13, 64), np.float16),
    )
    request = Request(network="lstm")
    assert views.pick(seen, request) == {}
    assert views.draw_switches(seen, request, "live")["rows"] == []
    assert views.draw_gates(seen, request, "live")["places"] == []
    assert views.draw_walk(seen, request, "live")["layers"] == 0


def test_memory_falls_off_a_cliff() -> None:
    drawn: Any = about.draw_cliff("gtrxl", 11)
    assert "k = 11" in drawn["sentence"]["en"] and "k = 12" in drawn["sentence"]["en"]
    assert drawn["figures"]["en"]["layout"]["shapes"], "the run in view is marked"
    whole: Any = about.draw_cliff("gtrxl", 308)
    assert "shapes" not in whole["figures"]["en"]["layout"]
    memory = {
        name: one["memory"] for name, one in about.read_stored("switches.json")["agents"].items()
    }
    assert memory["gtrxl"][11]["right"] == 0.5 and memory["gtrxl"][12]["right"] == 1.0
    assert memory["trxl_i"][8]["right"] == 1.0, "its layers relay the lamp"


def test_runs_are_drawn_as_they_came_out() -> None:
    runs = about.read_runs()
    drawn: Any = about.draw_rates()
    assert len(drawn["table"]["rows"]) == len(drawn["figures"]["en"]["data"]) == len(runs)
    for rate in {one["rate"] for one in runs}:
        curves: Any = about.draw_rate(rate)
        assert len(curves["figures"]["zh"]["data"]) == sum(one["rate"] == rate for one in runs)
    assert about.draw_rate(7.0) is None
    panel: Any = views.draw_rates(None, None)
    assert len(panel["figures"]) == 1 + len({one["rate"] for one in runs}) and json.dumps(panel)


def test_steps_to_success_are_counted() -> None:
    run = {"right": [0.5, 0.96, 0.7, 1.0], "steps": 400}
    assert about.find_first_good(run) == 200
    assert about.find_first_good({"right": [0.5], "steps": 100}) is None


def test_nothing_is_drawn_where_nothing_is_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(folders, "find_lab_folder", lambda slug, assets: tmp_path)
    assert about.draw_cliff() is about.draw_rates() is about.curves() is None
    assert about.find_deciding_head("gtrxl") is None and about.pairs() == ()


@pytest.mark.parametrize(("right", "kind"), [(False, "lost"), (True, "same")])
def test_a_change_is_told_in_words(right: bool, kind: str) -> None:
    was = stored()
    now = was if right else replace(was, right=False, turn="up")
    held = (
        MeasuredSuccess(1.0, 0.0, 100, 9.0),
        MeasuredSuccess(1.0 if right else 0.5, 0.0, 100, 9.0),
    )
    told = views.draw_difference((was, now), held, START, {"en": "with x", "zh": "用 x"})
    assert told.rows[0].kind == kind and told.number.after == held[1].right
    assert ("as before" in told.sentence["en"]) == right


def test_every_step_and_example_is_readable() -> None:
    assert len(LAB.steps) == 8 and len(LAB.examples) == 5
    for query in (*LAB.examples, *(step.query for step in LAB.steps)):
        request, notice = program_of("gtrxl").read_request(query)
        assert isinstance(request, Request) and notice is None
    picture: Any = LAB.thumbnail()
    assert picture.weights.shape == (4, 13)


def test_the_card_is_filled_in() -> None:
    assert len(about.pairs()) == 4 and about.curves() is not None
