"""Without residual paths, and with learned positions."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path

import pytest
import torch

from models import checkpoint
from models.checkpoint import CheckpointError
from models.encoder_decoder import Changes, Paths, Transformer
from models.errors import InputError
from models.multi30k import PAD, Tokenizer
from models.searching import Cache
from models.training import Schedule
from models.translation import paths, pretrained, recipe
from models.translation.ablation import Ablated, AblatedConfig, diagonality, position_r2
from models.translation.path_records import NETWORKS as ABLATED
from models.translation.path_records import PathsRequest, Towers
from models.translation.pretrained import Pretrained
from tests.models.networks import answer
from tests.models.translation.test_model import SOURCE, TARGET

SMALL = AblatedConfig(vocabulary=200, d_model=16, d_ff=24, n_heads=2, n_layers=2, dropout=0.0)
SIZES = {"d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 2}
KINDS = ("with", "without", "timing", "without_encoder")


def network(residual: str = "with", positions: str = "sinusoids") -> Ablated:
    torch.manual_seed(2)
    return Ablated(dataclasses.replace(SMALL, residual=residual, positions=positions)).eval().requires_grad_(False)


@pytest.mark.parametrize("residual", KINDS)
def test_a_search_reads_what_the_decoder_reads(residual: str) -> None:
    model, allowed = network(residual), SOURCE != PAD
    memory = model.encode(SOURCE, allowed)
    cache = Cache(model, memory, allowed, 3, None)
    for t in range(3):
        step = cache.step(TARGET[:1, t].repeat(2))
    whole = model.readout(model.decode(TARGET[:1, :3].repeat(2, 1), memory, allowed))[:, -1]
    torch.testing.assert_close(step[:, 4:] - step[:, 4:5], whole[:, 4:] - whole[:, 4:5], atol=1e-4, rtol=1e-4)


def test_without_its_path_a_sublayer_hands_on_what_it_made_alone() -> None:
    model, allowed = network("without"), SOURCE != PAD
    x = model.embed(SOURCE)
    for i, layer in enumerate(model.encoder):
        x = layer.norms[0](layer.self_attention(x, mask=allowed[:, None, None]))  # type: ignore[index,operator,union-attr]
        x = layer.norms[1](layer.feed_forward(x))  # type: ignore[index,operator,union-attr]
        if i == 0:
            again = x + model.positions[: x.shape[1]]
    torch.testing.assert_close(model.encode(SOURCE, allowed), x)
    second = model.encoder[1]
    told = second.norms[0](second.self_attention(again, mask=allowed[:, None, None]))  # type: ignore[index,operator]
    torch.testing.assert_close(network("timing").encode(SOURCE, allowed), second.norms[1](second.feed_forward(told)))  # type: ignore[index,operator]


def test_the_paths_of_a_trained_network_can_be_taken_away_and_given_back(tiny: Transformer) -> None:
    allowed, ones = SOURCE != PAD, ((1.0, 1.0),) * 2
    same, faded = (tiny.encode(SOURCE, allowed, changes=Changes(paths=Paths(given))) for given in (ones, ((1.0, 0.5), (1.0, 1.0))))
    torch.testing.assert_close(same, tiny.encode(SOURCE, allowed), atol=0, rtol=0)
    assert not torch.allclose(faded, same)


def test_diagonality_is_zero_for_even_rows_and_r2_one_where_the_position_stands_in_the_vector() -> None:
    even = [torch.full((2, n, n), 1 / n) for n in (5, 9)]
    assert diagonality(even) == pytest.approx(0, abs=1e-6)
    assert diagonality([torch.eye(10)[None]]) == pytest.approx(1 - 2.8 / 10)
    chance = torch.Generator().manual_seed(1)
    blind = [torch.randn(12, 4, generator=chance) for _ in range(80)]
    told = [torch.cat((one, torch.arange(12.0)[:, None] * 3 + 1), 1) for one in blind]
    assert position_r2(told[:40], told[40:]) > 0.999 and abs(position_r2(blind[:40], blind[40:])) < 0.1


def test_each_learns_and_is_measured_with_the_pieces_of_the_shipped_model(
    captions: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {name: dataclasses.replace(one.config, **SIZES) for name, one in recipe.VARIANTS.items() if name in ABLATED}
    tasks = {name: dataclasses.replace(recipe.VARIANTS[name], config=config) for name, config in kinds.items()}
    monkeypatch.setattr(recipe.LAB, "variants", tasks)
    checkpoint.folder("translation").mkdir(parents=True)
    tokenizer.save(checkpoint.folder("translation") / "tokenizer.json")
    quick = dataclasses.replace(recipe.SMALL, schedule=Schedule(steps=4, warmup=1, cooldown=1, average=1, every=1), batch=64, rate=1e-3)
    for name in ABLATED:
        where = recipe.train(captions, captions / "runs", name, device=torch.device("cpu"), recipe=quick)
        found = recipe.evaluate(captions, name, device=torch.device("cpu"), record=True)
        assert len(found["diagonality"]) == len(found["position_r2"]) == 2 and set(found["joined"]) == {"1", "2", "3"}
        model = pretrained.read(where, "cpu").model
        assert ("positions" in model.state_dict()) == (name == "positions_learned")
        assert isinstance(model, Ablated) and model.paths == Ablated(kinds[name]).paths


@pytest.fixture
def shipped(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the networks, small, in the place of the trained ones."""
    figure = {"value": 1.0, "position_r2": [0.5, 0.4], "joined": {"1": 2.0}}
    config = {"vocabulary": len(tokenizer)}
    known = {
        f"residual_{kind}": Pretrained(Ablated(dataclasses.replace(SMALL, residual=kind, **config)).eval(), tokenizer, {"figure": figure})
        for kind in ("with", "without")
    }

    def load(variant: str = "residual_with", seed: int = 1) -> Pretrained:
        if variant not in known:
            raise CheckpointError(variant)
        return known[variant]

    monkeypatch.setattr(paths, "load", load)


run, refused = partial(answer, paths.towers, Towers), partial(answer, paths.towers, InputError)
DOGS = PathsRequest("Two dogs are running.")


@pytest.mark.usefixtures("shipped")
def test_a_cut_path_changes_the_network_that_has_it_alone() -> None:
    plain, cut = run(DOGS), run(dataclasses.replace(DOGS, gain=0.0))
    assert [one.network for one in plain.towers] == ["residual_with", "residual_without"]
    assert all(one.text == one.before and (one.diagonality == one.was).all() for one in plain.towers)
    assert all(
        (one.was == before.diagonality).all() and one.before == before.text for one, before in zip(cut.towers, plain.towers, strict=True)
    )
    for before, after, moves in zip(plain.towers, cut.towers, (True, False), strict=True):
        assert (before.maps[0] == after.maps[0]).all() and bool((before.maps[1] != after.maps[1]).any()) == moves
        assert before.maps.sum(-1) == pytest.approx(1, rel=1e-5) and before.diagonality.shape == (2,)


@pytest.mark.usefixtures("shipped")
def test_a_network_that_was_not_measured_is_left_out() -> None:
    paths.load("residual_with").facts.pop("figure")
    assert [one.network for one in run(DOGS).towers] == ["residual_without"]


@pytest.mark.usefixtures("shipped")
def test_positions_can_be_shifted_and_what_is_not_there_is_refused() -> None:
    assert any((a.maps != b.maps).any() for a, b in zip(run(DOGS).towers, run(dataclasses.replace(DOGS, shift=9)).towers, strict=True))
    for change, code in (
        ({"sublayer": "cross"}, "sublayer"),
        ({"gain": 1.5}, "gain"),
        ({"shift": 99}, "shift"),
        ({"sentence": ""}, "empty"),
    ):
        assert refused(dataclasses.replace(DOGS, **change)).code == code  # type: ignore[arg-type]
