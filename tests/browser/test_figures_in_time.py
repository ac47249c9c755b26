"""The benchmarks in a real browser, in short: that they measure what they say. How fast it is, a test on a busy machine cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from benchmarks import first_figure, long_attention
from benchmarks.visitors import long_page
from benchmarks.visitors.browser import SCRIPT
from tests.bench import Bench

NEW = Callable[..., tuple[Page, Any]]


def test_a_sentence_is_painted_and_heads_are_switched_without_a_request(site: str, new_page: NEW) -> None:
    page, _ = new_page()
    page.add_init_script(SCRIPT)
    submits, switches, requests, _ = first_figure.measured(page, site, 1, 2)
    assert requests == 0
    assert len(submits) == 1 and len(switches) == 2
    assert min(submits + switches) > 0


def test_a_long_run_is_pooled_and_a_chosen_block_shows_its_exact_rows(bench: Bench, new_page: NEW) -> None:
    page, faults = new_page()
    page.add_init_script(SCRIPT)
    assert long_attention.first(page, bench.put(__name__, {long_page.SLUG: long_page.page}, year=2020)) > 0
    assert long_attention.drilldown(page, 1) > 0
    expect(page.locator(".tfe-attention-exact")).to_be_visible()
    name, *numbers = (page.locator(".tfe-attention-exact").get_attribute("data-exact") or "").split()
    first, last, left, right = (int(number) for number in numbers)
    assert last - first + 1 == right - left + 1 == long_page.BLOCK
    shown = [float(text.replace("–", "nan")) for text in page.locator(".tfe-attention-exact tbody td").all_inner_texts()]
    layer, head = name.split(".")
    exact = long_page.rows(int(layer) - 1, int(head) - 1, range(first, last + 1))[:, left : right + 1].reshape(-1)
    np.testing.assert_allclose(np.nan_to_num(shown), exact, atol=1e-4)
    assert "pooled 8×: a cell is the mean over 8 queries of the sum over 8 keys" in page.locator(".tfe-attention-note").inner_text()
    faults.outside.clear()
