"""The exceptions of the referee, all with a one-line message for people.

RefereeError
 ├─ CardError            text that is no card of the ruleset, or more copies than packs
 ├─ RulesetError         fields of a ruleset are wrong (``field``, ``reason``, ``problems``)
 ├─ ProgramError         a program is not a bot written in Python (``field``, ``reason``)
 ├─ TomlError            a file cannot be read, or is not TOML (``path``, ``reason``)
 ├─ PlayError            an action that cannot be taken
 │   ├─ NotAPlay         the cards form no combination under this ruleset
 │   ├─ NotInHand        cards that the seat does not hold
 │   └─ IllegalHere      a combination (or a pass) that is not legal now
 ├─ PositionError        a text or a view does not describe a position
 ├─ UnknownCards         the answer depends on unknown cards of a position
 ├─ LearningError        an action or an option that an environment for learning does not accept
 ├─ RecordError          a deal record is wrong (``action``, ``reason``)
 ├─ AddressError         an address of a referee is not ``host:port``
 ├─ ListenError          the referee cannot listen on the address asked for
 ├─ RefereeUnavailable   the referee cannot be reached or went away; open sessions have no result
 │   └─ NotBegun         it never had the match: nobody was shown a card of it
 │       └─ TokenRefused it does not accept the token
 ├─ Refused              a call is refused or ended, with the reason (``referee.protocol.reasons``)
 ├─ Draining             the referee takes no new match at the moment
 ├─ TokenExpired         a token was valid once
 ├─ LogClosed            a token does not open a bot's log
 ├─ LogQueryError        a query for a bot's log is wrong
 ├─ MatchRefused         the referee does not take the match, and says why
 ├─ AttemptsBegun        a referee has begun attempts of the match before (``latest``)
 ├─ ConnectionRefused    the referee does not take the bot's connection, and says why
 ├─ WrongThread          a bot cannot run in this thread
 └─ BotFailed            the code of a bot raised an exception, or answered with a wrong type
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self


class Problem(NamedTuple):
    """One thing that is wrong in what was given."""

    field: str
    """Where, as a dotted path with the index of list items, such as ``multipliers[0].times``."""
    reason: str
    """What was wrong."""

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"

    def within(self, where: str) -> Self:
        """Return the problem as part of a larger whole, with ``where`` in front of its field."""
        return self._replace(field=f"{where}{self.field}")


class ShownError(Exception):
    """Root of all errors of ours that people are shown as they are, in one or more lines."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines to show: the message, or a line for each problem."""
        return (str(self),)


class FieldsWrong(ShownError):
    """Fields of the input are wrong: ``problems`` has all of them, ``field`` and ``reason`` the first."""

    def __init__(self, field: str, reason: str, *others: Problem) -> None:
        self.problems = (Problem(field, reason), *others)
        super().__init__("; ".join(map(str, self.problems)))
        self.field = field
        self.reason = reason

    @property
    def lines(self) -> Sequence[str]:
        """A line for each problem."""
        return tuple(map(str, self.problems))

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> Self:
        """Return the error for these problems, of which there must be at least one."""
        (field, reason), *others = problems
        return cls(field, reason, *others)


class RefereeError(ShownError):
    """Root of all errors that the referee raises on purpose."""


class CardError(RefereeError):
    """Text that is no card of the ruleset, or more copies of a card than it has packs."""


class RulesetError(FieldsWrong, RefereeError):
    """Fields of a ruleset are wrong."""


class ProgramError(FieldsWrong, RefereeError):
    """A program is not a bot written in Python, or cannot be loaded."""


class TomlError(RefereeError):
    """A file cannot be read, or is not TOML: ``path`` names it, ``reason`` says which."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class PlayError(RefereeError):
    """An action that cannot be taken; the message quotes what was tried."""


class NotAPlay(PlayError):
    """The cards form no combination under the ruleset."""


class NotInHand(PlayError):
    """The seat does not hold these cards."""


class IllegalHere(PlayError):
    """A combination, or a pass, that is not legal in the current position."""


class PositionError(RefereeError):
    """A text does not describe a position, or too little of a deal was seen for one."""


class UnknownCards(RefereeError):
    """The answer to a question about a position depends on cards that are not known."""


class LearningError(RefereeError):
    """An environment for learning does not accept an option or an action; the message says why."""


class RecordError(RefereeError):
    """A deal record is wrong: at ``action`` (0-based; None if no action is at fault), for ``reason``."""

    def __init__(self, action: int | None, reason: str) -> None:
        super().__init__(reason if action is None else f"action {action}: {reason}")
        self.action = action
        self.reason = reason


class AddressError(RefereeError):
    """An address of a referee is not ``host:port``; the message quotes it."""


class ListenError(RefereeError):
    """Addresses cannot be listened on: taken, not ours, or not allowed; ``reasons`` has a line for each."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons

    @property
    def lines(self) -> Sequence[str]:
        """A line for each address."""
        return self.reasons


class RefereeUnavailable(RefereeError):
    """The referee cannot be reached, or went away in the middle; open sessions have no result."""


class NotBegun(RefereeUnavailable):
    """The referee never had the match: nobody was shown a card of it."""


class TokenRefused(NotBegun):
    """The referee does not accept the token."""


class Draining(RefereeError):
    """The referee takes no new match at the moment."""


class TokenExpired(RefereeError):
    """A token was valid once; the message says whose it is, and when it expired."""


class LogClosed(RefereeError):
    """A token does not open a bot's log."""


class LogQueryError(RefereeError):
    """A query for a bot's log is wrong; the message names the field."""


class MatchRefused(RefereeError):
    """The referee does not take the match; the message says why."""


class AttemptsBegun(RefereeError):
    """A referee has begun attempts of the match before, and would deal the same cards again.

    ``latest`` is the highest number of an attempt that it has begun at one of the sessions.
    """

    def __init__(self, address: str, latest: int) -> None:
        super().__init__(f"referee {address} has begun attempt {latest} before")
        self.latest = latest


class ConnectionRefused(RefereeError):
    """The referee does not accept the bot's connection; the message says why."""


class WrongThread(RefereeError):
    """A bot cannot run in this thread: it is not the main one, or an event loop runs in it already."""


class BotFailed(RefereeError):
    """The code of a bot raised an exception, or answered with a wrong type; the message says which."""
