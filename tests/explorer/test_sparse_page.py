"""The page of sparse attention without a browser: what a wish becomes, what the widgets are told, what another pattern costs."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from explorer import controls
from explorer.controls import query, thresholds
from explorer.engine import Engine
from explorer.labels import filled
from explorer.labs.sparse_transformer import about, change, page, texts, views
from explorer.picture_files import FILE
from explorer.uploads import routes
from models.sparse_transformer.explain import explain
from models.sparse_transformer.records import SIDE, Explanation, Made, Request, spelled
from tests.explorer.rolls import unpacked
from tests.explorer.wishes import finished, told

WHOLE = Request(keep=28)  # only read, which is quick


def variants() -> list[str]:
    return list(about.facts())


@pytest.mark.parametrize(
    ("request_", "reached"),
    [
        (dataclasses.replace(WHOLE, stride=27), {"strided", "fixed"}),
        (dataclasses.replace(WHOLE, summary=1), {"fixed"}),
        (dataclasses.replace(WHOLE, silenced=(("strided", 0, 0), ("strided", 3, 1))), {"strided"}),
    ],
    ids=["a wrong stride", "one summary column", "silenced heads"],
)
def test_a_change_is_told_with_what_the_same_digit_costs(engine: Engine, request_: Request, reached: set[str]) -> None:
    wanted = [variant for variant in variants() if variant in reached]
    drawn = finished(page.program(), request_, engine)
    panel = drawn["change"]
    assert [one["key"] for one in panel["pairs"]] == wanted == list(change.touched(request_))
    costs = {model["key"]: model["cost"]["whole"] for model in finished(page.program(), WHOLE, engine)["digits"]["models"]}
    changed = {model["key"]: model["cost"]["whole"] for model in drawn["digits"]["models"]}
    for one in panel["pairs"]:
        assert one["number"]["before"] == pytest.approx(costs[one["key"]], abs=0.05)
        assert one["number"]["after"] == pytest.approx(changed[one["key"]], abs=0.05)  # all of it was given
        assert one["number"]["after"] != pytest.approx(one["number"]["before"], abs=0.05)


def test_a_wrong_stride_makes_digits_dearer_for_the_strided_model() -> None:
    right = [dataclasses.replace(WHOLE, drawing=f"test:{number}") for number in range(3)]
    costs = []
    for seen in explain([*right, *(dataclasses.replace(one, stride=29) for one in right)]):
        assert isinstance(seen, Explanation)
        costs.append(next(float(made.nats.sum()) for made in seen.made if made.variant == "strided"))
    assert all(wrong > as_trained + 1 for as_trained, wrong in zip(costs[:3], costs[3:], strict=True))


def test_texts_are_offered_only_where_a_model_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in (("digit", "text"), ("digit",)):
        monkeypatch.setattr(about, "tasks", lambda there=there: there)
        asked = views.asked()
        assert ("task" in {one.field for one in asked}) == ("passage" in {one.kind for one in asked}) == ("text" in there)
        assert all(one.when or one.field in {"task", "temperature", "seed"} for one in asked) == ("text" in there)
        assert len([one for one in change.knobs() if one.field == "stride"]) == len(there)


# ---- the digit in the input bar ----------------------------------------------------------------------------------------------------


def drawings() -> dict[str, Any]:
    """What the browser gets of the digits that are offered."""
    told_: dict[str, Any] = json.loads(json.dumps(next(one for one in views.asked() if one.kind == "drawing").drawn(Request)))["drawings"]
    return told_


def test_digits_travel_inside_the_page() -> None:
    told_ = drawings()
    assert "url" not in told_["pixels"] and np.array_equal(unpacked(told_["pixels"]), views.held_out()[0])
    assert (told_["side"], told_["file"], len(told_["names"])) == (SIDE, FILE, 20)
    assert told_["upload"] in {route.path for route in routes()}


def test_greys_become_the_pixels_that_the_models_would_draw() -> None:
    levels = np.random.default_rng(3).integers(0, 256, (SIDE, SIDE))
    inked = levels >= unpacked(drawings()["thresholds"])
    assert np.array_equal(inked, np.random.default_rng(0).random(levels.shape) < levels / 255)
    assert thresholds(SIDE).min() >= 1, "black is never ink"
    assert 0.4 < (thresholds(SIDE) <= 128).mean() < 0.6, "a grey of one half is ink half the time"


# ---- in words ----------------------------------------------------------------------------------------------------------------------


def test_the_order_of_the_patterns_is_told_as_it_came_out() -> None:
    figures = {"strided": 84.4, "dense": 82.7}
    for fixed, said in ((84.2, "0.20 nats less than the strided"), (86.0, "1.60 nats more than the strided")):
        found = about.standing_sentence({name: {"value": value} for name, value in {**figures, "fixed": fixed}.items()})
        assert said in found["en"] and "1.7 nats more than dense" in found["en"] and "{" not in found["zh"]


@pytest.mark.parametrize(("fixed", "says"), [(1.7, "the fixed pattern takes 0.100 bits less"), (1.9, "The paper found the opposite")])
def test_which_pattern_suits_text_is_told_as_it_came_out(fixed: float, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"text_fixed": {"value": fixed}, "text_strided": {"value": 1.8}}
    monkeypatch.setattr(about, "measured", lambda task: dict(sorted(known.items(), key=lambda one: one[1]["value"])))
    drawn: Any = about.on_text()
    assert says in drawn["sentence"]["en"] and "{" not in drawn["sentence"]["zh"]


def test_an_empty_and_a_full_drawing_are_drawn(engine: Engine) -> None:
    for level in (0, 1):
        drawn = finished(page.program(), Request(drawing=spelled(np.full((28, 28), level)), keep=28), engine)
        assert drawn["ask"]["state"] == "live" and drawn["attention"]["kinds"] and drawn["digits"]["models"]
        assert not level or drawn["ask"]["warning"]  # no digit is all ink


def test_another_temperature_is_said() -> None:
    seen = Explanation((), -1, None)
    assert views.notice(Request(), seen) is None
    assert "sharper" in str(views.notice(Request(temperature=0.5), seen))
    assert views.notice(Request(temperature=0.5, keep=28), seen) is None  # nothing is drawn
    assert "text" in str(views.notice(Request("text", temperature=0.5), seen))
    assert views.notice(Request("text", length=0, temperature=0.5), seen) is None


def test_a_sentence_names_the_model_that_pays_most() -> None:
    from explorer.labs.sparse_transformer.change import Changed, sentence
    from models.layers.patterns import Pattern

    def made(variant: str) -> Made:
        nats, none = np.full(784, 0.1, np.float32), np.zeros((1, 1, 784, 1), np.float16)
        return Made(variant, Pattern("strided", 28, 4), "merged", np.zeros(784, np.int16), nats > 1, nats, "", False, none, none)

    more = np.full(784, 0.1, np.float32)
    more[28 * 7 + 3] += 12.5
    found = [Changed(made("dense"), made("dense"), np.full(784, 0.1, np.float32)), Changed(made("strided"), made("strided"), more)]
    said = sentence(found, filled(texts.UNDER_STRIDE, n=27))
    assert said["en"] == (
        "With stride 27, the same digit costs the strided model 12.5 nats more, most of it in ⟦k:row 7⟧; drawn anew, the digit is the same."
    )


def test_what_is_locked_on_arrival_can_be_seen() -> None:
    kept = views.first()
    assert kept is not None and isinstance(kept.seen, Explanation)
    pick = views.telling(kept.seen, kept.request)
    assert pick is not None and str(pick["model"]) in variants()
    assert 0 <= int(str(pick["pos"])) < 784


# ---- texts -------------------------------------------------------------------------------------------------------------------------

WRITTEN = Request("text", text="It was a dark and stormy night; the rain fell", length=12, seed=3)


def test_a_text_grows_under_both_patterns_and_the_digits_stay_as_they_are(engine: Engine) -> None:
    updates = told(page.program(), "", controls.texts(WRITTEN), engine)
    grown = [update["reading"] for update in updates if "reading" in update]
    assert [each["state"] for each in grown][-1] == "live" and grown[0]["state"] == "running"
    assert all(len(model["text"]) <= len(WRITTEN.text) + WRITTEN.length for each in grown for model in each["models"])
    last = updates[-1]
    assert (
        [model["key"] for model in last["reading"]["models"]] == list(about.facts("text")) == [k["key"] for k in last["attention"]["kinds"]]
    )
    for model in last["reading"]["models"]:
        assert model["text"].startswith(WRITTEN.text) and len(model["text"]) == len(WRITTEN.text) + WRITTEN.length
        assert 0 < model["bits"]["given"] < 6
        assert model["pattern"] == {"kind": model["key"].removeprefix("text_"), "l": 32, "c": 8}
    assert last["reading"]["pick"]["pos"] < len(WRITTEN.text) + WRITTEN.length
    assert WRITTEN.text in str(last["ask"]["lines"]) and "bits per character" in str(last["ask"]["lines"])
    assert all("digits" not in update for update in updates)
    assert "reading" not in finished(page.program(), WHOLE, engine)


@pytest.mark.parametrize(
    ("changes", "reached"),
    [
        ({"pattern": "strided"}, {"text_fixed"}),
        ({"stride": 31}, {"text_fixed", "text_strided"}),
        ({"silenced": (("text_strided", 0, 0),)}, {"text_strided"}),
    ],
    ids=["the other pattern", "another stride", "a silenced head"],
)
def test_a_change_is_told_with_what_the_same_text_costs(engine: Engine, changes: dict[str, Any], reached: set[str]) -> None:
    request = dataclasses.replace(WRITTEN, length=0, **changes)
    panel = finished(page.program(), request, engine)["change"]
    assert panel["state"] == "done" and panel["query"] == query(request)
    assert {side["key"] for side in panel["sides"] if side["reached"]} == reached == set(change.touched(request))
    assert all(side["number"]["before"] == side["number"]["after"] for side in panel["sides"] if not side["reached"])
    assert "bits per character" in panel["sentence"]["en"] and "{" not in panel["sentence"]["en"] + panel["sentence"]["zh"]
