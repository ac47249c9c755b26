"""The cost laboratory's layers and formulas, the softmax it watches, and a convolution made of
heads."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from models.cost import clock, model, records
from models.cost.explain import explain
from models.cost.records import (
    ALPHAS,
    EXAMPLES,
    LAYERS,
    Clock,
    Explanation,
    Point,
    Request,
    check,
    expect_seconds,
    largest,
    lengths,
    operations,
)
from models.explaining.errors import InputError, Stopped
from models.layers.local import blocks_1d

SMALL = Request(length=64, width=16)


# ---- on paper


def test_the_formulas_give_the_numbers_of_the_lecture() -> None:
    lecture = Request(length=1000, width=1000, kernel=3)
    assert [
        operations(layer, 1000, lecture) for layer in ("attention", "recurrence", "convolution")
    ] == [4e9, 16e9, 6e9]
    paths = {layer: records.FORMULAS[layer].path(1000, 3, 64) for layer in LAYERS}
    assert paths == {"attention": 1, "recurrence": 1000, "convolution": 7, "restricted": 16}
    assert [records.FORMULAS[layer].steps(1000) for layer in LAYERS] == [1, 1000, 1, 1]


@pytest.mark.parametrize("layer", ["attention", "convolution", "recurrence"])
def test_the_formulas_count_what_torch_counts(layer: str) -> None:
    request = dataclasses.replace(SMALL, fused=False)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        if layer == "recurrence":  # an LSTM: two products of four gates at every position
            for _ in range(2):
                nn.Linear(16, 64, bias=False)(torch.randn(64, 16))
        else:
            for piece in clock.Bench(request, torch.device("cpu")).pieces(layer, request.length):
                piece()
    assert counter.get_total_flops() == operations(layer, request.length, request)


def test_restricted_attention_pairs_r_keys() -> None:
    request = dataclasses.replace(SMALL, window=16)
    pairs = sum((block.stop - block.start) * block.mask.shape[1] for block in blocks_1d(64, 8, 8))
    # nothing stands before the first
    assert (
        4 * pairs * request.width
        == operations("restricted", 64, request) - 4 * 8 * 8 * request.width
    )


def test_exponents_and_lengths() -> None:
    points = [Point("attention", n, 1e-9 * n**1.5, 1) for n in (128, 256, 512, 1024)]
    assert records.exponent(points) == pytest.approx(1.5) and records.exponent(points[:2]) is None
    assert lengths(1000) == (62, 125, 250, 500, 1000) and lengths(64) == (16, 32, 64)


# ---- what is refused


@pytest.mark.parametrize(("width", "fused"), [(1000, True), (512, True), (1024, False), (16, True)])
def test_too_long_a_run_is_refused(width: int, fused: bool) -> None:
    request = Request(length=4096, width=width, fused=fused)
    most = largest(request)
    check(dataclasses.replace(request, length=most))
    if most == 4096:
        check(request)
        return
    with pytest.raises(InputError, match=f"{most:,}") as refused:
        check(request)
    assert f"{most:,}" in refused.value.text["zh"]
    assert expect_seconds(dataclasses.replace(request, length=most + 1)) > records.SECONDS


# ---- the clock


def timed(request: Request) -> tuple[list[Point], Clock]:
    """All points of a run, as they come, and the run."""
    *updates, (last,) = clock.run(request)
    assert isinstance(last, Explanation) and last.clock is not None
    return [
        point for (update,) in updates if isinstance(update, list) for point in update
    ], last.clock


def test_what_a_change_is_compared_with_is_timed_in_the_same_run() -> None:
    points, run = timed(dataclasses.replace(SMALL, window=16, fused=False))
    assert {(p.layer, p.variant, p.length) for p in points if p.variant} == {
        ("restricted", "window", 64),
        ("attention", "fused", 64),
    }
    assert len(run.of("attention")) == 3 and len(run.of("attention", "fused")) == 1


def test_a_run_that_is_stopped_says_so_and_keeps_its_points() -> None:
    run = iter(explain([SMALL]))
    seen = [point for (update,) in itertools.islice(run, 40) for point in update]  # type: ignore[misc,union-attr]
    (last,) = run.throw(Stopped())  # type: ignore[attr-defined]
    assert last.clock.stopped and last.clock.points == tuple(seen) and 0 < len(seen) < 12
    assert next(run, None) is None


def test_what_the_time_does_not_reach_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "SECONDS", 1e-9)
    points, run = timed(SMALL)
    assert len(points) + len(run.left) == 12 and ("recurrence", 64) in run.left


def test_fused_and_spelled_out_attention_are_the_same_layer() -> None:
    fused, spelled = (
        clock.Bench(dataclasses.replace(SMALL, fused=fused), torch.device("cpu"))
        for fused in (True, False)
    )
    with torch.no_grad():
        (one,), (other,) = (bench.pieces("attention", 64) for bench in (fused, spelled))
        torch.testing.assert_close(one(), other())


def test_layers_are_timed_at_every_length() -> None:
    assert Request().live and not any(example.live for example in EXAMPLES[1:])
    *updates, (last,) = explain([SMALL])
    assert isinstance(last, Explanation) and all(isinstance(update, list) for (update,) in updates)
    points, run = tuple(point for (update,) in updates for point in update), last.clock
    assert {(p.layer, p.length) for p in points} == set(itertools.product(LAYERS, (16, 32, 64)))
    assert points == run.points and run.left == () and not run.stopped
    assert all(p.seconds > 0 and 1 <= p.repeats <= 5 for p in points) and run.seconds >= sum(
        p.seconds for p in points
    )
    ((refused,),) = explain([Request(length=4096, width=1000)])
    assert isinstance(refused, InputError)


# ---- the softmax over scores


def test_entropy_and_gradient_have_limits() -> None:
    alike, alone = torch.full((64,), 1 / 64), F.one_hot(torch.tensor(3), 64).float()
    assert float(model.entropy(alike)) == pytest.approx(6) and float(model.entropy(alone)) == 0
    assert (
        float(model.gradient(alike)) == pytest.approx(63 / 64) and float(model.gradient(alone)) == 0
    )
    scores = torch.randn(8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: x.softmax(0), scores)  # type: ignore[no-untyped-call]
    assert float(model.gradient(scores.softmax(0))) == pytest.approx(float(jacobian.trace()))


def test_undivided_scores_harden_the_softmax() -> None:
    found = model.scale(Request("scale", power=1.0))
    plain, scaled, flat = found.entropy
    assert plain[-1] < 0.3 and plain[0] > 4 and np.all(np.diff(plain) < 0.05)
    assert np.ptp(scaled) < 0.2 and np.all(flat[5:] > 5.9)
    assert found.dot == pytest.approx(np.sqrt(records.WIDTHS), rel=0.1)
    assert found.weights.sum(-1) == pytest.approx(np.ones((3, 16)), abs=1e-5)


def test_additive_scores_grow_as_dot_products_do() -> None:
    found = model.scale(Request("scale"))
    wide = np.array(records.WIDTHS) >= 32  # below, one draw of v says little
    each = np.sqrt(0.5)  # of tanh: about 1/2 is its mean square for numbers of variance 2
    ratio = found.additive[wide] / np.sqrt(np.array(records.WIDTHS)[wide])
    assert ratio == pytest.approx(np.full(ratio.shape, each), rel=0.25)
    assert found.additive[-1] > 20


def test_additive_scores_are_those_of_the_formula_pair_by_pair() -> None:
    query, key = torch.randn(2, 3), torch.randn(2, 3)
    generator = torch.Generator().manual_seed(8)
    w, u = (torch.randn(3, 3, generator=generator) / math.sqrt(3) for _ in range(2))
    v = torch.randn(3, generator=generator)
    by_hand = torch.tensor([[float(v @ torch.tanh(q @ w + k @ u)) for k in key] for q in query])
    torch.testing.assert_close(model.additive(query, key, 7), by_hand)


# ---- a convolution from heads


@pytest.mark.parametrize(("kernel", "name"), [(3, "edge"), (3, "random"), (5, "sharpen")])
def test_sharp_heads_are_the_convolution(kernel: int, name: str) -> None:
    image, weights = model.picture(Request("heads")), model.taps(name, kernel, 4)
    by_torch = F.conv2d(image[None, None], weights[None, None], padding=kernel // 2)[0, 0]
    torch.testing.assert_close(model.from_heads(image, weights, 32.0), by_torch, atol=1e-10, rtol=0)


def test_the_error_falls_as_heads_grow_sharper() -> None:
    found = model.heads(Request("heads"))
    assert np.all(np.diff(found.errors) < 0) and found.errors[-1] < 1e-6
    assert found.error == found.errors[ALPHAS.index(32.0)]


def test_heads_without_sharpness_see_the_whole_picture_alike() -> None:
    image, weights = torch.rand(6, 6, dtype=torch.float64), torch.ones(3, 3, dtype=torch.float64)
    mean = image.sum() / 64  # the picture and its border of zeros
    torch.testing.assert_close(
        model.from_heads(image, weights, 0.0),
        torch.full((6, 6), 9 * float(mean), dtype=torch.float64),
    )


def test_a_silenced_head_takes_its_tap_out_of_the_filter() -> None:
    image, weights = torch.rand(6, 6, dtype=torch.float64), model.taps("random", 3)
    without = weights.clone()
    without[1, 0] = 0
    torch.testing.assert_close(
        model.from_heads(image, weights, 32.0, without=4),
        model.convolution(image, without),
        atol=1e-10,
        rtol=0,
    )


def test_each_head_looks_at_its_own_shift() -> None:
    found = model.heads(Request("heads"))
    row, column = found.query
    for head, (down, right) in enumerate(itertools.product((-1, 0, 1), repeat=2)):
        assert np.unravel_index(found.maps[head].argmax(), found.maps[head].shape) == (
            row + down,
            column + right,
        )


@pytest.mark.parametrize(("name", "value"), [("blur", 1), ("sharpen", 1), ("edge", 0)])
def test_filters_do_what_they_are_called(name: str, value: float) -> None:
    inside = model.convolution(torch.ones(9, 9, dtype=torch.float64), model.taps(name, 3))[
        2:-2, 2:-2
    ]
    torch.testing.assert_close(inside, torch.full((5, 5), float(value), dtype=torch.float64))


def test_maps_of_convolution_and_attention() -> None:
    def alike(first: np.ndarray, second: np.ndarray) -> float:
        """The cosine of two maps, 1 where one is a multiple of the other."""
        return float((first * second).sum() / np.sqrt((first**2).sum() * (second**2).sum()))

    convolution, attention, relative = model.reach(1)
    assert np.array_equal(convolution[0], convolution[1]) and not np.array_equal(
        attention[0], attention[1]
    )
    assert abs(alike(convolution[0, 0], convolution[0, 3])) < 0.9
    assert all(
        alike(attention[0, 0], attention[c, j]) == pytest.approx(1, abs=1e-5)
        for c in (0, 1)
        for j in range(5)
    )
    assert min(
        alike(relative[0, 0], relative[0, j]) for j in range(5)
    ) < 0.99 and not np.array_equal(relative[0], relative[1])
