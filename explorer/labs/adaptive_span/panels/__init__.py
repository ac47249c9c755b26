"""The folded panel of the page of adaptive span, which sends a question of its own about the run in
view."""

from __future__ import annotations

from explorer.labs.adaptive_span.panels import saving

PANELS = (saving.PANEL,)
