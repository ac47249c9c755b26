"""python -m explorer.readme [--check]: the tables of README.md, from what the programs that measured wrote.

The labs' figures stand in each checkpoint's `model.json`, the ratios in `benchmarks/results/<name>.json`; nobody types them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.lab import Lab
from explorer.labs import LABS
from models.bits import WAYS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


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
    theirs = "–"
    if published and "value" in published:
        metric = published.get("metric") or (figure or {}).get("metric", "")
        value = published["value"]
        theirs = f"{value:.{3 if value < 1 else 2}f} {metric}: {published['source']}. {published['why']['en']}"
    elif published:
        theirs = f"not comparable: {published['source']}. {published['why']['en']}"
    minutes = facts["training_seconds"] / 60
    trained = f"{minutes:.0f} min, {facts['training_device']}" + ("" if facts["finished"] else ", stopped early")
    paper = f"[{lab.title['en']}](https://arxiv.org/abs/{lab.arxiv}) ({lab.year})"
    return f"| {paper} | `{variant}` | {_size(facts['parameters'])} | {ours} | {theirs} | {trained} |"


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
    for mark, table in (("labs", labs_table(LABS, ROOT / "assets")), ("benchmarks", benchmarks_table(ROOT / "benchmarks" / "results"))):
        pattern = re.compile(rf"(<!-- {mark}: [^\n]*-->\n).*?(<!-- /{mark} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"README.md has no marks for the table {mark}")
        text = pattern.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
    return text


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or with --check say whether they are current; 1 where they are not."""
    parser = argparse.ArgumentParser(prog="python -m explorer.readme", description="Write the tables of README.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; end with 1 where README.md is out of date")
    chosen = parser.parse_args(arguments)
    before = README.read_text("utf-8")
    after = written(before)
    if chosen.check:
        print("README.md is current" if after == before else "README.md is out of date: run python -m explorer.readme")
        return 0 if after == before else 1
    README.write_text(after, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
