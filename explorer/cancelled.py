"""The events that pages have sent: which are under way, what ends because its page, or somebody who knows its session, says so, and of
which pages the answers are kept."""

from __future__ import annotations

from typing import Any

from gradio.queueing import Queue
from gradio.server_messages import ProcessCompletedMessage
from gradio.utils import LRUCache

ENDED = "This run was cancelled: asking again starts it anew. · 运行已取消：再次提交即可重新开始。"


async def cancel(queue: Queue, session: str, event: str | None, heard: bool) -> None:
    """Ends one event of a session, or all where `event` is None; another session's, or an unknown one, is left alone.

    heard: somebody listens to that session's answers. Its stream is told of each event that ends, and so ends too once no other is under
    way: left to itself it would stay silent, because Gradio tells nothing of an event that it no longer counts as alive.
    """
    under_way = queue.pending_event_ids_session.get(session, set())
    ending = [one for one in sorted(under_way) if event in {None, one}]
    for one in ending:
        taken = queue.event_ids_to_events.get(one)
        await queue.clean_events(event_id=one)
        if taken is not None and taken.fn.api_visibility == "public":  # a script's says nothing until its end, where Gradio would notice
            for task in [task for task in queue._asyncio_tasks if task.get_name().endswith(one)]:
                task.cancel()
    messages = queue.pending_messages_per_session.get(session)
    if heard and messages is not None:
        for one in ending:
            messages.put_nowait(ProcessCompletedMessage(event_id=one, output={"error": ENDED}, title="Cancelled · 已取消", success=False))
    elif not under_way.difference(ending):  # nobody will come for what is left
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)


def forget(queue: Queue, session: str) -> None:
    """Of a page that has heard all that it asked for nothing is kept; one that has asked for more by now is left alone."""
    if not queue.pending_event_ids_session.get(session):
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)


class Messages(LRUCache[str, Any]):
    """What pages have still to hear, in place of Gradio's: a page makes room for another one only where nothing of its own is under way."""

    def __init__(self, queue: Queue) -> None:
        super().__init__(queue.pending_messages_per_session.max_size)
        self._queue = queue

    def __setitem__(self, session: str, messages: Any) -> None:
        if session not in self and len(self) >= self.max_size:
            asked, known = self._queue.pending_event_ids_session, self._queue.event_ids_to_events
            idle = next((one for one in self if not asked.get(one, set()) & known.keys()), None)
            if idle is None:
                self.max_size += 1  # as many events as can be under way at most
            else:
                del self[idle]
                asked.pop(idle, None)
        super().__setitem__(session, messages)


def under_way(queue: Queue) -> set[str]:
    """The names of the events that were taken and not yet answered, whether or not anybody listens. It may be called from any thread."""
    return set(queue.event_ids_to_events)
