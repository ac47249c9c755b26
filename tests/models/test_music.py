"""Music: chorales and performances as sequences, the three networks, their training, and what a
page gets of them."""

from __future__ import annotations

import dataclasses
import gzip
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

import models.music.explain as module
from models.__main__ import main
from models.checkpoints import checkpoint
from models.data.windows import NONE, SymbolBatch
from models.explaining.errors import InputError
from models.explaining.trace import Trace
from models.music import chorales, events, lstm, recipe
from models.music.data import batch_of, drawn_pieces
from models.music.explain import explain, measure, skew
from models.music.lstm import PerformanceRNN
from models.music.model import Config, MusicTransformer
from models.music.performances import Augmentation, cut_at_notes, drawn_window, performances
from models.music.pretrained import Network, read
from models.music.recipe import (
    VARIANTS,
    Objective,
    Recipe,
    costs,
    evaluate,
    task_of,
    train,
    windows,
)
from models.music.records import (
    MODELS,
    SCALE,
    Array,
    Explanation,
    Losses,
    Request,
    Rereading,
    melody,
    motif,
)
from models.music.weights import look
from models.training.user_data import UserTraining
from tests.models.networks import BRIEF, EVENTS, MUSIC, answer, composers, music, trained

TUNE = Request(motif=melody((72, 0, 71, 67), 2))
PIANO = Request("piano", "continue", motif(SCALE[:4]), 24)
SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}
CPU = torch.device("cpu")
answered = partial(answer, explain, Explanation)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tiny data sets in the layout of the real ones; variants are tiny networks, their assets
    go here."""
    generator = np.random.default_rng(1)
    (tmp_path / "jsb").mkdir()
    pieces = [
        [[int(p) for p in generator.integers(36, 82, 4)] for _ in range(n)] for n in (6, 9, 4)
    ]
    pieces[0][2][3] = -1
    with gzip.open(tmp_path / "jsb" / "Jsb16thSeparated.json.gz", "wt") as file:
        json.dump({"train": pieces[:2], "valid": pieces[2:], "test": pieces[:1]}, file)
    (tmp_path / "asap").mkdir()
    counts, splits = (40, 30, 20), ("train", "valid", "test")
    total = sum(counts)
    np.savez(
        tmp_path / "asap" / "asap_notes.npz",
        offset=np.cumsum((0, *counts)).astype(np.int32),
        dt_ms=generator.integers(0, 400, total).astype(np.uint16),
        dur_ms=np.full(total, 5, np.uint16),
        dur_sustain_ms=generator.integers(20, 900, total).astype(np.uint16),
        pitch=generator.integers(21, 109, total).astype(np.uint8),
        velocity=generator.integers(1, 127, total).astype(np.uint8),
    )
    items = [{"composer": "A", "title": f"T{i}", "split": split} for i, split in enumerate(splits)]
    (tmp_path / "asap" / "split.json").write_text(json.dumps({"items": items}), encoding="utf-8")
    short = Recipe(BRIEF, batch=2, evaluation_interval=3, rate=3e-3)
    windowed = dataclasses.replace(short, window=16, augmentation=recipe.PIANO.recipe.augmentation)
    networks = {
        "jsb_relative": (short, lambda: MusicTransformer(Config(chorales.CELLS, 8, **SMALL))),
        "relative": (windowed, lambda: MusicTransformer(Config(events.EVENTS, 8, **SMALL))),
        "transformer": (
            windowed,
            lambda: MusicTransformer(Config(events.EVENTS, 0, longest=64, **SMALL)),
        ),
        "lstm": (windowed, lambda: PerformanceRNN(lstm.Config(events.EVENTS, d_model=16))),
    }
    tiny = {
        name: dataclasses.replace(VARIANTS[name], build=build, recipe=how)
        for name, (how, build) in networks.items()
    }
    monkeypatch.setattr(recipe.LAB, "variants", tiny)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    return tmp_path


# ---- sequences


def test_a_chorale_is_soprano_alto_tenor_bass_of_each_sixteenth(data: Path) -> None:
    steps = [[74, 70, 65, 58], [74, -1, 65, 57]]
    cells = chorales.cells_of(steps)
    assert cells.tolist() == [39, 35, 30, 23, 39, chorales.SILENCE, 30, 22]
    assert chorales.steps_of(cells).tolist() == steps
    (learned,), (choosing,) = chorales.chorales(data, "train"), chorales.chorales(data, "dev")
    assert (len(learned), len(choosing)) == (
        24,
        36,
    ), "the last of the training ones choose, and are not learned from"
    assert learned[11] == chorales.SILENCE and len(chorales.chorales(data, "test")) == 1
    for wrong in ([[35, 60, 60, 60]], [[82, 60, 60, 60]], [[60, 60, 60]]):
        with pytest.raises(ValueError, match=r"pitch|voices"):
            chorales.cells_of(wrong)
    for read_ in (chorales.chorales, performances):
        with pytest.raises(ValueError, match="not nothing"):
            read_(data, "nothing")


def test_a_chorale_is_learned_in_every_key() -> None:
    cells = chorales.cells_of([[81, 60, -1, 40], [80, 59, 52, 41]])
    keys = {
        tuple(chorales.transpose(cells, 6, np.random.default_rng(seed)).tolist())
        for seed in range(100)
    }
    ways = {
        tuple(np.where(cells == chorales.SILENCE, chorales.SILENCE, cells + by).tolist())
        for by in range(-4, 1)
    }
    assert keys == ways, (
        "four down at most, where the bass is at its lowest, and not up, where the soprano is at"
        " its highest"
    )
    assert (chorales.transpose(cells[2:3], 6, np.random.default_rng(1)) == chorales.SILENCE).all()


def test_position_i_reads_the_event_before_and_says_event_i() -> None:
    batch = batch_of([np.array([3, 1, 2]), np.array([5])], start=9)
    assert (batch.before.tolist(), batch.wanted.tolist()) == (
        [[9, 3, 1], [9, 9, 9]],
        [[3, 1, 2], [5, NONE, NONE]],
    )


def test_pieces_of_like_length_come_together() -> None:
    pieces = [np.full(n, n) for n in range(1, 41)]
    generator = np.random.default_rng(2)
    drawn = [batch_of(drawn_pieces(pieces, 2, generator), 0).wanted for _ in range(400)]
    assert {int(n) for one in drawn for n in (one != NONE).sum(1)} == set(range(1, 41))
    assert np.mean([one.eq(NONE).float().mean().item() for one in drawn]) < 0.1


def test_a_performance_becomes_notes(
    data: Path,
) -> None:
    (test,), (one,) = (performances(data, split) for split in ("test", "train"))
    assert [piece.title for piece in performances(data, "valid")] == ["T1"]
    held = events.notes_from(test.events()).notes
    assert 15 <= len(held) <= 20 and held["onset"][0] == 0
    plain, up, slow = (
        events.notes_from(one.events(**how)).notes
        for how in ({}, {"semitones": 2}, {"stretch": 1.05})
    )
    assert (np.sort(up["onset"])[:10] == np.sort(plain["onset"])[:10]).all() and up[
        "pitch"
    ].max() <= 108
    assert slow["onset"].max() == pytest.approx(1.05 * plain["onset"].max(), abs=1)


def test_windows_hold_every_event_once(data: Path) -> None:
    played, generator = performances(data, "train"), np.random.default_rng(3)
    drawn = [drawn_window(played, 24, Augmentation(), generator) for _ in range(50)]
    assert (
        all(0 < len(one) <= 24 for one in drawn)
        and len({tuple(one.tolist()) for one in drawn}) > 40
    )
    cut = windows([np.arange(10), np.arange(3)], 4)
    assert [one.tolist() for one in cut] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [0, 1, 2]]


def test_a_performance_is_cut_at_notes(data: Path) -> None:
    (played,) = performances(data, "train")
    begun: list[int] = []
    for window in cut_at_notes(played, 16):
        assert len(window) <= 16 and window[0] >= events.VELOCITY and window[1] < events.NOTE_OFF, (
            "loudness, then the first note"
        )
        on: set[int] = set()
        for event in window.tolist():
            if event < events.NOTE_OFF:
                on.add(event)
                begun.append(event)
            elif event < events.SHIFT:
                assert event - events.NOTE_OFF in on, "no note ends that did not begin here"
    whole = played.events()
    assert begun == whole[whole < events.NOTE_OFF].tolist()


# ---- the networks


@pytest.mark.parametrize("kind", ["relative", "transformer", "lstm"])
def test_padding_never_counts(kind: str) -> None:
    model, generator = music(kind), np.random.default_rng(5)
    objective, pieces = (
        Objective(model),
        [generator.integers(0, EVENTS, 80 - 7 * i) for i in range(3)],
    )
    batch = batch_of(pieces, EVENTS)
    together, count = objective(batch)
    alone = [objective(batch_of([piece], EVENTS)) for piece in pieces]
    assert int(count) == sum(map(len, pieces)) == sum(int(one) for _, one in alone)
    torch.testing.assert_close(together, torch.stack([loss for loss, _ in alone]).sum())
    noisy, _ = objective(
        SymbolBatch(torch.where(batch.wanted == NONE, 4, batch.before), batch.wanted)
    )
    both = (torch.autograd.grad(loss, [*model.parameters()]) for loss in (together, noisy))
    for ours, theirs in zip(*both, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_relative_positions_reach_further() -> None:
    tune = torch.tensor([[1, 2, 3, 4, 5, 6]])
    assert music("relative")(torch.zeros(1, 250, dtype=torch.long)).shape == (1, 250, EVENTS)
    torch.manual_seed(2)
    for distances in (24, 0):
        model = MusicTransformer(
            dataclasses.replace(MUSIC, distances=distances, cycles=(), n_layers=1)
        ).eval()
        moved = (model(tune)[0, -1] - model(tune, first=40)[0, -1]).abs().max()
        assert moved == 0 if distances else moved > 1e-3


# ---- training and measuring


@pytest.mark.parametrize("variant", ["jsb_relative", "lstm"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path) -> None:
    found, _ = trained(recipe, read, data, variant)
    chorale = variant == "jsb_relative"
    assert (found["split"], found["metric"]) == (
        ("valid", "nats per grid cell") if chorale else ("test", "nats per event")
    )
    if chorale:
        assert found["n"] == sum(len(piece) for piece in chorales.chorales(data, "valid")), (
            "every cell, and nothing else"
        )
        assert evaluate(data, variant, split="test", device=CPU)["split"] == "test"
        with pytest.raises(ValueError, match="read whole"):
            evaluate(data, variant, times=2, device=CPU)


def test_both_cuts_and_halves_are_told(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(data, tmp_path / "runs", "relative", device=CPU)
    found = evaluate(data, "relative", device=CPU)
    model = read(checkpoint.find_folder("music", "relative"), "cpu").model
    whole = [one.events() for one in performances(data, "test")]
    assert found["cut_anywhere"] == pytest.approx(
        np.concatenate(costs(model, windows(whole, 16))).mean(), abs=1e-4
    )
    at_notes = [window for one in performances(data, "test") for window in cut_at_notes(one, 16)]
    assert found["value"] == pytest.approx(np.concatenate(costs(model, at_notes)).mean(), abs=1e-4)
    assert found["n"] == sum(map(len, at_notes)) and "cut anywhere" in capsys.readouterr().out
    assert (
        main(
            [
                "evaluate",
                "music",
                "--variant",
                "relative",
                "--data",
                str(data),
                "--device",
                "cpu",
                "--times",
                "2",
                "--json",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found["times"] == 2 and found["bits_per_second"] > 0
    assert found["ratio"] == pytest.approx(found["second_half"] / found["first_half"], abs=1e-3)
    assert np.mean(found["by_position"]) == pytest.approx(
        (found["first_half"] + found["second_half"]) / 2, abs=1e-3
    )


def test_rare_distances_are_left_out(data: Path, tmp_path: Path) -> None:
    whole = read(
        train(
            data, tmp_path / "runs", "relative", device=CPU, own=UserTraining(tmp_path / "whole")
        ),
        "cpu",
    ).model
    recipe_of_less = dataclasses.replace(task_of("relative").recipe, kept=4)
    found = read(
        train(
            data,
            tmp_path / "again",
            "relative",
            device=CPU,
            own=UserTraining(tmp_path / "less"),
            recipe=recipe_of_less,
        ),
        "cpu",
    )
    assert isinstance(found.model, MusicTransformer) and isinstance(whole, MusicTransformer)
    assert found.facts["config"]["distances"] == found.facts["recipe"]["kept"] == 4
    before = torch.arange(12)[None]
    assert torch.equal(found.model(before), whole(before, farthest=3)), (
        "what lies beyond shares the last one"
    )
    assert not torch.equal(found.model(before), whole(before))
    without = train(data, tmp_path / "runs", "transformer", device=CPU, recipe=recipe_of_less)
    assert without.is_dir(), "without E_r there is nothing to leave out"


def test_costs_do_not_depend_on_how_pieces_are_put_together() -> None:
    torch.manual_seed(1)
    model = MusicTransformer(Config(9, 8, **SMALL))
    pieces = [np.random.default_rng(i).integers(0, 9, n) for i, n in enumerate((5, 12, 3, 9))]
    for one, other in zip(costs(model, pieces, 4), costs(model, pieces, 1), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


# ---- what a page gets


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Network]:
    """Small networks that have learned nothing in the places of the shipped ones."""
    return composers(monkeypatch)


page = pytest.mark.usefixtures("small")


@page
def test_a_melody_gets_three_voices_and_stays_as_it_was() -> None:
    seen = answered(TUNE)
    assert [made.variant for made in seen.made] == list(MODELS["chorale"])
    for made in seen.made:
        assert chorales.steps_of(made.events.astype(np.int64))[:, 0].tolist() == [
            72,
            72,
            -1,
            -1,
            71,
            71,
            67,
            67,
        ]
        assert made.given.reshape(-1, 4).all(0).tolist() == [True, False, False, False]
        assert (made.nats[~made.given] > 0).all() and not made.nats[made.given].any()


@page
def test_three_models_continue_a_motif() -> None:
    seen = answered(PIANO)
    assert [made.variant for made in seen.made] == list(MODELS["piano"]) and seen.grid == 10
    count = int(seen.made[0].given.sum())
    assert all(
        len(made.events) == count + 24
        and np.array_equal(made.events[:count], seen.made[0].events[:count])
        for made in seen.made
    )
    empty = answered(dataclasses.replace(PIANO, motif="")).made
    assert [len(one.events) for one in empty] == [24, 24, 24] and not empty[0].given.any()
    changed = dataclasses.replace(PIANO, motif="", stretch=1.5, semitones=-2)
    assert len(again(answered(changed), changed)) == 3


@page
@pytest.mark.parametrize("request_", [TUNE, PIANO], ids=["chorale", "piano"])
def test_each_note_is_begun_by_an_event_of_its_pitch(request_: Request) -> None:
    for made in answered(request_).made:
        for (onset, end, pitch, _), at in zip(made.notes.tolist(), made.at.tolist(), strict=True):
            assert 0 <= onset < end <= made.steps
            assert made.events[at] == (
                pitch if request_.style == "piano" else pitch - chorales.LOWEST + 1
            )


def test_a_look_is_the_attention_of_the_model(small: dict[str, Network]) -> None:
    *attending, recurrent = answered(PIANO).made
    for made in attending:
        model, trace = small[made.variant], Trace("1/self/weights")
        model(batch_of([made.events.astype(np.int64)], model.start).before, trace=trace)
        np.testing.assert_allclose(
            look(made, 1, 2, [20, 7]), trace.stack("1/self/weights")[0, 0, 2, [20, 7]], atol=2e-3
        )
    with pytest.raises(IndexError, match="lstm has no attention"):
        look(recurrent, 0, 0, [0])
    with pytest.raises(IndexError, match="no relative term"):
        skew(attending[1], 0, 0)


@page
def test_skewing_is_shown_on_the_runs_own_numbers() -> None:
    steps = skew(answered(TUNE).made[0], 1, 2, first=4, size=9)
    assert steps.sliced.shape == (9, 9)
    np.testing.assert_allclose(steps.sliced[steps.allowed], steps.direct[steps.allowed], atol=1e-5)


def again(seen: Explanation, request: Request) -> tuple[Array, ...]:
    """What the same events cost under what a request changes."""
    return answer(
        measure, Losses, Rereading(request, tuple(made.events.tobytes() for made in seen.made))
    ).nats


@page
@pytest.mark.parametrize(
    ("request_", "change"),
    [(TUNE, {"semitones": 2}), (PIANO, {"semitones": -3}), (PIANO, {"stretch": 2.0})],
)
def test_where_the_motif_is_moved_all_of_the_music_is_read_so(
    request_: Request, change: dict[str, object]
) -> None:
    changed = dataclasses.replace(request_, **change)
    seen = answered(request_)
    for made, nats in zip(seen.made, again(seen, changed), strict=True):
        assert nats.shape == made.events.shape and (nats > 0).all()
        assert not np.allclose(nats[~made.given], made.nats[~made.given], atol=1e-5)
    given = seen.made[0].events[seen.made[0].given].astype(np.int64)
    values, source = module._moved_along(changed, given)
    if request_.style == "piano":
        assert values.tolist() == module._move_motif(changed, given).tolist(), (
            "the motif is read as it is given to the models"
        )
        assert sorted(set(source.tolist())) == list(range(len(given)))


@page
def test_a_motif_can_be_moved_and_stretched() -> None:
    moved, plain = (
        answered(one).made[0]
        for one in (dataclasses.replace(PIANO, semitones=3, stretch=2.0), PIANO)
    )
    given, before = (
        events.notes_from(one.events[one.given].astype(np.int64)).notes for one in (moved, plain)
    )
    for name, expected in (
        ("pitch", before["pitch"] + 3),
        ("onset", 2 * before["onset"]),
        ("velocity", before["velocity"]),
    ):
        assert (given[name] == expected).all()
    up = answered(dataclasses.replace(TUNE, semitones=2)).made[0]
    assert chorales.steps_of(up.events.astype(np.int64))[0, 0] == 74
    cells = np.array([chorales.CELLS - 1, 1, chorales.SILENCE, 20])
    values, _ = module._moved_along(dataclasses.replace(TUNE, semitones=12), cells)
    assert values.tolist() == [chorales.CELLS - 1, 13, chorales.SILENCE, 32]


@page
def test_a_style_of_which_no_model_is_shipped_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.music.records.styles", lambda: ("chorale",))
    found = answer(explain, InputError, PIANO)
    assert found.code == "style" and "piano" in found.text["en"] and "chorale" in found.text["zh"]
