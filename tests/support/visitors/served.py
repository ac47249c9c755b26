"""The app as visitors find it: ``python app.py`` in a process of its own, on a free port of this
machine."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from benchmarks.sizes import is_smallest, size

if TYPE_CHECKING:
    from explorer.cluster import Link

ROOT = Path(__file__).resolve().parents[3]
HOST = "127.0.0.1"
# The measured app: as it is shipped; at the smallest size, with one lab.
APP = size(
    ("app.py", "--host", HOST, "--port", "PORT"), ("-m", "tests.support.visitors.small_app", "PORT")
)
PATIENCE = 300.0  # seconds that a start may take on a busy machine


def free_port() -> int:
    """Return a port of this machine that is free now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def a_ray(version: str, **groups: str) -> Iterator[Link]:
    """Yield a Ray of this machine with these groups of replicas, and their numbers.

    version: as in `Link`.
    """
    from explorer.cluster import Link

    # it listens on this machine's own address alone
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    with (
        tempfile.TemporaryDirectory(prefix="ray-") as folder,
        contextlib.closing(
            Link("", version, groups, cpus=0.1, memory=100, folder=str(Path(folder) / "r"))
        ) as link,
    ):
        if not link.up.wait(PATIENCE):
            raise RuntimeError("Ray has not started")
        yield link


class Served:
    """A running app. Entering it as a context starts it, leaving ends it.

    began: the time at which its process was started (time.perf_counter).
    """

    def __init__(
        self, command: Sequence[str] = APP, port: int | None = None, **environment: str
    ) -> None:
        """Set the command and the port.

        command: Python's arguments, with "PORT" in place of its port.
        port: by default a free one.
        environment: further variables.
        """
        # Three hundred browsers open six connections each. The app sets its own limit.
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2
        )
        self.port = free_port() if port is None else port
        self.url = f"http://{HOST}:{self.port}"
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close
        self._command = [
            sys.executable,
            *(str(self.port) if word == "PORT" else word for word in command),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._environment = {**os.environ, "no_proxy": "*", **environment}

    def start(self) -> None:
        """Start it, or start it again."""
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=self._environment,
        )

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The running process."""
        assert self._process is not None
        return self._process

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it for good."""
        self.stop()
        self._log.close()

    def until(self, path: str = "/readyz", every: float = 0.1) -> float:
        """Return the seconds since the process was started until `path` is answered well. Raise
        RuntimeError where the app has ended, or never answers."""
        end = time.perf_counter() + PATIENCE
        while time.perf_counter() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the app left with {self.process.returncode}:\n{self.log()}")
            with contextlib.suppress(OSError):
                self.get(path)
                return self.age_s
            time.sleep(every)
        raise RuntimeError(f"{path} was not answered within {PATIENCE:.0f} s:\n{self.log()}")

    def prepare(self) -> None:
        """Wait until the app is ready, and holds every stored result that it will hold."""
        self.until()
        end = time.perf_counter() + PATIENCE
        while any(ready < whole for ready, whole in self.get("/readyz")["stored"].values()):
            if time.perf_counter() > end:
                raise RuntimeError(
                    f"the stored results were not ready within {PATIENCE:.0f} s:\n{self.log()}"
                )
            time.sleep(0.2)

    def get(self, path: str) -> Any:
        """Return the JSON at a path. Raise OSError (with urllib's message) unless the status is
        200."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            self.url + path, timeout=10
        ) as answer:
            return json.loads(answer.read())

    @property
    def resident_mb(self) -> float:
        """The memory of the app's process, in megabytes (10⁶ bytes)."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    @property
    def age_s(self) -> float:
        """The seconds since its process was started."""
        return time.perf_counter() - self.began

    @property
    def cpu_s(self) -> float:
        """The seconds of processor time that the app has used so far, all threads
        together."""
        used = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")

    def log(self) -> str:
        """Return the app's output so far."""
        return os.pread(self._log.fileno(), 16 << 20, 0).decode(errors="replace")

    def defects(self) -> list[str]:
        """Return the errors in its log: the message of each line."""
        return [
            line[:300]
            for line in self.log().splitlines()
            if '"level": "error"' in line or "Traceback (most recent" in line
        ]

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def wait(self, seconds: float) -> int:
        """Return its exit status. Raise subprocess.TimeoutExpired where it is still there after
        this many seconds."""
        return self.process.wait(seconds)

    def stop(self) -> None:
        """End it, by force after a while."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self.wait(25)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def prepared() -> Iterator[Served]:
    """Yield an app that is ready for visitors; at the smallest size the same one for all benchmarks
    of a process that leave it running."""
    if is_smallest():
        yield _shared()
        return
    with Served() as served:
        served.prepare()
        yield served


@cache
def _shared() -> Served:
    served = Served()
    served.start()
    atexit.register(served.close)
    served.prepare()
    return served
