"""A visitor's sound file, or what the microphone of the page gave, as a request carries it."""

from __future__ import annotations

from starlette.routing import Route

from explorer.media.uploads import FileReader
from models.explaining.errors import InputError
from models.media import sound_files


def describe_recording(data: bytes) -> dict[str, object]:
    """Return the sound of a file as a request spells it, and how it was changed. Raise InputError
    for a file that is not read."""
    read = sound_files.read_sound(data)
    return {"sound": sound_files.spell_sound(read.samples), "notice": read.notice}


def list_routes() -> list[Route]:
    """Return the route ``POST /recording``.

    The body is the file; the answer is {sound, notice} or {error}.

    error: {en, zh}, with status 413, 422 or 503.
    """
    busy = InputError(
        "busy",
        en="Many sounds are being read just now; yours can be sent again in a few seconds.",
        zh="此刻正在读许多声音；几秒后可再次发送。",
    )
    files = FileReader(sound_files.FILE, sound_files.refuse_size, busy)
    return [Route("/recording", files.reader(describe_recording), methods=["POST"])]
