"""The folded panels of the translation page without a browser: the search, one's own German, word
order, residual paths, training."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from explorer.components.folded import Question
from explorer.figures import theme
from explorer.labs.translation.figures import positions as positions_drawn
from explorer.labs.translation.figures import training as training_drawn
from explorer.labs.translation.panels import beam, forced, paths, positions, training
from explorer.page import card_facts
from models.layers.dropout import Dropout
from models.layers.loss import smoothed_cross_entropy
from models.networks.encoder import Config
from models.networks.encoder_decoder import Transformer
from models.training.loop import Schedule
from models.translation.forced_records import Reading
from models.translation.path_records import NETWORKS, PathsRequest, Tower, Towers
from models.translation.position_records import MAX_SEED, Positions, Shuffle, TwoOrders
from models.translation.records import EXAMPLES, Request
from models.translation.search_records import Search, Tree
from tests.explorer.numbers import refused
from tests.explorer.wishes import program_of

# ---- panels: the search, the visitor's own German

HOSTILE = ("<img src=x onerror=alert(1)>", "</script>", "{size}", "⟦q:x⟧")
RUN = "v=1&sentence=A+dog+runs.&beam=3&alpha=1.1&silenced=cross.0.1&hidden=1"
FIRST = EXAMPLES[0].sentence
PATHS = {"pof": "decoder.cross", "player": "3", "pgain": "0.25", "pshift": "20"}


@pytest.mark.parametrize(
    ("panel", "run", "wish", "expected"),
    [
        (beam, "", None, Search(FIRST, 4)),
        (beam, RUN, None, Search("A dog runs.", 3)),  # without its interventions
        (beam, RUN, {"beam": 7, "endless": True}, Search("A dog runs.", 7, True)),
        (forced, "", None, Reading(FIRST, forced.FIRST)),
        (forced, "", {"own": True}, Reading(FIRST)),
        (forced, RUN, None, Reading("A dog runs.")),
        (forced, RUN, {"german": "Ein Hund."}, Reading("A dog runs.", "Ein Hund.")),
        (paths, "", PATHS, PathsRequest(FIRST, "decoder", 2, "cross", 0.25, 20)),
        (paths, "", {**PATHS, "pgain": "1"}, PathsRequest(FIRST, shift=20)),
        (positions, "", {"order": "7"}, Shuffle(FIRST, 7)),
        (positions, "", {"order": f"{MAX_SEED + 1}"}, Shuffle(FIRST, 1)),
    ],
)
def test_a_wish_becomes_what_a_panel_asks_of_the_run_in_view(
    panel: Any, run: str, wish: object, expected: object
) -> None:
    assert (
        panel.read_question(program_of("translation").read_request(run)[0], Question(run, wish))
        == expected
    )


def test_an_endless_search_names_its_loop() -> None:
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
    drawn: Any = beam.draw_tree(tree, Request("A dog.", 2, 0.9))
    assert (
        drawn["loop"] == [1, 1]
        and drawn["stop"][-1] is None
        and drawn["texts"] == {str(n - 1): "Hund ......"}
    )
    assert (drawn["alpha"], drawn["plainBeam"]) == (0.9, 2)
    json.dumps(drawn, allow_nan=False)


# ---- panels: word order


def table(length: int, d: int) -> Any:
    """Sinusoids, computed here."""
    angle = np.arange(length)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)[None]
    return np.stack((np.sin(angle), np.cos(angle)), 2).reshape(length, d).astype(np.float32)


@pytest.fixture
def seen() -> Positions:
    """An answer with hostile words, in an order of its own."""
    return Positions(
        source=HOSTILE,
        source_space=(True,) * 4,
        order=(2, 0, 1, 3),
        size=9.5,
        signal=TwoOrders(np.array([1.0, 2.0, 7.5, 3.0], np.float32), 2.25, "so", "anders"),
        silence=TwoOrders(
            np.array([1e-6, 2e-6, 0.0, 3e-6], np.float32), 1.2e-6, "gleich", "gleich"
        ),
        own=table(60, 192),
        textbook=table(32, 128),
    )


@pytest.mark.parametrize(("length", "d"), [(32, 128), (60, 192)])
def test_position_products_follow_distance(length: int, d: int) -> None:
    signal = table(length, d)
    similar = positions_drawn.measure_similarity(signal)
    p, q = np.indices((length, length))
    np.testing.assert_allclose(signal @ signal.T / (d / 2), similar[np.abs(p - q)], atol=1e-5)
    assert similar[0] == pytest.approx(1) and similar[1:].max() < 1


def test_the_panel_says_the_runs_numbers(
    seen: Positions,
) -> None:
    value: Any = positions.draw_panel(seen)
    moved = value["figures_moved"][0]["figure"]
    for said in moved["sentence"].values():
        assert (
            "1.0" in said
            and "7.5" in said
            and theme.format_number(1.2e-6) in said
            and HOSTILE[1] in said
        )
        assert not re.search(r"\{(?!size)\w+\}", said)
    rows = value["table"]["rows"]
    assert [(row["cells"][0]["en"], *row["cells"][1:]) for row in rows] == [
        ("with the signal", "2.25", "so", "anders"),
        ("without it", theme.format_number(1.2e-6), "gleich", "gleich"),
    ]
    assert [row["marks"][3] for row in rows] == ["text other", "text"]
    line = [(piece["text"], piece["index"], piece["role"]) for piece in value["lines"][1]["pieces"]]
    assert line == [
        (HOSTILE[2], 2, "key"),
        (HOSTILE[0], 0, "key"),
        (HOSTILE[1], 1, "key"),
        (HOSTILE[3], 3, None),
    ]
    assert value["button"]["set"] == {"order": "2"}
    made, bars = json.dumps(moved["figures"]), moved["figures"]["en"]["data"]
    assert "<img" not in made and "</script" not in made and "&lt;img" in made
    assert bars[0]["y"] == [1.0, 2.0, 7.5, 3.0] and bars[1]["y"][2] == positions_drawn.NOTHING, (
        "nothing stands at the end of the axis"
    )


def test_the_textbook_s_size_is_one_switch_away(seen: Positions) -> None:
    found: Any = positions.draw_panel(seen)["figures"]
    for name, signal in (("own", seen.own), ("textbook", seen.textbook)):
        first, *_, last = [one["figure"] for one in found if one["when"]["signal"] == name][:3]
        np.testing.assert_allclose(first["figures"]["en"]["data"][0]["z"], signal, atol=1e-4)
        assert (
            len(first["table"]["rows"]) == len(signal) and "data" not in first["figures"]["zh"]
        ), "numbers travel once"
        pairs = np.asarray(last["figures"]["en"]["data"][0]["z"])
        assert pairs.shape == (len(signal), len(signal)) and (pairs == pairs.T).all()
        assert name == "textbook" or "4" in first["sentence"]["en"].split("first ")[1]


# ---- panels: residual paths

PLAIN = PathsRequest("Two dogs.")


def towers(names: Sequence[str]) -> Towers:
    """What networks of two layers might give."""
    chance, was = np.random.default_rng(3), np.array([0.3, 0.2], np.float32)

    def one(n: int, name: str) -> Tower:
        maps = chance.dirichlet(np.ones(3), (2, 3)).astype(np.float32)
        near, read = (
            np.array([0.3, 0.2 - n / 10], np.float32),
            np.array([0.95, 0.9 - n / 10], np.float32),
        )
        return Tower(
            name,
            maps,
            near,
            "Zwei Hunde.",
            was,
            "Zwei.",
            30.0 - n,
            read,
            ((1, 1.5), (2, 2.0 + n), (3, 3.0 + n)),
        )

    return Towers(
        ("<img src=x>", "{size}", "dogs"),
        (True, True, True),
        tuple(one(n, name) for n, name in enumerate(names)),
    )


@pytest.mark.parametrize(
    "asked", [PLAIN, PathsRequest("Two dogs.", "decoder", 1, "cross", 0.5, 10)]
)
def test_the_panel_speaks_of_every_network_and_of_the_change(asked: PathsRequest) -> None:
    value: Any = paths.draw_panel(towers(NETWORKS), asked)
    figures = [one["figure"] for part in ("figures", "figures_more") for one in value[part]]
    # the highest layer first, so that the lowest stands at the foot
    drawn = figures[0]["figures"]["en"]
    np.testing.assert_allclose(drawn["data"][0]["z"], towers(NETWORKS).towers[0].maps[1], atol=1e-5)
    rows = [
        [paths.NAMES[name]["en"], *(["Zwei."] if asked != PLAIN else []), "Zwei Hunde."]
        for name in NETWORKS
    ]
    assert [[row["cells"][0]["en"], *row["cells"][2:]] for row in value["table"]["rows"]] == rows
    said = "gain 0.5 around the cross-attention of layer 2; positions from 10"
    assert (said in figures[0]["units"]["en"]) == (asked != PLAIN)


def test_its_sentences_say_the_numbers() -> None:
    value: Any = paths.draw_panel(towers(NETWORKS), PLAIN)
    maps, read, near, joined = (
        one["figure"]["sentence"]["en"]
        for part in ("figures", "figures_more")
        for one in value[part]
    )
    assert (
        "with paths 0.30 → 0.20; without in the encoder 0.30 → 0.10, as trained 0.30 → 0.20" in maps
    )
    assert "layer 2: with paths 0.90; without in the encoder 0.80; " in read
    assert "closest with paths (0.20) and least close with paths, learned positions (−0.30)" in near
    assert (
        "1, 2, 3 joined, a piece costs: sinusoids 1.50, 2.00, 3.00; learned positions 1.50, 7.00,"
        " 8.00." in joined
    )


# ---- panels: training, as model.json and the log say

KNOWN, LOG = card_facts.facts("translation"), card_facts.read_training_log("translation")
SCHEDULE = KNOWN["recipe"]["schedule"]


def test_the_rate_is_that_of_the_training_loop_and_of_its_log() -> None:
    schedule = Schedule(**SCHEDULE)
    for step in (
        1,
        2,
        599,
        600,
        601,
        5000,
        schedule.steps - schedule.cooldown,
        schedule.steps - 1,
        schedule.steps,
    ):
        assert training.compute_rate(SCHEDULE, step) == pytest.approx(
            schedule.rate_at(step), rel=1e-12
        )
    for entry in LOG:
        assert training.compute_rate(SCHEDULE, entry["step"]) == pytest.approx(
            entry["rate"], rel=1e-9
        )
    assert training.list_averaged_steps(SCHEDULE) == list(range(6375, 7501, 125)), (
        "the last checkpoints that were kept"
    )
    assert training.list_averaged_steps({"every": 150, "steps": 400, "average": 2}) == [300, 400]
    assert (
        training.count_operations(KNOWN)
        == 6 * KNOWN["parameters"] * KNOWN["recipe"]["batch"] * SCHEDULE["steps"]
    )


def test_what_is_asked_for_is_what_the_loss_is_measured_against() -> None:
    torch.manual_seed(0)
    known = {"recipe": {"smoothing": 0.1}, "config": {"vocabulary": 30}}
    right, each = training.compute_smoothed_targets(known)
    hidden, readout, target = torch.randn(1, 8), torch.randn(30, 8), torch.full((30,), each)
    target[7] = right
    target[[0, 2]] = 0
    assert float(target.sum()) == pytest.approx(1)
    expected = -(target * (hidden @ readout.T)[0].log_softmax(0)).sum()
    assert float(
        smoothed_cross_entropy(hidden, readout, torch.tensor([7]), 0.1, never=(0, 2))
    ) == pytest.approx(float(expected), abs=1e-4)
    assert training.compute_loss_floor(known) == pytest.approx(
        -float((target * target.clamp_min(1e-30).log()).sum()), abs=1e-6
    )
    assert all(entry["loss"] > training.compute_loss_floor(KNOWN) for entry in LOG)


def test_dropout_stands_at_as_many_places_as_are_said() -> None:
    model, places = Transformer(Config(**KNOWN["config"])), []
    for module in model.modules():
        if isinstance(module, Dropout):
            module.register_forward_hook(lambda *_: places.append(1))
    tokens = torch.zeros(1, 2, dtype=torch.long)
    model(tokens, tokens, torch.ones_like(tokens, dtype=torch.bool))
    assert training.count_dropouts(KNOWN) == len(places)


def test_published_systems_are_dashed_outlines_beside_ours() -> None:
    systems = [
        training_drawn.System("old", 20, 1e19),
        training_drawn.System("ours", 30, 1e14, ours=True),
    ]
    made = training_drawn.draw_costs(systems, ("a", "b"))
    assert [(shape["xref"], shape["x1"]) for shape in made["layout"]["shapes"]] == [
        ("x", 20),
        ("x2", 1e19),
    ]
    assert all("dash" in shape["line"] for shape in made["layout"]["shapes"])
    refused("0 systems", training_drawn.draw_costs, [], ("a", "b"))


def test_texts_give_the_model_json_numbers() -> None:
    value: Any = training.draw_panel(KNOWN, LOG)
    figures = [each["figure"] for each in value["figures"]]
    said = {**value, "figures": [{**each, "figures": None} for each in figures]}
    assert not re.search(r"\{[a-z_]+\}", json.dumps(said, ensure_ascii=False))
    for language, word in (("en", "Transformer"), ("zh", "运算")):
        shares, rates, target = (each["sentence"][language] for each in figures[:3])
        assert word in shares and f"{SCHEDULE['warmup']:,}" in rates and "0.9000" in target
        figure = figures[0]["figures"][language]
        assert [*figure["data"][0]["x"]] == [
            *(row.german for row in training.TABLE),
            None,
        ], "another test's score is no bar among these"
        (words,) = figure["layout"]["annotations"]
        assert (
            words["text"].startswith(f"{KNOWN['figure']['value']:.1f}")
            and "Multi30k" in words["text"]
        )
        assert "newstest2014" in training.COST_AXES[language][0]
    rows = value["table"]["rows"]
    assert [row["ours"] for row in rows] == [False] * 4 + [True] and rows[-1]["cells"][
        1
    ] == f"{KNOWN['figure']['value']:.1f}"
    assert "cannot be compared" in value["notes"][0]["en"]
    bare: Any = training.draw_panel(KNOWN, [])["figures"][1]["figure"]["figures"]
    assert bare["en"]["data"][1]["x"] == [], "without a log the rate is drawn all the same"
