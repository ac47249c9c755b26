"""How the translation model is made and measured."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor, nn

from models import checkpoint, training
from models.layers.loss import smoothed_loss
from models.training import Schedule
from models.translation.data import PAD, START, Batch, Pairs, Tokenizer, cleaned, padded, pairs, read
from models.translation.decode import EXTRA, Hypothesis, Source, beam_search, greedy_search
from models.translation.model import Config, Transformer
from models.translation.pretrained import Pretrained
from models.translation.pretrained import read as read_checkpoint

SLUG = "translation"
REPORTED = "test_2016_flickr"  # the split of the figure in README
CHOSEN = "val"  # the split that everything is chosen and accepted on
LICENCE = (
    "Multi30k (Elliott et al., 2016) has no licence file; its images are for non-commercial research and education, "
    "and so are these weights."
)
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


def translate(shipped: Pretrained, sentences: Sequence[str], beam: int = 4, alpha: float = 0.6, rows: int = 256) -> list[Hypothesis]:
    """The best translation of each sentence; neighbours in length share a batch of about `rows` hypotheses.

    ValueError where a sentence is longer than the model has positions.
    """
    device = shipped.model.embedding.weight.device
    encoded = shipped.tokenizer.encode_all([cleaned(sentence) for sentence in sentences])
    longest = max((len(ids) for ids in encoded), default=0)
    if longest + EXTRA > shipped.model.config.max_positions:
        raise ValueError(f"a sentence of {longest} pieces: at most {shipped.model.config.max_positions - EXTRA} can be translated")
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    found: dict[int, Hypothesis] = {}
    size = max(1, rows // beam)
    with torch.no_grad():
        for begin in range(0, len(order), size):
            chosen = order[begin : begin + size]
            tokens = padded([encoded[i] for i in chosen]).to(device)
            source = Source(tokens, tokens != PAD, tuple(len(encoded[i]) + EXTRA for i in chosen))
            if beam == 1:
                best = greedy_search(shipped.model, source)
            else:
                best = [hypotheses[0] for hypotheses in beam_search(shipped.model, source, beam, [alpha] * len(chosen))]
            found.update(zip(chosen, best, strict=True))
    return [found[i] for i in range(len(sentences))]


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
    """Corpus BLEU of detokenised, cased text by sacreBLEU (Post, 2018), tokenisation 13a; and its signature."""
    metric = BLEU(tokenize="13a")
    return float(metric.corpus_score(list(hypotheses), [list(references)]).score), str(metric.get_signature())


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
    """Translate a split and measure it: sacreBLEU, and the mean −log p of the reference in nats per piece, unsmoothed.

    `record` writes into model.json: for the reported split its figure, for `val` also below which mean log p per piece a translation
    is surprising (the 1st percentile of the greedy translations).
    """
    where = checkpoint.folder(SLUG, variant, seed)
    shipped = read_checkpoint(where, str(device))
    english, german = read(data, split)
    begin = time.perf_counter()
    found = translate(shipped, english, beam, alpha)
    seconds = time.perf_counter() - begin
    value, signature = bleu([shipped.tokenizer.decode(h.tokens) for h in found], german)
    loss = validation_loss(shipped.model, pairs(shipped.tokenizer, [cleaned(one) for one in english], german))
    figure = {"metric": "sacreBLEU", "split": split, "value": round(value, 2), "n": len(english), "signature": signature}
    figure |= {"beam": beam, "alpha": alpha, "loss": round(loss, 4)}
    if record:
        facts = checkpoint.read_facts(where)
        if split == REPORTED:
            facts = checkpoint.with_figure(facts, figure, f"beam {beam}, length penalty {alpha}, detokenised and cased text")
        elif split == "val":
            facts["validation"] = figure
            sure = [h.log_probability / len(h.tokens) for h in translate(shipped, english, beam=1)]
            facts["surprising_below"] = round(float(np.percentile(sure, 1)), 4)
        else:
            raise ValueError(f"model.json keeps the figures of {REPORTED} and val, not of {split}")
        checkpoint.write_facts(where, facts)
    others = [
        {"seed": int(facts["seed"]), "value": facts["figure"]["value"]}
        for facts in (checkpoint.read_facts(path.parent) for path in sorted(where.parent.glob(f"{variant}*/model.json")))
        if facts["seed"] != seed and facts.get("figure", {}).get("split") == split
    ]
    seeds = sorted([{"seed": seed, "value": figure["value"]}, *others], key=lambda one: one["seed"])
    print(f"{value:.2f} BLEU on the {len(english):,} sentences of {split} in {seconds:.1f} s; {signature}")
    if split == CHOSEN and value < Recipe().target:
        print(f"That falls short of the {Recipe().target:.1f} that the recipe must reach.")
    return {"slug": SLUG, "variant": variant, **figure, "seconds": round(seconds, 2), "device": str(device), "seeds": seeds}


def add_options(command: argparse.ArgumentParser) -> None:
    """What `evaluate` can be asked beside what every lab knows."""
    command.add_argument("--beam", type=int, default=4, help="hypotheses")
    command.add_argument("--alpha", type=float, default=0.6, help="length penalty")


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
        "data": "Multi30k, task 1, raw: 29,000 English-German caption pairs (github.com/multi30k/dataset)",
        "licence": LICENCE,
        "published": PUBLISHED,
    }
    checkpoint.save(where, result.state, facts)
    tokenizer.save(where / "tokenizer.json")
    (where / "training.json").write_text(json.dumps(result.log) + "\n", encoding="utf-8")
    return where
