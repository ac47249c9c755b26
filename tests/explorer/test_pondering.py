"""What the pages of adaptive depth do alike, on a lab of a few lines: wishes are read, answered, compared and put into words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.engine import Engine
from explorer.figures import depth
from explorer.labs import effort, pondering
from explorer.labs.adaptive_depth import Words
from explorer.labs.pondering import Subject
from explorer.labs.runs import Run, Stored
from explorer.widgets import asker
from models.errors import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class Ask:
    """A request of the lab that these tests make up, with a field of its own."""

    task: str = "double"
    text: str = "ab"
    question: str = ""
    epsilon: float = 0.01
    limit: int = 0
    forced: int = 0
    bias: float = 0.0
    told: bool = True


@dataclass(frozen=True)
class Told:
    answer: str
    expected: str
    probability: NDArray[np.float32]
    ponder: float

    @property
    def right(self) -> bool:
        return self.answer == self.expected


@dataclass(frozen=True)
class Change:
    before: Told
    after: Told
    accuracy: tuple[float, float]
    ponder: tuple[float, float]
    milliseconds: tuple[float, float]
    sample: int


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in a thread of its own: where a browser is driven, this thread has a running loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def told(request: Ask) -> Told:
    twice = request.text * 2
    return Told(twice[: request.forced] if request.forced else twice, twice, np.array([0.9, 0.7], np.float32), 1 + request.forced)


def explain(requests: Sequence[Ask]) -> list[Told | InputError]:
    return [InputError("empty", en="There is no text.", zh="没有文本。") if not one.text else told(one) for one in requests]


def compare(requests: Sequence[Ask]) -> list[Change | InputError]:
    return [
        InputError("limit", en="No such limit.", zh="没有这样的上限。")
        if one.limit > 9
        else Change(told(pondering.plain(one)), told(one), (0.95, 0.5), (3.0, 1.5), (20.0, 10.0), 200)
        for one in requests
    ]


def draw(seen: Told, request: Ask, run: Run) -> tuple[dict[str, object], dict[str, object] | None]:
    return pondering.bar(seen, request, run, WORDS), {"state": run.state, "shown": seen.answer}


INPUT = {"en": "input", "zh": "输入"}
WORDS = Words(
    INPUT,
    {"en": "{n} update", "zh": "{n} 次更新"},
    {"en": "{n} updates", "zh": "{n} 次更新"},
    {"en": "with no signal", "zh": "没有信号"},
    lambda task, answer: answer.upper() if task == "loud" else answer,
)
SUBJECT: Subject[Ask, Told] = Subject(explain, compare, Ask, Ask(), lambda: None, draw, WORDS, ("asker", "view", "rethink"))
Told_ = dict[str, list[Any]]


def wish(**more: Any) -> dict[str, Any]:
    return pondering.spelled(Ask()) | more


def everything(detail: object, subject: Subject[Ask, Told] = SUBJECT, **how: Any) -> Told_:
    """What each widget was told to draw until a wish was fulfilled."""

    async def collect() -> list[Any]:
        engine = Engine()
        try:
            return [update async for update in pondering.answers(engine, subject, lambda: pondering.asked(Ask, detail), "", **how)]
        finally:
            engine.close(1)

    updates = alone(collect())
    return {name: [one[at] for one in updates if "__type__" not in (one[at] or {})] for at, name in enumerate(subject.widgets)}


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def test_what_the_browser_sends_becomes_a_request() -> None:
    request, notice = pondering.asked(Ask, {"request": wish(question="where", epsilon=1, told=False)})
    assert request == Ask(question="where", epsilon=1.0, told=False)
    assert isinstance(request.epsilon, float)
    assert notice is None


@pytest.mark.parametrize(
    "detail",
    [
        *(None, [], {}, "ab", {"request": None}),
        *(wish(text=7), wish(task=["double"]), wish(question=None), wish(limit="3"), wish(limit=1.5), wish(forced=True)),
        *(wish(epsilon="0.1"), wish(epsilon=True), wish(epsilon=10**400), wish(bias=None), wish(told=1), wish(told="yes")),
        {key: value for key, value in wish().items() if key != "told"},
    ],
)
def test_a_made_up_request_is_refused_in_one_sentence(detail: object) -> None:
    with pytest.raises(InputError) as refusal:
        pondering.asked(Ask, detail)
    assert refusal.value.code == "malformed"
    assert set(refusal.value.text) == {"en", "zh"}


def test_a_link_without_a_request_is_the_first_example() -> None:
    subject = replace(SUBJECT, start=Ask(text="start"))
    assert pondering.linked(subject, {"query": ""}) == (Ask(text="start"), None)
    assert pondering.linked(subject, None)[0] == Ask(text="start")
    assert pondering.linked(subject, {"query": "v=1&text=xy&forced=2"})[0] == Ask(text="xy", forced=2)


def test_any_field_of_the_mechanism_is_a_change_and_no_field_of_the_input() -> None:
    assert not pondering.changed(Ask(text="other", question="where", task="loud"))
    for change in ({"epsilon": 0.5}, {"limit": 3}, {"forced": 1}, {"bias": -1.0}, {"told": False}):
        changed = Ask(text="other", **change)
        assert pondering.changed(changed)
        assert pondering.plain(changed) == Ask(text="other")
    assert set(pondering.neutral(Ask)) == set(pondering.CHANGES)


def test_an_input_too_long_for_a_link_has_none_and_says_so() -> None:
    request = Ask(text="".join(np.random.default_rng(0).choice(list("abcdefghijklmnop"), 9000)))
    assert pondering.query(request) == ""
    shown = pondering.bar(told(request), request, Run("live", 1.0, "cpu"), WORDS)
    assert shown["notice"] == dict(pondering.LONG_LINK)


# ---- what comes back ---------------------------------------------------------------------------------------------------------------


def test_a_run_ends_live_and_the_panel_is_idle() -> None:
    shown = everything(wish(text="xy"))
    last = shown["asker"][-1]
    assert (last["state"], last["answer"], last["right"], last["query"]) == ("live", "xyxy", True, "v=1&text=xy")
    assert last["sure"] == pytest.approx(0.7), "the least sure part of the answer"
    assert last["notice"] is None
    assert shown["view"][-1] == {"state": "live", "shown": "xyxy"}
    assert shown["rethink"] == [{"state": "empty", "request": wish(text="xy")}]
    assert json.dumps(shown)


def test_under_an_intervention_bar_and_views_show_the_changed_run_and_the_panel_both() -> None:
    shown = everything(wish(forced=1))
    bar = shown["asker"][-1]
    assert (bar["answer"], bar["right"], bar["expected"]) == ("a", False, "abab")
    assert "with exactly 1 update for every input" in bar["notice"]["en"]
    assert shown["view"][-1]["shown"] == "a"
    assert [one["state"] for one in shown["rethink"]][-1] == "done"
    assert shown["rethink"][0] == {"state": "running"}
    panel = shown["rethink"][-1]
    assert (panel["answers"], panel["right"]) == (["abab", "a"], [True, False])
    assert panel["own_ponder"] == [1.0, 2.0]
    assert panel["sentence"]["en"] == (
        "With exactly 1 update for every input, “abab” becomes “⟦o:a⟧”; on 200 held-out inputs 50 % of answers are right instead of 95 %, "
        "and a mean input costs 1.50 instead of 3.00."
    )
    assert panel["sentence"]["zh"].startswith("每个输入恰好 1 次更新：“abab”变成“⟦o:a⟧”；在 200 个留出输入上")


def test_an_answer_is_said_as_its_task_says_it() -> None:
    panel = everything(wish(task="loud", epsilon=0.5))["rethink"][-1]
    assert panel["answers"] == ["ABAB", "ABAB"]
    assert "the answer stays “⟦o:ABAB⟧”" in panel["sentence"]["en"]


def test_several_changes_are_named_together() -> None:
    said = pondering.changed_in(Ask(forced=3, epsilon=0.25, limit=1, bias=-1.5, told=False), WORDS)
    assert said["en"] == (
        "with exactly 3 updates for every input and with ε = 0.25 and with at most 1 update and with −1.5 on the halting unit "
        "and with no signal"
    )
    assert pondering.changed_in(Ask(), WORDS) == {"en": "", "zh": ""}


def test_a_refusal_touches_nothing_else() -> None:
    shown = everything(wish(text=""))
    assert shown["asker"][-1] == {"state": "refused", "error": {"en": "There is no text.", "zh": "没有文本。"}}
    assert shown["view"] == []
    assert shown["rethink"] == [{"state": "refused", "error": None}]


def test_what_a_knob_cannot_do_is_refused_beside_it() -> None:
    shown = everything(wish(limit=12))
    assert shown["asker"][-1]["state"] == "live"
    assert shown["rethink"][-1] == {"state": "refused", "error": {"en": "No such limit.", "zh": "没有这样的上限。"}}


def test_a_defect_is_said_to_be_one(caplog: pytest.LogCaptureFixture) -> None:
    def broken(seen: Told, request: Ask, run: Run) -> Any:
        raise RuntimeError("a defect")

    shown = everything(wish(), replace(SUBJECT, draw=broken))
    assert shown["asker"][-1]["state"] == "refused"
    assert "log" in shown["asker"][-1]["error"]["en"]
    assert "a wish could not be fulfilled" in caplog.text


def test_the_first_example_is_shown_from_its_store_unless_it_is_run_anew() -> None:
    kept = Stored(Ask(), told(Ask()), 12.0, "cpu")
    subject = replace(SUBJECT, first=lambda: kept)
    assert everything(wish(), subject)["asker"][-1]["state"] == "stored"
    assert everything(wish(), subject, anew=True)["asker"][-1]["state"] == "live"
    changed = everything(wish(forced=2), subject)
    assert changed["asker"][-1]["answer"] == "ab", "a changed network never shows what is stored of the unchanged one"


def held(query: str) -> dict[str, Any] | None:
    async def ask() -> Any:
        engine = Engine()
        try:
            return await pondering.stored(engine, SUBJECT, query)
        finally:
            engine.close(1)

    found: dict[str, Any] | None = alone(ask())
    return found


def test_what_is_held_ready_is_finished_and_says_stored() -> None:
    plain, changed = held("v=1&text=xy"), held("v=1&forced=1")
    assert plain is not None and changed is not None
    assert {plain[name]["state"] for name in ("asker", "view")} == {"stored"}
    assert changed["rethink"]["state"] == "done", "a comparison is held ready too"
    assert held("v=1&text=") is None
    assert held("v=1&limit=12") is None


def test_the_queue_is_told_where_it_stands_and_a_run_is_not() -> None:
    from explorer.engine import Waiting

    assert pondering.waiting(Waiting(2, 5, 1.5)) == asker.waiting(2, 5, 1.5)
    assert pondering.waiting(Waiting(0, 5, 0.0)) == asker.reading()


# ---- hard things take longer -------------------------------------------------------------------------------------------------------

MEASURED = {
    "1": {"n": 40, "mean": 2.0, "deviation": 0.5, "accuracy": 1.0},
    "10": {"n": 60, "mean": 5.25, "deviation": 2.0, "accuracy": 0.8},
}
AXIS = {"en": "bits", "zh": "比特"}
BIT = {"en": "{n} bit", "zh": "{n} 个比特"}
MANY_BITS = {"en": "{n} bits", "zh": "{n} 个比特"}


def hardness(levels: list[depth.Level], **more: Any) -> Any:
    return effort.drawn(levels, axis=AXIS, units=AXIS, one=BIT, several=MANY_BITS, **more)


def test_levels_are_read_as_numbers_where_they_are_some() -> None:
    first, last = effort.levels(MEASURED)
    assert (first.value, last.value, last.accuracy) == (1.0, 10.0, 0.8)
    (named,) = effort.levels({"nobody": {"n": 3, "mean": 1.0, "deviation": 0.0}}, {"nobody": 0.5})
    assert (named.value, named.accuracy) == ("nobody", 0.5)


def test_the_figure_says_first_last_and_the_visitors_own() -> None:
    drawn = hardness(effort.levels(MEASURED), mine=(7, 3.456))
    assert drawn["sentence"]["en"] == "1 bit: 2.00 on average; 10 bits: 5.25. Yours, 7 bits: 3.46."
    assert "7 个比特" in drawn["sentence"]["zh"]
    rival = depth.Rival({"en": "without", "zh": "没有"}, [0.9, None], "var(--cat-2)")
    drawn = hardness(effort.levels(MEASURED), rivals=[rival], ours={"en": "with", "zh": "有"})
    assert [mark["text"]["en"] for mark in drawn["legend"]] == ["with", "without"]
    assert drawn["table"]["rows"][1] == ["10", 5.25, 2.0, 0.8, 60, None]
    assert hardness([]) is None, "nothing was measured"
