"""Cached writing is uncached reading, memories stay apart, and what stands in a memory can be exchanged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.characters import UNKNOWN
from models.transformer_xl.decode import FREE, Cache, Reader, Swap, Wanted, Writer, draw, foreign, uniforms, write
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network

kinds = pytest.mark.parametrize("kind", ["xl", "plain"])


def wanted(model: Network, rows: int = 2, given: int = 21, length: int = 70, swap: Swap | None = None, memory: int | None = None) -> Wanted:
    known = torch.full((rows, length), FREE)
    known[:, :given] = torch.randint(1, 20, (rows, given), generator=torch.Generator().manual_seed(7))
    draws = torch.stack([uniforms(row, length) for row in range(rows)])
    return Wanted(known, draws, (1.0, 0.6)[:rows], model.memory if memory is None else memory, 16, swap or Swap())


def uncached(model: Network, characters: torch.Tensor, memory: int) -> torch.Tensor:
    """Nats of finished texts, read segment by segment from the beginning, nothing kept but the memory of the paper."""
    before = torch.cat((torch.full((len(characters), 1), 14), characters[:, :-1]), 1)
    past = model.remembering(memory) if isinstance(model, TransformerXL) else None
    with torch.no_grad():
        logits = torch.cat([model(part, past) for part in before.split(16, 1)], 1)
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), characters, reduction="none")


@kinds
@pytest.mark.parametrize("memory", [0, 7, 32])
def test_cached_writing_is_uncached_reading(kind: str, memory: int, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    if kind == "plain":
        memory = 0
    task = wanted(model, memory=memory)
    characters, nats = write(model, task)
    assert torch.equal(characters[:, :21], task.known[:, :21])
    assert (characters > UNKNOWN).all()
    torch.testing.assert_close(nats, uncached(model, characters, memory), atol=1e-4, rtol=1e-4)


@kinds
def test_each_written_character_is_what_uncached_reading_would_draw(kind: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    task = wanted(model, rows=1)
    characters, _ = write(model, task)
    for i in (21, 31, 32, 33, 48, 69):
        before = torch.cat((torch.full((1, 1), 14), characters[:, :i]), 1)
        past = model.remembering() if isinstance(model, TransformerXL) else None
        with torch.no_grad():
            logits = [model(part, past) for part in before.split(16, 1)][-1]
        assert draw(logits[:, -1], task.uniforms[:, i], torch.ones(1)) == characters[0, i]


@kinds
def test_company_in_a_batch_changes_nothing(kind: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    task = wanted(model)
    together, nats = write(model, task)
    alone, own = write(model, Wanted(task.known[1:], task.uniforms[1:], (0.6,), task.memory, 16))
    assert torch.equal(together[1:], alone)
    torch.testing.assert_close(nats[1:], own, atol=1e-5, rtol=1e-5)


def test_a_visitor_finds_nothing_of_the_one_before(xl: TransformerXL) -> None:
    task = wanted(xl)
    _, first = write(xl, task)
    write(xl, wanted(xl, given=60))
    _, again = write(xl, task)
    assert torch.equal(first, again)
    assert not any(isinstance(value, torch.Tensor) for layer in xl.layers for value in vars(layer).values())


def test_what_is_given_is_read_segment_by_segment(xl: TransformerXL) -> None:
    writer = Writer(xl, wanted(xl, given=37, length=40))
    assert [writer.step() for _ in range(6)] == [16, 16, 6, 1, 1, 0]
    assert writer.done


def test_draws_never_give_the_unknown_and_no_heat_takes_the_likeliest() -> None:
    logits = torch.tensor([0.4, 0.1, 0.5]).log().expand(600, 3)
    even = (torch.arange(600) + 0.5) / 600
    assert torch.bincount(draw(logits, even, torch.ones(600))).tolist() == [0, 100, 500]
    assert set(draw(logits, even, torch.zeros(600)).tolist()) == {2}


@pytest.mark.parametrize("kind", ["cut", "shuffled", "foreign"])
def test_exchanging_the_memory_changes_what_it_is_for_and_nothing_before_it(xl: TransformerXL, text: np.ndarray, kind: str) -> None:
    task = wanted(xl, rows=1, given=70)
    _, plain = write(xl, task)
    swap = foreign(xl, text, 32) if kind == "foreign" else Swap(kind)
    _, changed = write(xl, wanted(xl, rows=1, given=70, swap=swap))
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
