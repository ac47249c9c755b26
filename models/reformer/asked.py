"""Further requests about one model of a run, in batches: a head's hashing, the attention that it
misses, and its layers run backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from models.explaining.errors import InputError
from models.reformer.explain import explain, hash_round, in_chunks, measure_missed, rewind
from models.reformer.records import Backwards, Explanation, Hashing, Missed, Place, Request

T = TypeVar("T")

GONE = InputError(
    "head",
    en="This run has no such model, head or round.",
    zh="这次运行没有这样的模型、注意力头或轮次。",
)


@lru_cache(maxsize=8)
def _run_once(request: Request) -> Explanation | InputError:
    """Return a run, computed once for all requests about it."""
    return explain([request])[0]


def _of(place: Place, ask: Callable[[Explanation], T]) -> T | InputError:
    seen = _run_once(place.request)
    if isinstance(seen, InputError):
        return seen
    try:
        return ask(seen)
    except (IndexError, ValueError):
        return GONE


def hashings(places: Sequence[Place]) -> list[Hashing | InputError]:
    """Return one round of one head for each place, step by step, with an InputError where there is
    none."""
    return [
        _of(
            one,
            lambda seen, one=one: hash_round(seen, one.variant, one.layer, one.head, one.number),  # type: ignore[misc]
        )
        for one in places
    ]


def misses(places: Sequence[Place]) -> list[Missed | InputError]:
    """Return the attention that hashing misses of each head.

    number: the number of buckets to examine, 0 for the run's own.
    """
    return [
        _of(
            one,
            lambda seen, one=one: measure_missed(  # type: ignore[misc]
                seen, one.variant, one.layer, one.head, one.number
            ),
        )
        for one in places
    ]


def backwards(places: Sequence[Place]) -> list[Backwards | InputError]:
    """Run the layers of each model forward and back on its request, and the feed-forward network of
    a layer in parts."""

    def there_and_back(one: Place) -> Backwards:
        return Backwards(
            rewind(one.request, one.variant), in_chunks(one.request, one.variant, one.layer)
        )

    return [_of(one, lambda _, one=one: there_and_back(one)) for one in places]  # type: ignore[misc]
