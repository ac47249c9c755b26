"""Training and measurement of the recurrent translators."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from models.data.captions import read_captions
from models.data.multi30k import PAD, Pairs, SentenceBatch, Tokenizer, clean_sentence, encode_pairs
from models.data.windows import move_batch
from models.decoding.beam import EXTRA, Hypothesis
from models.rnn_attention import pretrained
from models.rnn_attention.decode import Decoder, encode_sentences, search
from models.rnn_attention.model import Config, RecurrentTranslator
from models.rnn_attention.pretrained import PIECES, SLUG
from models.rnn_attention.records import NETWORKS
from models.training import translation
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan, Task
from models.training.loop import Schedule
from models.training.translation import (
    CHOSEN,
    OPTIONS,
    TASK,
    compare_with_variants,
    evaluate_translations,
    translate_in_batches,
)


@dataclass(frozen=True)
class Recipe(translation.TranslationRecipe):
    """The settings of training, the same for every variant except the learning rate."""

    schedule: Schedule = field(
        default_factory=lambda: Schedule(
            steps=2000, warmup=150, decay=0.0, cooldown=1850, average=5, every=40
        )
    )
    trial: float = 0.3  # share of the run's steps after which learning rates are compared on `val`
    # the largest learning rate; None: the best of a search
    rate: float | None = field(default=2e-3, kw_only=True)


# The one that the page opens with in half precision, those beside it in eight bits.
DTYPES = {score: torch.int8 if score != "additive" else torch.float16 for score in NETWORKS}
VARIANTS = {
    score: Task(config=Config(score), recipe=Recipe(), dtype=DTYPES[score], **TASK)
    for score in NETWORKS
}


def plan(job: Job[Task]) -> Plan[SentenceBatch]:
    """Plan a training on pairs of sentences in the pieces of the translation lab."""
    tokenizer = Tokenizer.load(PIECES)
    config = dataclasses.replace(job.task.config, vocabulary=len(tokenizer))
    return translation.plan_training(
        job, tokenizer, lambda: RecurrentTranslator(config), trial=job.recipe.trial
    )


def translate(
    trained: pretrained.Pretrained,
    sentences: Sequence[str],
    beam: int = 4,
    alpha: float = 0.6,
    rows: int = 256,
) -> list[Hypothesis]:
    """Return the best translation of each sentence; sentences of similar length share a batch of
    about `rows` hypotheses."""

    def best(ids: list[list[int]]) -> list[Hypothesis]:
        limits, alphas = [len(one) + EXTRA for one in ids], [alpha] * len(ids)
        return [
            found[0]
            for found in search(
                trained.model, encode_sentences(trained.model, ids), limits, beam, alphas
            )
        ]

    return translate_in_batches(trained.tokenizer, sentences, max(1, rows // beam), best)


@torch.no_grad()
def measure_spread(model: RecurrentTranslator, held_out: Pairs) -> dict[str, float]:
    """Return how far apart the scores before an output lie, and how much its largest weight takes.

    Means over all target pieces of teacher-forced pairs: `score_spread`, the largest score of a row
    less the smallest, and `largest_weight`.
    """
    device, rows = model.embedding.weight.device, []
    for chosen in held_out.draw_batches(8192, seed=0, epoch=0):
        batch = move_batch(held_out.make_batch(chosen), device)
        decoder = Decoder(model, model.encode(model.words(batch.source), batch.source != PAD))
        for t in range(batch.target.shape[1]):
            decoder.step(batch.target[:, t])
            scores, real = decoder.steps[t].scores, batch.wanted[:, t] != PAD
            assert scores is not None
            least = scores.masked_fill(scores == -torch.inf, torch.inf).amin(1)
            peak = scores.softmax(1).amax(1)
            rows.append(torch.stack((scores.amax(1) - least, peak), 1)[real])
    spread, largest = torch.cat(rows).double().mean(0).tolist()
    return {"score_spread": round(spread, 2), "largest_weight": round(largest, 3)}


def measure(asked: FigureRequest[Task], beam: int, alpha: float) -> Measurement:
    """Translate a split and measure it as `models.training.translation.evaluate_translations` does.

    With attention, also run `measure_spread` on the split. On the reported split, include the
    paired bootstrap against the other variants with recorded translations; `record` keeps these
    too.
    """

    def more(texts: list[str], german: list[str]) -> dict[str, Any]:
        beside = compare_with_variants(asked, SLUG, VARIANTS, texts, german)
        if asked.variant == "none":
            return beside
        english = [clean_sentence(one) for one in read_captions(asked.data, asked.split)[0]]
        held_out = encode_pairs(asked.shipped.tokenizer, english, german)
        return {**measure_spread(asked.shipped.model, held_out), **beside}

    found = evaluate_translations(asked, partial(translate, asked.shipped), beam, alpha, more)
    beside = [
        f"{name}: {one['value']:.2f}, p = {one['p']:.3f} in a paired bootstrap"
        for name, one in found.figure.get("paired", {}).items()
    ]
    return dataclasses.replace(found, said="; ".join([found.said, *beside]))


LAB = LabModels(
    SLUG,
    VARIANTS,
    pretrained.read,
    plan,
    measure,
    rates=(1e-3, 2e-3, 4e-3),
    options=OPTIONS,
    also=CHOSEN,
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
