"""The cost of visitors' damaged MIDI files: ten thousand files, each of which must end in music or
in a sentence, and the most expensive files that can be sent."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from benchmarks.sizes import size
from explorer.media.music_files import read_motif
from models.explaining.errors import InputError
from models.media.midi_files import FILE, NOTES

if TYPE_CHECKING:
    import torch

    from benchmarks.measure import Report

COUNT = size(10_000, 40)
ROOM, MOST = size((FILE - 200, NOTES), (2_000, 100))  # bytes and notes of the most expensive files
SEED = 5

Event = tuple[int, bytes]  # ticks after the one before, and its bytes
TEMPO = bytes((0xFF, 0x51, 3, 0x07, 0xA1, 0x20))  # 120 quarters a minute
LYRICS = b"\xff\x05\x03la "


def number(value: int) -> bytes:
    """Return a number of variable length, as MIDI writes it."""
    out = bytes((value & 0x7F,))
    while value := value >> 7:
        out = bytes((value & 0x7F | 0x80,)) + out
    return out


def track(*events: Event, end: bool = True) -> bytes:
    """Return a track.

    end: whether it says that it ends.
    """
    body = b"".join(number(delta) + event for delta, event in events) + (
        b"\0\xff\x2f\0" if end else b""
    )
    return b"MTrk" + len(body).to_bytes(4, "big") + body


def file(*tracks: bytes, kind: int = 1, division: int = 480) -> bytes:
    """Return a MIDI file."""
    return (
        b"MThd\0\0\0\6"
        + b"".join(value.to_bytes(2, "big") for value in (kind, len(tracks), division))
        + b"".join(tracks)
    )


def tune(
    pitches: Sequence[int], ticks: int = 480, channel: int = 0, velocity: int = 80
) -> list[Event]:
    """Return the events of notes, one after another."""
    found: list[Event] = []
    for pitch in pitches:
        found += [
            (0, bytes((0x90 | channel, pitch, velocity))),
            (ticks, bytes((0x80 | channel, pitch, 64))),
        ]
    return found


SCALE = (60, 62, 64, 65, 67, 69, 71, 72)


@cache
def sound_files() -> tuple[bytes, ...]:
    """Return correct files of every sort."""
    voices = [
        track(*tune([pitch + step for step in (0, 2, 4, 5, 4, 2, 0)] * 3, channel=c))
        for c, pitch in enumerate((72, 67, 60, 48))
    ]
    running = track(
        (0, b"\x90\x3c\x50"),
        (240, b"\x3c\0"),
        (0, b"\x40\x50"),
        (240, b"\x40\0"),
        (0, b"\xc0\x05"),
        (0, b"\x90\x45\x40"),
    )
    pedal = track(
        (0, b"\xb0\x40\x7f"), *tune(SCALE, 100), (960, b"\xb0\x40\0"), *tune((40, 90), 300)
    )
    karaoke = track(
        (0, b"\xff\x01\x07@KMIDI "), *(event for one in tune(SCALE) for event in ((0, LYRICS), one))
    )
    return (
        file(track((0, TEMPO), *tune(SCALE)), kind=0),
        file(track((0, TEMPO), (0, b"\xff\x58\4\4\2\x18\x08"), (0, b"\xff\x59\2\0\0")), *voices),
        file(running, kind=0, division=96),
        file(pedal, kind=0),
        file(karaoke, kind=0),
        file(track((0, TEMPO)), track(*tune((36, 38, 42), 120, 9)), track(*tune(SCALE, 120))),
        # 25 frames a second of 40 ticks each
        file(track(*tune(SCALE, 500)), kind=0, division=0xE728),
        file(
            track((0, b"\xf0\x05\x7e\x7f\x09\x01\xf7"), (0, b"\xe0\0\x40"), *tune(SCALE, 30)),
            kind=0,
        ),
        b"RIFF\0\0\0\0RMIDdata\0\0\0\0" + file(track(*tune(SCALE)), kind=0),
    )


def mutate_file(draw: Random) -> bytes:
    """Return a damaged file: bytes changed, lost, inserted, moved, a number grown, two files in
    one."""
    data = bytearray(draw.choice(sound_files()))
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        at = draw.randrange(len(data)) if data else 0
        match draw.randrange(8):
            case 0:
                data[at : at + 1] = draw.randbytes(1)
            case 1:
                del data[at : at + draw.randrange(1, 30)]
            case 2:
                data[at:at] = draw.randbytes(draw.randrange(1, 30))
            case 3:
                data[at:at] = draw.choice(
                    (
                        b"\xff\xff\xff\x7f",
                        b"\xff\xff\xff\xff\xff",
                        b"MTrk",
                        b"\xff\x2f\0",
                        b"\xff\x51\3\0\0\0",
                    )
                )
            case 4:  # the header and the first events
                data[at % 40 : at % 40 + 1] = draw.choice((b"\0", b"\xff", b"\x7f", b"\x80"))
            case 5:
                data = data[: draw.randrange(len(data) + 1)]
            case 6:
                data += draw.choice(sound_files())[draw.choice((0, 14)) :]
            case _:
                other = draw.choice(sound_files())
                data[at : at + 20] = other[: draw.randrange(60)]
    return bytes(data)


def dearest() -> dict[str, bytes]:
    """Return files within the limits of an upload, made to cost as much as they can."""
    room = ROOM
    note = b"\0\x90\x3c\x50"
    most = [(tick % 2, bytes((0x90 | tick % 9, 21 + tick % 88, 80))) for tick in range(MOST)]
    return {
        "37 bytes": file(
            b"MTrk\0\0\0\x0f\0\x90\x3c\x50\xff\xff\xff\x7f\x80\x3c\0\0\xff\x2f\0", kind=0
        ),
        "late note": file(track(*[(2**28 - 1, LYRICS)] * 1_000, *tune(SCALE)), kind=0),
        "notes": file(track(*most), kind=0),
        "notes at once": file(
            track(*((0, bytes((0x90, n % 128, 99))) for n in range(MOST)), (480, b"\xb0\x40\0")),
            kind=0,
        ),
        "too many notes": file(
            b"MTrk" + room.to_bytes(4, "big") + b"\0\x90" + b"\x3c\x50\1" * (room // 3)
        ),
        "tracks": file(*[b"MTrk\0\0\0\4" + note] * (room // 12), kind=1),
        "tracks of nothing": file(*[b"MTrk\0\0\0\0"] * (room // 8)),
        "tempi": file(track(*[(1, TEMPO)] * (room // 7), *tune(SCALE)), kind=0),
        "pedal": file(
            track(
                (0, b"\xb0\x40\x7f"),
                *([(1, b"\xb0\x40\0"), (1, b"\xb0\x40\x7f")] * (room // 8)),
                *tune(SCALE),
            ),
            kind=0,
        ),
        "events of nothing": file(
            b"MTrk" + room.to_bytes(4, "big") + b"\0\xf0" + b"\0\0\xf0" * (room // 3)
        ),
        "an hour": file(track(*tune(SCALE * 100, 4_000)), kind=0),
        "slow": file(track((0, b"\xff\x51\3\xff\xff\xff"), *tune(SCALE, 12_000)), kind=0),
        "fast": file(track((0, b"\xff\x51\3\0\0\1"), *tune(SCALE * 200, 2**28 - 1)), kind=0),
        "fine": file(track(*tune(SCALE * 200, 2**26)), kind=0, division=0x7FFF),
        "parts": file(
            *(track(*tune([pitch] * 99, 1, channel=pitch % 9)) for pitch in range(20, 120))
        ),
    }


def try_file(data: bytes, style: str) -> tuple[str, float]:
    """Return "read" or "refused", and the seconds of processor time. Any other error is raised."""
    began = time.process_time()
    try:
        read_motif(data, style)
    except InputError as error:
        assert error.text["en"].endswith(".") and error.text["zh"].endswith("。"), error.text
        return "refused", time.process_time() - began
    return "read", time.process_time() - began


def measure(device: torch.device) -> Report:
    """Measure every file as a piano's and as a chorale. The device does not matter."""
    # imported here, because it imports torch, and others use this module to measure a file's memory
    from benchmarks.measure import Bound, Report

    draw = Random(SEED)
    files = {str(i): mutate_file(draw) for i in range(COUNT)} | dearest()
    counts = {"read": 0, "refused": 0, "uncaught": 0}
    worst, slowest = 0.0, ""
    for name, data in files.items():
        for style in ("piano", "chorale"):
            try:
                ended, seconds = try_file(data, style)
            except Exception as error:
                print(f"file {name} as {style}: {error!r}", file=sys.stderr)
                ended, seconds = "uncaught", 0.0
            counts[ended] += 1
            worst, slowest = max((worst, slowest), (seconds, f"{name} as {style}"))
    figures = {**{name: float(count) for name, count in counts.items()}, "worst_s": worst}
    return Report(figures, {"uncaught": Bound(0), "worst_s": Bound(3)}, {"slowest": slowest})
