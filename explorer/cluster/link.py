"""The way from a web server to the cluster: a process that holds Ray, started again whenever it ends."""

from __future__ import annotations

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
        times, then "end", or "lost" where there will be no more."""
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
        while not self._closing.is_set():
            ours, theirs = socket.socketpair()
            with ours:
                path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
                command = [sys.executable, "-m", self.module, str(theirs.fileno()), json.dumps(self._options)]
                self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONPATH": path}, cwd=ROOT)
                theirs.close()
                writing = threading.Thread(target=self._write, args=(ours,), daemon=True)
                writing.start()
                self._read(ours)
                self.up.clear()
                self.away = True
                with self._lock:
                    hearers, self._hearers = list(self._hearers.values()), {}
                    while not self._outbox.empty():
                        self._outbox.get()
                    self._outbox.put(b"")  # the end of the thread that writes
                writing.join()
                for hear in hearers:
                    hear("lost", "away")
            try:
                self._process.wait(None if not self._closing.is_set() else 20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if not self._closing.wait(REST):
                log.warning("the cluster is out of reach; trying again", extra={"facts": {"status": self._process.returncode}})

    def _write(self, ours: socket.socket) -> None:
        try:
            while message := self._outbox.get():
                ours.sendall(message)
            ours.shutdown(socket.SHUT_WR)
        except OSError:  # it has ended: the thread that reads notices too
            while self._outbox.get():
                pass

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
                    for one in list(self.queues):
                        one.waits([pickle.loads(told) for told in content])
                    continue
                hear = self._hearers.get(number)
                if kind != "said":
                    self._hearers.pop(number, None)
                if hear is not None:
                    hear(kind, content)


def _framed(message: object) -> bytes:
    packed = pickle.dumps(message, protocol=5)
    return len(packed).to_bytes(4, "big") + packed
