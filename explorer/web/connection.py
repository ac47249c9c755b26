"""A browser's connection to the server.

It is uvicorn's, with deadlines for everything that was begun, and with our own words for requests
that reach no application.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from explorer.web.headers import list_own_headers

HEAD = 10.0  # seconds for the head of a request, from its first byte on
TAKES = 30.0  # seconds in which a client must take some of the bytes that wait for it
REST = 30.0  # seconds for the rest of a body whose request is answered already
# Bytes a second, of all connections, of bodies whose requests are answered already.
UNWANTED = 32 << 20
MALFORMED = "This is not a valid HTTP/1.1 request."
LATE = f"The head of the request took longer than {HEAD:.0f} seconds to arrive."


class Unwanted:
    """Pace the reading of bytes that are thrown away, for all connections together.

    Most clients read no answer before they have sent their body whole, so the rest of a refused one
    is read all the same. At full speed many of these bodies at once would leave no time for others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nothing read.

        clock: returns seconds.
        """
        self._clock = clock
        self._read_until = 0.0

    def pause(self, size: int) -> float:
        """Count so many bytes more; return the seconds for which their connection reads nothing."""
        now = self._clock()
        self._read_until = max(now, self._read_until) + size / UNWANTED
        return self._read_until - now


class Connection(H11Protocol):
    """One connection.

    A client that connects and sends nothing has as long as between two requests (uvicorn's
    `timeout_keep_alive`).

    unwanted: paces the bytes that are read in vain; by default, of this connection alone.
    """

    def __init__(self, *given: Any, unwanted: Unwanted | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self._unwanted = unwanted or Unwanted()
        self._deadline: asyncio.TimerHandle | None = None
        self._untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Start the deadline of a new connection."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadlines of a closed connection."""
        self._wait_for(None)
        self._stop_waiting()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Watch whether the client takes the bytes that wait."""
        super().pause_writing()
        self._watch_taking(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Stop the watch, because the client took enough."""
        self._stop_waiting()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Read a part of one request, or of several."""
        super().data_received(data)
        self._watch_deadline()
        in_vain = (
            self.conn.their_state is h11.SEND_BODY
            and self.cycle.response_complete
            and not self.transport.is_closing()
        )
        if in_vain and (seconds := self._unwanted.pause(len(data))) > 0.01:
            self.flow.pause_reading()
            self.loop.call_later(seconds, self.flow.resume_reading)

    def on_response_complete(self) -> None:
        """Watch the deadline after an answer was sent whole."""
        super().on_response_complete()
        self._watch_deadline()

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that cannot be read as a request."""
        self._refuse(400, MALFORMED)

    def _watch_deadline(self) -> None:
        """Start a deadline where something is begun that nothing else times, or end it."""
        if self.transport.is_closing():
            self._wait_for(None)
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait_for(HEAD)
        elif self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete:
            self._wait_for(REST)
        else:
            self._wait_for(None)

    def _watch_taking(self, before: int) -> None:
        """Close the connection if nothing is taken for `TAKES` seconds.

        before: bytes that wait now.
        """
        self._stop_waiting()
        self._untaken = self.loop.call_later(TAKES, self._look_at_taking, before)

    def _look_at_taking(self, before: int) -> None:
        waiting = self.transport.get_write_buffer_size()
        if waiting < before:
            self._watch_taking(waiting)
        else:
            self.transport.abort()  # a close would wait until all is taken

    def _stop_waiting(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def _wait_for(self, seconds: float | None) -> None:
        if seconds is None and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif seconds is not None and self._deadline is None:
            self._deadline = self.loop.call_later(seconds, self._refuse_late)

    def _refuse_late(self) -> None:
        self._refuse(408, LATE)

    def _refuse(self, status: int, sentence: str) -> None:
        """Send the reason, unless an answer has begun already, and close the connection."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            body = sentence.encode()
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                (b"connection", b"close"),
            ]
            answer = h11.Response(
                status_code=status,
                headers=headers + list_own_headers({}),
                reason=STATUS_PHRASES[status],
            )
            for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            # tells the application, which may be at work on an answer
            self.cycle.disconnected = True
        self.transport.close()
