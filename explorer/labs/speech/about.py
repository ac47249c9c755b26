"""The facts beside the mechanism: figures from each model.json, the digit error over the window,
the training curve. Every number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract import labels
from explorer.contract.labels import Text, fill_text
from explorer.figures.curves import Curve, Place
from explorer.figures.theme import make_titled_layout
from explorer.labs.speech import texts
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from models.speech.records import FRAME_SAMPLES, LAYERS, LEFTS, RATE, UNHEARD, VOICES

SLUG = "speech"
VARIANTS = ("base", *(UNHEARD + voice for voice in VOICES))
ALL = "None"  # of R: no limit


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, VARIANTS)


def list_unheard() -> tuple[str, ...]:
    """Return the voices for which a network that never heard them is shipped."""
    known = facts()
    return tuple(voice for voice in VOICES if UNHEARD + voice in known)


def format_share(share: float) -> str:
    """Return a digit error in percent."""
    return f"{100 * share:.1f} %"


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, digit error, training time."""
    base = facts().get("base")
    if base is None:
        return ()
    figure = base.get("figure")
    error = []
    if figure:
        note = fill_text(texts.AT_R0, error=format_share(figure["at_r0"]))
        title = fill_text(texts.ERROR_ON, split=labels.name_split(figure["split"]))
        error = [TitleFigure(title, format_share(figure["value"]), note, texts.UNPUBLISHED)]
    return (
        TitleFigure(labels.CARD["parameters"], f"{base['parameters']:,}"),
        TitleFigure(labels.CARD["data"], texts.CLIPS),
        *error,
        card_facts.describe_training_time(base),
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where the network is not shipped."""
    known = facts()
    if not known.get("base", {}).get("figure"):
        return {}
    return card_facts.prose(SLUG, {"base": known["base"]})


def _read_curves() -> Mapping[str, Any]:
    stored: Mapping[str, Any] = facts().get("base", {}).get("curves") or {}
    return stored


def draw_window_error(left: int, right: int) -> dict[str, object] | None:
    """Draw the stored digit error over L and over R on one axis of seconds; None before it was
    measured. left, right: the window in view, which is marked."""
    stored = _read_curves()
    if not stored:
        return None
    step = LAYERS * FRAME_SAMPLES / RATE
    by_left = {int(key): share for key, share in stored["by_left"].items()}
    by_right = {int(key): share for key, share in stored["by_right"].items() if key != ALL}
    lines = [
        Curve(
            texts.BACK,
            [-step * key for key in by_left],
            [100 * share for share in by_left.values()],
            "var(--cat-1)",
        ),
        Curve(
            texts.AHEAD,
            [step * key for key in by_right],
            [100 * share for share in by_right.values()],
            "var(--cat-2)",
        ),
    ]
    n = f"{facts()['base']['figure']['n']:,}"
    rows: list[Sequence[Any]] = [
        *(
            (texts.BACK, key, round(step * key, 2), round(100 * share, 2))
            for key, share in by_left.items()
        ),
        *(
            (texts.AHEAD, key, round(step * key, 2), round(100 * share, 2))
            for key, share in by_right.items()
        ),
        (texts.AHEAD, texts.NO_LIMIT, None, round(100 * stored["by_right"][ALL], 2)),
    ]
    few, most = min(by_left), max(by_left)
    best = min(by_left.values())
    ahead = list(by_right.values())[:5]
    says = fill_text(
        texts.WINDOW_SAYS,
        few=few,
        worst=format_share(by_left[few]),
        best=format_share(best),
        most=most,
        wide=format_share(by_left[most]),
        low=format_share(min(ahead)),
        high=format_share(max(ahead)),
        full=format_share(stored["by_right"][ALL]),
    )
    return draw_curve_figure(
        "window-error",
        lines,
        texts.WINDOW_AXES,
        (texts.WINDOW, fill_text(texts.WINDOW_UNITS, n=n), says),
        texts.WINDOW_COLUMNS,
        rows,
        up="zero",
        mark=Place(-step * left, step * right, yours=True),
        ticks=[-step * key for key in LEFTS if key > 4] + [0, *(step * key for key in (4, 8, 16))],
        names=[f"−{step * key:.1f}" for key in LEFTS if key > 4]
        + ["0", *(f"{step * key:.1f}" for key in (4, 8, 16))],
    )


def draw_voice_error(voice: str) -> dict[str, object] | None:
    """Draw the stored digit error of each voice, heard in training and never heard; None before it
    was measured."""
    stored, known = _read_curves(), facts()
    if not stored:
        return None
    unheard = known["base"]["figure"].get("unheard_speakers", {})
    heard = stored["by_speaker"]
    groups = {
        "var(--cat-1)": (texts.HEARD, heard),
        "var(--cat-2)": (texts.NEVER_HEARD, unheard),
    }

    def draw(language: str) -> dict[str, Any]:
        frame = make_titled_layout((texts.VOICE_AXES[0][language], texts.VOICE_AXES[1][language]))
        bars = [
            {
                "type": "bar",
                "name": name[language],
                "x": list(shares),
                "y": [100 * share for share in shares.values()],
                "marker": {"color": colour},
            }
            for colour, (name, shares) in groups.items()
            if shares
        ]
        at = VOICES.index(voice)
        ground = {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "layer": "below",
            "x0": at - 0.5,
            "x1": at + 0.5,
            "y0": 0,
            "y1": 1,
            "line": {"width": 0},
            "fillcolor": "var(--query-soft)",
        }
        frame["margin"] = {"l": 52, "r": 12, "t": 12, "b": 44}
        return {"data": bars, "layout": {**frame, "barmode": "group", "shapes": [ground]}}

    rows = [
        (
            name,
            round(100 * heard[name], 2),
            round(100 * unheard[name], 2) if name in unheard else None,
        )
        for name in VOICES
    ]
    mean = sum(heard.values()) / len(heard)
    says: Text = fill_text(texts.VOICES_HEARD, error=format_share(mean))
    if unheard:
        says = fill_text(
            texts.VOICES_SAY,
            error=format_share(mean),
            unheard=format_share(sum(unheard.values()) / len(unheard)),
            n=len(unheard),
        )
    return describe_drawn_figure(
        "voice-error",
        draw,
        (texts.VOICES if unheard else texts.EACH_VOICE, texts.VOICES_UNITS, says),
        (texts.VOICE, texts.HEARD, texts.NEVER_HEARD),
        rows,
        [Mark(name, colour) for colour, (name, shares) in groups.items() if shares],
    )


def curves() -> dict[str, object] | None:
    """Draw the digit error on numbers for choosing over training; None where no log is shipped."""
    percent: Any = {"scale": 100, "show": lambda share: f"{share:.1f} %", "joint": ("; ", "；")}
    return card_facts.curves(
        SLUG, facts(), texts.VARIANTS, texts.COLOURS, texts, per_step=lambda _known: 1, **percent
    )
