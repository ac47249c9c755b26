"""Attention heads, for every lab that has them: the control of silenced heads, their change in
words, and a cell in view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import Control, HeadsControl, Value
from explorer.contract.lab import Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.contract.labels import text as _
from explorer.figures.attention import Kind

Head = tuple[str, int, int]  # (model, layer, head), both from 0

MOST = 3  # heads that are named in a sentence


LABEL: Final = _("silenced heads", "关掉的头")
HEAD: Final = shared.HEAD_OF_MODEL
HEADS: Final = _("{n} heads", " {n} 个头")
WITHOUT: Final = _("without {heads}", "关掉{heads}")


def make_heads_control(
    names: Mapping[str, Text],
    sizes: Mapping[str, tuple[int, int]],
    head: Text = HEAD,
    *,
    said: Mapping[str, Text] | None = None,
    when: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Control, ...]:
    """Return the control of the field `silenced`; none where no model has heads.

    names: those of the models, or of the kinds of attention.
    sizes: their (layers, heads).
    head, said: as in `describe_silenced_heads`.
    when: as in `Control`.
    """
    if not sizes:
        return ()
    says = partial(describe_silenced_heads, names=said or names, head=head)
    return (
        HeadsControl(
            "silenced",
            LABEL,
            names=names,
            sizes=sizes,
            change=True,
            says=says,
            when=when or {},
        ),
    )


def describe_silenced_heads(
    heads: Sequence[Head], names: Mapping[str, Text], head: Text = HEAD
) -> Text:
    """Return silenced heads in words; many heads by their number.

    names: those of the models.
    head: one head in words, with {name} and {model}.
    """
    named = [
        fill_text(head, model=names.get(model, model), name=f"{layer + 1}·{at + 1}")
        for model, layer, at in heads
    ]
    shown = named if len(named) <= MOST else [fill_text(HEADS, n=len(named))]
    return fill_text(
        WITHOUT,
        heads={
            "en": ", ".join(one["en"] for one in shown),
            "zh": "、".join(one["zh"] for one in shown).replace(" 、", "、"),
        },
    )


def draw_thumbnail(kind: Kind, cell: Mapping[str, Any]) -> Thumbnail:
    """Draw the head with a cell {layer, head, row, col}, from 0, for the family map."""
    return Thumbnail(
        kind.weights[cell["layer"], cell["head"]],
        tuple(kind.queries),
        tuple(kind.keys),
        (cell["row"], cell["col"]),
    )


def address_cell(cell: Mapping[str, Any]) -> Value:
    """Return a cell {kind, layer, head, row, col}, all from 0, as an address names it."""
    return {
        "kind": cell["kind"],
        "head": f"{cell['layer'] + 1}.{cell['head'] + 1}",
        "row": cell["row"],
        "col": cell["col"],
    }
