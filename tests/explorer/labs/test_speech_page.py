"""The lab of truncated self-attention without a browser: its pictures' values, its change, and what
it hears of a visitor."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.labs import LABS
from explorer.labs.speech import about, texts, views
from explorer.media import recordings
from explorer.page.runs import ResultOrigin
from models.media.sound_files import spell_sound
from models.speech import explain as explaining
from models.speech.model import SpeechConfig, SpeechNetwork
from models.speech.records import EXAMPLES, DigitErrors, Explanation, Request, find_cone
from tests.explorer.numbers import unpacked
from tests.explorer.wishes import program_of

LAB = next(lab for lab in LABS if lab.slug == "speech")


@pytest.fixture(scope="module")
def network() -> Any:
    """An untrained network that often names a digit."""
    torch.manual_seed(2)
    model = SpeechNetwork(SpeechConfig()).eval().requires_grad_(False)
    model.readout.bias[:10] += 1
    return SimpleNamespace(model=model)


@pytest.fixture
def explain(network: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that explains one request with this network."""
    monkeypatch.setattr(explaining, "load", lambda _variant: network)

    def answer(request: Request) -> Any:
        (seen,) = explaining.explain([request])
        return seen

    return answer


def test_a_number_is_spoken_and_heard(explain: Any) -> None:
    seen: Explanation = explain(EXAMPLES[0])
    frames = len(seen.probabilities)
    assert seen.labels.tolist() == [3, 3, 4, 0] and len(seen.begins) == len(seen.ends) == 4
    assert seen.probabilities.sum(1) == pytest.approx(np.ones(frames), abs=1e-5)
    assert seen.weights.shape == (4, 4, frames, 19)
    assert seen.weights.sum(-1) == pytest.approx(np.ones((4, 4, frames)), abs=1e-2)
    assert {one.right for one in seen.written} == {0, 1, 2, 4, 8}
    assert seen.streaming.difference < 1e-5
    again: Explanation = explain(EXAMPLES[0])
    assert np.array_equal(again.samples, seen.samples)


def test_gradients_stay_within_the_cone(explain: Any) -> None:
    request = replace(EXAMPLES[0], left=2, right=1)
    seen: Explanation = explain(request)
    assert len(seen.heard)
    for row, frame in zip(seen.heard, seen.written[0].frames.tolist(), strict=True):
        first, last = find_cone(frame, 2, 1)
        heard = np.flatnonzero(row)
        assert heard[0] * 80 >= first and heard[-1] * 80 + 200 <= last
        assert float(row.sum()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"digits": ""}, "empty"),
        ({"digits": "12a"}, "not_digits"),
        ({"digits": "12345678901"}, "too_long"),
        ({"source": "recording"}, "no_sound"),
        ({"source": "recording", "sound": "??"}, "sound"),
        ({"left": 3}, "left"),
        ({"right": 3}, "right"),
        ({"noise": 41}, "noise"),
        ({"speed": 2.0}, "speed"),
        ({"silenced": (("speech", 4, 0),)}, "silenced"),
    ],
)
def test_bad_requests_are_refused(explain: Any, fields: dict[str, Any], code: str) -> None:
    refused = explain(Request(**fields))
    assert refused.code == code and refused.text["zh"].endswith("。")


def test_a_recording_has_no_known_digits(explain: Any) -> None:
    generator = np.random.default_rng(0)
    sound = spell_sound(0.05 * generator.standard_normal(8_000))
    request = Request("recording", sound=sound)
    seen: Explanation = explain(request)
    assert seen.edits == -1 and not len(seen.labels) and len(seen.samples) == 8_000
    told: Any = views.answer(seen, request)
    assert told["given"] == "1.0 s" and told["right"] is None
    drawn: Any = views.draw_stream(seen, request, "live")
    assert drawn["query"] == "" and drawn["labels"] == []
    assert program_of("speech").drawing_key(request, "run") == "", "no link tells it from others"


def test_silence_is_nothing_heard() -> None:
    kept = views.first()
    assert kept is not None
    written = replace(kept.seen.written[0], digits=np.zeros(0, np.int32), frames=np.zeros(0, "i4"))
    silent = replace(kept.seen, written=(written,), sure=np.zeros(0, "f4"), labels=written.digits)
    told: Any = views.answer(replace(silent, edits=-1), kept.request)
    assert told["said"] == texts.NOTHING


def test_the_stored_run_is_drawn_whole() -> None:
    kept = views.first()
    assert kept is not None
    drawn: Any = program_of("speech").render_run(
        kept.seen, kept.request, ResultOrigin("stored", 5.0, "cpu")
    )
    assert drawn["ask"]["answer"]["said"] == kept.seen.answer
    stream, waits = drawn["stream"], drawn["waits"]
    mels = unpacked(stream["mels"])
    assert mels.shape == (stream["frames"], 40) and mels.max() <= 65_535
    assert unpacked(stream["sound"]).shape == (stream["samples"],)
    assert [row["right"] for row in waits["written"]] == [0, 1, 2, 4, 8]
    assert unpacked(drawn["path"]["probabilities"]).shape == (stream["frames"], 11)
    assert unpacked(drawn["bands"]["weights"]).shape == (4, 4, stream["frames"], 19)
    assert drawn["window"]["table"]["rows"] and drawn["voices"]["table"]["rows"]


def test_cards_and_steps_read_their_files() -> None:
    assert about.pairs()[0].value.replace(",", "").isdigit()
    assert about.curves() is not None and about.prose()["zh"]
    assert 5 <= len(LAB.steps) <= 8 and len(LAB.examples) == 5
    assert LAB.thumbnail() is not None


@pytest.mark.parametrize("unheard", [False, True])
def test_a_change_is_told_in_digits(explain: Any, unheard: bool) -> None:
    before: Explanation = explain(EXAMPLES[0])
    after: Explanation = explain(replace(EXAMPLES[0], right=0))
    digits = np.full(6, 50, np.int32)
    measured = [
        DigitErrors(np.array(edits, np.int32), digits, 4.0)
        for edits in ((0, 1, 1, 1, 0, 0), (3, 5, 1, 3, 3, 3))
    ]
    request = replace(EXAMPLES[0], right=0, unheard=unheard)
    found = views.difference(
        (before, after), (measured[0], measured[1]), request, {"en": "R = 0", "zh": "R = 0"}
    )
    told = (found.number.before, found.number.after)
    assert told == pytest.approx((2, 10) if unheard else (1, 6))
    assert f"on {50 if unheard else 300} shipped digits" in found.sentence["en"]
    ahead = next(row for row in found.rows if row.key == "ahead")
    assert ahead.before == pytest.approx(0.32) and ahead.after == 0


def test_a_missing_network_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from models.checkpoints.checkpoint import CheckpointError

    def missing(_variant: str) -> Any:
        raise CheckpointError("not here")

    monkeypatch.setattr(explaining, "load", missing)
    (refused,) = explaining.explain([Request(unheard=True)])
    assert isinstance(refused, Exception) and "jackson" in str(refused)


def test_a_sound_file_is_read_by_its_route() -> None:
    client = TestClient(Starlette(routes=recordings.list_routes()))
    file = io.BytesIO()
    tone = 0.1 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    soundfile.write(file, tone, 16_000, format="WAV")
    told = client.post("/recording", content=file.getvalue()).json()
    assert len(told["sound"]) == pytest.approx(8_000 * 4 / 3, abs=3)
    assert "16,000" in told["notice"]["en"]
    answer = client.post("/recording", content=b"no sound")
    assert answer.status_code == 422 and "WAV" in answer.json()["error"]["en"]
    heavy = client.post("/recording", content=bytes(6 << 20))
    assert heavy.status_code == 413
