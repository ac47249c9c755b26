"""Rules of figures that Python draws, and of tables."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np

from tests.support.truth.printed import HALF, PLACE, N, Rule, last_digit, number, prints, unless
from tests.support.truth.saying import Said, unpacked


# ---------------------------------------------------------------- figures of Python
def _table(found: re.Match[str], said: Said) -> str | None:
    """Check the words that have the most influence on the last states."""
    rows = said.table["rows"]
    for column, (word, place, share) in enumerate((found.groups()[:3], found.groups()[3:]), 1):
        best = max(rows, key=lambda row: float(row[column]))
        if (
            best[0] != f"{word}·{place}"
            and float(best[column]) > float(rows[int(place)][column]) + 1e-9
        ):
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
    row = next(
        (
            one
            for one in said.table["rows"]
            if asker in one[0]["en"] and f"head {head}" in one[0]["en"]
        ),
        None,
    )
    if row is None:
        return f"no row of {asker}, head {head}"
    numbers = [float(one) for one in row[1:]]
    best = max(numbers)
    at = [column["en"] for column in said.table["columns"][1:]].index(key)
    return unless(
        prints(weight, best, 1e-3) and prints(weight, numbers[at], 1e-3),
        f"{asker} looks most with {best:.3f}, at {key} {numbers[at]:.3f}",
    )


def _times(found: re.Match[str], _said: Said) -> str | None:
    ratio = number(found[2]) / number(found[1])
    return unless(
        abs(number(found[3]) / ratio - 1) < 0.03,
        f"{found[2]} / {found[1]} is {ratio:.2f}, not {found[3]}",
    )


def _cells(found: re.Match[str], said: Said) -> str | None:
    """Check that every number with a fraction stands in the table, or is the mean or an end of one
    of its columns."""
    rows = [
        [float(cell) if isinstance(cell, int | float) else math.nan for cell in row]
        for row in said.table["rows"]
    ]
    cells = np.array(rows, float)
    columns = [column[np.isfinite(column)] for column in cells.T]
    known = np.concatenate(
        [cells[np.isfinite(cells)], *([c.mean(), c.max(), c.min()] for c in columns if len(c))]
    )
    missing = [
        text
        for text in re.findall(rf"(?<!power )(?<![\d.]){N}", found[0])
        if "." in text and not any(prints(text, x, 6e-4 * abs(x)) for x in known)
    ]
    return unless(not missing, f"{missing} stand nowhere in the table")


def _ends(found: re.Match[str], said: Said) -> str | None:
    column = [float(row[1]) for row in said.table["rows"]]
    return unless(
        (column[-1] < column[0]) == (found[1] == "falls"),
        f"it goes from {column[0]} to {column[-1]}",
    )


def _half(found: re.Match[str], said: Said) -> str | None:
    model = next(
        one for one in said.value["models"] if one["key"] == said.look.get("model", one["key"])
    )
    layer, head = map(int, found[1].split("·"))
    weights = unpacked(model["profiles"])
    profile = (
        weights[layer - 1, head - 1]
        if weights.ndim == 3
        else weights[(layer - 1) * model["heads"] + head - 1]
    )
    edges, total = model["edges"], np.cumsum(profile) / profile.sum()
    band = int(np.argmax(total >= 0.5))
    return unless(
        edges[band] - 1 <= number(found[2]) <= edges[band + 1],
        f"half lies within {edges[band]} to {edges[band + 1]}",
    )


def _total(found: re.Match[str], said: Said) -> str | None:
    return unless(
        prints(found[1], sum(said.value["logp"])) and int(found[2]) == len(said.value["logp"]),
        f"log P is {sum(said.value['logp']):.3f}",
    )


def _chance(found: re.Match[str], said: Said) -> str | None:
    return unless(
        prints(found[3], math.exp(said.value["logp"][int(found[2])]), 1e-4),
        f"p is {math.exp(said.value['logp'][int(found[2])]):.4f}",
    )


def _worst(found: re.Match[str], said: Said) -> str | None:
    least = int(np.argmin(said.value["logp"]))
    return unless(least == int(found[2]), f"the largest is at {least}")


def _hypotheses(found: re.Match[str], _said: Said) -> str | None:
    of, *parts = map(number, found.groups())
    return unless(of == sum(parts), f"{parts} are not {of} together")


def _stands(found: re.Match[str], said: Said) -> str | None:
    """Check that the fall of a chain "A 1.000 = B 1.000 > C 0.999" is that of its numbers."""
    chain = re.findall(r"(\d\.\d+)(?: ([>=]))?", found[0])
    wrong = [
        f"{a} {sign} {b}"
        for (a, sign), (b, _) in itertools.pairwise(chain)
        if sign and (number(a) > number(b)) != (sign == ">")
    ]
    return unless(not wrong, f"{wrong}")


def _letters(found: re.Match[str], said: Said) -> str | None:
    kept = {one["name"]["en"]: one for one in said.value["runs"]}
    at = int(found[1]) - 1
    for name, letter, chance in re.findall(
        rf"([\w -]+?) “(.)”, p of “.” (> ?0\.999|{N})", found[2]
    ):
        one = kept.get(name.removeprefix(", ").strip())
        if one is None or one["said"][at] != {"␣": " ", "⏎": "\n"}.get(letter, letter):
            return f"{name} says {one and one['said'][at]}"
        p = math.exp(-float(unpacked(one["nats"])[at]))
        if not (p > 0.999 if ">" in chance else prints(chance, p, 1e-4)):
            return f"{name} gives it {p:.4f}"
    return None


def _bucket(found: re.Match[str], said: Said) -> str | None:
    model = next(
        one
        for one in said.value["models"]
        if one["key"] == said.look.get("model", said.value["pick"]["model"])
    )
    return unless(
        int(found[2]) == model["kinds"] and 0 <= int(found[1]) < model["kinds"],
        f"{model['kinds']} buckets",
    )


def _pairs_seen(found: re.Match[str], said: Said) -> str | None:
    n, of, share = number(found[1]), number(found[2]), number(found[3])
    return unless(
        abs(100 * n / of - share) <= HALF * last_digit(found[3]) + 1e-9,
        f"{n:g} of {of:g} is {100 * n / of:.2f} %",
    )


def _block(found: re.Match[str], said: Said) -> str | None:
    """Check a block of a pooled map: its drawn number is in the pooled map of that head."""
    kind = next(one for one in said.value["kinds"] if one["key"] == said.look["kind"])
    if said.look["stat"] != "head" or (kind.get("pooled") or [1, 1]) == [1, 1]:
        return None
    layer, head = map(int, said.look["head"].split("."))
    drawn = unpacked(kind["weights"])[layer - 1, head - 1]
    return unless(
        bool((np.abs(drawn - number(found[1])) <= 0.5 * last_digit(found[1]) + 0.005).any()),
        f"no block holds {found[1]}",
    )


def _paper(found: re.Match[str], said: Said) -> str | None:
    operations = [float(row[2]) for row in said.table["rows"]]
    missing = [
        text
        for text in found.groups()
        if not any(prints(text, one, 1e-3 * one) for one in operations)
    ]
    return unless(not missing, f"{missing} are not among {operations}")


def _whole(found: re.Match[str], said: Said) -> str | None:
    """Check that every number of these stands in the table."""
    known = [
        float(cell) for row in said.table["rows"] for cell in row if isinstance(cell, int | float)
    ]
    missing = [
        text for text in found.groups() if not any(prints(text, one, 1e-3 * one) for one in known)
    ]
    return unless(not missing, f"{missing} are not in the table")


def _likeliest(found: re.Match[str], said: Said) -> str | None:
    rows = [(float(row[0]), float(row[1])) for row in said.table["rows"]]
    length, p = max(rows, key=lambda row: row[1])
    return unless(
        prints(found[2], p, 1e-4) and (number(found[1]) == length or (number(found[1]), p) in rows),
        f"{length:g} has {p:.3f}",
    )


def _largest(found: re.Match[str], said: Said) -> str | None:
    most = max(abs(float(row[2])) for row in said.table["rows"])
    return unless(prints(found[1], most, 1e-5), f"the largest is {most:.4f}")


RULES: tuple[Rule, ...] = (
    (
        "remains",
        (
            rf"Reading forwards, the last state depends most on {PLACE} \(({N}) .*?reading"
            rf" backwards, on {PLACE} \(({N})\)"
        ),
        _table,
    ),
    ("remains", rf"first half of the words accounts for ({N})", _first_half),
    ("roles", rf"from (\S+) head (\S+) looks most at (\S+), ({N})", _roles),
    *((view, r".+", _cells) for view in ("hardens", "rows", "slopes", "errors")),
    (
        "quality",
        rf"BLEU goes from {N} to {N} with \S+ attention and from {N} to {N} without",
        _cells,
    ),
    ("quality", rf": {N} BLEU with \d+ pass(?:es)?, {N} with \d+", _cells),
    (
        "sum",
        rf"the score is highest for “.*?”, {N}; the softmax turns it into a weight of {N} .*?"
        rf" it contributes {N}",
        _cells,
    ),
    (
        "distance",
        rf"a word's influence goes from {N} to {N} with .*? from {N} to {N} with",
        _cells,
    ),
    (
        "far",
        rf"through ({N}) steps of recurrence, ({N}) layers of convolution or ({N}) of attention",
        _whole,
    ),
    ("scores", rf"dot products spread by {N}, .*? additive scores by {N}", _cells),
    ("filtered", rf"the filter's own results reach ({N})\.", _largest),
    ("each", rf"at its own shift {N}\.", _cells),
    ("lengths", rf"the likeliest length is (\d+), with probability ({N})", _likeliest),
    (
        "neighbours",
        rf"their likeliest pair is “.*?”, {N}\. One after the other it is “.*?”, {N}\.",
        _cells,
    ),
    ("errors", r"The largest error (falls|rises)", _ends),
    ("reach", rf"Half of the weight of head (\S+) lies within ({N})", _half),
    ("forced", rf"log P ({N}) for (\d+) pieces", _total),
    ("forced", rf"(?:expected|surprise is) {PLACE}(?:, with|:) ({N})", _chance),
    ("forced", rf"largest surprise is {PLACE}", _worst),
    (
        "beam",
        rf"of ({N}) hypotheses ({N}) were pruned, ({N}) finished, and ({N}) stayed",
        _hypotheses,
    ),
    (
        "beam",
        (
            rf"of ({N}) hypotheses ({N}) were pruned, ({N}) finished, ({N}) w\w+ cut off at \d+"
            rf" pieces, and ({N}) stayed"
        ),
        _hypotheses,
    ),
    ("beam", rf": ({N}) hypotheses so far, ({N}) pruned, ({N}) finished, ({N}) still", _hypotheses),
    ("clock", rf"self-attention ({N}) ms, recurrence ({N}) ms; [^,]*, ({N}) × the time", _times),
    ("rounds", rf"(?:here|in print) (?:[^=>;.]+? {N}(?: [=>] )?)+", _stands),
    ("spelling", r"Letter (\d+) is “.”, said at position \d+: (.*)\.", _letters),
    ("hashing", r"bucket (?:\d+ \+ \d+ = )?(\d+) of (\d+)\.", _bucket),
    (
        "hashing",
        rf"({N}) of ({N}) pairs with an earlier position were computed in .*?, ({N}) %",
        _pairs_seen,
    ),
    ("attention", rf"holds ({N}): the mean over its queries", _block),
    (
        "paper",
        rf"for ({N}) operations; recurrence needs ({N}) .*? convolution ({N}) .*? keys ({N})\.",
        _paper,
    ),
)
