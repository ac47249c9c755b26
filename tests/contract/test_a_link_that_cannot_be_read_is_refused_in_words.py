"""A link that asks for what a lab does not do: the answer is one sentence in both languages, and it names what cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import gradio as gr
import orjson
import pytest

from explorer.engine import Engine
from explorer.labs import LABS
from explorer.site import build
from tests.conftest import built
from tests.contract.test_numbers_beyond_all_sense import events, told

LINKS = [
    *[
        ("translation", query, named)
        for query, named in (
            ("v=1&sentence=A+dog.&beam=99", "99"),
            ("v=1&sentence=A+dog.&beam=four", "four"),
            ("v=1&sentence=A+dog.&silenced=cross.17.0", "18·1"),
            ("v=1&sentence=A+dog.&alpha=nan", "nan"),
            ("v=7&sentence=A+dog.", "version 7"),
            ("v=1&sentence=", "empty"),
            ("v=1&sentence=+++", "empty"),
            ("v=1&sentence=%07%01", "empty"),
            ("v=1&sentence=" + "word+" * 300, "word pieces"),
            ("v=1&sentence=" + quote("🎈🎈🎈"), "no letter"),
        )
    ],
    *[
        ("image_transformer", query, named)
        for query, named in (
            ("v=1&temperature=90", "90"),
            ("v=1&kind=99", "99"),
            ("v=1&count=5000", "5"),
            ("v=1&mode=complete&picture=test:999", "999"),
            ("v=1&mode=complete&picture=nonsense", "28 × 28"),
            ("v=1&mode=dream", "dream"),
            ("v=1&seed=x", "seed"),
        )
    ],
    *[
        ("music", query, named)
        for query, named in (
            ("v=1&motif=%25%25%25", "motif"),
            ("v=1&mode=continue&motif=AQ", "motif"),
            ("v=1&style=polka", "polka"),
            ("v=1&motif=LgAuAC4ALgAuAC4ALgAuAA&semitones=5", "36 to 81"),
            ("v=1&silenced=lstm.0.0", "lstm"),
            ("v=1&temperature=90", "90"),
            ("v=1&seed=x", "seed"),
        )
    ],
    *[
        ("cost", query, named)
        for query, named in (
            ("v=1&length=4096&width=1000", "at this d, L can be up to 1,099."),
            ("v=1&length=99999", "99999"),
            ("v=1&task=heads&kernel=4", "K is odd"),
            ("v=1&task=heads&picture=test:99", "99"),
            ("v=1&task=heads&picture=AAAA", "28 × 28"),
            ("v=1&task=heads&without=10", "no head 10"),
            ("v=1&task=heads&alpha=nan", "nan"),
            ("v=1&window=x", "window"),
        )
    ],
    *[(slug, "v=1&length=x", "length") for slug in ("transformer_xl", "adaptive_span")],
    *[
        ("sparse_transformer", query, named)
        for query, named in (
            ("v=1&keep=x", "keep"),
            ("v=1&drawing=test:99", "99"),
            ("v=1&keep=28&stride=3&summary=5", "3"),
            ("v=1&task=text&text=" + quote("你好"), "character"),
            ("v=1&task=text&text=&length=0", "text"),
        )
    ],
    *[(slug, "v=1&text=%20%0A", "text") for slug in ("transformer_xl", "adaptive_span")],
    *[(slug, "v=1&page=ulysses&text=", "ulysses") for slug in ("transformer_xl", "adaptive_span")],
    ("reformer", "v=1&text=", "letter"),
    ("universal_transformer", "v=1&question=", "question"),
    ("reformer", "v=1&text=abba&rounds=99", "99"),
    *[
        ("act_rnn", query, named)
        for query, named in (
            ("v=1&epsilon=7", "ε is 7.0"),
            ("v=1&forced=99", "99"),
            ("v=1&limit=x", "limit"),
            ("v=1&task=sort", "sort"),
            ("v=1&task=parity&text=12", "“2” is no bit"),
            ("v=1&told=maybe", "told"),
            ("v=1&text=", "There is no sum"),
            ("v=1&text=1234567%2B1", "7 digits"),
            ("v=1&task=parity&text=" + "1" * 17, "17 bits"),
        )
    ],
    ("universal_transformer", "v=1&task=sort", "sort"),
]


@pytest.fixture(scope="module")
def pages() -> Iterator[gr.Blocks]:
    """The pages of all labs, at an engine that computes."""
    engine = Engine()
    yield built(lambda: build(LABS, engine))
    engine.close(0)


def refusals(values: Any) -> Iterator[dict[str, str]]:
    """The sentence of every widget that shows a refusal."""
    if isinstance(values, dict):
        if values.get("state") == "refused" and values.get("error"):
            yield values["error"]
        values = list(values.values())
    for value in values if isinstance(values, list) else []:
        yield from refusals(value)


@pytest.mark.parametrize(("slug", "query", "named"), LINKS, ids=[f"{slug}-{query[:40]}" for slug, query, _ in LINKS])
def test_a_link_is_refused_in_one_sentence_that_names_what_cannot_be(pages: gr.Blocks, slug: str, query: str, named: str) -> None:
    lab = next(lab for lab in LABS if lab.slug == slug)
    handlers = dict(reversed(events(pages, lab).values()))  # of events of one name that which draws most
    handler = handlers.get("open") or handlers["ask"]  # a page with one handler has one event for every wish
    found = list(refusals([orjson.loads(said) for said in told(handler, {"query": query, "wish": 1})]))
    assert len(found) == 1, found
    assert named in found[0]["en"] and found[0]["zh"] != found[0]["en"]
