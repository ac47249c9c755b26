"""The button that silences a head names the one that the picture shows, whichever model it is
of."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.browser.waiting import becomes
from tests.contract.conftest import on_its_page
from tests.contract.test_a_walk_through_every_lab import settled
from tests.explorer.wishes import program_of
from tests.fitting import figures_stand
from tests.visits import Visit

KEYS = ("kind", "model", "pattern")  # of the address: whose heads a picture shows
# A panel that an earlier test has unfolded shows a head of its own.
DRAWN = (
    "[...document.querySelectorAll('[data-drawn]')].filter((one) => !one.closest('.tfe-folded'))"
    ".map((one) => one.dataset.drawn)"
)


def models_of(lab: OpenLab) -> list[str]:
    """Return the models whose heads the lab can silence."""
    knobs = [one for one in program_of(lab.slug).controls if one.kind == "heads"]
    return [model for knob in knobs[:1] for model in knob.names]


silencing = [
    one for one in on_its_page() if models_of(next(lab for lab in LABS if lab.slug == one.id))
]


def list_heads_in_view(page: Page, model: str) -> list[str]:
    """Return the heads of a model, "4·2", that the pictures draw now."""
    drawn = [
        one for one in page.evaluate(DRAWN) if any(f"{key}={model} " in f"{one} " for key in KEYS)
    ]
    return [
        f"{head[1]}·{head[2]}" for one in drawn if (head := re.search(r"\bhead=(\d+)\.(\d+)", one))
    ]


def button_names_head(page: Page, model: str) -> bool:
    """Return whether the first button that silences names every head of a model in view."""
    button = page.locator("[data-knob=silenced] button.tfe-button").first.inner_text()
    return all(f"Silence head {head}" in button for head in list_heads_in_view(page, model))


@pytest.mark.parametrize("lab", silencing)
def test_button_names_the_head_in_view(visit: Visit, lab: OpenLab) -> None:
    shown = 0
    for model in models_of(lab):
        page = visit(f"{lab.path}?" + "&".join(f"_{key}={model}" for key in KEYS))
        settled(page)
        figures_stand(page)
        if list_heads_in_view(page, model):
            becomes(page, lambda page=page, model=model: button_names_head(page, model), True)  # type: ignore[misc]
            shown += 1
    assert shown
