"""The folded panels of the translation page: each asks its own question of the run in view."""

from __future__ import annotations

from explorer.labs.translation.deeper import beam, forced, positions, training, weight

PANELS = (weight.PANEL, beam.PANEL, forced.PANEL, positions.PANEL, training.PANEL)  # in the order of the page
