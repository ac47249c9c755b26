"""Results that are ready before anybody asks.

They are those of every example and every guided step, each at an address of its own. When a
lecturer says “now step 4”, a hall of pages fetches one small file, as it fetches a picture; nobody
waits in a queue.
"""

from __future__ import annotations

import asyncio
import html
import json
import logging
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.contract.lab import OpenLab
from explorer.engine.disk_store import Disk, FromDisk
from explorer.media.sound import Score, sound_store
from explorer.page.rendered_results import (
    WHAT_IS_COMPUTED,
    WHAT_IS_DRAWN,
    RenderedResult,
    collect_named,
    digest_files,
)
from explorer.values.compressed_files import Asset
from explorer.values.exact_rows import RowSource, exact_row_store
from explorer.values.packing import array_store

if TYPE_CHECKING:
    from explorer.engine import Engine

logger = logging.getLogger(__name__)


class StoredResults:
    """The stored results of some labs, by lab and number.

    An address changes with everything that could change the result.
    """

    def __init__(self, labs: Sequence[OpenLab], disk: Disk | None = None) -> None:
        """Start without results; `prepare_all` makes them.

        disk: the store that keeps results from one start of the server to the next; None keeps
        nothing.
        """
        self._labs = [lab for lab in labs if lab.stored is not None]
        self._disk = disk
        self.version = digest_files(WHAT_IS_DRAWN) if self._labs else ""
        self._engine: Engine | None = None
        # By the digest of a source of rows that a start read from disk: the result that it belongs
        # to.
        self._unread: dict[str, tuple[OpenLab, str]] = {}
        self._reading: dict[Hashable, asyncio.Task[None]] = {}  # by lab and query, or by digest
        self._queries = {
            lab.slug: tuple(dict.fromkeys([*lab.examples, *(step.query for step in lab.steps)]))
            for lab in self._labs
        }
        self._assets: dict[str, Asset] = {}  # by address
        # Compressed, by digest: an array that stored results or pages name never leaves.
        self._arrays: dict[str, bytes] = {}
        self._looks: dict[str, RowSource] = {}  # by digest
        self._scores: dict[str, Score] = {}  # by digest

    def list_addresses(self, lab: OpenLab) -> dict[str, str]:
        """Return the address of the result of each query of a lab, ready or not."""
        return {
            query: f"/stored/{self.version}/{lab.slug}/{number}"
            for number, query in enumerate(self._queries.get(lab.slug, ()))
        }

    def get(self, address: str) -> Asset | None:
        """Return the result at an address, or None where it is not ready."""
        return self._assets.get(address)

    def offers(self, slug: str, number: int) -> bool:
        """Return whether a lab has a result of that number, now or later."""
        return number < len(self._queries.get(slug, ()))

    def get_array(self, digest: str) -> bytes | None:
        """Return an array that a stored result names, compressed."""
        return self._arrays.get(digest)

    async def get_rows(self, digest: str) -> RowSource | None:
        """Return the source of the exact rows of a stored result."""
        if digest not in self._looks and digest in self._unread:
            lab, query = self._unread[digest]
            await self._make_once((lab.slug, query), lambda: self._read_request(lab, query))
        # A remembered drawing puts no rows into the store: the promise makes them then.
        if (
            digest not in self._looks
            and (draw := exact_row_store().find_promise(digest)) is not None
        ):
            await self._make_once(digest, lambda: self._find_promised(digest, draw))
        return self._looks.get(digest)

    async def _make_once(
        self, what: Hashable, make: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Run `make` once for all who ask for it at the same time."""
        if what not in self._reading:
            self._reading[what] = asyncio.create_task(make())
            self._reading[what].add_done_callback(lambda _: self._reading.pop(what, None))
        await asyncio.shield(self._reading[what])

    async def _find_promised(self, digest: str, draw: Callable[[], object]) -> None:
        await asyncio.to_thread(draw)
        self._looks |= collect_named("looks", f"/looks/{digest}", exact_row_store())

    def get_score(self, digest: str) -> Score | None:
        """Return the notes of a stored result's sound."""
        return self._scores.get(digest)

    def hold_named(self, text: str) -> None:
        """Keep every array, source of rows and sound whose address stands in `text`, for good."""
        self._arrays |= collect_named("arrays", text, array_store())
        self._looks |= collect_named("looks", text, exact_row_store())
        self._scores |= collect_named("sound", text, sound_store())

    def count_ready(self) -> dict[str, list[int]]:
        """Return how many results of each lab are ready, and how many there will be."""
        return {
            lab.slug: [
                sum(address in self._assets for address in self.list_addresses(lab).values()),
                len(self._queries[lab.slug]),
            ]
            for lab in self._labs
        }

    async def prepare_all(self, engine: Engine) -> None:
        """Make all missing results, one after the other, between the calls of visitors.

        A result that lies on disk is read instead.
        """
        self._engine = engine
        if self._disk is not None and self._labs:
            self._engine = FromDisk(engine, self._disk, await asyncio.to_thread(digest_computation))
        due = [
            (lab, query, address)
            for lab in self._labs
            for query, address in self.list_addresses(lab).items()
            if address not in self._assets
        ]
        # first those on disk, which need no cluster
        left = [one for one in due if not await self._make_result(*one)]
        # again, because a busy machine may have been too slow at first
        for lab, query, address in left:
            # On failure the page asks the engine, which names the reason.
            if not await self._make_when_reachable(engine, lab, query, address):
                logger.error("%s of %s could not be stored", address.rpartition("/")[2], lab.slug)

    async def _make_when_reachable(
        self, engine: Engine, lab: OpenLab, query: str, address: str
    ) -> bool:
        """Make a result once the engine is within reach, and again whenever it went away during the
        work.

        Returns whether it was made; see `_make_result`.
        """
        while True:
            await engine.wait_until_reachable()
            made = await self._make_result(lab, query, address)
            if made or not engine.away:
                return made

    async def _make_result(self, lab: OpenLab, query: str, address: str) -> bool:
        """Read one result from disk or make it, and return whether there is one.

        Returns False where the lab failed or refused it, for example out of time.
        """
        key = (
            f"{address} {lab.stored.__module__}.{lab.stored.__qualname__} {query}"
            if lab.stored is not None
            else ""
        )
        drawn = None if self._disk is None else await asyncio.to_thread(self._recall_from_disk, key)
        if drawn is None:
            try:
                drawn = await self._draw_result(lab, query)
            except Exception as error:
                logger.warning(
                    "%s of %s was not stored: %s",
                    address.rpartition("/")[2],
                    lab.slug,
                    type(error).__name__,
                )
                return False
            if drawn is not None and self._disk is not None:
                await asyncio.to_thread(self._disk.put, key, drawn)
        if drawn is None:
            return False
        self._arrays |= {digest: kept.tobytes() for digest, kept in drawn.arrays.items()}
        self._scores |= {score.digest: score for score in drawn.scores}
        self._unread |= dict.fromkeys(drawn.looks, (lab, query))
        self._assets[address] = await asyncio.to_thread(
            Asset.compress, drawn.text.encode(), "application/json"
        )
        return True

    def _recall_from_disk(self, key: str) -> RenderedResult | None:
        kept = None if self._disk is None else self._disk.get(key)
        return kept[0] if kept is not None and isinstance(kept[0], RenderedResult) else None

    async def _draw_result(self, lab: OpenLab, query: str) -> RenderedResult | None:
        """Return one result, and hold everything that it names.

        Returns None where the lab makes none. The lab's own errors are raised.
        """
        values = (
            await lab.stored(self._engine, query)
            if lab.stored is not None and self._engine is not None
            else None
        )
        if values is None:
            return None
        drawn = RenderedResult.record_values(values)
        self.hold_named(drawn.text)
        return drawn

    async def _read_request(self, lab: OpenLab, query: str) -> None:
        try:
            await self._draw_result(lab, query)
        # The page then says that the rows are gone, and how they come back.
        except Exception as error:
            logger.error("rows of %s could not be read: %s", lab.slug, type(error).__name__)
        else:  # all sources of this result are there now
            self._unread = {
                digest: one
                for digest, one in self._unread.items()
                if (one[0].slug, one[1]) != (lab.slug, query)
            }


def write_meta(addresses: Mapping[str, str]) -> str:
    """Return the element of a page's head in which its scripts (lib/stored.js) find the addresses.

    Returns "" where there are none.
    """
    if not addresses:
        return ""
    return (
        '<meta name="tfe-stored"'
        f' content="{html.escape(json.dumps(addresses, ensure_ascii=False))}" />'
    )


def digest_computation() -> str:
    """Return a digest of everything that could change a model's answer."""
    return digest_files(WHAT_IS_COMPUTED)
