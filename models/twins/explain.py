"""Explanations for the training laboratory: a run, or twins, trained while the page watches. They
return arrays and numbers, no tensors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from models.explaining.arrays import freeze
from models.explaining.batching import TURN
from models.explaining.errors import InputError, Stopped
from models.twins.data import HELD_OUT, LARGE, draw_held_out
from models.twins.records import Explanation, Frame, Request, Techniques, check
from models.twins.training import Slots, list_frames

Turn = list[list[Frame] | Explanation | InputError]


def explain(requests: Sequence[Request]) -> Iterator[Turn]:
    """Train what one request asks for: yield the frames since the last turn, and at last the
    explanation, or the InputError of a request that cannot be trained."""
    (request,) = requests
    try:
        check(request)
    except InputError as error:
        yield [error]
        return
    yield from train_live(request)


def train_live(request: Request) -> Iterator[Turn]:
    """Yield the turns of a training that the page watches; Stopped, thrown in, ends it early."""
    kinds = request.list_techniques()
    seeds = range(request.seed, request.seed + request.seeds)
    runs: list[Techniques] = [kind for kind in kinds for _ in seeds]
    slots = Slots(request.shape, runs, [*seeds] * len(kinds), request.steps)
    held_out = draw_held_out(request.shape, HELD_OUT)
    frames, stopped = [_take_frame(slots, len(kinds), held_out)], False
    try:
        yield [frames[:]]
        begin, fresh = time.perf_counter(), 0
        for until in list_frames(request.steps)[1:]:
            while slots.step < until:
                slots.advance()
                if time.perf_counter() - begin > TURN:
                    yield [frames[len(frames) - fresh :]]
                    begin, fresh = time.perf_counter(), 0
            frames.append(_take_frame(slots, len(kinds), held_out))
            fresh += 1
        yield [frames[len(frames) - fresh :]]
    except Stopped:
        stopped = True
    yield [_finish(request, slots, frames, stopped)]


def _take_frame(slots: Slots, kinds: int, held_out: tuple[np.ndarray, np.ndarray]) -> Frame:
    judged = slots.judge(*held_out)
    firsts = slice(None, None, len(slots.runs) // kinds)  # the first seed of each kind
    broken = np.array(slots.broke) > 0
    return Frame(
        step=slots.step,
        loss=freeze(np.where(broken, np.nan, judged.loss).reshape(kinds, -1)),
        right=freeze(np.where(broken, np.nan, judged.right).reshape(kinds, -1)),
        rate=freeze(slots.rates()[firsts]),
        norms=freeze(slots.measure_norms()[firsts]),
        weights=freeze(np.nan_to_num(judged.weights[firsts]), np.float16),
    )


def _finish(request: Request, slots: Slots, frames: Sequence[Frame], stopped: bool) -> Explanation:
    kinds = len(request.list_techniques())
    firsts = slice(None, None, len(slots.runs) // kinds)
    given, answers = draw_held_out(request.shape, HELD_OUT)
    end = slots.judge(*draw_held_out(request.shape, LARGE))

    def stack(name: str) -> np.ndarray:
        return np.stack([getattr(frame, name) for frame in frames])

    return Explanation(
        steps=freeze([frame.step for frame in frames], np.int32),
        loss=freeze(stack("loss")),
        right=freeze(stack("right")),
        rate=freeze(stack("rate")),
        norms=freeze(stack("norms")),
        weights=freeze(stack("weights"), np.float16),
        digits=freeze(given[0], np.int32),
        wanted=freeze(answers[0], np.int32),
        whole=freeze(np.nan_to_num(end.whole).reshape(kinds, -1)),
        calibration=freeze(np.nan_to_num(end.calibration).reshape(kinds, -1)),
        broke=freeze(np.reshape(slots.broke, (kinds, -1)), np.int32),
        stopped=stopped,
        state=freeze(slots.averaged_weights()[firsts]),
    )
