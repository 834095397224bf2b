"""Coming late, leaving early and coming back: bots enter a tournament that was created, and withdraw."""

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.audit import record
from arena.bots.checks import require_checks
from arena.bots.versions import find_all_versions, find_versions, token_problem
from arena.errors import SpecError, StateError, TakenError
from arena.events import note
from arena.formats import FORMATS, MOST_ENTRANTS, Format
from arena.matches.referees import Ask
from arena.models import BotVersion, Entrant, EntrantState, Tournament, TournamentState
from arena.pairing import check_entry, owner_of
from arena.storage import Storage, Transaction
from arena.tournaments.ability import require_able
from arena.tournaments.lifecycle import lock_open
from arena.tournaments.overview import find_tournament


def enter(storage: Storage, actor: Actor, name: str, bot: str, now: datetime, ask: Ask) -> int:
    """Enter a bot into a tournament, again if it has withdrawn; return the first round that it then plays in.

    There is none if the others end before. Rounds that it misses are worth nothing to it; what it made before
    it withdrew stays. ``ask`` asks the referees whether it can play. Raise UnknownError, SpecError for a bot
    that cannot play, TakenError if it is in the tournament, StateError.
    """
    _require_maybe_theirs(actor, bot, "enter")
    require_able(storage, name, now, ask, bot)
    with storage.write() as tx:
        tournament = _lock_format(tx, name, now, lambda format: format.late_entry, "entered")
        _require_theirs(actor, tournament, bot, "enter")
        [version] = find_versions(tx, [bot], now)
        mine = (Entrant.tournament_id == tournament.id, Entrant.version_id == version.id)
        entrant = tx.exec(select(Entrant).where(*mine)).first()
        if entrant is not None and entrant.withdrawn_after is None:
            raise TakenError(f"{version.name} is in tournament {name} already")
        _check_entry(tx, tournament, version, now)
        entrant = _again(tournament, entrant) if entrant else _anew(tx, tournament, version)
        tx.add(entrant)
        tx.flush()
        first = tournament.paired + 1
        note(tx, tournament, "entered", now, entrant=entrant.number, bot=version.name, first_round=first)
        record(tx, actor, "tournament.enter", name, now, bot=version.name, first_round=first)
        return first


def _require_maybe_theirs(actor: Actor, bot: str, what: str) -> None:
    """Raise NotAllowed if it is plain, before anything is looked up, that neither can be the actor's."""
    if actor.role is not Role.ORGANISER:
        actor.require_owner(owner_of(bot), f"{what} {bot}")


def _require_theirs(actor: Actor, tournament: Tournament, bot: str, what: str) -> None:
    """Raise NotAllowed unless the tournament or the bot is the actor's."""
    if not actor.organises(tournament.organiser_id):
        actor.require_owner(owner_of(bot), f"{what} {bot}")


def _check_entry(tx: Transaction, tournament: Tournament, version: BotVersion, now: datetime) -> None:
    """Raise SpecError or StateError if this version cannot enter now, whether it was there before or not."""
    if wrong := token_problem(version, now):
        raise SpecError("entrants", f"the token of {version.name} {wrong}")
    if tournament.require_check:
        require_checks([version])
    if tournament.head is not None and tournament.state == TournamentState.CREATED:
        raise StateError(f"tournament {tournament.name} is locked: bots can enter again once it has started")
    if tournament.paired == tournament.rounds:
        raise StateError(f"tournament {tournament.name}: all its rounds are paired")
    if not tournament.allow_same_owner:
        check_entry(version.name, _staying(tx, tournament), tournament.table_size)


def _anew(tx: Transaction, tournament: Tournament, version: BotVersion) -> Entrant:
    """Return the entrant of a version that was not there before."""
    of_it = Entrant.tournament_id == tournament.id
    last = tx.exec(select(func.max(Entrant.number)).where(of_it)).one() or 0
    if last >= MOST_ENTRANTS:
        raise SpecError("entrants", f"there are {last} already, and there can be no more")
    return Entrant(
        tournament_id=tournament.id,
        version_id=version.id,
        number=last + 1,
        entered_at_round=tournament.paired + 1,
    )


def _again(tournament: Tournament, entrant: Entrant) -> Entrant:
    """Return an entrant that has withdrawn, back among the others."""
    assert entrant.withdrawn_after is not None
    if entrant.withdrawn_after < tournament.paired:
        entrant.absences = [*entrant.absences, [entrant.withdrawn_after + 1, tournament.paired]]
    entrant.withdrawn_after = None
    if entrant.state == EntrantState.AWAY:
        entrant.state = EntrantState.FREE
    return entrant


def _staying(tx: Transaction, tournament: Tournament) -> Sequence[str]:
    """Return the names of the entrants that have not withdrawn."""
    names = select(BotVersion.name).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    stay = (Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_(None))
    return tx.exec(names.where(*stay)).all()


def withdraw(storage: Storage, actor: Actor, name: str, bot: str, now: datetime) -> int:
    """Withdraw a bot from a tournament; return the last round that it plays in (0: none).

    ``owner/bot`` alone is the version of it that is in the tournament, its token good or revoked. What is
    paired it still has to play, and it stays in the standings. Raise SpecError, UnknownError, StateError.
    """
    _require_maybe_theirs(actor, bot, "withdraw")
    with storage.write() as tx:
        tournament = _lock_format(tx, name, now, lambda format: format.withdrawal, "left")
        _require_theirs(actor, tournament, bot, "withdraw")
        versions = find_versions(tx, [bot], None) if "@" in bot else find_all_versions(tx, bot)
        names = {version.id: version.name for version in versions}
        mine = (Entrant.tournament_id == tournament.id, col(Entrant.version_id).in_(names))
        entered = tx.exec(select(Entrant).where(*mine).order_by(col(Entrant.number))).all()
        if not entered:
            raise StateError(f"{bot} is not in tournament {name}")
        playing = [entrant for entrant in entered if entrant.withdrawn_after is None]
        if not playing:
            raise StateError(f"{names[entered[0].version_id]} has withdrawn from tournament {name} already")
        if len(playing) > 1:
            which = ", ".join(names[entrant.version_id] for entrant in playing)
            raise StateError(f"{len(playing)} versions of {bot} are in tournament {name}; name one: {which}")
        playing[0].withdrawn_after = last = tournament.paired
        left = names[playing[0].version_id]
        note(tx, tournament, "withdrew", now, entrant=playing[0].number, bot=left, last_round=last)
        record(tx, actor, "tournament.withdraw", name, now, bot=left, last_round=last)
        return last


def _lock_format(
    tx: Transaction, name: str, now: datetime, allows: Callable[[Format], bool], what: str
) -> Tournament:
    """Lock a tournament whose format allows this change. Raise UnknownError, StateError."""
    tournament = find_tournament(tx, name)
    if not allows(FORMATS[tournament.format]):
        raise StateError(f"tournament {name}: a {tournament.format} cannot be {what} once it is created")
    lock_open(tx, tournament, now)
    return tournament
