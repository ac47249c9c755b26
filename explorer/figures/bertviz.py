"""The one adapter to bertviz: arrays and tokens -> a page of its own, drawn by bertviz's own
scripts in a sandboxed frame.

bertviz's Python side would import torch, transformers and IPython only to write the parameters of
its three scripts. So they are written here from arrays, and the scripts are read from the installed
packages. Three things differ from a notebook: d3 and jQuery come from pip packages instead of a CDN
and stand in the page, which therefore needs no request at all; tokens travel as JSON that contains
no ``<``; and layers and heads are counted from 1.
"""

from __future__ import annotations

import html
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme
from explorer.figures.attention import Kind

View = Literal["head", "model", "neuron"]
VIEWS: Final[tuple[View, ...]] = get_args(View)
DECIMALS: Final = 4  # of a weight and of an element of a query or key
# A browser still draws this much in about two seconds. bertviz makes one SVG line per weight,
# visible or not.
LINES: Final[Mapping[View, int]] = MappingProxyType(
    {"head": 60_000, "model": 120_000, "neuron": 60_000}
)
NUMBERS: Final = 1_500_000  # in one page, about 10 MB before compression

Array = NDArray[np.floating]
Text = Mapping[str, str]
TITLES: Final[Mapping[View, Text]] = {
    "head": {"en": "head view", "zh": "注意力头视图"},
    "model": {"en": "model view", "zh": "模型视图"},
    "neuron": {"en": "neuron view", "zh": "神经元视图"},
}


class TooLarge(ValueError):
    """The error for a run with more weights than bertviz can draw.

    text: one sentence for the visitor, {"en", "zh"}.
    """

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.text: dict[str, str] = {"en": en, "zh": zh}


@dataclass(frozen=True)
class Attention:
    """One attention of a run, all layers and heads, as bertviz shows it: queries on the left, keys
    on the right."""

    key: str  # "encoder"
    label: Text  # the label of the choice, en and zh
    weights: Array  # (layer, head, left, right), in [0, 1]
    left: Sequence[str]  # one token per query
    right: Sequence[str]  # one token per key
    causal: bool = False  # left i may attend to right 0..i only
    # (layer, head, left, d_head), the factors of the neuron view; None where they were not recorded
    queries: Array | None = None
    keys: Array | None = None  # (layer, head, right, d_head)

    def __post_init__(self) -> None:
        """Raise ValueError with both sizes where arrays and tokens do not fit together."""
        if self.weights.ndim != 4 or self.weights.shape[2:] != (len(self.left), len(self.right)):
            raise ValueError(
                f"{self.key}: weights {self.weights.shape} for {len(self.left)} queries and"
                f" {len(self.right)} keys"
            )
        if not self.weights.size:
            raise ValueError(f"{self.key}: weights {self.weights.shape} hold nothing to draw")
        # This form makes a value that is not a number fail too.
        if not (self.weights.min() >= -1e-3 and self.weights.max() <= 1 + 1e-3):
            raise ValueError(
                f"{self.key}: weights from {self.weights.min()} to {self.weights.max()}; they lie"
                " in [0, 1]"
            )
        if (self.queries is None) != (self.keys is None):
            raise ValueError(f"{self.key}: queries and keys come together")
        if self.queries is None or self.keys is None:
            return
        layers, heads, left, right = self.weights.shape
        d_head = self.queries.shape[-1]
        if self.queries.shape != (layers, heads, left, d_head) or self.keys.shape != (
            layers,
            heads,
            right,
            d_head,
        ):
            raise ValueError(
                f"{self.key}: queries {self.queries.shape} and keys {self.keys.shape} for weights"
                f" {self.weights.shape}"
            )
        if not (np.isfinite(self.queries).all() and np.isfinite(self.keys).all()):
            raise ValueError(f"{self.key}: queries or keys that are not finite")


def convert_kind(kind: Attention | Kind) -> Attention:
    """Return a kind of the attention picture as bertviz shows it. An `Attention` stays as it is."""
    if isinstance(kind, Attention):
        return kind
    return Attention(
        kind.key, kind.label, kind.weights, kind.queries, kind.keys, kind.mask == "causal"
    )


def list_encoder_decoder(
    encoder: Array,
    decoder: Array,
    cross: Array,
    encoder_tokens: Sequence[str],
    decoder_tokens: Sequence[str],
) -> tuple[Attention, ...]:
    """Return the three attentions of an encoder-decoder model, named as bertviz names them.

    encoder: (layer, head, source, source).
    decoder: (layer, head, target, target).
    cross: (layer, head, target, source).
    decoder_tokens: the input of the decoder, "<s>" first, because bertviz names a decoder row by
        its input.
    """

    def build_kind(
        key: str, en: str, zh: str, weights: Array, left: Sequence[str], right: Sequence[str]
    ) -> Attention:
        return Attention(key, {"en": en, "zh": zh}, weights, left, right, key == "decoder")

    return (
        build_kind(
            "encoder",
            "Encoder self-attention",
            "编码器自注意力",
            encoder,
            encoder_tokens,
            encoder_tokens,
        ),
        build_kind(
            "decoder",
            "Decoder self-attention",
            "解码器自注意力",
            decoder,
            decoder_tokens,
            decoder_tokens,
        ),
        build_kind("cross", "Cross-attention", "交叉注意力", cross, decoder_tokens, encoder_tokens),
    )


def count_lines(view: View, attentions: Sequence[Attention]) -> int:
    """Return the number of SVG lines that bertviz makes at once for the largest of these
    attentions."""

    # The head view draws one layer. The neuron view draws one head, but each weight five times
    # (links in three columns, paths, arcs).
    def times(layers: int, heads: int) -> int:
        return heads if view == "head" else layers * heads if view == "model" else 5

    return int(
        max(
            times(*each.weights.shape[:2]) * each.weights.shape[2] * each.weights.shape[3]
            for each in attentions
        )
    )


def check_size(view: View, attentions: Sequence[Attention]) -> None:
    """Raise TooLarge where bertviz would freeze the page, and ValueError where it cannot show these
    attentions at all."""
    if view not in VIEWS:
        raise ValueError(f"view {view!r}; bertviz has {', '.join(VIEWS)}")
    if not attentions:
        raise ValueError("no attention to show")
    if len({each.weights.shape[:2] for each in attentions}) > 1:
        sizes = ", ".join(f"{each.key} {each.weights.shape[:2]}" for each in attentions)
        raise ValueError(
            f"bertviz counts layers and heads once for all attentions of a page; given {sizes}"
        )
    if view == "neuron" and any(each.queries is None for each in attentions):
        raise ValueError("the neuron view needs the queries and keys of this run")
    drawn, allowed = count_lines(view, attentions), LINES[view]
    if drawn > allowed:
        raise TooLarge(
            f"bertviz draws one line per weight, {drawn:,} in its {TITLES[view]['en']} of this run;"
            f" up to {allowed:,} are drawn here.",
            f"bertviz 为每个权重画一条线，本次运行的{TITLES[view]['zh']}有 {drawn:,} 条；这里最多画"
            f" {allowed:,} 条。",
        )
    total = _count_numbers(view, attentions)
    if total > NUMBERS:
        raise TooLarge(
            f"bertviz's {TITLES[view]['en']} of this run has {total:,} numbers; up to {NUMBERS:,}"
            " are sent.",
            f"本次运行的 bertviz {TITLES[view]['zh']}有 {total:,} 个数；最多发送 {NUMBERS:,} 个。",
        )


def _count_numbers(view: View, attentions: Sequence[Attention]) -> int:
    vectors = (
        [each.size for one in attentions for each in (one.queries, one.keys) if each is not None]
        if view == "neuron"
        else []
    )
    return sum(each.weights.size for each in attentions) + sum(vectors)


def write_parameters(
    view: View, attentions: Sequence[Attention], *, chosen: str = "", layer: int = 0, head: int = 0
) -> dict[str, object]:
    """Return the input of bertviz's script for that view, in its own layout; weights, queries and
    keys rounded to four decimals.

    chosen: the key of the attention shown first, by default the first one.
    layer, head: shown first, from 0.
    Raise the errors of `check_size`.
    """
    check_size(view, attentions)
    layers, heads = attentions[0].weights.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise ValueError(
            f"layer {layer} and head {head} of {layers} layers and {heads} heads, counted from 0"
        )
    first = next((each for each in attentions if each.key == chosen), attentions[0])
    common: dict[str, object] = {"root_div_id": "bertviz", "display_mode": "light"}
    if view == "neuron":
        # bertviz fills this page through its own BERT model. The script itself only needs the
        # arrays, by the name of the choice.
        return {
            **common,
            "attention": {
                each.key: (
                    _show_tokens(each)
                    | {
                        "queries": _round_weights(each.queries),
                        "keys": _round_weights(each.keys),
                        "causal": each.causal,
                    }
                )
                for each in attentions
            },
            "default_filter": first.key,
            "bidirectional": not first.causal,
            "layer": layer,
            "head": head,
        }
    return {
        **common,
        "attention": [_show_tokens(each) for each in attentions],
        "default_filter": str(list(attentions).index(first)),
        # bertviz prints the numbers in these two lists, so they may count from 1 as the page around
        # it does.
        "include_layers": list(range(1, layers + 1)),
        "include_heads": list(range(1, heads + 1)),
        "total_heads": heads,
        "layer": layer + 1,
        "heads": None,
    }


def _show_tokens(attention: Attention) -> dict[str, object]:
    return {
        "name": attention.key,
        "attn": _round_weights(attention.weights),
        "left_text": [str(token) for token in attention.left],
        "right_text": [str(token) for token in attention.right],
    }


def _round_weights(array: Array | None) -> object:
    # In float64, so that 0.1234 is written with four digits; + 0.0 turns −0.0 into 0.0.
    return None if array is None else (np.round(array.astype(np.float64), DECIMALS) + 0.0).tolist()


def write_page(
    view: View,
    attentions: Sequence[Attention],
    *,
    chosen: str = "",
    layer: int = 0,
    head: int = 0,
) -> str:
    """Return a whole HTML page with bertviz's view of these attentions. It makes no request, so it
    also opens from a disk.

    The page is made for ``<iframe sandbox="allow-scripts">``. Theme and language come after ``#``
    in its address ("#dark,zh") and by messages ``{"theme", "lang"}``. It sends its parent its size,
    ``{"bertviz": {"width", "height"}}``.
    chosen, layer, head: as in `write_parameters`, with the same errors.
    """
    values = write_parameters(view, attentions, chosen=chosen, layer=layer, head=head)
    first = str(values["default_filter"])
    names = [each.key if view == "neuron" else str(index) for index, each in enumerate(attentions)]
    options = "".join(
        f'<option value="{html.escape(name)}"{" selected" if name == first else ""}'
        f" {_write_both_languages(each.label)}</option>"
        for name, each in zip(names, attentions, strict=True)
    )
    choices = [_write_select("layer", "Layer", "层", "")] if view != "model" else []
    choices += [_write_select("att_head", "Head", "头", "")] if view == "neuron" else []
    choices += [_write_select("filter", "Attention", "注意力", options)]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>bertviz: {TITLES[view]["en"]}</title>
<style>{theme.write_token_css()}
{_read_frame_file("css")}</style>
</head>
<body class="{view}">
<main id="bertviz"><p class="choices">{" ".join(choices)}</p><div id="vis"></div></main>
<script id="parameters" type="application/json">{_write_safe_json(values)}</script>
<script>{_read_package_script("mpld3", "js/d3.v5.min.js")}</script>
<script>{_read_package_script("xstatic.pkg.jquery", "data/jquery.min.js")}</script>
<script>{_read_frame_file("js")}</script>
<script>{_read_bertviz_script(view)}</script>
</body>
</html>
"""


def _write_safe_json(value: object) -> str:
    """Return JSON that holds no character with a meaning in HTML."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _write_both_languages(label: Text) -> str:
    """Return the rest of an opening tag and its text, in both languages. The page's script shows
    the language of the visitor."""
    return (
        f'data-en="{html.escape(label["en"])}"'
        f' data-zh="{html.escape(label["zh"])}">{html.escape(label["en"])}'
    )


def _write_select(name: str, en: str, zh: str, options: str) -> str:
    return (
        f"<label><span {_write_both_languages({'en': en, 'zh': zh})}</span> <select"
        f' id="{name}">{options}</select></label>'
    )


@cache
def _read_frame_file(suffix: str) -> str:
    return (theme.FRONTEND / f"frames/bertviz.{suffix}").read_text(encoding="utf-8")


@cache
def _read_bertviz_script(view: View) -> str:
    """Return bertviz's own script, with its parameters as a name of the page and without the
    addresses of a CDN."""
    script = _read_package_script("bertviz", f"{view}_view.js").replace(
        "PYTHON_PARAMS;", "window.bertviz_params;"
    )
    return re.sub(r"require\.config\(\{.*?\}\);", "", script, count=1, flags=re.DOTALL)


@cache
def _read_package_script(package: str, inside: str) -> str:
    """Return a browser script from a pip package, without importing the package."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:  # for the package around it
        spec = None
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {package}, which carries {inside}, is not installed")
    script = (Path(spec.origin).parent / inside).read_text(encoding="utf-8")
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError(f"{inside} of {package} would end the tag that it stands in")
    return script
