"""The events that pages have sent: which are under way, and what ends because its page, or somebody who knows its session, says so."""

from __future__ import annotations

from gradio.queueing import Queue
from gradio.server_messages import ProcessCompletedMessage

ENDED = "This run was cancelled: asking again starts it anew. · 运行已取消：再次提交即可重新开始。"


async def cancel(queue: Queue, session: str, event: str | None, heard: bool) -> None:
    """Ends one event of a session, or all where `event` is None; another session's, or an unknown one, is left alone.

    heard: somebody listens to that session's answers. Its stream is told of each event that ends, and so ends too once no other is under
    way: left to itself it would stay silent, because Gradio tells nothing of an event that it no longer counts as alive.
    """
    under_way = queue.pending_event_ids_session.get(session, set())
    ending = [one for one in sorted(under_way) if event in {None, one}]
    for one in ending:
        await queue.clean_events(event_id=one)
    messages = queue.pending_messages_per_session.get(session)
    if heard and messages is not None:
        for one in ending:
            messages.put_nowait(ProcessCompletedMessage(event_id=one, output={"error": ENDED}, title="Cancelled · 已取消", success=False))
    elif not under_way.difference(ending):  # nobody will come for what is left
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)


def under_way(queue: Queue) -> set[str]:
    """The names of the events that were taken and not yet answered, whether or not anybody listens. It may be called from any thread."""
    return set(queue.event_ids_to_events)
