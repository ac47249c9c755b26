"""The vectors from which BERT's judgement of film reviews is read.

`models.evaluation.polarity` has the rest, which all networks share.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from models.bert.pretrained import SLUG, load, pieces_of
from models.evaluation import polarity

OURS = "mlm"


class Judge(polarity.Judge):
    """An encoder that judges a text.

    It reads [CLS], the pieces and [SEP]; [CLS] does not count, because it stands for no text.
    """

    def list_states(self, rows: Sequence[polarity.Row]) -> tuple[list[Tensor], Tensor]:
        """Return the vectors as in `models.evaluation.polarity`."""
        pieces = pieces_of(OURS)
        given = [
            torch.from_numpy(pieces.row(row[: self.model.config.max_positions - 2])) for row in rows
        ]
        read = torch.nn.utils.rnn.pad_sequence(given, batch_first=True, padding_value=pieces.pad)
        there = read != pieces.pad
        return [*self.model.climb(read, there)], there & (read != pieces.cls)


SUBJECT = polarity.Subject(
    SLUG, Judge, lambda: load(OURS).model, lambda texts: pieces_of(OURS).encode_all(texts)
)
