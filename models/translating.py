"""Learning to translate sentence pairs, and how well it is done: objective, epochs, held-out loss, BLEU; whatever the network is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest
from torch import Tensor, nn

from models import checkpoint, driver
from models.beam import EXTRA, Hypothesis
from models.captions import read
from models.driver import Asked, Job, Measured, Plan
from models.encoder_decoder import Transformer
from models.layers.loss import smoothed_loss
from models.multi30k import PAD, START, Batch, Pairs, Tokenizer, Translator, cleaned, padded, pairs
from models.searching import Source, beam_search, greedy_search
from models.windows import moved

REPORTED = "test_2016_flickr"  # the split of the figure in README
CHOSEN = "val"  # the split that everything is chosen and accepted on
LENGTHS = ((1, 10), (11, 15), (16, 20), (21, 10**9))  # source pieces of each group of `bleu_by_length`
DATA = "Multi30k, task 1, raw: 29,000 English-German caption pairs (github.com/multi30k/dataset)"
LICENCE = (
    "Multi30k (Elliott et al., 2016) has no licence file; its images are for non-commercial research and education, "
    "and so are these weights."
)


@dataclass(frozen=True)
class Recipe(driver.Recipe):
    """How a network learns to translate."""

    batch: int = 768  # target positions per batch, padding included
    smoothing: float = 0.1  # label smoothing ε


TASK: Mapping[str, Any] = {
    "data": DATA,
    "licence": LICENCE,
    "protocol": "detokenised and cased text",
    "chosen": CHOSEN,
    "reported": REPORTED,
}


class Objective(nn.Module):
    """What training minimises: the smoothed cross-entropy of every real target position."""

    def __init__(self, model: Any, smoothing: float) -> None:
        """model: (source, target, allowed) -> a vector for each piece, teacher-forced; with `embedding` and `readout`."""
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of target pieces (the stop token is one)."""
        hidden = self.model(batch.source, batch.target, batch.source != PAD)
        real = batch.wanted != PAD
        loss = smoothed_loss(hidden[real], self.model.embedding.weight, batch.wanted[real], self.smoothing, never=(PAD, START))
        return loss, real.sum()


def plan(
    job: Job[Any],
    tokenizer: Tokenizer,
    build: Callable[[], nn.Module],
    german: Sequence[str] | None = None,
    objective: Callable[[Any, float], nn.Module] = Objective,
    **more: Any,
) -> Plan[Batch]:
    """How a network learns from the pairs of the training split. build(): it, nothing learned yet; more: see `Plan`.

    german: targets in place of the references. objective: of the network and ε.
    """
    english, references = read(job.data, "train")
    learned, held_out = pairs(tokenizer, english, german or references), pairs(tokenizer, *read(job.data, CHOSEN))
    recipe = job.recipe
    return Plan(
        build,
        lambda model: objective(model, recipe.smoothing),
        lambda model: validation_loss(model, held_out, objective),
        epoch=lambda number, _size: [learned.batch(one) for one in learned.batches(recipe.batch, recipe.schedule.seed, number)],
        **more,
    )


@torch.no_grad()
def validation_loss(model: nn.Module, held_out: Pairs, objective: Callable[[Any, float], nn.Module] = Objective) -> float:
    """The mean of an objective over all target pieces of the held-out pairs, by default −log p; nats, no smoothing, no dropout."""
    measure, device = objective(model, 0.0).eval(), next(model.parameters()).device
    found = [measure(moved(held_out.batch(chosen), device)) for chosen in held_out.batches(8192, seed=0, epoch=0)]
    return sum(float(loss) for loss, _ in found) / sum(int(count) for _, count in found)


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
    """Corpus BLEU of detokenised, cased text by sacreBLEU (Post, 2018), tokenisation 13a; and its signature."""
    metric = BLEU(tokenize="13a")
    return float(metric.corpus_score(list(hypotheses), [list(references)]).score), str(metric.get_signature())


def scored(
    tokenizer: Tokenizer, search: Callable[[], list[Hypothesis]], references: Sequence[str]
) -> tuple[list[Hypothesis], list[str], dict[str, Any]]:
    """What a search finds, as tokens and as texts, and {value, signature, seconds}: its `bleu`, and how long it took."""
    begin = time.perf_counter()
    found = search()
    seconds = time.perf_counter() - begin
    texts = [tokenizer.decode(one.tokens) for one in found]
    value, signature = bleu(texts, references)
    return found, texts, {"value": round(value, 2), "signature": signature, "seconds": round(seconds, 2)}


Found = Callable[[Sequence[str], int, float], list[Hypothesis]]  # sentences, beam, length penalty -> the best translation of each
More = Callable[[list[str], list[str]], dict[str, Any]]  # translations, references -> what else is measured of them


def evaluated(asked: Asked[Any], translate: Found, beam: int, alpha: float, more: More = lambda _texts, _german: {}) -> Measured:
    """Translate a split and measure it: sacreBLEU, by source length too; mean −log p of the reference, nats per piece, unsmoothed; seconds.

    asked: of a `Translator`. Of `val` model.json keeps also below which mean log p per piece a translation is surprising (the 1st
    percentile of the greedy translations).
    """
    english, german = read(asked.data, asked.split)
    tokenizer = asked.shipped.tokenizer
    _, texts, score = scored(tokenizer, lambda: translate(english, beam, alpha), german)
    seconds = score.pop("seconds")
    held_out = pairs(tokenizer, [cleaned(one) for one in english], german)
    loss = validation_loss(asked.shipped.model, held_out)
    figure = {"metric": "sacreBLEU", "split": asked.split, "n": len(english), **score, "beam": beam, "alpha": alpha, "loss": round(loss, 4)}
    figure |= {"bleu_by_length": by_length([len(one) for one in held_out.source], texts, german), **more(texts, german)}

    def facts() -> dict[str, Any]:
        if asked.split != CHOSEN:
            return {"protocol": f"beam {beam}, length penalty {alpha}, {asked.task.protocol}"}
        sure = [one.log_probability / len(one.tokens) for one in translate(english, 1, alpha)]
        return {"surprising_below": round(float(np.percentile(sure, 1)), 4)}

    said = f"{score['value']:.2f} BLEU on the {len(english):,} sentences of {asked.split}, translated in {seconds:.1f} s; "
    return Measured(figure, said + score["signature"], facts=facts, beside={"seconds": seconds}, higher=True)


def translated(
    tokenizer: Tokenizer, sentences: Sequence[str], size: int, search: Callable[[list[list[int]]], list[Hypothesis]]
) -> list[Hypothesis]:
    """What `search` finds for each sentence, tokens each; neighbours in length share a batch of `size`."""
    ids = [row.tolist() for row in tokenizer.encode_all([cleaned(sentence) for sentence in sentences])]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found: dict[int, Hypothesis] = {}
    with torch.no_grad():
        for begin in range(0, len(order), size):
            chosen = order[begin : begin + size]
            found.update(zip(chosen, search([ids[i] for i in chosen]), strict=True))
    return [found[i] for i in range(len(ids))]


def translate(
    shipped: Translator[Transformer], sentences: Sequence[str], beam: int = 4, alpha: float = 0.6, rows: int = 256
) -> list[Hypothesis]:
    """The best translation of each sentence; neighbours in length share a batch of about `rows` hypotheses.

    ValueError where a sentence is longer than the model has positions.
    """
    device = shipped.model.embedding.weight.device
    most = shipped.model.config.max_positions - EXTRA

    def best(ids: list[list[int]]) -> list[Hypothesis]:
        longest = max(map(len, ids))
        if longest > most:
            raise ValueError(f"a sentence of {longest} pieces: at most {most} can be translated")
        tokens = padded(ids).to(device)
        source = Source(tokens, tokens != PAD, tuple(len(one) + EXTRA for one in ids))
        if beam == 1:
            return greedy_search(shipped.model, source)
        return [hypotheses[0] for hypotheses in beam_search(shipped.model, source, beam, [alpha] * len(ids))]

    return translated(shipped.tokenizer, sentences, max(1, rows // beam), best)


def by_length(lengths: Sequence[int], texts: Sequence[str], references: Sequence[str]) -> list[dict[str, Any]]:
    """BLEU of the sentences of each of LENGTHS, {least, most (None: no limit), value, n}; lengths: source pieces of each sentence."""
    groups = []
    for least, most in LENGTHS:
        rows = [i for i, length in enumerate(lengths) if least <= length <= most]
        value, _ = bleu([texts[i] for i in rows], [references[i] for i in rows]) if rows else (0.0, "")
        groups.append({"least": least, "most": most if most < 10**9 else None, "value": round(value, 2), "n": len(rows)})
    return groups


def paired(texts: Sequence[str], others: Mapping[str, Sequence[str]], references: Sequence[str]) -> dict[str, Any]:
    """The paired bootstrap of sacreBLEU (Koehn, 2004; 1,000 draws of as many sentences) against other translations of the same sentences:
    {name: {value, p}}, p the probability of so large a difference by the draw of sentences alone."""
    if not others:
        return {}
    metric = BLEU(tokenize="13a", references=[list(references)])
    systems: list[tuple[str, Sequence[str]]] = [("", texts), *others.items()]
    _, scores = PairedTest(systems, {"BLEU": metric}, None, test_type="bs", n_samples=1000)()
    found: list[Any] = scores["BLEU"][1:]
    return {name: {"value": round(float(one.score), 2), "p": round(float(one.p_value), 4)} for name, one in zip(others, found, strict=True)}


def against(
    asked: Asked[Any], slug: str, variants: Iterable[str], texts: Sequence[str], references: Sequence[str], ending: str = ""
) -> dict[str, Any]:
    """{"paired": `paired` with the recorded translations of the lab's other variants}, on the reported split; `record` keeps these too.

    ending: of the name of the file that holds them; one without it is of a variant that has no such choice.
    """
    if asked.split != REPORTED:
        return {}
    others: dict[str, list[str]] = {}
    for name in variants:
        for file in (f"{REPORTED}.de", f"{REPORTED}{ending}.de"):
            if name != asked.variant and (path := checkpoint.folder(slug, name, asked.seed) / file).is_file():
                others[name] = path.read_text("utf-8").splitlines()
    if asked.record:
        (asked.where / f"{REPORTED}{ending}.de").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return {"paired": paired(texts, others, references)}


OPTIONS: dict[str, dict[str, Any]] = {
    "beam": {"type": int, "default": 4, "help": "hypotheses"},
    "alpha": {"type": float, "default": 0.6, "help": "length penalty"},
}
