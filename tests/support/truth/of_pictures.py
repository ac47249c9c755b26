"""Rules of pictures that a script draws: attention, adaptive computation, texts, pixels, notes,
vectors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.truth.printed import PLACE, Check, N, Rule, number, prints, unless
from tests.support.truth.saying import Said, unpacked


# ---------------------------------------------------------------- attention
def _shown(said: Said) -> NDArray[np.float64] | None:
    """Return the drawn map, (query, key), NaN for empty cells; None for a pooled one, whose
    sentences speak of exact rows."""
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
    """Return the row or column that a sentence names; -1 where another token stands there."""
    tokens, first = _places(said, name)
    at = int(number(place)) - first
    if not 0 <= at < len(tokens):
        return -1
    return at if not text.isalnum() or tokens[at] == text else -1


def _pair(
    said: Said, query: Sequence[str], key: Sequence[str], weight: str
) -> tuple[Any, int, int, str | None]:
    drawn = _shown(said)
    if drawn is None:
        return None, 0, 0, None
    i, j = _at(said, "queries", *query), _at(said, "keys", *key)
    if i < 0 or j < 0:
        return drawn, i, j, f"no query {query} or key {key} stands there"
    return (
        drawn,
        i,
        j,
        unless(prints(weight, drawn[i, j], 2e-5), f"{weight} stands for {drawn[i, j]:.4f}"),
    )


def _gives(found: re.Match[str], said: Said) -> str | None:
    return _along(
        found,
        said,
        _pair(said, found.groups()[:2], found.groups()[2:4], found[5]),
        found[5],
        "keys",
    )


def _gets(found: re.Match[str], said: Said) -> str | None:
    return _along(
        found,
        said,
        _pair(said, found.groups()[3:5], found.groups()[:2], found[3]),
        found[3],
        "queries",
    )


def _along(
    found: re.Match[str], said: Said, pair: tuple[Any, int, int, str | None], weight: str, name: str
) -> str | None:
    """Check rank and sum of a weight, among all keys of its query or all queries of its key."""
    drawn, i, j, wrong = pair
    if drawn is None or wrong:
        return wrong
    line, at = (drawn[i], j) if name == "keys" else (drawn[:, j], i)
    ranked = _ranked(
        weight, line, at, found[6], found[7], found[8], (found[9], found[10]), said, name
    )
    fits = found[11] is None or prints(found[11], np.nansum(line), 1e-3)
    return ranked or unless(fits, f"sum {found[11]} for {np.nansum(line):.4f}")


def _ranked(
    weight: str,
    line: NDArray[Any],
    at: int,
    place: str | None,
    count: str | None,
    most: str | None,
    where: Any,
    said: Said,
    name: str,
) -> str | None:
    """Check the rank that a sentence gives one weight among others. Without a rank the weight must
    be the largest."""
    if place is None:
        return unless(
            prints(weight, np.nanmax(line), 2e-5),
            f"{weight} is told as the most; that is {np.nanmax(line):.4f}",
        )
    there = np.isfinite(line)
    rank = 1 + int((line[there] > line[at]).sum())
    best = _at(said, name, *where)
    if rank != int(place) or int(count or 0) != int(there.sum()):
        return f"place {place} of {count}, not {rank} of {there.sum()}"
    return unless(
        best >= 0
        and prints(most or "", np.nanmax(line), 2e-5)
        and prints(most or "", line[best], 2e-5),
        f"most is {np.nanmax(line):.4f}",
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
    (
        (
            rf"key {PLACE} gets ({N}) from query {PLACE}{RANK}(?:; all \S+ queries together give it"
            rf" ({N}))?"
        ),
        _gets,
    ),
    (rf"the largest of ({N}) weights is ({N}), from query {PLACE} to key {PLACE}", _largest),
)


# ---------------------------------------------------------------- adaptive computation
def _ponder(found: re.Match[str], said: Said) -> str | None:
    total = unpacked(said.value["totals"])[int(found[2]) - 1, said.look["pos"]]
    return unless(prints(found[1], total, 1e-4), f"the sum after {found[2]} is {total:.4f}")


def _stopped(found: re.Match[str], said: Said) -> str | None:
    """Check which positions have stopped after a step: those whose sum has reached 1 by then, in
    the run's own arrays."""
    totals = unpacked(said.value["totals"])
    gone = int((totals[said.look["step"] - 1] >= 1 - 1e-6).sum())
    return unless(
        found[1] == ("none" if not gone else str(gone)), f"{gone} have stopped, not {found[1]}"
    )


def _hardest(found: re.Match[str], said: Said) -> str | None:
    rows = {str(row[0]): float(row[1]) for row in said.table.get("rows", [])}
    most = max(rows.values(), default=0.0)
    return unless(
        prints(found[2], most, 0.005) and prints(found[2], rows.get(found[1], -1), 0.005),
        f"most is {most:.3f} of {rows}",
    )


# ---------------------------------------------------------------- texts
def _cost(found: re.Match[str], said: Said) -> str | None:
    model = next(
        one for one in said.value["models"] if one["key"] == said.look.get("model", one["key"])
    )
    bits = unpacked(model["nats"])[int(number(found[2]))] / math.log(2)
    return unless(prints(found[3], bits, 0.006 * bits + 1e-3), f"it cost {bits:.3f} bits")


def _guessed(found: re.Match[str], said: Said) -> str | None:
    """Check the cost of the true symbol in the first layer and in the last."""
    bits = unpacked(
        next(
            (one for one in said.value["sets"] if one["key"] == said.look["tower"]),
            said.value["sets"][0],
        )["bits"]
    )
    costs = [*np.atleast_1d(said.look["pos"])][-1]
    told = bits[0, costs], bits[int(found[3]) - 1, costs]
    fits = int(found[3]) == len(bits) and all(
        prints(text, value, 1e-4) for text, value in zip(found.group(1, 2), told, strict=True)
    )
    return unless(fits, f"{found[1]} and {found[2]} stand for {told[0]:.4f} and {told[1]:.4f}")


def _drawn(found: re.Match[str], said: Said) -> str | None:
    """Check the probabilities along a path of the tree, and their product."""
    parent, chance = unpacked(said.value["parent"]).astype(int), unpacked(said.value["chance"])
    paths = []
    for node in {int(said.look["node"]), *said.value["sampled"][-1:]}:
        path = [node]
        while parent[path[0]] >= 0:
            path.insert(0, int(parent[path[0]]))
        paths.append(chance[path])
    factors = found[1].split(" × ")
    fits = any(
        len(path) == len(factors)
        and all(prints(text, value, 1e-4) for text, value in zip(factors, path, strict=True))
        and abs(float(found[2]) / float(np.prod(path)) - 1) < 0.06
        for path in paths
    )
    return unless(fits, f"the path has {[one.round(4).tolist() for one in paths]}")


def _piece(found: re.Match[str], said: Said) -> str | None:
    bits = unpacked(said.value["bits"])[int(found[1])]
    return unless(prints(found[2], bits, 1e-4), f"{found[2]} stands for {bits:.4f}")


def _knows(found: re.Match[str], said: Said) -> str | None:
    position = int(said.look["pos"][-1]) if said.look["pos"] else None
    return unless(
        position is None or number(found[1]) + number(found[2]) == position,
        f"{found[1]} + {found[2]} is not {position}",
    )


def _whole(found: re.Match[str], said: Said) -> str | None:
    parts = number(found[1]) + number(found[2])
    return unless(abs(parts - 1) < 0.011, f"{found[1]} and {found[2]} are the whole")


def _kept(found: re.Match[str], said: Said) -> str | None:
    if ">" in found[0] or "<" in found[0]:
        return None
    return unless(
        abs(number(found[1]) + number(found[2]) - 100) < 0.06,
        f"{found[1]} % and {found[2]} % are the whole",
    )


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
    channels = next(
        one["channels"] for one in said.value["patterns"] if one["key"] == said.look["pattern"]
    )
    return unless(
        channels == 1, f"counts {found[1]} pixels where levels of {channels} channels are counted"
    )


def _rows(found: re.Match[str], said: Said) -> str | None:
    part = next(one for one in said.value["maps"] if one["label"]["en"] == found[1])
    means = unpacked(part["bits"]).mean(1)
    fits = prints(found[3], means.max(), 0.03) and prints(found[5], means.min(), 0.03)
    own = prints(found[3], means[int(found[2])], 0.03) and prints(
        found[5], means[int(found[4])], 0.03
    )
    return unless(
        fits and own,
        f"rows cost {means.min():.2f} to {means.max():.2f}, {found[2]} {means[int(found[2])]:.2f}",
    )


def _reads(found: re.Match[str], said: Said) -> str | None:
    best = min(said.value["maps"], key=lambda one: float(one["mean"]))
    return unless(
        best["label"]["en"] == found[1] and prints(found[2], best["mean"]),
        f"{best['label']['en']} reads it at {best['mean']}",
    )


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
        fits and sums and prints(found[6], products.max(), 0.005),
        f"{len(up)} add {up.sum():.3f}, {len(down)} take {-down.sum():.3f}",
    )


def _softmax(found: re.Match[str], said: Said) -> str | None:
    weights = np.asarray(said.files["weights"], float)
    there = weights[np.isfinite(weights)]
    at = said.look["col"]
    rank = 1 + int((there > weights[at]).sum())
    return unless(
        prints(found[1], weights[at], 1e-4) and int(found[4]) == rank,
        f"weight {weights[at]:.4f}, place {rank}",
    )


def _both(found: re.Match[str], said: Said) -> str | None:
    """Check the end of the passes and the end of the pieces that are written one after the other,
    and the ratio of the two times."""
    passes, stairs = said.value["ends"][1:], said.value["greedy"]["ends"][1:]
    counts = (int(found[1]), int(found[3])) == (len(passes), len(stairs))
    fits = (
        counts
        and prints(found[2], passes[-1])
        and prints(found[4], stairs[-1])
        and prints(found[5], stairs[-1] / passes[-1], 1e-3)
    )
    return unless(
        fits,
        f"{len(passes)} passes take {passes[-1]:.2f} ms, {len(stairs)} pieces {stairs[-1]:.2f} ms",
    )


def _terms(found: re.Match[str], _said: Said) -> str | None:
    parts = re.findall(r"([+−]?) ?(\d+\.\d+)", found[1])
    total = sum(-number(text) if sign == "−" else number(text) for sign, text in parts)
    return unless(
        abs(total - number(found[2])) <= 0.005 * (len(parts) + 1) + 1e-6,
        f"{found[1]} is {total:.2f}, not {found[2]}",
    )


# ---------------------------------------------------------------- passes of a translation
def _repeats(found: re.Match[str], said: Said) -> str | None:
    at, repeats = (
        [int(n) for n in re.findall(r"\((\d+)\)", found[2])],
        said.value["passes"][int(found[1]) - 1]["repeats"],
    )
    return unless(
        bool(at) and all(repeats[n] for n in at),
        f"repeats are at {[n for n, yes in enumerate(repeats) if yes]}",
    )


def _history(found: re.Match[str], said: Said) -> str | None:
    """Check the probability of a position in each pass that is named."""
    at = int(found[1])
    for n, p in re.findall(rf"pass (\d+) “[^”]*” \(({N})\)", found[2]):
        if not prints(p, said.value["passes"][int(n) - 1]["p"][at], 1e-4):
            return f"in pass {n} it has {said.value['passes'][int(n) - 1]['p'][at]}"
    return None


def _longer(found: re.Match[str], said: Said) -> str | None:
    passes, greedy, ratio = (number(text) for text in found.groups())
    slack, last = 0.06 * ratio / min(passes, greedy) + 0.051, said.value["greedy"]["ends"][-1]
    fits = abs(greedy / passes - ratio) <= slack and prints(found[2], last, 0.05)
    return unless(fits, f"{last} ms is {greedy / passes:.2f} times as long")


RULES: tuple[Rule, ...] = (
    ("passes", r"Repeated after pass (\d+): (.*?)(?:\.|…)", _repeats),
    ("passes", r"Position (\d+): (.*)", _history),
    (
        "passes",
        (
            rf"in ({N}) ms; one after the other, \d+ pieces take ({N}) ms, ({N}) times"
            r" as long"
        ),
        _longer,
    ),
    ("tower", rf"costs ({N}) bits in layer 1 and ({N}) in layer (\d+)", _guessed),
    ("tree", rf"({N}(?: × {N})*) = ([\d.e+-]+)\.", _drawn),
    (
        "passes",
        (
            rf"(\d+) pass(?:es)? finish(?:es)? in ({N}) ms; one after the other, (\d+) pieces?"
            rf" take ({N}) ms, ({N}) times"
        ),
        _both,
    ),
    ("surprise", rf"Piece “.*?” \((\d+)\) cost ({N}) bits", _piece),
    *(("attention", pattern, check) for pattern, check in ATTENTION),
    ("ponder", rf"has added up ({N}) after \w+ (\d+)", _ponder),
    ("ponder", rf"had reached ({N}) after \w+ (\d+)", _ponder),
    ("ponder", r"; (\w+) of \d+ ha(?:s|ve) stopped", _stopped),
    ("difficulty", rf"most with (\d+) \w+: ({N})", _hardest),
    ("reading", rf"Character “(.)” \(({N})\) cost ({N}) bits", _cost),
    ("segments", rf"reach back ({N}) characters, to ({N})", _knows),
    ("masks", rf"looks ({N}) back[^:]*: ({N}) % of ({N})", _spans),
    ("missed", rf"keeps? ({N}) %.*?({N}) % ", _kept),
    ("roll", rf"all notes get ({N}), .*? ({N})\.", _whole),
    ("roll", rf"gives ([A-G][♯♭]?\d) \(.*?\) ({N}):", _note),
    ("heads", rf"back: mean weight ({N})", _listens),
    (
        "spans",
        rf"Of the ({N}) (?:pixels?|values?) made before .*? lets? it know (.*?)\. Each",
        _all,
    ),
    ("spans", rf"Of the ({N}) pixels? made", _unit),
    (
        "surprise",
        rf"For (\S+), row (\d+) costs most, ({N}) bits a pixel; row (\d+) costs ({N})",
        _rows,
    ),
    ("surprise", rf"(\S+) reads this picture best: ({N})", _reads),
    (
        "weight",
        (
            rf": (\d+) of (\d+) products are positive and add ({N}), (\d+) are negative and take"
            rf" ({N}); the largest is ({N})"
        ),
        _products,
    ),
    ("weight", rf"that is the weight ({N}) of key {PLACE}, (\d+)", _softmax),
    ("terms", rf"back: ([^=]*) = ({N})", _terms),
)
