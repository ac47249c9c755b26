"""The game of generator and discriminator: steps in turn, an average of the generator, a record."""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.layers.spectral import iterate_all
from models.sagan.data import Levels, to_levels, to_tensor
from models.sagan.model import AdversarialPair, ConditionalNorm, Config, Generator
from models.training.loop import RunFolder

BETAS = (0.0, 0.9)  # of Adam
SETTLING = 30  # batches that make the statistics of an averaged generator
ITERATIONS = 100  # power iterations on averaged weights

Draw = Callable[[np.random.Generator, int], tuple[Levels, Any]]
"""(generator, count) -> pictures as levels, and their classes."""


@dataclass(frozen=True)
class Game:
    """The settings of a training."""

    steps: int = 3_000  # updates of each network
    batch: int = 64  # pictures
    generator_rate: float = 2.5e-4
    discriminator_rate: float = 1e-3
    decay: float = 0.999  # of the average of the generator's weights
    log_every: int = 50  # steps
    picture_every: int = 250  # steps between the stored pictures
    early: tuple[int, ...] = (0, 25, 50, 100, 150, 200, 350, 500)  # further steps with pictures


def sum_hinge_losses(real: Tensor, fake: Tensor) -> Tensor:
    """Return the discriminator's loss, E max(0, 1 − D(x)) + E max(0, 1 + D(G(z)))."""
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean()


def list_learned(part: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that a gradient moves."""
    return [weight for weight in part.parameters() if weight.requires_grad]


def make_optimizers(pair: AdversarialPair, game: Game) -> list[torch.optim.Optimizer]:
    """Return Adam for the generator and, with another rate, for the discriminator."""
    return [
        torch.optim.Adam(list_learned(part), lr=rate, betas=BETAS, fused=True)
        for part, rate in (
            (pair.generator, game.generator_rate),
            (pair.discriminator, game.discriminator_rate),
        )
    ]


def take_turns(
    pair: AdversarialPair,
    optimizers: list[torch.optim.Optimizer],
    real: Tensor,
    kind: Tensor,
    noise: Tensor,
) -> tuple[float, float]:
    """Take one step of the discriminator, then one of the generator on the same noise; return both
    losses, the generator's being −E D(G(z))."""
    generator, discriminator = pair.generator, pair.discriminator
    fake = generator(noise, kind)
    logits = discriminator(torch.cat([real, fake.detach()]), torch.cat([kind, kind]))
    loss = sum_hinge_losses(*logits.chunk(2))
    optimizers[1].zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizers[1].step()
    opposite = -discriminator(fake, kind).mean()
    optimizers[0].zero_grad()
    opposite.backward(inputs=list_learned(generator))
    optimizers[0].step()
    return float(loss.detach()), float(opposite.detach())


@torch.no_grad()
def follow_weights(averaged: Generator, current: Generator, decay: float) -> None:
    """Move the averaged parameters towards the current ones; what no gradient moves is copied."""
    for mean, now in zip(averaged.parameters(), current.parameters(), strict=True):
        mean.lerp_(now, 1 - decay if now.requires_grad else 1)


@torch.no_grad()
def settle_generator(averaged: Generator, batch: int = 64) -> Generator:
    """Return a copy ready to use: power iterations on the averaged weights, then the statistics of
    normalisation, as means over some batches of noise from a fixed seed."""
    generator = copy.deepcopy(averaged)
    iterate_all(generator, ITERATIONS)
    generator.train()
    for seed in range(SETTLING):
        for norm in generator.norms:
            assert isinstance(norm, ConditionalNorm)
            norm.momentum = 1 / (seed + 1)  # a plain mean of all batches
        generator(*draw_noise(generator.config, batch, seed))
    return generator.eval()


def draw_noise(config: Config, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return noise, (count, noise), and classes in turn, from a seed."""
    random = torch.Generator().manual_seed(seed)
    noise = torch.randn(count, config.noise, generator=random)
    return noise, torch.arange(count) % config.classes


@torch.no_grad()
def paint(generator: Generator, noise: Tensor, kind: Tensor, batch: int = 250) -> Tensor:
    """Return pictures from noise and classes, made in batches."""
    parts = zip(torch.split(noise, batch), torch.split(kind, batch), strict=True)
    return torch.cat([generator(*part) for part in parts])


def start_record() -> dict[str, Any]:
    """Return the record of a game that has not begun: its step, seconds and log, and pictures from
    the same noise with the step of each."""
    return {"step": 0, "seconds": 0.0, "log": [], "frames": [], "frame_steps": []}


def play(
    pair: AdversarialPair,
    game: Game,
    draw: Draw,
    watch: Callable[[Generator], dict[str, float]],
    folder: Path,
    *,
    seed: int,
    minutes: float | None = None,
    resume: bool = False,
    save_every: float = 30.0,
) -> dict[str, Any]:
    """Train both networks until the steps or the minutes are over; return the record. The generator
    of the pair is then the settled average.

    watch(averaged generator): figures for the log, beside each stored picture. Every step draws
    from a generator of its own, so a resumed run goes on as if nothing had happened.

    Raise FileExistsError where the folder holds a run and `resume` is False.
    """
    run, record = RunFolder(folder), start_record()
    if run.state.exists() and not resume:
        raise FileExistsError(f"{folder} holds a run: --resume goes on with it")
    pair.to(memory_format=torch.channels_last).train()  # type: ignore[call-overload]
    optimizers, averaged = make_optimizers(pair, game), copy.deepcopy(pair.generator)
    parts: list[Any] = [pair, averaged, *optimizers]
    if run.state.exists():
        kept = run.read_file(run.state)
        record = kept["record"]
        for part, state in zip(parts, kept["states"], strict=True):
            part.load_state_dict(state)
    noise_shown, classes = draw_noise(pair.config, 2 * max(10, pair.config.classes), 7)
    losses: list[tuple[float, float]] = []
    begin = saved = time.monotonic() - record["seconds"]

    def keep_picture() -> dict[str, float]:
        settled = settle_generator(averaged)
        record["frames"].append(
            torch.from_numpy(to_levels(paint(settled, noise_shown, classes))[:10])
        )
        record["frame_steps"].append(record["step"])
        return watch(settled)

    def save() -> None:
        run.write_file(
            run.state, {"record": record, "states": [part.state_dict() for part in parts]}
        )

    until = math.inf if minutes is None else time.monotonic() + minutes * 60
    if minutes != 0 and not record["frames"]:
        keep_picture()
    while record["step"] < game.steps and time.monotonic() < until:
        step = record["step"] = record["step"] + 1
        levels, kinds = draw(np.random.default_rng((seed, step)), game.batch)
        noise, _ = draw_noise(pair.config, game.batch, seed * 10_000_000 + step)
        kind = torch.as_tensor(kinds)
        losses.append(take_turns(pair, optimizers, to_tensor(levels), kind, noise))
        follow_weights(averaged, pair.generator, min(game.decay, (1 + step) / (10 + step)))
        more = keep_picture() if step % game.picture_every == 0 or step in game.early else {}
        record["seconds"] = time.monotonic() - begin
        if step % game.log_every == 0 or more:
            record["log"].append({"step": step, **_describe(pair, losses), **more})
            losses = []
            print(json.dumps(record["log"][-1]), flush=True)
            if time.monotonic() - saved > save_every:
                saved = time.monotonic()
                save()
    if minutes != 0:
        save()
    pair.generator = settle_generator(averaged)
    return record


def _describe(pair: AdversarialPair, losses: list[tuple[float, float]]) -> dict[str, float]:
    """Return the mean losses and both γ as a line of the log."""
    gammas = [part.block.gamma.item() for part in (pair.discriminator, pair.generator)]
    values = [*np.mean(losses, 0).tolist(), *gammas]
    names = ("loss_d", "loss_g", "gamma_d", "gamma_g")
    return {name: round(value, 4) for name, value in zip(names, values, strict=True)}
