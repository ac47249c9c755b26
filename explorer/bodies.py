"""The bodies of requests as they arrive: how much is held, from whom, and how slowly a body may come."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from starlette.types import Receive

BODY = 5 << 20  # bytes of a request; a million characters of any script fit, so that the lab itself can name its limit
SMALL = 64 << 10  # bytes of a request that always find a place
BODIES = 256 << 20  # bytes beyond these of all requests that have arrived and are not answered yet
SHARE = BODIES // 4  # of them from one address, which may be that of a whole lecture hall
PATIENCE = 10.0  # seconds for a request to begin to arrive
RATE = 32 << 10  # bytes that must arrive in each second after these
TOO_LARGE = f"The request is larger than {BODY >> 20} MB."


class Held:
    """Bytes of requests that have arrived and are not answered yet, beyond the first SMALL of each, in all and from each address."""

    def __init__(self) -> None:
        self._whole = 0
        self._of: Counter[str] = Counter()

    def take(self, address: str, size: int) -> bool:
        """A place for so many bytes more; whether there is one."""
        if self._whole + size > BODIES or self._of[address] + size > SHARE:
            return False
        self._whole += size
        self._of[address] += size
        return True

    def give(self, address: str, size: int) -> None:
        """Back."""
        self._whole -= size
        self._of[address] -= size
        if not self._of[address]:
            del self._of[address]


class Arriving:
    """One request's body. It takes a place as it arrives, whatever size it says of itself."""

    def __init__(self, held: Held, address: str) -> None:
        self._held = held
        self._address = address
        self._taken = 0

    async def read(self, receive: Receive) -> bytes | tuple[int, str] | None:
        """The whole body; the status and the sentence of its refusal; or None where the visitor has left."""
        parts, size, began = [], 0, time.monotonic()
        while True:
            try:
                message = await asyncio.wait_for(receive(), began + PATIENCE + size / RATE - time.monotonic())
            except TimeoutError:
                return 408, f"The request arrives more slowly than {RATE >> 10} KB a second."
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > BODY:
                return 413, TOO_LARGE
            more = max(0, size - SMALL) - self._taken
            if more and not self._held.take(self._address, more):
                return 503, "The server is receiving as much as it can hold just now: please try again in a minute."
            self._taken += more
            if not message.get("more_body"):
                return b"".join(parts)

    def answered(self) -> None:
        """Its place is free again."""
        self._held.give(self._address, self._taken)
