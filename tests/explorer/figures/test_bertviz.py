"""The adapter to bertviz: the same numbers, the same tokens, nothing that could run or be fetched,
and sizes with a limit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.components import bertviz as widget
from explorer.components.folded import with_drawings_as_text
from explorer.figures import bertviz as figure
from explorer.figures.bertviz import (
    VIEWS,
    Attention,
    TooLarge,
    list_encoder_decoder,
    write_page,
    write_parameters,
)
from explorer.values.packing import ArrayStore
from tests.explorer.numbers import refused

Array = NDArray[np.float32]
SOURCE = ["A", "blond", "hold", "ing", "hands"]
TARGET = ["<s>", "Eine", "Blond", "ine", "hält", "Händ", "e"]
HOSTILE = [
    *(
        "</script><img src=x onerror=alert(1)>",
        "<!--<script>",
        "PYTHON_PARAMS;",
        "\u2028",
        "\ud800",
        "\0",
        '"];alert(1)//',
        "&lt;",
    ),
    "\\u003c",
]


def softmax(query: Array, key: Array, causal: bool = False) -> Array:
    """The weights that these queries and keys lead to."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


def run(
    source: list[str] = SOURCE,
    target: list[str] = TARGET,
    layers: int = 2,
    heads: int = 3,
    d_head: int = 4,
) -> tuple[Attention, ...]:
    """A small run from a fixed seed."""
    random = np.random.default_rng(1)
    sides = {"encoder": (source, source), "decoder": (target, target), "cross": (target, source)}
    vectors = {
        key: (
            random.standard_normal((layers, heads, len(left), d_head)).astype(np.float32),
            random.standard_normal((layers, heads, len(right), d_head)).astype(np.float32),
        )
        for key, (left, right) in sides.items()
    }
    weights = {key: softmax(*pair, causal=key == "decoder") for key, pair in vectors.items()}
    found = list_encoder_decoder(
        weights["encoder"], weights["decoder"], weights["cross"], source, target
    )
    return tuple(
        replace(one, queries=vectors[one.key][0], keys=vectors[one.key][1]) for one in found
    )


def written(document: str) -> dict[str, Any]:
    """The parameters in a page, as a browser reads them."""
    found = re.search(
        r'<script id="parameters" type="application/json">(.*?)</script>', document, re.DOTALL
    )
    assert found
    return json.loads(found[1])


class Tags(HTMLParser):
    """The elements of a page, and the addresses that they would fetch."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.addresses: list[str | None] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.addresses += [
            value for name, value in attrs if name in {"src", "href", "srcset", "data", "action"}
        ]


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_holds_the_numbers_of_the_run(view: figure.View) -> None:
    seen = run()
    shown = written(write_page(view, seen))["attention"]
    for index, one in enumerate(seen):
        drawn = shown[one.key] if view == "neuron" else shown[index]
        np.testing.assert_allclose(drawn["attn"], one.weights, atol=0.5e-4 + 1e-9)
        assert (drawn["left_text"], drawn["right_text"]) == (list(one.left), list(one.right))


# bertviz leaves its scripts open
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_bertviz_itself_would_write_the_same_parameters() -> None:
    import torch
    from bertviz import head_view, model_view

    seen = run()
    tensors = {
        f"{one.key}_attention": [torch.from_numpy(layer)[None] for layer in one.weights]
        for one in seen
    }
    for view, draw in (("head", head_view), ("model", model_view)):
        theirs = draw(
            encoder_tokens=SOURCE,
            decoder_tokens=TARGET,
            prettify_tokens=False,
            html_action="return",
            **({"layer": 1} if view == "head" else {}),
            **tensors,
        ).data
        found = re.search(r"const params = (\{.*\}); // HACK", theirs)
        assert found
        expected, ours = json.loads(found[1]), write_parameters(view, seen, layer=1)
        for mine, one in zip(ours["attention"], expected["attention"], strict=True):
            assert mine["name"] == one["name"].lower()
            assert (mine["left_text"], mine["right_text"]) == (one["left_text"], one["right_text"])
            np.testing.assert_allclose(mine["attn"], one["attn"], atol=0.5e-4 + 1e-9)
        for name in (
            "default_filter",
            "include_layers",
            *(("layer", "heads") if view == "head" else ("include_heads", "total_heads")),
        ):
            # our page counts them from one
            counted = name in {"layer", "include_layers", "include_heads"}
            assert np.array_equal(
                ours[name], np.array(expected[name]) + 1 if counted else expected[name]
            ), name


class Words:
    """As much of a tokenizer as bertviz asks for."""

    cls_token, sep_token = "[CLS]", "[SEP]"

    def tokenize(self, sentence: str) -> list[str]:
        return sentence.split()

    def convert_tokens_to_ids(self, tokens: list[str]) -> list[int]:
        return list(range(len(tokens)))


# bertviz leaves its scripts open
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_the_neuron_view_reads_as_bertviz() -> None:
    import torch
    from bertviz import neuron_view
    from bertviz.transformers_neuron_view import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size_or_config_json_file=9,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=8,
    )
    config.output_attentions = True
    document = neuron_view.show(
        BertModel(config), "bert", Words(), "a blond hand", html_action="return"
    ).data
    found = re.search(r"window.bertviz_params = (\{.*\})", document)
    assert found
    theirs = json.loads(found[1])
    every = theirs["attention"]["all"]
    weights, queries, keys = (np.array(every[name]) for name in ("attn", "queries", "keys"))
    one = Attention(
        "all",
        {"en": "All", "zh": "全部"},
        weights,
        every["left_text"],
        every["right_text"],
        queries=queries,
        keys=keys,
    )
    ours = write_parameters("neuron", [one])
    for name in ("attn", "queries", "keys"):
        np.testing.assert_allclose(ours["attention"]["all"][name], every[name], atol=0.5e-4 + 1e-9)
    assert ours["attention"]["all"]["left_text"] == ["[CLS]", "a", "blond", "hand", "[SEP]"]
    assert theirs.keys() <= ours.keys()
    assert ours["bidirectional"] is theirs["bidirectional"] is True


def test_neuron_view_softmax_is_the_weights() -> None:
    for kind in write_parameters("neuron", run())["attention"].values():
        weights = softmax(np.array(kind["queries"]), np.array(kind["keys"]), kind["causal"])
        np.testing.assert_allclose(weights, kind["attn"], atol=3e-4)


def test_a_page_opens_at_the_selected_head() -> None:
    seen = run()
    head, model, neuron = (
        write_parameters(view, seen, chosen="cross", layer=1, head=2) for view in VIEWS
    )
    assert (head["default_filter"], head["layer"], head["include_layers"]) == ("2", 2, [1, 2])
    assert (model["default_filter"], model["include_heads"]) == ("2", [1, 2, 3])
    assert (neuron["default_filter"], neuron["layer"], neuron["head"]) == ("cross", 1, 2)
    hides = [
        not write_parameters("neuron", seen, chosen=key)["bidirectional"]
        for key in ("encoder", "decoder", "cross")
    ]
    assert hides == [False, True, False], "only a decoder hides the future"


@pytest.mark.parametrize("view", VIEWS)
def test_a_hostile_token_stays_a_token(view: figure.View) -> None:
    document = write_page(view, run(source=HOSTILE))
    assert Tags(document).found == Tags(write_page(view, run(source=["x"] * len(HOSTILE)))).found
    kinds = written(document)["attention"]
    assert (kinds["encoder"] if view == "neuron" else kinds[0])["left_text"] == HOSTILE
    document.encode()  # a half of a character is escaped too, so the page can be sent


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_names_nothing_to_fetch(view: figure.View) -> None:
    document = write_page(view, run())
    assert not re.search(r"\b(src|href)\s*=\s*[\"']?(https?:)?//", document)
    assert "cdnjs" not in document
    assert Tags(document).found == [
        "html",
        "head",
        "meta",
        "meta",
        "title",
        "style",
        "body",
        "main",
        *Tags(document).found[8:],
    ]
    assert not {"img", "link", "iframe", "object", "base"} & set(Tags(document).found)
    assert Tags(document).addresses == []


def test_a_hostile_label_is_text_too() -> None:
    one, label = run()[0], {"en": '"><script>alert(1)</script>', "zh": "<b>"}
    document = write_page("head", [Attention('"><i>', label, one.weights, one.left, one.right)])
    assert not [markup for markup in ("<script>alert", "<i>", "<b>") if markup in document]


@pytest.mark.parametrize(
    ("view", "length", "allowed"),
    [("head", 100, "60,000"), ("model", 70, "120,000"), ("neuron", 120, "60,000")],
)
def test_what_would_freeze_is_refused(view: figure.View, length: int, allowed: str) -> None:
    seen = run(["a"] * length, ["b"] * 3, layers=4, heads=8)
    drawn = {"head": 8, "model": 32, "neuron": 5}[view] * length**2
    with pytest.raises(TooLarge) as refusal:
        write_page(view, seen)
    for sentence in refusal.value.text.values():
        assert f"{drawn:,}" in sentence
        assert allowed in sentence


def test_sixty_tokens_stay_under_six_mb() -> None:
    seen = run(["word"] * 60, ["Wort"] * 60, layers=4, heads=8, d_head=24)
    assert all(len(write_page(view, seen)) < 6 << 20 for view in VIEWS)


MAP, TWO = np.full((1, 1, 2, 3), 1 / 3, np.float32), {"en": "a", "zh": "b"}


@pytest.mark.parametrize(
    ("says", "call"),
    [
        (
            r"weights \(1, 1, 2, 3\) for 2 queries and 2 keys",
            lambda: Attention("cross", TWO, MAP, "ab", "cd"),
        ),
        ("lie in", lambda: Attention("cross", TWO, np.full_like(MAP, np.nan), "ab", "cde")),
        ("come together", lambda: Attention("cross", TWO, MAP, "ab", "cde", queries=MAP)),
        (
            "needs the queries and keys",
            lambda: write_page("neuron", [Attention("cross", TWO, MAP, "ab", "cde")]),
        ),
        ("counts layers and heads once", lambda: write_page("head", [run()[0], run(layers=3)[1]])),
        ("no attention", lambda: write_page("head", [])),
        (
            "layer 2 and head 0 of 2 layers and 3 heads",
            lambda: write_parameters("head", run(), layer=2),
        ),
    ],
)
def test_what_does_not_fit_together_is_named_with_both_sizes(says: str, call: Any) -> None:
    refused(says, call)


# --- the widget's values
# --------------------------------------------------------------------------------------------


def test_an_event_says_what_to_look_at_counted_from_one() -> None:
    wish = {"view": "neuron", "kind": "cross", "head": "3.5"}
    assert widget.BertvizSelection.from_event(
        {"run": "v=1&sentence=Hi", "wish": wish}
    ) == widget.BertvizSelection("v=1&sentence=Hi", wish, "neuron", "cross", 2, 4)


def test_an_opened_view_stands_where_the_frame_fetches_it() -> None:
    store = ArrayStore()
    value = with_drawings_as_text(
        widget.render_frame(
            widget.BertvizSelection("v=1", None, "model", "cross", 99, 99), run(), store
        )
    )
    assert (value["state"], value["view"], value["run"]) == ("shown", "model", "v=1")
    import gzip

    kept = store.get(str(value["src"]).removeprefix("/frames/"))
    assert kept is not None
    assert written(gzip.decompress(kept).decode())["default_filter"] == "2"


def test_which_runs_have_no_neuron_view() -> None:
    seen = [Attention(one.key, one.label, one.weights, one.left, one.right) for one in run()]
    value = with_drawings_as_text(
        widget.render_frame(widget.BertvizSelection("v=1", view="neuron"), seen, ArrayStore())
    )
    assert (value["view"], value["state"]) == ("head", "shown")
    large: Any = widget.render_frame(
        widget.BertvizSelection("v=1", view="model"),
        run(["a"] * 90, layers=4, heads=8),
        ArrayStore(),
    )
    assert large["state"] == "refused" and set(large["error"]) == {"en", "zh"}
