"""Our scripts, joined by the server at its start: a page opens with three of them instead of
seventy.

The modules stand in their folders as any browser reads them. Here each becomes a function in a
script that holds many, in the order in which they need each other, without comments and
indentation. A module is still run once, when it is first requested. The modules of every page are
in one script, those of every lab's page in a second one, and those that one page alone needs when
it opens in a third. A module that is opened later has a script of its own, with everything it needs
beside the modules that its pages have by then.

Only the few forms of import and export that our modules use are understood. Anything else is
refused by the module's name, since it would otherwise fail in a visitor's browser, or export less
than the module itself does.
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

from explorer.page.rendered_results import make_once

# The pieces of a script, the longest first. A run of code goes on over single spaces, and ends
# before a brace only within a template.
_APART = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[`/]|\s+"""
_PIECE = re.compile(rf"""{_APART}|(?:[^\s"'`/]|(?<=\S)\x20(?=[^\s"'`/]))+|.""", re.S)
_PIECE_IN_A_TEMPLATE = re.compile(rf"""{_APART}|[^\s"'`/{{}}]+|.""", re.S)
_TEMPLATE = re.compile(r"(?:\\.|[^`\\$]|\$(?!\{))*(`|\$\{)", re.S)
_REGULAR = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
# After the end of a value a slash divides; after anything else, also after one of these words, it
# begins a regular expression.
_WORDS = "return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield"
_VALUE = re.compile(rf"(?:[)\]}}]|\.[\w$]+|(?<![\w$.])(?!(?:{_WORDS})$)[\w$]+)$")

_IMPORT = re.compile(r'^import \{(?P<some>[^}]*)\} from "(?P<path>¤+)";$', re.M)
_NAMES = re.compile(r"^export \{(?P<some>[^}]*)\};$", re.M)
_DECLARED = re.compile(
    r"^export (?P<rest>(?:const|(?:async )?function\*?|class) ?(?P<name>[\w$]+)\b)", re.M
)
# The word comes first, then the characters before it: so Python need not try every character.
_CALLED = re.compile(r"import(?<![.\w$]import)(?=\()")
_HERE = re.compile(r"import(?<![.\w$]import)\.meta\.url\b")
_NAMED = re.compile(r'import(?<![.\w$]import)\("(¤+)"\)')
_LEFT = re.compile(r"(?:im|ex)port(?<![.\w$].{6})\b(?!\s*:)")
_ENDS = re.compile(r"[()\[\]{};,]")

# The share of the labs whose pages have a module at once, from which on it stands in the script of
# all labs.
MOST = 0.75
# M(path): the exports of a module. D(path, make): a module. L(address): the same as
# import(address), for a module of ours.
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


class BundleError(ValueError):
    """A module that cannot be joined; the message names it and the reason."""


@dataclass(frozen=True)
class Module:
    """A module in its joined form.

    code: the body of its function.
    needs: paths that it imports at once.
    later: paths that it imports with ``import()``.
    exports: the names that it exports.
    asked: (path, name) of every name that it imports.
    """

    path: str
    code: str
    needs: tuple[str, ...]
    later: tuple[str, ...]
    exports: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]

    @property
    def definition(self) -> str:
        """The call that makes the module known."""
        return f'// {self.path}\nD("{self.path}", () => {{\n{self.code}\n}});\n'


@dataclass(frozen=True)
class Modules:
    """All modules of a site."""

    modules: tuple[Module, ...]


def split_script(source: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a script: ("comment" | "text" | "code", characters).

    Texts are strings, templates and regular expressions. Raise ValueError where one of them does
    not end.
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


def strip_script(source: str) -> tuple[str, str]:
    """Return a script without comments, indentation and empty lines, and a mask of it.

    The mask is the same script with every character of its texts replaced, but for quotes.
    """
    code: list[str] = []
    mask: list[str] = []
    space = ""
    for kind, piece in [*split_script(source), ("code", "x")]:
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
def parse_module(path: str, source: str, root: str = "/ui/-/") -> Module:
    """Return the module at a path under explorer/.

    Raise BundleError where it has a form that is not understood.

    root: the part of its address before the path.
    """
    try:
        code, mask = strip_script(source)
    except ValueError as error:
        raise BundleError(f"{path} cannot be joined: {error}") from None

    def at(written: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), written))

    needs: dict[str, None] = {}
    asked: list[tuple[str, str]] = []
    exports: list[tuple[str, str]] = []  # (name outside, inside)
    edits: list[tuple[int, int, str]] = []
    for found in _IMPORT.finditer(mask):
        target = at(code[found.start("path") : found.end("path")])
        needs[target] = None
        pairs = _parse_names(found["some"])
        asked += [(target, outside) for outside, _ in pairs]
        taken = ", ".join(f"{outside}: {inside}" for outside, inside in pairs)
        edits.append((*found.span(), f'const {{ {taken} }} = M("{target}");'))
    for found in _NAMES.finditer(mask):
        exports += [(outside, inside) for inside, outside in _parse_names(found["some"])]
        edits.append((*found.span(), ""))
    for found in _DECLARED.finditer(mask):
        if _declares_several(mask, found.end()):
            raise BundleError(
                f"{path} cannot be joined: each export is declared by itself, unlike"
                f" {code[found.start() : found.end()]!r} …"
            )
        exports.append((found["name"], found["name"]))
        edits.append((*found.span(), found["rest"]))
    later = tuple(at(code[found.start(1) : found.end(1)]) for found in _NAMED.finditer(mask))
    own = f'new URL("{root}{path}", location.origin).href'
    edits += [(*found.span(), own) for found in _HERE.finditer(mask)]
    for found in _CALLED.finditer(mask):
        name = _NAMED.match(mask, found.start())
        edits.append(
            (*name.span(), f'L("{root}{at(code[name.start(1) : name.end(1)])}")')
            if name
            else (*found.span(), "L")
        )
    edits.sort()
    for found in _LEFT.finditer(mask):
        if not any(first <= found.start() < last for first, last, _ in edits):
            line = code[code.rfind("\n", 0, found.start()) + 1 :].split("\n")[0]
            raise BundleError(
                f"{path} cannot be joined: this form of import or export is not understood:"
                f" {line[:80]!r}"
            )
    for first, last, text in reversed(edits):
        code = code[:first] + text + code[last:]
    given = ", ".join(f"{outside}: {inside}" for outside, inside in exports)
    return Module(
        path,
        f"{code}\nreturn {{ {given} }};",
        tuple(needs),
        later,
        tuple(name for name, _ in exports),
        tuple(asked),
    )


def _declares_several(mask: str, at: int) -> bool:
    """Return whether a declaration goes on with a second name."""
    depth = 0
    for found in _ENDS.finditer(mask, at):
        sign = found[0]
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (not depth and sign in ";,"):
            return sign == ","
    return False


def _parse_names(names: str) -> list[tuple[str, str]]:
    """Return pairs of names: ``a, b as c`` gives [("a", "a"), ("b", "c")]."""
    each = [one.split() for one in names.split(",") if one.strip()]
    return [(words[0], words[-1]) for words in each]


class Joined:
    """The scripts that hold our modules.

    Raise BundleError where a module cannot be joined, imports one that does not exist or a name
    that it does not export, or needs itself.

    sources: every module by its path.
    root: the part of an address before the path.
    pages: by the name of a page, the modules that stand on it at once and those that may be opened
    later (`first` and `opened`).
    labs: the names of the labs' pages.
    """

    def __init__(
        self,
        sources: Mapping[str, str],
        root: str,
        pages: Mapping[str, tuple[Iterable[str], Iterable[str]]],
        labs: Collection[str],
    ) -> None:
        read = hashlib.sha256(json.dumps([root, *sources.items()]).encode()).hexdigest()
        modules = make_once(
            f"scripts {read}",
            lambda: Modules(
                tuple(parse_module(path, source, root) for path, source in sources.items())
            ),
        )
        self.modules = {one.path: one for one in modules.modules}
        self.root = root
        for one in self.modules.values():
            for path, name in (*((path, None) for path in (*one.needs, *one.later)), *one.asked):
                if path not in self.modules or (
                    name is not None and name not in self.modules[path].exports
                ):
                    what = (
                        f"there is no {path}"
                        if path not in self.modules
                        else f"{path} exports no {name}"
                    )
                    raise BundleError(f"{one.path} cannot be joined: {what}")
        self.first = {page: self.order_modules(at_once) for page, (at_once, _) in pages.items()}
        self.opened = {
            page: {*then, *self._list_late_imports(page)} for page, (_, then) in pages.items()
        }
        self.later: dict[str, tuple[str, ...]] = {}
        for path in sorted(set().union(*self.opened.values())):
            there = reduce(
                set.intersection,
                (set(self.first[page]) for page, opened in self.opened.items() if path in opened),
            )
            self.later[path] = tuple(one for one in self.order_modules([path]) if one not in there)
        every = [set(order) for order in self.first.values()]
        self._frame = reduce(set.intersection, every) if every else set()
        of_labs = Counter(path for page in labs for path in self.first[page])
        self._labs = {
            path for path, count in of_labs.items() if count >= MOST * len(set(labs))
        } - self._frame
        self._of_labs = frozenset(labs)

    def _list_late_imports(self, page: str) -> Iterator[str]:
        """Yield the modules that those of a page import by name with ``import()``."""
        for path in self.first[page]:
            yield from self.modules[path].later

    def order_modules(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return these modules and all that they need, each after its own needs.

        Raise BundleError where a module needs itself.
        """
        order: dict[str, None] = {}
        open_: dict[str, None] = {}

        def take(path: str) -> None:
            if path in order:
                return
            if path in open_:
                raise BundleError(
                    f"{path} cannot be joined: it needs itself, through {' and '.join(open_)}"
                )
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
        """Every joined script, by its path.

        The paths are "joined/frame.js", "joined/labs.js", "joined/<page>.js" and "later/<module>".
        """
        root = f'const ROOT = "{self.root}";\n'
        made = {
            "joined/frame.js": RUNTIME + root + LOADER + self._bundle(self._frame),
            "joined/labs.js": _HEAD + self._bundle(self._labs),
        }
        for page, order in self.first.items():
            above = 'import "./labs.js";\n' if page in self._of_labs else ""
            own = [
                path for path in order if path not in self._frame | (self._labs if above else set())
            ]
            made[f"joined/{page}.js"] = f"{above}{_HEAD}export {{ L }};\n{self._bundle(own)}"
        return made | {
            f"later/{path}": (
                f'import {{ D, L, M }} from "{self.root}joined/frame.js";\n{self._bundle(order)}'
            )
            for path, order in self.later.items()
        }

    def list_scripts_of(self, page: str) -> list[str]:
        """Return the scripts of a page, its own last."""
        return [
            "joined/frame.js",
            *(["joined/labs.js"] if page in self._of_labs else []),
            f"joined/{page}.js",
        ]

    def bundle_alone(self, *paths: str) -> str:
        """Return these modules and all that they need as a script for a page of its own.

        In that script M(path) returns the exports of a module.
        """
        return RUNTIME + self._bundle(self.order_modules(paths))

    def _bundle(self, paths: Iterable[str]) -> str:
        inside = set(paths)
        order = self.order_modules(sorted(inside))
        return "".join(self.modules[path].definition for path in order if path in inside)


_HEAD = 'import { D, L, M } from "./frame.js";\n'
