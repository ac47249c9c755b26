"""What a change of the halting unit does, in rows and words, and what stands as the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from explorer.labs import adaptive_depth
from explorer.labs.act_rnn.views import WORDS
from models.act_rnn.records import Request
from models.thinking import Measured

CHANGES = {"en": "exactly 1 update for every input", "zh": "每个输入恰好 1 次更新"}


@dataclass(frozen=True)
class Run:
    answer: str
    expected: str = "734"
    ponder: float = 4.25
    probability: Any = None

    @property
    def right(self) -> bool:
        return self.answer == self.expected


def difference(before: str, after: str, accuracy: tuple[float, float] = (1.0, 0.25)) -> Any:
    measured = tuple(Measured(share, 4.5, 12.0, 200) for share in accuracy)
    return adaptive_depth.difference((Run(before), Run(after, ponder=2.0)), measured, Request(forced=1), WORDS, CHANGES)  # type: ignore[arg-type]


def test_the_number_is_the_accuracy_on_held_out_inputs() -> None:
    number = difference("734", "1258").number
    assert (number.before, number.after, number.scale, number.suffix) == (1.0, 0.25, 100, " %")


def test_the_sentence_says_what_was_changed_what_became_of_the_answer_and_of_held_out_ones() -> None:
    said = difference("734", "1258").sentence
    assert said["en"] == (
        "With exactly 1 update for every input, “734” becomes “⟦o:1258⟧”; on 200 held-out inputs 25.0 % of answers are right instead of "
        "100.0 %, and a mean input costs 4.50, as before."
    )
    assert said["zh"].startswith("每个输入恰好 1 次更新：“734”变成“⟦o:1258⟧”；在 200 个留出输入上")
    assert "the answer stays “⟦o:734⟧”" in difference("734", "734").sentence["en"]


@pytest.mark.parametrize(
    ("before", "after", "kind"), [("734", "734", "same"), ("734", "1", "lost"), ("1", "734", "won"), ("1", "2", "other")]
)
def test_an_answer_is_lost_won_the_same_or_another(before: str, after: str, kind: str) -> None:
    row = difference(before, after).rows[0]
    assert (row.kind, row.verdict, row.right) == (kind, adaptive_depth.VERDICTS[kind], (before == "734", after == "734"))


def test_files_hold_how_many_inputs_were_measured_and_the_table_does_not() -> None:
    rows = {row.key: row for row in difference("734", "1").rows}
    assert rows["heldout_inputs"].name is None
    assert (rows["heldout_inputs"].before, rows["heldout_inputs"].after) == (200, 200)
    assert all(row.name for key, row in rows.items() if key != "heldout_inputs")


@pytest.mark.parametrize(("sure", "says"), [(0.983, "0.98"), (0.9991, "> 0.99"), (1.0, "1.00")])
def test_what_is_not_quite_certain_does_not_read_as_certain(sure: float, says: str) -> None:
    drawn: Any = adaptive_depth.answer(Run("734", probability=np.array([sure, 1.0], np.float32)), Request(), WORDS)
    assert [fact["en"] for fact, _ in drawn["facts"]] == ["ponder 4.25", f"least sure part {says}"]
    assert drawn["given"] == "478+256"
