"""The page of sparse attention without a browser: what a wish becomes, what the widgets are told, what another pattern costs."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import gradio as gr
import numpy as np
import pytest

from explorer.engine import Engine
from explorer.labs.sparse_transformer import about, change, page, texts, views
from models.errors import InputError
from models.sparse_transformer.records import EXAMPLES, Explanation, Made, Request, spelled

T = TypeVar("T")
WHOLE = Request(keep=28)  # only read, which is quick


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in a thread of its own: where a browser is driven, this thread has a running loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """One engine for all tests: what it has computed it remembers."""
    one = Engine()
    yield one
    one.close(0)


def told(engine: Engine, request: Request, anew: bool = True) -> list[dict[str, Any]]:
    """All updates of a wish: what each widget that is told anything draws, by its name."""

    async def gather() -> list[dict[str, Any]]:
        async with contextlib.aclosing(page.answers(engine, lambda: (request, None), anew=anew)) as updates:
            named = [zip(page.WIDGETS, update, strict=True) async for update in updates]
            return [{name: value for name, value in each if value != gr.skip()} for each in named]

    return alone(gather())


def variants() -> list[str]:
    return list(about.facts())


def test_a_digit_grows_and_ends_in_a_finished_view(engine: Engine) -> None:
    request = Request(keep=24, seed=5)
    updates = told(engine, request)
    running = [update for update in updates if update["sketch"]["state"] == "running"]
    reached = [update["sketch"]["badge"]["done"]["at"] for update in running]
    assert reached == sorted(reached) and reached[-1] <= 784
    bar, boards, heads, panel = (updates[-1][name] for name in ("sketch", "digits", "attention", "remake"))
    assert bar["state"] == "live" and bar["query"] == boards["query"] == views.query(request)
    assert [model["key"] for model in boards["models"]] == variants()
    for model in boards["models"]:
        assert model["count"] == 784 and model["given"] == 24 * 28
        assert model["cost"]["whole"] == pytest.approx(model["cost"]["given"] + model["cost"]["made"], abs=2e-3)
    assert [kind["key"] for kind in heads["kinds"]] == variants()
    assert panel["state"] == "empty" and panel["request"] == views.spelled(request)
    json.dumps(updates[-1])


def test_the_first_example_is_shown_from_the_store_and_equals_a_run(engine: Engine) -> None:
    (stored,) = told(engine, EXAMPLES[0], anew=False)
    assert stored["sketch"]["state"] == "stored"
    live = told(engine, EXAMPLES[0])[-1]
    assert live["sketch"]["state"] == "live"
    for ours, kept in zip(live["digits"]["models"], stored["digits"]["models"], strict=True):
        assert ours["cost"]["given"] == pytest.approx(kept["cost"]["given"], abs=0.05)


@pytest.mark.parametrize(
    ("request_", "reached"),
    [
        (dataclasses.replace(WHOLE, stride=27), {"strided", "fixed"}),
        (dataclasses.replace(WHOLE, pattern="fixed"), {"strided", "dense"}),
        (dataclasses.replace(WHOLE, summary=1), {"fixed"}),
        (dataclasses.replace(WHOLE, silenced=(("strided", 0, 0), ("strided", 3, 1))), {"strided"}),
    ],
    ids=["a wrong stride", "another pattern", "one summary column", "silenced heads"],
)
def test_a_change_is_told_with_what_the_same_digit_costs(engine: Engine, request_: Request, reached: set[str]) -> None:
    wanted = [variant for variant in variants() if variant in reached]
    updates = told(engine, request_)
    panel = updates[-1]["remake"]
    assert panel["state"] == "done" and panel["request"] == views.spelled(request_)
    assert [one["key"] for one in panel["pictures"]] == wanted == list(change.touched(request_))
    plain = {model["key"]: model["cost"]["whole"] for model in told(engine, WHOLE)[-1]["digits"]["models"]}
    for one in panel["pictures"]:
        assert one["number"]["before"] == pytest.approx(plain[one["key"]], abs=0.05)
        assert one["number"]["after"] != pytest.approx(one["number"]["before"], abs=0.05)
    assert "{" not in panel["sentence"]["en"] + panel["sentence"]["zh"]


def test_a_wrong_stride_makes_digits_dearer_for_the_strided_model(engine: Engine) -> None:
    dearer = 0
    for number in range(6):
        panel = told(engine, dataclasses.replace(WHOLE, drawing=f"test:{number}", stride=29))[-1]["remake"]
        strided = next(one for one in panel["pictures"] if one["key"] == "strided")
        dearer += strided["number"]["after"] > strided["number"]["before"] + 1
    assert dearer >= 5


@pytest.mark.parametrize(
    "request_",
    [
        Request(drawing="test:99"),
        Request(drawing="no drawing"),
        Request(keep=29),
        Request(temperature=-1.0),
        Request(task="sound"),
    ],
    ids=str,
)
def test_what_cannot_be_read_gets_one_sentence(engine: Engine, request_: Request) -> None:
    drawn = told(engine, request_)[-1]
    assert drawn["sketch"]["state"] == drawn["remake"]["state"] == drawn["reread"]["state"] == "refused"
    assert all(drawn["sketch"]["error"][language].strip() for language in ("en", "zh"))


@pytest.mark.parametrize(
    "request_", [Request(keep=28, pattern="spiral"), Request(keep=28, stride=3, summary=5)], ids=["spiral", "c above l"]
)
def test_a_pattern_that_there_is_not_is_refused_beside_the_digit_as_trained(engine: Engine, request_: Request) -> None:
    updates = told(engine, request_)
    assert any(update["sketch"]["state"] in {"live", "remembered"} for update in updates if "sketch" in update)
    panel = updates[-1]["remake"]
    assert panel["state"] == "refused"
    assert all(panel["error"][language].strip() for language in ("en", "zh"))


def test_a_text_is_refused_in_words_where_no_model_reads_any(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "tasks", lambda: ("digit",))
    drawn = told(engine, Request(task="text", text="It was late."))[-1]
    assert drawn["sketch"]["error"] == dict(texts.NO_TEXT)


def test_what_the_browser_sends_becomes_the_request_it_came_from() -> None:
    request = Request(drawing=spelled(np.eye(28)), keep=3, stride=27, silenced=(("dense", 1, 2),))
    assert page.asked({"request": json.loads(json.dumps(views.spelled(request)))}) == (request, None)
    for wrong in (None, {}, {"request": {"task": "digit"}}, {"request": {**views.spelled(request), "keep": "3"}}):
        with pytest.raises(InputError, match="form"):
            page.asked(wrong)


def test_the_order_of_the_patterns_is_told_as_it_came_out() -> None:
    figures = {"strided": 84.4, "dense": 82.7}
    for fixed, said in ((84.2, "0.20 nats less than the strided"), (86.0, "1.60 nats more than the strided")):
        found = about.standing_sentence({name: {"value": value} for name, value in {**figures, "fixed": fixed}.items()})
        assert said in found["en"] and "1.7 nats more than dense" in found["en"] and "{" not in found["zh"]


@pytest.mark.parametrize(("fixed", "says"), [(1.7, "the fixed pattern reads best, by 0.100"), (1.9, "The paper found the opposite")])
def test_which_pattern_suits_text_is_told_as_it_came_out(fixed: float, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"text_fixed": {"value": fixed}, "text_strided": {"value": 1.8}}
    monkeypatch.setattr(about, "measured", lambda task: dict(sorted(known.items(), key=lambda one: one[1]["value"])))
    drawn: Any = about.on_text()
    assert says in drawn["sentence"]["en"] and "{" not in drawn["sentence"]["zh"]


def test_an_empty_and_a_full_drawing_are_drawn(engine: Engine) -> None:
    for level in (0, 1):
        drawn = told(engine, Request(drawing=spelled(np.full((28, 28), level)), keep=28))[-1]
        assert drawn["sketch"]["state"] == "live" and drawn["attention"]["kinds"] and drawn["digits"]["models"]
        assert not level or drawn["sketch"]["warning"]  # no digit is all ink


def test_another_temperature_is_said() -> None:
    assert views.bent(Request()) is None
    assert "sharper" in str(views.bent(Request(temperature=0.5)))
    assert views.bent(Request(temperature=0.5, keep=28)) is None  # nothing is drawn
    assert "text" in str(views.bent(Request("text", temperature=0.5))) and views.bent(Request("text", length=0, temperature=0.5)) is None


def test_a_sentence_names_the_model_that_pays_most() -> None:
    from explorer.labs.sparse_transformer.change import Changed, sentence
    from models.layers.patterns import Pattern

    def made(variant: str) -> Made:
        nats, none = np.full(784, 0.1, np.float32), np.zeros((1, 1, 784, 1), np.float16)
        return Made(variant, Pattern("strided", 28, 4), "merged", np.zeros(784, np.int16), nats > 1, nats, "", False, none, none)

    more = np.full(784, 0.1, np.float32)
    more[28 * 7 + 3] += 12.5
    found = [Changed(made("dense"), made("dense"), np.full(784, 0.1, np.float32)), Changed(made("strided"), made("strided"), more)]
    said = sentence(found, Request(stride=27))
    assert said["en"] == (
        "With stride 27, the same digit costs the strided model 12.5 nats more, most of it in ⟦k:row 7⟧; drawn anew, the digit is the same."
    )


def test_what_is_locked_on_arrival_can_be_seen() -> None:
    kept = views.first()
    assert kept is not None and isinstance(kept.seen, Explanation)
    pick = views.telling(kept.seen)
    assert pick is not None and str(pick["model"]) in variants()
    assert 0 <= int(str(pick["pos"])) < 784


# ---- texts -------------------------------------------------------------------------------------------------------------------------

WRITTEN = Request("text", text="It was a dark and stormy night; the rain fell", length=12, seed=3)


def test_a_text_grows_under_both_patterns_and_the_digits_stay_as_they_are(engine: Engine) -> None:
    updates = told(engine, WRITTEN)
    grown = [update["reading"] for update in updates if "reading" in update]
    assert [each["state"] for each in grown][-1] == "live" and grown[0]["state"] == "running"
    assert all(len(model["text"]) <= len(WRITTEN.text) + WRITTEN.length for each in grown for model in each["models"])
    last = updates[-1]
    assert (
        [model["key"] for model in last["reading"]["models"]] == list(about.facts("text")) == [k["key"] for k in last["attention"]["kinds"]]
    )
    for model in last["reading"]["models"]:
        assert model["text"].startswith(WRITTEN.text) and len(model["text"]) == len(WRITTEN.text) + WRITTEN.length
        assert 0 < model["bits"]["given"] < 6
        assert model["pattern"] == {"kind": model["key"].removeprefix("text_"), "l": 32, "c": 8}
    assert last["reading"]["pick"]["pos"] < len(WRITTEN.text) + WRITTEN.length
    assert last["reread"]["request"] == views.spelled(WRITTEN)
    assert last["remake"]["request"] is None  # what stood there was about a digit
    assert all("digits" not in update for update in updates)
    json.dumps(last)


def test_a_digit_after_a_text_takes_its_knobs_away(engine: Engine) -> None:
    last = told(engine, WHOLE)[-1]
    assert last["reread"]["request"] is None and "reading" not in last


@pytest.mark.parametrize(
    ("changes", "reached"),
    [
        ({"pattern": "strided"}, {"text_fixed"}),
        ({"stride": 31}, {"text_fixed", "text_strided"}),
        ({"summary": 1}, {"text_fixed"}),
        ({"silenced": (("text_strided", 0, 0),)}, {"text_strided"}),
    ],
    ids=["the other pattern", "another stride", "one summary column", "a silenced head"],
)
def test_a_change_is_told_with_what_the_same_text_costs(engine: Engine, changes: dict[str, Any], reached: set[str]) -> None:
    request = dataclasses.replace(WRITTEN, length=0, **changes)
    panel = told(engine, request)[-1]["reread"]
    assert panel["state"] == "done" and panel["request"] == views.spelled(request)
    assert {side["key"] for side in panel["sides"] if side["reached"]} == reached == set(change.touched(request))
    assert all(side["number"]["before"] == side["number"]["after"] for side in panel["sides"] if not side["reached"])
    assert "bits per character" in panel["sentence"]["en"] and "{" not in panel["sentence"]["en"] + panel["sentence"]["zh"]


def test_a_text_that_no_model_can_read_gets_one_sentence(engine: Engine) -> None:
    for request in (Request("text", text="你好"), Request("text", text="a" * 1000, length=100), Request("text", text="", length=0)):
        drawn = told(engine, request)[-1]
        assert drawn["sketch"]["state"] == "refused" and all(drawn["sketch"]["error"][language] for language in ("en", "zh"))
