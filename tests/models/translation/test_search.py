"""The tree of a beam search is the search itself, looked on at: same translations, and every step accounted for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.encoder_decoder import Transformer
from models.errors import InputError
from models.multi30k import PAD, STOP, Tokenizer, padded
from models.searching import Source, beam_search
from models.translation.pretrained import Pretrained
from models.translation.records import Explanation, Request
from models.translation.search import Growth, Search, grow, search
from models.translation.search_records import Tree, loop, outcome, score

ROWS = [[4, 5, 6, 7, 8, 9], [10, 11], [12, 13, 14, 15]]
ALPHAS = [0.0, 0.3, 0.6, 1.0, 1.7, 2.0]
NOTHING = np.zeros((1, 1, 1, 1), np.float32)
GREEDY = Explanation(
    source=(),
    source_space=(),
    target=("x", "</s>"),
    target_space=(True, False),
    text="x",
    encoder=NOTHING,
    decoder=NOTHING,
    cross=NOTHING,
    log_probabilities=np.zeros(2, np.float32),
    log_probability=-3.0,
    score=-2.0,
    hypotheses=(),
    unknown=0,
    surprising=False,
)


def source_of(rows: list[list[int]], limit: int = 12) -> Source:
    tokens = padded(rows)
    return Source(tokens, tokens != PAD, tuple(limit - i for i in range(len(rows))))


@pytest.mark.parametrize("beam", range(1, 9))
def test_one_tree_holds_the_search_of_every_length_penalty(tiny: Transformer, tokenizer: Tokenizer, beam: int) -> None:
    growths = grow(tiny, source_of(ROWS), beam)
    for alpha in ALPHAS:
        for growth, expected in zip(growths, beam_search(tiny, source_of(ROWS), beam, [alpha] * 3), strict=True):
            tree = growth.tree(tokenizer, GREEDY)
            found = outcome(tree, alpha)
            assert [growth.path(node) for node in found.ranking] == [h.tokens for h in expected]
            assert [score(tree, node, alpha) for node in found.ranking] == pytest.approx([h.score(alpha) for h in expected], abs=1e-4)


def test_a_larger_length_penalty_never_ends_the_search_earlier(tiny: Transformer, tokenizer: Tokenizer) -> None:
    for growth in grow(tiny, source_of(ROWS), 3):
        tree = growth.tree(tokenizer, GREEDY)
        lasts = [outcome(tree, alpha).last for alpha in ALPHAS]
        assert lasts == sorted(lasts)
        assert lasts[-1] == tree.step.max()


def test_looking_on_changes_nothing(tiny: Transformer) -> None:
    seen: list[int] = []
    plain = beam_search(tiny, source_of(ROWS), 4, [0.6] * 3)
    watched = beam_search(tiny, source_of(ROWS), 4, [0.6] * 3, lambda sentence, log_p, ranked: seen.append(sentence))
    assert watched == plain
    assert set(seen) == {0, 1, 2}


def test_every_node_is_its_parent_and_one_piece_more(tiny: Transformer, tokenizer: Tokenizer) -> None:
    (growth, *_) = grow(tiny, source_of(ROWS), 4)
    tree = growth.tree(tokenizer, GREEDY)
    for node in range(1, len(tree.pieces)):
        parent = int(tree.parent[node])
        assert parent < node
        assert tree.fates[parent] == "kept"
        assert tree.step[node] == tree.step[parent] + 1
        assert tree.total[node] == pytest.approx(tree.total[parent] + tree.log_probability[node], abs=1e-4)
    for step in range(1, int(tree.step.max()) + 1):
        here = np.flatnonzero(tree.step == step)
        assert tree.rank[here].tolist() == list(range(1, len(here) + 1))
        assert (np.diff(tree.total[here]) <= 1e-6).all()
        assert sum(tree.fates[node] == "kept" for node in here) <= 4


def test_the_stop_token_is_watched_wherever_a_hypothesis_went_on(tiny: Transformer, tokenizer: Tokenizer) -> None:
    (growth, *_) = grow(tiny, source_of(ROWS), 4)
    tree = growth.tree(tokenizer, GREEDY)
    asked = {int(parent) for parent in tree.parent[1:]}
    assert all(np.isfinite(tree.stop[node]) for node in asked)
    for node in range(1, len(tree.pieces)):
        if growth.tokens[node] == STOP:
            assert tree.stop[tree.parent[node]] == pytest.approx(tree.log_probability[node], abs=1e-5)
        if tree.fates[node] != "kept":
            assert math.isnan(tree.stop[node])


def test_the_greedy_translation_is_followed_as_far_as_the_beam_ranks_it(tiny: Transformer, tokenizer: Tokenizer) -> None:
    for beam in (1, 3):
        for growth, alone in zip(grow(tiny, source_of(ROWS), beam), beam_search(tiny, source_of(ROWS), 1, [0.6] * 3), strict=True):
            greedy = [growth.tokens[node] for node in growth.tree(tokenizer, GREEDY).greedy]
            assert greedy == list(alone[0].tokens[: len(greedy)])
            assert len(greedy) == len(alone[0].tokens) or growth.fates[growth.greedy[-1]] == "passed" or beam > 1


def test_without_the_stop_token_only_the_limit_ends_the_search(tiny: Transformer, tokenizer: Tokenizer) -> None:
    for growth, limit in zip(grow(tiny, source_of(ROWS), 3, endless=True), source_of(ROWS).limits, strict=True):
        tree = growth.tree(tokenizer, GREEDY)
        ends = [node for node, token in enumerate(growth.tokens) if token == STOP]
        assert ends and {int(tree.step[node]) for node in ends} == {limit}
        assert np.isfinite(tree.stop[:2]).all(), "it may not stop, and still one sees how much it would like to"
        assert outcome(tree, 0.6).last == limit


@pytest.mark.parametrize(
    ("pieces", "found"), [("abcdxyxyxy", (4, 2)), ("abbbb", (1, 1)), ("abcabc", (0, 3)), ("abcd", None), ("", None), ("xabab", (1, 2))]
)
def test_a_loop_is_found_with_its_beginning_and_its_period(pieces: str, found: tuple[int, int] | None) -> None:
    assert loop(tuple(pieces)) == found


def test_a_request_is_answered_in_its_place(shipped: Pretrained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.translation.search.load", lambda: shipped)
    answers = search([Search(""), Search("Two dogs.", 2), Search("Two dogs.", 99), Search("A man.", 3, True), Search("A girl.", 2)])
    assert [type(answer) for answer in answers] == [InputError, Tree, InputError, Tree, Tree]
    alone = search([Search("A girl.", 2)])[0]
    assert isinstance(alone, Tree) and isinstance(answers[4], Tree)
    assert alone.pieces == answers[4].pieces


@pytest.mark.parametrize("beam", [1, 2, 5, 8])
def test_the_shipped_model_finds_in_its_tree_what_the_page_shows(beam: int) -> None:
    from models.translation.explain import explain

    sentences = ["Two dogs are running through the snow.", "A man in a blue shirt is standing on a ladder and cleaning a window."]
    trees = search([Search(sentence, beam) for sentence in sentences])
    for alpha in (0.0, 0.6, 1.5):
        for tree, seen in zip(trees, explain([Request(sentence, beam, alpha) for sentence in sentences]), strict=True):
            assert isinstance(tree, Tree) and isinstance(seen, Explanation)
            ranking = outcome(tree, alpha).ranking
            assert [tree.texts[node] for node in ranking] == [text for text, _, _ in seen.hypotheses]
            assert score(tree, ranking[0], alpha) == pytest.approx(seen.score, abs=1e-3)


def test_a_growth_begins_with_its_root() -> None:
    assert Growth(2, 9, False).path(0) == ()
