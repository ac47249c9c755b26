"""Captions like those of Multi30k, of many of which a lab's queries and keys are looked at together."""

from __future__ import annotations

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
