"""Who runs a model: one thread per device, to which every page brings its requests.

A page asks with a function and a request. Requests of one group that arrive together share a call; identical ones share a run; what was
computed is remembered, bounded in bytes. A function that yields is advanced in turns between the calls of others, and closed at its next
turn when nobody follows it. A plain call cannot be stopped from outside: batches are therefore kept to what is expected to take about
`Limits.batch_seconds`, and one that outlives its deadline is left behind by a fresh thread, its askers told.

The engine knows no lab, no Gradio and no torch: functions are named "package.module:function" and imported by the thread that runs them.
"""

from __future__ import annotations

from explorer.engine.engine import Engine
from explorer.engine.records import Answer, Busy, Failed, Function, Limits, Page, Snapshot, TooSlow, Waiting

__all__ = ["Answer", "Busy", "Engine", "Failed", "Function", "Limits", "Page", "Snapshot", "TooSlow", "Waiting"]
