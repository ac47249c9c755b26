"""What the page of every lab draws without a browser: of an input of one's own, of the first example, on demand, of what was trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer import controls
from explorer.engine import Engine
from explorer.lab import Lab
from explorer.labs import LABS, about
from explorer.widgets.card import Pair
from tests.explorer.wishes import alone, opened, program_of, told
from tests.known import known
from tests.models.test_every_lab import ASKED, IN_TURNS, asked, same
from tests.test_labs import built, labs, texts_of

MODELS = pytest.mark.parametrize("lab", [lab for lab in LABS if lab.probe is not None], ids=lambda lab: lab.slug)
IN_BERTVIZ = [lab for lab in LABS if any(view.name == "bertviz" for view in program_of(lab.slug).views)]


def small(lab: Lab) -> Any:
    """A small request without a change."""
    page = program_of(lab.slug)
    return page.plain(asked(lab.slug)[0] if lab.slug in ASKED else page.read(known("SMALL")[lab.slug])[0])


@labs
def test_an_input_of_ones_own_grows_and_ends_live_at_its_address_in_every_view(lab: Lab, engine: Engine) -> None:
    page = program_of(lab.slug)
    request = small(lab)
    updates = told(page, "", controls.texts(request), engine)
    states = [update["ask"]["state"] for update in updates if "ask" in update]
    assert states[-1] == "live" and set(states) <= {"running", "waiting", "live"}
    growing = [update for update in updates if update.get("ask", {}).get("state") == "running" and "progress" in update["ask"]["badge"]]
    assert all(text["en"].strip() and text["zh"].strip() for update in growing for text in texts_of(update["ask"]["badge"]))
    assert growing or lab.slug not in IN_TURNS
    last = updates[-1] if "change" in updates[-1] else {}
    shown = {name: value for update in updates for name, value in update.items()}
    assert {view.name for view in page.views if view.draw and view.of(request)} <= set(shown)
    spelled = controls.query(request)
    assert {value["query"] for value in shown.values() if value and "query" in value} == {spelled} and shown["ask"]["plain"] == spelled
    assert last["change"]["state"] == "empty" and last["change"]["fields"] == controls.texts(request)
    assert last["change"].get("pick") == shown["ask"].get("pick"), "a change leaves the place in view"
    assert {value["state"] for value in shown.values() if value and "state" in value} <= {"live", "empty", "shown"}
    assert json.dumps(updates)


@MODELS
def test_the_first_example_is_shown_from_the_store_and_is_what_the_models_say_today(lab: Lab, engine: Engine) -> None:
    page = program_of(lab.slug)
    kept = page.first()
    assert kept is not None and kept.request == page.examples[0][0]
    (drawn,) = told(page, "", engine=engine)
    assert drawn["ask"]["state"] == "stored"
    same(alone(engine.ask(page.explain, kept.request)).value, kept.seen)


@pytest.mark.parametrize("lab", IN_BERTVIZ, ids=lambda lab: lab.slug)
def test_bertviz_is_opened_for_the_run_in_view_and_says_why_it_shows_none(lab: Lab, engine: Engine) -> None:
    page = program_of(lab.slug)
    run = controls.query(small(lab))
    found = opened(page, "bertviz", {"view": "head", "run": run}, engine)
    assert (found["state"], found["run"]) == ("shown", run) and "bertviz" not in page.widgets
    refused = opened(page, "bertviz", {"view": "head", "run": "v=9"}, engine)
    assert (refused["state"], refused["run"]) == ("refused", "v=9") and refused["error"]["en"] and refused["error"]["zh"]


@labs
def test_the_card_is_filled_in_and_its_curves_are_drawn(lab: Lab) -> None:
    page = program_of(lab.slug)
    prose = page.about.prose()
    assert set(prose) == {"en", "zh"}
    assert not [text for text in prose.values() if "{" in text or "not yet measured" in text or "尚未测量" in text]
    assert page.about.pairs() and all(isinstance(pair, Pair) for pair in page.about.pairs())
    drawn = page.about.curves()
    assert drawn is None or "{" not in drawn["sentence"]["en"] + drawn["sentence"]["zh"]  # type: ignore[index]


@MODELS
def test_a_page_stands_where_nothing_was_trained(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "ASSETS", tmp_path)
    page = program_of(lab.slug).about
    assert page.pairs() == () and page.prose() == {} and page.curves() is None
    assert built(lab).blocks
