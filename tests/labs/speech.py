"""What the contract tests have to know of the lab of truncated self-attention."""

from __future__ import annotations

SMALL = "v=1&digits=12&seed=51"
NEW = "v=1&digits=12&seed=53"
LOOKS = {"_head": "99.99", "_frame": "1e9", "_digit": "99"}
NONSENSE = ("left=x", "left")
