"""Explanations of the models with attention by hashing: they answer a page's requests with arrays
and strings and return no tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models.checkpoints import checkpoint
from models.checkpoints.checkpoint import CheckpointError
from models.data.characters import Alphabet
from models.data.windows import NONE, move_batch
from models.explaining.arrays import freeze
from models.explaining.batching import News, serve_requests
from models.explaining.errors import check_heads
from models.explaining.head_mask import build_head_gains
from models.explaining.trace import Trace
from models.layers.lsh import (
    draw_rotations,
    hash_vectors,
    mark_meetings,
    normalise_keys,
    shared_weights,
    sort_by_bucket,
)
from models.layers.reversible import ChunkedFeedForward, step_back, step_forward
from models.reformer.data import Batch, said_twice
from models.reformer.letters import LETTERS
from models.reformer.model import Layer, Reformer
from models.reformer.pretrained import SLUG, load
from models.reformer.records import (
    MAX_ROUNDS,
    MODELS,
    Explanation,
    Hashing,
    InChunks,
    Missed,
    Read,
    Request,
    Rewound,
    check,
)

KINDS = (2, 4, 8, 16, 32, 64)  # numbers of buckets in the table of missed attention
SEPARATOR = "0"  # the displayed token before each word


def _list_shipped(mode: str) -> tuple[str, ...]:
    """Return the shipped models of a mode.

    Raise CheckpointError if there is none.
    """
    found = tuple(
        variant
        for variant in MODELS[mode]
        if (checkpoint.find_folder(SLUG, variant) / "model.json").is_file()
    )
    if not found:
        raise CheckpointError(f"there is no model of {mode}: train one first")
    return found


def _batch(mode: str, text: str, model: Reformer) -> Batch:
    """Return the input of a model: 0 w 0 w for a word; for a text, UNKNOWN, with which no training
    text starts, and its characters."""
    if mode == "word":
        return said_twice(np.array([[LETTERS.index(letter) + 1 for letter in text]]))
    characters = torch.from_numpy(Alphabet(model.config.letters).encode(text).astype(np.int64))[
        None
    ]
    return Batch(F.pad(characters[:, :-1], (1, 0)), characters, torch.arange(len(text))[None])


def _spell_tokens(mode: str, tokens: Sequence[int], model: Reformer) -> tuple[str, ...]:
    if mode == "word":
        return tuple(SEPARATOR if token == 0 else LETTERS[token - 1] for token in tokens)
    return tuple(Alphabet(model.config.letters).decode(tokens))


def _rounds(request: Request, model: Reformer) -> int:
    return model.config.rounds if request.rounds < 0 else request.rounds


def _rotation(request: Request, model: Reformer) -> list[Tensor | None]:
    kinds = request.buckets or model.config.buckets
    return model.rotations(
        _rounds(request, model), kinds, torch.Generator().manual_seed(request.seed)
    )


@torch.no_grad()
def _read(request: Request, variant: str) -> Read:
    """Run one model on one request."""
    model = load(variant).model
    config, device = model.config, model.readout.weight.device
    batch = move_batch(_batch(request.mode, request.plain_text, model), device)
    rotation = _rotation(request, model)
    chunk = request.chunk or config.chunk
    trace = Trace("*/self/queries", "*/self/buckets")
    logits = _with_chunk(model, chunk)(
        batch.before, rotation, batch.positions, build_head_gains([request], variant, model), trace
    )[0].float()
    wanted = batch.wanted[0] != NONE
    answer, asked = logits[wanted].argmax(-1), batch.wanted[0][wanted]
    length = batch.before.shape[1]
    hashed = rotation[0] is not None
    buckets = (
        trace.stack("*/self/buckets")[:, 0]
        if hashed
        else np.zeros((config.n_layers, config.n_heads, 0, length))
    )
    return Read(
        variant=variant,
        answer=freeze(answer.cpu().numpy(), np.int16),
        said="".join(_spell_tokens(request.mode, answer.tolist(), model)),
        right=freeze(answer == asked, np.bool_),
        nats=freeze(
            F.cross_entropy(logits[wanted], asked, reduction="none").cpu().numpy(), np.float32
        ),
        correct=float((answer == asked).double().mean()),
        queries=freeze(trace.stack("*/self/queries")[:, 0], np.float16),
        buckets=freeze(buckets, np.int16),
        chunk=chunk,
        kinds=request.buckets or config.buckets,
    )


def _with_chunk(model: Reformer, chunk: int) -> Reformer:
    """Return the same network with shared parameters and chunks of another length."""
    if chunk == model.config.chunk:
        return model
    with torch.device("meta"):
        other = Reformer(dataclasses.replace(model.config, chunk=chunk))
    other.load_state_dict(model.state_dict(), assign=True)
    return other.requires_grad_(False).eval()


def _explanation(request: Request, read: Sequence[Read]) -> Explanation:
    model = load(read[0].variant).model
    batch = _batch(request.mode, request.plain_text, model)
    tokens = _spell_tokens(request.mode, batch.before[0].tolist(), model)
    wanted = (batch.wanted[0] != NONE).nonzero()[:, 0].numpy()
    return Explanation(tokens, freeze(wanted, np.int16), tuple(read), request.seed)


def _check_request(request: Request) -> Request:
    check(request)
    # All models of a mode have the same size.
    config = load(_list_shipped(request.mode)[0]).model.config
    check_heads(
        request.silenced, dict.fromkeys(MODELS[request.mode], (config.n_layers, config.n_heads))
    )
    return request


def _work(requests: Sequence[Request]) -> Iterator[News]:
    """Answer requests; each turn is one model on one request, or the explanation of all of them."""
    for row, one in enumerate(requests):
        read = []
        for variant in _list_shipped(one.mode):
            read.append(_read(one, variant))
            yield {row: [read[-1]]}
        yield {row: _explanation(one, read)}


explain, _ = serve_requests(_check_request, _work, Explanation)


def _find_head(
    explanation: Explanation, variant: str, layer: int, head: int
) -> tuple[Read, Tensor]:
    """Return a model's run and the queries of one head, (position, d_head).

    Raise IndexError if there is no such head.
    """
    read = next((one for one in explanation.read if one.variant == variant), None)
    if read is None or not (0 <= layer < len(read.queries) and 0 <= head < read.queries.shape[1]):
        raise IndexError(f"no head {layer}.{head} of {variant} in this run")
    return read, torch.from_numpy(read.queries[layer, head].astype(np.float32))


def _run_rotation(explanation: Explanation, read: Read, layer: int, head: int) -> Tensor:
    """Return a run's rotations for one head, drawn again from its seed, (round, d_head, half)."""
    model = load(read.variant).model
    drawn = model.rotations(
        read.buckets.shape[2], read.kinds, torch.Generator().manual_seed(explanation.seed)
    )[layer]
    assert drawn is not None
    return drawn[head]


def hash_round(explanation: Explanation, variant: str, layer: int, head: int, turn: int) -> Hashing:
    """Return one round of one head of a run, from rotated vectors to weights.

    Raise IndexError if there is no such head or round.
    """
    read, query = _find_head(explanation, variant, layer, head)
    if not 0 <= turn < read.buckets.shape[2]:
        raise IndexError(f"no round {turn} in a run with {read.buckets.shape[2]}")
    rotated = normalise_keys(query) @ _run_rotation(explanation, read, layer, head)[turn]
    buckets = torch.from_numpy(read.buckets[layer, head, turn].copy())
    order = sort_by_bucket(buckets)
    pairs = mark_meetings(order, read.chunk).tril()
    return Hashing(
        rotated=freeze(rotated.numpy(), np.float32),
        buckets=freeze(buckets.numpy(), np.int16),
        order=freeze(order.numpy(), np.int16),
        chunk=read.chunk,
        seen=freeze(pairs.numpy(), np.bool_),
        weights=freeze(shared_weights(query, pairs).numpy(), np.float16),
    )


def first_met(buckets: Tensor, chunk: int) -> NDArray[np.uint8]:
    """Return the round, from 1, in which a pair first met, (query, key); 0 for pairs that never
    meet, the query itself and its future.

    buckets: (round, position).
    """
    found = np.zeros((buckets.shape[1],) * 2, np.uint8)
    for turn in range(len(buckets), 0, -1):
        found[mark_meetings(sort_by_bucket(buckets[turn - 1]), chunk).numpy()] = turn
    return np.tril(found, -1)


def _buckets(
    explanation: Explanation, read: Read, layer: int, head: int, query: Tensor, kinds: int
) -> Tensor:
    """Return MAX_ROUNDS rounds of one head with a number of buckets, (round, position): those of
    the run if it had as many buckets, then further ones."""
    ran = (
        torch.from_numpy(read.buckets[layer, head].copy())
        if kinds == read.kinds
        else torch.zeros(0, len(query), dtype=torch.int16)
    )
    if len(ran) >= MAX_ROUNDS:
        return ran[:MAX_ROUNDS]
    more = draw_rotations(
        1,
        query.shape[1],
        MAX_ROUNDS - len(ran),
        kinds,
        torch.Generator().manual_seed(explanation.seed),
    )
    return torch.cat((ran, hash_vectors(query[None, None], more)[0, 0]))


def _log_weights(query: Tensor) -> Tensor:
    """Return the log of `shared_weights`, (query, key), 0 where a query may not attend.

    query: (position, d_head).
    """
    earlier = torch.ones(len(query), len(query), dtype=torch.bool).tril(-1)
    scores = (query @ normalise_keys(query).T).masked_fill(~earlier, -torch.inf)
    return torch.where(earlier, scores.log_softmax(-1), 0.0)


def measure_missed(
    explanation: Explanation, variant: str, layer: int, head: int, chosen: int = 0
) -> Missed:
    """Return the part of one head's full attention that the rounds of a run miss, and that 1 … 16
    rounds with 2 … 64 buckets would miss.

    chosen: the number of buckets for `first`, 0 for the run's own. The rounds of the run come first
    among those with as many buckets; all others are drawn from its seed. Every query has weight
    one: the mean is over all but the first, which has nothing to miss. Raise IndexError if there is
    no such head, and ValueError for an odd number of buckets.
    """
    read, query = _find_head(explanation, variant, layer, head)
    full = shared_weights(query)
    chosen = chosen or read.kinds
    kinds = tuple(sorted({*KINDS, read.kinds, chosen}))
    below = np.tril_indices(len(query), -1)
    weights = full.numpy()[below].astype(np.float64)
    table, shares = np.zeros((2, MAX_ROUNDS, len(kinds)), np.float32)
    first = np.zeros(full.shape, np.uint8)
    for column, count in enumerate(kinds):
        found = first_met(_buckets(explanation, read, layer, head, query, count), read.chunk)
        first = found if count == chosen else first
        for values, counted in ((table, weights), (shares, np.ones_like(weights))):
            # [0]: of the pairs that never meet.
            by_round = np.bincount(found[below], counted, MAX_ROUNDS + 1)
            values[:, column] = by_round[1:].cumsum() / max(1e-30, by_round.sum())
    return Missed(
        log_full=freeze(_log_weights(query).numpy(), np.float32),
        kinds=kinds,
        table=freeze(100 * (1 - table) if len(query) > 1 else table, np.float32),
        pairs=freeze(100 * shares, np.float32),
        chosen=chosen,
        first=freeze(first, np.uint8),
    )


@torch.no_grad()
def _there_and_back(
    model: Reformer, batch: Batch, rotation: Sequence[Tensor | None]
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the inputs of every layer, and those computed back from the outputs of the last, (2,
    position, d_model) for each layer."""
    x = model.embed_tokens(batch.before, batch.positions)
    turns, pair = model.turns(rotation), (x, x)
    inputs, memos, again = [], [], []
    for turn in turns:
        inputs.append(torch.cat(pair))
        memos.append(turn.memo(pair[1]))
        pair = step_forward(turn, *pair, memos[-1])
    for turn, memo in zip(reversed(turns), reversed(memos), strict=True):
        pair = step_back(turn, *pair, memo)
        again.append(torch.cat(pair))
    return inputs, again[::-1]


def rewind(request: Request, variant: str) -> Rewound:
    """Run a model forward on a request, then back from its outputs alone, in single and in double
    precision."""
    shipped = load(variant).model
    double = Reformer(shipped.config).requires_grad_(False)
    double.load_state_dict(shipped.state_dict())
    double = double.double().to(shipped.readout.weight.device)
    batch, rotation = (
        move_batch(
            _batch(request.mode, request.plain_text, shipped), shipped.readout.weight.device
        ),
        _rotation(request, shipped),
    )
    runs = [_there_and_back(model, batch, rotation) for model in (shipped, double)]
    single, precise = (
        np.array([float((a - b).abs().max()) for a, b in zip(*run, strict=True)]) for run in runs
    )
    forward, again = (
        torch.stack([one.norm(dim=(0, 2)) for one in side]).cpu().numpy() for side in runs[0]
    )
    return Rewound(
        freeze(single, np.float64),
        freeze(precise, np.float64),
        freeze(forward, np.float32),
        freeze(again, np.float32),
    )


@torch.no_grad()
def in_chunks(
    request: Request, variant: str, layer: int = 0, chunks: Sequence[int] = (1, 2, 4, 8, 16)
) -> InChunks:
    """Run a layer's feed-forward network on its actual input in more and more parts.

    Raise IndexError if there is no such layer.
    """
    model = load(variant).model
    if not 0 <= layer < model.config.n_layers:
        raise IndexError(f"no layer {layer} in {variant}")
    batch = move_batch(_batch(request.mode, request.plain_text, model), model.readout.weight.device)
    inputs, _ = _there_and_back(model, batch, _rotation(request, model))
    chosen = model.layers[layer]
    assert isinstance(chosen, Layer)
    x = chosen.feedforward_norm(inputs[layer][:1])
    whole = chosen.feedforward.run_whole(x)
    differences, sizes = [], []
    for count in chunks:
        network = ChunkedFeedForward(model.config.d_model, model.config.d_ff, count)
        network.inner, network.outer = chosen.feedforward.inner, chosen.feedforward.outer
        differences.append(float((network(x) - whole).abs().max()))
        sizes.append(4 * model.config.d_ff * max(part.shape[1] for part in x.chunk(count, 1)))
    return InChunks(tuple(chunks), tuple(differences), tuple(sizes))
