"""The folded panels of the Transformer-XL page: each sends a question of its own about the run in
view."""

from __future__ import annotations

from explorer.labs.transformer_xl.panels import memories, terms

PANELS = (terms.PANEL, memories.PANEL)  # in the order of the page
