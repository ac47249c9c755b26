"""A visitor's MIDI file as a motif that a model of piano or of chorales can continue.

One sentence tells the visitor how the file was changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.media.uploads import FileReader
from explorer.values.packing import pack_array
from models.explaining.errors import InputError
from models.media import midi_files
from models.media.midi_files import PIANOS, File, format_duration
from models.media.notices import Said, describe_changes
from models.music import chorales, events
from models.music.notes import notes_of_events
from models.music.performances import KEYS, fold_pitches, notes_played
from models.music.records import GRID, MAX_MOTIF, STYLES, Whole, spell_events

SUNG = (60, 81)  # pitches of a soprano
VOICES = len(chorales.VOICES)
MOST = MAX_MOTIF["chorale"] // VOICES  # sixteenths of a chorale
ALIGNED = 0.6  # how well notes must stand on a grid to belong to it: 1 exactly, 0 anywhere
# Quarters a minute that are tried first where a file's own beats do not fit its notes.
BEATS = 100.0
ALONE = 0.05  # notes of a voice that may sound into its next one, as a share

Pitches = NDArray[np.int64]
Times = NDArray[np.float64]


@dataclass(frozen=True)
class Music:
    """The part of a visitor's file that a model gets.

    motif: as `records.Request` carries it, of a chorale all four voices, the soprano first.
    notes: (note, 4) as of `records.Made`.
    steps: the duration in steps of the grid.
    notice: how the file was changed; None where it was not.
    """

    motif: str
    notes: Whole
    steps: int
    notice: dict[str, str] | None


def read_motif(data: bytes, style: str) -> Music:
    """Return the motif that a MIDI file gives for a style, "piano" or "chorale".

    The rest of a file that is longer than a motif is cut. Notes that no model knows are left out or
    moved by octaves, and a damaged file is read as far as it is sound; the notice says so. Raise
    InputError for a file that is no MIDI file of type 0 or 1, too large, too long, or without a
    note.
    """
    file = midi_files.parse_midi(data)
    said = file.repairs()
    if file.drums:
        said.append(
            {
                "en": f"{_count_notes(file.drums)} of drums left out",
                "zh": f"略去 {file.drums:,} 个鼓音",
            }
        )
    values = _read_piano(file, said) if style == "piano" else _read_chorale(file, said)
    notes, _, steps = notes_of_events(style, values)
    return Music(spell_events(values), notes.astype(np.int32), steps, _describe_changes(file, said))


def list_routes() -> list[Route]:
    """Return the routes ``POST /music/piano`` and ``POST /music/chorale``.

    The body is the file; the answer is JSON with the fields of `Music`, or {error}.

    error: {en, zh}, with status 413, 422 or 503.
    """
    files = FileReader(midi_files.FILE, midi_files.refuse_size, _refuse_busy())

    def reader(style: str) -> Callable[[Request], Awaitable[Response]]:
        return files.reader(lambda data: _describe_music(read_motif(data, style)))

    return [Route(f"/music/{style}", reader(style), methods=["POST"]) for style in STYLES]


def _describe_music(music: Music) -> dict[str, object]:
    return {
        "motif": music.motif,
        "notes": pack_array(music.notes),
        "steps": music.steps,
        "notice": music.notice,
    }


# ---- piano


def _read_piano(file: File, said: Said) -> events.Events:
    """Return the file as events, with notes held as long as the sustain pedal."""
    if max(file.programs) >= PIANOS:
        said.append({"en": "all of it played by a piano", "zh": "全部改由钢琴演奏"})
    _fold_octaves(file.pitch, *KEYS, said)
    whole = events.events_of(events.notes_of(*notes_played(file).T))
    most = MAX_MOTIF["piano"]
    if len(whole) > most:
        given = format_duration(events.milliseconds(whole[:most]) / 1000)
        said.append(
            {
                "en": f"the first {most:,} of its {len(whole):,} events ({given['en']}) taken",
                "zh": f"取其 {len(whole):,} 个事件中的前 {most:,} 个（{given['zh']}）",
            }
        )
    return whole[:most]


# ---- chorales


def _read_chorale(file: File, said: Said) -> chorales.Cells:
    """Return the file as cells of four voices on sixteenths."""
    onset, end = _find_sixteenths(file, said)
    whole = int(end.max())
    here = onset < MOST
    onset, end, part = onset[here], np.minimum(end[here], MOST), file.part[here]
    parts = np.unique(part)
    dealt = len(parts) == VOICES and all(
        _is_one_voice(onset[part == one], end[part == one]) for one in parts
    )
    steps = int(end.max())
    melody = not dealt and _is_one_voice(onset, end)
    low, high = SUNG if melody else (chorales.LOWEST, chorales.HIGHEST)
    pitch = _fold_octaves(_shift_octaves(file.pitch[here], low, high, said), low, high, said)

    grid = np.full((steps, VOICES), -1)
    if dealt:
        for voice, one in enumerate(sorted(parts, key=lambda one: -pitch[part == one].mean())):
            own = part == one
            grid[:, voice] = _find_highest(
                _mark_sounding(onset[own], end[own], pitch[own], steps), 1
            )[:, 0]
    elif melody:
        grid[:, 0] = _find_highest(_mark_sounding(onset, end, pitch, steps), 1)[:, 0]
        said.append({"en": "taken as the soprano", "zh": "作为女高音声部"})
    else:
        sounding = _mark_sounding(onset, end, pitch, steps)
        grid = _find_highest(sounding, VOICES)
        crowded = sounding.sum(1) > VOICES
        grid[crowded, -1] = sounding[crowded].argmax(1)
        said.append(
            {
                "en": "dealt to four voices, the highest note to the soprano",
                "zh": "分给四个声部，最高音归女高音",
            }
        )
        if crowded.any():
            count = int(crowded.sum())
            said.append(
                {
                    "en": (
                        f"where more than four notes sound ({count} sixteenths), the three highest"
                        " and the lowest kept"
                    ),
                    "zh": f"四个以上的音同响之处（{count} 个十六分音符）只留最高三音和最低音",
                }
            )
    if whole > MOST:
        said.append(
            {
                "en": f"the first {MOST} of its {whole:,} sixteenths taken",
                "zh": f"取其 {whole:,} 个十六分音符中的前 {MOST} 个",
            }
        )
    return chorales.cells_of(grid.tolist())


def _find_sixteenths(file: File, said: Said) -> tuple[Pitches, Pitches]:
    """Return (note,) onset and end in sixteenths from the first note.

    The beats are the file's own, or are estimated where the notes do not stand on those.
    """
    onset, end = file.onset / file.quarter * 4, file.end / file.quarter * 4
    if not file.beats or _measure_alignment(onset)[0] < ALIGNED:
        onset, end = file.seconds(file.onset), file.seconds(file.end)
        period = _estimate_period(onset)
        tempo = f"{15 / period:,.0f}"
        said.append(
            {
                "en": f"its beats found by ear ({tempo} quarters a minute)",
                "zh": f"节拍由听辨得出（每分钟 {tempo} 个四分音符）",
            }
        )
        onset, end = onset / period, end / period
    onset, end = onset - onset[0], end - onset[0]
    late = _measure_alignment(onset)[1]
    begin = np.rint(onset - late).astype(np.int64)
    finish = np.maximum(np.rint(end - late).astype(np.int64), begin + 1)
    return begin - begin.min(), finish - begin.min()


def _measure_alignment(times: Times) -> tuple[float, float]:
    """Return how well times stand on a grid of whole numbers that may be shifted, and its shift.

    The first is 0 … 1, the shift −½ … ½; both count from the first time on.
    """
    begin = times - times[0]
    mean = np.exp(2j * np.pi * begin[begin < MOST]).mean()
    return abs(mean), float(np.angle(mean)) / (2 * np.pi)


def _estimate_period(onset: Times) -> float:
    """Return the seconds of a sixteenth.

    The median time from note to note is one, two, four or eight of them: the count that is nearest
    to the usual tempo.
    """
    usual = 15 / BEATS
    gaps = np.diff(onset[onset <= onset[0] + MOST * usual])
    gaps = gaps[gaps > 0.03]  # without notes that begin together
    if not len(gaps):
        return GRID["chorale"] / 1000
    gap = float(np.median(gaps))
    first = min(
        (gap / count for count in (1, 2, 4, 8)), key=lambda period: abs(np.log(period / usual))
    )
    periods = first * np.geomspace(0.9, 1.1, 201)
    return float(max(periods, key=lambda period: _measure_alignment(onset / period)[0]))


def _is_one_voice(onset: Pitches, end: Pitches) -> bool:
    """Return whether these notes are one voice: hardly any sounds into the next."""
    return bool((end[:-1] > onset[1:]).mean() <= ALONE) if len(onset) > 1 else True


def _mark_sounding(onset: Pitches, end: Pitches, pitch: Pitches, steps: int) -> NDArray[np.bool_]:
    """Return whether each pitch sounds at each step, (step, pitch)."""
    sounding = np.zeros((steps, 128), np.bool_)
    for begin, finish, one in zip(onset.tolist(), end.tolist(), pitch.tolist(), strict=True):
        sounding[begin:finish, one] = True
    return sounding


def _find_highest(sounding: NDArray[np.bool_], count: int) -> Pitches:
    """Return the highest pitches that sound, (step, count), from the highest down.

    −1 stands where fewer sound.
    """
    pitches = np.where(sounding, np.arange(128), -1)
    return np.sort(pitches, axis=1)[:, : -count - 1 : -1]


def _shift_octaves(pitch: Pitches, low: int, high: int, said: Said) -> Pitches:
    """Return all notes moved by the octaves that bring most of them between two pitches.

    They stay where that is as good.
    """
    octaves = min(
        range(-8, 9),
        key=lambda octave: (
            ((pitch + 12 * octave < low) | (pitch + 12 * octave > high)).sum(),
            abs(octave),
        ),
    )
    if octaves:
        count, up = abs(octaves), octaves > 0
        said.append(
            {
                "en": (
                    f"moved {'up' if up else 'down'} by {count} octave{'' if count == 1 else 's'}"
                ),
                "zh": f"整体{'上移' if up else '下移'} {count} 个八度",
            }
        )
    return pitch + 12 * octaves


def _fold_octaves(pitch: Pitches, low: int, high: int, said: Said) -> Pitches:
    """Return the pitches, with each note outside of two pitches moved between them by octaves."""
    moved = fold_pitches(pitch, low, high)
    count = int((moved != pitch).sum())
    if count:
        said.append(
            {
                "en": f"{_count_notes(count)} outside the range moved by octaves",
                "zh": f"{count:,} 个超出音域的音符按八度移入",
            }
        )
    return moved


# ---- the notice for visitors


def _describe_changes(file: File, said: Said) -> dict[str, str] | None:
    count, long = (
        len(file.onset),
        format_duration(float(file.seconds(file.end).max() - file.seconds(file.onset[:1])[0])),
    )
    what = {
        "en": f"Your MIDI file, {_count_notes(count)} in {long['en']}",
        "zh": f"您的 MIDI 文件（{count:,} 个音符，{long['zh']}）",
    }
    return describe_changes(what, said)


def _count_notes(count: int) -> str:
    return f"{count:,} note{'' if count == 1 else 's'}"


def _refuse_busy() -> InputError:
    return InputError(
        "busy",
        en="Many files are being read just now; yours can be sent again in a few seconds.",
        zh="此刻正在读许多文件；几秒后可再次发送。",
    )
