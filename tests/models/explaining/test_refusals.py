"""What no model can read is refused in one sentence in both languages, by the models as they are
shipped.

Values outside of the range of a field are refused in test_every_lab.py; here stands what only
several fields or a text together make wrong.
"""

from __future__ import annotations

import numpy as np
import pytest

from models.explaining.errors import InputError
from models.image_transformer.records import spelled as drawn
from models.music.records import melody, spell_events
from models.nonautoregressive.records import spell_piece
from models.sparse_transformer.records import spell_pixels as inked
from tests.models.test_every_lab import GERMAN, asked, of

MOVED = "mary went to the garden."
PICTURE = {"mode": "complete", "kind": 10, "count": 1}
WRITTEN = {"task": "text", "text": "It was", "length": 9}
SUM, PARITY = {"task": "addition"}, {"task": "parity"}
REFUSED: dict[str, list[tuple[str, dict[str, object]]]] = {  # code of the refusal, fields
    "act_rnn": [
        *[
            (code, {**PARITY, "text": text})
            for code, text in (
                ("empty", ""),
                ("not_bits", "10x1"),
                ("too_long", "1" * 17),
                ("no_bit", "..."),
            )
        ],
        *[
            (code, {**SUM, "text": text})
            for code, text in (("empty", "  "), ("not_a_sum", "12+a"), ("not_a_sum", "12+"))
        ],
        ("too_long", {**SUM, "text": "1234567+1"}),
    ],
    "adaptive_span": [
        ("blank", {"text": " \n\t  "}),
        *[("head", {"spans": ((layer, head, 1.0),)}) for layer, head in ((99, 0), (0, -2))],
        *[("span", {"spans": ((0, 0, span),)}) for span in (9e9, float("inf"))],
    ],
    "bert": [
        *[("blank", {"text": text}) for text in (" \n", "\x01\x02")],
        *[("too_many_pieces", {"text": "two " * 70}), ("unknown", {"text": "你好世界"})],
        ("silenced", {"text": "two dogs", "silenced": (("mlm", 7, 0),)}),
    ],
    "detection": [
        *[("scene", {"scene": text}) for text in ("", "x", "99", "0,1.1", "0,1.0.5.5.200.1")],
        ("drawing", {"scene": "0,1.d.5.5.20.1"}),
        *[("picture", {"picture": "!"}), ("file", {"picture": "AAAA"})],
        ("silenced", {"silenced": (("cross", 3, 0),)}),
    ],
    "image_transformer": [
        *[
            ("silenced", {"silenced": ((model, layer, head),)})
            for model, layer, head in (("local_1d", 99, 0), ("colour", 0, 0))
        ],
        ("no_picture", {**PICTURE, "picture": ""}),
        *[
            ("picture", {**PICTURE, "picture": text})
            for text in (
                "test:99",
                "test:-1",
                "test:" + "9" * 5000,
                "test:²",
                "<script>",
                "é" * 40,
                "A",
                "AAAA AAAA",
                "\x00",
                "+/+/",
            )
        ],
        *[
            ("picture", {**PICTURE, "picture": drawn(np.zeros(size, np.uint8))})
            for size in ((28, 27), (16, 16, 3))
        ],
        *[
            (code, {"mode": "enlarge", "picture": text})
            for code, text in (("no_picture", ""), ("picture", "test:99"))
        ],
        ("picture", {"mode": "enlarge", "picture": drawn(np.zeros((28, 28), np.uint8))}),
    ],
    "music": [
        ("mode", {"style": "piano", "mode": "harmonise"}),
        *[("motif", {"motif": text}) for text in ("@@@", spell_events([400]))],
        *[("no_melody", {"motif": text}) for text in ("", spell_events([0, 0]))],
        ("too_long", {"motif": spell_events([1] * 129)}),
        ("not_whole", {"mode": "continue", "motif": spell_events([1, 2, 3])}),
        ("range", {"motif": melody((81, 81)), "semitones": 12}),
        ("length", {"length": 600, "mode": "continue"}),
    ],
    "nonautoregressive": [
        *[("offset", {**GERMAN, "offset": by}) for by in (31, -31)],
        *[
            ("pinned", {**GERMAN, "pinned": ((at, piece),)})
            for at, piece in ((0, "<s>"), (0, "qqq"), (99, spell_piece("Hund", True)))
        ],
        ("again", {**GERMAN, "again": (-1,)}),
        ("empty", {"sentence": " "}),
    ],
    "reformer": [
        *[
            (code, {"text": text})
            for code, text in (("empty", ""), ("too_long", "a" * 129), ("letters", "Große Wörter"))
        ],
        ("too_long", {"mode": "text", "text": "a" * 1024}),
        *[("buckets", {"buckets": count}) for count in (7, 258)],
        ("silenced", {"silenced": (("text", 0, 0),)}),
    ],
    "rnn_attention": [
        *[
            (code, {"sentence": text})
            for code, text in (("empty", "  \n"), ("too_long", "dog " * 99), ("unreadable", "。"))
        ],
        *[
            ("no_weights", {**GERMAN, "variant": "none", **change})
            for change in ({"words": (1,)}, {"context": "uniform"}, {"context": "frozen"})
        ],
        *[
            (code, {**GERMAN, "words": words, "rows": rows})
            for code, words, rows in (("words", (99,), ()), ("rows", (0,), (-1,)))
        ],
    ],
    "sparse_transformer": [
        *[("drawing", {"drawing": text}) for text in ("", "***", inked(np.zeros((8, 8))))],
        *[("picture", {"drawing": text}) for text in ("test:", "test:²")],
        ("summary", {"stride": 3}),
        *[
            ("silenced", {"silenced": ((model, layer, 0),)})
            for model, layer in (("strided", 9), ("text_fixed", 0))
        ],
        *[
            (code, {**WRITTEN, "text": text})
            for code, text in (
                ("too_long", "a" * 2000),
                ("unseen", "a night 你"),
                ("unseen", "a\u200b"),
            )
        ],
        ("empty", {**WRITTEN, "text": "", "length": 0}),
    ],
    "transformer_xl": [("blank", {"text": " \n\t　 "})],
    "translation": [
        *[("empty", {"sentence": text}) for text in ("", " \n\t\x00\u202e ", "\ud800")],
        *[
            ("too_long", {"sentence": text})
            for text in ("word " * 10_000, "a" * 1_000_000, "dogs " * 100)
        ],
        *[("unreadable", {"sentence": text}) for text in ("😀🎉😀", "שלום עולם", "!!! ...")],
        *[("hidden", {**GERMAN, "hidden": (word,)}) for word in (500, -1)],
    ],
    "universal_transformer": [
        *[
            (code, {"task": "stories", "text": text, "question": question})
            for code, text, question in (
                ("empty", "", "where is mary"),
                ("no_question", MOVED, ""),
                ("unknown_words", "mary went to the moon.", "where is mary"),
                ("unknown_words", MOVED, "where is <b>batman</b>"),
                ("sentence", "mary took the garden.", "where is mary"),
                ("question", MOVED, "where is the garden"),
                ("too_long", f"{MOVED} " * 11, "where is mary"),
            )
        ],
        *[
            (code, {"task": "copy", "text": text})
            for code, text in (("empty", " "), ("not_letters", "naïve"), ("too_long", "a" * 41))
        ],
        *[
            (code, {**SUM, "text": text})
            for code, text in (("empty", ""), ("not_a_sum", "1+b"), ("not_a_sum", "1+2+3"))
        ],
        *[("too_long", {**SUM, "text": text}) for text in (f"{10**19}+1", "1" * 5000)],
    ],
}


@pytest.mark.parametrize("slug", REFUSED)
def test_refusals_are_in_both_languages(slug: str) -> None:
    fine = asked(slug)[0]
    requests = [of(slug, "records").Request(**fields) for _, fields in REFUSED[slug]]
    *found, read = of(slug).explain([*requests, fine])
    for (code, fields), error in zip(REFUSED[slug], found, strict=True):
        assert isinstance(error, InputError) and error.code == code, (fields, error)
        assert all(0 < len(text) < 400 and "\n" not in text for text in error.text.values())
    assert isinstance(read, of(slug, "records").Explanation)
