"""The start of the server from the command line, and its end at a signal."""

from __future__ import annotations

import contextlib
import functools
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

# first, because it sets the variables that libraries read when they are imported
from explorer.web.server import GRACE, OFFLINE, Site  # isort: split

from explorer.contract.lab import OpenLab
from explorer.engine import Engine
from explorer.web import log as journal
from explorer.web import options


def serve(
    labs: Sequence[OpenLab],
    host: str,
    port: int,
    began: float | None = None,
    grace: float = GRACE,
    engine: Callable[[], Engine] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then give the runs `grace` seconds to be answered.

    A second signal ends it at once.

    engine: a function that makes the engine; by default, one of this process.
    """
    import uvicorn

    from explorer.web.connection import Connection, Unwanted

    listener = open_socket(host, port)
    _raise_connection_limit()
    site = Site(labs, engine and engine(), began, grace)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            site.readiness.listening.set()
            shown = "localhost" if host in {"0.0.0.0", "::", ""} else host
            after = time.monotonic() - site.readiness.began
            print(
                f"Listening on http://{shown}:{listener.getsockname()[1]} after {after:.1f} s.",
                flush=True,
            )

        def handle_exit(self, sig: int, frame: Any) -> None:
            end = functools.partial(super().handle_exit, sig, frame)
            if site.readiness.draining:
                end()
            else:
                site.drain(end)

    config = uvicorn.Config(
        site.gate,
        http=functools.partial(Connection, unwanted=Unwanted()),  # type: ignore[arg-type] # uvicorn calls it for each connection
        loop="asyncio",  # whether or not another is installed, which uvicorn would take
        proxy_headers=False,  # the gate reads them
        log_level="warning",
        log_config=None,
        access_log=False,
        server_header=False,
        # after a drain only connections are left that nobody reads from
        timeout_graceful_shutdown=1,
        timeout_keep_alive=30,
        ws="none",
    )
    # uvicorn sends itself the signal again once everything is answered: that is an exit like any
    # other, not a death.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with contextlib.suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listener])


def _raise_connection_limit() -> None:
    """Raise the limit of connections as far as the system allows.

    A browser opens six, and a process often begins with a limit of 1,024 for all.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):  # the limit may not be movable
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address. Raise SystemExit where it cannot be used."""
    # Named as TCP: asyncio sends small parts of an answer at once only where the socket says so,
    # and a kept connection waits 40 ms else.
    listener = socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else "a port is 0 to 65535"
        raise SystemExit(
            f"Port {port} on {host} cannot be used: {reason}. Choose another with --port."
        ) from None
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def main(arguments: Sequence[str] | None = None, began: float | None = None) -> None:
    """Run the command line of ``python app.py``.

    began: when the program was started, for the times that it reports.
    """
    given = options.read_options(arguments, OFFLINE)
    journal.begin_logging()
    from explorer.labs import LABS

    labs = LABS
    if given.model:
        from explorer.labs.your_model.lab import build_lab
        from explorer.page.lab import open_lab

        labs = (*LABS, open_lab(build_lab()))
    serve(labs, given.host, given.port, began, engine=given.engine)
