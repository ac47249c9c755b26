"""Functions of a test, lent to the replicas of a cluster: called from there, they run here, where
the test holds and counts them."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

KEY = b"engine tests"


@dataclass(frozen=True)
class Lent:
    """What a replica calls: the function of that number, in the process that listens at the
    address."""

    address: str
    number: int

    def __call__(self, requests: list[Any]) -> Any:
        line = Client(self.address, authkey=KEY)
        kind, value = _asked(line, self.number, requests)
        if kind == "value":
            line.close()
            return value
        return Turns(line)


class Turns:
    """The generator that a lent function has returned."""

    def __init__(self, line: Connection) -> None:
        self._line = line

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return _asked(self._line, "send", None)[1]

    def throw(self, error: BaseException) -> Any:
        return _asked(self._line, "throw", error)[1]

    def close(self) -> None:
        if not self._line.closed:
            _asked(self._line, "close", None)
            self._line.close()


def _asked(line: Connection, *message: Any) -> tuple[str, Any]:
    line.send(message)
    kind, value = line.recv()
    if kind == "error":
        raise value
    return kind, value


class Lender:
    """Where lent functions are called."""

    def __init__(self, called: Callable[[Any, list[Any]], None]) -> None:
        """called(function, requests): before each call, of which the replica has told a moment
        ago."""
        self._called = called
        self._listener = Listener(family="AF_UNIX", authkey=KEY, backlog=64)
        self._functions: list[Callable[..., Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def lend(self, function: Any) -> Any:
        """What stands for the function in a replica. Names are looked up as here."""
        if isinstance(function, str):
            return Named(function, tuple(sys.path))
        if function not in self._functions:
            self._functions.append(function)
        return Lent(str(self._listener.address), self._functions.index(function))

    def _listen(self) -> None:
        for _ in itertools.count():
            line = self._listener.accept()
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: Connection) -> None:
        turns: Any = None
        while True:
            try:
                what, value = line.recv()
            except (EOFError, OSError):
                return
            try:
                if isinstance(what, int):
                    self._called(self._functions[what], value)
                    given = self._functions[what](value)
                    turns = given if hasattr(given, "__next__") else None
                    line.send(("value", list(given)) if turns is None else ("turns", None))
                elif what == "close":
                    line.send(("value", turns.close()))
                else:
                    line.send(("value", next(turns) if what == "send" else turns.throw(value)))
            except BaseException as error:
                # the replica may be gone: then nobody is there to hear of it
                with suppress(OSError):
                    line.send(("error", error))


@dataclass(frozen=True)
class Named:
    """The name of a function, that a replica finds where this process would."""

    name: str
    path: tuple[str, ...]

    def __reduce__(self) -> Any:
        return _found, (self.name, self.path)


def _found(name: str, path: tuple[str, ...]) -> str:
    sys.path.extend(folder for folder in path if folder not in sys.path)
    return name


def spell(requests: list[Any]) -> Iterator[list[Any]]:
    """Letters, until the folder that the request names holds "go"; which process spells is noted
    there."""
    folder = Path(requests[0].text)
    (folder / f"{os.getpid()}.pid").touch()
    yield [["a", "b"] for _ in requests]
    while not (folder / "go").exists():
        time.sleep(0.01)
        yield [[] for _ in requests]
    yield [["c"] for _ in requests]
    yield ["abc" for _ in requests]


def version() -> str:
    """What the tests' replicas and they themselves hold."""
    return "0123456789ab"


def held(requests: list[Any]) -> list[Any]:
    """Answers once the folder that the first request names holds "go"."""
    while not (Path(requests[0].text) / "go").exists():
        time.sleep(0.01)
    return requests
