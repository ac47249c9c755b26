"""Checkpoints are read strictly and written with care."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from models.checkpoints import checkpoint
from models.checkpoints.checkpoint import CheckpointError


@dataclass(frozen=True)
class Config:
    width: int = 3


def written(where: Path, finished: bool = True, **how: Any) -> nn.Linear:
    torch.manual_seed(1)
    model = nn.Linear(3, 2)
    checkpoint.save_checkpoint(
        where, model.state_dict(), {"config": {"width": 3}, "finished": finished}, **how
    )
    return model


@pytest.mark.parametrize(("dtype", "files"), [(torch.float16, 1), (torch.float32, 3)])
def test_saved_tensors_keep_their_precision(
    dtype: torch.dtype, files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a row of the matrix in each of several files
    monkeypatch.setattr(checkpoint, "LARGEST", 100_015)
    model, again = written(tmp_path, dtype=dtype, shards=files > 1), nn.Linear(3, 2)
    assert len(list(tmp_path.glob("model*.safetensors"))) == files
    checkpoint.restore_parameters(tmp_path, again)
    for name, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor.to(dtype).float())
    assert checkpoint.read_facts(tmp_path)["parameters"] == 8
    folders = [
        checkpoint.find_folder("translation"),
        checkpoint.find_folder("translation", "base", 3),
    ]
    assert [one.name for one in folders] == ["base", "base-seed3"], "seeds live beside each other"


def test_eight_bits_keep_half_a_step(tmp_path: Path) -> None:
    torch.manual_seed(1)
    model, again = nn.Conv1d(5, 7, 3), nn.Conv1d(5, 7, 3)
    with torch.no_grad():
        model.weight[2] = 0
    checkpoint.save_checkpoint(tmp_path, model.state_dict(), {"finished": True}, torch.int8)
    checkpoint.restore_parameters(tmp_path, again)
    torch.testing.assert_close(again.bias, model.bias.half().float())
    step = model.weight.half().float().abs().amax((1, 2), keepdim=True) / 127
    assert ((again.weight - model.weight.half()).abs() <= step / 2 * 1.001).all() and (
        again.weight != model.weight.half()
    ).any()
    assert checkpoint.read_facts(tmp_path)["parameters"] == 7 * 5 * 3 + 7


@pytest.mark.parametrize(("shards", "name"), [(False, "model"), (True, "model-2")])
def test_a_changed_file_is_not_loaded(
    shards: bool, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a row of the matrix in each of several files
    monkeypatch.setattr(checkpoint, "LARGEST", 100_008)
    model = written(tmp_path, shards=shards)
    path = tmp_path / f"{name}.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    with pytest.raises(CheckpointError, match="not the file"):
        checkpoint.restore_parameters(tmp_path, model)


def test_another_count_or_shape_is_not_loaded(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(CheckpointError, match="size mismatch"):
        checkpoint.restore_parameters(tmp_path, nn.Linear(2, 2))
    facts = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**facts, "parameters": 9}))
    with pytest.raises(CheckpointError, match="8 parameters stored, 9 described"):
        checkpoint.restore_parameters(tmp_path, nn.Linear(3, 2))


def test_unknown_and_missing_keys_are_named() -> None:
    assert checkpoint.build_config(Config, {"width": 4}) == Config(4)
    with pytest.raises(CheckpointError, match=r"unknown \['height'\], missing \['width'\]"):
        checkpoint.build_config(Config, {"height": 4})


def test_an_unfinished_model_never_replaces_a_finished_one(tmp_path: Path) -> None:
    written(tmp_path, finished=False)
    written(tmp_path, finished=True)
    with pytest.raises(CheckpointError, match="finished"):
        written(tmp_path, finished=False)


def test_a_value_too_large_for_half_precision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="not finite"):
        checkpoint.save_checkpoint(tmp_path, {"weight": torch.tensor([1e6])}, {"finished": True})
    assert not (tmp_path / "model.json").exists()
