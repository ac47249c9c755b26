"""The agent with a gated memory: a walk as the page asks for it, and training on one thread.

walk_s: the seconds of one request, a walk of 60 steps with all weights and gates.
steps_per_s: the steps of all corridors in a second of training, learning included.
train_to_95_s: the seconds of training until 95 % of the episodes of a segment end right; the whole
    run where they never do.

All are processor seconds of one thread, so that a busy machine tells the same.
"""

from __future__ import annotations

import dataclasses
import time

import torch

from benchmarks.measure import ROUNDS, Bound, Report, median
from benchmarks.sizes import size
from models.gtrxl import recipe
from models.gtrxl.explain import explain
from models.gtrxl.records import Request

LENGTH = size(60, 4)
STEPS = size(300_000, 4_608)


def measure(device: torch.device) -> Report:
    """Measure the walk, then train an agent anew. Both run on the processor."""
    task = recipe.task_of("gtrxl")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    walks = []
    for _ in range(2 + ROUNDS):
        begin = time.process_time()
        explain([Request(length=LENGTH)])
        walks.append(time.process_time() - begin)
    training = recipe.start_training(task.config, dataclasses.replace(task.recipe, steps=STEPS))
    begin, reached = time.process_time(), 0.0
    while not training.is_finished:
        line = training.run_segment()
        if not reached and line["right"] >= 0.95:
            reached = time.process_time() - begin
    seconds = time.process_time() - begin
    torch.set_num_threads(threads)
    return Report.of(
        {
            "walk_s": (median(walks[2:]), Bound(0.3)),
            "steps_per_s": (training.steps / seconds, Bound(size(5_000, 1), at_least=True)),
            "train_to_95_s": (reached or seconds, Bound(60)),
        }
    )
