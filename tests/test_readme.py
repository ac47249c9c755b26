"""What README.md says is what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

from explorer import readme
from explorer.labs import LABS

ROOT = Path(__file__).resolve().parent.parent
LAB = next(lab for lab in LABS if lab.slug == "translation")


def test_the_tables_of_the_readme_are_current() -> None:
    assert readme.main(["--check"]) == 0, "run python -m explorer.readme"


def test_the_readme_is_read_in_five_minutes_and_names_every_lab() -> None:
    text = readme.README.read_text("utf-8")
    assert len(text.encode()) <= 10_240
    assert all(f"[{lab.title['en']}](https://arxiv.org/abs/{lab.arxiv})" in text for lab in LABS)


def test_the_figure_of_every_model_stands_in_the_list_of_all() -> None:
    text = readme.FIGURES.read_text("utf-8")
    for lab in LABS:
        for path in (ROOT / "assets" / lab.slug).glob("*/model.json"):
            figure = json.loads(path.read_text("utf-8")).get("figure")
            digits = 4 if figure and figure["value"] <= 1 else 2  # shares of nearly everything differ behind the second one
            assert figure is None or f"**{figure['value']:.{digits}f}** {figure['metric']}" in text


def test_a_changed_figure_makes_the_readme_out_of_date(tmp_path: Path) -> None:
    folder = tmp_path / LAB.slug / "base"
    folder.mkdir(parents=True)
    facts = json.loads((ROOT / "assets" / LAB.slug / "base" / "model.json").read_text("utf-8"))
    facts["parameters"] = 1_230_000
    (folder / "model.json").write_text(json.dumps(facts), "utf-8")
    assert "1.23 M" in readme.labs_table(LABS, tmp_path)


def test_every_file_that_the_readme_links_to_exists() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", readme.README.read_text("utf-8")):
        assert (ROOT / target).exists(), target
