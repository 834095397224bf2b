"""The roster of a tournament: its entrants, who is connected, and who cannot play, as the referees say."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, String, cast
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.bots.versions import WITHOUT_REPORT, find_versions, token_problem
from arena.errors import SpecError, StateError
from arena.store.models import (
    BEGUN,
    Bot,
    BotVersion,
    Entrant,
    EntrantSum,
    Match,
    Round,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import ENDED, find_tournament
from arena.tournaments.referees import Answer, Ask, find_connected, find_too_few, find_unable, silence


@dataclass(frozen=True, slots=True)
class EntrantInfo:
    """An entrant and who stands behind it."""

    number: int
    """Place in the list of entrants, from 1."""
    entrant_id: int
    version_id: int
    name: str
    """``owner/bot@version``."""
    owner_id: int


def list_entrants(tx: Transaction, tournament: Tournament) -> list[EntrantInfo]:
    """Return the tournament's entrants in the order of seeding."""
    columns: tuple[Any, ...] = (Entrant.number, Entrant.id, Entrant.version_id, BotVersion.name, Bot.owner_id)
    rows = (
        select_columns(*columns)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .where(col(Entrant.tournament_id) == tournament.id)
        .order_by(col(Entrant.number))
    )
    return [EntrantInfo(*row) for row in tx.execute(rows).all()]


def find_entrants(tx: Transaction, tournament: Tournament, bot: str) -> Sequence[tuple[Entrant, str]]:
    """Return the entrants that are versions of ``owner/bot``, or this version, with the versions' names."""
    rows = select(Entrant, BotVersion.name).join(BotVersion, col(BotVersion.id) == Entrant.version_id)
    named = (
        BotVersion.name == bot if "@" in bot else col(BotVersion.name).startswith(f"{bot}@", autoescape=True)
    )
    of_it = rows.where(Entrant.tournament_id == tournament.id, named)
    return tx.exec(of_it.order_by(col(Entrant.number))).all()


def only_entrant(
    tournament: Tournament, bot: str, entries: Sequence[tuple[Entrant, str]]
) -> tuple[Entrant, str]:
    """Return the entrant that a bot stands for. Raise StateError if there is none, or more than one."""
    if not entries:
        raise StateError(f"{bot} is not in tournament {tournament.name}")
    if len(entries) > 1:
        which = ", ".join(name for _, name in entries)
        reason = f"{len(entries)} versions of {bot} are in tournament {tournament.name}; name one: {which}"
        raise StateError(reason)
    return entries[0]


def present_in(tx: Transaction, tournament: Tournament, round: int) -> list[int]:
    """Return the entrants that play in this round, by number: those that have come and not withdrawn."""
    there = (
        select(Entrant.number, Entrant.absences)
        .where(Entrant.tournament_id == tournament.id, col(Entrant.entered_at_round) <= round)
        .where(col(Entrant.withdrawn_after).is_(None) | (col(Entrant.withdrawn_after) >= round))
    )
    return [
        number
        for number, absences in tx.exec(there.order_by(col(Entrant.number)))
        if not any(first <= round <= last for first, last in absences)
    ]


def forfeited_sessions(tx: Transaction, tournament: Tournament) -> Counter[int]:
    """Return how many sessions each entrant forfeited so far, by its number.

    For summed rounds the number is stored; for others the sessions are read.
    """
    played = (
        select(Entrant.number, EntrantSum.forfeits)
        .join(EntrantSum, col(EntrantSum.entrant_id) == Entrant.id)
        .where(Entrant.tournament_id == tournament.id, EntrantSum.forfeits > 0)
    )
    return Counter(dict(tx.exec(played).all())) + _in_other_rounds(tx, tournament)


def forfeited_shares(
    tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]
) -> dict[tuple[int, int], dict[int, float]]:
    """Return, by round and table, the share of the sessions that each entrant forfeited, by its number.

    ``which`` are conditions on rounds. Only the sessions in which somebody forfeited are read.
    """
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    sat = (
        select_columns(
            col(Round.number),
            col(Match.table_number),
            col(Session.seating),
            col(Session.forfeits),
            col(Seat.position),
            col(Entrant.number),
        )
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(col(Match.tournament_id) == tournament.id, cast(col(Session.forfeits), String) != "[]")
        .where(*which)
    )
    for round, table, seating, forfeits, position, number in tx.execute(sat):
        counts[round, table][number] += sum(seating[seat] == position for seat in forfeits)
    return {
        place: {number: count / tournament.sessions for number, count in by_number.items() if count}
        for place, by_number in counts.items()
    }


def _in_other_rounds(tx: Transaction, tournament: Tournament) -> Counter[int]:
    sat = (
        select_columns(col(Session.seating), col(Session.forfeits), col(Seat.position), col(Entrant.number))
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(
            col(Round.tournament_id) == tournament.id,
            col(Round.summed).is_(False),
            col(Round.state).in_(BEGUN),
            cast(col(Session.forfeits), String) != "[]",
        )
    )
    return Counter(
        number
        for seating, forfeits, position, number in tx.execute(sat)
        for seat in forfeits
        if seating[seat] == position
    )


@dataclass(frozen=True, slots=True)
class RosterLine:
    """An entrant, and whether it could play now."""

    number: int
    """Place in the list of entrants, from 1."""
    bot: str
    """``owner/bot@version``."""
    entered_at_round: int
    """The first round that it plays."""
    withdrawn_after: int | None
    """The last round that it plays; None if it has not withdrawn."""
    absences: Sequence[Sequence[int]]
    """The first and the last of the rounds that it missed, for each time that it withdrew and came back."""
    connected: bool | None
    """Whether it is connected to a referee; None if no referee says, or it no longer matters."""
    problem: str | None
    """Why it could not play now, worded to follow its name; None if no reason is known."""
    forfeits: int
    """Sessions that it forfeited so far, by absence or by too many faults."""


def roster(
    storage: Storage, name: str, now: datetime, ask: Ask, limit: int | None = None, offset: int = 0
) -> list[RosterLine]:
    """Return up to ``limit`` entrants in order, after the first ``offset``. Raise UnknownError.

    The referees are not asked about a tournament that has ended, nor about a bot that has withdrawn.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        content = tx.get_one(StoredRuleset, tournament.ruleset_id)
        rows = select(Entrant, BotVersion).join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        of_it = rows.where(Entrant.tournament_id == tournament.id).options(WITHOUT_REPORT)
        entered = tx.exec(of_it.order_by(col(Entrant.number)).offset(offset).limit(limit)).all()
        forfeited = forfeited_sessions(tx, tournament)
    playing = [
        version
        for entrant, version in entered
        if entrant.withdrawn_after is None and tournament.state not in ENDED
    ]
    reports = _Reports(storage, tournament, content, playing, ask, now)
    return [
        RosterLine(
            number=entrant.number,
            bot=version.name,
            entered_at_round=entrant.entered_at_round,
            withdrawn_after=entrant.withdrawn_after,
            absences=entrant.absences,
            connected=reports.connected(version),
            problem=reports.problem(version),
            forfeits=forfeited[entrant.number],
        )
        for entrant, version in entered
    ]


def place_in_roster(storage: Storage, name: str, bot: str) -> int | None:
    """Return how many entrants come before a bot, or before one version of it; None if it has not entered.

    Raise UnknownError.
    """
    owned, _, number = bot.strip().lower().partition("@")
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        of_it = (Entrant.tournament_id == tournament.id, Entrant.version_id == BotVersion.id)
        called = (
            [BotVersion.name == f"{owned}@{number}"]
            if number
            else [col(BotVersion.name).startswith(f"{owned}@", autoescape=True)]
        )
        first = select(Entrant.number).where(*of_it, *called).order_by(col(Entrant.number)).limit(1)
        number_of_first = tx.exec(first).first()
        if number_of_first is None:
            return None
        before = (Entrant.tournament_id == tournament.id, col(Entrant.number) < number_of_first)
        return tx.exec(select(func.count()).select_from(Entrant).where(*before)).one()


class _Reports:
    """What the referees say about the bot versions that play."""

    def __init__(
        self,
        storage: Storage,
        tournament: Tournament,
        ruleset: StoredRuleset,
        playing: Sequence[BotVersion],
        ask: Ask,
        now: datetime,
    ) -> None:
        names = {version.id: version.name for version in playing}
        answers = ask(list(names), ruleset.content) if playing else ()
        self._now = now
        self._here = find_connected(list(names), answers)
        self._unable = unable_lines(tournament, ruleset, list(names), answers)
        absent = [version.id for version in playing if self._here.get(version.id) is False]
        others = _other_versions(storage, absent) if absent else {}
        here = find_connected(list(others), ask(list(others), ruleset.content) if others else ())
        self._instead = {others[id_].bot_id: others[id_].name for id_, connected in here.items() if connected}
        """By bot, the name of another version that is connected; the newest if there are several."""

    def connected(self, version: BotVersion) -> bool | None:
        return self._here.get(version.id)

    def problem(self, version: BotVersion) -> str | None:
        if version.id in self._unable:
            return self._unable[version.id]
        if self._here.get(version.id) is not False:
            return None
        wrong, other = token_problem(version, self._now), self._instead.get(version.bot_id)
        token = f" (its token {wrong})" if wrong else ""
        return f"is not connected{token}{f', but {other} is' if other else ''}"


def _other_versions(storage: Storage, version_ids: Sequence[int]) -> dict[int, BotVersion]:
    """Return the other versions of these versions' bots whose tokens are not revoked, oldest first."""
    bots = select(BotVersion.bot_id).where(col(BotVersion.id).in_(version_ids))
    rows = select(BotVersion).where(
        col(BotVersion.bot_id).in_(bots),
        col(BotVersion.id).not_in(version_ids),
        col(BotVersion.revoked_at).is_(None),
    )
    with storage.read() as tx:
        versions = tx.exec(rows.options(WITHOUT_REPORT).order_by(col(BotVersion.id))).all()
    return {version.id: version for version in versions}


MOST_NAMED = 20
"""The most entrants that ``absence`` names."""


def absence(lines: Sequence[RosterLine], ask: Ask) -> list[str]:
    """Return a line for each of up to ``MOST_NAMED`` entrants that cannot play now, or why nobody knows."""
    playing = [line for line in lines if line.withdrawn_after is None]
    if playing and all(line.connected is None for line in playing):
        why = silence(ask((), None))
        reason = f": {why}" if why else ""
        return [
            f"no referee reports which bots are connected{reason}; is `arena up` or `arena referee` running?"
        ]
    absent = [f"{line.bot} {line.problem}" for line in playing if line.problem is not None]
    more = len(absent) - MOST_NAMED
    return absent[:MOST_NAMED] + ([f"{more} more could not play now"] if more > 0 else [])


def require_able(storage: Storage, name: str, now: datetime, ask: Ask, bot: str = "") -> None:
    """Raise SpecError if a connected bot has said that it cannot play the ruleset, or takes too few sessions.

    With ``bot``, check only that one, which need not have entered. A bot that is not connected, or whose
    referee does not answer, is not refused: it gets a notice once its match waits for it.
    Raise UnknownError if there is no such tournament or bot, StateError if no token of it is valid.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
        versions = find_versions(tx, [bot], now) if bot else _entrants(tx, tournament.id)
        names = {version.id: version.name for version in versions}
    answers = ask(list(names), ruleset.content)
    unable = unable_lines(tournament, ruleset, list(names), answers)
    if unable:
        first, others = next(iter(unable)), len(unable) - 1
        more = f" (and {others} {'others' if others > 1 else 'other'} cannot either)" if others else ""
        raise SpecError("entrants", f"{names[first]} {unable[first]}{more}")


def unable_lines(
    tournament: Tournament, ruleset: StoredRuleset, version_ids: Sequence[int], answers: Sequence[Answer]
) -> dict[int, str]:
    """Return, by version id, why a connected version cannot play in a tournament, worded to follow its name.

    ``answers`` are the referees', about these versions and this ruleset.
    """
    few = find_too_few(version_ids, answers, tournament.min_sessions)
    lines = {
        version_id: f"cannot play in {tournament.name}: it takes {most} sessions at once at a referee, "
        f"and at least {tournament.min_sessions} are required (min_sessions)"
        for version_id, most in few.items()
    }
    unable = find_unable(version_ids, answers)
    return {
        version_id: f"cannot play {ruleset.label}: it asks for {'; '.join(lacks)}"
        for version_id, lacks in unable.items()
    } | {version_id: line for version_id, line in lines.items() if version_id not in unable}


def _entrants(tx: Transaction, tournament_id: int) -> Sequence[BotVersion]:
    entered = select(BotVersion).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    of_it = (Entrant.tournament_id == tournament_id, col(Entrant.withdrawn_after).is_(None))
    return tx.exec(entered.where(*of_it).options(WITHOUT_REPORT).order_by(col(Entrant.number))).all()
