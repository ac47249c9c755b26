"""The page of adaptive computation time without a browser: what its widgets are told to draw, what its card and figures say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.labs.act_rnn import about, texts, views
from explorer.labs.act_rnn.page import LAB, PROGRAM
from explorer.runs import Run
from models.act_rnn.records import MAX_BITS, Explanation, Request, read_bits, read_sum

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
    assert views.answer(explanation(), SUM)["beside"] == [], "a network that is not shipped says nothing beside"
    assert told["beside"] == [{"name": dict(texts.WITHOUT), "answer": dict(texts.ODD), "right": False, "verdict": None}]
    assert views.say("addition", "52") == "52"


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


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def test_what_the_steps_say_is_true_of_the_stored_run() -> None:
    kept = views.first()
    assert kept is not None
    updates = kept.seen.steps
    assert len(set(updates.tolist())) > 2 and int(updates[-1]) == int(updates.min()), "the last input is the shortest"
    assert kept.seen.right and kept.seen.stopped[0] != kept.seen.answer, "after one update the answer is wrong"
    place = int(next(step.view["pos"] for step in LAB.steps if "pos" in step.view))
    assert place in kept.seen.wanted and int(updates[place]) > 2, "the stack has something to show at its second update"
