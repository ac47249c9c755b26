"""What each layer would say, on a bench page: its sentence, the layers from which a guess is right,
other sets of guesses, its table."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Page

from explorer.values.packing import pack_array
from tests.browser.staged import Picture, alone, opening

NAMES = {key: {"en": key, "zh": key} for key in ("lens", "exits")}
BITS = {
    "lens": np.array([[3.0, 2.5, 8.0], [1.0, 0.5, 9.0]], np.float32),
    "exits": np.array([[4.0, 4.5, 5.0]], np.float32),
}
BEST = {"lens": [["a", "x", "x"], ["a", "b", "x"]], "exits": [["a", "x", "c"]]}
RIGHT = {"lens": [[True, False, False], [True, True, False]], "exits": [[True, False, True]]}
VALUE = {
    "state": "stored",
    "query": "v=1",
    "symbols": ["a", "b", "c"],
    "given": 1,
    "pieces": False,
    "reads": False,
    "sets": [
        {
            "key": key,
            "name": NAMES[key],
            "best": BEST[key],
            "right": RIGHT[key],
            "bits": pack_array(BITS[key], unit=False),
        }
        for key in NAMES
    ],
    "pick": {"pos": 1},
}
PAGES = {"trial": alone("tower", VALUE)}
opened = opening("tower")


def test_a_position_names_its_deciding_layer(picture: Picture) -> None:
    picture.says(
        "After “a” (0) layer 1 would say “x” and layer 2 “b”; the true “b” costs 2.50 bits in layer"
        " 1 and 0.50 in layer 2."
    )
    picture.says("From layer 2 on the guess is right.")
    picture.press("ArrowRight")
    picture.says(
        "the true “c” costs 8.00 bits in layer 1 and 9.00 in layer 2.",
        "The last layer's guess is wrong.",
    )
    picture.press("ArrowLeft", "ArrowLeft")
    picture.says("After the start", "From layer 1 on the guess is right.")
    assert picture.rows()[1] == {
        "position": "1",
        "the true symbol": "b",
        "layer 1, guess": "x",
        "layer 1, bits": "2.5",
        "layer 2, guess": "b",
        "layer 2, bits": "0.5",
    }


def test_another_set_of_guesses_may_have_other_layers(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_tower=exits&_pos=2")
    picture.says("After “b” (1) the layer would say “c”; the true “c” costs 5.00 bits.")
    np.testing.assert_array_equal(picture.arrays()["lens_bits"], BITS["lens"])
