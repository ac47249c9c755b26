"""The projected lecture in a real browser: whether every step shows its own figure, readable and
whole, and how soon after the key.

Every step of every lab is reached by PageDown, at 1280 × 720 or `--size 1024x768`, in English or
`--lang zh`. The first screens are read at 1440 × 900 and on a phone of 360 × 780. Then every
sentence of `--inputs 50` inputs of each lab is compared with its figure (truth/).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as TooLate

from benchmarks.measure import Bound, Report
from benchmarks.sizes import size
from explorer.contract.lab import OpenLab
from tests.support.truth import contradictions
from tests.support.visitors.browser import page
from tests.support.visitors.served import prepared
from tests.support.visitors.small_app import LABS

INPUTS = size("50", "1")  # of each lab, whose sentences are compared with their figures
DESK, PHONE = (1440, 900), (360, 780)
# The requested step is in view: its question is the title, its own figure is the one on show, and
# it is drawn.
SHOWN = """(asked) => {
  const shown = document.querySelector(".tfe-projected");
  const own = document.querySelector(`.tfe-${asked.panel}`);
  return document.querySelector(".tfe-projector-title")?.textContent === asked.question &&
    shown?.getClientRects().length > 0 && own &&
    (shown === own || shown.contains(own) || own.contains(shown)) &&
    !document.querySelector(".tfe-projected :is(.tfe-stale, .is-older)") &&
    Boolean(shown.querySelector("canvas, [data-plot=stands], svg"));
}"""
# Pictures are painted one after another, a frame each: a figure that was on the page already has
# then been drawn for the hall.
FRAMES = "async () => { for (let n = 0; n < 12; n += 1) await new Promise(requestAnimationFrame); }"
# The view of a hall: the smallest letters in pixels, and the parts that are cut off by the screen
# or lie under the code.
SEEN = """() => {
  const shown = document.querySelector(".tfe-projected");
  const code = document.querySelector(".tfe-projector-code").getBoundingClientRect();
  const letters = [], cut = [], tall = innerHeight;
  const [head, foot] = ["head", "foot"].map(
    (end) => document.querySelector(`.tfe-projector-${end}`));
  for (const part of [head, shown, foot]) {
    const walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode()); ) {
      const at = node.parentElement, box = at.getBoundingClientRect();
      const visible = at.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!node.textContent.trim() || !visible || box.width < 2) continue;
      const pixels = parseFloat(getComputedStyle(at).fontSize);
      letters.push([pixels, node.textContent.trim().slice(0, 30)]);
    }
  }
  for (const canvas of shown.querySelectorAll("canvas")) {
    const scale = canvas.getBoundingClientRect().width / (canvas.offsetWidth || 1) || 1;
    for (const mark of canvas.marks ?? [])
      if (mark.kind === "text" && mark.text) letters.push([mark.size * scale, mark.text]);
  }
  for (const node of shown.querySelectorAll(".tfe-words, .tfe-note, canvas, .tfe-figure-plot")) {
    const box = node.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const name = node.className || node.tagName;
    if (box.bottom > tall + 1 || box.right > innerWidth + 1) cut.push(`${name} beyond the screen`);
    else if (code.width && box.right > code.left && box.bottom > code.top)
      cut.push(`${name} under the code`);
  }
  return { letters: letters.sort((a, b) => a[0] - b[0]).slice(0, 3), cut };
}"""
UNSEEN = {"letters": [[math.inf, ""]], "cut": []}  # of a step whose own figure is missing
# Whether the input, the first figure and its sentence stand on the first screen; and on a phone,
# the figure.
FIRST = """() => {
  const within = (node) => node && node.getBoundingClientRect().height > 0 &&
    node.getBoundingClientRect().bottom <= innerHeight;
  const figures = [...document.querySelectorAll(".gradio-container .tfe-projectable")];
  const figure = figures.find((one) => one.getBoundingClientRect().height > 20);
  const picture = figure?.querySelector("canvas, .tfe-figure-plot, svg");
  return {
    sentence: within(document.querySelector(".tfe-ask")) &&
      within(figure?.querySelector(".tfe-words")),
    figure: Boolean(picture) && picture.getBoundingClientRect().top < innerHeight - 120 };
}"""


def measure(
    device: torch.device, size: str = "1280x720", lang: str = "en", inputs: str = INPUTS
) -> Report:
    """Measure every step of every lab, then its sentences.

    inputs: those of each lab, at least 1.
    """
    width, height = map(int, size.split("x"))
    walked: list[dict[str, Any]] = []
    first: dict[tuple[int, int], list[dict[str, Any]]] = {DESK: [], PHONE: []}
    with prepared() as served:
        with page(width, height) as tab:
            for lab in LABS:
                walked += walk(tab, served.url, lab, lang)
        for screen, found in first.items():
            with page(*screen) as tab:
                found += [open_lab(tab, served.url, lab) for lab in LABS]
    truth = contradictions.measured(int(inputs), LABS)
    times = sorted(one["ms"] for one in walked if one["ms"] is not None)
    small = min(walked, key=lambda one: float(one["letters"][0][0]))
    cut = [one for one in walked if one["cut"]]
    return Report.of(
        figures={
            "own_figure_ratio": (
                sum(one["own"] for one in walked) / len(walked),
                Bound(1, at_least=True),
            ),
            "smallest_px": (small["letters"][0][0], Bound(20, at_least=True)),
            "clipped": (len(cut), Bound(0)),
            "contradictions": (len(truth["found"]), Bound(0)),
            "step_p95_ms": (times[int(0.95 * (len(times) - 1))], Bound(500)),
            "sentence_above_fold_ratio": (
                sum(bool(one["sentence"]) for one in first[DESK]) / len(LABS),
                Bound(1, at_least=True),
            ),
            "figure_on_first_screen_ratio": (
                sum(one["figure"] for one in first[PHONE]) / len(LABS),
                Bound(1, at_least=True),
            ),
        },
        notes={
            "walked": f"{len(walked)} steps at {size}, {lang}",
            "sentences": f"{truth['sentences']} of {inputs} inputs of each lab",
            "contradictions": "\n    ".join(["", *truth["found"]]) or "none",
            "not their own": "; ".join(one["name"] for one in walked if not one["own"]) or "none",
            "small letters": (
                "; ".join(
                    f"{one['name']} {one['letters'][0]}"
                    for one in walked
                    if one["letters"][0][0] < 20
                )
                or "none"
            ),
            "clipped": "; ".join(f"{one['name']} {one['cut']}" for one in cut) or "none",
            "sentence below the fold": (
                ", ".join(
                    lab.slug
                    for lab, one in zip(LABS, first[DESK], strict=True)
                    if not one["sentence"]
                )
                or "none"
            ),
            "no figure on a phone": (
                ", ".join(
                    lab.slug
                    for lab, one in zip(LABS, first[PHONE], strict=True)
                    if not one["figure"]
                )
                or "none"
            ),
        },
    )


def walk(tab: Page, url: str, lab: OpenLab, lang: str = "en") -> Iterator[dict[str, Any]]:
    """Yield the view of each step of a lab, and the milliseconds after PageDown; None for the
    first, which opens the page."""
    tab.goto(f"{url}{lab.path}?step=1&lecture=projector&lang={lang}")
    for number, step in enumerate(lab.steps, 1):
        asked = {
            "panel": step.figure or step.figure_name,
            "question": step.projected_question[lang],
        }
        milliseconds = None
        if number > 1:
            tab.evaluate(
                f"(asked) => stopwatch.begin('keydown', () => ({SHOWN})(asked), document.body)",
                asked,
            )
            tab.keyboard.press("PageDown")
        try:
            tab.wait_for_function(SHOWN, arg=asked, timeout=30_000)
            own = True
            milliseconds = float(tab.evaluate("stopwatch.milliseconds()")) if number > 1 else None
        except TooLate:
            own = False
        if step.guess is not None:
            tab.keyboard.press("Enter")  # the figure is covered until it is opened
        tab.evaluate(FRAMES)
        seen = tab.evaluate(SEEN) if own else UNSEEN
        yield {"name": f"{lab.slug} {number}", "own": own, "ms": milliseconds, **seen}


def open_lab(tab: Page, url: str, lab: OpenLab) -> dict[str, Any]:
    """Open a lab and return the parts of it that stand on its first screen."""
    tab.goto(f"{url}{lab.path}")
    tab.wait_for_selector("[data-drawn]", state="attached")
    tab.wait_for_load_state("networkidle")
    found: dict[str, Any] = tab.evaluate(FIRST)
    return found
