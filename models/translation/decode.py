"""Finding a translation: greedy and beam search over preallocated key/value caches, whole batches at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from models.layers.masks import keys_allowed
from models.translation.data import PAD, START, STOP, UNKNOWN
from models.translation.model import DecoderLayer, Gains, Transformer

NEVER = (PAD, UNKNOWN, START)  # pieces that no translation contains
EXTRA = 50  # a translation stops at source length + 50 pieces (Vaswani et al., 2017, §6.1)


@dataclass(frozen=True)
class Source:
    """A batch of sentences to translate: tokens and allowed are (batch, source); limits, the most pieces of each translation."""

    tokens: Tensor
    allowed: Tensor  # False at padding and at hidden pieces
    limits: tuple[int, ...]  # the stop token counts
    gains: Gains | None = None


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation: its tokens, the stop token last, and log p of each in nats."""

    tokens: tuple[int, ...]
    log_probabilities: tuple[float, ...]

    @property
    def log_probability(self) -> float:
        """log p of the whole translation, nats."""
        return sum(self.log_probabilities)

    def score(self, alpha: float) -> float:
        """log p / ((5 + |Y|) / 6)^α, |Y| with the stop token (Wu et al., 2016, eq. 14)."""
        return self.log_probability / penalty(len(self.tokens), alpha)


def penalty(length: int, alpha: float) -> float:
    """((5 + |Y|) / 6)^α (Wu et al., 2016, eq. 14)."""
    return float(((5 + length) / 6) ** alpha)


def piece_log_probabilities(model: Transformer, hidden: Tensor) -> Tensor:
    """log p over pieces, (…, vocabulary) in float32 nats, for decoder outputs (…, d_model); what no translation contains has p = 0."""
    logits = model.readout(hidden).float()
    logits[..., list(NEVER)] = -torch.inf
    return logits.log_softmax(-1)


class Cache:
    """Keys and values of everything read so far, for a batch of rows that all stand at the same position.

    Memory for the longest translation is taken once; `step` fills one position of it.
    """

    def __init__(self, model: Transformer, memory: Tensor, allowed: Tensor, longest: int, gains: Gains | None) -> None:
        """memory: (row, source, d_model) from the encoder; allowed: (row, source); longest: positions to make room for."""
        config = model.config
        rows, d_head = memory.shape[0], config.d_model // config.n_heads
        self.model = model
        self.position = 0
        self.mask = keys_allowed(allowed)
        self.gains = gains
        self.cross = [layer.cross_attention.key_value(memory) for layer in self._layers()]
        shape = (config.n_layers, rows, config.n_heads, longest, d_head)
        self.keys, self.values = memory.new_empty(shape), memory.new_empty(shape)

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.model.decoder if isinstance(layer, DecoderLayer)]

    def step(self, tokens: Tensor) -> Tensor:
        """Read one token per row (row,) and return log p of what follows, (row, vocabulary)."""
        t = self.position
        x = self.model.embed(tokens[:, None], first=t)  # (row, 1, d_model)
        for i, layer in enumerate(self._layers()):
            gain, cross_gain = (None, None) if self.gains is None else (self.gains.decoder[i], self.gains.cross[i])
            query, key, value = layer.self_attention.self_projections(x)
            self.keys[i, :, :, t], self.values[i, :, :, t] = key[:, :, 0], value[:, :, 0]
            seen = F.scaled_dot_product_attention(query, self.keys[i, :, :, : t + 1], self.values[i, :, :, : t + 1])
            x = layer.norms[0](x + layer.self_attention.join(_gained(seen, gain)))
            seen = F.scaled_dot_product_attention(layer.cross_attention.query(x), *self.cross[i], attn_mask=self.mask)
            x = layer.norms[1](x + layer.cross_attention.join(_gained(seen, cross_gain)))
            x = layer.norms[2](x + layer.feed_forward(x))
        self.position += 1
        return piece_log_probabilities(self.model, x[:, 0])

    def choose(self, rows: Tensor, sentences_change: bool = True) -> None:
        """Go on with these rows (n,) of the batch, in this order; one may come twice. Where each row stays with its sentence,
        only what was written after `<s>` moves."""
        t = self.position
        if len(rows) == self.keys.shape[1]:
            self.keys[:, :, :, :t] = self.keys[:, rows, :, :t]
            self.values[:, :, :, :t] = self.values[:, rows, :, :t]
        else:
            self.keys, self.values = self.keys.index_select(1, rows), self.values.index_select(1, rows)
        if sentences_change:
            self.mask = self.mask.index_select(0, rows)
            self.cross = [(key.index_select(0, rows), value.index_select(0, rows)) for key, value in self.cross]
            self.gains = None if self.gains is None else self.gains.rows(rows)


def _gained(heads: Tensor, gain: Tensor | None) -> Tensor:
    return heads if gain is None else heads * gain[..., None, None]


def _only_stop(log_p: Tensor, rows: Sequence[int]) -> None:
    """At its limit a translation can only stop; what it costs to stop there stays as it is."""
    for row in rows:
        stop = log_p[row, STOP].clone()
        log_p[row] = -torch.inf
        log_p[row, STOP] = stop


class Greedy:
    """Greedy search, one step at a time: at every position the most probable piece."""

    def __init__(self, model: Transformer, source: Source) -> None:
        self._source = source
        count = len(source.limits)
        memory = model.encode(source.tokens, source.allowed, source.gains)
        self._cache = Cache(model, memory, source.allowed, max(source.limits, default=0), source.gains)
        self._last = source.tokens.new_full((count,), START)
        self._rows = list(range(count))  # which sentence stands in each row of the cache
        self.tokens: list[list[int]] = [[] for _ in range(count)]
        self.log_probabilities: list[list[float]] = [[] for _ in range(count)]

    @property
    def done(self) -> bool:
        """Has every sentence stopped?"""
        return not self._rows

    def step(self) -> list[int]:
        """One piece more for every sentence that has not stopped; returns those sentences."""
        log_p = self._cache.step(self._last)
        length = self._cache.position
        _only_stop(log_p, [row for row, sentence in enumerate(self._rows) if length >= self._source.limits[sentence]])
        best, piece = log_p.max(-1)
        moved = list(self._rows)
        going = []
        for row, (sentence, token, value) in enumerate(zip(moved, piece.tolist(), best.tolist(), strict=True)):
            self.tokens[sentence].append(token)
            self.log_probabilities[sentence].append(value)
            if token != STOP:
                going.append(row)
        self._last = piece
        if len(going) < len(moved):
            self._rows = [moved[row] for row in going]
            if going:
                index = torch.tensor(going, device=piece.device)
                self._cache.choose(index)
                self._last = piece.index_select(0, index)
        return moved

    def stopped(self, sentence: int) -> bool:
        """Is the translation of this sentence finished?"""
        return bool(self.tokens[sentence]) and self.tokens[sentence][-1] == STOP

    def result(self, sentence: int) -> Hypothesis:
        """What has been produced for a sentence."""
        return Hypothesis(tuple(self.tokens[sentence]), tuple(self.log_probabilities[sentence]))


def greedy_search(model: Transformer, source: Source) -> list[Hypothesis]:
    """The greedy translation of every sentence of the batch."""
    search = Greedy(model, source)
    while not search.done:
        search.step()
    return [search.result(i) for i in range(len(source.limits))]


def beam_search(model: Transformer, source: Source, beam: int, alphas: Sequence[float]) -> list[list[Hypothesis]]:
    """For every sentence at most `beam` finished hypotheses, best score first; alphas: length penalty of each sentence.

    At each step every live hypothesis is extended by every piece and the best `beam` extensions are looked at: those that stop are
    finished, the others live on. A sentence is done when `beam` hypotheses have finished and no live one, were it to stop for
    nothing now, would rank among them. Only finished hypotheses are ever ranked against each other.
    """
    count = len(source.limits)
    if len(alphas) != count:
        raise ValueError(f"{len(alphas)} length penalties for {count} sentences")
    gains = None if source.gains is None else source.gains.repeat(beam)
    memory = model.encode(source.tokens, source.allowed, source.gains).repeat_interleave(beam, 0)
    cache = Cache(model, memory, source.allowed.repeat_interleave(beam, 0), max(source.limits, default=0), gains)
    device = source.tokens.device
    finished: list[list[Hypothesis]] = [[] for _ in range(count)]
    sentences = list(range(count))  # those not done, `beam` rows of the cache each
    live: list[list[tuple[tuple[int, ...], tuple[float, ...]]]] = [[((), ())] * beam for _ in range(count)]
    totals = torch.full((count, beam), -torch.inf, device=device)
    totals[:, 0] = 0.0  # all rows begin alike: only the first counts
    last = source.tokens.new_full((count * beam,), START)
    while sentences:
        log_p = cache.step(last)
        length = cache.position
        at_limit = [i for i, sentence in enumerate(sentences) if length >= source.limits[sentence]]
        _only_stop(log_p, [i * beam + k for i in at_limit for k in range(beam)])
        vocabulary = log_p.shape[1]
        sums = (totals[:, :, None] + log_p.view(len(sentences), beam, vocabulary)).flatten(1)
        best, place = sums.topk(2 * beam, dim=1)  # enough that `beam` of them do not stop
        value = log_p.view(len(sentences), -1).gather(1, place)
        rows: list[int] = []
        tokens: list[int] = []
        new_totals: list[list[float]] = []
        new_live, still = [], []
        found = zip(sentences, best.tolist(), place.tolist(), value.tolist(), strict=True)
        for i, (sentence, row_best, row_place, row_value) in enumerate(found):
            kept: list[tuple[int, int, float, float]] = []
            for rank, (total, flat, one) in enumerate(zip(row_best, row_place, row_value, strict=True)):
                if total == -torch.inf:
                    continue
                parent, token = divmod(flat, vocabulary)
                if token == STOP:
                    if rank < beam:
                        before = live[i][parent]
                        finished[sentence].append(Hypothesis((*before[0], STOP), (*before[1], one)))
                elif len(kept) < beam:
                    kept.append((parent, token, total, one))
            alpha = alphas[sentence]
            finished[sentence].sort(key=lambda h: -h.score(alpha))
            del finished[sentence][beam:]
            if not kept or (len(finished[sentence]) == beam and kept[0][2] / penalty(length, alpha) <= finished[sentence][-1].score(alpha)):
                continue
            kept += [(kept[0][0], kept[0][1], -torch.inf, kept[0][3])] * (beam - len(kept))
            still.append(sentence)
            new_live.append([((*live[i][p][0], token), (*live[i][p][1], one)) for p, token, _, one in kept])
            rows += [i * beam + parent for parent, _, _, _ in kept]
            tokens += [token for _, token, _, _ in kept]
            new_totals.append([total for _, _, total, _ in kept])
        if still:
            cache.choose(torch.tensor(rows, device=device), sentences_change=len(still) < len(sentences))
            last = torch.tensor(tokens, device=device)
            totals = torch.tensor(new_totals, device=device)
        sentences, live = still, new_live
    return finished
