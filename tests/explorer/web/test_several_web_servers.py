"""deploy/nginx.conf, run by a real nginx before two small servers: a visitor stays with one, and
another takes over where that is gone."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support.visitors.balanced import balanced

PATIENCE = 60.0


class Web(ThreadingHTTPServer):
    """Says its name; streams two lines, the second when it is let."""

    daemon_threads = True

    def __init__(self, name: str) -> None:
        self.name, self.go = name, threading.Event()
        self.seen: list[dict[str, str]] = []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    def end(self) -> None:
        """As if its process were killed."""
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Web

    def do_GET(self) -> None:
        self.server.seen.append(dict(self.headers))
        self.send_response(200)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(f"{self.server.name}\n".encode())
        if self.path == "/stream":
            self.wfile.flush()
            self.server.go.wait(PATIENCE)
            self.wfile.write(b"more\n")
        self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def behind() -> Iterator[tuple[int, dict[str, Web]]]:
    """The port of nginx, and the servers behind it by name."""
    webs = {name: Web(name) for name in ("web1", "web2")}
    try:
        with balanced([web.server_address[1] for web in webs.values()]) as port:
            yield port, webs
    finally:
        for web in webs.values():
            web.go.set()
            web.end()


def asked(port: int, path: str, cookie: str = "") -> tuple[str, str]:
    """Who answered, and the cookie that came with it."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    line.request("GET", path, headers={"cookie": cookie} if cookie else {})
    answer = line.getresponse()
    said, given = (
        answer.read().decode().strip(),
        (answer.getheader("set-cookie") or "").partition(";")[0],
    )
    assert answer.status == 200
    line.close()
    return said, given


def test_a_visitor_stays_with_one_server_and_visitors_are_spread(
    behind: tuple[int, dict[str, Web]],
) -> None:
    port, webs = behind
    first = [asked(port, "/") for _ in range(24)]
    assert {name for name, _ in first} == set(webs), "both are used"
    for name, cookie in first:
        assert cookie.startswith("tfe_web=")
        assert [asked(port, "/x", cookie) for _ in range(2)] == [(name, "")] * 2, (
            "the same server, and no new cookie"
        )
    seen = webs["web1"].seen[-1]
    assert seen["X-Forwarded-For"] == "127.0.0.1" and seen["Host"] == f"127.0.0.1:{port}"


def test_another_server_takes_over_and_nobody_is_refused(
    behind: tuple[int, dict[str, Web]],
) -> None:
    port, webs = behind
    visitors = [asked(port, "/") for _ in range(12)]
    webs["web1"].end()
    assert {asked(port, "/", cookie)[0] for _, cookie in visitors} == {"web2"}
    assert {asked(port, "/")[0] for _ in range(6)} == {"web2"}


def test_a_stream_arrives_as_it_is_sent(behind: tuple[int, dict[str, Web]]) -> None:
    port, webs = behind
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    line.request("GET", "/stream")
    answer = line.getresponse()
    name = answer.readline().decode().strip()
    webs[name].go.set()  # only now: what had been held back would not have come
    assert answer.readline() == b"more\n"
    line.close()
