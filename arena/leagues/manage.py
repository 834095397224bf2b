"""Leagues as organisers command and see them; ``arena.leagues.seasons`` starts and ends their seasons."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.bots.versions import find_all_versions
from arena.errors import StateError, TakenError, UnknownError
from arena.leagues.changes import Change, changes
from arena.leagues.schedule import next_start
from arena.leagues.seasons import (
    active_members,
    arrival,
    contestants,
    draw_up,
    in_order,
    latest_season,
    places_of,
    standing_of,
)
from arena.leagues.spec import LeagueSpec, make_league
from arena.models import (
    Arrival,
    Bot,
    BotVersion,
    League,
    LeagueMember,
    Season,
    SeasonDivision,
    SeasonPlace,
    Tournament,
    TournamentState,
)
from arena.storage import Storage, Transaction, changed

SCHEDULE = ("start", "interval_hours", "seasons")
"""Fields that say when seasons start."""


@dataclass(frozen=True, slots=True)
class LeagueInfo:
    """A league as it is listed."""

    name: str
    divisions: tuple[str, ...]
    """From the highest to the lowest, the qualification last, if there is one."""
    members: int
    season: int
    """The latest season that has started; 0: none yet."""
    running: bool
    """Whether it is still played."""
    next_at: datetime | None
    """When the next season is due; None: there is none left."""
    problem: str | None
    """What keeps a season that is due from starting; None: nothing does."""


@dataclass(frozen=True, slots=True)
class PlaceLine:
    """A line of a division's table."""

    rank: int
    """Place in the final standings, or in those of now; without any, of the seeding."""
    name: str
    """``owner/bot@version``."""
    member: str
    """What joined: ``owner/bot``, or a version of it."""
    score: float | None
    """None: the division does not play, as it is too small."""
    points: float | None
    came: Arrival
    """How it came into the division."""
    goes: str
    """What comes next by this table: ``stayed``, ``promoted``, ``relegated``, ``out``; empty: not known."""


@dataclass(frozen=True, slots=True)
class DivisionShown:
    """A division in a season."""

    name: str
    tournament: str | None
    """None: it is too small for a table."""
    state: TournamentState | None
    lines: tuple[PlaceLine, ...]


@dataclass(frozen=True, slots=True)
class SeasonShown:
    """A season as it is shown."""

    number: int
    due_at: datetime
    started_at: datetime
    finished_at: datetime | None
    """None: it is still played."""
    divisions: tuple[DivisionShown, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """A member without a place in the latest season."""

    name: str
    problem: str | None
    """Why it would not get one now; None: it gets one in the next season."""


@dataclass(frozen=True, slots=True)
class LeagueShown:
    """A league with one of its seasons."""

    league: LeagueInfo
    season: SeasonShown | None
    """None: none has started."""
    outside: tuple[Outside, ...]


def compare(storage: Storage, spec: LeagueSpec) -> list[Change]:
    """What applying ``spec`` would change; nothing: it is so already."""
    with storage.read() as tx:
        found = tx.exec(select(League).where(League.name == spec.name)).first()
        return changes(found.spec if found else {}, spec.to_object())


def apply(storage: Storage, spec: LeagueSpec, now: datetime) -> list[Change]:
    """Make the league what ``spec`` says, from its next season on; gives what that changed. TakenError."""
    try:
        with storage.write() as tx:
            found = tx.exec(select(League).where(League.name == spec.name)).first()
            if found is None:
                found = League(name=spec.name, spec={}, created_at=now, applied_at=now)
                tx.add(found)
            made = changes(found.spec, spec.to_object())
            if made:
                found.spec, found.applied_at = spec.to_object(), now
            if any(change.field in SCHEDULE for change in made):
                found.next_at, found.problem = _due(spec, found.seasons, now), None
            return made
    except IntegrityError:
        raise TakenError(f"{spec.name}: somebody else applied it at the same moment; try again") from None


def _due(spec: LeagueSpec, seasons: int, now: datetime) -> datetime | None:
    """When the next season is due, the first one at ``now`` at the earliest."""
    if spec.seasons is not None and seasons >= spec.seasons:
        return None
    return next_start(spec.start, spec.interval, now - timedelta(microseconds=1))


def join(storage: Storage, league: str, bot: str, now: datetime) -> None:
    """Let ``owner/bot`` play from the next season on, by its newest version, or a version of it.

    UnknownError, TakenError if it is in the league, StateError if its owner has as many in it as can play.
    """
    try:
        with storage.write() as tx:
            found = find_league(tx, league)
            owner_id = _owner_of(tx, bot)
            limit = make_league(found.spec).versions_per_owner
            members = active_members(tx, found)
            if any(member.name == bot for member in members):
                raise TakenError(f"{bot} is in league {league} already")
            own = [member.name for member in members if member.owner_id == owner_id]
            if limit is not None and len(own) >= limit:
                raise StateError(f"league {league} takes {limit} of an owner; {', '.join(own)} is in it")
            again = (LeagueMember.league_id == found.id, LeagueMember.name == bot)
            member = tx.exec(select(LeagueMember).where(*again)).first()
            if member is None:
                member = LeagueMember(league_id=found.id, name=bot, owner_id=owner_id, joined_at=now)
                tx.add(member)
            member.joined_at, member.left_at = now, None
    except IntegrityError:
        raise TakenError(f"{bot} is in league {league} already") from None


def _owner_of(tx: Transaction, bot: str) -> int:
    """The owner of ``owner/bot`` or of a version. SpecError, UnknownError, StateError if it cannot play."""
    name, mark, _ = bot.partition("@")
    versions = find_all_versions(tx, name)
    good = [one for one in versions if one.revoked_at is None and (not mark or one.name == bot)]
    if mark and all(one.name != bot for one in versions):
        raise UnknownError(f"no bot {bot!r}; it has to be registered first")
    if not good:
        raise StateError(f"{bot}: its token is revoked")
    return tx.exec(select(Bot.owner_id).where(Bot.id == good[0].bot_id)).one()


def leave(storage: Storage, league: str, bot: str, now: datetime) -> None:
    """Let a bot play no more from the next season on. UnknownError, StateError."""
    with storage.write() as tx:
        found = find_league(tx, league)
        in_it = (col(LeagueMember.league_id) == found.id, col(LeagueMember.name) == bot)
        stays = col(LeagueMember.left_at).is_(None)
        if not changed(tx, update(LeagueMember).where(*in_it, stays).values(left_at=now)):
            raise StateError(f"{bot} is not in league {league}")


def find_league(tx: Transaction, name: str) -> League:
    """The league of this name, or UnknownError."""
    found = tx.exec(select(League).where(League.name == name)).first()
    if found is None:
        raise UnknownError(f"no league {name!r}")
    return found


def list_leagues(storage: Storage) -> list[LeagueInfo]:
    """All leagues, by name."""
    with storage.read() as tx:
        return [_info(tx, league) for league in tx.exec(select(League).order_by(col(League.name))).all()]


def _info(tx: Transaction, league: League) -> LeagueInfo:
    latest = latest_season(tx, league)
    return LeagueInfo(
        name=league.name,
        divisions=tuple(level.name for level in make_league(league.spec).levels),
        members=len(active_members(tx, league)),
        season=league.seasons,
        running=latest is not None and latest.finished_at is None,
        next_at=league.next_at,
        problem=league.problem,
    )


def show(storage: Storage, name: str, number: int | None = None) -> LeagueShown:
    """A league with its latest season, or with another one. UnknownError."""
    with storage.read() as tx:
        league = find_league(tx, name)
        season = _season(tx, league, number)
        spec = make_league(league.spec)
        members = active_members(tx, league)
        able, problems = contestants(tx, spec, members)
        latest = latest_season(tx, league)
        problems |= draw_up(tx, spec, latest, able).left_out
        placed = {place.member_id for _, places in places_of(tx, latest) for place in places}
        outside = [
            Outside(member.name, problems.get(member.id))
            for member in members
            if member.id not in placed or member.id in problems
        ]
        shown = _shown(tx, league, season) if season else None
        return LeagueShown(_info(tx, league), shown, tuple(outside))


def history(storage: Storage, name: str) -> list[SeasonShown]:
    """All seasons of a league, the latest first. UnknownError."""
    with storage.read() as tx:
        league = find_league(tx, name)
        seasons = select(Season).where(Season.league_id == league.id).order_by(col(Season.number).desc())
        return [_shown(tx, league, season) for season in tx.exec(seasons).all()]


def _season(tx: Transaction, league: League, number: int | None) -> Season | None:
    if number is None:
        return latest_season(tx, league)
    found = tx.exec(select(Season).where(Season.league_id == league.id, Season.number == number)).first()
    if found is None:
        raise UnknownError(f"no season {number} in {league.name}: {league.seasons} have started")
    return found


def _shown(tx: Transaction, league: League, season: Season) -> SeasonShown:
    after = _arrivals_after(tx, league, season)
    return SeasonShown(
        number=season.number,
        due_at=season.due_at,
        started_at=season.started_at,
        finished_at=season.finished_at,
        divisions=tuple(_division(tx, *divided, after) for divided in places_of(tx, season)),
    )


def _arrivals_after(tx: Transaction, league: League, season: Season) -> dict[int, Arrival] | None:
    """By member how it comes into the season after; for the latest season if that ended now.

    None if there will be no other.
    """
    following = select(Season).where(Season.league_id == league.id, Season.number == season.number + 1)
    found = tx.exec(following).first()
    if found is not None:
        return {place.member_id: place.arrival for _, places in places_of(tx, found) for place in places}
    if league.next_at is None:
        return None
    spec = make_league(league.spec)
    able, _ = contestants(tx, spec, active_members(tx, league))
    drawn = draw_up(tx, spec, season, able)
    before = {member: level for level, group in enumerate(drawn.groups) for member in group}
    return {
        member: arrival(before.get(member), level)
        for level, group in enumerate(drawn.levels)
        for member in group
    }


def _division(
    tx: Transaction,
    division: SeasonDivision,
    places: list[SeasonPlace],
    after: dict[int, Arrival] | None,
) -> DivisionShown:
    tournament = tx.get_one(Tournament, division.tournament_id) if division.tournament_id else None
    standing = standing_of(tx, division)
    named = (
        select(SeasonPlace.id, BotVersion.name, LeagueMember.name)
        .join(BotVersion, col(BotVersion.id) == SeasonPlace.version_id)
        .join(LeagueMember, col(LeagueMember.id) == SeasonPlace.member_id)
        .where(SeasonPlace.division_id == division.id)
    )
    names = {place: (version, member) for place, version, member in tx.exec(named)}
    lines = []
    for rank, place in enumerate(in_order(tx, division, places, standing), start=1):
        line = standing.get(place.version_id)
        version, member = names[place.id]
        arrives = None if after is None else after.get(place.member_id)
        lines.append(
            PlaceLine(
                rank=rank,
                name=version,
                member=member,
                score=line.score if line else None,
                points=line.points if line else None,
                came=place.arrival,
                goes="" if after is None else arrives.value if arrives not in (None, Arrival.NEW) else "out",
            )
        )
    return DivisionShown(
        name=division.name,
        tournament=tournament.name if tournament else None,
        state=tournament.state if tournament else None,
        lines=tuple(lines),
    )
