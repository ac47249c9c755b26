"""Colours keep the contrast that reading them needs, in both themes, and are written in one
place."""

from __future__ import annotations

import re
from pathlib import Path

import plotly.graph_objects as go
import pytest

from explorer.components.base import list_frontend_files
from explorer.figures import theme
from tests.explorer.colours import contrast, luminance, mix

GROUNDS = ("paper", "panel", "sunk")
MODES: tuple[theme.Mode, ...] = ("light", "dark")


def worst(mode: theme.Mode, colour: str, grounds: tuple[str, ...] = GROUNDS) -> float:
    tokens = theme.TOKENS[mode]
    return min(contrast(tokens[colour], tokens[ground]) for ground in grounds)


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert (
        contrast("#777777", "#FFFFFF")
        == contrast("#FFFFFF", "#777777")
        == pytest.approx(4.48, abs=0.01)
    )


READ = [  # colours, what they stand on, the least contrast
    (("ink", "ink2", "ink3", "query", "key", "out"), GROUNDS, 4.5),
    *(
        ((role,), (f"{role}-soft",), 4.5)
        for role in ("query", "key", "out", "warn", "bad", "accent")
    ),
    (("on-accent",), ("accent",), 4.5),
    (("control", "focus"), GROUNDS, 2.95),
]


@pytest.mark.parametrize("mode", MODES)
def test_text_reads_on_every_ground(mode: theme.Mode) -> None:
    tokens = theme.TOKENS[mode]
    assert tokens.keys() == theme.LIGHT.keys() and all(
        re.fullmatch("#[0-9A-F]{6}", colour) for colour in tokens.values()
    )
    for colours, grounds, least in READ:
        assert min(worst(mode, colour, grounds) for colour in colours) >= least, (colours, grounds)
    # a button under the pointer: 88 % accent, 12 % ink
    pointed = mix([tokens["accent"], tokens["ink"]], 0.12)
    assert contrast(pointed, tokens["on-accent"]) >= 4.5
    categories = {colour for name, colour in tokens.items() if name.startswith("cat-")}
    assert (
        len(categories) == 10
        and min(contrast(colour, tokens["panel"]) for colour in categories) >= 3
    )
    assert contrast(mix(theme.SIGNED[mode], 0.5), tokens["panel"]) < 1.2, (
        "the middle of the signed scale"
    )


def test_the_weight_scale_grows_in_lightness() -> None:
    lights = [luminance(colour) for colour in theme.WEIGHTS]
    assert lights == sorted(lights) and [mix(theme.WEIGHTS, end) for end in (0, 1)] == [
        theme.WEIGHTS[0],
        theme.WEIGHTS[-1],
    ]


def test_the_style_sheet_holds_every_widget_and_every_token() -> None:
    sheet = theme.write_css()
    for name, colour in theme.DARK.items():
        assert f"--{name}:{colour};" in sheet
    for path in (theme.FRONTEND / "components").glob("*.css"):
        assert path.read_text("utf-8") in sheet, path.name
    assert sheet.count("{") == sheet.count("}")


def test_every_variable_that_a_sheet_uses_exists() -> None:
    sheet = theme.write_css()
    defined = set(re.findall(r"(--[\w-]+)\s*:", sheet))
    scripts = "".join(
        re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.S)
        for name, path in list_frontend_files().items()
        if name.endswith(".js")
    )
    set_by_scripts = set(re.findall(r"""["'](--[\w-]+)["']""", scripts))
    # With a fallback, "var(--x, 0)", a variable may stay away.
    used = set(re.findall(r"var\((--[\w-]+)\)", sheet)) | set(
        re.findall(r"var\((--[\w-]+)\)", scripts)
    )
    assert used - defined - set_by_scripts == set()


def test_styles_look_only_at_parts_they_name() -> None:
    """Else each element that is added anywhere would make the browser compute the styles of all
    that is around it anew."""
    sheet = re.sub(r"/\*.*?\*/", "", theme.write_css(), flags=re.S)
    named = re.compile(
        r"(?:\.(?:tfe-|is-|answer\b)[\w-]*|\]|\w\))(?::not\()?"
        r":has\((?![^{},]*:(?:nth|first|last|only)-)"
    )
    wrong = [line for line in sheet.splitlines() if len(named.findall(line)) != line.count(":has(")]
    assert wrong == []


def test_colours_are_written_in_one_python_file() -> None:
    """Black and white stand on the weight scale and behind the squares of a QR code; shadows and
    veils are no colours of the page."""
    root = theme.FRONTEND.parent
    own = {Path(theme.__file__), root / "gradio_adapter/document.py", root / "web/qr.py"}
    for path in {
        *list_frontend_files().values(),
        *root.rglob("*.py"),
    } - own:  # the last two: an icon for the browser's tab, the squares of a code
        found = re.findall(
            r"[\"': (](#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?)\b", path.read_text("utf-8")
        )
        if path.suffix == ".py":
            found = re.findall(r"[\"'](#[0-9a-fA-F]{6})[\"']", path.read_text("utf-8"))
        assert {colour.lower() for colour in found} <= {"#fff", "#000", "#ffffff", "#000000"}, path


def test_figures_take_their_colours_from_the_page() -> None:
    page = go.layout.Template(layout=theme.make_layout())
    assert page.layout.paper_bgcolor == "var(--panel)"
    assert page.layout.xaxis.tickfont.size == 12
    assert page.layout.colorscale.sequential[0][1] == theme.WEIGHTS[0]
