"""From what the Reformer explains to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, Kind, query
from explorer.figures import attention, hashing, spelling
from explorer.figures import bertviz as drawing
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled
from explorer.labs import passages
from explorer.labs.guided import Shown, guided
from explorer.labs.reformer import about, texts
from explorer.looks import keep
from explorer.widgets import ask
from models import stored
from models.errors import InputError, reading
from models.reformer.letters import SHORTEST, UNKNOWN, WORD
from models.reformer.records import EXAMPLES, MAX_TEXT, MODELS, Explanation, Hashings, Read, Request
from models.reformer.weights import Overview, overview, shared

Value = dict[str, object]

ASSETS = Path(__file__).parents[3] / "assets" / "reformer"
HASHED = "saw"  # what the name of a kind of attention ends in where it is what hashing saw
BERTVIZ = 64  # positions that bertviz shows at most
OPENING = (Path(__file__).parents[3] / "models" / "reformer" / "pages" / "kellynch.txt").read_text("utf-8").strip()
FEW = Request("text", OPENING, rounds=4, chunk=8)  # a few per cent of all pairs are compared


first = runs.kept("reformer", EXAMPLES[0], Explanation)


@cache
def hashings() -> Hashings | None:
    """Every round of the first model's heads in the stored first example, or None where none is shipped."""
    path = ASSETS / "hashings.npz"
    with reading(path):
        return stored.load(path, Hashings)[0] if path.exists() else None


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def reads() -> bool:
    """Is the model of texts there?"""
    return bool(about.sizes("text"))


def asked() -> tuple[Control, ...]:
    """What a visitor may give: a word, and a text where its model is there."""

    def typed(mode: str, placeholder: str, kind: Kind, most: int) -> Control:
        hint = filled(texts.HINTS[mode], most=f"{most:,}", least=SHORTEST)
        when = {"mode": (mode,)} if reads() else {}
        return Control("text", texts.PROMPTS[mode], kind, hint=hint, placeholder=placeholder, when=when)

    word = typed("word", EXAMPLES[0].text, "letters", WORD)
    if not reads():
        return (word,)
    return Control("mode", texts.TASK, "choice", names=texts.TASKS), word, typed("text", OPENING[:40], "text", MAX_TEXT)


def given() -> list[Request]:
    """Our own inputs, the stored one first; a text too, where its model is there."""
    return [*EXAMPLES, *([Request("text", OPENING)] if reads() else [])]


def warning(request: Request, seen: Explanation) -> Text | None:
    """What to say of a word that is shorter than any in training, and of characters that no book has; None for others."""
    if request.mode == "word":
        return filled(texts.SHORTER, least=SHORTEST) if len(request.text) < SHORTEST else None
    unknown = [letter for token, letter in zip(seen.tokens[1:], request.text, strict=False) if token == UNKNOWN != letter]
    return passages.unknown(list(dict.fromkeys(unknown)), len(unknown))


def answer(seen: Explanation, request: Request) -> Value:
    """What the first model says, with what the others say beside it; of a text, what it costs."""
    one, *others = seen.read
    if request.mode == "text":
        return ask.answer(request.text, filled(texts.COST, bits=f"{bits(one):.2f}"), right=None, expected="")
    count = len(one.nats)
    verdicts = [filled(texts.VERDICT, right=round(read.correct * count), n=count) for read in seen.read]
    beside = [
        ask.Beside(texts.NAMES[other.variant], other.said, other.said == request.text, verdict)
        for other, verdict in zip(others, verdicts[1:], strict=True)
    ]
    right = one.said == request.text
    return ask.answer(request.text, one.said, right=right, expected=request.text, verdict=verdicts[0], beside=beside)


def bits(read: Read) -> float:
    """Mean bits of a letter."""
    return float(read.nats.astype(np.float64).mean() / np.log(2))


# ---- the views ---------------------------------------------------------------------------------------------------------------------


def hashed(seen: Explanation, request: Request, state: str) -> Value:
    """Hash, sort, chunk, attend, on the run's own buckets. Vectors of a head and round are asked for as somebody looks at them; those in
    view on arrival at the page are stored."""
    pick = telling(seen, request)
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    turn = meeting(seen, request, pick)
    kept, stored_, look = first(), hashings(), None
    if kept is not None and seen is kept.seen and stored_ is not None and pick["model"] == seen.read[0].variant:
        address = {"query": query(request), "model": pick["model"], "head": pick["head"], "round": turn + 1}
        look = hashing.looked(address, stored_.rounds[layer][head][turn])
    return hashing.value(
        tokens=spelled_tokens(seen),
        wanted=seen.wanted,
        read=seen.read,
        names=texts.NAMES,
        query=query(request),
        state=state,
        pick={**pick, "round": turn + 1},
        word=len(request.text) if request.mode == "word" else None,
        look=look,
    )


def telling(seen: Explanation, request: Request) -> Value:
    """What is looked at on arrival: the letter on which models differ most, and the head that looks most surely at its first time."""
    nats = np.stack([read.nats for read in seen.read]).astype(np.float32)
    spread = nats.max(0) - nats.min(0)
    letter = int(spread.argmax()) if spread.max() > 1e-3 else 2 * len(spread) // 3
    position = int(seen.wanted[letter])
    one = seen.read[0]
    layers, n_heads = one.queries.shape[:2]
    wanted = sources(request, letter)
    weights = np.array(
        [[shared(one, layer, head, [position], _hashes(one))[0][wanted].sum() for head in range(n_heads)] for layer in range(layers)]
    )
    layer, head = (int(n) for n in np.unravel_index(int(weights.argmax()), weights.shape))
    return {"model": one.variant, "head": f"{layer + 1}.{head + 1}", "pos": position}


def meeting(seen: Explanation, request: Request, pick: Value) -> int:
    """The first round, from 0, whose buckets bring who asks together with the letter that it is to say; 0 where none does, or of a text."""
    read = next(one for one in seen.read if one.variant == pick["model"])
    position = int(str(pick["pos"]))
    if request.mode == "text" or not _hashes(read):
        return 0
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    buckets = read.buckets[layer, head]
    letter = int(np.flatnonzero(seen.wanted == position)[0])
    return int((buckets[:, position] == buckets[:, sources(request, letter)[-1]]).argmax())


def sources(request: Request, letter: int) -> list[int]:
    """Where the first word tells what the letter is: at the letter itself, and at the one before it, which the asking position repeats."""
    if request.mode == "text":
        return list(range(max(1, letter)))
    return [letter, letter + 1]


def spelling_of(seen: Explanation, request: Request, state: str) -> Value:
    """Letter by letter, what each model said."""
    told = {"mode": request.mode, "given": request.text, "first": int(seen.wanted[0]), "pick": telling(seen, request)}
    return spelling.value(seen.read, texts.NAMES, query=query(request), state=state, **told)


def rounds_of(seen: Explanation, request: Request, _state: str) -> Value:
    """Accuracy by rounds, with the rounds of this run framed."""
    return about.table({read.variant: ran(request, read) for read in seen.read}) or {}


def ran(request: Request, read: Read) -> str:
    """Rounds of a run, as the table's columns name them; "" for a run that was changed in another way too."""
    if request != Request(request.mode, request.text, request.rounds):
        return ""
    return str(read.buckets.shape[2]) if _hashes(read) else "full"


def _hashes(read: Read) -> bool:
    return bool(read.buckets.shape[2])


def kinds(seen: Explanation, request: Request) -> list[tuple[attention.Kind, Overview, Read]]:
    """What the heads of the first model would weigh and what they saw, then what those of the others saw."""
    made = []
    for number, read in enumerate(seen.read):
        if not number or not _hashes(read):
            made.append(kind(seen, request, read, hashed=False))
        if _hashes(read):
            made.append(kind(seen, request, read, hashed=True))
    return made


def kind(seen: Explanation, request: Request, read: Read, *, hashed: bool) -> tuple[attention.Kind, Overview, Read]:
    """The attention of all layers and heads of a model; pooled where its input is long."""
    whole_ = overview(read, hashed)
    tokens = spelled_tokens(seen)
    named = f"reformer {read.variant} {read.chunk} {hashed}"

    def rows(layer: int, head: int, which: Sequence[int]) -> NDArray[np.float32]:
        return shared(read, layer, head, which, hashed)

    made = attention.blocked(
        f"{read.variant}.{HASHED}" if hashed else read.variant,
        filled(texts.SAW if hashed else texts.EVERY_KEY, model=texts.NAMES[read.variant]),
        whole_.pooled,
        whole_.by,
        tokens,
        tokens,
        lambda: keep(named, rows, read.queries, read.buckets),
        question=texts.QUESTIONS["saw" if hashed else "every"],
        roles=texts.ROLES,
    )
    return made, whole_, read


def spelled_tokens(seen: Explanation) -> list[str]:
    """What stands at each position, as it is drawn; before the first character of a text nothing was read."""
    first_, *others = seen.tokens
    return [texts.START if first_ == UNKNOWN else first_, *others]


def together(seen: Explanation, variant: str, layer: int, head: int) -> NDArray[np.float32]:
    """(query, key) weights of a head over all that any round sees. InputError where there is no such head."""
    read = next((one for one in seen.read if one.variant == variant), None)
    if read is None or not (0 <= layer < read.queries.shape[0] and 0 <= head < read.queries.shape[1]):
        raise InputError("head", en=texts.GONE["en"], zh=texts.GONE["zh"])
    return shared(read, layer, head, range(read.queries.shape[2]), hashed=True)


def heads(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention view draws."""
    pick = telling(seen, request)
    made = kinds(seen, request)
    shown, whole_, read = made[1] if len(made) > 1 and made[1][2] is seen.read[0] else made[0]
    hashed = shown.key.endswith(HASHED)
    place = attention.cell(shown.key, pick, whole_.by, lambda layer, head, rows: shared(read, layer, head, rows, hashed))
    silenced = [(one.key, layer, head) for one, _, read in made for variant, layer, head in request.silenced if variant == read.variant]
    found = [job for one, _, read in made for job in jobs(one, read, seen, request)]
    return attention.value(
        [one for one, _, _ in made], pick=place, silenced=silenced, found=found, query=query(request), state=state, positions=True
    )


def jobs(one: attention.Kind, read: Read, seen: Explanation, request: Request, least: float = 0.3) -> list[Value]:
    """Heads that do one recognisable thing with a word: they look at the first time of their own letter, or of the one to be said."""
    if request.mode == "text" or one.weights.shape[3] < len(seen.tokens):
        return []
    positions = seen.wanted.astype(np.int64)[1:]
    at = {"twin": np.arange(1, len(positions) + 1), "after": np.arange(2, len(positions) + 2), "previous": positions - 1}
    shares = {job: one.weights[:, :, positions, columns].mean(2) for job, columns in at.items()} if len(positions) else {}
    return attention.working(one.key, shares, texts.JOBS, least)


def bertviz(seen: Explanation) -> drawing.Attention:
    """The attention that the first model used, as bertviz shows it. InputError for more positions than fit into its view."""
    if len(seen.tokens) > BERTVIZ:
        said = filled(texts.BERTVIZ_LONG, most=BERTVIZ, n=len(seen.tokens))
        raise InputError("too_long", en=said["en"], zh=said["zh"])
    read = seen.read[0]
    tokens = spelled_tokens(seen)
    weights = overview(read, _hashes(read)).pooled
    return drawing.Attention(read.variant, texts.NAMES[read.variant], weights, tokens, tokens, causal=True)


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail(seen: Explanation) -> Thumbnail:
    """The buckets of the first example's letters, for the family map: as they are read above, and sorted below."""
    read = seen.read[0]
    buckets = read.buckets[0, 0, 0].astype(np.float32)
    high = len(buckets) // 2 - 2
    rows = [np.tile(one / max(1, float(buckets.max())), (high, 1)) for one in (buckets, np.sort(buckets))]
    return Thumbnail(np.vstack([rows[0], np.full((4, len(buckets)), np.nan), rows[1]]).astype(np.float32))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views and panels that show what these runs have to tell."""
    kept = first()
    start = EXAMPLES[0]
    pick: Value = {"model": MODELS["word"][0], "head": "1.1", "pos": 2 * len(start.text) - 3}
    if kept is not None:
        pick = telling(kept.seen, kept.request)
    here = {"model": str(pick["model"]), "pos": str(pick["pos"])}
    head = {**here, "head": str(pick["head"])}
    shown: dict[str, Shown] = {
        "neighbours": ("", {**head, "kind": str(pick["model"])}, "attention"),
        "hash": ("", {**head, "hashingstep": "2"}, "hashing"),
        "sort": ("", {**head, "hashingstep": "4"}, "hashing"),
        "round": (query(EXAMPLES[1]), {"model": str(pick["model"])}, "spelling"),
        "missed": ("", {**head, "missed": "open"}, ""),
        "table": ("", {"model": "lsh_1"}, "rounds"),
        "rewind": ("", {"rewind": "open"}, ""),
    }
    if reads():
        shown["saving"] = (query(FEW), {}, "change", "hashing")
    together_ = alike(kept.seen, kept.request, pick) if kept is not None else {"asks": "–", "wanted": "–", "bucket": "–"}
    return guided(texts, shown, **together_)


def alike(seen: Explanation, request: Request, pick: Value) -> dict[str, str]:
    """Two positions of a word whose vectors point the same way, for the step about hashing: who asks, the first time of the letter that it
    is to say, and the number of the bucket that they share in the round in view, or of that of who asks."""
    read = next(one for one in seen.read if one.variant == pick["model"])
    position = int(str(pick["pos"]))
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    source = sources(request, int(np.flatnonzero(seen.wanted == position)[0]))[-1]
    bucket = int(read.buckets[layer, head, meeting(seen, request, pick), position]) if _hashes(read) else 0
    return {"asks": f"{seen.tokens[position]}·{position}", "wanted": f"{seen.tokens[source]}·{source}", "bucket": str(bucket)}
