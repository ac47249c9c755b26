"""The folded panels of the Transformer-XL page: each asks its own question of the run in view."""

from __future__ import annotations

from explorer.labs.transformer_xl.deeper import memories, terms

PANELS = (terms.PANEL, memories.PANEL)  # in the order of the page
