"""The exceptions of the arena, all with a one-line message for people.

ArenaError
 ├─ SettingsError    settings are wrong (``field``, ``reason``, ``problems``)
 ├─ StorageError     the database cannot be reached, read or written
 │   ├─ NoArena      there is no database
 │   └─ SchemaError  the database was made by another version of the arena
 ├─ BrokerError      the message broker cannot be reached
 ├─ SpecError        fields of what was asked for are wrong (``field``, ``reason``, ``problems``)
 ├─ NotAllowed       whoever asks may not do that
 ├─ NotSignedIn      it takes a sign-in, or a good key
 ├─ TooMany          there are too many requests already
 ├─ Unreachable      an arena on the network cannot be reached, or does not answer as one
 ├─ UnknownError     there is nothing of that name
 ├─ TakenError       the name is taken
 ├─ StateError       not possible in the present state
 ├─ LeaseLost        the match is no longer this worker's
 ├─ DatabaseChanged  the database went back to an earlier state
 └─ ProcessFailed    a child process ended as soon as it had started
"""

from collections.abc import Sequence

from referee.errors import FieldsWrong, Problem, ShownError


class ArenaError(ShownError):
    """Root of all errors that the arena raises on purpose."""


class SettingsError(FieldsWrong, ArenaError):
    """Settings are wrong. Each is named, by its own name or that of the variable that it comes from."""

    def __init__(self, setting: str, reason: str, *others: Problem) -> None:
        super().__init__(_named(setting), reason, *(Problem(_named(p.field), p.reason) for p in others))


def _named(setting: str) -> str:
    return setting if setting.isupper() else f"setting {setting}"


class StorageError(ArenaError):
    """The database cannot be reached, read or written."""


class NoArena(StorageError):
    """There is no arena where one was looked for."""


class SchemaError(StorageError):
    """The database was made by another version of the arena, and this one cannot use it."""


class BrokerError(ArenaError):
    """The message broker cannot be reached."""


class SpecError(FieldsWrong, ArenaError):
    """Fields of what was asked for are wrong."""


class NotAllowed(ArenaError):
    """Whoever asks may not do what was asked for."""


class NotSignedIn(ArenaError):
    """What was asked for takes a sign-in, or a good key."""


class TooMany(ArenaError):
    """There are as many requests, or long answers, as there may be; try again after ``seconds``."""

    def __init__(self, reason: str, seconds: int = 30) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Unreachable(ArenaError):
    """An arena on the network cannot be reached, or what answers there is none."""


class UnknownError(ArenaError):
    """There is no such bot, tournament, match or pool; ``reasons`` has a line for each."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons

    @property
    def lines(self) -> Sequence[str]:
        """Return a line for each of them."""
        return self.reasons


class TakenError(ArenaError):
    """There already is something of that name."""


class StateError(ArenaError):
    """What was asked for is not possible in the present state."""


class LeaseLost(ArenaError):
    """The match was cancelled, or another worker has it, so that its results must not be stored."""


class DatabaseChanged(ArenaError):
    """The database has another history than before: it may have forgotten attempts that were begun."""


class ProcessFailed(ArenaError):
    """A child process ended as soon as it had started, so that starting it again would not help."""

    def __init__(self, reason: str, printed: Sequence[str] = (), status: int = 1, cause: str = "") -> None:
        super().__init__(reason)
        self.printed = printed
        """The last lines that it printed."""
        self.status = status
        """Its exit status."""
        self.cause = cause
        """The last line that says why; empty if none does."""
