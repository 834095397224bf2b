"""Tokens that expire: the option, and how the date is shown."""

from datetime import date, datetime
from typing import Annotated, Protocol

import typer

from referee.cli.output import moment

ExpiresIn = Annotated[
    int | None, typer.Option(metavar="DAYS", help="Days until the token expires; by default it never does.")
]


class Dated(Protocol):
    """A token as it is listed."""

    @property
    def revoked_at(self) -> datetime | None: ...
    @property
    def expires_at(self) -> datetime | None: ...
    @property
    def last_used_on(self) -> date | None: ...


def token_text(token: Dated) -> str:
    """Return in words when a token was last used, when it expires and when it was revoked, as applicable."""
    used = f"used {token.last_used_on}" if token.last_used_on else "never used"
    until = f"until {moment(token.expires_at)}" if token.expires_at else ""
    revoked = f"revoked {moment(token.revoked_at)}" if token.revoked_at else ""
    return ", ".join(part for part in (used, revoked or until) if part)
