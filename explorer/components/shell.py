"""The frame around every page: top bar, the family in the rail, guided steps, keys, projector mode.

The server answers ``GET /qr?text=<address of this site>`` with `explorer.web.qr.draw_svg`;
everything else happens in the browser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import gradio as gr

from explorer.components.base import place_widget, write_vendor_address
from explorer.components.border import (
    CurrentLab,
    LabBefore,
    LabGroup,
    LabLink,
    NetworkPart,
    NextLab,
    ShellProps,
    StepProps,
)
from explorer.contract import labels
from explorer.contract.lab import GuidedStep, OpenLab
from explorer.values.packing import record_fields


def place_shell(
    labs: Sequence[OpenLab],
    here: OpenLab | None = None,
    *,
    lecture: str | None = None,
    compare: str | None = None,
    at: str = "map",
) -> gr.HTML:
    """Place the frame, first on its page.

    labs: the family, in teaching order. The rail shows it by year, and only the year of `here`
        unfolded.
    here: the lab of this page, None for the family map. A closed lab stands in the rail, and no
        step leads to it.
    lecture, compare: addresses of the guided lecture and of two pictures side by side, None while
        there are none.
    at: the page's place where it belongs to no lab: "map", "lecture" or "compare".
    """
    place = labs.index(here) if here is not None else len(labs)
    before, ahead = (
        [lab for lab in some if lab.steps]
        for some in (labs[:place] if here is not None else (), labs[place + 1 :])
    )
    props = ShellProps(
        site=labels.SITE,
        words=labels.SHELL,
        grammar=labels.GRAMMAR,
        grammar_in_full=labels.GRAMMAR_IN_FULL,
        years=[
            LabGroup(name, [LabLink(lab.slug, lab.path, lab.short, lab.year) for lab in group])
            for name, group in _group_by_year(labs)
        ],
        first=labs[0].path if labs else None,
        lecture=lecture,
        compare=compare,
        at="" if here else at,
        here=None if here is None else _describe_lab(here),
        steps=[_describe_step(step) for step in (here.steps if here else ())],
        network=[
            [NetworkPart(part.name, part.panel, part.view) for part in column]
            for column in (here.network if here else ())
        ],
        onward=NextLab(ahead[0].path, ahead[0].short) if ahead else None,
        plotly=write_vendor_address("plotly"),
        before=LabBefore(before[-1].path, len(before[-1].steps)) if before else None,
    )
    return place_widget("shell", classes=["tfe-with-rail"] if here else [], **record_fields(props))


def _describe_lab(lab: OpenLab) -> CurrentLab:
    return CurrentLab(lab.slug, lab.title, lab.short, lab.paper, lab.authors, lab.year, lab.arxiv)


def _describe_step(step: GuidedStep) -> StepProps:
    return StepProps(
        title=step.title,
        question=step.projected_question,
        guess=step.guess,
        say=step.say,
        query=step.query,
        view=step.view,
        panel=step.figure_name,
        figure=step.figure,
    )


def _group_by_year(labs: Sequence[OpenLab]) -> Iterator[tuple[dict[str, str], list[OpenLab]]]:
    """Yield the labs by year: (name of the year, its labs). The years before the lab that most
    others descend from are one group."""
    heirs = Counter(slug for lab in labs for slug in lab.ancestors)
    root = max(labs, key=lambda lab: heirs[lab.slug]).year if labs else 0
    for year, group in groupby(
        sorted(labs, key=lambda lab: lab.year), key=lambda lab: max(lab.year, root - 1)
    ):
        names = dict(labels.HOME["before"]) if year < root else {"en": "{year}", "zh": "{year}"}
        yield {lang: name.format(year=max(year, root)) for lang, name in names.items()}, list(group)
