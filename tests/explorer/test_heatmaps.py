"""Maps side by side: their scales, their gaps, and names that fit."""

import numpy as np
import pytest

from explorer.figures.heatmaps import Map, maps


def test_maps_keep_to_the_scale_of_their_kind_and_gaps_are_no_numbers() -> None:
    signed, weights = maps([Map("a", np.array([[0.5, np.nan]]), -2, 2, "signed"), Map("b", np.ones((2, 2)))])["data"]
    assert (signed["zmin"], signed["zmax"], signed["z"]) == (-2, 2, [[0.5, None]])
    assert (weights["zmin"], weights["zmax"]) == (0, 1)
    assert all(colour.startswith("var(--signed-") for _, colour in signed["colorscale"])


def test_maps_of_another_size_than_their_names_are_refused() -> None:
    with pytest.raises(ValueError, match="for 1 rows and 2 columns"):
        maps([Map("a", np.zeros((2, 2)))], ["q"], ["k", "l"])


def test_one_number_for_each_row_becomes_bars_beside_the_map() -> None:
    made = maps([Map("a", np.eye(2)), Map("b", np.array([0.25, 1.0]))], ["q", "r"], ["k", "l"])
    assert [one["type"] for one in made["data"]] == ["heatmap", "bar"] and made["data"][1]["text"] == ["0.25", "1.00"]
    assert made["layout"]["yaxis"]["ticktext"] == ["q", "r"] and not made["layout"]["yaxis2"]["showticklabels"]


def test_maps_of_a_hall_stand_elsewhere_and_on_the_page_where_they_stood() -> None:
    given, places = [Map("a", np.eye(2)), Map("b", np.eye(2))], [((0, 0.3), (0, 1)), ((0.4, 1), (0, 1))]
    page, hall = maps(given, square=True)["layout"], maps(given, square=True, hall=places)["layout"]
    assert hall.pop("meta") == {"hall": places} and hall == page
