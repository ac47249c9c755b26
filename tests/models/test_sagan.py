"""The self-attention GAN: each equation against an independent computation, the recipe on tiny
data, and what a page asks of the networks."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from models.checkpoints import checkpoint
from models.decoding.latent import draw_noise
from models.evaluation.frechet import measure_frechet_distance
from models.evaluation.likeness import measure_corners
from models.evaluation.picture_classifier import Classifier, ClassifierConfig
from models.explaining.errors import InputError
from models.explaining.trace import Trace
from models.layers.spectral import SpectralNorm, iterate_all
from models.sagan import explain, recipe, training
from models.sagan.data import ROOM, draw_twins, load_digits, to_levels, to_tensor
from models.sagan.model import AdversarialPair, CellAttention, Config, Discriminator, LocalBlock
from models.sagan.records import EXAMPLES, FACTORS, FIELD, STOPS, Explanation, Request

SMALL = Config(10, 8, (8, 16, 8, 4), (4, 16, 8))


@pytest.fixture
def pair() -> AdversarialPair:
    """A pair that has learned nothing, with γ as if it had."""
    torch.manual_seed(3)
    pair = AdversarialPair(SMALL)
    for part in (pair.generator, pair.discriminator):
        nn.init.constant_(part.block.gamma, 0.7)
    return pair.eval()


def test_attention_equals_a_loop_over_cells() -> None:
    torch.manual_seed(1)
    block, x = CellAttention(16).eval().double(), torch.randn(2, 16, 3, 4).double()
    trace = Trace("weights")
    ours = block(x, trace)
    f, g, h = (part(x).flatten(2) for part in (block.key, block.query, block.value))
    for n in range(2):
        for j in range(12):
            scores = torch.stack([f[n, :, i] @ g[n, :, j] for i in range(12)])
            beta = scores.exp() / scores.exp().sum()
            mixed = sum(beta[i] * h[n, :, i] for i in range(12))
            sigma = block.output.sigma()
            expected = block.output.layer.weight[:, :, 0, 0] / sigma @ mixed  # type: ignore[index]
            expected = expected + block.output.layer.bias
            torch.testing.assert_close(ours.flatten(2)[n, :, j], expected, atol=1e-12, rtol=0)
            seen = trace.stack("weights")[0, n, j]
            np.testing.assert_allclose(seen, beta.detach().numpy(), atol=1e-6)


def test_attention_equals_torch_at_scale_one() -> None:
    torch.manual_seed(2)
    block, x = CellAttention(64).eval(), torch.randn(3, 64, 8, 8)
    key, query, value = (
        part(x).flatten(2).transpose(1, 2) for part in (block.key, block.query, block.value)
    )
    mixed = F.scaled_dot_product_attention(query, key, value, scale=1.0)
    expected = block.output(mixed.transpose(1, 2).unflatten(2, (8, 8)))
    torch.testing.assert_close(block(x), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    "layer",
    [nn.Conv2d(3, 5, 4), nn.ConvTranspose2d(6, 4, 4, 2, 1), nn.Linear(7, 9), nn.Embedding(5, 6)],
    ids=lambda layer: type(layer).__name__,
)
def test_spectral_norm_equals_torch(layer: nn.Module) -> None:
    ours = SpectralNorm(layer)
    twin: Any = type(layer)(*CASES[type(layer)])
    twin.load_state_dict(layer.state_dict())
    dim = 1 if isinstance(layer, nn.ConvTranspose2d) else 0
    torch.nn.utils.parametrizations.spectral_norm(twin, dim=dim)
    norm = twin.parametrizations.weight[0]
    norm._u, norm._v = ours.u.detach().clone(), ours.v.detach().clone()
    given = torch.arange(5) if isinstance(layer, nn.Embedding) else torch.randn(INPUTS[type(layer)])
    for _ in range(3):  # each pass takes one power iteration
        torch.testing.assert_close(ours(given), twin(given), atol=1e-6, rtol=0)
    ours.eval(), twin.eval()
    torch.testing.assert_close(ours(given), twin(given), atol=1e-6, rtol=0)
    ours(given).square().sum().backward()
    twin(given).square().sum().backward()
    gradient = twin.parametrizations.weight.original.grad
    torch.testing.assert_close(layer.weight.grad, gradient, atol=1e-5, rtol=1e-5)


CASES: dict[type, tuple[int, ...]] = {
    nn.Conv2d: (3, 5, 4),
    nn.ConvTranspose2d: (6, 4, 4, 2, 1),
    nn.Linear: (7, 9),
    nn.Embedding: (5, 6),
}
INPUTS: dict[type, tuple[int, ...]] = {
    nn.Conv2d: (2, 3, 6, 6),
    nn.ConvTranspose2d: (2, 6, 5, 5),
    nn.Linear: (2, 7),
}


def test_many_iterations_find_the_singular_value() -> None:
    torch.manual_seed(4)
    norm = SpectralNorm(nn.Linear(20, 30))
    norm.iterate(300)
    largest = torch.linalg.svdvals(norm.matrix().detach())[0]
    assert norm.sigma().item() == pytest.approx(float(largest), rel=1e-5)


def test_blocks_have_about_equal_parameters() -> None:
    sizes = [
        1 + sum(p.numel() for p in training.list_learned(block))
        for block in (CellAttention(64), LocalBlock(64, 3), LocalBlock(64, 1))
    ]
    assert sizes == [5233, 5321, 5225]


def test_a_logit_is_the_sum_of_its_verdicts(pair: AdversarialPair) -> None:
    picture, kind = torch.rand(3, 32, 32) * 2 - 1, torch.tensor([0, 4, 9])
    critic = pair.discriminator
    logits, verdicts = critic(picture, kind), critic.verdicts(picture, kind)
    assert verdicts.shape == (3, 4, 4)
    torch.testing.assert_close(logits, verdicts.sum((1, 2)) + critic.bias, atol=1e-6, rtol=0)
    # the same from the definition: lᵀ Σφ + e_cᵀ Σφ + b
    pooled: list[torch.Tensor] = []
    handle = critic.readout.register_forward_hook(lambda _m, given, _o: pooled.append(given[0]))
    critic(picture, kind)
    handle.remove()
    phi = pooled[0].sum((1, 2))
    expected = critic.readout(phi).squeeze(1) + (critic.classes(kind) * phi).sum(1) + critic.bias
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("block", ["none", "pointwise", "attention"])
def test_a_verdict_sees_22_pixels_or_all(block: str) -> None:
    torch.manual_seed(5)
    critic = Discriminator(dataclasses.replace(SMALL, discriminator_block=block)).eval()
    nn.init.constant_(critic.block.gamma, 0.5)
    picture = torch.rand(1, 32, 32, requires_grad=True)
    critic.verdicts(picture, torch.tensor([1]))[0, 1, 2].backward()  # type: ignore[no-untyped-call]
    rows, columns = np.nonzero(picture.grad[0].numpy())  # type: ignore[index]
    ends = (rows.min(), rows.max() + 1, columns.min(), columns.max() + 1)
    assert ends == ((0, 32, 0, 32) if block == "attention" else (1, 1 + FIELD, 9, 9 + FIELD))


def test_gamma_zero_is_the_network_without(pair: AdversarialPair) -> None:
    noise, kind = torch.randn(2, 8), torch.tensor([1, 2])
    off = pair.generator(noise, kind, torch.zeros(2))
    pair.generator.block.inner = None
    torch.testing.assert_close(pair.generator(noise, kind), off, atol=0, rtol=0)


def test_a_trace_changes_nothing(pair: AdversarialPair) -> None:
    noise, kind, trace = torch.randn(2, 8), torch.tensor([1, 2]), Trace("generator/weights")
    watched = pair.generator(noise, kind, trace=trace)
    torch.testing.assert_close(pair.generator(noise, kind), watched, atol=0, rtol=0)
    np.testing.assert_allclose(trace.stack("generator/weights").sum(-1), 1, atol=1e-5)


def test_the_distance_equals_matrix_roots() -> None:
    from scipy import linalg

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(300, 12)), rng.normal(size=(400, 12)) @ rng.normal(size=(12, 12)) + 1
    root = linalg.sqrtm(np.cov(a, rowvar=False) @ np.cov(b, rowvar=False)).real
    expected = ((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(
        np.cov(a, rowvar=False) + np.cov(b, rowvar=False) - 2 * root
    )
    assert measure_frechet_distance(a, b) == pytest.approx(expected, rel=1e-8)
    assert measure_frechet_distance(a, a) == pytest.approx(0, abs=1e-8)
    a[:, 3] = b[:, 3] = 0  # a feature that never varies
    assert np.isfinite(measure_frechet_distance(a, b))
    with pytest.raises(ValueError, match="two pictures"):
        measure_frechet_distance(a[:1], b)


def test_twins_are_alike_and_strangers_less() -> None:
    rng = np.random.default_rng(0)
    digits = (rng.random((50, 8, 8)) < 0.4).astype(np.uint8) * 255
    twins = draw_twins(digits, 100, rng)
    assert twins.shape == (100, 32, 32) and not twins[:, 9:23].any()
    assert measure_corners(twins, ROOM).min() > 0.99
    strangers = twins.copy()
    strangers[:, 16:] = np.roll(twins[:, 16:], 1, axis=0)
    assert measure_corners(strangers, ROOM).mean() < 0.6
    assert measure_corners(np.zeros((2, 32, 32)), ROOM).max() == 0


def test_averaged_weights_iterate_anew(pair: AdversarialPair) -> None:
    settled = training.settle_generator(pair.generator, 16)
    for module in settled.modules():
        if isinstance(module, SpectralNorm):
            largest = torch.linalg.svdvals(module.matrix().detach())[0]
            assert module.sigma().item() == pytest.approx(float(largest), rel=0.02)
    assert not settled.training and pair.generator.norms[0].momentum == 0.1


# ---- the recipe on tiny data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Small files in the form of MNIST: class k is a bar at row 2 k + 4."""
    rng = np.random.default_rng(0)
    for name in ("fashion-mnist", "mnist"):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        for part, count in (("train", 1_300), ("t10k", 200)):
            kinds = (np.arange(count) % 10).astype(np.uint8)
            levels = rng.integers(0, 60, (count, 28, 28)).astype(np.uint8)
            levels[np.arange(count), 2 * kinds + 4, 6:22] = 250
            for what, array, header in (("images-idx3", levels, 16), ("labels-idx1", kinds, 8)):
                path = folder / f"{part}-{what}-ubyte.gz"
                path.write_bytes(gzip.compress(bytes(header) + array.tobytes(), 1))
    return tmp_path / "data"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> recipe.Task:
    """A twins task of a few steps, whose assets land in a folder of their own."""
    monkeypatch.setenv("EXPLORER_ASSETS", str(tmp_path / "assets"))
    (tmp_path / "assets" / "sagan").mkdir(parents=True)
    game = training.Game(steps=6, batch=8, log_every=2, picture_every=3, early=())
    task = recipe.PAIRS[recipe.TWINS]
    config = Config(1, 8, (8, 8, 4, 4), (4, 16, 8), "none", "attention")
    task = dataclasses.replace(
        task, config=config, recipe=dataclasses.replace(task.recipe, game=game)
    )
    monkeypatch.setitem(recipe.VARIANTS, recipe.TWINS, task)
    monkeypatch.setattr(training, "SETTLING", 2)
    return task


def train_tiny(data: Path, runs: Path, **more: Any) -> Path:
    """Train the twins of the fixture."""
    return recipe.train(data, runs, recipe.TWINS, device=torch.device("cpu"), **more)


def test_a_resumed_game_goes_on_as_one(data: Path, tiny: recipe.Task, tmp_path: Path) -> None:
    whole = train_tiny(data, tmp_path / "one")
    bytes_whole = (whole / "model.safetensors").read_bytes()
    facts = checkpoint.read_facts(whole)
    assert facts["finished"] and facts["steps"] == 6
    assert np.load(whole / "frames.npz")["frames"].shape == (3, 10, 32, 32)
    short = dataclasses.replace(tiny.recipe, game=dataclasses.replace(tiny.recipe.game, steps=4))
    train_tiny(data, tmp_path / "two", recipe=short)
    with pytest.raises(FileExistsError, match="--resume"):
        train_tiny(data, tmp_path / "two")
    again = train_tiny(data, tmp_path / "two", resume=True)
    assert (again / "model.safetensors").read_bytes() == bytes_whole


def test_a_game_moves_both_networks_and_gamma() -> None:
    torch.manual_seed(0)
    pair = AdversarialPair(SMALL).train()
    optimizers = training.make_optimizers(pair, training.Game(discriminator_rate=0.01))
    real, kind = torch.ones(16, 32, 32), torch.zeros(16, dtype=torch.int64)
    losses = [
        training.take_turns(pair, optimizers, real, kind, torch.randn(16, 8))[0] for _ in range(20)
    ]
    assert losses[-1] < losses[0] - 0.5  # a white square is easily told from noise
    assert all(part.block.gamma.item() != 0 for part in (pair.generator, pair.discriminator))


def test_the_hinge_counts_what_lies_inside() -> None:
    real, fake = torch.tensor([2.0, 0.5]), torch.tensor([-3.0, 1.0])
    assert float(training.sum_hinge_losses(real, fake)) == pytest.approx(0.25 + 1.0)


def test_digits_are_averaged_by_threes(data: Path) -> None:
    digits = load_digits(data, "train")
    assert digits.shape == (300, 8, 8) and digits.max() == 255


def test_levels_survive_both_ways() -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    np.testing.assert_array_equal(to_levels(to_tensor(levels)), levels)


# ---- what a page asks


@pytest.fixture
def networks(pair: AdversarialPair, monkeypatch: pytest.MonkeyPatch) -> AdversarialPair:
    """The untrained pair and classifier in place of the shipped ones."""
    judge = Classifier(ClassifierConfig()).eval()
    iterate_all(pair, 100)

    def load(variant: str = "attention", seed: int = 1) -> Any:
        model = judge if variant == "classifier" else pair
        return dataclasses.make_dataclass("Shipped", ["model"])(model)

    monkeypatch.setattr(explain, "load", load)
    monkeypatch.setattr(explain, "paint_usual", lambda: explain._paint_with(1.0))
    return pair


def ask(**fields: Any) -> Explanation:
    """The explanation of one request."""
    (found,) = explain.explain([Request(**fields)])
    assert isinstance(found, Explanation), found
    return found


def test_a_run_adds_up(networks: AdversarialPair) -> None:
    seen = ask(kind=4)
    assert seen.judged.verdicts.sum() + seen.bias == pytest.approx(seen.judged.logit, abs=1e-5)
    made = seen.made
    assert made is not None and seen.erased is None
    np.testing.assert_array_equal(made.ladder[FACTORS.index(1.0)], seen.judged.picture)
    np.testing.assert_array_equal(made.walk[0], seen.judged.picture)
    np.testing.assert_array_equal(made.kinds[4], seen.judged.picture)
    assert made.walk.shape == (len(STOPS), 32, 32)
    assert np.allclose(made.weights.sum(1), 1, atol=1e-5)
    assert np.allclose(seen.judged.weights.sum(1), 1, atol=1e-5)


def test_erasing_reaches_far_by_attention(networks: AdversarialPair) -> None:
    seen = ask(erase=1)
    assert seen.erased is not None
    change = seen.erased.judged.verdicts - seen.judged.verdicts
    outside = ~seen.erased.inside
    assert seen.erased.inside.tolist() == [[True, True, False, False]] * 2 + [[False] * 4] * 2
    assert not seen.erased.plain[outside].any()
    assert np.abs(change[outside]).max() > 0
    plain = ask(erase=1, gamma_d=0.0)
    assert plain.erased is not None
    without = plain.erased.judged.verdicts - plain.judged.verdicts
    assert not without[outside].any()


def test_the_walk_ends_at_the_other_seed(networks: AdversarialPair) -> None:
    there, other = ask(walk=1.0, seed=3, other=9), ask(seed=9)
    assert np.abs(there.judged.picture.astype(int) - other.judged.picture).max() <= 1


def test_the_bound_cuts_the_noise() -> None:
    usual = draw_noise(5, 4.0, 4_000)
    assert abs(float(usual.std()) - 1) < 0.05 and float(usual.abs().max()) > 3
    cut = draw_noise(5, 0.5, 4_000)
    assert float(cut.abs().max()) <= 0.5
    assert bool((cut.sign() == usual.sign()).all())


def test_a_given_picture_is_judged(networks: AdversarialPair) -> None:
    levels = np.zeros((28, 28), np.uint8)
    levels[5:20, 8:20] = 200
    seen = ask(task="judge", picture=spell(levels))
    assert seen.made is None
    np.testing.assert_array_equal(seen.judged.picture[2:-2, 2:-2], levels)


def spell(levels: np.ndarray[Any, Any]) -> str:
    """A picture as a request carries it."""
    from models.data.pixels import pack_pixels

    return pack_pixels(levels)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"gamma_g": 2.5}, "gamma_g"),
        ({"kind": 10}, "kind"),
        ({"erase": 17}, "erase"),
        ({"task": "judge", "picture": ""}, "picture"),
        ({"task": "judge", "picture": spell(np.zeros((28, 28), np.uint8))}, "picture"),
        ({"task": "judge", "picture": "test:999"}, "picture"),
    ],
)
def test_bad_input_is_refused(networks: AdversarialPair, fields: dict[str, Any], code: str) -> None:
    (found,) = explain.explain([Request(**fields)])
    assert isinstance(found, InputError) and found.code == code


def test_a_change_of_gamma_is_measured(networks: AdversarialPair) -> None:
    usual, changed = explain.measure([Request(), Request(gamma_g=0.0)])
    assert not isinstance(usual, InputError) and not isinstance(changed, InputError)
    assert usual.change == 0 < changed.change and usual.count == 500
    assert usual.distance > 0 and usual.logit != changed.logit


def test_examples_are_within_range(networks: AdversarialPair) -> None:
    found = explain.explain(EXAMPLES)
    assert all(isinstance(one, Explanation) for one in found)
