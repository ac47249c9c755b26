"""What a page gets: arrays and strings for what can be read, one sentence for what cannot."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from models.errors import InputError
from models.translation.explain import explain, generate, measure
from models.translation.pretrained import Pretrained
from models.translation.records import EXAMPLES, PARTS, Again, Explanation, Request, Step

SENTENCE = "A little girl climbs a tree, and her friend looks on."
OTHER = "Two dogs are running."


def one(request: Request) -> Explanation:
    (found,) = explain([request])
    assert isinstance(found, Explanation), found
    return found


def refused(request: Request) -> InputError:
    (found,) = explain([request])
    assert isinstance(found, InputError)
    assert found.text["en"] and found.text["zh"]
    assert len(found.text["en"]) < 400
    return found


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


def same(a: Explanation, b: Explanation) -> None:
    for field in dataclasses.fields(Explanation):
        one_value, other = getattr(a, field.name), getattr(b, field.name)
        if isinstance(one_value, np.ndarray):
            np.testing.assert_allclose(one_value, other, atol=1e-5)
        elif field.name == "hypotheses":
            assert [h[0] for h in one_value] == [h[0] for h in other]
        elif isinstance(one_value, float):
            assert one_value == pytest.approx(other, abs=1e-4)
        else:
            assert one_value == other


def test_a_batch_gives_each_request_what_it_would_get_alone(shipped: Pretrained) -> None:
    requests = [
        Request(SENTENCE, beam=3),
        Request(OTHER),
        Request(SENTENCE, silenced=(("cross", 1, 0), ("encoder", 0, 3))),
        Request(SENTENCE, hidden=(2, 3)),
    ]
    for request, found in zip(requests, explain(requests), strict=True):
        assert isinstance(found, Explanation)
        same(found, one(request))


def test_a_bad_request_spoils_no_other(shipped: Pretrained) -> None:
    first, bad, last = explain([Request(OTHER), Request(""), Request(SENTENCE)])
    assert isinstance(first, Explanation) and isinstance(bad, InputError) and isinstance(last, Explanation)


def test_a_hidden_word_gets_no_attention_from_anyone(shipped: Pretrained) -> None:
    seen = one(Request(SENTENCE, hidden=(1, 4)))
    assert seen.encoder[..., [1, 4]].max() == 0 and seen.cross[..., [1, 4]].max() == 0


def test_with_every_word_hidden_there_is_still_an_answer(shipped: Pretrained) -> None:
    n = len(one(Request(OTHER)).source)
    seen = one(Request(OTHER, hidden=tuple(range(n))))
    assert seen.cross.max() == 0 and math.isfinite(seen.log_probability)


@pytest.mark.parametrize(
    ("sentence", "code", "says"),
    [
        ("", "empty", "type an English sentence"),
        (" \n\t\x00\u202e ", "empty", "empty"),
        ("word " * 10_000, "too_long", "at most 2,000"),
        ("a" * 1_000_000, "too_long", "1,000,000 characters"),
        ("dogs " * 100, "too_long", "at most 60 pieces"),
        ("😀🎉😀", "unreadable", "English"),
        ("שלום עולם", "unreadable", "English"),
        ("!!! ...", "unreadable", "no letter"),
        ("\ud800", "empty", "empty"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(shipped: Pretrained, sentence: str, code: str, says: str) -> None:
    error = refused(Request(sentence))
    assert error.code == code
    assert says in str(error)


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


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (Request(OTHER, beam=0), "beam"),
        (Request(OTHER, beam=99), "beam"),
        (Request(OTHER, beam=True), "beam"),
        (Request(OTHER, beam="4"), "beam"),  # type: ignore[arg-type]
        (Request(OTHER, alpha=math.nan), "alpha"),
        (Request(OTHER, alpha=-1), "alpha"),
        (Request(OTHER, alpha=math.inf), "alpha"),
        (Request(OTHER, silenced=(("encoder", 17, 0),)), "silenced"),
        (Request(OTHER, silenced=(("sideways", 0, 0),)), "silenced"),
        (Request(OTHER, silenced=(("cross", -1, 0),)), "silenced"),
        (Request(OTHER, hidden=(500,)), "hidden"),
        (Request(OTHER, hidden=(-1,)), "hidden"),
        (Request(OTHER, without=("heads",)), "without"),
        (Request(OTHER, without=("scale", 5)), "without"),  # type: ignore[arg-type]
        (Request(None), "no_text"),  # type: ignore[arg-type]
    ],
)
def test_absurd_values_are_refused_with_what_is_accepted(shipped: Pretrained, request_: Request, code: str) -> None:
    assert refused(request_).code == code


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


def test_requests_without_different_parts_share_a_call_and_not_a_pass(shipped: Pretrained) -> None:
    requests = [
        Request(SENTENCE),
        Request(SENTENCE, without=("position",)),
        Request(OTHER, without=("mask",)),
        Request(SENTENCE, without=("mask",)),
    ]
    for request, found in zip(requests, explain(requests), strict=True):
        assert isinstance(found, Explanation)
        same(found, one(request))
    before = one(Request(SENTENCE))
    wishes = [Again(replace(request, sentence=SENTENCE), before.target, before.target_space) for request in requests]
    for wish, found in zip(wishes, measure(wishes), strict=True):
        assert isinstance(found, Explanation)
        same(found, again(wish.request, before))
    *_, last = generate(requests[:2])
    assert [isinstance(entry, Explanation) or entry is None for entry in last] == [True, True]


def test_a_translation_read_again_without_a_change_is_as_it_was(shipped: Pretrained) -> None:
    before = one(Request(SENTENCE))
    same(before, again(Request(SENTENCE), before))


def test_generation_ends_with_the_explanation_that_explain_gives(shipped: Pretrained) -> None:
    requests = [Request(SENTENCE), Request(""), Request(OTHER), Request(OTHER, beam=3)]
    steps: list[list[Step]] = [[] for _ in requests]
    last: list[Explanation | InputError | None] = [None] * len(requests)
    for turn in generate(requests):
        assert len(turn) == len(requests)
        for i, entry in enumerate(turn):
            if entry is None:
                assert last[i] is not None
            elif isinstance(entry, list):
                assert last[i] is None
                steps[i] += entry
            else:
                assert last[i] is None
                last[i] = entry
    assert isinstance(last[1], InputError)
    for i in (0, 2):
        found = last[i]
        assert isinstance(found, Explanation)
        same(found, one(requests[i]))
        assert tuple(step.piece for step in steps[i]) == found.target
        assert steps[i][-1].text == found.text
        assert [step.log_probability for step in steps[i]] == pytest.approx(found.log_probabilities.tolist(), abs=1e-4)
    assert isinstance(last[3], Explanation) and steps[3] == []


def test_generation_can_be_closed_at_any_turn(shipped: Pretrained) -> None:
    turns = generate([Request(SENTENCE)])
    next(turns)
    turns.close()


def test_no_torch_object_crosses_the_border(shipped: Pretrained) -> None:
    seen = one(Request(SENTENCE, beam=2))
    assert not any(isinstance(getattr(seen, field.name), torch.Tensor) for field in dataclasses.fields(Explanation))


def test_requests_of_one_group_all_search_with_a_beam_or_all_without() -> None:
    assert Request("a", beam=2).group() == Request("b", beam=3, silenced=(("cross", 0, 0),)).group()
    assert Request("a", beam=1).group() != Request("a", beam=2).group()


def test_visitors_with_different_beams_get_what_they_get_alone(shipped: Pretrained) -> None:
    requests = [Request(SENTENCE, beam=beam) for beam in (1, 2, 5, 8)]
    for request, seen in zip(requests, explain(requests), strict=True):
        assert isinstance(seen, Explanation)
        alone = one(request)
        assert [text for text, _, _ in seen.hypotheses] == [text for text, _, _ in alone.hypotheses]
        assert [score for _, _, score in seen.hypotheses] == pytest.approx([score for _, _, score in alone.hypotheses], abs=1e-3)


def test_at_least_four_examples_are_offered_each_an_own_sentence() -> None:
    assert len({request.sentence for request in EXAMPLES}) == len(EXAMPLES) >= 4
