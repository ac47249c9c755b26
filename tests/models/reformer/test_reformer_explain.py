"""What a page gets of a run: answers, hashes, what was missed, and inputs computed again."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest

from models.reformer.explain import explain, hashing, in_chunks, missed, rewind
from models.reformer.records import Explanation, InChunks, Request, Rewound
from tests.models.networks import answer

pytestmark = pytest.mark.usefixtures("trained")
SHORT = Request(text="odd", rounds=2, chunk=4, buckets=4)


explained = partial(answer, explain, Explanation)


def test_every_model_that_is_there_answers_letter_by_letter() -> None:
    seen = explained(SHORT)
    assert seen.tokens == ("0", "o", "d", "d", "0", "o", "d")
    assert seen.wanted.tolist() == [4, 5, 6]
    assert [one.variant for one in seen.read] == ["lsh_4", "full"]
    for one in seen.read:
        assert len(one.answer) == len(one.said) == len(one.nats) == 3
        assert one.queries.shape == (1, 2, 7, 8)
        assert one.buckets.shape == (1, 2, 2, 7)
        assert not one.queries.flags.writeable


def test_hashing_can_be_followed_from_vectors_to_weights() -> None:
    seen = explained(SHORT)
    steps = hashing(seen, "lsh_4", 0, 1, 1)
    both = np.concatenate((steps.rotated, -steps.rotated), 1)
    assert both.shape == (7, 4)
    assert np.array_equal(both.argmax(1), steps.buckets)
    assert sorted(steps.order.tolist()) == list(range(7))
    assert (np.diff(steps.buckets[steps.order]) >= 0).all()
    np.testing.assert_allclose(steps.weights.sum(1), 1, atol=2e-3)
    assert not steps.weights[~(steps.seen | np.eye(7, dtype=bool))].any()
    assert not np.triu(steps.seen, 1).any()


def test_what_is_missed_falls_with_rounds_and_is_nothing_when_all_meet() -> None:
    seen = explained(dataclasses.replace(SHORT, text="what was missed, and how much", rounds=1))
    found = missed(seen, "lsh_4", 0, 0)
    assert found.table.shape == (16, len(found.kinds))
    assert (np.diff(found.table, axis=0) <= 1e-4).all()
    assert found.table[0].max() > 0
    everything = missed(explained(dataclasses.replace(SHORT, chunk=7)), "lsh_4", 0, 0)
    assert not everything.table[:, everything.kinds.index(everything.chosen)].any()


@pytest.mark.parametrize(("buckets", "chosen"), [(4, 0), (4, 16), (6, 6)])
def test_the_round_in_which_a_pair_first_meets_is_that_of_a_search_pair_by_pair(buckets: int, chosen: int) -> None:
    seen = explained(dataclasses.replace(SHORT, text="pair by pair", buckets=buckets, rounds=3, chunk=4))
    found = missed(seen, "lsh_4", 0, 1, chosen)
    length, chunk = len(seen.tokens), 4
    rounds = seen.read[0].buckets[0, 1] if chosen in {0, buckets} else np.zeros((0, length), np.int16)
    first = found.first
    assert (first.dtype, first.shape) == (np.uint8, (length, length))
    assert found.chosen == (chosen or buckets) and found.chosen in found.kinds and buckets in found.kinds
    for query in range(length):
        for key in range(length):
            wanted = 0
            for number, bucket in reversed(list(enumerate(rounds, 1))):
                place = {position: i for i, position in enumerate(sorted(range(length), key=lambda p: (bucket[p], p)))}
                if key < query and place[query] // chunk - place[key] // chunk in {0, 1}:
                    wanted = number
            if wanted or key >= query:
                assert first[query, key] == wanted
            else:
                assert first[query, key] == 0 or first[query, key] > len(rounds)


def test_the_map_of_first_meetings_adds_up_to_the_table_of_what_is_missed() -> None:
    seen = explained(dataclasses.replace(SHORT, text="what was missed, and how much", rounds=2))
    for chosen in (0, 2, 32):
        found = missed(seen, "lsh_4", 0, 0, chosen)
        column = found.kinds.index(found.chosen)
        pairs = np.tri(len(found.first), k=-1, dtype=bool)
        for rounds in (1, 2, 7, 16):
            met = (found.first > 0) & (found.first <= rounds)
            lost = np.where(met, 0, np.exp(found.log_full))[1:] * pairs[1:]
            assert found.table[rounds - 1, column] == pytest.approx(100 * lost.sum(1).mean(), abs=0.05)
            assert found.pairs[rounds - 1, column] == pytest.approx(100 * met.sum() / pairs.sum(), abs=1e-3)
    with pytest.raises(ValueError, match="7 buckets"):
        missed(seen, "lsh_4", 0, 0, 7)


def test_zero_rounds_are_full_attention_and_odd_sizes_do_no_harm() -> None:
    full, whole = explained(dataclasses.replace(SHORT, rounds=0)), explained(dataclasses.replace(SHORT, chunk=256, buckets=256))
    np.testing.assert_allclose(full.read[0].nats, whole.read[0].nats, atol=1e-4)
    assert full.read[0].buckets.shape[2] == 0
    for chunk in (1, 3, 5):
        assert np.isfinite(explained(dataclasses.replace(SHORT, chunk=chunk)).read[0].nats).all()


def test_an_intervention_changes_what_comes_out_of_its_model_alone() -> None:
    before, after = explained(Request(text="heads")), explained(Request(text="heads", silenced=(("full", 0, 0),)))
    hashed, full = zip(before.read, after.read, strict=True)
    assert np.array_equal(hashed[0].nats, hashed[1].nats)
    assert not np.array_equal(full[0].nats, full[1].nats)


def test_inputs_come_back_nearly_in_single_and_still_nearer_in_double_precision() -> None:
    found = rewind(Request("text", "Alice was beginning", rounds=2), "text")
    assert isinstance(found, Rewound)
    assert found.single.shape == found.double.shape == (4,)
    assert 0 < found.single.max() < 1e-4
    assert found.double.max() < 1e-12
    np.testing.assert_allclose(found.forward, found.again, atol=1e-3)


def test_a_feed_forward_network_in_chunks_holds_less_and_says_the_same() -> None:
    found = in_chunks(Request("text", "Alice was beginning", rounds=2), "text", 1)
    assert isinstance(found, InChunks)
    assert max(found.difference) < 1e-5
    assert list(found.inner_bytes) == sorted(found.inner_bytes, reverse=True)
    assert found.inner_bytes[0] == 4 * 16 * 19


def test_a_text_is_read_from_its_first_character_even_an_unknown_one() -> None:
    seen = explained(Request("text", "Al§ce", rounds=1))
    (read,) = seen.read
    assert len(seen.wanted) == len(read.nats) == 5
    assert np.isfinite(read.nats).all()


def test_heads_and_rounds_that_there_are_not_are_refused() -> None:
    seen = explained(SHORT)
    with pytest.raises(IndexError, match=r"no head 0\.9 of lsh_4"):
        missed(seen, "lsh_4", 0, 9)
    with pytest.raises(IndexError, match="no round 2 in a run with 2"):
        hashing(seen, "lsh_4", 0, 0, 2)
