"""From what the recurrent translators explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorer import runs
from explorer.controls import Control, Item, Value, query
from explorer.figures import attention
from explorer.figures.curves import Curve
from explorer.figures.maps import MapPair
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, change_sentence, filled
from explorer.labs.guided import Shown, guided
from explorer.labs.heads import place, thumbnail_of
from explorer.labs.lined import lined
from explorer.labs.rnn_attention import texts
from explorer.labs.translated import again as again
from explorer.labs.translated import answer as answer
from explorer.labs.translated import choosable, pieces_at
from explorer.labs.translated import kind as between
from explorer.labs.translated import warning as unlike
from explorer.widgets import change
from models.rnn_attention.records import EXAMPLES, LONGEST, MAX_BEAM, MAX_TOKENS, VARIANTS, Explanation, Request

first = runs.kept("rnn_attention", EXAMPLES[0], Explanation)


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


SEARCHES = {1: texts.GREEDY, **{n: filled(texts.BEAM, n=n) for n in range(2, MAX_BEAM + 1)}}


def _donor(name: str) -> Text:
    return filled(texts.DONOR_IS, sentence=texts.DONORS[name])


CONTROLS = (
    Control("sentence", filled(texts.SENTENCE, tokens=MAX_TOKENS), "sentence", placeholder=EXAMPLES[0].sentence),
    Control("variant", texts.VARIANT, "select", names=texts.VARIANTS),
    Control("beam", texts.SEARCH, "select", names=SEARCHES),
    Control("alpha", texts.ALPHA, "number", step=0.1, when={"beam": tuple(map(str, SEARCHES))[1:]}),
    Control("words", texts.WORDS, "items", kept=True, change=True, says=pieces_at(texts.ALL_ON), when={"variant": VARIANTS[:-1]}),
    Control("rows", texts.ROWS, "items", kept=True, change=True, when={"variant": VARIANTS[:-1]}),
    Control("context", texts.CONTEXT, "choice", names=texts.CONTEXTS, change=True, says=lambda name: texts.CONTEXT_IS[name]),
    Control("donor", texts.DONOR, "choice", names=texts.DONORS, change=True, says=_donor),
)


def items(seen: Explanation, _request: Request) -> dict[str, tuple[Item, ...]]:
    """The English pieces, which can be given weight, and the German ones, at whose rows they get it."""
    return {"words": choosable((seen.source, seen.source_space)), "rows": choosable((seen.target, seen.target_space))}


def warning(request: Request, seen: Explanation) -> Text | None:
    """What to say where a sentence lies outside what the model was trained on."""
    long = filled(texts.LONG, n=len(seen.source), longest=LONGEST) if len(seen.source) > LONGEST and not seen.unknown else None
    return long or unlike(request, seen)


# ---- attention ---------------------------------------------------------------------------------------------------------------------


def kind(seen: Explanation) -> attention.Kind:
    """The weights of one translation: German rows, English columns."""
    german, english = (seen.target, seen.target_space), (seen.source, seen.source_space)
    return between("cross", texts.ATTENTION, seen.weights[None, None], german, english, texts.QUESTION)


def maps(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention widget draws. state: "stored" or "live"."""
    return attention.value([kind(seen)], found=(), query=query(request), state=state, silences=False)


def pick(seen: Explanation, _request: Request) -> Value | None:
    """The cell that is looked at on arrival, as an address names it."""
    if not len(seen.weights):
        return None
    return place(attention.pick(kind(seen)))


def thumbnail(seen: Explanation) -> Thumbnail:
    """The weights of the stored first result, for the family map."""
    return thumbnail_of(kind(seen), attention.pick(kind(seen)))


# ---- the last states ---------------------------------------------------------------------------------------------------------------


def remains(seen: Explanation, _request: Request, _state: str) -> Value:
    """What the last state of each direction keeps of each word."""
    shares, words, half = seen.remains, numbered(seen.source), len(seen.source) // 2
    at, colours = range(len(words)), ("var(--cat-1)", "var(--cat-2)")
    drawn = [
        Curve(name, at, row.tolist(), colour) for name, row, colour in zip((texts.FORWARD, texts.BACKWARD), shares, colours, strict=True)
    ]
    (on, a), (back, b) = ((named(seen.source, int(row.argmax())), f"{row.max():.2f}") for row in shares)
    says = filled(texts.REMAINS_SAYS, first=on, a=a, second=back, b=b, n=len(words), early=f"{shares[0, :half].sum():.2f}")
    rows = [(word, round(float(a), 4), round(float(b), 4)) for word, a, b in zip(words, *shares, strict=True)]
    told, columns = (texts.REMAINS, texts.REMAINS_UNITS, says), (texts.WORD, texts.FORWARD, texts.BACKWARD)
    return lined("last-states", drawn, texts.REMAINS_AXES, told, columns, rows, ticks=at, names=words, up="zero")


def numbered(pieces: Sequence[str]) -> list[str]:
    """Pieces with their positions, "the·3"."""
    return [f"{attention.shown(piece)}·{at}" for at, piece in enumerate(pieces)]


def named(pieces: Sequence[str], at: int) -> str:
    """A piece in a sentence, with its position."""
    return f"“{attention.shown(pieces[at])}” ({at})"


# ---- what changes if ---------------------------------------------------------------------------------------------------------------


def difference(
    seen: tuple[Explanation, Explanation], read: tuple[None, Explanation], request: Request, what: Text
) -> change.Maps | change.Difference:
    """What the panel draws of a change. seen: the runs without and with it; read: the translation before, read under it."""
    (before, after), forced = seen, read[1]
    number = change.Number(before.log_probability, forced.log_probability)
    told = filled(texts.KEEPS if before.text == after.text else texts.BECOMES, what=what, german=after.text)
    says = change_sentence(texts.MOVES, texts.STAYS, number.before, number.after, first=told)
    pieces = list(zip(numbered(before.target), np.exp(before.log_probabilities), np.exp(forced.log_probabilities), strict=True))
    words = [(name, float(was), float(now)) for name, was, now in pieces]
    if request.variant == "none":
        rows = [change.Row(texts.EACH, {"en": name, "zh": name}, name, was, now) for name, was, now in words]
        return change.Difference(number, texts.NUMBER, rows, says)
    label = texts.VARIANTS[request.variant]
    pair = MapPair("cross", texts.PICTURE, label, before.target, before.source, before.weights, forced.weights)
    return change.Maps((pair,), (before.text, after.text), "de", number, texts.NUMBER, says, words, texts.EACH)


# ---- guided steps ------------------------------------------------------------------------------------------------------------------


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell."""
    kept = first()
    start, long = EXAMPLES[0], EXAMPLES[3]
    cell = attention.pick(kind(kept.seen)) if kept else {"row": 2, "col": 3}
    here = {"row": str(cell["row"]), "col": str(cell["col"])}
    moved = replace(start, words=(0,), rows=(int(cell["row"]),))
    shown: dict[str, Shown] = {
        "vector": (query(replace(long, variant="none")), {}, "quality"),
        "diluted": (query(replace(long, variant="none")), {}, "remains"),
        "needs": ("", here, "attention"),
        "sum": ("", {**here, "sum": "open"}, ""),
        "moves": ("", {"row": "0"}, "attention"),
        "drag": (query(moved), {"row": str(cell["row"])}, "change"),
        "scores": (query(replace(start, variant="dot")), {}, "attention"),
        "onward": ("", {"overlap": "open"}, ""),
    }
    return guided(texts, shown)
