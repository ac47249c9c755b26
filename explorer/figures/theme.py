"""The only place with colours, fonts and the Plotly template: two sets of tokens and everything
that is written from them.

The frame wears the ends of the data scale: navy is the one accent in the light, yellow in the dark.
Roles keep their colour in every lab: queries are `query`, keys are `key`, outputs are `out`. Every
other colour is data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

Mode = Literal["light", "dark"]

_COLOURS: Final[Mapping[str, tuple[str, str]]] = {  # in the light, in the dark
    "paper": ("#F4F6F9", "#0B111D"),
    "panel": ("#FFFFFF", "#121A29"),
    "sunk": ("#E9EDF3", "#1A2435"),
    "line": ("#D5DCE6", "#2B3850"),
    "control": ("#7D899B", "#6F7F99"),
    "ink": ("#0B1A30", "#EAF0F8"),
    "ink2": ("#44536A", "#B4C0D2"),
    "ink3": ("#5C6A80", "#93A1B8"),
    "accent": ("#00336B", "#EBD65C"),
    "on-accent": ("#FFFFFF", "#171404"),
    "accent-soft": ("#E3EBF5", "#2A2A1C"),
    "query": ("#B5400A", "#FF9A6B"),
    "query-soft": ("#FBE9DF", "#38231C"),
    "key": ("#0A63A8", "#6DB9F7"),
    "key-soft": ("#DFEDF9", "#152A40"),
    "key-bright": ("#3FA9FF", "#3FA9FF"),  # on a black picture
    "out": ("#0A7053", "#52CDA5"),
    "out-soft": ("#DDF1EA", "#12302B"),
    "warn": ("#8A5A00", "#F0B84A"),
    "warn-soft": ("#FBF0D9", "#33290F"),
    "bad": ("#B3202C", "#FF8A8F"),
    "bad-soft": ("#FBE4E5", "#3A1B20"),
    "focus": ("#0A63A8", "#6DB9F7"),
    "cat-1": ("#2F77A4", "#588CFF"),
    "cat-2": ("#D2713A", "#DCAA35"),
    "cat-3": ("#38A391", "#39CFA1"),
    "cat-4": ("#3E3EB3", "#555EB8"),
    "cat-5": ("#790C16", "#885B60"),
    "cat-6": ("#A170EB", "#B97AAA"),
    "cat-7": ("#8F5722", "#738800"),
    "cat-8": ("#001686", "#BAB4FB"),
    "cat-9": ("#451749", "#8AF5F1"),
    "cat-10": ("#634765", "#D1F056"),
}
LIGHT, DARK = ({name: pair[at] for name, pair in _COLOURS.items()} for at in (0, 1))
TOKENS: Final[Mapping[Mode, Mapping[str, str]]] = MappingProxyType({"light": LIGHT, "dark": DARK})

FONT_UI: Final = (
    '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft'
    ' YaHei", "Noto Sans CJK SC", sans-serif'
)
FONT_TITLE: Final = 'Charter, "Iowan Old Style", "Noto Serif", Georgia, serif'
FONT_MONO: Final = (
    'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace'
)

# Weights from 0 to 1: cividis, safe for colour-blind readers, the same way round in both themes.
# fmt: off
WEIGHTS: Final[tuple[str, ...]] = (
    "#00224E", "#00285B", "#002E6A", "#053371", "#1A386F", "#273E6E", "#32436D", "#3B496C",
    "#434E6C", "#4B546C", "#535A6D", "#5A5F6E", "#61656F", "#686A71", "#6F7073", "#767676",
    "#7D7C78", "#848279", "#8C8878", "#938E78", "#9B9476", "#A39A74", "#ABA072", "#B4A76F",
    "#BCAE6C", "#C4B468", "#CDBB63", "#D5C25E", "#DEC958", "#E7D150", "#F0D846", "#F9E03A",
    "#FEE838",
)
# fmt: on
# Signed values, symmetric around 0; the middle is almost the panel.
SIGNED: Final[Mapping[Mode, tuple[str, ...]]] = {
    "light": ("#5B2A86", "#9A73B9", "#D9CBE5", "#F5F6F8", "#C6E3CC", "#6BAE7C", "#12693A"),
    "dark": ("#E3BEF2", "#A970C4", "#573768", "#182234", "#1F5138", "#4FA672", "#B4EFC4"),
}
# Surprise and loss, from 0 upwards: bits must not look like weights.
SURPRISE: Final[Mapping[Mode, tuple[str, ...]]] = {
    "light": ("#F7F5F4", "#F3D2BC", "#E39A68", "#B5501B", "#5A1C06"),
    "dark": ("#141C2B", "#4A2416", "#A34B1C", "#EE9A5C", "#FFEBD3"),
}
# for an axis without lines that does not move
STILL: Final[Mapping[str, Any]] = {"showgrid": False, "zeroline": False, "fixedrange": True}
# for texts
ABOVE: Final[Mapping[str, Any]] = {
    "xref": "paper",
    "yref": "paper",
    "xanchor": "center",
    "yanchor": "bottom",
    "showarrow": False,
}
FRONTEND: Final = Path(__file__).parents[1] / "frontend"
BASE: Final = FRONTEND / "components/base.css"


def signed_scale() -> list[list[float | str]]:
    """Return the scale of signed values as Plotly takes it, in tokens: it follows the theme."""
    return colorscale([f"var(--signed-{at})" for at in range(len(SIGNED["light"]))])


def colorscale(scale: Sequence[str]) -> list[list[float | str]]:
    """Return a scale as Plotly takes it: evenly spaced [position, colour] pairs."""
    return [[index / (len(scale) - 1), colour] for index, colour in enumerate(scale)]


@cache
def write_css() -> str:
    """Return the whole style sheet of the page: tokens, then base.css, then each widget's and each
    picture's own, in the order of their names.

    It belongs in a <link> of the head: Gradio's own ``css=`` would arrive late and lose every
    @-rule.
    """
    folders = (
        FRONTEND / "components",
        FRONTEND / "pictures",
        *sorted((FRONTEND.parent / "labs").iterdir()),
    )
    own = [path for folder in folders for path in sorted(folder.glob("*.css")) if path != BASE]
    sheets = [path.read_text(encoding="utf-8") for path in [BASE, *own] if path.exists()]
    # Gradio's reset (`.gradio-container-… * { border-width: 0 }`) comes later in the page and
    # weighs as much as one class of ours. Nested in html, each rule weighs a little more.
    return "\n".join([write_token_css(), "html {", *sheets, "}"])


def write_token_css() -> str:
    """Return the tokens as CSS variables: `--query` and the other colours on :root and on .dark,
    fonts and the weight scale on :root."""
    shared = {
        "ease": "cubic-bezier(.2,0,0,1)",
        "font-ui": FONT_UI,
        "font-title": FONT_TITLE,
        "font-mono": FONT_MONO,
        "scale-weights": _write_gradient(WEIGHTS),
        "scale-weights-up": _write_gradient(WEIGHTS, 0),
    }
    light, dark = (
        {
            **tokens,
            **{f"signed-{at}": stop for at, stop in enumerate(SIGNED[mode])},
            "scale-signed": _write_gradient(SIGNED[mode]),
            "scale-surprise": _write_gradient(SURPRISE[mode]),
        }
        for mode, tokens in TOKENS.items()
    )
    return "\n".join(
        [
            f":root{{{_declare_variables(shared)}{_declare_variables(light)}"
            "color-scheme:light;scroll-padding-top:64px}",
            f".dark{{{_declare_variables(dark)}color-scheme:dark}}",
            # Bold song faces are missing on many machines, so Chinese titles wear the sans.
            ":root:lang(zh){--font-title:var(--font-ui)}",
        ]
    )


def _declare_variables(variables: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in variables.items())


def _write_gradient(scale: Sequence[str], towards: int = 90) -> str:
    return f"linear-gradient({towards}deg,{','.join(scale)})"


def list_gradio_values() -> dict[str, str]:
    """Return the tokens under the names of Gradio's theme variables, each with its dark twin, for
    `gr.themes.Base.set`."""
    tokens = {
        "paper": "body_background_fill table_odd_background_fill",
        "panel": (
            "background_fill_primary block_background_fill panel_background_fill"
            " input_background_fill button_secondary_background_fill table_even_background_fill"
        ),
        "sunk": "background_fill_secondary button_secondary_background_fill_hover",
        "ink": (
            "body_text_color block_title_text_color button_secondary_text_color"
            " button_secondary_text_color_hover"
        ),
        "ink3": "body_text_color_subdued block_info_text_color input_placeholder_color",
        "line": "block_border_color border_color_primary table_border_color",
        "ink2": "block_label_text_color",
        "accent": (
            "border_color_accent button_primary_background_fill"
            " button_primary_background_fill_hover button_primary_border_color slider_color"
            " checkbox_background_color_selected"
        ),
        "accent-soft": "color_accent_soft",
        "control": "input_border_color button_secondary_border_color checkbox_border_color",
        "focus": "input_border_color_focus",
        "key": (
            "link_text_color link_text_color_hover link_text_color_active link_text_color_visited"
        ),
        "on-accent": "button_primary_text_color button_primary_text_color_hover",
        "bad-soft": "error_background_fill",
        "bad": "error_border_color error_text_color",
    }
    names = {name: token for token, some in tokens.items() for name in some.split()}
    both = {name: LIGHT[token] for name, token in names.items()} | {
        f"{name}_dark": DARK[token] for name, token in names.items()
    }
    flat = {
        f"{name}{dark}": "none"
        for name in ("block_shadow", "button_primary_shadow", "button_secondary_shadow")
        for dark in ("", "_dark")
    }
    return (
        both | flat | {"block_radius": "10px", "button_large_radius": "6px", "input_radius": "6px"}
    )


def make_layout() -> dict[str, Any]:
    """Return the look of every figure as plain JSON: axes 1 px control, grid line, ticks 12, no
    border, no colour beyond the data.

    Colours are ``var(--token)``, which the browser resolves to the theme of the moment.
    """
    axis = {
        "color": "var(--ink2)",
        "linecolor": "var(--control)",
        "tickcolor": "var(--control)",
        "gridcolor": "var(--line)",
        "zerolinecolor": "var(--control)",
        "tickfont": {"size": 12, "color": "var(--ink3)"},
        "title": {"font": {"size": 12, "color": "var(--ink2)"}},
        "automargin": True,
    }
    return {
        "font": {"family": FONT_UI, "size": 12, "color": "var(--ink)"},
        "paper_bgcolor": "var(--panel)",
        "plot_bgcolor": "var(--panel)",
        "colorway": [f"var(--cat-{number})" for number in range(1, 11)],
        "colorscale": {
            "sequential": colorscale(WEIGHTS),
            "sequentialminus": colorscale(SURPRISE["light"]),
            "diverging": colorscale(SIGNED["light"]),
        },
        "xaxis": axis,
        "yaxis": axis,
        "margin": {"l": 48, "r": 12, "t": 12, "b": 36},
        "hoverlabel": {
            "bgcolor": "var(--panel)",
            "bordercolor": "var(--control)",
            "font": {"color": "var(--ink)", "size": 13},
        },
        "legend": {"font": {"size": 12, "color": "var(--ink2)"}},
        "hovermode": "closest",
    }


def make_titled_layout(axes: tuple[str, str]) -> dict[str, Any]:
    """Return `make_layout` with titles on the axes, across and up, and no legend beside the one in
    words: for figures written as plain JSON."""
    made = make_layout()
    for name, text in zip(("xaxis", "yaxis"), axes, strict=True):
        made[name] = {**made[name], "title": {**made[name]["title"], "text": text}}
    return {**made, "showlegend": False}


def without_markup(text: str) -> str:
    """Return a text that Plotly shows as it is, though it reads some HTML."""
    return escape(text, quote=False)


def make_row_axis(names: Sequence[str]) -> dict[str, Any]:
    """Return an upright axis of rows, the first on top, each with its name, for figures written as
    plain JSON."""
    names_ = {
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "tickfont": {"size": 12, "color": "var(--ink2)"},
    }
    return {
        "range": [len(names) - 0.5, -0.5],
        **names_,
        "showgrid": False,
        "ticklabelstandoff": 4,
        "fixedrange": True,
        "automargin": True,
    }


def format_power_of_ten(power: int) -> str:
    """Return a power of ten as a lecture writes it: 3 -> "10³"."""
    return f"10{str(power).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def format_number(number: float, digits: int = 2, step: int = 1) -> str:
    """Return a large or small number in one piece: "4.8 × 10⁻⁷"; with three digits, and steps of 3
    in the power, "16.0 × 10⁹"; "0" for none."""
    number = float(f"{number:.{digits - 1}e}")
    if number == 0:
        return "0"
    at = step * math.floor(math.log10(number) / step + 1e-9)
    front = number / 10**at
    return f"{front:.{digits - len(str(int(front + 1e-9)))}f}\u00a0×\u00a0{format_power_of_ten(at)}"
