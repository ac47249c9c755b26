"""Self-similarity: its equations against plain loops and peers, and what the lab answers."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from skimage.restoration import denoise_nl_means

from models.explaining.errors import InputError
from models.self_similarity import records
from models.self_similarity.data import Crops, add_noise, as_grey
from models.self_similarity.explain import cut_sample, explain
from models.self_similarity.growth import grow_texture, list_windows, make_gaussian
from models.self_similarity.model import Config, Denoiser
from models.self_similarity.nonlocal_means import (
    dot_product_means,
    measure_psnr,
    nonlocal_means,
    weigh_neighbours,
)
from models.self_similarity.recipe import VARIANTS, SquaredError
from models.self_similarity.records import Request, spell_picture
from models.self_similarity.similarity import compare_bars, compare_parts, compare_patches

SIGMA, H = 20 / 255, 0.06


def noisy_picture(rows: int = 26, columns: int = 30) -> torch.Tensor:
    """Return stripes under noise, (row, column)."""
    stripes = np.sin(np.arange(columns) / 2) / 3 + np.linspace(0.3, 0.6, rows)[:, None]
    return torch.from_numpy(add_noise(stripes.astype(np.float32), SIGMA, np.random.default_rng(1)))


def restore_by_loop(noisy: np.ndarray, h: float, sigma: float) -> np.ndarray:
    """Return non-local means in double precision, pixel by pixel, from the paper's sum."""
    line = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 1.5**2))
    gaussian = np.outer(line, line) / line.sum() ** 2
    padded = np.pad(noisy.astype(np.float64), 3, mode="reflect")
    rows, columns = noisy.shape
    result = np.zeros(noisy.shape)
    for i, j in np.ndindex(rows, columns):
        weights, values = [], []
        for k in range(max(0, i - 10), min(rows, i + 11)):
            for m in range(max(0, j - 10), min(columns, j + 11)):
                if (k, m) == (i, j):
                    continue
                gap = padded[i : i + 7, j : j + 7] - padded[k : k + 7, m : m + 7]
                distance = (gaussian * gap**2).sum() - 2 * sigma**2
                weights.append(math.exp(-max(distance, 0) / h**2))
                values.append(noisy[k, m])
        own = max(weights)
        result[i, j] = (np.dot(weights, values) + own * noisy[i, j]) / (sum(weights) + own)
    return result


def test_means_equal_a_plain_loop() -> None:
    noisy = noisy_picture(16, 24)
    restored = nonlocal_means(noisy, H, SIGMA).numpy()
    assert np.abs(restored - restore_by_loop(noisy.numpy(), H, SIGMA)).max() < 1e-5


def test_means_restore_as_well_as_scikit_image() -> None:
    clean = as_grey(records.load_pictures()[3])
    noisy = add_noise(clean, SIGMA, np.random.default_rng(2))
    peer = denoise_nl_means(
        noisy, patch_size=7, patch_distance=10, h=H, fast_mode=False, sigma=SIGMA
    )
    ours, theirs = (
        measure_psnr(torch.from_numpy(clean), one)
        for one in (nonlocal_means(torch.from_numpy(noisy), H, SIGMA), torch.from_numpy(peer))
    )
    assert ours > theirs - 0.05


def test_pictures_of_a_batch_are_apart() -> None:
    pair = torch.stack((noisy_picture(), noisy_picture().flip(0)))
    both = nonlocal_means(pair, H, SIGMA)
    torch.testing.assert_close(both[1], nonlocal_means(pair[1], H, SIGMA))


@pytest.mark.parametrize("place", [(0, 0), (13, 15), (25, 3)])
@pytest.mark.parametrize("kernel", ["means", "biased", "plain"])
def test_streamed_sums_equal_the_definition(place: tuple[int, int], kernel: str) -> None:
    noisy = noisy_picture()
    sigma, bias = (SIGMA if kernel == "means" else None), kernel != "plain"
    weights = weigh_neighbours(noisy, *place, H, sigma, bias)
    assert weights.sum().item() == pytest.approx(1, abs=1e-5)
    restored = nonlocal_means(noisy, H, SIGMA) if sigma else dot_product_means(noisy, H, bias)
    padded = torch.nn.functional.pad(noisy, (10,) * 4)
    seen = padded[place[0] : place[0] + 21, place[1] : place[1] + 21]
    assert (weights * seen).sum().item() == pytest.approx(restored[place].item(), abs=1e-5)


def test_attention_with_a_key_bias_is_means() -> None:
    noisy, place = noisy_picture(), (12, 9)
    biased = weigh_neighbours(noisy, *place, H, None)
    means = weigh_neighbours(noisy, *place, H, 0.0)
    biased[10, 10] = means[10, 10] = 0  # the pixel itself, which the paper weighs otherwise
    torch.testing.assert_close(biased / biased.sum(), means / means.sum(), atol=1e-6, rtol=1e-4)


def test_without_the_bias_bright_patches_win() -> None:
    picture = torch.full((21, 21), 0.2)
    picture[:, 14:] = 0.9
    with_bias, without = (weigh_neighbours(picture, 10, 6, 0.1, None, on) for on in (True, False))
    assert with_bias[:, 18:].sum() < 0.01 and without[:, 18:].sum() > 0.9


def test_h_goes_from_a_copy_to_the_mean() -> None:
    noisy = noisy_picture(15, 15)
    best = weigh_neighbours(noisy, 7, 7, 1e-3, None)
    assert best[10, 10] == best.max() == pytest.approx(0.5)  # itself, and one other
    assert nonlocal_means(noisy, 1e-4, 0.0).isfinite().all()
    flat = nonlocal_means(noisy, 1e3, SIGMA)[7, 7]
    assert flat.item() == pytest.approx(noisy.mean().item(), abs=1e-3)


@pytest.mark.parametrize("channels", [1, 3])
def test_grown_pixels_equal_their_sources(channels: int) -> None:
    draws = np.random.default_rng(3)
    sample = draws.random((14, 16, channels), np.float32)
    grown = grow_texture(sample, 20, 7, seed=4)
    again = grow_texture(sample, 20, 7, seed=4)
    assert (grown.source == again.source).all()
    assert sorted(grown.order.ravel())[8:] == list(range(20 * 20 - 8))
    assert (grown.source >= 0).all() and (grown.source.max((0, 1)) <= (13, 15)).all()
    assert not (grown.source == grow_texture(sample, 20, 7, seed=5).source).all()


def test_each_pixel_comes_from_a_candidate() -> None:
    """Replay the growth: the source of each pixel lies within the tolerance of the best window."""
    sample = np.random.default_rng(6).random((12, 12, 1), np.float32)
    grown = grow_texture(sample, 10, 5, seed=1)
    picture = sample[grown.source[..., 0], grown.source[..., 1]]
    windows, gaussian = list_windows(sample, 5).reshape(64, 5, 5), make_gaussian(5)
    for step in range(1, 92):
        ((row, column),) = np.argwhere(grown.order == step)
        known = np.pad((grown.order < step).astype(float), 2)[row : row + 5, column : column + 5]
        here = np.pad(picture[..., 0], 2)[row : row + 5, column : column + 5]
        weight = known * gaussian / (known * gaussian).sum()
        distance = ((windows - here) ** 2 * weight).sum((1, 2))
        at = grown.source[row, column] - 2
        assert distance[at[0] * 8 + at[1]] <= distance.min() * 1.1 + 1e-6
        assert grown.error[row, column] == pytest.approx(distance.min(), abs=1e-6)


def test_a_window_must_fit_its_sample() -> None:
    with pytest.raises(ValueError, match="window 7"):
        grow_texture(np.zeros((5, 9, 1), np.float32), 8, 7, 1)


def test_a_new_block_changes_nothing() -> None:
    torch.manual_seed(1)
    model = Denoiser(Config())
    noisy = noisy_picture()[None]
    silent = model(noisy, gain=torch.zeros(1))
    assert torch.equal(model(noisy), silent)
    torch.nn.init.ones_(model.readout.weight)
    assert not torch.allclose(model(noisy), silent)
    torch.testing.assert_close(model(noisy), model(noisy, model.average(noisy)))


def test_training_lowers_the_loss() -> None:
    torch.manual_seed(2)
    model = Denoiser(dataclasses.replace(VARIANTS["block"].config, channels=4))
    objective, optimizer = SquaredError(model), torch.optim.Adam(model.parameters(), 1e-2)
    clean = torch.full((2, 16, 16), 0.5)
    noisy = clean + SIGMA * torch.randn(clean.shape, generator=torch.Generator().manual_seed(1))
    losses = []
    for _ in range(20):
        loss, count = objective(Crops(clean, noisy, model.average(noisy)))
        (loss / count).backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_equal_parts_are_alike() -> None:
    likeness = compare_parts(np.array([[0, 1], [2, 2], [0, 1]], np.float32))
    assert likeness[0, 2] == 1 and (likeness == likeness.T).all() and likeness[0, 1] < 1
    assert (compare_patches(np.full((96, 96), 0.5, np.float32)) == 1).all()
    bars = compare_bars(records.load_chorale())
    assert (bars[:4, 4:8].diagonal() == 1).all()  # the first four bars come again


def test_an_answer_holds_what_it_says() -> None:
    asked = [Request(), Request("grow", picture="test:0"), Request(picture="test:99")]
    denoised, grown, refused = explain(asked)
    assert isinstance(refused, InputError) and not isinstance(denoised, InputError)
    seen = denoised.denoised
    assert seen is not None and denoised.growth is None
    assert seen.psnr[0] == pytest.approx(22.1, abs=0.3) and max(seen.psnr[1:]) > 28
    assert not isinstance(grown, InputError) and grown.growth is not None
    assert grown.growth.sample.shape == (40, 40, 3)
    assert 0 < grown.growth.coherence < 1 and grown.growth.distinct <= 1600


@pytest.mark.parametrize("change", [{"bias": False}, {"block": False}, {"heat": 400}])
def test_each_change_costs_decibels(change: dict[str, object]) -> None:
    before, after = explain([Request(), dataclasses.replace(Request(), **change)])
    assert not isinstance(before, InputError) and not isinstance(after, InputError)
    assert before.denoised is not None and after.denoised is not None
    losses = np.subtract(before.denoised.psnr, after.denoised.psnr)
    assert losses.max() > 1


def test_one_colour_is_no_trouble() -> None:
    plain = np.full((96, 96, 3), 90, np.uint8)
    (seen, grown) = explain(
        [Request(picture=spell_picture(plain)), Request("grow", picture=spell_picture(plain))]
    )
    assert not isinstance(seen, InputError) and np.isfinite(seen.denoised.restored).all()  # type: ignore[union-attr]
    assert not isinstance(grown, InputError) and (cut_sample(plain, 40) == 90).all()


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request("grow", sample=12, window=11), "The window does not fit"),
        (Request(heat=0), "it can be 1 to 400"),
        (Request(picture="AAAA"), "no picture of 96"),
    ],
)
def test_what_cannot_be_read_is_refused(request_: Request, words: str) -> None:
    (refused,) = explain([request_])
    assert isinstance(refused, InputError) and words in refused.text["en"]
