"""What a lab costs is counted as the docstring of tools/price.py says, and nothing is counted twice."""

from __future__ import annotations

import gc

import pytest

from tools import price

pytestmark = pytest.mark.xdist_group("every source")  # as tests/explorer/test_layering.py, which parses them too


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""What it is."""\n\n# why\nx = 1  # a trap\n\n\ndef f():\n    """Says\n    something."""\n    return x\n', 3),
        ('x = """one\ntwo\n# three\n"""\n', 4),  # a string that is no docstring
        (f"x = {'1' * 116}\n", 1),  # once for every 120 characters
        (f"x = {'1' * 117}\n", 2),
        (f"x = 1  # {'why ' * 40}\n", 1),
        ('TITLE: Final = _("A sum", "加法")\n', 0),  # texts
        ('TITLE = {"en": "A sum", "zh": "加法"}\n', 0),
        ('TEXTS = {\n    "title": _(\n        "A sum",\n        "加法",\n    ),\n}\n', 2),
        ('raise InputError(\n    "empty",\n    en="Nothing.",\n    zh="没有。",\n)\n', 3),
        ('draw(title, _("A sum", "加法"))\n', 1),
    ],
)
def test_blank_lines_comments_docstrings_and_texts_of_python_cost_nothing(source: str, lines: int) -> None:
    assert price.python(source) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("// why\n/* two\nlines */\nlet x = 1; // a trap\n", 1),
        ('const home = "http://a/*b*/";\nlet y;\n', 2),
        ('const slashes = /\\/\\/[/"]/g;\nlet y;\n', 2),
        ("return /[\"'`]/.test(x);\nlet y; // end\n", 2),
        ("const two = `one\n// two`;\n", 2),
        ('const TEXT = {\n  title: { en: "A sum {n}", zh: "加法" },\n  note: {\n    en: "It\'s",\n    zh: "是",\n  },\n};\n', 2),
        ('draw({ en: "A sum", zh: "加法" }, node);\n', 1),
    ],
)
def test_a_script_is_counted_by_the_same_rules(source: str, lines: int) -> None:
    assert price.script(source) == lines


def test_a_style_sheet_is_counted_by_the_same_rules() -> None:
    assert price.style("/* of\na panel */\n.a { color: red; } /* why */\n\n.b {\n}\n") == 3


SMALL = {
    "app.py": "import explorer.site\n",
    "explorer/site.py": "from explorer.widgets import base\nfrom explorer.labs import LABS\n",
    "explorer/labs/__init__.py": "from explorer.labs.one import page\nfrom explorer.labs.two import page\n",
    "explorer/labs/one/page.py": 'from explorer.widgets import panel, base\nEXPLAIN = "models.one.explain:explain"\n',
    "explorer/labs/two/page.py": "from explorer.widgets import panel, board\n",
    "explorer/labs/three/page.py": "from explorer.widgets import base\nfrom models.one.records import Request\n",
    "explorer/widgets/base.py": "x = 1\n",
    "explorer/widgets/panel.py": 'place = widget("panel")\n',
    "explorer/widgets/panel.js": 'import { el } from "./lib/dom.js";\n',
    "explorer/widgets/panel.css": ".panel {}\n",
    "explorer/widgets/board.py": 'place = widget("drawn")\n',
    "explorer/widgets/drawn.js": 'const late = import("./lib/late.js");\n',
    "explorer/widgets/lib/dom.js": "export const el = 1;\n",
    "explorer/widgets/lib/late.js": "export const late = 1;\n",
    "models/one/explain.py": "from models.layers.attention import attend\n",
    "models/one/records.py": "x = 1\n",
    "models/layers/attention.py": "attend = 1\n",
    "tools/alone.py": "x = 1\n",
}


def test_a_shared_file_is_divided_among_the_labs_that_reach_it_and_what_the_app_or_nobody_reaches_is_the_frames() -> None:
    whose = price.shares(SMALL, ["one", "two", "three"])
    half, own, frame = {"one": 0.5, "two": 0.5}, {"one": 1}, {price.FRAME: 1}
    expected = {f"explorer/widgets/{name}": half for name in ("panel.py", "panel.js", "panel.css", "lib/dom.js")}
    expected |= {f"explorer/widgets/{name}": {"two": 1} for name in ("board.py", "drawn.js", "lib/late.js")}
    expected |= {"models/layers/attention.py": own, "models/one/records.py": own}  # the latter in a lab's folder, whoever reads it
    expected |= dict.fromkeys(("app.py", "explorer/site.py", "explorer/widgets/base.py", "tools/alone.py"), frame)
    assert {name: whose[name] for name in expected} == expected


def test_the_panels_are_counted_with_what_only_they_use() -> None:
    files = {
        "explorer/program.py": "from explorer.widgets import ask, change\nfrom explorer import controls\n",
        "explorer/controls.py": "x = 1\n",
        "explorer/figures/sides.py": "x = 1\n",
        "explorer/labs/one/page.py": "from explorer.figures import sides\n",
        "explorer/widgets/ask.py": "from explorer import controls\n",
        "explorer/widgets/ask.js": 'import { el } from "./lib/dom.js";\nimport { line } from "./lib/line.js";\n',
        "explorer/widgets/change.py": "from explorer.figures import sides\n",
        "explorer/widgets/change.css": ".change {}\n",
        "explorer/widgets/board.js": 'import { el } from "./lib/dom.js";\n',
        "explorer/widgets/lib/dom.js": "export const el = 1;\n",
        "explorer/widgets/lib/line.js": "export const line = 1;\n",
    }
    own = ("figures/sides.py", "widgets/ask.py", "widgets/ask.js", "widgets/change.py", "widgets/change.css", "widgets/lib/line.js")
    assert price.panels(files) == {f"explorer/{name}" for name in own}


@pytest.fixture(scope="module")
def figures() -> dict[str, int]:
    """Those of this tree."""
    found = price.figures()
    gc.freeze()  # what was parsed is kept: a million objects that are no garbage
    return found


# Labs that were built before a lab had a price; each is dearer than a new one may be. This list only shrinks.
DEAR = {
    "adaptive_span",
    "image_transformer",
    "music",
    "reformer",
    "sparse_transformer",
    "transformer_xl",
    "translation",
}
MOST = 1_500  # lines of a lab's own
LARGER = {
    "bert": 1_800,  # a network of ours and a pretrained one, words and sentences
    "language_model": 2_500,  # characters, pieces and copies in one lab, and labels to be fine-tuned on
}


def test_a_new_lab_costs_at_most_1500_lines_of_its_own(figures: dict[str, int]) -> None:
    own = {name.removeprefix("lab_").removesuffix("_own_lines"): n for name, n in figures.items() if name.endswith("_own_lines")}
    assert {slug: n for slug, n in own.items() if n > LARGER.get(slug, MOST)}.keys() - DEAR == set()
    assert {slug for slug in DEAR if own[slug] <= MOST} == set(), "no longer dear: take it off the list"


def test_the_figures_of_the_tree_add_up(figures: dict[str, int]) -> None:
    found = figures
    kinds = sum(found[f"{kind}_lines"] for kind in price.KINDS.values())
    parts = {name: n for name, n in found.items() if name == "frame_lines" or (name.startswith("lab_") and not name.endswith("own_lines"))}
    own = {name: n for name, n in found.items() if name.endswith("own_lines")}
    assert found["code_lines"] == kinds
    assert abs(sum(parts.values()) - kinds) <= len(parts), "each part is rounded"
    assert all(found[name.replace("_own", "")] >= n > 0 for name, n in own.items())
    assert found["test_lines"] > 0
