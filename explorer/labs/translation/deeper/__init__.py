"""The folded panels of the translation page: each asks its own question of the run in view."""

from __future__ import annotations

from explorer.labs.translation.deeper import beam, forced, paths, positions, training, weight

# In the order of the page.
PANELS = (weight.PANEL, beam.PANEL, forced.PANEL, positions.PANEL, *([paths.PANEL] if paths.there() else []), training.PANEL)
