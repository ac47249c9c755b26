"""What a page gets of the models of long texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from models.errors import InputError
from models.fields import LOST
from models.pretrained import Pretrained
from models.trace import Trace
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.explain import explain, measure, memories
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network
from models.transformer_xl.records import (
    EXAMPLES,
    FOREIGN,
    INTERVENTIONS,
    MAX_MEMORY,
    MAX_TEXT,
    MEMORIES,
    PAGES,
    Again,
    Explanation,
    Request,
    check,
    page,
)
from models.transformer_xl.weights import look, overview, places, terms, travelled
from tests.models.networks import answer

TEXT = Request(text="the captain went out and nobody saw him go", memory=24, segment=16, length=20)


@pytest.fixture(autouse=True)
def small(xl: TransformerXL, plain: AbsoluteTransformer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Network]:
    """Small networks that have learned nothing in the places of the shipped ones."""
    networks: dict[str, Network] = {"xl": xl.requires_grad_(False), "absolute": plain.requires_grad_(False)}
    monkeypatch.setattr("models.transformer_xl.explain.load", lambda variant, seed=1: Pretrained(networks[variant], {"variant": variant}))
    return networks


answered = partial(answer, explain, Explanation)


def test_a_text_is_read_and_written_on_by_both_models() -> None:
    seen = answered(TEXT)
    assert [reading.variant for reading in seen.readings] == ["xl", "absolute"]
    assert seen.given == len(TEXT.text)
    for reading in seen.readings:
        assert reading.text.startswith(TEXT.text)
        assert len(reading.text) == len(reading.nats) == len(reading.characters) == seen.given + 20
        assert reading.segment == 16
        assert (reading.nats > 0).all()
    assert [reading.memory for reading in seen.readings] == [24, 0]
    assert seen.readings[0].text != seen.readings[1].text


@pytest.mark.parametrize("intervention", INTERVENTIONS)
def test_the_terms_add_up_to_the_attention_of_the_model(small: dict[str, Network], intervention: str) -> None:
    seen = answered(dataclasses.replace(TEXT, intervention=intervention))
    reading = seen.readings[0]
    assert reading.queries.shape == (2, 3, len(reading.text), 8)
    for number in range(4):
        maps = terms(reading, 1, 2, number)
        assert np.allclose(maps.content + maps.position + maps.global_content + maps.global_position, maps.scores, atol=1e-5)
        np.testing.assert_allclose(maps.weights.sum(1), 1, atol=1e-5)
        assert not np.triu(maps.weights, len(maps.places) - len(maps.weights) + 1).any()
        expected = len(maps.weights) + (0 if intervention == "cut" else min(24, 16 * number))
        assert len(maps.places) == expected
        across = maps.weights[:, : len(maps.places) - len(maps.weights)].sum(1)
        np.testing.assert_allclose(reading.across[1, 2, 16 * number : 16 * number + len(across)], across, atol=5e-3)
    rows = [3, 40, 20]
    seen_by = look(reading, 1, 2, rows)
    for row, weights in zip(rows, seen_by, strict=True):
        assert weights.sum() == pytest.approx(1, abs=1e-4)
        assert not weights[row + 1 : len(reading.text)].any()
        assert bool(weights[len(reading.text) :].any()) == (intervention == "foreign" and row >= 16)


def test_a_look_is_the_attention_of_a_reading_without_caches(small: dict[str, Network]) -> None:
    xl = small["xl"]
    assert isinstance(xl, TransformerXL)
    reading = answered(TEXT).readings[0]
    before = torch.from_numpy(np.concatenate(([14], reading.characters[:-1].astype(np.int64))))[None]
    memory, trace = xl.remembering(24), Trace("1/self/weights")
    with torch.no_grad():
        xl(before[:, :16], memory)
        xl(before[:, 16:32], memory)
        xl(before[:, 32:48], memory, trace=trace)
    expected = trace.stack("1/self/weights")[0, 0, 2, 5]  # keys from 8 on
    np.testing.assert_allclose(look(reading, 1, 2, [37])[0, 8:48], expected, atol=2e-3)
    assert places(reading, 2).tolist() == list(range(8, 48))


@pytest.mark.parametrize("intervention", INTERVENTIONS)
@pytest.mark.parametrize("which", [0, 1])
def test_an_overview_pools_what_a_look_shows(intervention: str, which: int) -> None:
    reading = answered(dataclasses.replace(TEXT, intervention=intervention)).readings[which]
    length = len(reading.text)
    found = overview(reading, most=22)
    assert found.by == 3 and found.pooled.shape[2:] == (-(-length // 3),) * 2
    whole = look(reading, 1, 2, range(length))[:, :length]
    by_key = np.add.reduceat(whole, np.arange(0, length, 3), 1)
    pooled = np.stack([by_key[i : i + 3].mean(0) for i in range(0, length, 3)])
    np.testing.assert_allclose(found.pooled[1, 2], pooled, atol=1e-5)
    if intervention in {"none", "cut"}:  # in the others a key stands in another slot than its own
        remembers = which == 0 and intervention == "none"
        diagonal = [whole[row, row - 3] for row in range(3, length) if remembers or row % 16 >= 3]
        assert found.distances[1, 2, 3] == pytest.approx(np.mean(diagonal), rel=1e-3)


def test_the_model_without_distances_scores_by_content_alone() -> None:
    reading = answered(TEXT).readings[1]
    assert not reading.table.size
    assert not reading.across.any()
    maps = terms(reading, 0, 0, 1)
    assert not maps.position.any() and not maps.global_content.any()
    np.testing.assert_allclose(maps.scores, maps.content, atol=1e-6)
    with pytest.raises(IndexError, match="not 9"):
        terms(reading, 0, 0, 9)


def test_information_travels_one_memory_a_layer_and_gradients_stop_at_the_segment(xl: TransformerXL) -> None:
    reaches = travelled(96, 16, 20, 2)
    assert reaches[:, 90].tolist() == [90, 60, 28]
    before = torch.randint(1, 20, (1, 96))
    past, changed = xl.remembering(20), xl.remembering(20)
    other = before.clone()
    other[:, :28] = 3
    with torch.no_grad():
        one = torch.cat([xl(part, past) for part in before.split(16, 1)], 1)
        two = torch.cat([xl(part, changed) for part in other.split(16, 1)], 1)
    assert torch.equal(one[:, 90], two[:, 90])
    other[:, 28] = 1 + before[:, 28] % 20
    changed = xl.remembering(20)
    with torch.no_grad():
        two = torch.cat([xl(part, changed) for part in other.split(16, 1)], 1)
    assert not torch.equal(one[:, 90], two[:, 90])


def last(stream: Iterator[list[Any]]) -> Any:
    """The answer to the one request of a stream whose turns bring no steps."""
    *turns, end = stream
    assert all(turn == [[]] for turn in turns)
    return end[0]


def test_an_intervention_costs_what_the_same_text_costs_under_it() -> None:
    seen = answered(TEXT)
    texts = tuple(reading.text for reading in seen.readings)
    found = last(measure([Again(dataclasses.replace(TEXT, intervention="cut"), texts)]))
    for reading, forced in zip(seen.readings, found.nats, strict=True):
        np.testing.assert_allclose(forced[:16], reading.nats[:16], atol=1e-5)
        changed = np.abs(forced[16:] - reading.nats[16:]).max()
        assert changed > 1e-3 if reading.variant == "xl" else changed < 1e-5
    unchanged = last(measure([Again(TEXT, texts)]))
    for reading, same in zip(seen.readings, unchanged.nats, strict=True):
        np.testing.assert_allclose(same, reading.nats, atol=1e-4)
    assert answered(dataclasses.replace(TEXT, intervention="cut")).readings[0].remembered.shape[1] == 0
    refused = last(measure([Again(dataclasses.replace(TEXT, memory=5000), texts)]))
    assert isinstance(refused, InputError) and refused.code == "memory"


def test_what_memory_buys_is_told_for_every_length() -> None:
    found = last(memories([TEXT]))
    assert found.nats.shape == (len(MEMORIES), len(TEXT.text))
    np.testing.assert_allclose(found.nats[:, :16], np.broadcast_to(found.nats[0, :16], (len(MEMORIES), 16)), atol=1e-5)
    np.testing.assert_allclose(found.nats[MEMORIES.index(32), :32], found.nats[-1, :32], atol=1e-5)
    assert found.without.shape == (len(TEXT.text),)


def test_one_character_is_a_text() -> None:
    seen = answered(Request(text="e", length=0, segment=16))
    assert seen.readings[0].text == "e"
    assert terms(seen.readings[0], 0, 0, 0).weights.tolist() == [[1.0]]


def test_what_was_never_seen_is_shown_as_it_came_and_scored_as_unknown() -> None:
    seen = answered(dataclasses.replace(TEXT, text="the 船 and the Ж went, 船!\ud800\r\nat home"))
    assert seen.unknown == ("船", "Ж", "!", LOST)
    assert seen.unknown_count == 5
    reading = seen.readings[0]
    assert reading.text.startswith(f"the 船 and the Ж went, 船!{LOST}\nat home")
    assert (reading.characters[: seen.given] == 0).sum() == 5
    assert (reading.characters[seen.given :] > 0).all()
    assert np.isfinite(reading.nats).all()


def test_pages_fit_and_the_foreign_one_fills_the_longest_memory() -> None:
    for name in (*PAGES, FOREIGN):
        assert 7 * 128 < len(page(name)) <= MAX_TEXT
        assert page(name).isascii()
    assert len(page(FOREIGN)) // 128 * 128 >= MAX_MEMORY
    with pytest.raises(KeyError):
        page("ulysses")


def test_every_example_is_a_text_that_can_be_read() -> None:
    for request in EXAMPLES:
        assert 20 < len(check(request)) <= MAX_TEXT
    seen = answered(dataclasses.replace(EXAMPLES[-1], length=3))
    assert len(seen.readings[0].text) == seen.given + 3
