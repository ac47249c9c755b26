"""Placing the patterns widget."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from explorer.widgets.patterns import patterns
from tests.conftest import built


def placed(**trained: Any) -> Any:
    """The widget on a page whose models attend so."""

    def inside() -> Any:
        with gr.Blocks():
            return patterns({"pick": {"side": 10}}, trained=trained)

    return built(inside)


def test_the_page_tells_the_widget_what_its_models_attend_with() -> None:
    widget = placed(side=28, stride=28, summary=4, use="split")
    assert widget.props["trained"] == {"side": 28, "stride": 28, "summary": 4, "layers": 4, "heads": 4, "use": "split"}
    assert widget.value == {"pick": {"side": 10}}


@pytest.mark.parametrize(("side", "stride", "summary"), [(29, 28, 4), (5, 5, 1), (28, 28, 29), (28, 0, 0), (28, 785, 1), (28, "28", 4)])
def test_sizes_that_make_no_pattern_are_refused_with_what_is_expected(side: object, stride: object, summary: object) -> None:
    with pytest.raises(ValueError, match="expected 6 ≤ side ≤ 28"):
        placed(side=side, stride=stride, summary=summary)
