"""What a page asks of the models with attention by hashing, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models import checkpoint
from models.arrays import frozen
from models.characters import Alphabet
from models.checkpoint import CheckpointError
from models.errors import check_heads
from models.gains import gains
from models.layers.lsh import hash_vectors, met, rotations, shared_weights, sort_by_bucket, unit
from models.layers.reversible import ChunkedFeedForward, back, step
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
from models.trace import Trace
from models.turns import News, served
from models.windows import NONE, moved

KINDS = (2, 4, 8, 16, 32, 64)  # numbers of buckets of which a table tells what is missed
SEPARATOR = "0"  # how the token before each word is shown


def _there(mode: str) -> tuple[str, ...]:
    """The models of a mode that are shipped. CheckpointError where none is."""
    found = tuple(variant for variant in MODELS[mode] if (checkpoint.folder(SLUG, variant) / "model.json").is_file())
    if not found:
        raise CheckpointError(f"no model of {mode} is there: train one first")
    return found


def _batch(mode: str, text: str, model: Reformer) -> Batch:
    """What a model reads. Words: 0 w 0 w; a text: UNKNOWN, which no text of training begins with, and its characters."""
    if mode == "word":
        return said_twice(np.array([[LETTERS.index(letter) + 1 for letter in text]]))
    characters = torch.from_numpy(Alphabet(model.config.letters).encode(text).astype(np.int64))[None]
    return Batch(F.pad(characters[:, :-1], (1, 0)), characters, torch.arange(len(text))[None])


def _spelled(mode: str, tokens: Sequence[int], model: Reformer) -> tuple[str, ...]:
    if mode == "word":
        return tuple(SEPARATOR if token == 0 else LETTERS[token - 1] for token in tokens)
    return tuple(Alphabet(model.config.letters).decode(tokens))


def _rounds(request: Request, model: Reformer) -> int:
    return model.config.rounds if request.rounds < 0 else request.rounds


def _rotation(request: Request, model: Reformer) -> list[Tensor | None]:
    kinds = request.buckets or model.config.buckets
    return model.rotations(_rounds(request, model), kinds, torch.Generator().manual_seed(request.seed))


@torch.no_grad()
def _read(request: Request, variant: str) -> Read:
    """One model on one request."""
    model = load(variant).model
    config, device = model.config, model.readout.weight.device
    batch = moved(_batch(request.mode, request.text, model), device)
    rotation = _rotation(request, model)
    chunk = request.chunk or config.chunk
    trace = Trace("*/self/queries", "*/self/buckets")
    logits = _with_chunk(model, chunk)(batch.before, rotation, batch.positions, gains([request], variant, model), trace)[0].float()
    wanted = batch.wanted[0] != NONE
    answer, asked = logits[wanted].argmax(-1), batch.wanted[0][wanted]
    length = batch.before.shape[1]
    hashed = rotation[0] is not None
    buckets = trace.stack("*/self/buckets")[:, 0] if hashed else np.zeros((config.n_layers, config.n_heads, 0, length))
    return Read(
        variant=variant,
        answer=frozen(answer.cpu().numpy(), np.int16),
        said="".join(_spelled(request.mode, answer.tolist(), model)),
        nats=frozen(F.cross_entropy(logits[wanted], asked, reduction="none").cpu().numpy(), np.float32),
        correct=float((answer == asked).double().mean()),
        queries=frozen(trace.stack("*/self/queries")[:, 0], np.float16),
        buckets=frozen(buckets, np.int16),
        chunk=chunk,
        kinds=request.buckets or config.buckets,
    )


def _with_chunk(model: Reformer, chunk: int) -> Reformer:
    """The same network, its parameters shared, with chunks of another length."""
    if chunk == model.config.chunk:
        return model
    with torch.device("meta"):
        other = Reformer(dataclasses.replace(model.config, chunk=chunk))
    other.load_state_dict(model.state_dict(), assign=True)
    return other.requires_grad_(False).eval()


def _explanation(request: Request, read: Sequence[Read]) -> Explanation:
    model = load(read[0].variant).model
    batch = _batch(request.mode, request.text, model)
    tokens = _spelled(request.mode, batch.before[0].tolist(), model)
    wanted = (batch.wanted[0] != NONE).nonzero()[:, 0].numpy()
    return Explanation(tokens, frozen(wanted, np.int16), tuple(read), request.seed)


def _checked(request: Request) -> Request:
    check(request)
    config = load(_there(request.mode)[0]).model.config  # all models of a mode are of one size
    check_heads(request.silenced, dict.fromkeys(MODELS[request.mode], (config.n_layers, config.n_heads)))
    return request


def _work(requests: Sequence[Request]) -> Iterator[News]:
    """Each turn is one model on one request, or what all of them make of it."""
    for row, one in enumerate(requests):
        read = []
        for variant in _there(one.mode):
            read.append(_read(one, variant))
            yield {row: [read[-1]]}
        yield {row: _explanation(one, read)}


explain, _ = served(_checked, _work, Explanation)


def _chosen(seen: Explanation, variant: str, layer: int, head: int) -> tuple[Read, Tensor]:
    """A model's run, and the queries of one head, (position, d_head). IndexError where there is no such head."""
    read = next((one for one in seen.read if one.variant == variant), None)
    if read is None or not (0 <= layer < len(read.queries) and 0 <= head < read.queries.shape[1]):
        raise IndexError(f"no head {layer}.{head} of {variant} in this run")
    return read, torch.from_numpy(read.queries[layer, head].astype(np.float32))


def _run_rotation(seen: Explanation, read: Read, layer: int, head: int) -> Tensor:
    """The rotations that a run used for one head, (round, d_head, half), drawn again from its seed."""
    model = load(read.variant).model
    drawn = model.rotations(read.buckets.shape[2], read.kinds, torch.Generator().manual_seed(seen.seed))[layer]
    assert drawn is not None
    return drawn[head]


def hashing(seen: Explanation, variant: str, layer: int, head: int, turn: int) -> Hashing:
    """One round of one head of a run, from rotated vectors to weights. IndexError where there is no such head or round."""
    read, query = _chosen(seen, variant, layer, head)
    if not 0 <= turn < read.buckets.shape[2]:
        raise IndexError(f"no round {turn} in a run with {read.buckets.shape[2]}")
    rotated = unit(query) @ _run_rotation(seen, read, layer, head)[turn]
    buckets = torch.from_numpy(read.buckets[layer, head, turn].copy())
    order = sort_by_bucket(buckets)
    pairs = met(order, read.chunk).tril()
    return Hashing(
        rotated=frozen(rotated.numpy(), np.float32),
        buckets=frozen(buckets.numpy(), np.int16),
        order=frozen(order.numpy(), np.int16),
        chunk=read.chunk,
        seen=frozen(pairs.numpy(), np.bool_),
        weights=frozen(shared_weights(query, pairs).numpy(), np.float16),
    )


def first_met(buckets: Tensor, chunk: int) -> NDArray[np.uint8]:
    """(query, key): the round, from 1 on, in which a pair first met; 0 for pairs that never do, for the query itself and for its future.

    buckets: (round, position).
    """
    found = np.zeros((buckets.shape[1],) * 2, np.uint8)
    for turn in range(len(buckets), 0, -1):
        found[met(sort_by_bucket(buckets[turn - 1]), chunk).numpy()] = turn
    return np.tril(found, -1)


def _buckets(seen: Explanation, read: Read, layer: int, head: int, query: Tensor, kinds: int) -> Tensor:
    """(round, position): MAX_ROUNDS rounds of one head with so many buckets: those of the run where it had as many, then further ones."""
    ran = torch.from_numpy(read.buckets[layer, head].copy()) if kinds == read.kinds else torch.zeros(0, len(query), dtype=torch.int16)
    if len(ran) >= MAX_ROUNDS:
        return ran[:MAX_ROUNDS]
    more = rotations(1, query.shape[1], MAX_ROUNDS - len(ran), kinds, torch.Generator().manual_seed(seen.seed))
    return torch.cat((ran, hash_vectors(query[None, None], more)[0, 0]))


def _log_weights(query: Tensor) -> Tensor:
    """(query, key) log of `shared_weights`, 0 where a query may not look. query: (position, d_head)."""
    earlier = torch.ones(len(query), len(query), dtype=torch.bool).tril(-1)
    scores = (query @ unit(query).T).masked_fill(~earlier, -torch.inf)
    return torch.where(earlier, scores.log_softmax(-1), 0.0)


def missed(seen: Explanation, variant: str, layer: int, head: int, chosen: int = 0) -> Missed:
    """What the rounds of a run do not see of one head's full attention, and what 1 … 16 rounds with 2 … 64 buckets would not.

    chosen: the number of buckets of which `first` tells, 0 for the run's own. The rounds of the run come first among those with as many
    buckets as it had; all others are drawn from its seed. A query weighs one: the mean is over all but the first, which has nothing to
    miss. IndexError where there is no such head, ValueError for an odd number of buckets.
    """
    read, query = _chosen(seen, variant, layer, head)
    full = shared_weights(query)
    chosen = chosen or read.kinds
    kinds = tuple(sorted({*KINDS, read.kinds, chosen}))
    below = np.tril_indices(len(query), -1)
    weights = full.numpy()[below].astype(np.float64)
    table, shares = np.zeros((2, MAX_ROUNDS, len(kinds)), np.float32)
    first = np.zeros(full.shape, np.uint8)
    for column, count in enumerate(kinds):
        found = first_met(_buckets(seen, read, layer, head, query, count), read.chunk)
        first = found if count == chosen else first
        for values, counted in ((table, weights), (shares, np.ones_like(weights))):
            by_round = np.bincount(found[below], counted, MAX_ROUNDS + 1)  # [0]: of the pairs that never meet
            values[:, column] = by_round[1:].cumsum() / max(1e-30, by_round.sum())
    return Missed(
        log_full=frozen(_log_weights(query).numpy(), np.float32),
        kinds=kinds,
        table=frozen(100 * (1 - table) if len(query) > 1 else table, np.float32),
        pairs=frozen(100 * shares, np.float32),
        chosen=chosen,
        first=frozen(first, np.uint8),
    )


@torch.no_grad()
def _there_and_back(model: Reformer, batch: Batch, rotation: Sequence[Tensor | None]) -> tuple[list[Tensor], list[Tensor]]:
    """What goes into every layer, and what comes back from the outputs of the last: (2, position, d_model) for each layer."""
    x = model.embedded(batch.before, batch.positions)
    turns, pair = model.turns(rotation), (x, x)
    inputs, memos, again = [], [], []
    for turn in turns:
        inputs.append(torch.cat(pair))
        memos.append(turn.memo(pair[1]))
        pair = step(turn, *pair, memos[-1])
    for turn, memo in zip(reversed(turns), reversed(memos), strict=True):
        pair = back(turn, *pair, memo)
        again.append(torch.cat(pair))
    return inputs, again[::-1]


def rewind(request: Request, variant: str) -> Rewound:
    """A model forward on a request, then back from its outputs alone, in single and in double precision."""
    shipped = load(variant).model
    double = Reformer(shipped.config).requires_grad_(False)
    double.load_state_dict(shipped.state_dict())
    double = double.double().to(shipped.readout.weight.device)
    batch, rotation = moved(_batch(request.mode, request.text, shipped), shipped.readout.weight.device), _rotation(request, shipped)
    runs = [_there_and_back(model, batch, rotation) for model in (shipped, double)]
    single, precise = (np.array([float((a - b).abs().max()) for a, b in zip(*run, strict=True)]) for run in runs)
    forward, again = (torch.stack([one.norm(dim=(0, 2)) for one in side]).cpu().numpy() for side in runs[0])
    return Rewound(frozen(single, np.float64), frozen(precise, np.float64), frozen(forward, np.float32), frozen(again, np.float32))


@torch.no_grad()
def in_chunks(request: Request, variant: str, layer: int = 0, chunks: Sequence[int] = (1, 2, 4, 8, 16)) -> InChunks:
    """A layer's feed-forward network on what really goes into it, in more and more parts. IndexError where there is no such layer."""
    model = load(variant).model
    if not 0 <= layer < model.config.n_layers:
        raise IndexError(f"no layer {layer} in {variant}")
    batch = moved(_batch(request.mode, request.text, model), model.readout.weight.device)
    inputs, _ = _there_and_back(model, batch, _rotation(request, model))
    chosen = model.layers[layer]
    assert isinstance(chosen, Layer)
    x = chosen.feedforward_norm(inputs[layer][:1])
    whole = chosen.feedforward.whole(x)
    differences, sizes = [], []
    for count in chunks:
        network = ChunkedFeedForward(model.config.d_model, model.config.d_ff, count)
        network.inner, network.outer = chosen.feedforward.inner, chosen.feedforward.outer
        differences.append(float((network(x) - whole).abs().max()))
        sizes.append(4 * model.config.d_ff * max(part.shape[1] for part in x.chunk(count, 1)))
    return InChunks(tuple(chunks), tuple(differences), tuple(sizes))
