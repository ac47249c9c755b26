"""The shipped networks."""

from __future__ import annotations

from typing import Any

from models.adaptive_span.model import KINDS, Config, SpanTransformer, network
from models.checkpoints import checkpoint
from models.checkpoints.pretrained import make_loader

SLUG = "adaptive_span"


def empty(facts: dict[str, Any]) -> SpanTransformer:
    """Return the untrained network that model.json describes.

    Raise CheckpointError if its config does not fit.
    """
    if facts["variant"] not in KINDS:
        raise checkpoint.CheckpointError(f"{SLUG} has no variant {facts['variant']}")
    return network(facts["variant"], checkpoint.build_config(Config, facts["config"]))


read, load = make_loader(SLUG, empty, "adaptive")
