"""Rules of every sentence: no change below the rounding, no part larger than its whole, no wrong
order."""

from __future__ import annotations

import re

from explorer.contract.labels import NOUNS
from tests.support.truth.printed import Check, N, number, unless
from tests.support.truth.saying import Said


def _moves(found: re.Match[str], _said: Said) -> str | None:
    return unless(found[1] != found[2], f"tells {found[1]} → {found[2]} as a change")


def _instead(found: re.Match[str], said: Said) -> str | None:
    if found[1] == found[2]:
        return f"tells {found[1]} instead of {found[2]}"
    return None


def _part(found: re.Match[str], _said: Said) -> str | None:
    return unless(number(found[1]) <= number(found[2]), f"{found[1]} of {found[2]}")


def _less(found: re.Match[str], _said: Said) -> str | None:
    return unless(number(found[1]) < number(found[2]), f"calls {found[1]} less than {found[2]}")


def _likely(found: re.Match[str], _said: Said) -> str | None:
    return unless(number(found[1]) > 1, f"{found[1]} times {found[2]} likely")


def _order(found: re.Match[str], _said: Said) -> str | None:
    weight, place, count, most = found.groups()
    if weight == most:
        return f"{weight} is only place {place}, and the most is {most} too"
    return unless(1 < int(place) <= number(count), f"place {place} of {count}")


def _one(found: re.Match[str], _said: Said) -> str | None:
    return unless(found[1] not in NOUNS, f"“{found[0]}” counts one in the plural")


EVERY: tuple[tuple[str, Check], ...] = (
    (rf"goes from (?:a probability of )?({N}) to ({N})", _moves),
    (rf"({N})(?: \S+){{0,4}}? (?:→|becomes) ({N})", _moves),
    (rf"({N}) instead of ({N})", _instead),
    (
        rf"(?<![\d.,·])({N}) of (?:the |all |its )?({N})(?![\d.]*·)(?= |,|;|\.|:|\))(?! semitones)",
        _part,
    ),
    (rf"({N})(?: after \w+ \d+)?, less than ({N})", _less),
    (rf"({N}) times (more|less) likely", _likely),
    (rf"({N}), (\d+)(?:st|nd|rd|th) of ({N}); it g\w+ most, ({N})", _order),
    (r"(?<![\d.,])\b1 (?:[a-z]+ )?([a-z]+s)\b", _one),
)
