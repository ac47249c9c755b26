"""Learned spans: caches as long as they are, how they move in training, and what a page gets."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from models.adaptive_span import recipe
from models.adaptive_span.data import alphabet_of, spread_windows
from models.adaptive_span.decode import Cache, Reader
from models.adaptive_span.explain import explain
from models.adaptive_span.model import Config, SpanTransformer, network
from models.adaptive_span.pretrained import read
from models.adaptive_span.recipe import (
    VARIANTS,
    Objective,
    Priced,
    Recipe,
    Size,
    mean_bits,
    optimizers,
    read_on,
)
from models.adaptive_span.records import EVERY, MAX_TEXT, PAGES, Explanation, Request, page
from models.adaptive_span.weights import look, overview
from models.checkpoints import checkpoint
from models.checkpoints.pretrained import Pretrained
from models.data.characters import Book
from models.data.windows import make_batch
from models.training.driver import Job
from models.training.loop import Schedule
from tests.models.networks import BRIEF, LETTERS, answer, shelve, spanned, trained

TEXT = Request(text="the heart in the rain, and then no more. " * 3, length=20)
every_variant = pytest.mark.parametrize("variant", ["adaptive", "fixed", "dynamic"])
Networks = dict[str, SpanTransformer]
answered = partial(answer, explain, Explanation)


@pytest.fixture(autouse=True)
def networks(monkeypatch: pytest.MonkeyPatch) -> Networks:
    """Small networks that have learned nothing, one of each variant, in the places of the shipped
    ones."""
    found = {variant: spanned(variant) for variant in ("adaptive", "fixed", "dynamic")}
    shipped = {name: Pretrained(network, {"variant": name}) for name, network in found.items()}
    monkeypatch.setattr(
        "models.adaptive_span.explain.load", lambda variant, seed=1: shipped[variant]
    )
    return found


# ---- the networks


def letters(length: int = 150, rows: int = 2) -> Tensor:
    return torch.randint(1, 29, (rows, length), generator=torch.Generator().manual_seed(4))


def test_a_cache_is_as_long_as_spans_and_ramps(networks: Networks) -> None:
    each = 2 * 8 * 4  # bytes of a key and a value of 8 floats
    assert (
        Cache(networks["fixed"], 1).bytes
        == Cache(networks["dynamic"], 1).bytes
        == 2 * 3 * 40 * each
    )
    model = networks["adaptive"]
    # ⌈z + 8⌉ of z = 0.52, 10.4, 28.4 and 36.4, at most 40
    assert model.reaches() == [[9, 19, 37], [9, 19, 40]]
    assert Cache(model, 1).bytes == (2 * (9 + 19) + 37 + 40) * each
    forced = torch.full((2, 3), torch.nan)
    forced[:, 2] = 0.0
    # 8, beside a head that reaches 9
    assert Cache(model, 1, forced).bytes == 2 * (9 + 19 + 9) * each
    assert Cache(model, 1, trimmed=False).bytes == 2 * 3 * 40 * each


@every_variant
def test_forced_spans_change_the_output(variant: str, networks: Networks) -> None:
    model, before = networks[variant], letters()
    forced = torch.full((2, 3), torch.nan)
    forced[0], forced[1, 2] = 1.0, 3.5
    said = model(before, forced=forced)
    assert not torch.allclose(said.logits, model(before).logits, atol=1e-4)
    assert (said.spans[0] == 1).all() and (said.spans[1][:, 2] == 3.5).all()
    reader = Reader(model, 2, forced)
    reader.read(before[:, :100])
    torch.testing.assert_close(
        reader.read(before[:, 100:101])[:, 0], said.logits[:, 100], atol=1e-5, rtol=1e-4
    )


def test_full_spans_equal_the_fixed_network(
    networks: Networks,
) -> None:
    networks["fixed"].load_state_dict(
        {
            name: value
            for name, value in networks["adaptive"].state_dict().items()
            if "share" not in name
        }
    )
    forced = networks["adaptive"](letters(), forced=torch.full((2, 3), 40.0)).logits
    torch.testing.assert_close(forced, networks["fixed"](letters()).logits, atol=1e-5, rtol=1e-5)


@every_variant
def test_a_long_text_read_in_parts_costs_what_one_pass_says(
    variant: str, networks: Networks
) -> None:
    model, text = networks[variant], letters(200, 1)[0]
    found = read_on(model, text.numpy().astype(np.uint8), chunk=64)
    said = model(torch.cat((torch.tensor([model.start]), text[:-1]))[None])
    np.testing.assert_allclose(
        found.nats, F.cross_entropy(said.logits[0], text, reduction="none").numpy(), atol=1e-4
    )
    np.testing.assert_allclose(found.z, torch.stack([z[0].mean(1) for z in said.spans]), rtol=1e-4)
    assert (found.used <= 40).all() and (found.used >= np.minimum(found.z, 40)).all()


def tiny(variant: str) -> Objective:
    torch.manual_seed(3)
    return Objective(
        network(
            variant, Config("abcd\n", span=24, ramp=4, d_model=16, d_ff=16, n_heads=2, n_layers=2)
        )
    )


@pytest.mark.parametrize(("penalty", "end"), [(5.0, 0), (-5.0, 24)])
def test_spans_stay_between_none_and_all_after_every_step(penalty: float, end: int) -> None:
    objective = tiny("adaptive")
    for layer in objective.model.spans:
        layer.share.data.copy_(torch.tensor([0.2, 0.8]))
    chosen, generator, seen = (
        optimizers(objective, Schedule(peak=0.15)),
        torch.Generator().manual_seed(1),
        [],
    )
    # pushed 1.8 shares of S to one side, on noise, from which nothing can be learned
    for _ in range(12):
        both = torch.randint(1, 6, (2, 33), generator=generator)
        loss, number = objective(Priced(both[:, :-1], both[:, 1:], penalty))
        (loss / number).backward()
        for optimizer in chosen:
            optimizer.step()
            optimizer.zero_grad()
        seen.append([z for row in objective.model.longest() for z in row])
    assert (
        np.min(seen) >= 0
        and np.max(seen) <= 24
        and len(np.unique(seen)) > 6
        and (np.array(seen[-1]) == end).all()
    )


@pytest.mark.parametrize("variant", ["adaptive", "dynamic"])
def test_the_penalty_is_lambda_times_mean(variant: str) -> None:
    before, wanted = letters(30).clamp(max=5), letters(30).clamp(max=5)
    bare, priced = tiny(variant), tiny(variant)
    for objective in (bare, priced):
        last = objective.model.spans[1]
        (last.share if variant == "adaptive" else last.b).data.view(2).copy_(
            torch.tensor([0.25, 0.75])
        )
    difference = priced(Priced(before, wanted, 0.5))[0] - bare(Priced(before, wanted, 0.0))[0]
    share = torch.stack([z.mean() for z in priced.model(before).spans]).mean() / 24
    assert variant == "dynamic" or float(share.detach()) == pytest.approx((1 + 1 + 0.25 + 0.75) / 4)
    assert float(difference.detach()) == pytest.approx(0.5 * float(share.detach()) * 60, rel=1e-3)
    difference.backward()
    ours, without = (
        one.model.spans[1].share if variant == "adaptive" else one.model.spans[1].b
        for one in (priced, bare)
    )
    assert (
        ours.grad is not None and without.grad is not None and (ours.grad + without.grad > 0).all()
    )


def test_windows_are_spread_bits_averaged(
    networks: Networks,
) -> None:
    assert [window.tolist() for window in spread_windows(np.arange(7, dtype=np.uint8), 3, 2)] == [
        [0, 1, 2],
        [2, 3, 4],
        [4, 5, 6],
    ]
    with pytest.raises(ValueError, match="no window of 9"):
        spread_windows(np.arange(7, dtype=np.uint8), 3, 8)
    assert alphabet_of([Book("T", "a" * 60 + "b" * 30 + "é"), Book("U", "b" * 30)]).letters == "ab"
    windows = [row.numpy().astype(np.uint8) for row in letters(41, 5)]
    batch = make_batch(windows)
    loss = F.cross_entropy(
        networks["fixed"](batch.before).logits.flatten(0, 1), batch.wanted.flatten()
    )
    assert mean_bits(networks["fixed"], windows, size=2) == pytest.approx(
        float(loss) / np.log(2), rel=1e-5
    )


def test_a_span_costs_nothing_until_the_network_reads(tmp_path: Path) -> None:
    data = shelve(tmp_path, [("train", LETTERS * 4), ("valid", LETTERS * 4)])
    task = VARIANTS["adaptive"].on_device(torch.device("cpu"))
    short = dataclasses.replace(task.recipe, window=48)
    draw = recipe.plan(Job(task, "adaptive", short, data, tmp_path)).draw
    assert draw is not None
    costs = [
        draw(np.random.default_rng(1), done).penalty
        for done in (0.0, recipe.FREE - 0.01, recipe.FREE, 0.99)
    ]
    assert costs == [0.0, 0.0, recipe.PENALTY, recipe.PENALTY]


@every_variant
def test_a_variant_is_trained_measured_and_read_back(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(1)
    books = [
        (split, "".join(generator.choice(list(LETTERS), n)))
        for split, n in (("train", 3000), ("train", 1500), ("valid", 400))
    ]
    data = shelve(tmp_path, [*books, ("test", "Q" + "".join(generator.choice(list(LETTERS), 299)))])
    config = Config("", span=24, ramp=4, d_model=16, d_ff=16, n_heads=2, n_layers=2)
    small = {
        "cpu": Size(config, Recipe(BRIEF, batch=2, window=48, evaluation_interval=3, rate=3e-3))
    }
    monkeypatch.setattr(
        recipe.LAB,
        "variants",
        {name: dataclasses.replace(task, sizes=small) for name, task in VARIANTS.items()},
    )
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    found, pretrained = trained(recipe, read, data, variant)
    facts = pretrained.facts
    assert facts["recipe"]["penalty"] == (0 if variant == "fixed" else recipe.PENALTY)
    assert "Q" not in facts["config"]["letters"] and "e" in facts["config"]["letters"]
    assert (found["split"], found["metric"], found["n"], found["unknown"]) == (
        "test",
        "bits per character",
        300,
        1,
    )
    assert found["by_reading"].keys() == {"half_overlap", "cold", "memory"}
    assert (
        variant != "fixed"
        or recipe.evaluate(data, variant, split="valid", device=torch.device("cpu"))["n"] == 400
    )
    assert (found["heads_beyond_200"], found["median_span"]) == (
        0,
        pytest.approx(0 if variant == "dynamic" else 24, abs=12),
    )
    layers = found["span_by_layer"]
    assert max(layers) < 12 if variant == "dynamic" else layers == [24, 24]
    assert found["mean_span"] == pytest.approx(sum(layers) / 2, abs=0.02)
    assert found["share"] == pytest.approx(found["mean_span"] / 24, abs=1e-3)
    both = zip(np.ravel(found["z"]), np.ravel(found["spans"]), strict=True)
    assert all(0 <= z <= used <= min(24, z + 4.1) for z, used in both)


# ---- what a page gets


@every_variant
def test_reading_and_writing_cost_one_pass(variant: str, networks: Networks) -> None:
    seen = answered(dataclasses.replace(TEXT, variant=variant))
    assert (
        seen.given == len(TEXT.text) == len(seen.text) - 20
        and seen.text[: seen.given] == TEXT.text
        and not seen.unknown.any()
    )
    symbols = torch.from_numpy(networks[variant].alphabet.encode(seen.text).astype(np.int64))
    assert {one.variant for one in seen.beside} == {"adaptive", "fixed", "dynamic"} - {variant}
    for name, nats in ((variant, seen.nats), *((one.variant, one.nats) for one in seen.beside)):
        said = networks[name](torch.cat((torch.tensor([networks[name].start]), symbols[:-1]))[None])
        np.testing.assert_allclose(
            nats, F.cross_entropy(said.logits[0], symbols, reduction="none"), atol=1e-4
        )
        if name == variant:
            assert (seen.span, seen.ramp, seen.z.shape[2]) == (
                40,
                8,
                len(seen.text) if variant == "dynamic" else 1,
            )
            np.testing.assert_allclose(seen.z, torch.cat(said.spans), rtol=1e-5)
            assert seen.saved.cache_bytes == Cache(networks[variant], 1).bytes


@every_variant
def test_looks_before_and_after_the_mask(variant: str, networks: Networks) -> None:
    seen = answered(dataclasses.replace(TEXT, variant=variant))
    model, rows = networks[variant], [0, 5, 60, 130]
    distance = np.array(rows)[:, None] - np.arange(len(seen.text))
    inside = (distance >= 0) & (distance < 40)
    looks = [look(seen, 1, head, rows) for head in range(3)]
    for head, found in enumerate(looks):
        z = seen.z[1, head, rows if variant == "dynamic" else [0] * 4][:, None]
        np.testing.assert_allclose(
            found.mask[inside], np.clip((8 + z - distance) / 8, 0, 1)[inside], atol=1e-5
        )
        np.testing.assert_allclose(found.before.sum(1), 1, rtol=1e-5)
        assert not found.before[~inside].any()
        product = found.before * found.mask
        np.testing.assert_allclose(
            found.after, product / product.sum(1, keepdims=True), rtol=1e-4, atol=1e-7
        )
    layer, spans = model.layers[1], []
    symbols = model.alphabet.encode("\n" + seen.text[:-1]).astype(np.int64)[None]
    x = model.layers[0](model.letter(torch.from_numpy(symbols)), spans=spans)
    value = layer.attention.project_self(layer.norm(x))[2]
    heads = torch.stack(
        [torch.from_numpy(found.after) @ value[0, head] for head, found in enumerate(looks)]
    )[None]
    joined = x[:, rows] + layer.attention.join_heads(heads)
    expected = layer(x, spans=spans)[:, rows]
    torch.testing.assert_close(
        joined + layer.feedforward(layer.feedforward_norm(joined)), expected, atol=5e-3, rtol=1e-2
    )


@pytest.mark.parametrize("variant", ["adaptive", "dynamic"])
def test_an_overview_pools_what_a_look_shows(variant: str) -> None:
    seen = answered(dataclasses.replace(TEXT, variant=variant))
    length = len(seen.text)
    found, whole = overview(seen, at_once=32), look(seen, 1, 2, range(length))
    starts = np.arange(0, length, found.by)
    for pooled, exact in ((found.pooled_before, whole.before), (found.pooled_after, whole.after)):
        by_key = np.add.reduceat(exact, starts, 1)
        np.testing.assert_allclose(
            pooled[1, 2], np.stack([by_key[i : i + found.by].mean(0) for i in starts]), atol=1e-5
        )
    np.testing.assert_allclose(
        found.distances_after[1, 2, 3], np.diagonal(whole.after, -3).mean(), rtol=1e-4
    )
    np.testing.assert_allclose(
        found.distances_before[1, 2, 3], np.diagonal(whole.before, -3).mean(), rtol=1e-4
    )
    assert (
        found.distances_before.shape
        == found.distances_after.shape
        == (*seen.queries.shape[:2], seen.span)
    )


@every_variant
def test_forced_spans_are_told_beside_those_that_were_learned(variant: str) -> None:
    plain = dataclasses.replace(TEXT, variant=variant)
    before, after = (
        answered(plain),
        answered(dataclasses.replace(plain, spans=((EVERY, EVERY, 0.0), (1, 2, 1.5)))),
    )
    assert (
        after.forced.all()
        and not before.forced.any()
        and (after.z[1, 2] == 1.5).all()
        and not after.z[0].any()
    )
    assert (
        np.isnan(after.learned).all()
        if variant == "dynamic"
        else (after.learned == before.z[..., 0]).all()
    )


def test_what_is_saved_is_counted_by_hand(networks: Networks) -> None:
    saved = answered(
        Request(text="then ten men", length=0, spans=((EVERY, EVERY, 0.0), (1, 0, 40.0)))
    ).saved
    assert saved.positions[0, 0] == pytest.approx(np.mean([min(t + 1, 8) for t in range(12)]))
    assert saved.positions[1, 0] == saved.full_positions == 6.5
    assert (
        saved.long_positions.tolist() == [[8, 8, 8], [40, 8, 8]] and saved.full_long_positions == 40
    )
    assert saved.flops == 6 * 8 * (5 * 8 + 40) and saved.full_flops == 6 * 8 * 6 * 40
    assert (
        saved.cache_bytes == (5 * 8 + 40) * 2 * 8 * 4
        and saved.full_cache_bytes == 6 * 40 * 2 * 8 * 4
    )
    matrices = sum(
        p.numel()
        for name, p in networks["adaptive"].named_parameters()
        if p.dim() == 2 and name != "letter.weight"
    )
    assert saved.other_flops == 2 * matrices
    followed = answered(dataclasses.replace(TEXT, variant="dynamic")).saved
    assert (
        followed.cache_bytes == followed.full_cache_bytes and followed.flops < followed.full_flops
    )


def test_unseen_characters_score_as_unknown(
    networks: Networks,
) -> None:
    text = "the 蜂 and\r\nthe 🐝 привет \ud800"
    seen = answered(Request(text=text, length=3))
    assert seen.text[: seen.given] == "the 蜂 and\nthe 🐝 привет \N{REPLACEMENT CHARACTER}"
    known = networks["adaptive"].alphabet.letters
    assert seen.unknown[: seen.given].tolist() == [
        letter not in known for letter in seen.text[: seen.given]
    ]
    assert (
        seen.unknown.sum() == 9
        and not seen.unknown[seen.given :].any()
        and np.isfinite(seen.nats).all()
    )
    np.testing.assert_array_equal(
        seen.nats, answered(Request(text=text.replace("蜂", "的"), length=3)).nats
    )
    one = answered(Request(text="t", length=0))
    assert (one.text, one.nats.shape, one.queries.shape) == ("t", (1,), (2, 3, 1, 8)) and look(
        one, 0, 0, [0]
    ).after.tolist() == [[1]]


def test_pages_come_from_a_held_out_book() -> None:
    assert all(512 < len(page(name)) < 2000 for name in PAGES)
    assert "half agony" in page("letter") and "Louisa" not in page("kellynch")
    assert len(answered(Request(text="e" * MAX_TEXT, length=0)).nats) == MAX_TEXT
