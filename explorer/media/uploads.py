"""The files of visitors as they arrive, and the addresses for pictures.

A few are read at a time, within their bounds, and none is written to disk.
"""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.values.hosts import find_network
from explorer.values.packing import pack_array
from models.explaining.errors import InputError
from models.media import picture_files
from models.media.picture_files import FILE
from models.media.pictures import Picture, picture

AT_ONCE, WAITING = 2, 16  # files of a kind read at the same time, and those that may wait
FREE = 4  # places kept for visitors from networks without a file here
# name in the address -> side, channels
MODES = {"grey": (28, 1), "colour": (16, 3), "texture": (96, 3)}


def routes() -> list[Route]:
    """Return the routes ``POST /picture/grey``, ``/picture/colour`` and ``/picture/texture``.

    The body is the file; the answer is {picture, levels, notice} or {error}.

    picture: the levels as a request carries them, base64url in raster order.
    error: {en, zh}, with status 413, 422 or 503.
    """
    files = FileReader(FILE, picture_files.refuse_size, _busy())

    def reader(side: int, channels: int) -> Callable[[Request], Awaitable[Response]]:
        return files.reader(lambda data: _describe_picture(picture(data, side, channels)))

    return [
        Route(f"/picture/{mode}", reader(side, channels), methods=["POST"])
        for mode, (side, channels) in MODES.items()
    ]


def _describe_picture(read: Picture) -> dict[str, object]:
    spelled = base64.urlsafe_b64encode(read.levels.tobytes()).decode().rstrip("=")
    return {"picture": spelled, "levels": pack_array(read.levels), "notice": read.notice}


class FileReader:
    """A reader of a few files at a time, each in a thread of its own.

    Files that would wait too long are refused.

    most: bytes of a file.
    heavy: a function from a file's bytes to the error of a file that is too large, with the code
    "file_size".
    busy: the error for those who would wait too long.
    """

    def __init__(self, most: int, heavy: Callable[[int], InputError], busy: InputError) -> None:
        self.most = most
        self.heavy = heavy
        self.busy = busy
        self.reading = asyncio.Semaphore(AT_ONCE)
        self.inside = 0
        # Files being read or waiting, by network, which may be that of a whole lecture hall.
        self._of: Counter[str] = Counter()

    def reader(
        self, read: Callable[[bytes], dict[str, object]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler that answers with the result of `read` as JSON.

        Its InputError becomes {error: {en, zh}}.
        """

        async def answer(request: Request) -> Response:
            who = find_network(request.client.host if request.client else "")
            if self.inside >= AT_ONCE + WAITING - (FREE if self._of[who] else 0):
                return _refuse(503, self.busy)
            self.inside += 1
            self._of[who] += 1
            try:
                data = await self._body(request)
                async with self.reading:
                    told = await asyncio.to_thread(read, data)
            except InputError as error:
                return _refuse(413 if error.code == "file_size" else 422, error)
            finally:
                self.inside -= 1
                self._of[who] -= 1
                self._of += Counter()  # drops the networks with no file left
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


def _refuse(status: int, error: InputError) -> Response:
    return JSONResponse({"error": error.text}, status, headers={"cache-control": "no-store"})


def _busy() -> InputError:
    return InputError(
        "busy",
        en="Many pictures are being read just now; yours can be sent again in a few seconds.",
        zh="此刻正在读许多图片；几秒后可再次发送。",
    )
