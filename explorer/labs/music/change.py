"""The change panel of music: another relative term, other heads or another motif, and the
comparison as the panel draws it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.components.change_panel import Rolls
from explorer.contract import labels
from explorer.contract.control_kinds import Control, SliderControl, StopsControl
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.figures.rollpairs import MusicSide, RollPair
from explorer.labs.music import about, rolls, texts
from explorer.panels.heads import make_heads_control
from models.music.records import (
    MODELS,
    STRETCH,
    Array,
    Explanation,
    Losses,
    Made,
    Request,
    Rereading,
    styles,
)

RELATIVE = ("jsb_relative", "relative")  # the variants with a relative term
BAR = 64  # cells of a bar of a chorale: sixteen sixteenths of four voices
LEAST = 0.005  # a difference in nats per event below this is not worth a sentence
STRETCHES = (STRETCH[0], 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.5, 1.75, STRETCH[1])


# ---- changes


def list_controls() -> tuple[Control, ...]:
    """Return the controls of what may be changed in the models, and in the motif that they read."""
    sizes = {variant: one["config"] for variant, one in about.facts().items()}
    heads = {
        variant: (size["n_layers"], size["n_heads"])
        for variant, size in sizes.items()
        if "n_heads" in size
    }
    names = {variant: texts.NAMES[variant] for variant in heads}
    found = [make_distance_control(style) for style in styles() if find_trained_distance(style)]
    found.append(
        SliderControl("semitones", texts.SEMITONES, change=True, says=describe_transposition)
    )
    if "piano" in styles():
        stops = {factor: fill_text(texts.TIMES, n=f"{factor:g}") for factor in STRETCHES}
        when = {"style": ("piano",)}  # a chorale stays on its grid
        found.append(
            StopsControl(
                "stretch",
                texts.STRETCH,
                names=stops,
                change=True,
                says=describe_stretching,
                when=when,
            )
        )
    return (*found, *make_heads_control(names, heads, texts.HEAD))


def find_trained_distance(style: str) -> int:
    """Return the farthest distance that a model of a style learned an embedding of; 0 where none
    has a relative term."""
    return max(
        (
            one["config"].get("distances", 0)
            for variant, one in about.facts().items()
            if variant in MODELS[style]
        ),
        default=0,
    )


def make_distance_control(style: str) -> Control:
    """Make the control of the distance beyond which all distances count alike, from no relative
    term at all to as trained."""
    stops = [0, *list_cuts(find_trained_distance(style)), -1]
    said = {0: texts.NO_TERM, -1: texts.TRAINED}
    names = {stop: said.get(stop) or fill_text(texts.EVENTS[style], n=stop) for stop in stops}
    return StopsControl(
        "farthest",
        texts.FARTHEST,
        names=names,
        change=True,
        says=describe_clipping,
        when={"style": (style,)},
    )


def list_cuts(most: int) -> Iterator[int]:
    """Yield distances to cut at, each about half as long again as the one before, all shorter than
    the trained ones."""
    power = 1
    while power < most:
        yield power
        if 2 <= power < most / 1.5:
            yield power * 3 // 2
        power *= 2


def describe_clipping(farthest: int) -> Text:
    """Describe in words that distances are cut short."""
    return fill_text(texts.CLIPPED, n=farthest) if farthest else texts.WITHOUT_TERM


def describe_transposition(semitones: int) -> Text:
    """Describe in words that the motif is moved."""
    return fill_text(
        texts.MOVED if abs(semitones) != 1 else texts.MOVED_ONE,
        n=abs(semitones),
        way=texts.UP if semitones > 0 else texts.DOWN,
    )


def describe_stretching(times: float) -> Text:
    """Describe in words that the motif is stretched."""
    return fill_text(texts.STRETCHED, n=f"{times:g}")


# ---- the effect


def _changes_motif(request: Request) -> bool:
    """Return whether a request changes the motif, which all models read."""
    return request.semitones != 0 or (request.style == "piano" and request.stretch != 1)


def list_changed_variants(request: Request) -> tuple[str, ...]:
    """Return the variants that a change reaches, whether they are shipped or not; none where
    nothing is changed."""
    reached = {variant for variant, _, _ in request.silenced} | set(
        RELATIVE if request.farthest >= 0 else ()
    )
    return tuple(
        variant
        for variant in MODELS[request.style]
        if _changes_motif(request) or variant in reached
    )


def ask_to_reread(request: Request, explanation: Explanation) -> Rereading | None:
    """Return the generated music, to be read again under the request's change; None where the
    request changes nothing."""
    asked = Request(
        request.style,
        "continue",
        silenced=request.silenced,
        farthest=request.farthest,
        semitones=request.semitones,
        stretch=request.stretch,
    )
    return (
        None
        if asked == Request(request.style, "continue")
        else Rereading(asked, tuple(made.events.tobytes() for made in explanation.made))
    )


def difference(
    explanations: tuple[Explanation, Explanation],
    losses: tuple[Losses | None, Losses],
    request: Request,
    what: Text,
) -> Rolls:
    """Draw a comparison for the change panel. losses: of the music generated before, read under the
    change. what: the change in words."""
    reached = list_changed_variants(request)
    found = [
        one
        for one in zip(explanations[0].made, explanations[1].made, losses[1].nats, strict=True)
        if one[0].variant in reached
    ]
    pairs = [
        RollPair(
            key=before.variant,
            before=_draw_side(before, request, explanations[0].grid),
            after=_draw_side(after, request, explanations[1].grid),
            numbers=(_average_nats(before, before.nats), _average_nats(before, nats)),
            moved=request.semitones,
            compared=request.style == "chorale" or request.stretch == 1,
            voices=request.style == "chorale",
            grid=explanations[0].grid,
        )
        for before, after, nats in found
    ]
    return Rolls(
        pairs,
        texts.NAMES,
        describe_change(
            pairs,
            [(before, nats, explanations[0].grid) for before, _, nats in found],
            request,
            what,
        ),
    )


def _average_nats(made: Made, nats: Array) -> float:
    """Return the nats per event of the generated music; 0 where nothing was generated."""
    own = nats[~made.given]
    return float(own.mean()) if len(own) else 0.0


def _draw_side(made: Made, request: Request, grid: int) -> MusicSide:
    return MusicSide(
        made.notes,
        made.given[made.at],
        made.steps,
        rolls.describe_sound(made, request.style, grid, texts.find_licence(request.style)),
    )


def describe_change(
    pairs: Sequence[RollPair], read: Sequence[tuple[Made, Array, int]], request: Request, what: Text
) -> Text:
    """Describe the comparison in words, for the model with the largest added cost: how much, where,
    and how many of its notes are generated again."""
    if not pairs:
        return labels.build_sentence([what, texts.UNTOUCHED])
    at = max(range(len(pairs)), key=lambda at: pairs[at].numbers[1] - pairs[at].numbers[0])
    dearest = pairs[at]
    delta = dearest.numbers[1] - dearest.numbers[0]
    same = abs(delta) < LEAST
    cost = fill_text(
        texts.COSTS_SAME if same else texts.COSTS,
        model=texts.NAMES[dearest.key],
        moved=texts.MOVED_ALONG if _changes_motif(request) else {"en": "", "zh": ""},
        nats=f"{abs(delta):.2f}",
        event=texts.EVENT[request.style],
        more=texts.MORE if delta > 0 else texts.LESS,
    )
    where = None if same else _describe_place(*read[at], request.style, delta)
    kept = _count_kept(dearest) if dearest.compared else None
    return labels.build_sentence(
        [*([what] if what else []), join_parts([cost, where], "", "") if where else cost], kept
    )


def _count_kept(pair: RollPair) -> Text:
    was, became = pair.find_kept_notes()
    made, made_after = was[~pair.before.given], became[~pair.after.given]
    if made.all() and made_after.all() and not pair.moved:
        return texts.ALL_KEPT
    return fill_text(
        texts.KEPT_MOVED if pair.moved else texts.KEPT, n=int(made.sum()), of=len(made)
    )


def _describe_place(made: Made, nats: Array, grid: int, style: str, delta: float) -> Text | None:
    """Describe in which bar, or around which second, the music before changes most; None where it
    is too short for that."""
    more = np.where(made.given, 0.0, nats - made.nats)
    if style == "chorale":
        place = np.arange(len(more)) // BAR
    else:
        onset = made.notes[:, 0] * grid / 1000
        place = (
            np.interp(np.arange(len(more)), made.at, onset).astype(np.int64)
            if len(onset)
            else np.zeros(len(more), np.int64)
        )
    count = np.bincount(place[~made.given])
    if np.count_nonzero(count) < 2:
        return None
    total = np.bincount(place[~made.given], more[~made.given])
    mean = np.divide(total, count, out=np.zeros(len(count)), where=count > 0)
    at = int(mean.argmax() if delta > 0 else mean.argmin())
    return (
        fill_text(texts.IN_BAR, n=at + 1)
        if style == "chorale"
        else fill_text(texts.IN_SECOND, n=at)
    )
