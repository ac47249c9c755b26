"""Which names of this site are believed, of which alone a QR code is drawn; which sites may show a page of ours in a frame; and by what
visitors are told apart."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

FRAMING = ("'self'", "https://huggingface.co", "https://*.hf.space")
SITE = re.compile(r"(?:https?://)?(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?")


def framing() -> str:
    """Who may frame a page, as a directive of its Content-Security-Policy: this site, Hugging Face, and who is named by EXPLORER_EMBED,
    comma-separated ("course.example, *.school.example:8443"; https where no scheme is given). ValueError for what is no such name.
    """
    named = [name for part in os.environ.get("EXPLORER_EMBED", "").lower().split(",") if (name := part.strip())]
    for name in named:
        if not SITE.fullmatch(name):
            raise ValueError(f"EXPLORER_EMBED: {name!r} is no host; course.example or *.school.example is meant")
    return " ".join(("frame-ancestors", *FRAMING, *(name if "://" in name else f"https://{name}" for name in named)))


def believed(host: str, headers: Mapping[str, str]) -> bool:
    """Whether `host`, with its port where an address names one, is a name of this site to the visitor who sent these headers.

    EXPLORER_HOSTS names them all, comma-separated; one without a port stands for any. Left out, they are the name that was asked for, a
    Hugging Face Space's own, and the one under which a visitor's browser has the page open, where a proxy asks for another: the browser
    tells it as the referer, and must say itself, or hear from the proxy too, that page and code are of one site. X-Forwarded-Host alone,
    which anybody may send, proves nothing.
    """
    host = host.lower()
    named = {name.strip().lower() for name in os.environ.get("EXPLORER_HOSTS", "").split(",")} - {""}
    if named:
        return host in named or host.rpartition(":")[0] in named
    if host in {headers.get("host", "").lower(), os.environ.get("SPACE_HOST", "").lower()} - {""}:
        return True
    try:
        page = urlsplit(headers.get("referer", "")).netloc.lower()
    except ValueError:
        return False
    site, forwarded = headers.get("sec-fetch-site"), headers.get("x-forwarded-host", "").partition(",")[0].strip().lower()
    return host == page != "" and (site == "same-origin" or (site is None and forwarded == host))


def network(host: str) -> str:
    """The address by which a visitor is told from others: whoever has one of IPv6 has its whole /64. "" for what is none."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
        address = address.ipv4_mapped
    return str(address)
