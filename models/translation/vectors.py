"""The queries, keys and values of one run, for views that explain a weight: softmax(q · k /
√d_head)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from models.data.captions import CAPTIONS
from models.explaining.arrays import freeze
from models.explaining.batching import answer_after
from models.explaining.errors import InputError
from models.explaining.query_key_plane import Vectors, make_plane_function
from models.explaining.query_key_plane import collect_vectors as side_by_side
from models.explaining.trace import Trace
from models.translation.explain import explain, watch_translation
from models.translation.head_records import Head, Look
from models.translation.pretrained import load
from models.translation.records import KINDS, Explanation, Request, Rereading

# as the model names its attentions
NAMES = {"encoder": "encoder/*/self", "decoder": "decoder/*/self", "cross": "decoder/*/cross"}


Pieces = tuple[tuple[str, ...], tuple[bool, ...]]  # as shown, and where a space stands before them


@torch.no_grad()
def vectors(requests: Sequence[Request]) -> list[Mapping[str, Vectors] | InputError]:
    """Return the vectors of each request, in order.

    Each request is translated again, because these large arrays are rarely needed and not stored.
    Positions are those of the explanation: source pieces for the encoder and for the keys of
    cross-attention; for queries of the decoder the pieces that they predict, and for its keys its
    inputs, "<s>" and then all of these but the last. An InputError is that of `explain`, or reports
    a change that makes weights another function of queries and keys than the view's.
    """
    return answer_after(requests, explain(requests), _vectors)


def _vectors(request: Request, explanation: Explanation) -> Mapping[str, Vectors]:
    if request.hidden or {"scale", "mask"} & set(request.without):
        raise InputError(
            "changed",
            en=(
                "The neuron view works every weight out as in the paper: all words in view, divided"
                " by √d_k, masked. Take the change off first."
            ),
            zh="神经元视图按论文计算每个权重：所有词可见、除以 √d_k、带掩码。请先撤销改动。",
        )
    trace = _read_again(
        request,
        explanation,
        [f"{kind}/{name}" for kind in NAMES.values() for name in ("queries", "keys")],
    )
    found = {}
    for kind, name in NAMES.items():
        (asks, _), (looked, _) = _sides(kind, explanation)
        found[kind] = side_by_side(
            trace, name, request.sentence, asks, looked, causal=kind == "decoder"
        )
    return found


def _sides(kind: str, explanation: Explanation) -> tuple[Pieces, Pieces]:
    """Return the pieces of the queries and of the keys of an attention."""
    source, target = (
        (explanation.source, explanation.source_space),
        (explanation.target, explanation.target_space),
    )
    written = ("<s>", *explanation.target[:-1]), (True, *explanation.target_space[:-1])
    return {"encoder": (source, source), "decoder": (target, written), "cross": (target, source)}[
        kind
    ]


planes = make_plane_function(
    vectors, dict.fromkeys(KINDS, tuple(Request(caption, beam=1) for caption in CAPTIONS))
)


@torch.no_grad()
def heads(looks: Sequence[Look]) -> list[Head | InputError]:
    """Return the computation of each head, in order.

    An InputError is that of `explain`, or reports a head that the model does not have.
    """
    return answer_after(looks, explain([look.request for look in looks]), seen_by)


@torch.no_grad()
def seen_by(look: Look, explanation: Explanation) -> Head:
    """Return the computation of a head in a finished run.

    Raise InputError for a head that the model does not have.
    """
    config = load().model.config
    if look.kind not in KINDS or not (
        0 <= look.layer < config.n_layers and 0 <= look.head < config.n_heads
    ):
        raise InputError(
            "head",
            en=(
                f"There is no such head; each of the three attentions has {config.n_layers} layers"
                f" of {config.n_heads} heads."
            ),
            zh=f"没有这个头；三种注意力各有 {config.n_layers} 层，每层 {config.n_heads} 个头。",
        )
    kind, without = NAMES[look.kind].replace("*", str(look.layer)), look.request.without
    trace = _read_again(
        look.request, explanation, [f"{kind}/{name}" for name in ("queries", "keys", "values")]
    )
    rows, columns = _sides(look.kind, explanation)
    query, key, value = (
        freeze(trace.stack(f"{kind}/{name}")[0, 0, look.head])
        for name in ("queries", "keys", "values")
    )
    causal, hidden = (
        look.kind == "decoder" and "mask" not in without,
        () if look.kind == "decoder" else look.request.hidden,
    )
    return Head(
        query,
        key,
        value,
        causal,
        *rows,
        *columns,
        config.n_layers,
        config.n_heads,
        "scale" not in without,
        hidden,
    )


def _read_again(request: Request, explanation: Explanation, places: Sequence[str]) -> Trace:
    """Run a finished translation once, traced at `places`."""
    trace = Trace(*places)
    watch_translation(Rereading(request, explanation.target, explanation.target_space), trace)
    return trace
