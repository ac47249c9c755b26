"""The folded panels of the music page: how the relative term of the run in view is computed, and what was measured."""

from __future__ import annotations

from explorer.labs.music.deeper import lengths, meter, skew
from explorer.views import View
from models.music.records import Explanation, Request


def panels() -> tuple[View[Request, Explanation], ...]:
    """In the order of the page; what was not measured has none."""
    return (skew.PANEL, meter.PANEL, *((lengths.PANEL,) if lengths.known() else ()))
