"""The queries, keys and values of one run, for views that show how a weight comes about: softmax(q · k / √d_head)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from models.arrays import frozen
from models.captions import CAPTIONS
from models.errors import InputError
from models.plane import Vectors, drawn_by
from models.plane import watched as side_by_side
from models.trace import Trace
from models.translation.explain import explain, watched
from models.translation.head_records import Head, Look
from models.translation.pretrained import load
from models.translation.records import KINDS, Again, Explanation, Request
from models.turns import after

NAMES = {"encoder": "encoder/*/self", "decoder": "decoder/*/self", "cross": "decoder/*/cross"}  # as the model names its attentions


Pieces = tuple[tuple[str, ...], tuple[bool, ...]]  # as shown, and where a space stands before them


@torch.no_grad()
def vectors(requests: Sequence[Request]) -> list[Mapping[str, Vectors] | InputError]:
    """One answer per request, in order. Each is translated again: nobody keeps these arrays, which few visitors ask for.

    Positions as in the explanation: source pieces for the encoder and for the keys of cross-attention; for queries of the decoder the
    pieces that they produce, and for its keys its inputs, "<s>" and then all of these but the last.
    InputError as from `explain`, and where a change makes weights another function of queries and keys than that of the view.
    """
    return after(requests, explain(requests), _vectors)


def _vectors(request: Request, seen: Explanation) -> Mapping[str, Vectors]:
    if request.hidden or {"scale", "mask"} & set(request.without):
        raise InputError(
            "changed",
            en="The neuron view works every weight out as in the paper: all words in view, divided by √d_k, masked. Take the "
            "change off first.",
            zh="神经元视图按论文计算每个权重：所有词可见、除以 √d_k、带掩码。请先撤销改动。",
        )
    trace = _read_again(request, seen, [f"{kind}/{name}" for kind in NAMES.values() for name in ("queries", "keys")])
    found = {}
    for kind, name in NAMES.items():
        (asks, _), (looked, _) = _sides(kind, seen)
        found[kind] = side_by_side(trace, name, request.sentence, asks, looked, causal=kind == "decoder")
    return found


def _sides(kind: str, seen: Explanation) -> tuple[Pieces, Pieces]:
    """Who asks in an attention, and who is looked at."""
    source, target = (seen.source, seen.source_space), (seen.target, seen.target_space)
    written = ("<s>", *seen.target[:-1]), (True, *seen.target_space[:-1])
    return {"encoder": (source, source), "decoder": (target, written), "cross": (target, source)}[kind]


planes = drawn_by(vectors, dict.fromkeys(KINDS, tuple(Request(caption, beam=1) for caption in CAPTIONS)))


@torch.no_grad()
def heads(looks: Sequence[Look]) -> list[Head | InputError]:
    """What the head of each look computed with, in order. InputError as from `explain`, and for a head that the model does not have."""
    return after(looks, explain([look.request for look in looks]), seen_by)


@torch.no_grad()
def seen_by(look: Look, seen: Explanation) -> Head:
    """What a head computed with in a run that is there. InputError for a head that the model does not have."""
    config = load().model.config
    if look.kind not in KINDS or not (0 <= look.layer < config.n_layers and 0 <= look.head < config.n_heads):
        raise InputError(
            "head",
            en=f"There is no such head; each of the three attentions has {config.n_layers} layers of {config.n_heads} heads.",
            zh=f"没有这个头；三种注意力各有 {config.n_layers} 层，每层 {config.n_heads} 个头。",
        )
    kind, without = NAMES[look.kind].replace("*", str(look.layer)), look.request.without
    trace = _read_again(look.request, seen, [f"{kind}/{name}" for name in ("queries", "keys", "values")])
    rows, columns = _sides(look.kind, seen)
    query, key, value = (frozen(trace.stack(f"{kind}/{name}")[0, 0, look.head]) for name in ("queries", "keys", "values"))
    causal, hidden = look.kind == "decoder" and "mask" not in without, () if look.kind == "decoder" else look.request.hidden
    return Head(query, key, value, causal, *rows, *columns, config.n_layers, config.n_heads, "scale" not in without, hidden)


def _read_again(request: Request, seen: Explanation, places: Sequence[str]) -> Trace:
    """The pass over a finished translation, watched at `places`."""
    trace = Trace(*places)
    watched(Again(request, seen.target, seen.target_space), trace)
    return trace
