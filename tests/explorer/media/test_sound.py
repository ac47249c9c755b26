"""Music is heard as it is written, on a piano or in sine waves; kept within bounds, made once, and
given from any place on."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import threading
import wave
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pretty_midi
import pytest
from numpy.typing import NDArray

from explorer.media import sound
from explorer.media.sound import LONGEST, RATE, TAIL, Score, Sounds
from explorer.web.server import Site
from tests.explorer.asking import ask

NOTES = [[0, 50, 60, 20], [50, 100, 67, 20], [150, 200, 72, 28]]


def score(
    notes: Any = NOTES, style: str = "piano", grid: int = 10, steps: int = 200, licence: str = ""
) -> Score:
    """Some music."""
    return Score(np.array(notes, np.int32).reshape(-1, 4), style, grid, steps, licence)


def samples(data: bytes) -> NDArray[np.float64]:
    """A WAV file as numbers up to 1."""
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32_768


def energy(heard: NDArray[np.float64], begin: float, end: float) -> float:
    """Root mean square between two seconds."""
    return float(np.sqrt((heard[round(begin * RATE) : round(end * RATE)] ** 2).mean()))


def strongest(heard: NDArray[np.float64], begin: float, end: float) -> float:
    """The strongest frequency between two seconds, hertz."""
    part = heard[round(begin * RATE) : round(end * RATE)]
    return float(np.abs(np.fft.rfft(part * np.hanning(len(part)))).argmax() * RATE / len(part))


@pytest.fixture(params=["piano", "sine"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Both ways of making sound; the second is that of a machine on which the library is
    missing."""
    sound.find_instrument.cache_clear()
    if request.param == "sine":
        monkeypatch.setitem(sys.modules, "fluidsynth", None)
    yield request.param
    sound.find_instrument.cache_clear()


# ---- what is heard


def test_notes_sound_when_they_are_written_at_their_pitch(source: str) -> None:
    assert sound.find_instrument() == source, (
        "FluidSynth's library and pyfluidsynth belong to what is installed"
    )
    heard = samples(sound.render_wav(score()))
    assert len(heard) == (2 + TAIL) * RATE
    for begin, pitch in ((0.1, 261.6), (0.6, 392.0), (1.55, 523.3)):
        # of a piano's low notes the second harmonic is the strongest
        times = strongest(heard, begin, begin + 0.35) / pitch
        assert round(times) in {1, 2} and times == pytest.approx(round(times), rel=0.015)
    sounding, silent = (
        min(energy(heard, *when) for when in ((0.05, 0.3), (0.55, 0.8), (1.55, 1.8))),
        energy(heard, 1.4, 1.5),
    )
    assert sounding > 0.02 and silent < sounding / 4, (
        "between the second note and the third nothing is played"
    )
    assert energy(heard, 2.8, 3) < sounding / 20, "and the last fades"
    assert np.abs(heard).max() == pytest.approx(sound.PEAK, abs=0.01)


def test_sound_follows_loudness_and_notes(
    source: str,
) -> None:
    heard = samples(sound.render_wav(score([[0, 50, 60, 5], [100, 150, 60, 30]], steps=150)))
    assert energy(heard, 1, 1.5) > 2 * energy(heard, 0, 0.5)
    assert np.abs(samples(sound.render_wav(score([], steps=10)))).max() < 1e-3 and sound.render_wav(
        score()
    ) == sound.render_wav(score())
    crowd = samples(
        sound.render_wav(score([[0, 100, pitch, 31] for pitch in range(0, 128, 3)], steps=100))
    )
    assert np.abs(crowd).max() <= 0.91 and (np.abs(crowd) > 0.89).sum() < 50, (
        "the highest and the lowest keys together are not clipped"
    )


def test_four_voices_sound_together(
    source: str,
) -> None:
    notes = [[0, 2, 60, 0], [0, 16, 60, 1], [0, 16, 55, 2], [0, 16, 36, 3]]
    heard = samples(sound.render_wav(score(notes, "chorale", 125, 16)))
    alone = samples(sound.render_wav(score([notes[0], *notes[2:]], "chorale", 125, 16)))
    pitch = np.exp(-2j * np.pi * 261.63 * np.arange(RATE) / RATE)
    there, gone = (
        abs((one[RATE // 2 : RATE // 2 + RATE] * pitch).mean()) for one in (heard, alone)
    )
    assert there > 3 * gone


def test_of_music_without_an_end_twenty_minutes_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    long = np.array([[0, 50, 60, 20], [LONGEST * 100 + 5, LONGEST * 100 + 50, 60, 20]], np.int32)
    kept = sound.keep_score(long, "piano", 10, LONGEST * 100 + 50)
    assert kept.seconds == LONGEST + TAIL and not kept.whole
    assert [note[2] for note in score(long, steps=LONGEST * 100 + 50).list_struck_notes()] == [60]
    assert sound.keep_score(long[:1], "piano", 10, 50).whole


# ---- what is kept


def test_equal_notes_have_one_address() -> None:
    first, again = (sound.keep_score(np.array(NOTES), "piano", 10, 200) for _ in range(2))
    assert first == again and first.wav.endswith(".wav") and first.midi.endswith(".mid")
    others = [score(NOTES[:2]), score(style="chorale"), score(grid=20), score(steps=201)]
    assert len({score().digest, *(other.digest for other in others)}) == 5


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Holds whatever makes sound; `made` of it are the steps of what was made; what has 13 steps
    fails."""
    held: Any = threading.Event()
    held.made = []

    def slow(one: Score) -> bytes:
        held.made.append(one.steps)
        held.wait(10)
        if one.steps == 13:
            raise RuntimeError("no room")
        return bytes(60)

    monkeypatch.setattr(sound, "render_wav", slow)
    return held


def test_sound_is_made_once_for_all(go: Any) -> None:
    store = Sounds(rendered=150)
    store.put(score())
    assert go.made == []
    asked: Any = [store.render_once(score(), "wav") for _ in range(3)]
    go.set()
    assert [one.result(10) for one in asked] == [bytes(60)] * 3 and go.made == [200]
    for steps in (201, 202, 200, 203):  # two fit
        future: Any = store.render_once(score(steps=steps), "wav")
        assert future.result(10) == bytes(60)
    assert go.made == [200, 201, 202, 200, 203] and store.size + store.made.size <= 150 + 48


def test_a_crowd_is_told_to_come_back_and_a_failure_is_not_kept(go: Any) -> None:
    store = Sounds()
    asked: Any = [
        store.render_once(score(steps=13 if i == 0 else i + 20), "wav")
        for i in range(sound.AT_ONCE + sound.WAITING)
    ]
    assert None not in asked and store.render_once(score(steps=999), "wav") is None
    go.set()
    with pytest.raises(RuntimeError, match="no room"):
        asked[0].result(10)
    assert all(one.result(10) for one in asked[1:])
    again: Any = store.render_once(score(steps=13), "wav")
    with pytest.raises(RuntimeError, match="no room"):
        again.result(10)
    assert go.made.count(13) == 2, "tried again"


@pytest.mark.parametrize("style", ["piano", "chorale"])
def test_the_licence_stands_in_the_files(style: str) -> None:
    notes = [[0, 50, 60, 2], [50, 100, 67, 3]]
    # an odd number of letters, and a zero
    free, bound = score(notes, style), score(notes, style, licence="Not for commercial use.")
    written = pretty_midi.PrettyMIDI(io.BytesIO(sound.write_midi(bound)))
    assert [event.text for event in written.text_events] == ["Not for commercial use."]
    assert [one.name for one in written.instruments] == (
        ["Piano"] if style == "piano" else ["Tenor", "Bass"]
    )
    assert not pretty_midi.PrettyMIDI(io.BytesIO(sound.write_midi(free))).text_events
    heard = sound.render_wav(bound)
    assert b"LISTICOP" not in heard and heard.endswith(b"ICOP\x18\0\0\0Not for commercial use.\0")
    assert int.from_bytes(heard[4:8], "little") == len(heard) - 8
    np.testing.assert_array_equal(samples(heard), samples(sound.render_wav(free)))
    assert bound.digest != free.digest


# ---- the route


@pytest.fixture
def kept() -> sound.Sound:
    """Music that the server remembers."""
    return sound.keep_score(np.array(NOTES), "piano", 10, 200)


def test_the_server_gives_sound_and_midi(shell: Site, kept: sound.Sound) -> None:
    heard = ask(shell, kept.wav)
    assert heard.status_code == 200 and heard.headers["content-type"] == "audio/wav"
    assert (
        heard.content == sound.render_wav(score())
        and len(samples(heard.content)) == kept.seconds * RATE
    )
    assert (
        "immutable" in heard.headers["cache-control"] and heard.headers["accept-ranges"] == "bytes"
    )
    written = ask(shell, kept.midi)
    assert written.headers["content-type"] == "audio/midi" and written.content == sound.write_midi(
        score()
    )
    assert ask(shell, kept.wav, headers={"if-none-match": heard.headers["etag"]}).status_code == 304


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        *(
            ("bytes=0-", slice(0, None)),
            ("bytes=100-199", slice(100, 200)),
            ("bytes=100-99999999", slice(100, None)),
        ),
        *(("bytes=-10", slice(-10, None)), ("bytes=-99999999", slice(0, None))),
        # What makes no sense gets the whole, what is behind the end nothing.
        *(
            (wanted, None)
            for wanted in (
                "bytes=5-2",
                "bytes=0-1,5-6",
                "bytes=-",
                "words=1-2",
                "bytes=a-b",
                "bytes=" + "9" * 5_000 + "-",
            )
        ),
        *(("bytes=99999999-", 416), ("bytes=-0", 416)),
    ],
)
def test_a_browser_jumps_to_any_place(
    shell: Site, kept: sound.Sound, wanted: str, part: slice | int | None
) -> None:
    whole = ask(shell, kept.wav).content
    answer = ask(shell, kept.wav, headers={"range": wanted})
    if isinstance(part, slice):
        begin, end, _ = part.indices(len(whole))
        assert answer.status_code == 206 and answer.content == whole[part]
        assert answer.headers["content-range"] == f"bytes {begin}-{end - 1}/{len(whole)}"
        assert answer.headers["content-length"] == str(end - begin)
        # of another file
        other = ask(shell, kept.wav, headers={"range": wanted, "if-range": '"another"'})
        assert other.status_code == 200 and other.content == whole
    elif part is None:
        assert answer.status_code == 200 and answer.content == whole
    else:
        assert answer.status_code == part and answer.headers["content-range"].startswith("bytes */")


@pytest.mark.parametrize(
    "name", ["0" * 32 + ".wav", "0" * 32 + ".mid", "a.b.wav", "{digest}.mp3", "..wav"]
)
def test_what_was_forgotten_or_never_was_is_said_in_a_sentence(
    shell: Site, kept: sound.Sound, name: str
) -> None:
    answer = ask(shell, "/sound/" + name.format(digest=kept.wav[7:39]))
    assert answer.status_code == 404 and answer.text.endswith(".")
    assert (
        ask(shell, "/sound/" + name.format(digest=kept.wav[7:39]).partition(".")[0]).status_code
        == 404
    )


def test_where_too_many_wait_the_visitor_is_told_so(
    shell: Site, kept: sound.Sound, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound.sound_store(), "render_once", lambda *_: None)
    answer = ask(shell, kept.wav)
    assert (
        answer.status_code == 503
        and "few seconds" in answer.text
        and answer.headers["retry-after"] == "3"
    )


def test_the_sound_of_a_stored_result_never_leaves(
    shell: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = sound.keep_score(np.array(NOTES), "piano", 10, 321)
    shell.stored.hold_named(json.dumps({"sound": {"wav": kept.wav}}))
    other, fresh = sound.keep_score(np.array(NOTES), "piano", 10, 322), Sounds()
    monkeypatch.setattr(sound, "sound_store", lambda: fresh)  # nothing is in it
    assert (ask(shell, kept.wav).status_code, ask(shell, other.wav).status_code) == (200, 404)


async def test_a_visitor_who_leaves_takes_the_sound_from_nobody(
    shell: Site, kept: sound.Sound, go: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = Sounds()
    monkeypatch.setattr(sound, "sound_store", lambda: fresh)
    fresh.put(score())
    for steps in range(sound.AT_ONCE):  # others come first, so that this one waits
        fresh.render_once(score(steps=steps), "wav")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=shell.gate), base_url="http://here"
    ) as client:
        leaves, stays = (asyncio.ensure_future(client.get(kept.wav)) for _ in range(2))
        await asyncio.sleep(0.1)
        leaves.cancel()
        await asyncio.sleep(0.1)
        go.set()
        assert (await stays).content == bytes(60)
