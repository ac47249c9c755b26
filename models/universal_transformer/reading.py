"""Validation of typed inputs: words, sums, and stories with a question.

Each error is one sentence.
"""

from __future__ import annotations

import re

import numpy as np

from models.adaptive_computation.records import read_sum
from models.explaining import request_fields
from models.explaining.errors import InputError
from models.explaining.request_fields import clean_for_sentence
from models.universal_transformer import data as texts
from models.universal_transformer import stories, vocabulary
from models.universal_transformer.data import Inputs
from models.universal_transformer.records import (
    MAX_CHARACTERS,
    MAX_DIGITS,
    MAX_FACTS,
    MAX_LETTERS,
    Request,
)
from models.universal_transformer.stories import PUT, TOOK, WENT, Fact

_SENTENCES = re.compile(r"[.!?。！？;\n]+")
_WORD = re.compile(r"[^\s,，]+")


def check(request: Request) -> None:
    """Check a request.

    Raise InputError if a field is out of range, or if text and question together are too long.
    """
    request_fields.check_request(request)
    given = len(request.text) + len(request.question)
    if given > MAX_CHARACTERS:
        raise InputError(
            "too_long",
            en=f"Your text has {given:,} characters; at most {MAX_CHARACTERS:,} can be read.",
            zh=f"您的文本有 {given:,} 个字符；最多可读取 {MAX_CHARACTERS:,} 个。",
        )


def read_word(text: str) -> str:
    """Return the letters of a word to copy or reverse, in lower case.

    Raise InputError for an empty word, too many letters, or other characters than a to z.
    """
    word = re.sub(r"\s+", "", request_fields.read_text(text)).lower()
    if not word:
        raise InputError(
            "empty",
            en="There is no word: type letters from a to z.",
            zh="没有单词：请输入 a 到 z 的字母。",
        )
    wrong = next((c for c in word if not ("a" <= c <= "z")), None)
    if wrong is not None:
        raise InputError(
            "not_letters",
            en=(
                f"“{clean_for_sentence(wrong)}” is no letter that this network knows: it reads a"
                " to z."
            ),
            zh=f"该网络不认识“{clean_for_sentence(wrong)}”：它只读 a 到 z。",
        )
    if len(word) > MAX_LETTERS:
        raise InputError(
            "too_long",
            en=f"The word has {len(word)} letters; this network reads up to {MAX_LETTERS}.",
            zh=f"这个单词有 {len(word)} 个字母；该网络最多读 {MAX_LETTERS} 个。",
        )
    return word


def read_story(text: str, question: str) -> tuple[tuple[Fact, ...], str]:
    """Return the facts of a story and the subject of the question.

    A question may also stand at the end of the story. Raise InputError if a word or sentence is
    unknown, if there is no question or no fact, or if there are too many facts.
    """
    sentences = [_words(part) for part in _SENTENCES.split(request_fields.read_text(text))]
    sentences = [words for words in sentences if words]
    asked = _words(_SENTENCES.sub(" ", request_fields.read_text(question)))
    if not asked and sentences and sentences[-1][0] == "where":
        asked = sentences.pop()
    if not sentences:
        raise InputError(
            "empty",
            en="There is no story: write a sentence such as “mary went to the garden.”",
            zh="没有故事：请写一个句子，例如“mary went to the garden.”",
        )
    if not asked:
        raise InputError(
            "no_question",
            en="The story has no question: ask, for example, “where is mary?”",
            zh="这个故事没有问题：请提问，例如“where is mary?”",
        )
    unknown = [
        word
        for words in [*sentences, asked]
        for word in words
        if word not in stories.TOKEN or word == vocabulary.NOBODY
    ]
    if unknown:
        listed = ", ".join(dict.fromkeys(map(clean_for_sentence, unknown[:5])))
        raise InputError(
            "unknown_words",
            en=(
                f"The network does not know {listed}: it reads the words that are listed beside the"
                " story."
            ),
            zh=f"该网络不认识 {listed}：它只读故事旁列出的单词。",
        )
    if len(sentences) > MAX_FACTS:
        raise InputError(
            "too_long",
            en=f"The story has {len(sentences)} sentences; this network reads up to {MAX_FACTS}.",
            zh=f"这个故事有 {len(sentences)} 句；该网络最多读 {MAX_FACTS} 句。",
        )
    return tuple(map(_fact, sentences)), _about(asked)


def _words(part: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(part.lower()))


def _fact(words: tuple[str, ...]) -> Fact:
    things, holders = (*vocabulary.THINGS, *vocabulary.CONTAINERS), vocabulary.CONTAINERS
    match words:
        case (who, "went", "to", "the", place) if (
            who in vocabulary.PEOPLE and place in vocabulary.PLACES
        ):
            return Fact(WENT, who, place)
        case (who, "took", "the", what) if who in vocabulary.PEOPLE and what in things:
            return Fact(TOOK, who, what)
        case (who, "put", "the", what, "in", "the", into) if (
            who in vocabulary.PEOPLE and what in vocabulary.THINGS and into in holders
        ):
            return Fact(PUT, who, what, into)
    given = clean_for_sentence(" ".join(words))
    raise InputError(
        "sentence",
        en=(
            f"“{given}” is no sentence that this network knows: somebody went to the …, took the …,"
            " or put the … in the …."
        ),
        zh=(
            f"该网络不认识这样的句子：“{given}”；句式有 somebody went to the …、took the …、put the"
            " … in the …。"
        ),
    )


def _about(words: tuple[str, ...]) -> str:
    match words:
        case ("where", "is", who) if who in vocabulary.PEOPLE:
            return who
        case ("where", "is", "the", what) if what in (*vocabulary.THINGS, *vocabulary.CONTAINERS):
            return what
    given = clean_for_sentence(" ".join(words))
    raise InputError(
        "question",
        en=(
            f"“{given}” is no question that this network knows: ask where is, then a person, or the"
            " and a thing."
        ),
        zh=f"该网络不认识这样的问题：“{given}”；请用 where is 加人名，或 where is the 加物品。",
    )


def inputs_of(request: Request) -> tuple[Inputs, tuple[str, ...], tuple[int, ...], str]:
    """Return inputs of one row, the text at each position, the positions of the facts that the
    answer needs, and the right answer.

    Raise InputError if the request cannot be read.
    """
    check(request)
    if request.task == "stories":
        facts, about = read_story(request.text, request.question)
        found, used = stories.answer(facts, about)
        sentences = (*(" ".join(fact.words()) for fact in facts), " ".join(stories.question(about)))
        return stories.inputs([(facts, about)]), sentences, used, found
    if request.task == "addition":
        first, second = read_sum(request.text, MAX_DIGITS)
        width = max(len(first), len(second))
        rows = [
            np.array([[int(digit) for digit in number.rjust(width, "0")]])
            for number in (first, second)
        ]
        inputs, right = texts.sums(rows[0], rows[1]), str(int(first) + int(second))
    else:
        word = read_word(request.text)
        letters = np.array([[ord(c) - ord("a") for c in word]])
        inputs = texts.words(letters, request.task == "reverse")
        right = word[::-1] if request.task == "reverse" else word
    return inputs, tuple(texts.CHARACTERS[token] for token in inputs.tokens[0, :, 0]), (), right
