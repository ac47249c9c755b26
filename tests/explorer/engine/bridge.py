"""A bridge without Ray, whose one replica is in its own process: ``python -m
tests.explorer.engine.bridge SOCKET OPTIONS``."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from typing import Any

from explorer.cluster.bridge import Bridge
from explorer.cluster.replica import Replica


class Response:
    """What a handle returns for a stream."""

    def __init__(self, updates: Any) -> None:
        self._updates = updates

    def __aiter__(self) -> Any:
        return self._updates

    def cancel(self) -> None:
        """The bridge's task ends the generator."""


class Handle:
    """As that of a deployment."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    def options(self, **_: object) -> Handle:
        return self

    def remote(self, asked: bytes) -> Response:
        return Response(self._replica.follow(asked))

    def broadcast(self, method: str, *arguments: Any) -> Handle:
        self._asked = getattr(self._replica, method)(*arguments)
        return self

    async def results_async(self, timeout_s: float) -> list[Any]:
        return [await self._asked]


async def main() -> None:
    options = json.loads(sys.argv[2])
    if os.path.exists(options["folder"]):  # noqa: PTH110
        sys.exit(1)
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=int(sys.argv[1])))
    await Bridge(reader, writer, {"all": Handle(Replica(options["version"]))}).serve_socket()


if __name__ == "__main__":
    asyncio.run(main())
