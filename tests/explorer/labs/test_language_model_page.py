"""What the page of the language model draws of labels, and where it leads."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from explorer.labs import LABS
from explorer.labs.language_model import labels, views
from explorer.page import card_facts
from explorer.panels.label_curve import draw_label_curve
from models.data.corpus import CURVE
from models.language_model.records import LEARN, Learned, Point

POINTS = (Point(0, 0.5, None), Point(200, 0.55, 0.75), Point(400, 0.625, 1.0))


def test_both_sides_compare_the_same_text() -> None:
    address = urlsplit(views.find_comparison())
    sides = [urlsplit(one) for values in parse_qs(address.query).values() for one in values]
    assert (
        address.path == "/compare"
        and {side.path for side in sides} <= {lab.path for lab in LABS}
        and len(sides) == 2
    )
    texts = [parse_qs(side.query)["text"] for side in sides]
    assert texts[0] == texts[1] == [views.EXAMPLES[0].text]


def test_a_fine_tuning_says_its_result() -> None:
    grown = labels.draw_partial_curve(POINTS[:2], LEARN)
    assert [row[:2] for row in grown["table"]["rows"]] == [[0, 0.5], [200, 0.55]]  # type: ignore[index,call-overload]
    stopped = labels.draw_label_curve(Learned(POINTS, 0.6, 200, True), LEARN, "live")
    assert stopped["sentence"]["en"].startswith("It was stopped.")  # type: ignore[index,call-overload]
    for number in ("400", "0.62", "1.00", "0.60"):
        assert number in stopped["sentence"]["en"]  # type: ignore[index,call-overload]
    assert "stopped" not in labels.describe_result(Learned(POINTS, 0.6, 200, False), LEARN)["en"]
    assert labels.describe_result(Learned((), 0.6, 200, True), LEARN)["en"] == "It was stopped."
    (cancelled,), (whole,) = (
        views.describe_endings(Learned(POINTS, 0.6, 200, stop), LEARN) for stop in (True, False)
    )
    assert (cancelled["reason"], whole["reason"]) == ("cancelled", "limit")


def test_the_label_curve_says_it_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_facts, "ASSETS", tmp_path)
    assert draw_label_curve("left") is None
    runs = [
        ("pretrained", 100, 0.5),
        ("pretrained", 100, 0.6),
        ("counts", 100, 0.57),
        ("counts", 500, 0.64),
    ]
    told = {"n": 1066, "runs": [{"way": way, "labels": n, "test": test} for way, n, test in runs]}
    for slug in ("left", "both"):
        (tmp_path / slug).mkdir()
        (tmp_path / slug / CURVE).write_text(json.dumps(told), "utf-8")
    found = draw_label_curve("left")
    assert found is not None and "stored" in found["units"]["en"]  # type: ignore[index,call-overload]
    assert (
        found["sentence"]["en"]
        == "With 100 labels: pre-trained 0.55, counting words 0.57. With 500 labels: counting words"
        " 0.64."
    )  # type: ignore[index,call-overload]
    rows = [[row[0], *row[2:]] for row in found["table"]["rows"]]  # type: ignore[index,call-overload]
    assert rows == [[100, 0.55, 0.0707, 2], [100, 0.57, None, 1], [500, 0.64, None, 1]]
    names = {slug: {"en": f"{slug} side", "zh": slug} for slug in ("left", "both")}
    two = draw_label_curve("both", names["both"], {"left": names["left"], "nobody": names["left"]})
    assert two is not None and len(two["table"]["rows"]) == 4, (
        "counting is the same for both, and stands there once"
    )  # type: ignore[index,call-overload]
    assert (
        "both side pre-trained 0.55, counting words 0.57, left side pre-trained 0.55."
        in two["sentence"]["en"]
    )  # type: ignore[index,call-overload]
    (tmp_path / "bert").mkdir()
    (tmp_path / "bert" / CURVE).write_text(
        json.dumps({"n": 1066, "runs": [{"way": "frozen", "labels": 500, "test": 0.71}]}), "utf-8"
    )
    beside = draw_label_curve("left")
    assert (
        beside is not None
        and "counting words 0.64, MiniLM, frozen 0.71." in beside["sentence"]["en"]
    )  # type: ignore[index,call-overload]
