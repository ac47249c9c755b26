"""The pages of models of long texts without a browser: what a wish becomes, what the widgets are told, what a change costs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from explorer import controls
from explorer.engine import Engine
from explorer.labs.adaptive_span import page as span_page
from explorer.labs.transformer_xl import about as xl_about
from explorer.labs.transformer_xl import page as xl_page
from explorer.labs.transformer_xl import views as xl_views
from explorer.labs.transformer_xl.deeper import memories, terms
from explorer.widgets.folded import Question
from models.adaptive_span import records as span_records
from models.transformer_xl import records as xl_records
from tests.explorer.wishes import alone, finished, opened, told

SENTENCE = "The captain went down to the harbour, and nobody saw him come back. "
XL = xl_records.Request(text=SENTENCE * 5, length=6)
SPAN = span_records.Request(text=SENTENCE * 5, length=6)
LABS = pytest.mark.parametrize(("page", "request_"), [(xl_page, XL), (span_page, SPAN)], ids=["transformer_xl", "adaptive_span"])


def paid(page: Any, seen: Any, model: int = 0) -> float:
    """Bits per character of the text given."""
    one = seen.readings[model] if page is xl_page else seen
    return float(one.nats[: seen.given].mean() / np.log(2))


@pytest.mark.parametrize(
    ("page", "request_"),
    [
        (xl_page, dataclasses.replace(XL, intervention="cut")),
        (xl_page, dataclasses.replace(XL, memory=32, segment=32)),
        (span_page, dataclasses.replace(SPAN, spans=((0, 1, 100.0), (3, -1, 4.0)))),
    ],
    ids=["cut", "memory and segment", "some spans"],
)
def test_a_change_is_told_with_what_it_costs(engine: Engine, page: Any, request_: Any) -> None:
    updates = told(page.program(), controls.query(request_), engine=engine)
    # The knobs of a link stand where it says from the moment its text is there, not only when the change is known.
    assert ("running", controls.texts(request_)) in [
        (update["change"]["state"], update["change"].get("fields")) for update in updates if "change" in update
    ]
    panel = updates[-1]["change"]
    side = panel["sides"][0]
    assert side["reached"] and side["number"]["after"] != pytest.approx(side["number"]["before"], abs=1e-3)
    plain = alone(engine.ask(page.GENERATE, page.program().plain(request_))).value
    assert side["number"]["before"] == pytest.approx(paid(page, plain), abs=1e-4)
    changed = alone(engine.ask(page.GENERATE, request_)).value
    assert side["number"]["after"] == pytest.approx(paid(page, changed), abs=2e-3)
    assert all(f"{side['number']['after']:.2f}" in panel["sentence"][language] for language in ("en", "zh"))


def test_cutting_the_memory_makes_a_page_dearer_and_leaves_the_other_model_alone(engine: Engine) -> None:
    panel = finished(xl_page.program(), dataclasses.replace(xl_records.EXAMPLES[0], intervention="cut", length=0), engine)["change"]
    cut = panel["sides"][0]
    assert cut["number"]["after"] > cut["number"]["before"] + 0.01
    assert [side["reached"] for side in panel["sides"][1:]] == [False] * (len(panel["sides"]) - 1)


def test_a_text_of_one_segment_has_nothing_to_remember(engine: Engine) -> None:
    panel = finished(xl_page.program(), xl_records.Request(text="It was late.", length=0, intervention="cut"), engine)["change"]
    assert panel["state"] == "done" and not panel["sides"][0]["reached"]
    assert "no longer than one segment" in panel["sentence"]["en"]


@LABS
def test_one_character_and_mixed_scripts_are_read(engine: Engine, page: Any, request_: Any) -> None:
    for text in ("x", "Ünïcödé 漢字 שלום 🎼 and then some more English words"):
        bar = finished(page.program(), dataclasses.replace(request_, text=text, length=2), engine)["ask"]
        assert bar["state"] == "live" and bar["lines"][0]["en"] == text
        assert (bar["notice"] is not None) == (len(text) > 1)
    assert "🎼" in bar["notice"]["en"] or "漢" in bar["notice"]["en"]


def test_a_text_unlike_the_books_of_training_is_read_with_a_warning(engine: Engine) -> None:
    text = "".join(map(chr, np.random.default_rng(1).integers(33, 126, 600).tolist()))
    for page, request_ in ((xl_page, XL), (span_page, SPAN)):
        bar = finished(page.program(), dataclasses.replace(request_, text=text, length=0), engine)["ask"]
        assert bar["warning"] is not None and "unlike" in bar["warning"]["en"]


def test_the_terms_of_the_run_in_view_add_up() -> None:
    kept = xl_views.first()
    assert kept is not None
    for wish in (terms.Wish(), terms.Wish("xl", (3, 3), 5, 16), terms.Wish("absolute", (0, 1), 10**9, 64)):
        drawn = terms.value(kept.seen, wish)
        assert drawn["layers"] == 4 and drawn["memory_until"] >= 0
    assert drawn["other"] is not None  # the model in view has no such terms
    question = Question("", {"model": "xl", "head": "2.3", "pos": "7,40", "tqueries": "32"})
    assert terms.wished(question) == terms.Wish("xl", (1, 2), 40, 32)
    assert terms.wished(Question("", {"head": "x", "pos": "-1", "tqueries": "7"})) == terms.Wish()


def test_what_memory_buys_is_drawn_for_this_text_and_the_held_out_book(engine: Engine) -> None:
    drawn = opened(xl_page.program(), "memories", {"run": controls.query(XL)}, engine)
    assert drawn["state"] == "shown"
    memories_ = [one["key"] for one in drawn["choices"][0]["options"]]
    assert [one["when"]["bmemory"] for one in drawn["figures"] if "when" in one] == memories_
    assert len(drawn["figures"]) - len(memories_) == (2 if xl_records.ladder() else 1)
    short = memories.value(xl_records.Memories((0, 512), np.ones((2, 9), np.float32), np.zeros(0, np.float32)))
    assert short["choices"] == [] and all("when" not in one for one in short["figures"])
    assert opened(xl_page.program(), "memories", {"run": "v=1&text=%20"}, engine)["state"] == "refused"


def test_what_spans_save_is_drawn_for_the_run_in_view(engine: Engine) -> None:
    def found(run: str) -> Any:
        return opened(span_page.program(), "saving", {"run": run}, engine)

    assert found("")["figure"]["name"] == "saving"
    assert found(controls.query(dataclasses.replace(SPAN, spans=((-1, -1, 512.0),))))["state"] == "shown"
    assert found("v=1&text=%20")["state"] == "refused"


def test_evaluation_speed_stands_where_it_was_measured() -> None:
    drawn = xl_about.speed()
    assert (drawn is None) == (not xl_about.RESULT.exists())
    if drawn is not None:
        assert "times as long" in str(drawn["sentence"])


def test_the_wave_at_a_border_is_the_ladders() -> None:
    drawn, measured = xl_about.wave(), xl_records.ladder()
    assert (drawn is None) == (measured is None)
    if drawn is not None:
        assert measured is not None
        rows = drawn["table"]["rows"]  # type: ignore[index]
        assert [row[2] for row in rows] == measured["by_place"]["bits"]["xl"]
        cut = measured["by_place"]["bits"]["none"]
        assert cut[0] > cut[-1], "nothing remembered costs most where a segment begins"
        assert f"{cut[0]:.2f}" in drawn["sentence"]["zh"]  # type: ignore[index]
