"""What a picture file says of itself, read before any decoder sees it: a small file cannot ask for much memory.

Decoders get the picture alone, without the texts, previews and further frames that files carry.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from models.errors import InputError

FILE = 5 << 20  # bytes of a file
PIXELS = {"PNG": 16_000_000, "JPEG": 16_000_000, "WebP": 8_000_000}  # libwebp holds several copies of what it decodes
EFFORT = 16_000_000 * 12  # pixels × scans of a progressive JPEG; each scan passes over the whole picture
LEAST = 8  # pixels of the shorter side
STRIPE = 10  # the longer side is at most this many times the shorter
SEGMENTS = 20_000  # parts that a file may consist of

# What other files begin with, for the sentence that refuses them.
OTHERS: tuple[tuple[bytes, str], ...] = (
    *((b"GIF8", "GIF"), (b"BM", "BMP"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"%PDF", "PDF"), (b"PK\x03\x04", "ZIP"), (b"<svg", "SVG")),
    *((b"\0\0\x01\0", "ICO"), (b"8BPS", "PSD"), (b"qoif", "QOI"), (b"\xff\x0a", "JPEG XL")),
)
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


@dataclass(frozen=True)
class Header:
    """name: "PNG", "JPEG" or "WebP". scans: of a JPEG. clean: the same picture without what no picture needs. exif: the camera's notes."""

    name: str
    width: int
    height: int
    clean: bytes
    frames: int = 1
    scans: int = 1
    exif: bytes = b""


def header(data: bytes) -> Header:
    """What the file says. InputError for what is no PNG, JPEG or WebP, too many bytes, cut off or damaged."""
    if len(data) > FILE:
        raise heavy(len(data))
    if not data:
        raise InputError(
            "file", en="The file is empty; a PNG, JPEG or WebP picture is read.", zh="文件是空的；可读 PNG、JPEG 或 WebP 图片。"
        )
    for begins, name, reader in ((PNG, "PNG", _png), (JPEG, "JPEG", _jpeg)):
        if data.startswith(begins):
            return _sound(name, reader, data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _sound("WebP", _webp, data)
    raise _foreign(data)


def _sound(name: str, reader: Callable[[bytes], Header], data: bytes) -> Header:
    try:
        return reader(data)
    except (struct.error, IndexError, ValueError):
        raise damaged(name) from None


def _png(data: bytes) -> Header:
    """Of all chunks only those stay that the picture is made of: no texts, profiles, or further frames."""
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


def _jpeg(data: bytes) -> Header:
    """Previews, profiles and comments are left out; Adobe's note on what the colours mean stays."""
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
            found = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]").search(data, end)  # what is compressed has no other marker inside
            if found is None:
                raise ValueError("cut off")
            end = found.start()
        if marker == 0xE1 and not exif and data[at + 4 : at + 10] == b"Exif\0\0":
            exif = data[at + 4 : end]
        if marker == 0xEE or not (0xE1 <= marker <= 0xEF or marker == 0xFE):
            kept.append(data[at:end])
        at = end
    raise ValueError("too many segments")


def _webp(data: bytes) -> Header:
    if int.from_bytes(data[4:8], "little") + 8 > len(data) + 1:  # the last byte of an odd size is sometimes left out
        raise ValueError("cut off")
    kind, body = data[12:16], data[20:36]
    if kind == b"VP8X":
        width, height = (1 + int.from_bytes(body[at : at + 3], "little") for at in (4, 7))
        frames, exif = _extended(data)
        return Header("WebP", width, height, data, frames, exif=exif)
    if kind == b"VP8 ":
        width, height = (size & 0x3FFF for size in struct.unpack("<HH", body[6:10]))
        return Header("WebP", width, height, data)
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return Header("WebP", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF), data)
    raise ValueError("no picture in it")


def _extended(data: bytes) -> tuple[int, bytes]:
    """How many frames a WebP of the extended format has, and its EXIF data."""
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


def check(header: Header) -> None:
    """InputError for a picture too large, too small, too long, or too dear to decode."""
    width, height = header.width, header.height
    short, long = sorted((width, height))
    most = PIXELS[header.name]
    if short < LEAST or long > STRIPE * short or width * height > most:
        raise InputError(
            "picture_size",
            en=f"Your picture has {width:,} × {height:,} pixels; this lab reads {header.name} pictures from {LEAST} × {LEAST} pixels "
            f"up to {most // 10**6} million, at most {STRIPE} times as long as wide.",
            zh=f"您的图片有 {width:,} × {height:,} 像素；本实验读 {LEAST} × {LEAST} 像素起、至多 {most // 10**4:,} 万像素、"
            f"长边不超过短边 {STRIPE} 倍的 {header.name} 图片。",
        )
    most = EFFORT // (width * height)
    if header.scans > most:
        raise InputError(
            "picture_size",
            en=f"Your JPEG goes over its {width:,} × {height:,} pixels {header.scans:,} times; up to {most:,} times are read.",
            zh=f"您的 JPEG 把 {width:,} × {height:,} 像素绘制 {header.scans:,} 遍；至多读 {most:,} 遍。",
        )


def heavy(size: int) -> InputError:
    """The refusal of a file of so many bytes."""
    given = math.ceil(size / (1 << 20) * 10) / 10  # rounded up, so that it never reads as the limit itself
    return InputError(
        "file_size",
        en=f"Your file has {given:,.1f} MB; pictures of up to {FILE >> 20} MB are read.",
        zh=f"您的文件有 {given:,.1f} MB；最多读 {FILE >> 20} MB 的图片。",
    )


def damaged(name: str) -> InputError:
    """The refusal of a file that begins as one of this kind."""
    return InputError(
        "file_damaged",
        en=f"Your {name} file is cut off or damaged; a whole PNG, JPEG or WebP picture is read.",
        zh=f"您的 {name} 文件不完整或已损坏；可读完整的 PNG、JPEG 或 WebP 图片。",
    )


def _foreign(data: bytes) -> InputError:
    name = next((name for begins, name in OTHERS if data.lstrip().startswith(begins)), None)
    if data[4:8] == b"ftyp":
        name = "AVIF" if data[8:12] in {b"avif", b"avis"} else "HEIC" if data[8:11] in {b"hei", b"mif", b"hev"} else "video"
    if name is None and _is_text(data[:512]):
        name = "text"
    known = {None: ("no picture that this lab knows", "不是本实验认识的图片"), "text": ("text", "文本"), "video": ("a video", "视频")}
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
