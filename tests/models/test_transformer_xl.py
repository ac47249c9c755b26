"""A memory: the four terms and its border, segments as one long pass, writing with caches, training
and measuring, and what a page gets."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import Pretrained
from models.data.characters import UNKNOWN, Alphabet
from models.data.windows import draw_character_windows, find_unusual_bound
from models.decoding.sampling import FREE, Wanted, Writer, draw_uniforms, write_all
from models.evaluation import bits_per_character
from models.explaining.request_fields import LOST
from models.explaining.trace import Trace
from models.layers.positional import sinusoids
from models.transformer_xl import absolute, ladder, model, recipe
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.attention import XLAttention
from models.transformer_xl.data import STRANGE, costs, make_window_reader, numbers
from models.transformer_xl.decode import Cache, Reader, Swap, foreign
from models.transformer_xl.explain import explain, memories
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network, read
from models.transformer_xl.recipe import VARIANTS, Recipe, evaluate, train
from models.transformer_xl.records import (
    FOREIGN,
    INTERVENTIONS,
    MAX_MEMORY,
    MAX_TEXT,
    MEMORIES,
    PAGES,
    Explanation,
    Request,
    page,
)
from models.transformer_xl.weights import find_farthest_known, look, overview, places, terms
from tests.models.networks import BRIEF, answer, segmented, shelve, trained

LETTERS = " etaonihsrdlu\nmwcfgy,pb."
D_MODEL, HEADS = 24, 3
SMALL = {"segment": 16, "d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}
TEXT = Request(text="the captain went out and nobody saw him go", memory=24, segment=16, length=20)
CPU = torch.device("cpu")


@pytest.fixture
def xl() -> Any:
    """A small network that has learned nothing, its biases far from 0."""
    return segmented("xl")


@pytest.fixture
def plain() -> Any:
    """The one without a memory."""
    return segmented("absolute")


@pytest.fixture
def text() -> np.ndarray:
    """(character,) some text by number."""
    return np.random.default_rng(3).integers(1, len(LETTERS) + 1, 1000).astype(np.uint8)


def by_segments(
    model: TransformerXL, before: Tensor, segment: int, memory: int, window: int | None = None
) -> Tensor:
    past = model.make_memory(memory)
    with torch.no_grad():
        return torch.cat([model(part, past, window=window) for part in before.split(segment, 1)], 1)


# ---- the mechanism


@pytest.mark.parametrize(("memory", "segment"), [(0, 6), (9, 12), (20, 1), (5, 70)])
def test_the_blocks_are_the_formula_of_the_paper(memory: int, segment: int) -> None:
    torch.manual_seed(1)
    ours, d = XLAttention(D_MODEL, HEADS).double().requires_grad_(False), D_MODEL // HEADS
    torch.nn.init.normal_(ours.u)
    torch.nn.init.normal_(ours.v)
    past, h = torch.randn(2, memory, D_MODEL).double(), torch.randn(2, segment, D_MODEL).double()
    both, r = torch.cat((past, h), 1), sinusoids(memory + segment, D_MODEL).double()
    query, (key, value) = ours.project_self(h)[0], ours.project_key_value(both)
    (w_q, w_k, w_v), w_r = ours.project_in.weight.chunk(3), ours.project_distance.weight
    expected, rows_seen = torch.zeros(2, segment, D_MODEL).double(), [0, segment - 1]
    for b, n in np.ndindex(2, HEADS):
        rows = slice(n * d, (n + 1) * d)
        for i in rows_seen:
            q, scores = w_q[rows] @ h[b, i], []
            for j in range(memory + i + 1):
                k, distance = w_k[rows] @ both[b, j], w_r[rows] @ r[memory + i - j]
                scores.append(q @ k + q @ distance + ours.u[n, 0] @ k + ours.v[n, 0] @ distance)
            weights = torch.stack(scores).div(math.sqrt(d)).softmax(0)
            expected[b, i, rows] = weights @ (both[b, : memory + i + 1] @ w_v[rows].T)
    output = ours.join_heads(ours.heads(query, key, value, ours.table(r)))
    torch.testing.assert_close(output[:, rows_seen], ours.project_out(expected)[:, rows_seen])


@pytest.mark.parametrize("segment", [1, 3, 16, 50, 111])
@pytest.mark.parametrize("window", [1, 5, 33, 200])
def test_segments_equal_one_long_pass(xl: TransformerXL, segment: int, window: int) -> None:
    before = torch.randint(0, 20, (2, 111))
    with torch.no_grad():
        whole = xl(before, window=window)
    torch.testing.assert_close(
        by_segments(xl, before, segment, window - 1, window), whole, atol=1e-5, rtol=1e-5
    )


def test_a_lossless_memory_makes_one_pass(
    xl: TransformerXL,
) -> None:
    before = torch.randint(0, 20, (2, 60))
    with torch.no_grad():
        whole = xl(before)
    torch.testing.assert_close(by_segments(xl, before, 16, 60), whole, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(by_segments(xl, before, 16, 20)[:, 50:], whole[:, 50:], atol=1e-3)
    torch.testing.assert_close(
        by_segments(xl, before, 16, 0)[:, 16:32], by_segments(xl, before[:, 16:32], 16, 0)
    )
    torch.testing.assert_close(
        xl.stretch(before), by_segments(xl, before, 16, 32), atol=1e-5, rtol=1e-5
    )
    memory, trace = xl.make_memory(), Trace("*/self/keys")
    for part, more in ((before[:, :16], {}), (before[:, 16:32], {"trace": trace})):
        xl(part, memory, **more)
    assert trace.stack("*/self/keys").shape == (2, 2, 3, 32, 8), "keys of the memory too"


def test_no_gradient_reaches_the_memory(
    xl: TransformerXL,
) -> None:
    before = torch.randint(0, 20, (2, 48))
    xl.stretch(before).square().mean().backward()
    ours = {name: p.grad.clone() for name, p in xl.named_parameters()}
    xl.zero_grad()
    mems: list[Tensor | None] = [None, None]
    parts = []
    for part in before.split(16, 1):
        x, after = xl.letter(part), []
        for layer, m in zip(xl.layers, mems, strict=True):
            both = x if m is None else torch.cat((m, x), 1)  # h̃ = [SG(m) ∘ h]
            after.append(both[:, -32:].detach())
            query, _, _ = layer.attention.project_self(layer.norm(x))
            key, value = layer.key_value(both)
            x = x + layer.attention.join_heads(
                layer.attention.heads(query, key, value, layer.attention.table(xl.distance))
            )
            x = x + layer.feedforward(layer.feedforward_norm(x))
        parts.append(xl.readout(xl.norm(x)))
        mems = list(after)
    torch.cat(parts, 1).square().mean().backward()
    for name, p in xl.named_parameters():
        torch.testing.assert_close(ours[name], p.grad, atol=1e-6, rtol=1e-4)


def test_without_memory_segments_are_apart(plain: AbsoluteTransformer, xl: TransformerXL) -> None:
    before = torch.randint(0, 20, (2, 40))
    with torch.no_grad():
        torch.testing.assert_close(plain.stretch(before)[:, 16:32], plain(before[:, 16:32]))
        cache = Cache(plain, 2, 0, 16)
        first = plain(before[:, :5], cache)
        cache.advance(5)
        torch.testing.assert_close(
            torch.cat((first, plain(before[:, 5:16], cache)), 1),
            plain(before[:, :16]),
            atol=1e-5,
            rtol=1e-5,
        )
    with pytest.raises(ValueError, match="17 positions in a segment of 16"):
        xl(torch.zeros(1, 17, dtype=torch.long), Cache(xl, 1, 32, 16))


@pytest.mark.parametrize("length", [7, 200, 1000])
@pytest.mark.parametrize("memory", [0, 8, 32, 100])
def test_a_book_costs_what_one_long_reading_does(
    xl: TransformerXL, plain: AbsoluteTransformer, text: np.ndarray, length: int, memory: int
) -> None:
    before = torch.from_numpy(np.concatenate(([14], text[: length - 1])).astype(np.int64))[None]
    wanted = torch.from_numpy(text[:length].astype(np.int64))
    expected = F.cross_entropy(by_segments(xl, before, 16, memory)[0], wanted, reduction="none")
    np.testing.assert_allclose(costs(xl, text[:length], memory), expected.numpy(), atol=2e-5)
    expected = F.cross_entropy(plain.stretch(before)[0], wanted, reduction="none").detach()
    np.testing.assert_allclose(costs(plain, text[:length]), expected.numpy(), atol=2e-5)
    for network, wrong, said in ((plain, 5, "has no memory"), (xl, -1, "expected 0 or more")):
        with pytest.raises(ValueError, match=said):
            costs(network, text, wrong)


# ---- writing


def wanted(rows: int = 2, given: int = 21, length: int = 70) -> Wanted:
    known = torch.full((rows, length), FREE)
    known[:, :given] = torch.randint(
        1, 20, (rows, given), generator=torch.Generator().manual_seed(7)
    )
    return Wanted(
        known, torch.stack([draw_uniforms(row, length) for row in range(rows)]), (1.0, 0.6)[:rows]
    )


def wrote(
    model: TransformerXL, task: Wanted, swap: Swap | None = None, memory: int = 32
) -> tuple[Tensor, Tensor]:
    return write_all(
        Writer(
            Reader(model, len(task.known), memory, 16, swap or Swap()),
            task,
            precision=torch.float32,
        )
    )


@pytest.mark.parametrize("memory", [0, 7, 32])
def test_cached_writing_is_uncached_reading(xl: TransformerXL, memory: int) -> None:
    characters, nats = wrote(xl, wanted(), memory=memory)
    before = torch.cat((torch.full((2, 1), 14), characters[:, :-1]), 1)
    expected = F.cross_entropy(
        by_segments(xl, before, 16, memory).transpose(1, 2), characters, reduction="none"
    )
    torch.testing.assert_close(nats, expected, atol=1e-4, rtol=1e-4)
    wrote(xl, wanted(given=60), memory=memory)
    assert torch.equal(wrote(xl, wanted(), memory=memory)[1], nats)
    assert not any(
        isinstance(value, Tensor) for layer in xl.layers for value in vars(layer).values()
    )


@pytest.mark.parametrize("kind", ["cut", "shuffled", "foreign"])
def test_exchanged_memory_changes_the_rest(xl: TransformerXL, text: np.ndarray, kind: str) -> None:
    task = wanted(rows=1, given=70)
    (_, kept), (_, changed) = (
        wrote(xl, task, swap)
        for swap in (None, foreign(xl, text, 32) if kind == "foreign" else Swap(kind))
    )
    torch.testing.assert_close(changed[:, :16], kept[:, :16])
    assert (changed[:, 16:] - kept[:, 16:]).abs().max() > 1e-3
    if kind == "cut":
        torch.testing.assert_close(changed, wrote(xl, task, memory=0)[1], atol=1e-5, rtol=1e-5)
    if kind == "shuffled":
        keys = torch.randn(2, 1, 3, 20, 8)
        shuffled, values = Swap(kind).apply_swap(keys, keys, 3)
        assert torch.equal(shuffled, values) and not torch.equal(shuffled, keys)
        assert torch.equal(shuffled.sum(-1).sort(-1).values, keys.sum(-1).sort(-1).values), (
            "every state once"
        )


def test_a_foreign_memory_is_what_the_other_text_leaves(
    xl: TransformerXL, text: np.ndarray
) -> None:
    here, past = torch.randint(1, 20, (1, 32)), xl.make_memory(32)
    reader = Reader(xl, 1, 32, 16, foreign(xl, text[:64], 32))
    *_, seen = (reader.read(part) for part in here.split(16, 1))
    with torch.no_grad():
        for part in torch.from_numpy(text[:64].astype(np.int64))[None].split(16, 1):
            xl(part, past)
        # as much as its own memory would hold here
        past._held = [(k[:, :, -16:], v[:, :, -16:]) for k, v in past._held]
        torch.testing.assert_close(xl(here[:, 16:], past), seen, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="16 characters"):
        foreign(xl, text[:17], 32)


# ---- training and measuring


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Books in the layout of the real ones; both variants have a tiny network and a tiny recipe,
    and assets go to a folder of their own."""
    short = Recipe(BRIEF, lanes=2, segments=3, evaluation_interval=3, rate=3e-3)
    tiny = {
        "xl": lambda letters: TransformerXL(
            model.Config(letters, memory=32, distances=48, **SMALL)
        ),
        "absolute": lambda letters: AbsoluteTransformer(absolute.Config(letters, **SMALL)),
    }
    tasks = {
        name: dataclasses.replace(VARIANTS[name], build=build, recipe=short)
        for name, build in tiny.items()
    }
    monkeypatch.setattr(recipe.LAB, "variants", tasks)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    generator = np.random.default_rng(1)
    words = [
        "the",
        "ship",
        "of",
        "a",
        "captain",
        "went",
        "out",
        "and",
        "she",
        "listened",
        "at",
        "home",
    ]
    counts = (("train", 900), ("train", 400), ("valid", 200), ("test", 300))
    return shelve(
        tmp_path,
        [(split, " ".join(generator.choice(words, count)) + ".\n") for split, count in counts],
    )


@pytest.mark.parametrize("variant", ["xl", "absolute"])
def test_a_variant_is_trained_and_read_back(variant: str, data: Path) -> None:
    found, pretrained = trained(recipe, read, data, variant)
    memory, readings = (
        (32, {"half_overlap", "cold", "memory"})
        if variant == "xl"
        else (0, {"half_overlap", "cold"})
    )
    assert (found["split"], found["memory"], found["metric"]) == (
        "test",
        memory,
        "bits per character",
    )
    assert found["n"] == sum(
        map(len, numbers(data, "test", Alphabet(pretrained.model.config.letters)))
    )
    assert (found["by_reading"].keys(), found["window"]) == (
        readings,
        bits_per_character.WINDOW if memory else 16,
    )
    if variant == "absolute":
        with pytest.raises(ValueError, match="has no memory"):
            evaluate(data, variant, device=CPU, memory=8)
        return
    values = {
        memory: evaluate(data, variant, device=CPU, memory=memory)["value"] for memory in (0, 8, 32)
    }
    assert values[0] != values[32] == found["value"]
    with pytest.raises(ValueError, match="memory of training, 32"):
        evaluate(data, variant, device=CPU, memory=8, record=True)


def test_windows_cost_what_they_cost_one_by_one(data: Path, tmp_path: Path) -> None:
    network = read(train(data, tmp_path / "runs", "xl", device=CPU)).model
    text = np.random.default_rng(1).integers(1, 9, 80).astype(np.uint8)
    rows = make_window_reader(network, text, 32)(np.array([0, 20]), 40)
    np.testing.assert_allclose(rows[0], costs(network, text[:40]), atol=1e-5)
    # one character more, so that the same character stands before the window
    alone = costs(network, text[19:60])
    assert abs(rows[1] - alone[1:]).max() < 0.2 and not np.allclose(rows[0], rows[1])


def test_stretches_come_from_one_book_each() -> None:
    texts = [np.full(300, 1, np.uint8), np.full(900, 2, np.uint8), np.full(10, 3, np.uint8)]
    batch = draw_character_windows(texts, 200, 100, STRANGE, np.random.default_rng(1))
    assert batch.before.shape == batch.wanted.shape == (200, 100)
    assert torch.equal(batch.before[:, 1:], batch.wanted[:, :-1])
    known = torch.where(batch.wanted == UNKNOWN, batch.wanted.amax(1, keepdim=True), batch.wanted)
    assert (known == known[:, :1]).all() and not (known == 3).any()
    assert 100 < int((known[:, 0] == 2).sum()) < 190  # four of five places are in the longer book
    assert 0 < int((batch.wanted == UNKNOWN).sum()) < 40
    with pytest.raises(ValueError, match="more than 300"):
        draw_character_windows(texts[:1], 1, 300, STRANGE, np.random.default_rng(1))


# ---- what memory buys


def test_nothing_before_a_context_counts(
    xl: TransformerXL, plain: AbsoluteTransformer, text: np.ndarray
) -> None:
    places = np.array([60, 300, 301])
    for network, seen in ((xl, 40), (plain, 16)):
        for place, loss in zip(places, ladder.in_context(network, text, places, 40), strict=True):
            logits = network(torch.from_numpy(text[place - seen : place].astype(np.int64))[None])
            assert loss == pytest.approx(
                float(F.cross_entropy(logits[0, -1], torch.tensor(int(text[place]))).detach()),
                abs=1e-4,
            )


def test_the_effective_length_is_the_last() -> None:
    flat, falling = np.full((4, 10), 2.0), np.repeat([[2.0], [1.8], [1.6], [1.599]], 10, 1)
    assert ladder.effective_lengths({"long": falling, "short": flat}, (8, 16, 32, 64), 1.0) == {
        "long": 32,
        "short": 8,
    }
    easy_gains = np.stack([np.array([1.0, 3.0]), np.array([0.2, 3.0])])
    assert [
        ladder.effective_lengths({"m": easy_gains}, (8, 16), share) for share in (1.0, 0.5)
    ] == [{"m": 16}, {"m": 8}]


def test_everything_is_measured_on_one_text(
    xl: TransformerXL, plain: AbsoluteTransformer, text: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"MEMORIES": (0, 32), "CONTEXTS": (8, 16, 32), "PLACES": 20}.items():
        monkeypatch.setattr(ladder, name, value)
    found = ladder.measure_all({"xl": xl, "absolute": plain}, {"xl": text, "absolute": text})
    assert [one["memory"] for one in found["by_memory"]] == [0, 32]
    assert found["contexts"]["bits"]["absolute"][1] == found["contexts"]["bits"]["absolute"][2]
    assert found["by_place"]["segment"] == 16
    assert {name: len(bits) for name, bits in found["by_place"]["bits"].items()} == {
        "none": 16,
        "xl": 16,
        "absolute": 16,
    }
    assert {one["r"] for one in found["effective_lengths"]} == set(ladder.HARDEST)


def test_losses_by_place_in_the_segment() -> None:
    nats = np.concatenate(
        (np.full(32, 9.0), np.tile(np.repeat([2.0, 1.0], [2, 30]), 3), [7.0])
    ).astype(np.float32) * np.float32(np.log(2))
    assert ladder.by_place(nats, 32) == [2.0] + [1.0] * 15
    with pytest.raises(ValueError, match="24 characters in 16 parts"):
        ladder.by_place(nats, 24)
    nats = np.ones(ladder.PAGE * 200, np.float32)
    nats[: ladder.PAGE] = 9
    assert 1 / np.log(2) <= find_unusual_bound(nats, ladder.PAGE) < 1.2 / np.log(2)
    assert find_unusual_bound(np.full(40, 2.0, np.float32), ladder.PAGE) == pytest.approx(
        2 / np.log(2), abs=1e-4
    )


# ---- what a page gets


@pytest.fixture
def small(
    xl: TransformerXL, plain: AbsoluteTransformer, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Network]:
    """Small networks that have learned nothing in the places of the shipped ones."""
    networks: dict[str, Network] = {
        "xl": xl.requires_grad_(False),
        "absolute": plain.requires_grad_(False),
    }
    monkeypatch.setattr(
        "models.transformer_xl.explain.load",
        lambda variant, seed=1: Pretrained(networks[variant], {"variant": variant}),
    )
    return networks


on_the_page = pytest.mark.usefixtures("small")
answered = partial(answer, explain, Explanation)


def test_costs_are_those_without_caches(
    small: dict[str, Any],
) -> None:
    seen = answered(TEXT)
    assert seen.given == len(TEXT.text) and seen.readings[0].text != seen.readings[1].text
    assert [(one.variant, one.memory, one.segment) for one in seen.readings] == [
        ("xl", 24, 16),
        ("absolute", 0, 16),
    ]
    for reading in seen.readings:
        network, symbols = (
            small[reading.variant],
            torch.from_numpy(reading.characters.astype(np.int64)),
        )
        assert (
            reading.text.startswith(TEXT.text)
            and len(reading.text) == len(symbols) == seen.given + 20
        )
        before, trace = torch.cat((torch.tensor([14]), symbols[:-1]))[None], Trace("1/self/weights")
        if reading.variant == "xl":
            logits, memory = by_segments(network, before, 16, 24), network.make_memory(24)
            for begin in (0, 16, 32):
                network(
                    before[:, begin : begin + 16],
                    memory,
                    **({"trace": trace} if begin == 32 else {}),
                )
            np.testing.assert_allclose(
                look(reading, 1, 2, [37])[0, 8:48],
                trace.stack("1/self/weights")[0, 0, 2, 5],
                atol=2e-3,
            )
            assert places(reading, 2).tolist() == list(range(8, 48))
        else:
            logits = network.stretch(before)
        np.testing.assert_allclose(
            reading.nats, F.cross_entropy(logits[0], symbols, reduction="none"), atol=1e-4
        )


@on_the_page
@pytest.mark.parametrize("intervention", INTERVENTIONS)
def test_the_terms_add_up_to_the_attention_of_the_model(intervention: str) -> None:
    reading = answered(dataclasses.replace(TEXT, intervention=intervention)).readings[0]
    assert reading.queries.shape == (2, 3, len(reading.text), 8)
    for number in range(4):
        maps = terms(reading, 1, 2, number)
        assert np.allclose(
            maps.content + maps.position + maps.global_content + maps.global_position,
            maps.scores,
            atol=1e-5,
        )
        np.testing.assert_allclose(maps.weights.sum(1), 1, atol=1e-5)
        remembered = 0 if intervention == "cut" else min(24, 16 * number)
        assert (
            len(maps.places) == len(maps.weights) + remembered
            and not np.triu(maps.weights, remembered + 1).any()
        )
        across = maps.weights[:, :remembered].sum(1)
        np.testing.assert_allclose(
            reading.across[1, 2, 16 * number : 16 * number + len(across)], across, atol=5e-3
        )
    for row, weights in zip((3, 40, 20), look(reading, 1, 2, [3, 40, 20]), strict=True):
        assert (
            weights.sum() == pytest.approx(1, abs=1e-4)
            and not weights[row + 1 : len(reading.text)].any()
        )
        assert bool(weights[len(reading.text) :].any()) == (intervention == "foreign" and row >= 16)


@on_the_page
@pytest.mark.parametrize("intervention", INTERVENTIONS)
@pytest.mark.parametrize("which", [0, 1])
def test_an_overview_pools_what_a_look_shows(intervention: str, which: int) -> None:
    reading = answered(dataclasses.replace(TEXT, intervention=intervention)).readings[which]
    length = len(reading.text)
    found, whole = overview(reading, most=22), look(reading, 1, 2, range(length))[:, :length]
    assert found.by == 3 and found.pooled.shape[2:] == (-(-length // 3),) * 2
    by_key = np.add.reduceat(whole, np.arange(0, length, 3), 1)
    np.testing.assert_allclose(
        found.pooled[1, 2],
        np.stack([by_key[i : i + 3].mean(0) for i in range(0, length, 3)]),
        atol=1e-5,
    )
    if intervention in {"none", "cut"}:  # in the others a key stands in another slot than its own
        remembers = which == 0 and intervention == "none"
        diagonal = [whole[row, row - 3] for row in range(3, length) if remembers or row % 16 >= 3]
        assert found.distances[1, 2, 3] == pytest.approx(np.mean(diagonal), rel=1e-3)


@on_the_page
def test_without_distances_content_scores() -> None:
    reading = answered(TEXT).readings[1]
    maps = terms(reading, 0, 0, 1)
    assert (
        not reading.table.size
        and not reading.across.any()
        and not maps.position.any()
        and not maps.global_content.any()
    )
    np.testing.assert_allclose(maps.scores, maps.content, atol=1e-6)
    with pytest.raises(IndexError, match="not 9"):
        terms(reading, 0, 0, 9)
    one = answered(Request(text="e", length=0, segment=16)).readings[0]
    assert one.text == "e" and terms(one, 0, 0, 0).weights.tolist() == [[1.0]]


def test_information_travels_one_memory_a_layer(xl: TransformerXL) -> None:
    assert find_farthest_known(96, 16, 20, 2)[:, 90].tolist() == [90, 60, 28]
    before = torch.randint(1, 20, (1, 96))
    kept = by_segments(xl, before, 16, 20)[:, 90]
    for beyond in (True, False):
        other = before.clone()
        other[:, : 28 if beyond else 29] = 1 + other[:, : 28 if beyond else 29] % 20
        assert torch.equal(by_segments(xl, other, 16, 20)[:, 90], kept) == beyond


@on_the_page
def test_what_memory_buys_is_told_for_every_length() -> None:
    *turns, (found,) = memories([TEXT])
    assert all(turn == [[]] for turn in turns)
    assert found.nats.shape == (len(MEMORIES), len(TEXT.text)) and found.without.shape == (
        len(TEXT.text),
    )
    np.testing.assert_allclose(
        found.nats[:, :16], np.broadcast_to(found.nats[0, :16], (len(MEMORIES), 16)), atol=1e-5
    )
    np.testing.assert_allclose(found.nats[MEMORIES.index(32), :32], found.nats[-1, :32], atol=1e-5)


@on_the_page
def test_unseen_characters_are_shown_as_is() -> None:
    seen = answered(dataclasses.replace(TEXT, text="the 船 and the Ж went, 船!\ud800\r\nat home"))
    reading = seen.readings[0]
    assert (
        seen.unknown == ("船", "Ж", "!", LOST)
        and seen.unknown_count == (reading.characters[: seen.given] == 0).sum() == 5
    )
    assert reading.text.startswith(f"the 船 and the Ж went, 船!{LOST}\nat home")
    assert (reading.characters[seen.given :] > 0).all() and np.isfinite(reading.nats).all()


def test_pages_fit_and_the_foreign_one_fills_the_longest_memory() -> None:
    assert all(
        7 * 128 < len(page(name)) <= MAX_TEXT and page(name).isascii() for name in (*PAGES, FOREIGN)
    )
    assert len(page(FOREIGN)) // 128 * 128 >= MAX_MEMORY
    with pytest.raises(KeyError):
        page("ulysses")
