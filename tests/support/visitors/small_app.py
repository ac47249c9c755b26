"""The app with the labs of a benchmark: python -m tests.support.visitors.small_app PORT.

LABS are those that benchmarks visit: all, or at the smallest size the translation lab alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.sizes import size
from explorer.contract.lab import OpenLab
from explorer.labs import LABS as ALL
from explorer.web import log
from explorer.web.launch import serve

LABS: Sequence[OpenLab] = size(ALL, tuple(lab for lab in ALL if lab.slug == "translation"))

if __name__ == "__main__":
    log.begin_logging()
    serve(list(LABS), "127.0.0.1", int(sys.argv[1]))
