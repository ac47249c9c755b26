"""Count what the project and each of its labs cost, in lines of code.

``python -m tools.price [--json]``

Code is the rest without blank lines, comments, docstrings and texts. A statement, or a rule of a
style sheet, counts alike however it is wrapped: once for every 120 characters of it, so that
nothing is won by squeezing. A text is a sentence for visitors in both
languages: in Python a dict with the keys "en" and "zh", a call ``_("…", "…")``, or the arguments
``en=…, zh=…``; in JavaScript an object ``{ en: …, zh: … }``. The rest of a line with a text counts,
unless it is only the name of the text, as in ``title: { en: …, zh: … },`` or ``TITLE: Final =
_(…)``.

A lab's own lines are those of ``explorer/labs/SLUG`` and ``models/SLUG``; everything else is
shared.
"""

from __future__ import annotations

import argparse
import ast
import gc
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tools.scripts import Script, read_scripts

ROOT = Path(__file__).parents[1]
WIDTH = 120  # characters that count as one line
KINDS = {".py": "python", ".js": "javascript", ".css": "css"}
CODE = ("app.py", "explorer", "models", "benchmarks", "tools")
TEXT = "\0"  # stands in place of a text, as tools/measure.js writes it
NAME_OF_A_TEXT = re.compile(r"""\W*["'`]?[\w.-]*["'`]?\W*(?:Final\W*|Text\W*)*""")


def lines_of(text: str) -> int:
    """Return the number of lines of a text.

    Its comments and docstrings are taken out, and `TEXT` stands for each sentence for visitors.
    """
    count = 0
    for line in text.splitlines():
        rest = line.replace(TEXT, "").strip()
        if rest and not (TEXT in line and NAME_OF_A_TEXT.fullmatch(rest)):
            count += -(-len(rest) // WIDTH)
    return count


@cache
def nodes(source: str) -> list[ast.AST]:
    """Return every node of a Python source, in no order: `ast.walk` takes three times as long."""
    found: list[ast.AST] = [ast.parse(source)]
    for node in found:  # the list grows in this loop
        for value in vars(node).values():
            if isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append(value)
    return found


def join_lines(source: str) -> str:
    """Return a Python source with each logical line on one physical line, and without comments.

    So a statement counts alike, however its parts are wrapped.
    """
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    parts: list[str] = []
    end, depth, is_joined = 0, 0, False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        begin, until = (begins[row - 1] + column for row, column in (token.start, token.end))
        between = source[end:begin]
        parts.append("" if is_joined else between)
        end, is_joined = until, False
        if token.type == tokenize.COMMENT:
            continue
        if token.type == tokenize.NL and depth:
            parts.append(" ")
            is_joined = True
            continue
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        parts.append(source[begin:until])
    return "".join(parts)


def python(source: str) -> int:
    """The lines of code of a Python source."""
    source = join_lines(source)
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))

    def at(row: int, column: int) -> int:  # ast counts columns in bytes
        return begins[row - 1] + len(lines[row - 1].encode()[:column].decode())

    def cut(node: Any, mark: str) -> tuple[int, int, str]:
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset), mark

    cuts: list[tuple[int, int, str]] = []
    for node in nodes(source):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            cuts.append(cut(node.body[0], ""))
        elif _is_text(node):
            cuts.append(cut(node, TEXT))
        elif isinstance(node, ast.Call) and {"en", "zh"} <= {word.arg for word in node.keywords}:
            cuts += [cut(word, TEXT) for word in node.keywords if word.arg in {"en", "zh"}]
    cuts += [(*found.span(), "") for found in _comments(source, at)]
    return lines_of(_without(source, cuts))


def _comments(source: str, at: Callable[[int, int], int]) -> Iterator[re.Match[str]]:
    """Yield the comments of a Python source: they begin with "#" outside of strings."""
    texts = [
        n
        for n in nodes(source)
        if isinstance(n, ast.JoinedStr)
        or (isinstance(n, ast.Constant) and isinstance(n.value, str | bytes))
    ]
    inside = sorted(
        (at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0))
        for node in texts
    )
    end, place = 0, 0
    for found in re.finditer(r"#[^\n]*", source):
        while place < len(inside) and inside[place][0] <= found.start():
            end, place = max(end, inside[place][1]), place + 1
        # Strings side by side are one node, and a comment may stand between them.
        if found.start() >= end or re.fullmatch(
            r".*[\"']\s*", source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
        ):
            yield found


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        return {"en", "zh"} == {
            key.value for key in node.keys if isinstance(key, ast.Constant)
        } and len(node.keys) == 2
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "_"
        and len(node.args) == 2
    )


def _without(source: str, cuts: Iterable[tuple[int, int, str]]) -> str:
    """Return the source without some of its parts; a cut inside another one changes nothing."""
    kept, end = [], 0
    for begin, until, mark in sorted(cuts, key=lambda cut: (cut[0], -cut[1])):
        if begin >= end:
            kept += [source[end:begin], mark]
            end = until
    return "".join([*kept, source[end:]])


def join_wrapped(source: str) -> str:
    """Return a script, or a style sheet, with each wrapped statement on one line.

    A line break counts within braces of statements alone: what a formatter opens with a bracket at
    the end of a line is one line up to its end, but for the bodies of functions.
    """
    parts: list[str] = []
    open_brackets: list[str] = []
    lines = source.splitlines()
    for number, line in enumerate(lines):
        for at, sign in enumerate(line):
            if sign in "([":
                open_brackets.append(sign)
            elif sign == "{":
                before = line[:at].rstrip()
                body = before.endswith((")", "=>", "else", "try", "finally", "do", "")) and not (
                    before.endswith(("(", "[", ",", ":", "=", "?", "return", "&&", "||"))
                )
                open_brackets.append("body" if body else "{")
            elif sign in ")]}" and open_brackets:
                open_brackets.pop()
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        goes_on = bool(open_brackets) and open_brackets[-1] != "body"
        goes_on = goes_on or bool(re.match(r"[)\]}.?:&|+]", following))
        parts.append(line.strip() + (" " if goes_on else "\n"))
    return "".join(parts)


def script(code: Script) -> int:
    """Return the lines of code of a script."""
    return lines_of(join_wrapped(code.code))


def style(source: str) -> int:
    """Return the lines of code of a style sheet."""
    rules = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    return lines_of(re.sub(r"\s*([{;])\s*", r"\1 ", rules).replace("}", "}\n"))


def count_lines(root: Path, folders: Iterable[str]) -> dict[str, int]:
    """Return the lines of code of every file in some folders or files of `root`, by its path."""
    found = [
        path
        for folder in folders
        for path in (
            [root / folder] if (root / folder).is_file() else sorted((root / folder).rglob("*"))
        )
        if path.suffix in KINDS and path.is_file()
    ]
    scripts = read_scripts([path for path in found if path.suffix == ".js"])
    counts = {path: script(code) for path, code in scripts.items()}
    for path in found:
        if path.suffix != ".js":
            count = python if path.suffix == ".py" else style
            counts[path] = count(path.read_text("utf-8"))
    return {path.relative_to(root).as_posix(): counts[path] for path in found}


def owner(name: str, slugs: Iterable[str]) -> str | None:
    """Return the lab in whose folders a file lies, or None."""
    parts = Path(name).parts
    slug = (
        parts[2]
        if parts[:2] == ("explorer", "labs") and len(parts) > 3
        else parts[1]
        if parts[0] == "models" and len(parts) > 2
        else ""
    )
    return slug if slug in slugs else None


def figures(root: Path = ROOT) -> dict[str, int]:
    """Return every figure in lines.

    They are code_lines (without tests), python_lines, javascript_lines, css_lines, test_lines,
    shared_lines, and lab_SLUG_own_lines for each lab.
    """
    files = count_lines(root, CODE)
    slugs = sorted(path.parent.name for path in (root / "explorer" / "labs").glob("*/texts.py"))
    kinds: Counter[str] = Counter()
    own: Counter[str] = Counter(dict.fromkeys(slugs, 0))
    shared = 0
    for name, lines in files.items():
        kinds[KINDS[Path(name).suffix]] += lines
        if slug := owner(name, slugs):
            own[slug] += lines
        else:
            shared += lines
    tests = sum(count_lines(root, ("tests",)).values())
    return {
        "code_lines": kinds.total(),
        **{f"{kind}_lines": kinds[kind] for kind in KINDS.values()},
        "test_lines": tests,
        "shared_lines": shared,
        **{f"lab_{slug}_own_lines": own[slug] for slug in slugs},
    }


def main() -> None:
    """Print the figures as a table, or with --json as one object {"figures": {…}}."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.price", description="Count lines of code, in all and for each lab."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    gc.disable()  # garbage collection over a million nodes takes longer than all else here
    found = figures()
    if parser.parse_args().json:
        print(json.dumps({"figures": found}))
        return
    for name, value in found.items():
        print(f"{name:<40}{value:>8,}")


if __name__ == "__main__":
    main()
