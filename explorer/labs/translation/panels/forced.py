"""The panel about teacher forcing: the visitor's own German, scored word by word with the run's
sentence."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.components.folded import Question, Value
from explorer.page.views import View, view_in_folded_panel
from explorer.values.packing import pack_array
from models.translation.forced_records import Forced, Reading
from models.translation.records import EXAMPLES, MAX_CHARACTERS, Explanation, Request

TITLE = {"en": "How likely is your own German?", "zh": "您自己的德文有多可能？"}
FUNCTION = "models.translation.forced:score_forced"
# a person's translation of the first example; other sentences start with the model's own
FIRST = "Kinder spielen auf einer grünen Wiese Fußball."


def read_question(run: Request, question: Question) -> Reading:
    """Return the German that the visitor typed; where nothing was typed, a person's translation for
    the first example and the model's own for all others."""
    typed = question.wish.get("german") if isinstance(question.wish, Mapping) else None
    own = isinstance(question.wish, Mapping) and question.wish.get("own") is True
    if isinstance(typed, str):
        return Reading(run.sentence, typed)
    return Reading(
        run.sentence, FIRST if run.sentence == EXAMPLES[0].sentence and not own else None
    )


def draw_panel(seen: Forced) -> Value:
    """Draw the panel."""
    return {
        "most": MAX_CHARACTERS,
        "german": seen.german,
        "own": seen.own,
        "ownLogP": seen.own_log_probability,
        "source": {"pieces": list(seen.source), "space": list(seen.source_space)},
        "target": {"pieces": list(seen.target), "space": list(seen.target_space)},
        "logp": [round(float(one), 5) for one in seen.log_probabilities],
        "ranks": seen.ranks.tolist(),
        "favourites": [list(row) for row in seen.favourites],
        "probabilities": [[round(float(one), 5) for one in row] for row in seen.probabilities],
        "cross": pack_array(seen.cross),
    }


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "forced",
    TITLE,
    lambda found, _question: draw_panel(found.answer),
    function=FUNCTION,
    wish=lambda found, question: read_question(found.request, question),
    picture="translation/forced",
    needs="request",
)
