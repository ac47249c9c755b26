"""The page of adaptive computation time without a browser: what its widgets are told to draw, what its card and figures say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer import permalink
from explorer.controls import query
from explorer.labs.act_rnn import about, texts, views
from explorer.labs.act_rnn.page import LAB, PROGRAM
from explorer.runs import Run, Stored
from models.act_rnn.records import EXAMPLES, MAX_BITS, Explanation, Request, read_bits, read_sum

LIVE = Run("live", 5.0, "cpu")
SUM = Request("addition", "47+5")


def explanation(request: Request = SUM, **more: Any) -> Explanation:
    """A run of five inputs, or of one, that takes 2, 3, 1, 3 and 1 updates."""
    updates = np.array([2, 3, 1, 3, 1] if request.task == "addition" else [3])
    halting = np.zeros((3, len(updates)), np.float32)
    for at, n in enumerate(updates):
        halting[:n, at] = [0.2, 0.5, 0.6][:n]
        halting[n - 1, at] = 1.0
    weights = halting.copy()
    remainder = np.array([1 - column[: n - 1].sum() for column, n in zip(halting.T, updates, strict=True)], np.float32)
    weights[updates - 1, np.arange(len(updates))] = remainder
    bits = request.task == "parity"
    found = Explanation(
        inputs=("101",) if bits else ("7", "5", "4", "0", "="),
        wanted=(0,) if bits else (1, 3, 4),
        answer="even" if bits else "52",
        expected="even" if bits else "52",
        probability=np.array([0.9], np.float32) if bits else np.array([0.9, 0.8, 1.0], np.float32),
        steps=updates,
        remainder=remainder,
        halting=halting,
        weights=weights,
        totals=np.minimum(halting.cumsum(0), 1).astype(np.float32),
        distance=np.zeros_like(halting),
        stopped=("odd", "odd", "even") if bits else ("42", "52", "52"),
        threshold=0.99,
        limit=20 if bits else 8,
        ponder=float((updates + remainder).mean()),
        difficulty=3 if bits else 1,
        without="odd" if bits else "",
    )
    return replace(found, **more)


# ---- a run -------------------------------------------------------------------------------------------------------------------------


def test_every_input_has_its_bar_and_digits_say_whose_they_are() -> None:
    seen = explanation()
    drawn: Any = views.mechanism(seen, SUM, "live")
    assert drawn["positions"] == ["7", "+5", "4", "+0", "="]
    assert drawn["steps"] == [2, 3, 1, 3, 1]
    assert drawn["wanted"] == [1, 3, 4]
    assert drawn["pick"] in {1, 3}, "locked on arrival is one that thinks long and gives a digit"
    assert [one["answer"] for one in drawn["stopped"]] == ["42", "52", "52"]
    assert [one["right"] for one in drawn["stopped"]] == [False, True, True]
    assert json.dumps(drawn)


def test_even_and_odd_are_said_in_both_languages_and_digits_as_they_are() -> None:
    request = Request("parity", "101")
    drawn: Any = PROGRAM.drawn(explanation(request), request, LIVE)
    told = drawn["ask"]["answer"]
    assert told["said"] == {"en": "even", "zh": "偶数"}
    assert drawn["ponder"]["stopped"][0]["answer"] == {"en": "odd", "zh": "奇数"}
    assert told["beside"] == [{"name": dict(texts.WITHOUT), "answer": dict(texts.ODD), "right": False, "verdict": None}]
    assert views.say("addition", "52") == "52"


def test_a_network_that_is_not_shipped_says_nothing_beside() -> None:
    told: Any = views.answer(explanation(), SUM)
    assert told["beside"] == []


def test_forced_updates_are_told_to_the_mechanism() -> None:
    request = replace(SUM, forced=3)
    drawn = views.mechanism(explanation(request), request, "live")
    assert drawn["forced"] == 3
    assert set(drawn["reasons"]) == {"forced"}  # type: ignore[call-overload]


def test_a_task_hands_its_example_to_an_empty_line_and_reads_it() -> None:
    for control in views.CONTROLS:
        if control.field == "text":
            (task,) = control.when["task"]
            assert (read_bits if task == "parity" else read_sum)(control.placeholder)
            assert control.places in {0, MAX_BITS}


# ---- the figure of difficulty ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", about.TASKS)
def test_hard_things_are_shown_as_measured_with_the_run_in_view(task: str) -> None:
    drawn: Any = about.difficulty(task, (2, 3.5))
    levels = about.facts()[task]["figure"]["ponder_by_difficulty"]
    means, diamond = drawn["figures"]["en"]["data"][1], drawn["figures"]["en"]["data"][2]
    assert means["y"] == [one["mean"] for one in levels.values()]
    assert (diamond["x"], diamond["y"]) == ([2.0], [3.5])
    assert [mark["text"]["en"] for mark in drawn["legend"]] == ["with ACT", "without ACT"]
    assert len(drawn["table"]["rows"]) == len(levels)


def test_pondering_grows_with_the_number_of_bits() -> None:
    by = about.facts()["parity"]["figure"]["ponder_by_difficulty"]
    means = [by[str(bits)]["mean"] for bits in range(1, MAX_BITS + 1)]
    assert means == sorted(means), "the lecture says so"


def test_a_network_that_was_not_measured_has_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "facts", lambda: {"parity": {"parameters": 5, "training_seconds": 60, "finished": True}})
    assert about.difficulty("parity") is None
    assert about.difficulty("addition") is None
    assert next(pair.value for pair in about.pairs()) == "5"


# ---- the card ----------------------------------------------------------------------------------------------------------------------


def test_the_card_says_both_figures_with_those_without_beside() -> None:
    known = about.facts()
    (pair,) = (pair for pair in about.pairs() if "right" in pair.label["en"])
    assert isinstance(pair.value, dict) and isinstance(pair.note, dict)
    for task in about.TASKS:
        assert f"{known[task]['figure']['value']:.3f}" in pair.value["en"]
        assert f"{known[task + about.WITHOUT]['figure']['value']:.3f}" in pair.note["zh"]


def test_every_entry_of_the_model_card_is_filled_in() -> None:
    prose = about.prose()
    assert set(prose) == {"en", "zh"}
    for text in prose.values():
        assert "{" not in text
        assert "not yet measured" not in text and "尚未测量" not in text


def test_the_curves_show_every_network_that_kept_a_log() -> None:
    drawn: Any = about.curves()
    assert {row[0]["en"] for row in drawn["table"]["rows"]} == {texts.VARIANTS[variant]["en"] for variant in about.facts()}
    assert drawn["sentence"]["en"].startswith("Wrong at the end: parity")


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def test_the_family_map_shows_how_long_each_input_is_thought_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "first", lambda: Stored(EXAMPLES[0], explanation(), 1.0, "cpu"))
    picture = views.thumbnail()
    assert picture is not None
    assert np.array_equal(np.isfinite(picture.weights).sum(0), explanation().steps), "a column for each input, a cell for each update"
    monkeypatch.setattr(views, "first", lambda: None)
    assert views.thumbnail() is None


def test_steps_open_what_they_speak_of() -> None:
    requests = {step.title["en"]: permalink.decode(Request, step.query)[0] if step.query else EXAMPLES[0] for step in LAB.steps}
    assert requests["Force one update"].forced == 1
    assert requests["What thinking costs"].epsilon == 0.8
    assert requests["More bits, more updates"].task == "parity"
    place = int(next(step.view["pos"] for step in LAB.steps if "pos" in step.view))
    kept = views.first()
    assert kept is not None
    assert place in kept.seen.wanted
    assert int(kept.seen.steps[place]) > 2, "the stack has something to show at its second update"


def test_what_the_steps_say_is_true_of_the_stored_run() -> None:
    kept = views.first()
    assert kept is not None
    updates = kept.seen.steps
    assert len(set(updates.tolist())) > 2 and int(updates[-1]) == int(updates.min()), "the last input is the shortest"
    assert kept.seen.right and kept.seen.stopped[0] != kept.seen.answer, "after one update the answer is wrong"


def test_what_is_changed_is_named_after_the_network_as_trained() -> None:
    changed = PROGRAM.changes(Request(forced=3, epsilon=0.25, limit=1, bias=-1.5, told=False))
    assert changed is not None
    assert changed["en"] == (
        "exactly 3 updates for every input and at most 1 update and ε = 0.25 and −1.5 on the halting unit and no mark on the first update"
    )
    assert PROGRAM.changes(Request("parity", "101")) is None
    assert PROGRAM.plain(Request("parity", "101", forced=3, told=False)) == Request("parity", "101")


def test_a_link_is_spelled_as_before() -> None:
    assert [query(example) for example in EXAMPLES] == list(LAB.examples)
    assert PROGRAM.named(Request("parity", "1011", forced=2))["query"] == "v=1&task=parity&text=1011&forced=2"
    assert PROGRAM.named(Request("parity", "1011", forced=2))["plain"] == "v=1&task=parity&text=1011"
