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

from explorer import controls, program
from explorer.engine import Engine
from explorer.labs.adaptive_span import page as span_page
from explorer.labs.adaptive_span.deeper import saving
from explorer.labs.transformer_xl import about as xl_about
from explorer.labs.transformer_xl import page as xl_page
from explorer.labs.transformer_xl import views as xl_views
from explorer.labs.transformer_xl.deeper import memories, terms
from explorer.widgets.folded import Question
from models.adaptive_span import records as span_records
from models.transformer_xl import records as xl_records

T = TypeVar("T")
SENTENCE = "The captain went down to the harbour, and nobody saw him come back. "
XL = xl_records.Request(text=SENTENCE * 5, length=6)
SPAN = span_records.Request(text=SENTENCE * 5, length=6)
MECHANISM = {xl_page: "segments", span_page: "masks"}
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


def told(engine: Engine, page: Any, query: str, given: object = None) -> list[dict[str, Any]]:
    """All updates of a wish."""

    async def gather() -> list[dict[str, Any]]:
        async with contextlib.aclosing(program.answer(page.program(), engine, query, given)) as updates:
            return [update async for update in updates]

    return alone(gather())


def last(engine: Engine, page: Any, request: Any, given: object = None) -> dict[str, Any]:
    """What stands on the page in the end, by widget."""
    shown: dict[str, Any] = {}
    for update in told(engine, page, controls.query(request), given):
        shown |= update
    return shown


def paid(page: Any, seen: Any, model: int = 0) -> float:
    """Bits per character of the text given."""
    one = seen.readings[model] if page is xl_page else seen
    return float(one.nats[: seen.given].mean() / np.log(2))


@LABS
def test_a_text_is_read_as_it_comes_and_ends_in_a_finished_view(engine: Engine, page: Any, request_: Any) -> None:
    updates = told(engine, page, controls.query(request_))
    states = [update["ask"]["state"] for update in updates if "ask" in update]
    assert states[-1] == "live" and {"running", "waiting", "live"} >= set(states)
    growing = [update for update in updates if update["ask"]["state"] == "running"]
    assert growing and all(update["reading"]["state"] == "running" for update in growing)
    assert all(("segments" in update) == (page is xl_page) for update in growing), "spans are drawn of what is whole"
    assert "attention" not in growing[0], "what does not grow stays as it was"
    shown = updates[-1]
    assert len(shown["reading"]["models"][0]["text"]) == len(request_.text) + 6
    assert shown["reading"]["query"] == shown["ask"]["query"] == shown[MECHANISM[page]]["query"] == controls.query(request_)
    assert shown["attention"]["layers"] >= 4 and shown["attention"]["kinds"][0]["mask"] == "causal"
    assert shown["change"]["state"] == "empty" and shown["change"]["fields"] == controls.texts(request_)
    assert shown["ask"]["lines"][0]["en"] == request_.text, "the text file begins with the text"
    json.dumps(shown)


@LABS
def test_the_first_example_is_shown_from_the_store_and_equals_a_run(engine: Engine, page: Any, request_: Any) -> None:
    kept = page.views.first()
    (stored,) = told(engine, page, "")
    assert stored["ask"]["state"] == "stored"
    shown = told(engine, page, "", {})[-1]
    assert shown["ask"]["state"] == "live"
    live = alone(engine.ask(page.GENERATE, kept.request)).value
    assert paid(page, live) == pytest.approx(paid(page, kept.seen), abs=2e-3)
    given = stored["reading"]["given"]
    assert shown["reading"]["models"][0]["text"][:given] == stored["reading"]["models"][0]["text"][:given]


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
    updates = told(engine, page, controls.query(request_))
    # The knobs of a link stand where it says from the moment its text is there, not only when the change is known.
    assert ("running", controls.texts(request_)) in [
        (update["change"]["state"], update["change"].get("fields")) for update in updates if "change" in update
    ]
    panel = updates[-1]["change"]
    assert panel["state"] == "done" and panel["fields"] == controls.texts(request_)
    side = panel["sides"][0]
    assert side["reached"] and side["number"]["after"] != pytest.approx(side["number"]["before"], abs=1e-3)
    plain = alone(engine.ask(page.GENERATE, page.program().plain(request_))).value
    assert side["number"]["before"] == pytest.approx(paid(page, plain), abs=1e-4)
    changed = alone(engine.ask(page.GENERATE, request_)).value
    assert side["number"]["after"] == pytest.approx(paid(page, changed), abs=2e-3)
    said = next(update["ask"]["changes"] for update in updates if update.get("ask", {}).get("state") == "live")
    for language in ("en", "zh"):
        assert f"{side['number']['after']:.2f}" in panel["sentence"][language]
        assert "{" not in panel["sentence"][language] + said[language]


def test_cutting_the_memory_makes_a_page_dearer_and_leaves_the_other_model_alone(engine: Engine) -> None:
    panel = last(engine, xl_page, dataclasses.replace(xl_records.EXAMPLES[0], intervention="cut", length=0))["change"]
    cut = panel["sides"][0]
    assert cut["number"]["after"] > cut["number"]["before"] + 0.01
    assert [side["reached"] for side in panel["sides"][1:]] == [False] * (len(panel["sides"]) - 1)


def test_a_text_of_one_segment_has_nothing_to_remember(engine: Engine) -> None:
    panel = last(engine, xl_page, xl_records.Request(text="It was late.", length=0, intervention="cut"))["change"]
    assert panel["state"] == "done" and not panel["sides"][0]["reached"]
    assert "no longer than one segment" in panel["sentence"]["en"]


REFUSED = {
    "white space": {"text": " \n\t "},
    "too long": {"text": "a" * 100_000},
    "an unknown page": {"page": "ulysses", "text": ""},
    "too much to write": {"length": str(10**6)},
    "no temperature": {"temperature": "-1.0"},
}


@LABS
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_sentence(engine: Engine, page: Any, request_: Any, case: str) -> None:
    shown = last(engine, page, request_, REFUSED[case])
    assert shown["ask"]["state"] == "refused" and shown["change"]["state"] == "refused"
    assert all(shown["ask"]["error"][language] for language in ("en", "zh"))
    assert len(shown["ask"]["error"]["en"]) < 200


@LABS
def test_one_character_and_mixed_scripts_are_read(engine: Engine, page: Any, request_: Any) -> None:
    for text in ("x", "Ünïcödé 漢字 שלום 🎼 and then some more English words"):
        bar = last(engine, page, dataclasses.replace(request_, text=text, length=2))["ask"]
        assert bar["state"] == "live" and bar["lines"][0]["en"] == text
        assert (bar["notice"] is not None) == (len(text) > 1)
    assert "🎼" in bar["notice"]["en"] or "漢" in bar["notice"]["en"]


@LABS
def test_a_text_too_long_for_a_link_is_read_without_one(engine: Engine, page: Any, request_: Any) -> None:
    text = "".join(map(chr, np.random.default_rng(1).integers(33, 126, 2900).tolist()))
    bar = last(engine, page, request_, {"text": text, "length": "0"})["ask"]
    assert bar["query"] == "" and bar["fields"]["text"] == text
    assert bar["warning"] is not None and "unlike" in bar["warning"]["en"]


def test_the_terms_of_the_run_in_view_add_up() -> None:
    kept = xl_views.first()
    assert kept is not None
    for wish in (terms.Wish(), terms.Wish("xl", (3, 3), 5, 16), terms.Wish("absolute", (0, 1), 10**9, 64)):
        drawn = terms.value(kept.seen, wish)
        assert drawn["layers"] == 4 and drawn["memory_until"] >= 0
    assert drawn["other"] is not None  # the model in view has no such terms
    question = Question("", {"model": "xl", "head": "2.3", "pos": "7,40", "tqueries": "32"})
    assert terms.wished(question) == terms.Wish("xl", (1, 2), 40, 32)
    assert terms.wished(Question("", {"head": "x", "pos": "-1", "tqueries": "7"})) == terms.Wish()


def test_what_memory_buys_is_drawn_for_this_text_and_the_held_out_book(engine: Engine) -> None:
    async def found() -> Any:
        return [value async for value in program.looked(xl_page.program(), engine, memories.PANEL.look, {"run": controls.query(XL)})][-1]

    drawn = alone(found())
    assert drawn["state"] == "shown"
    memories_ = [one["key"] for one in drawn["choices"][0]["options"]]
    assert [one["when"]["bmemory"] for one in drawn["figures"] if "when" in one] == memories_
    assert len(drawn["figures"]) - len(memories_) == (2 if xl_records.ladder() else 1)
    short = memories.value(xl_records.Memories((0, 512), np.ones((2, 9), np.float32), np.zeros(0, np.float32)))
    assert short["choices"] == [] and all("when" not in one for one in short["figures"])

    async def refused() -> Any:
        return [value async for value in program.looked(xl_page.program(), engine, memories.PANEL.look, {"run": "v=1&text=%20"})][-1]

    assert alone(refused())["state"] == "refused"


def test_what_spans_save_is_drawn_for_the_run_in_view(engine: Engine) -> None:
    async def found(run: str) -> Any:
        return [value async for value in program.looked(span_page.program(), engine, saving.PANEL.look, {"run": run})][-1]

    assert alone(found(""))["figure"]["name"] == "saving"
    assert alone(found(controls.query(dataclasses.replace(SPAN, spans=((-1, -1, 512.0),)))))["state"] == "shown"
    assert alone(found("v=1&text=%20"))["state"] == "refused"


@LABS
def test_bertviz_shows_the_last_characters_of_the_run(engine: Engine, page: Any, request_: Any) -> None:
    look = next(view.look for view in page.program().views if view.name == "bertviz")

    async def shown() -> Any:
        return [value async for value in program.looked(page.program(), engine, look, {"run": controls.query(request_), "view": "head"})][
            -1
        ]

    assert alone(shown())["state"] != "refused"
    kept = page.views.first()
    drawn = page.views.bertviz(kept.seen)
    assert drawn.weights.shape[2:] == (48, 48)
    assert (drawn.weights.sum(3) <= 1.001).all()


def test_evaluation_speed_stands_where_it_was_measured() -> None:
    drawn = xl_about.speed()
    assert (drawn is None) == (not xl_about.RESULT.exists())
    if drawn is not None:
        assert "times as long" in str(drawn["sentence"])


def test_the_wave_at_a_border_is_the_ladders() -> None:
    drawn, measured = xl_about.wave(), xl_records.ladder()
    assert (drawn is None) == (measured is None)
    if drawn is not None:
        assert measured is not None
        rows = drawn["table"]["rows"]  # type: ignore[index]
        assert [row[2] for row in rows] == measured["by_place"]["bits"]["xl"]
        cut = measured["by_place"]["bits"]["none"]
        assert cut[0] > cut[-1], "nothing remembered costs most where a segment begins"
        assert f"{cut[0]:.2f}" in drawn["sentence"]["zh"]  # type: ignore[index]
