"""Queries and keys in one plane: what the panel says of it is what NumPy finds, and every point is
the piece that it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from explorer.components.folded import Question
from explorer.figures.plane import KEY, QUERY
from explorer.panels.query_key_plane import draw_plane, find_chosen_head
from models.explaining.errors import InputError
from models.explaining.query_key_plane import (
    SCALES,
    Head,
    Plane,
    Vectors,
    make_plane_function,
    measure_correlation,
    project_to_plane,
)


def watched(count: int = 3, length: int = 6, width: int = 4, causal: bool = False) -> list[Vectors]:
    """Texts whose keys lie near the queries of the same place, and both far from 0."""
    random = np.random.default_rng(3)
    found = []
    for at in range(count):
        asks = random.normal(0, 1, (length, width)).astype(np.float32)
        keys = (asks + random.normal(0, 0.3, asks.shape) + 5).astype(np.float32)
        names = [tuple(f"{side}{at}.{place}" for place in range(length)) for side in "qk"]
        found.append(
            Vectors(f"<b>{at}", asks[None, None], keys[None, None], names[0], names[1], causal)
        )
    return found


@pytest.mark.parametrize("causal", [False, True])
def test_the_correlations_are_those_of_the_points_that_are_drawn(causal: bool) -> None:
    texts = watched(causal=causal)
    seen = project_to_plane(texts, 0, 0)
    nearness: list[float] = []
    scores: list[float] = []
    whole: list[float] = []
    asks, keys = seen.points[seen.asks], seen.points[~seen.asks]
    queries, looked = (
        np.concatenate(side).astype(float)
        for side in ([t.queries[0, 0] for t in texts], [t.keys[0, 0] for t in texts])
    )
    looked += queries.mean(0) - looked.mean(0)
    for text in range(3):
        for i in range(6):
            row: tuple[list[float], ...] = ([], [], [])
            for j in range(i + 1 if causal else 6):
                a, b = text * 6 + i, text * 6 + j
                row[0].append(-np.linalg.norm(asks[a] - keys[b]))
                row[1].append(queries[a] @ looked[b] / 2)
                row[2].append(-np.linalg.norm(seen.scale * queries[a] - looked[b] / seen.scale))
            for found, of_query in zip((nearness, scores, whole), row, strict=True):
                found += list(np.array(of_query) - np.mean(of_query))
    assert seen.after == pytest.approx(np.corrcoef(nearness, scores)[0, 1], abs=1e-4)
    assert seen.before == pytest.approx(np.corrcoef(whole, scores)[0, 1], abs=1e-6)
    assert seen.before > 0.6 and seen.scale in SCALES


def test_two_dimensions_lose_nothing() -> None:
    texts = watched(width=2)
    seen = project_to_plane(texts, 0, 0)
    assert seen.kept == pytest.approx(1) and seen.after == pytest.approx(seen.before, abs=1e-5)


def test_what_a_row_of_weights_forgets_moves_no_point() -> None:
    texts = watched()
    moved = [replace(t, keys=t.keys + np.float32(7)) for t in texts]
    np.testing.assert_allclose(
        project_to_plane(moved, 0, 0).points, project_to_plane(texts, 0, 0).points, atol=1e-3
    )


def test_points_know_their_pieces_places_and_texts() -> None:
    texts = watched(count=2, length=3)
    seen = project_to_plane(texts, 0, 0)
    assert seen.pieces == (
        "q0.0",
        "q0.1",
        "q0.2",
        "q1.0",
        "q1.1",
        "q1.2",
        "k0.0",
        "k0.1",
        "k0.2",
        "k1.0",
        "k1.1",
        "k1.2",
    )
    assert (
        seen.positions.tolist() == [0, 1, 2] * 4 and seen.texts.tolist() == [0, 0, 0, 1, 1, 1] * 2
    )
    assert seen.asks.tolist() == [True] * 6 + [False] * 6
    drawn = draw_plane(seen, Head("cross", 0, 1), {"en": "Cross", "zh": "交叉"}, "x")
    by_kind, by_place = (one["figure"]["figures"]["en"]["data"] for one in drawn["figures"])  # type: ignore[attr-defined]
    assert [trace["marker"]["color"] for trace in by_kind] == [QUERY, KEY]
    assert [trace["marker"]["color"] for trace in by_place] == [[0, 1, 2] * 2] * 2
    hovered = by_kind[1]["customdata"][3]
    assert "k1.0" in hovered[0] and hovered[1] == 0 and "1" in hovered[2]
    assert "&lt;b&gt;0" in by_kind[0]["customdata"][0][2]
    said = drawn["figures"][0]["figure"]["sentence"]["en"]  # type: ignore[index]
    assert (
        said.startswith("Cross, head 1·2: 6 queries and 6 keys.")
        and f"r = {seen.after:.2f} in this plane".replace("-", "−") in said
    )
    rows = drawn["figures"][0]["figure"]["table"]["rows"]  # type: ignore[index]
    assert rows[9][1:4] == ["k1.0", 0, "<b>1"] and rows[9][4] == pytest.approx(
        float(seen.points[9, 0]), abs=1e-4
    )


def test_points_are_coloured_by_word_class() -> None:
    texts = [replace(one, classes=("", "DET", "PROPN")) for one in watched(count=2, length=3)]
    seen = project_to_plane(texts, 0, 0)
    assert seen.classes == ("", "DET", "PROPN") * 4
    drawn = draw_plane(seen, Head("cross", 0, 1), {"en": "Cross", "zh": "交叉"}, "x")
    assert [one["key"] for one in drawn["choices"][0]["options"]] == ["kind", "position", "class"]  # type: ignore[index]
    figure = drawn["figures"][2]["figure"]  # type: ignore[index]
    named = {mark["text"]["en"]: mark["colour"] for mark in figure["legend"]}
    for trace in figure["figures"]["en"]["data"]:
        assert (
            trace["marker"]["color"]
            == [named[name] for name in ("other", "article, pronoun, number", "noun")] * 2
        )
    assert "noun: " in figure["figures"]["en"]["data"][0]["customdata"][2][2]
    assert (
        figure["table"]["columns"][-1]["en"] == "word class"
        and figure["table"]["rows"][1][-1]["en"] == "article, pronoun, number"
    )
    assert (
        len(
            draw_plane(
                project_to_plane(watched(), 0, 0),
                Head("cross", 0, 1),
                {"en": "Cross", "zh": "交叉"},
                "x",
            )["figures"]
        )
        == 2
    )  # type: ignore[arg-type]


def test_the_address_names_the_head_in_view() -> None:
    sizes, first = (
        {"one.encoder": (2, 4), "one.cross": (2, 4), "two.encoder": (1, 1)},
        (Head("one.encoder", 1, 1), Head("two.encoder", 0, 0)),
    )
    one, two = {"encoder": "one.encoder", "cross": "one.cross"}, {"encoder": "two.encoder"}
    for wish, there, head in (
        ({"kind": "cross", "head": "2.4"}, one, Head("one.cross", 1, 3)),
        ({"kind": "cross", "head": "3.1"}, one, Head("one.cross", 0, 0)),
        ({"kind": "x", "head": None}, one, first[0]),
        ("nonsense", one, first[0]),
        ({"kind": "cross", "head": "2.4"}, two, first[1]),
    ):
        assert find_chosen_head(Question("", wish), sizes, first, there) == head


def test_nothing_that_varies_correlates_with_nothing() -> None:
    assert measure_correlation(np.zeros(3), np.arange(3.0)) == 0


def test_texts_with_fewer_layers_are_absent() -> None:
    deep = [
        replace(one, queries=one.queries.repeat(2, 0), keys=one.keys.repeat(2, 0))
        for one in watched(2)
    ]
    asked: list[str] = []

    def vectors(texts: Sequence[str]) -> list[Mapping[str, Vectors] | InputError]:
        asked.extend(texts)
        return [{"self": deep[0]}, InputError("x", en="No.", zh="不。"), {"self": watched(1)[0]}]

    planes = make_plane_function(vectors, {"net.self": ["a", "b", "c"]})
    first, second, refused = planes(
        [Head("net.self", 0, 0), Head("net.self", 1, 0), Head("net.self", 2, 0)]
    )
    assert (
        isinstance(first, Plane) and isinstance(second, Plane) and isinstance(refused, InputError)
    )
    assert (len(first.points), len(second.points)) == (
        24,
        12,
    ) and "layers are 1 to 2" in refused.text["en"]
    assert asked == ["a", "b", "c"]
