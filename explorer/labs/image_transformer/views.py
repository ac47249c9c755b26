"""The views of the picture models, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components import input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    DrawingControl,
    MenuControl,
    SamplePictures,
    SeedControl,
    SliderControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, MapPicture
from explorer.contract.labels import SIZES, Text, fill_text
from explorer.labs.image_transformer import drawn, texts
from explorer.labs.image_transformer.change import list_sizes
from explorer.page import card_facts, runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import passages
from explorer.values.exact_rows import RowSource, exact_row_store
from models.data.pixels import SHIPPED, load_shipped_pictures, read_picture
from models.explaining.shared_records import LIMIT
from models.image_transformer.records import (
    COLOUR,
    EXAMPLES,
    FLANGE,
    LARGE,
    LEVELS,
    MEMORY_ROWS,
    MODELS,
    SIDE,
    SMALL,
    Explanation,
    Made,
    Request,
    Step,
    list_examples,
    modes,
)
from models.image_transformer.weights import weights

Value = dict[str, object]

ASSETS = Path(__file__).parents[3] / "assets" / "image_transformer"
LOOK = 3  # the layer in view on arrival
TOP_K = (1, 4, 16, 64, LEVELS)  # choices for the number of levels
# Layouts of pictures that grow, before a result brings its own.
LAYOUTS: Mapping[str, tuple[drawn.Layout, ...]] = {
    "grey": (
        drawn.lay_out_rows(SIDE, SIDE, 2, MEMORY_ROWS),
        drawn.lay_out_tiles(SIDE, SIDE, 7, FLANGE),
    ),
    "colour": (drawn.lay_out_rows(LARGE, LARGE, 2, 4, channels=3, pattern=COLOUR),),
}


first = runs.load_first_once("image_transformer", list_examples()[0], Explanation)


@cache
def load_pictures() -> dict[str, tuple[NDArray[np.uint8], list[Text]]]:
    """Load the example pictures, "grey" and "colour", which no model was trained on, and the label
    of each; small blanks where none are shipped."""
    ours = load_shipped_pictures("image_transformer")
    if not ours:
        return {"grey": (np.zeros((0, SIDE, SIDE), np.uint8), [])}
    sets = {key: (ours[key], ours[f"{key}_kinds"]) for key in ("grey", "colour") if key in ours}
    names = {"grey": texts.KINDS, "colour": texts.COLOURED}
    if "grey" not in ours:  # a user's own pictures have no class
        return {
            key: (levels, [fill_text(texts.MINE, n=n + 1) for n in range(len(levels))])
            for key, (levels, _) in sets.items()
        }
    return {
        key: (levels, [fill_text(texts.NUMBERED, kind=names[key][int(kind)]) for kind in kinds])
        for key, (levels, kinds) in sets.items()
    }


def describe_endings(explanation: Explanation, request: Request) -> list[Value]:
    """Return why generation ends: the picture is whole."""
    kept = request.keep * SIDE if request.mode == "complete" else 0
    unit = SIZES["pixels" if request.mode != "enlarge" else "values"]
    return [input_bar.describe_ending(LIMIT, explanation.made[0].pictures[0].size - kept, unit)]


# ---- the input bar


def list_controls() -> tuple[Control, ...]:
    """Return the controls of a picture: one of a class, the rest of a given one, a small one
    enlarged; and of how it is drawn."""
    ours = load_pictures()
    there = [mode for mode in modes() if mode != "enlarge" or "colour" in ours]
    kinds = dict(enumerate((*texts.KINDS, texts.UNTOLD)))
    offered = {k: texts.ALL if k == LEVELS else dict.fromkeys(("en", "zh"), str(k)) for k in TOP_K}
    # Each mode keeps a choice of its own: the class may be given for one picture and not for
    # another.
    only: dict[str, Mapping[str, Sequence[str]]] = {mode: {"mode": (mode,)} for mode in there}
    complete, enlarge = only.get("complete"), only.get("enlarge")
    return (
        ChoiceControl("mode", texts.MAKE, names={mode: texts.MODES[mode] for mode in there}),
        *(
            [
                DrawingControl(
                    "picture",
                    texts.PICTURE,
                    drawings=SamplePictures(*ours["grey"], rows="keep", ink=False),
                    when=complete,
                ),
                *(
                    MenuControl("kind", texts.KIND, names=kinds, when=only[mode])
                    for mode in ("generate", "complete")
                ),
                MenuControl("keep", texts.KEPT, when=complete),
            ]
            if complete
            else []
        ),
        *(
            [
                DrawingControl(
                    "picture",
                    texts.PICTURE,
                    drawings=SamplePictures(*ours["colour"], ink=False, small=SMALL),
                    when=enlarge,
                )
            ]
            if enlarge
            else []
        ),
        SliderControl("temperature", passages.TEMPERATURE, hint=texts.TEMPERATURE_HINT, step=0.1),
        MenuControl("top_k", texts.TOP_K, names=offered, hint=texts.TOP_K_HINT),
        SeedControl("seed", passages.SEED, hint=texts.SEED_HINT),
        *(SliderControl("count", texts.COUNT, when=when) for when in only.values()),
    )


def find_given_picture(request: Request) -> NDArray[np.uint8] | None:
    """Return the picture that a request begins with, or None: it has none, or one that only the
    model's side knows."""
    if request.mode == "generate":
        return None
    mode, shape = (
        ("colour", (LARGE, LARGE, 3)) if request.mode == "enlarge" else ("grey", (SIDE, SIDE))
    )
    if not request.picture.startswith(SHIPPED):
        return read_picture(request.picture, shape)
    ours, _ = load_pictures().get(mode, ((), ()))
    number = request.picture.removeprefix(SHIPPED)
    return ours[int(number)] if number.isdigit() and int(number) < len(ours) else None


def _remove_changes(request: Request) -> Request:
    return replace(request, silenced=(), memory_rows=MEMORY_ROWS, flange=FLANGE)


def describe_warning(_request: Request, explanation: Explanation) -> Text | None:
    """Return a warning for a picture that is unlike the training pictures."""
    return texts.UNUSUAL if explanation.unusual else None


def notice(request: Request, _seen: Explanation) -> Text | None:
    """Return a note where the picture is not drawn from the model's own distribution; None for
    small changes."""
    return passages.warn_of_temperature(request.temperature, texts.HOT)


# ---- a run under way


def _list_layouts(request: Request) -> tuple[drawn.Layout, ...]:
    """Return the layouts of the patterns that run for the request, with the memory that it leaves
    them."""
    if request == _remove_changes(request):
        return LAYOUTS["colour" if request.mode == "enlarge" else "grey"]
    if request.mode == "enlarge":
        return (
            drawn.lay_out_rows(LARGE, LARGE, 2, request.memory_rows, channels=3, pattern=COLOUR),
        )
    return (
        drawn.lay_out_rows(SIDE, SIDE, 2, request.memory_rows),
        drawn.lay_out_tiles(SIDE, SIDE, 7, request.flange),
    )


def _collect_steps(steps: Sequence[Step]) -> int:
    return max((step.first + step.levels.shape[-1] for step in steps), default=0)


def progress(steps: Sequence[Step], request: Request) -> Text:
    """Return the sentence that says how far the pictures have come."""
    layout = _list_layouts(request)[0]
    return fill_text(
        texts.AT_PIXEL,
        at=_collect_steps(steps) // layout.channels,
        of=layout.length // layout.channels,
    )


def draw_growing_spans(steps: Sequence[Step], request: Request) -> Value:
    """Draw the spans while a picture is generated. steps: all so far."""
    layouts = _list_layouts(request)
    layers, heads = list_sizes()[layouts[0].pattern]
    complete = request.mode == "complete"
    return drawn.draw_growing_spans(
        layouts,
        steps,
        count=request.count,
        query=spell_query(request),
        same=spell_query(_remove_changes(request)),
        kept=request.keep if complete else 0,
        truth=find_given_picture(request) if complete else None,
        layers=layers,
        heads=heads,
    )


# ---- a finished run


@dataclass(frozen=True)
class Run:
    """A run with what its pictures need: by pattern, the source of the weights; and the pixel that
    is locked on arrival."""

    seen: Explanation
    looks: Mapping[str, str]
    place: Mapping[str, Any]


def prepare(explanation: Explanation, _request: Request) -> Run:
    """Prepare a run with what its pictures need."""
    return Run(
        explanation,
        {made.pattern: _keep_exact_rows(made) for made in explanation.made},
        _find_telling_place(explanation),
    )


def _find_telling_place(explanation: Explanation) -> Mapping[str, Any]:
    return drawn.find_telling_place(
        explanation.made,
        {
            made.pattern: weights(made, min(LOOK, len(made.queries) - 1))
            for made in explanation.made
        },
        LOOK,
    )


def _keep_exact_rows(made: Made) -> str:
    """Keep the weights of a result and return their address: a row for each position, head after
    head."""

    def rows(layer: int, _head: int, which: range) -> NDArray[np.float32]:
        return weights(made, layer, which).swapaxes(0, 1).reshape(len(which), -1)

    layers, _, length, _ = made.queries.shape
    made_of = b"".join(
        array.tobytes() for array in (made.queries, made.keys, made.starts, made.memory, made.ends)
    )
    return exact_row_store().put(
        RowSource(rows, layers, 1, length, made.queries.nbytes + made.keys.nbytes), made_of
    )


def pick(run: Run, _request: Request) -> Value:
    """Return the selection on arrival, as an address names it."""
    place = run.place
    return {
        "pattern": place["pattern"],
        "head": f"{place['layer'] + 1}.{place['head'] + 1}",
        "pos": place["position"],
    }


def draw_spans(run: Run, request: Request, state: str) -> Value:
    """Draw the mechanism for one finished run."""
    seen = run.seen
    return drawn.draw_spans(
        seen.made,
        state=state,
        query=spell_query(request),
        same=spell_query(_remove_changes(request)),
        silenced=request.silenced,
        kept=request.keep if request.mode == "complete" else 0,
        truth=seen.given if request.mode != "generate" else None,
        small=seen.small,
        looks=run.looks,
        pick=run.place,
    )


def draw_surprise(run: Run, request: Request, state: str) -> Value:
    """Draw how much each model was surprised by the picture in view; a coloured one has no map."""
    seen = run.seen
    if seen.read is None or seen.surprise is None:
        return drawn.explain_no_surprise(texts.NO_SURPRISE)
    return drawn.draw_surprise(
        seen.read,
        dict(zip(MODELS, seen.surprise, strict=True)),
        state=state,
        query=spell_query(request),
        unusual=seen.unusual,
    )


# ---- the family map and the guided steps


@cache
def find_telling_pixel() -> Mapping[str, Any]:
    """Return the telling pixel of the stored first result: {"pattern", "position", "layer", "head"}
    from 0; a middle one where none is stored."""
    kept = first()
    if kept is None:
        return {"pattern": "local_2d", "position": 530, "layer": LOOK, "head": 0}
    return _find_telling_place(kept.seen)


def thumbnail(explanation: Explanation) -> MapPicture | None:
    """Draw the first picture, half generated, with the block of the query and the block it may see
    in 1D, for the family map."""
    made = explanation.made[0]
    if made.pattern == COLOUR:
        return None
    layout = drawn.find_layout(made)
    position = int(layout.length * 0.7)
    block = layout.find_block(position)
    row = np.arange(SIDE)

    def rows_of(positions: NDArray[np.int32]) -> tuple[int, int]:
        pixels = layout.order[positions] // SIDE
        return int(pixels.min()), int(pixels.max()) + 1

    asks = rows_of(np.arange(layout.starts[block], layout.starts[block + 1], dtype=np.int32))
    sees = rows_of(
        np.concatenate(
            (layout.memory[block], np.arange(layout.starts[block], position + 1, dtype=np.int32))
        )
    )
    shown = np.where(
        (np.argsort(layout.order) <= position).reshape(SIDE, SIDE), made.pictures[0], 0
    ).astype(np.uint8)
    return MapPicture(
        shown,
        made=np.broadcast_to((row < asks[1])[:, None], shown.shape),
        outlines=(("key", (sees[0], 0, sees[1], SIDE)), ("query", (asks[0], 0, asks[1], SIDE))),
    )


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    place = find_telling_pixel()
    head = f"{place['layer'] + 1}.{place['head'] + 1}"
    here = {"pattern": "local_2d", "head": head, "pos": str(place["position"])}
    start = EXAMPLES[0]
    half = replace(next(example for example in EXAMPLES if example.mode == "complete"), count=1)
    shown: dict[str, Shown] = {
        "grow": ("", {"whole": "1", "head": head}, "spans"),
        "query": ("", {**here, "pattern": "local_1d"}, "spans"),
        "memory": ("", here, "spans"),
        "order": ("", {"pattern": "local_2d", "head": head, "pos": "465", "field": "1"}, "spans"),
        "surprise": (
            spell_query(half),
            {"pattern": "local_2d", "head": head, "whole": "1"},
            "surprise",
        ),
        "cut": (spell_query(replace(start, flange=0)), here, "spans", "change"),
    }
    figure = card_facts.facts("image_transformer", "colour").get("figure")
    if figure is not None:
        shown["enlarge"] = (
            spell_query(next(example for example in EXAMPLES if example.mode == "enlarge")),
            {"whole": "1"},
            "spans",
        )
    bits = "–" if figure is None else f"{figure['value']:.2f}"
    return build_steps(texts, shown, bits=bits)
