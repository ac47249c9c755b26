"""A link that asks for what a lab does not do: the answer is one sentence in both languages, and it
names what cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import gradio as gr
import orjson
import pytest

from explorer.contract import labels
from explorer.engine import Engine
from explorer.labs import LABS
from tests.contract.test_numbers_beyond_all_sense import events, told
from tests.explorer.wishes import opened, program_of

# Of each lab what its links ask for, and what the sentence names. What no field of the kind could
# hold is refused by one codec (tests/explorer/contract/test_permalink.py), and in every lab once
# (test_a_walk_through_every_lab.py).
LINKS = {
    "translation": {
        "v=1&sentence=A+dog.&beam=99": "99",
        "v=1&sentence=A+dog.&silenced=cross.17.0": "18·1",
        "v=1&sentence=": "empty",
        "v=1&sentence=%07%01": "empty",
        "v=1&sentence=" + "word+" * 300: "word pieces",
        "v=1&sentence=" + quote("🎈🎈🎈"): "no letter",
    },
    "image_transformer": {
        "v=1&temperature=90": "90",
        "v=1&kind=99": "99",
        "v=1&count=5000": "5",
        "v=1&mode=complete&picture=test:999": "999",
        "v=1&mode=complete&picture=nonsense": "28 × 28",
    },
    "music": {
        "v=1&motif=%25%25%25": "motif",
        "v=1&mode=continue&motif=AQ": "motif",
        "v=1&motif=LgAuAC4ALgAuAC4ALgAuAA&semitones=5": "36 to 81",
        "v=1&silenced=lstm.0.0": "lstm",
        "v=1&temperature=90": "90",
    },
    "detection": {
        "v=1&scene=99": "no ground 99",
        "v=1&scene=0,1.0.5.5.200.1": "200",
        "v=1&scene=0,1.d.5.5.20.1": "28 × 28",
        "v=1&picture=AAAA": "picture",
        "v=1&silenced=cross.3.0": "4·1",
    },
    "cost": {
        "v=1&length=4096&width=1000": "at this d, L can be up to 1,099.",
        "v=1&length=99999": "99999",
        "v=1&task=heads&kernel=4": "K is odd",
        "v=1&task=heads&picture=test:99": "99",
        "v=1&task=heads&picture=AAAA": "28 × 28",
        "v=1&task=heads&without=10": "no head 10",
    },
    "sparse_transformer": {
        "v=1&drawing=test:99": "99",
        "v=1&keep=28&stride=3&summary=5": "3",
        "v=1&task=text&text=" + quote("你好"): "character",
        "v=1&task=text&text=&length=0": "text",
    },
    "transformer_xl": {"v=1&text=%20%0A": "text", "v=1&page=ulysses&text=": "ulysses"},
    "adaptive_span": {"v=1&text=%20%0A": "text", "v=1&page=ulysses&text=": "ulysses"},
    "reformer": {"v=1&text=": "letter"},
    "act_rnn": {
        "v=1&epsilon=7": "ε is 7.0",
        "v=1&forced=99": "99",
        "v=1&task=parity&text=12": "“2” is no bit",
        "v=1&text=": "There is no sum",
        "v=1&text=1234567%2B1": "7 digits",
        "v=1&task=parity&text=" + "1" * 17: "17 bits",
    },
    "universal_transformer": {"v=1&question=": "question"},
}


def refusals(values: Any) -> Iterator[dict[str, str]]:
    """The sentence of every widget that shows a refusal."""
    if isinstance(values, dict):
        if values.get("state") == "refused" and values.get("error"):
            yield values["error"]
        values = list(values.values())
    for value in values if isinstance(values, list) else []:
        yield from refusals(value)


@pytest.mark.parametrize(
    ("slug", "query"),
    [
        pytest.param(slug, query, id=f"{slug}-{query[:40]}")
        for slug in LINKS
        for query in LINKS[slug]
    ],
)
def test_the_refusal_names_what_is_wrong(pages: gr.Blocks, slug: str, query: str) -> None:
    lab = next(lab for lab in LABS if lab.slug == slug)
    # of events of one name that which draws most
    handlers = dict(reversed(events(pages, lab).values()))
    # a page with one handler has one event for every wish
    handler = handlers.get("open") or handlers["ask"]
    found = list(
        refusals([orjson.loads(said) for said in told(handler, {"query": query, "wish": 1})])
    )
    assert len(found) == 1, found
    assert LINKS[slug][query] in found[0]["en"] and found[0]["zh"] != found[0]["en"]


@pytest.mark.parametrize(
    ("view", "query"), [("plane", "v=1&text=A&variant=words"), ("bertviz", "v=1&mode=learn")]
)
def test_a_view_of_another_task_is_refused_and_nothing_runs(
    view: str, query: str, engine: Engine
) -> None:
    before = engine.snapshot().asked
    said = opened(program_of("language_model"), view, {"run": query}, engine)
    assert said["error"] == labels.NO_SUCH_VIEW and engine.snapshot().asked == before
