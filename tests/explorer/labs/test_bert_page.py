"""The page of BERT without a browser: what its widgets are told to draw, what its card and figures
say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.components import bertviz, folded
from explorer.components.folded import Question
from explorer.labs.bert import about, change, texts, views
from explorer.page.runs import ResultOrigin
from explorer.page.views import Found
from models.bert.records import Request
from models.explaining.query_key_plane import Head, Vectors
from tests.explorer.bidirectional import SHIP, explanation
from tests.explorer.wishes import program_of

WHAT = {"en": "a change", "zh": "改动"}
PAIR = Request("A captain steers.", other="A sailor sails.", variant="minilm")


def drawn(request: Request = SHIP) -> dict[str, Any]:
    """What the page draws of a run."""
    return program_of("bert").render_run(
        explanation(request), request, ResultOrigin("live", 5.0, "cpu")
    )


def test_both_sides_beside_the_side_left() -> None:
    value = drawn()["arrows"]
    (guess,) = value["guesses"]
    assert (
        guess["pos"] == 3
        and guess["truth"] == "steered"
        and guess["both"]["pieces"][0] == "steered"
    )
    assert guess["side"]["pieces"][0] == "was" and guess["true"] == [
        pytest.approx(0.4),
        pytest.approx(0.02),
    ]
    right = drawn(replace(SHIP, side="right"))["arrows"]
    assert right["side"] == "right" and right["guesses"][0]["true"][1] == pytest.approx(0.03)
    assert drawn(replace(SHIP, hidden=()))["arrows"]["guesses"] == []
    trained = drawn(replace(SHIP, way="draw", seed=3))["arrows"]
    assert (
        trained["fates"][:4] == [0, 1, 2, 3]
        and trained["read"][1:4] == ["[MASK]", "pig", "steered"]
        and trained["seed"] == 3
    )


def test_each_network_has_its_own_pictures() -> None:
    assert {"arrows", "attention"} <= drawn().keys() and not {
        "finder",
        "sink",
        "similarity",
    } & drawn().keys()
    assert {"finder", "sink", "similarity", "attention"} <= drawn(
        PAIR
    ).keys() and "arrows" not in drawn(PAIR)


def test_a_head_is_told_with_what_it_finds() -> None:
    value = drawn(PAIR)["finder"]
    found = [
        (
            f"{one['layer'] + 1}.{one['head'] + 1}",
            round(100 * one["test"]) - round(100 * one["distance_test"]),
        )
        for one in about.facts()["minilm"]["relations"]
    ]
    assert sorted(
        (one["head"], one["points"]) for one in value["rows"] if one["points"] is not None
    ) == sorted(found)
    assert {one["here"] for one in value["rows"] if one["points"] is None} == {0.25}, (
        "what stands at a distance is measured in the run"
    )
    assert value["pick"]["head"] in {head for head, _ in found}
    assert views.pick(explanation(PAIR), PAIR)["head"] == value["pick"]["head"], (
        "the same head is looked at in the attention below"
    )
    assert views.pick(explanation(), SHIP)["row"] == 3, "and the hidden word, where one is"


def test_norm_weighted_attention_sums_to_one() -> None:
    seen = explanation(PAIR)
    norms = np.ones_like(seen.norms)
    norms[..., 0] = 0
    taken = views.multiply_by_norm(seen.weights.astype(np.float32), norms)
    assert np.allclose(taken.sum(-1), 1, atol=1e-5) and not taken[..., 0].any()
    said = views.draw_sink(replace(seen, norms=norms), PAIR, "live")["sentence"]
    assert isinstance(said, dict) and "0.00 is left" in said["en"]


def test_two_sentences_have_a_cosine() -> None:
    alone, two = drawn(replace(PAIR, other=""))["similarity"], drawn(PAIR)["similarity"]
    assert alone["sentence"] == dict(texts.SIMILAR_NONE) and alone["table"]["rows"] == []
    assert "The cosine is 0.80" in two["sentence"]["en"]
    assert sum(row[3] for row in two["table"]["rows"]) == pytest.approx(1.6, abs=0.01), (
        "each sentence's pieces sum to the cosine"
    )


def test_a_change_tells_its_effect() -> None:
    def told(request: Request) -> Any:
        plain = replace(request, side="both", silenced=(), positions=True)
        return change.difference(
            (explanation(plain), explanation(request)), (None, None), request, WHAT
        )

    left = told(replace(SHIP, side="left"))
    assert left.number.before == pytest.approx(
        np.log(0.4), abs=1e-5
    ) and left.number.after == pytest.approx(np.log(0.02), abs=1e-5)
    assert left.rows[1].kind == "other" and "the best guess is “⟦o:was⟧”" in left.sentence["en"]
    nothing = told(replace(SHIP, hidden=(), silenced=(("mlm", 0, 0),)))
    assert (nothing.number.before, nothing.number.after) == (-1, -2) and nothing.unit == texts.ALONE
    silenced = replace(PAIR, silenced=(("minilm", 0, 1),))
    assert told(silenced).unit == texts.ALIKE and "stays at 0.80" in told(silenced).sentence["en"]
    alone = told(replace(silenced, other=""))
    assert (
        alone.unit == texts.VECTOR
        and alone.number.after == 1.0
        and "stays as it is" in alone.sentence["en"]
    )
    assert program_of("bert").describe_changes(replace(SHIP, side="left")) == {
        "en": "the right side blanked",
        "zh": "遮挡右边",
    }


def test_the_answer_says_the_guess() -> None:
    bar = drawn()["ask"]["answer"]
    assert (
        bar["given"].startswith("the captain [MASK] his")
        and bar["said"] == "steered"
        and bar["right"]
    )
    assert drawn(replace(SHIP, side="left"))["ask"]["answer"]["right"] is False
    assert drawn(replace(SHIP, hidden=()))["ask"]["answer"]["said"] == dict(texts.NOTHING)
    assert drawn(PAIR)["ask"]["answer"]["said"]["en"] == "cosine 0.80"
    assert (
        views.notice(SHIP, explanation()) is None
        and views.notice(replace(SHIP, text="A Dog"), explanation()) == texts.FOLDED
    )


def test_queries_and_keys_share_one_plane() -> None:
    views_ = {view.name: view.look for view in program_of("bert").views}
    plane, own = views_["plane"], views_["bertviz"]
    assert plane and own
    asked = Question("", {"kind": "minilm.norm", "head": "2.3"})
    assert plane.wish(Found(SHIP), asked) == Head("mlm", 1, 2)
    assert plane.wish(Found(PAIR), Question("", None)).kind == "minilm"
    seen, look = explanation(), bertviz.BertvizSelection("", view="neuron")
    n = len(seen.pieces)
    made = np.arange(4 * 4 * n * 2, dtype=np.float32).reshape(4, 4, n, 2)
    value = folded.with_drawings_as_text(
        own.draw(
            Found(SHIP, seen, {"mlm": Vectors(SHIP.text, made, made, seen.read, seen.read)}), look
        )
    )
    assert (value["state"], value["view"]) == ("shown", "neuron")
    assert own.function(look) and not own.function(bertviz.BertvizSelection(""))
