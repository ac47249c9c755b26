"""Reading what a page asks of the picture models: each request with its picture, or one sentence that refuses it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.checkpoint import CheckpointError
from models.errors import InputError, no_head
from models.image_transformer.records import (
    COLDEST,
    FLANGE,
    HOTTEST,
    KINDS,
    LARGE,
    LEVELS,
    MAX_COUNT,
    MAX_SEED,
    MEMORY_ROWS,
    MODES,
    PATTERNS,
    ROWS_KEPT,
    SIDE,
    Levels,
    Request,
    read_picture,
)
from models.image_transformer.shipped import enlarger, held_out, together

COLOUR = "colour"  # the pattern of an enlargement


@dataclass(frozen=True)
class Read:
    """A request that can be fulfilled. given: its picture, (row, column) or (row, column, channel), or None."""

    request: Request
    given: Levels | None

    @property
    def changed(self) -> bool:
        """Does it change anything in the models?"""
        return self != plain(self)


def plain(one: Read) -> Read:
    """The same picture from models as they were trained."""
    return Read(dataclasses.replace(one.request, silenced=(), memory_rows=MEMORY_ROWS, flange=FLANGE), one.given)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _sizes(mode: str) -> Mapping[str, tuple[int, int]]:
    """Layers and heads of each pattern that a mode runs."""
    if mode == "enlarge":
        config = enlarger().config
        return {COLOUR: (config.n_decoder, config.n_heads)}
    return {name: (one.config.n_layers, one.config.n_heads) for name, one in zip(PATTERNS, together().patterns, strict=True)}


def _check(request: Request) -> None:
    """InputError where an option lies outside what the models have."""
    if request.mode not in MODES:
        listed = ", ".join(MODES)
        raise InputError(
            "mode",
            en=f"The mode is {_short(request.mode)}; there are {listed}.",
            zh=f"模式为 {_short(request.mode)}；可用的有 {listed}。",
        )
    if not _whole(request.kind) or not 0 <= request.kind <= KINDS:
        raise InputError(
            "kind",
            en=f"The kind of picture is {_short(request.kind)}; it can be 0 to {KINDS - 1}, or {KINDS} where it is not told.",
            zh=f"图片类别为 {_short(request.kind)}；可以取 0 到 {KINDS - 1}，或用 {KINDS} 表示不指定。",
        )
    ranges = (
        ("seed", 0, MAX_SEED, "seed", "随机种子"),
        ("top_k", 1, LEVELS, "number of likeliest levels", "最可能灰度级的个数"),
        ("count", 1, MAX_COUNT, "number of pictures", "图片数"),
        ("memory_rows", 0, MEMORY_ROWS, "number of memory rows", "记忆行数"),
        ("flange", 0, FLANGE, "width of the flange", "边缘宽度"),
    )
    for name, least, most, english, chinese in ranges:
        value = getattr(request, name)
        if not _whole(value) or not least <= value <= most:
            raise InputError(
                name,
                en=f"The {english} is {_short(value)}; it can be {least:,} to {most:,}.",
                zh=f"{chinese}为 {_short(value)}；可以取 {least:,} 到 {most:,}。",
            )
    number = isinstance(request.temperature, int | float) and not isinstance(request.temperature, bool)
    if not number or not COLDEST <= request.temperature <= HOTTEST:
        raise InputError(
            "temperature",
            en=f"The temperature is {_short(request.temperature)}; it can be {COLDEST:g} to {HOTTEST:g}.",
            zh=f"温度为 {_short(request.temperature)}；可以取 {COLDEST:g} 到 {HOTTEST:g}。",
        )
    if request.mode == "complete" and (not _whole(request.keep) or request.keep not in ROWS_KEPT):
        rows = ", ".join(map(str, ROWS_KEPT))
        raise InputError(
            "keep",
            en=f"{_short(request.keep)} rows are to be kept; it can be {rows} of {SIDE}.",
            zh=f"要保留的行数为 {_short(request.keep)}；{SIDE} 行中可以保留 {rows} 行。",
        )
    if request.mode == "enlarge":
        _check_enlarger()
    _check_silenced(request)


def _check_enlarger() -> None:
    """InputError where the model of coloured pictures is not shipped."""
    try:
        enlarger()
    except CheckpointError:
        raise InputError(
            "not_shipped",
            en="The model that enlarges coloured pictures is not shipped here; grey ones can be made and completed.",
            zh="此处没有提供放大彩色图片的模型；可以生成和补全灰度图片。",
        ) from None


def _check_silenced(request: Request) -> None:
    if not isinstance(request.silenced, tuple):
        raise InputError("silenced", en="The silenced heads are no list.", zh="被静音的注意力头不是列表。")
    if not request.silenced:
        return
    sizes = _sizes(request.mode)
    for entry in request.silenced:
        fits = isinstance(entry, tuple) and len(entry) == 3 and isinstance(entry[0], str) and _whole(entry[1]) and _whole(entry[2])
        layers, heads = sizes.get(entry[0], (0, 0)) if fits else (0, 0)
        if not fits or not (0 <= entry[1] < layers and 0 <= entry[2] < heads):
            pattern, layer, head = entry if isinstance(entry, tuple) and len(entry) == 3 else (entry, "?", "?")
            layers, heads = next(iter(sizes.values()))
            raise no_head(layer, head, pattern, layers=layers, heads=heads, names=tuple(sizes))


def _given(request: Request) -> Levels | None:
    """The picture that a request begins with. InputError where it has none, or none of the right size."""
    if request.mode == "generate":
        return None
    coloured = request.mode == "enlarge"
    if not isinstance(request.picture, str) or not request.picture:
        raise InputError(
            "no_picture",
            en="There is no picture: choose one of the examples, upload one or draw one.",
            zh="没有图片：请选择一个示例、上传一张或画一张。",
        )
    if not request.picture.startswith("test:"):
        return read_picture(request.picture, (LARGE, LARGE, 3) if coloured else (SIDE, SIDE))
    ours: Levels = held_out().colour if coloured else held_out().grey
    number = request.picture.removeprefix("test:")
    if not (number.isascii() and number.isdigit() and len(number) <= 4 and int(number) < len(ours)):
        raise InputError(
            "picture",
            en=f"There is no held-out picture {_short(request.picture)}; there are test:0 to test:{len(ours) - 1}.",
            zh=f"没有留出图片 {_short(request.picture)}；有 test:0 到 test:{len(ours) - 1}。",
        )
    chosen: Levels = ours[int(number)]
    return chosen


def readable(requests: Sequence[Request]) -> list[Read | InputError]:
    """Each request with its picture, or the InputError that says what was given and what is accepted."""
    found: list[Read | InputError] = []
    for request in requests:
        try:
            _check(request)
            found.append(Read(request, _given(request)))
        except InputError as error:
            found.append(error)
    return found
