"""Attention on graphs without a browser: its views, its changes, and the places of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.figures.graph_places import place_nodes
from explorer.labs import LABS
from explorer.labs.graph_attention import about, views
from models.graph_attention.explain import explain, measure
from models.graph_attention.records import EXAMPLES, PAIRS_DRAWN, Explanation, Measured, Request

LAB = next(lab for lab in LABS if lab.slug == "graph_attention")

PAPER, GAT, GATV2, TREE, PATH, OWN = EXAMPLES


def run(request: Request) -> Explanation:
    (found,) = explain([request])
    assert isinstance(found, Explanation), found
    return found


def change(request: Request) -> Any:
    plain = views.CONTROLS and replace(request, cut=(), join=0, uniform="none", bias=1.0)
    seen = run(plain), run(request)
    was, now = measure([plain, request])
    assert isinstance(was, Measured) and isinstance(now, Measured)
    return views.difference(seen, (was, now), request, {"en": "a change", "zh": "改动"})


def test_a_cut_edge_flips_the_label() -> None:
    found = change(replace(PAPER, cut=(1359,)))
    answer = next(row for row in found.rows if row.key == "answer")
    assert answer.kind == "lost" and answer.before != answer.after
    assert found.number.before > found.number.after
    assert "instead of" in found.sentence["en"] and "变为" in found.sentence["zh"]


def test_uniform_weights_change_next_to_nothing() -> None:
    found = {row.key: row for row in change(replace(PAPER, uniform="all")).rows}
    assert abs(found["heldout_accuracy"].after - found["heldout_accuracy"].before) < 0.01
    assert found["heldout_flips"].after < 0.02 and found["entropy"].after == pytest.approx(1)


def test_an_own_graph_is_judged_by_entropy() -> None:
    found = change(replace(OWN, uniform="all"))
    assert found.number.after == pytest.approx(1) and len(found.rows) == 1
    assert views.notice(OWN, run(OWN))


def test_keys_stand_in_the_order_of_letters() -> None:
    drawn: Any = views.draw_ranking(run(GATV2), GATV2, "live")
    assert [one[0] for one in drawn["keys"]] == [one[0] for one in drawn["queries"]]
    assert [one[0] for one in drawn["keys"]] == sorted("ABCDEFGHIJKLMNOP")
    weights = np.array(drawn["weights"])
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-3)
    assert [key.partition("=")[2] for key in drawn["keys"]] == [str(at) for at in drawn["labels"]]


def test_a_large_graph_keeps_one_row() -> None:
    line = "\n".join(f"n{i}, n{i + 1}" for i in range(PAIRS_DRAWN + 5))
    seen = run(Request("distance", shape="own", graph=line, node=3))
    assert set(seen.edges[:, 0]) == {2}
    drawn: Any = views.draw_neighbours(seen, Request("distance", node=3), "live")
    assert len(drawn["keys"]) == len(seen.names) == PAIRS_DRAWN + 6


def test_the_bias_peaks_at_the_asked_distance() -> None:
    figure: Any = views.draw_bias(run(TREE), TREE, "live")
    assert "distance 2" in figure["sentence"]["en"]
    assert views.draw_bias(run(replace(TREE, network="blind")), TREE, "live") is None


def test_nodes_stand_on_the_ring_of_their_distance() -> None:
    pairs = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [1, 2]])
    places = place_nodes(pairs, 0, np.zeros(6, np.int64))
    np.testing.assert_allclose(np.hypot(*places.T), [0, 1, 1, 2, 3, 4])
    path = place_nodes(np.array([[i, i + 1] for i in range(6)]), 2, np.zeros(7, np.int64))
    np.testing.assert_allclose(np.hypot(*path.T), 1)
    assert len({tuple(one) for one in path.round(4).tolist()}) == 7


def test_what_can_be_cut_are_neighbours() -> None:
    offered = {item.value for item in views.items(run(PAPER), PAPER)["cut"]}
    cut = replace(PAPER, cut=(1359,))
    assert "1359" in offered and offered == {
        item.value for item in views.items(run(cut), cut)["cut"]
    }
    assert views.items(run(GAT), GAT) == {"cut": ()}


def test_the_page_is_complete() -> None:
    assert len(LAB.steps) == 8 and len(about.pairs()) == 4
    assert all(one.say["zh"] for one in LAB.steps)
    assert "{" not in "".join(one.say["en"] for one in LAB.steps)
