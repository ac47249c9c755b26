"""What the pages of models of long texts say alike: how a text is asked for, how far its reading has come, and what is odd about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from explorer import controls, labels
from explorer.controls import Control, Page, Value
from explorer.figures import bertviz, reading
from explorer.labels import Text
from explorer.labels import text as _
from explorer.views import View, on_stage

LABEL: Final = _("Text", "文本")
PLACEHOLDER: Final = _("Type or paste a text, or choose a page.", "输入或粘贴文本，或选择一页。")
RUN: Final = _("Read and write on", "读完接着写")
LENGTH: Final = _("write", "续写")
CHARACTERS: Final = _("{n} characters", "{n} 个字符")
LENGTH_HINT: Final = _("How many characters the model writes after the text", "模型在文本之后写多少个字符")
TEMPERATURE: Final = _("temperature", "温度")
TEMPERATURE_HINT: Final = _(
    "Temperature {value}: 1 is the model's own distribution, less plays safe, more dares, 0 takes the likeliest character every time",
    "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆，0 每次取最可能的字符",
)
SEED: Final = _("seed", "种子")
SEED_HINT: Final = _("Seed of all draws: the same seed writes the same text", "所有抽样的种子：同一种子写出同样的文本")
READS: Final = _("live · reading {n} of {of}", "实时 · 读到 {n} / {of}")
WRITES: Final = _("live · writing {n} of {of}", "实时 · 写到 {n} / {of}")
HELD_OUT: Final = _("held out: {source}\n", "留出的书页：{source}\n")
WROTE: Final = _("\n[{name} wrote]\n{written}", "\n[{name} 续写]\n{written}")
BITS: Final = _("{name} {bits} bits per character of the text given", "{name} 读原文每字符 {bits} 比特")
NUMBERS: Final = _(
    "{given} + {length} characters · temperature {temperature} · seed {seed}",
    "{given} + {length} 个字符 · 温度 {temperature} · 种子 {seed}",
)
UNKNOWN: Final = _(
    "{n} of the characters stand in no book of training ({letters}): they are read and scored as one unknown character.",
    "有 {n} 个字符在训练的书中从未出现（{letters}）：它们都按同一个未知字符读取和评分。",
)
UNKNOWN_ONE: Final = _(
    "One character stands in no book of training ({letters}): it is read and scored as an unknown one.",
    "有 1 个字符在训练的书中从未出现（{letters}）：它按未知字符读取和评分。",
)
UNLIKE: Final = _(
    "This text is unlike the books of training: {bits} bits per character, more than 99 of 100 pages of a held-out book cost.",
    "这段文本与训练的书很不一样：每字符 {bits} 比特，高于留出的书中 100 页里的 99 页。",
)
TEXT_VIEW: Final = {"title": _("What was read and written", "读到的与写下的"), "empty": _("No text has been read yet.", "还没有读过文本。")}
LISTED = 8  # unknown characters that are named
START: Final = "⏎"  # what stands before the first character: a new line
SHARPER: Final = _("sharper", "尖锐")
FLATTER: Final = _("flatter", "平坦")
BERTVIZ = 48  # characters that bertviz shows, the last ones
LEAST = 32  # characters below which a text says little about where it comes from


def views(draw: Callable[..., Value], grow: Callable[..., Value], task: str = "") -> tuple[View[Any, Any], View[Any, Any]]:
    """The text with its losses, as `figures.reading` makes it, and how far back each head looks. draw, grow, task: as of `View`."""

    def reach(*run: Any) -> Value:
        return reading.reach(draw(*run))

    return (
        on_stage("reading", draw, TEXT_VIEW, grow=grow, task=task),
        on_stage("reach", reach, at="side", task=task),
    )


def asked(pages: Sequence[Page], step: int) -> tuple[Control, ...]:
    """The controls of a text: itself, how much is written after it (in steps of so many characters), how boldly, with which seed."""
    return (
        Control("text", LABEL, "passage", hint=PLACEHOLDER, pages=pages),
        Control("length", LENGTH, "number", hint=LENGTH_HINT, unit=CHARACTERS, step=step),
        Control("temperature", TEMPERATURE, "number", hint=TEMPERATURE_HINT, step=0.1),
        Control("seed", SEED, "seed", hint=SEED_HINT),
    )


def growing(
    parts: Mapping[str, Sequence[Any]],
    names: Mapping[str, Text],
    about: Mapping[str, Text],
    request: Any,
    given: int,
    text: Callable[[Any], str] = lambda step: str(step.text),
) -> Value:
    """What the text draws while it is read and written. parts: the steps of each model so far, each with what text(step) says and its nats.
    names, about: of the models; given: characters to read."""
    none = np.zeros(0, np.float32)
    grown = [
        reading.Model(one, names[one], about[one], "".join(map(text, steps)), np.concatenate([none, *(step.nats for step in steps)]))
        for one, steps in parts.items()
    ]
    segment = getattr(request, "segment", 0)
    return reading.growing(grown, given=given, of=given + request.length, segment=segment, query=controls.query(request))


def last(
    key: str, name: Text, text: Sequence[str], size: tuple[int, int], look: Callable[[int, int, Sequence[int]], reading.Array]
) -> bertviz.Attention:
    """The attention among the last characters as bertviz shows it. key, name: of the model, of size (layers, heads). look(layer, head,
    positions) -> (row, key): exact weights."""
    rows = range(max(0, len(text) - BERTVIZ), len(text))
    weights = np.stack([np.stack([look(layer, head, rows)[:, rows] for head in range(size[1])]) for layer in range(size[0])])
    keys = [START, *text]
    return bertviz.Attention(key, name, weights, [text[i] for i in rows], [keys[i] for i in rows], causal=True)


def heated(temperature: float, text: Text) -> Text | None:
    """What to say where something is not drawn from a model's own distribution; None for small changes. text: with {changed}."""
    if 0.75 <= temperature <= 1.25:
        return None
    return labels.filled(text, changed=SHARPER if temperature < 1 else FLATTER, temperature=f"{temperature:g}")


def progress(given: int, made: int, length: int) -> Text:
    """How far a reading has come. given: characters to read; made: characters read and written; length: how many are to be written."""
    if made < given:
        return labels.filled(READS, n=f"{made:,}", of=f"{given:,}")
    return labels.filled(WRITES, n=f"{made - given:,}", of=f"{length:,}")


def lines(request: Any, given: str, source: Text | None, readers: Sequence[tuple[Text, float, str | None]]) -> list[Text]:
    """What a text file of a reading says. given: the text; source: of a page of ours. readers: of each model its name, the bits per
    character that it paid for the text, and what it wrote after it, None where it only read."""

    told = [] if source is None else [labels.filled(HELD_OUT, source=source)]
    told.append({"en": given, "zh": given})
    told += [labels.filled(WROTE, name=name, written=written) for name, _bits, written in readers if written is not None]
    how = {"length": f"{request.length:,}", "temperature": f"{request.temperature:g}", "seed": request.seed}
    numbers = labels.filled(NUMBERS, given=f"{len(given):,}", **how)
    costs = [labels.filled(BITS, name=name, bits=f"{bits:.2f}") for name, bits, _ in readers]
    return [*told, {language: "\n" + " · ".join(one[language] for one in (numbers, *costs)) for language in ("en", "zh")}]


def unlike(bits: float, given: int, limit: float | None) -> Text | None:
    """What to say of a text that costs more than nearly every page of a held-out book; None for others, and for a few words."""
    return None if limit is None or bits <= limit or given < LEAST else labels.filled(UNLIKE, bits=f"{bits:.2f}")


def unknown(letters: Sequence[str], places: int) -> Text | None:
    """What to say of characters that no model has seen, each named once, which take so many places; None for none."""
    if not places:
        return None
    named = "".join(letters[:LISTED]) + ("…" if len(letters) > LISTED else "")
    return labels.filled(UNKNOWN_ONE if places == 1 else UNKNOWN, n=f"{places:,}", letters=named)
