"""Draws follow the distribution."""

from __future__ import annotations

import pytest
import torch
from transformers.generation.logits_process import (
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from models.decoding.sampling import Draws, cut_distribution
from models.layers import fused, fused_library


@pytest.mark.usefixtures("way")
def test_draws_follow_the_distribution() -> None:
    logits = torch.tensor([0.1, 0.5, 0.4]).log().expand(1000, 3)
    even = (torch.arange(1000) + 0.5) / 1000
    assert torch.bincount(Draws(torch.ones(1000))(logits, even)).tolist() == [100, 500, 400]
    assert set(Draws(torch.zeros(1000))(logits, even).tolist()) == {1}


def test_each_row_has_a_heat_of_its_own() -> None:
    logits = torch.log(torch.tensor([[0.2, 0.3, 0.5]])).expand(5, -1)
    uniform, heat = (
        torch.tensor([0.0, 0.19, 0.21, 0.51, 0.3]),
        torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0], dtype=torch.float64),
    )
    assert Draws(heat)(logits, uniform.double()).tolist() == [0, 0, 1, 2, 2]


@pytest.mark.usefixtures("way")
def test_forbidden_pieces_are_never_drawn() -> None:
    logits = torch.tensor([0.4, 0.1, 0.5]).log().expand(600, 3)
    even = (torch.arange(600) + 0.5) / 600
    assert torch.bincount(Draws(torch.ones(600), never=[0])(logits, even)).tolist() == [0, 100, 500]
    two = torch.full((600,), 2)
    assert torch.bincount(Draws(torch.ones(600), two)(logits, even), minlength=3)[1] == 0


@pytest.mark.parametrize(
    ("heat", "k", "p"), [(1.0, 40, 0.9), (0.6, 200, 0.5), (1.7, 3, 1.0), (1.0, 200, 0.01)]
)
def test_what_may_be_drawn_is_what_transformers_leaves(heat: float, k: int, p: float) -> None:
    torch.manual_seed(3)
    logits = 3 * torch.randn(16, 200).double()
    wanted = logits
    for warper in (TemperatureLogitsWarper(heat), TopKLogitsWarper(k), TopPLogitsWarper(p)):
        wanted = warper(None, wanted)  # type: ignore[arg-type]
    found = cut_distribution(
        logits / heat, torch.full((16,), k), torch.full((16,), p, dtype=torch.float64)
    )
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("heat", [0.0, 0.3, 1.0, 2.0])
def test_both_ways_draw_the_same_and_say_the_same_of_it(heat: float) -> None:
    generator = torch.Generator().manual_seed(7)
    logits, uniform = (
        3 * torch.randn(400, 37, generator=generator),
        torch.rand(400, generator=generator, dtype=torch.float64),
    )
    logits[:, 5] = -torch.inf
    draw = Draws(torch.full((400,), heat), never=(0, 9))
    assert fused_library.build_library() and fused.can_read(logits)
    found = draw(logits, uniform)
    with fused.without_fusion():
        assert torch.equal(draw(logits, uniform), found)
    expected = -logits.double().log_softmax(-1).gather(1, found[:, None])[:, 0]
    torch.testing.assert_close(fused.measure_surprise(logits, found), expected)
