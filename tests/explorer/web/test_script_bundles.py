"""The scripts that the server joins: the same modules, no form of import or export taken for
another, and refusals by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from explorer.components import base
from explorer.labs import LABS
from explorer.web.script_bundles import BundleError, Joined, parse_module, strip_script
from explorer.web.server import Site
from tests.conftest import built


@pytest.fixture(scope="module")
def joined() -> Joined:
    """As the site has them."""
    return built(lambda: Site(LABS)).joined


def test_every_module_is_on_a_page_at_once_or_opened_later(joined: Joined) -> None:
    reached = {path for order in joined.first.values() for path in order} | {
        path for order in joined.later.values() for path in order
    }
    assert (
        # on saved pages and in notebooks; in the audio thread
        reached | {"frontend/lib/alone.js", "labs/speech/tape.js"}
        == set(joined.modules)
        == {path for path in base.list_frontend_files() if path.endswith(".js")}
    )


def test_scripts_hold_what_a_page_needs_once(
    joined: Joined,
) -> None:
    for page, order in joined.first.items():
        text = "".join(joined.scripts[name] for name in joined.list_scripts_of(page))
        assert all(text.count(f'\nD("{path}", ') == 1 for path in order), page
        later = joined.opened.get(page, ())
        assert not [
            path for path in later if f'D("{path}", ' in text or path not in joined.later[path]
        ], page
    assert joined.opened.keys() <= joined.first.keys()


def test_scripts_are_named_by_what_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    before = base.digest_frontend()
    linker = (base.ROOT / "web/script_bundles.py").read_bytes()
    monkeypatch.setattr(
        Path,
        "read_bytes",
        lambda path, read=Path.read_bytes: read(path) + b"#" * (read(path) == linker),
    )
    base.digest_frontend.cache_clear()
    assert base.digest_frontend() != before
    base.digest_frontend.cache_clear()


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ('import "./b.js";', 'import "./b.js";'),
        ('import * as a from "./b.js";', "import * as a"),
        ('import a from "./b.js";', "import a"),
        ('export * from "./b.js";', "export *"),
        ('export { a } from "./b.js";', "export { a }"),
        ("export const a = f(1, [2, 3]),\n  b = 2;", "unlike 'export const a'"),
        ("export let a = 1;", "export let"),
        ("export const { a } = b;", "export const {"),
        ("export default { n: 3 };", "export default"),
        ("console.log(import.meta.env);", "import.meta.env"),
        ('const a = "b', "does not end"),
        ("const a = `b ${c}", "does not end"),
    ],
)
def test_an_unknown_form_names_its_module(written: str, why: str) -> None:
    with pytest.raises(BundleError, match=r"^labs/x/a\.js cannot be joined: ") as refused:
        parse_module("labs/x/a.js", written)
    assert why in str(refused.value)


X = 'import { x } from "./b.js";'


@pytest.mark.parametrize(
    ("sources", "why"),
    [
        ({"a.js": X}, "there is no b.js"),
        ({"a.js": X, "b.js": "export const y = 1;"}, "b.js exports no x"),
        ({"a.js": 'const x = () => import("./b.js");'}, "there is no b.js"),
        (
            {
                "a.js": f"{X}\nexport const y = 1;",
                "b.js": 'import { y } from "./a.js";\nexport const x = 1;',
            },
            "needs itself",
        ),
    ],
)
def test_what_a_browser_would_miss_is_missed_at_the_start(
    sources: dict[str, str], why: str
) -> None:
    with pytest.raises(BundleError, match=why):
        Joined(sources, "/ui/0/", {"home": (["a.js"], [])}, [])


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("  // why\n  a();\n\n\n  /* what */ b(); // c\n", "a();\nb();"),
        (
            "a = `  // no comment ${b /* one */ + `\n  ${c}`}\n  d`;",
            "a = `  // no comment ${b + `\n  ${c}`}\n  d`;",
        ),
        (
            r"a = b / c; d = /[/*]\/'`/g; e = f.of / 2; // x",
            r"a = b / c; d = /[/*]\/'`/g; e = f.of / 2;",
        ),
        ("return /a  b/.test(c) ? '//' : \"/*\";", "return /a  b/.test(c) ? '//' : \"/*\";"),
        ("a /* x\n y */ b", "a\nb"),
    ],
)
def test_comments_leave_and_texts_stay(written: str, left: str) -> None:
    assert strip_script(written)[0] == left


@pytest.mark.browser
def test_a_joined_module_exports_the_same(
    new_page: Callable[..., tuple[Page, Any]],
) -> None:
    sources = {
        "a.js": 'import { x as y, z } from "./b.js";\nexport const seen = [y, z()];',
        "b.js": "const w = 1;\nexport { w as x };\nexport function z() { return w + 1; }\n",
        "c.js": "export const never = null.x;",
    }
    joined = Joined(sources, "/ui/0/", {"home": (list(sources), [])}, [])
    told = """(() => {{ {} let why;
        try {{ M("c.js"); }} catch (problem) {{ why = problem.message; }}
        return [M("a.js").seen, why]; }})()"""
    seen, why = new_page()[0].evaluate(told.format(joined.bundle_alone(*sources)))
    assert seen == [1, 2] and why.startswith("c.js: ")


@pytest.mark.browser
def test_all_our_modules_export_the_same(
    site: str, new_page: Callable[..., tuple[Page, Any]], joined: Joined
) -> None:
    page, _ = new_page()
    page.goto(f"{site}/")
    wrong = page.evaluate(
        """async ([root, whole, paths]) => {
            const names = (module) => Object.keys(module).sort().join();
            const M = new Function(`"use strict"; ${whole} return M;`)();
            const both = await Promise.all(paths.map(async (path) =>
                [path, names(await import(root + path)), names(M(path))]));
            return both.filter(([_, alone, joined]) => alone !== joined);
        }""",
        [base.write_script_address(""), joined.bundle_alone(*joined.modules), list(joined.modules)],
    )
    assert wrong == []
