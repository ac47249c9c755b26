"""python -m explorer.readme [--check]: the tables of README.md and all of assets/FIGURES.md, from what the programs that measured wrote.

The labs' figures stand in each checkpoint's `model.json`, the ratios in `benchmarks/results/<name>.json`; nobody types them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.lab import Lab
from explorer.labels import device
from explorer.labs import LABS
from models.bits import WAYS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FIGURES = ROOT / "assets" / "FIGURES.md"
RATIOS = {  # of benchmarks, those that README names: what is compared with what
    ("payload", "size_vs_bertviz_ratio"): "attention of 144 heads over 256 tokens in the browser, against bertviz's page: times smaller",
    ("payload", "time_vs_bertviz_ratio"): "the same, until it is written: times faster",
    ("lsh_attention", "vs_reformer_pytorch_ratio"): "hashed attention, 8,192 positions, against reformer-pytorch",
    ("sparse_attention", "strided_vs_dense_ratio"): "strided attention, 4,096 positions, against torch's dense attention",
    ("local_attention", "local_1d_vs_package_ratio"): "local attention, against the local-attention package",
    ("relative_attention", "vs_skew_ratio"): "relative attention, against the paper's skewing",
    ("adaptive_span", "vs_fixed_ratio"): "adaptive spans, against the same network with fixed ones",
    ("ponder", "ratio_at_mean_1_2"): "pondering that drops who has halted, against masking them, at 1.2 steps on average",
    ("decode", "batch1_vs_generate_ratio"): "translating one sentence, against transformers' generate",
    ("image_decode", "vs_generate_ratio"): "drawing a picture pixel by pixel, against transformers' generate",
}

FIGURES_TEXT = """# All figures

Written by `python -m explorer.readme`. Each figure of a model is measured on held-out data by `python -m models evaluate SLUG --variant V`
and stands in its `model.json`, beside the split that it is reported on, the one that learning rates and all else were chosen on, and how
it was measured. The cost laboratory runs no model: it times layers on the machine that serves it.

## Models

{labs}

## Benchmarks

`python -m benchmarks NAME --json` measures one; what it is compared with runs in the same call.

{benchmarks}
"""


def headlines(labs: tuple[Lab, ...], assets: Path) -> str:
    """A Markdown row per lab: the figure of the variant that its recipe puts first, and the published one."""
    rows = ["| lab | model | held out, measured here | in print |", "| --- | --- | --- | --- |"]
    for lab in labs:
        paper = f"[{lab.title['en']}](https://arxiv.org/abs/{lab.arxiv}) ({lab.year})"
        if importlib.util.find_spec(f"models.{lab.slug}.recipe") is None:
            rows.append(f"| {paper} | none is trained | – | – |")
            continue
        variant = next(iter(importlib.import_module(f"models.{lab.slug}.recipe").LAB.variants))
        facts = json.loads((assets / lab.slug / variant / "model.json").read_text("utf-8"))
        figure = facts["figure"]
        ours = f"**{_figure(figure['value'])}** {figure['metric']}"
        rows.append(f"| {paper} | `{variant}`, {_size(facts['parameters'])} | {ours} | {_in_print(facts).partition(': ')[0]} |")
    return "\n".join(rows)


def ratios(results: Path) -> str:
    """A Markdown row for each of `RATIOS`."""
    rows = ["| what, against what | ratio |", "| --- | --- |"]
    for (name, figure), words in RATIOS.items():
        value = json.loads((results / f"{name}.json").read_text("utf-8"))["figures"][figure]
        rows.append(f"| {words} (`benchmarks {name}`) | {value:,.3g} |")
    return "\n".join(rows)


def labs_table(labs: tuple[Lab, ...], assets: Path) -> str:
    """A Markdown row per shipped variant: lab, parameters, held-out figure with how it came about, published figure, training."""
    rows = ["| lab | variant | parameters | held out, measured here | published | trained |", "| --- | --- | --- | --- | --- | --- |"]
    shipped = [(lab, path) for lab in labs for path in sorted((assets / lab.slug).glob("*/model.json"))]
    rows += [_row(lab, path.parent.name, json.loads(path.read_text("utf-8"))) for lab, path in shipped]
    return "\n".join(rows)


def _row(lab: Lab, variant: str, facts: dict[str, Any]) -> str:
    figure, published = facts.get("figure"), facts.get("published")
    ours = "–" if not figure else f"**{_figure(figure['value'])}** {figure['metric']}, `{figure['split']}`, n = {figure['n']:,}"
    if figure and "chosen_on" in facts:
        ours += f"; chosen on {_split(facts['chosen_on'])}; {facts['protocol']}{_otherwise(figure, facts)}"
    if figure and "signature" in figure:
        ours += f"<br>`{figure['signature']}`"
    theirs = f"{_in_print(facts)}. {published['why']['en']}" if published else "–"
    trained = "not here"
    if "training_seconds" in facts:
        trained = f"{facts['training_seconds'] / 60:.0f} min, {device(facts['training_device'])['en']}" + (
            "" if facts["finished"] else ", stopped early"
        )
    paper = f"[{lab.title['en']}](https://arxiv.org/abs/{lab.arxiv}) ({lab.year})"
    return f"| {paper} | `{variant}` | {_size(facts['parameters'])} | {ours} | {theirs} | {trained} |"


def _in_print(facts: dict[str, Any]) -> str:
    """The published figure with its source."""
    published = facts.get("published")
    if not published:
        return "–"
    if "value" not in published:
        return f"not comparable: {published['source']}"
    metric, value = published.get("metric") or facts.get("figure", {}).get("metric", ""), published["value"]
    return f"{value:.{3 if value < 1 else 2}f} {metric}: {published['source']}"


def _otherwise(figure: dict[str, Any], facts: dict[str, Any]) -> str:
    """The same model read in other ways, or with other rounds of hashing, beside its figure."""
    ways = {way: value for way, value in figure.get("by_reading", {}).items() if way != "half_overlap"}
    said = [f"{_figure(value)} {WAYS[way]}" for way, value in ways.items()]
    rounds = str(facts["config"].get("rounds"))
    if rounds in figure.get("by_rounds", {}):
        said.append(f"{_figure(figure['by_rounds'][rounds])} with the {rounds} of training")
    return f" ({'; '.join(said)})" if said else ""


def _split(name: str) -> str:
    """A split as code; where none is known, the words that say so."""
    return name if " " in name else f"`{name}`"


def _figure(value: float) -> str:
    """Two digits behind the point; four of a share, most of which come close to 1."""
    return f"{value:.4f}" if 0 <= value <= 1 else f"{value:.2f}"


def _size(parameters: int) -> str:
    return f"{parameters / 1e6:.2f} M" if parameters >= 10**5 else f"{parameters:,}"


def benchmarks_table(results: Path) -> str:
    """A Markdown row per figure of every stored benchmark; the bound stands beside where there is one."""
    return "\n".join(["| benchmark | figure | measured | to reach | on |", "| --- | --- | --- | --- | --- |", *_benchmark_rows(results)])


def _benchmark_rows(results: Path) -> Iterator[str]:
    for path in sorted(results.glob("*.json")):
        found = json.loads(path.read_text("utf-8"))
        if not found["reach"]:  # drawn on a page
            continue
        threads = f"{found['device']}, {found['threads']} threads"
        for name, value in found["figures"].items():
            bound = found["reach"].get(name)
            wanted = "" if bound is None else f"{found['bounds'][name]} {bound[0]:g}: {'reached' if bound[1] else '**not reached**'}"
            yield f"| `{found['name']}` | `{name}` | {value:,.4g} | {wanted} | {threads} |"


def written(text: str) -> str:
    """README.md with its tables made anew. ValueError where the marks of a table are missing."""
    for mark, table in (("labs", headlines(LABS, ROOT / "assets")), ("ratios", ratios(ROOT / "benchmarks" / "results"))):
        pattern = re.compile(rf"(<!-- {mark}: [^\n]*-->\n).*?(<!-- /{mark} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"README.md has no marks for the table {mark}")
        text = pattern.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
    return text


def all_figures() -> str:
    """The text of assets/FIGURES.md."""
    tables = {"labs": labs_table(LABS, ROOT / "assets"), "benchmarks": benchmarks_table(ROOT / "benchmarks" / "results")}
    return FIGURES_TEXT.format(**tables)


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or with --check say whether they are current; 1 where they are not."""
    parser = argparse.ArgumentParser(prog="python -m explorer.readme", description="Write README.md's tables and assets/FIGURES.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; end with 1 where a file is out of date")
    chosen = parser.parse_args(arguments)
    texts = {README: written(README.read_text("utf-8")), FIGURES: all_figures()}
    if chosen.check:
        old = [path.name for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text]
        print(f"out of date: {', '.join(old)}; run python -m explorer.readme" if old else "README.md and FIGURES.md are current")
        return 1 if old else 0
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
