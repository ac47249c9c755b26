"""A model that somebody brings along: opened strictly, watched exactly, and refused in one sentence where it cannot be shown."""

from __future__ import annotations

import http.server
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
import torch
import transformers

from explorer.server import main
from models.errors import InputError
from models.your_model import records
from models.your_model.explain import MOST_PARAMETERS, Opened, explain, opened
from models.your_model.records import SHAPES, Explanation, Request, facts, found, here
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
    here.cache_clear()
    opened.cache_clear()


def seen(text: str = tiny.TEXT) -> Explanation:
    [one] = explain([Request(text)])
    assert isinstance(one, Explanation), one
    return one


@pytest.mark.parametrize("kind", SHAPES)
def test_weights_and_lens_are_those_of_transformers(kind: str, brought: Open) -> None:
    where = brought(kind)
    run = seen()
    model = getattr(transformers, SHAPES[kind][1]).from_pretrained(where, attn_implementation="eager").eval()
    it: Opened = opened()
    read = torch.tensor([it.tokenizer.encode(tiny.TEXT).ids])
    watched = {"output_attentions": True, "output_hidden_states": True}
    with torch.no_grad():
        if SHAPES[kind][0] == "t5":
            begin = model.generation_config.decoder_start_token_id or 0
            free = model.generate(read, max_new_tokens=records.MOST_WRITTEN, do_sample=False)[0].tolist()
            out = model(input_ids=read, decoder_input_ids=torch.tensor([[begin, *free[1:-1]]]), **watched)
            assert run.target == it.spelled(free[1:])
            known = {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
        else:
            out = model(read, **watched)
            known = {"decoder" if kind == "gpt2" else "encoder": out.attentions}
    assert run.maps.keys() == known.keys()
    for name, weights in known.items():
        np.testing.assert_allclose(run.maps[name], torch.cat(weights), atol=1e-5)
    assert run.lens is not None and np.isfinite(run.lens.nats).all()
    logits = out.logits[0][: len(run.lens.stands)]
    assert run.lens.best[-1] == it.spelled(logits.argmax(-1).tolist())
    if kind == "gpt2":
        np.testing.assert_allclose(run.lens.nats[-1], -logits.log_softmax(-1).gather(-1, read[0, 1:, None])[:, 0], atol=1e-4)


def test_an_encoder_without_its_output_layer_has_no_lens(brought: Open) -> None:
    brought("bert", head=False)
    assert seen().lens is None


def test_what_a_tokenizer_marks_is_told_apart(brought: Open) -> None:
    brought("bert")
    run = seen("cat [MASK] xy")
    assert run.source == ("[CLS]", "cat", "[MASK]", "x", "##y", "[SEP]")
    assert run.source_space == (True, True, True, True, False, True)


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


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "pickle": (no_weights, "pytorch_model.bin is a pickle, which can run code"),
    "architecture": (changed(model_type="mamba"), "The model is a mamba; models of the shapes of BERT, GPT-2 and T5 are shown"),
    "no tokenizer": (lambda where: (where / "tokenizer.json").unlink(), "There is no tokenizer.json"),
    "no config": (lambda where: (where / "config.json").unlink(), "There is no config.json"),
    "broken config": (lambda where: (where / "config.json").write_text("[1"), "config.json in bert cannot be read"),
    "broken weights": (lambda where: (where / "model.safetensors").write_bytes(b"\xff" * 20), "model.safetensors cannot be read"),
    "layers in words": (changed(num_hidden_layers="two"), "config.json says no num_hidden_layers of 1 to 999"),
    "decoder in words": (changed(num_decoder_layers="two"), "config.json says no num_decoder_layers of 1 to 999"),
    "positions in words": (changed(max_position_embeddings="many"), "config.json says no max_position_embeddings of 1 to 999,999,999"),
    "few positions": (changed(max_position_embeddings=8), "The model has 8 positions; at least 10 are needed"),
    "many heads": (changed(num_hidden_layers=999, num_attention_heads=999), "can be run here"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_command_line_refuses_in_one_sentence(name: str, brought: Open, capsys: pytest.CaptureFixture[str]) -> None:
    where = brought("bert")
    damage, said = REFUSED[name]
    damage(where)
    with pytest.raises(SystemExit):
        main(["--model", str(where)])
    assert said in capsys.readouterr().err


def test_a_large_model_is_refused_by_its_headers_alone(brought: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    where = brought("bert")
    monkeypatch.setattr(records, "MOST_PARAMETERS", 10_000)
    with pytest.raises(InputError, match=r"The model has 15,\d+ parameters; up to 10,000"):
        facts(where)
    monkeypatch.undo()
    monkeypatch.setattr(records, "_memory", lambda: 60_000)
    with pytest.raises(InputError, match="up to 10,000 can be run here"):
        facts(where)


def test_a_config_that_claims_more_than_there_is_is_refused_before_it_is_built(brought: Open) -> None:
    changed(intermediate_size=MOST_PARAMETERS)(brought("bert"))
    [answer] = explain([Request("cat")])
    assert isinstance(answer, InputError) and "parameters; up to" in str(answer)


def test_weights_of_another_size_are_refused(brought: Open) -> None:
    changed(num_hidden_layers=3)(brought("bert"))
    [answer] = explain([Request("cat")])
    assert isinstance(answer, InputError) and "do not fit together (bert.encoder.layer.2" in str(answer)


def test_code_of_the_model_s_own_is_never_run(brought: Open) -> None:
    where = brought("bert")
    changed(auto_map={"AutoModelForMaskedLM": "evil.Model", "AutoConfig": "evil.Config"})(where)
    (where / "evil.py").write_text("raise SystemExit('run')")
    assert seen().maps.keys() == {"encoder"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("owner/name@abc", "owner/name@abc is not in this machine's cache, and the Hub is not asked offline"),
        ("owner/name", "There is no folder owner/name; a model of the Hub is named with its revision"),
    ],
)
def test_what_is_not_there_is_refused(given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=said):
        found(given, offline=True)


def test_a_revision_in_the_cache_is_found_without_a_network(brought: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    kept = tmp_path / "hub/models--owner--name/snapshots/0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(brought("bert"), kept)
    assert found(f"owner/name@{kept.name}", offline=True) == kept
    assert found(f"owner/name@{kept.name}", offline=False) == kept
    assert facts(kept).name == "owner/name@0123456"


class Hub(http.server.BaseHTTPRequestHandler):
    """What huggingface_hub asks the Hub for: which files a revision has and how large they are, then each file."""

    folder: Path
    sha = "0123456789abcdef0123456789abcdef01234567"

    def do_GET(self) -> None:
        path, files = urlsplit(self.path).path, {one.name: one for one in self.folder.iterdir()}
        status, body = 200, b""
        if path.startswith("/api/models/owner/name"):
            siblings = [{"rfilename": name, "size": one.stat().st_size} for name, one in files.items()]
            listed = [{"type": "file", "path": name, "size": one.stat().st_size, "oid": name} for name, one in files.items()]
            body = json.dumps(listed if "/tree/" in path else {"id": "owner/name", "sha": self.sha, "siblings": siblings}).encode()
        elif path.startswith(f"/owner/name/resolve/{self.sha}/") and (name := path.rsplit("/", 1)[-1]) in files:
            body = files[name].read_bytes()
        else:
            status = 404
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), "ETag": f'"{path}"', "X-Repo-Commit": self.sha}.items():
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


def test_a_revision_of_the_hub_is_fetched_without_its_code_and_its_pickles_and_stays(brought: Open, hub: type[Hub]) -> None:
    hub.folder = brought("bert")
    for name in ("evil.py", "pytorch_model.bin", "README.md"):
        (hub.folder / name).write_text("never asked for")
    where = found(f"owner/name@{hub.sha}", offline=False)
    assert where.name == hub.sha and not {"evil.py", "pytorch_model.bin"} & {one.name for one in where.iterdir()}
    assert (where / "model.safetensors").read_bytes() == (hub.folder / "model.safetensors").read_bytes()
    assert facts(where).name == "owner/name@0123456" and found(f"owner/name@{hub.sha}", offline=True) == where


def test_a_model_of_the_hub_that_is_too_large_is_not_fetched(brought: Open, hub: type[Hub]) -> None:
    hub.folder = brought("bert")
    with (hub.folder / "model.safetensors").open("ab") as file:
        file.truncate(4 * MOST_PARAMETERS + 1)
    with pytest.raises(InputError, match="the Hub did not give it"):
        found(f"owner/name@{hub.sha}", offline=False)
