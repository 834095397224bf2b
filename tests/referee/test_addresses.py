"""Tests for addresses of referees as people write them."""

import pytest

from referee.errors import AddressError
from referee.net.addresses import read_addresses, split


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:8710", ("127.0.0.1", 8710)),
        ("arena.example.org:1", ("arena.example.org", 1)),
        ("[::1]:65535", ("::1", 65535)),
    ],
)
def test_split_when_an_address_is_right_then_it_has_two_parts(address: str, parts: tuple[str, int]) -> None:
    assert split(address) == parts


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("arena.example.org", "has no port: an address is HOST:PORT, such as arena.example.org:8710"),
        ("[::1]", "has no port: an address is HOST:PORT, such as [::1]:8710"),
        ("arena.example.org:", "is not an address: an address is HOST:PORT, such as 127.0.0.1:8710"),
        ("arena.example.org:x", "is not an address: "),
        (":8710", "is not an address: "),
        ("::1", "is not an address: "),
        ("http://a:1", "is not an address: "),
        ("a:0", ": a port is a number from 1 to 65535"),
        ("a:65536", ": a port is a number from 1 to 65535"),
    ],
)
def test_split_when_an_address_is_wrong_then_it_says_what_is(address: str, problem: str) -> None:
    with pytest.raises(AddressError) as caught:
        split(address)
    assert f"{address!r} {problem}".replace(" :", ":") in str(caught.value)


def test_addresses_when_they_are_listed_then_spaces_and_empty_ones_do_not_count() -> None:
    assert read_addresses(" a:1,, [::1]:2 ,") == ["a:1", "[::1]:2"]
    with pytest.raises(AddressError, match="names no address"):
        read_addresses(" , ")
