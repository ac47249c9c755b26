"""The state of the server that /readyz reports."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass
class Readiness:
    """The state that /readyz reports: when each lab's probe was answered, and the errors of the
    others.

    strict: whether every lab must answer. Otherwise a lab that cannot is named, and the server
    stands for the others.
    """

    began: float
    waiting: set[str]
    strict: bool = False
    answered: dict[str, float] = field(default_factory=dict)  # lab -> seconds after the start
    failed: dict[str, str] = field(default_factory=dict)  # lab -> kind of error
    draining: bool = False
    listening: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_ready(self) -> bool:
        """Whether visitors are served.

        No probe is still awaited, some lab answers, and the server is not on its way out.
        """
        lacking = self.failed and (self.strict or not self.answered)
        return not (self.waiting or lacking or self.draining)

    def describe(self) -> dict[str, object]:
        """Return the state as JSON."""
        facts = {
            "answered_s": self.answered,
            "waiting": sorted(self.waiting),
            "failed": self.failed,
        }
        return {"ready": self.is_ready, "draining": self.draining, **facts}
