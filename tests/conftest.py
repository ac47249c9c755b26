"""What all tests share: no network, and one server of the whole site for a run, whichever worker
asks for it first."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import gc
import json
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.support.visitors import served

pytest_plugins = ("tests.pages", "tests.visits", "tests.bench")

# One thread for each process of a run: those of two workers, their server and browsers would wait
# for each other by spinning.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# Python would go through the millions of objects of a run once more before it exits, which takes
# two seconds and frees nothing.
atexit.register(gc.freeze)
if "PYTEST_XDIST_WORKER" in os.environ:
    gc.disable()  # until all is loaded, see pytest_collection_finish

T = TypeVar("T")

ROOT = Path(__file__).parent.parent
PATIENCE = served.PATIENCE  # seconds that a start may take on a loaded machine
RUN = "EXPLORER_TEST_RUN"  # the folder that the workers of a run share, named in their environment
OWNER = "EXPLORER_TEST_OWNER"  # the process that began the run, likewise


def in_a_browser(item: pytest.Item) -> bool:
    """Does this test drive a browser?"""
    return "browser" in item.path.parts or "playwright_driver" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before the workers read the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Browser tests come last, but for the worker that does nothing else (`Groups`): once
    Playwright drives a browser, its loop runs in this thread, where asyncio.run is then refused.

    Before them come those that ask a server, which has stored results to make once it starts.
    Tests of one file go to one worker, unless they say otherwise: they share what the file has
        made.
    """
    items.sort(key=lambda item: (in_a_browser(item), "site" in getattr(item, "fixturenames", ())))
    # Tests of a group of their own share one page, and leave it to each other in the order in which
    # they are written; where the mark of the group has a number, of a mode of the page or of a
    # place among the others, the lowest come first.
    written = {
        item: (*mark.args[1:], number)
        for number, item in enumerate(items)
        if (mark := item.get_closest_marker("xdist_group"))
    }
    for item in items:
        if in_a_browser(item):
            item.add_marker(pytest.mark.browser)
        if {"running", "link", "slow"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("xdist_group") is None:
            where = " in a browser" if in_a_browser(item) else ""
            item.add_marker(
                pytest.mark.xdist_group(item.path.relative_to(ROOT / "tests").as_posix() + where)
            )
    told = Path(os.environ[RUN]) / f"groups-{os.getpid()}.json"
    told.write_text(
        json.dumps(
            {
                item.nodeid: (item.get_closest_marker("xdist_group").args[0], in_a_browser(item))
                for item in items
            }
        )
    )
    told.replace(told.with_name("groups.json"))
    yield
    # A page that tests share is opened once: those that ask for it, whichever of its modes each of
    # them wants, stand side by side, where the first of them stands. So walks, which wait for all
    # that the server makes once it starts, come late.
    firsts: dict[str, tuple[Any, int]] = {}
    for at, item in enumerate(items):
        group, place = item.get_closest_marker("xdist_group").args[0], (written.get(item, ()), at)
        firsts[group] = min(firsts.get(group, place), place)
    items.sort(
        key=lambda item: (
            firsts[item.get_closest_marker("xdist_group").args[0]][1],
            written.get(item, ()),
        )
    )


def pytest_collection_finish() -> None:
    """What is loaded by now is no garbage: Python does not look for some among these millions of
    objects again and again."""
    gc.freeze()
    gc.enable()


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """The tests of a group go to one worker, in order.

    xdist's own "loadgroup" tells its scheduler by renaming tests, which pytest takes no notice of
    since 9.2: groups were torn apart, and what they share was made again and again.
    """

    def schedule(self) -> None:
        """Begins, once all workers have collected their tests and said which group each belongs
        to."""
        self._groups: dict[str, tuple[str, bool]] = json.loads(
            (Path(os.environ[RUN]) / "groups.json").read_text()
        )
        chosen = [
            self._groups[nodeid] for nodeid in next(iter(self.registered_collections.values()))
        ]
        self._browsers = {group for group, driven in chosen if driven}
        # Where tests in a browser are few, no worker is set aside for them.
        many = 10 * sum(driven for _, driven in chosen) > len(chosen)
        self._driver = self.nodes[0] if many and len(self.nodes) > 1 else None
        super().schedule()

    def _assign_work_unit(self, node: Any) -> None:
        """The first worker drives a browser from the beginning on, two processes' work, beside what
        the others do first and often wait for.

        It can do nothing else once it has driven one; what is left of that, the others do.
        """
        if node is self._driver:
            if not (left := [group for group in self.workqueue if group in self._browsers]):
                return
            self.workqueue.move_to_end(left[0], last=False)
        super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        return self._groups[nodeid][0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups:
    """Who runs what."""
    return Groups(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Makes the folder that the workers share; they are started later, and so find it."""
    if not hasattr(config, "workerinput"):
        os.environ[RUN] = tempfile.mkdtemp(prefix="explorer-tests-")
        os.environ[OWNER] = str(os.getpid())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends what the workers shared, after the last of them."""
    if not hasattr(config, "workerinput"):
        folder = Path(os.environ.pop(RUN))
        if (folder / "site.json").exists():
            _end(json.loads((folder / "site.json").read_text())["pid"])
        shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Where the time goes, beside the slowest tests: how much longer each lab makes the run, which
    is the time of its tests over the number of workers; that time itself; and processor time, which
    a busy machine leaves alone."""
    if config.option.durations is None:
        return
    slugs = sorted(page.parent.name for page in (ROOT / "explorer" / "labs").glob("*/texts.py"))
    spent, workers = dict.fromkeys([*slugs, "no lab of its own"], 0.0), set()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if isinstance(report, pytest.TestReport):
            # Its name stands alone there: "[cost-phone]", "test_cost.py", "models/cost/"; not in
            # the name of a test, "…_costs_little".
            named = (
                rf"(?:\[|/|/test_){slug.removesuffix('_transformer')}(?:_\w+)?(?=[\]\-./])"
                for slug in slugs
            )
            lab = next(
                (
                    slug
                    for slug, name in zip(slugs, named, strict=True)
                    if re.search(name, report.nodeid)
                ),
                "no lab of its own",
            )
            spent[lab] += report.duration
            workers.add(getattr(report, "worker_id", "the only one"))
    terminalreporter.section(
        f"minutes of the run per lab; minutes of its tests, on {len(workers)} workers"
    )
    for lab, seconds in sorted(spent.items(), key=lambda one: -one[1]):
        terminalreporter.write_line(
            f"{seconds / max(1, len(workers)) / 60:6.2f} {seconds / 60:6.2f}  {lab}"
        )
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    terminalreporter.write_line(
        f"{cpu / 60:6.2f}  minutes of processor time, without those of the server that the workers"
        " share"
    )


def _end(pid: int) -> None:
    """Ends a process, by force after a while."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                signal.pidfd_send_signal(handle, number)
                if select.select([handle], [], [], 25)[0]:
                    return
        finally:
            os.close(handle)


def built(make: Callable[[], T]) -> T:
    """What `make` makes, inside a running event loop: outside of one, Gradio opens loops of its own
    and leaves them open."""

    async def inside() -> T:
        return make()

    # where a browser is driven, this thread has a running loop already
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, inside()).result()


class Running(served.Served):
    """The app as a visitor meets it: ``python app.py`` in a process of its own, on a port that
    survives a restart."""

    def start(self, ready: bool = True) -> None:
        """Starts it and waits until it answers; ready: until every lab's probe has been answered
        too."""
        super().start()
        try:
            self.until("/readyz" if ready else "/healthz")
        except RuntimeError as error:
            self.stop()
            pytest.fail(str(error))


def installed(folder: Path) -> None:
    """Makes a folder that holds what a Space installs and nothing else, as links to where it is
    installed here."""
    folder.mkdir()
    named = "".join((ROOT / name).read_text() for name in ("requirements.txt", "requirements.lock"))
    for name in re.findall(r"(?m)^([\w.-]+)==", named):
        # one that only another system needs
        with contextlib.suppress(metadata.PackageNotFoundError):
            one = metadata.distribution(name)
            for top in {
                file.parts[0]
                for file in one.files or ()
                if file.parts[0] not in {"..", "__pycache__"}
            }:
                if not (folder / top).exists():
                    (folder / top).symlink_to(one.locate_file(top))


class Shared(Running):
    """The whole site as one process for all workers of a run; whoever comes first starts it, and
    the end of the run ends it."""

    def __init__(self, folder: Path) -> None:
        """folder: what the workers share. Returns when the site is ready."""
        with (folder / "site.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._facts = folder / "site.json"
            port = json.loads(self._facts.read_text())["port"] if self._facts.exists() else None
            # Without "site" it finds what is put on its path alone. Its keeper ends it where a run
            # is killed.
            site = [sys.executable, "-S", "app.py", "--host", "127.0.0.1", "--port", "PORT"]
            super().__init__(
                ["tests/keeper.py", os.environ[OWNER], *site],
                port,
                PYTHONPATH=str(folder / "installed"),
            )
            self._log.close()
            self._log = (folder / "site.log").open("a+b")
            if port is None:
                installed(folder / "installed")
                self.start()
                # it outlives this worker, which Python would call a leak
                self.process.returncode = 0
                self._facts.write_text(json.dumps({"port": self.port, "pid": self.process.pid}))

    def stop(self) -> None:
        """Only a start that failed is ended here: others may be using it."""
        if not self._facts.exists():
            super().stop()


@pytest.fixture(scope="session")
def running() -> Iterator[Running]:
    """The whole site, served once for all tests of the run: nobody stops it or starts it again."""
    server = Shared(Path(os.environ[RUN]))
    yield server
    server.close()


@pytest.fixture(scope="session")
def site(running: Running) -> str:
    """The address of the running site, without a slash at its end."""
    return running.url
