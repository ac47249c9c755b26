"""The views of the translation Transformer, from explanations to values of the widgets: pure
functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explorer.components import input_bar
from explorer.contract.control_kinds import (
    Control,
    Item,
    ItemsControl,
    MenuControl,
    SentenceControl,
    SliderControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.figures import attention, head_jobs
from explorer.figures import bertviz as drawing
from explorer.labs.translation import about, texts
from explorer.labs.translation import roles as who
from explorer.labs.translation.figures import roles
from explorer.labs.translation.panels import paths
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels.heads import (
    address_cell,
    draw_thumbnail,
    make_heads_control,
)
from explorer.panels.translation import (
    GERMAN,
    describe_answer,
    describe_positions,
    draw_attention_kind,
    list_pieces,
)
from explorer.panels.translation import describe_endings as describe_endings
from explorer.panels.translation import describe_warning as describe_warning
from models.translation import records
from models.translation.records import EXAMPLES, Explanation, Request, Step

Value = dict[str, object]

# the example on which three heads ask who, did what, and to whom
ASKING = replace(EXAMPLES[0], sentence="A dog is catching a frisbee.")
WHO = {"kind": "encoder", "head": "3.2", "row": "3", "col": "1"}  # from “catching” to “dog”
# the head whose loss hurts the first example most, and changes its translation
NEEDED = ("cross", 3, 5)


first = runs.load_first_once("translation", EXAMPLES[0], Explanation)
answer = describe_answer


# ---- attention


def list_attentions(
    explanation: Explanation, request: Request = EXAMPLES[0]
) -> tuple[attention.Kind, ...]:
    """Return the three attentions of one translation, cross-attention last, with queries and keys
    as the visitor reads them. request: says whether the causal mask is left out."""
    english, german = (
        (explanation.source, explanation.source_space),
        (explanation.target, explanation.target_space),
    )
    so_far, ask_ = (
        (list_tokens(explanation)[1], (True, *explanation.target_space[:-1])),
        texts.QUESTIONS,
    )
    mask, roles_ = None if "mask" in request.without else "causal", (GERMAN, texts.WRITTEN)
    return (
        draw_attention_kind(
            "encoder",
            texts.KINDS["encoder"],
            explanation.encoder,
            english,
            english,
            ask_["encoder"],
        ),
        draw_attention_kind(
            "decoder",
            texts.KINDS["decoder"],
            explanation.decoder,
            german,
            so_far,
            ask_["decoder"],
            mask=mask,
            roles=roles_,
            first_key=-1,
        ),
        draw_attention_kind(
            "cross", texts.KINDS["cross"], explanation.cross, german, english, ask_["cross"]
        ),
    )


def list_tokens(explanation: Explanation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the English pieces, and the decoder's input: "<s>", then all German pieces but the
    last."""
    return explanation.source, ("<s>", *explanation.target[:-1])


def draw_attention(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention widget for one translation. state: "stored" or "live"."""
    return attention.draw_attention(
        list_attentions(explanation, request),
        pick=_find_first_cell(explanation),
        silenced=request.silenced,
        found=find_jobs(explanation),
        query=spell_query(request),
        state=state,
    )


def draw_roles(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw who did what to whom, three heads side by side; {} where the sentence has no clear
    answer."""
    encoder, _, cross = list_attentions(explanation, request)
    return who.draw_roles(encoder, cross) or {}


def list_for_bertviz(explanation: Explanation) -> list[drawing.Attention]:
    """Return all attentions as bertviz shows them."""
    return list(
        drawing.list_encoder_decoder(
            explanation.encoder, explanation.decoder, explanation.cross, *list_tokens(explanation)
        )
    )


def find_jobs(explanation: Explanation) -> list[dict[str, Any]]:
    """Find heads with a job on this sentence, best first: the jobs that they do in every sentence,
    and who did what to whom where the sentence has a clear answer."""
    encoder, decoder, cross = list_attentions(explanation)
    found = [job for kind in (encoder, decoder, cross) for job in head_jobs.find_jobs(kind)]
    taken: list[Any] = [(job["kind"], job["layer"], job["head"]) for job in found]
    return sorted(
        [*found, *roles.find_jobs(encoder, cross, taken)], key=lambda job: -float(str(job["score"]))
    )


def _find_first_cell(explanation: Explanation) -> dict[str, Any]:
    """Return the cell that is locked on arrival, {kind, layer, head, row, col} from 0: a telling
    cell of the last head that aligns both languages, where one does, else of any head of
    cross-attention.

    A row is named after the word that is written there. Only the last layers look at the source of
    that word; the first layers look at the source of the word before it."""
    cross = list_attentions(explanation)[2]
    aligned: list[Any] = [job for job in head_jobs.find_jobs(cross) if job["job"] == "alignment"]
    aligns = max(aligned, key=lambda job: job["layer"], default=None)
    layer, head = (
        (0, 0) if aligns is None else (int(str(aligns["layer"])), int(str(aligns["head"])))
    )
    alone = (
        cross
        if aligns is None
        else replace(cross, weights=cross.weights[layer : layer + 1, head : head + 1])
    )
    found = attention.find_telling_cell(alone)
    return {
        "kind": found["kind"],
        "layer": layer + found["layer"],
        "head": head + found["head"],
        "row": found["row"],
        "col": found["col"],
    }


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the head of the stored first result with the telling cell, for the family map."""
    return draw_thumbnail(list_attentions(explanation)[-1], _find_first_cell(explanation))


# ---- the input bar


def controls() -> tuple[Control, ...]:
    """Return the controls of the input, then of what may be changed in the model."""
    size = about.list_head_sizes()
    models = {kind: texts.HEADS_OF[kind] for kind in records.KINDS}
    searches = {
        n: texts.GREEDY if n == 1 else fill_text(texts.BEAM, n=n)
        for n in range(1, records.MAX_BEAM + 1)
    }
    kept = tuple(str(n) for n in searches if n > 1)
    return (
        SentenceControl(
            "sentence",
            fill_text(texts.SENTENCE, tokens=records.MAX_TOKENS),
            placeholder=EXAMPLES[0].sentence,
        ),
        MenuControl("beam", texts.SEARCH, names=searches),
        SliderControl("alpha", texts.ALPHA, step=0.1, when={"beam": kept}),
        *make_heads_control(models, size, texts.ONE_HEAD, said=texts.KIND_NAMES),
        ItemsControl("hidden", texts.HIDDEN, change=True, says=describe_positions(texts.HIDDEN_AT)),
        ItemsControl(
            "without",
            texts.PARTS,
            names=texts.PART_NAMES,
            notes=texts.PART_NOTES,
            change=True,
            says=describe_removed_parts,
        ),
    )


def describe_removed_parts(parts: Sequence[str]) -> Text:
    """Return the parts left out, in words."""
    named = [texts.LEFT_OUT[part] for part in parts]
    listed: Text = {
        "en": " and ".join(part["en"] for part in named),
        "zh": "、".join(part["zh"].strip() for part in named),
    }
    return fill_text(texts.WITHOUT_PARTS, parts=listed)


def items(explanation: Explanation, _request: Request) -> dict[str, tuple[Item, ...]]:
    """Return the pieces of the sentence in view, each of which can be hidden."""
    return {"hidden": list_pieces((explanation.source, explanation.source_space))}


def draw_partial_answer(steps: Sequence[Step], _request: Request) -> Value:
    """Draw the part of a translation that is there."""
    return input_bar.describe_pieces(
        [step.piece for step in steps], [step.space for step in steps], language="de"
    )


def progress(steps: Sequence[Step], _request: Request) -> Text:
    """Return the sentence that says how far a translation has come."""
    return fill_text(texts.WORD, n=len(steps))


def lines(_seen: Explanation, request: Request) -> tuple[Text, ...]:
    """Return the lines of a text file beside the translation."""
    how = f"beam {request.beam}, α {request.alpha:g}" if request.beam > 1 else "greedy"
    return ({"en": request.sentence, "zh": request.sentence}, {"en": how, "zh": how})


def pick(explanation: Explanation, _request: Request) -> Value:
    """Return the selection on arrival, a cell as an address names it."""
    return address_cell(_find_first_cell(explanation))


# ---- guided steps


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point.

    Its telling cell is the thread: the first steps look at it, the last hides its key. So the steps
    follow the shipped model, whatever its heads have learned.
    """
    stored_first = first()
    start = EXAMPLES[0]
    cell: dict[str, Any] = (
        {"kind": "cross", "layer": 0, "head": 0, "row": 0, "col": 0}
        if stored_first is None
        else _find_first_cell(stored_first.seen)
    )
    head, place = (
        f"{cell['layer'] + 1}.{cell['head'] + 1}",
        {"row": str(cell["row"]), "col": str(cell["col"])},
    )
    beam = next(example for example in EXAMPLES if example.beam > 1)
    shown: dict[str, Shown] = {
        "asks": ("", {"kind": "cross", "head": head, **place, "weight": "open"}, ""),
        "scale": (
            spell_query(replace(start, without=("scale",))),
            {"kind": "cross", "head": head, **place},
            "attention",
            "change",
        ),
        "order": ("", {"kind": "cross", "stat": "mean", "positions": "open"}, ""),
        "beam": (spell_query(beam), {"kind": "cross", "stat": "mean", "beam": "open"}, ""),
        "silence": (
            spell_query(replace(start, silenced=(NEEDED,))),
            {"kind": "cross", "head": f"{NEEDED[1] + 1}.{NEEDED[2] + 1}"},
            "change",
        ),
        "residual": ("", {"kind": "encoder", "stat": "mean", "paths": "open"}, ""),
        "training": ("", {"kind": "cross", "stat": "mean", "training": "open"}, ""),
    }
    mask = {"kind": "decoder"} if stored_first is None else _describe_job(stored_first.seen)
    shown |= {
        "heads": (spell_query(ASKING), WHO, "roles"),
        "mask": (spell_query(replace(start, without=("mask",))), mask, "attention", "change"),
    }
    # a lab has eight steps: the one about residual paths takes the place of a silenced head
    read = paths.list_position_figures()
    del shown["silence" if read else "residual"]
    return build_steps(texts, shown, each=read or "")


def _describe_job(explanation: Explanation) -> dict[str, str]:
    """Return a view of the stored run: a head of the decoder that does one recognisable thing."""
    decoder = list_attentions(explanation)[1]
    head: Mapping[str, Any] = next(
        iter(head_jobs.find_jobs(decoder)), attention.find_telling_cell(decoder)
    )
    return {"kind": "decoder", "head": f"{head['layer'] + 1}.{head['head'] + 1}"}
