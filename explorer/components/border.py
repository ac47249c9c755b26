"""The props of widgets as records: what Python sends and scripts read.

``python -m tools.border`` writes explorer/frontend/border.d.ts from them, so that a field that is
renamed here fails in ``deno check``, not in a browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.contract.labels import Text

Pairs = Sequence[tuple[Text, Text]]


@dataclass(frozen=True)
class InputBarProps:
    """The props of the input bar.

    typing: addresses of the inputs' modules by kind.
    run: the text of its button, where it is not "Ask".
    controls, examples: as the page's program describes them.
    answers: names of all widgets that the answer to a request draws.
    begins: whether a bare address requests the first example.
    """

    typing: Mapping[str, str]
    region: Text
    run: Text | None
    controls: Sequence[Mapping[str, object]]
    examples: Sequence[Mapping[str, object]]
    answers: Sequence[str]
    begins: bool


@dataclass(frozen=True)
class StageProps:
    """The props of a picture: the widget's name, addresses of Plotly and of the picture's module,
    and its texts."""

    view: str
    plotly: str
    picture: str
    texts: Mapping[str, Text]


@dataclass(frozen=True)
class FigureProps:
    """The props of a figure: the address of Plotly, and whether it is the page's own subject."""

    plotly: str
    main: bool = False


@dataclass(frozen=True)
class ChangePanelProps:
    """The props of the panel of changes: its controls, whether it is as wide as the page, and the
    addresses of its pictures' modules."""

    controls: Sequence[Mapping[str, object]]
    across: bool
    pictures: Mapping[str, str]


@dataclass(frozen=True)
class LabLink:
    """A lab in the list of labs."""

    slug: str
    path: str
    short: Text
    year: int


@dataclass(frozen=True)
class LabGroup:
    """The labs of one year."""

    name: Text
    labs: Sequence[LabLink]


@dataclass(frozen=True)
class CurrentLab:
    """The lab of a page."""

    slug: str
    title: Text
    short: Text
    paper: str
    authors: str
    year: int
    arxiv: str


@dataclass(frozen=True)
class StepProps:
    """A guided step: what it says, what it requests and selects, and the figure it projects."""

    title: Text
    question: Text
    guess: Text | None
    say: Text
    query: str
    view: Mapping[str, object]
    panel: str
    figure: str


@dataclass(frozen=True)
class NetworkPart:
    """A part of the network's drawing, with the panel and the selection that it opens."""

    name: Text
    panel: str
    view: Mapping[str, object]


@dataclass(frozen=True)
class NextLab:
    """The lab after the open one."""

    path: str
    short: Text


@dataclass(frozen=True)
class LabBefore:
    """The lab before the open one, and its number of steps."""

    path: str
    steps: int


@dataclass(frozen=True)
class ShellProps:
    """The props of the frame around a page.

    site, words: its texts.
    grammar, grammar_in_full: keys and what they do.
    first: the path of the first lab.
    lecture, compare: addresses, None while there are none.
    at: the page's place where it belongs to no lab.
    """

    site: Mapping[str, Text]
    words: Mapping[str, Text]
    grammar: Pairs
    grammar_in_full: Pairs
    years: Sequence[LabGroup]
    first: str | None
    lecture: str | None
    compare: str | None
    at: str
    here: CurrentLab | None
    steps: Sequence[StepProps]
    network: Sequence[Sequence[NetworkPart]]
    onward: NextLab | None
    plotly: str
    before: LabBefore | None


PROPS = (InputBarProps, StageProps, FigureProps, ChangePanelProps, ShellProps)
