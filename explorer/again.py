"""What another web server has drawn, and this one does not hold, is made here once more: its address says what it is of.

Nothing is computed for that which the same visitor could not have asked for on a page, and less of it at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from starlette.requests import Request

from explorer.engine import Engine, Page
from explorer.hosts import network
from explorer.lab import Lab

AT_ONCE, WAITING = 4, 16  # that are made, and that wait for it

logger = logging.getLogger(__name__)


class Again:
    """Makes what is asked for, once for all who ask at the same time."""

    def __init__(self, labs: Sequence[Lab], engine: Engine) -> None:
        self._labs, self._engine = {lab.slug: lab.again for lab in labs}, engine
        self._making: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def make(self, request: Request) -> None:
        """Returns once what the request's address is of was drawn, as far as it can be; at once for another site's page."""
        key, site = request.url.query, request.headers.get("sec-fetch-site", "same-origin")
        if not key or site not in {"same-origin", "none"}:
            return
        if key not in self._making:
            if len(self._making) >= AT_ONCE + WAITING:
                return
            self._making[key] = asyncio.create_task(self._made(request))
            self._making[key].add_done_callback(lambda _: self._making.pop(key))
        await asyncio.shield(self._making[key])  # whoever leaves does not take it from others who wait for it too

    async def _made(self, request: Request) -> None:
        asked = dict(request.query_params)
        again = self._labs.get(asked.get("of", ""))
        if again is None:
            return
        page = Page("what another server has drawn", network(request.client.host if request.client else ""))
        async with self._places:
            try:
                await again(self._engine, asked, page)
            except Exception as error:  # an address that somebody has made up
                logger.warning("what an address names could not be made again: %s", type(error).__name__)
