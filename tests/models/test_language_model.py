"""The language models: equal to GPT-2's equations, and what each of them learns from."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel

from models.language_model import induction, pieces, recipe
from models.language_model.pieces import END, Pieces
from models.language_model.recipe import AHEAD, VARIANTS, Batch, Objective, drawn
from tests.models.networks import LETTERS, language, shelve

TEXT = "The sea was calm.\nThe sea was dark, and the sea was cold."


def batch(model: Any, done: float = 0.0) -> Batch:
    symbols = torch.from_numpy(np.random.default_rng(1).integers(0, len(LETTERS) + 1, (2, model.config.window + 2)))
    return Batch(symbols[:, :-2], symbols[:, 1:-1], symbols[:, 2:], done)


def test_it_computes_what_gpt2_computes_with_positions_before_the_first_layer_alone() -> None:
    model, config = language(pieces=29), language().config
    sizes = {"n_positions": config.window, "n_embd": config.d_model, "n_layer": config.n_layers, "n_head": config.n_heads}
    peer = GPT2LMHeadModel(
        GPT2Config(vocab_size=29, n_inner=config.d_ff, activation_function="relu", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, **sizes)
    ).eval()
    with torch.no_grad():
        model.places[1:] = 0
        model.readout.bias.zero_()  # GPT-2's readout has none
        body = peer.transformer
        body.wte.weight.copy_(model.symbol.weight * model.scale)
        body.wpe.weight.copy_(model.places[0])
        peer.lm_head.weight = torch.nn.Parameter(model.symbol.weight.clone())
        for ours, theirs in zip(model.layers, body.h, strict=True):
            for mine, its in ((ours.norm, theirs.ln_1), (ours.feedforward_norm, theirs.ln_2)):
                its.load_state_dict(mine.state_dict())
            pairs = [(ours.attention.project_in, theirs.attn.c_attn), (ours.attention.project_out, theirs.attn.c_proj)]
            for mine, its in [*pairs, (ours.feedforward.inner, theirs.mlp.c_fc), (ours.feedforward.outer, theirs.mlp.c_proj)]:
                its.weight.copy_(mine.weight.t())  # its linear layers are transposed
                its.bias.copy_(mine.bias)
        body.ln_f.load_state_dict(model.norm.state_dict())
        before = batch(model).before.clamp(max=28)
        torch.testing.assert_close(model(before), peer(before).logits, atol=1e-5, rtol=1e-5)


def test_positions_are_added_before_every_layer() -> None:
    model = language()
    before = batch(model).before
    for layer in range(model.config.n_layers):
        was = model(before)
        with torch.no_grad():
            model.places[layer, 5] += 1
        assert not torch.equal(model(before)[:, 5:], was[:, 5:])
        torch.testing.assert_close(model(before)[:, :5], was[:, :5])


def nats(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="sum")


@pytest.mark.parametrize(("done", "layers"), [(0.0, [0, 1, 2]), (1 / 6, [0, 1, 2]), (0.17, [1, 2]), (0.34, [2]), (1.0, [2])])
def test_lower_layers_stop_to_predict_the_lowest_first_and_the_symbol_after_next_counts_half(done: float, layers: list[int]) -> None:
    model = language(exits=True, ahead=True)
    one = batch(model, done)
    states = list(model.climb(one.before))
    readouts = [*model.exits, model.lens]
    wanted = sum(nats(readouts[i](states[i]), one.wanted) + AHEAD * nats(model.ahead[i](states[i]), one.after) for i in layers)
    loss, count = Objective(model, True)(one)
    torch.testing.assert_close(loss, wanted)
    assert int(count) == one.wanted.numel()


def test_the_last_position_alone_learns_where_it_alone_predicts() -> None:
    model = language()
    one = batch(model)
    loss, count = Objective(model, False)(one)
    torch.testing.assert_close(loss, nats(model(one.before)[:, -1:], one.wanted[:, -1:]))
    assert int(count) == 2


def test_what_only_training_needs_is_not_counted_and_changes_no_prediction() -> None:
    assert language(exits=True, ahead=True).used == language().used
    model = language(exits=True, ahead=True)
    was = model(batch(model).before)
    for classifier in (*model.exits, *model.ahead):
        torch.nn.init.zeros_(classifier.readout.weight)
    assert torch.equal(model(batch(model).before), was)


def test_a_position_that_was_never_trained_is_refused() -> None:
    with pytest.raises(ValueError, match="position 41"):
        language()(torch.zeros(1, 41, dtype=torch.long))


def test_every_position_of_a_window_has_the_symbol_after_next() -> None:
    text = np.arange(100, dtype=np.int64)
    one = drawn([text], 3, 20, np.random.default_rng(0), 0.5)
    seen = one.before != 0  # a hidden one is 0
    assert one.before.shape == one.after.shape == (3, 20)
    assert torch.equal((one.before + 2)[seen & (one.after != 0)], one.after[seen & (one.after != 0)])


# ---- copying -----------------------------------------------------------------------------------------------------------------------


def test_sequences_are_said_again_and_only_what_was_said_before_can_be_known() -> None:
    rows, periods = induction.sequences(62, 50, 97, np.random.default_rng(3))
    for row, period in zip(rows, periods, strict=True):
        assert len(set(row[:period])) == period and (row[period:] == row[:-period]).all()
    right = F.one_hot(torch.from_numpy(rows[:, 1:]), 63).double()
    assert induction.copied(right, torch.from_numpy(rows[:, 1:]), periods) == 1.0
    only_first = right * (torch.arange(96) < torch.from_numpy(periods)[:, None])[..., None]
    assert induction.copied(only_first, torch.from_numpy(rows[:, 1:]), periods) == 0.0, "symbol 0 is never said"


def test_a_head_that_looks_behind_the_earlier_occurrence_scores_1_and_one_that_looks_at_it_0() -> None:
    period, length = 5, 12
    weights = np.zeros((1, 2, length, length))
    for query in range(period, length):
        weights[0, 0, query, query - period + 1] = 1
        weights[0, 1, query, query - period] = 1
    assert induction.scores(weights, np.array([period])).tolist() == [1.0, 0.0]


# ---- pieces ------------------------------------------------------------------------------------------------------------------------


def test_any_text_comes_back_from_its_pieces_and_none_is_a_special_one(tmp_path: Path) -> None:
    Pieces.train([TEXT] * 5, 300).save(tmp_path / "pieces.json")
    learned = Pieces.load(tmp_path / "pieces.json")
    for text in (TEXT, "Naïve “quotes” 你好 <end>\x00", ""):
        numbers = learned.encode(text)
        assert learned.decode(numbers) == text and END not in numbers
    assert len(learned.encode(TEXT)) < len(TEXT) / 2


def test_a_paragraph_is_one_line() -> None:
    assert pieces.unwrapped("A line\nthat goes on.\n\nAnother  one.") == "A line that goes on.\nAnother one."


def test_no_sentence_of_a_held_out_part_is_learned_from(tmp_path: Path) -> None:
    shelve(tmp_path, [("train", TEXT)])
    (tmp_path / "sentences").mkdir()
    long = "one two three four five six seven eight nine"
    found = {"labels": ["negative", "positive"], "train": [[f"so {long}", 0], ["another sentence", 1]], "valid": [], "test": [[long, 1]]}
    with gzip.open(tmp_path / "sentences" / "polarity.json.gz", "wt", encoding="utf-8") as file:
        json.dump(found, file)
    assert pieces.corpus(tmp_path)[-1] == "another sentence"


def test_bits_of_pieces_are_told_for_each_character() -> None:
    learned = Pieces.train([TEXT] * 5, 300)
    model = language(pieces=len(learned), window=16)
    figure = recipe.bits_of_pieces(model, learned, "valid", [TEXT])
    assert figure["n"] == len(TEXT) and figure["value"] == pytest.approx(figure["bits_per_piece"] * figure["pieces"] / len(TEXT), abs=1e-3)


def test_variants_differ_in_what_they_learn_from_alone() -> None:
    plain, *others = (VARIANTS[name] for name in ("plain", "last_only", "layers", "targets", "all"))
    for one in others:
        assert one.recipe == plain.recipe
        assert (one.config.d_model, one.config.n_layers, one.config.window) == (plain.config.d_model, plain.config.n_layers, 256)
