"""The Transformer is the one of the paper; its text, its training, its ablations, and the one that
is shipped."""

from __future__ import annotations

import copy
import dataclasses
import gzip
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from models import __main__ as program
from models.checkpoints import checkpoint
from models.checkpoints.checkpoint import CheckpointError
from models.data.captions import read_captions
from models.data.multi30k import (
    BLANK,
    PAD,
    START,
    STOP,
    UNKNOWN,
    Pairs,
    Tokenizer,
    clean_sentence,
    encode_pairs,
)
from models.decoding.translation_search import SearchCache
from models.explaining.errors import InputError
from models.explaining.trace import Trace
from models.networks.encoder import Config
from models.networks.encoder_decoder import Changes, MultiHeadAttention, Paths, Transformer
from models.training.loop import Schedule
from models.training.translation import measure_bleu, translate
from models.translation import paths, pretrained, recipe
from models.translation.ablation import Ablated, AblatedConfig, diagonality, position_r2
from models.translation.explain import explain
from models.translation.path_records import NETWORKS as ABLATED
from models.translation.path_records import PathsRequest, Towers
from models.translation.pretrained import Pretrained, load
from models.translation.recipe import Recipe
from models.translation.records import EXAMPLES, Explanation, Request
from tests.models.conftest import GERMAN
from tests.models.networks import answer, trained

SOURCE = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, PAD, PAD]])
TARGET = torch.tensor([[2, 12, 13, 14], [2, 15, PAD, PAD]])
ALLOWED = SOURCE != PAD
CPU = torch.device("cpu")
QUICK = Recipe(
    Schedule(steps=60, warmup=5, cooldown=10, average=2, every=5, precision="32-true"),
    batch=64,
    rate=3e-2,
)
close = partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)


def copied(ours: Any, theirs: Any) -> None:
    """The parameters of a layer of ours as those of torch's own layer."""
    for name, mine in (
        ("self_attn", ours.self_attention),
        ("multihead_attn", getattr(ours, "cross_attention", None)),
    ):
        if mine is not None:
            its = getattr(theirs, name)
            its.in_proj_weight.data.copy_(mine.project_in.weight)
            its.in_proj_bias.data.copy_(mine.project_in.bias)
            its.out_proj.load_state_dict(mine.project_out.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    for i, norm in enumerate(ours.norms):
        getattr(theirs, f"norm{i + 1}").load_state_dict(norm.state_dict())


# ---- the network


def test_it_equals_the_transformer_of_torch_with_copied_weights(tiny: Transformer) -> None:
    config = tiny.config
    theirs = nn.Transformer(
        config.d_model,
        config.n_heads,
        config.n_layers,
        config.n_layers,
        config.d_ff,
        dropout=0.0,
        batch_first=True,
        norm_first=False,
    ).eval()
    # the paper has no norm behind the last layer's own
    theirs.encoder.norm = theirs.decoder.norm = None
    for ours, layer in zip(
        (*tiny.encoder, *tiny.decoder),
        (*theirs.encoder.layers, *theirs.decoder.layers),
        strict=True,
    ):
        copied(ours, layer)
    hidden = torch.zeros_like(ALLOWED, dtype=torch.float32).masked_fill(~ALLOWED, -math.inf)
    expected = theirs(  # with gradients on: without, torch would take a shortcut that warns
        tiny.embed(SOURCE),
        tiny.embed(TARGET),
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(TARGET.shape[1]),
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
    )
    close(tiny(SOURCE, TARGET, ALLOWED), expected.detach())
    close(
        tiny.embed(SOURCE)[0, 3],
        tiny.embedding.weight[7] * math.sqrt(config.d_model) + tiny.positions[3],
    )
    trace = Trace("encoder/*/self/weights", "decoder/*/self/weights", "decoder/*/cross/weights")
    assert torch.equal(tiny(SOURCE, TARGET, ALLOWED, trace=trace), tiny(SOURCE, TARGET, ALLOWED))
    assert trace.stack("decoder/*/cross/weights").shape == (2, 2, 4, 4, 5)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_silencing_zeroes_the_heads_columns(tiny: Transformer, kind: str) -> None:
    other, changes = (
        copy.deepcopy(tiny),
        Changes(gains={kind: torch.ones(tiny.config.n_layers, 2, tiny.config.n_heads)}),
    )
    close(tiny(SOURCE, TARGET, ALLOWED, changes=changes), tiny(SOURCE, TARGET, ALLOWED))
    changes.gains[kind][0, 1, 1] = 0
    layer = (other.encoder if kind == "encoder" else other.decoder)[0]
    (layer.cross_attention if kind == "cross" else layer.self_attention).project_out.weight[
        :, 8:16
    ] = 0
    found = tiny(SOURCE, TARGET, ALLOWED, changes=changes)
    silenced, plain = (model(SOURCE, TARGET, ALLOWED) for model in (other, tiny))
    close(found, torch.stack((plain[0], silenced[1])))
    assert not torch.allclose(found[1], plain[1])


def test_hiding_a_word_is_not_reading_it(
    tiny: Transformer,
) -> None:
    allowed, changed = ALLOWED.clone(), SOURCE.clone()
    allowed[0, 2], changed[0, 2] = False, 20
    close(tiny(SOURCE, TARGET, allowed), tiny(changed, TARGET, allowed))
    assert tiny(SOURCE, TARGET, torch.zeros_like(ALLOWED)).isfinite().all()


def test_embeddings_are_tied_and_the_count_is_within_its_limit() -> None:
    model = Transformer(Config())
    assert (
        sum(p.numel() for p in model.parameters())
        == sum(t.numel() for t in model.state_dict().values())
        <= 4_700_000
    )
    assert not any("readout" in name for name in model.state_dict())


def test_an_unscaled_query_is_multiplied(
    tiny: Transformer,
) -> None:
    other, root = copy.deepcopy(tiny), math.sqrt(tiny.config.d_model // tiny.config.n_heads)
    for module in other.modules():
        if isinstance(module, MultiHeadAttention):
            module.project_in.weight[: tiny.config.d_model] *= root
            module.project_in.bias[: tiny.config.d_model] *= root
    changed = tiny(SOURCE, TARGET, ALLOWED, changes=Changes(scale=1.0))
    close(changed, other(SOURCE, TARGET, ALLOWED))
    assert not torch.allclose(changed, tiny(SOURCE, TARGET, ALLOWED), atol=1e-3)


def test_without_sinusoids_order_is_lost(
    tiny: Transformer,
) -> None:
    order, allowed = torch.tensor([3, 0, 4, 1, 2]), torch.ones_like(ALLOWED[:1])
    one, other = (
        tiny.encode(tokens, allowed, changes=Changes(positional=False))
        for tokens in (SOURCE[:1], SOURCE[:1, order])
    )
    close(one[:, order], other)
    assert not torch.allclose(
        tiny.encode(SOURCE[:1], allowed)[:, order],
        tiny.encode(SOURCE[:1, order], allowed),
        atol=1e-3,
    )


def test_without_the_mask_later_words_count(
    tiny: Transformer,
) -> None:
    changed, reads = TARGET.clone(), torch.ones_like(TARGET, dtype=torch.bool)
    changed[:, 3:] = 16
    reads[1, 2:] = False  # and what must not be read changes nothing
    one, other = (
        tiny(SOURCE, target, ALLOWED, changes=Changes(reads=reads)) for target in (TARGET, changed)
    )
    assert not torch.allclose(one[0, 0], other[0, 0], atol=1e-4)
    close(one[1, :2], other[1, :2])


# ---- text


@pytest.mark.parametrize(
    "text",
    [
        "Two dogs are running through the snow.",
        "Ein kleines Mädchen klettert auf einen Baum, und sieht zu.",
    ],
)
def test_known_text_survives_the_round_trip(tokenizer: Tokenizer, text: str) -> None:
    found = tokenizer.encode(text)
    assert tokenizer.decode(found.ids) == text
    spelled = "".join(
        (" " if space else "") + piece.replace(BLANK, "")
        for piece, space in zip(found.pieces, found.space, strict=True)
    )
    assert spelled.strip() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x00",
        "😀",
        "שלום עולם",
        "a\u0301",
        "</s> <s> <pad>",
        "A" * 3000,
        "​",
        "\ud800",
        '"Two dogs," he.',
        "１２３",
        "中文",
    ],
)
def test_any_text_can_be_read_and_is_never_a_special_token(tokenizer: Tokenizer, text: str) -> None:
    found = tokenizer.encode(clean_sentence(text))
    assert len(found.ids) == len(found.pieces) == len(found.space) and all(found.pieces)
    assert not {PAD, START, STOP} & set(found.ids)


def test_pieces_lead_back_to_their_tokens(tokenizer: Tokenizer, tmp_path: Path) -> None:
    found = tokenizer.encode("dogs 😀")
    assert found.pieces[found.ids.index(UNKNOWN)] == "😀"
    assert all(
        tokenizer.find_token(*tokenizer.show_piece(token)) == token
        for token in (STOP, *range(4, len(tokenizer)))
    )
    with pytest.raises(KeyError):
        tokenizer.find_token("no such piece", True)
    assert clean_sentence("  a\x00b\tc\u202e d\ud800 e\u0301 ") == "a b c d é"
    tokenizer.save(tmp_path / "tokenizer.json")
    assert Tokenizer.load(tmp_path / "tokenizer.json").encode(
        "A man </s> runs."
    ) == tokenizer.encode("A man </s> runs.")
    with pytest.raises(ValueError, match="the sentence has 0 pieces"):
        encode_pairs(tokenizer, ["A man."], [""])


def test_an_epoch_holds_every_pair_once() -> None:
    rng = np.random.default_rng(1)
    rows = [rng.integers(4, 50, size=rng.integers(1, 12)) for _ in range(200)]
    few = Pairs(rows, rows[::-1])
    epoch, again, other = (
        [b.tolist() for b in few.draw_batches(64, seed=1, epoch=number)] for number in (0, 0, 1)
    )
    assert sorted(i for b in epoch for i in b) == list(range(200)) and epoch == again != other
    assert all(len(b) * max(len(few.target[i]) + 1 for i in b) <= 64 for b in epoch)
    batch, n = few.make_batch([0, 1]), len(few.target[0])
    assert batch.target[0, 0] == START and batch.wanted[0, n] == STOP and STOP not in batch.source
    assert batch.target[0, 1 : n + 1].tolist() == batch.wanted[0, :n].tolist(), (
        "the wanted piece is the next one"
    )


def test_missing_and_uneven_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"val\.en\.gz"):
        read_captions(tmp_path, "val")
    (tmp_path / "multi30k").mkdir()
    for language, text in (("en", "a\nb\n"), ("de", "c\n")):
        with gzip.open(
            tmp_path / "multi30k" / f"val.{language}.gz", "wt", encoding="utf-8"
        ) as file:
            file.write(text)
    with pytest.raises(ValueError, match="2 English sentences beside 1 German"):
        read_captions(tmp_path, "val")


# ---- from two text files to a shipped, measured model


@pytest.fixture
def data(captions: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four captions, and small networks."""
    config = Config(vocabulary=150, d_model=16, d_ff=32, n_heads=2, n_layers=1, dropout=0.0)
    monkeypatch.setattr(
        recipe.LAB,
        "variants",
        {"base": dataclasses.replace(recipe.VARIANTS["base"], config=config, recipe=QUICK)},
    )
    return captions


def test_four_captions_are_learned_shipped_and_measured(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, shipped = trained(recipe, pretrained.read, data, "base")
    assert shipped.facts["licence"] and shipped.facts["published"]["comparable"] is False
    where = checkpoint.find_folder("translation")
    assert (
        len(json.loads((where / "training.json").read_text())) >= 10
        and shipped.model.config.d_model == 16
    )
    assert found["value"] > 50 and found["n"] == 4
    recipe.evaluate(data, device=CPU, split="val", record=True)
    assert checkpoint.read_facts(where)["surprising_below"] < 0
    assert "tok:13a" in capsys.readouterr().out
    with pytest.raises(ValueError, match="not of train"):
        recipe.evaluate(data, device=CPU, split="train", record=True)


def test_bleu_is_that_of_whole_corpora_with_case() -> None:
    assert (
        measure_bleu(GERMAN, GERMAN)[0] == pytest.approx(100)
        and measure_bleu([text.lower() for text in GERMAN], GERMAN)[0] < 90
    )


# ---- the shipped model


def test_fifty_captions_score_as_measured() -> None:
    model, quoted = (
        load(),
        json.loads((Path(__file__).with_name("captions.json")).read_text(encoding="utf-8")),
    )
    assert load() is model and len(quoted["english"]) == 50 and quoted["licence"]
    texts = [model.tokenizer.decode(one.tokens) for one in translate(model, quoted["english"])]
    value, signature = measure_bleu(texts, quoted["german"])
    assert value > 33 and "case:mixed" in signature and "tok:13a" in signature
    figure = model.facts["figure"]
    assert (figure["split"], figure["n"], figure["beam"]) == ("test_2016_flickr", 1000, 4)
    assert figure["value"] >= model.facts["recipe"]["target"]


def test_its_own_captions_are_not_surprising_and_nonsense_is() -> None:
    *known, odd = explain(
        [
            *EXAMPLES,
            Request(
                "Quarterly dividends notwithstanding, jurisprudence metastasised hypothetically."
            ),
        ]
    )
    assert not any(one.surprising for one in known if isinstance(one, Explanation))
    assert isinstance(odd, Explanation) and odd.surprising


def test_the_program_lists_it_and_says_which_data_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        program.main(["list"]) == 0
        and program.main(["evaluate", "translation", "--data", str(tmp_path)]) == 1
    )
    told = capsys.readouterr()
    assert "translation base: seed 1" in told.out and "multi30k" in told.err


# ---- without residual paths, and with learned positions

SMALL = AblatedConfig(vocabulary=200, d_model=16, d_ff=24, n_heads=2, n_layers=2, dropout=0.0)


def network(residual: str = "with") -> Any:
    torch.manual_seed(2)
    return Ablated(dataclasses.replace(SMALL, residual=residual)).eval().requires_grad_(False)


@pytest.mark.parametrize(
    "residual", ["with", "without", "timing", "without_encoder", "timing_encoder"]
)
def test_a_search_reads_what_the_decoder_reads(residual: str) -> None:
    model = network(residual)
    memory = model.encode(SOURCE, ALLOWED)
    cache = SearchCache(model, memory, ALLOWED, 3)
    for t in range(3):
        step = cache.step(TARGET[:1, t].repeat(2))
    whole = model.readout(model.decode(TARGET[:1, :3].repeat(2, 1), memory, ALLOWED))[:, -1]
    torch.testing.assert_close(
        step[:, 4:] - step[:, 4:5], whole[:, 4:] - whole[:, 4:5], atol=1e-4, rtol=1e-4
    )


def test_without_its_path_a_sublayer_hands_on_what_it_made_alone() -> None:
    model = network("without")
    x, timed = model.embed(SOURCE), None
    for layer in model.encoder:
        again = x if timed is None else timed + model.positions[: x.shape[1]]
        x, timed = (
            layer.norms[1](
                layer.feed_forward(
                    layer.norms[0](layer.self_attention(one, mask=ALLOWED[:, None, None]))
                )
            )
            for one in (x, again)
        )
    torch.testing.assert_close(model.encode(SOURCE, ALLOWED), x)
    for name in ("timing", "timing_encoder"):
        torch.testing.assert_close(network(name).encode(SOURCE, ALLOWED), timed)
    plain, encoder = network("without_encoder"), network("timing_encoder")
    decoded = [one.decode(TARGET[:1, :3].repeat(2, 1), x, ALLOWED) for one in (plain, encoder)]
    torch.testing.assert_close(*decoded)  # its decoder is the paper's


def test_trained_paths_are_cut_and_restored(tiny: Transformer) -> None:
    given = (((1.0, 1.0),) * 2, ((1.0, 0.5), (1.0, 1.0)))
    same, faded = (tiny.encode(SOURCE, ALLOWED, changes=Changes(paths=Paths(one))) for one in given)
    assert torch.equal(same, tiny.encode(SOURCE, ALLOWED)) and not torch.allclose(faded, same)


def test_limits_of_diagonality_and_r2() -> None:
    assert diagonality([torch.full((2, n, n), 1 / n) for n in (5, 9)]) == pytest.approx(0, abs=1e-6)
    assert diagonality([torch.eye(10)[None]]) == pytest.approx(1 - 2.8 / 10)
    chance = torch.Generator().manual_seed(1)
    blind = [torch.randn(12, 4, generator=chance) for _ in range(80)]
    told = [torch.cat((one, torch.arange(12.0)[:, None] * 3 + 1), 1) for one in blind]
    assert (
        position_r2(told[:40], told[40:]) > 0.999 and abs(position_r2(blind[:40], blind[40:])) < 0.1
    )


def test_each_ablation_learns_and_is_scored(
    captions: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 2}
    kinds = {
        name: dataclasses.replace(one.config, **sizes)
        for name, one in recipe.VARIANTS.items()
        if name in ABLATED
    }
    tasks = {
        name: dataclasses.replace(recipe.VARIANTS[name], config=config)
        for name, config in kinds.items()
    }
    monkeypatch.setattr(recipe.LAB, "variants", tasks)
    checkpoint.find_folder("translation").mkdir(parents=True)
    tokenizer.save(checkpoint.find_folder("translation") / "tokenizer.json")
    quick = dataclasses.replace(
        recipe.SMALL,
        schedule=Schedule(steps=4, warmup=1, cooldown=1, average=1, every=1),
        batch=64,
        rate=1e-3,
    )
    for name in ABLATED:
        where = recipe.train(captions, captions / "runs", name, device=CPU, recipe=quick)
        found = recipe.evaluate(captions, name, device=CPU, record=True)
        assert len(found["diagonality"]) == len(found["position_r2"]) == 2 and set(
            found["joined"]
        ) == {"1", "2", "3"}
        model = pretrained.read(where, "cpu").model
        assert ("positions" in model.state_dict()) == (name == "positions_learned")
        assert isinstance(model, Ablated) and model.paths == Ablated(kinds[name]).paths


def test_a_cut_path_changes_one_network(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = {"value": 1.0, "position_r2": [0.5, 0.4], "joined": {"1": 2.0}}
    known = {
        f"residual_{kind}": Pretrained(network(kind), tokenizer, {"figure": figure})
        for kind in ("with", "without")
    }

    def load(variant: str = "residual_with", seed: int = 1) -> Pretrained:
        if variant not in known:
            raise CheckpointError(variant)
        return known[variant]

    monkeypatch.setattr(paths, "load", load)
    run, dogs = partial(answer, paths.towers, Towers), PathsRequest("Two dogs are running.")
    plain, cut, shifted = (
        run(dataclasses.replace(dogs, **change)) for change in ({}, {"gain": 0.0}, {"shift": 9})
    )
    assert [one.network for one in plain.towers] == ["residual_with", "residual_without"]
    for before, after, moves in zip(plain.towers, cut.towers, (True, False), strict=True):
        assert (
            before.text == before.before == after.before
            and (before.diagonality == before.was).all()
        )
        assert (after.was == before.diagonality).all() and before.diagonality.shape == (2,)
        assert (before.maps[0] == after.maps[0]).all() and bool(
            (before.maps[1] != after.maps[1]).any()
        ) == moves
        assert before.maps.sum(-1) == pytest.approx(1, rel=1e-5)
    assert any((a.maps != b.maps).any() for a, b in zip(plain.towers, shifted.towers, strict=True))
    for change, code in (
        ({"sublayer": "cross"}, "sublayer"),
        ({"gain": 1.5}, "gain"),
        ({"shift": 99}, "shift"),
        ({"sentence": ""}, "empty"),
    ):
        assert answer(paths.towers, InputError, dataclasses.replace(dogs, **change)).code == code
    known["residual_with"].facts.pop("figure")
    assert [one.network for one in run(dogs).towers] == ["residual_without"]
