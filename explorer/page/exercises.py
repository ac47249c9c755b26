"""The view in which a page checks its exercises."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from explorer.components import folded
from explorer.components.exercises import NAME, place_exercise_panel
from explorer.components.folded import Question
from explorer.contract.exercises import Attempt, Exercise
from explorer.engine import Function
from explorer.page.type_variables import R, S
from explorer.page.views import Found, OpeningEvent, View

KEYS = 64  # parts of a selection that are read
LONGEST = 200  # characters of each


def view_exercises(
    slug: str,
    exercises: Sequence[Exercise[R, S]],
    explain: Function,
    remove_changes: Callable[[R], R],
) -> View[R, S]:
    """Return the folded panel of a lab's exercises.

    An exercise is checked on the run in view, beside the run of the same input without changes,
    which `explain` answers.
    """
    by_key = {exercise.key: exercise for exercise in exercises}

    def check_exercise(asked: Found[R, S], question: Question) -> dict[str, object]:
        exercise = by_key.get(question.read_text("exercise"))
        if exercise is None:  # the panel is merely opened
            return folded.show_answer(question)
        changed = remove_changes(asked.request) != asked.request
        attempt = Attempt(
            asked.request, asked.run, asked.answer if changed else asked.run, read_look(question)
        )
        return folded.show_answer(question, solved=bool(exercise.is_solved(attempt)))

    look: OpeningEvent[R, S] = OpeningEvent(
        "ask",
        Question.from_event,
        check_exercise,
        folded.show_refusal,
        function=lambda question: explain if question.read_text("exercise") in by_key else None,
        wish=lambda asked, _question: remove_changes(asked.request),
        newest=True,
    )
    return View(NAME, lambda _value: place_exercise_panel(slug, exercises), at="below", look=look)


def read_look(question: Question) -> dict[str, str]:
    """Return the selection that a question holds, key → value; what is no text is left out."""
    given = question.wish.get("look") if isinstance(question.wish, dict) else None
    pairs = list(given.items())[:KEYS] if isinstance(given, dict) else []
    return {
        key: value[:LONGEST]
        for key, value in pairs
        if isinstance(key, str) and isinstance(value, str)
    }
