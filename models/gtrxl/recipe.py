"""Training and measurement of the agents, and the comparison of their learning rates."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from models.checkpoints import checkpoint, folders
from models.checkpoints.pretrained import store_first
from models.gtrxl import ppo
from models.gtrxl.model import Agent, Config, build_agent
from models.gtrxl.play import measure_success
from models.gtrxl.pretrained import SLUG, read
from models.training import driver
from models.training.driver import FigureRequest, Measurement
from models.training.loop import RunFolder

LENGTHS = (6, 12, 20, 40, 60)  # of the corridors in which an agent is measured
COVERED = 12  # the length of those whose lamp is covered
COUNT = 300  # corridors of each length
SEEDS = {"val": 11, "test": 12}  # of the corridors of a split
SAVED = 10  # segments between two states of a training on disk
RATES, TABLE_SEEDS = (1e-3, 3e-3, 1e-2), (1, 2, 3)  # of the comparison
TABLE = "rates.json"  # its file


@dataclass(frozen=True)
class Task(driver.Task):
    """A variant's task."""

    config: Config
    recipe: ppo.Settings


def _task(config: Config, rate: float, target: float | None = None) -> Task:
    return Task(
        config=config,
        recipe=ppo.Settings(rate=rate),
        data="signal corridors of 2 to 12 cells, made by a seeded generator",
        licence="Apache-2.0: the generator and these weights",
        metric="success",
        protocol=f"the likeliest moves in {COUNT} corridors of 12 cells that no agent learned from",
        target=target,
    )


VARIANTS = {
    "gtrxl": _task(Config("gtrxl", 2, 64), 3e-3, 0.98),
    "trxl": _task(Config("trxl", 4, 72), 1e-3),
    "trxl_i": _task(Config("trxl_i", 4, 72), 1e-3),
    "lstm": _task(Config("lstm", 1, 190), 1e-3),
}


def start_training(config: Config, settings: ppo.Settings) -> ppo.Training:
    """Return a training at its beginning; the same seed gives the same agent."""
    torch.manual_seed(settings.seed)
    return ppo.Training(build_agent(config), settings)


class AgentModels(driver.LabModels[Task]):
    """The agents of the lab. They learn by walking, not from batches, so `train` is their own."""

    def train(
        self,
        data: Path,
        runs: Path,
        variant: str = "",
        *,
        seed: int = 1,
        device: torch.device,
        minutes: float | None = None,
        resume: bool = False,
        devices: int = 1,
        recipe: Any = None,
        **more: Any,
    ) -> Path:
        """Train an agent, write its assets and return their folder.

        minutes: of the training; `resume` goes on with one that they stopped. Raise ValueError for
        an unknown variant, for several devices and for data of a user's own, FileExistsError where
        the folder of the run holds one.
        """
        if devices > 1 or more.get("own") is not None:
            raise ValueError("an agent learns on one processor, from corridors that are generated")
        task = self.task_of(variant or next(iter(self.variants)))
        variant = variant or next(iter(self.variants))
        settings = dataclasses.replace(recipe or task.recipe, seed=seed)
        training = start_training(task.config, settings)
        run = RunFolder(runs / self.slug / variant / str(seed))
        run.folder.mkdir(parents=True, exist_ok=True)
        seconds = 0.0
        if run.state.exists():
            if not resume:
                raise FileExistsError(
                    f"{run.folder} holds a run: --resume goes on with it, or remove the folder"
                )
            state = run.read_file(run.state)
            training.restore(state)
            seconds = state["seconds"]
        begin = time.monotonic()
        while not training.is_finished and (
            minutes is None or time.monotonic() - begin < minutes * 60
        ):
            line = training.run_segment()
            if len(training.log) % SAVED == 0 or training.is_finished:
                spent = seconds + time.monotonic() - begin
                run.write_file(run.state, {**training.state(), "seconds": spent})
                print(f"{variant}: {line['right']:.3f} right after {line['steps']:,.0f} steps")
        where = checkpoint.find_folder(self.slug, variant, seed)
        facts = {
            **task.facts(self.slug, variant),
            "config": dataclasses.asdict(task.config),
            "recipe": dataclasses.asdict(settings),
            "seed": seed,
            "finished": training.is_finished,
            "steps": training.steps,
            "training_seconds": round(seconds + time.monotonic() - begin),
            "training_device": f"cpu, {torch.get_num_threads()} threads",
        }
        checkpoint.save_checkpoint(where, training.agent.state_dict(), facts, task.dtype)
        checkpoint.write_json(where / "training.json", training.log)
        return where


def measure_agent(agent: Agent, seed: tuple[int, ...], lengths: Sequence[int]) -> dict[str, Any]:
    """Return the success by length, as `measure_success` gives it, and with the lamp covered."""
    by = {str(entry): measure_success(agent, entry, COUNT, seed) for entry in lengths}
    return {"by_length": by, "covered": measure_success(agent, COVERED, COUNT, seed, covered=True)}


def measure(asked: FigureRequest[Task], draw: int) -> Measurement:
    """Measure an agent in corridors of a split; `draw` draws others. Raise ValueError for an
    unknown split."""
    if asked.split not in SEEDS:
        raise ValueError(f"{SLUG} has the splits {', '.join(SEEDS)}, not {asked.split}")
    results = measure_agent(asked.shipped.model, (SEEDS[asked.split], draw), LENGTHS)
    by, covered = results["by_length"], results["covered"]["greedy"]
    figure = {
        "metric": "success",
        "split": asked.split,
        "value": by["12"]["greedy"],
        "n": COUNT,
        "draw": draw,
        **results,
    }
    said = (
        f"{by['12']['greedy']:.3f} right at 12 cells, {by['60']['greedy']:.3f} at 60,"
        f" {covered:.3f} with the lamp covered ({COUNT} corridors each, likeliest moves)"
    )
    return Measurement(
        figure,
        said,
        key=None if draw else "figure",
        refused="for draw 0 alone",
        alike=("split", "draw"),
        higher=True,
    )


def compare_rates(where: Path, steps: int | None = None) -> list[dict[str, Any]]:
    """Train every kind of agent at every rate with every seed and keep what came out, whatever it
    is, in a file; a stopped comparison goes on where it was.

    steps: of each training, by default those of the recipe. Each entry holds the kind, the sizes,
    the rate, the seed, the success in the end and the log.
    """
    results: list[dict[str, Any]] = json.loads(where.read_text("utf-8")) if where.is_file() else []
    known = {(entry["variant"], entry["rate"], entry["seed"]) for entry in results}
    for seed in TABLE_SEEDS:
        for rate in RATES:
            for variant, config in COMPARED.items():
                if (variant, rate, seed) in known:
                    continue
                settings = ppo.Settings(seed=seed, rate=rate)
                settings = dataclasses.replace(settings, steps=steps or settings.steps)
                training = start_training(config, settings)
                begin = time.process_time()
                while not training.is_finished:
                    training.run_segment()
                seconds = round(time.process_time() - begin, 1)
                agent = training.agent
                entry = {
                    "variant": variant,
                    "rate": rate,
                    "seed": seed,
                    "layers": config.n_layers,
                    "d_model": config.d_model,
                    "parameters": sum(entry.numel() for entry in agent.parameters()),
                    "steps": training.steps,
                    "seconds": seconds,
                    **measure_success(agent, 12, COUNT, (SEEDS["test"], 0)),
                    "right": [line["right"] for line in training.log],
                    "late": [line["late"] for line in training.log],
                }
                results.append(entry)
                checkpoint.write_json(where, results)
                said = f"{entry['greedy']} in {seconds} s"
                print(f"{variant} {rate:g} seed {seed}: {said}", flush=True)
    return results


# Of about equal size, and the Transformers of equal depth.
COMPARED = {
    "lstm": VARIANTS["lstm"].config,
    "trxl": VARIANTS["trxl"].config,
    "trxl_i": VARIANTS["trxl_i"].config,
    "gtrxl": Config("gtrxl", 4, 48),
}

OPTIONS = {"draw": {"type": int, "default": 0, "help": "draw other corridors of the same kind"}}


def _plan(job: driver.Job[Task]) -> driver.Plan[Any]:
    """Raise RuntimeError: `AgentModels.train` learns by walking, from no plan of batches."""
    raise RuntimeError(f"{job.variant} learns by walking, not from batches")


LAB = AgentModels(SLUG, VARIANTS, read, _plan, measure, options=OPTIONS)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of


def examples() -> Path:
    """Store the first example, and what each head, gate and step of memory is worth; return the
    first file."""
    # imported here, because they load what is trained here
    from models.gtrxl import explain, records, sweeps

    sweeps.write_sweeps()
    return store_first(SLUG, explain.explain, records.EXAMPLES[0])


def find_table() -> Path:
    """Return the file of the comparison."""
    return folders.find_lab_folder(SLUG, checkpoint.ASSETS) / TABLE


if __name__ == "__main__":
    torch.set_num_threads(1)
    compare_rates(find_table())
