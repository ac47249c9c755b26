"""The language models: equal to GPT-2's equations, and what each of them learns from."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import load_once
from models.data import corpus
from models.decoding.sampling import Wanted, Writer
from models.evaluation import bits_per_character
from models.evaluation import polarity as judged
from models.explaining.errors import InputError, Stopped
from models.language_model import induction, polarity, recipe
from models.language_model.decode import Reader, run_layer_by_layer
from models.language_model.explain import explain
from models.language_model.pieces import END, Pieces
from models.language_model.pretrained import read
from models.language_model.recipe import AHEAD, Batch, Objective, draw_windows, make_window_reader
from models.language_model.records import Explanation, Request
from tests.models.networks import LETTERS, language, shelve

TEXT = "The sea was calm.\nThe sea was dark, and the sea was cold."


def batch(model: Any, done: float = 0.0) -> Batch:
    symbols = torch.from_numpy(
        np.random.default_rng(1).integers(0, len(LETTERS) + 1, (2, model.config.window + 2))
    )
    return Batch(symbols[:, :-2], symbols[:, 1:-1], symbols[:, 2:], done)


def test_it_computes_what_gpt2_computes() -> None:
    model, config = language(pieces=29), language().config
    sizes = {
        "n_positions": config.window,
        "n_embd": config.d_model,
        "n_layer": config.n_layers,
        "n_head": config.n_heads,
    }
    peer = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=29,
            n_inner=config.d_ff,
            activation_function="relu",
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            **sizes,
        )
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
            pairs = [
                (ours.attention.project_in, theirs.attn.c_attn),
                (ours.attention.project_out, theirs.attn.c_proj),
            ]
            for mine, its in [
                *pairs,
                (ours.feedforward.inner, theirs.mlp.c_fc),
                (ours.feedforward.outer, theirs.mlp.c_proj),
            ]:
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


@pytest.mark.parametrize(
    ("done", "layers"),
    [(0.0, [0, 1, 2]), (1 / 6, [0, 1, 2]), (0.17, [1, 2]), (0.34, [2]), (1.0, [2])],
)
def test_lower_layers_stop_predicting_first(done: float, layers: list[int]) -> None:
    model = language(exits=True, ahead=True)
    one = batch(model, done)
    states = list(model.climb(one.before))
    readouts = [*model.exits, model.lens]
    wanted = sum(
        nats(readouts[i](states[i]), one.wanted)
        + AHEAD * nats(model.ahead[i](states[i]), one.after)
        for i in layers
    )
    loss, count = Objective(model, True)(one)
    torch.testing.assert_close(loss, wanted)
    assert int(count) == one.wanted.numel()


def test_the_last_position_alone_learns_where_it_alone_predicts() -> None:
    model = language()
    one = batch(model)
    loss, count = Objective(model, False)(one)
    torch.testing.assert_close(loss, nats(model(one.before)[:, -1:], one.wanted[:, -1:]))
    assert int(count) == 2


def test_training_parts_change_no_prediction() -> None:
    assert language(exits=True, ahead=True).parameters_used == language().parameters_used
    model = language(exits=True, ahead=True)
    was = model(batch(model).before)
    for classifier in (*model.exits, *model.ahead):
        torch.nn.init.zeros_(classifier.readout.weight)
    assert torch.equal(model(batch(model).before), was)


def test_every_position_of_a_window_has_the_symbol_after_next() -> None:
    text = np.arange(100, dtype=np.int64)
    one = draw_windows([text], 3, 20, np.random.default_rng(0), 0.5)
    seen = one.before != 0  # a hidden one is 0
    assert one.before.shape == one.after.shape == (3, 20)
    assert torch.equal(
        (one.before + 2)[seen & (one.after != 0)], one.after[seen & (one.after != 0)]
    )


# ---- copying


def test_only_repeats_can_be_known() -> None:
    rows, periods = induction.sequences(62, 50, 97, np.random.default_rng(3))
    for row, period in zip(rows, periods, strict=True):
        assert len(set(row[:period])) == period and (row[period:] == row[:-period]).all()
    right = F.one_hot(torch.from_numpy(rows[:, 1:]), 63).double()
    assert induction.measure_copying(right, torch.from_numpy(rows[:, 1:]), periods) == 1.0
    only_first = right * (torch.arange(96) < torch.from_numpy(periods)[:, None])[..., None]
    assert induction.measure_copying(only_first, torch.from_numpy(rows[:, 1:]), periods) == 0.0, (
        "symbol 0 is never said"
    )


def test_an_induction_head_scores_1() -> None:
    period, length = 5, 12
    weights = np.zeros((1, 2, length, length))
    for query in range(period, length):
        weights[0, 0, query, query - period + 1] = 1
        weights[0, 1, query, query - period] = 1
    assert induction.scores(weights, np.array([period])).tolist() == [1.0, 0.0]


# ---- pieces


def test_any_text_comes_back_from_its_pieces(tmp_path: Path) -> None:
    Pieces.train([TEXT] * 5, 300).save(tmp_path / "pieces.json")
    learned = Pieces.load(tmp_path / "pieces.json")
    for text in (TEXT, "Naïve “quotes” 你好 <end>\x00", ""):
        numbers = learned.encode(text)
        assert learned.decode(numbers) == text and END not in numbers
    assert len(learned.encode(TEXT)) < len(TEXT) / 2


def test_a_paragraph_is_one_line() -> None:
    assert (
        corpus.join_broken_lines("A line\nthat goes on.\n\nAnother  one.")
        == "A line that goes on.\nAnother one."
    )


def test_no_sentence_of_a_held_out_part_is_learned_from(tmp_path: Path) -> None:
    shelve(tmp_path, [("train", TEXT)])
    (tmp_path / "sentences").mkdir()
    long = "one two three four five six seven eight nine"
    found = {
        "labels": ["negative", "positive"],
        "train": [[f"so {long}", 0], ["another sentence", 1]],
        "valid": [],
        "test": [[long, 1]],
    }
    with gzip.open(tmp_path / "sentences" / "polarity.json.gz", "wt", encoding="utf-8") as file:
        json.dump(found, file)
    assert corpus.read_corpus(tmp_path)[-1] == "another sentence"


def test_bits_of_pieces_are_told_for_each_character() -> None:
    learned = Pieces.train([TEXT] * 5, 300)
    model = language(pieces=len(learned), window=16)
    figure = recipe.bits_of_pieces(model, learned, "valid", [TEXT])
    assert figure["n"] == len(TEXT) and figure["value"] == pytest.approx(
        figure["bits_per_piece"] * figure["pieces"] / len(TEXT), abs=1e-3
    )


PROMPT = "She opened the door and"


@pytest.mark.parametrize(
    "how", [{}, {"temperature": 0.0}, {"top_k": 3}, {"top_p": 0.5}, {"seed": 2}]
)
def test_a_last_space_begins_what_follows(how: dict[str, Any]) -> None:
    [found, bare] = explain(
        [Request(PROMPT + end, length=3, variant="words", **how) for end in (" ", "")]
    )
    assert isinstance(found, Explanation) and isinstance(bare, Explanation)
    assert found.symbols[: found.given] == bare.symbols[: bare.given]
    assert found.symbols[found.given][0] == " "
    children = [at for at, parent in enumerate(found.tree.parent) if parent < 0]
    assert all(found.tree.symbols[at][0] == " " for at in children)
    alone = explain([Request(PROMPT, length=3, variant="words", **how)])[0]
    assert isinstance(alone, Explanation) and alone.numbers == bare.numbers


def test_only_the_last_of_several_spaces_is_held_back() -> None:
    [found] = explain([Request(PROMPT + "\n  ", length=2, variant="words")])
    assert isinstance(found, Explanation)
    assert "".join(found.symbols[: found.given]) == PROMPT + "\n "
    assert found.symbols[found.given][0] == " "


def test_a_typed_continuation_takes_the_last_space() -> None:
    requests = [
        Request(text, typed=typed, variant="words")
        for text, typed in ((PROMPT + " ", "looked out"), (PROMPT, " looked out"))
    ]
    found, wanted = explain(requests)
    assert isinstance(found, Explanation) and isinstance(wanted, Explanation)
    assert found.typed == wanted.typed == (" looked", " out")
    np.testing.assert_allclose(found.typed_nats, wanted.typed_nats, atol=1e-4)


def test_characters_keep_their_last_space() -> None:
    [found] = explain([Request(PROMPT + " ", length=2)])
    assert isinstance(found, Explanation) and found.given == len(PROMPT) + 1


@torch.no_grad()
def test_a_line_break_inside_a_paragraph_counts_as_a_space() -> None:
    model = language(letters="ab \n", window=16)
    wrapped, torn = ["ab ba\nab"], ["ab\n\nab"]
    found, plain = (
        recipe.bits_with_breaks_as_spaces(model, wrapped),
        model.alphabet.encode(wrapped[0]),
    )
    logits = model(
        torch.from_numpy(np.concatenate(([model.start], plain[:-1])).astype(np.int64))[None]
    )[0].log_softmax(-1)
    chance = logits.exp()
    blank = chance[:, plain[2]] + chance[:, plain[5]]
    own = chance[torch.arange(len(plain)), torch.from_numpy(plain.astype(np.int64))]
    said = torch.where(torch.from_numpy((plain == plain[2]) | (plain == plain[5])), blank, own)
    assert found["n"] == len(plain) and found["value"] == pytest.approx(
        float(-said.log2().mean()), abs=1e-3
    )
    one = bits_per_character.build_figure(
        "",
        [
            bits_per_character.Text(
                len(torn[0]), make_window_reader(model, model.alphabet.encode(torn[0]))
            )
        ],
        16,
    )
    assert recipe.bits_with_breaks_as_spaces(model, torn)["value"] == one["value"], (
        "a paragraph's end is no space"
    )


# ---- polarity

GOOD, BAD = ("a warm and clever film", 1), ("a cold and clumsy film", 0)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder with sentences, and a model of pieces that has learned nothing, as if it were
    shipped with sentences for the page."""
    (tmp_path / "sentences").mkdir()
    found = {
        "labels": ["negative", "positive"],
        "train": [GOOD, BAD] * 40,
        "valid": [GOOD, BAD] * 5,
        "test": [GOOD, BAD] * 5,
    }
    with gzip.open(tmp_path / "sentences" / "polarity.json.gz", "wt", encoding="utf-8") as file:
        json.dump(found, file)
    learned = Pieces.train([GOOD[0], BAD[0]], 280)
    model = language(letters="", pieces=len(learned))
    where = tmp_path / "assets" / "language_model" / "words"
    facts = {
        "slug": "language_model",
        "variant": "words",
        "config": dataclasses.asdict(model.config),
        "finished": True,
    }
    checkpoint.save_checkpoint(where, model.state_dict(), facts)
    learned.save(where / "pieces.json")
    with gzip.open(where.parent / polarity.SENTENCES, "wt", encoding="utf-8") as file:
        json.dump(found, file)
    monkeypatch.setenv("EXPLORER_ASSETS", str(tmp_path / "assets"))
    # another test's network stays its own
    monkeypatch.setattr(polarity, "load", load_once("language_model", read))
    polarity.sentences.cache_clear()
    yield tmp_path
    polarity.sentences.cache_clear()


def test_naive_bayes_counts_sentences_once() -> None:
    assert judged.list_features("so so good") == {"so", "good", "so so", "so good"}
    assert (
        judged.measure_naive_bayes(
            [GOOD, BAD], [("warm clever", 1), ("cold film", 0), ("a clever film", 1)]
        )
        == 1.0
    )
    assert judged.measure_naive_bayes([GOOD, BAD], [("nothing known", 1)]) == 0.0, (
        "a tie is no positive verdict"
    )


def test_a_sentence_is_judged_by_layer_means() -> None:
    torch.manual_seed(0)
    judge = polarity.Judge(language(letters="", pieces=29)).eval()
    torch.nn.init.normal_(judge.verdict.weight)
    short, long = np.arange(1, 6), np.arange(1, 25)
    torch.testing.assert_close(judge([short, long])[:1], judge([short]))
    model, read = judge.model, torch.tensor([[END, 1, 2, 3, 4, 5, END]])
    means = [x[0, 1:].mean(0) for x in (model.symbol(read) * model.scale, *model.climb(read))]
    whole = torch.cat([F.layer_norm(mean, mean.shape) for mean in means])
    torch.testing.assert_close(judge([short])[0], judge.verdict(whole))


def test_fine_tuning_leaves_the_model_alone(
    shelf: Path,
) -> None:
    was = {
        name: tensor.clone() for name, tensor in polarity.load("words").model.state_dict().items()
    }
    asked = Request(mode="learn", labels=40, seed=3)
    *turns, (seen,) = polarity.live(asked)
    assert [point for (points,) in turns for point in points] == [*seen.points] and not seen.stopped
    assert (seen.points[0].seen, seen.points[0].accuracy) == (0, 0.5) and seen.points[
        -1
    ].seen >= polarity.EPOCHS * 40
    assert seen.points[-1].accuracy == seen.points[-1].fit == seen.counts == 1.0
    assert all(
        torch.equal(tensor, was[name])
        for name, tensor in polarity.load("words").model.state_dict().items()
    )
    under_way = polarity.live(replace(asked, way="scratch"))
    assert isinstance(next(under_way)[0], list)
    (stopped,) = under_way.throw(Stopped())
    assert stopped.stopped and len(stopped.points) < 2 and next(under_way, None) is None
    ((refused,),) = polarity.live(replace(asked, labels=1001))
    assert isinstance(refused, InputError) and refused.code == "labels"


def test_the_curve_goes_on_where_it_stopped(
    shelf: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(polarity, "LIVE", {"train": 20, "test": 4})
    for name, value in {
        "LABELS": (10, 20),
        "SUBSETS": 1,
        "LOOK": 32,
        "LEAST": 60,
        "SEARCHED": 20,
    }.items():
        monkeypatch.setattr(judged, name, value)
    assert not [name for name in recipe.evaluate(shelf, "polarity") if name.startswith("accuracy")]
    monkeypatch.setattr(
        judged.loop,
        "sweep_rates",
        lambda measure, rates, kept: {f"{rate:g}": abs(rate - 4e-3) for rate in rates},
    )
    recipe.train(shelf, shelf / "runs", "polarity")
    first = (shelf / "assets" / "language_model" / corpus.CURVE).read_text("utf-8")
    (shelf / "runs" / "language_model" / "polarity" / "scratch-20-1.json").unlink()
    recipe.train(shelf, shelf / "runs", "polarity")
    again = json.loads((shelf / "assets" / "language_model" / corpus.CURVE).read_text("utf-8"))
    kept = [
        [run for run in one["runs"] if (run["way"], run["labels"]) != ("scratch", 20)]
        for one in (again, json.loads(first))
    ]
    assert kept[0] == kept[1] and len(kept[0]) == 5, "none of the others was trained again"
    found = recipe.evaluate(shelf, "polarity")
    assert found["runs_scratch_20"] == found["runs_pretrained_10"] == 1
    (ours,) = (
        run["test"] for run in again["runs"] if (run["way"], run["labels"]) == ("pretrained", 20)
    )
    assert (
        found["value"] == found["accuracy_pretrained_20"] == ours
        and found["accuracy_counts_10"] == 1.0
    )


# ---- reading on when the window is full


@torch.no_grad()
@pytest.mark.parametrize("kind", [{}, {"letters": "", "pieces": 29}])
def test_long_texts_cost_as_in_half_windows(
    kind: dict[str, Any],
) -> None:
    model = language(**kind)
    text = torch.randint(1, 20, (2, 97), generator=torch.Generator().manual_seed(5))
    wanted = Wanted(text, torch.zeros(2, 97), (1.0, 1.0))
    writer = Writer(Reader(model, 2), wanted)
    while writer.position < writer.length:
        writer.write_more()
    whole = torch.cat(
        [
            model.lens(states[-1])
            for _, states, _ in run_layer_by_layer(model, text.numpy(), (None,))
        ],
        1,
    )
    expected = -whole.double().log_softmax(-1).gather(-1, text[..., None])[..., 0]
    torch.testing.assert_close(writer.nats, expected, atol=1e-4, rtol=1e-4)
