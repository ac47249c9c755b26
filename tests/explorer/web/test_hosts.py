"""By which address visitors are told apart, and who may frame a page."""

from __future__ import annotations

import pytest

from explorer.values.hosts import UNKNOWN, Proxies, find_network
from explorer.web.launch import main

PEER = "127.0.0.1"
SPACE = {"SPACE_ID": "somebody/explorer"}
ANY = {"FORWARDED_ALLOW_IPS": "*"}
NAMED = {"FORWARDED_ALLOW_IPS": "192.0.2.7, 10.0.0.0/8, 2001:db8::/64"}


@pytest.mark.parametrize(
    ("environment", "peer", "forwarded", "host"),
    [
        ({}, PEER, "", PEER),
        ({}, PEER, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        # who connects is no proxy, and may write anything
        ({}, "203.0.113.5", "198.51.100.1", "203.0.113.5"),
        (SPACE, "10.16.3.80", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (SPACE, "10.16.3.80", "198.51.100.1, 203.0.113.9, 10.16.9.1", "203.0.113.9"),
        (SPACE, "10.16.3.80", "10.1.1.1, 10.16.9.1", "10.1.1.1"),
        (SPACE, "203.0.113.5", "198.51.100.1", "203.0.113.5"),
        (ANY, "203.0.113.5", "198.51.100.1,192.168.1.17", "192.168.1.17"),
        (NAMED, "192.0.2.7", "198.51.100.1, 203.0.113.9, 10.1.2.3, 192.0.2.7", "203.0.113.9"),
        (NAMED, "::ffff:192.0.2.7", "203.0.113.9", "203.0.113.9"),
        (NAMED, "2001:db8::1", "[2001:db8:1::5]:443", "2001:db8:1::5"),
        (NAMED, PEER, "203.0.113.9", PEER),
        ({}, PEER, "203.0.113.9:1234", "203.0.113.9"),
        ({}, PEER, "203.0.113.9, made-up", "made-up"),
        ({}, PEER, "203.0.113.9,", ""),
        ({"FORWARDED_ALLOW_IPS": ""}, PEER, "203.0.113.9", PEER),
    ],
)
def test_the_last_address_that_no_proxy_wrote_counts(
    environment: dict[str, str],
    peer: str,
    forwarded: str,
    host: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SPACE_ID", "FORWARDED_ALLOW_IPS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Proxies.of_environment().visitor(peer, forwarded) == host


@pytest.mark.parametrize("host", ["", "made-up", "203.0.113", "localhost", "9" * 5000])
def test_what_is_no_address_shares_one_place(host: str) -> None:
    assert find_network(host) == UNKNOWN != ""


def test_a_proxy_that_is_no_address_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "192.0.2.7,nginx")
    with pytest.raises(SystemExit):
        main([])
    assert "FORWARDED_ALLOW_IPS: 'nginx' does not appear to be" in capsys.readouterr().err
