"""A real browser that says when a request began and when its picture was painted, by the page's own
clock."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from playwright.sync_api import Browser, Page, sync_playwright

BROWSER = "/usr/bin/chromium"
ARGUMENTS = (
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-sync",
)
PATIENCE = 120_000  # milliseconds, for a machine with other work
# A picture is painted when the frame that follows its drawing is through: a message posted in that
# frame's callback comes right after it. The clock starts with the event's own time stamp, which is
# when the key or the button went down.
SCRIPT = """
(() => {
  let since = 0, done = null;
  window.stopwatch = {
    begin(kind, finished, root) {
      since = 0;
      done = new Promise((resolve) => {
        addEventListener(kind, (event) => {
          since = event.timeStamp;
          const look = () => {
            if (!finished()) return;
            observer.disconnect();
            requestAnimationFrame(() => {
              const after = new MessageChannel();
              after.port1.onmessage = () => resolve(performance.now() - since);
              after.port2.postMessage(null);
            });
          };
          const observer = new MutationObserver(look);
          observer.observe(
            root, {attributes: true, childList: true, subtree: true, characterData: true});
          look();
        }, {capture: true, once: true});
      });
    },
    milliseconds: () => done,
  };
})();
"""


@contextlib.contextmanager
def fresh() -> Iterator[Browser]:
    """Yield a browser of its own."""
    with sync_playwright() as driver:
        arguments = [f"--{argument}" for argument in ARGUMENTS]
        with contextlib.closing(
            driver.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", BROWSER), args=arguments
            )
        ) as browser:
            yield browser


@contextlib.contextmanager
def page(width: int = 1280, height: int = 900) -> Iterator[Page]:
    """Yield a page of a new browser, with a stopwatch in it (`stopwatch.begin`,
    `stopwatch.milliseconds`)."""
    with fresh() as browser:
        context = browser.new_context(viewport={"width": width, "height": height}, locale="en-US")
        context.set_default_timeout(PATIENCE)
        context.add_init_script(SCRIPT)
        yield context.new_page()
