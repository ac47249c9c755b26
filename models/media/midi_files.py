"""Read MIDI files byte by byte within bounds: a small file cannot ask for much memory, and a
damaged file gives its sound parts.

The usual readers make an object of every message and an array of as many places as the file has
ticks, and raise any exception they like; here a file costs as much as it has bytes. Texts, system
messages and other events that no note needs are passed over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models.explaining.errors import InputError
from models.media.notices import Said

FILE = 256 << 10  # bytes of a file
NOTES = 20_000
LONGEST = 3_600  # seconds from the first note's beginning to the last one's end
HIGHEST = 127  # of a data byte
DRUMS = 9  # the channel of drums, from 0
PIANOS = 8  # programs 0 … 7 are keyboards that sound like pianos
TEMPO = 500_000  # microseconds of a quarter where the file gives none
HELD = 4  # quarters that a note without an end lasts at most
FRAMES = (24, 25, 29, 30)  # a second, where times are counted in frames of a film

# The first bytes of other files, for the sentence that refuses them.
OTHERS: tuple[tuple[bytes, str], ...] = (
    *(
        (b"ID3", "MP3"),
        (b"\xff\xfb", "MP3"),
        (b"\xff\xf3", "MP3"),
        (b"OggS", "Ogg"),
        (b"fLaC", "FLAC"),
        (b"PK\x03\x04", "ZIP"),
    ),
    *(
        (b"%PDF", "PDF"),
        (b"\x89PNG", "PNG"),
        (b"\xff\xd8\xff", "JPEG"),
        (b"GIF8", "GIF"),
        (b"\x1f\x8b", "gzip"),
    ),
)

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


@dataclass(frozen=True)
class File:
    """The notes of a MIDI file, without drums, in the order in which they begin.

    onset, end: (note,), in ticks.
    pitch, velocity: (note,) as MIDI has them.
    part: (note,) 16 × track + channel.
    pedal: (change, 3) tick, channel and value of the sustain pedal (controller 64).
    quarter: ticks of a quarter.
    beats: whether the file itself counts in beats; where it counts frames, a quarter is half a
        second.
    tempo: (change, 2) tick and microseconds of a quarter, the first at tick 0.
    programs: instruments that play a note, 0 … 127.
    drums: how many notes of drums were left out.
    endless: how many notes never ended.
    damaged: whether a part of the file could not be read.
    over: how many data bytes over 127 were passed over.
    lengths: how many tracks are longer or shorter than they state; they are read to their true end.
    """

    onset: Whole
    end: Whole
    pitch: Whole
    velocity: Whole
    part: Whole
    pedal: Whole
    quarter: float
    beats: bool
    tempo: Whole
    programs: frozenset[int]
    drums: int
    endless: int
    damaged: bool
    over: int
    lengths: int

    def seconds(self, ticks: Whole) -> Real:
        """Return the times of these ticks, in seconds."""
        begins, lasting = self.tempo[:, 0], self.tempo[:, 1] / 1e6 / self.quarter
        before = np.concatenate(([0.0], np.cumsum(np.diff(begins) * lasting[:-1])))
        place = np.searchsorted(begins, ticks, side="right") - 1
        when: Real = before[place] + (ticks - begins[place]) * lasting[place]
        return when

    def repairs(self) -> Said:
        """Return what was wrong with the file and is mended, in both languages."""
        said: Said = []
        if self.damaged:
            said.append({"en": "read as far as it is sound", "zh": "只读到完好之处"})
        if self.over:
            said.append(
                {
                    "en": f"{_count_in_words(self.over, 'damaged byte')} passed over",
                    "zh": f"略过 {self.over:,} 个损坏的字节",
                }
            )
        if self.lengths:
            wrong = f"the wrong length of {_count_in_words(self.lengths, 'track')} passed over"
            said.append({"en": wrong, "zh": f"略过 {self.lengths:,} 个音轨的错误长度"})
        if self.endless:
            given = f"an end given to {_count_in_words(self.endless, 'note')} that had none"
            said.append({"en": given, "zh": f"为 {self.endless:,} 个没有结束的音符补上结束"})
        return said


@dataclass(frozen=True)
class MidiBounds:
    """The most that is read of a file: its bytes, and its notes."""

    size: int = FILE
    notes: int = NOTES


VISITORS = MidiBounds()


def parse_midi(data: bytes, bounds: MidiBounds = VISITORS) -> File:
    """Read a file of MIDI's type 0 or 1. Raise InputError for any other file, for too many bytes or
    notes, for one that is too long, or for one without a note."""
    if len(data) > bounds.size:
        raise refuse_size(len(data), bounds.size)
    if not data:
        raise InputError(
            "file",
            en="The file is empty; a MIDI file (.mid) is read.",
            zh="文件是空的；可读 MIDI 文件（.mid）。",
        )
    if data[:4] == b"RIFF" and data[8:12] == b"RMID":
        data = data[max(0, data.find(b"MThd")) :]
    if data[:4] != b"MThd":
        raise _refuse_kind(data)
    kind, division = int.from_bytes(data[8:10], "big"), int.from_bytes(data[12:14], "big")
    size = int.from_bytes(data[4:8], "big")
    if len(data) < 14 or size < 6 or kind > 2:
        raise _refuse_damaged()
    if kind == 2:
        raise InputError(
            "midi_type",
            en=(
                "Your MIDI file is of type 2, patterns that belong to no one time; files of type 0"
                " or 1 are read."
            ),
            zh="您的 MIDI 文件是类型 2（各段没有共同的时间）；可读类型 0 和 1 的文件。",
        )
    quarter = _find_quarter(division)
    found = _Found()
    at, track = 8 + size, 0
    while 0 <= at <= len(data) - 8:
        name, end = data[at : at + 4], at + 8 + int.from_bytes(data[at + 4 : at + 8], "big")
        if name == b"MTrk":
            at = _read_track(found, data, at + 8, end, track)
            track += 1
        elif name.isalnum():
            at = end
        else:  # no part of a file begins here
            found.damaged, at = True, data.find(b"MTrk", at)
    found.damaged |= not track
    return found.whole(quarter, division < 0x8000, bounds)


def _read_track(found: _Found, data: bytes, begin: int, end: int, track: int) -> int:
    """Read a track that claims to reach to `end`. Return where the next part begins, -1 for
    nowhere.

    A track whose end is wrong is read to where the next one begins, which may be inside of it.
    """
    right = end == len(data) or _begins_part(data, end)
    following = -1 if right else data.find(b"MTrk", begin)
    reached, ended = found.read(
        data, begin, end if right else following if following >= 0 else len(data), track
    )
    inside = data.find(b"MTrk", reached, end if right else len(data))
    if ended and (inside >= 0 or (not right and reached != end)):
        found.lengths += 1
    elif not right and not ended:
        found.damaged = True
    return end if right and inside < 0 else inside


def _begins_part(data: bytes, at: int) -> bool:
    """Return whether a track, or another part that the file has room for, begins here."""
    name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
    return at + 8 <= len(data) and (
        name == b"MTrk" or (name.isalnum() and at + 8 + size <= len(data))
    )


def _find_quarter(division: int) -> float:
    """Return the ticks of a quarter; where times are frames of a film, those of half a second."""
    if division < 0x8000:
        if division:
            return division
        given = ("zero ticks per beat", "每拍 0 个时钟单位")
    else:
        frames, ticks = 256 - (division >> 8), division & 0xFF
        if frames in FRAMES and ticks:
            return (30_000 / 1001 if frames == 29 else frames) * ticks / 2
        given = (
            f"{ticks} ticks in a frame, {frames} frames a second",
            f"每帧 {ticks} 个时钟单位、每秒 {frames} 帧",
        )
    raise InputError(
        "midi_ticks",
        en=(
            f"Your MIDI file counts {given[0]}, so that nobody can tell when its notes are; at"
            " least one tick per beat is needed."
        ),
        zh=f"您的 MIDI 文件按{given[1]}计时，无法得知音符的时间；每拍至少需要一个时钟单位。",
    )


@dataclass
class _Reached:
    """The progress through a track. at: the byte behind its last sound event. ended: whether that
    event ends the track."""

    at: int
    tick: int = 0
    ended: bool = False


@dataclass
class _Found:
    """The content of the tracks, gathered one after another. rows: for each note onset, end (−1
    where it never came), pitch, velocity and part; last: the last tick of its track."""

    rows: list[list[int]] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    pedal: list[tuple[int, int, int]] = field(default_factory=list)
    tempo: list[tuple[int, int]] = field(default_factory=list)
    program: dict[int, int] = field(default_factory=dict)  # channel -> its program now
    programs: set[int] = field(default_factory=set)
    drums: int = 0
    damaged: bool = False
    over: int = 0
    lengths: int = 0

    def read(self, data: bytes, begin: int, end: int, track: int) -> tuple[int, bool]:
        """Read the sound events of a track. Return where they end, and whether the track says
        so."""
        first = len(self.rows)
        reached = _Reached(begin)
        try:
            self._events(memoryview(data)[:end], track, reached)
        except (IndexError, ValueError):
            self.damaged = True
        self.last += [reached.tick] * (len(self.rows) - first)
        return reached.at, reached.ended

    def _events(self, body: memoryview, track: int, reached: _Reached) -> None:
        """Read the events of a track. Raise IndexError where the track is cut off, ValueError for
        bytes that are no event."""
        at, status, now = reached.at, 0, 0
        # channel and pitch -> row, and whether that key was struck while it sounded
        sounding: dict[int, tuple[int, bool]] = {}
        while at < len(body):
            reached.at = at
            delta, at = _read_number(body, at)
            now += delta
            reached.tick = now
            byte = body[at]
            if byte >= 0xF0:
                at += 1
                kind = -1
                if byte == 0xFF:
                    kind, at = body[at], at + 1
                elif byte not in {0xF0, 0xF7}:
                    raise ValueError("a message that no file has")
                size, at = _read_number(body, at)
                if kind == 0x2F:
                    reached.at, reached.ended = min(at + size, len(body)), True
                    return
                if at + size > len(body):
                    raise IndexError
                if kind == 0x51 and size == 3 and any(body[at : at + 3]):
                    self.tempo.append((now, int.from_bytes(body[at : at + 3], "big")))
                at += size
                continue
            if byte & 0x80:
                status, at = byte, at + 1
            if not status:
                raise ValueError("an event of no kind")
            message, channel = status >> 4, status & 15
            two = message not in {0xC, 0xD}
            one, other = body[at], body[at + 1] if two else 0
            at += 1 + two
            if (one | other) > HIGHEST:
                self.over += (one > HIGHEST) + (other > HIGHEST)
                if one > HIGHEST:  # the key, program or controller is unknown
                    continue
                other = min(other, HIGHEST)
            key = channel << 7 | one
            if message == 0x9 and other:
                self._struck(sounding, key, [now, -1, one, other, 16 * track + channel])
            elif message in {0x8, 0x9}:
                self._release_key(sounding, key, now)
            elif message == 0xB and one == 64:
                self.pedal.append((now, channel, other))
            elif message == 0xC:
                self.program[channel] = one

        reached.at = at

    def _struck(self, sounding: dict[int, tuple[int, bool]], key: int, row: list[int]) -> None:
        channel = key >> 7
        if channel == DRUMS:
            self.drums += 1
            return
        self.programs.add(self.program.get(channel, 0))
        before = sounding.get(key)
        if before is not None:  # a key that is struck again ends its note
            self.rows[before[0]][1] = row[0]
        sounding[key] = (len(self.rows), before is not None)
        self.rows.append(row)

    def _release_key(self, sounding: dict[int, tuple[int, bool]], key: int, now: int) -> None:
        if key not in sounding:
            return
        row, again = sounding.pop(key)
        # belongs to the note before, which this one has ended
        if again and self.rows[row][0] == now:
            sounding[key] = (row, False)
        else:
            self.rows[row][1] = now

    def whole(self, quarter: float, beats: bool, bounds: MidiBounds) -> File:
        """Return the whole file, checked. Raise InputError for too many notes, for one that is too
        long, or for no note at all."""
        table = np.array(self.rows, np.int64).reshape(-1, 5)
        onset, end = table[:, 0], table[:, 1]
        endless = end < 0
        last = np.array(self.last, np.int64)
        most = onset + math.ceil(HELD * quarter)
        end = np.where(endless, np.minimum(np.where(last > onset, last, most), most), end)
        heard = end > onset
        if heard.sum() > bounds.notes:
            raise InputError(
                "midi_notes",
                en=f"Your MIDI file has {heard.sum():,} notes; up to {bounds.notes:,} are read.",
                zh=f"您的 MIDI 文件有 {heard.sum():,} 个音符；最多读 {bounds.notes:,} 个。",
            )
        if not heard.any():
            raise self._silent()
        order = np.lexsort((table[:, 2], onset))
        order = order[heard[order]]
        # The tempo does not change how long frames of a film last.
        tempo = sorted(self.tempo, key=lambda change: change[0]) if beats else []
        file = File(
            onset=onset[order],
            end=end[order],
            pitch=table[order, 2],
            velocity=table[order, 3],
            part=table[order, 4],
            pedal=np.array(sorted(self.pedal, key=lambda change: change[0]), np.int64).reshape(
                -1, 3
            ),
            quarter=quarter,
            beats=beats,
            tempo=np.array([(0, TEMPO), *tempo], np.int64),
            programs=frozenset(self.programs),
            drums=self.drums,
            endless=int((endless & heard).sum()),
            damaged=self.damaged,
            over=self.over,
            lengths=self.lengths,
        )
        seconds = file.seconds(file.end).max() - file.seconds(file.onset[:1])[0]
        if seconds > LONGEST:
            long, most_ = format_duration(seconds), format_duration(LONGEST)
            raise InputError(
                "midi_long",
                en=f"Your MIDI file lasts {long['en']}; up to {most_['en']} are read.",
                zh=f"您的 MIDI 文件长 {long['zh']}；最多读 {most_['zh']}。",
            )
        return file

    def _silent(self) -> InputError:
        if self.drums:
            return InputError(
                "midi_empty",
                en=(
                    f"Your MIDI file has only drums ({self.drums:,} notes); this lab needs notes"
                    " with a pitch."
                ),
                zh=f"您的 MIDI 文件只有鼓（{self.drums:,} 个音符）；本实验需要有音高的音符。",
            )
        if self.damaged:
            return _refuse_damaged()
        return InputError(
            "midi_empty",
            en="Your MIDI file has no notes; this lab needs at least one.",
            zh="您的 MIDI 文件中没有音符；本实验至少需要一个。",
        )


def _read_number(body: memoryview, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends. Raise ValueError for more than four
    bytes."""
    value = 0
    for place in range(at, at + 4):
        byte = body[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    raise ValueError("a number without an end")


def _count_in_words(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def format_duration(seconds: float) -> dict[str, str]:
    """Return a time in words, to follow “in”."""
    if seconds < 0.95:
        return {"en": "less than a second", "zh": "不到 1 秒"}
    if seconds < 60:
        return {"en": f"{seconds:.0f} s", "zh": f"{seconds:.0f} 秒"}
    if seconds <= LONGEST:
        minutes, rest = divmod(round(seconds), 60)
        return {
            "en": f"{minutes} min" + (f" {rest} s" if rest else ""),
            "zh": f"{minutes} 分" + (f" {rest} 秒" if rest else "钟"),
        }
    hours = math.ceil(seconds / 360) / 10  # rounded up, so that it never reads as the limit itself
    return {"en": f"{hours:,.1f} hours", "zh": f"{hours:,.1f} 小时"}


def refuse_size(size: int, most: int = FILE) -> InputError:
    """Return the refusal of a file of so many bytes."""
    given = math.ceil(size / 1024)
    return InputError(
        "file_size",
        en=f"Your file has {given:,} KB; MIDI files of up to {most >> 10:,} KB are read.",
        zh=f"您的文件有 {given:,} KB；最多读 {most >> 10:,} KB 的 MIDI 文件。",
    )


def _refuse_damaged() -> InputError:
    return InputError(
        "file_damaged",
        en=(
            "Your MIDI file is cut off or damaged, and no note of it can be read; a whole MIDI file"
            " (.mid) is needed."
        ),
        zh="您的 MIDI 文件不完整或已损坏，读不出音符；需要完整的 MIDI 文件（.mid）。",
    )


def _refuse_kind(data: bytes) -> InputError:
    name = next((name for begins, name in OTHERS if data.startswith(begins)), None)
    if data[:4] == b"RIFF":
        name = {b"WAVE": "WAV", b"WEBP": "WebP"}.get(data[8:12])
    if name is None and not any(byte < 9 or 13 < byte < 32 for byte in data[:512]):
        name = "text"
    known = {None: ("no MIDI file", "不是 MIDI 文件"), "text": ("text", "是文本")}
    article = "an" if name and name[0] in "MO" else "a"
    english, chinese = known.get(name) or (f"{article} {name} file", f"是 {name} 文件")
    return InputError(
        "file",
        en=f"Your file is {english}; MIDI files (.mid) are read.",
        zh=f"您的文件{chinese}；可读 MIDI 文件（.mid）。",
    )
