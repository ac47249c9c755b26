"""What the page of translation gets: runs, the same words read again, a given translation scored,
positions shuffled, and single heads."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from models.data.multi30k import Encoded
from models.decoding.beam import EXTRA
from models.explaining.errors import InputError
from models.translation.explain import explain, measure
from models.translation.forced import Forced, Reading, score_forced
from models.translation.head_records import Head, Look
from models.translation.position_records import MAX_SEED, Positions, Shuffle
from models.translation.positions import positions, shuffle_words
from models.translation.records import EXAMPLES, KINDS, Explanation, Request, Rereading
from models.translation.vectors import heads, vectors
from tests.models.networks import answer

GIRL = "A little girl climbs a tree, and her friend looks on."
DOGS = "Two dogs are running through the snow."
one, asked = partial(answer, explain, Explanation), partial(answer, positions, Positions)
untrained = pytest.mark.usefixtures("shipped")


def again(request: Request, before: Explanation) -> Explanation:
    """The translation of `before`, read under what `request` changes."""
    return answer(measure, Explanation, Rereading(request, before.target, before.target_space))


# ---- a run


@untrained
def test_shapes_and_sums_of_a_translation() -> None:
    seen = one(Request(GIRL, alpha=1.0))
    n, m = len(seen.source), len(seen.target)
    assert [getattr(seen, kind).shape[2:] for kind in ("encoder", "decoder", "cross")] == [
        (n, n),
        (m, m),
        (m, n),
    ]
    assert len(seen.source_space) == n and len(seen.target_space) == m and seen.target[-1] == "</s>"
    for weights in (seen.encoder, seen.decoder, seen.cross):
        assert weights.dtype == np.float32
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert seen.log_probability == pytest.approx(float(seen.log_probabilities.sum()), abs=1e-4)
    assert seen.score == pytest.approx(seen.log_probability / ((5 + m) / 6))
    assert m == n + EXTRA and seen.hypotheses[0] == (
        seen.text,
        seen.log_probability,
        seen.score,
        "limit",
    )


@untrained
def test_without_the_mask_writing_goes_on() -> None:
    before, run = one(Request(GIRL)), one(Request(GIRL, without=("mask",)))
    assert run.text == before.text and np.triu(run.decoder, 1).max() > 0
    np.testing.assert_allclose(run.decoder.sum(-1), 1, atol=1e-5)


def test_without_the_scale_rows_harden() -> None:
    before = one(Request(DOGS))  # with the shipped model, which has learned
    assert (
        again(Request(DOGS, without=("scale",)), before).cross.max(-1).mean()
        > before.cross.max(-1).mean() + 0.1
    )


# ---- a given translation


def scored(german: str | None) -> Forced:
    return answer(score_forced, Forced, Reading(DOGS, german))


def test_its_translation_is_its_favourite() -> None:
    seen, own = one(Request(DOGS)), scored(None)
    assert own.target == seen.target and own.own == own.german == seen.text
    np.testing.assert_allclose(own.log_probabilities, seen.log_probabilities, atol=1e-4)
    np.testing.assert_allclose(own.cross, seen.cross, atol=1e-5)
    assert own.ranks.tolist() == [1] * len(seen.target)
    assert not any(
        array.flags.writeable
        for array in (own.cross, own.ranks, own.log_probabilities, own.probabilities)
    )


def test_the_true_word_goes_in_whatever_was_predicted() -> None:
    right, wrong = (
        scored("Zwei Hunde rennen durch den Schnee."),
        scored("Zwei Katzen rennen durch den Schnee."),
    )
    at = right.target.index("Hunde")
    assert (
        wrong.log_probabilities[at] < right.log_probabilities[at] - 3
        and wrong.ranks[at] > 1 == right.ranks[at]
    )
    assert wrong.favourites[at] == right.favourites[at], (
        "what it would have said is decided before the word is seen"
    )
    np.testing.assert_allclose(
        wrong.log_probabilities[:at], right.log_probabilities[:at], atol=1e-5
    )
    assert wrong.target[-1] == "</s>"


def test_favourites_agree_with_their_ranks() -> None:
    seen = scored("Zwei Hunde laufen im Schnee.")
    assert (np.diff(seen.probabilities, axis=1) <= 0).all() and (
        seen.probabilities.sum(1) <= 1 + 1e-5
    ).all()
    for i, (rank, log_p) in enumerate(
        zip(seen.ranks.tolist(), seen.log_probabilities, strict=True)
    ):
        if rank <= 5:
            assert seen.favourites[i][rank - 1] == seen.target[i]
            assert seen.probabilities[i, rank - 1] == pytest.approx(float(np.exp(log_p)), abs=1e-5)
        else:
            assert float(np.exp(log_p)) <= seen.probabilities[i, -1]


@pytest.mark.parametrize(
    ("german", "code", "says"),
    [
        ("", "empty", "empty"),
        (" \n\x00 ", "empty", "empty"),
        ("Hund " * 61, "too_long", "61 word pieces"),
        ("x" * 2001, "too_long", "2,001 characters"),
        ("Zwei 狗 laufen", "unknown_letters", "狗"),
        ("🎈", "unknown_letters", "🎈"),
    ],
)
def test_german_that_cannot_be_scored_is_refused_in_one_sentence(
    german: str, code: str, says: str
) -> None:
    bad, refusal, fine = score_forced(
        [Reading("", "Hund."), Reading(DOGS, german), Reading(DOGS, "Hund.")]
    )
    assert isinstance(bad, InputError) and isinstance(fine, Forced), "a bad request spoils no other"
    assert (
        isinstance(refusal, InputError)
        and refusal.code == code
        and says in refusal.text["en"]
        and refusal.text["zh"]
    )


# ---- positions


def pieces(*words: str) -> Encoded:
    """Pieces as the tokenizer gives them; "+ing" continues the word before it, as punctuation
    does."""
    shown = [word.removeprefix("+") for word in words]
    names = sorted(set(shown))
    return Encoded(
        tuple(names.index(word) for word in shown),
        tuple(shown),
        tuple(not word.startswith("+") for word in words),
    )


def test_whole_words_change_places_and_marks_keep_theirs() -> None:
    text, twice = (
        pieces("A", "blond", "hold", "+ing", "+,", "a", "hand", "+."),
        pieces("the", "dog", "the", "the"),
    )
    for seed in range(1, 30):
        order = shuffle_words(text, seed)
        assert (
            sorted(order) == list(range(8))
            and order != tuple(range(8))
            and order == shuffle_words(text, seed)
        )
        assert order[-1] == 7, "the full stop stays at the end"
        assert order[order.index(2) + 1] == 3, "the pieces of one word stay together"
        assert [twice.pieces[i] for i in shuffle_words(twice, seed)] != list(twice.pieces)
    assert len({shuffle_words(pieces(*"abcdefgh"), seed) for seed in range(1, 20)}) > 15


def test_equal_words_and_bad_seeds_fail() -> None:
    for words in (("dog",), ("dog", "dog", "+."), ("dog", "+,", "+.")):
        with pytest.raises(InputError, match="two different"):
            shuffle_words(pieces(*words), 1)
    for seed in (0, -1, MAX_SEED + 1, True, 1.5, "1"):
        (answer,) = positions([Shuffle(DOGS, seed)])  # type: ignore[arg-type]
        assert isinstance(answer, InputError) and answer.code == "seed"


def test_without_the_signal_order_is_lost() -> None:
    for example in EXAMPLES:
        seen = asked(Shuffle(example.sentence))
        assert (
            seen.silence.largest < 1e-5
            and seen.silence.distances.max() < 1e-4
            and seen.silence.before == seen.silence.after
        )
        assert seen.signal.largest > 0.1 and seen.signal.distances.min() > 0.1 and seen.size > 1


def test_original_and_shuffled_order() -> None:
    seen = asked(Shuffle("Two dogs run.", 1))
    plain, words = one(Request("Two dogs run.")), [seen.source[i] for i in seen.order[:-1]]
    assert (seen.signal.before, seen.source, seen.source_space) == (
        plain.text,
        plain.source,
        plain.source_space,
    )
    assert (
        words != ["Two", "dogs", "run"]
        and seen.signal.after == one(Request(f"{' '.join(words)}.")).text
    )
    answers = positions([Shuffle(""), Shuffle("dog"), Shuffle(DOGS, 0), Shuffle(DOGS)])
    assert [isinstance(answer, InputError) for answer in answers] == [True, True, True, False]


def test_both_pictures_follow_the_formula() -> None:
    seen = asked(Shuffle(DOGS))
    assert (seen.textbook.shape, seen.own.shape) == ((32, 128), (60, 192))
    for table in (seen.own, seen.textbook):
        p, k = np.ogrid[: len(table), : table.shape[1] // 2]
        angle = p / 10_000 ** (2 * k / table.shape[1])
        np.testing.assert_allclose(
            table, np.stack((np.sin(angle), np.cos(angle)), 2).reshape(table.shape), atol=1e-6
        )
        assert not table.flags.writeable


# ---- single heads

CHANGED = replace(
    EXAMPLES[1], silenced=(("encoder", 0, 0),), hidden=(1,), without=("scale", "mask")
)


@pytest.mark.parametrize("request_", [EXAMPLES[1], CHANGED], ids=["as trained", "changed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_heads_weights_follow_from_what_it_computed_with(kind: str, request_: Request) -> None:
    seen = one(request_)
    layers, n_heads = seen.encoder.shape[:2]
    places = [(0, 0), (layers - 1, n_heads - 1), (1, 3)]
    for (layer, head), found in zip(
        places, heads([Look(request_, kind, *place) for place in places]), strict=True
    ):
        assert isinstance(found, Head) and (found.layers, found.heads) == (layers, n_heads)
        scores = (
            found.queries @ found.keys.T / (np.sqrt(found.queries.shape[1]) if found.scaled else 1)
        )
        if found.causal:
            scores = np.where(np.tril(np.ones(scores.shape, bool)), scores, -np.inf)
        scores[:, list(found.hidden)] = -np.inf
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        np.testing.assert_allclose(
            raised / raised.sum(-1, keepdims=True), getattr(seen, kind)[layer, head], atol=1e-4
        )
        assert (
            scores.shape
            == (len(found.query_pieces), len(found.key_pieces))
            == (len(found.query_space), len(found.key_space))
        )
        assert found.values.shape == found.keys.shape and not found.values.flags.writeable


def test_bad_heads_and_sentences_are_refused() -> None:
    looks = [
        ("A dog.", "cross", 0),
        ("A dog.", "cross", 99),
        ("A dog.", "sideways", 0),
        ("", "cross", 0),
    ]
    found = heads([Look(Request(sentence), kind, layer, 0) for sentence, kind, layer in looks])
    assert [isinstance(one, InputError) for one in found] == [False, True, True, True]
    (silenced,) = vectors([Request("A dog.", silenced=(("cross", 0, 0),))])
    assert isinstance(silenced, dict), "its weights are the same function of queries and keys"
