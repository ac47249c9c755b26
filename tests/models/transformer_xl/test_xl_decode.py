"""Cached writing is uncached reading, memories stay apart, and what stands in a memory can be exchanged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.sampling import FREE, Wanted, Writer, uniforms, written
from models.transformer_xl.decode import Cache, Reader, Swap, foreign
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network


def wanted(rows: int = 2, given: int = 21, length: int = 70) -> Wanted:
    known = torch.full((rows, length), FREE)
    known[:, :given] = torch.randint(1, 20, (rows, given), generator=torch.Generator().manual_seed(7))
    draws = torch.stack([uniforms(row, length) for row in range(rows)])
    return Wanted(known, draws, (1.0, 0.6)[:rows])


def writer(model: Network, task: Wanted, swap: Swap | None = None, memory: int | None = None) -> Writer:
    return Writer(
        Reader(model, len(task.known), model.memory if memory is None else memory, 16, swap or Swap()), task, precision=torch.float32
    )


def uncached(model: Network, characters: torch.Tensor, memory: int) -> torch.Tensor:
    """Nats of finished texts, read segment by segment from the beginning, nothing kept but the memory of the paper."""
    before = torch.cat((torch.full((len(characters), 1), 14), characters[:, :-1]), 1)
    past = model.remembering(memory) if isinstance(model, TransformerXL) else None
    with torch.no_grad():
        logits = torch.cat([model(part, past) for part in before.split(16, 1)], 1)
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), characters, reduction="none")


@pytest.mark.parametrize("memory", [0, 7, 32])
def test_cached_writing_with_another_memory_is_uncached_reading_with_it(xl: TransformerXL, memory: int) -> None:
    characters, nats = written(writer(xl, wanted(), memory=memory))
    torch.testing.assert_close(nats, uncached(xl, characters, memory), atol=1e-4, rtol=1e-4)


def test_a_visitor_finds_nothing_of_the_one_before(xl: TransformerXL) -> None:
    task = wanted()
    _, first = written(writer(xl, task))
    written(writer(xl, wanted(given=60)))
    _, again = written(writer(xl, task))
    assert torch.equal(first, again)
    assert not any(isinstance(value, torch.Tensor) for layer in xl.layers for value in vars(layer).values())


@pytest.mark.parametrize("kind", ["cut", "shuffled", "foreign"])
def test_exchanging_the_memory_changes_what_it_is_for_and_nothing_before_it(xl: TransformerXL, text: np.ndarray, kind: str) -> None:
    task = wanted(rows=1, given=70)
    _, plain = written(writer(xl, task))
    swap = foreign(xl, text, 32) if kind == "foreign" else Swap(kind)
    _, changed = written(writer(xl, task, swap))
    torch.testing.assert_close(changed[:, :16], plain[:, :16])
    assert (changed[:, 16:] - plain[:, 16:]).abs().max() > 1e-3
    if kind == "cut":
        torch.testing.assert_close(changed, uncached(xl, task.known, 0), atol=1e-5, rtol=1e-5)


def test_a_foreign_memory_is_what_the_other_text_leaves(xl: TransformerXL, text: np.ndarray) -> None:
    swap = foreign(xl, text[:64], 32)
    here = torch.randint(1, 20, (1, 32))
    reader = Reader(xl, 1, 32, 16, swap)
    for part in here.split(16, 1):
        seen = reader.read(part)
    past = xl.remembering(32)
    with torch.no_grad():
        for part in torch.from_numpy(text[:64].astype(np.int64))[None].split(16, 1):
            xl(part, past)
        past._held = [(k[:, :, -16:], v[:, :, -16:]) for k, v in past._held]  # as much as its own memory would hold here
        torch.testing.assert_close(xl(here[:, 16:], past), seen, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="16 characters"):
        foreign(xl, text[:17], 32)


def test_shuffling_keeps_every_state_once(xl: TransformerXL) -> None:
    keys = torch.randn(2, 1, 3, 20, 8)
    shuffled, values = Swap("shuffled").applied(keys, keys, 3)
    assert torch.equal(shuffled, values)
    assert not torch.equal(shuffled, keys)
    assert torch.equal(shuffled.sum(-1).sort(-1).values, keys.sum(-1).sort(-1).values)


def test_a_segment_that_is_full_says_so(xl: TransformerXL) -> None:
    with pytest.raises(ValueError, match="17 positions in a segment of 16"):
        xl(torch.zeros(1, 17, dtype=torch.long), Cache(xl, 1, 32, 16))
