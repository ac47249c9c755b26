"""Searching with caches gives what searching without them would, and its tree is the search itself,
looked on at."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from models.data.multi30k import PAD, START, STOP, Tokenizer, pad_rows
from models.decoding.beam import EXTRA, Hypothesis, length_penalty
from models.decoding.translation_search import (
    SearchCache,
    Source,
    beam_search,
    greedy_search,
    lay_out_by_column,
    piece_log_probabilities,
)
from models.explaining.errors import InputError
from models.networks.encoder_decoder import Changes, Transformer
from models.translation.explain import explain
from models.translation.pretrained import Pretrained, load
from models.translation.records import Explanation, Request
from models.translation.search import Growth, Search, grow, search
from models.translation.search_records import Tree, loop, outcome, score

ROWS = [[4, 5, 6, 7, 8, 9], [10, 11], [12, 13, 14, 15]]
ALPHAS = [0.0, 0.3, 0.6, 1.0, 1.7, 2.0]
GREEDY: Any = SimpleNamespace(text="x", log_probability=-3.0, target=("x", "</s>"))
close = partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)


def source_of(rows: Sequence[list[int]], limit: int = 9) -> Source:
    tokens = pad_rows(rows)
    return Source(tokens, tokens != PAD, tuple(limit - i for i in range(len(rows))))


def log_p_without_cache(model: Transformer, source: Source, read: torch.Tensor) -> torch.Tensor:
    return piece_log_probabilities(
        model, model(source.tokens, read, source.allowed, changes=source.changes)
    )[:, -1]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    "changes",
    [Changes(), Changes(scale=1.0), Changes(positional=False)],
    ids=["heads", "scale", "position"],
)
def test_cached_steps_equal_uncached_ones_whatever_is_left_out(
    tiny: Transformer, changes: Changes
) -> None:
    if changes == Changes():
        decoder, cross = torch.ones(2, tiny.config.n_layers, 3, tiny.config.n_heads)
        decoder[1, 0, 2] = cross[0, 2, 1] = 0
        changes = Changes(gains={"decoder": decoder, "cross": cross})
    source = dataclasses.replace(source_of(ROWS), changes=changes)
    cache = SearchCache(
        tiny,
        tiny.encode(source.tokens, source.allowed, changes=changes),
        source.allowed,
        6,
        changes,
    )
    read = torch.randint(4, 60, (3, 6), generator=torch.Generator().manual_seed(1))
    for t in range(6):
        close(cache.step(read[:, t]), log_p_without_cache(tiny, source, read[:, : t + 1]))


@pytest.mark.usefixtures("way")
def test_rows_may_change_places_and_leave(tiny: Transformer) -> None:
    source = source_of(ROWS)
    cache = SearchCache(tiny, tiny.encode(source.tokens, source.allowed), source.allowed, 4)
    cache.step(torch.tensor([20, 21, 22]))
    cache.choose(torch.tensor([2, 0]))
    kept = Source(source.tokens[[2, 0]], source.allowed[[2, 0]], (9, 9))
    close(
        cache.step(torch.tensor([30, 31])),
        log_p_without_cache(tiny, kept, torch.tensor([[22, 30], [20, 31]])),
    )


def searched_to_the_limit(
    model: Transformer, source: Source, beam: int, alpha: float
) -> list[tuple[int, ...]]:
    """The same search, written plainly: no cache, and no step left out before the limit."""
    live: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    finished: list[Hypothesis] = []
    for length in range(1, source.limits[0] + 1):
        ranked = []
        for tokens, total in live:
            log_p = log_p_without_cache(model, source, torch.tensor([[START, *tokens]]))[0].tolist()
            pieces = (
                [STOP]
                if length == source.limits[0]
                else [piece for piece, one in enumerate(log_p) if one > -math.inf]
            )
            ranked += [((*tokens, piece), total + log_p[piece]) for piece in pieces]
        ranked.sort(key=lambda one: -one[1])
        finished += [
            Hypothesis(tokens, (total,)) for tokens, total in ranked[:beam] if tokens[-1] == STOP
        ]
        live = [one for one in ranked[: 2 * beam] if one[0][-1] != STOP][:beam]
    return [one.tokens for one in sorted(finished, key=lambda one: -one.score(alpha))[:beam]]


@pytest.mark.usefixtures("way")
def test_batched_search_equals_plain_search(
    tiny: Transformer,
) -> None:
    eager = copy.deepcopy(tiny)
    torch.manual_seed(1)
    # some translations stop early
    eager.embedding.weight[STOP] = (
        torch.randn(tiny.config.d_model) * 3 * tiny.embedding.weight.std()
    )
    for beams, alphas in (
        ([2, 5, 3], [0.6, 1.0, 0.0]),
        ([1, 1, 1], [0.6] * 3),
        ([2, 2, 2], [2.0, 0.0, 0.6]),
    ):
        limits = (9, 8, 4)  # the widest is neither first nor the last to end
        for model in (tiny, eager):
            source = Source(source_of(ROWS).tokens, source_of(ROWS).allowed, limits)
            together = beam_search(model, source, beams, alphas)
            for row, found, beam, limit, alpha in zip(
                ROWS, together, beams, limits, alphas, strict=True
            ):
                assert [one.tokens for one in found] == searched_to_the_limit(
                    model, source_of([row], limit), beam, alpha
                )
                read = torch.tensor([[START, *found[0].tokens[:-1]]])
                alone = source_of([row])
                log_p = piece_log_probabilities(model, model(alone.tokens, read, alone.allowed))[0]
                expected = [
                    float(one[token]) for one, token in zip(log_p, found[0].tokens, strict=True)
                ]
                assert found[0].log_probabilities == pytest.approx(expected, abs=1e-4)
    assert [one[0].tokens for one in beam_search(eager, source, 1, [0.6] * 3)] == [
        one.tokens for one in greedy_search(eager, source)
    ]
    for beams, alphas, said in (
        ([2, 3], [0.6] * 3, "2 beams and 3 length penalties for 3 sentences"),
        (2, [0.6], "1 length penalties for 3"),
    ):
        with pytest.raises(ValueError, match=said):
            beam_search(tiny, source_of(ROWS), beams, alphas)


def test_no_longer_translation_is_lost() -> None:
    """Two hypotheses have finished before the best one has: a bound that took their length for its
    own would stop there."""
    trained = load()
    ids = trained.tokenizer.encode("A small black dog jumping over gates").ids
    source = Source(
        torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool), (len(ids) + EXTRA,)
    )
    with torch.no_grad():
        (found,) = beam_search(trained.model, source, 2, [2.0])
        assert [one.tokens for one in found] == searched_to_the_limit(trained.model, source, 2, 2.0)


def test_the_score_follows_its_equation(
    tiny: Transformer,
) -> None:
    assert Hypothesis((5, 6, STOP), (-1.0, -2.0, -0.5)).score(0.6) == pytest.approx(
        -3.5 / ((5 + 3) / 6) ** 0.6
    )
    assert length_penalty(7, 0.0) == 1.0
    log_p = piece_log_probabilities(tiny, torch.randn(3, tiny.config.d_model))
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(3))
    assert log_p[0].isinf().nonzero().flatten().tolist() == [0, 1, 2] and log_p[0, PAD] == -math.inf


def test_storing_the_embedding_by_columns_changes_no_translation(tiny: Transformer) -> None:
    before, after = (
        beam_search(one, source_of(ROWS), 3, [0.6] * 3)
        for one in (tiny, lay_out_by_column(copy.deepcopy(tiny)))
    )
    assert [[h.tokens for h in one] for one in before] == [[h.tokens for h in one] for one in after]
    assert before[0][0].log_probability == pytest.approx(after[0][0].log_probability, abs=1e-4)


# ---- the tree


@pytest.mark.parametrize("beam", range(1, 9))
def test_one_tree_holds_the_search_of_every_length_penalty(
    tiny: Transformer, tokenizer: Tokenizer, beam: int
) -> None:
    source = source_of(ROWS, 12)
    growths = grow(tiny, source, beam)
    trees = [growth.tree(tokenizer, GREEDY) for growth in growths]
    for alpha in ALPHAS:
        for growth, tree, expected in zip(
            growths, trees, beam_search(tiny, source, beam, [alpha] * 3), strict=True
        ):
            found = outcome(tree, alpha)
            assert [growth.path(node) for node in found.ranking] == [h.tokens for h in expected]
            assert [score(tree, node, alpha) for node in found.ranking] == pytest.approx(
                [h.score(alpha) for h in expected], abs=1e-4
            )
    for growth, tree, alone in zip(
        growths, trees, beam_search(tiny, source, 1, [0.6] * 3), strict=True
    ):
        lasts = [outcome(tree, alpha).last for alpha in ALPHAS]
        assert lasts == sorted(lasts) and lasts[-1] == tree.step.max(), (
            "a larger length penalty never ends the search earlier"
        )
        greedy = [growth.tokens[node] for node in tree.greedy]
        assert greedy == list(alone[0].tokens[: len(greedy)]), (
            "the greedy translation is followed as far as the beam ranks it"
        )
        assert (
            len(greedy) == len(alone[0].tokens)
            or growth.fates[growth.greedy[-1]] == "passed"
            or beam > 1
        )
    assert Growth(2, 9, False).path(0) == ()


def test_every_node_adds_one_piece(tiny: Transformer, tokenizer: Tokenizer) -> None:
    growth, *_ = grow(tiny, source_of(ROWS, 12), 4)
    tree = growth.tree(tokenizer, GREEDY)
    for node in range(1, len(tree.pieces)):
        parent = int(tree.parent[node])
        assert (
            parent < node
            and tree.fates[parent] == "kept"
            and tree.step[node] == tree.step[parent] + 1
        )
        assert tree.total[node] == pytest.approx(
            tree.total[parent] + tree.log_probability[node], abs=1e-4
        )
        assert np.isfinite(tree.stop[parent]) and (
            tree.fates[node] == "kept" or math.isnan(tree.stop[node])
        )
        if growth.tokens[node] == STOP:
            assert tree.stop[parent] == pytest.approx(tree.log_probability[node], abs=1e-5)
    for step in range(1, int(tree.step.max()) + 1):
        here = np.flatnonzero(tree.step == step)
        assert (
            tree.rank[here].tolist() == list(range(1, len(here) + 1))
            and (np.diff(tree.total[here]) <= 1e-6).all()
        )
        assert sum(tree.fates[node] == "kept" for node in here) <= 4


def test_without_the_stop_token_only_the_limit_ends_the_search(
    tiny: Transformer, tokenizer: Tokenizer
) -> None:
    source = source_of(ROWS, 12)
    for growth, limit in zip(grow(tiny, source, 3, endless=True), source.limits, strict=True):
        tree = growth.tree(tokenizer, GREEDY)
        ends = [node for node, token in enumerate(growth.tokens) if token == STOP]
        assert ends and {int(tree.step[node]) for node in ends} == {limit} == {
            outcome(tree, 0.6).last
        }
        assert np.isfinite(tree.stop[:2]).all(), (
            "it may not stop, and still one sees how much it would like to"
        )


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ("abcdxyxyxy", (4, 2)),
        ("abbbb", (1, 1)),
        ("abcabc", (0, 3)),
        ("abcd", None),
        ("", None),
        ("xabab", (1, 2)),
    ],
)
def test_a_loop_is_found_with_its_beginning_and_its_period(
    pieces: str, found: tuple[int, int] | None
) -> None:
    assert loop(tuple(pieces)) == found


def test_a_request_is_answered_in_its_place(
    shipped: Pretrained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.translation.search.load", lambda: shipped)
    answers = search(
        [
            Search(""),
            Search("Two dogs.", 2),
            Search("Two dogs.", 99),
            Search("A man.", 3, True),
            Search("A girl.", 2),
        ]
    )
    assert [type(answer) for answer in answers] == [InputError, Tree, InputError, Tree, Tree]
    (alone,) = search([Search("A girl.", 2)])
    assert (
        isinstance(alone, Tree)
        and isinstance(answers[4], Tree)
        and alone.pieces == answers[4].pieces
    )


@pytest.mark.parametrize("beam", [1, 2, 5, 8])
def test_the_shipped_model_finds_in_its_tree_what_the_page_shows(beam: int) -> None:
    sentences = [
        "Two dogs are running through the snow.",
        "A man in a blue shirt is standing on a ladder and cleaning a window.",
    ]
    trees = search([Search(sentence, beam) for sentence in sentences])
    for alpha in (0.0, 0.6, 1.5):
        for tree, seen in zip(
            trees, explain([Request(sentence, beam, alpha) for sentence in sentences]), strict=True
        ):
            assert isinstance(tree, Tree) and isinstance(seen, Explanation)
            ranking = outcome(tree, alpha).ranking
            assert [tree.texts[node] for node in ranking] == [text for text, *_ in seen.hypotheses]
            assert score(tree, ranking[0], alpha) == pytest.approx(seen.score, abs=1e-3)
