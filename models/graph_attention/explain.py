"""Explanations of attention on graphs: they answer a page's requests with arrays and strings and
return no tensors."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.checkpoints.device import answer_without_gradients
from models.data.windows import NONE
from models.explaining.arrays import freeze
from models.explaining.errors import InputError, check_heads
from models.explaining.request_fields import check_places, check_request
from models.explaining.trace import Trace
from models.graph_attention.data import (
    COLOURS,
    PAIRS,
    Ints,
    draw_coloured,
    draw_dictionaries,
    draw_graphs,
    find_commonest,
    measure_distances,
)
from models.graph_attention.layer import Edges, GraphAttention, Words, join_neighbours
from models.graph_attention.model import FAR, Change
from models.graph_attention.pretrained import load, load_papers
from models.graph_attention.records import (
    PAIRS_DRAWN,
    SIZES,
    Explanation,
    Measured,
    Request,
)
from models.media.graphs import OwnGraph, read_graph

FIELDS = (  # the classes of Cora
    "Theory",
    "Reinforcement learning",
    "Genetic algorithms",
    "Neural networks",
    "Probabilistic methods",
    "Case-based",
    "Rule learning",
)
COLOUR_NAMES = ("blue", "orange", "green", "violet")
LETTERS = "ABCDEFGHIJKLMNOP"
DEGREES = 8  # inputs of an untrained layer that tell the degree; the others are words
INPUTS = 64
SAMPLE = 100  # held-out graphs on which a change is measured


def name_variant(request: Request) -> str:
    """Return the trained network that answers a request."""
    if request.task == "distance":
        return "distance" if request.network == "bias" else "distance_blind"
    usual = {"cora": "gat", "dictionary": "gatv2"}[request.task]
    return request.task if request.model == usual else f"{request.task}_{request.model}"


def read_change(request: Request, sizes: Sequence[int]) -> Change:
    """Return the change that a request makes. sizes: the heads of each layer."""
    last = len(sizes) - 1
    uniform = {"none": (), "first": (0,), "last": (last,), "all": range(len(sizes))}
    gains: list[Tensor | None] = [None] * len(sizes)
    for task, layer, head in request.silenced:
        if task == request.task:
            gain = gains[layer] if gains[layer] is not None else torch.ones(sizes[layer])
            assert gain is not None
            gain[head], gains[layer] = 0, gain
    sharpness = [0.0 if at in uniform[request.uniform] else 1.0 for at in range(len(sizes))]
    return Change(sharpness, gains, request.bias)


def change_pairs(pairs: Ints, request: Request, count: int) -> Ints:
    """Return the edges of a graph, (pair, 2), without those that a request cuts and with the one
    that it adds."""
    focus = request.place
    gone = [item - 1 for item in request.cut]
    check_places("cut", gone, count)
    hit = (pairs == focus).any(1) & np.isin(pairs.sum(1) - focus, gone)
    result: Ints = pairs[~hit]
    if request.join and request.join - 1 != focus:
        check_places("join", (request.join - 1,), count)
        result = np.concatenate((result, [[focus, request.join - 1]]))
    return result


def _check(request: Request, count: int) -> None:
    """Refuse a node or a head that does not exist. count: the nodes of the graph."""
    if request.place >= count:
        raise InputError(
            "node",
            en=f"There is no node {request.place + 1}; there are the nodes 1 to {count}.",
            zh=f"没有节点 {request.place + 1}；可用的节点为 1 到 {count}。",
        )
    if request.task == "cora" and request.model == "dot":
        raise InputError(
            "model",
            en="The networks on Cora are gat and gatv2, not dot.",
            zh="Cora 上的网络是 gat 与 gatv2，没有 dot。",
        )
    check_heads([item for item in request.silenced if item[0] == request.task], SIZES)
    if any(item[1] == 1 and item[2] > 0 for item in request.silenced if item[0] == "cora"):
        raise InputError(
            "silenced",
            en="The second layer on Cora has one head, 2·1.",
            zh="Cora 网络的第二层只有一个头 2·1。",
        )


def measure_row_entropy(weights: NDArray[Any]) -> NDArray[Any]:
    """Return the entropy of rows of α, (head, key), over that of uniform α; 1 for a single key."""
    keys = weights.shape[1]
    nats = -(weights * np.log(np.maximum(weights, 1e-30))).sum(1)
    return nats / np.log(keys) if keys > 1 else np.ones(len(weights))


def _join_heads(trace: Trace, name: str) -> NDArray[np.float32]:
    """Return a tap (edge, head) of all layers as (head, edge)."""
    result = [trace.stack(item)[0] for item in trace.names() if item.endswith(name)]
    return np.concatenate(
        [item.T if item.ndim == 2 else item[0].reshape(len(item[0]), -1) for item in result]
    )


def _fold(
    request: Request,
    logits: Tensor | None,
    *,
    edges: NDArray[Any],
    weights: NDArray[Any],
    names: Sequence[str],
    focus: int,
    **known: Any,
) -> Explanation:
    """Return the explanation of a run. known: further fields; those that a task lacks are empty."""
    blank = np.zeros((len(names), 0), np.float32)
    probabilities = blank if logits is None else logits.softmax(-1).numpy()
    answers = np.full(len(names), NONE) if logits is None else logits.argmax(-1).numpy()
    arrays: dict[str, Any] = {
        "ids": np.arange(1, len(names) + 1),
        "labels": np.full(len(names), NONE),
        "distances": np.zeros(0),
        "colours": np.zeros(0),
        **known,
    }
    whole = ("ids", "labels", "distances", "colours")
    return Explanation(
        **{
            "classes": (),
            "lost": (),
            "notices": (),
            **known,
            **{name: freeze(arrays[name], np.int64) for name in whole},
            **{
                name: freeze(known.get(name, np.zeros((0, 0))))
                for name in ("votes", "rank", "bias")
            },
            "scores": freeze(known["scores"]),
            "pairs": freeze(known["pairs"], np.int64).reshape(-1, 2),
        },
        task=request.task,
        model=request.network if request.task == "distance" else request.model,
        names=tuple(names),
        focus=focus,
        answers=freeze(answers, np.int64),
        probabilities=freeze(probabilities),
        edges=freeze(edges, np.int64),
        weights=freeze(weights),
        entropy=freeze(measure_row_entropy(weights[:, edges[:, 0] == focus])),
    )


def measure_rank(layer: GraphAttention, values: NDArray[Any]) -> NDArray[Any]:
    """Return what a key adds to the score of any query before LeakyReLU, a_rᵀ W h_j, (head, node);
    nothing for kinds where this depends on the query. values: (node, head, d_head)."""
    if layer.kind != "gat" or layer.vector is None:
        return np.zeros((0, len(values)), np.float32)
    result: NDArray[Any] = np.einsum("nhd,hd->hn", values, layer.vector[1].detach().numpy())
    return result


@lru_cache(maxsize=1)
def _words() -> Words:
    papers = load_papers()
    return Words.build(papers.starts, papers.words, papers.count)


@lru_cache(maxsize=1)
def _join_papers() -> Edges:
    papers = load_papers()
    return join_neighbours(papers.pairs, len(papers.labels))


def _explain_paper(request: Request) -> Explanation:
    papers = load_papers()
    count, focus = len(papers.labels), request.place
    _check(request, count)
    model = load(name_variant(request)).model
    sizes = (model.config.heads, 1)
    pairs = change_pairs(papers.pairs, request, count)
    edges = join_neighbours(pairs, count)
    trace = Trace("layer/*/*")
    logits = model(_words(), edges, read_change(request, sizes), trace)
    row = slice(int(edges.starts[focus]), int(edges.starts[focus + 1]))
    keys = edges.key[row].numpy()
    absent = np.setdiff1d([item - 1 for item in request.cut], keys).astype(np.int64)
    nodes = np.concatenate(([focus], keys[keys != focus], absent))
    place = np.full(count, -1)
    place[nodes] = np.arange(len(nodes))
    return _fold(
        request,
        logits[torch.from_numpy(nodes)],
        names=[f"{node + 1}" for node in nodes],
        ids=nodes + 1,
        focus=0,
        classes=FIELDS,
        labels=papers.labels[nodes],
        pairs=place[pairs[(place[pairs] >= 0).all(1)]],
        edges=np.stack((np.zeros(len(keys), np.int64), place[keys]), 1),
        sizes=sizes,
        scores=_join_heads(trace, "/scores")[:, row],
        weights=_join_heads(trace, "/weights")[:, row],
        votes=trace.stack("layer/1/values")[0][keys, 0],
        rank=measure_rank(model.layers[0], trace.stack("layer/0/values")[0][nodes]),
        lost=tuple(place[absent].tolist()),
    )


def _explain_dictionary(request: Request) -> Explanation:
    model = load(name_variant(request)).model
    _check(request, PAIRS)
    dictionary = draw_dictionaries(np.random.default_rng((request.seed, 7)), 1)
    trace, sizes = Trace("layer/*/*"), (model.config.heads,)
    change = read_change(request, sizes)
    logits = model(dictionary.attributes, dictionary.values, dictionary.edges, change, trace)
    letters, values = dictionary.attributes.tolist(), dictionary.values.tolist()
    return _fold(
        request,
        logits,
        names=[
            f"{LETTERS[a]}={v}" if v else f"{LETTERS[a]}?"
            for a, v in zip(letters, values, strict=True)
        ],
        focus=PAIRS + request.place,
        classes=tuple(str(item + 1) for item in range(PAIRS)),
        labels=dictionary.wanted,
        pairs=np.zeros((0, 2)),
        edges=np.stack((dictionary.edges.query, dictionary.edges.key), 1),
        sizes=sizes,
        scores=_join_heads(trace, "/scores"),
        weights=_join_heads(trace, "/weights"),
        rank=measure_rank(model.layers[0], trace.stack("layer/0/values")[0]),
    )


def _explain_distance(request: Request) -> Explanation:
    model = load(name_variant(request)).model
    generator = np.random.default_rng((request.seed, 8))
    graph = read_graph(request.graph) if request.shape == "own" else None
    if graph is None:
        joined = draw_graphs(generator, 1, request.nodes, request.shape)[0]
        pairs = np.argwhere(np.triu(joined))
        names = [str(node + 1) for node in range(request.nodes)]
    else:
        pairs, names = np.array(graph.pairs), list(graph.names)
    count = len(names)
    _check(request, count)
    pairs = change_pairs(pairs, request, count)
    joined = np.zeros((count, count), bool)
    joined[*pairs.T] = joined[*pairs.T[::-1]] = True
    colours = generator.integers(0, COLOURS, (1, count))
    distances = measure_distances(joined[None])
    trace = Trace("layer/*/*")
    sizes = (model.config.heads,) * model.config.n_layers
    logits = model(
        torch.from_numpy(colours),
        torch.from_numpy(distances),
        read_change(request, sizes),
        trace,
    )[0]
    query, key = (side.ravel() for side in np.indices((count, count)))
    kept = slice(None) if count <= PAIRS_DRAWN else query == request.place
    far = int((distances[0] >= FAR).sum()) // 2
    notices = [] if graph is None else list(graph.said)
    if graph is not None and far:
        notices.append(
            {
                "en": f"{far} pairs of nodes are more than 6 edges apart, or not joined at all, and"
                " share the last bias",
                "zh": f"{far} 对节点相距超过 6 条边或不连通，共用最后一个偏置",
            }
        )
    return _fold(
        request,
        logits,
        names=names,
        focus=request.place,
        classes=COLOUR_NAMES,
        labels=find_commonest(colours, distances)[0],
        pairs=pairs,
        edges=np.stack((query, key), 1)[kept],
        sizes=sizes,
        scores=_join_heads(trace, "/scores")[:, kept],
        weights=_join_heads(trace, "/weights")[:, kept],
        distances=distances[0].ravel()[kept],
        colours=colours[0],
        bias=np.zeros((0, 0)) if model.bias is None else model.bias.flatten(0, 1) * request.bias,
        lost=tuple(item - 1 for item in request.cut),
        notices=tuple(notices),
    )


def read_features(graph: OwnGraph, degrees: Ints) -> NDArray[np.float32]:
    """Return the features of an own graph, (node, INPUTS): the degree on a scale of powers of two,
    and the words of each node by their hash."""
    result = np.zeros((len(graph.names), INPUTS), np.float32)
    level = np.minimum(np.log2(degrees + 1).astype(int), DEGREES - 1)
    result[np.arange(len(level)), level] = 1
    for at, (name, text) in enumerate(zip(graph.names, graph.texts, strict=True)):
        for word in f"{name} {text}".lower().split():
            result[at, DEGREES + zlib.crc32(word.encode()) % (INPUTS - DEGREES)] += 1
    features: NDArray[np.float32] = result / np.maximum(result.sum(1, keepdims=True), 1)
    return features


@lru_cache(maxsize=3)
def build_untrained(kind: str) -> GraphAttention:
    """Return the untrained layer that reads own graphs, always the same one."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return GraphAttention(kind, INPUTS, *SIZES["own"][1:], 8).eval().requires_grad_(False)


def _explain_own(request: Request) -> Explanation:
    graph = read_graph(request.graph)
    count = len(graph.names)
    _check(request, count)
    pairs = change_pairs(np.array(graph.pairs), request, count)
    edges = join_neighbours(pairs, count)
    degrees = np.bincount(pairs.ravel(), minlength=count)
    layer, sizes = build_untrained(request.model), SIZES["own"][1:]
    sharpness, gain = read_change(request, sizes).at(0)
    trace = Trace("*")
    features = torch.from_numpy(read_features(graph, degrees))
    layer(features, edges, sharpness=sharpness, gain=gain, trace=trace)
    return _fold(
        request,
        None,
        names=graph.names,
        focus=request.place,
        pairs=pairs,
        edges=np.stack((edges.query, edges.key), 1),
        sizes=sizes,
        scores=_join_heads(trace, "scores"),
        weights=_join_heads(trace, "weights"),
        rank=measure_rank(layer, trace.stack("values")[0]),
        lost=tuple(item - 1 for item in request.cut),
        notices=tuple(graph.said),
    )


EXPLAIN = {
    "cora": _explain_paper,
    "dictionary": _explain_dictionary,
    "distance": _explain_distance,
    "own": _explain_own,
}


@answer_without_gradients
def explain(request: Request) -> Explanation:
    """Explain a request; an InputError takes the place of one that cannot be read."""
    check_request(request)
    return EXPLAIN[request.task](request)


@lru_cache(maxsize=2)
def _held_out(task: str) -> Any:
    """Return held-out inputs, the same for every measurement."""
    generator = np.random.default_rng(2)
    return (draw_dictionaries if task == "dictionary" else draw_coloured)(generator, SAMPLE)


@answer_without_gradients
def measure(request: Request) -> Measured:
    """Measure the network of a request, with its changes, on held-out nodes.

    On Cora a cut or joined edge counts; elsewhere the request's own graph plays no part. An own
    graph has no right answers: its sample is 0, and its entropy that at the node in question.
    """
    check_request(request)
    if request.task == "own":
        return Measured(0.0, 0.0, float(_explain_own(request).entropy.mean()), 0)
    model = load(name_variant(request)).model
    sizes = SIZES[request.task]
    change = read_change(request, (sizes[1],) * sizes[0])
    if request.task == "cora":
        papers = load_papers()
        change = read_change(request, (sizes[1], 1))
        pairs = change_pairs(papers.pairs, request, len(papers.labels))
        test = papers.splits["test"]
        now = model(_words(), join_neighbours(pairs, len(papers.labels)), change).argmax(-1)[test]
        was = model(_words(), _join_papers(), Change()).argmax(-1)[test]
        right = torch.from_numpy(papers.labels[test]) == now
    else:
        batch = _held_out(request.task)
        asked = batch.wanted != NONE
        now, was = (
            model(*tuple(batch)[:-1], item).argmax(-1)[asked] for item in (change, Change())
        )
        right = now == batch.wanted[asked]
    flips = float((now != was).double().mean())
    return Measured(float(right.double().mean()), flips, 0.0, len(right))
