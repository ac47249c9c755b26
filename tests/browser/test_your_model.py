"""Models that somebody brings along, in a real browser: what the page holds is what transformers
gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
import torch
import transformers
from playwright.sync_api import expect
from tokenizers import Tokenizer

from models.your_model.records import SHAPES
from tests import tiny
from tests.browser.staged import NEW
from tests.browser.visiting import finished
from tests.browser.waiting import addressed
from tests.own_site import KINDS, own_site
from tests.visits import BUSY

FIRST = "The cat sat on the mat because it was tired."
STEP = 1 / 65_535  # weights travel to the page in 16 bits, so that rows keep their sums
FILES = """(node) => Object.fromEntries(Object.entries(node.files())
    .filter(([name]) => name.endsWith("_weights"))
  .map(([name, { shape, data }]) => [name.replace("_weights", ""),
      { shape, data: Array.from(data) }]))"""


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three models, each in its folder."""
    root = tmp_path_factory.mktemp("brought")
    for kind in KINDS:
        tiny.folder(root / kind, kind)
    return root


@pytest.fixture(scope="module")
def site(brought: Path) -> Iterator[str]:
    """The address of their site."""
    with own_site(brought) as url:
        yield url


def attentions(where: Path, kind: str, text: str) -> dict[str, torch.Tensor]:
    """By kind of attention, (layer, head, query, key) as transformers gives them."""
    model: Any = (
        getattr(transformers, SHAPES[kind][1])
        .from_pretrained(where, attn_implementation="eager")
        .eval()
    )
    read = torch.tensor([Tokenizer.from_file(str(where / "tokenizer.json")).encode(text).ids])
    with torch.no_grad():
        if kind != "t5":
            return {
                "decoder" if kind == "gpt2" else "encoder": torch.cat(
                    model(read, output_attentions=True).attentions
                )
            }
        written = model.generate(read, max_new_tokens=32, do_sample=False)
        out = model(input_ids=read, decoder_input_ids=written[:, :-1], output_attentions=True)
    return {name: torch.cat(out[f"{name}_attentions"]) for name in ("encoder", "decoder", "cross")}


@pytest.mark.parametrize(
    ("kind", "text"), [("bert", tiny.TEXT), ("gpt2", FIRST), ("t5", tiny.TEXT)]
)
def test_the_page_holds_the_weights_of_transformers(
    kind: str, text: str, brought: Path, site: str, new_page: NEW
) -> None:
    page, _ = new_page()
    # the bare address reads the first example
    page.goto(f"{site}/your_{kind}" + ("" if text == FIRST else f"?v=1&text={quote(text)}"))
    expect(page.locator(BUSY)).to_have_count(0)
    finished(page)
    addressed(page, text=text)
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text("the row sums to 1.00")
    got, known = (
        page.locator(".tfe-attention").evaluate(FILES),
        attentions(brought / kind, kind, text),
    )
    assert got.keys() == known.keys()
    for name, weights in known.items():
        there = np.array(got[name]["data"], np.float32).reshape(got[name]["shape"])
        np.testing.assert_allclose(np.nan_to_num(there), weights, rtol=0, atol=STEP + 1e-6)
    page.locator("[data-view=tower]").scroll_into_view_if_needed()
    expect(page.locator("[data-view=tower] .tfe-words")).to_contain_text(
        "At “" if kind == "bert" else "After “"
    )
    page.locator(".tfe-bertviz summary").click()
    expect(page.frame_locator("iframe").locator("#left text").first).to_be_attached()
