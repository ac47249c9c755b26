"""Is a film review positive? A language model that has read books is fine-tuned on labels (Radford et al., 2018, §3.2); beside it the same
network from scratch, and counting words.

A sentence is read with a piece behind its end; a linear readout of the last layer there gives the verdict. What is learned from is
L_verdict + 0.5 · L_language, both means, of sentences and of pieces.
"""

from __future__ import annotations

import copy
import gzip
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from models import checkpoint, folders, training
from models.device import has_bfloat16
from models.errors import reading
from models.language_model.model import LanguageModel
from models.language_model.pieces import END, Labelled, Pieces, polarity
from models.language_model.pretrained import PIECES, SLUG, load
from models.training import Schedule

LANGUAGE = 0.5  # what the language model's own loss counts (Radford et al., 2018, §3.2)
WAYS = ("pretrained", "scratch", "counts")
LABELS = (100, 500, 2000, 8530)
SUBSETS = 5
BATCH = 16  # sentences
WARMUP = 10  # steps
MEAN = 0.9  # what a step keeps of the mean of the parameters so far: the mean is what is measured
RATE = 2e-3  # largest learning rate of a fine-tuning in the page
RATES = (1e-3, 2e-3, 4e-3)  # where the search for it begins, whatever is trained
SEARCHED = 500  # labels with which rates are compared
LOOK = 300  # sentences, at least, between two looks at those that choose when to stop
LEAST = 8000  # sentences that a training reads at least: its verdicts stay a guess for the first hundreds of steps
SENTENCES = "sentences.json.gz"  # labelled ones for the page, beside the models
CURVE = "polarity.json"  # the figures of all trainings, beside the models
EVERY = 100  # sentences between two looks at the held-out ones, in the page
LIVE = {"train": 1000, "test": 200}  # how many of them
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


class Sentences(NamedTuple):
    """pieces: (sentence, position), END in front, END behind and on to the longest; ends: (sentence,) where the first END behind stands;
    labels: (sentence,)."""

    pieces: Tensor
    ends: Tensor
    labels: Tensor

    @classmethod
    def of(cls, rows: Sequence[NDArray[np.int64]], labels: Sequence[int], window: int) -> Sentences:
        """A batch of sentences without their ENDs; what does not fit in a window is cut off."""
        rows = [row[: window - 2] for row in rows]
        pieces = np.full((len(rows), max(map(len, rows)) + 2), END, np.int64)
        for line, row in zip(pieces, rows, strict=True):
            line[1 : len(row) + 1] = row
        ends = torch.tensor([len(row) + 1 for row in rows])
        return cls(torch.from_numpy(pieces), ends, torch.tensor(labels))


class Judge(nn.Module):
    """A language model with a verdict: whether a sentence is positive."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model
        self.verdict = nn.Linear(model.config.d_model, 2)
        nn.init.zeros_(self.verdict.weight)
        nn.init.zeros_(self.verdict.bias)

    def forward(self, batch: Sentences) -> tuple[Tensor, Tensor]:
        """(sentence, 2) logits of negative and positive; (sentence, position, d_model), ready for the readout of the next piece."""
        *_, last = self.model.climb(batch.pieces)
        x = self.model.norm(last)
        return self.verdict(x[torch.arange(len(x)), batch.ends]).float(), x

    def loss(self, batch: Sentences) -> Tensor:
        """What is minimised, in nats."""
        verdicts, x = self(batch)
        inside = torch.arange(x.shape[1] - 1) < batch.ends[:, None]
        language = F.cross_entropy(self.model.readout(x[:, :-1][inside]).float(), batch.pieces[:, 1:][inside])
        return F.cross_entropy(verdicts, batch.labels) + LANGUAGE * language


def judge(pretrained: bool, seed: int) -> Judge:
    """The shipped model of pieces with a verdict to learn; or the same network that has learned nothing, drawn by `seed`."""
    known = load("words").model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Judge((copy.deepcopy(known) if pretrained else LanguageModel(known.config)).requires_grad_(True))


def right(judge: nn.Module, rows: Sequence[NDArray[np.int64]], labels: Sequence[int], window: int) -> Iterator[float]:
    """The share of sentences judged rightly, as it grows batch by batch: the last one is of all."""
    order = np.argsort([len(row) for row in rows], kind="stable")
    found = 0
    for begin in range(0, len(order), 2 * BATCH):
        chosen = order[begin : begin + 2 * BATCH]
        batch = Sentences.of([rows[i] for i in chosen], [labels[i] for i in chosen], window)
        with torch.no_grad(), _precision():
            found += int((judge(batch)[0].argmax(-1) == batch.labels).sum())
        yield found / len(order)


def _precision() -> Any:
    return torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16(torch.device("cpu")))


class Learning:
    """A fine-tuning, batch by batch. `mean`: the judge with the running mean of its parameters."""

    def __init__(self, judge: Judge, rows: Sequence[NDArray[np.int64]], labels: Sequence[int], rate: float, seed: int) -> None:
        self.judge, self.rows, self.labels, self.seed = judge, rows, labels, seed
        self.schedule = Schedule(peak=rate, warmup=WARMUP, decay=0.0, cooldown=0, steps=1 << 30)
        self.optimizers = training.adam(judge, self.schedule)
        self.averaged = AveragedModel(judge, multi_avg_fn=get_ema_multi_avg_fn(MEAN))  # type: ignore[no-untyped-call]
        self.step = self.seen = 0
        self._todo: list[NDArray[np.int64]] = []

    @property
    def mean(self) -> nn.Module:
        """Ready to be asked."""
        return self.averaged.module.eval()

    def _next(self) -> NDArray[np.int64]:
        if not self._todo:  # an epoch more, sentences of a length side by side
            generator = np.random.default_rng((self.seed, self.seen))
            order = generator.permutation(len(self.rows))
            pools = [order[i : i + 16 * BATCH] for i in range(0, len(order), 16 * BATCH)]
            sorted_ = [pool[np.argsort([len(self.rows[i]) for i in pool], kind="stable")] for pool in pools]
            batches = [pool[i : i + BATCH] for pool in sorted_ for i in range(0, len(pool), BATCH)]
            self._todo = [batches[i] for i in generator.permutation(len(batches))]
        return self._todo.pop()

    def learn(self) -> float:
        """One step; its loss in nats."""
        chosen = self._next()
        batch = Sentences.of([self.rows[i] for i in chosen], [self.labels[i] for i in chosen], self.judge.model.config.window)
        self.step += 1
        self.seen += len(chosen)
        self.judge.train()
        with torch.enable_grad(), torch.random.fork_rng(devices=[]), _precision():
            torch.manual_seed(self.seed * 100_003 + self.step)  # of dropout
            loss = self.judge.loss(batch)
            loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.judge.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.schedule.rate(self.step)
            optimizer.step()
            optimizer.zero_grad()
        self.averaged.update_parameters(self.judge)
        return float(loss.detach())


# ---- in the page -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """How far a fine-tuning is. accuracy: of the held-out sentences, None between two looks at them; loss: of the last batch, in nats, not
    a number before the first."""

    seen: int  # sentences read, each as often as it was read
    labels: int
    loss: float
    accuracy: float | None
    seconds: float


@lru_cache(maxsize=1)
def sentences() -> dict[str, list[Labelled]]:
    """The labelled sentences that are shipped for the page: of `train` to learn from, of `test` to measure on. DamagedFile."""
    path = folders.lab(SLUG, checkpoint.ASSETS) / SENTENCES
    with reading(path), gzip.open(path, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return {split: [(text, label) for text, label in found[split]] for split in LIVE}


def finetune(
    labels: int, seed: int, stop: Callable[[], bool] = lambda: False, *, pretrained: bool = True, epochs: int = 20, seconds: float = 60.0
) -> Iterator[Point]:
    """Fine-tune the shipped model of pieces on so many labels, drawn by `seed`: a point after each batch, so that others come in between;
    one with an accuracy at the beginning, after every EVERY sentences and at the end.

    It ends after so many epochs or seconds, as soon as `stop` says so, or when it is closed. pretrained: does it begin with what the
    shipped model knows, or from scratch? ValueError for more labels than are shipped.
    """
    known = sentences()
    if not 2 <= labels <= len(known["train"]):
        raise ValueError(f"{labels} labels: from 2 to {len(known['train'])} there are")
    begin = time.perf_counter()
    pieces = Pieces.load(checkpoint.folder(SLUG, "words") / PIECES)
    chosen = [known["train"][i] for i in np.random.default_rng(seed).permutation(len(known["train"]))[:labels]]
    rows, asked = (pieces.encode_all([text for text, _ in one]) for one in (chosen, known["test"]))
    learning = Learning(judge(pretrained, seed), rows, [label for _, label in chosen], RATE, seed)
    truth, window = [label for _, label in known["test"]], learning.judge.model.config.window
    loss, looked = float("nan"), -EVERY

    def point(accuracy: float | None = None) -> Point:
        return Point(learning.seen, labels, loss, accuracy, round(time.perf_counter() - begin, 3))

    while not stop():
        over = learning.seen >= epochs * labels or time.perf_counter() - begin > seconds
        if over or learning.seen - looked >= EVERY:
            looked, accuracy = learning.seen, None
            for share in right(learning.mean, asked, truth, window):
                yield point()
                if stop():
                    return
                accuracy = share
            yield point(accuracy)
        if over:
            return
        loss = learning.learn()
        yield point()


# ---- the whole curve ---------------------------------------------------------------------------------------------------------------


def subset(labelled: Sequence[Labelled], count: int, number: int) -> list[Labelled]:
    """So many labels, the same ones for the same number of the subset; smaller ones lie within larger ones."""
    return [labelled[i] for i in np.random.default_rng((26, number)).permutation(len(labelled))[:count]]


@dataclass(frozen=True)
class Run:
    """One training of the curve. seen: sentences read when the sentences of `valid` were judged best; what `test` gave is of then."""

    way: str  # pretrained, scratch
    labels: int
    subset: int
    rate: float
    seen: int
    valid: float
    test: float
    seconds: float


def trained(data: Path, way: str, labels: int, number: int, rate: float) -> Run:
    """Learn from a subset until twice as many sentences are read as at the best look at `valid`; its judge is asked about `test`."""
    begin = time.perf_counter()
    pieces = Pieces.load(checkpoint.folder(SLUG, "words") / PIECES)
    splits = {split: polarity(data, split) for split in ("train", "valid", "test")}
    splits["train"] = subset(splits["train"], labels, number)
    rows = {split: pieces.encode_all([text for text, _ in one]) for split, one in splits.items()}
    truth = {split: [label for _, label in one] for split, one in splits.items()}
    learning = Learning(judge(way == "pretrained", number), rows["train"], truth["train"], rate, number)
    window = learning.judge.model.config.window

    def share(judge: nn.Module, split: str) -> float:
        *_, last = right(judge, rows[split], truth[split], window)
        return last

    best, seen, kept = 0.0, 0, copy.deepcopy(learning.mean)
    while learning.seen < max(LEAST, 2 * seen):
        until = learning.seen + max(LOOK, labels)
        while learning.seen < until:
            learning.learn()
        if (found := share(learning.mean, "valid")) > best:
            best, seen, kept = found, learning.seen, copy.deepcopy(learning.mean)
    return Run(way, labels, number, rate, seen, best, share(kept, "test"), round(time.perf_counter() - begin, 1))


def curve(data: Path, runs: Path) -> Path:
    """Choose a learning rate for each way, train on every subset, write the page's sentences and the figures of all trainings; returns
    their file. It goes on where it was stopped."""
    where, state = folders.lab(SLUG, checkpoint.ASSETS), runs / SLUG / "polarity"
    state.mkdir(parents=True, exist_ok=True)
    live = {split: subset(polarity(data, split), count, 0) for split, count in LIVE.items()}
    with gzip.GzipFile(where / SENTENCES, "wb", mtime=0) as file:
        file.write(json.dumps({"source": SOURCE, **live}, ensure_ascii=False).encode())
    rates = {}
    for way in WAYS[:2]:

        def tried(rate: float, way: str = way) -> float:
            return 1 - trained(data, way, SEARCHED, 0, rate).valid

        rates[way] = training.swept(tried, RATES, state / f"rates-{way}.json")
    done: list[dict[str, Any]] = []
    for labels, number in sorted(product(LABELS, range(1, SUBSETS + 1)), key=math.prod):  # the short ones first
        for way, found in rates.items():
            path = state / f"{way}-{labels}-{number}.json"
            if not path.is_file():
                path.write_text(json.dumps(asdict(trained(data, way, labels, number, training.best_rate(found)))) + "\n", "utf-8")
                print(path.read_text("utf-8").strip(), flush=True)
            done.append(json.loads(path.read_text("utf-8")))
            (where / CURVE).write_text(json.dumps({"source": SOURCE, "rates": rates, "runs": done}, indent=1) + "\n", "utf-8")
    return where / CURVE


def figures(data: Path) -> dict[str, Any]:
    """Accuracy on `test` for each number of labels, mean over the subsets: counting, done now; the trained ones as `curve` has them so far.

    spread_…: the sample standard deviation, runs_…: of how many subsets.
    """
    path = folders.lab(SLUG, checkpoint.ASSETS) / CURVE
    runs = json.loads(path.read_text("utf-8"))["runs"] if path.is_file() else []
    labelled, test = polarity(data, "train"), polarity(data, "test")
    found: dict[str, Any] = {"metric": "accuracy", "split": "test", "n": len(test)}
    for labels in LABELS:
        kinds = {way: [run["test"] for run in runs if (run["way"], run["labels"]) == (way, labels)] for way in WAYS[:2]}
        kinds[WAYS[2]] = [counted(subset(labelled, labels, number), test) for number in range(1, SUBSETS + 1)]
        for way, values in kinds.items():
            if values:
                found[f"accuracy_{way}_{labels}"] = round(float(np.mean(values)), 4)
                found[f"spread_{way}_{labels}"] = round(float(np.std(values, ddof=1)), 4) if len(values) > 1 else None
                found[f"runs_{way}_{labels}"] = len(values)
    return {**found, "value": found.get(f"accuracy_pretrained_{LABELS[-1]}")}
