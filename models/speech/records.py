"""The requests to the speech recogniser and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining.batching import Apart
from models.explaining.errors import InputError
from models.explaining.request_fields import (
    choice_field,
    clean_for_sentence,
    heads_field,
    number_field,
    read_narrow,
    seed_field,
    switch_field,
    text_field,
)

RATE = 8_000  # samples a second
FRAME_SAMPLES = 320  # samples from one frame of the network to the next (40 ms)
NEWEST = 440  # the newest sample of frame t is 320 t + 440: the front end's own 55 ms
OLDEST = 720  # and its oldest is 320 t − 720
LAYERS, HEADS = 4, 4
LEFT, RIGHT = 16, 2  # L and R unless a request changes them
LEFTS = (2, 4, 8, 12, 16, 32)
RIGHTS = (0, 1, 2, 4, 8, 16)
WAITS = (0, 1, 2, 4, 8)  # R as trained, compared on one axis
QUIET = 40  # decibels from the noise up to the speech at which none is added
PIECES = (40, 80, 160, 320, 640)  # milliseconds
SOURCES = ("number", "recording")
VOICES = ("george", "jackson", "lucas", "nicolas", "theo", "yweweler")
MAX_DIGITS = 10  # of a typed number
MAX_SOUND = 130_000  # characters of a spelled sound: 12 s
UNHEARD = "without_"  # begins the name of a variant that never heard a voice
_SPACE = re.compile(r"[\s,.\-]+")

Reals = NDArray[np.float32]
Halves = NDArray[np.float16]
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Request(Apart):
    """A request: a number to be spoken or a visitor's recording, and changes to what is heard.

    digits: a number, spoken from clips that no network learned from.
    seed: chooses the clips and the pauses.
    sound: a recording as `sound_files.spell_sound` spells it.
    piece: milliseconds of sound that the stream is fed at a time.
    left, right: L and R of every layer, in frames.
    noise: decibels from added noise up to the speech, QUIET for none.
    unheard: whether the network that never heard the voice listens.
    """

    source: str = choice_field("number", SOURCES, en="source", zh="来源")
    digits: str = text_field("3340", 40)
    voice: str = choice_field("jackson", VOICES, en="voice", zh="嗓音")
    seed: int = seed_field(1)
    sound: str = text_field("", MAX_SOUND)
    piece: int = choice_field(160, PIECES, en="piece of sound", zh="声音片段长度")
    left: int = choice_field(LEFT, LEFTS, en="left window", zh="左窗口")
    right: int = choice_field(RIGHT, RIGHTS, en="right window", zh="右窗口")
    noise: int = number_field(QUIET, 0, QUIET, en="distance to the noise", zh="信噪比")
    speed: float = number_field(1.0, 0.7, 1.5, en="speed", zh="语速")
    unheard: bool = switch_field(False)
    silenced: tuple[tuple[str, int, int], ...] = heads_field(("speech",))


@dataclass(frozen=True)
class WrittenDigits:
    """The digits that one R writes. frames: the frame that names each."""

    right: int
    digits: Ints
    frames: Ints


@dataclass(frozen=True)
class Streaming:
    """The same sound fed piece by piece.

    difference: the largest between its probabilities and those of the whole.
    streamed_ms, whole_ms: computation for a second of sound, in pieces and at once.
    arrives: when each written digit is final, in samples from the beginning, (digit,).
    """

    difference: float
    streamed_ms: float
    whole_ms: float
    arrives: Ints


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    samples: the sound that was heard, (sample,).
    labels: the digits that were said, empty for a recording; begins, ends: their samples.
    mels: (mel frame, mel).
    probabilities: (frame, output), the blank last.
    written: the digits for each R, that of the request first.
    sure: the probability of each written digit, (digit,).
    weights: of each query's window, (layer, head, query, offset), offsets from −L to R.
    heard: share of each mel frame in the gradient of each written digit, (digit, mel frame).
    edits: between what was written and what was said, −1 where nobody knows.
    """

    samples: NDArray[np.int16]
    labels: Ints
    begins: Ints
    ends: Ints
    mels: Halves
    probabilities: Reals
    written: tuple[WrittenDigits, ...]
    sure: Reals
    weights: Halves
    heard: Halves
    streaming: Streaming
    edits: int

    @property
    def answer(self) -> str:
        """The digits that were written."""
        return "".join(map(str, self.written[0].digits.tolist()))


@dataclass(frozen=True)
class DigitErrors:
    """The digit error on the shipped clips. edits: of how many digits, both by voice; milliseconds:
    of computation for a second of sound."""

    edits: Ints
    digits: Ints
    milliseconds: float


def find_final_sample(frame: int, right: int) -> int:
    """Return how many samples must have come before a frame of the last layer is final."""
    return FRAME_SAMPLES * (frame + LAYERS * right) + NEWEST


def find_cone(frame: int, left: int, right: int) -> tuple[int, int]:
    """Return the samples that a frame of the last layer can hear: the first, and one behind the
    last."""
    return (
        FRAME_SAMPLES * (frame - LAYERS * left) - OLDEST,
        find_final_sample(frame, right),
    )


def read_number(text: str) -> tuple[int, ...]:
    """Return the digits of a typed number. Raise InputError where there are none, too many, or
    other signs."""
    digits = _SPACE.sub("", read_narrow(text))
    if not digits:
        raise InputError(
            "empty",
            en=f"There is no number: type 1 to {MAX_DIGITS} digits, or record your voice.",
            zh=f"没有数字：请输入 1 到 {MAX_DIGITS} 位数字，或录下您的声音。",
        )
    wrong = next((sign for sign in digits if sign not in "0123456789"), None)
    if wrong is not None:
        raise InputError(
            "not_digits",
            en=f"“{clean_for_sentence(wrong)}” is no digit: this voice says 0 to 9.",
            zh=f"“{clean_for_sentence(wrong)}”不是数字：这个嗓音只会说 0 到 9。",
        )
    if len(digits) > MAX_DIGITS:
        raise InputError(
            "too_long",
            en=f"There are {len(digits)} digits; up to {MAX_DIGITS} are spoken.",
            zh=f"共有 {len(digits)} 位数字；最多说 {MAX_DIGITS} 位。",
        )
    return tuple(map(int, digits))


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request("number", "1998", "theo", 4),
    Request("number", "70707", "nicolas", 2),
    Request("number", "2468013579", "george", 3),
    Request("number", "555", "lucas", 5),
)
