"""The driver: one side for ever, batches that are the same when asked for again, runs and searches
that go on where they stopped."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.__main__ import LABS
from models.act_rnn import recipe as rnn
from models.adaptive_span.model import Config as SpanConfig
from models.adaptive_span.model import network as span_network
from models.checkpoints import checkpoint
from models.data.splits import belongs_to_split, hash_rows
from models.language_model import recipe as language_model
from models.music import recipe as music
from models.reformer import recipe as reformer
from models.rnn_attention.model import Config, RecurrentTranslator
from models.rnn_attention.records import NETWORKS as SCORES
from models.sparse_transformer import recipe as sparse
from models.training.driver import OutOfTime, SeededBatches
from models.transformer_xl import recipe as xl
from models.universal_transformer import recipe as ut

ROOT = Path(__file__).parents[3]
CPU = torch.device("cpu")
# what a search for the learning rate has found
SEARCHED = {"0.001": 0.95, "0.002": 0.9, "0.004": 0.5, "0.008": 0.7}


def searched(runs: Path, slug: str, variant: str) -> None:
    """The learning rate has been searched for before."""
    run = runs / slug / variant / "1"
    run.mkdir(parents=True)
    (run / "rates.json").write_text(json.dumps(SEARCHED))


def test_an_input_belongs_to_one_split_alone() -> None:
    rows = np.random.default_rng(1).integers(-1, 2, (4000, 16))
    sides = np.stack([belongs_to_split(rows, split) for split in ("train", "val", "test")])
    assert (sides.sum(0) == 1).all()
    assert 0.03 < sides[2].mean() < 0.07
    assert (belongs_to_split(rows[::-1], "test") == sides[2][::-1]).all()


def test_a_hash_is_the_same_everywhere() -> None:
    rows = np.array([[1, 2, 3], [1, 3, 2], [0, 2, 3]])
    assert hash_rows(rows)[0] == hash_rows(rows[:1])[0]
    assert len(set(hash_rows(np.random.default_rng(2).integers(0, 9, (5000, 8))).tolist())) > 4990
    with pytest.raises(ValueError, match="train, val, test"):
        belongs_to_split(rows, "dev")


def test_a_batch_is_the_same_whenever_it_is_asked_for() -> None:
    seen: list[float] = []

    def draw(generator: np.random.Generator, done: float) -> Any:
        seen.append(done)
        return generator.integers(0, 1000, 4).tolist()

    rounds = [SeededBatches(draw, 1, number, 5, 10) for number in range(2)]
    first = [*rounds[0], *rounds[1]]
    assert [rounds[1][2], rounds[0][1]] == [first[7], first[1]]
    assert len({tuple(batch) for batch in first}) == 10
    assert seen[:10] == [i / 10 for i in range(10)]
    assert SeededBatches(draw, 2, 0, 5, 10)[0] != first[0]


@pytest.mark.parametrize(
    ("module", "variant"),
    [(rnn, "parity"), (rnn, "addition_without"), (ut, "reverse"), (ut, "copy_ordinary")],
)
def test_a_run_stops_goes_on_is_shipped_and_measured(
    module: Any, variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    whole = module.task_of(variant).recipe
    schedule = dataclasses.replace(whole.schedule, steps=6, every=2, warmup=2, cooldown=2)
    quick = dataclasses.replace(whole, schedule=schedule, batch=4, evaluation_interval=3)
    searched(tmp_path / "runs", module.SLUG, variant)
    where = module.train(tmp_path, tmp_path / "runs", variant, device=CPU, recipe=quick, minutes=0)
    assert not checkpoint.read_facts(where)["finished"]
    where = module.train(
        tmp_path, tmp_path / "runs", variant, device=CPU, recipe=quick, resume=True
    )
    facts = checkpoint.read_facts(where)
    assert facts["finished"] and facts["steps"] == 6
    assert facts["rates"] == SEARCHED and facts["recipe"]["schedule"]["peak"] == 4e-3
    found = module.evaluate(tmp_path, variant, device=CPU, record=True, count=40)
    assert 0 <= found["value"] <= 1
    assert json.loads(json.dumps(found)) == found
    assert checkpoint.read_facts(where)["figure"]["value"] == found["value"]
    further = module.train(
        tmp_path,
        tmp_path / "runs",
        variant,
        seed=2,
        device=CPU,
        recipe=dataclasses.replace(quick, rate=1e-3),
    )
    small, first = ((folder / "model.safetensors").stat().st_size for folder in (further, where))
    assert small < 0.8 * first, "matrices in eight bits"
    assert [
        one["seed"]
        for one in module.evaluate(tmp_path, variant, seed=2, device=CPU, count=40)["seeds"]
    ] == [1, 2]


def test_minutes_bound_the_search_for_a_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    whole = rnn.task_of("addition").recipe
    schedule = dataclasses.replace(whole.schedule, steps=40, every=2, warmup=2, cooldown=2)
    quick = dataclasses.replace(whole, schedule=schedule, batch=4, evaluation_interval=20)
    run = tmp_path / "runs" / "act_rnn" / "addition" / "1"
    for _ in range(2):
        with pytest.raises(OutOfTime, match="time is over"):
            rnn.train(
                tmp_path, tmp_path / "runs", "addition", device=CPU, recipe=quick, minutes=1e-5
            )
    assert not (run / "rates.json").exists() and not (tmp_path / "assets").exists()
    where = rnn.train(tmp_path, tmp_path / "runs", "addition", device=CPU, recipe=quick)
    assert checkpoint.read_facts(where)["finished"] and not list(run.glob("trial-*"))


BUILT: list[
    tuple[Callable[[str], torch.nn.Module], tuple[str, ...], float]
] = [  # how, what stands side by side, how much larger one may be
    *[
        (lambda name: rnn.task_of(name).build(), (task, f"{task}_without"), 1.01)
        for task in ("parity", "addition")
    ],
    *[
        (
            lambda name: ut.task_of(name).build(),
            (task, f"{task}_ordinary", f"{task}_fixed"),
            1.1,
        )
        for task in ut.TASKS
    ],
    (lambda name: RecurrentTranslator(Config(name)), SCORES, 1.11),
    (
        lambda name: span_network(name, SpanConfig("ab\n")),
        ("adaptive", "fixed", "dynamic"),
        1.01,
    ),
    (lambda name: music.task_of(name).build(), ("relative", "lstm"), 1.25),
    (lambda name: xl.task_of(name).build("x" * 90), ("xl", "absolute"), 1.01),
]
# of which lab, which variants, and in what alone they differ
ALIKE: list[tuple[Any, tuple[str, ...], dict[str, Any]]] = [
    (reformer, ("lsh_4", "full", "lsh_2", "lsh_1"), {"rounds": 0}),
    (sparse, ("strided", "dense", "fixed"), {"kind": "full"}),
    (sparse, ("text_fixed", "text_strided"), {"kind": "full"}),
    (
        language_model,
        ("plain", "last_only", "layers", "targets", "all"),
        {"exits": False, "ahead": False},
    ),
]


@pytest.mark.parametrize(("build", "names", "most"), BUILT)
def test_compared_models_have_equal_size(build: Any, names: tuple[str, ...], most: float) -> None:
    sizes = [sum(p.numel() for p in build(name).parameters()) for name in names]
    assert max(sizes) < most * min(sizes) and 2 * max(sizes) < checkpoint.LARGEST, (names, sizes)


@pytest.mark.parametrize(("module", "names", "apart"), ALIKE)
def test_what_is_compared_differs_in_one_thing_alone(
    module: Any, names: tuple[str, ...], apart: dict[str, Any]
) -> None:
    tasks = [module.task_of(name) for name in names]
    assert len({(dataclasses.replace(task.config, **apart), task.recipe) for task in tasks}) == 1
    assert len({tuple(getattr(task.config, name) for name in apart) for task in tasks}) == len(
        names
    ) - (module is language_model)


@pytest.mark.parametrize("slug", LABS)
def test_an_unknown_variant_is_refused_with_those_that_there_are(slug: str) -> None:
    with pytest.raises(
        ValueError,
        match=f"{slug} has the variants? .*, not sorting|{slug} has the variant base, not sorting",
    ):
        importlib.import_module(f"models.{slug}.recipe").task_of("sorting")


TWO = """
import dataclasses, sys
from pathlib import Path
import torch
from models.checkpoints import checkpoint
from models.act_rnn import recipe
torch.set_num_threads(1)
folder, devices = Path(sys.argv[1]), int(sys.argv[2])
checkpoint.ASSETS, save = folder / "assets", checkpoint.save_checkpoint
checkpoint.save_checkpoint = lambda *what, **how: (print("published"), save(*what, **how))
whole = recipe.task_of("addition_without").recipe
schedule = dataclasses.replace(whole.schedule, steps=6, every=2, warmup=2, cooldown=2)
quick = dataclasses.replace(whole, schedule=schedule, batch=4, evaluation_interval=6, rate=1e-3)
recipe.train(folder, folder / "runs", "addition_without", device=torch.device("cpu"), recipe=quick,
    devices=devices)
"""


@pytest.mark.slow
def test_two_processes_halve_the_steps(
    tmp_path: Path,
) -> None:
    (tmp_path / "two.py").write_text(TWO, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(tmp_path / "two.py"), str(tmp_path), "2"]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    assert ran.stdout.count("published") == 1
    where = tmp_path / "assets/act_rnn/addition_without"
    facts, log = checkpoint.read_facts(where), json.loads((where / "training.json").read_text())
    assert facts["finished"] and facts["steps"] == 3 and facts["recipe"]["schedule"]["steps"] == 6
    assert [line["step"] for line in log] == [3], (
        "a round of six batches is three steps of two processes"
    )
