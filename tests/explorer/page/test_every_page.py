"""What the page of every lab draws without a browser: of an input of one's own, of the first
example, on demand, of what was trained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.components.card import TitleFigure
from explorer.contract import controls
from explorer.contract.control_kinds import Control, DrawingControl, TypedControl
from explorer.contract.lab import OpenLab
from explorer.engine import Engine
from explorer.labs import LABS
from explorer.media.uploads import routes
from explorer.page import card_facts
from models.media.picture_files import FILE
from tests.explorer.numbers import unpacked
from tests.explorer.wishes import alone, opened, program_of, told
from tests.known import known
from tests.models.test_every_lab import ASKED, IN_TURNS, asked, same
from tests.test_labs import built, labs, texts_of

MODELS = pytest.mark.parametrize(
    "lab", [lab for lab in LABS if lab.probe is not None], ids=lambda lab: lab.slug
)
PAGES = [(lab, program_of(lab.slug)) for lab in LABS]
PANELS = [
    (lab, view.name)
    for lab, page in PAGES
    for view in page.views
    if view.look is not None and view.look.event == "ask"
]
HINTS = [
    (lab, control)
    for lab, page in PAGES
    for control in page.controls
    if isinstance(control, TypedControl) and control.placeholder
]
DRAWN: list[Any] = [
    (lab, control)
    for lab, page in PAGES
    for control in page.controls
    if isinstance(control, DrawingControl) and control.drawings
]
# What no page of ours sends with the event of a panel.
WISHES = (
    *(
        "beam",
        "head",
        "kind",
        "mheads",
        "mlength",
        "model",
        "mwidth",
        "order",
        "pgain",
        "player",
        "pof",
        "pos",
        "pshift",
    ),
    *("sfrom", "squeries", "tqueries", "view"),
)
NONSENSE = (
    [1, 2],
    {"german": ["Ein"], "endless": "yes"},
    *(dict.fromkeys(WISHES, value) for value in ("9" * 5000 + ".٣", True, {})),
)


def small(lab: OpenLab) -> Any:
    """A small request without a change."""
    page = program_of(lab.slug)
    return page.remove_changes(
        asked(lab.slug)[0] if lab.slug in ASKED else page.read_request(known("SMALL")[lab.slug])[0]
    )


@labs
def test_an_own_input_grows_and_ends_live(lab: OpenLab, engine: Engine) -> None:
    page = program_of(lab.slug)
    request = small(lab)
    updates = told(page, "", controls.spell_fields(request), engine)
    states = [update["ask"]["state"] for update in updates if "ask" in update]
    assert states[-1] == "live" and set(states) <= {"running", "waiting", "live"}
    growing = [
        update
        for update in updates
        if update.get("ask", {}).get("state") == "running" and "progress" in update["ask"]["badge"]
    ]
    assert all(
        text["en"].strip() and text["zh"].strip()
        for update in growing
        for text in texts_of(update["ask"]["badge"])
    )
    assert growing or lab.slug not in IN_TURNS
    last = updates[-1] if "change" in updates[-1] else {}
    shown = {name: value for update in updates for name, value in update.items()}
    assert {view.name for view in page.views if view.draw and view.draws_request(request)} <= set(
        shown
    )
    spelled = controls.spell_query(request)
    assert {value["query"] for value in shown.values() if value and "query" in value} == {
        spelled
    } and shown["ask"]["plain"] == spelled
    assert last["change"]["state"] == "empty" and last["change"]["fields"] == controls.spell_fields(
        request
    )
    assert last["change"].get("pick") == shown["ask"].get("pick"), (
        "a change leaves the place in view"
    )
    assert {value["state"] for value in shown.values() if value and "state" in value} <= {
        "live",
        "empty",
        "shown",
    }
    said = [
        text
        for value in shown.values()
        if value and value.get("sentence")
        for text in value["sentence"].values()
    ]
    assert not [
        text for text in said if len(text) < 9 or re.search(r"\{\w+\}|\bnan\b|\binf\b", text)
    ]
    assert json.dumps(updates, allow_nan=False)


@MODELS
def test_the_stored_example_is_still_true(lab: OpenLab, engine: Engine) -> None:
    page = program_of(lab.slug)
    kept = page.first()
    assert kept is not None and kept.request == page.examples[0][0]
    *_, drawn = told(page, "", engine=engine)  # a slow drawing says first that it is under way
    assert drawn["ask"]["state"] == "stored"
    same(alone(engine.ask(page.explain, kept.request)).value, kept.seen)


@pytest.mark.parametrize(
    ("lab", "panel"), PANELS, ids=[f"{lab.slug}-{panel}" for lab, panel in PANELS]
)
def test_a_panel_follows_the_run_in_view(lab: OpenLab, panel: str, engine: Engine) -> None:
    page, run = program_of(lab.slug), controls.spell_query(small(lab))

    def drawn(run: str, wish: object = None) -> Any:
        found = opened(page, panel, {"run": run, "wish": wish}, engine)
        return {name: value for name, value in found.items() if name != "wish"}

    shown, refused = drawn(run), drawn("v=9")
    assert (shown["state"], shown["run"]) == ("shown", run) and json.dumps(shown, allow_nan=False)
    assert all(text["en"].strip() and text["zh"].strip() for text in texts_of(shown))
    assert [drawn(run, wish) == shown for wish in NONSENSE] == [True] * len(NONSENSE)
    assert (
        (refused["state"], refused["run"]) == ("refused", "v=9")
        and refused["error"]["en"]
        and refused["error"]["zh"]
    )


@pytest.mark.parametrize(
    ("lab", "control"),
    HINTS,
    ids=[f"{lab.slug}-{control.placeholder[:20]}" for lab, control in HINTS],
)
def test_what_stands_in_an_empty_line_as_an_example_can_be_asked(
    lab: OpenLab, control: Control, engine: Engine
) -> None:
    given = {
        **{name: values[0] for name, values in control.when.items()},
        control.field: control.placeholder,
    }
    assert told(program_of(lab.slug), "", given, engine)[-1]["ask"]["state"] in {
        "live",
        "remembered",
    }


@pytest.mark.parametrize(
    ("lab", "control"),
    DRAWN,
    ids=[f"{lab.slug}-{control.drawings.pixels.shape[1]}" for lab, control in DRAWN],
)
def test_where_pictures_and_files_go(lab: OpenLab, control: Control) -> None:
    held, told = (
        control.drawings,
        json.loads(json.dumps(control.describe_control(program_of(lab.slug).kind)))["drawings"],
    )
    assert (
        held is not None
        and "url" not in told["pixels"]
        and np.array_equal(unpacked(told["pixels"]), held.pixels)
    )
    assert (
        len(told["names"]) == len(held.pixels)
        and told["upload"] in {route.path for route in routes()}
        and told["file"] == FILE
    )


@pytest.mark.parametrize(
    ("slug", "made", "given"),
    [
        *(
            ("image_transformer", {}, None),
            ("music", {}, None),
            ("sparse_transformer", {}, {"keep": 28}),
        ),
        ("sparse_transformer", {"task": "text"}, {"task": "text", "length": 0}),
    ],
)
def test_a_bent_distribution_is_said_so(slug: str, made: Any, given: Any) -> None:
    page = program_of(slug)
    sharp, plain, flat = (
        page.bar.notice(page.kind(temperature=one, **made), None) for one in (0.4, 1.0, 1.6)
    )
    assert (
        plain is None and "sharper" in sharp["en"] and "0.4" in sharp["en"] and "平坦" in flat["zh"]
    )
    assert given is None or page.bar.notice(page.kind(temperature=0.4, **given), None) is None


@labs
def test_the_card_is_filled_in_and_its_curves_are_drawn(lab: OpenLab) -> None:
    page = program_of(lab.slug)
    prose = page.about.prose()
    assert set(prose) == {"en", "zh"}
    assert not [
        text
        for text in prose.values()
        if "{" in text or "not yet measured" in text or "尚未测量" in text
    ]
    assert page.about.pairs() and all(isinstance(pair, TitleFigure) for pair in page.about.pairs())
    drawn = page.about.curves()
    assert drawn is None or "{" not in drawn["sentence"]["en"] + drawn["sentence"]["zh"]  # type: ignore[index]


@MODELS
def test_a_page_stands_where_nothing_was_trained(
    lab: OpenLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_facts, "ASSETS", tmp_path)
    page = program_of(lab.slug).about
    assert page.pairs() == () and page.prose() == {} and page.curves() is None
    assert built(lab).blocks
