"""The sentences of which the translation labs warn, measured on captions, which they learned from,
and on other English sentences."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.checkpoints.checkpoint import CheckpointError
from models.data.captions import read_captions
from models.data.familiarity import NAME, Familiar, count_familiar
from models.training.driver import FigureRequest, Measurement
from models.training.translation import CHOSEN

OPTION = {
    "action": "store_true",
    "default": False,
    "help": "how many captions and other sentences are warned of, not BLEU",
}
OTHERS = "UD English EWT"
OTHER_CHOSEN, OTHER_REPORTED = "dev", "test"  # splits of the other sentences


def read_other_sentences(data: Path, split: str) -> list[str]:
    """Read the sentences of `ud_ewt/SPLIT.conllu.gz` as typed.

    Raise FileNotFoundError if the file is missing.
    """
    with gzip.open(data / "ud_ewt" / f"{split}.conllu.gz", "rt", encoding="utf-8") as file:
        return [
            line.removeprefix("# text = ").strip() for line in file if line.startswith("# text = ")
        ]


def count_training(data: Path) -> Familiar:
    """Return the frequent words of the training captions, with the threshold chosen on those of
    `val`."""
    return count_familiar(read_captions(data, "train")[0], read_captions(data, CHOSEN)[0])


def share_warned(familiar: Familiar, sentences: Sequence[str]) -> float:
    """Return the share of sentences with a warning."""
    return round(sum(familiar.judge(one).is_unfamiliar for one in sentences) / len(sentences), 4)


def measure_warnings(asked: FigureRequest[Any]) -> Measurement:
    """Measure the share of other sentences and of captions with a warning.

    `record` counts the words of training again and writes them beside the vocabulary.
    """
    if asked.record:
        familiar = count_training(asked.data)
        familiar.save(asked.where / NAME)
    elif asked.shipped.familiar is None:
        raise CheckpointError(
            f"no {NAME} in {asked.where.name}: --record counts the words of training"
        )
    else:
        familiar = asked.shipped.familiar

    def measure_split(captions: str, others: str) -> dict[str, Any]:
        sides = read_captions(asked.data, captions)[0], read_other_sentences(asked.data, others)
        caught, alarmed = share_warned(familiar, sides[1]), share_warned(familiar, sides[0])
        return {"value": caught, "captions": alarmed, "n": len(sides[0]) + len(sides[1])}

    chosen = {
        "split": f"{CHOSEN}, and {OTHER_CHOSEN} of {OTHERS}",
        **measure_split(CHOSEN, OTHER_CHOSEN),
    }
    figure = {
        "metric": "share of other sentences that are warned of",
        "split": asked.split,
        "others": f"{OTHER_REPORTED} of {OTHERS}",
        **measure_split(asked.split, OTHER_REPORTED),
        "above": round(familiar.above, 4),
        "chosen_on": chosen,
    }
    said = (
        f"{figure['value']:.1%} of the sentences of {figure['others']} are warned of, and"
        f" {figure['captions']:.1%} of the captions of {asked.split}; where the threshold was"
        f" chosen, {chosen['value']:.1%} and {chosen['captions']:.1%}"
    )
    return Measurement(figure, said, key="warnings", alike=("metric", "split"), higher=True)
