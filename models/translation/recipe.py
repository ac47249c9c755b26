"""How the translation model is made and measured."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from models import checkpoint, training
from models.beam import EXTRA, Hypothesis
from models.multi30k import PAD, Batch, Tokenizer, padded, pairs, read
from models.training import Schedule
from models.translating import CHOSEN, DATA, LICENCE, REPORTED, Epoch, Objective, add_options, evaluated, translated, validation_loss
from models.translation.decode import Source, beam_search, greedy_search
from models.translation.model import Config, Transformer
from models.translation.pretrained import Pretrained
from models.translation.pretrained import read as read_checkpoint

__all__ = ["add_options", "evaluate", "train"]

SLUG = "translation"
PUBLISHED = {
    "value": 41.02,
    "metric": "tokenised BLEU, beam 5",
    "source": "Transformer-tiny of Wu et al., 2021 (arXiv 2105.14462), 2.6 million parameters, 8,000 updates",
    "comparable": False,
    "why": {
        "en": "It counts tokens after separate tokenisation; ours is sacreBLEU on cased, detokenised text, which runs lower.",
        "zh": "它按单独分词后的词计算；我们的是对区分大小写、还原分词的文本计算的 sacreBLEU，数值会更低。",
    },
}


@dataclass(frozen=True)
class Recipe:
    """How the network is trained."""

    schedule: Schedule = field(default_factory=Schedule)
    batch: int = 768  # target positions per batch, padding included
    smoothing: float = 0.1  # label smoothing ε
    data: str = "multi30k/train"  # what it learns from
    target: float = 37.0  # sacreBLEU on val that it must reach


def translate(shipped: Pretrained, sentences: Sequence[str], beam: int = 4, alpha: float = 0.6, rows: int = 256) -> list[Hypothesis]:
    """The best translation of each sentence; neighbours in length share a batch of about `rows` hypotheses.

    ValueError where a sentence is longer than the model has positions.
    """
    device = shipped.model.embedding.weight.device
    most = shipped.model.config.max_positions - EXTRA

    def best(ids: list[list[int]]) -> list[Hypothesis]:
        longest = max(map(len, ids))
        if longest > most:
            raise ValueError(f"a sentence of {longest} pieces: at most {most} can be translated")
        tokens = padded(ids).to(device)
        source = Source(tokens, tokens != PAD, tuple(len(one) + EXTRA for one in ids))
        if beam == 1:
            return greedy_search(shipped.model, source)
        return [hypotheses[0] for hypotheses in beam_search(shipped.model, source, beam, [alpha] * len(ids))]

    return translated(shipped.tokenizer, sentences, max(1, rows // beam), best)


def evaluate(
    data: Path,
    variant: str = "base",
    *,
    seed: int = 1,
    split: str = REPORTED,
    device: torch.device,
    beam: int = 4,
    alpha: float = 0.6,
    record: bool = False,
) -> dict[str, Any]:
    """Translate a split and measure it, and with `record` keep what was found: see `models.translating.evaluated`."""
    where = checkpoint.folder(SLUG, variant, seed)
    shipped = read_checkpoint(where, str(device))

    figure = evaluated(where, shipped, partial(translate, shipped), data, split, beam, alpha, record)
    others = [
        {"seed": int(facts["seed"]), "value": facts["figure"]["value"]}
        for facts in (checkpoint.read_facts(path.parent) for path in sorted(where.parent.glob(f"{variant}*/model.json")))
        if facts["seed"] != seed and facts.get("figure", {}).get("split") == split
    ]
    seeds = sorted([{"seed": seed, "value": figure["value"]}, *others], key=lambda one: one["seed"])
    if split == CHOSEN and figure["value"] < Recipe().target:
        print(f"That falls short of the {Recipe().target:.1f} that the recipe must reach.")
    return {"slug": SLUG, "variant": variant, **figure, "device": str(device), "seeds": seeds}


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

    result: training.Trained[Batch] = training.train(
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
        "chosen_on": CHOSEN,
        "config": dataclasses.asdict(config),
        "recipe": dataclasses.asdict(recipe),
        "seed": seed,
        "finished": result.finished,
        "steps": result.steps,
        "training_seconds": round(result.seconds),
        "training_device": result.device,
        "data": DATA,
        "licence": LICENCE,
        "published": PUBLISHED,
    }
    checkpoint.save(where, result.state, facts)
    tokenizer.save(where / "tokenizer.json")
    (where / "training.json").write_text(json.dumps(result.log) + "\n", encoding="utf-8")
    return where
