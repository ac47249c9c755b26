"""What attention is made of: why scores are divided by √d_k, what additive scores are beside dot products, how heads make a convolution."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models.arrays import frozen
from models.cost.records import ALPHAS, N_KEYS, SIDE, WIDTHS, Array, Heads, Request, Scale
from models.layers.attention import attend, attention_weights
from models.pixels import picture_of, shipped

SHOWN = 16  # queries whose weights are shown
AROUND = 2  # distances −2 … 2 of the maps from one position to another
SMALL = 4  # numbers of a position there


# ---- the softmax over scores -------------------------------------------------------------------------------------------------------


def vectors(d_k: int, seed: int) -> tuple[Tensor, Tensor]:
    """Queries and keys, (N_KEYS, d_k) each, independent numbers of mean 0 and variance 1: a product of two has variance d_k (§3.2.1)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(N_KEYS, d_k, generator=generator), torch.randn(N_KEYS, d_k, generator=generator)


def additive(query: Tensor, key: Tensor, seed: int) -> Tensor:
    """vᵀ tanh(W q + U k) (Bahdanau et al., 2015), (query, key), hidden size d_k; W, U and v are drawn with variance 1 / d_k."""
    d_k = query.shape[1]
    generator = torch.Generator().manual_seed(seed + 1)
    w, u = (torch.randn(d_k, d_k, generator=generator) / math.sqrt(d_k) for _ in range(2))
    v = torch.randn(d_k, generator=generator) / math.sqrt(d_k)
    scores: Tensor = torch.tanh((query @ w)[:, None] + (key @ u)[None]) @ v
    return scores


def entropy(weights: Tensor) -> Tensor:
    """−Σ w log₂ w in bits, over the last axis: log₂ of the number of keys where all are alike, 0 where one has everything."""
    bits: Tensor = torch.special.entr(weights).sum(-1) / math.log(2)
    return bits


def gradient(weights: Tensor) -> Tensor:
    """Σ_j ∂ w_j / ∂ s_j = Σ_j w_j (1 − w_j) over the last axis: how much of a push on the scores reaches the weights; 0 where one has
    everything."""
    return 1 - weights.square().sum(-1)


def scale(request: Request) -> Scale:
    """The softmax over scores q · k / d_k^p, undivided (p = 0), by √d_k (p = 1/2) and as asked for."""
    powers = (0.0, 0.5, request.power)
    measured = np.zeros((2, len(powers), len(WIDTHS) + 1), np.float32)
    spread = np.zeros((2, len(WIDTHS)), np.float32)
    for column, d_k in enumerate((*WIDTHS, request.d_k)):
        query, key = vectors(d_k, request.seed)
        dots, sums = query @ key.T, additive(query, key, request.seed)
        for row, power in enumerate(powers):
            weights = (dots / d_k**power).softmax(-1)
            measured[:, row, column] = float(entropy(weights).mean()), float(gradient(weights).mean())
        if column < len(WIDTHS):
            spread[:, column] = float(dots.std()), float(sums.std())
    weights = torch.stack([(dots / request.d_k**power).softmax(-1)[:SHOWN] for power in powers])
    entropies, gradients = measured[:, :, :-1]
    both = torch.stack((dots.flatten(), sums.flatten()))
    return Scale(powers, *map(frozen, (entropies, gradients, weights, measured[:, :, -1].T, *spread, both)))


# ---- a convolution from heads ------------------------------------------------------------------------------------------------------


def picture(request: Request) -> Tensor:
    """The picture of a request, (row, column) in [0, 1], float64. InputError for one that there is not."""
    return torch.from_numpy(picture_of(request.picture, shipped("cost", "pictures")["levels"]).copy()).double() / 255


def taps(name: str, size: int, seed: int = 1) -> Tensor:
    """A filter, (size, size) float64: Sobel's vertical edges, a mean, the picture twice less its mean, or random numbers."""
    if name == "random":
        return torch.randn(size, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) / size
    mean = torch.full((size, size), 1 / size**2, dtype=torch.float64)
    if name == "blur":
        return mean
    if name == "sharpen":
        mean.neg_()[size // 2, size // 2] += 2
        return mean
    across = torch.arange(size, dtype=torch.float64) - size // 2
    smooth = torch.tensor([math.comb(size - 1, n) for n in range(size)], dtype=torch.float64)
    return smooth[:, None] * across / (smooth[:, None] * across).abs().sum() * 2


def convolution(image: Tensor, weights: Tensor) -> Tensor:
    """The filter over the picture, zeros around it: y_p = Σ_Δ w_Δ x_{p + Δ}, (row, column)."""
    result: Tensor = F.conv2d(image[None, None], weights[None, None], padding=weights.shape[0] // 2)[0, 0]
    return result


def _positions(size: int, margin: int) -> Tensor:
    """(position, 2) rows and columns of the picture with a margin, in raster order, counted from its middle."""
    axis = torch.arange(-margin, size + margin, dtype=torch.float64) - (size - 1) / 2
    return torch.cartesian_prod(axis, axis)


def projections(size: int, kernel: int, alpha: float) -> tuple[Tensor, Tensor]:
    """Queries (head, query, 3) and keys (key, 3) whose product is −α ‖p_k − p_q − Δ_h‖², up to what a softmax over k does not see.

    It is the quadratic encoding r_δ = (‖δ‖², δ₁, δ₂) with v = −α (1, −2 Δ₁, −2 Δ₂) (Cordonnier et al., 2020, eq. 9), δ = p_k − p_q written
    out. Keys are the picture and its border of kernel // 2 pixels.
    """
    half = kernel // 2
    queries, keys = _positions(size, 0), _positions(size, half)
    shifts = torch.cartesian_prod(*(torch.arange(-half, half + 1, dtype=torch.float64) for _ in range(2)))
    looked = 2 * alpha * (queries[None] + shifts[:, None])
    query = torch.cat((torch.full((*looked.shape[:2], 1), -alpha, dtype=torch.float64), looked), 2)
    return query, torch.cat((keys.square().sum(1, keepdim=True), keys), 1)


def from_heads(image: Tensor, weights: Tensor, alpha: float, without: int = 0) -> Tensor:
    """The same as `convolution` by kernel² heads of self-attention, (row, column): each looks at one shift, W_O gives it its tap.

    Content plays no part: scores are of positions alone, so α alone says how near a head's map comes to a single pixel (theorem 1).
    without: the number of a head from 1, whose output is taken away; 0 for none.
    """
    size, kernel = len(image), len(weights)
    query, key = projections(size, kernel, alpha)
    value = F.pad(image, (kernel // 2,) * 4).flatten()[:, None]
    gain = torch.ones(1, kernel**2, dtype=torch.float64)
    if without:
        gain[0, without - 1] = 0
    made = torch.zeros(size * size, dtype=torch.float64)
    for head, tap in enumerate(weights.flatten().tolist()):  # one at a time: a map has a million weights
        output = attend(query[None, head, None], key[None, None], value[None, None], gain=gain[:, head, None], scale=1.0)
        made += tap * output[0, 0, :, 0]
    return made.view(size, size)


def heads(request: Request) -> Heads:
    """A picture through a filter and through as many heads."""
    image, weights = picture(request), taps(request.filter, request.kernel, request.seed)
    true = convolution(image, weights)
    half, at = request.kernel // 2, (SIDE // 2, SIDE // 2)
    query, key = projections(SIDE, request.kernel, request.alpha)
    wide = SIDE + 2 * half
    maps = attention_weights(query[:, at[0] * SIDE + at[1], None], key, scale=1.0).view(-1, wide, wide)
    known = {alpha: from_heads(image, weights, alpha) for alpha in ALPHAS}
    made = known.get(request.alpha)
    if made is None or request.without:
        made = from_heads(image, weights, request.alpha, request.without)
    return Heads(
        picture=frozen(image),
        taps=frozen(weights),
        true=frozen(true),
        made=frozen(made),
        maps=frozen(maps),
        query=(at[0] + half, at[1] + half),
        errors=frozen([float((one - true).abs().max()) for one in known.values()], np.float64),
        error=float((made - true).abs().max()),
        reach=reach(request.seed),
    )


# ---- what leads from one position to another ---------------------------------------------------------------------------------------


def reach(seed: int) -> Array:
    """(kind, content, distance, row, column): the SMALL × SMALL map from x_{i + δ} to y_i for two contents and δ = −2 … 2.

    A convolution has a map W_δ for each distance. One head of attention has one map, W_V, times a weight that the content gives. Relative
    attention of two heads, each with its own map, adds a score of the distance to that of the content: Σ_h a_h(content, δ) W_h.
    """
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    count = 2 * AROUND + 1
    contents, by_distance = 0.5 * drawn(2, count, SMALL), drawn(count, SMALL, SMALL)
    w_q, w_k, w_v = drawn(3, 2, SMALL, SMALL).unbind()  # (head, row, column) each
    distance = drawn(2, count)
    query = torch.einsum("cd,hde->che", contents[:, AROUND], w_q)
    scores = torch.einsum("che,hde,cjd->chj", query, w_k, contents) / math.sqrt(SMALL)
    alone = scores[:, :1].softmax(-1)
    relative = (scores + distance).softmax(-1)
    found = torch.stack(
        (
            by_distance.expand(2, -1, -1, -1),
            torch.einsum("chj,hde->cjde", alone, w_v[:1]),
            torch.einsum("chj,hde->cjde", relative, w_v),
        )
    )
    return frozen(found)
