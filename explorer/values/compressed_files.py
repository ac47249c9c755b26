"""Files that browsers fetch: compressed once and kept in memory.

Each is named by its content, so that a browser fetches it only once.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import brotli
from starlette.requests import Request
from starlette.responses import Response

IMMUTABLE = "public, max-age=31536000, immutable"
CHECK = "no-cache"  # the browser keeps it and asks each time whether it is still the same
SQUEEZABLE = (
    "text/",
    "application/javascript",
    "application/json",
    "image/svg+xml",
    "application/manifest+json",
    "application/wasm",
)


@dataclass(frozen=True)
class Asset:
    """One file in the forms that browsers accept.

    brotli and gzip are None where compressing gains nothing.
    """

    kind: str  # media type
    etag: str
    plain: bytes
    gzip: bytes | None = None
    brotli: bytes | None = None

    @classmethod
    def compress(cls, data: bytes, kind: str, effort: int = 5) -> Asset:
        """Return `data`, compressed for sending.

        effort: brotli's quality, 0 to 11; 9 takes 0.07 s a megabyte, 11 twenty times that.
        """
        etag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
        if len(data) < 256 or not kind.startswith(SQUEEZABLE):
            return cls(kind, etag, data)
        return cls(
            kind, etag, data, gzip.compress(data, 6, mtime=0), brotli.compress(data, quality=effort)
        )

    def respond(self, request: Request, cache: str) -> Response:
        """Return the response to a GET or HEAD: the smallest form that the browser accepts.

        The response is 304 where the browser holds this file already.
        """
        headers = {"cache-control": cache, "etag": self.etag, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        accepted = {
            part.split(";")[0].strip()
            for part in request.headers.get("accept-encoding", "").split(",")
        }
        if self.brotli is not None and "br" in accepted:
            headers["content-encoding"] = "br"
            return Response(self.brotli, media_type=self.kind, headers=headers)
        if self.gzip is not None and "gzip" in accepted:
            headers["content-encoding"] = "gzip"
            return Response(self.gzip, media_type=self.kind, headers=headers)
        return Response(self.plain, media_type=self.kind, headers=headers)


class Shelf:
    """A fixed set of files by name, each read and compressed at its first request.

    Names are looked up, never joined to a path.
    """

    def __init__(self, files: Mapping[str, Path | Callable[[], str]], effort: int = 5) -> None:
        """Hold files by name.

        files: the path of each file, or a function that writes it.
        effort: see `Asset.compress`.
        """
        self.files = dict(files)
        self.effort = effort
        self._assets: dict[str, Asset] = {}
        self._lock = threading.Lock()

    @classmethod
    def add_folder(cls, folder: Path, suffixes: frozenset[str]) -> Shelf:
        """Return a shelf of every file under `folder` with one of these suffixes, by its path
        inside.

        Links out of the folder are left out.
        """
        inside = folder.resolve()
        found = (Path(at, name) for at, _, names in os.walk(folder) for name in names)
        return cls(
            {
                path.relative_to(folder).as_posix(): path
                for path in sorted(path for path in found if path.suffix in suffixes)
                if not path.is_symlink()
                or (path.is_file() and path.resolve().is_relative_to(inside))
            }
        )

    def get_ready(self, name: str) -> Asset | None:
        """Return the file at once where it is compressed already, else None."""
        return self._assets.get(name)

    def get(self, name: str) -> Asset | None:
        """Return the file, or None where there is none of that name.

        The first call compresses: call it from a worker thread.
        """
        asset = self._assets.get(name)
        if asset is not None or name not in self.files:
            return asset
        with self._lock:
            if name not in self._assets:
                file = self.files[name]
                data = file.read_bytes() if isinstance(file, Path) else file().encode()
                self._assets[name] = Asset.compress(data, guess_media_type(Path(name)), self.effort)
        return self._assets[name]


def guess_media_type(path: Path) -> str:
    """Return the media type by the file's suffix; text is UTF-8."""
    known = {
        ".js": "application/javascript",
        ".css": "text/css",
        ".woff2": "font/woff2",
        ".svg": "image/svg+xml",
        ".json": "application/json",
        ".map": "application/json",
    }
    return (
        known.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    )
