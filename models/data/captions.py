"""The captions of Multi30k, and further sentences of this kind whose queries and keys a lab shows
together."""

from __future__ import annotations

import gzip
from pathlib import Path

CAPTIONS: tuple[str, ...] = (
    "Children are playing soccer on a green field.",
    "Two dogs are running through the snow.",
    "A little girl in a pink dress is climbing a tree.",
    "A man in a blue shirt is standing on a ladder and cleaning a window.",
    "Three people sit at a table in front of a restaurant.",
    "A brown dog runs across the grass with a ball in its mouth.",
    "A woman in a white shirt is reading a book on a bench.",
    "Two young boys are riding their bikes down the street.",
    "A group of people stand in front of a large building.",
    "An old man with a hat plays the guitar at night.",
    "A child in a yellow jacket jumps into the water.",
    "Several men are working on the roof of a house.",
)


def read_captions(data: Path, split: str) -> tuple[list[str], list[str]]:
    """Return the English and German sentences of a split, one per line of
    `multi30k/<split>.{en,de}.gz`.

    Raise FileNotFoundError where the files are missing, ValueError where their lengths differ.
    """
    sides: list[list[str]] = []
    for language in ("en", "de"):
        path = data / "multi30k" / f"{split}.{language}.gz"
        if not path.is_file():
            raise FileNotFoundError(
                f"no {path}: give the folder that holds multi30k/ with --data or EXPLORER_DATA"
            )
        # nothing else ends a line
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            sides.append(file.read().split("\n")[:-1])
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"{split}: {len(sides[0])} English sentences beside {len(sides[1])} German ones"
        )
    return sides[0], sides[1]
