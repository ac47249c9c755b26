"""Turn a picture file into the few levels that a model works on, and one sentence about how it was
changed.

Nothing in a file is trusted. Its header is read before any decoder sees it, so that a small file
cannot ask for much memory; decoders get the picture alone, without the texts, previews and further
frames that files carry; nothing is written to disk.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from models.explaining.errors import InputError
from models.media import picture_files
from models.media.notices import Said, describe_changes
from models.media.picture_files import VISITORS, PictureBounds

WORKING = 512  # pixels: the side to which a picture is averaged first
BANDS = 64  # rows of the working picture that are averaged at once
SEEN = 28  # levels by which a thing differs from its ground
PLAIN = 40  # levels that a plain ground may vary by

Levels = NDArray[np.uint8]
Array = NDArray[np.float32]

ORIENTATION = 0x0112  # tag of EXIF: how the camera was held


@dataclass(frozen=True)
class Picture:
    """A visitor's picture as a model gets it.

    levels: (row, column) or (row, column, channel).
    notice: one sentence about how the picture was changed; None where it was not.
    """

    levels: Levels
    notice: dict[str, str] | None


def picture(data: bytes, side: int, channels: int, bounds: PictureBounds = VISITORS) -> Picture:
    """Return the levels of a file, side × side, of one channel (grey) or three.

    Grey pictures become like those that grey models have learned from: a bright thing on black that
    fills the square. A picture that has exactly the right size keeps its pixels. Transparency lies
    on black, a turned photo is set upright, an animation gives its first frame.

    Raise InputError for a file that is no PNG, JPEG or WebP, too large in bytes or pixels, a
    stripe, tiny, cut off, damaged, or (grey) empty.
    """
    header = picture_files.read_header(data, bounds)
    picture_files.check_header(header, bounds)
    said: Said = []
    if header.frames > 1:
        said.append(
            {
                "en": f"the first of its {header.frames:,} frames",
                "zh": f"取 {header.frames:,} 帧中的第一帧",
            }
        )
    try:
        with Image.open(io.BytesIO(header.clean), formats=(header.name,)) as image:
            seen = _decode_pixels(image, channels, _orientation(header.exif))
    # Decoders raise any exception over a broken file: OSError, SyntaxError, ValueError,
    # EOFError, struct.error …
    except Exception:
        raise picture_files.refuse_damaged(header.name) from None
    said += seen.said
    levels = _grey(seen, side, said) if channels == 1 else _colour(seen, side, said)
    return Picture(levels, _notice(seen, side, said))


def as_png(data: bytes, bounds: PictureBounds) -> bytes:
    """Return a GIF or BMP as a PNG of its first frame, any other file as it is. Raise InputError
    where it is damaged or too large."""
    name = {b"GI": "GIF", b"BM": "BMP"}.get(data[:2])
    if name is None:
        return data
    out = io.BytesIO()
    try:
        with Image.open(io.BytesIO(data), formats=(name,)) as image:
            picture_files.check_header(picture_files.Header("PNG", *image.size, b""), bounds)
            image.save(out, "PNG", compress_level=1)
    except InputError:
        raise
    except Exception:  # decoders raise any exception over a broken file
        raise picture_files.refuse_damaged(name) from None
    return out.getvalue()


@dataclass(frozen=True)
class _Seen:
    """A decoded picture, averaged to at most WORKING pixels a side unless it was smaller.

    values: (row, column, channel), 0 … 255.
    width, height: of the upright picture, pixels.
    said: how it was changed, in both languages.
    coloured: whether it had more than one channel.
    """

    values: Array
    width: int
    height: int
    said: tuple[dict[str, str], ...]
    coloured: bool


def _decode_pixels(image: Image.Image, channels: int, turn: int) -> _Seen:
    said: Said = []
    width, height = image.size
    coloured = image.mode not in {"1", "L", "LA", "La"} and not image.mode.startswith("I")
    if image.format == "JPEG":
        # libjpeg averages while it decodes
        image.draft("L" if channels == 1 and image.mode == "RGB" else None, (WORKING, WORKING))
    image.load()
    if image.mode == "CMYK":
        said.append({"en": "its printing colours read as light", "zh": "印刷色转为屏幕色"})
    if image.mode.startswith("I"):
        said.append({"en": "its 16 bits cut to 8", "zh": "16 位减为 8 位"})
    clear = image.mode in {"LA", "PA", "RGBA", "La", "RGBa"} or "transparency" in image.info
    values, opacity = _average_squares(image, "L" if channels == 1 else "RGB", clear)
    if clear and opacity.min() < 1:
        ground = ("black", "黑")
        if np.ptp(values * opacity) < SEEN:  # dark lines on transparency vanish on black
            values = values * opacity + 255 * (1 - opacity)
            ground = ("white", "白")
        else:
            values = values * opacity
        said.append({"en": f"its transparency laid on {ground[0]}", "zh": f"透明处垫{ground[1]}色"})
    if turn > 1:
        said.append({"en": "turned upright", "zh": "转正"})
        values = _upright(values, turn)
        width, height = (height, width) if turn >= 5 else (width, height)
    return _Seen(values, width, height, tuple(said), coloured)


def _average_squares(image: Image.Image, mode: str, clear: bool) -> tuple[Array, Array]:
    """Return the picture averaged over whole squares and its opacity, 0 … 1. It is averaged band by
    band so that no second copy of it is made.

    mode: "L" or "RGB".
    clear: whether some of it may be transparent. Both results are (row, column, channel), the
        second with one channel.
    """
    width, height = image.size
    factor = max(1, math.ceil(max(width, height) / WORKING))
    values, opacity = [], []
    for top in range(0, height, factor * BANDS):
        band = image.crop((0, top, width, min(height, top + factor * BANDS)))
        if band.mode.startswith("I"):
            band = Image.fromarray((np.asarray(band).clip(0, 65_535) >> 8).astype(np.uint8))
        band = band.convert("RGBA" if clear else mode)
        if factor > 1:
            band = band.reduce(factor)  # transparent pixels have no weight in the average
        if clear:
            opacity.append(np.asarray(band.getchannel("A"), np.float32) / 255)
        values.append(np.asarray(band.convert("RGB").convert(mode) if clear else band, np.float32))
    whole: Array = np.concatenate(values)
    whole = whole.reshape(*whole.shape[:2], -1)
    covered = np.concatenate(opacity) if clear else np.ones(whole.shape[:2])
    return whole, covered[:, :, None].astype(np.float32)


def _orientation(data: bytes) -> int:
    """Return how the camera was held, 1 … 8, by EXIF data; 1 where they are silent or cannot be
    read, which is common in files whose picture is sound."""
    exif = Image.Exif()
    try:
        exif.load(data)
        turn = exif.get(ORIENTATION, 1)
    except Exception:
        return 1
    return turn if isinstance(turn, int) and 1 <= turn <= 8 else 1


def _upright(values: Array, turn: int) -> Array:
    """Return the picture set upright. turn: EXIF's orientation; 1 is upright, 2 mirrored, 3 upside
    down, 5 to 8 lie on their side."""
    if turn >= 5:
        values = values.swapaxes(0, 1)
    rows, columns = {2: (1, -1), 3: (-1, -1), 4: (-1, 1), 6: (1, -1), 7: (-1, -1), 8: (-1, 1)}.get(
        turn, (1, 1)
    )
    return values[::rows, ::columns]


def _grey(seen: _Seen, side: int, said: Said) -> Levels:
    values = seen.values[:, :, 0]
    if np.ptp(values) < SEEN:
        raise _empty()
    if seen.coloured:
        said.append({"en": "made grey", "zh": "转为灰度"})
    edge = np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])
    if np.median(edge) > 127:
        said.append(
            {
                "en": "inverted (these models know bright things on black)",
                "zh": "反相（这些模型只见过黑底上的亮物）",
            }
        )
        values, edge = 255 - values, 255 - edge
    if values.shape == (side, side):
        return _levels(values)
    low, high = np.percentile(edge, (5, 95))
    if high - low <= PLAIN:
        values, done = _stretch_levels(values, float(high))
        if done:
            said.append({"en": "its ground made black", "zh": "底色变黑"})
        values = _square(values, *_content(values))
        said.append({"en": "cropped to what it shows", "zh": "裁到内容"})
    else:
        said.append(
            {
                "en": "the square in its middle taken, its ground not being plain",
                "zh": "底色不均匀，取中间的正方形",
            }
        )
        values = _middle(values)
    return _levels(_resize_square(values[:, :, None], side)[:, :, 0])


def _stretch_levels(values: Array, ground: float) -> tuple[Array, bool]:
    """Return the levels stretched so that the ground is 0 and the brightest stay 255, and whether
    that made a visible difference."""
    peak = float(np.percentile(values, 99.8))
    if ground < 2 and peak > 250:
        return values, False
    low = ground + 4 if ground >= 2 else 0.0
    return np.clip((values - low) * (255 / max(peak - low, SEEN)), 0, 255).astype(np.float32), True


def _content(values: Array) -> tuple[int, int, int, int]:
    """Return top, bottom, left and right (exclusive ends) of what stands out from black; a
    thousandth on each side may be specks."""
    bright = values > SEEN
    if not bright.any():
        raise _empty()
    rows, columns = (_span(bright.sum(axis)) for axis in (1, 0))
    return *rows, *columns


def _span(counts: NDArray[np.int64]) -> tuple[int, int]:
    reached = np.cumsum(counts)
    first, last = np.searchsorted(reached, (reached[-1] * 0.001, reached[-1] * 0.999), side="right")
    return int(first), min(int(last), len(counts) - 1) + 1


def _square(values: Array, top: int, bottom: int, left: int, right: int) -> Array:
    """Return the content in the middle of a black square. Its longer side fills the square but for
    a narrow margin, as in the training pictures."""
    size = max(bottom - top, right - left)
    size += 2 * math.ceil(size / 56)
    square = np.zeros((size, size), np.float32)
    row, column = (size - (bottom - top)) // 2, (size - (right - left)) // 2
    square[row : row + bottom - top, column : column + right - left] = values[
        top:bottom, left:right
    ]
    return square


def _middle(values: Array) -> Array:
    size = min(values.shape[:2])
    top, left = ((length - size) // 2 for length in values.shape[:2])
    return values[top : top + size, left : left + size]


def _colour(seen: _Seen, side: int, said: Said) -> Levels:
    values = np.broadcast_to(seen.values, (*seen.values.shape[:2], 3))
    if values.shape[0] != values.shape[1]:
        said.append({"en": "the square in its middle taken", "zh": "取中间的正方形"})
    square = _middle(values)
    return _levels(square if len(square) == side else _resize_square(square, side))


def _resize_square(values: Array, side: int) -> Array:
    """Return a square (row, column, channel) averaged down, or enlarged, to side × side."""
    planes = [Image.fromarray(np.ascontiguousarray(plane)) for plane in np.moveaxis(values, 2, 0)]
    return np.stack(
        [
            np.asarray(plane.resize((side, side), Image.Resampling.HAMMING), np.float32)
            for plane in planes
        ],
        axis=2,
    )


def _levels(values: Array) -> Levels:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def _notice(seen: _Seen, side: int, said: Said) -> dict[str, str] | None:
    if (seen.width, seen.height) != (side, side):
        said = [*said, {"en": f"made {side} × {side}", "zh": f"缩放为 {side} × {side}"}]
    size = f"{seen.width:,} × {seen.height:,}"
    return describe_changes(
        {"en": f"Your picture, {size} pixels", "zh": f"您的图片（{size} 像素）"}, said
    )


def _empty() -> InputError:
    return InputError(
        "picture_empty",
        en="Your picture shows one even ground; this lab needs something brighter or darker on it.",
        zh="您的图片只有均匀的底色；本实验需要上面有较亮或较暗的东西。",
    )
