"""What the server gives, and how it comes and leaves."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import brotli
import httpx
import pytest

from explorer.components import base
from explorer.engine import Engine, Limits
from explorer.labs import LABS
from explorer.values import packing
from explorer.web.launch import main, open_socket
from explorer.web.server import Site
from tests.conftest import RUN, Running, built
from tests.explorer.asking import ask, raw
from tests.explorer.engine.fakes import Echo, asked, until, values
from tests.explorer.web.test_site import lab

# --- what is served
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("coding", "read"), [("br", brotli.decompress), ("gzip", gzip.decompress)])
def test_plotly_travels_compressed_and_is_fetched_once(site: str, coding: str, read: Any) -> None:
    address = base.write_vendor_address("plotly")
    status, body, headers = raw(
        site, "GET", address, headers={"accept-encoding": f"x, {coding};q=0.9"}
    )
    assert status == 200 and headers["content-encoding"] == coding
    assert (
        headers["cache-control"] == "public, max-age=31536000, immutable"
        and headers["vary"] == "accept-encoding"
    )
    assert read(body) == base.find_vendor_file("plotly").read_bytes()
    assert len(body) < 1_700_000
    again = raw(
        site, "GET", address, headers={"if-none-match": headers["etag"], "accept-encoding": coding}
    )
    assert again[0] == 304 and not again[1]


def test_the_site_finds_installed_packages(site: str) -> None:
    keeper = json.loads((Path(os.environ[RUN]) / "site.json").read_text())["pid"]
    path = re.search(r"(?:^|\0)PYTHONPATH=([^\0]+)", Path(f"/proc/{keeper}/environ").read_text())
    assert path
    finds = (
        "import importlib.util as u; print(*(n for n in 'gradio torch bertviz pytest ray"
        " playwright'.split() if u.find_spec(n)))"
    )
    found = subprocess.run(
        [sys.executable, "-S", "-c", finds],
        env={"PYTHONPATH": path[1]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["gradio", "torch", "bertviz"]


def test_scripts_are_kept_by_version(
    shell: Site,
) -> None:
    new, old = (
        ask(shell, base.write_frontend_address("lib/dom.js")),
        ask(shell, "/ui/000000000000/frontend/lib/dom.js"),
    )
    assert new.text == old.text == (base.FOLDER / "lib/dom.js").read_text("utf-8")
    assert (
        "immutable" in new.headers["cache-control"] and old.headers["cache-control"] == "no-cache"
    )
    assert new.headers["content-type"].startswith("application/javascript")


def test_a_page_survives_a_lost_connection(
    shell: Site,
) -> None:
    (name,) = (name for name in shell.gradio_files.files if re.fullmatch(r"Blocks-.*\.js", name))
    script = ask(shell, f"/assets/{name}").text
    assert "on_connection_lost_cb" in script and "connection_lost=!0" not in script
    number = ask(shell, "/gradio_api/app_id").json()["app_id"]
    assert number == built(lambda: Site(shell.labs)).blocks.app_id
    assert f'"app_id":{number}' in ask(shell, "/").text.replace(" ", "")


def test_the_style_sheet_arrives_before_the_first_paint(shell: Site) -> None:
    address = re.search(r'<link rel="stylesheet" href="(/ui/[\w/]+\.css)"', ask(shell, "/").text)
    assert address is not None
    sheet = ask(shell, address[1])
    assert "--paper" in sheet.text and "immutable" in sheet.headers["cache-control"]


def test_an_array_is_given_by_its_digest(shell: Site) -> None:
    digest = packing.array_store().put(b"abc" * 50_000)
    answer = ask(shell, f"/arrays/{digest}")
    assert answer.content == b"abc" * 50_000 and "immutable" in answer.headers["cache-control"]
    gone = ask(shell, "/arrays/00000000")
    assert gone.status_code == 404 and "running the input again" in gone.text


def test_a_framed_document_has_no_origin_and_no_network(shell: Site) -> None:
    digest = packing.frame_store().put("<p>头</p>".encode())
    answer = ask(shell, f"/frames/{digest}")
    assert answer.text == "<p>头</p>"
    policy = answer.headers["content-security-policy"]
    assert (
        policy.startswith("sandbox allow-scripts; default-src 'none'")
        and "connect-src" not in policy
        and "allow-same-origin" not in policy
    )
    assert ask(shell, "/frames/x").status_code == 404


def test_a_code_is_drawn_for_an_address_of_this_site_only(shell: Site) -> None:
    answer = ask(shell, "/qr", params={"text": "http://here/translation?v=1&sentence=a"})
    assert answer.headers["content-type"].startswith("image/svg+xml") and "<svg" in answer.text
    for text in (
        "https://evil.example/",
        "javascript:alert(1)",
        "",
        "http://[",
        "http://here@evil.example/",
        "//here/",
    ):
        assert ask(shell, "/qr", params={"text": text}).status_code == 400
    assert ask(shell, "/qr", params={"text": "http://here/?a=" + "b" * 3000}).status_code == 400


HERE, LAN = {"host": "localhost:7860"}, {"host": "192.168.1.7:7860"}
# by a proxy that asks under a name of its own
PROXIED = {"host": "127.0.0.1:7860", "referer": "https://public.example/translation?v=1"}


@pytest.mark.parametrize(
    ("address", "headers", "settings", "status"),
    [
        ("http://localhost:7860/", HERE, {}, 200),
        ("http://192.168.1.7:7860/translation", LAN, {}, 200),
        ("https://me-explorer.hf.space/", {"host": "me-explorer.hf.space"}, {}, 200),
        (
            "https://me-explorer.hf.space/",
            {"host": "10.0.0.9:7860"},
            {"SPACE_HOST": "me-explorer.hf.space"},
            200,
        ),
        ("https://public.example/", {**PROXIED, "sec-fetch-site": "same-origin"}, {}, 200),
        ("http://public.example/", {**PROXIED, "x-forwarded-host": "public.example"}, {}, 200),
        ("https://public.example/", HERE, {"EXPLORER_HOSTS": "localhost, Public.example"}, 200),
        ("http://public.example:8080/", HERE, {"EXPLORER_HOSTS": "public.example"}, 200),
        ("http://localhost:7860/", HERE, {"EXPLORER_HOSTS": "public.example"}, 400),
        ("https://evil.example/", {**HERE, "x-forwarded-host": "evil.example"}, {}, 400),
        (
            "https://evil.example/",
            {**HERE, "referer": "https://evil.example/", "sec-fetch-site": "cross-site"},
            {},
            400,
        ),
        ("https://evil.example/", {**HERE, "referer": "https://evil.example/"}, {}, 400),
        (
            "https://evil.example/",
            {**HERE, "referer": "https://[/", "sec-fetch-site": "same-origin"},
            {},
            400,
        ),
        ("https:///", {**HERE, "referer": "", "sec-fetch-site": "same-origin"}, {}, 400),
        (
            "https://evil.example/",
            {**HERE, "x-forwarded-host": "evil.example"},
            {"EXPLORER_HOSTS": "public.example"},
            400,
        ),
    ],
)
def test_a_code_is_drawn_under_the_names_that_are_believed(
    shell: Site,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    headers: dict[str, str],
    settings: dict[str, str],
    status: int,
) -> None:
    for name in ("EXPLORER_HOSTS", "SPACE_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert ask(shell, "/qr", params={"text": address}, headers=headers).status_code == status


# --- health
# --------------------------------------------------------------------------------------------------


def readiness(site: Site) -> tuple[httpx.Response, httpx.Response]:
    """What /readyz says before the server listens and after its preparations."""

    async def through() -> tuple[httpx.Response, httpx.Response]:
        async with (
            site.app.router.lifespan_context(site.app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app=site.gate), base_url="http://here"
            ) as client,
        ):
            before = await client.get("/readyz")
            site.readiness.listening.set()
            while site.readiness.waiting:
                await asyncio.sleep(0.01)
            return before, await client.get("/readyz")

    return asyncio.run(through())


@pytest.mark.parametrize("broken", [False, True])
def test_the_server_is_ready_after_probes(
    broken: bool,
) -> None:
    async def probe(engine: Engine) -> None:
        await asyncio.sleep(0)
        if broken:
            raise RuntimeError("the checkpoint is broken")

    before, after = readiness(built(lambda: Site([lab(probe=probe)])))
    assert (before.status_code, before.json()["waiting"]) == (503, [LABS[0].slug])
    assert (after.status_code, after.json()["ready"]) == ((503, False) if broken else (200, True))
    assert (
        after.json()["failed"] == ({LABS[0].slug: "RuntimeError"} if broken else {})
        and "checkpoint" not in after.text
    )


def test_readyz_names_a_stuck_engine() -> None:
    stuck = Echo(held=True)
    engine = Engine(limits=Limits(loading=0.0, deadline=0.2, heartbeat=0.02, batch=1))
    site = built(lambda: Site([], engine))

    async def through() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=site.gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            answers = [await client.get("/readyz")]
            await values(asked(engine, stuck, "a", "b"))
            answers.append(await client.get("/readyz"))
            stuck.free.set()
            await until(lambda: not engine.is_stuck)
            return [*answers, await client.get("/readyz")]

    before, during, after = asyncio.run(through())
    assert [answer.json()["stuck"] for answer in (before, after)] == [None, None]
    assert during.status_code == 503 and "outlived their time" in during.json()["stuck"]
    assert during.json()["ready"] is False


def test_the_running_server_is_alive_and_ready_and_says_so(site: str, running: Running) -> None:
    assert raw(site, "GET", "/healthz")[0] == 200
    status, body, _ = raw(site, "GET", "/readyz")
    assert status == 200 and set(json.loads(body)["answered_s"]) == {
        lab.slug for lab in LABS if lab.probe
    }
    assert "Listening on" in running.log() and "Ready after" in running.log()


async def test_the_second_part_goes_out_at_once() -> None:
    listener = open_socket("127.0.0.1", 0)
    delay: asyncio.Queue[int] = asyncio.Queue()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        delay.put_nowait(
            writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        )
        writer.close()

    async with await asyncio.start_server(connected, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        writer.close()
        assert await delay.get()


# --- the command line and the exit
# ----------------------------------------------------------------------------------


def test_a_port_that_is_taken_or_beyond_the_last_is_named(running: Running) -> None:
    for port in (str(running.port), "99999"):
        with pytest.raises(SystemExit, match=port):
            main(["--host", "127.0.0.1", "--port", port])
