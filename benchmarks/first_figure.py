"""Three times in a real browser on the real app: a page opened for the first time; from a typed
sentence to its painted attention; from head to head.

Fifteen words, greedy search. The clock starts when the key goes down and stops when the browser has
painted the large map of the new sentence, which comes last: words, all small maps and the sentence
under the map stand by then. A page is opened in a context that holds nothing, in Translation and in
every lab (visitors/cold.py). Heads are switched in Translation and in the first picture of every
lab that has several.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice

import torch
from playwright.sync_api import Page

from benchmarks.measure import Bound, Report, median
from benchmarks.sizes import size
from tests.support.visitors import cold
from tests.support.visitors.browser import page
from tests.support.visitors.sentences import captions
from tests.support.visitors.served import prepared
from tests.support.visitors.small_app import LABS

WORDS = 15
RUNS, SWITCHES, OPENINGS, ELSEWHERE = size((9, 24, 3, 8), (1, 1, 1, 1))
TRANSLATION = "/translation"
# the limits of an opening
COLD = {"requests": 40, "script_kb": 120, "blocked_ms": 800, "ready_ms": 1800}
# The words along the map that Plotly has painted.
KEYS = (
    "[...document.querySelectorAll('.tfe-attention .tfe-stage-plot[data-plot=stands] .xtick text')]"
    ".map((node) => node.textContent).join(' ')"
)
NEVER = size(2000, 30_000)  # milliseconds after which no other head will come
# The first picture that shows heads, and the head in view.
VIEW = (
    "[...document.querySelectorAll('[data-drawn]')].find((view) => /"
    " ?head=\\d/.test(view.dataset.drawn))"
)
HEAD = "view.dataset.drawn.match(/head=(\\S+)/)[1]"
READY = (
    "document.querySelector('.tfe-ask[data-view]') &&"
    " document.querySelector('[data-drawn]:not([data-drawn=\"\"])')"
)


def measure(device: torch.device) -> Report:
    """Measure medians over nine sentences, the first of ten left out, over 24 heads, and over eight
    in each lab."""
    with prepared() as served:
        with page() as tab:
            submits, switches, requests, known = measure_tab(tab, served.url, RUNS, SWITCHES)
            heads = {
                lab.path: median(times)
                for lab in LABS
                if (times := time_switches(tab, served.url + lab.path, ELSEWHERE))
            }
        openings = {
            path: asdict(one)
            for path, one in cold.measured(served.url, [lab.path for lab in LABS], OPENINGS).items()
        }
    worst = {
        name: max(openings, key=lambda path: openings[path][name]) for name in openings[TRANSLATION]
    }
    return Report.of(
        figures={
            **{
                name: (value, Bound(COLD[name])) if name in COLD else value
                for name, value in openings[TRANSLATION].items()
            },
            **{f"{name}_worst_lab": openings[path][name] for name, path in worst.items()},
            "submit_to_painted_ms": (median(submits), Bound(400)),
            "head_switch_ms": (median(switches), Bound(50)),
            "head_switch_requests": (requests, Bound(0)),
            "submit_slowest_ms": max(submits),
            "head_switch_slowest_ms": max(switches),
            "head_switch_worst_lab_ms": (max(heads.values()), Bound(50)),
            "model_ms": median(known),
        },
        notes={
            "cold": (
                f"{OPENINGS} times each lab opened in a context that holds nothing, at {cold.WIDTH}"
                f" × {cold.HEIGHT}"
            ),
            "worst lab": ", ".join(f"{name} {path}" for name, path in worst.items()),
            "submit": (
                f"{RUNS} sentences of {WORDS} words, greedy, none known to the server; Enter goes"
                " down → the large map is painted"
            ),
            "head switch": (
                f"{SWITCHES} times arrow down → the next head's map is painted; every request of"
                " the page meanwhile is counted"
            ),
            "head switch, worst lab": ", ".join(
                f"{path} {ms:.0f}" for path, ms in sorted(heads.items(), key=lambda one: -one[1])
            ),
            "model_ms": "of it, what the server says that the model took",
        },
    )


def measure_tab(
    tab: Page, url: str, runs: int, switches: int
) -> tuple[list[float], list[float], int, list[float]]:
    """Measure the milliseconds of each submit and of each switch, the requests of all switches, and
    the model's milliseconds of each submit."""
    tab.goto(f"{url}/translation")
    tab.wait_for_selector(".tfe-attention[data-drawn]", state="attached")
    tab.wait_for_load_state("networkidle")
    sentences = (sentence for sentence in captions() if len(sentence.split()) == WORDS)
    submits, models = [], []
    for sentence in islice(sentences, runs + 1):
        submits.append(submit(tab, sentence))
        models.append(model_ms(tab))
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    times = several(tab, switches)
    return submits[1:], times, len(asked), models[1:]


def submit(tab: Page, sentence: str) -> float:
    """Return the milliseconds from Enter until the sentence's own map is painted."""
    box = tab.locator(".tfe-ask-story")
    box.fill(sentence)
    box.focus()
    # Other words stand along the map than before, and they are drawn.
    tab.evaluate(f"""() => {{
            const before = {KEYS}, root = document.querySelector('.tfe-attention');
            stopwatch.begin('keydown', () => {KEYS} && {KEYS} !== before, root);
        }}""")
    tab.keyboard.press("Enter")
    milliseconds: float = tab.evaluate("stopwatch.milliseconds()")
    tab.wait_for_function(
        "document.querySelector('.tfe-ask-panel, .tfe-ask [aria-busy]')?.getAttribute('aria-busy')"
        " !== 'true'"
    )
    return milliseconds


def model_ms(tab: Page) -> float:
    """Return the milliseconds of the badge: "live · 214 ms · cpu"."""
    words = tab.locator(".tfe-ask .tfe-badge").inner_text().split()
    return float(words[words.index("ms") - 1]) if "ms" in words else float("nan")


def time_switches(tab: Page, url: str, times: int) -> list[float]:
    """Return the milliseconds of each switch of heads in the first picture of a page that has
    several; none where there is no picture of this kind."""
    tab.goto(url)
    tab.wait_for_function(READY)
    tab.wait_for_load_state("networkidle")
    return several(tab, times) if tab.evaluate(f"Boolean({VIEW})") else []


def several(tab: Page, times: int) -> list[float]:
    """Return the milliseconds from the arrow key until the next head is painted, `times` times, a
    first one left out; none where there is one head."""
    tab.evaluate(f"{VIEW}.querySelector('.tfe-stage-board').focus()")
    return [found for found in [switch(tab) for _ in range(times + 1)][1:] if found is not None]


def switch(tab: Page) -> float | None:
    """Return the milliseconds from the arrow key until the next head is painted; None where none
    comes."""
    tab.evaluate(
        f"() => {{ const view = {VIEW}, before = {HEAD}; stopwatch.begin('keydown', () => {HEAD}"
        " !== before, view); }"
    )
    tab.keyboard.press("ArrowDown")
    patience = f"new Promise((end) => setTimeout(() => end(null), {NEVER}))"
    found: float | None = tab.evaluate(f"Promise.race([stopwatch.milliseconds(), {patience}])")
    return found
