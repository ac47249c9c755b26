"""The folded panels of the music page without a browser: what a wish becomes, and what is drawn of a run and of what was measured."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from explorer.engine import Engine
from explorer.labs.music import deeper, page, views
from explorer.labs.music.deeper import lengths, meter, skew
from explorer.widgets.folded import Question
from models.errors import InputError
from models.layers import relative
from models.music.explain import explain
from models.music.records import Explanation, Made, Request, melody
from tests.explorer.wishes import opened
from tests.models.networks import composers

TUNE = Request(motif=melody((72, 0, 71, 67), 2))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Explanation:
    """A short run of small models that have learned nothing."""
    composers(monkeypatch)
    (found,) = explain([TUNE])
    assert isinstance(found, Explanation)
    return found


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (None, skew.Wish()),
        ({"model": "jsb_transformer", "head": "3.4", "squeries": "8", "sfrom": "5"}, skew.Wish("jsb_transformer", (2, 3), 8, 5)),
        ({"model": 3, "head": "0.4", "squeries": "7", "sfrom": "-1"}, skew.Wish()),
        ({"head": "a.b", "sfrom": True}, skew.Wish()),
        ({"head": "1.²"}, skew.Wish()),
        ([1], skew.Wish()),
    ],
)
def test_a_wish_that_makes_no_sense_is_what_stands_there_on_arrival(wish: object, expected: skew.Wish) -> None:
    assert skew.wished(Question("", wish)) == expected


def test_skewing_is_drawn_on_the_runs_own_numbers(seen: Explanation) -> None:
    value: dict[str, Any] = skew.value(seen, skew.Wish("jsb_relative", (1, 2), 8, 6), "chorale")
    assert (value["layer"], value["head"], value["first"], value["events"]) == (1, 2, 6, 32)
    assert [value[name]["shape"] for name in ("product", "padded", "reshaped", "sliced", "direct")] == [
        [8, 8],
        [8, 9],
        [9, 8],
        [8, 8],
        [8, 8],
    ]
    assert 0 <= value["difference"] < 1e-5
    made = seen.made[0]
    query, table = made.queries[1, 2, 6:14].astype(np.float32), made.table[1, 2].astype(np.float32)
    sliced = np.frombuffer(base64.b64decode(value["sliced"]["data"]), "<f4").reshape(8, 8)
    for i in range(8):
        for j in range(i + 1):
            assert sliced[i, j] == pytest.approx(float(query[i] @ table[i - j]), abs=1e-4)
    json.dumps(value)


def test_every_query_says_what_it_makes_and_every_key_what_it_has_read(seen: Explanation) -> None:
    value: dict[str, Any] = skew.value(seen, skew.Wish(queries=6), "chorale")
    makes, reads = value["makes"], value["reads"]
    assert makes[0] == {"en": "S C5", "zh": "S C5"} and makes[4] == {"en": "S C5", "zh": "S C5"}
    assert reads[0] == {"en": "the beginning", "zh": "开头"}
    assert reads[1:] == makes[:-1], "what is made is what is read next"
    assert skew.names(seen.made[0], "chorale", [8])[0] == {"en": "S rest", "zh": "S 休止"}


def test_events_of_piano_have_names() -> None:
    piano = Made(
        "relative",
        np.array([60, 128 + 60, 256, 255 + 100, 356 + 16], np.int16),
        *(np.zeros(0, kind) for kind in (np.bool_, np.float32, np.int32, np.int32)),
        0,
        *(np.zeros((0, 0, 0, 0), np.float16) for _ in range(3)),
    )
    assert [name["en"] for name in skew.names(piano, "piano", range(5))] == ["C4", "C4 ends", "10 ms on", "1000 ms on", "velocity 64"]


def test_a_model_without_a_relative_term_gives_way_and_the_panel_says_so(seen: Explanation) -> None:
    value: dict[str, Any] = skew.value(seen, skew.Wish("jsb_transformer", (9, 9)), "chorale")
    assert value["other"]["en"] == "Transformer" and value["model"]["en"] == "Music Transformer"
    assert (value["layer"], value["head"]) == (value["layers"] - 1, value["heads"] - 1)
    with pytest.raises(InputError, match="relative term"):
        skew.value(Explanation(seen.made[1:], 125), skew.Wish(), "chorale")


def test_the_panel_answers_of_the_run_as_it_was_asked_for(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    composers(monkeypatch)
    monkeypatch.setattr(views, "first", lambda: None)

    def told(run: str) -> dict[str, Any]:
        found: dict[str, Any] = opened(page.program(), "skew", {"run": run, "wish": {"squeries": "6"}}, engine)
        return found

    shown, moved = (told(f"v=1&motif={TUNE.motif}{more}") for more in ("", "&semitones=2"))
    assert shown["state"] == "shown" and len(shown["makes"]) == 6
    assert shown["makes"][0]["en"] == "S C5" and moved["makes"][0]["en"] == "S D5"
    refused = told("v=1&motif=AAA&style=polka")
    assert refused["state"] == "refused" and "polka" in refused["error"]["en"]


def test_the_memory_of_the_paper_is_what_the_paper_says() -> None:
    needed = meter.needed(2048, 512, 8)
    assert needed["direct"]["embeddings"] == pytest.approx(8.5e9, rel=0.02)
    assert needed["direct"]["embeddings"] / 8 == pytest.approx(1.1e9, rel=0.03)
    assert needed["skew"] == {"embeddings": 4 * 2048 * 512, "product": 4 * 8 * 2048**2}
    assert sum(needed["ours"].values()) < 6e6


def test_the_meter_knows_the_blocks_of_the_model() -> None:
    assert (meter.BLOCK, meter.TOGETHER) == (relative.BLOCK, relative.CACHED)
    query = torch.zeros(8, 2048, 64)
    rows, _ = next(iter(relative._some_heads(8, query, query, relative.CACHED)))
    room = relative.Room(rows.stop, query, query)
    assert meter.needed(2048, 512, 8)["ours"]["product"] == room._product.numel() * meter.BYTES


def test_the_meter_says_what_it_takes_at_the_sizes_that_are_chosen_and_what_was_measured(tmp_path: Path) -> None:
    assert meter.measured(tmp_path / "none.json") is None
    figures = {"direct_mb": 8624.0, "skew_mb": 517.0, "extra_mb": 16.0, "direct_ms": 15300.0, "skew_ms": 642.0, "ours_ms": 114.4}
    path = tmp_path / "relative_attention.json"
    path.write_text(json.dumps({"name": "relative_attention", "device": "cpu", "threads": 2, "figures": figures}), "utf-8")
    value: dict[str, Any] = json.loads(json.dumps(meter.value(meter.wished(Question("", None)), meter.measured(path))))
    drawn, rows = value["figures"][0]["figure"], [[cell["en"] for cell in row["cells"]] for row in value["table"]["rows"]]
    assert rows[0] == ["direct formula", "4 · L² · D", "8.59 GB", "1.07 GB", "8.62 GB", "15,300 ms"]
    assert rows[1][2:] == ["138 MB", "524 kB", "517 MB", "642 ms"] and rows[2][1] == "4 · L · D + 4 · 1 · 64 · L"
    said = drawn["sentence"]["en"]
    assert "At L = 2,048 and D = 512 the direct formula’s R takes 8.59 GB in each layer." in said and "4.19 MB: 2,048 times less" in said
    assert "(cpu, 2 threads): attention’s whole forward pass peaks at 8.62 GB, 517 MB and 16.0 MB" in said
    assert [row[4:6] for row in drawn["table"]["rows"]] == [[8589934592, 8589934592], [138412032, 4194304], [4718592, 4194304]]
    for figure in drawn["figures"].values():
        assert [trace["x"] for trace in figure["data"][-3:]] == [
            [row[4] for row in drawn["table"]["rows"]],
            [row[5] for row in drawn["table"]["rows"]],
            [8.624e9, 5.17e8, 1.6e7],
        ]
    chosen = meter.wished(Question("", {"mlength": "4096", "mwidth": "7", "mheads": None}))
    assert chosen == {"length": 4096, "width": 512, "heads": 8}, "what is not offered is the paper's"
    assert "34.4 GB" in meter.value(chosen, None)["figures"][0]["figure"]["sentence"]["en"]  # type: ignore[index]


def facts(ratio: float, shift: float) -> dict[str, Any]:
    """model.json of a model of piano, as far as the panel reads it."""
    return {"recipe": {"window": 1024}, "figure_times_2": {"by_position": [2.0 + shift] * 16 + [2.0 * ratio] * 16, "ratio": ratio}}


def test_beyond_the_trained_length_every_model_has_a_line_and_a_ratio() -> None:
    value: dict[str, Any] = lengths.value({"relative": facts(0.99, 0.0), "transformer": facts(1.25, 0.1)})
    figure = value["figures"]["en"]
    assert [line["name"] for line in figure["data"]] == ["Music Transformer", "Transformer"]
    assert figure["data"][0]["x"][0] == 32 and figure["data"][0]["x"][-1] == 2016
    assert (figure["layout"]["shapes"][0]["x0"], figure["layout"]["shapes"][0]["x1"]) == (1024, 2048)
    assert "Music Transformer −1.0 %" in value["sentence"]["en"] and "Transformer +25.0 %" in value["sentence"]["zh"]
    assert value["table"]["rows"][16][:3] == [1024, 1088, 1.98]


def test_without_a_measurement_there_is_no_panel_about_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths.about, "facts", lambda slug, variant: {"variant": variant})
    assert lengths.known() == {}
    assert lengths.PANEL not in deeper.panels()
