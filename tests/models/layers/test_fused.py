"""The fused step: what it is built for, when it is used, and that weights are laid out anew when
they change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from models.language_model.decode import Reader
from models.layers import fused, fused_library
from models.networks.encoder import Config
from models.nonautoregressive.decode import read
from models.nonautoregressive.model import AllAtOnce
from tests.models.networks import decoder, language


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Nothing is built here yet, and what is built need not be fast."""
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setattr(fused_library, "FLAGS", ("-O0", *fused_library.FLAGS[1:]))
    fused_library.load_library.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    fused_library.load_library.cache_clear()


def test_without_a_compiler_readers_go_the_plain_way(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fused_library, "_find_compiler", lambda: None)
    assert "No C++ compiler" in fused_library.build_library()
    assert not fused.can_fuse(torch.zeros(1), 1, 4)
    assert decoder("relative").read(1, 4).read(torch.ones(1, 1, dtype=torch.long)).isfinite().all()


def test_a_compiler_that_fails_leaves_nothing_behind(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fused_library, "_find_compiler", lambda: "false")
    assert "could not be built" in fused_library.build_library() and not fused.can_fuse(
        torch.zeros(1), 1, 4
    )
    assert not [file for file in elsewhere.rglob("*") if file.is_file()]


def test_another_processor_or_another_source_is_another_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = fused_library.find_library_path()
    monkeypatch.setattr(fused_library, "FLAGS", ("-O1",))
    assert fused_library.find_library_path() != here
    monkeypatch.undo()
    monkeypatch.setattr(fused_library.platform, "machine", lambda: "pdp11")
    assert fused_library.find_library_path() != here


@pytest.mark.slow
def test_it_is_built_once_and_then_used(elsewhere: Path) -> None:
    assert fused_library.build_library().startswith("The fused step is built: ") and fused.can_fuse(
        torch.zeros(1), fused.ROWS, 8
    )
    assert fused_library.build_library().startswith("The fused step is built already: ")
    assert not fused.can_fuse(torch.zeros(1), fused.ROWS + 1, 8)  # rows
    assert not fused.can_fuse(torch.zeros(1), 1, 6)  # channels of a head
    assert not fused.can_fuse(torch.zeros(1, dtype=torch.float64), 1, 8)


@pytest.mark.slow
def test_a_compiler_without_threads_builds_for_one(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fused_library, "THREADS", ("-fno-such-thing", "-fopenmp-simd"))
    assert fused_library.build_library().startswith("The fused step is built: ") and fused.can_fuse(
        torch.zeros(1), 1, 4
    )


@pytest.mark.usefixtures("way")
def test_weights_that_change_are_laid_out_anew() -> None:
    model, before = language().requires_grad_(False), torch.tensor([[3]])
    first = Reader(model, 1).read(before)
    torch.testing.assert_close(first, model(before), atol=1e-5, rtol=1e-5)
    nn.init.normal_(model.layers[1].feedforward.outer.weight)  # type: ignore[arg-type,union-attr]
    again = Reader(model, 1).read(before)
    assert not torch.allclose(first, again, atol=1e-3)
    torch.testing.assert_close(again, model(before), atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(
    "sizes",
    [{"d_ff": 25}, {"d_ff": 0}, {"pieces": 70, "d_model": 8, "n_heads": 1}],
    ids=["odd", "no", "pieces"],
)
def test_networks_of_any_size_say_what_they_say_without_it(
    rows: int, sizes: dict[str, int]
) -> None:
    model = language(**sizes).requires_grad_(False)
    if rows > 2:  # as shipped: half precision loses nothing
        model = model.half().float()
    before = torch.randint(1, 29, (rows, 12), generator=torch.Generator().manual_seed(rows))
    reader = Reader(model, rows)
    found = torch.cat([reader.read(one) for one in (before[:, :3], *before[:, 3:].split(1, 1))], 1)
    torch.testing.assert_close(found, model(before), atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("way", ["fused"], indirect=True)
@pytest.mark.parametrize("width", [32, 24])  # of two heads: channels in eights and in fours
@torch.no_grad()
def test_a_sentence_read_at_once_is_the_same(width: int) -> None:
    torch.manual_seed(width)
    model = AllAtOnce(Config(vocabulary=2100, d_model=width, d_ff=40, n_heads=2, n_layers=3)).eval()
    for pieces, written in ((1, 1), (5, 17), (40, 33)):
        sentence, seen = (
            torch.randint(5, 60, (pieces,)).tolist(),
            torch.randint(5, 60, (1, written)),
        )
        at_once = read(model, [sentence])
        found = at_once.fill_seen(seen)
        with fused.without_fusion():
            plain = read(model, [sentence])
            other = plain.fill_seen(seen)
            pairs = (at_once.memory, plain.memory), (at_once.lengths, plain.lengths), (found, other)
            for one, beside in (*pairs, (at_once.possible(found[0]), plain.possible(other[0]))):
                torch.testing.assert_close(one, beside, atol=1e-5, rtol=1e-5)
    assert at_once._whole is not None and plain._whole is None
