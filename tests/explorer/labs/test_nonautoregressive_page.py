"""The page of parallel translation without a browser: what its widgets are told to draw, what its
card and figures say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.components.folded import Question
from explorer.contract import controls
from explorer.labs.nonautoregressive import about, texts, views
from explorer.page.runs import ResultOrigin, StoredRun
from explorer.page.views import Found
from explorer.panels import translation
from models.explaining.shared_records import Retranslated
from models.nonautoregressive.records import EXAMPLES, SPACE, Neighbours, Request
from tests.explorer.parallel import SECOND, SOURCE, explanation, joint
from tests.explorer.wishes import program_of

START, WHAT = EXAMPLES[0], {"en": "a change", "zh": "改动"}


def drawn(request: Request = START) -> dict[str, Any]:
    """What the page draws of a run."""
    return program_of("nonautoregressive").render_run(
        explanation(request), request, ResultOrigin("live", 5.0, "cpu")
    )


def test_the_passes_beside_the_staircase() -> None:
    value = drawn()["passes"]
    assert [one["pieces"] for one in value["passes"]] == [("Zwei", "Mann", "Mann", "."), SECOND]
    assert value["passes"][0]["repeats"] == [False, False, True, False] and value["passes"][1][
        "masked"
    ] == [False, True, True, False]
    assert (
        value["ends"] == [2, 4, 6]
        and value["greedy"]["ends"][0] == 1.5
        and value["greedy"]["ends"][-1] == 12
    )
    assert value["settled"] == [0, 1, 1, 0] and value["pick"] == {"pos": 2}, (
        "the piece that stands there twice is looked at"
    )


def test_a_piece_is_pinned_as_a_link_spells_it() -> None:
    offered = views.items(explanation(), START)
    assert (
        [one.label for one in offered["again"]] == list(SECOND)
        and not offered["pinned"][0].inner
        and offered["pinned"][3].inner
    )
    request, _ = controls.read_request(
        Request,
        controls.spell_query(START),
        {"pinned": f"{offered['pinned'][1].value},{offered['pinned'][3].value}"},
    )
    assert request.pinned == ((1, f"{SPACE}Männer"), (3, "."))
    assert drawn()["passes"]["spelled"] == [one.value for one in offered["pinned"]]


def test_attention_has_a_map_for_every_pass() -> None:
    kinds = {kind["key"]: kind for kind in drawn()["attention"]["kinds"]}
    assert list(kinds) == ["encoder", "decoder1", "decoder", "cross1", "cross"]
    assert (
        kinds["cross"]["keys"] == list(SOURCE)
        and kinds["decoder"]["mask"] is None
        and kinds["decoder"]["own"]
    )
    assert kinds["decoder1"]["queries"] == ["Zwei", "Mann", "Mann", "."]
    once_more = program_of("nonautoregressive").render_run(
        explanation(replace(START, again=(1,))), START, ResultOrigin("live", 5.0, "cpu")
    )["attention"]["kinds"]
    assert once_more[-1]["label"] == {
        "en": "to the sentence, once more",
        "zh": "看向句子，再来一轮",
    }
    assert [kind.key for kind in views.list_last_pass(explanation())] == [
        "encoder",
        "decoder",
        "cross",
    ]


def test_a_change_tells_length_and_repeats() -> None:
    changed = replace(START, offset=2, pinned=((1, f"{SPACE}Mann"),))
    read = (np.array([-1, -8, -2, -3], np.float32), np.array([-2, np.nan, -4, np.nan], np.float32))
    told = views.difference((explanation(), explanation(changed)), read, changed, WHAT)
    assert {row.key: (row.before, row.after) for row in told.rows[:2]} == {
        "pieces": (4, 6),
        "repeats": (0, 2),
    }
    assert (told.number.before, told.number.after) == (
        -1.5,
        -3,
    ), "of the places that are read both times"
    assert told.sentence["en"].startswith(
        "With a change, it writes “⟦o:Zwei Mann gehen...⟧”; when they are read again, the earlier"
        " pieces have"
    )
    nothing = np.full(4, np.nan, np.float32)
    assert (
        views.difference(
            (explanation(), explanation()), (read[0], nothing), START, WHAT
        ).number.after
        == 0
    )
    assert translation.ask_to_reread(changed, explanation()) == Retranslated(
        changed, explanation().target, explanation().target_space
    )


@pytest.mark.parametrize(
    ("wish", "at"), [("0", 0), ("3", 2), ("99", 2), ("none", 1), (None, 1), ("9999999", 2), (7, 1)]
)
def test_the_pair_in_view_is_asked_about(wish: object, at: int) -> None:
    found = Found(START, explanation())
    assert views.find_pair(found, Question("", {"pos": wish})) == Neighbours(START, at)


def test_marginals_give_weight_to_nonsense() -> None:
    value: Any = views.draw_modes(joint(Neighbours(START, 1)), START)
    said = value["sentence"]["en"]
    assert "likeliest pair is “Mann Mann”, 0.16" in said and "it is “Männer gehen”, 0.60" in said
    assert (
        "The same piece twice has probability 0.30 at once and < 0.0001 one after the other."
        in said
    )
    assert len(value["table"]["rows"]) == 25 and "“Zwei”" in value["units"]["en"]


def test_fewer_passes_than_asked_are_said() -> None:
    asked = replace(START, passes=9)
    said = views.notice(asked, explanation(asked))
    assert said is not None and "9 passes were asked for; 2 are enough" in said["en"]
    assert views.notice(replace(START, passes=2), explanation(replace(START, passes=2))) is None
    alone = replace(START, variant="nat_distilled", passes=2)
    assert views.notice(alone, explanation(alone)) == {
        key: texts.ONE_ALONE[key] for key in ("en", "zh")
    }
    rare = views.describe_warning(START, replace(explanation(), unknown=2))
    assert (
        rare is not None
        and "2" in rare["en"]
        and views.describe_warning(START, explanation()) is None
    )


def test_quality_is_plotted_against_time() -> None:
    figure = about.facts()["cmlm_raw"]["figure"]
    value: Any = about.draw_quality("cmlm_raw", 4)
    (four,) = [one["value"] for one in figure["by_times"] if one["times"] == 4]
    assert f"With 4 passes, as in this run, BLEU is {four:.1f}." in value["sentence"]["en"]
    drawn = value["figures"]["en"]["data"]
    assert [pytest.approx(1000 * one["seconds"] / figure["n"]) for one in figure["by_times"]] in [
        line["x"] for line in drawn
    ]
    assert "dash" in {line.get("line", {}).get("dash") for line in drawn}, (
        "greedy decoding, which is not timed, is a level"
    )


def test_the_first_step_stops_before_the_stop_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "first", lambda: StoredRun(START, explanation(), 5.0, "cpu"))
    told = views.steps()
    assert 5 <= len(told) <= 8
    moments = sorted({0.0, 2.0, 1.5, 4.0, 6.0, 3.5, 5.5, 7.5, 9.5, 12.0})
    assert moments[int(told[0].view["moment"])] == 9.5
