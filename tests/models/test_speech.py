"""The speech recogniser: its window, its stream, its loss, and its numbers."""

from __future__ import annotations

import itertools
import math

import jiwer
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from models.explaining.trace import Trace
from models.speech import features
from models.speech.ctc import collapse_path, count_edits, find_best_path, measure_ctc_loss
from models.speech.data import ClipSet, compose_held_out, draw_numbers, label_frames, level_clip
from models.speech.model import (
    BLANK,
    BandLayer,
    SpeechConfig,
    SpeechNetwork,
    SpeechStream,
    attend_in_band,
)
from models.speech.recipe import BASE, CtcObjective, SpeechRecipe, make_adamw, make_batch
from models.speech.records import FRAME_SAMPLES, NEWEST, OLDEST, find_cone, find_final_sample

SMALL = SpeechConfig(channels=32, d_model=32, n_heads=2, n_layers=4, d_ff=24, left=6, right=4)


def build_network(config: SpeechConfig = SMALL) -> SpeechNetwork:
    torch.manual_seed(5)
    model = SpeechNetwork(config).eval().requires_grad_(False)
    for layer in model.layers:
        assert isinstance(layer, BandLayer)
        layer.bias.normal_()
    return model


def make_sound(samples: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(samples, generator=generator) * 0.05


def make_clips(count: int = 24) -> ClipSet:
    generator = np.random.default_rng(7)
    sounds = [level_clip(generator.standard_normal(1600 + 40 * i)) for i in range(count)]
    rows = np.arange(count)
    return ClipSet(sounds, rows % 10, rows % 2, rows % 50, ("a", "b"))


def test_band_is_attention_under_a_bias() -> None:
    generator = torch.Generator().manual_seed(1)
    query, key, value = torch.randn(3, 2, 2, 9, 8, generator=generator)
    layer = BandLayer(SMALL)
    offset = torch.arange(9) - torch.arange(9)[:, None]
    with torch.no_grad():
        layer.bias.normal_(generator=generator)
        bias = layer.bias_of(offset, 3, 1)
        trace = Trace("weights")
        found = attend_in_band(query, key, value, bias, trace=trace)
        wanted = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-6)
    weights = trace.stack("weights")[0]
    outside = ((offset < -3) | (offset > 1)).numpy()
    assert (weights[..., outside] == 0).all() and (weights[..., ~outside] > 0).all()
    assert torch.isinf(bias).numpy()[..., outside].all()


@pytest.mark.parametrize("right", [0, 2, 4])
@pytest.mark.parametrize("piece", [97, 320, 1601])
def test_stream_equals_the_masked_pass(right: int, piece: int) -> None:
    model, sound = build_network(), make_sound(9_000)
    whole = model(features.compute_mels(sound[None]), None, 5, right)[0]
    stream = SpeechStream(model, 5, right)
    found = [
        stream.feed(sound[at : at + piece], last=at + piece >= len(sound))
        for at in range(0, len(sound), piece)
    ]
    torch.testing.assert_close(torch.cat(found), whole, rtol=0, atol=1e-5)


def test_a_stream_waits_for_its_look_ahead() -> None:
    model, sound, right = build_network(), make_sound(9_000), 2
    stream, frames = SpeechStream(model, 5, right), 0
    for at in range(0, len(sound), 40):
        frames += len(stream.feed(sound[at : at + 40]))
        come = min(at + 40, len(sound))
        due = sum(find_final_sample(t, right) <= come for t in range(40))
        assert frames == due


def test_nothing_outside_the_cone_is_heard() -> None:
    model, sound, frame = build_network(), make_sound(12_000).requires_grad_(), 16
    mels = features.compute_mels(sound[None])
    model(mels, None, 2, 1)[0, frame, 3].backward()
    assert sound.grad is not None
    heard = sound.grad.nonzero()[:, 0]
    first, last = find_cone(frame, 2, 1)
    assert (NEWEST, OLDEST, FRAME_SAMPLES) == (440, 720, 320)
    # the Hann window is 0 at its first sample
    assert int(heard[0]) == first + 1 and int(heard[-1]) == last - 1


def test_padding_changes_nothing() -> None:
    model = build_network()
    short, long = make_sound(4_000), make_sound(7_000, 1)
    both = torch.zeros(2, 7_000)
    both[0, :4_000], both[1] = short, long
    frames = torch.tensor([features.count_frames(n) // 4 for n in (4_000, 7_000)])
    found = model(features.compute_mels(both), frames, 5, 3)
    alone = model(features.compute_mels(short[None]), None, 5, 3)[0]
    torch.testing.assert_close(found[0, : len(alone)], alone, rtol=0, atol=1e-5)


def test_a_silenced_head_gives_nothing() -> None:
    model, mels = build_network(), features.compute_mels(make_sound(5_000)[None])
    gain = torch.ones(4, 1, 2)
    assert torch.equal(model(mels, gain=gain), model(mels))
    gain[1, 0, 1] = 0
    silenced = model(mels, gain=gain)
    layer = model.layers[1]
    assert isinstance(layer, BandLayer)
    layer.attention.project_out.weight[:, 16:] = 0
    torch.testing.assert_close(model(mels), silenced, rtol=0, atol=1e-6)


def test_ctc_loss_equals_that_of_torch() -> None:
    generator = torch.Generator().manual_seed(2)
    scores = torch.randn(3, 12, BLANK + 1, generator=generator).log_softmax(-1)
    labels = torch.tensor([[3, 3, 4], [1, 2, 0], [7, 7, 7]])
    frames, counts = torch.tensor([12, 9, 11]), torch.tensor([3, 2, 3])
    mine, theirs = scores.clone().requires_grad_(), scores.clone().requires_grad_()
    found = measure_ctc_loss(mine, frames, labels, counts)
    wanted = F.ctc_loss(
        theirs.transpose(0, 1), labels, frames, counts, blank=BLANK, reduction="none"
    )
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    found.sum().backward()
    assert mine.grad is not None and torch.isfinite(mine.grad).all()
    # torch gives the gradient of unnormalised scores: both agree behind a softmax
    raw = [scores.clone().requires_grad_() for _ in range(2)]
    measure_ctc_loss(raw[0].log_softmax(-1), frames, labels, counts).sum().backward()
    F.ctc_loss(
        raw[1].log_softmax(-1).transpose(0, 1), labels, frames, counts, BLANK, "sum"
    ).backward()
    torch.testing.assert_close(raw[0].grad, raw[1].grad, rtol=1e-4, atol=1e-5)


def test_ctc_loss_sums_all_paths() -> None:
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(1, 5, BLANK + 1, generator=generator, dtype=torch.float64).log_softmax(-1)
    total = sum(
        math.exp(sum(float(scores[0, t, output]) for t, output in enumerate(path)))
        for path in itertools.product((3, 8, BLANK), repeat=5)
        if [digit for digit, _ in collapse_path(path)] == [3, 3, 8]
    )
    found = measure_ctc_loss(
        scores, torch.tensor([5]), torch.tensor([[3, 3, 8]]), torch.tensor([3])
    )
    assert float(found[0]) == pytest.approx(-math.log(total), abs=1e-9)


def test_best_path_needs_a_blank_between_twins() -> None:
    assert collapse_path([3, 3, BLANK, 3, 4, 4]) == [(3, 0), (3, 3), (4, 4)]
    assert collapse_path([BLANK, 5, 5]) == [(5, 1)]
    scores = torch.zeros(3, BLANK + 1)
    scores[[0, 1, 2], [2, BLANK, 2]] = 1
    assert find_best_path(scores) == [(2, 0), (2, 2)]


def test_edits_equal_those_of_jiwer() -> None:
    generator = np.random.default_rng(4)
    for _ in range(40):
        given, wanted = (generator.integers(0, 4, generator.integers(1, 8)) for _ in range(2))
        said = jiwer.process_words(" ".join(map(str, wanted)), " ".join(map(str, given)))
        edits = said.substitutions + said.deletions + said.insertions
        assert count_edits(given.tolist(), wanted.tolist()) == edits
    assert count_edits([], [1, 2]) == 2


def test_mel_bands_hear_their_frequency() -> None:
    edges = features.list_band_edges()
    assert edges[0] == pytest.approx(60) and edges[-1] == pytest.approx(3_900)
    band = 20
    time = torch.arange(800) / features.RATE
    tone = 0.1 * torch.sin(2 * math.pi * float(edges[band + 1]) * time)
    mels = features.compute_mels(tone)
    assert mels.shape == (features.count_frames(800), features.MELS) == (8, 40)
    assert (mels.argmax(1) == band).all()
    assert features.compute_mels(torch.zeros(100)).shape == (0, 40)
    silent = features.compute_mels(torch.zeros(200))
    assert silent[0, 0] == pytest.approx((math.log(1e-5) + 4) / 3)


def test_held_out_numbers_say_every_clip() -> None:
    clips = make_clips()
    spoken = compose_held_out(clips, 0)
    counts = np.bincount([label for one in spoken for label in one.labels], minlength=10)
    assert counts.tolist() == (3 * np.bincount(clips.label, minlength=10)).tolist()
    assert all(3 <= len(one.labels) <= 9 for one in spoken)
    again, other = compose_held_out(clips, 0), compose_held_out(clips, 1)
    assert [one.labels for one in again] == [one.labels for one in spoken]
    assert [one.labels for one in other] != [one.labels for one in spoken]
    clean = compose_held_out(clips, 0, clean=True)[0]
    outside = np.ones(len(clean.samples), bool)
    for begin, end in zip(clean.begins, clean.ends, strict=True):
        outside[begin:end] = False
    assert not clean.samples[outside].any()


def test_known_frames_lie_in_the_clips() -> None:
    (one,) = draw_numbers(make_clips(), np.random.default_rng(0), 1, 3, speed=0)
    frames = features.count_frames(len(one.samples)) // 4
    known = label_frames(one, frames)
    assert [digit for digit, _ in collapse_path(known)] == list(one.labels)


def test_training_lowers_the_loss() -> None:
    torch.manual_seed(0)
    clips, recipe = make_clips(), SpeechRecipe(BASE.recipe.schedule, digits=8)
    generator = np.random.default_rng(0)
    spoken = draw_numbers(clips, generator, 4, 2)
    batch = make_batch(spoken, generator, recipe, 1.0)
    objective = CtcObjective(SpeechNetwork(SMALL))
    (optimizer,) = make_adamw(objective, BASE.recipe.schedule)
    losses = []
    for _ in range(25):
        loss, digits = objective(batch)
        assert int(digits) == 8
        losses.append(float(loss.detach()))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert losses[-1] < 0.6 * losses[0]
