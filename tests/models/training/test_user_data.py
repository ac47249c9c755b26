"""Somebody's own data: what a lab's recipe then reads, what is refused, and the way from a text
file to a lab that README shows."""

from __future__ import annotations

import dataclasses
import json
import os
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

from models.__main__ import main
from models.checkpoints import checkpoint, folders
from models.checkpoints.device import choose_device
from models.data.captions import read_captions
from models.data.characters import read_books
from models.decoding.beam import EXTRA
from models.image_transformer import colour as colours
from models.image_transformer.data import colour
from models.language_model.model import Config as LetterConfig
from models.music.events import notes_of
from models.music.midi import midi_of
from models.music.performances import performances
from models.networks.encoder import Config as EncoderConfig
from models.training.driver import Job
from models.training.user_data import (
    UserDataError,
    UserTraining,
    store_images,
    store_midi,
    store_pairs,
    store_text,
)
from models.transformer_xl.recipe import RECIPE, XL
from models.translation import recipe as translation

ROOT = Path(__file__).parents[3]
LINE = "It was late, and nobody had come to the house by the river.\n"


@pytest.fixture(autouse=True)
def _found_by_no_later_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folders.NAME, "")  # training writes it


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_end_of_a_text_is_held_out(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(LINE * 400, encoding)
    assert store_text([path], tmp_path) == "mine.txt, 24,000 characters"
    parts = [
        "".join(book.text for book in read_books(tmp_path, split))
        for split in ("train", "valid", "test")
    ]
    assert "".join(parts) == LINE * 400 and [len(part) for part in parts] == [21_600, 1_200, 1_200]


def test_pairs_stay_pairs(tmp_path: Path) -> None:
    sides = [tmp_path / "a.en", tmp_path / "a.de"]
    for side, word in zip(sides, ("dog", "Hund"), strict=True):
        lines = "".join(f"{word} {i}\n" for i in range(200))
        side.write_text(
            lines.replace("Hund 7\n", "Hund 7 \u2028 \x85 \x0c\r\n"), "utf-8", newline=""
        )
    store_pairs(sides, tmp_path)
    for split, count in (("train", 180), ("val", 10), ("test_2016_flickr", 10)):
        english, german = read_captions(tmp_path, split)
        assert len(english) == count and [line.split()[1] for line in english] == [
            line.split()[1] for line in german
        ]


@pytest.mark.parametrize("mark", "\r\v\f\x1c\x1e\x85\u2028\u2029")
def test_only_a_line_feed_ends_a_line(mark: str, tmp_path: Path) -> None:
    sides = [tmp_path / "a.en", tmp_path / "a.de"]
    for side, cut in zip(sides, (20, 180), strict=True):  # a stray mark in another line of each
        lines = "".join(f"No {n}: two{mark if n == cut else ' '}dogs.\n" for n in range(240))
        side.write_text(lines, "utf-8", newline="")
    store_pairs(sides, tmp_path)
    given = [read_captions(tmp_path, split) for split in ("train", "val", "test_2016_flickr")]
    for n in range(len(sides)):
        assert [line for part in given for line in part[n]] == [
            f"No {n}: two dogs." for n in range(240)
        ]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_text_with_nul_is_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(LINE * 400, encoding)
    for read_it, paths in ((store_text, [path]), (store_pairs, [path, path])):
        with pytest.raises(
            UserDataError,
            match=r"mine.txt holds NUL characters, as a text in UTF-16 does: save it as UTF-8",
        ):
            read_it(paths, tmp_path)


def test_what_is_no_file_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.txt", "a.mid", "a.png"):
        os.mkfifo(tmp_path / name)
    for read_it, paths in (
        (store_text, [tmp_path / "a.txt"]),
        (store_pairs, [tmp_path / "a.txt"] * 2),
    ):
        with pytest.raises(UserDataError, match=r"a\.txt cannot be read: it is no regular file"):
            read_it(paths, tmp_path)
    for read_it, name in ((store_midi, "a.mid"), (store_images, "a.png")):
        with pytest.raises(
            UserDataError, match=r"0 [A-Za-z ]+ that can be used, and 1 that cannot"
        ):
            read_it([tmp_path], tmp_path)
        assert capsys.readouterr().err == f"skipped {name}: it is no regular file\n"


def test_sentences_that_are_too_long_are_refused_before_training(tmp_path: Path) -> None:
    sides = [tmp_path / "a.en", tmp_path / "a.de"]
    for side, most in zip(sides, (20, 29), strict=True):
        side.write_text("a b\n" * 195 + "a " * (most - 1) + "a\n" + "a b\n" * 4, "utf-8")
    store_pairs(sides, tmp_path)
    objective = translation.plan(
        Job(translation.task_of("base"), "base", translation.Recipe(), tmp_path, tmp_path)
    ).objective
    network: Any = SimpleNamespace(config=SimpleNamespace(max_positions=EXTRA + 20))
    objective(network)
    network.config.max_positions -= 1
    with pytest.raises(
        ValueError, match=r"test_2016_flickr.en.gz, line 6, has 20 pieces: at most 19"
    ):
        objective(network)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="--device cuda:1: this machine has no GPU"):
        choose_device("cuda:1")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert choose_device("cuda:1").index == 1
    with pytest.raises(
        ValueError, match="--device cuda:9: this machine has 2 GPUs, the first of them cuda:0"
    ):
        choose_device("cuda:9")


def test_midi_files_are_whole_performances_of_one_split_each(tmp_path: Path) -> None:
    for n in range(4):
        notes = notes_of(
            np.arange(600) * 100,
            np.arange(600) * 100 + 90,
            40 + n + np.arange(600) % 24,
            np.full(600, 72),
        )
        midi_of(notes).write(str(tmp_path / f"{n}.mid"))
    assert store_midi([tmp_path], tmp_path) == f"4 MIDI files of {tmp_path.name}, 2,400 notes"
    given = {split: performances(tmp_path, split) for split in ("train", "valid", "test")}
    assert {split: [one.title for one in found] for split, found in given.items()} == {
        "train": ["0", "1"],
        "valid": ["2"],
        "test": ["3"],
    }
    for number, one in enumerate((*given["train"], *given["valid"], *given["test"])):
        assert (one.onset[:3].tolist(), one.end[0], one.pitch[0]) == (
            [0, 100, 200],
            90,
            40 + number,
        )


def test_what_cannot_be_learned_from_is_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        (
            ["transformer_xl", "--text", str(short), *out],
            "short.txt has 10 characters: at least 21,000",
        ),
        (["transformer_xl", "--text", str(broken), *out], "no text in UTF-8"),
        (["transformer_xl", "--text", str(tmp_path / "none.txt"), *out], "there is no file"),
        (["transformer_xl", "--text", str(spoiled), *out], "spoiled cannot be read"),
        (
            ["transformer_xl", "--text", str(letters), *out],
            "letters.txt has 300 different characters: at most 255",
        ),
        (["translation", "--pairs", str(short), str(short), *out], "1 pairs of sentences"),
        (["translation", "--pairs", str(gap), str(gap), *out], "gap.txt, line 2, is empty"),
        (
            ["music", "--text", str(short), *out],
            "music learns from its own data alone, not from --text",
        ),
        (["music", "--midi", str(tmp_path), *out], "one.mid: Your MIDI file is cut off or damaged"),
        (
            ["music", "--midi", str(tmp_path), *out],
            "holds 0 MIDI files that can be used, and 3 that cannot: at least 3 are needed",
        ),
        (["music", "--midi", str(tmp_path / "none"), *out], "0 MIDI files: at least 3 are needed"),
        (
            ["image_transformer", "--images", str(tmp_path / "out"), *out],
            "holds 0 pictures: at least 100 are needed",
        ),
        (
            ["image_transformer", "--images", str(spoiled), *out],
            "skipped 050.png: Your file is no picture that this lab knows",
        ),
        (
            ["image_transformer", "--images", str(spoiled), *out],
            "holds 99 pictures that can be used, and 1 that cannot: at least 100",
        ),
        (["transformer_xl", "--text", str(short)], "--out FOLDER is needed"),
        (["transformer_xl", "--set", "steps", *out], "NAME=VALUE"),
        (
            ["transformer_xl", "--text", str(short), "--set", "d_modle=64", *out],
            "there is no d_modle to set",
        ),
        (
            ["image_transformer", "--images", str(few), "--set", "batch=91", *out],
            "batch=91: there are 90 pictures",
        ),
        (["transformer_xl", "--data", str(short), *out], "Not a directory"),
        (["transformer_xl", "--devices", "0"], "--devices 0: at least 1 is needed"),
        (["transformer_xl", "--device", "gpu"], "there is no device gpu: cpu, cuda or cuda:1"),
        (
            ["transformer_xl", "--text", str(short), "--device", "gpu", *out],
            "there is no device gpu: cpu, cuda or cuda:1",
        ),
    ):
        assert main(["train", *words]) == 1
        assert said in capsys.readouterr().err


def test_other_steps_scale_their_shares() -> None:
    schedule = UserTraining(Path(), {"steps": "380", "lr": "0.002"}).change_recipe(RECIPE)
    assert (
        schedule.schedule.steps,
        schedule.schedule.warmup,
        schedule.schedule.cooldown,
        schedule.rate,
    ) == (380, 22, 235, 0.002)


def test_a_wrong_name_or_value_lists_what_there_is() -> None:
    config = XL.build("abc").config
    assert UserTraining(Path(), {"d_model": "64", "steps": "9"}).change_config(
        config, RECIPE
    ) == dataclasses.replace(config, d_model=64)
    with pytest.raises(UserDataError, match=r"there is no d_modle to set: .*d_model.*lr.*steps"):
        UserTraining(Path(), {"d_modle": "64"}).change_config(config, RECIPE)
    for name, value, said in (
        ("steps", "1.0", "steps=1.0: a whole number is needed"),
        ("lr", "much", "lr=much: a number is needed"),
        ("steps", "0", "steps=0 is out of range"),
    ):
        with pytest.raises(UserDataError, match=said):
            UserTraining(Path(), {name: value}).change_recipe(RECIPE)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        *((colours.Config(), name) for name in ("side", "small")),
        (EncoderConfig(), "vocabulary"),
        *((LetterConfig(), name) for name in ("window", "pieces", "peak", "seed")),
    ],
)
def test_what_the_data_are_cut_to_or_has_no_effect_cannot_be_set(config: Any, name: str) -> None:
    own = UserTraining(Path(), {name: "7"})
    with pytest.raises(
        UserDataError, match=f"there is no {name} to set: (?!.*\\b{name}\\b).*d_model"
    ):
        own.change_config(config, own.change_recipe(RECIPE))


def drawn(folder: Path, count: int) -> Path:
    """A folder of so many picture files, grey stripes that get lighter from one to the next."""
    folder.mkdir()
    for n in range(count):
        levels = np.broadcast_to(
            (np.arange(96, dtype=np.uint8) // 2)[None, :, None] + n, (64, 96, 3)
        )
        Image.fromarray(np.ascontiguousarray(levels)).save(folder / f"{n:03d}.png")
    return folder


def test_the_middle_square_is_learned(
    tmp_path: Path,
) -> None:
    assert store_images([drawn(tmp_path / "mine", 100)], tmp_path) == "100 pictures of mine"
    given = {split: colour(tmp_path, split).levels for split in ("train", "val", "test")}
    assert {split: levels.shape for split, levels in given.items()} == {
        "train": (90, 32, 32, 3),
        "val": (5, 32, 32, 3),
        "test": (5, 32, 32, 3),
    }
    assert given["train"][0, :, 0].tolist() == [[8] * 3] * 32, (
        "of 96 columns the first and the last 16 are cut off, and two become one"
    )
    assert given["test"][-1, 0, -1].tolist() == [39 + 99] * 3


# What app.py does, with a site of two labs: the others are those of any other start.
OPENED = """if True:
    from explorer.web import launch, server
    from tests.conftest import built
    from tests.explorer.asking import ask
    SLUGS = ("transformer_xl", "image_transformer")
    def opened(labs, *_, **__):
        site = built(lambda: server.Site([lab for lab in labs if lab.slug in SLUGS]))
        print(*(ask(site, "/" + slug).text for slug in SLUGS), sep="NEXT PAGE")
        site.engine.close(0)
    launch.serve = opened
    launch.main()
"""


def test_a_run_goes_on_with_its_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checkpoint, "LARGEST", 100)  # bytes, for what is shipped with the app
    for name in ("my", "other"):
        (tmp_path / f"{name}.txt").write_text(
            "".join(LINE.replace("late", f"{name} {i}") for i in range(400)), "utf-8"
        )

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
        assert (
            "was begun with other data or other values: choose another --out, or remove that folder"
            in capsys.readouterr().err
        )
    assert run("my", steps=2) == 0 and learned() == ("my.txt", 2)


@pytest.mark.slow
def test_the_readme_makes_labs_from_own_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = re.search(
        r"## Your own data.*?```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert block
    (tmp_path / "my.txt").write_text(
        "".join(LINE.replace("late", str(i)) for i in range(400)), "utf-8"
    )
    train, app = (
        shlex.split(line)[1:]
        for line in (
            block[1].replace("steps=400", "steps=3").replace(" my", f" {tmp_path}/my").splitlines()
        )
    )
    monkeypatch.setenv("EXPLORER_DATA", "/nowhere")
    monkeypatch.chdir(ROOT)
    assert train[:2] == ["-m", "models"] and main(train[2:]) == 0
    facts = json.loads((tmp_path / "my-models/transformer_xl/xl/model.json").read_text("utf-8"))
    assert (
        facts["data"].startswith("my.txt, ")
        and facts["config"]["d_model"] == 64
        and facts["figure"]["split"] == "test"
    )
    own = ["--images", str(drawn(tmp_path / "mine", 100)), "--out", str(tmp_path / "my-models")]
    sizes = [
        word
        for size in ("steps=2", "lr=0.003", "d_model=16", "n_decoder=1")
        for word in ("--set", size)
    ]
    assert main(["train", "image_transformer", *own, *sizes]) == 0
    assert app[0] == "app.py"
    ran = subprocess.run(
        [sys.executable, "-c", OPENED, *app[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    pages = ran.stdout.split("NEXT PAGE")
    for page, names in zip(
        pages, (["my.txt"], ["100 pictures of mine", "picture 5, held out"]), strict=True
    ):
        assert "This lab is closed" not in page and all(
            name in page for name in ("trained by you", *names)
        )
