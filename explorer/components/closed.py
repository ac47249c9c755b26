"""The page of a lab whose files cannot be read. The frame around it leads to the other labs."""

from __future__ import annotations

import dataclasses

from explorer.components.card import place_card
from explorer.contract import labels
from explorer.contract.lab import OpenLab


def close_lab(lab: OpenLab) -> OpenLab:
    """Return the same lab with nothing on its page but the notice that it cannot be shown: no
    steps, no results, nothing that reads a file."""
    return dataclasses.replace(
        lab,
        page=_place_notice,
        steps=(),
        thumbnail=lambda: None,
        probe=None,
        stored=None,
        endpoint=None,
    )


def _place_notice(lab: OpenLab, engine: object) -> None:
    words = labels.CLOSED
    place_card(
        kicker=words["kicker"],
        title=lab.title,
        line=words["line"],
        equation=lab.equation,
        spoken=words["spoken"],
        pairs=(),
        prose={},
    )
