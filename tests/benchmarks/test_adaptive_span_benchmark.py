"""The benchmark of spans, run with made-up ones; without a shipped model it says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks import adaptive_span
from benchmarks.adaptive_span import build_networks, measure_spans
from models.adaptive_span.model import Config
from models.checkpoints import checkpoint

CONFIG = Config("ab\n", span=64, ramp=8, d_model=16, d_ff=16, n_heads=2, n_layers=2)
SHARES = ((0.0, 0.1), (0.05, 0.5))


def test_spans_keep_their_share_of_a_longer_span(monkeypatch: pytest.MonkeyPatch) -> None:
    models = build_networks(CONFIG, SHARES, 640, torch.device("cpu"))
    assert models["ours"].longest() == [pytest.approx([0, 64]), pytest.approx([32, 320])]
    assert models["fixed"].longest() == [[640, 640], [640, 640]]
    before = torch.ones(1, 20, dtype=torch.long)
    full = torch.full((2, 2), 640.0)
    torch.testing.assert_close(
        models["ours"](before, forced=full).logits, models["fixed"](before).logits
    )
    monkeypatch.setattr(adaptive_span, "WRITTEN", 2)
    report = measure_spans(CONFIG, SHARES, torch.device("cpu"), span=640, length=700)
    share = (8 + 72 + 40 + 328) / 4 / 640
    assert report.figures["share"] == pytest.approx(share)
    assert report.figures["cache_vs_fixed_ratio"] == pytest.approx(share, rel=0.05)
    assert report.bounds["cache_vs_fixed_ratio"].holds(report.figures["cache_vs_fixed_ratio"])
    assert (
        set(report.bounds) == {"vs_fixed_ratio", "cache_vs_fixed_ratio"}
        and min(report.figures.values()) > 0
    )
    assert "stretched to S = 640" in report.notes["spans"]


def test_without_a_shipped_model_one_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    from models.adaptive_span import pretrained

    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path)
    monkeypatch.setattr(
        adaptive_span,
        "load",
        lambda variant: pretrained.read(checkpoint.find_folder("adaptive_span", variant)),
    )
    with pytest.raises(SystemExit, match="no adaptive model is shipped"):
        adaptive_span.measure(torch.device("cpu"))
