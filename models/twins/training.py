"""The training of several runs in one program: batches, losses, gradients and the optimizer, each
with a slot axis in front."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from models.twins import model
from models.twins.data import draw_sequences
from models.twins.records import DIGITS, FEW, FRAMES, Array, Shape, Techniques

BETAS = (0.9, 0.999)
EPSILON = 1e-8
AVERAGED, EVERY = 10, 10  # snapshots of the weights in an average, and the steps between them
BINS = 10  # of confidence, for calibration


def find_rate(run: Techniques, step: int, steps: int) -> float:
    """Return the learning rate of a step, from 1."""
    rise = min(step / run.warmup, 1.0) if run.warmup else 1.0
    if run.schedule == "noam":
        return run.rate * min(rise, math.sqrt(max(run.warmup, 1) / step))
    return run.rate * rise * ((steps - step + 1) / steps if run.schedule == "linear" else 1.0)


def list_frames(steps: int) -> list[int]:
    """Return the numbers of finished steps at which a run is judged, from 0 to all of them."""
    count = min(steps, FRAMES)
    return sorted({round(at * steps / count) for at in range(count + 1)})


@dataclass(frozen=True)
class Judgement:
    """The held-out figures of all slots, (slot,) each: plain loss in nats a digit, share of digits
    right, share of sequences right, calibration error; and the attention on the first sequence,
    (slot, layer, head, query, key)."""

    loss: Array
    right: Array
    whole: Array
    calibration: Array
    weights: Array


class Slots:
    """Runs of the same shape that are trained side by side."""

    def __init__(
        self, shape: Shape, runs: Sequence[Techniques], seeds: Sequence[int], steps: int
    ) -> None:
        self.shape, self.runs, self.seeds, self.steps = shape, tuple(runs), tuple(seeds), steps
        self.step = 0
        first = [model.draw_parameters(shape, seed) for seed in seeds]
        self.flat = torch.stack(first)
        self.gradient = torch.zeros_like(self.flat)
        self.mean, self.square = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        views = model.split_flat(self.flat, shape)
        self.parameters = {name: view.detach().requires_grad_() for name, view in views.items()}
        self.switches = model.choose_switches(runs)
        self.broke = [0] * len(runs)
        self.snapshots: deque[Tensor] = deque(maxlen=AVERAGED)
        self.rows = max(run.batch for run in runs)
        counted = torch.tensor([run.batch for run in runs])[:, None]
        tokens = torch.arange(self.rows * shape.length)[None] // shape.length
        self._share = (tokens < counted) / (counted * shape.length)
        self._smooth = torch.tensor([run.smoothing for run in runs])[:, None]
        self._adam = torch.tensor([run.optimizer == "adam" for run in runs])[:, None]
        self._clip = torch.tensor([run.clip or math.inf for run in runs])
        generators = {seed: np.random.default_rng((seed, 2)) for seed in seeds}
        size = (FEW, shape.length)
        self._few = {
            seed: generator.integers(0, DIGITS, size) for seed, generator in generators.items()
        }

    def draw_batch(self) -> tuple[Tensor, Tensor]:
        """Return sequences and answers of the next step, (slot, token) each. Those of a slot hang
        on its seed and the step alone."""
        batches: dict[tuple[int, bool], tuple[np.ndarray, np.ndarray]] = {}
        each = []
        for run, seed in zip(self.runs, self.seeds, strict=True):
            if (seed, run.few) not in batches:
                few = self._few[seed] if run.few else None
                batches[seed, run.few] = draw_sequences(
                    self.shape, (seed, 1, self.step + 1), self.rows, few
                )
            each.append(batches[seed, run.few])
        given, answers = (np.stack(part).reshape(len(each), -1) for part in zip(*each, strict=True))
        return torch.from_numpy(given), torch.from_numpy(answers)

    def _draw_masks(self) -> list[Tensor] | None:
        """Return the masks of dropout; they take nothing from the generator of the batches."""
        if not any(run.dropout for run in self.runs):
            return None
        length, width, sums = self.shape.length, self.shape.width, 2 * self.shape.layers
        each = []
        for run, seed in zip(self.runs, self.seeds, strict=True):
            generator = torch.Generator().manual_seed(1_000_003 * (seed + 1) + self.step)
            draws = torch.rand(self.rows, length, sums, width, generator=generator)
            each.append((draws >= run.dropout) / (1 - run.dropout))
        masks = torch.stack(each).flatten(1, 2)
        return [masks[:, :, at] for at in range(sums)]

    def advance(self) -> None:
        """Train every slot for one step. A slot whose loss is no number is broken, and rests."""
        tokens, answers = self.draw_batch()
        switches = replace(self.switches, masks=self._draw_masks())
        logits = model.forward(self.parameters, tokens, self.shape, switches)
        log_p = logits.log_softmax(-1)
        losses = -log_p.gather(-1, answers[..., None])[..., 0]
        if any(run.smoothing for run in self.runs):
            losses = torch.lerp(losses, -log_p.mean(-1), self._smooth)
        total = (losses * self._share).sum(1)
        self.step += 1
        for slot, loss in enumerate(total.tolist()):
            if not math.isfinite(loss) and not self.broke[slot]:
                self.broke[slot] = self.step
        slopes = torch.autograd.grad(total.sum(), [*self.parameters.values()], allow_unused=True)
        views = model.split_flat(self.gradient, self.shape)
        for view, slope in zip(views.values(), slopes, strict=True):
            if slope is not None:  # the last norm has none where all norms stand after the sum
                view.copy_(slope)
        self._update()
        if any(run.average for run in self.runs) and self.step % EVERY == 0:
            self.snapshots.append(self.flat.clone())

    @torch.no_grad()
    def _update(self) -> None:
        g, t = self.gradient, self.step
        if any(self.broke):
            g[torch.tensor(self.broke) > 0] = 0
        if any(run.clip for run in self.runs):
            norm = torch.linalg.vector_norm(g, dim=1)
            g.mul_((self._clip / (norm + 1e-6)).clamp(max=1)[:, None])
        rates = [
            0.0 if broke else find_rate(run, t, self.steps)
            for run, broke in zip(self.runs, self.broke, strict=True)
        ]
        self.mean.lerp_(g, 1 - BETAS[0])
        if t == 1:  # PyTorch's momentum begins with the whole gradient, Adam's with a tenth of it
            self.mean = torch.where(self._adam, self.mean, g)
        self.square.mul_(BETAS[1]).addcmul_(g, g, value=1 - BETAS[1])
        scale = (self.square / (1 - BETAS[1] ** t)).sqrt_().add_(EPSILON)
        scale.mul_(1 - BETAS[0] ** t)
        if any(run.optimizer != "adam" for run in self.runs):
            scale = torch.where(self._adam, scale, 1.0)
        self.flat.addcdiv_(self.mean * -torch.tensor(rates)[:, None], scale)

    def rates(self) -> list[float]:
        """Return the learning rate of each slot at the last step, before the first that of it."""
        return [find_rate(run, max(1, self.step), self.steps) for run in self.runs]

    @torch.no_grad()
    def measure_norms(self) -> Array:
        """Return the norm of the last gradient, (slot, part): embedding, layers, output."""
        parts = [self.gradient[:, part].norm(dim=1) for part in model.list_parts(self.shape)]
        return torch.stack(parts, 1).numpy()

    def averaged_weights(self) -> Tensor:
        """Return the weights that are judged, (slot, parameter): the mean of the last ten snapshots
        where a slot averages."""
        if not self.snapshots:
            return self.flat
        average = torch.tensor([run.average for run in self.runs])[:, None]
        return torch.where(average, torch.stack([*self.snapshots]).mean(0), self.flat)

    @torch.no_grad()
    def judge(self, given: np.ndarray, answers: np.ndarray) -> Judgement:
        """Return the figures on held-out sequences, (row, position) each, without dropout."""
        slots, length = len(self.runs), self.shape.length
        tokens = torch.from_numpy(given.reshape(1, -1)).expand(slots, -1)
        kept: list[Tensor] = []
        parameters = model.split_flat(self.averaged_weights(), self.shape)
        p = model.forward(parameters, tokens, self.shape, self.switches, kept).log_softmax(-1)
        right_answer = torch.from_numpy(answers.reshape(1, -1)).expand(slots, -1)
        loss = -p.gather(-1, right_answer[..., None])[..., 0].mean(1)
        sure, best = p.exp().max(-1)
        right = (best == right_answer).float()
        whole = right.view(slots, -1, length).amin(-1).mean(1)
        return Judgement(
            loss.numpy(),
            right.mean(1).numpy(),
            whole.numpy(),
            measure_calibration(sure, right).numpy(),
            torch.stack([layer[:, 0] for layer in kept], 1).numpy(),
        )


def measure_calibration(sure: Tensor, right: Tensor) -> Tensor:
    """Return the calibration error of each slot: the mean gap between confidence and share right,
    over bins of confidence, by their size. sure, right: (slot, token)."""
    bins = (sure * BINS).long().clamp(0, BINS - 1)
    gaps = torch.zeros(len(sure), BINS).scatter_add_(1, bins, sure - right)
    return gaps.abs().sum(1) / sure.shape[1]
