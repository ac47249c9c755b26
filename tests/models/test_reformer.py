"""Words said twice and books by hashing: training and measuring, and what a page gets: answers,
hashes, what was missed, inputs again."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from models.checkpoints import checkpoint
from models.data.splits import belongs_to_split
from models.data.windows import NONE
from models.layers.lsh import shared_weights
from models.reformer import explain as module
from models.reformer import pretrained, recipe
from models.reformer.data import LENGTH, Curriculum, drawn_words, said_twice, windows, words
from models.reformer.explain import explain, hash_round, in_chunks, measure_missed, rewind
from models.reformer.letters import WORD
from models.reformer.model import FULL, Config, Reformer
from models.reformer.recipe import (
    VARIANTS,
    Objective,
    Recipe,
    accuracy,
    asked_rounds,
    beginner_of_books,
    cut,
    evaluate,
    mean_bits,
    task_of,
    train,
)
from models.reformer.records import Explanation, InChunks, Request, Rewound
from tests.models.networks import BRIEF, answer, shelve, trained

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2}
PROSE = "Alice was beginning to get very tired of sitting by her sister on the bank. "
SHORT = Request(text="odd", rounds=2, chunk=4, buckets=4)
CPU = torch.device("cpu")
explained = partial(answer, explain, Explanation)


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variant with a tiny network and a tiny recipe; its assets in a folder of its own."""
    short = Recipe(BRIEF, Curriculum(tokens=600), batch=2, evaluation_interval=2, rate=3e-3)
    networks = {}
    for name, task in VARIANTS.items():
        config = dataclasses.replace(
            task.config, **SMALL, **({"length": 24, "chunk": 4} if task.of_text else {})
        )
        networks[name] = dataclasses.replace(task, config=config, recipe=short)
    monkeypatch.setattr(recipe.LAB, "variants", networks)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    folder = checkpoint.find_folder
    monkeypatch.setattr(
        module,
        "load",
        lambda variant, seed=1: pretrained.read(folder("reformer", variant, seed), "cpu"),
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Books in the layout of the real ones."""
    return shelve(
        tmp_path,
        [
            (split, PROSE * n)
            for split, n in (("train", 3), ("train", 3), ("valid", 1), ("test", 1))
        ],
    )


# ---- training and measuring


@pytest.mark.parametrize("variant", ["lsh_4", "text"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path) -> None:
    found, _ = trained(recipe, pretrained.read, data, variant, count=2)
    assert (found["metric"], found["rounds"]) == (
        ("accuracy", 8) if variant == "lsh_4" else ("bits per character", 4)
    )


def test_every_seed_is_listed_and_measured(data: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        train(data, tmp_path / "runs", "full", seed=seed, device=CPU)
        last = evaluate(data, "full", seed=seed, device=CPU, record=True, count=2)
    assert [one["seed"] for one in last["seeds"]] == [1, 2] and set(last["by_rounds"]) == {
        "full",
        "1",
        "2",
        "4",
        "8",
    }
    found = evaluate(data, "full", device=CPU, rounds="3", count=2)
    assert (
        found["rounds"] == 3 and json.loads(json.dumps(found))["by_rounds"]["3"] == found["value"]
    )
    with pytest.raises(ValueError, match="keeps the figure of test with full rounds"):
        evaluate(data, "full", device=CPU, rounds="3", record=True, count=2)
    assert [asked_rounds(text, 8) for text in (None, "3", "full")] == [8, 3, FULL]
    for text in ("0", "-1", "65", "many", ""):
        with pytest.raises(ValueError, match="rounds of hashing: expected 1 to 64"):
            asked_rounds(text, 8)


def test_every_character_is_measured_once() -> None:
    batch = cut(np.arange(1, 51, dtype=np.uint8), 24)
    asked = batch.wanted[:, 1:] != NONE
    assert batch.wanted[batch.wanted != NONE].tolist() == list(range(2, 51))
    assert torch.equal(batch.before[:, 1:][asked], batch.wanted[:, :-1][asked])


def test_a_book_network_begins_with_the_past() -> None:
    config = Config(8, 256, FULL, 16, 8, 256, d_model=64, d_ff=16, n_heads=2)
    tokens = torch.from_numpy(np.random.default_rng(0).integers(0, 8, (1, 256)))

    def nearby(model: Reformer) -> float:
        layer = model.layers[0]
        attention = layer.attention
        weights = shared_weights(
            attention.split_heads(attention.query(layer.norm(model.embed_tokens(tokens))))
        )
        return float(weights.tril(-1).triu(-8)[0, :, 64:].sum(-1).mean())

    with torch.no_grad():
        torch.manual_seed(1)
        assert nearby(Reformer(config)) < 0.2 < 0.5 < nearby(beginner_of_books(config))


def test_only_the_second_words_letters_count() -> None:
    batch = said_twice(words(np.random.default_rng(1), 3, 5, "train"), np.array([0, 7, 123]))
    assert batch.before.shape == (3, 11) and (batch.before[:, [0, 6]] == 0).all()
    assert (
        torch.equal(batch.wanted[:, 6:], batch.before[:, 1:6])
        and (batch.wanted[:, :6] == NONE).all()
    )
    assert (
        batch.positions[1].tolist() == [*range(7, 13), *range(136, 141)]
        and int(batch.positions.max()) < LENGTH
    )


def test_words_grow_to_their_size_and_keep_to_their_split() -> None:
    curriculum = Curriculum(shortest=16, rise=0.5, tokens=600)
    sizes = [curriculum.size(done) for done in np.linspace(0, 1, 50)]
    assert sizes == sorted(sizes) and (sizes[0], sizes[-1]) == (16, WORD)
    assert drawn_words(np.random.default_rng(1), 0.0, curriculum).before.shape == (600 // 33, 33)
    assert belongs_to_split(words(np.random.default_rng(1), 5, WORD, "test"), "test").all()


def test_no_answer_knows_what_comes_later() -> None:
    torch.manual_seed(1)
    model = (
        Reformer(Config(32, LENGTH, 2, 40, 4, 16, **SMALL)).requires_grad_(False).eval()
    )  # with more chunks, later tokens move their borders
    batch = drawn_words(np.random.default_rng(1), 0.0, Curriculum(shortest=6, tokens=100))
    torch.manual_seed(5)
    loss, count = Objective(model)(batch)
    torch.manual_seed(5)
    logits = model(batch.before, model.rotations(2, 4), batch.positions)
    assert int(count) == int((batch.wanted != NONE).sum())
    torch.testing.assert_close(
        loss,
        F.cross_entropy(
            logits.flatten(0, 1), batch.wanted.flatten(), ignore_index=NONE, reduction="sum"
        ),
    )
    changed, rotation = batch.before.clone(), model.rotations(2, 4)
    changed[:, 7] = (changed[:, 7] + 1) % 8
    difference = (model(batch.before, rotation) - model(changed, rotation)).abs().amax(-1)
    assert float(difference[:, :7].max()) < 1e-5 < 1e-3 < float(difference[:, 7:].max())
    with pytest.raises(ValueError, match=f"{LENGTH + 1:,} positions: this network has {LENGTH:,}"):
        model(torch.zeros(1, LENGTH + 1, dtype=torch.long), rotation)
    model.readout.weight.zero_()
    model.readout.bias.zero_()
    alike = windows(np.arange(40, dtype=np.uint8) % 8, np.array([0, 30]), 24)
    assert mean_bits(model, alike, 2) == pytest.approx(5.0, abs=1e-5), (
        "it knows nothing, and pays for every character alike"
    )
    model.readout.bias[5] = 1
    assert accuracy(
        model, windows(np.array([1, 5, 2, 5], np.uint8), np.array([0]), 3), 2
    ) == pytest.approx(2 / 3)


# ---- what a page gets


@pytest.fixture
def stored(small: None) -> None:
    """Models that have learned nothing, stored as if they had, for explaining."""
    for number, (name, rounds) in enumerate((("lsh_4", 4), ("full", 0), ("text", 2))):
        torch.manual_seed(number)
        letters = "".join(sorted(set(PROSE))) if name == "text" else ""
        config = dataclasses.replace(task_of(name).config, rounds=rounds, letters=letters)
        if letters:
            config = dataclasses.replace(config, vocabulary=len(letters) + 1, length=1024)
        facts = {
            "slug": "reformer",
            "variant": name,
            "config": dataclasses.asdict(config),
            "finished": True,
            "seed": 1,
            "licence": "none",
        }
        checkpoint.save_checkpoint(
            checkpoint.find_folder("reformer", name), Reformer(config).state_dict(), facts
        )


page = pytest.mark.usefixtures("stored")


@page
def test_every_model_that_is_there_answers_letter_by_letter() -> None:
    seen = explained(SHORT)
    assert seen.tokens == ("0", "o", "d", "d", "0", "o", "d") and seen.wanted.tolist() == [4, 5, 6]
    assert [one.variant for one in seen.read] == ["lsh_4", "full"]
    for one in seen.read:
        assert len(one.answer) == len(one.said) == len(one.nats) == 3
        assert (one.queries.shape, one.buckets.shape) == ((1, 2, 7, 8), (1, 2, 2, 7))


@page
def test_hashing_can_be_followed_from_vectors_to_weights() -> None:
    seen = explained(SHORT)
    steps = hash_round(seen, "lsh_4", 0, 1, 1)
    both = np.concatenate((steps.rotated, -steps.rotated), 1)
    assert both.shape == (7, 4) and np.array_equal(both.argmax(1), steps.buckets)
    assert (
        sorted(steps.order.tolist()) == list(range(7))
        and (np.diff(steps.buckets[steps.order]) >= 0).all()
    )
    np.testing.assert_allclose(steps.weights.sum(1), 1, atol=2e-3)
    assert (
        not steps.weights[~(steps.seen | np.eye(7, dtype=bool))].any()
        and not np.triu(steps.seen, 1).any()
    )
    with pytest.raises(IndexError, match=r"no head 0\.9 of lsh_4"):
        measure_missed(seen, "lsh_4", 0, 9)
    with pytest.raises(IndexError, match="no round 2 in a run with 2"):
        hash_round(seen, "lsh_4", 0, 0, 2)


@page
@pytest.mark.parametrize(("buckets", "chosen"), [(4, 0), (4, 16), (6, 6)])
def test_first_meetings_equal_a_plain_search(buckets: int, chosen: int) -> None:
    seen = explained(
        dataclasses.replace(SHORT, text="pair by pair", buckets=buckets, rounds=3, chunk=4)
    )
    found = measure_missed(seen, "lsh_4", 0, 1, chosen)
    length, chunk = len(seen.tokens), 4
    rounds = (
        seen.read[0].buckets[0, 1] if chosen in {0, buckets} else np.zeros((0, length), np.int16)
    )
    assert (found.first.dtype, found.first.shape) == (np.uint8, (length, length))
    assert (
        found.chosen == (chosen or buckets)
        and found.chosen in found.kinds
        and buckets in found.kinds
    )
    for query in range(length):
        for key in range(length):
            wanted = 0
            for number, bucket in reversed(list(enumerate(rounds, 1))):
                place = {
                    position: i
                    for i, position in enumerate(
                        sorted(range(length), key=lambda p: (bucket[p], p))
                    )
                }
                if key < query and place[query] // chunk - place[key] // chunk in {0, 1}:
                    wanted = number
            met = found.first[query, key]
            assert met == wanted if wanted or key >= query else met == 0 or met > len(rounds)


@page
def test_the_map_adds_up_to_the_table() -> None:
    seen = explained(dataclasses.replace(SHORT, text="what was missed, and how much", rounds=2))
    for chosen in (0, 2, 32):
        found = measure_missed(seen, "lsh_4", 0, 0, chosen)
        column = found.kinds.index(found.chosen)
        pairs = np.tri(len(found.first), k=-1, dtype=bool)
        for rounds in (1, 2, 7, 16):
            met = (found.first > 0) & (found.first <= rounds)
            lost = np.where(met, 0, np.exp(found.log_full))[1:] * pairs[1:]
            assert found.table[rounds - 1, column] == pytest.approx(
                100 * lost.sum(1).mean(), abs=0.05
            )
            assert found.pairs[rounds - 1, column] == pytest.approx(
                100 * met.sum() / pairs.sum(), abs=1e-3
            )
    own = measure_missed(seen, "lsh_4", 0, 0)
    assert own.table.shape == (16, len(own.kinds)) and own.table[0].max() > 0
    with pytest.raises(ValueError, match="7 buckets"):
        measure_missed(seen, "lsh_4", 0, 0, 7)
    everything = measure_missed(explained(dataclasses.replace(SHORT, chunk=7)), "lsh_4", 0, 0)
    assert not everything.table[:, everything.kinds.index(everything.chosen)].any()


@page
def test_zero_rounds_are_full_attention() -> None:
    full, whole = (
        explained(dataclasses.replace(SHORT, rounds=0)),
        explained(dataclasses.replace(SHORT, chunk=256, buckets=256)),
    )
    np.testing.assert_allclose(full.read[0].nats, whole.read[0].nats, atol=1e-4)
    assert full.read[0].buckets.shape[2] == 0
    for chunk in (1, 3, 5):
        assert np.isfinite(explained(dataclasses.replace(SHORT, chunk=chunk)).read[0].nats).all()
    before, after = (
        explained(Request(text="heads")),
        explained(Request(text="heads", silenced=(("full", 0, 0),))),
    )
    assert [
        np.array_equal(one.nats, other.nats)
        for one, other in zip(before.read, after.read, strict=True)
    ] == [True, False]


@page
def test_reversed_inputs_and_chunks() -> None:
    request = Request("text", "Alice was beginning", rounds=2)
    found, chunked = rewind(request, "text"), in_chunks(request, "text", 1)
    assert isinstance(found, Rewound) and isinstance(chunked, InChunks)
    assert found.single.shape == found.double.shape == (4,)
    assert 0 < found.single.max() < 1e-4 and found.double.max() < 1e-12
    np.testing.assert_allclose(found.forward, found.again, atol=1e-3)
    assert max(chunked.difference) < 1e-5 and chunked.inner_bytes[0] == 4 * 16 * 19
    assert list(chunked.inner_bytes) == sorted(chunked.inner_bytes, reverse=True)


@page
def test_a_text_is_read_from_its_start() -> None:
    seen = explained(Request("text", "Al§ce", rounds=1))
    (read,) = seen.read
    assert len(seen.wanted) == len(read.nats) == 5 and np.isfinite(read.nats).all()
