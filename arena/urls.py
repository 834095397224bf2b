"""URLs of databases and brokers, as people and logs may see them."""

import re

HIDDEN = "***"

OPEN = ("host", "port", "user", "dbname", "sslmode", "ssl_cert_reqs", "connect_timeout", "application_name")
"""Names in a URL's query whose values are no secret; those of all others are hidden, known or not."""


def without_secrets(url: str) -> str:
    """Return a URL, or several separated by ``;``, without the passwords in its authority and query.

    It takes any text: what is no URL stays as it is.
    """
    return ";".join(_hide(one) for one in re.split(r";(?=[\w.+-]+://)", url))


def _hide(url: str) -> str:
    # To the last @: a password may hold any mark, and what is hidden beside it is no loss.
    place, mark, query = re.sub(r"://([^:/@?]*):.*@", rf"://\1:{HIDDEN}@", url, flags=re.DOTALL).partition(
        "?"
    )
    return place + mark + "&".join(_hide_value(pair) for pair in query.split("&"))


def _hide_value(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return pair if name in OPEN or not value else f"{name}{equals}{HIDDEN}"
