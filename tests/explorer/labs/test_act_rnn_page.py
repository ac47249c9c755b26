"""Adaptive computation time without a browser: its page, and what it shares with the Universal
Transformer (steps, effort, a change)."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from explorer.figures import ponder
from explorer.figures.depth import Level, Rival, draw_difficulty
from explorer.labs import LABS
from explorer.labs.act_rnn import about, texts, views
from explorer.page.runs import ResultOrigin
from explorer.panels import adaptive_computation, computation_by_difficulty
from models.act_rnn.records import Explanation, Request
from models.adaptive_computation.records import MeasuredSample
from tests.explorer.numbers import halted, refused, unpacked
from tests.explorer.wishes import program_of

LAB = next(lab for lab in LABS if lab.slug == "act_rnn")

SUM = Request("addition", "47+5")
BITS, COST, RIGHT = (
    {"en": "bits", "zh": "比特"},
    {"en": "ponder", "zh": "思考"},
    {"en": "right", "zh": "答对"},
)
ODD, EVEN = {"en": "odd", "zh": "奇数"}, {"en": "even", "zh": "偶数"}


def explanation(request: Request = SUM) -> Explanation:
    """A run of five inputs, or of one, that takes 2, 3, 1, 3 and 1 updates."""
    bits = request.task == "parity"
    return Explanation(
        inputs=("101",) if bits else ("7", "5", "4", "0", "="),
        wanted=(0,) if bits else (1, 3, 4),
        answer="even" if bits else "52",
        expected="even" if bits else "52",
        probability=np.array([0.9] if bits else [0.9, 0.8, 1.0], np.float32),
        stopped=("odd", "odd", "even") if bits else ("42", "52", "52"),
        ponder=2.5,
        difficulty=3 if bits else 1,
        without="odd" if bits else "",
        **halted([3] if bits else [2, 3, 1, 3, 1]),
    )


# ---- the page


def test_every_input_has_its_bar_and_digits_say_whose_they_are() -> None:
    drawn: Any = views.draw_ponder(explanation(), SUM, "live")
    assert (
        drawn["positions"] == ["7", "+5", "4", "+0", "="]
        and drawn["steps"] == [2, 3, 1, 3, 1]
        and drawn["wanted"] == [1, 3, 4]
    )
    assert drawn["pick"] in {1, 3}, "locked on arrival is one that thinks long and gives a digit"
    assert [(one["answer"], one["right"]) for one in drawn["stopped"]] == [
        ("42", False),
        ("52", True),
        ("52", True),
    ]
    forced: Any = views.draw_ponder(explanation(), replace(SUM, forced=3), "live")
    assert forced["forced"] == 3 and set(forced["reasons"]) == {"forced"}


def test_even_and_odd_in_both_languages() -> None:
    request = Request("parity", "101")
    drawn: Any = program_of("act_rnn").render_run(
        explanation(request), request, ResultOrigin("live", 5.0, "cpu")
    )
    told = drawn["ask"]["answer"]
    assert told["said"] == EVEN and drawn["ponder"]["stopped"][0]["answer"] == ODD
    assert views.answer(explanation(), SUM)["beside"] == [], (
        "a network that is not shipped says nothing beside"
    )
    assert told["beside"] == [
        {"name": dict(texts.WITHOUT), "answer": dict(texts.ODD), "right": False, "verdict": None}
    ]
    assert views.format_answer("addition", "52") == "52"


@pytest.mark.parametrize("task", about.TASKS)
def test_hard_inputs_are_shown_as_measured(
    task: str,
) -> None:
    drawn: Any = about.draw_difficulty(task, (2, 3.5))
    known = about.facts()
    levels = known[task]["figure"]["ponder_by_difficulty"]
    _, means, diamond, *_ = drawn["figures"]["en"]["data"]
    assert means["y"] == [one["mean"] for one in levels.values()] and (
        diamond["x"],
        diamond["y"],
    ) == ([2.0], [3.5])
    assert [mark["text"]["en"] for mark in drawn["legend"]] == ["with ACT", "without ACT"] and len(
        drawn["table"]["rows"]
    ) == len(levels)
    (pair,) = (pair for pair in about.pairs() if "right" in pair.label["en"])
    assert f"{known[task]['figure']['value']:.3f}" in pair.value["en"]
    assert f"{known[task + about.WITHOUT]['figure']['value']:.3f}" in pair.note["zh"]
    assert task == "addition" or means["y"] == sorted(means["y"]), (
        "pondering grows with the bits: the lecture says so"
    )


def test_a_network_that_was_not_measured_has_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        about,
        "facts",
        lambda: {"parity": {"parameters": 5, "training_seconds": 60, "finished": True}},
    )
    assert about.draw_difficulty("parity") is None is about.draw_difficulty("addition")
    assert next(pair.value for pair in about.pairs()) == "5"


def test_what_the_steps_say_is_true_of_the_stored_run() -> None:
    kept: Any = views.first()
    updates = kept.seen.steps
    assert len(set(updates.tolist())) > 2 and int(updates[-1]) == int(updates.min()), (
        "the last input is the shortest"
    )
    assert kept.seen.is_right and kept.seen.stopped[0] != kept.seen.answer, (
        "after one update the answer is wrong"
    )
    place = int(next(step.view["pos"] for step in LAB.steps if "pos" in step.view))
    assert place in kept.seen.wanted and int(updates[place]) > 2, (
        "the stack has something to show at its second update"
    )


# ---- steps


def run(**more: Any) -> dict[str, Any]:
    """Its steps as the browser gets them. more: what is told of them, or parts of the run that are
    replaced."""
    own = {name: more.pop(name) for name in ("forced", "marks", "pick") if name in more}
    told: dict[str, Any] = {
        "positions": "7540=",
        "axis": COST,
        "say": lambda answer: answer,
        "query": "v=1",
        "state": "live",
        **own,
    }
    return json.loads(json.dumps(ponder.draw_ponder(replace(explanation(), **more), **told)))


def test_steps_travel_unrounded() -> None:
    made, seen = run(), explanation()
    np.testing.assert_array_equal(unpacked(made["halting"]), seen.halting)
    np.testing.assert_array_equal(unpacked(made["remainder"]), seen.remainder)
    assert (
        made["steps"] == [2, 3, 1, 3, 1]
        and made["reasons"] == ["enough"] * 5
        and run(forced=3)["reasons"] == ["forced"] * 5
    )
    # its sum reaches the end just at the limit
    halting = np.array([[0.5], [0.25], [0.24]], np.float32)
    for less, limit, why in ((0, 3, "enough"), (0.001, 3, "limit"), (0.001, 4, "enough")):
        assert ponder.find_reasons(np.array([3]), halting - np.float32(less), 0.99, limit) == [why]


def test_steps_are_compared_with_the_answer() -> None:
    other = run(stopped=(EVEN, ODD, ODD), answer=ODD, expected=ODD)
    for made in (run(), other):
        assert [each["right"] for each in made["stopped"]] == [False, True, True] and made["right"]
    assert other["stopped"][0]["answer"] == EVEN and not run(answer="13")["right"]
    assert run()["signs"] and not run(wanted=(1,))["signs"], (
        "signs can be told apart where each has a position"
    )


@pytest.mark.parametrize(
    ("more", "pick"),
    [
        *(
            ({}, 1),
            ({"remainder": np.array([0.7, 0.4, 1, 0.5, 1], np.float32)}, 3),
            ({"pick": 0}, 0),
        ),
        # a single step tells little
        *(({"wanted": ()}, 1), ({"wanted": (0, 4)}, 0), ({"wanted": (4,)}, 1)),
    ],
)
def test_the_longest_answer_is_locked_first(more: dict[str, Any], pick: int) -> None:
    assert run(**more)["pick"] == pick


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"steps": np.array([1, 3])}, "steps of shape"),
        ({"halting": np.zeros((2, 3), np.float32)}, "halting of shape"),
        ({"stopped": ["1", "12"]}, "of shape"),
        ({"steps": np.array([0, 3, 1, 3, 1])}, "3 steps are told"),
        ({"wanted": (5,)}, r"positions \[5\] of 5"),
        ({"pick": 7}, r"positions \[7\] of 5"),
        ({"halting": np.full((3, 5), np.nan, np.float32)}, "not finite"),
    ],
)
def test_what_does_not_fit_together_is_refused(wrong: dict[str, Any], says: str) -> None:
    refused(says, run, **wrong)


# ---- hard things take longer

NUMBERS = [
    Level(1.0, 2.0, 0.5, 40, 1.0),
    Level(2.0, 3.0, 1.0, 50, 0.9),
    Level(4.0, 5.0, 2.0, 60, 0.8),
]


def drawn(levels: list[Level], language: str = "en", **more: Any) -> dict[str, Any]:
    return json.loads(json.dumps(draw_difficulty(levels, axes=(BITS, COST), **more)))[language]


def test_the_band_is_one_standard_deviation() -> None:
    figure = drawn(NUMBERS, mine=(3, 9.5), yours=COST)
    band, means, diamond = figure["data"]
    assert band["x"] == [1.0, 2.0, 4.0, 4.0, 2.0, 1.0] and band["y"] == [
        1.5,
        2.0,
        3.0,
        7.0,
        4.0,
        2.5,
    ]
    assert (means["x"], means["y"], means["customdata"][1]) == (
        [1.0, 2.0, 4.0],
        [2.0, 3.0, 5.0],
        ["2", 1.0, 50],
    )
    assert (diamond["x"], diamond["y"], diamond["marker"]["symbol"]) == (
        [3.0],
        [9.5],
        "diamond",
    ) and "ponder" in diamond["text"][0]
    low, high = figure["layout"]["yaxis"]["range"]
    assert low < 1.5 and high > 9.5, "what lies outside the band is still inside the figure"
    assert len(drawn(NUMBERS)["data"]) == 2


def test_what_is_no_measurement_is_refused() -> None:
    refused("0 levels", drawn, [])
    refused("deviation", drawn, [Level(1.0, 2.0, -0.1, 3)])
    refused("accuracies", drawn, NUMBERS, rivals=[Rival(BITS, [0.5], "var(--cat-2)")])


MEASURED = {
    "1": {"n": 40, "mean": 2.0, "deviation": 0.5, "accuracy": 1.0},
    "10": {"n": 60, "mean": 5.25, "deviation": 2.0, "accuracy": 0.8},
}


def hardness(measured: Any = MEASURED, **more: Any) -> Any:
    counts = {"en": "{n} bit", "zh": "{n} 个比特"}, {"en": "{n} bits", "zh": "{n} 个比特"}
    return computation_by_difficulty.draw_figure(
        computation_by_difficulty.read_levels(measured), (BITS, BITS, *counts), **more
    )


def test_the_figure_says_first_last_and_the_visitors_own() -> None:
    shown = hardness(mine=(7, 3.456))
    assert (
        shown["sentence"]["en"] == "1 bit: 2.00 on average; 10 bits: 5.25. Yours, 7 bits: 3.46."
        and "7 个比特" in shown["sentence"]["zh"]
    )
    rival = Rival({"en": "without", "zh": "没有"}, [0.9, None], "var(--cat-2)")
    shown = hardness(rivals=[rival], ours={"en": "with", "zh": "有"})
    assert [mark["text"]["en"] for mark in shown["legend"]] == ["with", "without"]
    assert shown["table"]["rows"][1] == ["10", 5.25, 2.0, 0.8, 60, None]
    assert hardness({}) is None, "nothing was measured"
    (named,) = computation_by_difficulty.read_levels(
        {"nobody": {"n": 3, "mean": 1.0, "deviation": 0.0}}, {"nobody": 0.5}
    )
    assert (named.value, named.accuracy) == (
        "nobody",
        0.5,
    ) and computation_by_difficulty.read_levels(MEASURED)[1].value == 10.0


def test_the_title_claims_what_levels_show() -> None:
    assert hardness()["title"] == computation_by_difficulty.DEPTH
    shown = hardness({**MEASURED, "12": {**MEASURED["10"], "mean": 5.1}})
    assert shown["title"] == {"en": "How long it thinks, by bits", "zh": "想多久（按比特）"}
    assert (
        shown["sentence"]["en"] == "1 bit: 2.00 on average; most with 10 bits: 5.25; 12 bits: 5.10."
    )


# ---- a change of the halting unit


def thought(answer: str, ponder: float = 4.25, probability: Any = None) -> Any:
    return SimpleNamespace(
        answer=answer,
        expected="734",
        is_right=answer == "734",
        ponder=ponder,
        probability=probability,
    )


def difference(before: str, after: str) -> Any:
    measured = tuple(MeasuredSample(share, 4.5, 12.0, 200) for share in (1.0, 0.25))
    changes = {"en": "exactly 1 update for every input", "zh": "每个输入恰好 1 次更新"}
    return adaptive_computation.describe_difference(
        (thought(before), thought(after, 2.0)), measured, Request(forced=1), views.WORDS, changes
    )


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [("734", "734", "same"), ("734", "1", "lost"), ("1", "734", "won"), ("1", "2", "other")],
)
def test_an_answer_is_lost_won_the_same_or_another(before: str, after: str, kind: str) -> None:
    found = difference(before, after)
    row, rows, number = found.rows[0], {row.key: row for row in found.rows}, found.number
    assert (row.kind, row.verdict, row.right) == (
        kind,
        adaptive_computation.VERDICTS[kind],
        (before == "734", after == "734"),
    )
    assert [key for key, row in rows.items() if not row.name] == ["heldout_inputs"], (
        "in files, and not in the table"
    )
    assert (rows["heldout_inputs"].before, rows["heldout_inputs"].after) == (200, 200)
    assert (number.before, number.after, number.scale, number.suffix) == (
        1.0,
        0.25,
        100,
        " %",
    ), "the accuracy on held-out inputs"


def test_the_sentence_tells_the_change() -> None:
    said = difference("734", "1258").sentence
    assert (
        said["en"]
        == "With exactly 1 update for every input, “734” becomes “⟦o:1258⟧”; on 200 held-out inputs"
        " 25.0 % of answers are right instead of 100.0 %, and on average each input costs 4.50,"
        " as before."
    )
    assert said["zh"].startswith("每个输入恰好 1 次更新：“734”变成“⟦o:1258⟧”；在 200 个留出输入上")
    assert "the answer stays “⟦o:734⟧”" in difference("734", "734").sentence["en"]


@pytest.mark.parametrize(("sure", "says"), [(0.983, "0.98"), (0.9991, "> 0.99"), (1.0, "1.00")])
def test_what_is_not_quite_certain_does_not_read_as_certain(sure: float, says: str) -> None:
    told: Any = adaptive_computation.describe_answer(
        thought("734", probability=np.array([sure, 1.0], np.float32)), Request(), views.WORDS
    )
    assert [fact["en"] for fact, _ in told["facts"]] == [
        "ponder cost 4.25",
        f"least sure part {says}",
    ] and told["given"] == "478+256"
