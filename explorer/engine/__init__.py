"""The engine that runs the models: one thread per device, to which every page brings its requests.

A page asks with a function and a request. Requests of one group that arrive together share a call;
identical ones share a run; results are remembered, bounded in bytes. A function that yields is
advanced in turns between the calls of others, and closed at its next turn when nobody follows it. A
plain call cannot be stopped from outside. Batches are therefore kept to about
`Limits.batch_seconds` of expected computing. A batch that outlives its deadline gets an error and
is left behind, and a fresh thread goes on.

The engine knows no lab, no Gradio and no torch: functions are named "package.module:function" and
imported by the thread that runs them.
"""

from __future__ import annotations

from explorer.engine.engine import Engine
from explorer.engine.records import (
    Answer,
    Busy,
    Failed,
    Function,
    Limits,
    OpenPage,
    QueuePlace,
    Snapshot,
    TooSlow,
)

__all__ = [
    "Answer",
    "Busy",
    "Engine",
    "Failed",
    "Function",
    "Limits",
    "OpenPage",
    "QueuePlace",
    "Snapshot",
    "TooSlow",
]
