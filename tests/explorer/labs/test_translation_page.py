"""The translation page without a browser: what a visitor's wish becomes, and what the widgets are
told to draw."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from explorer.components.card import parse_equation, parse_line, parse_markdown
from explorer.contract import controls
from explorer.figures import head_jobs
from explorer.figures.attention import Kind
from explorer.figures.maps import mark_changes
from explorer.labs.translation import change, texts, views
from explorer.labs.translation.figures.roles import find_clause, find_jobs
from explorer.page import card_facts
from explorer.panels import translation
from models.explaining.errors import InputError
from models.explaining.shared_records import Familiarity
from models.translation.records import Explanation, Request, Rereading, Step
from tests.explorer.numbers import refused
from tests.explorer.wishes import answered, finished, program_of

SOURCE, TARGET = ("A", "dog", "runs", "."), ("Ein", "Hund", "r", "ennt", ".", "</s>")


def weights(queries: int, keys: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    raw = np.random.default_rng(seed).random((4, 8, queries, keys)) ** 4
    return (raw / raw.sum(-1, keepdims=True)).astype(np.float32)


def explanation(seed: int = 0, loss: float = 0.25, text: str = "Ein Hund rennt.") -> Explanation:
    pieces = np.full(len(TARGET), -loss, np.float32)
    whole = float(pieces.sum())
    return Explanation(
        source=SOURCE,
        source_space=(True, True, True, False),
        target=TARGET,
        target_space=(True, True, True, False, False, False),
        text=text,
        encoder=weights(4, 4, seed),
        decoder=weights(6, 6, seed + 1),
        cross=weights(6, 4, seed + 2),
        log_probabilities=pieces,
        log_probability=whole,
        score=whole / 1.8,
        hypotheses=((text, whole, whole / 1.8, "token"),),
        unknown=0,
        surprising=False,
    )


# ---- what comes back, with a model of a few lines


def translate(requests: list[Request]) -> Iterator[list[Any]]:
    """A generate() that knows one sentence."""
    yield [[Step("Ein", True, "Ein", -0.1)] if request.sentence else [] for request in requests]
    yield [
        (
            explanation()
            if request.sentence
            else InputError("empty", en="The text is empty.", zh="文本为空。")
        )
        for request in requests
    ]


def measure(wishes: list[Rereading]) -> list[Explanation]:
    """A measure() that knows one sentence."""
    return [explanation(5, 0.5) for _ in wishes]


def small() -> Any:
    """The lab's page over the model above."""
    whole = program_of("translation")
    assert whole.change is not None
    return dataclasses.replace(
        whole, explain=translate, change=dataclasses.replace(whole.change, measure=measure)
    )


def changed(**how: Any) -> dict[str, Any]:
    """What all widgets draw of a sentence in the end."""
    return finished(small(), Request("A dog runs.", **how))


def test_a_sentence_grows_with_all_heads() -> None:
    told = answered(small(), controls.spell_query(Request("A dog runs.")))
    assert [bar["grown"]["pieces"] for bar in told["ask"] if bar.get("grown")] == [["Ein"]]
    bar, heads, change = (told[name][-1] for name in ("ask", "attention", "change"))
    assert bar["answer"]["pieces"] == list(TARGET) and bar["answer"][
        "log_probability"
    ] == pytest.approx(-1.5)
    assert [kind["key"] for kind in heads["kinds"]] == ["encoder", "decoder", "cross"] and (
        heads["layers"],
        heads["heads"],
    ) == (4, 8)
    assert [(item["label"], item["inner"]) for item in change["items"]["hidden"]] == [
        *((word, False) for word in SOURCE[:3]),
        (".", True),
    ]
    assert changed(beam=4)["ask"]["answer"]["hypotheses"] and bar["answer"]["hypotheses"] == [], (
        "a beam lists its guesses"
    )


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("scale", "the largest weight of a row"),
        ("mask", "to what comes later"),
        ("position", "encoder head"),
    ],
)
def test_a_part_left_out_is_named_with_what_it_was_for(part: str, says: str) -> None:
    drawn = changed(without=(part,))
    assert says in drawn["change"]["sentence"]["en"]
    masks = [(kind["mask"], kind["own"]) for kind in drawn["attention"]["kinds"]]
    assert masks == [(None, True), (None if part == "mask" else "causal", True), (None, False)]


def test_all_that_is_changed_at_once_stands_in_one_sentence() -> None:
    said = changed(without=("scale", "mask"), silenced=(("cross", 2, 4),), hidden=(1,))["change"][
        "sentence"
    ]
    start = (
        "Without ÷ √d_k and the causal mask and without cross head 3·5 and with ⟦k:“dog” (1)⟧"
        " hidden, the largest weight"
    )
    assert said["en"].startswith(start)
    assert said["zh"].startswith("去掉÷ √d_k、因果掩码并关掉交叉头 3·5并遮住 ⟦k:“dog” (1)⟧ 后，")


def test_a_change_is_not_blamed_on_the_input() -> None:
    unlikely = dataclasses.replace(explanation(), surprising=True)
    asked = Request("A dog runs.")
    assert views.describe_warning(asked, unlikely) == translation.SURPRISING
    changes = [{"without": ("mask",)}, {"silenced": (("cross", 0, 1),)}, {"hidden": (1,)}]
    assert [
        views.describe_warning(dataclasses.replace(asked, **how), unlikely) for how in changes
    ] == [None] * 3  # type: ignore[arg-type]
    rare = views.describe_warning(
        dataclasses.replace(asked, hidden=(1,)), dataclasses.replace(unlikely, unknown=2)
    )
    assert rare is not None and "never saw: 2" in rare["en"]


# ---- in words


def test_the_most_changed_row_is_named() -> None:
    before = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]], np.float32)
    after = np.array([[0.8, 0.2, 0.0], [0.1, 0.1, 0.8]], np.float32)
    assert change.find_strongest_change(before, after) == (1, 1, 2)
    refused("same pieces", change.find_strongest_change, before, after.T)


def test_a_row_without_keys_names_none() -> None:
    before = explanation()
    blind = dataclasses.replace(explanation(1), cross=np.zeros_like(before.cross))
    said = change.describe_change(before, blind, Request("A dog runs.", hidden=(0, 1, 2, 3)))
    assert (
        "has nothing left to look at: its weights sum to 0" in said["en"]
        and "没有可看的词了" in said["zh"]
    )
    assert "turns from" not in said["en"] and "转向" not in said["zh"]


@pytest.mark.parametrize(
    ("nats", "said"),
    [
        (0.02, "1.02"),
        (math.log(4.5), "4.5"),
        (math.log(1234), "1,234"),
        pytest.param(800.0, texts.MILLION, id="million"),
    ],
)
def test_a_difference_in_nats_becomes_times(nats: float, said: object) -> None:
    assert change.format_times(nats) == said


def test_role_brackets_come_from_no_token() -> None:
    hostile = dataclasses.replace(explanation(), source=("⟧⟦q:x", "dog", "runs", "."))
    said = change.describe_change(
        hostile, dataclasses.replace(hostile, cross=weights(6, 4, 9)), Request("x", hidden=(0,))
    )
    assert (
        said["en"].count("⟦")
        == said["en"].count("⟧")
        == said["en"].count("⟦q:") + said["en"].count("⟦k:")
    )


def test_words_that_vanish_and_words_that_come_are_marked() -> None:
    gone, new = mark_changes("Eine Frau hält ein Händchen.", "Eine Frau hält an.")
    assert gone == [["Eine Frau hält", ""], ["ein Händchen", "gone"], [".", ""]]
    assert new == [["Eine Frau hält", ""], ["an", "new"], [".", ""]]


# ---- the card of every lab


def test_an_equation_is_read_into_roles() -> None:
    assert parse_equation("softmax({query:Q}{sup:⊤})") == [
        ["upright", "softmax("],
        ["query", "Q"],
        ["sup", "⊤"],
        ["upright", ")"],
    ]
    refused("role", parse_equation, "{colour:Q}")
    refused("role", parse_equation, "{Q}")


def test_the_model_card_is_data_and_never_markup() -> None:
    made = parse_markdown(
        "# Data\n\nFrom **here** and\n[there](https://example.org/x), not"
        " [this](javascript:alert(1)).\n\n- one\n- <b>two</b>"
    )
    assert [block["kind"] for block in made] == ["h", "p", "li", "li"] and made[3]["runs"] == [
        ["plain", "<b>two</b>", ""]
    ]
    assert [run[2] for run in parse_line("[a](javascript:x) [b](https://b.org)")] == [
        "",
        "https://b.org",
    ]


def test_card_figures_come_from_model_json() -> None:
    known, names = (
        {"parameters": 4516864, "figure": {"value": 36.5}},
        ("parameters", "figure.value", "figure.size", "parameters.size"),
    )
    assert [card_facts.format_entry(known, name) for name in names] == [
        "4,516,864",
        "36.5",
        None,
        None,
    ]
    assert (
        card_facts.format_duration(3120)["en"] == "52 min"
        and card_facts.format_duration(9000)["zh"] == "2.5 小时"
    )


# ---- who did what to whom


def parts(sentence: str) -> tuple[str, ...] | None:
    """Verb, subject and target in words, "" where there is none. A "|" joins the pieces of a word,
    marks stand apart."""
    words = sentence.replace(".", " .").replace(",", " ,").split()
    found = [
        (piece, i == 0 and piece not in {".", ","})
        for word in words
        for i, piece in enumerate(word.split("|"))
    ]
    pieces = [piece for piece, _ in found]
    made = find_clause(pieces, [space for _, space in found])
    return made and tuple(
        " ".join(pieces[i] for i in part) for part in (made.verb, made.subject, made.target)
    )


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Children are playing soccer on a green field.", ("playing", "Children", "soccer")),
        ("Two dogs are running through the snow.", ("running", "dogs", "")),
        ("A little girl in a pink dress is climbing a tree.", ("climbing", "girl", "tree")),
        (
            "A man in a blue shirt is standing on a ladder and cleaning a window.",
            ("cleaning", "man", "window"),
        ),
        ("Three people sit at a table in front of a restaurant.", ("sit", "people", "")),
        ("A small Asian girl runs down a street.", ("runs", "girl", "")),
        ("A person rides a motor|bike down a hill.", ("rides", "person", "motor bike")),
        ("A woman and a boy are quickly eating ice cream.", ("eating", "woman boy", "cream")),
        ("A group of men load|ing cot|ton onto a truck.", ("load ing", "men", "cot ton")),
        ("Children playing.", ("playing", "Children", "")),
        *(
            ("A red building.", None),
            ("In the park a man is running.", None),
            ("A running dog.", None),
            ("é 头 ✓", None),
        ),
        *(
            ("The street is crowded with people.", None),
            ("A man in running shoes.", None),
            ("...", None),
            ("running", None),
        ),
        ("A rider is airborne on a circuit jump.", None),
    ],
)
def test_a_plain_caption_is_understood(sentence: str, expected: object) -> None:
    assert parts(sentence) == expected


def kinds(
    encoder: dict[tuple[int, int, int, int], float], cross: dict[tuple[int, int, int, int], float]
) -> list[Kind]:
    """Two layers of two heads over "Children are playing soccer ." whose rows are even but for the
    weights given."""
    english, german, made = (
        ("Children", "are", "play", "ing", "soccer", "."),
        ("Kinder", "spielen", "Fußball", ".", "</s>"),
        [],
    )
    for key, queries, given, through in (
        ("encoder", english, encoder, None),
        ("cross", german, cross, "encoder"),
    ):
        maps = np.full((2, 2, len(queries), 6), 1 / 6, np.float32)
        for (layer, head, row, column), weight in given.items():
            maps[layer, head, row] = (1 - weight) / 5
            maps[layer, head, row, column] = weight
        space = tuple(piece not in {"ing", "."} for piece in english)
        made.append(
            Kind(key, {"en": key, "zh": key}, maps, queries, english, None, space, through=through)
        )
    return made


ENCODER = {
    (0, 0, 2, 0): 0.9,
    (0, 0, 3, 0): 0.7,
    (1, 0, 0, 2): 0.6,
    (1, 1, 2, 4): 0.8,
    (1, 1, 3, 4): 0.6,
}
CROSS = {(0, 1, 1, 2): 0.9, (1, 0, 1, 4): 0.75}


def test_each_question_finds_its_head() -> None:
    found = find_jobs(*kinds(ENCODER, CROSS))
    told = [
        (job["kind"], job["layer"], job["head"], job["job"], job["score"], job["row"], job["col"])
        for job in found
    ]
    assert told == [
        ("encoder", 0, 0, "who", pytest.approx(0.8, abs=1e-3), 2, 0),
        ("encoder", 1, 0, "what", pytest.approx(0.6 + 0.4 / 5, abs=1e-3), 0, 2),
        ("encoder", 1, 1, "whom", pytest.approx(0.7, abs=1e-3), 2, 4),
        ("cross", 0, 1, "what", pytest.approx(0.9 + 0.1 / 5, abs=1e-3), 1, 2),
        ("cross", 1, 0, "whom", pytest.approx(0.75, abs=1e-3), 1, 4),
    ]
    assert found[0]["name"] == {"en": "who: playing → Children", "zh": "谁：playing → Children"}
    taken = find_jobs(*kinds(ENCODER, CROSS), taken=[("encoder", 0, 0)])
    assert [job["job"] for job in taken if job["kind"] == "encoder"] == ["what", "whom"]
    assert find_jobs(*kinds({}, {})) == [] and len(find_jobs(*kinds({}, {}), least=0.0)) == 6


@pytest.fixture
def kept() -> Any:
    """The stored first example."""
    return views.first()


def test_heads_with_a_job_stand_best_first(
    kept: Any,
) -> None:
    found = views.find_jobs(kept.seen)
    assert [job["score"] for job in found] == sorted((job["score"] for job in found), reverse=True)
    nobody = dataclasses.replace(kept.seen, source=("!",) * len(kept.seen.source))
    assert views.draw_roles(nobody, kept.request, "live") == {}


def test_an_own_sentence_finds_its_head(
    kept: Any,
) -> None:
    heads = [
        (job["layer"], job["head"])
        for job in head_jobs.find_jobs(views.list_attentions(kept.seen)[2])
        if job["job"] == "alignment"
    ]
    layer, head = max(heads)
    assert views.pick(kept.seen, kept.request)["head"] == f"{layer + 1}.{head + 1}"
    looked = [kept.seen.source[key] for key in kept.seen.cross[layer, head].argmax(1)]
    assert {("Kinder", "Children"), ("spielen", "playing"), ("Fußball", "soccer")} <= {
        *zip(kept.seen.target, looked, strict=True)
    }


def test_each_word_of_the_translation_says_what_a_change_cost_it(kept: Any) -> None:
    halved = dataclasses.replace(
        kept.seen, log_probabilities=np.log(np.full(len(kept.seen.target), 0.5, np.float32))
    )
    words = change.list_words(kept.seen, halved)
    assert [word for word, _, _ in words[:2]] == ["Kinder", "spielen"] and words[0][
        2
    ] == pytest.approx(0.5)
    split = dataclasses.replace(
        kept.seen, target=("Spiel", "platz", "."), target_space=(False, False, False)
    )
    halves = dataclasses.replace(
        split, log_probabilities=np.log(np.array([0.5, 0.5, 0.9], np.float32))
    )
    assert [(word, round(p, 2)) for word, p, _ in change.list_words(halves, halves)] == [
        ("Spielplatz", 0.25),
        (".", 0.9),
    ]


# ---- sentences unlike those of training ----


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), {"en": "5 of 11 pairs", "zh": "11 对相邻词中，有 5 对"}),
        (("please",), {"en": "“please” and 5 of 11 pairs", "zh": "“please”和 11 对"}),
        (("a", "b", "c", "d", "e"), {"en": "“d”, 1 more word and", "zh": "“d”等 5 个词和"}),
        (("a", "b", "c", "d", "e", "f"), {"en": "“d”, 2 more words and", "zh": "“d”等 6 个词和"}),
        (("x" * 99,), {"en": "x…”", "zh": "x…”"}),
    ],
)
def test_a_warning_names_rare_words(words: tuple[str, ...], named: dict[str, str]) -> None:
    found = translation.describe_unfamiliar(Familiarity(4, words, 5, 11, 1.0, True))
    assert all(part in found[language] for language, part in named.items())
    assert "at most 3 times" in found["en"] and "最多出现过 3 次" in found["zh"]
    assert "{" not in found["en"] + found["zh"]


def test_only_an_unfamiliar_sentence_is_warned_of() -> None:
    odd = Familiarity(4, ("please",), 5, 11, 1.0, True)
    seen = dataclasses.replace(explanation(), familiarity=odd)
    assert "please" in translation.describe_warning(None, seen)["en"]
    known = dataclasses.replace(odd, is_unfamiliar=False)
    assert translation.describe_warning(None, dataclasses.replace(seen, familiarity=known)) is None
