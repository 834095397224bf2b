"""Seasons of leagues: they start by themselves when they are due and end with their tournaments.

No matter who calls ``advance_leagues``, how often, and how many at once, a season starts once, because its
start is one transaction that begins by counting it. One that could not start on time, because nobody was
there or the one before was still being played, starts at the next call; other times that have passed are
skipped.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.bots.versions import token_problem, versions_by_bot
from arena.core.pairing import owner_of
from arena.core.ranking import Standing
from arena.errors import ArenaError, StateError, StorageError, TakenError
from arena.leagues.divisions import next_divisions, owners_apart, regroup
from arena.leagues.membership import active_members
from arena.leagues.spec import LeagueSpec, make_league
from arena.results.standings.stored import current_standings
from arena.store.database import name_error
from arena.store.models import (
    Arrival,
    BotVersion,
    League,
    LeagueMember,
    Season,
    SeasonDivision,
    SeasonPlace,
    Tournament,
)
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.creation import create_in
from arena.tournaments.lifecycle import start_in
from arena.tournaments.overview import ENDED
from arena.tournaments.roster import list_entrants
from referee.errors import RefereeError
from referee.ruleset import load_ruleset

log = logging.getLogger("arena.leagues")

Draw = Callable[[], bytes]
"""Returns the seed of a tournament."""

DividedPlaces = list[tuple[SeasonDivision, list[SeasonPlace]]]
"""The divisions of a season with their places, best first."""


def draw_seed() -> bytes:
    """Return a seed that nobody can know in advance."""
    return secrets.token_bytes(32)


def advance_leagues(storage: Storage, now: datetime, draw: Draw = draw_seed) -> None:
    """End the seasons whose tournaments have ended, and start those that are due.

    What keeps a league from that is noted in its row, and affects no other league.
    """
    with storage.read() as tx:
        ids = list(tx.exec(select(League.id).order_by(col(League.id))))
    for league_id in ids:
        try:
            close_season(storage, league_id, now)
            start_season(storage, league_id, now, draw)
        except StorageError:
            raise
        except (ArenaError, RefereeError) as error:
            _note_problem(storage, league_id, str(error))
        except Exception as error:
            log.exception("league %d cannot go on", league_id)
            _note_problem(storage, league_id, name_error(error))


def _note_problem(storage: Storage, league_id: int, problem: str) -> None:
    """Note in a league's row what keeps its season from starting."""
    new = (col(League.id) == league_id, col(League.problem).is_distinct_from(problem))
    with storage.read() as tx:
        if tx.exec(select(League.id).where(*new)).first() is None:
            return
    with storage.write() as tx:
        if changed(tx, update(League).where(*new).values(problem=problem)):
            name = tx.exec(select(League.name).where(League.id == league_id)).one()
            log.warning("%s: %s", name, problem)


def close_season(storage: Storage, league_id: int, now: datetime) -> bool:
    """Store the final places of the latest season if its tournaments have ended; return whether they had."""
    with storage.read() as tx:
        season = latest_season(tx, tx.get_one(League, league_id))
        if season is None or season.finished_at is not None or unfinished(tx, season):
            return False
    with storage.write() as tx:
        is_open = (col(Season.id) == season.id, col(Season.finished_at).is_(None))
        if not changed(tx, update(Season).where(*is_open).values(finished_at=now)):
            return False
        for division, places in places_of(tx, season):
            for rank, place in enumerate(in_order(tx, division, places), start=1):
                place.final = rank
        log.info("%s: season %d finished", tx.get_one(League, league_id).name, season.number)
        return True


def start_season(storage: Storage, league_id: int, now: datetime, draw: Draw = draw_seed) -> bool:
    """Start the next season if it is due; return whether it did.

    All of it is one transaction. Raise StateError while the season before is being played or there are not
    enough for a table, and SpecError or others for what is wrong with its tournaments.
    """
    with storage.read() as tx:
        league = tx.get_one(League, league_id)
        if league.next_at is None:
            return False
        seasons, due_at = league.seasons, league.next_at
        latest = due_at if due_at <= now else make_league(league.spec).next_start(now)
    if due_at > now:
        if due_at > latest:
            _hold_due(storage, league_id, due_at, latest)
        return False
    try:
        with storage.write() as tx:
            due = (col(League.id) == league_id, col(League.seasons) == seasons, col(League.next_at) <= now)
            if not changed(tx, update(League).where(*due).values(seasons=seasons + 1, problem=None)):
                return False
            league = tx.get_one(League, league_id)
            _start(tx, league, make_league(league.spec), now, draw)
            return True
    except IntegrityError:
        raise TakenError(f"season {seasons + 1}: one of its tournaments has a name that is taken") from None


def _hold_due(storage: Storage, league_id: int, due_at: datetime, latest: datetime) -> None:
    """Have the next season due by the schedule, after a clock that was ahead noted a later time."""
    same = (col(League.id) == league_id, col(League.next_at) == due_at)
    with storage.write() as tx:
        if changed(tx, update(League).where(*same).values(next_at=latest)):
            name = tx.get_one(League, league_id).name
            log.warning("%s: a clock that was ahead noted %s as the next season's start", name, due_at)


def _start(tx: Transaction, league: League, spec: LeagueSpec, now: datetime, draw: Draw) -> None:
    before = latest_season(tx, league)
    if before is not None and before.finished_at is None:
        still = ", ".join(unfinished(tx, before)) or "its places are not settled"
        raise StateError(
            f"season {league.seasons} is due, and season {before.number} is still played: {still}"
        )
    versions, _ = contestants(tx, spec, active_members(tx, league), now)
    drawn = draw_up(tx, spec, before, versions)
    assert league.next_at is not None
    season = Season(league_id=league.id, number=league.seasons, due_at=league.next_at, started_at=now)
    is_last = season.number == spec.seasons
    league.next_at = None if is_last else spec.next_start(now)
    tx.add(season)
    tx.flush()
    for member, reason in drawn.left_out.items():
        log.info("%s: season %d: %s sits out: %s", league.name, season.number, versions[member].name, reason)
    came_from = {member: at for at, group in enumerate(drawn.groups) for member in group}
    for at, members in enumerate(drawn.levels):
        division = SeasonDivision(season_id=season.id, level=at, name=spec.levels[at].name)
        division.tournament_id = _tournament(
            tx, spec, season, at, [versions[member] for member in members], draw, league.organiser_id
        )
        tx.add(division)
        tx.flush()
        tx.add_all(
            SeasonPlace(
                division_id=division.id,
                member_id=member,
                version_id=versions[member].id,
                number=number,
                arrival=arrival(came_from.get(member), at),
            )
            for number, member in enumerate(members, start=1)
        )
    log.info("%s: season %d started", league.name, season.number)


def _tournament(
    tx: Transaction,
    spec: LeagueSpec,
    season: Season,
    at: int,
    versions: Sequence[BotVersion],
    draw: Draw,
    organiser_id: int | None,
) -> int | None:
    """Return the running tournament of a division; None if there are not enough for a table."""
    tournament_spec = spec.tournament_of(at, season.number, [version.name for version in versions])
    players = load_ruleset(tournament_spec.ruleset).players
    owners = {owner_of(version.name) for version in versions}
    enough, needed = len(versions), "bots"
    if not spec.allow_same_owner and spec.versions_per_owner != 1:
        enough, needed = len(owners), "bots of different owners"
    if enough < players:
        if at == 0:
            raise StateError(f"season {season.number}: needs at least {players} {needed}, has {enough}")
        return None
    tournament = create_in(tx, tournament_spec, season.started_at, draw(), organiser_id)
    start_in(tx, tournament, season.started_at)
    return tournament.id


def arrival(before: int | None, now: int) -> Arrival:
    """Return how a member came from level ``before``, None if it had no place, to level ``now``."""
    if before is None:
        return Arrival.NEW
    return Arrival.STAYED if before == now else Arrival.PROMOTED if now < before else Arrival.RELEGATED


class DrawnUp(NamedTuple):
    """A season as it would start."""

    groups: list[list[int]]
    """Members by level, after the season before in its current state."""
    levels: list[list[int]]
    """Members by level in the season itself."""
    left_out: dict[int, str]
    """Why each member that could play but has no place has none."""


def draw_up(
    tx: Transaction, spec: LeagueSpec, season: Season | None, able: Mapping[int, BotVersion]
) -> DrawnUp:
    """Return the season that follows ``season``.

    ``able`` are those who can play, in the order of joining; nobody else has a place in it.
    """
    former = []
    for division, places in places_of(tx, season):
        joined = {member.id: member.joined_at for member in _members(tx, places)}
        ordered = [place.member_id for place in in_order(tx, division, places)]
        # Whoever has left and joined again since then starts anew.
        stay = [
            member for member in ordered if member in able and season and joined[member] <= season.started_at
        ]
        former.append((division.name, stay))
    groups = regroup([level.name for level in spec.levels], former)
    placed = {member for group in groups for member in group}
    newcomers = [member for member in able if member not in placed]
    levels = [level.level for level in spec.levels]
    if spec.allow_same_owner:
        return DrawnUp(groups, next_divisions(levels, groups, newcomers), {})
    owners = {member: owner_of(version.name) for member, version in able.items()}
    sizes = [load_ruleset(tournament.ruleset).players for tournament in spec.tournaments]
    divided, out = owners_apart(levels, groups, newcomers, owners, sizes)
    lowest = spec.levels[-1].name
    why = f"its owner has one before it for each table of {lowest}, where none may be twice at a table"
    return DrawnUp(groups, divided, dict.fromkeys(out, why))


def _members(tx: Transaction, places: Sequence[SeasonPlace]) -> Sequence[LeagueMember]:
    ids = [place.member_id for place in places]
    return tx.exec(select(LeagueMember).where(col(LeagueMember.id).in_(ids))).all()


def in_order(
    tx: Transaction,
    division: SeasonDivision,
    places: Sequence[SeasonPlace],
    standing: Mapping[int, Standing] | None = None,
) -> list[SeasonPlace]:
    """Return a division's places, best first: as settled, or by the current standings, or as seeded.

    ``standing`` is what ``standing_of`` returns, if that is known already.
    """
    if division.tournament_id is None or any(place.final is not None for place in places):
        return sorted(places, key=lambda place: (place.final or 0, place.number))
    now = standing_of(tx, division) if standing is None else standing
    rank = {version_id: at for at, version_id in enumerate(now)}
    return sorted(places, key=lambda place: (rank[place.version_id], place.number))


def standing_of(tx: Transaction, division: SeasonDivision) -> dict[int, Standing]:
    """Return a division's current standings by bot version, best first; empty if it has no tournament."""
    if division.tournament_id is None:
        return {}
    tournament = tx.get_one(Tournament, division.tournament_id)
    entrants = list_entrants(tx, tournament)
    version_of = {entrant.number: entrant.version_id for entrant in entrants}
    return {version_of[line.entrant]: line for line in current_standings(tx, tournament, entrants).lines}


def latest_season(tx: Transaction, league: League) -> Season | None:
    """Return the season that started last; None if none has."""
    seasons = select(Season).where(Season.league_id == league.id)
    return tx.exec(seasons.order_by(col(Season.number).desc()).limit(1)).first()


def unfinished(tx: Transaction, season: Season) -> list[str]:
    """Return the tournaments of a season that have not ended, each with its state unless that is running."""
    rows = (
        select(Tournament)
        .join(SeasonDivision, col(SeasonDivision.tournament_id) == Tournament.id)
        .where(SeasonDivision.season_id == season.id, col(Tournament.state).not_in(ENDED))
        .order_by(col(SeasonDivision.level))
    )
    return [
        tournament.name if tournament.state == "running" else f"{tournament.name} ({tournament.state.value})"
        for tournament in tx.exec(rows).all()
    ]


def places_of(tx: Transaction, season: Season | None) -> DividedPlaces:
    """Return the divisions of a season, the highest first, each with its places in the order of seeding."""
    if season is None:
        return []
    divisions = select(SeasonDivision).where(SeasonDivision.season_id == season.id)
    divided = []
    for division in tx.exec(divisions.order_by(col(SeasonDivision.level))).all():
        places = select(SeasonPlace).where(SeasonPlace.division_id == division.id)
        divided.append((division, list(tx.exec(places.order_by(col(SeasonPlace.number))))))
    return divided


def contestants(
    tx: Transaction, spec: LeagueSpec, members: Sequence[LeagueMember], now: datetime
) -> tuple[dict[int, BotVersion], dict[int, str]]:
    """Return, by member, the version that would play now, or why none could."""
    checked = any(
        {**spec.tournament, **level.tournament}.get("require_check") is True for level in spec.levels
    )
    versions = versions_by_bot(tx, [member.name.partition("@")[0] for member in members])
    able: dict[int, BotVersion] = {}
    problems: dict[int, str] = {}
    taken: set[int] = set()
    owned: Counter[int] = Counter()
    for member in members:
        version = _version(versions[member.name.partition("@")[0]], member.name, now)
        if wrong := token_problem(version, now):
            problems[member.id] = f"its token {wrong}"
        elif checked and version.check_passed_at is None:
            problems[member.id] = f"{version.name} has not passed the check"
        elif version.id in taken:
            problems[member.id] = f"{version.name} is in the league already"
        elif spec.versions_per_owner is not None and owned[member.owner_id] >= spec.versions_per_owner:
            problems[member.id] = f"its owner has {spec.versions_per_owner} in the league that joined before"
        else:
            owned[member.owner_id] += 1
            taken.add(version.id)
            able[member.id] = version
    return able, problems


def _version(versions: Sequence[BotVersion], name: str, now: datetime) -> BotVersion:
    """Return the version of these that plays for a member: itself, or the newest whose token is valid.

    If none has a valid token, return the newest that only needs another one, or else the newest of all.
    """
    if "@" in name:
        return next(version for version in versions if version.name == name)
    return max(
        versions,
        key=lambda version: (not token_problem(version, now), version.revoked_at is None, version.number),
    )
