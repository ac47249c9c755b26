"""The views of the parallel translators, from explanations to values of the widgets: pure functions
of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.components import change_panel, input_bar
from explorer.components.figure import Mark, describe_drawn_figure
from explorer.components.folded import Question
from explorer.contract.control_kinds import (
    Item,
    ItemsControl,
    MenuControl,
    SentenceControl,
    StopsControl,
    Value,
    spell_value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import SIZES, Text, fill_text, format_two_digits, join_sentences
from explorer.figures import attention, head_jobs, heatmaps, theme
from explorer.labs.nonautoregressive import texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.page.views import Found
from explorer.panels.heads import address_cell, draw_thumbnail
from explorer.panels.translation import (
    GERMAN,
    describe_answer,
    describe_positions,
    draw_attention_kind,
    list_pieces,
)
from explorer.panels.translation import describe_warning as describe_warning
from models.explaining.shared_records import LIMIT, Array
from models.nonautoregressive.records import (
    EXAMPLES,
    MAX_TOKENS,
    SPACE,
    Explanation,
    Joint,
    Neighbours,
    Request,
    spell_piece,
)

LIKELY = 0.005  # a length gets a bar from this probability on

first = runs.load_first_once("nonautoregressive", EXAMPLES[0], Explanation)
answer = describe_answer


def describe_endings(explanation: Explanation, _request: Request) -> list[Value]:
    """Return why both translations end: the length of the first is fixed before it is written."""
    return [
        input_bar.describe_ending(
            LIMIT, len(explanation.target), SIZES["pieces"], texts.MODES_COLUMNS[2]
        ),
        input_bar.describe_ending(
            explanation.greedy_reason,
            len(explanation.greedy_target),
            SIZES["pieces"],
            texts.MODES_COLUMNS[3],
        ),
    ]


# ---- the input bar


PASSES = {n: fill_text(texts.TIMES, n=n) for n in (1, 2, 4, 10)}
# Pieces more or fewer that the slider offers; a link may set any number.
OFFSETS = {
    n: fill_text(texts.OFFSET_IS, n=f"{n:+}".replace("-", "−")) if n else texts.OWN
    for n in range(-6, 7)
}


def _describe_length(offset: int) -> Text:
    return fill_text(texts.LONGER if offset > 0 else texts.SHORTER, n=abs(offset))


def _describe_pinned(pinned: Sequence[tuple[int, str]]) -> Text:
    each = ", ".join(f"“{piece.removeprefix(SPACE)}” ({at})" for at, piece in pinned)
    return fill_text(texts.PINNED_ARE, which=each)


CONTROLS = (
    SentenceControl(
        "sentence",
        fill_text(texts.SENTENCE, tokens=MAX_TOKENS),
        placeholder=EXAMPLES[0].sentence,
    ),
    MenuControl("variant", texts.VARIANT, names=texts.NAMES),
    MenuControl("passes", texts.PASSES_T, names=PASSES),
    StopsControl("offset", texts.OFFSET, names=OFFSETS, change=True, says=_describe_length),
    ItemsControl("pinned", texts.PINNED, kept=True, change=True, says=_describe_pinned),
    ItemsControl("again", texts.AGAIN, change=True, says=describe_positions(texts.AGAIN_ARE)),
)


def items(explanation: Explanation, _request: Request) -> dict[str, tuple[Item, ...]]:
    """Return the pieces of the translation: each can be pinned where it stands, or masked once
    more."""
    pieces = (explanation.target, explanation.target_space)
    return {"pinned": list_pieces(pieces, _list_pins(explanation)), "again": list_pieces(pieces)}


def _list_pins(explanation: Explanation) -> list[str]:
    """Return each piece with its position as a link pins it."""
    return [
        spell_value((one,))
        for one in enumerate(map(spell_piece, explanation.target, explanation.target_space))
    ]


def notice(request: Request, explanation: Explanation) -> Text | None:
    """Return a note where fewer passes ran than requested, or more than the network was trained
    for."""
    fewer = (
        fill_text(texts.FEWER, asked=request.passes, ran=explanation.ran)
        if explanation.ran < request.passes
        else None
    )
    return join_sentences(
        fewer,
        texts.ONE_ALONE if request.variant == "nat_distilled" and explanation.ran > 1 else None,
    )


# ---- the passes


def find_telling_position(explanation: Explanation) -> int:
    """Return the position in view on arrival: the first that repeats its neighbour after the first
    pass, else the least sure one."""
    twice = np.flatnonzero(explanation.repeats[0])
    return int(twice[0] if len(twice) else explanation.confidence[0].argmin())


def draw_passes(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the staircase of greedy decoding and the passes, on one axis of milliseconds."""
    p, chances = _round_values(explanation.confidence), _round_values(explanation.candidate_p)
    each = zip(
        explanation.pieces,
        explanation.masked.tolist(),
        p,
        explanation.repeats.tolist(),
        explanation.candidates,
        chances,
        strict=True,
    )
    names = ("pieces", "masked", "p", "repeats", "candidates", "chances")
    asked = {
        "query": spell_query(request),
        "source": request.sentence,
        "again": sorted(request.again),
    }
    greedy = {
        "pieces": list(explanation.greedy_target),
        "p": _round_values(np.exp(explanation.greedy_log_probabilities)),
    }
    return {
        **asked,
        "state": state,
        "pick": {"pos": find_telling_position(explanation)},
        "pinned": sorted(at for at, _ in request.pinned),
        "spelled": _list_pins(explanation),
        "passes": [dict(zip(names, one, strict=True)) for one in each],
        "ran": explanation.ran,
        "settled": explanation.settled.tolist(),
        "ends": _round_values(explanation.ends_ms, 3),
        "greedy": {**greedy, "ends": _round_values(explanation.greedy_ends_ms, 3)},
    }


def _round_values(values: ArrayLike, digits: int = 4) -> Any:
    return np.round(np.asarray(values, np.float64), digits).tolist()


# ---- the length


def draw_lengths(explanation: Explanation, _request: Request, _state: str) -> Value:
    """Draw the network's probability of each length, with its own choice and the length in use."""
    here, used = (
        dict(enumerate(explanation.lengths.tolist(), explanation.shortest)),
        len(explanation.target),
    )
    own = max(here, key=lambda n: here[n])
    marks = {own: Mark(texts.LENGTH_LIKELIEST, "var(--query)")} | {
        used: Mark(texts.LENGTH_USED, "var(--accent)")
    }
    every = [n for n, p in here.items() if p >= LIKELY or n in marks]
    at = list(range(every[0], every[-1] + 1))
    p = [here[n] for n in at]

    def draw(language: str) -> Value:
        frame = theme.make_titled_layout(texts.LENGTH_AXES[language])
        frame |= {"margin": {"l": 44, "r": 8, "t": 20, "b": 40}, "bargap": 0.15}
        frame["xaxis"] |= {
            "showgrid": False,
            "fixedrange": True,
            **({"tickvals": at} if len(at) < 16 else {}),
        }
        frame["yaxis"] |= {"range": [0, 1.15 * max(p)], "fixedrange": True}
        colours = [marks[n].colour if n in marks else "var(--control)" for n in at]
        said = [f"{one:.2f}" if one >= 0.01 and len(at) < 12 else "" for one in p]
        bars = {
            "type": "bar",
            "x": at,
            "y": p,
            "marker": {"color": colours},
            "text": said,
            "textposition": "outside",
        }
        hover = {
            "hovertemplate": "%{x}: %{y:.3f}<extra></extra>",
            "textfont": {"size": 12, "color": "var(--ink2)"},
            "cliponaxis": False,
        }
        return {"data": [bars | hover], "layout": frame}

    told = {
        "source": len(explanation.source),
        "own": own,
        "p": format_two_digits(here[own]),
        "used": used,
        "q": format_two_digits(here[used]),
    }
    words = (
        texts.LENGTH,
        texts.LENGTH_UNITS,
        fill_text(texts.LENGTH_OTHER if used != own else texts.LENGTH_OWN, **told),
    )
    table = [(n, round(one, 4)) for n, one in zip(at, p, strict=True)]
    return describe_drawn_figure(
        "length",
        draw,
        words,
        texts.LENGTH_COLUMNS,
        table,
        list(reversed(marks.values())),
        height=190,
    )


# ---- attention


def list_attentions(explanation: Explanation) -> list[attention.Kind]:
    """Return the attention of the encoder, then of the decoder and across in the first pass, the
    middle one and the last, which has bare names."""
    english, final = (explanation.source, explanation.source_space), len(explanation.pieces) - 1
    found = [
        draw_attention_kind(
            "encoder",
            texts.KINDS["encoder"],
            explanation.encoder,
            english,
            english,
            texts.QUESTIONS["encoder"],
        )
    ]
    for name, weights in (("decoder", explanation.decoder), ("cross", explanation.cross)):
        for t in sorted({0, final // 2, final}):
            german = (explanation.pieces[t], explanation.spaces[t])
            label = fill_text(
                texts.IN_PASS if t < explanation.ran else texts.ONCE_MORE,
                kind=texts.KINDS[name],
                n=t + 1,
            )
            keys, key = (
                german if name == "decoder" else english,
                name if t == final else f"{name}{t + 1}",
            )
            found.append(
                draw_attention_kind(
                    name, label, weights[t], german, keys, texts.QUESTIONS[name], key=key
                )
            )
    return found


def list_last_pass(explanation: Explanation) -> list[attention.Kind]:
    """Return the three attentions of the last pass."""
    return [
        kind for kind in list_attentions(explanation) if kind.key in {"encoder", "decoder", "cross"}
    ]


def draw_attention(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention widget. state: "stored" or "live"."""
    jobs = [job for kind in list_last_pass(explanation) for job in head_jobs.find_jobs(kind)]
    return attention.draw_attention(
        list_attentions(explanation),
        pick=_find_first_cell(explanation),
        found=jobs,
        query=spell_query(request),
        state=state,
        silences=False,
    )


def _find_first_cell(explanation: Explanation) -> dict[str, Any]:
    """Return a telling cell of the last pass, across."""
    return attention.find_telling_cell(list_attentions(explanation)[-1])


def pick(explanation: Explanation, _request: Request) -> Value:
    """Return the selection on arrival, as an address names it."""
    return {
        **address_cell(_find_first_cell(explanation)),
        "pos": find_telling_position(explanation),
    }


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the telling head of the stored first result, for the family map."""
    return draw_thumbnail(list_attentions(explanation)[-1], _find_first_cell(explanation))


# ---- two neighbours


def find_pair(found: Found[Request, Explanation], question: Question) -> Neighbours:
    """Return the position in view and its right neighbour; the last position has none, so the pair
    before it is shown."""
    seen, asked = found.run, question.read_number("pos")
    at = find_telling_position(seen) - int(seen.repeats[0].any()) if asked is None else asked
    return Neighbours(found.request, max(0, min(at, len(seen.target) - 2)))


def draw_modes(seen: Joint, request: Request) -> Value:
    """Draw the product of two positions' marginals beside the joint of the network that writes one
    after the other."""
    rows, columns = (
        list(map(attention.show_token, seen.first)),
        list(map(attention.show_token, seen.second)),
    )
    parts = (seen.product, seen.joint)

    def draw(language: str) -> Value:
        return heatmaps.draw_maps(
            [
                heatmaps.Map(title, part)
                for title, part in zip(texts.MODES[language], parts, strict=True)
            ],
            rows,
            columns,
        )

    def best(part: Array) -> tuple[str, str]:
        row, column = np.unravel_index(int(part.argmax()), part.shape)
        return f"“{rows[row]} {columns[column]}”", _format_probability(part[row, column])

    (one, p), (other, q) = map(best, parts)
    says = fill_text(texts.MODES_SAYS, one=one, p=p, other=other, q=q)
    if seen.alike.any():
        a, b = (_format_probability(float(part[seen.alike].sum())) for part in parts)
        says = join_sentences(says, fill_text(texts.MODES_TWICE, a=a, b=b)) or says
    table = [
        (rows[i], columns[j], *(_round_values(part[i, j]) for part in parts))
        for i, j in np.ndindex(seen.product.shape)
    ]
    words = (
        texts.NEIGHBOURS,
        fill_text(texts.MODES_UNITS, before=f"“{seen.before or '<s>'}”"),
        says,
    )
    return describe_drawn_figure("neighbours", draw, words, texts.MODES_COLUMNS, table, height=300)


def _format_probability(p: float) -> str:
    """Return a probability with two significant digits."""
    return f"{p:.2f}" if p >= 0.01 else f"{p:.1g}" if p >= 1e-4 else "< 0.0001"


# ---- the comparison


def difference(
    explanations: tuple[Explanation, Explanation],
    read: tuple[Array, Array],
    request: Request,
    what: Text,
) -> change_panel.Difference:
    """Draw the effect of a change. explanations: the runs without and with it; read: log p of the
    pieces of the run without it, under both."""
    before, after = explanations
    both = np.isfinite(read[0]) & np.isfinite(read[1])
    first, last = (float(one[both].mean()) if both.any() else 0.0 for one in read)
    same = before.text == after.text
    told = fill_text(texts.KEEPS if same else texts.BECOMES, what=what, german=after.text)
    p, q = (float(one.lengths[len(one.target) - one.shortest]) for one in explanations)
    verdict, kept = (texts.SAME, "same") if same else (texts.OTHER, "other")
    rows = [
        change_panel.Row(
            texts.RUN_ITSELF,
            texts.PIECES,
            "pieces",
            len(before.target),
            len(after.target),
            digits=0,
        ),
        change_panel.Row(
            texts.RUN_ITSELF,
            texts.REPEATS,
            "repeats",
            before.repeats[-1].sum(),
            after.repeats[-1].sum(),
            digits=0,
        ),
        change_panel.Row(texts.RUN_ITSELF, texts.P_LENGTH, "p_length", p, q),
        change_panel.Row(
            texts.RUN_ITSELF, GERMAN, "german", before.text, after.text, verdict=verdict, kind=kept
        ),
    ]
    return change_panel.show_number_change(
        change_panel.ChangedNumber(first, last),
        texts.NUMBER,
        rows,
        texts.MOVES,
        texts.STAYS,
        first=told,
    )


# ---- guided steps


def _find_last_moment(explanation: Explanation) -> int:
    """Return the moment, among those that the picture steps through, at which greedy decoding has
    written all but the stop token."""
    ends = _round_values((0, *explanation.ends_ms, *explanation.greedy_ends_ms), 3)
    return sorted(set(ends)).index(ends[-2])


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    kept, start = first(), EXAMPLES[0]
    at_once = spell_query(replace(start, passes=1))
    shown_: dict[str, Shown] = {
        "after": (
            "",
            {"moment": str(_find_last_moment(kept.seen) if kept else 9), "pos": "none"},
            "passes",
        ),
        "stop": ("", {"pos": "none"}, "passes"),
        "at_once": (at_once, {}, "passes"),
        "length": (spell_query(replace(start, offset=3)), {}, "lengths"),
        "mixed": (at_once, {"neighbours": "open"}, ""),
        "distil": (spell_query(replace(start, variant="cmlm_raw", passes=1)), {}, "passes"),
        "iterate": (spell_query(EXAMPLES[2]), {"show": "settled"}, "passes"),
        "pays": ("", {}, "quality"),
    }
    return build_steps(texts, shown_)
