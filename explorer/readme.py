"""Write the tables of README.md and all of assets/FIGURES.md from stored measurements.

``python -m explorer.readme [--check]``

The labs' figures stand in each checkpoint's `model.json`, the ratios in
`benchmarks/results/<name>.json`; nobody types them.
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

from explorer.contract.lab import OpenLab
from explorer.contract.labels import name_device
from explorer.labs import LABS
from models.evaluation.bits_per_character import WAYS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FIGURES = ROOT / "assets" / "FIGURES.md"
RATIOS = {  # The ratios of benchmarks that README names, each with a description of the comparison.
    (
        "payload",
        "size_vs_bertviz_ratio",
    ): "attention of 144 heads over 256 tokens, against bertviz's page: times smaller",
    ("payload", "time_vs_bertviz_ratio"): "the same, until it is written: times faster",
    (
        "lsh_attention",
        "vs_reformer_pytorch_ratio",
    ): "hashed attention, 8,192 positions, against reformer-pytorch",
    (
        "sparse_attention",
        "strided_vs_dense_ratio",
    ): "strided attention, 4,096 positions, against torch's dense attention",
    (
        "local_attention",
        "local_1d_vs_package_ratio",
    ): "local attention, against the local-attention package",
    ("relative_attention", "vs_skew_ratio"): "relative attention, against the paper's skewing",
    ("adaptive_span", "vs_fixed_ratio"): "adaptive spans, against fixed ones",
    (
        "ponder",
        "ratio_at_mean_1_2",
    ): "pondering that drops who has halted, against masking them, at 1.2 steps",
    (
        "decode",
        "batch1_vs_generate_ratio",
    ): "translating one sentence, against transformers' generate",
    (
        "image_decode",
        "vs_generate_ratio",
    ): "drawing a picture pixel by pixel, against transformers' generate",
}

PAGE_PASSES = (4, 1)  # passes and lengths with which the page of non-autoregressive decoding begins

FIGURES_TEXT = """# All figures

Written by `python -m explorer.readme`. Each figure of a model is measured on held-out data by \
`python -m models evaluate SLUG --variant V`
and stands in its `model.json`, beside the split that it is reported on, the one that learning \
rates and all else were chosen on, and how
it was measured. Parameters are those that a prediction takes: heads that only training needs \
are not counted. The cost laboratory
runs no model: it times layers on the machine that serves it.

## Models

{labs}

## Benchmarks

`python -m benchmarks NAME --json` measures one; what it is compared with runs in the same call.

{benchmarks}

{watching}
"""
WATCHING = """What runs while nobody looks is fused: one call for all layers of an encoder. \
Whoever watches a run gives that up, for the
plain path with its taps: the encoder then takes {fused:.2f} × as long with a caption as fused, \
and {plain:.2f} × as long as on the plain
path without a look (`benchmarks trace`)."""


def write_headlines(labs: tuple[OpenLab, ...], assets: Path) -> str:
    """Return a Markdown table with a row per lab.

    A row has the figure of the variant that the lab's recipe puts first, and the published one.
    """
    rows = ["| lab | model | held out, measured here | in print |", "| --- | --- | --- | --- |"]
    for lab in labs:
        paper = f"[{lab.title['en']}](https://arxiv.org/abs/{lab.arxiv}) ({lab.year})"
        if importlib.util.find_spec(f"models.{lab.slug}.recipe") is None:
            rows.append(f"| {paper} | none is trained | – | – |")
            continue
        if not any((assets / lab.slug).glob("*/model.json")):
            rows.append(f"| {paper} | made live | – | – |")
            continue
        variant = next(iter(importlib.import_module(f"models.{lab.slug}.recipe").LAB.variants))
        facts = json.loads((assets / lab.slug / variant / "model.json").read_text("utf-8"))
        figure = facts["figure"]
        ours = f"**{_format_figure(figure['value'])}** {figure['metric']}{_beside(figure)}"
        printed = _describe_published(facts).partition(": ")[0]
        size = _format_size(_count_used_parameters(facts))
        rows.append(f"| {paper} | `{variant}`, {size} | {ours} | {printed} |")
    return "\n".join(rows)


def write_ratios(results: Path) -> str:
    """Return a Markdown table with a row for each of `RATIOS`."""
    rows = ["| what, against what | ratio |", "| --- | --- |"]
    for (name, figure), words in RATIOS.items():
        found = json.loads((results / f"{name}.json").read_text("utf-8"))
        value = _range(found, figure) or f"{found['figures'][figure]:,.2g}"
        rows.append(f"| {words} (`{name}`) | {value} |")
    return "\n".join(rows)


def _range(found: dict[str, Any], figure: str) -> str:
    """Return the range of a figure over several runs of a benchmark; "" where one run is stored."""
    known = found.get("ranges", {}).get(figure)
    return "" if known is None else f"{known['least']:,.3g}–{known['most']:,.3g}"


def _beside(figure: dict[str, Any]) -> str:
    """Return the text that a reader needs beside a figure.

    It is a baseline that does as well, or how it was decoded and the result of the page's own way.
    """
    if "trigrams_novels" in figure:
        return f"; counted trigrams: {_format_figure(figure['trigrams_novels'])}"
    if "by_times" in figure:
        page = next(
            one for one in figure["by_times"] if (one["times"], one["lengths"]) == PAGE_PASSES
        )
        passes = "1 pass" if figure["times"] == 1 else f"{figure['times']} passes"
        default = (
            f"{page['times']} × {page['lengths']}, the page's default:"
            f" {_format_figure(page['value'])}"
        )
        return f", {passes} × {figure['lengths']} lengths ({default})"
    return ""


def _count_used_parameters(facts: dict[str, Any]) -> int:
    """Return the parameters without the auxiliary heads, which training alone needs."""
    return int((facts.get("figure") or {}).get("used_parameters", facts["parameters"]))


def write_labs_table(labs: tuple[OpenLab, ...], assets: Path) -> str:
    """Return a Markdown table with a row per shipped variant.

    Its columns are lab, parameters, held-out figure with the way it was measured, published figure,
    and training.
    """
    rows = [
        "| lab | variant | parameters used | held out, measured here | published | trained |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    shipped = [
        (lab, path) for lab in labs for path in sorted((assets / lab.slug).glob("*/model.json"))
    ]
    rows += [
        _write_row(lab, path.parent.name, json.loads(path.read_text("utf-8")))
        for lab, path in shipped
    ]
    return "\n".join(rows)


def _write_row(lab: OpenLab, variant: str, facts: dict[str, Any]) -> str:
    figure, published = facts.get("figure"), facts.get("published")
    ours = (
        "–"
        if not figure
        else (
            f"**{_format_figure(figure['value'])}** {figure['metric']}, `{figure['split']}`, n ="
            f" {figure['n']:,}"
        )
    )
    if figure and "chosen_on" in facts:
        ours += (
            f"{_beside(figure)}; chosen on {_name_split(facts['chosen_on'])};"
            f" {facts['protocol']}{_describe_other_readings(figure, facts)}"
        )
    if figure and "signature" in figure:
        ours += f"<br>`{figure['signature']}`"
    theirs = f"{_describe_published(facts)}. {published['why']['en']}" if published else "–"
    trained = "not here"
    if "training_seconds" in facts:
        trained = (
            f"{facts['training_seconds'] / 60:.0f} min,"
            f" {name_device(facts['training_device'])['en']}"
            + ("" if facts["finished"] else ", stopped early")
        )
    paper = f"[{lab.title['en']}](https://arxiv.org/abs/{lab.arxiv}) ({lab.year})"
    size = _format_size(_count_used_parameters(facts))
    return f"| {paper} | `{variant}` | {size} | {ours} | {theirs} | {trained} |"


def _describe_published(facts: dict[str, Any]) -> str:
    """Return the published figure with its source."""
    published = facts.get("published")
    if not published:
        return "–"
    if "value" not in published:
        return f"not comparable: {published['source']}"
    metric, value = (
        published.get("metric") or facts.get("figure", {}).get("metric", ""),
        published["value"],
    )
    of = f" ({published['of']})" if "of" in published else ""
    return f"{value:.{3 if value < 1 else 2}f} {metric}{of}: {published['source']}"


def _describe_other_readings(figure: dict[str, Any], facts: dict[str, Any]) -> str:
    """Return the figures of the same model under other conditions.

    These are other ways of reading, line breaks as spaces, or the rounds of hashing of its
    training.
    """
    ways = {
        way: value for way, value in figure.get("by_reading", {}).items() if way != "half_overlap"
    }
    said = [f"{_format_figure(value)} {WAYS[way]}" for way, value in ways.items()]
    if "breaks_as_spaces" in figure:
        said.append(
            f"{_format_figure(figure['breaks_as_spaces']['value'])} with line breaks as spaces"
        )
    rounds = str(facts["config"].get("rounds"))
    if rounds in figure.get("by_rounds", {}):
        said.append(f"{_format_figure(figure['by_rounds'][rounds])} with the {rounds} of training")
    return f" ({'; '.join(said)})" if said else ""


def _name_split(name: str) -> str:
    """Return a split as code; where none is known, the words that say so."""
    return name if " " in name else f"`{name}`"


def _format_figure(value: float) -> str:
    """Return a figure with two digits behind the point.

    A share has four, since most shares are close to 1.
    """
    return f"{value:.4f}" if 0 <= value <= 1 else f"{value:.2f}"


def _format_size(parameters: int) -> str:
    return f"{parameters / 1e6:.2f} M" if parameters >= 10**5 else f"{parameters:,}"


def write_benchmarks_table(results: Path) -> str:
    """Return a Markdown table with a row per figure of every stored benchmark.

    The bound stands beside a figure where there is one.
    """
    return "\n".join(
        [
            "| benchmark | figure | measured | to reach | on |",
            "| --- | --- | --- | --- | --- |",
            *_list_benchmark_rows(results),
        ]
    )


def _list_benchmark_rows(results: Path) -> Iterator[str]:
    for path in sorted(results.glob("*.json")):
        found = json.loads(path.read_text("utf-8"))
        if not found["reach"]:  # its figures are drawn on a page
            continue
        threads = f"{found['device']}, {found['threads']} threads"
        for name, value in found["figures"].items():
            bound = found["reach"].get(name)
            wanted = (
                ""
                if bound is None
                else (
                    f"{found['bounds'][name]} {bound[0]:g}:"
                    f" {'reached' if bound[1] else '**not reached**'}"
                )
            )
            seen = _range(found, name)
            measured = f"{value:,.4g}{f' ({seen} over several runs)' if seen else ''}"
            yield f"| `{found['name']}` | `{name}` | {measured} | {wanted} | {threads} |"


def rewrite_readme(text: str) -> str:
    """Return README.md with its tables made anew.

    Raise ValueError where the marks of a table are missing.
    """
    for mark, table in (
        ("labs", write_headlines(LABS, ROOT / "assets")),
        ("ratios", write_ratios(ROOT / "benchmarks" / "results")),
    ):
        pattern = re.compile(rf"(<!-- {mark}: [^\n]*-->\n).*?(<!-- /{mark} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"README.md has no marks for the table {mark}")
        text = pattern.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
    return text


def write_all_figures() -> str:
    """Return the text of assets/FIGURES.md."""
    results = ROOT / "benchmarks" / "results"
    tables = {
        "labs": write_labs_table(LABS, ROOT / "assets"),
        "benchmarks": write_benchmarks_table(results),
    }
    return FIGURES_TEXT.format(**tables, watching=price_of_watching(results))


def price_of_watching(results: Path) -> str:
    """Return the sentence on what it costs that a run is watched."""
    figures = json.loads((results / "trace.json").read_text("utf-8"))["figures"]
    return WATCHING.format(
        fused=figures["watched_vs_fused_ratio"], plain=figures["watched_vs_off_ratio"]
    )


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or with --check report whether they are current.

    Returns 1 where a table is not current.
    """
    parser = argparse.ArgumentParser(
        prog="python -m explorer.readme",
        description="Write README.md's tables and assets/FIGURES.md.",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; end with 1 where a file is out of date",
    )
    chosen = parser.parse_args(arguments)
    texts = {README: rewrite_readme(README.read_text("utf-8")), FIGURES: write_all_figures()}
    if chosen.check:
        old = [
            path.name
            for path, text in texts.items()
            if not path.exists() or path.read_text("utf-8") != text
        ]
        print(
            f"out of date: {', '.join(old)}; run python -m explorer.readme"
            if old
            else "README.md and FIGURES.md are current"
        )
        return 1 if old else 0
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
