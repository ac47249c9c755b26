"""A visitor's MIDI file as a motif: what a model of piano or of chorales can go on with, and one sentence that says what was done to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer import midi_files
from explorer.midi_files import PIANOS, File, lasting
from explorer.packing import pack
from explorer.uploads import FileReader, Said, noticed
from models.errors import InputError
from models.music import chorales, events
from models.music.notes import notes_of_events
from models.music.records import GRID, MAX_MOTIF, STYLES, Whole, spelled

KEYS = (21, 108)  # pitches of a piano
SUNG = (60, 81)  # pitches of a soprano
VOICES = len(chorales.VOICES)
MOST = MAX_MOTIF["chorale"] // VOICES  # sixteenths of a chorale
ALIGNED = 0.6  # how well notes stand on a grid where it is theirs: 1 exactly, 0 anywhere
BEATS = 100.0  # quarters a minute that are looked for first where a file's own beats do not fit its notes
ALONE = 0.05  # notes of a voice that may sound into its next one

Pitches = NDArray[np.int64]
Times = NDArray[np.float64]


@dataclass(frozen=True)
class Music:
    """What a model gets of a visitor's file.

    motif: as `records.Request` carries it, of a chorale all four voices, the soprano first.
    notes: (note, 4) as of `records.Made`. steps: of the grid, how long it lasts. notice: what was done to the file; None where nothing was.
    """

    motif: str
    notes: Whole
    steps: int
    notice: dict[str, str] | None


def read(data: bytes, style: str) -> Music:
    """The motif that a MIDI file gives for a style, "piano" or "chorale".

    What is longer than a motif may be is cut, what no model knows is left out or moved by octaves, what is damaged is read as far as it is
    sound; the notice says so. Raises InputError for what is no MIDI file of type 0 or 1, too large, too long, or without a note.
    """
    file = midi_files.parsed(data)
    said: Said = []
    if file.damaged:
        said.append({"en": "read as far as it is sound", "zh": "只读到完好之处"})
    if file.drums:
        said.append({"en": f"{_notes(file.drums)} of drums left out", "zh": f"略去 {file.drums:,} 个鼓音"})
    if file.endless:
        said.append({"en": f"an end given to {_notes(file.endless)} that had none", "zh": f"为 {file.endless:,} 个没有结束的音符补上结束"})
    values = _piano(file, said) if style == "piano" else _chorale(file, said)
    notes, _, steps = notes_of_events(style, values)
    return Music(spelled(values), notes.astype(np.int32), steps, _notice(file, said))


def routes() -> list[Route]:
    """``POST /music/piano`` and ``POST /music/chorale``: the file as the body, the fields of `Music` as JSON or {error} as the answer.

    error: {en, zh}, with status 413, 422 or 503.
    """
    files = FileReader(midi_files.FILE, midi_files.heavy, _busy())

    def reader(style: str) -> Callable[[Request], Awaitable[Response]]:
        return files.reader(lambda data: _told(read(data, style)))

    return [Route(f"/music/{style}", reader(style), methods=["POST"]) for style in STYLES]


def _told(music: Music) -> dict[str, object]:
    return {"motif": music.motif, "notes": pack(music.notes), "steps": music.steps, "notice": music.notice}


# ---- piano ---------------------------------------------------------------------------------------------------------------------------


def _piano(file: File, said: Said) -> events.Events:
    """The file as events, the sustain pedal held out."""
    import pretty_midi  # here, for it looks for libraries of the machine when it is imported

    from models.music.midi import notes_in

    if max(file.programs) >= PIANOS:
        said.append({"en": "all of it played by a piano", "zh": "全部改由钢琴演奏"})
    pitch = _folded(file.pitch, *KEYS, said)
    first = file.seconds(file.onset[:1])[0]
    onset, end, pedal = (file.seconds(ticks) - first for ticks in (file.onset, file.end, file.pedal[:, 0]))
    midi = pretty_midi.PrettyMIDI()
    for channel in range(16):  # a pedal holds the notes of its channel, of whatever track
        own, held = file.part % 16 == channel, file.pedal[:, 1] == channel
        instrument = pretty_midi.Instrument(0)
        rows = zip(file.velocity[own].tolist(), pitch[own].tolist(), onset[own].tolist(), end[own].tolist(), strict=True)
        instrument.notes = [pretty_midi.Note(*row) for row in rows]
        changes = zip(file.pedal[held, 2].tolist(), pedal[held].tolist(), strict=True)
        instrument.control_changes = [pretty_midi.ControlChange(64, *change) for change in changes]
        midi.instruments.append(instrument)
    whole = events.events_of(notes_in(midi))
    most = MAX_MOTIF["piano"]
    if len(whole) > most:
        given = lasting(events.milliseconds(whole[:most]) / 1000)
        said.append(
            {
                "en": f"the first {most:,} of its {len(whole):,} events ({given['en']}) taken",
                "zh": f"取其 {len(whole):,} 个事件中的前 {most:,} 个（{given['zh']}）",
            }
        )
    return whole[:most]


# ---- chorales ------------------------------------------------------------------------------------------------------------------------


def _chorale(file: File, said: Said) -> chorales.Cells:
    """The file as cells of four voices on sixteenths."""
    onset, end = _sixteenths(file, said)
    whole = int(end.max())
    here = onset < MOST
    onset, end, part = onset[here], np.minimum(end[here], MOST), file.part[here]
    parts = np.unique(part)
    dealt = len(parts) == VOICES and all(_alone(onset[part == one], end[part == one]) for one in parts)
    steps = int(end.max())
    melody = not dealt and _alone(onset, end)
    low, high = SUNG if melody else (chorales.LOWEST, chorales.HIGHEST)
    pitch = _folded(_shifted(file.pitch[here], low, high, said), low, high, said)

    grid = np.full((steps, VOICES), -1)
    if dealt:
        for voice, one in enumerate(sorted(parts, key=lambda one: -pitch[part == one].mean())):
            own = part == one
            grid[:, voice] = _highest(_sounding(onset[own], end[own], pitch[own], steps), 1)[:, 0]
    elif melody:
        grid[:, 0] = _highest(_sounding(onset, end, pitch, steps), 1)[:, 0]
        said.append({"en": "taken as the soprano", "zh": "作为女高音声部"})
    else:
        sounding = _sounding(onset, end, pitch, steps)
        grid = _highest(sounding, VOICES)
        crowded = sounding.sum(1) > VOICES
        grid[crowded, -1] = sounding[crowded].argmax(1)
        said.append({"en": "dealt to four voices, the highest note to the soprano", "zh": "分给四个声部，最高音归女高音"})
        if crowded.any():
            count = int(crowded.sum())
            said.append(
                {
                    "en": f"where more than four notes sound ({count} sixteenths), the three highest and the lowest kept",
                    "zh": f"四个以上的音同响之处（{count} 个十六分音符）只留最高三音和最低音",
                }
            )
    if whole > MOST:
        said.append({"en": f"the first {MOST} of its {whole:,} sixteenths taken", "zh": f"取其 {whole:,} 个十六分音符中的前 {MOST} 个"})
    return chorales.cells_of(grid.tolist())


def _sixteenths(file: File, said: Said) -> tuple[Pitches, Pitches]:
    """(note,) onset and end in sixteenths from the first: by the file's own beats, or by the notes' where they do not stand on those."""
    onset, end = file.onset / file.quarter * 4, file.end / file.quarter * 4
    if not file.beats or _alignment(onset)[0] < ALIGNED:
        onset, end = file.seconds(file.onset), file.seconds(file.end)
        period = _period(onset)
        tempo = f"{15 / period:,.0f}"
        said.append({"en": f"its beats found by ear ({tempo} quarters a minute)", "zh": f"节拍由听辨得出（每分钟 {tempo} 个四分音符）"})
        onset, end = onset / period, end / period
    onset, end = onset - onset[0], end - onset[0]
    late = _alignment(onset)[1]
    begin = np.rint(onset - late).astype(np.int64)
    finish = np.maximum(np.rint(end - late).astype(np.int64), begin + 1)
    return begin - begin.min(), finish - begin.min()


def _alignment(times: Times) -> tuple[float, float]:
    """How well times, from the first on, stand on a grid of whole numbers that may be shifted, 0 … 1, and by how much it is, −½ … ½."""
    begin = times - times[0]
    mean = np.exp(2j * np.pi * begin[begin < MOST]).mean()
    return abs(mean), float(np.angle(mean)) / (2 * np.pi)


def _period(onset: Times) -> float:
    """Seconds of a sixteenth: the median time from note to note is one, two, four or eight of them, as is nearest to the usual tempo."""
    usual = 15 / BEATS
    gaps = np.diff(onset[onset <= onset[0] + MOST * usual])
    gaps = gaps[gaps > 0.03]  # what begins together
    if not len(gaps):
        return GRID["chorale"] / 1000
    gap = float(np.median(gaps))
    first = min((gap / count for count in (1, 2, 4, 8)), key=lambda period: abs(np.log(period / usual)))
    periods = first * np.geomspace(0.9, 1.1, 201)
    return float(max(periods, key=lambda period: _alignment(onset / period)[0]))


def _alone(onset: Pitches, end: Pitches) -> bool:
    """Whether these notes are one voice: hardly any sounds into the next."""
    return bool((end[:-1] > onset[1:]).mean() <= ALONE) if len(onset) > 1 else True


def _sounding(onset: Pitches, end: Pitches, pitch: Pitches, steps: int) -> NDArray[np.bool_]:
    """(step, pitch) whether it sounds."""
    sounding = np.zeros((steps, 128), np.bool_)
    for begin, finish, one in zip(onset.tolist(), end.tolist(), pitch.tolist(), strict=True):
        sounding[begin:finish, one] = True
    return sounding


def _highest(sounding: NDArray[np.bool_], count: int) -> Pitches:
    """(step, count) the highest pitches that sound, from the highest down; −1 where there are fewer."""
    pitches = np.where(sounding, np.arange(128), -1)
    return np.sort(pitches, axis=1)[:, : -count - 1 : -1]


def _shifted(pitch: Pitches, low: int, high: int, said: Said) -> Pitches:
    """All notes moved by the octaves that bring most of them between two pitches; by none where that is as good."""
    octaves = min(range(-8, 9), key=lambda octave: (((pitch + 12 * octave < low) | (pitch + 12 * octave > high)).sum(), abs(octave)))
    if octaves:
        count, up = abs(octaves), octaves > 0
        said.append(
            {
                "en": f"moved {'up' if up else 'down'} by {count} octave{'' if count == 1 else 's'}",
                "zh": f"整体{'上移' if up else '下移'} {count} 个八度",
            }
        )
    return pitch + 12 * octaves


def _folded(pitch: Pitches, low: int, high: int, said: Said) -> Pitches:
    """Each note outside of two pitches moved between them by octaves."""
    up, down = -(-np.maximum(low - pitch, 0) // 12), -(-np.maximum(pitch - high, 0) // 12)
    count = int(((up > 0) | (down > 0)).sum())
    if count:
        said.append({"en": f"{_notes(count)} outside the range moved by octaves", "zh": f"{count:,} 个超出音域的音符按八度移入"})
    moved: Pitches = pitch + 12 * (up - down)
    return moved


# ---- what visitors are told ----------------------------------------------------------------------------------------------------------


def _notice(file: File, said: Said) -> dict[str, str] | None:
    count, long = len(file.onset), lasting(float(file.seconds(file.end).max() - file.seconds(file.onset[:1])[0]))
    what = {"en": f"Your MIDI file, {_notes(count)} in {long['en']}", "zh": f"您的 MIDI 文件（{count:,} 个音符，{long['zh']}）"}
    return noticed(what, said)


def _notes(count: int) -> str:
    return f"{count:,} note{'' if count == 1 else 's'}"


def _busy() -> InputError:
    return InputError(
        "busy",
        en="Many files are being read just now; yours can be sent again in a few seconds.",
        zh="此刻正在读许多文件；几秒后可再次发送。",
    )
