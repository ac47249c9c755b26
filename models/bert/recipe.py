"""Training and measurement of the encoders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models.bert import counts, minilm, relations
from models.bert.frozen import Readouts
from models.bert.hiding import Row, hide
from models.bert.model import Config, Encoder
from models.bert.pieces import Pieces
from models.bert.polarity import SUBJECT
from models.bert.pretrained import PIECES, SLUG, read
from models.bert.records import SIDES, Array
from models.data.captions import read_captions as read_captions
from models.data.characters import read_books
from models.data.corpus import FROZEN, join_broken_lines, read_corpus
from models.data.windows import NONE, draw_windows
from models.evaluation import polarity
from models.training import driver, loop
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan, Task
from models.training.loop import Schedule

# Share of rows with one side masked up to a drawn position, so that training includes predictions
# from one side.
ONE_SIDED = 0.2
LONGEST = 40  # pieces of a sentence that forms a training row by itself
NEAR = 0.02  # the sentences of a batch lie within this share of all sentences, sorted by length
ONE_SIDE = 150  # rows on which predictions from one side are measured
FIXED_SEED = 20_181_011  # of the positions hidden in measurements


class Batch(NamedTuple):
    """A batch of windows of running text and single sentences: inputs, readable positions, and
    targets (NONE: nothing to predict), (row, position) each."""

    windows: tuple[Tensor, Tensor, Tensor]
    sentences: tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """The settings of training."""

    windows: int = 24  # of running text per batch
    sentences: int = 48  # captions and single sentences per batch


MLM = Task(
    config=Config(
        vocabulary=5000, d_model=128, d_ff=512, n_heads=4, n_layers=4, dropout=0.0, max_positions=64
    ),
    recipe=Recipe(
        Schedule(
            steps=9000,
            warmup=300,
            decay=0.0,
            cooldown=6000,
            clip=1.0,
            average=3,
            every=20,
            precision="bf16-mixed",
        ),
        evaluation_interval=200,
    ),
    data=(
        "17 books in the public domain, 12.8 million characters, whole books held out (The Man Who"
        " Was Thursday, Persuasion); 29,000 English captions of Multi30k; the sentences of 8,530"
        " film reviews (Pang and Lee, 2005) without their labels"
    ),
    licence=(
        "public domain: the books. Multi30k: research and teaching. CC BY 4.0: the reviews."
        " Apache-2.0: these weights"
    ),
    protocol=(
        "15 % of the pieces of Persuasion, and of the captions of test_2016_flickr, hidden behind"
        " [MASK], the same ones every time; the share of them whose likeliest guess is right"
    ),
    chosen="valid",
)
MINILM = Task(
    config=Config(
        30522,
        d_model=384,
        d_ff=1536,
        n_heads=12,
        n_layers=6,
        dropout=0.0,
        max_positions=512,
        types=2,
        predicts=False,
    ),
    recipe=None,
    data=(
        "more than a billion pairs of sentences (its makers' own account), after distilling from a"
        " larger encoder"
    ),
    licence="Apache-2.0: the weights, of sentence-transformers/all-MiniLM-L6-v2",
    protocol=(
        "for each relation of UD English-EWT, the head that most often looks from the dependent at"
        " its governor, or the other way, is chosen on dev and reported on test, beside the most"
        " frequent distance; a relation counts from 10 points more on"
    ),
    chosen="dev",
)
VARIANTS = {"mlm": MLM, minilm.VARIANT: MINILM}


def blank_one_side(allowed: Row, wanted: Row, generator: np.random.Generator) -> None:
    """Mask one side in place: in ONE_SIDED of the rows, half lose the text after a drawn position
    and half the text before it."""
    sides = generator.random(len(allowed))
    for row in np.flatnonzero(sides < ONE_SIDED):
        places = np.flatnonzero(wanted[row] != NONE)
        if len(places):
            cut = int(generator.choice(places))
            gone = slice(cut + 1, None) if sides[row] < ONE_SIDED / 2 else slice(0, cut)
            allowed[row, gone], wanted[row, gone] = False, NONE


def predict_hidden(model: Encoder, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the logits at every drawn piece of a batch, (drawn, piece), and the true pieces,
    (drawn,)."""
    found = [
        (model(given, allowed)[wanted != NONE], wanted[wanted != NONE])
        for given, allowed, wanted in batch
    ]
    behind, wanted = (torch.cat(both) for both in zip(*found, strict=True))
    return model.logits(behind), wanted


# Training minimises −log p of the drawn pieces only.
Objective = partial(loop.NextSymbol, said=predict_hidden)


def cut(text: Row, window: int, pieces: Pieces) -> list[Row]:
    """Cut a text into consecutive windows between [CLS] and [SEP]; a shorter end is left out."""
    size = window - 2
    return [
        pieces.row(text[begin : begin + size]) for begin in range(0, len(text) - size + 1, size)
    ]


def captions(data: Path, split: str, pieces: Pieces) -> list[Row]:
    """Return the English captions of a split, one row each."""
    return [pieces.row(one) for one in pieces.encode_all(read_captions(data, split)[0])]


def fix_masks(rows: Sequence[Row], pieces: Pieces) -> tuple[Row, Row, Row]:
    """Hide pieces of rows with a fixed seed, so that every model predicts the same ones."""
    return hide(rows, pieces, np.random.default_rng(FIXED_SEED), only_masks=True)


@torch.no_grad()
def measure_guesses(
    model: Encoder, hidden: tuple[Row, Row, Row], side: str = SIDES[0]
) -> tuple[Array, NDArray[np.bool_]]:
    """Return −log p of every hidden piece in nats, and whether the likeliest piece is right,
    (hidden,) each.

    side: the readable side.
    """
    nats, right = [], []
    given, allowed, wanted = hidden
    if side != SIDES[0]:  # one row for each hidden piece, which alone is predicted
        rows, columns = np.nonzero(wanted != NONE)
        index = np.arange(given.shape[1])
        one_side = index <= columns[:, None] if side == SIDES[1] else index >= columns[:, None]
        given, allowed = given[rows], allowed[rows] & one_side
        wanted = np.where(index == columns[:, None], wanted[rows], NONE)
    device, parts = model.words.weight.device, (given, allowed, wanted)
    tensors = [torch.from_numpy(part).to(device) for part in parts]
    split = [part.split(64) for part in tensors]  # type: ignore[no-untyped-call]
    for some, may, said in zip(*split, strict=True):
        logits, truth = model.logits(model(some, may)[said != NONE]).float(), said[said != NONE]
        nats.append(F.cross_entropy(logits, truth, reduction="none"))
        right.append(logits.argmax(-1) == truth)
    return torch.cat(nats).cpu().numpy(), torch.cat(right).cpu().numpy()


def plan(job: Job[Task]) -> Plan[Batch]:
    """Plan a training on windows of the books, captions and sentences; pieces are hidden anew at
    every draw."""
    config, recipe = job.task.config, job.recipe
    learned, described = read_corpus(job.data), read_captions(job.data, "train")[0]
    pieces = Pieces.train([*learned, *described], config.vocabulary)
    texts = pieces.encode_all(learned)
    sentences = [
        one for text in learned for one in re.split(r"(?<=[.!?])[\"')]*\s+", text) if one.strip()
    ]
    alone = [pieces.row(one) for one in pieces.encode_all(sentences)]
    groups = [
        sorted((one for one in group if 5 <= len(one) <= LONGEST), key=len)
        for group in (captions(job.data, "train", pieces), alone)
    ]
    held_out = [
        cut(
            pieces.encode_all(
                [join_broken_lines(book.text) for book in read_books(job.data, "valid")]
            )[0],
            config.max_positions,
            pieces,
        )[:60],
        captions(job.data, "val", pieces)[:200],
    ]

    def draw(generator: np.random.Generator, _done: float) -> Batch:
        rows = [
            pieces.row(one)
            for one in draw_windows(texts, recipe.windows, config.max_positions - 2, generator)
        ]
        # Sentences of about the same length keep padding small.
        half, at = recipe.sentences // 2, generator.random()
        near = np.clip(at + NEAR * generator.uniform(-1, 1, (2, half)), 0, 1)
        few = [
            group[int(share * (len(group) - 1))]
            for group, shares in zip(groups, near, strict=True)
            for share in shares.tolist()
        ]
        parts = []
        for some in (rows, few):
            given, allowed, wanted = hide(some, pieces, generator)
            blank_one_side(allowed, wanted, generator)
            parts.append(
                (torch.from_numpy(given), torch.from_numpy(allowed), torch.from_numpy(wanted))
            )
        return Batch(*parts)

    def validate(model: Encoder) -> float:
        return float(
            np.mean(
                [
                    measure_guesses(model, fix_masks(rows, pieces))[0].mean(dtype=np.float64)
                    for rows in held_out
                ]
            )
        )

    return Plan(
        lambda: Encoder(config),
        Objective,
        validate,
        loop.make_muon,
        draw,
        finish=lambda where: pieces.save(where / PIECES),
        trial=0.075,  # for each rate, 15 % of this long run would take as long as the run itself
    )


def measure(asked: FigureRequest[Task]) -> Measurement:
    """Measure the share of hidden pieces that the likeliest prediction names, in a novel outside
    training and in new captions.

    The pretrained encoder predicts nothing; measure which relations its heads find
    (`models.bert.relations`), and as max_difference how far its last layer is from that of
    transformers' class with the same weights.
    """
    if asked.variant == minilm.VARIANT:
        from models.bert.reference import measure_max_difference  # this imports transformers

        measured = relations.measure_heads(asked)
        difference = measure_max_difference(asked.shipped.model, Pieces.load(asked.where / PIECES))
        return replace(measured, beside={"max_difference": difference})
    model, pieces, few = (
        asked.shipped.model,
        Pieces.load(asked.where / PIECES),
        np.random.default_rng(1),
    )
    described, prose = (
        captions(asked.data, "train", pieces),
        pieces.encode_all(read_corpus(asked.data)),
    )
    novel = pieces.encode_all(
        [join_broken_lines(book.text) for book in read_books(asked.data, asked.split)]
    )[0]
    kinds = {
        "novels": (cut(novel, model.config.max_positions, pieces), np.concatenate(prose)),
        "captions": (
            captions(asked.data, {"test": "test_2016_flickr", "valid": "val"}[asked.split], pieces),
            np.concatenate(described),
        ),
    }
    figure: dict[str, Any] = {
        "metric": "hidden pieces of the novel that are guessed",
        "split": asked.split,
        "value": 0.0,
    }
    said = []
    for kind, (rows, learned) in kinds.items():
        hidden = fix_masks(rows, pieces)
        truth = hidden[2][hidden[2] != NONE]
        fewer = fix_masks([rows[i] for i in few.permutation(len(rows))[:ONE_SIDE]], pieces)
        found = {
            f"masked_accuracy_{kind}": measure_guesses(model, hidden)[1],
            **{f"{side}_only_{kind}": measure_guesses(model, fewer, side)[1] for side in SIDES[1:]},
            f"trigrams_{kind}": (
                counts.guess_by_counts(learned, hidden[0], hidden[2], len(pieces)) == truth
            ),
            f"commonest_{kind}": truth == np.bincount(learned).argmax(),
        }
        figure |= {name: round(float(right.mean()), 4) for name, right in found.items()} | {
            f"n_{kind}": len(truth)
        }
        said += [f"{name} {figure[name]:.3f}" for name in found]
    figure |= {"value": figure["masked_accuracy_novels"], "n": figure["n_novels"]}
    return Measurement(figure, ", ".join(said), higher=True)


LAB = LabModels(SLUG, VARIANTS, read, plan, measure, rates=(1.5e-3, 3e-3, 6e-3))
task_of = LAB.task_of


def train(data: Path, runs: Path, variant: str = "", **how: Any) -> Path:
    """Train a variant as `LabModels.train` does.

    For the pretrained encoder, install the weights from its package's folder `data`; for
    `polarity`, run every training of its curve; for `classes`, find the word class of each form.
    """
    if variant == "polarity":
        return polarity.measure_curve(SUBJECT, data, runs, {FROZEN: Readouts(data).train})
    if variant == "classes":
        return relations.classes(data)
    return (
        minilm.adopt(data, MINILM)
        if variant == minilm.VARIANT
        else LAB.train(data, runs, variant, **how)
    )


def evaluate(data: Path, variant: str = "", **how: Any) -> dict[str, Any]:
    """Evaluate a variant as `LabModels.evaluate` does; for `polarity`, return the accuracy with
    each number of labels."""
    return (
        polarity.average_figures(SLUG)
        if variant == "polarity"
        else LAB.evaluate(data, variant, **how)
    )
