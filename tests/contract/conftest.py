"""One page of each lab for all promises that need none of their own, "visit" (tests/browser/conftest.py)."""

from __future__ import annotations

import pytest

from explorer.labs import LABS
from tests.browser.conftest import visit, visited

__all__ = ["ON_ITS_PAGE", "visit", "visited"]

ON_ITS_PAGE = [pytest.param(lab, id=lab.slug, marks=pytest.mark.xdist_group(f"{lab.slug} walk")) for lab in LABS]
