"""The Universal Transformer: its block over depth, who stops and is still attended to, its tasks,
what a page gets of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks import ponder as benchmark
from models.checkpoints.checkpoint import CheckpointError
from models.checkpoints.pretrained import Pretrained
from models.data.splits import belongs_to_split
from models.explaining.trace import Trace
from models.layers.act import Stop
from models.universal_transformer import explain as page
from models.universal_transformer import stories
from models.universal_transformer.data import (
    CHARACTERS,
    NONE,
    characters,
    columns,
    lengths,
    sums,
    words,
)
from models.universal_transformer.explain import explain
from models.universal_transformer.model import (
    Config,
    OrdinaryConfig,
    OrdinaryTransformer,
    UniversalTransformer,
)
from models.universal_transformer.pretrained import Model
from models.universal_transformer.records import Explanation, Request
from models.universal_transformer.stories import PUT, TOOK, WENT, Fact
from tests.models.networks import answer


def network(
    vocabulary: int = len(CHARACTERS), words: int = 1, steps: int = 0
) -> UniversalTransformer:
    torch.manual_seed(3)
    model = (
        UniversalTransformer(Config(vocabulary, words, 16, 24, 2, limit=6, steps=steps))
        .eval()
        .requires_grad_(False)
    )
    if model.halting is not None:
        model.halting.project.weight.mul_(6)  # so that positions differ in how long they take
        model.halting.project.bias.fill_(-1.0)
    return model


def of_stories() -> UniversalTransformer:
    return network(len(stories.WORDS), stories.SENTENCE)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small networks that have learned nothing, in the place of the shipped ones; beside "copy"
    stands an ordinary one."""
    models: dict[str, Model] = {
        "reverse": network(),
        "addition": network(),
        "copy": network(),
        "stories": of_stories(),
    }
    models["copy_ordinary"] = OrdinaryTransformer(
        OrdinaryConfig(len(CHARACTERS), 1, 16, 24, 2, 2)
    ).eval()

    def load(variant: str) -> Pretrained:
        if variant not in models:
            raise CheckpointError(variant)
        return Pretrained(models[variant], {})

    monkeypatch.setattr(page, "load", load)


def letters(count: int = 5, n: int = 7) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    batch = characters("reverse", np.random.default_rng(1), count, n).batch()
    alive = batch.alive.clone()
    alive[-1, 9:] = False  # the last one is shorter
    return batch.tokens, batch.places, alive


def test_gathered_equals_masked() -> None:
    model, (tokens, places, alive) = network(), letters()
    told = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0])
    for stop in (None, Stop(torch.full((5, 1), 0.2), torch.tensor([[6], [2], [6], [6], [4]]))):
        masked, gathered = (
            model(tokens, places, alive, stop, told),
            model.run_gathered(tokens, places, alive, stop, told),
        )
        assert torch.equal(masked.pondered.steps, gathered.pondered.steps)
        assert masked.pondered.steps[alive].unique().numel() > 2
        torch.testing.assert_close(
            gathered.logits[alive], masked.logits[alive], atol=1e-5, rtol=1e-5
        )


def test_padding_ponders_nothing_and_is_attended_to_by_nobody() -> None:
    model, (tokens, places, alive) = network(), letters()
    trace = Trace("step/*/weights")
    done = model(tokens, places, alive, trace=trace)
    assert done.pondered.ponder_cost[~alive].abs().sum() == 0
    weights = trace.stack("step/*/weights")  # (step, batch, head, query, key)
    assert weights[:, -1, :, :, 9:].max() == 0
    changed = tokens.clone()
    changed[-1, 9:] = 7
    torch.testing.assert_close(model(changed, places, alive).logits[-1, :9], done.logits[-1, :9])


def test_stopped_positions_stay_attended_to() -> None:
    model, (tokens, places, alive) = network(), letters(2)
    alive, stop = torch.ones_like(alive), Stop(0.01, 6, forced=torch.tensor([[1] + [4] * 14] * 2))
    trace = Trace("step/*/state", "step/*/weights")
    plain = model(tokens, places, alive, stop, trace=trace).logits
    states, weights = trace.stack("step/*/state"), trace.stack("step/*/weights")
    assert all(
        np.array_equal(state[:, 0], states[0, :, 0]) for state in states
    ) and not np.allclose(states[1, :, 1], states[0, :, 1])
    assert (weights[1:, :, :, 1:, 0] > 0).all()
    state = model.embedding(tokens)
    # as in the paper, eqs. 4 and 5: for every position; the one that has stopped is copied on, its
    # signal is not
    for step in range(1, 5):
        after = model.layers[0](state + model.places[places] + model.signals[step], None)
        state = torch.cat((state[:, :1] if step > 1 else after[:, :1], after[:, 1:]), dim=1)
    told = model(tokens, places, alive, stop, refreshed=True).logits
    torch.testing.assert_close(told, model.readout(state))
    assert not torch.allclose(told[:, 1:], plain[:, 1:])


def test_the_step_signal_and_the_place_are_told() -> None:
    model, (tokens, places, alive) = network(), letters()
    plain = model(tokens, places, alive).logits
    assert not torch.allclose(
        plain, model(tokens, places, alive, step_signal=torch.zeros(5)).logits
    )
    assert not torch.allclose(plain, model(tokens, places + 3, alive).logits)
    torch.testing.assert_close(
        plain, model(tokens, places, alive, step_signal=torch.ones(5)).logits
    )


def test_one_block_serves_every_step() -> None:
    few, many = (sum(p.numel() for p in network(steps=steps).parameters()) for steps in (2, 9))
    assert few == many
    with pytest.raises(ValueError, match="stop on their own"):
        network(steps=2).run_gathered(*letters())


def test_reversing_and_copying_share_places() -> None:
    made = words(np.array([[0, 1, 2]]), backwards=True)
    assert "".join(CHARACTERS[t] for t in made.tokens[0, :, 0]) == "abc=___"
    assert [CHARACTERS[t] for t in made.targets[0, 4:]] == ["c", "b", "a"]
    assert made.places[0].tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert (made.targets[0, :4] == NONE).all()


def test_digits_of_one_column_share_their_place() -> None:
    made = sums(np.array([[4, 7, 8]]), np.array([[2, 5, 6]]))
    assert "".join(CHARACTERS[t] for t in made.tokens[0, :, 0]) == "478+256=____"
    assert "".join(CHARACTERS[t] for t in made.targets[0, 8:]) == "0734"
    assert made.places[0].tolist() == [1, 2, 3, 0, 1, 2, 3, 0, 0, 1, 2, 3]
    assert made.difficulty.tolist() == [2]
    assert columns(40) == 19 and max(lengths("addition")) <= 20


@pytest.mark.parametrize("task", ["reverse", "addition", "copy"])
def test_train_and_test_do_not_overlap(task: str) -> None:
    length = 3 if task != "addition" else 5
    drawn = (
        characters(task, np.random.default_rng(1), 200, length, split).tokens
        for split in ("train", "test")
    )
    assert not set.intersection(*({row.tobytes() for row in tokens} for tokens in drawn))
    generator = np.random.default_rng(1)
    rows = np.stack(
        [stories.encode_story(*stories.story(generator, i % 4))[0].reshape(-1) for i in range(60)]
    )
    assert (
        sum(belongs_to_split(rows, split).astype(int) for split in ("train", "val", "test")) == 1
    ).all()


def test_a_story_is_answered_by_what_was_said_last() -> None:
    facts = [
        Fact(PUT, "john", "key", "box"),
        Fact(TOOK, "emma", "box"),
        Fact(WENT, "mary", "park"),
        Fact(TOOK, "mary", "box"),
        Fact(WENT, "mary", "garden"),
    ]
    assert stories.answer(facts, "mary") == ("garden", (4,))
    assert stories.answer(facts, "box") == ("garden", (3, 4))
    assert stories.answer(facts, "key") == ("garden", (0, 3, 4))
    assert stories.answer(facts, "john") == (stories.NOBODY, ())
    assert stories.answer(facts[:2], "key") == (stories.NOBODY, ())
    assert stories.answer(facts, "coin") == (stories.NOBODY, ())


@pytest.mark.parametrize("needed", [0, 1, 2, 3])
def test_a_drawn_story_needs_the_facts_that_were_asked_for(needed: int) -> None:
    generator = np.random.default_rng(5)
    for _ in range(20):
        facts, about = stories.story(generator, needed)
        found, used = stories.answer(facts, about)
        assert len(used) == needed and (found == stories.NOBODY) == (needed == 0)
        assert stories.LEAST <= len(facts) <= stories.LONGEST


def test_the_needed_facts_are_named() -> None:
    garden, none = (
        "Mary went to the garden. Where is Mary?",
        Request("stories", "mary went to the garden.", "where is peter"),
    )
    asked = [
        Request(),
        Request("copy", "ab", ""),
        Request("reverse", "ab", ""),
        Request("stories", garden, ""),
        none,
    ]
    seen, copied, backwards, capitals, nobody = (
        answer(explain, Explanation, request) for request in asked
    )
    assert (seen.expected, seen.facts, seen.difficulty, seen.wanted) == (
        "bedroom",
        (0, 1, 3),
        3,
        (4,),
    )
    assert seen.positions[-1] == "where is the key" and capitals.expected == "garden"
    assert [one.variant for one in copied.beside] == ["ordinary"] and backwards.beside == ()
    assert (nobody.expected, nobody.facts) == (stories.NOBODY, ()), (
        "somebody who never appeared is no error"
    )


@pytest.mark.parametrize("mean", benchmark.MEANS)
def test_the_benchmark_draws_steps_of_the_mean_that_it_names(mean: float) -> None:
    drawn = benchmark.durations(mean, (benchmark.BATCH, benchmark.LENGTH))
    assert float(drawn.double().mean()) == pytest.approx(mean, abs=0.02)
    assert int(drawn.min()) == 1 and int(drawn.max()) == benchmark.LIMIT
