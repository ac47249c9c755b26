"""The way from a web server to the cluster: a process that holds Ray, started again whenever it ends."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import pickle
import queue
import socket
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from explorer.engine.runs import Work

ROOT = Path(__file__).parents[2]
REST = 1.0  # seconds before the process is started again
HEAR = Callable[[str, Any], None]

log = logging.getLogger(__name__)


class Link:
    """Messages to the cluster and back, from any thread. Nothing of Ray is imported here."""

    module = "explorer.cluster.bridge"  # the process

    def __init__(
        self, address: str, version: str, groups: Mapping[str, str], cpus: float = 1.0, memory: int = 512, folder: str = ""
    ) -> None:
        """address: HOST:PORT of a cluster that this machine belongs to; "" starts a Ray of this machine alone.

        version: the name of the function that tells the digest of what is held, here and there. groups: of replicas, by name, with how many
        there shall be where there are none yet: "2", or "1-4" by load; a function of a lab goes to the group of that lab's folder, all
        others to "all". cpus: of each. memory: MB of a local Ray's store. folder: where that keeps its files.
        """
        self.digest = str(Work(version, version).resolve()())
        self.up = threading.Event()
        self.away = False  # it was tried, or was there, and is not
        self.address = address  # also of a Ray of this machine alone, once it is up
        self.groups = dict(groups)
        self.queues: weakref.WeakSet[Any] = weakref.WeakSet()  # who hears by waits(…) how many requests each replica has waiting
        self._options = {"address": address, "version": version, "groups": self.groups, "cpus": cpus, "memory": memory, "folder": folder}
        self._numbers = itertools.count(1)
        self._hearers: dict[int, HEAR] = {}
        self._outbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep, name="cluster", daemon=True)
        self._thread.start()

    def send(self, hear: HEAR, kind: str, content: Any) -> int:
        """Sends a message and returns its number. hear(kind, content) is told of every answer, in another thread: "said" any number of
        times, then "end", or "lost" where there will be no more, or "unread" where it could not make anything of what it was told."""
        number = next(self._numbers)
        with self._lock:
            self._hearers[number] = hear
            self._outbox.put(_framed((kind, number, content)))
        return number

    def leave(self, number: int) -> None:
        """The answers to that message are no longer waited for."""
        if self._hearers.pop(number, None) is not None:
            self._outbox.put(_framed(("left", number, None)))

    def call(self, method: str, *arguments: Any) -> Future[list[Any]]:
        """What all replicas return. RuntimeError where they cannot be asked."""
        future: Future[list[Any]] = Future()

        def hear(kind: str, content: Any) -> None:
            if kind == "end":
                future.set_result(content)
            else:
                future.set_exception(RuntimeError(f"the replicas could not be asked: {content}"))

        self.send(hear, "call", (method, *arguments))
        return future

    def close(self) -> None:
        """Lets the process go; a local Ray ends with it."""
        self._closing.set()
        self._outbox.put(b"")
        self._thread.join(30)

    def _keep(self) -> None:
        """One process after another, whatever becomes of each."""
        while not self._closing.is_set():
            self._process = None
            try:
                self._follow()
            except Exception:  # whatever it is, the next try must come
                log.exception("the way to the cluster broke")
            self._lose()
            status = None if self._process is None else _ended(self._process)
            if not self._closing.wait(REST):
                log.warning("the cluster is out of reach; trying again", extra={"facts": {"status": status}})

    def _follow(self) -> None:
        """Start the process; write to it and read from it until it ends."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
                command = [sys.executable, "-m", self.module, str(theirs.fileno()), json.dumps(self._options)]
                self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONPATH": path}, cwd=ROOT)
            writing = threading.Thread(target=self._write, args=(ours,), daemon=True)
            writing.start()
            try:
                self._read(ours)
            finally:
                _shut(ours, socket.SHUT_RDWR)  # else a process that no longer reads would hold the thread that writes
                self._outbox.put(b"")  # the end of that thread
                writing.join()

    def _lose(self) -> None:
        """The cluster is away: tell all who wait for an answer."""
        self.up.clear()
        self.away = True
        with self._lock:
            hearers, self._hearers = list(self._hearers.values()), {}
            while not self._outbox.empty():
                self._outbox.get()
        for hear in hearers:
            _heard(hear, "lost", "away")

    def _write(self, ours: socket.socket) -> None:
        while message := self._outbox.get():
            try:
                ours.sendall(message)
            except OSError:  # it has ended, or has half a message: the thread that reads is to notice too
                _shut(ours, socket.SHUT_RDWR)
        _shut(ours, socket.SHUT_WR)

    def _read(self, ours: socket.socket) -> None:
        with ours.makefile("rb") as arriving:
            while True:
                try:
                    size = int.from_bytes(arriving.read(4), "big")
                    packed = arriving.read(size)
                except OSError:  # it ended before it had read what was sent
                    return
                if not size or len(packed) < size:
                    return
                kind, number, content = pickle.loads(packed)
                if kind == "up":
                    self.away, self.address = False, content
                    self.up.set()
                    continue
                if kind == "queues":
                    _heard(self._tell_queues, content)
                    continue
                hear = self._hearers.get(number)
                if kind != "said":
                    self._hearers.pop(number, None)
                if hear is not None and not _heard(hear, kind, content):
                    self.leave(number)
                    _heard(hear, "unread", None)

    def _tell_queues(self, content: list[bytes]) -> None:
        told = [pickle.loads(one) for one in content]
        for one in list(self.queues):
            one.waits(told)


def _heard(hear: Callable[..., None], *said: Any) -> bool:
    """Tell it; False where that raised. The log has no message of the error, which may hold what a visitor wrote."""
    try:
        hear(*said)
    except Exception as error:
        log.error("%s in what hears of the cluster\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        return False
    return True


def _shut(ours: socket.socket, way: int) -> None:
    with contextlib.suppress(OSError):  # the other end is gone already
        ours.shutdown(way)


def _ended(process: subprocess.Popen[bytes]) -> int:
    """How the process has ended, which must be soon: nobody is at the other end of its socket."""
    try:
        return process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _framed(message: object) -> bytes:
    packed = pickle.dumps(message, protocol=5)
    return len(packed).to_bytes(4, "big") + packed
