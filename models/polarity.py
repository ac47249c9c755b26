"""Is a film review positive? A network that has read books is fine-tuned on labels (Radford et al., 2018, §3.2); beside it the same network
from scratch, and counting words: the same labels, rates and rule of stopping, whichever network it is.

There the verdict is read from the last layer behind the end, of 117 M parameters. Of a language model of 3 M, left as it is, a linear
readout finds 0.58 there and 0.67 in the means of all layers (8,530 labels, valid): so the means are read here.
"""

from __future__ import annotations

import copy
import json
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from models import checkpoint, folders, training
from models.corpus import CURVE, WAYS, Labelled, polarity
from models.device import has_bfloat16
from models.training import Schedule

Row = NDArray[np.int64]
LABELS = (100, 500, 2000, 8530)
SUBSETS = 5
BATCH = 16  # sentences
WARMUP = 10  # steps
MEAN = 0.9  # what a step keeps of the mean of the parameters so far: the mean is what is measured
RATES = (1e-3, 2e-3, 4e-3)  # where the search for it begins, whatever is trained
SEARCHED = 500  # labels with which rates are compared
LOOK = 500  # sentences, at least, between two looks at those that choose when to stop
LEAST = 4000  # sentences that a training reads at least: its verdicts stay a guess for the first hundreds of steps
CHOSEN, REPORTED = "valid", "test"  # the parts that rates and the end of a training are chosen on, and whose accuracy is told
SOURCE = "Bo Pang and Lillian Lee, sentence polarity dataset v1.0 (ACL 2005), CC BY 4.0"


# ---- counting ----------------------------------------------------------------------------------------------------------------------


def features(text: str) -> set[str]:
    """Its words, and each two of them that stand side by side."""
    words = text.split()
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def counted(labelled: Sequence[Labelled], asked: Sequence[Labelled]) -> float:
    """The share of `asked` that naive Bayes gets right: for each class, how many of its sentences have a word or a pair, one added."""
    counts = [Counter(one for text, label in labelled if label == kind for one in features(text)) for kind in (0, 1)]
    kinds = len(counts[0].keys() | counts[1].keys())
    totals = [sum(one.values()) + kinds for one in counts]
    share = sum(label for _, label in labelled) / len(labelled)
    right = 0
    for text, label in asked:
        odds = np.log(share / (1 - share)) if 0 < share < 1 else 0.0
        known = [one for one in features(text) if one in counts[0] or one in counts[1]]
        odds += sum(np.log((counts[1][one] + 1) / totals[1]) - np.log((counts[0][one] + 1) / totals[0]) for one in known)
        right += int(odds > 0) == label
    return right / len(asked)


# ---- the network that judges -------------------------------------------------------------------------------------------------------


class Judge(nn.Module, ABC):
    """A network with a verdict, whether a sentence is positive: a linear readout of what each layer holds, the mean over positions,
    normed. What is read of a sentence, `states`, each network says itself."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.verdict = nn.Linear((model.config.n_layers + 1) * model.config.d_model, 2)
        nn.init.zeros_(self.verdict.weight)
        nn.init.zeros_(self.verdict.bias)

    @abstractmethod
    def states(self, rows: Sequence[Row]) -> tuple[list[Tensor], Tensor]:
        """(sentence, position, d_model) what each layer holds, what the lowest is given first, and (sentence, position) what counts.

        rows: pieces of each sentence, none of them special; what does not fit is cut off.
        """

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """(sentence, 2) logits of negative and positive. rows: as in `states`."""
        found, counts = self.states(rows)
        inside = counts[:, None, :, None]
        mean = (torch.stack(found, 1) * inside).sum(2) / inside.sum(2)
        return self.verdict(F.layer_norm(mean, mean.shape[-1:]).flatten(1)).float()  # type: ignore[no-any-return]


def judge(kind: type[Judge], known: Any, pretrained: bool, seed: int) -> Judge:
    """A trained network with a verdict to learn; or the same network that has learned nothing, drawn by `seed`."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind((copy.deepcopy(known) if pretrained else type(known)(known.config)).requires_grad_(True))


def right(judge: Judge, rows: Sequence[Row], labels: Sequence[int]) -> Iterator[float]:
    """The share of sentences judged rightly, as it grows batch by batch: the last one is of all."""
    order = np.argsort([len(row) for row in rows], kind="stable")
    found = 0
    for begin in range(0, len(order), 2 * BATCH):
        chosen = order[begin : begin + 2 * BATCH]
        with torch.no_grad(), _precision():
            found += int((judge([rows[i] for i in chosen]).argmax(-1) == torch.tensor([labels[i] for i in chosen])).sum())
        yield found / len(order)


def _precision() -> Any:
    return torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16(torch.device("cpu")))


class Learning:
    """A fine-tuning, batch by batch. `mean`: the judge with the running mean of its parameters."""

    def __init__(self, judge: Judge, rows: Sequence[Row], labels: Sequence[int], rate: float, seed: int) -> None:
        self.judge, self.rows, self.labels, self.seed = judge, rows, labels, seed
        self.schedule = Schedule(peak=rate, warmup=WARMUP, decay=0.0, cooldown=0, steps=1 << 30)
        self.optimizers = training.adam(judge, self.schedule)
        self.averaged = AveragedModel(judge, multi_avg_fn=get_ema_multi_avg_fn(MEAN))  # type: ignore[no-untyped-call]
        self.step = self.seen = 0
        self._todo: list[Row] = []

    @property
    def mean(self) -> Judge:
        """Ready to be asked."""
        return self.averaged.module.eval()  # type: ignore[return-value]

    def _next(self) -> Row:
        if not self._todo:  # an epoch more, sentences of a length side by side
            generator = np.random.default_rng((self.seed, self.seen))
            order = generator.permutation(len(self.rows))
            pools = [order[i : i + 16 * BATCH] for i in range(0, len(order), 16 * BATCH)]
            sorted_ = [pool[np.argsort([len(self.rows[i]) for i in pool], kind="stable")] for pool in pools]
            batches = [pool[i : i + BATCH] for pool in sorted_ for i in range(0, len(pool), BATCH)]
            self._todo = [batches[i] for i in generator.permutation(len(batches))]
        return self._todo.pop()

    def learn(self) -> int:
        """One step; how many of its sentences were judged rightly before it."""
        chosen = self._next()
        truth = torch.tensor([self.labels[i] for i in chosen])
        self.step += 1
        self.seen += len(chosen)
        self.judge.train()
        with torch.enable_grad(), torch.random.fork_rng(devices=[]), _precision():
            torch.manual_seed(self.seed * 100_003 + self.step)  # of dropout
            verdicts = self.judge([self.rows[i] for i in chosen])
            F.cross_entropy(verdicts, truth).backward()  # type: ignore[no-untyped-call]
        training.descend(self.judge, self.optimizers, self.schedule.rate(self.step), self.schedule.clip)
        self.averaged.update_parameters(self.judge)
        return int((verdicts.argmax(-1) == truth).sum())


# ---- the whole curve ---------------------------------------------------------------------------------------------------------------


def subset(labelled: Sequence[Labelled], count: int, number: int) -> list[Labelled]:
    """So many labels, the same ones for the same number of the subset; smaller ones lie within larger ones."""
    return [labelled[i] for i in np.random.default_rng((26, number)).permutation(len(labelled))[:count]]


@dataclass(frozen=True)
class Run:
    """One training of the curve. seen: sentences read when the sentences of `valid` were judged best; what `test` gave is of then."""

    way: str  # of WAYS
    labels: int
    subset: int
    rate: float
    seen: int
    valid: float
    test: float
    seconds: float


@dataclass(frozen=True)
class Subject:
    """Whose curve it is. kind: of its judge; known(): the trained network; encode: (piece,) of each text."""

    slug: str
    kind: type[Judge]
    known: Callable[[], Any]
    encode: Callable[[list[str]], list[Row]]


def trained(subject: Subject, data: Path, way: str, labels: int, number: int, rate: float = 0.0) -> Run:
    """Learn from a subset until every sentence was read twice, and twice as many as at the best look at `valid`; its judge is asked about
    `test`."""
    begin = time.perf_counter()
    splits = {split: polarity(data, split) for split in ("train", CHOSEN, REPORTED)}
    splits["train"] = subset(splits["train"], labels, number)
    if way == WAYS[2]:
        valid, test = (counted(splits["train"], splits[split]) for split in (CHOSEN, REPORTED))
        return Run(way, labels, number, rate, labels, valid, test, round(time.perf_counter() - begin, 1))
    rows = {split: subject.encode([text for text, _ in one]) for split, one in splits.items()}
    truth = {split: [label for _, label in one] for split, one in splits.items()}
    begins = judge(subject.kind, subject.known(), way == WAYS[0], number)
    learning = Learning(begins, rows["train"], truth["train"], rate, number)

    def share(judge: Judge, split: str) -> float:
        *_, last = right(judge, rows[split], truth[split])
        return last

    best, seen, kept = 0.0, 0, copy.deepcopy(learning.mean)
    while learning.seen < max(LEAST, 2 * labels, 2 * seen):
        until = learning.seen + max(LOOK, labels // 4)
        while learning.seen < until:
            learning.learn()
        if (found := share(learning.mean, CHOSEN)) > best:
            best, seen, kept = found, learning.seen, copy.deepcopy(learning.mean)
    return Run(way, labels, number, rate, seen, best, share(kept, REPORTED), round(time.perf_counter() - begin, 1))


def curve(subject: Subject, data: Path, runs: Path) -> Path:
    """Choose a learning rate for each way, judge with every subset, write the figures of all trainings; returns their file. It goes on
    where it was stopped."""
    path, state = folders.lab(subject.slug, checkpoint.ASSETS) / CURVE, runs / subject.slug / "polarity"
    state.mkdir(parents=True, exist_ok=True)

    def tried(way: str, rate: float) -> float:
        return 1 - trained(subject, data, way, SEARCHED, 0, rate).valid

    rates = {way: training.swept(partial(tried, way), RATES, state / f"rates-{way}.json") for way in WAYS[:2]}
    facts = {"source": SOURCE, "chosen_on": CHOSEN, "reported_on": REPORTED, "n": len(polarity(data, REPORTED)), "rates": rates}
    done: list[dict[str, Any]] = []
    for labels, number, way in product(LABELS, range(1, SUBSETS + 1), WAYS):
        one = state / f"{way}-{labels}-{number}.json"
        if not one.is_file():
            rate = training.best_rate(rates[way]) if way in rates else 0.0
            one.write_text(json.dumps(asdict(trained(subject, data, way, labels, number, rate))) + "\n", "utf-8")
            print(one.read_text("utf-8").strip(), flush=True)
        done.append(json.loads(one.read_text("utf-8")))
        path.write_text(json.dumps({**facts, "runs": done}, indent=1) + "\n", "utf-8")
    return path


def figures(slug: str) -> dict[str, Any]:
    """Accuracy for each way and number of labels, mean over the subsets, as `curve` has them so far, which is printed too.

    spread_…: the sample standard deviation, runs_…: of how many subsets.
    """
    path = folders.lab(slug, checkpoint.ASSETS) / CURVE
    runs = json.loads(path.read_text("utf-8"))["runs"] if path.is_file() else []
    found: dict[str, Any] = {"metric": "accuracy", "split": REPORTED, "chosen_on": CHOSEN}
    for labels in LABELS:
        said = []
        for way in WAYS:
            if values := [run["test"] for run in runs if (run["way"], run["labels"]) == (way, labels)]:
                found[f"accuracy_{way}_{labels}"] = round(float(np.mean(values)), 4)
                found[f"spread_{way}_{labels}"] = round(float(np.std(values, ddof=1)), 4) if len(values) > 1 else None
                found[f"runs_{way}_{labels}"] = len(values)
                said.append(f"{way} {np.mean(values):.3f}")
        print(f"{labels:,} labels: {', '.join(said)}")
    return {"slug": slug, "variant": "polarity", **found, "value": found.get(f"accuracy_pretrained_{LABELS[-1]}")}
