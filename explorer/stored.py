"""Results that are ready before anybody asks: those of every example and every guided step, each at an address of its own.

When a lecturer says “now step 4”, a hall of pages fetches one small file, as it fetches a picture; nobody waits in a queue.
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import json
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.delivery import Asset
from explorer.lab import Lab
from explorer.looks import Look, looks
from explorer.packing import arrays
from explorer.sound import Score, sounds

if TYPE_CHECKING:
    from explorer.engine import Engine

ROOT = Path(__file__).parent.parent
WHAT_MATTERS = ("explorer/**/*.py", "explorer/**/*.js", "models/**/*.py", "assets/*/**/model.json", "assets/*/*.npz")

logger = logging.getLogger(__name__)


class Stored:
    """The stored results of some labs, by lab and number. An address changes with whatever could change the result."""

    def __init__(self, labs: Sequence[Lab]) -> None:
        self._labs = [lab for lab in labs if lab.stored is not None]
        self._version = _version() if self._labs else ""
        self._queries = {lab.slug: tuple(dict.fromkeys([*lab.examples, *(step.query for step in lab.steps)])) for lab in self._labs}
        self._assets: dict[str, Asset] = {}  # by address
        self._arrays: dict[str, bytes] = {}  # compressed, by digest: what stored results and pages name never leaves
        self._looks: dict[str, Look] = {}  # likewise
        self._scores: dict[str, Score] = {}  # likewise

    def addresses(self, lab: Lab) -> dict[str, str]:
        """Where the result of each query of a lab is, or will be."""
        return {query: f"/stored/{self._version}/{lab.slug}/{number}" for number, query in enumerate(self._queries.get(lab.slug, ()))}

    def get(self, address: str) -> Asset | None:
        """The result at an address, or None: there is none yet."""
        return self._assets.get(address)

    def offers(self, slug: str, number: int) -> bool:
        """Whether a lab has a result of that number, now or later."""
        return number < len(self._queries.get(slug, ()))

    def array(self, digest: str) -> bytes | None:
        """An array that a stored result names, compressed."""
        return self._arrays.get(digest)

    def look(self, digest: str) -> Look | None:
        """Where the exact rows of a stored result come from."""
        return self._looks.get(digest)

    def score(self, digest: str) -> Score | None:
        """The notes of a stored result's sound."""
        return self._scores.get(digest)

    def hold(self, text: str) -> None:
        """Keep every array, look and sound whose address stands in `text`, however many others come."""
        for digest in re.findall(r"/arrays/([0-9a-f]{32})\b", text):
            if (kept := arrays().get(digest)) is not None:
                self._arrays[digest] = kept
        for digest in re.findall(r"/looks/([0-9a-f]{32})\b", text):
            if (look := looks().get(digest)) is not None:
                self._looks[digest] = look
        for digest in re.findall(r"/sound/([0-9a-f]{32})\b", text):
            if (score := sounds().get(digest)) is not None:
                self._scores[digest] = score

    def told(self) -> dict[str, list[int]]:
        """Of each lab: how many results are ready, and how many there will be."""
        return {
            lab.slug: [sum(address in self._assets for address in self.addresses(lab).values()), len(self._queries[lab.slug])]
            for lab in self._labs
        }

    async def prepare(self, engine: Engine) -> None:
        """Make all that is missing, one after the other, between the calls of visitors."""
        for lab in self._labs:
            for query, address in self.addresses(lab).items():
                try:
                    drawn = await lab.stored(engine, query) if lab.stored is not None and address not in self._assets else None
                except Exception as error:  # the page then asks the engine, which says what is wrong
                    logger.error("%s of %s could not be stored: %s", address.rpartition("/")[2], lab.slug, type(error).__name__)
                    continue
                if drawn is not None:
                    text = json.dumps(drawn, ensure_ascii=False, separators=(",", ":"))
                    self.hold(text)
                    self._assets[address] = await asyncio.to_thread(Asset.of, text.encode(), "application/json")


def meta(addresses: Mapping[str, str]) -> str:
    """The element of a page's head in which its scripts (lib/stored.js) find the addresses; empty without any."""
    if not addresses:
        return ""
    return f'<meta name="tfe-stored" content="{html.escape(json.dumps(addresses, ensure_ascii=False))}" />'


def _version() -> str:
    digest = hashlib.sha256()
    for pattern in WHAT_MATTERS:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
