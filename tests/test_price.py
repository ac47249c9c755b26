"""What a lab costs is counted as the docstring of tools/price.py says, and nothing is counted
twice."""

from __future__ import annotations

import gc

import pytest

from tools import price
from tools.scripts import read_script

# as tests/explorer/test_layering.py, which parses them too
pytestmark = pytest.mark.xdist_group("every source")


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (
            (
                '"""What it is."""\n\n# why\nx = 1  # a trap\n\n\ndef f():\n    """Says\n   '
                ' something."""\n    return x\n'
            ),
            3,
        ),
        ('x = """one\ntwo\n# three\n"""\n', 4),  # a string that is no docstring
        (f"x = {'1' * 116}\n", 1),  # once for every 120 characters
        (f"x = {'1' * 117}\n", 2),
        (f"x = 1  # {'why ' * 40}\n", 1),
        ('TITLE: Final = _("A sum", "加法")\n', 0),  # texts
        ('TITLE = {"en": "A sum", "zh": "加法"}\n', 0),
        ('TEXTS = {\n    "title": _(\n        "A sum",\n        "加法",\n    ),\n}\n', 1),
        (
            'raise InputError(\n    "empty",\n    en="Nothing.",\n    zh="没有。",\n)\n',
            1,
        ),  # one statement
        ('draw(title, _("A sum", "加法"))\n', 1),
    ],
)
def test_comments_and_texts_cost_nothing(source: str, lines: int) -> None:
    assert price.python(source) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("// why\n/* two\nlines */\nlet x = 1; // a trap\n", 1),
        ('const home = "http://a/*b*/";\nlet y;\n', 2),
        ('const slashes = /\\/\\/[/"]/g;\nlet y;\n', 2),
        ("const f = () => /[\"'`]/.test(x);\nlet y; // end\n", 2),
        ("const two = `one\n// two`;\n", 2),
        (
            (
                'const TEXT = {\n  title: { en: "A sum {n}", zh: "加法" },\n  note: {\n    en:'
                ' "It\'s",\n    zh: "是",\n  },\n};\n'
            ),
            1,
        ),
        ("const heard = [\n  one,\n  two,\n];\n", 1),  # however it is wrapped
        ("on(\n  (event) => {\n    one();\n    two();\n  },\n);\n", 3),
        ('draw({ en: "A sum", zh: "加法" }, node);\n', 1),
    ],
)
def test_a_script_is_counted_by_the_same_rules(source: str, lines: int) -> None:
    assert price.script(read_script(source)) == lines


def test_a_style_sheet_is_counted_by_the_same_rules() -> None:
    assert price.style("/* of\na panel */\n.a { color: red; } /* why */\n\n.b {\n}\n") == 2


@pytest.fixture(scope="module")
def figures() -> dict[str, int]:
    """Those of this tree."""
    found = price.figures()
    gc.freeze()  # what was parsed is kept: a million objects that are no garbage
    return found


# Labs that were built before a lab had a price; each is dearer than a new one may be. This list
# only shrinks.
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
    # characters, pieces and copies in one lab, and labels to be fine-tuned on
    "language_model": 2_500,
    "detection": 1_860,  # a composer of scenes beside the network, and four pictures of its run
    "gtrxl": 1_600,  # an environment, four networks and their training by rewards
    "speech": 1_790,  # a stream beside the masked pass, a microphone, four pictures on one axis
}


def test_a_new_lab_costs_at_most_1500_lines_of_its_own(figures: dict[str, int]) -> None:
    own = {
        name.removeprefix("lab_").removesuffix("_own_lines"): n
        for name, n in figures.items()
        if name.endswith("_own_lines")
    }
    assert {slug: n for slug, n in own.items() if n > LARGER.get(slug, MOST)}.keys() - DEAR == set()
    assert {slug for slug in DEAR if own[slug] <= MOST} == set(), (
        "no longer dear: take it off the list"
    )


def test_the_figures_add_up(figures: dict[str, int]) -> None:
    own = {name: n for name, n in figures.items() if name.endswith("own_lines")}
    assert figures["code_lines"] == sum(figures[f"{kind}_lines"] for kind in price.KINDS.values())
    assert figures["code_lines"] == figures["shared_lines"] + sum(own.values())
    assert all(n > 0 for n in own.values())
    assert figures["test_lines"] > 0
