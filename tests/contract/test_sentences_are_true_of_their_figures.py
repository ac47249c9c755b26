"""What every view of every lab says of a run agrees with the arrays that it draws; `benchmarks
projected` reads many more of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser

from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.support.truth.contradictions import contradictions
from tests.support.truth.saying import Sayings, program


@pytest.fixture(scope="module")
def sayings(chromium: Browser) -> Iterator[Sayings]:
    """One page and one server for all labs."""
    tab = chromium.new_page()
    with Sayings(tab) as made:
        yield made
    tab.close()


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_no_sentence_says_other_than_its_figure(lab: OpenLab, sayings: Sayings) -> None:
    (run,) = sayings.accepted(lab, 1, latest=True)
    assert [wrong for one in run for wrong in contradictions(one)] == []


def test_classifiers_reach_the_last_layer(sayings: Sayings) -> None:
    lab = next(lab for lab in LABS if lab.slug == "language_model")
    request, _ = program(lab).read_request("v=1&text=The+sea.&length=2&variant=induction")
    told = [
        one
        for seed in range(4)
        for one in sayings.of(lab, request, panels=0, seed=seed)
        if one.look.get("tower") == "exits"
    ]
    assert told and all(" in layer 8." in one.text for one in told)
    assert [wrong for one in told for wrong in contradictions(one)] == []


def test_a_sentence_with_another_number_is_found_out(sayings: Sayings) -> None:
    lab = next(lab for lab in LABS if lab.slug == "rnn_attention")
    (said,) = sayings.accepted(lab, 1, panels=0, latest=True)
    altered = [
        replace(
            one,
            text=re.sub(r"0\.\d\d", lambda found: f"{(float(found[0]) + 0.3) % 1:.2f}", one.text),
        )
        for one in said
    ]
    views = {one.view for one in said if one.view in {"attention", "remains"}}
    assert views and {one.view for one in altered if [*contradictions(one)]} >= views
