"""The training loop: it learns, it resumes as if nothing had happened, and it averages weights."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from models.checkpoints import device
from models.data.multi30k import Pairs, SentenceBatch
from models.networks.encoder import Config
from models.networks.encoder_decoder import Transformer
from models.training import loop
from models.training.loop import Schedule, Trained, average_weights
from models.training.translation import Objective, measure_validation_loss

QUICK = Schedule(steps=24, peak=5e-3, warmup=4, cooldown=4, average=3, every=4, precision="32-true")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def few() -> Pairs:
    generator = torch.Generator().manual_seed(1)
    rows = [
        torch.randint(4, 40, (int(n),), generator=generator).numpy()
        for n in torch.randint(2, 9, (40,), generator=generator)
    ]
    return Pairs(rows, rows)


def network(dropout: float = 0.0) -> Transformer:
    torch.manual_seed(1)
    return Transformer(
        Config(vocabulary=40, d_model=16, d_ff=32, n_heads=2, n_layers=1, dropout=dropout)
    )


def run(
    few: Pairs, folder: Path, schedule: Schedule = QUICK, validate: Any = None, **more: Any
) -> Trained[SentenceBatch]:
    measure = validate or (lambda model: measure_validation_loss(model, few))

    def epoch(number: int) -> list[SentenceBatch]:
        return [few.make_batch(chosen) for chosen in few.draw_batches(60, 1, number)]

    return loop.train(
        Objective(network(0.1), 0.1), epoch, measure, schedule, folder, device=CPU, **more
    )


def test_a_short_run_lowers_the_loss(few: Pairs, tmp_path: Path) -> None:
    # of a longer run that was ended before its first full state
    (tmp_path / "step-0099999.pt").touch()
    done = run(few, tmp_path)
    assert done.finished and done.steps == QUICK.steps
    assert done.log[-1]["validation"] < done.log[0]["validation"] < math.log(40) + 0.5
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == len(done.log)
    kept = [torch.load(path, weights_only=True) for path in sorted(tmp_path.glob("step-*.pt"))]
    assert len(kept) == QUICK.average
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = run(few, tmp_path, resume=True, minutes=0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before, (
        "zero minutes show what a run has"
    )
    for name, tensor in done.state.items():
        torch.testing.assert_close(tensor, torch.stack([state[name] for state in kept]).mean(0))
        torch.testing.assert_close(again.state[name], tensor)
    with pytest.raises(FileExistsError, match="--resume"):
        run(few, tmp_path)
    late = run(few, tmp_path / "late", dataclasses.replace(QUICK, steps=10_000), minutes=0.01)
    assert not late.finished and 0 < late.steps < 10_000


def test_a_resumed_run_ends_the_same(few: Pairs, tmp_path: Path) -> None:
    whole, epochs = run(few, tmp_path / "whole"), itertools.count()

    def dying(model: torch.nn.Module) -> float:
        if next(epochs) == 1:
            # at the end of the second epoch, a step after the state was last written
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        run(few, tmp_path / "killed", validate=dying, save_every=0.0)
    torch.rand(7)  # whatever else drew from the generator in between
    again = run(few, tmp_path / "killed", resume=True)
    assert again.steps == whole.steps and all(
        torch.equal(again.state[name], tensor) for name, tensor in whole.state.items()
    )


def test_the_average_is_of_weights_not_of_outputs() -> None:
    states: list[dict[str, Tensor]] = [
        {"w": torch.tensor([1.0, 3.0])},
        {"w": torch.tensor([3.0, -1.0])},
    ]
    assert average_weights(states)["w"].tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="no checkpoint"):
        average_weights([])


def test_the_rate_rises_falls_and_cools_down() -> None:
    schedule = Schedule(steps=1000, peak=1e-3, warmup=100, decay=0.5, cooldown=100)
    rates = [schedule.rate_at(step) for step in range(1, 1001)]
    assert max(rates) == rates[99] == pytest.approx(1e-3)
    assert rates[399] == pytest.approx(5e-4)
    assert rates[-1] == pytest.approx(0.05 * 1e-3 * math.sqrt(0.1), rel=0.01)
    assert all(a < b for a, b in itertools.pairwise(rates[:100])) and all(
        a > b for a, b in itertools.pairwise(rates[99:])
    )


def test_padding_counts_for_nothing_in_the_loss() -> None:
    objective = Objective(network(), 0.1)
    pairs = Pairs(
        [torch.arange(4, n).numpy() for n in (6, 14)], [torch.arange(5, n).numpy() for n in (8, 20)]
    )
    together, count = objective(pairs.make_batch([0, 1]))
    alone = [objective(pairs.make_batch([i])) for i in (0, 1)]
    torch.testing.assert_close(together, alone[0][0] + alone[1][0], atol=1e-3, rtol=1e-5)
    assert count == alone[0][1] + alone[1][1] == 4 + 16


def test_a_grid_of_rates_grows_to_the_best(tmp_path: Path) -> None:
    for best in (1.0, 2.0, 4.0, 16.0, 0.125):
        kept = tmp_path / f"{best}.json"
        found = loop.sweep_rates(
            lambda rate, best=best: abs(math.log(rate / best)), (1.0, 2.0, 4.0), kept
        )  # type: ignore[misc]
        tried = sorted(map(float, found))
        assert loop.find_best_rate(found) == best and tried[0] < best < tried[-1]
        assert json.loads(kept.read_text()) == found
    assert (
        loop.sweep_rates(
            lambda rate: math.nan if rate > 4 else -rate, (1.0, 2.0), tmp_path / "lost.json"
        )["8"]
        == loop.LOST
    )
    with pytest.raises(ValueError, match="at the edge"):
        loop.sweep_rates(lambda rate: -rate, (1.0, 2.0, 4.0), tmp_path / "endless.json")


def test_a_stopped_search_goes_on(tmp_path: Path) -> None:
    measured: list[float] = []

    def measure(rate: float) -> float:
        measured.append(rate)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return (rate - 2) ** 2

    with pytest.raises(KeyboardInterrupt):
        loop.sweep_rates(measure, (1.0, 2.0, 4.0), tmp_path / "rates.json")
    assert (
        loop.find_best_rate(loop.sweep_rates(measure, (1.0, 2.0, 4.0), tmp_path / "rates.json"))
        == 2.0
    )
    assert measured == [1.0, 2.0, 2.0, 4.0]


def test_a_trial_is_the_run_in_small() -> None:
    trial = loop.make_trial_schedule(Schedule(steps=1000, warmup=100, cooldown=500, every=20), 0.5)
    assert (trial.steps, trial.warmup, trial.cooldown, trial.every, trial.peak) == (
        150,
        15,
        75,
        3,
        0.5,
    )
    assert loop.make_trial_schedule(Schedule(steps=3), 1.0).steps == 1
    assert loop.TRIAL >= 0.15


@pytest.mark.parametrize(
    ("flags", "native"),
    [
        ("flags : sse2 avx512_bf16", True),
        ("Features : fp asimd bf16", True),
        ("flags : sse2 avx2", False),
    ],
)
def test_the_systems_list_replaces_torchs(
    flags: str, native: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(flags, "utf-8")
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    monkeypatch.setattr(device, "CPU", tmp_path / "cpuinfo")
    assert device.has_bfloat16(CPU) is native
    monkeypatch.setattr(device, "CPU", tmp_path / "none")
    assert not device.has_bfloat16(CPU)


def test_without_bfloat16_single_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """torch's Muon, asked for single precision, is the plain one up to the rounding of bfloat16."""
    found = []
    for native in (True, False):
        monkeypatch.setattr(loop, "has_bfloat16", lambda _device, native=native: native)
        objective = Objective(network(), 0.1)
        objective.model.layers = objective.model.decoder
        optimizer, _ = loop.make_muon(objective, Schedule(peak=1.0))
        parameter, *_ = optimizer.param_groups[0]["params"]
        before = parameter.detach().clone()
        parameter.grad = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
        optimizer.step()
        found.append(parameter.detach() - before)
    assert not torch.equal(*found)
    torch.testing.assert_close(*found, atol=0.02, rtol=0.05)
