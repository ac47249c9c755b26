"""The folded panels of the translation page: each sends a question of its own about the run in
view."""

from __future__ import annotations

from explorer.labs.translation.panels import beam, forced, paths, positions, training, weight

# In the order of the page.
PANELS = (
    weight.PANEL,
    beam.PANEL,
    forced.PANEL,
    positions.PANEL,
    *([paths.PANEL] if paths.list_networks() else []),
    training.PANEL,
)
