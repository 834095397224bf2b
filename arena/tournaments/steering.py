"""What organisers and authors can do about a tournament now: pages offer nothing that would be refused."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.bots.versions import bots_of, token_problem, versions_by_bot
from arena.errors import SpecError, StateError
from arena.store.models import (
    Bot,
    BotVersion,
    Entrant,
    EntryState,
    Owner,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction
from arena.tournaments.changing import is_changeable
from arena.tournaments.entry import lets_leave, may_enter, takes_entries
from arena.tournaments.lifecycle import require_entrants, require_startable
from arena.tournaments.overview import ENDED, find_tournament
from arena.tournaments.referees import Ask, answering
from arena.tournaments.roster import require_able

Do = Literal["lock", "start", "pause", "resume", "stop", "confirm", "cancel"]


@dataclass(frozen=True, slots=True)
class Possible:
    """What can be done about a tournament now."""

    steps: tuple[Do, ...]
    """What its organiser can do; the others would be refused, or change nothing."""
    hindered: str | None
    """Why it cannot be started, or its entries closed; None if nothing hinders that, or it has started."""
    enter: bool
    """Whether bots can still enter, or come back."""
    withdraw: bool
    """Whether bots can still withdraw."""
    change: bool
    """Whether its organiser can still change it, or delete it."""


def steers(storage: Storage, actor: Actor, name: str) -> bool:
    """Return whether a tournament is the actor's to steer. Raise UnknownError."""
    with storage.read() as tx:
        return actor.organises(find_tournament(tx, name).organiser_id)


def require_own(storage: Storage, actor: Actor, name: str, what: str) -> None:
    """Raise NotAllowed unless the actor organises a tournament, and UnknownError if there is none."""
    actor.require(Role.ORGANISER, what)
    with storage.read() as tx:
        actor.require_organiser(find_tournament(tx, name).organiser_id, what)


def possible(storage: Storage, name: str, now: datetime, ask: Ask) -> Possible:
    """Return what can be done about a tournament. ``ask`` asks the referees. Raise UnknownError."""
    few = hindered = None
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        if _waits(tournament):
            few = _refusal(lambda: require_entrants(tx, tournament))
            hindered = few or _refusal(lambda: require_startable(tx, tournament))
    if hindered is None and (_waits(tournament) or tournament.state == TournamentState.FAILED):
        hindered = _refusal(lambda: require_able(storage, name, now, ask))
    steps = tuple(_steps(tournament, lock=few is None, start=hindered is None))
    return Possible(
        steps, hindered, takes_entries(tournament), lets_leave(tournament), is_changeable(tournament)
    )


def _waits(tournament: Tournament) -> bool:
    return tournament.state == TournamentState.CREATED


def _refusal(check: Callable[[], None]) -> str | None:
    """Return why a check refuses; None if it does not."""
    try:
        check()
    except (SpecError, StateError) as error:
        return str(error)
    return None


def _steps(tournament: Tournament, *, lock: bool, start: bool) -> Iterator[Do]:
    state = tournament.state
    if state in ENDED:
        if tournament.confirm and tournament.confirmed_at is None and tournament.commitment is not None:
            yield "confirm"
        return
    if _waits(tournament) and tournament.commitment is None and lock:
        yield "lock"
    sealed = tournament.beacon is None or tournament.commitment is not None
    if start and (state == TournamentState.FAILED or (_waits(tournament) and sealed)):
        yield "start"
    if state == TournamentState.RUNNING:
        yield "pause"
    if state == TournamentState.PAUSED:
        yield "resume"
    if not _waits(tournament) and tournament.paired != tournament.rounds:
        yield "stop"
    yield "cancel"


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """A bot of one's own, and what can be done with it about a tournament or a league."""

    bot: str
    """``owner/bot``, or one version of it."""
    state: Literal["in", "asked", "enter", "ask", "no"]
    """It is in; it has asked and has no answer yet; it may enter, or may ask to; it may not."""
    reasons: Sequence[str] = ()
    """All reasons why it may not enter."""
    leaves: bool = False
    """Whether it can leave, or take back its request."""


@dataclass(frozen=True, slots=True)
class OwnEntries:
    """A part of one's own bots."""

    entries: Sequence[OwnEntry]
    """First those that are in, on every page, then the others by name."""
    others: int
    """How many others there are."""


NO_ENTRIES = OwnEntries((), 0)


def own_entries(
    storage: Storage, actor: Actor, name: str, now: datetime, ask: Ask, limit: int, offset: int = 0
) -> OwnEntries:
    """Return the bots of the actor's owners, with ``limit`` of those that are not in the tournament.

    ``ask`` asks the referees which can play, all at once. Raise UnknownError.
    """
    if not actor.owners:
        return NO_ENTRIES
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        if tournament.state in ENDED:
            return NO_ENTRIES
        leaves = lets_leave(tournament)
        entered = [OwnEntry(bot, "in", leaves=leaves) for bot in _entered(tx, actor, tournament)]
        if not takes_entries(tournament):
            return OwnEntries(entered, 0)
        ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id).content
        bots = bots_of(tx, actor.owners)
        versions = versions_by_bot(tx, bots[offset : offset + limit])
    newest = {bot: _newest(own, now) for bot, own in versions.items()}
    ids = [version.id for version in newest.values() if version is not None]
    ask = answering(ask(ids, ruleset) if ids else (), ids)
    inside = {entry.bot for entry in entered}
    others = [
        _entry(storage, actor, name, version.name, now, ask) if version else OwnEntry(bot, "no", [EXPIRED])
        for bot, version in sorted(newest.items())
        if version is None or version.name not in inside
    ]
    return OwnEntries([*entered, *others], len(bots))


EXPIRED = "its token has expired: give it a new one"


def _entered(tx: Transaction, actor: Actor, tournament: Tournament) -> Iterator[str]:
    """Yield the versions of the actor that are in a tournament and have not withdrawn, by name."""
    rows = (
        select(BotVersion.name)
        .join(Entrant, col(Entrant.version_id) == BotVersion.id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Owner, col(Owner.id) == Bot.owner_id)
        .where(Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_(None))
        .where(col(Owner.name).in_(actor.owners))
    )
    yield from tx.exec(rows.order_by(BotVersion.name))


def _newest(versions: Sequence[BotVersion], now: datetime) -> BotVersion | None:
    """Return the newest of these versions whose token is valid; None if there is none."""
    return next((version for version in reversed(versions) if not token_problem(version, now)), None)


def _entry(storage: Storage, actor: Actor, name: str, bot: str, now: datetime, ask: Ask) -> OwnEntry:
    preview = may_enter(storage, actor, name, bot, now, ask)
    if preview.request is not None and preview.request.state is EntryState.ASKED:
        return OwnEntry(bot, "asked", leaves=True)
    assert preview.answer != "invite"  # which is for other people's
    return OwnEntry(bot, preview.answer, preview.reasons)
