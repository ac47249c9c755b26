"""What README.md says is what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks
from explorer import readme
from explorer.contract.lab import OpenLab
from explorer.labs import LABS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
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
            # shares of nearly everything differ behind the second one
            digits = 4 if figure and figure["value"] <= 1 else 2
            assert figure is None or f"**{figure['value']:.{digits}f}** {figure['metric']}" in text


def test_a_changed_figure_makes_the_readme_out_of_date(tmp_path: Path) -> None:
    folder = tmp_path / LAB.slug / "base"
    folder.mkdir(parents=True)
    facts = json.loads((ROOT / "assets" / LAB.slug / "base" / "model.json").read_text("utf-8"))
    facts["parameters"] = 1_230_000
    (folder / "model.json").write_text(json.dumps(facts), "utf-8")
    assert "1.23 M" in readme.write_labs_table(LABS, tmp_path)


def test_every_file_that_the_readme_links_to_exists() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", readme.README.read_text("utf-8")):
        assert (ROOT / target).exists(), target


def test_ratios_say_both_ends_of_several_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = readme.README.read_text("utf-8")
    ends = {
        "decode": "4.2–10.4",
        "image_decode": "5.7–13.2",
        "sparse_attention": "8.2–13.4",
        "ponder": "3.9–4.4",
        "payload": "6–106",
    }
    assert all(f"(`{name}`) | {both} |" in text for name, both in ends.items())
    known = json.loads((RESULTS / "decode.json").read_text("utf-8"))
    (tmp_path / "decode.json").write_text(json.dumps(known), "utf-8")
    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path)
    # a new run widens what is known
    benchmarks.save({"name": "decode", "figures": {"batch1_vs_generate_ratio": 12.5}})
    kept = json.loads((tmp_path / "decode.json").read_text("utf-8"))["ranges"][
        "batch1_vs_generate_ratio"
    ]
    assert (kept["least"], kept["most"]) == (4.2, 12.5) and kept["of"]


def test_a_figure_says_what_it_stands_beside() -> None:
    text = readme.README.read_text("utf-8")
    assert (
        "**0.2537** hidden pieces of the novel that are guessed; counted trigrams: 0.2565" in text
    )
    assert "**34.25** sacreBLEU, 10 passes × 3 lengths (4 × 1, the page's default: 31.69)" in text
    assert "**81.13** nats per image | 81.30 nats per image (PixelCNN)" in text


def test_heads_of_training_alone_are_not_counted() -> None:
    rows = [
        row for row in readme.FIGURES.read_text("utf-8").splitlines() if "[Language model]" in row
    ]
    sizes = {
        re.findall(r"`(\w+)` \| ([\d.]+ M)", row)[0]
        for row in rows
        if "induction" not in row and "one_layer" not in row
    }
    used = dict(sizes)
    assert {used[name] for name in ("plain", "last_only", "layers", "targets", "all")} == {"1.11 M"}


# ---- what a card says of learning rates can be checked in model.json ----

SEARCHED = [
    (lab, path)
    for lab in LABS
    for path in sorted((ROOT / "assets" / lab.slug).glob("*/model.json"))
]
# Longer runs than the trials decided, which the card says.
BY_LONGER_RUNS = {
    ("image_transformer", variant) for variant in ("local_1d", "local_2d", "pixelcnn")
}


@pytest.mark.parametrize(
    ("lab", "path"), SEARCHED, ids=[f"{lab.slug}-{path.parent.name}" for lab, path in SEARCHED]
)
def test_a_card_claims_no_search_that_is_not_stored(lab: OpenLab, path: Path) -> None:
    facts = json.loads(path.read_text("utf-8"))
    variant, rates = (
        path.parent.name,
        {float(rate): value for rate, value in facts.get("rates", {}).items()},
    )
    assert len(rates) != 1, "one rate is no search"
    card = (path.parent.parent / "card.md").read_text("utf-8")
    lists = (
        r"no search is stored for ((?:`\w+`(?:, | and )?)+)",
        r"没有保存 ((?:`\w+`(?:、| 和 )?)+) 的搜索",
    )
    english, chinese = (
        {name for found in re.findall(said, card) for name in re.findall(r"\w+", found)} - {"and"}
        for said in lists
    )
    assert english == {name for name in chinese if name != "和"}, "both languages say the same"
    if rates:
        assert variant not in english
        peak = facts["recipe"]["schedule"]["peak"]
        assert rates[peak] == min(rates.values()) or (lab.slug, variant) in BY_LONGER_RUNS
    elif "recipe" in facts and "-seed" not in variant:  # further seeds take the first one's rate
        assert variant in english
