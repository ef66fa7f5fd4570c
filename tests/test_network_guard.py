"""The guard itself: a test that reaches another machine fails loudly, loopback stays open."""

from __future__ import annotations

import socket

import pytest

from tests.network_guard import NetworkBlockedError, is_local

ELSEWHERE = "192.0.2.1"  # reserved for documentation, routed nowhere


@pytest.mark.parametrize(
    "address",
    [
        ("127.0.0.1", 80),
        ("::1", 80, 0, 0),
        ("localhost", 80),
        ("127.9.9.9", 1),
        "/tmp/a.sock",
        "\0abstract",
        None,
    ],
)
def test_this_machine_is_local(address: object) -> None:
    assert is_local(address)


@pytest.mark.parametrize("address", [(ELSEWHERE, 80), ("example.com", 443), ("2001:db8::1", 80, 0, 0), "example.com"])
def test_other_machines_are_not(address: object) -> None:
    assert not is_local(address)


def test_connecting_elsewhere_is_refused() -> None:
    with socket.socket() as client, pytest.raises(NetworkBlockedError, match=ELSEWHERE):
        client.connect((ELSEWHERE, 80))


def test_a_datagram_elsewhere_is_refused() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(NetworkBlockedError, match=ELSEWHERE):
        client.sendto(b"", (ELSEWHERE, 53))


def test_looking_up_a_name_is_refused() -> None:
    with pytest.raises(NetworkBlockedError, match=r"example\.com"):
        socket.getaddrinfo("example.com", 443)


def test_loopback_works() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        client.sendall(b"ping")
        connection, _ = server.accept()
        with connection:
            assert connection.recv(4) == b"ping"
