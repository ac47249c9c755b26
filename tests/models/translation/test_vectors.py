"""The queries and keys of a run are those that its attention weights come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.errors import InputError
from models.plane import Head as Place
from models.plane import Plane
from models.translation.explain import explain
from models.translation.head_records import Head, Look
from models.translation.records import EXAMPLES, KINDS, Explanation, Request
from models.translation.vectors import heads, planes, vectors
from tests.models.networks import weights_of


@pytest.mark.parametrize("request_", [EXAMPLES[0], Request("Two dogs.", beam=3)], ids=["greedy", "beam"])
def test_the_weights_of_a_run_follow_from_its_queries_and_keys(request_: Request) -> None:
    (seen,), (found,) = explain([request_]), vectors([request_])
    assert isinstance(seen, Explanation)
    assert not isinstance(found, InputError)
    for kind, one in found.items():
        np.testing.assert_allclose(weights_of(one), getattr(seen, kind), atol=1e-4)
        assert not one.queries.flags.writeable
        assert not one.keys.flags.writeable


def test_a_request_that_cannot_be_read_spoils_no_other() -> None:
    bad, good = vectors([Request(""), Request("A dog.")])
    assert isinstance(bad, InputError)
    assert isinstance(good, dict) and good.keys() == set(KINDS)


def test_where_a_change_makes_weights_another_function_of_them_the_view_is_refused() -> None:
    silenced, undivided, hidden = vectors(
        [Request("A dog.", silenced=(("cross", 0, 0),)), Request("A dog.", without=("scale",)), Request("A dog.", hidden=(0,))]
    )
    assert isinstance(silenced, dict)
    assert [error.code for error in (undivided, hidden) if isinstance(error, InputError)] == ["changed", "changed"]


CHANGED = replace(EXAMPLES[1], silenced=(("encoder", 0, 0),), hidden=(1,), without=("scale", "mask"))


@pytest.mark.parametrize("request_", [EXAMPLES[1], CHANGED], ids=["as trained", "changed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_heads_weights_follow_from_what_it_computed_with(kind: str, request_: Request) -> None:
    (seen,) = explain([request_])
    assert isinstance(seen, Explanation)
    layers, n_heads = seen.encoder.shape[:2]
    places = [(0, 0), (layers - 1, n_heads - 1), (1, 3)]
    for (layer, head), found in zip(places, heads([Look(request_, kind, *place) for place in places]), strict=True):
        assert isinstance(found, Head)
        assert (found.layers, found.heads) == (layers, n_heads)
        scores = found.queries @ found.keys.T / (np.sqrt(found.queries.shape[1]) if found.scaled else 1)
        if found.causal:
            scores = np.where(np.tril(np.ones(scores.shape, bool)), scores, -np.inf)
        scores[:, list(found.hidden)] = -np.inf
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        np.testing.assert_allclose(raised / raised.sum(-1, keepdims=True), getattr(seen, kind)[layer, head], atol=1e-4)
        assert scores.shape == (len(found.query_pieces), len(found.key_pieces)) == (len(found.query_space), len(found.key_space))
        assert found.values.shape == found.keys.shape
        assert not found.values.flags.writeable


def test_a_head_that_is_not_there_and_a_sentence_that_is_none_are_refused_beside_a_good_look() -> None:
    good = Look(Request("A dog."), "cross", 0, 0)
    found = heads(
        [good, Look(Request("A dog."), "cross", 99, 0), Look(Request("A dog."), "sideways", 0, 0), Look(Request(""), "cross", 0, 0)]
    )
    assert [isinstance(one, InputError) for one in found] == [False, True, True, True]


def test_a_head_s_queries_and_keys_are_drawn_in_one_plane_and_a_head_that_is_none_is_refused() -> None:
    seen, refused = planes([Place("cross", 0, 0), Place("cross", 99, 0)])
    assert isinstance(seen, Plane) and isinstance(refused, InputError) and -1 <= seen.after <= seen.before + 0.2 <= 1.2
