"""The page of the Universal Transformer without a browser: what a wish becomes, what the widgets are told, who is compared."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from explorer.engine import Engine
from explorer.figures.lengths import Run as Line
from explorer.figures.lengths import lengths
from explorer.labs import pondering
from explorer.labs.about import ASSETS
from explorer.labs.pondering import query, spelled
from explorer.labs.runs import Run, Stored
from explorer.labs.universal_transformer import about, page, texts, views
from explorer.widgets import asker
from explorer.widgets.bertviz import Look
from models.errors import InputError
from models.universal_transformer.records import EXAMPLES, Beside, Comparison, Explanation, Request

T = TypeVar("T")
STORY = ("john put the key in the box", "mary took the box", "mary went to the garden", "where is the key")
LIVE = Run("live", 12.0, "cpu")


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in a thread of its own: where a browser is driven, this thread has a running loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def explanation(answer: str = "garden", taken: tuple[int, ...] = (2, 1, 1, 3), task: str = "stories") -> Explanation:
    """A run over four positions, the last of which is the question and looks at its first fact at step 2, head 1."""
    count, most = len(taken), max(taken)
    steps = np.array(taken)
    alive = np.arange(most)[:, None] < steps
    halting = np.where(alive, np.where(np.arange(1, most + 1)[:, None] == steps, 0.9, 0.2), 0).astype(np.float32)
    before = np.where(np.arange(1, most + 1)[:, None] < steps, halting, 0)
    remainder = (1 - before.sum(0)).astype(np.float32)
    weights = np.where(np.arange(1, most + 1)[:, None] == steps, remainder, before).astype(np.float32)
    attention = np.full((most, 2, count, count), 1 / count, np.float32)
    attention[min(1, most - 1), 0, 3] = (0.7, 0.1, 0.1, 0.1)
    return Explanation(
        positions=STORY if task == "stories" else ("a", "=", "_", "_"),
        wanted=(3,) if task == "stories" else (2, 3),
        answer=answer,
        expected="garden",
        probability=np.array([0.98], np.float32),
        facts=(0, 1, 2) if task == "stories" else (),
        steps=steps,
        remainder=remainder,
        halting=halting,
        weights=weights,
        totals=np.minimum(np.where(alive, halting.cumsum(0), 1), 1).astype(np.float32),
        distance=np.zeros((most, count), np.float32),
        attention=attention,
        stopped=("office", "garden", "garden")[:most],
        threshold=0.99,
        limit=8,
        ponder=2.3,
        ponder_of_answer=3.6,
        difficulty=3,
        beside=(Beside("ordinary", "office", False), Beside("fixed", "nobody", False)),
    )


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", EXAMPLES, ids=lambda one: f"{one.task} {one.text[:12]}")
def test_what_the_browser_sends_becomes_the_same_request(request_: Request) -> None:
    assert pondering.asked(Request, {"request": spelled(request_)}) == (request_, None)
    assert pondering.linked(page.subject(), {"query": query(request_)}) == (request_, None)


@pytest.mark.parametrize(
    "broken", [None, {}, {"request": None}, {"request": {"task": "stories"}}, {"request": {**spelled(Request()), "question": 3}}]
)
def test_a_made_up_request_is_refused_in_one_sentence(broken: object) -> None:
    with pytest.raises(InputError) as refusal:
        pondering.asked(Request, broken)
    assert refusal.value.code == "malformed"


def test_every_word_of_the_stories_is_on_a_chip() -> None:
    from models.universal_transformer.stories import WORDS

    chips = {part for group in views.vocabulary() for word in group.words for part in (*word.split(), *group.before.split())}
    assert chips == {word for word in WORDS if word and word != "nobody"}


def test_every_task_may_be_asked_for() -> None:
    assert [task.key for task in views.tasks()] == ["stories", "addition", "reverse", "copy"]
    assert {task.keyboard for task in views.tasks()} == {"story", "sum", "letters"}
    assert {example["task"] for example in views.examples()} == {"stories", "addition", "reverse", "copy"}


@pytest.mark.parametrize(
    ("request_", "beyond"),
    [
        (Request("addition", "123456789+1", ""), False),
        (Request("addition", "1234567890 + 1=", ""), True),
        (Request("addition", "0000000001+2", ""), False),
        (Request("reverse", "a" * 20, ""), False),
        (Request("copy", "a" * 21, ""), True),
        (Request(), False),
    ],
)
def test_an_input_longer_than_in_training_carries_a_warning(request_: Request, beyond: bool) -> None:
    assert (views.warning(request_) is not None) == beyond


# ---- what the widgets draw ---------------------------------------------------------------------------------------------------------


def test_a_run_becomes_an_answer_its_steps_and_its_attention() -> None:
    bar, thinking, heads, _ = views.draw(explanation(), Request(), LIVE)
    assert bar["state"] == "live" and bar["right"] is True and bar["answer"] == "garden"
    assert [other["answer"] for other in bar["beside"]] == ["office", dict(texts.NOBODY)]  # type: ignore[attr-defined]
    assert thinking["positions"] == list(STORY) and thinking["steps"] == [2, 1, 1, 3]
    assert thinking["marks"] == [0, 1, 2] and thinking["pick"] == 3
    assert [one["right"] for one in thinking["stopped"]] == [False, True, True]  # type: ignore[attr-defined]
    (kind,) = heads["kinds"]  # type: ignore[misc]
    assert kind["axis"] == "step" and kind["taken"] == [2, 1, 1, 3] and kind["spaced"] is True
    assert heads["silences"] is False
    json.dumps([bar, thinking, heads])


def test_attention_opens_where_the_question_looks_at_a_fact_that_it_needs() -> None:
    assert views.telling(explanation()) == (1, 0, 3, 0)
    assert views.heads(explanation(), Request(), "live")["pick"] == {"kind": "self", "layer": 1, "head": 0, "row": 3, "col": 0}


def test_characters_are_tokens_and_sentences_are_not() -> None:
    assert views.kind(explanation(task="copy"), "copy").spaced is False
    assert views.kind(explanation(), "stories").spaced is True


def test_the_answers_position_that_thought_longest_is_looked_at_even_if_all_took_one_step() -> None:
    assert views.longest(explanation(taken=(2, 1, 1, 1))) == 3
    assert views.longest(explanation(taken=(1, 1, 2, 3), task="copy")) == 3


def test_nobody_knows_is_an_answer() -> None:
    seen = dataclasses.replace(explanation("nobody", (1, 1, 1, 2)), expected="nobody", facts=(), stopped=("nobody", "nobody"))
    bar, thinking, _, _ = views.draw(seen, Request(), LIVE)
    assert bar["right"] is True and bar["answer"] == dict(texts.NOBODY)
    assert all(one["right"] for one in thinking["stopped"])  # type: ignore[attr-defined]
    assert views.say("copy", "nobody") == "nobody", "a word may be copied"


def test_bertviz_is_shown_nothing_of_what_has_stopped() -> None:
    shown = views.bertviz(explanation())
    assert not shown.weights[1:, :, 1].any() and shown.weights[1, 0, 3, 0] == pytest.approx(0.7)


# ---- what comes back, with a network of a few lines --------------------------------------------------------------------------------


def explain(requests: list[Request]) -> list[Explanation | InputError]:
    def one(request: Request) -> Explanation | InputError:
        if not request.question:
            return InputError("no_question", en="The story has no question.", zh="没有问题。")
        return explanation("office", (1, 1, 1, 1)) if request.forced == 1 else explanation()

    return [one(request) for request in requests]


def compare(requests: list[Request]) -> list[Comparison | InputError]:
    return [Comparison(explanation(), explanation("office", (1, 1, 1, 1)), (0.95, 0.4), (2.3, 2.0), (30.0, 12.0), 120) for _ in requests]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page runs the functions above, and nothing is stored."""
    monkeypatch.setattr(page, "EXPLAIN", explain)
    monkeypatch.setattr(page, "COMPARE", compare)
    monkeypatch.setattr(views, "first", lambda: None)


def everything(detail: object) -> dict[str, list[Any]]:
    """What each widget was told to draw until a wish was fulfilled."""
    ours = page.subject()

    async def collect() -> list[Any]:
        engine = Engine()
        try:
            return [one async for one in pondering.answers(engine, ours, lambda: pondering.asked(Request, detail), "")]
        finally:
            engine.close(1)

    updates = alone(collect())
    return {name: [one[at] for one in updates if "__type__" not in one[at]] for at, name in enumerate(ours.widgets)}


@pytest.mark.usefixtures("small")
def test_forcing_one_step_breaks_the_answer_and_says_so() -> None:
    told = everything({"request": spelled(Request(forced=1))})
    assert told["asker"][-1]["answer"] == "office" and told["asker"][-1]["right"] is False
    assert told["ponder"][-1]["forced"] == 1 and set(told["ponder"][-1]["reasons"]) == {"forced"}
    change = told["rethink"][-1]
    assert change["answers"] == ["garden", "office"] and change["accuracy"] == [0.95, 0.4]
    assert "exactly 1 step for every position" in change["sentence"]["en"]


@pytest.mark.usefixtures("small")
def test_a_story_without_a_question_is_refused_and_nothing_else_moves() -> None:
    told = everything({"request": spelled(Request(question=""))})
    assert told["asker"][-1] == asker.refused({"en": "The story has no question.", "zh": "没有问题。"})
    assert told["ponder"] == told["attention"] == told["difficulty"] == []


@pytest.mark.usefixtures("small")
def test_an_example_is_held_ready_as_it_is_drawn() -> None:
    async def ask() -> dict[str, object] | None:
        engine = Engine()
        try:
            return await page.stored(engine, "")
        finally:
            engine.close(1)

    drawn = alone(ask())
    assert drawn is not None and set(drawn) == {"asker", "ponder", "attention", "difficulty", "rethink"}
    assert drawn["asker"]["state"] == "stored"  # type: ignore[index]


@pytest.mark.usefixtures("small")
def test_bertviz_is_asked_for_the_run_in_view() -> None:
    async def ask() -> Any:
        engine = Engine()
        try:
            return [one async for one in page.bertviz_of(engine, Look("head", query(EXAMPLES[1])), "")][-1]
        finally:
            engine.close(1)

    assert alone(ask())["state"] == "shown"


# ---- what it is compared with ------------------------------------------------------------------------------------------------------


def facts(variant: str, seed: int = 1, value: float = 1.0, longer: float | None = None) -> dict[str, Any]:
    known: dict[str, Any] = {
        "slug": "universal_transformer",
        "variant": variant,
        "seed": seed,
        "parameters": 82_000,
        "finished": True,
        "training_seconds": 120,
        "figure": {"metric": "character accuracy", "split": "test", "value": value, "sequences": value / 2, "n": 100},
        "published": {
            "source": "Dehghani et al. (2019)",
            "why": {"en": "Other lengths.", "zh": "长度不同。"},
            "at_400": {"universal": [0.96, 0.46], "transformer": [0.13, 0.06]},
        },
    }
    if longer is not None:
        known["longer"] = {"value": longer, "sequences": 0.0}
    return known


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of assets with three tasks: two seeds of one, no comparison for another."""
    monkeypatch.setattr(about.about, "ASSETS", tmp_path)
    made = (
        facts("reverse", 1, 1.0, 0.04),
        facts("reverse", 2, 0.98, 0.10),
        facts("reverse_ordinary", 1, 0.99, 0.30),
        facts("addition", 1, 0.999, 0.97),
        facts("addition_ordinary", 1, 0.9, 0.2),
        facts("copy", 1, 1.0),
    )
    for one in made:
        folder = tmp_path / "universal_transformer" / (one["variant"] if one["seed"] == 1 else f"{one['variant']}-seed{one['seed']}")
        folder.mkdir(parents=True)
        (folder / "model.json").write_text(json.dumps(one), "utf-8")
    return tmp_path


@pytest.mark.usefixtures("shipped")
def test_every_seed_is_listed_and_what_is_missing_is_not_shown() -> None:
    drawn: Any = about.longer()
    rows = drawn["table"]["rows"]
    assert [row[:3] for row in rows] == [
        ["reverse", "Universal", "1"],
        ["reverse", "Universal", "2"],
        ["reverse", "ordinary", "1"],
        ["addition", "Universal", "1"],
        ["addition", "ordinary", "1"],
        ["copy", "Universal", "1"],
    ]
    assert rows[-1][5] is None, "copy was not measured at 40"
    assert len(drawn["legend"]) == 3, "nothing takes four steps everywhere"


@pytest.mark.usefixtures("shipped")
def test_failure_is_said_as_it_came_out_beside_the_order_in_print() -> None:
    drawn: Any = about.longer()
    said = drawn["sentence"]["en"]
    assert "reverse: Universal 0.07, ordinary 0.30" in said and "addition: Universal 0.97, ordinary 0.20" in said
    assert "copy" not in said
    assert "here it leads in 1 of 2" in said
    assert "在 2 项中领先 1 项" in drawn["sentence"]["zh"]


@pytest.mark.usefixtures("shipped")
def test_the_card_says_what_was_measured_and_why_print_is_no_measure_of_it() -> None:
    size, data, measured, trained = about.pairs()
    assert size.value == "0.08 M" and data.value == texts.DATA
    assert measured.value == "1.00" and measured.why is not None and "addition 0.96" in measured.why["en"]
    assert trained.value == {"en": "12 min", "zh": "12 分钟"}


def test_nothing_is_shown_before_anything_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about.about, "ASSETS", tmp_path)
    assert about.longer() is None and about.pairs() == () and about.hardness("stories") is None and about.curves() is None
    assert views.hard(explanation(), Request()) == {}


def test_stories_are_told_by_facts_with_the_run_in_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about.about, "ASSETS", tmp_path)
    one = facts("stories")
    one["figure"] |= {
        "accuracy_by_facts": {"1": 1.0, "2": 0.9, "3": 0.8},
        "ponder_by_facts": {str(n): {"n": 50, "mean": 1.5 + n / 2, "deviation": 0.1} for n in (1, 2, 3)},
    }
    one["published"] = {"source": "s", "why": {"en": "w", "zh": "w"}, "ponder": [2.3, 3.1, 3.8]}
    other = facts("stories_ordinary")
    other["figure"] |= {"accuracy_by_facts": {"1": 1.0, "2": 0.7, "3": 0.5}}
    for known in (one, other):
        (tmp_path / "universal_transformer" / known["variant"]).mkdir(parents=True)
        (tmp_path / "universal_transformer" / known["variant"] / "model.json").write_text(json.dumps(known), "utf-8")
    drawn: Any = about.hardness("stories", (3.0, 3.6))
    assert "3 facts: 3.00" in drawn["sentence"]["en"] and "2.3 · 3.1 · 3.8" in drawn["sentence"]["en"]
    assert [mark["text"]["en"] for mark in drawn["legend"]] == ["Universal", "ordinary"]
    assert "3.60" in drawn["sentence"]["en"]


def test_a_line_runs_from_the_lengths_of_training_to_twice_as_long_and_print_is_dashed() -> None:
    name = {"en": "one", "zh": "一"}
    ours = Line(name, "var(--cat-1)", (1.0, 0.5), (0.9, None))
    printed = Line(name, "var(--cat-1)", (None, 0.96), (None, 0.46), printed=True)
    drawn = lengths([(name, [ours, printed])], rows=(name, name), ticks=(name, name, name))["zh"]
    first, dashed = drawn["data"][:2]
    assert first["y"] == [1.0, 0.5] and "dash" not in first["line"]
    assert set(dashed["y"]) == {0.96} and dashed["line"]["dash"] == "dot"
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        Line(name, "", (1.2, None), (None, None))
    with pytest.raises(ValueError, match="0 tasks"):
        lengths([], rows=(name, name), ticks=(name, name, name))


# ---- the guided steps and the family map -------------------------------------------------------------------------------------------


def test_steps_look_at_positions_that_their_inputs_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "first", lambda: Stored(EXAMPLES[0], explanation(), 5.0, "cpu"))
    steps = views.steps()
    assert 5 <= len(steps) <= 8
    assert steps[0].query == "" and steps[0].view == {"pos": "3", "step": "1"}
    assert steps[2].view["head"] == "3.1", "the question alone goes on at step 3; the head is the one that looks at a fact"
    width = len("95678")
    assert steps[5].view["pos"] == str(2 * width + 2), "the first digit of the answer"
    requests = [pondering.linked(page.subject(), {"query": step.query})[0] for step in steps]
    assert requests[-1].forced == 1 and requests[-1].task == "addition"
    assert any(not one.told for one in requests)


def test_the_family_map_shows_what_arrives_at_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "first", lambda: Stored(EXAMPLES[0], explanation(), 5.0, "cpu"))
    picture = views.thumbnail()
    assert picture is not None and picture.pick == (3, 0)
    assert np.allclose(picture.weights.sum(1), 1, atol=1e-5)
    assert picture.weights[1, 1] > 0.5, "what stops after one step keeps half of itself"


def test_the_card_reads_in_both_languages() -> None:
    prose = about.prose()
    assert set(prose) == {"en", "zh"} and (ASSETS / "universal_transformer" / "card.md").exists()
    assert not any("{" in text for text in prose.values())
