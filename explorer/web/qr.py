"""The link to a view as a QR code, for the audience of a lecture."""

from __future__ import annotations

import asyncio
import io
from urllib.parse import urlsplit

import segno
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from explorer.values.hosts import is_trusted_host
from models.explaining.errors import InputError

LONGEST = 1200  # characters; beyond it the squares are too small for a phone at the back of a hall


def draw_svg(text: str) -> str:
    """Draw `text` as an SVG picture: black on white with the quiet zone of four squares.

    It looks the same in both themes, and the page scales it. Raise InputError when the text is
    empty or longer than 1,200 characters.
    """
    if not 0 < len(text) <= LONGEST:
        raise InputError(
            "qr",
            en=f"The link has {len(text):,} characters. A QR code here takes 1 to {LONGEST:,}.",
            zh=f"链接有 {len(text):,} 个字符。这里的二维码可以放 1 到 {LONGEST:,} 个。",
        )
    out = io.BytesIO()
    segno.make(text, error="l", micro=False).save(
        out, kind="svg", dark="#000000", light="#FFFFFF", border=4, omitsize=True, xmldecl=False
    )
    return out.getvalue().decode("utf-8")


async def serve_code(request: Request) -> Response:
    """Answer a request for the code of one of this site's addresses, which it calls `text`."""
    text = request.query_params.get("text", "")
    try:
        address = urlsplit(text)
    except ValueError:
        address = urlsplit("")
    if address.scheme not in {"http", "https"} or not is_trusted_host(
        address.netloc, request.headers
    ):
        return PlainTextResponse("A code is drawn for an address of this site.", 400)
    try:
        return Response(
            await asyncio.to_thread(draw_svg, text),
            media_type="image/svg+xml",
            headers={"cache-control": "private, max-age=3600"},
        )
    except InputError as error:
        return PlainTextResponse(str(error), 400)
