"""Write the lock files anew, after a pin has changed: ``python tools/lock.py [--upgrade]``.

A package that no pin names keeps the version that is locked, unless --upgrade asks for the newest.

requirements.lock, requirements-dev.lock and requirements-cluster.lock name each package that
requirements.txt, requirements-dev.txt and requirements-cluster.txt lead to. For each they give one
version for every Python that the project runs on, and the hashes of all files of that version, as
the package index has them. So they hold on any platform, not only on that of their author. Only
pip's default index is asked, and its address is not written down.

torch and its own packages (CUDA, Triton) are left out: a CPU build of it, from a local file or from
PyTorch's own index, is the same version with another hash, and needs none of the CUDA packages.
make installs the lock first and then torch by requirements.txt.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = "uv==0.13.9"  # resolves for all platforms at once, which pip cannot
OLDEST = "3.11"  # Python
FILES = {
    f"{name}.txt": f"{name}.lock"
    for name in ("requirements", "requirements-dev", "requirements-cluster")
}
# pip itself belongs to the virtual environment.
OUTSIDE = re.compile(r"^(torch|triton|pip|nvidia-.*|cuda-.*)$")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s#;]+)")
FIRST = (
    "# Written by tools/lock.py from {}: every package with the hashes of all its files. torch is"
    " not here; that file says why.\n"
)


def pins(files: Iterable[Path]) -> dict[str, str]:
    """Return every pin by its normalised name.

    Raise ValueError for a requirement that pins nothing.
    """
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
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entries(text: str) -> dict[str, list[str]]:
    """Return the blocks of a lock file by package: one for each version of it, with its hashes."""
    found: dict[str, list[str]] = {}
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M):
        if match := re.match(r"([A-Za-z0-9._-]+)==", block):
            found.setdefault(match[1], []).append(block)
    return found


def main() -> int:
    """Write all lock files and return the exit status 0."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        subprocess.run(
            [
                f"{folder}/bin/python",
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                UV,
            ],
            check=True,
        )
        before: list[str] = []
        for wanted, lock in FILES.items():
            told = Path(folder) / lock
            if "--upgrade" not in sys.argv[1:]:  # uv prefers the versions that the file holds
                shutil.copy(ROOT / lock, told)
            command = [
                f"{folder}/bin/uv",
                "pip",
                "compile",
                "--quiet",
                "--universal",
                "--python-version",
                OLDEST,
                "--generate-hashes",
            ]
            command += [
                "--no-header",
                "--no-annotate",
                *before,
                wanted,
                "--output-file",
                str(told),
            ]
            subprocess.run(command, cwd=ROOT, check=True)
            kept = [
                block
                for name, blocks in entries(told.read_text("utf-8")).items()
                if not OUTSIDE.match(name)
                for block in blocks
            ]
            (ROOT / lock).write_text(FIRST.format(wanted) + "".join(kept), "utf-8")
            # The app is tested with the versions that it runs with.
            before = ["--constraints", str(told)]
            print(f"lock: {lock} holds {len(kept)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
