"""The choice of a replica for each request: the one with the fewest requests of this web server."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from ray.serve.request_router import (
    FIFOMixin,
    PendingRequest,
    ReplicaID,
    RequestRouter,
    RunningReplica,
)


class Fewest(FIFOMixin, RequestRouter):
    """A router that counts the requests under way itself.

    Ray's own router relies on queue lengths that replicas reported a while ago: of 80 requests at
    once, one of two replicas got 75.
    """

    def initialize_state(self, **_: Any) -> None:
        """Start with no request under way."""
        self._under_way: Counter[ReplicaID] = Counter()

    async def choose_replicas(
        self,
        candidate_replicas: list[RunningReplica],
        pending_request: PendingRequest | None = None,
    ) -> list[list[RunningReplica]]:
        """Return the replica with the fewest requests; any of them at a tie."""
        if not candidate_replicas:
            return []
        chosen = min(
            candidate_replicas,
            key=lambda replica: (self._under_way[replica.replica_id], random.random()),
        )
        # Counted now and not when it accepts: other requests choose a replica in between.
        self._under_way[chosen.replica_id] += 1
        return [[chosen]]

    def on_request_completed(self, replica_id: ReplicaID, internal_request_id: str) -> None:
        """Count one request less for its replica."""
        self._under_way[replica_id] -= 1
