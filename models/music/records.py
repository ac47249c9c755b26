"""What crosses the border between the models of music and a page: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields, folders
from models.errors import InputError, check_models
from models.fields import anything, choice, heads, number
from models.music import chorales, events
from models.pixels import packed, unpacked
from models.results import Again as Again
from models.results import Array as Array
from models.results import Losses as Losses

Half = NDArray[np.float16]
Whole = NDArray[np.int32]

STYLES = ("chorale", "piano")
MODES = ("continue", "harmonise")
MODELS = {
    "chorale": ("jsb_relative", "jsb_transformer"),
    "piano": ("relative", "transformer", "lstm"),
}  # in the order they stand side by side
GRID = {"chorale": 125, "piano": events.STEP}  # milliseconds of a step of the grid; a sixteenth at 120 quarters a minute
MAX_MOTIF = {"chorale": 512, "piano": 1024}  # cells or events that may be given
MAX_MADE = {"chorale": 512, "piano": 1024}  # cells or events that may be made
MAX_SHIFT = 12  # semitones up or down
STRETCH = (0.5, 2.0)  # of a motif's times


def styles() -> tuple[str, ...]:
    """The styles of which a trained model is there, in the order of STYLES."""
    return tuple(style for style in STYLES if folders.trained("music", MODELS[style]))


FIRST = (styles() or STYLES)[0]  # what a request asks for that names no style: chorales, except beside a piano model of somebody's own


@dataclass(frozen=True)
class Request:
    """A motif, what is to be made of it, and what is changed meanwhile.

    style: "chorale" or "piano". mode: "continue", or "harmonise" where the motif is a soprano and three voices are made below it (chorale).
    motif: what `spelled` wrote: events of piano, cells of a chorale, or, to harmonise, one cell for each sixteenth of the soprano.
    length: cells or events to make after the motif; harmonising takes none. temperature: 0 takes the likeliest event every time.
    silenced: (variant, layer, head) from 0. farthest: distances beyond it count as it does, 0 leaves the relative term out, −1 as trained.
    semitones: the motif is moved by. stretch: of its times (piano).
    """

    style: str = choice(FIRST, STYLES, en="style", zh="风格")
    mode: str = choice("harmonise" if FIRST == "chorale" else "continue", MODES, en="mode", zh="方式")
    motif: str = anything("")
    length: int = number(256, 1, MAX_MADE["piano"], en="length", zh="长度")
    seed: int = fields.seed(7)
    temperature: float = fields.temperature(1.0)
    silenced: tuple[tuple[str, int, int], ...] = heads([variant for variants in MODELS.values() for variant in variants])
    farthest: int = number(-1, -1, MAX_MOTIF["piano"] + MAX_MADE["piano"], en="farthest distance", zh="最远距离")
    semitones: int = number(0, -MAX_SHIFT, MAX_SHIFT, en="transposition", zh="移调")
    stretch: float = number(1.0, *STRETCH, en="stretch", zh="时间伸缩")

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same models, the same distances."""
        return (self.style, self.farthest)


@dataclass(frozen=True)
class Made:
    """What one model made.

    variant: its name. events: (event,) the motif and what was made; given: (event,) bool, which of them were given. nats: (event,) −log p
    of what was made under the model as it ran, temperature 1; 0 for what was given.
    notes: (note, 4) onset and end in steps of the grid, MIDI pitch, and velocity 0 … 31, or of a chorale the voice 0 … 3.
    at: (note,) the event that begins each note. steps: of the grid, how long it lasts.
    queries, keys: (layer, head, event, d_head); table: (layer, head, distance, d_head), E_r as far as it was needed; all of them float16
    and empty where there is none. `weights.look` makes weights of them.
    """

    variant: str
    events: NDArray[np.int16]
    given: NDArray[np.bool_]
    nats: Array
    notes: Whole
    at: Whole
    steps: int
    queries: Half
    keys: Half
    table: Half


@dataclass(frozen=True)
class Explanation:
    """One run. made: by each model that is there, in the order of MODELS. grid: milliseconds of a step."""

    made: tuple[Made, ...]
    grid: int


@dataclass(frozen=True)
class Step:
    """Some events made by one model. variant: its name. first: position of the first. events, nats: of them."""

    variant: str
    first: int
    events: NDArray[np.int16]
    nats: Array


@dataclass(frozen=True)
class SkewSteps:
    """Skewing step by step for one head and the first queries of a run (Huang et al., 2018, fig. 1): fields of `layers.relative.Skew`."""

    product: Array
    padded: Array
    reshaped: Array
    sliced: Array
    direct: Array
    allowed: NDArray[np.bool_]


def spelled(values: Sequence[int] | NDArray[np.int64]) -> str:
    """Events or cells as a request carries them: base64 of two bytes each."""
    return packed(values, "<u2")


def read_motif(request: Request) -> NDArray[np.int64]:
    """The motif of a request. InputError where there is none, where it is too long, or where it is no music of that style."""
    try:
        values = np.frombuffer(unpacked(request.motif), "<u2").astype(np.int64)
    except ValueError:
        raise InputError("motif", en="The link carries no motif.", zh="链接中没有动机。") from None
    kinds = {"chorale": chorales.CELLS, "piano": events.EVENTS}[request.style]
    most = MAX_MOTIF[request.style] // (len(chorales.VOICES) if request.mode == "harmonise" else 1)
    if len(values) > most:
        raise InputError("too_long", en=f"The motif has {len(values):,} events; at most {most:,} can be read.", zh=_long(len(values), most))
    if len(values) and values.max() >= kinds:
        raise InputError("motif", en=f"The motif has the event {values.max()}; there are {kinds}.", zh=_unknown(int(values.max()), kinds))
    if request.mode == "harmonise" and not (values != chorales.SILENCE).any():
        raise InputError("no_melody", en="There is no melody: play at least one note.", zh="没有旋律：请至少弹奏一个音。")
    if request.style == "chorale" and request.mode == "continue" and len(values) % len(chorales.VOICES):
        raise InputError(
            "not_whole",
            en=f"The chorale has {len(values)} cells; whole sixteenths have four voices each.",
            zh=f"该众赞歌有 {len(values)} 个格子；每个完整的十六分音符有四个声部。",
        )
    return values


def _long(count: int, most: int) -> str:
    return f"动机有 {count:,} 个事件；最多可读取 {most:,} 个。"


def _unknown(event: int, kinds: int) -> str:
    return f"动机中有事件 {event}；事件共有 {kinds} 种。"


def check(request: Request) -> None:
    """InputError where an option lies outside what there is, or no model of the style is shipped."""
    fields.check(request)
    if request.style not in styles():
        there = ", ".join(styles()) or "–"
        raise InputError(
            "style",
            en=f"No model of the style “{request.style}” is shipped here; there is {there}.",
            zh=f"这里没有“{request.style}”风格的模型；现有：{there}。",
        )
    if request.style == "piano" and request.mode == "harmonise":
        raise InputError("mode", en="Only chorales can be harmonised.", zh="只有众赞歌可以配和声。")
    if request.length > MAX_MADE[request.style]:
        most = MAX_MADE[request.style]
        raise InputError(
            "length",
            en=f"The length is {request.length}; of a {request.style} it can be 1 to {most}.",
            zh=f"长度为 {request.length}；此风格可以取 1 到 {most}。",
        )
    check_models(request.silenced, MODELS[request.style])


def melody(pitches: Sequence[int], sixteenths: int = 4) -> str:
    """A soprano of notes as long as `sixteenths`, as a request carries it; 0 for a rest."""
    return sung(" ".join(f"{pitch}/{sixteenths}" for pitch in pitches))


def sung(*voices: str, again: int = 0) -> str:
    """Voices from the highest down, as a request carries them. Notes are “pitch/sixteenths”, or “pitch” for a quarter; 0 is a rest.

    One voice is a melody to harmonise, four are a chorale to go on with. again: so many sixteenths of the beginning stand at the end once
    more. ValueError where voices differ in length.
    """
    lines = [[note.partition("/") for note in voice.split()] for voice in voices]
    cells = [np.repeat([_cell(int(pitch)) for pitch, _, _ in line], [int(length or 4) for _, _, length in line]) for line in lines]
    whole = np.stack(cells, 1)
    return spelled(np.concatenate((whole, whole[:again])).reshape(-1))


def _cell(pitch: int) -> int:
    return pitch - chorales.LOWEST + 1 if pitch else chorales.SILENCE


def motif(pitches: Sequence[int], milliseconds: int = 200, velocity: int = 72) -> str:
    """Piano notes one after another, as a request carries them."""
    return played([(at, 1, pitch) for at, pitch in enumerate(pitches)], milliseconds, velocity)


def played(notes: Sequence[tuple[int, int, int]], milliseconds: int, velocity: int = 72) -> str:
    """Piano notes (begin, length, pitch), times in units of so many milliseconds, as a request carries them."""
    begin, length, pitch = (np.array(column) for column in zip(*notes, strict=True))
    found = events.notes_of(begin * milliseconds, (begin + length) * milliseconds, pitch, np.full(len(notes), velocity))
    return spelled(events.events_of(found))


SCALE = (60, 62, 64, 65, 67, 69, 71, 72)

# Tunes in the public domain. The four voices are the first two lines of Bach's BWV 302, a piece that was held out of training, and then the
# first notes of the first line again: what goes on with them knows what came before.
VOM_HIMMEL_HOCH = sung("72 71 69 71 67 69 71 72 72 72 67 67 64 67 65 64/8")  # two lines of the tune of 1539
ODE_TO_JOY = sung(
    "71 71 72 74 74 72 71 69 67 67 69 71 71/6 69/2 69/8 "  # Beethoven, 1824
    "71 71 72 74 74 72 71 69 67 67 69 71 69/6 67/2 67/8"
)
JASMINE = sung(
    "69 69/2 72/2 74/2 77/4 74/2 72 72/2 74/2 72/8 69 69/2 72/2 74/2 77/4 74/2 72 72/2 74/2 72/8 "  # Mo Li Hua, 18th century
    "72 72 72 69/2 72/2 74 74 72/8 69 67/2 69/2 72 69/2 67/2 65 65/2 67/2 65/8"
)
EIN_FESTE_BURG = sung(
    "74/12 69/2 71/2 73 74/2 73/2 71 69 74 73 71 69 71 67/2 66/2 64 62",
    "69 62/6 64/2 66 67 69 68 64 71 64 62 61 59 61/2 62 61/2 62",
    "66/8 59/2 61/2 62 64 66/6 64/1 62/1 61 54/2 56/2 58 59 66/2 64/2 62 64/2 57 55/2 54",
    "62/2 61/2 59 57/2 55/2 54 52 50 52 45 47 49 50/2 52/2 54 55/2 54/2 52/2 50/2 45 50",
    again=20,
)
HARMONIES = ((60, 64, 67, 72, 76), (60, 62, 69, 74, 77), (59, 62, 67, 74, 77), (60, 64, 67, 72, 76))  # of BWV 846, a bar each
PRELUDE = played(
    [
        note
        for half in range(8)
        for bass, second, *rest in (HARMONIES[half // 2],)
        for note in (
            (8 * half, 8, bass),
            (8 * half + 1, 7, second),
            *((8 * half + at, 1, rest[(at - 2) % 3]) for at in range(2, 8)),
        )
    ],
    210,
)
ELISE = played(
    [
        *((at, 1, pitch) for at, pitch in enumerate((76, 75, 76, 75, 76, 71, 74, 72))),  # Beethoven, 1810
        *((8, 3, 69), (8, 1, 45), (9, 1, 52), (10, 1, 57), (11, 1, 60), (12, 1, 64), (13, 1, 69)),
        *((14, 3, 71), (14, 1, 40), (15, 1, 52), (16, 1, 56), (17, 1, 64), (18, 1, 68), (19, 1, 71)),
        *((20, 3, 72), (20, 1, 45), (21, 1, 52), (22, 1, 57), (23, 1, 64)),
        *((24 + at, 1, pitch) for at, pitch in enumerate((76, 75, 76, 75, 76, 71, 74, 72))),
    ],
    170,
)

CHORALES: tuple[Request, ...] = (
    Request("chorale", "harmonise", VOM_HIMMEL_HOCH),
    Request("chorale", "harmonise", ODE_TO_JOY),
    Request("chorale", "harmonise", JASMINE, seed=3),
    Request("chorale", "continue", EIN_FESTE_BURG, seed=3, temperature=0.8),
)
PIANO: tuple[Request, ...] = (
    Request("piano", "continue", PRELUDE, 512),
    Request("piano", "continue", ELISE, 512, seed=11),
)
EXAMPLES: tuple[Request, ...] = tuple(one for one in (*CHORALES, *PIANO) if one.style in styles())  # of models that are there
