"""Our scripts as ``deno bundle`` writes them: a lab's page opens with two of them, any other page
with one, instead of sixty modules.

The modules stand in their folders as any browser reads them. `labs.js` holds those that most labs
need when they open, the page's own script the rest; a module that is opened later has a script with
what it needs beside `labs.js`. Each script enters its modules in one table of the page
(frontend/lib/modules.js), and whatever a script takes from `labs.js` is found there: so every
module runs once.

deno comes with the app's other packages. Where it is missing the modules are served as they are:
pages work with more requests, and only saved pages and notebooks are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from explorer.page.rendered_results import make_once

# The share of the labs whose pages need a module at once, from which on it stands in the script of
# all labs.
MOST = 0.75
LOADER = "frontend/lib/modules.js"
LIBRARY = "frontend/lib/"
TABLE = "globalThis.tfeModules"
# The modules that a module opens by their path.
OPENED = {"frontend/lib/export_menu.js": ("frontend/lib/export_picture.js",)}
FOLDER = "scripts"  # part of the addresses of bundles
MISSING = "The program deno is missing: pip install -r requirements.txt brings it."


class BundleError(RuntimeError):
    """Our scripts cannot be bundled; the message says why, as deno does."""


@dataclass(frozen=True)
class Texts:
    """The texts of scripts by path, with their source maps."""

    texts: dict[str, str]


def find_deno() -> str | None:
    """Return the path of deno: beside this Python, or on the search path."""
    beside = Path(sys.executable).with_name("deno")
    return str(beside) if beside.is_file() else shutil.which("deno")


def run_deno(*arguments: str) -> str:
    """Return what deno prints, without any network.

    Raise BundleError where it is missing or fails.
    """
    program = find_deno()
    if program is None:
        raise BundleError(MISSING)
    done = subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"},
        check=False,
    )
    if done.returncode:
        raise BundleError(f"Our scripts cannot be bundled: {done.stderr.strip()[-2000:]}")
    return done.stdout


def read_graph(root: Path, paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the paths under `root` that each module imports, for some modules and all that they
    need.

    Raise BundleError for a module that does not exist.
    """
    with tempfile.TemporaryDirectory() as folder:
        entry = Path(folder, "all.js")
        entry.write_text("".join(f"import {_quote(root / path)};\n" for path in paths), "utf-8")
        info: dict[str, Any] = json.loads(run_deno("info", "--json", "--no-config", str(entry)))
    graph = {}
    for module in info["modules"]:
        path = Path(module.get("local") or module["specifier"].removeprefix("file://"))
        if path == entry:
            continue
        if "error" in module:
            raise BundleError(f"Our scripts cannot be bundled: {module['error']}")
        needs = [need.get("code") for need in module.get("dependencies", ())]  # None for a type
        graph[_name(path, root)] = tuple(
            _name(Path(need["specifier"].removeprefix("file://")), root) for need in needs if need
        )
    return graph


def _name(path: Path, root: Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _quote(path: Path) -> str:
    return json.dumps(path.as_uri())


class Bundles:
    """The scripts of a site.

    root: the folder that the modules' paths start from.
    sources: every module by its path.
    address: the part of an address before a path.
    pages: by the name of a page, the modules that stand on it at once and those that may be opened
    later.
    labs: the names of the labs' pages.
    """

    def __init__(
        self,
        root: Path,
        sources: Mapping[str, str],
        address: str,
        pages: Mapping[str, tuple[Iterable[str], Iterable[str]]],
        labs: Collection[str],
    ) -> None:
        self.root, self.sources, self.address = root, sources, address
        self.pages = {page: (list(first), list(then)) for page, (first, then) in pages.items()}
        self.labs = frozenset(labs)
        digest = hashlib.sha256(json.dumps([address, *sources.items()]).encode()).hexdigest()
        self._key = f"{digest} {json.dumps(self.pages)} {sorted(labs)}"

    @cached_property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """The modules that each module needs, by path."""
        return read_graph(self.root, self.sources)

    def list_needs(self, paths: Iterable[str]) -> set[str]:
        """Return these modules and all that they need."""
        reached: set[str] = set()
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            if path not in reached:
                reached.add(path)
                waiting += self.graph[path]
        return reached

    def list_later(self, page: str) -> list[str]:
        """Return the modules that a page opens later."""
        opened = [
            path for opener, paths in OPENED.items() if opener in self.first[page] for path in paths
        ]
        return [*self.pages[page][1], *opened]

    @cached_property
    def first(self) -> dict[str, set[str]]:
        """The modules that stand on each page at once."""
        return {page: self.list_needs([*first, LOADER]) for page, (first, _) in self.pages.items()}

    @cached_property
    def later(self) -> list[str]:
        """The modules that the pages of labs open later."""
        return sorted({path for page in self.labs for path in self.list_later(page)})

    @cached_property
    def common(self) -> set[str]:
        """The modules in the script of all labs: what most of them need at once, and what two
        scripts of one page would hold of the library."""
        counts = Counter(path for page in self.labs for path in self.first[page])
        most = {path for path, count in counts.items() if count >= MOST * len(self.labs)}
        twice = {
            path
            for page in self.labs
            for path in self.first[page] & self.list_needs(self.list_later(page))
            if path.startswith(LIBRARY)
        }
        return self.list_needs(most | twice)

    @cached_property
    def scripts(self) -> dict[str, str]:
        """Every script with its source map, by its path: "scripts/labs.js",
        "scripts/<page>.js" and "scripts/later/<module>". Empty where deno is missing."""
        if find_deno() is None:
            return {}
        return make_once(f"scripts {self._key}", lambda: Texts(self._bundle_pages())).texts

    def _bundle_pages(self) -> dict[str, str]:
        whole = {
            **({"labs": self._write_entry(sorted(self.common))} if self.labs else {}),
            **{
                page: self._write_entry([*self._list_roots(page), *self.list_later(page)])
                for page in self.pages
                if page not in self.labs
            },
        }
        rest = {
            **{page: self._write_entry(self._list_roots(page)) for page in sorted(self.labs)},
            **{
                f"later/{path.removesuffix('.js')}": self._write_entry([path])
                for path in self.later
            },
        }
        labs = f'import "{self.address}{FOLDER}/labs.js";\n'
        bundles = {
            **self._bundle(whole, (), ""),
            **self._bundle(rest, sorted(self.common), labs),
        }
        return {f"{FOLDER}/{name}": text for name, text in bundles.items()}

    def _list_roots(self, page: str) -> list[str]:
        """Return the modules that a page's own script enters in the table."""
        known = self.common if page in self.labs else set()
        return sorted({*self.pages[page][0], LOADER} - known)

    def _write_entry(self, modules: Iterable[str]) -> str:
        """Return a module that enters others in the page's table, and opens further ones."""
        paths = list(dict.fromkeys(modules))
        lines = [
            f"import * as m{number} from {_quote(self.root / path)};"
            for number, path in enumerate(paths)
        ]
        entered = ", ".join(f"[{json.dumps(path)}, m{n}]" for n, path in enumerate(paths))
        return "\n".join(
            [
                *lines,
                f"const table = {TABLE} ??= new Map();",
                f"for (const [path, module] of [{entered}]) table.set(path, module);",
                f"const {{ load }} = table.get({json.dumps(LOADER)});",
                "export { load };\n",
            ]
        )

    def _bundle(
        self, entries: Mapping[str, str], known: Iterable[str], above: str
    ) -> dict[str, str]:
        """Return a script and its source map for each entry.

        known: modules that are taken from the page's table instead.
        above: goes in front of each script.
        """
        if not entries:
            return {}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            imports = {}
            for number, path in enumerate(known):
                # A module in CommonJS needs no list of its exports.
                shim = folder / f"known/{number}.cjs"
                shim.parent.mkdir(exist_ok=True)
                shim.write_text(f"module.exports = {TABLE}.get({json.dumps(path)});\n", "utf-8")
                imports[(self.root / path).as_uri()] = shim.as_uri()
            chart = folder / "imports.json"
            chart.write_text(json.dumps({"imports": imports}), "utf-8")
            files = []
            for entry, text in entries.items():
                file = folder / f"in/{entry}.js"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
                files.append(str(file))
            anchor = folder / "in/anchor.js"  # keeps the names of the folders in the output
            anchor.write_text("", "utf-8")
            run_deno(
                "bundle",
                "--quiet",
                "--no-config",
                "--no-lock",
                "--minify",
                "--platform=browser",
                "--sourcemap=linked",
                f"--import-map={chart}",
                f"--outdir={folder / 'out'}",
                str(anchor),
                *files,
            )
            return {
                f"{entry}.js{ending}": (
                    above + text if not ending else self._describe_sources(text, folder, above)
                )
                for entry in entries
                for ending in ("", ".map")
                for text in [(folder / f"out/{entry}.js{ending}").read_text("utf-8")]
            }

    def _describe_sources(self, text: str, folder: Path, above: str) -> str:
        """Return a source map that names our modules by their addresses, and nothing of this
        machine."""
        chart = json.loads(text)
        names = []
        for source in chart["sources"]:
            place = Path(os.path.normpath(folder / "out" / source))
            path = _name(place, self.root)
            names.append(f"{self.address}{path}" if path in self.sources else place.name)
        chart["sources"] = names
        chart.pop("sourcesContent", None)  # they are served
        chart["mappings"] = ";" * above.count("\n") + chart["mappings"]
        return json.dumps(chart, separators=(",", ":"))

    def list_scripts_of(self, page: str) -> list[str]:
        """Return the scripts of a page, its own last; none where deno is missing."""
        own = f"{FOLDER}/{page}.js"
        if own not in self.scripts:
            return []
        return [*([f"{FOLDER}/labs.js"] if page in self.labs else []), own]

    def bundle_alone(self, start: str, picture: str) -> str:
        """Return the script of a page without a server: afterwards
        ``tfeDraw(node, how)`` draws the picture as the module `start` does.

        Raise BundleError where deno is missing.
        """
        entry = (
            f"import {{ standAlone }} from {_quote(self.root / start)};\n"
            f"import * as picture from {_quote(self.root / picture)};\n"
            "globalThis.tfeDraw = (node, how) => standAlone(node, picture, how);\n"
        )

        def bundle() -> Texts:
            with tempfile.TemporaryDirectory() as name:
                file = Path(name, "alone.js")
                file.write_text(entry, "utf-8")
                options = ("--quiet", "--no-config", "--no-lock", "--minify", "--format=iife")
                out = Path(name, "out.js")
                run_deno("bundle", *options, "--platform=browser", f"--output={out}", str(file))
                return Texts({"": out.read_text("utf-8")})

        return make_once(f"alone {start} {picture} {self._key}", bundle).texts[""]
