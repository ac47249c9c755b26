"""Measure the language of the code: ``python -m tools.prose [--json | --bounds]``.

Names and sentences are counted over app.py, explorer, models, benchmarks and tools; names of tests
over tests. Special methods and names that a library prescribes (``forward``, ``backward``) count as
no names.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.scripts import Function, read_scripts

ROOT = Path(__file__).parents[1]
CODE = ("app.py", "explorer", "models", "benchmarks", "tools")
WIDTH = 100  # columns
LONG = 100  # lines of a function of JavaScript
PRAGMA = re.compile(r"\s*# (?:type: ignore|noqa).*")
PRESCRIBED = {"forward", "backward", "main"}
# Past participles that do not end in "ed", and pronouns.
IRREGULAR = frozenset(
    re.findall(
        r"\w+",
        """again begun bought broken brought built chosen come cut done drawn driven felt found
        given gone got grown heard held hidden kept known laid learnt left lent lost made meant
        met one other others ours own paid put read said seen sent set shown shut split spoken
        spread stood stretched taken taught thought told understood won written here there those
        these which who whose what where""",
    )
)
VERBS = {"cut", "put", "read", "set", "shut", "split", "spread"}  # that are verbs as well
NOT_PARTICIPLES = {"embed", "feed", "need", "seed", "speed", "shed", "bed", "red", "unused"}
# Names that say nothing of the value they stand for.
BANNED = frozenset(
    [
        "told",
        "made",
        "found",
        "seen",
        "wanted",
        "shown",
        "drawn",
        "one",
        "here",
        "own",
        "again",
        "lost",
    ]
)
OPENINGS = {"What", "How", "As", "Of", "Where", "Whose", "Who", "When", "Which"}


@dataclass(frozen=True)
class Finding:
    """A function, class or module of the code whose name or docstring breaks a rule."""

    path: str  # relative to the project
    line: int
    name: str
    rule: str  # as `count_exceptions` names it, or "single word"


def list_sources(*folders: str) -> list[Path]:
    """Return the Python files in some folders of the project, in order."""
    found = [ROOT / folder for folder in folders]
    return [
        path for one in found for path in ([one] if one.is_file() else sorted(one.rglob("*.py")))
    ]


def is_participle(name: str) -> bool:
    """Return whether a name is a bare participle or pronoun, as ``told`` and ``drawn`` are."""
    word = name.strip("_").lower()
    if word in NOT_PARTICIPLES | VERBS:
        return False
    return word in IRREGULAR or bool(re.fullmatch(r"[a-z]+(ed|ing)", word))


def is_counted(name: str) -> bool:
    """Return whether a function's name is ours to choose."""
    return not (name.startswith("__") or name in PRESCRIBED)


def walk_definitions(
    tree: ast.Module,
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield every function and class of a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def find_in(path: Path) -> tuple[list[Finding], Counter[str]]:
    """Return what breaks a rule in a file, and how many functions and docstrings it has."""
    tree = ast.parse(path.read_text("utf-8"))
    where = path.relative_to(ROOT).as_posix()
    found: list[Finding] = []
    total: Counter[str] = Counter()
    for node in [tree, *walk_definitions(tree)]:
        name, line = ("module", 1) if isinstance(node, ast.Module) else (node.name, node.lineno)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_counted(name):
            total["functions"] += 1
            if is_participle(name):
                found.append(Finding(where, line, name, "participle"))
            if "_" not in name.strip("_"):
                found.append(Finding(where, line, name, "single word"))
        if sentence := ast.get_docstring(node):
            total["docstrings"] += 1
            if sentence.split()[0].rstrip(",:") in OPENINGS:
                found.append(Finding(where, line, name, "opening"))
    found += [
        Finding(where, line, name, "banned binding") for line, name in list_banned_bindings(tree)
    ]
    return found, total


def list_banned_bindings(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the line and name of each variable and parameter of a file with a banned name.

    A name counts once for each function or file that binds it. Attributes do not count.
    """
    found: list[tuple[int, str]] = []
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        names: dict[str, int] = {}
        for node in _walk_scope(scope):
            name = ""
            if isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            if name in BANNED:
                names[name] = min(node.lineno, names.get(name, node.lineno))
        found += [(line, name) for name, line in names.items()]
    return sorted(found)


def _walk_scope(scope: ast.AST) -> Iterator[ast.expr | ast.arg]:
    """Yield the names and parameters of a scope, those of scopes within it apart."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Name | ast.arg):
            yield node
        waiting += ast.iter_child_nodes(node)


def find_all() -> tuple[list[Finding], Counter[str]]:
    """Return what breaks a rule in all of the code, and how many functions and docstrings it
    has."""
    found: list[Finding] = []
    total: Counter[str] = Counter()
    for path in list_sources(*CODE):
        more, counts = find_in(path)
        found += more
        total += counts
    return found, total


def count_wide_lines() -> tuple[int, int]:
    """Return how many lines of Python are wider than `WIDTH` columns, and how many there are.

    A mark for a checker at the end of a line does not count, as it does not for ruff.
    """
    lines = [
        PRAGMA.sub("", line)
        for path in list_sources(*CODE, "tests")
        for line in path.read_text("utf-8").splitlines()
    ]
    return sum(len(line) > WIDTH for line in lines), len(lines)


def count_repeated_classes() -> dict[str, int]:
    """Return in how many files shared code defines a public class, of those that it defines in
    several; each lab has its own Config."""
    labs = {path.parent.name for path in ROOT.glob("explorer/labs/*/__init__.py")}
    places = Counter(
        node.name
        for path in list_sources("explorer", "models")
        if labs.isdisjoint(path.relative_to(ROOT).parts)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name: count for name, count in sorted(places.items()) if count > 1}


def list_loose_modules(room: str) -> list[str]:
    """Return the modules that lie in a folder itself, in none of its rooms."""
    return sorted(
        path.name for path in (ROOT / room).glob("*.py") if not path.name.startswith("__")
    )


def list_long_functions() -> list[tuple[str, Function]]:
    """Return each function of JavaScript that is too long, with its file, the longest first."""
    paths = [path for folder in ("explorer", "tools") for path in (ROOT / folder).rglob("*.js")]
    found = [
        (path.relative_to(ROOT).as_posix(), function)
        for path, script in read_scripts(sorted(paths)).items()
        for function in script.functions
        if function.lines > LONG
    ]
    return sorted(found, key=lambda one: (-one[1].lines, one[0]))


def count_exceptions() -> dict[str, int]:
    """Return how often each rule that the tests hold is broken; tests/test_prose.py bounds it."""
    rules = Counter(one.rule for one in find_all()[0])
    return {
        "participle": rules["participle"],
        "opening": rules["opening"],
        "banned binding": rules["banned binding"],
        "repeated class": sum(count - 1 for count in count_repeated_classes().values()),
        "long function": len(list_long_functions()),
    }


def measure() -> dict[str, float]:
    """Return every figure by name; shares are in per cent."""
    found, total = find_all()
    rules = Counter(one.rule for one in found)
    wide, lines = count_wide_lines()
    long = list_long_functions()
    tests = [
        node.name.removeprefix("test_")
        for path in list_sources("tests")
        for node in walk_definitions(ast.parse(path.read_text("utf-8")))
        if node.name.startswith("test_")
    ]
    return {
        "participle_pct": round(100 * rules["participle"] / total["functions"], 1),
        "opening_pct": round(100 * rules["opening"] / total["docstrings"], 1),
        "single_word_pct": round(100 * rules["single word"] / total["functions"], 1),
        "wide_lines": wide,
        "wide_pct": round(100 * wide / lines, 1),
        "loose_explorer": len(list_loose_modules("explorer")),
        "loose_models": len(list_loose_modules("models")),
        "test_name_median": statistics.median(map(len, tests)),
        "banned_bindings": rules["banned binding"],
        "repeated_classes": len(count_repeated_classes()),
        "js_long_functions": len(long),
        "js_longest": max((function.lines for _, function in long), default=0),
    }


def main() -> None:
    """Print the figures, as a table or with --json as one object; --list prints each place, and
    --bounds what tests/test_prose.py holds."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.prose", description="Measure the language of the code."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--list",
        metavar="RULE",
        help='print every place that breaks a rule: participle, opening, "banned binding",'
        ' "repeated class", "long function"',
    )
    parser.add_argument(
        "--bounds", action="store_true", help="print the line of bounds for tests/test_prose.py"
    )
    chosen = parser.parse_args()
    if chosen.bounds:
        print("BOUNDS =", json.dumps(count_exceptions()))
    elif chosen.list == "repeated class":
        print(*(f"{name} {count}" for name, count in count_repeated_classes().items()), sep="\n")
    elif chosen.list == "long function":
        for path, function in list_long_functions():
            print(f"{path}:{function.line} {function.name} {function.lines}")
    elif chosen.list:
        print(
            *(
                f"{one.path}:{one.line} {one.name}"
                for one in find_all()[0]
                if one.rule == chosen.list
            ),
            sep="\n",
        )
    elif chosen.json:
        print(json.dumps({"figures": measure()}))
    else:
        for name, value in measure().items():
            print(f"{name:<20}{value:>10}")


if __name__ == "__main__":
    main()
