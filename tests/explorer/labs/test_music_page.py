"""The music page without a browser: what a visitor's wish becomes, and what widgets, rolls, changes
and folded panels are told to draw."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from explorer.components.change_panel import Rolls
from explorer.components.folded import Question
from explorer.contract import controls, permalink
from explorer.figures.rollpairs import MusicSide
from explorer.labs.music import change, rolls, texts, views
from explorer.labs.music.figures import roll
from explorer.labs.music.panels import lengths, meter, skew
from explorer.values.exact_rows import exact_row_store
from explorer.web.stored_results import StoredResults
from models.explaining.errors import InputError
from models.layers import relative
from models.music import events
from models.music.explain import explain
from models.music.notes import notes_of_events
from models.music.records import (
    MAX_MOTIF,
    MODELS,
    SCALE,
    Explanation,
    Losses,
    Made,
    Request,
    Step,
    melody,
    motif,
    read_motif,
    spell_events,
)
from models.music.weights import look
from tests.explorer.numbers import refused, rows_at, unpacked
from tests.explorer.rolls import NAMES, chorale, piano
from tests.explorer.wishes import answered, finished, program_of
from tests.models.networks import composers

TUNE = Request(motif=melody((72, 0, 71, 67), 2))
PLAYED = Request("piano", "continue", motif(SCALE[:4]), 24)
# queries, keys and table of a model without attention
NONE = [np.zeros((0, 0, 0, 0), np.float16)] * 3


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small networks that have learned nothing in the places of the shipped ones, of both styles;
    no first example is stored."""
    composers(monkeypatch)
    monkeypatch.setattr(views, "first", lambda: None)


# ---- what a visitor wants, and what comes back


@pytest.mark.usefixtures("small")
def test_the_keys_of_each_style_begin_and_end_with_a_white_one() -> None:
    own = next(
        described["own"]
        for control in program_of("music").controls
        if (described := control.describe_control(Request)).get("own")
    )
    assert not any(
        pitch % 12 in {1, 3, 6, 8, 10}
        for style in own["styles"].values()
        for pitch in style["keys"]
    )


def test_the_longest_motif_still_has_a_link() -> None:
    longest = Request(
        "piano",
        "continue",
        spell_events(np.random.default_rng(1).integers(0, events.EVENTS, MAX_MOTIF["piano"])),
    )
    assert permalink.decode(Request, controls.spell_query(longest)) == (longest, None)


@pytest.mark.usefixtures("small")
def test_a_melody_is_harmonised_by_models_side_by_side() -> None:
    drawn = json.loads(json.dumps(finished(program_of("music"), replace(TUNE, seed=2))))
    shown, bar = drawn["roll"], drawn["ask"]
    assert [(one["key"], one["name"]) for one in shown["models"]] == [
        (key, dict(texts.NAMES[key])) for key in MODELS["chorale"]
    ]
    assert all(model["look"].startswith("/looks/") for model in shown["models"])
    heads, models = (
        [(one["key"], one["heads"], one["note"]) for one in drawn[name]["models"]]
        for name in ("heads", "roll")
    )
    assert heads == models and shown["pick"] == bar["pick"] and shown["licence"] is None, (
        "what piano models make says its licence"
    )
    assert len(bar["lines"]) == 2 and "nats per cell" in bar["lines"][0]["en"]


@pytest.mark.usefixtures("small")
def test_events_are_counted_over_all_models() -> None:
    told = answered(program_of("music"), "", controls.spell_fields(replace(PLAYED, length=300)))
    badges = [
        value["badge"]["progress"]["en"] for value in told["ask"] if value["state"] == "running"
    ]
    reached, of = zip(
        *(badge.removeprefix("live · event ").split(" of ") for badge in badges), strict=True
    )
    counts = [int(one.replace(",", "")) for one in reached]
    assert counts == sorted(counts) and set(of) == {f"{3 * (300 + len(read_motif(PLAYED))):,}"}
    assert all("CC BY-NC-SA 4.0" in text for text in told["roll"][-1]["licence"].values()), (
        "beside the music, and in its files"
    )


# ---- the roll, from networks' numbers with a fixed seed

ABOUT = {key: {"en": "small", "zh": "小"} for key in NAMES}


def drawn(run: tuple[Explanation, Request], **more: Any) -> dict[str, Any]:
    """A finished run as the widget gets it, once around JSON."""
    return json.loads(
        json.dumps(
            rolls.draw_finished_roll(*run, "v=1", names=NAMES, about=ABOUT, state="live", **more)
        )
    )


def grown(request: Request, steps: list[Step]) -> Any:
    """The only model of a run that grows."""
    (model,) = json.loads(
        json.dumps(rolls.draw_growing_roll(request, steps, "v=1", names=NAMES, about=ABOUT))
    )["models"]
    return model


def test_every_model_stands_with_its_notes_and_what_they_cost() -> None:
    seen, request = piano()
    value = drawn((seen, request))
    assert [model["key"] for model in value["models"]] == [made.variant for made in seen.made]
    for model, made in zip(value["models"], seen.made, strict=True):
        assert model["nats"] == pytest.approx(made.nats[~made.given].mean(), abs=1e-4)
        assert model["sound"]["wav"].startswith("/sound/") and model["sound"]["seconds"] > 0
    assert value["steps"] == max(made.steps for made in seen.made)
    assert [model["until"] for model in value["models"]] == [80] * 3, (
        "four notes of 200 ms were given"
    )
    assert value["models"][-1]["heads"] is None is value["models"][-1]["look"], "the LSTM"
    assert (
        value["licence"] is None
        and drawn((seen, request), licence=ABOUT["lstm"])["licence"] == ABOUT["lstm"]
    )


def test_each_event_belongs_to_its_note() -> None:
    made = chorale()[0].made[0]
    for event, note in enumerate(roll.find_owners(made, "chorale").tolist()):
        step, voice = divmod(event, 4)
        sounding = [
            n for n, (a, b, _, v) in enumerate(made.notes.tolist()) if v == voice and a <= step < b
        ]
        assert sounding == ([] if note < 0 else [note])
    made = piano()[0].made[0]
    owner = roll.find_owners(made, "piano")
    np.testing.assert_array_equal(owner[made.at], np.arange(len(made.notes)))
    for event in np.flatnonzero(
        (made.events >= events.NOTE_OFF) & (made.events < events.SHIFT) & (owner >= 0)
    ).tolist():
        assert (
            made.notes[owner[event], 2] == made.events[event] - events.NOTE_OFF
            and made.at[owner[event]] < event
        )
    assert (owner[made.events >= events.SHIFT] == -1).all()


def test_notes_and_the_rest_get_all_weight() -> None:
    made = chorale()[0].made[0]
    note = len(made.notes) - 3
    first = int(made.at[note])
    row = look(made, 1, 2, [first])[0]
    found = roll.sum_by_note(row[None], roll.find_owners(made, "chorale"), len(made.notes))[0]
    assert not found[np.flatnonzero(made.notes[:, 0] > made.notes[note, 0])].any(), (
        "nothing to later ones"
    )
    rests = row[0] + sum(row[event + 1] for event in range(first) if made.events[event] == 0)
    assert found.sum() + rests == pytest.approx(1, abs=1e-5)
    # The key at a place carries the event before it.
    key = next(n for n in range(len(made.notes)) if made.at[n] < first - 1)
    own = [
        event
        for event in range(
            int(made.notes[key, 0]) * 4 + int(made.notes[key, 3]), int(made.notes[key, 1]) * 4, 4
        )
        if event < first
    ]
    assert found[key] == pytest.approx(sum(row[event + 1] for event in own), abs=1e-6)


def test_attention_is_averaged_by_distance() -> None:
    made = chorale()[0].made[0]
    every = len(made.events)
    thumbs, distance, watched = roll.collect_profiles(made, look, most=every)
    assert watched == [every] * 2
    heads = made.queries.shape[1]
    for number in range(made.queries.shape[0] * heads):
        whole = look(made, number // heads, number % heads, range(every))
        means = [np.diagonal(whole, -apart).mean() for apart in range(distance.shape[1])]
        np.testing.assert_allclose(distance[number], means, atol=1e-5)
    np.testing.assert_allclose(thumbs.sum(2), 1, atol=1e-5)
    assert not np.triu(thumbs[0], 1).any()
    _, distance, watched = roll.collect_profiles(piano(length=600)[0].made[0], look)
    assert watched[0] <= roll.WATCHED < watched[1] and distance.shape[1] == roll.FARTHEST


def test_the_default_note_looks_far_back() -> None:
    seen, request = chorale()
    value = drawn((seen, request))
    pick, model = value["pick"], value["models"][0]
    made = next(one for one in seen.made if one.variant == pick["model"])
    assert not made.given[made.at[pick["note"]]] and pick["head"] == "2.2", (
        "the head that was built to look four beats back"
    )
    np.testing.assert_allclose(
        rows_at(model["look"], 1, 1, 8, 2), look(seen.made[0], 1, 1, [8, 9]), atol=1 / 65_535
    )
    stored = StoredResults(())
    stored.hold_named(json.dumps(value))
    for digest in [one["look"].rpartition("/")[2] for one in value["models"]]:
        assert asyncio.run(stored.get_rows(digest)) is exact_row_store().get(digest)
    assert asyncio.run(stored.get_rows("0" * 32)) is None


def test_repeated_motifs_are_paired() -> None:
    request = Request(
        "piano",
        "continue",
        motif((60, 64, 67, 65, 62, 59, 60, 48, 64, 68, 71, 69, 66, 63, 64, 50)),
        8,
    )
    values = read_motif(request)
    notes, at, steps = notes_of_events("piano", values)
    given, nats = np.ones(len(values), np.bool_), np.zeros(len(values), np.float32)
    made = Made(
        "lstm",
        values.astype(np.int16),
        given,
        nats,
        notes.astype(np.int32),
        at.astype(np.int32),
        steps,
        *NONE,
    )
    value = drawn((Explanation((made,), 10), request))
    (first, again, semitones), *others = value["repeats"]["lstm"]
    assert semitones == 4 and first == list(range(len(first))) and again[0] == 8 and not others
    assert value["pick"] is None and value["models"][0]["nats"] is None


def test_music_grows_and_what_was_given_stays_given() -> None:
    made = chorale()[0].made[0]
    steps = [
        Step(made.variant, first, made.events[first : first + 10], made.nats[first : first + 10])
        for first in (0, 10)
    ]
    model = grown(Request(motif=melody([72, 71, 69, 67], 4)), steps)
    assert (model["events"], model["of"], model["given"], model["until"]) == (20, 64, 5, 0)
    notes = unpacked(model["notes"])
    assert len(notes) and notes[:, 1].max() <= 5
    np.testing.assert_array_equal(unpacked(model["given_notes"]), notes[:, 3] == 0)
    seen, request = piano()
    made = seen.made[0]
    model = grown(request, [Step(made.variant, 0, made.events[:30], made.nats[:30])])
    assert model["given"] == int(made.given.sum()) and model["of"] == len(made.events)


# ---- what changes if …

BARS = Request(motif=melody((72, 71, 69, 67), 8), seed=3)  # two bars


def held(variant: str, lower: tuple[int, int, int], nats: float = 1.0, semitones: int = 0) -> Made:
    """Two bars in which the three lower voices hold one chord, each voice's every event as dear as
    the others."""
    soprano = np.repeat([72, 71, 69, 67], 8) + semitones
    cells = np.stack([soprano, *(np.full(32, pitch) for pitch in lower)], 1).reshape(-1) - 35
    given = np.tile([True, False, False, False], 32)
    notes, at, steps = notes_of_events("chorale", cells.astype(np.int64))
    costs = np.where(given, 0, nats).astype(np.float32)
    return Made(
        variant,
        cells.astype(np.int16),
        given,
        costs,
        notes.astype(np.int32),
        at.astype(np.int32),
        steps,
        *NONE,
    )


def compared(request: Request, after: Made, cost: float) -> Rolls:
    """Both models of chorales before, what became of one of them after, and what its music costs
    under the change in its second bar."""
    before = tuple(held(variant, (64, 60, 48)) for variant in ("jsb_relative", "jsb_transformer"))
    costs = tuple(
        np.repeat([1, cost if one.variant == after.variant else 1], 64).astype(np.float32)
        for one in before
    )
    seen = Explanation(before, 125), Explanation((after, before[1]), 125)
    return change.difference(
        seen,
        (None, Losses(costs)),
        request,
        program_of("music").describe_changes(request) or {},
    )


@pytest.mark.parametrize(
    ("request_", "reached"),
    [
        (Request(), ()),
        (Request(farthest=0), ("jsb_relative",)),
        (Request("piano", "continue", farthest=8), ("relative",)),
        (Request(silenced=(("jsb_transformer", 1, 2),)), ("jsb_transformer",)),
        (Request("piano", "continue", stretch=2.0), ("relative", "transformer", "lstm")),
        (Request(semitones=-3, farthest=4), ("jsb_relative", "jsb_transformer")),
    ],
)
def test_a_change_reaches_the_models_that_have_what_it_changes(
    request_: Request, reached: tuple[str, ...]
) -> None:
    assert change.list_changed_variants(request_) == reached


def test_the_sentence_says_change_and_cost() -> None:
    found = compared(replace(BARS, farthest=0), held("jsb_relative", (64, 60, 50), 3.0), 2.0)
    (pair,) = found.rolls
    assert pair.key == "jsb_relative"
    # the second of two bars costs twice as much; given cells do not count
    assert pair.numbers == pytest.approx((1.0, 1.5))
    assert found.sentence == {
        "en": (
            "Without the relative term, what the Music Transformer made costs it 0.50 nats per cell"
            " more, most in bar 2; 2 of the 3 notes it had made are made again."
        ),
        "zh": (
            "去掉相对位置项，音乐 Transformer原先写出的音乐，每格的代价增加 0.50 纳特，"
            "第 2 小节变化最大；"
            "原先写出的 3 个音中有 2 个再次出现。"
        ),
    }


def test_a_moved_motif_is_moved_back_first() -> None:
    found = compared(
        replace(BARS, semitones=2), held("jsb_relative", (66, 62, 50), 1.25, semitones=2), 1.5
    )
    first, second = found.rolls
    assert first.numbers == pytest.approx((1.0, 1.25)), "of the same music, moved"
    assert all(kept.all() for kept in first.find_kept_notes()), "every note moved with the motif"
    assert not any(kept.any() for kept in second.find_kept_notes()), (
        "this model made the old notes again"
    )
    said = found.sentence["en"]
    assert said.startswith(
        "With the motif 2 semitones higher, what the Music Transformer made, changed along with it,"
        " costs it 0.25 nats"
    )
    assert said.endswith("3 of the 3 notes it had made are made again, moved with the motif.")
    seen, request = piano()
    nats = Losses(tuple(one.nats for one in seen.made))
    found = change.difference(
        (seen, seen), (None, nats), replace(request, stretch=2.0), {"en": "x", "zh": "x"}
    )
    assert [pair.compared for pair in found.rolls] == [False] * 3 and "again" not in found.sentence[
        "en"
    ]


def test_many_heads_are_counted_and_few_are_named() -> None:
    few: Any = program_of("music").describe_changes(
        Request(silenced=(("jsb_relative", 1, 2), ("jsb_relative", 0, 0)))
    )
    assert (
        few["en"] == "without head 2·3 of the Music Transformer, head 1·1 of the Music Transformer"
    )
    many = Request(silenced=tuple(("jsb_relative", layer, 0) for layer in range(4)), semitones=-1)
    said = {
        "en": "with the motif a semitone lower and without 4 heads",
        "zh": "把动机降低一个半音，关掉 4 个头",
    }
    assert program_of("music").describe_changes(many) == said


# ---- panels: skewing


@pytest.fixture
def seen(small: None) -> Explanation:
    """A short run of small models that have learned nothing."""
    (found,) = explain([TUNE])
    assert isinstance(found, Explanation)
    return found


def test_skewing_is_drawn_on_the_runs_own_numbers(seen: Explanation) -> None:
    wish = {"model": "jsb_transformer", "head": "3.4", "squeries": "8", "sfrom": "5"}
    assert skew.read_question(Question("", wish)) == skew.Wish("jsb_transformer", (2, 3), 8, 5)
    value: Any = json.loads(
        json.dumps(skew.draw_panel(seen, skew.Wish("jsb_relative", (1, 2), 8, 6), "chorale"))
    )
    assert (value["layer"], value["head"], value["first"], value["events"]) == (
        1,
        2,
        6,
        32,
    ) and 0 <= value["difference"] < 1e-5
    shapes = [
        value[name]["shape"] for name in ("product", "padded", "reshaped", "sliced", "direct")
    ]
    assert shapes == [[8, 8], [8, 9], [9, 8], [8, 8], [8, 8]]
    query, table = (
        getattr(seen.made[0], name)[1, 2].astype(np.float32) for name in ("queries", "table")
    )
    expected = [
        [float(query[6 + i] @ table[i - j]) if j <= i else 0 for j in range(8)] for i in range(8)
    ]
    np.testing.assert_allclose(np.tril(unpacked(value["sliced"])), expected, atol=1e-4)
    assert value["makes"] and all("en" in one for one in value["makes"])


def test_queries_and_keys_say_what_they_are(seen: Explanation) -> None:
    value: Any = skew.draw_panel(seen, skew.Wish(queries=6), "chorale")
    makes, reads, tone = value["makes"], value["reads"], {"en": "S C5", "zh": "S C5"}
    assert (makes[0], makes[4], reads[0]) == (tone, tone, {"en": "the beginning", "zh": "开头"})
    assert reads[1:] == makes[:-1], "what is made is what is read next"
    assert skew.name_events(seen.made[0], "chorale", [8])[0] == {"en": "S rest", "zh": "S 休止"}
    played = replace(
        seen.made[0], events=np.array([60, 128 + 60, 256, 255 + 100, 356 + 16], np.int16)
    )
    assert [name["en"] for name in skew.name_events(played, "piano", range(5))] == [
        "C4",
        "C4 ends",
        "10 ms on",
        "1000 ms on",
        "velocity 64",
    ]


def test_without_a_relative_term_it_says_so(seen: Explanation) -> None:
    value: Any = skew.draw_panel(seen, skew.Wish("jsb_transformer", (9, 9)), "chorale")
    assert value["other"]["en"] == "Transformer" and value["model"]["en"] == "Music Transformer"
    assert (value["layer"], value["head"]) == (value["layers"] - 1, value["heads"] - 1)
    with pytest.raises(InputError, match="relative term"):
        skew.draw_panel(Explanation(seen.made[1:], 125), skew.Wish(), "chorale")


# ---- panels: memory and lengths


def test_memory_as_in_the_paper() -> None:
    needed = meter.count_bytes(2048, 512, 8)
    direct = needed["direct"]["embeddings"]
    assert direct == pytest.approx(8.5e9, rel=0.02) and direct / 8 == pytest.approx(1.1e9, rel=0.03)
    assert (
        needed["skew"] == {"embeddings": 4 * 2048 * 512, "product": 4 * 8 * 2048**2}
        and sum(needed["ours"].values()) < 6e6
    )
    assert (meter.BLOCK, meter.TOGETHER) == (relative.BLOCK, relative.CACHED)
    query = torch.zeros(8, 2048, 64)
    rows, _ = next(iter(relative._group_heads(8, query, query, relative.CACHED)))
    assert (
        needed["ours"]["product"]
        == relative.Room(rows.stop, query, query)._product.numel() * meter.BYTES
    )


def test_the_meter_says_what_was_measured(
    tmp_path: Path,
) -> None:
    assert meter.read_peaks(tmp_path / "none.json") is None
    figures = {
        "direct_mb": 8624.0,
        "skew_mb": 517.0,
        "extra_mb": 16.0,
        "direct_ms": 15300.0,
        "skew_ms": 642.0,
        "ours_ms": 114.4,
    }
    path = tmp_path / "relative_attention.json"
    path.write_text(
        json.dumps(
            {"name": "relative_attention", "device": "cpu", "threads": 2, "figures": figures}
        ),
        "utf-8",
    )
    value: Any = meter.draw_panel(meter.read_question(Question("", None)), meter.read_peaks(path))
    shown = value["figures"][0]["figure"]
    said, rows = shown["sentence"]["en"], shown["table"]["rows"]
    assert (
        "At L = 2,048 and D = 512 the direct formula’s R takes 8.59 GB in each layer." in said
        and "4.19 MB: 2,048 times less" in said
    )
    assert (
        "(CPU, 2 threads): attention’s whole forward pass peaks at 8.62 GB, 517 MB and 16.0 MB"
        in said
    )
    assert [row[4:6] for row in rows] == [
        [8589934592, 8589934592],
        [138412032, 4194304],
        [5242880, 4194304],
    ]
    chosen = meter.read_question(Question("", {"mlength": "4096", "mwidth": "7", "mheads": None}))
    assert chosen == {
        "length": 4096,
        "width": 512,
        "heads": 8,
    }, "what is not offered is the paper's"
    assert "34.4 GB" in meter.draw_panel(chosen, None)["figures"][0]["figure"]["sentence"]["en"]


def test_ratios_beyond_the_trained_length() -> None:
    def facts(ratio: float, shift: float) -> dict[str, Any]:
        by = [2.0 + shift] * 16 + [2.0 * ratio] * 16
        return {"recipe": {"window": 1024}, "figure_times_2": {"by_position": by, "ratio": ratio}}

    value: Any = lengths.draw_panel({"relative": facts(0.99, 0.0), "transformer": facts(1.25, 0.1)})
    lines, shape = value["figures"]["en"]["data"], value["figures"]["en"]["layout"]["shapes"][0]
    assert [line["name"] for line in lines] == ["Music Transformer", "Transformer"]
    assert (lines[0]["x"][0], lines[0]["x"][-1], shape["x0"], shape["x1"]) == (32, 2016, 1024, 2048)
    assert (
        "Music Transformer −1.0 %" in value["sentence"]["en"]
        and "Transformer +25.0 %" in value["sentence"]["zh"]
    )
    assert value["table"]["rows"][16][:3] == [1024, 1088, 1.98]


def test_notes_that_are_none_are_an_error() -> None:
    refused(r"\(note, 4\)", MusicSide, np.zeros((3, 3), np.int32), np.zeros(3, bool), 4)
