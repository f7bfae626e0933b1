"""Who may talk to the server that shows the application in a browser."""

import pytest

from tui.browser.server import FOREIGN_PAGE, UNKNOWN_HOST, Access, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "localhost:9000"])
def test_names_of_this_machine_are_taken(host: str) -> None:
    """With any port: one that ssh forwards is another than the server's."""
    access = Access("127.0.0.1", 8000)
    assert access.refuse(host, None, websocket=False) is None
    assert access.refuse(host, f"http://{host}", websocket=True) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example:8000", "evil.example", "127.0.0.1.evil.example:8000", "10.0.0.3:8000", "", "[::2]", "[", "127.1"],
)
def test_a_name_that_was_led_here_is_refused(host: str) -> None:
    """DNS rebinding: the page of another site asks under its own name, which leads to this machine."""
    assert Access("127.0.0.1", 8000).refuse(host, f"http://{host}", websocket=True) == UNKNOWN_HOST


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:8001", "https://localhost:8000", "http://127.0.0.1:8000"],
)
def test_another_origin_is_refused(origin: str) -> None:
    access = Access("127.0.0.1", 8000)
    assert access.refuse("localhost:8000", origin, websocket=False) == FOREIGN_PAGE
    assert access.refuse("localhost:8000", origin, websocket=True) == FOREIGN_PAGE


def test_a_socket_needs_an_origin() -> None:
    """Every browser sends one; what sends none is no page of ours."""
    assert Access("127.0.0.1", 8000).refuse("localhost:8000", None, websocket=True) == FOREIGN_PAGE


def test_an_address_that_others_reach_is_taken_where_it_was_named() -> None:
    """On all addresses any of them, but no name: a name can be led here."""
    assert Access("10.0.0.3", 8000).refuse("10.0.0.3:8000", None, websocket=False) is None
    assert Access("10.0.0.3", 8000).refuse("10.0.0.4:8000", None, websocket=False) == UNKNOWN_HOST
    assert Access("0.0.0.0", 8000).refuse("10.0.0.4:8000", None, websocket=False) is None
    assert Access("0.0.0.0", 8000).refuse("evil.example:8000", None, websocket=False) == UNKNOWN_HOST


def test_each_server_has_a_token_of_its_own() -> None:
    one, other = Access("127.0.0.1", 8000), Access("127.0.0.1", 8001)
    assert one.has_token(one.token) and not one.has_token(other.token) and len(one.token) >= 40
    assert not one.has_token("") and not one.has_token("ñ\ud800")
    assert one.cookie != other.cookie, "browsers give a cookie to all ports"


@pytest.mark.parametrize(
    ("address", "alone"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("127.0.0.2", True),
        ("0.0.0.0", False),
        ("10.0.0.3", False),
    ],
)
def test_which_addresses_this_machine_alone_reaches(address: str, alone: bool) -> None:
    assert is_loopback(address) is alone
