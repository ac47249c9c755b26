"""What every view of every lab says of a run agrees with the arrays that it draws; `benchmarks projected` reads many more of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from benchmarks.truth.contradictions import contradictions
from benchmarks.truth.saying import Said, Sayings, requests
from explorer.lab import Lab
from explorer.labs import LABS

DRAWN, INPUTS = 40, 2  # the last of those that are drawn: short texts, changed models


@pytest.fixture(scope="module")
def sayings(chromium: Browser) -> Iterator[Sayings]:
    """One page and one server for all labs."""
    tab = chromium.new_page()
    with Sayings(tab) as made:
        yield made
    tab.close()


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_no_sentence_says_other_than_its_figure(lab: Lab, sayings: Sayings) -> None:
    said: list[Said] = [one for request in requests(lab, DRAWN)[-INPUTS:] for one in sayings.of(lab, request, panels=1)]
    assert said
    assert [wrong for one in said for wrong in contradictions(one)] == []
