"""The training laboratory's encoders: PyTorch's own layer and optimizers as oracles, slots that
never meet, runs that break alone, and the stored studies."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.explaining.errors import InputError, Stopped
from models.twins import model, recipe, studies, study_plan
from models.twins.data import HELD_OUT, draw_held_out
from models.twins.explain import explain
from models.twins.records import CHANGES, EXAMPLES, Explanation, Frame, Request, Shape, Techniques
from models.twins.script import can_be_written, write_script
from models.twins.training import (
    Slots,
    find_rate,
    list_frames,
    measure_calibration,
)

SMALL = Request(length=4, width=16, batch=4, steps=12, change="constant")
CPU = torch.device("cpu")


def train(request: Request) -> tuple[list[Frame], Explanation]:
    """All frames of a run, as they come, and the run."""
    *turns, (last,) = explain([request])
    assert isinstance(last, Explanation)
    return [frame for (turn,) in turns for frame in turn], last  # type: ignore[union-attr]


def run_script(text: str) -> list[float]:
    """The held-out losses that a downloaded script finds."""
    found: dict[str, Any] = {}
    exec(text, found)
    curve: list[float] = found["curve"]
    return curve


def follow(shape: Shape, run: Techniques, seed: int, steps: int, done: int) -> list[float]:
    """The held-out loss of one run after each of its first steps."""
    slots, held_out = Slots(shape, [run], [seed], steps), draw_held_out(shape, HELD_OUT)
    losses = []
    for _ in range(done):
        slots.advance()
        losses.append(float(slots.judge(*held_out).loss[0]))
    return losses


# ---- oracles


ORACLES = {
    "post": Techniques(warmup=5),
    "pre": Techniques(norm="pre", schedule="constant"),
    "noam": Techniques(schedule="noam", warmup=4, smoothing=0.1),
    "sgd": Techniques(optimizer="sgd", rate=0.1, few=True),
    "batch": Techniques(batch=4),
}


@pytest.fixture
def double() -> Iterator[None]:
    """Double precision: Adam divides gradients that are rounding alone by their own size."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("task", ["sort", "reverse"])
def test_torch_makes_the_same_run(name: str, task: str) -> None:
    shape = Shape(length=6, task=task)
    curve = run_script(write_script(ORACLES[name], shape, 20, 3))
    assert follow(shape, ORACLES[name], 3, 20, 20) == pytest.approx(curve, abs=1e-5)


def test_the_script_of_a_live_run_gives_its_curve() -> None:
    request = replace(SMALL, steps=30, task="copy")
    _, run = train(request)
    for kind, own in enumerate(request.list_techniques()):
        assert can_be_written(own)
        curve = [math.nan, *run_script(write_script(own, request.shape, 30, request.seed))]
        told = run.loss[1:, kind, 0]
        assert told == pytest.approx([curve[step] for step in run.steps[1:]], abs=1e-5)


def test_the_gradient_is_clipped_as_torch_clips() -> None:
    shape, run = Shape(length=4), Techniques(clip=0.1, optimizer="sgd", rate=0.5)
    slots = Slots(shape, [run], [1], 10)
    before = slots.flat.clone()
    slots.advance()
    assert float((slots.flat - before).norm()) == pytest.approx(0.05, rel=1e-4)


# ---- slots


ALL = [replace(change(Techniques(), 20)) for change in CHANGES.values()]


def test_a_slot_alone_equals_the_slot_in_company() -> None:
    shape = Shape(length=5)
    seeds = [1 + at % 3 for at in range(len(ALL))]
    company = Slots(shape, ALL, seeds, 20)
    for _ in range(20):
        company.advance()
    held_out = draw_held_out(shape, HELD_OUT)
    together = company.judge(*held_out)
    for at, (run, seed) in enumerate(zip(ALL, seeds, strict=True)):
        alone = Slots(shape, [run], [seed], 20)
        for _ in range(20):
            alone.advance()
        assert float(alone.judge(*held_out).loss[0]) == pytest.approx(together.loss[at], abs=1e-6)


def test_twins_share_weights_and_batches() -> None:
    slots = Slots(Shape(), [Techniques(), Techniques(dropout=0.5, batch=4)], [5, 5], 10)
    assert torch.equal(*slots.flat)
    for _ in range(3):
        tokens, _wanted = slots.draw_batch()
        assert torch.equal(*tokens)
        slots.advance()
    assert not torch.equal(*slots.flat)


def test_few_sequences_are_seen_again() -> None:
    slots = Slots(Shape(length=16), [Techniques(few=True, batch=64)], [1], 10)
    rows = set()
    for step in range(10):
        slots.step = step
        rows |= {tuple(row.tolist()) for row in slots.draw_batch()[0].view(64, 16)}
    assert 90 < len(rows) <= 100


def test_a_broken_run_ends_alone() -> None:
    runs = [Techniques(), Techniques(rate=1e30)]
    slots, alone = (Slots(Shape(length=4), some, [1] * len(some), 10) for some in (runs, runs[:1]))
    for _ in range(10):
        slots.advance()
        alone.advance()
    assert slots.broke[0] == 0 < slots.broke[1]
    assert torch.allclose(slots.flat[0], alone.flat[0], atol=1e-6)


# ---- techniques


def test_rates_rise_and_fall() -> None:
    linear, noam = Techniques(rate=1.0, warmup=4), Techniques(rate=1.0, warmup=4, schedule="noam")
    assert [find_rate(linear, t, 8) for t in (1, 4, 8)] == [0.25, 5 / 8, 1 / 8]
    assert [find_rate(noam, t, 99) for t in (1, 4, 16)] == [0.25, 1.0, 0.5]
    assert find_rate(replace(linear, schedule="constant"), 99, 99) == 1


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "none"])
def test_every_change_moves_the_loss(name: str) -> None:
    _, run = train(replace(SMALL, change=name, steps=30))
    was, now = run.loss[-1, :, 0]
    assert abs(was - now) > 1e-4


def test_an_average_is_the_mean_of_the_last_ten() -> None:
    slots = Slots(Shape(length=4), [Techniques(average=True), Techniques()], [1, 1], 120)
    kept = []
    for step in range(1, 121):
        slots.advance()
        if step % 10 == 0:
            kept.append(slots.flat[0].clone())
    assert torch.allclose(slots.averaged_weights()[0], torch.stack(kept[-10:]).mean(0))
    assert torch.equal(slots.averaged_weights()[1], slots.flat[1])


def test_calibration_is_the_gap_by_bins() -> None:
    sure = torch.tensor([[0.95, 0.95, 0.55, 0.55]])
    right = torch.tensor([[1.0, 0.0, 1.0, 1.0]])
    # two bins: |1.9 − 1| and |1.1 − 2|, over four tokens
    assert float(measure_calibration(sure, right)) == pytest.approx(1.8 / 4)


# ---- live runs


def test_frames_come_as_the_run_goes() -> None:
    frames, run = train(SMALL)
    assert [frame.step for frame in frames] == list_frames(12) == run.steps.tolist()
    assert frames[0].step == 0 and np.array_equal(frames[0].loss[0], frames[0].loss[1])
    assert run.weights.shape == (len(frames), 2, 2, 4, 4, 4)
    assert run.weights.sum(-1) == pytest.approx(np.ones(run.weights.shape[:-1]), abs=2e-3)
    assert run.norms.shape == (len(frames), 2, 4) and (run.norms[1:] > 0).all()
    assert run.state.shape == (2, model.count_parameters(SMALL.shape))
    assert len(list_frames(600)) == 51 and list_frames(600)[-1] == 600


def test_a_stopped_run_keeps_what_is_there() -> None:
    run = iter(explain([replace(SMALL, steps=300)]))
    seen = [frame for (turn,) in itertools.islice(run, 2) for frame in turn]  # type: ignore[union-attr]
    (last,) = run.throw(Stopped())  # type: ignore[attr-defined]
    assert last.stopped and 0 < len(last.steps) < 51 and last.steps[0] == seen[0].step
    assert next(run, None) is None


def test_five_seeds_are_five_runs() -> None:
    _, run = train(replace(SMALL, seeds=5))
    assert run.loss.shape[1:] == (2, 5)
    _, alone = train(SMALL)
    assert run.loss[:, :, 0] == pytest.approx(alone.loss[:, :, 0], abs=1e-6)


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        (replace(SMALL, length=17), "2 to 16"),
        (replace(SMALL, rate=2.0), "to 1"),
        (replace(SMALL, warmup=13), "the run has 12"),
        (replace(SMALL, rate=0.5, factor=3.0), "at most 1"),
        (Request(layers=6, width=64, length=16, batch=64, steps=600, seeds=5), "at most"),
    ],
)
def test_bad_input_names_the_limit(request_: Request, named: str) -> None:
    ((refused,),) = explain([request_])
    assert isinstance(refused, InputError) and named in refused.text["en"]
    assert refused.text["zh"]


def test_every_example_can_be_trained() -> None:
    assert all(request.holds_both for request in EXAMPLES[1:])
    for request in EXAMPLES:
        frames, _run = train(replace(request, steps=10))
        assert len(frames) == 11


# ---- studies


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies of two steps."""
    batch = replace(study_plan.KNOBS["batch"], steps=2)
    monkeypatch.setattr(study_plan, "KNOBS", {"batch": batch})
    monkeypatch.setattr(study_plan, "FIELD", replace(study_plan.FIELD, steps=2, warmup=0))
    monkeypatch.setattr(study_plan, "FIELD_LAYERS", (1,))
    monkeypatch.setattr(study_plan, "FIELD_WARMUPS", (0, 1))
    monkeypatch.setattr(study_plan, "BASES", {Request(steps=2): ("none", "constant")})
    monkeypatch.setattr(studies, "LARGE", 8)


@pytest.mark.usefixtures("tiny")
def test_studies_go_on_where_they_stopped(tmp_path: Path) -> None:
    path = tmp_path / "studies.jsonl"
    first = studies.run_all(studies.Log(path))
    lines = path.read_text("utf-8")
    assert studies.run_all(studies.Log(path)) == first and path.read_text("utf-8") == lines
    assert np.shape(first["field"]["right"]) == (2, 2, 1, 5, 3)
    knob = first["knobs"]["batch"]
    assert len(knob["before"]["ends"]) == 5 and knob["up"] + knob["down"] <= 5


def test_a_rate_is_never_best_at_the_edge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "LARGE", 8)
    log = studies.Log(tmp_path / "log")
    best, losses = studies.choose_rate(Techniques(), Shape(length=4), 4, log, grid=(0.0003, 0.001))
    rates = sorted(map(float, losses))
    assert rates[0] < best < rates[-1] or best == 1


def test_the_shipped_comparisons_claim_what_holds() -> None:
    stored = study_plan.load_stored()
    for name, knob in stored["knobs"].items():
        assert knob["sign"] in (-1, 0, 1) and max(knob["up"], knob["down"]) <= 5
        assert (knob["sign"] != 0) == (max(knob["up"], knob["down"]) >= 4), name
        for side in ("before", "after"):
            rates = sorted(map(float, knob[side]["losses"]))
            assert rates[0] < knob[side]["rate"] <= rates[-1]
    wanted = {study_plan.name_band(one) for one in study_plan.list_banded()}
    assert wanted == set(stored["bands"])


def test_evaluate_draws_five_other_seeds(
    tiny: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    knob = {"sign": 1, "before": {"rate": 0.01}, "after": {"rate": 0.01}}
    monkeypatch.setattr(study_plan, "load_stored", lambda: {"knobs": {"batch": knob}})
    found = recipe.evaluate(tmp_path, device=CPU, draw=4)
    assert found["slug"] == "twins" and found["n"] == 1 and found["draw"] == 4
    assert set(found["signs_held"]) == {"batch"} and found["value"] in (0, 1)
    json.dumps(found)


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="not unknown"):
        recipe.task_of("unknown")
    with pytest.raises(ValueError, match="nothing to train"):
        recipe.train(Path(), Path(), device=CPU)
    with pytest.raises(ValueError, match="split"):
        recipe.evaluate(Path(), device=CPU, split="val")
