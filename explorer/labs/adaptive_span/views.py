"""From what the models of adaptive span explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, Page, query
from explorer.figures import attention, masks, reading
from explorer.figures import bertviz as drawing
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled
from explorer.labs import passages
from explorer.labs.adaptive_span import about, texts
from explorer.labs.guided import Shown, guided
from explorer.looks import keep
from models.adaptive_span.records import EVERY, EXAMPLES, OFFERED, PAGES, VARIANTS, Explanation, Request, Step, check, page
from models.adaptive_span.weights import Overview, look, overview

Value = dict[str, object]
Array = NDArray[np.float32]

SHOWN = 48  # blocks of the family map's picture


first = runs.kept("adaptive_span", EXAMPLES[0], Explanation)


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def offered() -> tuple[tuple[Request, tuple[Text, Text]], ...]:
    """Our examples whose models are there, and what each is called."""
    return tuple((request, named) for request, named in zip(OFFERED, texts.EXAMPLES, strict=True) if request in EXAMPLES)


def asked() -> tuple[Control, ...]:
    """The controls of the text, with the held-out pages, and which model reads."""
    named = {example.page: text for example, text in zip(OFFERED, texts.EXAMPLES, strict=True) if not example.text}
    there = {variant: texts.BRIEF[variant] for variant in about.facts() or VARIANTS[:1]}
    return (
        *passages.asked([Page(name, *named[name], page(name), texts.SOURCES[name]) for name in PAGES], step=20),
        Control("variant", texts.MODEL_CHOICE, "select", names=there),
    )


def _costs(seen: Explanation) -> dict[str, float]:
    """Bits per character of the text given, by each model, the one that ran first."""
    read = {seen.variant: seen.nats} | {one.variant: one.nats for one in seen.beside}
    return {variant: float(nats[: seen.given].mean() / np.log(2)) for variant, nats in read.items()}


def lines(seen: Explanation, request: Request) -> list[Text]:
    """What a text file of a run says."""
    written = {seen.variant: seen.text[seen.given :]}
    read = [(texts.NAMES[variant], bits, written.get(variant)) for variant, bits in _costs(seen).items()]
    return passages.lines(request, seen.text[: seen.given], None if request.text else texts.SOURCES[request.page], read)


def notice(_request: Request, seen: Explanation) -> Text | None:
    """What to say of characters that the model does not know."""
    strange = [letter for letter, flag in zip(seen.text[: seen.given], seen.unknown, strict=False) if flag]
    return passages.unknown(tuple(dict.fromkeys(strange)), len(strange))


def warning(request: Request, seen: Explanation) -> Text | None:
    """What to say of a text that is unlike the books of training, for the model as trained."""
    return None if request.spans else passages.unlike(_costs(seen)[seen.variant], seen.given, about.unusual())


# ---- a run under way ---------------------------------------------------------------------------------------------------------------


def progress(steps: Sequence[Step], request: Request) -> Text:
    """How far the reading has come."""
    return passages.progress(len(check(request)), sum(len(step.text) for step in steps), request.length)


def text_growing(steps: Sequence[Step], request: Request) -> Value:
    """What the text draws while it is read and written."""
    return passages.growing({request.variant: steps}, texts.NAMES, texts.ABOUT, request, len(check(request)))


# ---- a finished run ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run with what all of its pictures need: an overview and the addresses of exact weights, before the mask and after it, and what is
    looked at first."""

    seen: Explanation
    whole: Overview
    addresses: tuple[str, str]
    pick: Value | None


def prepare(seen: Explanation, _request: Request) -> Run:
    """A run with what all of its pictures need."""
    return Run(seen, overview(seen), (_address(seen, "before", _before), _address(seen, "after", _after)), telling(seen))


def _before(seen: Explanation, layer: int, head: int, rows: Sequence[int]) -> Array:
    return look(seen, layer, head, rows).before


def _after(seen: Explanation, layer: int, head: int, rows: Sequence[int]) -> Array:
    return look(seen, layer, head, rows).after


def _address(seen: Explanation, name: str, part: Callable[[Explanation, int, int, Sequence[int]], Array]) -> str:
    """The address of exact weights of a run. name: before or after the mask; part: those weights."""
    named = f"{name} {seen.variant} {seen.span} {seen.ramp}"
    return keep(named, partial(part, seen), seen.queries, seen.keys, seen.table, seen.z)


def telling(seen: Explanation) -> Value | None:
    """What is locked on arrival: a character, and a head that looks far to say it."""
    return reading.telling([seen], _after, given=seen.given)


def text_of(run: Run, request: Request, state: str) -> Value:
    """What the text with its losses draws: the model that ran, and beside it one that read the same."""
    seen = run.seen
    layers, heads_, length = seen.queries.shape[:3]
    wrote = len(seen.text) > seen.given
    along = filled(texts.READS_ALONG, name=texts.NAMES[seen.variant]) if wrote else texts.READS
    models = [
        reading.Model(
            seen.variant,
            texts.NAMES[seen.variant],
            texts.WRITES if wrote else texts.ABOUT[seen.variant],
            seen.text,
            seen.nats,
            look=run.addresses[1],
            layers=layers,
            heads=heads_,
            profiles=run.whole.distances_after[..., :length],
            ends=seen.z.mean(2),
        ),
        *(reading.Model(one.variant, texts.NAMES[one.variant], along, seen.text, one.nats) for one in seen.beside[:1]),
    ]
    unknown = np.flatnonzero(seen.unknown).tolist()
    return reading.value(models, given=seen.given, unknown=unknown, pick=run.pick, query=query(request), state=state)


def spans_of(run: Run, request: Request, state: str) -> Value:
    """What the masks draw."""
    seen = run.seen
    learned = seen.learned if seen.forced.any() and not np.isnan(seen.learned).any() else None
    return masks.value(
        variant=seen.variant,
        name=texts.NAMES[seen.variant],
        text=seen.text,
        given=seen.given,
        z=seen.z,
        learned=learned,
        forced=seen.forced,
        span=seen.span,
        ramp=seen.ramp,
        before=run.whole.distances_before,
        after=run.whole.distances_after,
        look_before=run.addresses[0],
        look_after=run.addresses[1],
        pick=run.pick,
        query=query(request),
        state=state,
    )


def heads(run: Run, request: Request, state: str) -> Value:
    """What the attention view draws: under the mask, and before it."""
    seen, whole, addresses, pick = run.seen, run.whole, run.addresses, run.pick
    keys = [texts.START, *seen.text[:-1]]
    kinds = [
        attention.blocked(
            name,
            texts.KIND[name],
            pooled,
            whole.by,
            seen.text,
            keys,
            partial(str, address),
            question=texts.QUESTIONS[name],
            roles=texts.ROLES,
            first_key=-1,
        )
        for name, pooled, address in (("after", whole.pooled_after, addresses[1]), ("before", whole.pooled_before, addresses[0]))
    ]
    place = None if pick is None else attention.cell("after", pick, whole.by, partial(_after, seen))
    return attention.value(kinds, pick=place, found=jobs(seen, whole), query=query(request), state=state, silences=False)


def jobs(seen: Explanation, whole: Overview, least: float = 0.25) -> list[Value]:
    """Heads that do one recognisable thing: they look at the last character, the one before it, or far."""
    far = whole.distances_after
    reach = np.minimum(seen.span, seen.z.mean(2) + seen.ramp) / seen.span
    shares = {"written": far[..., 0], "before": far[..., 1] if far.shape[2] > 1 else np.zeros(far.shape[:2], np.float32)}
    near = attention.working("after", shares, texts.JOBS, least)
    found = [*near, *attention.working("after", {"far": reach}, texts.JOBS, 0.1, most=1)]
    return sorted(({**one, "kind": name} for one in found for name in texts.KIND), key=lambda one: -one["score"])


def bertviz(seen: Explanation) -> drawing.Attention:
    """The attention among the last characters as bertviz shows it."""
    return passages.last(seen.variant, texts.NAMES[seen.variant], seen.text, seen.queries.shape[:2], partial(_after, seen))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail(seen: Explanation) -> Thumbnail:
    """The soft masks of all heads as rows, for the family map: how far each of them looks, the longest last."""
    z = np.sort(seen.z.mean(2).ravel())
    farthest = min(seen.span, float(z.max()) + seen.ramp) * 1.2
    distance = np.linspace(farthest, 0, 2 * len(z))
    weights = np.clip((seen.ramp + z[:, None] - distance) / seen.ramp, 0, 1).astype(np.float32)
    row = len(z) - 1
    return Thumbnail(weights, pick=(row, int(np.argmax(weights[row] > 0))))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views and panels that show what these runs have to tell."""
    kept = first()
    start = EXAMPLES[0]
    head, pos = "1.1", len(page(start.page)) + 12
    if kept is not None:
        pick = telling(kept.seen)
        if pick is not None:
            pos = int(str(pick["pos"]))
        far = np.unravel_index(int(kept.seen.z.mean(2).argmax()), kept.seen.z.shape[:2])
        head = f"{int(far[0]) + 1}.{int(far[1]) + 1}"
    here = {"head": head, "pos": str(pos)}
    span = about.size()[2]
    shown: dict[str, Shown] = {
        "differ": ("", here, "masks"),
        "mask": ("", {**here, "masksaxis": "log"}, "masks"),
        "price": ("", {**here, "kind": "before"}, "attention"),
        "short": (query(replace(start, spans=((EVERY, EVERY, 0.0),))), here, "reading", "change"),
        "long": (query(replace(start, spans=((EVERY, EVERY, float(span)),))), here, "reading", "change"),
        "token": (query(OFFERED[2]), {"head": head}, "masks"),
        "saving": ("", {"saving": "open"}, ""),
    }
    z = np.sort((about.measured().get("adaptive") or {}).get("z", [[0.0]]), axis=None)
    learned = {"middle": f"{float(np.median(z)):.0f}", "most": f"{float(z[-1]):.0f}", "head": head.replace(".", "·")}
    there = {key: one for key, one in shown.items() if key != "token" or OFFERED[2] in EXAMPLES}
    return guided(texts, there, **learned)
