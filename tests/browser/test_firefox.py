"""A short walk in Firefox: another engine draws the pictures, reads the keys and runs a visitor's
own sentence.

Playwright drives a Firefox of its own making alone; Debian's speaks WebDriver BiDi
(w3.org/TR/webdriver-bidi) over a socket by itself.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from explorer.labs import LABS
from tests.pages import PATIENCE

LAB = next(lab for lab in LABS if lab.slug == "translation")
# It opens nothing but what the test asks for: whatever is not on this machine goes to a proxy that
# is not there.
PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.allow_hijacking_localhost": False,
    "app.update.disabledForTesting": True,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "en-US",
}
WAITS = """new Promise((done, fail) => {
  const look = () => {
    const it = EXPRESSION;
    if (it) done(it);
    else if (performance.now() > late) fail(new Error(`not so: ${document.title}`));
    else setTimeout(look, 50);
  };
  const late = performance.now() + PATIENCE;
  look();
})"""
KEYS = {"Enter": "\ue007", "Escape": "\ue00c"}


class Firefox:
    """One page of a Firefox, and what went wrong in it."""

    def __init__(self, socket: ClientConnection) -> None:
        """socket: a session's that has not begun."""
        self._socket, self._sent = socket, 0
        self.errors: list[str] = []
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._page = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": params}))
        while True:
            said = json.loads(self._socket.recv(timeout=2 * PATIENCE / 1000))
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.errors.append(said["params"]["text"])
            if said.get("id") == self._sent:
                assert said["type"] == "success", said
                found: dict[str, Any] = said["result"]
                return found

    def goes(self, url: str) -> None:
        """Opens an address and waits until it is loaded."""
        self._ask("browsingContext.navigate", context=self._page, url=url, wait="complete")

    def finds(self, expression: str) -> dict[str, Any]:
        """The value of an expression of JavaScript, once it is neither null nor false."""
        waits = WAITS.replace("EXPRESSION", expression).replace("PATIENCE", str(PATIENCE))
        found = self._ask(
            "script.evaluate", expression=waits, target={"context": self._page}, awaitPromise=True
        )
        assert found["type"] == "success", (expression, found, self.errors)
        value: dict[str, Any] = found["result"]
        return value

    def clicks(self, selector: str) -> None:
        """Presses the first element of a selector that can be seen with the mouse, once it is
        there."""
        seen = (
            f"[...document.querySelectorAll({json.dumps(selector)})].find((one) =>"
            " one.checkVisibility({ visibilityProperty: true }))"
        )
        node = self.finds(seen)["sharedId"]
        self._ask(
            "script.callFunction",
            functionDeclaration="(node) => node.scrollIntoView({ block: 'center' })",
            arguments=[{"sharedId": node}],
            target={"context": self._page},
            awaitPromise=False,
        )
        steps = [
            {
                "type": "pointerMove",
                "x": 0,
                "y": 0,
                "origin": {"type": "element", "element": {"sharedId": node}},
            }
        ]
        steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._ask(
            "input.performActions",
            context=self._page,
            actions=[{"type": "pointer", "id": "mouse", "actions": steps}],
        )

    def types(self, *keys: str) -> None:
        """Presses keys one after the other, where the focus is."""
        steps = [
            {"type": kind, "value": KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        self._ask(
            "input.performActions",
            context=self._page,
            actions=[{"type": "key", "id": "keys", "actions": steps}],
        )


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    """A Firefox with no window and a profile of its own."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    assert program, "Firefox is not installed: packages-dev.txt names it"
    (tmp_path / "user.js").write_text(
        "".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in PREFERENCES.items()
        )
    )
    command = [
        program,
        "--headless",
        "--no-remote",
        "--profile",
        str(tmp_path),
        "--remote-debugging-port",
        "0",
    ]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={"HOME": str(tmp_path), "LANG": "C"},
    ) as process:
        try:
            assert process.stderr is not None
            said = (re.search(r"BiDi listening on (ws://\S+)", line) for line in process.stderr)
            address = next(found[1] for found in said if found)
            with connect(f"{address}/session", max_size=None, proxy=None) as socket:
                yield Firefox(socket)
        finally:
            process.send_signal(signal.SIGKILL)


def test_a_walk_from_home_to_the_projector(firefox: Firefox, site: str) -> None:
    firefox.goes(site)
    firefox.finds(
        f"""[...document.querySelectorAll('a[href*="{LAB.path}"]')]
            .some((one) => one.checkVisibility())"""
    )
    firefox.goes(site + LAB.path)
    firefox.finds('document.querySelector(".tfe-badge")?.textContent === "stored"')
    firefox.finds('document.querySelector("[data-drawn] canvas")')
    firefox.clicks(".tfe-ask textarea")
    firefox.finds('document.querySelector(".tfe-ask textarea").select() ?? true')
    firefox.types(*"A cat reads a red book.", "Enter")
    firefox.finds('document.querySelector(".tfe-badge")?.textContent.startsWith("live")')
    firefox.finds('document.body.textContent.includes("Katze")')
    # What is pressed from here on stands still: a step scrolls the page to what it speaks of.
    firefox.clicks(".tfe-shell-rail .tfe-shell-next")
    firefox.finds(
        'location.search.includes("step=1") && document.querySelector(".tfe-shell-tour'
        ' [aria-current=step]")'
    )
    firefox.clicks(".tfe-shell-bar .tfe-shell-project")
    firefox.finds('document.querySelector(".tfe-projected canvas")')
    firefox.types("Escape")
    firefox.finds('!document.querySelector(".tfe-projected")')
    assert firefox.errors == []
