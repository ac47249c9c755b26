"""A seed below 0, between two whole numbers or beyond all of them is refused in words, in its box
and in a link, and is not replaced."""

from __future__ import annotations

import dataclasses
from importlib import import_module

import pytest
from playwright.sync_api import expect

from explorer.contract.lab import OpenLab
from explorer.contract.permalink import encode
from tests.contract.conftest import on_its_page
from tests.visits import Visit

SEEDED = [
    one
    for one in on_its_page()
    if hasattr(import_module(f"models.{one.id}.records").EXAMPLES[0], "seed")
]
# a slider draws rotations; nothing is random on arrival
TYPED = [one for one in SEEDED if one.id not in {"reformer", "cost", "bert", "graph_attention"}]
NONE = ("-1", "1.5", "100000000000000000000")


def test_most_labs_have_a_seed() -> None:
    assert len(SEEDED) >= 6


@pytest.mark.parametrize("lab", SEEDED)
def test_a_link_that_gives_one_is_refused(lab: OpenLab, visit: Visit) -> None:
    example = dataclasses.replace(
        import_module(f"models.{lab.slug}.records").EXAMPLES[0], seed=424_242
    )
    for given in NONE:
        # a link within the page is read as one that opens it
        page = visit(f"{lab.path}?{encode(example).replace('424242', given)}")
        said = page.locator("form .tfe-error")
        expect(said).to_contain_text(given)
        expect(said).to_contain_text(
            "it can be 0 to 999"
            if given == "-1"
            else "a whole number of up to 15 digits belongs there"
        )
        expect(page.locator(".tfe-badge").first).to_have_text("refused")


@pytest.mark.parametrize("lab", TYPED)
def test_what_is_typed_stays_in_its_box(lab: OpenLab, visit: Visit) -> None:
    page = visit(lab.path)
    badge = page.locator(".tfe-badge").first
    expect(badge).to_have_text("stored")
    box = page.locator("form input[class*=seed]:visible").first
    for given in NONE:
        box.fill(given)
        page.locator("button[type=submit].tfe-button").first.click()
        expect(page.locator("form .tfe-error")).to_have_text(
            f"The seed is {given}; it can be a whole number from 0 to 999,999."
        )
        expect(badge).to_have_text("refused")
        expect(box).to_have_value(given)
