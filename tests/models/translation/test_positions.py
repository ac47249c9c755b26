"""Word order is told by the sinusoids alone: without them the encoder reads a bag of words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from models.errors import InputError
from models.multi30k import Encoded
from models.translation.explain import explain
from models.translation.position_records import MAX_SEED, Positions, Shuffle
from models.translation.positions import positions, shuffled
from models.translation.records import EXAMPLES, Request

SENTENCE = EXAMPLES[0].sentence


def pieces(*words: str) -> Encoded:
    """Pieces as the tokenizer gives them; "+ing" continues the word before it, as punctuation does."""
    shown = [word.removeprefix("+") for word in words]
    names = sorted(set(shown))
    return Encoded(tuple(names.index(word) for word in shown), tuple(shown), tuple(not word.startswith("+") for word in words))


def asked(sentence: str = SENTENCE, seed: int = 1) -> Positions:
    """The answer to one question."""
    (answer,) = positions([Shuffle(sentence, seed)])
    assert isinstance(answer, Positions), answer
    return answer


def test_whole_words_change_places_and_marks_keep_theirs() -> None:
    text = pieces("A", "blond", "hold", "+ing", "+,", "a", "hand", "+.")
    for seed in range(1, 30):
        order = shuffled(text, seed)
        assert sorted(order) == list(range(8))
        assert order[-1] == 7, "the full stop stays at the end"
        at = order.index(2)
        assert order[at + 1] == 3, "the pieces of one word stay together"
        assert order != tuple(range(8))


def test_the_same_seed_gives_the_same_order_and_another_one_another() -> None:
    text = pieces(*["a", "b", "c", "d", "e", "f", "g", "h"])
    assert shuffled(text, 5) == shuffled(text, 5)
    assert len({shuffled(text, seed) for seed in range(1, 20)}) > 15


def test_a_shuffled_text_never_reads_as_before() -> None:
    text = pieces("the", "dog", "the", "the")
    for seed in range(1, 30):
        assert [text.pieces[i] for i in shuffled(text, seed)] != list(text.pieces)


@pytest.mark.parametrize("text", [pieces("dog"), pieces("dog", "dog", "+."), pieces("dog", "+,", "+.")])
def test_a_text_without_two_different_words_is_refused(text: Encoded) -> None:
    with pytest.raises(InputError, match="two different"):
        shuffled(text, 1)


@pytest.mark.parametrize("seed", [0, -1, MAX_SEED + 1, True, 1.5, "1"])
def test_an_absurd_seed_is_refused(seed: object) -> None:
    (answer,) = positions([Shuffle(SENTENCE, seed)])  # type: ignore[arg-type]
    assert isinstance(answer, InputError) and answer.code == "seed"


def test_without_the_signal_the_encoder_gives_the_same_vectors_in_another_order() -> None:
    for example in EXAMPLES:
        seen = asked(example.sentence)
        assert seen.silence.largest < 1e-5
        assert seen.silence.distances.max() < 1e-4
        assert seen.silence.before == seen.silence.after
        assert seen.signal.largest > 0.1
        assert seen.signal.distances.min() > 0.1
        assert seen.size > 1


def test_the_sentence_in_its_own_order_is_translated_as_ever() -> None:
    (plain,) = explain([Request(SENTENCE)])
    assert not isinstance(plain, InputError)
    seen = asked()
    assert seen.signal.before == plain.text
    assert seen.source == plain.source
    assert seen.source_space == plain.source_space


def test_the_shuffled_sentence_is_translated_as_if_it_had_been_typed() -> None:
    seen = asked("Two dogs run.", 1)
    words = [seen.source[i] for i in seen.order[:-1]]
    assert words != ["Two", "dogs", "run"]
    (typed,) = explain([Request(f"{' '.join(words)}.")])
    assert not isinstance(typed, InputError)
    assert seen.signal.after == typed.text


def test_both_pictures_follow_the_formula() -> None:
    seen = asked()
    assert seen.textbook.shape == (32, 128)
    assert seen.own.shape == (60, 192)
    for table in (seen.own, seen.textbook):
        length, d = table.shape
        p, k = np.arange(length)[:, None], np.arange(d // 2)[None, :]
        angle = p / 10_000 ** (2 * k / d)
        np.testing.assert_allclose(table[:, 0::2], np.sin(angle), atol=1e-6)
        np.testing.assert_allclose(table[:, 1::2], np.cos(angle), atol=1e-6)
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1


def test_one_bad_request_spoils_no_other() -> None:
    answers = positions([Shuffle(""), Shuffle("dog"), Shuffle(SENTENCE, 0), Shuffle(SENTENCE)])
    assert [isinstance(answer, InputError) for answer in answers] == [True, True, True, False]
    assert dataclasses.is_dataclass(answers[3])
