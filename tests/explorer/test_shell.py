"""What the frame is given: facts of the labs and texts in both languages."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from explorer import labels, qr
from explorer.labs import LABS
from explorer.widgets.home import home
from explorer.widgets.lecture import lecture
from explorer.widgets.shell import shell
from models.errors import InputError


def test_every_shared_text_is_said_in_both_languages() -> None:
    groups = [labels.SITE, labels.SHELL, labels.CHANGED, labels.HOME, labels.LECTURE]
    texts = [text for group in groups for text in group.values()]
    texts += [text for pair in (*labels.GRAMMAR, *labels.GRAMMAR_IN_FULL) for text in pair]
    for text in texts:
        assert set(text) == {"en", "zh"}
        assert all(words.strip() for words in text.values()), text


def test_both_languages_of_a_text_fill_in_the_same_names() -> None:
    for group in (labels.SITE, labels.SHELL, labels.CHANGED, labels.HOME, labels.LECTURE):
        for name, text in group.items():
            found = {language: set(re.findall(r"\{(\w+)\}", words)) for language, words in text.items()}
            assert found["en"] == found["zh"], name


def test_the_frame_and_the_map_are_json() -> None:
    for component in (shell(LABS), home(LABS), *(shell(LABS, lab) for lab in LABS)):
        json.dumps(component.props)


def test_a_lab_page_names_its_steps_and_the_map_has_none() -> None:
    lab = LABS[0]
    assert shell(LABS).props["steps"] == []
    assert [step["title"] for step in shell(LABS, lab).props["steps"]] == [dict(step.title) for step in lab.steps]


def test_the_map_draws_only_ancestors_that_are_on_it() -> None:
    shown = {lab.slug for lab in LABS}
    assert all(set(lab["ancestors"]) <= shown for lab in home(LABS).props["labs"])


def test_each_lab_knows_the_one_before_it_and_the_one_behind() -> None:
    for at, lab in enumerate(LABS):
        props = shell(LABS, lab).props
        before, onward = (LABS[i] if 0 <= i < len(LABS) else None for i in (at - 1, at + 1))
        assert props["onward"] == (None if onward is None else {"path": onward.path, "short": dict(onward.short)})
        assert props["before"] == (None if before is None else {"path": before.path, "steps": len(before.steps)})
    assert shell(LABS).props["onward"] is None and shell(LABS).props["before"] is None


def test_the_frame_leads_to_a_lecture_only_where_there_is_one() -> None:
    assert shell(LABS).props["lecture"] is None
    assert shell(LABS, lecture="/lecture").props["lecture"] == "/lecture"


def test_the_lecture_names_every_step_of_every_lab_in_teaching_order() -> None:
    props = lecture(LABS).props
    assert [lab["path"] for lab in props["labs"]] == [lab.path for lab in LABS]
    said = [[(step["title"], step["say"]) for step in lab["steps"]] for lab in props["labs"]]
    assert said == [[(dict(step.title), dict(step.say)) for step in lab.steps] for lab in LABS]


def test_a_link_becomes_a_picture_of_squares() -> None:
    picture = ElementTree.fromstring(qr.svg("http://localhost:7860/translation?v=1&sentence=A+dog"))
    side = float(picture.attrib["viewBox"].split()[2])
    assert side >= 21 + 8  # the smallest code and its quiet zone
    assert "width" not in picture.attrib


def test_a_code_says_nothing_that_is_markup() -> None:
    assert "<img" not in qr.svg("http://localhost/?sentence=<img src=x onerror=alert(1)>")


@pytest.mark.parametrize("length", [0, qr.LONGEST + 1])
def test_a_link_too_long_for_a_code_is_refused_with_both_lengths(length: int) -> None:
    with pytest.raises(InputError, match=f"{length:,} characters.*{qr.LONGEST:,}"):
        qr.svg("a" * length)
