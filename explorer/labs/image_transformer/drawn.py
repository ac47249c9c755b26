"""Pictures that grow pixel by pixel: the pictures of spans and of surprise as JSON, and how far a
pixel can see.

A position is a place in the order of generation, a pixel its place in raster order (row · columns +
column). Where a picture has channels they stand inside the pixels: position p is channel p mod
channels of its pixel. The input of a model is shifted by one, so the key at a position carries the
level generated just before it; figures draw its weight on the position itself, and the query's own
place stands for its predecessor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.contract import shared_texts as shared
from explorer.values.packing import Packed, convert_to_json, pack_raw
from models.image_transformer.records import Array, Levels, Made, Step

Text = Mapping[str, str]

BITS = 2048  # steps of 16 bits for one bit of surprise: a value may cost up to 32 bits
WORST = 9.0  # bits where the surprise scale ends

LABELS: Mapping[str, Text] = {
    "local_1d": shared.LOCAL_1D,
    "local_2d": shared.LOCAL_2D,
    "pixelcnn": {"en": "PixelCNN", "zh": "PixelCNN"},
    "colour": shared.LOCAL_1D,
}
SHORT: Mapping[str, Text] = {
    "local_1d": shared.ONE_DIMENSION,
    "local_2d": shared.TWO_DIMENSIONS,
    "pixelcnn": {"en": "PixelCNN", "zh": "PixelCNN"},
    "colour": shared.ONE_DIMENSION,
}


@dataclass(frozen=True, eq=False)
class Layout:
    """The order in which a picture is generated, and what each block of positions may look at."""

    pattern: str  # its name in the address
    rows: int
    columns: int
    channels: int
    order: NDArray[np.int32]  # (position,) the pixel of each position
    starts: tuple[int, ...]  # (block + 1,) first position of each block, and the end
    # for each block: the earlier positions that all of it may see, ascending
    memory: tuple[NDArray[np.int32], ...]

    def __post_init__(self) -> None:
        length = self.rows * self.columns * self.channels
        if len(self.order) != length or self.starts[-1] != length:
            raise ValueError(
                f"an order of {len(self.order)} positions and blocks up to {self.starts[-1]} for"
                f" {length} levels"
            )
        if len(self.memory) != len(self.starts) - 1:
            raise ValueError(
                f"{len(self.memory)} memories for {len(self.starts) - 1} blocks; expected one each"
            )

    @property
    def length(self) -> int:
        """The number of positions."""
        return self.starts[-1]

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """The place of each level in the flat picture, (position,): pixel · channels + channel."""
        return self.order * self.channels + np.arange(self.length, dtype=np.int32) % self.channels

    def find_block(self, position: int) -> int:
        """Return the block that a position belongs to."""
        return int(np.searchsorted(self.starts, position, side="right")) - 1

    def list_keys(self, position: int) -> NDArray[np.int32]:
        """Return the positions that a query may look at, memory first, its own last; entry k is
        slot k of its weights."""
        block = self.find_block(position)
        return np.concatenate(
            (self.memory[block], np.arange(self.starts[block], position + 1, dtype=np.int32))
        )

    @cached_property
    def note(self) -> Text:
        """The pattern in a few words: rows and tiles in pixels."""
        row, column = np.divmod(self.order, self.columns)
        inside = slice(self.starts[0], self.starts[1])
        tall, wide = (int(axis[inside].max() - axis[inside].min()) + 1 for axis in (row, column))
        above = beside = 0
        for start, stop, memory in zip(self.starts, self.starts[1:], self.memory, strict=False):
            if len(memory):
                above = max(above, int(row[start:stop].min() - row[memory].min()))
                beside = max(beside, int(column[start:stop].min() - column[memory].min()))
        if self.pattern != "local_2d":
            return {
                "en": f"rows, query {tall} × {wide}, memory {above} more",
                "zh": f"按行，查询 {tall} × {wide}，另记 {above} 行",
            }
        flange = f"{max(above, beside)}"
        return {
            "en": f"tiles {tall} × {wide}, flange {flange} above, left, right",
            "zh": f"小块 {tall} × {wide}，上、左、右各延 {flange}",
        }


def lay_out_rows(
    rows: int,
    columns: int,
    query: int,
    memory: int,
    *,
    channels: int = 1,
    pattern: str = "local_1d",
) -> Layout:
    """Return the layout of 1D local attention (Parmar et al., 2018, §3.2): raster order, blocks of
    `query` rows, each with the `memory` rows before it."""
    width = columns * channels
    starts = [*range(0, rows * width, query * width), rows * width]
    before = tuple(
        np.arange(max(0, start - memory * width), start, dtype=np.int32) for start in starts[:-1]
    )
    order = np.arange(rows * width, dtype=np.int32) // channels
    return Layout(pattern, rows, columns, channels, order, tuple(starts), before)


def lay_out_tiles(
    rows: int, columns: int, tile: int, flange: int, *, pattern: str = "local_2d"
) -> Layout:
    """Return the layout of 2D local attention (§3.2): tiles in raster order, each with the pixels
    generated before it within `flange` pixels above and beside it."""
    raster = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    corners = [(top, left) for top in range(0, rows, tile) for left in range(0, columns, tile)]
    parts = [raster[top : top + tile, left : left + tile].ravel() for top, left in corners]
    order = np.concatenate(parts)
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=np.int32)
    starts = np.concatenate(([0], np.cumsum([len(part) for part in parts])))
    memory = []
    for (top, left), start in zip(corners, starts, strict=False):
        around = raster[
            max(0, top - flange) : top + tile, max(0, left - flange) : left + tile + flange
        ]
        seen = np.sort(place[around.ravel()])
        memory.append(seen[seen < start])
    return Layout(
        pattern, rows, columns, 1, order, tuple(int(start) for start in starts), tuple(memory)
    )


def find_layout(made: Made) -> Layout:
    """Return the layout with which a result was generated."""
    shape = made.pictures.shape[1:]
    rows, columns, channels = (*shape, 1)[:3]
    cuts = np.asarray(made.ends, np.int64)[:-1]
    memory = tuple(part.astype(np.int32) for part in np.split(made.memory, cuts))
    return Layout(
        made.pattern,
        rows,
        columns,
        channels,
        np.asarray(made.order, np.int32),
        tuple(int(start) for start in made.starts),
        memory,
    )


# ---- the picture of spans


def draw_spans(
    made: Sequence[Made],
    *,
    kept: int = 0,
    truth: Levels | None = None,
    small: Levels | None = None,
    looks: Mapping[str, str] = MappingProxyType({}),
    pick: Mapping[str, object] | None = None,
    **run: Any,
) -> dict[str, object]:
    """Draw a finished run.

    made: the results of one or two patterns. run: state: "stored", "live" or "stale"; query: the
    permalink of the request; same: what runs of the same picture have in common, whatever is
    changed in the models: a lock stays among them. silenced: heads, (pattern, layer, head). kept:
    rows of the given picture that stayed. truth: the whole given picture, drawn beside the result.
    small: the picture that an enlargement started from, (row, column, channel). looks: by pattern,
    the source of the first picture's weights: an address of explorer/values/exact_rows.py, with
    head 0 alone. Its rows are positions; a row holds head after head, slot k of each being the k-th
    key of the position (`Layout.list_keys`). pick: the place locked on arrival, from
    `find_telling_place`; left out, one is found without weights.
    """
    layouts = [find_layout(each) for each in made]
    patterns = [
        {
            **_describe_pattern(
                layout,
                each.pictures,
                each.bits,
                layout.length,
                kept,
                int(each.queries.shape[0]),
                int(each.queries.shape[1]),
            ),
            "look": looks.get(each.pattern),
        }
        for layout, each in zip(layouts, made, strict=True)
    ]
    return {
        "same": "",
        "silenced": [],
        **convert_to_json(run),
        "patterns": patterns,
        "truth": None if truth is None else _pack_levels(truth),
        "small": None if small is None else _pack_levels(small),
        "pick": dict(find_telling_place(made) if pick is None else pick),
    }


def draw_growing_spans(
    layouts: Sequence[Layout],
    steps: Sequence[Step],
    *,
    count: int,
    kept: int = 0,
    truth: Levels | None = None,
    small: Levels | None = None,
    layers: int = 6,
    heads: int = 4,
    **run: str,
) -> dict[str, object]:
    """Draw a run under way: everything that was generated so far, so that a coalesced update loses
    nothing.

    run: query and same, as for `draw_spans`. layouts: of the patterns, in the order of each step's
    first axis. steps: all steps so far. count: pictures at once. kept: rows of `truth` that stay;
    their levels are known before any step brings them.
    """
    made = max((step.first + step.levels.shape[-1] for step in steps), default=0)
    patterns = []
    for at, layout in enumerate(layouts):
        levels = np.zeros((count, layout.length), np.uint8)
        bits = np.zeros((count, layout.length), np.float32)
        given = kept * layout.columns * layout.channels
        if truth is not None and given:
            levels[:, layout.places] = truth.reshape(-1)[layout.places]
        for step in steps:
            places = layout.places[step.first : step.first + step.levels.shape[-1]]
            levels[:, places] = step.levels[at]
            bits[:, places] = step.bits[at]
        shape = (
            count,
            layout.rows,
            layout.columns,
            *([layout.channels] if layout.channels > 1 else []),
        )
        patterns.append(
            _describe_pattern(
                layout,
                levels.reshape(shape),
                bits.reshape(shape),
                max(made, given),
                kept,
                layers,
                heads,
            )
        )
    return {
        "state": "running",
        "same": "",
        **run,
        "patterns": patterns,
        "truth": None if truth is None else _pack_levels(truth),
        "small": None if small is None else _pack_levels(small),
        "pick": None,
    }


def find_telling_place(
    made: Sequence[Made], weights: Mapping[str, Array] | None = None, layer: int = 3
) -> dict[str, object]:
    """Return a telling place {"pattern", "position", "layer", "head"}, from 0: past the middle of
    the picture, inside what is drawn in it.

    weights: by pattern, (head, position, slot) of `layer` over the first picture, if available:
    then the place and the head are chosen where the attention goes to some pixels, not all of them
    near.
    """
    last = made[-1]
    layout = find_layout(last)
    layer = min(layer, int(last.queries.shape[0]) - 1)
    bits = last.bits[0].reshape(-1)[layout.places]
    levels = last.pictures[0].reshape(-1)[layout.places].astype(np.float32)
    row, column = np.divmod(layout.order, layout.columns)
    order = np.arange(layout.length)
    inside = (
        (order >= 0.4 * layout.length)
        & (order < 0.85 * layout.length)
        & (abs(column - layout.columns / 2) < layout.columns / 3)
    )
    # Take a pixel inside of something drawn: bright, hard to predict, with many pixels in sight.
    wide = np.array([len(memory) for memory in layout.memory], np.float32)[
        np.searchsorted(layout.starts, order, side="right") - 1
    ]
    worth = np.where(
        inside, np.minimum(bits, 8) / 8 + (levels > 32) + wide / max(1.0, float(wide.max())), -1.0
    )
    head = 0
    own = None if weights is None else weights.get(last.pattern)
    if own is not None:
        telling_ = np.full(own.shape[:2], -1.0, np.float32)
        for position in np.flatnonzero(worth > 1.5):
            keys = layout.list_keys(int(position))
            look = own[:, position, : len(keys)]
            far = (abs(row[keys] - row[position]) + abs(column[keys] - column[position])).astype(
                np.float32
            )
            # Prefer weights spread over a few pixels, some of them far: a head that rests on a
            # single key shows less, and so does one that looks everywhere.
            spread = -(look * np.log2(np.maximum(look, 1e-9))).sum(1)
            telling_[:, position] = np.minimum((look * np.minimum(far, 8)).sum(1), 4) - abs(
                spread - 4
            )
        if telling_.max() > -1:
            head, best = divmod(int(telling_.argmax()), layout.length)
            return {"pattern": last.pattern, "position": best, "layer": layer, "head": head}
    return {"pattern": last.pattern, "position": int(worth.argmax()), "layer": layer, "head": head}


def _describe_pattern(
    layout: Layout, pictures: Levels, bits: Array, made: int, kept: int, layers: int, heads: int
) -> dict[str, object]:
    expected = (layout.rows, layout.columns, *([layout.channels] if layout.channels > 1 else []))
    if pictures.shape[1:] != expected or bits.shape != pictures.shape:
        raise ValueError(
            f"pictures {pictures.shape} and bits {bits.shape} for a layout of {expected}"
        )
    return {
        "key": layout.pattern,
        "label": dict(LABELS.get(layout.pattern, {"en": layout.pattern, "zh": layout.pattern})),
        "short": dict(SHORT.get(layout.pattern, {"en": layout.pattern, "zh": layout.pattern})),
        "note": dict(layout.note),
        "rows": layout.rows,
        "columns": layout.columns,
        "channels": layout.channels,
        "order": pack_raw(layout.order.astype("<u2")),
        "starts": list(layout.starts),
        "memory": [_list_ranges(memory) for memory in layout.memory],
        "pictures": _pack_levels(pictures),
        "bits": _pack_bits(bits),
        "made": made,
        "kept": kept,
        "layers": layers,
        "heads": heads,
    }


def _list_ranges(positions: NDArray[np.int32]) -> list[int]:
    """Return ascending whole numbers as runs: [first, stop, first, stop, …], stop excluded."""
    if not len(positions):
        return []
    breaks = np.flatnonzero(np.diff(positions) != 1) + 1
    return [int(edge) for part in np.split(positions, breaks) for edge in (part[0], part[-1] + 1)]


def _pack_levels(levels: Levels) -> Packed:
    return pack_raw(np.asarray(levels, np.uint8))


def _pack_bits(bits: Array) -> Packed:
    return pack_raw(np.clip(np.rint(bits * BITS), 0, 65_535).astype("<u2"), 1 / BITS)


# ---- the surprise widget


def draw_surprise(
    read: Levels, maps: Mapping[str, Array], *, state: str, query: str = "", unusual: bool = False
) -> dict[str, object]:
    """Draw the picture that was read, and what each model paid for each of its pixels.

    read: (row, column) levels. maps: by model, (row, column) bits of each pixel, in the order of
    display; the mean is bits/dim. query: the permalink of the run. unusual: whether the picture is
    unlike the training pictures.
    """
    rows, columns = read.shape
    for key, bits in maps.items():
        if bits.shape != read.shape:
            raise ValueError(f"bits {bits.shape} of {key} for a picture {read.shape}")
    return {
        "state": state,
        "query": query,
        "worst": WORST,
        "rows": rows,
        "columns": columns,
        "picture": _pack_levels(read),
        "maps": [
            {
                "key": key,
                "label": dict(SHORT.get(key, {"en": key, "zh": key})),
                "bits": _pack_bits(bits),
                "mean": round(float(bits.mean()), 4),
            }
            for key, bits in maps.items()
        ],
        "unusual": unusual,
        "sentence": describe_surprise(maps),
    }


def describe_surprise(maps: Mapping[str, Array]) -> dict[str, str]:
    """Return which row costs most and which least, under the last Transformer of the maps, and
    which model reads the picture best."""
    key = "local_2d" if "local_2d" in maps else next(iter(maps))
    rows = maps[key].mean(1)
    most, least = int(rows.argmax()), int(rows.argmin())
    best = min(maps, key=lambda name: float(maps[name].mean()))
    name = SHORT.get(key, {"en": key, "zh": key})
    winner = SHORT.get(best, {"en": best, "zh": best})
    means = float(maps[best].mean())
    english = (
        f"For {name['en']}, row {most} costs most, {rows[most]:.1f} bits a pixel; row {least} costs"
        f" {rows[least]:.1f}."
    )
    chinese = (
        f"对 {name['zh']} 来说，第 {most} 行最贵，每像素 {rows[most]:.1f} 比特；第 {least} 行"
        f" {rows[least]:.1f} 比特。"
    )
    if len(maps) > 1:
        english += f" {winner['en']} reads this picture best: {means:.2f} bits a pixel."
        chinese += f"{winner['zh']} 读这张图最省：每像素 {means:.2f} 比特。"
    return {"en": english, "zh": chinese}


def explain_no_surprise(sentence: Text) -> dict[str, object]:
    """Return a value without a picture: the one sentence that says why there is none."""
    return {"state": "empty", "sentence": dict(sentence), "maps": []}
