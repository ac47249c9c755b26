"""The Fréchet distance between two clouds of features (Heusel et al., 2017)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.floating]
Moments = tuple[Matrix, Matrix]
"""The mean of a cloud, (feature,), and its covariance, (feature, feature)."""


def take_root(matrix: Matrix) -> NDArray[np.float64]:
    """Return the square root of a symmetric matrix without negative eigenvalues; those below zero
    by rounding count as zero."""
    values, vectors = np.linalg.eigh(matrix)
    root: NDArray[np.float64] = (vectors * np.sqrt(values.clip(0))) @ vectors.T
    return root


def measure_moments(features: Matrix) -> Moments:
    """Return mean and covariance of features, (picture, feature), in double precision.

    Raise ValueError for fewer than two pictures.
    """
    if features.ndim != 2 or len(features) < 2:
        raise ValueError(f"features {features.shape}: (picture, feature), two pictures or more")
    cloud = features.astype(np.float64)
    return cloud.mean(0), np.cov(cloud, rowvar=False)


def measure_moments_distance(first: Moments, second: Moments) -> float:
    """Return |μ₁ − μ₂|² + Tr(A + B − 2 √(√A B √A)) for means μ and covariances A, B.

    The symmetric form needs no root of A · B, which fails where a feature never varies.
    """
    (mean, a), (other, b) = first, second
    root = take_root(a)
    cross = np.sqrt(np.linalg.eigvalsh(root @ b @ root).clip(0)).sum()
    return float(((mean - other) ** 2).sum() + np.trace(a) + np.trace(b) - 2 * cross)


def measure_frechet_distance(first: Matrix, second: Matrix) -> float:
    """Return the distance between two clouds of features, (picture, feature) each."""
    return measure_moments_distance(measure_moments(first), measure_moments(second))
