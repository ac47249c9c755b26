"""Validation of requests to the picture models: each becomes a request with its picture, or an
error in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.checkpoints.checkpoint import CheckpointError
from models.data.pixels import find_picture, load_shipped_pictures
from models.explaining.errors import InputError, check_heads
from models.explaining.request_fields import check_request
from models.image_transformer.pretrained import enlarger, together
from models.image_transformer.records import COLOUR, FLANGE, MEMORY_ROWS, PATTERNS, Levels, Request


@dataclass(frozen=True)
class Read:
    """A valid request.

    given: its picture, (row, column) or (row, column, channel), or None.
    """

    request: Request
    given: Levels | None

    @property
    def is_changed(self) -> bool:
        """Whether the request changes the models."""
        one = self.request
        return bool(one.silenced) or (one.memory_rows, one.flange) != (MEMORY_ROWS, FLANGE)


def _sizes(mode: str) -> Mapping[str, tuple[int, int]]:
    """Return the layers and heads of each pattern that a mode runs.

    Raise InputError if the model of coloured pictures is not shipped.
    """
    if mode != "enlarge":
        return {
            name: (one.config.n_layers, one.config.n_heads)
            for name, one in zip(PATTERNS, together().patterns, strict=True)
        }
    try:
        config = enlarger().config
    except CheckpointError:
        raise InputError(
            "not_shipped",
            en=(
                "The model that enlarges coloured pictures is not shipped here; grey ones can be"
                " made and completed."
            ),
            zh="此处没有提供放大彩色图片的模型；可以生成和补全灰度图片。",
        ) from None
    return {COLOUR: (config.n_decoder, config.n_heads)}


def readable(request: Request) -> Read:
    """Return a request with its picture, or an InputError with the given value and the accepted
    ones."""
    check_request(request)
    check_heads(request.silenced, _sizes(request.mode))
    if request.mode == "generate":
        return Read(request, None)
    if not isinstance(request.picture, str) or not request.picture:
        raise InputError(
            "no_picture",
            en="There is no picture: choose one of the examples, upload one or draw one.",
            zh="没有图片：请选择一个示例、上传一张或画一张。",
        )
    examples = load_shipped_pictures("image_transformer")[
        "colour" if request.mode == "enlarge" else "grey"
    ]
    return Read(request, find_picture(request.picture, examples))
