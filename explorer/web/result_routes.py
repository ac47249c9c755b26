"""The parts of a result that pages fetch by address, and not with the answer.

They are stored results, arrays, exact rows, sound, and bertviz's frames.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from explorer.engine import Busy, OpenPage
from explorer.media import sound
from explorer.page.drawings import drawings
from explorer.values.compressed_files import IMMUTABLE
from explorer.values.exact_rows import RowSource, exact_row_store
from explorer.values.hosts import find_network, write_frame_policy
from explorer.values.packing import array_store, frame_store
from explorer.web.headers import FRAME
from explorer.web.not_found import NOTHING
from explorer.web.recompute import Recomputation
from explorer.web.stored_results import StoredResults

T = TypeVar("T")


class Fetched:
    """The routes of the addresses that results name.

    stored: the results of examples and steps.
    again: computes what this server does not hold.
    """

    def __init__(self, stored: StoredResults, again: Recomputation) -> None:
        self._stored, self._again = stored, again

    def list_routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/stored/{version}/{slug}/{number:int}", self._serve_result),
            Route("/arrays/{digest}", self._serve_array),
            Route(
                "/looks/{digest}/{layer:int}/{head:int}/{first:int}/{count:int}", self._serve_rows
            ),
            Route("/sound/{digest}.{kind}", self._serve_sound),
            Route("/frames/{digest}", self._serve_frame),
        ]

    async def _serve_result(self, request: Request) -> Response:
        asset = self._stored.get(request.url.path)
        if asset is not None:
            return asset.respond(request, IMMUTABLE)
        if not self._stored.offers(request.path_params["slug"], request.path_params["number"]):
            return PlainTextResponse(NOTHING, 404)
        # The result is not ready, or of another version of the site: the page then asks the model.
        return Response(status_code=204, headers={"cache-control": "no-store"})

    async def _find_or_recompute(self, request: Request, find: Callable[[], T | None]) -> T | None:
        """Return the result of `find`.

        It is computed anew where its address is another web server's, or where it has left this
        one's memory.
        """
        if (kept := find()) is None:
            await self._again.recompute(request)
            kept = find()
        return kept

    async def _serve_array(self, request: Request) -> Response:
        digest = request.path_params["digest"]
        kept = await self._find_or_recompute(
            request, lambda: self._stored.get_array(digest) or array_store().get(digest)
        )
        if kept is None:
            return PlainTextResponse(
                "This array has left the server's memory; running the input again brings it back.",
                404,
            )
        return Response(
            kept,
            media_type="application/octet-stream",
            headers={"content-encoding": "gzip", "cache-control": IMMUTABLE},
        )

    async def _serve_rows(self, request: Request) -> Response:
        wanted = dict(request.path_params)
        digest = wanted.pop("digest")
        look = await self._stored.get_rows(digest) or await self._find_or_recompute(
            request, lambda: exact_row_store().get(digest)
        )
        try:
            rows = None if look is None else await self._rows(request, look, wanted)
        except Busy as busy:
            headers = {"retry-after": "3", "cache-control": "no-store"}
            return PlainTextResponse(busy.text["en"], 503, headers)
        if rows is None:
            return PlainTextResponse(
                "These rows are not in the server's memory; running the input again brings them"
                " back.",
                404,
            )
        return Response(
            rows, media_type="application/octet-stream", headers={"cache-control": IMMUTABLE}
        )

    async def _rows(
        self, request: Request, look: RowSource, wanted: dict[str, int]
    ) -> bytes | None:
        """Return exact rows once it is their turn among the drawings."""
        address = find_network(request.client.host if request.client else "")
        caller = OpenPage("", address)
        return await drawings().finish(lambda: look.encode_rows(**wanted), caller, kind="rows")

    async def _serve_sound(self, request: Request) -> Response:
        digest, kind = request.path_params["digest"], request.path_params["kind"]
        score = None
        if kind in sound.KINDS:
            score = await self._find_or_recompute(
                request, lambda: self._stored.get_score(digest) or sound.sound_store().get(digest)
            )
        if score is None:
            return PlainTextResponse(
                "This sound has left the server's memory; running the input again brings it back.",
                404,
            )
        etag = f'"{digest}"'
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers={"cache-control": IMMUTABLE, "etag": etag})
        making = sound.sound_store().render_once(score, kind)
        if making is None:
            sentence = (
                "Many sounds are being made just now; this one can be asked for again in a few"
                " seconds."
            )
            return PlainTextResponse(
                sentence, 503, {"retry-after": "3", "cache-control": "no-store"}
            )
        # A visitor who leaves does not stop the sound for others who wait for it too.
        return sound.respond_with_range(
            request, await asyncio.shield(asyncio.wrap_future(making)), etag, sound.KINDS[kind]
        )

    async def _serve_frame(self, request: Request) -> Response:
        kept = await self._find_or_recompute(
            request, lambda: frame_store().get(request.path_params["digest"])
        )
        if kept is None:
            return PlainTextResponse(
                "This view has left the server's memory; its page opens it again.", 404
            )
        headers = {
            "content-encoding": "gzip",
            "cache-control": IMMUTABLE,
            "content-security-policy": FRAME.format(framing=write_frame_policy()),
        }
        return Response(kept, media_type="text/html", headers=headers)
