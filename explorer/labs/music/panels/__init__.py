"""The folded panels of the music page: how the relative term of the run in view is computed, and
its measurements."""

from __future__ import annotations

from explorer.labs.music.panels import lengths, meter, skew
from explorer.page.views import View
from models.music.records import Explanation, Request

# in the order of the page
PANELS: tuple[View[Request, Explanation], ...] = (skew.PANEL, meter.PANEL, lengths.PANEL)
