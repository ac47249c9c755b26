"""Read the header of a picture file before any decoder sees it: a small file cannot ask for much
memory.

Decoders get the picture alone, without the texts, previews and further frames that files carry.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from models.explaining.errors import InputError

FILE = 5 << 20  # bytes of a file
# Fewer for WebP: libwebp holds several copies of the picture that it decodes.
PIXELS = {"PNG": 16_000_000, "JPEG": 16_000_000, "WebP": 8_000_000}
SCANS = 12  # of a progressive JPEG of the most pixels; each passes over the whole picture
LEAST = 8  # pixels of the shorter side
STRIPE = 10  # the longer side is at most this many times the shorter
SEGMENTS = 20_000  # parts that a file may consist of

# The first bytes of other files, for the sentence that refuses them.
OTHERS: tuple[tuple[bytes, str], ...] = (
    *(
        (b"GIF8", "GIF"),
        (b"BM", "BMP"),
        (b"II*\0", "TIFF"),
        (b"MM\0*", "TIFF"),
        (b"%PDF", "PDF"),
        (b"PK\x03\x04", "ZIP"),
        (b"<svg", "SVG"),
    ),
    *((b"\0\0\x01\0", "ICO"), (b"8BPS", "PSD"), (b"qoif", "QOI"), (b"\xff\x0a", "JPEG XL")),
)
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


@dataclass(frozen=True)
class PictureBounds:
    """The most that is read of a file: its bytes, and the pixels of each kind of picture."""

    size: int = FILE
    pixels: Mapping[str, int] = field(default_factory=lambda: PIXELS)


VISITORS = PictureBounds()


@dataclass(frozen=True)
class Header:
    """The header of a picture file.

    name: "PNG", "JPEG" or "WebP".
    scans: how many scans a JPEG has.
    clean: the same picture, without the parts that no picture needs.
    exif: the camera's notes.
    """

    name: str
    width: int
    height: int
    clean: bytes
    frames: int = 1
    scans: int = 1
    exif: bytes = b""


def read_header(data: bytes, bounds: PictureBounds = VISITORS) -> Header:
    """Read the header of a file. Raise InputError for a file that is no PNG, JPEG or WebP, has too
    many bytes, or is cut off or damaged."""
    if len(data) > bounds.size:
        raise refuse_size(len(data), bounds.size)
    if not data:
        raise InputError(
            "file",
            en="The file is empty; a PNG, JPEG or WebP picture is read.",
            zh="文件是空的；可读 PNG、JPEG 或 WebP 图片。",
        )
    for begins, name, reader in ((PNG, "PNG", _read_png), (JPEG, "JPEG", _read_jpeg)):
        if data.startswith(begins):
            return _check_chunks(name, reader, data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _check_chunks("WebP", _read_webp, data)
    raise _refuse_kind(data)


def _check_chunks(name: str, reader: Callable[[bytes], Header], data: bytes) -> Header:
    try:
        return reader(data)
    except (struct.error, IndexError, ValueError):
        raise refuse_damaged(name) from None


def _read_png(data: bytes) -> Header:
    """Read a PNG. Only the chunks that the picture is made of stay: no texts, profiles, or further
    frames."""
    if data[8:16] != b"\0\0\0\rIHDR":
        raise ValueError("no header")
    width, height = struct.unpack(">II", data[16:24])
    frames, exif, kept, at = 1, b"", [PNG], 8
    for _ in range(SEGMENTS):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if at + 12 + size > len(data):
            raise ValueError("cut off")
        if kind == b"IHDR" and at > 8:  # a second header would count for the decoder, but not here
            raise ValueError("two headers")
        if kind in {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}:
            kept.append(data[at : at + 12 + size])
        elif kind == b"eXIf":
            exif = data[at + 8 : at + 8 + size]
        elif kind == b"acTL":
            frames = int(struct.unpack(">I", data[at + 8 : at + 12])[0])
        if kind == b"IEND":
            return Header("PNG", width, height, b"".join(kept), frames, exif=exif)
        at += 12 + size
    raise ValueError("too many chunks")


def _read_jpeg(data: bytes) -> Header:
    """Read a JPEG. Previews, profiles and comments are left out; Adobe's note on what the colours
    mean stays."""
    size: tuple[int, int] | None = None
    kept, at, scans, exif = [data[:2]], 2, 0, b""
    for _ in range(SEGMENTS):
        while data[at + 1] == 0xFF:  # bytes that fill up before a marker
            at += 1
        marker = data[at + 1]
        if data[at] != 0xFF:
            raise ValueError("no marker where one belongs")
        if marker == 0xD9:
            if size is None or not scans:
                raise ValueError("no picture in it")
            kept.append(data[at : at + 2])
            return Header("JPEG", *size, b"".join(kept), scans=scans, exif=exif)
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        end = at + 2 + length
        if length < 2 or end > len(data):
            raise ValueError("cut off")
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            if size is not None:  # a second frame would count here, but not for the decoder
                raise ValueError("two frames")
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            size = (width, height)
        if marker == 0xDA:
            scans += 1
            # Compressed data hold no other marker.
            found = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]").search(data, end)
            if found is None:
                raise ValueError("cut off")
            end = found.start()
        if marker == 0xE1 and not exif and data[at + 4 : at + 10] == b"Exif\0\0":
            exif = data[at + 4 : end]
        if marker == 0xEE or not (0xE1 <= marker <= 0xEF or marker == 0xFE):
            kept.append(data[at:end])
        at = end
    raise ValueError("too many segments")


def _read_webp(data: bytes) -> Header:
    # The last byte of an odd size is sometimes left out.
    if int.from_bytes(data[4:8], "little") + 8 > len(data) + 1:
        raise ValueError("cut off")
    kind, body = data[12:16], data[20:36]
    if kind == b"VP8X":
        width, height = (1 + int.from_bytes(body[at : at + 3], "little") for at in (4, 7))
        frames, exif = _read_extended(data)
        return Header("WebP", width, height, data, frames, exif=exif)
    if kind == b"VP8 ":
        width, height = (size & 0x3FFF for size in struct.unpack("<HH", body[6:10]))
        return Header("WebP", width, height, data)
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return Header("WebP", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF), data)
    raise ValueError("no picture in it")


def _read_extended(data: bytes) -> tuple[int, bytes]:
    """Return how many frames a WebP of the extended format has, and its EXIF data."""
    frames, exif, at = 0, b"", 12
    for _ in range(SEGMENTS):
        if at + 8 > len(data):
            return max(1, frames), exif
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        frames += data[at : at + 4] == b"ANMF"
        if data[at : at + 4] == b"EXIF":
            exif = data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    raise ValueError("too many chunks")


def check_header(header: Header, bounds: PictureBounds = VISITORS) -> None:
    """Raise InputError for a picture that is too large, too small, too long, or too costly to
    decode."""
    width, height = header.width, header.height
    short, long = sorted((width, height))
    most = bounds.pixels[header.name]
    if short < LEAST or long > STRIPE * short or width * height > most:
        raise InputError(
            "picture_size",
            en=(
                f"Your picture has {width:,} × {height:,} pixels; this lab reads {header.name}"
                f" pictures from {LEAST} × {LEAST} pixels up to {most // 10**6} million, at most"
                f" {STRIPE} times as long as wide."
            ),
            zh=(
                f"您的图片有 {width:,} × {height:,} 像素；本实验读 {LEAST} × {LEAST} 像素起、至多"
                f" {most // 10**4:,} 万像素、长边不超过短边 {STRIPE} 倍的 {header.name} 图片。"
            ),
        )
    most = SCANS * bounds.pixels["JPEG"] // (width * height)
    if header.scans > most:
        raise InputError(
            "picture_size",
            en=(
                f"Your JPEG goes over its {width:,} × {height:,} pixels {header.scans:,} times; up"
                f" to {most:,} times are read."
            ),
            zh=(
                f"您的 JPEG 把 {width:,} × {height:,} 像素绘制 {header.scans:,} 遍；"
                f"至多读 {most:,} 遍。"
            ),
        )


def refuse_size(size: int, most: int = FILE) -> InputError:
    """Return the refusal of a file of so many bytes."""
    # rounded up, so that it never reads as the limit itself
    given = math.ceil(size / (1 << 20) * 10) / 10
    return InputError(
        "file_size",
        en=f"Your file has {given:,.1f} MB; pictures of up to {most >> 20} MB are read.",
        zh=f"您的文件有 {given:,.1f} MB；最多读 {most >> 20} MB 的图片。",
    )


def refuse_damaged(name: str) -> InputError:
    """Return the refusal of a damaged file, which begins as one of this kind."""
    return InputError(
        "file_damaged",
        en=f"Your {name} file is cut off or damaged; a whole PNG, JPEG or WebP picture is read.",
        zh=f"您的 {name} 文件不完整或已损坏；可读完整的 PNG、JPEG 或 WebP 图片。",
    )


def _refuse_kind(data: bytes) -> InputError:
    name = next((name for begins, name in OTHERS if data.lstrip().startswith(begins)), None)
    if data[4:8] == b"ftyp":
        name = (
            "AVIF"
            if data[8:12] in {b"avif", b"avis"}
            else "HEIC"
            if data[8:11] in {b"hei", b"mif", b"hev"}
            else "video"
        )
    if name is None and _is_text(data[:512]):
        name = "text"
    known = {
        None: ("no picture that this lab knows", "不是本实验认识的图片"),
        "text": ("text", "文本"),
        "video": ("a video", "视频"),
    }
    article = "an" if name and name[0] in "AIS" else "a"
    english, chinese = known.get(name) or (f"{article} {name}", f"{name} 文件")
    return InputError(
        "file",
        en=f"Your file is {english}; PNG, JPEG and WebP pictures are read.",
        zh=f"您的文件{'是' if name else ''}{chinese}；可读 PNG、JPEG 和 WebP 图片。",
    )


def _is_text(begin: bytes) -> bool:
    try:
        text = begin.decode()
    except UnicodeDecodeError as error:
        if error.start < len(begin) - 3:
            return False
        text = begin[: error.start].decode()
    return all(character.isprintable() or character in "\t\r\n\f\ufeff" for character in text)
