"""What the engine keeps about one computation, looked at from two threads."""

from __future__ import annotations

import threading

from explorer.engine.records import Limits
from explorer.engine.runs import Batch, Work


def test_looking_at_a_computation_as_it_ends_is_harmless() -> None:
    batch = Batch(Work("f", lambda requests: requests), None, [], Limits())
    over = threading.Event()

    def compute() -> None:
        while not over.is_set():
            batch.begin()
            batch.rest()

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        assert all(batch.seconds() >= 0 for _ in range(200_000))
    finally:
        over.set()
        thread.join()
