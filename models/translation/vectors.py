"""The queries, keys and values of one run, for views that show how a weight comes about: softmax(q · k / √d_head)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from models.errors import InputError
from models.trace import Trace
from models.translation.data import START, cleaned
from models.translation.explain import explain
from models.translation.head_records import KINDS as NAMES
from models.translation.head_records import Head, Look
from models.translation.records import Explanation, Request
from models.translation.shipped import Shipped, load

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
    """One answer per request, in order, with nothing changed in the model.

    Each is translated again: nobody keeps these arrays, which few visitors ask for. InputError as from `explain`.
    """
    shipped = load()
    plain = [request.plain() for request in requests]
    answers: list[Vectors | InputError] = []
    for request, seen in zip(plain, explain(plain), strict=True):
        if isinstance(seen, InputError):
            answers.append(seen)
            continue
        trace = Trace(*(f"{kind}/{name}" for kind in KINDS for name in ("queries", "keys")))
        _read_again(shipped, request, seen, trace)
        pairs = [(_frozen(trace.stack(f"{kind}/queries")[:, 0]), _frozen(trace.stack(f"{kind}/keys")[:, 0])) for kind in KINDS]
        answers.append(Vectors(seen, *pairs))
    return answers


@torch.no_grad()
def heads(looks: Sequence[Look]) -> list[Head | InputError]:
    """What the head of each look computed with, in order. InputError as from `explain`, and for a head that the model does not have."""
    shipped = load()
    config = shipped.model.config
    answers: list[Head | InputError] = []
    for look, seen in zip(looks, explain([look.request.plain() for look in looks]), strict=True):
        if isinstance(seen, InputError):
            answers.append(seen)
            continue
        if look.kind not in NAMES or not (0 <= look.layer < config.n_layers and 0 <= look.head < config.n_heads):
            answers.append(
                InputError(
                    "head",
                    en=f"There is no such head; each of the three attentions has {config.n_layers} layers of {config.n_heads} heads.",
                    zh=f"没有这个头；三种注意力各有 {config.n_layers} 层，每层 {config.n_heads} 个头。",
                )
            )
            continue
        kind = KINDS[NAMES.index(look.kind)].replace("*", str(look.layer))
        trace = Trace(*(f"{kind}/{name}" for name in ("queries", "keys", "values")))
        _read_again(shipped, look.request, seen, trace)
        source, target = (seen.source, seen.source_space), (seen.target, seen.target_space)
        written = ("<s>", *seen.target[:-1]), (True, *seen.target_space[:-1])
        rows, columns = {"encoder": (source, source), "decoder": (target, written), "cross": (target, source)}[look.kind]
        query, key, value = (_frozen(trace.stack(f"{kind}/{name}")[0, 0, look.head]) for name in ("queries", "keys", "values"))
        answers.append(Head(query, key, value, look.kind == "decoder", *rows, *columns, config.n_layers, config.n_heads))
    return answers


def _read_again(shipped: Shipped, request: Request, seen: Explanation, trace: Trace) -> None:
    """The pass over a finished translation, watched."""
    produced = [shipped.tokenizer.token(piece, space) for piece, space in zip(seen.target, seen.target_space, strict=True)]
    read = shipped.tokenizer.encode(cleaned(request.sentence)).ids
    device = shipped.model.embedding.weight.device
    source, target = (torch.tensor([tokens], device=device) for tokens in (read, [START, *produced[:-1]]))
    shipped.model(source, target, torch.ones_like(source, dtype=torch.bool), None, trace)


def _frozen(values: NDArray[np.float32]) -> NDArray[np.float32]:
    copy = np.ascontiguousarray(values)
    copy.setflags(write=False)
    return copy
