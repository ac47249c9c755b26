"""The panel about what hashing misses: one head of the run in view, its full attention beside what the rounds see."""

from __future__ import annotations

from explorer.figures.missed import boards
from explorer.labs.reformer import about, texts, views
from explorer.labs.reformer.deeper import asking
from explorer.views import View, unfolded
from explorer.widgets.folded import Question, Value
from explorer.widgets.stage import asked
from models.reformer.records import Explanation, Missed, Place, Request

MISSES = "models.reformer.asked:misses"


def wanted(seen: Explanation, run: Request, question: Question) -> Place:
    """The head that a question is about, and the number of buckets."""
    wish = asking.wished(question)
    read, layer, head = asking.chosen(seen, run, wish)
    return Place(run, read.variant, layer, head, wish.number)


def value(seen: Explanation, found: Missed, place: Place) -> Value:
    """What the panel draws of a head."""
    read = next(one for one in seen.read if one.variant == place.variant)
    told = {"chunk": read.chunk, "seed": seen.seed, "trained": about.rounds(place.variant), "ran": (read.buckets.shape[2], read.kinds)}
    size = (read.queries.shape[0], read.queries.shape[1])
    return boards(texts.NAMES[place.variant], (place.layer, place.head), size, tokens=views.spelled_tokens(seen), **told, **vars(found))


PANEL: View[Request, Explanation] = unfolded(
    "missed",
    lambda: asked("missed", texts=texts.MISSED, picture="reformer/missed"),
    lambda found, question: value(found.run, found.answer, wanted(found.run, found.request, question)),
    function=MISSES,
    wish=lambda found, question: wanted(found.run, found.request, question),
)
