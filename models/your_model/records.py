"""The requests to a user's own model and their explanations, and the facts about its folder that
need no model; without torch."""

from __future__ import annotations

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

from models.explaining import request_fields
from models.explaining.errors import InputError, clean_for_sentence
from models.media.files import check_file, read_json

Array = NDArray[np.float32]

NAME = "EXPLORER_MODEL"  # environment variable of the folder
# model_type of config.json -> shape, class of transformers.
SHAPES: Mapping[str, tuple[str, str]] = {
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
KINDS: Mapping[str, tuple[str, ...]] = {
    "bert": ("encoder",),
    "gpt2": ("decoder",),
    "t5": ("encoder", "decoder", "cross"),
}
# All files that are ever read or fetched.
FILES = ("config.json", "tokenizer.json", "model*.safetensors", "model.safetensors.index.json")
# Files that transformers reads if they are present.
ASIDE = ("generation_config.json", "model.safetensors.index.json")
# In bytes: of config.json and similar files, of tokenizer.json, of a header.
MOST_CONFIG, MOST_TOKENIZER, MOST_HEADER = 1 << 20, 64 << 20, 2 << 20
MOST_SHARDS = 64  # files of weights
# Limits on config.json, checked before a network is built.
MOST_LAYERS, MOST_HEADS, MOST_LABELS = 64, 256, 10_000
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
MOST_PARAMETERS = 400_000_000
MOST_TEXT = 2_000  # characters
MOST_TOKENS = 128
MOST_WRITTEN = 32  # tokens of a decoder after an encoder
WEIGHTS = 4_000_000  # of one attention, in all heads
HUB = re.compile(r"[\w.-]+/[\w.-]+@[\w./-]+")


@dataclass(frozen=True)
class Request:
    """A request: a text to read."""

    text: str = request_fields.text_field("", MOST_TEXT)


@dataclass(frozen=True)
class Guesses:
    """The logit lens: the predictions of each layer.

    best: (layer, position). nats: −log p of the actual token, (layer, position). read: the token
    above which the layers predict, (position,). stands: the actual token. numbers, true: the
    numbers of best and stands, which decide whether a prediction is right.
    """

    read: tuple[str, ...]
    stands: tuple[str, ...]
    best: tuple[tuple[str, ...], ...]
    numbers: NDArray[np.int64]
    true: NDArray[np.int64]
    nats: Array


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    source, target: the spelled tokens, with a space in front where the tokenizer put one; target is
    empty without a decoder after an encoder. source_space, target_space: whether a word starts
    there. maps: by kind of KINDS, (layer, head, query, key), exactly the `output_attentions` of
    transformers. lens: None if the model has no output layer for tokens. text: the written text,
    otherwise the text read. reason: the reason why the written text ends, from
    `models.explaining.shared_records.REASONS`; "" if there is none.
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    target: tuple[str, ...]
    target_space: tuple[bool, ...]
    start: str
    maps: Mapping[str, Array]
    lens: Guesses | None
    text: str
    reason: str


@dataclass(frozen=True)
class Facts:
    """The facts in config.json and the headers of the weights.

    tokens: the most that can be read at once. mask: the tokenizer's mask token.
    """

    folder: Path
    name: str
    model_type: str
    shape: str
    parameters: int
    layers: int
    heads: int
    tokens: int
    mask: str

    @property
    def least(self) -> int:
        """The fewest tokens of a text; a model of next tokens never predicts the first."""
        return 2 if self.shape == "gpt2" else 1


def find_model_folder(given: str, offline: bool) -> Path:
    """Return the folder that `--model` names.

    It is a folder itself, or a Hub id "owner/name@REVISION" in the local cache; unless offline,
    huggingface_hub fetches it, of its files only FILES. Raise InputError, one sentence, for
    anything else.
    """
    if Path(given).is_dir():
        return Path(given).resolve()
    if not HUB.fullmatch(given):
        raise InputError(
            "folder",
            en=(
                f"There is no folder {given}; a model of the Hub is named with its revision,"
                " owner/name@REVISION."
            ),
            zh=f"没有文件夹 {given}；Hub 上的模型要连同版本一起写：“owner/name@REVISION”。",
        )
    name, _, revision = given.partition("@")
    if (kept := _snapshot(name, revision, online=False)) and not offline:
        kept = kept if all(any(kept.glob(pattern)) for pattern in FILES[:3]) else None
    where = kept or (None if offline else _snapshot(name, revision, online=True))
    if where is None:
        raise InputError(
            "offline",
            en=(
                f"{given} is not in this machine's cache, and the Hub"
                f" {'is not asked offline' if offline else 'did not give it'}; a folder can be"
                " opened without a network."
            ),
            zh=(
                f"{given} 不在本机缓存中，Hub"
                f" {'在离线模式下不会被访问' if offline else '没有给出它'}；"
                "没有网络时可以打开本地文件夹。"
            ),
        )
    return where


def _snapshot(name: str, revision: str, *, online: bool) -> Path | None:
    """Return the folder of a Hub revision, fetched in a separate process, because this process was
    set at its start never to contact another host."""
    code = (
        "import sys; from huggingface_hub import HfApi, snapshot_download as fetch; name, revision,"
        " online, most, *files = sys.argv[1:]\nsize = lambda: sum(f.size or 0 for f in"
        " HfApi().model_info(name, revision=revision, files_metadata=True).siblings if"
        " f.rfilename.startswith('model') and f.rfilename.endswith('.safetensors'))\nassert not"
        " online or size() <= int(most)\nprint(fetch(name, revision=revision, allow_patterns=files,"
        " local_files_only=not online))"
    )
    command = [
        sys.executable,
        "-c",
        code,
        name,
        revision,
        "yes" if online else "",
        str(4 * MOST_PARAMETERS),
        *FILES,
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "0" if online else "1"},
    )
    where = (
        Path(done.stdout.strip().splitlines()[-1])
        if done.returncode == 0 and done.stdout.strip()
        else None
    )
    return where if where and where.is_dir() else None


def facts(folder: Path) -> Facts:
    """Return the facts about a model without opening it.

    Raise InputError, one sentence, if it cannot be shown: pickles, another architecture, too many
    parameters for this page or this machine, or a missing file.
    """
    config = _json(folder, "config.json", MOST_CONFIG)
    for name in ASIDE:
        if (folder / name).exists():
            _json(folder, name, MOST_CONFIG)
    kind = clean_for_sentence(str(config.get("model_type")))
    if kind not in SHAPES:
        raise InputError(
            "architecture",
            en=(
                f"The model is a {kind}; models of the shapes of BERT, GPT-2 and T5 are shown:"
                f" {', '.join(SHAPES)}."
            ),
            zh=(
                f"该模型的类型是 {kind}；可以显示 BERT、GPT-2、T5 形状的模型：{'、'.join(SHAPES)}。"
            ),
        )
    weights = sorted(folder.glob("model*.safetensors"))
    if not weights:
        pickled = next(
            (path.name for path in sorted(folder.iterdir()) if path.suffix in PICKLES), ""
        )
        why = f"; {pickled} is a pickle, which can run code when it is opened" if pickled else ""
        why_zh = f"；{pickled} 是 pickle 文件，打开时可能执行代码" if pickled else ""
        raise InputError(
            "weights",
            en=f"There is no model.safetensors in {folder.name}{why}.",
            zh=f"{folder.name} 中没有“model.safetensors”{why_zh}。",
        )
    added = _json(folder, "tokenizer.json", MOST_TOKENIZER).get("added_tokens")
    names = (
        [str(one.get("content")) for one in added if isinstance(one, dict)]
        if isinstance(added, list)
        else []
    )
    mask = next((name for name in names if "mask" in name.lower()), "")
    for named, most in ((LAYERS, MOST_LAYERS), (HEADS, MOST_HEADS), (("num_labels",), MOST_LABELS)):
        for name in named:  # whichever of the names transformers uses
            _number(config, name, most=most, unsaid=1)
    layers, heads = (
        _number(config, *LAYERS, most=MOST_LAYERS),
        _number(config, *HEADS, most=MOST_HEADS),
    )
    if _number(config, "num_decoder_layers", most=MOST_LAYERS, unsaid=layers) != layers:
        raise InputError(
            "layers",
            en=(
                f"The encoder has {layers} layers and the decoder {config['num_decoder_layers']};"
                " as many of each are drawn."
            ),
            zh=(
                f"编码器有 {layers} 层，解码器有 {config['num_decoder_layers']} 层；"
                "只能画两者层数相同的模型。"
            ),
        )
    longest = _number(
        config, "max_position_embeddings", "n_positions", most=999_999_999, unsaid=MOST_TOKENS
    )
    if longest - 2 < FEWEST_TOKENS:
        raise InputError(
            "positions",
            en=f"The model has {longest} positions; at least {FEWEST_TOKENS + 2} are needed.",
            zh=f"该模型有 {longest} 个位置；至少需要 {FEWEST_TOKENS + 2} 个。",
        )
    # RoBERTa counts positions from 2.
    tokens = min(MOST_TOKENS, longest - 2, math.isqrt(WEIGHTS // (layers * heads)))
    if len(weights) > MOST_SHARDS:
        raise InputError(
            "weights",
            en=(
                f"The weights of {folder.name} stand in {len(weights):,} files; up to {MOST_SHARDS}"
                " are read."
            ),
            zh=f"{folder.name} 的权重分在 {len(weights):,} 个文件中；最多读取 {MOST_SHARDS} 个。",
        )
    counted = sum(_count_parameters(path) for path in weights)
    room = _memory() // 6  # 4 bytes each, and the same again during loading
    if counted > min(MOST_PARAMETERS, room):
        raise too_large(counted, min(MOST_PARAMETERS, room))
    parts = folder.parts
    name = (
        f"{parts[-3].removeprefix('models--').replace('--', '/')}@{parts[-1][:7]}"
        if "snapshots" in parts[-2:-1]
        else folder.name
    )
    return Facts(folder, name, kind, SHAPES[kind][0], counted, layers, heads, tokens, mask)


FEWEST_TOKENS = 8
LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")
HEADS = ("num_attention_heads", "n_heads", "n_head", "num_heads")


@cache
def read_facts() -> Facts:
    """Return the facts about the model with which this process was started."""
    return facts(Path(os.environ[NAME]))


@cache
def _tokenizer(folder: Path) -> Any:
    """Return the tokenizer of a folder without special tokens or truncation; None if it cannot be
    read."""
    from tokenizers import Tokenizer

    try:
        found = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The only class that tokenizers raises; opening the model reports the cause.
    except Exception:
        return None
    found.no_padding()
    found.no_truncation()
    return found


def shorten(known: Facts, text: str) -> str:
    """Return the longest beginning of a text that the model can read: whole words, or parts of the
    first one."""
    spelling = _tokenizer(known.folder)
    if spelling is None:
        return text
    words = text.split(" ")
    cuts = [" ".join(words[:count]) for count in range(len(words), 0, -1)]
    cuts += [words[0][:count] for count in range(len(words[0]) - 1, 0, -1)]
    return next(
        (cut for cut in cuts if known.least <= len(spelling.encode(cut).ids) <= known.tokens), text
    )


def too_large(counted: int, most: int) -> InputError:
    """Return the error for a model with too many parameters."""
    return InputError(
        "large",
        en=f"The model has {counted:,} parameters; up to {most:,} can be run here.",
        zh=f"该模型有 {counted:,} 个参数；这里最多运行 {most:,} 个。",
    )


def _json(folder: Path, name: str, most: int) -> dict[str, Any]:
    try:
        found = read_json(folder / name, most)
    except FileNotFoundError:
        raise InputError(
            "file", en=f"There is no {name} in {folder.name}.", zh=f"{folder.name} 中没有 {name}。"
        ) from None
    except (OSError, ValueError) as error:
        raise _unreadable(folder / name, error) from None
    if not isinstance(found, dict):
        raise _unreadable(folder / name, ValueError("it holds no names and values"))
    return found


def _unreadable(path: Path, error: Exception) -> InputError:
    """Return the error for an unreadable file of the folder, with the reason."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(
        "file",
        en=f"{path.name} in {path.parent.name} cannot be read: {why}.",
        zh=f"{path.parent.name} 中的 {path.name} 无法读取。",
    )


def _number(
    config: Mapping[str, Any], *names: str, most: int = 999, unsaid: int | None = None
) -> int:
    """Return the value in config.json of the first of these names that it has, or `unsaid`."""
    name = next((name for name in names if config.get(name) is not None), names[0])
    value = unsaid if config.get(name) is None else config[name]
    if type(value) is not int or not 0 < value <= most:
        raise InputError(
            "config",
            en=f"config.json says no {name} of 1 to {most:,}.",
            zh=f"“config.json”中没有 1 到 {most:,} 的 {name}。",
        )
    return value


def _count_parameters(path: Path) -> int:
    """Return the number of parameters in a file from its header alone."""
    from safetensors import SafetensorError, safe_open

    try:
        check_file(path)
        with path.open("rb") as file:
            header = int.from_bytes(file.read(8), "little")
        if header > MOST_HEADER:
            raise ValueError(f"its header has {header:,} bytes; up to {MOST_HEADER:,} are read")
        with safe_open(path, "np") as found:
            return sum(math.prod(found.get_slice(key).get_shape()) for key in found.keys())  # noqa: SIM118
    except (OSError, ValueError, SafetensorError) as error:
        raise _unreadable(path, error) from None


def _memory() -> int:
    """Return the bytes of memory that this machine has free."""
    try:
        return int(re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        return 16 << 30
