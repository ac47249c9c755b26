"""Agents with a memory: the gated Transformer-XL and what it is compared with (Parisotto et al.,
2019).

A layer of the Transformers reads E = x and makes y from it, first by attention to the last steps,
then by a small network on each step alone; then it joins y to x:

    trxl     x ← LN(x + y),    y = MHA(x) and y = MLP(x)
    trxl_i   x ← x + y,        y = relu(MHA(LN x)) and y = relu(MLP(LN x))
    gtrxl    x ← gate(x, y),   y as for trxl_i

Each layer remembers its own inputs of earlier steps. Attention scores content and distance apart
(Dai et al., 2019, §3.3). `lstm` carries a state in place of a memory (Hochreiter and Schmidhuber,
1997). All of them end in a linear policy and a linear value.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.gtrxl.environment import MOVES, UNITS
from models.layers.positional import sinusoids

BIAS = 2.0  # b_g before training: gates are born almost shut, σ(−2) = 0.12
FREE = math.nan  # of a gate that is not forced
FARTHEST = 400  # distances in a table: no walk is longer


@dataclass(frozen=True)
class Config:
    """The sizes of an agent."""

    kind: str  # "gtrxl", "trxl", "trxl_i" or "lstm"
    n_layers: int = 2  # layers
    d_model: int = 64  # width of a step
    n_heads: int = 4  # attention heads of each layer
    memory: int = 48  # earlier steps that a layer remembers in training


@dataclass(frozen=True)
class Switches:
    """Changes to an agent, for each lane.

    memory: the earlier steps in reach, (lane,). gain: the factor on the output of each head, (lane,
    layer, head). gate: the value that z is forced to, (lane, layer, 2), first behind attention,
    then behind the small network; FREE where z is left to the gate.
    """

    memory: Tensor
    gain: Tensor
    gate: Tensor


class Gate(nn.Module):
    """A gate in place of a residual sum (Parisotto et al., 2019, §3.2): r = σ(W_r y + U_r x), z =
    σ(W_z y + U_z x − b_g), ĥ = tanh(W_g y + U_g (r ⊙ x)), g = (1 − z) ⊙ x + z ⊙ ĥ.

    It is a gated recurrent unit whose state is x and whose input is y. W_r, W_z and W_g are one
    matrix, (3 · d_model, d_model), from the top; so are U_r and U_z.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.w = nn.Linear(d_model, 3 * d_model, bias=False)
        self.u = nn.Linear(d_model, 2 * d_model, bias=False)
        self.u_g = nn.Linear(d_model, d_model, bias=False)
        self.b_g = nn.Parameter(torch.full((d_model,), BIAS))

    def forward(self, x: Tensor, y: Tensor, rule: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return g and z, (lane, time, d_model) each.

        rule: the value that z is forced to, (lane,), NaN where it is not.
        """
        w_r, w_z, w_g = self.w(y).chunk(3, -1)
        u_r, u_z = self.u(x).chunk(2, -1)
        r = torch.sigmoid(w_r + u_r)
        z = torch.sigmoid(w_z + u_z - self.b_g)
        if rule is not None:
            z = torch.where(rule.isnan()[:, None, None], z, rule[:, None, None])
        h = torch.tanh(w_g + self.u_g(r * x))
        return (1 - z) * x + z * h, z


def attend_to_memory(
    query: Tensor, key: Tensor, value: Tensor, table: Tensor, u: Tensor, v: Tensor, reach: Tensor
) -> tuple[Tensor, Tensor]:
    """Return softmax([(q_i + u)ᵀ k_j + (q_i + v)ᵀ R_{i−j}] / √d_head) V and the weights (Dai et
    al., 2019, §3.3).

    query: (lane, head, query, d_head). key, value: (lane, head, key, d_head); the last query is at
    the last key. table: R of the distances key − 1, …, 0, (head, key, d_head). u, v: (head, 1,
    d_head). reach: the farthest distance that each query sees, (lane, query).
    """
    queries, keys = query.shape[2], key.shape[2]
    content = (query + u) @ key.transpose(2, 3)
    by_distance = (query + v) @ table.transpose(1, 2)
    # Each row is shifted by one against the row above, so that distances stand at their keys.
    padded = nn.functional.pad(by_distance, (1, 0)).flatten(2)
    shifted = padded[..., queries:].view_as(content)
    distance = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)
    hidden = (distance < 0) | (distance > reach[:, None, :, None])
    scores = (content + shifted) / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
    return weights @ value, weights


class Past(Protocol):
    """The keys and values of earlier steps."""

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of a layer, the earlier ones in front."""


class Layer(nn.Module):
    """A layer: attention to the memory, then a small network, each joined to the input."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        d, self.kind, self.n_heads = config.d_model, config.kind, config.n_heads
        self.query, self.key, self.value, self.distance, self.out = (
            nn.Linear(d, d, bias=False) for _ in range(5)
        )
        self.u, self.v = (
            nn.Parameter(torch.zeros(config.n_heads, 1, d // config.n_heads)) for _ in range(2)
        )
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(2))
        gates = 2 if config.kind == "gtrxl" else 0
        self.gates = nn.ModuleList(Gate(d) for _ in range(gates))

    def split(self, x: Tensor) -> Tensor:
        """Return (…, step, d_model) as (…, head, step, d_head)."""
        return x.view(*x.shape[:-1], self.n_heads, -1).transpose(-2, -3)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of the layer's inputs, (lane, head, time, d_head) each."""
        x = x if self.kind == "trxl" else self.norms[0](x)
        return self.split(self.key(x)), self.split(self.value(x))

    def join(self, x: Tensor, y: Tensor, place: int, rule: Tensor | None, trace: Trace) -> Tensor:
        """Join what a sublayer made to its input. place: 0 behind attention, 1 behind the small
        network. The tap is `gate<place>`, z of a gated layer."""
        if self.kind == "trxl":
            return self.norms[place](x + y)  # type: ignore[no-any-return]
        if self.kind == "trxl_i":
            return x + y.relu()
        g, z = self.gates[place](x, y.relu(), rule)
        trace.tap(f"gate{place}", "lane time d_model", z)
        return g  # type: ignore[no-any-return]

    def forward(
        self,
        x: Tensor,
        past: Past,
        number: int,
        sines: Tensor,
        reach: Tensor,
        switches: Switches | None,
        trace: Trace,
    ) -> Tensor:
        """Return the layer's output, (lane, time, d_model).

        sines: sinusoids of the distances 0, 1, … of all keys, (key, d_model). reach: as in
        `attend_to_memory`. The taps are `weights`, `gate0` and `gate1`.
        """
        plain = self.kind == "trxl"
        normed = x if plain else self.norms[0](x)
        key, value = past.extend(
            number, self.split(self.key(normed)), self.split(self.value(normed))
        )
        table = self.split(self.distance(sines.flip(0)))
        heads, weights = attend_to_memory(
            self.split(self.query(normed)), key, value, table, self.u, self.v, reach
        )
        trace.tap("weights", "lane head query key", weights)
        rules: tuple[Tensor | None, Tensor | None] = (None, None)
        if switches is not None:
            heads = heads * switches.gain[:, number, :, None, None]
            rules = (switches.gate[:, number, 0], switches.gate[:, number, 1])
        y = self.out(heads.transpose(1, 2).flatten(2))
        x = self.join(x, y, 0, rules[0], trace)
        y = self.mlp(x if plain else self.norms[1](x))
        return self.join(x, y, 1, rules[1], trace)


class _Remembered:
    """The past of a training segment: keys and values of remembered inputs, (layer, lane, time,
    d_model), computed anew, so that W_k and W_v learn from them."""

    def __init__(self, layers: nn.ModuleList, inputs: Tensor) -> None:
        self._layers, self._inputs = layers, inputs

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if not self._inputs.shape[2]:
            return key, value
        past: tuple[Tensor, Tensor] = self._layers[layer].project(self._inputs[layer])  # type: ignore[operator]
        return torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)


class _Cache:
    """The past of a walk, which goes on step by step: room for the keys and values of all steps.

    reach: the most keys that a step reads.
    """

    def __init__(self, layers: int, lanes: int, config: Config, room: int, reach: int) -> None:
        shape = (layers, 2, lanes, config.n_heads, room, config.d_model // config.n_heads)
        self._held, self._reach, self.count = torch.zeros(shape), reach, 0

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        end = self.count + key.shape[2]
        held = self._held[layer]
        held[0, :, :, self.count : end], held[1, :, :, self.count : end] = key, value
        first = max(0, end - self._reach)
        return held[0, :, :, first:end], held[1, :, :, first:end]


class Walk(Protocol):
    """An agent on its way, step by step. Lanes whose age is 0 begin an episode."""

    def step(self, observation: Tensor, age: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the moves, (lane, move), and the value, (lane,).

        observation: the observation, (lane, unit). age: the steps since the episode began, (lane,).
        """

    def carry(self) -> Tensor:
        """Return what the next segment reads of this one."""


class Agent(nn.Module, ABC):
    """The two readouts that all agents share. Both are zero before training, so that every move is
    as likely as any other."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.policy = nn.Linear(config.d_model, len(MOVES))
        self.value = nn.Linear(config.d_model, 1)
        for readout in (self.policy, self.value):
            nn.init.zeros_(readout.weight)
            nn.init.zeros_(readout.bias)

    def read_out(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the moves, (…, move), and the value, (…)."""
        return self.policy(x), self.value(x)[..., 0]

    @abstractmethod
    def blank(self, lanes: int, memory: int | None = None) -> Tensor:
        """Return what a first segment reads of earlier ones: nothing, (…, lane, …).

        memory: the steps of an empty memory, by default as in training.
        """

    @abstractmethod
    def start_walk(self, carried: Tensor, steps: int, switches: Switches | None = None) -> Walk:
        """Begin a walk of at most so many steps. carried: as returned by `blank` or `carry`."""


class TransformerAgent(Agent):
    """An agent that looks back at its own earlier steps."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.embed = nn.Linear(UNITS, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.sines: Tensor
        # distances beyond those of training count as the farthest of them (Dai et al., 2019)
        known = torch.arange(FARTHEST).clamp_max(config.memory)
        sines = sinusoids(config.memory + 1, config.d_model)[known]
        self.register_buffer("sines", sines, persistent=False)

    def blank(self, lanes: int, memory: int | None = None) -> Tensor:
        """Return an empty memory, (layer, lane, time, d_model)."""
        config = self.config
        steps = config.memory if memory is None else memory
        return torch.zeros(config.n_layers, lanes, steps, config.d_model)

    def start_walk(self, carried: Tensor, steps: int, switches: Switches | None = None) -> Walk:
        """Begin a walk of at most so many steps."""
        return _TransformerWalk(self, carried, steps, switches)

    def run_layers(
        self,
        observation: Tensor,
        age: Tensor,
        past: Past,
        keys: int,
        switches: Switches | None = None,
        trace: Trace = OFF,
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the last layer's output, (lane, time, d_model), and the input of each layer."""
        x, inputs = self.embed(observation), []
        memory = self.config.memory if switches is None else switches.memory[:, None]
        reach = torch.minimum(age, torch.as_tensor(memory))
        sines = self.sines[:keys]
        for number, layer in enumerate(self.layers):
            inputs.append(x)
            x = layer(x, past, number, sines, reach, switches, trace.within("layer", number))
        return x, inputs

    def forward(
        self,
        observation: Tensor,
        age: Tensor,
        carried: Tensor,
        switches: Switches | None = None,
        trace: Trace = OFF,
    ) -> tuple[Tensor, Tensor]:
        """Return the logits, (lane, time, move), and the values, (lane, time), of a whole segment.

        observation: (lane, time, unit). age: (lane, time). carried: the memory, (layer, lane,
        memory, d_model). The taps are those of `Layer`, within `layer/<number>`.
        """
        past = _Remembered(self.layers, carried)
        keys = carried.shape[2] + observation.shape[1]
        return self.read_out(self.run_layers(observation, age, past, keys, switches, trace)[0])


class _TransformerWalk:
    def __init__(
        self, agent: TransformerAgent, carried: Tensor, steps: int, switches: Switches | None
    ) -> None:
        config = agent.config
        layers, lanes, held, _ = carried.shape
        self._agent, self._switches, self._inputs = agent, switches, [carried]
        reach = config.memory if switches is None else int(switches.memory.max())
        self._reach = reach + 1
        self._cache = _Cache(layers, lanes, config, held + steps, self._reach)
        if held:
            for number, layer in enumerate(agent.layers):
                self._cache.extend(number, *layer.project(carried[number]))  # type: ignore[operator]
            self._cache.count = held

    def step(self, observation: Tensor, age: Tensor) -> tuple[Tensor, Tensor]:
        keys = min(self._cache.count + 1, self._reach)
        x, inputs = self._agent.run_layers(
            observation[:, None], age[:, None], self._cache, keys, self._switches
        )
        self._cache.count += 1
        self._inputs.append(torch.stack(inputs))
        return self._agent.read_out(x[:, 0])

    def carry(self) -> Tensor:
        held = self._agent.config.memory
        return torch.cat(self._inputs, 2)[:, :, -held:]


class LstmAgent(Agent):
    """An agent that carries a state from step to step."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.cell = nn.LSTMCell(UNITS, config.d_model)

    def blank(self, lanes: int, memory: int | None = None) -> Tensor:
        """Return the empty state, hidden and cell: (2, lane, d_model)."""
        return torch.zeros(2, lanes, self.config.d_model)

    def start_walk(self, carried: Tensor, steps: int, switches: Switches | None = None) -> Walk:
        """Begin a walk. Where memory is cut to k steps, each step reads the last k + 1 observations
        from an empty state."""
        if switches is None or bool((switches.memory >= steps).all()):
            return _LstmWalk(self, carried)
        return _ShortLstmWalk(self, switches.memory)

    def advance(self, observation: Tensor, age: Tensor, carried: Tensor) -> Tensor:
        """Return the state after one step; it is emptied first where an episode begins."""
        hidden, cell = carried * (age > 0)[None, :, None]
        return torch.stack(self.cell(observation, (hidden, cell)))

    def forward(
        self,
        observation: Tensor,
        age: Tensor,
        carried: Tensor,
        switches: Switches | None = None,
        trace: Trace = OFF,
    ) -> tuple[Tensor, Tensor]:
        """Return the logits, (lane, time, move), and the values, (lane, time), of a whole segment.
        Shapes as for `TransformerAgent`; carried: (2, lane, d_model)."""
        states = []
        for t in range(observation.shape[1]):
            carried = self.advance(observation[:, t], age[:, t], carried)
            states.append(carried[0])
        return self.read_out(torch.stack(states, 1))


class _LstmWalk:
    def __init__(self, agent: LstmAgent, carried: Tensor) -> None:
        self._agent, self._carried = agent, carried

    def step(self, observation: Tensor, age: Tensor) -> tuple[Tensor, Tensor]:
        self._carried = self._agent.advance(observation, age, self._carried)
        return self._agent.read_out(self._carried[0])

    def carry(self) -> Tensor:
        return self._carried


class _ShortLstmWalk:
    def __init__(self, agent: LstmAgent, memory: Tensor) -> None:
        self._agent, self._memory, self._seen = agent, memory, list[Tensor]()

    def step(self, observation: Tensor, age: Tensor) -> tuple[Tensor, Tensor]:
        self._seen = [*self._seen, observation][-1 - int(self._memory.max()) :]
        # the steps that each lane has read when it comes to an observation; below 0 it is empty
        begin = torch.minimum(self._memory, age) - len(self._seen) + 1
        ages = torch.stack([(begin + t).clamp_min(0) for t in range(len(self._seen))], 1)
        stacked = torch.stack(self._seen, 1)
        logits, value = self._agent(stacked, ages, self._agent.blank(len(observation)))
        return logits[:, -1], value[:, -1]

    def carry(self) -> Tensor:
        """Raise RuntimeError: a memory that is cut is read anew at every step, not carried on."""
        raise RuntimeError("a walk with a cut memory carries nothing on")


def build_agent(config: Config) -> Agent:
    """Return an untrained agent."""
    return (LstmAgent if config.kind == "lstm" else TransformerAgent)(config)
