"""The panel about beam search: the tree of hypotheses of the run in view, or of another width, with
or without the stop token.

The picture's question is {"beam": 1 to 8, "endless": is the stop token forbidden?} or None for the
search of the run. In the address: ``beam`` (open), ``btree`` ("4", "4.endless"), ``bstep``,
``bnode``, ``balpha``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from explorer.components.folded import Question, Value
from explorer.page.views import View, view_in_folded_panel
from models.translation.records import MAX_BEAM, Explanation, Request
from models.translation.search_records import Search, Tree, loop, outcome

TITLE: Final = {"en": "How was this translation searched for?", "zh": "这个译文是怎样搜索出来的？"}
FUNCTION = "models.translation.search:search"
FATES = {"kept": 0, "finished": 1, "passed": 2}
WIDER = 4  # hypotheses, where the run in view is greedy: a beam of one has nothing to prune


def read_question(run: Request, question: Question) -> Search:
    """Return the requested search, or the run's own. Nonsense can only come from a forged
    request."""
    wish = question.wish if isinstance(question.wish, Mapping) else {}
    width = wish.get("beam")
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= MAX_BEAM:
        width = WIDER if run.beam == 1 else run.beam
    return Search(run.sentence, width, wish.get("endless") is True)


def draw_tree(tree: Tree, run: Request) -> Value:
    """Draw the tree, with an entry for each node (models/translation/search_records.py), node 0 the
    root.

    pieces, space, parent, step, rank, logp, total: by node. fate: 0 kept, 1 finished, 2 passed
    over. stop: log p or None. texts: {number of a finished node: its translation}. greedy: nodes.
    loop: [begin, period] or None. beam, limit, endless, greedyText, greedyTotal, greedyLength: of
    the search. alpha, plainBeam: of the run.
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
        "loop": _find_loop(tree, run.alpha) if tree.endless else None,
        "alpha": run.alpha,
        "plainBeam": run.beam,
    }


def _find_loop(tree: Tree, alpha: float) -> list[int] | None:
    """Return where the best endless hypothesis begins to repeat itself. All hypotheses end at the
    limit, so α does not change their order."""
    # the last one is the stop token that the limit forces
    node = int(tree.parent[outcome(tree, alpha).ranking[0]])
    path: list[tuple[str, bool]] = []
    while node > 0:
        path.append((tree.pieces[node], tree.space[node]))
        node = int(tree.parent[node])
    found = loop(tuple(reversed(path)))
    return None if found is None else list(found)


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "beam",
    TITLE,
    lambda found, _question: draw_tree(found.answer, found.request),
    function=FUNCTION,
    wish=lambda found, question: read_question(found.request, question),
    picture="translation/beam",
    needs="request",
)
