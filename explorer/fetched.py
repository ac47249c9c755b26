"""What pages fetch of a result by its address, and not with the answer: stored results, arrays, exact rows, sound, bertviz's frames."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from explorer import sound
from explorer.again import Again
from explorer.delivery import IMMUTABLE
from explorer.gate import FRAME, NOTHING
from explorer.hosts import framing
from explorer.looks import looks
from explorer.packing import arrays, frames
from explorer.stored import Stored

T = TypeVar("T")


class Fetched:
    """The routes of what results name. stored: what is held of examples and steps; again: makes anew what this server does not hold."""

    def __init__(self, stored: Stored, again: Again) -> None:
        self._stored, self._again = stored, again

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/stored/{version}/{slug}/{number:int}", self._result),
            Route("/arrays/{digest}", self._array),
            Route("/looks/{digest}/{layer:int}/{head:int}/{first:int}/{count:int}", self._look),
            Route("/sound/{digest}.{kind}", self._sound),
            Route("/frames/{digest}", self._frame),
        ]

    async def _result(self, request: Request) -> Response:
        asset = self._stored.get(request.url.path)
        if asset is not None:
            return asset.answer(request, IMMUTABLE)
        if not self._stored.offers(request.path_params["slug"], request.path_params["number"]):
            return PlainTextResponse(NOTHING, 404)
        # Not yet, or of another version of the site: the page then asks the model.
        return Response(status_code=204, headers={"cache-control": "no-store"})

    async def _held(self, request: Request, find: Callable[[], T | None]) -> T | None:
        """What `find` finds; made anew where its address is another web server's, or it has left the memory of this one."""
        if (kept := find()) is None:
            await self._again.make(request)
            kept = find()
        return kept

    async def _array(self, request: Request) -> Response:
        digest = request.path_params["digest"]
        kept = await self._held(request, lambda: self._stored.array(digest) or arrays().get(digest))
        if kept is None:
            return PlainTextResponse("This array has left the server's memory; running the input again brings it back.", 404)
        return Response(kept, media_type="application/octet-stream", headers={"content-encoding": "gzip", "cache-control": IMMUTABLE})

    async def _look(self, request: Request) -> Response:
        wanted = dict(request.path_params)
        digest = wanted.pop("digest")
        look = await self._stored.look(digest) or await self._held(request, lambda: looks().get(digest))
        rows = None if look is None else await asyncio.to_thread(look.answer, **wanted)
        if rows is None:
            return PlainTextResponse("These rows are not in the server's memory; running the input again brings them back.", 404)
        return Response(rows, media_type="application/octet-stream", headers={"cache-control": IMMUTABLE})

    async def _sound(self, request: Request) -> Response:
        digest, kind = request.path_params["digest"], request.path_params["kind"]
        score = None
        if kind in sound.KINDS:
            score = await self._held(request, lambda: self._stored.score(digest) or sound.sounds().get(digest))
        if score is None:
            return PlainTextResponse("This sound has left the server's memory; running the input again brings it back.", 404)
        etag = f'"{digest}"'
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers={"cache-control": IMMUTABLE, "etag": etag})
        making = sound.sounds().make(score, kind)
        if making is None:
            sentence = "Many sounds are being made just now; this one can be asked for again in a few seconds."
            return PlainTextResponse(sentence, 503, {"retry-after": "3", "cache-control": "no-store"})
        # Whoever leaves does not take the sound from others who wait for it too.
        return sound.answer(request, await asyncio.shield(asyncio.wrap_future(making)), etag, sound.KINDS[kind])

    async def _frame(self, request: Request) -> Response:
        kept = await self._held(request, lambda: frames().get(request.path_params["digest"]))
        if kept is None:
            return PlainTextResponse("This view has left the server's memory; its page opens it again.", 404)
        headers = {
            "content-encoding": "gzip",
            "cache-control": IMMUTABLE,
            "content-security-policy": FRAME.format(framing=framing()),
        }
        return Response(kept, media_type="text/html", headers=headers)
