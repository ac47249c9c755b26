"""Figures and the arrays that they are made of: what is in them, never how they look; and what a
panel is told of before and after."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.components import figure
from explorer.components.change_panel import Pictures, Readings, show_change
from explorer.contract.control_kinds import KnobControl
from explorer.contract.knobs import Range, Spans
from explorer.figures import attention, head_jobs, memory, theme
from explorer.figures.attention import Blocks, Kind
from explorer.figures.curves import LABEL as LABEL_ROOM
from explorer.figures.curves import Curve, draw_curves
from explorer.figures.heatmaps import Map, draw_maps
from explorer.figures.pairs import Measure, PicturePair
from explorer.figures.sides import TextSide
from explorer.labs.cost import drawn as cost
from explorer.labs.translation.panels import positions
from explorer.media.sound import Score, Sounds
from explorer.values.exact_rows import Looks, RowSource
from explorer.values.packing import LEVELS, ArrayStore, pack_array
from tests.explorer.numbers import refused, scaled, unpacked
from tests.explorer.rolled_out import rollout
from tests.explorer.small_drawer import MODELS, Ask, text

Array = NDArray[np.float32]
LABEL = {"en": "Cross", "zh": "交叉"}
KEYS, QUERIES = ["A", "blond", "holding", "hands", "."], ["Eine", "Blond", "ine", "."]


def softmax(scores: Any) -> Any:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


def kind(weights: Any, queries: Any, keys: Any = None, name: str = "encoder", **how: Any) -> Kind:
    """A kind of attention; of the queries to themselves if no keys are given."""
    return Kind(name, LABEL, weights, [*queries], [*(queries if keys is None else keys)], **how)


def flat(layers: int, heads: int, queries: int, keys: int) -> Array:
    return np.full((layers, heads, queries, keys), 1 / keys, np.float32)


# ---- attention


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (" ", "␣"),
        ("a\nb", "a⏎b"),
        ("\x00", "␀"),
        ("", "∅"),
        ("\u202eevil", "⟨U+202E⟩evil"),
        ("שלום", "שלום"),
        ("👩‍👧", "👩‍👧"),
    ],
)
def test_what_cannot_be_seen_is_drawn_as_a_sign(text: str, drawn: str) -> None:
    assert attention.show_token(text) == drawn


def test_a_telling_cell_is_far_and_confident() -> None:
    scores = np.zeros((1, 3, 6, 6), np.float32)
    scores[0, 0][np.arange(6), np.arange(6)] = 4  # a diagonal head
    scores[0, 0, 4] = [0, 6, 0, 0, 0, 0]  # … in which one word looks far
    scores[0, 1, :, 5] = 8  # everybody rests on the full stop
    found = attention.find_telling_cell(
        kind(
            softmax(scores),
            ["Der", "Hund", "läuft", "zum", "Händ", "."],
            ["The", "hands", "dog", "runs", "to", "."],
            "cross",
        )
    )
    assert (found["layer"], found["head"], found["row"], found["col"]) == (0, 0, 4, 1)
    weights = softmax(np.where(np.tril(np.ones((5, 5), bool)), 0, -np.inf)[None, None])
    found = attention.find_telling_cell(kind(weights, "abcde", mask="causal"))
    assert found["col"] <= found["row"]


@pytest.mark.parametrize(("shift", "job"), [(-1, "previous"), (1, "next"), (0, "itself")])
def test_a_head_that_always_looks_beside_itself_has_that_job(shift: int, job: str) -> None:
    scores = np.zeros((2, 2, 6, 6), np.float32)
    scores[1, 0] = 5 * np.eye(6, k=shift)
    (found,) = head_jobs.find_jobs(kind(softmax(scores), "abcdef"))
    assert (found["layer"], found["head"], found["job"]) == (1, 0, job) and 0.4 <= found[
        "score"
    ] <= 1


def test_a_head_that_rests_on_one_token_aligns_nothing() -> None:
    scores = np.zeros((1, 2, 5, 5), np.float32)
    scores[0, 0, :, 4] = 9
    scores[0, 1][np.arange(5), [2, 1, 0, 4, 3]] = 9
    found = head_jobs.find_jobs(kind(softmax(scores), "abcde", "vwxyz", "cross"))
    assert {(one["head"], one["job"]) for one in found} == {(0, "last"), (1, "alignment")}


def test_rollout_halves_the_residual_path() -> None:
    weights = np.zeros((2, 1, 2, 2), np.float32)
    weights[..., 0] = 1  # both queries look at key 0 only
    assert np.allclose(rollout(kind(weights, "ab")), [[1, 0], [0.75, 0.25]])
    cross = kind(np.array([[[[0, 1]]]], np.float32), "x", "ab", "cross", through="encoder")
    assert np.allclose(rollout(cross, kind(weights[:1], "ab")), [[0.5, 0.5]])


def test_a_map_of_a_single_weight_is_looked_at_there() -> None:
    single = kind(np.ones((1, 1, 1, 1), np.float32), ["Hallo"], ["Hi"], "cross")
    assert attention.draw_attention([single], query="")["pick"] == {
        "kind": "cross",
        "layer": 0,
        "head": 0,
        "row": 0,
        "col": 0,
    }


def test_a_long_map_is_pooled_into_blocks() -> None:
    long = kind(
        softmax(np.random.default_rng(0).normal(size=(1, 1, 700, 700)).astype(np.float32)),
        map(str, range(700)),
        map(str, range(700)),
    )
    pooled: Any = attention._pool_kind(long)
    assert (pooled.blocks.by_query, pooled.blocks.by_key) == (3, 3) and pooled.weights.shape == (
        1,
        1,
        234,
        234,
    )
    assert np.allclose(pooled.weights.sum(-1), 1, atol=1e-4)
    assert attention.draw_attention([long], query="")["kinds"][0]["pooled"] == [3, 3]
    pieces = [f"t{i}" for i in range(10)]
    blocks = Blocks(4, 4, pieces, pieces, "/looks/abc")
    (made,) = attention.draw_attention(
        [kind(flat(1, 1, 3, 3), pieces[::4], blocks=blocks)], query=""
    )["kinds"]
    assert (made["pooled"], made["look"], made["whole"]["keys"][-1]) == ([4, 4], "/looks/abc", "t9")


def stepped(taken: list[int], steps: int = 3) -> Kind:
    """One block used step after step, over positions that stop at different times."""
    weights = softmax(np.random.default_rng(3).normal(0, 1, (steps, 2, 2, 2)))
    return kind(
        weights,
        ["mary went to the garden", "where is mary"],
        name="self",
        axis="step",
        taken=taken,
        spaced=True,
    )


def test_stopped_positions_attend_to_nothing() -> None:
    made: Any = attention.draw_attention([stepped([1, 3])], query="", silences=False)
    (one,) = made["kinds"]
    assert (
        one["axis"] == "step"
        and one["taken"] == [1, 3]
        and one["spaced"] is True
        and made["silences"] is False
    )
    sums = scaled(one["weights"]).sum(-1)  # (step, head, query)
    assert (
        np.allclose(sums[:, :, 1], 1, atol=1e-4)
        and np.allclose(sums[0, :, 0], 1, atol=1e-4)
        and not sums[1:, :, 0].any()
    )
    asking = attention._clear_stopped_rows(stepped([1, 3]))
    once = rollout(kind(asking.weights[:1], asking.queries, name="self"))
    assert np.allclose(rollout(asking)[0], once[0])


@pytest.mark.parametrize(
    ("written", "number", "said"),
    [
        *(
            (theme.format_number, 0.0, "0"),
            (theme.format_number, 4.83e-7, "4.8 × 10⁻⁷"),
            (theme.format_number, 9.97e-16, "1.0 × 10⁻¹⁵"),
        ),
        *(
            (theme.format_number, 2.3e19, "2.3 × 10¹⁹"),
            (positions.format_difference, 9.99e-4, "1.0 × 10⁻³"),
            (cost.format_power, 99_996.0, "1.00 × 10⁵"),
        ),
        *(
            (memory.format_bytes, 512, "512 B"),
            (memory.format_bytes, 110.4e6, "110 MB"),
            (memory.format_bytes, 4.3117e9, "4.31 GB"),
        ),
        *(
            (positions.format_difference, 3e-12, "3.0 × 10⁻¹²"),
            (positions.format_difference, 0.84, "0.84"),
            (positions.format_difference, 0.0, "0.00"),
        ),
        *(
            (cost.format_power, 4e9, "4.00 × 10⁹"),
            (cost.format_power, 1.2e-14, "1.20 × 10⁻¹⁴"),
            (cost.format_power, 0.25, "0.25"),
        ),
        (partial(cost.format_power, step=3), 16e9, "16.0 × 10⁹"),
    ],
)
def test_numbers_are_written_as_in_a_lecture(written: Any, number: float, said: str) -> None:
    assert written(number).replace("\u00a0", " ") == said


# ---- curves, maps, tables


def curve(*values: float, name: Mapping[str, str] = LABEL, **how: Any) -> Curve:
    return Curve(name, range(1, len(values) + 1), values, "var(--cat-1)", **how)


def drawn(*lines: Curve, **how: Any) -> Any:
    return draw_curves(lines, ("a", "b"), "en", **how)


def test_names_of_lines_that_end_side_by_side_keep_apart() -> None:
    layout = drawn(
        *(curve(1, 1 + 0.01 * n, end=LABEL) for n in range(4)), across="log", up="log", height=250
    )["layout"]
    (low, high), places = (
        layout["yaxis"]["range"],
        sorted(note["y"] for note in layout["annotations"]),
    )
    assert min(np.diff(places)) * 200 / (high - low) >= LABEL_ROOM - 1


def test_maps_keep_the_scale_of_their_kind() -> None:
    signed, weights = draw_maps(
        [Map("a", np.array([[0.5, np.nan]]), -2, 2, "signed"), Map("b", np.ones((2, 2)))]
    )["data"]
    assert (signed["zmin"], signed["zmax"], signed["z"]) == (-2, 2, [[0.5, None]]) and (
        weights["zmin"],
        weights["zmax"],
    ) == (0, 1)
    made = draw_maps([Map("a", np.eye(2)), Map("b", np.array([0.25, 1.0]))], ["q", "r"], ["k", "l"])
    assert [one["type"] for one in made["data"]] == ["heatmap", "bar"] and made["data"][1][
        "text"
    ] == ["0.25", "1.00"]


# ---- exact rows, arrays, and the stores of both


def look(size: int = 10) -> RowSource:
    def rows(layer: int, head: int, which: range) -> Array:
        return np.array([[i / 100, layer / 10, head / 10] for i in which], np.float32)

    return RowSource(rows, 2, 3, 50, size)


def test_rows_come_as_weights_of_16_bits() -> None:
    raw: Any = look().encode_rows(1, 2, 48, 2)
    np.testing.assert_allclose(
        np.frombuffer(raw, "<u2").reshape(2, 3) / LEVELS,
        [[0.48, 0.1, 0.2], [0.49, 0.1, 0.2]],
        atol=1e-5,
    )
    assert len(look().encode_rows(0, 0, 48, 8) or ()) == 2 * 3 * 2


@pytest.mark.parametrize(
    "wanted",
    [
        (2, 0, 0, 1),
        (0, 3, 0, 1),
        (0, 0, 50, 1),
        (0, 0, 0, 0),
        (0, 0, 0, 257),
        (-1, 0, 0, 1),
        (0, 0, -1, 1),
    ],
)
def test_what_is_not_there_is_no_answer(wanted: tuple[int, int, int, int]) -> None:
    assert look().encode_rows(*wanted) is None


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (4, 8, 10, 11), (2, 0, 5)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_weights_keep_their_shape_and_lose_less_than_a_step(
    shape: tuple[int, ...], dtype: type
) -> None:
    weights = np.random.default_rng(0).random(shape).astype(dtype)
    packed = pack_array(weights)
    assert packed["dtype"] == "u2" and packed["shape"] == list(shape)
    np.testing.assert_allclose(scaled(packed), weights, atol=0.5 / 65_535 + 1e-7)
    if len(shape) == 2:  # a view of another array is packed as it reads
        np.testing.assert_allclose(scaled(pack_array(weights.T[::-1])), weights.T[::-1], atol=1e-5)


def test_large_weights_travel_by_address() -> None:
    store = ArrayStore()
    weights = np.random.default_rng(1).random((8, 200, 200)).astype(np.float32)
    packed: Any = pack_array(weights, store=store)
    assert packed["dtype"] == "u1" and "data" not in packed
    np.testing.assert_allclose(scaled(packed, store), weights, atol=0.5 / 255 + 1e-6)
    assert "data" in pack_array(np.zeros(32_768, np.float32), store=store)
    assert pack_array(np.zeros(32_769, np.float32), store=store)["url"].startswith("/arrays/")


@pytest.mark.parametrize(
    ("array", "how"),
    [
        (np.array([0.0, 1.0], np.float32), {}),  # the ends of the scale
        (np.array([-3.5, 0.0, 1e20], np.float32), {"unit": False}),
        (np.array([-(2**31), 7, 2**31 - 1]), {}),
        (np.array([True, False]), {}),
    ],
)
def test_signed_values_and_whole_numbers_are_exact(array: Any, how: dict[str, Any]) -> None:
    assert scaled(pack_array(array, **how)).tolist() == array.tolist()


DRAWN = [np.random.default_rng(n).bytes(10_000) for n in range(8)]
SCORES = [Score(np.array([[0, 50, 60, 20]] * 3, np.int32), "piano", 10, 200 + n) for n in range(8)]


@pytest.mark.parametrize(
    ("store", "put", "name", "large"),
    [
        (
            Looks(capacity=25),
            lambda store, n: store.put(look(), str(n).encode()),
            "keeps 25",
            lambda store: store.put(look(26), b"x"),
        ),
        (
            ArrayStore(capacity=25_000),
            lambda store, n: store.put(DRAWN[n]),
            "25000",
            lambda store: store.put(b"".join(DRAWN)),
        ),
        # two scores of 48 bytes
        (Sounds(capacity=110), lambda store, n: store.put(SCORES[n]), "", None),
    ],
    ids=["rows", "arrays", "sounds"],
)
def test_a_store_forgets_the_oldest(store: Any, put: Any, name: str, large: Any) -> None:
    first, second = (put(store, n).rpartition("/")[2] for n in range(2))
    assert store.get(first) is not None  # asked for: now the youngest
    third = put(store, 2).rpartition("/")[2]
    assert [store.get(digest) is None for digest in (first, second, third)] == [False, True, False]
    assert getattr(store, "size", 0) <= store.capacity
    assert put(store, 1).rpartition("/")[2] == second and store.get(second) is not None
    size = getattr(store, "size", 0)
    assert put(store, 1).rpartition("/")[2] == second and getattr(store, "size", 0) == size, (
        "kept once, however many visitors ask"
    )
    if large:
        refused(name, large, store)


def test_threads_may_share_a_store() -> None:
    store = ArrayStore(capacity=200_000)

    def work(seed: int) -> None:
        draw = np.random.default_rng(seed % 3)
        for _ in range(100):
            store.get(store.put(draw.bytes(4_000)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < store.size <= 200_000 and store.size == sum(
        len(kept) for kept in store._kept.values()
    )


# ---- before and after a change: knobs, pictures and texts

NAME, UNIT = text("One", "一"), text("{n} positions", "{n} 个位置")
SENTENCE = text("⟦k:segment 2⟧ costs most.", "⟦k:第 2 个片段⟧变化最大。")
DIGIT = (np.eye(28) * 255).astype(np.uint8)
SIX = np.ones(6, np.float32)


def told(what: Any) -> Any:
    """What the browser gets of it."""
    return json.loads(json.dumps(show_change({"query": "v=1"}, what)))


def pictures(*pairs: PicturePair) -> Any:
    return told(Pictures(pairs, Measure(NAME, "nats", UNIT), MODELS, SENTENCE))


def readings(*sides: TextSide) -> Any:
    return told(Readings(sides, SENTENCE))["sides"]


def side(worse: float = 0.5, **more: Any) -> TextSide:
    """Six characters, of which three are given; each costs one bit, the even ones `worse` bits more
    under the change."""
    before = np.full(6, math.log(2), np.float32)
    return TextSide(
        "xl",
        NAME,
        before,
        before + np.float32(worse * math.log(2)) * (np.arange(6) % 2 == 0),
        3,
        2,
        **more,
    )


def test_a_number_as_trained_may_be_written_as_another() -> None:
    stride = Range("stride", NAME, range(1, 57), 28, UNIT, unchanged=0)
    knob: Any = json.loads(
        json.dumps(KnobControl("stride", NAME, knob=stride, change=True).describe_control(Ask))
    )["knob"]
    assert (
        knob["values"][0],
        knob["values"][-1],
        knob["neutral"],
        knob["written"],
        knob["within"],
    ) == (1, 56, 28, 0, None)
    memory = Range("memory", NAME, (0, 512, 1024), 512, UNIT, NAME, within="stride").as_json()
    assert (memory["written"], memory["within"], memory["mark"]) == (512, "stride", NAME)


def test_spans_grow_by_half() -> None:
    long, odd, one = (
        Spans(layers=1, heads=1, span=span, ramp=0).list_stops() for span in (512, 100, 1)
    )
    assert long[:9] == [0, 1, 2, 3, 4, 6, 8, 12, 16] and long[-3:] == [256, 384, 512]
    assert odd[-3:] == [64, 96, 100] and one == [0, 1]


def test_bits_are_averaged_over_code_points() -> None:
    (one,) = readings(side(text="abcdef", written=("def", "xyz")))
    assert (one["number"]["before"], one["number"]["after"]) == pytest.approx((1.0, 4 / 3))
    assert unpacked(one["before"]).tolist() == pytest.approx([1.0] * 6)
    assert unpacked(one["after"]).tolist() == pytest.approx([1.5, 1.0] * 3)
    assert one["reached"] and one["text"] == "abcdef" and one["written"] == ["def", "xyz"]
    (four,) = readings(TextSide("xl", NAME, SIX[:4], SIX[:4] * 2, 3, 0, text="a😀b\n"))
    assert four["text"] == "a😀b\n"


def test_an_unreached_model_has_no_pictures() -> None:
    why = text("It has no memory.", "它没有记忆。")
    reached, same, nearly = readings(
        side(), side(0.0, written=("ef", "ef"), unreached=why), side(1e-4)
    )
    assert [one["reached"] for one in (reached, same, nearly)] == [
        True,
        False,
        False,
    ], "rounding is no change"
    assert same["before"] is None and same["written"] is None and same["unreached"] == why
    assert nearly["number"]["before"] == nearly["number"]["after"] == pytest.approx(1.0)


# ---- what does not fit is refused with its sizes

PIECES = [f"t{i}" for i in range(10)]


@pytest.mark.parametrize(
    ("says", "call"),
    [
        (
            r"weights \(2, 3, 4, 4\) for 4 queries and 5 keys",
            lambda: kind(flat(2, 3, 4, 4), QUERIES, KEYS),
        ),
        ("at least once", lambda: stepped([0, 3])),
        (
            "blocks of",
            lambda: kind(
                flat(1, 1, 3, 3), PIECES[:3], blocks=Blocks(2, 2, PIECES, PIECES, "/looks/abc")
            ),
        ),
        ("another number of places", lambda: drawn(Curve(LABEL, (1, 2), (1,), "var(--cat-1)"))),
        (r"rows of \[1\] cells under 2 columns", lambda: figure.Table([LABEL, LABEL], [["a"]])),
        (
            "for 1 rows and 2 columns",
            lambda: draw_maps([Map("a", np.zeros((2, 2)))], ["q"], ["k", "l"]),
        ),
        *(
            ("1.5", lambda: pack_array(np.array([0.5, 1.5]))),
            ("-0.2", lambda: pack_array(np.array([-0.2]))),
        ),
        *(
            ("32 bits", lambda: pack_array(np.array([2**40]))),
            ("not finite", lambda: pack_array(np.array([np.nan]))),
        ),
        ("numbers or booleans", lambda: pack_array(np.array(["a"]))),
        ("100 as trained", lambda: Range("memory", NAME, (0, 512), 100, UNIT)),
        (
            "0 is a stride of its own",
            lambda: Range("stride", NAME, range(57), 28, UNIT, unchanged=0),
        ),
        (
            r"\(28, 28\) and after \(28, 27\)",
            lambda: PicturePair("fixed", DIGIT, DIGIT[:, 1:], (1.0, 1.0)),
        ),
        (
            r"map \(784,\)",
            lambda: PicturePair("fixed", DIGIT, DIGIT, (1.0, 1.0), np.zeros(784, np.float32)),
        ),
        (
            "not finite",
            lambda: pictures(
                PicturePair("fixed", DIGIT, DIGIT, (1.0, 1.0), np.full((28, 28), np.inf))
            ),
        ),
        *(
            (r"before \(6,\)", lambda given=given: TextSide("xl", NAME, SIX, SIX, given, 2))
            for given in (0, 7)
        ),
        ("5 characters for 6 positions", lambda: side(text="abcde")),
        (
            "not finite",
            lambda: readings(TextSide("xl", NAME, SIX, SIX + np.float32(math.inf), 4, 2)),
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_sizes(says: str, call: Any) -> None:
    refused(says, call)
