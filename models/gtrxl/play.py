"""Many corridors at once: an agent walks them all, with changes that may differ from lane to
lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.gtrxl.environment import Corridors, Ints, Layout, draw_layout, limit_steps
from models.gtrxl.model import FARTHEST, FREE, Agent, Config, Switches
from models.gtrxl.ppo import draw_moves


@dataclass(frozen=True)
class Walked:
    """Some episodes, padded to the longest.

    observation: the observations, (lane, time, unit). action: the moves, (lane, time). log_p: of
    every move, (lane, time, move). value: the estimates, (lane, time). place: x, (lane, time).
    steps: of each episode, (lane,). right: 1 where the turn was right, (lane,). late: whether the
    steps ran out, (lane,).
    """

    observation: Tensor
    action: Ints
    log_p: Tensor
    value: Tensor
    place: Ints
    steps: Ints
    right: Ints
    late: Ints


def build_switches(
    config: Config,
    lanes: int,
    memory: int | None = None,
    silenced: Sequence[tuple[int, int]] = (),
    forced: Mapping[tuple[int, int], float] | None = None,
) -> Switches:
    """Return the same changes for some lanes.

    memory: the steps in reach, None for all. silenced: heads, (layer, head). forced: the values of
    gates, by (layer, place).
    """
    gain = torch.ones(lanes, config.n_layers, config.n_heads)
    gate = torch.full((lanes, config.n_layers, 2), FREE)
    for layer, head in silenced:
        gain[:, layer, head] = 0
    for (layer, place), z in (forced or {}).items():
        gate[:, layer, place] = z
    reach = FARTHEST - 1 if memory is None else memory
    return Switches(torch.full((lanes,), reach), gain, gate)


def join_switches(some: Sequence[Switches]) -> Switches:
    """Return the changes of all lanes, in order."""
    return Switches(
        torch.cat([switches.memory for switches in some]),
        torch.cat([switches.gain for switches in some]),
        torch.cat([switches.gate for switches in some]),
    )


@torch.no_grad()
def walk_corridors(
    agent: Agent, layout: Layout, switches: Switches, random: np.random.Generator | None = None
) -> Walked:
    """Walk every corridor to its end.

    random: draws the moves; None takes the likeliest.
    """
    corridors, lanes = Corridors(layout), len(layout)
    most = int(limit_steps(layout.length).max())
    walk = agent.start_walk(agent.blank(lanes, 0), most, switches)
    steps, right, late = (np.zeros(lanes, np.int64) for _ in range(3))
    rows: list[tuple[Tensor, Tensor, Tensor, Tensor, Tensor]] = []
    while (steps == 0).any():
        observation, age = torch.from_numpy(corridors.observe()), torch.from_numpy(corridors.time)
        logits, value = walk.step(observation, age)
        log_p = logits.log_softmax(-1)
        action = log_p.argmax(-1) if random is None else draw_moves(log_p, random)
        rows.append((observation, action, log_p, value, torch.from_numpy(corridors.x)))
        reward, over, turned = corridors.step(action.numpy())
        ends = over & (steps == 0)
        right[ends], late[ends] = reward[ends].astype(np.int64), ~turned[ends]
        steps[ends] = len(rows)
    observation, action, log_p, value, place = (
        torch.stack(part, 1) for part in zip(*rows, strict=True)
    )
    return Walked(observation, action.numpy(), log_p, value, place.numpy(), steps, right, late)


def measure_success(
    agent: Agent, length: int, count: int, seed: tuple[int, ...], covered: bool = False
) -> dict[str, float]:
    """Return the shares of right turns in corridors of a length: `greedy` and `sampled`, and the
    shares of episodes that ran out of steps, `greedy_late` and `sampled_late`.

    seed: draws the corridors and the moves. covered: whether the lamps above are covered.
    """
    layout = draw_layout(np.random.default_rng((*seed, length)), [length] * count)
    layout = layout.cover_lamps() if covered else layout
    switches, shares = build_switches(agent.config, count), {}
    for name, random in (("greedy", None), ("sampled", np.random.default_rng((*seed, length, 1)))):
        walked = walk_corridors(agent, layout, switches, random)
        shares[name] = round(float(walked.right.mean()), 4)
        shares[f"{name}_late"] = round(float(walked.late.mean()), 4)
    return shares
