"""Tests of the network that writes digits backwards: its training data, its answers, and the effect
of a silenced head."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.explaining.errors import InputError
from models.new_lab.explain import explain, measure
from models.new_lab.model import NONE, Config, Reverser
from models.new_lab.recipe import batch_of, draw_digits
from models.new_lab.records import EVERY_HEAD, EXAMPLES, Explanation, Measured, Request


def test_an_answer_is_the_input_backwards() -> None:
    batch = batch_of(np.array([[1, 2, 3, NONE], [4, 5, 6, 7]]))
    assert batch.targets.tolist() == [[3, 2, 1, NONE], [7, 6, 5, 4]]


def test_no_input_of_the_test_is_learned_from() -> None:
    learned, tested = (
        draw_digits(np.random.default_rng(seed), 2_000, split)
        for seed, split in ((0, "train"), (1, "test"))
    )
    assert not {tuple(row) for row in learned.tolist()} & {tuple(row) for row in tested.tolist()}


def test_a_longer_neighbour_in_the_batch_changes_nothing() -> None:
    torch.manual_seed(0)
    network = Reverser(Config()).eval()
    alone = network(torch.tensor([[1, 2, 3]]))
    together = network(torch.tensor([[1, 2, 3, NONE, NONE], [4, 5, 6, 7, 8]]))
    assert torch.allclose(alone[0], together[0, :3], atol=1e-5)


def test_the_shipped_network_writes_every_example_backwards_and_rows_sum_to_one() -> None:
    for seen in explain(EXAMPLES):
        assert isinstance(seen, Explanation) and seen.right
        assert np.allclose(seen.attention.sum(-1), 1, atol=1e-5)


def test_a_silenced_head_spoils_no_other_request() -> None:
    gone = Request(EXAMPLES[0].text, silenced=EVERY_HEAD)
    before, after = (found for found in measure([EXAMPLES[0], gone]) if isinstance(found, Measured))
    assert after.accuracy < before.accuracy == pytest.approx(1, abs=0.02)
    kept, changed = explain([EXAMPLES[0], gone])
    assert (
        isinstance(kept, Explanation)
        and isinstance(changed, Explanation)
        and kept.right
        and not changed.right
    )


def test_a_layer_that_is_not_used_pays_no_attention() -> None:
    (seen,) = explain([Request(EXAMPLES[0].text, layers=1)])
    assert isinstance(seen, Explanation) and seen.attention[0].any() and not seen.attention[1].any()


@pytest.mark.parametrize(
    ("text", "code"), [(" ", "empty"), ("12a", "no_digit"), ("123456789", "too_long")]
)
def test_what_cannot_be_read_is_refused_in_one_sentence(text: str, code: str) -> None:
    (refused,) = explain([Request(text)])
    assert isinstance(refused, InputError) and refused.code == code
