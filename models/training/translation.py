"""Training and evaluation of any network that translates sentence pairs: objective, epochs,
held-out loss, BLEU."""

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

from models.checkpoints import checkpoint
from models.data.captions import read_captions
from models.data.multi30k import (
    PAD,
    START,
    Pairs,
    SentenceBatch,
    Tokenizer,
    Translator,
    clean_sentence,
    encode_pairs,
    pad_rows,
)
from models.data.windows import move_batch
from models.decoding.beam import EXTRA, Hypothesis
from models.decoding.translation_search import Source, beam_search, greedy_search
from models.layers.loss import smoothed_cross_entropy
from models.networks.encoder_decoder import Transformer
from models.training import driver
from models.training.driver import FigureRequest, Job, Measurement, Plan

REPORTED = "test_2016_flickr"  # the split of the figure in README
CHOSEN = "val"  # the split that everything is chosen and accepted on
# source pieces of each group of `bleu_by_length`
LENGTHS = ((1, 10), (11, 15), (16, 20), (21, 10**9))
DATA = "Multi30k, task 1, raw: 29,000 English-German caption pairs (github.com/multi30k/dataset)"
LICENCE = (
    "Multi30k (Elliott et al., 2016) has no licence file; its images are for non-commercial"
    " research and education, and so are these weights."
)


@dataclass(frozen=True)
class TranslationRecipe(driver.Recipe):
    """The training of a network that translates."""

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
    """The loss that training minimises: the smoothed cross-entropy of every real target
    position."""

    def __init__(self, model: Any, smoothing: float) -> None:
        """Build the loss. model: (source, target, allowed) -> a vector for each piece,
        teacher-forced; with `embedding` and `readout`."""
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, batch: SentenceBatch) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats and the number of target pieces (the stop token is
        one)."""
        hidden = self.model(batch.source, batch.target, batch.source != PAD)
        real = batch.wanted != PAD
        loss = smoothed_cross_entropy(
            hidden[real],
            self.model.embedding.weight,
            batch.wanted[real],
            self.smoothing,
            never=(PAD, START),
        )
        return loss, real.sum()


def plan_training(
    job: Job[Any],
    tokenizer: Tokenizer,
    build: Callable[[], nn.Module],
    german: Sequence[str] | None = None,
    objective: Callable[[Any, float], nn.Module] = Objective,
    **more: Any,
) -> Plan[SentenceBatch]:
    """Return the plan by which a network learns from the pairs of the training split. build(): the
    untrained network; more: see `Plan`.

    german: targets in place of the references.
    objective: of the network and ε.
    """
    english, references = read_captions(job.data, "train")
    learned, held_out = (
        encode_pairs(tokenizer, english, german or references),
        encode_pairs(tokenizer, *read_captions(job.data, CHOSEN)),
    )
    recipe = job.recipe
    return Plan(
        build,
        lambda model: objective(model, recipe.smoothing),
        lambda model: measure_validation_loss(model, held_out, objective),
        epoch=lambda number, _size: [
            learned.make_batch(one)
            for one in learned.draw_batches(recipe.batch, recipe.schedule.seed, number)
        ],
        **more,
    )


@torch.no_grad()
def measure_validation_loss(
    model: nn.Module, held_out: Pairs, objective: Callable[[Any, float], nn.Module] = Objective
) -> float:
    """Measure the mean of an objective over all target pieces of the held-out pairs, by default
    −log p; nats, no smoothing, no dropout."""
    measure, device = objective(model, 0.0).eval(), next(model.parameters()).device
    found = [
        measure(move_batch(held_out.make_batch(chosen), device))
        for chosen in held_out.draw_batches(8192, seed=0, epoch=0)
    ]
    return sum(float(loss) for loss, _ in found) / sum(int(count) for _, count in found)


def measure_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
    """Measure corpus BLEU of detokenised, cased text by sacreBLEU (Post, 2018), tokenisation 13a.
    Return it and its signature."""
    metric = BLEU(tokenize="13a")
    return float(metric.corpus_score(list(hypotheses), [list(references)]).score), str(
        metric.get_signature()
    )


def score_search(
    tokenizer: Tokenizer, search: Callable[[], list[Hypothesis]], references: Sequence[str]
) -> tuple[list[Hypothesis], list[str], dict[str, Any]]:
    """Return the result of a search, as tokens and as texts, and {value, signature, seconds}: its
    BLEU, and how long it took."""
    begin = time.perf_counter()
    found = search()
    seconds = time.perf_counter() - begin
    texts = [tokenizer.decode(one.tokens) for one in found]
    value, signature = measure_bleu(texts, references)
    return (
        found,
        texts,
        {"value": round(value, 2), "signature": signature, "seconds": round(seconds, 2)},
    )


# sentences, beam, length penalty -> the best translation of each
Found = Callable[[Sequence[str], int, float], list[Hypothesis]]
# translations, references -> further measurements of them
More = Callable[[list[str], list[str]], dict[str, Any]]


def evaluate_translations(
    asked: FigureRequest[Any],
    translate: Found,
    beam: int,
    alpha: float,
    more: More = lambda _texts, _german: {},
) -> Measurement:
    """Translate a split and measure it: sacreBLEU, by source length too; mean −log p of the
    reference, nats per piece, unsmoothed; seconds.

    asked: of a `Translator`. For `val` model.json also keeps the bound of mean log p per piece
        below which a translation is surprising (the 1st percentile of the greedy translations).
    """
    english, german = read_captions(asked.data, asked.split)
    tokenizer = asked.shipped.tokenizer
    _, texts, score = score_search(tokenizer, lambda: translate(english, beam, alpha), german)
    seconds = score.pop("seconds")
    held_out = encode_pairs(tokenizer, [clean_sentence(one) for one in english], german)
    loss = measure_validation_loss(asked.shipped.model, held_out)
    figure = {
        "metric": "sacreBLEU",
        "split": asked.split,
        "n": len(english),
        **score,
        "beam": beam,
        "alpha": alpha,
        "loss": round(loss, 4),
    }
    figure |= {
        "bleu_by_length": measure_bleu_by_length(
            [len(one) for one in held_out.source], texts, german
        ),
        **more(texts, german),
    }

    def facts() -> dict[str, Any]:
        if asked.split != CHOSEN:
            return {"protocol": f"beam {beam}, length penalty {alpha}, {asked.task.protocol}"}
        sure = [one.log_probability / len(one.tokens) for one in translate(english, 1, alpha)]
        return {"surprising_below": round(float(np.percentile(sure, 1)), 4)}

    said = (
        f"{score['value']:.2f} BLEU on the {len(english):,} sentences of {asked.split}, translated"
        f" in {seconds:.1f} s; "
    )
    return Measurement(
        figure, said + score["signature"], facts=facts, beside={"seconds": seconds}, higher=True
    )


def translate_in_batches(
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    size: int,
    search: Callable[[list[list[int]]], list[Hypothesis]],
) -> list[Hypothesis]:
    """Return the result of `search` for each sentence, tokens each; neighbours in length share a
    batch of `size`."""
    ids = [
        row.tolist()
        for row in tokenizer.encode_all([clean_sentence(sentence) for sentence in sentences])
    ]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found: dict[int, Hypothesis] = {}
    with torch.no_grad():
        for begin in range(0, len(order), size):
            chosen = order[begin : begin + size]
            found.update(zip(chosen, search([ids[i] for i in chosen]), strict=True))
    return [found[i] for i in range(len(ids))]


def translate(
    shipped: Translator[Transformer],
    sentences: Sequence[str],
    beam: int = 4,
    alpha: float = 0.6,
    rows: int = 256,
) -> list[Hypothesis]:
    """Return the best translation of each sentence; neighbours in length share a batch of about
    `rows` hypotheses.

    Raise ValueError where a sentence is longer than the model has positions.
    """
    device = shipped.model.embedding.weight.device
    most = shipped.model.config.max_positions - EXTRA

    def best(ids: list[list[int]]) -> list[Hypothesis]:
        longest = max(map(len, ids))
        if longest > most:
            raise ValueError(f"a sentence of {longest} pieces: at most {most} can be translated")
        tokens = pad_rows(ids).to(device)
        source = Source(tokens, tokens != PAD, tuple(len(one) + EXTRA for one in ids))
        if beam == 1:
            return greedy_search(shipped.model, source)
        return [
            hypotheses[0]
            for hypotheses in beam_search(shipped.model, source, beam, [alpha] * len(ids))
        ]

    return translate_in_batches(shipped.tokenizer, sentences, max(1, rows // beam), best)


def measure_bleu_by_length(
    lengths: Sequence[int], texts: Sequence[str], references: Sequence[str]
) -> list[dict[str, Any]]:
    """Measure BLEU of the sentences of each of LENGTHS, {least, most (None: no limit), value, n}.
    lengths: source pieces of each sentence."""
    groups = []
    for least, most in LENGTHS:
        rows = [i for i, length in enumerate(lengths) if least <= length <= most]
        value, _ = (
            measure_bleu([texts[i] for i in rows], [references[i] for i in rows])
            if rows
            else (0.0, "")
        )
        groups.append(
            {
                "least": least,
                "most": most if most < 10**9 else None,
                "value": round(value, 2),
                "n": len(rows),
            }
        )
    return groups


def compare_by_bootstrap(
    texts: Sequence[str], others: Mapping[str, Sequence[str]], references: Sequence[str]
) -> dict[str, Any]:
    """Return the paired bootstrap of sacreBLEU (Koehn, 2004; 1,000 draws of as many sentences)
    against other translations of the same sentences: {name: {value, p}}, p the probability of so
    large a difference by the draw of sentences alone."""
    if not others:
        return {}
    metric = BLEU(tokenize="13a", references=[list(references)])
    systems: list[tuple[str, Sequence[str]]] = [("", texts), *others.items()]
    _, scores = PairedTest(systems, {"BLEU": metric}, None, test_type="bs", n_samples=1000)()
    found: list[Any] = scores["BLEU"][1:]
    return {
        name: {"value": round(float(one.score), 2), "p": round(float(one.p_value), 4)}
        for name, one in zip(others, found, strict=True)
    }


def compare_with_variants(
    asked: FigureRequest[Any],
    slug: str,
    variants: Iterable[str],
    texts: Sequence[str],
    references: Sequence[str],
    ending: str = "",
) -> dict[str, Any]:
    """Return {"paired": `compare_by_bootstrap` with the recorded translations of the lab's other
    variants}, on the reported split; `record` keeps these too.

    ending: of the name of the file that holds them; a file without it belongs to a variant that has
        no choice of this kind.
    """
    if asked.split != REPORTED:
        return {}
    others: dict[str, list[str]] = {}
    for name in variants:
        for file in (f"{REPORTED}.de", f"{REPORTED}{ending}.de"):
            if (
                name != asked.variant
                and (path := checkpoint.find_folder(slug, name, asked.seed) / file).is_file()
            ):
                others[name] = path.read_bytes().decode().removesuffix("\n").split("\n")
    if asked.record:
        (asked.where / f"{REPORTED}{ending}.de").write_text(
            "\n".join(texts) + "\n", encoding="utf-8"
        )
    return {"paired": compare_by_bootstrap(texts, others, references)}


OPTIONS: dict[str, dict[str, Any]] = {
    "beam": {"type": int, "default": 4, "help": "hypotheses"},
    "alpha": {"type": float, "default": 0.6, "help": "length penalty"},
}
