"""Results of the server's own examples, kept on disk from one start to the next; nothing that a visitor asked for is written here."""

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

from explorer.engine import Answer, Engine, Waiting
from explorer.engine.records import Function
from models import stored

LIMIT = 512 << 20  # bytes of all files together; what was not read for longest goes first
VARIABLE = "EXPLORER_CACHE"  # the folder; an empty value keeps nothing

logger = logging.getLogger(__name__)


class Disk:
    """Records in the files of one folder, by key. Safe from several threads and processes; a file that cannot be read is removed."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        """limit: bytes that the files may take together."""
        self.folder = folder
        self.limit = limit

    @classmethod
    def of_environment(cls) -> Disk | None:
        """The folder that $EXPLORER_CACHE names, else one in the user's cache folder; None where the variable is empty."""
        named = os.environ.get(VARIABLE)
        if named is not None:
            return cls(Path(named)) if named.strip() else None
        caches = os.environ.get("XDG_CACHE_HOME", "")
        try:
            return cls((Path(caches) if caches else Path.home() / ".cache") / "transformer-family-explorer")
        except RuntimeError:  # a user without a home
            return None

    def get(self, key: str) -> tuple[Any, float, str] | None:
        """The record of a key with its milliseconds and device, or None: never kept, damaged, or another's."""
        path = self._path(key)
        try:
            kept = stored.recall(path, key)
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever the file holds: it is made anew
            logger.warning("a kept result could not be read and is made again: %s", type(error).__name__)
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return kept

    def put(self, key: str, record: Any, milliseconds: float = 0.0, device: str = "") -> None:
        """Keep a record; where the folder cannot be written, or the record holds what no file can, nothing happens."""
        name = ""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
            os.close(number)
            stored.save(Path(name), record, milliseconds, device, key)
            Path(name).replace(self._path(key))
            self._shrink()
        except (OSError, TypeError) as error:
            logger.warning("a result could not be kept on disk: %s", type(error).__name__)
            if name:
                with contextlib.suppress(OSError):
                    Path(name).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"

    def _shrink(self) -> None:
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
    """An engine whose answers are read from disk where they were computed before, and written there once another engine gave them."""

    def __init__(self, engine: Engine, disk: Disk, version: str) -> None:
        """engine: who computes. version: changes with whatever could change an answer."""
        self._engine = engine
        self._disk = disk
        self._version = version

    async def stream(
        self, function: Function, request: Hashable, session: str = "", since: float | None = None
    ) -> AsyncGenerator[Waiting | list[Any] | Answer[Any], None]:
        """As the engine's own; what was read from disk comes without steps."""
        key = f"{self._version} {function} {request!r}"
        kept = await asyncio.to_thread(self._disk.get, key)
        if kept is not None:
            yield Answer(*kept, known=False)
            return
        async with contextlib.aclosing(self._engine.stream(function, request, session, since)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    await asyncio.to_thread(self._disk.put, key, update.value, update.milliseconds, update.device)
                yield update

    def known(self, function: Function, request: Hashable) -> Answer[Any] | None:
        """As the engine's own."""
        return self._engine.known(function, request)
