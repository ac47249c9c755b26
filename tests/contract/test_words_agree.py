"""What the pages say agrees with their numbers, and each language stands by itself: no "1 layers",
no "from 0.57 to 0.57", no English left in Chinese."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Page, expect

from explorer.components.base import FOLDER, list_frontend_files
from explorer.contract import labels
from explorer.contract.lab import OpenLab
from explorer.contract.labels import NOUNS, fill_text, write_change_sentence
from explorer.labs import LABS
from explorer.page import card_facts
from tests.conftest import ROOT
from tests.contract.test_one_number_for_a_place import drawn
from tests.pages import Faults
from tests.test_labs import texts_of
from tools.price import nodes

CHINESE = re.compile(r"[一-鿿]")
LATIN = re.compile(r"[A-Za-z][A-Za-z'’-]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\S+", text))


# What stays as it is in Chinese: people, data sets, systems, kinds of files, keys of the keyboard,
# functions, units, and the words that the models of stories read.
NAMES = _words("""
    Abnar Zuidema Child Cordonnier Dai Dehghani Graves Huang Kitaev Kingma Dhariwal Parmar
    Sukhbaatar Vaswani Wu Xiao Elliott Oord Simon
    Oore Bahdanau Luong Cho Radford Al-Rfou GPT GPT- Gu Ghazvininejad Devlin Yeh
    MiniLM CLS SEP MASK UD Cora GAT GATv
    Tweedledum Tweedledee
    RNN GRU min ACT ASAP Adam Apache- BLEU BY-NC-SA CC CIFAR- CPU Fashion-MNIST GNMT GPU Glow LSTM
    MIT MNIST Multi Muon PixelCNN Reformer RL
    Transformer Transformer-XL Transformers arXiv bAbI bertviz newstest python reformer-pytorch
    sacreBLEU transformers ConvS base
    AttentionViz BERT Hub pickle safetensors
    big Backspace Ctrl Delete Enter Esc PageDown PageUp Shift shift shift- Space JPEG MIDI PNG TXT
    WebP mid KB MB GB ms kB CSV NPZ
    SVG HTML WAV FF attention Attention argmax exp log softmax tanh xR float max clamp mary somebody
    went to the garden took put in
    where is nobody test word text benchmarks logit lsh LSH- reversible save and
    Veli kovi LeakyReLU GraphML gat gatv dot GAN Zhang Fr chet ImageNet Inception hinge
    Efros Leung Buades Wang dB PSNR TrXL TrXL-I GTrXL Parisotto e- DMLab- MLP V-MPO PPO
    FSDD LibriSpeech BY-SA Free Spoken Digit Dataset Zohar Jackson FLAC OGG Hz url https localhost
    SGD PyTorch PY bfloat post-LN pre-LN
    AudioWorklet DETR Carion AP COCO IoU NMS px Page Up Down
""")
# Verbs and measures that stand behind a number or a name without counting anything.
UNCOUNTED = _words("""
    ends gives goes is was has times hours bits nats does pays reads ms others fits passes takes
    makes looks needs costs stands
    sees comes holds reaches says stops turns becomes begins changes marks points misses works plus
    quarters sixteenths ticks
    frames operations less as means attends knows listens gets parameters dimensions products shares
    numbers hashes carries asks
    keeps cross remembers opens puts hangs stays repeats collapses writes errs lies receives
""")
of_every_source = pytest.mark.xdist_group("every source")  # which one worker parses, once
every_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)


@cache
def _texts() -> list[tuple[str, str]]:
    """(file, text) of every text in the code of the pages: string literals, documentation and
    comments left out."""
    texts: list[tuple[str, str]] = []
    for path in [*ROOT.glob("explorer/**/*.py"), *ROOT.glob("models/**/*.py")]:
        every = nodes(path.read_text("utf-8"))
        said = {id(node.value) for node in every if isinstance(node, ast.Expr)}
        texts += [
            (path.name, node.value)
            for node in every
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in said
        ]
    for path in (path for path in list_frontend_files().values() if path.suffix == ".js"):
        code = re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
        for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code):
            texts.append((path.name, found[1] if found[1] is not None else found[2]))
    return texts


def _english_in(text: str) -> list[str]:
    """Words of a Chinese text that are neither names nor filled in; what stands in quotation marks
    is quoted."""
    bare = re.sub(
        r"\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\{.*|\{[^{}]*\}|“[^”]*”|⁨[^⁩]*⁩|\(?github\.com[^\s)；，。"
        r"]*|\w+_\w+",
        " ",
        text,
    )
    return [word for word in LATIN.findall(bare) if word not in NAMES]


@of_every_source
def test_no_chinese_text_of_the_code_has_english_words_left() -> None:
    mixed = {
        (name, text): _english_in(text)
        for name, text in _texts()
        if CHINESE.search(text)
        and name not in {"not_found.py", "unread.py", "queue_events.py", "card_facts.py", "wire.js"}
    }
    assert {where: words for where, words in mixed.items() if words} == {}


@of_every_source
def test_every_noun_behind_a_number_has_its_singular() -> None:
    behind = {
        word
        for _, text in _texts()
        if not CHINESE.search(text)
        for word in re.findall(r"\{\w+\} (?:other |more )?([a-z]+s|hypotheses)\b", text)
    }
    assert behind - NOUNS.keys() - UNCOUNTED == set()


def test_the_browser_and_the_server_know_the_same_nouns() -> None:
    code = (FOLDER / "lib" / "lang.js").read_text("utf-8")
    listed = re.search(r"const NOUNS = `([^`]*)`", code)
    odd = re.search(r"const ODD = \{(.*)\};", code)
    assert listed and odd
    rule = {
        many: many.replace("ies", "y") if many.endswith("ies") else many[:-1]
        for many in listed[1].split()
    }
    assert rule | dict(re.findall(r'(\w+): "(\w+)"', odd[1])) == dict(NOUNS)


@pytest.mark.parametrize("many", sorted(NOUNS))
def test_one_of_a_kind_is_said_in_the_singular(many: str) -> None:
    said = fill_text({"en": f"{{n}} {many}", "zh": "{n}"}, n=1)
    assert said["en"] == f"1 {NOUNS[many]}"
    assert fill_text({"en": f"{{n}} {many}", "zh": "{n}"}, n=2)["en"] == f"2 {many}"
    chosen = {"en": "{n} {n|was|were} given", "zh": "{n}"}
    assert [fill_text(chosen, n=n)["en"] for n in (1, 3)] == ["1 was given", "3 were given"]


def test_a_change_that_nobody_could_see_is_not_told_as_one() -> None:
    moves, stays = (
        {"en": "from {before} to {after}", "zh": "{before} → {after}"},
        {"en": "still {before}", "zh": "仍为 {before}"},
    )
    assert write_change_sentence(moves, stays, 0.571, 0.569)["en"] == "still 0.57"
    assert write_change_sentence(moves, stays, 0.571, 0.581)["en"] == "from 0.57 to 0.58"
    assert write_change_sentence(moves, stays, -1.85, -8.44)["en"] == "from −1.85 to −8.44"
    assert write_change_sentence(moves, stays, -0.001, 0.001)["en"] == "still 0.00", (
        "nothing has no sign"
    )


@of_every_source
def test_changes_compare_what_is_printed() -> None:
    told = [
        (path.name, call.lineno)
        for path in ROOT.glob("explorer/**/*.py")
        for call in nodes(path.read_text("utf-8"))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "filled"
        and {"before", "after"} <= {word.arg for word in call.keywords}
        and not isinstance(call.args[0], ast.IfExp)  # another text where both are alike
    ]
    assert told == []


@of_every_source
def test_data_set_parts_have_chinese_names() -> None:
    names = ("test", "val", "valid", "test_2016")
    assert [labels.name_split(name)["zh"] for name in names] == [
        "测试集",
        "验证集",
        "验证集",
        "2016 测试集",
    ]
    assert "各" not in {text for _, text in _texts()}, "“0.13 M 各” is no Chinese: each of what?"


@every_lab
def test_the_chinese_card_uses_chinese_names(lab: object) -> None:
    slug = lab.slug  # type: ignore[attr-defined]
    card = card_facts.ASSETS / slug / "card.md"
    chinese = re.split(r"^# +中文 *$", card.read_text("utf-8"), flags=re.MULTILINE)[1]
    assert not re.search(
        r"\b(valid|validation|dropout|threads|held-out|epochs?|steps?)\b",
        re.sub(r"\{[^{}]*\}|`[^`]*`", "", chinese),
    )
    assert labels.name_device("cpu, 2 threads")["zh"] == "CPU，2 线程"
    assert labels.name_device("cpu, 1 threads") == {"en": "CPU, 1 thread", "zh": "CPU，1 线程"}


def test_the_mask_step_names_every_exception() -> None:
    lab = next(lab for lab in LABS if lab.slug == "translation")
    (say,) = (step.say for step in lab.steps if "mask is off" in step.say["en"])
    names = {"encoder": ("encoder", "编码器自注意力"), "cross": ("across", "交叉注意力")}
    unmasked = {
        kind["key"] for value in drawn(lab) for kind in value.get("kinds") or [] if not kind["mask"]
    }
    assert unmasked == set(names)
    assert all(english in say["en"] and chinese in say["zh"] for english, chinese in names.values())


def test_empty_memories_and_equal_texts(
    new_page: Callable[..., tuple[Page, Faults]], site: str
) -> None:
    page, _ = new_page()
    page.goto(
        f"{site}/transformer_xl?lang=en&v=1&text=The+sea.&length=1&temperature=0&intervention=cut"
    )
    expect(page.locator("[data-knob=memory] output")).to_have_text(
        "512 characters · not used: nothing is remembered"
    )
    notes = page.locator(".tfe-reading .tfe-note")
    expect(notes.filter(has_text="characters were given")).to_have_text(
        re.compile(
            "^The first 8 characters were given; the rest, on green, is the same text for both\\."
        )
    )


@every_lab
def test_every_text_of_a_lab_has_a_chinese_of_its_own(lab: OpenLab) -> None:
    held = [
        value
        for name, value in vars(import_module(f"explorer.labs.{lab.slug}.texts")).items()
        if not name.startswith("__")
    ]
    # an example is the same in every language
    data = {value for query in lab.examples for _, value in parse_qsl(query)}
    bare = [
        chinese
        for chinese in (text["zh"] for text in texts_of(held))
        if not CHINESE.search(chinese) and chinese not in data
    ]
    left = {
        word for text in bare for word in LATIN.findall(re.sub(r"\{[^}]*\}|“[^”]*”", "", text))
    } - NAMES
    assert not left, left


@every_lab
def test_no_step_depends_on_the_theme(lab: OpenLab) -> None:
    """A ground is dark in one theme and light in the other."""
    said = [
        text
        for step in lab.steps
        for text in (step.say, step.question, step.guess, step.show)
        if text
    ]
    assert not [text for text in said if re.search(r"\bdark", text["en"]) or "暗" in text["zh"]]
