"""The server's log: one JSON object a line, without visitors' words and addresses."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
import warnings
from typing import TextIO

OURS = frozenset({"explorer", "models"})  # packages whose loggers name nothing that a visitor wrote
FRAMES = 3  # of a traceback that a library would have printed, the innermost

logger = logging.getLogger(__name__)


class Lines(logging.Formatter):
    """A formatter that writes a record as one line: time, level, source, message, and the record's
    `facts`.

    Of an exception only its kind and place are kept. Of another library's message only the first
    line is kept, without its arguments. The rest may quote what a visitor wrote.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        at = (
            time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z"
        )
        told: dict[str, object] = {
            "at": at,
            "level": record.levelname.lower(),
            "from": record.name,
            "said": _word_record(record),
        }
        told |= getattr(record, "facts", {})
        if record.exc_info and record.exc_info[1] is not None:
            told |= {
                "error": type(record.exc_info[1]).__name__,
                "where": "".join(traceback.format_tb(record.exc_info[2])),
            }
        return json.dumps(told, ensure_ascii=False, default=str)


def _word_record(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] in OURS:
        return record.getMessage()
    return str(record.msg).partition("\n")[0]


def log_exception(*_how: object, **_named: object) -> None:
    """Log the exception that is being handled.

    This replaces `traceback.print_exc`, whose text would end with the exception's own words.
    """
    error = sys.exc_info()[1]
    if error is not None:
        where = "".join(traceback.format_tb(error.__traceback__)[-FRAMES:])
        facts = {"error": type(error).__name__, "where": where}
        logger.error("a library could not go on", extra={"facts": facts})


def log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log the kind and the place of a warning; this replaces `warnings.showwarning`."""
    facts = {"kind": category.__name__, "where": f"{filename}:{lineno}"}
    logger.warning("a library warns", extra={"facts": facts})


def begin_logging() -> None:
    """Log everything of this process to standard error in this form; of other libraries, warnings.

    The exceptions and warnings that libraries print are logged too. Gradio prints one for every
    event that it cannot answer.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("explorer").setLevel(logging.INFO)
    traceback.print_exc = log_exception
    warnings.showwarning = log_warning
