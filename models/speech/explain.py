"""Explanations of the speech recogniser: they answer a page's requests with arrays and numbers and
return no tensors."""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.checkpoints.checkpoint import CheckpointError
from models.explaining.arrays import freeze
from models.explaining.batching import answer_one_by_one, serve_in_turns
from models.explaining.errors import InputError, check_heads
from models.explaining.head_mask import build_head_gains
from models.explaining.request_fields import check_request
from models.explaining.trace import Trace
from models.media.sound_files import LONGEST, choose_gain, resample, unspell_sound
from models.speech.clips import load_clips, speak_number
from models.speech.ctc import count_edits, find_best_path
from models.speech.data import LOUDNESS, Spoken, compose_held_out, make_noise
from models.speech.features import compute_mels
from models.speech.model import SpeechNetwork, SpeechStream
from models.speech.pretrained import load
from models.speech.records import (
    HEADS,
    LAYERS,
    QUIET,
    RATE,
    UNHEARD,
    VOICES,
    WAITS,
    DigitErrors,
    Explanation,
    Request,
    Streaming,
    WrittenDigits,
    find_final_sample,
    read_number,
)
from models.speech.scoring import count_errors, recognise

SAMPLE = 1  # how often the measured numbers say each shipped clip
TOGETHER = 10  # of them that are read before others have their turn


def _load_network(request: Request) -> SpeechNetwork:
    """Return the network that listens. Raise InputError where it is not shipped."""
    if not request.unheard:
        return load("base").model
    try:
        return load(UNHEARD + request.voice).model
    except CheckpointError:
        raise InputError(
            "unheard",
            en=f"No network that never heard {request.voice} is here; the usual one is.",
            zh=f"这里没有从未听过 {request.voice} 的网络；常用的网络可用。",
        ) from None


def _change_sound(spoken: Spoken, request: Request, seed: int) -> Spoken:
    """Return a sound at another speed and in added noise."""
    samples = np.asarray(spoken.samples, np.float64)
    if request.speed != 1:
        samples = resample(samples, RATE * request.speed, RATE)
    if request.noise < QUIET:
        noise = make_noise(np.random.default_rng(seed), len(samples), 0.0)
        samples = samples + noise * (LOUDNESS * 10 ** (-request.noise / 20))
    places = [
        tuple(round(at / request.speed) for at in some) for some in (spoken.begins, spoken.ends)
    ]
    return Spoken(samples.astype(np.float32), spoken.labels, places[0], places[1], spoken.speaker)


def _read(request: Request) -> tuple[Request, Spoken]:
    """Read a request. Raise InputError if an option is out of range, the number or the recording
    cannot be read, or the sound is too long."""
    check_request(request)
    check_heads(request.silenced, {"speech": (LAYERS, HEADS)})
    if request.source == "recording":
        if not request.sound:
            raise InputError(
                "no_sound",
                en="There is no recording yet: record your voice, or bring a WAV, FLAC or OGG.",
                zh="还没有录音：请录下您的声音，或选择 WAV、FLAC 或 OGG 文件。",
            )
        heard = unspell_sound(request.sound)
        spoken = Spoken((heard * choose_gain(heard)).astype(np.float32), (), (), ())
    else:
        spoken = speak_number(read_number(request.digits), request.voice, request.seed)
    if len(spoken.samples) / request.speed > LONGEST:
        seconds = len(spoken.samples) / request.speed / RATE
        raise InputError(
            "seconds",
            en=f"This sound would last {seconds:.1f} s; up to 12 s are heard.",
            zh=f"这段声音长 {seconds:.1f} 秒；最多听 12 秒。",
        )
    return request, _change_sound(spoken, request, request.seed)


def _find_window(weights: NDArray[np.float32], left: int, right: int) -> NDArray[np.float32]:
    """Return what lies in each query's window: (…, query, key) -> (…, query, offset), offsets from
    −left to right, 0 beyond the ends."""
    padded = np.pad(weights, [(0, 0)] * (weights.ndim - 1) + [(left, right)])
    rows = np.arange(weights.shape[-2])[:, None]
    return padded[..., rows, rows + np.arange(left + right + 1)]


def _share_gradient(
    model: SpeechNetwork, mels: Tensor, path: list[tuple[int, int]], **how: Any
) -> NDArray[np.float32]:
    """Return the share of each mel frame in the gradient of each written digit's logarithm, (digit,
    mel frame)."""
    result = np.zeros((len(path), mels.shape[1]), np.float32)
    with torch.enable_grad():
        mels = mels.clone().requires_grad_()
        scores = model(mels, **how)[0]
        for row, (digit, frame) in enumerate(path):
            (slope,) = torch.autograd.grad(scores[frame, digit], mels, retain_graph=True)
            size = slope[0].norm(dim=1).cpu().numpy()
            result[row] = size / max(float(size.sum()), 1e-12)
    return result


def _stream(
    model: SpeechNetwork, samples: Tensor, request: Request, gain: Tensor | None
) -> tuple[Tensor, float]:
    """Return the log-probabilities of a sound that comes in pieces, (frame, output), and the
    seconds that they took."""
    size = request.piece * RATE // 1000
    stream = SpeechStream(model, request.left, request.right, gain)
    begin = time.perf_counter()
    result = [
        stream.feed(samples[at : at + size], last=at + size >= len(samples))
        for at in range(0, len(samples), size)
    ]
    return torch.cat(result), time.perf_counter() - begin


@torch.no_grad()
def _explain(request: Request, spoken: Spoken) -> Explanation:
    model = _load_network(request)
    samples = torch.from_numpy(spoken.samples).to(model.readout.weight.device)
    gain = build_head_gains([request], "speech", model)
    trace = Trace("layer/*/weights")
    how = {"left": request.left, "right": request.right, "gain": gain}
    begin = time.perf_counter()
    mels = compute_mels(samples[None])
    scores = model(mels, trace=trace, **how)[0].cpu()
    whole = time.perf_counter() - begin
    path = find_best_path(scores)
    paths = {request.right: path} | {
        right: find_best_path(model(mels, **(how | {"right": right}))[0].cpu())
        for right in WAITS
        if right != request.right
    }
    streamed, took = _stream(model, samples, request, gain)
    seconds = len(spoken.samples) / RATE
    size = request.piece * RATE // 1000
    arrives = [
        min(-(-find_final_sample(frame, request.right) // size) * size, len(spoken.samples))
        for _, frame in path
    ]
    weights = trace.stack("layer/*/weights")[:, 0]
    probabilities = scores.exp()
    return Explanation(
        samples=freeze(np.clip(spoken.samples, -1, 1) * 32767, np.int16),
        labels=freeze(spoken.labels, np.int32),
        begins=freeze(spoken.begins, np.int32),
        ends=freeze(spoken.ends, np.int32),
        mels=freeze(mels[0], np.float16),
        probabilities=freeze(probabilities),
        written=tuple(
            WrittenDigits(
                right,
                freeze([digit for digit, _ in result], np.int32),
                freeze([frame for _, frame in result], np.int32),
            )
            for right, result in paths.items()
        ),
        sure=freeze([float(probabilities[frame, digit]) for digit, frame in path]),
        weights=freeze(_find_window(weights, request.left, request.right), np.float16),
        heard=freeze(_share_gradient(model, mels, path, **how), np.float16),
        streaming=Streaming(
            float((streamed.cpu().exp() - probabilities).abs().max()) if len(scores) else 0.0,
            1000 * took / seconds,
            1000 * whole / seconds,
            freeze(arrives, np.int32),
        ),
        edits=(count_edits([digit for digit, _ in path], spoken.labels) if spoken.labels else -1),
    )


@answer_one_by_one
def explain(request: Request) -> Explanation:
    """Explain a request."""
    return _explain(*_read(request))


@lru_cache(maxsize=1)
def _numbers() -> tuple[Spoken, ...]:
    """Return the numbers on which a change is measured, the same every time, without noise."""
    return tuple(compose_held_out(load_clips(), 0, SAMPLE, clean=True))


def _measure(request: Request) -> Generator[None, None, DigitErrors]:
    """Measure the digit error on the shipped clips, by voice. The request's own sound plays no
    part."""
    model = _load_network(request)
    spoken = [_change_sound(number, request, seed) for seed, number in enumerate(_numbers())]
    gain = build_head_gains([request] * TOGETHER, "speech", model)
    edits, digits = (np.zeros(len(VOICES), np.int32) for _ in range(2))
    took = 0.0
    for at in range(0, len(spoken), TOGETHER):
        some = spoken[at : at + TOGETHER]
        begin = time.perf_counter()
        few = None if gain is None else gain[:, : len(some)]
        paths = recognise(model, some, request.left, request.right, few)
        took += time.perf_counter() - begin
        for number, count in zip(some, count_errors(some, paths), strict=True):
            edits[number.speaker] += count
            digits[number.speaker] += len(number.labels)
        yield
    seconds = sum(len(number.samples) for number in spoken) / RATE
    return DigitErrors(freeze(edits, np.int32), freeze(digits, np.int32), 1000 * took / seconds)


def _check(request: Request) -> Request:
    check_request(request)
    check_heads(request.silenced, {"speech": (LAYERS, HEADS)})
    return request


measure = serve_in_turns(_check, _measure)
