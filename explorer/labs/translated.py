"""What the pages of networks that write German for English draw alike: the answer, pieces that can be chosen, attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from explorer import labels
from explorer.controls import Item, Value
from explorer.figures.attention import Array, Kind
from explorer.labels import Text, filled
from explorer.labels import text as _
from explorer.widgets import ask
from models.results import Retranslated

Words = tuple[Sequence[str], Sequence[bool]]  # pieces, and where a space stands before them

ENGLISH: Final = _("English", "英文")
GERMAN: Final = _("German", "德文")
RARE: Final = _(
    "Pieces of your sentence that this network never saw: {unknown}. It reads them as unknown, so expect mistakes.",
    "您的句子里有 {unknown} 个词片是网络从未见过的，只能当作未知词来读，译文可能出错。",
)
SURPRISING: Final = _(
    "The network finds its own translation unlikely: your sentence is unlike the photo captions it was trained on.",
    "网络认为自己的译文可能性很低：您的句子不像它训练时见过的图片说明。",
)
METRIC: Final = _("{metric}, {split}", "{metric}，{split}")
LICENCE: Final = "research and teaching only: the images behind Multi30k are licensed for non-commercial research and education"
ROLES: Final = {"encoder": (ENGLISH, ENGLISH), "decoder": (GERMAN, GERMAN), "cross": (GERMAN, ENGLISH)}


def answer(seen: Any, request: Any) -> Value:
    """The translation, as it stands beside the sentence; of a wider search with its other hypotheses."""
    hypotheses = seen.hypotheses if getattr(request, "beam", 1) > 1 else ()
    return ask.pieces(seen.target, seen.target_space, language="de", log_probability=seen.log_probability, hypotheses=hypotheses)


def warning(_request: Any, seen: Any) -> Text | None:
    """What to say where a sentence lies outside what the network was trained on."""
    return filled(RARE, unknown=seen.unknown) if seen.unknown else SURPRISING if getattr(seen, "surprising", False) else None


def reread(request: Any, before: Any) -> Retranslated:
    """The translation, to be read under what a request changes."""
    return Retranslated(request, before.target, before.target_space)


def again(request: Any, before: Any) -> Retranslated | None:
    """The same; None where the request changes nothing."""
    return None if request == request.plain() else reread(request, before)


def choosable(words: Words, values: Sequence[str] = ()) -> tuple[Item, ...]:
    """Pieces that a control of kind "items" offers, by their positions or by `values`; the end of the text continues no word."""
    return tuple(
        Item(values[at] if values else str(at), piece, inner=at > 0 and not space and piece != "</s>")
        for at, (piece, space) in enumerate(zip(*words, strict=True))
    )


def kind(name: str, label: Text, weights: Array, queries: Words, keys: Words, question: Text, **how: Any) -> Kind:
    """An attention that is called `name`: of the "encoder", of the "decoder" or from one to the other, "cross". how: as of `Kind`."""
    words = (queries[0], keys[0], queries[1], keys[1])
    told = {"key": name, "through": "encoder" if name == "cross" else None, "roles": ROLES[name], **how}
    return Kind(told.pop("key"), label, weights, *words, question=question, **told)


def pieces_at(text: Text) -> Callable[[Sequence[int]], Text]:
    """For `says` of a control of kind "items": a text with {n}, how many, and {at}, their positions."""
    return lambda places: filled(text, n=len(places), at=", ".join(map(str, places)))


def metric(figure: Mapping[str, Any]) -> Text:
    """What a figure measures, and on which split."""
    return filled(METRIC, metric=figure["metric"], split=labels.split(figure["split"].removesuffix("_flickr")))
