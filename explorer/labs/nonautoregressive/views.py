"""From what the parallel translators explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer import controls, runs
from explorer.controls import Control, Item, Value, query
from explorer.figures import attention, heatmaps, theme
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled, joined, two
from explorer.labs.guided import Shown, guided
from explorer.labs.heads import place, thumbnail_of
from explorer.labs.nonautoregressive import texts
from explorer.labs.translated import GERMAN, choosable, kind, pieces_at
from explorer.labs.translated import answer as answer
from explorer.labs.translated import warning as warning
from explorer.views import Found
from explorer.widgets import change
from explorer.widgets.figure import Mark, shown
from explorer.widgets.folded import Question
from models.nonautoregressive.records import EXAMPLES, MAX_TOKENS, SPACE, Explanation, Joint, Neighbours, Request, written
from models.results import Array

LIKELY = 0.005  # of a length, from which on its bar is drawn

first = runs.kept("nonautoregressive", EXAMPLES[0], Explanation)


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


PASSES = {n: filled(texts.TIMES, n=n) for n in (1, 2, 4, 10)}
# Pieces more or fewer that the slider offers; a link may ask for any.
OFFSETS = {n: filled(texts.OFFSET_IS, n=f"{n:+}".replace("-", "−")) if n else texts.OWN for n in range(-6, 7)}


def _longer(offset: int) -> Text:
    return filled(texts.LONGER if offset > 0 else texts.SHORTER, n=abs(offset))


def _pinned(pinned: Sequence[tuple[int, str]]) -> Text:
    each = ", ".join(f"“{piece.removeprefix(SPACE)}” ({at})" for at, piece in pinned)
    return filled(texts.PINNED_ARE, which=each)


CONTROLS = (
    Control("sentence", filled(texts.SENTENCE, tokens=MAX_TOKENS), "sentence", placeholder=EXAMPLES[0].sentence),
    Control("variant", texts.VARIANT, "select", names=texts.NAMES),
    Control("passes", texts.PASSES_T, "select", names=PASSES),
    Control("offset", texts.OFFSET, "stops", names=OFFSETS, change=True, says=_longer),
    Control("pinned", texts.PINNED, "items", kept=True, change=True, says=_pinned),
    Control("again", texts.AGAIN, "items", change=True, says=pieces_at(texts.AGAIN_ARE)),
)


def items(seen: Explanation, _request: Request) -> dict[str, tuple[Item, ...]]:
    """The pieces of the translation: each can be pinned where it stands, or masked once more."""
    pieces = (seen.target, seen.target_space)
    return {"pinned": choosable(pieces, _spelled(seen)), "again": choosable(pieces)}


def _spelled(seen: Explanation) -> list[str]:
    """Each piece with its position as a link pins it."""
    return [controls.written((one,)) for one in enumerate(map(written, seen.target, seen.target_space))]


def notice(request: Request, seen: Explanation) -> Text | None:
    """Where fewer passes ran than were asked for, or more than the network was trained for."""
    fewer = filled(texts.FEWER, asked=request.passes, ran=seen.ran) if seen.ran < request.passes else None
    return joined(fewer, texts.ONE_ALONE if request.variant == "nat_distilled" and seen.ran > 1 else None)


# ---- the passes --------------------------------------------------------------------------------------------------------------------


def telling(seen: Explanation) -> int:
    """The position that is looked at on arrival: the first that repeats its neighbour after the first pass, else the least sure one."""
    twice = np.flatnonzero(seen.repeats[0])
    return int(twice[0] if len(twice) else seen.confidence[0].argmin())


def passes(seen: Explanation, request: Request, state: str) -> Value:
    """The staircase of greedy decoding and the passes, on one axis of milliseconds."""
    p, chances = _rounded(seen.confidence), _rounded(seen.candidate_p)
    each = zip(seen.pieces, seen.masked.tolist(), p, seen.repeats.tolist(), seen.candidates, chances, strict=True)
    names = ("pieces", "masked", "p", "repeats", "candidates", "chances")
    asked = {"query": query(request), "source": request.sentence, "again": sorted(request.again)}
    greedy = {"pieces": list(seen.greedy_target), "p": _rounded(np.exp(seen.greedy_log_probabilities))}
    return {
        **asked,
        "state": state,
        "pick": {"pos": telling(seen)},
        "pinned": sorted(at for at, _ in request.pinned),
        "spelled": _spelled(seen),
        "passes": [dict(zip(names, one, strict=True)) for one in each],
        "ran": seen.ran,
        "settled": seen.settled.tolist(),
        "ends": _rounded(seen.ends_ms, 3),
        "greedy": {**greedy, "ends": _rounded(seen.greedy_ends_ms, 3)},
    }


def _rounded(values: ArrayLike, digits: int = 4) -> Any:
    return np.round(np.asarray(values, np.float64), digits).tolist()


# ---- the length --------------------------------------------------------------------------------------------------------------------


def lengths(seen: Explanation, _request: Request, _state: str) -> Value:
    """What the network thinks of each length, its own and the one that is used."""
    here, used = dict(enumerate(seen.lengths.tolist(), seen.shortest)), len(seen.target)
    own = max(here, key=lambda n: here[n])
    marks = {own: Mark(texts.LENGTH_LIKELIEST, "var(--query)")} | {used: Mark(texts.LENGTH_USED, "var(--accent)")}
    every = [n for n, p in here.items() if p >= LIKELY or n in marks]
    at = list(range(every[0], every[-1] + 1))
    p = [here[n] for n in at]

    def draw(language: str) -> Value:
        frame = theme.titled(texts.LENGTH_AXES[language])
        frame |= {"margin": {"l": 44, "r": 8, "t": 20, "b": 40}, "bargap": 0.15}
        frame["xaxis"] |= {"showgrid": False, "fixedrange": True, **({"tickvals": at} if len(at) < 16 else {})}
        frame["yaxis"] |= {"range": [0, 1.15 * max(p)], "fixedrange": True}
        colours = [marks[n].colour if n in marks else "var(--control)" for n in at]
        said = [f"{one:.2f}" if one >= 0.01 and len(at) < 12 else "" for one in p]
        bars = {"type": "bar", "x": at, "y": p, "marker": {"color": colours}, "text": said, "textposition": "outside"}
        hover = {"hovertemplate": "%{x}: %{y:.3f}<extra></extra>", "textfont": {"size": 12, "color": "var(--ink2)"}, "cliponaxis": False}
        return {"data": [bars | hover], "layout": frame}

    told = {"source": len(seen.source), "own": own, "p": two(here[own]), "used": used, "q": two(here[used])}
    words = (texts.LENGTH, texts.LENGTH_UNITS, filled(texts.LENGTH_OTHER if used != own else texts.LENGTH_OWN, **told))
    table = [(n, round(one, 4)) for n, one in zip(at, p, strict=True)]
    return shown("length", draw, words, texts.LENGTH_COLUMNS, table, list(reversed(marks.values())), height=190)


# ---- attention ---------------------------------------------------------------------------------------------------------------------


def kinds(seen: Explanation) -> list[attention.Kind]:
    """The attention of the encoder, then of the decoder and across in the first pass, the middle one and the last, which has bare names."""
    english, final = (seen.source, seen.source_space), len(seen.pieces) - 1
    found = [kind("encoder", texts.KINDS["encoder"], seen.encoder, english, english, texts.QUESTIONS["encoder"])]
    for name, weights in (("decoder", seen.decoder), ("cross", seen.cross)):
        for t in sorted({0, final // 2, final}):
            german = (seen.pieces[t], seen.spaces[t])
            label = filled(texts.IN_PASS if t < seen.ran else texts.ONCE_MORE, kind=texts.KINDS[name], n=t + 1)
            keys, key = german if name == "decoder" else english, name if t == final else f"{name}{t + 1}"
            found.append(kind(name, label, weights[t], german, keys, texts.QUESTIONS[name], key=key))
    return found


def last(seen: Explanation) -> list[attention.Kind]:
    """The three of the last pass."""
    return [kind for kind in kinds(seen) if kind.key in {"encoder", "decoder", "cross"}]


def maps(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention widget draws. state: "stored" or "live"."""
    jobs = [job for kind in last(seen) for job in attention.jobs(kind)]
    return attention.value(kinds(seen), pick=_cell(seen), found=jobs, query=query(request), state=state, silences=False)


def _cell(seen: Explanation) -> dict[str, Any]:
    """A telling cell of the last pass, across."""
    return attention.pick(kinds(seen)[-1])


def pick(seen: Explanation, _request: Request) -> Value:
    """What is looked at on arrival, as an address names it."""
    return {**place(_cell(seen)), "pos": telling(seen)}


def thumbnail(seen: Explanation) -> Thumbnail:
    """The telling head of the stored first result, for the family map."""
    return thumbnail_of(kinds(seen)[-1], _cell(seen))


# ---- two neighbours ----------------------------------------------------------------------------------------------------------------


def pair(found: Found[Request, Explanation], question: Question) -> Neighbours:
    """The position in view and its right neighbour; the last one has none, so that the pair before it is shown."""
    seen, asked = found.run, question.number("pos")
    at = telling(seen) - int(seen.repeats[0].any()) if asked is None else asked
    return Neighbours(found.request, max(0, min(at, len(seen.target) - 2)))


def modes(seen: Joint, request: Request) -> Value:
    """The product of two positions' marginals beside the joint of the network that writes one after the other."""
    rows, columns = list(map(attention.shown, seen.first)), list(map(attention.shown, seen.second))
    parts = (seen.product, seen.joint)

    def draw(language: str) -> Value:
        return heatmaps.maps([heatmaps.Map(title, part) for title, part in zip(texts.MODES[language], parts, strict=True)], rows, columns)

    def best(part: Array) -> tuple[str, str]:
        row, column = np.unravel_index(int(part.argmax()), part.shape)
        return f"“{rows[row]} {columns[column]}”", _printed(part[row, column])

    (one, p), (other, q) = map(best, parts)
    says = filled(texts.MODES_SAYS, one=one, p=p, other=other, q=q)
    alike = np.array([[one == other for other in seen.second] for one in seen.first])
    if alike.any():
        a, b = (_printed(float(part[alike].sum())) for part in parts)
        says = joined(says, filled(texts.MODES_TWICE, a=a, b=b)) or says
    table = [(rows[i], columns[j], *(_rounded(part[i, j]) for part in parts)) for i, j in np.ndindex(seen.product.shape)]
    words = (texts.NEIGHBOURS, filled(texts.MODES_UNITS, before=f"“{seen.before or '<s>'}”"), says)
    return shown("neighbours", draw, words, texts.MODES_COLUMNS, table, height=300)


def _printed(p: float) -> str:
    """A probability with two digits that say something."""
    return f"{p:.2f}" if p >= 0.01 else f"{p:.1g}" if p >= 1e-4 else "< 0.0001"


# ---- what stands beside ------------------------------------------------------------------------------------------------------------


def difference(seen: tuple[Explanation, Explanation], read: tuple[Array, Array], request: Request, what: Text) -> change.Difference:
    """What the panel draws of a change. seen: the runs without and with it; read: log p of the pieces of the former under both."""
    before, after = seen
    both = np.isfinite(read[0]) & np.isfinite(read[1])
    first, last = (float(one[both].mean()) if both.any() else 0.0 for one in read)
    same = before.text == after.text
    told = filled(texts.KEEPS if same else texts.BECOMES, what=what, german=after.text)
    p, q = (float(one.lengths[len(one.target) - one.shortest]) for one in seen)
    verdict, kept = (texts.SAME, "same") if same else (texts.OTHER, "other")
    rows = [
        change.Row(texts.RUN_ITSELF, texts.PIECES, "pieces", len(before.target), len(after.target), digits=0),
        change.Row(texts.RUN_ITSELF, texts.REPEATS, "repeats", before.repeats[-1].sum(), after.repeats[-1].sum(), digits=0),
        change.Row(texts.RUN_ITSELF, texts.P_LENGTH, "p_length", p, q),
        change.Row(texts.RUN_ITSELF, GERMAN, "german", before.text, after.text, verdict=verdict, kind=kept),
    ]
    return change.moved(change.Number(first, last), texts.NUMBER, rows, texts.MOVES, texts.STAYS, first=told)


# ---- guided steps ------------------------------------------------------------------------------------------------------------------


def _before_the_stop(seen: Explanation) -> int:
    """The moment, of those that the picture steps through, at which greedy decoding has written all but the stop token."""
    ends = _rounded((0, *seen.ends_ms, *seen.greedy_ends_ms), 3)
    return sorted(set(ends)).index(ends[-2])


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell."""
    kept, start = first(), EXAMPLES[0]
    at_once = query(replace(start, passes=1))
    shown_: dict[str, Shown] = {
        "after": ("", {"moment": str(_before_the_stop(kept.seen) if kept else 9), "pos": "none"}, "passes"),
        "stop": ("", {"pos": "none"}, "passes"),
        "at_once": (at_once, {}, "passes"),
        "length": (query(replace(start, offset=3)), {}, "lengths"),
        "mixed": (at_once, {"neighbours": "open"}, ""),
        "distil": (query(replace(start, variant="cmlm_raw", passes=1)), {}, "passes"),
        "iterate": (query(EXAMPLES[2]), {"show": "settled"}, "passes"),
        "pays": ("", {}, "quality"),
    }
    return guided(texts, shown_)
