"""The model that is shipped is whole, and translates as well as its model.json says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models import __main__ as program
from models.translating import bleu, translate
from models.translation.explain import explain
from models.translation.pretrained import Pretrained, load
from models.translation.records import EXAMPLES, Explanation

QUOTED = json.loads((Path(__file__).with_name("captions.json")).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model() -> Pretrained:
    return load()


def test_it_is_loaded_once(model: Pretrained) -> None:
    assert load() is model


def test_on_fifty_quoted_captions_it_translates_as_measured(model: Pretrained) -> None:
    assert len(QUOTED["english"]) == 50 and QUOTED["licence"]
    texts = [model.tokenizer.decode(one.tokens) for one in translate(model, QUOTED["english"])]
    value, signature = bleu(texts, QUOTED["german"])
    assert value > 33
    assert "case:mixed" in signature and "tok:13a" in signature


def test_its_figure_was_measured_on_the_whole_split(model: Pretrained) -> None:
    figure = model.facts["figure"]
    assert (figure["split"], figure["n"], figure["beam"]) == ("test_2016_flickr", 1000, 4)
    assert figure["value"] >= model.facts["recipe"]["target"]


def test_its_own_captions_are_not_surprising_and_nonsense_is(model: Pretrained) -> None:
    *known, odd = explain([*EXAMPLES, type(EXAMPLES[0])("Quarterly dividends notwithstanding, jurisprudence metastasised hypothetically.")])
    assert not any(one.surprising for one in known if isinstance(one, Explanation))
    assert isinstance(odd, Explanation) and odd.surprising


def test_the_program_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["list"]) == 0
    assert "translation base: seed 1" in capsys.readouterr().out


def test_the_program_says_which_data_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["evaluate", "translation", "--data", str(tmp_path)]) == 1
    assert "multi30k" in capsys.readouterr().err
