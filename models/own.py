"""Models of somebody's own: a text, pairs of sentences, MIDI files or pictures as the data that a lab reads, and other sizes."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

RecipeT = TypeVar("RecipeT")

HELD_OUT = 0.05  # share of what is given that rates are chosen on, and again as much that is only reported on
SHORTEST = 21_000  # characters of a text: what is held out then has the longest window of a lab on a CPU, 1,025
MOST_LETTERS = 255  # different characters of a text, a byte each
FEWEST = 200  # pairs of sentences
PIECES, NOTES = 3, 2_000  # MIDI files, and the notes of all of them, at least
PICTURES = 100
LASTING = ("warmup", "cooldown", "every")  # of a schedule, as shares of its steps
FIXED = {"window", "vocabulary", "pieces", "events", "side", "small"}  # of a network's config: what the data are already cut to
IDLE = {"peak", "seed"}  # of a schedule: `lr` and --seed stand in their place


class Refused(ValueError):
    """What is given cannot be learned from, in words."""


def cuts(count: int) -> tuple[slice, slice, slice]:
    """What is learned from, chosen on and reported on, of so many in a row."""
    part = max(1, round(HELD_OUT * count))
    return slice(0, count - 2 * part), slice(count - 2 * part, count - part), slice(count - part, count)


def text(paths: Sequence[Path], data: Path) -> str:
    """One text as the books of `models.characters.books`: its first nine tenths, and its end in two parts. What it is, in words."""
    (path,) = paths
    given = _readable(path)
    if len(given) < SHORTEST:
        raise Refused(f"{path.name} has {len(given):,} characters: at least {SHORTEST:,} are needed")
    if (letters := len(set(given))) > MOST_LETTERS:
        raise Refused(f"{path.name} has {letters:,} different characters: at most {MOST_LETTERS} can be told apart")
    parts = zip(("train", "valid", "test"), cuts(len(given)), strict=True)
    books = [{"split": split, "title": path.name, "author": "", "year": 0, "text": given[part]} for split, part in parts]
    _zipped(data / "text" / "classics19.json.gz", json.dumps(books))
    return f"{path.name}, {len(given):,} characters"


def pairs(paths: Sequence[Path], data: Path) -> str:
    """Two files of sentences, one a line, as Multi30k's. What they are, in words."""
    sides = [_lines(path) for path in paths]
    if len(sides[0]) != len(sides[1]):
        raise Refused(f"{paths[0].name} has {len(sides[0]):,} lines, {paths[1].name} {len(sides[1]):,}: each needs the other's translation")
    if len(sides[0]) < FEWEST:
        raise Refused(f"{len(sides[0]):,} pairs of sentences: at least {FEWEST} are needed")
    for language, lines in zip(("en", "de"), sides, strict=True):
        for split, part in zip(("train", "val", "test_2016_flickr"), cuts(len(lines)), strict=True):
            _zipped(data / "multi30k" / f"{split}.{language}.gz", "".join(f"{line}\n" for line in lines[part]))
    return f"{paths[0].name} and {paths[1].name}, {len(sides[0]):,} pairs"


def midi(paths: Sequence[Path], data: Path) -> str:
    """A folder of MIDI files as the performances of ASAP, whole pieces held out. What they are, in words."""
    from models.music.midi import read  # and with it pretty_midi, which the other kinds do without
    from models.music.performances import write

    (folder,) = paths
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in {".mid", ".midi"})
    if len(files) < PIECES:
        raise Refused(f"{folder} holds {len(files)} MIDI files: at least {PIECES} are needed")
    pieces = []
    for path in files:
        try:
            pieces.append((path.stem, read(path)))
        except ValueError as error:
            raise Refused(f"{path.name} cannot be read: {error}") from None
    if (notes := sum(len(piece) for _, piece in pieces)) < NOTES:
        raise Refused(f"{folder} holds {notes:,} notes: at least {NOTES:,} are needed")
    train, valid, _ = cuts(len(pieces))
    write(data, [("train" if n < train.stop else "valid" if n < valid.stop else "test", *piece) for n, piece in enumerate(pieces)])
    return f"{len(pieces)} MIDI files of {folder.name}, {notes:,} notes"


def images(paths: Sequence[Path], data: Path) -> str:
    """A folder of picture files, the middle square of each. What they are, in words."""
    from models.image_transformer.data import square, write  # and with it Pillow

    (folder,) = paths
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif"})
    if len(files) < PICTURES:
        raise Refused(f"{folder} holds {len(files)} pictures: at least {PICTURES} are needed")
    squares = []
    for path in files:
        try:
            squares.append(square(path))
        except ValueError as error:
            raise Refused(f"{path.name} cannot be read: {error}") from None
    write(data, {split: squares[part] for split, part in zip(("train", "val", "test"), cuts(len(squares)), strict=True)})
    return f"{len(squares):,} pictures of {folder.name}"


KINDS: Mapping[str, Callable[[Sequence[Path], Path], str]] = {"text": text, "pairs": pairs, "midi": midi, "images": images}


def digest(paths: Sequence[Path]) -> str:
    """Of the content of files, and of all files of a folder in the order of their names."""
    found = hashlib.sha256()
    for path in paths:
        for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if one.is_file():
                found.update(hashlib.sha256(one.read_bytes()).digest())
    return found.hexdigest()


@dataclass(frozen=True)
class Own:
    """A training of somebody's own. assets: the folder of what it makes; given: other values, by name, as they were typed; said: what it
    learns from, in words, where that is not the lab's data; digest: of the files of that."""

    assets: Path
    given: Mapping[str, str] = field(default_factory=dict)
    said: str = ""
    digest: str = ""

    def claim(self, run: Path) -> None:
        """Writes down what a run learns from and with which values. Refused where it was begun with others: only its steps may change."""
        asked = {"data": self.digest, **{name: value for name, value in sorted(self.given.items()) if name != "steps"}}
        kept = run / "asked.json"
        if kept.is_file() and json.loads(kept.read_text("utf-8")) != asked:
            raise Refused(f"{run} was begun with other data or other values: choose another --out, or remove that folder")
        kept.write_text(json.dumps(asked) + "\n", encoding="utf-8")

    def recipe(self, recipe: RecipeT) -> RecipeT:
        """A recipe with the given values that are its own or its schedule's; `lr` is its rate. With its steps all changes that last a share
        of them."""
        schedule: Any = recipe.schedule  # type: ignore[attr-defined]
        of_schedule, of_recipe = _numbers(schedule, IDLE), _numbers(recipe) | {"lr": 0.0}
        timed = {name: _like(of_schedule[name], name, value) for name, value in self.given.items() if name in of_schedule}
        share = timed.get("steps", schedule.steps) / schedule.steps
        lasting = {name: max(1, round(share * getattr(schedule, name))) for name in LASTING}
        others = {name: _like(of_recipe[name], name, value) for name, value in self.given.items() if name in of_recipe}
        if "lr" in others:
            others["rate"] = others.pop("lr")
        return dataclasses.replace(recipe, schedule=dataclasses.replace(schedule, **lasting | timed), **others)  # type: ignore[type-var]

    def config(self, config: Any, recipe: Any) -> Any:
        """A network's config with the other given values; Refused as `sizes` does."""
        return dataclasses.replace(config, **self.sizes(config, recipe))

    def sizes(self, config: Any, recipe: Any) -> dict[str, Any]:
        """The given values that are of a network's config. Refused names what can be set where there is no such thing."""
        known, taken = _numbers(config, FIXED), {*_numbers(recipe), *_numbers(recipe.schedule, IDLE), "lr"}
        if wrong := next((name for name in self.given if name not in known and name not in taken), None):
            raise Refused(f"there is no {wrong} to set: {', '.join(sorted({*known, *taken}))}")
        return {name: _like(known[name], name, value) for name, value in self.given.items() if name in known and name not in taken}


def _numbers(record: Any, but: Set[str] = frozenset()) -> dict[str, Any]:
    found = {name: value for name, value in vars(record).items() if isinstance(value, int | float) and not isinstance(value, bool)}
    return {name: value for name, value in found.items() if name not in but}


def _like(old: Any, name: str, value: str) -> Any:
    try:
        found = type(old)(value)
    except ValueError:
        raise Refused(f"{name}={value}: a {'whole ' * isinstance(old, int)}number is needed") from None
    least = int(isinstance(old, int) and old > 0)
    if not least <= found < 1e9:
        raise Refused(f"{name}={value} is out of range")
    return found


def _readable(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")  # a byte order mark is no letter
    except FileNotFoundError:
        raise Refused(f"there is no file {path}") from None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Refused(f"{path.name} is no text in UTF-8") from None


def _lines(path: Path) -> list[str]:
    """The lines of a file; only a line feed ends one. Refused for an empty one."""
    lines = _readable(path).removesuffix("\n").split("\n")
    if empty := next((n for n, line in enumerate(lines, 1) if not line.strip()), None):
        raise Refused(f"{path.name}, line {empty}, is empty")
    return lines


def _zipped(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
