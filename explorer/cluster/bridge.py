"""Hold Ray for a web server, in a process of its own.

``python -m explorer.cluster.bridge SOCKET OPTIONS``

A driver of Ray ends when its cluster does, and brings libraries, threads and signal handlers of its
own. None of this belongs into the process that serves pages. The bridge passes bytes on and reads
none.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import pickle
import signal
import socket
import sys
import threading
from functools import partial
from typing import Any

LOCAL = {
    # This switch keeps all of Ray's ports on this machine's own address.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_worker_niceness": "0",  # because visitors wait for the replicas
}
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    # One loop for each process, because a call would otherwise wait for three threads in turn.
    "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",
    "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
}
CALLS = 2000  # requests that a replica takes at once: its engine has a queue of its own
PATIENCE = 300.0  # seconds that connecting and starting replicas may take
# Seconds between two checks of the cluster, and the failed checks in a row that mean it is away.
BEAT, MISSED = 2.0, 5


class Bridge:
    """One connection to a web server, one handle for each group of replicas."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handles: dict[str, Any]
    ) -> None:
        self._reader, self._writer, self._handles = reader, writer, handles
        self._streams = {
            group: handle.options(method_name="follow", stream=True)
            for group, handle in handles.items()
        }
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def send_message(self, *message: object) -> None:
        """Send a message to the web server."""
        packed = pickle.dumps(message, protocol=5)
        self._writer.write(len(packed).to_bytes(4, "big") + packed)

    async def serve_socket(self, address: str = "") -> None:
        """Answer the web server until it closes its end.

        address: the address of the cluster.
        """
        self.send_message("up", 0, address)
        beat = asyncio.create_task(self._send_heartbeat())
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                size = int.from_bytes(await self._reader.readexactly(4), "big")
                kind, number, content = pickle.loads(await self._reader.readexactly(size))
                if kind == "left":
                    if number in self._tasks:
                        self._tasks[number].cancel()
                    continue
                self._tasks[number] = asyncio.create_task(
                    (self._follow_request if kind == "ask" else self._call_replicas)(
                        number, *content
                    )
                )
                self._tasks[number].add_done_callback(partial(self._finish_call, number))
        ending = [beat, *self._tasks.values()]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def _finish_call(self, number: int, _: object) -> None:
        del self._tasks[number]

    async def _follow_request(self, number: int, group: str, asked: bytes) -> None:
        response = self._streams[group].remote(asked)
        try:
            async for said in response:
                self.send_message("said", number, said)
            self.send_message("end", number, None)
        except asyncio.CancelledError:
            response.cancel()
            raise
        except Exception as error:  # only Ray's: a replica's own errors travel as answers
            self.send_message("lost", number, type(error).__name__)

    async def _call_replicas(self, number: int, method: str, *arguments: Any) -> None:
        try:
            self.send_message("end", number, await self._gather_results(method, *arguments))
        except Exception as error:
            self.send_message("lost", number, type(error).__name__)

    async def _gather_results(self, method: str, *arguments: Any) -> list[Any]:
        """Return the results of all replicas that answer; raise the error where none does."""
        asking = (
            handle.broadcast(method, *arguments).results_async(timeout_s=10)
            for handle in self._handles.values()
        )
        told = await asyncio.gather(*asking, return_exceptions=True)
        heard = [
            one for several in told if not isinstance(several, BaseException) for one in several
        ]
        if not heard:
            raise next(error for error in told if isinstance(error, BaseException))
        return heard

    async def _send_heartbeat(self) -> None:
        missed = 0
        while missed < MISSED:
            await asyncio.sleep(BEAT)
            try:
                self.send_message("queues", 0, await self._gather_results("count_waiting"))
                missed = 0
            except Exception:
                missed += 1
        print("The cluster no longer answers.", file=sys.stderr, flush=True)
        os._exit(1)  # because Ray's own shutdown would wait for the cluster


def connect_replicas(
    address: str, version: str, groups: dict[str, str], cpus: float, memory: int, folder: str
) -> dict[str, Any]:
    """Return the handles of the replicas by group, and deploy those that are missing.

    address: HOST:PORT of the cluster; "" starts a Ray of this machine alone.
    """
    import ray
    from ray import serve

    from explorer.cluster.replica import Replica

    # Ray itself tries for ever and says nothing, so a timer ends the process.
    starting = threading.Timer(PATIENCE, os._exit, (1,))
    starting.daemon = True
    starting.start()
    how: dict[str, Any] = {
        "logging_level": "ERROR",
        "log_to_driver": False,
        "namespace": "explorer",
    }
    if address:
        ray.init(address=address, **how)
    else:
        how |= {"_temp_dir": folder} if folder else {}
        ray.init(
            include_dashboard=False,
            num_cpus=os.cpu_count(),
            object_store_memory=memory << 20,
            **how,
        )
    serve.start(proxy_location="Disabled")
    due = []
    for group in groups.keys() - serve.status().applications.keys():
        least, _, most = groups[group].partition("-")
        size: dict[str, Any] = {"num_replicas": int(least)}
        if most:
            size = {
                "autoscaling_config": {
                    "min_replicas": int(least),
                    "max_replicas": int(most),
                    "target_ongoing_requests": 16,
                }
            }
        deployment: Any = serve.deployment
        engines = deployment(
            Replica,
            name="engines",
            max_ongoing_requests=CALLS,
            ray_actor_options={"num_cpus": cpus},
            graceful_shutdown_timeout_s=2,
            health_check_period_s=2,
            request_router_config={"request_router_class": "explorer.cluster.routing:Fewest"},
            logging_config={"enable_access_log": False},
            **size,
        )
        due.append(serve.RunTarget(engines.bind(version), name=group, route_prefix=None))
    if due:
        serve.run_many(due)
    # because Ray logs one line for every request that a lost replica held
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    starting.cancel()
    return {group: serve.get_app_handle(group) for group in groups}


async def main() -> None:
    """Serve the socket whose number is on the command line, with options as JSON."""
    options: dict[str, Any] = json.loads(sys.argv[2])
    if options["address"]:
        host, _, port = options["address"].rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), 5).close()
        except OSError as error:
            sys.exit(
                f"The cluster at {options['address']} cannot be reached: {error.strerror or error}"
            )
    handles = connect_replicas(**options)
    reader, writer = await asyncio.open_connection(
        sock=socket.socket(fileno=int(sys.argv[1])), limit=1 << 20
    )
    import ray

    await Bridge(reader, writer, handles).serve_socket(ray.get_runtime_context().gcs_address)
    # while there is a loop, because threads of Ray still report to it
    await asyncio.to_thread(ray.shutdown)


if __name__ == "__main__":
    # Ctrl-C is for the web server, which closes the connection when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name, value in (
        QUIET
        | (
            LOCAL
            if json.loads(sys.argv[2])["address"].partition(":")[0]
            in {"", "127.0.0.1", "localhost"}
            else {}
        )
    ).items():
        os.environ.setdefault(name, value)
    asyncio.run(main())
