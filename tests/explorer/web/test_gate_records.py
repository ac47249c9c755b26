"""Pages that are left, and what the gate counts and logs."""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path

import pytest

from explorer.components import base
from explorer.web.events import CANCEL
from explorer.web.log import Lines
from explorer.web.server import Site
from tests.explorer.asking import ask

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
        and Path(__file__).name in told["where"]
        and "secret" not in line
    )


def test_cached_files_leave_no_log_line(caplog: pytest.LogCaptureFixture, shell: Site) -> None:
    caplog.set_level(logging.INFO, "explorer")
    for path in (base.write_frontend_address("lib/dom.js"), "/healthz", "/readyz"):
        ask(shell, path)
    assert not caplog.records
    ask(shell, "/ui/x/no-such.js")
    assert len(caplog.records) == 1
