"""The badge of every lab: stored, live, remembered, not run yet, a change that is dragged or
running. One small run of its own per lab."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from explorer.contract.lab import OpenLab
from tests.browser.waiting import note, noted
from tests.contract.conftest import on_its_page
from tests.known import known
from tests.visits import Visit

# A small input of each lab's own, as a link spells it; none of them is an example or a step.
SMALL = {
    "cost": "v=1&task=scale&seed=51",
    "translation": "v=1&sentence=A+dog+sits.",
    "image_transformer": "v=1&mode=complete&kind=10&picture=test:1&keep=21&seed=51",
    "music": "v=1&seed=51&motif=JQAlACUAJQAkACQAJAAkAA",
    "transformer_xl": "v=1&text=The+sea.&length=2&seed=51",
    "adaptive_span": "v=1&text=The+sea.&length=2&seed=51",
    "sparse_transformer": "v=1&task=text&text=The+sea.&length=2&seed=51",
    "reformer": "v=1&text=abba",
    "act_rnn": "v=1&task=parity&text=1011",
    "universal_transformer": "v=1&task=addition&text=12%2B34&question=",
}
# The same with other inputs, which no other test runs: the server of a run of tests remembers what
# any of them has asked for.
OTHER = {
    "A+dog+sits.": "A+cat+sits.",
    "seed=51": "seed=53",
    "text=abba": "text=cddc",
    "text=1011": "text=1101",
    "12%2B34": "21%2B43",
}
NEW = {
    slug: next(query.replace(old, new) for old, new in OTHER.items() if old in query)
    for slug, query in SMALL.items()
} | known("NEW")
SMALL |= known("SMALL")
RESULT = re.compile(r"^(stored|remembered|live · [\d.]+ m?s · \w+)$")
LIVE = re.compile(r"^live · [\d.]+ m?s · \w+$")
EACH = pytest.mark.parametrize("lab", on_its_page())


@EACH
def test_inputs_are_live_or_remembered(lab: OpenLab, visit: Visit) -> None:
    page = visit(f"{lab.path}?{NEW[lab.slug]}")
    badge = page.locator(".tfe-badge").first
    expect(badge).to_have_text(LIVE)
    run = page.locator("button[type=submit].tfe-button").first
    for _ in range(2):
        run.click()
        expect(badge).to_have_text("remembered")
    box: Any = page.locator(
        "form input[class*=seed]:visible, form textarea:visible, form input[type=text]:visible"
    ).first
    if not box.count():  # what is dragged is tested with its own input
        return
    was = box.input_value()
    box.fill(was + "1")
    expect(badge).to_have_text("not run yet")
    box.fill(was)
    expect(badge).to_have_text("remembered")


@EACH
def test_a_change_that_is_running_says_so(lab: OpenLab, visit: Visit) -> None:
    page = visit(f"{lab.path}?{SMALL[lab.slug]}")
    badge = page.locator(".tfe-badge").first
    expect(badge).to_have_text(RESULT)
    panel = page.locator(".tfe-change").locator("visible=true").first
    knob = panel.locator("input[type=range][data-field]:enabled").locator("visible=true").first
    note(page)
    if not knob.count():
        panel.locator("[data-knob] button").first.click()
    else:
        places = knob.evaluate("(it) => [it.min, it.max, it.value].map(Number)")
        other = places[0] if places[2] != places[0] else places[1]
        for event in ("input", "change"):
            knob.evaluate(
                "(it, [to, event]) => { it.value = to; it.dispatchEvent(new Event(event, {bubbles:"
                " true})); }",
                [other, event],
            )
            if event == "input":
                # nothing is asked before it comes to rest
                expect(badge).to_have_text("not run yet")
    expect(panel.locator("[aria-busy]").first).to_have_attribute("aria-busy", "false")
    expect(badge).to_have_text(RESULT)
    assert "live · running the change" in noted(page)
