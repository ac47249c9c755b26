"""The log of a running server holds nothing that a visitor sent, wherever it stood."""

from __future__ import annotations

import http.client
import json
import logging
import secrets
import socket
import sys
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import count as count_up
from itertools import repeat
from urllib.parse import quote, urlsplit

import pytest

from explorer.gradio_adapter.type_marks import has_type_mark
from explorer.labs import LABS
from explorer.media.music_files import list_routes as music_routes
from explorer.media.uploads import routes as picture_routes
from explorer.web import log as journal
from explorer.web.events import read_event
from explorer.web.log import Lines
from tests.conftest import Running
from tests.explorer.asking import Stream, event, raw

JSON = {"content-type": "application/json"}
JOIN = "/gradio_api/queue/join"
FILE = {"path": "words", "meta": {"_type": "gradio.FileData"}}


def mark() -> str:
    """Return a word that nobody else has sent."""
    return f"mark{secrets.token_hex(8)}"


def sent(url: str, body: dict[str, object], session: str) -> int:
    """Send an event, and hear it out; the status of the answer to it."""
    whole = json.dumps({"fn_index": 0, "data": [], **body, "session_hash": session})
    status, _, _ = raw(url, "POST", JOIN, whole, JSON)
    if status == 200:
        stream = Stream(url, session)
        stream.until(lambda message: message["msg"] == "process_completed")
        stream.close()
    return status


@pytest.mark.slow
def test_events_leave_no_word_in_the_log(running: Running) -> None:
    words, url = mark(), running.url
    known = {one["api_name"]: one for one in running.get("/config")["dependencies"]}
    bodies: list[dict[str, object]] = []
    refused: list[dict[str, object]] = []
    for lab in LABS:
        script, count = known[lab.slug]["id"], len(known[lab.slug]["inputs"])
        every = range(count)
        apart = [[words if place == here else None for place in every] for here in every]
        views = [*[None] * (count - 1), [words]]
        odd = [[words], [[words]] * count, [{words: words}] * count, views]
        bodies += [{"fn_index": script, "data": data} for data in [[words] * count, *apart, *odd]]
        marked = [{**FILE, "path": words}] * count
        refused.append({"fn_index": script, "data": marked})
        page = event(url, lab.path, "ask")
        fields = dict.fromkeys(("text", "sentence", "model", "task", words), words)
        for detail in (words, {"query": words}, {"query": f"v=1&{words}={words}"}, {"set": fields}):
            bodies.append({"fn_index": page, "event_data": detail})
    with ThreadPoolExecutor(8) as pool:
        names = (f"{words}-{number}" for number in count_up())
        assert set(pool.map(sent, repeat(url), refused, names)) == {422}
        assert set(pool.map(sent, repeat(url), bodies, names)) <= {200, 422}
    log = running.log()
    assert "/gradio_api/queue/join" in log and words not in log and "Traceback" not in log


@pytest.mark.slow
def test_requests_leave_no_word_in_the_log(running: Running) -> None:
    words, url = mark(), running.url
    paths = (f"/{words}", f"/assets/{words}", f"/stored/{words}/{words}/1", f"/ui/{words}/{words}")
    queries = (
        *(f"/translation?sentence={words}&{words}", f"/qr?text={quote('http://' + words)}"),
        *(f"/{kind}/{'0' * 32}?of=translation&run={words}" for kind in ("arrays", "frames")),
        *(f"/looks/{'0' * 32}/0/0/0/1?of=translation&view={words}&asked={words}",),
        *(f"/sound/{words}.wav", f"/gradio_api/queue/data?session_hash={words}"),
    )
    for path in (*paths, *queries):
        raw(url, "GET", path)
    named = ("user-agent", "referer", "cookie", "origin", "host", "x-forwarded-for", "accept")
    for name in (*named, "range", "content-type", "authorization", "x-forwarded-host", words):
        for method, path in (("GET", "/translation"), ("POST", JOIN), (words.upper(), "/")):
            raw(url, method, path, None if method == "GET" else words, {name: words})
    fields = ("data", "event_data", "fn_index", "session_hash", "trigger_id", words)
    for body in (words, f'"{words}"', *({name: words} for name in fields)):
        for path in (JOIN, "/gradio_api/cancel", "/gradio_api/reset"):
            raw(url, "POST", path, body if isinstance(body, str) else json.dumps(body), JSON)
    form = f'--b\r\ncontent-disposition: form-data; name="files"; filename="{words}"\r\n\r\n{words}'
    uploads = [route.path for route in (*picture_routes(), *music_routes())]
    for path in (*uploads, "/gradio_api/upload"):
        for kind in (f"multipart/form-data; boundary=b; {words}", "audio/midi", f"image/{words}"):
            headers = {"content-type": kind, "content-disposition": f'filename="{words}.mid"'}
            raw(url, "POST", f"{path}?name={words}", form, headers)
    lines = (words, f"GET /{words} HTTP/9", f"GET / HTTP/1.1\r\n{words}")
    for line in (f"{line}\r\n\r\n" for line in lines):
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), 60) as line_:
            line_.sendall(line.encode())
            answer = http.client.HTTPResponse(line_)
            answer.begin()
            assert answer.status == 400
    log = running.log()
    assert words not in log.lower() and "Traceback" not in log


def test_a_mark_of_gradio_is_no_event_of_a_page() -> None:
    usual = {"data": [], "event_data": None, "fn_index": 1, "session_hash": "a"}
    for body in ({"data": [[{"a": FILE}]]}, {"event_data": {"set": {"text": FILE}}}):
        assert read_event(json.dumps({**usual, **body}).encode(), None) is None
        assert has_type_mark(body)
    spelled = json.dumps({**usual, "data": [FILE]}).replace("_type", "\\u005ftype")
    assert read_event(spelled.encode(), None) is None
    assert (
        read_event(json.dumps({**usual, "data": ["_type", ["_type"]]}).encode(), None) is not None
    )


def test_what_libraries_print_is_one_line_without_words(caplog: pytest.LogCaptureFixture) -> None:
    words = mark()
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(traceback, "print_exc", journal.log_exception)
        warnings.simplefilter("always")
        warnings.showwarning = journal.log_warning
        warnings.warn(words, stacklevel=1)
        try:
            raise ValueError(words)
        except ValueError:
            traceback.print_exc()
        logging.getLogger("asyncio").error(f"Never retrieved\nfuture: {words}")
        logging.getLogger("other").error("of %s", words)
    lines = [Lines().format(record) for record in caplog.records]
    told = [json.loads(line) for line in lines]
    assert len(told) == 4 and words not in "".join(lines).replace("raise ValueError(words)", "")
    assert [one.get("kind", one.get("error")) for one in told[:2]] == ["UserWarning", "ValueError"]
    assert [one["said"] for one in told[2:]] == ["Never retrieved", "of %s"]
    assert "test_log.py" in told[1]["where"] and sys.exc_info() == (None, None, None)
