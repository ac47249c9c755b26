"""What every lab says of a run is true of it: nothing invisible is printed raw, every generated
result says why it ends, a guess is right by its number, and what is offered is there."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from explorer.contract import controls
from explorer.contract.lab import OpenLab
from explorer.engine import Engine
from explorer.labs import LABS
from explorer.page import api
from models.explaining.errors import name_character
from models.explaining.request_fields import Characters
from models.explaining.shared_records import REASONS
from tests.explorer.page.test_every_page import small
from tests.explorer.wishes import alone, finished, program_of, told
from tests.test_labs import labs, texts_of

ROOT = Path(__file__).parents[2]
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
MARKS = "\u202e \u2066\u200b\u200f\ufeff"
CONTROLS = "\x00\x0b\x0c\x1c\x85\u2028"
GENERATES = {  # labs whose answers are made symbol by symbol; the others answer in one piece
    *(
        "translation",
        "rnn_attention",
        "nonautoregressive",
        "image_transformer",
        "music",
        "language_model",
    ),
    *("transformer_xl", "adaptive_span", "sparse_transformer"),
}
TYPED = {  # a request of each lab that reads text, and the field that is typed
    "language_model": "text",
    "transformer_xl": "text",
    "adaptive_span": "text",
    "bert": "text",
    "translation": "sentence",
    "rnn_attention": "sentence",
    "nonautoregressive": "sentence",
    "reformer": "text",
    "sparse_transformer": "text",
    "universal_transformer": "question",
}
# what was read, by a lab's name for it
READ = ("source", "pieces", "positions", "numbers", "tokens", "text", "readings", "made")
FRENCH = "Il était une forêt où père Noël rêve, à côté de la mère. Ça va? Œuvre."


def typed(slug: str, text: str) -> Any:
    """A small request of a lab with this text in it."""
    request = small(next(lab for lab in LABS if lab.slug == slug))
    more = (
        {"mode": "text"}
        if slug == "reformer"
        else {"task": "text", "length": 9}
        if slug == "sparse_transformer"
        else {}
    )
    return replace(request, **more, **{TYPED[slug]: text})


def sentences(updates: list[dict[str, Any]]) -> list[str]:
    """Every text in both languages that a page is told, but for the lines of a text file, which are
    no sentences."""
    parts = [
        (key, part)
        for update in updates
        for value in update.values()
        if value
        for key, part in value.items()
    ]
    return [
        said
        for key, part in parts
        if key != "lines"
        for text in texts_of(part)
        for said in text.values()
    ]


@labs
def test_no_sentence_holds_what_nobody_sees(lab: OpenLab, engine: Engine) -> None:
    page = program_of(lab.slug)
    fine = small(lab)
    hostile = f"Two {MARKS} dogs run \x07on the grass."
    names = [
        field.name for field in fields(fine) if isinstance(field.metadata["range"], Characters)
    ]
    for name in [*names, *({"sentence"} & {field.name for field in fields(fine)})]:
        updates = told(page, "", controls.spell_fields(replace(fine, **{name: hostile})), engine)
        assert not [said for said in sentences(updates) if RAW.search(said)], name
    if lab.slug in TYPED:
        updates = told(page, "", controls.spell_fields(typed(lab.slug, hostile)), engine)
        assert not [said for said in sentences(updates) if RAW.search(said)]
    updates = told(
        page, f"v=1&be\u202eam=4&seed=\u202e7&{names[0] if names else 'x'}=a", engine=engine
    )
    assert not [said for said in sentences(updates) if RAW.search(said)]


@pytest.mark.parametrize("slug", TYPED)
def test_controls_are_read_as_spaces(slug: str, engine: Engine) -> None:
    page = program_of(slug)
    words = getattr(small(next(lab for lab in LABS if lab.slug == slug)), TYPED[slug]).split() or [
        "two",
        "dogs",
    ]
    words = ["two", "dogs", "run"] if slug != "universal_transformer" else words
    seen = [
        alone(engine.ask(page.explain, typed(slug, by.join(words)))).value
        for by in (" ", *CONTROLS)
    ]
    known, *others = ([getattr(one, name) for name in READ if hasattr(one, name)] for one in seen)
    assert known and all(str(other) == str(known) for other in others)


@labs
def test_every_generated_result_says_why_it_ends(lab: OpenLab, engine: Engine) -> None:
    page = program_of(lab.slug)
    ended = finished(page, small(lab), engine)["ask"]["ended"]
    assert bool(ended) == (lab.slug in GENERATES)
    assert all(
        one["reason"] in REASONS and one["count"] > 0 and str(one["count"]) in one["text"]["en"]
        for one in ended
    )
    first = page.first()
    drawn = told(page, "", engine=engine)[-1]["ask"]
    assert first is None or bool(drawn["ended"]) == (lab.slug in GENERATES)


def test_a_limit_is_no_end(engine: Engine) -> None:
    page = program_of("translation")
    drawn = finished(page, page.read_request("v=1&sentence=dog&beam=4")[0], engine)["ask"]
    assert [one["reason"] for one in drawn["ended"]] == [
        "limit"
    ] and "The limit of 51 pieces ended it." in drawn["warning"]["en"]
    assert [reason for *_, reason in drawn["answer"]["hypotheses"]] == ["limit"] * 4
    whole = finished(page, page.read_request("v=1&sentence=Two+dogs+run.")[0], engine)["ask"]
    assert [one["reason"] for one in whole["ended"]] == ["token"] and whole["warning"] is None


def test_a_file_holds_the_text_and_not_its_picture(engine: Engine) -> None:
    page = program_of("translation")
    answer = finished(page, page.read_request("v=1&sentence=%22Stop%22+sign.")[0], engine)["ask"][
        "answer"
    ]
    assert (
        answer["pieces"][0] == "␣" and "␣" not in answer["text"] and answer["text"].startswith("„")
    )
    page = program_of("language_model")
    request = page.read_request("v=1&variant=words&length=0")[0]
    lines = finished(page, replace(request, text=FRENCH), engine)["ask"]["lines"]
    assert lines[0] == {"en": FRENCH, "zh": FRENCH}


def test_a_guess_is_right_by_its_number(engine: Engine) -> None:
    page = program_of("language_model")
    request = replace(page.read_request("v=1&variant=words&length=4")[0], text=FRENCH)
    seen = alone(engine.ask(page.explain, request)).value
    tower = finished(page, request, engine)["tower"]
    for row, numbers in zip(tower["sets"][0]["right"], seen.lens.numbers.tolist(), strict=True):
        assert row == [guess == true for guess, true in zip(numbers, seen.numbers, strict=True)]
    given = seen.given
    assert sum(tower["sets"][0]["right"][-1][:given]) == 2, (
        "13 guesses are spelled � as what stands there is"
    )
    assert "\ufffd" not in "".join([*seen.symbols, *seen.lens.best[-1]]) and tower["symbols"][
        3:5
    ] == ["⟨C3⟩", "⟨A9⟩"]
    bert = program_of("bert")
    hidden = bert.read_request("v=1&text=Two+dogs+are+running+through+the+snow.&hidden=3")[0]
    run = alone(engine.ask(bert.explain, hidden)).value
    (drawn,) = finished(bert, hidden, engine)["arrows"]["guesses"]
    assert drawn["both"]["right"] == [
        number == run.guesses[0].number for number in run.guesses[0].numbers[0]
    ]


WIDE = [
    ("act_rnn", "task=parity&text=１０１１"),
    ("act_rnn", "task=addition&text=４７８＋２５６"),
    ("universal_transformer", "task=addition&text=４７８＋２５６"),
    ("translation", "sentence=Two+dogs.&beam=２"),
]


@pytest.mark.parametrize(("slug", "query"), WIDE)
def test_full_width_digits_are_digits(slug: str, query: str, engine: Engine) -> None:
    page = program_of(slug)
    narrow = unicodedata.normalize("NFKC", query).replace("8+", "8%2B")
    wide, usual = (
        finished(page, page.read_request(f"v=1&{one}")[0], engine)["ask"]["answer"]
        for one in (query, narrow)
    )
    assert {**wide, "given": ""} == {**usual, "given": ""}


@labs
def test_a_script_gets_every_view_that_is_offered_and_no_other(
    lab: OpenLab, engine: Engine
) -> None:
    page = replace(program_of(lab.slug), slug=lab.slug)
    request = small(lab)
    given = controls.spell_fields(request)
    with pytest.raises(
        gr.Error, match="There is no view ⟨U\\+202E right-to-left override⟩x; there are "
    ):
        alone(api.answer_script(page, lab, engine, given, ["\u202ex"]))
    offered = {
        name: view
        for name, view in api.collect_views(page).items()
        if view.draw and view.draws_request(request)
    }
    found = alone(api.answer_script(page, lab, engine, given, list(offered)))
    assert found["views"].keys() == offered.keys() and "ended" in found
    assert all(name in api.describe_endpoint(lab, page) for name in api.collect_views(page))
    panel = next(
        (
            name
            for name, view in api.collect_views(page).items()
            if view.look and not view.draw and view.draws_request(request)
        ),
        None,
    )
    if panel is not None:
        assert (
            alone(api.answer_script(page, lab, engine, given, panel))["views"][panel]["state"]
            == "shown"
        )


def test_both_languages_name_hidden_parts() -> None:
    script = (ROOT / "explorer/frontend/lib/invisible.js").read_text("utf-8")
    names = re.findall(r'(0x[0-9a-f]+|\d+): "([^"]+)"', script)
    assert len(names) > 20
    for code, name in names:
        letter = chr(int(code, 0))
        assert name_character(letter) == f"⟨U+{ord(letter):04X} {name}⟩"
