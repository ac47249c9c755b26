"""The page of sparse attention without a browser: what a wish becomes, what the widgets are told, what another pattern costs."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

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


def told(engine: Engine, request: Request, anew: bool = True) -> list[tuple[Any, ...]]:
    """All updates of a wish."""

    async def gather() -> list[tuple[Any, ...]]:
        async with contextlib.aclosing(page.answers(engine, lambda: (request, None), anew=anew)) as updates:
            return [update async for update in updates]

    return alone(gather())


def variants() -> list[str]:
    return list(about.facts())


def test_a_digit_grows_and_ends_in_a_finished_view(engine: Engine) -> None:
    request = Request(keep=24, seed=5)
    updates = told(engine, request)
    running = [update for update in updates if update[0]["state"] == "running"]
    reached = [update[0]["badge"]["done"]["at"] for update in running]
    assert reached == sorted(reached) and reached[-1] <= 784
    bar, boards, heads, panel = updates[-1]
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
    assert stored[0]["state"] == "stored"
    live = told(engine, EXAMPLES[0])[-1]
    assert live[0]["state"] == "live"
    for ours, kept in zip(live[1]["models"], stored[1]["models"], strict=True):
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
    panel = updates[-1][3]
    assert panel["state"] == "done" and panel["request"] == views.spelled(request_)
    assert [one["key"] for one in panel["pictures"]] == wanted == list(change.touched(request_))
    plain = {model["key"]: model["cost"]["whole"] for model in told(engine, WHOLE)[-1][1]["models"]}
    for one in panel["pictures"]:
        assert one["number"]["before"] == pytest.approx(plain[one["key"]], abs=0.05)
        assert one["number"]["after"] != pytest.approx(one["number"]["before"], abs=0.05)
    assert "{" not in panel["sentence"]["en"] + panel["sentence"]["zh"]


def test_a_wrong_stride_makes_digits_dearer_for_the_strided_model(engine: Engine) -> None:
    dearer = 0
    for number in range(6):
        panel = told(engine, dataclasses.replace(WHOLE, drawing=f"test:{number}", stride=29))[-1][3]
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
    ((bar, *_others, panel),) = told(engine, request_)
    assert bar["state"] == panel["state"] == "refused"
    assert all(bar["error"][language].strip() for language in ("en", "zh"))


@pytest.mark.parametrize(
    "request_", [Request(keep=28, pattern="spiral"), Request(keep=28, stride=3, summary=5)], ids=["spiral", "c above l"]
)
def test_a_pattern_that_there_is_not_is_refused_beside_the_digit_as_trained(engine: Engine, request_: Request) -> None:
    *_, (_bar, _boards, _heads, panel) = updates = told(engine, request_)
    assert any(update[0] and update[0].get("state") == "live" for update in updates if isinstance(update[0], dict))
    assert panel["state"] == "refused"
    assert all(panel["error"][language].strip() for language in ("en", "zh"))


def test_a_text_is_refused_in_words_where_no_model_reads_any(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "tasks", lambda: ("digit",))
    ((bar, *_),) = told(engine, Request(task="text", text="It was late."))
    assert bar["error"] == dict(texts.NO_TEXT)


def test_what_the_browser_sends_becomes_the_request_it_came_from() -> None:
    request = Request(drawing=spelled(np.eye(28)), keep=3, stride=27, silenced=(("dense", 1, 2),))
    assert page.asked({"request": json.loads(json.dumps(views.spelled(request)))}) == (request, None)
    for wrong in (None, {}, {"request": {"task": "digit"}}, {"request": {**views.spelled(request), "keep": "3"}}):
        with pytest.raises(InputError, match="form"):
            page.asked(wrong)


def test_an_empty_and_a_full_drawing_are_drawn(engine: Engine) -> None:
    for level in (0, 1):
        bar, boards, heads, _ = told(engine, Request(drawing=spelled(np.full((28, 28), level)), keep=28))[-1]
        assert bar["state"] == "live" and heads["kinds"] and boards["models"]
        assert not level or bar["warning"]  # no digit is all ink


def test_another_temperature_is_said() -> None:
    assert views.bent(Request()) is None
    assert "sharper" in str(views.bent(Request(temperature=0.5)))
    assert views.bent(Request(temperature=0.5, keep=28)) is None  # nothing is drawn


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
