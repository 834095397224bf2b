"""Options of a referee's server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from referee.matches.connections import MAX_SESSIONS
from referee.matches.journal import Journal, NoJournal
from referee.matches.match import Signed
from referee.net.tls import ServerTls
from referee.service.meter import Meter

if TYPE_CHECKING:
    from referee.service.begun import BegunAttempts
    from referee.signing import SigningKey


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of a referee's server."""

    addresses: Sequence[str] = ()
    """Addresses of all referees of the arena; bots open a stream to each."""
    ids: Sequence[str] = ()
    """Stable names of these referees, in the same order; if empty, their addresses."""
    share: tuple[int, int] = (0, 1)
    """This referee's index, from 0, and the number of referees: they divide a bot's sessions among them."""
    tls: ServerTls | None = None
    """None for no TLS."""
    drain_seconds: float = 30.0
    """How long open sessions may go on when the referee stops."""
    open_to_spectators: bool = True
    """Whether anyone may watch, without a token."""
    journal: Journal = NoJournal()  # noqa: RUF009  # it has no state
    """Keeps what bots' authors may read later."""
    meter: Meter = Meter()  # noqa: RUF009  # nor has this
    """Counts what happens."""
    key: "SigningKey | None" = None
    """Signs the results of sessions; None if they have only a digest, and no signature."""
    begun: "BegunAttempts | None" = None
    """Remembers the attempts at sessions that were begun; None if they may be begun again."""
    for_tools: bool = True
    """Whether operators' tools are served: health and reflection, which a light installation lacks."""

    @property
    def sign(self) -> Callable[[str], Signed]:
        """The function that signs the digest of a session's result."""
        return unsigned if self.key is None else self.key.sign

    @property
    def referees(self) -> list[tuple[str, str]]:
        """Return the id and the address of each referee of the arena."""
        return list(zip(self.ids or self.addresses, self.addresses, strict=True))

    @property
    def referee_id(self) -> str:
        """Return this referee's own id; empty if it is not known."""
        return self.referees[self.share[0]][0] if self.addresses else ""

    def share_of(self, sessions: int) -> int:
        """Return how many of a bot's sessions at once this referee may give it.

        All referees together keep to the bot's limit; ``sessions`` is 0 if the bot leaves it to them.
        """
        index, referees = self.share
        total = min(sessions or MAX_SESSIONS * referees, MAX_SESSIONS * referees)
        return total // referees + (index < total % referees)


def unsigned(digest: str) -> Signed:
    """Return a digest without a signature."""
    return Signed(digest, "", "")
