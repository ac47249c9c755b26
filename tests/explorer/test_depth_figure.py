"""Hard things take longer, as a figure: means in their band, the run in view as a diamond, the answers of other networks below."""

from __future__ import annotations

import json
from typing import Any

import pytest

from explorer.figures.depth import Level, Rival, difficulty

TEXT = {"en": "bits", "zh": "比特"}
COST = {"en": "ponder", "zh": "思考"}
YOURS = {"en": "yours", "zh": "您的"}
RIGHT = {"en": "right", "zh": "答对"}
NUMBERS = [Level(1.0, 2.0, 0.5, 40, 1.0), Level(2.0, 3.0, 1.0, 50, 0.9), Level(4.0, 5.0, 2.0, 60, 0.8)]
NAMES = [Level("one", 2.0, 0.5, 40), Level("two", 3.0, 1.0, 50)]


def drawn(levels: list[Level], **more: Any) -> dict[str, Any]:
    return difficulty(levels, axes=(TEXT, COST), **more)["en"]


def test_the_band_is_one_deviation_up_and_down() -> None:
    band, means = drawn(NUMBERS)["data"]
    assert band["x"] == [1.0, 2.0, 4.0, 4.0, 2.0, 1.0]
    assert band["y"] == [1.5, 2.0, 3.0, 7.0, 4.0, 2.5]
    assert (means["x"], means["y"]) == ([1.0, 2.0, 4.0], [2.0, 3.0, 5.0])
    assert means["customdata"][1] == ["2", 1.0, 50]


def test_the_run_in_view_is_a_diamond_where_it_belongs() -> None:
    figure = drawn(NUMBERS, mine=(3, 9.5), yours=YOURS)
    diamond = figure["data"][-1]
    assert (diamond["x"], diamond["y"], diamond["marker"]["symbol"]) == ([3.0], [9.5], "diamond")
    assert "yours" in diamond["text"][0]
    low, high = figure["layout"]["yaxis"]["range"]
    assert low < 1.5 and high > 9.5, "what lies outside the band is still inside the figure"


def test_a_run_harder_than_any_level_still_has_its_place() -> None:
    low, high = drawn(NUMBERS, mine=(9, 2.0))["layout"]["xaxis"]["range"]
    assert low < 1 and high > 9


def test_levels_may_be_names() -> None:
    figure = drawn(NAMES, mine=("two", 2.5))
    assert figure["layout"]["xaxis"]["ticktext"] == ["one", "two"]
    assert figure["data"][-1]["x"] == [1.0]
    assert len(drawn(NAMES, mine=("nobody", 2.5))["data"]) == 2, "a name that is no level has no place"


def test_below_stands_who_answers_rightly_ours_on_top() -> None:
    rival = Rival({"en": "other", "zh": "另一个"}, [1.0, None, 0.5], "var(--cat-2)")
    figure = drawn(NUMBERS, answered=RIGHT, rivals=[rival])
    theirs, ours = figure["data"][-2:]
    assert (theirs["y"], ours["y"]) == ([1.0, None, 0.5], [1.0, 0.9, 0.8])
    assert theirs["yaxis"] == ours["yaxis"] == "y2"
    assert theirs["line"]["width"] > ours["line"]["width"], "equal lines must both show"
    low, high = figure["layout"]["yaxis2"]["range"]
    assert low < 0 and high > 1
    assert figure["layout"]["yaxis"]["domain"][0] > figure["layout"]["yaxis2"]["domain"][1]


def test_without_accuracies_there_is_one_panel() -> None:
    assert "yaxis2" not in drawn(NAMES, answered=RIGHT)["layout"]
    assert "yaxis2" not in drawn(NUMBERS)["layout"]


def test_each_language_has_its_axes_and_everything_is_plain_json() -> None:
    both = difficulty(NUMBERS, axes=(TEXT, COST), mine=(1, 2.0), yours=YOURS, answered=RIGHT)
    assert both["zh"]["layout"]["xaxis"]["title"]["text"] == "比特"
    assert both["en"]["layout"]["yaxis2"]["title"]["text"] == "right"
    assert json.loads(json.dumps(both)) == both


def test_what_is_no_measurement_is_refused() -> None:
    with pytest.raises(ValueError, match="0 levels"):
        drawn([])
    with pytest.raises(ValueError, match="deviation"):
        drawn([Level(1.0, 2.0, -0.1, 3)])
    with pytest.raises(ValueError, match="accuracies"):
        drawn(NUMBERS, rivals=[Rival(TEXT, [0.5], "var(--cat-2)")])
