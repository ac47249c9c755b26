"""The views of the speech recogniser, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from explorer.components import change_panel, input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    MenuControl,
    MotifControl,
    SeedControl,
    SentenceControl,
    SliderControl,
    StopsControl,
    SwitchControl,
    Value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, MapPicture
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.figures.theme import WEIGHTS, colorscale
from explorer.labs.speech import about, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels.heads import make_heads_control
from explorer.values.packing import pack_array, pack_raw
from models.media.sound_files import FILE, SECONDS, spell_levels
from models.speech.records import (
    EXAMPLES,
    FRAME_SAMPLES,
    HEADS,
    LAYERS,
    LEFTS,
    NEWEST,
    OLDEST,
    PIECES,
    QUIET,
    RATE,
    RIGHTS,
    VOICES,
    WAITS,
    DigitErrors,
    Explanation,
    Request,
)

FRAME = FRAME_SAMPLES // 80  # mel frames of a frame of the network
QUIETEST, LOUDEST = -2.5, 2.5  # of a mel band: the ends of its scale in the picture
UPLOAD = "/recording"  # the address that reads a sound file
NUMBER, RECORDING = ({"source": (source,)} for source in ("number", "recording"))

first = runs.load_first_once("speech", EXAMPLES[0], Explanation)


# ---- the input bar and the change panel


def list_controls() -> tuple[Control, ...]:
    """Return the controls of the sound, and of the changes. A voice's own network is offered where
    one is shipped."""
    settings = {"upload": UPLOAD, "most": FILE, "seconds": SECONDS[1], "rate": RATE}
    unheard = (
        (
            SwitchControl(
                "unheard",
                texts.UNHEARD,
                names={True: texts.ON, False: texts.OFF},
                change=True,
                says=lambda _unheard: texts.UNHEARD_SAYS,
                when=NUMBER | {"voice": about.list_unheard()},
            ),
        )
        if about.list_unheard()
        else ()
    )
    return (
        ChoiceControl("source", texts.SOURCE, names=texts.SOURCES),
        SentenceControl(
            "digits",
            texts.NUMBER,
            hint=texts.NUMBER_HINT,
            placeholder=EXAMPLES[0].digits,
            when=NUMBER,
        ),
        MotifControl(
            "sound",
            texts.RECORDING,
            script="labs/speech/recording.js",
            own=settings,
            when=RECORDING,
        ),
        MenuControl(
            "voice",
            texts.VOICE,
            names={voice: {"en": voice, "zh": voice} for voice in VOICES},
            when=NUMBER,
        ),
        SeedControl("seed", texts.SEED_LABEL, hint=texts.SEED_HINT, when=NUMBER),
        MenuControl(
            "piece",
            texts.PIECE,
            names={piece: fill_text(texts.MILLISECONDS, n=piece) for piece in PIECES},
        ),
        StopsControl(
            "left",
            texts.LEFT,
            names={n: {"en": str(n), "zh": str(n)} for n in LEFTS},
            change=True,
            says=lambda n: fill_text(texts.LEFT_IS, n=n),
        ),
        StopsControl(
            "right",
            texts.RIGHT,
            names={n: {"en": str(n), "zh": str(n)} for n in RIGHTS},
            change=True,
            says=lambda n: fill_text(texts.RIGHT_IS, n=n),
        ),
        SliderControl(
            "noise",
            texts.NOISE,
            names={QUIET: texts.NO_NOISE},
            unit=texts.DECIBELS,
            change=True,
            says=lambda n: fill_text(texts.NOISY, n=n),
        ),
        SliderControl(
            "speed",
            texts.SPEED,
            step=0.05,
            unit=texts.TIMES,
            change=True,
            says=lambda n: fill_text(texts.SPED, n=f"{n:g}"),
        ),
        *unheard,
        *make_heads_control(
            {"speech": texts.MODEL},
            {"speech": (LAYERS, HEADS)},
            texts.HEAD,
        ),
    )


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the digits that were written, right or wrong where the number is known."""
    written = explanation.answer
    facts = [
        (
            fill_text(texts.LATENCY, s=f"{_look_ahead(request.right):.2f}"),
            texts.LATENCY_MEANS,
        ),
        (
            fill_text(texts.STREAMED, difference=_format_tiny(explanation.streaming.difference)),
            texts.STREAMED_MEANS,
        ),
    ]
    if len(explanation.sure):
        sure = float(explanation.sure.min())
        facts.insert(
            1,
            (
                fill_text(texts.SURE, p="> 0.99" if 0.995 < sure < 1 else f"{sure:.2f}"),
                texts.SURE_MEANS,
            ),
        )
    said = "".join(map(str, explanation.labels.tolist()))
    seconds = f"{len(explanation.samples) / RATE:.1f}"
    return input_bar.describe_answer(
        said or f"{seconds} s",
        written or texts.NOTHING,
        right=None if explanation.edits < 0 else explanation.edits == 0,
        expected=said,
        facts=facts,
    )


def _format_tiny(value: float) -> str:
    """Return a small number as a reader writes it: "3 × 10⁻⁶"."""
    digits, exponent = f"{value:.0e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits} × 10{raised}" if value else "0"


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return a remark on a sound that the network is less sure of than of almost all numbers for
    choosing; None otherwise."""
    least = about.facts().get("base", {}).get("validation", {}).get("sure_1st_percentile")
    if least is None or not len(explanation.sure) or float(explanation.sure.mean()) >= least:
        return None
    return texts.UNSURE


def _look_ahead(right: int) -> float:
    """Return how many seconds four layers look ahead."""
    return LAYERS * right * FRAME_SAMPLES / RATE


# ---- the pictures


def _describe_run(explanation: Explanation, request: Request, state: str) -> Value:
    """Return what all pictures of a run know: its frames, the digits that were said, and those
    that were written."""
    written = explanation.written[0]
    return {
        "query": spell_query(request),
        "state": state,
        "frames": len(explanation.probabilities),
        "rate": RATE,
        "samples": len(explanation.samples),
        "frame": FRAME_SAMPLES,
        "newest": NEWEST,
        "oldest": OLDEST,
        "layers": LAYERS,
        "heads": HEADS,
        "left": request.left,
        "right": request.right,
        "labels": explanation.labels.tolist(),
        "begins": explanation.begins.tolist(),
        "ends": explanation.ends.tolist(),
        "digits": written.digits.tolist(),
        "at": written.frames.tolist(),
        "sure": [round(float(p), 4) for p in explanation.sure],
        "scale": colorscale(WEIGHTS),
    }


def _pool_frames(values: Any, frames: int, mean: bool = True) -> Any:
    """Return the mean or the sum of the newest four mel frames of each frame: (…, mel frame, …)
    along the first axis."""
    parts = np.asarray(values[: frames * FRAME], np.float32).reshape(
        frames, FRAME, *values.shape[1:]
    )
    return parts.mean(1) if mean else parts.sum(1)


def draw_stream(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the sound with its digits, the cone of a frame, and what its digit listened to."""
    frames = len(explanation.probabilities)
    loud = (_pool_frames(explanation.mels, frames) - QUIETEST) / (LOUDEST - QUIETEST)
    heard = _pool_frames(explanation.heard.T, frames, mean=False).T
    return {
        **_describe_run(explanation, request, state),
        "sound": pack_raw(spell_levels(explanation.samples / 32767)),
        "mels": pack_array(np.clip(loud, 0, 1)),
        "heard": pack_array(np.clip(heard, 0, 1)),
        "arrives": explanation.streaming.arrives.tolist(),
        "piece": request.piece,
    }


def draw_path(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the probability of each output in each frame, and the best path."""
    return {
        **_describe_run(explanation, request, state),
        "probabilities": pack_array(explanation.probabilities, rows=True),
    }


def draw_bands(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw every head's weights inside the window of each frame."""
    return {
        **_describe_run(explanation, request, state),
        "weights": pack_array(np.clip(explanation.weights.astype(np.float32), 0, 1)),
    }


def draw_waits(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw when each digit is final, for every R."""
    rows = sorted(explanation.written, key=lambda item: item.right)
    written = [
        {"right": item.right, "digits": item.digits.tolist(), "frames": item.frames.tolist()}
        for item in rows
        if item.right in WAITS or item.right == request.right
    ]
    return {**_describe_run(explanation, request, state), "written": written}


def draw_window(_seen: Explanation, request: Request, _state: str) -> Value | None:
    """Draw the stored digit error over the window, with the window in view."""
    return about.draw_window_error(request.left, request.right)


def draw_voices(_seen: Explanation, request: Request, _state: str) -> Value | None:
    """Draw the stored digit error of each voice, with the voice in view."""
    return about.draw_voice_error(request.voice)


def difference(
    explanation: tuple[Explanation, Explanation],
    measured: tuple[DigitErrors, DigitErrors],
    request: Request,
    changes: Text,
) -> change_panel.Difference:
    """Return what a change does to this sound, and to the digit error on the shipped clips. A
    network that never heard a voice is measured on this voice.

    explanation, measured: before and after.
    """
    voice = VOICES.index(request.voice)
    every, mine = (
        [100 * int(item.edits[rows].sum()) / int(item.digits[rows].sum()) for item in measured]
        for rows in (slice(None), slice(voice, voice + 1))
    )
    before, after = mine if request.unheard else every
    digits = measured[0].digits
    count = int(digits[voice]) if request.unheard else int(digits.sum())
    said = [item.answer or "–" for item in explanation]
    right = [item.edits == 0 for item in explanation]
    kind = (
        "same"
        if said[0] == said[1]
        else "lost"
        if right[0] and not right[1]
        else "won"
        if right[1] and not right[0]
        else "other"
    )
    edits = (
        [
            change_panel.Row(
                texts.OWN,
                texts.EDITS,
                "edits",
                explanation[0].edits,
                explanation[1].edits,
                digits=0,
            )
        ]
        if explanation[0].edits >= 0
        else []
    )
    held = fill_text(texts.SHIPPED, n=int(digits.sum()))
    ahead = [_look_ahead(item.written[0].right) for item in explanation]
    took = [item.milliseconds for item in measured]
    sentence = write_change_sentence(
        texts.MOVES,
        texts.STAYS,
        before,
        after,
        show=lambda value: f"{value:.1f} %",
        changes=changes,
        own=fill_text(texts.SAME if kind == "same" else texts.OTHER, was=said[0], now=said[1]),
        n=count,
    )
    return change_panel.Difference(
        change_panel.ChangedNumber(before, after, digits=1, suffix=" %"),
        texts.POINTS,
        (
            change_panel.Row(
                texts.OWN,
                texts.WRITTEN,
                "written",
                said[0],
                said[1],
                right=(right[0], right[1]),
                verdict=texts.VERDICTS[kind],
                kind=kind,
            ),
            *edits,
            change_panel.Row(texts.OWN, texts.AHEAD_S, "ahead", ahead[0], ahead[1]),
            change_panel.Row(held, texts.ERROR_ALL, "error", every[0], every[1], digits=1),
            change_panel.Row(
                held,
                fill_text(texts.ERROR_VOICE, voice=request.voice),
                "voice_error",
                mine[0],
                mine[1],
                digits=1,
            ),
            change_panel.Row(held, texts.COST, "milliseconds", took[0], took[1], digits=1),
        ),
        sentence,
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> MapPicture:
    """Draw the spectrogram of the stored result, the cone of its first digit outlined."""
    frames = min(48, len(explanation.probabilities))
    loud = (_pool_frames(explanation.mels, frames) - QUIETEST) / (LOUDEST - QUIETEST)
    levels = (255 * np.clip(loud, 0, 1)).T[::-1].astype(np.uint8)
    rows, frame = len(levels), int(explanation.written[0].frames[0])
    right = min(frames, frame + 1 + LAYERS * explanation.written[0].right)
    outlines = (
        ("key", (0, max(0, frame - 60), rows, right)),
        ("query", (0, frame, rows, frame + 1)),
    )
    return MapPicture(levels, np.ones(levels.shape, bool), outlines)


@cache
def find_telling_frames() -> tuple[int, int]:
    """Return the frame that names the first digit of the stored result, and the blank between the
    first two."""
    kept = first()
    if kept is None:
        return 12, 24
    frames = kept.seen.written[0].frames.tolist()
    between = kept.seen.probabilities[frames[0] : frames[1], -1]
    return frames[0], frames[0] + int(between.argmax())


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    start = EXAMPLES[0]
    frame, blank = find_telling_frames()
    places: dict[str, Shown] = {
        "hear": ("", {}, "stream"),
        "path": ("", {"frame": str(blank)}, "path"),
        "cone": ("", {"frame": str(frame)}, "stream"),
        "band": ("", {"frame": str(frame), "head": "2.1"}, "bands"),
        "wait": ("", {"digit": "1"}, "waits"),
        "window": (spell_query(replace(start, left=2)), {}, "change"),
        "noise": (spell_query(replace(start, noise=6)), {}, "change"),
        "voice": (spell_query(EXAMPLES[3]), {}, "stream"),
    }
    return build_steps(texts, places)
