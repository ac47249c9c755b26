"""What the project and each of its labs cost, in lines of code: ``python -m tools.price [--json]``.

Code is what is left without blank lines, comments, docstrings and texts. A line counts once for every 120 characters of it, so that
nothing is won by squeezing. A text is what a visitor reads in both languages: in Python a dict with the keys "en" and "zh", a call
``_("…", "…")``, or the arguments ``en=…, zh=…``; in JavaScript an object ``{ en: …, zh: … }``. The rest of a line with a text counts
unless it is only the name that the text goes by, as in ``title: { en: …, zh: … },`` or ``TITLE: Final = _(…)``.

Files of a lab are those of ``explorer/labs/SLUG`` and ``models/SLUG``. A shared file belongs to the labs that reach it through imports: of
Python, of JavaScript, from a widget's Python file to the script and style of the same name, from a ``stage("NAME", …)`` to the picture of
that name, and from a script to the styles that it wears,
``root.classList.add("tfe-NAME")``. It is divided equally among them. What every lab reaches, what ``app.py`` reaches without a lab, and
what no lab reaches (programs, benchmarks) is the frame's.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
WIDTH = 120  # characters that count as one line
KINDS = {".py": "python", ".js": "javascript", ".css": "css"}
CODE = ("app.py", "explorer", "models", "benchmarks", "tools")
FRAME = "frame"
PANELS = ("ask", "change")
TEXT = "\0"  # stands where a text was
NAME_OF_A_TEXT = re.compile(r"""\W*["'`]?[\w.-]*["'`]?\W*(?:Final\W*|Text\W*)*""")
SCAN = re.compile(  # JavaScript and CSS in pieces, the earliest first
    r"""(?P<comment>/\*.*?\*/|(?<!:)//[^\n]*)"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
    r"""|(?P<regex>(?:(?<=[(,=:\[!&|?{};+>\n])|(?<=return))(?P<space>\s*)/(?![*/\s])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*)""",
    re.DOTALL,
)
STRING = r"""(?:"[^"]*"|'[^']*'|`[^`]*`)"""
PAIR = re.compile(rf"\{{\s*en:\s*{STRING}\s*,\s*zh:\s*{STRING}\s*,?\s*\}}")


def lines_of(text: str) -> int:
    """The lines of a text from which comments and docstrings are taken out and in which `TEXT` stands for each text."""
    count = 0
    for line in text.splitlines():
        rest = line.replace(TEXT, "").strip()
        if rest and not (TEXT in line and NAME_OF_A_TEXT.fullmatch(rest)):
            count += -(-len(rest) // WIDTH)
    return count


@cache
def nodes(source: str) -> list[ast.AST]:
    """Every node of a Python source, in no order: `ast.walk` takes three times as long."""
    found: list[ast.AST] = [ast.parse(source)]
    for node in found:  # it grows meanwhile
        for value in vars(node).values():
            if isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append(value)
    return found


def python(source: str) -> int:
    """The lines of code of a Python source."""
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
    """The comments of a Python source: what begins with "#" outside of strings."""
    texts = [n for n in nodes(source) if isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str | bytes))]
    inside = sorted((at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)) for node in texts)
    end, place = 0, 0
    for found in re.finditer(r"#[^\n]*", source):
        while place < len(inside) and inside[place][0] <= found.start():
            end, place = max(end, inside[place][1]), place + 1
        # Several strings are one where nothing but space stands between them, and a comment may.
        if found.start() >= end or re.fullmatch(r".*[\"']\s*", source[source.rfind("\n", 0, found.start()) + 1 : found.start()]):
            yield found


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        return {"en", "zh"} == {key.value for key in node.keys if isinstance(key, ast.Constant)} and len(node.keys) == 2
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_" and len(node.args) == 2


def _without(source: str, cuts: Iterable[tuple[int, int, str]]) -> str:
    """The source without some of its parts; inside a cut another one changes nothing."""
    kept, end = [], 0
    for begin, until, mark in sorted(cuts, key=lambda cut: (cut[0], -cut[1])):
        if begin >= end:
            kept += [source[end:begin], mark]
            end = until
    return "".join([*kept, source[end:]])


def script(source: str) -> int:
    """The lines of code of a JavaScript source."""

    def piece(found: re.Match[str]) -> str:
        if found["comment"] is not None:
            return ""
        if found["string"] is not None:  # nothing inside it is taken for a comment, a bracket or the end of a text
            return found[0][0] + re.sub(r"[\"'`{}]", "x", found[0][1:-1]) + found[0][-1]
        return str(found["space"]) + "x" * len(found[0].strip())

    return lines_of(PAIR.sub(TEXT, SCAN.sub(piece, source)))


def style(source: str) -> int:
    """The lines of code of a style sheet."""
    return lines_of(re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL))


COUNTS = {".py": python, ".js": script, ".css": style}


def count(name: str, source: str) -> int:
    """The lines of code of a file, by the ending of its name."""
    return COUNTS[Path(name).suffix](source)


def sources(root: Path, folders: Iterable[str]) -> dict[str, str]:
    """Every file of code in some folders or files of `root`, by its path."""
    found = [path for folder in folders for path in ([root / folder] if (root / folder).is_file() else sorted((root / folder).rglob("*")))]
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in found if path.suffix in KINDS and path.is_file()}


def uses(files: Mapping[str, str]) -> dict[str, set[str]]:
    """Which files each file names: by an import, by "package.module:function", or as the script and style of a widget."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, source in files.items():
        path = Path(name)
        if path.suffix != ".css":
            found[name] |= {str(path.with_suffix(ending)) for ending in (".js", ".css")}
        if path.suffix == ".py":
            for module in _modules(source):
                whole = module.replace(".", "/")
                found[name] |= {f"{whole}.py", f"{whole}/__init__.py", *(_inits(whole))}
            found[name] |= {
                f"explorer/widgets/{widget}{ending}" for widget in re.findall(r'(?:widget\(|script=)\s*"(\w+)"', source) for ending in KINDS
            }
            found[name] |= {f"explorer/{script}" for script in re.findall(r'"((?:widgets|labs)/\w+/\w+\.js)"', source)}
            for view, other in re.findall(r'stage\(\s*"(\w+)"(?:.*?picture="([\w/]+)")?', source):
                found[name] |= {f"explorer/{'labs' if '/' in other else 'pictures'}/{other or view}{ending}" for ending in KINDS}
        elif path.suffix == ".js":
            named = re.findall(r"""(?:from|import\(?)\s*["'](\.[^"']+)["']""", source)
            found[name] |= {f"explorer/widgets/{worn}.css" for worn in re.findall(r'classList\.add\("tfe-(\w+)"\)', source)}
            found[name] |= {posixpath.normpath(f"{path.parent.as_posix()}/{other}") for other in named}
        found[name] &= files.keys()
        found[name].discard(name)
    return found


def _modules(source: str) -> set[str]:
    found = set(re.findall(r'"((?:models|explorer)(?:\.\w+)+):\w+"', source))
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def _inits(whole: str) -> list[str]:
    parts = whole.split("/")
    return ["/".join([*parts[:end], "__init__.py"]) for end in range(1, len(parts))]


def owner(name: str, slugs: Iterable[str]) -> str | None:
    """The lab in whose folders a file lies, or None."""
    parts = Path(name).parts
    slug = parts[2] if parts[:2] == ("explorer", "labs") and len(parts) > 3 else parts[1] if parts[0] == "models" and len(parts) > 2 else ""
    return slug if slug in slugs else None


def shares(files: Mapping[str, str], slugs: Iterable[str]) -> dict[str, dict[str, float]]:
    """Whose each file is: its path -> {slug or "frame": share}, which add up to 1."""
    slugs = set(slugs)
    named = uses(files)
    # Another lab's folder is not walked through, nor the list of all labs: what stands there is that lab's own.
    reached = {slug: _reached([name for name in files if owner(name, slugs) == slug], named, slugs) for slug in slugs}
    frame = _reached(["app.py"], named, slugs)
    result: dict[str, dict[str, float]] = {}
    for name in files:
        own = owner(name, slugs)
        who = {own} if own else {slug for slug in slugs if name in reached[slug]}
        if not own and (not who or who == slugs or name in frame):
            who = {FRAME}
        result[name] = {one: 1 / len(who) for one in who if one is not None}
    return result


def _reached(start: Iterable[str], named: Mapping[str, set[str]], slugs: set[str]) -> set[str]:
    seen, due = set(start), list(start)
    while due:
        new = {name for name in named[due.pop()] - seen if owner(name, slugs) is None and name != "explorer/labs/__init__.py"}
        seen |= new
        due += new
    return seen


def panels(files: Mapping[str, str]) -> set[str]:
    """The input bar and the panel of changes with the libraries that only they use: files of explorer/ that no other part of the frame
    reaches. What a lab declares of them is the lab's."""
    named = {name: found for name, found in uses(files).items() if name.startswith("explorer/") and not name.startswith("explorer/labs/")}
    own = {f"explorer/widgets/{name}{ending}" for name in PANELS for ending in KINDS} & files.keys()
    theirs = _reached(own, {name: found & named.keys() for name, found in named.items()}, set())
    others = _reached(named.keys() - theirs, {name: (found & named.keys()) - own for name, found in named.items()}, set())
    return theirs - others


def figures(root: Path = ROOT) -> dict[str, int]:
    """Every figure in lines, flat: code_lines (without tests), python_lines, javascript_lines, css_lines, test_lines, frame_lines,
    panels_lines (see `panels`), and for each lab lab_SLUG_lines (its own and its share of shared files) and lab_SLUG_own_lines."""
    files = sources(root, CODE)
    slugs = sorted(path.parent.name for path in (root / "explorer" / "labs").glob("*/page.py"))
    lines = {name: count(name, source) for name, source in files.items()}
    whose = shares(files, slugs)
    kinds: Counter[str] = Counter()
    total: dict[str, float] = dict.fromkeys([FRAME, *slugs], 0.0)
    own: Counter[str] = Counter(dict.fromkeys(slugs, 0))
    for name, n in lines.items():
        kinds[KINDS[Path(name).suffix]] += n
        own[owner(name, slugs) or FRAME] += n
        for who, share in whose[name].items():
            total[who] += share * n
    tests = sum(count(name, source) for name, source in sources(root, ("tests",)).items())
    return {
        "code_lines": sum(lines.values()),
        **{f"{kind}_lines": kinds[kind] for kind in KINDS.values()},
        "test_lines": tests,
        "frame_lines": round(total[FRAME]),
        "panels_lines": sum(lines[name] for name in panels(files)),
        **{f"lab_{slug}_lines": round(total[slug]) for slug in slugs},
        **{f"lab_{slug}_own_lines": own[slug] for slug in slugs},
    }


def main() -> None:
    """Print the figures as a table, or with --json as one object {"figures": {…}}."""
    parser = argparse.ArgumentParser(prog="python -m tools.price", description="What each lab costs, in lines of code.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    gc.disable()  # going through a million nodes again and again takes longer than all else here
    found = figures()
    if parser.parse_args().json:
        print(json.dumps({"figures": found}))
        return
    for name, value in found.items():
        print(f"{name:<40}{value:>8,}")


if __name__ == "__main__":
    main()
