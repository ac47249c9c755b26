"""Who did what to whom: a small rule for captions, and the heads that look along it."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.figures.attention import Kind
from explorer.figures.roles import clause, jobs


def parts(sentence: str) -> tuple[str, str, str] | None:
    """Verb, subject and target in words, "" where there is none. A "|" joins the pieces of a word, marks stand apart."""
    pieces, space = [], []
    for word in sentence.replace(".", " .").replace(",", " ,").split():
        for i, piece in enumerate(word.split("|")):
            pieces.append(piece)
            space.append(i == 0 and piece not in {".", ","})
    found = clause(pieces, space)
    if found is None:
        return None
    verb, subject, target = (" ".join(pieces[i] for i in part) for part in (found.verb, found.subject, found.target))
    return verb, subject, target


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Children are playing soccer on a green field.", ("playing", "Children", "soccer")),
        ("Two dogs are running through the snow.", ("running", "dogs", "")),
        ("A little girl in a pink dress is climbing a tree.", ("climbing", "girl", "tree")),
        ("A man in a blue shirt is standing on a ladder and cleaning a window.", ("cleaning", "man", "window")),
        ("Three people sit at a table in front of a restaurant.", ("sit", "people", "")),
        ("A small Asian girl runs down a street.", ("runs", "girl", "")),
        ("A person rides a motor|bike down a hill.", ("rides", "person", "motor bike")),
        ("A woman and a boy are quickly eating ice cream.", ("eating", "woman boy", "cream")),
        ("A group of men load|ing cot|ton onto a truck.", ("load ing", "men", "cot ton")),
        ("Children playing.", ("playing", "Children", "")),
    ],
)
def test_a_plain_caption_is_understood(sentence: str, expected: tuple[str, str, str]) -> None:
    assert parts(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "A red building.",
        "In the park a man is running.",
        "A running dog.",
        "The street is crowded with people.",
        "A man in running shoes.",
        "A rider is airborne on a circuit jump.",
        "...",
        "running",
        "é 头 ✓",
    ],
)
def test_where_no_verb_is_found_nothing_is_said(sentence: str) -> None:
    assert parts(sentence) is None


def kinds(encoder: dict[tuple[int, int, int, int], float], cross: dict[tuple[int, int, int, int], float]) -> tuple[Kind, Kind]:
    """Two layers of two heads over "Children are playing soccer ." whose rows are even but for the weights given."""
    english, german = ("Children", "are", "play", "ing", "soccer", "."), ("Kinder", "spielen", "Fußball", ".", "</s>")
    made = []
    for key, queries, given in (("encoder", english, encoder), ("cross", german, cross)):
        weights = np.full((2, 2, len(queries), 6), 1 / 6, np.float32)
        for (layer, head, row, column), weight in given.items():
            weights[layer, head, row] = (1 - weight) / 5
            weights[layer, head, row, column] = weight
        space = tuple(piece not in {"ing", "."} for piece in english)
        made.append(
            Kind(key, {"en": key, "zh": key}, weights, queries, english, None, space, through=None if key == "encoder" else "encoder")
        )
    return made[0], made[1]


ENCODER = {(0, 0, 2, 0): 0.9, (0, 0, 3, 0): 0.7, (1, 0, 0, 2): 0.6, (1, 1, 2, 4): 0.8, (1, 1, 3, 4): 0.6}
CROSS = {(0, 1, 1, 2): 0.9, (1, 0, 1, 4): 0.75}


def test_each_question_finds_the_head_that_asks_it() -> None:
    found = jobs(*kinds(ENCODER, CROSS))
    told = [(job["kind"], job["layer"], job["head"], job["job"], job["score"], job["row"], job["col"]) for job in found]
    assert told == [
        ("encoder", 0, 0, "who", pytest.approx(0.8, abs=1e-3), 2, 0),
        ("encoder", 1, 0, "what", pytest.approx(0.6 + 0.4 / 5, abs=1e-3), 0, 2),
        ("encoder", 1, 1, "whom", pytest.approx(0.7, abs=1e-3), 2, 4),
        ("cross", 0, 1, "what", pytest.approx(0.9 + 0.1 / 5, abs=1e-3), 1, 2),
        ("cross", 1, 0, "whom", pytest.approx(0.75, abs=1e-3), 1, 4),
    ]
    assert found[0]["name"] == {"en": "who: playing → Children", "zh": "谁：playing → Children"}


def test_a_head_that_does_the_same_in_every_sentence_keeps_its_own_job() -> None:
    found = jobs(*kinds(ENCODER, CROSS), taken=[("encoder", 0, 0)])
    assert [job["job"] for job in found if job["kind"] == "encoder"] == ["what", "whom"]


def test_a_weak_look_is_no_job() -> None:
    assert jobs(*kinds({}, {})) == []
    assert len(jobs(*kinds({}, {}), least=0.0)) == 6
