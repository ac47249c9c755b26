"""The results of the server's own examples, kept on disk from one start to the next.

Nothing that a visitor asks for is written here.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import AsyncGenerator, Hashable
from pathlib import Path
from typing import Any

from explorer.engine import Answer, Engine, QueuePlace
from explorer.engine.records import Function
from models.checkpoints import stored_results

LIMIT = 512 << 20  # bytes of all files together; the file that was not read for longest goes first
VARIABLE = "EXPLORER_CACHE"  # the folder; an empty value keeps nothing

logger = logging.getLogger(__name__)


class Disk:
    """Records in the files of one folder, by key.

    It may be used from several threads and processes. A file that cannot be read is removed.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        """Keep records in a folder.

        limit: bytes that the files may take together.
        """
        self.folder = folder
        self.limit = limit

    @classmethod
    def from_environment(cls) -> Disk | None:
        """Return the store in the folder that $EXPLORER_CACHE names, else in the user's cache
        folder.

        Returns None where the variable is empty.
        """
        named = os.environ.get(VARIABLE)
        if named is not None:
            return cls(Path(named)) if named.strip() else None
        caches = os.environ.get("XDG_CACHE_HOME", "")
        try:
            return cls(
                (Path(caches) if caches else Path.home() / ".cache") / "transformer-family-explorer"
            )
        except RuntimeError:  # the user has no home
            return None

    def get(self, key: str) -> tuple[Any, float, str] | None:
        """Return the record of a key with its milliseconds and device.

        Returns None where the record was never kept, is damaged, or belongs to another key.
        """
        path = self._find_path(key)
        try:
            kept = stored_results.recall(path, key)
        except FileNotFoundError:
            return None
        except Exception as error:  # because any damaged file is simply made anew
            logger.warning(
                "a stored result could not be read and is computed again: %s", type(error).__name__
            )
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return kept

    def put(self, key: str, record: Any, milliseconds: float = 0.0, device: str = "") -> None:
        """Keep a record.

        Nothing happens where the folder cannot be written, or where a file cannot hold the record.
        """
        name = ""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
            os.close(number)
            stored_results.save(Path(name), record, milliseconds, device, key)
            Path(name).replace(self._find_path(key))
            self._remove_oldest()
        except (OSError, TypeError) as error:
            logger.warning("a result could not be kept on disk: %s", type(error).__name__)
            if name:
                with contextlib.suppress(OSError):
                    Path(name).unlink(missing_ok=True)

    def _find_path(self, key: str) -> Path:
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"

    def _remove_oldest(self) -> None:
        files = []
        for path in self.folder.glob("*.npz"):
            with contextlib.suppress(OSError):  # another process may have removed it
                seen = path.stat()
                files.append((seen.st_mtime, seen.st_size, path))
        held = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if held <= self.limit:
                return
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            held -= size


class FromDisk(Engine):
    """An engine that reads its answers from disk, and writes there what another engine computes."""

    def __init__(self, engine: Engine, disk: Disk, version: str) -> None:
        """Put a disk store before an engine.

        engine: the engine that computes.
        version: a text that changes with everything that could change an answer.
        """
        self._engine = engine
        self._disk = disk
        self._version = version

    async def stream(
        self, function: Function, request: Hashable, session: str = "", since: float | None = None
    ) -> AsyncGenerator[QueuePlace | list[Any] | Answer[Any], None]:
        """Yield the updates of a request; see `Engine.stream`.

        A result from disk comes without steps.
        """
        key = f"{self._version} {function} {request!r}"
        kept = await asyncio.to_thread(self._disk.get, key)
        if kept is not None:
            yield Answer(*kept, known=False)
            return
        async with contextlib.aclosing(
            self._engine.stream(function, request, session, since)
        ) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    await asyncio.to_thread(
                        self._disk.put, key, update.value, update.milliseconds, update.device
                    )
                yield update

    def recall(self, function: Function, request: Hashable) -> Answer[Any] | None:
        """Return the remembered result of the engine; see `Engine.recall`."""
        return self._engine.recall(function, request)
