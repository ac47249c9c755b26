"""What changes if the relative term, heads or the motif are others: what may be changed, and the comparison as the panel draws it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer import labels
from explorer.controls import Control
from explorer.figures.rollpairs import RollPair, Side
from explorer.labels import Text, filled, strung
from explorer.labs.heads import silenced
from explorer.labs.music import about, rolls, texts
from explorer.widgets.change import Rolls
from models.music.records import MODELS, STRETCH, Again, Array, Explanation, Losses, Made, Request, styles

RELATIVE = ("jsb_relative", "relative")  # the variants with a relative term
BAR = 64  # cells of a bar of a chorale: sixteen sixteenths of four voices
LEAST = 0.005  # nats per event that music must cost more or less before it is said
STRETCHES = (STRETCH[0], 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.5, 1.75, STRETCH[1])


# ---- what may be changed -----------------------------------------------------------------------------------------------------------


def knobs() -> tuple[Control, ...]:
    """What may be changed in the models, and in the motif that they read."""
    sizes = {variant: one["config"] for variant, one in about.facts().items()}
    heads = {variant: (size["n_layers"], size["n_heads"]) for variant, size in sizes.items() if "n_heads" in size}
    names = {variant: texts.NAMES[variant] for variant in heads}
    found = [distance(style) for style in styles() if trained(style)]
    found.append(Control("semitones", texts.SEMITONES, "number", change=True, says=moved))
    if "piano" in styles():
        stops = {factor: filled(texts.TIMES, n=f"{factor:g}") for factor in STRETCHES}
        when = {"style": ("piano",)}  # a chorale stands on its grid
        found.append(Control("stretch", texts.STRETCH, "stops", names=stops, change=True, says=stretched, when=when))
    return (*found, *silenced(names, heads, texts.HEAD))


def trained(style: str) -> int:
    """The farthest distance that a model of a style learned an embedding of; 0 where none has a relative term."""
    return max((one["config"].get("distances", 0) for variant, one in about.facts().items() if variant in MODELS[style]), default=0)


def distance(style: str) -> Control:
    """The distance beyond which all count alike, from no relative term at all to as trained."""
    stops = [0, *cuts(trained(style)), -1]
    said = {0: texts.NO_TERM, -1: texts.TRAINED}
    names = {stop: said.get(stop) or filled(texts.EVENTS[style], n=stop) for stop in stops}
    return Control("farthest", texts.FARTHEST, "stops", names=names, change=True, says=clipped, when={"style": (style,)})


def cuts(most: int) -> Iterator[int]:
    """Distances to cut at, each about half as long again as the one before, all shorter than the trained ones."""
    power = 1
    while power < most:
        yield power
        if 2 <= power < most / 1.5:
            yield power * 3 // 2
        power *= 2


def clipped(farthest: int) -> Text:
    """Distances cut short, in words."""
    return filled(texts.CLIPPED, n=farthest) if farthest else texts.WITHOUT_TERM


def moved(semitones: int) -> Text:
    """The motif moved, in words."""
    return filled(texts.MOVED if abs(semitones) != 1 else texts.MOVED_ONE, n=abs(semitones), way=texts.UP if semitones > 0 else texts.DOWN)


def stretched(times: float) -> Text:
    """The motif stretched, in words."""
    return filled(texts.STRETCHED, n=f"{times:g}")


# ---- what it does ------------------------------------------------------------------------------------------------------------------


def _moves(request: Request) -> bool:
    """Does a request change the motif, which all models read?"""
    return request.semitones != 0 or (request.style == "piano" and request.stretch != 1)


def touched(request: Request) -> tuple[str, ...]:
    """The variants that a change reaches, whether they are shipped or not; none where nothing is changed."""
    reached = {variant for variant, _, _ in request.silenced} | set(RELATIVE if request.farthest >= 0 else ())
    return tuple(variant for variant in MODELS[request.style] if _moves(request) or variant in reached)


def again(request: Request, seen: Explanation) -> Again | None:
    """What was made, to be read under what a request changes; None where it changes nothing."""
    asked = Request(
        request.style,
        "continue",
        silenced=request.silenced,
        farthest=request.farthest,
        semitones=request.semitones,
        stretch=request.stretch,
    )
    return None if asked == Request(request.style, "continue") else Again(asked, tuple(made.events.tobytes() for made in seen.made))


def difference(seen: tuple[Explanation, Explanation], losses: tuple[Losses | None, Losses], request: Request, what: Text) -> Rolls:
    """What the panel draws of a comparison. losses: of what was made before, read under the change. what: the change in words."""
    reached = touched(request)
    found = [one for one in zip(seen[0].made, seen[1].made, losses[1].nats, strict=True) if one[0].variant in reached]
    pairs = [
        RollPair(
            key=before.variant,
            before=_side(before, request, seen[0].grid),
            after=_side(after, request, seen[1].grid),
            numbers=(_mean(before, before.nats), _mean(before, nats)),
            moved=request.semitones,
            compared=request.style == "chorale" or request.stretch == 1,
            voices=request.style == "chorale",
            grid=seen[0].grid,
        )
        for before, after, nats in found
    ]
    return Rolls(pairs, texts.NAMES, sentence(pairs, [(before, nats, seen[0].grid) for before, _, nats in found], request, what))


def _mean(made: Made, nats: Array) -> float:
    """Nats per event of what was made; 0 where nothing was."""
    own = nats[~made.given]
    return float(own.mean()) if len(own) else 0.0


def _side(made: Made, request: Request, grid: int) -> Side:
    return Side(made.notes, made.given[made.at], made.steps, rolls.heard(made, request.style, grid, texts.licence(request.style)))


def sentence(pairs: Sequence[RollPair], read: Sequence[tuple[Made, Array, int]], request: Request, what: Text) -> Text:
    """The comparison in words, for the model that it costs most: how much, where, and how many of its notes are made again."""
    if not pairs:
        return labels.sentence([what, texts.UNTOUCHED])
    at = max(range(len(pairs)), key=lambda at: pairs[at].numbers[1] - pairs[at].numbers[0])
    dearest = pairs[at]
    delta = dearest.numbers[1] - dearest.numbers[0]
    same = abs(delta) < LEAST
    cost = filled(
        texts.COSTS_SAME if same else texts.COSTS,
        model=texts.NAMES[dearest.key],
        moved=texts.MOVED_ALONG if _moves(request) else {"en": "", "zh": ""},
        nats=f"{abs(delta):.2f}",
        event=texts.EVENT[request.style],
        more=texts.MORE if delta > 0 else texts.LESS,
    )
    where = None if same else _where(*read[at], request.style, delta)
    kept = _kept(dearest) if dearest.compared else None
    return labels.sentence([*([what] if what else []), strung([cost, where], "", "") if where else cost], kept)


def _kept(pair: RollPair) -> Text:
    was, became = pair.kept()
    made, made_after = was[~pair.before.given], became[~pair.after.given]
    if made.all() and made_after.all() and not pair.moved:
        return texts.ALL_KEPT
    return filled(texts.KEPT_MOVED if pair.moved else texts.KEPT, n=int(made.sum()), of=len(made))


def _where(made: Made, nats: Array, grid: int, style: str, delta: float) -> Text | None:
    """In which bar, or around which second, what was made before changes most; None where it is too short for that."""
    more = np.where(made.given, 0.0, nats - made.nats)
    if style == "chorale":
        place = np.arange(len(more)) // BAR
    else:
        onset = made.notes[:, 0] * grid / 1000
        place = np.interp(np.arange(len(more)), made.at, onset).astype(np.int64) if len(onset) else np.zeros(len(more), np.int64)
    count = np.bincount(place[~made.given])
    if np.count_nonzero(count) < 2:
        return None
    total = np.bincount(place[~made.given], more[~made.given])
    mean = np.divide(total, count, out=np.zeros(len(count)), where=count > 0)
    at = int(mean.argmax() if delta > 0 else mean.argmin())
    return filled(texts.IN_BAR, n=at + 1) if style == "chorale" else filled(texts.IN_SECOND, n=at)
