"""Searching with caches gives what searching without them would."""

from __future__ import annotations

import copy
import math

import pytest
import torch

from models.beam import EXTRA, Hypothesis, penalty
from models.encoder_decoder import Changes, Transformer, no_gains
from models.multi30k import PAD, START, STOP, UNKNOWN, padded
from models.searching import Cache, Source, beam_search, greedy_search, laid_out, piece_log_probabilities
from models.translation.pretrained import load

ROWS = [[4, 5, 6, 7, 8, 9], [10, 11], [12, 13, 14, 15]]


def source_of(rows: list[list[int]], limit: int = 9) -> Source:
    tokens = padded(rows)
    return Source(tokens, tokens != PAD, tuple(limit - i for i in range(len(rows))))


def log_p_without_cache(model: Transformer, source: Source, read: torch.Tensor) -> torch.Tensor:
    return piece_log_probabilities(model, model(source.tokens, read, source.allowed, source.gains))[:, -1]


@pytest.mark.usefixtures("way")
def test_cached_steps_equal_uncached_ones(tiny: Transformer) -> None:
    source = source_of(ROWS)
    gains = no_gains(tiny.config, 3)
    gains.decoder[1, 0, 2] = 0
    gains.cross[0, 2, 1] = 0
    source = Source(source.tokens, source.allowed, source.limits, gains)
    cache = Cache(tiny, tiny.encode(source.tokens, source.allowed, gains), source.allowed, 6, gains)
    read = torch.randint(4, 60, (3, 6), generator=torch.Generator().manual_seed(1))
    for t in range(6):
        torch.testing.assert_close(cache.step(read[:, t]), log_p_without_cache(tiny, source, read[:, : t + 1]), atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("changes", [Changes(scale=1.0), Changes(positional=False)], ids=["scale", "position"])
def test_a_step_leaves_out_what_the_decoder_leaves_out(tiny: Transformer, changes: Changes) -> None:
    source = source_of(ROWS)
    cache = Cache(tiny, tiny.encode(source.tokens, source.allowed, changes=changes), source.allowed, 4, None, changes)
    read = torch.randint(4, 60, (3, 4), generator=torch.Generator().manual_seed(2))
    for t in range(4):
        expected = piece_log_probabilities(tiny, tiny(source.tokens, read[:, : t + 1], source.allowed, changes=changes))[:, -1]
        torch.testing.assert_close(cache.step(read[:, t]), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("way")
def test_rows_may_change_places_and_leave(tiny: Transformer) -> None:
    source = source_of(ROWS)
    cache = Cache(tiny, tiny.encode(source.tokens, source.allowed), source.allowed, 4, None)
    cache.step(torch.tensor([20, 21, 22]))
    cache.choose(torch.tensor([2, 0]))
    kept = Source(source.tokens[[2, 0]], source.allowed[[2, 0]], (9, 9))
    expected = log_p_without_cache(tiny, kept, torch.tensor([[22, 30], [20, 31]]))
    torch.testing.assert_close(cache.step(torch.tensor([30, 31])), expected, atol=1e-5, rtol=1e-5)


def test_greedy_takes_the_most_probable_piece_each_time(tiny: Transformer) -> None:
    source = source_of(ROWS[:1])
    read = [START]
    while len(read) <= 9 and read[-1] != STOP:
        log_p = log_p_without_cache(tiny, source, torch.tensor([read]))
        read.append(STOP if len(read) == 9 else int(log_p[0].argmax()))
    assert greedy_search(tiny, source)[0].tokens == tuple(read[1:])


@pytest.mark.usefixtures("way")
def test_sentences_with_different_beams_share_a_batch_and_get_what_they_get_alone(tiny: Transformer) -> None:
    beams, limits = [2, 5, 3], (9, 8, 4)  # the widest is neither first nor the last to end
    tokens = padded(ROWS)
    together = beam_search(tiny, Source(tokens, tokens != PAD, limits), beams, [0.6, 1.0, 0.0])
    for i, (row, beam, alpha) in enumerate(zip(ROWS, beams, [0.6, 1.0, 0.0], strict=True)):
        tokens = padded([row])
        (alone,) = beam_search(tiny, Source(tokens, tokens != PAD, limits[i : i + 1]), beam, [alpha])
        assert [h.tokens for h in alone] == [h.tokens for h in together[i]]
        assert [h.log_probability for h in alone] == pytest.approx([h.log_probability for h in together[i]], abs=1e-4)


def test_every_sentence_has_its_beam_and_its_penalty(tiny: Transformer) -> None:
    with pytest.raises(ValueError, match="2 beams and 3 length penalties for 3 sentences"):
        beam_search(tiny, source_of(ROWS), [2, 3], [0.6] * 3)
    with pytest.raises(ValueError, match="1 length penalties for 3 sentences"):
        beam_search(tiny, source_of(ROWS), 2, [0.6])


def test_beam_of_one_equals_greedy(tiny: Transformer) -> None:
    assert [h[0].tokens for h in beam_search(tiny, source_of(ROWS), 1, [0.6] * 3)] == [
        h.tokens for h in greedy_search(tiny, source_of(ROWS))
    ]


def test_every_hypothesis_stops_within_its_limit_and_holds_no_special_piece(tiny: Transformer) -> None:
    for i, hypotheses in enumerate(beam_search(tiny, source_of(ROWS), 5, [1.0] * 3)):
        assert 1 <= len(hypotheses) <= 5
        for one in hypotheses:
            assert one.tokens[-1] == STOP and one.tokens.count(STOP) == 1
            assert not {PAD, START, UNKNOWN} & set(one.tokens)
            assert len(one.tokens) <= 9 - i
        scores = [h.score(1.0) for h in hypotheses]
        assert scores == sorted(scores, reverse=True)


def searched_to_the_limit(model: Transformer, source: Source, beam: int, alpha: float) -> list[tuple[int, ...]]:
    """The same search, written plainly: no cache, and no step left out before the limit."""
    live: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    finished: list[Hypothesis] = []
    for length in range(1, source.limits[0] + 1):
        ranked = []
        for tokens, total in live:
            log_p = log_p_without_cache(model, source, torch.tensor([[START, *tokens]]))[0].tolist()
            pieces = [STOP] if length == source.limits[0] else [piece for piece, one in enumerate(log_p) if one > -math.inf]
            ranked += [((*tokens, piece), total + log_p[piece]) for piece in pieces]
        ranked.sort(key=lambda one: -one[1])
        finished += [Hypothesis(tokens, (total,)) for tokens, total in ranked[:beam] if tokens[-1] == STOP]
        live = [one for one in ranked[: 2 * beam] if one[0][-1] != STOP][:beam]
    best = sorted(finished, key=lambda one: -one.score(alpha))[:beam]
    return [one.tokens for one in best]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_stopping_early_loses_nothing_that_searching_to_the_limit_finds(tiny: Transformer, alpha: float) -> None:
    eager = copy.deepcopy(tiny)
    torch.manual_seed(1)
    eager.embedding.weight[STOP] = torch.randn(tiny.config.d_model) * 3 * tiny.embedding.weight.std()  # some translations stop early
    for row in ROWS:
        source = source_of([row], limit=12)
        (found,) = beam_search(eager, source, 2, [alpha])
        assert [one.tokens for one in found] == searched_to_the_limit(eager, source, 2, alpha)


def test_the_trained_model_loses_no_longer_translation_that_a_large_penalty_prefers() -> None:
    """Two hypotheses have finished before the best one has: a bound that took their length for its own would stop there."""
    trained = load()
    ids = trained.tokenizer.encode("A small black dog jumping over gates").ids
    source = Source(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool), (len(ids) + EXTRA,))
    with torch.no_grad():
        (found,) = beam_search(trained.model, source, 2, [2.0])
        assert [one.tokens for one in found] == searched_to_the_limit(trained.model, source, 2, 2.0)


def test_the_score_is_the_one_of_its_equation() -> None:
    assert Hypothesis((5, 6, STOP), (-1.0, -2.0, -0.5)).score(0.6) == pytest.approx(-3.5 / ((5 + 3) / 6) ** 0.6)
    assert penalty(7, 0.0) == 1.0


def test_probabilities_over_pieces_sum_to_one_without_the_special_ones(tiny: Transformer) -> None:
    log_p = piece_log_probabilities(tiny, torch.randn(3, tiny.config.d_model))
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(3))
    assert log_p[0, PAD] == -math.inf


def test_storing_the_embedding_by_columns_changes_no_translation(tiny: Transformer) -> None:
    before = beam_search(tiny, source_of(ROWS), 3, [0.6] * 3)
    after = beam_search(laid_out(copy.deepcopy(tiny)), source_of(ROWS), 3, [0.6] * 3)
    assert [[h.tokens for h in one] for one in before] == [[h.tokens for h in one] for one in after]
    assert before[0][0].log_probability == pytest.approx(after[0][0].log_probability, abs=1e-4)
