"""Our scripts, joined by the server at its start: a page opens with three of them instead of seventy.

The modules stand in their folders as any browser reads them. Here each becomes a function in a script that holds many, in the order in
which they need each other, without comments and indentation; a module is still run once, when it is first asked for. What stands on
every page is in one script, what is on every lab's page in a second one, what one page alone needs when it opens in a third. A module
that is opened later has a script of its own, with what it needs beside what its pages have by then.

Only the few forms of import and export that our modules use are understood. Anything else is refused by the module's name, since it
would otherwise fail in a visitor's browser, or export less than the module itself does.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce

from explorer.drawn import once

# What a script consists of, the longest first; a run of code goes on over single spaces, and ends before a brace only within a template.
_APART = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[`/]|\s+"""
_PIECE = re.compile(rf"""{_APART}|(?:[^\s"'`/]|(?<=\S)\x20(?=[^\s"'`/]))+|.""", re.S)
_PIECE_IN_A_TEMPLATE = re.compile(rf"""{_APART}|[^\s"'`/{{}}]+|.""", re.S)
_TEMPLATE = re.compile(r"(?:\\.|[^`\\$]|\$(?!\{))*(`|\$\{)", re.S)
_REGULAR = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
# After the end of a value a slash divides; after anything else, also after one of these words, it begins a regular expression.
_WORDS = "return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield"
_VALUE = re.compile(rf"(?:[)\]}}]|\.[\w$]+|(?<![\w$.])(?!(?:{_WORDS})$)[\w$]+)$")

_IMPORT = re.compile(r'^import \{(?P<some>[^}]*)\} from "(?P<path>¤+)";$', re.M)
_NAMES = re.compile(r"^export \{(?P<some>[^}]*)\};$", re.M)
_DECLARED = re.compile(r"^export (?P<rest>(?:const|(?:async )?function\*?|class) ?(?P<name>[\w$]+)\b)", re.M)
# The word first, then what stands before it: so Python need not try every character.
_CALLED = re.compile(r"import(?<![.\w$]import)(?=\()")
_HERE = re.compile(r"import(?<![.\w$]import)\.meta\.url\b")
_NAMED = re.compile(r'import(?<![.\w$]import)\("(¤+)"\)')
_LEFT = re.compile(r"(?:im|ex)port(?<![.\w$].{6})\b(?!\s*:)")
_ENDS = re.compile(r"[()\[\]{};,]")

MOST = 0.75  # the share of the labs whose pages have a module at once, from which on it stands in the script of all labs
# M(path): what a module exports. D(path, make): a module. L(address): the same as import(address), of a module of ours.
RUNTIME = """\
const made = new Map(), known = new Map();
const D = (path, make) => known.has(path) || known.set(path, make);
const M = (path) => {
if (!made.has(path)) {
try {
made.set(path, known.get(path)());
} catch (problem) {
problem.message = `${path}: ${problem.message}`;
throw problem;
}
}
return made.get(path);
};
"""
LOADER = """\
const L = async (address) => {
const path = new URL(address, location.origin).pathname.replace(/^\\/ui\\/[^/]+\\//, "");
if (!known.has(path)) await import(`${ROOT}later/${path}`);
return M(path);
};
export { D, L, M };
"""


class Refused(ValueError):
    """A module that cannot be joined; the message names it and says why."""


@dataclass(frozen=True)
class Module:
    """A module as it is joined. code: the body of its function. needs, later: paths that it imports, at once and with ``import()``.

    exports: the names that it exports. asked: (path, name) of every name that it imports.
    """

    path: str
    code: str
    needs: tuple[str, ...]
    later: tuple[str, ...]
    exports: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]

    @property
    def defined(self) -> str:
        """The call that makes it known."""
        return f'// {self.path}\nD("{self.path}", () => {{\n{self.code}\n}});\n'


@dataclass(frozen=True)
class Modules:
    """All modules of a site."""

    modules: tuple[Module, ...]


def pieces(source: str) -> Iterator[tuple[str, str]]:
    """The parts of a script: ("comment" | "text" | "code", characters). Texts are strings, templates and regular expressions.

    ValueError where one of them does not end.
    """
    at, before = 0, ""
    depth: list[int] = []  # braces open in each ${…} that is open
    while at < len(source):
        found = (_PIECE_IN_A_TEMPLATE if depth else _PIECE).match(source, at)
        assert found  # the last alternative takes anything
        piece, kind = found[0], "code"
        if piece.startswith(("//", "/*")):
            kind = "comment"
        elif piece == "/":
            if _VALUE.search(before):
                pass  # a division
            elif expression := _REGULAR.match(source, at):
                kind, piece = "text", expression[0]
            else:
                raise ValueError(f"a regular expression does not end: {source[at : at + 30]!r}")
        elif piece[0] in "\"'":
            if len(piece) == 1:
                raise ValueError(f"a string does not end: {source[at : at + 30]!r}")
            kind = "text"
        elif piece == "`" or (piece == "}" and depth and not depth[-1]):
            template = _TEMPLATE.match(source, at + 1)
            if template is None:
                raise ValueError(f"a template does not end: {source[at : at + 30]!r}")
            kind, piece = "text", source[at] + template[0]
            if piece[0] == "}":
                depth.pop()
            if template[1] == "${":
                depth.append(0)
        elif depth and piece in "{}":
            depth[-1] += 1 if piece == "{" else -1
        at += len(piece)
        if kind != "comment" and not piece.isspace():
            before = piece if kind == "code" else "(" if piece.endswith("${") else "x"
        yield kind, piece
    if depth:
        raise ValueError("a template does not end")


def bare(source: str) -> tuple[str, str]:
    """A script without comments, indentation and empty lines; and the same with every character of its texts replaced, but for quotes."""
    code: list[str] = []
    mask: list[str] = []
    space = ""
    for kind, piece in [*pieces(source), ("code", "x")]:
        if kind == "comment" or piece.isspace():
            space += "\n" if "\n" in piece else " "
            continue
        if space and code:
            between = "\n" if "\n" in space else " "
            code.append(between)
            mask.append(between)
        space = ""
        code.append(piece)
        mask.append(piece if kind == "code" else f"{piece[0]}{'¤' * (len(piece) - 2)}{piece[-1]}")
    return "".join(code[:-1]).rstrip(), "".join(mask[:-1]).rstrip()


@lru_cache(512)  # where many sites are made in one process, each reads the same files
def module(path: str, source: str, root: str = "/ui/-/") -> Module:
    """Reads the module that stands at a path under explorer/. root: what comes before it in its address.

    Refused where it has a form that is not understood.
    """
    try:
        code, mask = bare(source)
    except ValueError as error:
        raise Refused(f"{path} cannot be joined: {error}") from None

    def at(written: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), written))

    needs: dict[str, None] = {}
    asked: list[tuple[str, str]] = []
    exports: list[tuple[str, str]] = []  # (name outside, inside)
    edits: list[tuple[int, int, str]] = []
    for found in _IMPORT.finditer(mask):
        target = at(code[found.start("path") : found.end("path")])
        needs[target] = None
        pairs = _pairs(found["some"])
        asked += [(target, outside) for outside, _ in pairs]
        taken = ", ".join(f"{outside}: {inside}" for outside, inside in pairs)
        edits.append((*found.span(), f'const {{ {taken} }} = M("{target}");'))
    for found in _NAMES.finditer(mask):
        exports += [(outside, inside) for inside, outside in _pairs(found["some"])]
        edits.append((*found.span(), ""))
    for found in _DECLARED.finditer(mask):
        if _several(mask, found.end()):
            raise Refused(f"{path} cannot be joined: each export is declared by itself, unlike {code[found.start() : found.end()]!r} …")
        exports.append((found["name"], found["name"]))
        edits.append((*found.span(), found["rest"]))
    later = tuple(at(code[found.start(1) : found.end(1)]) for found in _NAMED.finditer(mask))
    own = f'new URL("{root}{path}", location.origin).href'
    edits += [(*found.span(), own) for found in _HERE.finditer(mask)]
    for found in _CALLED.finditer(mask):
        name = _NAMED.match(mask, found.start())
        edits.append((*name.span(), f'L("{root}{at(code[name.start(1) : name.end(1)])}")') if name else (*found.span(), "L"))
    edits.sort()
    for found in _LEFT.finditer(mask):
        if not any(first <= found.start() < last for first, last, _ in edits):
            line = code[code.rfind("\n", 0, found.start()) + 1 :].split("\n")[0]
            raise Refused(f"{path} cannot be joined: this form of import or export is not understood: {line[:80]!r}")
    for first, last, text in reversed(edits):
        code = code[:first] + text + code[last:]
    given = ", ".join(f"{outside}: {inside}" for outside, inside in exports)
    return Module(path, f"{code}\nreturn {{ {given} }};", tuple(needs), later, tuple(name for name, _ in exports), tuple(asked))


def _several(mask: str, at: int) -> bool:
    """Does a declaration go on with a second name?"""
    depth = 0
    for found in _ENDS.finditer(mask, at):
        sign = found[0]
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (not depth and sign in ";,"):
            return sign == ","
    return False


def _pairs(names: str) -> list[tuple[str, str]]:
    """Of ``a, b as c``: [("a", "a"), ("b", "c")]."""
    each = [one.split() for one in names.split(",") if one.strip()]
    return [(words[0], words[-1]) for words in each]


class Joined:
    """The scripts that hold our modules.

    sources: every module by its path. root: what comes before a path in an address. pages: of each page, by its name, the modules that
    stand on it at once and those that may be opened later (`first` and `opened`); labs: the names of the labs' pages.
    Raises Refused where a module cannot be joined, imports one that does not exist or a name that it does not export, or needs itself.
    """

    def __init__(
        self, sources: Mapping[str, str], root: str, pages: Mapping[str, tuple[Iterable[str], Iterable[str]]], labs: Collection[str]
    ) -> None:
        read = hashlib.sha256(json.dumps([root, *sources.items()]).encode()).hexdigest()
        modules = once(f"scripts {read}", lambda: Modules(tuple(module(path, source, root) for path, source in sources.items())))
        self.modules = {one.path: one for one in modules.modules}
        self.root = root
        for one in self.modules.values():
            for path, name in (*((path, None) for path in (*one.needs, *one.later)), *one.asked):
                if path not in self.modules or (name is not None and name not in self.modules[path].exports):
                    what = f"there is no {path}" if path not in self.modules else f"{path} exports no {name}"
                    raise Refused(f"{one.path} cannot be joined: {what}")
        self.first = {page: self.closure(at_once) for page, (at_once, _) in pages.items()}
        self.opened = {page: {*then, *self._named(page)} for page, (_, then) in pages.items()}
        self.later: dict[str, tuple[str, ...]] = {}
        for path in sorted(set().union(*self.opened.values())):
            there = reduce(set.intersection, (set(self.first[page]) for page, opened in self.opened.items() if path in opened))
            self.later[path] = tuple(one for one in self.closure([path]) if one not in there)
        every = [set(order) for order in self.first.values()]
        self._frame = reduce(set.intersection, every) if every else set()
        of_labs = Counter(path for page in labs for path in self.first[page])
        self._labs = {path for path, count in of_labs.items() if count >= MOST * len(set(labs))} - self._frame
        self._of_labs = frozenset(labs)

    def _named(self, page: str) -> Iterator[str]:
        """Modules that those of a page import by name with ``import()``."""
        for path in self.first[page]:
            yield from self.modules[path].later

    def closure(self, paths: Iterable[str]) -> tuple[str, ...]:
        """These modules and all that they need, each after what it needs. Refused where one needs itself."""
        order: dict[str, None] = {}
        open_: dict[str, None] = {}

        def take(path: str) -> None:
            if path in order:
                return
            if path in open_:
                raise Refused(f"{path} cannot be joined: it needs itself, through {' and '.join(open_)}")
            open_[path] = None
            for needed in self.modules[path].needs:
                take(needed)
            del open_[path]
            order[path] = None

        for path in paths:
            take(path)
        return tuple(order)

    @cached_property
    def scripts(self) -> dict[str, str]:
        """Every joined script, by its path: "joined/frame.js", "joined/labs.js", "joined/<page>.js", "later/<module>"."""
        root = f'const ROOT = "{self.root}";\n'
        made = {
            "joined/frame.js": RUNTIME + root + LOADER + self._defined(self._frame),
            "joined/labs.js": _HEAD + self._defined(self._labs),
        }
        for page, order in self.first.items():
            above = 'import "./labs.js";\n' if page in self._of_labs else ""
            own = [path for path in order if path not in self._frame | (self._labs if above else set())]
            made[f"joined/{page}.js"] = f"{above}{_HEAD}export {{ L }};\n{self._defined(own)}"
        return made | {
            f"later/{path}": f'import {{ D, L, M }} from "{self.root}joined/frame.js";\n{self._defined(order)}'
            for path, order in self.later.items()
        }

    def needed(self, page: str) -> list[str]:
        """The scripts of a page, its own last."""
        return ["joined/frame.js", *(["joined/labs.js"] if page in self._of_labs else []), f"joined/{page}.js"]

    def whole(self, *paths: str) -> str:
        """These modules and all that they need as a script for a page of its own, in which M(path) is what one exports."""
        return RUNTIME + self._defined(self.closure(paths))

    def _defined(self, paths: Iterable[str]) -> str:
        inside = set(paths)
        order = self.closure(sorted(inside))
        return "".join(self.modules[path].defined for path in order if path in inside)


_HEAD = 'import { D, L, M } from "./frame.js";\n'
