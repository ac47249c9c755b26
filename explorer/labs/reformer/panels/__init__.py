"""The folded panels of the Reformer's page: each sends a question of its own about the run in
view."""

from __future__ import annotations

from explorer.labs.reformer.panels import missed, rewind

PANELS = (missed.PANEL, rewind.PANEL)  # in the order of the page
