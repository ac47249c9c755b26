"""Attention by locality-sensitive hashing: hash, sort, chunk, attend, and put back in place (Kitaev et al., 2020, §2).

Queries are their own keys: k_j = q_j / |q_j|, and scores are q_i · k_j. In each round a query attends to the keys of its own chunk and of
the one before it in the sorted order (eq. 5), whatever bucket they are in; the first chunk has none before it. Only these pairs of chunks
are ever compared: a round costs O(L · chunk), and no tensor has L × L entries.

To read: `direct`, with all L × L entries. What runs is `lsh_attention`, with gradients of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.trace import OFF, Trace

FORBIDDEN = 1e6  # what a score loses that may not count: a query's own key loses it once, keys of the future at least twice
TOGETHER = 1 << 20  # scores that stand in memory at a time, so that they stay in the processor's cache


def direct(query: Tensor, value: Tensor, buckets: Tensor, chunk: int) -> Tensor:
    """Every pair computed, and what no round brings together thrown away. Shapes as in `lsh_attention`."""
    seen = met(sort_by_bucket(buckets), min(chunk, query.shape[2])).any(2)  # (batch, head, query, key), whatever the round
    return shared_weights(query, seen) @ value


def rotations(n_heads: int, d_head: int, rounds: int, buckets: int, generator: torch.Generator | None = None) -> Tensor:
    """R of each head and round, (head, round, d_head, buckets / 2), drawn from a normal distribution (§2, after Andoni et al., 2015).

    ValueError where there is no round, or where buckets are not an even number of at least 2.
    """
    if rounds < 1:
        raise ValueError(f"{rounds} rounds of hashing: at least one is needed")
    if buckets < 2 or buckets % 2:
        raise ValueError(f"{buckets} buckets: a rotation and its mirror image make an even number of them, 2 or more")
    return torch.randn(n_heads, rounds, d_head, buckets // 2, generator=generator)


def hash_vectors(x: Tensor, rotation: Tensor) -> Tensor:
    """h(x) = argmax([x R ; −x R]): (batch, head, round, position) numbers of buckets in int16.

    x: (batch, head, position, d_head); rotation: (head, round, d_head, buckets / 2). What is farthest along a column of R, or against it,
    decides, so a vector's length does not matter.
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
            best = _argmax(rotated.abs())
            against = rotated.gather(3, best[..., None])[..., 0] < 0
            found[begin : begin + together, head] = (best + half * against).transpose(1, 2)
    return found


def _argmax(x: Tensor) -> Tensor:
    """Over the last axis. On a CPU NumPy's, which is three times faster than torch's."""
    return torch.from_numpy(x.numpy().argmax(-1)) if x.device.type == "cpu" else x.argmax(-1)


def sort_by_bucket(buckets: Tensor) -> Tensor:
    """The positions in order of (bucket, position): (…, position) whole numbers, along the last axis of `buckets`."""
    if buckets.device.type == "cpu":  # NumPy sorts short whole numbers by their digits, ten times faster than by comparing them
        return torch.from_numpy(buckets.numpy().argsort(-1, kind="stable"))
    return torch.argsort(buckets, dim=-1, stable=True)


@dataclass(frozen=True)
class Places:
    """Where the positions of some sequences stand after sorting, for each round.

    order: (round, row, place) the position at each place; before the first chunk and behind the last position stands `length`, which
    nobody may see. rank: (round, row, position) the place of each position, the chunk before the first not counted.
    """

    order: Tensor
    rank: Tensor
    chunk: int
    length: int

    @property
    def rounds(self) -> int:
        """Rounds of hashing."""
        return len(self.order)

    @property
    def chunks(self) -> int:
        """Chunks of a round, without the empty one before the first."""
        return self.order.shape[2] // self.chunk - 1

    @staticmethod
    def of(order: Tensor, chunk: int) -> Places:
        """order: (row, round, position), as `sort_by_bucket` gives it."""
        length = order.shape[2]
        order = order.transpose(0, 1)
        rank = torch.empty_like(order).scatter_(2, order, torch.arange(length, device=order.device).expand_as(order))
        behind = -length % chunk
        return Places(F.pad(order, (chunk, behind), value=length), rank, chunk, length)

    def rows(self, begin: int, end: int) -> Places:
        """The places of some of the rows."""
        return Places(self.order[:, begin:end], self.rank[:, begin:end], self.chunk, self.length)

    def gather(self, x: Tensor, turn: int) -> Tensor:
        """x: (row, position, …) -> (row, place, …), in the order of a round; what stands where nobody may see it is of no account."""
        return _rows(x, self.order[turn].clamp(max=self.length - 1))

    def queries(self, x: Tensor) -> Tensor:
        """x: (row, place, …) -> (row · chunk, chunk length, …), without the chunk before the first."""
        return x[:, self.chunk :].reshape(-1, self.chunk, *x.shape[2:])

    def pairs(self, x: Tensor) -> Tensor:
        """x: (row, place, d) -> (row · chunk, d, 2 · chunk length): each chunk's with the one before it; a view where there is one row."""
        pairs: Tensor = x.unfold(1, 2 * self.chunk, self.chunk).flatten(0, 1)
        return pairs

    def back(self, x: Tensor, turn: int) -> Tensor:
        """x: (row, place, …), without the chunk before the first -> (row, position, …)."""
        return _rows(x, self.rank[turn])

    def bias(self, turn: int, room: Tensor) -> Tensor:
        """(row · chunk, query, key) to be multiplied by FORBIDDEN and added to scores: 0 where a pair counts in this round, else negative.

        −1 for the query itself and for pairs that an earlier round has counted, −2 or lower for the future; it stands in the first of the
        two tensors of `room`. All by arithmetic on numbers: comparing runs several times slower.
        """
        rows = self.order.shape[1] * self.chunks
        bias, apart = room[0, :rows], room[1, :rows]
        place = self.order[turn].to(room.dtype)[..., None]
        torch.sub(self.queries(place) + 0.5, self.pairs(place), out=bias)  # 1.5 and more for the past, 0.5 for itself
        for earlier in self.rank[:turn]:  # two had met before if their chunks were the same or neighbours: |Δ − ½| = ½
            number = self.gather((earlier // self.chunk).to(room.dtype)[..., None], turn)
            torch.sub(self.queries(number) - 0.5, self.pairs(number), out=apart)
            torch.minimum(bias, apart.abs_(), out=bias)
        bias.sub_(1.5).clamp_(max=0)
        return bias

    def room(self, like: Tensor) -> Tensor:
        """(2, row · chunk, query, key), for `bias`: asking for fresh memory in every round would take as long as filling it."""
        return like.new_empty(2, self.order.shape[1] * self.chunks, self.chunk, 2 * self.chunk)


def _rows(x: Tensor, index: Tensor) -> Tensor:
    """x: (row, position, …), index: (row, place) -> (row, place, …)."""
    offset = torch.arange(len(x), device=x.device)[:, None] * x.shape[1]
    found: Tensor = x.flatten(0, 1).index_select(0, (index + offset).flatten()).view(*index.shape, *x.shape[2:])
    return found


def _scores(query: Tensor, key: Tensor, places: Places, turn: int, room: Tensor) -> tuple[Tensor, Tensor]:
    """The queries of a round, (row · chunk, query, d_head), and their scores with the keys of their pair of chunks, forbidden ones low.

    Scores are divided by log 2 here: 2^x is computed faster than e^x, above all where the result is 0.
    """
    sorted_query = places.queries(places.gather(query, turn))
    keys = places.pairs(places.gather(key, turn))
    return sorted_query, places.bias(turn, room).baddbmm_(sorted_query, keys, beta=FORBIDDEN, alpha=1 / math.log(2))


def _round(query: Tensor, key: Tensor, value: Tensor, places: Places, turn: int, room: Tensor) -> tuple[Tensor, Tensor]:
    """One round: o^(r), (row, position, d_head), and z^(r) = log Σ exp(score) in units of log 2, (row, position, 1)."""
    _, scores = _scores(query, key, places, turn, room)
    most = scores.amax(-1, keepdim=True)
    weights = scores.sub_(most).exp2_()
    total = weights.sum(-1, keepdim=True)
    output = torch.bmm(weights, places.pairs(places.gather(value, turn)).transpose(1, 2)).div_(total)
    z = total.log2_().add_(most)
    rows = len(query)
    return places.back(output.view(rows, -1, output.shape[2]), turn), places.back(z.view(rows, -1, 1), turn)


def _groups(rows: int, places: Places) -> list[slice]:
    """Rows that are worked on together, as many as can be in the first of them."""
    size = max(1, TOGETHER // (places.chunks * places.chunk * 2 * places.chunk))
    return [slice(begin, min(begin + size, rows)) for begin in range(0, rows, size)]


class _LSHAttention(torch.autograd.Function):
    """All rounds, with their own gradients: only inputs, output and one number per position are kept, and scores are made again."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, order: Tensor, chunk: int) -> Tensor:
        places = Places.of(order, chunk)
        output = torch.empty_like(query)
        z = query.new_empty(*query.shape[:2], 1)
        groups = _groups(len(query), places)
        room = places.rows(0, groups[0].stop).room(query)
        for some in groups:
            q, k, v, here = query[some], key[some], value[some], places.rows(some.start, some.stop)
            joined, total = _round(q, k, v, here, 0, room)
            for turn in range(1, places.rounds):
                more, more_z = _round(q, k, v, here, turn, room)
                after = torch.logaddexp2(total, more_z)
                joined = joined.mul_((total - after).exp2_()).addcmul_(more, (more_z - after).exp2_())
                total = after
            output[some], z[some] = joined, total
        ctx.save_for_backward(query, key, value, order, output, z)
        ctx.chunk = chunk
        return output

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        query, key, value, order, output, z = ctx.saved_tensors
        (d_output,) = outside
        places = Places.of(order, ctx.chunk)
        d_query, d_key, d_value = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
        shared = (d_output * output).sum(-1, keepdim=True)  # Σ_j w_j dw_j, the part of the softmax's gradient that a row shares
        groups = _groups(len(query), places)
        room = places.rows(0, groups[0].stop).room(query)
        for some in groups:
            here = places.rows(some.start, some.stop)
            for turn in range(places.rounds):
                seen, scores = _scores(query[some], key[some], here, turn, room)
                # Each pair counts in one round only: with the z of all rounds its weight comes out at once. Nobody's queries get none.
                nobody = F.pad(z[some], (0, 0, 0, 1), value=math.inf)
                weights = scores.sub_(here.queries(_rows(nobody, here.order[turn]))).exp2_()
                lost = here.queries(here.gather(d_output[some], turn))
                pairs = here.pairs(here.gather(value[some], turn))
                d_scores = torch.bmm(lost, pairs).sub_(here.queries(here.gather(shared[some], turn))).mul_(weights)
                keys = here.pairs(here.gather(key[some], turn)).transpose(1, 2)
                d_query[some] += here.back(torch.bmm(d_scores, keys).view(len(here.rank[turn]), -1, query.shape[2]), turn)
                d_key[some] += _folded(torch.bmm(d_scores.transpose(1, 2), seen), here, turn)
                d_value[some] += _folded(torch.bmm(weights.transpose(1, 2), lost), here, turn)
        return d_query, d_key, d_value, None, None


def _folded(x: Tensor, places: Places, turn: int) -> Tensor:
    """x: (row · chunk, key, d_head) of pairs of chunks -> (row, position, d_head): what a key gets from its own chunk and from the next."""
    rows = places.order.shape[1]
    first, own = x.view(rows, places.chunks, 2, places.chunk, -1).unbind(2)  # (row, chunk, place, d_head)
    own = own.clone()
    own[:, :-1] += first[:, 1:]
    return places.back(own.flatten(1, 2), turn)


def unit(query: Tensor) -> Tensor:
    """The keys of shared queries: vectors of length 1 along the last axis."""
    return F.normalize(query, dim=-1)


def lsh_attention(query: Tensor, value: Tensor, buckets: Tensor, chunk: int, gain: Tensor | None = None, trace: Trace = OFF) -> Tensor:
    """o_i = Σ_{j ∈ P_i} exp(q_i · k_j − z_i) v_j, causal, P_i what any round lets query i see (§2, eq. 2, 5 and 6).

    query, value: (batch, head, position, d_head); buckets: (batch, head, round, position). chunk: places of a chunk.
    A pair that several rounds find counts once: in the first of them. A query attends to itself only where it sees nothing else.
    gain: (batch, head), what a head's output is multiplied by. Result (batch, head, position, d_head).
    Taps `queries` (batch, head, query, d_head), of which `unit` makes the keys, and `buckets` (batch, head, round, position).
    ValueError where buckets are of other positions, or where a chunk or a round is missing.
    """
    batch, heads, length, d_head = query.shape
    if buckets.shape[:2] != query.shape[:2] or buckets.shape[3] != length:
        raise ValueError(f"buckets {tuple(buckets.shape)} for queries {tuple(query.shape)}")
    if chunk < 1 or buckets.shape[2] < 1:
        raise ValueError(f"chunks of {chunk} places in {buckets.shape[2]} rounds: at least one of both is needed")
    order = sort_by_bucket(buckets).flatten(0, 1)
    flat = (batch * heads, length, d_head)
    arguments = (query.reshape(flat), unit(query).reshape(flat), value.reshape(flat), order, min(chunk, length))
    output: Tensor = _LSHAttention.apply(*arguments).view(query.shape)  # type: ignore[no-untyped-call]
    if trace is not OFF:
        trace.tap("queries", "batch head query d_head", query)
        trace.tap("buckets", "batch head round position", buckets)
    return output if gain is None else output * gain[..., None, None]


def shared_attention(query: Tensor, value: Tensor, gain: Tensor | None = None, trace: Trace = OFF) -> Tensor:
    """The same with every key of the past in sight: what hashing stands in for. O(L²) time, by the fused kernel.

    query, value, gain and result as in `lsh_attention`. Taps `queries`.
    """
    length = query.shape[2]
    bias = torch.full((length, length), -math.inf, dtype=query.dtype, device=query.device).triu_(1)
    bias.diagonal().fill_(-FORBIDDEN)
    output = F.scaled_dot_product_attention(query, unit(query), value, attn_mask=bias, scale=1.0)
    trace.tap("queries", "batch head query d_head", query)
    return output if gain is None else output * gain[..., None, None]


def shared_weights(query: Tensor, seen: Tensor | None = None) -> Tensor:
    """The weights of shared queries, (…, query, key): of everything before, or of what is `seen`, (…, query, key) bool, alone.

    query: (…, position, d_head). A query's own key counts only where it sees no other.
    """
    length = query.shape[-2]
    scores = query @ unit(query).transpose(-2, -1)
    allowed = torch.ones(length, length, dtype=torch.bool, device=query.device).tril(-1)
    if seen is not None:
        allowed = allowed & seen
    scores = scores.masked_fill(~allowed, -math.inf)
    alone = ~allowed.any(-1, keepdim=True) & torch.eye(length, dtype=torch.bool, device=query.device)
    return scores.masked_fill(alone, 0.0).softmax(-1)


def met(order: Tensor, chunk: int) -> Tensor:
    """Which positions meet in a round: (…, query, key) bool, the key's chunk being the query's or the one before; causality left aside.

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

    def split(self, x: Tensor) -> Tensor:
        """(batch, position, d_model) -> (batch, head, position, d_head)."""
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def hashes(self, x: Tensor, rotation: Tensor) -> Tensor:
        """(batch, head, round, position): the buckets of x, (batch, position, d_model). rotation as in `hash_vectors`."""
        return hash_vectors(self.split(self.query(x)), rotation)

    def forward(self, x: Tensor, buckets: Tensor | None, gain: Tensor | None = None, trace: Trace = OFF) -> Tensor:
        """x: (batch, position, d_model), the same comes back. buckets: of `hashes`; None: attention to everything before.

        gain and taps as in `lsh_attention`.
        """
        query, value = self.split(self.query(x)), self.split(self.value(x))
        if buckets is None:
            heads = shared_attention(query, value, gain, trace)
        else:
            heads = lsh_attention(query, value, buckets, self.chunk, gain, trace)
        return self.project_out(heads.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]
