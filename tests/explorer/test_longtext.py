"""The pages of models of long texts without a browser: what a wish becomes, what the widgets are told, what a change costs."""

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
from explorer.labs import longtext
from explorer.labs.adaptive_span import page as span_page
from explorer.labs.adaptive_span import views as span_views
from explorer.labs.adaptive_span.deeper import saving
from explorer.labs.transformer_xl import about as xl_about
from explorer.labs.transformer_xl import page as xl_page
from explorer.labs.transformer_xl import views as xl_views
from explorer.labs.transformer_xl.deeper import bought, terms
from explorer.widgets.bertviz import Look
from explorer.widgets.folded import Question
from models.adaptive_span import records as span_records
from models.errors import InputError
from models.transformer_xl import records as xl_records

T = TypeVar("T")
SENTENCE = "The captain went down to the harbour, and nobody saw him come back. "
XL = xl_records.Request(text=SENTENCE * 5, length=6)
SPAN = span_records.Request(text=SENTENCE * 5, length=6)
LABS = pytest.mark.parametrize(("page", "request_"), [(xl_page, XL), (span_page, SPAN)], ids=["transformer_xl", "adaptive_span"])


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


def told(engine: Engine, page: Any, request: Any, anew: bool = True) -> list[tuple[Any, ...]]:
    """All updates of a wish."""
    subject = page.subject()

    async def gather() -> list[tuple[Any, ...]]:
        async with contextlib.aclosing(longtext.answers(engine, subject, lambda: (request, None), anew=anew)) as updates:
            return [update async for update in updates]

    return alone(gather())


@LABS
def test_a_text_is_read_as_it_comes_and_ends_in_a_finished_view(engine: Engine, page: Any, request_: Any) -> None:
    updates = told(engine, page, request_)
    states = [update[0]["state"] for update in updates]
    assert states[-1] == "live" and {"running", "waiting", "live"} >= set(states)
    bar, text, mechanism, heads, panel = updates[-1]
    assert bar["given"] == request_.text
    assert len(bar["readers"][0]["written"]) == 6
    assert len(text["models"][0]["text"]) == len(request_.text) + 6
    assert text["query"] == bar["query"] == mechanism["query"] == longtext.query(request_)
    assert heads["layers"] >= 4 and heads["kinds"][0]["mask"] == "causal"
    assert panel["state"] == "empty" and panel["request"] == page.views.spelled(request_)
    json.dumps([bar, text, mechanism, heads, panel])


@LABS
def test_the_first_example_is_shown_from_the_store_and_equals_a_run(engine: Engine, page: Any, request_: Any) -> None:
    start = page.subject().start
    (stored,) = told(engine, page, start, anew=False)
    assert stored[0]["state"] == "stored"
    live = told(engine, page, start)[-1]
    assert live[0]["state"] == "live"
    assert [one["bits"] for one in live[0]["readers"]] == pytest.approx([one["bits"] for one in stored[0]["readers"]], abs=2e-3)
    assert live[1]["models"][0]["text"][: live[1]["given"]] == stored[1]["models"][0]["text"][: stored[1]["given"]]


@pytest.mark.parametrize(
    ("page", "request_"),
    [
        (xl_page, dataclasses.replace(XL, intervention="cut")),
        (xl_page, dataclasses.replace(XL, intervention="foreign")),
        (xl_page, dataclasses.replace(XL, memory=32, segment=32)),
        (span_page, dataclasses.replace(SPAN, spans=((-1, -1, 0.0),))),
        (span_page, dataclasses.replace(SPAN, spans=((0, 1, 100.0), (3, -1, 4.0)))),
    ],
    ids=["cut", "foreign", "memory and segment", "no span", "some spans"],
)
def test_a_change_is_told_with_what_it_costs(engine: Engine, page: Any, request_: Any) -> None:
    updates = told(engine, page, request_)
    # The knobs of a link stand where it says from the moment its text is there, not only when the change is known.
    assert {"state": "running", "request": page.views.spelled(request_)} in [update[4] for update in updates]
    panel = updates[-1][4]
    assert panel["state"] == "done" and panel["request"] == page.views.spelled(request_)
    side = panel["sides"][0]
    assert side["reached"] and side["number"]["after"] != pytest.approx(side["number"]["before"], abs=1e-3)
    plain = told(engine, page, page.views.plain(request_))[-1][0]
    assert side["number"]["before"] == pytest.approx(plain["readers"][0]["bits"], abs=1e-4)
    changed = next(update[0] for update in updates if update[0] and isinstance(update[0], dict) and update[0].get("state") == "live")
    assert side["number"]["after"] == pytest.approx(changed["readers"][0]["bits"], abs=2e-3)
    for language in ("en", "zh"):
        assert f"{side['number']['after']:.2f}" in panel["sentence"][language]
        assert "{" not in panel["sentence"][language] + changed["notice"][language]


def test_cutting_the_memory_makes_a_page_dearer_and_leaves_the_other_model_alone(engine: Engine) -> None:
    panel = told(engine, xl_page, dataclasses.replace(xl_records.EXAMPLES[0], intervention="cut", length=0))[-1][4]
    cut = panel["sides"][0]
    assert cut["number"]["after"] > cut["number"]["before"] + 0.01
    assert [side["reached"] for side in panel["sides"][1:]] == [False] * (len(panel["sides"]) - 1)


def test_a_text_of_one_segment_has_nothing_to_remember(engine: Engine) -> None:
    short = xl_records.Request(text="It was late.", length=0, intervention="cut")
    panel = told(engine, xl_page, short)[-1][4]
    assert panel["state"] == "done" and not panel["sides"][0]["reached"]
    assert "no longer than one segment" in panel["sentence"]["en"]


REFUSED = {
    "white space": {"text": " \n\t "},
    "too long": {"text": "a" * 100_000},
    "an unknown page": {"page": "ulysses", "text": ""},
    "too much to write": {"length": 10**6},
    "no temperature": {"temperature": -1.0},
}


@LABS
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_sentence(engine: Engine, page: Any, request_: Any, case: str) -> None:
    updates = told(engine, page, dataclasses.replace(request_, **REFUSED[case]))
    assert updates[-1][0]["state"] == "refused" and updates[-1][4]["state"] == "refused"
    assert all(updates[-1][0]["error"][language] for language in ("en", "zh"))
    assert len(updates[-1][0]["error"]["en"]) < 200


@LABS
def test_one_character_and_mixed_scripts_are_read(engine: Engine, page: Any, request_: Any) -> None:
    for text in ("x", "Ünïcödé 漢字 שלום 🎼 and then some more English words"):
        bar = told(engine, page, dataclasses.replace(request_, text=text, length=2))[-1][0]
        assert bar["state"] == "live" and bar["given"] == text
        assert (bar["notice"] is not None) == (len(text) > 1)
    assert "🎼" in bar["notice"]["en"] or "漢" in bar["notice"]["en"]


@LABS
def test_a_request_is_read_from_what_the_browser_sends_and_nonsense_is_refused(page: Any, request_: Any) -> None:
    subject = page.subject()
    sent = json.loads(json.dumps({"request": subject.spelled(request_)}))
    assert longtext.asked(subject, sent) == (request_, None)
    for wrong in (None, [], {"request": {}}, {"request": {**sent["request"], "length": "7"}}, {"request": {**sent["request"], "text": 7}}):
        with pytest.raises(InputError) as error:
            longtext.asked(subject, wrong)
        assert error.value.code == "malformed"
    assert longtext.linked(subject, {"query": longtext.query(request_)}) == (request_, None)
    assert longtext.linked(subject, {}) == (subject.start, None)


@LABS
def test_a_text_too_long_for_a_link_says_so(engine: Engine, page: Any, request_: Any) -> None:
    text = "".join(map(chr, np.random.default_rng(1).integers(33, 126, 2900).tolist()))
    bar = told(engine, page, dataclasses.replace(request_, text=text, length=0))[-1][0]
    assert bar["query"] == "" and "too long for a link" in bar["notice"]["en"]
    assert bar["warning"] is not None and "unlike" in bar["warning"]["en"]


def test_a_variant_that_is_not_shipped_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"adaptive": span_views.about.facts()["adaptive"]}
    monkeypatch.setattr(span_views.about, "facts", lambda: known)
    with pytest.raises(InputError, match=r"Span by token.*Adaptive span"):
        span_views.there(dataclasses.replace(SPAN, variant="dynamic"))
    span_views.there(SPAN)


def test_the_terms_of_the_run_in_view_add_up() -> None:
    kept = xl_views.first()
    assert kept is not None
    for wish in (terms.Wish(), terms.Wish("xl", (3, 3), 5, 16), terms.Wish("absolute", (0, 1), 10**9, 64)):
        drawn = terms.value(kept.seen, wish)
        assert drawn["layers"] == 4 and drawn["memory_until"] >= 0
    assert drawn["other"] is not None  # the model in view has no such terms
    question = Question("", {"model": "xl", "head": "2.3", "pos": 40, "queries": 32})
    assert terms.wished(question) == terms.Wish("xl", (1, 2), 40, 32)
    assert terms.wished(Question("", {"head": "x", "pos": -1, "queries": 7})) == terms.Wish()


def test_what_memory_buys_is_drawn_for_this_text_and_the_held_out_book(engine: Engine) -> None:
    async def last() -> Any:
        return [value async for value in bought.answers(engine, Question(longtext.query(XL)))][-1]

    drawn = alone(last())
    assert drawn["state"] == "shown" and drawn["along"] is not None
    assert len(drawn["told"]) == len(drawn["memories"]) == drawn["rows"]["shape"][0]
    assert len(drawn["figures"]) == (3 if xl_records.ladder() else 1)
    short = bought.value(xl_records.Bought((0, 512), np.ones((2, 9), np.float32), np.zeros(0, np.float32)))
    assert short["along"] is None

    async def refused() -> Any:
        return [value async for value in bought.answers(engine, Question("v=1&text=%20"))][-1]

    assert alone(refused())["state"] == "refused"


def test_what_spans_save_is_drawn_for_the_run_in_view(engine: Engine) -> None:
    async def last(run: str) -> Any:
        return [value async for value in saving.answers(engine, Question(run))][-1]

    assert alone(last(""))["figure"]["name"] == "saving"
    assert alone(last(longtext.query(dataclasses.replace(SPAN, spans=((-1, -1, 512.0),)))))["state"] == "shown"
    assert alone(last("v=1&text=%20"))["state"] == "refused"


@LABS
def test_bertviz_shows_the_last_characters_of_the_run(engine: Engine, page: Any, request_: Any) -> None:
    async def last() -> Any:
        return [value async for value in page.bertviz_of(engine, Look.of({"run": longtext.query(request_), "view": "head"}), "")][-1]

    assert alone(last())["state"] != "refused"
    kept = page.views.first()
    drawn = page.views.bertviz(kept.seen)
    assert drawn.weights.shape[2:] == (48, 48)
    assert (drawn.weights.sum(3) <= 1.001).all()


def test_evaluation_speed_stands_where_it_was_measured() -> None:
    drawn = xl_about.speed()
    assert (drawn is None) == (not xl_about.RESULT.exists())
    if drawn is not None:
        assert "times as long" in str(drawn["sentence"])
