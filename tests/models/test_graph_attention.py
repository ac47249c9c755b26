"""Graph attention beside PyTorch Geometric, a dense mask and networkx; its inputs and its page's
answers."""

from __future__ import annotations

from typing import Any

import networkx  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch

from models.data.windows import NONE
from models.explaining.errors import InputError
from models.graph_attention.data import (
    COLOURS,
    PAIRS,
    draw_dictionaries,
    draw_graphs,
    find_commonest,
    measure_distances,
)
from models.graph_attention.explain import explain, measure
from models.graph_attention.layer import KINDS, SLOPE, GraphAttention, Words, join_neighbours
from models.graph_attention.model import FAR, Change, Config, build_network
from models.graph_attention.records import EXAMPLES, OWN, SIZES, Explanation, Measured, Request
from models.media.graphs import read_graph

NODES = 60


@pytest.fixture(scope="module")
def edges() -> Any:
    """A random graph with an isolated node, the last."""
    pairs = np.argwhere(np.triu(np.random.default_rng(1).random((NODES - 1, NODES - 1)) < 0.1, 1))
    return join_neighbours(pairs, NODES)


def attention(kind: str, inputs: int = 12, **more: Any) -> GraphAttention:
    torch.manual_seed(4)
    layer = GraphAttention(kind, inputs, 4, 5, **more)
    torch.nn.init.normal_(layer.bias)
    return layer


def geometric(kind: str, layer: GraphAttention, concat: bool) -> Any:
    """The peer's layer with the same parameters."""
    from torch_geometric.nn import (  # type: ignore[import-untyped]
        GATConv,
        GATv2Conv,
    )

    assert layer.vector is not None
    how: dict[str, Any] = {"heads": 4, "concat": concat, "add_self_loops": False}
    if kind == "gat":
        peer: Any = GATConv(12, 5, **how)
        copied = [(peer.lin.weight, layer.key.T), (peer.att_dst[0], layer.vector[0])]
        copied.append((peer.att_src[0], layer.vector[1]))
    else:
        assert layer.query is not None
        peer = GATv2Conv(12, 5, **how)
        copied = [(peer.lin_l.weight, layer.key.T), (peer.lin_r.weight, layer.query.T)]
        copied += [(peer.att[0], layer.vector[0])]
        copied += [(one.bias, torch.zeros_like(one.bias)) for one in (peer.lin_l, peer.lin_r)]
    with torch.no_grad():
        for theirs, ours in [*copied, (peer.bias, layer.bias)]:
            theirs.copy_(ours)
    return peer


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # raised by the peer's import
@pytest.mark.parametrize("concat", [True, False])
@pytest.mark.parametrize("kind", ["gat", "gatv2"])
def test_layer_equals_pytorch_geometric(kind: str, concat: bool, edges: Any) -> None:
    layer = attention(kind, concat=concat)
    peer = geometric(kind, layer, concat)
    x = torch.randn(NODES, 12, generator=torch.Generator().manual_seed(2), requires_grad=True)
    theirs, (index, _weights) = peer(
        x, torch.stack((edges.key, edges.query)), return_attention_weights=True
    )
    ours = layer(x, edges)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    assert torch.equal(index[1], edges.query)
    outside = torch.randn(ours.shape, generator=torch.Generator().manual_seed(3))
    matrix = peer.lin.weight if kind == "gat" else peer.lin_l.weight
    wanted = torch.autograd.grad((theirs * outside).sum(), [x, matrix])
    found = torch.autograd.grad((ours * outside).sum(), [x, layer.key])
    torch.testing.assert_close(found[0], wanted[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1], wanted[1].T, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_layer_equals_a_dense_mask(kind: str, edges: Any) -> None:
    layer = attention(kind).double()
    x = torch.randn(NODES, 12, dtype=torch.double, generator=torch.Generator().manual_seed(2))
    mask = torch.zeros(NODES, NODES, dtype=torch.bool)
    mask[edges.query, edges.key] = True
    key = layer.project(layer.key, x, None)
    query = key if layer.query is None else layer.project(layer.query, x, None)
    i, j, vector = query[:, None], key[None], layer.vector
    leaky = torch.nn.functional.leaky_relu
    if kind == "dot":
        scores = (i * j).sum(-1) / 5**0.5
    elif kind == "gat" and vector is not None:
        scores = leaky((i * vector[0] + j * vector[1]).sum(-1), SLOPE)
    elif vector is not None:
        scores = (leaky(i + j, SLOPE) * vector[0]).sum(-1)
    weights = scores.masked_fill(~mask[..., None], -torch.inf).softmax(1)
    wanted = torch.einsum("ijh,jhd->ihd", weights, key).flatten(1) + layer.bias
    torch.testing.assert_close(layer(x, edges), wanted)


def test_gradients_are_those_of_differences(edges: Any) -> None:
    small = join_neighbours(np.array([[0, 1], [1, 2], [0, 3]]), 5)
    keep = torch.rand(len(small.key), 4, dtype=torch.double) + 0.5
    for kind in KINDS:
        layer = attention(kind, 3).double()
        x = torch.randn(5, 3, dtype=torch.double, requires_grad=True)
        assert torch.autograd.gradcheck(lambda x, layer=layer: layer(x, small, keep=keep), (x,))


def test_sparse_words_are_a_dense_product(edges: Any) -> None:
    generator = np.random.default_rng(3)
    lengths = generator.integers(1, 5, NODES)
    starts = np.concatenate(([0], lengths.cumsum()))
    chosen = np.concatenate([np.sort(generator.choice(12, n, replace=False)) for n in lengths])
    words = Words.build(starts, chosen, 12)
    dense = torch.zeros(NODES, 12)
    dense[np.repeat(np.arange(NODES), lengths), chosen] = words.share
    layer = attention("gat")
    outputs = layer(words, edges), layer(dense, edges)
    torch.testing.assert_close(*outputs)
    torch.testing.assert_close(*(torch.autograd.grad(o.square().sum(), layer.key) for o in outputs))


def test_layer_follows_a_new_numbering(edges: Any) -> None:
    order = np.random.default_rng(5).permutation(NODES)
    moved = join_neighbours(order[np.stack((edges.query, edges.key), 1)], NODES)
    x = torch.randn(NODES, 12, generator=torch.Generator().manual_seed(2))
    placed = torch.empty_like(x)
    placed[torch.from_numpy(order)] = x
    layer = attention("gatv2")
    torch.testing.assert_close(layer(placed, moved)[order], layer(x, edges))


def test_distances_equal_networkx() -> None:
    joined = draw_graphs(np.random.default_rng(1), 3, 24)
    joined[2, 5, :] = joined[2, :, 5] = False  # nothing reaches this node
    for one, found in zip(joined, measure_distances(joined), strict=True):
        known = dict(networkx.all_pairs_shortest_path_length(networkx.from_numpy_array(one)))
        wanted = [[min(known[i].get(j, FAR), FAR) for j in range(24)] for i in range(24)]
        assert found.tolist() == wanted


def test_commonest_colour_leaves_ties_out() -> None:
    path = measure_distances(draw_graphs(np.random.default_rng(1), 1, 5, "path"))
    assert find_commonest(np.array([[0, 1, 2, 3, 1]]), path).tolist() == [[2, 3, NONE, 1, 2]]


def test_dictionaries_have_one_answer() -> None:
    drawn = draw_dictionaries(np.random.default_rng(1), 2)
    attributes, values = drawn.attributes.view(2, 2, PAIRS), drawn.values.view(2, 2, PAIRS)
    for part in range(2):
        known = dict(zip(attributes[part, 0].tolist(), values[part, 0].tolist(), strict=True))
        wanted = [known[one] - 1 for one in attributes[part, 1].tolist()]
        assert drawn.wanted.view(2, 2, PAIRS)[part, 1].tolist() == wanted
    assert drawn.edges.starts.diff().tolist() == 2 * ([0] * PAIRS + [PAIRS] * PAIRS)


def test_path_bias_is_relative_position() -> None:
    """On a path graph D = |i − j|, and a shifted path gives the same bias."""
    torch.manual_seed(1)
    model = build_network(Config("distance", "bias", COLOURS, COLOURS, heads=4)).eval()
    for layer in model.layers:
        torch.nn.init.normal_(layer.attention.bias)
    distances = measure_distances(draw_graphs(np.random.default_rng(1), 1, 9, "path"))
    place = np.arange(9)
    assert np.array_equal(distances[0], np.minimum(abs(place - place[:, None]), FAR))
    colours = torch.randint(0, COLOURS, (1, 9))
    lengths = torch.from_numpy(distances)
    blind = model(colours, lengths, Change(bias=0.0))
    assert not torch.allclose(blind, model(colours, lengths))
    flat = model(colours.flip(1), lengths, Change(bias=0.0)).flip(1)
    torch.testing.assert_close(blind, flat)


@pytest.mark.parametrize("request_", EXAMPLES, ids=lambda one: f"{one.task}-{one.model}")
def test_rows_of_every_example_sum_to_one(request_: Request) -> None:
    (run,) = explain([request_])
    assert isinstance(run, Explanation)
    assert sum(run.sizes) == len(run.weights) == len(run.scores) == len(run.entropy)
    for query in np.unique(run.edges[:, 0]):
        rows = run.weights[:, run.edges[:, 0] == query].sum(1)
        np.testing.assert_allclose(rows, 1, atol=1e-5)
    assert (run.entropy <= 1 + 1e-5).all()


def make_request(**fields: Any) -> Request:
    """A request, about the graph of the example where none is given."""
    return Request(**{"graph": OWN, **fields})


def ask(**fields: Any) -> Explanation:
    (run,) = explain([make_request(**fields)])
    assert isinstance(run, Explanation), run
    return run


def test_gat_ranks_keys_alike_for_all() -> None:
    for model, ranks in (("gat", 1), ("gatv2", 4)):
        run = ask(task="dictionary", model=model)
        orders = run.scores[0].reshape(PAIRS, PAIRS).argsort(1, kind="stable")
        assert len(np.unique(orders, axis=0)) >= ranks
        if model == "gat":
            assert len(np.unique(orders, axis=0)) == 1
            assert (orders[0] == run.rank[0, :PAIRS].argsort(kind="stable")).all()


def test_a_cut_edge_leaves_the_row() -> None:
    whole = ask()
    first = int(whole.ids[1])
    cut = ask(cut=(first,))
    assert len(cut.edges) == len(whole.edges) - 1 and cut.ids[cut.lost[0]] == first
    assert not np.allclose(cut.probabilities[0], whole.probabilities[0])
    joined = ask(cut=(first,), join=first)
    np.testing.assert_allclose(joined.probabilities[0], whole.probabilities[0], atol=1e-6)


def test_uniform_weights_are_uniform() -> None:
    for task, places in (("cora", "all"), ("own", "first"), ("distance", "last")):
        run = ask(task=task, uniform=places)
        heads = slice(run.sizes[0] if places == "last" else 0, None)
        np.testing.assert_allclose(run.entropy[heads], 1, atol=1e-5)


CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("dictionary", {"uniform": "all"}),
    ("distance", {"bias": 0.0}),
)


def test_measured_changes_move_the_number() -> None:
    for task, changed in CHANGES:
        asked = [Request(task=task, model="gatv2"), Request(task=task, model="gatv2", **changed)]
        before, after = measure(asked)
        assert isinstance(before, Measured) and isinstance(after, Measured)
        assert before.accuracy > 0.95 and after.accuracy < 0.7 and after.flips > 0.3
    (own,) = measure([make_request(task="own")])
    assert isinstance(own, Measured) and own.sample == 0


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"task": "own", "node": 7}, "node"),
        ({"model": "dot"}, "model"),
        ({"task": "own", "cut": (9,)}, "cut"),
        ({"task": "distance", "nodes": 8, "node": 9}, "node"),
        ({"silenced": (("cora", 1, 3),)}, "silenced"),
        ({"task": "own", "silenced": (("own", 1, 0),)}, "silenced"),
        ({"task": "own", "graph": ""}, "empty"),
    ],
)
def test_requests_are_refused_in_words(fields: dict[str, Any], code: str) -> None:
    (error,) = explain([make_request(**fields)])
    assert isinstance(error, InputError) and error.code == code
    assert all(error.text[language].endswith((".", "。")) for language in ("en", "zh"))


def test_distant_nodes_share_a_bias() -> None:
    line = "\n".join(f"{i}, {i + 1}" for i in range(12))
    run = ask(task="distance", shape="own", graph=line)
    assert run.distances.max() == FAR and "share the last bias" in run.notices[-1]["en"]


def test_sizes_are_those_of_the_networks() -> None:
    for task, (layers, heads) in SIZES.items():
        run = ask(task=task)
        assert len(run.sizes) == layers and run.sizes[0] == heads


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="label" attr.type="string"/>
<graph edgedefault="directed"><node id="n0"><data key="d0">Ada</data></node>
<node id="n1"/><edge source="n0" target="n1"/></graph></graphml>"""


@pytest.mark.parametrize(
    ("text", "names", "pairs", "said"),
    [
        ("a, b\nb, c", ("a", "b", "c"), ((0, 1), (1, 2)), 0),
        ("# note\n3 2\n2 1\n1 0", ("3", "2", "1", "0"), ((0, 1), (1, 2), (2, 3)), 0),
        ("a -> b\nb -> a\na -- a", ("a", "b"), ((0, 1),), 2),
        ("a: big cat\nb: dog\na, b", ("a", "b"), ((0, 1),), 0),
        ("0,1,0\n1,0,1\n0,1,0", ("1", "2", "3"), ((0, 1), (1, 2)), 0),
        ("x,y\n0,1\n1,0", ("x", "y"), ((0, 1),), 0),
        (",x,y,z\nx,0,1,0\ny,0,0,1\nz,0,0,0", ("x", "y", "z"), ((0, 1), (1, 2)), 1),
        (GRAPHML, ("Ada", "n1"), ((0, 1),), 1),
    ],
)
def test_own_graphs_are_read(text: str, names: Any, pairs: Any, said: int) -> None:
    graph = read_graph(text)
    assert (graph.names, graph.pairs, len(graph.said)) == (names, pairs, said)


@pytest.mark.parametrize(
    ("text", "code", "names"),
    [
        ("a, b\na b c", "line", "Line 2"),
        ("a", "line", "Line 1"),
        ("a: cat\na, b", "unknown_node", "Line 2"),
        ("a, a", "no_edge", ""),
        ("0 1 0\n1 0\n0 1 0", "square", "Line 2"),
        ("0 1 0\n1 0 2\n0 1 0", "cell", "Line 2"),
        ("x y z\n0 1 0\n1 0 1", "square", "2 rows"),
        ("\n".join(f"{i}, {i + 1}" for i in range(400)), "too_large", "300"),
        ("\n".join(f"{i}, {j}" for i in range(90) for j in range(i)), "too_large", "3,000"),
        (f"{'x' * 41}, b", "name", "41"),
        ("<graphml><node", "graphml", "GraphML"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><graphml>&a;</graphml>", "graphml", "declarations"),
        ("<graphml>" + "<node/>" * 301, "too_large", "301"),
    ],
)
def test_bad_graphs_are_refused(text: str, code: str, names: str) -> None:
    with pytest.raises(InputError) as caught:
        read_graph(text)
    assert caught.value.code == code and names in caught.value.text["en"]
    assert caught.value.text["zh"].endswith("。")
