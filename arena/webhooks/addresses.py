"""Which addresses on the network a message may go to."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network

NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""IPv6 addresses that stand for IPv4 addresses."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is public: neither of this machine nor of a private network."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None or any(address in network for network in NAT64):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved
