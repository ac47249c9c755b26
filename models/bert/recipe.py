"""How the encoders are made and measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models import driver, polarity, training
from models.bert import counts, minilm, relations
from models.bert.hiding import Row, hide
from models.bert.model import Config, Encoder
from models.bert.pieces import Pieces
from models.bert.polarity import SUBJECT
from models.bert.pretrained import PIECES, SLUG, read
from models.bert.records import SIDES, Array
from models.captions import read as read_captions
from models.characters import books
from models.corpus import corpus, unwrapped
from models.driver import Asked, Job, Lab, Measured, Plan, Task
from models.training import Schedule
from models.windows import NONE, any_windows

ONE_SIDED = 0.2  # share of rows of which one side is blanked up to a drawn position, so that a guess from one side is no surprise
LONGEST = 40  # pieces of a sentence that is a row of its own in training
NEAR = 0.02  # share of all sentences, by length, within which those of a batch lie
ONE_SIDE = 150  # rows of which it is measured what one side alone is worth
FIXED_SEED = 20_181_011  # of the positions that are hidden wherever something is measured


class Batch(NamedTuple):
    """Windows of running text and sentences by themselves: of each what is read, what may be read and what is to be said (NONE: nothing),
    (row, position)."""

    windows: tuple[Tensor, Tensor, Tensor]
    sentences: tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network is trained."""

    windows: int = 24  # of running text, in each batch
    sentences: int = 48  # captions and sentences by themselves, in each batch


MLM = Task(
    config=Config(vocabulary=5000, d_model=128, d_ff=512, n_heads=4, n_layers=4, dropout=0.0, max_positions=64),
    recipe=Recipe(
        Schedule(steps=9000, warmup=300, decay=0.0, cooldown=6000, clip=1.0, average=3, every=20, precision="bf16-mixed"), round=200
    ),
    data="17 books in the public domain, 12.8 million characters, whole books held out (The Man Who Was Thursday, Persuasion);"
    " 29,000 English captions of Multi30k; the sentences of 8,530 film reviews (Pang and Lee, 2005) without their labels",
    licence="public domain: the books. Multi30k: research and teaching. CC BY 4.0: the reviews. Apache-2.0: these weights",
    protocol="15 % of the pieces of Persuasion, and of the captions of test_2016_flickr, hidden behind [MASK], the same ones every time;"
    " the share of them whose likeliest guess is right",
    chosen="valid",
)
MINILM = Task(
    config=Config(30522, d_model=384, d_ff=1536, n_heads=12, n_layers=6, dropout=0.0, max_positions=512, types=2, predicts=False),
    recipe=None,
    data="more than a billion pairs of sentences (its makers' own account), after distilling from a larger encoder",
    licence="Apache-2.0: the weights, of sentence-transformers/all-MiniLM-L6-v2",
    protocol="for each relation of UD English-EWT, the head that most often looks from the dependent at its governor, or the other way, is"
    " chosen on dev and reported on test, beside the most frequent distance; a relation counts from 10 points more on",
    chosen="dev",
)
VARIANTS = {"mlm": MLM, minilm.VARIANT: MINILM}


def blanked(allowed: Row, wanted: Row, generator: np.random.Generator) -> None:
    """Half of ONE_SIDED of the rows lose what stands behind one of their drawn positions, as many what stands before it; in place."""
    sides = generator.random(len(allowed))
    for row in np.flatnonzero(sides < ONE_SIDED):
        places = np.flatnonzero(wanted[row] != NONE)
        if len(places):
            cut = int(generator.choice(places))
            gone = slice(cut + 1, None) if sides[row] < ONE_SIDED / 2 else slice(0, cut)
            allowed[row, gone], wanted[row, gone] = False, NONE


def drawn(model: Encoder, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits in the place of every drawn piece of a batch, (drawn, piece), and which it is, (drawn,)."""
    found = [(model(given, allowed)[wanted != NONE], wanted[wanted != NONE]) for given, allowed, wanted in batch]
    behind, wanted = (torch.cat(both) for both in zip(*found, strict=True))
    return model.logits(behind), wanted


Objective = partial(training.NextSymbol, said=drawn)  # what training minimises: −log p of the pieces that were drawn, and of no other


def cut(text: Row, window: int, pieces: Pieces) -> list[Row]:
    """A text in windows, one behind the other, each between [CLS] and [SEP]; its end, where that is shorter, is left out."""
    size = window - 2
    return [pieces.row(text[begin : begin + size]) for begin in range(0, len(text) - size + 1, size)]


def captions(data: Path, split: str, pieces: Pieces) -> list[Row]:
    """The English captions of a split, each a row."""
    return [pieces.row(one) for one in pieces.encode_all(read_captions(data, split)[0])]


def fixed(rows: Sequence[Row], pieces: Pieces) -> tuple[Row, Row, Row]:
    """Rows as `hide` gives them with fixed masks: the same pieces hidden whoever is asked."""
    return hide(rows, pieces, np.random.default_rng(FIXED_SEED), only_masks=True)


@torch.no_grad()
def guessed(model: Encoder, hidden: tuple[Row, Row, Row], side: str = SIDES[0]) -> tuple[Array, NDArray[np.bool_]]:
    """−log p of every hidden piece, in nats, and whether the likeliest guess is that piece; (hidden,). side: what may be read."""
    nats, right = [], []
    given, allowed, wanted = hidden
    if side != SIDES[0]:  # a row for each hidden piece, of which that one alone is asked
        rows, columns = np.nonzero(wanted != NONE)
        index = np.arange(given.shape[1])
        one_side = index <= columns[:, None] if side == SIDES[1] else index >= columns[:, None]
        given, allowed = given[rows], allowed[rows] & one_side
        wanted = np.where(index == columns[:, None], wanted[rows], NONE)
    device, parts = model.words.weight.device, (given, allowed, wanted)
    for some, may, said in zip(*(torch.from_numpy(part).to(device).split(64) for part in parts), strict=True):  # type: ignore[no-untyped-call]
        logits, truth = model.logits(model(some, may)[said != NONE]).float(), said[said != NONE]
        nats.append(F.cross_entropy(logits, truth, reduction="none"))
        right.append(logits.argmax(-1) == truth)
    return torch.cat(nats).cpu().numpy(), torch.cat(right).cpu().numpy()


def plan(job: Job[Task]) -> Plan[Batch]:
    """Windows of the books beside captions and sentences, hidden anew each time that they are drawn."""
    config, recipe = job.task.config, job.recipe
    learned, described = corpus(job.data), read_captions(job.data, "train")[0]
    pieces = Pieces.train([*learned, *described], config.vocabulary)
    texts = pieces.encode_all(learned)
    sentences = [one for text in learned for one in re.split(r"(?<=[.!?])[\"')]*\s+", text) if one.strip()]
    alone = [pieces.row(one) for one in pieces.encode_all(sentences)]
    groups = [sorted((one for one in group if 5 <= len(one) <= LONGEST), key=len) for group in (captions(job.data, "train", pieces), alone)]
    held_out = [
        cut(pieces.encode_all([unwrapped(book.text) for book in books(job.data, "valid")])[0], config.max_positions, pieces)[:60],
        captions(job.data, "val", pieces)[:200],
    ]

    def draw(generator: np.random.Generator, _done: float) -> Batch:
        rows = [pieces.row(one) for one in any_windows(texts, recipe.windows, config.max_positions - 2, generator)]
        half, at = recipe.sentences // 2, generator.random()  # sentences of about one length, so that little of a batch is padding
        near = np.clip(at + NEAR * generator.uniform(-1, 1, (2, half)), 0, 1)
        few = [group[int(share * (len(group) - 1))] for group, shares in zip(groups, near, strict=True) for share in shares.tolist()]
        parts = []
        for some in (rows, few):
            given, allowed, wanted = hide(some, pieces, generator)
            blanked(allowed, wanted, generator)
            parts.append((torch.from_numpy(given), torch.from_numpy(allowed), torch.from_numpy(wanted)))
        return Batch(*parts)

    def validate(model: Encoder) -> float:
        return float(np.mean([guessed(model, fixed(rows, pieces))[0].mean(dtype=np.float64) for rows in held_out]))

    return Plan(
        lambda: Encoder(config),
        Objective,
        validate,
        training.muon,
        draw,
        finish=lambda where: pieces.save(where / PIECES),
        trial=0.075,  # 15 % of so long a run, for each rate, would take as long as the run
    )


def measure(asked: Asked[Task]) -> Measured:
    """The share of hidden pieces that the likeliest guess names: of the novel that nobody learned from, and of new captions.

    Of the pretrained encoder, whose words nothing hides: which of its heads find what (`models.bert.relations`).
    """
    if asked.variant == minilm.VARIANT:
        return relations.measured(asked)
    model, pieces, few = asked.shipped.model, Pieces.load(asked.where / PIECES), np.random.default_rng(1)
    described, prose = captions(asked.data, "train", pieces), pieces.encode_all(corpus(asked.data))
    novel = pieces.encode_all([unwrapped(book.text) for book in books(asked.data, asked.split)])[0]
    kinds = {
        "novels": (cut(novel, model.config.max_positions, pieces), np.concatenate(prose)),
        "captions": (captions(asked.data, {"test": "test_2016_flickr", "valid": "val"}[asked.split], pieces), np.concatenate(described)),
    }
    figure: dict[str, Any] = {"metric": "hidden pieces of the novel that are guessed", "split": asked.split, "value": 0.0}
    said = []
    for kind, (rows, learned) in kinds.items():
        hidden = fixed(rows, pieces)
        truth = hidden[2][hidden[2] != NONE]
        fewer = fixed([rows[i] for i in few.permutation(len(rows))[:ONE_SIDE]], pieces)
        found = {
            f"masked_accuracy_{kind}": guessed(model, hidden)[1],
            **{f"{side}_only_{kind}": guessed(model, fewer, side)[1] for side in SIDES[1:]},
            f"trigrams_{kind}": counts.guessed(learned, hidden[0], hidden[2], len(pieces)) == truth,
            f"commonest_{kind}": truth == np.bincount(learned).argmax(),
        }
        figure |= {name: round(float(right.mean()), 4) for name, right in found.items()} | {f"n_{kind}": len(truth)}
        said += [f"{name} {figure[name]:.3f}" for name in found]
    figure |= {"value": figure["masked_accuracy_novels"], "n": figure["n_novels"]}
    return Measured(figure, ", ".join(said), higher=True)


LAB = Lab(SLUG, VARIANTS, read, plan, measure, rates=(1.5e-3, 3e-3, 6e-3))
task_of = LAB.task_of


def train(data: Path, runs: Path, variant: str = "", **how: Any) -> Path:
    """As `Lab.train`; of the pretrained encoder, whose package's folder is `data`, its weights put in place; of `polarity`, every training
    of its curve; of `classes`, which word class each form has."""
    if variant == "polarity":
        return polarity.curve(SUBJECT, data, runs)
    if variant == "classes":
        return relations.classes(data)
    return minilm.adopt(data, MINILM) if variant == minilm.VARIANT else LAB.train(data, runs, variant, **how)


def evaluate(data: Path, variant: str = "", **how: Any) -> dict[str, Any]:
    """As `Lab.evaluate`; of `polarity`, the accuracy with each number of labels."""
    return polarity.figures(SLUG) if variant == "polarity" else LAB.evaluate(data, variant, **how)
