"""What stands on the page of a lab whose files cannot be read; the frame around it leads to the others."""

from __future__ import annotations

import dataclasses

from explorer import labels
from explorer.lab import Lab
from explorer.widgets.card import card


def closed(lab: Lab) -> Lab:
    """The same lab with nothing on its page but that it cannot be shown: no steps, no results, nothing that reads a file."""
    return dataclasses.replace(lab, page=_page, steps=(), thumbnail=lambda: None, probe=None, stored=None, endpoint=None)


def _page(lab: Lab, engine: object) -> None:
    words = labels.CLOSED
    card(kicker=words["kicker"], title=lab.title, line=words["line"], equation=lab.equation, spoken=words["spoken"], pairs=(), prose={})
