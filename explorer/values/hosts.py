"""Trust in names and addresses.

This module decides which host names of this site are believed (a QR code is drawn of these alone),
which sites may frame a page, and by which address visitors are told apart.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

UNKNOWN = "unknown"  # in place of an address
PRIVATE = "127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,::1,fc00::/7"
FRAMING = ("'self'", "https://huggingface.co", "https://*.hf.space")
SITE = re.compile(r"(?:https?://)?(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?")


def write_frame_policy() -> str:
    """Return the sites that may frame a page, as a directive of its Content-Security-Policy.

    Any site may, since a page holds nothing of its visitor's: no account, no cookie. Where
    EXPLORER_EMBED names sites, comma-separated ("course.example, *.school.example:8443"; https
    where no scheme is given), only these, this site and Hugging Face may. Raise ValueError where an
    entry is no host.
    """
    named = [
        name
        for part in os.environ.get("EXPLORER_EMBED", "").lower().split(",")
        if (name := part.strip())
    ]
    for name in named:
        if not SITE.fullmatch(name):
            raise ValueError(
                f"EXPLORER_EMBED: {name!r} is no host; course.example or *.school.example is meant"
            )
    sites = (
        (*FRAMING, *(name if "://" in name else f"https://{name}" for name in named))
        if named
        else ("*",)
    )
    return " ".join(("frame-ancestors", *sites))


def is_trusted_host(host: str, headers: Mapping[str, str]) -> bool:
    """Return whether `host` is a name of this site to the visitor who sent these headers.

    EXPLORER_HOSTS lists the names, comma-separated; a name without a port stands for any port.
    Without that variable three names are believed. These are the host of the request, the host of a
    Hugging Face Space, and the host under which the visitor's browser shows the page, where a proxy
    requests another one. The browser sends the last one as the referer. It counts only if the
    browser says that page and code are of one site, or if a browser that says nothing comes through
    a proxy that forwards the same host. X-Forwarded-Host alone proves nothing, because anybody may
    send it.

    host: the host, with its port where an address names one.
    """
    host = host.lower()
    named = {name.strip().lower() for name in os.environ.get("EXPLORER_HOSTS", "").split(",")} - {
        ""
    }
    if named:
        return host in named or host.rpartition(":")[0] in named
    if host in {headers.get("host", "").lower(), os.environ.get("SPACE_HOST", "").lower()} - {""}:
        return True
    try:
        page = urlsplit(headers.get("referer", "")).netloc.lower()
    except ValueError:
        return False
    site, forwarded = (
        headers.get("sec-fetch-site"),
        headers.get("x-forwarded-host", "").partition(",")[0].strip().lower(),
    )
    return host == page != "" and (site == "same-origin" or (site is None and forwarded == host))


def find_network(host: str) -> str:
    """Return the address by which a visitor is told from others.

    For IPv6 this is the whole /64, which belongs to one visitor. A host that is no address gives
    "unknown", and all of these share the limits of one address; "" stands for the server itself.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return UNKNOWN
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
        address = address.ipv4_mapped
    return str(address)


@dataclass(frozen=True)
class Proxies:
    """The proxies that are believed about a visitor's address.

    Each proxy appends to X-Forwarded-For the address of its own client, so the entries are read
    from the right. Everything left of the first entry that no proxy of ours wrote may be made up.

    networks: the networks of the proxies.
    any_peer: whether every peer counts as a proxy.
    """

    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()
    any_peer: bool = False

    @classmethod
    def of_environment(cls) -> Proxies:
        """Read FORWARDED_ALLOW_IPS: addresses and networks, comma-separated, or "*" for every peer.

        The default is this machine, and in a Hugging Face Space the private networks, since its
        proxies alone reach it there. Raise ValueError where an entry is no address.
        """
        named = os.environ.get(
            "FORWARDED_ALLOW_IPS", PRIVATE if "SPACE_ID" in os.environ else "127.0.0.1,::1"
        )
        if named.strip() == "*":
            return cls(any_peer=True)
        try:
            return cls(
                tuple(
                    ipaddress.ip_network(one.strip(), strict=False)
                    for one in named.split(",")
                    if one.strip()
                )
            )
        except ValueError as error:
            raise ValueError(f"FORWARDED_ALLOW_IPS: {error}") from None

    def visitor(self, peer: str, forwarded: str) -> str:
        """Return the host that a request comes from.

        peer: the host that has connected.
        forwarded: the values of X-Forwarded-For, joined by commas.
        """
        entries = [_without_port(entry.strip()) for entry in forwarded.split(",")]
        if not forwarded or not (self.any_peer or self._is_proxy(peer)):
            return peer
        return next((entry for entry in reversed(entries) if not self._is_proxy(entry)), entries[0])

    def _is_proxy(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self.networks)


def _without_port(entry: str) -> str:
    """Return the host of "192.0.2.1", "192.0.2.1:443", "[2001:db8::1]:443" or "2001:db8::1"."""
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry
