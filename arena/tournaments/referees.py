"""What the referees report about themselves and their bots; all are asked at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from arena.host.settings import Settings
from referee.client import RefereeStatus, referee_status
from referee.errors import RefereeUnavailable
from referee.matches.match import Attempt
from referee.tls import ClientTls

STATUS_SECONDS = 1.0
"""How long a referee may take to report its state."""


NO_REFEREE = "no referee has been started with this data folder, and ARENA_WORKER_TOKEN is not set"
"""Why no referee can be asked."""

OTHER_TOKEN = "does not take the workers' token; it may be another arena's (ARENA_REFEREES names this one's)"

TROUBLES = {
    "unavailable": "cannot be reached from here",
    "deadline_exceeded": "does not answer",
    "token_unknown": OTHER_TOKEN,
    "token_scope": OTHER_TOKEN,
}
"""Why a referee gives no answer, by the code of the failure."""


REFUSED = "connection refused"
"""What gRPC says, among other things, if nobody listens."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a referee, or why there is none."""

    address: str
    status: RefereeStatus | None
    """None if it gave no answer."""
    problem: str = ""
    """Why it gave none."""

    @property
    def usable(self) -> RefereeStatus | None:
        """The status, if the referee takes matches."""
        return None if self.status is None or self.status.draining else self.status

    @property
    def trouble(self) -> str:
        """Why it cannot be used, to follow its name; empty if it can."""
        if self.status is not None:
            return "is shutting down" if self.status.draining else ""
        code, _, details = self.problem.removeprefix(f"referee {self.address}: ").partition(": ")
        if code == "unavailable" and REFUSED in details.lower():
            return f"{TROUBLES[code]}: {REFUSED}, nobody listens there"
        return TROUBLES.get(code, f"says {code}: {details}")


def silence(answers: Sequence[Answer]) -> str:
    """Return why no referee says who is connected to it; empty if one does."""
    if any(answer.usable is not None for answer in answers):
        return ""
    return ", ".join(f"referee {answer.address} {answer.trouble}" for answer in answers) or NO_REFEREE


Ask = Callable[[Sequence[int], Mapping[str, object] | None], Sequence[Answer]]
"""Asks all referees for their state, that of these bot versions, and what these lack for a ruleset."""


def nobody_asked(version_ids: Sequence[int], ruleset: Mapping[str, object] | None) -> Sequence[Answer]:
    """Return no answers, for when no referee can be asked."""
    return ()


def asker(settings: Settings) -> Ask:
    """Return the function that asks the configured referees; it asks nobody if the worker token is not known.

    Raise SettingsError for a wrong TLS file.
    """
    if settings.worker_token is None and not (settings.data / "worker-token").is_file():
        return nobody_asked
    tls, token = settings.client_tls(), settings.worker_secret()

    def ask(version_ids: Sequence[int], ruleset: Mapping[str, object] | None) -> Sequence[Answer]:
        return ask_referees(
            settings.referees, token, version_ids, ruleset=ruleset, tls=tls, timeout=STATUS_SECONDS
        )

    return ask


def ask_referees(
    addresses: Sequence[str],
    token: str,
    version_ids: Sequence[int],
    *,
    ruleset: Mapping[str, object] | None = None,
    attempts: Collection[Attempt] = (),
    tls: ClientTls | None,
    timeout: float,
) -> list[Answer]:
    """Return what each referee says within ``timeout`` seconds about itself and these bot versions.

    With ``ruleset`` it also says what the ruleset requires that they cannot do, and with ``attempts`` whether
    it has begun one of them.
    """

    def ask(address: str) -> Answer:
        try:
            status = referee_status(
                address, token, version_ids, ruleset=ruleset, attempts=attempts, tls=tls, timeout=timeout
            )
            return Answer(address, status)
        except RefereeUnavailable as error:
            return Answer(address, None, str(error))

    with ThreadPoolExecutor(len(addresses)) as pool:
        return list(pool.map(ask, addresses))


def find_connected(version_ids: Sequence[int], answers: Sequence[Answer]) -> Mapping[int, bool]:
    """Return which of these versions have a stream to a referee; empty without a usable answer."""
    usable = [status for answer in answers if (status := answer.usable) is not None]
    return {
        version_id: any(status.bots[at].connected for status in usable)
        for at, version_id in enumerate(version_ids if usable else ())
    }


def find_unable(version_ids: Sequence[int], answers: Sequence[Answer]) -> dict[int, tuple[str, ...]]:
    """Return what each version that cannot play lacks; each referee answers for all versions, in order."""
    return {
        version_id: bot.lacks
        for answer in answers
        if answer.status is not None
        for version_id, bot in zip(version_ids, answer.status.bots, strict=True)
        if bot.lacks
    }


def find_too_few(version_ids: Sequence[int], answers: Sequence[Answer], least: int) -> dict[int, int]:
    """Return the sessions of each connected version that takes fewer than ``least`` of them at a referee."""
    return {
        version_id: bot.max_sessions
        for answer in answers
        if answer.usable is not None
        for version_id, bot in zip(version_ids, answer.usable.bots, strict=True)
        if bot.connected and 0 < bot.max_sessions < least
    }
