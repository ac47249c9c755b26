"""Clauses of an English caption, "who does what to whom", and the heads that look along them.

There is no parser: closed lists of small words and of the verbs that are common in captions, and
the endings "-ing" and "-s". The module reads plain captions ("A man in a blue shirt is cleaning a
window.") and says nothing about the rest: where no verb is found nothing is listed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.figures.attention import Kind, show_token


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _split_words(
    "a an one another this each every the these those some several many few two three four five six"
    " seven eight nine ten both all his her its their my our your"
)
AUXILIARIES = _split_words(
    "is are was were be being been am has have had will can could may might must does do did"
)
PREPOSITIONS = _split_words(
    "in on at of to by for from with without near over under above below behind beside besides"
    " between through across along around into onto off up down out against among during inside"
    " outside toward towards past before after next"
)
JOINERS = _split_words("and or but that which who while as")
ADVERBS = _split_words("not just very together away there here also now back still")
# "a group of men": the men do it
COLLECTIVES = _split_words("group couple pair crowd bunch team number lot line row family")
VERBS = _split_words(  # common in captions
    "sit stand walk run play ride hold look jump climb eat drink wear carry watch smile talk dance"
    " sing swim throw catch kick hit push pull read write cook cut paint clean wash work wait lie"
    " sleep rest pose perform compete race skate ski surf fly drive cross make take give show use"
    " build dig lean point reach touch pet feed load chase fight enjoy prepare sell buy"
)
NO_VERBS = _split_words(  # nouns and adjectives that end as verbs do
    "building clothing morning evening ceiling railing wedding king ring string spring thing"
    " something nothing anything painting swing wing interesting outing meeting parking crossing"
    " gathering setting sibling sling sting"
)


@dataclass(frozen=True)
class Clause:
    """The positions of pieces: of the verb, of its subject and of its object; target is empty where
    there is no object."""

    verb: tuple[int, ...]
    subject: tuple[int, ...]
    target: tuple[int, ...]


@dataclass(frozen=True)
class _Word:
    text: str  # in lower case
    pieces: tuple[int, ...]

    @property
    def is_word(self) -> bool:
        return self.text.replace("-", "").replace("'", "").isalpha()


def find_clause(pieces: Sequence[str], space: Sequence[bool]) -> Clause | None:
    """Return the first clause with an object, else the first clause; None where the caption has
    another structure.

    pieces: as the tokenizer shows them; space: True where a space stood before the piece.
    """
    words = _group_words(pieces, space)
    if not words or not words[0].is_word or words[0].text in PREPOSITIONS | AUXILIARIES | JOINERS:
        return None
    found = [i for i in range(1, len(words)) if _is_verb(words, i)]
    subject = _find_subject(words, found[0]) if found else ()
    if not subject:
        return None
    made = [Clause(words[i].pieces, subject, _find_target(words, i)) for i in found]
    return next((one for one in made if one.target), made[0])


def _group_words(pieces: Sequence[str], space: Sequence[bool]) -> list[_Word]:
    groups: list[list[int]] = []
    mark = True
    for i, (piece, gap) in enumerate(zip(pieces, space, strict=True)):
        new = mark
        mark = not any(letter.isalnum() for letter in piece)
        if new or gap or mark or not groups:
            groups.append([])
        groups[-1].append(i)
    return [_Word("".join(pieces[i] for i in group).lower(), tuple(group)) for group in groups]


def _is_verb(words: Sequence[_Word], i: int) -> bool:
    """Return whether a word is an "-ing" that no small word makes a noun, or a verb of the list,
    with "-s" or without, where captions have one."""
    word, before = words[i].text, words[i - 1].text
    if not words[i].is_word or not words[i - 1].is_word or word in NO_VERBS:
        return False
    if word.endswith("ing") and len(word) >= 5:
        # "is running", "man running", "ladder and cleaning"; not "a running", "of running".
        return before not in (DETERMINERS | PREPOSITIONS) and _continues(words, i)
    stems = {word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y"}
    if not stems & VERBS or before in DETERMINERS | PREPOSITIONS | JOINERS:
        return False
    # After an auxiliary a bare verb is a noun: "is on a jump".
    return not any(one.text in AUXILIARIES for one in words[:i]) and _continues(words, i)


def _continues(words: Sequence[_Word], i: int) -> bool:
    """Return whether no noun follows that the word could describe, but a small word, a mark or the
    end ("running shoes" is no verb)."""
    if i + 1 == len(words) or not words[i + 1].is_word:
        return True
    after = words[i + 1].text
    if after in DETERMINERS | PREPOSITIONS | JOINERS | ADVERBS or after.endswith("ly"):
        return True
    if not words[i].text.endswith("ing"):
        return False
    helper = next(
        (
            word.text
            for word in reversed(words[:i])
            if word.text not in ADVERBS and not word.text.endswith("ly")
        ),
        "",
    )
    # "are playing soccer", "people playing soccer", but "a wedding party"
    stem = words[i].text.removesuffix("ing")
    return helper in AUXILIARIES or bool({stem, f"{stem}e", stem[:-1]} & VERBS)


def _find_subject(words: Sequence[_Word], verb: int) -> tuple[int, ...]:
    """Return the last word before the first small word of the phrase that the sentence begins with,
    on each side of an "and"."""
    heads: list[_Word] = []
    phrase: list[_Word] = []
    for word in words[:verb]:
        if word.text == "and":
            heads += phrase[-1:]
            phrase = []
        elif word.text == "of" and phrase and phrase[-1].text in COLLECTIVES:
            phrase = []
        elif not word.is_word or word.text in PREPOSITIONS | AUXILIARIES | JOINERS:
            break
        elif word.text not in DETERMINERS:
            phrase.append(word)
    heads += phrase[-1:]
    return tuple(piece for head in heads for piece in head.pieces)


def _find_target(words: Sequence[_Word], verb: int) -> tuple[int, ...]:
    """Return the head of the phrase that follows a verb without a preposition between them."""
    phrase: list[_Word] = []
    for word in words[verb + 1 :]:
        if not word.is_word or word.text in PREPOSITIONS | AUXILIARIES | JOINERS:
            break
        if word.text not in DETERMINERS | ADVERBS and not word.text.endswith("ly"):
            phrase.append(word)
    return phrase[-1].pieces if phrase else ()


NAMES: Mapping[str, Mapping[str, str]] = {
    "who": {"en": "who", "zh": "谁"},
    "what": {"en": "did what", "zh": "做什么"},
    "whom": {"en": "to whom", "zh": "对谁"},
}


def find_jobs(
    encoder: Kind, cross: Kind, taken: Collection[tuple[str, int, int]] = (), least: float = 0.4
) -> list[dict[str, object]]:
    """Find the heads that ask who, did what, to whom most clearly, in the encoder and between the
    languages.

    Each entry is {"kind", "layer", "head", "job", "name", "score", "row", "col"}; row and col are a
    cell to look at.

    The score of a head is the weight, between 0 and 1, that goes from the verb to its subject
    (who), from the subject to the verb (did what), from the verb to its object (to whom); the mean
    over a word's pieces as queries, the sum over them as keys. Between the languages the query is
    the German piece that all heads together send to the English verb most, for all three. Only
    scores of at least `least` count, and no head in `taken` (kind, layer, head): its job in every
    sentence explains it better.
    """
    spaces = encoder.key_space if encoder.key_space is not None else [True] * len(encoder.keys)
    found = find_clause(encoder.keys, spaces)
    if found is None:
        return []
    german = (int(cross.weights[..., list(found.verb)].mean((0, 1)).sum(1).argmax()),)
    asked = (
        (encoder, "who", found.verb, found.subject),
        (encoder, "what", found.subject, found.verb),
        (encoder, "whom", found.verb, found.target),
        (cross, "who", german, found.subject),
        (cross, "what", german, found.verb),
        (cross, "whom", german, found.target),
    )
    made = (
        _find_best_head(kind, job, rows, columns, taken)
        for kind, job, rows, columns in asked
        if columns
    )
    return [job for job in made if float(job["score"]) >= least]


def _find_best_head(
    kind: Kind,
    job: str,
    rows: Sequence[int],
    columns: Sequence[int],
    taken: Collection[tuple[str, int, int]],
) -> dict[str, Any]:
    weights = kind.weights[:, :, list(rows)][..., list(columns)]  # (layer, head, row, column)
    scores = weights.sum(3).mean(2)
    for key, layer, head in taken:
        if key == kind.key:
            scores[layer, head] = -1.0
    layer, head = (int(place) for place in np.unravel_index(int(scores.argmax()), scores.shape))
    row, column = (
        int(place)
        for place in np.unravel_index(int(weights[layer, head].argmax()), weights.shape[2:])
    )
    pair = f"{_join_pieces(kind.queries, rows)} → {_join_pieces(kind.keys, columns)}"
    name = {
        language: f"{text}{':' if language == 'en' else '：'} {pair}".replace("： ", "：")
        for language, text in NAMES[job].items()
    }
    place = {
        "kind": kind.key,
        "layer": layer,
        "head": head,
        "row": int(rows[row]),
        "col": int(columns[column]),
    }
    return {**place, "job": job, "name": name, "score": round(float(scores[layer, head]), 4)}


def _join_pieces(pieces: Sequence[str], places: Iterable[int]) -> str:
    """Join the text of some pieces: adjacent pieces are one word."""
    made, last = "", -2
    for place in places:
        made += ("" if place == last + 1 or not made else " + ") + show_token(pieces[place])
        last = place
    return made
