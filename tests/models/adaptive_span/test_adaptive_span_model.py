"""The three networks: what they see, that a cache as long as each span is the whole past, and how spans move."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.adaptive_span.data import HIDDEN, alphabet_of, spread_windows
from models.adaptive_span.decode import Cache, Reader
from models.adaptive_span.model import Config, SpanTransformer, network
from models.adaptive_span.recipe import Objective, mean_bits, optimizers, read_on
from models.characters import UNKNOWN, Book
from models.trace import Trace
from models.training import Schedule
from models.windows import Batch, batch_of, drawn_windows

kinds = pytest.mark.parametrize("kind", ["adaptive", "fixed", "dynamic"])


def letters(length: int = 150, rows: int = 2) -> torch.Tensor:
    return torch.randint(1, 29, (rows, length), generator=torch.Generator().manual_seed(4))


def test_a_cache_is_as_long_as_spans_and_ramps(networks: dict[str, SpanTransformer]) -> None:
    each = 2 * 8 * 4  # bytes of a key and a value of 8 floats
    assert Cache(networks["fixed"], 1).bytes == Cache(networks["dynamic"], 1).bytes == 2 * 3 * 40 * each
    model = networks["adaptive"]
    reaches = model.reaches()
    assert reaches == [[9, 19, 37], [9, 19, 40]]  # ⌈z + 8⌉ of z = 0.52, 10.4, 28.4 and 36.4, at most 40
    assert Cache(model, 1).bytes == (2 * (9 + 19) + 37 + 40) * each
    forced = torch.full((2, 3), torch.nan)
    forced[:, 2] = 0.0
    assert Cache(model, 1, forced).bytes < Cache(model, 1).bytes
    assert Cache(model, 1, trimmed=False).bytes == 2 * 3 * 40 * each


@kinds
def test_forced_spans_change_what_is_said_and_the_cache_follows_them(kind: str, networks: dict[str, SpanTransformer]) -> None:
    model, before = networks[kind], letters()
    forced = torch.full((2, 3), torch.nan)
    forced[0] = 1.0
    forced[1, 2] = 3.5
    said = model(before, forced=forced)
    assert not torch.allclose(said.logits, model(before).logits, atol=1e-4)
    assert (said.spans[0] == 1).all() and (said.spans[1][:, 2] == 3.5).all()
    reader = Reader(model, 2, forced)
    reader.read(before[:, :100])
    torch.testing.assert_close(reader.read(before[:, 100:101])[:, 0], said.logits[:, 100], atol=1e-5, rtol=1e-4)


def test_full_spans_forced_on_the_adaptive_network_make_it_the_fixed_one(networks: dict[str, SpanTransformer]) -> None:
    state = {name: value for name, value in networks["adaptive"].state_dict().items() if "share" not in name}
    networks["fixed"].load_state_dict(state)
    before = letters()
    forced = networks["adaptive"](before, forced=torch.full((2, 3), 40.0)).logits
    torch.testing.assert_close(forced, networks["fixed"](before).logits, atol=1e-5, rtol=1e-5)


@kinds
def test_a_long_text_read_in_parts_costs_what_one_pass_says(kind: str, networks: dict[str, SpanTransformer]) -> None:
    model, text = networks[kind], letters(200, 1)[0]
    found = read_on(model, text.numpy().astype(np.uint8), chunk=64)
    before = torch.cat((torch.tensor([model.start]), text[:-1]))
    said = model(before[None])
    expected = torch.nn.functional.cross_entropy(said.logits[0], text, reduction="none")
    np.testing.assert_allclose(found.nats, expected.numpy(), atol=1e-4)
    np.testing.assert_allclose(found.z, torch.stack([z[0].mean(1) for z in said.spans]), rtol=1e-4)
    assert (found.used <= 40).all() and (found.used >= np.minimum(found.z, 40)).all()


def tiny(variant: str, penalty: float) -> Objective:
    torch.manual_seed(3)
    model = network(variant, Config("abcd\n", span=24, ramp=4, d_model=16, d_ff=16, n_heads=2, n_layers=2))
    return Objective(model, penalty)


def steps(objective: Objective, count: int, rate: float) -> list[list[float]]:
    """Train on noise, from which nothing can be learned; the share of S of each head after every step."""
    chosen = optimizers(objective, Schedule(peak=rate))
    generator = torch.Generator().manual_seed(1)
    seen = []
    for _ in range(count):
        both = torch.randint(1, 6, (2, 33), generator=generator)
        loss, number = objective(Batch(both[:, :-1], both[:, 1:]))
        (loss / number).backward()
        for optimizer in chosen:
            optimizer.step()
            optimizer.zero_grad()
        seen.append([z for row in objective.model.longest() for z in row])
    return seen


@pytest.mark.parametrize(("penalty", "end"), [(5.0, 0), (-5.0, 24)])
def test_spans_stay_between_none_and_all_after_every_step(penalty: float, end: int) -> None:
    objective = tiny("adaptive", penalty)
    for layer in objective.model.spans:
        layer.share.data.copy_(torch.tensor([0.2, 0.8]))
    seen = np.array(steps(objective, 12, rate=0.15))  # pushed 1.8 shares of S to one side
    assert seen.min() >= 0 and seen.max() <= 24 and len(np.unique(seen)) > 6
    assert (seen[-1] == end).all()


@pytest.mark.parametrize("kind", ["adaptive", "dynamic"])
def test_the_penalty_shrinks_spans(kind: str) -> None:
    def mean_z(penalty: float) -> float:
        objective = tiny(kind, penalty)
        for layer in objective.model.spans:
            if kind == "adaptive":
                layer.share.data.fill_(0.5)
            else:
                layer.b.data.fill_(0.0)
        steps(objective, 15, rate=0.02)
        with torch.no_grad():
            return float(torch.stack([z.mean() for z in objective.model(letters(30, 1).clamp(max=5)).spans]).mean())

    assert mean_z(2.0) < 0.8 * mean_z(0.0)


def test_the_penalty_is_lambda_times_the_mean_span() -> None:
    batch = Batch(letters(30).clamp(max=5), letters(30).clamp(max=5))
    bare, priced = tiny("adaptive", 0.0), tiny("adaptive", 0.5)
    for objective in (bare, priced):
        objective.model.spans[1].share.data.copy_(torch.tensor([0.25, 0.75]))
    difference = priced(batch)[0] - bare(batch)[0]
    assert float(difference.detach()) == pytest.approx(0.5 * (0 + 0 + 0.25 + 0.75) / 4 * 60, rel=1e-3)


def test_the_variants_are_of_one_size() -> None:
    sizes = [sum(p.numel() for p in network(kind, Config("ab\n")).parameters()) for kind in ("adaptive", "fixed", "dynamic")]
    assert max(sizes) / min(sizes) < 1.01


def test_the_trace_sees_the_spans_of_each_layer(networks: dict[str, SpanTransformer]) -> None:
    trace = Trace("*/self/spans")
    networks["dynamic"](letters(), trace=trace)
    spans = trace.stack("*/self/spans")
    assert spans.shape == (2, 2, 3, 150)
    assert 0 < spans.min() < spans.max() < 40 and spans.std(axis=3).min() > 0.1


def test_windows_lie_within_books_and_a_few_characters_are_hidden() -> None:
    shelf = [np.full(50, 1, np.uint8), np.full(4000, 2, np.uint8), np.full(10, 3, np.uint8)]
    batch = drawn_windows(shelf, 400, 20, HIDDEN, np.random.default_rng(1))
    assert batch.before.shape == batch.wanted.shape == (400, 20)
    assert torch.equal(batch.before[:, 1:], batch.wanted[:, :-1])
    of = [set(row.tolist()) - {UNKNOWN} for row in batch.before]
    assert {1} in of and {2} in of and all(len(one) == 1 and one != {3} for one in of)
    assert 0 < int((batch.before == UNKNOWN).sum()) < 10
    with pytest.raises(ValueError, match="more than 60"):
        drawn_windows(shelf[:1], 1, 60, HIDDEN, np.random.default_rng(1))
    assert [window.tolist() for window in spread_windows(np.arange(7, dtype=np.uint8), 3, 2)] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    with pytest.raises(ValueError, match="no window of 9"):
        spread_windows(np.arange(7, dtype=np.uint8), 3, 8)


def test_rare_characters_are_unknown() -> None:
    alphabet = alphabet_of([Book("T", "A", 1850, "a" * 60 + "b" * 30 + "é"), Book("U", "A", 1850, "b" * 30)])
    assert alphabet.letters == "ab"


def test_bits_are_means_over_all_characters(networks: dict[str, SpanTransformer]) -> None:
    windows = [row.numpy().astype(np.uint8) for row in letters(41, 5)]
    together = mean_bits(networks["fixed"], windows, size=2)
    batch = batch_of(windows)
    loss = torch.nn.functional.cross_entropy(networks["fixed"](batch.before).logits.flatten(0, 1), batch.wanted.flatten())
    assert together == pytest.approx(float(loss) / np.log(2), rel=1e-5)
