"""What authors say about their bots, checked: the language, and a link."""

import re
from urllib.parse import urlsplit

from arena.errors import SpecError

LANGUAGE = re.compile(r"[a-z0-9+#-]{1,20}")

LONGEST_LINK = 200
"""The most characters in a link."""

LINK = re.compile(r"https?://[!-~]+")
"""A link in printable ASCII; ``check_link`` checks the rest."""


def check_language(language: str) -> str:
    """Return ``language`` if it can be one; raise SpecError otherwise."""
    if not LANGUAGE.fullmatch(language):
        raise SpecError("language", f"{language!r} is not a language: 1 to 20 of a-z, 0-9, +, # and -")
    return language


def check_link(link: str) -> str:
    """Return ``link`` if it is one to a web page; raise SpecError otherwise.

    It may not contain a user name, which could make it look as if it led to another host.
    """
    if len(link) > LONGEST_LINK:
        raise SpecError("link", f"must have at most {LONGEST_LINK} characters, not {len(link)}")
    if not LINK.fullmatch(link) or not _leads_to_a_host(link):
        raise SpecError("link", f"{link!r} is not a link: http:// or https:// and a host, in ASCII")
    return link


def _leads_to_a_host(link: str) -> bool:
    try:
        parts = urlsplit(link)
        return bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:  # malformed brackets or port
        return False
