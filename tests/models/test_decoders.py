"""What every decoder promises: it never looks ahead, and reading with a cache is reading without
one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from models.decoding.sampling import FREE, Wanted, Writer, draw_uniforms, write_all
from models.explaining.head_mask import build_head_gains
from models.explaining.trace import Trace
from tests.models.networks import KINDS, PATTERNS, decoder, music

every_kind = pytest.mark.parametrize("kind", KINDS)
every_way = pytest.mark.usefixtures("way")
LENGTH = 40


def symbols(kind: str, rows: int = 2) -> Tensor:
    return torch.randint(
        1, decoder(kind).symbols, (rows, LENGTH), generator=torch.Generator().manual_seed(4)
    )


def shifted(found: Tensor, start: int) -> Tensor:
    return torch.cat((found.new_full((len(found), 1), start), found[:, :-1]), 1)


def asked(kind: str) -> Wanted:
    """Two rows of which more and less is known, one symbol in the midst too; the second takes the
    likeliest."""
    known, given = torch.full((2, LENGTH), FREE), symbols(kind)
    known[0, :9], known[1, :20], known[:, 25] = given[0, :9], given[1, :20], given[:, 25]
    return Wanted(known, torch.stack([draw_uniforms(seed, LENGTH) for seed in (1, 2)]), (1.0, 0.0))


@every_kind
@torch.no_grad()
def test_nothing_is_told_from_what_comes_later(kind: str) -> None:
    one, before = decoder(kind), symbols(kind)
    changed = before.clone()
    changed[:, 27:] = (changed[:, 27:] + 1) % one.symbols
    ours, theirs = one.whole(before), one.whole(changed)
    torch.testing.assert_close(ours[:, :27], theirs[:, :27])
    assert not torch.allclose(ours[:, 27:], theirs[:, 27:])


@every_way
@every_kind
@torch.no_grad()
def test_cached_decoding_costs_one_pass(
    kind: str,
) -> None:
    one, wanted = decoder(kind), asked(kind)
    reader = one.read(2, LENGTH)
    found, nats = write_all(Writer(reader, wanted))
    given = wanted.known != FREE
    assert torch.equal(found[given], wanted.known[given]) and not torch.equal(
        found[0, 20:], found[1, 20:]
    )
    logits = one.whole(shifted(found, one.model.start))
    expected = F.cross_entropy(logits.transpose(1, 2), found, reduction="none")
    torch.testing.assert_close(nats, expected.to(nats.dtype), atol=1e-4, rtol=1e-4)
    logits[..., list(reader.never)] = -torch.inf
    assert torch.equal(found[1][~given[1]], logits[1].argmax(-1)[~given[1]])
    only_made = write_all(Writer(one.read(2, LENGTH), wanted, given=False))[1]
    torch.testing.assert_close(only_made, torch.where(given, 0.0, nats))


@every_way
@every_kind
@torch.no_grad()
def test_company_in_a_batch_changes_nothing(kind: str) -> None:
    one, wanted = decoder(kind), asked(kind)
    together, nats = write_all(Writer(one.read(2, LENGTH), wanted))
    for row in range(2):
        alone = Wanted(
            wanted.known[row : row + 1],
            wanted.uniforms[row : row + 1],
            wanted.temperatures[row : row + 1],
        )
        found, own = write_all(Writer(one.read(1, LENGTH), alone))
        assert torch.equal(found[0], together[row])
        torch.testing.assert_close(own[0], nats[row], atol=1e-5, rtol=1e-5)


@every_way
@pytest.mark.parametrize("kind", ["relative", "transformer", *PATTERNS])
@torch.no_grad()
def test_a_silenced_head_changes_its_own_row(
    kind: str,
) -> None:
    one, before = decoder(kind), symbols(kind)
    layers, heads, d_head = (
        one.model.config.n_layers,
        one.model.config.n_heads,
        one.model.config.d_model // one.model.config.n_heads,
    )
    trace, plain = Trace("*/self/queries", "*/self/keys"), one.whole(before)
    torch.testing.assert_close(one.whole(before, trace=trace), plain)
    assert (
        trace.stack("*/self/keys").shape
        == trace.stack("*/self/queries").shape
        == (layers, 2, heads, LENGTH, d_head)
    )
    gains = torch.ones(layers, 2, heads, dtype=plain.dtype)
    gains[1, 1, 0] = 0
    silenced = one.whole(before, gains=gains)
    torch.testing.assert_close(silenced[0], plain[0])
    assert not torch.allclose(silenced[1], plain[1])
    read = one.read(2, LENGTH, gains)
    read.read(before[:, :20])
    torch.testing.assert_close(
        read.read(before[:, 20:21])[:, 0], silenced[:, 20], atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("kind", "given", "steps"),
    [
        ("relative", 12, [13, *[1] * 27, 0]),
        ("lstm", 40, [40, 0]),
        ("fixed merged", 40, [40, 0]),
        ("xl", 37, [16, 16, 6, 1, 1, 0]),
        ("adaptive", 12, [12, *[1] * 28, 0]),
    ],
)
def test_what_is_given_is_read_at_once_as_far_as_the_reader_can(
    kind: str, given: int, steps: list[int]
) -> None:
    known = symbols(kind, 1)
    known[:, given:] = FREE
    writer = Writer(
        decoder(kind).read(1, LENGTH), Wanted(known, draw_uniforms(1, LENGTH)[None], (1.0,))
    )
    assert [writer.write_more() for _ in steps] == steps and writer.is_done


@pytest.mark.parametrize("kind", ["relative", "fixed merged"])
def test_a_cache_that_is_full_says_so(kind: str) -> None:
    with pytest.raises(ValueError, match="5 positions for a cache of 4"):
        decoder(kind).read(1, 4).read(torch.zeros(1, 5, dtype=torch.long))


@pytest.mark.parametrize(
    ("kind", "places"),
    [("absolute", 16), ("transformer", 200), ("characters", 40), ("full merged", 40)],
)
def test_a_position_that_was_never_trained_is_refused(kind: str, places: int) -> None:
    with pytest.raises(ValueError, match=f"position {places + 1}: "):
        decoder(kind).model(torch.zeros(1, places + 1, dtype=torch.long))


@pytest.mark.parametrize(("kind", "places"), [("transformer", 200), ("full merged", 40)])
def test_a_full_cache_refuses_new_positions(kind: str, places: int) -> None:
    reader = decoder(kind).read(1, places + 9)
    with pytest.raises(ValueError, match=str(places + 1)):
        for _ in range(places + 1):
            reader.read(torch.zeros(1, 1, dtype=torch.long))


@every_way
@pytest.mark.parametrize("farthest", [0, 1, 5])
@torch.no_grad()
def test_clipped_distances_are_clipped_with_a_cache_too(farthest: int) -> None:
    model, before = music("relative"), symbols("relative")
    whole = model(before, farthest=farthest)
    assert not torch.allclose(whole, model(before), atol=1e-4)
    read = decoder("relative").read(2, LENGTH, None, farthest)
    read.read(before[:, :20])
    np.testing.assert_allclose(read.read(before[:, 20:21])[:, 0], whole[:, 20], atol=1e-5)


def test_gains_silence_a_requests_own_heads() -> None:
    model = torch.nn.Linear(1, 1)
    model.config = SimpleNamespace(n_layers=2, n_heads=3)  # type: ignore[assignment]
    free, both, other = (
        SimpleNamespace(silenced=heads)
        for heads in ((), (("a", 1, 2), ("a", 0, 0), ("b", 1, 1)), (("b", 0, 0), ("a", 9, 0)))
    )
    found = build_head_gains((free, both), "a", model)
    assert found is not None and found.shape == (2, 2, 3)
    assert (found == 0).nonzero().tolist() == [[0, 1, 0], [1, 1, 2]] and found.sum() == 10
    assert build_head_gains((free, other), "a", model) is None
