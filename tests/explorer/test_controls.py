"""One codec: a query and fields on top of it become a checked request, and a request has one spelling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from explorer import api, controls
from explorer.lab import Lab
from explorer.labs import LABS
from models.errors import InputError
from models.fields import characters, number
from tests.explorer.small_lab import PROGRAM, Ask
from tests.explorer.small_reader import PROGRAM as READER
from tests.explorer.small_reader import Ask as Reading
from tests.explorer.wishes import program_of


def read(query: str, given: object = None) -> Ask:
    request, notice = controls.read(Ask, query, given)
    assert notice is None
    return request


def test_fields_that_are_set_stand_on_top_of_the_query() -> None:
    assert read("v=1&text=xyz&times=3", {"cut": "0.5", "loud": "1"}) == Ask(text="xyz", times=3, cut=0.5, loud=True)
    assert read("v=1&text=xyz&times=3", {"times": "2"}) == Ask(text="xyz")
    assert read("", {}) == Ask()


@pytest.mark.parametrize(
    ("query", "given", "says"),
    [
        ("v=1&times=10", None, "The number of times is 10; it can be 1 to 9."),
        ("v=1", {"times": "0"}, "The number of times is 0; it can be 1 to 9."),
        ("v=1", {"times": "many"}, "The link's “times” reads “many”; a whole number of up to 15 digits belongs there."),
        ("v=1", {"loud": "maybe"}, "The link's “loud” reads “maybe”; 0 or 1 belongs there."),
        ("v=1", {"task": "sing"}, "There is no task sing; there are word, bits, story."),
        ("v=1", {"text": "x" * 41}, "Your text has 41 characters; at most 40 can be read."),
        ("v=2", None, "This link is of version 2; this page reads version 1."),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(query: str, given: object, says: str) -> None:
    with pytest.raises(InputError) as caught:
        controls.read(Ask, query, given)
    assert caught.value.text["en"] == says


@pytest.mark.parametrize("given", [{"times": 3}, {"other": "1"}, ["times", "3"], "times=3", 5, {"times": None}, {3: "times"}])
def test_fields_of_another_form_are_refused(given: Any) -> None:
    with pytest.raises(InputError) as caught:
        controls.read(Ask, "v=1", given)
    assert caught.value.code == "malformed"


def test_a_request_too_large_for_a_link_has_no_query() -> None:
    @dataclass(frozen=True)
    class Long:
        text: str = characters("", 10**6)

    assert controls.query(Long("".join(map(str, range(20_000))))) == ""


def test_without_its_changes_a_request_keeps_its_input() -> None:
    changed = Ask("bits", "101", times=5, cut=0.5, loud=True)
    assert controls.plain(changed, PROGRAM.controls) == Ask("bits", "101")
    assert [one["en"] for one in controls.changes(changed, PROGRAM.controls)] == ["said 5 times", "cut 0.5", "said loud"]
    assert controls.changes(replace(changed, times=2, cut=0.0, loud=False), PROGRAM.controls) == []


def test_a_widget_learns_type_default_and_range_from_the_record() -> None:
    drawn = {control.field: control.drawn(Ask) for control in PROGRAM.controls}
    assert (drawn["times"]["least"], drawn["times"]["most"], drawn["times"]["default"]) == (1, 9, "2")
    assert drawn["task"]["values"] == ["word", "bits", "story"]
    assert drawn["text"]["most"] == 40
    assert drawn["loud"]["names"] == [["1", {"en": "yes", "zh": "是"}], ["0", {"en": "no", "zh": "否"}]]


def test_a_story_brings_its_words_and_other_controls_none() -> None:
    drawn = [control.drawn(Ask) for control in PROGRAM.controls]
    (words,) = [one["words"] for one in drawn if one["kind"] == "story"]
    assert words[2] == {"name": {"en": "things", "zh": "物品"}, "words": ["key", "apple"], "before": "the"}  # type: ignore[index]
    assert all(one["words"] == [] for one in drawn if one["kind"] != "story")


def test_a_default_that_stands_for_another_number_has_no_place_of_its_own_on_the_slider() -> None:
    @dataclass(frozen=True)
    class Limited:
        limit: int = number(0, 0, 20, en="limit", zh="上限")

    drawn = controls.Control("limit", {"en": "", "zh": ""}, "number", stands=("task", {"word": 7})).drawn(Limited)
    assert (drawn["least"], drawn["default"]) == (1, "0")
    assert drawn["stands"] == ["task", {"word": 7}]


def test_a_passage_brings_its_pages_and_a_knob_of_several_parts_its_places() -> None:
    drawn = {one.field: one.drawn(Reading) for one in READER.controls}
    assert [page["key"] for page in drawn["text"]["pages"]] == ["sea", "hill", "moor"]  # type: ignore[attr-defined]
    assert drawn["text"]["most"] == 3000
    assert drawn["length"]["unit"] == {"en": "{n} characters", "zh": "{n} 个字符"} and drawn["length"]["step"] == 20
    assert drawn["variant"]["values"] == ["calm", "bold", "wild"]
    assert drawn["memory"]["knob"]["values"] == [0, 16, 64, 128] and drawn["memory"]["default"] == "64"  # type: ignore[index]


@dataclass(frozen=True)
class Often(Ask):
    """The same request with one field more."""

    often: int = number(1, 1, 5, en="how often", zh="多少次")


def test_a_knob_is_a_field_of_the_request_and_a_control_of_the_page_and_no_more() -> None:
    label, said = {"en": "often", "zh": "频次"}, {"en": "more often", "zh": "更频繁"}
    knob = controls.Control("often", label, "number", change=True, says=lambda _n: said)
    program = replace(PROGRAM, kind=Often, controls=(*PROGRAM.controls, knob))
    request, _ = controls.read(Often, "v=1", {"often": "3"})
    assert request == Often(often=3) and controls.query(request) == "v=1&often=3", "the link says it"
    with pytest.raises(InputError, match="The how often is 6; it can be 1 to 5"):
        controls.read(Often, "v=1&often=6")
    assert controls.changes(request, program.controls) == [said], "the chip and the sentence say it"
    assert controls.plain(request, program.controls) == Often(), "Esc takes it off"
    drawn = knob.drawn(program.kind)
    assert (drawn["least"], drawn["most"], drawn["default"], drawn["label"]) == (1, 5, "1", label), "the panel has its slider"
    assert "often" in {one.name for one in api.parameters(program.kind)}, "a script may set it"


SCRIPTS = {path: path.read_text("utf-8") for path in Path(controls.__file__).parent.joinpath("widgets").rglob("*.js")}


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_the_panel_has_no_words_of_its_own_for_a_knob(lab: Lab) -> None:
    for label in [control.label for control in program_of(lab.slug).controls if control.change]:
        told = [path.name for path, script in SCRIPTS.items() if all(f'"{text}"' in script for text in label.values())]
        assert told == [], f"{label['en']} is written again"
