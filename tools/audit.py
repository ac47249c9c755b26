"""Known vulnerabilities of the pinned packages, by pip-audit, where a vulnerability service can be reached.

Nothing is skipped silently: without the service the reason is printed. A finding ends in failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNREACHABLE = (
    "ConnectionError",
    "Max retries",
    "NameResolutionError",
    "ServiceError",
    "ConnectTimeout",
    "HTTPError",
    "ProxyError",
    "timed out",
)


def main() -> int:
    """Exit status: 0 when nothing is known against a pin or nobody could be asked, 1 when something is."""
    command = [sys.executable, "-m", "pip_audit", "--local", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        print("audit: not done, the vulnerability service did not answer within 120 s")
        return 0
    if not done.stdout.strip():
        if any(sign in done.stderr for sign in UNREACHABLE):
            print("audit: not done, the vulnerability service cannot be reached from here:", done.stderr.strip().splitlines()[-1][:160])
            return 0
        print(done.stderr.strip())
        return done.returncode or 1
    packages = json.loads(done.stdout)["dependencies"]
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    found = [(package, entry) for package in packages for entry in package.get("vulns", [])]
    for package, entry in found:
        mended = ", ".join(entry["fix_versions"]) or "no version yet"
        print(f"audit: {package['name']} {package['version']}: {entry['id']}, mended in {mended}")
    known = len(packages) - len(unknown)
    print(f"audit: {known} packages asked about, {len(found)} findings; the service did not know {len(unknown)} of {len(packages)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
