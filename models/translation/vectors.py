"""The queries and keys of one run, for views that show how a weight comes about: softmax(q · k / √d_head)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from models.errors import InputError
from models.trace import Trace
from models.translation.data import START, cleaned
from models.translation.explain import explain
from models.translation.records import Explanation, Request
from models.translation.shipped import load

Pair = tuple[NDArray[np.float32], NDArray[np.float32]]
KINDS = ("encoder/*/self", "decoder/*/self", "decoder/*/cross")  # as the model names its attentions, in the order of Vectors


@dataclass(frozen=True)
class Vectors:
    """A run, and the queries and keys of its every layer and head, (layer, head, position, d_head), read-only.

    Positions as in the explanation: source pieces for the encoder and for the keys of cross-attention, the
    decoder's inputs ("<s>", then all produced pieces but the last) for the rest.
    """

    seen: Explanation
    encoder: Pair
    decoder: Pair
    cross: Pair


@torch.no_grad()
def vectors(requests: Sequence[Request]) -> list[Vectors | InputError]:
    """One answer per request, in order, with no head silenced and no word hidden.

    Each is translated again: nobody keeps these arrays, which few visitors ask for. InputError as from `explain`.
    """
    shipped = load()
    plain = [replace(request, silenced=(), hidden=()) for request in requests]
    answers: list[Vectors | InputError] = []
    for request, seen in zip(plain, explain(plain), strict=True):
        if isinstance(seen, InputError):
            answers.append(seen)
            continue
        produced = [shipped.tokenizer.token(piece, space) for piece, space in zip(seen.target, seen.target_space, strict=True)]
        read = shipped.tokenizer.encode(cleaned(request.sentence)).ids
        device = shipped.model.embedding.weight.device
        source, target = (torch.tensor([tokens], device=device) for tokens in (read, [START, *produced[:-1]]))
        trace = Trace(*(f"{kind}/{name}" for kind in KINDS for name in ("queries", "keys")))
        shipped.model(source, target, torch.ones_like(source, dtype=torch.bool), None, trace)
        answers.append(Vectors(seen, *(_pair(trace, kind) for kind in KINDS)))
    return answers


def _pair(trace: Trace, kind: str) -> Pair:
    queries, keys = (np.ascontiguousarray(trace.stack(f"{kind}/{name}")[:, 0]) for name in ("queries", "keys"))
    for array in (queries, keys):
        array.setflags(write=False)
    return queries, keys
