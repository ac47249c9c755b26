"""The translation page without a browser: what a visitor's wish becomes, what the widgets and the folded panels are told to draw."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from explorer import controls
from explorer.engine import Engine
from explorer.figures import attention
from explorer.figures import positions as positions_drawn
from explorer.figures import training as training_drawn
from explorer.figures.attention import Kind
from explorer.figures.maps import marked
from explorer.figures.roles import clause, jobs
from explorer.labs import about
from explorer.labs.translation import page, texts, views
from explorer.labs.translation.deeper import beam, forced, paths, positions, training
from explorer.widgets.card import blocks, runs, terms
from explorer.widgets.folded import Question
from models.encoder import Config
from models.encoder_decoder import Transformer
from models.errors import InputError
from models.layers.dropout import Dropout
from models.layers.loss import smoothed_loss
from models.training import Schedule
from models.translation.forced_records import Reading
from models.translation.path_records import NETWORKS, PathsRequest, Tower, Towers
from models.translation.position_records import MAX_SEED, Positions, TwoOrders
from models.translation.records import EXAMPLES, Again, Explanation, Request, Step
from models.translation.search_records import Search, Tree
from tests.explorer.numbers import refused
from tests.explorer.wishes import answered, finished, opened

SOURCE, TARGET = ("A", "dog", "runs", "."), ("Ein", "Hund", "r", "ennt", ".", "</s>")
HOSTILE = ("<img src=x onerror=alert(1)>", "</script>", "{size}", "⟦q:x⟧")


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
        hypotheses=((text, whole, whole / 1.8),),
        unknown=0,
        surprising=False,
    )


# ---- what comes back, with a model of a few lines --------------------------------------------------------------------------------------


def translate(requests: list[Request]) -> Iterator[list[Any]]:
    """A generate() that knows one sentence."""
    yield [[Step("Ein", True, "Ein", -0.1)] if request.sentence else [] for request in requests]
    yield [explanation() if request.sentence else InputError("empty", en="The text is empty.", zh="文本为空。") for request in requests]


def measure(wishes: list[Again]) -> list[Explanation]:
    """A measure() that knows one sentence."""
    return [explanation(5, 0.5) for _ in wishes]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is replaced by the one above."""
    monkeypatch.setattr(page, "GENERATE", translate)
    monkeypatch.setattr(page, "MEASURE", measure)


def changed(**how: Any) -> dict[str, Any]:
    """What all widgets draw of a sentence in the end."""
    return finished(page.program(), Request("A dog runs.", **how))


@pytest.mark.usefixtures("small")
def test_a_sentence_grows_and_ends_with_all_heads_and_words_that_may_be_hidden() -> None:
    told = answered(page.program(), controls.query(Request("A dog runs.")))
    assert [bar["grown"]["pieces"] for bar in told["ask"] if bar.get("grown")] == [["Ein"]]
    bar, heads, change = (told[name][-1] for name in ("ask", "attention", "change"))
    assert bar["answer"]["pieces"] == list(TARGET) and bar["answer"]["log_probability"] == pytest.approx(-1.5)
    assert [kind["key"] for kind in heads["kinds"]] == ["encoder", "decoder", "cross"] and (heads["layers"], heads["heads"]) == (4, 8)
    assert [(item["label"], item["inner"]) for item in change["items"]["hidden"]] == [*((word, False) for word in SOURCE[:3]), (".", True)]
    assert changed(beam=4)["ask"]["answer"]["hypotheses"] and bar["answer"]["hypotheses"] == [], "a beam lists its guesses"


@pytest.mark.usefixtures("small")
def test_a_silenced_head_gives_before_after_and_one_number() -> None:
    drawn = changed(silenced=(("cross", 2, 4),))
    change = drawn["change"]
    assert (change["number"]["before"], change["number"]["after"]) == (pytest.approx(-1.5), pytest.approx(-3.0))
    assert change["texts"] == [[["Ein Hund rennt.", ""]], [["Ein Hund rennt.", ""]]]
    assert "cross head 3·5" in change["sentence"]["en"] and "4.5 times less likely" in change["sentence"]["en"]
    assert "交叉头 3·5" in change["sentence"]["zh"] and drawn["attention"]["silenced"] == [["cross", 2, 4]]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("part", "says"), [("scale", "the largest weight of a row"), ("mask", "to what comes later"), ("position", "encoder head")]
)
def test_a_part_left_out_is_named_with_what_it_was_for(part: str, says: str) -> None:
    drawn = changed(without=(part,))
    assert says in drawn["change"]["sentence"]["en"]
    masks = [(kind["mask"], kind["own"]) for kind in drawn["attention"]["kinds"]]
    assert masks == [(None, True), (None if part == "mask" else "causal", True), (None, False)]


@pytest.mark.usefixtures("small")
def test_all_that_is_changed_at_once_stands_in_one_sentence() -> None:
    said = changed(without=("scale", "mask"), silenced=(("cross", 2, 4),), hidden=(1,))["change"]["sentence"]
    start = "Without ÷ √d_k and the causal mask and without cross head 3·5 and with ⟦k:“dog” (1)⟧ hidden, the largest weight"
    assert said["en"].startswith(start)
    assert said["zh"].startswith("去掉÷ √d_k、因果掩码并关掉交叉头 3·5并遮住 ⟦k:“dog” (1)⟧ 后，")


# ---- in words --------------------------------------------------------------------------------------------------------------------------


def test_the_row_that_changes_most_is_named_with_its_strongest_keys() -> None:
    before = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]], np.float32)
    after = np.array([[0.8, 0.2, 0.0], [0.1, 0.1, 0.8]], np.float32)
    assert views.strongest_change(before, after) == (1, 1, 2)
    refused("same pieces", views.strongest_change, before, after.T)


@pytest.mark.parametrize(
    ("nats", "said"), [(0.02, "1.02"), (math.log(4.5), "4.5"), (math.log(1234), "1,234"), pytest.param(800.0, texts.MILLION, id="million")]
)
def test_a_difference_in_nats_becomes_times(nats: float, said: object) -> None:
    assert views.times(nats) == said


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
    assert "2" in views.warning(EXAMPLES[0], odd)["en"]
    assert views.warning(EXAMPLES[0], dataclasses.replace(odd, unknown=0)) == texts.SURPRISING
    assert views.warning(EXAMPLES[0], explanation()) is None


# ---- the card of every lab -------------------------------------------------------------------------------------------------------------


def test_an_equation_is_read_into_roles() -> None:
    assert terms("softmax({query:Q}{sup:⊤})") == [["upright", "softmax("], ["query", "Q"], ["sup", "⊤"], ["upright", ")"]]
    refused("role", terms, "{colour:Q}")
    refused("role", terms, "{Q}")


def test_the_model_card_is_data_and_never_markup() -> None:
    made = blocks("# Data\n\nFrom **here** and\n[there](https://example.org/x), not [this](javascript:alert(1)).\n\n- one\n- <b>two</b>")
    assert [block["kind"] for block in made] == ["h", "p", "li", "li"] and made[3]["runs"] == [["plain", "<b>two</b>", ""]]
    assert [run[2] for run in runs("[a](javascript:x) [b](https://b.org)")] == ["", "https://b.org"]


def test_the_figures_of_the_model_card_come_from_model_json_and_times_read_as_people_say_them() -> None:
    known, names = {"parameters": 4516864, "figure": {"value": 36.5}}, ("parameters", "figure.value", "figure.size", "parameters.size")
    assert [about.entry(known, name) for name in names] == ["4,516,864", "36.5", None, None]
    assert about.duration(3120)["en"] == "52 min" and about.duration(9000)["zh"] == "2.5 小时"


# ---- who did what to whom --------------------------------------------------------------------------------------------------------------


def parts(sentence: str) -> tuple[str, ...] | None:
    """Verb, subject and target in words, "" where there is none. A "|" joins the pieces of a word, marks stand apart."""
    words = sentence.replace(".", " .").replace(",", " ,").split()
    found = [(piece, i == 0 and piece not in {".", ","}) for word in words for i, piece in enumerate(word.split("|"))]
    pieces = [piece for piece, _ in found]
    made = clause(pieces, [space for _, space in found])
    return made and tuple(" ".join(pieces[i] for i in part) for part in (made.verb, made.subject, made.target))


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
        *(("A red building.", None), ("In the park a man is running.", None), ("A running dog.", None), ("é 头 ✓", None)),
        *(("The street is crowded with people.", None), ("A man in running shoes.", None), ("...", None), ("running", None)),
        ("A rider is airborne on a circuit jump.", None),
    ],
)
def test_a_plain_caption_is_understood_and_where_no_verb_is_found_nothing_is_said(sentence: str, expected: object) -> None:
    assert parts(sentence) == expected


def kinds(encoder: dict[tuple[int, int, int, int], float], cross: dict[tuple[int, int, int, int], float]) -> list[Kind]:
    """Two layers of two heads over "Children are playing soccer ." whose rows are even but for the weights given."""
    english, german, made = ("Children", "are", "play", "ing", "soccer", "."), ("Kinder", "spielen", "Fußball", ".", "</s>"), []
    for key, queries, given, through in (("encoder", english, encoder, None), ("cross", german, cross, "encoder")):
        maps = np.full((2, 2, len(queries), 6), 1 / 6, np.float32)
        for (layer, head, row, column), weight in given.items():
            maps[layer, head, row] = (1 - weight) / 5
            maps[layer, head, row, column] = weight
        space = tuple(piece not in {"ing", "."} for piece in english)
        made.append(Kind(key, {"en": key, "zh": key}, maps, queries, english, None, space, through=through))
    return made


ENCODER = {(0, 0, 2, 0): 0.9, (0, 0, 3, 0): 0.7, (1, 0, 0, 2): 0.6, (1, 1, 2, 4): 0.8, (1, 1, 3, 4): 0.6}
CROSS = {(0, 1, 1, 2): 0.9, (1, 0, 1, 4): 0.75}


def test_each_question_finds_the_head_that_asks_it_unless_that_does_the_same_in_every_sentence_or_looks_weakly() -> None:
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
    taken = jobs(*kinds(ENCODER, CROSS), taken=[("encoder", 0, 0)])
    assert [job["job"] for job in taken if job["kind"] == "encoder"] == ["what", "whom"]
    assert jobs(*kinds({}, {})) == [] and len(jobs(*kinds({}, {}), least=0.0)) == 6


@pytest.fixture
def kept() -> Any:
    """The stored first example."""
    return views.first()


def test_the_stored_caption_says_who_did_what_to_whom_and_the_guided_step_shows_who(kept: Any) -> None:
    found = views.jobs(kept.seen)
    assert {"who", "what", "whom"} <= {job["job"] for job in found if job["kind"] == "encoder"}
    assert [job["score"] for job in found] == sorted((job["score"] for job in found), reverse=True)
    assert len({(job["kind"], job["layer"], job["head"], job["job"]) for job in found}) == len(found)
    who = next(job for job in found if job["kind"] == "encoder" and job["job"] == "who")
    assert kept.seen.source[who["row"]] == "playing" and kept.seen.source[who["col"]] == "Children"
    step = next(step for step in views.steps() if step.title["en"] == "Several heads, several questions")
    view = {"kind": "encoder", "head": f"{who['layer'] + 1}.{who['head'] + 1}", "row": str(who["row"]), "col": str(who["col"])}
    assert dict(step.view) == view
    rows = views.roles_of(kept.seen, kept.request, "stored")
    assert [str(row[0]["en"]).split("?")[0] for row in rows["table"]["rows"]] == ["who", "did what", "to whom"]
    assert "looks most at Children·0" in rows["sentence"]["en"]
    nobody = dataclasses.replace(kept.seen, source=("!",) * len(kept.seen.source))
    assert views.roles_of(nobody, kept.request, "live") == {}


def test_a_sentence_of_a_visitors_own_is_met_by_a_head_that_aligns_both_languages(kept: Any) -> None:
    best = next(job for job in attention.jobs(views.kinds(kept.seen)[2]) if job["job"] == "alignment")
    assert views.pick(kept.seen, kept.request)["head"] == f"{best['layer'] + 1}.{best['head'] + 1}"


def test_each_word_of_the_translation_says_what_a_change_cost_it(kept: Any) -> None:
    halved = dataclasses.replace(kept.seen, log_probabilities=np.log(np.full(len(kept.seen.target), 0.5, np.float32)))
    words = views.words(kept.seen, halved)
    assert [word for word, _, _ in words[:2]] == ["Kinder", "spielen"] and words[0][2] == pytest.approx(0.5)
    split = dataclasses.replace(kept.seen, target=("Spiel", "platz", "."), target_space=(False, False, False))
    halves = dataclasses.replace(split, log_probabilities=np.log(np.array([0.5, 0.5, 0.9], np.float32)))
    assert [(word, round(p, 2)) for word, p, _ in views.words(halves, halves)] == [("Spielplatz", 0.25), (".", 0.9)]


# ---- panels: the search, the visitor's own German --------------------------------------------------------------------------------------

RUN = "v=1&sentence=A+dog+runs.&beam=3&alpha=1.1&silenced=cross.0.1&hidden=1"
FIRST = EXAMPLES[0].sentence
PATHS = {"pof": "decoder.cross", "player": "3", "pgain": "0.25", "pshift": "20"}


@pytest.mark.parametrize(
    ("panel", "run", "wish", "expected"),
    [
        (beam, "", None, Search(FIRST, 4)),
        (beam, RUN, None, Search("A dog runs.", 3)),  # without its interventions
        (beam, RUN, {"beam": 7, "endless": True}, Search("A dog runs.", 7, True)),
        (beam, RUN, {"beam": 99, "endless": "yes"}, Search("A dog runs.", 3)),
        (beam, RUN, {"beam": True}, Search("A dog runs.", 3)),
        (beam, RUN, [1, 2], Search("A dog runs.", 3)),
        (forced, "", None, Reading(FIRST, forced.FIRST)),
        (forced, "", {"own": True}, Reading(FIRST)),
        (forced, RUN, None, Reading("A dog runs.")),
        (forced, RUN, {"german": "Ein Hund."}, Reading("A dog runs.", "Ein Hund.")),
        (forced, RUN, {"german": ["Ein"]}, Reading("A dog runs.")),
        (paths, "", PATHS, PathsRequest(FIRST, "decoder", 2, "cross", 0.25, 20)),
        (paths, "", {**PATHS, "pgain": "1"}, PathsRequest(FIRST, shift=20)),
        (paths, "", dict.fromkeys(PATHS, "<b>"), PathsRequest(FIRST)),
        (paths, "", {**PATHS, "pgain": 0, "pshift": None}, PathsRequest(FIRST)),
        (paths, "", "x", PathsRequest(FIRST)),
    ],
)
def test_a_wish_becomes_what_a_panel_asks_of_the_run_in_view_and_one_that_is_none_changes_nothing(
    panel: Any, run: str, wish: object, expected: object
) -> None:
    assert panel.wished(page.program().read(run)[0], Question(run, wish)) == expected


def test_an_endless_search_names_its_loop_and_writes_no_missing_number() -> None:
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
    drawn: Any = beam.value(tree, Request("A dog.", 2, 0.9))
    assert drawn["loop"] == [1, 1] and drawn["stop"][-1] is None and drawn["texts"] == {str(n - 1): "Hund ......"}
    assert (drawn["alpha"], drawn["plainBeam"]) == (0.9, 2)
    json.dumps(drawn, allow_nan=False)


def test_all_panels_answer_through_the_engine(engine: Engine) -> None:
    lab = page.program()
    panels = [view.name for view in lab.views if view.look is not None and view.look.event == "ask"]
    assert len(panels) == 8

    def answers(run: str) -> list[Any]:
        return [opened(lab, panel, {"run": run}, engine) for panel in panels]

    for shown in answers("v=1&sentence=A+dog."):
        assert shown["state"] == "shown" and json.dumps(shown, allow_nan=False)
    blank = [each["state"] for each in answers("v=1&sentence=+")]
    always = "what is said of training, or drawn of a list of sentences, is always the same"
    assert blank == [*["refused"] * 5, "shown", "shown", "refused"], always
    assert all("four" in refusal["error"]["en"] for refusal in answers("v=1&sentence=A+dog.&beam=four"))


# ---- panels: word order ----------------------------------------------------------------------------------------------------------------


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
        silence=TwoOrders(np.array([1e-6, 2e-6, 0.0, 3e-6], np.float32), 1.2e-6, "gleich", "gleich"),
        own=table(60, 192),
        textbook=table(32, 128),
    )


@pytest.mark.parametrize(("length", "d"), [(32, 128), (60, 192)])
def test_the_product_of_two_positions_depends_on_their_distance_alone(length: int, d: int) -> None:
    signal = table(length, d)
    similar = positions_drawn.similarity(signal)
    p, q = np.indices((length, length))
    np.testing.assert_allclose(signal @ signal.T / (d / 2), similar[np.abs(p - q)], atol=1e-5)
    assert similar[0] == pytest.approx(1) and similar[1:].max() < 1


def test_wavelengths_grow_from_two_pi() -> None:
    assert positions_drawn.wavelength(0, 128) == positions_drawn.wavelength(1, 128) == pytest.approx(2 * np.pi)
    assert positions_drawn.wavelength(127, 128) == pytest.approx(2 * np.pi * 10_000 ** (126 / 128))


def test_the_panel_says_the_numbers_of_the_run_and_what_a_visitor_typed_is_no_markup_in_a_figure(seen: Positions) -> None:
    value: Any = positions.value(seen)
    moved = value["figures_moved"][0]["figure"]
    for said in moved["sentence"].values():
        assert "1.0" in said and "7.5" in said and "1.2 × 10⁻⁶" in said and HOSTILE[1] in said
        assert not re.search(r"\{(?!size)\w+\}", said)
    rows = value["table"]["rows"]
    assert [(row["cells"][0]["en"], *row["cells"][1:]) for row in rows] == [
        ("with the signal", "2.25", "so", "anders"),
        ("without it", "1.2 × 10⁻⁶", "gleich", "gleich"),
    ]
    assert [row["marks"][3] for row in rows] == ["text other", "text"]
    line = [(piece["text"], piece["index"], piece["role"]) for piece in value["lines"][1]["pieces"]]
    assert line == [(HOSTILE[2], 2, "key"), (HOSTILE[0], 0, "key"), (HOSTILE[1], 1, "key"), (HOSTILE[3], 3, None)]
    assert value["button"]["set"] == {"order": "2"}
    made, bars = json.dumps(moved["figures"]), moved["figures"]["en"]["data"]
    assert "<img" not in made and "</script" not in made and "&lt;img" in made
    assert bars[0]["y"] == [1.0, 2.0, 7.5, 3.0] and bars[1]["y"][2] == positions_drawn.NOTHING, "nothing stands at the end of the axis"


def test_the_textbook_s_size_is_one_switch_away(seen: Positions) -> None:
    found: Any = positions.value(seen)["figures"]
    for name, signal in (("own", seen.own), ("textbook", seen.textbook)):
        first, *_, last = [one["figure"] for one in found if one["when"]["signal"] == name][:3]
        np.testing.assert_allclose(first["figures"]["en"]["data"][0]["z"], signal, atol=1e-4)
        assert len(first["table"]["rows"]) == len(signal) and "data" not in first["figures"]["zh"], "numbers travel once"
        pairs = np.asarray(last["figures"]["en"]["data"][0]["z"])
        assert pairs.shape == (len(signal), len(signal)) and (pairs == pairs.T).all()
        assert name == "textbook" or "4" in first["sentence"]["en"].split("first ")[1]


@pytest.mark.parametrize(
    ("wish", "seed"),
    [
        *(({"order": "7"}, 7), ({"order": "0"}, 1), ({"order": f"{MAX_SEED + 1}"}, 1), ({"order": "x"}, 1)),
        *(({"order": 7}, 1), (None, 1), ([], 1)),
    ],
)
def test_a_made_up_wish_becomes_the_first_order(wish: object, seed: int) -> None:
    wished = positions.wished(EXAMPLES[0], Question("", wish))
    assert (wished.seed, wished.sentence) == (seed, FIRST)


@pytest.mark.parametrize(
    ("number", "text"), [(1.19e-6, "1.2 × 10⁻⁶"), (3e-12, "3.0 × 10⁻¹²"), (0.84, "0.84"), (0.0, "0.00"), (12.345, "12.35")]
)
def test_small_numbers_are_written_as_one_reads_them(number: float, text: str) -> None:
    assert positions.power(number) == text


# ---- panels: residual paths ------------------------------------------------------------------------------------------------------------

PLAIN = PathsRequest("Two dogs.")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ships networks by their names: model.json alone; position_r2 of the n-th ends with 0.9 − n / 10."""
    monkeypatch.setattr(about, "ASSETS", tmp_path)

    def ship(names: Sequence[str], measured: bool = True) -> None:
        for n, name in enumerate(names):
            where = tmp_path / "translation" / name
            where.mkdir(parents=True)
            figure = {"value": 30.0 - n, "split": "test_2016_flickr", "position_r2": [0.95, 0.9 - n / 10]} if measured else None
            (where / "model.json").write_text(json.dumps({"recipe": {"schedule": {"steps": 4000}}, "figure": figure}))

    return ship


def towers(names: Sequence[str]) -> Towers:
    """What networks of two layers might give."""
    chance, was = np.random.default_rng(3), np.array([0.3, 0.2], np.float32)

    def one(n: int, name: str) -> Tower:
        maps = chance.dirichlet(np.ones(3), (2, 3)).astype(np.float32)
        near, read = np.array([0.3, 0.2 - n / 10], np.float32), np.array([0.95, 0.9 - n / 10], np.float32)
        return Tower(name, maps, near, "Zwei Hunde.", was, "Zwei.", 30.0 - n, read, ((1, 1.5), (2, 2.0 + n), (3, 3.0 + n)))

    return Towers(("<img src=x>", "{size}", "dogs"), (True, True, True), tuple(one(n, name) for n, name in enumerate(names)))


@pytest.mark.parametrize("names", [NETWORKS, NETWORKS[:2], NETWORKS[1:3], (NETWORKS[0], NETWORKS[4]), NETWORKS[3:]])
@pytest.mark.parametrize("asked", [PLAIN, PathsRequest("Two dogs.", "decoder", 1, "cross", 0.5, 10)])
def test_the_panel_speaks_of_what_is_shipped_alone(shipped: Any, names: Sequence[str], asked: PathsRequest) -> None:
    shipped(names)
    seen = towers(names)
    value: Any = paths.value(seen, asked)
    figures = [one["figure"] for part in ("figures", "figures_more") for one in value[part]]
    text = json.dumps([value, figures], ensure_ascii=False)
    assert all((paths.NAMES[name]["en"] + " " in text or paths.NAMES[name]["en"] + '"' in text) for name in names)
    assert len(figures) == 3 + ({paths.WITH, paths.LEARNED} <= set(names))
    drawn, columns = figures[0]["figures"]["en"], min(len(names), paths.MOST)
    assert len(drawn["data"]) == 2 * columns  # the highest layer first, so that the lowest stands at the foot
    np.testing.assert_allclose(drawn["data"][0]["z"], seen.towers[0].maps[1], atol=1e-5)
    assert drawn["layout"]["yaxis"]["domain"][0] > drawn["layout"][f"yaxis{columns + 1}"]["domain"][1]
    rows = [[f"{30 - n:.1f}", *(["Zwei."] if asked != PLAIN else []), "Zwei Hunde."] for n in range(len(names))]
    assert [row["cells"][1:] for row in value["table"]["rows"]] == rows
    said = "gain 0.5 around the cross-attention of layer 2; positions from 10"
    assert (said in figures[0]["units"]["en"]) == (asked != PLAIN) and "4,000" in value["notes_after"][0]["en"]


def test_its_sentences_say_the_numbers(shipped: Any) -> None:
    shipped(NETWORKS)
    value: Any = paths.value(towers(NETWORKS), PLAIN)
    maps, read, near, joined = (one["figure"]["sentence"]["en"] for part in ("figures", "figures_more") for one in value[part])
    assert "with paths 0.30 → 0.20; without paths 0.30 → 0.10, as trained 0.30 → 0.20" in maps
    assert "layer 2: with paths 0.90; without paths 0.80; " in read
    assert "nearest with paths, 0.20, and least near with paths, learned positions, −0.20" in near
    assert "1, 2, 3 in a row a piece costs: sinusoids 1.50, 2.00, 3.00; learned positions 1.50, 6.00, 7.00." in joined


def test_a_step_asks_for_it_where_two_networks_can_be_compared(shipped: Any) -> None:
    keys = {"What was this head for?": False, "What do residual paths carry?": True}

    def asks() -> list[bool]:
        steps = views.steps()
        assert len(steps) == 8
        return [keys[step.asks["en"]] for step in steps if step.asks["en"] in keys]

    shipped(NETWORKS[:1])
    assert paths.there() == () and asks() == [False]
    shipped(NETWORKS[1:2], measured=False)
    assert paths.there() == NETWORKS[:2] and asks() == [False]
    shipped(NETWORKS[2:4])
    assert asks() == [True]
    said = next(step.say for step in views.steps() if keys.get(step.asks["en"]))
    assert "with paths 0.90; without, positions before every layer 0.90" in said["en"] and max(map(len, said.values())) <= 320


# ---- panels: training, as model.json and the log say -----------------------------------------------------------------------------------

KNOWN, LOG = about.facts("translation"), about.log("translation")
SCHEDULE = KNOWN["recipe"]["schedule"]


def test_the_rate_is_that_of_the_training_loop_and_of_its_log() -> None:
    schedule = Schedule(**SCHEDULE)
    for step in (1, 2, 599, 600, 601, 5000, schedule.steps - schedule.cooldown, schedule.steps - 1, schedule.steps):
        assert training.rate(SCHEDULE, step) == pytest.approx(schedule.rate(step), rel=1e-12)
    for entry in LOG:
        assert training.rate(SCHEDULE, entry["step"]) == pytest.approx(entry["rate"], rel=1e-9)
    assert training.averaged(SCHEDULE) == list(range(7050, 8401, 150)), "the last checkpoints that were kept"
    assert training.averaged({"every": 150, "steps": 400, "average": 2}) == [300, 400]
    assert training.operations(KNOWN) == 6 * KNOWN["parameters"] * KNOWN["recipe"]["batch"] * SCHEDULE["steps"]


def test_what_is_asked_for_is_what_the_loss_is_measured_against() -> None:
    torch.manual_seed(0)
    known = {"recipe": {"smoothing": 0.1}, "config": {"vocabulary": 30}}
    right, each = training.smoothed(known)
    hidden, readout, target = torch.randn(1, 8), torch.randn(30, 8), torch.full((30,), each)
    target[7] = right
    target[[0, 2]] = 0
    assert float(target.sum()) == pytest.approx(1)
    expected = -(target * (hidden @ readout.T)[0].log_softmax(0)).sum()
    assert float(smoothed_loss(hidden, readout, torch.tensor([7]), 0.1, never=(0, 2))) == pytest.approx(float(expected), abs=1e-4)
    assert training.floor(known) == pytest.approx(-float((target * target.clamp_min(1e-30).log()).sum()), abs=1e-6)
    assert all(entry["loss"] > training.floor(KNOWN) for entry in LOG)


def test_dropout_stands_at_as_many_places_as_are_said() -> None:
    model, places = Transformer(Config(**KNOWN["config"])), []
    for module in model.modules():
        if isinstance(module, Dropout):
            module.register_forward_hook(lambda *_: places.append(1))
    tokens = torch.zeros(1, 2, dtype=torch.long)
    model(tokens, tokens, torch.ones_like(tokens, dtype=torch.bool))
    assert training.dropouts(KNOWN) == len(places)


def test_the_published_rows_are_those_of_the_paper_dashed_outlines_beside_ours() -> None:
    rows = [(24.6, 39.92, 2.3e19), (25.16, 40.46, 9.6e18), (27.3, 38.1, 3.3e18), (28.4, 41.8, 2.3e19)]
    assert [(row.german, row.french, row.german_cost) for row in training.TABLE] == rows
    systems = [training_drawn.System("old", 20, 1e19), training_drawn.System("ours", 30, 1e14, ours=True)]
    made = training_drawn.compared(systems, ("a", "b"))
    assert [bar["marker"]["color"] for bar in made["data"]] == [[training_drawn.CLEAR, training_drawn.OURS]] * 2
    assert [(shape["xref"], shape["x1"]) for shape in made["layout"]["shapes"]] == [("x", 20), ("x2", 1e19)]
    assert all("dash" in shape["line"] for shape in made["layout"]["shapes"])
    refused("0 systems", training_drawn.compared, [], ("a", "b"))


def test_everything_is_said_in_both_languages_with_the_numbers_of_model_json() -> None:
    value: Any = training.value(KNOWN, LOG)
    figures = [each["figure"] for each in value["figures"]]
    said = {**value, "figures": [{**each, "figures": None} for each in figures]}
    assert not re.search(r"\{[a-z_]+\}", json.dumps(said, ensure_ascii=False))
    for language, word in (("en", "Transformer"), ("zh", "运算")):
        shares, rates, target = (each["sentence"][language] for each in figures[:3])
        assert word in shares and f"{SCHEDULE['warmup']:,}" in rates and "0.9000" in target
        figure = figures[0]["figures"][language]
        assert [*figure["data"][0]["x"]] == [*(row.german for row in training.TABLE), None], "another test's score is no bar among these"
        (words,) = figure["layout"]["annotations"]
        assert words["text"].startswith(f"{KNOWN['figure']['value']:.1f}") and "Multi30k" in words["text"]
        assert "newstest2014" in training.COST_AXES[language][0]
    rows = value["table"]["rows"]
    assert [row["ours"] for row in rows] == [False] * 4 + [True] and rows[-1]["cells"][1] == f"{KNOWN['figure']['value']:.1f}"
    assert "no rival" in value["notes"][0]["en"]
    bare: Any = training.value(KNOWN, [])["figures"][1]["figure"]["figures"]
    assert bare["en"]["data"][1]["x"] == [], "without a log the rate is drawn all the same"
