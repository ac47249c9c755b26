"""The views of the self-attention GAN, from explanations to values of the widgets: pure functions
of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.change_panel import ChangedNumber, Difference, Row, show_number_change
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    DrawingControl,
    MenuControl,
    SamplePictures,
    SeedControl,
    SliderControl,
    Value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, MapPicture
from explorer.contract.labels import Text, fill_text, format_two_digits
from explorer.figures.theme import signed_scale
from explorer.labs.sagan import about, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.values.packing import convert_to_json, pack_raw
from models.data.pixels import load_shipped_pictures
from models.sagan import records
from models.sagan.records import EXAMPLES, Explanation, GammaEffect, Judgement, Request

SIZE = 4  # pixels of a cell's side
FAR = 3.0  # cells: a look over less tells little
MADE: Mapping[str, tuple[str, ...]] = {"task": ("make",)}
GIVEN_ONE: Mapping[str, tuple[str, ...]] = {"task": ("judge",)}

first = runs.load_first_once("sagan", EXAMPLES[0], Explanation)


# ---- the input bar


def _name_cells() -> dict[int, Text]:
    places = [divmod(at, records.VERDICTS) for at in range(records.VERDICTS**2)]
    names = [fill_text(texts.CELL, row=row + 1, column=column + 1) for row, column in places]
    return dict(enumerate((texts.NOTHING, *names)))


@cache
def load_pictures() -> tuple[NDArray[np.uint8], list[Text]]:
    """Return the shipped held-out pictures and their names; none where no file is shipped."""
    examples, blank = (
        load_shipped_pictures("sagan"),
        np.zeros((0, records.GIVEN, records.GIVEN), "u1"),
    )
    return examples.get("pictures", blank), [
        texts.KINDS[int(kind)] for kind in examples.get("kinds", ())
    ]


def list_controls() -> tuple[Control, ...]:
    """Return the controls of a picture and of both γ."""

    def gamma(field: str, when: Mapping[str, tuple[str, ...]]) -> Control:
        name, said = texts.GAMMAS[field]
        return SliderControl(
            field,
            name,
            step=0.25,
            change=True,
            says=lambda value: fill_text(said, n=format_two_digits(value)),
            when=when,
        )

    return (
        ChoiceControl("task", texts.TASK, names=texts.TASKS),
        DrawingControl(
            "picture",
            texts.PICTURE,
            drawings=SamplePictures(*load_pictures(), ink=False),
            when=GIVEN_ONE,
        ),
        MenuControl("kind", texts.KIND, names=dict(enumerate(texts.KINDS))),
        SeedControl("seed", texts.SEED, when=MADE),
        SeedControl("other", texts.OTHER, when=MADE),
        SliderControl("walk", texts.WALK, step=0.125, when=MADE),
        SliderControl("bound", texts.BOUND, step=0.1, hint=texts.BOUND_HINT, when=MADE),
        MenuControl("erase", texts.ERASE, names=_name_cells(), hint=texts.ERASE_HINT),
        gamma("gamma_g", MADE),
        gamma("gamma_d", {}),
    )


# ---- a run


def _frame(request: Request, state: str, **values: Any) -> Value:
    value: Value = convert_to_json(values)
    return {"query": spell_query(request), "state": state, **value}


def find_telling_cell(weights: NDArray[np.float32], picture: NDArray[np.uint8]) -> int:
    """Return the cell that puts the most on one other cell at least three cells away, among the
    cells that are not black.

    weights: (query, key). picture: levels, (32, 32).
    """
    row, column = np.divmod(np.arange(records.CELLS**2), records.CELLS)
    far = np.hypot(row[:, None] - row, column[:, None] - column) >= FAR
    level = picture.reshape(records.CELLS, SIZE, records.CELLS, SIZE).mean((1, 3)).ravel()
    return int(((weights * far).max(1) + (level > 60)).argmax())


def draw_glance(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw where generator and discriminator look."""
    maps = {"discriminator": (explanation.judged.weights, explanation.gamma_d)}
    if explanation.made is not None:
        maps = {"generator": (explanation.made.weights, explanation.gamma_g), **maps}
    sides = [
        {"key": key, "weights": weights, "gamma": format_two_digits(gamma)}
        for key, (weights, gamma) in maps.items()
    ]
    picture = explanation.judged.picture
    cell = find_telling_cell(next(iter(maps.values()))[0], picture)
    return _frame(request, state, picture=picture, sides=sides, pick=cell)


def _describe_judgement(judged: Judgement) -> dict[str, Any]:
    return {"picture": judged.picture, "verdicts": judged.verdicts, "logit": judged.logit}


def draw_verdict(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the verdict map, and what a picture with an erased cell changes in it."""
    erased = explanation.erased and {
        **_describe_judgement(explanation.erased.judged),
        "inside": explanation.erased.inside,
        "plain": explanation.erased.plain,
    }
    return _frame(
        request,
        state,
        **_describe_judgement(explanation.judged),
        bias=explanation.bias,
        erased=erased,
        number=request.erase,
        scale=signed_scale(),
    )


def draw_strips(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the strips: other γ, the walk, every class."""
    run = explanation.made
    assert run is not None  # the view belongs to pictures that are made

    names: dict[str, Sequence[Any]] = {"kinds": texts.KINDS}
    names["walk"] = [f"{100 * stop:.0f}" for stop in records.STOPS]
    names["gamma"] = [f"{factor:g}".replace("-", "−") for factor in records.FACTORS]
    of: dict[str, tuple[str, Sequence[float], Any, Any]] = {
        "gamma": ("gamma_g", records.FACTORS, run.ladder, run.ladder_logits),
        "walk": ("walk", records.STOPS, run.walk, run.walk_logits),
        "kinds": ("kind", range(records.KINDS), run.kinds, run.kept),
    }
    strips = {
        key: {
            "field": field,
            "values": [f"{value:g}" for value in values],
            "labels": names[key],
            "pictures": pictures,
            "scores": scores,
            "here": int(np.abs(np.array(values) - getattr(request, field)).argmin()),
        }
        for key, (field, values, pictures, scores) in of.items()
    }
    return _frame(request, state, strips=strips, seed=request.seed, other=request.other)


def draw_replay(_seen: Explanation, request: Request, state: str) -> Value | None:
    """Draw the stored training, which is the same for every run."""
    replay = about.load_replay()
    return replay and _frame(request, state, **replay | {"frames": pack_raw(replay["frames"])})


def draw_change(
    _seen: tuple[Explanation, Explanation],
    measured: tuple[GammaEffect, GammaEffect],
    request: Request,
    what: Text,
) -> Difference:
    """Draw what other γ do to 500 pictures: their distance to real ones, or, where the generator
    keeps its γ, what the discriminator says of them."""
    before, after = measured
    rows = [
        Row(texts.ROWS, name, key, getattr(before, key), getattr(after, key))
        for key, name in texts.ROW.items()
    ]
    field = "distance" if request.gamma_g != 1 else "logit"
    was, now = getattr(before, field), getattr(after, field)
    return show_number_change(
        ChangedNumber(was, now),
        texts.ROW[field],
        rows,
        texts.MOVES[field],
        texts.STAYS[field],
        what=what,
        n=before.count,
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> MapPicture:
    """Draw the first picture with a cell and the cell that the generator looks at for it."""
    judged, run = explanation.judged, explanation.made
    weights = judged.weights if run is None else run.weights
    query = find_telling_cell(weights, judged.picture)
    outlines = tuple(
        (role, (SIZE * row, SIZE * column, SIZE * (row + 1), SIZE * (column + 1)))
        for role, (row, column) in (
            ("key", divmod(int(weights[query].argmax()), records.CELLS)),
            ("query", divmod(query, records.CELLS)),
        )
    )
    return MapPicture(judged.picture, np.ones(judged.picture.shape, np.bool_), outlines)


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    start = EXAMPLES[0]
    places: dict[str, Shown] = {
        "far": ("", {}, "glance"),
        "hubs": ("", {"hubs": "1"}, "glance"),
        "gamma": (spell_query(replace(start, gamma_g=0.0)), {"strip": "gamma"}, "change", "strips"),
        "replay": ("", {}, "replay"),
        "verdict": ("", {}, "verdict"),
        "erase": (spell_query(EXAMPLES[3]), {}, "verdict"),
        "walk": (spell_query(EXAMPLES[2]), {"strip": "walk"}, "strips"),
        "judge": (spell_query(EXAMPLES[4]), {}, "verdict"),
    }
    return build_steps(texts, places)
