"""The engines that these tests run over: the one that computes in this process, and that of a
cluster, a Ray of this machine."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.cluster import Cluster, Courier, Link
from explorer.cluster.replica import Key
from explorer.engine import Engine, Limits, Snapshot
from explorer.engine.runs import Work
from tests.explorer.engine.fakes import PATIENCE
from tests.explorer.engine.lent import Lender

RAY = "ray"  # the group of the tests over the cluster
CLUSTER = pytest.StashKey[Link]()  # the way to it, while there is one
HERE_ALONE = {
    "test_a_shared_request_goes_first": "who joins a request is known to the web server alone",
    "test_without_a_thread_the_next_is_served": "the thread is one of this process",
    "test_a_stuck_engine_refuses_who_waits": "Ray would replace the replica of all tests",
    "test_a_call_nobody_follows_is_left_behind": "Ray would replace the replica of all tests",
    "test_a_view_counts_as_the_array_it_keeps_alive": (
        "what has travelled is a copy, and keeps nothing else alive"
    ),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test that makes or takes an engine runs over both."""
    function, fixtures = metafunc.function, metafunc.fixturenames
    makes = "Engine" in function.__code__.co_names or "engine" in fixtures
    if "kind" in fixtures and makes and function.__name__ not in HERE_ALONE:
        cluster = pytest.param("cluster", marks=[pytest.mark.xdist_group(RAY), pytest.mark.slow])
        metafunc.parametrize("kind", ["process", cluster], indirect=True)


def pytest_configure(config: pytest.Config) -> None:
    """The mark by which a test names the limits of its engine."""
    config.addinivalue_line("markers", "limits(**named): of the engine of this test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Ends the Ray with the last test of its group: it is never quite at rest, and would take its
    share until the end of the run."""
    yield
    group = nextitem and nextitem.get_closest_marker("xdist_group")
    if CLUSTER in item.config.stash and not (group and group.args == (RAY,)):
        item.config.stash[CLUSTER].close()
        del item.config.stash[CLUSTER]


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    """Which engine it is."""
    return str(getattr(request, "param", "process"))


@pytest.fixture(autouse=True)
def _either(kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "cluster":
        monkeypatch.setattr(request.module, "Engine", request.getfixturevalue("over_the_cluster"))


@pytest.fixture
def engine(kind: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """One yield a turn, and no time for loading a model; or with the limits that the test is marked
    with."""
    make: Callable[..., Engine] = (
        request.getfixturevalue("over_the_cluster") if kind == "cluster" else Engine
    )
    named = request.node.get_closest_marker("limits")
    made = make(limits=Limits(**(named.kwargs if named else {"turn": 0.0, "loading": 0.0})))
    yield made
    made.close(0.0)


class Lending(Courier):
    """Lends the functions of a test to the replicas."""

    lender: Lender

    def name_function(self, work: Work) -> Any:
        return self.lender.lend(work.name)


class Lasting(Cluster):
    """An engine whose way to the cluster outlasts it: one for all tests."""

    def close(self, grace: float = 20.0) -> bool:
        return Engine.close(self, grace)

    def snapshot(self) -> Snapshot:
        """Once all that was asked has arrived in the replica: what a test does then comes after
        that there too."""
        courier: Any = self._worker
        while not self._scheduler.closing and courier.told - courier.heard:
            courier.hear_news()
        return super().snapshot()


@pytest.fixture(scope="session")
def link(pytestconfig: pytest.Config) -> Link:
    """A Ray of this machine: one replica for what an engine of one thread does, and a pair for what
    becomes of one that is lost."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    # a short name: sockets lie in it
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"ray-{os.getpid()}"
    made = Link(
        "",
        "tests.explorer.engine.lent:version",
        {"all": "1", "pair": "2"},
        cpus=0.1,
        memory=100,
        folder=str(folder),
    )
    pytestconfig.stash[CLUSTER] = made
    assert made.up.wait(300)
    return made


@pytest.fixture(scope="session")
def over_the_cluster(link: Link) -> Callable[..., Engine]:
    """Makes engines of the cluster, each with one of its own in the replica."""
    numbers, engines = itertools.count(), list[Cluster]()

    def called(function: Any, requests: list[Any]) -> None:
        """Returns once its engine has heard that these run: what a test does now, it does after
        that."""
        runs = [
            run
            for run in engines[-1]._scheduler.runs.values()
            if run.work.name is function and run.request in requests
        ]
        end = time.monotonic() + PATIENCE
        while any(run in engines[-1]._scheduler.waiting for run in runs) and time.monotonic() < end:
            time.sleep(0.002)

    lender = Lender(called)

    def make(device: str = "cpu", limits: Limits | None = None) -> Engine:
        name = f"test {next(numbers)}"
        made = Lasting(link, device, limits, name)
        made._worker = Lending(
            made._scheduler,
            link,
            Key(
                name,
                device,
                replace(
                    made.limits, batch_wait=made.limits.batch_wait and made.limits.batch_wait + 0.05
                ),
            ),
        )
        made._worker.lender = lender
        engines.append(made)
        return made

    return make
