"""The panel about beam search: the tree of hypotheses of the run in view, or of another width, with or without the stop token.

The picture's wish is {"beam": 1 to 8, "endless": is the stop token forbidden?} or None for the search of the run. In the address:
``beam`` (open), ``btree`` ("4", "4.endless"), ``bstep``, ``bnode``, ``balpha``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from explorer.views import View, unfolded
from explorer.widgets.folded import Question, Value
from models.translation.records import MAX_BEAM, Explanation, Request
from models.translation.search_records import Search, Tree, loop, outcome

TITLE: Final = {"en": "How was this translation searched for?", "zh": "这个译文是怎样搜索出来的？"}
FUNCTION = "models.translation.search:search"
FATES = {"kept": 0, "finished": 1, "passed": 2}
WIDER = 4  # hypotheses, where the run in view is greedy: a beam of one has nothing to prune


def wished(run: Request, question: Question) -> Search:
    """Which search: the run's own where nothing else is wished for. A wish that is none can only come from a made-up request."""
    wish = question.wish if isinstance(question.wish, Mapping) else {}
    width = wish.get("beam")
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= MAX_BEAM:
        width = WIDER if run.beam == 1 else run.beam
    return Search(run.sentence, width, wish.get("endless") is True)


def value(tree: Tree, run: Request) -> Value:
    """What the picture draws, an entry for each node of the tree (models/translation/search_records.py), node 0 the root.

    pieces, space, parent, step, rank, logp, total; fate: 0 kept, 1 finished, 2 passed over; stop: log p or None
    texts: {number of a finished node: its translation}; greedy: nodes; loop: [begin, period] or None
    beam, limit, endless, greedyText, greedyTotal, greedyLength; alpha, plainBeam: of the run
    """
    return {
        "pieces": list(tree.pieces),
        "space": list(tree.space),
        "parent": tree.parent.tolist(),
        "step": tree.step.tolist(),
        "rank": tree.rank.tolist(),
        "fate": [FATES[fate] for fate in tree.fates],
        "texts": {str(node): text for node, text in enumerate(tree.texts) if text},
        "logp": [round(float(one), 5) for one in tree.log_probability],
        "total": [round(float(one), 6) for one in tree.total],
        "stop": [round(float(one), 5) if np.isfinite(one) else None for one in tree.stop],
        "beam": tree.beam,
        "limit": tree.limit,
        "endless": tree.endless,
        "greedy": list(tree.greedy),
        "greedyText": tree.greedy_text,
        "greedyTotal": tree.greedy_total,
        "greedyLength": tree.greedy_length,
        "loop": _loop(tree, run.alpha) if tree.endless else None,
        "alpha": run.alpha,
        "plainBeam": run.beam,
    }


def _loop(tree: Tree, alpha: float) -> list[int] | None:
    """Where the best endless hypothesis begins to go round in circles. All end at the limit, so that α ranks none of them anew."""
    node = int(tree.parent[outcome(tree, alpha).ranking[0]])  # the last one is the stop token that the limit forces
    path: list[tuple[str, bool]] = []
    while node > 0:
        path.append((tree.pieces[node], tree.space[node]))
        node = int(tree.parent[node])
    found = loop(tuple(reversed(path)))
    return None if found is None else list(found)


PANEL: View[Request, Explanation] = unfolded(
    "beam",
    TITLE,
    lambda found, _question: value(found.answer, found.request),
    function=FUNCTION,
    wish=lambda found, question: wished(found.request, question),
    picture="translation/beam",
    needs="request",
)
