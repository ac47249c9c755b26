"""The folded panels of the Reformer's page: each asks its own question of the run in view."""

from __future__ import annotations

from explorer.labs.reformer.deeper import missed, rewind

PANELS = (missed.PANEL, rewind.PANEL)  # in the order of the page
