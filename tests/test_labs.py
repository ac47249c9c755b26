"""What every lab promises, tested over all of LABS at once."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import gradio as gr
import numpy as np
import pytest

from explorer.components.card import parse_equation
from explorer.contract import permalink
from explorer.contract.lab import LANGUAGES, MapPicture, OpenLab
from explorer.engine import Engine
from explorer.labs import LABS
from tests.conftest import built as inside

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"
LIMIT = 9_500_000  # bytes of one checkpoint file
WHOLE = 256 * 2**20  # bytes of all that is shipped
labs = pytest.mark.parametrize("lab", LABS, ids=[lab.slug for lab in LABS])


def texts_of(value: object) -> Iterator[Mapping[str, str]]:
    """Every {"en": …, "zh": …} inside a widget's props or value."""
    if isinstance(value, Mapping):
        if set(value) == set(LANGUAGES) and all(isinstance(text, str) for text in value.values()):
            yield value
        else:
            for inner in value.values():
                yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)


def built(lab: OpenLab) -> gr.Blocks:
    def make() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as page:
            lab.page(lab, Engine())
        return page

    return inside(make)


@cache
def page_of(slug: str) -> gr.Blocks:
    """The page of a lab, built once for all who only look at it."""
    return built(next(lab for lab in LABS if lab.slug == slug))


def widgets_of(lab: OpenLab) -> list[gr.HTML]:
    return [block for block in page_of(lab.slug).blocks.values() if isinstance(block, gr.HTML)]


@labs
def test_a_page_builds_in_time_and_without_its_model(lab: OpenLab) -> None:
    # of this process: what else the machine does costs the page nothing
    begin = time.process_time()
    assert page_of(lab.slug).blocks
    assert time.process_time() - begin < 5


@labs
def test_page_texts_are_in_both_languages(
    lab: OpenLab,
) -> None:
    said = [text for widget in widgets_of(lab) for text in texts_of([widget.value, widget.props])]
    assert len(said) > 10
    assert [text for text in said if not (text["en"].strip() and text["zh"].strip())] == []
    for text in said:
        assert sorted(re.findall(r"\{\w+\}", text["en"])) == sorted(
            re.findall(r"\{\w+\}", text["zh"])
        ), text


@labs
def test_a_thumbnail_shows_the_stored_run(lab: OpenLab) -> None:
    picture = lab.thumbnail()
    assert picture is not None
    if isinstance(picture, MapPicture):
        assert picture.levels.dtype == np.uint8
        assert picture.levels[picture.made].any()
        assert {role for role, _ in picture.outlines} == {"query", "key"}
    else:
        assert picture.weights.dtype == np.float32
        assert np.nanmin(picture.weights) >= 0
        assert np.nanmax(picture.weights) <= 1


@labs
def test_the_checkpoint_is_small_and_counted(lab: OpenLab) -> None:
    for path in (ASSETS / lab.slug).glob("*/model.json"):
        facts = json.loads(path.read_text("utf-8"))
        assert facts["slug"] == lab.slug
        assert facts["licence"]
        # one that is not ours may be larger
        assert 0 < facts["parameters"] <= (4_700_000 if "source" not in facts else 23_000_000)
        files = list(path.parent.glob("model*.safetensors"))
        assert files
        assert max(file.stat().st_size for file in files) <= LIMIT


def test_all_that_is_shipped_is_at_most_256_megabytes() -> None:
    assert sum(path.stat().st_size for path in ASSETS.rglob("*") if path.is_file()) <= WHOLE


@pytest.mark.parametrize(
    "lab",
    [lab for lab in LABS if (ROOT / "models" / lab.slug / "pretrained.py").exists()],
    ids=lambda lab: lab.slug,
)
def test_the_shipped_parameters_are_those_of_model_json(lab: OpenLab) -> None:
    load = import_module(f"models.{lab.slug}.pretrained").load
    variants = [
        path.parent.name
        for path in (ASSETS / lab.slug).glob("*/model.json")
        if "-seed" not in path.parent.name
    ]
    assert variants
    for variant in variants:
        shipped = load(variant)
        assert (
            sum(tensor.numel() for tensor in shipped.model.state_dict().values())
            == shipped.facts["parameters"]
        ), variant


@labs
def test_examples_and_steps_are_links_that_the_page_reads(lab: OpenLab) -> None:
    records = import_module(f"models.{lab.slug}.records")
    for query in [*lab.examples, *(step.query for step in lab.steps if step.query)]:
        request, notice = permalink.decode(records.Request, query)
        assert notice is None
        assert permalink.encode(request) == query


def looks_of(lab: OpenLab) -> set[str]:
    """Words in quotes in those scripts of a page that read from the address what is looked at: its
    keys are among them."""
    # of a script that several share
    panels = {str(widget.props["opens"]) for widget in widgets_of(lab) if "opens" in widget.props}
    panels |= {
        str(widget.props["view"])
        for widget in widgets_of(lab)
        if "/folded_view.js" in str(widget.js_on_load)
    }
    places = [
        f"{widget.js_on_load} {widget.props.get('picture', '')}" for widget in widgets_of(lab)
    ]
    found = [
        ROOT / "explorer" / name
        for place in places
        for name in re.findall(r"/ui/\w+/([\w/-]+\.js)", place)
    ]
    near = [
        path.parent / name
        for path in found
        for name in re.findall(r'from "\./(\w+\.js)"', path.read_text("utf-8"))
    ]
    scripts = [path.read_text("utf-8") for path in dict.fromkeys([*found, *near])]
    quoted = {
        word
        for script in scripts
        if "view.get(" in script or "folded(" in script
        for word in re.findall(r'"(\w+)"', script)
    }
    return (
        panels
        | quoted
        | {
            key
            for script in scripts
            for looks in re.findall(
                r"^(?:export const looks =|  looks:) \{(.*?)\}", script, re.M | re.S
            )
            for key in re.findall(r"(\w+):", looks)
        }
    )


@labs
def test_every_step_looks_at_something_that_the_page_can_show(lab: OpenLab) -> None:
    known = looks_of(lab)
    assert len({step.title["en"] for step in lab.steps}) == len(lab.steps)
    for step in lab.steps:
        assert set(step.view) <= known, step.title
        assert len(step.say["en"]) <= 320, step.title


@labs
def test_the_equation_has_a_query_a_key_and_a_value(lab: OpenLab) -> None:
    assert {"query", "key", "value"} <= {style for style, _ in parse_equation(lab.equation)}
