"""Cross-entropy with label smoothing."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def smoothed_cross_entropy(
    hidden: Tensor, readout: Tensor, wanted: Tensor, smoothing: float, never: tuple[int, ...] = ()
) -> Tensor:
    """Return Σ_rows −(1 − ε) log p(wanted) − ε · mean over the vocabulary of log p, in nats
    (Szegedy et al., 2016; ε = `smoothing`).

    hidden: (row, d_model), only rows that count, never padding.
    readout: (vocabulary, d_model).
    wanted: (row,).
    never: tokens that can never be right, for example padding: they get no share of ε.

    It equals −log p(wanted) + ε · (the wanted token's score − the mean score), and scores are
    linear in `readout`: their mean is one product with its mean row.
    """
    hidden, others = hidden.to(readout.dtype), len(readout) - len(never)
    mean = (readout.sum(0) - readout[list(never)].sum(0)) / others
    apart = (hidden * (readout[wanted] - mean)).sum()
    return (
        F.cross_entropy((hidden @ readout.T).float(), wanted, reduction="sum") + smoothing * apart
    )
