"""Links of former days still open: what they say is read as it was meant, and is spelled today as it was then.

old_links.json: by lab, the queries of all examples, guided steps and interventions before requests had one codec, each with the view that
it names. Whoever renames a field adds the old link here with what it becomes, and a place that reads the old spelling.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from explorer import controls
from explorer.labs import LABS
from explorer.widgets.base import FOLDER
from tests.test_labs import looks_of

OLD: dict[str, list[tuple[str, dict[str, str]]]] = json.loads(Path(__file__).with_name("old_links.json").read_text("utf-8"))
TABLE = re.search(r"const FORMER = \{(.*?)\}", (FOLDER / "lib" / "state.js").read_text("utf-8"), re.DOTALL)
FORMER = dict(re.findall(r'(\w+): "(\w+)"', TABLE[1] if TABLE else ""))  # by which the browser reads an old name of what is looked at
BY_SLUG = {lab.slug: lab for lab in LABS}


@pytest.mark.parametrize(("slug", "query"), [(slug, query) for slug, links in OLD.items() for query, _ in links if query])
def test_an_old_link_says_today_what_it_said_then(slug: str, query: str) -> None:
    request, notice = controls.read(import_module(f"models.{slug}.records").Request, query)
    assert notice is None
    assert controls.query(request) == query


@pytest.mark.parametrize("slug", OLD)
def test_what_an_old_link_looks_at_is_still_a_look_of_its_page(slug: str) -> None:
    named = {FORMER.get(key, key) for _, view in OLD[slug] for key in view}
    assert named <= looks_of(BY_SLUG[slug])
