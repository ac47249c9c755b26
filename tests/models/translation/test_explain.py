"""What a page gets: arrays and strings for what can be read, one sentence for what cannot."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from models.errors import InputError
from models.translation.explain import explain, measure
from models.translation.pretrained import Pretrained
from models.translation.records import EXAMPLES, PARTS, Again, Explanation, Request
from tests.models.networks import answer
from tests.models.test_every_lab import same

SENTENCE = "A little girl climbs a tree, and her friend looks on."
OTHER = "Two dogs are running."


one = partial(answer, explain, Explanation)


def test_shapes_fit_the_pieces_and_rows_sum_to_one(shipped: Pretrained) -> None:
    seen = one(Request(SENTENCE))
    n, m, layers, heads = len(seen.source), len(seen.target), 2, 4
    assert seen.encoder.shape == (layers, heads, n, n)
    assert seen.decoder.shape == (layers, heads, m, m)
    assert seen.cross.shape == (layers, heads, m, n)
    assert len(seen.source_space) == n and len(seen.target_space) == m and seen.target[-1] == "</s>"
    for weights in (seen.encoder, seen.decoder, seen.cross):
        assert weights.dtype == np.float32 and not weights.flags.writeable
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert np.triu(seen.decoder, 1).max() == 0


def test_probabilities_add_up(shipped: Pretrained) -> None:
    seen = one(Request(SENTENCE, alpha=1.0))
    assert seen.log_probability == pytest.approx(float(seen.log_probabilities.sum()), abs=1e-4)
    assert seen.score == pytest.approx(seen.log_probability / ((5 + len(seen.target)) / 6))
    assert seen.hypotheses[0] == (seen.text, seen.log_probability, seen.score)


def test_a_hidden_word_gets_no_attention_from_anyone(shipped: Pretrained) -> None:
    seen = one(Request(SENTENCE, hidden=(1, 4)))
    assert seen.encoder[..., [1, 4]].max() == 0 and seen.cross[..., [1, 4]].max() == 0


def test_with_every_word_hidden_there_is_still_an_answer(shipped: Pretrained) -> None:
    n = len(one(Request(OTHER)).source)
    seen = one(Request(OTHER, hidden=tuple(range(n))))
    assert seen.cross.max() == 0 and math.isfinite(seen.log_probability)


@pytest.mark.parametrize(
    "sentence",
    [
        "Two dogs 😀 are running.",
        "Two שלום dogs",
        "Two\x00dogs\x07are running",
        "dogs </script><img src=x onerror=alert(1)> dogs",
        "</s> dogs <pad>",
    ],
)
def test_odd_text_with_something_to_read_is_read(shipped: Pretrained, sentence: str) -> None:
    seen = one(Request(sentence))
    assert seen.text is not None and len(seen.source) == seen.cross.shape[-1]


def test_hostile_markup_comes_back_as_the_characters_it_is(shipped: Pretrained) -> None:
    shown = "".join(one(Request("dogs <b>x</b>")).source)
    assert "<pad>" not in shown and "dogs" in shown


def again(request: Request, before: Explanation) -> Explanation:
    """The translation of `before`, read under what `request` changes."""
    (found,) = measure([Again(request, before.target, before.target_space)])
    assert isinstance(found, Explanation), found
    return found


def test_a_translation_is_read_again_under_a_change_word_by_word(shipped: Pretrained) -> None:
    request = Request(SENTENCE, beam=2, silenced=(("cross", 0, 1), ("cross", 1, 2)), hidden=(1,))
    before = one(request.plain())
    found, bad = measure([Again(request, before.target, before.target_space), Again(Request(""), before.target, before.target_space)])
    assert isinstance(found, Explanation) and isinstance(bad, InputError)
    assert found.target == before.target
    assert found.cross.shape == before.cross.shape
    assert found.cross[..., 1].max() == 0
    assert found.log_probability != pytest.approx(before.log_probability)


@pytest.mark.parametrize("part", PARTS)
def test_every_part_that_can_be_left_out_changes_the_number(shipped: Pretrained, part: str) -> None:
    before = one(Request(SENTENCE))
    forced = again(Request(SENTENCE, without=(part,)), before)
    assert forced.target == before.target
    assert forced.log_probability != pytest.approx(before.log_probability, abs=1e-3)


def test_without_the_scale_rows_harden() -> None:
    before = one(Request("Two dogs are running."))  # with the shipped model, which has learned
    forced = again(Request("Two dogs are running.", without=("scale",)), before)
    assert forced.cross.max(-1).mean() > before.cross.max(-1).mean() + 0.1


def test_without_the_mask_a_word_sees_what_comes_later_and_writing_goes_on_as_before(shipped: Pretrained) -> None:
    before, after = one(Request(SENTENCE)), one(Request(SENTENCE, without=("mask",)))
    assert after.text == before.text
    assert np.triu(after.decoder, 1).max() > 0
    np.testing.assert_allclose(after.decoder.sum(-1), 1, atol=1e-5)


def test_a_translation_read_again_without_a_change_is_as_it_was(shipped: Pretrained) -> None:
    before = one(Request(SENTENCE))
    same(before, again(Request(SENTENCE), before))


def test_requests_of_one_group_all_search_with_a_beam_or_all_without() -> None:
    assert Request("a", beam=2).group() == Request("b", beam=3, silenced=(("cross", 0, 0),)).group()
    assert Request("a", beam=1).group() != Request("a", beam=2).group()


def test_at_least_four_examples_are_offered_each_an_own_sentence() -> None:
    assert len({request.sentence for request in EXAMPLES}) == len(EXAMPLES) >= 4
