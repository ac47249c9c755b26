"""Training and measurement of the parallel translators."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from models.checkpoints import checkpoint
from models.data.captions import read_captions
from models.data.multi30k import SentenceBatch
from models.networks.encoder import Config
from models.networks.encoder_decoder import Transformer
from models.nonautoregressive import pretrained
from models.nonautoregressive.decode import mask_predict
from models.nonautoregressive.model import AllAtOnce, Objective
from models.nonautoregressive.pretrained import SLUG, Pretrained, teacher
from models.training import driver, translation
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan
from models.training.loop import Schedule
from models.training.translation import CHOSEN, TASK, measure_bleu, translate, translate_in_batches

TIMES = (1, 2, 4, 10)  # passes of a recorded figure
ROWS = 128  # translations of a batch
CHUNK = 1000  # sentences that the teacher translates between two writes to the file


# Every variant is trained in the same way, from the teacher's encoder and embeddings.
HOW: Mapping[str, Any] = {
    "recipe": translation.TranslationRecipe(Schedule(steps=6000, warmup=400, every=100)),
    **TASK,
}


@dataclass(frozen=True, kw_only=True)
class Task(driver.Task):
    """A variant's task.

    kind: "nat", everything masked; "cmlm", some pieces masked; "ar", one piece after the other.
    distilled: train on the teacher's translations instead of the references (Kim and Rush, 2016).
    """

    kind: str
    distilled: bool = True
    config: Config = field(default_factory=Config)


VARIANTS = {
    "cmlm_distilled": Task(kind="cmlm", **HOW),
    "cmlm_raw": Task(kind="cmlm", distilled=False, dtype=torch.int8, **HOW),
    "nat_distilled": Task(kind="nat", dtype=torch.int8, **HOW),
    "ar_distilled": Task(kind="ar", dtype=torch.int8, **HOW),
}


def translate_by_teacher(shipped: Pretrained, english: Sequence[str], path: Path) -> list[str]:
    """Return the teacher's translation of each sentence by beam search, stored in a file from which
    a stopped run continues."""
    found = path.read_text("utf-8").split("\n")[:-1] if path.is_file() else []
    while len(found) < len(english):
        chunk = english[len(found) : len(found) + CHUNK]
        found += [shipped.tokenizer.decode(one.tokens) for one in translate(shipped, chunk)]
        checkpoint.write_text(path, "".join(f"{line}\n" for line in found))
        print(f"distilled: {len(found):,} of {len(english):,} sentences", flush=True)
    return found


def plan(job: Job[Task]) -> Plan[SentenceBatch]:
    """Plan a training on pairs of sentences in the teacher's pieces; its translations are stored in
    a file beside the runs of all variants."""
    shipped, task = teacher(), job.task
    english, references = read_captions(job.data, "train")
    german = None
    if task.distilled:  # if the search stopped before the first piece, keep the reference
        found = translate_by_teacher(shipped, english, job.run.parents[1] / "distilled.de")
        german = [ours or given for ours, given in zip(found, references, strict=True)]
    config = replace(task.config, vocabulary=len(shipped.tokenizer))

    def build() -> nn.Module:
        model = (Transformer if task.kind == "ar" else AllAtOnce)(config)
        known = shipped.model.state_dict()
        model.load_state_dict(
            {name: t for name, t in known.items() if name.startswith(("encoder.", "embedding."))},
            strict=False,
        )
        return model

    def finish(where: Path) -> None:
        """Record how well the teacher knows its training sentences, beside its score on held-out
        ones."""
        if german is not None:
            known = {
                "train": round(measure_bleu(german, references)[0], 2),
                CHOSEN: shipped.facts["validation"]["value"],
            }
            checkpoint.write_facts(where, checkpoint.read_facts(where) | {"teacher_bleu": known})

    objective = (
        translation.Objective
        if task.kind == "ar"
        else functools.partial(Objective, one_pass=task.kind == "nat")
    )
    return translation.plan_training(
        job, shipped.tokenizer, build, german, objective, finish=finish
    )


def measure(
    asked: FigureRequest[Task], times: int, lengths: int, beam: int, alpha: float
) -> Measurement:
    """Translate a split in `times` passes, in this many of the likeliest lengths, and measure it.

    An autoregressive variant is measured as `evaluate_translations` does. Measured are sacreBLEU;
    the share of translations as long as the reference, in pieces, and at most one away from it; the
    share of pieces that repeat the one before; and on the reported split the paired bootstrap
    against other variants with as many passes and lengths. When recorded, also for each number of
    TIMES in the likeliest length alone, as the page translates.
    """
    if asked.task.kind == "ar":
        more = functools.partial(translation.compare_with_variants, asked, SLUG, VARIANTS)
        return translation.evaluate_translations(
            asked, functools.partial(translate, asked.shipped), beam, alpha, more
        )
    english, german = read_captions(asked.data, asked.split)
    tokenizer, model = asked.shipped.tokenizer, asked.shipped.model
    wanted = np.array([len(row) for row in tokenizer.encode_all(german)])

    def measure_passes(times: int, lengths: int = 1) -> tuple[dict[str, Any], list[str]]:
        search = functools.partial(
            translate_in_batches,
            tokenizer,
            english,
            ROWS,
            lambda ids: mask_predict(model, ids, times, lengths),
        )
        found, texts, score = translation.score_search(tokenizer, search, german)
        off = np.abs(np.array([len(one.tokens) for one in found]) - wanted)
        doubled = sum(a == b for one in found for a, b in itertools.pairwise(one.tokens))
        figure = {
            "length_exact": round(float((off == 0).mean()), 4),
            "length_within_1": round(float((off <= 1).mean()), 4),
        }
        figure |= {
            "times": times,
            "lengths": lengths,
            "repeat_rate": round(doubled / sum(len(one.tokens) for one in found), 4),
        }
        return score | figure, texts

    best, texts = measure_passes(times, lengths)
    figure = {"metric": "sacreBLEU", "split": asked.split, "n": len(english), **best}
    figure |= translation.compare_with_variants(
        asked, SLUG, VARIANTS, texts, german, f"-{times}x{lengths}"
    )
    if asked.record:
        figure["by_times"] = [measure_passes(t)[0] for t in TIMES]
    said = (
        f"{figure['value']:.2f} BLEU in {times} passes, best of {lengths} lengths, on the"
        f" {len(english):,} sentences of {asked.split}"
    )
    said += (
        f"; length right {figure['length_exact']:.1%}, repeated pieces {figure['repeat_rate']:.1%};"
        f" {figure['signature']}"
    )
    return Measurement(figure, said, alike=("split", "times", "lengths"), higher=True)


OPTIONS = translation.OPTIONS | {
    "times": {"type": int, "default": 10, "help": "passes over a translation"},
    "lengths": {
        "type": int,
        "default": 3,
        "help": "likeliest lengths that a translation is tried in",
    },
    "beam": {"type": int, "default": 1, "help": "hypotheses, of ar_distilled"},
}
LAB = LabModels(
    SLUG,
    VARIANTS,
    pretrained.read,
    plan,
    measure,
    rates=(8e-4, 1.6e-3, 3.2e-3),
    options=OPTIONS,
    also=CHOSEN,
)
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
