"""Explanations of the agents: they answer a page's requests with arrays and strings and return no
tensors."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.explaining.arrays import freeze
from models.explaining.batching import answer_one_by_one
from models.explaining.errors import check_heads
from models.explaining.request_fields import check_request
from models.explaining.trace import Trace
from models.gtrxl.environment import (
    DECOYS,
    DOWN,
    LAMP_A,
    UP,
    WALL,
    Ints,
    Layout,
    draw_layout,
    join_layouts,
)
from models.gtrxl.model import Agent, Switches
from models.gtrxl.play import build_switches, walk_corridors
from models.gtrxl.pretrained import load
from models.gtrxl.records import (
    GAMES,
    LAMPS,
    PLACES,
    PLAIN,
    SAMPLE,
    Explanation,
    Game,
    MeasuredSuccess,
    Request,
    read_walls,
)

CORRIDORS = 20  # seed of the corridors in which a change is measured
TURNS = {UP: "up", DOWN: "down"}


@dataclass(frozen=True)
class _Read:
    """A request as the agent reads it. above, below: the walls. layout: one corridor."""

    request: Request
    above: str
    below: str
    layout: Layout


def _read_request(request: Request) -> _Read:
    """Read a request. Raise InputError for a field out of range, a corridor that cannot be, a head
    or a gate that the agent does not have."""
    check_request(request)
    length = request.length
    above = read_walls(request.above, length, "above")
    random = np.random.default_rng((request.seed, length))
    random_layout = draw_layout(random, [length], request.decoys)
    below = read_walls(request.below or _spell_walls(random_layout.below[0]), length, "below")
    cue = above.strip(PLAIN)
    answer = int(random_layout.answer[0]) if not cue else UP + LAMPS.index(cue)
    layout = Layout(
        np.array([length]), np.array([answer]), _place_lamps(above), _place_lamps(below)
    )
    _check_parts(request)
    return _Read(request, above, below, layout)


def _check_parts(request: Request) -> None:
    """Refuse heads and gates that the agent of a request does not have."""
    config = load(request.network).model.config
    heads = {} if config.kind == "lstm" else {request.network: (config.n_layers, config.n_heads)}
    if heads:
        heads_of_network = [head for head in request.silenced if head[0] == request.network]
        check_heads(heads_of_network, heads)


def _spell_walls(kinds: Ints) -> str:
    return "".join(PLAIN if kind == WALL else LAMPS[kind - LAMP_A] for kind in kinds)


def _place_lamps(walls: str) -> Ints:
    """Return the kinds of the cells of a wall, (1, cell)."""
    return np.array([[WALL if w == PLAIN else LAMP_A + LAMPS.index(w) for w in walls]])


def _switch(request: Request, agent: Agent, lanes: int) -> Switches:
    """Return the changes of a request for some lanes."""
    silenced = [(layer, head) for name, layer, head in request.silenced if name == request.network]
    forced = {(int(place[0]) - 1, PLACES.index(place) % 2): request.z for place in request.forced}
    return build_switches(agent.config, lanes, request.memory, silenced, forced)


@torch.no_grad()
def _watch(
    agent: Agent, observation: Tensor, switches: Switches
) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    """Return the weights, (layer, head, step, step), and the gates, (layer, place, step, unit), of
    one walk, by one pass over its observations, (1, time, unit)."""
    steps, config = observation.shape[1], agent.config
    none: tuple[NDArray[np.float16], ...] = (
        np.zeros((0, config.n_heads, steps, steps), np.float16),
        np.zeros((0, 2, steps, config.d_model), np.float16),
    )
    if config.kind == "lstm":
        return none[0], none[1]
    trace = Trace("layer/*/weights", "layer/*/gate*")
    agent(observation, torch.arange(steps)[None], agent.blank(1, 0), switches, trace)
    weights = trace.stack("layer/*/weights")[:, 0].astype(np.float16)
    if config.kind != "gtrxl":
        return weights, none[1]
    gates = [trace.stack(f"layer/*/gate{place}")[:, 0] for place in (0, 1)]
    return weights, np.stack(gates, 1).astype(np.float16)


@answer_one_by_one
def explain(request: Request) -> Explanation:
    """Walk the corridor of a request and explain the walk; corridors for a game are walked beside
    it."""
    read = _read_request(request)
    agent: Agent = load(request.network).model
    games = draw_layout(
        np.random.default_rng((request.seed, request.length, 2)), [request.length] * GAMES, DECOYS
    )
    layout = join_layouts([read.layout, games])
    random = np.random.default_rng((request.seed, 1)) if request.sampled else None
    walked = walk_corridors(
        agent,
        layout.cover_lamps() if request.covered else layout,
        _switch(request, agent, 1 + GAMES),
        random,
    )
    steps = int(walked.steps[0])
    weights, gates = _watch(agent, walked.observation[:1, :steps], _switch(request, agent, 1))
    turns = [
        "" if late else TURNS[int(moves[count - 1])]
        for moves, count, late in zip(walked.action, walked.steps, walked.late, strict=True)
    ]
    return Explanation(
        network=request.network,
        length=request.length,
        above=read.above,
        below=read.below,
        cue="" if request.covered else read.above.strip(PLAIN),
        answer=TURNS[int(read.layout.answer[0])],
        turn=turns[0],
        right=bool(walked.right[0]),
        late=bool(walked.late[0]),
        place=freeze(walked.place[0, :steps], np.int64),
        action=freeze(walked.action[0, :steps], np.int64),
        probability=freeze(walked.log_p[0, :steps].exp()),
        value=freeze(walked.value[0, :steps]),
        weights=freeze(weights, np.float16),
        gates=freeze(gates, np.float16),
        games=tuple(
            Game(
                _spell_walls(games.above[i]),
                _spell_walls(games.below[i]),
                TURNS[int(games.answer[i])],
                turns[1 + i],
            )
            for i in range(GAMES)
        ),
    )


@answer_one_by_one
def measure(request: Request) -> MeasuredSuccess:
    """Measure an agent, with the changes of a request, in corridors of its length; its own walls
    play no part."""
    check_request(request)
    _check_parts(request)
    agent: Agent = load(request.network).model
    random = np.random.default_rng((CORRIDORS, request.length))
    layout = draw_layout(random, [request.length] * SAMPLE, DECOYS)
    layout = layout.cover_lamps() if request.covered else layout
    begin = time.perf_counter()
    moves = random if request.sampled else None
    walked = walk_corridors(agent, layout, _switch(request, agent, SAMPLE), moves)
    milliseconds = (time.perf_counter() - begin) * 1000
    return MeasuredSuccess(
        float(walked.right.mean()), float(walked.late.mean()), SAMPLE, milliseconds
    )
