"""The panel about skewing: how the relative term of the run in view is computed without a tensor of
query × key × d_head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.components.folded import Question, Value, parse_head
from explorer.contract.labels import Text, fill_text
from explorer.labs.music import texts
from explorer.labs.music.figures import roll
from explorer.labs.music.figures.skew import QUERIES, list_steps
from explorer.page.views import View, view_in_folded_panel
from models.explaining.errors import InputError
from models.music import chorales, events
from models.music.records import Explanation, Made, Request
from models.music.weights import look

TITLE: Final = {
    "en": "How does “query by distance” become “query by key”?",
    "zh": "“查询 × 距离”怎样变成“查询 × 键”？",
}
PITCHES: Final = ("C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B")
VOICES: Final = "SATB"
BEGINNING: Final = {"en": "the beginning", "zh": "开头"}
REST: Final = {"en": "rest", "zh": "休止"}
NO_TERM: Final = {
    "en": "None of these models has a relative term.",
    "zh": "这里的模型都没有相对位置项。",
}
TOO_SHORT: Final = {
    "en": "There are {events} events; skewing is shown on {least} queries at least.",
    "zh": "只有 {events} 个事件；演示倾斜变换至少需要 {least} 个查询。",
}


@dataclass(frozen=True)
class Wish:
    """The question of the panel. model: in view, "" for the one on arrival; place: (layer, head)
    from 0, None for the one on arrival."""

    model: str = ""
    place: tuple[int, int] | None = None
    queries: int = QUERIES[-1]
    first: int = 0


def read_question(question: Question) -> Wish:
    """Return the browser's question; where it makes no sense, the one on arrival."""
    queries = next((n for n in QUERIES if question.read_text("squeries") == str(n)), QUERIES[-1])
    return Wish(
        question.read_text("model"),
        parse_head(question.read_text("head")),
        queries,
        question.read_number("sfrom") or 0,
    )


def draw_panel(explanation: Explanation, wish: Wish, style: str) -> Value:
    """Draw the panel. Raise InputError where no model of the run has a relative term, or the run is
    too short."""
    # This imports torch, and a page without this panel need not wait for it.
    from models.music.explain import skew as skewed

    able = {made.variant: made for made in explanation.made if made.table.size}
    if not able:
        raise InputError("no_term", **NO_TERM)
    made = able.get(wish.model) or next(iter(able.values()))
    layers, heads = made.queries.shape[:2]
    layer, head = _find_chosen_head(explanation, wish, style)
    layer, head = min(layer, layers - 1), min(head, heads - 1)
    if len(made.events) < QUERIES[0]:
        raise InputError(
            "too_short", **fill_text(TOO_SHORT, events=len(made.events), least=QUERIES[0])
        )
    size = min(wish.queries, len(made.events))
    first = min(wish.first, len(made.events) - size)
    told = {"first": first, "events": len(made.events), "distances": made.table.shape[2]}
    told |= {
        "makes": name_events(made, style, range(first, first + size)),
        "reads": name_events(made, style, range(first - 1, first + size - 1)),
    }
    other = (
        texts.NAMES[wish.model] if wish.model in texts.NAMES and wish.model not in able else None
    )
    found = vars(skewed(made, layer, head, first, size))
    return list_steps(
        texts.NAMES[made.variant], (layer, head), (layers, heads), **found, **told, other=other
    )


def _find_chosen_head(explanation: Explanation, wish: Wish, style: str) -> tuple[int, int]:
    """Return the head in view; on arrival the one that the rolls select."""
    if wish.place is not None:
        return wish.place
    pick = roll.find_telling_note(explanation.made, look, style)
    return (parse_head(pick["head"]) if pick else None) or (0, 0)


def name_events(made: Made, style: str, which: Sequence[int]) -> list[Text]:
    """Return some events as people read them: "S C5", "F♯4 ends". −1 is the beginning, before the
    first."""
    return [
        BEGINNING
        if i < 0
        else _name_cell(made.events, i)
        if style == "chorale"
        else _name_event(int(made.events[i]))
        for i in which
    ]


def _name_pitch(pitch: int) -> str:
    return f"{PITCHES[pitch % 12]}{pitch // 12 - 1}"


def _name_cell(cells: NDArray[np.int16], i: int) -> Text:
    voice, cell = VOICES[i % len(chorales.VOICES)], int(cells[i])
    if cell == chorales.SILENCE:
        return {language: f"{voice} {word}" for language, word in REST.items()}
    name = f"{voice} {_name_pitch(cell + chorales.LOWEST - 1)}"
    return {"en": name, "zh": name}


def _name_event(event: int) -> Text:
    if event < events.NOTE_OFF:
        return {"en": _name_pitch(event), "zh": _name_pitch(event)}
    if event < events.SHIFT:
        pitch = _name_pitch(event - events.NOTE_OFF)
        return {"en": f"{pitch} ends", "zh": f"{pitch} 止"}
    if event < events.VELOCITY:
        milliseconds = (event - events.SHIFT + 1) * events.STEP
        return {"en": f"{milliseconds} ms on", "zh": f"过 {milliseconds} 毫秒"}
    velocity = (event - events.VELOCITY) * events.WIDTH
    return {"en": f"velocity {velocity}", "zh": f"力度 {velocity}"}


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "skew",
    TITLE,
    lambda found, question: draw_panel(found.run, read_question(question), found.request.style),
    picture="music/skew",
)
