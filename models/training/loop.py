"""The one training loop, on Lightning Fabric: a CPU, a GPU or several; stopped and resumed at
will."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from models.checkpoints.device import has_bfloat16
from models.data.windows import NONE, move_batch

if TYPE_CHECKING:
    import lightning

BatchT = TypeVar("BatchT")


@dataclass(frozen=True)
class Schedule:
    """The schedule of training, common to all networks."""

    seed: int = 1  # of parameters, dropout and the order of batches
    steps: int = 8400  # updates of the parameters
    peak: float = 1.6e-3  # largest learning rate, at the end of the warm-up
    warmup: int = 600  # steps of linear rise
    decay: float = 0.5  # after them the rate falls with 1 / step^decay; 0.5 is the paper's
    cooldown: int = 3000  # last steps, over which the rate falls on to a twentieth
    clip: float = 1.0  # largest norm of the gradient
    average: int = 10  # how many checkpoints are averaged into the final weights
    every: int = 150  # steps between those checkpoints
    precision: str = "bf16-mixed"  # by Fabric's name; single precision on devices without it

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step, counted from 1: a rise and a fall as in Vaswani et
        al. (2017), eq. 3, then a cool-down."""
        rate = self.peak * min(step / self.warmup, math.pow(self.warmup / step, self.decay))
        left = self.steps - step
        return rate * (0.05 + 0.95 * left / self.cooldown) if left < self.cooldown else rate


@dataclass(frozen=True)
class Trained(Generic[BatchT]):
    """The result of a run."""

    state: dict[str, Tensor]  # the averaged parameters
    finished: bool
    steps: int
    seconds: float  # of training, over all resumptions
    device: str
    log: list[dict[str, float]]
    rank: int = 0  # of this process among those that trained


class NextSymbol(nn.Module):
    """The loss that training minimises: −log p of every symbol that is wanted."""

    def __init__(self, model: nn.Module, said: Callable[[Any, Any], tuple[Tensor, Tensor]]) -> None:
        """Build the loss. said(model, batch): logits (batch, …, symbol) and the symbols that came,
        (batch, …), NONE where no answer is wanted."""
        super().__init__()
        self.model, self.said = model, said

    def forward(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats and the number of symbols."""
        logits, wanted = self.said(self.model, batch)
        loss = F.cross_entropy(
            logits.float().flatten(0, -2), wanted.flatten(), ignore_index=NONE, reduction="sum"
        )
        return loss, (wanted != NONE).sum()


def make_adam(objective: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Return Adam for all parameters (Kingma and Ba, 2015), with the constants of Vaswani et al.
    (2017), §5.3."""
    return [
        torch.optim.Adam(
            objective.parameters(), lr=schedule.peak, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
    ]


def take_step(
    objective: nn.Module, optimizers: Iterable[torch.optim.Optimizer], rate: float, clip: float
) -> None:
    """Take one step down the gradients and clear them. rate: the learning rate; clip: the largest
    norm of all gradients together."""
    nn.utils.clip_grad_norm_(objective.parameters(), clip)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()


class _Single(TorchFunctionMode):
    """A mode in which every request for bfloat16 stays in single precision."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return args[0].float() if func is Tensor.bfloat16 else func(*args, **(kwargs or {}))


class _SingleMuon(torch.optim.Muon):
    """Muon for a device that would have to imitate bfloat16, in which torch makes its steps
    orthogonal."""

    def step(self, closure: Any = None) -> Any:
        """Take one step, as `torch.optim.Muon.step` does."""
        with _Single():
            return super().step(closure)  # type: ignore[no-untyped-call]


def make_muon(objective: nn.Module, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Return Muon for the matrices within `objective.model.layers`, Adam for embeddings and all
    else (Jordan et al., 2024).

    Muon makes each step of a matrix orthogonal, scaled to the size that Adam's steps have (Liu et
    al., 2025): so one rate serves both.
    """
    native = has_bfloat16(next(objective.parameters()).device)
    modules = [
        module
        for module in objective.model.layers.modules()  # type: ignore[union-attr]
        if not isinstance(module, nn.Embedding)
    ]
    inside = {id(p) for module in modules for p in module.parameters(recurse=False) if p.dim() == 2}
    matrices = [p for p in objective.parameters() if id(p) in inside]
    rest = [p for p in objective.parameters() if id(p) not in inside]
    return [
        (torch.optim.Muon if native else _SingleMuon)(
            matrices, lr=schedule.peak, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"
        ),
        torch.optim.Adam(rest, lr=schedule.peak, betas=(0.9, 0.98), eps=1e-9, fused=True),
    ]


def average_weights(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of several checkpoints' parameters, not of their predictions (Vaswani et al.,
    2017, §6.1)."""
    if not states:
        raise ValueError("no checkpoint to average")
    return {
        name: (
            torch.stack([state[name].double() for state in states])
            .mean(0)
            .to(states[0][name].dtype)
        )
        for name in states[0]
    }


def _keep_memory() -> None:
    """Ask the C library to keep freed memory: each step frees and asks for the same large blocks,
    and fresh pages are costly on a CPU."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(-4, 0)  # M_MMAP_MAX: large blocks from the heap too
            mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: do not give the heap back
            mallopt(-2, 256 << 20)  # M_TOP_PAD: grow it in large steps


# share of a run's steps after which learning rates are compared: shorter trials favour rates that
# are too large for a run
TRIAL = 0.15
MOST = 12  # learning rates tried at most


def make_trial_schedule(schedule: Schedule, peak: float, share: float = TRIAL) -> Schedule:
    """Return a run in small with this largest learning rate: its rise, its fall and its checkpoints
    at the same shares of fewer steps."""
    small = {
        name: max(1, math.ceil(share * getattr(schedule, name)))
        for name in ("steps", "warmup", "cooldown", "every")
    }
    return dataclasses.replace(schedule, peak=peak, **small)


def sweep_rates(
    measure: Callable[[float], float], rates: Sequence[float], kept: Path
) -> dict[str, float]:
    """Return `measure` of each learning rate, lower is better, over a grid that grows until the
    best one lies inside it: rate -> figure.

    rates: where the grid begins, two or more, ascending. Beyond its ends it goes on by the factor
        that its last two have.
    kept: a file that holds the measurements so far, so that a stopped sweep goes on where it was.

    Raise ValueError where after MOST rates the best one is still the smallest or the largest.
    """
    found: dict[str, float] = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
    todo = list(rates)
    while True:
        for rate in todo:
            if f"{rate:g}" not in found:
                figure = measure(rate)
                found[f"{rate:g}"] = round(figure, 4) if math.isfinite(figure) else LOST
                kept.write_text(json.dumps(found) + "\n", encoding="utf-8")
        tried = sorted(map(float, found))
        best = find_best_rate(found)
        if tried[0] < best < tried[-1]:
            return found
        if len(found) >= MOST:
            raise ValueError(
                f"of {len(found)} learning rates from {tried[0]:g} to {tried[-1]:g} the best is"
                f" {best:g}, at the edge"
            )
        todo = [best * tried[0] / tried[1] if best == tried[0] else best * tried[-1] / tried[-2]]


LOST = 1e9  # the figure of a run whose parameters are no longer finite


def find_best_rate(found: dict[str, float]) -> float:
    """Return the learning rate with the lowest figure of `sweep_rates`."""
    return float(min(found, key=lambda rate: found[rate]))


class RunFolder:
    """The folder of one run: full state for resuming, recent checkpoints for averaging, a log line
    per epoch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state.pt"
        self.log = folder / "log.jsonl"

    def write_file(self, path: Path, what: dict[str, Any]) -> None:
        """Write in one move, so that a kill leaves the old file or the new one."""
        part = path.with_suffix(".part")
        torch.save(what, part)
        part.replace(path)

    def read_file(self, path: Path) -> dict[str, Any]:
        """Read what `write_file` wrote; tensors and plain values only."""
        found: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        return found

    def checkpoint_path(self, step: int) -> Path:
        """Return the path of the parameters after a step."""
        return self.folder / f"step-{step:07d}.pt"


def train(
    objective: nn.Module,
    batches: Callable[[int], Sequence[BatchT]],
    validate: Callable[[nn.Module], float],
    schedule: Schedule,
    folder: Path,
    *,
    device: torch.device,
    minutes: float | None = None,
    resume: bool = False,
    devices: int = 1,
    save_every: float = 45.0,
    optimizers: Callable[[nn.Module, Schedule], list[torch.optim.Optimizer]] = make_adam,
) -> Trained[BatchT]:
    """Train `objective.model` until the schedule ends or `minutes` are over; return the averaged
    parameters.

    objective(batch): the sum of losses and the number of targets, so that one forward pass gives
        all that counts for the gradient.
    batches(epoch): the epoch's batches, the same ones for the same epoch; with several devices each
        takes its share.
    validate(model): a figure per epoch for the log, lower is better.
    save_every: seconds between full states on disk.

    Raise FileExistsError where the folder holds a run and `resume` is False; with `minutes` 0
    nothing is trained or written.
    """
    # Only training needs these: a Space installs neither, and fine-tunes in the page with the rest
    # of this file.
    import lightning
    from tqdm import tqdm

    run = RunFolder(folder)
    if run.state.exists() and not resume:
        raise FileExistsError(
            f"{folder} holds a run: continue it with --resume, or remove the folder"
        )
    precision: Any = (
        schedule.precision
        if "bf16" not in schedule.precision or has_bfloat16(device)
        else "32-true"
    )
    fabric = lightning.Fabric(
        accelerator=device.type,
        devices=[device.index] if device.index is not None else devices,
        precision=precision,
    )
    fabric.launch()
    fabric.seed_everything(schedule.seed + fabric.global_rank, verbose=False)
    folder.mkdir(parents=True, exist_ok=True)
    if device.type == "cpu":
        _keep_memory()
    bare: nn.Module = objective.model  # type: ignore[assignment]
    chosen = optimizers(objective, schedule)
    step, epoch, inside, seconds = 0, 0, 0, 0.0
    log: list[dict[str, float]] = []
    if resume and run.state.exists():
        found = run.read_file(run.state)
        bare.load_state_dict(found["model"])
        for optimizer, state in zip(chosen, found["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        step, epoch, inside, seconds, log = (
            found["step"],
            found["epoch"],
            found["inside"],
            found["seconds"],
            found["log"],
        )
    elif minutes != 0 and fabric.is_global_zero:
        # A run that ended before its first full state left these; they do not belong to this one.
        for old in folder.glob("step-*.pt"):
            old.unlink()
    wrapped, *chosen = fabric.setup(objective, *chosen)
    if step:
        torch.set_rng_state(found["random"][fabric.global_rank])
        if device.type == "cuda" and found["random_cuda"]:  # empty where the run was begun on a CPU
            torch.cuda.set_rng_state(found["random_cuda"][fabric.global_rank].cpu(), fabric.device)

    def keep() -> None:
        """Save everything that a resumed run needs to go on as if nothing had happened."""
        random = _gather_random_states(fabric, torch.get_rng_state())
        random_cuda = (
            _gather_random_states(fabric, torch.cuda.get_rng_state(fabric.device))
            if device.type == "cuda"
            else []
        )
        if fabric.is_global_zero:
            what: dict[str, Any] = {
                "model": bare.state_dict(),
                "optimizers": [optimizer.state_dict() for optimizer in chosen],
            }
            what |= {"step": step, "epoch": epoch, "inside": inside}
            run.write_file(
                run.state,
                {
                    **what,
                    "seconds": seconds,
                    "log": log,
                    "random": random,
                    "random_cuda": random_cuda,
                },
            )

    start = saved = time.monotonic()
    before = seconds
    shown = tqdm(
        total=schedule.steps,
        initial=step,
        unit="step",
        disable=not fabric.is_global_zero or minutes == 0,
        mininterval=5.0,
    )
    loss_sum, count, speed_since, speed_count = 0.0, 0, time.monotonic(), 0
    out_of_time = False
    while step < schedule.steps and not out_of_time:
        if minutes is not None and time.monotonic() - start >= minutes * 60:
            break
        todo = batches(epoch)
        share = range(
            fabric.global_rank,
            len(todo) // fabric.world_size * fabric.world_size,
            fabric.world_size,
        )
        objective.train()
        while inside < len(share) and step < schedule.steps:
            if minutes is not None and _is_true_anywhere(
                fabric, time.monotonic() - start >= minutes * 60
            ):
                out_of_time = True
                break
            step, inside = step + 1, inside + 1
            with _choose_kernel(device):
                loss, targets = wrapped(move_batch(todo[share[inside - 1]], fabric.device))
                fabric.backward(loss / targets)
            take_step(objective, chosen, schedule.rate_at(step), schedule.clip)
            loss_sum, count, speed_count = (
                loss_sum + float(loss.detach()),
                count + int(targets),
                speed_count + int(targets),
            )
            seconds = before + time.monotonic() - start
            if fabric.is_global_zero and (step % schedule.every == 0 or step == schedule.steps):
                run.write_file(run.checkpoint_path(step), bare.state_dict())
                for old in sorted(folder.glob("step-*.pt"))[: -schedule.average]:
                    old.unlink()
            speed = speed_count * fabric.world_size / max(time.monotonic() - speed_since, 1e-9)
            shown.set_postfix_str(
                f"loss {loss_sum / count:.3f}, {speed:,.0f} tokens/s,"
                f" lr {schedule.rate_at(step):.2e}",
                refresh=False,
            )
            shown.update()
            if _is_true_anywhere(fabric, time.monotonic() - saved > save_every):
                keep()
                saved, speed_since, speed_count = time.monotonic(), time.monotonic(), 0
        if inside >= len(share):
            objective.eval()
            line = {
                "epoch": epoch + 1,
                "step": step,
                "loss": loss_sum / max(count, 1),
                "validation": validate(bare),
            }
            log.append({**line, "rate": schedule.rate_at(step), "seconds": round(seconds, 1)})
            if fabric.is_global_zero:
                with run.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(log[-1]) + "\n")
            epoch, inside, loss_sum, count = epoch + 1, 0, 0.0, 0
    shown.close()
    if minutes != 0:
        keep()
        fabric.barrier()
    recent = [run.read_file(path) for path in sorted(folder.glob("step-*.pt"))[-schedule.average :]]
    state = (
        average_weights(recent)
        if recent
        else {name: tensor.detach().cpu() for name, tensor in bare.state_dict().items()}
    )
    name = (
        torch.cuda.get_device_name(fabric.device)
        if device.type == "cuda"
        else f"cpu, {torch.get_num_threads()} threads"
    )
    return Trained(state, step >= schedule.steps, step, seconds, name, log, fabric.global_rank)


def _choose_kernel(device: torch.device) -> AbstractContextManager[None]:
    """Choose the kernel of attention. Sequences of a training batch are short, and on a CPU the
    unfused product is several times faster backwards at these lengths."""
    return sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext()


def _is_true_anywhere(fabric: lightning.Fabric, here: bool) -> bool:
    """Return True on every device as soon as it is true on one: the devices' clocks differ, and
    they must not part."""
    if fabric.world_size == 1:
        return here
    votes: Any = fabric.all_reduce(torch.tensor(float(here), device=fabric.device), reduce_op="sum")
    return bool(votes > 0)


def _gather_random_states(fabric: lightning.Fabric, random: Tensor) -> list[Tensor]:
    """Return the random state of every device, by rank."""
    if fabric.world_size == 1:
        return [random]
    return list(fabric.all_gather(random.to(fabric.device)).cpu())  # type: ignore[union-attr]
