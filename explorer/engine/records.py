"""The records at the engine's border.

They are functions, answers, places in the queue, limits, figures and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from models.explaining.errors import InputError

T = TypeVar("T")

Function: TypeAlias = Callable[[list[Any]], Any] | str
"""A function that the engine runs, or its name "package.module:function".

It maps [request, …] to [result | InputError, …], or it yields. Each turn then gives a list with one
entry per request: the steps since the last turn (a list), at the request's end its result or
InputError (once), then None.

A request whose attribute `live` is true has a different result every time, for example a time that
a clock measures. It is computed by itself, one of its kind at a time, and its answer is not
remembered. Where `Engine.halt` stops it, `Stopped` is raised in its generator, which then yields
its result as far as it has come.
"""


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A result.

    milliseconds: the computing time of its batch, without waiting.
    known: whether it comes from the store.
    """

    value: T
    milliseconds: float
    device: str
    known: bool


@dataclass(frozen=True)
class QueuePlace:
    """The place of a request in the queue.

    place: 1 is next, 0 is running.
    of: the number of requests that wait.
    seconds: the estimated time until its result.
    """

    place: int
    of: int
    seconds: float


class OpenPage(str):
    """The name that an open page gave itself, with the address from which it asks.

    Limits count addresses too, because names cost nothing and addresses do.
    """

    address: str

    def __new__(cls, name: str, address: str = "") -> OpenPage:
        """Name a page.

        address: "" where it is not known.
        """
        page = super().__new__(cls, name)
        page.address = address
        return page


class Busy(InputError):
    """The queue is full, a visitor or address has too many requests, or the server is closing."""


class TooSlow(InputError):
    """The request used up its time of computing."""


class Failed(InputError):
    """A defect of ours, a damaged file, or too little memory.

    The cause is in the log and in `__cause__`.
    """


@dataclass(frozen=True)
class Limits:
    """The limits of one engine, for itself and for its visitors."""

    batch: int = 32  # requests in one call
    batch_wait: float = 0.010  # seconds that a call waits for others of its group
    batch_seconds: float = 2.0  # seconds of expected computing in one batch
    turn: float = 0.050  # seconds that a function that yields is advanced before others go
    # Batches of functions that yield, advanced in turns. One more may begin for an address that has
    # none of them.
    streams: int = 4
    # Seconds of computing below which streams of one address go one after the other.
    brief: float = 2.0
    queue: int = 600  # requests waiting
    session: int = 8  # requests of one visitor, waiting or running
    # Places of one address in a queue that is more than half full: a lecture hall is often behind a
    # single address.
    share: int = 300
    deadline: float = 20.0  # seconds of computing for a request
    # Seconds more for the first call of a function, which also reads its model.
    loading: float = 60.0
    store: int = 48 << 20  # bytes of remembered results
    updates: float = 0.1  # seconds between two updates of a stream, at least
    heartbeat: float = 0.5  # seconds between two notes of the place in the queue
    # Updates a second to all visitors together: the more visitors there are, the fewer each gets,
    # but one every 2 s.
    events: float = 60.0
    prompt: bool = False  # whether a request is told at once that its computing begins
    left_behind: int = 2  # threads that outlived a deadline and are still computing


LATENCIES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""The upper bounds in seconds, included, by which `Snapshot.latencies` counts.

The last entry of `Snapshot.latencies` counts what took longer.
"""


@dataclass(frozen=True)
class Snapshot:
    """The engine in numbers, counted since it began unless said otherwise."""

    waiting: int  # requests in the queue now
    running: int  # requests being computed now
    asked: int
    answered: int
    from_store: int  # answered at once, from a remembered result
    shared: int  # joined a run of the same request
    cancelled: int  # askers that left before their answer
    refused: int  # errors of class Busy
    input_errors: int
    failed: int  # defects and lack of memory
    too_slow: int
    out_of_memory: int  # batches
    batch_sizes: tuple[tuple[int, int], ...]  # (requests, how many batches)
    computing_seconds: float
    latencies: tuple[int, ...]  # runs by seconds from request to outcome, see LATENCIES
    latency_seconds: float  # the sum of those seconds
    store_bytes: int
    sessions: int  # visitors with requests waiting or running now


def queue_is_full(queue: int, seconds: float) -> Busy:
    """Return the error of a queue that has no place left.

    queue: places in the queue.
    seconds: the estimated time until all waiting requests are computed.
    """
    return Busy(
        "busy",
        en=(
            f"{queue} requests are waiting, about {seconds:.0f} s of work, which is all this server"
            " takes: please try again then."
        ),
        zh=(
            f"已有 {queue} 个请求在排队，约需 {seconds:.0f} 秒，"
            "服务器暂时不再接受新的请求：请届时再试。"
        ),
    )


def too_many_of_your_address(share: int, seconds: float) -> Busy:
    """Return the error of an address that asks for more than its share while others wait too."""
    return Busy(
        "busy",
        en=(
            f"{share} requests from your network are waiting, the most while the queue is half"
            f" full: please try again in {seconds:.0f} s."
        ),
        zh=(
            f"来自您网络的 {share} 个请求正在排队，队列过半时这是上限："
            f"请约 {seconds:.0f} 秒后再试。"
        ),
    )


def too_many_of_yours(most: int) -> Busy:
    """Return the error of a page that asks for too much at once."""
    return Busy(
        "busy",
        en=(
            f"{most} of your requests are still running or waiting, the most that one page may"
            " have: please wait for one of them."
        ),
        zh=f"您的页面已有 {most} 个请求在运行或排队，这是一个页面的上限：请等其中一个完成。",
    )


def the_clock_is_busy(seconds: float) -> Busy:
    """Return the error of a live run while another visitor times or trains.

    seconds: the estimated time until that run ends.
    """
    return Busy(
        "clock",
        en=(
            "This server is timing or training for another visitor, one run at a time: please try"
            f" again in {max(1, round(seconds))} s."
        ),
        zh=(
            "服务器正在为另一位访问者计时或训练，一次只进行一个："
            f"请 {max(1, round(seconds))} 秒后再试。"
        ),
    )


def is_closing() -> Busy:
    """Return the error of a server that goes down."""
    return Busy(
        "closing",
        en="The server is closing for a restart: please try again in a minute.",
        zh="服务器正在重新启动：请一分钟后再试。",
    )


def is_stuck() -> Busy:
    """Return the error of an engine whose threads have all outlived a deadline."""
    return Busy(
        "stuck",
        en="Computations that have outlived their time hold the models: please try again later.",
        zh="模型被超时的计算占用：请几分钟后再试。",
    )


def out_of_time(seconds: float) -> TooSlow:
    """Return the error of a request whose deadline has passed."""
    return TooSlow(
        "deadline",
        en=(
            f"This took more than {seconds:g} seconds of computing, the most that one request gets:"
            " please try a shorter input."
        ),
        zh=f"计算时间超过了单个请求的上限 {seconds:g} 秒：请缩短输入后再试。",
    )


def went_wrong() -> Failed:
    """Return the error of a defect of ours."""
    return Failed(
        "failed",
        en=(
            "Something in the program went wrong with this input; it is in the server's log. Other"
            " inputs still work."
        ),
        zh="程序在处理这个输入时出错，已记入服务器日志。其他输入不受影响。",
    )


def cannot_be_read() -> Failed:
    """Return the error of a damaged file that the function needs, for example its model."""
    return Failed(
        "damaged",
        en=(
            "This lab's model cannot be read; the file is named in the server's log. The other labs"
            " work."
        ),
        zh="本实验的模型无法读取，是哪个文件已记入服务器日志。其他实验不受影响。",
    )


def memory_ran_out() -> Failed:
    """Return the error of a batch that does not fit into memory even in halves."""
    return Failed(
        "memory",
        en=(
            "The server has too little free memory for this input just now: please try a shorter"
            " one, or again in a minute."
        ),
        zh="服务器目前没有足够的内存处理这个输入：请缩短输入，或一分钟后再试。",
    )


def is_away() -> Busy:
    """Return the error of a cluster that cannot be reached."""
    return Busy(
        "away",
        en=(
            "The machines that compute are out of reach just now; ready results still open: please"
            " try this again in a minute."
        ),
        zh="暂时连接不上负责计算的机器；已备好的结果仍可打开：请一分钟后再试。",
    )


def was_lost(live: bool) -> Failed:
    """Return the error of a run whose machine is gone.

    live: whether the run is live: a measurement cannot be repeated unnoticed, any other run was
    tried again.
    """
    if live:
        return Failed(
            "lost",
            en=(
                "The machine that timed or trained this has gone, and a live run is not repeated by"
                " itself: please start it again."
            ),
            zh="负责这次计时或训练的机器已退出，实时运行不会自动重来：请重新开始。",
        )
    return Failed(
        "lost",
        en=(
            "Three machines in a row were lost while they computed this: please try a shorter"
            " input, or again in a minute."
        ),
        zh="连续三台机器在计算这个输入时退出：请缩短输入，或一分钟后再试。",
    )


def other_version(here: str, there: str) -> Failed:
    """Return the error of a page and an answer that do not belong together.

    here, there: digests of the models on the web server and on the computing machine.
    """
    return Failed(
        "version",
        en=(
            f"The web server holds models of version {here}, the computing machine {there}: nothing"
            " is mixed; its operator must update one."
        ),
        zh=f"网页服务器的模型版本为 {here}，计算机器为 {there}：不会混用，须由管理员更新其中之一。",
    )
