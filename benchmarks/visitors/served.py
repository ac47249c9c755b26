"""The app as visitors meet it: ``python app.py`` in a process of its own, on a free port of this machine."""

from __future__ import annotations

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
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from explorer.cluster import Link

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
PATIENCE = 300.0  # seconds that a start may take on a busy machine


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def a_ray(version: str, **groups: str) -> Iterator[Link]:
    """A Ray of this machine with these groups of replicas, so many of each. version: as of `Link`."""
    from explorer.cluster import Link

    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # it listens on this machine's own address alone
    with (
        tempfile.TemporaryDirectory(prefix="ray-") as folder,
        contextlib.closing(Link("", version, groups, cpus=0.1, memory=100, folder=str(Path(folder) / "r"))) as link,
    ):
        if not link.up.wait(PATIENCE):
            raise RuntimeError("Ray has not started")
        yield link


class Served:
    """A running app; entering it as a context starts it, leaving ends it. began: when its process was started (time.perf_counter)."""

    def __init__(
        self, command: Sequence[str] = ("app.py", "--host", HOST, "--port", "PORT"), port: int | None = None, **environment: str
    ) -> None:
        """command: what runs, as Python's arguments, with "PORT" where its port belongs; port: a free one where nothing is said.

        environment: further variables."""
        # Three hundred browsers of six connections each; the app sees to its own side.
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        self.port = free_port() if port is None else port
        self.url = f"http://{HOST}:{self.port}"
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close
        self._command = [sys.executable, *(str(self.port) if word == "PORT" else word for word in command)]
        self._process: subprocess.Popen[bytes] | None = None
        self._environment = {**os.environ, "no_proxy": "*", **environment}

    def start(self) -> None:
        """Starts it, or starts it again."""
        self.began = time.perf_counter()
        self._process = subprocess.Popen(self._command, cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT, env=self._environment)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """What runs."""
        assert self._process is not None
        return self._process

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it for good."""
        self.stop()
        self._log.close()

    def until(self, path: str = "/readyz", every: float = 0.1) -> float:
        """Seconds since the process was started until `path` is answered well. RuntimeError where the app has left, or never answers."""
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
                raise RuntimeError(f"the stored results were not ready within {PATIENCE:.0f} s:\n{self.log()}")
            time.sleep(0.2)

    def get(self, path: str) -> Any:
        """The JSON at a path. OSError (with what urllib says) unless the status is 200."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.url + path, timeout=10) as answer:
            return json.loads(answer.read())

    @property
    def resident_mb(self) -> float:
        """Megabytes (10⁶ bytes) of memory that the app's process holds."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    @property
    def age_s(self) -> float:
        """Seconds since its process was started."""
        return time.perf_counter() - self.began

    @property
    def cpu_s(self) -> float:
        """Seconds of processor time that the app has used so far, all threads together."""
        used = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")

    def log(self) -> str:
        """What it has printed so far."""
        return os.pread(self._log.fileno(), 16 << 20, 0).decode(errors="replace")

    def defects(self) -> list[str]:
        """Errors that it has written to its log: what each line says."""
        return [line[:300] for line in self.log().splitlines() if '"level": "error"' in line or "Traceback (most recent" in line]

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        self.process.send_signal(number)

    def wait(self, seconds: float) -> int:
        """Its exit status. subprocess.TimeoutExpired where it is still there after so many seconds."""
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
