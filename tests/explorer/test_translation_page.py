"""The translation page without a browser: what a visitor's wish becomes, and what the widgets are told to draw."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from explorer import controls
from explorer.figures import attention
from explorer.figures.maps import marked
from explorer.labs import about
from explorer.labs.translation import page, texts, views
from explorer.runs import Stored
from explorer.widgets.card import blocks, runs, terms
from models.errors import InputError
from models.translation.records import EXAMPLES, Again, Explanation, Request, Step
from tests.explorer.wishes import answered, finished

SOURCE, TARGET = ("A", "dog", "runs", "."), ("Ein", "Hund", "r", "ennt", ".", "</s>")


def weights(queries: int, keys: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    raw = np.random.default_rng(seed).random((4, 8, queries, keys)) ** 4
    return (raw / raw.sum(-1, keepdims=True)).astype(np.float32)


def explanation(seed: int = 0, loss: float = 0.25, text: str = "Ein Hund rennt.") -> Explanation:
    pieces = np.full(len(TARGET), -loss, np.float32)
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
        log_probability=float(pieces.sum()),
        score=float(pieces.sum()) / 1.8,
        hypotheses=((text, float(pieces.sum()), float(pieces.sum()) / 1.8),),
        unknown=0,
        surprising=False,
    )


# ---- what comes back, with a model of a few lines ----------------------------------------------------------------------------------


def translate(requests: list[Request]) -> Iterator[list[Any]]:
    """A generate() that knows one sentence."""
    yield [[Step("Ein", True, "Ein", -0.1)] if request.sentence else [] for request in requests]
    yield [explanation() if request.sentence else InputError("empty", en="The text is empty.", zh="文本为空。") for request in requests]


def measure(wishes: list[Again]) -> list[Explanation | InputError]:
    """A measure() that knows one sentence, of three words at most."""
    no_word = InputError("hidden", en="No such word.", zh="没有这个词。")
    return [no_word if 99 in wish.request.hidden else explanation(5, 0.5) for wish in wishes]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is replaced by the one above."""
    monkeypatch.setattr(page, "GENERATE", translate)
    monkeypatch.setattr(page, "MEASURE", measure)


def test_a_sentence_grows_and_ends_with_all_heads_and_words_that_may_be_hidden() -> None:
    told = answered(page.program(), controls.query(Request("A dog runs.")))
    assert [bar["grown"]["pieces"] for bar in told["ask"] if bar.get("grown")] == [["Ein"]]
    bar, heads, change = (told[name][-1] for name in ("ask", "attention", "change"))
    assert bar["answer"]["pieces"] == list(TARGET) and bar["answer"]["log_probability"] == pytest.approx(-1.5)
    assert [kind["key"] for kind in heads["kinds"]] == ["encoder", "decoder", "cross"]
    assert (heads["layers"], heads["heads"]) == (4, 8)
    assert [(item["label"], item["inner"]) for item in change["items"]["hidden"]] == [*((word, False) for word in SOURCE[:3]), (".", True)]


def test_a_silenced_head_gives_before_after_and_one_number() -> None:
    drawn = finished(page.program(), Request("A dog runs.", silenced=(("cross", 2, 4),)))
    change = drawn["change"]
    assert (change["number"]["before"], change["number"]["after"]) == (pytest.approx(-1.5), pytest.approx(-3.0))
    assert change["texts"] == [[["Ein Hund rennt.", ""]], [["Ein Hund rennt.", ""]]]
    assert "cross head 3·5" in change["sentence"]["en"]
    assert "4.5 times less likely" in change["sentence"]["en"]
    assert "交叉头 3·5" in change["sentence"]["zh"]
    assert drawn["attention"]["silenced"] == [["cross", 2, 4]]


@pytest.mark.parametrize(
    ("part", "says"), [("scale", "the largest weight of a row"), ("mask", "to what comes later"), ("position", "encoder head")]
)
def test_a_part_left_out_is_named_with_what_it_was_for(part: str, says: str) -> None:
    drawn = finished(page.program(), Request("A dog runs.", without=(part,)))
    assert says in drawn["change"]["sentence"]["en"]
    assert [kind["mask"] for kind in drawn["attention"]["kinds"]] == [None, None if part == "mask" else "causal", None]
    assert [kind["own"] for kind in drawn["attention"]["kinds"]] == [True, True, False]


def test_all_that_is_changed_at_once_stands_in_one_sentence() -> None:
    change = finished(page.program(), Request("A dog runs.", without=("scale", "mask"), silenced=(("cross", 2, 4),), hidden=(1,)))["change"]
    start = "Without ÷ √d_k and the causal mask and without cross head 3·5 and with ⟦k:“dog” (1)⟧ hidden, the largest weight"
    assert change["sentence"]["en"].startswith(start)
    assert change["sentence"]["zh"].startswith("去掉÷ √d_k、因果掩码并关掉交叉头 3·5并遮住 ⟦k:“dog” (1)⟧ 后，")


def test_a_beam_lists_its_guesses_and_greedy_does_not() -> None:
    assert finished(page.program(), Request("A dog runs.", 4))["ask"]["answer"]["hypotheses"]
    assert finished(page.program(), Request("A dog runs."))["ask"]["answer"]["hypotheses"] == []


# ---- in words ----------------------------------------------------------------------------------------------------------------------


def test_the_row_that_changes_most_is_named_with_its_strongest_keys() -> None:
    before = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]], np.float32)
    after = np.array([[0.8, 0.2, 0.0], [0.1, 0.1, 0.8]], np.float32)
    assert views.strongest_change(before, after) == (1, 1, 2)
    with pytest.raises(ValueError, match="same pieces"):
        views.strongest_change(before, after.T)


@pytest.mark.parametrize(("nats", "said"), [(0.02, "1.02"), (math.log(4.5), "4.5"), (math.log(1234), "1,234")])
def test_a_difference_in_nats_becomes_times(nats: float, said: str) -> None:
    assert views.times(nats) == said


def test_a_difference_without_measure_is_called_more_than_a_million() -> None:
    assert views.times(800.0) == texts.MILLION


def test_the_brackets_that_colour_a_role_cannot_come_from_a_token() -> None:
    hostile = dataclasses.replace(explanation(), source=("⟧⟦q:x", "dog", "runs", "."))
    said = views.sentence(hostile, dataclasses.replace(hostile, cross=weights(6, 4, 9)), Request("x", hidden=(0,)))
    assert said["en"].count("⟦") == said["en"].count("⟧") == said["en"].count("⟦q:") + said["en"].count("⟦k:")


def test_words_that_vanish_and_words_that_come_are_marked() -> None:
    gone, new = marked("Eine Frau hält ein Händchen.", "Eine Frau hält an.")
    assert gone == [["Eine Frau hält", ""], ["ein Händchen", "gone"], [".", ""]]
    assert new == [["Eine Frau hält", ""], ["an", "new"], [".", ""]]


def test_rare_pieces_are_reported_before_surprise() -> None:
    odd = dataclasses.replace(explanation(), unknown=2, surprising=True)
    said = views.warning(EXAMPLES[0], odd)
    assert said is not None
    assert "2" in said["en"]
    assert views.warning(EXAMPLES[0], dataclasses.replace(odd, unknown=0)) == texts.SURPRISING
    assert views.warning(EXAMPLES[0], explanation()) is None


# ---- card --------------------------------------------------------------------------------------------------------------------------


def test_an_equation_is_read_into_roles() -> None:
    assert terms("softmax({query:Q}{sup:⊤})") == [["upright", "softmax("], ["query", "Q"], ["sup", "⊤"], ["upright", ")"]]
    for wrong in ("{colour:Q}", "{Q}"):
        with pytest.raises(ValueError, match="role"):
            terms(wrong)


def test_the_model_card_is_data_and_never_markup() -> None:
    made = blocks("# Data\n\nFrom **here** and\n[there](https://example.org/x), not [this](javascript:alert(1)).\n\n- one\n- <b>two</b>")
    assert [block["kind"] for block in made] == ["h", "p", "li", "li"]
    assert made[3]["runs"] == [["plain", "<b>two</b>", ""]]
    assert [run[2] for run in runs("[a](javascript:x) [b](https://b.org)")] == ["", "https://b.org"]


def test_the_figures_of_the_model_card_come_from_model_json() -> None:
    known = {"parameters": 4516864, "figure": {"value": 36.5}}
    assert about.entry(known, "parameters") == "4,516,864"
    assert about.entry(known, "figure.value") == "36.5"
    assert about.entry(known, "figure.size") is None
    assert about.entry(known, "parameters.size") is None


def test_a_training_time_reads_as_people_say_it() -> None:
    assert about.duration(3120)["en"] == "52 min"
    assert about.duration(9000)["zh"] == "2.5 小时"


def test_the_stored_caption_says_who_did_what_to_whom_and_the_guided_step_shows_who() -> None:
    start = kept()
    found = views.jobs(start.seen)
    assert {"who", "what", "whom"} <= {job["job"] for job in found if job["kind"] == "encoder"}
    assert [job["score"] for job in found] == sorted((job["score"] for job in found), reverse=True)
    assert len({(job["kind"], job["layer"], job["head"], job["job"]) for job in found}) == len(found)
    who = next(job for job in found if job["kind"] == "encoder" and job["job"] == "who")
    assert start.seen.source[who["row"]] == "playing" and start.seen.source[who["col"]] == "Children"
    step = next(step for step in views.steps() if step.title["en"] == "Several heads, several questions")
    assert dict(step.view) == {
        "kind": "encoder",
        "head": f"{who['layer'] + 1}.{who['head'] + 1}",
        "row": str(who["row"]),
        "col": str(who["col"]),
    }


def kept() -> Stored[Request, Explanation]:
    found = views.first()
    assert found is not None
    return found


def test_a_sentence_of_a_visitors_own_is_met_by_a_head_that_aligns_both_languages() -> None:
    aligned = attention.jobs(views.kinds(kept().seen)[2])
    best = next(job for job in aligned if job["job"] == "alignment")
    looked = views.pick(kept().seen, kept().request)
    assert looked["head"] == f"{int(str(best['layer'])) + 1}.{int(str(best['head'])) + 1}"


def test_who_did_what_to_whom_stand_side_by_side() -> None:
    drawn = views.roles_of(kept().seen, kept().request, "stored")
    rows = drawn["table"]["rows"]  # type: ignore[index]
    assert [str(row[0]["en"]).split("?")[0] for row in rows] == ["who", "did what", "to whom"]
    assert "looks most at Children·0" in drawn["sentence"]["en"]  # type: ignore[index]
    nobody = dataclasses.replace(kept().seen, source=("!",) * len(kept().seen.source))
    assert views.roles_of(nobody, kept().request, "live") == {}


def test_each_word_of_the_translation_says_what_a_change_cost_it() -> None:
    seen = kept().seen
    forced = dataclasses.replace(seen, log_probabilities=np.log(np.full(len(seen.target), 0.5, np.float32)))
    words = views.words(seen, forced)
    assert [word for word, _, _ in words[:2]] == ["Kinder", "spielen"]
    assert words[0][2] == pytest.approx(0.5)
    split = dataclasses.replace(seen, target=("Spiel", "platz", "."), target_space=(False, False, False))
    halves = dataclasses.replace(split, log_probabilities=np.log(np.array([0.5, 0.5, 0.9], np.float32)))
    assert [(word, round(p, 2)) for word, p, _ in views.words(halves, halves)] == [("Spielplatz", 0.25), (".", 0.9)]
