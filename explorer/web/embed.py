"""One live view of a lab for a frame on another site: a course page, a slide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from explorer.contract.lab import OpenLab
from explorer.web.not_found import NOTHING

EMBED = "/embed/"  # followed by the path of a lab's page without its slash
VIEW = "_view"  # the key that names the view, "attention"; by default the first that a page offers
OWN = frozenset({VIEW, "lecture", "figure"})  # keys that are not passed on


def redirect_embedded(labs: Sequence[OpenLab]) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler that leads from EMBED and a lab's name to its page with one view alone."""
    pages = {lab.path for lab in labs}

    async def answer(request: Request) -> Response:
        page = f"/{request.path_params['rest']}"
        if page not in pages:
            return PlainTextResponse(NOTHING, 404)
        return RedirectResponse(f"{page}?{write_embedded_query(request.url.query)}")

    return answer


def write_embedded_query(query: str) -> str:
    """Return the query of a lab's page that shows one view alone.

    query: the state of the page as in any link to it, and VIEW.
    """
    given = parse_qsl(query, keep_blank_values=True)
    kept = [(key, text) for key, text in given if key not in OWN]
    name = next((text for key, text in given if key == VIEW), "")
    return urlencode([*kept, ("lecture", "figure"), *([("figure", name)] if name else [])])
