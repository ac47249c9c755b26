"""One page of each lab for all promises that need none of their own, "visit" (tests/visits.py)."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.labs import LABS


def on_its_page(order: int = 1) -> list[Any]:
    """Every lab, as parameters; the tests of a lab run one after the other, since they share its page.

    order: of this test among them: 0 where the page is opened anew, 3 where it is used up; tests/browser has 2.
    """
    return [pytest.param(lab, id=lab.slug, marks=pytest.mark.xdist_group(f"{lab.slug} walk", order)) for lab in LABS]
