"""Holds every printed sentence against the arrays that it speaks of. The oracle reads numbers and names out of the finished sentence.

A rule is (view, pattern, check): where the pattern is found, `check` computes the same from the view's arrays, and returns a complaint.
Rules for every view come first: no change below the rounding, no part larger than its whole, no number that differs between languages.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.saying import Said, Sayings, unpacked
from explorer.lab import Lab
from explorer.labels import NOUNS

Check = Callable[["re.Match[str]", Said], str | None]

SUPER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
N = r"[−-]?\d[\d,]*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴-⁹]+)?"
PLACE = r"“(.*?)” \((−?\d+)\)"
HALF = 0.500001  # of the last printed digit


def number(text: str) -> float:
    """A printed number: "1,370", "−0.82", "1.20·10⁻¹⁴"."""
    mantissa, _, power = text.replace(",", "").replace("−", "-").partition("·10")
    return float(mantissa) * 10.0 ** int(power.translate(SUPER) or 0)


def last_digit(text: str) -> float:
    """What one step of its last digit is worth: 0.01 for "0.57"."""
    mantissa, _, power = text.replace(",", "").partition("·10")
    return 10.0 ** (int(power.translate(SUPER) or 0) - len(mantissa.partition(".")[2]))


def prints(text: str, value: Any, slack: float = 0.0) -> bool:
    """May `value` be printed so? slack: by how much it may be off beside the rounding."""
    return abs(number(text) - float(value)) <= HALF * last_digit(text) + slack


def unless(fits: bool, complaint: str) -> str | None:
    """The complaint, unless it fits."""
    return None if fits else complaint


# ---------------------------------------------------------------- of every sentence
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
    (rf"(?<![\d.,·])({N}) of (?:the |all |its )?({N})(?![\d.]*·)(?= |,|;|\.|:|\))(?! semitones)", _part),
    (rf"({N})(?: after \w+ \d+)?, less than ({N})", _less),
    (rf"({N}) times (more|less) likely", _likely),
    (rf"({N}), (\d+)(?:st|nd|rd|th) of ({N}); it g\w+ most, ({N})", _order),
    (r"\b1 (?:[a-z]+ )?([a-z]+s)\b", _one),
)


# ---------------------------------------------------------------- attention
def _shown(said: Said) -> NDArray[np.float64] | None:
    """(query, key) the map that is drawn, NaN where nothing stands; None for a pooled one, of which sentences tell by exact rows."""
    kind = next((one for one in said.value["kinds"] if one["key"] == said.look["kind"]), None)
    if kind is None or (kind.get("pooled") or [1, 1]) != [1, 1] or "shown" not in said.files:
        return None
    drawn = np.asarray(said.files["shown"], float)
    if said.look["stat"] == "head":
        layer, head = map(int, said.look["head"].split("."))
        sent = unpacked(kind["weights"])[layer - 1, head - 1]
        drawn = np.where(np.isnan(drawn), np.nan, sent)
    return drawn


def _places(said: Said, name: str) -> tuple[list[str], int]:
    kind = next(one for one in said.value["kinds"] if one["key"] == said.look["kind"])
    return kind[name], int(kind.get("first_key") or 0) if name == "keys" else 0


def _at(said: Said, name: str, text: str, place: str) -> int:
    """The row or column that a sentence names; -1 where another token stands there."""
    tokens, first = _places(said, name)
    at = int(number(place)) - first
    if not 0 <= at < len(tokens):
        return -1
    return at if not text.isalnum() or tokens[at] == text else -1


def _pair(said: Said, query: Sequence[str], key: Sequence[str], weight: str) -> tuple[Any, int, int, str | None]:
    drawn = _shown(said)
    if drawn is None:
        return None, 0, 0, None
    i, j = _at(said, "queries", *query), _at(said, "keys", *key)
    if i < 0 or j < 0:
        return drawn, i, j, f"no query {query} or key {key} stands there"
    return drawn, i, j, unless(prints(weight, drawn[i, j], 2e-5), f"{weight} stands for {drawn[i, j]:.4f}")


def _gives(found: re.Match[str], said: Said) -> str | None:
    drawn, i, j, wrong = _pair(said, found.groups()[:2], found.groups()[2:4], found[5])
    if drawn is None or wrong:
        return wrong
    return _ranked(found[5], drawn[i], j, found[6], found[7], found[8], (found[9], found[10]), said, "keys") or (
        None
        if found[11] is None
        else unless(prints(found[11], np.nansum(drawn[i]), 1e-3), f"sum {found[11]} for {np.nansum(drawn[i]):.4f}")
    )


def _gets(found: re.Match[str], said: Said) -> str | None:
    drawn, i, j, wrong = _pair(said, found.groups()[3:5], found.groups()[:2], found[3])
    if drawn is None or wrong:
        return wrong
    return _ranked(found[3], drawn[:, j], i, found[6], found[7], found[8], (found[9], found[10]), said, "queries") or (
        None
        if found[11] is None
        else unless(prints(found[11], np.nansum(drawn[:, j]), 1e-3), f"sum {found[11]} for {np.nansum(drawn[:, j]):.4f}")
    )


def _ranked(
    weight: str, line: NDArray[Any], at: int, place: str | None, count: str | None, most: str | None, where: Any, said: Said, name: str
) -> str | None:
    """Is what a sentence says of the rank of one weight among others so? Without a rank it is said to be the largest."""
    if place is None:
        return unless(prints(weight, np.nanmax(line), 2e-5), f"{weight} is told as the most; that is {np.nanmax(line):.4f}")
    there = np.isfinite(line)
    rank = 1 + int((line[there] > line[at]).sum())
    best = _at(said, name, *where)
    if rank != int(place) or int(count or 0) != int(there.sum()):
        return f"place {place} of {count}, not {rank} of {there.sum()}"
    return unless(
        best >= 0 and prints(most or "", np.nanmax(line), 2e-5) and prints(most or "", line[best], 2e-5), f"most is {np.nanmax(line):.4f}"
    )


def _largest(found: re.Match[str], said: Said) -> str | None:
    drawn, _, _, wrong = _pair(said, found.groups()[2:4], found.groups()[4:6], found[2])
    if drawn is None or wrong:
        return wrong
    return unless(
        number(found[1]) == np.isfinite(drawn).sum() and prints(found[2], np.nanmax(drawn), 2e-5),
        f"the largest of {np.isfinite(drawn).sum()} is {np.nanmax(drawn):.4f}",
    )


RANK = rf"(?:, (\d+)(?:st|nd|rd|th) of ({N}); it g\w+ most, ({N}), \w+ {PLACE})?"
ATTENTION: tuple[tuple[str, Check], ...] = (
    (rf"query {PLACE} gives key {PLACE} ({N}){RANK}(?:; the row sums to ({N}))?", _gives),
    (rf"key {PLACE} gets ({N}) from query {PLACE}{RANK}(?:; all \S+ queries together give it ({N}))?", _gets),
    (rf"the largest of ({N}) weights is ({N}), from query {PLACE} to key {PLACE}", _largest),
)


# ---------------------------------------------------------------- thinking
def _ponder(found: re.Match[str], said: Said) -> str | None:
    total = unpacked(said.value["totals"])[int(found[2]) - 1, said.look["pos"]]
    return unless(prints(found[1], total, 1e-4), f"the sum after {found[2]} is {total:.4f}")


def _stopped(found: re.Match[str], said: Said) -> str | None:
    """Who has stopped after a step: those whose sum has reached 1 by then, in the run's own arrays."""
    totals = unpacked(said.value["totals"])
    gone = int((totals[said.look["step"] - 1] >= 1 - 1e-6).sum())
    return unless(found[1] == ("none" if not gone else str(gone)), f"{gone} have stopped, not {found[1]}")


def _hardest(found: re.Match[str], said: Said) -> str | None:
    rows = {str(row[0]): float(row[1]) for row in said.table.get("rows", [])}
    most = max(rows.values(), default=0.0)
    return unless(prints(found[2], most, 0.005) and prints(found[2], rows.get(found[1], -1), 0.005), f"most is {most:.3f} of {rows}")


# ---------------------------------------------------------------- texts
def _cost(found: re.Match[str], said: Said) -> str | None:
    model = next(one for one in said.value["models"] if one["key"] == said.look.get("model", one["key"]))
    bits = unpacked(model["nats"])[int(number(found[2]))] / math.log(2)
    return unless(prints(found[3], bits, 0.006 * bits + 1e-3), f"it cost {bits:.3f} bits")


def _knows(found: re.Match[str], said: Said) -> str | None:
    position = int(said.look["pos"][-1]) if said.look["pos"] else None
    return unless(position is None or number(found[1]) + number(found[2]) == position, f"{found[1]} + {found[2]} is not {position}")


def _whole(found: re.Match[str], said: Said) -> str | None:
    parts = number(found[1]) + number(found[2])
    return unless(abs(parts - 1) < 0.011, f"{found[1]} and {found[2]} are the whole")


def _kept(found: re.Match[str], said: Said) -> str | None:
    if ">" in found[0] or "<" in found[0]:
        return None
    return unless(abs(number(found[1]) + number(found[2]) - 100) < 0.06, f"{found[1]} % and {found[2]} % are the whole")


def _spans(found: re.Match[str], said: Said) -> str | None:
    share = 100 * number(found[1]) / number(found[3])
    return unless(abs(number(found[2]) - share) < 1.0, f"{found[1]} of {found[3]} is {share:.1f} %")


# ---------------------------------------------------------------- pictures, notes, vectors
def _all(found: re.Match[str], _said: Said) -> str | None:
    all_ = number(found[1])
    for known, end in re.findall(rf"({N}) in [\w ]+?(, all there are)?(?: and |\.|$)", found[2]):
        if (number(known) == all_) != bool(end) or number(known) > all_:
            return f"{known} of {found[1]}{end}"
    return None


def _unit(found: re.Match[str], said: Said) -> str | None:
    channels = next(one["channels"] for one in said.value["patterns"] if one["key"] == said.look["pattern"])
    return unless(channels == 1, f"counts {found[1]} pixels where levels of {channels} channels are counted")


def _rows(found: re.Match[str], said: Said) -> str | None:
    part = next(one for one in said.value["maps"] if one["label"]["en"] == found[1])
    means = unpacked(part["bits"]).mean(1)
    fits = prints(found[3], means.max(), 0.03) and prints(found[5], means.min(), 0.03)
    own = prints(found[3], means[int(found[2])], 0.03) and prints(found[5], means[int(found[4])], 0.03)
    return unless(fits and own, f"rows cost {means.min():.2f} to {means.max():.2f}, {found[2]} {means[int(found[2])]:.2f}")


def _reads(found: re.Match[str], said: Said) -> str | None:
    best = min(said.value["maps"], key=lambda one: float(one["mean"]))
    return unless(best["label"]["en"] == found[1] and prints(found[2], best["mean"]), f"{best['label']['en']} reads it at {best['mean']}")


def _note(found: re.Match[str], said: Said) -> str | None:
    first = said.table["rows"][0] if said.table["rows"] else None
    if first is None:
        return None
    return unless(first[1] == found[1] and first[4] == found[2], f"the table begins with {first}")


def _listens(found: re.Match[str], said: Said) -> str | None:
    model = next(one for one in said.value["models"] if one["key"] == said.look["model"])
    layer, head = map(int, said.look["head"].split("."))
    mean = unpacked(model["distance"])[layer - 1, head - 1]
    return unless(prints(found[1], mean.max(), 0.003), f"the largest mean is {mean.max():.4f}")


def _products(found: re.Match[str], said: Said) -> str | None:
    products = np.asarray(said.files["products"], float)
    up, down = products[products > 0], products[products < 0]
    fits = (int(found[1]), int(found[2]), int(found[4])) == (len(products), 0, 0) or (
        int(found[2]) == len(products) and int(found[1]) == len(up) and int(found[4]) == len(down)
    )
    sums = prints(found[3], up.sum(), 0.005) and prints(found[5], -down.sum(), 0.005)
    return unless(
        fits and sums and prints(found[6], products.max(), 0.005), f"{len(up)} add {up.sum():.3f}, {len(down)} take {-down.sum():.3f}"
    )


def _softmax(found: re.Match[str], said: Said) -> str | None:
    weights = np.asarray(said.files["weights"], float)
    there = weights[np.isfinite(weights)]
    at = said.look["col"]
    rank = 1 + int((there > weights[at]).sum())
    return unless(prints(found[1], weights[at], 1e-4) and int(found[4]) == rank, f"weight {weights[at]:.4f}, place {rank}")


def _terms(found: re.Match[str], _said: Said) -> str | None:
    parts = re.findall(r"([+−]?) ?(\d+\.\d+)", found[1])
    total = sum(-number(text) if sign == "−" else number(text) for sign, text in parts)
    return unless(abs(total - number(found[2])) <= 0.005 * (len(parts) + 1) + 1e-6, f"{found[1]} is {total:.2f}, not {found[2]}")


# ---------------------------------------------------------------- figures of Python
def _table(found: re.Match[str], said: Said) -> str | None:
    """The words that bear most on the last states."""
    rows = said.table["rows"]
    for column, (word, place, share) in enumerate((found.groups()[:3], found.groups()[3:]), 1):
        best = max(rows, key=lambda row: float(row[column]))
        if best[0] != f"{word}·{place}" and float(best[column]) > float(rows[int(place)][column]) + 1e-9:
            return f"{best[0]} bears most, {best[column]}"
        if not prints(share, best[column], 1e-4):
            return f"its share is {best[column]}"
    return None


def _first_half(found: re.Match[str], said: Said) -> str | None:
    shares = [float(row[1]) for row in said.table["rows"]]
    sums = [sum(shares[:many]) for many in (len(shares) // 2, (len(shares) + 1) // 2)]
    return unless(any(prints(found[1], one, 1e-3) for one in sums), f"the first half keeps {sums}")


def _roles(found: re.Match[str], said: Said) -> str | None:
    asker, head, key, weight = found.groups()
    row = next((one for one in said.table["rows"] if asker in one[0]["en"] and f"head {head}" in one[0]["en"]), None)
    if row is None:
        return f"no row of {asker}, head {head}"
    numbers = [float(one) for one in row[1:]]
    best = max(numbers)
    at = [column["en"] for column in said.table["columns"][1:]].index(key)
    return unless(
        prints(weight, best, 1e-3) and prints(weight, numbers[at], 1e-3), f"{asker} looks most with {best:.3f}, at {key} {numbers[at]:.3f}"
    )


def _times(found: re.Match[str], _said: Said) -> str | None:
    ratio = number(found[2]) / number(found[1])
    return unless(abs(number(found[3]) / ratio - 1) < 0.03, f"{found[2]} / {found[1]} is {ratio:.2f}, not {found[3]}")


def _cells(found: re.Match[str], said: Said) -> str | None:
    """Every number with a fraction stands in the table, or is the mean or an end of one of its columns."""
    rows = [[float(cell) if isinstance(cell, int | float) else math.nan for cell in row] for row in said.table["rows"]]
    cells = np.array(rows, float)
    columns = [column[np.isfinite(column)] for column in cells.T]
    known = np.concatenate([cells[np.isfinite(cells)], *([c.mean(), c.max(), c.min()] for c in columns if len(c))])
    missing = [
        text
        for text in re.findall(rf"(?<!power )(?<![\d.]){N}", found[0])
        if "." in text and not any(prints(text, x, 6e-4 * abs(x)) for x in known)
    ]
    return unless(not missing, f"{missing} stand nowhere in the table")


def _ends(found: re.Match[str], said: Said) -> str | None:
    column = [float(row[1]) for row in said.table["rows"]]
    return unless((column[-1] < column[0]) == (found[1] == "falls"), f"it goes from {column[0]} to {column[-1]}")


def _half(found: re.Match[str], said: Said) -> str | None:
    model = next(one for one in said.value["models"] if one["key"] == said.look.get("model", one["key"]))
    layer, head = map(int, found[1].split("·"))
    weights = unpacked(model["profiles"])
    profile = weights[layer - 1, head - 1] if weights.ndim == 3 else weights[(layer - 1) * model["heads"] + head - 1]
    edges, total = model["edges"], np.cumsum(profile) / profile.sum()
    band = int(np.argmax(total >= 0.5))
    return unless(edges[band] - 1 <= number(found[2]) <= edges[band + 1], f"half lies within {edges[band]} to {edges[band + 1]}")


def _total(found: re.Match[str], said: Said) -> str | None:
    return unless(
        prints(found[1], sum(said.value["logp"])) and int(found[2]) == len(said.value["logp"]), f"log P is {sum(said.value['logp']):.3f}"
    )


def _chance(found: re.Match[str], said: Said) -> str | None:
    return unless(
        prints(found[3], math.exp(said.value["logp"][int(found[2])]), 1e-4), f"p is {math.exp(said.value['logp'][int(found[2])]):.4f}"
    )


def _worst(found: re.Match[str], said: Said) -> str | None:
    least = int(np.argmin(said.value["logp"]))
    return unless(least == int(found[2]), f"the largest is at {least}")


def _hypotheses(found: re.Match[str], _said: Said) -> str | None:
    of, *parts = map(number, found.groups())
    return unless(of == sum(parts), f"{parts} are not {of} together")


# ---------------------------------------------------------------- changes
def _logp(found: re.Match[str], said: Said) -> str | None:
    one = said.value["number"]
    return unless(
        prints(found[1], one["after"]) and prints(found[2], one["before"]), f"the number says {one['before']:.3f} → {one['after']:.3f}"
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
    return unless(any(prints(found[1], gap, 0.01 * abs(gap)) for gap in wanted) and number(found[1]) > 0, f"it costs {gaps} more")


def _pixels(found: re.Match[str], said: Said) -> str | None:
    moved = [unpacked(one["before"]) != unpacked(one["after"]) for one in said.value["pairs"] if one.get("after")]
    counts = [int((one.any(-1) if one.ndim > 2 else one).sum()) for one in moved]  # in whatever channel
    return unless(not counts or int(number(found[1])) in counts, f"{counts} differ")


def _pays(found: re.Match[str], said: Said) -> str | None:
    pairs = [(float(side["number"]["before"]), float(side["number"]["after"])) for side in said.value["sides"] if side.get("number")]
    return unless(
        not pairs or any(prints(found[1], after, 1e-3) and prints(found[2] or found[1], before, 1e-3) for before, after in pairs),
        f"the numbers are {pairs}",
    )


def _held(found: re.Match[str], said: Said) -> str | None:
    rows = [one for one in said.value["rows"] if not isinstance(one["before"], str | dict)]
    return unless(
        any(prints(found[1], one["after"] * one["scale"]) and prints(found[2], one["before"] * one["scale"]) for one in rows),
        f"no row says {found[2]} → {found[1]}",
    )


def _side(found: re.Match[str], said: Said) -> str | None:
    """A model's name, its number now and, where it is not as before, its number before."""
    one = next((side for side in said.value["sides"] if side["name"]["en"] == found[1]), None)
    if one is None:
        return f"no side is called {found[1]}"
    before, after = one["number"]["before"], one["number"]["after"]
    return unless(prints(found[2], after, 1e-4) and prints(found[3] or found[2], before, 1e-4), f"{found[1]} goes from {before} to {after}")


def _quiet(found: re.Match[str], said: Said) -> str | None:
    """No character changes by more than so many bits, in the text that is drawn."""
    drawn = [one for one in said.value["sides"] if one.get("before")]
    named = [one for one in drawn if f"{one['name']['en']} pays" in plain(said.text)]  # of several models the sentence speaks of one
    moves = [np.abs(unpacked(one["after"]) - unpacked(one["before"])).max(initial=0) for one in named or drawn]
    return unless(not moves or max(moves) <= number(found[1]) + HALF * last_digit(found[1]), f"one changes by {max(moves, default=0):.3f}")


def _right(found: re.Match[str], said: Said) -> str | None:
    one = said.value["number"]
    was, now = one["before"] * one["scale"], one["after"] * one["scale"]
    return unless(prints(found[1], now) and prints(found[1], was), f"it goes from {was:.2f} to {now:.2f}")


def _stands(found: re.Match[str], said: Said) -> str | None:
    """The fall of a chain "A 1.000 = B 1.000 > C 0.999" is that of its numbers."""
    chain = re.findall(r"(\d\.\d+)(?: ([>=]))?", found[0])
    wrong = [f"{a} {sign} {b}" for (a, sign), (b, _) in itertools.pairwise(chain) if sign and (number(a) > number(b)) != (sign == ">")]
    return unless(not wrong, f"{wrong}")


def _letters(found: re.Match[str], said: Said) -> str | None:
    kept = {one["name"]["en"]: one for one in said.value["runs"]}
    at = int(found[1]) - 1
    for name, letter, chance in re.findall(rf"([\w -]+?) “(.)”, p of “.” (> ?0\.999|{N})", found[2]):
        one = kept.get(name.removeprefix(", ").strip())
        if one is None or one["said"][at] != {"␠": " ", "⏎": "\n"}.get(letter, letter):
            return f"{name} says {one and one['said'][at]}"
        p = math.exp(-float(unpacked(one["nats"])[at]))
        if not (p > 0.999 if ">" in chance else prints(chance, p, 1e-4)):
            return f"{name} gives it {p:.4f}"
    return None


def _bucket(found: re.Match[str], said: Said) -> str | None:
    model = next(one for one in said.value["models"] if one["key"] == said.look.get("model", said.value["pick"]["model"]))
    return unless(int(found[2]) == model["kinds"] and 0 <= int(found[1]) < model["kinds"], f"{model['kinds']} buckets")


def _pairs_seen(found: re.Match[str], said: Said) -> str | None:
    n, of, share = number(found[1]), number(found[2]), number(found[3])
    return unless(abs(100 * n / of - share) <= HALF * last_digit(found[3]) + 1e-9, f"{n:g} of {of:g} is {100 * n / of:.2f} %")


def _block(found: re.Match[str], said: Said) -> str | None:
    """A block of a pooled map: the number that is drawn there is in the pooled map of that head."""
    kind = next(one for one in said.value["kinds"] if one["key"] == said.look["kind"])
    if said.look["stat"] != "head" or (kind.get("pooled") or [1, 1]) == [1, 1]:
        return None
    layer, head = map(int, said.look["head"].split("."))
    drawn = unpacked(kind["weights"])[layer - 1, head - 1]
    return unless(bool((np.abs(drawn - number(found[1])) <= 0.5 * last_digit(found[1]) + 0.005).any()), f"no block holds {found[1]}")


def _paper(found: re.Match[str], said: Said) -> str | None:
    operations = [float(row[2]) for row in said.table["rows"]]
    missing = [text for text in found.groups() if not any(prints(text, one, 1e-3 * one) for one in operations)]
    return unless(not missing, f"{missing} are not among {operations}")


RULES: tuple[tuple[str, str, Check], ...] = (
    *(("attention", pattern, check) for pattern, check in ATTENTION),
    ("ponder", rf"has added up ({N}) after \w+ (\d+)", _ponder),
    ("ponder", rf"had reached ({N}) after \w+ (\d+)", _ponder),
    ("ponder", r"; (\w+) of \d+ ha(?:s|ve) stopped", _stopped),
    ("difficulty", rf"most with (\d+) \w+: ({N})", _hardest),
    ("reading", rf"Character “(.)” \(({N})\) cost ({N}) bits", _cost),
    ("segments", rf"know of characters from ({N}) on: ({N}) back", _knows),
    ("masks", rf"looks ({N}) back[^:]*: ({N}) % of ({N})", _spans),
    ("missed", rf"keeps? ({N}) %.*?({N}) % ", _kept),
    ("roll", rf"all notes get ({N}), .*? ({N})\.", _whole),
    ("roll", rf"gives ([A-G][♯♭]?\d) \(.*?\) ({N}):", _note),
    ("heads", rf"back: mean weight ({N})", _listens),
    ("spans", rf"Of the ({N}) (?:pixels?|values?) made before .*? lets? it know (.*?)\. Each", _all),
    ("spans", rf"Of the ({N}) pixels? made", _unit),
    ("surprise", rf"For (\S+), row (\d+) costs most, ({N}) bits a pixel; row (\d+) costs ({N})", _rows),
    ("surprise", rf"(\S+) reads this picture best: ({N})", _reads),
    (
        "weight",
        rf": (\d+) of (\d+) products are positive and add ({N}), (\d+) are negative and take ({N}); the largest is ({N})",
        _products,
    ),
    ("weight", rf"that is the weight ({N}) of key {PLACE}, (\d+)", _softmax),
    ("terms", rf"back: ([^=]*) = ({N})", _terms),
    ("remains", rf"Reading on, the last state depends most on {PLACE} \(({N}) .*?reading back, on {PLACE} \(({N})\)", _table),
    ("remains", rf"were read first keep ({N})", _first_half),
    ("roles", rf"from (\S+) head (\S+) looks most at (\S+), ({N})", _roles),
    *((view, r".+", _cells) for view in ("hardens", "rows", "slopes", "errors")),
    ("errors", r"The largest error (falls|rises)", _ends),
    ("reach", rf"Half of what head (\S+) looks at lies at most ({N})", _half),
    ("forced", rf"log P ({N}) for (\d+) pieces", _total),
    ("forced", rf"(?:expected|surprise is) {PLACE}(?:, with|:) ({N})", _chance),
    ("forced", rf"largest surprise is {PLACE}", _worst),
    ("beam", rf"of ({N}) hypotheses ({N}) were pruned, ({N}) finished, and ({N}) stayed", _hypotheses),
    ("beam", rf": ({N}) hypotheses so far, ({N}) pruned, ({N}) finished, ({N}) still", _hypotheses),
    ("clock", rf"self-attention ({N}) ms, recurrence ({N}) ms; [^,]*, ({N}) × the time", _times),
    ("change", rf"⟨([^⟩]*)⟩ ({N})(?: instead of ({N})| as before)", _side),
    ("change", rf"no character changes by more than ({N}) bits", _quiet),
    ("change", rf"inputs ({N}) % of answers are right, as before", _right),
    ("rounds", rf"(?:here|in print) (?:[^=>;.]+? {N}(?: [=>] )?)+", _stands),
    ("spelling", r"Letter (\d+) is “.”, said at position \d+: (.*)\.", _letters),
    ("hashing", r"bucket (?:\d+ \+ \d+ = )?(\d+) of (\d+)\.", _bucket),
    ("hashing", rf"({N}) of ({N}) pairs with an earlier position were computed in .*?, ({N}) %", _pairs_seen),
    ("attention", rf"holds ({N}): the mean over its queries", _block),
    ("paper", rf"for ({N}) operations; recurrence needs ({N}) .*? convolution ({N}) .*? keys ({N})\.", _paper),
    ("change", rf"log-probability ({N}), before ({N})", _logp),
    ("change", rf"“([^”]*)” goes from a probability of ({N}) to ({N})", _word),
    ("change", rf"the same translation (?:becomes ({N}|more than a million) times (more|less) likely|stays as likely)", _factor),
    ("change", rf"costs (?:it )?({N}) (?:bits/dim|nats(?: per \w+)?) (more|less)", _costs),
    ("change", rf"({N}) of {N} pixels differ", _pixels),
    ("change", rf"pays ({N}) bits per character (?:instead of ({N})|for the same text, as before)", _pays),
    ("change", rf"inputs ({N}) % of answers are right instead of ({N}) %", _held),
)


def plain(text: str) -> str:
    """A sentence without the marks of its colours; the name of what came out ⟦o:…⟧ stays marked where a number follows it."""
    text = re.sub(rf"⟦o:([^⟧]*)⟧(?= {N}(?: instead| as before))", r"⟨\1⟩", text)
    return re.sub(r"⟦\w:|⟧|[⁨⁩]", "", text)


def contradictions(said: Said) -> Iterator[str]:
    """What a sentence says against its figure, a complaint each."""
    text = plain(said.text)
    rules = [*EVERY, *((pattern, check) for view, pattern, check in RULES if view == said.view.split(".")[0])]
    for pattern, check in rules:
        for found in re.finditer(pattern, text, re.S):
            wrong = check(found, said)
            if wrong:
                yield f"{said.lab} {said.view}: {wrong}: “{text}”"
    if said.chinese:
        english, chinese = (sorted(re.findall(r"\d+\.\d+", re.sub(r"⟦.*?⟧|“.*?”", "", one))) for one in (said.text, said.chinese))
        if english != chinese:
            yield f"{said.lab} {said.view}: in Chinese the numbers are {chinese}, not {english}"


def measured(inputs: int, labs: Sequence[Lab], seed: int = 0) -> dict[str, Any]:
    """So many different inputs of each lab: {"sentences", "unread": views of which no rule of their own speaks, "found": complaints}."""
    heard, unread, found = 0, dict[str, str](), list[str]()
    with Sayings() as sayings:
        for lab in labs:
            for every in sayings.accepted(lab, inputs, seed=seed):
                heard += len(every)
                for said in every:
                    found += contradictions(said)
                    if not told(said):
                        unread.setdefault(f"{lab.slug} {said.view}", said.text)
    return {"sentences": heard, "unread": unread, "found": found}


def told(said: Said) -> bool:
    """Does a rule of its own speak of this sentence?"""
    text = plain(said.text)
    return any(view == said.view.split(".")[0] and re.search(pattern, text, re.S) for view, pattern, _ in RULES)
