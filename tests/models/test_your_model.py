"""A model that somebody brings along: opened strictly, watched exactly, and refused in one sentence
where it cannot be shown."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
import torch
import transformers

from explorer.labs.your_model import lab
from explorer.web.launch import main
from models.explaining.errors import InputError
from models.language_model.pieces import Pieces
from models.your_model import records
from models.your_model.explain import MOST_PARAMETERS, Opened, explain, open_model
from models.your_model.records import (
    SHAPES,
    Explanation,
    Request,
    facts,
    find_model_folder,
    read_facts,
)
from tests import tiny

Open = Callable[..., Path]


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Makes a tiny model, and tells this process that it is the one."""

    def make(kind: str, **how: object) -> Path:
        where = tiny.folder(tmp_path / kind, kind, **how)
        monkeypatch.setenv(records.NAME, str(where))
        return where

    yield make
    read_facts.cache_clear()
    open_model.cache_clear()


def seen(text: str = tiny.TEXT) -> Explanation:
    [one] = explain([Request(text)])
    assert isinstance(one, Explanation), one
    return one


@pytest.mark.parametrize("kind", SHAPES)
def test_weights_and_lens_are_those_of_transformers(kind: str, brought: Open) -> None:
    where = brought(kind)
    run = seen()
    model = (
        getattr(transformers, SHAPES[kind][1])
        .from_pretrained(where, attn_implementation="eager")
        .eval()
    )
    it: Opened = open_model()
    read = torch.tensor([it.tokenizer.encode(tiny.TEXT).ids])
    watched = {"output_attentions": True, "output_hidden_states": True}
    with torch.no_grad():
        if SHAPES[kind][0] == "t5":
            begin = model.generation_config.decoder_start_token_id or 0
            free = model.generate(read, max_new_tokens=records.MOST_WRITTEN, do_sample=False)[
                0
            ].tolist()
            out = model(
                input_ids=read, decoder_input_ids=torch.tensor([[begin, *free[1:-1]]]), **watched
            )
            assert run.target == it.spell_tokens(free[1:])
            known = {
                "encoder": out.encoder_attentions,
                "decoder": out.decoder_attentions,
                "cross": out.cross_attentions,
            }
        else:
            out = model(read, **watched)
            known = {"decoder" if kind == "gpt2" else "encoder": out.attentions}
    assert run.maps.keys() == known.keys()
    for name, weights in known.items():
        np.testing.assert_allclose(run.maps[name], torch.cat(weights), atol=1e-5)
    assert run.lens is not None and np.isfinite(run.lens.nats).all()
    logits = out.logits[0][: len(run.lens.stands)]
    assert run.lens.best[-1] == it.spell_tokens(logits.argmax(-1).tolist())
    if kind == "gpt2":
        np.testing.assert_allclose(
            run.lens.nats[-1],
            -logits.log_softmax(-1).gather(-1, read[0, 1:, None])[:, 0],
            atol=1e-4,
        )


def test_a_last_space_is_not_a_token(brought: Open) -> None:
    brought("gpt2")
    assert seen(tiny.TEXT + " ").source == seen().source


def test_an_encoder_without_its_output_layer_has_no_lens(brought: Open) -> None:
    brought("bert", head=False)
    assert seen().lens is None


def test_what_a_tokenizer_marks_is_told_apart(brought: Open) -> None:
    brought("bert")
    run = seen("cat [MASK] xy")
    assert run.source == ("[CLS]", "cat", "[MASK]", "x", "##y", "[SEP]")
    assert run.source_space == (True, True, True, True, False, True)


def by_bytes(where: Path) -> Path:
    """Gives a model a tokenizer whose tokens are single bytes."""
    Pieces.train([], 257).save(where / "tokenizer.json")
    return where


def test_parts_of_characters_are_bytes_and_right_by_number(brought: Open) -> None:
    by_bytes(brought("gpt2", vocab_size=257))
    run = seen("é è")
    assert run.source == ("⟨C3⟩", "⟨A9⟩", " ", "⟨C3⟩", "⟨A8⟩") and run.lens is not None
    assert (
        "\ufffd" not in "".join(map("".join, run.lens.best))
        and run.lens.true.tolist() == open_model().tokenizer.encode("é è").ids[1:]
    )
    value = lab.draw_tower(run, Request("é è"), "live")
    assert (
        value is not None
        and value["sets"][0]["right"] == (run.lens.numbers == run.lens.true).tolist()
    )  # type: ignore[index]


@pytest.mark.parametrize("kind", ["gpt2", "bert"])
def test_a_small_model_gets_examples_that_fit(kind: str, brought: Open) -> None:
    size = {"gpt2": "n_positions", "bert": "max_position_embeddings"}[kind]
    by_bytes(brought(kind, vocab_size=257, **{size: 16}))
    offered = lab.list_examples(read_facts())
    assert offered and all(text and text == text.strip() for text in offered)
    assert [seen(text).source for text in offered]


@pytest.mark.parametrize("stops", [[1, 9], 9, None])
def test_any_stop_token_ends_what_is_written(
    stops: object, brought: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought("t5")
    free = (
        open_model()
        .model.generate(
            torch.tensor([open_model().tokenizer.encode(tiny.TEXT).ids]),
            max_new_tokens=32,
            do_sample=False,
        )[0]
        .tolist()[1:]
    )
    for config in (open_model().model.config, open_model().model.generation_config):
        monkeypatch.setattr(
            config,
            "eos_token_id",
            [1, free[4]] if isinstance(stops, list) else free[4] if stops else None,
        )
    run = seen()
    ends = free.index(free[4]) + 1 if stops else records.MOST_WRITTEN
    assert (len(run.target), run.reason) == (ends, "token" if stops else "limit")


def test_a_text_that_does_not_fit_is_refused_with_both_numbers(brought: Open) -> None:
    brought("gpt2")
    for text, said in (
        ("the " * 300, "2 to 128 can be shown"),
        ("the", "Your text has 1 token;"),
        (" ", "white space"),
    ):
        [answer] = explain([Request(text)])
        assert isinstance(answer, InputError) and said in str(answer), answer


def no_weights(where: Path) -> None:
    (where / "model.safetensors").rename(where / "pytorch_model.bin")


def changed(**values: object) -> Callable[[Path], None]:
    def change(where: Path) -> None:
        path = where / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def spoil(name: str, kind: str, where: Path) -> None:
    """Put something in the place of a file."""
    path = where / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        deep = {"deep": 40, "deeper": 150_000}
        path.write_text(
            {"wide": "[" + "1," * 4_500_000, "cut": '{"a": [1, '}.get(kind)
            or '{"a":' * deep[kind] + "1" + "}" * deep[kind]
        )


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "pickle": (no_weights, "pytorch_model.bin is a pickle, which can run code"),
    "architecture": (
        changed(model_type="mamba"),
        "The model is a mamba; models of the shapes of BERT, GPT-2 and T5 are shown",
    ),
    "no tokenizer": (
        lambda where: (where / "tokenizer.json").unlink(),
        "There is no tokenizer.json",
    ),
    "no config": (lambda where: (where / "config.json").unlink(), "There is no config.json"),
    "broken config": (
        lambda where: (where / "config.json").write_text("[1"),
        "config.json in bert cannot be read",
    ),
    "broken weights": (
        lambda where: (where / "model.safetensors").write_bytes(b"\xff" * 20),
        "model.safetensors in bert cannot be read: its header has 18,446,744,073,709,551,615 bytes",
    ),
    "layers in words": (
        changed(num_hidden_layers="two"),
        "config.json says no num_hidden_layers of 1 to 64",
    ),
    "decoder in words": (
        changed(num_decoder_layers="two"),
        "config.json says no num_decoder_layers of 1 to 64",
    ),
    "positions in words": (
        changed(max_position_embeddings="many"),
        "config.json says no max_position_embeddings of 1 to 999,999,999",
    ),
    "few positions": (
        changed(max_position_embeddings=8),
        "The model has 8 positions; at least 10 are needed",
    ),
    "many heads": (
        changed(num_attention_heads=999),
        "config.json says no num_attention_heads of 1 to 256",
    ),
    "many layers": (
        changed(num_hidden_layers=999),
        "config.json says no num_hidden_layers of 1 to 64",
    ),
    "many layers by another name": (
        changed(num_layers=999),
        "config.json says no num_layers of 1 to 64",
    ),
    "many labels": (changed(num_labels=10**9), "config.json says no num_labels of 1 to 10,000"),
    "no decoder": (
        changed(num_decoder_layers=0),
        "config.json says no num_decoder_layers of 1 to 64",
    ),
    "yes for a number": (
        changed(num_attention_heads=True),
        "config.json says no num_attention_heads of 1 to 256",
    ),
    "a list for a config": (
        lambda where: (where / "config.json").write_text("[]"),
        "config.json in bert cannot be read: it holds no",
    ),
    "a kind of a megabyte": (
        changed(model_type="m" * 10**6),
        f"The model is a {'m' * 39}…; models of the shapes",
    ),
    "many files": (
        lambda where: [(where / f"model-{n}.safetensors").touch() for n in range(64)],
        "stand in 65 files; up to 64 are read",
    ),
    "large config": (
        lambda where: (where / "config.json").write_bytes(bytes(2 << 20)),
        "it has 2,097,152 bytes; up to 1,048,576 are read",
    ),
    **{
        f"{name}, {kind}": (partial(spoil, name, kind), f"{name} in bert cannot be read: {said}")
        for name in (
            "config.json",
            "tokenizer.json",
            "generation_config.json",
            "model.safetensors.index.json",
        )
        for kind, said in {
            "pipe": "it is no regular file",
            "deep": "more than 32 levels",
            "deeper": "more than 32 levels",
            "wide": "more than 4,000,000 parts"
            if name == "tokenizer.json"
            else "it has 9,000,001 bytes",
            "cut": "Expecting",
        }.items()
    },
    "weights, pipe": (
        partial(spoil, "model.safetensors", "pipe"),
        "model.safetensors in bert cannot be read: it is no regular file",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_command_line_refuses_in_one_sentence(
    name: str, brought: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    where = brought("bert")
    damage, said = REFUSED[name]
    damage(where)
    with pytest.raises(SystemExit):
        main(["--model", str(where)])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("added", ["[[]]", "{}", "null", "7"])
def test_added_tokens_of_no_form_are_passed_over(added: str, brought: Open) -> None:
    where = brought("bert")
    (where / "tokenizer.json").write_text(f'{{"added_tokens": {added}}}')
    assert facts(where).mask == ""


def test_a_large_model_is_refused_by_its_headers_alone(
    brought: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = brought("bert")
    monkeypatch.setattr(records, "MOST_PARAMETERS", 10_000)
    with pytest.raises(InputError, match=r"The model has 15,\d+ parameters; up to 10,000"):
        facts(where)
    monkeypatch.undo()
    monkeypatch.setattr(records, "_memory", lambda: 60_000)
    with pytest.raises(InputError, match="up to 10,000 can be run here"):
        facts(where)


def test_a_false_config_is_refused_early(
    brought: Open,
) -> None:
    changed(intermediate_size=MOST_PARAMETERS)(brought("bert"))
    [answer] = explain([Request("cat")])
    assert isinstance(answer, InputError) and "parameters; up to" in str(answer)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        *(
            ("t5", {"decoder_start_token_id": value})
            for value in ([], {"a": 1}, 1.5, 10**9, -1, "x")
        ),
        ("t5", {"relative_attention_max_distance": -1}),
        ("bert", {"hidden_act": 7}),
        ("gpt2", {"n_head": 3}),
    ],
)
def test_a_config_that_cannot_be_run_is_refused(
    kind: str, values: dict[str, object], brought: Open
) -> None:
    changed(**values)(brought(kind))
    [answer] = explain([Request("cat sat")])
    assert isinstance(answer, InputError) and "do not fit together" in str(answer), answer


def test_weights_of_another_size_are_refused(brought: Open) -> None:
    changed(num_hidden_layers=3)(brought("bert"))
    [answer] = explain([Request("cat")])
    assert isinstance(answer, InputError) and "do not fit together (bert.encoder.layer.2" in str(
        answer
    )


def test_code_of_the_model_s_own_is_never_run(brought: Open) -> None:
    where = brought("bert")
    changed(auto_map={"AutoModelForMaskedLM": "evil.Model", "AutoConfig": "evil.Config"})(where)
    (where / "evil.py").write_text("raise SystemExit('run')")
    assert seen().maps.keys() == {"encoder"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "owner/name@abc",
            "owner/name@abc is not in this machine's cache, and the Hub is not asked offline",
        ),
        (
            "owner/name",
            "There is no folder owner/name; a model of the Hub is named with its revision",
        ),
    ],
)
def test_what_is_not_there_is_refused(
    given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=said):
        find_model_folder(given, offline=True)


def test_a_revision_in_the_cache_is_found_without_a_network(
    brought: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    kept = tmp_path / "hub/models--owner--name/snapshots/0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(brought("bert"), kept)
    assert find_model_folder(f"owner/name@{kept.name}", offline=True) == kept
    assert find_model_folder(f"owner/name@{kept.name}", offline=False) == kept
    assert facts(kept).name == "owner/name@0123456"


class Hub(http.server.BaseHTTPRequestHandler):
    """What huggingface_hub asks the Hub for: which files a revision has and how large they are,
    then each file."""

    folder: Path
    sha = "0123456789abcdef0123456789abcdef01234567"

    def do_GET(self) -> None:
        path, files = urlsplit(self.path).path, {one.name: one for one in self.folder.iterdir()}
        status, body = 200, b""
        if path.startswith("/api/models/owner/name"):
            siblings = [
                {"rfilename": name, "size": one.stat().st_size} for name, one in files.items()
            ]
            listed = [
                {"type": "file", "path": name, "size": one.stat().st_size, "oid": name}
                for name, one in files.items()
            ]
            body = json.dumps(
                listed
                if "/tree/" in path
                else {"id": "owner/name", "sha": self.sha, "siblings": siblings}
            ).encode()
        elif (
            path.startswith(f"/owner/name/resolve/{self.sha}/")
            and (name := path.rsplit("/", 1)[-1]) in files
        ):
            body = files[name].read_bytes()
        else:
            status = 404
        self.send_response(status)
        for name, text in {
            "Content-Length": str(len(body)),
            "ETag": f'"{path}"',
            "X-Repo-Commit": self.sha,
        }.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A Hub on this machine, and an empty cache."""
    asked = type("Asked", (Hub,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), asked)
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    threading.Thread(target=server.serve_forever).start()
    yield asked
    server.shutdown()
    server.server_close()


def test_a_hub_revision_comes_without_code(brought: Open, hub: type[Hub]) -> None:
    hub.folder = brought("bert")
    for name in ("evil.py", "pytorch_model.bin", "README.md"):
        (hub.folder / name).write_text("never asked for")
    where = find_model_folder(f"owner/name@{hub.sha}", offline=False)
    assert where.name == hub.sha and not {"evil.py", "pytorch_model.bin"} & {
        one.name for one in where.iterdir()
    }
    assert (where / "model.safetensors").read_bytes() == (
        hub.folder / "model.safetensors"
    ).read_bytes()
    assert (
        facts(where).name == "owner/name@0123456"
        and find_model_folder(f"owner/name@{hub.sha}", offline=True) == where
    )


def test_a_model_of_the_hub_that_is_too_large_is_not_fetched(brought: Open, hub: type[Hub]) -> None:
    hub.folder = brought("bert")
    with (hub.folder / "model.safetensors").open("ab") as file:
        file.truncate(4 * MOST_PARAMETERS + 1)
    with pytest.raises(InputError, match="the Hub did not give it"):
        find_model_folder(f"owner/name@{hub.sha}", offline=False)
