"""Training and measurement of the speech recogniser."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.checkpoints.checkpoint import find_folder
from models.data.windows import NONE
from models.speech.ctc import measure_ctc_loss
from models.speech.data import (
    ClipSet,
    Spoken,
    compose_held_out,
    draw_numbers,
    label_frames,
    read_clips,
)
from models.speech.features import MELS, compute_mels
from models.speech.model import SpeechConfig, SpeechNetwork
from models.speech.pretrained import SLUG, read
from models.speech.records import (
    LEFT,
    LEFTS,
    RATE,
    RIGHT,
    UNHEARD,
    VOICES,
    WAITS,
    find_final_sample,
)
from models.speech.scoring import (
    count_errors,
    list_confidences,
    measure_digit_error,
    pad_recordings,
    recognise,
)
from models.training import driver
from models.training.driver import FigureRequest, Job, LabModels, Measurement, Plan
from models.training.loop import Schedule

LIMITS = (*WAITS, 16, None)  # R for which the error is measured; None: no limit


@dataclass(frozen=True)
class SpeechRecipe(driver.Recipe):
    """The settings of training."""

    digits: int = 48  # of a batch, whose numbers all have as many
    shortest: int = 2  # digits of a number
    longest: int = 6
    aligned: int = 400  # steps over which the loss on the known frames fades out
    hidden: int = 8  # bands that are hidden in each recording, at most


@dataclass(frozen=True)
class SpeechTask(driver.Task):
    """A variant's task. unheard: the speaker that is left out of training, "" for none."""

    unheard: str = ""


class NumberBatch(NamedTuple):
    """Recordings of one batch.

    samples: (recording, sample). frames: of each, (recording,). labels: (recording, digit); all
    have as many digits. targets: the known digit of each frame, NONE behind the end, (recording,
    frame). weight: of the loss on these, a number. right: R, a number. bands: the hidden bands,
    first and one behind the last, (recording, 2).
    """

    samples: Tensor
    frames: Tensor
    labels: Tensor
    targets: Tensor
    weight: Tensor
    right: Tensor
    bands: Tensor


class CtcObjective(nn.Module):
    """The loss that training minimises: −ln p(digits), and in the first steps the cross-entropy of
    the frames whose digit is known."""

    def __init__(self, model: SpeechNetwork) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: NumberBatch) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats and the number of digits."""
        mels = compute_mels(batch.samples)
        band = torch.arange(MELS, device=mels.device)
        hidden = (band >= batch.bands[:, :1]) & (band < batch.bands[:, 1:])
        mels = mels.masked_fill(hidden[:, None], 0.0)
        scores = self.model(mels, batch.frames, self.model.config.left, int(batch.right))
        counts = torch.full_like(batch.frames, batch.labels.shape[1])
        loss = measure_ctc_loss(scores, batch.frames, batch.labels, counts).sum()
        digits = torch.tensor(batch.labels.numel(), device=loss.device)
        if batch.weight > 0:
            known = F.nll_loss(scores.flatten(0, 1), batch.targets.flatten(), ignore_index=NONE)
            loss = loss + batch.weight * known * digits
        return loss, digits


def make_batch(
    spoken: Sequence[Spoken], generator: np.random.Generator, recipe: SpeechRecipe, weight: float
) -> NumberBatch:
    """Return a batch of numbers of as many digits, its hidden bands and R drawn."""
    samples, frames = pad_recordings(spoken)
    targets = torch.full((len(spoken), int(frames.max())), NONE)
    for row, number, count in zip(targets, spoken, frames.tolist(), strict=True):
        row[:count] = torch.tensor(label_frames(number, count))
    first = generator.integers(0, MELS, len(spoken))
    last = first + generator.integers(0, recipe.hidden + 1, len(spoken))
    return NumberBatch(
        samples,
        frames,
        torch.tensor([number.labels for number in spoken]),
        targets,
        torch.tensor(weight),
        torch.tensor(int(generator.choice(WAITS))),
        torch.from_numpy(np.stack((first, last), 1)),
    )


def _schedule(steps: int) -> Schedule:
    return Schedule(
        steps=steps,
        warmup=150,
        decay=0.0,
        cooldown=round(steps * 0.65),
        average=5,
        every=max(1, steps // 250),
        precision="32-true",
    )


def make_adamw(objective: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Return AdamW (Loshchilov and Hutter, 2019)."""
    return [torch.optim.AdamW(objective.parameters(), lr=schedule.peak, fused=True)]


def choose_training_clips(clips: ClipSet, unheard: str) -> ClipSet:
    """Return the clips of all speakers but one. Raise ValueError for a speaker that does not
    exist."""
    if not unheard:
        return clips
    if unheard not in clips.names:
        raise ValueError(f"the speakers are {', '.join(clips.names)}, not {unheard}")
    return clips.choose(clips.speaker != clips.names.index(unheard))


def plan(job: Job[SpeechTask]) -> Plan[NumberBatch]:
    """Plan a training on numbers joined from clips anew for every batch."""
    recipe, unheard = job.recipe, job.task.unheard
    clips = choose_training_clips(read_clips(job.data, "train"), unheard)
    held_out = compose_held_out(
        choose_training_clips(read_clips(job.data, "val"), unheard), 0, times=1
    )

    def draw(generator: np.random.Generator, done: float) -> NumberBatch:
        digits = int(generator.integers(recipe.shortest, recipe.longest + 1))
        spoken = draw_numbers(clips, generator, max(1, round(recipe.digits / digits)), digits)
        weight = max(0.0, 1 - done * recipe.schedule.steps / recipe.aligned)
        return make_batch(spoken, generator, recipe, weight)

    return Plan(
        lambda: SpeechNetwork(job.task.config),
        lambda model: CtcObjective(model),  # type: ignore[arg-type]
        lambda model: measure_digit_error(model, held_out),
        optimizers=make_adamw,
        draw=draw,
    )


LICENCE = "CC BY-SA 4.0: Free Spoken Digit Dataset, Zohar Jackson and contributors"
DATA = "Free Spoken Digit Dataset, takes 9 to 49 of {speakers}, joined to numbers"
PROTOCOL = (
    "edits per digit on numbers of 3 to 7 digits that say each clip of takes 0 to 4 three times,"
    " in noise 8 to 40 dB below them; L and R were given beforehand"
)
BASE = SpeechTask(
    config=SpeechConfig(),
    recipe=SpeechRecipe(_schedule(4_500), evaluation_interval=250, rate=2e-3),
    data=DATA.format(speakers="six speakers"),
    licence=LICENCE,
    metric="digit error rate",
    protocol=PROTOCOL,
    target=0.03,
)


def _leave_out(voice: str) -> SpeechTask:
    """Return the task of a network that never hears a voice. It is measured on this voice."""
    return dataclasses.replace(
        BASE,
        unheard=voice,
        recipe=SpeechRecipe(_schedule(1_200), evaluation_interval=300, rate=2e-3),
        data=DATA.format(speakers=f"five speakers, not {voice}"),
        dtype=torch.int8,
        target=None,
    )


VARIANTS = {"base": BASE} | {f"{UNHEARD}{voice}": _leave_out(voice) for voice in VOICES}


def measure_curves(model: SpeechNetwork, spoken: Sequence[Spoken]) -> dict[str, Any]:
    """Return the digit error for each R and each L, and at R = 2 by speaker and by noise, and the
    median wait for each R: seconds from a digit's end until it is written."""
    result = {right: recognise(model, spoken, LEFT, right) for right in LIMITS}
    by_right, waits = {}, {}
    for right, paths in result.items():
        by_right[str(right)] = _share(spoken, paths)
        late = [
            (find_final_sample(frame, right) - end) / RATE
            for number, path in zip(spoken, paths, strict=True)
            if right is not None and tuple(digit for digit, _ in path) == number.labels
            for (_, frame), end in zip(path, number.ends, strict=True)
        ]
        if late:
            waits[str(right)] = round(float(np.median(late)), 3)
    edits = count_errors(spoken, result[RIGHT])
    by_speaker, by_noise = {}, {}
    for name, group in [(voice, i) for i, voice in enumerate(VOICES)]:
        rows = [i for i, number in enumerate(spoken) if number.speaker == group]
        by_speaker[name] = _share_of(rows, edits, spoken)
    for low in (8, 16, 24, 32):
        rows = [i for i, number in enumerate(spoken) if low <= number.snr < low + 8]
        by_noise[str(low)] = _share_of(rows, edits, spoken)
    by_left = {str(left): _share(spoken, recognise(model, spoken, left)) for left in LEFTS}
    return {
        "by_right": by_right,
        "by_left": by_left,
        "by_speaker": by_speaker,
        "by_noise": by_noise,
        "wait": waits,
    }


def _share(spoken: Sequence[Spoken], paths: Sequence[Sequence[tuple[int, int]]]) -> float:
    return _share_of(range(len(spoken)), count_errors(spoken, paths), spoken)


def _share_of(rows: Iterable[int], edits: Sequence[int], spoken: Sequence[Spoken]) -> float:
    """Return edits per digit of some recordings."""
    chosen = list(rows)
    digits = sum(len(spoken[i].labels) for i in chosen)
    return round(sum(edits[i] for i in chosen) / max(1, digits), 4)


def measure_unheard(data: Path, split: str, draw: int, device: str) -> dict[str, float]:
    """Return the digit error on each voice of the shipped network that never heard it, by voice."""
    result = {}
    for voice in VOICES:
        where = find_folder(SLUG, UNHEARD + voice)
        if (where / "model.json").is_file():
            numbers = _choose_voice(compose_held_out(read_clips(data, split), draw), voice)
            error = measure_digit_error(read(where, device).model, numbers)
            result[voice] = round(error, 4)
    return result


def _choose_voice(spoken: Sequence[Spoken], voice: str) -> list[Spoken]:
    return [number for number in spoken if VOICES[number.speaker] == voice]


def measure(asked: FigureRequest[SpeechTask], draw: int) -> Measurement:
    """Measure the digit error on held-out numbers: at R = 2, at R = 0, and on voices that were
    never heard."""
    model, unheard = asked.shipped.model, asked.task.unheard
    spoken = compose_held_out(read_clips(asked.data, asked.split), draw)
    spoken = _choose_voice(spoken, unheard) if unheard else spoken
    digits = sum(len(number.labels) for number in spoken)
    figure: dict[str, Any] = {
        "metric": asked.task.metric,
        "split": asked.split,
        "value": round(measure_digit_error(model, spoken), 4),
        "n": digits,
        "at_r0": round(measure_digit_error(model, spoken, right=0), 4),
        "draw": draw,
    }
    if asked.split == asked.task.chosen:  # below it a page warns
        least = np.percentile(list_confidences(model, spoken), 1)
        figure["sure_1st_percentile"] = round(float(least), 4)
    device = str(next(model.parameters()).device)
    others = {} if unheard else measure_unheard(asked.data, asked.split, draw, device)
    if others:
        mean = sum(others.values()) / len(others)
        figure |= {"unheard_speaker": round(mean, 4), "unheard_speakers": others}
    said = (
        f"{100 * figure['value']:.2f} % digit error on {digits:,} digits of {asked.split} at R ="
        f" {RIGHT}, {100 * figure['at_r0']:.2f} % at R = 0"
    )
    if others:
        said += f", {100 * figure['unheard_speaker']:.2f} % on voices never heard ({len(others)})"
    return Measurement(
        figure,
        said,
        key=None if draw else "figure",
        refused="with --draw 0",
        alike=("split", "draw"),
        facts=lambda: {} if unheard else {"curves": measure_curves(model, spoken)},
    )


OPTIONS = {
    "draw": {"type": int, "default": 0, "help": "the number of the held-out set that is composed"}
}
LAB = LabModels(SLUG, VARIANTS, read, plan, measure, options=OPTIONS, also="val")
train, evaluate, task_of = LAB.train, LAB.evaluate, LAB.task_of
