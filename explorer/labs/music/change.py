"""What changes if …, in numbers and words: from a comparison of music made before and under an intervention to what the panel draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from explorer.labels import filled
from explorer.widgets import remix
from models.music.records import MODELS, Array, Comparison, Explanation, Made, Request

Text = Mapping[str, str]
Value = dict[str, object]
Heard = Callable[[Made, Explanation], Mapping[str, object] | None]  # where to hear what a model made, as `remix.Side` wants it

RELATIVE: Final = ("jsb_relative", "relative")  # the variants with a relative term
BAR = 64  # cells of a bar of a chorale: sixteen sixteenths of four voices


def _(en: str, zh: str) -> Text:
    return MappingProxyType({"en": en, "zh": zh})


WITHOUT_TERM: Final = _("without the relative term", "去掉相对位置项")
CLIPPED: Final = _("with every distance beyond {n} counted as {n}", "超过 {n} 的距离都按 {n} 计算")
WITHOUT_HEADS: Final = _("without {heads}", "关掉{heads}")
HEAD: Final = _("head {name} of the {model}", "{model}的头 {name}")
HEADS: Final = _("{n} heads", " {n} 个头")
MOVED: Final = _("with the motif {n} semitones {way}", "把动机{way} {n} 个半音")
MOVED_ONE: Final = _("with the motif a semitone {way}", "把动机{way}一个半音")
UP, DOWN = _("higher", "升高"), _("lower", "降低")
STRETCHED: Final = _("with the motif’s times × {n}", "把动机的时间乘以 {n}")

COSTS: Final = _(
    "what the {model} made costs it {nats} nats per {event} {more}", "{model}原先写出的音乐，每{event}的代价{more} {nats} 纳特"
)
COSTS_SAME: Final = _("what the {model} made costs it as much as before", "{model}原先写出的音乐代价不变")
OWN: Final = _(
    "the {model} makes music that costs it {nats} nats per {event} {more}", "{model}写出的音乐，对它自己每{event}的代价{more} {nats} 纳特"
)
OWN_SAME: Final = _("the {model} makes music that costs it as much as before", "{model}写出的音乐，对它自己的代价不变")
MORE, LESS = _("more", "增加"), _("less", "减少")
IN_BAR: Final = _(", most in bar {n}", "，第 {n} 小节变化最大")
IN_SECOND: Final = _(", most around second {n}", "，第 {n} 秒附近变化最大")
KEPT: Final = _("{n} of the {of} notes it had made are made again", "原先写出的 {of} 个音中有 {n} 个再次出现")
KEPT_MOVED: Final = _(
    "{n} of the {of} notes it had made are made again, moved with the motif", "原先写出的 {of} 个音中有 {n} 个随动机一起移动后再次出现"
)
ALL_KEPT: Final = _("note for note the same music comes out", "写出的音乐逐音相同")
EVENT: Final = {"chorale": _("cell", "格"), "piano": _("event", "个事件")}


def plain(request: Request) -> Request:
    """The same motif as it came, the models as trained: what the other views show."""
    return replace(request, silenced=(), farthest=-1, semitones=0, stretch=1.0)


def spelled(request: Request) -> Value:
    """A request as the browser holds it."""
    return {**asdict(request), "silenced": [list(head) for head in request.silenced]}


def _models_changed(request: Request) -> tuple[str, ...]:
    """The variants that a request changes themselves, not only what they read."""
    silent = {variant for variant, _, _ in request.silenced}
    cut = set(RELATIVE) if request.farthest >= 0 else set()
    return tuple(variant for variant in MODELS[request.style] if variant in silent | cut)


def touched(request: Request) -> tuple[str, ...]:
    """The variants that an intervention reaches, whether they are shipped or not; none where nothing is changed."""
    moved = request.semitones != 0 or request.stretch != 1
    return MODELS[request.style] if moved else _models_changed(request)


def pairs(compared: Comparison, request: Request, heard: Heard = lambda made, seen: None) -> list[remix.Pair]:
    """Each model that the intervention reaches, before and after, and what it costs. heard: tells where to hear what a model made."""
    changed = _models_changed(request)
    found: list[remix.Pair] = []
    for before, after, forced in zip(compared.before.made, compared.after.made, compared.forced, strict=True):
        if before.variant not in touched(request):
            continue
        own = before.variant not in changed
        read = _mean(after, after.nats) if own else _mean(before, forced)
        found.append(
            remix.Pair(
                key=before.variant,
                before=_side(before, heard(before, compared.before)),
                after=_side(after, heard(after, compared.after)),
                numbers=(_mean(before, before.nats), read),
                own=own,
                moved=request.semitones,
                compared=request.stretch == 1,
                voices=request.style == "chorale",
                grid=compared.before.grid,
            )
        )
    return found


def _mean(made: Made, nats: Array) -> float:
    """Nats per event of what was made; 0 where nothing was."""
    own = nats[~made.given]
    return float(own.mean()) if len(own) else 0.0


def _side(made: Made, sound: Mapping[str, object] | None) -> remix.Side:
    return remix.Side(made.notes, made.given[made.at], made.steps, sound)


def done(
    compared: Comparison,
    request: Request,
    names: Mapping[str, Text],
    models: Sequence[str],
    pick: Value | None = None,
    heard: Heard = lambda made, seen: None,
) -> Value:
    """What the panel draws of a comparison. names: of the models; models: of all that made what is in view."""
    both = pairs(compared, request, heard)
    return remix.done(spelled(request), models, both, sentence(compared, request, both, names), pick)


def sentence(compared: Comparison, request: Request, both: Sequence[remix.Pair], names: Mapping[str, Text]) -> Text:
    """The comparison in words, for the model that it costs most: how much, where, and how many of its notes are made again."""
    if not both:
        return changed_in(request, names)
    dearest = max(both, key=lambda one: one.numbers[1] - one.numbers[0])
    delta = dearest.numbers[1] - dearest.numbers[0]
    same = abs(delta) < 0.005
    words = {
        "model": names[dearest.key],
        "nats": f"{abs(delta):.2f}",
        "event": EVENT[request.style],
        "more": MORE if delta > 0 else LESS,
    }
    cost = filled((OWN_SAME if same else OWN) if dearest.own else (COSTS_SAME if same else COSTS), **words)
    where = _(*_where(compared, request, dearest.key, delta)) if not (same or dearest.own) else _("", "")
    parts = [f"{_joined(changed_in(request, names), cost, language)}{where[language]}" for language in ("en", "zh")]
    english, chinese = parts[0][0].upper() + parts[0][1:], parts[1]
    if dearest.compared:
        kept = _kept(dearest)
        return {"en": f"{english}; {kept['en']}.", "zh": f"{chinese}；{kept['zh']}。"}
    return {"en": f"{english}.", "zh": f"{chinese}。"}


def _joined(change: Text, cost: Text, language: str) -> str:
    return f"{change[language]}{', ' if language == 'en' else '，'}{cost[language]}"


def _kept(pair: remix.Pair) -> Text:
    was, became = pair.kept()
    made, made_after = was[~pair.before.given], became[~pair.after.given]
    if made.all() and made_after.all() and not pair.moved:
        return ALL_KEPT
    return filled(KEPT_MOVED if pair.moved else KEPT, n=int(made.sum()), of=len(made))


def _where(compared: Comparison, request: Request, variant: str, delta: float) -> tuple[str, str]:
    """In which bar, or around which second, what was made before changes most, in both languages; empty where it is too short for that."""
    made, forced = next(
        (made, forced) for made, forced in zip(compared.before.made, compared.forced, strict=True) if made.variant == variant
    )
    more = np.where(made.given, 0.0, forced - made.nats)
    if request.style == "chorale":
        place = np.arange(len(more)) // BAR
    else:
        onset = made.notes[:, 0] * compared.before.grid / 1000
        place = np.interp(np.arange(len(more)), made.at, onset).astype(np.int64) if len(onset) else np.zeros(len(more), np.int64)
    count = np.bincount(place[~made.given])
    if np.count_nonzero(count) < 2:
        return "", ""
    total = np.bincount(place[~made.given], more[~made.given])
    mean = np.divide(total, count, out=np.zeros(len(count)), where=count > 0)
    at = int(mean.argmax() if delta > 0 else mean.argmin())
    said = filled(IN_BAR, n=at + 1) if request.style == "chorale" else filled(IN_SECOND, n=at)
    return said["en"], said["zh"]


def changed_in(request: Request, names: Mapping[str, Text]) -> Text:
    """What a request changes, in words."""
    parts: list[Text] = []
    if request.farthest == 0:
        parts.append(WITHOUT_TERM)
    elif request.farthest > 0:
        parts.append(filled(CLIPPED, n=request.farthest))
    heads = [
        filled(HEAD, model=names.get(variant, _(variant, variant)), name=f"{layer + 1}·{head + 1}")
        for variant, layer, head in request.silenced
    ]
    if len(heads) > 2:
        heads = [filled(HEADS, n=len(heads))]
    if heads:
        listed = {"en": " and ".join(one["en"] for one in heads), "zh": "和".join(one["zh"] for one in heads)}
        parts.append(filled(WITHOUT_HEADS, heads=listed))
    if request.semitones:
        way = UP if request.semitones > 0 else DOWN
        parts.append(filled(MOVED_ONE if abs(request.semitones) == 1 else MOVED, n=abs(request.semitones), way=way))
    if request.stretch != 1:
        parts.append(filled(STRETCHED, n=f"{request.stretch:g}"))
    return {"en": " and ".join(part["en"] for part in parts), "zh": "，".join(part["zh"] for part in parts)}
