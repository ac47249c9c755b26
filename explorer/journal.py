"""The server's log: one JSON object a line, with no visitor's words and no visitor's address in it."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback


class Lines(logging.Formatter):
    """A record as one line: when, how grave, from where, what is said, and the `facts` that it carries.

    Of an exception only its kind and place are kept: its message may quote what a visitor wrote.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        told: dict[str, object] = {"at": at, "level": record.levelname.lower(), "from": record.name, "said": record.getMessage()}
        told |= getattr(record, "facts", {})
        if record.exc_info and record.exc_info[1] is not None:
            told |= {"error": type(record.exc_info[1]).__name__, "where": "".join(traceback.format_tb(record.exc_info[2]))}
        return json.dumps(told, ensure_ascii=False, default=str)


def begin() -> None:
    """From now on everything that is logged in this process goes to standard error in this form; of other libraries, warnings alone."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("explorer").setLevel(logging.INFO)
