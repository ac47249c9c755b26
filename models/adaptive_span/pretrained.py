"""The trained networks as they are shipped."""

from __future__ import annotations

from typing import Any

from models import checkpoint
from models.adaptive_span.model import KINDS, Config, SpanTransformer, network
from models.pretrained import loader

SLUG = "adaptive_span"


def empty(facts: dict[str, Any]) -> SpanTransformer:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"] not in KINDS:
        raise checkpoint.CheckpointError(f"{SLUG} has no variant {facts['variant']}")
    return network(facts["variant"], checkpoint.config_of(Config, facts["config"]))


read, load = loader(SLUG, empty, "adaptive")
