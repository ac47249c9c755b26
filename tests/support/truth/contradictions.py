"""Compare every printed sentence with the arrays that it speaks of. The oracle reads numbers and
names out of the finished sentence.

A rule is (view, pattern, check): where the pattern is found, `check` computes the same from the
view's arrays, and returns a complaint. Rules for every view come first: no change below the
rounding, no part larger than its whole, no number that differs between languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from explorer.contract.lab import OpenLab
from tests.support.truth import of_changes, of_figures, of_pictures
from tests.support.truth.everywhere import EVERY
from tests.support.truth.printed import plain
from tests.support.truth.saying import Said, Sayings

RULES = (*of_pictures.RULES, *of_figures.RULES, *of_changes.RULES)


def contradictions(said: Said) -> Iterator[str]:
    """Yield the contradictions between a sentence and its figure, a complaint each."""
    text = plain(said.text)
    rules = [
        *EVERY,
        *((pattern, check) for view, pattern, check in RULES if view == said.view.split(".")[0]),
    ]
    for pattern, check in rules:
        for found in re.finditer(pattern, text, re.S):
            wrong = check(found, said)
            if wrong:
                yield f"{said.lab} {said.view}: {wrong}: “{text}”"
    if said.chinese:
        english, chinese = (
            sorted(re.findall(r"\d+\.\d+", re.sub(r"⟦.*?⟧|“.*?”", "", one)))
            for one in (said.text, said.chinese)
        )
        if english != chinese:
            yield f"{said.lab} {said.view}: in Chinese the numbers are {chinese}, not {english}"


def measured(inputs: int, labs: Sequence[OpenLab], seed: int = 0) -> dict[str, Any]:
    """Check this many different inputs of each lab and return {"sentences", "unread": views without
    a rule of their own, "found": complaints}."""
    heard, unread, found = 0, dict[str, str](), list[str]()
    with Sayings() as sayings:
        for lab in labs:
            for every in sayings.accepted(lab, inputs, seed=seed):
                heard += len(every)
                for said in every:
                    found += contradictions(said)
                    if not told(said):
                        unread.setdefault(f"{lab.slug} {said.view}", said.text)
    return {"sentences": heard, "unread": unread, "found": found}


def told(said: Said) -> bool:
    """Return whether a rule of its own speaks of this sentence."""
    text = plain(said.text)
    return any(
        view == said.view.split(".")[0] and re.search(pattern, text, re.S)
        for view, pattern, _ in RULES
    )
