"""From what the sparse models explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer import permalink
from explorer.figures import attention, digits
from explorer.figures.attention import Blocks, Kind
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import filled
from explorer.labs import runs
from explorer.labs.runs import Run, Stored
from explorer.labs.sparse_transformer import about, change, texts
from explorer.looks import Look, looks
from explorer.widgets import remake, reread, sketch
from models.errors import InputError, reading
from models.sparse_transformer.records import (
    EXAMPLES,
    HOTTEST,
    MAX_SEED,
    MODELS,
    POSITIONS,
    SIDE,
    TEXTS,
    Comparison,
    Explanation,
    Made,
    Request,
    Step,
    read_drawing,
)
from models.sparse_transformer.weights import Overview, look, overview

Text = Mapping[str, str]
Value = dict[str, object]
Array = NDArray[np.float32]

ASSETS = Path(__file__).parents[3] / "assets" / "sparse_transformer"
LIMITS = sketch.Limits(positions=POSITIONS["text"], temperature=(0.0, HOTTEST, 0.1), seed=MAX_SEED)
SHOWN = 56  # blocks of the family map's picture, each four pixels: eight rows of a digit


@cache
def first() -> Stored[Request, Explanation] | None:
    """The stored first example, or None where none is shipped."""
    return runs.first("sparse_transformer", EXAMPLES[0], Explanation)


@cache
def held_out() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The digits to begin with, (picture, row, column) of 0 and 1, and which digit each is; none where they are not shipped."""
    path = ASSETS / "examples.npz"
    if not path.exists():
        return np.zeros((0, SIDE, SIDE), np.uint8), np.zeros(0, np.uint8)
    with reading(path), np.load(path, allow_pickle=False) as file:
        return file["pixels"], file["kinds"]


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def spelled(request: Request) -> Value:
    """A request as the browser holds it: every field, lists for tuples."""
    return {
        field.name: [list(head) for head in request.silenced] if field.name == "silenced" else getattr(request, field.name)
        for field in fields(request)
    }


def query(request: Request) -> str:
    """The request part of the permalink; empty for a text that no link carries."""
    try:
        return permalink.encode(request)
    except permalink.LinkTooLong:
        return ""


def neutral() -> Value:
    """The fields that say how the models look, with nothing changed."""
    start = spelled(Request())
    return {name: start[name] for name in ("pattern", "stride", "summary", "silenced")}


def examples() -> list[Value]:
    """What the input bar offers to begin with."""
    titles = (*texts.EXAMPLES, *texts.TEXT_EXAMPLES)[: len(EXAMPLES)]
    return [{**spelled(request), "query": query(request), "title": dict(title)} for request, title in zip(EXAMPLES, titles, strict=True)]


def given(request: Request) -> NDArray[np.uint8] | None:
    """The digit that a request begins with, (row, column), before any of it is cut; None where only the model's side knows it."""
    if not request.drawing.startswith("test:"):
        return read_drawing(request.drawing)
    pixels, _ = held_out()
    number = request.drawing.removeprefix("test:")
    return pixels[int(number)] if number.isdigit() and int(number) < len(pixels) else None


def there(request: Request) -> None:
    """InputError where no model of a request's task is shipped; what is no task at all, the model's side refuses."""
    if request.task in MODELS and request.task not in about.tasks():
        raise InputError("task", en=texts.NO_TEXT["en"], zh=texts.NO_TEXT["zh"])


# ---- the input bar and the digits --------------------------------------------------------------------------------------------------


def running(request: Request, variants: Sequence[str], steps: Sequence[Step], of: int) -> Value:
    """What the input bar draws while models make something. of: how many symbols there will be; of several models the slowest counts."""
    reached = dict.fromkeys(variants, 0)
    for step in steps:
        reached[step.variant] = step.first + len(step.symbols)
    return sketch.running(spelled(request), query(request), min(reached.values(), default=0), of)


def growing(request: Request, steps: Sequence[Step]) -> dict[str, Value]:
    """What the input bar and the digits draw while digits are made, by widget. steps: all so far."""
    models = about.heads()
    variants = [variant for variant in MODELS["digit"] if variant in models]
    layers, heads_ = models[variants[0]] if variants else (1, 1)
    grown = digits.growing(
        variants,
        steps,
        query=query(request),
        request=spelled(request),
        keep=request.keep,
        whole=given(request),
        layers=layers,
        heads=heads_,
        names=texts.MODELS,
    )
    return {"sketch": running(request, variants, steps, POSITIONS["digit"]), "digits": grown}


def result(seen: Explanation, request: Request, run: Run) -> Value:
    """What the input bar draws of a run."""
    address = query(request)
    return sketch.done(
        spelled(request),
        address,
        state=run.state,
        milliseconds=run.milliseconds,
        device=run.device,
        warning=texts.UNUSUAL[request.task] if any(made.unusual for made in seen.made) else None,
        notice=joined(run.notice if address else texts.LONG_LINK, bent(request)),
    )


def bent(request: Request) -> Text | None:
    """What to say where a digit or a text is not drawn from the model's own distribution; None for small changes."""
    drawn = request.keep < SIDE if request.task == "digit" else request.length > 0
    if 0.75 <= request.temperature <= 1.25 or not drawn:
        return None
    changed = texts.SHARPER if request.temperature < 1 else texts.FLATTER
    return filled(texts.HOT[request.task], changed=changed, temperature=f"{request.temperature:g}")


def joined(*notices: Text | None) -> Text | None:
    """Several remarks as one, or None for none."""
    said = [notice for notice in notices if notice]
    return {"en": " ".join(one["en"] for one in said), "zh": "".join(one["zh"] for one in said)} if said else None


def draw(seen: Explanation, request: Request, run: Run) -> dict[str, Value]:
    """What the input bar, the digits, the attention view and the panels of knobs draw of a finished run, by widget.

    It takes some tenths of a second, for every weight is made once: not in the thread that serves pages.
    """
    pick = telling(seen)
    addresses = {made.variant: keep(made) for made in seen.made}
    drawn = digits.value(
        seen.made,
        state=run.state,
        query=query(request),
        request=spelled(request),
        whole=seen.whole,
        kind=seen.kind,
        looks=addresses,
        rollouts={made.variant: keep_rollout(made) for made in seen.made},
        pick=pick,
        names=texts.MODELS,
    )
    return {
        "sketch": result(seen, request, run),
        "digits": drawn,
        "attention": heads(seen, addresses, pick, run.state),
        "remake": remake.idle(spelled(request), list(about.facts(request.task)), head_of(pick)),
        "reread": reread.idle(),
    }


def telling(seen: Explanation) -> Value | None:
    """What is locked on arrival: a model, a head and a pixel, where something is to be seen."""
    return digits.telling(seen.made, look)


def head_of(pick: Value | None) -> Value | None:
    """A head as the panel of knobs knows it."""
    return None if pick is None else {"model": pick["model"], "head": pick["head"]}


def keep(made: Made) -> str:
    """The address of exact weights of a run."""
    layers, heads_, length = made.queries.shape[:3]

    def rows(layer: int, head: int, which: range) -> Array:
        return look(made, layer, head, list(which))

    return looks().put(Look(rows, layers, heads_, length, made.queries.nbytes + made.keys.nbytes), _digest(made))


def keep_rollout(made: Made) -> str:
    """The address of what a run's layers bring together, from the first up to one of them."""
    rolled = digits.Rollout(made)

    def rows(layer: int, head: int, which: range) -> Array:
        return rolled.rows(layer, head, list(which))

    return looks().put(Look(rows, rolled.layers, 1, rolled.length, rolled.size), _digest(made) + b"rollout")


def _digest(made: Made) -> bytes:
    found = hashlib.sha256(f"{made.variant} {made.pattern} {made.use}".encode())
    for array in (made.queries, made.keys):
        found.update(array.tobytes())
    return found.digest()


# ---- attention ---------------------------------------------------------------------------------------------------------------------


def heads(seen: Explanation, addresses: Mapping[str, str], pick: Value | None, state: str) -> Value:
    """What the attention view draws: every head of every model, pooled, and exact where one looks closer."""
    wholes = [overview(made) for made in seen.made]
    kinds = [kind(made, whole, addresses[made.variant]) for made, whole in zip(seen.made, wholes, strict=True)]
    place = None
    if pick is not None:
        number = next(i for i, made in enumerate(seen.made) if made.variant == pick["model"])
        layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
        position, by = int(str(pick["pos"])), wholes[number].by
        column = int(look(seen.made[number], layer, head, [position])[0].argmax())
        place = {"kind": pick["model"], "layer": layer, "head": head, "row": position // by, "col": column // by}
    return attention.value(kinds, pick=place, found=jobs(seen, wholes), state=state, silences=False)


def kind(made: Made, whole: Overview, address: str) -> Kind:
    """The attention of all layers and heads of one model."""
    names = list(made.drawn) or [f"{row},{column}" for row in range(SIDE) for column in range(SIDE)]
    # A character is named where it stands. Of a digit the page names places, and the key at a place carries the pixel made before it.
    keys = [texts.START, *names[:-1]] if made.drawn else names
    starts = range(0, len(names), whole.by)
    return Kind(
        made.variant,
        texts.MODELS[made.variant],
        whole.pooled,
        [names[i] for i in starts],
        [keys[i] for i in starts],
        mask="causal",
        question=texts.QUESTIONS[made.variant],
        roles=texts.ROLES["text" if made.drawn else "digit"],
        blocks=Blocks(whole.by, whole.by, names, keys, address) if attention.long(len(names)) else None,
        first_key=-1 if made.drawn else 0,
    )


def jobs(seen: Explanation, wholes: Sequence[Overview], least: float = 0.2) -> list[Value]:
    """Heads that do one recognisable thing: they look at the pixel or character before, or at the pixel straight above."""
    found: list[Value] = []
    for made, whole in zip(seen.made, wholes, strict=True):
        # A key carries what stands before its place, so the pixel above stands one place less far back than a row is long.
        of_text = {"last": 0, "but_one": 1}
        for job, distance in (of_text if made.drawn else {"before": 0, "above": SIDE - 1}).items():
            if distance >= whole.distances.shape[2]:
                continue
            share = whole.distances[..., distance]
            layer, head = (int(n) for n in np.unravel_index(int(share.argmax()), share.shape))
            score = round(float(min(1, share[layer, head])), 4)
            if score >= least:
                name = dict(texts.JOBS[job])
                found.append({"kind": made.variant, "layer": layer, "head": head, "job": job, "name": name, "score": score})
    return sorted(found, key=lambda one: -float(str(one["score"])))


def compared(request: Request, comparison: Comparison) -> Value:
    """What the panel draws of a comparison of digits."""
    return change.done(comparison, request, spelled(request), head_of(telling(comparison.before)))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail() -> Thumbnail | None:
    """The attention of the first model among some rows of the first digit, for the family map: rows, columns, and the dark between."""
    kept = first()
    if kept is None:
        return None
    whole = overview(kept.seen.made[0])
    end = whole.pooled.shape[2] // 2 + SHOWN // 2
    shown = whole.pooled.max((0, 1))[end - SHOWN : end, end - SHOWN : end]
    weights = np.sqrt(shown / shown.max()).astype(np.float32)
    row = SHOWN - 3
    return Thumbnail(weights, pick=(row, int(weights[row, : row - 4].argmax())))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views and panels that show what the stored run has to tell."""
    kept = first()
    pick: Value | None = None if kept is None else telling(kept.seen)
    place = {"model": "strided", "head": "1.1", "pos": "530"} if pick is None else {key: str(value) for key, value in pick.items()}
    start = EXAMPLES[0]
    shown: dict[str, tuple[str, Mapping[str, str], str]] = {
        "split": ("", {"pattern": "full"}, "patterns"),
        "strided": ("", {"pattern": "strided"}, "patterns"),
        "fixed": ("", {"pattern": "fixed"}, "patterns"),
        "paths": ("", {"pattern": "strided", "patternto": "31"}, "patterns"),
        "digit": ("", place, "digits"),
        "wrong": (query(replace(start, stride=SIDE - 1)), place, "digits"),
        "swap": (query(replace(start, pattern="fixed")), place, "digits"),
        "text": (query(TEXTS[0]), {}, "reading"),
    }
    there_ = shown.keys() if "text" in about.tasks() else shown.keys() - {"text"}
    return tuple(GuidedStep(title, said, *shown[key]) for key, title, said in texts.STEPS if key in there_)
