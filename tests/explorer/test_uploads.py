"""Pictures of visitors: read, converted and said so, or refused in one sentence, within a second and 150 MB."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from starlette.applications import Starlette

from explorer import uploads
from explorer.picture_files import FILE, LEAST, PNG, STRIPE
from explorer.uploads import picture, routes
from models.errors import InputError
from models.image_transformer.records import LARGE, SIDE, spelled
from models.pixels import read_picture

ROOT = Path(__file__).parents[2]
Levels = NDArray[np.uint8]


def file(image: Image.Image, kind: str = "PNG", **how: Any) -> bytes:
    """A picture as a file."""
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def boot(mode: str = "L", size: tuple[int, int] = (300, 200), ink: Any = 30, ground: Any = 250) -> Image.Image:
    """A dark thing, wider at its foot, on a bright ground; it stands off the middle."""
    image = Image.new("L" if isinstance(ground, int) else mode, size, ground)
    width, height = size
    draw = ImageDraw.Draw(image)
    draw.rectangle((width * 0.5, height * 0.2, width * 0.7, height * 0.8), fill=ink)
    draw.rectangle((width * 0.3, height * 0.6, width * 0.7, height * 0.8), fill=ink)
    return image.convert(mode)


def chunk(kind: bytes, body: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, *, depth: int = 8, colour: int = 0, rows: Iterable[bytes] = (), before: bytes = b"") -> bytes:
    """A PNG put together by hand, whatever its header says. before: chunks ahead of the picture."""
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(row) for row in rows) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return PNG + chunk(b"IHDR", header) + before + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def refusal(data: bytes, side: int = SIDE, channels: int = 1) -> InputError:
    """Why a file is not read."""
    with pytest.raises(InputError) as caught:
        picture(data, side, channels)
    return caught.value


def similar(one: Levels, other: Levels, least: float = 0.9) -> bool:
    """Whether two pictures show the same thing in the same place."""
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1]) > least


# ---- what comes out ------------------------------------------------------------------------------------------------------------------


def test_a_picture_of_the_right_size_keeps_every_pixel_and_nothing_is_said() -> None:
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[4:20, 6:22] = np.arange(256, dtype=np.uint8).reshape(16, 16)
    read = picture(file(Image.fromarray(levels)), SIDE, 1)
    assert np.array_equal(read.levels, levels) and read.notice is None


def test_a_dark_thing_on_white_becomes_a_bright_thing_on_black_that_fills_the_square() -> None:
    read = picture(file(boot("RGB", ink=(30, 30, 30), ground=(250, 250, 250))), SIDE, 1)
    assert read.levels.shape == (SIDE, SIDE) and read.levels.dtype == np.uint8
    assert read.levels[:10, :10].max() == 0, "the ground is black"
    rows, columns = np.flatnonzero(read.levels.max(1) > 128), np.flatnonzero(read.levels.max(0) > 128)
    assert max(np.ptp(rows), np.ptp(columns)) >= SIDE - 3, "the longer side fills the square"
    assert abs(rows[0] - (SIDE - 1 - rows[-1])) <= 1 and abs(columns[0] - (SIDE - 1 - columns[-1])) <= 1, "and it stands in the middle"
    assert read.levels.max() > 240 and read.levels[rows[-1] - 2, columns[0] + 2] > 200, "the foot is on the left"
    assert read.notice is not None
    for part in ("300 × 200 pixels", "made grey", "inverted", "cropped to what it shows", "made 28 × 28"):
        assert part in read.notice["en"]
    assert "反相" in read.notice["zh"]


def test_a_bright_thing_on_black_is_not_inverted() -> None:
    read = picture(file(boot(ink=250, ground=0)), SIDE, 1)
    assert read.notice is not None and "inverted" not in read.notice["en"]
    assert similar(read.levels, picture(file(boot(ink=5, ground=255)), SIDE, 1).levels, 0.99)


def test_specks_do_not_move_the_crop() -> None:
    clean = boot(size=(900, 600))
    dusty = clean.copy()
    dusty.putpixel((3, 4), 0)
    assert similar(picture(file(clean), SIDE, 1).levels, picture(file(dusty), SIDE, 1).levels, 0.99)


def test_where_the_ground_is_not_plain_the_middle_is_taken_and_said_so() -> None:
    noise = Image.fromarray(np.random.default_rng(3).integers(0, 256, (120, 200, 3)).astype(np.uint8))
    read = picture(file(noise), SIDE, 1)
    assert read.notice is not None and "the square in its middle taken" in read.notice["en"]


def test_colours_keep_their_channels_and_a_wide_picture_gives_its_middle() -> None:
    image = Image.new("RGB", (64, 32), (200, 10, 10))
    image.paste((10, 200, 10), (16, 0, 32, 32))
    image.paste((10, 10, 200), (32, 0, 48, 32))
    read = picture(file(image), LARGE, 3)
    assert read.levels.shape == (LARGE, LARGE, 3)
    assert read.levels[8, 2].argmax() == 1 and read.levels[8, 13].argmax() == 2
    assert read.notice is not None and "the square in its middle taken" in read.notice["en"]


def stored(kind: str) -> bytes:
    """The same thing as every kind of file."""
    plain = boot()
    if kind == "I;16":
        return file(Image.fromarray(np.asarray(plain).astype(np.uint16) * 257))
    if kind == "PA":
        return file(plain.convert("LA").convert("PA").convert("RGBA"))
    if kind in KINDS:
        return file(boot("RGB"), kind.partition(",")[0], **KINDS[kind])
    return file(plain.convert(kind, dither=Image.Dither.NONE))


KINDS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 90},
    "JPEG, growing": {"quality": 90, "progressive": True},
    "JPEG, coarse": {"quality": 60, "subsampling": 2},
    "WEBP": {"quality": 80},
    "WEBP, exact": {"lossless": True},
}


@pytest.mark.parametrize("kind", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16", *KINDS])
def test_every_kind_of_file_shows_the_same_thing(kind: str) -> None:
    data = stored(kind)
    read = picture(data, SIDE, 1)
    assert similar(read.levels, picture(file(boot()), SIDE, 1).levels, 0.97)
    assert picture(data, LARGE, 3).levels.shape == (LARGE, LARGE, 3)
    assert kind != "I;16" or (read.notice is not None and "16 bits cut to 8" in read.notice["en"])


def test_printing_colours_are_converted_and_said() -> None:
    cmyk = boot("RGB", ink=(20, 20, 160), ground=(255, 255, 255)).convert("CMYK")
    read = picture(file(cmyk, "JPEG", quality=95), LARGE, 3)
    assert read.notice is not None and "printing colours" in read.notice["en"]
    blue = picture(file(cmyk, "JPEG", quality=95), SIDE, 1)
    assert similar(blue.levels, picture(file(boot()), SIDE, 1).levels)


def test_what_is_transparent_lies_on_black() -> None:
    image = Image.new("RGBA", (100, 100), (255, 255, 255, 0))
    ImageDraw.Draw(image).rectangle((30, 20, 60, 80), fill=(240, 240, 240, 255))
    for kind in ("PNG", "WEBP"):
        read = picture(file(image, kind, **({"lossless": True} if kind == "WEBP" else {})), SIDE, 1)
        assert read.levels[14, 14] > 200 and read.levels[14, 1] < 30
        assert read.notice is not None and "its transparency laid on black" in read.notice["en"] and "inverted" not in read.notice["en"]


def test_dark_lines_on_nothing_are_seen_all_the_same() -> None:
    image = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((30, 20, 60, 80), fill=(0, 0, 0, 255))
    read = picture(file(image), SIDE, 1)
    assert read.levels[14, 14] > 200 and read.levels[14, 1] < 30
    assert read.notice is not None and "its transparency laid on white" in read.notice["en"]


def test_a_colour_that_png_calls_transparent_is_transparent() -> None:
    image = Image.new("P", (60, 60), 0)
    image.putpalette([255, 0, 0, 255, 255, 255])
    ImageDraw.Draw(image).rectangle((20, 20, 40, 40), fill=1)
    read = picture(file(image, transparency=0), LARGE, 3)
    assert read.levels[1, 1].max() < 20 and read.levels[8, 8].min() > 240


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_of_an_animation_the_first_frame_is_taken_and_said(kind: str) -> None:
    frames = [boot("RGB"), *(Image.new("RGB", (300, 200), (shade, 0, 0)) for shade in (90, 180))]
    how = {"lossless": True} if kind == "WEBP" else {}
    read = picture(file(frames[0], kind, save_all=True, append_images=frames[1:], duration=50, **how), SIDE, 1)
    assert read.notice is not None and "the first of its 3 frames" in read.notice["en"]
    assert similar(read.levels, picture(file(boot()), SIDE, 1).levels, 0.97)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("turn", range(1, 9))
def test_a_photo_is_set_upright(turn: int, kind: str) -> None:
    upright = boot("RGB", (240, 200))
    back = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # the turn that EXIF undoes, as Pillow numbers them
    stored = upright if turn == 1 else upright.transpose(Image.Transpose(back[turn]))
    exif = Image.Exif()
    exif[0x0112] = turn
    read = picture(file(stored, kind, exif=exif), SIDE, 1)
    assert similar(read.levels, picture(file(upright), SIDE, 1).levels, 0.97)
    assert read.notice is not None and ("turned upright" in read.notice["en"]) == (turn > 1)
    assert "240 × 200 pixels" in read.notice["en"]


def test_broken_exif_spoils_no_sound_picture() -> None:
    data = file(boot("RGB"), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff garbage")
    assert similar(picture(data, SIDE, 1).levels, picture(file(boot()), SIDE, 1).levels, 0.97)


def test_a_preview_inside_a_photo_is_not_taken_for_the_photo() -> None:
    preview = file(Image.new("RGB", (16, 16), (9, 9, 9)), "JPEG")
    data = file(boot("RGB"), "JPEG")
    segment = b"\xff\xe2" + struct.pack(">H", len(preview) + 2) + preview
    assert similar(picture(data[:2] + segment + data[2:], SIDE, 1).levels, picture(file(boot()), SIDE, 1).levels, 0.97)


# ---- what is refused -----------------------------------------------------------------------------------------------------------------


def test_a_text_file_named_png_is_said_to_be_a_text() -> None:
    assert str(refusal(b"Dear reader, this is no picture.\n" * 9)) == "Your file is text; PNG, JPEG and WebP pictures are read."


@pytest.mark.parametrize(
    ("begin", "what"),
    [
        *(
            (b"GIF89a" + bytes(99), "a GIF"),
            (b"BM" + bytes(99), "a BMP"),
            (b"%PDF-1.7\n", "a PDF"),
            (b"\0\0\0\x20ftypavif" + bytes(9), "an AVIF"),
        ),
        *((b"\0\0\0\x20ftypheic" + bytes(9), "a HEIC"), (b"II*\0" + bytes(99), "a TIFF"), (b"<svg xmlns='x'/>", "an SVG")),
        *((bytes(range(256)), "no picture that this lab knows"), (b"\0\0\0\x20ftypmp42" + bytes(9), "a video")),
    ],
)
def test_other_files_are_called_by_their_name(begin: bytes, what: str) -> None:
    error = refusal(begin)
    assert error.code == "file" and what in str(error) and error.text["zh"]


def test_an_empty_file_is_said_to_be_empty() -> None:
    assert "is empty" in str(refusal(b""))


def test_more_than_five_megabytes_are_refused_with_both_sizes() -> None:
    assert str(refusal(bytes(FILE + 1))) == "Your file has 5.1 MB; pictures of up to 5 MB are read."


@pytest.mark.parametrize(
    "size", [(1, 1), (10_000, 3), (3, 10_000), (LEAST - 1, 40), (20, 20 * STRIPE + 1), (5_000, 4_000), (0, 0), (2**31, 2**31)]
)
def test_stripes_specks_and_giants_are_refused_by_their_header_alone(size: tuple[int, int]) -> None:
    error = refusal(png(*size))
    assert error.code == "picture_size" and f"{size[0]:,} × {size[1]:,}" in str(error) and "16 million" in str(error)


def test_a_giant_is_refused_in_every_format() -> None:
    jpeg = bytearray(file(Image.new("L", (16, 16)), "JPEG"))
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 5 : at + 9] = struct.pack(">HH", 65_000, 65_000)
    assert refusal(bytes(jpeg)).code == "picture_size"
    for how in ({"lossless": True}, {"quality": 1}):
        data = file(Image.new("RGB", (4_000, 4_000)), "WEBP", method=0, **how)
        assert "8 million" in str(refusal(data))
    canvas = bytearray(file(Image.new("RGBA", (64, 64), (1, 2, 3, 4)), "WEBP", quality=5))
    assert canvas[12:16] == b"VP8X"
    canvas[24:30] = b"\xff\xff\xff\xff\xff\xff"
    assert "16,777,216 × 16,777,216" in str(refusal(bytes(canvas)))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("share", [0.001, 0.02, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_said_to_be(kind: str, share: float) -> None:
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (80, 80, 3)).astype(np.uint8))
    data = file(noise, kind)
    error = refusal(data[: max(12, int(len(data) * share))])
    assert error.code == "file_damaged" and "cut off or damaged" in str(error)


def test_a_picture_that_shows_nothing_is_refused() -> None:
    assert refusal(file(Image.new("L", (99, 99), 255))).code == "picture_empty"
    assert refusal(file(Image.new("RGBA", (99, 99), (1, 2, 3, 0)))).code == "picture_empty"


def test_a_second_header_does_not_smuggle_a_giant_in() -> None:
    sound = png(40, 40, rows=[bytes(20) + b"\xff" * 21] * 40)
    giant = chunk(b"IHDR", struct.pack(">IIBBBBB", 12_000, 12_000, 8, 6, 0, 0, 0))
    assert picture(sound, SIDE, 1).levels.max() > 200
    assert refusal(sound[:33] + giant + sound[33:]).code == "file_damaged"
    small = file(boot(), "JPEG")
    frame = small[small.index(b"\xff\xc0") :][:13]
    large = frame[:5] + struct.pack(">HH", 12_000, 12_000) + frame[9:]
    for data in (small.replace(frame, large + frame), small.replace(frame, large)[:-2] + frame + small[-2:]):
        assert refusal(data).code == "file_damaged"


def test_a_jpeg_that_draws_itself_a_thousand_times_is_refused() -> None:
    data = file(Image.fromarray(np.zeros((3000, 3000), np.uint8)), "JPEG", progressive=True)
    at = data.rindex(b"\xff\xda")
    again = data[at:-2]
    assert "times" in str(refusal(data[:-2] + again * 1000 + data[-2:]))


def test_a_file_of_countless_parts_is_refused() -> None:
    crowd = b"".join([chunk(b"tEXt", b"a\0b")] * 60_000)
    assert refusal(png(40, 40, before=crowd)).code == "file_damaged"
    data = file(Image.new("L", (40, 40)), "JPEG")
    assert refusal(data[:2] + b"\xff\xfe\0\2" * 60_000 + data[2:]).code == "file_damaged"


def test_texts_inside_a_picture_are_never_unpacked() -> None:
    bomb = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(50 << 20), 9))
    assert len(bomb) < 60_000
    rows = (b"\0" + bytes(20) + b"\xff" * 20 for _ in range(40))
    assert picture(png(40, 40, rows=rows, before=bomb), SIDE, 1).levels.max() > 200


def test_whatever_is_done_to_a_file_there_is_a_picture_or_a_sentence() -> None:
    chance = random.Random(7)
    exif = Image.Exif()
    exif[0x0112] = 6
    sound = [
        file(boot("RGB", (60, 50)), kind, **how)
        for kind, how in (("PNG", {}), ("JPEG", {"exif": exif}), ("WEBP", {}), ("JPEG", {"progressive": True}))
    ]
    sound.append(file(boot("RGB", (60, 50)), "PNG", save_all=True, append_images=[boot("RGB", (60, 50), ink=90)]))
    read = 0
    for _ in range(600):
        data = bytearray(chance.choice(sound))
        for _ in range(chance.choice((1, 2, 8))):
            at = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    del data[at : at + chance.randrange(1, 40)]
                case _:
                    data[at:at] = chance.randbytes(chance.randrange(1, 40))
            data = data or bytearray(b"\0")
        try:
            levels = picture(bytes(data), *chance.choice(((SIDE, 1), (LARGE, 3)))).levels
        except InputError as error:
            assert error.text["en"].endswith(".") and error.text["zh"].endswith("。")
        else:
            read += 1
            assert levels.dtype == np.uint8 and levels.shape in {(SIDE, SIDE), (LARGE, LARGE, 3)}
    assert 0 < read < 600


# ---- what it costs -------------------------------------------------------------------------------------------------------------------

MEASURE = """
import json, sys, time
from PIL import Image
from explorer.uploads import picture
from models.errors import InputError

def memory(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1]) / 1024

Image.init()
data = sys.stdin.buffer.read()
before, began = memory("VmRSS") - len(data) / 2**20, time.process_time()
try:
    said = picture(data, int(sys.argv[1]), int(sys.argv[2])).notice["en"]
except InputError as error:
    said = str(error)
print(json.dumps([memory("VmHWM") - before, time.process_time() - began, said]))
"""


def worst(name: str) -> bytes:
    """The dearest files that are still opened, or nearly."""
    if name == "png":  # 16 bits of four channels, each row the sum of its neighbours
        return png(
            4_000,
            4_000,
            depth=16,
            colour=6,
            rows=(b"\4" + bytes([1, 2, 128, row % 256, 128, 128, 192, 144]) * 4_000 for row in range(4_000)),
        )
    if name == "bomb":  # 900 million pixels in a few hundred kilobytes
        return png(30_000, 30_000, colour=2, rows=[bytes(90_001)] * 300)
    if name == "long":  # goes on behind its last row
        return png(2_000, 2_000, rows=[bytes(2_001)] * 300_000)
    noise = np.random.default_rng(0).integers(0, 256, (707, 707, 4)).astype(np.uint8)
    if name == "jpeg":
        return file(Image.fromarray(np.tile(noise[:400, :400, :3], (10, 10, 1))), "JPEG", progressive=True, quality=20)
    return file(Image.fromarray(noise.repeat(4, 0).repeat(4, 1)), "WEBP", lossless=True, method=0)


@pytest.mark.parametrize("name", ["png", "bomb", "long", "jpeg", "webp"])
def test_the_dearest_picture_costs_less_than_a_second_and_150_megabytes(name: str) -> None:
    data = worst(name)
    assert len(data) <= FILE
    for mode in ((SIDE, 1), (LARGE, 3)) if name == "png" else ((LARGE, 3),):
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *map(str, mode)],
            input=data,
            cwd=ROOT,
            capture_output=True,
            timeout=120,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        megabytes, seconds, said = json.loads(done.stdout)
        assert megabytes < 150, said
        assert seconds < 1, said  # of a processor, so that a busy machine does not count


# ---- the route -----------------------------------------------------------------------------------------------------------------------


def sent(*bodies: Any, path: str = "/picture/grey", headers: dict[str, str] | None = None) -> list[httpx.Response]:
    """What the route answers to bodies that arrive at the same time."""

    async def together() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=Starlette(routes=routes()))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await asyncio.gather(*(client.post(path, content=body, headers=headers) for body in bodies))

    return asyncio.run(together())


def test_the_route_answers_with_the_picture_as_a_request_carries_it() -> None:
    (answer,) = sent(file(boot()))
    told = answer.json()
    expected = picture(file(boot()), SIDE, 1)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    assert told["picture"] == spelled(expected.levels) and told["notice"] == expected.notice
    assert np.array_equal(read_picture(told["picture"], (SIDE, SIDE)), expected.levels)
    assert told["levels"]["shape"] == [SIDE, SIDE]
    (answer,) = sent(file(boot("RGB")), path="/picture/colour")
    assert read_picture(answer.json()["picture"], (LARGE, LARGE, 3)).shape == (LARGE, LARGE, 3)


def test_the_route_refuses_with_a_sentence_in_both_languages() -> None:
    for body, status in ((b"hello", 422), (bytes(FILE + 1), 413), (png(1, 1), 422)):
        (answer,) = sent(body)
        assert answer.status_code == status and set(answer.json()["error"]) == {"en", "zh"}


def test_what_says_that_it_is_too_large_is_not_read_and_what_hides_it_is_stopped() -> None:
    given = 0

    async def endless() -> Any:
        nonlocal given
        while given < 100:
            given += 1
            yield bytes(1 << 20)

    (answer,) = sent(endless(), headers={"content-length": str(99 << 20)})
    assert answer.status_code == 413 and "99.0 MB" in answer.json()["error"]["en"] and given <= 1
    (answer,) = sent(endless())
    assert answer.status_code == 413 and given <= 8


def test_at_most_two_pictures_are_read_at_a_time_and_a_crowd_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now, most = 0, 0
    known = uploads.picture

    def slow(data: bytes, side: int, channels: int) -> uploads.Picture:
        nonlocal now, most
        now += 1
        most = max(most, now)
        read = known(data, side, channels)
        now -= 1
        return read

    monkeypatch.setattr(uploads, "picture", slow)
    answers = sent(*[file(boot())] * 30)
    assert most <= 2
    assert sorted({answer.status_code for answer in answers}) == [200, 503]
    assert sum(answer.status_code == 200 for answer in answers) == uploads.AT_ONCE + uploads.WAITING
    assert all(re.search("a few seconds", answer.json()["error"]["en"]) for answer in answers if answer.status_code == 503)
