"""The recurrent translators against PyTorch's own recurrence and attention."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from models.beam import Hypothesis
from models.multi30k import PAD, START, STOP
from models.rnn_attention.decode import Changes, Decoder, encoded, search
from models.rnn_attention.model import SCORES, Config, RecurrentTranslator
from models.rnn_attention.records import VARIANTS

ROWS = ([5, 6, 7, 8, 9], [10, 11], [12, 5, 6, 9])
WITH = ("additive", "dot", "general")


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


TARGET = torch.tensor([[START, 5, 6, 7], [START, 8, 9, 10], [START, 11, 12, 5]])


def test_the_scores_of_the_model_are_the_variants_of_a_request() -> None:
    assert SCORES == VARIANTS


def test_an_unknown_score_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'cosine'.*additive, dot, general, none"):
        RecurrentTranslator(Config("cosine"))


def test_without_attention_the_whole_model_is_two_packed_grus_of_pytorch() -> None:
    model, (tokens, allowed) = tiny("none"), batch()
    packed = pack_padded_sequence(model.words(tokens), allowed.sum(1), batch_first=True, enforce_sorted=False)
    states, ends = model.encoder(packed)
    memory = model.encode(model.words(tokens), allowed)
    torch.testing.assert_close(memory.states, pad_packed_sequence(states, batch_first=True)[0])
    last = torch.cat((ends[0], ends[1]), 1)
    words = model.words(TARGET)
    inputs = torch.cat((words, last[:, None].expand(-1, 4, -1)), 2)
    s = model.decoder(inputs.transpose(0, 1), torch.tanh(last @ model.first.weight.T + model.first.bias)[None])[0].transpose(0, 1)
    c = last[:, None].expand(-1, 4, -1)
    expected = torch.tanh(F.linear(torch.cat((s, c, words), 2), model.combine.weight, model.combine.bias))
    torch.testing.assert_close(model(tokens, TARGET, allowed), expected)


@pytest.mark.parametrize("score", ["dot", "general"])
def test_products_are_scaled_dot_product_attention_with_a_scale_of_one(score: str) -> None:
    model, (tokens, allowed) = tiny(score), batch()
    memory = model.encode(model.words(tokens), allowed)
    state = torch.randn(3, 8)
    query = state if model.key is None else state @ model.key.weight
    expected = F.scaled_dot_product_attention(query[:, None], memory.states, memory.states, allowed[:, None], scale=1.0)[:, 0]
    torch.testing.assert_close(model.step(state, torch.zeros(3, 24), memory).context, expected)


def test_the_additive_score_is_the_equation_word_by_word() -> None:
    model, (tokens, allowed) = tiny("additive"), batch()
    memory = model.encode(model.words(tokens), allowed)
    state = torch.randn(3, 8)
    scores = model.step(state, torch.zeros(3, 24), memory).scores
    assert scores is not None and model.score is not None and model.query is not None and model.key is not None
    for row, j in [(0, 0), (0, 4), (1, 1), (2, 3)]:
        inner = model.query.weight @ state[row] + model.query.bias + model.key.weight @ memory.states[row, j]
        torch.testing.assert_close(scores[row, j], model.score.weight[0] @ inner.tanh())


@pytest.mark.parametrize("score", WITH)
def test_a_step_is_one_step_of_pytorchs_gru_on_word_and_context(score: str) -> None:
    model, (tokens, allowed) = tiny(score), batch()
    memory = model.encode(model.words(tokens), allowed)
    state, words = torch.randn(3, 8), model.words(TARGET[:, 1])
    seen = model.step(state, model.fixed(words), memory)
    expected = model.decoder(torch.cat((words, seen.context), 1)[None], state[None])[0][0]
    torch.testing.assert_close(seen.state, expected)


@pytest.mark.parametrize("score", WITH)
def test_padding_gets_no_weight_and_company_changes_nothing(score: str) -> None:
    model = tiny(score)
    together = Decoder(model, encoded(model, ROWS))
    alone = [Decoder(model, encoded(model, [one])) for one in ROWS]
    for t in range(4):
        log_p = together.step(TARGET[:, t])
        for row, one in enumerate(alone):
            torch.testing.assert_close(one.step(TARGET[row : row + 1, t])[0], log_p[row])
    for step in together.steps:
        assert step.weights is not None
        assert torch.equal(step.weights[1, 2:], torch.zeros(3))
        torch.testing.assert_close(step.weights.sum(1), torch.ones(3))


@pytest.mark.parametrize("score", SCORES)
def test_one_step_after_the_other_says_what_the_teacher_forced_pass_says(score: str) -> None:
    model, (tokens, allowed) = tiny(score), batch()
    logits = model.readout(model(tokens, TARGET, allowed))
    logits[..., [0, 1, 2]] = -torch.inf
    decoder = Decoder(model, encoded(model, ROWS))
    found = torch.stack([decoder.step(TARGET[:, t]) for t in range(4)], 1)
    torch.testing.assert_close(found, logits.log_softmax(-1))


@pytest.mark.parametrize("score", SCORES)
def test_a_beam_finds_what_reading_its_translation_again_confirms(score: str) -> None:
    model = tiny(score)
    for row, hypotheses in enumerate(search(model, encoded(model, ROWS), [7, 7, 7], 3, [0.6] * 3)):
        assert [h.score(0.6) for h in hypotheses] == sorted((h.score(0.6) for h in hypotheses), reverse=True)
        for one in hypotheses:
            decoder = Decoder(model, encoded(model, [ROWS[row]]))
            for token, following, log_p in zip((START, *one.tokens[:-1]), one.tokens, one.log_probabilities, strict=True):
                assert float(decoder.step(torch.tensor([token]))[0, following]) == pytest.approx(log_p, abs=1e-5)


def test_a_beam_as_wide_as_the_vocabulary_finds_the_best_of_all_translations() -> None:
    model, limit = tiny("additive"), 2
    memory = encoded(model, [ROWS[0]])
    found = {}
    for tokens in [(STOP,), *((one, STOP) for one in range(4, 14))]:
        decoder, log_p = Decoder(model, memory), []
        for token, following in zip((START, *tokens[:-1]), tokens, strict=True):
            log_p.append(float(decoder.step(torch.tensor([token]))[0, following]))
        found[tokens] = Hypothesis(tokens, tuple(log_p)).score(0.6)
    best = search(model, memory, [limit], 11, [0.6])[0][0]
    assert best.tokens == max(found, key=lambda tokens: found[tokens])


def test_row_t_of_the_weights_belongs_to_output_t() -> None:
    model, memory = tiny("additive"), encoded(tiny("additive"), [ROWS[0]])
    words = torch.zeros(1, 5)
    words[0, 3] = 1
    for t in range(3):
        at = torch.zeros(1, 4, dtype=torch.bool)
        at[0, t] = True
        changed = Decoder(model, memory, Changes(words, at, torch.tensor([0])))
        plain = Decoder(model, memory)
        same = [torch.equal(changed.step(TARGET[:1, i]), plain.step(TARGET[:1, i])) for i in range(4)]
        assert same == [i < t for i in range(4)], "what comes before output t stays, and all from it on may change"
        assert torch.equal(changed.steps[t].context[0], memory.states[0, 3])


def contexts_of(mode: int, score: str = "general") -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """c_t of each step under a change of the context, the encoder's states, and c_t without the change."""
    model = tiny(score)
    memory = encoded(model, [ROWS[0]])
    changed = Decoder(model, memory, Changes(torch.zeros(1, 5), torch.zeros(1, 4, dtype=torch.bool), torch.tensor([mode])))
    plain = Decoder(model, memory)
    for t in range(3):
        changed.step(TARGET[:1, t])
        plain.step(TARGET[:1, t])
    return [one.context[0] for one in changed.steps], memory.states[0], [one.context[0] for one in plain.steps]


def test_a_uniform_context_is_the_mean_a_frozen_one_the_first_and_a_zeroed_one_nothing() -> None:
    uniform, states, plain = contexts_of(1)
    for one in uniform:
        torch.testing.assert_close(one, states.mean(0))
    frozen, _, plain = contexts_of(2)
    assert all(torch.equal(one, plain[0]) for one in frozen) and not torch.equal(plain[1], plain[0])
    for score in ("general", "none"):
        zero, _, _ = contexts_of(3, score)
        assert all(not one.any() for one in zero)


def test_the_backward_state_starts_at_the_last_piece_and_never_in_padding() -> None:
    model = tiny("dot")
    torch.testing.assert_close(encoded(model, ROWS).last[1], encoded(model, [ROWS[1]]).last[0])


def test_dropout_touches_words_and_what_is_said_only_while_training() -> None:
    model, (tokens, allowed) = tiny("dot"), batch()
    model.dropout.p = 0.5
    assert torch.equal(model(tokens, TARGET, allowed), model(tokens, TARGET, allowed))
    model.train()
    assert not torch.equal(model(tokens, TARGET, allowed), model(tokens, TARGET, allowed))


def test_every_variant_has_the_same_skeleton() -> None:
    sizes = {score: sum(p.numel() for p in RecurrentTranslator(replace(Config(), score=score)).parameters()) for score in SCORES}
    assert sizes["dot"] == sizes["none"] < sizes["general"] < sizes["additive"]
    for one, other in itertools.pairwise(sorted(sizes.values())):
        assert other / one < 1.05
