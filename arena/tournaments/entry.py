"""Coming late, leaving early and coming back: bots enter a tournament after its creation, and withdraw."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from sqlalchemy import update
from sqlmodel import col, func, select

from arena.actors import ALL_SCOPES, Actor, Role
from arena.bots.checks import require_checks
from arena.bots.versions import find_versions, token_problem
from arena.core.formats import FORMATS, MOST_ENTRANTS, Format, Setup
from arena.core.pairing import check_tables, owner_of
from arena.core.specs import Entries
from arena.errors import NotAllowed, SpecError, StateError, TakenError
from arena.people.audit import record
from arena.store.models import BotVersion, Entrant, EntrantState, EntryState, Tournament, TournamentState
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.admission import (
    RequestShown,
    admits,
    approve_request,
    ask_to_enter,
    check_owner_limit,
    find_request,
    find_waiting,
    invite_in,
    not_agreed,
    request_shown,
    require_request,
)
from arena.tournaments.events import note
from arena.tournaments.lifecycle import count_staying, lock_open, staying, staying_beside
from arena.tournaments.overview import ENDED, find_tournament, organised
from arena.tournaments.referees import Ask
from arena.tournaments.roster import find_entrants, only_entrant, require_able

ENTERED, LEFT = "entered once it is locked or started", "left once it is locked or started"
"""What formats that are planned as a whole do not allow."""


Waiting = Literal["asked", "invited"]
"""Who decides about a bot that has not entered yet: the organiser, or its author."""


def enter(storage: Storage, actor: Actor, name: str, bot: str, now: datetime, ask: Ask) -> int | Waiting:
    """Enter a bot into a tournament, again if it has withdrawn; return the first round that it then plays in.

    That round never comes if the tournament ends before. The bot scores nothing in rounds that it misses, and
    keeps what it scored before it withdrew. ``ask`` asks the referees whether it can play. Return ``asked``
    if the organiser decides, and ``invited`` if the organiser asks and the author has not agreed to rated
    play. Raise NotAllowed, UnknownError, SpecError for a bot that cannot play, TakenError if it is in the
    tournament or has asked already, StateError.
    """
    _require_maybe_theirs(actor, bot, "enter")
    require_able(storage, name, now, ask, bot)
    with storage.write() as tx:
        tournament = _lock_format(tx, name, now, lambda format: format.late_entry, ENTERED)
        actor.require_bot_or_contest(owner_of(bot), tournament.organiser_id, f"enter {bot}")
        [version] = find_versions(tx, [bot], now)
        _require_not_in_it(tx, tournament, version, now)
        admitted = admits(tx, actor, tournament, version.name)
        for check in CHECKS:
            check(tx, tournament, version, now)
        if not _agreed(tx, actor, tournament, version):
            invite_in(tx, actor, tournament, [version.name.partition("@")[0]], now)
            return "invited"
        if not admitted:
            ask_to_enter(tx, actor, tournament, version.name, now)
            return "asked"
        return _enter(tx, actor, tournament, version, now)


def _agreed(tx: Transaction, actor: Actor, tournament: Tournament, version: BotVersion) -> bool:
    """Return whether a version may be rated: its author asks, asked before, or has opened it to the actor."""
    if not tournament.rated or not not_agreed(tx, actor, [version.name]):
        return True
    request = find_request(tx, tournament, version.name)
    return request is not None and request.state != EntryState.APPROVED  # then it has withdrawn since


def _enter(tx: Transaction, actor: Actor, tournament: Tournament, version: BotVersion, now: datetime) -> int:
    """Enter a version that is allowed to; this approves any request of it."""
    approve_request(tx, actor, tournament, version.name, now)
    entrant = _entrant(tx, tournament, version)
    entrant = _readmitted(tournament, entrant) if entrant else _new_entrant(tx, tournament, version)
    tx.add(entrant)
    tx.flush()
    first = tournament.paired + 1
    note(tx, tournament, "entered", now, entrant=entrant.number, bot=version.name, first_round=first)
    record(tx, actor, "tournament.enter", tournament.name, now, bot=version.name, first_round=first)
    return first


def approve(storage: Storage, actor: Actor, name: str, bot: str, now: datetime, ask: Ask) -> tuple[str, int]:
    """Enter a bot that has asked, or was declined; return its version and its first round.

    Raise NotAllowed, UnknownError, StateError if it has not asked, and what ``enter`` raises.
    """
    waiting = [EntryState.ASKED, EntryState.DECLINED]
    with storage.read() as tx:
        tournament = organised(tx, actor, find_tournament, name, "approve bots in")
        asking = require_request(tx, tournament, bot, waiting).bot
    require_able(storage, name, now, ask, asking)
    with storage.write() as tx:
        tournament = _lock_format(tx, name, now, lambda format: format.late_entry, ENTERED)
        require_request(tx, tournament, asking, waiting)  # because its author may have withdrawn it
        [version] = find_versions(tx, [asking], now)
        for check in (_require_not_in_it, *CHECKS):
            check(tx, tournament, version, now)
        return asking, _enter(tx, actor, tournament, version, now)


@dataclass(frozen=True, slots=True)
class Prospect:
    """Whether a bot may enter a tournament, and why not."""

    tournament: str
    bot: str
    """The version that would play."""
    answer: Literal["enter", "ask", "invite", "no"]
    """``enter``: it may at once. ``ask``: it may once the organiser has approved it. ``invite``: once its
    author has entered it, since the tournament is rated and the bot is not open to you."""
    reasons: Sequence[str]
    """All reasons against it; empty unless the answer is ``no``."""
    entries: Entries
    """Who may enter: ``open``, ``invited`` or ``approved``."""
    owner_limit: int | None
    """The most bots of one owner; None for as many as the format allows."""
    require_check: bool
    """Whether it must have passed the check."""
    first_round: int | None
    """The first round that it would play in if it entered now; None if it may not."""
    request: RequestShown | None
    """Its earlier request; None if it did not ask."""


def may_enter(storage: Storage, actor: Actor, name: str, bot: str, now: datetime, ask: Ask) -> Prospect:
    """Return whether a bot may enter a tournament now, and all reasons against it; change nothing.

    Raise NotAllowed, SpecError for a wrong name, UnknownError, StateError if no token of it is valid.
    """
    _require_maybe_theirs(actor, bot, "enter")
    against: list[str] = []
    with _collecting(against):
        require_able(storage, name, now, ask, bot)
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        if not actor.organises(tournament.organiser_id):
            actor.require_owner(owner_of(bot), f"enter {bot}")
        [version] = find_versions(tx, [bot], now)
        admitted = False
        with _collecting(against):
            _require_open(tournament)
        with _collecting(against):
            admitted = admits(tx, actor, tournament, version.name)
        for check in (_require_not_in_it, *CHECKS):
            with _collecting(against):
                check(tx, tournament, version, now)
        request = find_request(tx, tournament, version.name)
        agreed = _agreed(tx, replace(actor, scopes=ALL_SCOPES), tournament, version)
        return Prospect(
            tournament=name,
            bot=version.name,
            answer="no" if against else "ask" if not admitted else "enter" if agreed else "invite",
            reasons=list(dict.fromkeys(against)),
            entries=tournament.entries,
            owner_limit=tournament.owner_limit,
            require_check=tournament.require_check,
            first_round=None if against else tournament.paired + 1,
            request=request_shown(request) if request else None,
        )


@contextmanager
def _collecting(against: list[str]) -> Iterator[None]:
    """Add the reason against an entry that the block raises, if any."""
    try:
        yield
    except SpecError as error:
        against += [problem.reason for problem in error.problems]
    except (NotAllowed, StateError, TakenError) as error:
        against.append(str(error))


def _require_open(tournament: Tournament) -> None:
    """Raise StateError if nobody can enter, as ``_lock_format`` does."""
    _require_allowed(tournament, lambda format: format.late_entry, ENTERED)
    if tournament.state in ENDED:
        raise StateError(f"tournament {tournament.name} is {tournament.state.value} already")


def takes_entries(tournament: Tournament) -> bool:
    """Return whether bots can still enter, or come back; which ones may is another question."""
    try:
        _require_open(tournament)
        _require_rounds(tournament)
    except StateError:
        return False
    return True


def lets_leave(tournament: Tournament) -> bool:
    """Return whether bots can still withdraw."""
    leaving = tournament.commitment is None or FORMATS[tournament.format].withdrawal
    return leaving and tournament.state not in ENDED


def _require_maybe_theirs(actor: Actor, bot: str, what: str) -> None:
    """Raise NotAllowed if it is clear, before any look-up, that neither bot nor tournament is the actor's."""
    if actor.role is not Role.ORGANISER:
        actor.require_owner(owner_of(bot), f"{what} {bot}")


def _entrant(tx: Transaction, tournament: Tournament, version: BotVersion) -> Entrant | None:
    mine = (Entrant.tournament_id == tournament.id, Entrant.version_id == version.id)
    return tx.exec(select(Entrant).where(*mine)).first()


def _require_not_in_it(tx: Transaction, tournament: Tournament, version: BotVersion, _: datetime) -> None:
    entrant = _entrant(tx, tournament, version)
    if entrant is not None and entrant.withdrawn_after is None:
        raise TakenError(f"{version.name} is in tournament {tournament.name} already")


def _require_token(_: Transaction, __: Tournament, version: BotVersion, now: datetime) -> None:
    if wrong := token_problem(version, now):
        raise SpecError("entrants", f"the token of {version.name} {wrong}")


def _require_checked(_: Transaction, tournament: Tournament, version: BotVersion, __: datetime) -> None:
    if tournament.require_check:
        require_checks([version])


def _require_to_come(_: Transaction, tournament: Tournament, __: BotVersion, ___: datetime) -> None:
    _require_rounds(tournament)


def _require_rounds(tournament: Tournament) -> None:
    if tournament.commitment is not None and tournament.state == TournamentState.CREATED:
        raise StateError(f"tournament {tournament.name} is locked: bots can enter again once it has started")
    if tournament.paired == tournament.rounds:
        raise StateError(f"tournament {tournament.name}: all its rounds are paired")


def _require_apart(tx: Transaction, tournament: Tournament, version: BotVersion, _: datetime) -> None:
    if tournament.allow_same_owner:
        return
    own = staying_beside(tx, tournament, version)
    format = FORMATS[tournament.format]
    if tournament.commitment is not None:
        entrants = count_staying(tx, tournament) + 1
        check_tables([*own, version.name], entrants, tournament.table_size)
    elif own:  # who plays whom may follow from the seeding, but not where all of an owner are kept apart
        others = own if format.owners_part else staying(tx, tournament)
        setup = Setup(tournament.table_size, tournament.rounds, tournament.options)
        format.check_owners(setup, [*others, version.name], more=True)


def _require_room(tx: Transaction, tournament: Tournament, _: BotVersion, __: datetime) -> None:
    if tournament.commitment is None:
        setup = Setup(tournament.table_size, tournament.rounds, tournament.options)
        FORMATS[tournament.format].check(setup, count_staying(tx, tournament) + 1, more=True)


def _require_few(tx: Transaction, tournament: Tournament, version: BotVersion, _: datetime) -> None:
    if tournament.owner_limit is not None:
        own = staying_beside(tx, tournament, version)
        check_owner_limit([*own, version.name], tournament.owner_limit)


CHECKS = (_require_token, _require_checked, _require_to_come, _require_room, _require_apart, _require_few)
"""Checks whether a version can enter now, for the first time or again: they raise SpecError or StateError."""


def _new_entrant(tx: Transaction, tournament: Tournament, version: BotVersion) -> Entrant:
    """Return a new entrant for a version."""
    of_it = Entrant.tournament_id == tournament.id
    last = tx.exec(select(func.max(Entrant.number)).where(of_it)).one() or 0
    if last >= MOST_ENTRANTS:
        raise SpecError("entrants", f"the limit of {MOST_ENTRANTS} entrants is reached")
    return Entrant(
        tournament_id=tournament.id,
        version_id=version.id,
        number=last + 1,
        entered_at_round=tournament.paired + 1,
    )


def _readmitted(tournament: Tournament, entrant: Entrant) -> Entrant:
    """Return an entrant that has withdrawn, back among the others."""
    assert entrant.withdrawn_after is not None
    if entrant.withdrawn_after < tournament.paired:
        entrant.absences = [*entrant.absences, [entrant.withdrawn_after + 1, tournament.paired]]
    entrant.withdrawn_after = None
    if entrant.state == EntrantState.AWAY:
        entrant.state = EntrantState.FREE
    return entrant


def withdraw(storage: Storage, actor: Actor, name: str, bot: str, now: datetime) -> int:
    """Withdraw a bot from a tournament; return the last round that it plays in (0: none).

    ``owner/bot`` alone means its version in the tournament, whether its token is valid or revoked. The bot
    still has to play the rounds that are paired, and it stays in the standings; if its format allows this
    only before it is locked, the bot is no entrant any more. If it has only asked to enter, its request is
    withdrawn. Raise SpecError, UnknownError, StateError.
    """
    _require_maybe_theirs(actor, bot, "withdraw")
    with storage.write() as tx:
        tournament = _lock_format(tx, name, now, lambda format: format.withdrawal, LEFT)
        actor.require_bot_or_contest(owner_of(bot), tournament.organiser_id, f"withdraw {bot}")
        entered = find_entrants(tx, tournament, bot)
        if not entered and _take_back(tx, actor, tournament, bot, now):
            return 0
        playing = [(entrant, version) for entrant, version in entered if entrant.withdrawn_after is None]
        if entered and not playing:
            raise StateError(f"{entered[0][1]} has withdrawn from tournament {name} already")
        (entrant, left), last = only_entrant(tournament, bot, playing), tournament.paired
        if FORMATS[tournament.format].withdrawal:
            entrant.withdrawn_after = last
        else:
            _remove(tx, entrant)
        note(tx, tournament, "withdrew", now, entrant=entrant.number, bot=left, last_round=last)
        record(tx, actor, "tournament.withdraw", name, now, bot=left, last_round=last)
        return last


def _remove(tx: Transaction, entrant: Entrant) -> None:
    """Delete an entrant of a tournament that is not locked; those after it move up in the seeding."""
    tx.delete(entrant)
    tx.flush()
    its = col(Entrant.tournament_id) == entrant.tournament_id
    # In two steps, since no number may occur twice at any time.
    after = update(Entrant).where(its, col(Entrant.number) > entrant.number)
    changed(tx, after.values(number=-col(Entrant.number)))
    changed(tx, update(Entrant).where(its, col(Entrant.number) < 0).values(number=-col(Entrant.number) - 1))


def _take_back(tx: Transaction, actor: Actor, tournament: Tournament, bot: str, now: datetime) -> bool:
    """Withdraw the request of a bot; return whether it had one without an answer."""
    request = find_waiting(tx, tournament, bot, [EntryState.ASKED])
    if request is None:
        return False
    tx.delete(request)
    record(tx, actor, "tournament.withdraw", tournament.name, now, bot=request.bot, last_round=0)
    return True


def _lock_format(
    tx: Transaction, name: str, now: datetime, allows: Callable[[Format], bool], what: str
) -> Tournament:
    """Lock a tournament whose format allows this change, or that is not locked yet.

    Raise UnknownError, StateError.
    """
    tournament = find_tournament(tx, name)
    _require_allowed(tournament, allows, what)
    lock_open(tx, tournament, now)
    return tournament


def _require_allowed(tournament: Tournament, allows: Callable[[Format], bool], what: str) -> None:
    if tournament.commitment is not None and not allows(FORMATS[tournament.format]):
        text = f"a {tournament.format} cannot be {what}"
        raise StateError(f"tournament {tournament.name}: {text}")
