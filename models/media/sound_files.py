"""Read a visitor's sound file, and sounds as texts that a request can carry.

The kind of file, its size, rate and length are judged before anything is decoded, and no more
samples are decoded than are read. No torch here.
"""

from __future__ import annotations

import base64
import binascii
import io
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from models.explaining.errors import InputError
from models.media.notices import Said, describe_changes

FILE = 5 << 20  # bytes of a file
RATE = 8_000  # samples a second of what is read
RATES = (8_000, 48_000)  # of a file
SECONDS = (0.2, 12.0)  # of a file
CHANNELS = 8  # of a file, at most
LONGEST = round(SECONDS[1] * RATE)  # samples of what is read
LOUDNESS = (0.016, 0.16)  # root mean square of what is heard as it is
LEVEL = 0.05  # and of what is made louder or softer
MOST_GAIN = 100.0  # 40 dB: what is softer still counts as silence
CLIPPED = 0.999  # level of a sample at the end of its range
KNOWN = {b"RIFF": "WAV", b"fLaC": "FLAC", b"OggS": "OGG"}
# The first bytes of other files, for the sentence that refuses them.
OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"ID3", "MP3"),
    (b"\xff\xfb", "MP3"),
    (b"\xff\xf3", "MP3"),
    (b"\x1aE\xdf\xa3", "WebM"),
    (b"FORM", "AIFF"),
    (b"MThd", "MIDI"),
    (b"caff", "CAF"),
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP"),
)

Samples = NDArray[np.float32]


@dataclass(frozen=True)
class Recording:
    """A visitor's sound as a recogniser gets it.

    samples: 8,000 a second, from -1 to 1.
    notice: how the file was changed; None where it was not.
    """

    samples: Samples
    notice: dict[str, str] | None


def read_sound(data: bytes) -> Recording:
    """Return the sound of a WAV, FLAC or OGG file. Raise InputError for any other file, or one that
    is empty, damaged, too large, too long, too short, or of another rate."""
    if not data:
        raise InputError(
            "file",
            en="The file is empty; a WAV, FLAC or OGG sound is read.",
            zh="文件是空的；可读 WAV、FLAC 或 OGG 声音。",
        )
    if len(data) > FILE:
        raise refuse_size(len(data))
    name = KNOWN.get(data[:4])
    if name is None or (name == "WAV" and data[8:12] != b"WAVE"):
        raise _refuse_kind(data)
    channels, rate = _decode(data, name)
    said: Said = []
    if channels.shape[1] > 1:
        said.append(
            {
                "en": f"{channels.shape[1]} channels averaged",
                "zh": f"{channels.shape[1]} 个声道取平均",
            }
        )
    whole = channels.mean(1, dtype=np.float64)
    # one flat top is a loud moment, many are a recording that was cut off
    if int((np.abs(channels) >= CLIPPED).sum()) > len(channels) // 500:
        said.append({"en": "the loudest parts are clipped", "zh": "最响处已削波"})
    if rate != RATE:
        said.append(
            {
                "en": f"resampled from {rate:,} to {RATE:,} Hz",
                "zh": f"由 {rate:,} Hz 重采样为 {RATE:,} Hz",
            }
        )
    samples = resample(whole, rate, RATE)[:LONGEST]
    gain = choose_gain(samples)
    if gain != 1:
        louder = gain > 1
        decibels = f"{abs(20 * math.log10(gain)):.0f}"
        said.append(
            {
                "en": f"made {'louder' if louder else 'softer'} by {decibels} dB",
                "zh": f"音量{'提高' if louder else '降低'} {decibels} dB",
            }
        )
    what = {"en": f"Your {name} file", "zh": f"您的 {name} 文件"}
    return Recording((samples * gain).astype(np.float32), describe_changes(what, said))


def _decode(data: bytes, name: str) -> tuple[NDArray[np.float32], int]:
    """Return the samples of a file, (sample, channel), and its rate."""
    # here, because the import looks for a library
    import soundfile  # type: ignore[import-untyped]

    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            rate, count, channels = file.samplerate, len(file), file.channels
            if not RATES[0] <= rate <= RATES[1]:
                raise InputError(
                    "rate",
                    en=f"Your sound has {rate:,} samples a second; 8,000 to 48,000 are read.",
                    zh=f"您的声音每秒有 {rate:,} 个采样；可读 8,000 到 48,000 个。",
                )
            if channels > CHANNELS:
                raise InputError(
                    "channels",
                    en=f"Your sound has {channels} channels; up to {CHANNELS} are read.",
                    zh=f"您的声音有 {channels} 个声道；最多读 {CHANNELS} 个。",
                )
            _check_length(count / rate)
            samples = file.read(math.ceil(SECONDS[1] * rate) + 1, dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, RuntimeError, ValueError, OSError):
        raise InputError(
            "file_damaged",
            en=f"Your {name} file is cut off or damaged; a whole WAV, FLAC or OGG sound is read.",
            zh=f"您的 {name} 文件不完整或已损坏；可读完整的 WAV、FLAC 或 OGG 声音。",
        ) from None
    _check_length(len(samples) / rate)
    if not np.isfinite(samples).all():
        raise InputError(
            "not_finite",
            en="Your sound holds samples that are not numbers; those from −1 to 1 are read.",
            zh="您的声音含有不是数的采样；可读 −1 到 1 的采样。",
        )
    return np.clip(samples, -1, 1), rate


def _check_length(seconds: float) -> None:
    if not SECONDS[0] <= seconds <= SECONDS[1]:
        raise InputError(
            "seconds",
            en=f"Your sound lasts {seconds:,.1f} s; sounds of 0.2 to 12 s are read.",
            zh=f"您的声音长 {seconds:,.1f} 秒；可读 0.2 到 12 秒的声音。",
        )


def refuse_size(size: int) -> InputError:
    """Return the refusal of a file of so many bytes."""
    # rounded up, so that it never reads as the limit itself
    given = math.ceil(size / (1 << 20) * 10) / 10
    return InputError(
        "file_size",
        en=f"Your file has {given:,.1f} MB; sounds of up to {FILE >> 20} MB are read.",
        zh=f"您的文件有 {given:,.1f} MB；最多读 {FILE >> 20} MB 的声音。",
    )


def _refuse_kind(data: bytes) -> InputError:
    name = next((name for begins, name in OTHERS if data.startswith(begins)), "")
    name = "MP4" if data[4:8] == b"ftyp" else name
    article = "an" if name[:1] in {"A", "M"} and name != "MIDI" else "a"
    return InputError(
        "file",
        en=(
            f"Your file is {f'{article} {name} file' if name else 'no sound that this lab knows'};"
            " WAV, FLAC and OGG sounds are read."
        ),
        zh=(
            f"您的文件{f'是 {name} 文件' if name else '不是本实验认识的声音'}；可读 WAV、FLAC 和"
            " OGG 声音。"
        ),
    )


def choose_gain(samples: NDArray[np.floating]) -> float:
    """Return the factor that brings what is loud in a sound to the loudness of speech; 1 for
    silence, and where it is loud enough already."""
    blocks = np.array_split(np.square(samples, dtype=np.float64), max(1, len(samples) // 160))
    power = np.array([block.mean() for block in blocks])
    loud = math.sqrt(float(power[power >= power.max() / 10].mean()))
    if loud <= LEVEL / MOST_GAIN or LOUDNESS[0] <= loud <= LOUDNESS[1]:
        return 1.0
    return LEVEL / loud


def resample(
    samples: NDArray[np.floating], rate: float, new_rate: float, lobes: int = 16
) -> NDArray[np.float64]:
    """Return a sound at another rate, by a sinc under a Hann window; what the new rate cannot hold
    is filtered out.

    lobes: half-width of the sinc, in samples of the lower rate.
    """
    if rate == new_rate:
        return np.asarray(samples, np.float64)
    low = min(1.0, new_rate / rate)  # the cut-off, as a share of the old one
    half = math.ceil(lobes / low)
    # sample j lies at j p / q: q kernels, each used at every p-th place
    step = Fraction(rate / new_rate).limit_denominator(2_000)
    p, q = step.numerator, step.denominator
    windows = sliding_window_view(
        np.pad(np.asarray(samples, np.float64), (half, half + p + 1)), 2 * half + 2
    )
    resampled = np.zeros(math.floor(len(samples) * new_rate / rate))
    for phase in range(min(q, len(resampled))):
        whole, part = divmod(phase * p, q)
        away = np.arange(-half, half + 2) - part / q
        window = np.where(np.abs(away) <= half, 0.5 + 0.5 * np.cos(np.pi * away / half), 0.0)
        count = len(resampled[phase::q])
        resampled[phase::q] = windows[whole::p][:count] @ (low * np.sinc(low * away) * window)
    return resampled


# ---- sounds as texts


def spell_levels(samples: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return a sound in 8 bits a sample: the µ-law of telephones, µ = 255."""
    loud = np.clip(np.asarray(samples, np.float64), -1, 1)
    curved = np.sign(loud) * np.log1p(255 * np.abs(loud)) / math.log(256)
    levels: NDArray[np.uint8] = np.rint((curved + 1) * 127.5).astype(np.uint8)
    return levels


def spell_sound(samples: NDArray[np.floating]) -> str:
    """Return a sound as text: its levels in base64url."""
    return base64.urlsafe_b64encode(spell_levels(samples).tobytes()).decode().rstrip("=")


def unspell_sound(text: str) -> Samples:
    """Return the sound that `spell_sound` spelled. Raise InputError for any other text, or one that
    is too long or too short."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InputError(
            "sound",
            en="The sound in this link cannot be read: its signs are no base64url.",
            zh="该链接中的声音无法读取：其字符不是 base64url。",
        ) from None
    _check_length(len(data) / RATE)
    curved = np.frombuffer(data, np.uint8).astype(np.float64) / 127.5 - 1
    return np.asarray(np.sign(curved) * np.expm1(np.abs(curved) * math.log(256)) / 255, np.float32)
