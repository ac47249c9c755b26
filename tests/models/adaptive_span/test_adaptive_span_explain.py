"""What a page gets of the models of adaptive span."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest
import torch

from models.adaptive_span.explain import explain, measure
from models.adaptive_span.model import SpanTransformer
from models.adaptive_span.records import EVERY, EXAMPLES, MAX_TEXT, PAGES, Again, Explanation, Losses, Request, page
from models.adaptive_span.weights import look, overview
from models.pretrained import Pretrained
from tests.models.networks import answer

TEXT = Request(text="the heart in the rain, and then no more. " * 3, length=20)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, networks: dict[str, SpanTransformer]) -> dict[str, SpanTransformer]:
    """Small networks that have learned nothing in the places of the shipped ones."""
    shipped = {name: Pretrained(network, {"variant": name}) for name, network in networks.items()}
    monkeypatch.setattr("models.adaptive_span.explain.load", lambda variant, seed=1: shipped[variant])
    return networks


answered = partial(answer, explain, Explanation)


def test_a_text_is_read_and_written_on() -> None:
    seen = answered(TEXT)
    assert seen.given == len(TEXT.text) and seen.text[: seen.given] == TEXT.text
    assert len(seen.text) == len(seen.nats) == len(seen.unknown) == seen.given + 20
    assert (seen.nats > 0).all() and not seen.unknown.any()
    assert [one.variant for one in seen.beside] == ["fixed", "dynamic"]
    for one in seen.beside:
        assert one.nats.shape == seen.nats.shape and not np.allclose(one.nats, seen.nats)


def test_spans_are_those_of_the_model(small: dict[str, SpanTransformer]) -> None:
    seen = answered(TEXT)
    assert seen.z.shape == (2, 3, 1) and (seen.span, seen.ramp) == (40, 8)
    np.testing.assert_allclose(seen.z[:, :, 0], small["adaptive"].longest(), rtol=1e-5)
    followed = answered(dataclasses.replace(TEXT, variant="dynamic"))
    assert followed.z.shape == (2, 3, len(followed.text)) and followed.z.std(axis=2).min() > 0.1
    assert (answered(dataclasses.replace(TEXT, variant="fixed")).z == 40).all()


@pytest.mark.parametrize("variant", ["adaptive", "fixed", "dynamic"])
def test_a_look_before_and_after_the_mask_makes_the_output_of_the_model(variant: str, small: dict[str, SpanTransformer]) -> None:
    seen = answered(dataclasses.replace(TEXT, variant=variant))
    model, rows = small[variant], [0, 5, 60, 130]
    for head in range(3):
        found = look(seen, 1, head, rows)
        for part in (found.before, found.after):
            np.testing.assert_allclose(part.sum(1), 1, rtol=1e-5)
            assert not part[1, 6:].any() and not part[3, :91].any()  # the future, and 40 positions back or more
        z = seen.z[1, head, rows if variant == "dynamic" else [0] * 4]
        for i, row in enumerate(rows):
            for key in range(max(0, row - 39), row + 1):
                assert found.mask[i, key] == pytest.approx(min(max((8 + z[i] - (row - key)) / 8, 0), 1), abs=1e-5)
        product = found.before * found.mask
        np.testing.assert_allclose(found.after, product / product.sum(1, keepdims=True), rtol=1e-4, atol=1e-7)
    layer = model.layers[1]
    letters = model.alphabet.encode("\n" + seen.text[:-1]).astype(np.int64)[None]
    spans: list[torch.Tensor] = []
    x = model.layers[0](model.letter(torch.from_numpy(letters)), spans=spans)
    value = layer.attention.self_projections(layer.norm(x))[2]
    y = layer(x, spans=spans)
    heads = torch.stack([torch.from_numpy(look(seen, 1, head, rows).after) @ value[0, head] for head in range(3)])[None]
    joined = x[:, rows] + layer.attention.join(heads)
    torch.testing.assert_close(joined + layer.feedforward(layer.feedforward_norm(joined)), y[:, rows], atol=5e-3, rtol=1e-2)


@pytest.mark.parametrize("variant", ["adaptive", "dynamic"])
def test_an_overview_pools_what_a_look_shows(variant: str) -> None:
    seen = answered(dataclasses.replace(TEXT, variant=variant))
    length = len(seen.text)
    found = overview(seen, at_once=32)
    whole = look(seen, 1, 2, range(length))
    starts = np.arange(0, length, found.by)
    for pooled, exact in ((found.pooled_before, whole.before), (found.pooled_after, whole.after)):
        by_key = np.add.reduceat(exact, starts, 1)
        np.testing.assert_allclose(pooled[1, 2], np.stack([by_key[i : i + found.by].mean(0) for i in starts]), atol=1e-5)
    np.testing.assert_allclose(found.distances_after[1, 2, 3], np.diagonal(whole.after, -3).mean(), rtol=1e-4)
    assert found.distances_before.shape == found.distances_after.shape == (*seen.queries.shape[:2], seen.span)


@pytest.mark.parametrize("variant", ["adaptive", "fixed", "dynamic"])
@pytest.mark.parametrize("spans", [((EVERY, EVERY, 0.0),), ((1, 2, 1.5),)], ids=["all heads", "one head"])
def test_forced_spans_change_loss_and_output(variant: str, spans: tuple[tuple[int, int, float], ...]) -> None:
    changed = dataclasses.replace(TEXT, variant=variant, spans=spans)
    before, after = answered(dataclasses.replace(TEXT, variant=variant)), answered(changed)
    assert not np.allclose(before.nats[: before.given], after.nats[: after.given], atol=1e-4)
    assert after.forced.sum() == (6 if spans[0][0] == EVERY else 1) and not before.forced.any()
    assert (after.z[after.forced] == spans[0][2]).all()
    assert np.isnan(after.learned).all() if variant == "dynamic" else (after.learned == before.z[..., 0]).all()
    assert after.saved.cache_bytes < before.saved.cache_bytes
    again = again_of(changed, before.text)
    np.testing.assert_allclose(again[: after.given], after.nats[: after.given], atol=1e-4)
    np.testing.assert_allclose(again_of(dataclasses.replace(TEXT, variant=variant), before.text), before.nats, atol=1e-4)


def again_of(request: Request, text: str) -> np.ndarray:
    """What a text costs when it is read again as a request says."""
    *turns, (found,) = measure([Again(request, text)])
    assert all(turn == [[]] for turn in turns) and isinstance(found, Losses)
    return found.nats


def test_what_is_saved_is_counted_by_hand(small: dict[str, SpanTransformer]) -> None:
    request = Request(text="then ten men", length=0, spans=((EVERY, EVERY, 0.0), (1, 0, 40.0)))
    saved = answered(request).saved
    by_hand = [min(t + 1, 8) for t in range(12)]
    assert saved.positions[0, 0] == pytest.approx(np.mean(by_hand))
    assert saved.positions[1, 0] == saved.full_positions == 6.5
    assert saved.long_positions.tolist() == [[8, 8, 8], [40, 8, 8]] and saved.full_long_positions == 40
    assert saved.flops == 6 * 8 * (5 * 8 + 40) and saved.full_flops == 6 * 8 * 6 * 40
    assert saved.cache_bytes == (5 * 8 + 40) * 2 * 8 * 4 and saved.full_cache_bytes == 6 * 40 * 2 * 8 * 4
    matrices = sum(p.numel() for name, p in small["adaptive"].named_parameters() if p.dim() == 2 and name != "letter.weight")
    assert saved.other_flops == 2 * matrices
    followed = answered(dataclasses.replace(TEXT, variant="dynamic")).saved
    assert followed.cache_bytes == followed.full_cache_bytes and followed.flops < followed.full_flops


def test_the_bytes_told_are_the_bytes_of_the_cache(small: dict[str, SpanTransformer]) -> None:
    from models.adaptive_span.decode import Cache

    for name, model in small.items():
        assert answered(dataclasses.replace(TEXT, variant=name)).saved.cache_bytes == Cache(model, 1).bytes


def test_characters_never_seen_in_training_are_shown_and_scored_as_unknown(small: dict[str, SpanTransformer]) -> None:
    text = "the 蜂 and\r\nthe 🐝 привет \ud800"
    seen = answered(Request(text=text, length=3))
    assert seen.text[: seen.given] == "the 蜂 and\nthe 🐝 привет \N{REPLACEMENT CHARACTER}"
    known = small["adaptive"].alphabet.letters
    assert seen.unknown[: seen.given].tolist() == [letter not in known for letter in seen.text[: seen.given]]
    assert seen.unknown.sum() == 9 and not seen.unknown[seen.given :].any() and np.isfinite(seen.nats).all()
    same = answered(Request(text=text.replace("蜂", "的"), length=3))
    np.testing.assert_array_equal(seen.nats, same.nats)


def test_one_character_is_enough() -> None:
    seen = answered(Request(text="t", length=0))
    assert seen.text == "t" and seen.nats.shape == (1,) and seen.queries.shape == (2, 3, 1, 8)
    assert look(seen, 0, 0, [0]).after.tolist() == [[1]]


def test_pages_come_from_a_held_out_book_and_every_example_can_be_read() -> None:
    for name in PAGES:
        assert 512 < len(page(name)) < 2000
    assert "half agony" in page("letter") and "Louisa" not in page("kellynch")
    short = [dataclasses.replace(one, length=2, spans=one.spans) for one in EXAMPLES]
    assert all(isinstance(one, Explanation) for one in explain(short))
    assert len(answered(Request(text="e" * MAX_TEXT, length=0)).nats) == MAX_TEXT
