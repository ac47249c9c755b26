"""Functions for the engine that can be held, and small helpers of its tests. Nothing here waits for
time to pass."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from explorer.engine import Engine
from models.explaining.errors import InputError, Stopped

PATIENCE = 60.0  # seconds after which a test has failed


@dataclass(frozen=True)
class Ask:
    """A request."""

    text: str
    width: int = 1

    def group(self) -> int:
        return self.width


@dataclass(frozen=True)
class Timed:
    """A request whose answer is another one every time."""

    text: str
    live: bool = True


class Echo:
    """A function that can be held, and remembers the batches it was called with."""

    def __init__(self, held: bool = False) -> None:
        self.batches: list[list[str]] = []
        self.called = threading.Event()
        self.free = threading.Event()
        if not held:
            self.free.set()

    def __call__(self, requests: list[Ask]) -> list[str | InputError]:
        self.batches.append([r.text for r in requests])
        self.called.set()
        assert self.free.wait(PATIENCE)
        if any(r.text == "bug" for r in requests):
            raise KeyError(requests[0].text * 3)
        return [
            InputError("empty", en="Empty.", zh="空。") if not r.text else r.text.upper()
            for r in requests
        ]


class Count:
    """A function that yields: one letter a turn, each turn let through by hand unless it is free;
    stopped, it says how far it came."""

    def __init__(self, free: bool = False) -> None:
        self.turns = threading.Semaphore(10**6 if free else 0)
        self.made = 0
        self.begun: list[list[str]] = []
        self.closed = threading.Event()

    def __call__(self, requests: list[Ask]) -> Iterator[list[list[str] | str | None]]:
        self.begun.append([r.text for r in requests])
        try:
            for i in range(max(len(r.text) for r in requests)):
                assert self.turns.acquire(timeout=PATIENCE)
                self.made += 1
                yield [
                    [r.text[i]]
                    if i < len(r.text)
                    else (r.text.upper() if i == len(r.text) else None)
                    for r in requests
                ]
            longest = max(len(r.text) for r in requests)
            yield [r.text.upper() if len(r.text) == longest else None for r in requests]
        except Stopped:
            yield [f"{r.text[: i + 1].upper()}." for r in requests]
        finally:
            self.closed.set()


def asked(
    engine: Engine, function: Any, *texts: object, width: int = 1, session: str = ""
) -> list[asyncio.Task[Any]]:
    """Requests on their way to an engine."""
    return [
        asyncio.create_task(engine.ask(function, Ask(str(text), width), session)) for text in texts
    ]


async def values(tasks: Iterable[Awaitable[Any]]) -> list[Any]:
    """What came of them: values and errors."""
    return [
        getattr(one, "value", one) for one in await asyncio.gather(*tasks, return_exceptions=True)
    ]


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.002)


async def held(engine: Engine, echo: Echo) -> list[asyncio.Task[Any]]:
    """One request that is being computed until the function is let."""
    running = asked(engine, echo, "running")
    await until(echo.called.is_set)
    return running
