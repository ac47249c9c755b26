"""What the gate refuses, which headers every answer carries, and what is counted and logged."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
import tempfile
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from explorer.components import base
from explorer.gradio_adapter.document import digest_scripts
from explorer.web import bodies
from explorer.web.bodies import BODIES, BODY
from explorer.web.events import CANCEL, RESET
from explorer.web.gate import ADDRESS, DATA, UNDER
from explorer.web.headers import PERMISSIONS
from explorer.web.launch import main
from explorer.web.log import Lines
from explorer.web.not_found import NOTHING
from explorer.web.server import Site
from tests.conftest import built
from tests.explorer.asking import ask, raw

TRAVERSAL = [
    *(
        "/../app.py",
        "/ui/../../app.py",
        "/ui/x/../base.py",
        "/ui/x/..%2f..%2fapp.py",
        "/ui/x/%2e%2e/%2e%2e/app.py",
        "/ui/x//etc/passwd",
    ),
    *(
        "/ui/x/base.py",
        "/ui/x/%00",
        "/ui/x/lib%5cdom.js",
        "/ui/x/lib/..%5c..%5cbase.py",
        "/ui/x/",
        "/ui/x/lib",
        "/ui//x/lib/dom.js",
    ),
    *(
        "/vendor/x/../../../etc/passwd",
        "/vendor/x/..%2f__init__.py",
        "/vendor/x/requests.js",
        "/vendor/x/plotly.py",
        "/vendor/",
    ),
    *(
        "/assets/../index.html",
        "/assets/..%2f..%2froutes.py",
        "/assets/%2e%2e/share.html",
        "/assets//etc/passwd",
        "/assets/index.html",
    ),
    *(
        "/arrays/../app.py",
        "/arrays/..%2f..%2fapp.py",
        "/arrays/%2e%2e%2f",
        "/frames/..%2fapp.py",
        "/frames/%252e%252e%252fapp.py",
    ),
    *(
        "/gradio_api/file=app.py",
        "/gradio_api/file=/etc/passwd",
        "/gradio_api/file%3d/etc/passwd",
        "/gradio_api/file/etc/passwd",
    ),
    *(
        "/file=/etc/passwd",
        "/file/etc/passwd",
        "//etc/passwd",
        "/./etc/passwd",
        "/static/../routes.py",
        "/svelte/../../routes.py",
    ),
    *(
        "/gradio_api/proxy=https://example.com/",
        "/proxy=http://localhost/",
        "/gradio_api/stream/a/0/1/playlist.m3u8",
    ),
    *(
        "/stored/../app.py",
        "/stored/x/..%2f..%2fapp.py/1",
        "/stored/%252e%252e/app.py/0",
        "/stored/x/translation/999",
    ),
    *("/stored/x/translation/-1", "/picture/../app.py", "/uploads"),
    *(
        "/custom_component/1/client/component/index.js",
        "/gradio_api/custom_component/1/client/component/..%2findex.js",
    ),
]
JOIN = "/gradio_api/queue/join"
SHUT = [
    *(
        f"GET /{path}"
        for path in (
            "api",
            "monitoring",
            "monitoring/x",
            "docs",
            "openapi.json",
            "robots.txt",
            "manifest.json",
            "ui/x%0A",
        )
    ),
    *(
        f"GET /gradio_api/{path}"
        for path in (
            "openapi.json",
            "runs",
            "heartbeat/x",
            "user",
            "token",
            "deep_link",
            "mcp",
            "dev/reload",
        )
    ),
    *(
        f"POST /gradio_api/{path}"
        for path in (
            "upload",
            "run/predict",
            "api/run",
            "call/run",
            "component_server",
            "process_recording",
        )
    ),
    *(f"POST /{path}" for path in ("login", "", "translation", "readyz", "ui/x/lib/dom.js")),
    *(
        "PUT /",
        "DELETE /arrays/x",
        "OPTIONS /gradio_api/queue/join",
        "TRACE /",
        "GET /static/img/logo.svg",
    ),
]


# --- what is refused
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TRAVERSAL)
def test_no_path_leads_out_of_what_is_served(site: str, path: str) -> None:
    status, body, headers = raw(site, "GET", path)
    assert status == 404, path
    assert len(body) < 200 and b"import" not in body and b"root:" not in body
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("what", SHUT)
def test_what_no_page_asks_for_is_shut(site: str, what: str) -> None:
    assert raw(site, *what.split(" "))[0] == 404


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        *(
            ({"origin": origin}, False)
            for origin in (
                "https://evil.example",
                "http://here.evil.example",
                "null",
                "http://here:81",
            )
        ),
        ({"origin": "http://here"}, True),
        # What the browser itself says of a request counts behind any proxy.
        *(
            (
                {"sec-fetch-site": site, "origin": "https://public.name", "host": "inside:7860"},
                site in {"same-origin", "none"},
            )
            for site in ("same-origin", "none", "same-site", "cross-site")
        ),
    ],
)
def test_other_sites_cannot_send_requests(
    shell: Site, headers: dict[str, str], allowed: bool
) -> None:
    answer = ask(shell, JOIN, "POST", content=b"{}", headers={**JSON, **headers})
    assert (answer.status_code not in {403, 404}) == allowed and "Traceback" not in answer.text
    assert allowed or (
        answer.status_code == 403
        and not [name for name in answer.headers if name.startswith("access-control")]
    )


def test_too_long_an_address_is_refused(site: str) -> None:
    status, answer, _ = raw(site, "GET", "/?" + "a" * (ADDRESS + 1))
    assert status in {400, 414} and b"Traceback" not in answer and b".py" not in answer


# --- headers
# --------------------------------------------------------------------------------------------------


def test_a_page_allows_our_own_host_alone(shell: Site) -> None:
    answer = ask(shell, "/")
    headers = {
        name: value
        for name, value in answer.headers.items()
        if name not in {"content-length", "content-encoding", "etag"}
    }
    assert headers == {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "vary": "accept-encoding",
        "content-security-policy": (
            f"default-src 'none'; script-src 'self' {' '.join(digest_scripts(answer.text))}"
            " 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
            " font-src 'self'; connect-src 'self'; frame-src 'self'; media-src 'self' blob:;"
            " manifest-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors *"
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "permissions-policy": PERMISSIONS,
        "cross-origin-opener-policy": "same-origin-allow-popups",
    }
    assert "unsafe-inline" not in headers["content-security-policy"].partition("style-src")[0]


def test_a_course_page_may_frame_ours_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "EXPLORER_EMBED", "Course.example, *.school.example:8443,http://localhost:9000"
    )
    site = built(lambda: Site(()))
    try:
        policy = ask(site, "/").headers["content-security-policy"]
    finally:
        site.engine.close(0)
    wanted = "https://course.example https://*.school.example:8443 http://localhost:9000"
    assert policy.endswith(
        f"frame-ancestors 'self' https://huggingface.co https://*.hf.space {wanted}"
    )


@pytest.mark.parametrize(
    "name",
    [
        "course.example;script-src *",
        "*",
        "https://",
        "a b",
        "course.example/page",
        "'none'",
        "é.example",
    ],
)
def test_a_bad_host_is_refused_at_start(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXPLORER_EMBED", f"course.example,{name}")
    with pytest.raises(SystemExit):
        main([])
    assert f"EXPLORER_EMBED: {name.lower()!r} is no host" in capsys.readouterr().err


def test_a_page_that_has_not_changed_is_not_sent_again(shell: Site) -> None:
    first = ask(shell, "/")
    assert first.headers["content-encoding"] == "br" and ask(shell, "/", "HEAD").content == b""
    again = ask(shell, "/?sentence=another", headers={"if-none-match": first.headers["etag"]})
    assert (
        again.status_code == 304
        and again.headers["content-security-policy"] == first.headers["content-security-policy"]
    )


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/nothing", "/theme.css", "/arrays/x", "/favicon.ico"]
)
def test_every_other_answer_may_neither_run_nor_be_framed(shell: Site, path: str) -> None:
    headers = ask(shell, path).headers
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff" and "server" not in headers


NAMES = (
    "host",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-prefix",
    "x-gradio-server",
    "cookie",
    "accept-language",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_built_once_for_all_hosts(
    shell: Site, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shell.gate._pages.clear()
    first = ask(
        shell,
        "/?deep_link=evil",
        headers={name: "https" if name.endswith("proto") else "evil.example"},
    ).text
    page = ask(shell, "/").text
    assert (
        "evil" not in first
        and first == page
        and '"root":"/"' in page
        and "explorer.invalid" not in page
    )

    def again(path: str, document: str) -> str:
        raise AssertionError("it is built again")

    monkeypatch.setattr(shell.gate, "document", again)
    assert {ask(shell, "/", headers={name: f"h{i}.example"}).text for i in range(3)} == {page}


@pytest.mark.parametrize("length", [str(BODY + 1), "99999999999999999999", "-1", "many", "٣", None])
def test_too_large_bodies_are_refused_or_cut(shell: Site, length: str | None) -> None:
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        while read < 100:
            read += 1
            yield b"x" * (1 << 20)

    headers = {"content-length": length.encode()} if length else {}
    assert ask(shell, JOIN, "POST", content=body(), headers=headers).status_code == 413
    assert read < 100 and (length is None or read == 0), "its body was asked for"


def test_what_arrives_never_becomes_a_file(
    shell: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    body = b"--x\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n" * 50_000
    for kind in ("application/json", "multipart/form-data; boundary=x", "image/png"):
        ask(shell, JOIN, "POST", content=body, headers={"content-type": kind})
    assert list(tmp_path.rglob("*")) == []


class Senders:
    """Requests whose bodies arrive in part."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.waiting: list[asyncio.Task[int]] = []

    async def post(self, content: Any, address: str = "", **headers: str) -> int:
        """The status of the answer to a whole request."""
        return (await self.answer(content, address, **headers)).status_code

    async def answer(
        self, content: Any, address: str = "", path: str = JOIN, **headers: str
    ) -> httpx.Response:
        """The answer to a whole request."""
        transport = httpx.ASGITransport(app=self.site.gate, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.post(path, content=content, headers=headers)

    async def begin(self, size: int, address: str) -> None:
        """One more that sends so many bytes of as many as a request may have, and nothing more."""
        arrived = asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield b"x" * size
            arrived.set()  # asked for more: these were taken
            await asyncio.Event().wait()

        self.waiting.append(
            asyncio.create_task(self.post(slowly(), address, **{"content-length": str(BODY)}))
        )
        await arrived.wait()

    async def leave(self) -> None:
        """All of them."""
        for task in self.waiting:
            task.cancel()
        await asyncio.gather(*self.waiting, return_exceptions=True)


@pytest.fixture
def senders(shell: Site) -> Senders:
    """Who share one server."""
    return Senders(shell)


async def test_who_says_much_and_sends_little_takes_no_place(senders: Senders) -> None:
    for _ in range(BODIES // BODY + 9):
        await senders.begin(1, "idle")
    assert [
        await senders.post(content, who)
        for content, who in ((b"{}", ""), (b"x" * BODY, ""), (b"x" * BODY, "idle"))
    ] == [422] * 3
    await senders.leave()


async def test_arrived_bytes_are_bounded(senders: Senders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODIES", 4 * BODY)
    monkeypatch.setattr(bodies, "SHARE", 2 * BODY)

    async def seen(size: int, *addresses: str) -> list[int]:
        return [await senders.post(b"x" * size, who) for who in addresses]

    # whoever has one of IPv6 has its /64
    first, second, neighbour, other = "203.0.113.1", "2001:db8::1", "2001:db8::2", "203.0.113.2"
    for address, again, expected in ((first, first, [503, 422]), (second, neighbour, [503, 503])):
        await senders.begin(BODY, address)
        await senders.begin(BODY, again)
        assert await seen(BODY, address, other) == expected
        assert await seen(bodies.SMALL, address, other) == [422, 422]
    await senders.leave()
    assert await seen(BODY, first, other) == [422, 422]


async def test_a_body_that_trickles_is_given_up(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.05)
    monkeypatch.setattr(bodies, "RATE", 1 << 20)

    async def trickle() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.01)

    assert await senders.post(trickle()) == 408


async def test_what_came_early_buys_no_silence(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.05)
    monkeypatch.setattr(bodies, "RATE", 1)

    async def silent() -> AsyncIterator[bytes]:
        yield b"x" * (1 << 20)
        await asyncio.Event().wait()

    answer = await asyncio.wait_for(senders.answer(silent(), path=senders.site.uploads[0].path), 60)
    assert answer.status_code == 408 and answer.text.endswith(".")


async def test_who_is_sent_away_hears_when_to_come_again(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(senders.site.gate, "_rates", bodies.Rates())
    monkeypatch.setattr(bodies, "SHARE", 0)
    full = await senders.answer(b"x" * BODY)
    monkeypatch.setattr(bodies, "BURST", 0)
    often = await senders.answer(b"x", "203.0.113.9")
    assert (full.status_code, often.status_code) == (503, 429)
    for answer in (full, often):
        assert int(answer.headers["retry-after"]) > 0 and answer.text.endswith(".")


async def test_an_address_that_asks_too_often_shuts_out_no_other(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(senders.site.gate, "_rates", bodies.Rates())
    monkeypatch.setattr(bodies, "BURST", 2)
    monkeypatch.setattr(bodies, "PER_SECOND", 1e-3)
    for forwarded in (
        {},
        {"x-forwarded-for": "192.0.2.1, 192.0.2.2"},
        {"x-forwarded-for": "made-up"},
    ):
        told = [await senders.post(b"x", "127.0.0.1", **forwarded) for _ in range(3)]
        assert told == [422, 422, 429]
    assert await senders.post(b"x", "127.0.0.1", **{"x-forwarded-for": "also no address"}) == 429
    assert (
        await senders.post(b"x", "127.0.0.1", **{"x-forwarded-for": "192.0.2.2, 192.0.2.3"}) == 422
    )
    body = b'{"session_hash": "a", "fn_index": 0, "event_id": "a"}'
    assert (await senders.answer(body, "127.0.0.1", CANCEL)).status_code == 200, (
        "who cancels asks for nothing"
    )


@pytest.mark.parametrize("path", [CANCEL, RESET, JOIN])
@pytest.mark.parametrize("begin", [b'{"data":[', b'{"event_id":"\\\\","session_hash":[', b"[" * 33])
def test_much_structure_is_refused_before_it_is_parsed(
    path: str, begin: bytes, senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        for part in (begin, *[b"[]," * (bodies.SMALL // 3)] * 70):
            read += 1
            yield part

    def parse(text: str, **_how: Any) -> None:
        raise AssertionError("it is parsed")

    monkeypatch.setattr("explorer.web.events.json.loads", parse)
    answer = asyncio.run(senders.answer(body(), path=path, **JSON))
    assert answer.status_code == 422 and answer.text.count(".") == 1 and read <= 2


def test_structure_cannot_hide_in_another_encoding(shell: Site) -> None:
    # Ģ is 22 01 in UTF-16, of which the first is a quote to who counts bytes: what follows would
    # stand in a text.
    body = '{"event_id":"a","is":"Ģ","all":[' + "[]," * bodies.STRUCTURE + "[]]}"
    assert ask(shell, RESET, "POST", content=body.encode("utf-16-le")).status_code == 422


async def test_others_are_answered_while_a_large_body_is_parsed(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def parse(text: str, **_how: Any) -> None:
        begun.set()
        assert go_on.wait(60)

    monkeypatch.setattr("explorer.web.gate.read_event", lambda body, _events: parse(body))
    sending = asyncio.create_task(senders.post(b'"' + b"x" * bodies.SMALL, **JSON))
    try:
        assert await asyncio.to_thread(begun.wait, 60)
        assert await senders.post(b"small") == 422 and not sending.done()
    finally:
        go_on.set()
    assert await sending == 422


@pytest.mark.parametrize("path", [CANCEL, RESET, JOIN])
@pytest.mark.parametrize(
    "body",
    [
        *(
            b'{"event_id": 1e999}',
            b'{"event_id": NaN}',
            b'{"event_id": -Infinity}',
            b'{"event_id": 7}',
            b'{"event_id": ["a"]}',
            b"[]",
            b"",
        ),
        *(
            b'{"event_id": "a", "fn_index": 1e999, "session_hash": "a"}',
            b'{"event_id": "a", "fn_index": 0, "session_hash": NaN}',
        ),
        *(
            b"null",
            b"{" * 9999,
            b'"\xff"',
            b'{"event_id": "a", "fn_index": 0, "session_hash": "a", "data": [], "batched": 1e999}',
        ),
        b'{"event_id": "a", "fn_index": 0, "session_hash": "a", "data": [], "trigger_id": "a"}',
    ],
)
def test_a_body_of_another_form_is_refused_in_one_sentence(
    shell: Site, path: str, body: bytes
) -> None:
    answer = ask(shell, path, "POST", content=body, headers=JSON)
    if path == RESET and answer.status_code == 200:
        assert type(json.loads(body)["event_id"]) is str, "its other fields are read by nobody"
    elif path == CANCEL and answer.status_code == 200:
        assert json.loads(body).keys() >= {
            "event_id",
            "fn_index",
            "session_hash",
        } and "1e999" not in str(body)
    else:
        assert answer.status_code == 422 and answer.headers["content-type"].startswith("text/plain")
        assert answer.text.count(".") == 1 and answer.text.endswith(".")


@pytest.mark.parametrize("session", ["x", "%F0%9F%8E%B9" * 9, "", "x" * 65, None])
def test_unknown_sessions_end_their_streams(shell: Site, session: str | None) -> None:
    answer = ask(shell, DATA + ("" if session is None else f"?session_hash={session}"))
    if not session or len(session) == 65:
        assert answer.status_code == 422 and answer.text.endswith(".")
    else:
        told, *rest = [
            json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line
        ]
        assert told["msg"] == "unexpected_error" and [message["msg"] for message in rest] == [
            "close_stream"
        ]
        assert told["session_not_found"] and told["message"].endswith(".")


@pytest.mark.parametrize("path", ["/looks/x/0/0/{}/1", "/stored/x/translation/{}"])
def test_a_number_beyond_all_sense_names_nothing(shell: Site, path: str) -> None:
    assert ask(shell, path.format("9" * 5000)).status_code == 404


@pytest.mark.parametrize("prefix", UNDER)
def test_every_address_of_nothing_says_so(shell: Site, prefix: str) -> None:
    answer = ask(shell, f"{prefix}no/such/thing at all")
    assert (answer.status_code, answer.text) == (404, NOTHING)


def test_what_a_script_reads_first_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(
        "explorer.page.api.read_client_config",
        lambda blocks: made.append(blocks) or {"dependencies": []},
    )
    site = built(lambda: Site(()))
    assert [ask(site, "/config").json() for _ in range(3)] == [{"dependencies": []}] * 3 and len(
        made
    ) == 1


def test_a_request_has_at_most_a_hundred_lines_of_head(shell: Site) -> None:
    own = len(ask(shell, "/healthz").request.headers)
    for more, status in ((100 - own, 200), (101 - own, 431)):
        assert (
            ask(shell, "/healthz", headers=[(f"x-{i}", "") for i in range(more)]).status_code
            == status
        )


def test_what_goes_wrong_in_the_gate_itself_has_its_headers_too(
    shell: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str, document: str) -> str:
        raise ValueError(path)

    shell.gate._pages.clear()
    monkeypatch.setattr(shell.gate, "document", broken)
    answer = ask(shell, "/", raised=False)
    assert answer.status_code == 500 and answer.headers["x-content-type-options"] == "nosniff"


def test_files_to_read_are_bounded_and_stay(shell: Site) -> None:
    for route in shell.uploads:
        assert ask(shell, route.path, "POST", content=b"x" * (BODY + 1)).json()["error"].keys() == {
            "en",
            "zh",
        }
        assert (
            ask(
                shell, route.path, "POST", content=b"x", headers={"origin": "https://evil.example"}
            ).status_code
            == 403
        )
        assert ask(shell, route.path).status_code == 404


# --- who leaves
# --------------------------------------------------------------------------------------------------


def test_a_page_left_early_is_answered(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[tuple[str, str | None, bool]] = []

    async def note(session: str, event: str | None, heard: bool) -> None:
        left.append((session, event, heard))

    monkeypatch.setattr(shell.gate, "left", note)
    for event in (None, "d41d8c"):
        answer = ask(
            shell, CANCEL, "POST", json={"session_hash": "abc", "fn_index": 2, "event_id": event}
        )
        assert (answer.status_code, answer.json(), left.pop()) == (
            200,
            {"success": True},
            ("abc", event, False),
        )


# --- figures and the log
# --------------------------------------------------------------------------------------------------


def test_metrics_add_up_and_are_optional(shell: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORER_METRICS", raising=False)
    assert ask(shell, "/metrics").status_code == 404
    monkeypatch.setenv("EXPLORER_METRICS", "1")
    for path in ("/", "/no/such/secret-page"):
        ask(shell, path)
    answer = ask(shell, "/metrics")
    text = answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = dict(re.findall(r"^([a-z_]+(?:\{[^}]*\})?) ([0-9.e+-]+|inf)$", text, flags=re.M))
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(samples) == len(lines) > 40, [
        line for line in lines if line.split(" ")[0] not in samples
    ]
    families = re.findall(r"^# TYPE (\w+) (\w+)$", text, flags=re.M)
    assert {kind for _, kind in families} == {"counter", "gauge", "histogram"} and len(
        dict(families)
    ) == len(families)
    names = [
        "requests_total",
        "run_seconds_count",
        "batch_size_bucket",
        "queue",
        "runs_total",
        "out_of_memory_total",
        "sent_bytes_total",
    ]
    assert [
        name for name in names if not any(key.startswith(f"explorer_{name}") for key in samples)
    ] == []
    seconds = 'explorer_request_seconds_{}{{route="/"{}}}'
    assert (
        float(samples[seconds.format("bucket", ',le="+Inf"')])
        == float(samples[seconds.format("count", "")])
        >= 1
    )
    assert "secret" not in text and 'route="other",method="GET",status="404"' in text


def test_a_line_of_the_log_holds_no_visitors_words(
    caplog: pytest.LogCaptureFixture, shell: Site
) -> None:
    caplog.set_level(logging.INFO, "explorer")
    ask(
        shell,
        "/?sentence=my+secret",
        headers={"user-agent": "secret browser", "x-forwarded-for": "203.0.113.7"},
    )
    ask(shell, "/secret/path", "BREW")
    lines = [json.loads(Lines().format(record)) for record in caplog.records]
    assert [(line["route"], line["method"], line["status"]) for line in lines] == [
        ("/", "GET", 200),
        ("other", "other", 404),
    ]
    assert all({"at", "level", "from", "said", "bytes", "seconds"} <= line.keys() for line in lines)
    assert "secret" not in str(lines) and "203.0.113" not in str(lines)


def test_an_exception_is_logged_by_its_kind_and_place_alone() -> None:
    said = "the sentence was: my " + "secret"
    try:
        raise ValueError(said)
    except ValueError:
        record = logging.LogRecord(
            "explorer",
            logging.ERROR,
            __file__,
            1,
            "a wish\ncould not be fulfilled",
            (),
            sys.exc_info(),
        )
    line = Lines().format(record)
    told = json.loads(line)
    assert (
        "\n" not in line
        and told["error"] == "ValueError"
        and "test_gate.py" in told["where"]
        and "secret" not in line
    )


def test_cached_files_leave_no_log_line(caplog: pytest.LogCaptureFixture, shell: Site) -> None:
    caplog.set_level(logging.INFO, "explorer")
    for path in (base.write_frontend_address("lib/dom.js"), "/healthz", "/readyz"):
        ask(shell, path)
    assert not caplog.records
    ask(shell, "/ui/x/no-such.js")
    assert len(caplog.records) == 1
