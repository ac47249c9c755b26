"""The panels on the search and on the visitor's own German without a browser: which request a wish becomes, and what is drawn of it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from explorer.engine import Engine
from explorer.labs.translation import page
from explorer.labs.translation.deeper import beam, forced
from explorer.widgets.folded import Question
from models.translation.forced_records import Reading
from models.translation.records import EXAMPLES, Request
from models.translation.search_records import Search, Tree
from tests.explorer.wishes import opened

RUN = "v=1&sentence=A+dog+runs.&beam=3&alpha=1.1&silenced=cross.0.1&hidden=1"


@pytest.mark.parametrize(
    ("run", "wish", "expected"),
    [
        ("", None, Search(EXAMPLES[0].sentence, 4)),
        (RUN, None, Search("A dog runs.", 3)),
        (RUN, {"beam": 7, "endless": True}, Search("A dog runs.", 7, True)),
        (RUN, {"beam": 99, "endless": "yes"}, Search("A dog runs.", 3)),
        (RUN, {"beam": True}, Search("A dog runs.", 3)),
        (RUN, [1, 2], Search("A dog runs.", 3)),
    ],
)
def test_a_wish_becomes_the_search_of_the_run_without_its_interventions(run: str, wish: object, expected: Search) -> None:
    assert beam.wished(page.program().read(run)[0], Question(run, wish)) == expected


@pytest.mark.parametrize(
    ("run", "wish", "expected"),
    [
        ("", None, Reading(EXAMPLES[0].sentence, forced.FIRST)),
        ("", {"own": True}, Reading(EXAMPLES[0].sentence)),
        (RUN, None, Reading("A dog runs.")),
        (RUN, {"german": "Ein Hund."}, Reading("A dog runs.", "Ein Hund.")),
        (RUN, {"german": ["Ein"]}, Reading("A dog runs.")),
    ],
)
def test_a_wish_becomes_the_german_that_was_typed(run: str, wish: object, expected: Reading) -> None:
    assert forced.wished(page.program().read(run)[0], Question(run, wish)) == expected


def test_an_endless_search_names_its_loop_and_writes_no_missing_number() -> None:
    pieces = ("<s>", "Hund", *("." for _ in range(6)), "</s>")
    n = len(pieces)
    tree = Tree(
        pieces=pieces,
        space=(True,) * n,
        fates=("kept",) * (n - 1) + ("finished",),
        texts=("",) * (n - 1) + ("Hund ......",),
        parent=np.arange(-1, n - 1, dtype=np.int32),
        step=np.arange(n, dtype=np.int32),
        rank=np.ones(n, np.int32),
        log_probability=np.full(n, -1.0, np.float32),
        total=-np.arange(n, dtype=np.float64),
        stop=np.array([-1.0] * (n - 1) + [math.nan], np.float32),
        beam=1,
        limit=n - 1,
        endless=True,
        greedy=(1,),
        greedy_text="",
        greedy_total=0.0,
        greedy_length=0,
    )
    drawn = beam.value(tree, Request("A dog.", 2, 0.9))
    assert drawn["loop"] == [1, 1]
    assert drawn["stop"][-1] is None  # type: ignore[index]
    assert drawn["texts"] == {str(n - 1): "Hund ......"}
    assert (drawn["alpha"], drawn["plainBeam"]) == (0.9, 2)
    json.dumps(drawn, allow_nan=False)


def test_all_panels_answer_through_the_engine(engine: Engine) -> None:
    lab = page.program()
    panels = [view.name for view in lab.views if view.look is not None and view.look.event == "ask"]
    assert len(panels) == 8

    def answers(run: str) -> list[dict[str, object]]:
        return [opened(lab, panel, {"run": run}, engine) for panel in panels]

    for shown in answers("v=1&sentence=A+dog."):
        assert shown["state"] == "shown"
        json.dumps(shown, allow_nan=False)
    blank = [each["state"] for each in answers("v=1&sentence=+")]
    assert blank == [*["refused"] * 5, "shown", "shown", "refused"], (
        "what is said of training, or drawn of a list of sentences, is always the same"
    )
    for refused in answers("v=1&sentence=A+dog.&beam=four"):
        assert "four" in refused["error"]["en"]  # type: ignore[index]
