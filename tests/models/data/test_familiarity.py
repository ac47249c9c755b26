"""Which sentences are unlike those that a translator learned from, by their words and pairs of
words."""

from __future__ import annotations

import gzip
import importlib
from pathlib import Path

import pytest
import torch

from models.checkpoints import checkpoint
from models.data import familiarity
from models.data.familiarity import Familiar, count_familiar, load_familiar
from models.translation import pretrained, recipe

TRAINING = [
    "A dog runs.",
    "a dog RUNS.",
    "A dog sleeps.",
    "A cat runs.",
    "A dog runs.",
] * familiarity.OFTEN
LABS = ("translation", "rnn_attention", "nonautoregressive")
CAPTION = "Two dogs are running through the snow."
ODD = "I would like a cup of coffee, please."


@pytest.fixture
def small() -> Familiar:
    return count_familiar(TRAINING, TRAINING[:5])


def test_rare_words_and_pairs_are_counted(small: Familiar) -> None:
    found = small.judge("A dog barks, runs.")
    assert found.rare_words == ("barks",)
    assert (found.rare_pairs, found.pairs) == (3, 7)  # dog barks · barks , · , runs
    assert small.judge("A dog runs.").measure == 0


def test_spelling_and_apostrophes_are_folded() -> None:
    found = count_familiar(["Don’t run"] * familiarity.OFTEN, ["Don’t run"])
    assert found.judge("DON'T RUN").measure == 0


def test_a_word_met_less_often_is_rare() -> None:
    found = count_familiar(
        [*["A dog"] * familiarity.OFTEN, *["A cat"] * (familiarity.OFTEN - 1)], ["A dog"]
    )
    assert found.judge("A cat").rare_words == ("cat",)


def test_few_held_out_sentences_are_warned_of() -> None:
    held_out = [*["A dog runs."] * 96, *["Colourless green ideas"] * 4, "A green dog"]
    found = count_familiar(TRAINING, held_out)
    warned = sum(found.judge(one).is_unfamiliar for one in held_out)
    assert 0 < warned <= familiarity.CAPTIONS_WARNED * len(held_out)


def test_what_is_saved_is_read_again(small: Familiar, tmp_path: Path) -> None:
    assert load_familiar(tmp_path) is None
    small.save(tmp_path / familiarity.NAME)
    assert load_familiar(tmp_path) == small


@pytest.mark.parametrize("slug", LABS)
def test_every_translator_warns(slug: str) -> None:
    records, explain = (
        importlib.import_module(f"models.{slug}.{name}") for name in ("records", "explain")
    )
    sentences = [*(example.sentence for example in records.EXAMPLES), ODD]
    found = [
        explain.explain([records.Request(one)])[0].familiarity.is_unfamiliar for one in sentences
    ]
    assert found == [False] * len(records.EXAMPLES) + [True]


def test_the_shipped_threshold_is_the_recorded_one() -> None:
    shipped = pretrained.load()
    assert shipped.familiar is not None
    figure = shipped.facts["warnings"]
    assert round(shipped.familiar.above, 4) == figure["above"]
    assert figure["value"] >= 0.7 and figure["captions"] <= 0.05
    assert (
        figure["split"] not in figure["chosen_on"]["split"]
        and figure["others"] not in figure["chosen_on"]["split"]
    )
    assert (checkpoint.find_folder("translation") / familiarity.NAME).stat().st_size < 60_000


def test_the_program_measures_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "multi30k").mkdir()
    (tmp_path / "ud_ewt").mkdir()
    for split in ("val", "test_2016_flickr"):
        for language in ("en", "de"):
            text = f"{CAPTION}\n" * 3
            (tmp_path / "multi30k" / f"{split}.{language}.gz").write_bytes(
                gzip.compress(text.encode())
            )
    for split in ("dev", "test"):
        rows = f"# sent_id = 1\n# text = {ODD}\n1\tI\n\n# text = {CAPTION}\n1\tTwo\n\n"
        (tmp_path / "ud_ewt" / f"{split}.conllu.gz").write_bytes(gzip.compress(rows.encode()))
    found = recipe.evaluate(tmp_path, device=torch.device("cpu"), warnings=True)
    assert (found["value"], found["captions"], found["n"]) == (0.5, 0.0, 5)
    assert "50.0% of the sentences of test" in capsys.readouterr().out
