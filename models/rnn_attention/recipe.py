"""How the recurrent translators are made and measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from models import checkpoint
from models.beam import EXTRA, Hypothesis
from models.generated import Plan, learn
from models.multi30k import Batch, Tokenizer, pairs, read
from models.pretrained import store_first
from models.rnn_attention.decode import encoded, search
from models.rnn_attention.explain import explain
from models.rnn_attention.model import Config, RecurrentTranslator
from models.rnn_attention.pretrained import PIECES, SLUG, Pretrained
from models.rnn_attention.pretrained import read as read_checkpoint
from models.rnn_attention.records import EXAMPLES, VARIANTS
from models.training import Schedule
from models.translating import (
    CHOSEN,
    DATA,
    LICENCE,
    REPORTED,
    Epoch,
    Objective,
    add_options,
    evaluated,
    paired,
    translated,
    validation_loss,
)

__all__ = ["add_options", "evaluate", "examples", "train"]

RATES = (1e-3, 2e-3, 4e-3)  # where the search for the largest learning rate begins, for every variant alike


@dataclass(frozen=True)
class Recipe:
    """How a network is trained: every variant alike, but for its learning rate."""

    schedule: Schedule = field(default_factory=lambda: Schedule(steps=2000, warmup=150, decay=0.0, cooldown=1850, average=5, every=40))
    batch: int = 768  # target positions per batch, padding included
    smoothing: float = 0.1  # label smoothing ε
    trial: float = 0.3  # share of the run's steps after which learning rates are compared on `val`
    rate: float | None = 2e-3  # the largest learning rate; None: the best of a search that begins with RATES


def train(
    data: Path,
    runs: Path,
    variant: str = "additive",
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
    """Choose the learning rate on `val`, train on `train`, write the assets; returns their folder.

    `resume` with `minutes` 0 publishes what a run has so far. ValueError for an unknown variant.
    """
    if variant not in VARIANTS:
        raise ValueError(f"{SLUG} has the variants {', '.join(VARIANTS)}, not {variant}")
    recipe = recipe or Recipe()
    recipe = dataclasses.replace(recipe, schedule=dataclasses.replace(recipe.schedule, seed=seed))
    tokenizer = Tokenizer.load(PIECES)
    config = dataclasses.replace(config or Config(), score=variant, vocabulary=len(tokenizer))
    learned, held_out = pairs(tokenizer, *read(data, "train")), pairs(tokenizer, *read(data, CHOSEN))
    batch, smoothing = recipe.batch, recipe.smoothing
    plan: Plan[Batch] = Plan(
        build=lambda: RecurrentTranslator(config),
        objective=lambda model: Objective(model, smoothing),
        validate=lambda model: validation_loss(model, held_out),
        schedule=recipe.schedule,
        rates=RATES,
        rate=recipe.rate,
        epoch=lambda number: Epoch(learned, batch, seed, number),  # type: ignore[arg-type,return-value]
        trial=recipe.trial,
    )
    facts = {"slug": SLUG, "variant": variant, "chosen_on": CHOSEN, "data": DATA, "licence": LICENCE}
    where = where or checkpoint.folder(SLUG, variant, seed)
    return learn(
        plan, runs / SLUG / variant / str(seed), where, facts, recipe, device=device, minutes=minutes, resume=resume, devices=devices
    )


def translate(trained: Pretrained, sentences: Sequence[str], beam: int = 4, alpha: float = 0.6, rows: int = 256) -> list[Hypothesis]:
    """The best translation of each sentence; neighbours in length share a batch of about `rows` hypotheses."""

    def best(ids: list[list[int]]) -> list[Hypothesis]:
        limits, alphas = [len(one) + EXTRA for one in ids], [alpha] * len(ids)
        return [found[0] for found in search(trained.model, encoded(trained.model, ids), limits, beam, alphas)]

    return translated(trained.tokenizer, sentences, max(1, rows // beam), best)


def evaluate(
    data: Path,
    variant: str = "additive",
    *,
    seed: int = 1,
    split: str = REPORTED,
    device: torch.device,
    beam: int = 4,
    alpha: float = 0.6,
    record: bool = False,
) -> dict[str, Any]:
    """Translate a split and measure it as `models.translating.evaluated` does.

    On the reported split with the paired bootstrap against the other variants whose translations are recorded; `record` keeps these too.
    """
    where = checkpoint.folder(SLUG, variant, seed)
    trained = read_checkpoint(where, str(device))

    def more(texts: list[str], german: list[str]) -> dict[str, Any]:
        if split != REPORTED:
            return {}
        kept = {name: checkpoint.folder(SLUG, name, seed) / f"{split}.de" for name in VARIANTS if name != variant}
        others = {name: path.read_text("utf-8").splitlines() for name, path in kept.items() if path.is_file()}
        if record:
            (where / f"{split}.de").write_text("\n".join(texts) + "\n", encoding="utf-8")
        return {"paired": paired(texts, others, german)}

    figure = evaluated(where, trained, partial(translate, trained), data, split, beam, alpha, record, more)
    for name, one in figure.get("paired", {}).items():
        print(f"{name}: {one['value']:.2f}, p = {one['p']:.3f} in a paired bootstrap")
    seeds = [{"seed": seed, "value": figure["value"]}]
    return {"slug": SLUG, "variant": variant, **figure, "device": str(device), "seeds": seeds}


def examples() -> Path:
    """Store the first example's explanation, with the time it took once the model was there; returns the file."""
    return store_first(SLUG, explain, EXAMPLES[0])
