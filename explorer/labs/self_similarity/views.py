"""The views of self-similarity, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    DrawingControl,
    SamplePictures,
    SeedControl,
    SliderControl,
    StopsControl,
    SwitchControl,
    Value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, MapPicture
from explorer.contract.labels import Text, fill_text
from explorer.figures.theme import WEIGHTS, colorscale
from explorer.labs.self_similarity import texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.values.packing import convert_to_json
from models.self_similarity.records import (
    EXAMPLES,
    GROWN,
    METHODS,
    RADIUS,
    REACH,
    SIGMA,
    SLUG,
    WINDOWS,
    Denoised,
    Explanation,
    Request,
    load_pictures,
)

# Colours of the corners of a sample, (row, column, channel).
CORNERS = np.array([[[47, 119, 164], [56, 163, 145]], [[91, 42, 134], [240, 216, 70]]])
first = runs.load_first_once(SLUG, EXAMPLES[0], Explanation)


# ---- the input


def controls() -> tuple[Control, ...]:
    """Return the controls of the input, then of what may be changed."""
    denoise, grow = ({"task": (task,)} for task in texts.TASKS)
    switch = {True: texts.ON, False: texts.OFF}
    return (
        ChoiceControl("task", texts.TASK, names=texts.TASKS),
        DrawingControl(
            "picture",
            texts.PICTURE,
            drawings=SamplePictures(
                load_pictures(), texts.PICTURES, ink=False, upload="/picture/texture"
            ),
        ),
        SliderControl("sigma", texts.SIGMA, when=denoise),
        SliderControl("sample", texts.SAMPLE, when=grow),
        SeedControl("seed", texts.SEED, hint=texts.SEED_HINT),
        StopsControl(
            "heat",
            texts.KNOBS["heat"],
            names={n: str_text(n) for n in (1, 25, 50, 75, 100, 125, 150, 200, 300, 400)},
            change=True,
            says=lambda n: fill_text(texts.SAYS["heat"], n=n),
            when=denoise,
        ),
        *(
            SwitchControl(
                field,
                texts.KNOBS[field],
                names=switch,
                change=True,
                says=lambda _off, field=field: texts.SAYS[field],  # type: ignore[misc]
                when=denoise,
            )
            for field in ("bias", "block")
        ),
        StopsControl(
            "window",
            texts.KNOBS["window"],
            names={n: str_text(n) for n in WINDOWS},
            change=True,
            says=lambda n: fill_text(texts.SAYS["window"], n=n),
            when=grow,
        ),
    )


def str_text(number: int) -> Text:
    """Return a number as a text of both languages."""
    return dict.fromkeys(("en", "zh"), str(number))


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return what to say where the networks have not learned this strength of noise."""
    if explanation.denoised is None or request.sigma == SIGMA:
        return None
    return fill_text(texts.UNTRAINED, sigma=request.sigma, trained=SIGMA)


# ---- a run


def _describe_run(request: Request, state: str, **parts: object) -> Value:
    value: Value = convert_to_json(parts)
    return {"state": state, "query": spell_query(request), "scale": colorscale(WEIGHTS), **value}


def find_telling_pixel(clean: NDArray[np.float32]) -> tuple[int, int]:
    """Return the pixel, away from the edge, whose surroundings vary most, (row, column)."""
    size = 2 * RADIUS + 1
    patches = np.lib.stride_tricks.sliding_window_view(clean, (size, size))
    inside = REACH - RADIUS
    spread = patches.std((2, 3))[inside:-inside, inside:-inside]
    row, column = divmod(int(spread.argmax()), spread.shape[1])
    return row + REACH, column + REACH


def draw_likes(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the noisy picture, from which the browser computes the weights of the pixel in view."""
    denoised = _read_denoised(explanation)
    row, column = find_telling_pixel(explanation.clean)
    return _describe_run(
        request,
        state,
        noisy=denoised.noisy,
        sigma=denoised.sigma,
        h=denoised.h,
        bias=request.bias,
        block=denoised.readout if request.block else None,
        trained={"sigma": denoised.trained[0], "h": denoised.trained[1]},
        pick=row * explanation.clean.shape[1] + column,
    )


def draw_denoised(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the clean picture, the noisy one, and what each method makes of it."""
    denoised = _read_denoised(explanation)
    pictures = np.stack((explanation.clean, denoised.noisy, *denoised.restored))
    names = ("clean", "noisy", *METHODS)
    return _describe_run(
        request,
        state,
        names=names,
        pictures=np.rint(pictures * 255).clip(0, 255).astype(np.uint8),
        psnr=[None, *(round(value, 2) if np.isfinite(value) else "∞" for value in denoised.psnr)],
        block=request.block,
    )


def draw_grown(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw a texture, where each pixel comes from, and when it came."""
    growth = explanation.growth
    assert growth is not None
    rows, columns = growth.source[..., 0], growth.source[..., 1]
    colours = colour_places(len(growth.sample))
    return _describe_run(
        request,
        state,
        sample=growth.sample,
        colours=colours,
        texture=growth.sample[rows, columns],
        map=colours[rows, columns],
        source=growth.source,
        order=growth.order.astype(np.int32),
        error=growth.error,
        window=request.window,
        coherence=growth.coherence,
        distinct=growth.distinct,
        side=GROWN,
    )


def colour_places(side: int) -> NDArray[np.uint8]:
    """Return a colour for every place of a sample, between those of its four corners, (row, column,
    channel)."""
    shares = np.linspace(0, 1, side)
    down, right = (
        np.stack((1 - axis, axis)) for axis in np.meshgrid(shares, shares, indexing="ij")
    )
    mixed = np.einsum("aij,bij,abc->ijc", down, right, CORNERS)
    levels: NDArray[np.uint8] = np.rint(mixed).astype(np.uint8)
    return levels


def draw_matrix(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the likeness of a picture's parts beside that of a chorale's bars."""
    return _describe_run(
        request,
        state,
        picture=explanation.picture,
        likeness=explanation.likeness,
        bars=explanation.bars,
    )


def _read_denoised(explanation: Explanation) -> Denoised:
    assert explanation.denoised is not None
    return explanation.denoised


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> MapPicture:
    """Draw the stored run: the noisy picture on the left, the restored one on the right, with the
    window of a pixel and its patch."""
    denoised = _read_denoised(explanation)
    half = explanation.clean.shape[1] // 2
    both = np.concatenate((denoised.noisy[:, :half], denoised.restored[0][:, half:]), 1)
    row, column = find_telling_pixel(explanation.clean)
    boxes = tuple(
        (role, (row - by, column - by, row + by + 1, column + by + 1))
        for role, by in (("key", REACH), ("query", RADIUS))
    )
    levels = np.rint(both * 255).clip(0, 255).astype(np.uint8)
    return MapPicture(levels, np.ones(levels.shape, bool), boxes)


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views that show the point."""
    load_pictures()  # a lab whose files cannot be read has no steps, and is closed
    wall, grass, grown = EXAMPLES[0], EXAMPLES[1], EXAMPLES[3]
    by_step: dict[str, Shown] = {
        "likes": ("", {}, "likes"),
        "average": ("", {}, "denoised"),
        "bias": (spell_query(replace(wall, bias=False)), {}, "change", "likes"),
        "heat": (spell_query(replace(wall, heat=400)), {}, "likes"),
        "grass": (spell_query(grass), {}, "denoised"),
        "block": (spell_query(replace(wall, block=False)), {}, "change", "denoised"),
        "grow": (spell_query(grown), {}, "grown"),
        "music": ("", {}, "matrix"),
    }
    return build_steps(texts, by_step)
