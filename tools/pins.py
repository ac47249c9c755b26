"""Whether all pins resolve together in an empty environment: ``python tools/pins.py STAMP REQUIREMENTS…``.

pip is asked to plan an installation from nothing, without installing. STAMP is written when it can, so that make asks again only after a
pin has changed. Where no package index can be reached, that is said, and nothing is written.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from audit import ROOT, unreachable

PATIENCE = 900  # seconds
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s#;]+)")


def pins(files: list[Path]) -> dict[str, str]:
    """Every pin by its normalised name. Raises ValueError for a requirement that pins nothing."""
    found = {}
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            if not line.strip() or line.startswith(("#", "-r ")):
                continue
            match = PIN.match(line)
            if match is None:
                raise ValueError(f"{file.name}: “{line}” pins no version")
            found[normal(match[1])] = match[2]
    return found


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Exit status: 0 when all pins resolve or no index can be reached, 1 when they do not."""
    stamp, files = Path(arguments[0]), [Path(name) for name in arguments[1:]]
    wanted, began = pins(files), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", str(report)]
        for file in files:
            command += ["-r", str(file)]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            print(f"pins: NOT CHECKED, pip did not answer within {PATIENCE} s")
            return 0
        if done.returncode:
            if unreachable(done.stderr):
                print(f"pins: NOT CHECKED, no package index can be reached from here ({done.stderr.strip().splitlines()[-1][:120]})")
                return 0
            print(f"pins: they do not resolve together\n{done.stderr.strip()}")
            return 1
        planned = {normal(one["metadata"]["name"]): one["metadata"]["version"] for one in json.loads(report.read_text())["install"]}
    wrong = [f"{name}=={version}" for name, version in wanted.items() if planned.get(name, "").partition("+")[0] != version]
    if wrong:
        print(f"pins: not kept by pip's own plan: {', '.join(wrong)}")
        return 1
    told = f"pins: all {len(wanted)} resolve together, {len(planned)} packages in all"
    print(f"{told} ({time.monotonic() - began:.0f} s)")
    stamp.write_text(f"{told}, asked on {time.strftime('%Y-%m-%d')}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
