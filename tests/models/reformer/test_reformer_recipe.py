"""Training and measuring words said twice and books."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.hashing import belongs
from models.layers.lsh import shared_weights
from models.reformer import recipe
from models.reformer.data import LENGTH, Curriculum, drawn_words, said_twice, windows, words
from models.reformer.letters import WORD
from models.reformer.model import FULL, Config, Reformer
from models.reformer.pretrained import read
from models.reformer.recipe import (
    VARIANTS,
    Objective,
    accuracy,
    asked_rounds,
    beginner_of_books,
    cut,
    evaluate,
    mean_bits,
    task_of,
    train,
)
from models.windows import NONE
from tests.models.networks import trained

CPU = torch.device("cpu")


@pytest.mark.parametrize("variant", ["lsh_4", "text"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path) -> None:
    found, _ = trained(recipe, read, data, variant, count=2)
    assert (found["metric"], found["rounds"]) == (("accuracy", 8) if variant == "lsh_4" else ("bits per character", 4))


def test_every_seed_is_listed_whatever_it_came_to(data: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        train(data, tmp_path / "runs", "lsh_1", seed=seed, device=CPU)
        last = evaluate(data, "lsh_1", seed=seed, device=CPU, record=True, count=2)
    assert [one["seed"] for one in last["seeds"]] == [1, 2]
    assert set(last["by_rounds"]) == {"full", "1", "2", "4", "8"}


def test_every_character_of_the_book_but_the_first_is_measured_once(data: Path, tmp_path: Path) -> None:
    text = np.arange(1, 51, dtype=np.uint8)
    batch = cut(text, 24)
    assert batch.wanted[batch.wanted != NONE].tolist() == list(range(2, 51))
    assert torch.equal(batch.before[:, 1:][batch.wanted[:, 1:] != NONE], batch.wanted[:, :-1][batch.wanted[:, 1:] != NONE])


def test_a_network_that_knows_nothing_pays_for_every_character_alike() -> None:
    model = Reformer(Config(8, 24, 2, 4, 4, 8, d_model=16, d_ff=16, n_heads=2)).requires_grad_(False).eval()
    model.readout.weight.zero_()
    model.readout.bias.zero_()
    assert mean_bits(model, windows(np.arange(40, dtype=np.uint8) % 8, np.array([0, 30]), 24), 2) == pytest.approx(3.0, abs=1e-5)


def test_a_network_of_books_begins_by_looking_at_its_nearest_past() -> None:
    config = Config(8, 256, FULL, 16, 8, 256, d_model=64, d_ff=16, n_heads=2)
    tokens = torch.from_numpy(np.random.default_rng(0).integers(0, 8, (1, 256)))

    def nearby(model: Reformer) -> float:
        layer: Any = model.layers[0]
        attention = layer.attention
        weights = shared_weights(attention.split(attention.query(layer.norm(model.embedded(tokens)))))
        return float(weights.tril(-1).triu(-8)[0, :, 64:].sum(-1).mean())

    with torch.no_grad():
        torch.manual_seed(1)
        assert nearby(Reformer(config)) < 0.2
        assert nearby(beginner_of_books(config)) > 0.5


def test_the_second_word_is_the_first_and_only_its_letters_are_wanted() -> None:
    batch = said_twice(words(np.random.default_rng(1), 3, 5, "train"), np.array([0, 7, 123]))
    assert batch.before.shape == (3, 11)
    assert torch.equal(batch.wanted[:, 6:], batch.before[:, 1:6])
    assert (batch.wanted[:, :6] == NONE).all()
    assert (batch.before[:, [0, 6]] == 0).all()
    assert batch.positions[1].tolist() == [*range(7, 13), *range(136, 141)]
    assert int(batch.positions.max()) < LENGTH


def test_words_grow_to_their_size_and_keep_to_their_split() -> None:
    curriculum = Curriculum(shortest=16, rise=0.5, tokens=600)
    sizes = [curriculum.size(done) for done in np.linspace(0, 1, 50)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (16, WORD)
    assert drawn_words(np.random.default_rng(1), 0.0, curriculum).before.shape == (600 // 33, 33)
    assert belongs(words(np.random.default_rng(1), 5, WORD, "test"), "test").all()


def test_training_brings_the_loss_down() -> None:
    torch.manual_seed(1)
    model = Reformer(Config(32, LENGTH, 2, 8, 8, 16, d_model=32, d_ff=32, n_heads=2))
    objective = Objective(model)
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    losses = []
    for _ in range(12):
        loss, count = objective(drawn_words(np.random.default_rng(1), 0.0, Curriculum(tokens=300)))
        (loss / count).backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach() / count))
    assert losses[-1] < losses[0] - 0.3


def test_more_hashing_is_asked_for_in_numbers_or_in_full() -> None:
    assert [asked_rounds(text, 8) for text in (None, "3", "full")] == [8, 3, FULL]
    for text in ("0", "-1", "65", "many", ""):
        with pytest.raises(ValueError, match="rounds of hashing: expected 1 to 64"):
            asked_rounds(text, 8)


def test_a_letter_changes_no_answer_before_it() -> None:
    torch.manual_seed(1)
    model = Reformer(Config(8, 32, 3, 4, 4, 8, d_model=16, d_ff=16, n_heads=2, n_layers=2)).requires_grad_(False).eval()
    rotation = model.rotations(3, 4)
    # Later tokens move places in the sorted order, and with them the borders of chunks: only with one chunk for all is that no matter.
    model.config, tokens = model.config, torch.randint(0, 8, (1, 13))
    for layer in model.layers:
        layer.attention.chunk = 13  # type: ignore[union-attr]
    changed = tokens.clone()
    changed[0, 7] = (changed[0, 7] + 1) % 8
    difference = (model(tokens, rotation) - model(changed, rotation)).abs().amax(-1)[0]
    assert float(difference[:7].max()) < 1e-5
    assert float(difference[7:].max()) > 1e-3


def test_variants_of_a_comparison_differ_in_rounds_alone() -> None:
    told = {(task_of(name).recipe, task_of(name).config.d_model, task_of(name).config.chunk) for name in VARIANTS if name != "text"}
    assert len(told) == 1
    with pytest.raises(ValueError, match="not lsh_3"):
        task_of("lsh_3")


def test_too_long_a_sequence_is_refused_and_accuracy_counts_wanted_letters() -> None:
    model = Reformer(Config(32, 24, 2, 4, 4, 8, d_model=16, d_ff=16, n_heads=2)).requires_grad_(False).eval()
    with pytest.raises(ValueError, match="25 positions: this network has 24"):
        model(torch.zeros(1, 25, dtype=torch.long), model.rotations(2, 4))
    model.readout.weight.zero_()
    model.readout.bias.zero_()
    model.readout.bias[5] = 1
    batch = windows(np.array([1, 5, 2, 5], np.uint8), np.array([0]), 3)
    assert accuracy(model, batch, 2) == pytest.approx(2 / 3)


def test_the_command_line_measures_with_the_rounds_asked_for(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "runs", "full", device=CPU)
    found = evaluate(data, "full", device=CPU, rounds="3", count=2)
    assert found["rounds"] == 3
    assert json.loads(json.dumps(found))["by_rounds"]["3"] == found["value"]
    with pytest.raises(ValueError, match="keeps the figure of test with full rounds"):
        evaluate(data, "full", device=CPU, rounds="3", record=True, count=2)
