"""A visitor reads layers and heads from 1, wherever a request counts them from 0."""

from __future__ import annotations

import dataclasses
import re
from importlib import import_module

import pytest

from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from models.explaining.errors import InputError, refuse_head


def _asked(lab: OpenLab) -> tuple[str, object] | None:
    """A field of the lab's request that names heads, and a head in it that there is not: the tenth
    of the tenth layer."""
    fields = {
        field.name
        for field in dataclasses.fields(import_module(f"models.{lab.slug}.records").Request)
    }
    wrong = {"silenced": (("nobody", 9, 9),), "spans": ((9, 9, 1.0),)}
    return next(((name, value) for name, value in wrong.items() if name in fields), None)


naming = [lab for lab in LABS if _asked(lab) is not None]


def test_most_labs_name_heads_in_their_requests() -> None:
    assert len(naming) >= 6


@pytest.mark.parametrize("lab", naming, ids=[lab.slug for lab in naming])
def test_a_refusal_names_the_tenth_head_by_ten(lab: OpenLab) -> None:
    asked = _asked(lab)
    assert asked is not None
    records = import_module(f"models.{lab.slug}.records")
    request = dataclasses.replace(records.EXAMPLES[0], **dict([asked]))
    (refusal,) = import_module(f"models.{lab.slug}.explain").explain([request])
    assert isinstance(refusal, InputError)
    for said in refusal.text.values():
        assert "10·10" in said
        # no number from 0, no brackets of a program
        assert not re.search(r"\b9\b|(?<![\d·])0\b|[('\[]", said), said


def test_a_refusal_says_which_heads_there_are() -> None:
    said = refuse_head(9, 9, "cross", layers=3, heads=8, names=("encoder", "cross")).text
    assert said["en"] == "There is no head 10·10 of cross; layers are 1 to 3, heads 1 to 8."
    assert said["zh"] == "cross 没有注意力头 10·10；层为 1 到 3，头为 1 到 8。"


def test_what_is_no_number_is_named_as_it_was_given() -> None:
    assert (
        refuse_head("<b>", None, "x" * 90).text["en"]
        == f"There is no head <b>·None of {'x' * 39}…."
    )
