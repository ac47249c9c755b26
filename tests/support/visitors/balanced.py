"""Several web servers behind one address: deploy/nginx.conf, run by an nginx of this machine."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.visitors.served import HOST, ROOT, free_port

PATIENCE = 60.0  # seconds that a start may take


@contextlib.contextmanager
def balanced(ports: Sequence[int]) -> Iterator[int]:
    """Yield the port of the address, for one or two servers on these ports. Raise RuntimeError
    where nginx does not start."""
    port = free_port()
    text = (ROOT / "deploy/nginx.conf").read_text("utf-8")
    servers = {
        f"server web{n}:7860 ": f"server {HOST}:{ports[(n - 1) % len(ports)]} " for n in (1, 2)
    }
    for named, ours in ({"listen 80;": f"listen {HOST}:{port};"} | servers).items():
        if named not in text:
            raise RuntimeError(f"deploy/nginx.conf has no {named!r}")
        text = text.replace(named, ours)
    with tempfile.TemporaryDirectory(prefix="nginx-") as folder:
        Path(folder, "nginx.conf").write_text(text, "utf-8")
        command = [
            shutil.which("nginx") or "/usr/sbin/nginx",
            "-p",
            folder,
            "-c",
            "nginx.conf",
            "-e",
            "stderr",
            "-g",
            "daemon off;",
        ]
        with Path(folder, "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            end = time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < end:
                with contextlib.suppress(OSError), socket.create_connection((HOST, port), PATIENCE):
                    break
                time.sleep(0.01)
            if process.poll() is not None:
                raise RuntimeError(f"nginx has ended:\n{Path(folder, 'log').read_text()}")
            yield port
        finally:
            process.terminate()
            process.wait(PATIENCE)
