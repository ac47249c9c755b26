"""Page and command line read the same notes and levels, and refuse the same files for one
reason."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmarks.midi_files import LYRICS, SCALE, TEMPO, Event, file, mutate_file, track, tune
from explorer.media import music_files
from explorer.media.uploads import picture
from models.explaining.errors import InputError
from models.image_transformer.data import SIDE, colour
from models.music.performances import performances
from models.music.records import MAX_MOTIF, Request, read_motif
from models.training import user_data

FILES = 100  # of music, and as many pictures
SPLITS = {"midi": ("train", "valid", "test"), "images": ("train", "val", "test")}
# by any note
UNUSED = (
    LYRICS,
    b"\xff\x59\2\xee\1",
    b"\xf0\3\x7e\x7f\xf7",
    b"\xe0\0\x40",
    b"\xff\x54\5\0\0\0\0\0",
    b"\xb0\7\xff",
)


def piece(draw: Random) -> bytes:
    """A file of any sort: tempo on any track, pedals, drums, damage, wrong lengths, patterns."""
    if draw.random() < 0.2:
        return mutate_file(draw)
    kind = draw.choice((0, 1, 1, 1, 2))
    tracks = [part(draw) for _ in range(1 if kind == 0 else draw.randrange(1, 4))]
    if draw.random() < 0.3:
        wrong = bytearray(draw.choice(tracks))
        wrong[4:8] = max(
            0, int.from_bytes(wrong[4:8], "big") + draw.choice((-300, -6, -2, 3, 5, 40, 2_000))
        ).to_bytes(4, "big")
        tracks.insert(draw.randrange(len(tracks) + 1), bytes(wrong))
    return file(*tracks, kind=kind, division=draw.choice((96, 480, 0xE728)))


def part(draw: Random) -> bytes:
    """A track of some notes and what may stand between them."""
    events: list[Event] = []
    for _ in range(draw.randrange(80)):
        channel, pitch, ticks = draw.choice((0, 0, 3, 9)), draw.randrange(128), draw.randrange(400)
        kind = draw.randrange(8)
        if kind == 0:
            events.append(
                (ticks, b"\xff\x51\3" + draw.randrange(100_000, 2_000_000).to_bytes(3, "big"))
            )
        elif kind == 1:
            events.append((ticks, bytes((0xB0 | channel, 64, draw.choice((0, 127))))))
        elif kind == 2:
            events.append((ticks, draw.choice(UNUSED)))
        else:
            events += [
                (ticks, bytes((0x90 | channel, pitch, draw.randrange(1, 129)))),
                (draw.randrange(900), bytes((0x80 | channel, pitch, 0))),
            ]
    return track(*events)


MODES = (
    "1",
    "L",
    "LA",
    "P",
    "PA",
    "RGB",
    "RGBA",
    "I;16",
    "clear palette",
    "JPEG L",
    "JPEG RGB",
    "JPEG CMYK",
    "WEBP RGB",
    "WEBP RGBA",
)


def painting(draw: Random, mode: str) -> bytes:
    """A picture of some mode: smooth colours, an edge, and a clear part where the mode has any."""
    width, height = draw.choice(((SIDE, SIDE), (90, 64), (64, 90), (700, 300), (9, 40)))
    across, down = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    planes = [across, down, (across > draw.random()).astype(float), np.minimum(1, 2 * down)]
    draw.shuffle(planes)
    whole = Image.fromarray(np.rint(np.stack(planes, 2) * 255).astype(np.uint8), "RGBA")
    out, how = io.BytesIO(), dict[str, Any]()
    kind, _, mode = mode.rpartition(" ") if mode[:4] in {"JPEG", "WEBP"} else ("PNG", "", mode)
    if mode == "I;16":
        levels = np.rint(planes[0] * 65_535)
        image = Image.fromarray(levels.astype(np.uint16))
    elif mode == "clear palette":
        image, how = whole.convert("RGB").quantize(32), {"transparency": draw.randrange(32)}
    elif mode == "PA":
        image = whole.convert("LA").convert("PA").convert("RGBA")
    else:
        image = whole.convert("RGB" if mode == "CMYK" else "RGBA").convert(mode)
    if kind == "JPEG":
        exif = Image.Exif()
        exif[0x0112] = draw.randrange(1, 9)
        how = {"exif": exif, "progressive": draw.random() < 0.5}
    image.save(out, kind, **how)
    return out.getvalue()[: -200 if draw.random() < 0.05 else None]


def learned(kind: str, made: list[bytes], folder: Path, ending: str) -> set[str]:
    """Put the files where the command line reads them, into `folder`. Return their names."""
    (folder / "given").mkdir()
    for number, data in enumerate(made):
        (folder / "given" / f"{number:03d}{ending}").write_bytes(data)
    user_data.KINDS[kind]([folder / "given"], folder)
    return {f"{number:03d}" for number in range(len(made))}


def test_the_same_notes_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = Random(1)
    made = [piece(draw) for _ in range(FILES)]
    names = learned("midi", made, tmp_path, ".mid")
    skipped = dict(
        line[8:].split(".mid: ")
        for line in capsys.readouterr().err.splitlines()
        if line.startswith("skipped ")
    )
    given = {
        one.title: one.events() for split in SPLITS["midi"] for one in performances(tmp_path, split)
    }
    assert given.keys() | skipped.keys() == names and len(given) > 60 and len(skipped) > 10
    for number, data in enumerate(made):
        try:
            motif = music_files.read_motif(data, "piano").motif
        except InputError as error:
            assert skipped[f"{number:03d}"] == str(error)
        else:
            on_page = read_motif(Request("piano", "continue", motif))
            assert np.array_equal(given[f"{number:03d}"][: MAX_MOTIF["piano"]], on_page), number


def test_the_same_levels_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(user_data, "PICTURES", 60)
    draw = Random(2)
    made = [painting(draw, MODES[number % len(MODES)]) for number in range(FILES)]
    learned("images", made, tmp_path, ".png")
    skipped = dict(
        line.removeprefix("skipped ").split(".png: ")
        for line in capsys.readouterr().err.splitlines()
    )
    given = iter(np.concatenate([colour(tmp_path, split).levels for split in SPLITS["images"]]))
    for number, data in enumerate(made):
        try:
            levels = picture(data, SIDE, 3).levels
        except InputError as error:
            assert skipped[f"{number:03d}"] == str(error)
        else:
            assert np.array_equal(next(given), levels), number
    assert skipped and next(given, None) is None


def lying(data: bytes, by: int) -> bytes:
    """A track that says it is longer by so many bytes."""
    return data[:4] + max(0, int.from_bytes(data[4:8], "big") + by).to_bytes(4, "big") + data[8:]


TITLE, TUNE = track((0, TEMPO)), track(*tune(SCALE))
WRONG = "the wrong length of 1 track passed over"


@pytest.mark.parametrize(
    ("data", "end", "told"),
    [
        (file(track((0, LYRICS)), track((0, b"\xff\x51\3\x1e\x84\x80"), *tune(SCALE))), 16_000, ""),
        (file(track((0, TEMPO), (0, b"\xff\x59\2\xee\1")), TUNE), 4_000, ""),  # 18 flats
        (file(track((0, b"\xb0\7\xff"), *tune(SCALE))), 4_000, "1 damaged byte passed over"),
        (file(track(*tune(SCALE, velocity=200))), 4_000, "8 damaged bytes passed over"),
        # no key, no note
        (file(track((0, b"\x90\xbc\x50"), *tune(SCALE))), 4_000, "1 damaged byte passed over"),
        (file(lying(TITLE, 5), TUNE), 4_000, WRONG),
        (file(lying(TITLE, len(TUNE)), TUNE), 4_000, WRONG),  # the other track inside of it
        (file(TITLE, lying(TUNE, 9_999)), 4_000, WRONG),
        (file(TITLE, lying(TUNE, -9)), 4_000, WRONG),
        (file(lying(TUNE, -9_999), TITLE), 4_000, WRONG),
    ],
    ids=[
        "tempo on track 2",
        "18 flats",
        "controller",
        "velocity",
        "key",
        "5 too long",
        "a track inside",
        "far too long",
        "short",
        "none",
    ],
)
def test_damage_and_unused_events_spoil_nothing(
    data: bytes,
    end: int,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(user_data, "NOTES", 1)
    learned("midi", [data] * user_data.PIECES, tmp_path, ".mid")
    assert capsys.readouterr().err.splitlines() == [
        f"mended {n:03d}.mid: {told}" for n in range(user_data.PIECES if told else 0)
    ]
    (given,) = performances(tmp_path, "train")
    music = music_files.read_motif(data, "piano")
    assert given.pitch.tolist() == music.notes[:, 2].tolist() == list(SCALE)
    assert given.end[-1] == music.notes[-1, 1] * 10 == end
    assert told in music.notice["en"] if music.notice else not told


CLEAR = Image.new("LA", (200, 200), (0, 0))
CLEAR.paste((0, 255), (40, 90, 160, 110))  # a black line on nothing
RAMP = Image.fromarray(np.tile(np.arange(0, 65_536, 256, dtype=np.uint16), (256, 1)))


@pytest.mark.parametrize(("image", "mean", "middle"), [(RAMP, 127.5, 132), (CLEAR, 240, 0)])
def test_flat_pictures_are_flat_no_more(
    image: Image.Image, mean: float, middle: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_data, "PICTURES", 3)
    out = io.BytesIO()
    image.save(out, "PNG")
    learned("images", [out.getvalue()] * 3, tmp_path, ".png")
    (levels,) = colour(tmp_path, "train").levels
    assert (
        levels.mean() == pytest.approx(mean, abs=1)
        and levels[SIDE // 2, SIDE // 2].tolist() == [middle] * 3
    )
