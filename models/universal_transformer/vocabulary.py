"""The words of the stories by meaning, without torch, so that a page can show them before a model
is loaded."""

from __future__ import annotations

PEOPLE = ("mary", "john", "sandra", "daniel", "emma", "peter")
PLACES = ("kitchen", "garden", "office", "bedroom", "hallway", "cellar", "school", "park")
THINGS = ("key", "apple", "ball", "book", "letter", "coin")
CONTAINERS = ("box", "bag", "basket", "suitcase")
NOBODY = "nobody"  # nobody knows
