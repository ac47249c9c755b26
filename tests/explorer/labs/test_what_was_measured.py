"""What pages say of figures that were measured: every seed is told, and an order is named only
where seeds bear one out."""

from __future__ import annotations

import copy
import json
from statistics import fmean
from typing import Any

import pytest

from explorer.labs.music import about as music
from explorer.labs.reformer import about as reformer
from explorer.labs.reformer import texts as reformer_texts
from explorer.labs.reformer.figures import spelling
from explorer.labs.rnn_attention import about as rnn
from explorer.labs.universal_transformer import about as universal
from explorer.page import card_facts
from explorer.panels import label_curve
from models.evaluation.polarity import LABELS


def test_an_order_needs_three_separate_seeds() -> None:
    good, bad, between = (0.49, 0.5, 0.48), (0.58, 0.56, 0.55), (0.58, 0.495, 0.55)
    assert (
        card_facts.explain_missing_order(good, bad) is None
        and card_facts.explain_missing_order(bad, good) is None
    )
    assert card_facts.explain_missing_order(good, between) == card_facts.NEAR
    assert card_facts.explain_missing_order(good, bad[:2]) == card_facts.FEW


@pytest.mark.parametrize(
    ("slug", "variant"),
    [("music", "jsb_relative"), ("reformer", "lsh_4"), ("universal_transformer", "addition")],
)
def test_a_seed_has_its_own_checkpoint(
    slug: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = sorted((card_facts.ASSETS / slug).glob(f"{variant}-seed*/model.json"))
    known = [
        json.loads(path.read_text("utf-8"))
        for path in (card_facts.ASSETS / slug / variant / "model.json", *shipped)
    ]
    assert len(known) == 3
    assert card_facts.list_seed_figures(slug, variant) == {
        one["seed"]: one["figure"]["value"] for one in known
    }
    known[2]["figure"]["split"] = "another"
    monkeypatch.setattr(card_facts, "read_seed_runs", lambda *_: known)
    assert len(card_facts.list_seed_figures(slug, variant)) == 2


def test_character_networks_beyond_training() -> None:
    drawn: Any = universal.draw_longer()
    rows = [tuple(row[:3]) for row in drawn["table"]["rows"]]
    shipped = [one for one in universal.read_every_network() if "longer" in one]
    assert len(rows) == len(set(rows)) == len(shipped) and {row[0] for row in rows} == {
        "reverse",
        "addition",
        "copy",
    }
    for row in drawn["table"]["rows"]:
        assert row[5] in {round(one["longer"]["value"], 4) for one in shipped}
    said = drawn["sentence"]["en"]
    assert (
        "ahead of all three of the ordinary one in: addition." in said
        and "single input of reverse entirely right" in said
    )


def test_stories_are_told_by_facts() -> None:
    drawn: Any = universal.draw_hardness("stories", (3.0, 3.6))
    by = universal.facts()["stories"]["figure"]["ponder_by_facts"]
    assert (
        f"3 facts: {by['3']['mean']:.2f}" in drawn["sentence"]["en"]
        and "2.3 · 3.1 · 3.8" in drawn["sentence"]["en"]
    )
    assert "Yours, 3 facts: 3.60" in drawn["sentence"]["en"]
    assert {"Universal", "ordinary"} <= {mark["text"]["en"] for mark in drawn["legend"]}


def test_rounds_beside_the_printed_table() -> None:
    drawn: Any = reformer.draw_table({"lsh_4": "4", "lsh_1": ""})
    known = reformer.facts()
    cells, layout = drawn["figures"]["en"]["data"][0], drawn["figures"]["en"]["layout"]
    assert [(one["x0"], one["y0"]) for one in layout["shapes"]] == [(1.5, -0.5)], (
        "the run in view is framed"
    )
    rows = drawn["table"]["rows"]
    for row, shown, variant in zip(
        rows, cells["z"], ("lsh_4", "full", "lsh_2", "lsh_1"), strict=False
    ):
        ours, printed = (
            [known[variant][name]["by_rounds"][column] for column in reformer.COLUMNS]
            for name in ("figure", "published")
        )
        assert list(shown) == ours and list(row[1:]) == [*ours, *printed]
    assert [row[0] for row in rows[4:]] == ["LSH-4, seed 1", "LSH-4, seed 2", "LSH-4, seed 3"]
    assert "128" in drawn["note"]["en"]


def test_the_order_of_rounds_as_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed = {
        "lsh_4": [0.008, 1.0, 0.999, 0.994, 0.919],
        "lsh_1": [0.008, 0.999, 0.996, 0.948, 0.779],
    }
    ours = {"lsh_4": [0.9, 0.999, 0.998, 0.95, 0.8], "lsh_1": [0.9, 0.98, 0.985, 0.96, 0.9]}
    rows = [
        spelling.Row(name, reformer_texts.NAMES[name], ours[name], printed[name]) for name in ours
    ]
    assert any("differences may be chance" in one["en"] for one in reformer.describe_order(rows))
    monkeypatch.setattr(card_facts, "explain_order_of", lambda *_: None)
    said = " ".join(
        one["en"] for one in [*reformer.describe_many_rounds(rows), *reformer.describe_order(rows)]
    )
    assert "8 rounds: here LSH-4 0.999 > LSH-1 0.980; in print LSH-4 1.000 > LSH-1 0.999." in said
    assert (
        "1 round: here LSH-1 0.900 > LSH-4 0.800;" in said
        and "differs from the order in print" in said
    )
    assert "get 0.900 right here; in print 0.008" in said, (
        "a share far above the printed one is told"
    )
    assert "worse in places" in said and "LSH-1" in said.rsplit("made", 1)[1]


def test_composers_beside_the_printed_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chorales, piano = music.draw_standings()
    bars: Any = chorales["figures"]
    assert len(bars["en"]["layout"]["shapes"]) == 2, "published figures are dashed outlines"
    assert "on other performances" in str(piano["sentence"])
    known = {
        variant: copy.deepcopy(music.facts()[variant])
        for variant in ("jsb_relative", "jsb_transformer")
    }
    for variant, value in (("jsb_relative", 0.49), ("jsb_transformer", 0.58)):
        known[variant]["figure"]["value"] = value
    for proved, words in (
        (None, "The paper has the same order"),
        (card_facts.NEAR, "Seeds of different models overlap"),
    ):
        monkeypatch.setattr(card_facts, "explain_missing_order", lambda *_, proved=proved: proved)
        said = music.describe_standing(known)["en"]
        assert "Held out: relative 0.490, absolute 0.580." in said and words in said
        assert (
            "Seeds of relative:"
            f" {' · '.join(f'{loss:.3f}' for loss in music.list_seeds('jsb_relative').values())}."
            in said
        )
    monkeypatch.setattr(card_facts, "explain_missing_order", lambda *_: None)
    assert "another order" in music.describe_standing(dict(reversed(known.items())))["en"]


@pytest.mark.parametrize(("p", "words"), [(0.001, "p = 0.001"), (0.3, "may be chance")])
def test_translators_differ_by_bootstrap(
    p: float, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = copy.deepcopy(rnn.facts())
    for one in known.values():
        for pair in one["figure"]["paired"].values():
            pair["p"] = p
    monkeypatch.setattr(rnn, "facts", lambda: known)
    drawn: Any = rnn.draw_quality(12)
    assert words in drawn["sentence"]["en"] and drawn["figures"]["en"]["layout"]["shapes"][0][
        "x0"
    ] == pytest.approx(0.7)
    assert drawn["table"]["rows"][-1][-1] == known["none"]["figure"]["value"]


def test_the_frozen_encoder_leads_while_labels_are_few() -> None:
    means = {}
    for slug, ways in (
        ("bert", ("frozen", "pretrained", "scratch", "counts")),
        ("language_model", ("pretrained", "scratch")),
    ):
        known, n = label_curve.read_shares(slug)
        means |= {
            (slug, way, labels): fmean(known[way, labels]) for way in ways for labels in LABELS if n
        }
    for labels in LABELS:
        best = max((name for name in means if name[2] == labels), key=lambda name: means[name])
        assert best[1] == ("frozen" if labels <= 2000 else "counts"), "as the step of BERT says"
