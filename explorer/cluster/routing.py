"""Which replica a request goes to: the one that has the fewest of this web server's."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from ray.serve.request_router import FIFOMixin, PendingRequest, ReplicaID, RequestRouter, RunningReplica


class Fewest(FIFOMixin, RequestRouter):
    """Ray's own router goes by what replicas said of their queues a while ago: of 80 requests at once, one of two replicas got 75."""

    def initialize_state(self, **_: Any) -> None:
        """Nothing is under way."""
        self._under_way: Counter[ReplicaID] = Counter()

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        """The one with the fewest, of several any."""
        if not candidate_replicas:
            return []
        chosen = min(candidate_replicas, key=lambda replica: (self._under_way[replica.replica_id], random.random()))
        self._under_way[chosen.replica_id] += 1  # not when it has accepted: others are chosen for until then
        return [[chosen]]

    def on_request_completed(self, replica_id: ReplicaID, internal_request_id: str) -> None:
        """One less."""
        self._under_way[replica_id] -= 1
