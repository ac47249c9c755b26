"""A given translation is read with every piece in its place, and scored as the search would have scored it."""

from __future__ import annotations

import numpy as np
import pytest

from models.errors import InputError
from models.translation.explain import explain
from models.translation.forced import Forced, Reading, forced
from models.translation.records import Explanation, Request

SENTENCE = "Two dogs are running through the snow."


def read(german: str | None, sentence: str = SENTENCE) -> Forced:
    (answer,) = forced([Reading(sentence, german)])
    assert isinstance(answer, Forced), answer
    return answer


def test_the_models_own_translation_is_as_likely_as_the_search_said_and_always_its_favourite() -> None:
    (seen,) = explain([Request(SENTENCE)])
    assert isinstance(seen, Explanation)
    own = read(None)
    assert own.target == seen.target
    np.testing.assert_allclose(own.log_probabilities, seen.log_probabilities, atol=1e-4)
    np.testing.assert_allclose(own.cross, seen.cross, atol=1e-5)
    assert own.ranks.tolist() == [1] * len(seen.target)
    assert own.own == own.german == seen.text


def test_the_true_word_goes_in_whatever_was_predicted() -> None:
    right, wrong = read("Zwei Hunde rennen durch den Schnee."), read("Zwei Katzen rennen durch den Schnee.")
    at = right.target.index("Hunde")
    assert wrong.log_probabilities[at] < right.log_probabilities[at] - 3
    assert wrong.ranks[at] > 1 == right.ranks[at]
    assert wrong.favourites[at] == right.favourites[at], "what it would have said is decided before the word is seen"
    np.testing.assert_allclose(wrong.log_probabilities[:at], right.log_probabilities[:at], atol=1e-5)
    assert wrong.target[-1] == "</s>"


def test_favourites_are_the_likeliest_pieces_and_ranks_agree_with_them() -> None:
    seen = read("Zwei Hunde laufen im Schnee.")
    assert (np.diff(seen.probabilities, axis=1) <= 0).all()
    assert (seen.probabilities.sum(1) <= 1 + 1e-5).all()
    for i, rank in enumerate(seen.ranks.tolist()):
        probability = float(np.exp(seen.log_probabilities[i]))
        if rank <= 5:
            assert seen.favourites[i][rank - 1] == seen.target[i]
            assert seen.probabilities[i, rank - 1] == pytest.approx(probability, abs=1e-5)
        else:
            assert probability <= seen.probabilities[i, -1]


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
def test_german_that_cannot_be_scored_is_refused_in_one_sentence(german: str, code: str, says: str) -> None:
    (refusal,) = forced([Reading(SENTENCE, german)])
    assert isinstance(refusal, InputError)
    assert refusal.code == code
    assert says in refusal.text["en"] and refusal.text["zh"]


def test_a_bad_request_spoils_no_other() -> None:
    answers = forced([Reading("", "Hund."), Reading(SENTENCE, ""), Reading(SENTENCE, "Hund.")])
    assert [type(answer) for answer in answers] == [InputError, InputError, Forced]


def test_arrays_cannot_be_written() -> None:
    seen = read("Hunde.")
    assert not any(array.flags.writeable for array in (seen.cross, seen.ranks, seen.log_probabilities, seen.probabilities))
