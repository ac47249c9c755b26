"""The encoders: the same numbers as transformers' own classes, what is hidden and learned from, and
what heads look at."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from models.bert import counts, frozen, minilm, recipe, relations
from models.bert import explain as explaining
from models.bert import polarity as judging
from models.bert.explain import explain, mask_one_side
from models.bert.hiding import hide
from models.bert.model import Config, Encoder
from models.bert.pieces import Encoded, Pieces
from models.bert.pretrained import load, pieces_of
from models.bert.records import DRAWN, PATTERNS, SIDES, Explanation, Request, by_word
from models.bert.reference import measure_max_difference, peer
from models.checkpoints import checkpoint
from models.checkpoints.pretrained import Pretrained
from models.data.corpus import CURVE
from models.data.windows import NONE
from models.explaining.errors import DamagedFile
from models.explaining.trace import Trace
from tests.models.networks import answer

SENTENCES = (
    "A man is standing on a ladder.",
    "Two dogs are running through the snow.",
    "The old man gave his dog a bone.",
)
SIZES: dict[str, Any] = {
    "d_model": 24,
    "d_ff": 40,
    "n_heads": 3,
    "n_layers": 2,
    "dropout": 0.0,
    "max_positions": 32,
}


@cache  # of pairs that are equally frequent, training takes any
def learned() -> Pieces:
    return Pieces.train(list(SENTENCES) * 3, 90)


def network(kind: int = 0, **more: Any) -> Encoder:
    torch.manual_seed(4)
    model = Encoder(
        Config(
            **{
                "vocabulary": len(learned()),
                **SIZES,
                "types": 2 * kind,
                "predicts": not kind,
                **more,
            }
        )
    )
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval().requires_grad_(False)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Encoder]:
    """Small networks in the place of the shipped ones."""
    models, pieces = {"mlm": network(), "minilm": network(1)}, learned()
    monkeypatch.setattr(explaining, "load", lambda variant: Pretrained(models[variant], {}))
    monkeypatch.setattr(explaining, "pieces_of", lambda _variant: pieces)
    return models


def one(**asked: Any) -> Explanation:
    return answer(explain, Explanation, Request(**asked))


@pytest.mark.parametrize("kind", [0, 1])
def test_transformers_says_the_same_with_the_same_weights(kind: int) -> None:
    model = network(kind)
    ids = torch.randint(5, model.config.vocabulary, (3, 11))
    allowed = torch.ones(3, 11, dtype=torch.bool)
    allowed[1, 7:] = False
    trace = Trace("*/self/weights")
    behind = model(ids, allowed, trace=trace)
    ours = behind if kind else model.logits(behind)
    theirs = peer(model, "eager")(ids, attention_mask=allowed.long(), output_attentions=True)
    said = theirs.last_hidden_state if kind else theirs.logits
    assert (said - ours)[allowed].abs().max() <= 1e-5
    assert (
        np.abs(
            np.stack([one.numpy() for one in theirs.attentions]) - trace.stack("*/self/weights")
        ).max()
        <= 1e-6
    )


def test_the_pretrained_encoder_reads_as_transformers_does() -> None:
    shipped = load("minilm")
    assert shipped.facts["source"]["sha256"] == minilm.WEIGHTS
    ids = torch.from_numpy(pieces_of("minilm").encode(SENTENCES[2]).ids)[None]
    theirs = peer(shipped.model, "eager")(ids).last_hidden_state
    assert (theirs - shipped.model(ids)).abs().max() <= 1e-5
    assert measure_max_difference(shipped.model, pieces_of("minilm")) <= 1e-5


def test_package_names_become_ours(tmp_path: Path) -> None:
    model = network()
    again = minilm.rename_parameters(peer(model).state_dict())
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(again[name], tensor)
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(DamagedFile, match="not the file"):
        minilm.adopt(tmp_path, recipe.MINILM)


def test_one_position_in_seven_is_drawn() -> None:
    pieces = learned()
    rows = [pieces.encode(SENTENCES[i % 3]).ids for i in range(900)]
    given, allowed, wanted = hide(rows, pieces, np.random.default_rng(1))
    plain = np.where(wanted == NONE, given, wanted)
    for row, ids, may in zip(plain, rows, allowed, strict=True):
        assert np.array_equal(row[: len(ids)], ids) and may.sum() == len(ids)
    ordinary, drawn = ~np.isin(plain, pieces.special), wanted != NONE
    assert not (drawn & ~ordinary).any()
    assert drawn.sum() / ordinary.sum() == pytest.approx(0.15, abs=0.015)
    assert (given[drawn] == pieces.mask).mean() == pytest.approx(0.8, abs=0.03)
    assert (given[drawn] == wanted[drawn]).mean() == pytest.approx(0.1, abs=0.03)
    assert not np.array_equal(hide(rows, pieces, np.random.default_rng(2))[0], given)
    measured, _, said = hide(rows, pieces, np.random.default_rng(1), only_masks=True)
    assert (measured[said != NONE] == pieces.mask).all()


def test_some_rows_are_read_from_one_side_of_a_drawn_piece_alone() -> None:
    pieces = learned()
    rows = [pieces.encode(SENTENCES[1]).ids] * 2000
    _, allowed, wanted = hide(rows, pieces, np.random.default_rng(1))
    recipe.blank_one_side(allowed, wanted, np.random.default_rng(3))
    cut = ~allowed.all(1)
    assert 0.12 < cut.mean() < 0.2
    for may, said in zip(allowed[cut], wanted[cut], strict=True):
        there = np.flatnonzero(may)
        assert len(there) == there[-1] - there[0] + 1 and (
            there[0] == 0 or there[-1] == len(may) - 1
        )
        assert said[there[-1] if there[0] == 0 else there[0]] != NONE and (said[~may] == NONE).all()


def test_only_drawn_pieces_cost_anything() -> None:
    pieces, model = learned(), network()
    given, allowed, wanted = map(
        torch.from_numpy,
        hide([pieces.encode(one).ids for one in SENTENCES], pieces, np.random.default_rng(5)),
    )
    part = given, allowed, wanted
    loss, count = recipe.Objective(model)(recipe.Batch(part, part))
    by_hand = 0.0
    for row, column in zip(*np.nonzero(wanted.numpy() != NONE), strict=True):
        logits = model.logits(model(given, allowed))[row, column]
        by_hand += float(F.cross_entropy(logits, wanted[row, column]))
    assert int(count) == 2 * int((wanted != NONE).sum())
    assert float(loss) == pytest.approx(2 * by_hand, rel=1e-5)


def test_either_side_ignores_the_other(
    small: dict[str, Encoder],
) -> None:
    found = one(text=SENTENCES[1], hidden=(3,))
    (guess,) = [guess for guess in found.guesses if found.word[guess.position] == 3][:1]
    for side, cut in (("left", slice(0, guess.position + 1)), ("both", slice(None))):
        ids = torch.from_numpy(learned().encode(SENTENCES[1]).ids).clone()
        ids[torch.tensor(found.word) == 3] = learned().mask
        whole = np.flatnonzero(found.word == 3)
        cut = slice(0, whole[-1] + 1) if side == "left" else cut
        logits = small["mlm"].logits(small["mlm"](ids[None, cut]))[0, guess.position]
        p = float(logits.softmax(-1)[learned().encode(SENTENCES[1]).ids[guess.position]])
        assert guess.truth_p[SIDES.index(side)] == pytest.approx(p, rel=1e-4)
    assert mask_one_side("right", np.array([2, 3]), 6).tolist() == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]
    left = one(text=SENTENCES[1], hidden=(3,), side="left")
    assert (
        not left.weights[:, :, :, ~left.allowed].any() and left.allowed[: guess.position + 1].all()
    )


def test_a_word_behind_the_end_of_a_text_hides_nothing(small: dict[str, Encoder]) -> None:
    assert not one(text="two dogs", hidden=(-1, 2, 9)).guesses
    assert [guess.position for guess in one(text="two dogs", hidden=(1, 7)).guesses] == [2]


def test_a_sentence_costs_its_pieces(
    small: dict[str, Encoder],
) -> None:
    found = one(text=SENTENCES[0])
    ids = torch.from_numpy(learned().encode(SENTENCES[0]).ids)
    for place in range(1, len(ids) - 1):
        row = ids.clone()
        row[place] = learned().mask
        nats = -small["mlm"].logits(small["mlm"](row[None]))[0, place].log_softmax(-1)[ids[place]]
        assert found.nats[place] == pytest.approx(float(nats), rel=1e-4)
    assert found.nats[0] == found.nats[-1] == 0 and found.folded and not one(text="two dogs").folded


def test_flow_is_weight_times_length(
    small: dict[str, Encoder],
) -> None:
    found = one(text=SENTENCES[2])
    model, trace = small["mlm"], Trace("*/self/values")
    model(torch.from_numpy(learned().encode(SENTENCES[2]).ids)[None], trace=trace)
    values = trace.stack("*/self/values")[:, 0]
    for layer in range(2):
        matrix = model.state_dict()[f"layers.{layer}.self_attention.project_out.weight"].numpy()
        for head in range(3):
            for key in range(len(found.pieces)):
                added = matrix[:, head * 8 : head * 8 + 8] @ values[layer, head, key]
                assert found.norms[layer, head, key] == pytest.approx(
                    float(np.sqrt((added**2).sum())), rel=1e-4
                )


def test_patterns_of_heads_are_those_of_a_plain_loop() -> None:
    ids = np.array([2, 7, 8, 7, 9, 3])
    weights = np.random.default_rng(1).dirichlet(np.ones(6), (2, 3, 6)).astype(np.float32)
    found = relations.patterns(weights, ids)
    inner = range(1, 5)
    for layer, head in np.ndindex(2, 3):
        w = weights[layer, head]
        by_hand = {
            "previous": np.mean([w[i, i - 1] for i in inner if i > 1]),
            "next": np.mean([w[i, i + 1] for i in inner if i < 4]),
            "first": np.mean([w[i, 0] for i in inner]),
            "last": np.mean([w[i, 5] for i in inner]),
            "same": np.mean([sum(w[i, j] for j in range(6) if ids[j] == ids[i]) for i in inner]),
        }
        assert found[layer, head] == pytest.approx([by_hand[name] for name in PATTERNS], rel=1e-5)
    assert relations.patterns(weights[:, :, :3, :3], ids[[0, 1, 5]])[..., :2].max() == 0


def test_a_split_word_is_summed_to_and_averaged_from() -> None:
    weights = np.arange(25, dtype=np.float32).reshape(5, 5)
    found = by_word(weights, np.array([-1, 0, 0, 1, -1]))
    assert found.tolist() == [[(6 + 7 + 11 + 12) / 2, (8 + 13) / 2], [16 + 17, 18]]


def test_a_head_is_chosen_on_dev_and_reported_on_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tree(words: str, heads: tuple[int, ...], kinds: tuple[str, ...]) -> str:
        rows = zip(words.split(), heads, kinds, strict=True)
        lines = [
            f"{i + 1}\t{word}\t_\t_\t_\t_\t{head}\t{kind}\t_\t_"
            for i, (word, head, kind) in enumerate(rows)
        ]
        return "\n".join(["# text", "1-2\tx" + "\t_" * 8, *lines]) + "\n\n"

    (tmp_path / "ud_ewt").mkdir()
    for split, trees in (("dev", 3), ("test", 2)):
        text = tree("the old man", (3, 3, 0), ("det", "amod", "root")) * trees
        (tmp_path / "ud_ewt" / f"{split}.conllu.gz").write_bytes(gzip.compress(text.encode()))
    (sentence, *_) = found = relations.treebank(tmp_path, "dev")
    assert (
        len(found) == 3
        and sentence.words == ("the", "old", "man")
        and sentence.pairs == (("det", 0, 2), ("amod", 1, 2))
    )

    def looks_right(_model: Any, ids: Any) -> Any:
        weights = np.zeros((1, 2, len(ids), len(ids)), np.float32)
        weights[:, 0, :, -2] = 1  # head 1 looks at the last piece, head 2 at the first
        weights[:, 1, :, 1] = 1
        return weights

    monkeypatch.setattr(relations, "collect_weights", looks_right)
    rows = {row["relation"]: row for row in relations.table(network(), learned(), tmp_path)}
    assert (rows["det"]["way"], rows["det"]["head"], rows["det"]["test"], rows["det"]["n"]) == (
        "governor",
        0,
        1.0,
        2,
    )
    assert (rows["det"]["distance"], rows["det"]["distance_test"], rows["amod"]["distance"]) == (
        2,
        1.0,
        1,
    )


def test_an_evaluation_says_how_far_from_transformers(tmp_path: Path) -> None:
    (tmp_path / "ud_ewt").mkdir()
    rows = zip(("the", "old", "man"), (3, 3, 0), ("det", "amod", "root"), strict=True)
    tree = (
        "\n".join(
            f"{i}\t{word}\t_\t_\t_\t_\t{head}\t{kind}\t_\t_"
            for i, (word, head, kind) in enumerate(rows, 1)
        )
        + "\n\n"
    )
    for split in ("dev", "test"):
        (tmp_path / "ud_ewt" / f"{split}.conllu.gz").write_bytes(gzip.compress((tree * 2).encode()))
    (tmp_path / "multi30k").mkdir()
    for split in ("val", "test_2016_flickr"):
        for language in ("en", "de"):
            (tmp_path / "multi30k" / f"{split}.{language}.gz").write_bytes(
                gzip.compress(b"the old man sees the old man\n" * 3)
            )
    found = recipe.evaluate(tmp_path, "minilm", device=torch.device("cpu"))
    assert found["max_difference"] <= 1e-5


def test_a_word_has_its_most_frequent_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagged = (
        ("Green", "PROPN"),
        ("green", "ADJ"),
        ("ladder", "NOUN"),
        ("ladder", "NOUN"),
        ("ladder", "VERB"),
        ("Green", "PROPN"),
    )
    rows = [
        f"{i + 1}\t{word}\t_\t{name}\t_\t_\t0\troot\t_\t_" for i, (word, name) in enumerate(tagged)
    ]
    (tmp_path / "ud_ewt").mkdir()
    (tmp_path / "ud_ewt" / "train.conllu.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    (tmp_path / "bert").mkdir()
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path)
    relations.known_classes.cache_clear()
    text = Encoded(
        np.arange(6),
        ("[CLS]", "green", "lad", "##der", "unheard", "[SEP]"),
        np.array([-1, 0, 1, 1, 2, -1]),
    )
    assert relations.classes_of(text) == (), "nothing is known before the file is there"
    relations.known_classes.cache_clear()
    assert recipe.train(tmp_path, tmp_path, "classes").name == relations.CLASSES
    assert relations.classes_of(text) == ("", "ADJ", "NOUN", "NOUN", "X", "")
    relations.known_classes.cache_clear()


def test_what_training_would_draw_of_a_sentence_is_shown(small: dict[str, Encoder]) -> None:
    kinds = set()
    for seed in range(1, 40):
        found = one(text=SENTENCES[2], way="draw", seed=seed)
        places = np.flatnonzero(found.drawn)
        assert [guess.position for guess in found.guesses] == places.tolist() and len(places) >= 1
        assert not {0, len(found.pieces) - 1} & set(places)
        for place in range(len(found.pieces)):
            kind = DRAWN[found.drawn[place]]
            kinds.add(kind)
            assert kind != "mask" or found.read[place] == "[MASK]"
            assert kind not in ("", "kept") or found.read[place] == found.pieces[place]
    assert kinds == set(DRAWN)
    again = one(text=SENTENCES[2], way="draw", seed=39)
    assert np.array_equal(again.drawn, found.drawn) and again.read == found.read


def test_sentence_vectors_agree_by_pieces(
    small: dict[str, Encoder],
) -> None:
    found = one(text=SENTENCES[0], other=SENTENCES[2], variant="minilm")
    rows = [
        small["minilm"](torch.from_numpy(learned().encode(text).ids)[None])[0].mean(0)
        for text in (SENTENCES[0], SENTENCES[2])
    ]
    assert found.similarity == pytest.approx(
        float(F.cosine_similarity(rows[0], rows[1], dim=0)), abs=1e-5
    )
    assert found.shares.sum() == pytest.approx(found.similarity, abs=1e-5)
    assert (
        found.shares.shape == (len(found.pieces), len(found.other))
        and not found.guesses
        and not len(found.nats)
    )
    assert one(text=SENTENCES[0], variant="minilm").similarity is None


def test_a_silenced_head_adds_nothing(
    small: dict[str, Encoder],
) -> None:
    plain = one(text=SENTENCES[0], hidden=(1,))
    changed = one(text=SENTENCES[0], hidden=(1,), silenced=(("mlm", 0, 1), ("minilm", 0, 2)))
    assert np.array_equal(changed.weights[0], plain.weights[0]) and not np.array_equal(
        changed.weights[1], plain.weights[1]
    )
    assert np.array_equal(
        one(text=SENTENCES[0], hidden=(1,), silenced=(("minilm", 0, 2),)).weights, plain.weights
    )


def test_an_encoder_averages_all_its_layers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "pieces_of", lambda _variant: learned())
    judge, model = judging.Judge(network()).eval(), network()
    torch.nn.init.normal_(judge.verdict.weight)
    short, long = np.arange(5, 10), np.arange(5, 60)
    torch.testing.assert_close(judge([short, long])[:1], judge([short]))
    torch.testing.assert_close(
        judge([long]), judge([long[:30]]), msg="what does not fit is cut off"
    )
    whole = [x[0, 1:].mean(0) for x in model.climb(torch.from_numpy(learned().row(short))[None])]
    assert torch.equal(
        [*model.climb(torch.from_numpy(learned().row(short))[None])][-1],
        model(torch.from_numpy(learned().row(short))[None]),
    )
    torch.testing.assert_close(
        judge([short])[0],
        judge.verdict(torch.cat([F.layer_norm(mean, mean.shape) for mean in whole])),
    )


def test_the_label_curve_is_told_by_the_mean_over_its_subsets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path)
    assert recipe.evaluate(tmp_path, "polarity")["value"] is None
    (tmp_path / "bert").mkdir()
    runs = [
        {"way": "pretrained", "labels": n, "test": test}
        for n, test in ((100, 0.5), (100, 0.6), (8530, 0.75))
    ]
    (tmp_path / "bert" / CURVE).write_text(json.dumps({"runs": runs}))
    found = recipe.evaluate(tmp_path, "polarity")
    assert (found["slug"], found["chosen_on"], found["split"], found["value"]) == (
        "bert",
        "valid",
        "test",
        0.75,
    )
    assert (
        found["accuracy_pretrained_100"],
        found["runs_pretrained_100"],
        found["spread_pretrained_100"],
    ) == (0.55, 2, 0.0707)


def test_a_readout_is_the_least_loss() -> None:
    chance = np.random.default_rng(4)
    vectors, labels = chance.standard_normal((60, 5)), (chance.random(60) < 0.4).astype(float)
    found = torch.from_numpy(frozen.fit_readout(vectors, labels, 0.1)).requires_grad_()
    logits = torch.from_numpy(vectors) @ found[:-1] + found[-1]
    loss = (
        F.binary_cross_entropy_with_logits(logits, torch.from_numpy(labels))
        + 0.05 * found[:-1].square().sum()
    )
    (slope,) = torch.autograd.grad(loss, found)
    assert float(slope.abs().max()) < 1e-7
    right = ((logits.detach().numpy() > 0) == (labels > 0.5)).mean()
    assert frozen.measure_accuracy(found.detach().numpy(), vectors, labels) == right


def test_frozen_vectors_are_those_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network()
    monkeypatch.setattr(frozen, "pieces_of", lambda _variant: learned())
    monkeypatch.setattr(frozen, "load", lambda _variant: SimpleNamespace(model=model))
    found = frozen.read_vectors(SENTENCES)
    for text, vector in zip(SENTENCES, found, strict=True):
        alone = model(torch.from_numpy(learned().encode(text).ids)[None])[0].mean(0)
        assert vector == pytest.approx(F.normalize(alone, dim=0).numpy(), abs=1e-5)


def test_counting_guesses_the_most_common() -> None:
    stream = np.array([1, 2, 3] * 5 + [1, 4, 3] * 2 + [6, 5, 7, 5, 5, 5] * 9)
    given = np.array([[9, 1, 8, 3, 9], [9, 8, 8, 9, 9], [6, 8, 9, 9, 9]])
    wanted = np.full_like(given, NONE)
    wanted[0, 2] = wanted[1, 1] = wanted[2, 1] = 2
    assert counts.guess_by_counts(stream, given, wanted, 10).tolist() == [2, 5, 5]


def test_the_same_pieces_are_hidden_for_all() -> None:
    pieces, model = learned(), network()
    rows = [pieces.encode(one).ids for one in SENTENCES * 4]
    hidden = recipe.fix_masks(rows, pieces)
    assert all(
        np.array_equal(a, b) for a, b in zip(hidden, recipe.fix_masks(rows, pieces), strict=True)
    )
    given, _, wanted = hidden
    nats, right = recipe.measure_guesses(model, hidden, "left")
    for at, (row, column) in enumerate(zip(*np.nonzero(wanted != NONE), strict=True)):
        logits = model.logits(model(torch.tensor(given[row, : column + 1])[None]))[0, -1]
        assert nats[at] == pytest.approx(
            float(F.cross_entropy(logits, torch.tensor(wanted[row, column]))), rel=1e-4
        )
        assert right[at] == (int(logits.argmax()) == wanted[row, column])
    assert len(recipe.measure_guesses(model, hidden)[0]) == len(nats)
