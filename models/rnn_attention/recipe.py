"""How the recurrent translators are made and measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import torch

from models import translating
from models.beam import EXTRA, Hypothesis
from models.driver import Asked, Job, Lab, Measured, Plan, Task
from models.multi30k import Batch, Tokenizer
from models.rnn_attention import pretrained
from models.rnn_attention.decode import encoded, search
from models.rnn_attention.model import Config, RecurrentTranslator
from models.rnn_attention.pretrained import PIECES, SLUG
from models.rnn_attention.records import VARIANTS as SCORES
from models.training import Schedule
from models.translating import CHOSEN, OPTIONS, TASK, against, evaluated, translated


@dataclass(frozen=True)
class Recipe(translating.Recipe):
    """How a network is trained: every variant alike, but for its learning rate."""

    schedule: Schedule = field(default_factory=lambda: Schedule(steps=2000, warmup=150, decay=0.0, cooldown=1850, average=5, every=40))
    trial: float = 0.3  # share of the run's steps after which learning rates are compared on `val`
    rate: float | None = field(default=2e-3, kw_only=True)  # the largest learning rate; None: the best of a search


# The one that the page opens with in half precision, those beside it in eight bits.
DTYPES = {score: torch.int8 if score != "additive" else torch.float16 for score in SCORES}
VARIANTS = {score: Task(config=Config(score), recipe=Recipe(), dtype=DTYPES[score], **TASK) for score in SCORES}


def plan(job: Job[Task]) -> Plan[Batch]:
    """Pairs of sentences in the pieces of the translation lab."""
    tokenizer = Tokenizer.load(PIECES)
    config = dataclasses.replace(job.task.config, vocabulary=len(tokenizer))
    return translating.plan(job, tokenizer, lambda: RecurrentTranslator(config), trial=job.recipe.trial)


def translate(
    trained: pretrained.Pretrained, sentences: Sequence[str], beam: int = 4, alpha: float = 0.6, rows: int = 256
) -> list[Hypothesis]:
    """The best translation of each sentence; neighbours in length share a batch of about `rows` hypotheses."""

    def best(ids: list[list[int]]) -> list[Hypothesis]:
        limits, alphas = [len(one) + EXTRA for one in ids], [alpha] * len(ids)
        return [found[0] for found in search(trained.model, encoded(trained.model, ids), limits, beam, alphas)]

    return translated(trained.tokenizer, sentences, max(1, rows // beam), best)


def measure(asked: Asked[Task], beam: int, alpha: float) -> Measured:
    """Translate a split and measure it as `models.translating.evaluated` does.

    On the reported split with the paired bootstrap against the other variants whose translations are recorded; `record` keeps these too.
    """

    found = evaluated(asked, partial(translate, asked.shipped), beam, alpha, partial(against, asked, SLUG, VARIANTS))
    beside = [
        f"{name}: {one['value']:.2f}, p = {one['p']:.3f} in a paired bootstrap" for name, one in found.figure.get("paired", {}).items()
    ]
    return dataclasses.replace(found, said="; ".join([found.said, *beside]))


LAB = Lab(SLUG, VARIANTS, pretrained.read, plan, measure, rates=(1e-3, 2e-3, 4e-3), options=OPTIONS, also=CHOSEN)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
