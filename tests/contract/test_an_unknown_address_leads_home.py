"""An address at which nothing is gets a page with a way home, in both languages, which repeats
nothing of the address."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from explorer.labs import LABS
from explorer.web.gate import Gate, build_rules
from explorer.web.not_found import NOTHING
from tests.explorer.asking import ask

PATHS = [
    "/nowhere",
    "/lectures",
    "/%3Cscript%3Ealert(1)%3C/script%3E",
    *(f"{lab.path}/secret-word" for lab in LABS),
    *(lab.path + "/" for lab in LABS),
]


def asked(path: str, accept: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
    """What the gate itself answers; nothing behind it may be asked."""

    async def behind(scope: object, receive: object, send: object) -> None:
        raise AssertionError("the gate lets an unknown address pass")

    site: Any = SimpleNamespace(
        gate=Gate(
            behind, build_rules(["/", *(lab.path for lab in LABS)]), lambda path, document: document
        )
    )
    answer = ask(site, f"{path}?q=secret-word", method, headers={"accept": accept})
    return answer.status_code, dict(answer.headers), answer.text


@pytest.mark.parametrize("path", PATHS)
def test_a_browser_gets_a_page_with_a_way_home_in_both_languages(path: str) -> None:
    status, headers, body = asked(path, "text/html,application/xhtml+xml,*/*;q=0.8")
    assert status == 404
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert (
        headers["content-security-policy"].startswith("default-src 'none'; style-src")
        and "script-src" not in headers["content-security-policy"]
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert 'href="/?lang=en"' in body and 'href="/?lang=zh"' in body
    assert NOTHING in body and "这个地址没有内容" in body
    assert "secret-word" not in body and "alert" not in body and "<script" not in body


def test_whatever_is_no_browser_opening_a_page_gets_one_sentence() -> None:
    for accept, method in (("*/*", "GET"), ("application/json", "GET"), ("text/html", "POST")):
        status, headers, body = asked("/nowhere", accept, method)
        assert (status, body) == (404, NOTHING)
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
