"""Numbers spoken digit by digit: clips of single digits, joined with pauses and noise.

A set's takes decide its split, so that no clip is learned from and measured on.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.speech.records import FRAME_SAMPLES, RATE

Samples = NDArray[np.float32]
FILE = "fsdd_8khz.npz"
TAKES = {"train": range(9, 50), "val": range(5, 9), "test": range(5)}
LOUDNESS = 0.05  # root mean square of a clip before the gain
PAUSE = 0.45  # seconds between digits at most
EDGE = (0.1, 0.5)  # seconds before the first and behind the last digit
GAIN = 10.0  # decibels up or down
NOISE = (8.0, 40.0)  # decibels from the noise up to the digits
SPEED = 0.1  # share by which a clip is faster or slower in training
TIMES = 3  # how often a held-out set says each of its clips
DIGITS = (3, 7)  # of a held-out number


@dataclass(frozen=True)
class ClipSet:
    """Clips of single digits at equal loudness. label: the digit; speaker: by number; take: of 0
    to 49, all (clip,)."""

    samples: Sequence[Samples]
    label: NDArray[np.int64]
    speaker: NDArray[np.int64]
    take: NDArray[np.int64]
    names: tuple[str, ...]

    def choose(self, rows: NDArray[np.bool_]) -> ClipSet:
        """Return some of the clips."""
        chosen = np.flatnonzero(rows)
        return ClipSet(
            [self.samples[i] for i in chosen.tolist()],
            self.label[chosen],
            self.speaker[chosen],
            self.take[chosen],
            self.names,
        )


@dataclass(frozen=True)
class Spoken:
    """A number as sound. labels: its digits; begins, ends: of each in samples; speaker: by number;
    snr: decibels from the noise up to the digits."""

    samples: Samples
    labels: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    speaker: int = 0
    snr: float = 40.0


def level_clip(samples: NDArray[np.float64]) -> Samples:
    """Return a clip with the loudness of all."""
    loud = float(np.sqrt(np.mean(np.square(samples)))) or 1.0
    return (samples * (LOUDNESS / loud)).astype(np.float32)


def read_clips(data: Path, split: str = "") -> ClipSet:
    """Read the clips of a split, or all. Raise ValueError for an unknown split."""
    if split and split not in TAKES:
        raise ValueError(f"the splits are {', '.join(TAKES)}, not {split}")
    with np.load(data / FILE) as file:
        audio, offset = file["audio"], file["offset"]
        samples = [
            level_clip(audio[a:b].astype(np.float64) / 32768)
            for a, b in itertools.pairwise(offset.tolist())
        ]
        label, speaker, take = (
            file[name].astype(np.int64) for name in ("label", "speaker", "take")
        )
        clips = ClipSet(samples, label, speaker, take, tuple(map(str, file["speaker_names"])))
    return clips.choose(np.isin(clips.take, [*TAKES[split]])) if split else clips


def make_noise(generator: np.random.Generator, count: int, cut: float) -> Samples:
    """Return noise of loudness 1. cut: the frequency in Hz from which it falls by 6 dB an octave; 0
    for white noise."""
    white = generator.standard_normal(max(count, 2))
    if cut:
        spectrum = np.fft.rfft(white)
        hertz = np.linspace(0, RATE / 2, len(spectrum))
        white = np.fft.irfft(spectrum / np.sqrt(1 + (hertz / cut) ** 2), len(white))
        white /= np.sqrt(np.mean(np.square(white)))
    return white[:count].astype(np.float32)


def join_clips(
    clips: Sequence[Samples], labels: Sequence[int], generator: np.random.Generator
) -> tuple[Samples, tuple[int, ...], tuple[int, ...]]:
    """Return clips one after another with random pauses, and where each begins and ends, in
    samples."""
    gaps = generator.uniform(0, PAUSE, len(clips) + 1)
    gaps[0], gaps[-1] = generator.uniform(*EDGE, 2)
    pauses = (gaps * RATE).astype(int)
    lengths = np.array([len(clip) for clip in clips])
    begins = np.cumsum(pauses[:-1]) + np.cumsum(lengths) - lengths
    ends = begins + lengths
    samples = np.zeros(int(ends[-1] + pauses[-1]), np.float32)
    for clip, begin, end in zip(clips, begins, ends, strict=True):
        samples[begin:end] = clip
    assert len(labels) == len(clips)
    return samples, tuple(begins.tolist()), tuple(ends.tolist())


def speak(
    clips: Sequence[Samples],
    labels: Sequence[int],
    generator: np.random.Generator,
    speaker: int = 0,
    speed: float = 0.0,
    clean: bool = False,
) -> Spoken:
    """Return a number said by joining clips, at a random gain, in random noise.

    speed: the largest share by which each clip is made faster or slower.
    clean: without gain and noise.
    """
    if speed:
        rates = generator.uniform(1 - speed, 1 + speed, len(clips))
        clips = [
            np.interp(np.arange(0, len(clip) - 1, rate), np.arange(len(clip)), clip).astype(
                np.float32
            )
            for clip, rate in zip(clips, rates, strict=True)
        ]
    samples, begins, ends = join_clips(clips, labels, generator)
    if clean:
        return Spoken(samples, tuple(map(int, labels)), begins, ends, speaker)
    snr = float(generator.uniform(*NOISE))
    cut = float(generator.uniform(200, 2_000)) if generator.random() < 0.5 else 0.0
    noise = make_noise(generator, len(samples), cut) * (LOUDNESS * 10 ** (-snr / 20))
    gain = 10 ** (generator.uniform(-GAIN, GAIN) / 20)
    whole = ((samples + noise) * gain).astype(np.float32)
    return Spoken(whole, tuple(int(label) for label in labels), begins, ends, speaker, snr)


def draw_numbers(
    clips: ClipSet, generator: np.random.Generator, count: int, digits: int, speed: float = SPEED
) -> list[Spoken]:
    """Draw `count` numbers of so many digits for training; one speaker says each."""
    result = []
    for _ in range(count):
        speaker = int(generator.choice(np.unique(clips.speaker)))
        rows = generator.choice(np.flatnonzero(clips.speaker == speaker), digits)
        result.append(
            speak(
                [clips.samples[i] for i in rows],
                clips.label[rows].tolist(),
                generator,
                speaker,
                speed,
            )
        )
    return result


def compose_held_out(
    clips: ClipSet, draw: int, times: int = TIMES, clean: bool = False
) -> list[Spoken]:
    """Return numbers of 3 to 7 digits that say each clip so many times, each number by one speaker.

    draw: another set of the same kind for another number.
    clean: without noise, all equally loud.
    """
    result = []
    for speaker in np.unique(clips.speaker).tolist():
        generator = np.random.default_rng((draw, speaker))
        rows = np.tile(np.flatnonzero(clips.speaker == speaker), times)
        rows = generator.permutation(rows)
        while len(rows):
            size = int(generator.integers(DIGITS[0], DIGITS[1] + 1))
            size = len(rows) if len(rows) - size < DIGITS[0] else size
            some, rows = rows[:size], rows[size:]
            result.append(
                speak(
                    [clips.samples[i] for i in some],
                    clips.label[some].tolist(),
                    generator,
                    speaker,
                    clean=clean,
                )
            )
    return result


def label_frames(spoken: Spoken, frames: int, late: float = 0.6, blank: int = 10) -> list[int]:
    """Return the digit of each frame whose newest sample lies in the last part of a clip, else the
    blank. late: that part's share of the clip."""
    newest = FRAME_SAMPLES * np.arange(frames) + 440  # 3 · 80 + 200 samples behind its first
    result = np.full(frames, blank)
    for label, begin, end in zip(spoken.labels, spoken.begins, spoken.ends, strict=True):
        result[(newest >= end - late * (end - begin)) & (newest <= end)] = label
    return [int(label) for label in result]
