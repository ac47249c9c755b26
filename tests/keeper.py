"""Runs a command for as long as another process lives: ``python tests/keeper.py PID COMMAND …``.
What it started ends with it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys


def main() -> int:
    """Returns the exit status of the command."""
    watched = os.pidfd_open(int(sys.argv[1]))
    child = subprocess.Popen(sys.argv[2:])
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    ended = select.select([watched, os.pidfd_open(child.pid)], [], [])[0]
    if watched in ended:
        child.terminate()
    return child.wait()


if __name__ == "__main__":
    raise SystemExit(main())
