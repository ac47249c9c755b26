"""From files of pictures to shipped, measured models, on a small scale; and the ladder beside
them."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from models import __main__ as program
from models.checkpoints import checkpoint
from models.image_transformer import colour, ladder, pixelcnn, recipe
from models.image_transformer import data as files
from models.image_transformer.data import Pictures, Round, in_batches, reduce_pictures
from models.image_transformer.model import Config, ImageTransformer
from models.image_transformer.pretrained import read
from models.training.loop import Schedule

CPU = torch.device("cpu")
HELD_OUT, COUNT = 6, 30
QUICK = Schedule(steps=20, warmup=4, decay=0.0, cooldown=6, average=2, every=5, precision="32-true")
TINY: dict[str, Any] = {"d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 1}
VARIANTS = {
    "local_1d": lambda: ImageTransformer(Config(**TINY)),
    "local_2d": lambda: ImageTransformer(Config("local_2d", query=(7, 7), memory=(7, 7), **TINY)),
    "pixelcnn": lambda: pixelcnn.PixelCNN(pixelcnn.Config(features=8, readout=12, n_layers=2)),
    "colour": lambda: colour.ColourTransformer(
        colour.Config(d_model=16, d_ff=24, n_heads=2, n_encoder=1, n_decoder=1)
    ),
}


def idx(path: Path, values: np.ndarray, offset: int) -> None:
    """A file of bytes behind a header, as Fashion-MNIST has them."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(bytes(offset) + values.astype(np.uint8).tobytes())


def jpeg(levels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(levels).save(file, "JPEG")
    return file.getvalue()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pictures with a dark and a bright half, of few levels; models are small and assets go to an
    own folder."""
    generator = np.random.default_rng(2)
    (tmp_path / "fashion-mnist").mkdir()
    for name, count in (("train", COUNT + HELD_OUT), ("t10k", 8)):
        levels = generator.integers(0, 4, (count, 28, 28)) + np.where(np.arange(28) < 14, 0, 200)
        idx(tmp_path / "fashion-mnist" / f"{name}-images-idx3-ubyte.gz", levels, 16)
        idx(tmp_path / "fashion-mnist" / f"{name}-labels-idx1-ubyte.gz", np.arange(count) % 10, 8)
    coloured: dict[str, np.ndarray] = {}
    for name, count in (("train", COUNT + HELD_OUT), ("test", 4)):
        plain = np.repeat(
            generator.integers(0, 256, (count, 1, 1, 3), dtype=np.uint8), 32, 1
        ).repeat(32, 2)
        packed = [jpeg(levels) for levels in plain]
        coloured[f"{name}_jpeg"] = np.frombuffer(b"".join(packed), np.uint8)
        coloured[f"{name}_offset"] = np.cumsum([0, *map(len, packed)]).astype(np.int32)
        coloured[f"{name}_label"] = (np.arange(count) % 10).astype(np.uint8)
    np.savez(tmp_path / "cifar10_jpeg.npz", **coloured)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    monkeypatch.setattr("models.data.pixels.HELD_OUT", HELD_OUT)
    tasks = {
        name: dataclasses.replace(recipe.VARIANTS[name], build=build)
        for name, build in VARIANTS.items()
    }
    monkeypatch.setattr(recipe.LAB, "variants", tasks)
    return tmp_path


def quick(variant: str, **more: Any) -> recipe.Recipe:
    return dataclasses.replace(
        recipe.task_of(variant).recipe,
        schedule=QUICK,
        batch=4,
        evaluation_interval=5,
        **{"rate": 1.2e-2, **more},
    )


def taught(data: Path, variant: str) -> dict[str, Any]:
    """What is measured after twenty steps, which lower the loss."""
    where = recipe.train(data, data / "runs", variant, device=CPU, recipe=quick(variant))
    log = json.loads((where / "training.json").read_text())
    assert log[-1]["step"] == 20 and log[-1]["loss"] < log[0]["loss"] - 0.02
    found = recipe.evaluate(data, variant, device=CPU, record=True)
    assert 0 < found["value"] < 12 and found["metric"] == "bits/dim" and found["split"] == "test"
    return found


def test_each_lab_has_its_own_options(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = taught(data, "local_1d")["value"]
    told = ["evaluate", "image_transformer", "--data", str(data), "--device", "cpu", "--json"]
    assert program.main(told) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found.keys() >= {"slug", "split", "metric", "n", "seeds", "seconds", "device"}
    assert (found["variant"], found["value"]) == ("local_1d", value), (
        "measured again it costs the same"
    )
    with pytest.raises(SystemExit):
        program.main([*told, "--beam", "2"])
    assert program.main([*told, "--variant", "local_3d"]) == 1
    assert "not local_3d" in capsys.readouterr().err


def test_the_best_rate_is_trained(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        recipe.LAB.variants, "local_2d", dataclasses.replace(recipe.task_of("local_2d"), target=0.1)
    )
    where = recipe.train(
        data, data / "runs", "local_2d", device=CPU, recipe=quick("local_2d", rate=None)
    )
    facts = checkpoint.read_facts(where)
    assert (
        where.name == "local_2d"
        and facts["finished"]
        and facts["steps"] == 20
        and "Fashion-MNIST" in facts["licence"]
    )
    tried, best = sorted(map(float, facts["rates"])), facts["recipe"]["schedule"]["peak"]
    assert set(recipe.LAB.rates) <= set(tried) and tried[0] < best < tried[-1]
    assert best == min(tried, key=lambda rate: facts["rates"][f"{rate:g}"])
    assert read(where).facts["config"]["pattern"] == "local_2d"
    found = recipe.evaluate(data, "local_2d", device=CPU, record=True)
    assert found["n"] == 8 and found["seeds"] == [{"seed": 1, "value": found["value"]}]
    assert "misses the 0.1 " in capsys.readouterr().out
    recipe.evaluate(data, "local_2d", device=CPU, split="val", record=True)
    facts = checkpoint.read_facts(where)
    assert facts["figure"]["value"] == found["value"] and facts["validation"]["n"] == HELD_OUT
    assert facts["surprising_above"] > facts["validation"]["value"]
    with pytest.raises(ValueError, match="not of train"):
        recipe.evaluate(data, "local_2d", device=CPU, split="train", record=True)


def test_bits_per_dim_is_what_the_pictures_probabilities_say(data: Path) -> None:
    pictures = files.fashion(data, "test")
    model = VARIANTS["local_1d"]().eval()
    with torch.no_grad():
        levels = torch.from_numpy(pictures.levels.astype(np.int64))
        logits = model(levels, torch.from_numpy(pictures.kinds))
        p = logits.double().softmax(-1).gather(3, levels[..., None])
    assert recipe.bits_per_dim(model, pictures, size=3) == pytest.approx(
        -float(p.log2().mean()), rel=1e-5
    )


def test_a_pass_meets_every_picture_once_in_an_order_of_its_own() -> None:
    pictures = Pictures(np.arange(24, dtype=np.uint8).reshape(24, 1, 1), np.arange(24) % 10)
    passes = []
    for first in (0, 4):
        rounds = [Round(pictures, 2, 3, 1, number, 10, 0.5) for number in range(first, first + 4)]
        passes.append(
            [
                int(level)
                for part in rounds
                for i in range(len(part))
                for level in part[i].picture.flatten()
            ]
        )
    assert sorted(passes[0]) == sorted(passes[1]) == list(range(24)) and passes[0] != passes[1]
    again = Round(pictures, 2, 3, 1, 2, 10, 0.5)
    assert torch.equal(again[1].picture, Round(pictures, 2, 3, 1, 2, 10, 0.5)[1].picture)
    told = torch.cat(
        [
            part[i].told
            for part in (Round(pictures, 2, 12, 1, n, 10, 0.5) for n in range(20))
            for i in range(12)
        ]
    )
    assert 0.4 < (told == 10).float().mean() < 0.6  # half of them are not told their kind


def test_held_out_pictures_are_the_last(
    data: Path,
) -> None:
    train, val, test = (files.fashion(data, split) for split in ("train", "val", "test"))
    assert (len(train), len(val), len(test)) == (COUNT, HELD_OUT, 8)
    assert train.kinds.tolist() + val.kinds.tolist() == [i % 10 for i in range(COUNT + HELD_OUT)]
    pictures = recipe.task_of("colour").pictures(data, "val")
    assert (
        pictures.levels.shape == (HELD_OUT, 16, 16, 3)
        and pictures.small is not None
        and pictures.small.shape == (HELD_OUT, 8, 8, 3)
    )
    np.testing.assert_array_equal(pictures.small, reduce_pictures(pictures.levels, 8))
    (batch,) = in_batches(pictures, 10)
    assert batch.told.shape == (HELD_OUT, 8, 8, 3)
    for error, said, ask in (
        (ValueError, "not dev", lambda: files.fashion(data, "dev")),
        (FileNotFoundError, "train-images|t10k", lambda: files.fashion(data / "nowhere", "test")),
        (ValueError, "cannot be averaged", lambda: reduce_pictures(pictures.levels, 5)),
    ):
        with pytest.raises(error, match=said):
            ask()


def test_the_ladder_measures_other_ways_on_the_same_pictures(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {variant: taught(data, variant)["value"] for variant in ("pixelcnn", "colour")}
    assert program.main(["ladder", "image_transformer", "--data", str(data)]) == 0
    written = json.loads((data / "assets" / "image_transformer" / "ladder.json").read_text())
    rungs = {rung["key"]: rung for rung in written if rung["pictures"] == "grey"}
    # a model that is not there has no rung
    assert list(rungs) == ["uniform", "histogram", "png", "webp", "pixelcnn", "glow"]
    assert rungs["uniform"]["value"] == 8 and rungs["pixelcnn"]["value"] == found["pixelcnn"]
    assert 2 < rungs["histogram"]["value"] < 4.6  # four levels, learned from thirty pictures
    # four levels at random: two bits, and the file around them
    assert rungs["png"]["value"] > 2 and rungs["webp"]["value"] > 2
    assert [key for key, rung in rungs.items() if rung["published"]] == ["glow"]
    coloured = {rung["key"]: rung for rung in written if rung["pictures"] == "colour"}
    assert (
        list(coloured) == ["uniform", "linear_block", "linear", "colour"]
        and coloured["colour"]["value"] == found["colour"]
    )
    # of one colour each: the small picture says it all
    assert coloured["linear"]["value"] < 1 and coloured["linear"]["n"] == 4
    assert all(rung["source"] for rung in written) and "written" in capsys.readouterr().out


def test_a_histogram_costs_what_it_has_learned() -> None:
    learn = Pictures(np.array([[[0, 7]], [[255, 7]]], np.uint8), np.zeros(2, np.int64))
    half, sure = (
        (1 + ladder.SMOOTHING) / (2 + 256 * ladder.SMOOTHING),
        (2 + ladder.SMOOTHING) / (2 + 256 * ladder.SMOOTHING),
    )
    assert ladder.histogram(learn, learn) == pytest.approx(-(math.log2(half) + math.log2(sure)) / 2)


def pairs(large: np.ndarray, small: np.ndarray | None = None) -> Pictures:
    levels = large.astype(np.uint8)
    told = (
        reduce_pictures(levels, levels.shape[1] // 2) if small is None else small.astype(np.uint8)
    )
    return Pictures(levels, np.zeros(len(levels), np.int64), told)


@pytest.mark.parametrize("neighbours", [False, True])
def test_the_linear_coder_knows_nothing_that_comes_later(neighbours: bool) -> None:
    pictures = pairs(np.random.default_rng(3).integers(0, 256, (1, 6, 6, 3)))
    for row, column, channel in ((0, 0, 0), (1, 2, 1), (2, 3, 2), (5, 5, 2)):
        later = pictures.levels.copy()
        later.reshape(-1)[(row * 6 + column) * 3 + channel :] = 99  # this value and all after it
        of_block = row % 2 * 2 + column % 2
        before, after = (
            ladder._list_known_values(
                Pictures(levels, pictures.kinds, pictures.small), of_block, channel, neighbours
            )[0]
            for levels in (pictures.levels, later)
        )
        np.testing.assert_array_equal(
            before[row // 2 * 3 + column // 2], after[row // 2 * 3 + column // 2]
        )


def test_what_remains_of_a_small_pixel_gives_its_last_value_away() -> None:
    draw = np.random.default_rng(4)
    large = draw.integers(0, 64, (400, 4, 4, 1)) * 4  # so that means are whole numbers
    pictures = pairs(large)
    known, level = ladder._list_known_values(pictures, 3, 0, False)
    np.testing.assert_array_equal(known[:, 0], level)
    free = np.log2(64)  # nothing but the last of four is told, and of the others the sum
    assert (
        0.5 * free
        < ladder.linear(pictures, pairs(draw.integers(0, 64, (100, 4, 4, 1)) * 4), neighbours=False)
        < free + 1
    )


def test_the_linear_coder_sums_to_one() -> None:
    draw = np.random.default_rng(5)
    small = draw.integers(0, 256, (500, 1, 1, 1))
    learn = pairs((small + draw.integers(-20, 21, small.shape)).clip(0, 255), small)
    for told in (0, 3, 130, 255):
        each = [
            pairs(np.full((1, 1, 1, 1), level), np.full((1, 1, 1, 1), told)) for level in range(256)
        ]
        assert sum(
            2 ** -ladder.linear(learn, one, neighbours=True) for one in each
        ) == pytest.approx(1)
    with pytest.raises(ValueError, match="small pictures"):
        ladder.linear(Pictures(learn.levels, learn.kinds), learn, neighbours=True)


def test_neighbours_help_in_smooth_pictures() -> None:
    draw, place = np.random.default_rng(6), np.arange(8)
    down, right = (draw.integers(-12, 13, (300, 1, 1, 3)) for _ in range(2))
    slope = place[:, None, None] * down + place[:, None] * right
    smooth = (128 + slope + draw.integers(-1, 2, slope.shape)).clip(0, 255)
    learn, held_out = pairs(smooth[:200]), pairs(smooth[200:])
    assert (
        ladder.linear(learn, held_out, neighbours=True)
        < ladder.linear(learn, held_out, neighbours=False) - 0.3
    )


def test_a_file_of_one_picture_is_counted_whole() -> None:
    levels = np.random.default_rng(1).integers(0, 256, (3, 28, 28), dtype=np.uint8)
    value, frame = ladder.measure_files(
        Pictures(levels, np.zeros(3, np.int64)), "PNG", optimize=True
    )
    file = io.BytesIO()
    Image.fromarray(levels[0]).save(file, "PNG", optimize=True)
    # noise cannot be pressed, and a header is added
    assert value == pytest.approx(len(file.getvalue()) * 8 / 784, rel=0.01) and value > 8
    assert 0 < frame < 1
