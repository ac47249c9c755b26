"""What the gate refuses, which headers every answer carries, and what is counted and logged."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from explorer.document import digests
from explorer.gate import ADDRESS, BODIES, BODY, CANCEL, PERMISSIONS
from explorer.journal import Lines
from explorer.server import Site
from explorer.widgets import base
from tests.explorer.asking import ask, raw

TRAVERSAL = [
    *("/../app.py", "/ui/../../app.py", "/ui/x/../base.py", "/ui/x/..%2f..%2fapp.py", "/ui/x/%2e%2e/%2e%2e/app.py", "/ui/x//etc/passwd"),
    *("/ui/x/base.py", "/ui/x/%00", "/ui/x/lib%5cdom.js", "/ui/x/lib/..%5c..%5cbase.py", "/ui/x/", "/ui/x/lib", "/ui//x/lib/dom.js"),
    *("/vendor/x/../../../etc/passwd", "/vendor/x/..%2f__init__.py", "/vendor/x/requests.js", "/vendor/x/plotly.py", "/vendor/"),
    *("/assets/../index.html", "/assets/..%2f..%2froutes.py", "/assets/%2e%2e/share.html", "/assets//etc/passwd", "/assets/index.html"),
    *("/arrays/../app.py", "/arrays/..%2f..%2fapp.py", "/arrays/%2e%2e%2f", "/frames/..%2fapp.py", "/frames/%252e%252e%252fapp.py"),
    *("/gradio_api/file=app.py", "/gradio_api/file=/etc/passwd", "/gradio_api/file%3d/etc/passwd", "/gradio_api/file/etc/passwd"),
    *("/file=/etc/passwd", "/file/etc/passwd", "//etc/passwd", "/./etc/passwd", "/static/../routes.py", "/svelte/../../routes.py"),
    *("/gradio_api/proxy=https://example.com/", "/proxy=http://localhost/", "/gradio_api/stream/a/0/1/playlist.m3u8"),
    *(
        "/stored/../app.py",
        "/stored/x/..%2f..%2fapp.py/1",
        "/stored/%252e%252e/app.py/0",
        "/stored/x/translation/999",
        "/stored/x/translation/-1",
        "/picture/../app.py",
        "/uploads",
    ),
    *("/custom_component/1/client/component/index.js", "/gradio_api/custom_component/1/client/component/..%2findex.js"),
]
JOIN = "/gradio_api/queue/join"
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


@pytest.mark.parametrize("length", [str(BODY + 1), "99999999999999999999", "-1", "many", "٣"])
def test_what_is_too_large_is_refused_by_what_it_says_of_itself(shell: Site, length: str) -> None:
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read += 1
        yield b"x" * 1000

    answer = ask(shell, JOIN, "POST", content=body(), headers={"content-length": length.encode()})
    assert answer.status_code == 413
    assert read == 0, "its body was asked for"


def test_what_hides_its_size_is_cut_off(shell: Site) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * (1 << 20)

    assert ask(shell, JOIN, "POST", content=body()).status_code == 413


def test_what_arrives_never_becomes_a_file(shell: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    body = b"--x\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n" * 50_000
    for kind in ("application/json", "multipart/form-data; boundary=x", "image/png"):
        ask(shell, JOIN, "POST", content=body, headers={"content-type": kind})
    assert list(tmp_path.rglob("*")) == []


def test_all_that_arrives_at_once_is_bounded_too(shell: Site) -> None:
    async def many() -> list[int]:
        waiting = asyncio.Event()
        arriving = asyncio.Semaphore(0)

        async def slowly() -> AsyncIterator[bytes]:
            yield b"x"
            arriving.release()  # asked for more: it was let in
            await waiting.wait()
            yield b"x" * (BODY - 1)

        async def send(content: Any) -> int:
            headers = {"content-length": str(BODY)}
            transport = httpx.ASGITransport(app=shell.gate)
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
                return (await client.post(JOIN, content=content, headers=headers)).status_code

        first = [asyncio.create_task(send(slowly())) for _ in range(BODIES // BODY)]
        for _ in first:
            await arriving.acquire()
        refused = await send(slowly())
        for task in first:
            task.cancel()
        await asyncio.gather(*first, return_exceptions=True)
        return [refused, await send(b"x" * BODY)]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(asyncio.run, many()).result() == [503, 422]


def test_a_file_that_is_no_picture_is_refused_where_pictures_are_read(shell: Site) -> None:
    for route in shell.uploads:
        assert ask(shell, route.path, "POST", content=b"a text").status_code in {400, 415, 422}
        assert ask(shell, route.path, "POST", content=b"x" * (BODY + 1)).json()["error"].keys() == {"en", "zh"}
        assert ask(shell, route.path, "POST", content=b"x", headers={"origin": "https://evil.example"}).status_code == 403
        assert ask(shell, route.path).status_code == 404, "what went in never comes out"


# --- who leaves ---------------------------------------------------------------------------------------------------------------------


def test_a_page_that_is_left_while_its_run_begins_is_answered_quietly(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []

    async def note(session: str) -> None:
        left.append(session)

    monkeypatch.setattr(shell.gate, "left", note)
    answer = ask(shell, CANCEL, "POST", json={"session_hash": "abc", "fn_index": 2, "event_id": None})
    assert (answer.status_code, answer.json(), left) == (200, {"success": True}, ["abc"])
    named = ask(shell, CANCEL, "POST", json={"session_hash": "abc", "fn_index": 2, "event_id": "d41d8c"})
    assert named.status_code == 200 and left == ["abc"], "one that has a name is Gradio's affair"


# --- figures and the log ------------------------------------------------------------------------------------------------------------


def test_metrics_are_shown_only_where_they_are_asked_for(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORER_METRICS", raising=False)
    assert ask(shell, "/metrics").status_code == 404
    monkeypatch.setenv("EXPLORER_METRICS", "1")
    assert ask(shell, "/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")


def test_metrics_are_samples_that_add_up(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_METRICS", "1")
    ask(shell, "/")
    ask(shell, "/no/such/secret-page")
    text = ask(shell, "/metrics").text
    samples = dict(re.findall(r"^([a-z_]+(?:\{[^}]*\})?) ([0-9.e+-]+|inf)$", text, flags=re.M))
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(samples) == len(lines) > 40, [line for line in lines if line.split(" ")[0] not in samples]
    families = re.findall(r"^# TYPE (\w+) (\w+)$", text, flags=re.M)
    assert {kind for _, kind in families} == {"counter", "gauge", "histogram"} and len(dict(families)) == len(families)
    for name in (
        "requests_total",
        "run_seconds_count",
        "batch_size_bucket",
        "queue",
        "runs_total",
        "out_of_memory_total",
        "sent_bytes_total",
    ):
        assert any(key.startswith(f"explorer_{name}") for key in samples), name
    seconds = 'explorer_request_seconds_{}{{route="/"{}}}'
    assert float(samples[seconds.format("bucket", ',le="+Inf"')]) == float(samples[seconds.format("count", "")]) >= 1
    assert "secret" not in text and 'route="other",method="GET",status="404"' in text


def test_a_line_of_the_log_holds_no_visitors_words(caplog: pytest.LogCaptureFixture, shell: Site) -> None:
    caplog.set_level(logging.INFO, "explorer")
    ask(shell, "/?sentence=my+secret", headers={"user-agent": "secret browser", "x-forwarded-for": "203.0.113.7"})
    ask(shell, "/secret/path", "BREW")
    lines = [json.loads(Lines().format(record)) for record in caplog.records]
    assert [(line["route"], line["method"], line["status"]) for line in lines] == [("/", "GET", 200), ("other", "other", 404)]
    assert all({"at", "level", "from", "said", "bytes", "seconds"} <= line.keys() for line in lines)
    assert "secret" not in str(lines) and "203.0.113" not in str(lines)


def test_an_exception_is_logged_by_its_kind_and_place_alone() -> None:
    said = "the sentence was: my " + "secret"
    try:
        raise ValueError(said)
    except ValueError:
        record = logging.LogRecord("explorer", logging.ERROR, __file__, 1, "a wish\ncould not be fulfilled", (), sys.exc_info())
    line = Lines().format(record)
    told = json.loads(line)
    assert "\n" not in line and told["error"] == "ValueError" and "test_gate.py" in told["where"] and "secret" not in line


def test_files_that_browsers_keep_leave_no_line_unless_something_is_wrong(caplog: pytest.LogCaptureFixture, shell: Site) -> None:
    caplog.set_level(logging.INFO, "explorer")
    for path in (base.asset("lib/dom.js"), "/healthz", "/readyz"):
        ask(shell, path)
    assert not caplog.records
    ask(shell, "/ui/x/no-such.js")
    assert len(caplog.records) == 1
