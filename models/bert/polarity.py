"""BERT judges film reviews: what of it the verdict is read from. `models.polarity` has the rest, the same for every network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from models import polarity
from models.bert.pretrained import SLUG, load, pieces_of

OURS = "mlm"


class Judge(polarity.Judge):
    """An encoder with a verdict. It reads [CLS], the pieces and [SEP]; the first, which stands for no text, does not count."""

    def states(self, rows: Sequence[polarity.Row]) -> tuple[list[Tensor], Tensor]:
        """As in `models.polarity`."""
        pieces = pieces_of(OURS)
        given = [torch.from_numpy(pieces.row(row[: self.model.config.max_positions - 2])) for row in rows]
        read = torch.nn.utils.rnn.pad_sequence(given, batch_first=True, padding_value=pieces.pad)
        there = read != pieces.pad
        return [*self.model.climb(read, there)], there & (read != pieces.cls)


SUBJECT = polarity.Subject(SLUG, Judge, lambda: load(OURS).model, lambda texts: pieces_of(OURS).encode_all(texts))
