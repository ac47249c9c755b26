"""One codec and one handler: a query and fields become a request, which is answered, and compared
with the run without its changes."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from explorer.components import base, folded
from explorer.components.figure import place_run_figure
from explorer.contract import controls
from explorer.contract.control_kinds import SliderControl
from explorer.contract.lab import OpenLab
from explorer.engine import Engine, Limits
from explorer.figures.bertviz import Attention
from explorer.labs import LABS
from explorer.page import answers, api
from explorer.page.answers import render_folded_view
from explorer.page.program import Program
from explorer.page.runs import ResultOrigin
from explorer.page.views import View, view_in_bertviz
from explorer.values import packing
from explorer.web.server import Site
from models.explaining.errors import InputError
from models.explaining.request_fields import number_field, text_field
from tests.conftest import built
from tests.explorer import small_lab, wishes
from tests.explorer.asking import ask
from tests.explorer.small_lab import HOSTILE, PROGRAM, Ask, Said
from tests.explorer.web.test_site import lab
from tests.explorer.wishes import Page, program_of, said, told


def answered(query: str, given: object = None, page: Page = PROGRAM) -> dict[str, list[Any]]:
    """What each widget of the small lab was given, in order."""
    return wishes.answered(page, query, given)


def test_a_run_without_change_ends_live() -> None:
    shown = answered("v=1&text=xy")
    bar = shown["ask"][-1]
    assert (bar["state"], bar["answer"]["said"], bar["answer"]["right"]) == ("live", "xyxy", True)
    assert bar["query"] == bar["plain"] == "v=1&text=xy"
    assert bar["changes"] is None and bar["notice"] is None
    assert bar["fields"] == {
        "task": "word",
        "text": "xy",
        "times": "2",
        "cut": "0.0",
        "loud": "0",
        "question": "",
        "most": "0",
    }
    assert shown["difficulty"][-1]["sentence"]["en"] == "It says xyxy."
    assert [one["state"] for one in shown["change"]] == ["empty"]
    assert json.dumps(shown)


def test_a_change_shows_in_bar_and_views() -> None:
    shown = answered("v=1&text=xy", {"times": "1"})
    bar = shown["ask"][-1]
    assert (bar["query"], bar["plain"]) == ("v=1&text=xy&times=1", "v=1&text=xy")
    assert (bar["answer"]["said"], bar["answer"]["right"]) == ("xy", False)
    assert bar["changes"] == {"en": "said 1 times", "zh": "说 1 次"}
    assert shown["difficulty"][-1]["sentence"]["en"] == "It says xy."
    assert shown["change"][0]["state"] == "running"
    panel = shown["change"][-1]
    assert (panel["state"], panel["number"]["before"], panel["number"]["after"]) == (
        "done",
        1.0,
        0.25,
    )
    assert panel["fields"]["times"] == "1" and panel["plain"] == "v=1&text=xy"
    assert [panel["rows"][0][side] for side in ("before", "after")] == ["xyxy", "xy"]
    assert panel["sentence"]["en"] == "With said 1 times, it says ⟦o:xy⟧."


def test_a_wish_queues_where_it_was_wished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[float, float | None]] = []
    stream = Engine.stream

    def noted(
        engine: Engine, function: Any, request: Any, session: str = "", since: float | None = None
    ) -> Any:
        asked.append((time.monotonic(), since))
        return stream(engine, function, request, session, since)

    monkeypatch.setattr(Engine, "stream", noted)
    answered("v=1&text=xy", {"times": "1"})
    # the changed run; then the one without the change, and what both are measured by
    (begun, _), *later = asked
    assert len(later) >= 2 and all(since is not None and since <= begun for _, since in later)


def test_a_link_without_fields_is_an_example() -> None:
    first = PROGRAM.examples[0][0]
    assert PROGRAM.read_request("") == (first, None) == PROGRAM.read_request("lang=zh&step=2")
    request, notice = PROGRAM.read_request("utm_source=mail&lang=zh")
    assert request == first and notice is not None and "utm_source" in notice["en"]


def test_a_change_is_taken_off_by_the_query() -> None:
    bar = answered("v=1&text=xy&times=3&loud=1")["ask"][-1]
    assert bar["changes"] == {"en": "said 3 times and said loud", "zh": "说 3 次，大声说"}
    assert answered(bar["plain"])["ask"][-1]["answer"]["said"] == "xyxy"


def test_a_refusal_touches_no_view() -> None:
    for query, given in (("v=1&text=", None), ("v=1", {"text": ""})):
        shown = answered(query, given)
        assert shown["ask"][-1] == {
            "state": "refused",
            "error": {"en": f"There is no text, {HOSTILE}.", "zh": f"没有文本，{HOSTILE}。"},
        }
        assert shown["difficulty"] == []
        assert shown["change"] == [{"state": "refused", "error": None}]


def test_an_unmeasurable_change_is_refused() -> None:
    shown = answered("v=1&times=9")
    assert shown["ask"][-1]["state"] == "live"
    assert shown["change"][-1] == {
        "state": "refused",
        "error": {"en": "Nine is too much.", "zh": "九次太多。"},
    }


def test_a_defect_is_said_to_be_one(caplog: pytest.LogCaptureFixture) -> None:
    def broken(seen: Said, request: Any) -> Any:
        raise RuntimeError("a defect")

    shown = answered("v=1&text=xy", page=replace(PROGRAM, bar=replace(PROGRAM.bar, answer=broken)))
    assert shown["ask"][-1]["state"] == "refused"
    assert "log" in shown["ask"][-1]["error"]["en"]
    assert "a wish could not be fulfilled" in caplog.text


def test_a_change_is_drawn_with_its_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    threads: list[threading.Thread] = []

    def broken(*_: Any) -> Any:
        threads.append(threading.current_thread())
        raise ValueError("a defect")

    assert PROGRAM.change is not None
    shown = answered(
        "v=1&text=xy&times=1", page=replace(PROGRAM, change=replace(PROGRAM.change, draw=broken))
    )
    panel = shown["change"][-1]
    assert (
        shown["ask"][-1]["state"] == "live"
        and panel["state"] == "refused"
        and "log" in panel["error"]["en"]
    )
    assert threads != [threading.main_thread()] and "a change could not be drawn" in caplog.text


@pytest.mark.parametrize("query", ["", "v=1"])
def test_the_first_example_is_the_stored_one(query: str) -> None:
    assert answered(query)["ask"][-1]["state"] == "stored"
    assert answered(query, {"text": "ab"})["ask"][-1]["state"] == "live"
    assert answered(query, {"times": "1"})["ask"][-1]["answer"]["said"] == "ab", (
        "a changed model never shows the stored run"
    )


@pytest.mark.parametrize("detail", [None, [], "v=1", {"query": 5}, {"query": ["v=1"]}, {"set": {}}])
def test_an_event_of_any_form_is_read_or_refused(detail: Any) -> None:
    query, given = answers.read_event(detail)
    assert answered(query, given)["ask"][-1]["state"] in {"stored", "live", "refused"}


def test_what_is_held_ready_is_finished_and_says_stored() -> None:
    def held(query: str) -> Any:
        async def one(engine: Engine) -> AsyncGenerator[Any, None]:
            yield await PROGRAM.render_stored_result(engine, query)

        return said(one)[0]

    changed = held("v=1&times=1")
    assert (changed["ask"]["state"], changed["change"]["state"]) == ("stored", "done")
    assert held("v=1&text=") is None
    assert held("v=1&times=9") is None, "the page asks the engine then, which says what is wrong"


def test_the_run_without_a_change_comes_as_values_of_all_views() -> None:
    *_, last = said(lambda engine: answers.render_run_before(PROGRAM, engine, "v=1&text=xy"))
    assert (last["state"], last["query"]) == ("before", "v=1&text=xy")
    assert last["values"]["difficulty"]["sentence"]["en"] == "It says xyxy."
    assert last["values"]["ask"]["answer"]["said"] == "xyxy"
    assert "before" not in [
        one.get("state")
        for one in said(lambda engine: answers.render_run_before(PROGRAM, engine, "v=1&text="))
    ]


def test_the_unchanged_run_is_computed_once_whoever_asks() -> None:
    computed: list[Any] = []

    def explain(requests: Any) -> Any:
        computed.extend(requests)
        return [Said(one.text, one.text) for one in requests]

    page: Page = replace(PROGRAM, explain=explain)

    async def three(engine: Engine) -> AsyncGenerator[Any, None]:
        for query in ("v=1&text=xy", "v=1&text=xy&times=1", "v=1&text=xy&times=3"):
            async for update in answers.stream_answer(page, engine, query):
                yield update

    said(three)
    assert [one.times for one in computed] == [2, 1, 3]


def read(query: str, given: object = None) -> Ask:
    request, notice = controls.read_request(Ask, query, given)
    assert notice is None
    return request


def test_fields_that_are_set_stand_on_top_of_the_query() -> None:
    assert read("v=1&text=xyz&times=3", {"cut": "0.5", "loud": "1"}) == Ask(
        text="xyz", times=3, cut=0.5, loud=True
    )
    assert read("v=1&text=xyz&times=3", {"times": "2"}) == Ask(text="xyz")
    assert read("", {}) == Ask()


@pytest.mark.parametrize(
    ("query", "given", "says"),
    [
        ("v=1&times=10", None, "The number of times is 10; it can be 1 to 9."),
        ("v=1", {"times": "0"}, "The number of times is 0; it can be 1 to 9."),
        (
            "v=1",
            {"times": "many"},
            "The link's “times” reads “many”; a whole number of up to 15 digits belongs there.",
        ),
        ("v=1", {"loud": "maybe"}, "The link's “loud” reads “maybe”; 0 or 1 belongs there."),
        ("v=1", {"task": "sing"}, "There is no task sing; there are word, bits, story."),
        ("v=1", {"text": "x" * 41}, "Your text has 41 characters; at most 40 can be read."),
        ("v=2", None, "This link is of version 2; this page reads version 1."),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(query: str, given: object, says: str) -> None:
    with pytest.raises(InputError) as caught:
        controls.read_request(Ask, query, given)
    assert caught.value.text["en"] == says


@pytest.mark.parametrize(
    "given",
    [{"times": 3}, {"other": "1"}, ["times", "3"], "times=3", 5, {"times": None}, {3: "times"}],
)
def test_fields_of_another_form_are_refused(given: Any) -> None:
    with pytest.raises(InputError) as caught:
        controls.read_request(Ask, "v=1", given)
    assert caught.value.code == "malformed"


def test_a_request_too_large_for_a_link_has_no_query() -> None:
    @dataclass(frozen=True)
    class Long:
        text: str = text_field("", 10**6)

    assert controls.spell_query(Long("".join(map(str, range(20_000))))) == ""


def test_without_its_changes_a_request_keeps_its_input() -> None:
    changed = Ask("bits", "101", times=5, cut=0.5, loud=True)
    assert controls.remove_changes(changed, PROGRAM.controls) == Ask("bits", "101")
    assert [one["en"] for one in controls.describe_changes(changed, PROGRAM.controls)] == [
        "said 5 times",
        "cut 0.5",
        "said loud",
    ]
    assert (
        controls.describe_changes(replace(changed, times=2, cut=0.0, loud=False), PROGRAM.controls)
        == []
    )


def test_a_widget_learns_type_default_and_range_from_the_record() -> None:
    drawn = {control.field: control.describe_control(Ask) for control in PROGRAM.controls}
    assert (drawn["times"]["least"], drawn["times"]["most"], drawn["times"]["default"]) == (
        1,
        9,
        "2",
    )
    assert drawn["task"]["values"] == ["word", "bits", "story"]
    assert drawn["text"]["most"] == 40
    assert drawn["loud"]["names"] == [
        ["1", {"en": "yes", "zh": "是"}],
        ["0", {"en": "no", "zh": "否"}],
    ]


def test_a_placeholder_default_has_no_place() -> None:
    @dataclass(frozen=True)
    class Limited:
        limit: int = number_field(0, 0, 20, en="limit", zh="上限")

    drawn = SliderControl(
        "limit", {"en": "", "zh": ""}, stands=("task", {"word": 7})
    ).describe_control(Limited)
    assert (drawn["least"], drawn["default"]) == (1, "0")
    assert drawn["stands"] == ["task", {"word": 7}]


@dataclass(frozen=True)
class Often(Ask):
    """The same request with one field more."""

    often: int = number_field(1, 1, 5, en="how often", zh="多少次")


def test_a_knob_is_a_field_and_a_control() -> None:
    label, said = {"en": "often", "zh": "频次"}, {"en": "more often", "zh": "更频繁"}
    knob = SliderControl("often", label, change=True, says=lambda _n: said)
    program = replace(PROGRAM, kind=Often, controls=(*PROGRAM.controls, knob))
    request, _ = controls.read_request(Often, "v=1", {"often": "3"})
    assert request == Often(often=3) and controls.spell_query(request) == "v=1&often=3", (
        "the link says it"
    )
    with pytest.raises(InputError, match="The how often is 6; it can be 1 to 5"):
        controls.read_request(Often, "v=1&often=6")
    assert controls.describe_changes(request, program.controls) == [said], (
        "the chip and the sentence say it"
    )
    assert controls.remove_changes(request, program.controls) == Often(), "Esc takes it off"
    drawn = knob.describe_control(program.kind)
    assert (drawn["least"], drawn["most"], drawn["default"], drawn["label"]) == (
        1,
        5,
        "1",
        label,
    ), "the panel has its slider"
    assert "often" in {one.name for one in api.list_parameters(program.kind)}, "a script may set it"


FOLDERS = ("components", "inputs", "lib")
SCRIPTS = {
    path: path.read_text("utf-8")
    for folder in FOLDERS
    for path in (base.FOLDER / folder).rglob("*.js")
}


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_the_panel_has_no_words_of_its_own_for_a_knob(lab: OpenLab) -> None:
    for label in [control.label for control in program_of(lab.slug).controls if control.change]:
        told = [
            path.name
            for path, script in SCRIPTS.items()
            if all(f'"{text}"' in script for text in label.values())
        ]
        assert told == [], f"{label['en']} is written again"


LARGE = 200  # squared and in 32 bits, more than travels inside a value
ran: list[str] = []


def explain(requests: Sequence[small_lab.Ask]) -> list[Any]:
    """The small lab's model, which notes what it is asked."""
    ran.extend(one.text for one in requests)
    return small_lab.explain(requests)


def drawn(seen: small_lab.Said, request: small_lab.Ask, state: str) -> dict[str, Any]:
    """A picture of many numbers."""
    return {
        "state": state,
        "numbers": packing.pack_array(np.full((LARGE, LARGE), len(seen.answer), np.int32)),
    }


def attention(seen: small_lab.Said) -> Attention:
    """A map of the answer's letters."""
    n = len(seen.answer)
    return Attention(
        "self",
        small_lab.text("self", "自"),
        np.full((1, 1, n, n), 1 / n, np.float32),
        [*seen.answer],
        [*seen.answer],
    )


def test_both_sides_of_a_change_share_a_batch() -> None:
    engine = Engine(limits=Limits(batch_wait=0.5))  # a busy machine may be slow to ask
    *_, last = told(PROGRAM, "v=1&text=xyz&times=1", engine=engine)
    sizes = dict(engine.snapshot().batch_sizes)
    engine.close(1.0)
    assert last["change"]["state"] == "done"
    assert sizes == {2: 2}, "the two runs, then what is measured of each"


NOTING: Program[Any, Any, Any, Any] = replace(
    small_lab.PROGRAM,
    slug="small",
    explain=explain,
    views=(
        View("large", partial(place_run_figure, "difficulty"), drawn, at="side"),
        view_in_bertviz(("head",), attention),
    ),
    change=None,
)


@pytest.fixture
def site(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A web server that holds nothing yet."""
    monkeypatch.setattr(
        small_lab.Ask, "live", property(lambda self: self.text == "live"), raising=False
    )
    ran.clear()
    small = lab(
        slug="small",
        page=lambda lab, engine: None,
        stored=None,
        probe=None,
        endpoint=None,
        again=NOTING.recompute_result,
    )
    return built(lambda: Site([small], engine))


def forgotten() -> None:
    """As if it were another process."""
    packing.array_store.cache_clear()
    packing.frame_store.cache_clear()


def address_of(text: str) -> str:
    """Where another web server has told a page that the numbers are."""
    request = replace(small_lab.Ask(), text=text)
    (seen,) = small_lab.explain([request])
    shown = NOTING.render_run(seen, request, ResultOrigin("live", 1.0, "cpu"))["large"]
    forgotten()
    return str(shown["numbers"]["url"])


def test_an_array_drawn_elsewhere_is_remade(site: Site) -> None:
    address = address_of("abc")
    answer = ask(site, address)
    assert answer.status_code == 200
    assert np.array_equal(np.frombuffer(answer.content, np.int32), np.full(LARGE * LARGE, 6))
    assert ask(site, address).content == answer.content and ran == ["abc"]


def test_a_view_that_another_server_has_opened_is_made_again(site: Site, engine: Engine) -> None:
    look = NOTING.views[1].look
    assert look is not None

    async def shown() -> Any:
        asked = {"view": "head", "run": "v=1&text=abcd", "kind": "", "head": "", "wished": 3}
        return [value async for value in render_folded_view(NOTING, engine, look, asked)][-1]

    address = folded.with_drawings_as_text(asyncio.run(shown()))["src"]
    page = ask(site, address).content
    forgotten()
    assert ask(site, address).content == page and page.startswith(b"<!doctype html>")
    assert ask(site, address.partition("?")[0]).status_code == 200, "now it is held"


@pytest.mark.parametrize(
    "change",
    [
        ("of=small", "of=another"),
        ("run=", "run=v%3D1%26text%3Dlive%26"),
        ("run=", "run=v%3D1%26times%3D99%26"),
        ("run=", "view=bertviz&asked=%5B&run="),
    ],
)
def test_forbidden_addresses_run_nothing(site: Site, change: tuple[str, str]) -> None:
    address = address_of("abcde").replace(*change)
    assert ask(site, address).status_code == 404
    assert ran == []


def test_the_digest_alone_says_what_is_there(site: Site) -> None:
    mine, another = address_of("abc"), address_of("abcd")
    assert ask(site, mine.partition("?")[0] + "?" + another.partition("?")[2]).status_code == 404
    assert ask(site, another).status_code == 200


def test_a_page_of_another_site_makes_nothing_run(site: Site) -> None:
    address = address_of("abcdef")
    assert (
        ask(site, address, headers={"sec-fetch-site": "cross-site"}).status_code == 404
        and ran == []
    )
    assert ask(site, address, headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_live_results_have_no_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with packing.record_origin(of="small", run="x" * packing.LONGEST):
        assert packing.write_address("arrays", "0") == "/arrays/0"
    assert "?" in address_of("abc")
    monkeypatch.setattr(small_lab.Ask, "live", property(lambda _: True), raising=False)
    assert "?" not in address_of("abc")
