"""Which addresses on the network a message may go to."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

NOT_PUBLIC = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
    *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4"),
)
"""IPv4 addresses for special purposes, and multicast: the whole of IANA's registry, without exceptions."""

GLOBAL = IPv6Network("2000::/3")
"""All of IPv6 that IANA has given out for use between networks; whatever else there is, is not public."""

WITHIN_GLOBAL = (*("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3ffe::/16", "3fff::/20"),)
"""Addresses for special purposes among these: IANA's registry, and the former 6bone."""

_NOT_V4 = tuple(map(IPv4Network, NOT_PUBLIC))
_NOT_V6 = tuple(map(IPv6Network, WITHIN_GLOBAL))


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is public: neither of this machine, nor of a private network, nor special.

    An IPv6 address that stands for an IPv4 address (NAT64, 6to4, Teredo) is not, whichever that is; one that
    only writes it (``::ffff:…``) is what that is. The standard library's own answer depends on its version.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_V4)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    return address in GLOBAL and not any(address in network for network in _NOT_V6)
