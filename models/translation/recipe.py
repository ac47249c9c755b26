"""How the translation model is made and measured."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, field
from functools import partial

from models import driver, translating
from models.driver import Asked, Job, Lab, Measured, Plan
from models.encoder_decoder import Config, Transformer
from models.multi30k import Batch, Tokenizer, read
from models.training import Schedule
from models.translating import CHOSEN, OPTIONS, TASK, evaluated, translate
from models.translation import pretrained

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
class Recipe(translating.Recipe):
    """How the network is trained."""

    schedule: Schedule = field(default_factory=Schedule)
    rate: float | None = field(default=1.6e-3, kw_only=True)  # the largest learning rate
    data: str = "multi30k/train"  # what it learns from
    target: float = 37.0  # sacreBLEU on val that it must reach


@dataclass(frozen=True)
class Task(driver.Task):
    """What the variant learns, and with which network."""

    config: Config = field(default_factory=Config)


VARIANTS = {"base": Task(recipe=Recipe(), published=PUBLISHED, own="pairs", **TASK)}


def plan(job: Job[Task]) -> Plan[Batch]:
    """Pairs of sentences in pieces that are found in them, the same for every resumption of a run."""
    english, german = read(job.data, "train")
    vocabulary = job.run / "tokenizer.json"
    if not vocabulary.is_file():
        Tokenizer.train(itertools.chain(english, german), job.task.config.vocabulary).save(vocabulary)
    tokenizer = Tokenizer.load(vocabulary)
    config = dataclasses.replace(job.task.config, vocabulary=len(tokenizer))
    return translating.plan(job, tokenizer, lambda: Transformer(config), finish=lambda where: tokenizer.save(where / "tokenizer.json"))


def measure(asked: Asked[Task], beam: int, alpha: float) -> Measured:
    """Translate a split and measure it: see `models.translating.evaluated`."""
    found = evaluated(asked, partial(translate, asked.shipped), beam, alpha)
    least = asked.task.recipe.target
    if asked.split == CHOSEN and found.figure["value"] < least:
        return dataclasses.replace(found, said=f"{found.said}; that falls short of the {least:.1f} that the recipe must reach")
    return found


LAB = Lab(SLUG, VARIANTS, pretrained.read, plan, measure, options=OPTIONS, also=CHOSEN)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
