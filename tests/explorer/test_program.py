"""The one handler: a wish is read, answered as asked for, and compared with the run without its changes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from explorer import program
from explorer.engine import Engine
from tests.explorer import wishes
from tests.explorer.small_lab import HOSTILE, PROGRAM, Said
from tests.explorer.wishes import Page, said


def answered(query: str, given: object = None, page: Page = PROGRAM) -> dict[str, list[Any]]:
    """What each widget of the small lab was given, in order."""
    return wishes.answered(page, query, given)


def test_a_run_that_changes_nothing_ends_live_and_the_panel_is_idle() -> None:
    shown = answered("v=1&text=xy")
    bar = shown["ask"][-1]
    assert (bar["state"], bar["answer"]["said"], bar["answer"]["right"], bar["query"], bar["plain"]) == (
        "live",
        "xyxy",
        True,
        "v=1&text=xy",
        "v=1&text=xy",
    )
    assert bar["changes"] is None and bar["notice"] is None
    assert bar["fields"] == {"task": "word", "text": "xy", "times": "2", "cut": "0.0", "loud": "0", "question": "", "most": "0"}
    assert shown["difficulty"][-1]["sentence"]["en"] == "It says xyxy."
    assert [one["state"] for one in shown["change"]] == ["empty"]
    assert json.dumps(shown)


def test_under_a_change_bar_and_views_show_the_changed_run_and_the_panel_both() -> None:
    shown = answered("v=1&text=xy", {"times": "1"})
    bar = shown["ask"][-1]
    assert (bar["query"], bar["plain"], bar["answer"]["said"], bar["answer"]["right"]) == (
        "v=1&text=xy&times=1",
        "v=1&text=xy",
        "xy",
        False,
    )
    assert bar["changes"] == {"en": "said 1 times", "zh": "说 1 次"}
    assert shown["difficulty"][-1]["sentence"]["en"] == "It says xy."
    assert shown["change"][0]["state"] == "running"
    panel = shown["change"][-1]
    assert (panel["state"], panel["number"]["before"], panel["number"]["after"]) == ("done", 1.0, 0.25)
    assert panel["fields"]["times"] == "1" and panel["plain"] == "v=1&text=xy"
    assert [panel["rows"][0][side] for side in ("before", "after")] == ["xyxy", "xy"]
    assert panel["sentence"]["en"] == "With said 1 times, it says ⟦o:xy⟧."


def test_a_link_that_names_no_field_is_the_first_example_whatever_another_site_added_to_it() -> None:
    first = PROGRAM.examples[0][0]
    assert PROGRAM.read("") == (first, None) == PROGRAM.read("lang=zh&step=2")
    request, notice = PROGRAM.read("utm_source=mail&lang=zh")
    assert request == first and notice is not None and "utm_source" in notice["en"]


def test_a_change_is_taken_off_by_the_query_without_it() -> None:
    changed = answered("v=1&text=xy", {"times": "1"})["ask"][-1]
    assert answered(changed["plain"])["ask"][-1]["answer"]["said"] == "xyxy"


def test_several_changes_are_named_together() -> None:
    bar = answered("v=1&text=xy&times=3&loud=1")["ask"][-1]
    assert bar["changes"] == {"en": "said 3 times and said loud", "zh": "说 3 次，大声说"}


def test_a_refusal_touches_no_view() -> None:
    for query, given in (("v=1&text=", None), ("v=1", {"text": ""})):
        shown = answered(query, given)
        assert shown["ask"][-1] == {"state": "refused", "error": {"en": f"There is no text, {HOSTILE}.", "zh": f"没有文本，{HOSTILE}。"}}
        assert shown["difficulty"] == []
        assert shown["change"] == [{"state": "refused", "error": None}]


def test_a_change_that_cannot_be_measured_is_refused_beside_its_knobs() -> None:
    shown = answered("v=1&times=9")
    assert shown["ask"][-1]["state"] == "live"
    assert shown["change"][-1] == {"state": "refused", "error": {"en": "Nine is too much.", "zh": "九次太多。"}}


def test_a_defect_is_said_to_be_one(caplog: pytest.LogCaptureFixture) -> None:
    def broken(seen: Said, request: Any) -> Any:
        raise RuntimeError("a defect")

    shown = answered("v=1&text=xy", page=replace(PROGRAM, answer=broken))
    assert shown["ask"][-1]["state"] == "refused"
    assert "log" in shown["ask"][-1]["error"]["en"]
    assert "a wish could not be fulfilled" in caplog.text


@pytest.mark.parametrize("query", ["", "v=1"])
def test_the_first_example_is_shown_as_it_is_stored_unless_it_is_asked_anew(query: str) -> None:
    assert answered(query)["ask"][-1]["state"] == "stored"
    assert answered(query, {"text": "ab"})["ask"][-1]["state"] == "live"
    assert answered(query, {"times": "1"})["ask"][-1]["answer"]["said"] == "ab", "a changed model never shows the stored run"


@pytest.mark.parametrize("detail", [None, [], "v=1", {"query": 5}, {"query": ["v=1"]}, {"set": {}}])
def test_an_event_of_any_form_is_read_or_refused(detail: Any) -> None:
    query, given = program._wish(detail)
    assert answered(query, given)["ask"][-1]["state"] in {"stored", "live", "refused"}


def test_what_is_held_ready_is_finished_and_says_stored() -> None:
    def held(query: str) -> Any:
        async def one(engine: Engine) -> AsyncGenerator[Any, None]:
            yield await PROGRAM.stored(engine, query)

        return said(one)[0]

    changed = held("v=1&times=1")
    assert (changed["ask"]["state"], changed["change"]["state"]) == ("stored", "done")
    assert held("v=1&text=") is None
    assert held("v=1&times=9") is None, "the page asks the engine then, which says what is wrong"


def test_the_run_without_a_change_comes_as_values_of_all_views() -> None:
    *_, last = said(lambda engine: program.before(PROGRAM, engine, "v=1&text=xy"))
    assert (last["state"], last["query"]) == ("before", "v=1&text=xy")
    assert last["values"]["difficulty"]["sentence"]["en"] == "It says xyxy."
    assert last["values"]["ask"]["answer"]["said"] == "xyxy"
    assert "before" not in [one.get("state") for one in said(lambda engine: program.before(PROGRAM, engine, "v=1&text="))]


def test_the_unchanged_run_is_computed_once_whoever_asks() -> None:
    computed: list[Any] = []

    def explain(requests: Any) -> Any:
        computed.extend(requests)
        return [Said(one.text, one.text) for one in requests]

    page: Page = replace(PROGRAM, explain=explain)

    async def three(engine: Engine) -> AsyncGenerator[Any, None]:
        for query in ("v=1&text=xy", "v=1&text=xy&times=1", "v=1&text=xy&times=3"):
            async for update in program.answer(page, engine, query):
                yield update

    said(three)
    assert [one.times for one in computed] == [2, 1, 3]
