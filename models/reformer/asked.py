"""What a page asks of one model of a run beside the run itself: a head's hashing, what it misses, its layers backwards; as batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from models.errors import InputError
from models.reformer.explain import explain, hashing, in_chunks, missed, rewind
from models.reformer.records import Backwards, Explanation, Hashing, Missed, Place, Request

T = TypeVar("T")

GONE = InputError("head", en="This run has no such model, head or round.", zh="这次运行没有这样的模型、注意力头或轮次。")


@lru_cache(maxsize=8)
def _seen(request: Request) -> Explanation | InputError:
    """A run, made once for whatever is asked of it."""
    return explain([request])[0]


def _of(place: Place, ask: Callable[[Explanation], T]) -> T | InputError:
    seen = _seen(place.request)
    if isinstance(seen, InputError):
        return seen
    try:
        return ask(seen)
    except (IndexError, ValueError):
        return GONE


def hashings(places: Sequence[Place]) -> list[Hashing | InputError]:
    """One round of one head each, step by step. An InputError where there is none."""
    return [_of(one, lambda seen, one=one: hashing(seen, one.variant, one.layer, one.head, one.number)) for one in places]  # type: ignore[misc]


def misses(places: Sequence[Place]) -> list[Missed | InputError]:
    """What hashing misses of each head; number: of buckets that are looked at, 0 for the run's own."""
    return [_of(one, lambda seen, one=one: missed(seen, one.variant, one.layer, one.head, one.number)) for one in places]  # type: ignore[misc]


def backwards(places: Sequence[Place]) -> list[Backwards | InputError]:
    """Layers of each model forward and back on its request, and the feed-forward network of a layer in parts."""

    def there_and_back(one: Place) -> Backwards:
        return Backwards(rewind(one.request, one.variant), in_chunks(one.request, one.variant, one.layer))

    return [_of(one, lambda _, one=one: there_and_back(one)) for one in places]  # type: ignore[misc]
