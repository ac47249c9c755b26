"""The views of the Reformer, from explanations to values of the widgets: pure functions of records,
no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.components import input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    LettersControl,
    TextControl,
    TypedControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.figures import attention, head_jobs
from explorer.figures import bertviz as drawing
from explorer.labs.reformer import about, texts
from explorer.labs.reformer.figures import hashing, spelling
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import passages
from explorer.values.exact_rows import keep_rows
from models.checkpoints import stored_results
from models.explaining.errors import InputError, reading_file
from models.reformer.letters import SHORTEST, UNKNOWN, WORD
from models.reformer.records import EXAMPLES, MAX_TEXT, MODELS, Explanation, Hashings, Read, Request
from models.reformer.weights import Overview, compute_shared_weights, overview

Value = dict[str, object]

ASSETS = Path(__file__).parents[3] / "assets" / "reformer"
HASHED = "saw"  # ending of the name of an attention's kind where it is the part that hashing saw
BERTVIZ = 64  # positions that bertviz shows, at most
OPENING = (
    (Path(__file__).parents[3] / "models" / "reformer" / "pages" / "kellynch.txt")
    .read_text("utf-8")
    .strip()
)
FEW = Request("text", OPENING, rounds=4, chunk=8)  # a few per cent of all pairs are compared


first = runs.load_first_once("reformer", EXAMPLES[0], Explanation)


@cache
def list_hashings() -> Hashings | None:
    """Return every round of the first model's heads in the stored first example, or None where none
    is shipped."""
    path = ASSETS / "hashings.npz"
    with reading_file(path):
        return stored_results.load(path, Hashings)[0] if path.exists() else None


# ---- the input bar


def has_text_model() -> bool:
    """Return whether the model of texts is shipped."""
    return bool(about.list_sizes("text"))


def list_controls() -> tuple[Control, ...]:
    """Return the controls of the input: a word, and a text where its model is shipped."""

    def text_control(mode: str, placeholder: str, kind: type[TypedControl], most: int) -> Control:
        hint = fill_text(texts.HINTS[mode], most=f"{most:,}", least=SHORTEST)
        when = {"mode": (mode,)} if has_text_model() else {}
        return kind("text", texts.PROMPTS[mode], hint=hint, placeholder=placeholder, when=when)

    word = text_control("word", EXAMPLES[0].text, LettersControl, WORD)
    if not has_text_model():
        return (word,)
    return (
        ChoiceControl("mode", texts.TASK, names=texts.TASKS),
        word,
        text_control("text", OPENING[:40], TextControl, MAX_TEXT),
    )


def list_inputs() -> list[Request]:
    """Return our own inputs, the stored one first; with a text where its model is shipped."""
    return [*EXAMPLES, *([Request("text", OPENING)] if has_text_model() else [])]


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return a warning for a word that is shorter than any in training, and for characters that no
    book has; None for others."""
    if request.mode == "word":
        return (
            fill_text(texts.SHORTER, least=SHORTEST) if len(request.plain_text) < SHORTEST else None
        )
    unknown = [
        letter
        for token, letter in zip(explanation.tokens[1:], request.plain_text, strict=False)
        if token == UNKNOWN != letter
    ]
    return passages.warn_of_unknown_characters(list(dict.fromkeys(unknown)), len(unknown))


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the answer of the first model, with those of the others beside it; for a text, its
    cost."""
    one, *others = explanation.read
    if request.mode == "text":
        return input_bar.describe_answer(
            request.plain_text,
            fill_text(texts.COST, bits=f"{measure_bits(one):.2f}"),
            right=None,
            expected="",
        )
    count = len(one.nats)
    verdicts = [
        fill_text(texts.VERDICT, right=round(read.correct * count), n=count)
        for read in explanation.read
    ]
    beside = [
        input_bar.Beside(
            texts.NAMES[other.variant], other.said, other.said == request.plain_text, verdict
        )
        for other, verdict in zip(others, verdicts[1:], strict=True)
    ]
    right = one.said == request.plain_text
    return input_bar.describe_answer(
        request.plain_text,
        one.said,
        right=right,
        expected=request.plain_text,
        verdict=verdicts[0],
        beside=beside,
    )


def measure_bits(read: Read) -> float:
    """Return the mean bits of a letter."""
    return float(read.nats.astype(np.float64).mean() / np.log(2))


# ---- the views


def draw_hashing(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the steps hash, sort, chunk, attend, on the run's own buckets. Vectors of a head and
    round are requested when they are selected; those in view on arrival at the page are stored."""
    pick = find_telling_letter(explanation, request)
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    turn = find_meeting_round(explanation, request, pick)
    kept, stored_, look = first(), list_hashings(), None
    if (
        kept is not None
        and explanation is kept.seen
        and stored_ is not None
        and pick["model"] == explanation.read[0].variant
    ):
        address = {
            "query": spell_query(request),
            "model": pick["model"],
            "head": pick["head"],
            "round": turn + 1,
        }
        look = hashing.answer_look(address, stored_.rounds[layer][head][turn])
    return hashing.draw_hashing(
        tokens=list_tokens(explanation),
        wanted=explanation.wanted,
        read=explanation.read,
        names=texts.NAMES,
        query=spell_query(request),
        state=state,
        pick={**pick, "round": turn + 1},
        word=len(request.plain_text) if request.mode == "word" else None,
        look=look,
    )


def find_telling_letter(explanation: Explanation, request: Request) -> Value:
    """Return the selection on arrival: the letter on which models differ most, and the head that
    looks most surely at its first occurrence."""
    nats = np.stack([read.nats for read in explanation.read]).astype(np.float32)
    spread = nats.max(0) - nats.min(0)
    letter = int(spread.argmax()) if spread.max() > 1e-3 else 2 * len(spread) // 3
    position = int(explanation.wanted[letter])
    one = explanation.read[0]
    layers, n_heads = one.queries.shape[:2]
    wanted = list_sources(request, letter)
    weights = np.array(
        [
            [
                compute_shared_weights(one, layer, head, [position], _uses_hashing(one))[0][
                    wanted
                ].sum()
                for head in range(n_heads)
            ]
            for layer in range(layers)
        ]
    )
    layer, head = (int(n) for n in np.unravel_index(int(weights.argmax()), weights.shape))
    return {"model": one.variant, "head": f"{layer + 1}.{head + 1}", "pos": position}


def find_meeting_round(explanation: Explanation, request: Request, pick: Value) -> int:
    """Return the first round, from 0, whose buckets bring the query together with the letter that
    it predicts; 0 where none does, or for a text."""
    read = next(one for one in explanation.read if one.variant == pick["model"])
    position = int(str(pick["pos"]))
    if request.mode == "text" or not _uses_hashing(read):
        return 0
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    buckets = read.buckets[layer, head]
    letter = int(np.flatnonzero(explanation.wanted == position)[0])
    return int((buckets[:, position] == buckets[:, list_sources(request, letter)[-1]]).argmax())


def list_sources(request: Request, letter: int) -> list[int]:
    """Return where the first word holds the letter: at the letter itself, and at the one before it,
    which the query's position repeats."""
    if request.mode == "text":
        return list(range(max(1, letter)))
    return [letter, letter + 1]


def draw_spelling(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw, letter by letter, the answer of each model."""
    told = {
        "mode": request.mode,
        "given": request.plain_text,
        "first": int(explanation.wanted[0]),
        "pick": find_telling_letter(explanation, request),
    }
    return spelling.draw_spelling(
        explanation.read, texts.NAMES, query=spell_query(request), state=state, **told
    )


def draw_rounds(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw accuracy by rounds, with the rounds of this run framed."""
    return (
        about.draw_table({read.variant: name_rounds(request, read) for read in explanation.read})
        or {}
    )


def name_rounds(request: Request, read: Read) -> str:
    """Return the rounds of a run, as the table's columns name them; "" for a run that was changed
    in another way too."""
    if request != Request(request.mode, request.text, request.rounds):
        return ""
    return str(read.buckets.shape[2]) if _uses_hashing(read) else "full"


def _uses_hashing(read: Read) -> bool:
    return bool(read.buckets.shape[2])


def list_attentions(
    explanation: Explanation, request: Request
) -> list[tuple[attention.Kind, Overview, Read]]:
    """Return the full attention and the seen attention of the first model's heads, then the seen
    attention of the others."""
    made = []
    for number, read in enumerate(explanation.read):
        if not number or not _uses_hashing(read):
            made.append(draw_attention(explanation, request, read, hashed=False))
        if _uses_hashing(read):
            made.append(draw_attention(explanation, request, read, hashed=True))
    return made


def draw_attention(
    explanation: Explanation, request: Request, read: Read, *, hashed: bool
) -> tuple[attention.Kind, Overview, Read]:
    """Draw the attention of all layers and heads of a model; pooled where its input is long."""
    whole_ = overview(read, hashed)
    tokens = list_tokens(explanation)
    named = f"reformer {read.variant} {read.chunk} {hashed}"

    def rows(layer: int, head: int, which: Sequence[int]) -> NDArray[np.float32]:
        return compute_shared_weights(read, layer, head, which, hashed)

    made = attention.make_pooled_kind(
        f"{read.variant}.{HASHED}" if hashed else read.variant,
        fill_text(texts.SAW if hashed else texts.EVERY_KEY, model=texts.NAMES[read.variant]),
        whole_.pooled,
        whole_.by,
        tokens,
        tokens,
        lambda: keep_rows(named, rows, read.queries, read.buckets),
        question=texts.QUESTIONS["saw" if hashed else "every"],
        roles=texts.ROLES,
    )
    return made, whole_, read


def list_tokens(explanation: Explanation) -> list[str]:
    """Return the text of each position, as it is drawn; nothing is read before the first character
    of a text."""
    first_, *others = explanation.tokens
    return [texts.START if first_ == UNKNOWN else first_, *others]


def join_rounds(
    explanation: Explanation, variant: str, layer: int, head: int
) -> NDArray[np.float32]:
    """Return the weights of a head over all that any round sees, (query, key). Raise InputError
    where there is no head at this place."""
    read = next((one for one in explanation.read if one.variant == variant), None)
    if read is None or not (
        0 <= layer < read.queries.shape[0] and 0 <= head < read.queries.shape[1]
    ):
        raise InputError("head", en=texts.GONE["en"], zh=texts.GONE["zh"])
    return compute_shared_weights(read, layer, head, range(read.queries.shape[2]), hashed=True)


def draw_heads(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention view."""
    pick = find_telling_letter(explanation, request)
    made = list_attentions(explanation, request)
    shown, whole_, read = (
        made[1] if len(made) > 1 and made[1][2] is explanation.read[0] else made[0]
    )
    hashed = shown.key.endswith(HASHED)
    place = attention.find_locked_cell(
        shown.key,
        pick,
        whole_.by,
        lambda layer, head, rows: compute_shared_weights(read, layer, head, rows, hashed),
    )
    silenced = [
        (one.key, layer, head)
        for one, _, read in made
        for variant, layer, head in request.silenced
        if variant == read.variant
    ]
    found = [job for one, _, read in made for job in find_jobs(one, read, explanation, request)]
    return attention.draw_attention(
        [one for one, _, _ in made],
        pick=place,
        silenced=silenced,
        found=found,
        query=spell_query(request),
        state=state,
        positions=True,
    )


def find_jobs(
    one: attention.Kind, read: Read, explanation: Explanation, request: Request, least: float = 0.3
) -> list[Value]:
    """Find heads that do one recognisable thing with a word: they look at the first occurrence of
    their own letter, or of the one to be predicted."""
    if request.mode == "text" or one.weights.shape[3] < len(explanation.tokens):
        return []
    positions = explanation.wanted.astype(np.int64)[1:]
    at = {
        "twin": np.arange(1, len(positions) + 1),
        "after": np.arange(2, len(positions) + 2),
        "previous": positions - 1,
    }
    shares = (
        {job: one.weights[:, :, positions, columns].mean(2) for job, columns in at.items()}
        if len(positions)
        else {}
    )
    return head_jobs.find_jobs_by_score(one.key, shares, texts.JOBS, least)


def list_for_bertviz(explanation: Explanation) -> drawing.Attention:
    """Return the attention that the first model used, as bertviz shows it. Raise InputError for
    more positions than fit into its view."""
    if len(explanation.tokens) > BERTVIZ:
        said = fill_text(texts.BERTVIZ_LONG, most=BERTVIZ, n=len(explanation.tokens))
        raise InputError("too_long", en=said["en"], zh=said["zh"])
    read = explanation.read[0]
    tokens = list_tokens(explanation)
    weights = overview(read, _uses_hashing(read)).pooled
    return drawing.Attention(
        read.variant, texts.NAMES[read.variant], weights, tokens, tokens, causal=True
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the buckets of the first example's letters, for the family map: in reading order above,
    and sorted below."""
    read = explanation.read[0]
    buckets = read.buckets[0, 0, 0].astype(np.float32)
    high = len(buckets) // 2 - 2
    rows = [
        np.tile(one / max(1, float(buckets.max())), (high, 1))
        for one in (buckets, np.sort(buckets))
    ]
    return Thumbnail(
        np.vstack([rows[0], np.full((4, len(buckets)), np.nan), rows[1]]).astype(np.float32)
    )


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views and panels in which these runs
    show the point."""
    kept = first()
    start = EXAMPLES[0]
    pick: Value = {"model": MODELS["word"][0], "head": "1.1", "pos": 2 * len(start.text) - 3}
    if kept is not None:
        pick = find_telling_letter(kept.seen, kept.request)
    here = {"model": str(pick["model"]), "pos": str(pick["pos"])}
    head = {**here, "head": str(pick["head"])}
    shown: dict[str, Shown] = {
        "neighbours": ("", {**head, "kind": str(pick["model"])}, "attention"),
        "hash": ("", {**head, "hashingstep": "2"}, "hashing"),
        "sort": ("", {**head, "hashingstep": "4"}, "hashing"),
        "round": (spell_query(EXAMPLES[1]), {"model": str(pick["model"])}, "spelling"),
        "missed": ("", {**head, "missed": "open"}, ""),
        "table": ("", {"model": "lsh_1"}, "rounds"),
        "rewind": ("", {"rewind": "open"}, ""),
    }
    if has_text_model():
        shown["saving"] = (spell_query(FEW), {}, "change", "hashing")
    together_ = (
        find_alike_positions(kept.seen, kept.request, pick)
        if kept is not None
        else {"asks": "–", "wanted": "–", "bucket": "–"}
    )
    return build_steps(texts, shown, **together_)


def find_alike_positions(explanation: Explanation, request: Request, pick: Value) -> dict[str, str]:
    """Return two positions of a word whose vectors point the same way, for the step about hashing:
    the query, the first occurrence of the letter that it predicts, and the number of the bucket
    that they share in the round in view, or else of the query's bucket."""
    read = next(one for one in explanation.read if one.variant == pick["model"])
    position = int(str(pick["pos"]))
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    source = list_sources(request, int(np.flatnonzero(explanation.wanted == position)[0]))[-1]
    bucket = (
        int(read.buckets[layer, head, find_meeting_round(explanation, request, pick), position])
        if _uses_hashing(read)
        else 0
    )
    return {
        "asks": f"{explanation.tokens[position]}·{position}",
        "wanted": f"{explanation.tokens[source]}·{source}",
        "bucket": str(bucket),
    }
