"""Draws follow the distribution."""

from __future__ import annotations

import torch

from models.sampling import draw


def test_draws_follow_the_distribution_and_no_heat_takes_the_likeliest() -> None:
    logits = torch.tensor([0.1, 0.5, 0.4]).log().expand(1000, 3)
    even = (torch.arange(1000) + 0.5) / 1000
    assert torch.bincount(draw(logits, even, torch.ones(1000))).tolist() == [100, 500, 400]
    assert set(draw(logits, even, torch.zeros(1000)).tolist()) == {1}


def test_each_row_has_a_heat_of_its_own() -> None:
    logits = torch.log(torch.tensor([[0.2, 0.3, 0.5]])).expand(5, -1)
    uniform, heat = torch.tensor([0.0, 0.19, 0.21, 0.51, 0.3]), torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0], dtype=torch.float64)
    assert draw(logits, uniform.double(), heat).tolist() == [0, 0, 1, 2, 2]


def test_what_may_never_be_drawn_is_not_and_the_likeliest_are_drawn_alone() -> None:
    logits = torch.tensor([0.4, 0.1, 0.5]).log().expand(600, 3)
    even = (torch.arange(600) + 0.5) / 600
    assert torch.bincount(draw(logits, even, torch.ones(600), never=[0])).tolist() == [0, 100, 500]
    two = torch.full((600,), 2)
    assert torch.bincount(draw(logits, even, torch.ones(600), two), minlength=3)[1] == 0
