"""The parts of attention: the division of scores by √d_k, additive scores beside dot products, and
a convolution built from heads."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models.cost.records import ALPHAS, N_KEYS, SIDE, WIDTHS, Array, Heads, Request, Scale
from models.data.pixels import find_picture, load_shipped_pictures
from models.explaining.arrays import freeze
from models.layers.attention import attend, attention_weights

SHOWN = 16  # queries with displayed weights
AROUND = 2  # distances −2 … 2 of the maps between positions
SMALL = 4  # numbers of a position in these maps


# ---- the softmax over scores


def vectors(d_k: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw queries and keys, (N_KEYS, d_k) each: independent numbers of mean 0 and variance 1.

    The dot product of two of them has variance d_k (§3.2.1).
    """
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(N_KEYS, d_k, generator=generator), torch.randn(
        N_KEYS, d_k, generator=generator
    )


def additive(query: Tensor, key: Tensor, seed: int) -> Tensor:
    """Return the additive scores vᵀ tanh(W q + U k) (Bahdanau et al., 2015), (query, key), with
    hidden size d_k.

    W and U have variance 1 / d_k, so that the input of tanh has the same size for every d_k; v has
    variance 1, like the queries and keys. The sum over d_k numbers in [−1, 1] therefore grows like
    √d_k, as a dot product does.
    """
    d_k = query.shape[1]
    generator = torch.Generator().manual_seed(seed + 1)
    w, u = (torch.randn(d_k, d_k, generator=generator) / math.sqrt(d_k) for _ in range(2))
    v = torch.randn(d_k, generator=generator)
    scores: Tensor = torch.tanh((query @ w)[:, None] + (key @ u)[None]) @ v
    return scores


def entropy(weights: Tensor) -> Tensor:
    """Return −Σ w log₂ w in bits over the last axis.

    It is log₂ of the number of keys if all weights are equal, and 0 if one key has all the weight.
    """
    bits: Tensor = torch.special.entr(weights).sum(-1) / math.log(2)
    return bits


def gradient(weights: Tensor) -> Tensor:
    """Return Σ_j ∂ w_j / ∂ s_j = Σ_j w_j (1 − w_j) over the last axis.

    It tells how much of a change of the scores reaches the weights; 0 if one key has all the
    weight.
    """
    return 1 - weights.square().sum(-1)


def scale(request: Request) -> Scale:
    """Return the softmax over scores q · k / d_k^p: undivided (p = 0), divided by √d_k (p = 1/2),
    and with the request's power."""
    powers = (0.0, 0.5, request.power)
    measured = np.zeros((2, len(powers), len(WIDTHS) + 1), np.float32)
    spread = np.zeros((2, len(WIDTHS)), np.float32)
    for column, d_k in enumerate((*WIDTHS, request.d_k)):
        query, key = vectors(d_k, request.seed)
        dots, sums = query @ key.T, additive(query, key, request.seed)
        for row, power in enumerate(powers):
            weights = (dots / d_k**power).softmax(-1)
            measured[:, row, column] = (
                float(entropy(weights).mean()),
                float(gradient(weights).mean()),
            )
        if column < len(WIDTHS):
            spread[:, column] = float(dots.std()), float(sums.std())
    weights = torch.stack([(dots / request.d_k**power).softmax(-1)[:SHOWN] for power in powers])
    entropies, gradients = measured[:, :, :-1]
    both = torch.stack((dots.flatten(), sums.flatten()))
    return Scale(
        powers, *map(freeze, (entropies, gradients, weights, measured[:, :, -1].T, *spread, both))
    )


# ---- a convolution from heads


def picture(request: Request) -> Tensor:
    """Return the picture of a request, (row, column) in [0, 1], float64.

    Raise InputError for an unknown picture.
    """
    return (
        torch.from_numpy(
            find_picture(
                request.picture, load_shipped_pictures("cost", "pictures")["levels"]
            ).copy()
        ).double()
        / 255
    )


def taps(name: str, size: int, seed: int = 1) -> Tensor:
    """Return a filter, (size, size), float64: Sobel's vertical edges, a mean, twice the picture
    minus its mean, or random numbers."""
    if name == "random":
        return (
            torch.randn(
                size, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
            )
            / size
        )
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
    """Apply a filter to a picture with zeros around it: y_p = Σ_Δ w_Δ x_{p + Δ}, (row, column)."""
    result: Tensor = F.conv2d(
        image[None, None], weights[None, None], padding=weights.shape[0] // 2
    )[0, 0]
    return result


def _positions(size: int, margin: int) -> Tensor:
    """Return rows and columns of the picture with a margin, (position, 2), in raster order from its
    middle."""
    axis = torch.arange(-margin, size + margin, dtype=torch.float64) - (size - 1) / 2
    return torch.cartesian_prod(axis, axis)


def projections(size: int, kernel: int, alpha: float) -> tuple[Tensor, Tensor]:
    """Return queries (head, query, 3) and keys (key, 3) with the product −α ‖p_k − p_q − Δ_h‖², up
    to terms that cancel in a softmax over k.

    This is the quadratic encoding r_δ = (‖δ‖², δ₁, δ₂) with v = −α (1, −2 Δ₁, −2 Δ₂) (Cordonnier et
    al., 2020, eq. 9), where δ = p_k − p_q is expanded. Keys are the picture and its border of
    kernel // 2 pixels.
    """
    half = kernel // 2
    queries, keys = _positions(size, 0), _positions(size, half)
    shifts = torch.cartesian_prod(
        *(torch.arange(-half, half + 1, dtype=torch.float64) for _ in range(2))
    )
    looked = 2 * alpha * (queries[None] + shifts[:, None])
    query = torch.cat((torch.full((*looked.shape[:2], 1), -alpha, dtype=torch.float64), looked), 2)
    return query, torch.cat((keys.square().sum(1, keepdim=True), keys), 1)


def from_heads(image: Tensor, weights: Tensor, alpha: float, without: int = 0) -> Tensor:
    """Compute a `convolution` with kernel² heads of self-attention, (row, column): each head
    attends to one shift, and W_O multiplies it by its tap.

    Content plays no part: scores depend on positions alone, so α alone decides how near a head's
    map comes to a single pixel (theorem 1). without: the number of a head, from 1, whose output is
    removed; 0 for none.
    """
    size, kernel = len(image), len(weights)
    query, key = projections(size, kernel, alpha)
    value = F.pad(image, (kernel // 2,) * 4).flatten()[:, None]
    gain = torch.ones(1, kernel**2, dtype=torch.float64)
    if without:
        gain[0, without - 1] = 0
    made = torch.zeros(size * size, dtype=torch.float64)
    # One head at a time, because a map has a million weights.
    for head, tap in enumerate(weights.flatten().tolist()):
        output = attend(
            query[None, head, None],
            key[None, None],
            value[None, None],
            gain=gain[:, head, None],
            scale=1.0,
        )
        made += tap * output[0, 0, :, 0]
    return made.view(size, size)


def heads(request: Request) -> Heads:
    """Run a picture through a filter and through the same number of heads."""
    image, weights = picture(request), taps(request.filter, request.kernel, request.seed)
    true = convolution(image, weights)
    half, at = request.kernel // 2, (SIDE // 2, SIDE // 2)
    query, key = projections(SIDE, request.kernel, request.alpha)
    wide = SIDE + 2 * half
    maps = attention_weights(query[:, at[0] * SIDE + at[1], None], key, scale=1.0).view(
        -1, wide, wide
    )
    known = {alpha: from_heads(image, weights, alpha) for alpha in ALPHAS}
    made = known.get(request.alpha)
    if made is None or request.without:
        made = from_heads(image, weights, request.alpha, request.without)
    return Heads(
        picture=freeze(image),
        taps=freeze(weights),
        true=freeze(true),
        made=freeze(made),
        maps=freeze(maps),
        query=(at[0] + half, at[1] + half),
        errors=freeze([float((one - true).abs().max()) for one in known.values()], np.float64),
        error=float((made - true).abs().max()),
        reach=reach(request.seed),
    )


# ---- the map from one position to another


def reach(seed: int) -> Array:
    """Return the SMALL × SMALL maps from x_{i + δ} to y_i for two contents and δ = −2 … 2, (kind,
    content, distance, row, column).

    A convolution has a map W_δ for each distance. One head of attention has one map, W_V, times a
    weight that the content gives. Relative attention with two heads, each with its own map, adds a
    score of the distance to that of the content: Σ_h a_h(content, δ) W_h.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw_normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    count = 2 * AROUND + 1
    contents, by_distance = 0.5 * draw_normal(2, count, SMALL), draw_normal(count, SMALL, SMALL)
    w_q, w_k, w_v = draw_normal(3, 2, SMALL, SMALL).unbind()  # (head, row, column) each
    distance = draw_normal(2, count)
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
    return freeze(found)
