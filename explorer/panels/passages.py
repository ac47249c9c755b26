"""The parts that pages of models of long texts share: the controls of a text, the progress of its
reading, and warnings about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from explorer.components import input_bar
from explorer.contract import controls, labels
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import (
    Control,
    PassageControl,
    SeedControl,
    ShippedText,
    SliderControl,
    Value,
)
from explorer.contract.labels import Text
from explorer.contract.labels import text as _
from explorer.figures import bertviz, reading
from explorer.page.views import View, view_on_stage
from models.explaining.errors import name_character
from models.explaining.shared_records import LIMIT

LABEL: Final = _("Text", "文本")
PLACEHOLDER: Final = _("Type or paste a text, or choose a page.", "输入或粘贴文本，或选择一页。")
RUN: Final = _("Read, then write", "读完接着写")
LENGTH: Final = shared.WRITE
CHARACTERS: Final = _("{n} characters", "{n} 个字符")
LENGTH_HINT: Final = _(
    "How many characters the model writes after the text", "模型在文本之后写多少个字符"
)
TEMPERATURE: Final = shared.TEMPERATURE
TEMPERATURE_HINT: Final = _(
    "Temperature {value}: 1 is the model's own distribution, less plays safe, more dares, 0 takes"
    " the likeliest character every time",
    "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆，0 每次取最可能的字符",
)
SEED: Final = shared.SEED
SEED_HINT: Final = _(
    "Seed of all draws: the same seed writes the same text",
    "所有抽样的种子：同一种子写出同样的文本",
)
READS: Final = _("live · reading {n} of {of}", "实时 · 读到 {n} / {of}")
WRITES: Final = _("live · writing {n} of {of}", "实时 · 写到 {n} / {of}")
HELD_OUT: Final = _("held out: {source}\n", "留出的书页：{source}\n")
WROTE: Final = _("\n[{name} wrote]\n{written}", "\n[{name} 续写]\n{written}")
BITS: Final = _(
    "{name} {bits} bits per character of the text given", "{name} 读原文每字符 {bits} 比特"
)
NUMBERS: Final = _(
    "{given} + {length} characters · temperature {temperature} · seed {seed}",
    "{given} + {length} 个字符 · 温度 {temperature} · 种子 {seed}",
)
UNKNOWN: Final = _(
    "{n} of the characters are in no training book ({letters}): they are read and scored as one"
    " unknown character.",
    "有 {n} 个字符在训练的书中从未出现（{letters}）：它们都按同一个未知字符读取和评分。",
)
UNKNOWN_ONE: Final = _(
    "One character is in no training book ({letters}): it is read and scored as an unknown one.",
    "有 1 个字符在训练的书中从未出现（{letters}）：它按未知字符读取和评分。",
)
UNLIKE: Final = _(
    "This text is unlike the training books: {bits} bits per character, more than 99 of 100"
    " pages of a held-out book cost.",
    "这段文本与训练的书很不一样：每字符 {bits} 比特，高于留出的书中 100 页里的 99 页。",
)
TEXT_VIEW: Final = {
    "title": _("What was read and written", "读到的与写下的"),
    "empty": _("No text has been read yet.", "还没有读过文本。"),
}
LISTED = 8  # unknown characters that are named
START: Final = "⏎"  # the sign before the first character: a new line
SHARPER: Final = _("sharper", "尖锐")
FLATTER: Final = _("flatter", "平坦")
BERTVIZ = 48  # characters that bertviz shows, the last ones
LEAST = 32  # characters below which a text says little about its source


def list_views(
    draw: Callable[..., Value], grow: Callable[..., Value], task: str = ""
) -> tuple[View[Any, Any], View[Any, Any]]:
    """Return the text with its losses, as `figures.reading` makes it, and how far back each head
    looks.

    draw, grow, task: as in `View`.
    """

    def reach(*run: Any) -> Value:
        return reading.draw_reach(draw(*run))

    return (
        view_on_stage("reading", draw, TEXT_VIEW, grow=grow, task=task),
        view_on_stage("reach", reach, at="side", task=task),
    )


def list_controls(pages: Sequence[ShippedText], step: int) -> tuple[Control, ...]:
    """Return the controls of a text: the text itself, the number of characters written after it (in
    steps of `step`), the temperature and the seed."""
    return (
        PassageControl("text", LABEL, hint=PLACEHOLDER, pages=pages),
        SliderControl("length", LENGTH, hint=LENGTH_HINT, unit=CHARACTERS, step=step),
        SliderControl("temperature", TEMPERATURE, hint=TEMPERATURE_HINT, step=0.1),
        SeedControl("seed", SEED, hint=SEED_HINT),
    )


def draw_growing_text(
    parts: Mapping[str, Sequence[Any]],
    names: Mapping[str, Text],
    about: Mapping[str, Text],
    request: Any,
    given: int,
    text: Callable[[Any], str] = lambda step: str(step.text),
) -> Value:
    """Return the text's drawing while it is read and written.

    parts: the steps of each model so far, each with what text(step) says and its nats.
    names, about: those of the models.
    given: the number of characters to read.
    """
    none = np.zeros(0, np.float32)
    grown = [
        reading.Model(
            one,
            names[one],
            about[one],
            "".join(map(text, steps)),
            np.concatenate([none, *(step.nats for step in steps)]),
        )
        for one, steps in parts.items()
    ]
    segment = getattr(request, "segment", 0)
    return reading.draw_growing_reading(
        grown,
        given=given,
        of=given + request.length,
        segment=segment,
        query=controls.spell_query(request),
    )


def show_last_characters(
    key: str,
    name: Text,
    text: Sequence[str],
    size: tuple[int, int],
    look: Callable[[int, int, Sequence[int]], reading.Array],
) -> bertviz.Attention:
    """Return the attention among the last characters as bertviz shows it.

    key, name: those of the model.
    size: its (layers, heads).
    look(layer, head, positions) -> (row, key): exact weights.
    """
    rows = range(max(0, len(text) - BERTVIZ), len(text))
    weights = np.stack(
        [
            np.stack([look(layer, head, rows)[:, rows] for head in range(size[1])])
            for layer in range(size[0])
        ]
    )
    keys = [START, *text]
    return bertviz.Attention(
        key, name, weights, [text[i] for i in rows], [keys[i] for i in rows], causal=True
    )


def warn_of_temperature(temperature: float, text: Text) -> Text | None:
    """Return the warning that a text is not drawn from a model's own distribution; None for small
    changes.

    text: with {changed}.
    """
    if 0.75 <= temperature <= 1.25:
        return None
    return labels.fill_text(
        text, changed=SHARPER if temperature < 1 else FLATTER, temperature=f"{temperature:g}"
    )


def describe_progress(given: int, made: int, length: int) -> Text:
    """Return the progress of a reading.

    given: the number of characters to read.
    made: characters read and written.
    length: the number of characters to write.
    """
    if made < given:
        return labels.fill_text(READS, n=f"{made:,}", of=f"{given:,}")
    return labels.fill_text(WRITES, n=f"{made - given:,}", of=f"{length:,}")


def write_lines(
    request: Any, given: str, source: Text | None, readers: Sequence[tuple[Text, float, str | None]]
) -> list[Text]:
    """Return the lines of a reading's text file.

    given: the text.
    source: that of a page of ours.
    readers: for each model its name, the bits per character of the text, and the text that it wrote
        after it, None where it only read.
    """

    told = [] if source is None else [labels.fill_text(HELD_OUT, source=source)]
    told.append({"en": given, "zh": given})
    told += [
        {
            language: labels.fill_text(WROTE, name=name)[language].replace("{written}", written)
            for language in ("en", "zh")
        }
        for name, _bits, written in readers
        if written is not None
    ]
    how = {
        "length": f"{request.length:,}",
        "temperature": f"{request.temperature:g}",
        "seed": request.seed,
    }
    numbers = labels.fill_text(NUMBERS, given=f"{len(given):,}", **how)
    costs = [labels.fill_text(BITS, name=name, bits=f"{bits:.2f}") for name, bits, _ in readers]
    return [
        *told,
        {
            language: "\n" + " · ".join(one[language] for one in (numbers, *costs))
            for language in ("en", "zh")
        },
    ]


def describe_endings(written: int) -> list[Value]:
    """Return why a written text ends: this number of characters was requested."""
    return (
        [input_bar.describe_ending(LIMIT, written, labels.SIZES["characters"])] if written else []
    )


def warn_of_unlikely_text(bits: float, given: int, limit: float | None) -> Text | None:
    """Return the warning about a text that costs more than nearly every page of a held-out book;
    None for others, and for a few words."""
    return (
        None
        if limit is None or bits <= limit or given < LEAST
        else labels.fill_text(UNLIKE, bits=f"{bits:.2f}")
    )


def warn_of_unknown_characters(letters: Sequence[str], places: int) -> Text | None:
    """Return the warning about characters that no model has seen, each named once, with the number
    of their places; None for none."""
    if not places:
        return None
    named = " ".join(map(name_character, letters[:LISTED])) + (
        " …" if len(letters) > LISTED else ""
    )
    return labels.fill_text(UNKNOWN_ONE if places == 1 else UNKNOWN, n=f"{places:,}", letters=named)
