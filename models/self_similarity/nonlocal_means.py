"""Non-local means, and the softmax of dot products that it is: a pixel becomes the mean of the
pixels whose surroundings look like its own.

Buades, Coll and Morel (2005): x̂_i = Σ_j w_ij y_j / Σ_j w_ij with

    w_ij = exp(−max(‖P_i − P_j‖²_G − 2σ², 0) / h²),

P_i the patch around pixel i, ‖·‖_G weighted by a Gaussian over the patch, j within a search window.
Since −‖q − k‖² = 2 q·k − ‖k‖² − ‖q‖² and a softmax over keys does not see ‖q‖², this is attention:
query and key are patches, the value is a pixel, the temperature is h², and every key has the bias
−‖k‖².

A picture is a tensor (…, row, column), 1 being white. Beyond its edge patches see it mirrored;
pixels beyond the edge are no neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from models.self_similarity.records import RADIUS, REACH, SPREAD

LEAST = 1e-30  # a pixel without any neighbour keeps its value


def gaussian_taps() -> list[float]:
    """Return the weights of a patch along one axis, from its middle outwards. Those of the whole
    axis add up to 1, and a patch's weights are products of two."""
    heights = [math.exp(-(k**2) / (2 * SPREAD**2)) for k in range(RADIUS + 1)]
    total = heights[0] + 2 * sum(heights[1:])
    return [height / total for height in heights]


def average_patches(values: Tensor) -> Tensor:
    """Return the weighted mean of the patch around every pixel that has a whole one: RADIUS pixels
    are lost at each edge."""
    taps = gaussian_taps()
    for axis in (-1, -2):  # a Gaussian over a square is one along each axis
        size = values.shape[axis] - 2 * RADIUS
        mean = values.narrow(axis, RADIUS, size) * taps[0]
        for k in range(1, RADIUS + 1):
            before = values.narrow(axis, RADIUS - k, size)
            mean.add_(before + values.narrow(axis, RADIUS + k, size), alpha=taps[k])
        values = mean
    return values


def mirror_edges(picture: Tensor) -> Tensor:
    """Return a picture with RADIUS mirrored pixels beyond each edge."""
    flat = picture.reshape(-1, 1, *picture.shape[-2:])
    padded = F.pad(flat, (RADIUS,) * 4, mode="reflect")
    return padded.reshape(*picture.shape[:-2], *padded.shape[-2:])


def pair_pixels(values: Tensor, down: int, right: int) -> tuple[Tensor, Tensor]:
    """Return two views of a picture in which pixel i stands where i + (down, right) stands in the
    other, for all i for which both exist. down: not negative."""
    rows, columns = values.shape[-2:]
    first, last = max(0, -right), columns - max(0, right)
    return (
        values[..., : rows - down, first:last],
        values[..., down:, first + right : last + right],
    )


def half_window(reach: int) -> Iterator[tuple[int, int]]:
    """Yield one of each two opposite offsets (down, right) of the search window, without 0, 0."""
    for down in range(reach + 1):
        for right in range(-reach if down else 1, reach + 1):
            yield down, right


@torch.no_grad()
def nonlocal_means(noisy: Tensor, h: float, sigma: float, reach: int = REACH) -> Tensor:
    """Return the picture by non-local means.

    noisy: (…, row, column). h, sigma: of the weights and of the noise, 1 being white. A pixel's own
    weight is the largest of the others, as in the paper. Opposite offsets compare the same pairs of
    pixels, so that one picture of differences serves both.
    """
    padded = mirror_edges(noisy / h)
    total, weight_sum, largest = (torch.zeros_like(noisy) for _ in range(3))
    slack = 2 * (sigma / h) ** 2
    for down, right in half_window(reach):
        near, far = pair_pixels(padded, down, right)
        distance = average_patches((near - far).square_())
        weight = torch.sub(slack, distance).clamp_(max=0).exp_()
        values, totals, sums, tops = (
            pair_pixels(array, down, right) for array in (noisy, total, weight_sum, largest)
        )
        for mine, other in ((0, 1), (1, 0)):
            totals[mine].addcmul_(weight, values[other])
            sums[mine].add_(weight)
            torch.maximum(tops[mine], weight, out=tops[mine])
    largest.clamp_(min=LEAST)
    return total.addcmul_(largest, noisy) / weight_sum.add_(largest)


@torch.no_grad()
def dot_product_means(noisy: Tensor, h: float, bias: bool = True, reach: int = REACH) -> Tensor:
    """Return the picture by attention over patches: softmax_j((2 q_i·k_j − ‖k_j‖²) / h²) y_j.

    bias: whether the keys have their bias −‖k‖²; without it bright patches win. A pixel's own score
    is the largest of the others, as in non-local means. The softmax is built up offset by offset
    under a running maximum, so the scores are never held all at once.
    """
    scaled = noisy / h
    padded = mirror_edges(scaled)
    norms = average_patches(padded.square())
    top = torch.full_like(noisy, -math.inf)
    total, weight_sum = torch.zeros_like(noisy), torch.zeros_like(noisy)
    for down, right in half_window(reach):
        near, far = pair_pixels(padded, down, right)
        score = average_patches(near * far).mul_(2)
        if bias:  # with −‖q‖² beside it, which changes no softmax, the score is −‖q − k‖²
            for norm in pair_pixels(norms, down, right):
                score.sub_(norm)
        pairs = [pair_pixels(array, down, right) for array in (noisy, top, total, weight_sum)]
        for mine, other in ((0, 1), (1, 0)):
            maximum, sums, weights = (pair[mine] for pair in pairs[1:])
            higher = torch.maximum(maximum, score)
            fade, weight = (maximum - higher).exp_(), (score - higher).exp_()
            maximum.copy_(higher)
            sums.mul_(fade).addcmul_(weight, pairs[0][other])
            weights.mul_(fade).add_(weight)
    return total.add_(noisy) / weight_sum.add_(1)


def weigh_neighbours(
    noisy: Tensor, row: int, column: int, h: float, sigma: float | None, bias: bool = True
) -> Tensor:
    """Return the weights of one pixel over its search window, (2 · REACH + 1, the same), which add
    up to 1; beyond the edge they are 0.

    sigma: of the noise, for non-local means; None for the softmax of dot products, whose keys have
    their bias or not. This is the definition, patch by patch.
    """
    taps = torch.tensor(gaussian_taps())
    line = torch.cat((taps.flip(0)[:-1], taps))
    size = 2 * RADIUS + 1
    patches = mirror_edges(noisy / h).unfold(0, size, 1).unfold(1, size, 1)
    patches = (patches * (line[:, None] * line).sqrt()).flatten(2)  # (row, column, pixel of it)
    above, left = max(0, row - REACH), max(0, column - REACH)
    keys = patches[above : row + REACH + 1, left : column + REACH + 1]
    query, centre = patches[row, column], (row - above, column - left)
    if sigma is not None:
        slack = 2 * (sigma / h) ** 2
        weights = (slack - (keys - query).square().sum(-1)).clamp(max=0).exp()
        weights[centre] = 0
        weights[centre] = weights.max().clamp(min=LEAST)
        weights /= weights.sum()
    else:
        scores = 2 * keys @ query - (keys.square().sum(-1) if bias else 0)
        scores[centre] = -math.inf
        scores[centre] = scores.max()
        weights = scores.flatten().softmax(0).reshape(scores.shape)
    placed = torch.zeros(2 * REACH + 1, 2 * REACH + 1)
    top, start = above - (row - REACH), left - (column - REACH)
    placed[top : top + keys.shape[0], start : start + keys.shape[1]] = weights
    return placed


def measure_psnr(clean: Tensor, picture: Tensor) -> float:
    """Return the peak signal-to-noise ratio in decibels, infinite for equal pictures."""
    error = float((picture - clean).double().square().mean())
    return math.inf if error == 0 else -10 * math.log10(error)
