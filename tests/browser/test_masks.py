"""The masks widget in a real browser, on the real server, with spans and weights from a fixed seed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
import pytest
from playwright.sync_api import Page

from explorer.lab import Lab
from explorer.looks import Look, looks
from explorer.widgets.masks import masks
from models.adaptive_span.records import Explanation
from models.adaptive_span.weights import look
from tests.browser import trial
from tests.explorer import spanned

NEW = Callable[..., tuple[Page, Any]]


def kept(seen: Explanation, forced: object) -> tuple[str, str]:
    """The addresses of exact weights before and after the mask."""
    found = []
    for which in ("before", "after"):

        def rows(layer: int, head: int, chosen: range, which: str = which) -> Any:
            return getattr(look(seen, layer, head, chosen), which)

        made_of = f"{seen.variant} {forced} {which}".encode()
        found.append(looks().put(Look(rows, 4, 4, len(seen.text), 0), made_of))
    return found[0], found[1]


def finished(variant: str, spans: list[list[float]], state: str = "stored") -> dict[str, object]:
    """A run under these spans."""
    forced = tuple((int(layer), int(head), float(z)) for layer, head, z in spans)
    seen = spanned.run(variant, forced)
    request = {"text": "", "page": "letter", "variant": variant, "spans": spans}
    return spanned.value(seen, kept(seen, forced), state, request=request)


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page: the widget, run again as it asks."""

    def page(lab: Lab, engine: object) -> None:
        place = masks(finished("dynamic" if slug == "dynamic" else "adaptive", [[3, 1, 96.0], [1, 1, 200.0]] if slug == "forced" else []))

        def force(event: gr.EventData) -> Any:
            detail: Any = event._data
            request = detail["request"]
            return {**finished(request["variant"], request["spans"], "live"), "wished": detail["wished"]}

        place.force(force, None, place, show_progress="hidden", trigger_mode="multiple", api_visibility="private")  # type: ignore[attr-defined]

    return page


def serve(port: int) -> None:
    """The site with the trial pages."""
    trial.serve(port, {slug: page_of(slug) for slug in ("adaptive", "dynamic", "forced")}, year=2019)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of that server."""
    yield from trial.served(__file__)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
