"""Somebody's own data: what a lab's recipe then reads, what is refused, and the way from a text file to a lab that README shows."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from models import checkpoint, folders
from models.__main__ import main
from models.beam import EXTRA
from models.captions import read
from models.characters import books
from models.device import device
from models.driver import Job
from models.encoder import Config as EncoderConfig
from models.image_transformer import colour as colours
from models.image_transformer.data import colour
from models.language_model.model import Config as LetterConfig
from models.music.events import notes_of
from models.music.midi import midi_of
from models.music.midi import read as heard
from models.music.performances import performances
from models.own import Own, Refused, images, midi, pairs, text
from models.transformer_xl.recipe import RECIPE, XL
from models.translation import recipe as translation

ROOT = Path(__file__).parents[2]
LINE = "It was late, and nobody had come to the house by the river.\n"


@pytest.fixture(autouse=True)
def _found_by_no_later_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folders.NAME, "")  # training writes it


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_end_of_a_text_is_held_out_and_nothing_is_lost_but_a_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(LINE * 400, encoding)
    assert text([path], tmp_path) == "mine.txt, 24,000 characters"
    parts = ["".join(book.text for book in books(tmp_path, split)) for split in ("train", "valid", "test")]
    assert "".join(parts) == LINE * 400 and [len(part) for part in parts] == [21_600, 1_200, 1_200]


def test_pairs_stay_pairs(tmp_path: Path) -> None:
    sides = [tmp_path / "a.en", tmp_path / "a.de"]
    for side, word in zip(sides, ("dog", "Hund"), strict=True):
        lines = "".join(f"{word} {i}\n" for i in range(200))
        side.write_text(lines.replace("Hund 7\n", "Hund 7 \u2028 \x85 \x0c\r\n"), "utf-8", newline="")
    pairs(sides, tmp_path)
    for split, count in (("train", 180), ("val", 10), ("test_2016_flickr", 10)):
        english, german = read(tmp_path, split)
        assert len(english) == count and [line.split()[1] for line in english] == [line.split()[1] for line in german]


def test_sentences_that_are_too_long_are_refused_before_training(tmp_path: Path) -> None:
    sides = [tmp_path / "a.en", tmp_path / "a.de"]
    for side, most in zip(sides, (20, 29), strict=True):
        side.write_text("a b\n" * 195 + "a " * (most - 1) + "a\n" + "a b\n" * 4, "utf-8")
    pairs(sides, tmp_path)
    objective = translation.plan(Job(translation.task_of("base"), "base", translation.Recipe(), tmp_path, tmp_path)).objective
    network: Any = SimpleNamespace(config=SimpleNamespace(max_positions=EXTRA + 20))
    objective(network)
    network.config.max_positions -= 1
    with pytest.raises(ValueError, match=r"test_2016_flickr.en.gz, line 6, has 20 pieces: at most 19"):
        objective(network)


def test_a_midi_file_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.mid"
    path.write_bytes(b"MThd\0\0\0\6\0\0\0\1\1\xe0MTrk\0\0\0\x0a\0\xff\x59\2\x0c\0\0\xff\x2f\0")
    with pytest.raises(ValueError, match="no MIDI file, or a broken one"):
        heard(path)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="--device cuda:1: this machine has no GPU"):
        device("cuda:1")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert device("cuda:1").index == 1
    with pytest.raises(ValueError, match="--device cuda:9: this machine has 2 GPUs, the first of them cuda:0"):
        device("cuda:9")


def test_midi_files_are_whole_performances_of_one_split_each(tmp_path: Path) -> None:
    for n in range(4):
        notes = notes_of(np.arange(600) * 100, np.arange(600) * 100 + 90, 40 + n + np.arange(600) % 24, np.full(600, 72))
        midi_of(notes).write(str(tmp_path / f"{n}.mid"))
    assert midi([tmp_path], tmp_path) == f"4 MIDI files of {tmp_path.name}, 2,400 notes"
    given = {split: performances(tmp_path, split) for split in ("train", "valid", "test")}
    assert {split: [one.title for one in found] for split, found in given.items()} == {"train": ["0", "1"], "valid": ["2"], "test": ["3"]}
    for number, one in enumerate((*given["train"], *given["valid"], *given["test"])):
        assert (one.onset[:3].tolist(), one.end[0], one.pitch[0]) == ([0, 100, 200], 90, 40 + number)


def test_what_cannot_be_learned_from_is_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short, broken = tmp_path / "short.txt", tmp_path / "broken.txt"
    short.write_text("Too short.", "utf-8")
    broken.write_bytes(b"\xff\xfe\x00")
    gap, letters = tmp_path / "gap.txt", tmp_path / "letters.txt"
    gap.write_text("one\n\nthree\n", "utf-8")
    letters.write_text("".join(map(chr, range(0x4E00, 0x4E00 + 300))) * 100, "utf-8")
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.mid").write_bytes(b"MThd\x00\x00")
    few, spoiled = drawn(tmp_path / "few", 100), drawn(tmp_path / "spoiled", 100)
    (spoiled / "050.png").write_bytes(b"\x89PNG")
    out = ["--out", str(tmp_path / "out")]
    for words, said in (
        (["transformer_xl", "--text", str(short), *out], "short.txt has 10 characters: at least 21,000"),
        (["transformer_xl", "--text", str(broken), *out], "no text in UTF-8"),
        (["transformer_xl", "--text", str(tmp_path / "none.txt"), *out], "there is no file"),
        (["transformer_xl", "--text", str(spoiled), *out], "spoiled cannot be read"),
        (["transformer_xl", "--text", str(letters), *out], "letters.txt has 300 different characters: at most 255"),
        (["translation", "--pairs", str(short), str(short), *out], "1 pairs of sentences"),
        (["translation", "--pairs", str(gap), str(gap), *out], "gap.txt, line 2, is empty"),
        (["music", "--text", str(short), *out], "music learns from its own data alone, not from --text"),
        (["music", "--midi", str(tmp_path), *out], "one.mid cannot be read: it is no MIDI file"),
        (["music", "--midi", str(tmp_path / "none"), *out], "0 MIDI files: at least 3 are needed"),
        (
            ["image_transformer", "--images", str(tmp_path / "out"), *out],
            "holds 0 pictures: at least 100 are needed",
        ),
        (["image_transformer", "--images", str(spoiled), *out], "050.png cannot be read: it is no picture"),
        (["transformer_xl", "--text", str(short)], "--out FOLDER is needed"),
        (["transformer_xl", "--set", "steps", *out], "NAME=VALUE"),
        (["transformer_xl", "--text", str(short), "--set", "d_modle=64", *out], "there is no d_modle to set"),
        (
            ["image_transformer", "--images", str(few), "--set", "batch=91", *out],
            "batch=91: there are 90 pictures",
        ),
        (["transformer_xl", "--data", str(short), *out], "Not a directory"),
        (["transformer_xl", "--devices", "0"], "--devices 0: at least 1 is needed"),
        (["transformer_xl", "--device", "gpu"], "there is no device gpu: cpu, cuda or cuda:1"),
        (["transformer_xl", "--text", str(short), "--device", "gpu", *out], "there is no device gpu: cpu, cuda or cuda:1"),
    ):
        assert main(["train", *words]) == 1
        assert said in capsys.readouterr().err


def test_with_other_steps_all_that_lasts_a_share_of_them_changes_too() -> None:
    schedule = Own(Path(), {"steps": "380", "lr": "0.002"}).recipe(RECIPE)
    assert (schedule.schedule.steps, schedule.schedule.warmup, schedule.schedule.cooldown, schedule.rate) == (380, 22, 235, 0.002)


def test_a_wrong_name_or_value_lists_what_there_is() -> None:
    config = XL.build("abc").config
    assert Own(Path(), {"d_model": "64", "steps": "9"}).config(config, RECIPE) == dataclasses.replace(config, d_model=64)
    with pytest.raises(Refused, match=r"there is no d_modle to set: .*d_model.*lr.*steps"):
        Own(Path(), {"d_modle": "64"}).config(config, RECIPE)
    for name, value, said in (
        ("steps", "1.0", "steps=1.0: a whole number is needed"),
        ("lr", "much", "lr=much: a number is needed"),
        ("steps", "0", "steps=0 is out of range"),
    ):
        with pytest.raises(Refused, match=said):
            Own(Path(), {name: value}).recipe(RECIPE)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        *((colours.Config(), name) for name in ("side", "small")),
        (EncoderConfig(), "vocabulary"),
        *((LetterConfig(), name) for name in ("window", "pieces", "peak", "seed")),
    ],
)
def test_what_the_data_are_cut_to_or_has_no_effect_cannot_be_set(config: Any, name: str) -> None:
    own = Own(Path(), {name: "7"})
    with pytest.raises(Refused, match=f"there is no {name} to set: (?!.*\\b{name}\\b).*d_model"):
        own.config(config, own.recipe(RECIPE))


def drawn(folder: Path, count: int) -> Path:
    """A folder of so many picture files, grey stripes that get lighter from one to the next."""
    folder.mkdir()
    for n in range(count):
        levels = np.broadcast_to((np.arange(96, dtype=np.uint8) // 2)[None, :, None] + n, (64, 96, 3))
        Image.fromarray(np.ascontiguousarray(levels)).save(folder / f"{n:03d}.png")
    return folder


def test_of_pictures_the_middle_square_is_learned_from_and_some_are_held_out(tmp_path: Path) -> None:
    assert images([drawn(tmp_path / "mine", 100)], tmp_path) == "100 pictures of mine"
    given = {split: colour(tmp_path, split).levels for split in ("train", "val", "test")}
    assert {split: levels.shape for split, levels in given.items()} == {
        "train": (90, 32, 32, 3),
        "val": (5, 32, 32, 3),
        "test": (5, 32, 32, 3),
    }
    assert given["train"][0, :, 0].tolist() == [[8] * 3] * 32, "of 96 columns the first and the last 16 are cut off, and two become one"
    assert given["test"][-1, 0, -1].tolist() == [39 + 99] * 3


# What app.py does, with a site of two labs: the others are those of any other start.
OPENED = """if True:
    from explorer import server
    from tests.conftest import built
    from tests.explorer.asking import ask
    SLUGS = ("transformer_xl", "image_transformer")
    def opened(labs, *_, **__):
        site = built(lambda: server.Site([lab for lab in labs if lab.slug in SLUGS]))
        print(*(ask(site, "/" + slug).text for slug in SLUGS), sep="NEXT PAGE")
        site.engine.close(0)
    server.serve = opened
    server.main()
"""


def test_a_run_goes_on_with_what_it_was_begun_with_alone_and_may_be_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checkpoint, "LARGEST", 100)  # bytes, for what is shipped with the app
    for name in ("my", "other"):
        (tmp_path / f"{name}.txt").write_text("".join(LINE.replace("late", f"{name} {i}") for i in range(400)), "utf-8")

    def run(name: str, **values: float) -> int:
        given = {"lr": 0.003, "steps": 1, "d_model": 16, "n_layers": 1, "lanes": 1} | values
        sizes = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
        mine = ["--text", str(tmp_path / f"{name}.txt"), "--out", str(tmp_path / "models")]
        return main(["train", "transformer_xl", *mine, "--resume", *sizes])

    def learned() -> tuple[str, int]:
        facts = json.loads((tmp_path / "models/transformer_xl/xl/model.json").read_text("utf-8"))
        return facts["data"].split(",")[0], facts["steps"]

    assert run("my") == 0 and learned() == ("my.txt", 1)
    for name, values in (("other", {}), ("my", {"d_model": 32})):
        assert run(name, **values) == 1
        assert "was begun with other data or other values: choose another --out, or remove that folder" in capsys.readouterr().err
    assert run("my", steps=2) == 0 and learned() == ("my.txt", 2)


@pytest.mark.slow
def test_from_a_text_file_to_a_lab_as_the_readme_shows_it_and_from_pictures_to_one_that_makes_small_ones_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = re.search(r"## Your own data.*?```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert block
    (tmp_path / "my.txt").write_text("".join(LINE.replace("late", str(i)) for i in range(400)), "utf-8")
    train, app = (shlex.split(line)[1:] for line in block[1].replace("steps=400", "steps=3").replace(" my", f" {tmp_path}/my").splitlines())
    monkeypatch.setenv("EXPLORER_DATA", "/nowhere")
    monkeypatch.chdir(ROOT)
    assert train[:2] == ["-m", "models"] and main(train[2:]) == 0
    facts = json.loads((tmp_path / "my-models/transformer_xl/xl/model.json").read_text("utf-8"))
    assert facts["data"].startswith("my.txt, ") and facts["config"]["d_model"] == 64 and facts["figure"]["split"] == "test"
    own = ["--images", str(drawn(tmp_path / "mine", 100)), "--out", str(tmp_path / "my-models")]
    sizes = [word for size in ("steps=2", "lr=0.003", "d_model=16", "n_decoder=1") for word in ("--set", size)]
    assert main(["train", "image_transformer", *own, *sizes]) == 0
    assert app[0] == "app.py"
    ran = subprocess.run([sys.executable, "-c", OPENED, *app[1:]], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    pages = ran.stdout.split("NEXT PAGE")
    for page, names in zip(pages, (["my.txt"], ["100 pictures of mine", "picture 5, held out"]), strict=True):
        assert "This lab is closed" not in page and all(name in page for name in ("trained by you", *names))
