"""Heads of attention, for every lab that has such: how silenced ones are asked for, and the change in words; a cell in view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from explorer.controls import Control, Value
from explorer.figures.attention import Kind
from explorer.lab import Thumbnail
from explorer.labels import Text, filled
from explorer.labels import text as _

Head = tuple[str, int, int]  # (model, layer, head), both from 0

MOST = 3  # heads that are named


LABEL: Final = _("silenced heads", "关掉的头")
HEAD: Final = _("head {name} of {model}", "{model}的头 {name} ")
HEADS: Final = _("{n} heads", " {n} 个头")
WITHOUT: Final = _("without {heads}", "关掉{heads}")


def silenced(
    names: Mapping[str, Text],
    sizes: Mapping[str, tuple[int, int]],
    head: Text = HEAD,
    *,
    said: Mapping[str, Text] | None = None,
    when: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Control, ...]:
    """The control of the field `silenced`; none where no model has heads.

    names: of the models, or kinds of attention; sizes: their (layers, heads). head, said: as of `without`. when: as of `Control`.
    """
    if not sizes:
        return ()
    says = partial(without, names=said or names, head=head)
    return (Control("silenced", LABEL, "heads", names=names, sizes=sizes, change=True, says=says, when=when or {}),)


def without(heads: Sequence[Head], names: Mapping[str, Text], head: Text = HEAD) -> Text:
    """Silenced heads in words; many by their number. names: of the models. head: one head in words, with {name} and {model}."""
    named = [filled(head, model=names[model], name=f"{layer + 1}·{at + 1}") for model, layer, at in heads]
    shown = named if len(named) <= MOST else [filled(HEADS, n=len(named))]
    return filled(
        WITHOUT, heads={"en": ", ".join(one["en"] for one in shown), "zh": "、".join(one["zh"] for one in shown).replace(" 、", "、")}
    )


def thumbnail_of(kind: Kind, cell: Mapping[str, Any]) -> Thumbnail:
    """The head with a cell {layer, head, row, col}, from 0, for the family map."""
    return Thumbnail(kind.weights[cell["layer"], cell["head"]], tuple(kind.queries), tuple(kind.keys), (cell["row"], cell["col"]))


def place(cell: Mapping[str, Any]) -> Value:
    """A cell {kind, layer, head, row, col}, all from 0, as an address names it."""
    return {"kind": cell["kind"], "head": f"{cell['layer'] + 1}.{cell['head'] + 1}", "row": cell["row"], "col": cell["col"]}
