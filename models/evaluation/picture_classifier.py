"""A small convolutional classifier of grey pictures of 32 × 32, whose features measure generated
ones."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class ClassifierConfig:
    """The sizes of the classifier."""

    channels: tuple[int, ...] = (24, 48, 64)  # at 16, 8 and 4 pixels
    features: int = 64
    classes: int = 10


class Classifier(nn.Module):
    """Three convolutions that halve the picture, 64 features, and the scores of ten classes."""

    def __init__(self, config: ClassifierConfig) -> None:
        super().__init__()
        self.config = config
        widths = config.channels
        self.down = nn.ModuleList(
            nn.Conv2d(a, b, 4, 2, 1) for a, b in zip((1, *widths), widths, strict=False)
        )
        self.hidden = nn.Linear(widths[-1] * 16, config.features)
        self.readout = nn.Linear(config.features, config.classes)

    def features(self, pictures: Tensor) -> Tensor:
        """Return the features, (batch, feature), 0 or more, of pictures (batch, row, column)."""
        x = pictures.unsqueeze(1)
        for down in self.down:
            x = F.relu(down(x))
        return F.relu(self.hidden(F.dropout(x.flatten(1), 0.3, self.training)))

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the scores of the classes, (batch, class)."""
        return self.readout(self.features(pictures))  # type: ignore[no-any-return]


@torch.no_grad()
def read_features(model: Classifier, pictures: Tensor, batch: int = 500) -> tuple[Tensor, Tensor]:
    """Return the features of many pictures and the class that the classifier names for each."""
    parts = [model.features(some) for some in torch.split(pictures, batch)]
    features = torch.cat(parts)
    return features, model.readout(features).argmax(-1)
