"""The cost of opening a page with an empty cache: requests, bytes of scripts, time during which the
page is blocked."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from playwright.sync_api import Browser

from benchmarks.measure import median
from tests.support.visitors.browser import fresh

WIDTH, HEIGHT = 1440, 900
# milliseconds that a task of the browser may take before a visitor who presses a key notices it
LONGEST = 50

# The page is ready when its first picture is painted and the input is there.
WATCH = f"""
(() => {{
  const opening = (window.opening = {{ ready: 0, tasks: [] }});
  new PerformanceObserver((list) => {{
    for (const task of list.getEntries())
      opening.tasks.push([task.startTime, task.duration - {LONGEST}]);
  }}).observe({{ type: "longtask", buffered: true }});
  const watching = new MutationObserver(() => {{
    if (!document.querySelector("[data-drawn]:not([data-drawn=''])")) return;
    if (!document.querySelector(".tfe-ask[data-view]")) return;
    watching.disconnect();
    requestAnimationFrame(() => {{
      const painted = new MessageChannel();
      painted.port1.onmessage = () => (opening.ready = performance.now());
      painted.port2.postMessage(null);
    }});
  }});
  watching.observe(document, {{
    subtree: true, childList: true, attributes: true, attributeFilter: ["data-drawn", "data-view"],
  }});
}})();
"""
READ = (
    "({ ready: opening.ready, blocked: opening.tasks.reduce((sum, [at, over]) => sum + (at <"
    " opening.ready ? over : 0), 0) })"
)


@dataclass(frozen=True)
class Opening:
    """One page opened once.

    requests: until it is quiet.
    script_kb: 1,000 bytes of our scripts, as they travel.
    blocked_ms: the time of the tasks before it was ready, the part of each above 50 ms.
    ready_ms: from the start.
    task_ms: the working time of its thread until it was quiet.
    """

    requests: float
    script_kb: float
    blocked_ms: float
    ready_ms: float
    task_ms: float


def opened(browser: Browser, url: str) -> Opening:
    """Open a page in a context of its own."""
    with contextlib.closing(
        browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, locale="en-US")
    ) as context:
        tab = context.new_page()
        tab.add_init_script(WATCH)
        wire = context.new_cdp_session(tab)
        wire.send("Network.enable")
        wire.send("Performance.enable")
        addresses: dict[str, str] = {}
        sizes: dict[str, float] = {}
        wire.on(
            "Network.requestWillBeSent",
            lambda sent: addresses.update({sent["requestId"]: sent["request"]["url"]}),
        )
        wire.on(
            "Network.loadingFinished",
            lambda done: sizes.update({done["requestId"]: done["encodedDataLength"]}),
        )
        tab.goto(url)
        tab.wait_for_function("opening.ready")
        tab.wait_for_load_state("networkidle")
        seen = tab.evaluate(READ)
        task = next(
            one["value"]
            for one in wire.send("Performance.getMetrics")["metrics"]
            if one["name"] == "TaskDuration"
        )
        asked = {
            number: address for number, address in addresses.items() if address.startswith("http")
        }
        ours = sum(
            sizes.get(number, 0)
            for number, address in asked.items()
            if "/ui/" in address and address.endswith(".js")
        )
        return Opening(len(asked), ours / 1000, seen["blocked"], seen["ready"], 1000 * task)


def measured(url: str, paths: list[str], rounds: int) -> dict[str, Opening]:
    """Return the median of each figure over some rounds, for each page."""
    seen: dict[str, list[Opening]] = {path: [] for path in paths}
    with fresh() as browser:
        opened(browser, url + paths[0])  # the browser's own beginnings
        for _ in range(rounds):
            for path in paths:
                seen[path].append(opened(browser, url + path))
    return {
        path: Opening(
            **{
                name: median([getattr(one, name) for one in each])
                for name in Opening.__dataclass_fields__
            }
        )
        for path, each in seen.items()
    }
