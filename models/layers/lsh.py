"""Attention by locality-sensitive hashing: hash, sort, chunk, attend, and put back in place (Kitaev
et al., 2020, §2).

Queries are their own keys: k_j = q_j / |q_j|, and scores are q_i · k_j. In each round a query
attends to the keys of its own chunk and of the one before it in the sorted order (eq. 5), whatever
bucket they are in; the first chunk has none before it. Only these pairs of chunks are ever
compared: a round costs O(L · chunk), and no tensor has L × L entries.

Read `attend_by_mask` first, with all L × L entries. The labs run `lsh_attention`, with gradients of
its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace

# subtracted from a score that may not count: a query's own key loses it once, keys of the future at
# least twice
FORBIDDEN = 1e6
# scores that stand in memory at a time, so that they stay in the processor's cache
TOGETHER = 1 << 20


def attend_by_mask(query: Tensor, value: Tensor, buckets: Tensor, chunk: int) -> Tensor:
    """Compute every pair, and drop those that no round brings together. Shapes as in
    `lsh_attention`."""
    # (batch, head, query, key), whatever the round
    seen = mark_meetings(sort_by_bucket(buckets), min(chunk, query.shape[2])).any(2)
    return shared_weights(query, seen) @ value


def draw_rotations(
    n_heads: int, d_head: int, rounds: int, buckets: int, generator: torch.Generator | None = None
) -> Tensor:
    """Draw R of each head and round, (head, round, d_head, buckets / 2), from a normal distribution
    (§2, after Andoni et al., 2015).

    Raise ValueError where there is no round, or where buckets are not an even number of at least 2.
    """
    if rounds < 1:
        raise ValueError(f"{rounds} rounds of hashing; expected 1 or more")
    if buckets < 2 or buckets % 2:
        raise ValueError(f"{buckets} buckets; expected an even number, 2 or more")
    return torch.randn(n_heads, rounds, d_head, buckets // 2, generator=generator)


def hash_vectors(x: Tensor, rotation: Tensor) -> Tensor:
    """Return h(x) = argmax([x R ; −x R]): (batch, head, round, position) numbers of buckets in
    int16.

    x: (batch, head, position, d_head).
    rotation: (head, round, d_head, buckets / 2).

    The column of R along which a vector lies farthest, in its direction or against it, decides, so
    a vector's length does not matter.
    """
    batch, heads, length, _ = x.shape
    _, rounds, _, half = rotation.shape
    columns = rotation.detach().transpose(1, 2).flatten(2).to(x)  # (head, d_head, round · half)
    found = torch.empty(batch, heads, rounds, length, dtype=torch.int16, device=x.device)
    together = max(1, TOGETHER // (length * rounds * half))  # sequences
    for begin in range(0, batch, together):
        for head in range(heads):
            some = x[begin : begin + together, head].detach()
            rotated = (some @ columns[head]).view(-1, length, rounds, half)
            best = _find_greatest(rotated.abs())
            against = rotated.gather(3, best[..., None])[..., 0] < 0
            found[begin : begin + together, head] = (best + half * against).transpose(1, 2)
    return found


def _find_greatest(x: Tensor) -> Tensor:
    """Return the argmax over the last axis. On a CPU it is NumPy's, which is three times faster
    than torch's."""
    return torch.from_numpy(x.numpy().argmax(-1)) if x.device.type == "cpu" else x.argmax(-1)


def sort_by_bucket(buckets: Tensor) -> Tensor:
    """Return the positions in order of (bucket, position): (…, position) whole numbers, along the
    last axis of `buckets`."""
    # NumPy sorts short whole numbers by their digits, ten times faster than by comparing them.
    if buckets.device.type == "cpu":
        return torch.from_numpy(buckets.numpy().argsort(-1, kind="stable"))
    return torch.argsort(buckets, dim=-1, stable=True)


@dataclass(frozen=True)
class Places:
    """The places of the positions of some sequences after sorting, for each round.

    order: the position at each place, (round, row, place); before the first chunk and behind the
        last position stands `length`, which nobody may see.
    rank: the place of each position, the chunk before the first not counted, (round, row,
        position).
    """

    order: Tensor
    rank: Tensor
    chunk: int
    length: int

    @property
    def rounds(self) -> int:
        """The number of rounds of hashing."""
        return len(self.order)

    @property
    def chunks(self) -> int:
        """The number of chunks of a round, without the empty one before the first."""
        return self.order.shape[2] // self.chunk - 1

    @staticmethod
    def from_order(order: Tensor, chunk: int) -> Places:
        """Return the places of `order`, (row, round, position), as `sort_by_bucket` gives it."""
        length = order.shape[2]
        order = order.transpose(0, 1)
        rank = torch.empty_like(order).scatter_(
            2, order, torch.arange(length, device=order.device).expand_as(order)
        )
        behind = -length % chunk
        return Places(F.pad(order, (chunk, behind), value=length), rank, chunk, length)

    def rows(self, begin: int, end: int) -> Places:
        """Return the places of some of the rows."""
        return Places(self.order[:, begin:end], self.rank[:, begin:end], self.chunk, self.length)

    def gather(self, x: Tensor, turn: int) -> Tensor:
        """Reorder x by a round: (row, position, …) -> (row, place, …). Values at places that nobody
        may see do not matter."""
        return _take_rows(x, self.order[turn].clamp(max=self.length - 1))

    def queries(self, x: Tensor) -> Tensor:
        """Cut x, (row, place, …), into chunks, without the chunk before the first: (row · chunk,
        chunk length, …)."""
        return x[:, self.chunk :].reshape(-1, self.chunk, *x.shape[2:])

    def pairs(self, x: Tensor) -> Tensor:
        """Return each chunk with the one before it: (row, place, d) -> (row · chunk, d, 2 · chunk
        length); a view where there is one row."""
        pairs: Tensor = x.unfold(1, 2 * self.chunk, self.chunk).flatten(0, 1)
        return pairs

    def unsort(self, x: Tensor, turn: int) -> Tensor:
        """Put x, (row, place, …), without the chunk before the first, back in order: (row,
        position, …)."""
        return _take_rows(x, self.rank[turn])

    def bias(self, turn: int, room: Tensor) -> Tensor:
        """Return the bias (row · chunk, query, key), to be multiplied by FORBIDDEN and added to
        scores: 0 where a pair counts in this round, else negative.

        It is −1 for the query itself and for pairs that an earlier round has counted, −2 or lower
        for the future; it stands in the first of the two tensors of `room`. Everything is
        arithmetic on numbers, because comparing runs several times slower.
        """
        rows = self.order.shape[1] * self.chunks
        bias, apart = room[0, :rows], room[1, :rows]
        place = self.order[turn].to(room.dtype)[..., None]
        # 1.5 and more for the past, 0.5 for itself
        torch.sub(self.queries(place) + 0.5, self.pairs(place), out=bias)
        # two had met before if their chunks were the same or neighbours: |Δ − ½| = ½
        for earlier in self.rank[:turn]:
            number = self.gather((earlier // self.chunk).to(room.dtype)[..., None], turn)
            torch.sub(self.queries(number) - 0.5, self.pairs(number), out=apart)
            torch.minimum(bias, apart.abs_(), out=bias)
        bias.sub_(1.5).clamp_(max=0)
        return bias

    def room(self, like: Tensor) -> Tensor:
        """Return memory for `bias`, (2, row · chunk, query, key): asking for fresh memory in every
        round would take as long as filling it."""
        return like.new_empty(2, self.order.shape[1] * self.chunks, self.chunk, 2 * self.chunk)


def _take_rows(x: Tensor, index: Tensor) -> Tensor:
    """Take rows of x by an index: x (row, position, …), index (row, place) -> (row, place, …)."""
    offset = torch.arange(len(x), device=x.device)[:, None] * x.shape[1]
    found: Tensor = (
        x.flatten(0, 1).index_select(0, (index + offset).flatten()).view(*index.shape, *x.shape[2:])
    )
    return found


def _compute_scores(
    query: Tensor, key: Tensor, places: Places, turn: int, room: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the queries of a round, (row · chunk, query, d_head), and their scores with the keys
    of their pair of chunks, forbidden ones low.

    Scores are divided by log 2 here: 2^x is computed faster than e^x, above all where the result is
    0.
    """
    sorted_query = places.queries(places.gather(query, turn))
    keys = places.pairs(places.gather(key, turn))
    return sorted_query, places.bias(turn, room).baddbmm_(
        sorted_query, keys, beta=FORBIDDEN, alpha=1 / math.log(2)
    )


def _attend_round(
    query: Tensor, key: Tensor, value: Tensor, places: Places, turn: int, room: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute one round: o^(r), (row, position, d_head), and z^(r) = log Σ exp(score) in units of
    log 2, (row, position, 1)."""
    _, scores = _compute_scores(query, key, places, turn, room)
    most = scores.amax(-1, keepdim=True)
    weights = scores.sub_(most).exp2_()
    total = weights.sum(-1, keepdim=True)
    output = torch.bmm(weights, places.pairs(places.gather(value, turn)).transpose(1, 2)).div_(
        total
    )
    z = total.log2_().add_(most)
    rows = len(query)
    return places.unsort(output.view(rows, -1, output.shape[2]), turn), places.unsort(
        z.view(rows, -1, 1), turn
    )


def _group_rows(rows: int, places: Places) -> list[slice]:
    """Return the rows in groups that are worked on together, each so small that its scores number
    at most TOGETHER, or of one row."""
    size = max(1, TOGETHER // (places.chunks * places.chunk * 2 * places.chunk))
    return [slice(begin, min(begin + size, rows)) for begin in range(0, rows, size)]


class _LSHAttention(torch.autograd.Function):
    """All rounds, with their own gradients: only inputs, output and one number per position are
    kept, and scores are computed again."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, order: Tensor, chunk: int
    ) -> Tensor:
        places = Places.from_order(order, chunk)
        output = torch.empty_like(query)
        z = query.new_empty(*query.shape[:2], 1)
        groups = _group_rows(len(query), places)
        room = places.rows(0, groups[0].stop).room(query)
        for some in groups:
            q, k, v, here = query[some], key[some], value[some], places.rows(some.start, some.stop)
            joined, total = _attend_round(q, k, v, here, 0, room)
            for turn in range(1, places.rounds):
                more, more_z = _attend_round(q, k, v, here, turn, room)
                after = torch.logaddexp2(total, more_z)
                joined = joined.mul_((total - after).exp2_()).addcmul_(
                    more, (more_z - after).exp2_()
                )
                total = after
            output[some], z[some] = joined, total
        ctx.save_for_backward(query, key, value, order, output, z)
        ctx.chunk = chunk
        return output

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        query, key, value, order, output, z = ctx.saved_tensors
        (d_output,) = outside
        places = Places.from_order(order, ctx.chunk)
        d_query, d_key, d_value = (
            torch.zeros_like(query),
            torch.zeros_like(key),
            torch.zeros_like(value),
        )
        # Σ_j w_j dw_j, the part of the softmax's gradient that a row shares
        shared = (d_output * output).sum(-1, keepdim=True)
        groups = _group_rows(len(query), places)
        room = places.rows(0, groups[0].stop).room(query)
        for some in groups:
            here = places.rows(some.start, some.stop)
            for turn in range(places.rounds):
                seen, scores = _compute_scores(query[some], key[some], here, turn, room)
                # Each pair counts in one round only: the z of all rounds gives its weight
                # at once. Queries of places that nobody may see get weight 0.
                nobody = F.pad(z[some], (0, 0, 0, 1), value=math.inf)
                weights = scores.sub_(here.queries(_take_rows(nobody, here.order[turn]))).exp2_()
                lost = here.queries(here.gather(d_output[some], turn))
                pairs = here.pairs(here.gather(value[some], turn))
                d_scores = (
                    torch.bmm(lost, pairs)
                    .sub_(here.queries(here.gather(shared[some], turn)))
                    .mul_(weights)
                )
                keys = here.pairs(here.gather(key[some], turn)).transpose(1, 2)
                d_query[some] += here.unsort(
                    torch.bmm(d_scores, keys).view(len(here.rank[turn]), -1, query.shape[2]), turn
                )
                d_key[some] += _fold_pairs(torch.bmm(d_scores.transpose(1, 2), seen), here, turn)
                d_value[some] += _fold_pairs(torch.bmm(weights.transpose(1, 2), lost), here, turn)
        return d_query, d_key, d_value, None, None


def _fold_pairs(x: Tensor, places: Places, turn: int) -> Tensor:
    """Sum over pairs of chunks what a key gets from its own chunk and from the next: (row · chunk,
    key, d_head) -> (row, position, d_head)."""
    rows = places.order.shape[1]
    # (row, chunk, place, d_head)
    first, own = x.view(rows, places.chunks, 2, places.chunk, -1).unbind(2)
    own = own.clone()
    own[:, :-1] += first[:, 1:]
    return places.unsort(own.flatten(1, 2), turn)


def normalise_keys(query: Tensor) -> Tensor:
    """Return the keys of shared queries: vectors of length 1 along the last axis."""
    return F.normalize(query, dim=-1)


def lsh_attention(
    query: Tensor,
    value: Tensor,
    buckets: Tensor,
    chunk: int,
    gain: Tensor | None = None,
    trace: Trace = OFF,
) -> Tensor:
    """Return o_i = Σ_{j ∈ P_i} exp(q_i · k_j − z_i) v_j, causal, where P_i are the keys that any
    round lets query i see (§2, eq. 2, 5 and 6). The result is (batch, head, position, d_head).

    query, value: (batch, head, position, d_head).
    buckets: (batch, head, round, position).
    chunk: places of a chunk.
    gain: the factor on a head's output, (batch, head).

    A pair that several rounds find counts once: in the first of them. A query attends to itself
    only where it sees nothing else. Taps `queries` (batch, head, query, d_head), of which
    `normalise_keys` makes the keys, and `buckets` (batch, head, round, position). Raise ValueError
    where buckets are of other positions, or where a chunk or a round is missing.
    """
    batch, heads, length, d_head = query.shape
    if buckets.shape[:2] != query.shape[:2] or buckets.shape[3] != length:
        raise ValueError(f"buckets {tuple(buckets.shape)} for queries {tuple(query.shape)}")
    if chunk < 1 or buckets.shape[2] < 1:
        raise ValueError(
            f"chunks of {chunk} places in {buckets.shape[2]} rounds: at least one of both is needed"
        )
    order = sort_by_bucket(buckets).flatten(0, 1)
    flat = (batch * heads, length, d_head)
    arguments = (
        query.reshape(flat),
        normalise_keys(query).reshape(flat),
        value.reshape(flat),
        order,
        min(chunk, length),
    )
    output: Tensor = _LSHAttention.apply(*arguments).view(query.shape)  # type: ignore[no-untyped-call]
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("buckets", "batch head round position", buckets)
    return output if gain is None else output * gain[..., None, None]


def shared_attention(
    query: Tensor, value: Tensor, gain: Tensor | None = None, trace: Trace = OFF
) -> Tensor:
    """Return the same with every key of the past in sight, which hashing approximates. It takes
    O(L²) time, by the fused kernel.

    query, value, gain: as in `lsh_attention`, and so is the result. Taps `queries`.
    """
    length = query.shape[2]
    bias = torch.full((length, length), -math.inf, dtype=query.dtype, device=query.device).triu_(1)
    bias.diagonal().fill_(-FORBIDDEN)
    output = F.scaled_dot_product_attention(
        query, normalise_keys(query), value, attn_mask=bias, scale=1.0
    )
    trace.tap("queries", "batch head query d_head", query)
    return output if gain is None else output * gain[..., None, None]


def shared_weights(query: Tensor, seen: Tensor | None = None) -> Tensor:
    """Return the weights of shared queries, (…, query, key): over all earlier positions, or only
    over those that are `seen`, (…, query, key) bool.

    query: (…, position, d_head). A query's own key counts only where it sees no other.
    """
    length = query.shape[-2]
    scores = query @ normalise_keys(query).transpose(-2, -1)
    allowed = torch.ones(length, length, dtype=torch.bool, device=query.device).tril(-1)
    if seen is not None:
        allowed = allowed & seen
    scores = scores.masked_fill(~allowed, -math.inf)
    alone = ~allowed.any(-1, keepdim=True) & torch.eye(
        length, dtype=torch.bool, device=query.device
    )
    return scores.masked_fill(alone, 0.0).softmax(-1)


def mark_meetings(order: Tensor, chunk: int) -> Tensor:
    """Return whether two positions meet in a round, (…, query, key) bool: the key's chunk is the
    query's or the one before; causality is left aside.

    order: (…, position), as `sort_by_bucket` gives it.
    """
    length = order.shape[-1]
    places = torch.arange(length, device=order.device).expand_as(order)
    number = torch.empty_like(order).scatter_(-1, order, places) // chunk
    apart = number[..., :, None] - number[..., None, :]
    return (apart == 0) | (apart == 1)


class LSHSelfAttention(nn.Module):
    """Multi-head attention with shared queries and keys, by hashing or in full."""

    def __init__(self, d_model: int, n_heads: int, chunk: int) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model {d_model} cannot be shared by {n_heads} heads")
        self.n_heads, self.chunk = n_heads, chunk
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.project_out = nn.Linear(d_model, d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """Reshape (batch, position, d_model) to (batch, head, position, d_head)."""
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def hash_inputs(self, x: Tensor, rotation: Tensor) -> Tensor:
        """Return the buckets of x, (batch, position, d_model): (batch, head, round, position).
        rotation: as in `hash_vectors`."""
        return hash_vectors(self.split_heads(self.query(x)), rotation)

    def forward(
        self, x: Tensor, buckets: Tensor | None, gain: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """Apply the attention to x, (batch, position, d_model), and return the same shape. buckets:
        of `hash_inputs`; None: attention to all earlier positions.

        gain: as in `lsh_attention`, with its taps.
        """
        query, value = self.split_heads(self.query(x)), self.split_heads(self.value(x))
        if buckets is None:
            heads = shared_attention(query, value, gain, trace)
        else:
            heads = lsh_attention(query, value, buckets, self.chunk, gain, trace)
        return self.project_out(heads.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]
