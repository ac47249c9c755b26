"""The benchmarks of the lecture hall in short: they find the app as they should, and would tell if
it were otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import islice

import pytest

from benchmarks.drain import drain_app
from benchmarks.lecture import open_pages
from explorer.labs import LABS
from explorer.web.server import GRACE
from tests.support.visitors.balanced import balanced
from tests.support.visitors.recording import HOST, SESSION, Call, Recording, record
from tests.support.visitors.sentences import captions, stories
from tests.support.visitors.served import Served
from tests.support.visitors.visitor import Visitor, Wrong, check, drawn
from tests.support.visitors.wire import Lost, Reply

LAB = next(lab for lab in LABS if lab.slug == "translation")
# An app of the one lab that visitors of benchmarks come to.
SMALL = f"""import sys
from explorer.web import log as journal
from explorer.labs import LABS
from explorer.web.launch import serve
journal.begin_logging()
serve([LABS[{LABS.index(LAB)}]], "127.0.0.1", int(sys.argv[1]))"""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """The app, once it is ready; the last of these tests ends it."""
    with Served(("-c", SMALL, "PORT")) as app:
        app.prepare()
        yield app


@pytest.fixture(scope="module")
def recording(served: Served) -> Recording:
    """What a real browser asks of it."""
    return record(served.url)


@pytest.mark.slow
def test_a_recording_holds_what_a_browser_asked(recording: Recording) -> None:
    assert len(recording.opening) > 20 > len(recording.again)
    assert recording.opening[0].path == "/translation"
    assert [call.path for call in recording.own] == [
        "/gradio_api/queue/join?",
        f"/gradio_api/queue/data?session_hash={SESSION}",
    ]
    assert recording.linked[0].detail["query"].startswith("v=1&sentence=")
    assert [call.method for call in recording.stored] == ["GET"], "an example needs no queue"


@pytest.mark.slow
def test_a_small_course_is_answered_without_an_error(served: Served, recording: Recording) -> None:
    with balanced([served.port]) as port:
        times = asyncio.run(
            open_pages(
                f"http://127.0.0.1:{port}", recording, visitors=8, live=4, seconds=1.0, seed=5
            )
        )
    assert not times.errors
    assert (len(times.opened), len(times.stored), len(times.live)) == (8, 8, 4)


@pytest.mark.slow
def test_nothing_is_lost_when_the_app_ends_under_running_calls(
    served: Served, recording: Recording
) -> None:
    # stories that the small lecture has not told
    end = asyncio.run(drain_app(served, recording, calls=6, seed=9))
    assert end.unanswered > 0, "the signal came while calls were running"
    assert end.status == 0
    # A machine that is busy with other things may not get through in the grace; what is left then
    # is handed back with a sentence.
    assert end.lost == 0 or (
        end.seconds > GRACE and all("The server is closing" in what for what in end.wrong)
    )


# ---- what the visitors would notice

LIVE = {"state": "live", "fields": {"sentence": "A dog."}, "answer": {"pieces": ["Ein"]}}
MAPS = {"kinds": [{"weights": {"data": "AAAA"}}]}


def _told(kind: str, data: object, **more: object) -> bytes:
    return (
        b"data: "
        + json.dumps(
            {"msg": kind, "event_id": "e", "success": True, "output": {"data": data}, **more}
        ).encode()
    )


STAYS = {"__type__": "update"}


def test_a_stream_is_read_as_the_page_reads_it() -> None:
    told = [["replace", ["state"], "live"], ["add", ["n", 1], 2]]
    appears = [["delete", ["__type__"], None], ["add", ["kinds"], []]]
    goes = [["delete", ["kinds"], None], ["add", ["__type__"], "update"]]
    events = [
        _told("process_generating", [{"state": "running", "n": [1]}, STAYS]),
        _told("process_generating", [told, appears]),
        _told("process_generating", [[["append", ["state"], "!"]], []], event_id="other"),
        _told("process_generating", [[], goes]),
        _told("process_completed", [STAYS, STAYS]),
    ]
    assert drawn(events, "e") == ({"state": "live", "n": [1, 2]}, {"kinds": []})


def test_a_stream_without_an_end_is_a_loss() -> None:
    with pytest.raises(Lost):
        drawn(
            [
                _told("process_generating", [LIVE]),
                _told("process_completed", [LIVE], event_id="other"),
            ],
            "e",
        )


def test_a_run_that_failed_is_no_answer() -> None:
    with pytest.raises(Wrong):
        drawn([_told("process_completed", [None], success=False)])


@pytest.mark.parametrize(
    "values",
    [
        (LIVE,),
        (MAPS,),
        ({**LIVE, "state": "waiting"}, MAPS),
        ({**LIVE, "fields": {"sentence": "A cat."}}, MAPS),
        ({**LIVE, "answer": {"pieces": []}}, MAPS),
        ({"state": "refused", "error": {"en": "No."}}, MAPS),
    ],
)
def test_what_is_not_just_the_answer_is_wrong(values: tuple[object, ...]) -> None:
    check((LIVE, MAPS), "A dog.", live=True)
    with pytest.raises(Wrong):
        check(values, "A dog.", live=True)


def test_a_call_is_played_again_as_somebody_else() -> None:
    body = (
        b'{"data":[],"event_data":{"sentence":"x","beam":1},'
        b'"fn_index":0,"session_hash":"thesession"}'
    )
    call = Call(
        "POST", f"/join?session_hash={SESSION}", (("Host", HOST), ("If-None-Match", '"old"')), body
    )
    sent = call.bytes("a.place:80", "me", {"sentence": "half \ud83d", "beam": 2}, '"mine"')
    head, _, rest = sent.partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[:3] == [
        b"POST /join?session_hash=me HTTP/1.1",
        b"Host: a.place:80",
        b'If-None-Match: "mine"',
    ]
    assert json.loads(rest) == {
        **json.loads(body),
        "session_hash": "me",
        "event_data": {"sentence": "half \ud83d", "beam": 2},
    }
    assert rb"\ud83d" in rest and f"content-length: {len(rest)}".encode() in head


def test_visitors_ask_for_different_sentences() -> None:
    asked = list(captions())
    assert len(set(asked)) == len(asked) > 10_000
    assert len(set(islice(stories(), 100))) == 100


def test_an_answer_in_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(ValueError, match="zstd"):
        Reply(200, {"content-encoding": "zstd"}, b"").text()


@pytest.mark.slow
def test_a_page_is_opened_before_it_is_used(recording: Recording) -> None:
    with pytest.raises(ValueError, match="opened"):
        asyncio.run(Visitor("http://127.0.0.1:1", recording).click())
