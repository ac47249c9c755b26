"""Panels with pieces that look like markup: they are text on the page and in every file."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.folded import show_answer
from explorer.labs.translation.figures.weight import describe_head
from explorer.labs.translation.panels import beam, forced, weight
from models.translation.forced_records import Forced
from models.translation.records import MAX_CHARACTERS, Request
from models.translation.search_records import Tree
from tests.browser import attending
from tests.browser.staged import Picture, answering, listen

HOSTILE = [
    *attending.HOSTILE,
    "{k}",
    "⟦q:x⟧",
    "]]>",
    "<!--",
    "'\"><script>alert(7)</script>",
    "url(https://outside.example/x)",
    "var(--ink)",
]


def tree() -> dict[str, object]:
    """A search whose pieces are hostile."""
    n = len(HOSTILE)
    steps, parents = (
        [0, *(1 + i // 4 for i in range(n))],
        [-1, *(0 if i < 4 else 1 + 4 * (i // 4 - 1) for i in range(n))],
    )
    fates = [
        "kept",
        *("finished" if i >= n - 4 else "kept" if i % 4 == 0 else "passed" for i in range(n)),
    ]
    made = Tree(
        pieces=("<s>", *HOSTILE),
        space=(True,) * (n + 1),
        fates=tuple(fates),
        texts=tuple(HOSTILE[i - 1] if fate == "finished" else "" for i, fate in enumerate(fates)),
        parent=np.array(parents, np.int32),
        step=np.array(steps, np.int32),
        rank=np.array([0, *(1 + i % 4 for i in range(n))], np.int32),
        log_probability=np.full(n + 1, -0.5, np.float32),
        total=-0.5 * np.array(steps, np.float64) - 0.01 * np.arange(n + 1),
        stop=np.full(n + 1, -1.0, np.float32),
        beam=4,
        limit=5,
        endless=False,
        greedy=(1,),
        greedy_text=HOSTILE[0],
        greedy_total=-1.0,
        greedy_length=4,
    )
    return beam.draw_tree(made, Request("x", 4))


def reading() -> dict[str, object]:
    """A German sentence whose pieces are hostile."""
    n, random = len(HOSTILE), np.random.default_rng(1)
    made = Forced(
        source=tuple(HOSTILE),
        source_space=(True,) * n,
        target=tuple(HOSTILE),
        target_space=(True,) * n,
        german=" ".join(HOSTILE),
        own=HOSTILE[1],
        own_log_probability=-1.0,
        own_length=3,
        log_probabilities=-random.random(n).astype(np.float32) * 5,
        ranks=np.arange(1, n + 1, dtype=np.int32),
        favourites=tuple(tuple(HOSTILE[(i + k) % n] for k in range(5)) for i in range(n)),
        probabilities=np.full((n, 5), 0.1, np.float32),
        cross=random.random((2, 2, n, n)).astype(np.float32),
    )
    return forced.draw_panel(made)


def attention() -> dict[str, object]:
    """A head whose pieces are hostile."""
    random = np.random.default_rng(3)
    arrays = {
        name: random.normal(size=(len(HOSTILE), 8)).astype(np.float32)
        for name in ("query", "key", "value")
    }
    return describe_head(
        "cross", (0, 0), (1, 1), **arrays, queries=HOSTILE, keys=HOSTILE, causal=True
    )


PANELS = ((weight.PANEL, attention), (beam.PANEL, tree), (forced.PANEL, reading))
PAGES = {
    "trial": answering(
        *(
            (
                lambda panel=panel: panel.place(None),
                lambda question, made=made: show_answer(question, **made()),
            )
            for panel, made in PANELS
        )
    )
}


LOOK = "(look) => window.view.set(look)"


@pytest.mark.parametrize("panel", ["weight", "beam", "forced"])
def test_hostile_tokens_stay_text_everywhere(site: str, page_watch: Page, panel: str) -> None:
    page, n = page_watch, len(HOSTILE)
    picture = Picture(page, f"{panel} .tfe-stage").open(
        f"{site}/trial?lang=en&_{panel}=open&_kind=cross&_head=1.1"
    )
    looks: dict[str, list[dict[str, int]]] = {
        "weight": [{"row": row, "col": row * 7 % n, "wstep": 1 + row % 5} for row in range(n)],
        "beam": [{"bnode": node} for node in range(1, n + 1)],
        "forced": [{"fword": word} for word in range(n)],
    }
    listen(page, "nothing")
    for look in looks[panel]:
        page.evaluate(LOOK, look)
        for key, value in look.items():
            if (key, value) != ("wstep", 1):
                page.wait_for_selector(
                    f".tfe-{panel}"
                    f" .tfe-stage[data-drawn~='{key}={value}']:not([data-drawn$=waits])",
                    state="attached",
                )
    for kind in ("SVG", "HTML"):
        text = picture.saved(kind)[1].decode()
        assert "<img" not in text and HOSTILE[0] not in text
    assert "'=cmd()" in picture.saved("CSV")[1].decode("utf-8-sig")
    picture.find(".tfe-export[data-kind=table]").click()
    assert HOSTILE[0] in picture.find(".tfe-stage-table").inner_text().replace("␣", " ")
    assert (
        page.locator(
            f".tfe-{panel} :is(img, script, b b, iframe, a:not(.tfe-stage-take > a), link, base)"
        ).count()
        == 0
    )
    alone = page.context.new_page()
    alone.on("pageerror", lambda error: pytest.fail(str(error)))
    alone.set_content(text)
    alone.wait_for_selector("[data-drawn]")
    before = alone.locator("[data-drawn]").get_attribute("data-drawn")
    alone.locator(".tfe-stage-board").press("ArrowLeft")
    expect(alone.locator("[data-drawn]")).not_to_have_attribute("data-drawn", str(before))


def test_german_of_one_s_own_is_counted_in_whole_characters(site: str, page_watch: Page) -> None:
    page = page_watch
    Picture(page, "forced .tfe-stage").open(f"{site}/trial?lang=en&_forced=open")
    box, refusal = (
        page.locator(".tfe-forced textarea"),
        page.locator(".tfe-forced-form [role=alert]"),
    )
    box.fill("🐕" * (MAX_CHARACTERS + 1))
    box.press("Enter")
    expect(refusal).to_contain_text(
        f"Your German has {MAX_CHARACTERS + 1:,} characters; at most {MAX_CHARACTERS:,}"
    )
    box.fill("🐕" * MAX_CHARACTERS)
    expect(refusal, "what is typed is not judged before it is sent").to_be_hidden()
    box.press("Enter")
    expect(box).to_have_value(" ".join(HOSTILE))
    expect(refusal).to_be_hidden()
