"""The pages of models of long texts without a browser: what a wish becomes, what widgets and
pictures are told, what a change costs."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from explorer.components.folded import Question
from explorer.contract import controls
from explorer.engine import Engine
from explorer.figures import reading
from explorer.figures.reading import Model
from explorer.labs.adaptive_span import lab as span_page
from explorer.labs.adaptive_span.figures import masks
from explorer.labs.adaptive_span.panels import saving
from explorer.labs.transformer_xl import about as xl_about
from explorer.labs.transformer_xl import lab as xl_page
from explorer.labs.transformer_xl import views as xl_views
from explorer.labs.transformer_xl.figures import segments, terms
from explorer.labs.transformer_xl.panels import terms as xl_terms
from explorer.page.runs import load_first
from models.adaptive_span import records as span_records
from models.adaptive_span.records import Saved
from models.transformer_xl import records as xl_records
from models.transformer_xl.weights import look as xl_look
from tests.explorer import readings, segmented, spanned
from tests.explorer.numbers import refused, rows_at, unpacked
from tests.explorer.readings import COPIES, MEMORY, SEGMENT, rows
from tests.explorer.spanned import RAMP, SPAN
from tests.explorer.wishes import alone, finished, told

SENTENCE = "The captain went down to the harbour, and nobody saw him come back. "
XL = xl_records.Request(text=SENTENCE * 5, length=6)
SPANS = span_records.Request(text=SENTENCE * 5, length=6)
NAME = {"en": "a model", "zh": "模型"}


@pytest.mark.parametrize(
    ("page", "request_"),
    [
        (xl_page, replace(XL, intervention="cut")),
        (xl_page, replace(XL, memory=32, segment=32)),
        (span_page, replace(SPANS, spans=((0, 1, 100.0), (3, -1, 4.0)))),
    ],
    ids=["cut", "memory and segment", "some spans"],
)
def test_a_change_is_told_with_what_it_costs(engine: Engine, page: Any, request_: Any) -> None:
    def paid(request: Any) -> float:
        """Bits per character of the text given."""
        seen = alone(engine.ask(page.GENERATE, request)).value
        one = seen.readings[0] if page is xl_page else seen
        return float(one.nats[: seen.given].mean() / np.log(2))

    updates = told(page.LAB.build_program(), controls.spell_query(request_), engine=engine)
    # The knobs of a link stand where it says from the moment its text is there, not only when the
    # change is known.
    panels = [update["change"] for update in updates if "change" in update]
    assert ("running", controls.spell_fields(request_)) in [
        (panel["state"], panel.get("fields")) for panel in panels
    ]
    side, said = panels[-1]["sides"][0], panels[-1]["sentence"]
    before, after = side["number"]["before"], side["number"]["after"]
    assert side["reached"] and after != pytest.approx(before, abs=1e-3)
    assert before == pytest.approx(
        paid(page.LAB.build_program().remove_changes(request_)), abs=1e-4
    ) and after == pytest.approx(paid(request_), abs=2e-3)
    assert all(f"{after:.2f}" in said[language] for language in ("en", "zh"))


def test_cutting_the_memory_raises_the_loss(
    engine: Engine,
) -> None:
    cut = replace(xl_records.EXAMPLES[0], intervention="cut", length=0)
    first, *others = finished(xl_page.LAB.build_program(), cut, engine)["change"]["sides"]
    assert first["number"]["after"] > first["number"]["before"] + 0.01 and not any(
        side["reached"] for side in others
    )
    panel = finished(xl_page.LAB.build_program(), replace(cut, text="It was late."), engine)[
        "change"
    ]
    assert (
        panel["state"] == "done"
        and not panel["sides"][0]["reached"]
        and "no longer than one segment" in panel["sentence"]["en"]
    )


@pytest.mark.parametrize(
    ("page", "request_"),
    [(xl_page, XL), (span_page, SPANS)],
    ids=["transformer_xl", "adaptive_span"],
)
def test_unusual_texts_carry_a_warning(engine: Engine, page: Any, request_: Any) -> None:
    noise = "".join(map(chr, np.random.default_rng(1).integers(33, 126, 600).tolist()))
    for text in (noise, "x", "Ünïcödé 漢字 שלום 🎼 and then some more English words"):
        bar = finished(
            page.LAB.build_program(),
            replace(request_, text=text, length=0 if text is noise else 2),
            engine,
        )["ask"]
        if text is noise:
            assert "unlike" in bar["warning"]["en"]
        else:
            assert (
                bar["state"] == "live"
                and bar["lines"][0]["en"] == text
                and (bar["notice"] is not None) == (len(text) > 1)
            )
    assert "🎼" in bar["notice"]["en"] or "漢" in bar["notice"]["en"]


def test_the_terms_of_the_run_in_view_add_up() -> None:
    kept: Any = xl_views.first()
    for wish in (
        xl_terms.Wish(),
        xl_terms.Wish("xl", (3, 3), 5, 16),
        xl_terms.Wish("absolute", (0, 1), 10**9, 64),
    ):
        drawn = xl_terms.draw_panel(kept.seen, wish)
        assert drawn["layers"] == 4 and drawn["memory_until"] >= 0
    assert drawn["other"] is not None  # the model in view has no such terms
    question = Question("", {"model": "xl", "head": "2.3", "pos": "7,40", "tqueries": "32"})
    assert xl_terms.read_question(question) == xl_terms.Wish("xl", (1, 2), 40, 32)


def test_evaluation_stands_where_measured() -> None:
    speed, wave, measured = xl_about.draw_speed(), xl_about.draw_border_loss(), xl_records.ladder()
    assert speed is not None and wave is not None and measured is not None
    bits: Any = measured["by_place"]["bits"]
    assert (
        "times as long" in str(speed["sentence"])
        and [row[2] for row in wave["table"]["rows"]] == bits["xl"]
    )  # type: ignore[index,call-overload]
    assert bits["none"][0] > bits["none"][-1], (
        "nothing remembered costs most where a segment begins"
    )


# ---- the reading

FACTS: dict[str, Any] = {
    "given": 2,
    "segment": 0,
    "memory": 0,
    "unknown": (),
    "query": "",
    "state": "live",
}


def around(value: Any) -> Any:
    """As the widget gets it, once around JSON."""
    return json.loads(json.dumps(value))


def plain(text: str, nats: list[float], **more: Any) -> Model:
    """A model without heads."""
    return Model("one", NAME, NAME, text, np.array(nats, np.float32), **more)


def test_models_show_text_and_costs() -> None:
    made, given = readings.run()
    value = around(readings.value())
    assert (value["given"], value["segment"], value["of"]) == (
        given,
        SEGMENT,
        max(len(one.text) for one in made),
    )
    for model, one in zip(value["models"], made, strict=True):
        bits = one.nats / np.log(2)
        assert model["bits"] == {
            "given": pytest.approx(bits[:given].mean(), abs=1e-3),
            "written": pytest.approx(bits[given:].mean(), abs=1e-3),
        }
    assert {made[0].text[n] for n in unpacked(value["unknown"])} == set("海は静かだった。")
    all_given: Any = reading.draw_reading([plain("ab", [np.log(2), 3 * np.log(2)])], **FACTS)[
        "models"
    ]
    assert all_given[0]["bits"] == {"given": pytest.approx(2.0, abs=1e-4), "written": None}


@pytest.mark.parametrize("distances", [1, 2, 3, 7, 128, 512, 640, 1152])
def test_bands_of_distances_keep_all_weight(
    distances: int,
) -> None:
    edges = reading.make_bands(distances)
    assert edges[0] == 1 and edges[-1] == distances + 1 and edges == sorted(set(edges))
    assert all(right / left <= 2 for left, right in pairwise(edges))
    profiles = np.random.default_rng(0).random((2, 3, distances)).astype(np.float32)
    profiles /= profiles.sum(-1, keepdims=True)
    found = reading.sum_bands(profiles, edges)
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(found[1, 2, -1], profiles[1, 2, edges[-2] - 1 :].sum(), rtol=1e-5)
    assert not reading.sum_bands(profiles[..., :0], reading.make_bands(0)).any()


def test_a_model_carries_profiles_and_memory() -> None:
    made, _ = readings.run()
    xl, absolute = around(readings.value())["models"]
    assert (xl["memory"], absolute["memory"]) == (MEMORY, 0) and "first_seen" not in absolute
    assert absolute["edges"][-1] == SEGMENT + 2, "it sees its segment alone"
    np.testing.assert_allclose(
        rows_at(xl["look"], *COPIES, 300, 2), rows(made[0], *COPIES, [300, 301]), atol=2e-5
    )
    one = plain("It was", [1.0] * 6, look="/looks/x", layers=1, heads=2)
    fixed = {"kind": "fixed", "l": 8, "c": 2}
    drawn: Any = reading.draw_reading([one, replace(one, key="two", pattern=fixed)], **FACTS)[
        "models"
    ]
    assert "pattern" not in drawn[0] and drawn[1]["pattern"] == fixed


def test_the_first_lock_crosses_its_segment() -> None:
    stored = load_first("transformer_xl", xl_records.EXAMPLES[0], xl_records.Explanation)
    assert stored
    pick: Any = xl_views.find_telling_place(stored.seen)
    one = next(one for one in stored.seen.readings if one.variant == pick["model"])
    layer, head = (int(part) - 1 for part in pick["head"].split("."))
    weights = xl_look(one, layer, head, [pick["pos"]])[0]
    assert (
        one.memory
        and weights.max() >= reading.SURE
        and int(weights.argmax()) < pick["pos"] // one.segment * one.segment
    )
    near = [replace(one, memory=0) for one in stored.seen.readings]
    inside: Any = xl_views.find_telling_place(replace(stored.seen, readings=near))
    assert inside == reading.find_telling_place(near, xl_look, given=stored.seen.given), (
        "where nothing is remembered, the farthest within a segment"
    )


def test_while_it_reads_everything_so_far_stands_there() -> None:
    made, given = readings.run()
    value = around(readings.growing(0, given + 5))
    assert (
        value["state"] == "running"
        and value["pick"] is None
        and value["of"] == max(len(one.text) for one in made)
    )
    for model, one in zip(value["models"], made, strict=True):
        assert (
            model["text"] == one.text[: given + 5] and model["look"] is None and model["heads"] == 0
        )
        assert model["bits"]["written"] == pytest.approx(
            one.nats[given : given + 5].mean() / np.log(2), abs=1e-3
        )
    assert around(readings.growing(0, 0))["models"][0]["bits"] == {"given": None, "written": None}


# ---- segments and memory, and the four terms


def drawn(intervention: str = "none", **more: Any) -> dict[str, Any]:
    """Segments of a finished run as the widget gets them."""
    how = {
        "given": 200,
        "segment": 32,
        "memory": 64,
        "layers": 3,
        "query": "v=1",
        "state": "live",
        **more,
    }
    return around(
        segments.draw_segments(segmented.run(intervention)[1], intervention=intervention, **how)
    )


def test_an_address_gives_changed_rows() -> None:
    other = segmented.run("foreign")[0][0]
    expected = xl_look(other, 2, 1, [100, 101])
    np.testing.assert_allclose(
        rows_at(drawn("foreign")["models"][0]["look"], 2, 1, 100, 2), expected, atol=2e-5
    )
    assert expected.shape[1] == len(other.text) + 64, "keys of the other text come last"


def test_the_first_lock_has_a_full_memory() -> None:
    (seen, _), models = segmented.run()
    pick: Any = segments.find_telling_place(models, 32)
    position = pick["pos"]
    assert pick["model"] == "xl" and isinstance(position, int)
    assert (
        (seen.remembered[position // 32] >= 0).sum() == 64
        and 4 <= position % 32 <= 16
        and position < 224
    )
    layer, head = (int(part) - 1 for part in pick["head"].split("."))
    assert seen.across[layer, head, position] == seen.across[:, :, position].max()
    short, two = (
        segments.find_telling_place([segmented.model(segmented.reading(length=length))], 32)
        for length in (20, 40)
    )
    assert drawn("cut")["pick"] is None is short, "nothing where nothing is remembered"
    assert two["pos"] >= 32, "the last of two segments is good enough to begin with"


def cut(last: int = 180, count: int = 32, **more: Any) -> dict[str, Any]:
    """The parts of one head, some of them replaced."""
    seen = segmented.reading(length=200, segment=64, memory=160, layers=2, heads=3)
    return {**segmented.cut(seen, 1, 2, last, count), **more}


def boards(**parts: Any) -> Any:
    return around(terms.draw_boards(NAME, (1, 2), (2, 3), **parts))


def test_the_weight_of_earlier_keys_is_told() -> None:
    parts = cut()
    value = boards(**parts)
    left = len(parts["keys"]) - terms.KEYS
    assert (
        left > 0
        and value["left_off"] == left
        and value["memory_until"] == parts["memory_until"] - left
    )
    for name in ("content", "position", "global_content", "global_position", "scores", "allowed"):
        np.testing.assert_array_equal(unpacked(value[name]), parts[name][:, left:])
    np.testing.assert_allclose(
        unpacked(value["elsewhere"]) / 65_535, parts["weights"][:, :left].sum(1), atol=1e-5
    )
    assert unpacked(value["keys"]["positions"]).tolist() == [
        position for position, _ in parts["keys"][left:]
    ]
    assert value["queries"]["names"] == [name for _, name in parts["queries"]]
    assert unpacked(value["queries"]["positions"])[-1] == 180
    short = boards(**cut(last=40, count=16))
    assert (
        short["left_off"] == 0 == short["memory_until"] and not unpacked(short["elsewhere"]).any()
    ), "a short past stands there whole"


# ---- masks


def test_a_far_and_cutting_head_is_locked() -> None:
    z = spanned.run().z
    assert masks.find_telling_head(z, SPAN, RAMP, 560, 700) == {"head": "4.3", "pos": 572}
    assert masks.find_telling_head(np.full_like(z, SPAN), SPAN, RAMP, 560, 565) == {
        "head": "1.1",
        "pos": 564,
    }
    moving = spanned.run("dynamic").z
    assert masks.find_telling_head(moving, SPAN, RAMP, 560, 700) == {
        "head": "4.4",
        "pos": 560 + int(moving[3, 3, 560:].argmax()),
    }


def test_the_value_carries_learned_spans() -> None:
    value: Any = spanned.value(spanned.run("adaptive", ((1, 1, 200.0),)))
    assert (
        value["heads"] == [4, 4]
        and value["span"] == SPAN
        and value["ramp"] == RAMP
        and unpacked(value["forced"]).sum() == 1
    )
    learned = unpacked(value["learned"])
    assert learned[1, 1] == 15 and (learned == -1).sum() == 15
    np.testing.assert_array_equal(unpacked(value["z"])[1, 1], [200])
    assert (
        value["pick"] == {"head": "4.3", "pos": 572}
        and spanned.value(spanned.run())["learned"] is None
    )


# ---- what spans save


def saving_of(variant: str, **more: Any) -> tuple[Saved, list[float], str]:
    """What a run records, the length of every bar that is drawn of it in percent, and what it
    says."""
    seen = spanned.run(variant).saved
    made: Any = saving.draw_saving(NAME, seen, **more)
    return seen, [trace["x"][0] for trace in made["figures"]["en"]["data"]], made["sentence"]["en"]


def test_every_bar_is_a_share_of_the_span() -> None:
    seen, shares, said = saving_of(
        "adaptive", measured={"vs_fixed_ratio": 1.9, "cache_vs_fixed_ratio": 0.3125}
    )
    far, attending = seen.long_positions.mean() / 512, seen.flops / seen.full_flops
    whole = (seen.flops + seen.other_flops) / (seen.full_flops + seen.other_flops)
    expected = [
        seen.positions.mean() / seen.full_positions,
        far,
        attending,
        whole,
        seen.cache_bytes / seen.full_cache_bytes,
    ]
    expected += [*(seen.long_positions.mean(1) / 512), 1 / 1.9, 0.3125]
    np.testing.assert_allclose(shares, [100 * share for share in expected], rtol=1e-6)
    assert (
        f"attends to {512 * far:.0f} of 512 positions, the mean of the heads ({100 * far:.0f} %)"
        in said
    )
    assert (
        f"{100 * attending:.0f} % of the operations" in said and "reading is 1.90 × as fast" in said
    )
    _, dynamic, said = saving_of("dynamic", measured={"vs_fixed_ratio": 0.8})
    assert dynamic[4] == 100 and "(100 %)" in said, (
        "a span that may be long anywhere saves no cache"
    )
    assert "Measured" not in said, "what is slower is no saving"


# ---- what does not fit is refused with its sizes


def test_a_character_is_a_code_point() -> None:
    assert reading.draw_reading([plain("a🐋\u0301", [1, 2, 3])], **{**FACTS, "given": 0})["of"] == 3
    two = plain("ab", [1, 2])
    for says, model in (
        ("2 characters with 3 nats", plain("ab", [1, 2, 3])),
        ("first_seen of shape", replace(two, layers=1, heads=1, first_seen=np.zeros(3, np.int32))),
        (
            "profiles of shape",
            replace(two, layers=1, heads=2, profiles=np.zeros((1, 1, 2), np.float32)),
        ),
    ):
        refused(says, reading.draw_reading, [model], **FACTS)
    _, (model, _) = segmented.run()
    how = {
        "given": 0,
        "memory": 64,
        "layers": 3,
        "query": "",
        "state": "live",
        "segment": 32,
        "intervention": "none",
    }
    clipped = dataclasses.replace(model, across=model.across[..., 1:])
    refused(
        r"across \(3, 2, 249\).*250 characters in segments of 32, 3 layers",
        segments.draw_segments,
        [clipped],
        **how,
    )
    unknown = 'intervention "swapped"; it can be none, cut, shuffled, foreign'
    refused(unknown, segments.draw_segments, [model], **{**how, "intervention": "swapped"})
    parts = cut()
    keys = len(parts["keys"])
    refused(
        rf"\(32, {keys - 1}\).* for 32 queries and {keys} keys",
        boards,
        **cut(position=parts["position"][:, 1:]),
    )
    refused(r"u \(8,\) and v \(7,\)", boards, **cut(v=parts["v"][1:]))
    refused("the four terms miss the scores by 1", boards, **cut(scores=parts["scores"] + 1))
    seen = spanned.run(length=90)
    refused(r"\(", spanned.value, replace(seen, forced=seen.forced[:2]))
    refused(
        "full span has no positions",
        saving.draw_saving,
        NAME,
        replace(seen.saved, full_positions=0),
    )
