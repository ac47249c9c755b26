"""What a page asks of the recurrent translators: translations, changes, refusals, gradients."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from models.multi30k import Tokenizer
from models.rnn_attention import explain as page
from models.rnn_attention.explain import explain, gradients, measure
from models.rnn_attention.model import Config, RecurrentTranslator
from models.rnn_attention.pretrained import PIECES, Pretrained
from models.rnn_attention.records import EXAMPLES, VARIANTS, Again, Explanation, Gradients, Request
from tests.models.networks import answer

TOKENIZER = Tokenizer.load(PIECES)
DOGS = Request("Two dogs are running.")


@pytest.fixture(scope="module")
def networks() -> dict[str, Pretrained]:
    """Small networks that have learned nothing, but stop soon."""
    found = {}
    for variant in VARIANTS:
        torch.manual_seed(3)
        model = RecurrentTranslator(Config(variant, len(TOKENIZER), 12, 16, 0.0)).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name != "embedding.weight":
                    parameter.add_(0.3 * torch.randn_like(parameter))
        found[variant] = Pretrained(model.requires_grad_(False), TOKENIZER, {"surprising_below": -1.0})
    return found


@pytest.fixture(autouse=True)
def small(networks: dict[str, Pretrained], monkeypatch: pytest.MonkeyPatch) -> None:
    """The small networks in the place of the trained ones."""
    monkeypatch.setattr(page, "load", lambda variant: networks[variant])
    monkeypatch.setattr(page, "EXTRA", 6)


run = partial(answer, explain, Explanation)


def again(request: Request, of: Explanation) -> Explanation:
    """The translation of a run, read again under a request."""
    (seen,) = measure([Again(request, of.target, of.target_space)])
    assert isinstance(seen, Explanation), seen
    return seen


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_run_is_what_its_records_say(variant: str) -> None:
    seen = run(replace(DOGS, variant=variant))
    outputs, words = len(seen.target), len(seen.source)
    assert seen.target[-1] == "</s>" and seen.log_probability == pytest.approx(float(seen.log_probabilities.sum()), abs=1e-4)
    assert seen.weights.shape == seen.scores.shape == seen.shares.shape == (0 if variant == "none" else outputs, words)
    if variant != "none":
        assert seen.weights.sum(1) == pytest.approx(np.ones(outputs), abs=1e-5)
        assert seen.shares.sum(1) == pytest.approx(np.ones(outputs), abs=1e-4)
        softmax = np.exp(seen.scores - seen.scores.max(1, keepdims=True))
        assert softmax / softmax.sum(1, keepdims=True) == pytest.approx(seen.weights, abs=1e-5)
    assert seen.remains.shape == (2, words) and seen.remains.sum(1) == pytest.approx(np.ones(2), abs=1e-5)


def test_weight_is_given_to_the_chosen_words_at_the_chosen_outputs_and_what_stands_before_stays() -> None:
    plain = run(DOGS)
    moved = again(replace(DOGS, words=(1, 3), rows=(2,)), plain)
    assert moved.weights[2].tolist() == pytest.approx([0, 0.5, 0, 0.5, 0])
    assert moved.weights[:2] == pytest.approx(plain.weights[:2], abs=1e-6)
    assert moved.log_probabilities[:2] == pytest.approx(plain.log_probabilities[:2], abs=1e-5)
    assert abs(moved.log_probabilities[2] - plain.log_probabilities[2]) > 1e-4
    assert again(replace(DOGS, words=(0,)), plain).weights[:, 0] == pytest.approx(np.ones(len(plain.target)))


def test_a_donor_gives_everything_to_the_model_without_attention_and_only_the_beginning_to_the_others() -> None:
    cold, book = replace(DOGS, variant="none", donor="book"), Request("A woman is reading a book on a bench.", "none")
    assert run(cold).log_probabilities[:3] == pytest.approx(run(book).log_probabilities[:3], abs=1e-5)
    plain = run(DOGS)
    given = again(replace(DOGS, donor="book"), plain)
    assert not np.allclose(given.weights, plain.weights)
    assert given.remains == pytest.approx(plain.remains)


def test_reading_again_without_a_change_gives_the_same_run() -> None:
    plain = run(DOGS)
    same = again(DOGS, plain)
    assert same.weights == pytest.approx(plain.weights, abs=1e-6) and same.log_probability == pytest.approx(plain.log_probability, abs=1e-4)


def test_gradients_are_those_of_finite_differences(networks: dict[str, Pretrained]) -> None:
    plain = run(DOGS)
    (found,) = gradients([Again(DOGS, plain.target, plain.target_space)])
    assert isinstance(found, Gradients) and found.other == "none"
    assert found.norms.shape == found.others.shape == (len(plain.target), len(plain.source))
    model = networks["additive"].model
    ids = torch.tensor([TOKENIZER.encode(DOGS.sentence).ids])
    target = [TOKENIZER.token(piece, space) for piece, space in zip(plain.target, plain.target_space, strict=True)]

    def log_p(words: torch.Tensor) -> float:
        decoder = page.Decoder(model, model.encode(words, torch.ones_like(ids, dtype=torch.bool)))
        return float([decoder.step(torch.tensor([token]))[0, target[n]] for n, token in enumerate((2, *target[:2]))][-1])

    words, slopes = model.words(ids), []
    for d in range(12):
        nudge = torch.zeros_like(words)
        nudge[0, 1, d] = 1e-2
        slopes.append((log_p(words + nudge) - log_p(words - nudge)) / 2e-2)
    assert float(np.linalg.norm(slopes)) == pytest.approx(float(found.norms[2, 1]), rel=2e-2)


def test_the_last_state_keeps_most_of_what_was_read_last() -> None:
    seen = run(EXAMPLES[0])
    assert seen.remains[0].argmax() > seen.remains[1].argmax()
