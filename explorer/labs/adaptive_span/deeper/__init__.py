"""The folded panel of the page of adaptive span, which asks its own question of the run in view."""

from __future__ import annotations

from explorer.labs.adaptive_span.deeper import saving

PANELS = (saving.PANEL,)
