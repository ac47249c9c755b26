"""What the server gives, to whom, under which headers; what it refuses; and how it leaves."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import re
import signal
import threading
from collections.abc import Iterator
from typing import Any

import brotli
import httpx
import pytest

from explorer import packing
from explorer.document import digests
from explorer.engine import Engine
from explorer.gate import ADDRESS, BODY, PERMISSIONS
from explorer.labs import LABS
from explorer.server import Site, main
from explorer.widgets import base
from tests.conftest import Running, built
from tests.explorer.test_site import lab

TRAVERSAL = [
    *("/../app.py", "/ui/../../app.py", "/ui/x/../base.py", "/ui/x/..%2f..%2fapp.py", "/ui/x/%2e%2e/%2e%2e/app.py", "/ui/x//etc/passwd"),
    *("/ui/x/base.py", "/ui/x/%00", "/ui/x/lib%5cdom.js", "/ui/x/lib/..%5c..%5cbase.py", "/ui/x/", "/ui/x/lib", "/ui//x/lib/dom.js"),
    *("/vendor/x/../../../etc/passwd", "/vendor/x/..%2f__init__.py", "/vendor/x/requests.js", "/vendor/x/plotly.py", "/vendor/"),
    *("/assets/../index.html", "/assets/..%2f..%2froutes.py", "/assets/%2e%2e/share.html", "/assets//etc/passwd", "/assets/index.html"),
    *("/arrays/../app.py", "/arrays/..%2f..%2fapp.py", "/arrays/%2e%2e%2f", "/frames/..%2fapp.py", "/frames/%252e%252e%252fapp.py"),
    *("/gradio_api/file=app.py", "/gradio_api/file=/etc/passwd", "/gradio_api/file%3d/etc/passwd", "/gradio_api/file/etc/passwd"),
    *("/file=/etc/passwd", "/file/etc/passwd", "//etc/passwd", "/./etc/passwd", "/static/../routes.py", "/svelte/../../routes.py"),
    *("/gradio_api/proxy=https://example.com/", "/proxy=http://localhost/", "/gradio_api/stream/a/0/1/playlist.m3u8"),
    *("/custom_component/1/client/component/index.js", "/gradio_api/custom_component/1/client/component/..%2findex.js"),
]
SHUT = [
    *(("GET", f"/{path}") for path in ("config", "monitoring", "monitoring/x", "docs", "openapi.json", "robots.txt", "manifest.json")),
    *(
        ("GET", f"/gradio_api/{path}")
        for path in ("info", "openapi.json", "runs", "heartbeat/x", "user", "token", "deep_link", "mcp", "dev/reload")
    ),
    *(
        ("POST", f"/gradio_api/{path}")
        for path in ("upload", "run/predict", "api/run", "call/run", "component_server", "process_recording")
    ),
    *(("POST", path) for path in ("/login", "/", "/translation", "/readyz", "/ui/x/lib/dom.js")),
    *(("PUT", "/"), ("DELETE", "/arrays/x"), ("OPTIONS", "/gradio_api/queue/join"), ("TRACE", "/"), ("GET", "/static/img/logo.svg")),
]


def ask(site: Site, path: str, method: str = "GET", **settings: Any) -> httpx.Response:
    """One request to the application, without a network."""

    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=site.gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.request(method, path, **settings)

    return asyncio.run(once())


def raw(url: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, bytes, dict[str, str]]:
    """One request to the running server exactly as written: no client mends the path."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


@pytest.fixture(scope="module")
def shell() -> Iterator[Site]:
    """The application without a lab: everything but a model."""
    site = built(lambda: Site(()))
    yield site
    site.engine.close(0)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TRAVERSAL)
def test_no_path_leads_out_of_what_is_served(site: str, path: str) -> None:
    status, body, headers = raw(site, "GET", path)
    assert status == 404, path
    assert len(body) < 200 and b"import" not in body and b"root:" not in body
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("method", "path"), SHUT, ids=lambda part: str(part))
def test_what_no_page_asks_for_is_shut(site: str, method: str, path: str) -> None:
    assert raw(site, method, path)[0] == 404


def test_a_request_too_large_is_refused_before_it_is_read(site: str) -> None:
    join = "/gradio_api/queue/join"
    assert raw(site, "POST", join, headers={"content-length": str(BODY + 1)})[0] == 413
    assert raw(site, "POST", join, headers={"content-length": "99999999999999999999"})[0] in {400, 413}
    assert raw(site, "GET", "/?" + "a" * (ADDRESS + 1))[0] in {400, 414}


def test_a_body_that_does_not_tell_its_size_is_bounded_too(site: str) -> None:
    chunk = b"x" * (1 << 20)
    connection = http.client.HTTPConnection(site.removeprefix("http://"), timeout=60)
    try:
        connection.request("POST", "/gradio_api/queue/join", iter([chunk] * 6), {"content-type": "application/json"}, encode_chunked=True)
        status = connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        status = 413  # the server closed before all was sent
    finally:
        connection.close()
    assert status == 413


@pytest.mark.parametrize("origin", ["https://evil.example", "http://here.evil.example", "null", "http://127.0.0.1"])
def test_other_sites_cannot_ask_in_a_visitors_name(site: str, origin: str) -> None:
    status, _, headers = raw(site, "POST", "/gradio_api/queue/join", b"{}", {"origin": origin, "content-type": "application/json"})
    assert status == 403
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("site_of_the_page", "allowed"), [("same-origin", True), ("none", True), ("same-site", False), ("cross-site", False)]
)
def test_what_the_browser_itself_says_of_a_request_counts_behind_any_proxy(shell: Site, site_of_the_page: str, allowed: bool) -> None:
    headers = {"sec-fetch-site": site_of_the_page, "origin": "https://public.name", "host": "inside:7860"}
    answer = ask(shell, "/gradio_api/queue/join", "POST", content=b"{", headers=headers)
    assert (answer.status_code != 403) == allowed


def test_no_answer_lets_another_site_read_it(site: str) -> None:
    for path in ("/", "/readyz", "/theme.css", "/gradio_api/app_id"):
        _, _, headers = raw(site, "GET", path, headers={"origin": "https://evil.example"})
        assert not [name for name in headers if name.startswith("access-control")], path


def test_our_own_pages_may_ask(site: str) -> None:
    status, body, _ = raw(site, "POST", "/gradio_api/queue/join", b"{}", {"origin": site, "content-type": "application/json"})
    assert status not in {403, 404} and b"Traceback" not in body


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"data": 1}', b"\xff\xfe", b'{"fn_index": 99999, "session_hash": "a", "data": []}', b"null"]
)
def test_a_broken_event_is_refused_without_a_traceback(site: str, body: bytes) -> None:
    status, answer, _ = raw(site, "POST", "/gradio_api/queue/join", body, {"content-type": "application/json"})
    assert 400 <= status < 600
    assert b"Traceback" not in answer and b".py" not in answer


# --- headers --------------------------------------------------------------------------------------------------------


def test_a_page_carries_the_policy_that_lets_only_our_own_host_in(shell: Site) -> None:
    answer = ask(shell, "/")
    headers = dict(answer.headers)
    for varying in ("content-length", "content-encoding", "etag"):
        headers.pop(varying, None)
    assert headers == {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "vary": "accept-encoding",
        "content-security-policy": (
            f"default-src 'none'; script-src 'self' {' '.join(digests(answer.text))} 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; media-src 'self' blob:; "
            "manifest-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'self' https://huggingface.co https://*.hf.space"
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "permissions-policy": PERMISSIONS,
        "cross-origin-opener-policy": "same-origin-allow-popups",
    }
    assert "unsafe-inline" not in headers["content-security-policy"].partition("style-src")[0]


def test_a_page_that_has_not_changed_is_not_sent_again(shell: Site) -> None:
    first = ask(shell, "/")
    assert first.headers["content-encoding"] == "br" and ask(shell, "/", "HEAD").content == b""
    again = ask(shell, "/?sentence=another", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304 and again.headers["content-security-policy"] == first.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/nothing", "/theme.css", "/arrays/x", "/favicon.ico"])
def test_every_other_answer_may_neither_run_nor_be_framed(shell: Site, path: str) -> None:
    headers = ask(shell, path).headers
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff" and "server" not in headers


def test_a_page_names_no_other_host(shell: Site) -> None:
    addresses = re.findall(r"https?://[\w.-]+", ask(shell, "/").text)
    assert set(addresses) <= {"http://here", "http://www.w3.org"}


def test_a_visitors_host_name_stays_with_that_visitor(shell: Site) -> None:
    assert "evil.example" in ask(shell, "/", headers={"host": "evil.example"}).text
    ask(shell, "/", headers={"x-forwarded-prefix": "/evil.example", "x-gradio-server": "https://evil.example", "cookie": "a=evil.example"})
    assert "evil.example" not in ask(shell, "/").text
    for i in range(100):
        ask(shell, "/", headers={"host": f"h{i}.example"})
    assert len(shell.gate._pages) <= 64


# --- what is served -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("coding", "read"), [("br", brotli.decompress), ("gzip", gzip.decompress)])
def test_plotly_travels_compressed_and_is_fetched_once(site: str, coding: str, read: Any) -> None:
    address = base.vendor("plotly")
    status, body, headers = raw(site, "GET", address, headers={"accept-encoding": f"x, {coding};q=0.9"})
    assert status == 200 and headers["content-encoding"] == coding
    assert headers["cache-control"] == "public, max-age=31536000, immutable" and headers["vary"] == "accept-encoding"
    assert read(body) == base.vendor_file("plotly").read_bytes()
    assert len(body) < 1_700_000
    again = raw(site, "GET", address, headers={"if-none-match": headers["etag"], "accept-encoding": coding})
    assert again[0] == 304 and not again[1]


def test_our_scripts_are_kept_for_ever_under_their_version_and_checked_under_any_other(shell: Site) -> None:
    new, old = ask(shell, base.asset("lib/dom.js")), ask(shell, "/ui/000000000000/lib/dom.js")
    assert new.text == old.text == (base.FOLDER / "lib/dom.js").read_text("utf-8")
    assert "immutable" in new.headers["cache-control"] and old.headers["cache-control"] == "no-cache"
    assert new.headers["content-type"].startswith("application/javascript")


def test_the_style_sheet_arrives_before_the_first_paint(shell: Site) -> None:
    address = re.search(r'<link rel="stylesheet" href="(/ui/[\w/]+\.css)"', ask(shell, "/").text)
    assert address is not None
    sheet = ask(shell, address[1])
    assert "--paper" in sheet.text and "immutable" in sheet.headers["cache-control"]


def test_an_array_is_given_by_its_digest_and_a_forgotten_one_says_so(shell: Site) -> None:
    digest = packing.arrays().put(b"abc" * 50_000)
    answer = ask(shell, f"/arrays/{digest}")
    assert answer.content == b"abc" * 50_000 and "immutable" in answer.headers["cache-control"]
    gone = ask(shell, "/arrays/00000000")
    assert gone.status_code == 404 and "running the input again" in gone.text


def test_a_framed_document_has_no_origin_and_no_network(shell: Site) -> None:
    digest = packing.frames().put("<p>头</p>".encode())
    answer = ask(shell, f"/frames/{digest}")
    assert answer.text == "<p>头</p>"
    policy = answer.headers["content-security-policy"]
    assert (
        policy.startswith("sandbox allow-scripts; default-src 'none'") and "connect-src" not in policy and "allow-same-origin" not in policy
    )
    assert ask(shell, "/frames/x").status_code == 404


def test_a_code_is_drawn_for_an_address_of_this_site_only(shell: Site) -> None:
    answer = ask(shell, "/qr", params={"text": "http://here/translation?v=1&sentence=a"})
    assert answer.headers["content-type"].startswith("image/svg+xml") and "<svg" in answer.text
    for text in ("https://evil.example/", "javascript:alert(1)", "", "http://[", "http://here@evil.example/", "//here/"):
        assert ask(shell, "/qr", params={"text": text}).status_code == 400
    assert ask(shell, "/qr", params={"text": "http://here/?a=" + "b" * 3000}).status_code == 400


def test_metrics_are_shown_only_where_they_are_asked_for(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORER_METRICS", raising=False)
    assert ask(shell, "/metrics").status_code == 404
    monkeypatch.setenv("EXPLORER_METRICS", "1")
    assert isinstance(ask(shell, "/metrics").json(), dict)


# --- health ---------------------------------------------------------------------------------------------------------


def readiness(site: Site) -> tuple[httpx.Response, httpx.Response]:
    """What /readyz says before the server listens and after its preparations."""

    async def through() -> tuple[httpx.Response, httpx.Response]:
        async with (
            site.app.router.lifespan_context(site.app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app=site.gate), base_url="http://here") as client,
        ):
            before = await client.get("/readyz")
            site.readiness.listening.set()
            while site.readiness.waiting:
                await asyncio.sleep(0.01)
            return before, await client.get("/readyz")

    return asyncio.run(through())


def test_the_server_is_ready_once_every_lab_has_answered_its_probe() -> None:
    async def probe(engine: Engine) -> None:
        await asyncio.sleep(0)

    before, after = readiness(built(lambda: Site([lab(probe=probe)])))
    assert (before.status_code, before.json()["waiting"]) == (503, [LABS[0].slug])
    assert (after.status_code, after.json()["ready"]) == (200, True)


def test_a_lab_that_cannot_answer_is_named_and_the_server_is_not_ready() -> None:
    async def probe(engine: Engine) -> None:
        raise RuntimeError("the checkpoint is broken")

    _, after = readiness(built(lambda: Site([lab(probe=probe)])))
    assert after.status_code == 503
    assert after.json()["failed"] == {LABS[0].slug: "RuntimeError"} and "checkpoint" not in after.text


def test_the_running_server_is_alive_and_ready(site: str) -> None:
    assert raw(site, "GET", "/healthz")[0] == 200
    status, body, _ = raw(site, "GET", "/readyz")
    assert status == 200 and set(json.loads(body)["answered_s"]) == {lab.slug for lab in LABS}


def test_the_running_server_says_nothing_of_its_visitors(running: Running) -> None:
    assert "Listening on" in running.log() and "Ready after" in running.log()


# --- the command line and the exit ----------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_named(running: Running) -> None:
    with pytest.raises(SystemExit, match=str(running.port)):
        main(["--host", "127.0.0.1", "--port", str(running.port)])


def test_a_port_beyond_the_last_is_named() -> None:
    with pytest.raises(SystemExit, match="99999"):
        main(["--host", "127.0.0.1", "--port", "99999"])


def event(url: str, page: str, name: str) -> int:
    """The number under which Gradio runs the handler of an event of a page."""
    found = re.search(r"window\.gradio_config = (\{.*?\});</script>", raw(url, "GET", page)[1].decode())
    assert found is not None
    return next(one["id"] for one in json.loads(found[1])["dependencies"] if any(target[1] == name for target in one["targets"]))


def answers(url: str, number: int, detail: object, session: str, begun: threading.Semaphore | None = None) -> list[dict[str, Any]]:
    """Sends an event as the page does and returns every message that comes back; `begun` is released with the first."""
    body = json.dumps({"data": [], "event_data": detail, "fn_index": number, "session_hash": session, "trigger_id": None})
    status, told, _ = raw(url, "POST", "/gradio_api/queue/join", body, {"content-type": "application/json", "origin": url})
    assert status == 200, told
    messages = []
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=90)
    try:
        connection.request("GET", f"/gradio_api/queue/data?session_hash={session}")
        for line in connection.getresponse():
            if line.startswith(b"data: "):
                messages.append(json.loads(line.removeprefix(b"data: ")))
                if begun is not None and len(messages) == 1:
                    begun.release()
    finally:
        connection.close()
    return messages


def test_what_runs_when_the_server_is_told_to_leave_is_answered() -> None:
    server = Running()
    try:
        server.start()
        number = event(server.url, "/translation", "run")
        told: list[list[dict[str, Any]]] = []
        begun = threading.Semaphore(0)

        def visit(visitor: int) -> None:
            sentence = f"{visitor} young men in white shirts are standing outside near many green bushes, and a dog runs across the grass."
            detail = {"sentence": sentence, "beam": 8, "alpha": 0.6, "silenced": [], "hidden": []}
            told.append(answers(server.url, number, detail, f"visitor{visitor}", begun))

        visitors = [threading.Thread(target=visit, args=(i,)) for i in range(6)]
        for visitor in visitors:
            visitor.start()
        for _ in visitors:
            assert begun.acquire(timeout=60)
        server.signal(signal.SIGTERM)
        for visitor in visitors:
            visitor.join(60)
        assert server.wait(40) == 0, server.log()
        assert len(told) == 6
        for messages in told:
            done = [message for message in messages if message["msg"] == "process_completed"]
            assert done and done[-1]["success"], messages
        assert "Traceback" not in server.log(), server.log()
    finally:
        server.close()
