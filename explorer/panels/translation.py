"""The drawings that pages of networks from English to German share: the answer, pieces that can be
chosen, attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from explorer.components import input_bar
from explorer.contract import labels
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import Item, Value
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.contract.labels import text as _
from explorer.figures.attention import Array, Kind
from models.explaining.errors import clean_for_sentence
from models.explaining.shared_records import LIMIT, Familiarity, Retranslated

Words = tuple[Sequence[str], Sequence[bool]]  # pieces, and where a space stands before them

ENGLISH: Final = shared.ENGLISH
GERMAN: Final = _("German", "德文")
RARE: Final = _(
    "Pieces of your sentence that this network never saw: {unknown}. It reads them as unknown, so"
    " expect mistakes.",
    "您的句子里有 {unknown} 个词片是网络从未见过的，只能当作未知词来读，译文可能出错。",
)
RARE_PAIRS: Final = _(
    "{n} of {of} pairs of neighbouring words came up at most {times} times in the sentences this"
    " network learned from: expect mistakes.",
    "{of} 对相邻词中，有 {n} 对在网络学过的句子里最多出现过 {times} 次：译文很可能出错。",
)
RARE_WORDS: Final = _(
    "{words} and {n} of {of} pairs of neighbouring words came up at most {times} times in the"
    " sentences this network learned from: expect mistakes.",
    "{words}和 {of} 对相邻词中的 {n} 对在网络学过的句子里最多出现过 {times} 次：译文很可能出错。",
)
RARE_WORDS_AND_MORE: Final = _(
    "{words}, {more} {more|more word|more words} and {n} of {of} pairs of neighbouring words came"
    " up at most {times} times in the sentences this network learned from: expect mistakes.",
    "{words}等 {all} 个词和 {of} 对相邻词中的 {n} 对在网络学过的句子里最多出现过 {times}"
    " 次：译文很可能出错。",
)
WORDS_NAMED: Final = 4  # rare words of a sentence that are named
SURPRISING: Final = _(
    "The network finds its own translation unlikely: your sentence is unlike the photo captions it"
    " was trained on.",
    "网络认为自己的译文可能性很低：您的句子不像它训练时见过的图片说明。",
)
METRIC: Final = _("{metric}, {split}", "{metric}，{split}")
LICENCE: Final = (
    "research and teaching only: the images behind Multi30k are licensed for non-commercial"
    " research and education"
)
ROLES: Final = {
    "encoder": (ENGLISH, ENGLISH),
    "decoder": (GERMAN, GERMAN),
    "cross": (GERMAN, ENGLISH),
}


def describe_answer(explanation: Any, request: Any) -> Value:
    """Return the translation beside the sentence; for a wider search with its other hypotheses."""
    hypotheses = explanation.hypotheses if getattr(request, "beam", 1) > 1 else ()
    told = {
        "log_probability": explanation.log_probability,
        "hypotheses": hypotheses,
        "text": explanation.text,
    }
    return input_bar.describe_pieces(
        explanation.target, explanation.target_space, language="de", **told
    )


def describe_endings(explanation: Any, _request: Any) -> list[Value]:
    """Return why the translation ends."""
    return [
        input_bar.describe_ending(
            explanation.reason, len(explanation.target), labels.SIZES["pieces"]
        )
    ]


def describe_warning(request: Any, explanation: Any) -> Text | None:
    """Return the warning for a sentence outside of the network's training data, or for a
    translation that did not end by itself."""
    limited = (
        cut_off(describe_endings(explanation, request)) if hasattr(explanation, "reason") else None
    )
    return labels.join_sentences(limited, describe_outside(request, explanation))


def cut_off(endings: Sequence[Value]) -> Text | None:
    """Return the remark that a limit ended a translation before its stop token; None where it ended
    by itself."""
    return next((cast(Text, one["text"]) for one in endings if one["reason"] == LIMIT), None)


def describe_outside(request: Any, explanation: Any) -> Text | None:
    """Return why a sentence lies outside the network's training data, or None.

    An unlikely translation is blamed on the input only where nothing is changed in the network.
    """
    if explanation.unknown:
        return fill_text(RARE, unknown=explanation.unknown)
    if explanation.familiarity is not None and explanation.familiarity.is_unfamiliar:
        return describe_unfamiliar(explanation.familiarity)
    surprising = getattr(explanation, "surprising", False) and request == request.plain()
    return SURPRISING if surprising else None


def describe_unfamiliar(found: Familiarity) -> Text:
    """Return the sentence that names the rare words of a sentence and counts its rare pairs."""
    words, total = found.rare_words[:WORDS_NAMED], len(found.rare_words)
    pairs = {"n": found.rare_pairs, "of": found.pairs, "times": found.often - 1}
    if not words:
        return fill_text(RARE_PAIRS, **pairs)
    named = join_parts(
        [dict.fromkeys(("en", "zh"), f"“{clean_for_sentence(word)}”") for word in words], chinese=""
    )
    how = RARE_WORDS if total == len(words) else RARE_WORDS_AND_MORE
    return fill_text(how, words=named, more=total - len(words), all=total, **pairs)


def ask_to_reread(request: Any, before: Any) -> Retranslated:
    """Return the translation, to be read under the changes of a request."""
    return Retranslated(request, before.target, before.target_space)


def ask_to_translate_again(request: Any, before: Any) -> Retranslated | None:
    """Return the same question; None where the request changes nothing."""
    return None if request == request.plain() else ask_to_reread(request, before)


def list_pieces(words: Words, values: Sequence[str] = ()) -> tuple[Item, ...]:
    """Return the pieces that a control of kind "items" offers, by their positions or by `values`.
    The end of the text continues no word."""
    return tuple(
        Item(
            values[at] if values else str(at), piece, inner=at > 0 and not space and piece != "</s>"
        )
        for at, (piece, space) in enumerate(zip(*words, strict=True))
    )


def draw_attention_kind(
    name: str, label: Text, weights: Array, queries: Words, keys: Words, question: Text, **how: Any
) -> Kind:
    """Return an attention that is called `name`: of the "encoder", of the "decoder" or from one to
    the other, "cross".

    how: as in `Kind`.
    """
    words = (queries[0], keys[0], queries[1], keys[1])
    told = {
        "key": name,
        "through": "encoder" if name == "cross" else None,
        "roles": ROLES[name],
        **how,
    }
    return Kind(told.pop("key"), label, weights, *words, question=question, **told)


def describe_positions(text: Text) -> Callable[[Sequence[int]], Text]:
    """Return a function for `says` of a control of kind "items": a text with {n}, the number of
    positions, and {at}, the positions."""
    return lambda places: fill_text(text, n=len(places), at=", ".join(map(str, places)))


def name_metric(figure: Mapping[str, Any]) -> Text:
    """Return the name of a figure's quantity and its split."""
    return fill_text(
        METRIC,
        metric=figure["metric"],
        split=labels.name_split(figure["split"].removesuffix("_flickr")),
    )
