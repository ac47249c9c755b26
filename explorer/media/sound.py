"""Music that can be heard.

Scores are kept as notes, and become sound or a MIDI file when somebody asks for it. FluidSynth
plays them on the piano of the sound font that pretty_midi carries; where its library is missing,
sine waves that fade do.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import re
import struct
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from explorer.values.compressed_files import IMMUTABLE
from explorer.values.packing import Kept, write_address
from models.music import chorales, events

RATE = 22_050  # samples a second, one channel of 16 bits
TAIL = 1.0  # seconds in which the last notes fade
LONGEST = 20 * 60  # seconds of notes that are played at most
SUNG = 80  # MIDI velocity of a chorale's voices
PEAK = 0.9  # the loudest sample, as a share of the range
SILENT = 8  # largest value of a sample that FluidSynth gives for silence
SCORES = 16 << 20  # bytes of notes that are kept
RENDERED = 64 << 20  # bytes of sound that are kept
AT_ONCE, WAITING = 2, 32  # sounds that are rendered at the same time, and those that may wait
KINDS = {"wav": "audio/wav", "mid": "audio/midi"}
BLOCK = 1 << 16  # samples that are rendered at once
HARMONICS = (1.0, 0.4, 0.15)  # strengths of the sine waves of a note
FADE = 1.5  # a note's loudness after t seconds is exp(−FADE t)
ATTACK, RELEASE = 0.005, 0.05  # seconds in which a note begins and ends

Samples = NDArray[np.int16]


@dataclass(frozen=True)
class Sound:
    """The addresses at which notes can be heard, and their instrument.

    wav, midi: addresses of the files.
    source: "piano" or "sine".
    seconds: duration of the sound, its fading included.
    whole: whether all of it is played; only the first 20 minutes are.
    """

    wav: str
    midi: str
    source: str
    seconds: float
    whole: bool


@dataclass(frozen=True)
class Score:
    """Notes to play.

    notes: (note, 4) onset and end in steps, MIDI pitch, and the velocity bin (piano) or the voice
    (chorale).
    style: "piano" or "chorale".
    grid_ms: milliseconds of a step.
    steps: the duration of all of it.
    licence: the licence of the music, in ASCII, which stands in the files; "" for none.
    """

    notes: NDArray[np.int32]
    style: str
    grid_ms: int
    steps: int
    licence: str = ""

    @property
    def seconds(self) -> float:
        """The duration of the sound."""
        return min(self.steps * self.grid_ms / 1000, LONGEST) + TAIL

    @property
    def digest(self) -> str:
        """The digest that its addresses contain."""
        meant = (
            f"{self.style} {self.grid_ms} {self.steps} {self.licence}\0".encode()
            + self.notes.astype("<i4").tobytes()
        )
        return hashlib.sha256(meant).hexdigest()[:32]

    def list_struck_notes(self) -> Iterator[tuple[float, float, int, int, int]]:
        """Yield each note: beginning and end in seconds, pitch, MIDI velocity and channel.

        Notes that begin after LONGEST are left out.
        """
        step = self.grid_ms / 1000
        for onset, end, pitch, last in self.notes.tolist():
            if onset * step < LONGEST:
                velocity, channel = (
                    (last * events.WIDTH + events.WIDTH // 2, 0)
                    if self.style == "piano"
                    else (SUNG, last)
                )
                yield onset * step, min(end * step, LONGEST), pitch, velocity, channel


class Sounds(Kept[Score]):
    """Scores by digest, with at most `rendered` bytes of the files that were made of them."""

    def __init__(self, capacity: int = SCORES, rendered: int = RENDERED) -> None:
        super().__init__(capacity, lambda score: score.notes.nbytes)
        self.made: Kept[bytes] = Kept(rendered, len)
        self._making: dict[str, Future[bytes]] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "sound")

    def put(self, score: Score) -> str:
        """Keep a score and return its digest."""
        self.hold(score.digest, score)
        return score.digest

    def render_once(self, score: Score, kind: str) -> Future[bytes] | None:
        """Return the file of a score, "wav" or "mid", made once for all who ask at the same time.

        Returns None where too many others wait.
        """
        name = f"{score.digest}.{kind}"
        with self._lock:
            made = self.made.get(name)
            if made is not None:
                done: Future[bytes] = Future()
                done.set_result(made)
                return done
            if name not in self._making:
                if len(self._making) >= AT_ONCE + WAITING:
                    return None
                self._making[name] = self._threads.submit(self._render_file, name, score, kind)
            return self._making[name]

    def _render_file(self, name: str, score: Score, kind: str) -> bytes:
        try:
            made = render_wav(score) if kind == "wav" else write_midi(score)
            self.made.hold(name, made)
        finally:
            with self._lock:
                del self._making[name]
        return made


@cache
def sound_store() -> Sounds:
    """Return the store behind ``/sound/<digest>.wav`` and ``.mid`` of this process.

    Its content follows from the digests alone.
    """
    return Sounds()


def keep_score(
    notes: NDArray[Any], style: str, grid_ms: int, steps: int, licence: str = ""
) -> Sound:
    """Remember music, so that it can be heard for a while; nothing is rendered yet.

    The arguments are those of `Score`, with notes as of `records.Made`.
    """
    own = np.array(notes, np.int32).reshape(-1, 4)
    own.setflags(write=False)
    score = Score(own, style, grid_ms, steps, licence)
    digest = sound_store().put(score)
    return Sound(
        write_address("sound", f"{digest}.wav"),
        write_address("sound", f"{digest}.mid"),
        find_instrument(),
        score.seconds,
        steps * grid_ms <= LONGEST * 1000,
    )


# ---- from notes to sound


@cache
def find_instrument() -> str:
    """Return the instrument that plays here.

    It is "piano", or "sine" where FluidSynth's library or the sound font is missing.
    """
    try:
        synth = _Piano()
    except (ImportError, OSError, AttributeError, RuntimeError):
        return "sine"
    synth.close()
    return "piano"


def render_wav(score: Score) -> bytes:
    """Return the sound as a WAV file: 22,050 samples a second, one channel, 16 bits."""
    count = round(score.seconds * RATE)
    samples = (
        _play_piano(score, count)
        if find_instrument() == "piano"
        else _synthesise_sines(score, count)
    )
    loudest = max(int(samples.max(initial=0)), -int(samples.min(initial=0)))
    if loudest > SILENT:
        for begin in range(0, count, BLOCK):
            part = samples[begin : begin + BLOCK]
            np.copyto(part, np.rint(part * np.float32(PEAK * 32_767 / loudest)), casting="unsafe")
    chunks = _write_chunk(
        b"fmt ", struct.pack("<HHIIHH", 1, 1, RATE, 2 * RATE, 2, 16)
    ) + _write_chunk(b"data", samples.astype("<i2", copy=False).tobytes())
    if score.licence:
        chunks += _write_chunk(
            b"LIST", b"INFO" + _write_chunk(b"ICOP", score.licence.encode("ascii") + b"\0")
        )
    return _write_chunk(b"RIFF", b"WAVE" + chunks)


def _write_chunk(name: bytes, data: bytes) -> bytes:
    """Return a chunk of a RIFF file, padded so that the next one begins at an even place."""
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


class _Piano:
    """FluidSynth with the piano of the bundled sound font on four channels.

    Raises ImportError, OSError or RuntimeError where it cannot start.
    """

    def __init__(self) -> None:
        import fluidsynth  # here, because the import looks for the library

        font = importlib.util.find_spec("pretty_midi")
        if font is None or font.origin is None:
            raise ImportError("pretty_midi brings the sound font")
        self.synth = fluidsynth.Synth(
            samplerate=float(RATE), channels=16, **{"synth.chorus.active": 0}
        )
        number = self.synth.sfload(str(Path(font.origin).with_name("TimGM6mb.sf2")))
        if number == -1:
            self.close()
            raise RuntimeError("the sound font cannot be read")
        for channel in range(len(chorales.VOICES)):
            self.synth.program_select(channel, number, 0, 0)

    def close(self) -> None:
        """Free the library's memory."""
        self.synth.delete()


def _play_piano(score: Score, count: int) -> Samples:
    piano = _Piano()
    try:
        changes = []
        for begin, end, pitch, velocity, channel in score.list_struck_notes():
            changes += [
                (round(begin * RATE), 1, channel, pitch, velocity),
                (round(end * RATE), 0, channel, pitch, 0),
            ]
        samples = np.zeros(count, np.int16)
        now = 0
        for when, on, channel, pitch, velocity in [*sorted(changes), (count, 0, 0, -1, 0)]:
            while now < min(when, count):
                size = min(BLOCK, when - now, count - now)
                both = piano.synth.get_samples(size).reshape(-1, 2)
                samples[now : now + size] = (both[:, 0].astype(np.int32) + both[:, 1]) >> 1
                now += size
            if on:
                piano.synth.noteon(channel, pitch, velocity)
            elif pitch >= 0:
                piano.synth.noteoff(channel, pitch)
        return samples
    finally:
        piano.close()


def _synthesise_sines(score: Score, count: int) -> Samples:
    """Return the samples of a score; each note is a few sine waves that fade.

    They are computed a block at a time.
    """
    notes = sorted(score.list_struck_notes())
    begin, end = (np.array([note[i] for note in notes], np.float64) for i in (0, 1))
    samples = np.zeros(count, np.int16)
    for first in range(0, count, BLOCK):
        time = np.arange(first, min(first + BLOCK, count)) / RATE
        block = np.zeros(len(time), np.float32)
        for i in np.flatnonzero((begin <= time[-1]) & (end + RELEASE > time[0])).tolist():
            low, high = np.searchsorted(time, (begin[i], end[i] + RELEASE)).tolist()
            block[low:high] += _synthesise_tone(time[low:high], *notes[i][:4])
        samples[first : first + len(time)] = np.clip(block, -32_767, 32_767)
    return samples


def _synthesise_tone(
    time: NDArray[np.float64], begin: float, end: float, pitch: int, velocity: int
) -> NDArray[np.float32]:
    """Return a note at these times, in seconds, as 16-bit values.

    Twenty of these notes fit into one sample.
    """
    since = time - begin
    loud = (
        np.exp(-FADE * since)
        * np.minimum(1, since / ATTACK)
        * np.clip((end + RELEASE - time) / RELEASE, 0, 1)
    )
    cycles = 440 * 2 ** ((pitch - 69) / 12)
    heard = [(h, strength) for h, strength in enumerate(HARMONICS, 1) if h * cycles < RATE / 2]
    wave = sum(strength * np.sin(2 * np.pi * cycles * h * since) for h, strength in heard)
    return np.asarray(wave * loud * (velocity / 127 * 1_000), np.float32)


def write_midi(score: Score) -> bytes:
    """Return the music as a MIDI file: a piano, or four voices of a chorale, a track each."""
    import pretty_midi  # here, because the import looks for libraries of the machine

    from models.music.midi import midi_of

    if score.style == "piano":
        notes = np.zeros(len(score.notes), events.NOTE)
        notes["onset"], notes["end"], notes["pitch"], notes["velocity"] = score.notes.T
        made = midi_of(notes)
    else:
        made = pretty_midi.PrettyMIDI(resolution=480, initial_tempo=15_000 / score.grid_ms)
        made.instruments = [
            pretty_midi.Instrument(0, name=voice.title()) for voice in chorales.VOICES
        ]
        step = score.grid_ms / 1000
        for onset, end, pitch, voice in score.notes.tolist():
            made.instruments[voice].notes.append(
                pretty_midi.Note(SUNG, pitch, onset * step, end * step)
            )
    if score.licence:
        made.text_events.append(pretty_midi.Text(score.licence, 0.0))
    file = io.BytesIO()
    made.write(file)
    return file.getvalue()


# ---- the route


def respond_with_range(request: Request, data: bytes, etag: str, kind: str) -> Response:
    """Return a file that never changes, or the range of its bytes that the request names.

    Browsers jump to a place in a sound by a request for a range.
    """
    headers = {"cache-control": IMMUTABLE, "etag": etag, "accept-ranges": "bytes"}
    wanted = request.headers.get("range")
    if wanted is None or request.headers.get("if-range", etag) != etag:
        return Response(data, media_type=kind, headers=headers)
    asked = re.fullmatch(r"bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))", wanted, re.ASCII)
    if asked is None or (
        asked[2] and int(asked[2]) < int(asked[1])
    ):  # For several ranges, or one that makes no sense, the whole is an answer too.
        return Response(data, media_type=kind, headers=headers)
    size = len(data)
    begin = int(asked[1]) if asked[1] else max(0, size - int(asked[3]))
    end = min(size, int(asked[2]) + 1) if asked[2] else size
    if begin >= size:
        return Response(
            status_code=416,
            headers={"content-range": f"bytes */{size}", "cache-control": "no-store"},
        )
    headers["content-range"] = f"bytes {begin}-{end - 1}/{size}"
    return Response(data[begin:end], 206, media_type=kind, headers=headers)
