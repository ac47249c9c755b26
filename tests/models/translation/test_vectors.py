"""The queries and keys of a run are those that its attention weights come from."""

from __future__ import annotations

import numpy as np
import pytest

from models.errors import InputError
from models.translation.explain import EXAMPLES, explain
from models.translation.head_records import KINDS, Head, Look
from models.translation.records import Explanation, Request
from models.translation.vectors import Vectors, heads, vectors


@pytest.mark.parametrize("request_", [EXAMPLES[0], Request("Two dogs.", beam=3)], ids=["greedy", "beam"])
def test_the_weights_of_a_run_follow_from_its_queries_and_keys(request_: Request) -> None:
    (seen,), (found,) = explain([request_]), vectors([request_])
    assert isinstance(seen, Explanation)
    assert isinstance(found, Vectors)
    assert found.seen.text == seen.text
    for kind in ("encoder", "decoder", "cross"):
        queries, keys = getattr(found, kind)
        scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        if kind == "decoder":
            scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        np.testing.assert_allclose(raised / raised.sum(-1, keepdims=True), getattr(seen, kind), atol=1e-4)
        assert not queries.flags.writeable
        assert not keys.flags.writeable


def test_a_request_that_cannot_be_read_spoils_no_other() -> None:
    bad, good = vectors([Request(""), Request("A dog.")])
    assert isinstance(bad, InputError)
    assert isinstance(good, Vectors)


def test_what_an_intervention_changes_is_left_out() -> None:
    plain, silenced = vectors([Request("A dog."), Request("A dog.", silenced=(("encoder", 0, 0),), hidden=(0,), without=("scale",))])
    assert isinstance(plain, Vectors)
    assert isinstance(silenced, Vectors)
    np.testing.assert_allclose(plain.cross[0], silenced.cross[0], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_heads_weights_follow_from_what_it_computed_with(kind: str) -> None:
    (seen,) = explain([EXAMPLES[1]])
    assert isinstance(seen, Explanation)
    layers, n_heads = seen.encoder.shape[:2]
    places = [(0, 0), (layers - 1, n_heads - 1), (1, 3)]
    for (layer, head), found in zip(places, heads([Look(EXAMPLES[1], kind, *place) for place in places]), strict=True):
        assert isinstance(found, Head)
        assert (found.layers, found.heads) == (layers, n_heads)
        scores = found.queries @ found.keys.T / np.sqrt(found.queries.shape[1])
        if found.causal:
            scores = np.where(np.tril(np.ones(scores.shape, bool)), scores, -np.inf)
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
