"""The letters of which words are made that are said twice, and how letters are shown."""

from __future__ import annotations

from typing import Final

from models.characters import SHOWN_UNKNOWN

WORD: Final = 128  # letters of a word, when it is whole
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz .,-!"  # letter i has the number i + 1; 0 stands before each word
SHORTEST: Final = 16  # letters of the shortest words of training
UNKNOWN: Final = SHOWN_UNKNOWN  # how a character of a text is shown that its model does not know
