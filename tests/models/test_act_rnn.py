"""The pondering network: its tasks, and its passes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.act_rnn.data import BITS, DIGITS, NONE, OUTPUTS, UNITS, draw_inputs, sums, vectors
from models.act_rnn.model import Config, PonderingNetwork
from models.act_rnn.records import read_bits, read_sum
from models.data.splits import belongs_to_split


def network(task: str, limit: int = 6) -> PonderingNetwork:
    torch.manual_seed(3)
    model = (
        PonderingNetwork(Config(UNITS[task], OUTPUTS[task], 12, limit)).eval().requires_grad_(False)
    )
    assert model.halting is not None
    model.halting.project.weight.mul_(6)  # so that inputs differ in how long they take
    model.halting.project.bias.fill_(-1.0)
    return model


def test_parity_and_addition_are_drawn_right() -> None:
    rows = np.zeros((3, BITS), np.int64)
    rows[0, :4], rows[1, 5:7], rows[2, 0] = [1, -1, 1, 1], [1, 1], -1
    made = vectors(rows)
    assert (made.targets[:, 0].tolist(), made.difficulty.tolist()) == ([1, 0, 0], [4, 2, 1])
    first, second = np.zeros((2, 1, DIGITS), np.int64)
    first[0, :3], second[0, :3] = [8, 7, 4], [6, 5, 2]  # 478 + 256 = 734
    made = sums(first, second, np.array([3]))
    assert made.inputs[0].argmax(-1).tolist() == [
        8,
        6,
        7,
        5,
        4,
        2,
        10,
    ] and made.difficulty.tolist() == [2]
    assert made.targets[0].tolist() == [NONE, 4, NONE, 3, NONE, 7, 0]


@pytest.mark.parametrize("task", ["parity", "addition"])
def test_splits_do_not_overlap(task: str) -> None:
    splits = [
        draw_inputs(task, np.random.default_rng(1), 400, split)
        for split in ("train", "val", "test")
    ]
    train, *others = (
        {one.inputs[i][one.alive[i]].tobytes() for i in range(len(one))} for one in splits
    )
    assert not train & set.union(*others)
    easy = draw_inputs("parity", np.random.default_rng(2), 300, "test", hardest=5)
    assert belongs_to_split(
        (easy.inputs[:, 0, :BITS] - easy.inputs[:, 0, BITS:]).astype(np.int64), "test"
    ).all()
    assert set(easy.difficulty.tolist()) <= set(range(1, 6))


@pytest.mark.parametrize("task", ["parity", "addition"])
def test_gathered_and_masked_networks_agree(
    task: str,
) -> None:
    model, batch = network(task), draw_inputs(task, np.random.default_rng(4), 40).batch()
    masked, gathered = (model(batch.inputs, batch.alive, gather=gather) for gather in (False, True))
    torch.testing.assert_close(
        gathered.logits[batch.alive], masked.logits[batch.alive], atol=1e-5, rtol=1e-5
    )
    assert torch.equal(gathered.steps, masked.steps) and masked.steps.unique().numel() > 2
    assert masked.cost[~batch.alive].abs().sum() == 0
    without = PonderingNetwork(Config(UNITS[task], OUTPUTS[task], 12, steps=2))
    assert without.halting is None and torch.equal(
        without(batch.inputs, batch.alive).steps, 2 * batch.alive
    )


def test_bits_and_sums_may_be_written_in_many_ways() -> None:
    assert read_bits("1 0,1") == read_bits("101") == (1, -1, 1) and read_bits("1..0") == (
        1,
        0,
        0,
        -1,
    )
    assert read_sum(" 007 + 12 = ") == ("7", "12")
