"""What the referees report about themselves and their bots; all are asked at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.pairing import owner_of
from arena.errors import StateError
from arena.host.settings import Settings
from arena.store.models import BotVersion
from arena.store.storage import Storage
from referee.errors import RefereeUnavailable, TokenRefused
from referee.matches.match import Attempt
from referee.net.client import KeptChannels, RefereeStatus, ask_status

STATUS_SECONDS = 1.0
"""How long a referee may take to report its state."""


NO_REFEREE = "no referee has been started with this data folder, and ARENA_WORKER_TOKEN is not set"
"""Why no referee can be asked."""

OTHER_TOKEN = "does not take the workers' token; it may be another arena's (ARENA_REFEREES names this one's)"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a referee, or why there is none."""

    address: str
    status: RefereeStatus | None
    """None if it gave no answer."""
    problem: str = ""
    """Why it gave none, to follow its name."""

    @property
    def usable(self) -> RefereeStatus | None:
        """The status, if the referee takes matches."""
        return None if self.trouble else self.status

    @property
    def trouble(self) -> str:
        """Why it cannot be used, to follow its name; empty if it can."""
        if self.status is not None:
            why = self.status.not_ready
            return "is shutting down" if self.status.draining else why and f"takes no match: {why}"
        return self.problem


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
        with KeptChannels(tls) as channels:
            return ask_referees(
                settings.referees,
                token,
                version_ids,
                ruleset=ruleset,
                channels=channels,
                timeout=STATUS_SECONDS,
            )

    return ask


def ask_referees(
    addresses: Sequence[str],
    token: str,
    version_ids: Sequence[int],
    *,
    ruleset: Mapping[str, object] | None = None,
    attempts: Collection[Attempt] = (),
    channels: KeptChannels,
    timeout: float,
) -> list[Answer]:
    """Return what each referee says within ``timeout`` seconds about itself and these bot versions.

    They are asked over ``channels``, which this thread keeps; those that brought no answer are closed.
    With ``ruleset`` it also says what the ruleset requires that they cannot do, and with ``attempts`` whether
    it has begun one of them.
    """

    waits = [
        ask_status(
            channels.take(address),
            address,
            token,
            version_ids,
            ruleset=ruleset,
            attempts=attempts,
            timeout=timeout,
        )
        for address in addresses
    ]
    answers = [_answer(address, wait) for address, wait in zip(addresses, waits, strict=True)]
    for answer in answers:
        if answer.status is None:
            channels.close(answer.address)
    return answers


def _answer(address: str, wait: Callable[[], RefereeStatus]) -> Answer:
    try:
        return Answer(address, wait())
    except TokenRefused:
        return Answer(address, None, OTHER_TOKEN)
    except RefereeUnavailable as error:
        return Answer(address, None, str(error).removeprefix(f"referee {address} "))


def answering(answers: Sequence[Answer], version_ids: Sequence[int]) -> Ask:
    """Return what answers from the referees' answers about these versions, instead of asking them again."""
    places = {version_id: at for at, version_id in enumerate(version_ids)}

    def ask(asked_ids: Sequence[int], _: Mapping[str, object] | None) -> Sequence[Answer]:
        return [
            answer
            if answer.status is None
            else replace(answer, status=_narrowed(answer.status, [places[id] for id in asked_ids]))
            for answer in answers
        ]

    return ask


def _narrowed(status: RefereeStatus, places: Sequence[int]) -> RefereeStatus:
    return replace(status, bots=tuple(status.bots[at] for at in places))


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


@dataclass(frozen=True, slots=True)
class ConnectedBot:
    """A bot version with a live stream at a referee."""

    bot: str
    """``owner/bot@version``."""
    referee: str
    """The referee's address."""
    max_sessions: int
    """The most sessions at once that this referee gives it."""
    sessions: int
    """Sessions that it plays there."""
    bounds: tuple[str, ...]
    """The limits that it declares on what it plays, in words; empty if it plays everything."""


def _good_versions(storage: Storage) -> dict[int, str]:
    """Return the names of the versions that are not revoked, by id."""
    good = select(BotVersion.id, BotVersion.name).where(col(BotVersion.revoked_at).is_(None))
    with storage.read() as tx:
        return {row.id: row.name for row in tx.connection().execute(good)}


def _connected(names: Mapping[int, str], answer: Answer) -> list[ConnectedBot]:
    """Return the bots that are connected to a referee, from its answer about these versions."""
    if answer.status is None:
        return []
    return [
        ConnectedBot(name, answer.address, place.max_sessions, place.sessions, place.bounds)
        for name, place in zip(names.values(), answer.status.bots, strict=True)
        if place.connected
    ]


@dataclass(frozen=True, slots=True)
class RefereeLine:
    """A referee, and who is connected to it."""

    referee: str
    """Its address."""
    problem: str
    """Why it takes no matches; empty if it does."""
    matches: int
    sessions: int
    spectators: int
    bots: tuple[ConnectedBot, ...]
    """The bot versions with a live stream there, by name."""


@dataclass(frozen=True, slots=True)
class Referees:
    """All referees that are configured."""

    referees: tuple[RefereeLine, ...]
    problem: str
    """Why none can be asked; empty if they were."""


def connected_in(referees: Referees, owner: str | None = None) -> tuple[list[ConnectedBot], list[str]]:
    """Return the bots that are connected, of all owners or of one, by name.

    Also return a line for each referee that takes no matches, and why. Raise StateError if no referee
    reported its bots.
    """
    silent = [f"referee {line.referee} {line.problem}" for line in referees.referees if line.problem]
    if len(silent) == len(referees.referees) and not any(line.bots for line in referees.referees):
        raise StateError(f"no referee reported its bots: {', '.join(silent) or referees.problem}")
    bots = [bot for line in referees.referees for bot in line.bots if owner in (None, owner_of(bot.bot))]
    return sorted(bots, key=lambda bot: (bot.bot, bot.referee)), silent


def list_referees(storage: Storage, actor: Actor, ask: Ask) -> Referees:
    """Return how busy each referee is, and who is connected to it. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "see the referees")
    names = _good_versions(storage)
    answers = ask(list(names), None)
    return Referees(tuple(_line(names, answer) for answer in answers), "" if answers else NO_REFEREE)


def _line(names: Mapping[int, str], answer: Answer) -> RefereeLine:
    status = answer.status
    if status is None:
        return RefereeLine(answer.address, answer.trouble, 0, 0, 0, ())
    bots = tuple(sorted(_connected(names, answer), key=lambda bot: bot.bot))
    busy = (status.matches, status.sessions, status.spectators)
    return RefereeLine(answer.address, answer.trouble, *busy, bots)
