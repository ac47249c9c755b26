"""The signal corridor: cells x = 0 … N, and a junction at x = N where one turn is right.

A lamp above x = 0 names the turn: A means up, B means down. The agent sees 3 × 3 cells, so the lamp
is in view at x = 0 and 1 alone. The same lamps hang below the corridor as decoys. The right turn
pays 1, the wrong one 0, and after 3N + 8 steps the episode ends with 0.

Many corridors run side by side as arrays with one row per lane. Where the package gymnasium is
installed, `register_corridor` makes one corridor known to `gymnasium.make`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Array = NDArray[np.float32]

KINDS = ("wall", "floor", "lamp A", "lamp B")  # of a cell
WALL, FLOOR, LAMP_A, LAMP_B = range(4)
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))  # right, left, up, down as (x, y); up is +1
RIGHT, LEFT, UP, DOWN = range(4)
CELLS = tuple((dx, dy) for dy in (1, 0, -1) for dx in (-1, 0, 1))  # of a view, row by row
UNITS = len(CELLS) * len(KINDS)  # of an observation
DECOYS = 0.3  # probability of a decoy below a cell
SHORTEST, LONGEST = 2, 12  # lengths of training
NAME = "SignalCorridor-v0"  # of the environment in gymnasium


def limit_steps(length: Any) -> Any:
    """Return the steps after which an episode ends, 3N + 8."""
    return 3 * length + 8


@dataclass(frozen=True)
class Layout:
    """The walls and lamps of some corridors.

    length: N, (lane,). answer: the right turn, UP or DOWN, (lane,). above, below: the kind of the
    cells above and below x = 0 …, WALL or a lamp, (lane, x), at least N of them.
    """

    length: Ints
    answer: Ints
    above: Ints
    below: Ints

    def __len__(self) -> int:
        return len(self.length)

    def __getitem__(self, rows: Any) -> Layout:
        """Return some of the corridors."""
        return Layout(self.length[rows], self.answer[rows], self.above[rows], self.below[rows])

    def cover_lamps(self) -> Layout:
        """Return the same corridors with a plain wall in place of every lamp above."""
        return Layout(self.length, self.answer, np.full_like(self.above, WALL), self.below)


def draw_layout(
    generator: np.random.Generator, lengths: Sequence[int] | Ints, decoys: float = DECOYS
) -> Layout:
    """Draw corridors of these lengths. Lamps alternate in a random order, so that both turns are
    right equally often, up to one corridor."""
    length = np.asarray(lengths, np.int64)
    lanes, cells = len(length), int(length.max())
    cue = generator.permutation(np.arange(lanes) + generator.integers(2)) % 2
    above = np.full((lanes, cells), WALL)
    above[:, 0] = LAMP_A + cue
    lamps = generator.integers(LAMP_A, LAMP_B + 1, (lanes, cells))
    below = np.where(generator.random((lanes, cells)) < decoys, lamps, WALL)
    return Layout(length, UP + cue, above, below)


def join_layouts(layouts: Sequence[Layout]) -> Layout:
    """Return all corridors of some layouts, in order."""
    cells = max(layout.above.shape[1] for layout in layouts)

    def pad(walls: Ints) -> Ints:
        return np.pad(walls, ((0, 0), (0, cells - walls.shape[1])), constant_values=WALL)

    return Layout(
        np.concatenate([layout.length for layout in layouts]),
        np.concatenate([layout.answer for layout in layouts]),
        np.concatenate([pad(layout.above) for layout in layouts]),
        np.concatenate([pad(layout.below) for layout in layouts]),
    )


class Corridors:
    """Some corridors with an agent in each.

    x, y: the places of the agents, (lane,); y is 1 above and −1 below, at the junction alone.
    time: the steps so far, (lane,).
    renew(lanes): the corridors that follow in lanes whose episode is over; None leaves them there.
    """

    def __init__(self, layout: Layout, renew: Callable[[int], Layout] | None = None) -> None:
        self._renew = renew
        self.begin(layout)

    def begin(self, layout: Layout) -> None:
        """Start an episode in every lane."""
        self.layout = layout
        self.x, self.y, self.time = (np.zeros(len(layout), np.int64) for _ in range(3))

    def observe(self) -> Array:
        """Return what each agent sees: the kind of each cell of its view, (lane, UNITS)."""
        layout, lanes = self.layout, np.arange(len(self.layout))
        kinds = np.empty((len(layout), len(CELLS)), np.int64)
        for at, (dx, dy) in enumerate(CELLS):
            x, y = self.x + dx, self.y + dy
            inside = (x >= 0) & (x < layout.length)
            column = np.clip(x, 0, layout.above.shape[1] - 1)
            walls = np.where(y > 0, layout.above[lanes, column], layout.below[lanes, column])
            kind = np.where(inside & (np.abs(y) == 1), walls, WALL)
            open_ = (y == 0) & (x >= 0) & (x <= layout.length)
            kinds[:, at] = np.where(open_ | ((x == layout.length) & (np.abs(y) == 1)), FLOOR, kind)
        return np.eye(len(KINDS), dtype=np.float32)[kinds].reshape(len(layout), UNITS)

    def step(self, action: Ints) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Move every agent; an agent that meets a wall stands still.

        action: (lane,). Return the reward, whether the episode is over, and whether it ended by a
        turn, (lane,) each. Where it is over, the lane holds the start of the next episode, if there
        is one.
        """
        dx, dy = np.array(MOVES)[action].T
        x = self.x + dx
        self.x = np.where((x >= 0) & (x <= self.layout.length), x, self.x)
        turns = (dy != 0) & (self.x == self.layout.length)
        self.y = np.where(turns, dy, 0)
        self.time = self.time + 1
        reward = (turns & (action == self.layout.answer)).astype(np.float32)
        over = turns | (self.time >= limit_steps(self.layout.length))
        if self._renew is not None and over.any():
            self._replace(over.nonzero()[0])
        return reward, over, turns

    def _replace(self, lanes: Ints) -> None:
        """Put new corridors into these lanes."""
        assert self._renew is not None
        stays = np.setdiff1d(np.arange(len(self.layout)), lanes)
        both = join_layouts([self.layout[stays], self._renew(len(lanes))])
        self.layout = both[np.argsort(np.concatenate([stays, lanes]))]
        self.x[lanes] = self.y[lanes] = self.time[lanes] = 0


def train_corridors(generator: np.random.Generator, lanes: int) -> Corridors:
    """Return corridors of the lengths of training, which follow one another without end. The short
    ones make the junction easy to find."""

    def draw(count: int) -> Layout:
        return draw_layout(generator, generator.integers(SHORTEST, LONGEST + 1, count))

    return Corridors(draw(lanes), draw)


def register_corridor() -> str:
    """Make the corridor known to gymnasium and return its name for `gymnasium.make`. Raise
    ModuleNotFoundError where gymnasium is not installed.

    The environment takes `length`, N; by default it draws the lengths of training.
    """
    import gymnasium
    from gymnasium import spaces

    class CorridorEnv(gymnasium.Env[Array, np.int64]):
        """One signal corridor with the interface of gymnasium."""

        metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - as gymnasium declares it

        def __init__(self, length: int = 0, decoys: float = DECOYS, render_mode: Any = None):
            self.observation_space = spaces.Box(0, 1, (UNITS,), np.float32)
            self.action_space = spaces.Discrete(len(MOVES))
            self.render_mode, self._length, self._decoys = render_mode, length, decoys

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Array, Any]:
            super().reset(seed=seed)
            length = self._length or int(self.np_random.integers(SHORTEST, LONGEST + 1))
            self._corridors = Corridors(draw_layout(self.np_random, [length], self._decoys))
            return self._corridors.observe()[0], {}

        def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
            """Move; a turn at the junction terminates the episode, the last step truncates it."""
            reward, over, turned = self._corridors.step(np.array([int(action)]))
            late = bool(over[0] and not turned[0])
            return self._corridors.observe()[0], float(reward[0]), bool(turned[0]), late, {}

        def render(self) -> str:
            """Return the corridor as text: @ is the agent, # a wall, A and B lamps."""
            layout, signs = self._corridors.layout, "#.AB"
            end = int(layout.length[0])
            up, down = ([signs[k] for k in wall[0, :end]] for wall in (layout.above, layout.below))
            lines = [[*up, "."], ["."] * (end + 1), [*down, "."]]
            lines[1 - int(self._corridors.y[0])][int(self._corridors.x[0])] = "@"
            return "\n".join("".join(line) for line in lines)

    if NAME not in gymnasium.registry:
        gymnasium.register(NAME, lambda **how: CorridorEnv(**how))
    return NAME
