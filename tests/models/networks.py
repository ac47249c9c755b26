"""Small real decoders from fixed seeds, one of each kind that a lab has, that have learned
nothing."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from models.adaptive_span import decode as span_decode
from models.adaptive_span.model import Config as SpanConfig
from models.adaptive_span.model import LearnedSpan, SpanTransformer, network
from models.checkpoints import checkpoint
from models.checkpoints.pretrained import Pretrained
from models.decoding import sampling
from models.explaining.errors import InputError
from models.explaining.query_key_plane import Vectors
from models.language_model.model import Config as LanguageConfig
from models.language_model.model import LanguageModel
from models.music import chorales, events, lstm
from models.music.decode import reader
from models.music.lstm import PerformanceRNN
from models.music.model import Config as MusicConfig
from models.music.model import MusicTransformer
from models.sparse_transformer.decode import Reader as SparseReader
from models.sparse_transformer.model import Config as SparseConfig
from models.sparse_transformer.model import SparseTransformer
from models.training.loop import Schedule
from models.transformer_xl import absolute
from models.transformer_xl import model as xl_model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.decode import Reader as XLReader
from models.transformer_xl.model import TransformerXL

BRIEF = Schedule(
    steps=6, warmup=1, decay=0.0, cooldown=2, average=2, every=2, precision="32-true"
)  # of a run that only shows that everything is there
LETTERS = "etaoin shrdlu\nTHIm.,cwfgypbvk"
EVENTS = 13
SPANS = SpanConfig(LETTERS, span=40, ramp=8, d_model=24, d_ff=32, n_heads=3, n_layers=2)
MUSIC = MusicConfig(EVENTS, distances=24, cycles=(4, 8), d_model=24, d_ff=32, n_heads=3, n_layers=2)
SEGMENTS: dict[str, Any] = {"segment": 16, "d_model": 24, "d_ff": 32, "n_heads": 3, "n_layers": 2}


def spanned(variant: str) -> SpanTransformer:
    """A network whose spans are all different."""
    torch.manual_seed(6)
    model = network(variant, SPANS).eval()
    with torch.no_grad():
        for i, layer in enumerate(model.spans):
            if isinstance(layer, LearnedSpan):
                layer.share.copy_(torch.tensor([0.013, 0.26, 0.71 + 0.2 * i]))
        if variant == "dynamic":
            for layer in model.layers:
                layer.span.v.normal_(std=0.4)
                layer.span.b.add_(3)
    return model.requires_grad_(False)


def music(kind: str) -> MusicTransformer | PerformanceRNN:
    """Relative attention, sinusoids or a recurrent network."""
    torch.manual_seed(6)
    if kind == "lstm":
        return PerformanceRNN(lstm.Config(EVENTS, d_model=16)).eval()
    return MusicTransformer(
        MUSIC if kind == "relative" else dataclasses.replace(MUSIC, distances=0, longest=200)
    ).eval()


def sparse(kind: str, use: str = "merged", length: int = 23) -> SparseTransformer:
    """A network of five symbols, in double precision."""
    torch.manual_seed(3)
    sizes: dict[str, Any] = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 2}
    config = SparseConfig(
        symbols=5, kind=kind, stride=5, summary=2, use=use, length=length, width=5, **sizes
    )
    return SparseTransformer(config).double().eval().requires_grad_(False)


def language(**more: Any) -> LanguageModel:
    """A language model of characters, or of pieces where `pieces` says how many."""
    torch.manual_seed(8)
    sizes: dict[str, Any] = {
        "letters": LETTERS,
        "window": 40,
        "d_model": 24,
        "d_ff": 32,
        "n_heads": 3,
        "n_layers": 3,
        **more,
    }
    return LanguageModel(LanguageConfig(**sizes)).eval()


def segmented(kind: str) -> TransformerXL | AbsoluteTransformer:
    """With a memory, its biases far from 0, or without one."""
    torch.manual_seed(4 if kind == "xl" else 5)
    letters = " etaonihsrdlu\nmwcfgy,pb."
    if kind == "absolute":
        return AbsoluteTransformer(absolute.Config(letters, **SEGMENTS)).eval()
    found = TransformerXL(xl_model.Config(letters, memory=32, distances=48, **SEGMENTS))
    for layer in found.layers:
        nn.init.normal_(layer.attention.u)  # type: ignore[arg-type,union-attr]
        nn.init.normal_(layer.attention.v)  # type: ignore[arg-type,union-attr]
    return found.eval()


def composers(monkeypatch: pytest.MonkeyPatch) -> dict[str, MusicTransformer | PerformanceRNN]:
    """Small networks that have learned nothing in the places of the shipped ones, of both
    styles."""
    torch.manual_seed(8)
    sizes: dict[str, Any] = {"d_model": 24, "d_ff": 32, "n_heads": 3, "n_layers": 2}
    chorale, piano = (
        MusicConfig(chorales.CELLS, 40, (4, 64), **sizes),
        MusicConfig(events.EVENTS, 40, **sizes),
    )
    networks: dict[str, MusicTransformer | PerformanceRNN] = {
        "jsb_relative": MusicTransformer(chorale),
        "jsb_transformer": MusicTransformer(dataclasses.replace(chorale, distances=0)),
        "relative": MusicTransformer(piano),
        "transformer": MusicTransformer(dataclasses.replace(piano, distances=0)),
        "lstm": PerformanceRNN(lstm.Config(events.EVENTS, d_model=16)),
    }
    shipped = {
        name: Pretrained(network.eval().requires_grad_(False), {"variant": name})
        for name, network in networks.items()
    }
    monkeypatch.setattr("models.music.explain.load", lambda variant, seed=1: shipped[variant])
    return networks


@dataclasses.dataclass(frozen=True)
class Decoder:
    """whole(before): logits of one pass without a cache; read(rows, room, *gains): what reads with
    one; symbols: how many there are."""

    model: Any
    whole: Callable[..., Tensor]
    read: Callable[..., sampling.Reader]
    symbols: int


def decoder(kind: str) -> Decoder:
    """One of KINDS."""
    if kind in {"adaptive", "fixed", "dynamic"}:
        span = spanned(kind)
        return Decoder(
            span,
            lambda before: span(before).logits,
            lambda rows, _room: span_decode.Reader(span, rows),
            29,
        )
    if kind in {"xl", "absolute"}:
        xl = segmented(kind)
        return Decoder(xl, xl.stretch, lambda rows, _room: XLReader(xl, rows, xl.memory, 16), 20)
    if kind in {"relative", "transformer", "lstm"}:
        composer = music(kind)
        return Decoder(
            composer,
            composer,
            lambda rows, room, *gains: reader(composer, rows, room, *gains),
            EVENTS,
        )
    if kind in {"characters", "pieces"}:
        writer = language(pieces=29) if kind == "pieces" else language()
        return Decoder(
            writer,
            writer,
            lambda rows, room, *gains: sampling.Reader(writer, rows, room, *gains),
            29,
        )
    one = sparse(*kind.split(), length=40)
    return Decoder(
        one,
        one,
        lambda rows, room, *gains: SparseReader(
            one, rows, room, *(gains or (None,)), one.config.pattern
        ),
        5,
    )


PATTERNS = tuple(
    f"{kind} {use}"
    for kind in ("full", "strided", "fixed")
    for use in ("interleaved", "merged", "split")
)
KINDS = (
    "adaptive",
    "fixed",
    "dynamic",
    "xl",
    "absolute",
    "relative",
    "transformer",
    "lstm",
    "characters",
    "pieces",
    *PATTERNS,
)


def shelve(folder: Path, texts: Sequence[tuple[str, str]]) -> Path:
    """Books in the layout of the real ones, (split, text) each; returns the folder."""
    (folder / "text").mkdir()
    entries = [
        {"id": i, "title": f"T{i}", "author": "A", "year": 1850 + i, "split": split, "text": text}
        for i, (split, text) in enumerate(texts)
    ]
    with gzip.open(folder / "text" / "classics19.json.gz", "wt", encoding="utf-8") as file:
        json.dump(entries, file)
    return folder


def largest_tensor(run: Callable[[], object]) -> int:
    """Numbers in the largest tensor that comes up."""
    largest = 0

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            nonlocal largest
            found = func(*args, **(kwargs or {}))
            if isinstance(found, Tensor):
                largest = max(largest, found.numel())
            return found

    with Sizes():
        run()
    return largest


def trained(
    module: Any, read: Callable[..., Any], data: Path, variant: str, **how: Any
) -> tuple[dict[str, Any], Pretrained]:
    """A tiny variant after its few steps: trained, measured, recorded and read back; what was
    measured, and the model."""
    where = module.train(data, data / "runs", variant, device=torch.device("cpu"))
    facts = checkpoint.read_facts(where)
    schedule = facts["recipe"]["schedule"]
    assert facts["finished"] and (facts["steps"], schedule["peak"]) == (
        schedule["steps"],
        module.task_of(variant).recipe.rate or 3e-3,
    )
    found = module.evaluate(data, variant, device=torch.device("cpu"), record=True, **how)
    assert checkpoint.read_facts(where)["figure"]["value"] == found["value"]
    assert found["seeds"] == [{"seed": 1, "value": found["value"]}] and json.dumps(found)
    pretrained = read(where, "cpu")
    assert pretrained.facts["sha256"] == facts["sha256"]
    return found, pretrained


def answer(ask: Callable[[list[Any]], Any], kind: type[Any], request: Any) -> Any:
    """What comes of one request, which must be of this kind."""
    (found,) = ask([request])
    assert isinstance(found, kind), found
    if kind is InputError:
        assert (
            found.text["en"].endswith(".")
            and found.text["zh"].endswith("。")
            and len(found.text["en"]) < 400
        )
    return found


def weights_of(heads: Vectors) -> NDArray[np.float32]:
    """(layer, head, query, key) softmax(q · k / √d_head), what bertviz's neuron view works out."""
    scores = heads.queries @ heads.keys.swapaxes(-1, -2) / np.sqrt(heads.queries.shape[-1])
    assert scores.shape[2:] == (len(heads.asks), len(heads.looked))
    if heads.causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    found: NDArray[np.float32] = raised / raised.sum(-1, keepdims=True)
    return found
