"""The words of the stories, by what they stand for. No torch here: a page shows them before any model is loaded."""

from __future__ import annotations

PEOPLE = ("mary", "john", "sandra", "daniel", "emma", "peter")
PLACES = ("kitchen", "garden", "office", "bedroom", "hallway", "cellar", "school", "park")
THINGS = ("key", "apple", "ball", "book", "letter", "coin")
CONTAINERS = ("box", "bag", "basket", "suitcase")
NOBODY = "nobody"  # nobody knows
