"""What the models of all labs promise alike: refusals, company in a batch, turns, results on disk,
models that are not there."""

from __future__ import annotations

import dataclasses
import importlib
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.adaptive_span.records import EVERY
from models.checkpoints import stored_results
from models.checkpoints.checkpoint import CheckpointError
from models.explaining.errors import InputError
from models.explaining.query_key_plane import Head, Plane
from models.explaining.request_fields import Characters, Choice, Heads, Number, Several, Switch
from models.explaining.shared_records import Retranslated
from models.translation.records import PARTS
from tests.models.networks import weights_of

ROOT = Path(__file__).parents[2]
GERMAN = {"sentence": "Two dogs are running."}
ASKED: dict[str, tuple[dict[str, Any], ...]] = {  # requests that the trained models answer quickly
    "act_rnn": (
        {"task": "parity", "text": "1011"},
        {"task": "addition", "text": "478+256"},
        {"task": "addition", "text": "9+1", "epsilon": 0.3, "bias": 1.0},
    ),
    "adaptive_span": (
        {"text": "the heart in the rain", "length": 9},
        {"text": "and then", "length": 20, "seed": 9, "temperature": 0.3},
    ),
    "bert": (
        {"text": "A dog sits on the grass.", "hidden": (1,)},
        {"text": "A dog sits.", "other": "A cat sits.", "variant": "minilm"},
        {
            "text": "A dog sits on the grass.",
            "hidden": (1,),
            "side": "left",
            "silenced": (("mlm", 0, 1),),
        },
        {"text": "A dog sits on the grass.", "way": "draw", "seed": 3},
    ),
    "cost": ({"task": "scale"}, {"task": "heads"}),
    "detection": (
        {},
        {"scene": "3,7.0.30.30.30.1", "agree": False},
        {"scene": "1,0.1.20.20.30.0", "silenced": (("encoder", 1, 2),), "depth": 2},
    ),
    "graph_attention": (
        {"paper": 7},
        {"task": "dictionary", "silenced": (("dictionary", 0, 1),)},
        {"task": "distance", "cut": (2,), "bias": 0.5},
        {"task": "own", "graph": "a, b\nb, c", "uniform": "all"},
    ),
    "image_transformer": (
        {"mode": "complete", "picture": "test:1", "keep": 21, "count": 2},
        {"mode": "enlarge", "picture": "test:0"},
        {"mode": "complete", "picture": "test:1", "keep": 21, "memory_rows": 1},
        {"mode": "complete", "picture": "test:1", "keep": 21, "flange": 2, "top_k": 9},
    ),
    "language_model": (
        {"text": "the ship", "length": 6},
        {"text": "she", "length": 20, "seed": 9, "top_p": 0.5},
        {"text": "aQ7aQ", "length": 3, "variant": "induction", "typed": "7"},
        {"text": "It was", "length": 4, "variant": "words"},
    ),
    "music": (
        {"motif": "JAAkACQAJAA"},
        {"style": "piano", "mode": "continue", "length": 9},
        {"motif": "JAAkACQAJAA", "seed": 8},
    ),
    "nonautoregressive": (
        GERMAN,
        {**GERMAN, "passes": 1, "offset": 1},
        {"sentence": "A man sings.", "again": (0, 1)},
    ),
    "reformer": ({"text": "heads", "rounds": 2}, {"text": "hash"}),
    "rnn_attention": (
        GERMAN,
        {**GERMAN, "variant": "none"},
        {"sentence": "A man sings a song.", "beam": 3},
        {**GERMAN, "context": "zero"},
    ),
    "sparse_transformer": (
        {"keep": 27},
        {"keep": 27, "seed": 8, "drawing": "test:3"},
        {"task": "text", "text": "It was", "length": 9},
    ),
    "transformer_xl": (
        {"text": "the ship went out", "length": 9},
        {"text": "she", "length": 20, "seed": 9, "temperature": 0.3},
    ),
    "translation": (
        GERMAN,
        {"sentence": "A man in a blue shirt.", "beam": 3},
        {**GERMAN, "silenced": (("cross", 1, 0),), "hidden": (1,)},
        {**GERMAN, "without": ("mask",)},
        {
            "sentence": "Two 😀 </s> שלום\x00dogs </script><img src=x> run.",
            "hidden": tuple(range(9)),
        },
    ),
    "universal_transformer": (
        {"task": "reverse", "text": "abcdef", "question": ""},
        {},
        {"task": "reverse", "text": "xy", "question": "", "epsilon": 0.4, "step_signal": False},
    ),
}
every_lab = pytest.mark.parametrize("slug", ASKED)
IN_TURNS = (
    "adaptive_span",
    "image_transformer",
    "music",
    "sparse_transformer",
    "transformer_xl",
    "translation",
)
OUTSIDE: dict[type, Any] = {  # values outside of what a field may be
    Number: lambda may: (may.least - 1, may.most + 1, 10**30, math.nan, math.inf, True, "4", None),
    Choice: lambda may: ("no such thing", 10**30, None, True),
    Several: lambda may: (("no such thing",), (5,)),
    Heads: lambda may: (
        (("nobody", 0, 0),),
        ((may.models[0], 0, -1),),
        ((may.models[0], 99, 0),),
        ((may.models[0], True, 0),),
    ),
    Switch: lambda may: ("yes", 2),
    Characters: lambda may: ("a" * (may.most + 1), None, 5),
}
CODES = {Characters: {"too_long", "no_text"}}  # where a refusal is not called by its field


def of(slug: str, part: str = "explain") -> Any:
    return importlib.import_module(f"models.{slug}.{part}")


def asked(slug: str) -> list[Any]:
    return [of(slug, "records").Request(**one) for one in ASKED[slug]]


def wrong(slug: str) -> Any:
    """A request that is refused."""
    return next(
        dataclasses.replace(request, **{name: value}) for request, name, value, _ in outside(slug)
    )


def outside(slug: str) -> Iterator[tuple[Any, str, object, set[str]]]:
    """(request, field, value outside of its range, codes of the refusal)."""
    request = asked(slug)[0]
    for field in dataclasses.fields(request):
        may = field.metadata["range"]
        for value in OUTSIDE.get(type(may), lambda _may: ())(may):
            yield request, field.name, value, CODES.get(type(may), {field.name})


@cache
def alone(slug: str, number: int) -> Any:
    """The answer to one request by itself."""
    (seen,) = of(slug).explain([asked(slug)[number]])
    assert isinstance(seen, of(slug, "records").Explanation), seen
    return seen


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Everything that a result holds, each by where it stands."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), f"{name}.{field.name}")
    elif isinstance(value, tuple | list):
        for i, one in enumerate(value):
            yield from leaves(one, f"{name}.{i}")
    else:
        yield name, value


def same(one: Any, other: Any) -> None:
    """Alike, up to the rounding of sums in another order, and but for the milliseconds that each
    took."""
    for (name, ours), (_, theirs) in zip(leaves(one), leaves(other), strict=True):
        if name.endswith("_ms"):
            assert np.shape(ours) == np.shape(theirs) and np.all(np.asarray(ours) > 0), name
        elif isinstance(ours, np.ndarray) and ours.dtype.kind == "f":
            np.testing.assert_allclose(
                ours,
                theirs,
                atol=0.03 if ours.dtype == np.float16 else 3e-3,
                rtol=3e-3,
                err_msg=name,
            )
        elif isinstance(ours, float):
            assert ours == pytest.approx(theirs, abs=1e-3, nan_ok=True), name
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


@every_lab
def test_bad_fields_are_refused_in_words(
    slug: str,
) -> None:
    for request, name, value, codes in outside(slug):
        (found,) = of(slug).explain([dataclasses.replace(request, **{name: value})])
        assert isinstance(found, InputError) and found.code in codes, (name, value, found)
        assert (
            found.text["en"].endswith(".")
            and found.text["zh"].endswith("。")
            and len(found.text["en"]) < 300
        ), found


@every_lab
def test_company_in_a_batch_and_a_bad_request_change_nothing(slug: str) -> None:
    requests = asked(slug)
    first, refused, *others = of(slug).explain([requests[0], wrong(slug), *requests[1:]])
    assert isinstance(refused, InputError)
    for i, seen in enumerate((first, *others)):
        same(seen, alone(slug, i))


@pytest.mark.parametrize("slug", IN_TURNS)
def test_turns_bring_steps_and_end_with_what_explain_gives(slug: str) -> None:
    entries: list[list[Any]] = [[], [], []]
    for turn in of(slug).generate([asked(slug)[0], wrong(slug), asked(slug)[1]]):
        for seen, entry in zip(entries, turn, strict=True):
            over = bool(seen) and not isinstance(seen[-1], list)
            assert (entry is None) == over, "nothing comes after an end, and an end for everybody"
            seen += [] if over else [entry]
    assert len(entries[1]) == 1 and isinstance(entries[1][0], InputError)
    for i, (*before, end) in enumerate((entries[0], entries[2])):
        same(end, alone(slug, i))
        told: dict[str, list[Any]] = {}
        for step in (one for entry in before for one in entry):
            told.setdefault(getattr(step, "variant", ""), []).append(step)
        for variant, steps in told.items():
            made = [
                one
                for one in getattr(end, "made", getattr(end, "readings", ()))
                if getattr(one, "variant", None) == variant
            ] or [end]
            costs = "bits" if slug == "image_transformer" else "nats"
            if slug == "translation":
                assert (
                    tuple(step.piece for step in steps) == end.target and steps[-1].text == end.text
                )
                continue
            lengths = [getattr(step, costs).shape[-1] for step in steps]
            assert [step.first for step in steps] == [
                sum(lengths[:at]) for at in range(len(lengths))
            ]
            whole = end.made if costs == "bits" else made
            sums = [float(getattr(one, costs).sum()) for one in whole]
            assert sum(float(getattr(step, costs).sum()) for step in steps) == pytest.approx(
                sum(sums), rel=1e-4
            )
            if hasattr(steps[0], "text"):
                assert "".join(step.text for step in steps) == made[0].text


@every_lab
def test_a_result_survives_the_disk(slug: str, tmp_path: Path) -> None:
    for i in range(len(ASKED[slug])):
        seen = alone(slug, i)
        for name, value in leaves(seen):
            assert value is None or isinstance(value, np.ndarray | str | bool | int | float), (
                name,
                type(value),
            )
            assert not isinstance(value, np.ndarray) or not value.flags.writeable, name
        stored_results.save(tmp_path / "one.npz", seen, 12.0, "cpu")
        back, milliseconds, device = stored_results.load(tmp_path / "one.npz", type(seen))
        assert (milliseconds, device) == (12.0, "cpu")
        for (name, ours), (_, theirs) in zip(leaves(seen), leaves(back), strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
            assert not isinstance(ours, np.ndarray) or (
                ours.dtype == theirs.dtype and not theirs.flags.writeable
            ), name


@pytest.mark.parametrize(
    "slug",
    [
        "adaptive_span",
        "music",
        "sparse_transformer",
        "transformer_xl",
        "act_rnn",
        "universal_transformer",
    ],
)
def test_missing_models_are_left_out(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there, kept = (
        of(slug).load,
        {name for name, value in leaves(alone(slug, 0)) if name.endswith("variant")},
    )

    def only(count: int) -> Any:
        seen: list[str] = []

        def load(variant: str = "", seed: int = 1) -> Any:
            seen.append(variant)
            if variant not in list(dict.fromkeys(seen))[:count]:
                raise CheckpointError(f"no model.json in {variant}: train it first")
            return there(variant, seed)

        return load

    monkeypatch.setattr(of(slug), "load", only(1))
    (seen,) = of(slug).explain([asked(slug)[0]])
    assert isinstance(seen, of(slug, "records").Explanation)
    assert {name for name, _ in leaves(seen) if name.endswith("variant")} <= kept
    monkeypatch.setattr(of(slug), "load", only(0))
    with pytest.raises(CheckpointError):
        of(slug).explain([asked(slug)[0]])


# an attention, and a run's weights by the names of their vectors
MAPS: dict[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "bert": ("mlm", lambda seen: {seen.variant: seen.weights}),
    "nonautoregressive": (
        "cmlm_distilled.cross",
        lambda seen: {
            "encoder": seen.encoder,
            "decoder": seen.decoder[-1],
            "cross": seen.cross[-1],
        },
    ),
    "translation": (
        "cross",
        lambda seen: {kind: getattr(seen, kind) for kind in ("encoder", "decoder", "cross")},
    ),
    "universal_transformer": ("stories.self", lambda seen: {"self": seen.attention}),
}


@pytest.mark.parametrize("slug", MAPS)
def test_weights_come_from_queries_and_keys(
    slug: str,
) -> None:
    module, (name, maps) = of(slug, "vectors" if slug == "translation" else "explain"), MAPS[slug]
    *found, refused = module.vectors([*asked(slug), wrong(slug)])
    assert isinstance(found[0], dict) and isinstance(refused, InputError)
    for i, (request, one) in enumerate(zip(asked(slug), found, strict=True)):
        blanked = getattr(request, "side", "both") != "both" or (
            slug == "translation" and (request.hidden or request.without)
        )
        assert isinstance(one, InputError) == bool(blanked), (
            "a change that makes weights another function of them is refused"
        )
        seen = alone(slug, i)
        named = [
            value
            for value in vars(seen).values()
            if isinstance(value, tuple) and all(isinstance(name, str) for name in value)
        ]
        for kind, sides in {} if blanked else one.items():
            np.testing.assert_allclose(weights_of(sides), maps(seen)[kind], atol=1e-3)
            assert sides.asks in named and (
                sides.looked in named or sides.looked == ("<s>", *seen.target[:-1])
            ), kind
            assert not sides.queries.flags.writeable and not sides.keys.flags.writeable
    drawn, error = module.planes([Head(name, 0, 1), Head(name, 99, 0)])
    assert (
        isinstance(error, InputError)
        and isinstance(drawn, Plane)
        and -1 <= drawn.after <= drawn.before + 0.2 <= 1.2
    )


@pytest.mark.parametrize(
    ("slug", "number"),
    [("act_rnn", 1), ("act_rnn", 2), ("universal_transformer", 0), ("universal_transformer", 1)],
)
def test_the_sum_that_halts_can_be_read_off(slug: str, number: int) -> None:
    seen = alone(slug, number)
    np.testing.assert_allclose(seen.weights.sum(0), 1, atol=1e-5)
    for at, n in enumerate(seen.steps):
        before = float(seen.halting[: n - 1, at].sum())
        assert before < seen.threshold and (seen.weights[:, at] > 0).sum() == n
        assert seen.remainder[at] == pytest.approx(1 - before, abs=1e-5) == seen.weights[n - 1, at]
        assert seen.totals[n - 1, at] == 1 and seen.distance[n - 1, at] < 1e-5
    assert seen.stopped[-1] == seen.answer and len(seen.stopped) == seen.steps.max()
    assert seen.ponder == pytest.approx(float((seen.steps + seen.remainder).mean()), abs=1e-5)


MADE: dict[str, Callable[[Any], tuple[Any, ...]]] = {  # what of a run is sent to be read again
    "adaptive_span": lambda seen: (seen.text,),
    "image_transformer": lambda seen: (
        tuple(one.pictures[0].tobytes() for one in seen.made),
        b"" if seen.small is None else seen.small,
    ),
    "language_model": lambda seen: (seen.numbers,),
    "music": lambda seen: (tuple(one.events.tobytes() for one in seen.made),),
    "sparse_transformer": lambda seen: (tuple(one.symbols.tobytes() for one in seen.made),),
    "transformer_xl": lambda seen: (tuple(one.text for one in seen.readings),),
    **dict.fromkeys(
        ("nonautoregressive", "rnn_attention", "translation"),
        lambda seen: (seen.target, seen.target_space),
    ),
}
# a request by its number, a change, and the models that it reaches
AGAIN: list[tuple[str, int, dict[str, Any], set[int]]] = [
    ("adaptive_span", 0, {"spans": ((EVERY, EVERY, 0.0), (0, 1, 3.5))}, {0}),
    ("image_transformer", 0, {"silenced": (("local_1d", 1, 0),)}, {0}),
    ("image_transformer", 0, {"memory_rows": 1}, {0}),
    ("image_transformer", 0, {"flange": 2}, {1}),
    ("image_transformer", 1, {"silenced": (("colour", 0, 0),)}, {0}),
    ("language_model", 0, {"positions": False}, {0}),
    ("language_model", 0, {"skipped": ("2",)}, {0}),
    ("language_model", 0, {"silenced": (("characters", 1, 0),)}, {0}),
    ("music", 0, {"farthest": 2}, {0}),
    ("music", 0, {"silenced": (("jsb_transformer", 0, 1),)}, {1}),
    ("nonautoregressive", 1, {"again": (0, 1)}, {0}),
    ("rnn_attention", 0, {"context": "uniform"}, {0}),
    ("rnn_attention", 1, {"donor": "book"}, {0}),
    ("sparse_transformer", 0, {"pattern": "fixed"}, {0, 1}),
    ("sparse_transformer", 0, {"stride": 27}, {0, 2}),
    ("sparse_transformer", 0, {"summary": 1}, {2}),
    ("sparse_transformer", 0, {"silenced": (("dense", 1, 0),)}, {1}),
    ("transformer_xl", 0, {"segment": 16, "intervention": "cut"}, {0, 1}),
    ("translation", 0, {"silenced": (("cross", 1, 0),)}, {0}),
    ("translation", 0, {"hidden": (1,)}, {0}),
    *(("translation", 0, {"without": (part,)}, {0}) for part in PARTS),
]


def cost(seen: Any) -> list[Any]:
    """What each model of a run, or of a reading again, says that its symbols cost; NaN where it
    does not say."""
    parts = getattr(
        seen, "made", getattr(seen, "readings", getattr(seen, "nats", getattr(seen, "bits", seen)))
    )
    if isinstance(parts, tuple | np.ndarray) and not (
        isinstance(parts, np.ndarray) and parts.ndim == 1
    ):
        return [getattr(one, "nats", one.bits[0] if hasattr(one, "bits") else one) for one in parts]
    return [getattr(parts, "log_probabilities", parts)]


@pytest.mark.parametrize(("slug", "number", "change", "reached"), AGAIN, ids=str)
def test_a_rerun_costs_what_the_run_cost(
    slug: str, number: int, change: dict[str, Any], reached: set[int]
) -> None:
    module, kind = of(slug), getattr(of(slug, "records"), "Rereading", Retranslated)
    request, plain = asked(slug)[number], alone(slug, number)
    changed = dataclasses.replace(request, **change)
    (other,) = module.explain([changed])
    bad = (
        dataclasses.replace(request, temperature=-1.0)
        if hasattr(request, "temperature")
        else wrong(slug)
    )
    pairs = ((request, plain), (changed, plain), (changed, other), (bad, plain))
    found = getattr(module, "measure", getattr(module, "reread", None))(
        [kind(one, *MADE[slug](run)) for one, run in pairs]
    )
    answers = (
        found
        if isinstance(found, list)
        else [next(filter(None, turns)) for turns in zip(*found, strict=True)]
    )
    assert isinstance(answers.pop(), InputError)
    for run, again in ((plain, answers[0]), (other, answers[2])):
        for ours, theirs in zip(cost(run), cost(again), strict=True):
            # what is given of a piece costs nothing in a run
            told = np.isfinite(theirs) & ((ours != 0) if slug == "music" else True)
            np.testing.assert_allclose(ours[told], theirs[told], atol=3e-3)
        if isinstance(again, type(run)):
            same(run, again)
    both = zip(cost(answers[0]), cost(answers[1]), strict=True)
    assert {
        i for i, (before, after) in enumerate(both) if np.nanmax(abs(before - after)) > 1e-3
    } == reached


@pytest.mark.parametrize("slug", ["act_rnn", "universal_transformer"])
def test_networks_share_their_inputs(
    slug: str,
) -> None:
    request = asked(slug)[0]
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"forced": 1},
        {"limit": 1},
        {"forced": 3},
        {"forced": 99},
    )
    trained, again, once, limited, thrice, error = of(slug).measure(
        [request, *(dataclasses.replace(request, text="", **more) for more in changes)]
    )
    assert (trained.accuracy, trained.ponder, trained.sample) == (
        again.accuracy,
        again.ponder,
        again.sample,
    )
    assert once.ponder == limited.ponder == 2.0 < trained.ponder and thrice.ponder == 4.0
    assert (
        once.accuracy == limited.accuracy
        and 0 <= once.accuracy <= trained.accuracy <= 1
        and once.milliseconds > 0
    )
    assert isinstance(error, InputError) and error.code == "forced"


def test_what_pages_read_of_a_lab_needs_neither_torch_nor_midi() -> None:
    names = [
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for path in ROOT.glob("models/*/*.py")
    ]
    light = [
        name
        for name in names
        if name.endswith(
            ("records", ".weights", ".saving", ".letters", ".vocabulary", ".repeats", ".notes")
        )
    ]
    code = (
        f"import sys, {', '.join(light)}; assert not {{'torch', 'pretty_midi'}} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
