"""The explicit peer of attention by hashing says the same as the fused one, and needs the memory of
all scores at once."""

from __future__ import annotations

import torch

from benchmarks import lsh_attention
from benchmarks.measure import peak_bytes

CPU = torch.device("cpu")


def test_explicit_and_fused_attention_agree() -> None:
    results, peaks = {}, {}
    for way in ("explicit", "dense"):
        torch.manual_seed(1)
        side = lsh_attention.PEAKS[way](96, CPU)
        with torch.no_grad():
            results[way] = side()
            peaks[way] = peak_bytes(side, CPU)
    torch.testing.assert_close(results["explicit"], results["dense"], atol=1e-5, rtol=1e-4)
    scores = 4 * lsh_attention.HEADS * 96 * 96
    assert peaks["explicit"] >= 2 * scores > peaks["dense"]
