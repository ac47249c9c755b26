"""The recurrent translators: PyTorch's own recurrence and attention, searching, training on four
captions, and what a page asks of them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from models.checkpoints import checkpoint
from models.data.multi30k import PAD, START, STOP, Pairs, Tokenizer
from models.decoding.beam import Hypothesis
from models.explaining.errors import InputError
from models.rnn_attention import explain as page
from models.rnn_attention import pretrained, recipe
from models.rnn_attention.decode import Changes, Decoder, encode_sentences, search
from models.rnn_attention.explain import compare_scales, explain, gradients, measure
from models.rnn_attention.model import Config, RecurrentTranslator
from models.rnn_attention.pretrained import PIECES, Pretrained
from models.rnn_attention.records import (
    EXAMPLES,
    NETWORKS,
    PRODUCTS,
    UNSCALED,
    VARIANTS,
    Explanation,
    Gradients,
    Request,
    Rereading,
    Scales,
)
from models.training.loop import Schedule
from models.training.translation import compare_by_bootstrap, measure_bleu_by_length
from tests.models.conftest import GERMAN
from tests.models.networks import answer, trained

ROWS = ([5, 6, 7, 8, 9], [10, 11], [12, 5, 6, 9])
TARGET = torch.tensor([[START, 5, 6, 7], [START, 8, 9, 10], [START, 11, 12, 5]])
TOKENIZER = Tokenizer.load(PIECES)
DOGS = Request("Two dogs are running.")
CPU = torch.device("cpu")
every_score = pytest.mark.parametrize("score", NETWORKS)


def tiny(score: str) -> RecurrentTranslator:
    """A small translator whose parameters are far from zero."""
    torch.manual_seed(3)
    model = RecurrentTranslator(Config(score, 14, 6, 8, 0.0)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
    return model.requires_grad_(False)


def batch() -> tuple[Tensor, Tensor]:
    """Three sentences of different lengths, padded, and where they are."""
    tokens = torch.full((3, 5), PAD)
    for row, one in enumerate(ROWS):
        tokens[row, : len(one)] = torch.tensor(one)
    return tokens, tokens != PAD


# ---- the networks


def test_without_attention_it_is_two_grus() -> None:
    model, (tokens, allowed) = tiny("none"), batch()
    packed = pack_padded_sequence(
        model.words(tokens), allowed.sum(1), batch_first=True, enforce_sorted=False
    )
    states, ends = model.encoder(packed)
    memory = model.encode(model.words(tokens), allowed)
    torch.testing.assert_close(memory.states, pad_packed_sequence(states, batch_first=True)[0])
    last = torch.cat((ends[0], ends[1]), 1)
    c, words = last[:, None].expand(-1, 4, -1), model.words(TARGET)
    first = torch.tanh(last @ model.first.weight.T + model.first.bias)[None]
    s = model.decoder(torch.cat((words, c), 2).transpose(0, 1), first)[0].transpose(0, 1)
    expected = torch.tanh(
        F.linear(torch.cat((s, c, words), 2), model.combine.weight, model.combine.bias)
    )
    torch.testing.assert_close(model(tokens, TARGET, allowed), expected)


@pytest.mark.parametrize("score", NETWORKS[:-1])
def test_a_step_is_the_equation_of_its_score(
    score: str,
) -> None:
    model, (tokens, allowed) = tiny(score), batch()
    memory = model.encode(model.words(tokens), allowed)
    state, words = torch.randn(3, 8), model.words(TARGET[:, 1])
    seen = model.step(state, model.project_words(words), memory)
    assert seen.scores is not None
    if score == "additive":
        for row, j in [(0, 0), (0, 4), (1, 1), (2, 3)]:
            inner = (
                model.query.weight @ state[row]
                + model.query.bias
                + model.key.weight @ memory.states[row, j]
            )
            torch.testing.assert_close(seen.scores[row, j], model.score.weight[0] @ inner.tanh())
        weights = seen.scores.masked_fill(~allowed, -torch.inf).softmax(-1)
        expected = (weights[:, None] @ memory.states)[:, 0]
    else:  # scaled dot-product attention as it is, 1/√d, or with a scale of 1
        query, scale = (
            state if model.key is None else state @ model.key.weight,
            1.0 if score.endswith(UNSCALED) else None,
        )
        expected = F.scaled_dot_product_attention(
            query[:, None], memory.states, memory.states, allowed[:, None], scale=scale
        )[:, 0]
    torch.testing.assert_close(seen.context, expected)
    torch.testing.assert_close(
        seen.state, model.decoder(torch.cat((words, expected), 1)[None], state[None])[0][0]
    )


@every_score
def test_single_steps_equal_the_whole_pass(
    score: str,
) -> None:
    model, (tokens, allowed) = tiny(score), batch()
    logits = model.readout(model(tokens, TARGET, allowed))
    logits[..., [0, 1, 2]] = -torch.inf
    for rows in ([0, 1, 2], [0], [1], [2]):
        decoder = Decoder(model, encode_sentences(model, [ROWS[row] for row in rows]))
        found = torch.stack([decoder.step(TARGET[rows, t]) for t in range(4)], 1)
        torch.testing.assert_close(found, logits[rows].log_softmax(-1))
        if score != "none" and len(rows) > 1:
            assert all(
                step.weights is not None and not step.weights[1, 2:].any() for step in decoder.steps
            ), "padding gets no weight"


@every_score
def test_a_second_reading_confirms_a_beam(score: str) -> None:
    model = tiny(score)
    for row, hypotheses in enumerate(
        search(model, encode_sentences(model, ROWS), [7, 7, 7], 3, [0.6] * 3)
    ):
        assert [h.score(0.6) for h in hypotheses] == sorted(
            (h.score(0.6) for h in hypotheses), reverse=True
        )
        for one in hypotheses:
            assert read(model, ROWS[row], one.tokens) == pytest.approx(
                one.log_probabilities, abs=1e-5
            )


def read(model: RecurrentTranslator, source: list[int], tokens: tuple[int, ...]) -> list[float]:
    """log p of each token of a translation."""
    decoder = Decoder(model, encode_sentences(model, [source]))
    return [
        float(decoder.step(torch.tensor([before]))[0, token])
        for before, token in itertools.pairwise((START, *tokens))
    ]


def test_the_widest_beam_finds_the_best() -> None:
    model = tiny("additive")
    every = [(STOP,), *((one, STOP) for one in range(4, 14))]
    found = {
        tokens: Hypothesis(tokens, tuple(read(model, ROWS[0], tokens))).score(0.6)
        for tokens in every
    }
    (best, *_), *_ = search(model, encode_sentences(model, [ROWS[0]]), [2], 11, [0.6])
    assert best.tokens == max(found, key=lambda tokens: found[tokens])


def test_row_t_of_the_weights_belongs_to_output_t() -> None:
    model, memory = tiny("additive"), encode_sentences(tiny("additive"), [ROWS[0]])
    words = torch.zeros(1, 5)
    words[0, 3] = 1
    for t in range(3):
        at = torch.zeros(1, 4, dtype=torch.bool)
        at[0, t] = True
        changed, plain = (
            Decoder(model, memory, Changes(words, at, torch.tensor([0]))),
            Decoder(model, memory),
        )
        same = [
            torch.equal(changed.step(TARGET[:1, i]), plain.step(TARGET[:1, i])) for i in range(4)
        ]
        assert same == [i < t for i in range(4)], (
            "what comes before output t stays, and all from it on may change"
        )
        assert torch.equal(changed.steps[t].context[0], memory.states[0, 3])


@pytest.mark.parametrize(
    ("mode", "score"), [(1, "general"), (2, "general"), (3, "general"), (3, "none")]
)
def test_contexts_are_mean_first_or_nothing(mode: int, score: str) -> None:
    model = tiny(score)
    memory = encode_sentences(model, [ROWS[0]])
    changed = Decoder(
        model,
        memory,
        Changes(torch.zeros(1, 5), torch.zeros(1, 4, dtype=torch.bool), torch.tensor([mode])),
    )
    plain = Decoder(model, memory)
    for t in range(3):
        changed.step(TARGET[:1, t])
        plain.step(TARGET[:1, t])
    first, second = (one.context[0] for one in plain.steps[:2])
    expected = {1: memory.states[0].mean(0), 2: first, 3: torch.zeros_like(first)}[mode]
    assert not torch.equal(first, second) or score == "none"
    for one in changed.steps:
        torch.testing.assert_close(one.context[0], expected, atol=1e-6 if mode == 1 else 0, rtol=0)


def test_dropout_acts_only_in_training() -> None:
    model, (tokens, allowed) = tiny("dot"), batch()
    model.dropout.p = 0.5
    assert torch.equal(model(tokens, TARGET, allowed), model(tokens, TARGET, allowed))
    model.train()
    assert not torch.equal(model(tokens, TARGET, allowed), model(tokens, TARGET, allowed))


def test_an_unknown_score_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"additive, dot, general, dot_unscaled, general_unscaled, none.*cosine"
    ):
        RecurrentTranslator(Config("cosine"))


# ---- training and measuring


def test_captions_are_learned_trained_measured_and_compared(
    captions: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = Config(d_model=16, d_state=24, dropout=0.0)
    schedule = Schedule(
        steps=50, warmup=5, decay=0.0, cooldown=20, average=2, every=5, precision="32-true"
    )
    quick = recipe.Recipe(schedule, 64, rate=2e-2)
    tasks = {
        name: replace(task, config=replace(small, score=name), recipe=quick)
        for name, task in recipe.VARIANTS.items()
    }
    monkeypatch.setattr(recipe.LAB, "variants", tasks)
    for variant in ("additive", "none"):
        found, shipped = trained(recipe, pretrained.read, captions, variant, beam=2)
        assert shipped.facts["chosen_on"] == "val" and shipped.model.config == replace(
            small, score=variant, vocabulary=len(TOKENIZER)
        )
        assert found["value"] > 50 and sum(group["n"] for group in found["bleu_by_length"]) == 4
        recipe.evaluate(captions, variant, device=CPU, beam=2, split="val", record=True)
        facts = checkpoint.read_facts(checkpoint.find_folder("rnn_attention", variant))
        assert facts["surprising_below"] < 0 and facts["reported_on"] == "test_2016_flickr"
    assert set(found["paired"]) == {"additive"} and 0 < found["paired"]["additive"]["p"] <= 1
    assert "additive:" in capsys.readouterr().out


def test_a_spread_is_of_real_cells_alone() -> None:
    model, rows = tiny("dot"), ([5, 6, 7], [8, 9])
    both = recipe.measure_spread(
        model, Pairs(*([np.array(one) for one in side] for side in (ROWS[:2], rows)))
    )
    found = []
    for source, target in zip(ROWS[:2], rows, strict=True):
        decoder = Decoder(model, encode_sentences(model, [source]))
        for token in (START, *target):
            decoder.step(torch.tensor([token]))
        found += [
            (float(one.scores.max() - one.scores.min()), float(one.weights.max()))
            for one in decoder.steps
        ]
    spread, largest = np.mean(found, 0)
    assert both == {
        "score_spread": pytest.approx(spread, abs=0.006),
        "largest_weight": pytest.approx(largest, abs=0.0006),
    }


def test_sentences_are_grouped_by_their_length() -> None:
    groups = measure_bleu_by_length(
        [10, 11, 15, 30], GERMAN, [GERMAN[0], GERMAN[1], "Katzen schlafen nie.", GERMAN[3]]
    )
    assert [(one["least"], one["most"], one["n"]) for one in groups] == [
        (1, 10, 1),
        (11, 15, 2),
        (16, 20, 0),
        (21, None, 1),
    ]
    assert groups[0]["value"] == pytest.approx(100) and groups[1]["value"] < 90


def test_a_bootstrap_tells_apart_what_differs_and_nothing_else() -> None:
    right = [f"Der Hund {n} läuft über die grüne Wiese." for n in range(30)]

    def wrong(*rows: int) -> list[str]:
        return [
            text.replace("läuft über", "sitzt auf") if n in rows else text
            for n, text in enumerate(right)
        ]

    found = compare_by_bootstrap(
        wrong(3), {"near": wrong(5), "worse": wrong(*range(0, 30, 2))}, right
    )
    assert found["worse"]["p"] < 0.05 < found["near"]["p"] and found["worse"]["value"] < 90
    assert compare_by_bootstrap(right, {}, right) == {}


# ---- what a page gets


@pytest.fixture(scope="module")
def networks() -> dict[str, Pretrained]:
    """Small networks that have learned nothing, but stop soon."""
    found = {}
    for variant in NETWORKS:
        torch.manual_seed(3)
        model = RecurrentTranslator(Config(variant, len(TOKENIZER), 12, 16, 0.0)).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name != "embedding.weight":
                    parameter.add_(0.3 * torch.randn_like(parameter))
        found[variant] = Pretrained(
            model.requires_grad_(False), TOKENIZER, {"surprising_below": -1.0}
        )
    return found


@pytest.fixture(autouse=True)
def small(networks: dict[str, Pretrained], monkeypatch: pytest.MonkeyPatch) -> None:
    """The small networks in the place of the trained ones."""
    monkeypatch.setattr(page, "load", lambda variant: networks[variant])
    monkeypatch.setattr(page, "EXTRA", 6)


run = partial(answer, explain, Explanation)


def again(request: Request, of: Explanation) -> Explanation:
    """The translation of a run, read again under a request."""
    return answer(measure, Explanation, Rereading(request, of.target, of.target_space))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_run_is_what_its_records_say(variant: str) -> None:
    seen = run(replace(DOGS, variant=variant))
    outputs, words = len(seen.target), len(seen.source)
    assert seen.target[-1] == "</s>" and seen.log_probability == pytest.approx(
        float(seen.log_probabilities.sum()), abs=1e-4
    )
    assert (
        seen.weights.shape
        == seen.scores.shape
        == seen.shares.shape
        == (0 if variant == "none" else outputs, words)
    )
    if variant != "none":
        assert seen.shares.sum(1) == pytest.approx(np.ones(outputs), abs=1e-4)
        softmax = np.exp(seen.scores - seen.scores.max(1, keepdims=True))
        assert softmax / softmax.sum(1, keepdims=True) == pytest.approx(seen.weights, abs=1e-5)
    assert seen.remains.shape == (2, words) and seen.remains.sum(1) == pytest.approx(
        np.ones(2), abs=1e-5
    )


@pytest.mark.parametrize("variant", PRODUCTS)
def test_division_chooses_the_network(variant: str) -> None:
    divided, plain = (run(Request(DOGS.sentence, variant, one)) for one in (True, False))
    assert (Request("", variant).network, Request("", variant, False).network) == (
        variant,
        f"{variant}{UNSCALED}",
    )
    assert plain.scores[0] == pytest.approx(4 * divided.scores[0], abs=1e-4), (
        "the same small network, d = 16"
    )
    assert (
        Request("", "additive", False).network == "additive"
        and Request("", "none", False).network == "none"
    )


@pytest.mark.parametrize(
    ("variant", "product"), [("general", "general"), ("additive", "dot"), ("none", "dot")]
)
def test_scales_are_of_both_networks_on_one_german(variant: str, product: str) -> None:
    plain = run(replace(DOGS, variant=variant))
    (found,) = compare_scales(
        [Rereading(replace(DOGS, variant=variant, donor="book"), plain.target, plain.target_space)]
    )
    assert isinstance(found, Scales) and found.product == product
    for row, divided in enumerate((True, False)):
        seen = again(Request(DOGS.sentence, product, divided), plain)
        assert found.spreads[row] == pytest.approx(np.ptp(seen.scores, axis=1), abs=1e-5)
        assert found.largest[row] == pytest.approx(seen.weights.max(1), abs=1e-5)
    (refused,) = compare_scales([Rereading(Request(""), plain.target, plain.target_space)])
    assert isinstance(refused, InputError)


def test_weight_is_given_to_the_chosen_words() -> None:
    plain = run(DOGS)
    moved = again(replace(DOGS, words=(1, 3), rows=(2,)), plain)
    assert moved.weights[2].tolist() == pytest.approx([0, 0.5, 0, 0.5, 0])
    assert moved.weights[:2] == pytest.approx(plain.weights[:2], abs=1e-6)
    assert moved.log_probabilities[:2] == pytest.approx(plain.log_probabilities[:2], abs=1e-5)
    assert abs(moved.log_probabilities[2] - plain.log_probabilities[2]) > 1e-4
    assert again(replace(DOGS, words=(0,)), plain).weights[:, 0] == pytest.approx(
        np.ones(len(plain.target))
    )


def test_what_a_donor_gives_to_each_model() -> None:
    cold, book = (
        replace(DOGS, variant="none", donor="book"),
        Request("A woman is reading a book on a bench.", "none"),
    )
    assert run(cold).log_probabilities[:3] == pytest.approx(
        run(book).log_probabilities[:3], abs=1e-5
    )
    plain = run(DOGS)
    given = again(replace(DOGS, donor="book"), plain)
    assert not np.allclose(given.weights, plain.weights) and given.remains == pytest.approx(
        plain.remains
    )


def test_gradients_are_those_of_finite_differences(networks: dict[str, Pretrained]) -> None:
    plain = run(DOGS)
    (found,) = gradients([Rereading(DOGS, plain.target, plain.target_space)])
    assert isinstance(found, Gradients) and found.other == "none"
    assert found.norms.shape == found.others.shape == (len(plain.target), len(plain.source))
    ids = torch.tensor([TOKENIZER.encode(DOGS.sentence).ids])
    target = [
        TOKENIZER.find_token(piece, space)
        for piece, space in zip(plain.target, plain.target_space, strict=True)
    ]
    for variant, norms in (("additive", found.norms), ("none", found.others)):
        model = networks[variant].model

        def log_p(words: Tensor, model: RecurrentTranslator = model) -> float:
            decoder = page.Decoder(
                model, model.encode(words, torch.ones_like(ids, dtype=torch.bool))
            )
            return float(
                [
                    decoder.step(torch.tensor([token]))[0, target[n]]
                    for n, token in enumerate((2, *target[:2]))
                ][-1]
            )

        words, slopes = model.words(ids), []
        for d in range(12):
            nudge = torch.zeros_like(words)
            nudge[0, 1, d] = 1e-2
            slopes.append((log_p(words + nudge) - log_p(words - nudge)) / 2e-2)
        assert float(np.linalg.norm(slopes)) == pytest.approx(float(norms[2, 1]), rel=2e-2)


def test_the_last_state_keeps_most_of_what_was_read_last() -> None:
    seen = run(EXAMPLES[0])
    assert seen.remains[0].argmax() > seen.remains[1].argmax()
