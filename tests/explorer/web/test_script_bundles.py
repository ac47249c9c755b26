"""The scripts that deno bundles: each module once, every one reached, named by what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Page, expect

from explorer.components import base
from explorer.labs import LABS
from explorer.web import script_bundles
from explorer.web.script_bundles import LIBRARY, OPENED, BundleError, Bundles, read_graph
from explorer.web.server import Site
from tests.conftest import built

LABS_SCRIPT = "scripts/labs.js"


@pytest.fixture(scope="module")
def bundles() -> Bundles:
    """As the site has them."""
    return built(lambda: Site(LABS)).bundles


def test_every_module_is_reached(bundles: Bundles) -> None:
    reached = set().union(*bundles.first.values(), bundles.list_needs(bundles.later))
    # on saved pages and in notebooks; in the audio thread
    apart = {"frontend/lib/alone.js", "labs/speech/tape.js"}
    assert reached | apart == set(bundles.sources)


def list_modules(bundles: Bundles, script: str) -> set[str]:
    """Return the modules that a script holds, by its source map."""
    names = json.loads(bundles.scripts[f"{script}.map"])["sources"]
    return {
        name.removeprefix(bundles.address) for name in names if name.startswith(bundles.address)
    }


def test_a_lab_opens_with_two_scripts(bundles: Bundles) -> None:
    for page in bundles.labs:
        common, own = bundles.list_scripts_of(page)
        assert common == LABS_SCRIPT
        there, more = list_modules(bundles, common), list_modules(bundles, own)
        assert not there & more, page
        assert bundles.first[page] <= there | more, page
    assert bundles.list_scripts_of("home") == ["scripts/home.js"]


def test_the_library_runs_once_on_a_page(bundles: Bundles) -> None:
    for page in bundles.labs:
        there = bundles.common | list_modules(bundles, f"scripts/{page}.js")
        for path in bundles.list_later(page):
            late = list_modules(bundles, f"scripts/later/{path}")
            assert path in late
            assert not [name for name in late & there if name.startswith(LIBRARY)], path


def test_modules_that_are_opened_by_name(bundles: Bundles) -> None:
    opened = {
        (path, name)
        for path, text in bundles.sources.items()
        for name in re.findall(r'\bload\("([^"]+)"\)', text)
    }
    assert opened == {(path, name) for path, names in OPENED.items() for name in names}


def test_maps_name_sources_that_are_served(bundles: Bundles) -> None:
    for script in (LABS_SCRIPT, "scripts/home.js", "scripts/later/frontend/lib/export_picture.js"):
        text, chart = bundles.scripts[script], json.loads(bundles.scripts[f"{script}.map"])
        assert text.rstrip().endswith(f"sourceMappingURL={script.rpartition('/')[2]}.map")
        assert list_modules(bundles, script) <= set(bundles.sources)
        assert "sourcesContent" not in chart
        assert str(base.ROOT.parent) not in text + json.dumps(chart)
    lines = json.loads(bundles.scripts["scripts/translation.js.map"])["mappings"].split(";")
    assert lines[0] == "" and lines[1]  # the first line imports the script of all labs


def test_bundles_follow_from_the_sources(bundles: Bundles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_CACHE", "")
    again = Bundles(bundles.root, bundles.sources, bundles.address, bundles.pages, bundles.labs)
    assert again.scripts == bundles.scripts


def test_addresses_change_with_what_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    before = base.digest_frontend()
    program = (base.ROOT / "web/script_bundles.py").read_bytes()
    monkeypatch.setattr(
        Path,
        "read_bytes",
        lambda path, read=Path.read_bytes: read(path) + b"#" * (read(path) == program),
    )
    base.digest_frontend.cache_clear()
    assert base.digest_frontend() != before
    base.digest_frontend.cache_clear()


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { x } from "./b.js";\n', "utf-8")
    with pytest.raises(BundleError, match=r"b\.js"):
        read_graph(tmp_path, ["a.js"])


def test_an_export_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_CACHE", "")
    sources = {
        script_bundles.LOADER: "export const load = () => null;",
        "a.js": 'import { x } from "./b.js";\nexport const y = x;',
        "b.js": "export const z = 1;",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    bundles = Bundles(tmp_path, sources, "/ui/0/", {"home": (["a.js"], [])}, [])
    with pytest.raises(BundleError, match='"x"'):
        assert bundles.scripts


def test_without_deno_modules_are_served_alone(
    bundles: Bundles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script_bundles, "find_deno", lambda: None)
    monkeypatch.setenv("EXPLORER_CACHE", "")
    bare = Bundles(bundles.root, bundles.sources, bundles.address, bundles.pages, bundles.labs)
    assert bare.list_scripts_of("translation") == []
    with pytest.raises(BundleError, match="pip install"):
        bare.bundle_alone("frontend/lib/alone.js", "frontend/pictures/attention.js")


@pytest.mark.browser
def test_a_page_stands_on_modules_alone(
    site: str, new_page: Callable[..., tuple[Page, Any]]
) -> None:
    page, faults = new_page()

    def strip(route: Any) -> None:
        answer = route.fetch()
        text = re.sub(r"<script[^>]*>window\.tfeLoad=.*?</script>", "", answer.text())
        route.fulfill(response=answer, body=re.sub(r"<link[^>]*modulepreload[^>]*>", "", text))

    page.route(urljoin(site, "/translation"), strip)
    page.goto(urljoin(site, "/translation"))
    expect(page.locator(".tfe-stage canvas, .tfe-stage .js-plotly-plot").first).to_be_visible()
    assert page.evaluate("window.tfeLoad === undefined && window.tfeModules.size === 0")
    assert not faults.console and not faults.errors
