"""The connection from a web server to the cluster.

A process of its own holds Ray, and is started again whenever it ends.
"""

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
    """A connection that carries messages to the cluster and back, from any thread.

    Nothing of Ray is imported here.
    """

    module = "explorer.cluster.bridge"  # the process that holds Ray

    def __init__(
        self,
        address: str,
        version: str,
        groups: Mapping[str, str],
        cpus: float = 1.0,
        memory: int = 512,
        folder: str = "",
    ) -> None:
        """Start the process that holds Ray.

        address: HOST:PORT of a cluster that this machine belongs to; "" starts a Ray of this
        machine alone.
        version: the name of the function that returns the digest of the models, here and on the
        replicas.
        groups: the groups of replicas by name, with the number of replicas to start where there are
        none yet: "2", or "1-4" by load. A function of a lab goes to the group named after the lab's
        folder, all others go to "all".
        cpus: processors of each replica.
        memory: size of a local Ray's store in MB.
        folder: the folder in which a local Ray keeps its files.
        """
        self.digest = str(Work(version, version).import_function()())
        self.up = threading.Event()
        self.away = False  # the cluster was tried, or was there, and is out of reach now
        self.address = address  # set as well for a Ray of this machine alone, once it is up
        self.groups = dict(groups)
        # Listeners whose update_queues gets the number of waiting requests of each replica.
        self.queues: weakref.WeakSet[Any] = weakref.WeakSet()
        self._options = {
            "address": address,
            "version": version,
            "groups": self.groups,
            "cpus": cpus,
            "memory": memory,
            "folder": folder,
        }
        self._numbers = itertools.count(1)
        self._hearers: dict[int, HEAR] = {}
        self._outbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep_process, name="cluster", daemon=True)
        self._thread.start()

    def send_message(self, hear: HEAR, kind: str, content: Any) -> int:
        """Send a message and return its number.

        hear: a function (kind, content) that is called in another thread for every answer: "said"
        any number of times, then "end". It gets "lost" where no more answers come, and "unread"
        where it failed on an answer itself.
        """
        number = next(self._numbers)
        with self._lock:
            self._hearers[number] = hear
            self._outbox.put(_frame_message((kind, number, content)))
        return number

    def leave_message(self, number: int) -> None:
        """Stop waiting for the answers to a message."""
        if self._hearers.pop(number, None) is not None:
            self._outbox.put(_frame_message(("left", number, None)))

    def call_replicas(self, method: str, *arguments: Any) -> Future[list[Any]]:
        """Return a future of the results of all replicas.

        It holds a RuntimeError where they cannot be asked.
        """
        future: Future[list[Any]] = Future()

        def hear(kind: str, content: Any) -> None:
            if kind == "end":
                future.set_result(content)
            else:
                future.set_exception(RuntimeError(f"the replicas could not be asked: {content}"))

        self.send_message(hear, "call", (method, *arguments))
        return future

    def close(self) -> None:
        """Let the process go; a local Ray ends with it."""
        self._closing.set()
        self._outbox.put(b"")
        self._thread.join(30)

    def _keep_process(self) -> None:
        """Start one process after another, however each of them ends."""
        while not self._closing.is_set():
            self._process = None
            try:
                self._follow_process()
            except Exception:  # because the next try must come after any error
                log.exception("the connection to the cluster broke")
            self._report_loss()
            status = None if self._process is None else _describe_exit(self._process)
            if not self._closing.wait(REST):
                log.warning(
                    "the cluster is out of reach; trying again", extra={"facts": {"status": status}}
                )

    def _follow_process(self) -> None:
        """Start the process, then write to it and read from it until it ends."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
                command = [
                    sys.executable,
                    "-m",
                    self.module,
                    str(theirs.fileno()),
                    json.dumps(self._options),
                ]
                self._process = subprocess.Popen(
                    command,
                    pass_fds=[theirs.fileno()],
                    env={**os.environ, "PYTHONPATH": path},
                    cwd=ROOT,
                )
            writing = threading.Thread(target=self._write_messages, args=(ours,), daemon=True)
            writing.start()
            try:
                self._read_messages(ours)
            finally:
                # Otherwise a process that no longer reads would block the thread that writes.
                _shut_socket(ours, socket.SHUT_RDWR)
                self._outbox.put(b"")  # ends that thread
                writing.join()

    def _report_loss(self) -> None:
        """Mark the cluster as away, and tell everybody who waits for an answer."""
        self.up.clear()
        self.away = True
        with self._lock:
            hearers, self._hearers = list(self._hearers.values()), {}
            while not self._outbox.empty():
                self._outbox.get()
        for hear in hearers:
            _deliver_safely(hear, "lost", "away")

    def _write_messages(self, ours: socket.socket) -> None:
        while message := self._outbox.get():
            try:
                ours.sendall(message)
            # The process has ended, perhaps after half a message: the reading thread must notice
            # too.
            except OSError:
                _shut_socket(ours, socket.SHUT_RDWR)
        _shut_socket(ours, socket.SHUT_WR)

    def _read_messages(self, ours: socket.socket) -> None:
        with ours.makefile("rb") as arriving:
            while True:
                try:
                    size = int.from_bytes(arriving.read(4), "big")
                    packed = arriving.read(size)
                except OSError:  # the process ended before it had read everything
                    return
                if not size or len(packed) < size:
                    return
                kind, number, content = pickle.loads(packed)
                if kind == "up":
                    self.away, self.address = False, content
                    self.up.set()
                    continue
                if kind == "queues":
                    _deliver_safely(self._tell_queues, content)
                    continue
                hear = self._hearers.get(number)
                if kind != "said":
                    self._hearers.pop(number, None)
                if hear is not None and not _deliver_safely(hear, kind, content):
                    self.leave_message(number)
                    _deliver_safely(hear, "unread", None)

    def _tell_queues(self, content: list[bytes]) -> None:
        told = [pickle.loads(one) for one in content]
        for one in list(self.queues):
            one.update_queues(told)


def _deliver_safely(hear: Callable[..., None], *said: Any) -> bool:
    """Call a listener and return whether it succeeded.

    The log leaves out the error's message, which may hold what a visitor wrote.
    """
    try:
        hear(*said)
    except Exception as error:
        log.error(
            "%s in a listener of the cluster\n%s",
            type(error).__name__,
            "".join(traceback.format_tb(error.__traceback__)),
        )
        return False
    return True


def _shut_socket(ours: socket.socket, way: int) -> None:
    with contextlib.suppress(OSError):  # the other end may be gone already
        ours.shutdown(way)


def _describe_exit(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of the process, and kill it if it does not end.

    It must end soon, because nobody is at the other end of its socket.
    """
    try:
        return process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _frame_message(message: object) -> bytes:
    packed = pickle.dumps(message, protocol=5)
    return len(packed).to_bytes(4, "big") + packed
