"""Results that another web server has drawn and this one does not hold are computed here once more.

Their address names their origin. Nothing is computed that the same visitor could not have requested
on a page, and less of it at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from starlette.requests import Request

from explorer.contract.lab import OpenLab
from explorer.engine import Engine, OpenPage
from explorer.values.hosts import find_network

AT_ONCE, WAITING = 4, 16  # results that are computed, and that wait for it

logger = logging.getLogger(__name__)


class Recomputation:
    """Computes results once for all who ask at the same time."""

    def __init__(self, labs: Sequence[OpenLab], engine: Engine) -> None:
        self._labs, self._engine = {lab.slug: lab.again for lab in labs}, engine
        self._making: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def recompute(self, request: Request) -> None:
        """Return once the origin of the request's address was drawn, as far as it can be.

        Returns at once for another site's page.
        """
        key, site = request.url.query, request.headers.get("sec-fetch-site", "same-origin")
        if not key or site not in {"same-origin", "none"}:
            return
        if key not in self._making:
            if len(self._making) >= AT_ONCE + WAITING:
                return
            self._making[key] = asyncio.create_task(self._recompute_once(request))
            self._making[key].add_done_callback(lambda _: self._making.pop(key))
        # A visitor who leaves does not stop it for others who wait for it too.
        await asyncio.shield(self._making[key])

    async def _recompute_once(self, request: Request) -> None:
        asked = dict(request.query_params)
        again = self._labs.get(asked.get("of", ""))
        if again is None:
            return
        page = OpenPage(
            "what another server has drawn",
            find_network(request.client.host if request.client else ""),
        )
        async with self._places:
            try:
                await again(self._engine, asked, page)
            except Exception as error:  # the address may be made up
                logger.warning(
                    "the result of an address could not be computed again: %s", type(error).__name__
                )
