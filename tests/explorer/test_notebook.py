"""Runs, pictures and figures in a notebook, without a server."""

from __future__ import annotations

import base64
import json
import re
import sys

import numpy as np
import pytest

from explorer import notebook
from explorer.contract.controls import spell_query
from explorer.labs import LABS
from explorer.values.packing import pack_array
from models.act_rnn.explain import explain
from models.act_rnn.records import EXAMPLES, Request

ADDITION = {"task": "addition", "text": "25+17"}


def test_a_run_is_that_of_the_model() -> None:
    run = notebook.explain("act_rnn", **ADDITION)
    (seen,) = explain([Request(**ADDITION)])
    np.testing.assert_array_equal(run.arrays["halting"], seen.halting)
    assert run.facts["answer"] == "42" and run.link == "/act_rnn?v=1&text=25%2B17"
    with pytest.raises(TypeError):
        run.facts["answer"] = ""  # type: ignore[index]


def test_no_field_is_the_first_example() -> None:
    assert notebook.explain("act_rnn").link == f"/act_rnn?{spell_query(EXAMPLES[0])}"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: notebook.explain("act_rnn", task="addition", text="x"), "x"),
        (lambda: notebook.explain("acts"), "There is no lab acts; there are rnn_attention"),
        (lambda: notebook.explain("act_rnn", words="1"), "act_rnn has no field words; it has"),
        (lambda: notebook.show("act_rnn"), "act_rnn has no picture attention; it has ponder."),
        (lambda: notebook.show("act_rnn", "difficulty"), "figure() draws difficulty."),
        (lambda: notebook.figure("act_rnn", "ponder"), "act_rnn draws no figure ponder; it draws"),
        (
            lambda: notebook.figure("translation", "attention", _head="9.1"),
            "There is no head 9.1; layers are 1 to 4, heads 1 to 8.",
        ),
        (
            lambda: notebook.figure("translation", "attention", _kind="own"),
            "There is no attention own; there are encoder, decoder, cross.",
        ),
    ],
)
def test_a_refusal_is_a_sentence(call: object, sentence: str) -> None:
    with pytest.raises(ValueError) as refused:
        call()  # type: ignore[operator]
    assert sentence in str(refused.value) and str(refused.value).endswith(".")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    notebook._load_widget.cache_clear()
    with pytest.raises(ImportError, match="pip install anywidget"):
        notebook.show("act_rnn", "ponder")


@pytest.mark.parametrize(
    ("lab", "view"), [("cost", "seconds"), ("act_rnn", "difficulty"), ("rnn_attention", "sum")]
)
def test_a_figure_has_its_title(lab: str, view: str) -> None:
    english, chinese = (notebook.figure(lab, view, lang=lang) for lang in ("en", "zh"))
    assert english.data and english.layout.title.text != chinese.layout.title.text
    assert "var(--" not in english.to_json()


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_every_picture_stands_alone(lab: object) -> None:
    asked = notebook._read_request(lab.slug, {})  # type: ignore[attr-defined]
    places = notebook._list_places(asked)
    assert places
    for module in filter(None, (notebook._find_module(place[1]) for place in places.values())):
        bundles = notebook._bundle_modules()
        script = bundles.bundle_alone(notebook.START, module)
        text = bundles.sources[module]
        names = re.findall(r"^export (?:async )?(?:function|const) (\w+)", text, re.MULTILINE)
        assert "tfeDraw" in script and names
        assert [name for name in names if f"{name}:()=>" not in script] == []
        assert not re.search(r"^import\b", script, re.MULTILINE)


def test_a_large_array_is_inlined() -> None:
    values = np.random.default_rng(0).random((200, 200), np.float32)
    packed = pack_array(values, unit=False)
    assert "url" in packed
    (found,) = notebook._inline_arrays({"kept": [packed]})["kept"]
    assert "url" not in found and json.dumps(found)
    raw = np.frombuffer(base64.b64decode(found["data"]), "<f4").reshape(found["shape"])
    np.testing.assert_array_equal(raw, values)
