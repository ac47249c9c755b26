"""The Reformer's page without a browser: what a wish becomes, what its widgets, pictures and folded
panels are told."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from explorer.components.change_panel import show_change
from explorer.engine import Engine
from explorer.figures import memory
from explorer.figures.sides import TextSide
from explorer.labs.reformer import about, change, texts, views
from explorer.labs.reformer.figures import hashing, missed
from explorer.labs.reformer.panels import rewind
from explorer.page.runs import ResultOrigin
from models.explaining.errors import InputError
from models.layers.lsh import mark_meetings, shared_weights, sort_by_bucket
from models.reformer.records import Request
from models.reformer.weights import compute_shared_weights, overview
from tests.explorer import duplicated, hashed, missing, rewound
from tests.explorer.numbers import refused, scaled
from tests.explorer.wishes import opened, program_of

NAME = {"en": "Reformer", "zh": "Reformer"}


# ---- what a visitor wants


def test_unusual_words_carry_a_warning() -> None:
    assert views.describe_warning(Request(text="a" * 15), duplicated.word("a" * 15)) is not None
    assert views.describe_warning(Request(text="a" * 16), duplicated.word("a" * 16)) is None
    assert views.describe_warning(Request("text", "Short."), duplicated.book("Short.")) is None
    seen = duplicated.book("It was § late")
    tokens = tuple("\N{REPLACEMENT CHARACTER}" if token == "§" else token for token in seen.tokens)
    assert (
        "§"
        in views.describe_warning(Request("text", "It was § late"), replace(seen, tokens=tokens))[
            "en"
        ]
    )
    assert set(views.OPENING) <= set(about.facts()["text"]["config"]["letters"]), (
        "our own text stands in the books"
    )


# ---- weights without a model


@pytest.mark.parametrize("seen", [False, True], ids=["every key", "what hashing saw"])
def test_weights_are_those_of_the_layer(seen: bool) -> None:
    one = duplicated.read("lsh_2", "a word of letters")
    for head in range(4):
        query = torch.from_numpy(one.queries[0, head].astype(np.float32))
        pairs = torch.stack(
            [
                mark_meetings(sort_by_bucket(torch.from_numpy(turn)), one.chunk)
                for turn in one.buckets[0, head]
            ]
        ).any(0)
        expected = shared_weights(query, pairs if seen else None).numpy()
        assert (
            np.abs(compute_shared_weights(one, 0, head, range(len(query)), seen) - expected).max()
            < 1e-5
        )
    assert np.abs(overview(one, seen).pooled.sum(3) - 1).max() < 1e-4


def test_a_long_run_is_pooled_and_its_rows_still_sum_to_one() -> None:
    one = duplicated.read("text", "x" * 600, mode="text")
    found = overview(one, True)
    assert (
        found.by == 3
        and found.pooled.shape == (1, 4, 200, 200)
        and np.abs(found.pooled.sum(3) - 1).max() < 1e-4
    )
    exact = compute_shared_weights(one, 0, 1, range(597, 600), True)
    assert (
        np.abs(
            found.pooled[0, 1, 199] - np.add.reduceat(exact, np.arange(0, 600, 3), axis=1).mean(0)
        ).max()
        < 1e-5
    )


# ---- what the widgets draw


def drawn(seen: Any, request: Request) -> tuple[Any, Any, Any]:
    """The input bar, the letters and the attention of a run, as JSON."""
    told = json.loads(
        json.dumps(
            program_of("reformer").render_run(seen, request, ResultOrigin("live", 12.0, "cpu"))
        )
    )
    return told["ask"], told["spelling"], told["attention"]


def test_a_word_becomes_an_answer_its_letters_and_attention() -> None:
    bar, letters, heads = drawn(duplicated.word(), Request())
    answer = bar["answer"]
    assert bar["state"] == "live" and answer["right"] is True and answer["said"] == Request().text
    assert [one["right"] for one in answer["beside"]] == [True, True, False]
    assert answer["beside"][-1]["verdict"]["en"] == "23 of 26 letters right"
    assert [(one["key"], one["right"]) for one in letters["runs"]] == [
        ("lsh_4", 26),
        ("full", 26),
        ("lsh_2", 26),
        ("lsh_1", 23),
    ]
    assert letters["first"] == 27 and letters["pick"]["pos"] == 27 + 3, (
        "the first letter that one model gets wrong"
    )
    assert [one["key"] for one in heads["kinds"]] == [
        "lsh_4",
        "lsh_4.saw",
        "full",
        "lsh_2.saw",
        "lsh_1.saw",
    ]
    assert heads["pick"]["kind"] == "lsh_4.saw" and heads["silences"] is True


def test_a_text_is_told_in_bits_and_its_long_maps_are_pooled() -> None:
    text = "It was a dark and stormy night. " * 12
    bar, letters, heads = drawn(duplicated.book(text), Request("text", text))
    assert bar["answer"]["right"] is None and bar["answer"]["said"]["en"].endswith(
        "bits per character"
    )
    assert letters["mode"] == "text" and letters["first"] == 0
    kinds = heads["kinds"]
    assert [one["key"] for one in kinds] == ["text", "text.saw"] and kinds[0]["pooled"] == [2, 2]
    assert kinds[0]["look"] != kinds[1]["look"]


def test_a_crowded_map_fits_one_screen() -> None:
    for text, whole in (
        ("It was a dark and stormy night. " * 3, False),
        ("It was a dark and stormy night. " * 4, True),
    ):
        heads: Any = views.draw_heads(duplicated.book(text), Request("text", text), "live")
        assert all(
            one["pooled"] == [1, 1] and (one["look"] is not None) == whole for one in heads["kinds"]
        )


def test_a_run_under_another_change_marks_no_column_of_the_table() -> None:
    one = duplicated.read("lsh_2", "word")
    assert [
        views.name_rounds(Request(text="word", **more), one)
        for more in ({}, {"rounds": 2}, {"buckets": 8})
    ] == ["2", "2", ""]


def test_bertviz_is_refused_for_a_long_word_and_says_its_limit() -> None:
    assert views.list_for_bertviz(duplicated.word()).weights.shape == (1, 4, 53, 53)
    with pytest.raises(InputError) as refusal:
        views.list_for_bertviz(duplicated.word("a" * 40))
    assert "64 positions" in refusal.value.text["en"] and "81" in refusal.value.text["en"]


# ---- what changes if …


def test_the_panel_tells_the_changed_letters() -> None:
    before, after = (
        duplicated.word(wrong={}),
        duplicated.word(wrong={"lsh_2": (0, 1), "lsh_1": (5,)}, salt=1),
    )
    after = replace(after, read=(after.read[0], before.read[1], *after.read[2:]))
    told: Any = show_change(
        {}, change.difference((before, after), None, Request(rounds=1), texts.ROUND)
    )
    sides, said = {one["key"]: one for one in told["sides"]}, told["sentence"]["en"]
    assert (
        sides["lsh_2"]["number"] == {"before": 1.0, "after": 24 / 26}
        and sides["lsh_2"]["unit"] == texts.SHARE
    )
    assert sides["lsh_2"]["answers"][1][:2] == "mp" and sides["lsh_2"]["first"] == 27
    assert sides["full"]["reached"] is False and sides["full"]["answers"] is None
    assert (
        said.startswith("With 1 round of hashing")
        and "LSH-2⟧ 0.923 instead of 1.000" in said
        and "Full attention" not in said
    )
    what = {"en": "in chunks of 256", "zh": "每块 256 个位置"}
    nobody: Any = show_change(
        {}, change.difference((before, before), None, Request(chunk=256), what)
    )
    assert nobody["sentence"]["en"] == "In chunks of 256, nothing changes for any model."


# ---- hashing


def test_buckets_of_a_long_text_travel_by_an_address() -> None:
    own, long = (
        hashed.read("text", tuple("ab" * 500), None, rounds=5, layers=4),
        {"tokens": "ab" * 500, "wanted": np.arange(1000)},
    )
    packed: Any = hashing.draw_hashing(
        **long, read=[own], names=hashed.NAMES, query="", state="live", pick={}
    )["models"]
    assert packed[0]["buckets"]["url"].startswith("/arrays/") and "data" not in packed[0]["buckets"]
    np.testing.assert_array_equal(scaled(packed[0]["buckets"]), own.buckets)


def test_chunks_fit_and_lost_looks_say_why() -> None:
    wide = replace(hashed.look(hashed.models("word")[2][0], 0, 2, 3), chunk=200)
    assert (
        hashing.answer_look({"query": "q=1", "model": "lsh_4", "head": "1.3", "round": 4}, wide)[
            "chunk"
        ]
        == 53
    )
    error = {"en": "Gone.", "zh": "已不在。"}
    lost = hashing.refuse_look(
        {"query": "", "model": "lsh_4", "head": "1.1", "round": hashing.ALL}, error
    )
    assert lost["round"] == 0 and lost["error"] == error


def test_a_round_in_view_comes_with_its_wish(
    engine: Engine,
) -> None:
    def looked(**detail: Any) -> dict[str, Any]:
        found: dict[str, Any] = opened(
            program_of("reformer"),
            "hashing",
            {"query": "", "model": "lsh_4", "wished": 7, **detail},
            engine,
        )
        return found

    kept = views.list_hashings()
    assert kept is not None
    one = looked(head="1.2", round=2)
    assert [one[name] for name in ("model", "head", "round", "wished", "error")] == [
        "lsh_4",
        "1.2",
        2,
        7,
        None,
    ]
    assert (
        one["rotated"]["shape"] == list(kept.rounds[0][1][1].rotated.shape)
        and one["chunk"] == kept.rounds[0][1][1].chunk
    )
    every = looked(head="1.2", round=0)
    assert (
        every["round"] == 0 and every["weights"]["shape"] == [len(kept.rounds[0][1][1].order)] * 2
    )
    for wrong in (
        {"head": "9.9", "round": 1},
        {"head": "no", "round": 0},
        {"head": "1.1", "round": 1e300},
        {"head": [1], "round": None},
    ):
        answer = looked(**wrong)
        assert answer["error"]["en"].endswith(".") and answer["wished"] == 7


# ---- panels: missed weight, reversible layers


def test_on_arrival_the_worst_query_is_told() -> None:
    found = missing.head(0, 1)
    seen = (found["first"] > 0) & (found["first"] <= 4)
    lost = np.where(seen, 0, np.tril(np.exp(found["log_full"]), -1)).sum(1)
    half = len(lost) // 2
    for more, pos in (({}, half + int(lost[half:].argmax())), ({"pos": 3}, 3)):
        assert missed.draw_boards(NAME, (0, 1), (2, 3), **{**found, **more})["pos"] == pos


def layers(**changed: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The value of reversible layers, some of its parts replaced, and the figures under the picture
    by name."""
    value = json.loads(json.dumps(rewind.draw_boards(NAME, **{**rewound.parts(), **changed})))
    return value, {one["figure"]["name"]: one["figure"] for one in value["below"]["figures"]}


def test_parts_say_bytes_and_differences() -> None:
    part = layers()[1]["feed-forward-parts"]
    assert part["table"]["rows"][-1] == [16.0, 4096.0, "1.8\u00a0×\u00a010⁻⁷"]
    assert [round(bar["x"][0], 1) for bar in part["figures"]["en"]["data"]] == [
        100.0,
        52.6,
        26.3,
        15.8,
        10.5,
    ]


def test_unmeasured_figures_have_a_sentence() -> None:
    value, below = layers()
    assert (
        list(below) == ["feed-forward-parts"]
        and [sorted(note) for note in value["below"]["notes"]] == [["en", "zh"]] * 2
    )
    value, below = layers(reversible=rewound.REVERSIBLE)
    assert "memory-depth" in below and len(value["below"]["notes"]) == 1
    without = {
        **rewound.LSH,
        "figures": {
            name: size for name, size in rewound.LSH["figures"].items() if name != "explicit_mb"
        },
    }
    assert "memory-attention" not in layers(lsh=without)[1]


def test_memory_against_depth_is_read_from_a_saved_result() -> None:
    figure = layers(reversible=rewound.REVERSIBLE)[1]["memory-depth"]
    assert (
        "8.00 × for ordinary layers" in figure["sentence"]["en"]
        and "CPU, 2 threads" in figure["sentence"]["en"]
    )
    assert [line["y"] for line in figure["figures"]["zh"]["data"]][::2] == [
        [250, 500, 1000, 2000],
        [81, 82, 84, 88],
    ]
    assert (
        memory.read_depth(
            {**rewound.REVERSIBLE, "figures": {"reversible_4_mb": 80.0, "ordinary_4_mb": 90.0}}
        )
        is None
    )


def test_the_step_counts_pictures_as_they_stand() -> None:
    _, below = layers(reversible=rewound.REVERSIBLE, lsh=rewound.LSH)
    at = 2 + list(below).index("memory-depth")  # the first picture stands above them
    counted = {"en": ("first", "second", "third"), "zh": ("第一幅", "第二幅", "第三幅")}
    said = {"en": "the {} shows training memory", "zh": "{}是训练内存"}
    for language, numerals in counted.items():
        assert said[language].format(numerals[at - 1]) in texts.STEPS["rewind"][language]


def test_fused_attention_is_best_where_true() -> None:
    figure = layers(lsh=rewound.LSH)[1]["memory-attention"]
    assert "less than any attention by hashing" in figure["sentence"]["en"]
    assert [row[0] for row in figure["table"]["rows"]] == [
        "explicit",
        "reformer_pytorch",
        "transformers",
        "ours",
        "dense",
    ]
    other = {**rewound.LSH, "figures": {**rewound.LSH["figures"], "dense_mb": 500.0}}
    assert "less than any" not in layers(lsh=other)[1]["memory-attention"]["sentence"]["en"]


# ---- what does not fit together is refused with its sizes

HOW: dict[str, Any] = {
    "names": hashed.NAMES,
    "query": "",
    "state": "live",
    "pick": {},
    "word": 26,
    "wanted": np.arange(3),
}
ONE, READ, NINE = np.ones(3, np.float32), hashed.models("word")[2], duplicated.read("full", "word")


@pytest.mark.parametrize(
    ("says", "call"),
    [
        ("for 3 tokens", lambda: hashing.draw_hashing(tokens="abc", read=READ, **HOW)),
        (
            "which has 8",
            lambda: hashing.draw_hashing(
                tokens=hashed.twice(hashed.WORD), read=[replace(READ[0], kinds=8)], **HOW
            ),
        ),
        ("1 × 4 heads and 9 positions", lambda: compute_shared_weights(NINE, 0, 0, [9], True)),
        (
            r"answers of \[3, 2, 3\]",
            lambda: TextSide("full", texts.SHARE, ONE, ONE, 3, 0, answers=("abc", "ab", "abc")),
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_sizes(says: str, call: Any) -> None:
    refused(says, call)
