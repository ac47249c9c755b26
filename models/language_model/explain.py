"""What a page asks of the language models, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models import checkpoint, fields
from models.arrays import frozen
from models.characters import UNKNOWN
from models.checkpoint import CheckpointError
from models.errors import InputError, check_heads
from models.gains import gains
from models.language_model import polarity
from models.language_model.decode import How, Reader, climbed
from models.language_model.model import LanguageModel
from models.language_model.pieces import Pieces
from models.language_model.pretrained import PIECES, SLUG, load
from models.language_model.records import EXITS, MAX_TEXT, Again, Explanation, Guesses, Losses, Request, Step, Tree
from models.sampling import FREE, Writer, cut, parted, wanted
from models.turns import News, abreast, grouped, in_turns, paced, served

ROWS = 16  # requests that share a batch
WIDTHS = {"characters": (5, 2, 3), "pieces": (5, 3)}  # of the tree: children of a node, by how far ahead it stands


@cache
def _pieces(variant: str) -> Pieces:
    return Pieces.load(checkpoint.folder(SLUG, variant) / PIECES)


@dataclass(frozen=True)
class _Read:
    """A request that can be answered, and its model. given: the symbols of its text; known: (position,) their numbers, then FREE."""

    request: Request
    model: LanguageModel
    given: tuple[str, ...] = ()
    known: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def encoded(self, text: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """(symbol,) numbers of a text, and how each looks."""
        if self.model.config.pieces:
            numbers = _pieces(self.request.variant).encode(text)
            return numbers, self.shown(numbers)
        return self.model.alphabet.encode(text).astype(np.int64), tuple(text)

    def shown(self, numbers: Sequence[int] | NDArray[np.integer[Any]]) -> tuple[str, ...]:
        """How symbols look."""
        return tuple(_pieces(self.request.variant).shown(numbers) if self.model.config.pieces else self.model.alphabet.decode(numbers))

    def how(self) -> How:
        """What it changes in a pass."""
        return _how([self.request], self.model)


def _how(requests: Sequence[Request], model: LanguageModel) -> How:
    """What requests of one group change in a pass."""
    first = requests[0]
    return gains(requests, first.kind, model), frozenset(int(n) - 1 for n in first.skipped), first.positions


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is. CheckpointError where no model is there."""
    fields.check(request)
    model = load(request.variant).model
    config = model.config
    check_heads(request.silenced, {request.kind: (config.n_layers, config.n_heads)})
    if any(int(n) > config.n_layers for n in request.skipped):
        raise InputError("skipped", en=f"Layers are 1 to {config.n_layers}.", zh=f"层为 1 到 {config.n_layers}。")
    one = _Read(request, model)
    numbers, given = one.encoded(fields.read_text(request.text))
    if len(request.text) + request.length > MAX_TEXT:
        raise InputError(
            "long",
            en=f"{len(request.text):,} characters and {request.length:,} symbols to come are too many: {MAX_TEXT} together are the most.",
            zh=f"文本有 {len(request.text):,} 个字符，还要写 {request.length:,} 个；合计最多 {MAX_TEXT} 个。",
        )
    if not given and not request.length:
        raise InputError(
            "nothing",
            en="There is nothing to read and nothing to write: type a text, or let some be written.",
            zh="既没有要读的，也没有要写的：请输入文本，或让模型续写一些。",
        )
    return dataclasses.replace(one, given=given, known=np.concatenate((numbers, np.full(request.length, FREE))))


def _write(read: Sequence[_Read]) -> Iterator[News]:
    """One model on a batch of requests: steps after each turn, at the end the explanations."""
    model, requests = read[0].model, [one.request for one in read]
    kinds = model.symbol.num_embeddings
    top_k, top_p = [one.top_k or kinds for one in requests], [one.top_p for one in requests]
    asked = wanted(requests, [one.known for one in read], given=[len(one.given) for one in read])
    writer = Writer(Reader(model, len(read), _how(requests, model)), dataclasses.replace(asked, top_k=top_k, top_p=top_p))

    def steps(_name: str, row: int, here: slice) -> list[Step]:
        found, one = [], read[row]
        for begin, end, given in parted(here, len(one.given)):
            symbols = one.given[begin:end] if given else one.shown(writer.symbols[row, begin:end].tolist())
            found.append(Step(begin, symbols, frozen(writer.nats[row, begin:end]), given))
        return found

    lengths = [len(one.known) for one in read]
    yield from abreast({"": writer}, lengths, steps)
    for row, one in enumerate(read):
        yield from paced(row, _made(one, writer.symbols[row, : lengths[row]].cpu().numpy()))


def _nats(logits: Tensor, numbers: NDArray[np.int64]) -> Tensor:
    """(layer, position) −log p of the symbols that stand there. logits: (layer, position, symbol)."""
    wanted = torch.from_numpy(numbers).to(logits.device)
    return -logits.log_softmax(-1).gather(-1, wanted[None, :, None].expand(len(logits), -1, 1))[..., 0]


def _guesses(one: _Read, variant: str, layers: list[Tensor], numbers: NDArray[np.int64]) -> Guesses:
    """layers: of each, parts of (position, symbol) logits, window after window."""
    logits = torch.stack(layers)
    best = logits.argmax(-1).cpu().numpy()
    return Guesses(variant, tuple(one.shown(row) for row in best), frozen(_nats(logits, numbers).cpu(), np.float32))


@torch.no_grad()
def _made(one: _Read, numbers: NDArray[np.int64]) -> Generator[None, None, Explanation]:
    """What there is to see of a finished text; a pause between one pass and the next one."""
    model, count, given = one.model, len(numbers), len(one.given)
    config, request = model.config, one.request
    weights = np.zeros((config.n_layers, config.n_heads, count, count), np.float16)
    parts: list[list[Tensor]] = []
    for (begin, end, counted), states, seen in climbed(model, numbers[None], one.how(), watched=True):
        assert seen is not None
        weights[:, :, counted:end, begin:end] = seen[:, 0, :, counted - begin :]
        parts.append([model.lens(x[0]) for x in states])
        yield
    logits = [torch.cat(layer) for layer in zip(*parts, strict=True)]
    exits = None if config.pieces else _exits(one, numbers)
    yield
    tree = _tree(one, numbers[:given], numbers[given : given + len(WIDTHS[request.task])])
    yield
    typed, typed_symbols = one.encoded(fields.read_text(request.typed))
    text = np.concatenate((numbers[:given], typed))
    return Explanation(
        variant=request.variant,
        numbers=tuple(map(int, numbers)),
        symbols=one.given + one.shown(numbers[given:]),
        given=given,
        nats=frozen(_nats(logits[-1][None], numbers)[0].cpu(), np.float32),
        unknown=frozen((numbers == UNKNOWN) & (not config.pieces), np.bool_),
        lens=_guesses(one, request.variant, logits, numbers),
        exits=exits,
        tree=tree,
        weights=frozen(weights, np.float16),
        typed=typed_symbols,
        typed_nats=frozen(_costs(model, text, one.how())[given:] if len(typed) else np.zeros(0), np.float32),
    )


def _exits(one: _Read, numbers: NDArray[np.int64]) -> Guesses | None:
    """What each layer's own classifier says, the last one's is the readout; of a model without them, what the one trained with them says
    of the same text. None where that is not shipped."""
    variant = one.request.variant if len(one.model.exits) else EXITS
    try:
        model = load(variant).model
    except CheckpointError:
        return None
    parts = []
    for _, states, _ in climbed(model, numbers[None], one.how() if len(one.model.exits) else (None,)):
        parts.append([exit_(x[0]) for exit_, x in zip([*model.exits, model.lens], states, strict=True)])
    return _guesses(one, variant, [torch.cat(layer) for layer in zip(*parts, strict=True)], numbers)


def _costs(model: LanguageModel, numbers: NDArray[np.int64], how: How, temperature: float = 1.0) -> NDArray[np.float32]:
    """(position,) −log p of each symbol of a text."""
    logits = torch.cat([model.lens(states[-1][0]) for _, states, _ in climbed(model, numbers[None], how)])
    return _nats(logits[None] / temperature, numbers)[0].cpu().numpy()


def _after(one: _Read, texts: NDArray[np.int64]) -> Tensor:
    """(batch, symbol) logits of what comes after texts, (batch, position), without symbols that are never drawn."""
    more = np.concatenate((texts, np.zeros((len(texts), 1), np.int64)), 1)
    *_, (_, states, _) = climbed(one.model, more, one.how())
    logits = one.model.lens(states[-1][:, -1])
    logits[:, list(Reader.never)] = -torch.inf
    return logits


def _tree(one: _Read, given: NDArray[np.int64], written: NDArray[np.int64]) -> Tree:
    """What could come after `given`, a few symbols ahead; of what was `written` the path, however unlikely it was."""
    request = one.request
    parent: list[int] = []
    numbers: list[int] = []
    chance: list[float] = []
    kept: list[bool] = []
    sampled: list[int] = []
    level = [(-1, given)]  # nodes whose children are looked for, and the text up to them
    for depth, width in enumerate(WIDTHS[request.task]):
        logits = _after(one, np.stack([text for _, text in level]))
        shares = logits.softmax(-1)
        heat = request.temperature or 1e-6
        top_k = torch.full((len(level),), request.top_k or logits.shape[1], device=logits.device)
        inside = cut(logits.double() / heat, top_k, torch.full((len(level),), request.top_p)).isfinite()
        below = []
        for row, (node, text) in enumerate(level):
            chosen: list[int] = shares[row].topk(width).indices.tolist()
            on_path = node == (sampled[-1] if sampled else -1) and depth == len(sampled) and depth < len(written)
            if on_path and int(written[depth]) not in chosen:
                chosen.append(int(written[depth]))
            for symbol in chosen:
                parent.append(node)
                numbers.append(symbol)
                chance.append(float(shares[row, symbol]))
                kept.append(bool(inside[row, symbol]))
                below.append((len(numbers) - 1, np.append(text, symbol)))
            if on_path:
                path = len(numbers) - len(chosen) + chosen.index(int(written[depth]))
                following = path
        if depth < len(written):
            sampled.append(following)
        level = below if depth == 0 else [(node, text) for node, text in below if sampled and node == sampled[-1]]
        if not level:
            break
    return Tree(frozen(parent, np.int16), one.shown(numbers), frozen(chance, np.float32), frozen(kept, np.bool_), tuple(sampled))


explain, _written = served(_read, lambda read: grouped(read, lambda one: one.request.group(), _write, ROWS), Explanation)


def generate(requests: Sequence[Request]) -> Iterator[list[Any]]:
    """As `models.turns.served` says; of a fine-tuning, which comes alone, its looks."""
    return polarity.live(requests[0]) if requests[0].live else _written(requests)


@torch.no_grad()
def _again(asked: tuple[_Read, tuple[int, ...]]) -> Generator[None, None, Losses]:
    one, numbers = asked
    yield
    # At temperature 0 all but the likeliest would cost infinitely much: there the model's own distribution is told.
    return Losses(frozen(_costs(one.model, np.array(numbers), one.how(), one.request.temperature or 1.0), np.float32))


def _may_again(one: Again) -> tuple[_Read, tuple[int, ...]]:
    return _read(dataclasses.replace(one.request, text="", length=1)), one.numbers


measure = in_turns(_may_again, _again)  # what a text costs when it is read again under what a request changes
