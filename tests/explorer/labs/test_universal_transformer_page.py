"""The page of the Universal Transformer without a browser: what a wish becomes, what the widgets
are told, who is compared."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from explorer.labs.universal_transformer import texts, views
from explorer.page.runs import ResultOrigin
from models.universal_transformer.records import EXAMPLES, Beside, Explanation, Request
from models.universal_transformer.stories import WORDS
from tests.explorer.numbers import halted
from tests.explorer.wishes import program_of

STORY = (
    "john put the key in the box",
    "mary took the box",
    "mary went to the garden",
    "where is the key",
)


def explanation(
    answer: str = "garden", taken: tuple[int, ...] = (2, 1, 1, 3), task: str = "stories"
) -> Explanation:
    """A run over four positions, the last of which is the question and looks at its first fact at
    step 2, head 1."""
    count, most, stories = len(taken), max(taken), task == "stories"
    attention = np.full((most, 2, count, count), 1 / count, np.float32)
    attention[min(1, most - 1), 0, 3] = (0.7, 0.1, 0.1, 0.1)
    return Explanation(
        positions=STORY if stories else ("a", "=", "_", "_"),
        wanted=(3,) if stories else (2, 3),
        answer=answer,
        expected="garden",
        probability=np.array([0.98], np.float32),
        facts=(0, 1, 2) if stories else (),
        attention=attention,
        stopped=("office", "garden", "garden")[:most],
        ponder=2.3,
        ponder_of_answer=3.6,
        difficulty=3,
        beside=(Beside("ordinary", "office", False), Beside("fixed", "nobody", False)),
        **halted(taken, 0.2, 0.9),
    )


def drawn(seen: Explanation) -> dict[str, Any]:
    """What the page draws of a run."""
    return program_of("universal_transformer").render_run(
        seen, Request(), ResultOrigin("live", 12.0, "cpu")
    )


def test_every_story_word_is_on_a_chip() -> None:
    typed = {control.when["task"][0] for control in views.CONTROLS if control.field == "text"}
    assert {example.task for example in EXAMPLES} == typed
    chips = {
        part
        for group in views.VOCABULARY
        for word in group.words
        for part in (*word.split(), *group.before.split())
    }
    assert chips == {word for word in WORDS if word and word != "nobody"}


@pytest.mark.parametrize(
    ("request_", "beyond"),
    [
        (Request("addition", "123456789+1", ""), False),
        (Request("addition", "1234567890 + 1=", ""), True),
        (Request("addition", "0000000001+2", ""), False),
        (Request("reverse", "a" * 20, ""), False),
        (Request("copy", "a" * 21, ""), True),
        (Request(), False),
    ],
)
def test_an_input_longer_than_in_training_carries_a_warning(
    request_: Request, beyond: bool
) -> None:
    assert (views.describe_warning(request_, explanation()) is not None) == beyond


def test_a_question_attends_to_a_needed_fact() -> None:
    found = drawn(explanation())
    bar, thinking, heads = found["ask"], found["ponder"], found["attention"]
    assert (
        bar["state"] == "live"
        and bar["answer"]["right"] is True
        and bar["answer"]["said"] == "garden"
    )
    assert bar["answer"]["given"] == Request().question
    assert (
        views.answer(explanation(task="addition"), Request("addition", "1+2"))["given"] == "1+2"
    ), "though its link has a question"
    assert [other["answer"] for other in bar["answer"]["beside"]] == ["office", dict(texts.NOBODY)]
    assert thinking["positions"] == list(STORY) and thinking["steps"] == [2, 1, 1, 3]
    assert thinking["marks"] == [0, 1, 2] and thinking["pick"] == 3
    assert [one["right"] for one in thinking["stopped"]] == [False, True, True]
    (kind,) = heads["kinds"]
    assert (
        kind["axis"] == "step"
        and kind["taken"] == [2, 1, 1, 3]
        and kind["spaced"] is True
        and heads["silences"] is False
    )
    assert views.draw_attention_kind(explanation(task="copy"), "copy").spaced is False, (
        "characters are tokens"
    )
    assert views.find_telling_place(explanation()) == (1, 0, 3, 0)
    assert heads["pick"] == {"kind": "self", "layer": 1, "head": 0, "row": 3, "col": 0}
    shown = views.list_for_bertviz(explanation()).weights
    assert not shown[1:, :, 1].any() and shown[1, 0, 3, 0] == pytest.approx(0.7), (
        "bertviz is shown nothing of what has stopped"
    )


def test_the_longest_answer_is_looked_at() -> None:
    assert (
        views.find_longest(explanation(taken=(2, 1, 1, 1)))
        == 3
        == views.find_longest(explanation(taken=(1, 1, 2, 3), task="copy"))
    )


def test_nobody_knows_is_an_answer() -> None:
    seen = dataclasses.replace(
        explanation("nobody", (1, 1, 1, 2)),
        expected="nobody",
        facts=(),
        stopped=("nobody", "nobody"),
    )
    found = drawn(seen)
    assert found["ask"]["answer"]["right"] is True and found["ask"]["answer"]["said"] == dict(
        texts.NOBODY
    )
    assert all(one["right"] for one in found["ponder"]["stopped"])
    assert views.format_answer("copy", "nobody") == "nobody", "a word may be copied"
