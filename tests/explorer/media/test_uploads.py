"""Pictures of visitors: read, converted and said so, or refused in one sentence, within a second
and 150 MB."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from explorer.media import music_files, sound, uploads
from explorer.media.uploads import routes
from models.data.pixels import read_picture
from models.explaining.errors import InputError
from models.image_transformer.records import LARGE, SIDE, spelled
from models.media import midi_files
from models.media.picture_files import FILE, LEAST, PNG, STRIPE
from models.media.pictures import Picture, picture
from tests.explorer.asking import costs, posted


def file(image: Image.Image, kind: str = "PNG", **how: Any) -> bytes:
    """A picture as a file."""
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def boot(
    mode: str = "L", size: tuple[int, int] = (300, 200), ink: Any = 30, ground: Any = 250
) -> Image.Image:
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


def png(
    width: int,
    height: int,
    *,
    depth: int = 8,
    colour: int = 0,
    rows: Iterable[bytes] = (),
    before: bytes = b"",
) -> bytes:
    """A PNG put together by hand, whatever its header says. before: chunks ahead of the picture."""
    packer = zlib.compressobj(1)
    data = b"".join(packer.compress(row) for row in rows) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return PNG + chunk(b"IHDR", header) + before + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def refusal(data: bytes) -> InputError:
    """Why a file is not read."""
    with pytest.raises(InputError) as caught:
        picture(data, SIDE, 1)
    assert caught.value.text["zh"]
    return caught.value


def said(read: Picture) -> str:
    """What the visitor is told was done."""
    return read.notice["en"] if read.notice else ""


def shows(data: bytes, other: Image.Image | None = None, least: float = 0.97) -> Picture:
    """That it is read, and shows the same thing in the same place as the other one, if left out the
    boot."""
    read = picture(data, SIDE, 1)
    expected = picture(file(other or boot()), SIDE, 1)
    assert float(np.corrcoef(read.levels.ravel(), expected.levels.ravel())[0, 1]) > least
    return read


# ---- what comes out


def test_the_right_size_keeps_every_pixel() -> None:
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[4:20, 6:22] = np.arange(256, dtype=np.uint8).reshape(16, 16)
    read = picture(file(Image.fromarray(levels)), SIDE, 1)
    assert np.array_equal(read.levels, levels) and read.notice is None


def test_dark_on_white_is_inverted() -> None:
    read = picture(file(boot("RGB", ink=(30, 30, 30), ground=(250, 250, 250))), SIDE, 1)
    assert read.levels.shape == (SIDE, SIDE) and read.levels.dtype == np.uint8
    assert read.levels[:10, :10].max() == 0, "the ground is black"
    rows, columns = (
        np.flatnonzero(read.levels.max(1) > 128),
        np.flatnonzero(read.levels.max(0) > 128),
    )
    assert max(np.ptp(rows), np.ptp(columns)) >= SIDE - 3, "the longer side fills the square"
    assert (
        abs(rows[0] - (SIDE - 1 - rows[-1])) <= 1
        and abs(columns[0] - (SIDE - 1 - columns[-1])) <= 1
    ), "and it stands in the middle"
    assert read.levels.max() > 240 and read.levels[rows[-1] - 2, columns[0] + 2] > 200, (
        "the foot is on the left"
    )
    parts = (
        "300 × 200 pixels",
        "made grey",
        "inverted",
        "cropped to what it shows",
        "made 28 × 28",
    )
    assert (
        all(part in said(read) for part in parts)
        and read.notice is not None
        and "反相" in read.notice["zh"]
    )


def dusty() -> Image.Image:
    image = boot(size=(900, 600))
    image.putpixel((3, 4), 0)
    return image


def test_bright_on_black_is_not_inverted() -> None:
    assert "inverted" not in said(
        shows(file(boot(ink=250, ground=0)), boot(ink=5, ground=255), 0.99)
    )
    shows(file(boot(size=(900, 600))), dusty(), 0.99)


def test_wide_pictures_are_cropped_in_colour() -> None:
    noise = Image.fromarray(
        np.random.default_rng(3).integers(0, 256, (120, 200, 3)).astype(np.uint8)
    )
    image = Image.new("RGB", (64, 32), (200, 10, 10))
    image.paste((10, 200, 10), (16, 0, 32, 32))
    image.paste((10, 10, 200), (32, 0, 48, 32))
    wide = picture(file(image), LARGE, 3)
    assert wide.levels.shape == (LARGE, LARGE, 3) and (
        wide.levels[8, 2].argmax(),
        wide.levels[8, 13].argmax(),
    ) == (1, 2)
    assert all(
        "the square in its middle taken" in said(read)
        for read in (picture(file(noise), SIDE, 1), wide)
    )


KINDS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 90},
    "JPEG, growing": {"quality": 90, "progressive": True},
    "JPEG, coarse": {"quality": 60, "subsampling": 2},
    "WEBP": {"quality": 80},
    "WEBP, exact": {"lossless": True},
}


@pytest.mark.parametrize("kind", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16", *KINDS])
def test_every_kind_of_file_shows_the_same_thing(kind: str) -> None:
    plain = boot()
    if kind == "I;16":
        data = file(Image.fromarray(np.asarray(plain).astype(np.uint16) * 257))
    elif kind == "PA":
        data = file(plain.convert("LA").convert("PA").convert("RGBA"))
    elif kind in KINDS:
        data = file(boot("RGB"), kind.partition(",")[0], **KINDS[kind])
    else:
        data = file(plain.convert(kind, dither=Image.Dither.NONE))
    assert ("16 bits cut to 8" in said(shows(data))) == (kind == "I;16")
    assert picture(data, LARGE, 3).levels.shape == (LARGE, LARGE, 3)


def test_printing_colours_are_converted_and_said() -> None:
    cmyk = file(
        boot("RGB", ink=(20, 20, 160), ground=(255, 255, 255)).convert("CMYK"), "JPEG", quality=95
    )
    assert "printing colours" in said(picture(cmyk, LARGE, 3))
    shows(cmyk, least=0.9)


@pytest.mark.parametrize(
    ("kind", "how", "level", "ground"),
    [
        ("PNG", {}, 240, "black"),
        ("WEBP", {"lossless": True}, 240, "black"),
        ("PNG", {}, 0, "white"),
    ],
)
def test_transparency_lies_on_black(
    kind: str, how: dict[str, Any], level: int, ground: str
) -> None:
    image = Image.new("RGBA", (100, 100), (255 if level else 0,) * 3 + (0,))
    ImageDraw.Draw(image).rectangle((30, 20, 60, 80), fill=(level, level, level, 255))
    read = picture(file(image, kind, **how), SIDE, 1)
    assert read.levels[14, 14] > 200 and read.levels[14, 1] < 30
    assert f"its transparency laid on {ground}" in said(read) and (
        "inverted" not in said(read) or not level
    )


def test_a_colour_that_png_calls_transparent_is_transparent() -> None:
    image = Image.new("P", (60, 60), 0)
    image.putpalette([255, 0, 0, 255, 255, 255])
    ImageDraw.Draw(image).rectangle((20, 20, 40, 40), fill=1)
    read = picture(file(image, transparency=0), LARGE, 3)
    assert read.levels[1, 1].max() < 20 and read.levels[8, 8].min() > 240


@pytest.mark.parametrize(("kind", "how"), [("PNG", {}), ("WEBP", {"lossless": True})])
def test_of_an_animation_the_first_frame_is_taken_and_said(kind: str, how: dict[str, Any]) -> None:
    others = [Image.new("RGB", (300, 200), (shade, 0, 0)) for shade in (90, 180)]
    data = file(boot("RGB"), kind, save_all=True, append_images=others, duration=50, **how)
    assert "the first of its 3 frames" in said(shows(data))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("turn", range(1, 9))
def test_a_photo_is_set_upright(turn: int, kind: str) -> None:
    upright = boot("RGB", (240, 200))
    # the turn that EXIF undoes, as Pillow numbers them
    back = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}
    turned = upright if turn == 1 else upright.transpose(Image.Transpose(back[turn]))
    exif = Image.Exif()
    exif[0x0112] = turn
    told = said(shows(file(turned, kind, exif=exif), upright))
    assert ("turned upright" in told) == (turn > 1) and "240 × 200 pixels" in told


def test_odd_metadata_spoils_no_picture() -> None:
    shows(file(boot("RGB"), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff garbage"))
    preview, data = file(Image.new("RGB", (16, 16), (9, 9, 9)), "JPEG"), file(boot("RGB"), "JPEG")
    segment = b"\xff\xe2" + struct.pack(">H", len(preview) + 2) + preview
    shows(data[:2] + segment + data[2:])
    bomb = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(50 << 20), 9))
    rows = (b"\0" + bytes(20) + b"\xff" * 20 for _ in range(40))
    assert (
        len(bomb) < 60_000
        and picture(png(40, 40, rows=rows, before=bomb), SIDE, 1).levels.max() > 200
    ), "it is never unpacked"


# ---- what is refused


def header(data: bytes, mark: bytes, at: int, size: bytes) -> bytes:
    """A file whose header says another size."""
    begin = data.index(mark) + at
    return data[:begin] + size + data[begin + len(size) :]


def again() -> bytes:
    """A JPEG that draws itself a thousand times."""
    data = file(Image.fromarray(np.zeros((3000, 3000), np.uint8)), "JPEG", progressive=True)
    return data[:-2] + data[data.rindex(b"\xff\xda") : -2] * 1000 + data[-2:]


def twice() -> list[bytes]:
    """Files with a second header, which says that they are giants."""
    sound = png(40, 40, rows=[bytes(20) + b"\xff" * 21] * 40)
    assert picture(sound, SIDE, 1).levels.max() > 200
    giant = chunk(b"IHDR", struct.pack(">IIBBBBB", 12_000, 12_000, 8, 6, 0, 0, 0))
    small = file(boot(), "JPEG")
    frame = small[small.index(b"\xff\xc0") :][:13]
    large = frame[:5] + struct.pack(">HH", 12_000, 12_000) + frame[9:]
    jpegs = (
        small.replace(frame, large + frame),
        small.replace(frame, large)[:-2] + frame + small[-2:],
    )
    return [sound[:33] + giant + sound[33:], *jpegs]


def crowds() -> list[bytes]:
    """Files of countless parts."""
    data = file(Image.new("L", (40, 40)), "JPEG")
    return [
        png(40, 40, before=chunk(b"tEXt", b"a\0b") * 60_000),
        data[:2] + b"\xff\xfe\0\2" * 60_000 + data[2:],
    ]


def giants() -> list[bytes]:
    return [
        file(Image.new("RGB", (4_000, 4_000)), "WEBP", method=0, **how)
        for how in ({"lossless": True}, {"quality": 1})
    ]


CANVAS = file(Image.new("RGBA", (64, 64), (1, 2, 3, 4)), "WEBP", quality=5)
SIZES = [
    (1, 1),
    (10_000, 3),
    (3, 10_000),
    (LEAST - 1, 40),
    (20, 20 * STRIPE + 1),
    (5_000, 4_000),
    (0, 0),
    (2**31, 2**31),
]
NOISE = Image.fromarray(np.random.default_rng(1).integers(0, 256, (80, 80, 3)).astype(np.uint8))


@pytest.mark.parametrize(
    ("make", "code", "sentence"),
    [
        (
            b"Dear reader, this is no picture.\n" * 9,
            "file",
            "Your file is text; PNG, JPEG and WebP pictures are read.",
        ),
        *(
            (b"GIF89a" + bytes(99), "file", "a GIF"),
            (b"BM" + bytes(99), "file", "a BMP"),
            (b"%PDF-1.7\n", "file", "a PDF"),
        ),
        *(
            (b"\0\0\0\x20ftypavif" + bytes(9), "file", "an AVIF"),
            (b"\0\0\0\x20ftypheic" + bytes(9), "file", "a HEIC"),
        ),
        *(
            (b"II*\0" + bytes(99), "file", "a TIFF"),
            (b"<svg xmlns='x'/>", "file", "an SVG"),
            (b"", "file", "is empty"),
        ),
        *(
            (bytes(range(256)), "file", "no picture that this lab knows"),
            (b"\0\0\0\x20ftypmp42" + bytes(9), "file", "a video"),
        ),
        (bytes(FILE + 1), "file_size", "Your file has 5.1 MB; pictures of up to 5 MB are read."),
        # by their header alone
        *((png(*size), "picture_size", f"{size[0]:,} × {size[1]:,}") for size in SIZES),
        *((png(*size), "picture_size", "16 million") for size in SIZES),
        (
            header(
                file(boot(size=(16, 16)), "JPEG"),
                b"\xff\xc0",
                5,
                struct.pack(">HH", 65_000, 65_000),
            ),
            "picture_size",
            "65,000",
        ),
        (header(CANVAS, b"VP8X", 12, b"\xff" * 6), "picture_size", "16,777,216 × 16,777,216"),
        (giants, "picture_size", "8 million"),
        (file(Image.new("L", (99, 99), 255)), "picture_empty", ""),
        (file(Image.new("RGBA", (99, 99), (1, 2, 3, 0))), "picture_empty", ""),
        *(
            (data[: max(12, int(len(data) * share))], "file_damaged", "cut off or damaged")
            for data in (file(NOISE, kind) for kind in ("PNG", "JPEG", "WEBP"))
            for share in (0.001, 0.02, 0.5, 0.9, 0.999)
        ),
        (twice, "file_damaged", ""),
        (again, "", "times"),
        (crowds, "file_damaged", ""),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(
    make: bytes | Callable[[], bytes | list[bytes]], code: str, sentence: str
) -> None:
    made = make() if callable(make) else make
    for data in [made] if isinstance(made, bytes) else made:
        error = refusal(data)
        assert error.code == code or not code
        assert sentence == str(error) if sentence.endswith(".") else sentence in str(error)


def test_any_file_is_a_picture_or_a_sentence() -> None:
    chance, exif = random.Random(7), Image.Exif()
    exif[0x0112] = 6
    small: Any = boot("RGB", (60, 50))
    more = {"save_all": True, "append_images": [boot("RGB", (60, 50), ink=90)]}
    kinds = (
        ("PNG", {}),
        ("JPEG", {"exif": exif}),
        ("WEBP", {}),
        ("JPEG", {"progressive": True}),
        ("PNG", more),
    )
    sound, read = [file(small, kind, **how) for kind, how in kinds], 0
    for _ in range(600):
        data = bytearray(chance.choice(sound))
        for _ in range(chance.choice((1, 2, 8))):
            at, less, most = (
                chance.randrange(len(data)),
                chance.randrange(3),
                chance.randrange(1, 40),
            )
            data[at : at + (1, most, 0)[less]] = (chance.randbytes(1), b"", chance.randbytes(most))[
                less
            ]
            data = data or bytearray(b"\0")
        try:
            levels = picture(bytes(data), *chance.choice(((SIDE, 1), (LARGE, 3)))).levels
        except InputError as error:
            assert error.text["en"].endswith(".") and error.text["zh"].endswith("。")
        else:
            read += 1
            assert levels.dtype == np.uint8 and levels.shape in {(SIDE, SIDE), (LARGE, LARGE, 3)}
    assert 0 < read < 600


# ---- what it costs


@cache
def worst(name: str) -> bytes:
    """The dearest files that are still opened, or nearly."""
    noise = np.random.default_rng(0).integers(0, 256, (707, 707, 4)).astype(np.uint8)
    match name:
        case "png":  # 16 bits of four channels, each row the sum of its neighbours
            rows = (
                b"\4" + bytes([1, 2, 128, row % 256, 128, 128, 192, 144]) * 4_000
                for row in range(4_000)
            )
            return png(4_000, 4_000, depth=16, colour=6, rows=rows)
        case "bomb":  # 900 million pixels in a few hundred kilobytes
            return png(30_000, 30_000, colour=2, rows=[bytes(90_001)] * 300)
        case "long":  # goes on behind its last row
            return png(2_000, 2_000, rows=[bytes(2_001)] * 300_000)
        case "jpeg":
            return file(
                Image.fromarray(np.tile(noise[:400, :400, :3], (10, 10, 1))),
                "JPEG",
                progressive=True,
                quality=20,
            )
    return file(Image.fromarray(noise.repeat(4, 0).repeat(4, 1)), "WEBP", lossless=True, method=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["png", "bomb", "long", "jpeg", "webp"])
def test_the_dearest_picture_has_a_bound(
    name: str,
) -> None:
    data, dearest = worst(name), worst("png")
    assert len(data) <= FILE
    begin = "from PIL import Image; from models.media.pictures import picture as read; Image.init()"
    for mode in ((SIDE, 1), (LARGE, 3)) if name == "png" else ((LARGE, 3),):
        costs(
            begin,
            f"read(data, *{mode}).notice['en']",
            data,
            150,
            "Image.open(io.BytesIO(peer)).load()",
            dearest,
            2,
        )


# ---- the route


def test_the_route_answers_with_the_picture() -> None:
    (answer,), expected = (
        posted(routes(), "/picture/grey", file(boot())),
        picture(file(boot()), SIDE, 1),
    )
    told = answer.json()
    assert told["picture"] == spelled(expected.levels) and told["notice"] == expected.notice
    assert np.array_equal(read_picture(told["picture"], (SIDE, SIDE)), expected.levels) and told[
        "levels"
    ]["shape"] == [SIDE, SIDE]
    (answer,) = posted(routes(), "/picture/colour", file(boot("RGB")))
    assert read_picture(answer.json()["picture"], (LARGE, LARGE, 3)).shape == (LARGE, LARGE, 3)


PLAYED = sound.write_midi(sound.Score(np.array([[0, 50, 60, 20]], np.int32), "piano", 10, 50))
ROUTES = [(routes(), route.path, file(boot()), FILE) for route in routes()]
ROUTES += [
    (music_files.list_routes(), route.path, PLAYED, midi_files.FILE)
    for route in music_files.list_routes()
]


@pytest.mark.parametrize(
    ("served", "path", "sound_file", "largest"), ROUTES, ids=[path for _, path, *_ in ROUTES]
)
def test_a_route_keeps_nothing_and_refuses(
    served: Any, path: str, sound_file: bytes, largest: int
) -> None:
    for body, status in ((sound_file, 200), (b"hello", 422), (b"", 422), (bytes(largest + 1), 413)):
        (answer,) = posted(served, path, body)
        assert answer.status_code == status and answer.headers["cache-control"] == "no-store"
        assert status == 200 or set(answer.json()["error"]) == {"en", "zh"}


def test_too_large_a_body_is_not_read() -> None:
    given = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal given
        while given < 100:
            given += 1
            yield bytes(1 << 20)

    (answer,) = posted(
        routes(), "/picture/grey", endless(), headers={"content-length": str(99 << 20)}
    )
    assert answer.status_code == 413 and "99.0 MB" in answer.json()["error"]["en"] and given <= 1
    (answer,) = posted(routes(), "/picture/grey", endless())
    assert answer.status_code == 413 and given <= 8


def test_two_pictures_are_read_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, most, known = 0, 0, uploads.picture

    def slow(*given: Any) -> Picture:
        nonlocal now, most
        now += 1
        most = max(most, now)
        read = known(*given)
        now -= 1
        return read

    monkeypatch.setattr(uploads, "picture", slow)
    answers = posted(routes(), "/picture/grey", *[file(boot())] * 30, last="203.0.113.1")
    served = [answer for answer in answers if answer.status_code == 200]
    assert most <= 2 and len(served) == uploads.AT_ONCE + uploads.WAITING - uploads.FREE + 1 < len(
        answers
    )
    assert answers[-1] in served, "a visitor from elsewhere"
    for answer in (one for one in answers if one not in served):
        assert answer.status_code == 503 and "a few seconds" in answer.json()["error"]["en"]
