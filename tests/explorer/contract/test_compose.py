"""deploy/compose.yaml: what it names is there, and its services, started as processes where Docker
is not at hand, do their parts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.explorer.asking import Stream, event, join
from tests.support.visitors.balanced import balanced
from tests.support.visitors.served import PATIENCE, free_port

ROOT = Path(__file__).parents[3]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(
    (ROOT / "deploy/compose.yaml").read_text("utf-8")
)["services"]
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text("utf-8")


def test_the_image_is_complete_without_root() -> None:
    copied = [
        word
        for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, flags=re.M)
        for word in line.split()
    ]
    assert all(any(ROOT.glob(word)) for word in copied), copied
    assert {"app.py", "assets", "benchmarks/results", "explorer", "models"} <= {*copied}
    let = [
        line[1:]
        for line in (ROOT / "deploy/Dockerfile.dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    ]
    assert all(any(word.startswith(one.rstrip("*")) for one in let) for word in copied)
    assert all(
        (ROOT / name).exists() for name in re.findall(r"requirements-cluster\.\w+", DOCKERFILE)
    )
    user = re.findall(r"^USER (\w+)$", DOCKERFILE, flags=re.M)
    assert user and user[-1] != "root" and f"useradd --create-home {user[-1]}" in DOCKERFILE


def test_services_name_what_exists() -> None:
    nginx = (ROOT / "deploy/nginx.conf").read_text("utf-8")
    webs = dict(re.findall(r"server (\w+):(\d+) ", nginx))
    assert webs.keys() < SERVICES.keys() and {*webs.values()} == {
        re.findall(r"EXPOSE (\d+)", DOCKERFILE)[0]
    }
    for service in SERVICES.values():
        assert {*service.get("depends_on", ())} <= SERVICES.keys()
        assert all(
            (ROOT / "deploy" / mounted.split(":")[0]).exists()
            for mounted in service.get("volumes", ())
        )
        if "build" in service:
            assert (
                ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]
            ).exists()
    assert re.findall(r"client_max_body_size (\w+);", nginx) == re.findall(
        r"client_body_buffer_size (\w+);", nginx
    ), "none goes to a disk"
    (port,) = re.findall(r"listen (\d+);", nginx)
    assert SERVICES["nginx"]["ports"][0].endswith(f":{port}")
    assert all(
        re.findall(r"head:(\d+)", str(one)) in ([], ["6379"], ["6379", "6379"])
        for one in SERVICES.values()
    )


@contextmanager
def started(
    name: str, head: int, folder: Path, said: str = "Ray runtime started", **environment: str
) -> Iterator[Path]:
    """A service's command as a process of this machine, once it has said so. head: the port of
    Ray's head."""
    service = SERVICES[name]
    command = (
        service["command"]
        .replace("head:6379", f"127.0.0.1:{head}")
        .replace("--port=6379", f"--port={head} --temp-dir={folder}/r")
    )
    command = command.replace("ray start", "ray start --node-ip-address=127.0.0.1").replace(
        "python app.py", "python -m benchmarks.cluster $PORT"
    )
    settings = {
        key: str(value).replace("head:6379", f"127.0.0.1:{head}")
        for key, value in service["environment"].items()
    }
    path = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }
    path["RAY_raylet_start_wait_time_s"] = f"{PATIENCE:.0f}"
    log = folder / f"{name}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=ROOT,
            env=os.environ | path | settings | environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + PATIENCE
        while said not in log.read_text():
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield log
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)


@pytest.mark.slow
def test_a_worker_answers_a_visitor() -> None:
    """One worker of two with one replica, one web server of two alike, with a stand-in of a lab:
    each takes a Ray node."""
    assert SERVICES["web1"] == SERVICES["web2"]
    head, port = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="c-") as where, ExitStack() as services:
        for name in ("head", "worker"):
            services.enter_context(started(name, head, Path(where)))
        more = {"PORT": str(port), "EXPLORER_REPLICAS": "1"}
        services.enter_context(started("web1", head, Path(where), "Listening on", **more))
        url = f"http://127.0.0.1:{services.enter_context(balanced([port]))}"
        join(
            url,
            event(url, "/translation", "ask"),
            {"query": "", "set": {"sentence": "Two dogs run."}},
            "visitor",
        )
        stream = Stream(url, "visitor")
        assert stream.until(lambda message: message["msg"] == "process_completed")["success"]
        stream.close()
