"""A browser's connection to the server: uvicorn's, with deadlines for what was begun and our own words on what reaches no application."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from explorer.gate import own_headers

HEAD = 10.0  # seconds for the head of a request, from its first byte on
REST = 30.0  # seconds for the rest of a body whose request is answered already
MALFORMED = "This is no request of HTTP/1.1."
LATE = f"The head of the request took longer than {HEAD:.0f} seconds to arrive."


class Connection(H11Protocol):
    """One connection. Whoever connects and says nothing has as long as between two requests (uvicorn's `timeout_keep_alive`)."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Somebody has connected."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._wait_for(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some of a request, or of several."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """An answer was sent whole."""
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as a request."""
        self._refuse(400, MALFORMED)

    def _watch(self) -> None:
        """Starts a deadline where something is begun that nobody else waits for, and ends it where that has come."""
        if self.transport.is_closing():
            self._wait_for(None)
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait_for(HEAD)
        elif self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete:
            self._wait_for(REST)
        else:
            self._wait_for(None)

    def _wait_for(self, seconds: float | None) -> None:
        if seconds is None and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif seconds is not None and self._deadline is None:
            self._deadline = self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        self._refuse(408, LATE)

    def _refuse(self, status: int, sentence: str) -> None:
        """Says why, unless an answer has begun already, and closes the connection."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            body = sentence.encode()
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                (b"connection", b"close"),
            ]
            answer = h11.Response(status_code=status, headers=headers + own_headers({}), reason=STATUS_PHRASES[status])
            for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            self.cycle.disconnected = True  # whoever was at work on an answer is told so
        self.transport.close()
