"""The headers of every answer: what a page may load, who may frame or read it."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Message, Send

AGAIN = 5  # seconds after which a refused client may come again
# 'unsafe-eval': Gradio makes a Function of every gr.HTML template. Inline styles: it writes style
# attributes. The rest is our own host.
POLICY = (
    "default-src 'none'; script-src 'self' {scripts} 'unsafe-eval'; style-src 'self'"
    " 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src"
    " 'self'; media-src 'self' blob:; manifest-src 'self'; base-uri 'self'; form-action 'none';"
    " {framing}"
)
# Answers that are no pages: nothing in them may run or be framed.
CLOSED = "default-src 'none'; frame-ancestors 'none'"
# A document in a sandboxed frame: its own scripts, no origin, no requests.
FRAME = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src"
    " 'unsafe-inline'; img-src data:; {framing}"
)
PERMISSIONS = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(),"
    " microphone=(self), midi=(), payment=(), usb=()"
)


def add_headers(send: Send) -> Send:
    """Add our headers to an answer and remove those that would let other sites read it."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [
                (name, value)
                for name, value in message["headers"]
                if not name.startswith(b"access-control-") and name != b"server"
            ]
            kept += list_retry_headers(message["status"], dict(kept))
            message = {**message, "headers": kept + list_own_headers(dict(kept))}
        await send(message)

    return send_with_headers


def list_own_headers(present: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer that are not in `present` already."""
    wanted = {
        "content-security-policy": CLOSED,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "permissions-policy": PERMISSIONS,
        "cross-origin-opener-policy": "same-origin-allow-popups",
    }
    return [
        (name.encode(), value.encode())
        for name, value in wanted.items()
        if name.encode() not in present
    ]


def list_retry_headers(
    status: int, present: Mapping[bytes, bytes], wait: int = AGAIN
) -> list[tuple[bytes, bytes]]:
    """Return the header that tells a refused client after how many seconds to come again.

    It is empty where the refusal is final, or where the header is present already.
    """
    is_final = status not in {429, 503} or b"retry-after" in present
    return [] if is_final else [(b"retry-after", str(wait).encode())]


async def send_sentence(
    send: Send,
    status: int,
    sentence: str,
    kind: str = "text/plain; charset=utf-8",
    policy: str = CLOSED,
    wait: int = AGAIN,
) -> None:
    """Send an answer of one sentence, or of a whole page of this `kind`.

    wait: seconds after which a refused client may come again.
    """
    body = sentence.encode()
    start = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    start += [(b"content-security-policy", policy.encode()), *list_retry_headers(status, {}, wait)]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": start + list_own_headers(dict(start)),
        }
    )
    await send({"type": "http.response.body", "body": body})
