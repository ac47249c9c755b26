"""Tests of the page of the new lab: the views of a run."""

from __future__ import annotations

from explorer.labs.new_lab import views
from models.new_lab.records import EXAMPLES


def test_the_telling_head_looks_at_the_other_end() -> None:
    kept = views.first()
    assert kept is not None and kept.request == EXAMPLES[0]
    cell = views.default_selection(kept.seen)
    assert cell["row"] + cell["col"] == len(kept.seen.digits) - 1


def test_the_figure_and_the_card_stand_once_the_model_was_measured() -> None:
    drawn = views.by_length()
    assert drawn is not None and len(drawn["table"]["rows"]) == 6  # type: ignore[index]
    assert len(views.pairs()) == 4 and set(views.prose()) == {"en", "zh"}
