"""How the translation model is made and measured."""

from __future__ import annotations

import dataclasses
import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from models import checkpoint, training
from models.layers.loss import smoothed_loss
from models.training import Schedule
from models.translation.data import PAD, START, Batch, Pairs, Tokenizer, pairs, read
from models.translation.model import Config, Transformer

SLUG = "translation"
LICENCE = (
    "Multi30k (Elliott et al., 2016) has no licence file; its images are for non-commercial research and education, "
    "and so are these weights."
)


@dataclass(frozen=True)
class Recipe:
    """How the network is trained."""

    schedule: Schedule = field(default_factory=Schedule)
    batch: int = 3072  # target positions per batch, padding included
    smoothing: float = 0.1  # label smoothing ε
    data: str = "multi30k/train"  # what it learns from
    target: float = 36.0  # sacreBLEU on test_2016_flickr that it must reach


class Objective(nn.Module):
    """What training minimises: the smoothed cross-entropy of every real target position."""

    def __init__(self, model: Transformer, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of target pieces (the stop token is one)."""
        hidden = self.model(batch.source, batch.target, batch.source != PAD)
        real = batch.wanted != PAD
        loss = smoothed_loss(hidden[real], self.model.embedding.weight, batch.wanted[real], self.smoothing, never=(PAD, START))
        return loss, real.sum()


class Epoch:
    """The batches of one epoch, made when asked for."""

    def __init__(self, pairs: Pairs, tokens: int, seed: int, epoch: int) -> None:
        self._pairs = pairs
        self._chosen = pairs.batches(tokens, seed, epoch)

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, index: int) -> Batch:
        return self._pairs.batch(self._chosen[index])


@torch.no_grad()
def log_probabilities(model: Transformer, held_out: Pairs, tokens: int = 8192) -> list[Tensor]:
    """For every pair, the log-probability in nats of each target piece and of the stop token; no smoothing, no dropout."""
    model.eval()
    device = model.embedding.weight.device
    result: dict[int, Tensor] = {}
    for chosen in held_out.batches(tokens, seed=0, epoch=0):
        batch = held_out.batch(chosen).to(device)
        logits = model.readout(model(batch.source, batch.target, batch.source != PAD)).float()
        found = logits.log_softmax(-1).gather(2, batch.wanted[:, :, None])[:, :, 0].cpu()
        for row, index in enumerate(chosen):
            result[int(index)] = found[row, : len(held_out.target[index]) + 1]
    return [result[i] for i in range(len(held_out.source))]


def validation_loss(model: nn.Module, held_out: Pairs) -> float:
    """Mean of −log p over all target pieces of the held-out pairs, nats."""
    assert isinstance(model, Transformer)
    return -float(torch.cat(log_probabilities(model, held_out)).mean())


def train(
    data: Path,
    runs: Path,
    variant: str = "base",
    *,
    seed: int = 1,
    device: torch.device,
    minutes: float | None = None,
    resume: bool = False,
    devices: int = 1,
    recipe: Recipe | None = None,
    config: Config | None = None,
    where: Path | None = None,
) -> Path:
    """Train on `train`, watch `val`, write the assets; returns their folder. `resume` with `minutes` 0 publishes what a run has so far."""
    if variant != "base":
        raise ValueError(f"translation has the variant base, not {variant}")
    recipe = recipe or Recipe()
    recipe = dataclasses.replace(recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed))
    config = config or Config()
    english, german = read(data, "train")
    run = runs / SLUG / variant / str(seed)
    run.mkdir(parents=True, exist_ok=True)
    vocabulary = run / "tokenizer.json"
    if resume and vocabulary.is_file():
        tokenizer = Tokenizer.load(vocabulary)
    else:
        tokenizer = Tokenizer.train(itertools.chain(english, german), config.vocabulary)
        tokenizer.save(vocabulary)
    config = dataclasses.replace(config, vocabulary=len(tokenizer))
    learn, held_out = pairs(tokenizer, english, german), pairs(tokenizer, *read(data, "val"))
    torch.manual_seed(seed)
    objective = Objective(Transformer(config), recipe.smoothing)

    def batches(epoch: int) -> Epoch:
        return Epoch(learn, recipe.batch, seed, epoch)

    result = training.train(
        objective,
        batches,  # type: ignore[arg-type]
        lambda model: validation_loss(model, held_out),
        recipe.schedule,
        run,
        device=device,
        minutes=minutes,
        resume=resume,
        devices=devices,
    )
    where = where or checkpoint.folder(SLUG, variant, seed)
    facts = {
        "slug": SLUG,
        "variant": variant,
        "config": dataclasses.asdict(config),
        "recipe": dataclasses.asdict(recipe),
        "seed": seed,
        "finished": result.finished,
        "steps": result.steps,
        "training_seconds": round(result.seconds),
        "training_device": result.device,
        "licence": LICENCE,
    }
    checkpoint.save(where, result.state, facts)
    tokenizer.save(where / "tokenizer.json")
    (where / "training.json").write_text(json.dumps(result.log) + "\n", encoding="utf-8")
    return where
