"""A place in a text has one number: whoever asks, is looked at, or is taken along, the token with
number n is the same."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.test_labs import widgets_of


def drawn(lab: OpenLab) -> list[dict[str, Any]]:
    """What the widgets of a page draw on arrival."""
    return [widget.value for widget in widgets_of(lab) if isinstance(widget.value, dict)]


@pytest.mark.parametrize("lab", LABS, ids=[lab.slug for lab in LABS])
def test_a_key_has_the_number_that_the_same_token_has_as_a_query(lab: OpenLab) -> None:
    kinds = [kind for value in drawn(lab) for kind in value.get("kinds") or [] if kind["own"]]
    for kind in kinds:
        every = kind["whole"] or kind
        queries, keys, first = every["queries"], every["keys"], kind["first_key"]
        numbered = {j + first: key for j, key in enumerate(keys)}
        assert [(n, token) for n, token in numbered.items() if n >= 0] == [
            (n, queries[n]) for n in numbered if n >= 0
        ]
        assert set(numbered) - set(range(len(queries))) <= {-1}


def test_some_labs_have_keys_that_begin_before_the_text() -> None:
    begun = [
        lab.slug
        for lab in LABS
        for value in drawn(lab)
        for kind in value.get("kinds") or []
        if kind["first_key"] == -1
    ]
    assert {"translation", "transformer_xl", "adaptive_span"} <= set(begun)
