"""What memory buys: losses in contexts of a length, and the effective length that follows from them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.transformer_xl import ladder
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.ladder import effective_lengths, in_context, measured
from models.transformer_xl.model import TransformerXL
from models.windows import unusual


def test_nothing_before_a_context_counts(xl: TransformerXL, plain: AbsoluteTransformer, text: np.ndarray) -> None:
    places = np.array([60, 300, 301])
    for model in (xl, plain):
        found = in_context(model, text, places, 40)
        for place, loss in zip(places, found, strict=True):
            alone = torch.from_numpy(text[place - 40 : place].astype(np.int64))[None]
            with torch.no_grad():
                logits = xl(alone) if model is xl else plain(alone[:, -16:])
            expected = torch.nn.functional.cross_entropy(logits[0, -1], torch.tensor(int(text[place])))
            assert loss == pytest.approx(float(expected), abs=1e-4)


def test_the_effective_length_is_the_last_that_gained() -> None:
    flat, falling = np.full((4, 10), 2.0), np.repeat([[2.0], [1.8], [1.6], [1.599]], 10, 1)
    assert effective_lengths({"long": falling, "short": flat}, (8, 16, 32, 64), 1.0) == {"long": 32, "short": 8}


def test_the_hardest_places_are_those_of_the_best_model() -> None:
    easy_gains = np.stack([np.array([1.0, 3.0]), np.array([0.2, 3.0])])
    assert effective_lengths({"m": easy_gains}, (8, 16), 1.0) == {"m": 16}
    assert effective_lengths({"m": easy_gains}, (8, 16), 0.5) == {"m": 8}


def test_everything_is_measured_on_one_text(
    xl: TransformerXL, plain: AbsoluteTransformer, text: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder, "MEMORIES", (0, 32))
    monkeypatch.setattr(ladder, "CONTEXTS", (8, 16, 32))
    monkeypatch.setattr(ladder, "PLACES", 20)
    found = measured({"xl": xl, "absolute": plain}, {"xl": text, "absolute": text})
    assert [one["memory"] for one in found["by_memory"]] == [0, 32]
    assert found["contexts"]["bits"]["absolute"][1] == found["contexts"]["bits"]["absolute"][2]
    assert found["by_place"]["segment"] == 16
    assert {name: len(bits) for name, bits in found["by_place"]["bits"].items()} == {"none": 16, "xl": 16, "absolute": 16}
    assert {one["r"] for one in found["effective_lengths"]} == set(ladder.HARDEST)


def test_losses_are_told_apart_by_their_place_in_the_segment() -> None:
    nats = np.concatenate((np.full(32, 9.0), np.tile(np.repeat([2.0, 1.0], [2, 30]), 3), [7.0])).astype(np.float32) * np.float32(np.log(2))
    assert ladder.by_place(nats, 32) == [2.0] + [1.0] * 15
    with pytest.raises(ValueError, match="24 characters in 16 parts"):
        ladder.by_place(nats, 24)


def test_an_unusual_page_costs_more_than_nearly_all() -> None:
    nats = np.ones(ladder.PAGE * 200, np.float32)
    nats[: ladder.PAGE] = 9
    assert 1 / np.log(2) <= unusual(nats, ladder.PAGE) < 1.2 / np.log(2)
    assert unusual(np.full(40, 2.0, np.float32), ladder.PAGE) == pytest.approx(2 / np.log(2), abs=1e-4)
