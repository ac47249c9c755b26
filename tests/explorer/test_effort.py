"""Hard things take longer: levels as they were measured, what the figure says of them, and the run in view among them."""

from __future__ import annotations

from typing import Any

from explorer.figures import depth
from explorer.labs import effort

MEASURED = {
    "1": {"n": 40, "mean": 2.0, "deviation": 0.5, "accuracy": 1.0},
    "10": {"n": 60, "mean": 5.25, "deviation": 2.0, "accuracy": 0.8},
}
AXIS = {"en": "bits", "zh": "比特"}
BIT = {"en": "{n} bit", "zh": "{n} 个比特"}
MANY_BITS = {"en": "{n} bits", "zh": "{n} 个比特"}


def hardness(levels: list[depth.Level], **more: Any) -> Any:
    return effort.drawn(levels, (AXIS, AXIS, BIT, MANY_BITS), **more)


def test_levels_are_read_as_numbers_where_they_are_some() -> None:
    first, last = effort.levels(MEASURED)
    assert (first.value, last.value, last.accuracy) == (1.0, 10.0, 0.8)
    (named,) = effort.levels({"nobody": {"n": 3, "mean": 1.0, "deviation": 0.0}}, {"nobody": 0.5})
    assert (named.value, named.accuracy) == ("nobody", 0.5)


def test_the_figure_says_first_last_and_the_visitors_own() -> None:
    drawn = hardness(effort.levels(MEASURED), mine=(7, 3.456))
    assert drawn["sentence"]["en"] == "1 bit: 2.00 on average; 10 bits: 5.25. Yours, 7 bits: 3.46."
    assert "7 个比特" in drawn["sentence"]["zh"]
    rival = depth.Rival({"en": "without", "zh": "没有"}, [0.9, None], "var(--cat-2)")
    drawn = hardness(effort.levels(MEASURED), rivals=[rival], ours={"en": "with", "zh": "有"})
    assert [mark["text"]["en"] for mark in drawn["legend"]] == ["with", "without"]
    assert drawn["table"]["rows"][1] == ["10", 5.25, 2.0, 0.8, 60, None]
    assert hardness([]) is None, "nothing was measured"


def test_the_title_says_that_hard_things_take_longer_only_where_every_level_does() -> None:
    assert hardness(effort.levels(MEASURED))["title"] == effort.DEPTH
    falls = {**MEASURED, "12": {**MEASURED["10"], "mean": 5.1}}
    drawn = hardness(effort.levels(falls))
    assert drawn["title"] == {"en": "How long it thinks, by bits", "zh": "想多久（按比特）"}
    assert drawn["sentence"]["en"] == "1 bit: 2.00 on average; most with 10 bits: 5.25; 12 bits: 5.10."
