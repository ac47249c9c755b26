"""The shipped clips: those of takes 0 to 4, from which no network learned."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from models.checkpoints.checkpoint import write_text
from models.checkpoints.folders import ASSETS, find_lab_folder
from models.explaining.errors import reading_file
from models.speech.data import ClipSet, Samples, Spoken, join_clips, level_clip, read_clips
from models.speech.records import RATE, VOICES

SOUND, LIST = "clips.flac", "clips.json"
LONGEST = 0.9  # seconds of a clip that a typed number is spoken with, where there is a choice


def store_clips(data: Path, where: Path) -> Path:
    """Write the clips of the test split one behind the other; return the sound's path."""
    # here, because the import looks for a library
    import soundfile  # type: ignore[import-untyped]

    clips = read_clips(data, "test")
    facts = {
        "samples": [len(clip) for clip in clips.samples],
        "label": clips.label.tolist(),
        "speaker": clips.speaker.tolist(),
        "take": clips.take.tolist(),
        "names": list(clips.names),
    }
    whole = np.concatenate(clips.samples)
    path = where / SOUND
    soundfile.write(path, np.clip(whole, -1, 1), RATE, format="FLAC", subtype="PCM_16")
    write_text(where / LIST, json.dumps(facts) + "\n")
    return path


@lru_cache(maxsize=1)
def load_clips() -> ClipSet:
    """Return the shipped clips. Raise DamagedFile where they cannot be read."""
    # here, because the import looks for a library
    import soundfile

    where = find_lab_folder("speech", ASSETS)
    with reading_file(where / SOUND):
        facts = json.loads((where / LIST).read_text("utf-8"))
        whole, _ = soundfile.read(where / SOUND, dtype="float64")
        samples = [level_clip(clip) for clip in np.split(whole, np.cumsum(facts["samples"])[:-1])]
        label, speaker, take = (
            np.array(facts[name], np.int64) for name in ("label", "speaker", "take")
        )
    return ClipSet(samples, label, speaker, take, tuple(facts["names"]))


def speak_number(digits: tuple[int, ...], voice: str, seed: int) -> Spoken:
    """Return a number said by a voice, without noise. The seed chooses the clips and the pauses;
    the same digit is said by another clip each time, as far as there are any."""
    clips = load_clips()
    generator = np.random.default_rng(seed)
    mine = clips.speaker == VOICES.index(voice)
    chosen: list[int] = []
    for digit in digits:
        rows = np.flatnonzero(mine & (clips.label == digit))
        short = [i for i in rows.tolist() if len(clips.samples[i]) <= LONGEST * RATE]
        fresh = [i for i in short or rows.tolist() if i not in chosen]
        chosen.append(int(generator.choice(fresh or short or rows)))
    sounds: list[Samples] = [clips.samples[i] for i in chosen]
    samples, begins, ends = join_clips(sounds, digits, generator)
    return Spoken(samples, digits, begins, ends, VOICES.index(voice))
