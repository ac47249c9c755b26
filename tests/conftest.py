"""What all tests share: no network, and the server of the whole site as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

# As in the server (explorer/server.py): NumPy's threads would take the processor from the apps and browsers beside the tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

T = TypeVar("T")

ROOT = Path(__file__).parent.parent
PATIENCE = 300.0  # seconds that a start may take on a loaded machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: once Playwright drives a browser, its loop runs in this thread, where asyncio.run is then refused."""
    items.sort(key=lambda item: "browser" in item.path.parts)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def built(make: Callable[[], T]) -> T:
    """What `make` makes, inside a running event loop: outside of one, Gradio opens loops of its own and leaves them open."""

    async def inside() -> T:
        return make()

    return asyncio.run(inside())


class Running:
    """The app as a visitor meets it: ``python app.py`` in a process of its own, on a port that survives a restart."""

    def __init__(self, port: int | None = None, command: Sequence[str] | None = None, **environment: str) -> None:
        """command: what runs instead, as Python's arguments, with "PORT" where its port belongs. environment: further variables."""
        self._command = ["app.py", "--host", "127.0.0.1", "--port", "PORT"] if command is None else command
        self._environment = environment
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, ready: bool = True) -> Running:
        """Starts it and waits until it answers; ready: until every lab's probe has been answered too."""
        command = [sys.executable, *(str(self.port) if word == "PORT" else word for word in self._command)]
        environment = {**os.environ, "no_proxy": "*", **self._environment}
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT, env=environment)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._process.poll() is not None:
                pytest.fail(f"the server left with {self._process.returncode}:\n{self.log()}")
            with contextlib.suppress(OSError), urllib.request.urlopen(self.url + ("/readyz" if ready else "/healthz"), timeout=5):
                return self
            time.sleep(0.1)
        self.stop()
        pytest.fail(f"the server was not ready within {PATIENCE:.0f} s:\n{self.log()}")

    @property
    def pid(self) -> int:
        """The process that serves."""
        assert self._process is not None
        return self._process.pid

    def log(self) -> str:
        """What it has printed so far."""
        self._log.flush()
        return os.pread(self._log.fileno(), 1 << 20, 0).decode(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self, seconds: float) -> int:
        """Its exit status."""
        assert self._process is not None
        return self._process.wait(seconds)

    def stop(self) -> None:
        """Ends it, by force after a while."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(25)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)
        self._process = None

    def close(self) -> None:
        """Ends it for good."""
        self.stop()
        self._log.close()

    def restart(self) -> Running:
        """Ends it and starts it again on the same port: whatever it remembered is gone."""
        self.stop()
        return self.start()


@pytest.fixture(scope="session")
def running() -> Iterator[Running]:
    """The whole site, served for all tests of the session."""
    server = Running()
    try:
        server.start()
    except BaseException:
        server.close()
        raise
    yield server
    server.close()


@pytest.fixture(scope="session")
def site(running: Running) -> str:
    """The address of the running site, without a slash at its end."""
    return running.url
