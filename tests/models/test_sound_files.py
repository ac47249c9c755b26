"""Visitors' sound files: what is read, what is changed and said, what is refused."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
import soundfile

from models.explaining.errors import InputError
from models.media import sound_files
from models.media.sound_files import (
    RATE,
    choose_gain,
    read_sound,
    resample,
    spell_sound,
    unspell_sound,
)


def make_tone(seconds: float, rate: int, hertz: float = 440, loud: float = 0.2) -> np.ndarray:
    return loud * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def write_file(samples: np.ndarray, rate: int, kind: str = "WAV", subtype: str = "PCM_16") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=kind, subtype=subtype)
    return file.getvalue()


@pytest.mark.parametrize(
    ("kind", "subtype"),
    [
        ("WAV", "PCM_U8"),
        ("WAV", "PCM_16"),
        ("WAV", "PCM_24"),
        ("WAV", "PCM_32"),
        ("WAV", "FLOAT"),
        ("WAVEX", "PCM_16"),
        ("FLAC", "PCM_24"),
        ("OGG", "VORBIS"),
    ],
)
def test_every_kind_is_read(kind: str, subtype: str) -> None:
    tone = make_tone(0.5, RATE, loud=0.1)
    found = read_sound(write_file(tone, RATE, kind, subtype))
    assert found.notice is None
    assert len(found.samples) == 4_000 and found.samples.dtype == np.float32
    assert np.abs(found.samples - tone)[200:-200].max() < 0.02


def test_changes_are_named_in_one_sentence() -> None:
    tone = make_tone(0.5, 44_100, loud=0.001)
    found = read_sound(write_file(np.stack((tone, tone), 1), 44_100, subtype="FLOAT"))
    assert found.notice is not None
    assert found.notice["en"] == (
        "Your WAV file: 2 channels averaged, resampled from 44,100 to 8,000 Hz, made louder by"
        " 37 dB."
    )
    assert "2 个声道取平均" in found.notice["zh"]
    flat = np.sign(make_tone(0.5, RATE))
    clipped = read_sound(write_file(flat, RATE, subtype="FLOAT")).notice
    assert clipped is not None and "clipped" in clipped["en"] and "softer" in clipped["en"]


@pytest.mark.parametrize("rate", [11_025, 16_000, 44_100, 48_000])
def test_resampling_keeps_what_fits(rate: int) -> None:
    kept = resample(make_tone(0.5, rate, 1_000), rate, RATE)
    wanted = make_tone(0.5, RATE, 1_000)[: len(kept)]
    assert np.abs(kept - wanted)[150:-150].max() < 2e-3
    if rate >= 16_000:  # above half the new rate there is nothing left
        gone = resample(make_tone(0.5, rate, 6_000), rate, RATE)
        assert np.abs(gone)[150:-150].max() < 2e-3


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"", "file", "empty"),
        (b"ID3\x03\0", "file", "an MP3 file"),
        (b"\0\0\0\x20ftypM4A ", "file", "an MP4 file"),
        (b"\x1aE\xdf\xa3", "file", "a WebM file"),
        (b"RIFF\0\0\0\0AVI ", "file", "no sound that this lab knows"),
        (b"hello, is anybody here?", "file", "no sound that this lab knows"),
        (b"RIFF\x24\0\0\0WAVEfmt \x10", "file_damaged", "WAV file is cut off"),
        (b"fLaC" + bytes(60), "file_damaged", "FLAC file is cut off"),
        (b"OggS" + bytes(60), "file_damaged", "OGG file is cut off"),
        (bytes(sound_files.FILE + 1), "file_size", "5.1 MB"),
        (write_file(make_tone(0.1, RATE), RATE), "seconds", "0.1 s"),
        (write_file(make_tone(12.5, RATE), RATE), "seconds", "12.5 s"),
        (write_file(make_tone(0.5, 96_000), 96_000), "rate", "96,000 samples"),
        (write_file(make_tone(0.5, 4_000), 4_000), "rate", "4,000 samples"),
        (write_file(np.zeros((4_000, 9)), RATE), "channels", "9 channels"),
        (write_file(np.full(4_000, np.nan), RATE, subtype="FLOAT"), "not_finite", "not numbers"),
    ],
)
def test_bad_files_get_one_sentence(data: bytes, code: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        read_sound(data)
    assert refused.value.code == code
    assert says in refused.value.text["en"] and refused.value.text["en"].count(". ") == 0
    assert refused.value.text["zh"].endswith("。")


def test_a_lying_header_is_bounded() -> None:
    whole = bytearray(write_file(make_tone(1, RATE), RATE))
    at = whole.index(b"data") + 4
    whole[at : at + 4] = struct.pack("<I", 1 << 30)  # says that a gigabyte follows
    found = read_sound(bytes(whole))
    assert len(found.samples) == RATE


def test_silence_stays_silent() -> None:
    assert choose_gain(np.zeros(4_000)) == 1
    assert choose_gain(make_tone(0.5, RATE, loud=1e-5)) == 1
    assert choose_gain(make_tone(0.5, RATE, loud=0.1)) == 1
    assert choose_gain(make_tone(0.5, RATE, loud=0.001)) == pytest.approx(70.7, rel=0.01)


def test_spelled_sounds_read_back() -> None:
    sound = make_tone(0.5, RATE)
    found = unspell_sound(spell_sound(sound))
    assert np.abs(found - sound).max() < 0.006
    assert spell_sound(found) == spell_sound(sound)


@pytest.mark.parametrize(
    ("text", "code"), [("not base64!", "sound"), ("gA", "seconds"), ("g" * 200_000, "seconds")]
)
def test_bad_spellings_are_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        unspell_sound(text)
    assert refused.value.code == code
