"""The events that pages have sent: which are under way, which end early, and which answers are
kept.

An event ends early because its page, or somebody who knows its session, says so.
"""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.queueing import Queue
from gradio.server_messages import ProcessCompletedMessage
from gradio.utils import LRUCache

from explorer.gradio_adapter.unread import Unread, UnreadBudget

WRITTEN_FOR = "6.31.0"  # the version of Gradio

ENDED = "This run was cancelled: asking again starts it anew. · 运行已取消：再次提交即可重新开始。"


def set_up_queue(blocks: gr.Blocks, visitors: int, rest: float) -> None:
    """Set up the queue of pages whose handlers wait for another queue.

    Nothing ever waits in Gradio's own queue, so nobody needs the places in it, which cost a message
    to all for every run.

    visitors: the number of handlers that run side by side.
    rest: seconds between two looks at an empty queue.
    """
    blocks.queue(
        max_size=visitors, default_concurrency_limit=visitors, api_open=False, status_update_rate=5
    )
    queue = get_queue(blocks)
    queue.pending_messages_per_session = Messages(queue)
    queue.sleep_when_free = rest
    queue.progress_update_sleep_when_free = 1.0  # for gr.Progress, which no page of ours uses


def get_queue(blocks: gr.Blocks) -> Queue:
    """Return the queue of the pages."""
    queue: Queue = blocks._queue
    return queue


def count_unread_bytes(queue: Queue) -> int:
    """Return the bytes of all answers that pages have not read yet."""
    messages: Any = queue.pending_messages_per_session
    size: int = messages.bounds.size
    return size


async def cancel_events(queue: Queue, session: str, event: str | None, heard: bool) -> None:
    """End one event of a session, or all where `event` is None.

    An unknown event, or one of another session, is left alone.

    heard: whether somebody listens to that session's answers. Its stream gets an answer for each
    event that ends, and so ends too once no other is under way. Without that answer it would stay
    silent, because Gradio sends nothing about an event that it no longer counts as alive.
    """
    under_way = queue.pending_event_ids_session.get(session, set())
    ending = [one for one in sorted(under_way) if event in {None, one}]
    for one in ending:
        taken = queue.event_ids_to_events.get(one)
        await queue.clean_events(event_id=one)
        # An event of a script sends nothing until its end, so that Gradio would not notice.
        if taken is not None and taken.fn.api_visibility == "public":
            for task in [task for task in queue._asyncio_tasks if task.get_name().endswith(one)]:
                task.cancel()
    messages = queue.pending_messages_per_session.get(session)
    if heard and messages is not None:
        for one in ending:
            messages.put_nowait(
                ProcessCompletedMessage(
                    event_id=one, output={"error": ENDED}, title="Cancelled · 已取消", success=False
                )
            )
    elif not under_way.difference(ending):  # nobody will fetch what is left
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)


def forget_page(queue: Queue, session: str) -> None:
    """Keep nothing of a page that has got all its answers.

    A page that has asked for more by now is left alone.
    """
    if not queue.pending_event_ids_session.get(session):
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)


class Messages(LRUCache[str, Any]):
    """The messages that pages have not read yet, in place of Gradio's.

    A page makes room for another one only where nothing of its own is under way. Its unread
    messages are kept within bounds.
    """

    def __init__(self, queue: Queue) -> None:
        super().__init__(queue.pending_messages_per_session.max_size)
        self._queue = queue
        self.bounds = UnreadBudget(queue)

    def __setitem__(self, session: str, _messages: Any) -> None:
        if session not in self and len(self) >= self.max_size:
            asked, known = self._queue.pending_event_ids_session, self._queue.event_ids_to_events
            idle = next((one for one in self if not asked.get(one, set()) & known.keys()), None)
            if idle is None:
                self.max_size += 1  # grows at most to the number of events under way
            else:
                del self[idle]
                asked.pop(idle, None)
        if session in self:
            self[session].release()
        super().__setitem__(session, Unread(session, self.bounds))

    def __delitem__(self, session: str) -> None:
        self[session].release()
        super().__delitem__(session)

    def pop(self, session: str, *default: Any) -> Any:
        """Remove and return a page's messages, like `dict.pop`."""
        if session not in self and default:
            return default[0]
        unread = self[session]
        del self[session]
        return unread


def list_pending_events(queue: Queue) -> set[str]:
    """Return the names of the events that were taken and not yet answered, with or without a
    listener.

    It may be called from any thread.
    """
    return set(queue.event_ids_to_events)
