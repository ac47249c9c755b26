"""Known vulnerabilities of the installed packages, by pip-audit: asked of PyPI, and of OSV where
PyPI knows nothing.

Nothing is skipped silently: where nobody can be asked, the closing line gives the reason, and
`make test` prints that line last. A finding ends in failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVICES = ("pypi", "osv")
PATIENCE = 180  # seconds for one service
UNREACHABLE = (
    *(
        "ConnectionError",
        "ConnectTimeout",
        "HTTPError",
        "Max retries",
        "NameResolutionError",
        "ProxyError",
        "ServiceError",
        "timed out",
    ),
    *("NewConnectionError", "Network is unreachable", "Temporary failure in name resolution"),
)


@dataclass(frozen=True)
class Reply:
    """A service's reply. packages: all it was asked about; reason: why there are none."""

    packages: list[dict[str, Any]]
    reason: str = ""

    @property
    def known_packages(self) -> list[dict[str, Any]]:
        """The packages that the service knows."""
        return [package for package in self.packages if "skip_reason" not in package]


def ask_service(service: str) -> Reply:
    """Return the reply of a service about the installed packages.

    Raise RuntimeError where pip-audit fails for another reason than the network.
    """
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--local",
        "--vulnerability-service",
        service,
        "--format",
        "json",
    ]
    try:
        done = subprocess.run(
            [*command, "--progress-spinner", "off"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Reply([], f"no answer within {PATIENCE} s")
    if done.stdout.strip():
        return Reply(json.loads(done.stdout)["dependencies"])
    if unreachable(done.stderr):
        return Reply(
            [], f"it cannot be reached from here ({done.stderr.strip().splitlines()[-1][:120]})"
        )
    raise RuntimeError(done.stderr.strip())


def unreachable(said: str) -> bool:
    """Whether a program failed because of the network."""
    return any(sign in said for sign in UNREACHABLE)


def main(files: Sequence[str] = ()) -> int:
    """Audit, print the closing line last and write it to `files` too. Return the exit status: 0
    when nothing is known against a package or nobody could be asked, 1 when something is."""
    status, line = audit_packages()
    print(line)
    for file in files:
        Path(file).write_text(f"{line}\n", "utf-8")
    return status


def audit_packages() -> tuple[int, str]:
    """Return the exit status and the closing line, after the first service that knows anything."""
    reasons = []
    for service in SERVICES:
        reply = ask_service(service)
        if reply.known_packages:
            return print_findings(service, reply)
        reasons.append(
            f"{service}: {reply.reason or f'it knows none of the {len(reply.packages)} packages'}"
        )
    return 0, f"audit: NOT DONE, nobody could be asked about vulnerabilities; {'; '.join(reasons)}"


def print_findings(service: str, reply: Reply) -> tuple[int, str]:
    """Print every finding. Return 1 where there is one, else 0, and the line that counts them."""
    found = [
        (package, entry) for package in reply.known_packages for entry in package.get("vulns", [])
    ]
    for package, entry in found:
        mended = ", ".join(entry["fix_versions"]) or "no version yet"
        print(f"audit: {package['name']} {package['version']}: {entry['id']}, mended in {mended}")
    unknown = [package["name"] for package in reply.packages if "skip_reason" in package]
    left = f"; not known there: {', '.join(unknown)}" if unknown else ""
    count = f"{len(reply.known_packages)} packages asked about at {service}, {len(found)} findings"
    return min(len(found), 1), f"audit: {count}{left}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
