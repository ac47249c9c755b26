"""Rules of the effects of a change."""

from __future__ import annotations

import math
import re

import numpy as np

from tests.support.truth.printed import HALF, N, Rule, last_digit, number, plain, prints, unless
from tests.support.truth.saying import Said, unpacked


# ---------------------------------------------------------------- changes
def _logp(found: re.Match[str], said: Said) -> str | None:
    one = said.value["number"]
    return unless(
        prints(found[1], one["after"]) and prints(found[2], one["before"]),
        f"the number says {one['before']:.3f} → {one['after']:.3f}",
    )


def _word(found: re.Match[str], said: Said) -> str | None:
    return unless(
        any(
            prints(found[2], before) and prints(found[3], after) and word.startswith(found[1])
            for word, before, after in said.value["words"]
        ),
        f"no word “{found[1]}” changes so",
    )


def _factor(found: re.Match[str], said: Said) -> str | None:
    gap = said.value["number"]["after"] - said.value["number"]["before"]
    if found[1] is None:
        return unless(abs(gap) < 0.0501, f"log-probability moves by {gap:.3f}")
    factor = math.exp(min(abs(gap), 40.0))
    if (gap > 0) != (found[2] == "more"):
        return f"it becomes {'more' if gap > 0 else 'less'} likely"
    if "million" in found[1]:
        return unless(factor >= 1e6, f"{factor:.3g} times")
    return unless(prints(found[1], factor, 0.02 * factor), f"{factor:.3g} times")


def _costs(found: re.Match[str], said: Said) -> str | None:
    pairs = said.value.get("pairs") or said.value.get("rolls") or []
    gaps = [one["number"]["after"] - one["number"]["before"] for one in pairs if one.get("number")]
    wanted = [-gap if found[2] == "less" else gap for gap in gaps]
    return unless(
        any(prints(found[1], gap, 0.01 * abs(gap)) for gap in wanted) and number(found[1]) > 0,
        f"it costs {gaps} more",
    )


def _pixels(found: re.Match[str], said: Said) -> str | None:
    moved = [
        unpacked(one["before"]) != unpacked(one["after"])
        for one in said.value["pairs"]
        if one.get("after")
    ]
    # in any channel
    counts = [int((one.any(-1) if one.ndim > 2 else one).sum()) for one in moved]
    return unless(not counts or int(number(found[1])) in counts, f"{counts} differ")


def _pays(found: re.Match[str], said: Said) -> str | None:
    pairs = [
        (float(side["number"]["before"]), float(side["number"]["after"]))
        for side in said.value["sides"]
        if side.get("number")
    ]
    return unless(
        not pairs
        or any(
            prints(found[1], after, 1e-3) and prints(found[2] or found[1], before, 1e-3)
            for before, after in pairs
        ),
        f"the numbers are {pairs}",
    )


def _held(found: re.Match[str], said: Said) -> str | None:
    rows = [one for one in said.value["rows"] if not isinstance(one["before"], str | dict)]
    return unless(
        any(
            prints(found[1], one["after"] * one["scale"])
            and prints(found[2], one["before"] * one["scale"])
            for one in rows
        ),
        f"no row says {found[2]} → {found[1]}",
    )


def _side(found: re.Match[str], said: Said) -> str | None:
    """Check a model's name, its number now and, where it has changed, its number before."""
    one = next((side for side in said.value["sides"] if side["name"]["en"] == found[1]), None)
    if one is None:
        return f"no side is called {found[1]}"
    before, after = one["number"]["before"], one["number"]["after"]
    return unless(
        prints(found[2], after, 1e-4) and prints(found[3] or found[2], before, 1e-4),
        f"{found[1]} goes from {before} to {after}",
    )


def _quiet(found: re.Match[str], said: Said) -> str | None:
    """Check that no character changes by more than this many bits, in the text that is drawn."""
    drawn = [one for one in said.value["sides"] if one.get("before")]
    # of several models the sentence speaks of one
    named = [one for one in drawn if f"{one['name']['en']} pays" in plain(said.text)]
    moves = [
        np.abs(unpacked(one["after"]) - unpacked(one["before"])).max(initial=0)
        for one in named or drawn
    ]
    return unless(
        not moves or max(moves) <= number(found[1]) + HALF * last_digit(found[1]),
        f"one changes by {max(moves, default=0):.3f}",
    )


def _right(found: re.Match[str], said: Said) -> str | None:
    one = said.value["number"]
    was, now = one["before"] * one["scale"], one["after"] * one["scale"]
    return unless(
        prints(found[1], now) and prints(found[1], was), f"it goes from {was:.2f} to {now:.2f}"
    )


RULES: tuple[Rule, ...] = (
    ("change", rf"⟨([^⟩]*)⟩ ({N})(?: instead of ({N})| as before)", _side),
    (
        "change",
        rf"(?:no character changes by|nowhere is the difference) more than ({N}) bits",
        _quiet,
    ),
    ("change", rf"inputs ({N}) % of answers are right, as before", _right),
    ("change", rf"log-probability ({N}), before ({N})", _logp),
    ("change", rf"“([^”]*)” goes from a probability of ({N}) to ({N})", _word),
    (
        "change",
        (
            rf"the same translation (?:becomes ({N}|more than a million) times (more|less)"
            r" likely|stays as likely)"
        ),
        _factor,
    ),
    ("change", rf"costs (?:it )?({N}) (?:bits/dim|nats(?: per \w+)?) (more|less)", _costs),
    ("change", rf"({N}) of {N} pixels differ", _pixels),
    (
        "change",
        rf"pays ({N}) bits per character (?:instead of ({N})|for the same text, as before)",
        _pays,
    ),
    ("change", rf"text costs ({N}) bits per character(?: instead of ({N})|, as before)", _pays),
    ("change", rf"inputs ({N}) % of answers are right instead of ({N}) %", _held),
)
