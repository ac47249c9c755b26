"""All pieces at once, and again where the network is least sure."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from models.checkpoints import checkpoint
from models.data.multi30k import PAD, STOP, Pairs, SentenceBatch, Tokenizer, pad_rows
from models.explaining.errors import InputError
from models.explaining.shared_records import Retranslated
from models.networks.encoder import Config
from models.nonautoregressive import explain as page
from models.nonautoregressive import pretrained, recipe
from models.nonautoregressive.decode import mask_predict, passes, possible, read
from models.nonautoregressive.explain import explain, neighbours, reread
from models.nonautoregressive.model import MASK, AllAtOnce, Objective, some
from models.nonautoregressive.records import Explanation, Joint, Neighbours, Request, spell_piece
from models.training.loop import Schedule
from models.training.translation import measure_validation_loss
from tests.models.networks import answer
from tests.models.test_translation import copied

SOURCE = [[4, 5, 6, 7, 8], [9, 10, 11]]
TOKENIZER = Tokenizer.load(pretrained.PIECES)
DOGS = Request("Two dogs are running through the snow.", passes=4)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def model() -> AllAtOnce:
    """A small network that has learned nothing, with lengths near the source's."""
    torch.manual_seed(3)
    found = (
        AllAtOnce(Config(vocabulary=len(TOKENIZER), d_model=16, d_ff=24, n_heads=2, n_layers=2))
        .eval()
        .requires_grad_(False)
    )
    found.length.bias[16:19] = 5.0
    return found


@pytest.fixture(autouse=True)
def small(model: AllAtOnce, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small network in the place of the trained ones."""
    found = pretrained.Pretrained(model, TOKENIZER, {})
    monkeypatch.setattr(page, "load", lambda variant: found)
    monkeypatch.setattr(page, "EXTRA", 3)


def test_the_decoder_is_that_of_torch_without_a_causal_mask(model: AllAtOnce) -> None:
    config = model.config
    layer = nn.TransformerDecoderLayer(
        config.d_model, config.n_heads, config.d_ff, dropout=0.0, batch_first=True
    )
    theirs = nn.TransformerDecoder(layer, config.n_layers).eval()
    for ours, other in zip(model.decoder, theirs.layers, strict=True):
        copied(ours, other)
    source, seen = torch.tensor([SOURCE[0]]), torch.tensor([[MASK, 30, MASK, 31]])
    memory = model.encode(source, source != PAD)
    expected = theirs(model.embed(seen), memory, tgt_mask=None)
    with torch.no_grad():
        # the latter in one call
        each = [model.fill(seen, memory, source != PAD), read(model, SOURCE[:1]).fill_seen(seen)]
    for found in each:
        torch.testing.assert_close(found, expected.detach(), atol=1e-5, rtol=1e-5)


def masked(*lengths: int) -> torch.Tensor:
    """Translations of which nothing is written."""
    return pad_rows([[MASK] * n for n in lengths])


def test_padding_changes_no_translation_and_no_length(model: AllAtOnce) -> None:
    together, alone = read(model, SOURCE), read(model, SOURCE[1:])
    torch.testing.assert_close(together.lengths[1], alone.lengths[0])
    *_, both = passes(together, masked(7, 4), 3)
    *_, one = passes(alone, masked(4), 3)
    assert both.tokens[1].tolist() == [*one.tokens[0].tolist(), PAD, PAD, PAD]
    assert not set(both.tokens[0].tolist()) & {PAD, MASK, STOP}


class Table(SimpleNamespace):
    """A network whose guesses stand in a table, (masked positions, position, token)."""

    table: torch.Tensor
    embedding = SimpleNamespace(weight=torch.zeros(1))

    def readout(self, at: torch.Tensor) -> torch.Tensor:
        return self.table[len(at), at]


def in_numpy(
    table: np.ndarray[Any, Any], length: int, times: int
) -> tuple[list[list[int]], list[list[float]]]:
    """Mask-predict as the paper's §3.1 says it."""
    tokens, scores, masked = [MASK] * length, [0.0] * length, set(range(length))
    written, sure = [], []
    for t in range(1, times + 1):
        logits = table[len(masked), :length].astype(np.float64)
        logits[:, [0, 1, 2, 3]] = -np.inf
        p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        for i in masked:
            tokens[i], scores[i] = int(p[i].argmax()), float(np.log(p[i].max()))
        written.append(list(tokens))
        sure.append(list(scores))
        masked = set(
            np.argsort(scores, kind="stable")[: max(1, length * (times - t) // times)].tolist()
        )
    return written, sure


@pytest.mark.parametrize("length, times", [(9, 1), (9, 4), (9, 9), (2, 2)])
def test_the_passes_are_those_of_the_paper(length: int, times: int) -> None:
    table = torch.randn(
        (length + 1, length, 40), generator=torch.Generator().manual_seed(length + times)
    )
    model: Any = Table(table=table)
    source: Any = SimpleNamespace(
        fill_seen=lambda seen, trace: torch.arange(length)[None], possible=partial(possible, model)
    )
    seen = list(passes(source, masked(length), times))
    tokens, scores = in_numpy(table.numpy(), length, times)
    assert [one.tokens[0].tolist() for one in seen] == tokens
    np.testing.assert_allclose([one.scores[0].tolist() for one in seen], scores, rtol=1e-5)
    assert len(list(passes(source, masked(length), 20))) == length


def test_the_number_of_masks_is_drawn_evenly() -> None:
    real = torch.arange(6) < torch.tensor([4] * 4000 + [6] * 4000)[:, None]
    masked = some(real, torch.Generator().manual_seed(1))
    assert not (masked & ~real).any()
    shares = torch.bincount(masked[:4000].sum(1), minlength=5) / 4000
    torch.testing.assert_close(shares, torch.tensor([0, 0.25, 0.25, 0.25, 0.25]), atol=0.03, rtol=0)
    torch.testing.assert_close(
        masked[:4000, :4].float().mean(0), torch.full((4,), 0.625), atol=0.03, rtol=0
    )


def test_only_masked_pieces_count_and_the_length_by_its_weight(
    model: AllAtOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = torch.tensor([[20, 21, 22]])
    batch = SentenceBatch(
        torch.tensor([SOURCE[1]]),
        torch.tensor([[MASK, 20, 21, 22]]),
        torch.tensor([[20, 21, 22, STOP]]),
    )
    masked = torch.tensor([[True, False, True]])
    monkeypatch.setattr("models.nonautoregressive.model.some", lambda real, chance: masked)
    loss, count = Objective(model, 0.0)(batch)
    source = read(model, SOURCE[1:])
    logits = model.readout(
        model.fill(torch.tensor([[MASK, 21, MASK]]), source.sources, source.allowed)
    )[0]
    expected = -logits.log_softmax(-1)[[0, 2], wanted[0, [0, 2]]].sum()
    memory = model.encode(batch.source, batch.source != PAD)
    # as long as the source
    length = -model.lengths(memory, batch.source != PAD).log_softmax(-1)[0, 16]
    assert int(count) == 2
    torch.testing.assert_close(loss, expected + 0.1 * 2 * length)
    monkeypatch.undo()
    tokens = [np.array(row) for row in SOURCE]
    seen = {measure_validation_loss(model, Pairs(tokens, tokens), Objective) for _ in range(2)}
    assert len(seen) == 1, "what is held out is always masked alike"


def test_a_translation_has_the_best_length(
    model: AllAtOnce,
) -> None:
    source = read(model, SOURCE)
    *_, last = passes(source, masked(*source.likeliest()), 2)
    for n, one, tokens in zip(
        source.likeliest(), mask_predict(model, SOURCE, 2), last.tokens.tolist(), strict=True
    ):
        assert list(one.tokens) == tokens[:n] and set(tokens[n:]) <= {PAD}
    assert [
        int(row.argmax()) - 16 + len(one) for row, one in zip(source.lengths, SOURCE, strict=True)
    ] == source.likeliest()


def test_the_best_length_of_several_is_taken(
    model: AllAtOnce,
) -> None:
    source = read(model, SOURCE)
    each = [
        list(passes(source, masked(*source.likeliest(rank)), 2))[-1].scores for rank in range(3)
    ]
    means = [
        [float(row[:n].mean()) for row, n in zip(scores, source.likeliest(rank), strict=True)]
        for rank, scores in enumerate(each)
    ]
    found = mask_predict(model, SOURCE, 2, lengths=3)
    np.testing.assert_allclose(
        [np.mean(one.log_probabilities) for one in found], np.max(means, axis=0), rtol=1e-5
    )
    assert len({tuple(source.likeliest(rank)) for rank in range(3)}) == 3


run, couple = partial(answer, explain, Explanation), partial(answer, neighbours, Joint)


def test_every_pass_is_told_and_only_masked_pieces_move() -> None:
    seen, short = (
        run(dataclasses.replace(DOGS, passes=3)),
        run(Request("Two <mask> dogs.", passes=20)),
    )
    count = len(seen.target)
    assert short.ran == len(short.pieces) == len(short.target), (
        "more passes than pieces are not made"
    )
    assert "<mask>dogs" in "".join(short.source), "a typed mask is text"
    assert seen.masked.shape == (3, count) and seen.masked[0].all()
    assert seen.masked.sum(1).tolist() == [count, count * 2 // 3, count // 3]
    for before, after, masked in zip(seen.pieces, seen.pieces[1:], seen.masked[1:], strict=False):
        assert all(a == b for a, b, moved in zip(before, after, masked, strict=True) if not moved)
    assert seen.pieces[-1] == seen.target and tuple(seen.text.split()) != seen.target
    np.testing.assert_allclose(seen.confidence[-1], np.exp(seen.log_probabilities))
    for maps in (seen.decoder, seen.cross, seen.encoder):
        np.testing.assert_allclose(maps.sum(-1), 1.0, rtol=1e-5)
    assert seen.lengths.sum() == pytest.approx(1) and seen.shortest + seen.lengths.argmax() == count
    assert (np.diff([0, *seen.ends_ms]) > 0).all() and len(seen.greedy_ends_ms) == 1 + len(
        seen.greedy_target
    )
    for t, place in enumerate(seen.settled):
        assert len({one[t] for one in seen.pieces[place:]}) == 1


def test_pinned_words_stay_others_change() -> None:
    seen = run(
        dataclasses.replace(DOGS, pinned=((1, spell_piece("Hund", True)),), again=(0, 1), offset=1)
    )
    assert (
        {one[1] for one in seen.pieces} == {"Hund"}
        and not seen.masked[:, 1].any()
        and (seen.confidence[:, 1] == 1).all()
    )
    assert (
        len(seen.target) == seen.shortest + seen.lengths.argmax() + 1
        and len(seen.pieces) == 5 == seen.ran + 1
    )
    assert np.flatnonzero(seen.masked[-1]).tolist() == [0]


def test_the_same_pieces_are_read_again_as_a_change_begins() -> None:
    """One pass writes the likeliest pieces, so reading them again gives their scores; a change
    moves them, or takes their place away."""
    seen = run(dataclasses.replace(DOGS, passes=1))
    n = len(seen.target)

    def told(**change: Any) -> np.ndarray[Any, Any]:
        (found,) = reread(
            [
                Retranslated(
                    dataclasses.replace(DOGS, passes=1, **change), seen.target, seen.target_space
                )
            ]
        )
        assert isinstance(found, np.ndarray) and found.shape == (n,)
        return found

    np.testing.assert_allclose(told(), seen.log_probabilities, atol=1e-5)
    pinned = told(pinned=((1, spell_piece("Hund", True)),))
    assert np.flatnonzero(np.isnan(pinned)).tolist() == [1] and (pinned[0] != told()[0] or n == 2)
    assert np.flatnonzero(~np.isnan(told(again=(0, n - 1)))).tolist() == [0, n - 1]
    shorter, longer = told(offset=-1), told(offset=2)
    assert (
        np.isnan(shorter[-1])
        and np.isfinite(shorter[:-1]).all()
        and np.isfinite(longer).all()
        and (longer != told()).any()
    )


def test_two_neighbours_are_weighed_apart_and_together() -> None:
    found = couple(Neighbours(DOGS, 2))
    apart = np.outer(found.product.sum(1), found.product.sum(0)) / found.product.sum()
    np.testing.assert_allclose(found.product, apart, rtol=1e-5)
    assert found.joint.shape == (5, 5) and 0 < found.joint.sum() <= 1 and found.before
    (error,) = neighbours([Neighbours(DOGS, 99)])
    assert isinstance(error, InputError) and "no right neighbour" in str(error)


def test_four_captions_are_distilled_learned_and_measured(
    captions: Path,
    model: AllAtOnce,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = {"validation": {"value": 30.0}}
    teacher = pretrained.Pretrained(model, TOKENIZER, facts)
    monkeypatch.setattr(recipe, "teacher", lambda: teacher)
    monkeypatch.setattr(recipe, "CHUNK", 3)
    monkeypatch.setattr(
        recipe.LAB,
        "variants",
        {
            name: dataclasses.replace(one, config=model.config)
            for name, one in recipe.VARIANTS.items()
        },
    )
    schedule = Schedule(steps=3, warmup=1, cooldown=1, average=1, every=1)
    quick = dataclasses.replace(recipe.HOW["recipe"], schedule=schedule, batch=64, rate=1e-3)
    kept = captions / "runs/nonautoregressive/distilled.de"
    for variant in recipe.VARIANTS:
        where = recipe.train(captions, captions / "runs", variant, device=CPU, recipe=quick)
        assert checkpoint.read_facts(where).get("teacher_bleu", {}).keys() == (
            {"train", "val"} if "distilled" in variant else set()
        )
        if variant == "cmlm_distilled":
            assert len(kept.read_text("utf-8").splitlines()) == 4
            kept.write_text("Ein Hund.\n" * 4, "utf-8")  # what is there is not made again
        found = recipe.evaluate(
            captions,
            variant,
            device=CPU,
            record=True,
            **({"times": 2} if variant == "cmlm_raw" else {}),
        )
        if variant != "ar_distilled":
            assert [one["times"] for one in found["by_times"]] == [1, 2, 4, 10]
    assert kept.read_text("utf-8").startswith("Ein Hund.") and "4 of 4" in capsys.readouterr().out
