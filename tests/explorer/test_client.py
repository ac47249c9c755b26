"""A script reads arrays of a running site as the model made them."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.client import Client, LongMap
from explorer.labs import LABS
from explorer.notebook import explain

SENTENCE = "Two dogs run on the grass."


@pytest.fixture(scope="module")
def client(site: str) -> Client:
    """A script that has read what the site offers."""
    return Client(site)


def test_each_lab_is_a_method(client: Client) -> None:
    assert set(client.labs) == {lab.slug for lab in LABS} <= set(dir(client))
    with pytest.raises(AttributeError, match="There is no lab nowhere; there are "):
        client.nowhere()


def test_attention_is_what_the_model_computed(client: Client) -> None:
    run = client.translation(SENTENCE, views=["attention"])
    expected = explain("translation", sentence=SENTENCE).arrays
    assert run.link == "/translation?v=1&sentence=Two+dogs+run+on+the+grass."
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(run.arrays[kind], expected[kind], atol=2e-5)


def test_a_long_map_is_exact(client: Client) -> None:
    run = client.transformer_xl(views=["attention"])  # the first example, which is stored
    kinds = run.views["attention"]["kinds"]
    (kind,) = [one for one in kinds if one["look"]][:1]
    whole = run.arrays[kind["key"]]
    assert isinstance(whole, LongMap)
    weights = whole[1, 2]
    assert weights.shape == whole.shape[2:] and np.allclose(weights.sum(1), 1, atol=1e-4)
    assert not np.triu(weights, weights.shape[1] - weights.shape[0] + 1).any(), "nobody looks ahead"
    with pytest.raises(IndexError, match="layer 99, head 0; there are"):
        whole[99, 0]


def test_a_refusal_is_its_sentence(client: Client) -> None:
    with pytest.raises(ValueError, match="There is no view nothing; there are "):
        client.translation(SENTENCE, views=["nothing"])
