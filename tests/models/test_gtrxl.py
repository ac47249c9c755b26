"""The agents in the signal corridor: the gate and the attention beside their oracles, walks, rules,
refusals, training."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.checkpoints import checkpoint
from models.explaining.errors import InputError
from models.gtrxl import environment, explain, recipe, sweeps
from models.gtrxl.environment import DOWN, LAMP_A, RIGHT, UP, WALL, Corridors, Layout, draw_layout
from models.gtrxl.model import Agent, Config, Gate, attend_to_memory, build_agent
from models.gtrxl.play import build_switches, join_switches, walk_corridors
from models.gtrxl.ppo import Segment, Settings, Training, draw_moves, estimate_advantages
from models.gtrxl.records import ALL, SAMPLE, Explanation, Request, read_walls
from tests.models import test_every_lab as every_lab

CPU = torch.device("cpu")
KINDS = ("gtrxl", "trxl", "trxl_i", "lstm")
SMALL = {kind: Config(kind, 2 - (kind == "lstm"), 16, 2, memory=9) for kind in KINDS}


def make_agent(kind: str) -> Agent:
    """An agent that has learned nothing, with readouts that are not zero."""
    torch.manual_seed(4)
    agent = build_agent(SMALL[kind]).requires_grad_(False)
    torch.nn.init.normal_(agent.policy.weight)
    torch.nn.init.normal_(agent.value.weight)
    for name, one in agent.named_parameters():
        if name.endswith((".u", ".v")):
            torch.nn.init.normal_(one)
    return agent


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gate_and_inputs() -> tuple[Gate, torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    gate = Gate(8)
    torch.nn.init.normal_(gate.b_g)
    return gate.requires_grad_(False), torch.randn(3, 5, 8), torch.randn(3, 5, 8)


def test_gate_equals_numpy() -> None:
    gate, x, y = gate_and_inputs()
    w_r, w_z, w_g = (one.double().numpy() for one in gate.w.weight.chunk(3))
    u_r, u_z = (one.double().numpy() for one in gate.u.weight.chunk(2))
    a, b, b_g = x.double().numpy(), y.double().numpy(), gate.b_g.double().numpy()
    r = sigmoid(b @ w_r.T + a @ u_r.T)
    z = sigmoid(b @ w_z.T + a @ u_z.T - b_g)
    h = np.tanh(b @ w_g.T + (r * a) @ gate.u_g.weight.double().numpy().T)
    exact, told = gate.double()(x.double(), y.double())
    np.testing.assert_allclose(exact, (1 - z) * a + z * h, atol=1e-14)
    np.testing.assert_allclose(told, z, atol=1e-14)
    np.testing.assert_allclose(gate.float()(x, y)[0], (1 - z) * a + z * h, atol=1e-6)


def test_gate_equals_onnx_gru() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
    gate, x, y = gate_and_inputs()
    flat_x, flat_y = x.flatten(0, 1), y.flatten(0, 1)
    w_r, w_z, w_g = gate.w.weight.chunk(3)
    u_r, u_z = gate.u.weight.chunk(2)
    zeros = torch.zeros(8)
    values = {
        "X": flat_y[None],
        "W": torch.cat((-w_z, w_r, w_g))[None],
        "R": torch.cat((-u_z, u_r, gate.u_g.weight))[None],
        "B": torch.cat((gate.b_g, *[zeros] * 5))[None],
        "H": flat_x[None],
    }
    node = helper.make_node(
        "GRU", ["X", "W", "R", "B", "", "H"], ["", "out"], hidden_size=8, linear_before_reset=0
    )
    floats = TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "gate",
        [helper.make_tensor_value_info(k, floats, v.shape) for k, v in values.items()],
        [helper.make_tensor_value_info("out", floats, (1, 15, 8))],
    )
    run = ReferenceEvaluator(helper.make_model(graph)).run(
        None, {key: value.numpy() for key, value in values.items()}
    )
    assert isinstance(run, list)
    np.testing.assert_allclose(run[0][0], gate(flat_x[None], flat_y[None])[0][0], atol=1e-6)


def test_gates_are_born_almost_shut() -> None:
    gate = Gate(8).requires_grad_(False)
    zeros = torch.zeros(1, 1, 8)
    assert float(gate(zeros, zeros)[1].mean()) == pytest.approx(0.119, abs=1e-3)
    forced = gate(torch.ones(2, 1, 8), zeros[[0, 0]], torch.tensor([0.0, math.nan]))
    assert torch.equal(forced[0][0], torch.ones(1, 8)) and float(forced[1][1].mean()) > 0


def test_attention_equals_a_double_loop() -> None:
    torch.manual_seed(2)
    query, (key, value) = torch.randn(2, 3, 4, 6), torch.randn(2, 2, 3, 7, 6)
    table, u, v = torch.randn(3, 7, 6), torch.randn(3, 1, 6), torch.randn(3, 1, 6)
    reach = torch.tensor([[0, 1, 2, 3], [9, 9, 2, 0]])
    found, weights = attend_to_memory(query, key, value, table, u, v, reach)
    for lane, head, i in np.ndindex(2, 3, 4):
        scores = {}
        for j in range(7):
            distance = 3 + i - j
            if 0 <= distance <= reach[lane, i]:
                q = query[lane, head, i]
                content = (q + u[head, 0]) @ key[lane, head, j]
                scores[j] = float(content + (q + v[head, 0]) @ table[head, 6 - distance])
        raised = {j: math.exp(one / math.sqrt(6)) for j, one in scores.items()}
        output = torch.zeros(6)
        for j in range(7):
            share = raised.get(j, 0.0) / sum(raised.values())
            assert float(weights[lane, head, i, j]) == pytest.approx(share, abs=1e-6)
            output += share * value[lane, head, j]
        torch.testing.assert_close(found[lane, head, i], output, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cached_walk_equals_a_batched_pass(kind: str) -> None:
    agent, random = make_agent(kind), np.random.default_rng(3)
    corridors = environment.train_corridors(random, 6)
    carried = agent.blank(6)
    for _ in range(2):  # the second segment reads what the first carries
        walk, rows = agent.start_walk(carried, 20), []
        for _ in range(20):
            seen, age = torch.from_numpy(corridors.observe()), torch.from_numpy(corridors.time)
            logits, value = walk.step(seen, age)
            rows.append((seen, age, logits, value))
            corridors.step(draw_moves(logits.log_softmax(-1), random).numpy())
        seen, age, logits, value = (torch.stack(part, 1) for part in zip(*rows, strict=True))
        for ours, theirs in zip(agent(seen, age, carried), (logits, value), strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
        carried = walk.carry()
    assert (age == 0).any()


@pytest.mark.parametrize("kind", KINDS)
def test_lanes_do_not_know_each_other(kind: str) -> None:
    agent, layout = make_agent(kind), draw_layout(np.random.default_rng(1), [4, 7, 4])
    few = build_switches(agent.config, 1, memory=3)
    switches = join_switches([build_switches(agent.config, 1), few, few])
    together = walk_corridors(agent, layout, switches)
    for lane in range(3):
        some = slice(lane, lane + 1)
        parts = (switches.memory[some], switches.gain[some], switches.gate[some])
        alone = walk_corridors(agent, layout[[lane]], type(switches)(*parts))
        steps = int(alone.steps[0])
        assert together.steps[lane] == steps and together.right[lane] == alone.right[0]
        torch.testing.assert_close(
            together.log_p[lane, :steps], alone.log_p[0], atol=1e-5, rtol=1e-5
        )


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_beyond_k_is_forgotten(kind: str) -> None:
    agent, layout = make_agent(kind), draw_layout(np.random.default_rng(1), [9, 9])
    differs = dataclasses.replace(layout[[0, 0]], above=layout.above[[0, 1]])
    assert not np.array_equal(*differs.above)
    for memory, alike in ((1, True), (ALL, False)):
        corridors = Corridors(differs)
        walk = agent.start_walk(agent.blank(2, 0), 6, build_switches(agent.config, 2, memory))
        for _ in range(6):
            seen, age = torch.from_numpy(corridors.observe()), torch.from_numpy(corridors.time)
            logits, _value = walk.step(seen, age)
            corridors.step(np.array([RIGHT, RIGHT]))
        # two layers could relay the lamp over two steps, and it is four steps back
        assert torch.allclose(logits[0], logits[1], atol=1e-7, rtol=0) == alike


def layout_of(length: int, cue: int = LAMP_A) -> Layout:
    walls = np.full((1, length), WALL)
    above = walls.copy()
    above[0, 0] = cue
    return Layout(np.array([length]), np.array([UP + cue - LAMP_A]), above, walls)


def walk_moves(corridors: Corridors, *moves: int) -> list[tuple[float, bool, bool]]:
    found = [corridors.step(np.array([move])) for move in moves]
    return [(float(reward[0]), bool(over[0]), bool(turned[0])) for reward, over, turned in found]


def test_the_lamp_is_seen_at_two_cells_alone() -> None:
    corridors, seen = Corridors(layout_of(5)), []
    for _ in range(6):
        seen.append(corridors.observe().reshape(9, 4)[:, LAMP_A].sum())
        corridors.step(np.array([RIGHT]))
    assert seen == [1, 1, 0, 0, 0, 0]


def test_bumps_turns_and_time_out() -> None:
    corridors = Corridors(layout_of(2))
    assert walk_moves(corridors, 1, UP, DOWN) == [(0, False, False)] * 3
    assert corridors.x[0] == 0
    assert walk_moves(corridors, RIGHT, RIGHT, RIGHT)[-1] == (0, False, False)
    assert corridors.x[0] == 2 and walk_moves(corridors, UP) == [(1, True, True)]
    assert walk_moves(Corridors(layout_of(2)), RIGHT, RIGHT, DOWN)[-1] == (0, True, True)
    ends = walk_moves(Corridors(layout_of(2)), *[1] * 14)
    assert ends[-1] == (0, True, False) and not any(over for _, over, _ in ends[:-1])


def test_new_episodes_begin_where_one_ended() -> None:
    corridors = Corridors(layout_of(2), lambda count: layout_of(7, LAMP_A + 1))
    walk_moves(corridors, RIGHT, RIGHT, UP)
    assert (corridors.x[0], corridors.time[0], corridors.layout.length[0]) == (0, 0, 7)


def test_turns_are_balanced_and_decoys_counted() -> None:
    layout = draw_layout(np.random.default_rng(0), [40] * 300)
    assert (layout.answer == UP).sum() == 150
    assert (layout.below != WALL).mean() == pytest.approx(0.3, abs=0.02)
    assert ((layout.above[:, 0] == LAMP_A) == (layout.answer == UP)).all()
    assert (layout.cover_lamps().above == WALL).all()


def test_gymnasium_makes_the_corridor() -> None:
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    name = environment.register_corridor()
    assert environment.register_corridor() == name
    check_env(gymnasium.make(name).unwrapped, skip_render_check=True)
    env = gymnasium.make(name, length=3, render_mode="ansi")
    seen, _ = env.reset(seed=1)
    lamp = "AB"[int(seen.reshape(9, 4)[1].argmax()) - LAMP_A]
    assert env.render().startswith(lamp) and "@" in env.render()
    for _ in range(3):
        env.step(RIGHT)
    _, reward, done, late, _ = env.step(UP if lamp == "A" else DOWN)
    assert (reward, done, late) == (1.0, True, False)


def test_advantages_by_hand() -> None:
    one = torch.zeros(1, 3)
    value = torch.tensor([[0.5, 0.25, 0.75, 1.0]])
    reward, over = torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([[False, True, False]])
    segment = Segment(one, one, one, one, reward, over, over, value, one)
    found = estimate_advantages(segment, Settings(discount=0.5, trace=0.5))
    last, middle = 0.5 * 1.0 - 0.75, 1.0 - 0.25
    first = 0.5 * 0.25 - 0.5 + 0.25 * middle
    torch.testing.assert_close(found, torch.tensor([[first, middle, last]]))


def test_a_stopped_training_goes_on_alike(tmp_path: Path, monkeypatch: Any) -> None:
    settings = Settings(steps=3 * 8 * 6, lanes=8, segment=6, batches=2)
    whole = recipe.start_training(SMALL["gtrxl"], settings)
    while not whole.is_finished:
        whole.run_segment()
    first = recipe.start_training(SMALL["gtrxl"], settings)
    first.run_segment()
    torch.save(first.state(), tmp_path / "state.pt")
    second = Training(build_agent(SMALL["gtrxl"]), settings)
    second.restore(torch.load(tmp_path / "state.pt", weights_only=True))
    while not second.is_finished:
        second.run_segment()
    assert second.log == whole.log
    for ours, theirs in zip(
        second.agent.state_dict().values(), whole.agent.state_dict().values(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_the_recipe_writes_its_assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    monkeypatch.setattr(recipe, "LENGTHS", (12, 60))
    monkeypatch.setattr(recipe, "COUNT", 4)
    tiny = Settings(steps=96 * 4, segment=4, rate=3e-3)
    task = dataclasses.replace(recipe.task_of("gtrxl"), recipe=tiny, config=SMALL["gtrxl"])
    monkeypatch.setitem(recipe.LAB.variants, "gtrxl", task)
    where = recipe.train(tmp_path, tmp_path / "runs", device=CPU)
    facts = checkpoint.read_facts(where)
    assert facts["finished"] and facts["steps"] == 384 and facts["recipe"]["rate"] == 3e-3
    found = recipe.evaluate(tmp_path, device=CPU, record=True, draw=0)
    assert found["n"] == 4 and set(found["by_length"]) == {"12", "60"} and json.dumps(found)
    assert checkpoint.read_facts(where)["figure"]["value"] == found["value"]
    with pytest.raises(ValueError, match="draw 0"):
        recipe.evaluate(tmp_path, device=CPU, record=True, draw=3)
    with pytest.raises(ValueError, match="splits"):
        recipe.evaluate(tmp_path, device=CPU, split="train")
    with pytest.raises(FileExistsError, match="resume"):
        recipe.train(tmp_path, tmp_path / "runs", device=CPU)
    recipe.train(tmp_path, tmp_path / "runs", device=CPU, resume=True)
    with pytest.raises(ValueError, match="one processor"):
        recipe.train(tmp_path, tmp_path / "runs", device=CPU, devices=2)


def test_the_comparison_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipe, "COMPARED", {"lstm": SMALL["lstm"]})
    monkeypatch.setattr(recipe, "RATES", (1e-3,))
    monkeypatch.setattr(recipe, "COUNT", 4)
    monkeypatch.setattr(recipe, "TABLE_SEEDS", (1,))
    path = tmp_path / "rates.json"
    (first,) = recipe.compare_rates(path, steps=1)
    monkeypatch.setattr(recipe, "TABLE_SEEDS", (1, 2))
    assert recipe.compare_rates(path, steps=1)[0] == first
    assert [one["seed"] for one in json.loads(path.read_text())] == [1, 2]


# ---- requests


def ask(**fields: Any) -> Explanation:
    (found,) = explain.explain([Request(**fields)])
    assert isinstance(found, Explanation), found
    return found


def refuse(**fields: Any) -> InputError:
    (found,) = explain.explain([Request(**fields)])
    assert isinstance(found, InputError)
    return found


def test_the_shipped_agent_turns_as_the_lamp_says() -> None:
    for lamp, turn in (("A", "up"), ("B", "down")):
        found = ask(above=lamp, length=20, below=".B" * 10)
        assert (found.cue, found.turn, found.right, found.late) == (lamp, turn, True, False)
        assert found.weights.shape == (2, 4, 21, 21) and found.gates.shape == (2, 2, 21, 64)
        np.testing.assert_allclose(found.weights.sum(-1), 1, atol=4e-3)
        assert not np.triu(found.weights, 1).any() and found.place.tolist() == list(range(21))


def test_memory_heads_and_gates_decide() -> None:
    def right(**fields: Any) -> float:
        (found,) = explain.measure([Request(**fields)])
        assert not isinstance(found, InputError) and found.sample == SAMPLE
        return found.right

    assert right() == right(memory=12) == 1.0
    assert right(memory=11) == right(covered=True) == 0.5
    heads = [right(silenced=(("gtrxl", 1, head),)) for head in range(4)]
    assert min(heads) < 0.6 and sorted(heads)[1] == 1.0
    assert right(forced=("2a",)) <= 0.55 and right(forced=("1a",)) == 1.0


def test_without_a_lamp_it_is_played() -> None:
    found = ask(above=".", seed=5)
    assert found.cue == "" and found.answer in ("up", "down")
    assert {ask(above="", seed=seed).answer for seed in range(6)} == {"up", "down"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"length": 1}, "length"),
        ({"length": 101}, "length"),
        ({"memory": 2.5}, "memory"),
        ({"above": "A.B"}, "two_lamps"),
        ({"below": "..#"}, "blocked"),
        ({"above": "X"}, "no_lamp"),
        ({"length": 3, "below": "....A"}, "too_many_cells"),
        ({"silenced": (("gtrxl", 3, 0),)}, "silenced"),
        ({"forced": ("3a",)}, "forced"),
    ],
)
def test_refusals(fields: dict[str, Any], code: str) -> None:
    error = refuse(**fields)
    assert error.code == code
    assert error.text["en"].endswith(".") and error.text["zh"].endswith("。")


def test_it_keeps_what_every_model_promises(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    requests: tuple[dict[str, Any], ...] = (
        {"length": 6},
        {"length": 9, "above": "B", "silenced": (("gtrxl", 1, 1),), "forced": ("1m",), "z": 0.4},
        {"network": "lstm", "length": 5, "memory": 3, "sampled": True},
        {"network": "trxl_i", "length": 5, "covered": True, "seed": 7},
    )
    monkeypatch.setitem(every_lab.ASKED, "gtrxl", requests)
    every_lab.test_bad_fields_are_refused_in_words("gtrxl")
    every_lab.test_company_in_a_batch_and_a_bad_request_change_nothing("gtrxl")
    every_lab.test_a_result_survives_the_disk("gtrxl", tmp_path)


def test_walls_are_read_generously() -> None:
    assert read_walls(" ａ·b", 5, "below") == "A.B.."
    assert read_walls("A....", 2, "above") == "A."


def test_each_switch_is_measured_by_itself() -> None:
    agent = make_agent("gtrxl")
    measured = sweeps.sweep_agent(agent, count=4)
    assert len(measured["memory"]) == 17 and len(measured["heads"]) == 4
    assert [len(levels) for levels in measured["gates"]] == [4] * 5
