"""The panel about residual paths: of whichever networks are shipped, what it draws and says is what they gave, in both languages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.labs import about
from explorer.labs.translation import views
from explorer.labs.translation.deeper import paths as panel
from explorer.widgets.folded import Question
from models.translation.path_records import NETWORKS, PathsRequest, Tower, Towers
from models.translation.records import EXAMPLES

HOSTILE = ("<img src=x>", "{size}", "dogs")
PLAIN = PathsRequest("Two dogs.")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ships networks by their names: model.json alone; position_r2 of the n-th ends with 0.9 − n / 10."""
    monkeypatch.setattr(about, "ASSETS", tmp_path)
    recipe = {"schedule": {"steps": 4000}}

    def ship(names: Sequence[str], measured: bool = True) -> None:
        for n, name in enumerate(names):
            where = tmp_path / "translation" / name
            where.mkdir(parents=True)
            figure = {"value": 30.0 - n, "split": "test_2016_flickr", "position_r2": [0.95, 0.9 - n / 10]} if measured else None
            (where / "model.json").write_text(json.dumps({"recipe": recipe, "figure": figure}))

    return ship


def towers(names: Sequence[str]) -> Towers:
    """What networks of two layers might give."""
    chance = np.random.default_rng(3)

    def one(n: int, name: str) -> Tower:
        maps = chance.dirichlet(np.ones(3), (2, 3)).astype(np.float32)
        near, was = np.array([0.3, 0.2 - n / 10], np.float32), np.array([0.3, 0.2], np.float32)
        losses = ((1, 1.5), (2, 2.0 + n), (3, 3.0 + n))
        return Tower(name, maps, near, "Zwei Hunde.", was, "Zwei.", 30.0 - n, np.array([0.95, 0.9 - n / 10], np.float32), losses)

    return Towers(HOSTILE, (True, True, True), tuple(one(n, name) for n, name in enumerate(names)))


@pytest.mark.parametrize("names", [NETWORKS, NETWORKS[:2], NETWORKS[1:3], (NETWORKS[0], NETWORKS[4]), NETWORKS[3:]])
@pytest.mark.parametrize("asked", [PLAIN, PathsRequest("Two dogs.", "decoder", 1, "cross", 0.5, 10)])
def test_it_speaks_of_what_is_shipped_alone(shipped: Any, names: Sequence[str], asked: PathsRequest) -> None:
    shipped(names)
    seen = towers(names)
    value = panel.value(seen, asked)
    figures = [one["figure"] for part in ("figures", "figures_more") for one in value[part]]  # type: ignore[attr-defined]
    text = json.dumps([value, figures], ensure_ascii=False)
    assert all((panel.NAMES[name]["en"] + " " in text or panel.NAMES[name]["en"] + '"' in text) for name in names)
    assert len(figures) == 3 + ({panel.WITH, panel.LEARNED} <= set(names))
    drawn = figures[0]["figures"]["en"]
    columns = min(len(names), panel.MOST)
    assert len(drawn["data"]) == 2 * columns  # the highest layer first, so that the lowest stands at the foot
    np.testing.assert_allclose(drawn["data"][0]["z"], seen.towers[0].maps[1], atol=1e-5)
    assert drawn["layout"]["yaxis"]["domain"][0] > drawn["layout"][f"yaxis{columns + 1}"]["domain"][1]
    assert [row["cells"][1:] for row in value["table"]["rows"]] == [  # type: ignore[index]
        [f"{30 - n:.1f}", *(["Zwei."] if asked != PLAIN else []), "Zwei Hunde."] for n in range(len(names))
    ]
    changed = "gain 0.5 around the cross-attention of layer 2; positions from 10"
    assert (changed in figures[0]["units"]["en"]) == (asked != PLAIN)
    assert "4,000" in value["notes_after"][0]["en"]  # type: ignore[index]


def test_its_sentences_say_the_numbers(shipped: Any) -> None:
    shipped(NETWORKS)
    value = panel.value(towers(NETWORKS), PLAIN)
    maps, read, near, joined = (one["figure"]["sentence"]["en"] for part in ("figures", "figures_more") for one in value[part])  # type: ignore[attr-defined]
    assert "with paths 0.30 → 0.20; without paths 0.30 → 0.10, as trained 0.30 → 0.20" in maps
    assert "layer 2: with paths 0.90; without paths 0.80; " in read
    assert "nearest with paths, 0.20, and least near with paths, learned positions, −0.20" in near
    assert "1, 2, 3 in a row a piece costs: sinusoids 1.50, 2.00, 3.00; learned positions 1.50, 6.00, 7.00." in joined


def test_a_wish_that_is_none_changes_nothing() -> None:
    run, wish = EXAMPLES[0], {"pof": "decoder.cross", "player": "3", "pgain": "0.25", "pshift": "20"}
    for asked, expected in (
        (wish, PathsRequest(run.sentence, "decoder", 2, "cross", 0.25, 20)),
        ({**wish, "pgain": "1"}, PathsRequest(run.sentence, shift=20)),
        (dict.fromkeys(wish, "<b>"), PathsRequest(run.sentence)),
        ({**wish, "pgain": 0, "pshift": None}, PathsRequest(run.sentence)),
        ("x", PathsRequest(run.sentence)),
    ):
        assert panel.wished(run, Question("", asked)) == expected


def test_a_step_asks_for_it_where_two_networks_can_be_compared(shipped: Any) -> None:
    keys = {False: "What was this head for?", True: "What do residual paths carry?"}

    def asks() -> list[bool]:
        questions = [step.asks["en"] for step in views.steps()]
        assert len(questions) == 8
        return [key for key, question in keys.items() if question in questions]

    shipped(NETWORKS[:1])
    assert panel.there() == () and asks() == [False]
    shipped(NETWORKS[1:2], measured=False)
    assert panel.there() == NETWORKS[:2] and asks() == [False]
    shipped(NETWORKS[2:4])
    assert asks() == [True]
    said = next(step.say for step in views.steps() if step.asks["en"] == keys[True])
    assert "with paths 0.90; without, positions before every layer 0.90" in said["en"] and max(map(len, said.values())) <= 320
