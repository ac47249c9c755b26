"""Results that are ready before anybody asks: those of every example and every guided step, each at an address of its own.

When a lecturer says “now step 4”, a hall of pages fetches one small file, as it fetches a picture; nobody waits in a queue.
"""

from __future__ import annotations

import asyncio
import html
import json
import logging
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.delivery import Asset
from explorer.disk import Disk, FromDisk
from explorer.drawn import WHAT_IS_COMPUTED, WHAT_IS_DRAWN, Drawn, named, version
from explorer.lab import Lab
from explorer.looks import Look, looks
from explorer.packing import arrays
from explorer.sound import Score, sounds

if TYPE_CHECKING:
    from explorer.engine import Engine

logger = logging.getLogger(__name__)


class Stored:
    """The stored results of some labs, by lab and number. An address changes with whatever could change the result."""

    def __init__(self, labs: Sequence[Lab], disk: Disk | None = None) -> None:
        """disk: where results are kept from one start of the server to the next; None keeps nothing."""
        self._labs = [lab for lab in labs if lab.stored is not None]
        self._disk = disk
        self.version = version(WHAT_IS_DRAWN) if self._labs else ""
        self._engine: Engine | None = None
        self._unread: dict[str, tuple[Lab, str]] = {}  # by digest of a look that a start read from disk: the result that it belongs to
        self._reading: dict[Hashable, asyncio.Task[None]] = {}  # by lab and query, or by digest
        self._queries = {lab.slug: tuple(dict.fromkeys([*lab.examples, *(step.query for step in lab.steps)])) for lab in self._labs}
        self._assets: dict[str, Asset] = {}  # by address
        self._arrays: dict[str, bytes] = {}  # compressed, by digest: what stored results and pages name never leaves
        self._looks: dict[str, Look] = {}  # likewise
        self._scores: dict[str, Score] = {}  # likewise

    def addresses(self, lab: Lab) -> dict[str, str]:
        """Where the result of each query of a lab is, or will be."""
        return {query: f"/stored/{self.version}/{lab.slug}/{number}" for number, query in enumerate(self._queries.get(lab.slug, ()))}

    def get(self, address: str) -> Asset | None:
        """The result at an address, or None: there is none yet."""
        return self._assets.get(address)

    def offers(self, slug: str, number: int) -> bool:
        """Whether a lab has a result of that number, now or later."""
        return number < len(self._queries.get(slug, ()))

    def array(self, digest: str) -> bytes | None:
        """An array that a stored result names, compressed."""
        return self._arrays.get(digest)

    async def look(self, digest: str) -> Look | None:
        """Where the exact rows of a stored result come from."""
        if digest not in self._looks and digest in self._unread:
            lab, query = self._unread[digest]
            await self._once((lab.slug, query), lambda: self._read(lab, query))
        elif digest not in self._looks and (draw := looks().promised(digest)) is not None:
            await self._once(digest, lambda: self._promised(digest, draw))
        return self._looks.get(digest)

    async def _once(self, what: Hashable, make: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Makes something once for all who ask for it meanwhile."""
        if what not in self._reading:
            self._reading[what] = asyncio.create_task(make())
            self._reading[what].add_done_callback(lambda _: self._reading.pop(what, None))
        await asyncio.shield(self._reading[what])

    async def _promised(self, digest: str, draw: Callable[[], object]) -> None:
        await asyncio.to_thread(draw)
        self._looks |= named("looks", f"/looks/{digest}", looks())

    def score(self, digest: str) -> Score | None:
        """The notes of a stored result's sound."""
        return self._scores.get(digest)

    def hold(self, text: str) -> None:
        """Keep every array, look and sound whose address stands in `text`, however many others come."""
        self._arrays |= named("arrays", text, arrays())
        self._looks |= named("looks", text, looks())
        self._scores |= named("sound", text, sounds())

    def told(self) -> dict[str, list[int]]:
        """Of each lab: how many results are ready, and how many there will be."""
        return {
            lab.slug: [sum(address in self._assets for address in self.addresses(lab).values()), len(self._queries[lab.slug])]
            for lab in self._labs
        }

    async def prepare(self, engine: Engine) -> None:
        """Make all that is missing, one after the other, between the calls of visitors; what lies on disk is read instead."""
        self._engine = engine
        if self._disk is not None and self._labs:
            self._engine = FromDisk(engine, self._disk, await asyncio.to_thread(computed))
        due = [(lab, query, address) for lab in self._labs for query, address in self.addresses(lab).items() if address not in self._assets]
        left = [one for one in due if not await self._make(*one)]  # what lies on disk waits for no cluster
        for lab, query, address in left:  # a busy machine may have been too slow at first
            if not await self._make_again(engine, lab, query, address):  # the page then asks the engine, which says what is wrong
                logger.error("%s of %s could not be stored", address.rpartition("/")[2], lab.slug)

    async def _make_again(self, engine: Engine, lab: Lab, query: str, address: str) -> bool:
        """As `_make`, once what computes is within reach, and again whenever it went away meanwhile."""
        while True:
            await engine.reached()
            made = await self._make(lab, query, address)
            if made or not engine.away:
                return made

    async def _make(self, lab: Lab, query: str, address: str) -> bool:
        """One result, from disk or made now; False where the lab failed or refused it, as it does when time has run out."""
        key = f"{address} {lab.stored.__module__}.{lab.stored.__qualname__} {query}" if lab.stored is not None else ""
        drawn = None if self._disk is None else await asyncio.to_thread(self._recall, key)
        if drawn is None:
            try:
                drawn = await self._draw(lab, query)
            except Exception as error:
                logger.warning("%s of %s was not stored: %s", address.rpartition("/")[2], lab.slug, type(error).__name__)
                return False
            if drawn is not None and self._disk is not None:
                await asyncio.to_thread(self._disk.put, key, drawn)
        if drawn is None:
            return False
        self._arrays |= {digest: kept.tobytes() for digest, kept in drawn.arrays.items()}
        self._scores |= {score.digest: score for score in drawn.scores}
        self._unread |= dict.fromkeys(drawn.looks, (lab, query))
        self._assets[address] = await asyncio.to_thread(Asset.of, drawn.text.encode(), "application/json")
        return True

    def _recall(self, key: str) -> Drawn | None:
        kept = None if self._disk is None else self._disk.get(key)
        return kept[0] if kept is not None and isinstance(kept[0], Drawn) else None

    async def _draw(self, lab: Lab, query: str) -> Drawn | None:
        """One result with all that it names, which is then held. Raises whatever the lab raises; None where it makes none."""
        values = await lab.stored(self._engine, query) if lab.stored is not None and self._engine is not None else None
        if values is None:
            return None
        drawn = Drawn.of(values)
        self.hold(drawn.text)
        return drawn

    async def _read(self, lab: Lab, query: str) -> None:
        try:
            await self._draw(lab, query)
        except Exception as error:  # the page then says that the rows are gone, and how they come back
            logger.error("rows of %s could not be read: %s", lab.slug, type(error).__name__)
        else:  # all that are there now, and no others
            self._unread = {digest: one for digest, one in self._unread.items() if (one[0].slug, one[1]) != (lab.slug, query)}


def meta(addresses: Mapping[str, str]) -> str:
    """The element of a page's head in which its scripts (lib/stored.js) find the addresses; empty without any."""
    if not addresses:
        return ""
    return f'<meta name="tfe-stored" content="{html.escape(json.dumps(addresses, ensure_ascii=False))}" />'


def computed() -> str:
    """A digest of all that could change what a model answers."""
    return version(WHAT_IS_COMPUTED)
