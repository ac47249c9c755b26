"""The letters of which words are made that are said twice."""

from __future__ import annotations

from typing import Final

WORD: Final = 128  # letters of a word, when it is whole
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz .,-!"  # letter i has the number i + 1; 0 stands before each word
SHORTEST: Final = 16  # letters of the shortest words of training
