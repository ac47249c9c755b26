"""A visitor's picture, read with care: a file of up to 5 MB becomes the few levels that a model works on, or one sentence.

Nothing of a file is believed. Its header is read here, before any decoder sees it, so that a small file cannot ask for much memory;
decoders get the picture alone, without the texts, previews and further frames that files carry; nothing is written to disk.
"""

from __future__ import annotations

import asyncio
import base64
import io
import math
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer import picture_files
from explorer.hosts import network
from explorer.packing import pack
from explorer.picture_files import FILE
from models.errors import InputError

WORKING = 512  # pixels: what a picture is averaged to before it is looked at
BANDS = 64  # rows of the working picture that are averaged at once
SEEN = 28  # levels that tell a thing from its ground
PLAIN = 40  # levels that a plain ground may vary by
AT_ONCE, WAITING = 2, 16  # files of a kind read at the same time, and those that may wait for it
FREE = 4  # of these places, for visitors of whose network nothing is read or waits
MODES = {"grey": (28, 1), "colour": (16, 3)}  # name in the address -> side, channels

Said = list[dict[str, str]]  # what was done to a file, in both languages
Levels = NDArray[np.uint8]
Array = NDArray[np.float32]

ORIENTATION = 0x0112  # tag of EXIF: how the camera was held


@dataclass(frozen=True)
class Picture:
    """What a model gets of a visitor's picture.

    levels: (row, column) or (row, column, channel). notice: one sentence that says what was done to the picture; None where nothing was.
    """

    levels: Levels
    notice: dict[str, str] | None


def picture(data: bytes, side: int, channels: int) -> Picture:
    """The levels of a file, side × side, of one channel (grey) or three.

    Grey pictures become what grey models have learned from: a bright thing on black that fills the square. A picture that has
    exactly the right size keeps its pixels. Transparency lies on black, a turned photo is set upright, an animation gives its first frame.

    Raises InputError for what is no PNG, JPEG or WebP, too large in bytes or pixels, a stripe, tiny, cut off, damaged, or (grey) empty.
    """
    header = picture_files.header(data)
    picture_files.check(header)
    said: Said = []
    if header.frames > 1:
        said.append({"en": f"the first of its {header.frames:,} frames", "zh": f"取 {header.frames:,} 帧中的第一帧"})
    try:
        with Image.open(io.BytesIO(header.clean), formats=(header.name,)) as image:
            seen = _decoded(image, channels, _orientation(header.exif))
    except Exception:  # decoders raise whatever they like over a broken file: OSError, SyntaxError, ValueError, EOFError, struct.error …
        raise picture_files.damaged(header.name) from None
    said += seen.said
    levels = _grey(seen, side, said) if channels == 1 else _colour(seen, side, said)
    return Picture(levels, _notice(seen, side, said))


def routes() -> list[Route]:
    """``POST /picture/grey`` and ``POST /picture/colour``: the file as the body, {picture, levels, notice} or {error} as the answer.

    picture: the levels as a request carries them, base64url in raster order. error: {en, zh}, with status 413, 422 or 503.
    """
    files = FileReader(FILE, picture_files.heavy, _busy())

    def reader(side: int, channels: int) -> Callable[[Request], Awaitable[Response]]:
        return files.reader(lambda data: _told(picture(data, side, channels)))

    return [Route(f"/picture/{mode}", reader(side, channels), methods=["POST"]) for mode, (side, channels) in MODES.items()]


def _told(read: Picture) -> dict[str, object]:
    spelled = base64.urlsafe_b64encode(read.levels.tobytes()).decode().rstrip("=")
    return {"picture": spelled, "levels": pack(read.levels), "notice": read.notice}


class FileReader:
    """Reads a few files at a time, each in a thread of its own, and sends away those that would wait too long.

    most: bytes of a file. heavy: the refusal of one of so many bytes, with the code "file_size". busy: what those hear who are sent away.
    """

    def __init__(self, most: int, heavy: Callable[[int], InputError], busy: InputError) -> None:
        self.most = most
        self.heavy = heavy
        self.busy = busy
        self.reading = asyncio.Semaphore(AT_ONCE)
        self.inside = 0
        self._of: Counter[str] = Counter()  # of them, from each network, which may be that of a whole lecture hall

    def reader(self, read: Callable[[bytes], dict[str, object]]) -> Callable[[Request], Awaitable[Response]]:
        """The handler that answers with what `read` makes of the file, as JSON; its InputError becomes {error: {en, zh}}."""

        async def answer(request: Request) -> Response:
            who = network(request.client.host if request.client else "")
            if self.inside >= AT_ONCE + WAITING - (FREE if self._of[who] else 0):
                return _refused(503, self.busy)
            self.inside += 1
            self._of[who] += 1
            try:
                data = await self._body(request)
                async with self.reading:
                    told = await asyncio.to_thread(read, data)
            except InputError as error:
                return _refused(413 if error.code == "file_size" else 422, error)
            finally:
                self.inside -= 1
                self._of[who] -= 1
                self._of += Counter()  # without those of which none is left
            return JSONResponse(told, headers={"cache-control": "no-store"})

        return answer

    async def _body(self, request: Request) -> bytes:
        length = request.headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self.most:
            raise self.heavy(int(length))
        parts, size = [], 0
        async for part in request.stream():
            parts.append(part)
            size += len(part)
            if size > self.most:
                raise self.heavy(size)
        return b"".join(parts)


def _refused(status: int, error: InputError) -> Response:
    return JSONResponse({"error": error.text}, status, headers={"cache-control": "no-store"})


# ---- from a file to levels -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """A decoded picture, averaged to at most WORKING pixels a side unless it was smaller.

    values: (row, column, channel), 0 … 255. width, height: as it stands upright, pixels. said: what was done to it, in both languages.
    coloured: it had more than one channel.
    """

    values: Array
    width: int
    height: int
    said: tuple[dict[str, str], ...]
    coloured: bool


def _decoded(image: Image.Image, channels: int, turn: int) -> _Seen:
    said: Said = []
    width, height = image.size
    coloured = image.mode not in {"1", "L", "LA", "La"} and not image.mode.startswith("I")
    if image.format == "JPEG":
        image.draft("L" if channels == 1 and image.mode == "RGB" else None, (WORKING, WORKING))  # libjpeg averages while it decodes
    image.load()
    if image.mode == "CMYK":
        said.append({"en": "its printing colours read as light", "zh": "印刷色转为屏幕色"})
    if image.mode.startswith("I"):
        said.append({"en": "its 16 bits cut to 8", "zh": "16 位减为 8 位"})
    clear = image.mode in {"LA", "PA", "RGBA", "La", "RGBa"} or "transparency" in image.info
    values, opacity = _averaged(image, "L" if channels == 1 else "RGB", clear)
    if clear and opacity.min() < 1:
        ground = ("black", "黑")
        if np.ptp(values * opacity) < SEEN:  # dark lines on nothing: on black nobody sees them
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


def _averaged(image: Image.Image, mode: str, clear: bool) -> tuple[Array, Array]:
    """The picture averaged over whole squares, band by band so that no second copy of it is made, and its opacity, 0 … 1.

    mode: "L" or "RGB". clear: some of it may be transparent. Both results are (row, column, channel), the second with one channel.
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
            band = band.reduce(factor)  # what is transparent counts for nothing in the average
        if clear:
            opacity.append(np.asarray(band.getchannel("A"), np.float32) / 255)
        values.append(np.asarray(band.convert("RGB").convert(mode) if clear else band, np.float32))
    whole: Array = np.concatenate(values)
    whole = whole.reshape(*whole.shape[:2], -1)
    covered = np.concatenate(opacity) if clear else np.ones(whole.shape[:2])
    return whole, covered[:, :, None].astype(np.float32)


def _orientation(data: bytes) -> int:
    """How the camera was held, 1 … 8, by EXIF data; 1 where they do not say or cannot be read, as in many files whose picture is sound."""
    exif = Image.Exif()
    try:
        exif.load(data)
        turn = exif.get(ORIENTATION, 1)
    except Exception:
        return 1
    return turn if isinstance(turn, int) and 1 <= turn <= 8 else 1


def _upright(values: Array, turn: int) -> Array:
    """turn: EXIF's orientation; 1 is upright, 2 mirrored, 3 upside down, 5 to 8 lie on their side."""
    if turn >= 5:
        values = values.swapaxes(0, 1)
    rows, columns = {2: (1, -1), 3: (-1, -1), 4: (-1, 1), 6: (1, -1), 7: (-1, -1), 8: (-1, 1)}.get(turn, (1, 1))
    return values[::rows, ::columns]


def _grey(seen: _Seen, side: int, said: Said) -> Levels:
    values = seen.values[:, :, 0]
    if np.ptp(values) < SEEN:
        raise _empty()
    if seen.coloured:
        said.append({"en": "made grey", "zh": "转为灰度"})
    edge = np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])
    if np.median(edge) > 127:
        said.append({"en": "inverted (these models know bright things on black)", "zh": "反相（这些模型只见过黑底上的亮物）"})
        values, edge = 255 - values, 255 - edge
    if values.shape == (side, side):
        return _levels(values)
    low, high = np.percentile(edge, (5, 95))
    if high - low <= PLAIN:
        values, done = _lifted(values, float(high))
        if done:
            said.append({"en": "its ground made black", "zh": "底色变黑"})
        values = _square(values, *_content(values))
        said.append({"en": "cropped to what it shows", "zh": "裁到内容"})
    else:
        said.append({"en": "the square in its middle taken, its ground not being plain", "zh": "底色不均匀，取中间的正方形"})
        values = _middle(values)
    return _levels(_resized(values[:, :, None], side)[:, :, 0])


def _lifted(values: Array, ground: float) -> tuple[Array, bool]:
    """Levels stretched so that the ground is 0 and the brightest stay 255, and whether that changed anything to speak of."""
    peak = float(np.percentile(values, 99.8))
    if ground < 2 and peak > 250:
        return values, False
    low = ground + 4 if ground >= 2 else 0.0
    return np.clip((values - low) * (255 / max(peak - low, SEEN)), 0, 255).astype(np.float32), True


def _content(values: Array) -> tuple[int, int, int, int]:
    """Top, bottom, left and right (exclusive ends) of what stands out from black; a thousandth on each side may be specks."""
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
    """The content in the middle of a black square, which its longer side fills but for a narrow margin, as in what was learned from."""
    size = max(bottom - top, right - left)
    size += 2 * math.ceil(size / 56)
    square = np.zeros((size, size), np.float32)
    row, column = (size - (bottom - top)) // 2, (size - (right - left)) // 2
    square[row : row + bottom - top, column : column + right - left] = values[top:bottom, left:right]
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
    return _levels(square if len(square) == side else _resized(square, side))


def _resized(values: Array, side: int) -> Array:
    """A square (row, column, channel) averaged down, or spread out, to side × side."""
    planes = [Image.fromarray(np.ascontiguousarray(plane)) for plane in np.moveaxis(values, 2, 0)]
    return np.stack([np.asarray(plane.resize((side, side), Image.Resampling.HAMMING), np.float32) for plane in planes], axis=2)


def _levels(values: Array) -> Levels:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


# ---- what visitors are told ----------------------------------------------------------------------------------------------------------


def _notice(seen: _Seen, side: int, said: Said) -> dict[str, str] | None:
    if (seen.width, seen.height) != (side, side):
        said = [*said, {"en": f"made {side} × {side}", "zh": f"缩放为 {side} × {side}"}]
    size = f"{seen.width:,} × {seen.height:,}"
    return noticed({"en": f"Your picture, {size} pixels", "zh": f"您的图片（{size} 像素）"}, said)


def noticed(what: dict[str, str], said: Said) -> dict[str, str] | None:
    """One sentence of all that was done to a file; None where nothing was. what: the file, at the beginning of the sentence."""
    if not said:
        return None
    done = {"en": ", ".join(one["en"] for one in said), "zh": "、".join(one["zh"] for one in said)}
    return {"en": f"{what['en']}: {done['en']}.", "zh": f"{what['zh']}：{done['zh']}。"}


def _empty() -> InputError:
    return InputError(
        "picture_empty",
        en="Your picture shows one even ground; this lab needs something brighter or darker on it.",
        zh="您的图片只有均匀的底色；本实验需要上面有较亮或较暗的东西。",
    )


def _busy() -> InputError:
    return InputError(
        "busy",
        en="Many pictures are being read just now; yours can be sent again in a few seconds.",
        zh="此刻正在读许多图片；几秒后可再次发送。",
    )
