"""The benchmarks in a real browser, in short: that they measure what they say. How fast it is, a
test on a busy machine cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from benchmarks import first_figure, long_attention
from tests.bench import Bench
from tests.support.visitors import long_page
from tests.support.visitors.browser import SCRIPT

NEW = Callable[..., tuple[Page, Any]]


def test_heads_switch_without_a_request(site: str, new_page: NEW) -> None:
    page, _ = new_page()
    page.add_init_script(SCRIPT)
    submits, switches, requests, _ = first_figure.measure_tab(page, site, 1, 2)
    assert requests == 0
    assert len(submits) == 1 and len(switches) == 2
    assert min(submits + switches) > 0


def test_a_pooled_block_shows_its_exact_rows(bench: Bench, new_page: NEW) -> None:
    page, faults = new_page()
    page.add_init_script(SCRIPT)
    assert (
        long_attention.first(page, bench.put(__name__, {long_page.SLUG: long_page.page}, year=2020))
        > 0
    )
    assert long_attention.drilldown(page, 1) > 0
    expect(page.locator(".tfe-attention-exact")).to_be_visible()
    faults.outside.clear()
