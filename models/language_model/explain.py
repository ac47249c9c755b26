"""Explanations of the language models: they answer a page's requests with arrays and strings and
return no tensors."""

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

from models.checkpoints import checkpoint
from models.checkpoints.checkpoint import CheckpointError
from models.data.characters import UNKNOWN
from models.decoding.sampling import FREE, Writer, cut_distribution, describe_draws, split_stretch
from models.explaining import request_fields
from models.explaining.arrays import freeze
from models.explaining.batching import (
    News,
    pace_one,
    run_groups,
    serve_in_turns,
    serve_requests,
    write_side_by_side,
)
from models.explaining.errors import InputError, check_heads
from models.explaining.head_mask import build_head_gains
from models.language_model import polarity
from models.language_model.decode import How, Reader, run_layer_by_layer
from models.language_model.model import LanguageModel
from models.language_model.pieces import Pieces
from models.language_model.pretrained import PIECES, SLUG, load
from models.language_model.records import (
    EXITS,
    MAX_TEXT,
    Explanation,
    Guesses,
    Losses,
    Request,
    Rereading,
    Step,
    Tree,
)

ROWS = 16  # requests that share a batch
# Children of a node in the tree, by distance from the root.
WIDTHS = {"characters": (5, 2, 3), "pieces": (5, 3)}


@cache
def _pieces(variant: str) -> Pieces:
    return Pieces.load(checkpoint.find_folder(SLUG, variant) / PIECES)


@dataclass(frozen=True)
class _Read:
    """A request that can be answered, with its model.

    given: the symbols of its text. known: their numbers, then FREE, (position,). held_back: the
    last space of the text, which belongs to the next piece.
    """

    request: Request
    model: LanguageModel
    given: tuple[str, ...] = ()
    known: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    held_back: str = ""

    @property
    def may_be_first(self) -> Tensor:
        """Whether each symbol may be written first, (symbol,)."""
        if self.held_back:
            return torch.from_numpy(_pieces(self.request.variant).with_space)
        return torch.ones(self.model.symbol.num_embeddings, dtype=torch.bool)

    def encode_text(self, text: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return the numbers and the spellings of a text's symbols, (symbol,) each."""
        if self.model.config.pieces:
            numbers = _pieces(self.request.variant).encode(text)
            return numbers, self.show_symbols(numbers)
        return self.model.alphabet.encode(text).astype(np.int64), tuple(text)

    def show_symbols(self, numbers: Sequence[int] | NDArray[np.integer[Any]]) -> tuple[str, ...]:
        """Return the spellings of symbols."""
        return tuple(
            _pieces(self.request.variant).show_pieces(numbers)
            if self.model.config.pieces
            else self.model.alphabet.decode(numbers)
        )

    def text(self, numbers: NDArray[np.int64]) -> str:
        """Return the text that symbols spell together."""
        return (
            _pieces(self.request.variant).decode(numbers)
            if self.model.config.pieces
            else self.model.alphabet.decode(numbers)
        )

    def how(self) -> How:
        """Return the changes of the request to a pass."""
        return _how([self.request], self.model)


def _how(requests: Sequence[Request], model: LanguageModel) -> How:
    """Return the changes of a group of requests to a pass."""
    first = requests[0]
    return (
        build_head_gains(requests, first.kind, model),
        frozenset(int(n) - 1 for n in first.skipped),
        first.positions,
    )


def _read(request: Request) -> _Read:
    """Read a request.

    Raise InputError if an option is out of range, and CheckpointError if the model is missing.
    """
    request_fields.check_request(request)
    model = load(request.variant).model
    config = model.config
    check_heads(request.silenced, {request.kind: (config.n_layers, config.n_heads)})
    if any(int(n) > config.n_layers for n in request.skipped):
        raise InputError(
            "skipped", en=f"Layers are 1 to {config.n_layers}.", zh=f"层为 1 到 {config.n_layers}。"
        )
    one = _Read(request, model)
    text = request_fields.read_text(request.text)
    held_back = (
        " " if config.pieces and text.endswith(" ") and (request.length or request.typed) else ""
    )
    numbers, given = one.encode_text(text.removesuffix(held_back))
    if len(request.text) + request.length > MAX_TEXT:
        raise InputError(
            "long",
            en=(
                f"{len(request.text):,} characters and {request.length:,} symbols to come are too"
                f" many: {MAX_TEXT} together are the most."
            ),
            zh=(
                f"文本有 {len(request.text):,} 个字符，还要写 {request.length:,} 个；合计最多"
                f" {MAX_TEXT} 个。"
            ),
        )
    if not given and not request.length:
        raise InputError(
            "nothing",
            en=(
                "There is nothing to read and nothing to write: type a text, or let some be"
                " written."
            ),
            zh="既没有要读的，也没有要写的：请输入文本，或让模型续写一些。",
        )
    known = np.concatenate((numbers, np.full(request.length, FREE)))
    return dataclasses.replace(one, given=given, known=known, held_back=held_back)


def _write(read: Sequence[_Read]) -> Iterator[News]:
    """Run one model on a batch of requests; yield steps after each turn and the explanations at the
    end."""
    model, requests = read[0].model, [one.request for one in read]
    kinds = model.symbol.num_embeddings
    top_k, top_p = [one.top_k or kinds for one in requests], [one.top_p for one in requests]
    asked = describe_draws(
        requests, [one.known for one in read], given=[len(one.given) for one in read]
    )
    first = (
        torch.stack([one.may_be_first for one in read])
        if any(one.held_back for one in read)
        else None
    )
    asked = dataclasses.replace(asked, top_k=top_k, top_p=top_p, first=first)
    writer = Writer(Reader(model, len(read), _how(requests, model)), asked)

    def steps(_name: str, row: int, here: slice) -> list[Step]:
        found, one = [], read[row]
        for begin, end, given in split_stretch(here, len(one.given)):
            symbols = (
                one.given[begin:end]
                if given
                else one.show_symbols(writer.symbols[row, begin:end].tolist())
            )
            found.append(Step(begin, symbols, freeze(writer.nats[row, begin:end]), given))
        return found

    lengths = [len(one.known) for one in read]
    yield from write_side_by_side({"": writer}, lengths, steps)
    for row, one in enumerate(read):
        yield from pace_one(
            row, _explain_text(one, writer.symbols[row, : lengths[row]].cpu().numpy())
        )


def _nats(logits: Tensor, numbers: NDArray[np.int64]) -> Tensor:
    """Return −log p of the actual symbols, (layer, position).

    logits: (layer, position, symbol).
    """
    wanted = torch.from_numpy(numbers).to(logits.device)
    return -logits.log_softmax(-1).gather(-1, wanted[None, :, None].expand(len(logits), -1, 1))[
        ..., 0
    ]


def _guesses(one: _Read, variant: str, layers: list[Tensor], numbers: NDArray[np.int64]) -> Guesses:
    """Return the predictions of each layer.

    layers: for each layer, its logits (position, symbol), window by window.
    """
    logits = torch.stack(layers)
    best = logits.argmax(-1).cpu().numpy()
    spelled, nats = (
        tuple(one.show_symbols(row) for row in best),
        freeze(_nats(logits, numbers).cpu(), np.float32),
    )
    return Guesses(variant, spelled, freeze(best, np.int32), nats)


@torch.no_grad()
def _explain_text(one: _Read, numbers: NDArray[np.int64]) -> Generator[None, None, Explanation]:
    """Explain a finished text; yield between two passes."""
    model, count, given = one.model, len(numbers), len(one.given)
    config, request = model.config, one.request
    weights = np.zeros((config.n_layers, config.n_heads, count, count), np.float16)
    parts: list[list[Tensor]] = []
    for (begin, end, counted), states, seen in run_layer_by_layer(
        model, numbers[None], one.how(), watched=True
    ):
        assert seen is not None
        weights[:, :, counted:end, begin:end] = seen[:, 0, :, counted - begin :]
        parts.append([model.lens(x[0]) for x in states])
        yield
    logits = [torch.cat(layer) for layer in zip(*parts, strict=True)]
    exits = None if config.pieces else _exits(one, numbers)
    yield
    tree = _tree(one, numbers[:given], numbers[given : given + len(WIDTHS[request.task])])
    yield
    continued = request.typed and one.held_back + request_fields.read_text(request.typed)
    typed, typed_symbols = one.encode_text(continued)
    text = np.concatenate((numbers[:given], typed))
    return Explanation(
        variant=request.variant,
        numbers=tuple(map(int, numbers)),
        symbols=one.given + one.show_symbols(numbers[given:]),
        given=given,
        written=one.text(numbers[given:]),
        nats=freeze(_nats(logits[-1][None], numbers)[0].cpu(), np.float32),
        unknown=freeze((numbers == UNKNOWN) & (not config.pieces), np.bool_),
        lens=_guesses(one, request.variant, logits, numbers),
        exits=exits,
        tree=tree,
        weights=freeze(weights, np.float16),
        typed=typed_symbols,
        typed_nats=freeze(
            _costs(model, text, one.how())[given:] if len(typed) else np.zeros(0), np.float32
        ),
    )


def _exits(one: _Read, numbers: NDArray[np.int64]) -> Guesses | None:
    """Return the predictions of each layer's own classifier; the last layer's is the readout.

    For a model without classifiers, return those of the model trained with them, on the same text;
    None if it is not shipped.
    """
    variant = one.request.variant if len(one.model.exits) else EXITS
    try:
        model = load(variant).model
    except CheckpointError:
        return None
    parts = []
    for _, states, _ in run_layer_by_layer(
        model, numbers[None], one.how() if len(one.model.exits) else (None,)
    ):
        parts.append(
            [exit_(x[0]) for exit_, x in zip([*model.exits, model.lens], states, strict=True)]
        )
    return _guesses(one, variant, [torch.cat(layer) for layer in zip(*parts, strict=True)], numbers)


def _costs(
    model: LanguageModel, numbers: NDArray[np.int64], how: How, temperature: float = 1.0
) -> NDArray[np.float32]:
    """Return −log p of each symbol of a text, (position,)."""
    logits = torch.cat(
        [
            model.lens(states[-1][0])
            for _, states, _ in run_layer_by_layer(model, numbers[None], how)
        ]
    )
    return _nats(logits[None] / temperature, numbers)[0].cpu().numpy()


def _after(one: _Read, texts: NDArray[np.int64]) -> Tensor:
    """Return the logits of what comes after texts, (batch, symbol), without symbols that are never
    drawn.

    texts: (batch, position).
    """
    more = np.concatenate((texts, np.zeros((len(texts), 1), np.int64)), 1)
    *_, (_, states, _) = run_layer_by_layer(one.model, more, one.how())
    logits = one.model.lens(states[-1][:, -1])
    logits[:, list(Reader.never)] = -torch.inf
    return logits


def _tree(one: _Read, given: NDArray[np.int64], written: NDArray[np.int64]) -> Tree:
    """Return the likely continuations of `given`, a few symbols ahead, and the path of `written`,
    however unlikely."""
    request = one.request
    parent: list[int] = []
    numbers: list[int] = []
    chance: list[float] = []
    kept: list[bool] = []
    sampled: list[int] = []
    level = [(-1, given)]  # nodes to expand, and the text up to them
    for depth, width in enumerate(WIDTHS[request.task]):
        logits = _after(one, np.stack([text for _, text in level]))
        shares = logits.softmax(-1)
        heat = request.temperature or 1e-6
        top_k = torch.full((len(level),), request.top_k or logits.shape[1], device=logits.device)
        if depth == 0:
            logits = logits.masked_fill(~one.may_be_first.to(logits.device), -torch.inf)
        inside = cut_distribution(
            logits.double() / heat, top_k, torch.full((len(level),), request.top_p)
        ).isfinite()
        below = []
        for row, (node, text) in enumerate(level):
            chosen: list[int] = logits[row].topk(width).indices.tolist()
            on_path = (
                node == (sampled[-1] if sampled else -1)
                and depth == len(sampled)
                and depth < len(written)
            )
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
        level = (
            below
            if depth == 0
            else [(node, text) for node, text in below if sampled and node == sampled[-1]]
        )
        if not level:
            break
    return Tree(
        freeze(parent, np.int16),
        one.show_symbols(numbers),
        freeze(chance, np.float32),
        freeze(kept, np.bool_),
        tuple(sampled),
    )


explain, _written = serve_requests(
    _read, lambda read: run_groups(read, lambda one: one.request.group(), _write, ROWS), Explanation
)


def generate(requests: Sequence[Request]) -> Iterator[list[Any]]:
    """Answer requests as `models.explaining.batching.serve_requests` describes; a fine-tuning comes
    alone and yields its evaluations."""
    return polarity.live(requests[0]) if requests[0].live else _written(requests)


@torch.no_grad()
def _read_again(asked: tuple[_Read, tuple[int, ...]]) -> Generator[None, None, Losses]:
    one, numbers = asked
    yield
    # At temperature 0 every symbol but the likeliest would have infinite cost, so the model's own
    # distribution is reported.
    return Losses(
        freeze(
            _costs(one.model, np.array(numbers), one.how(), one.request.temperature or 1.0),
            np.float32,
        )
    )


def _may_again(one: Rereading) -> tuple[_Read, tuple[int, ...]]:
    return _read(dataclasses.replace(one.request, text="", length=1)), one.numbers


# The cost of a text that is read again under the changes of a request.
measure = serve_in_turns(_may_again, _read_again)
