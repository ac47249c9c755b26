"""Proximal policy optimisation for agents in corridors (Schulman et al., 2017).

All lanes walk for a segment of steps; then the agent learns from it: from each lane as a whole,
with the memory that the lane brought along. Where the paper on gates uses V-MPO, we use PPO.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from models.gtrxl.environment import Corridors, Layout, train_corridors
from models.gtrxl.model import Agent


@dataclass(frozen=True)
class Settings:
    """The settings of training."""

    seed: int = 1  # of parameters, corridors and moves
    steps: int = 300_000  # of all lanes together
    rate: float = 1e-3  # the learning rate after the warm-up
    warmup: int = 10  # segments over which it rises
    lanes: int = 96  # corridors side by side
    segment: int = 48  # steps that they walk before the agent learns
    epochs: int = 2  # passes over a segment
    batches: int = 3  # parts of whole lanes in a pass
    clip: float = 0.2  # ε: how far the ratio of probabilities may lie from 1
    discount: float = 0.98  # γ
    trace: float = 0.95  # λ of the generalised advantage
    entropy: float = 0.01  # weight of the entropy in the loss
    value: float = 0.5  # weight of the value's error in the loss
    norm: float = 0.5  # the largest norm of the gradient

    @property
    def updates(self) -> int:
        """The number of segments."""
        return -(-self.steps // (self.lanes * self.segment))


@dataclass(frozen=True)
class Segment:
    """A segment of all lanes.

    observation: (lane, time, unit). age: the steps since the episode began, (lane, time). action,
    log_p: the moves and their log-probabilities. reward, over, turned: what each move earned,
    whether it ended the episode, and whether it did so by a turn. value: the agent's estimates,
    one more than there are steps. carried: what the lanes brought along.
    """

    observation: Tensor
    age: Tensor
    action: Tensor
    log_p: Tensor
    reward: Tensor
    over: Tensor
    turned: Tensor
    value: Tensor
    carried: Tensor


def estimate_advantages(segment: Segment, settings: Settings) -> Tensor:
    """Return the generalised advantages, (lane, time): Σ_l (γλ)^l δ_{t+l} within the episode, where
    δ_t = r_t + γ V_{t+1} − V_t (Schulman et al., 2016, eq. 16)."""
    goes_on = 1.0 - segment.over.float()
    advantages = torch.zeros_like(segment.reward)
    running = torch.zeros_like(segment.reward[:, 0])
    for t in reversed(range(advantages.shape[1])):
        after = settings.discount * segment.value[:, t + 1] * goes_on[:, t]
        delta = segment.reward[:, t] + after - segment.value[:, t]
        running = delta + settings.discount * settings.trace * goes_on[:, t] * running
        advantages[:, t] = running
    return advantages


class Training:
    """A training on its way, one segment after another."""

    def __init__(self, agent: Agent, settings: Settings) -> None:
        self.agent, self.settings = agent, settings
        self.optimizer = torch.optim.Adam(agent.parameters(), lr=settings.rate, eps=1e-5)
        self.random = np.random.default_rng(settings.seed)
        self.corridors: Corridors = train_corridors(self.random, settings.lanes)
        self.carried = agent.blank(settings.lanes)
        self.log: list[dict[str, float]] = []

    @property
    def steps(self) -> int:
        """The steps so far, of all lanes together."""
        return len(self.log) * self.settings.lanes * self.settings.segment

    @property
    def is_finished(self) -> bool:
        """Whether all segments are walked."""
        return len(self.log) >= self.settings.updates

    def run_segment(self) -> dict[str, float]:
        """Walk a segment, learn from it, and return its line of the log: steps so far, episodes
        that ended, the share of them with the right turn, and with none."""
        segment = self.walk_segment()
        self.learn(segment)
        episodes = max(1, int(segment.over.sum()))
        line = {
            "steps": float(self.steps + segment.reward.numel()),
            "episodes": float(segment.over.sum()),
            "right": round(float(segment.reward.sum()) / episodes, 4),
            "late": round(float((segment.over & ~segment.turned).sum()) / episodes, 4),
        }
        self.log.append(line)
        return line

    @torch.no_grad()
    def walk_segment(self) -> Segment:
        """Walk a segment with the agent as it is, each move drawn from its policy."""
        settings, corridors = self.settings, self.corridors
        walk = self.agent.start_walk(self.carried, settings.segment)
        kept: dict[str, list[Any]] = {
            name: [] for name in Segment.__dataclass_fields__ if name != "carried"
        }
        for _ in range(settings.segment):
            observation, age = (
                torch.from_numpy(corridors.observe()),
                torch.from_numpy(corridors.time),
            )
            logits, value = walk.step(observation, age)
            log_p = logits.log_softmax(-1)
            action = draw_moves(log_p, self.random)
            ends = [torch.from_numpy(entry) for entry in corridors.step(action.numpy())]
            row = (observation, age, action, log_p.gather(1, action[:, None])[:, 0], *ends, value)
            for entry, values in zip(row, kept.values(), strict=True):
                values.append(entry)
        carried, self.carried = self.carried, walk.carry()
        observation, age = torch.from_numpy(corridors.observe()), torch.from_numpy(corridors.time)
        kept["value"].append(self.agent.start_walk(self.carried, 1).step(observation, age)[1])
        rows = {name: torch.stack(values, 1) for name, values in kept.items()}
        return Segment(**rows, carried=carried)

    def learn(self, segment: Segment) -> None:
        """Take some steps down the gradient of the clipped loss (Schulman et al., 2017, eq. 7 and
        9)."""
        settings = self.settings
        advantage = estimate_advantages(segment, settings)
        returns = advantage + segment.value[:, :-1]
        rate = settings.rate * min(1.0, (len(self.log) + 1) / settings.warmup)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        for _ in range(settings.epochs):
            for lanes in np.array_split(self.random.permutation(settings.lanes), settings.batches):
                rows = torch.from_numpy(lanes)
                loss = self.measure_loss(segment, rows, advantage[rows], returns[rows])
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.agent.parameters(), settings.norm)
                self.optimizer.step()

    def measure_loss(
        self, segment: Segment, rows: Tensor, advantage: Tensor, returns: Tensor
    ) -> Tensor:
        """Return the loss of some lanes: clipped policy, value, entropy."""
        settings = self.settings
        logits, value = self.agent(
            segment.observation[rows], segment.age[rows], segment.carried[:, rows]
        )
        every = logits.log_softmax(-1)
        log_p = every.gather(2, segment.action[rows][..., None])[..., 0]
        ratio = (log_p - segment.log_p[rows]).exp()
        scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        policy = -torch.minimum(ratio * scaled, clipped * scaled).mean()
        entropy = -(every.exp() * every).sum(-1).mean()
        error = (value - returns).square().mean()
        loss: Tensor = policy + settings.value * error - settings.entropy * entropy
        return loss

    def state(self) -> dict[str, Any]:
        """Return all that a stopped training needs to go on."""
        random, layout = self.random.bit_generator.state, self.corridors.layout
        places = (self.corridors.x, self.corridors.time)
        arrays = (layout.length, layout.answer, layout.above, layout.below, *places)
        return {
            "agent": self.agent.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": repr(random),
            "corridors": [torch.from_numpy(entry) for entry in arrays],
            "carried": self.carried,
            "log": self.log,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken."""
        self.agent.load_state_dict(state["agent"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.random.bit_generator.state = ast.literal_eval(state["random"])
        length, answer, above, below, x, time = (
            entry.numpy().copy() for entry in state["corridors"]
        )
        self.corridors.begin(Layout(length, answer, above, below))
        self.corridors.x, self.corridors.time = x, time
        self.carried, self.log = state["carried"], state["log"]


def draw_moves(log_p: Tensor, random: np.random.Generator) -> Tensor:
    """Draw a move for each lane by the inverse of the cumulative distribution, (lane,).

    log_p: (lane, move). random: gives one uniform number per lane.
    """
    uniform = torch.from_numpy(random.random(len(log_p)))[:, None]
    return (log_p.double().exp().cumsum(1) < uniform).sum(1).clamp_max(log_p.shape[1] - 1)
