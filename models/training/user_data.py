"""User-trained models: a text, pairs of sentences, MIDI files or pictures as the data that a lab
reads, and other sizes."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from models.explaining.errors import InputError
from models.explaining.request_fields import read_text
from models.media.files import read_bytes

RecipeT = TypeVar("RecipeT")
ReadT = TypeVar("ReadT")

# share of the data that rates are chosen on; a second share of this size is only reported on
HELD_OUT = 0.05
# characters of a text: its held-out part then has the longest window of a lab on a CPU, 1,025
SHORTEST = 21_000
MOST_LETTERS = 255  # different characters of a text, a byte each
MOST_BYTES = 1 << 30  # of a text
FEWEST = 200  # pairs of sentences
PIECES, NOTES = 3, 2_000  # MIDI files, and the notes of all of them, at least
PICTURES = 100
LASTING = ("warmup", "cooldown", "every")  # of a schedule, as shares of its steps
# entries of a network's config to which the data are already cut
FIXED = {"window", "vocabulary", "pieces", "events", "side", "small"}
IDLE = {"peak", "seed"}  # of a schedule: `lr` and --seed stand in their place


class UserDataError(ValueError):
    """The data cannot be learned from; the message says why in words."""


def cut_into_splits(count: int) -> tuple[slice, slice, slice]:
    """Return the parts of so many in a row that are learned from, chosen on and reported on."""
    part = max(1, round(HELD_OUT * count))
    return (
        slice(0, count - 2 * part),
        slice(count - 2 * part, count - part),
        slice(count - part, count),
    )


def store_text(paths: Sequence[Path], data: Path) -> str:
    """Store one text as the books of `models.data.characters.read_books`: its first nine tenths,
    and its end in two parts. Return a description in words."""
    (path,) = paths
    given = read_text(_open_text(path))
    if len(given) < SHORTEST:
        raise UserDataError(
            f"{path.name} has {len(given):,} characters: at least {SHORTEST:,} are needed"
        )
    if (letters := len(set(given))) > MOST_LETTERS:
        raise UserDataError(
            f"{path.name} has {letters:,} different characters: at most {MOST_LETTERS} can be told"
            " apart"
        )
    parts = zip(("train", "valid", "test"), cut_into_splits(len(given)), strict=True)
    books = [
        {"split": split, "title": path.name, "author": "", "year": 0, "text": given[part]}
        for split, part in parts
    ]
    _write_gzip(data / "text" / "classics19.json.gz", json.dumps(books))
    return f"{path.name}, {len(given):,} characters"


def store_pairs(paths: Sequence[Path], data: Path) -> str:
    """Store two files of sentences, one a line, as Multi30k's. Return a description in words."""
    sides = [_sentences(path) for path in paths]
    if len(sides[0]) != len(sides[1]):
        raise UserDataError(
            f"{paths[0].name} has {len(sides[0]):,} lines, {paths[1].name} {len(sides[1]):,}: each"
            " needs the other's translation"
        )
    if len(sides[0]) < FEWEST:
        raise UserDataError(f"{len(sides[0]):,} pairs of sentences: at least {FEWEST} are needed")
    for language, lines in zip(("en", "de"), sides, strict=True):
        for split, part in zip(
            ("train", "val", "test_2016_flickr"), cut_into_splits(len(lines)), strict=True
        ):
            _write_gzip(
                data / "multi30k" / f"{split}.{language}.gz",
                "".join(f"{line}\n" for line in lines[part]),
            )
    return f"{paths[0].name} and {paths[1].name}, {len(sides[0]):,} pairs"


def store_midi(paths: Sequence[Path], data: Path) -> str:
    """Store a folder of MIDI files as the performances of ASAP, whole pieces held out. Return a
    description in words."""
    from models.media.midi_files import parse_midi
    from models.music.performances import TRAINING, notes_played, write

    def read(path: Path) -> NDArray[np.float64]:
        file = parse_midi(read_bytes(path, TRAINING.size), TRAINING)
        if repairs := file.repairs():
            print(f"mended {path.name}: {', '.join(one['en'] for one in repairs)}", file=sys.stderr)
        return notes_played(file)

    (folder,) = paths
    pieces = _read_folder(folder, {".mid", ".midi"}, read, PIECES, "MIDI files")
    if (notes := sum(len(piece) for _, piece in pieces)) < NOTES:
        raise UserDataError(f"{folder} holds {notes:,} notes; at least {NOTES:,} are needed")
    train, valid, _ = cut_into_splits(len(pieces))
    splits = [
        "train" if n < train.stop else "valid" if n < valid.stop else "test"
        for n in range(len(pieces))
    ]
    write(
        data,
        [(split, path.stem, piece) for split, (path, piece) in zip(splits, pieces, strict=True)],
    )
    return f"{len(pieces)} MIDI files of {folder.name}, {notes:,} notes"


def store_images(paths: Sequence[Path], data: Path) -> str:
    """Store a folder of picture files, the middle square of each. Return a description in words."""
    from models.image_transformer.data import square, write  # and with it Pillow

    (folder,) = paths
    pictures = _read_folder(
        folder, {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif"}, square, PICTURES, "pictures"
    )
    squares = [levels for _, levels in pictures]
    write(
        data,
        {
            split: squares[part]
            for split, part in zip(
                ("train", "val", "test"), cut_into_splits(len(squares)), strict=True
            )
        },
    )
    return f"{len(squares):,} pictures of {folder.name}"


def _read_folder(
    folder: Path, endings: Set[str], read: Callable[[Path], ReadT], least: int, what: str
) -> list[tuple[Path, ReadT]]:
    """Read the files of a folder with these endings; name the files that cannot be used, and why.

    Raise UserDataError where fewer than `least` can be used. what: a word for the files.
    """
    found, skipped = [], 0
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in endings):
        try:
            found.append((path, read(path)))
        except (InputError, OSError) as error:
            skipped += 1
            print(f"skipped {path.relative_to(folder)}: {_reason(error)}", file=sys.stderr)
    if len(found) < least:
        unusable = f" that can be used, and {skipped} that cannot" if skipped else ""
        raise UserDataError(
            f"{folder} holds {len(found)} {what}{unusable}: at least {least} are needed"
        )
    return found


def _reason(error: Exception) -> str:
    """Return why a file cannot be read, in words."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


KINDS: Mapping[str, Callable[[Sequence[Path], Path], str]] = {
    "text": store_text,
    "pairs": store_pairs,
    "midi": store_midi,
    "images": store_images,
}


def digest_paths(paths: Sequence[Path]) -> str:
    """Return a digest of the content of files, and of all files of a folder in the order of their
    names."""
    found = hashlib.sha256()
    for path in paths:
        for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if one.is_file():
                found.update(hashlib.sha256(one.read_bytes()).digest())
    return found.hexdigest()


@dataclass(frozen=True)
class UserTraining:
    """A user's own training.

    assets: the folder of its results.
    given: other values, by name, as they were typed.
    said: the data in words, where they are not the lab's; digest: of the files of these data.
    """

    assets: Path
    given: Mapping[str, str] = field(default_factory=dict)
    said: str = ""
    digest: str = ""

    def claim(self, run: Path) -> None:
        """Write down the data and values with which a run learns. Raise UserDataError where it was
        begun
        with others: only its steps may change."""
        asked = {
            "data": self.digest,
            **{name: value for name, value in sorted(self.given.items()) if name != "steps"},
        }
        kept = run / "asked.json"
        if kept.is_file() and json.loads(kept.read_text("utf-8")) != asked:
            raise UserDataError(
                f"{run} was begun with other data or other values: choose another --out, or remove"
                " that folder"
            )
        kept.write_text(json.dumps(asked) + "\n", encoding="utf-8")

    def change_recipe(self, recipe: RecipeT) -> RecipeT:
        """Return a recipe with the given values that are its own or its schedule's; `lr` is its
        rate. With its steps, every entry that lasts a share of them changes too."""
        schedule: Any = recipe.schedule  # type: ignore[attr-defined]
        of_schedule, of_recipe = _list_numbers(schedule, IDLE), _list_numbers(recipe) | {"lr": 0.0}
        timed = {
            name: _parse_like(of_schedule[name], name, value)
            for name, value in self.given.items()
            if name in of_schedule
        }
        share = timed.get("steps", schedule.steps) / schedule.steps
        lasting = {name: max(1, round(share * getattr(schedule, name))) for name in LASTING}
        others = {
            name: _parse_like(of_recipe[name], name, value)
            for name, value in self.given.items()
            if name in of_recipe
        }
        if "lr" in others:
            others["rate"] = others.pop("lr")
        return dataclasses.replace(
            recipe, schedule=dataclasses.replace(schedule, **lasting | timed), **others
        )  # type: ignore[type-var]

    def change_config(self, config: Any, recipe: Any) -> Any:
        """Return a network's config with the other given values. Raise UserDataError as
        `list_sizes` does."""
        return dataclasses.replace(config, **self.list_sizes(config, recipe))

    def list_sizes(self, config: Any, recipe: Any) -> dict[str, Any]:
        """Return the given values that belong to a network's config. Raise UserDataError, which
        names the possible values, where the config has none of this name."""
        known, taken = (
            _list_numbers(config, FIXED),
            {*_list_numbers(recipe), *_list_numbers(recipe.schedule, IDLE), "lr"},
        )
        if wrong := next(
            (name for name in self.given if name not in known and name not in taken), None
        ):
            raise UserDataError(
                f"there is no {wrong} to set: {', '.join(sorted({*known, *taken}))}"
            )
        return {
            name: _parse_like(known[name], name, value)
            for name, value in self.given.items()
            if name in known and name not in taken
        }


def _list_numbers(record: Any, but: Set[str] = frozenset()) -> dict[str, Any]:
    found = {
        name: value
        for name, value in vars(record).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return {name: value for name, value in found.items() if name not in but}


def _parse_like(old: Any, name: str, value: str) -> Any:
    try:
        found = type(old)(value)
    except ValueError:
        raise UserDataError(
            f"{name}={value}: a {'whole ' * isinstance(old, int)}number is needed"
        ) from None
    least = int(isinstance(old, int) and old > 0)
    if not least <= found < 1e9:
        raise UserDataError(f"{name}={value} is out of range")
    return found


def _open_text(path: Path) -> str:
    try:
        given = read_bytes(path, MOST_BYTES).decode("utf-8-sig")  # a byte order mark is no letter
    except FileNotFoundError:
        raise UserDataError(f"there is no file {path}") from None
    except OSError as error:
        raise UserDataError(f"{path} cannot be read: {_reason(error)}") from None
    except UnicodeDecodeError:
        raise UserDataError(f"{path.name} is no text in UTF-8") from None
    if "\0" in given:
        raise UserDataError(
            f"{path.name} holds NUL characters, as a text in UTF-16 does: save it as UTF-8"
        )
    return given


def _sentences(path: Path) -> list[str]:
    """Return the lines of a file, each as the page reads a sentence; only a line feed ends one.
    Raise UserDataError for an empty one."""
    from models.data.multi30k import clean_sentence  # and with it torch

    lines = [clean_sentence(line) for line in _open_text(path).removesuffix("\n").split("\n")]
    if empty := next((n for n, line in enumerate(lines, 1) if not line), None):
        raise UserDataError(f"{path.name}, line {empty}, is empty")
    return lines


def _write_gzip(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
