"""What a page asks of a model of the visitor's own, and what it gets; what can be told of its folder unopened. No torch here."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import fields
from models.errors import InputError

Array = NDArray[np.float32]

NAME = "EXPLORER_MODEL"  # the environment's word for the folder
SHAPES: Mapping[str, tuple[str, str]] = {  # model_type of config.json -> shape, class of transformers
    "bert": ("bert", "BertForMaskedLM"),
    "distilbert": ("bert", "DistilBertForMaskedLM"),
    "roberta": ("bert", "RobertaForMaskedLM"),
    "xlm-roberta": ("bert", "XLMRobertaForMaskedLM"),
    "camembert": ("bert", "CamembertForMaskedLM"),
    "electra": ("bert", "ElectraForMaskedLM"),
    "gpt2": ("gpt2", "GPT2LMHeadModel"),
    "t5": ("t5", "T5ForConditionalGeneration"),
    "mt5": ("t5", "MT5ForConditionalGeneration"),
}
KINDS: Mapping[str, tuple[str, ...]] = {"bert": ("encoder",), "gpt2": ("decoder",), "t5": ("encoder", "decoder", "cross")}
FILES = ("config.json", "tokenizer.json", "model*.safetensors", "model.safetensors.index.json")  # all that is ever read or fetched
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
MOST_PARAMETERS = 400_000_000
MOST_TEXT = 2_000  # characters
MOST_TOKENS = 128
MOST_WRITTEN = 32  # tokens of a decoder behind an encoder
WEIGHTS = 4_000_000  # of one attention, in all heads
HUB = re.compile(r"[\w.-]+/[\w.-]+@[\w./-]+")


@dataclass(frozen=True)
class Request:
    """A text to be read."""

    text: str = fields.characters("", MOST_TEXT)


@dataclass(frozen=True)
class Guesses:
    """The logit lens: what each layer would say where a token stands. best: (layer, position); nats: (layer, position) −log p of what
    stands there. read: (position,) the token above which the layers guess; stands: what stands there in truth."""

    read: tuple[str, ...]
    stands: tuple[str, ...]
    best: tuple[tuple[str, ...], ...]
    nats: Array


@dataclass(frozen=True)
class Explanation:
    """One run. source, target: tokens as they are spelled, a space in front where the tokenizer put one; target is empty where no decoder
    writes behind an encoder. source_space, target_space: does a word begin here? maps: by kind of KINDS, (layer, head, query, key)
    exactly as transformers' `output_attentions`. lens: None where the model has no output layer for tokens."""

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
    start: str
    maps: Mapping[str, Array]
    lens: Guesses | None


@dataclass(frozen=True)
class Facts:
    """What config.json and the headers of the weights say. tokens: the most that are read at once. mask: the tokenizer's hidden word."""

    folder: Path
    name: str
    model_type: str
    shape: str
    parameters: int
    layers: int
    heads: int
    tokens: int
    mask: str


def found(given: str, offline: bool) -> Path:
    """The folder that `--model` names: itself, or a Hub id "owner/name@REVISION" in the local cache, or else, unless offline, fetched
    by huggingface_hub: of its files only FILES. InputError, one sentence, for anything else."""
    if Path(given).is_dir():
        return Path(given).resolve()
    if not HUB.fullmatch(given):
        raise InputError(
            "folder",
            en=f"There is no folder {given}; a model of the Hub is named with its revision, owner/name@REVISION.",
            zh=f"没有文件夹 {given}；Hub 上的模型要连同版本一起写：“owner/name@REVISION”。",
        )
    name, _, revision = given.partition("@")
    if (kept := _snapshot(name, revision, online=False)) and not offline:
        kept = kept if all(any(kept.glob(pattern)) for pattern in FILES[:3]) else None
    where = kept or (None if offline else _snapshot(name, revision, online=True))
    if where is None:
        raise InputError(
            "offline",
            en=f"{given} is not in this machine's cache, and the Hub {'is not asked offline' if offline else 'did not give it'}; "
            "a folder can be opened without a network.",
            zh=f"{given} 不在本机缓存中，Hub {'在离线模式下不会被访问' if offline else '没有给出它'}；没有网络时可以打开本地文件夹。",
        )
    return where


def _snapshot(name: str, revision: str, *, online: bool) -> Path | None:
    """In a process of its own: this one was told when it began never to ask another host."""
    code = (
        "import sys; from huggingface_hub import HfApi, snapshot_download as fetch; name, revision, online, most, *files = sys.argv[1:]\n"
        "size = lambda: sum(f.size or 0 for f in HfApi().model_info(name, revision=revision, files_metadata=True).siblings"
        " if f.rfilename.startswith('model') and f.rfilename.endswith('.safetensors'))\n"
        "assert not online or size() <= int(most)\n"
        "print(fetch(name, revision=revision, allow_patterns=files, local_files_only=not online))"
    )
    command = [sys.executable, "-c", code, name, revision, "yes" if online else "", str(4 * MOST_PARAMETERS), *FILES]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "0" if online else "1"})
    where = Path(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 and done.stdout.strip() else None
    return where if where and where.is_dir() else None


def facts(folder: Path) -> Facts:
    """What can be told of a model without opening it. InputError, one sentence, where it cannot be shown: pickles, another architecture,
    too many parameters for this page or this machine, a file that is missing."""
    config = _json(folder, "config.json")
    kind = str(config.get("model_type"))
    if kind not in SHAPES:
        raise InputError(
            "architecture",
            en=f"The model is a {kind}; models of the shapes of BERT, GPT-2 and T5 are shown: {', '.join(SHAPES)}.",
            zh=f"该模型的类型是 {kind}；可以显示 BERT、GPT-2、T5 形状的模型：{'、'.join(SHAPES)}。",
        )
    weights = sorted(folder.glob("model*.safetensors"))
    if not weights:
        pickled = next((path.name for path in sorted(folder.iterdir()) if path.suffix in PICKLES), "")
        why = f"; {pickled} is a pickle, which can run code when it is opened" if pickled else ""
        why_zh = f"；{pickled} 是 pickle 文件，打开时可能执行代码" if pickled else ""
        raise InputError(
            "weights", en=f"There is no model.safetensors in {folder.name}{why}.", zh=f"{folder.name} 中没有“model.safetensors”{why_zh}。"
        )
    added = _json(folder, "tokenizer.json").get("added_tokens", [])
    mask = next((str(one.get("content")) for one in added if "mask" in str(one.get("content")).lower()), "")
    layers, heads = (_number(config, *names) for names in (("num_hidden_layers", "n_layers", "n_layer", "num_layers"), HEADS))
    if _number(config, "num_decoder_layers", unsaid=layers) != layers:
        raise InputError(
            "layers",
            en=f"The encoder has {layers} layers and the decoder {config['num_decoder_layers']}; as many of each are drawn.",
            zh=f"编码器有 {layers} 层，解码器有 {config['num_decoder_layers']} 层；只能画两者层数相同的模型。",
        )
    longest = _number(config, "max_position_embeddings", "n_positions", most=999_999_999, unsaid=MOST_TOKENS)
    if longest - 2 < FEWEST_TOKENS:
        raise InputError(
            "positions",
            en=f"The model has {longest} positions; at least {FEWEST_TOKENS + 2} are needed.",
            zh=f"该模型有 {longest} 个位置；至少需要 {FEWEST_TOKENS + 2} 个。",
        )
    tokens = min(MOST_TOKENS, longest - 2, math.isqrt(WEIGHTS // (layers * heads)))  # RoBERTa counts positions from 2
    counted = sum(_counted(path) for path in weights)
    room = _memory() // 6  # 4 bytes each, and as much again while they are read
    if counted > min(MOST_PARAMETERS, room) or tokens < FEWEST_TOKENS:
        raise too_large(counted, min(MOST_PARAMETERS, room))
    parts = folder.parts
    name = f"{parts[-3].removeprefix('models--').replace('--', '/')}@{parts[-1][:7]}" if "snapshots" in parts[-2:-1] else folder.name
    return Facts(folder, name, kind, SHAPES[kind][0], counted, layers, heads, tokens, mask)


FEWEST_TOKENS = 8
HEADS = ("num_attention_heads", "n_heads", "n_head", "num_heads")


@cache
def here() -> Facts:
    """The facts of the model that this process was started with."""
    return facts(Path(os.environ[NAME]))


def too_large(counted: int, most: int) -> InputError:
    """The refusal of a model of so many parameters."""
    return InputError(
        "large",
        en=f"The model has {counted:,} parameters; up to {most:,} can be run here.",
        zh=f"该模型有 {counted:,} 个参数；这里最多运行 {most:,} 个。",
    )


def _json(folder: Path, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / name).read_text("utf-8"))
        assert isinstance(found, dict)
    except FileNotFoundError:
        raise InputError("file", en=f"There is no {name} in {folder.name}.", zh=f"{folder.name} 中没有 {name}。") from None
    except (OSError, ValueError, AssertionError):
        raise InputError("file", en=f"{name} in {folder.name} cannot be read.", zh=f"{folder.name} 中的 {name} 无法读取。") from None
    return found


def _number(config: Mapping[str, Any], *names: str, most: int = 999, unsaid: int | None = None) -> int:
    """What config.json says under the first of these names that it has, or `unsaid`."""
    name = next((name for name in names if config.get(name)), names[0])
    value = config.get(name) or unsaid
    if not isinstance(value, int) or not 0 < value <= most:
        raise InputError("config", en=f"config.json says no {name} of 1 to {most:,}.", zh=f"“config.json”中没有 1 到 {most:,} 的 {name}。")
    return value


def _counted(path: Path) -> int:
    """Parameters of one file, by its header alone."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            return sum(math.prod(file.get_slice(key).get_shape()) for key in file.keys())  # noqa: SIM118
    except (OSError, SafetensorError):
        raise InputError("file", en=f"{path.name} cannot be read.", zh=f"{path.name} 无法读取。") from None


def _memory() -> int:
    """Bytes that this machine can still give."""
    try:
        return int(re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        return 16 << 30
