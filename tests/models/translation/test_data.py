"""Text becomes pieces, pieces become text, pairs become batches."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from models.captions import read
from models.multi30k import BLANK, PAD, START, STOP, UNKNOWN, Pairs, Tokenizer, cleaned, pairs

ODD = [
    "",
    " ",
    "\x00",
    "😀😀",
    "שלום עולם",
    "a\u0301",
    "</s> <pad>",
    "A" * 3000,
    "​",
    "\ud800",
    '"Two dogs," he said.',
    "１２３",
    "中文句子",
]


@pytest.mark.parametrize("text", ["Two dogs are running through the snow.", "Ein kleines Mädchen klettert auf einen Baum, und sieht zu."])
def test_known_text_survives_the_way_there_and_back(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


@pytest.mark.parametrize("text", ODD)
def test_any_text_can_be_read(tokenizer: Tokenizer, text: str) -> None:
    found = tokenizer.encode(cleaned(text))
    assert len(found.ids) == len(found.pieces) == len(found.space)
    assert all(found.pieces)


def test_what_a_visitor_types_is_never_a_special_token(tokenizer: Tokenizer) -> None:
    assert not {PAD, START, STOP} & set(tokenizer.encode("</s> <s> <pad>").ids)


def test_an_unknown_piece_shows_the_text_it_stands_for(tokenizer: Tokenizer) -> None:
    found = tokenizer.encode("dogs 😀")
    assert found.pieces[found.ids.index(UNKNOWN)] == "😀"


def test_pieces_and_their_spaces_spell_the_sentence(tokenizer: Tokenizer) -> None:
    text = "A little girl climbs a tree, and her friend looks on."
    found = tokenizer.encode(text)
    spelled = "".join((" " if space else "") + piece.replace(BLANK, "") for piece, space in zip(found.pieces, found.space, strict=True))
    assert spelled.strip() == text


def test_a_shown_piece_leads_back_to_its_token(tokenizer: Tokenizer) -> None:
    for token in (STOP, *range(4, len(tokenizer))):
        assert tokenizer.token(*tokenizer.piece(token)) == token
    with pytest.raises(KeyError):
        tokenizer.token("no such piece", True)


def test_cleaning_removes_controls_and_joins_what_belongs_together() -> None:
    assert cleaned("  a\x00b\tc\u202e d\ud800 e\u0301 ") == "a b c d é"


def test_a_saved_vocabulary_reads_alike(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again.encode("A man </s> runs.") == tokenizer.encode("A man </s> runs.")


def some_pairs() -> Pairs:
    rng = np.random.default_rng(1)
    rows = [rng.integers(4, 50, size=rng.integers(1, 12)) for _ in range(200)]
    return Pairs(rows, rows[::-1])


def test_an_epoch_holds_every_pair_once_within_the_limit_and_depends_on_seed_and_epoch_alone() -> None:
    few = some_pairs()
    epoch = few.batches(64, seed=1, epoch=0)
    assert sorted(np.concatenate(epoch).tolist()) == list(range(200))
    assert all(len(b) * max(len(few.target[i]) + 1 for i in b) <= 64 for b in epoch)
    assert [b.tolist() for b in epoch] == [b.tolist() for b in few.batches(64, seed=1, epoch=0)]
    assert [b.tolist() for b in epoch] != [b.tolist() for b in few.batches(64, seed=1, epoch=1)]


def test_the_wanted_piece_is_the_next_one_and_the_source_has_no_stop_token() -> None:
    few = some_pairs()
    batch = few.batch([0, 1])
    n = len(few.target[0])
    assert batch.target[0, 0] == START and batch.wanted[0, n] == STOP
    assert batch.target[0, 1 : n + 1].tolist() == batch.wanted[0, :n].tolist()
    assert STOP not in batch.source


def test_missing_and_uneven_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"val\.en\.gz"):
        read(tmp_path, "val")
    (tmp_path / "multi30k").mkdir()
    for language, text in (("en", "a\nb\n"), ("de", "c\n")):
        with gzip.open(tmp_path / "multi30k" / f"val.{language}.gz", "wt", encoding="utf-8") as file:
            file.write(text)
    with pytest.raises(ValueError, match="2 English sentences beside 1 German"):
        read(tmp_path, "val")


def test_a_pair_with_an_empty_side_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="without a single piece"):
        pairs(tokenizer, ["A man."], [""])
