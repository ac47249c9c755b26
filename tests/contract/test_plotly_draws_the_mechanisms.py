"""The mechanisms that this project is about are drawn by Plotly, in the main view of their labs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from playwright.sync_api import Page

from explorer.labs import DECLARED


@dataclass(frozen=True)
class Mechanism:
    """A mechanism in the main view of a lab.

    trace: the type of the traces that hold it; name: of those traces, where others have the same
    type; least: numbers that they hold at least.
    """

    lab: str
    view: str
    trace: str
    least: int
    name: str = ""


MECHANISMS = (
    Mechanism("translation", "attention", "heatmap", least=36),
    Mechanism("image_transformer", "spans", "heatmap", least=200, name="memory"),
    Mechanism("image_transformer", "spans", "image", least=28 * 28),
    Mechanism("adaptive_span", "masks", "bar", least=16, name="soft mask"),
    Mechanism("act_rnn", "ponder", "bar", least=40),
    Mechanism("universal_transformer", "ponder", "bar", least=20),
    Mechanism("reformer", "hashing", "scatter", least=53),
    Mechanism("reformer", "hashing", "bar", least=16),
)
# Counts the numbers that such traces of a view hold and whether Plotly has painted them.
HELD = """({ view, trace, name }) => {
    const nodes = [...document.querySelectorAll(`.tfe-${view} .js-plotly-plot[data-plot=stands]`)];
    const count = (value) => Array.isArray(value) || ArrayBuffer.isView(value)
        ? Array.from(value).reduce((sum, one) => sum + count(one), 0)
        : Number(typeof value === "number");
    const found = nodes.flatMap((node) => node._fullData)
        .filter((one) => one.type === trace && (!name || one.name === name));
    const painted = nodes.every((node) => node.querySelector(
        ".cartesianlayer :is(path, image, text)"));
    return [found.reduce((sum, one) => sum + count(one.z ?? one.x), 0), painted]; }"""


@pytest.mark.parametrize("what", MECHANISMS, ids=lambda what: f"{what.lab}-{what.trace}")
def test_a_figure_holds_it(page_watch: Page, site: str, what: Mechanism) -> None:
    (lab,) = (lab for lab in DECLARED if lab.slug == what.lab)
    assert lab.views[0].name == what.view
    page_watch.goto(f"{site}/{lab.slug}?lang=en")
    page_watch.wait_for_selector(
        f".tfe-{what.view}[data-drawn]:not([data-drawn$=waits])", state="attached"
    )
    held, painted = page_watch.evaluate(
        HELD, {"view": what.view, "trace": what.trace, "name": what.name}
    )
    assert held >= what.least
    assert painted
