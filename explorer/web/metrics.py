"""The server's metrics, in the text format that Prometheus reads.

They say how many, how long and how large; never by whom.
"""

from __future__ import annotations

import resource
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from explorer.engine.records import LATENCIES, Snapshot

# Upper bounds in seconds by which answers are counted.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32)  # the same for batches, in requests

KIND = "text/plain; version=0.0.4"

Labels = Mapping[str, object]
Sample = tuple[str, Labels, float]  # suffix of the name, labels, value


class Traffic:
    """The requests that passed the gate since the start, by route.

    A route is one of few names, whatever the visitor's address was.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._bytes: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._counts: dict[str, list[int]] = {}

    def count_answer(self, route: str, method: str, status: int, sent: int, seconds: float) -> None:
        """Count one more answer, whose body of `sent` bytes left within `seconds`."""
        self._answers[route, method, status] += 1
        self._bytes[route] += sent
        self._seconds[route] = self._seconds.get(route, 0.0) + seconds
        self._counts.setdefault(route, [0] * (len(SECONDS) + 1))[bisect_left(SECONDS, seconds)] += 1

    def write_text(self) -> str:
        """Return the counts as text."""
        answers = [
            ("_total", {"route": r, "method": m, "status": s}, n)
            for (r, m, s), n in sorted(self._answers.items())
        ]
        sent = [("_total", {"route": route}, n) for route, n in sorted(self._bytes.items())]
        took = [
            sample
            for route in sorted(self._counts)
            for sample in write_histogram(
                SECONDS, self._counts[route], self._seconds[route], {"route": route}
            )
        ]
        return "".join(
            [
                write_family(
                    "explorer_requests",
                    "counter",
                    "Requests, by route, method and status.",
                    answers,
                ),
                write_family(
                    "explorer_request_seconds",
                    "histogram",
                    "Time from the request to the end of its answer.",
                    took,
                ),
                write_family("explorer_sent_bytes", "counter", "Bodies sent.", sent),
                write_family(
                    "explorer_requests_under_way",
                    "gauge",
                    "Requests being answered now, streams included.",
                    [write_gauge(self.under_way)],
                ),
            ]
        )


def describe_engine(seen: Snapshot) -> str:
    """Return the engine's figures as text."""
    names = (
        "asked",
        "answered",
        "from_store",
        "shared",
        "cancelled",
        "refused",
        "input_errors",
        "failed",
        "too_slow",
    )
    sizes = [0] * (len(SIZES) + 1)
    for size, count in seen.batch_sizes:
        sizes[bisect_left(SIZES, size)] += count
    took = write_histogram(LATENCIES, seen.latencies, seen.latency_seconds)
    together = write_histogram(SIZES, sizes, sum(size * count for size, count in seen.batch_sizes))
    runs = [("_total", {"outcome": name}, getattr(seen, name)) for name in names]
    now = [write_gauge(seen.waiting, state="waiting"), write_gauge(seen.running, state="running")]
    return "".join(
        [
            write_family("explorer_runs", "counter", "Requested runs, by outcome.", runs),
            write_family(
                "explorer_run_seconds", "histogram", "Time from the request to its outcome.", took
            ),
            write_family("explorer_batch_size", "histogram", "Runs computed together.", together),
            write_family(
                "explorer_computing_seconds",
                "counter",
                "Time spent in models.",
                [("_total", {}, seen.computing_seconds)],
            ),
            write_family(
                "explorer_out_of_memory",
                "counter",
                "Batches that did not fit into memory.",
                [("_total", {}, seen.out_of_memory)],
            ),
            write_family("explorer_queue", "gauge", "Runs now.", now),
            write_family(
                "explorer_sessions",
                "gauge",
                "Pages with runs waiting or running.",
                [write_gauge(seen.sessions)],
            ),
        ]
    )


def describe_stores(stores: Mapping[str, float]) -> str:
    """Return the bytes of bounded stores, by name, as text."""
    return write_family(
        "explorer_held_bytes",
        "gauge",
        "Bytes in bounded stores.",
        [write_gauge(n, store=name) for name, n in stores.items()],
    )


def describe_process() -> str:
    """Return the memory and processor time of this process as text."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return write_family(
        "process_cpu_seconds",
        "counter",
        "Processor time.",
        [("_total", {}, used.ru_utime + used.ru_stime)],
    ) + write_family(
        "process_resident_memory_bytes",
        "gauge",
        "Memory in use.",
        [write_gauge(read_resident_memory())],
    )


def write_gauge(value: float, **labels: object) -> Sample:
    """Return a sample of a gauge."""
    return "", labels, value


def read_resident_memory() -> int:
    """Return the bytes of memory that this process uses now."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize()


def write_histogram(
    bounds: Sequence[float], counts: Sequence[int], total: float, labels: Labels | None = None
) -> list[Sample]:
    """Return the samples of a histogram.

    counts: one for each bound, upper bounds included, and one beyond.
    total: the sum of the counted values.
    """
    common = dict(labels or {})
    upper = [*map(str, bounds), "+Inf"]
    below = list(accumulate(counts))
    buckets: list[Sample] = [
        ("_bucket", {**common, "le": bound}, n) for bound, n in zip(upper, below, strict=True)
    ]
    return [*buckets, ("_sum", common, total), ("_count", common, below[-1])]


def write_family(name: str, kind: str, help_: str, samples: Iterable[Sample]) -> str:
    """Return one family of samples with its head."""
    full = f"{name}_total" if kind == "counter" else name
    lines = [f"# HELP {full} {help_}", f"# TYPE {full} {kind}"]
    for suffix, labels, value in samples:
        inside = ",".join(f'{key}="{_escape_label(str(text))}"' for key, text in labels.items())
        lines.append(
            f"{name}{suffix}{{{inside}}} {value!r}" if inside else f"{name}{suffix} {value!r}"
        )
    return "\n".join(lines) + "\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
