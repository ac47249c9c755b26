"""The page of recurrent translation without a browser: what its widgets are told to draw, what its
card and figures say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.components.change_panel import Difference, Maps
from explorer.components.folded import Question
from explorer.labs.rnn_attention import panels, views
from explorer.page.runs import ResultOrigin
from explorer.page.views import Found
from explorer.panels import translation
from models.explaining.errors import InputError
from models.rnn_attention.records import (
    EXAMPLES,
    LONGEST,
    PRODUCTS,
    VARIANTS,
    Explanation,
    Gradients,
    Request,
    Scales,
)
from tests.explorer.wishes import program_of

LIVE = ResultOrigin("live", 5.0, "cpu")
SOURCE, TARGET = ("Two", "dogs", "run", "."), ("Zwei", "Hunde", "rennen", ".", "</s>")


def explanation(request: Request = EXAMPLES[0], **more: Any) -> Explanation:
    """A run of four words and five pieces, each looking at its own word."""
    weights = np.full((5, 4), 0.1, np.float32)
    weights[np.arange(5), [0, 1, 2, 3, 3]] = 0.7
    none = request.variant == "none"
    maps = weights[:0] if none else weights
    log_p = np.log(np.array([0.9, 0.8, 0.5, 0.9, 0.9], np.float32))
    remains = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.3, 0.1, 0.1]], np.float32)
    found = Explanation(
        source=SOURCE,
        source_space=(True, True, True, False),
        target=TARGET,
        target_space=(True, True, True, False, False),
        text="Zwei Hunde rennen.",
        weights=maps,
        scores=np.log(maps),
        shares=maps,
        remains=remains,
        log_probabilities=log_p,
        log_probability=float(log_p.sum()),
        score=-0.5,
        hypotheses=(("Zwei Hunde rennen.", -0.5, -0.4, "token"),),
        unknown=0,
        surprising=False,
    )
    return replace(found, **more)


def test_attention_is_german_by_english() -> None:
    drawn = program_of("rnn_attention").render_run(explanation(), EXAMPLES[0], LIVE)
    (kind,) = drawn["attention"]["kinds"]
    assert (
        kind["queries"] == list(TARGET)
        and kind["keys"] == list(SOURCE)
        and drawn["attention"]["silences"] is False
    )
    assert drawn["ask"]["answer"]["pieces"] == list(TARGET) and drawn["ask"]["pick"][
        "row"
    ] in range(5)
    alone = program_of("rnn_attention").render_run(explanation(EXAMPLES[4]), EXAMPLES[4], LIVE)
    assert "attention" not in alone and alone["ask"]["pick"] is None


def test_weight_is_offered_where_it_exists() -> None:
    offered = views.items(explanation(), EXAMPLES[0])
    assert [one.label for one in offered["words"]] == list(SOURCE) and [
        one.label for one in offered["rows"]
    ] == list(TARGET)
    assert [one.inner for one in offered["words"]] == [False, False, False, True]
    assert offered["rows"][-1].label == "</s>" and not offered["rows"][-1].inner, (
        "the end of the text continues no word"
    )
    moving = [one for one in views.CONTROLS if one.field in {"words", "rows"}]
    assert all(one.when == {"variant": VARIANTS[:-1]} and one.kept for one in moving)


def test_division_is_asked_of_products_alone() -> None:
    (control,) = (one for one in views.CONTROLS if one.field == "divided")
    drawn = control.describe_control(Request)
    assert (drawn["values"], drawn["default"], control.when) == (
        ["1", "0"],
        "1",
        {"variant": PRODUCTS},
    )
    assert (
        program_of("rnn_attention")
        .read_request("v=1&sentence=A+dog.&variant=general&divided=0")[0]
        .network
        == "general_unscaled"
    )


def test_every_change_is_named() -> None:
    said = program_of("rnn_attention").describe_changes(
        replace(EXAMPLES[0], words=(1,), rows=(2,), context="zero", donor="dogs")
    )
    assert said is not None and all(
        part in said["en"] for part in ("all weight on word 1", "no context", "Two dogs")
    )
    assert program_of("rnn_attention").describe_changes(replace(EXAMPLES[0], rows=(2,))) is None


def test_a_change_shows_both_maps_or_pieces() -> None:
    def told(before: Explanation, after: Explanation, request: Request) -> Any:
        return views.difference(
            (before, after), (None, after), request, {"en": "a change", "zh": "改动"}
        )

    changed, cold = replace(EXAMPLES[0], words=(0,)), replace(EXAMPLES[4], donor="dogs")
    other = explanation(
        text="Zwei.", log_probability=-9.0, log_probabilities=np.full(5, -1.8, np.float32)
    )
    maps, same, none = (
        told(explanation(), other, changed),
        told(explanation(), explanation(), changed),
        told(*[explanation(cold)] * 2, cold),
    )
    assert (
        isinstance(maps, Maps)
        and maps.texts == ("Zwei Hunde rennen.", "Zwei.")
        and maps.number.after == -9.0
    )
    assert maps.sentence["en"].startswith(
        "With a change, it writes “⟦o:Zwei.⟧”"
    ) and "-9.00" in maps.sentence["en"].replace("−", "-")
    assert (
        "still writes" in same.sentence["en"]
        and "of the first translation stays" in same.sentence["en"]
    )
    assert isinstance(none, Difference) and [row.key for row in none.rows] == [
        "Zwei·0",
        "Hunde·1",
        "rennen·2",
        ".·3",
        "</s>·4",
    ]


def test_only_changes_ask_for_a_second_pass() -> None:
    request = replace(EXAMPLES[0], context="zero")
    wish: Any = views.ask_to_translate_again(request, explanation())
    assert (
        views.ask_to_translate_again(EXAMPLES[0], explanation()) is None and wish.target == TARGET
    )
    plain = panels.ask_to_reread(Found(request, explanation()), Question(""))
    assert plain.request == EXAMPLES[0] and plain.target == TARGET, "about the German of the run"


def test_a_warning_names_one_reason() -> None:
    odd = explanation(unknown=2, surprising=True, source=("dog",) * (LONGEST + 1))
    rare, long, surprising = (
        views.describe_warning(EXAMPLES[0], one)
        for one in (odd, replace(odd, unknown=0), explanation(surprising=True))
    )
    assert "2" in rare["en"] and str(LONGEST) in long["en"] and str(LONGEST) in long["zh"]
    assert (
        surprising == translation.SURPRISING
        and views.describe_warning(EXAMPLES[0], explanation()) is None
    )


def test_a_model_without_weights_says_that_it_has_no_scores() -> None:
    with pytest.raises(InputError, match="no scores"):
        panels.draw_numbers(explanation(EXAMPLES[4]))


def test_the_head_that_overlaps_most() -> None:
    seen = explanation()
    cross = np.full((2, 3, 5, 4), 0.25, np.float32)
    cross[1, 2] = seen.weights
    place, overlap = panels.measure_overlap(seen.weights, cross)
    assert place == (1, 2) and overlap == pytest.approx(np.ones(5))
    assert np.minimum(cross[0, 0], seen.weights).sum(1) == pytest.approx(np.full(5, 0.55))
    drawn: Any = panels.draw_beside_transformer(seen, cross, "dot")
    assert "2·3" in drawn["sentence"]["en"] and "share 1.00" in drawn["sentence"]["en"]
    assert [trace["type"] for trace in drawn["figures"]["en"]["data"]] == [
        "heatmap",
        "bar",
        "heatmap",
    ]


def test_scale_draws_both_networks_and_their_weights() -> None:
    spreads, largest = (
        np.array(one, np.float32)[:, None] * np.ones(5, np.float32)
        for one in ((1.9, 40), (0.4, 0.98))
    )
    drawn: Any = panels.draw_scale(Scales("dot", spreads, largest), TARGET)
    said = drawn["sentence"]["en"]
    assert (
        "score “dot”" in said
        and "spread over 1.9 on average, and the largest weight is 0.4;" in said
        and "BLEU 31.6" in said
    )
    assert [row[0] for row in drawn["table"]["rows"]] == [
        "Zwei·0",
        "Hunde·1",
        "rennen·2",
        ".·3",
        "</s>·4",
    ]
    ticks = drawn["figures"]["en"]["layout"]["xaxis"]["ticktext"]
    assert ticks[-1] == "&lt;/s&gt;·4", "a piece is no markup"
    rows: Any = panels.draw_numbers(explanation())
    assert rows["figures"]["en"]["layout"]["yaxis"]["ticktext"][-1] == "&lt;/s&gt;·4"


def test_distance_is_the_shorter_way() -> None:
    # words 0 and 4 are 1 step from the first output, word 2 three
    norms = np.arange(20, dtype=np.float32).reshape(4, 5)
    found = panels.average_by_distance(norms)
    assert found[2] == (
        pytest.approx(float(np.mean([norms[0, 1], norms[0, 3], norms[1, 0], norms[1, 4]]))),
        4,
    )
    assert 1 not in found, "two pairs are too few for a mean"
    drawn: Any = panels.draw_reach(Gradients(norms + 1, "none", norms + 2), "additive")
    assert [row[0] for row in drawn["table"]["rows"]] == list(found)
