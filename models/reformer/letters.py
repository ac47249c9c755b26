"""The letters of repeated words, and the display of letters."""

from __future__ import annotations

from typing import Final

from models.data.characters import SHOWN_UNKNOWN

WORD: Final = 128  # letters of a whole word
# Letter i has the number i + 1; 0 precedes each word.
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz .,-!"
SHORTEST: Final = 16  # letters of the shortest training words
UNKNOWN: Final = SHOWN_UNKNOWN  # the display of a character that the model does not know
