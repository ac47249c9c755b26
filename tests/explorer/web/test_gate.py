"""What the gate refuses, and which headers every answer carries."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.gradio_adapter.document import digest_scripts
from explorer.web.bodies import BODY
from explorer.web.gate import ADDRESS, UNDER
from explorer.web.headers import PERMISSIONS
from explorer.web.launch import main
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
