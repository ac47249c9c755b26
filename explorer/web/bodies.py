"""The bodies of requests as they arrive.

They are bounded in size, in all and by address, in the time that they may take, and in structure.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from itertools import accumulate

from starlette.types import Receive

from explorer.contract.labels import MALFORMED

# Bytes of a request; a million characters of any script fit, so that the lab itself can name its
# limit.
BODY = 5 << 20
# Bytes of a request that always find a place, and that are parsed where they arrive.
SMALL = 64 << 10
BODIES = 256 << 20  # bytes beyond these of all requests that have arrived and are not answered yet
SHARE = BODIES // 4  # the part of them for one address, which may be that of a whole lecture hall
PATIENCE = 10.0  # seconds for a request to begin to arrive, and the longest silence after that
RATE = 32 << 10  # bytes that must arrive in each second after these
# Brackets, commas, colons and texts of a JSON body; a page sends some hundred at most.
STRUCTURE = 4_000
DEPTH = 32  # brackets inside each other; a page sends 4
BURST = 1_000  # requests that one address may send at once: three from each seat of a lecture hall
PER_SECOND = 100  # requests that one address may send in each second after these
ADDRESSES = 20_000  # addresses whose requests are counted
TOO_LARGE = f"The request is larger than {BODY >> 20} MB."
LATE = f"The request arrives more slowly than {RATE >> 10} KB a second, or not at all."
FULL = "The server is receiving as much as it can hold just now: please try again in a minute."
TOO_MANY = (
    f"Your address sends more than {PER_SECOND} requests a second: please try again in a moment."
)

_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHERS = bytes(sorted(set(range(256)) - set(b"[]{},:")))


class Held:
    """The bytes of requests that have arrived and are not answered yet, in all and by address.

    The first SMALL bytes of each request do not count.
    """

    def __init__(self) -> None:
        self._whole = 0
        self._of: Counter[str] = Counter()

    def take_place(self, address: str, size: int) -> bool:
        """Take a place for some bytes more, and return whether there is one."""
        if self._whole + size > BODIES or self._of[address] + size > SHARE:
            return False
        self._whole += size
        self._of[address] += size
        return True

    def give_back(self, address: str, size: int) -> None:
        """Give a place back."""
        self._whole -= size
        self._of[address] -= size
        if not self._of[address]:
            del self._of[address]


class Rates:
    """Limit how many requests an address sends: BURST at once, PER_SECOND in the long run.

    clock: returns seconds, `time.monotonic` by default.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._paid_until: OrderedDict[str, float] = OrderedDict()  # the least recent address first

    def take(self, address: str) -> float:
        """Count one request of `address`; return 0, or the seconds until its next one."""
        now = self._clock()
        paid_until = max(now, self._paid_until.get(address, now)) + 1 / PER_SECOND
        if (excess := paid_until - now - BURST / PER_SECOND) > 1e-9:
            return excess
        self._paid_until[address] = paid_until
        self._paid_until.move_to_end(address)
        if len(self._paid_until) > ADDRESSES:
            self._paid_until.popitem(last=False)
        return 0.0


class Structure:
    """Count the structure of a JSON text as it arrives, without parsing it.

    A parser spends its time, and its memory, on values and not on bytes: 5 MB of ``[[],[],…]`` take
    it a hundred times as long as one text of that size. So this class counts a whole part of a body
    at once, and never reads it again.
    """

    def __init__(self) -> None:
        # A backslash at the end of the last part, which belongs to the next character.
        self._backslash = b""
        self._in_text = False
        self._left = STRUCTURE
        self._depth = 0

    def accepts(self, part: bytes) -> bool:
        """Count one more part; return whether the body is still within STRUCTURE and DEPTH."""
        part = self._backslash + part
        self._backslash = b"\\" if (len(part) - len(part.rstrip(b"\\"))) % 2 else b""
        part = part.removesuffix(self._backslash)
        # Pairs of backslashes first: a quote after one of them ends its text, a quote after a
        # single one does not.
        unescaped = part.replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = unescaped.split(b'"', self._left + 1)
        outside = b"".join(pieces[self._in_text :: 2]).translate(None, _OTHERS)
        self._in_text ^= len(pieces) % 2 == 0
        self._left -= len(outside) + len(pieces) - 1
        if self._left < 0:
            return False
        depths = list(accumulate(map(_STEPS.get, outside, [0] * len(outside)), initial=self._depth))
        self._depth = depths[-1]
        return max(depths) <= DEPTH


class Arriving:
    """The body of one request, which takes a place as it arrives, whatever length it announces."""

    def __init__(self, held: Held, address: str) -> None:
        self._held = held
        self._address = address
        self._taken = 0

    async def read_body(
        self, receive: Receive, structure: Structure | None = None
    ) -> bytes | tuple[int, str] | None:
        """Return the whole body, or the status and the sentence of its refusal.

        Returns None where the visitor has left.

        structure: counts the structure of a body that is to be parsed as JSON.
        """
        parts, size, deadline = [], 0, time.monotonic() + PATIENCE
        while True:
            try:
                message = await asyncio.wait_for(receive(), deadline - time.monotonic())
            except TimeoutError:
                return 408, LATE
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            parts.append(part)
            size += len(part)
            # Early bytes buy no silence: a body is never further ahead of its deadline than at the
            # beginning.
            deadline = min(deadline + len(part) / RATE, time.monotonic() + PATIENCE)
            if size > BODY:
                return 413, TOO_LARGE
            if structure is not None and not structure.accepts(part):
                return 422, MALFORMED["en"]
            more = max(0, size - SMALL) - self._taken
            if more and not self._held.take_place(self._address, more):
                return 503, FULL
            self._taken += more
            if not message.get("more_body"):
                return b"".join(parts)

    def release_place(self) -> None:
        """Free the place of the body."""
        self._held.give_back(self._address, self._taken)
