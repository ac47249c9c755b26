"""The judgement whether a film review is positive. A network that has read books is fine-tuned on
labels (Radford et al., 2018, §3.2); beside it stand the same network from scratch, and counting
words: the same labels, rates and rule of stopping for every network.

In the paper the verdict is read from the last layer behind the end, of 117 M parameters. Of a
language model of 3 M, left as it is, a linear readout finds 0.58 there and 0.67 in the means of all
layers (8,530 labels, valid): so the means are read here.
"""

from __future__ import annotations

import copy
import json
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from models.checkpoints import checkpoint, folders
from models.checkpoints.device import has_bfloat16
from models.data.corpus import CURVE, FROZEN, WAYS, Labelled, read_polarity
from models.training import loop
from models.training.loop import Schedule

Row = NDArray[np.int64]
LabelledT = TypeVar("LabelledT")
LABELS = (100, 500, 2000, 8530)
SUBSETS = 5
BATCH = 16  # sentences
WARMUP = 10  # steps
MEAN = 0.9  # share of the running mean of parameters that a step keeps; the mean is measured
RATES = (1e-3, 2e-3, 4e-3)  # where the search for it begins, whatever is trained
SEARCHED = 500  # labels with which rates are compared
LOOK = 500  # sentences, at least, between two evaluations that choose when to stop
# sentences that a training reads at least: its verdicts stay a guess for the first hundreds of
# steps
LEAST = 4000
# the part that rates and the end of a training are chosen on, and the part that is reported on
CHOSEN, REPORTED = "valid", "test"
SOURCE = "Bo Pang and Lillian Lee, sentence polarity dataset v1.0 (ACL 2005), CC BY 4.0"


# ---- counting


def list_features(text: str) -> set[str]:
    """Return the words of a text, and each two of them that stand side by side."""
    words = text.split()
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def measure_naive_bayes(labelled: Sequence[Labelled], asked: Sequence[Labelled]) -> float:
    """Return the share of `asked` that naive Bayes gets right: it counts, for each class, how many
    of its sentences have a word or a pair, one added."""
    counts = [
        Counter(one for text, label in labelled if label == kind for one in list_features(text))
        for kind in (0, 1)
    ]
    kinds = len(counts[0].keys() | counts[1].keys())
    totals = [sum(one.values()) + kinds for one in counts]
    share = sum(label for _, label in labelled) / len(labelled)
    right = 0
    for text, label in asked:
        odds = np.log(share / (1 - share)) if 0 < share < 1 else 0.0
        known = [one for one in list_features(text) if one in counts[0] or one in counts[1]]
        odds += sum(
            np.log((counts[1][one] + 1) / totals[1]) - np.log((counts[0][one] + 1) / totals[0])
            for one in known
        )
        right += int(odds > 0) == label
    return right / len(asked)


# ---- the network that judges


class Judge(nn.Module, ABC):
    """A network with a verdict, whether a sentence is positive: a linear readout of the states of
    each layer, the mean over positions, normed. Each network defines which `list_states` of a
    sentence are read."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.verdict = nn.Linear((model.config.n_layers + 1) * model.config.d_model, 2)
        nn.init.zeros_(self.verdict.weight)
        nn.init.zeros_(self.verdict.bias)

    @abstractmethod
    def list_states(self, rows: Sequence[Row]) -> tuple[list[Tensor], Tensor]:
        """Return the states of each layer, with the input of the lowest one first, (sentence,
        position, d_model), and which positions count, (sentence, position).

        rows: pieces of each sentence, none of them special; pieces that do not fit are cut off.
        """

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits of negative and positive, (sentence, 2). rows: as in `list_states`."""
        found, counts = self.list_states(rows)
        inside = counts[:, None, :, None]
        mean = (torch.stack(found, 1) * inside).sum(2) / inside.sum(2)
        return self.verdict(F.layer_norm(mean, mean.shape[-1:]).flatten(1)).float()  # type: ignore[no-any-return]


def build_judge(kind: type[Judge], known: Any, pretrained: bool, seed: int) -> Judge:
    """Return a trained network with a verdict to learn, or the same network untrained, drawn by
    `seed`."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(
            (copy.deepcopy(known) if pretrained else type(known)(known.config)).requires_grad_(True)
        )


def measure_accuracy(judge: Judge, rows: Sequence[Row], labels: Sequence[int]) -> Iterator[float]:
    """Yield the share of sentences judged rightly, as it grows batch by batch: the last one is of
    all."""
    order = np.argsort([len(row) for row in rows], kind="stable")
    found = 0
    for begin in range(0, len(order), 2 * BATCH):
        chosen = order[begin : begin + 2 * BATCH]
        with torch.no_grad(), _choose_precision():
            found += int(
                (
                    judge([rows[i] for i in chosen]).argmax(-1)
                    == torch.tensor([labels[i] for i in chosen])
                ).sum()
            )
        yield found / len(order)


def _choose_precision() -> Any:
    return torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16(torch.device("cpu")))


class Learning:
    """A fine-tuning, batch by batch. `mean`: the judge with the running mean of its parameters."""

    def __init__(
        self, judge: Judge, rows: Sequence[Row], labels: Sequence[int], rate: float, seed: int
    ) -> None:
        self.judge, self.rows, self.labels, self.seed = judge, rows, labels, seed
        self.schedule = Schedule(peak=rate, warmup=WARMUP, decay=0.0, cooldown=0, steps=1 << 30)
        self.optimizers = loop.make_adam(judge, self.schedule)
        self.averaged = AveragedModel(judge, multi_avg_fn=get_ema_multi_avg_fn(MEAN))  # type: ignore[no-untyped-call]
        self.step = self.seen = 0
        self._todo: list[Row] = []

    @property
    def averaged_judge(self) -> Judge:
        """The judge with the mean parameters, ready for evaluation."""
        return self.averaged.module.eval()  # type: ignore[return-value]

    def _next_batch(self) -> Row:
        if not self._todo:  # an epoch more, sentences of a length side by side
            generator = np.random.default_rng((self.seed, self.seen))
            order = generator.permutation(len(self.rows))
            pools = [order[i : i + 16 * BATCH] for i in range(0, len(order), 16 * BATCH)]
            sorted_ = [
                pool[np.argsort([len(self.rows[i]) for i in pool], kind="stable")] for pool in pools
            ]
            batches = [pool[i : i + BATCH] for pool in sorted_ for i in range(0, len(pool), BATCH)]
            self._todo = [batches[i] for i in generator.permutation(len(batches))]
        return self._todo.pop()

    def take_step(self) -> int:
        """Take one step; return how many of its sentences were judged rightly before it."""
        chosen = self._next_batch()
        truth = torch.tensor([self.labels[i] for i in chosen])
        self.step += 1
        self.seen += len(chosen)
        self.judge.train()
        with torch.enable_grad(), torch.random.fork_rng(devices=[]), _choose_precision():
            torch.manual_seed(self.seed * 100_003 + self.step)  # of dropout
            verdicts = self.judge([self.rows[i] for i in chosen])
            F.cross_entropy(verdicts, truth).backward()  # type: ignore[no-untyped-call]
        loop.take_step(
            self.judge, self.optimizers, self.schedule.rate_at(self.step), self.schedule.clip
        )
        self.averaged.update_parameters(self.judge)
        return int((verdicts.argmax(-1) == truth).sum())


# ---- the whole curve


def choose_subset(labelled: Sequence[LabelledT], count: int, number: int) -> list[LabelledT]:
    """Return so many labels, the same ones for the same number of the subset; smaller subsets lie
    within larger ones."""
    return [
        labelled[i] for i in np.random.default_rng((26, number)).permutation(len(labelled))[:count]
    ]


@dataclass(frozen=True)
class CurveTraining:
    """One training of the curve. seen: sentences read when the sentences of `valid` were judged
    best; the result on `test` is of that moment."""

    way: str  # of WAYS, or FROZEN
    labels: int
    subset: int
    rate: float
    seen: int
    valid: float
    test: float
    seconds: float


@dataclass(frozen=True)
class Subject:
    """The network of a curve. kind: of its judge; known(): the trained network; encode: the pieces
    of each text, (piece,)."""

    slug: str
    kind: type[Judge]
    known: Callable[[], Any]
    encode: Callable[[list[str]], list[Row]]


def train_on_subset(
    subject: Subject, data: Path, way: str, labels: int, number: int, rate: float = 0.0
) -> CurveTraining:
    """Learn from a subset until every sentence was read twice, and twice as many as at the best
    evaluation on `valid`; then evaluate its judge on `test`."""
    begin = time.perf_counter()
    splits = {split: read_polarity(data, split) for split in ("train", CHOSEN, REPORTED)}
    splits["train"] = choose_subset(splits["train"], labels, number)
    if way == WAYS[2]:
        valid, test = (
            measure_naive_bayes(splits["train"], splits[split]) for split in (CHOSEN, REPORTED)
        )
        return CurveTraining(
            way, labels, number, rate, labels, valid, test, round(time.perf_counter() - begin, 1)
        )
    rows = {split: subject.encode([text for text, _ in one]) for split, one in splits.items()}
    truth = {split: [label for _, label in one] for split, one in splits.items()}
    begins = build_judge(subject.kind, subject.known(), way == WAYS[0], number)
    learning = Learning(begins, rows["train"], truth["train"], rate, number)

    def share(judge: Judge, split: str) -> float:
        *_, last = measure_accuracy(judge, rows[split], truth[split])
        return last

    best, seen, kept = 0.0, 0, copy.deepcopy(learning.averaged_judge)
    while learning.seen < max(LEAST, 2 * labels, 2 * seen):
        until = learning.seen + max(LOOK, labels // 4)
        while learning.seen < until:
            learning.take_step()
        if (found := share(learning.averaged_judge, CHOSEN)) > best:
            best, seen, kept = found, learning.seen, copy.deepcopy(learning.averaged_judge)
    return CurveTraining(
        way,
        labels,
        number,
        rate,
        seen,
        best,
        share(kept, REPORTED),
        round(time.perf_counter() - begin, 1),
    )


NOTHING: Mapping[str, Callable[[int, int], CurveTraining]] = {}


def measure_curve(
    subject: Subject,
    data: Path,
    runs: Path,
    beside: Mapping[str, Callable[[int, int], CurveTraining]] = NOTHING,
) -> Path:
    """Choose a learning rate for each way, judge with every subset, write the figures of all
    trainings; return their file. It goes on where it was stopped."""
    path, state = (
        folders.find_lab_folder(subject.slug, checkpoint.ASSETS) / CURVE,
        runs / subject.slug / "polarity",
    )
    state.mkdir(parents=True, exist_ok=True)

    def try_rate(way: str, rate: float) -> float:
        return 1 - train_on_subset(subject, data, way, SEARCHED, 0, rate).valid

    rates = {
        way: loop.sweep_rates(partial(try_rate, way), RATES, state / f"rates-{way}.json")
        for way in WAYS[:2]
    }
    facts = {
        "source": SOURCE,
        "chosen_on": CHOSEN,
        "reported_on": REPORTED,
        "n": len(read_polarity(data, REPORTED)),
        "rates": rates,
    }
    done: list[dict[str, Any]] = []
    for labels, number, way in product(LABELS, range(1, SUBSETS + 1), (*WAYS, *beside)):
        one = state / f"{way}-{labels}-{number}.json"
        if not one.is_file():
            rate = loop.find_best_rate(rates[way]) if way in rates else 0.0
            run = (
                beside[way](labels, number)
                if way in beside
                else train_on_subset(subject, data, way, labels, number, rate)
            )
            one.write_text(json.dumps(asdict(run)) + "\n", "utf-8")
            print(one.read_text("utf-8").strip(), flush=True)
        done.append(json.loads(one.read_text("utf-8")))
        path.write_text(json.dumps({**facts, "runs": done}, indent=1) + "\n", "utf-8")
    return path


def average_figures(slug: str) -> dict[str, Any]:
    """Return the accuracy for each way and number of labels, mean over the subsets, as
    `measure_curve` has them so far, and print it.

    spread_…: the sample standard deviation.
    runs_…: of how many subsets.
    """
    path = folders.find_lab_folder(slug, checkpoint.ASSETS) / CURVE
    runs = json.loads(path.read_text("utf-8"))["runs"] if path.is_file() else []
    found: dict[str, Any] = {"metric": "accuracy", "split": REPORTED, "chosen_on": CHOSEN}
    for labels in LABELS:
        said = []
        for way in (*WAYS, FROZEN):
            if values := [
                run["test"] for run in runs if (run["way"], run["labels"]) == (way, labels)
            ]:
                found[f"accuracy_{way}_{labels}"] = round(float(np.mean(values)), 4)
                found[f"spread_{way}_{labels}"] = (
                    round(float(np.std(values, ddof=1)), 4) if len(values) > 1 else None
                )
                found[f"runs_{way}_{labels}"] = len(values)
                said.append(f"{way} {np.mean(values):.3f}")
        print(f"{labels:,} labels: {', '.join(said)}")
    return {
        "slug": slug,
        "variant": "polarity",
        **found,
        "value": found.get(f"accuracy_pretrained_{LABELS[-1]}"),
    }
