"""The views of the recurrent translators, from explanations to values of the widgets: pure
functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorer.components import change_panel
from explorer.contract.control_kinds import (
    ChoiceControl,
    Item,
    ItemsControl,
    MenuControl,
    SentenceControl,
    SliderControl,
    Value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.figures import attention
from explorer.figures.curves import Curve
from explorer.figures.maps import MapPair
from explorer.labs.rnn_attention import texts
from explorer.page import runs
from explorer.page.curves import draw_curve_figure
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels.heads import address_cell, draw_thumbnail
from explorer.panels.translation import ask_to_translate_again as ask_to_translate_again
from explorer.panels.translation import describe_answer, describe_positions, list_pieces
from explorer.panels.translation import describe_endings as describe_endings
from explorer.panels.translation import describe_warning as unlike
from explorer.panels.translation import draw_attention_kind as between
from models.rnn_attention.records import (
    EXAMPLES,
    LONGEST,
    MAX_BEAM,
    MAX_TOKENS,
    PRODUCTS,
    VARIANTS,
    Explanation,
    Request,
)

first = runs.load_first_once("rnn_attention", EXAMPLES[0], Explanation)
answer = describe_answer


# ---- the input bar


SEARCHES = {1: texts.GREEDY, **{n: fill_text(texts.BEAM, n=n) for n in range(2, MAX_BEAM + 1)}}


def _describe_donor(name: str) -> Text:
    return fill_text(texts.DONOR_IS, sentence=texts.DONORS[name])


CONTROLS = (
    SentenceControl(
        "sentence",
        fill_text(texts.SENTENCE, tokens=MAX_TOKENS),
        placeholder=EXAMPLES[0].sentence,
    ),
    MenuControl("variant", texts.VARIANT, names=texts.VARIANTS),
    MenuControl("divided", texts.DIVIDED, names=texts.DIVIDED_NAMES, when={"variant": PRODUCTS}),
    MenuControl("beam", texts.SEARCH, names=SEARCHES),
    SliderControl("alpha", texts.ALPHA, step=0.1, when={"beam": tuple(map(str, SEARCHES))[1:]}),
    ItemsControl(
        "words",
        texts.WORDS,
        kept=True,
        change=True,
        says=describe_positions(texts.ALL_ON),
        when={"variant": VARIANTS[:-1]},
    ),
    ItemsControl("rows", texts.ROWS, kept=True, change=True, when={"variant": VARIANTS[:-1]}),
    ChoiceControl(
        "context",
        texts.CONTEXT,
        names=texts.CONTEXTS,
        change=True,
        says=lambda name: texts.CONTEXT_IS[name],
    ),
    ChoiceControl("donor", texts.DONOR, names=texts.DONORS, change=True, says=_describe_donor),
)


def items(explanation: Explanation, _request: Request) -> dict[str, tuple[Item, ...]]:
    """Return the English pieces, which can be given weight, and the German ones, whose rows receive
    it."""
    return {
        "words": list_pieces((explanation.source, explanation.source_space)),
        "rows": list_pieces((explanation.target, explanation.target_space)),
    }


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return a warning where a sentence lies outside the model's training data."""
    long = (
        fill_text(texts.LONG, n=len(explanation.source), longest=LONGEST)
        if len(explanation.source) > LONGEST and not explanation.unknown
        else None
    )
    return long or unlike(request, explanation)


# ---- attention


def draw_attention_kind(explanation: Explanation) -> attention.Kind:
    """Return the weights of one translation: German rows, English columns."""
    german, english = (
        (explanation.target, explanation.target_space),
        (explanation.source, explanation.source_space),
    )
    return between(
        "cross", texts.ATTENTION, explanation.weights[None, None], german, english, texts.QUESTION
    )


def draw_attention(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention widget. state: "stored" or "live"."""
    return attention.draw_attention(
        [draw_attention_kind(explanation)],
        found=(),
        query=spell_query(request),
        state=state,
        silences=False,
    )


def pick(explanation: Explanation, _request: Request) -> Value | None:
    """Return the selection on arrival, a cell as an address names it."""
    if not len(explanation.weights):
        return None
    return address_cell(attention.find_telling_cell(draw_attention_kind(explanation)))


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the weights of the stored first result, for the family map."""
    return draw_thumbnail(
        draw_attention_kind(explanation),
        attention.find_telling_cell(draw_attention_kind(explanation)),
    )


# ---- the last states


def draw_remains(explanation: Explanation, _request: Request, _state: str) -> Value:
    """Draw how much the last state of each direction keeps of each word."""
    shares, words, half = (
        explanation.remains,
        number_pieces(explanation.source),
        len(explanation.source) // 2,
    )
    at, colours = range(len(words)), ("var(--cat-1)", "var(--cat-2)")
    drawn = [
        Curve(name, at, row.tolist(), colour)
        for name, row, colour in zip((texts.FORWARD, texts.BACKWARD), shares, colours, strict=True)
    ]
    (on, a), (back, b) = (
        (name_piece(explanation.source, int(row.argmax())), f"{row.max():.2f}") for row in shares
    )
    says = fill_text(
        texts.REMAINS_SAYS,
        first=on,
        a=a,
        second=back,
        b=b,
        n=len(words),
        early=f"{shares[0, :half].sum():.2f}",
    )
    rows = [
        (word, round(float(a), 4), round(float(b), 4))
        for word, a, b in zip(words, *shares, strict=True)
    ]
    told, columns = (
        (texts.REMAINS, texts.REMAINS_UNITS, says),
        (texts.WORD, texts.FORWARD, texts.BACKWARD),
    )
    return draw_curve_figure(
        "last-states",
        drawn,
        texts.REMAINS_AXES,
        told,
        columns,
        rows,
        ticks=at,
        names=words,
        up="zero",
    )


def number_pieces(pieces: Sequence[str]) -> list[str]:
    """Return pieces with their positions, "the·3"."""
    return [f"{attention.show_token(piece)}·{at}" for at, piece in enumerate(pieces)]


def name_piece(pieces: Sequence[str], at: int) -> str:
    """Return a piece of a sentence with its position."""
    return f"“{attention.show_token(pieces[at])}” ({at})"


# ---- changes


def difference(
    explanations: tuple[Explanation, Explanation],
    read: tuple[None, Explanation],
    request: Request,
    what: Text,
) -> change_panel.Maps | change_panel.Difference:
    """Draw the effect of a change. explanations: the runs without and with it; read: the
    translation before, read under it."""
    (before, after), forced = explanations, read[1]
    number = change_panel.ChangedNumber(before.log_probability, forced.log_probability)
    told = fill_text(
        texts.KEEPS if before.text == after.text else texts.BECOMES, what=what, german=after.text
    )
    says = write_change_sentence(texts.MOVES, texts.STAYS, number.before, number.after, first=told)
    pieces = list(
        zip(
            number_pieces(before.target),
            np.exp(before.log_probabilities),
            np.exp(forced.log_probabilities),
            strict=True,
        )
    )
    words = [(name, float(was), float(now)) for name, was, now in pieces]
    if request.variant == "none":
        rows = [
            change_panel.Row(texts.EACH, {"en": name, "zh": name}, name, was, now)
            for name, was, now in words
        ]
        return change_panel.Difference(number, texts.NUMBER, rows, says)
    label = texts.NETWORKS[request.network]
    pair = MapPair(
        "cross", texts.PICTURE, label, before.target, before.source, before.weights, forced.weights
    )
    return change_panel.Maps(
        (pair,), (before.text, after.text), "de", number, texts.NUMBER, says, words, texts.EACH
    )


# ---- guided steps


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    kept = first()
    start, long = EXAMPLES[0], EXAMPLES[3]
    cell = (
        attention.find_telling_cell(draw_attention_kind(kept.seen))
        if kept
        else {"row": 2, "col": 3}
    )
    here = {"row": str(cell["row"]), "col": str(cell["col"])}
    moved = replace(start, words=(0,), rows=(int(cell["row"]),))
    shown: dict[str, Shown] = {
        "vector": (spell_query(replace(long, variant="none")), {}, "quality"),
        "diluted": (spell_query(replace(long, variant="none")), {}, "remains"),
        "needs": ("", here, "attention"),
        "sum": ("", {**here, "sum": "open"}, ""),
        "moves": ("", {"row": "0"}, "attention"),
        "drag": (spell_query(moved), {"row": str(cell["row"])}, "change"),
        "scores": (spell_query(replace(start, variant="dot")), {"scale": "open"}, ""),
        "onward": ("", {"overlap": "open"}, ""),
    }
    return build_steps(texts, shown)
