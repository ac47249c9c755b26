"""What all tests share: no network, and the server of the whole site as a process of its own."""

from __future__ import annotations

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
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PATIENCE = 120.0  # seconds that a start may take on a loaded machine


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Running:
    """The app as a visitor meets it: ``python app.py`` in a process of its own, on a port that survives a restart."""

    def __init__(self, port: int | None = None) -> None:
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in stop)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, ready: bool = True) -> Running:
        """Starts it and waits until it answers; ready: until every lab's probe has been answered too."""
        command = [sys.executable, "app.py", "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT, env={**os.environ, "no_proxy": "*"})
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
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(25)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)

    def restart(self) -> Running:
        """Ends it and starts it again on the same port: whatever it remembered is gone."""
        self.stop()
        return self.start()


@pytest.fixture(scope="session")
def running() -> Iterator[Running]:
    """The whole site, served for all tests of the session."""
    server = Running().start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def site(running: Running) -> str:
    """The address of the running site, without a slash at its end."""
    return running.url
